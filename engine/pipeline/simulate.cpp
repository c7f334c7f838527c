#include "engine/pipeline/simulate.h"

#include <algorithm>
#include <array>

#include "engine/base/kept_memory.h"

namespace roofscape::engine {
namespace {

// Added to any time, before all others: of an operation that waits for no other device.
constexpr Tick kBeforeAll = -2 * kLongestRow;

// All bits that any of the times has: with the sign's, one of them is negative, and none is above it.
Tick bits_of(const std::vector<Tick>& times) {
  Tick bits = 0;
  for (const Tick t : times) bits |= t;
  return bits;
}

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

Tick hops_along(const PipelineTimes& times, int devices) {
  const Tick all = std::max(0, devices - 1), node = times.node_devices;
  if (node <= 1) return all * times.transfer;
  const Tick between = all / node;
  return between * times.transfer + (all - between) * times.transfer_in_node;
}

Tick duration_of(const PipelineTimes& times, std::uint32_t stage, OpKind kind) {
  switch (kind) {
    case OpKind::forward:
      return times.forward[stage];
    case OpKind::backward:
      return times.backward_input[stage] + times.backward_weight[stage];
    case OpKind::backward_input:
      return times.backward_input[stage];
    case OpKind::backward_weight:
      break;
  }
  return times.backward_weight[stage];
}

Tick duration_of_pair(const PipelineTimes& times, std::uint32_t forward, std::uint32_t backward) {
  Tick overlapped = 0;
  if (!times.overlapped.empty()) {
    const std::size_t stages = times.forward.size(), partners = times.overlapped.size() / stages;
    const std::size_t chunk = partners == 1 ? 0 : backward / (stages / partners);
    overlapped = times.overlapped[forward * partners + chunk];
  }
  if (overlapped > 0) return overlapped;
  return duration_of(times, forward, OpKind::forward) + duration_of(times, backward, OpKind::backward);
}

PipelineTimes even_times(const ScheduleShape& shape, Tick forward, Tick backward_input, Tick backward_weight,
                         Tick transfer, Tick overlapped) {
  PipelineTimes times;
  if (!check_schedule(shape)) return times;
  const Tick parts = passes_per_device(shape);
  const auto stages = static_cast<std::size_t>(virtual_stage_count(shape));
  const auto part = [parts](Tick whole) { return whole / parts + (whole % parts * 2 >= parts ? 1 : 0); };
  times.forward.assign(stages, part(forward));
  times.backward_input.assign(stages, part(backward_input));
  times.backward_weight.assign(stages, part(backward_weight));
  if (overlapped != 0) times.overlapped.assign(stages, part(overlapped));
  times.transfer = transfer;
  return times;
}

SimulationOutcome check_times(const PipelineTimes& times, std::size_t stages, std::uint32_t microbatches) {
  const std::size_t pairs = times.overlapped.size();
  if (times.forward.size() != stages || times.backward_input.size() != stages ||
      times.backward_weight.size() != stages || pairs % stages != 0 || times.node_devices < 1)
    return SimulationOutcome::bad_times;
  const Tick bits = bits_of(times.forward) | bits_of(times.backward_input) | bits_of(times.backward_weight) |
                    bits_of(times.overlapped) | times.transfer | times.transfer_in_node;
  if (bits < 0) return SimulationOutcome::bad_times;
  // Most steps are far from the limit.
  const auto times_in_a_row = static_cast<Tick>(5 * stages + pairs) * std::max<Tick>(1, microbatches);
  if (bits <= kLongestRow / times_in_a_row) return SimulationOutcome::finished;
  // The step is never longer than all its operations and transfers in a row.
  Tick per_microbatch = 0;
  const auto add = [&per_microbatch](Tick t) {
    if (t > kLongestRow - per_microbatch) return false;
    per_microbatch += t;
    return true;
  };
  for (std::size_t s = 0; s < stages; ++s) {
    if (!add(times.forward[s]) || !add(times.backward_input[s]) || !add(times.backward_weight[s]) ||
        !add(times.longest_hop()) || !add(times.longest_hop()))
      return SimulationOutcome::overflow;
  }
  for (const Tick pair : times.overlapped)
    if (!add(pair)) return SimulationOutcome::overflow;
  if (per_microbatch > kLongestRow / std::max<Tick>(1, microbatches)) return SimulationOutcome::overflow;
  return SimulationOutcome::finished;
}

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
  const SimulationStatus planned = make_run_plan(orders, scratch.planning, scratch.plan);
  return planned ? simulate(scratch.plan, times, scratch, out) : planned;
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
