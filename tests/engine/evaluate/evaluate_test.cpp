#include <doctest/doctest.h>

#include "engine/evaluate/evaluate.h"

#include <cmath>

#include "engine/evaluate/evaluation.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::near;
using tests::preset;
using tests::random_scenario;
using tests::with;

namespace {

constexpr int kRandomCases = 3000;

template <class F>
void for_random_scenarios(F&& f) {
  std::mt19937 rng(20250219);
  for (int i = 0; i < kRandomCases; ++i) {
    const Scenario s = random_scenario(rng);
    CAPTURE(i);
    f(s, evaluate(s));
  }
}
double q(const Report& r, Q id) { return r.quantities.value_or(id, std::nan("")); }

}  // namespace

TEST_CASE("traced values equal double values to the last bit") {
  std::mt19937 rng(7);
  for (int i = 0; i < 300; ++i) {
    const Scenario s = random_scenario(rng);
    PipelineReport plain, traced;
    Trace trace;
    const Evaluation<double> a = run_evaluation<double>(s, nullptr, plain);
    const Evaluation<Traced> b = run_evaluation<Traced>(s, &trace, traced);
    std::vector<double> values;
    for_each_quantity(a, [&](Q, double x) { values.push_back(x); });
    std::size_t at = 0;
    for_each_quantity(b, [&](Q id, const Traced& x) {
      CAPTURE(std::string(quantity(id).id));
      const double expected = values[at++];
      REQUIRE((x.value() == expected || (std::isnan(x.value()) && std::isnan(expected))));
    });
    REQUIRE(at == values.size());
  }
}
TEST_CASE("every formula has the dimension of its row") {
  std::mt19937 rng(11);
  for (int i = 0; i < 300; ++i) {
    Trace trace;
    PipelineReport pipeline;
    (void)run_evaluation<Traced>(random_scenario(rng), &trace, pipeline);
    if (!trace.problems().empty()) FAIL(trace.problems()[0]);
  }
}
TEST_CASE("stages hold all layers and, with one pipeline direction, all parameters, a tied embedding twice") {
  for_random_scenarios([](const Scenario& s, const Report& r) {
    if (s.parallelism.pipeline > 1 && s.pipeline.schedule == ScheduleKind::dualpipe) return;  // holds all twice
    int layers = 0;
    double params = 0;
    for (const StageRow& stage : r.stages) layers += stage.layers, params += stage.params;
    REQUIRE(layers == s.model.n_layers);
    // The last of several stages has a copy of a tied embedding, unless a V brings it back to the first device.
    const bool together = r.stages.front().has_embedding && r.stages.front().has_head;
    const bool copied = s.model.tied_embeddings && s.parallelism.pipeline > 1 && !together;
    const double all = q(r, Q::params_total) + (copied ? q(r, Q::params_unembedding) : 0);
    REQUIRE(params == doctest::Approx(all).epsilon(1e-12));
  });
}
TEST_CASE("doubling fsdp under ZeRO-3 does not raise the training state of a chip") {
  std::mt19937 rng(5);
  for (int i = 0; i < 500; ++i) {
    Scenario s = random_scenario(rng);
    s.parallelism.zero_stage = 3;
    const Report a = evaluate(s);
    s.parallelism.fsdp *= 2;
    s.workload.global_batch_sequences *= 2;
    const Report b = evaluate(s);
    // Of each stage: another one may be the fullest then.
    REQUIRE(a.stages.size() == b.stages.size());
    for (std::size_t part = 0; part < kMemoryParts.size(); ++part)
      if (kMemoryParts[part] == Q::memory_weights || kMemoryParts[part] == Q::memory_gradients ||
          kMemoryParts[part] == Q::memory_optimizer)
        for (std::size_t stage = 0; stage < a.stages.size(); ++stage)
          REQUIRE(b.stages[stage].memory_bytes[part] <= a.stages[stage].memory_bytes[part]);
  }
}
TEST_CASE("a report used again equals a fresh one") {
  std::mt19937 rng(3);
  EvaluationScratch scratch;
  Report reused;
  for (int i = 0; i < 500; ++i) {
    const Scenario s = random_scenario(rng);
    evaluate(s, scratch, reused);
    const Report fresh = evaluate(s);
    REQUIRE(reused.quantities == fresh.quantities);
    REQUIRE(reused.pipeline.timeline.start == fresh.pipeline.timeline.start);
    REQUIRE(reused.diagnostics.size() == fresh.diagnostics.size());
  }
}
TEST_CASE("evaluate survives every field at both ends of its domain") {
  for (const Field& field : scenario_fields())
    for (const double value : {field.minimum, field.maximum})
      for (const char* base : {"llama3-70b-v5p-pod", "llama3-405b-16k-h100"}) {
        CAPTURE(field.path);
        Scenario s = preset(base);
        apply(s, {&field, value});
        const Report r = evaluate(s);
        if (s.workload.kind == WorkloadKind::training)
          REQUIRE(r.stages.size() == static_cast<std::size_t>(s.parallelism.pipeline));
        for (const StageRow& stage : r.stages) REQUIRE(std::isfinite(stage.memory_total_bytes));
      }
}
TEST_CASE("an unknown price leaves the cost unknown and nothing else") {
  Scenario s = preset("llama3-70b-v5p-pod");
  s.cluster.chip[ChipField::price_usd_per_chip_hour] = {std::nullopt, "not published"};
  const Report r = evaluate(s);
  CHECK_FALSE(r.quantities[Q::run_cost].has_value());
  CHECK(r.quantities.absence(Q::run_cost) == Absence::unknown_input);
  CHECK(r.quantities[Q::run_days].has_value());
}
TEST_CASE("torus bounds do not apply to switched chips") {
  const Report r = evaluate(preset("llama3-405b-16k-h100"));
  CHECK(r.quantities.absence(Q::bound_mixed_sum) == Absence::not_applicable);
}

