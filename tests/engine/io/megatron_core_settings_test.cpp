// Megatron-Bridge's and NeMo's configuration files: their keys mean what the flags of Megatron-LM mean.
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

namespace roofscape {
namespace {

io::Result<io::Imported> import_settings(const std::string& text, const std::string& cluster = "h100-sxm:128") {
  return io::import_launch(text, "conf.yaml", {cluster, {}}, test::shipped());
}
std::string settings_seed(const std::string& name) {
  return test::text_of(test::source_dir() / "tests/fuzz/launch" / name);
}
std::string with(std::string text, std::string_view before, std::string_view after) {
  const std::size_t at = text.find(before);
  REQUIRE(at != std::string::npos);
  return text.replace(at, before.size(), after);
}
using Values = std::vector<std::pair<std::string_view, double>>;
void check_values(const engine::Scenario& s, const Values& values) {
  for (const auto& [path, value] : values) {
    const engine::Field* field = engine::find_field(path);
    REQUIRE(field != nullptr);
    CAPTURE_BINDING(path);
    CHECK(field->get(s) == value);
  }
}

TEST_CASE("moments of fp8 are bytes, by the flag's name of them and by torch's") {
  for (const char* name : {"fp8", "torch.uint8", "uint8"}) {
    CAPTURE(name);
    const auto read =
        import_settings(settings_seed("megatron_bridge") + "\noptimizer:\n  exp_avg_dtype: " + name + "\n");
    REQUIRE(read.ok());
    CHECK(read->complete());
    CHECK(read->scenario.precision.optimizer == engine::OptimizerKind::adam_8bit);
  }
}

TEST_CASE("Megatron Core offloads the stated share of the optimizer, and none where none is stated") {
  for (const auto& [more, fraction] : {std::pair{"", 0.0}, std::pair{"  optimizer_offload_fraction: 0.75\n", 0.75}}) {
    const auto read =
        import_settings(settings_seed("megatron_bridge") + "\noptimizer:\n  optimizer_cpu_offload: true\n" + more);
    REQUIRE(read.ok());
    CHECK(read->scenario.offload.optimizer);
    CHECK(read->scenario.offload.optimizer_fraction == fraction);
  }
}

TEST_CASE("the order of ranks is read where Megatron-Bridge has it, in a section of which nothing else matters") {
  for (const auto& [value, order] :
       {std::pair{"true", engine::RankOrder::data_last}, std::pair{"false", engine::RankOrder::automatic}}) {
    CAPTURE_BINDING(value);
    const auto read = import_settings(settings_seed("megatron_bridge") + "\ndist:\n  use_tp_pp_dp_mapping: " + value +
                                      "\n  distributed_backend: nccl\n");
    REQUIRE(read.ok());
    CHECK(read->scenario.placement.order == order);
  }
}

TEST_CASE("Megatron-Bridge's configuration is read section by section") {
  const auto read = import_settings(settings_seed("megatron_bridge"));
  REQUIRE(read.ok());
  CHECK(read->format_name == "Megatron-Bridge");
  CHECK(read->complete());
  check_values(read->scenario, {{"model.n_layers", 32},
                                {"model.d_model", 4096},
                                {"model.n_kv_heads", 8},
                                {"model.d_head", 128},
                                {"model.gated_mlp", 1},
                                {"model.mlp_bias", 0},
                                {"model.tied_embeddings", 0},
                                {"model.moe.n_routed_experts", 8},
                                {"model.moe.d_ff_expert", 14336},
                                {"workload.global_batch_sequences", 1024},
                                {"workload.sequence_length", 4096},
                                {"parallelism.tensor", 2},
                                {"parallelism.pipeline", 4},
                                {"parallelism.expert", 8},
                                {"parallelism.fsdp", 16},
                                {"parallelism.zero_stage", 1},
                                {"pipeline.virtual_stages", 2}});
  for (const io::IgnoredKey& key : read->ignored) CHECK_MESSAGE(key.understood, key.key);
}

TEST_CASE(
    "NeMo's configuration has its chips in the trainer, its own names for recomputation, and values by reference") {
  const auto read = import_settings(settings_seed("nemo"), "h100-sxm");
  REQUIRE(read.ok());
  CHECK(read->format_name == "NeMo");
  CHECK(read->complete());
  CHECK(engine::chip_count(read->scenario.cluster) == 128);
  check_values(read->scenario, {{"model.n_layers", 40},
                                {"model.d_ff", 13824},
                                {"model.gated_mlp", 1},
                                {"model.vocab_size", 32000},
                                {"model.max_context_tokens", 4096},
                                {"workload.global_batch_sequences", 512},
                                {"pipeline.microbatch_sequences", 2},
                                {"parallelism.tensor", 4},
                                {"parallelism.pipeline", 2},
                                {"parallelism.fsdp", 16},
                                {"parallelism.zero_stage", 1},
                                {"parallelism.sequence_parallel", 1}});
  CHECK(read->scenario.checkpointing.policy == engine::CheckpointPolicy::attention);
  for (const io::ReadValue& value : read->read)
    if (value.field == "model.mlp_bias") CHECK(value.value == "false");  // as the file has it
}

TEST_CASE("a value that NeMo computes is missing, with the option that gives it") {
  const auto read = import_settings(
      with(settings_seed("nemo"), "ffn_hidden_size: 13824", "ffn_hidden_size: ${multiply:4, ${.hidden_size}}"));
  REQUIRE(read.ok());
  CHECK(read->is_missing("model.d_ff"));
}

TEST_CASE("mixed precision of Megatron-Bridge names the formats of arithmetic and weights") {
  const auto compute = [](std::string_view recipe) {
    const auto read = import_settings(with(settings_seed("megatron_bridge"), "bf16_mixed", recipe));
    REQUIRE(read.ok());
    return read->scenario.precision;
  };
  CHECK(compute("bf16_mixed").compute == engine::Dtype::bf16);
  CHECK(compute("fp16_mixed").compute == engine::Dtype::fp16);
  CHECK(compute("bf16_with_fp8_current_scaling_mixed").compute == engine::Dtype::fp8);
  CHECK(compute("bf16_with_fp8_current_scaling_mixed").weights == engine::Dtype::bf16);
}

}  // namespace
}  // namespace roofscape
