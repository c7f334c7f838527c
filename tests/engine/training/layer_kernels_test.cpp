// Kernels of a layer, calibrated: what narrow heads, biases of experts and a slow host add to it.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "engine/evaluate/evaluate.h"
#include "tests/capture_binding.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::preset;
using tests::value_if_any;
using tests::with;

namespace {

Scenario dense(const char* heads) {
  return with(preset("llama3-8b-8-h100"),
              {"assumptions.mode=calibrated", "kernels.attention=fused", "checkpointing.policy=none", heads});
}

// Experts whose grouped products take no bias, on so many sequences of 1,024 tokens at a time.
Scenario experts(const char* sequences) {
  return with(preset("gpt-oss-120b-64-h100"),
              {"assumptions.mode=calibrated", "assumptions.stack=megatron", "checkpointing.policy=none",
               "parallelism.data=64", "parallelism.fsdp=1", "parallelism.zero_stage=0",
               "workload.sequence_length=1024", "workload.global_batch_sequences=1024", sequences});
}

double attention(const Scenario& s) { return value_if_any(s, Q::step_attention); }

// Seconds of attention per element of a head, over those with heads 128 wide.
double times_as_long(const Scenario& s, int width) {
  const auto of = [&](int w) { return attention(with(s, {("model.d_head=" + std::to_string(w)).c_str()})) / w; };
  return of(width) / of(128);
}
constexpr double kGaps = 2e-3;  // what stands between kernels, whatever their width

}  // namespace

// Shah et al. 2024, figure 5: forward passes of H100 over 16,384 tokens, 497 and 648 TFLOP/s with heads 64 and 128
// wide. One H200 measured for this project takes 0.70 of the time with heads half as wide, and 0.66 backward.
TEST_CASE("attention with heads half as wide takes a third more of the time per FLOP on GPUs") {
  CHECK(times_as_long(dense("model.d_head=128"), 64) == doctest::Approx(648.0 / 497).epsilon(0.02));
}

TEST_CASE("heads wider than 128 take as long per FLOP as heads 128 wide on GPUs") {
  for (const int width : {160, 192, 256}) {
    CAPTURE(width);
    CHECK(times_as_long(dense("model.d_head=128"), width) == doctest::Approx(1).epsilon(kGaps));
  }
}

TEST_CASE("the matrix units of a TPU take heads in widths of 128") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"assumptions.mode=calibrated"});
  for (const auto& [width, times] :
       {std::pair{64, 2.0}, {96, 128.0 / 96}, {128, 1.0}, {192, 256.0 / 192}, {256, 1.0}}) {
    CAPTURE_BINDING(width);
    CHECK(times_as_long(s, width) == doctest::Approx(times).epsilon(kGaps));
  }
}

TEST_CASE("in ideal mode the width of heads changes nothing but the FLOPs") {
  const auto ideal = [](const char* heads) { return attention(with(dense(heads), {"assumptions.mode=ideal"})); };
  CHECK(ideal("model.d_head=64") == doctest::Approx(ideal("model.d_head=128") / 2).epsilon(1e-9));
}

TEST_CASE("biases of experts cross HBM as often as the software says, forward, and twice that backward") {
  const Scenario s = experts("pipeline.microbatch_sequences=4"), plain = with(s, {"model.mlp_bias=false"});
  const CalibrationValues values = applied_calibration(s);
  REQUIRE(values[Calibrated::expert_bias] > 0);
  // gpt-oss-120b: 4 experts per token, 2 x 2880 wide before the activation, 2880 after the second product.
  const double tokens = 4 * 1024, bytes = values[Calibrated::expert_bias] * 2 * tokens * 4 * (2 * 2880 + 2880);
  const double hbm = *s.cluster.chip[ChipField::hbm_bytes_per_s].value * values[Calibrated::memory_efficiency];
  const double seconds = values[Calibrated::vector_passes] * bytes / hbm;
  for (const auto& [q, times] : {std::pair{Q::layer_hbm_forward, 1.0}, {Q::layer_hbm_backward, 2.0}})
    CHECK(value_if_any(s, q) - value_if_any(plain, q) == doctest::Approx(times * seconds).epsilon(1e-6));
}

TEST_CASE("biases of experts take no time of their own in ideal mode, nor those of dense layers in any") {
  const Scenario s = experts("pipeline.microbatch_sequences=4");
  const auto hbm = [](const Scenario& of) { return value_if_any(of, Q::layer_hbm_forward); };
  const Scenario ideal = with(s, {"assumptions.mode=ideal"});
  CHECK(hbm(ideal) == hbm(with(ideal, {"model.mlp_bias=false"})));
  const Scenario llama = dense("model.d_head=128");
  CHECK(hbm(with(llama, {"model.mlp_bias=true"})) == hbm(llama));
}