TEST_CASE("block recomputation of the 70B step takes 8 P B / (N C) when work hides the network") {
  const Scenario s =
      with(preset("llama3-70b-v5p-pod"), {"checkpointing.policy=block", "assumptions.axes_overlap=max"});
  const Report r = evaluate(s);
  const double compute = 8 * 70553706496.0 * 4194304 / (8192 * 4.59e14);
  CHECK(q(r, Q::step_matmul) + q(r, Q::step_recompute) == doctest::Approx(compute).epsilon(1e-12));
  CHECK(q(r, Q::step_fsdp) == 0);
  CHECK(q(r, Q::step_tensor) == 0);
}
TEST_CASE("FSDP gathers and scatters 6 P bytes over the tensor ranks and two axes per step") {
  // Three passes of 2-byte weights over 4 tensor ranks and 2 x 180 GB/s: 0.294 s, of the layers alone a little less.
  const Scenario s = preset("llama3-70b-v5p-pod");
  double seconds = 0;
  for (const CollectiveRow& row : evaluate(s).collectives)
    if (row.axis == Axis::fsdp) seconds += row.calls_per_step * row.time_s;
  CHECK(seconds == doctest::Approx(6 * 80 * 855654400.0 / (4 * 2 * 1.8e11)).epsilon(1e-12));
}
TEST_CASE("tensor parallelism moves the residual stream twelve times a layer and step") {
  double seconds = 0;
  for (const CollectiveRow& row : evaluate(preset("llama3-70b-v5p-pod")).collectives)
    if (row.axis == Axis::tensor) seconds += row.calls_per_step * row.time_s;
  CHECK(seconds == doctest::Approx(12 * 80 * 2.0 * 2048 * 8192 / 1.8e11).epsilon(1e-12));
}
TEST_CASE("pure FSDP on the pod is bound by the network, tensor 4 is not") {
  const Scenario pure = with(preset("llama3-70b-v5p-pod"), {"parallelism.tensor=1", "parallelism.context=8",
                                                            "placement.fsdp.axes=3", "checkpointing.policy=none"});
  CHECK(evaluate(pure).bound.id() == "fsdp");
  CHECK(evaluate(preset("llama3-70b-v5p-pod")).bound.id() == "compute");
}
TEST_CASE("what the stages of a pipeline recompute adds up to the step's recomputation") {
  for (const char* policy :
       {"checkpointing.policy=block", "checkpointing.policy=attention", "checkpointing.policy=none"})
    for (const char* flops : {"assumptions.flops=6p", "assumptions.flops=exact"}) {
      CAPTURE(policy);
      CAPTURE(flops);
      const Report r = evaluate(with(preset("llama3-405b-16k-h100"), {policy, flops}));
      REQUIRE(r.pipeline.recompute.size() == r.pipeline.times.forward.size());
      double ticks = 0;
      for (const Tick t : r.pipeline.recompute) ticks += static_cast<double>(t);
      const double mean_stage = ticks / r.pipeline.shape.stages;
      CHECK(mean_stage * r.pipeline.shape.microbatches * 1e-12 ==
            doctest::Approx(q(r, Q::step_recompute)).epsilon(1e-9));
    }
}

