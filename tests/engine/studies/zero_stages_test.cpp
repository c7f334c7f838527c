// The ZeRO stages of a plan side by side.
#include "engine/studies/zero_stages.h"

#include <doctest/doctest.h>

#include "engine/evaluate/evaluate.h"
#include "engine/io/presets/preset_library.h"
#include "engine/io/scenario/scenario_json.h"

using namespace roofscape;
using engine::Q;

namespace {
engine::Scenario preset(const char* id) {
  static const io::PresetLibrary library;
  return io::load_scenario(id, library).value();
}
double memory_of(const engine::Report& r) { return r.quantities.value_or(Q::memory_total, 0); }
}  // namespace

TEST_CASE(
    "a later ZeRO stage never takes more of weights, gradients and optimizer state, and the plan's own is the plan") {
  for (const char* id : {"llama3-70b-v5p-pod", "llama3-405b-16k-h100-8k", "llama3-8b-8-h100", "mixtral-8x7b-64-h100"})
    for (const engine::Mode mode : {engine::Mode::ideal, engine::Mode::calibrated}) {
      engine::Scenario s = preset(id);
      s.assumptions.mode = mode;
      const engine::ZeroStagesStudy study = engine::zero_stages_study(s);
      CHECK_FALSE(study.from_data_axis);
      CHECK(study.shards == s.parallelism.fsdp * s.parallelism.context);
      const auto own = static_cast<std::size_t>(s.parallelism.zero_stage);
      CHECK(memory_of(study.stages[own].report) == memory_of(engine::evaluate(s)));
      for (const auto& variant : study.stages) {
        const engine::Report whole = engine::evaluate(variant.scenario);
        CHECK(memory_of(variant.report) == memory_of(whole));
        CHECK(variant.report.quantities.value_or(Q::step_time, 0) == whole.quantities.value_or(Q::step_time, 0));
      }
      for (std::size_t stage = 1; stage < study.stages.size(); ++stage)
        for (const Q part : {Q::memory_weights, Q::memory_gradients, Q::memory_optimizer})
          CHECK(study.stages[stage].report.quantities.value_or(part, 0) <=
                study.stages[stage - 1].report.quantities.value_or(part, 0));
    }
}

TEST_CASE("a plan with data ranks alone is shown as if these sharded its state") {
  engine::Scenario s = preset("llama3-8b-8-h100");
  s.parallelism.data = s.parallelism.data * s.parallelism.fsdp, s.parallelism.fsdp = 1;
  const engine::ZeroStagesStudy study = engine::zero_stages_study(s);
  CHECK(study.from_data_axis);
  CHECK(study.shards == s.parallelism.data);
  CHECK(study.stages[0].scenario.parallelism.fsdp == s.parallelism.data);
}
