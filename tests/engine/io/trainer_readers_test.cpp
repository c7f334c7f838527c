// Training arguments as axolotl, LLaMA-Factory and Transformers write them.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "engine/inputs/inputs.h"
#include "engine/io/import/import_launch.h"
#include "engine/scenario/mesh_size.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

using namespace roofscape;
using engine::AttentionKernel;

namespace {

io::Result<io::Imported> trained(std::string_view lines, std::string_view cluster = "h100-sxm:16") {
  const std::string text =
      "base_model: meta-llama/Llama-3.1-8B\nmicro_batch_size: 2\nsequence_len: 4096\n" + std::string(lines) + "\n";
  return io::import_launch(text, "sft.yaml", {std::string(cluster), {}}, test::shipped());
}
std::string refusal_of(const io::Result<io::Imported>& read) {
  return read.ok() ? std::string() : test::in_english(read.error().message);
}

}  // namespace

TEST_CASE("axolotl's sizes are the mesh, and its context parallelism is a ring") {
  for (const std::string_view context : {"context_parallel_size", "sequence_parallel_degree"}) {
    const auto read = trained(
        "bf16: true\nfsdp_version: 2\nfsdp_config: {reshard_after_forward: true}\n"
        "dp_replicate_size: 2\ndp_shard_size: 2\ntensor_parallel_size: 2\n" +
        std::string(context) + ": 2");
    REQUIRE_MESSAGE(read.ok(), refusal_of(read));
    const engine::Parallelism& mesh = read->scenario.parallelism;
    CHECK(mesh.data == 2);
    CHECK(mesh.fsdp == 2);
    CHECK(mesh.tensor == 2);
    CHECK(mesh.context == 2);
    CHECK(mesh.zero_stage == 3);
    CHECK(mesh.context_method == engine::ContextMethod::ring);
    CHECK(engine::mesh_chips(mesh) == 16);
    CHECK_FALSE(read->has_errors());
    // A microbatch is shared by the ranks of one context.
    CHECK(read->scenario.workload.global_batch_sequences == 2 * 4);
  }
}

TEST_CASE("FSDP2 is known by its settings where a file has no list of FSDP") {
  for (const char* settings : {"fsdp_version: 2", "fsdp_config: {reshard_after_forward: true}"}) {
    CAPTURE(settings);
    const auto read = trained(std::string("bf16: true\n") + settings);
    REQUIRE_MESSAGE(read.ok(), refusal_of(read));
    CHECK(read->scenario.parallelism.fsdp == 16);
    CHECK(read->scenario.parallelism.zero_stage == 3);
  }
  const auto without = trained("bf16: true\nfsdp_config: {reshard_after_forward: false}");
  REQUIRE_MESSAGE(without.ok(), refusal_of(without));
  CHECK(without->scenario.parallelism.zero_stage == 2);
}

TEST_CASE("axolotl's automatic bf16 is bf16, unless fp16 is asked for") {
  const auto automatic = trained("bf16: auto\nfp16:");
  REQUIRE_MESSAGE(automatic.ok(), refusal_of(automatic));
  CHECK_FALSE(automatic->is_missing("precision.compute"));
  CHECK(automatic->scenario.precision.compute == engine::Dtype::bf16);
  CHECK(automatic->scenario.precision.master_weights == engine::Dtype::fp32);
  const auto half = trained("bf16: auto\nfp16: true");
  REQUIRE_MESSAGE(half.ok(), refusal_of(half));
  CHECK(half->scenario.precision.compute == engine::Dtype::fp16);
  // Elsewhere the program decides.
  const auto elsewhere =
      io::import_launch("model_name_or_path: meta-llama/Llama-3.1-8B\nper_device_train_batch_size: 1\nbf16: auto\n",
                        "args.yaml", {"h100-sxm:8", {}}, test::shipped());
  REQUIRE_MESSAGE(elsewhere.ok(), refusal_of(elsewhere));
  CHECK(elsewhere->is_missing("precision.compute"));
}

TEST_CASE("an implementation of attention keeps its scores on the chip, unless it is eager") {
  const auto attention = [](const std::string& lines) {
    const auto read = trained("bf16: true\n" + lines);
    REQUIRE_MESSAGE(read.ok(), refusal_of(read));
    return read->scenario.kernels.attention;
  };
  CHECK(attention("") == AttentionKernel::automatic);
  for (const char* word : {"flash_attention_2", "flash_attention_3", "sdpa", "flex_attention"})
    CHECK(attention(std::string("attn_implementation: ") + word) == AttentionKernel::fused);
  CHECK(attention("attn_implementation: eager") == AttentionKernel::unfused);
  CHECK(attention("attn_implementation: auto") == AttentionKernel::automatic);
  CHECK(attention("flash_attn: fa2") == AttentionKernel::fused);
  CHECK(attention("flash_attn: disabled") == AttentionKernel::unfused);
  CHECK(attention("flash_attn: auto") == AttentionKernel::automatic);
  for (const char* flag : {"flash_attention", "sdp_attention", "xformers_attention", "flex_attention"}) {
    CHECK(attention(std::string(flag) + ": true") == AttentionKernel::fused);
    CHECK(attention(std::string(flag) + ": false") == AttentionKernel::automatic);
    CHECK(attention(std::string(flag) + ":") == AttentionKernel::automatic);
  }
  CHECK(attention("eager_attention: true") == AttentionKernel::unfused);
  CHECK(refusal_of(trained("bf16: true\nflash_attention: true\nattn_implementation: eager")) ==
        "kernels.attention is stated twice: flash_attention true on line 5, attn_implementation eager on line 6");
}

