#include "engine/pipeline/simulate.h"

#include <algorithm>
#include <limits>

#include "engine/base/kept_memory.h"
#include "engine/pipeline/order_check.h"

namespace roofscape::engine {
namespace {

// Added to any time, before all others: of an operation that waits for no other device.
constexpr Tick kBeforeAll = -2 * kLongestRow;

Tick duration_of(const RunPlan::Work& work, const PipelineTimes& times) {
  if (work.second == RunPlan::kNoWork) return duration_of(times, work.first / 4, static_cast<OpKind>(work.first % 4));
  return duration_of_pair(times, work.first / 4, work.second / 4);
}

// How long a result travels between two different devices: PipelineTimes::hop without its divisions.
class Hops {
 public:
  Hops(const PipelineTimes& times, std::size_t devices, std::vector<std::uint32_t>& node_of)
      : node_of_(node_of), between_(times.transfer), within_(times.transfer_in_node), nodes_(times.node_devices > 1) {
    if (!nodes_) return;
    node_of.resize(devices);
    for (std::size_t d = 0; d < devices; ++d) node_of[d] = static_cast<std::uint32_t>(d) / times.node_devices;
  }
  Tick operator()(std::uint32_t from, std::uint32_t to) const {
    return nodes_ && node_of_[from] == node_of_[to] ? within_ : between_;
  }

