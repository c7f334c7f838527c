#include <doctest/doctest.h>

#include <limits>

#include "engine/evaluate/evaluate.h"
#include "engine/model/checkpointing.h"
#include "engine/model/layer_operations.h"
#include "engine/training/stage_time.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::preset;
using tests::value_if_any;
using tests::with;

namespace {
bool recomputes(const Scenario& s, OperationKind kind) {
  return recomputed_operations(layer_key(s))[static_cast<std::size_t>(kind)];
}
}  // namespace

TEST_CASE("widths of experts beyond what a whole number holds stay at its end") {
  Scenario s;
  s.model.moe.n_routed_experts = 1 << 14;
  s.model.moe.experts_per_token = 1 << 14;
  s.model.moe.d_ff_expert = 1 << 22;
  CHECK(layer_key(s).d_ff == std::numeric_limits<int>::max());
}

TEST_CASE("without checkpointing nothing is computed again") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"checkpointing.policy=none"});
  CHECK(value_if_any(s, Q::flops_recompute_per_step) == 0);
  CHECK(value_if_any(s, Q::hfu) == value_if_any(s, Q::mfu));
}
TEST_CASE("a block checkpoint repeats the forward pass: HFU is 4/3 of MFU in the 6 P convention") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"checkpointing.policy=block"});
  CHECK(value_if_any(s, Q::hfu) / value_if_any(s, Q::mfu) == doctest::Approx(4.0 / 3).epsilon(1e-12));
}
TEST_CASE("a block checkpoint keeps one tensor of width D per layer") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"checkpointing.policy=block"});
  CHECK(value_if_any(s, Q::layer_checkpoint_bytes) == 2.0 * 2048 * 8192 / 4);  // 2048 tokens, tensor 4
}
TEST_CASE("k checkpoints keep k tensors of width D per layer") {
  const Scenario s = preset("llama3-70b-v5p-pod");
  CHECK(value_if_any(s, Q::layer_checkpoint_bytes) == 4.0 * 2 * 2048 * 8192 / 4);
}
TEST_CASE("four checkpoints of LLaMA-3 70B spare attention and its output, not QKV, gate and up") {
  const Scenario s = preset("llama3-70b-v5p-pod");
  CHECK_FALSE(recomputes(s, OperationKind::attention_out));
  CHECK_FALSE(recomputes(s, OperationKind::attention));
  CHECK(recomputes(s, OperationKind::qkv));
  CHECK(recomputes(s, OperationKind::gate_up));
}
TEST_CASE("kept big matmuls take NH + 2KH + 2D + 2F elements per token") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"checkpointing.policy=big_matmuls", "parallelism.tensor=1"});
  CHECK(value_if_any(s, Q::layer_checkpoint_bytes) == 2.0 * 2048 * (8192 + 2 * 1024 + 2 * 8192 + 2 * 28672));
}
TEST_CASE("everything of a layer is 18.75 D per token for LLaMA-3 70B, the book rounds to 20") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"checkpointing.policy=none", "parallelism.tensor=1"});
  CHECK(value_if_any(s, Q::layer_full_bytes) / (2.0 * 2048 * 8192) == 19.0 - 0.25);
}
TEST_CASE("software keeps two tensors of the stream less: 34 s b h bytes with dropout's masks, 5 a s^2 b of scores") {
  Scenario s =
      with(Scenario{}, {"model=llama3-70b", "model.gated_mlp=false", "model.d_ff=32768", "model.n_kv_heads=64",
                        "cluster.chip=a100-80g", "workload.sequence_length=4096", "parallelism.tensor=8",
                        "parallelism.sequence_parallel=true", "checkpointing.policy=none",
                        "assumptions.stack=megatron-2021", "assumptions.mode=calibrated"});
  const double tokens = 4096.0 * s.pipeline.microbatch_sequences, width = 8192;
  const double stream = 34 * tokens * width, scores = 5 * 64 * 4096.0 * tokens;
  CHECK(value_if_any(s, Q::layer_full_bytes) == doctest::Approx((stream + scores) / 8).epsilon(1e-12));
  // Selective recomputation drops the scores alone.
  s.checkpointing.policy = CheckpointPolicy::attention;
  CHECK(value_if_any(s, Q::layer_checkpoint_bytes) == doctest::Approx(stream / 8).epsilon(1e-12));
}
TEST_CASE("more checkpoints never cost more recomputation") {
  double before = 1e300;
  for (int k = 1; k <= 20; ++k) {
    Scenario s = preset("llama3-70b-v5p-pod");
    s.checkpointing.k = k;
    const double flops = value_if_any(s, Q::flops_recompute_per_step);
    CHECK(flops <= before);
    before = flops;
  }
}
TEST_CASE("without sequence parallelism layer inputs are whole on every tensor rank") {
  const Scenario s =
      with(preset("llama3-70b-v5p-pod"), {"checkpointing.policy=block", "parallelism.sequence_parallel=false"});
  CHECK(value_if_any(s, Q::layer_checkpoint_bytes) == 2.0 * 2048 * 8192);
}

