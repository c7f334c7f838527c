// Topology: the mesh on its links, as the report places it.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/widgets/figures/figure_fixture.h"
#include "widgets/canvas/palette.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using engine::AxisPlacement;
using engine::LinkTier;

namespace {

// 8 tensor ranks in a node, 128 x 16 over the fabric.
FigureCase on_nodes() {
  FigureCase c = sixteen_stages();
  c.report.placement = {{engine::Axis::fsdp, LinkTier::fabric, 128, 0, 1, 128, 50e9, 0},
                        {engine::Axis::tensor, LinkTier::nvlink, 8, 0, 8, 1, 450e9, -1},
                        {engine::Axis::pipeline, LinkTier::fabric, 16, 0, 1, 16, 0, 0}};
  return c;
}

FigureCase on_torus() {
  FigureCase c = one_stage();
  c.report.placement = {{engine::Axis::fsdp, LinkTier::ici, 1024, 2, 1, 1, 360e9, -1},
                        {engine::Axis::tensor, LinkTier::ici, 4, 1, 1, 1, 180e9, -1}};
  return c;
}

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
  for (const char* text : {"node", "fabric", "tensor 8", "inside a node", "gathers 450\u202fGB/s", "128 nodes",
                           "gathers 50.0\u202fGB/s", "moves nothing"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
  CHECK(canvas->find_tag("links.bytes_per_s[tensor]"));
}

TEST_CASE("on a torus every axis is named with the torus axes it spans") {
  const auto canvas = drawn("topology", on_torus(), "dark", 15, 900, 400);
  for (const char* text : {"fsdp 1024", "2 torus axes", "gathers 360\u202fGB/s", "tensor 4", "one torus axis",
                           "16 \u00d7 20 \u00d7 28 slice, rings close"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
  CHECK(find_figure("topology")->head(input_of(on_torus(), theme("dark")), {}).takeaway ==
        "slowest: tensor 4 gathers 180\u202fGB/s, one torus axis");
}

TEST_CASE("of a lone axis nothing is the slowest") {
  FigureCase c = on_nodes();
  c.report.placement = {{engine::Axis::fsdp, LinkTier::nvlink, 8, 0, 8, 1, 514e9, -1}};
  CHECK(find_figure("topology")->head(input_of(c, theme("dark")), {}).takeaway ==
        "fsdp 8 gathers 514\u202fGB/s, inside a node");
}

TEST_CASE("tokens are exchanged, stages send, and why a rate passes that of its link is said below") {
  FigureCase c = on_nodes();
  c.report.placement = {{engine::Axis::expert, LinkTier::fabric, 64, 0, 8, 8, 57.1e9, 0},
                        {engine::Axis::pipeline, LinkTier::fabric, 16, 0, 1, 16, 50e9, 0}};
  const auto canvas = drawn("topology", c, "dark", 15, 900, 400);
  for (const char* text : {"exchanges 57.1\u202fGB/s", "sends 50.0\u202fGB/s",
                           "Rates count whole arrays, with what a rank has already or gets inside its node."}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
}

TEST_CASE("wraparound links are drawn where rings close, and only there") {
  const auto arcs = [](const FigureCase& c) {
    const auto canvas = drawn("topology", c, "dark", 15, 900, 400);
    std::size_t n = 0;
    for (const Primitive& p : canvas->primitives()) n += p.kind == Primitive::Kind::stroke && p.points.size() > 10;
    return n;
  };
  CHECK(arcs(on_torus()) == 3);
  FigureCase open = on_torus();
  open.scenario.cluster.slice = {6, 6, 6};
  CHECK(arcs(open) == 0);
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
  FigureCase c = one_stage();
  c.report.placement.clear();
  CHECK(drawn("topology", c, "dark", 15, 600, 300)->find_text("One chip: there is no mesh to lay on links."));
}