TEST_CASE("what a host has not started when the chip has done the rest of a layer, the chip idles for") {
  const Scenario s = experts("pipeline.microbatch_sequences=1");
  const CalibrationValues values = applied_calibration(s);
  const double starts = values[Calibrated::issue] + values[Calibrated::expert_issue];
  REQUIRE(values[Calibrated::expert_issue] > 0);
  const double forward = value_if_any(s, Q::layer_math_forward) + value_if_any(s, Q::layer_hbm_forward);
  const double backward = value_if_any(s, Q::layer_math_backward) + value_if_any(s, Q::layer_hbm_backward);
  REQUIRE(starts > forward);
  CHECK(value_if_any(s, Q::layer_host_forward) == doctest::Approx(starts - forward).epsilon(1e-9));
  CHECK(value_if_any(s, Q::layer_host_backward) ==
        doctest::Approx(std::max(0.0, 2 * starts - backward)).epsilon(1e-9));
  const double layers = 36, microbatches = 16;
  CHECK(value_if_any(s, Q::step_layers_host) ==
        doctest::Approx(layers * microbatches *
                        (value_if_any(s, Q::layer_host_forward) + value_if_any(s, Q::layer_host_backward)))
            .epsilon(1e-9));
}

TEST_CASE("a host that keeps up takes nothing of layers, and is not spoken of") {
  const Scenario s = experts("pipeline.microbatch_sequences=16");
  CHECK_FALSE(evaluate(s).quantities[Q::step_layers_host].has_value());
}

TEST_CASE("layers replayed from graphs take what queued kernels take without waiting for the host") {
  std::mt19937 rng(44);
  int held_up = 0;
  for (int i = 0; i < 400; ++i) {
    Scenario s = tests::random_scenario(rng);
    s.assumptions.mode = Mode::calibrated;
    s.kernels.launch = KernelLaunch::queued;
    const Report queued = evaluate(s);
    s.kernels.launch = KernelLaunch::graphs;
    const Report replayed = evaluate(s);
    if (queued.has_errors()) continue;
    const auto in_both = [&](Q q) {
      return std::pair{queued.quantities.value_or(q, 0), replayed.quantities.value_or(q, 0)};
    };
    for (const Q q : {Q::memory_total, Q::flops_hardware_per_step, Q::layer_math_forward, Q::layer_math_backward,
                      Q::layer_hbm_forward, Q::layer_hbm_backward, Q::time_per_output_token, Q::ttft}) {
      const auto [one, other] = in_both(q);
      CHECK(one == other);
    }
    if (s.serves()) continue;
    const auto [waits, none] = in_both(Q::step_layers_host);
    CHECK(none == 0);
    const auto [step, replayed_step] = in_both(Q::step_time);
    if (waits == 0) CHECK(step == replayed_step);
    // What is sent under work is sent while the chip idles, too.
    const auto [forward, less_forward] = in_both(Q::layer_exposed_forward);
    const auto [backward, less_backward] = in_both(Q::layer_exposed_backward);
    CHECK(less_forward >= forward);
    CHECK(less_backward >= backward);
    if (s.parallelism.pipeline == 1 && less_forward == forward && less_backward == backward)
      CHECK(replayed_step <= step * (1 + 1e-12));
    held_up += waits > 0;
  }
  CHECK(held_up > 20);
}

TEST_CASE("a plan whose host sets the pace is told so, with graphs as its fix, and no other is") {
  const Scenario s = experts("pipeline.microbatch_sequences=1");
  const Report report = evaluate(s);
  const auto found = std::find_if(report.diagnostics.begin(), report.diagnostics.end(),
                                  [](const Diagnostic& d) { return d.code == "kernels.host_bound"; });
  REQUIRE(found != report.diagnostics.end());
  CHECK(found->values[0].value ==
        report.quantities.value_or(Q::step_layers_host, 0) / report.quantities.value_or(Q::step_time, 0));
  const auto told = [](const Scenario& of) {
    const Report other = evaluate(of);
    return std::any_of(other.diagnostics.begin(), other.diagnostics.end(),
                       [](const Diagnostic& d) { return d.code == "kernels.host_bound"; });
  };
  CHECK_FALSE(told(with(s, {"kernels.launch=graphs"})));
  CHECK_FALSE(told(with(s, {"assumptions.mode=ideal"})));
  CHECK_FALSE(told(experts("pipeline.microbatch_sequences=16")));
}
