// What `calc` answers of a plan's parts is what `eval` reports of the plan: activations that checkpointing keeps,
// transfers to a host, experts and latent attention, pipelines, prefills. To the last bit, or the reason stands
// beside the test. In every mode in which the block can say it: a block has no calibration of its own, so where one
// changes the inputs of a formula (rates), they are given to it, and where it changes the formula (kernels), nothing
// is asked.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/explain.h"
#include "tests/app/surfaces/any_scenario.h"
#include "tests/app/surfaces/calc_answers.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::alone;
using tests::Answers;
using tests::calc;
using tests::check_same;
using tests::digits;
using tests::library;
using tests::to_rounding;
using tests::Typed;
using tests::with_value;

namespace {

constexpr Mode kModes[] = {Mode::ideal, Mode::calibrated};

// With what only derivations have: what one layer keeps, what one transfer takes.
Report whole_report(const Scenario& s) {
  Report r = evaluate(s);
  if (!r.has_errors()) r.quantities = all_quantities(s, r);
  return r;
}

// Every model on one chip and every chip with one model, in both modes.
void each_chip_and_model(const std::function<void(const Chip&, const std::string& model, Mode)>& check) {
  for (const Chip& chip : library().chips())
    for (const Mode mode : kModes)
      for (const io::Preset& row : library().list(io::PresetKind::model)) {
        if (chip.id != "h100-sxm" && row.id != "llama3-8b") continue;
        CAPTURE(chip.id);
        CAPTURE(row.id);
        CAPTURE(static_cast<int>(mode));
        check(chip, row.id, mode);
      }
}

}  // namespace

TEST_CASE("calc counts what checkpointing keeps of a layer as eval does, for every model and chip, in both modes") {
  int asked = 0;
  each_chip_and_model([&](const Chip& chip, const std::string& model, Mode mode) {
    for (const CheckpointPolicy policy :
         {CheckpointPolicy::block, CheckpointPolicy::k_per_layer, CheckpointPolicy::big_matmuls}) {
      CAPTURE(static_cast<int>(policy));
      Scenario s = alone(*library().find_model(model), chip);
      s.assumptions.mode = mode;
      s.checkpointing.policy = policy;
      s.checkpointing.k = 3;
      const Report r = whole_report(s);
      if (r.has_errors()) continue;
      ++asked;
      const bool is_block = policy == CheckpointPolicy::block;
      const std::string_view output = is_block                                  ? "block_bytes"
                                      : policy == CheckpointPolicy::k_per_layer ? "k_per_layer_bytes"
                                                                                : "big_matmuls_exact_bytes";
      const double there = calc("activations", {"model=" + model, "checkpoints_per_layer=3",
                                                with_value("tokens", r, Q::tokens_per_step)})
                               .at(std::string(output));
      // A report multiplies what a layer keeps by the passes, a block the step's tokens by the layers. With
      // experts the mean width of the layers is no whole number, so that the order shows in the last bits.
      if (s.model.is_moe())
        CHECK(to_rounding(there, *r.quantities[Q::checkpoints_all_bytes]));
      else
        CHECK(there == *r.quantities[Q::checkpoints_all_bytes]);
    }
  });
  CHECK(asked > 150);
}

TEST_CASE("calc gives the time of transfers to a host as eval does, in every mode") {
  std::mt19937 rng(11);
  int optimizer = 0, activations = 0;
  for (int i = 0; i < 400; ++i) {
    Scenario s = tests::any_scenario(rng, WorkloadKind::training);
    if (!s.cluster.chip[ChipField::host_pcie_bytes_per_s_per_chip].value) continue;
    s.offload = {true, true, i % 2 == 0 ? 1 : 0.3};
    const Report r = whole_report(s);
    if (r.has_errors()) continue;
    CAPTURE(i);
    const Q link = r.quantities[Q::achieved_host] ? Q::achieved_host : Q::pcie_bandwidth;
    const auto there = [&](double bytes) {
      return calc("offload", {with_value("pcie_bytes_per_s", r, link), "activation_bytes=" + digits(bytes)})
          .at("activation_s");
    };
    // The lecture moves an optimizer's state out and back; a report leaves it at the host, which updates, and moves
    // gradients and weights.
    // Nothing is moved where no adapter is on the chip; `calc` asks for bytes that there are.
    if (const auto here = r.quantities[Q::offload_gradients]; here && *here > 0) {
      const double parameters = s.offload.optimizer_fraction * *r.quantities[Q::optimizer_parameters];
      CHECK(to_rounding(there(*here * *r.quantities[link]), *here));
      // Of adapters beside frozen weights, which stay where they are.
      const Q width = s.adapter.rank > 0 ? Q::adapter_width_bytes : Q::weight_width_bytes;
      CHECK(to_rounding(there(*r.quantities[width] * parameters), *r.quantities[Q::offload_weights]));
      ++optimizer;
    }
    if (const auto here = r.quantities[Q::offload_activations]) {
      CHECK(there(*r.quantities[Q::layer_checkpoint_bytes] * *r.quantities[Q::layers_a_stage]) == *here);
      ++activations;
    }
  }
  CHECK(optimizer > 100);
  CHECK(activations > 100);
}

