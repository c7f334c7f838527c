// Layers per stage as Megatron-LM and torchtitan are told them: read, written, refused.
#include <doctest/doctest.h>

#include <random>

#include "engine/io/scenario/layer_layout.h"
#include "engine/io/scenario/scenario_json.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

using namespace roofscape;
using Layers = std::vector<int>;

namespace {

Layers layers_of(std::string_view text) {
  const auto read = io::read_layer_layout(text);
  REQUIRE_MESSAGE(read, text);
  return read.value();
}

std::string refusal(std::string_view text) {
  const auto read = io::read_layer_layout(text);
  REQUIRE_FALSE(read);
  return test::in_english(read.error());
}

constexpr const char* kHow = "; write it as Ettt|(tt|)*29L: E embedding, t a layer, L the head, | between stages";

}  // namespace

// The examples of Megatron-LM's documentation of the argument.
TEST_CASE("a layout of Megatron-LM says the layers of each stage") {
  CHECK(layers_of("Et*3|(tt|)*2,L") == Layers{3, 2, 2, 0});
  CHECK(layers_of("Ettt|tt,|ttL") == Layers{3, 2, 2});
  CHECK(layers_of("E|(t|)*126L").size() == 128);
  CHECK(layers_of("E|((t|)*2tt|)*2L") == Layers{0, 1, 1, 2, 1, 1, 2, 0});
  CHECK(layers_of(" \"Ett|ttL\"\n") == Layers{2, 2});
}

TEST_CASE("the module names of torchtitan say the layers of each stage") {
  CHECK(layers_of(R"([["tok_embeddings", "layers.0", "layers.1"], ["layers.2"], ["norm", "output"]])") ==
        Layers{2, 1, 0});
}

TEST_CASE("any layers are read again from what is written of them") {
  std::mt19937 rng(3);
  for (int i = 0; i < 500; ++i) {
    Layers layers(std::uniform_int_distribution<std::size_t>(1, 40)(rng));
    const int most = std::uniform_int_distribution<int>(1, 6)(rng);
    for (int& n : layers) n = std::uniform_int_distribution<int>(most / 2, most)(rng);
    layers[0] += 1;  // no layout is without a layer
    const std::string megatron = io::megatron_layout(layers), torchtitan = io::torchtitan_modules(layers);
    CAPTURE(megatron);
    CHECK(io::is_layer_layout(megatron));
    CHECK(io::is_layer_layout(torchtitan));
    CHECK(layers_of(megatron) == layers);
    CHECK(layers_of(torchtitan) == layers);
  }
  Layers llama(128, 1);
  llama.front() = llama.back() = 0;
  CHECK(io::megatron_layout(llama) == "E|(t|)*126L");
  CHECK(io::megatron_layout({2, 4, 4, 1}) == "Ett|t*4|t*4|tL");
}

TEST_CASE("what is no layout is answered with one line") {
  CHECK(refusal("Etx|tL") == std::string("\"x\" is no part of a layout") + kHow);
  CHECK(refusal("E(tt|L") == std::string("a parenthesis is not closed") + kHow);
  CHECK(refusal("Ett)|L") == std::string("a parenthesis is closed that was not opened") + kHow);
  CHECK(refusal("Et*|L") == std::string("a repetition is no number, or too many") + kHow);
  CHECK(refusal("E(t*1000|)*100000L") == std::string("a repetition is no number, or too many") + kHow);
  CHECK(refusal("tE|tL") ==
        std::string("the embedding (E) is not the first module, or the head (L) not the last") + kHow);
  CHECK(refusal("Ett|tmL") == "layers that predict further tokens (m) are not modelled; leave them out");
  CHECK(refusal(R"([["layers.0"], ["layers.2"]])") ==
        "\"layers.2\" stands where layer 1 should; list the layers in their order");
  for (const char* other : {"8,8,9,8", "even", "", "[8, 8]", "8 9x2"}) CHECK_FALSE(io::is_layer_layout(other));
}

TEST_CASE("a layout that is set brings its chunks, and must be shared evenly by the devices") {
  engine::Scenario s = io::load_scenario("llama3-8b-8-h100", test::shipped()).value();
  s.parallelism.fsdp = 2, s.parallelism.pipeline = 4;
  REQUIRE_FALSE(io::set_field(s, "pipeline.layers_per_stage=Et*3|(t*4|)*6t*5L", test::shipped()));
  CHECK(s.pipeline.layers_per_stage == Layers{3, 4, 4, 4, 4, 4, 4, 5});
  CHECK(s.pipeline.virtual_stages == 2);
  CHECK(s.pipeline.schedule == engine::ScheduleKind::interleaved_1f1b);
  const engine::Scenario before = s;
  const auto failure = io::set_field(s, "pipeline.layers_per_stage=Et*10|t*11|t*11L", test::shipped());
  REQUIRE(failure);
  CHECK(
      test::in_english(*failure) ==
      "pipeline.layers_per_stage: 3 stages are not shared evenly by 4 devices; set parallelism.pipeline first, to a "
      "divisor of them");
  CHECK(s == before);
}
