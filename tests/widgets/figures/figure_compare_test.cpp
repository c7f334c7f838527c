// Compare: where the difference between two plans comes from.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <sstream>
#include <tuple>

#include "tests/capture_binding.h"
#include "tests/widgets/figures/preset_fixture.h"
#include "widgets/canvas/number_format.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using engine::Q;

namespace {

// LLaMA-3 8B on one node: in four stages before, without stages now.
FigureCase unstaged() {
  FigureCase now = preset_case("llama3-8b-8-h100");
  now.baseline = std::make_shared<const FigureCase>(
      evaluated(tests::with(now.scenario, {"parallelism.fsdp=2", "parallelism.pipeline=4"})));
  return now;
}

double seconds(const engine::Report& report, Q part) { return report.quantities.value_or(part, 0); }
double change_of(const FigureCase& c, Q part) { return seconds(c.report, part) - seconds(c.baseline->report, part); }

}  // namespace

TEST_CASE("the changes stand in the order of their size, over the step time") {
  const FigureCase c = unstaged();
  const auto canvas = drawn("compare", c, "dark", 15, 800, 400);
  float lowest = 0;
  double smallest = std::numeric_limits<double>::infinity();
  std::size_t bars = 0;
  for (const TagRegion& tag : canvas->tags()) {
    const auto part = engine::find_quantity(tag.id);
    if (!part || std::find(engine::kStepParts.begin(), engine::kStepParts.end(), *part) == engine::kStepParts.end())
      continue;
    CAPTURE(tag.id);
    CHECK(tag.rect.centre().y > lowest);
    CHECK(std::abs(change_of(c, *part)) <= smallest);
    lowest = tag.rect.centre().y;
    smallest = std::abs(change_of(c, *part));
    ++bars;
  }
  CHECK(bars >= 2);
  const TagRegion* step = canvas->find_tag(engine::quantity(Q::step_time).id);
  REQUIRE(step);
  CHECK(step->rect.centre().y > lowest);
  CHECK(canvas->audit_text() == "");
}

TEST_CASE("a comparison says both steps and the largest change") {
  const FigureCase c = unstaged();
  const auto canvas = drawn("compare", c, "dark", 15, 800, 400);
  for (const std::string& text :
       {format_duration(seconds(c.baseline->report, Q::step_time)), format_duration(seconds(c.report, Q::step_time)),
        format_difference(change_of(c, Q::step_bubble), engine::unit::seconds)}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
}

TEST_CASE("a part that takes as long as before has no row") {
  FigureCase c = unstaged();
  CHECK(seconds(c.report, Q::step_tensor) == seconds(c.baseline->report, Q::step_tensor));
  CHECK_FALSE(drawn("compare", c, "dark", 15, 800, 400)->find_tag(engine::quantity(Q::step_tensor).id));
}

TEST_CASE("a comparison is clean at any size") {
  for (const auto& [width, height, em] : {std::tuple{320.0f, 240.0f, 15.0f},
                                          {480.0f, 320.0f, 15.0f},
                                          {900.0f, 500.0f, 15.0f},
                                          {3840.0f, 2160.0f, 64.0f}}) {
    CAPTURE_BINDING(width);
    CHECK(drawn("compare", unstaged(), "dark", em, width, height)->audit_text() == "");
  }
}

TEST_CASE("the differences of the parts in the data of a comparison add up to that of the step") {
  const FigureCase c = unstaged();
  std::istringstream data(find_figure("compare")->data(input_of(c, theme("dark")), {}));
  std::string line, part;
  std::getline(data, line);
  double sum = 0, before = 0, after = 0, difference = 0, step = 0;
  while (data >> part >> before >> after >> difference) {
    CAPTURE(part);
    CHECK(difference == doctest::Approx(after - before));
    if (part == engine::quantity(Q::step_time).id)
      step = difference;
    else
      sum += difference;
  }
  CHECK(step == doctest::Approx(change_of(c, Q::step_time)));
  CHECK(sum == doctest::Approx(step));
}

TEST_CASE("without a baseline it says how to get one; without a difference that there is none") {
  CHECK(find_figure("compare")->head(input_of(preset_case("llama3-8b-8-h100"), theme("dark")), {}).takeaway.empty());
  CHECK(drawn("compare", preset_case("llama3-8b-8-h100"), "dark", 15, 900, 400)
            ->find_text(
                "No baseline yet: pin this plan with B, change something, and the difference is taken apart here."));
  FigureCase same = unstaged();
  same.baseline = std::make_shared<const FigureCase>(same);
  CHECK(find_figure("compare")->head(input_of(same, theme("dark")), {}).takeaway == "no difference to the baseline");
}
