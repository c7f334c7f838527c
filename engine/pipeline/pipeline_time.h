// What is known of how long a step's pipeline takes without running it: closed forms where they are equal to the
// simulation to the last tick (and tested to be), and a bound; and orders ready to run, for whoever runs them again
// (order_span.h).
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <unordered_map>

#include "engine/pipeline/schedule.h"
#include "engine/pipeline/simulate.h"

namespace roofscape::engine {

struct ShapeHash {
  std::size_t operator()(const ScheduleShape& shape) const;
};

// What repeated calls share: plans by shape (the least recently used are dropped) and the simulator's working
// memory. Belongs to one thread.
class PipelineCache {
 public:
  PipelineCache() = default;
  PipelineCache(PipelineCache&&) = default;  // its index points into its own list
  PipelineCache& operator=(PipelineCache&&) = default;
  // The order of a legal shape, ready to run (empty for an illegal one). The reference stays valid until the next
  // call.
  const RunPlan& plan(const ScheduleShape& shape);
  bool has_plan(const ScheduleShape& shape) const { return by_shape_.contains(shape); }
  // The order itself: of the shape asked for last, it is there; else it is made again.
  const Orders& orders(const ScheduleShape& shape);
  SimulationScratch scratch;
  Timeline timeline;  // of the user's last simulation

 private:
  struct Entry {
    ScheduleShape shape;
    RunPlan plan;
  };
  std::list<Entry> entries_;  // the one used last first
  std::unordered_map<ScheduleShape, std::list<Entry>::iterator, ShapeHash> by_shape_;
  std::size_t bytes_ = 0;  // that the plans of all entries hold
  Orders orders_;
  std::optional<ScheduleShape> shape_of_orders_;
};

// The closed form, or nothing outside the range in which it is exact. With F, B, W the times of one chunk:
//   GPipe, any stage times:  sum(F) + sum(B+W) + (m-1)(max F + max(B+W)) + 2 sum(hops)
//   all others: even stages and hops only; the formulas stand beside the orders. Derived by following one critical path; each
//   range is the one in which the tests find the form equal to the simulation.
std::optional<Tick> closed_form_time(const ScheduleShape& shape, const PipelineTimes& times);

// A time that the simulation never goes below, in O(stages) (a search has it in seconds,
// engine/search/step_lower_bound.cpp): over all devices the earliest its first operation can start + its work + the
// shortest way of its last gradients back to stage 0, interleaved also with the ways around to its other chunks and
// back, and not below one microbatch's way forth and back. 0 for an illegal shape or ill-fitting times.
Tick pipeline_lower_bound(const ScheduleShape& shape, const PipelineTimes& times);

}  // namespace roofscape::engine
