#include <doctest/doctest.h>

#include "tests/widgets/figures/preset_fixture.h"
#include "widgets/canvas/number_format.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using engine::Q;

namespace {
FigureView to_capacity() { return view_of("memory-time", {{"scale", "capacity"}}); }
}  // namespace

TEST_CASE("the peak over time is the number of the memory figure") {
  for (const char* id : {"llama3-70b-v5p-pod", "llama3-405b-16k-h100", "deepseek-v3-2048-h800", "llama3-8b-8-h100"}) {
    CAPTURE(id);
    const FigureCase c = preset_case(id);
    const auto canvas = drawn("memory-time", c, "dark", 15, 560, 400);
    CHECK(canvas->find_text("peak " + format(*c.report.quantities[Q::memory_total], engine::unit::bytes)));
  }
}

TEST_CASE("parts lie on one another without a gap, activations on top") {
  engine::Scenario s = sixteen_stages().scenario;
  s.assumptions.reserve_bytes = 2e9;
  const FigureCase c = evaluated(s);
  const auto canvas = drawn("memory-time", c, "dark", 15, 560, 400, to_capacity());
  float top = 0;
  for (const char* id : {"memory.weights_bytes", "memory.gradients_bytes", "memory.optimizer_bytes",
                         "memory.buffers_bytes", "memory.reserve_bytes"}) {
    const TagRegion* tag = canvas->find_tag(id, 1);
    REQUIRE(tag);
    if (top > 0) CHECK(tag->rect.bottom() == doctest::Approx(top).epsilon(1e-4));
    top = tag->rect.y;
  }
  const TagRegion* activations = canvas->find_tag("memory.activations_bytes", 1);
  REQUIRE(activations);
  CHECK(activations->rect.bottom() == doctest::Approx(top).epsilon(1e-4));
}

TEST_CASE("activations that grow or shrink are told by both ends, not by one") {
  const auto canvas = drawn("memory-time", preset_case("llama3-70b-v5p-pod"), "dark", 15, 560, 400);
  std::string told;
  for (const TagRegion& tag : canvas->tags())
    if (tag.id == "memory.activations_bytes") told += tag.readout.title + "; ";
  // The last until the step ends.
  CHECK(told == "activations 0\u202fB to 2.68\u202fGB; activations 2.68\u202fGB to 0\u202fB; activations 0\u202fB; ");
}

TEST_CASE("the capacity is a line over the whole step") {
  const auto canvas = drawn("memory-time", sixteen_stages(), "dark", 15, 560, 400, to_capacity());
  const TextRun* label = canvas->find_text("80\u202fGB");
  REQUIRE(label);
  int lines = 0;
  for (const Primitive& p : canvas->primitives())
    if (p.kind == Primitive::Kind::stroke && p.colour == theme("dark").err) {
      ++lines;
      CHECK(p.points[0].y == p.points[1].y);
      CHECK(p.points[0].y == doctest::Approx(label->anchor.y).epsilon(0.01));
    }
  CHECK(lines == 1);
}

TEST_CASE("a peak far below the capacity is enlarged and the capacity stands beyond the axis") {
  const FigureCase c = preset_case("llama3-70b-v5p-pod");  // 4.44 of 96 GB
  const auto canvas = drawn("memory-time", c, "dark", 15, 560, 400);
  CHECK(canvas->find_text("\u2191 96\u202fGB"));
  for (const Primitive& p : canvas->primitives())
    CHECK_FALSE((p.kind == Primitive::Kind::stroke && p.colour == theme("dark").err));
}

TEST_CASE("the stage shown is a choice") {
  const FigureCase c = sixteen_stages();
  const FigureView last = view_of("memory-time", {{"stage", "last"}});
  CHECK(drawn("memory-time", c, "dark", 15, 560, 400, last)->find_tag("memory.weights_bytes", 15));
  const FigureView first = view_of("memory-time", {{"stage", "first"}});
  CHECK(drawn("memory-time", c, "dark", 15, 560, 400, first)->find_tag("memory.weights_bytes", 0));
}

TEST_CASE("an illegal schedule shows its reason instead of a plot") {
  const auto canvas =
      drawn("memory-time", scheduled({engine::ScheduleKind::zb_h1, 16, 18, 2, 0}, kMs), "dark", 15, 560, 400);
  CHECK(canvas->count_tags("memory.activations_bytes") == 0);
  CHECK(canvas->texts().size() >= 1);
}
