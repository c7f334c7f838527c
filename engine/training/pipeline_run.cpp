#include "engine/training/pipeline_run.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "engine/base/kept_memory.h"
#include "engine/pipeline/in_flight.h"
#include "engine/pipeline/pipeline_time.h"
#include "engine/pipeline/timeline_analysis.h"

namespace roofscape::engine {
namespace {

Tick mean_of(const std::vector<Tick>& times) {
  Tick sum = 0;
  for (const Tick t : times) sum += t;
  return times.empty() ? 0 : sum / static_cast<Tick>(times.size());
}

// The same schedule where all stages take the mean time and transfers none.
void make_even(const PipelineTimes& times, PipelineTimes& even) {
  const auto stages = times.forward.size();
  even.forward.assign(stages, mean_of(times.forward));
  even.backward_input.assign(stages, mean_of(times.backward_input));
  even.backward_weight.assign(stages, mean_of(times.backward_weight));
  // A pair is never longer than its halves; rounding down may make it so.
  const Tick pair = mean_of(times.overlapped);
  even.overlapped.assign(times.overlapped.size(),
                         std::min(pair, even.forward[0] + even.backward_input[0] + even.backward_weight[0]));
}

// Ticks that a device of it idles, where there is a closed form: a pair's work depends on the order.
std::optional<double> even_idle_in_closed_form(const ScheduleShape& shape, const PipelineTimes& even) {
  if (!even.overlapped.empty()) return std::nullopt;
  const auto span = closed_form_time(shape, even);
  if (!span) return std::nullopt;
  const Tick work = even.forward[0] + even.backward_input[0] + even.backward_weight[0];
  return double(*span - shape.microbatches * passes_per_device(shape) * work);
}

double mean_idle(const Timeline& timeline) {
  double idle = 0;
  for (const Tick busy : timeline.busy) idle += double(timeline.makespan - busy);
  return idle / static_cast<double>(timeline.busy.size());
}

// Fills the timeline of a report that has the order; and where the even stages are wanted, their own. A long step is
// seldom run as a whole. An order that runs again gets a plan.
bool run_timeline(const ScheduleShape& shape, bool again, const PipelineTimes* even, PipelineScratch& scratch,
                  PipelineReport& pipeline, Timeline& even_timeline) {
  const PipelineTimes& times = pipeline.times;
  if (pipeline.orders.ops.size() >= kLongStep && scratch.spans.fill_timeline(shape, times, pipeline.timeline) &&
      (even == nullptr || scratch.spans.fill_totals(shape, *even, even_timeline)))
    return true;
  if (!again)
    return simulate(pipeline.orders, times, scratch.simulation, pipeline.timeline).finished() &&
           (even == nullptr || simulate(pipeline.orders, *even, scratch.simulation, even_timeline).finished());
  if (pipeline.plan.empty()) make_run_plan(pipeline.orders, scratch.simulation.planning, pipeline.plan);
  if (even == nullptr) return simulate(pipeline.plan, times, scratch.simulation, pipeline.timeline).finished();
  if (pipeline.levels.empty()) order_by_level(pipeline.plan, scratch.simulation.planning, pipeline.levels);
  return simulate_both(pipeline.plan, pipeline.levels, times, *even, scratch.simulation, pipeline.timeline,
                       even_timeline)
      .finished();
}

// Runs the order of a legal schedule. Nothing: it cannot be run.
template <Scalar S>
std::optional<SimulatedStep> run_order(const StageKey& key, bool has_order, PipelineScratch& scratch,
                                       PipelineReport& pipeline, StageTime<S>& cost) {
  const PipelineTimes& times = pipeline.times;
  const auto seconds = [](double t) { return t * kTickSeconds; };
  SimulatedStep found;
  make_even(times, cost.even);
  std::optional<double> even_idle = even_idle_in_closed_form(key.shape, cost.even);
  if (is_drawn(key.shape)) {
    if (!has_order) {
      make_orders(key.shape, pipeline.orders);
      pipeline.peak_microbatches.resize(pipeline.orders.devices());
      for (std::size_t r = 0; r < pipeline.orders.devices(); ++r)
        pipeline.peak_microbatches[r] = peak_in_flight(key.shape, static_cast<int>(r));
    }
    Timeline& timeline = pipeline.timeline;
    if (!run_timeline(key.shape, has_order, even_idle ? nullptr : &cost.even, scratch, pipeline,
                      cost.even_timeline)) {
      pipeline.timeline.makespan = 0;
      return std::nullopt;
    }
    if (!even_idle) even_idle = mean_idle(cost.even_timeline);
    idle_per_device(timeline, pipeline.idle);
    const Bubbles idle = bubbles(pipeline.orders, times, timeline, pipeline.idle);
    found.drawn = true;
    found.makespan = seconds(double(timeline.makespan));
    found.in_transfer = seconds(double(timeline.in_transfer) / key.shape.stages);
    found.bubble_time = seconds(idle.bubble_time), found.bubble_to_work = idle.ratio_to_work;
    found.span_bubble = seconds(double(idle.span_bubble));
  } else {
    OrderSpans spans;  // not the scratch's, which would keep what so long a step takes
    const PipelineTimeResult result = pipeline_time(key.shape, times, spans);
    if (!result.ok()) return std::nullopt;
    found.makespan = seconds(double(result.step.makespan));
    // A closed form knows no timeline: at least every device but the first waits for its first input, and every one
    // but the last for its first gradient.
    const double p_devices = key.shape.stages;
    found.in_transfer = seconds(result.closed_form ? 2 * double(hops_along(times, key.shape.stages)) / p_devices
                                                   : double(result.step.in_transfer) / p_devices);
    PipelineCache cache;
    if (!even_idle && (spans.fill_totals(key.shape, cost.even, cost.even_timeline) ||
                       simulate(cache.orders(key.shape), cost.even, cache.scratch, cost.even_timeline).finished()))
      even_idle = mean_idle(cost.even_timeline);
  }
  found.even_stages_idle = seconds(even_idle.value_or(0));
  return found;
}

}  // namespace

template <Scalar S>
void run_stages(const Inputs<S>& in, const LayerTime<S>& layer, const StageKey& key, PipelineScratch& scratch,
                PipelineReport& pipeline, StageTime<S>& cost, const StepLength& length) {
  // A report used again keeps its order while only times change: making it costs more than simulating it.
  const bool pipelined = key.shape.stages > 1, runs = length.spans == nullptr && length.found == nullptr;
  const bool reuse = pipelined && runs && pipeline.shape == key.shape && !pipeline.orders.ops.empty();
  if (!reuse) {
    give_back_unless_needed(pipeline.orders.ops, 0);
    pipeline.orders.ops.clear();
    pipeline.plan.clear();
    pipeline.levels.clear();
  }
  // Cleared where no run fills them: emptied first, every run would zero its starts before it writes them.
  const auto leave_without_timeline = [&pipeline] { pipeline.timeline.start.clear(); };
  pipeline.too_long = false;
  pipeline.timeline.makespan = 0;
  pipeline.idle.clear();
  pipeline.simulated.reset();
  stage_times(in, layer, key, pipeline, cost);
  if (!pipelined || !pipeline.status.legal()) return leave_without_timeline();

  const PipelineTimes& times = pipeline.times;
  pipeline.too_long = check_times(times, times.forward.size(), static_cast<std::uint32_t>(key.shape.microbatches)) ==
                      SimulationOutcome::overflow;
  if (pipeline.too_long) return leave_without_timeline();  // nor can its times be added up
  std::optional<SimulatedStep> found;
  if (length.found != nullptr) {
    found = *length.found;
  } else if (length.spans != nullptr && is_drawn(key.shape)) {
    const StepSpan span = length.spans->span(key.shape, times);
    found = SimulatedStep{double(span.makespan) * kTickSeconds,
                          double(span.in_transfer) / key.shape.stages * kTickSeconds,
                          std::numeric_limits<double>::quiet_NaN()};
  } else {
    found = run_order(key, reuse, scratch, pipeline, cost);
  }
  if (!found || !found->drawn) leave_without_timeline();
  if (!found) return;
  // What waits for transfers of unknown length has no known length: the order is still that of the schedule.
  const bool known = !std::isnan(value_of(cost.transfer)) && !std::isnan(value_of(cost.transfer_in_node));
  const auto simulated = [&in, known](Q q, double value) {
    return simulated_leaf<S>(trace_of(in.zero), q, -1, known ? value : std::numeric_limits<double>::quiet_NaN());
  };
  cost.simulated = true;
  cost.drawn = found->drawn;
  cost.makespan = simulated(Q::pipeline_makespan, found->makespan);
  cost.in_transfer = simulated(Q::pipeline_in_transfer, found->in_transfer);
  if (found->drawn) {
    cost.bubble_time = simulated(Q::pipeline_bubble_time, found->bubble_time);
    cost.bubble_to_work = simulated(Q::pipeline_bubble_to_work, found->bubble_to_work);
    cost.span_bubble = simulated(Q::pipeline_span_bubble, found->span_bubble);
  }
  cost.even_stages_idle = simulated(Q::pipeline_even_stages, found->even_stages_idle);
  pipeline.simulated = found;
}

template void run_stages<double>(const Inputs<double>&, const LayerTime<double>&, const StageKey&, PipelineScratch&,
                                 PipelineReport&, StageTime<double>&, const StepLength&);
template void run_stages<Traced>(const Inputs<Traced>&, const LayerTime<Traced>&, const StageKey&, PipelineScratch&,
                                 PipelineReport&, StageTime<Traced>&, const StepLength&);

}  // namespace roofscape::engine
