// Scenarios for the engine's tests: the shipped presets and random variations of them.
#pragma once

#include <doctest/doctest.h>

#include <random>
#include <string>

#include "engine/evaluate.h"
#include "engine/io/scenario_json.h"

namespace roofscape::tests {

inline const io::PresetLibrary& library() {
  static const io::PresetLibrary shipped;
  return shipped;
}

inline engine::Scenario preset(const std::string& id) {
  const auto scenario = io::load_scenario(id, library());
  REQUIRE_MESSAGE(scenario.ok(), id);
  return scenario.value();
}

inline engine::Scenario with(engine::Scenario s, std::initializer_list<std::string_view> assignments) {
  for (const std::string_view a : assignments) {
    const auto error = io::set_field(s, a, library());
    REQUIRE_MESSAGE(!error, std::string(a));
  }
  return s;
}

// A valid scenario with random model, cluster, mesh, policies and precision. Small pipelines keep a case in
// microseconds. `rng` is the caller's, seeded with a constant.
inline engine::Scenario random_scenario(std::mt19937& rng) {
  using namespace engine;
  const auto pick = [&rng](int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); };
  const auto power = [&](int highest) { return 1 << pick(0, highest); };
  static const Scenario torus = preset("llama3-70b-v5p-pod"), switched = preset("llama3-405b-16k-h100");
  Scenario s = pick(0, 1) == 0 ? torus : switched;
  const auto& models = library().list(io::PresetKind::model);
  s.model = *library().find_model(models[static_cast<std::size_t>(pick(0, static_cast<int>(models.size()) - 1))].id);
  s.parallelism = {power(4), power(6), power(4), power(3), power(4), 1, pick(0, 1) == 1, pick(0, 3),
                   static_cast<ContextMethod>(pick(0, 2))};
  s.pipeline = {static_cast<ScheduleKind>(pick(0, 3)), power(1), 1};
  if (s.pipeline.schedule == ScheduleKind::interleaved_1f1b) s.pipeline.virtual_stages = power(1);
  const int microbatches = s.parallelism.pipeline * pick(1, 3);
  s.workload.global_batch_sequences =
      s.parallelism.data * s.parallelism.fsdp * s.pipeline.microbatch_sequences * microbatches;
  s.workload.sequence_length = 1024 * power(6);
  s.checkpointing = {static_cast<CheckpointPolicy>(pick(0, 4)), pick(1, 12)};
  s.precision.gradients = static_cast<Dtype>(pick(0, 3));
  s.precision.optimizer = static_cast<OptimizerKind>(pick(0, 2));
  s.precision.master_weights = pick(0, 1) == 0 ? Dtype::none : Dtype::fp32;
  s.assumptions.flops = static_cast<FlopsConvention>(pick(0, 2));
  s.assumptions.axes_overlap = static_cast<AxesOverlap>(pick(0, 1));
  s.assumptions.reserve_bytes = pick(0, 1) * 1e9;
  return s;
}

}  // namespace roofscape::tests
