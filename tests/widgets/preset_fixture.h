// Shipped presets, evaluated, for the tests of figures that need a report that belongs to its scenario.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>

#include "engine/evaluate.h"
#include "tests/engine/fixtures.h"
#include "tests/widgets/figure_fixture.h"

namespace roofscape::widgets::testing {

inline FigureCase evaluated(const engine::Scenario& scenario) { return {scenario, engine::evaluate(scenario)}; }

inline FigureCase preset_case(const std::string& id) { return evaluated(tests::preset(id)); }

// 405B as plain 1F1B with whole layers computed again.
inline FigureCase plain_405b(const std::string& id) {
  engine::Scenario s = tests::preset(id);
  s.pipeline.schedule = engine::ScheduleKind::one_f_one_b;
  s.pipeline.virtual_stages = 1;
  s.checkpointing.policy = engine::CheckpointPolicy::block;
  return evaluated(s);
}

// The same, evaluated once a program.
inline const FigureCase& case_of(const char* preset) {
  static std::map<std::string, FigureCase> cases;
  const auto it = cases.find(preset);
  return it != cases.end() ? it->second : cases.emplace(preset, preset_case(preset)).first->second;
}

// Checks that a figure cuts and covers no text and shows no key in place of one.
inline void check_clean(const FigureRow& row, const FigureCase& c, const Theme& theme, float em, float width,
                        float height, const FigureView& view, const TextTable& texts) {
  CAPTURE(width);
  RecordCanvas canvas(fonts(), em, {0, 0, width, height});
  row.draw(canvas, canvas.bounds(), input_of(c, theme, texts), view);
  CHECK(canvas.audit_text() == "");
  for (const TextRun& run : canvas.texts()) CHECK_FALSE(run.text.starts_with("figure."));
}

// The same at the sizes figures have: small, usual and large on the screen, projected, with long words, on paper,
// compact.
inline void check_clean_everywhere(const FigureRow& row, const FigureCase& c, FigureView view) {
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

// Checks that a figure has a phrase and that its data are a table: as many fields in every line as in the first.
inline void check_takeaway_and_table(const FigureRow& row, const FigureCase& c) {
  const Theme dark = theme("dark");
  CHECK(row.head(input_of(c, dark), {}).takeaway != "");
  const std::string data = row.data(input_of(c, dark), {});
  const auto columns = std::count(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(data.find('\n')), '\t');
  CHECK(std::count(data.begin(), data.end(), '\t') == columns * std::count(data.begin(), data.end(), '\n'));
  CHECK(std::count(data.begin(), data.end(), '\n') >= 2);
}

}  // namespace roofscape::widgets::testing
