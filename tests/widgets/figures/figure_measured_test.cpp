// A measured run beside what is predicted: in the step, in memory and in the pipeline.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/widgets/figures/preset_fixture.h"
#include "widgets/canvas/number_format.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using engine::Q;

namespace {

double step_of(const FigureCase& c) { return *c.report.quantities[Q::step_time]; }

FigureCase with_step(double seconds) {
  FigureCase c = sixteen_stages();
  c.run.emplace().step_s = seconds;
  return c;
}

// Kernels with a timeline: half of the step is products, a quarter collectives, the rest nothing.
FigureCase with_kernels(double seconds, std::optional<double> optimizer_s) {
  FigureCase c = with_step(seconds);
  engine::MeasuredKernels& kernels = c.run->kernels.emplace();
  kernels.timeline = true;
  kernels.work[0] = {seconds / 2, seconds / 2, 100};
  kernels.collectives[1].exposed_s = kernels.collectives[1].seconds = seconds / 4;
  kernels.idle_s = seconds / 4;
  for (const int rank : {0, 1024}) {
    engine::MeasuredLane& lane = c.run->lanes.emplace_back();
    lane.rank = rank;
    lane.step_s = seconds;
    lane.optimizer_s = optimizer_s;
    lane.bins.assign(engine::kMeasuredBins, {0.5f, 0, 0, 0.25f});
  }
  return c;
}

const TagRegion& tag_at(const RecordCanvas& canvas, const char* id, int index) {
  const auto found = std::find_if(canvas.tags().begin(), canvas.tags().end(),
                                  [&](const TagRegion& t) { return t.id == id && t.index == index; });
  REQUIRE(found != canvas.tags().end());
  return *found;
}

// Filled rectangles in the look of what was measured.
std::vector<Rect> measured_bars(const RecordCanvas& canvas, const Theme& look_of) {
  std::vector<Rect> out;
  const Colour look = mix(look_of.panel, look_of.ink, 0.28f);
  for (const Primitive& p : canvas.primitives())
    if (p.kind == Primitive::Kind::fill && p.points.size() == 4 && p.colour == look &&
        p.points[2].x - p.points[0].x > 12)
      out.push_back(rect_between(p.points[0].x, p.points[0].y, p.points[2].x, p.points[2].y));
  return out;
}

}  // namespace

TEST_CASE("a measured step of which only the time is known is a bar below that of the step") {
  const FigureCase c = with_step(2 * step_of(sixteen_stages()));
  const auto canvas = drawn("step", c, "dark", 15, 560, 400);
  CHECK(canvas->find_tag("step.matmul_s"));
  CHECK(canvas->find_text("measured"));
  const auto bars = measured_bars(*canvas, theme("dark"));
  REQUIRE(bars.size() == 1);
  // The bar of the step itself is the longest in ink.
  float longest = 0;
  for (const Primitive& p : canvas->primitives())
    if (p.kind == Primitive::Kind::fill && p.points.size() == 4 && p.colour == theme("dark").ink)
      longest = std::max(longest, p.points[2].x - p.points[0].x);
  CHECK(bars.front().w == doctest::Approx(2 * longest).epsilon(0.01));
}

TEST_CASE("measured kernels stand row by row beside the parts they belong to, and end at the measured step") {
  const FigureCase c = with_kernels(1.5 * step_of(sixteen_stages()), {});
  const auto canvas = drawn("step", c, "dark", 15, 640, 400);
  for (const char* words :
       {"matmuls and attention", "exposed collectives", "host and gaps", "unexplained", "predicted"}) {
    CAPTURE(words);
    CHECK(canvas->find_text(words));
  }
  const auto bars = measured_bars(*canvas, theme("dark"));
  REQUIRE(bars.size() >= 4);
  CHECK(bars[1].x == doctest::Approx(bars[0].right()).epsilon(1e-3));
  CHECK(bars[bars.size() - 2].right() == doctest::Approx(bars.back().right()).epsilon(1e-3));
  const auto& total = canvas->tags().back();
  CHECK(total.id == "step.measured");
  CHECK(total.readout.title.find("step time") != std::string::npos);
}

TEST_CASE("what a step copies as data has the measured seconds") {
  const FigureCase c = with_step(7.5);
  StudyCache studies;
  const std::string data = figure_data(*find_figure("step"), input_of(c, theme("dark")), {});
  CHECK(data.find("measured seconds") != std::string::npos);
  CHECK(data.find("\t7.5\n") != std::string::npos);
}

