// Muon: which matrices it has, what their Newton-Schulz iterations take, what is sent to make a matrix whole.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/evaluation.h"
#include "engine/evaluate/explain.h"
#include "engine/training/muon.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::near;
using tests::preset;
using tests::value_of;
using tests::with;

namespace {

// LLaMA-3 8B: D 4096, F 14336, 32 heads and 8 KV heads of 128, 32 layers.
constexpr double kMuonD = 4096, kMuonF = 14336, kMuonKv = 1024, kMuonLayers = 32;
double five_steps(double m, double n) { return 5 * 2 * m * m * (2 * n + m); }
// Queries and output, keys and values, gate, up and down.
const double kMuonLayerFlops =
    2 * five_steps(kMuonD, kMuonD) + 2 * five_steps(kMuonKv, kMuonD) + 3 * five_steps(kMuonD, kMuonF);
constexpr double kMuonLayerParams = 2 * kMuonD * kMuonD + 2 * kMuonD * kMuonKv + 3 * kMuonD * kMuonF;

Scenario muon_chip() {
  return with(preset("llama3-8b-8-h100"),
              {"cluster.nodes=1", "parallelism.fsdp=1", "parallelism.data=1", "parallelism.tensor=1",
               "workload.global_batch_sequences=8", "precision.optimizer=muon_fp32"});
}

}  // namespace

TEST_CASE("Newton-Schulz takes 2 m^2 (2 n + m) an iteration, of every matrix of the layers") {
  const Scenario s = muon_chip();
  const Report r = evaluate(s);
  CHECK(newton_schulz_flops(3.0, 5.0, 1.0) == 2 * 3 * 5 * 3 + 2 * 3 * 3 * 3 + 2 * 3 * 3 * 5);
  CHECK(value_of(r, Q::muon_flops) == near(kMuonLayers * kMuonLayerFlops));
  CHECK(value_of(r, Q::muon_layer) == kMuonLayerParams);
  CHECK(value_of(r, Q::muon_updated) == kMuonLayers * kMuonLayerParams);
  // All of these are large: the products run at the peak.
  CHECK(value_of(r, Q::muon_products) == near(kMuonLayers * kMuonLayerFlops / value_of(r, Q::peak_flops)));
}

// K. Jordan et al., "Muon: an optimizer for hidden layers in neural networks" (2024), section "Runtime analysis": T
// iterations over the 6 n m B of a step are at most T m / B, m the shorter side.
TEST_CASE("the iterations are at most T m / B of a step's arithmetic") {
  for (const auto& [m, n] : {std::pair{768.0, 3072.0}, {4096.0, 4096.0}, {16384.0, 53248.0}})
    for (const double tokens : {524288.0, 16e6}) {
      const double overhead = newton_schulz_flops(m, n, 5.0) / (6 * m * n * tokens);
      CHECK(overhead <= 5 * m / tokens);
      CHECK(overhead >= 5 * m / tokens * 2 / 3);
    }
  // The post's own examples: NanoGPT speedrunning, 768 wide with 524,288 tokens a batch, is below 0.7 %; Llama 405B,
  // 16,384 wide with 16 M tokens, below 0.5 %.
  CHECK(5 * 768 / 524288.0 == doctest::Approx(0.007).epsilon(0.05));
  CHECK(5 * 16384 / 16e6 == doctest::Approx(0.005).epsilon(0.05));
}

TEST_CASE("Muon keeps one moment of the matrices and leaves two to Adam of the rest") {
  const Scenario s = muon_chip();
  const double params = value_of(s, Q::params_total), muon = kMuonLayers * kMuonLayerParams;
  CHECK(value_of(s, Q::memory_optimizer) == near(4 * muon + 8 * (params - muon) + 4 * params));
  const Scenario half = with(s, {"precision.optimizer=muon_bf16", "precision.master_weights=none"});
  CHECK(value_of(half, Q::memory_optimizer) == near(2 * muon + 4 * (params - muon)));
  const Scenario adam = with(s, {"precision.optimizer=adam_fp32"});
  CHECK(value_of(adam, Q::memory_optimizer) == near(12 * params));
  CHECK(!evaluate(adam).quantities[Q::muon_flops].has_value());
  // A pass over weight and state, read and written, and over the gradient; and the products.
  const double w = value_of(s, Q::weight_width_bytes), g = value_of(s, Q::gradient_width_bytes);
  const double pass = muon * (2 * (8 + w) + g) + (params - muon) * (2 * (12 + w) + g);
  CHECK(value_of(s, Q::step_optimizer) == near(pass / value_of(s, Q::hbm_bandwidth) + value_of(s, Q::muon_products)));
}

