// The worked numbers of chapter 6 of "How To Scale Your Model" (LLaMA-3 on TPU v5p), at their exact values. The
// printed figures, where they round, stand in the comments.
#include <doctest/doctest.h>

#include "engine/evaluate/evaluate.h"
#include "engine/inputs/inputs.h"
#include "engine/model/parameters.h"
#include "engine/training/book_bounds.h"
#include "engine/training/run.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::near;
using tests::preset;
using tests::value_of;
using tests::with;

namespace {

constexpr double kAlpha = 2550;  // tokens a chip of one-axis FSDP on v5p
constexpr double kF = 28672;     // d_ff of LLaMA-3 70B

}  // namespace

TEST_CASE("at-01: parameters of LLaMA-3 70B by part") {
  const Scenario s = preset("llama3-70b-v5p-pod");
  CHECK(value_of(s, Q::params_mlp) == 56371445760);                                   // printed 56.3e9
  CHECK(value_of(s, Q::params_vocab) == 2101346304);                                  // 2.1e9
  CHECK(value_of(s, Q::params_attention) == 12079595520);                             // 12e9
  CHECK(value_of(s, Q::params_total) - value_of(s, Q::params_norms) == 70552387584);  // 70.4e9 from rounded parts
  CHECK(value_of(s, Q::params_total) == 70553706496);  // the published count, norms included
  CHECK(value_of(s, Q::params_mlp) / 70552387584.0 == near(0.7990012484394506));
}
TEST_CASE("6 FLOP per parameter: 4.2e11 FLOP per token for 70e9 parameters") {
  const Scenario s = preset("llama3-70b-v5p-pod");
  CHECK(value_of(s, Q::flops_per_token) == 6 * 70553706496.0);
}
TEST_CASE("at-03: 15e12 tokens are 6.3e24 FLOP, 435 years of one v5p") {
  const double flops = 4.2e11 * 15e12;
  CHECK(flops == near(6.3e24));
  CHECK(years_of(run_seconds(flops, 1.0, 4.59e14, 1.0)) == near(434.9345386239268));
}
TEST_CASE("44 days at 40 % MFU on 8,960 chips") {
  CHECK(days_of(run_seconds(6.3e24, 8960.0, 4.59e14, 0.4)) == near(44.3247322076979));
  // With every parameter counted instead of 70e9:
  CHECK(value_of(preset("llama3-70b-v5p-pod"), Q::stated_run_days) == near(44.3247322076979 * 70553706496.0 / 70e9));
}
TEST_CASE("at-05: 21.6 TB and 225 chips for a batch of 4e6 tokens with four checkpoints per layer") {
  const double state = training_state_bytes(70e9, 2.0, 0.0, 8.0);
  CHECK(state == 700e9);
  const double checkpoints = checkpoint_bytes(2.0, 8192.0, 4e6, 4.0, 80.0);
  CHECK(checkpoints == near(20971520000000.0));
  CHECK(state + checkpoints == near(21671520000000.0));
  CHECK((state + checkpoints) / 96e9 == near(225.745));
}
TEST_CASE("the scenario's job memory is the book's: state and k checkpoints of the whole batch") {
  const Scenario s = preset("llama3-70b-v5p-pod");
  CHECK(value_of(s, Q::training_state_bytes) == near(10 * 70553706496.0));
  CHECK(value_of(s, Q::checkpoints_all_bytes) == near(checkpoint_bytes(2.0, 8192.0, 4194304.0, 4.0, 80.0)));
  CHECK(value_of(s, Q::memory_activations) == near(value_of(s, Q::checkpoints_all_bytes) / 8192));
}
TEST_CASE("at-06: the same run on the 225 chips of the memory minimum takes 1752 days") {
  const double flops = 44 * 86400.0 * 8960 * 4.59e14 * 0.4;  // what 8,960 chips do in 44 days at 40 %
  CHECK(days_of(run_seconds(flops, 225.0, 4.59e14, 0.4)) == near(1752.1777777777777));
  CHECK(years_of(run_seconds(flops, 225.0, 4.59e14, 0.4)) == near(4.797201308084265));
}
TEST_CASE("at-08: a batch of 4,194,304 tokens is 1024 sequences of 4096") {
  const Scenario s = preset("llama3-70b-v5p-pod");
  CHECK(value_of(s, Q::batch_sequences) == 1024);
  CHECK(value_of(s, Q::tokens_per_step) == 4194304);
}
TEST_CASE("FSDP on one, two and three axes of v5p needs 2550, 1275 and 850 tokens per chip, the pod has 468") {
  const Scenario s = preset("llama3-70b-v5p-pod");
  CHECK(value_of(s, Q::bound_fsdp_1) == near(2550));
  CHECK(value_of(s, Q::bound_fsdp_2) == near(1275));
  CHECK(value_of(s, Q::bound_fsdp_3) == near(850));
  CHECK(value_of(s, Q::bound_cluster_tokens) == near(4194304.0 / 8960));
}
TEST_CASE("at-10: FSDP with tensor needs 453 tokens per chip when transfers follow each other") {
  CHECK(mixed_tokens_per_chip(kAlpha, kAlpha, kF, 2.0, 1.0, true) == near(453.57840401785717));
  CHECK(value_of(preset("llama3-70b-v5p-pod"), Q::bound_mixed_sum) == near(453.57840401785717));
}
TEST_CASE("at-11: and 113 when they run at the same time") {
  CHECK(mixed_tokens_per_chip(kAlpha, kAlpha, kF, 2.0, 1.0, false) == near(113.39460100446429));
  CHECK(value_of(preset("llama3-70b-v5p-pod"), Q::bound_mixed_max) == near(113.39460100446429));
}
TEST_CASE("chapter 12: FSDP of gpt-oss-120b beyond a node needs 128/4 times the 2475 tokens of a dense model") {
  const Scenario s = preset("gpt-oss-120b-64-h100");
  CHECK(value_of(s, Q::bound_link) == 400e9);
  CHECK(value_of(s, Q::bound_dense) == near(2475));
  CHECK(value_of(s, Q::bound_fsdp_1) == near(79200));
}
TEST_CASE("chapter 12: FSDP inside a node of H100 needs 2200 tokens per chip") {
  CHECK(value_of(preset("llama3-8b-8-h100"), Q::bound_fsdp_1) == near(2200));
}
TEST_CASE("a spine that is slower than the nodes' links sets the limit of FSDP that crosses it, and no other") {
  Scenario s = with(preset("llama3-8b-8-h100"), {"cluster=dgx-h100-superpod-1024", "parallelism.fsdp=1024",
                                                 "workload.global_batch_sequences=1024"});
  s.cluster.fabric[1].bytes_per_s_per_child = 100e9;
  CHECK(value_of(s, Q::bound_fsdp_1) == near(990e12 / 100e9));
  CHECK(value_of(with(s, {"parallelism.fsdp=256"}), Q::bound_fsdp_1) == near(2475));
}
TEST_CASE("a mixture of experts on a torus: 8 experts moved for 2 met, tensor splits the two") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"model=mixtral-8x7b"});
  CHECK(value_of(s, Q::bound_fsdp_1) == near(4 * kAlpha));
  CHECK(value_of(s, Q::bound_tensor) == near(2 * 14336 / kAlpha));
  CHECK(value_of(s, Q::bound_mixed_max) == near(4 * kAlpha * kAlpha / (2 * 2 * 14336)));
  CHECK(value_of(s, Q::bound_x_opt) == near(std::sqrt(4194304.0 / (8 * 14336) * 2 * 8960)));
}
TEST_CASE("the best FSDP degree on the pod is 1618 for a batch of 4.19e6 tokens") {
  CHECK(best_fsdp_degree(4.19e6, kF, 2.0, 1.0, 8960.0) == doctest::Approx(1618).epsilon(2e-4));
  CHECK(value_of(preset("llama3-70b-v5p-pod"), Q::bound_x_opt) == near(std::sqrt(4194304.0 / 28672 * 2 * 8960)));
}
TEST_CASE("at-13: 1024-way data, 2-way sequence and 4-way tensor use 8,192 chips, 2,048 tokens a shard") {
  const Scenario s = preset("llama3-70b-v5p-pod");
  CHECK(value_of(s, Q::chips_used) == 8192);
  CHECK(value_of(s, Q::state_shards) == 2048);
  CHECK(value_of(s, Q::tokens_per_step) / value_of(s, Q::state_shards) == 2048);
}
TEST_CASE("at-14: the same batch on four pods") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"cluster.slices=4", "parallelism.data=4",
                                                         "parallelism.fsdp=256", "parallelism.context=8"});
  CHECK(value_of(s, Q::cluster_chips) == 35840);
  CHECK(value_of(s, Q::tokens_per_step) / value_of(s, Q::cluster_slices) == 1048576);
  CHECK(value_of(s, Q::bound_cluster_tokens) == near(117.02857142857142));
  CHECK(value_of(s, Q::bound_ratio_max) == near(1.0158971996901711));
  CHECK(value_of(s, Q::bound_ratio_sum) == near(0.5079485998450856));
  CHECK(value_of(s, Q::bound_dcn) == near(73440));
  CHECK(value_of(s, Q::bound_x_opt) == near(809.5430810031052));
  CHECK(days_of(run_seconds(6.3e24, 35840.0, 4.59e14, 0.4)) == near(11.081183051924475));
}
TEST_CASE("at-15: parameters and FLOPs of LLaMA-3 405B") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"model=llama3-405b"});
  CHECK(value_of(s, Q::params_mlp) == 329772957696);
  CHECK(value_of(s, Q::params_attention) == 71873593344);
  CHECK(value_of(s, Q::params_vocab) == 4202692608);
  const double without_norms = value_of(s, Q::params_total) - value_of(s, Q::params_norms);
  CHECK(without_norms == 405849243648);
  CHECK(6 * without_norms == 2435095461888);
  CHECK(6 * without_norms * 4194304 == near(10213530636178685952.0));
  CHECK(6 * without_norms * 16777216 == near(40854122544714743808.0));
  CHECK(6 * without_norms * 15e12 == near(3.652643192832e25));
}
TEST_CASE("published parameter counts are met to the last one") {
  // Model cards of Meta: 8,030,261,248, 70,553,706,496 and 405,853,388,800.
  const auto total = [](const char* model) {
    Scenario s = preset("llama3-70b-v5p-pod");
    s.model = *tests::library().find_model(model);
    return value_of(s, Q::params_total);
  };
  CHECK(total("llama3-8b") == 8030261248);
  CHECK(total("llama3-70b") == 70553706496);
  CHECK(total("llama3-405b") == 405853388800);
}
