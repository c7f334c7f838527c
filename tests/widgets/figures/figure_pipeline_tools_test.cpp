// What the pipeline figure shows on demand: critical path, memory traces, links of an operation, the time cursor.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "engine/pipeline/timeline_analysis.h"
#include "tests/widgets/figures/figure_fixture.h"
#include "widgets/figures/training/figure_pipeline_tools.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using engine::ScheduleKind;

namespace {

constexpr float kWidth = 1200, kHeight = 400;

FigureCase small() { return scheduled({ScheduleKind::one_f_one_b, 4, 8, 1, 0}, kMs); }

// Strokes in the ink of the theme, with their points.
std::vector<Primitive> ink_strokes(const RecordCanvas& canvas, const Theme& theme, std::size_t least_points = 2) {
  std::vector<Primitive> found;
  for (const Primitive& p : canvas.primitives())
    if (p.kind == Primitive::Kind::stroke && p.colour == theme.ink && p.points.size() >= least_points)
      found.push_back(p);
  return found;
}

Rect block_rect(const RecordCanvas& canvas, std::string_view id, int stage, std::string_view title) {
  for (const TagRegion& t : canvas.tags())
    if (t.id == id && t.index == stage && t.readout.title.starts_with(title)) return t.rect;
  return {};
}

}  // namespace

TEST_CASE("nothing of the tools is drawn unless it is asked for") {
  const Theme dark = theme("dark");
  const auto canvas = drawn("pipeline", small(), "dark", 15, kWidth, kHeight);
  CHECK(ink_strokes(*canvas, dark).empty());
  CHECK(canvas->count_tags("memory.activations_bytes") == 0);
}

TEST_CASE("the critical path is one ink line from the start of the step to its end") {
  const Theme dark = theme("dark");
  for (const ScheduleKind kind :
       {ScheduleKind::gpipe, ScheduleKind::one_f_one_b, ScheduleKind::zb_h1, ScheduleKind::dualpipe}) {
    const FigureCase c = scheduled({kind, 4, 8, 1, 0}, kMs);
    REQUIRE(c.report.pipeline.drawn());
    FigureView view;
    view.critical_path = true;
    const auto canvas = drawn("pipeline", c, "dark", 15, kWidth, kHeight, view);
    const auto lines = ink_strokes(*canvas, dark, 3);
    REQUIRE(lines.size() == 1);
    const Rect plot = find_figure("pipeline")->timeline(*canvas, canvas->bounds(), input_of(c, dark), view);
    const engine::PipelineReport& p = c.report.pipeline;
    const double total =
        static_cast<double>(p.timeline.makespan) + std::max(0.0, p.step_end_s) * gantt::kTicksPerSecond;
    CHECK(lines[0].points.front().x == doctest::Approx(plot.x).epsilon(0.001));
    CHECK(lines[0].points.back().x ==
          doctest::Approx(plot.x + plot.w * static_cast<float>(static_cast<double>(p.timeline.makespan) / total))
              .epsilon(0.01));
    // Time never runs back.
    for (std::size_t i = 1; i < lines[0].points.size(); ++i)
      CHECK(lines[0].points[i].x >= lines[0].points[i - 1].x - 0.01f);
    CHECK(canvas->audit_text() == "");
  }
}

TEST_CASE("each stage has its memory under it, and rows keep their heights") {
  const FigureCase c = sixteen_stages();
  FigureView view;
  view.memory_trace = true;
  const auto plain = drawn("pipeline", c, "dark", 15, kWidth, 500),
             traced = drawn("pipeline", c, "dark", 15, kWidth, 500, view);
  CHECK(traced->count_tags("memory.activations_bytes") == 16);
  const Theme dark = theme("dark");
  const Rect before = find_figure("pipeline")->timeline(*plain, plain->bounds(), input_of(c, dark), {});
  const Rect after = find_figure("pipeline")->timeline(*traced, traced->bounds(), input_of(c, dark), view);
  CHECK(before == after);
  // Traces stay off the bars of their own and of the next row.
  std::map<int, Rect> traces;
  for (const TagRegion& t : traced->tags())
    if (t.id == "memory.activations_bytes") traces[t.index] = t.rect;
  for (const TagRegion& t : traced->tags())
    if (t.id == "stage.forward_s" || t.id == "stage.backward_s") {
      CHECK(t.rect.bottom() <= traces[t.index].y + 0.01f);
      if (t.index > 0) CHECK(t.rect.y >= traces[t.index - 1].bottom() - 0.01f);
    }
  // 1F1B keeps most on the first stage.
  const TagRegion* first = traced->find_tag("memory.activations_bytes", 0);
  REQUIRE(first);
  CHECK(first->readout.title.find("at the peak") != std::string::npos);
  CHECK(traced->audit_text() == "");
}