// Liu et al., "Muon is Scalable for LLM Training" (arXiv 2502.16982), section 2.3: gradients of 4 bytes are scattered,
// weights of 4 gathered, and momentum is gathered in 2: at most 1.25 times what ZeRO-1 sends for AdamW.
TEST_CASE("gathers of momentum add a quarter to what ZeRO-1 sends in 32 bits") {
  const Scenario s =
      with(preset("gpt3-175b-1024-a100"),
           {"parallelism.data=1", "parallelism.fsdp=16", "parallelism.zero_stage=1", "precision.weights=fp32",
            "precision.gradients=fp32", "precision.master_weights=none", "precision.optimizer=muon_fp32"});
  REQUIRE(s.parallelism.pipeline > 1);
  PipelineReport pipeline;
  const Evaluation<double> e = run_evaluation<double>(s, nullptr, pipeline);
  const double moved = e.stage.end_network[Axis::fsdp], muon = e.stage.muon.network[Axis::fsdp];
  const double share = value_of(s, Q::muon_updated) / e.plan.updated_params;
  CHECK(muon / moved == doctest::Approx(0.25 * share).epsilon(1e-9));
  // By whole matrices nothing is gathered; under ZeRO-3 there and back what a home has of them.
  const Scenario homes = with(s, {"muon.homes=distributed"});
  CHECK(run_evaluation<double>(homes, nullptr, pipeline).stage.muon.network[Axis::fsdp] == 0);
}

TEST_CASE("with one home per matrix the work is shared, but never less than the largest matrix") {
  const Scenario all = with(preset("llama3-8b-8-h100"), {"precision.optimizer=muon_fp32"});
  const Scenario homes = with(all, {"muon.homes=distributed"});
  REQUIRE(all.parallelism.fsdp == 8);
  CHECK(value_of(all, Q::muon_flops) == near(kMuonLayers * kMuonLayerFlops));
  CHECK(value_of(homes, Q::muon_flops) == near(kMuonLayers * kMuonLayerFlops / 8));
  CHECK(value_of(homes, Q::muon_products) == near(value_of(all, Q::muon_products) / 8));
  const Scenario many =
      with(homes, {"cluster.nodes=64", "parallelism.fsdp=512", "workload.global_batch_sequences=512"});
  CHECK(value_of(many, Q::muon_products) == near(five_steps(kMuonD, kMuonF) / value_of(many, Q::peak_flops)));
}

TEST_CASE("tensor ranks gather whole matrices or take their slices for such") {
  const Scenario whole = with(muon_chip(), {"parallelism.tensor=8", "workload.global_batch_sequences=64"});
  const Report r = evaluate(whole);
  CHECK(value_of(r, Q::muon_flops) == near(kMuonLayers * kMuonLayerFlops));
  const Recording recorded(whole);
  const auto bytes = recorded.explain("muon.gathered_bytes[tensor]");
  REQUIRE(bytes);
  CHECK(bytes->lines[0].value == near(2 * kMuonLayers * kMuonLayerParams));
  const Report slices = evaluate(with(whole, {"muon.tensor=blockwise"}));
  const double blocks =
      2 * five_steps(kMuonD / 8, kMuonD) + 2 * five_steps(kMuonKv / 8, kMuonD) + 3 * five_steps(kMuonF / 8, kMuonD);
  CHECK(value_of(slices, Q::muon_flops) == near(kMuonLayers * blocks));
  CHECK(slices.transfers[Axis::tensor].update_s == 0);
  CHECK(r.transfers[Axis::tensor].update_s > 0);
}

TEST_CASE("every expert's matrices are matrices of their own") {
  const Scenario s = with(preset("llama3-8b-8-h100"),
                          {"model=qwen3-30b-a3b", "parallelism.expert=8", "precision.optimizer=muon_fp32"});
  const TransformerShape& m = s.model;
  REQUIRE(m.moe.n_routed_experts == 128);
  const double D = m.d_model, F = m.moe.d_ff_expert, q = m.n_heads * m.d_head, kv = m.n_kv_heads * m.d_head;
  const auto flops = [](double a, double b) { return five_steps(std::min(a, b), std::max(a, b)); };
  const double layer = 2 * flops(D, q) + 2 * flops(D, kv) + 3 * 128 / 8.0 * flops(D, F) + flops(D, 128);
  CHECK(value_of(s, Q::muon_flops) == near(m.n_layers * layer));
  CHECK(value_of(s, Q::muon_layer) == 2 * D * q + 2 * D * kv + 3 * 128 * D * F + 128 * D);
}

