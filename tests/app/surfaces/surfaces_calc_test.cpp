// What `calc` answers and what `eval` reports are one formula: where a building block and a report state the same
// number, they state the same bits, for every model and every chip that ships. Where the last bits may differ, the
// reason stands beside the test.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "tests/app/surfaces/calc_answers.h"
#include "tests/capture_binding.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::alone;
using tests::Answers;
using tests::calc;
using tests::check_same;
using tests::digits;
using tests::is_torus;
using tests::library;
using tests::preset;
using tests::Same;
using tests::to_rounding;
using tests::Typed;
using tests::with_value;

namespace {

std::string_view kind_word(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather       ? "all_gather"
         : kind == CollectiveKind::reduce_scatter ? "reduce_scatter"
                                                  : "all_reduce";
}

// Switches and a torus, and both modes.
const std::pair<std::string, Mode> kChipsAndModes[] = {{"h100-sxm", Mode::ideal},
                                                       {"h100-sxm", Mode::calibrated},
                                                       {"tpu-v5p", Mode::ideal},
                                                       {"tpu-v5p", Mode::calibrated}};

}  // namespace

TEST_CASE("calc counts parameters, caches and training state of a model as eval does") {
  for (const io::Preset& row : library().list(io::PresetKind::model)) {
    CAPTURE(row.id);
    const Scenario s = alone(*library().find_model(row.id), *library().find_chip("h100-sxm"));
    const std::string model = "model=" + row.id;
    const Report r = evaluate(s);
    CHECK(check_same(calc("params", {model}), r,
                     {{"total", Q::params_total},
                      {"active", Q::params_active},
                      {"mlp", Q::params_mlp},
                      {"attention", Q::params_attention},
                      {"vocab", Q::params_vocab},
                      {"norms", Q::params_norms}}) == 6);
    CHECK(check_same(calc("kv-cache", {model, with_value("sequence_length", r, Q::sequence_length)}), r,
                     {{"bytes_per_token", Q::kv_cache_bytes_per_token}}) == 1);
    CHECK(check_same(calc("state", {with_value("parameters", r, Q::params_total),
                                    with_value("weight_bytes", r, Q::weight_width_bytes),
                                    with_value("gradient_bytes", r, Q::gradient_width_bytes),
                                    with_value("optimizer_bytes", r, Q::optimizer_width_bytes), "chip=h100-sxm"}),
                     r,
                     {{"chip_bytes", Q::training_state_bytes},
                      {"weight_total_bytes", Q::memory_weights},
                      {"gradient_total_bytes", Q::memory_gradients},
                      {"optimizer_total_bytes", Q::memory_optimizer}}) >= 3);
  }
}

TEST_CASE("calc counts the FLOPs of a training step as eval does, in every convention") {
  for (const io::Preset& row : library().list(io::PresetKind::model)) {
    CAPTURE(row.id);
    Scenario s = alone(*library().find_model(row.id), *library().find_chip("h100-sxm"));
    for (const FlopsConvention convention :
         {FlopsConvention::six_p, FlopsConvention::exact, FlopsConvention::exact_causal}) {
      CAPTURE(static_cast<int>(convention));
      s.assumptions.flops = convention;
      const Report r = evaluate(s);
      const Answers flops =
          calc("flops",
               {"model=" + row.id, with_value("sequences", r, Q::batch_sequences),
                with_value("sequence_length", r, Q::sequence_length), with_value("parameters", r, Q::params_active),
                convention == FlopsConvention::exact_causal ? "causal=true" : "causal=false"});
      const double there = flops.at(convention == FlopsConvention::six_p ? "six_p" : "total");
      CHECK(there == *r.quantities[Q::flops_model_per_step]);
      CHECK(check_same(flops, r, {{"tokens", Q::tokens_per_step}}) == 1);
    }
  }
}

