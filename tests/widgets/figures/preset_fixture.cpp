#include "tests/widgets/figures/preset_fixture.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "engine/evaluate/evaluate.h"
#include "tests/engine/fixtures.h"

namespace roofscape::widgets::testing {

FigureCase preset_case(const std::string& id) { return evaluated(tests::preset(id)); }

FigureCase calibrated_case(const std::string& preset) {
  engine::Scenario s = tests::preset(preset);
  s.assumptions.mode = engine::Mode::calibrated;
  return evaluated(s);
}

FigureCase plain_405b(const std::string& id) {
  engine::Scenario s = tests::preset(id);
  s.pipeline.schedule = engine::ScheduleKind::one_f_one_b;
  s.pipeline.virtual_stages = 1;
  s.checkpointing.policy = engine::CheckpointPolicy::block;
  return evaluated(s);
}

const FigureCase& case_of(const char* preset) {
  static std::map<std::string, FigureCase> cases;
  const auto it = cases.find(preset);
  return it != cases.end() ? it->second : cases.emplace(preset, preset_case(preset)).first->second;
}

void check_clean(const FigureRow& row, const FigureCase& c, const Theme& theme, float em, float width, float height,
                 const FigureView& view, const TextTable& texts) {
  CAPTURE(width);
  RecordCanvas canvas(fonts(), em, {0, 0, width, height});
  row.draw(canvas, canvas.bounds(), input_of(c, theme, texts), view);
  CHECK(canvas.audit_text() == "");
  for (const TextRun& run : canvas.texts()) CHECK_FALSE(run.text.starts_with("figure."));
}

void check_clean_everywhere(const FigureRow& row, const FigureCase& c, FigureView view) {
  const Theme dark = theme("dark"), print = theme("print"), projector = theme("projector");
  check_clean(row, c, dark, 15, 320, 240, view, english());
  check_clean(row, c, dark, 15, 480, 320, view, english());
  check_clean(row, c, dark, 15, 3840, 2160, view, english());
  check_clean(row, c, projector, 32, 1920, 1000, view, english());
  check_clean(row, c, dark, 15, 480, 320, view, long_words());
  check_clean(row, c, dark, 15, 900, 500, view, long_words());
  view.print = true;
  check_clean(row, c, print, 9, 320, 220, view, english());
  check_clean(row, c, print, 9, row.width_pt, row.height_pt, view, english());
  view.compact = true;
  check_clean(row, c, dark, 13.125f, 400, 270, view, english());
}

void check_takeaway_and_table(const FigureRow& row, const FigureCase& c) {
  const Theme dark = theme("dark");
  CHECK(row.head(input_of(c, dark), {}).takeaway != "");
  const std::string data = row.data(input_of(c, dark), {});
  const auto columns = std::count(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(data.find('\n')), '\t');
  CHECK(std::count(data.begin(), data.end(), '\t') == columns * std::count(data.begin(), data.end(), '\n'));
  CHECK(std::count(data.begin(), data.end(), '\n') >= 2);
}

}  // namespace roofscape::widgets::testing
