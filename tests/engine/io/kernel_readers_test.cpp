// What launch files say of kernels.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

#include "engine/io/import/import_launch.h"
#include "tests/capture_binding.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

using namespace roofscape;
using engine::AttentionKernel;
using engine::LossKernel;

namespace {

engine::Scenario scenario_of(std::string_view text, std::string_view file) {
  const auto read = io::import_launch(text, file, {"h100-sxm:32", {}}, test::shipped());
  REQUIRE_MESSAGE(read.ok(), (read.ok() ? std::string() : test::in_english(read.error().message)));
  return read.value().scenario;
}
engine::KernelChoices kernels_of(std::string_view text, std::string_view file) {
  return scenario_of(text, file).kernels;
}
engine::Scenario megatron_scenario(std::string_view flags) {
  return scenario_of(
      "torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
      "--num-attention-heads 32 --seq-length 4096 --global-batch-size 256 --micro-batch-size 1 --bf16 "
      "--vocab-size 32000 " +
          std::string(flags),
      "run.sh");
}
engine::KernelChoices megatron(std::string_view flags) { return megatron_scenario(flags).kernels; }
std::string trainer_file(std::string_view lines) {
  return "model_name_or_path: meta-llama/Llama-3.1-8B\nstage: sft\ncutoff_len: 4096\nbf16: true\n"
         "per_device_train_batch_size: 1\ngradient_accumulation_steps: 8\n" +
         std::string(lines) + "\n";
}
engine::KernelChoices trainer(std::string_view line) { return kernels_of(trainer_file(line), "sft.yaml"); }

}  // namespace

TEST_CASE("Megatron-LM's attention back end is the attention kernel, its older flag FlashAttention") {
  CHECK(megatron("").attention == AttentionKernel::automatic);
  CHECK(megatron("--attention-backend auto").attention == AttentionKernel::automatic);
  CHECK(megatron("--attention-backend flash").attention == AttentionKernel::fused);
  CHECK(megatron("--attention-backend fused").attention == AttentionKernel::fused);
  CHECK(megatron("--attention-backend unfused").attention == AttentionKernel::unfused);
  CHECK(megatron("--attention-backend local").attention == AttentionKernel::unfused);
  CHECK(megatron("--use-flash-attn").attention == AttentionKernel::fused);
}

TEST_CASE("CUDA_LAUNCH_BLOCKING tells how kernels are launched, wherever a script sets it") {
  using engine::KernelLaunch;
  const std::string line =
      "torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
      "--num-attention-heads 32 --seq-length 4096 --global-batch-size 256 --micro-batch-size 1 --bf16 "
      "--vocab-size 32000\n";
  const auto launches = [](const std::string& text) { return kernels_of(text, "run.sh").launch; };
  CHECK(launches(line) == KernelLaunch::queued);
  CHECK(launches("export CUDA_LAUNCH_BLOCKING=1\n" + line) == KernelLaunch::blocking);
  CHECK(launches("export CUDA_LAUNCH_BLOCKING=0\n" + line) == KernelLaunch::queued);
  CHECK(launches("export CUDA_LAUNCH_BLOCKING=1\nexport CUDA_LAUNCH_BLOCKING=0\n" + line) == KernelLaunch::queued);
  CHECK(launches("NCCL_DEBUG=INFO CUDA_LAUNCH_BLOCKING=1 " + line) == KernelLaunch::blocking);
  CHECK(launches("env CUDA_LAUNCH_BLOCKING=1 " + line) == KernelLaunch::blocking);
  CHECK(launches("export CUDA_LAUNCH_BLOCKING=1\nCUDA_LAUNCH_BLOCKING=0 " + line) == KernelLaunch::queued);
  CHECK(launches("#export CUDA_LAUNCH_BLOCKING=1\n" + line) == KernelLaunch::queued);
}