 private:
  const std::vector<std::uint32_t>& node_of_;
  Tick between_, within_;
  bool nodes_;
};

// One set of times and what comes of it.
struct Run {
  const RunPlan& plan;
  const PipelineTimes& times;
  SimulationScratch::Tables& tables;
  Timeline& out;
  Hops hop{times, plan.last_op.size(), tables.node_of};
};

// How long the work of each row lasts, and the busy time of the devices. Visits no operation.
void fill_works(const Run& run) {
  const RunPlan& plan = run.plan;
  const auto sending = [&run](const RunPlan::Work& work) {
    const auto to = [&run, &work](std::uint32_t device) {
      return device == RunPlan::kNoDevice ? 0 : run.hop(work.device, device);
    };
    return run.times.blocking_send ? std::max(to(work.receiver), to(work.second_receiver)) : 0;
  };
  run.tables.durations.resize(plan.works.size());
  run.tables.occupied.resize(plan.works.size());
  run.out.busy.assign(plan.last_op.size(), 0);
  run.out.in_transfer = 0;
  for (std::size_t w = 0; w < plan.works.size(); ++w) {
    const RunPlan::Work& work = plan.works[w];
    if (work.count == 0) continue;  // no step is of it
    const Tick sends = sending(work), duration = duration_of(work, run.times);
    run.tables.durations[w] = duration;
    run.tables.occupied[w] = duration + sends;
    run.out.busy[work.device] += work.count * duration;
    run.out.in_transfer += work.count * sends;
  }
}

// Calls for each kind of steps with what these wait for: the operation before on their device, the producer, and, of
// that, the hop.
template <class Put>
void find_delays(const Run& run, Put&& put) {
  for (std::size_t k = 0; k < run.plan.kinds.size(); ++k) {
    const RunPlan::Kind& kind = run.plan.kinds[k];
    const Tick before = kind.before == RunPlan::kNoWork ? 0 : run.tables.occupied[kind.before];
    if (kind.producer == RunPlan::kNoWork) {
      put(k, before, kBeforeAll, Tick{0});
      continue;
    }
    const Tick latency = run.hop(run.plan.works[kind.producer].device, kind.device);
    put(k, before, run.tables.durations[kind.producer] + latency, latency);
  }
}

SimulationOutcome prepare(const Run& run) {
  run.out.makespan = 0;
  const SimulationOutcome outcome = check_times(run.times, run.plan.stages, run.plan.microbatches);
  if (outcome == SimulationOutcome::finished) fill_works(run);
  return outcome;
}

void start_halves_together(const RunPlan& plan, std::vector<Tick>& start) {
  for (const std::uint32_t op : plan.first_halves) start[op] = start[op + 1];
}

// `start_of`: of an operation.
template <class StartOf>
void add_up(const Run& run, StartOf&& start_of) {
  const RunPlan& plan = run.plan;
  Timeline& out = run.out;
  out.busy_until.assign(plan.last_op.size(), 0);
  for (std::size_t r = 0; r < plan.last_op.size(); ++r) {
    if (plan.last_work[r] != RunPlan::kNoWork)
      out.busy_until[r] = start_of(plan.last_op[r]) + run.tables.occupied[plan.last_work[r]];
    out.makespan = std::max(out.makespan, out.busy_until[r]);
  }
}

// How long a device that is free at `free` has to wait for the input of a step.
Tick gap_before(const RunPlan::Step& step, const SimulationScratch::Delays& delay, const Tick* start, Tick free) {
  return std::max<Tick>(start[step.producer] + delay.producer - free, 0);
}

void run_one(const Run& run) {
  const RunPlan& plan = run.plan;
  run.tables.delays.resize(plan.kinds.size());
  SimulationScratch::Delays* const delays = run.tables.delays.data();
  find_delays(run, [delays](std::size_t kind, Tick before, Tick producer, Tick latency) {
    delays[kind] = {before, producer, latency};
  });
  Tick* const start = room_for(run.out.start, plan.ops);
  const RunPlan::Step* step = plan.steps.data();
  Tick in_transfer = 0;
  for (const RunPlan::Turn& turn : plan.turns) {
    Tick last = turn.first_of_device ? 0 : start[turn.first - 1];  // of the operation before
    const std::uint32_t end = turn.first + turn.count;
    for (std::uint32_t op = turn.first; op < end; ++op, ++step) {
      const SimulationScratch::Delays& delay = delays[step->kind];
      const Tick free = last + delay.before;
      const Tick gap = gap_before(*step, delay, start, free);
      start[op] = last = free + gap;
      in_transfer += std::min(gap, delay.latency);
    }
  }
  run.out.in_transfer += in_transfer;
  start_halves_together(plan, run.out.start);
  add_up(run, [start](std::uint32_t op) { return start[op]; });
}

// Two ticks that are reckoned with at once: in one register, where the machine has such.
using TwoTicks = Tick __attribute__((vector_size(2 * sizeof(Tick)), may_alias));
static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= sizeof(TwoTicks));

// A step costs its loads more than its arithmetic: of two runs it takes both with each.
void run_both(const Run& run, const Run& other, const StepsByLevel& by_level, SimulationScratch& scratch) {
  constexpr std::size_t kStart = StepsByLevel::kStartTicks, kDelay = StepsByLevel::kDelayTicks;
  const RunPlan& plan = run.plan;
  scratch.delays_of_both.resize(plan.kinds.size() * kDelay);
  Tick* const delays = scratch.delays_of_both.data();
  const auto put_delays = [delays](std::size_t which) {
    return [delays, which](std::size_t kind, Tick before, Tick producer, Tick latency) {
      Tick* const of_kind = delays + kind * kDelay;
      of_kind[which] = before, of_kind[2 + which] = producer, of_kind[4 + which] = latency;
    };
  };
  find_delays(run, put_delays(0));
  find_delays(other, put_delays(1));
  Tick* const starts = room_for(scratch.starts_of_both, (plan.ops + 1) * kStart);
  const auto two = [](const Tick* at) -> const TwoTicks& { return *reinterpret_cast<const TwoTicks*>(at); };
  constexpr int kSign = std::numeric_limits<Tick>::digits;
  starts[0] = starts[1] = 0;
  Tick in_transfer = 0;
  auto* next = reinterpret_cast<TwoTicks*>(starts) + 1;
  for (const StepsByLevel::Step& step : by_level.steps) {
    const Tick* const delay = delays + step.kind;
    const TwoTicks free = two(starts + step.before) + two(delay);
    const TwoTicks late = two(starts + step.producer) + two(delay + 2) - free;
    const TwoTicks gap = late & ~(late >> kSign);  // at least 0
    *next++ = free + gap;
    in_transfer += std::min<Tick>(gap[0], delay[4]);
  }
  run.out.in_transfer += in_transfer;
  const std::uint32_t* const start_of = by_level.start_of.data();
  Tick* const start = room_for(run.out.start, plan.ops);
  for (std::size_t op = 0; op < plan.ops; ++op) start[op] = starts[start_of[op]];
  add_up(run, [start](std::uint32_t op) { return start[op]; });
  add_up(other, [starts, start_of](std::uint32_t op) { return starts[start_of[op] + 1]; });
}

SimulationStatus stopped(SimulationOutcome outcome) { return {outcome, 0, 0, Op{}}; }

}  // namespace

