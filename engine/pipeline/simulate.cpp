#include "engine/pipeline/simulate.h"

#include <algorithm>
#include <array>

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

// What the steps of each kind wait for, and the busy time of the devices. Visits no operation.
void fill_tables(const RunPlan& plan, const PipelineTimes& times, SimulationScratch::Tables& tables, Timeline& out) {
  const Hops hop(times, plan.last_op.size(), tables.node_of);
  const auto sending = [&times, &hop](const RunPlan::Work& work) {
    const auto to = [&hop, &work](std::uint32_t device) {
      return device == RunPlan::kNoDevice ? 0 : hop(work.device, device);
    };
    return times.blocking_send ? std::max(to(work.receiver), to(work.second_receiver)) : 0;
  };
  tables.durations.resize(plan.works.size());
  tables.occupied.resize(plan.works.size());
  out.busy.assign(plan.last_op.size(), 0);
  out.in_transfer = 0;
  for (std::size_t w = 0; w < plan.works.size(); ++w) {
    const RunPlan::Work& work = plan.works[w];
    if (work.count == 0) continue;  // no step is of it
    const Tick sends = sending(work);
    tables.durations[w] = duration_of(work, times);
    tables.occupied[w] = tables.durations[w] + sends;
    out.busy[work.device] += work.count * tables.durations[w];
    out.in_transfer += work.count * sends;
  }
  tables.delays.resize(plan.kinds.size());
  for (std::size_t k = 0; k < plan.kinds.size(); ++k) {
    const auto [before, producer, device] = plan.kinds[k];
    const Tick free = before == RunPlan::kNoWork ? 0 : tables.occupied[before];
    if (producer == RunPlan::kNoWork) {
      tables.delays[k] = {free, kBeforeAll, 0};
      continue;
    }
    const Tick latency = hop(plan.works[producer].device, device);
    tables.delays[k] = {free, tables.durations[producer] + latency, latency};
  }
}

// One set of times and what comes of it.
struct Run {
  const PipelineTimes& times;
  SimulationScratch::Tables& tables;
  Timeline& out;
};

SimulationOutcome prepare(const RunPlan& plan, const Run& run) {
  const SimulationOutcome outcome = check_times(run.times, plan.stages, plan.microbatches);
  if (outcome != SimulationOutcome::finished) return outcome;
  fill_tables(plan, run.times, run.tables, run.out);
  give_back_unless_needed(run.out.start, plan.ops);
  run.out.start.resize(plan.ops);
  return outcome;
}

void start_halves_together(const RunPlan& plan, std::vector<Tick>& start) {
  for (const std::uint32_t op : plan.first_halves) start[op] = start[op + 1];
}

void add_up(const RunPlan& plan, const Run& run) {
  Timeline& out = run.out;
  out.busy_until.assign(plan.last_op.size(), 0);
  for (std::size_t r = 0; r < plan.last_op.size(); ++r) {
    if (plan.last_work[r] != RunPlan::kNoWork)
      out.busy_until[r] = out.start[plan.last_op[r]] + run.tables.occupied[plan.last_work[r]];
    out.makespan = std::max(out.makespan, out.busy_until[r]);
  }
}

// How long a device that is free at `free` has to wait for the input of a step.
Tick gap_before(const RunPlan::Step& step, const SimulationScratch::Delays& delay, const Tick* start, Tick free) {
  return std::max<Tick>(start[step.producer] + delay.producer - free, 0);
}

// One run or two of an order in one pass: a step costs its loads more than its arithmetic, and both share some.
template <class... Beside>
SimulationStatus run_together(const RunPlan& plan, const Run& run, const Beside&... beside) {
  constexpr std::size_t kBeside = sizeof...(Beside);
  run.out.makespan = 0;
  ((beside.out.makespan = 0), ...);
  if (plan.empty()) return {SimulationOutcome::malformed_order, 0, 0, Op{}};
  for (const Run& each : {run, beside...})
    if (const SimulationOutcome outcome = prepare(plan, each); outcome != SimulationOutcome::finished)
      return {outcome, 0, 0, Op{}};

  using Delays = SimulationScratch::Delays;
  Tick* const start = run.out.start.data();
  const Delays* const delays = run.tables.delays.data();
  [[maybe_unused]] const std::array<Tick*, kBeside> starts_beside{beside.out.start.data()...};
  [[maybe_unused]] const std::array<const Delays*, kBeside> delays_beside{beside.tables.delays.data()...};
  const RunPlan::Step* step = plan.steps.data();
  Tick in_transfer = 0;
  for (const RunPlan::Turn& turn : plan.turns) {
    // Of the operation before.
    Tick last = turn.first_of_device ? 0 : start[turn.first - 1];
    std::array<Tick, kBeside> last_beside{};
    if (!turn.first_of_device)
      for (std::size_t b = 0; b < kBeside; ++b) last_beside[b] = starts_beside[b][turn.first - 1];
    const std::uint32_t end = turn.first + turn.count;
    for (std::uint32_t op = turn.first; op < end; ++op, ++step) {
      const Delays& delay = delays[step->kind];
      const Tick free = last + delay.before;
      const Tick gap = gap_before(*step, delay, start, free);
      start[op] = last = free + gap;
      in_transfer += std::min(gap, delay.latency);
      for (std::size_t b = 0; b < kBeside; ++b) {
        const Delays& other = delays_beside[b][step->kind];
        starts_beside[b][op] = last_beside[b] =
            std::max(last_beside[b] + other.before, starts_beside[b][step->producer] + other.producer);
      }
    }
  }
  run.out.in_transfer += in_transfer;
  start_halves_together(plan, run.out.start);
  for (const Run& each : {run, beside...}) add_up(plan, each);
  return {};
}

}  // namespace

SimulationStatus simulate(const RunPlan& plan, const PipelineTimes& times, SimulationScratch& scratch,
                          Timeline& out) {
  return run_together(plan, Run{times, scratch.tables, out});
}

SimulationStatus simulate_both(const RunPlan& plan, const PipelineTimes& times, const PipelineTimes& other,
                               SimulationScratch& scratch, Timeline& out, Timeline& other_out) {
  return run_together(plan, Run{times, scratch.tables, out}, Run{other, scratch.other_tables, other_out});
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
