// What each chip holds: the left-to-right sum of its parts (kMemoryParts), so that parts add up exactly. Weights,
// gradients and optimizer state under ZeRO and offload, activations of the microbatches in flight, buffers, reserve.
#pragma once

#include <array>
#include <vector>

#include "engine/base/scalar.h"
#include "engine/inputs/inputs.h"
#include "engine/pipeline/in_flight.h"
#include "engine/report/report.h"
#include "engine/training/layer_time.h"
#include "engine/training/plan_key.h"
#include "engine/training/stage_time.h"

namespace roofscape::engine {

// Bytes that a device's layers keep of one microbatch: until its backward, and for a weight gradient that is put off.
template <Scalar S>
struct MicrobatchBytes {
  S kept, needed;
};

template <Scalar S>
struct StageMemory {
  int virtual_stages = 0;  // that the device holds; DualPipe: of both directions
  bool embedding = false, head = false;
  StageLayers<S> layers;
  MicrobatchBytes<S> bytes;
  S params;
  S params_gathered;     // of the fewer that ZeRO-3 shards, on one rank of tensor and expert
  S trained_gathered{};  // the same of adapters, where these alone have gradients
  S gathered;            // bytes of weights and gradients that stay gathered (KeepGathered)
  S buffers;             // bytes of those that come and go
  S reserve;             // that software and its allocator keep beside all of these
  std::array<S, kMemoryPartCount> parts;
  S state;  // sum of the first three parts
  S total;
};

// Working memory beside the training state.
template <Scalar S>
struct WorkingMemory {
  S buffers_gathered, buffers_working, buffers_logits;  // of the largest layer
  S largest_checkpoint;                                 // what such a layer keeps of a microbatch
  bool keeps_gathered = false;                          // longer than a microbatch: by device, StageMemory::gathered
};
// What a pipeline device holds and runs: a few kinds of devices cover a pipeline.
template <Scalar S>
struct DeviceLoad {
  int device = 0;
  StageLayers<S> layers;
  S in_flight;  // microbatches held at the peak
  bool embedding = false, head = false;
  bool doubled = false;    // DualPipe: the weights of both directions
  S postponed;             // of those in flight, microbatches whose weight gradients are put off at the peak
  int chunks_in_turn = 1;  // chunks whose microbatches are computed together; 1 also where they alternate
};
inline bool takes_chunks_in_turn(const ScheduleShape& shape) {
  return shape.kind == ScheduleKind::looped_bfs && !shape.order;
}
inline int chunks_in_turn(const ScheduleShape& shape) {
  return takes_chunks_in_turn(shape) ? shape.virtual_stages : 1;
}
// A device with both directions holds one microbatch in half of its layers.
template <Scalar S>
MicrobatchBytes<S> microbatch_bytes(const LayerTime<S>& layer, const DeviceLoad<S>& load) {
  using Activations = LayerActivations<S>;
  StageLayers<S> layers = load.layers;
  if (load.doubled) {
    for (S* n : {&layers.all, &layers.dense, &layers.experts}) *n = *n / constant<S>(2);
  }
  const auto sum = [&](S Activations::*member) {
    return layer.sum(layers, layer.activations.*member,
                     [member](const LayerOfKind<S>& kind) { return kind.activations.*member; });
  };
  return {sum(&Activations::checkpoint_bytes), sum(&Activations::postponed_bytes)};
}
// Which of a device's moments is its peak.
template <Scalar S>
HeldMicrobatches held_at_peak(const HeldMoments& moments, const MicrobatchBytes<S>& bytes, const PlanKey& key) {
  HeldMicrobatches peak = moments.front();
  if (moments.size() == 1) return peak;
  const double kept = key.offload_activations ? 0 : value_of(bytes.kept);
  const double more = value_of(bytes.needed) - kept;
  if (!(more > 0)) return peak;
  for (const HeldMicrobatches& held : moments)
    if (held.all * kept + held.postponed * more > peak.all * kept + peak.postponed * more) peak = held;
  return peak;
}

template <Scalar S>
void working_memory(const Inputs<S>&, const LayerTime<S>&, const PlanKey&, WorkingMemory<S>& out);
// Weights, gradients and optimizer state of a device: the first three parts of `out`, and its parameters.
template <Scalar S>
void state_memory(const Inputs<S>&, const LayerTime<S>&, const StepCounts<S>&, const DeviceLoad<S>&, const PlanKey&,
                  StageMemory<S>& out);
// Of a device: memory.gathered, buffers and reserve, which are the same whatever is in flight.
template <Scalar S>
void hold_buffers(const Inputs<S>& in, const WorkingMemory<S>& buffers, const DeviceLoad<S>& load, const PlanKey& key,
                  StageMemory<S>& memory) {
  if (buffers.keeps_gathered) {
    // Of chunks whose weights come and go two are gathered at a time, as of layers, and the gradients of one.
    const int chunks = key.keep_gathered == KeepGathered::chunk ? load.chunks_in_turn : 1;
    const S both_ways = constant<S>(std::min(2.0 / chunks, 1.0));
    if (in.adapter.on)
      memory.gathered = named(Q::stage_gathered, load.device,
                              in.gather_bytes * both_ways * memory.params_gathered +
                                  (in.adapter.bytes * both_ways + in.reduced_gradient_bytes / constant<S>(chunks)) *
                                      memory.trained_gathered);
    else
      memory.gathered = named(
          Q::stage_gathered, load.device,
          (in.gather_bytes * both_ways + in.reduced_gradient_bytes / constant<S>(chunks)) * memory.params_gathered);
  }
  if (in.calibrated) {
    // The loss is done, and has given its logits back, when the first layer is computed again.
    const S& share = in.calibration[Calibrated::buffer_share];
    S working = share * buffers.buffers_working;
    if (load.head) working = max(working, buffers.buffers_logits);
    memory.buffers = share * buffers.buffers_gathered + working;
    // What stays from the forward to the backward pass leaves no gaps: on an H200, what the driver counts beside what is
    // allocated does not grow with it (tests/bench/gpu).
    memory.reserve = in.reserve_bytes + in.calibration[Calibrated::reserve] +
                     in.calibration[Calibrated::fragmentation] * memory.buffers;
  } else {
    memory.buffers = buffers.buffers_gathered + buffers.buffers_working;
    if (load.head) memory.buffers = memory.buffers + buffers.buffers_logits;
    memory.reserve = in.reserve_bytes;
  }
}
// What all devices have in common in held_in_flight(), whatever they hold.
template <Scalar S>
struct HeldTerms {
  bool offloads_activations = false, keeps_gathered = false;
  S largest_checkpoint;
};
template <Scalar S>
HeldTerms<S> held_terms(const WorkingMemory<S>& buffers, const PlanKey& key) {
  return {key.offload_activations, buffers.keeps_gathered, buffers.largest_checkpoint};
}
// What a device holds beside its state, and the total: with so many microbatches in flight, of which the weight gradients
// of some are put off. Here to be inlined: a search asks it for every plan.
template <Scalar S>
struct HeldInFlight {
  S activations, working, total;
};
template <Scalar S>
HeldInFlight<S> held_in_flight(const HeldTerms<S>& terms, const StageMemory<S>& memory, const S& in_flight,
                               const S& postponed) {
  const MicrobatchBytes<S>& bytes = memory.bytes;
  // On their way to the host the checkpoints of two layers are on the chip.
  S activations = terms.offloads_activations ? constant<S>(2) * terms.largest_checkpoint : in_flight * bytes.kept;
  // A weight gradient that is put off keeps what was computed again for its input gradient.
  if (value_of(postponed) > 0) {
    if (terms.offloads_activations)
      activations = activations + postponed * bytes.needed;
    else if (value_of(bytes.needed) > value_of(bytes.kept))
      activations = activations + postponed * (bytes.needed - bytes.kept);
  }
  // What stays gathered is there as long as the weights are: it neither comes and goes nor leaves gaps.
  const S working = terms.keeps_gathered ? memory.gathered + memory.buffers : S(memory.buffers);
  const S total = memory.state + activations + working + memory.reserve;
  return {activations, working, total};
}
// The other parts and the total, of a device whose bytes of a microbatch are there.
template <Scalar S>
void finish_memory(const Inputs<S>& in, const WorkingMemory<S>& buffers, const DeviceLoad<S>& load,
                   const PlanKey& key, StageMemory<S>& memory) {
  static_assert(kMemoryParts[3] == Q::memory_activations && kMemoryParts[4] == Q::memory_buffers &&
                kMemoryParts[5] == Q::memory_reserve);
  hold_buffers(in, buffers, load, key, memory);
  const HeldInFlight<S> held = held_in_flight(held_terms(buffers, key), memory, load.in_flight, load.postponed);
  memory.parts[3] = held.activations, memory.parts[4] = held.working, memory.parts[5] = memory.reserve;
  memory.total = held.total;
}

extern template void working_memory<double>(const Inputs<double>&, const LayerTime<double>&, const PlanKey&,
                                            WorkingMemory<double>&);
extern template void state_memory<double>(const Inputs<double>&, const LayerTime<double>&, const StepCounts<double>&,
                                          const DeviceLoad<double>&, const PlanKey&, StageMemory<double>&);

// Every device of the pipeline, and the fullest of them with its parts named.
template <Scalar S>
struct ChipMemory {
  std::vector<StageMemory<S>> stages;  // by pipeline device
  std::size_t fullest_stage = 0;
  S memory_free;
  S state_bytes, checkpoints_bytes, job_bytes, minimum_chips;
};
template <Scalar S>
void chip_memory(const Inputs<S>&, const LayerTime<S>&, const StageTime<S>&, const PlanKey&, const PipelineReport&,
                 WorkingMemory<S>& buffers, ChipMemory<S>& out);

}  // namespace roofscape::engine
