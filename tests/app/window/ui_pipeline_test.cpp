// The tools of the pipeline figure in the window: toggles, zoom and pan, playback.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <string>

#include "app/panels/derivation_id.h"
#include "engine/evaluate/evaluate.h"
#include "tests/app/window/ui_harness.h"

using namespace roofscape;
using app::derivation_id;
using test::Harness;
using test::preset;
using widgets::Key;

namespace {

constexpr std::size_t kPipeline = 2;

// With the pipeline in the grid, where it does not stand by default.
struct WithPipeline : Harness {
  explicit WithPipeline(const std::string& id, float width = 1920, float height = 1080) : Harness(id, width, height) {
    show_numbers();
  }
};

}  // namespace

TEST_CASE("the wheel zooms in time about the pointer, a drag moves, a double click fits") {
  WithPipeline h("llama3-405b-16k-h100-8k");
  const widgets::Rect r = h.place("figure.pipeline")->rect;
  const auto& span = h.parts.panels.figures.spans[kPipeline];
  h.move(r.centre());
  widgets::compat::turn_wheel(5.0f);
  h.step(2);
  const double width = span.second - span.first;
  CHECK(width == doctest::Approx(std::pow(0.9, 5)));
  CHECK(span.first > 0.1);
  CHECK(span.second < 0.95);
  const auto before = span;
  h.move(r.centre());
  h.press();
  h.move({r.centre().x - 60, r.centre().y});
  CHECK(span.first > before.first);
  CHECK(span.second - span.first == doctest::Approx(width));
  h.release();
  CHECK(h.parts.panels.right_rail.derivation.trail.empty());  // no click
  const engine::Scenario same = h.scenario();
  h.press();
  h.release();
  h.press();
  h.release();
  CHECK(span.first == 0.0);
  CHECK(span.second == 1.0);
  CHECK(h.scenario() == same);
  CHECK(h.parts.session.history().undo_depth() == 0);
}

TEST_CASE("space plays the step: only then frames are asked for without an event") {
  WithPipeline h("llama3-405b-16k-h100-8k");
  auto& tools = h.parts.panels.figures.pipeline;
  h.move({5, 5});
  h.wait(1);
  CHECK(h.parts.interaction.wake_in() < 0);
  h.key({widgets::key_of(' ')});
  REQUIRE(tools.playing);
  REQUIRE(tools.cursor.has_value());
  CHECK(h.parts.interaction.wake_in() == 0);
  const double before = *tools.cursor;
  h.wait(0.05);
  CHECK(*tools.cursor > before);
  CHECK(*tools.cursor - before < 0.2 / tools.shown_s);
  h.key({widgets::key_of(' ')});
  CHECK_FALSE(tools.playing);
  CHECK(h.parts.interaction.wake_in() < 0);
  CHECK(tools.cursor.has_value());
  h.key({Key::escape});
  CHECK_FALSE(tools.cursor.has_value());
  // To the end and no further.
  h.key({widgets::key_of(' ')});
  tools.cursor = 0.9999;
  for (int i = 0; i < 10; ++i) h.wait(0.1);
  CHECK_FALSE(tools.playing);
  CHECK(*tools.cursor == 1.0);
}

TEST_CASE("toggles of the pipeline figure") {
  WithPipeline h("llama3-405b-16k-h100-8k", 1280, 720);
  const engine::Scenario before = h.scenario();
  h.click("pipeline.critical_path");
  CHECK(h.parts.panels.figures.pipeline.critical_path);
  h.click("pipeline.memory_trace");
  CHECK(h.parts.panels.figures.pipeline.memory_trace);
  h.click("pipeline.play");
  CHECK(h.parts.panels.figures.pipeline.playing);
  h.step(2);
  const double speed = h.parts.panels.figures.pipeline.shown_s;
  h.click("pipeline.speed");
  CHECK(h.parts.panels.figures.pipeline.shown_s != speed);
  CHECK(widgets::compat::audit_draw_data().outside == 0);
  h.click("pipeline.memory_trace");
  CHECK_FALSE(h.parts.panels.figures.pipeline.memory_trace);
  CHECK(h.scenario() == before);
  // One stage has no timeline: no tools.
  CHECK(WithPipeline("llama3-70b-v5p-pod").place("pipeline.play") == nullptr);
}

TEST_CASE("a block of another schedule opens that schedule's bubble, not the plan's stage time") {
  CHECK(derivation_id("stage.forward_s", 3) == "stage.forward_s[3]");
  CHECK(derivation_id("schedule.zb-h1/stage.forward_s", 3) == "schedule.zb-h1/pipeline.bubble_fraction");
  CHECK(derivation_id("schedule.zb-v", -1) == "schedule.zb-v/pipeline.bubble_fraction");
  CHECK(derivation_id("schedule.held", 2).empty());
  engine::Scenario plain = preset("llama3-405b-16k-h100");
  plain.pipeline.schedule = engine::ScheduleKind::one_f_one_b;
  plain.pipeline.virtual_stages = 1;
  Harness h(plain, "", 1920, 1080);
  h.parts.open_derivation("schedule.gpipe/pipeline.bubble_fraction");
  h.step(2);
  REQUIRE(h.parts.panels.right_rail.derivation.derived);
  REQUIRE(h.parts.panels.right_rail.derivation.derived->derivation);
  engine::Scenario gpipe = plain;
  gpipe.pipeline.schedule = engine::ScheduleKind::gpipe;
  CHECK(h.parts.panels.right_rail.derivation.derived->derivation->lines.front().value ==
        engine::evaluate(gpipe).quantities.value_or(engine::Q::pipeline_bubble_fraction, -1));
}
