// Shared by the pipeline tests: a simulated step with everything that is asked about it, and random shapes and times.
#pragma once

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "engine/pipeline/order_csv.h"
#include "engine/pipeline/order_span.h"
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

Step run_step(const ScheduleShape& shape, const PipelineTimes& times);

ScheduleShape shape_of(ScheduleKind kind, int stages, int microbatches, int virtual_stages = 0);

// Times in units of the tables.
PipelineTimes unit_times(const ScheduleShape& shape, double f, double b, double w, double transfer = 0,
                         double overlapped = 0);

inline ScheduleKind schedule_in_turn(int i) { return kSchedules[static_cast<std::size_t>(i % kScheduleKinds)]; }

using Random = std::mt19937_64;

// The same numbers on every platform, unlike the distributions of the standard library.
int random_int(Random& random, int low, int high);

// What a person reads of it.
std::string words_of(const OrderFault& fault);

ScheduleShape random_shape(Random& random, ScheduleKind kind, int most_stages = 8, int most_microbatches = 24);

PipelineTimes random_times(Random& random, const ScheduleShape& shape, bool even, bool transfers);

}  // namespace roofscape::engine::test
