// Topology: the mesh on its links, as the report places it.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

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

TEST_CASE("on nodes the first chip is drawn with those it shares a group with, in the colours of their axes") {
  const auto canvas = drawn("topology", on_nodes(), "dark", 15, 900, 400);
  const Theme dark = theme("dark");
  const auto filled = [&](const char* rank) {
    const TextRun* number = canvas->find_text(rank);
    REQUIRE(number);
    Colour found;
    for (const Primitive& p : canvas->primitives())
      if (p.kind == Primitive::Kind::fill && p.points.size() == 4 && p.points[0].x < number->anchor.x &&
          p.points[2].x > number->anchor.x && p.points[0].y < number->anchor.y && p.points[2].y > number->anchor.y)
        found = p.colour;
    return found;
  };
  CHECK(filled("0") == dark.ink);
  for (const char* rank : {"1", "4", "7"}) CHECK(filled(rank) == fill_of(dark, StepPart::tensor, 15).colour);
  CHECK(filled("8") == fill_of(dark, StepPart::pipeline, 15).colour);
  CHECK(filled("128") == fill_of(dark, StepPart::fsdp, 15).colour);
  CHECK(filled("9") == dark.panel);
  for (const char* text :
       {"node 0", "node 1", "node 16", "inside the node: 450\u202fGB/s", "fabric",
        "50\u202fGB/s per GPU, 16\u202f384 GPUs", "tensor 8", "inside a node", "AllGather 514\u202fGB/s", "128 nodes",
        "AllGather 50.4\u202fGB/s", "send 50.0\u202fGB/s"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
  CHECK(canvas->find_tag("links.bytes_per_s[tensor]"));
}

TEST_CASE("a plan inside one node is drawn as that node, without a fabric over it") {
  const auto canvas = drawn("topology", preset_case("llama3-8b-8-h100"), "dark", 15, 900, 400);
  CHECK(canvas->find_text("7"));
  CHECK_FALSE(canvas->find_text("node 0"));
  CHECK_FALSE(canvas->find_text("fabric"));
}

TEST_CASE("of several slices it is said how many the mesh is on") {
  const auto says = [](std::initializer_list<std::string_view> edits, std::string_view text) {
    const FigureCase c = evaluated(tests::with(on_torus().scenario, edits));
    return drawn("topology", c, "dark", 15, 900, 400)->find_text(text) != nullptr;
  };
  CHECK(says({"cluster.slices=3", "parallelism.data=16", "parallelism.fsdp=64"},
             "1 of 3 slices used; each: 16 \u00d7 20 \u00d7 28 slice, rings close"));
  CHECK(
      says({"cluster.slices=2", "parallelism.data=2"}, "2 slices; each: 16 \u00d7 20 \u00d7 28 slice, rings close"));
}

TEST_CASE("on a torus every axis is named with the torus axes it spans") {
  const auto canvas = drawn("topology", on_torus(), "dark", 15, 900, 400);
  for (const char* text : {"fsdp 1024", "2 torus axes: xy", "AllGather 360\u202fGB/s", "tensor 4",
                           "one torus axis: z", "16 \u00d7 20 \u00d7 28 slice, rings close"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
  CHECK(find_figure("topology")->head(input_of(on_torus(), theme("dark")), {}).takeaway ==
        "slowest: tensor 4, AllGather 180\u202fGB/s (one torus axis: z)");
}

TEST_CASE("of a lone axis nothing is the slowest") {
  const FigureCase c = preset_case("llama3-8b-8-h100");
  CHECK(find_figure("topology")->head(input_of(c, theme("dark")), {}).takeaway ==
        "fsdp 8: AllGather 514\u202fGB/s (inside a node)");
}

TEST_CASE("tokens are exchanged over the expert axis") {
  const FigureCase c = preset_case("deepseek-v3-2048-h800");
  const auto expert = std::find_if(c.report.placement.begin(), c.report.placement.end(),
                                   [](const AxisPlacement& p) { return p.axis == engine::Axis::expert; });
  REQUIRE(expert != c.report.placement.end());
  CHECK(drawn("topology", c, "dark", 15, 900, 400)
            ->find_text("AllToAll " + format(expert->bandwidth_bytes_per_s, engine::unit::bytes_per_s)));
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

TEST_CASE("a torus says that hops are counted on groups of equal sides, and which") {
  const auto all = [](const FigureCase& c, float width, float height) {
    const auto canvas = drawn("topology", c, "print", 9, width, height);
    CHECK(canvas->audit_text() == "");
    std::string out;
    for (const TextRun& run : canvas->texts()) out += run.text + " ";
    return out;
  };
  const std::string pod = all(preset_case("llama3-70b-v5p-pod"), 425, 260);
  CHECK(pod.find("as if groups had equal sides") != std::string::npos);
  CHECK(all(preset_case("llama3-70b-16-v5e"), 425, 260).find("equal sides") == std::string::npos);  // the slice's
  // One axis of the torus has one side.
  FigureCase line = preset_case("llama3-70b-v5p-pod");
  for (engine::AxisPlacement& p : line.report.placement) p.torus_axes = std::min(p.torus_axes, 1);
  CHECK(all(line, 425, 260).find("equal sides") == std::string::npos);
}