TEST_CASE("calc counts adapters, what they keep and their FLOPs as eval does, wherever they stand, in either mode") {
  for (const io::Preset& row : library().list(io::PresetKind::model))
    for (const AdapterTargets targets :
         {AdapterTargets::query_value, AdapterTargets::attention, AdapterTargets::mlp, AdapterTargets::linear})
      for (const bool experts : {true, false})
        for (const auto& [chip, mode] : kChipsAndModes) {
          CAPTURE(row.id);
          CAPTURE(std::string(kAdapterTargets[targets]));
          CAPTURE(experts);
          CAPTURE_BINDING(chip);
          Scenario s = alone(*library().find_model(row.id), *library().find_chip(chip));
          s.assumptions.mode = mode;
          s.assumptions.flops = FlopsConvention::six_p;
          s.adapter = {.rank = 24, .targets = targets, .experts = experts};
          const Report r = evaluate(s);
          CHECK(check_same(calc("adapters", {"model=" + row.id, "chip=" + chip, "rank=24",
                                             "targets=" + std::string(kAdapterTargets[targets]),
                                             experts ? "routed_experts=true" : "routed_experts=false",
                                             with_value("weight_bytes", r, Q::weight_width_bytes),
                                             with_value("adapter_bytes", r, Q::adapter_width_bytes),
                                             with_value("gradient_bytes", r, Q::gradient_width_bytes),
                                             with_value("optimizer_bytes", r, Q::optimizer_width_bytes)}),
                           r,
                           {{"parameters", Q::params_trained},
                            {"layer", Q::adapter_layer},
                            {"flops_per_token", Q::flops_per_token},
                            {"total_bytes", Q::training_state_bytes}}) == 4);
        }
}

TEST_CASE("calc counts Muon's matrices and their iterations as eval does of one chip, and their time in ideal mode") {
  for (const io::Preset& row : library().list(io::PresetKind::model))
    for (const auto& [chip, mode] : kChipsAndModes) {
      CAPTURE(row.id);
      CAPTURE_BINDING(chip);
      Scenario s = alone(*library().find_model(row.id), *library().find_chip(chip));
      s.assumptions.mode = mode;
      s.precision.optimizer = OptimizerKind::muon_fp32;
      s.muon.newton_schulz_steps = 6;
      const Report r = evaluate(s);
      const Answers muon =
          calc("muon", {"model=" + row.id, "chip=" + chip, "newton_schulz_steps=6",
                        with_value("tokens", r, Q::tokens_per_step), with_value("muon_bytes", r, Q::muon_width_bytes),
                        with_value("optimizer_bytes", r, Q::optimizer_width_bytes)});
      CHECK(check_same(
                muon, r,
                {{"updated", Q::muon_updated}, {"flops", Q::muon_flops}, {"state_bytes", Q::memory_optimizer}}) == 3);
      if (mode == Mode::ideal) CHECK(check_same(muon, r, {{"time_s", Q::muon_products}}) == 1);
    }
}

TEST_CASE("calc gives the days, hours and cost of a run as eval does, on every chip") {
  int asked = 0;
  for (const Chip& chip : library().chips()) {
    CAPTURE(chip.id);
    Scenario s = alone(*library().find_model("llama3-8b"), chip);
    s.parallelism.data = 4;
    s.cluster.node_size = 4;
    if (is_torus(chip)) s.cluster.slice = {4, 1, 1};
    const Report r = evaluate(s);
    if (r.has_errors()) continue;
    ++asked;
    const auto run = [&](Q mfu) {
      return calc("run", {"chip=" + chip.id, with_value("flops", r, Q::flops_run), with_value("mfu", r, mfu),
                          with_value("chips", r, Q::chips_used)});
    };
    Answers stated = calc("run", {"chip=" + chip.id, with_value("flops", r, Q::flops_run),
                                  with_value("mfu", r, Q::stated_mfu), with_value("chips", r, Q::cluster_chips)});
    CHECK(check_same(stated, r, {{"days", Q::stated_run_days}}) == 1);
    // Of its own MFU a report has the time first, and the MFU made from it: the way back rounds.
    const Answers own = run(Q::mfu);
    for (const Same& row : {Same{"time_s", Q::run_time}, Same{"days", Q::run_days},
                            Same{"chip_hours", Q::run_chip_hours}, Same{"cost_usd", Q::run_cost}})
      if (const auto here = r.quantities[row.q]) CHECK(to_rounding(own.at(std::string(row.output)), *here));
  }
  CHECK(asked >= 20);
}

