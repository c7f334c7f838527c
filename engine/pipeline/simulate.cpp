// Results live in one array indexed by [direction][position][microbatch]. A microbatch passes 2L positions: the
// forwards of its L stages at positions 0 .. L-1, then their backwards at L .. 2L-1 (the backward of stage s at
// 2L-1-s). The op at position q reads entry q, the time at which its input is there, and writes entry q+1; every
// entry has one consumer. A device runs until an entry it needs is not there yet, notes the entry and stops; the op
// that fills the entry puts the device back on the stack. So every op is visited once, and what is left unrun at the
// end is a deadlock.
#include "engine/pipeline/simulate.h"

#include <algorithm>
#include <limits>

namespace roofscape::engine {
namespace {

constexpr Tick kNotYet = std::numeric_limits<Tick>::lowest();
constexpr Tick kLargestTick = std::numeric_limits<Tick>::max() / 4;
constexpr std::size_t kNotWaiting = std::numeric_limits<std::size_t>::max();
constexpr std::uint32_t kNoDevice = 0xffffffffu;

bool all_in_range(const std::vector<Tick>& times, std::size_t stages) {
  return times.size() == stages && std::all_of(times.begin(), times.end(), [](Tick t) { return t >= 0; });
}

SimulationStatus fail(SimulationOutcome outcome, std::uint32_t device = 0, std::uint32_t op = 0) {
  return {outcome, device, op, Op{}};
}

// The positions of stage s of a direction: which entries its ops read and write, and whose device waits for them.
void fill_steps(const Orders& orders, const PipelineTimes& times, std::vector<SimulationScratch::Step>& steps) {
  const std::size_t length = orders.route_length, stages = orders.device_of.size();
  const std::size_t row = orders.microbatches;
  steps.resize(stages * 4);
  for (std::size_t s = 0; s < stages; ++s) {
    const std::size_t base = s / length * (2 * length + 1), position = s % length;
    const std::uint32_t device = orders.device_of[s];
    const bool last = position + 1 == length, first = position == 0;
    const std::uint32_t up = last ? device : orders.device_of[s + 1];
    const std::uint32_t down = first ? kNoDevice : orders.device_of[s - 1];
    SimulationScratch::Step step;
    step.device = device;

    step.duration = times.forward[s];
    step.overlapped = times.overlapped.empty() ? 0 : times.overlapped[s];
    step.input = (base + position) * row;
    step.output = step.input + row;
    step.consumer = up;
    step.latency = up == device ? 0 : times.transfer;
    steps[s * 4 + static_cast<std::size_t>(OpKind::forward)] = step;

    step.overlapped = 0;
    step.input = (base + 2 * length - 1 - position) * row;
    step.output = step.input + row;
    step.consumer = down;
    step.latency = first || down == device ? 0 : times.transfer;
    step.duration = times.backward_input[s];
    steps[s * 4 + static_cast<std::size_t>(OpKind::backward_input)] = step;
    step.duration += times.backward_weight[s];
    steps[s * 4 + static_cast<std::size_t>(OpKind::backward)] = step;

    // The weight gradient looks whether its own input gradient has been done; nobody waits for it.
    step.duration = times.backward_weight[s];
    step.input = step.output;
    step.consumer = kNoDevice;
    step.latency = 0;
    steps[s * 4 + static_cast<std::size_t>(OpKind::backward_weight)] = step;
  }
}

bool well_formed(const Orders& orders) {
  if (orders.route_length == 0 || orders.first.size() < 2 || orders.device_of.size() % orders.route_length != 0)
    return false;
  if (orders.first.front() != 0 || orders.first.back() != orders.ops.size()) return false;
  if (!std::is_sorted(orders.first.begin(), orders.first.end())) return false;
  return std::all_of(orders.device_of.begin(), orders.device_of.end(),
                     [&](std::uint16_t device) { return device < orders.devices(); });
}

// The op whose result an op waits for: the one a position before it.
Op producer_of(const Orders& orders, Op op) {
  const std::uint32_t s = op.stage(), position = s % orders.route_length;
  switch (op.kind()) {
    case OpKind::forward:
      return {OpKind::forward, s - 1, op.microbatch()};
    case OpKind::backward_weight:
      return {OpKind::backward_input, s, op.microbatch()};
    default:
      break;
  }
  if (position + 1 == orders.route_length) return {OpKind::forward, s, op.microbatch()};
  // The backward of the next stage, whole or split as that stage runs it; if it is in no list, named as here.
  const std::uint32_t device = orders.device_of[s + 1];
  for (std::uint32_t i = orders.first[device]; i < orders.first[device + 1]; ++i) {
    const Op other = orders.ops[i];
    if (other.stage() == s + 1 && other.microbatch() == op.microbatch() &&
        (other.kind() == OpKind::backward || other.kind() == OpKind::backward_input))
      return {other.kind(), s + 1, op.microbatch()};
  }
  return {op.kind(), s + 1, op.microbatch()};
}

class Simulation {
 public:
  Simulation(const Orders& orders, const PipelineTimes& times, SimulationScratch& scratch, Timeline& out)
      : orders_(orders), transfer_(times.blocking_send ? times.transfer : 0), scratch_(scratch), out_(out) {
    const std::size_t devices = orders.devices(), stages = orders.device_of.size();
    const std::size_t directions = stages / orders.route_length, row = orders.microbatches;
    const std::size_t rows = 2 * std::size_t{orders.route_length} + 1;
    fill_steps(orders, times, scratch.steps);
    scratch.results.assign(directions * rows * row, kNotYet);
    for (std::size_t d = 0; d < directions; ++d)
      std::fill_n(scratch.results.begin() + static_cast<std::ptrdiff_t>(d * rows * row), row, Tick{0});
    scratch.waiting.assign(devices, kNotWaiting);
    scratch.cursor.assign(orders.first.begin(), orders.first.end() - 1);
    scratch.stack.clear();
    for (std::size_t r = devices; r-- > 0;) scratch.stack.push_back(static_cast<std::uint32_t>(r));
    out.start.resize(orders.ops.size());
    out.busy_until.assign(devices, 0);
    out.makespan = 0;
  }