TEST_CASE("C segments recomputed once cost one forward and keep C layer inputs, sqrt(L) is the default") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"checkpointing.policy=segments"});
  CHECK(value_if_any(s, Q::checkpoint_segments) == 9);  // sqrt(80) = 8.94
  CHECK(value_if_any(s, Q::recompute_times) == 1);
  CHECK(value_if_any(s, Q::layer_checkpoint_bytes) == doctest::Approx(9.0 / 80 * 2 * 2048 * 8192 / 4).epsilon(1e-12));
  const double input = 2.0 * 2048 * 8192 / 4;  // of the segment, which is kept
  CHECK(value_if_any(s, Q::buffers_working) ==
        doctest::Approx(9 * value_if_any(s, Q::layer_full_bytes) - input).epsilon(1e-12));
}
// The way to the inputs takes N(N/C - 1)/2 forwards (CS231n notes), the layers themselves N more.
TEST_CASE("segments with nothing kept inside cost (L/C + 1)/2 forwards per layer") {
  const Scenario s =
      with(preset("llama3-70b-v5p-pod"), {"checkpointing.policy=segments_minimal", "checkpointing.segments=8"});
  CHECK(value_if_any(s, Q::recompute_times) == 5.5);
  CHECK(value_if_any(s, Q::layer_flops_recompute) ==
        doctest::Approx(5.5 * value_if_any(s, Q::layer_flops_forward)).epsilon(1e-12));
}
TEST_CASE("one segment a layer runs every layer once more") {
  const Scenario s =
      with(preset("llama3-70b-v5p-pod"), {"checkpointing.policy=segments_minimal", "checkpointing.segments=80"});
  CHECK(value_if_any(s, Q::recompute_times) == 1);
}
TEST_CASE("as many segments as layers take the memory of the policy that keeps layer inputs") {
  for (const char* id : {"llama3-8b-8-h100", "llama3-70b-v5p-pod", "mixtral-8x7b-64-h100"})
    for (const char* mode : {"assumptions.mode=ideal", "assumptions.mode=calibrated"})
      for (const char* policy : {"checkpointing.policy=segments", "checkpointing.policy=segments_minimal"}) {
        CAPTURE(id);
        CAPTURE(mode);
        CAPTURE(policy);
        const Scenario block = with(preset(id), {mode, "checkpointing.policy=block"});
        Scenario segments = with(block, {policy});
        segments.checkpointing.segments = block.model.n_layers;
        CHECK(value_if_any(segments, Q::memory_total) ==
              doctest::Approx(value_if_any(block, Q::memory_total)).epsilon(1e-12));
      }
}
TEST_CASE("checkpointing half of the layers repeats half of the forward") {
  const Scenario s =
      with(preset("llama3-70b-v5p-pod"), {"checkpointing.policy=some_blocks", "checkpointing.blocks=40"});
  CHECK(value_if_any(s, Q::layer_flops_recompute) ==
        doctest::Approx(0.5 * value_if_any(s, Q::layer_flops_forward)).epsilon(1e-12));
  const double full = value_if_any(s, Q::layer_full_bytes), input = 2.0 * 2048 * 8192 / 4;
  CHECK(value_if_any(s, Q::layer_checkpoint_bytes) == doctest::Approx(0.5 * (full + input)).epsilon(1e-12));
}
