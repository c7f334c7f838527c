// Every figure in the column of a journal and on a page, as its file has it: nothing cut, nothing over anything, no text
// too small to print, ink at the margin.
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "app/core/export.h"
#include "app/core/figure_form.h"
#include "tests/engine/fixtures.h"
#include "tests/english.h"
#include "tests/widgets/figures/preset_fixture.h"
#include "widgets/canvas/canvas_ink.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

namespace {

constexpr float kPointsPerMm = 72 / 25.4f, kLeastText = 7;
constexpr float kLeastOnSlide = 720.0f / 36;

app::ExportOptions form_for(const app::Drawing& drawing, float width_mm, const HeadParts& head) {
  app::ExportOptions form = drawing.own;
  form.width = width_mm * kPointsPerMm;
  form.head = head;
  form.height = app::chosen_height(drawing, form, fonts());
  return form;
}

// With a baseline to compare with.
FigureCase against_keeping_all(const FigureCase& c) {
  FigureCase out = c;
  out.baseline =
      std::make_shared<const FigureCase>(evaluated(tests::with(c.scenario, {"checkpointing.policy=none"})));
  return out;
}

// A few that differ, where all that ship would take minutes.
const std::vector<std::string> kSome{"llama3-405b-16k-h100-8k", "llama3-70b-v5p-pod", "deepseek-v3-2048-h800",
                                     "llama3-8b-8-h100", "llama3-70b-serving-8-h100"};
std::vector<std::string> every_preset() {
  std::vector<std::string> out;
  for (const io::Preset& one : tests::library().list(io::PresetKind::scenario)) out.push_back(one.id);
  return out;
}

// One sentence: there is nothing to shard, or no chip that another could send to.
bool has_words_alone(const FigureRow& row, const engine::Scenario& s) {
  const engine::Parallelism& p = s.parallelism;
  if (row.name == "zero-stages") return p.data * p.fsdp * p.context == 1;
  return row.name == "network" && s.serves() && p.tensor * p.context * p.pipeline * p.expert == 1;
}

// Calls `look` with each figure that has something of these presets to show, in the presets' mode and calibrated.
template <class Look>
void for_each_drawing(const std::vector<std::string>& presets, Look&& look, const char* of_theme = "print",
                      const TextTable& texts = english()) {
  const Theme colours = theme(of_theme);
  for (const std::string& preset : presets) {
    for (const bool calibrated : {false, true}) {
      const FigureCase c = calibrated ? calibrated_case(preset) : preset_case(preset);
      const FigureInput input = input_of(c, colours, texts);
      for (const FigureRow& row : figures()) {
        // Published runs are no part of a preset's input.
        if (!shows(row, c.scenario) || row.needs == Needs::baseline || row.about == About::runs) continue;
        if (row.needs == Needs::stages && c.scenario.parallelism.pipeline == 1) continue;
        if (has_words_alone(row, c.scenario)) continue;
        CAPTURE(preset);
        CAPTURE(calibrated);
        CAPTURE(row.name);
        look(app::drawing_of(row, input));
      }
      if (c.scenario.serves()) continue;
      const FigureCase other = against_keeping_all(c);
      CAPTURE(preset);
      CAPTURE(calibrated);
      look(app::drawing_of(*find_figure("compare"), input_of(other, colours, texts)));
    }
  }
  look(app::drawing_of(*find_figure("layer"), input_of(preset_case("llama3-70b-lora-8-h100"), colours, texts)));
}

app::ExportOptions slide_of(const app::Drawing& drawing) {
  app::ExportOptions slide = drawing.own;
  slide.width = 1280, slide.height = 720;
  app::make_slide(slide);
  return slide;
}

// Nothing cut, covered or crossed, no text smaller than `least`, none that is a key.
void check_readable(const app::Drawing& drawing, const app::ExportOptions& form, float least) {
  RecordCanvas canvas(fonts(), form.em, {0, 0, form.width, form.height});
  drawing.draw(canvas, app::drawing_area(drawing, form, fonts()), form.head);
  CAPTURE(form.width);
  CHECK(canvas.audit_text() == "");
  CHECK(canvas.texts().size() > 3);  // something is drawn
  for (const TextRun& run : canvas.texts()) {
    CHECK_MESSAGE(run.style.em >= least, run.text);
    CHECK_MESSAGE(!run.text.starts_with("figure."), run.text);
  }
}

}  // namespace

TEST_CASE("in a column of 84 mm no text is cut, covered or under 7 points, with a head and bare") {
  for_each_drawing(every_preset(), [](const app::Drawing& drawing) {
    for (const HeadParts& head : {HeadParts{}, HeadParts{false, false, false}}) {
      CAPTURE(head.any());
      check_readable(drawing, form_for(drawing, 84, head), kLeastText);
    }
  });
}

TEST_CASE("the caption of a figure in a column is whole where the figure chooses its height") {
  for_each_drawing(kSome, [](const app::Drawing& drawing) {
    const app::ExportOptions form = form_for(drawing, 84, {});
    RecordCanvas canvas(fonts(), form.em, {0, 0, form.width, form.height});
    drawing.draw(canvas, app::drawing_area(drawing, form, fonts()), form.head);
    const std::string last = drawing.head.context.substr(drawing.head.context.rfind(' ') + 1);
    bool found = false;
    for (const TextRun& run : canvas.texts()) found = found || run.text.ends_with(last);
    CHECK(found);
  });
}