SimulationStatus simulate(const RunPlan& plan, const PipelineTimes& times, SimulationScratch& scratch,
                          Timeline& out) {
  const Run run{plan, times, scratch.tables, out};
  if (plan.empty()) return stopped(SimulationOutcome::malformed_order);
  const SimulationOutcome outcome = prepare(run);
  if (outcome != SimulationOutcome::finished) return stopped(outcome);
  run_one(run);
  return {};
}

SimulationStatus simulate_both(const RunPlan& plan, const StepsByLevel& steps, const PipelineTimes& times,
                               const PipelineTimes& other, SimulationScratch& scratch, Timeline& out,
                               Timeline& other_out) {
  const Run run{plan, times, scratch.tables, out}, beside{plan, other, scratch.other_tables, other_out};
  if (plan.empty()) return stopped(SimulationOutcome::malformed_order);
  for (const Run* each : {&run, &beside})
    if (const SimulationOutcome outcome = prepare(*each); outcome != SimulationOutcome::finished)
      return stopped(outcome);
  run_both(run, beside, steps, scratch);
  return {};
}

SimulationStatus simulate(const Orders& orders, const PipelineTimes& times, SimulationScratch& scratch,
                          Timeline& out) {
  out.makespan = 0;
  if (const SimulationStatus checked = check_order(orders); !checked) return checked;
  const SimulationOutcome fit = check_times(times, orders.device_of.size(), orders.microbatches);
  if (fit == SimulationOutcome::finished && run_order(orders, times, scratch.order, out)) return {};
  RunPlan plan;
  const SimulationStatus planned = make_run_plan(orders, scratch.planning, plan);
  return planned ? SimulationStatus{fit, 0, 0, Op{}} : planned;
}

void sum_part(const RunPlan& plan, const SimulationScratch::Tables& tables, const Timeline& timeline,
              const std::vector<OpRange>& of_device, PartTotals& out) {
  const std::vector<Tick>& start = timeline.start;
  out.busy.assign(of_device.size(), 0);
  out.last.resize(of_device.size());
  out.in_transfer = 0;
  const RunPlan::Step* steps = plan.steps.data();
  for (const RunPlan::Turn& turn : plan.turns) {
    const RunPlan::Step* const of_turn = steps;
    steps += turn.count;
    const std::uint32_t device = plan.kinds[of_turn->kind].device;
    const OpRange& part = of_device[device];
    const std::size_t first = std::max<std::size_t>(turn.first, part.first);
    const std::size_t end = std::min<std::size_t>(std::size_t{turn.first} + turn.count, part.end);
    if (first >= end) continue;
    // A first half's own start is not in the timeline any more, so that starts are found again.
    Tick last = first == part.first ? start[first - 1] : out.last[device];
    for (std::size_t op = first; op < end; ++op) {
      const RunPlan::Step& step = of_turn[op - turn.first];
      const SimulationScratch::Delays& delay = tables.delays[step.kind];
      const Tick free = last + delay.before;
      const Tick gap = gap_before(step, delay, start.data(), free);
      last = free + gap;
      out.in_transfer += std::min(gap, delay.latency);
      const std::uint32_t before = plan.kinds[step.kind].before;
      if (before == RunPlan::kNoWork) continue;
      out.busy[device] += tables.durations[before];
      out.in_transfer += tables.occupied[before] - tables.durations[before];
    }
    out.last[device] = last;
  }
}

}  // namespace roofscape::engine
