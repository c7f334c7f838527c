// DualPipe and DualPipeV in a scenario: a forward and a backward that a device runs as one hide each other's
// communication, and what the step's parts say adds up to what the schedule takes.
#include <doctest/doctest.h>

#include <numeric>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/explain.h"
#include "engine/pipeline/in_flight.h"
#include "engine/studies/schedule_comparison.h"
#include "engine/training/stage_time.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using namespace roofscape::tests;

namespace {

Scenario deepseek(Mode mode) {
  Scenario s = preset("deepseek-v3-2048-h800");
  s.assumptions.mode = mode;
  return s;
}

}  // namespace

TEST_CASE("DeepSeek-V3's plan: DualPipe takes less than 1F1B, ZB-V and interleaved where its pairs can hide") {
  // At peak rates experts' transfers take longer than all work, and no schedule hides them; with links twice as fast
  // pairs do. Calibrated, work takes its time.
  for (const Mode mode : {Mode::ideal, Mode::calibrated}) {
    Scenario s = deepseek(mode);
    REQUIRE(s.pipeline.schedule == ScheduleKind::dualpipe);
    if (mode == Mode::ideal) *s.cluster.chip[ChipField::scaleout_bytes_per_s_per_node_oneway].value *= 2;
    CAPTURE(static_cast<int>(mode));
    const double own = value_of(s, Q::step_time);
    for (const ScheduleKind kind : {ScheduleKind::one_f_one_b, ScheduleKind::zb_v})
      CHECK(own < value_of(scenario_under(s, kind), Q::step_time));
    // Interleaved takes multiples of the stages: the next numbers of microbatches, over which time is even.
    for (const int microbatches : {112, 128}) {
      Scenario other = scenario_under(s, ScheduleKind::interleaved_1f1b);
      other.workload.global_batch_sequences *= microbatches;
      other.workload.global_batch_sequences /= 120;
      CHECK(own / 120 < value_of(other, Q::step_time) / microbatches);
    }
  }
}

TEST_CASE("a pair lasts as long as its work or what it sends, at peak rates") {
  const Scenario s = deepseek(Mode::ideal);
  const Report r = evaluate(s);
  const auto q = [&r](Q id) { return value_of(r, id); };
  const auto& times = r.pipeline.times;
  REQUIRE(times.overlapped.size() == 32);
  // Two stages of four layers, neither the first nor the last.
  const double layers = 4, work = layers * (q(Q::layer_work_forward) + q(Q::layer_work_backward)),
               network = layers * (q(Q::layer_network_forward) + q(Q::layer_network_backward));
  CHECK(network > work);
  std::size_t found = 0;
  for (std::size_t i = 1; i < 15; ++i) {
    if (r.stages[i].layers != 4 || r.stages[15 - i].layers != 4) continue;
    ++found;
    CHECK(static_cast<double>(times.overlapped[i]) * kTickSeconds == doctest::Approx(std::max(work, network)));
  }
  CHECK(found > 4);
}

TEST_CASE("what pairs hide is taken from exposed communication, and the step is still the sum of its parts") {
  std::mt19937 rng(20261123);
  int hidden = 0;
  for (int i = 0; i < 4000; ++i) {
    Scenario s = random_scenario(rng);
    if (s.parallelism.pipeline < 2) continue;
    s.assumptions.mode = static_cast<Mode>(i % 3);
    for (const ScheduleKind kind : {ScheduleKind::dualpipe, ScheduleKind::dualpipe_v}) {
      const Report r = evaluate(scenario_under(s, kind));
      if (r.has_errors() || !r.quantities[Q::step_time] || !r.pipeline.drawn()) continue;
      CAPTURE(i);
      const PipelineReport& p = r.pipeline;
      // What the devices of the timeline are busy with is the mean work of the report.
      const double busy =
          static_cast<double>(std::accumulate(p.timeline.busy.begin(), p.timeline.busy.end(), Tick{0}));
      CHECK(busy / p.shape.stages * kTickSeconds == doctest::Approx(value_of(r, Q::pipeline_work)).epsilon(1e-6));
      for (std::size_t at = 0; at < p.times.overlapped.size(); ++at) {
        const std::size_t other = p.times.overlapped.size() - 1 - at;
        CHECK(p.times.overlapped[at] <=
              p.times.forward[at] + p.times.backward_input[other] + p.times.backward_weight[other]);
      }
      double parts = 0;
      for (const Q part : kStepParts) {
        CHECK(value_of(r, part) >= 0);
        parts += value_of(r, part);
      }
      CHECK(parts == value_of(r, Q::step_time));
      CHECK(value_of(r, Q::pipeline_bubble_fraction) > -1e-6);
      if (!r.quantities[Q::pairs_hidden] || value_of(r, Q::pairs_hidden) < 1e-6) continue;
      ++hidden;
      // The step as it would be without them is that much longer, or as its schedule then is.
      CHECK(value_of(r, Q::exposed_left) >= 0);
      CHECK(value_of(r, Q::exposed_left) < 1);
    }
  }
  CHECK(hidden > 100);
}