TEST_CASE("the matrices of a model are what its parameters leave beside vocabulary, norms and biases") {
  for (const io::Preset& model : tests::library().list(io::PresetKind::model)) {
    Scenario s = muon_chip();
    s.model = *tests::library().find_model(model.id);
    const Inputs<double> in = make_inputs<double>(s, nullptr);
    const Parameters<double> p = count_parameters(in.model);
    const double muon = muon_parameters(in, p).layer * in.model.n_layers, layers = p.layer * in.model.n_layers;
    INFO(model.id);
    CHECK(muon <= layers);
    CHECK(muon > 0.99 * (layers - p.norms));
    if (!s.model.qkv_bias && !s.model.o_bias && !s.model.mlp_bias && !s.model.qk_norm && !s.model.is_mla() &&
        !s.model.attn_sinks && !s.model.moe.router_bias && !s.model.moe.shared_expert_gate)
      CHECK(muon == doctest::Approx(p.total - p.vocab - p.norms).epsilon(1e-12));
  }
}

// Kimi K2 report (2025), section 2.4: weights in bf16 and gradients in fp32 take about 6 TB on 256 GPUs, and about 30 GB
// are held by each with the optimizer spread over all of many nodes.
TEST_CASE("Kimi K2's weights and gradients take 6 TB on 256 GPUs, and each holds some 30 GB with the optimizer") {
  const Report report = evaluate(preset("kimi-k2-2048-h800"));
  REQUIRE_FALSE(report.has_errors());
  CHECK(report.fits());
  const auto gb = [&](Q q) { return report.quantities.value_or(q, 0) / 1e9; };
  CHECK(report.quantities[Q::params_total].value_or(0) * (2 + 4) == doctest::Approx(6e12).epsilon(0.03));
  CHECK(gb(Q::memory_weights) + gb(Q::memory_gradients) + gb(Q::memory_optimizer) ==
        doctest::Approx(30).epsilon(0.1));
}

TEST_CASE("what the step waits for of Muon's sending is part of its axes") {
  std::mt19937 rng(20250216);
  int sends = 0;
  for (int i = 0; i < 2000; ++i) {
    const Scenario s = tests::random_scenario(rng);
    if (!is_muon(s.precision.optimizer) || s.adapter.rank > 0) continue;
    PipelineReport pipeline;
    const Evaluation<double> e = run_evaluation<double>(s, nullptr, pipeline);
    REQUIRE(e.stage.muon.on);
    if (!e.stage.muon.sends) continue;
    ++sends;
    double network = 0, exposed = 0;
    for (int a = 0; a < kAxisCount; ++a) {
      network += e.stage.muon.network[static_cast<std::size_t>(a)];
      exposed += e.stage.muon.exposed[static_cast<std::size_t>(a)];
    }
    const double hidden = e.in.overlap * e.stage.muon.products;
    CHECK(exposed == doctest::Approx(std::max(0.0, network - hidden)).epsilon(1e-9).scale(network));
  }
  CHECK(sends > 100);
}

TEST_CASE("the rates of Muon's rows are of their bytes, and latency stands beside them as everywhere") {
  std::mt19937 rng(20250217);
  int rows = 0, waits = 0;
  for (int i = 0; i < 2000; ++i) {
    Scenario s = tests::random_scenario(rng);
    if (!is_muon(s.precision.optimizer) || s.adapter.rank > 0 || s.assumptions.mode == Mode::custom) continue;
    PipelineReport pipeline;
    const Evaluation<double> e = run_evaluation<double>(s, nullptr, pipeline);
    const Report r = evaluate(s);
    for (const CollectiveRow& row : r.collectives) {
      if (!row.of_update || r.has_errors()) continue;
      ++rows;
      CHECK(row.sent_s() <= row.time_s * (1 + 1e-9));
      if (row.axis == Axis::fsdp && !(e.stage.muon.network[Axis::fsdp] > 0)) continue;  // state over context alone
      const double latency = e.layer.latency[row.axis];
      waits += latency > 0;
      const double expected =
          s.assumptions.mode == Mode::calibrated ? row.sent_s() + latency : std::max(row.sent_s(), latency);
      CHECK(row.time_s == doctest::Approx(expected));
    }
  }
  CHECK(rows > 100);
  CHECK(waits > 50);
}