TEST_CASE("memory that was allocated and reserved is a bar of its own under the stages") {
  FigureCase c = sixteen_stages();
  c.run.emplace().allocated_bytes = 40e9;
  c.run->reserved_bytes = 60e9;
  const auto canvas = drawn("memory", c, "dark", 15, 560, 400);
  const auto bars = measured_bars(*canvas, theme("dark"));
  REQUIRE(bars.size() == 1);
  const TagRegion& tag = tag_at(*canvas, "memory.measured", -1);
  CHECK(tag.readout.title == "measured: 40.0\u202fGB allocated, 60.0\u202fGB reserved");
  // 40 GB are as long as half of the capacity.
  const TagRegion* capacity = canvas->find_tag(engine::quantity(Q::hbm_capacity).id);
  REQUIRE(capacity);
  CHECK(bars.front().w == doctest::Approx((capacity->rect.centre().x - bars.front().x) / 2).epsilon(0.02));
  for (int stage = 0; stage < 16; ++stage) CHECK(canvas->find_tag(engine::quantity(Q::memory_weights).id, stage));
}

TEST_CASE("measured memory by what it holds has the hues of the parts") {
  FigureCase c = sixteen_stages();
  c.run.emplace().allocated_bytes = 50e9;
  c.run->held_bytes = {10e9, 5e9, 15e9, 18e9, 2e9};
  const auto canvas = drawn("memory", c, "dark", 15, 560, 400);
  const Readout& r = tag_at(*canvas, "memory.measured", -1).readout;
  REQUIRE(r.rows.size() == 6);
  CHECK(r.rows[2].second == "15.0\u202fGB");
  const std::string data = figure_data(*find_figure("memory"), input_of(c, theme("dark")), {});
  CHECK(data.find("measured allocated\t10000000000\t5000000000\t15000000000\t18000000000") != std::string::npos);
}

TEST_CASE("a measured lane stands so that its optimizer begins where the plan's pipeline ends") {
  const FigureCase plan = sixteen_stages();
  const double makespan = static_cast<double>(plan.report.pipeline.timeline.makespan) * 1e-12;
  for (const double longer : {0.5, 1.3}) {
    CAPTURE(longer);
    const FigureCase c = with_kernels(longer * makespan + 0.1, longer * makespan);
    const auto canvas = drawn("pipeline", c, "dark", 15, 640, 420);
    const Rect own = tag_at(*canvas, "pipeline.measured", 0).rect;
    // Its bars begin left of the first forward by what its step is longer before the optimizer, or right of it.
    const auto bars = measured_bars(*canvas, theme("dark"));
    REQUIRE_FALSE(bars.empty());
    const TagRegion* first = canvas->find_tag(engine::quantity(Q::stage_forward).id, 0);
    REQUIRE(first);
    CHECK((bars.front().x < first->rect.x) == (longer > 1));
    CHECK(own.w > 0);
    CHECK(canvas->find_text("1024"));
  }
}

TEST_CASE("without a timeline the measured step is one bar under the stages, from the same beginning") {
  const FigureCase c = with_step(step_of(sixteen_stages()));
  const auto canvas = drawn("pipeline", c, "dark", 15, 560, 400);
  const TagRegion& bar = tag_at(*canvas, "pipeline.measured", -1);
  const TagRegion* first = canvas->find_tag(engine::quantity(Q::stage_forward).id, 0);
  REQUIRE(first);
  CHECK(bar.rect.x == doctest::Approx(first->rect.x).epsilon(0.01));
}

TEST_CASE("figures with a measured run cut and cover nothing at any size, with a baseline and without") {
  for (const bool baseline : {false, true})
    for (const std::string figure : {"step", "memory", "pipeline"}) {
      CAPTURE(figure);
      CAPTURE(baseline);
      FigureCase c = with_kernels(1.4 * step_of(sixteen_stages()), 1.3 * step_of(sixteen_stages()));
      c.run->allocated_bytes = 61e9;
      c.run->reserved_bytes = 72e9;
      if (baseline) c.baseline = std::make_shared<FigureCase>(too_full());
      check_clean_everywhere(*find_figure(figure), c, {});
    }
}

TEST_CASE("what was measured keeps its column at the width of one column of a paper") {
  const auto canvas = drawn("step", with_kernels(1.4 * step_of(sixteen_stages()), {}), "print", 9, 238, 220);
  const auto right_ends = [&](std::string_view text) {
    for (const TextRun& run : canvas->texts())
      if (run.text == text && run.style.halign == HAlign::right) return run.bounds.right();
    return 0.0f;
  };
  CHECK(right_ends("predicted") > 0);
  CHECK(right_ends("measured") > right_ends("predicted"));
}

TEST_CASE("the takeaway says the measured number too") {
  FigureCase c = with_step(9);
  c.run->allocated_bytes = 61e9;
  CHECK(takeaway("step", c).find("measured 9.00\u202fs") != std::string::npos);
  CHECK(takeaway("pipeline", c).find("measured 9.00\u202fs") != std::string::npos);
  CHECK(takeaway("memory", c).find("measured 61.0\u202fGB") != std::string::npos);
}