TEST_CASE("LLaMA-Factory's switch against checkpointing says what is kept") {
  const auto policy = [](const char* line) {
    const auto read = trained(std::string("bf16: true\n") + line);
    REQUIRE_MESSAGE(read.ok(), refusal_of(read));
    return read->scenario.checkpointing.policy;
  };
  CHECK(policy("disable_gradient_checkpointing: true") == engine::CheckpointPolicy::none);
  CHECK(policy("disable_gradient_checkpointing: false") == engine::CheckpointPolicy::block);
}

TEST_CASE("of a whole configuration of axolotl nothing is left not understood") {
  const auto read = trained(
      "model_type: LlamaForCausalLM\ntokenizer_type: AutoTokenizer\nplugins: "
      "[axolotl.integrations.liger.LigerPlugin]\n"
      "liger_rope: true\nstrict: false\nchat_template: llama3\ndatasets: [{path: some/set, type: chat_template}]\n"
      "dataset_prepared_path: prepared\nval_set_size: 0.02\noutput_dir: ./out\nsample_packing: true\n"
      "pad_to_sequence_len: true\neval_sample_packing: false\nwandb_project:\ngradient_accumulation_steps: 4\n"
      "num_epochs: 1\noptimizer: adamw_torch_fused\nlr_scheduler: cosine\nlearning_rate: 2e-5\n"
      "train_on_inputs: false\ngroup_by_length: false\nbf16: auto\nfp16:\ntf32: false\ngradient_checkpointing: true\n"
      "gradient_checkpointing_kwargs: {use_reentrant: false}\nearly_stopping_patience:\nresume_from_checkpoint:\n"
      "logging_steps: 1\nflash_attention: true\nwarmup_ratio: 0.1\nevals_per_epoch: 2\nsaves_per_epoch: 1\ndebug:\n"
      "deepspeed:\nweight_decay: 0.0\nspecial_tokens: {pad_token: x}\n");
  REQUIRE_MESSAGE(read.ok(), refusal_of(read));
  CHECK_FALSE(read->has_errors());
  for (const auto& key : read->ignored) CHECK_MESSAGE(key.understood, key.key);
}

TEST_CASE("an 8-bit Adam keeps its moments in a byte each, by any of its names") {
  for (const char* name :
       {"optimizer: adamw_bnb_8bit", "optim: paged_adamw_8bit", "optim: adamw_torch_8bit", "optimizer: adamw_8bit"}) {
    CAPTURE(name);
    const auto read = trained(std::string("bf16: true\n") + name);
    REQUIRE_MESSAGE(read.ok(), refusal_of(read));
    CHECK(read->scenario.precision.optimizer == engine::OptimizerKind::adam_8bit);
    CHECK(engine::bytes_of(read->scenario.precision.optimizer) == 2 + 8.0 / 256);
    CHECK(read->scenario.precision.master_weights == engine::Dtype::fp32);
    CHECK_FALSE(read->has_errors());
  }
  const auto fused = trained("bf16: true\noptimizer: adamw_torch_fused");
  REQUIRE_MESSAGE(fused.ok(), refusal_of(fused));
  CHECK(fused->scenario.precision.optimizer == engine::OptimizerKind::adam_fp32);
  CHECK(fused->notices.size() == trained("bf16: true")->notices.size());
}

TEST_CASE("another optimizer is taken as Adam, and said to be") {
  for (const char* name : {"adafactor", "lion_8bit", "ademamix_8bit", "sgd"}) {
    CAPTURE(name);
    const auto read = trained(std::string("bf16: true\noptimizer: ") + name);
    REQUIRE_MESSAGE(read.ok(), refusal_of(read));
    CHECK(read->scenario.precision.optimizer == engine::OptimizerKind::adam_fp32);
    const auto said = std::string("the optimizer \"") + name + "\" is taken as Adam";
    CHECK(std::ranges::any_of(read->notices,
                              [&](const io::ImportNotice& notice) { return test::in_english(notice.text) == said; }));
  }
}
