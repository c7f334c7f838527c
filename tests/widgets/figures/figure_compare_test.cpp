// Compare: where the difference between two plans comes from.
#include <doctest/doctest.h>

#include <memory>
#include <tuple>

#include "tests/capture_binding.h"
#include "tests/widgets/figures/figure_fixture.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using engine::Q;

namespace {

void set_step(engine::Report& report, double matmul, double recompute, double tensor, double bubble) {
  for (const Q part : engine::kStepParts) report.quantities.set(part, 0);
  report.quantities.set(Q::step_matmul, matmul);
  report.quantities.set(Q::step_recompute, recompute);
  report.quantities.set(Q::step_tensor, tensor);
  report.quantities.set(Q::step_bubble, bubble);
  report.quantities.set(Q::step_time, matmul + recompute + tensor + bubble);
}

// 12 s before, 6 s now: 4 s of bubble, 1.5 s of recomputation and 0.5 s of exposed transfers less.
FigureCase halved() {
  FigureCase now = sixteen_stages();
  FigureCase before = now;
  set_step(before.report, 4, 1.5, 1, 5.5);
  set_step(now.report, 4, 0, 0.5, 1.5);
  now.baseline = std::make_shared<const FigureCase>(std::move(before));
  return now;
}

}  // namespace

TEST_CASE("the changes stand in the order of their size and add up to the difference") {
  const FigureCase c = halved();
  const auto canvas = drawn("compare", c, "dark", 15, 800, 400);
  const auto y = [&](Q q) {
    const TagRegion* tag = canvas->find_tag(engine::quantity(q).id);
    REQUIRE(tag);
    return tag->rect.centre().y;
  };
  CHECK(y(Q::step_bubble) < y(Q::step_recompute));
  CHECK(y(Q::step_recompute) < y(Q::step_tensor));
  CHECK(y(Q::step_tensor) < y(Q::step_time));
  CHECK(!canvas->find_tag(engine::quantity(Q::step_matmul).id));  // no change
  for (const char* text :
       {"12.0\u202fs", "6.00\u202fs", "\u22124.00\u202fs", "\u22121.50\u202fs", "\u221233.3\u202f%"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
  CHECK(canvas->audit_text() == "");
}

TEST_CASE("a comparison is clean at any size") {
  for (const auto& [width, height, em] : {std::tuple{320.0f, 240.0f, 15.0f},
                                          {480.0f, 320.0f, 15.0f},
                                          {900.0f, 500.0f, 15.0f},
                                          {3840.0f, 2160.0f, 64.0f}}) {
    CAPTURE_BINDING(width);
    CHECK(drawn("compare", halved(), "dark", em, width, height)->audit_text() == "");
  }
}

TEST_CASE("the data of a comparison adds up") {
  const FigureCase c = halved();
  const std::string data = find_figure("compare")->data(input_of(c, theme("dark")), {});
  CHECK(data.find("step.bubble_s\t5.5\t1.5\t-4\n") != std::string::npos);
  CHECK(data.find("step.time_s\t12\t6\t-6\n") != std::string::npos);
}

TEST_CASE("without a baseline it says how to get one; without a difference that there is none") {
  CHECK(find_figure("compare")->head(input_of(sixteen_stages(), theme("dark")), {}).takeaway.empty());
  CHECK(drawn("compare", sixteen_stages(), "dark", 15, 900, 400)
            ->find_text(
                "No baseline yet: pin this plan with B, change something, and the difference is taken apart here."));
  FigureCase same = halved();
  same.baseline = std::make_shared<const FigureCase>(same);
  CHECK(find_figure("compare")->head(input_of(same, theme("dark")), {}).takeaway == "no difference to the baseline");
}