TEST_CASE("plain 1F1B of 405B idles a little more than (p - 1)/(m + p - 1): its stages are uneven") {
  const Report r =
      evaluate(with(preset("llama3-405b-16k-h100"), {"pipeline.schedule=1f1b", "pipeline.virtual_stages=1"}));
  CHECK(q(r, Q::pipeline_bubble_ideal) == 15.0 / 31);
  CHECK(q(r, Q::pipeline_bubble_fraction) > 15.0 / 31);
  CHECK(q(r, Q::pipeline_bubble_fraction) < 0.5);
}
TEST_CASE("stage s of 1F1B holds min(p - s, m) microbatches") {
  const Report r =
      evaluate(with(preset("llama3-405b-16k-h100"), {"pipeline.schedule=1f1b", "pipeline.virtual_stages=1"}));
  for (std::size_t s = 0; s < 16; ++s) CHECK(r.stages[s].in_flight_microbatches == 16.0 - static_cast<double>(s));
}
TEST_CASE("GPipe holds all microbatches on every stage") {
  const Report r =
      evaluate(with(preset("llama3-405b-16k-h100"), {"pipeline.schedule=gpipe", "pipeline.virtual_stages=1"}));
  for (const StageRow& stage : r.stages) CHECK(stage.in_flight_microbatches == 16);
}
TEST_CASE("ridge of v5p is 164 FLOP per byte") {
  CHECK(q(evaluate(preset("llama3-70b-v5p-pod")), Q::ridge) == 4.59e14 / 2.8e12);
}

