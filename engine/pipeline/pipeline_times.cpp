#include "engine/pipeline/pipeline_times.h"

namespace roofscape::engine {
namespace {

// All bits that any of the times has: with the sign's, one of them is negative, and none is above it.
Tick bits_of(const std::vector<Tick>& times) {
  Tick bits = 0;
  for (const Tick t : times) bits |= t;
  return bits;
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

}  // namespace roofscape::engine
