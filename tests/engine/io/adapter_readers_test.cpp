// Low-rank adapters as PEFT, Megatron-Bridge and NeMo write them.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/io/import/import_launch.h"
#include "engine/scenario/scenario_fields.h"
#include "tests/capture_binding.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"
#include "tests/test_paths.h"

using namespace roofscape;

namespace {

std::string peft(std::string_view modules, std::string_view more = {}) {
  return R"({"base_model_name_or_path": "meta-llama/Llama-3.1-8B", "peft_type": "LORA", "r": 16, "lora_alpha": 32,
 "target_modules": )" +
         std::string(modules) + std::string(more) + "}";
}

io::Result<io::Imported> imported(std::string_view text) {
  return io::import_launch(text, "run", {"h100-sxm:8", {}}, test::shipped());
}

engine::Adapter adapter_of(std::string_view text) {
  const auto read = imported(text);
  REQUIRE_MESSAGE(read.ok(), (read.ok() ? std::string() : read.error().path));
  return read.value().scenario.adapter;
}

std::vector<std::string> notices_of(std::string_view text) {
  std::vector<std::string> out;
  const auto read = imported(text);
  for (const io::ImportNotice& notice : read.value().notices) out.push_back(test::in_english(notice.text));
  return out;
}

}  // namespace

TEST_CASE("modules of PEFT are the matrices of a layer that they name, in every family's words") {
  using T = engine::AdapterTargets;
  const std::pair<std::string_view, T> kCases[]{
      {R"(["q_proj", "v_proj"])", T::query_value},
      {R"(["v_proj", "k_proj", "o_proj", "q_proj"])", T::attention},
      {R"(["gate_proj", "up_proj", "down_proj"])", T::mlp},
      {R"(["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"])", T::linear},
      {R"("all-linear")", T::linear},
      {R"("^model\\.layers\\.\\d+\\.self_attn\\.(q_proj|v_proj)$")", T::query_value},
      {R"(["query_key_value", "dense", "dense_h_to_4h", "dense_4h_to_h"])", T::linear},
      {R"(["qkv_proj", "o_proj"])", T::attention},
      {R"(["gate_up_proj", "down_proj"])", T::mlp},
      {R"(["wq", "wk", "wv", "wo"])", T::attention},
      {"null", T::query_value},
  };
  for (const auto& [modules, targets] : kCases) {
    CAPTURE_BINDING(modules);
    const std::string text = peft(modules);
    const engine::Adapter adapter = adapter_of(text);
    CHECK(adapter.rank == 16);
    CHECK(adapter.targets == targets);
    CHECK(notices_of(text).empty());
  }
}

TEST_CASE("modules between two of the choices are the nearest one, and that is said") {
  CHECK(adapter_of(peft(R"(["q_proj", "k_proj", "v_proj"])")).targets == engine::AdapterTargets::attention);
  CHECK(notices_of(peft(R"(["q_proj", "k_proj", "v_proj"])")) ==
        std::vector<std::string>{"q_proj,k_proj,v_proj has no equivalent; attention is the nearest"});
  CHECK(notices_of(peft(R"(["conv1d"])")) ==
        std::vector<std::string>{"\"conv1d\" names no matrices of a layer that are known here"});
}

TEST_CASE("the model that PEFT's adapters are for is the plan's, on the chips that are given") {
  const auto read = imported(peft(R"("all-linear")"));
  REQUIRE(read.ok());
  CHECK(read.value().scenario.model.name == "LLaMA-3 8B");
  CHECK(read.value().scenario.parallelism.fsdp == 8);
  CHECK(read.value().missing.empty());
}

TEST_CASE("what changes which weights PEFT trains is said not to be modelled") {
  for (const std::string_view more :
       {R"(, "modules_to_save": ["embed_tokens"])", R"(, "rank_pattern": {"layers.0": 4})", R"(, "use_dora": true)",
        R"(, "layers_to_transform": [0, 1])", R"(, "bias": "all")"}) {
    CAPTURE_BINDING(more);
    const auto notices = notices_of(peft(R"("all-linear")", more));
    REQUIRE(notices.size() == 1);
    CHECK(notices[0].ends_with("changes which weights are trained; it is not modelled"));
  }
  CHECK(notices_of(peft(R"("all-linear")", R"(, "modules_to_save": null, "rank_pattern": {}, "use_dora": false,
    "layers_to_transform": null, "bias": "none", "modules_pattern": null)"))
            .empty());
}

TEST_CASE("adapters of another kind than LoRA are refused by name") {
  CHECK(notices_of(R"({"peft_type": "IA3", "base_model_name_or_path": "meta-llama/Llama-3.1-8B"})") ==
        std::vector<std::string>{"training of \"IA3\" adapters is not modelled"});
}

TEST_CASE("Megatron-Bridge and NeMo say rank and modules of adapters in a section of their own") {
  const std::string bridge = test::text_of(test::source_dir() / "tests/fuzz/launch/megatron_bridge");
  engine::Adapter adapter = adapter_of(bridge + R"(
peft:
  _target_: megatron.bridge.peft.lora.LoRA
  dim: 32
  alpha: 32
  dropout: 0.0
  target_modules: [linear_qkv, linear_proj]
)");
  CHECK(adapter.rank == 32);
  CHECK(adapter.targets == engine::AdapterTargets::attention);
  std::string nemo = test::text_of(test::source_dir() / "tests/fuzz/launch/nemo");
  const std::size_t model = nemo.find("\nmodel:\n");
  REQUIRE(model != std::string::npos);
  nemo.insert(model + 8, R"(  peft:
    peft_scheme: lora
    lora_tuning:
      target_modules: [attention_qkv, attention_dense, mlp_fc1, mlp_fc2]
      adapter_dim: 8
)");
  adapter = adapter_of(nemo);
  CHECK(adapter.rank == 8);
  CHECK(adapter.targets == engine::AdapterTargets::linear);
}