TEST_CASE("without overlap all communication is exposed") {
  const Report r = evaluate(with(preset("llama3-70b-v5p-pod"), {"assumptions.overlap=0"}));
  const double exposed = q(r, Q::step_fsdp) + q(r, Q::step_tensor) + q(r, Q::step_context);
  double total = 0;
  for (const CollectiveRow& row : r.collectives) total += row.calls_per_step * row.time_s;
  CHECK(exposed >= total);  // of the layers, and the embedding and head beside them
  CHECK(exposed < 1.05 * total);
}
TEST_CASE("less overlap never shortens a step") {
  std::mt19937 rng(23);
  for (int i = 0; i < 5000; ++i) {
    Scenario s = random_scenario(rng);
    double before = 0;
    for (const double overlap : {1.0, 0.7, 0.3, 0.0}) {
      s.assumptions.overlap = overlap;
      const double seconds = q(evaluate(s), Q::step_time);
      REQUIRE(seconds >= before * (1 - 1e-9));
      before = seconds;
    }
  }
}
TEST_CASE("strong scaling of FSDP on the pod ends at B/850 chips") {
  CHECK(q(evaluate(preset("llama3-70b-v5p-pod")), Q::bound_max_chips_fsdp) ==
        doctest::Approx(4194304.0 / 850).epsilon(1e-12));
}
TEST_CASE("expert parallelism sends each token to min(k, ranks) places and back, forward and backward") {
  // gpt-oss 120B: 4 of 128 experts a token, 36 MoE layers, width 2880; 8 ranks in one node.
  const Scenario s = preset("gpt-oss-120b-64-h100");
  const Report r = evaluate(s);
  CHECK(q(r, Q::expert_bytes) == doctest::Approx(2.0 * 4096 * 2880 * 4).epsilon(1e-12));
  CHECK(q(r, Q::expert_exchange) == doctest::Approx(q(r, Q::expert_bytes) * 7 / 8 / 450e9).epsilon(1e-12));
  double calls = 0;
  for (const CollectiveRow& row : r.collectives)
    if (row.axis == Axis::expert) calls += row.calls_per_step;
  CHECK(calls == 4 * q(r, Q::layers_a_stage));
}
TEST_CASE("sends between stages are counted as the order has them, in a node and between nodes") {
  std::mt19937 rng(11);
  int near_ones = 0, wrapped = 0;
  for (int i = 0; i < 3000; ++i) {
    Scenario s = random_scenario(rng);
    if (s.serves() || s.parallelism.pipeline < 2) continue;
    if (i % 2 == 1) s.assumptions.mode = Mode::calibrated;
    const Report r = evaluate(s);
    if (r.has_errors() || r.pipeline.times.forward.empty()) continue;
    const ScheduleShape& shape = r.pipeline.shape;
    const auto node = r.pipeline.times.node_devices;
    // Of one microbatch along the way of each direction, forth; back it is the same.
    const int ways = facts_of(shape.kind).placement == StagePlacement::both_ways ? 2 : 1;
    const int length = virtual_stage_count(shape) / ways;
    double far = 0, near_by = 0;
    for (int v = 0; v < ways * length; ++v) {
      if (v % length == length - 1) continue;
      const auto from = static_cast<std::uint32_t>(device_of(shape, v)),
                 to = static_cast<std::uint32_t>(device_of(shape, v + 1));
      if (from == to) continue;
      wrapped += to == 0 && from + 1 == static_cast<std::uint32_t>(shape.stages) && shape.stages > 2;
      (node > 1 && from / node == to / node ? near_by : far) += 1.0 / ways;
    }
    double calls = 0;
    for (const CollectiveRow& row : r.collectives)
      if (row.axis == Axis::pipeline) calls += row.calls_per_step;
    near_ones += near_by > 0;
    CHECK(calls == near(2 * shape.microbatches * (far + near_by) / shape.stages));
    for (const CollectiveRow& row : r.collectives)
      if (row.axis == Axis::pipeline && far > 0 && near_by > 0 && &row == &r.collectives.back())
        CHECK(row.calls_per_step == near(2 * shape.microbatches * near_by / shape.stages));
  }
  CHECK(near_ones > 10);
  CHECK(wrapped > 20);
}
TEST_CASE("experts across nodes leave through the links all chips of a node share") {
  // 64 ranks on 8 nodes of 8; of a token's eight experts, drawn from all, 8 (1 - (7/8)^8) nodes have one or more.
  const Scenario s = with(preset("deepseek-v3-2048-h800"), {"model.moe.groups_per_token=0"});
  const Report r = evaluate(s);
  const double node = *s.cluster.chip[ChipField::scaleout_bytes_per_s_per_node_oneway].value;
  const double across = q(r, Q::expert_bytes) * (1 - std::pow(7.0 / 8, 8));
  CHECK(q(r, Q::expert_across_bytes) == doctest::Approx(across).epsilon(1e-12));
  CHECK(q(r, Q::expert_exchange) == doctest::Approx(across * 7 / 8 * 8 / node).epsilon(1e-12));
}
TEST_CASE("without sharding a rank of 8 holds an eighth of the experts") {
  const Scenario s = with(preset("gpt-oss-120b-64-h100"), {"parallelism.zero_stage=0"});
  const Report r = evaluate(s);
  CHECK(q(r, Q::params_absent) == doctest::Approx(7.0 / 8 * q(r, Q::params_experts)).epsilon(1e-12));
  CHECK(q(r, Q::memory_weights) ==
        doctest::Approx(2 * (q(r, Q::params_total) - q(r, Q::params_absent))).epsilon(1e-12));
}
TEST_CASE("energy is chip hours at board power: 700 W of an H100") {
  const Report r = evaluate(preset("llama3-405b-16k-h100"));
  CHECK(q(r, Q::run_energy) == doctest::Approx(q(r, Q::run_chip_hours) * 0.7).epsilon(1e-15));
}
TEST_CASE("an unknown board power leaves the energy unknown and nothing else") {
  Scenario s = preset("llama3-405b-16k-h100");
  s.cluster.chip[ChipField::board_power_watts] = {std::nullopt, "not published"};
  const Report r = evaluate(s);
  CHECK(r.quantities.absence(Q::run_energy) == Absence::unknown_input);
  CHECK(r.quantities[Q::run_cost].has_value());
}
TEST_CASE("experts that fewer tensor ranks split lie on tensor ranks too") {
  // Mixtral: 8 experts over 8 ranks. With tensor 2 and whole experts, of 8 expert ranks 2 are tensor ranks: a rank
  // holds one whole expert instead of half of it, and the exchange starts inside the node.
  const Scenario split = with(preset("mixtral-8x7b-64-h100"), {"parallelism.zero_stage=0"});
  const Scenario whole = with(split, {"parallelism.expert_tensor=1"});
  const Report a = evaluate(split), b = evaluate(whole);
  REQUIRE_FALSE(b.has_errors());
  CHECK(q(a, Q::params_experts) - q(a, Q::params_absent) ==
        doctest::Approx(q(a, Q::params_experts) / 8).epsilon(1e-12));
  CHECK(q(b, Q::params_experts) - q(b, Q::params_absent) ==
        doctest::Approx(q(b, Q::params_experts) / 4).epsilon(1e-12));
  const double more = 2 * q(b, Q::params_experts) / 8 / 2 / 4;  // bytes of half an expert a layer, over 4 stages
  CHECK(b.stages[0].memory_bytes[0] - a.stages[0].memory_bytes[0] == doctest::Approx(more).epsilon(1e-9));
  CHECK(a.placement[static_cast<std::size_t>(Axis::expert)].inside_node == 4);
  CHECK(b.placement[static_cast<std::size_t>(Axis::expert)].inside_node == 8);
  CHECK(q(b, Q::expert_exchange) < q(a, Q::expert_exchange));
  // All layers of Mixtral have experts: half of the tensor collectives are around them and half of those is left.
  CHECK(q(b, Q::tensor_share) == doctest::Approx(0.75).epsilon(1e-15));
}
TEST_CASE("expert tensor 0 and as many as tensor are the same plan") {
  const Scenario s = preset("mixtral-8x7b-64-h100");
  CHECK(evaluate(s).quantities == evaluate(with(s, {"parallelism.expert_tensor=2"})).quantities);
}
TEST_CASE("a step is never shorter than all that crosses PCIe in it") {
  const Scenario base = with(preset("llama3-8b-8-h100"),
                             {"offload.optimizer=true", "offload.activations=true", "checkpointing.policy=none"});
  for (const char* pipeline : {"parallelism.pipeline=1", "parallelism.pipeline=2"}) {
    Scenario s = with(base, {pipeline});
    if (s.parallelism.pipeline == 2) s.parallelism.fsdp = 4;
    s.cluster.chip[ChipField::host_pcie_bytes_per_s_per_chip].value = 1e9;
    const Report r = evaluate(s);
    PipelineReport p;
    const Evaluation<double> e = run_evaluation<double>(s, nullptr, p);
    // Each direction has links of its own; the weights come back after the last gradients have gone.
    const double checkpoints = e.layer.activations.checkpoint_bytes * e.stage.layer_passes / 1e9;
    const double weights = q(r, Q::weight_width_bytes) * 8030261248.0 / 8 / 1e9;
    CHECK(e.stage.makespan + q(r, Q::step_offload) >= (checkpoints + weights) * (1 - 1e-9));
  }
}

