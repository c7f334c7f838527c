#include <doctest/doctest.h>

#include <algorithm>

#include "tests/widgets/figures/preset_fixture.h"
#include "widgets/canvas/number_format.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using engine::Q;

namespace {

// Waterfall bars in the order they are drawn: filled rectangles with an edge at the end of the one before.
std::vector<std::string> names_of(const RecordCanvas& canvas) {
  std::vector<std::string> out;
  for (const TagRegion& tag : canvas.tags()) out.push_back(tag.id);
  return out;
}

FigureCase with_parts(std::initializer_list<std::pair<Q, double>> parts) {
  FigureCase c = sixteen_stages();
  for (const Q part : engine::kStepParts) c.report.quantities.set(part, 0);
  double sum = 0;
  for (const auto& [part, seconds] : parts) {
    c.report.quantities.set(part, seconds);
    sum += seconds;
  }
  c.report.quantities.set(Q::step_time, sum);
  return c;
}

}  // namespace

TEST_CASE("the parts of a step stand in the order of the sum, those that take no time are left out") {
  const FigureCase c = with_parts({{Q::step_matmul, 4},
                                   {Q::step_attention, 0},
                                   {Q::step_recompute, 2},
                                   {Q::step_bubble, 3},
                                   {Q::step_optimizer, 1}});
  const auto canvas = drawn("step", c, "dark", 15, 560, 400);
  std::vector<std::string> parts = names_of(*canvas);
  std::erase(parts, "step.network_s");  // what work hides is no part of the sum
  CHECK(parts == std::vector<std::string>{"step.matmul_s", "step.recompute_s", "step.bubble_s", "step.optimizer_s",
                                          "step.time_s"});
}

TEST_CASE("each part begins where the one before it ends, and the last ends at the step time") {
  const FigureCase c =
      with_parts({{Q::step_matmul, 4}, {Q::step_recompute, 2}, {Q::step_data, 1}, {Q::step_optimizer, 1}});
  const auto canvas = drawn("step", c, "dark", 15, 560, 400);
  std::vector<std::pair<float, float>> bars;
  for (const Primitive& p : canvas->primitives()) {
    if (p.kind != Primitive::Kind::fill || p.points.size() != 4) continue;
    const float left = std::min(p.points[0].x, p.points[2].x), right = std::max(p.points[0].x, p.points[2].x);
    if (right - left > 10) bars.emplace_back(left, right);
  }
  REQUIRE(bars.size() == 5);
  for (std::size_t i = 1; i < 4; ++i) CHECK(bars[i].first == doctest::Approx(bars[i - 1].second).epsilon(1e-4));
  CHECK(bars[4].first == doctest::Approx(bars[0].first));
  CHECK(bars[4].second == doctest::Approx(bars[3].second).epsilon(1e-4));
  CHECK((bars[0].second - bars[0].first) / (bars[4].second - bars[4].first) == doctest::Approx(0.5).epsilon(1e-3));
}

TEST_CASE("shares of the step are whole percent") {
  const FigureCase c = with_parts({{Q::step_matmul, 5}, {Q::step_recompute, 3}, {Q::step_bubble, 2}});
  const auto canvas = drawn("step", c, "dark", 15, 560, 400);
  for (const char* text : {"50\u202f%", "30\u202f%", "20\u202f%", "10.0\u202fs"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
}

TEST_CASE("communication that work hides has a row of its own with its time") {
  // DeepSeek-V3: tokens travel between 64 expert ranks, mostly under arithmetic.
  const FigureCase c = preset_case("deepseek-v3-2048-h800");
  const auto canvas = drawn("step", c, "dark", 15, 560, 400);
  const TagRegion* hidden = canvas->find_tag("step.network_s");
  REQUIRE(hidden);
  const auto& q = c.report.quantities;
  const double exposed = q.value_or(Q::step_data, 0) + q.value_or(Q::step_fsdp, 0) + q.value_or(Q::step_expert, 0);
  CHECK(hidden->readout.title == "hidden transfers, " + format_duration(*q[Q::network_total] - exposed));
}

TEST_CASE("hidden transfers are named by their axis") {
  // LLaMA-3 70B: fsdp, tensor and context all move something under arithmetic.
  const auto canvas = drawn("step", preset_case("llama3-70b-v5p-pod"), "dark", 15, 560, 400);
  const TagRegion* hidden = canvas->find_tag("step.network_s");
  REQUIRE(hidden);
  std::vector<std::string> names;
  for (const auto& [name, value] : hidden->readout.rows) names.push_back(name);
  CHECK(names == std::vector<std::string>{"fsdp", "tensor", "context"});
}

TEST_CASE("shards over context alone hide under its name") {
  const FigureCase c = evaluated(
      tests::with(preset_case("llama3-8b-8-h100").scenario, {"parallelism.fsdp=1", "parallelism.context=8"}));
  const auto canvas = drawn("step", c, "dark", 15, 560, 400);
  const TagRegion* hidden = canvas->find_tag("step.network_s");
  REQUIRE(hidden);
  REQUIRE(hidden->readout.rows.size() == 1);
  CHECK(hidden->readout.rows[0].first == "context");
}

TEST_CASE("a baseline stands as a dashed outline at its own place, with the difference in the readout") {
  const FigureCase c = with_parts({{Q::step_matmul, 4}, {Q::step_bubble, 1}});
  const FigureCase before = with_parts({{Q::step_matmul, 4}, {Q::step_bubble, 6}});
  const Theme dark = theme("dark");
  StudyCache studies;
  const Baseline baseline{before.scenario, before.report};
  const FigureInput input{c.scenario, c.report, english(), dark, studies, &baseline};
  RecordCanvas canvas(fonts(), 15, {0, 0, 560, 400});
  find_figure("step")->draw(canvas, canvas.bounds(), input, {});
  const TagRegion* bubble = canvas.find_tag("step.bubble_s");
  REQUIRE(bubble);
  REQUIRE(bubble->readout.rows.size() == 3);
  CHECK(bubble->readout.rows[1].second == "6.00\u202fs");
  CHECK(bubble->readout.rows[2].second == "\u22125.00\u202fs");
  CHECK(find_figure("step")->head(input, {}).takeaway == "5.00\u202fs, \u22125.00\u202fs against the baseline");
  CHECK(canvas.audit_text() == "");
}

TEST_CASE("a plan without a step time says so instead of an empty plot") {
  engine::Scenario s = sixteen_stages().scenario;
  s.cluster.chip[engine::ChipField::hbm_bytes_per_s].value.reset();
  const auto canvas = drawn("step", evaluated(s), "dark", 15, 560, 400);
  REQUIRE(canvas->texts().size() >= 1);
  CHECK(canvas->texts()[0].text.starts_with("This plan has no step time"));
}

TEST_CASE("the step takeaway is its groups: arithmetic with recomputation, and a second as large as to be named") {
  const FigureCase c = with_parts({{Q::step_matmul, 5}, {Q::step_recompute, 1}, {Q::step_bubble, 4}});
  CHECK(find_figure("step")->head(input_of(c, theme("dark")), {}).takeaway ==
        "10.0\u202fs: compute 60\u202f%, pipeline bubble 40\u202f%");
}
