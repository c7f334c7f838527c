// A weight gradient that is put off keeps what it needs: the inputs of its matrices, computed again for the input
// gradient, and the gradients of their outputs.
#include <doctest/doctest.h>

#include <algorithm>

#include "engine/evaluate/evaluate.h"
#include "engine/pipeline/in_flight.h"
#include "engine/scenario/checkpoint_policies.h"
#include "engine/studies/memory_timeline.h"
#include "engine/studies/schedule_comparison.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using namespace roofscape::tests;

namespace {

double activations_of(const StageRow& row) { return row.memory_bytes[3]; }
static_assert(kMemoryParts[3] == Q::memory_activations);

}  // namespace

TEST_CASE("405B under ZB-H2 with checkpointed blocks: the last stage needs more than the chip has") {
  const Scenario s =
      with(preset("llama3-405b-16k-h100-8k"), {"workload.global_batch_sequences=4096", "checkpointing.policy=block",
                                               "pipeline.schedule=zb-h2", "pipeline.virtual_stages=1"});
  const Report r = evaluate(s);
  REQUIRE_FALSE(r.has_errors());
  // 8192 tokens, tensor 8, bf16: four tensors of width 16 384 that are split as the sequence is, queries and
  // attention output, keys and values, gate, up and their product.
  const double needed = 2.0 * 8192 / 8 * (4 * 16384 + 2 * 16384 + 2 * 1024 + 3 * 53248);
  CHECK(value_of(r, Q::layer_postponed_bytes) == needed);
  // The last stage puts off 31 of them, of seven layers; the one before it 29, of eight.
  const double kept = value_of(r, Q::layer_checkpoint_bytes);
  CHECK(activations_of(r.stages[15]) == doctest::Approx(7 * (31 * kept + 31 * (needed - kept))));
  CHECK(r.fullest_stage == 14);
  CHECK(activations_of(r.stages[15]) > 100e9);
  CHECK_FALSE(r.fits());
  // 1F1B puts nothing off.
  const Scenario whole = with(s, {"pipeline.schedule=1f1b"});
  CHECK(evaluate(whole).fits());
}

TEST_CASE("what is kept of a postponed weight gradient is in the memory over time, and its peak is the report's") {
  for (const char* policy : {"none", "attention", "block", "k_per_layer"})
    for (const ScheduleKind kind : kSchedules) {
      Scenario s =
          with(preset("llama3-405b-16k-h100-8k"), {"parallelism.pipeline=4", "workload.global_batch_sequences=1536"});
      s.checkpointing.policy = *parse_policy(policy);
      s = scenario_under(s, kind);
      const Report r = evaluate(s);
      CAPTURE(policy);
      CAPTURE(schedule_id(kind));
      if (r.has_errors()) continue;
      const double kept = value_of(r, Q::layer_checkpoint_bytes), needed = value_of(r, Q::layer_postponed_bytes);
      for (int d = 0; d < 4; ++d) {
        const StageRow& row = r.stages[static_cast<std::size_t>(d)];
        const double layers = facts_of(kind).placement == StagePlacement::both_ways ? 126.0 / 4 : row.layers;
        double most = 0;
        for (const HeldMicrobatches& held : held_moments(r.pipeline.shape, d))
          most = std::max(most, held.all * kept + held.postponed * std::max(0.0, needed - kept));
        if (directions(kind) == 1) CHECK(activations_of(row) == doctest::Approx(layers * most).epsilon(1e-12));
        const auto timeline = memory_timeline(s, r, d);
        REQUIRE(timeline);
        double peak = 0;
        for (const MemoryTimelinePoint& point : timeline->points) peak = std::max(peak, point.activation_bytes);
        CHECK(peak == activations_of(row));
      }
    }
}

TEST_CASE("without a split backward, or where everything is kept, nothing more is counted") {
  std::mt19937 rng(7);
  for (int i = 0; i < 500; ++i) {
    Scenario s = random_scenario(rng);
    if (s.parallelism.pipeline < 2 || s.offload.activations) continue;
    const Report r = evaluate(s);
    if (splits_backward(s.pipeline.schedule) || !r.pipeline.status.legal()) continue;
    // The mean of a model's dense layers and those with experts.
    const double layer = value_of(r, Q::layer_checkpoint_bytes);
    double kept = 0;
    for (const StageRow& row : r.stages) {
      CHECK(activations_of(row) == doctest::Approx(row.in_flight_microbatches * row.kept_bytes));
      if (row.dense_layers == 0 && s.model.moe.n_dense_layers == 0)
        CHECK(row.kept_bytes == doctest::Approx(row.layers * layer));
      kept += row.kept_bytes;
    }
    CHECK(kept == doctest::Approx(s.model.n_layers * layer));
  }
}
