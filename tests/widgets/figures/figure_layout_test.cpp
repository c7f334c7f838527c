// All figures at all sizes: nothing cut, nothing over anything, no key shown in place of a text; and the goldens.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "tests/widgets/figures/figure_fixture.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using engine::ScheduleKind;

namespace {

struct NamedCase {
  std::string name;
  FigureCase figure_case;
};

const std::vector<NamedCase>& cases() {
  static const std::vector<NamedCase> all = [] {
    std::vector<NamedCase> out;
    out.push_back({"sixteen stages", sixteen_stages()});
    out.push_back({"too full", too_full()});
    out.push_back({"one stage", one_stage(16)});
    out.push_back({"two stages", scheduled({ScheduleKind::one_f_one_b, 2, 4, 1, 0}, kMs)});
    out.push_back({"interleaved", scheduled({ScheduleKind::interleaved_1f1b, 8, 16, 4, 0}, kMs)});
    out.push_back({"dualpipe", scheduled({ScheduleKind::dualpipe, 8, 20, 1, 0}, kMs)});
    out.push_back({"64 stages", scheduled({ScheduleKind::one_f_one_b, 64, 64, 1, 0}, kMs)});
    out.push_back({"illegal", scheduled({ScheduleKind::zb_h1, 16, 18, 2, 0}, kMs)});
    out.push_back({"bound by HBM", bound_by_hbm()});
    engine::Scenario measured = sixteen_stages().scenario;
    measured.assumptions.mode = engine::Mode::calibrated;
    out.push_back({"under the peak", evaluated(measured)});
    return out;
  }();
  return all;
}

struct Medium {
  std::string theme;
  float em;
  bool print;
};

struct Size {
  float width, height;
};

}  // namespace

TEST_CASE("no text is cut or covered at any size, on screen and on paper") {
  for (const NamedCase& c : cases())
    for (const FigureRow& figure : figures())
      for (const Medium& look : {Medium{"dark", 15, false}, Medium{"print", 9, true}})
        for (const Size size : {Size{320, 240}, {480, 320}, {900, 500}, {3840, 2160}}) {
          CAPTURE(c.name);
          CAPTURE(figure.name);
          CAPTURE(look.theme);
          CAPTURE(size.width);
          FigureView view;
          view.print = look.print;
          const auto canvas =
              drawn(std::string(figure.name), c.figure_case, look.theme, look.em, size.width, size.height, view);
          CHECK(canvas->audit_text() == "");
          for (const TextRun& run : canvas->texts()) CHECK_FALSE(run.text.starts_with("figure."));
        }
}

TEST_CASE("hovered and compact figures are as clean") {
  FigureView view;
  view.compact = true;
  view.hovered_stage = 1;
  view.hovered_operation = 4;
  for (const NamedCase& c : cases())
    for (const FigureRow& figure : figures()) {
      CAPTURE(c.name);
      CAPTURE(figure.name);
      CHECK(drawn(std::string(figure.name), c.figure_case, "light", 13.125f, 400, 270, view)->audit_text() == "");
    }
}

TEST_CASE("words half as long again still have room") {
  const Theme dark = theme("dark");
  for (const NamedCase& c : cases())
    for (const FigureRow& figure : figures())
      for (const Size size : {Size{480, 320}, {560, 400}, {900, 500}}) {
        CAPTURE(c.name);
        CAPTURE(figure.name);
        CAPTURE(size.width);
        RecordCanvas canvas(fonts(), 15, {0, 0, size.width, size.height});
        figure.draw(canvas, canvas.bounds(), input_of(c.figure_case, dark, long_words()), {});
        CHECK(canvas.audit_text() == "");
      }
}

TEST_CASE("on paper a figure states model, chips, plan and mode") {
  FigureView view;
  view.print = true;
  for (const FigureRow& figure : figures()) {
    CAPTURE(figure.name);
    const auto canvas =
        drawn(std::string(figure.name), sixteen_stages(), "print", 9, figure.width_pt, figure.height_pt, view);
    bool model = false, mode = false;
    for (const TextRun& run : canvas->texts()) {
      model =
          model || run.text.starts_with("LLaMA-3.1 405B on 16\u202f384 NVIDIA H100 SXM 80 GB, fsdp 128, tensor 8");
      mode = mode || run.text.ends_with("ideal mode");
    }
    if (figure.about == About::plan && figure.subject == Subject::training &&
        figure_head(figure, input_of(sixteen_stages(), theme("print")), view).context.empty()) {
      CHECK(model);
      CHECK(mode);
    }
    CHECK(canvas->audit_text() == "");
  }
}

TEST_CASE("a projected figure is as clean as a small one") {
  for (const NamedCase& c : cases())
    for (const FigureRow& figure : figures()) {
      CAPTURE(c.name);
      CAPTURE(figure.name);
      CHECK(drawn(std::string(figure.name), c.figure_case, "projector", 32, 1920, 1000)->audit_text() == "");
    }
}

TEST_CASE("no figure's words depend on the ground being dark or light") {
  for (const auto& entry : english().all())
    // The word of the lines in shades is chosen by the ground.
    if (entry.first.starts_with("figure.") && entry.first != "figure.parallel-coordinates.darker") {
      CAPTURE(entry.first);
      for (const char* word : {"lighter", "darker", "dark ", "light "})
        CHECK(entry.second.find(word) == std::string::npos);
    }
}
