// What is particular to the order of each schedule, as one object for each row of schedules.def, defined in the .cpp
// of its family. For the pipeline floor alone: its other headers ask these rules for everybody else.
#pragma once

#include <optional>
#include <span>

#include "engine/pipeline/in_flight.h"
#include "engine/pipeline/order_span.h"
#include "engine/pipeline/order_writer.h"
#include "engine/pipeline/pipeline_time.h"

namespace roofscape::engine::orders {

// Even stages: f, b, w of one chunk; s = f + b + w; c the transfer.
struct EvenTimes {
  Tick p, m, v, f, b, w, s, c, overlapped;
};

// Of the second half only what is known need be given: without it a schedule is simulated where others are computed.
struct OrderRules {
  // The list of one device.
  void (*write)(const DeviceShape&, OrderWriter&);
  // peak_in_flight (in_flight.h).
  double (*in_flight)(const ScheduleShape&, int device);

  // held_moments; null: nothing is put off.
  HeldMoments (*moments)(const ScheduleShape&, int device) = nullptr;
  // overlapped_pairs; null: none.
  void (*pairs)(const ScheduleShape&, int virtual_stage, std::span<std::int64_t> counts) = nullptr;
  // The makespan of any stage times; null: there is no such form.
  Tick (*time)(const ScheduleShape&, const PipelineTimes&) = nullptr;
  // The makespan of even stages, or nothing outside of the range in which it is exact.
  std::optional<Tick> (*even_time)(const ScheduleShape&, const EvenTimes&) = nullptr;
  // What the order repeats (order_span.h), of two stages or more.
  std::optional<RepeatedMiddle> (*middle)(const ScheduleShape&) = nullptr;
  // Where the backward is split: weight gradients that the order puts behind the last input gradient of a device, at
  // most.
  Tick (*weights_at_end)(const ScheduleShape&, const PipelineTimes&, std::size_t device) = nullptr;
  // work_before_return (in_flight.h).
  std::optional<WorkBeforeReturn> (*before_return)(const ScheduleShape&) = nullptr;
  // pipeline_lower_bound; null: that of orders whose work is the sum of their operations. One that overlaps needs its
  // own.
  Tick (*lower_bound)(const ScheduleShape&, const PipelineTimes&) = nullptr;
};

#define SCHEDULE(name, ...) extern const OrderRules name;
#include "engine/pipeline/schedules.def"
#undef SCHEDULE

// Of an order that was given, in given_order.cpp.
extern const OrderRules by_list, by_list_with_pairs;

const OrderRules& rules_of(const ScheduleShape&);

// Adds to `work`, by device, what each does in a step: its operations, with pairs as one.
void add_work(const ScheduleShape&, const PipelineTimes&, std::vector<Tick>& work);

// All forwards are done before the first backward: everything is held.
inline double hold_all(const ScheduleShape& shape, int) { return static_cast<double>(shape.microbatches); }

// Of `passes` through one chunk, in microbatches of the whole device.
inline double held_passes(const ScheduleShape& shape, std::int64_t passes) {
  const std::int64_t m = shape.microbatches, v = shape.virtual_stages;
  return static_cast<double>(std::min(m * v, passes)) / static_cast<double>(v);
}

}  // namespace roofscape::engine::orders