TEST_CASE("the key names the trace where there is one, and the outline of the critical path") {
  FigureView view;
  view.memory_trace = view.critical_path = true;
  const auto canvas = drawn("pipeline", small(), "dark", 15, kWidth, kHeight, view);
  CHECK(canvas->find_text("activations held"));
  CHECK(canvas->find_text("outlined: what decides the length"));
  const auto plain = drawn("pipeline", small(), "dark", 15, kWidth, kHeight);
  CHECK_FALSE(plain->find_text("activations held"));
  CHECK_FALSE(plain->find_text("outlined: what decides the length"));
}

TEST_CASE("the operation under the pointer is framed, with arrows from its inputs and to its consumer") {
  const Theme dark = theme("dark");
  const FigureCase c = small();
  const auto plain = drawn("pipeline", c, "dark", 15, kWidth, kHeight);
  // A forward in the middle: from the stage before, to the stage after: two links, each a line and a head.
  const Rect block = block_rect(*plain, "stage.forward_s", 1, "forward, microbatch 2");
  REQUIRE_FALSE(block.empty());
  FigureView view;
  view.pointer = block.centre();
  const auto canvas = drawn("pipeline", c, "dark", 15, kWidth, kHeight, view);
  const auto lines = ink_strokes(*canvas, dark);
  const auto starts_at = [&](Point p) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const Primitive& l) { return distance(l.points.front(), p) < 1.5f; });
  };
  const Rect input = block_rect(*plain, "stage.forward_s", 0, "forward, microbatch 2");
  CHECK(starts_at({input.right(), input.centre().y}));
  CHECK(starts_at({block.right(), block.centre().y}));
  // In idle time and outside there is nothing.
  for (const Point nowhere : {Point{block.x, plain->bounds().bottom() - 2}, Point{-10, -10}}) {
    view.pointer = nowhere;
    CHECK(ink_strokes(*drawn("pipeline", c, "dark", 15, kWidth, kHeight, view), dark).empty());
  }
}

TEST_CASE("every block is found under its own middle") {
  const Theme dark = theme("dark");
  for (const ScheduleKind kind : {ScheduleKind::one_f_one_b, ScheduleKind::zb_h1, ScheduleKind::dualpipe}) {
    const FigureCase c = scheduled({kind, 4, 8, 1, 0}, kMs);
    const auto canvas = drawn("pipeline", c, "dark", 15, kWidth, kHeight);
    const std::size_t none = ink_strokes(*canvas, dark).size();
    for (const TagRegion& t : canvas->tags()) {
      if (t.id != "stage.forward_s" && t.id != "stage.backward_s") continue;
      FigureView view;
      view.pointer = t.rect.centre();
      CAPTURE(t.readout.title);
      CHECK(ink_strokes(*drawn("pipeline", c, "dark", 15, kWidth, kHeight, view), dark).size() > none);
    }
  }
}

TEST_CASE("the time cursor says its time and is where it belongs") {
  const Theme dark = theme("dark");
  const FigureCase c = sixteen_stages();
  for (const double at : {0.0, 0.25, 1.0}) {
    FigureView view;
    view.cursor = at;
    const auto canvas = drawn("pipeline", c, "dark", 15, kWidth, kHeight, view);
    const Rect plot = find_figure("pipeline")->timeline(*canvas, canvas->bounds(), input_of(c, dark), view);
    const auto lines = ink_strokes(*canvas, dark);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].points.front().x == doctest::Approx(plot.x + plot.w * static_cast<float>(at)).epsilon(0.001));
    CHECK(canvas->audit_text() == "");
  }
  FigureView zoomed;
  zoomed.from = 0.5;
  zoomed.to = 0.6;
  zoomed.cursor = 0.2;  // out of sight
  CHECK(ink_strokes(*drawn("pipeline", c, "dark", 15, kWidth, kHeight, zoomed), dark).empty());
}

TEST_CASE("half a million operations bear the tools too") {
  const FigureCase c = scheduled({ScheduleKind::one_f_one_b, 64, 1024, 1, 0}, kMs);
  FigureView view;
  view.memory_trace = view.critical_path = true;
  view.cursor = 0.5;
  view.pointer = Point{600, 300};
  const auto canvas = drawn("pipeline", c, "light", 15, kWidth, 900, view);
  CHECK(canvas->primitives().size() < 60000);
  CHECK(canvas->audit_text() == "");
}
