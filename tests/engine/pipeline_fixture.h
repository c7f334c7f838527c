// Shared by the pipeline tests: a simulated step with everything that is asked about it, and random shapes and times.
#pragma once

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "engine/pipeline/pipeline_time.h"
#include "engine/pipeline/schedule.h"
#include "engine/pipeline/simulate.h"
#include "engine/pipeline/timeline_analysis.h"

namespace roofscape::engine::test {

// Typed-in times have halves and thirds of a chunk: one unit of the tables is this many ticks.
inline constexpr Tick kUnit = 96;

struct Step {
  Orders orders;
  PipelineTimes times;
  Timeline timeline;
  SimulationStatus status;
  std::vector<Tick> idle() const {
    std::vector<Tick> out;
    idle_per_device(timeline, out);
    return out;
  }
  Bubbles bubble() const { return bubbles(orders, times, timeline); }
  std::vector<double> peaks(KeptUntil kept) const {
    std::vector<double> out;
    peak_microbatches(orders, kept, out);
    return out;
  }
  double makespan() const { return static_cast<double>(timeline.makespan) / static_cast<double>(kUnit); }
};

inline Step run_step(const ScheduleShape& shape, const PipelineTimes& times) {
  Step step;
  make_orders(shape, step.orders);
  step.times = times;
  SimulationScratch scratch;
  step.status = simulate(step.orders, step.times, scratch, step.timeline);
  return step;
}

inline ScheduleShape shape_of(ScheduleKind kind, int stages, int microbatches, int virtual_stages = 0) {
  return {kind, stages, microbatches, virtual_stages > 0 ? virtual_stages : default_virtual_stages(kind), 0};
}

// Times in units of the tables.
inline PipelineTimes unit_times(const ScheduleShape& shape, double f, double b, double w, double transfer = 0,
                                double overlapped = 0) {
  const auto ticks = [](double units) { return static_cast<Tick>(units * static_cast<double>(kUnit)); };
  return even_times(shape, ticks(f), ticks(b), ticks(w), ticks(transfer), ticks(overlapped));
}

inline constexpr ScheduleKind kAllSchedules[] = {
    ScheduleKind::gpipe,      ScheduleKind::one_f_one_b, ScheduleKind::eager_1f1b, ScheduleKind::interleaved_1f1b,
    ScheduleKind::looped_bfs, ScheduleKind::zb_h1,       ScheduleKind::zb_h2,      ScheduleKind::zb_v,
    ScheduleKind::dualpipe,   ScheduleKind::dualpipe_v};

using Random = std::mt19937_64;

// The same numbers on every platform, unlike the distributions of the standard library.
inline int random_int(Random& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
}

inline ScheduleShape random_shape(Random& random, ScheduleKind kind, int most_stages = 8,
                                  int most_microbatches = 24) {
  // One number a statement: the order in which a compiler evaluates arguments is its own.
  const int stages = random_int(random, 1, most_stages);
  ScheduleShape shape = shape_of(kind, stages, random_int(random, 1, most_microbatches));
  const bool chunks = kind == ScheduleKind::interleaved_1f1b || kind == ScheduleKind::looped_bfs ||
                      (kind == ScheduleKind::zb_h1 && random_int(random, 0, 1) == 1);
  if (chunks) shape.virtual_stages = random_int(random, 1, 4);
  if (kind == ScheduleKind::dualpipe) shape.stages = 2 * random_int(random, 1, most_stages / 2);
  if (kind == ScheduleKind::interleaved_1f1b && random_int(random, 0, 2) == 0)
    shape.group_size = random_int(random, shape.stages, shape.stages + 6);
  // Mend what is illegal with what the check offers.
  for (int i = 0; i < 4; ++i) {
    const ScheduleStatus status = check_schedule(shape);
    if (status.legal()) break;
    const int mended = status.above > 0 ? status.above : status.below;
    if (status.field == ShapeField::microbatches) shape.microbatches = mended;
    if (status.field == ShapeField::group_size) shape.group_size = mended;
  }
  REQUIRE(check_schedule(shape).legal());
  return shape;
}

inline PipelineTimes random_times(Random& random, const ScheduleShape& shape, bool even, bool transfers) {
  const auto stages = static_cast<std::size_t>(virtual_stage_count(shape));
  PipelineTimes times;
  const auto fill = [&](std::vector<Tick>& out) {
    out.assign(stages, random_int(random, 1, 30));
    if (!even)
      for (Tick& t : out) t = random_int(random, 0, 30);
  };
  fill(times.forward);
  fill(times.backward_input);
  fill(times.backward_weight);
  if (random_int(random, 0, 1) == 1) fill(times.overlapped);
  if (transfers) times.transfer = random_int(random, 0, 12);
  return times;
}

}  // namespace roofscape::engine::test
