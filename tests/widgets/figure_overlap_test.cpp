#include "tests/widgets/golden.h"
#include "tests/widgets/preset_fixture.h"

#include <algorithm>

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

namespace {

// DP, FSDP, HSDP or TP, as the option names them.
FigureView with_strategy(std::string_view id) {
  FigureView view;
  const auto& choices = find_figure("overlap")->options[0].choices;
  view.choices[0] = static_cast<std::uint8_t>(std::find(choices.begin(), choices.end(), id) - choices.begin());
  return view;
}

}  // namespace

TEST_CASE("a plan's lanes are its compute and the axes that move something") {
  const auto canvas = drawn("overlap", preset_case("llama3-70b-v5p-pod"), "dark", 15, 560, 400);
  for (const char* name : {"compute", "fsdp 1024", "tensor 4", "context 2", "forward", "backward"}) {
    CAPTURE(name);
    CHECK(canvas->find_text(name));
  }
  CHECK_FALSE(canvas->find_text("data 1"));
}

TEST_CASE("weights are gathered for the next layer while a layer computes, forward upwards and backward downwards") {
  const std::string data = find_figure("overlap")->data(input_of(preset_case("llama3-8b-8-h100"), theme("dark")), {});
  CHECK(data.find("fsdp\tgather\tforward\t15\t0\t") != std::string::npos);   // under layer 14
  CHECK(data.find("fsdp\tgather\tbackward\t15\t") != std::string::npos);     // under layer 16
  CHECK(data.find("fsdp\ttransfer\tbackward\t17\t") != std::string::npos);   // its gradients, under layer 16
}

TEST_CASE("what is exposed is named and hatched on the compute lane") {
  const auto exposed = drawn("overlap", preset_case("deepseek-v3-2048-h800"), "dark", 15, 560, 400);
  CHECK(exposed->find_text("exposed"));
  CHECK(exposed->count_tags("layer.exposed_forward_s") == 3);
  const auto hidden = drawn("overlap", preset_case("llama3-8b-8-h100"), "dark", 15, 560, 400);
  CHECK_FALSE(hidden->find_text("exposed"));
  CHECK(hidden->count_tags("layer.exposed_forward_s") == 0);
}

TEST_CASE("each plain strategy has its own lanes") {
  const FigureCase c = preset_case("llama3-70b-v5p-pod");
  CHECK(drawn("overlap", c, "dark", 15, 560, 400, with_strategy("dp"))->find_text("data 4096"));
  CHECK(drawn("overlap", c, "dark", 15, 560, 400, with_strategy("fsdp"))->find_text("fsdp 4096"));
  CHECK(drawn("overlap", c, "dark", 15, 560, 400, with_strategy("hsdp"))->find_text("fsdp 16"));
  CHECK(drawn("overlap", c, "dark", 15, 560, 400, with_strategy("tp"))->find_text("tensor 16"));
}

TEST_CASE("a strategy that could not run is drawn with the reason") {
  const auto canvas = drawn("overlap", preset_case("llama3-70b-v5p-pod"), "dark", 15, 560, 400, with_strategy("dp"));
  CHECK(canvas->find_text("Would not run: Too few sequences"));
}

TEST_CASE("the overlap takeaway says how much of a layer's time is exposed") {
  CHECK(find_figure("overlap")->head(input_of(preset_case("deepseek-v3-2048-h800"), theme("dark")), {}).takeaway ==
        "4.19\u202fms exposed in a layer, 22\u202f% of its time");
}

TEST_CASE("the overlap figure is as its golden") {
  FigureView view;
  view.print = true;
  check_golden("figure_overlap", *drawn("overlap", preset_case("llama3-8b-8-h100"), "print", 9, 425, 227, view));
}