TEST_CASE("calc gives the time of a collective as eval does, over closed and open axes and inside a node") {
  int compared = 0;
  for (const Chip& chip : library().chips())
    for (const int ranks : {2, 4, 8, 16})
      for (const int zero : {0, 3}) {
        CAPTURE(chip.id);
        CAPTURE(ranks);
        Scenario s = alone(*library().find_model("llama3-8b"), chip);
        s.parallelism.fsdp = ranks;
        s.parallelism.zero_stage = zero;
        s.workload.global_batch_sequences = ranks;
        s.cluster.node_size = ranks;
        s.cluster.slice = {ranks, 1, 1};
        const Report r = evaluate(s);
        if (r.has_errors() || (is_torus(chip) && chip[ChipField::ici_torus_dims].value == 2 && ranks == 16)) continue;
        for (const CollectiveRow& row : r.collectives) {
          const bool open = is_torus(chip) && !r.placement.empty() &&
                            r.placement[static_cast<std::size_t>(Axis::fsdp)].open_axes > 0;
          Typed inputs{"chip=" + chip.id, "kind=" + std::string(kind_word(row.kind)), "bytes=" + digits(row.bytes)};
          inputs.push_back((is_torus(chip) ? "axes=" : "gpus=") + std::to_string(ranks));
          if (is_torus(chip)) inputs.emplace_back(open ? "wrapped=false" : "wrapped=true");
          const Answers there = calc(is_torus(chip) ? "collective" : "collective-gpu", inputs);
          // Of latency a report in ideal mode counts nothing.
          CHECK(there.at(is_torus(chip) ? "bandwidth_s" : "time_s") == row.time_s);
          ++compared;
        }
      }
  CHECK(compared > 200);
}

TEST_CASE("calc gives the bounds of a mesh as eval does, on every torus") {
  int asked = 0;
  for (const Chip& chip : library().chips()) {
    if (!is_torus(chip)) continue;
    CAPTURE(chip.id);
    const bool flat = chip[ChipField::ici_torus_dims].value == 2;
    Scenario s = alone(*library().find_model("llama3-8b"), chip);
    // Rings that close: a block knows no others.
    const int side = !flat ? 4 : chip.id == "tpu-v3" ? 32 : 16;
    s.cluster.slice = {side, side, flat ? 1 : side};
    s.parallelism.fsdp = static_cast<int>(chip_count(s.cluster));
    s.workload.global_batch_sequences = s.parallelism.fsdp;
    const Report r = evaluate(s);
    if (r.has_errors()) continue;
    ++asked;
    const Answers there =
        calc("bounds", {"chip=" + chip.id, "model=llama3-8b", with_value("tokens", r, Q::tokens_per_step),
                        with_value("chips", r, Q::chips_used)});
    if (!flat) CHECK(check_same(there, r, {{"fsdp_3_axes_tokens_per_chip", Q::bound_fsdp_3}}) == 1);
    CHECK(check_same(there, r,
                     {{"one_axis_tokens", Q::bound_fsdp_1},
                      {"fsdp_2_axes_tokens_per_chip", Q::bound_fsdp_2},
                      {"tokens_per_chip", Q::bound_cluster_tokens},
                      {"mixed_sum_tokens_per_chip", Q::bound_mixed_sum},
                      {"mixed_max_tokens_per_chip", Q::bound_mixed_max},
                      {"ici_intensity", Q::bound_alpha},
                      {"dcn_tokens_per_slice", Q::bound_dcn}}) >= 6);
  }
  CHECK(asked > 5);
}