TEST_CASE("ink ends 1 mm from the edge of a figure with a head, half a millimetre from that of a bare one") {
  for_each_drawing(kSome, [](const app::Drawing& drawing) {
    for (const HeadParts& head : {HeadParts{}, HeadParts{false, false, false}}) {
      const app::ExportOptions form = form_for(drawing, 150, head);
      InkCanvas canvas(fonts(), form.em, {0, 0, form.width, form.height});
      drawing.draw(canvas, app::drawing_area(drawing, form, fonts()), form.head);
      REQUIRE(canvas.ink());
      const float margin = (head.any() ? 1.0f : 0.5f) * kPointsPerMm, slack = 0.3f * kPointsPerMm;
      CAPTURE(head.any());
      const Rect ink = *canvas.ink();
      // Farther in: a picture in the middle of its page.
      const auto at_margin = [&](float from_edge) {
        return std::abs(from_edge - margin) <= slack || from_edge > margin + 1.5f * form.em;
      };
      CHECK(at_margin(ink.x));
      CHECK(at_margin(ink.y));
      // Where a label of an axis goes with a smaller plot, the other two sides end farther in.
      CHECK(form.width - ink.right() >= margin - slack);
      CHECK(form.height - ink.bottom() >= margin - slack);
    }
  });
}

TEST_CASE("on a page no text is cut, covered, crossed by a bold line or under 7 points") {
  for_each_drawing(every_preset(), [](const app::Drawing& drawing) {
    check_readable(drawing, form_for(drawing, 150, {}), kLeastText);
  });
}

TEST_CASE("on a slide no text is cut, covered, crossed by a bold line or under a thirty-sixth of its height") {
  for_each_drawing(
      every_preset(), [](const app::Drawing& drawing) { check_readable(drawing, slide_of(drawing), kLeastOnSlide); },
      "projector");
}

TEST_CASE("in every other theme a column and a slide are as clean") {
  for (const char* of_theme : {"light", "high_contrast", "dark", "projector_light"}) {
    CAPTURE(of_theme);
    for_each_drawing(
        kSome,
        [](const app::Drawing& drawing) {
          check_readable(drawing, form_for(drawing, 84, {}), kLeastText);
          check_readable(drawing, slide_of(drawing), kLeastOnSlide);
        },
        of_theme);
  }
}

TEST_CASE("a layer is as high as its products need, and of many products no higher than twice a column is wide") {
  const Theme print = theme("print");
  const auto height = [&](const char* preset, float width_mm) {
    const FigureCase c = preset_case(preset);
    const FigureInput input = input_of(c, print);
    return form_for(app::drawing_of(*find_figure("layer"), input), width_mm, {}).height / kPointsPerMm;
  };
  CHECK(height("deepseek-v3-2048-h800", 84) < 2 * 84);
  CHECK(height("llama3-405b-16k-h100-8k", 84) < height("deepseek-v3-2048-h800", 84));
  CHECK(height("llama3-405b-16k-h100-8k", 150) < height("deepseek-v3-2048-h800", 150));
}

TEST_CASE("in Korean and Russian a column and a slide are as clean, in either mode") {
  for (const char* language : {"ko", "ru"}) {
    CAPTURE(language);
    for_each_drawing(
        every_preset(),
        [](const app::Drawing& drawing) {
          check_readable(drawing, form_for(drawing, 84, {}), kLeastText);
          check_readable(drawing, slide_of(drawing), kLeastOnSlide);
        },
        "print", test::texts_in(language));
  }
}

TEST_CASE(
    "in a column where a figure chooses its height no words end in an ellipsis, and a layer's letters are all told") {
  for_each_drawing(every_preset(), [](const app::Drawing& drawing) {
    for (const float width_mm : {84.0f, 88.0f, 96.0f}) {
      const app::ExportOptions form = form_for(drawing, width_mm, {});
      RecordCanvas canvas(fonts(), form.em, {0, 0, form.width, form.height});
      drawing.draw(canvas, app::drawing_area(drawing, form, fonts()), form.head);
      CAPTURE(width_mm);
      for (const TextRun& run : canvas.texts())
        CHECK_MESSAGE((run.text == "\u2026" || !run.text.ends_with("\u2026")), run.text);
    }
  });
  const Theme print = theme("print");
  const FigureCase c = preset_case("deepseek-v3-2048-h800");
  const FigureInput input = input_of(c, print);
  const app::Drawing layer = app::drawing_of(*find_figure("layer"), input);
  const app::ExportOptions form = form_for(layer, 84, {});
  RecordCanvas canvas(fonts(), form.em, {0, 0, form.width, form.height});
  layer.draw(canvas, app::drawing_area(layer, form, fonts()), form.head);
  std::string all;
  for (const TextRun& run : canvas.texts()) all += run.text + " ";
  for (const char* letter : {"B: ", "D: ", "Q: ", "H: ", "S: ", "K: ", "E: ", "F: ", "C: "}) {
    CAPTURE(letter);
    CHECK(all.find(letter) != std::string::npos);
  }
}