TEST_CASE("the three bubble conventions come from one timeline") {
  const Report r = evaluate(preset("llama3-405b-16k-h100"));
  const double makespan = q(r, Q::pipeline_makespan), idle = q(r, Q::pipeline_bubble_time);
  CHECK(idle / makespan == doctest::Approx(q(r, Q::pipeline_bubble_fraction)).epsilon(1e-9));
  CHECK(idle / (makespan - idle) == doctest::Approx(q(r, Q::pipeline_bubble_to_work)).epsilon(1e-12));
  CHECK(q(r, Q::pipeline_span_bubble) < makespan);
  double mean = 0;
  for (const StageRow& stage : r.stages) mean += stage.idle_s / static_cast<double>(r.stages.size());
  CHECK(mean == doctest::Approx(idle).epsilon(1e-12));
}
TEST_CASE("a stage that cannot compute while it sends makes the step longer") {
  const Scenario s = preset("llama3-405b-16k-h100");
  const Report overlapped = evaluate(s), blocking = evaluate(with(s, {"pipeline.sends=blocking"}));
  CHECK(q(blocking, Q::pipeline_makespan) > q(overlapped, Q::pipeline_makespan));
  CHECK(q(blocking, Q::step_pipeline_transfer) > q(overlapped, Q::step_pipeline_transfer));
}
TEST_CASE("idle time of a device, mean: in transfer and in the bubble") {
  const Report r = evaluate(preset("gpt3-175b-1024-a100"));
  CHECK(q(r, Q::step_pipeline_transfer) > 0);
  CHECK(q(r, Q::step_pipeline_transfer) + q(r, Q::step_bubble) ==
        doctest::Approx(q(r, Q::pipeline_bubble_time)).epsilon(1e-9));
}
