// The baseline beside the plan, in all figures that draw one.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tests/capture_binding.h"
#include "tests/engine/fixtures.h"
#include "tests/widgets/figures/figure_fixture.h"

namespace roofscape::widgets {
namespace {

using namespace testing;

TEST_CASE("the baseline stands in every figure with an axis of time or memory, with its name and what differs") {
  struct Row {
    const char* figure;
    bool serves;
  };
  for (const Row& row :
       {Row{"step", false}, Row{"memory", false}, Row{"memory-time", false}, Row{"pipeline", false},
        Row{"schedules", false}, Row{"overlap", false}, Row{"scaling", false}, Row{"checkpointing", false},
        Row{"decode-step", true}, Row{"serving-memory", true}, Row{"latency-throughput", true}, Row{"kv", true},
        Row{"queue", true}, Row{"network", false}, Row{"network", true}, Row{"collective", false},
        Row{"sharded-matmul", false}, Row{"sharded-matmul", true}, Row{"prefill-decode", true}}) {
    CAPTURE(std::string(row.figure));
    engine::Scenario before = tests::preset(row.serves ? "llama3-70b-serving-8-h100" : "llama3-405b-16k-h100-8k");
    engine::Scenario now = before;
    if (row.serves)
      now.workload.batch /= 2;
    else
      now.pipeline.virtual_stages = 4;
    FigureCase c = evaluated(now);
    c.baseline = std::make_shared<FigureCase>(evaluated(before));
    FigureView view;
    view.print = true;
    const auto with = drawn(row.figure, c, "print", 9, 425, 300, view);
    c.baseline.reset();
    const auto without = drawn(row.figure, c, "print", 9, 425, 300, view);
    const auto says = [](const RecordCanvas& canvas) {
      return std::any_of(canvas.texts().begin(), canvas.texts().end(),
                         [](const TextRun& run) { return run.text.find("baseline") != std::string::npos; });
    };
    CHECK(says(*with));
    CHECK_FALSE(says(*without));
    CHECK(with->audit_text() == "");
  }
}

// As the figures of an article are: 84 mm wide, 150 mm, and a slide.
struct Sheet {
  float em, width, height;
  const char* theme;
};
constexpr std::array kSheets{Sheet{9, 238, 225, "print"}, Sheet{9, 425, 300, "print"},
                             Sheet{21, 960, 500, "projector"}};

TEST_CASE("the line where the baseline ends has its name, and no words stand on it") {
  struct Row {
    const char *figure, *preset, *mode;
    std::string_view before;
  };
  int named = 0;
  for (const char* mode : {"ideal", "calibrated"})
    for (const Row& row : {Row{"overlap", "llama3-8b-8-h100", mode, "checkpointing.policy=none"},
                           Row{"overlap", "llama3-70b-v5p-pod", mode, "parallelism.context=1"},
                           Row{"overlap", "deepseek-v3-2048-h800", mode, "pipeline.schedule=1f1b"},
                           Row{"schedules", "llama3-405b-16k-h100-8k", mode, "pipeline.schedule=zb-h1"},
                           Row{"schedules", "deepseek-v3-2048-h800", mode, "pipeline.schedule=1f1b"}})
      for (const Sheet& sheet : kSheets) {
        CAPTURE(std::string(row.figure));
        CAPTURE(std::string(row.preset));
        CAPTURE(std::string(mode));
        CAPTURE(sheet.width);
        const engine::Scenario now =
            tests::with(tests::preset(row.preset), {"assumptions.mode=" + std::string(mode)});
        FigureCase c = evaluated(now);
        c.baseline = std::make_shared<FigureCase>(evaluated(tests::with(now, {row.before})));
        FigureView view;
        view.print = true;
        const auto canvas = drawn(row.figure, c, sheet.theme, sheet.em, sheet.width, sheet.height, view);
        const auto starts = [](const TextRun& run) { return run.text.starts_with("baseline, "); };
        const auto& texts = canvas->texts();
        const auto name = std::find_if(texts.begin(), texts.end(), starts);
        REQUIRE(name != texts.end());
        ++named;
        CHECK(canvas->audit_text() == "");
        for (const TextRun& run : texts) {
          const bool end = std::string_view(row.figure) == "schedules" && run.style.weight == Weight::bold &&
                           run.text.find_first_not_of("0123456789.") == std::string::npos;
          if (!starts(run) && !run.text.ends_with(" idle") && !end) continue;
          CAPTURE(run.text);
          CHECK(strokes_through(*canvas, run.text, sheet.theme) == 0);
        }
      }
  CHECK(named == 30);
}

TEST_CASE("the names of two peaks of memory cover neither each other nor the baseline's line") {
  for (const auto& [id, change] : {std::pair{"llama3-405b-16k-h100-8k", "pipeline.schedule=zb-h1"},
                                   std::pair{"llama3-8b-8-h100", "checkpointing.policy=none"},
                                   std::pair{"llama3-70b-v5p-pod", "parallelism.context=1"},
                                   std::pair{"deepseek-v3-2048-h800", "pipeline.schedule=1f1b"}})
    for (const Sheet& sheet : kSheets) {
      CAPTURE_BINDING(id);
      CAPTURE(sheet.width);
      const engine::Scenario now = tests::preset(id);
      FigureCase c = evaluated(now);
      c.baseline = std::make_shared<FigureCase>(evaluated(tests::with(now, {change})));
      FigureView view;
      view.print = true;
      view.compact = true;  // no hatch, whose strokes are under any words
      const auto canvas = drawn("memory-time", c, sheet.theme, sheet.em, sheet.width, sheet.height, view);
      CHECK(canvas->audit_text() == "");
      std::size_t names = 0;
      for (const TextRun& run : canvas->texts()) {
        if (!run.text.starts_with("peak ") && !run.text.starts_with("baseline, peak ")) continue;
        ++names;
        CAPTURE(run.text);
        CHECK(strokes_through(*canvas, run.text, sheet.theme) == 0);
      }
      CHECK(names >= 2);
    }
}

TEST_CASE("what is free of a chip stands on one side of where the baseline ends") {
  FigureCase c = evaluated(tests::preset("llama3-8b-8-h100"));
  c.baseline = std::make_shared<FigureCase>(evaluated(tests::with(c.scenario, {"checkpointing.policy=none"})));
  for (const float width : {300.0f, 425.0f, 700.0f}) {
    CAPTURE(width);
    const auto canvas = drawn("memory", c, "print", 9, width, 300);
    const TagRegion* end = canvas->find_tag("memory.baseline", 0);
    REQUIRE(end);
    for (const TextRun& run : canvas->texts())
      if (run.text.ends_with(" free"))
        CHECK((run.bounds.right() < end->rect.centre().x || run.bounds.x > end->rect.centre().x));
  }
}

}  // namespace
}  // namespace roofscape::widgets
