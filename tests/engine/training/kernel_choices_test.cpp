// What kernels keep: attention's scores, the loss's logits, the tensors of eager operations.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/explain.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::preset;
using tests::value_if_any;
using tests::with;

namespace {

// One microbatch of 4,096 tokens on the tensor ranks, nothing computed again, no pipeline.
Scenario small(const char* mode) {
  return with(preset("llama3-8b-8-h100"),
              {"checkpointing.policy=none", "parallelism.pipeline=1", "parallelism.tensor=2", "parallelism.fsdp=4",
               "workload.sequence_length=4096", "pipeline.microbatch_sequences=1", "parallelism.zero_stage=0", mode});
}
constexpr double kTokens = 4096, kVocabulary = 128256, kTensor = 2;
const char* const kModes[] = {"assumptions.mode=ideal", "assumptions.mode=calibrated"};

double logits_bytes(const Scenario& s) { return value_if_any(s, Q::buffers_logits); }

}  // namespace

TEST_CASE(
    "the loss holds 12 bytes of a logit in plain PyTorch, 4 where it is fused and none in chunks, in every mode") {
  for (const char* mode : kModes) {
    CAPTURE(mode);
    const Scenario s = small(mode);
    CHECK(logits_bytes(with(s, {"kernels.loss=plain"})) == 12 * kTokens * kVocabulary / kTensor);
    CHECK(logits_bytes(with(s, {"kernels.loss=fused"})) == 4 * kTokens * kVocabulary / kTensor);
    CHECK(logits_bytes(with(s, {"kernels.loss=chunked"})) == 0);
  }
}

TEST_CASE("in ideal mode an automatic loss holds logits in fp32, in calibrated mode what its software does") {
  CHECK(logits_bytes(small("assumptions.mode=ideal")) == 4 * kTokens * kVocabulary / kTensor);
  const Scenario s = small("assumptions.mode=calibrated");
  const auto stack = static_cast<std::size_t>(software_stack(s));
  const double of_logit = s.cluster.chip.calibration.stacks[stack][Calibrated::logit_bytes];
  CHECK(logits_bytes(s) == doctest::Approx(of_logit * kTokens * kVocabulary / kTensor).epsilon(1e-12));
}

TEST_CASE("a choice of kernels counts in custom mode too") {
  const Scenario s = with(small("assumptions.mode=custom"), {"assumptions.custom.logit_bytes=7"});
  CHECK(logits_bytes(s) == 7 * kTokens * kVocabulary / kTensor);
  CHECK(logits_bytes(with(s, {"kernels.loss=plain"})) == 12 * kTokens * kVocabulary / kTensor);
}

TEST_CASE(
    "the bytes of a logit that were chosen come from the scenario, those of the software from its calibration") {
  const auto source = [](const Scenario& s) {
    const std::optional<Derivation> derivation = explain(s, "buffers.logits_bytes");
    REQUIRE(derivation);
    const DerivationLine* line = derivation->find("calibration.logit_bytes");
    REQUIRE(line != nullptr);
    return line->source;
  };
  const Scenario s = small("assumptions.mode=calibrated");
  CHECK(source(s) == s.cluster.chip.calibration.source);
  CHECK(source(with(s, {"kernels.loss=plain"})) == "scenario");
}

TEST_CASE("calibrated, the last stage needs the logits or the layer computed again, whichever is more, at one time") {
  const Scenario s =
      with(small("assumptions.mode=custom"),
           {"checkpointing.policy=block", "assumptions.custom.buffer_share=1", "assumptions.custom.logit_bytes=4"});
  const double working = value_if_any(s, Q::buffers_working), logits = logits_bytes(s);
  REQUIRE(working > 0);
  CHECK(value_if_any(s, Q::memory_buffers) == std::max(working, logits));
  const Scenario chunked = with(s, {"kernels.loss=chunked"});
  CHECK(value_if_any(chunked, Q::memory_buffers) == working);
}

TEST_CASE("unfused attention keeps 5 bytes of every score, and two masks of dropout beside the stream") {
  for (const char* mode : kModes) {
    CAPTURE(mode);
    const Scenario s = small(mode);
    const double fused = value_if_any(with(s, {"kernels.attention=fused"}), Q::layer_full_bytes);
    const double unfused = value_if_any(with(s, {"kernels.attention=unfused"}), Q::layer_full_bytes);
    const double stream = s.parallelism.sequence_parallel ? 4096 / kTensor : 4096;
    CHECK(unfused - fused ==
          doctest::Approx(5 * kTokens * kTokens * 32 / kTensor + 2 * kTokens * stream).epsilon(1e-12));
  }
}