TEST_CASE("calc counts experts, routers and what a token passes through as eval does, of every model with experts") {
  int asked = 0;
  for (const io::Preset& row : library().list(io::PresetKind::model)) {
    CAPTURE(row.id);
    Scenario s = alone(*library().find_model(row.id), *library().find_chip("h100-sxm"));
    if (!s.model.is_moe()) continue;
    ++asked;
    const Report r = whole_report(s);
    const Answers there = calc("moe", {"model=" + row.id, "chip=h100-sxm"});
    CHECK(there.at("expert") == *r.quantities[Q::params_expert]);
    // A router's matrix is counted by the layer, in a report for all that have one.
    const double biases = s.model.moe.router_bias ? double(s.model.n_moe_layers()) * s.model.moe.n_routed_experts : 0;
    CHECK(there.at("router") * s.model.n_moe_layers() == *r.quantities[Q::params_router] - biases);
    CHECK(there.at("total") == *r.quantities[Q::params_total]);
    CHECK(there.at("active") == *r.quantities[Q::params_active]);
    Scenario served = s;
    served.workload.kind = WorkloadKind::serving;
    const Report decoding = evaluate(served);
    CHECK(to_rounding(there.at("critical_batch"), tests::value_of(decoding, Q::critical_batch)));
  }
  CHECK(asked >= 5);
}

TEST_CASE("calc counts the matrices of latent attention as eval does, of every model that has it") {
  int asked = 0;
  for (const io::Preset& row : library().list(io::PresetKind::model)) {
    CAPTURE(row.id);
    const Scenario s = alone(*library().find_model(row.id), *library().find_chip("h100-sxm"));
    if (!s.model.is_mla()) continue;
    ++asked;
    const Report r = whole_report(s);
    CHECK(check_same(calc("mla", {"model=" + row.id}), r,
                     {{"layer", Q::params_attention_layer}, {"total", Q::params_attention}}) == 2);
  }
  CHECK(asked >= 2);
}

TEST_CASE("calc gives the share of a pipeline's bubble in equal stages as eval does") {
  std::mt19937 rng(3);
  int asked = 0;
  for (int i = 0; i < 400; ++i) {
    const Scenario s = tests::any_scenario(rng, WorkloadKind::training);
    const Report r = evaluate(s);
    if (r.has_errors() || s.parallelism.pipeline < 2) continue;
    ++asked;
    const Answers there = calc("pipeline-bubble", {"stages=" + std::to_string(s.parallelism.pipeline),
                                                   with_value("microbatches", r, Q::microbatches)});
    CHECK(check_same(there, r, {{"bubble_share", Q::pipeline_bubble_ideal}}) == 1);
  }
  CHECK(asked > 100);
}