TEST_CASE("calc gives the bounds of every model as eval does, mixtures of experts included") {
  for (const io::Preset& row : library().list(io::PresetKind::model)) {
    CAPTURE(row.id);
    Scenario s = alone(*library().find_model(row.id), *library().find_chip("tpu-v5p"));
    s.cluster.slice = {4, 4, 4};
    s.parallelism.fsdp = 64;
    s.workload.global_batch_sequences = 64;
    const Report r = evaluate(s);
    const Answers there =
        calc("bounds", {"chip=tpu-v5p", "model=" + row.id, with_value("tokens", r, Q::tokens_per_step),
                        with_value("chips", r, Q::chips_used)});
    CHECK(check_same(there, r,
                     {{"moved_one_axis_tokens", Q::bound_fsdp_1},
                      {"fsdp_2_axes_tokens_per_chip", Q::bound_fsdp_2},
                      {"fsdp_3_axes_tokens_per_chip", Q::bound_fsdp_3},
                      {"tensor_ways", Q::bound_tensor},
                      {"mixed_sum_tokens_per_chip", Q::bound_mixed_sum},
                      {"mixed_max_tokens_per_chip", Q::bound_mixed_max},
                      {"fsdp_ways_optimal", Q::bound_x_opt}}) >= 6);
  }
}

TEST_CASE("calc gives a decoding step as eval does, on every chip") {
  int asked = 0;
  for (const Chip& chip : library().chips()) {
    CAPTURE(chip.id);
    Scenario s = preset("llama3-8b-serving-8-h100");
    s.cluster = alone(s.model, chip).cluster;
    s.parallelism = {};
    s.workload.batch = 16;
    s.assumptions = {};
    s.assumptions.flops = FlopsConvention::six_p;
    const Report r = evaluate(s);
    if (r.has_errors()) continue;
    ++asked;
    const Typed plan{"chip=" + chip.id, "model=llama3-8b", with_value("batch", r, Q::serving_batch)};
    Typed reading = plan, stored = plan;
    // What a step reads is the cache of a mean sequence; what memory holds is that of a finished one.
    reading.push_back(with_value("context", r, Q::decode_context));
    stored.push_back(with_value("context", r, Q::allocated_tokens));
    CHECK(check_same(calc("decode", reading), r,
                     {{"kv_s", Q::decode_kv_read},
                      {"weights_s", Q::decode_weight_read},
                      {"flops", Q::decode_flops},
                      {"flops_s", Q::decode_flops_time},
                      {"step_s", Q::decode_step},
                      {"tokens_per_s", Q::serving_tokens_per_s},
                      {"critical_batch", Q::critical_batch},
                      {"weights_bytes", Q::weights_bytes_all}}) == 8);
    CHECK(check_same(calc("decode", stored), r,
                     {{"kv_bytes_per_sequence", Q::kv_sequence_bytes}, {"kv_bytes", Q::kv_total_bytes}}) == 2);
    check_same(calc("decode", reading), r, {{"cost_per_million_tokens_usd", Q::serving_cost}});
  }
  CHECK(asked >= 20);
}

TEST_CASE("calc counts chips, ranks and microbatches of a mesh as eval does") {
  std::mt19937 rng(7);
  for (int i = 0; i < 300; ++i) {
    const Scenario s = tests::random_scenario(rng);
    const Report r = evaluate(s);
    const Parallelism& p = s.parallelism;
    Typed inputs{with_value("batch_sequences", r, Q::batch_sequences),
                 with_value("sequence_length", r, Q::sequence_length),
                 with_value("microbatch_sequences", r, Q::microbatch_sequences)};
    for (const auto& [name, degree] : {std::pair{"data", p.data},
                                       {"fsdp", p.fsdp},
                                       {"tensor", p.tensor},
                                       {"context", p.context},
                                       {"pipeline", p.pipeline}})
      inputs.push_back(fmt::format("{}={}", name, degree));
    CHECK(check_same(calc("mesh", inputs), r,
                     {{"chips", Q::chips_used},
                      {"data_ranks", Q::data_ranks},
                      {"state_shards", Q::state_shards},
                      {"tokens", Q::tokens_per_step},
                      {"tokens_per_chip", Q::tokens_per_chip},
                      {"microbatches", Q::microbatches}}) == 6);
  }
}