TEST_CASE("unfused attention takes longer in calibrated mode, also of software that fuses it") {
  const Scenario s = small("assumptions.mode=calibrated");
  CHECK(value_if_any(with(s, {"kernels.attention=unfused"}), Q::step_time) > value_if_any(s, Q::step_time));
  CHECK(value_if_any(with(s, {"kernels.attention=fused"}), Q::step_time) == value_if_any(s, Q::step_time));
}

TEST_CASE("software before FlashAttention keeps no scores where attention is said to be fused") {
  const Scenario old = with(small("assumptions.mode=calibrated"), {"assumptions.stack=megatron-2021"});
  CHECK(value_if_any(with(old, {"kernels.attention=unfused"}), Q::layer_full_bytes) ==
        value_if_any(old, Q::layer_full_bytes));
  CHECK(value_if_any(with(old, {"kernels.attention=fused"}), Q::layer_full_bytes) <
        value_if_any(old, Q::layer_full_bytes));
}

TEST_CASE("of eager operations a gated layer keeps the activated gate and two normalized inputs more") {
  for (const char* mode : kModes) {
    CAPTURE(mode);
    const Scenario s = small(mode);
    const double stream = s.parallelism.sequence_parallel ? 4096 / kTensor : 4096;
    CHECK(value_if_any(with(s, {"kernels.elementwise=eager"}), Q::layer_full_bytes) -
              value_if_any(s, Q::layer_full_bytes) ==
          doctest::Approx(2 * kTokens * (2 * stream + 14336 / kTensor)).epsilon(1e-12));
    const Scenario plain = with(s, {"model.gated_mlp=false"});
    CHECK(value_if_any(with(plain, {"kernels.elementwise=eager"}), Q::layer_full_bytes) ==
          value_if_any(plain, Q::layer_full_bytes));
  }
}

TEST_CASE("a host that waits for each kernel takes its time beside the work of every layer, forward and backward") {
  // Of what is computed again it starts the kernels again.
  for (const char* policy : {"checkpointing.policy=none", "checkpointing.policy=block"}) {
    CAPTURE(policy);
    const Scenario s = with(small("assumptions.mode=calibrated"), {policy});
    const double wait = applied_calibration(s)[Calibrated::wait];
    REQUIRE(wait > 0);
    const Scenario waits = with(s, {"kernels.launch=blocking"});
    const double passes = s.checkpointing.policy == CheckpointPolicy::block ? 3 : 2;
    CHECK(value_if_any(waits, Q::layer_host_forward) == wait);
    CHECK(value_if_any(waits, Q::layer_host_backward) == passes * wait);
    const double sequences = s.workload.global_batch_sequences, ranks = s.parallelism.data * s.parallelism.fsdp;
    const double microbatches = sequences / ranks / s.pipeline.microbatch_sequences;
    CHECK(value_if_any(waits, Q::step_layers_host) ==
          doctest::Approx(microbatches * s.model.n_layers * (1 + passes) * wait).epsilon(1e-12));
    for (const Q q : {Q::step_hbm, Q::step_matmul, Q::step_attention, Q::step_optimizer})
      CHECK(value_if_any(waits, q) == value_if_any(s, q));
  }
}