TEST_CASE("Megatron-LM's graphs of layers are launches from graphs, and a whole step as one is software of its own") {
  using engine::KernelLaunch;
  using engine::StackChoice;
  CHECK(megatron("").launch == KernelLaunch::queued);
  CHECK(megatron("--cuda-graph-impl none").launch == KernelLaunch::queued);
  CHECK(megatron("--cuda-graph-impl").launch == KernelLaunch::queued);  // of what it does not say
  for (const auto& [flags, software] :
       {std::pair{"--enable-cuda-graph", StackChoice::automatic},
        {"--external-cuda-graph", StackChoice::automatic},
        {"--cuda-graph-impl local", StackChoice::automatic},
        {"--cuda-graph-impl transformer_engine --cuda-graph-scope attn moe_router", StackChoice::automatic},
        {"--cuda-graph-impl full_iteration", StackChoice::megatron_2026},
        {"--cuda-graph-impl local --cuda-graph-scope full_iteration", StackChoice::megatron_2026}}) {
    CAPTURE_BINDING(flags);
    const engine::Scenario s = megatron_scenario(flags);
    CHECK(s.kernels.launch == KernelLaunch::graphs);
    CHECK(s.assumptions.stack == software);
  }
}

TEST_CASE("Megatron-LM that computes norms and activations again keeps the outputs of matrix multiplications") {
  using engine::CheckpointPolicy;
  for (const auto& [modules, policy] : {std::pair{"", CheckpointPolicy::attention},
                                        {"--recompute-modules core_attn", CheckpointPolicy::attention},
                                        {"--recompute-modules core_attn layernorm", CheckpointPolicy::attention},
                                        {"--recompute-modules layernorm", CheckpointPolicy::big_matmuls},
                                        {"--recompute-modules layernorm moe_act", CheckpointPolicy::big_matmuls}}) {
    CAPTURE_BINDING(modules);
    CHECK(megatron_scenario(std::string("--recompute-granularity selective ") + modules).checkpointing.policy ==
          policy);
  }
}

TEST_CASE("a server's launches are no field of its plan") {
  const auto read = io::import_launch("CUDA_LAUNCH_BLOCKING=1 vllm serve meta-llama/Llama-3.1-8B-Instruct\n",
                                      "serve.sh", {"h100-sxm:1", {}}, test::shipped());
  REQUIRE(read.ok());
  CHECK(read.value().scenario.kernels.launch == engine::KernelLaunch::queued);
}

TEST_CASE("Megatron-LM's fused cross entropy is the fused loss") {
  CHECK(megatron("").loss == LossKernel::automatic);
  CHECK(megatron("--cross-entropy-loss-fusion --cross-entropy-fusion-impl te").loss == LossKernel::fused);
}

TEST_CASE("Liger Kernel computes the loss in chunks, by each trainer's name for it") {
  CHECK(trainer("").loss == LossKernel::automatic);
  for (const char* name : {"use_liger_kernel", "enable_liger_kernel", "liger_fused_linear_cross_entropy"}) {
    CAPTURE(name);
    CHECK(trainer(std::string(name) + ": true").loss == LossKernel::chunked);
    CHECK(trainer(std::string(name) + ": false").loss == LossKernel::automatic);
  }
}

TEST_CASE("axolotl's losses by name: fused over the logits, in chunks with the product before them") {
  for (const char* name : {"liger_cross_entropy", "chunked_cross_entropy"}) {
    CAPTURE(name);
    CHECK(trainer(std::string(name) + ": true").loss == LossKernel::fused);
    CHECK(trainer(std::string(name) + ": false").loss == LossKernel::automatic);
  }
  CHECK(trainer("cut_cross_entropy: true").loss == LossKernel::chunked);
}

TEST_CASE("two losses at once are refused with both lines") {
  const auto read = io::import_launch(trainer_file("liger_cross_entropy: true\ncut_cross_entropy: true"), "sft.yaml",
                                      {"h100-sxm:32", {}}, test::shipped());
  REQUIRE_FALSE(read.ok());
  CHECK(test::in_english(read.error().message) ==
        "kernels.loss is stated twice: liger_cross_entropy true on line 7, cut_cross_entropy true on line 8");
}

TEST_CASE("further settings of Liger Kernel have no effect, and are known") {
  const auto read = io::import_launch(
      trainer_file("use_liger_kernel: true\nuse_liger_kernel_config: none\nliger_rope: true\nliger_rms_norm: true"),
      "sft.yaml", {"h100-sxm:32", {}}, test::shipped());
  REQUIRE(read.ok());
  CHECK(read.value().scenario.kernels.loss == LossKernel::chunked);
  int further = 0;
  for (const auto& key : read.value().ignored) {
    if (key.key != "use_liger_kernel_config" && key.key != "liger_rope" && key.key != "liger_rms_norm") continue;
    ++further;
    CHECK(key.understood);
  }
  CHECK(further == 3);
}