// A block has equal stages; those of a plan differ by embedding, output head and a layer. No operation starts later
// where others are shorter, so the plan lies between the block's answers for its shortest and for its longest stage.
TEST_CASE("calc's schedules of a plan's shortest and longest stage enclose its makespan, in every mode") {
  std::mt19937 rng(5);
  int asked = 0, close = 0;
  for (int i = 0; i < 800; ++i) {
    Scenario s = tests::any_scenario(rng, WorkloadKind::training);
    if (s.parallelism.pipeline < 2) continue;
    if (i % 2 == 0) s.model.vocab_size = 1, s.model.n_layers = s.parallelism.pipeline * s.pipeline.virtual_stages * 8;
    const Report r = evaluate(s);
    if (r.has_errors()) continue;
    CAPTURE(i);
    const PipelineReport& p = r.pipeline;
    if (p.shape.order) continue;  // a block runs its schedule's own
    CAPTURE(schedule_id(p.shape.kind));
    // What is typed in is the time through a device, of all its chunks.
    const double chunks = passes_per_device(p.shape) * 1e-12;
    const auto ends = [](const std::vector<engine::Tick>& times) {
      return std::minmax_element(times.begin(), times.end());
    };
    const auto run = [&](bool longest) {
      const auto of = [&](std::string_view name, const std::vector<engine::Tick>& times) {
        const engine::Tick t = times.empty() ? 0 : longest ? *ends(times).second : *ends(times).first;
        return fmt::format("{}={}", name, static_cast<double>(t) * chunks);
      };
      Typed inputs{fmt::format("schedule={}", schedule_id(p.shape.kind)),
                   fmt::format("stages={}", p.shape.stages),
                   fmt::format("microbatches={}", p.shape.microbatches),
                   fmt::format("virtual_stages={}", p.shape.virtual_stages),
                   fmt::format("group_size={}", p.shape.group_size),
                   of("t_forward", p.times.forward),
                   of("t_backward_input", p.times.backward_input),
                   of("t_backward_weight", p.times.backward_weight),
                   fmt::format("transfer={}", static_cast<double>(p.times.transfer) * 1e-12),
                   fmt::format("node_devices={}", p.times.node_devices),
                   fmt::format("transfer_in_node={}", static_cast<double>(p.times.transfer_in_node) * 1e-12),
                   fmt::format("blocking_send={}", p.times.blocking_send)};
      if (!p.times.overlapped.empty()) inputs.push_back(of("t_overlapped_forward_backward", p.times.overlapped));
      return calc("pipeline", inputs);
    };
    ++asked;
    const Answers least = run(false), most = run(true);
    const double makespan = *r.quantities[Q::pipeline_makespan];
    // Times typed in are rounded to nine digits.
    const double lowest = least.at("makespan"), highest = most.at("makespan");
    CHECK(lowest <= makespan * (1 + 1e-8));
    CHECK(makespan <= highest * (1 + 1e-8));
    if (highest > lowest * 1.01) continue;
    ++close;
    // A bubble is a makespan less work: each is off by no more than the block's two makespans are from each other.
    const double apart = 2 * (highest - lowest) + 1e-8 * makespan;
    const auto same = [&](std::string_view output, Q q) {
      CAPTURE(output);
      CHECK(std::abs(most.at(std::string(output)) - *r.quantities[q]) <= apart);
    };
    same("bubble_time", Q::pipeline_bubble_time), same("span_bubble", Q::pipeline_span_bubble);
    CHECK(std::abs(most.at("idle_fraction") - *r.quantities[Q::pipeline_bubble_fraction]) <= apart / lowest);
  }
  CHECK(asked > 200);
  CHECK(close > 60);
}

TEST_CASE("calc gives a prefill as eval does, on every chip and of every model, in both modes") {
  int asked = 0;
  each_chip_and_model([&](const Chip& chip, const std::string& model, Mode mode) {
    for (const FlopsConvention convention :
         {FlopsConvention::six_p, FlopsConvention::exact, FlopsConvention::exact_causal}) {
      CAPTURE(static_cast<int>(convention));
      Scenario s = tests::preset("llama3-8b-serving-8-h100");
      s.model = *library().find_model(model);
      s.cluster = alone(s.model, chip).cluster;
      s.parallelism = {};
      s.workload.batch = 16;
      s.workload.prompt_tokens = 3000;
      s.workload.lengths = {};
      s.serving.prefix_hit_rate = 0.25;
      s.serving.prefill_chunk_tokens = 512;
      s.assumptions = {};
      s.assumptions.mode = mode;
      s.assumptions.flops = convention;
      const Report r = whole_report(s);
      if (r.has_errors()) continue;
      ++asked;
      const bool six_p = convention == FlopsConvention::six_p;
      Typed inputs{"chip=" + chip.id,
                   "model=" + model,
                   with_value("tokens", r, Q::prompt_tokens),
                   with_value("prefix_hit_tokens", r, Q::cached_tokens),
                   with_value("chunk_tokens", r, Q::prefill_chunk),
                   with_value("weight_bytes", r, Q::weight_width_bytes),
                   with_value("kv_element_bytes", r, Q::kv_width_bytes),
                   with_value("active_parameters", r, six_p ? Q::params_active : Q::params_matmul),
                   with_value("peak_flops_per_s", r, Q::peak_flops),
                   with_value("hbm_bytes_per_s", r, Q::hbm_bandwidth),
                   convention == FlopsConvention::exact_causal ? "causal=true" : "causal=false"};
      const Answers there = calc("prefill", inputs);
      CHECK(check_same(there, r,
                       {{"new_tokens", Q::fresh_tokens},
                        {"linear_flops", Q::prefill_linear_flops},
                        {"chunks", Q::prefill_chunks_q},
                        {"kv_bytes", Q::kv_prompt_bytes}}) == 4);
      if (!six_p) {  // which leaves attention out
        CHECK(check_same(there, r,
                         {{"attention_flops", Q::prefill_attention_flops},
                          {"flops", Q::prefill_flops},
                          {"time_s", Q::prefill_flops_time},
                          {"keys_met", Q::prefill_keys}}) == 4);
      } else {
        CHECK(check_same(there, r, {{"linear_s", Q::prefill_flops_time}}) == 1);
      }
      // The weights are read once a chunk.
      CHECK(to_rounding(there.at("weights_s") * *r.quantities[Q::prefill_chunks_q],
                        *r.quantities[Q::prefill_weight_read]));
    }
  });
  CHECK(asked > 100);
}
