// Topology: the mesh on its links, as the report places it.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/widgets/figures/preset_fixture.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using engine::AxisPlacement;

namespace {

// LLaMA-3.1 405B: 8 tensor ranks in a node, 128 x 16 over the fabric.
FigureCase on_nodes() { return preset_case("llama3-405b-16k-h100-8k"); }
// LLaMA-3 70B on a slice of 16 x 20 x 28 TPU v5p.
FigureCase on_torus() { return preset_case("llama3-70b-v5p-pod"); }

}  // namespace

TEST_CASE("on nodes each axis begins where the one before it ends, tensor ranks inside the node") {
  const auto canvas = drawn("topology", on_nodes(), "dark", 15, 900, 400);
  const auto bar = [&](const Colour& c) {
    for (const Primitive& p : canvas->primitives())
      if (p.kind == Primitive::Kind::fill && p.colour == c) return p;
    return Primitive{};
  };
  const Theme dark = theme("dark");
  const auto ends = [&](StepPart axis) {
    const Primitive p = bar(fill_of(dark, axis, 15).colour);
    REQUIRE(p.points.size() >= 4);
    float left = p.points[0].x, right = left;
    for (const Point& q : p.points) left = std::min(left, q.x), right = std::max(right, q.x);
    return std::pair(left, right);
  };
  const auto tensor = ends(StepPart::tensor), fsdp = ends(StepPart::fsdp), pipeline = ends(StepPart::pipeline);
  CHECK(tensor.second == doctest::Approx(fsdp.first).epsilon(0.001));
  CHECK(fsdp.second == doctest::Approx(pipeline.first).epsilon(0.001));
  // As wide as the logarithm of the degree: 8 = 2^3, 128 = 2^7.
  CHECK((fsdp.second - fsdp.first) / (tensor.second - tensor.first) == doctest::Approx(7.0 / 3).epsilon(0.01));
  for (const char* text :
       {"node", "fabric", "tensor 8", "inside a node", "gathers 514\u202fGB/s", "128 nodes", "gathers 50.4\u202fGB/s",
        "sends 50.0\u202fGB/s", "Rates count whole arrays, with what a rank has already or gets inside its node."}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
  CHECK(canvas->find_tag("links.bytes_per_s[tensor]"));
}

TEST_CASE("on a torus every axis is named with the torus axes it spans") {
  const auto canvas = drawn("topology", on_torus(), "dark", 15, 900, 400);
  for (const char* text : {"fsdp 1024", "2 torus axes: xy", "gathers 360\u202fGB/s", "tensor 4", "one torus axis: z",
                           "16 \u00d7 20 \u00d7 28 slice, rings close"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
  CHECK(find_figure("topology")->head(input_of(on_torus(), theme("dark")), {}).takeaway ==
        "slowest: tensor 4 gathers 180\u202fGB/s, one torus axis: z");
}

TEST_CASE("of a lone axis nothing is the slowest") {
  const FigureCase c = preset_case("llama3-8b-8-h100");
  CHECK(find_figure("topology")->head(input_of(c, theme("dark")), {}).takeaway ==
        "fsdp 8 gathers 514\u202fGB/s, inside a node");
}

TEST_CASE("tokens are exchanged over the expert axis") {
  const FigureCase c = preset_case("deepseek-v3-2048-h800");
  const auto expert = std::find_if(c.report.placement.begin(), c.report.placement.end(),
                                   [](const AxisPlacement& p) { return p.axis == engine::Axis::expert; });
  REQUIRE(expert != c.report.placement.end());
  CHECK(drawn("topology", c, "dark", 15, 900, 400)
            ->find_text("exchanges " + format(expert->bandwidth_bytes_per_s, engine::unit::bytes_per_s)));
}

TEST_CASE("wraparound links are drawn where rings close, and only there") {
  const auto arcs = [](const FigureCase& c) {
    const auto canvas = drawn("topology", c, "dark", 15, 900, 400);
    std::size_t n = 0;
    for (const Primitive& p : canvas->primitives()) n += p.kind == Primitive::Kind::stroke && p.points.size() > 10;
    return n;
  };
  CHECK(arcs(on_torus()) == 3);
  CHECK(arcs(evaluated(tests::with(on_torus().scenario, {"cluster.slice=6x6x6", "parallelism.fsdp=27",
                                                         "workload.global_batch_sequences=1026"}))) == 0);
}

TEST_CASE("clean at every size") {
  for (const FigureCase& c : {on_nodes(), on_torus()})
    for (const float width : {320.0f, 480.0f, 900.0f, 1920.0f}) {
      CAPTURE(width);
      CHECK(drawn("topology", c, "dark", 15, width, width * 0.6f)->audit_text() == "");
      FigureView print;
      print.print = true;
      CHECK(drawn("topology", c, "print", 9, width, width * 0.6f, print)->audit_text() == "");
    }
}

TEST_CASE("one chip has no mesh and says so") {
  const FigureCase c = evaluated(tests::with(tests::preset("llama3-8b-8-h100"), {"parallelism.fsdp=1"}));
  CHECK(drawn("topology", c, "dark", 15, 600, 300)->find_text("One chip: there is no mesh to lay on links."));
}