  SimulationStatus run() {
    std::vector<std::uint32_t>& stack = scratch_.stack;
    while (!stack.empty()) {
      const std::uint32_t device = stack.back();
      stack.pop_back();
      if (!run_device(device)) return fail(SimulationOutcome::malformed_order, device, scratch_.cursor[device]);
    }
    for (std::uint32_t r = 0; r < orders_.devices(); ++r) {
      if (scratch_.cursor[r] != orders_.first[r + 1]) return deadlock(r);
      out_.makespan = std::max(out_.makespan, out_.busy_until[r]);
    }
    return {};
  }

 private:
  using Step = SimulationScratch::Step;

  // Runs as far as inputs allow. False: the op at the cursor is malformed.
  bool run_device(std::uint32_t device) {
    const Op* const ops = orders_.ops.data();
    const Step* const steps = scratch_.steps.data();
    const std::size_t step_count = scratch_.steps.size();
    const std::uint32_t end = orders_.first[device + 1], row = orders_.microbatches;
    Tick* const results = scratch_.results.data();
    Tick* const start = out_.start.data();
    Tick now = out_.busy_until[device];
    std::uint32_t i = scratch_.cursor[device];
    bool good = true;
    for (; i < end; ++i) {
      const Op op = ops[i];
      const std::uint32_t k = op.microbatch();
      if (op.stage_and_kind() >= step_count || k >= row) {
        good = false;
        break;
      }
      const Step& step = steps[op.stage_and_kind()];
      if (step.device != device) {
        good = false;
        break;
      }
      const std::size_t entry = step.input + k;
      const Tick input = results[entry];
      if (input == kNotYet) {
        scratch_.waiting[device] = entry;
        break;
      }
      if (op.joined_with_next()) [[unlikely]] {
        if (i + 1 == end || !joinable(op, ops[i + 1], device)) {
          good = false;
          break;
        }
        const Step& other = steps[ops[i + 1].stage_and_kind()];
        const std::uint32_t other_k = ops[i + 1].microbatch();
        const std::size_t other_entry = other.input + other_k;
        if (results[other_entry] == kNotYet) {
          scratch_.waiting[device] = other_entry;
          break;
        }
        now = std::max({now, input, results[other_entry]});
        start[i] = start[i + 1] = now;
        now += step.overlapped > 0 ? step.overlapped : step.duration + other.duration;
        deliver(step, k, now);
        deliver(other, other_k, now);
        if (step.latency > 0 || other.latency > 0) now += transfer_;
        ++i;
        continue;
      }
      if (op.kind() == OpKind::backward_weight) {  // its input is its own device's: never waits
        start[i] = now;
        now += step.duration;
        continue;
      }
      now = std::max(now, input);
      start[i] = now;
      now += step.duration;
      deliver(step, k, now);
      if (step.latency > 0) now += transfer_;
    }
    scratch_.cursor[device] = i;
    out_.busy_until[device] = now;
    return good;
  }