TEST_CASE("beside a kernel that is waited for nothing is sent") {
  std::mt19937 rng(43);
  int felt = 0, reduces = 0;
  for (int i = 0; i < 400; ++i) {
    Scenario s = tests::random_scenario(rng);
    s.assumptions.mode = Mode::calibrated;
    s.kernels.launch = KernelLaunch::queued;
    const Report queued = evaluate(s);
    s.kernels.launch = KernelLaunch::blocking;
    const Report waits = evaluate(s);
    if (queued.has_errors() || s.serves()) continue;
    const bool starts = applied_calibration(s)[Calibrated::wait] > 0;
    const auto in_both = [&](Q q) {
      return std::pair{queued.quantities.value_or(q, 0), waits.quantities.value_or(q, 0)};
    };
    const auto [step, waited_step] = in_both(Q::step_time);
    if (!starts) {
      CHECK(waited_step == step);
      continue;
    }
    ++felt;
    CHECK(waited_step >= step * (1 - 1e-12));
    CHECK(waits.quantities.value_or(Q::pairs_hidden, 0) <= 1e-9 * waited_step);
    const auto [exposed, all_exposed] = in_both(Q::layer_exposed);
    CHECK(all_exposed >= exposed * (1 - 1e-12));
    for (const AxisTransfers& axis : waits.transfers) CHECK(axis.hidden_s <= 1e-9 * waited_step);
    double reduced = 0;
    for (const AxisTransfers& axis : waits.transfers) reduced += axis.step_end_s;
    CHECK(waits.pipeline.reduction_s == doctest::Approx(reduced).epsilon(1e-12));
    if (reduced > 0) ++reduces;
    // No byte and no FLOP changes.
    for (const Q q : {Q::memory_total, Q::flops_hardware_per_step}) {
      const auto [one, other] = in_both(q);
      CHECK(one == other);
    }
  }
  CHECK(felt > 100);
  CHECK(reduces > 20);
}

TEST_CASE("a stage waits for what it sends where the host waits for each kernel") {
  std::mt19937 rng(47);
  int felt = 0;
  for (int i = 0; i < 400; ++i) {
    Scenario s = tests::random_scenario(rng);
    s.assumptions.mode = Mode::calibrated;
    if (s.serves() || s.parallelism.pipeline == 1) continue;
    const auto step = [&s](KernelLaunch launch, StageSends sends) {
      s.kernels.launch = launch, s.pipeline.sends = sends;
      return evaluate(s).quantities.value_or(Q::step_time, 0);
    };
    CAPTURE(i);
    const double waits = step(KernelLaunch::blocking, StageSends::blocking);
    if (!waits_for_kernels(s)) continue;
    CHECK(step(KernelLaunch::blocking, StageSends::overlapped) == waits);
    felt += step(KernelLaunch::queued, StageSends::overlapped) != step(KernelLaunch::queued, StageSends::blocking);
  }
  CHECK(felt > 10);
}

TEST_CASE("in ideal mode, and of software that is compiled into one program, launches change nothing") {
  for (const Scenario& s :
       {small("assumptions.mode=ideal"), with(preset("llama3-70b-v5p-pod"), {"assumptions.mode=calibrated"})}) {
    REQUIRE(value_if_any(s, Q::step_time) > 0);
    CHECK(value_if_any(with(s, {"kernels.launch=blocking"}), Q::step_time) == value_if_any(s, Q::step_time));
  }
}

TEST_CASE("heads that are no multiple of 8 wide are multiplied by vector units where scores go to HBM") {
  for (const char* stack : {"assumptions.stack=megatron-2021", "assumptions.stack=megatron"}) {
    CAPTURE(stack);
    const Scenario s = with(small("assumptions.mode=calibrated"), {stack, "kernels.attention=unfused"});
    const auto attention = [](const Scenario& of) { return value_if_any(of, Q::step_attention); };
    const auto wide = [&](const char* width) { return with(s, {width}); };
    // From 104 to 112 the products grow evenly and by little, and 108 is not between the two.
    const double narrow = attention(wide("model.d_head=104")), odd = attention(wide("model.d_head=108")),
                 broad = attention(wide("model.d_head=112"));
    REQUIRE(narrow < broad);
    const double aligned = (narrow + broad) / 2;
    const Chip& chip = s.cluster.chip;
    const double peak = *chip[ChipField::peak_bf16_dense_flops_per_s].value,
                 vector = *chip[ChipField::peak_fp32_vector_flops_per_s].value;
    // Scores alone cost the rest, of which there is as much whatever the width.
    const double products = 108 * (broad - narrow) / 8;
    CHECK(odd - aligned == doctest::Approx(products * (peak / vector - 1)).epsilon(1e-6));
    for (const char* fused : {"kernels.attention=fused", "assumptions.mode=ideal"}) {
      CAPTURE(fused);
      const auto between = [&](const char* width) { return attention(with(wide(width), {fused})); };
      CHECK(between("model.d_head=108") ==
            doctest::Approx((between("model.d_head=104") + between("model.d_head=112")) / 2).epsilon(1e-9));
    }
  }
}