  void deliver(const Step& step, std::uint32_t k, Tick end) {
    const std::size_t entry = step.output + k;
    scratch_.results[entry] = end + step.latency;
    if (step.consumer != kNoDevice && scratch_.waiting[step.consumer] == entry) {
      scratch_.waiting[step.consumer] = kNotWaiting;
      scratch_.stack.push_back(step.consumer);
    }
  }

  bool joinable(Op first, Op second, std::uint32_t device) const {
    return first.kind() == OpKind::forward && second.kind() == OpKind::backward && !second.joined_with_next() &&
           second.stage_and_kind() < scratch_.steps.size() && second.microbatch() < orders_.microbatches &&
           scratch_.steps[second.stage_and_kind()].device == device;
  }

  // The device at which a chain of waiting devices ends: the one that waits for itself, for an op that is in no list,
  // or, where devices wait in a circle, one of the circle.
  SimulationStatus deadlock(std::uint32_t device) const {
    SimulationStatus status = stuck_at(device);
    for (std::size_t hops = 0; hops < orders_.devices(); ++hops) {
      const std::uint32_t next = orders_.device_of[status.missing.stage()];
      if (next == status.device || scratch_.cursor[next] == orders_.first[next + 1]) break;
      status = stuck_at(next);
    }
    return status;
  }

  SimulationStatus stuck_at(std::uint32_t device) const {
    SimulationStatus status = fail(SimulationOutcome::deadlock, device, scratch_.cursor[device]);
    Op op = orders_.ops[status.op];
    // Of an overlapped pair, the half whose input is missing.
    if (scratch_.results[scratch_.steps[op.stage_and_kind()].input + op.microbatch()] != kNotYet)
      op = orders_.ops[++status.op];
    status.missing = producer_of(orders_, op);
    return status;
  }

  const Orders& orders_;
  const Tick transfer_;  // that the sender, too, is busy with
  SimulationScratch& scratch_;
  Timeline& out_;
};

}  // namespace

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
  if (!all_in_range(times.forward, stages) || !all_in_range(times.backward_input, stages) ||
      !all_in_range(times.backward_weight, stages) || times.transfer < 0 ||
      !(times.overlapped.empty() || all_in_range(times.overlapped, stages)))
    return SimulationOutcome::bad_times;
  // The step is never longer than all its operations and transfers in a row.
  Tick per_microbatch = 0;
  const auto add = [&per_microbatch](Tick t) {
    if (t > kLargestTick - per_microbatch) return false;
    per_microbatch += t;
    return true;
  };
  for (std::size_t s = 0; s < stages; ++s) {
    if (!add(times.forward[s]) || !add(times.backward_input[s]) || !add(times.backward_weight[s]) ||
        !add(times.transfer) || !add(times.transfer) || (!times.overlapped.empty() && !add(times.overlapped[s])))
      return SimulationOutcome::overflow;
  }
  if (per_microbatch > kLargestTick / std::max<Tick>(1, microbatches)) return SimulationOutcome::overflow;
  return SimulationOutcome::finished;
}

SimulationStatus simulate(const Orders& orders, const PipelineTimes& times, SimulationScratch& scratch,
                          Timeline& out) {
  out.makespan = 0;
  if (!well_formed(orders)) return fail(SimulationOutcome::malformed_order);
  const SimulationOutcome times_outcome = check_times(times, orders.device_of.size(), orders.microbatches);
  if (times_outcome != SimulationOutcome::finished) return fail(times_outcome);
  return Simulation(orders, times, scratch, out).run();
}

}  // namespace roofscape::engine
