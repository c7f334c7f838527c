// Times that a plan's step never goes below, by which a search leaves plans out before it simulates them: in seconds, and
// from the kinds of devices, what pipeline_lower_bound (pipeline_time.h) finds in ticks from all of them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "engine/search/pricing.h"

namespace roofscape::engine {

double Pricer::least_work(const PlacedMesh& mesh, const PricedLayer& layer, bool overlaps) const {
  const StageWork<double> work = stage_work(mesh.in, mesh.counts, layer.still, overlaps);
  if (overlaps) return least_paired_work(mesh.rates, mesh.counts, layer.still, work);
  return work.work * (1 - 1e-9);  // sums in another order than the step's
}

double Pricer::with_host(const PlacedMesh& mesh, double others) {
  if (!mesh.in.calibrated) return others;
  return (others + host_time(mesh.in, others)) * (1 - 1e-12);  // sums in another order than the step's
}

double Pricer::least_end(const PlacedMesh& mesh, const PricedLayer& layer, PricedState& state) {
  // Nothing hides more of the gradients of all layers but the last than a backward without end.
  StageBlocks<double> blocks = *state.blocks;
  blocks.layer.backward = std::numeric_limits<double>::max();  // no layers times it is none
  set_offload_activations(state, false);
  finish_step(mesh.in, layer.cost, blocks, state.work, state.work.work, 0.0, false, state.plan, state.step);
  double end = state.step.step_parts[step_part_index(Q::step_optimizer)] +
               state.step.step_parts[step_part_index(Q::step_offload)];
  for (const double seconds : state.end->end_reduction) end += seconds;
  return std::isnan(end) ? 0 : end * (1 - 1e-9);  // sums in another order than the step's
}

void Pricer::finish_paired(const PlacedMesh& mesh, const PricedLayer& layer, PricedState& state, double makespan,
                           StepCost<double>& step) {
  if (state.paired_work == PricedState::kNotYet)
    state.paired_work =
        std::min(least_paired_work(mesh.rates, mesh.counts, *state.blocks, state.work), state.work.work);
  StageWork<double> work = state.work;
  work.work = state.paired_work;
  step = state.step;
  step.before_pipeline -= state.work.work - work.work;
  finish_step(mesh.in, layer.cost, *state.blocks, work, max(makespan, work.work), 0.0, true, state.plan, step);
}

double Pricer::least_time(const PlacedMesh& mesh, const PricedLayer& layer, PricedState& state, bool overlaps) const {
  const StageBlocks<double>& blocks = *state.blocks;
  const auto exposes = [](const BlockTime<double>& b) { return b.exposed_forward + b.exposed_backward > 0; };
  if (overlaps && (exposes(blocks.layer) || exposes(blocks.embedding) || exposes(blocks.head))) {
    StepCost<double> step;
    finish_paired(mesh, layer, state, 0, step);
    return std::isnan(state.hops.least) ? state.hops.least : step.step_time * (1 - 1e-9);
  }
  finish_step(mesh.in, layer.cost, blocks, state.work, state.work.work, 0.0, false, state.plan, state.step);
  // Without the speed of the links between stages there is no time.
  return std::isnan(state.hops.least) ? state.hops.least : state.step.step_time * (1 - 1e-12);
}

void Pricer::price_input_gradients(const PlacedMesh& mesh, const PricedLayer& layer, PricedState& state) {
  const LayerTime<double>& cost = layer.cost;
  const auto seconds = [&](bool dense, bool at_end) {
    const StageLayers<double> one = cost.layers(1, dense ? 1 : 0);
    const StagePass<double> pass = stage_pass<double>(*state.blocks, one, false, at_end);
    return double(stage_ticks<double>(mesh.in, cost, pass, one, false, at_end).backward_input) * kTickSeconds;
  };
  state.input_gradient = seconds(false, false), state.last_input_gradient = seconds(false, true);
  state.dense_input_gradient = cost.dense_first ? seconds(true, false) : state.input_gradient;
  const bool adds_up = state.input_gradient > 0 && state.last_input_gradient > 0 && state.dense_input_gradient > 0;
  if (!adds_up) state.input_gradient = state.last_input_gradient = state.dense_input_gradient = 0;
}

// Of a split backward: device 0 has no input gradient to compute before one microbatch has been all the way forth and
// back. What its order puts before that (schedule_zero_bubble.cpp), at most, is done meanwhile; all the rest of its
// work follows.
double Pricer::split_makespan(const PlacedMesh& mesh, const LayerTime<double>& layer_cost, const PricedState& state,
                              const DeviceKinds& kinds, const ScheduleShape& shape,
                              const WorkBeforeReturn& before_return) {
  const BlockTime<double>& layer = state.blocks->layer;
  const BlockTime<double>&embedding = state.blocks->embedding, &head = state.blocks->head;
  const bool folded = facts_of(shape.kind).placement == StagePlacement::v;
  const double n = mesh.in.model.n_layers, m = shape.microbatches, p = shape.stages;
  const DeviceKind& device = kinds.kinds.front();
  const double chunk = min(device.layers, kinds.largest_chunk);
  const double hops = folded ? 2 * p - 2 : p - 1;
  // Of the layers behind the first chunk; the last of them has the head.
  const double dense = state.stage.layers.first_dense, dense_behind = max(dense - chunk, 0.0);
  const double way =
      n * layer.forward + embedding.forward + head.forward + dense_behind * state.dense_input_gradient +
      (n - chunk - dense_behind - 1) * state.input_gradient + state.last_input_gradient + 2 * hops * state.hops.least;
  const StageBlocks<double>& blocks = *state.blocks;
  const auto longest = [&blocks](double mean, auto member) {
    return blocks.has_kinds
               ? max(member(blocks.kind(LayerKind::dense).layer), member(blocks.kind(LayerKind::experts).layer))
               : mean;
  };
  const auto forward_of = [](const BlockTime<double>& b) { return b.forward; };
  const auto pass_of = [](const BlockTime<double>& b) { return b.forward + b.backward; };
  double work = blocks.sum(layer_cost.layers(device.layers, device.dense), state.pass, [&](const auto& kind) {
    return pass_of(kind.layer);
  }) + state.first;
  double before = before_return.first_chunk * (chunk * longest(layer.forward, forward_of) + embedding.forward);
  if (folded) {
    work += state.last;
    before += before_return.last_chunk * (chunk * longest(state.pass, pass_of) + state.last);
  }
  return way + m * work - before;
}

// As pipeline_lower_bound (pipeline_time.h), in seconds and from the kinds of devices: when a device can start, what it
// has to do, and, where a backward is one piece, the way of its last gradients back. Latency of transfers is left out.
double Pricer::least_makespan(const PlacedMesh& mesh, const PricedLayer& layer, PricedState& state,
                              const DeviceKinds& kinds, const ScheduleShape& shape) const {
  const StageBlocks<double>& blocks = *state.blocks;
  const double first_f = blocks.embedding.forward;
  double pass = state.pass, first = state.first, last = state.last;
  const double transfer = state.hops.least;
  // In pairs nothing is exposed but what the work of both does not cover.
  const bool overlaps = overlaps_forward_backward(shape.kind);
  if (overlaps) {
    pass = blocks.layer.work_forward + blocks.layer.work_backward;
    first = blocks.embedding.work_forward + blocks.embedding.work_backward;
    last = blocks.head.work_forward + blocks.head.work_backward;
  }
  const double m = shape.microbatches, share = kinds.doubled ? m / 2 : m;
  const bool whole = !splits_backward(shape.kind);
  double makespan = 0;
  if (whole) {
    const double hops = static_cast<double>(shape.stages) * shape.virtual_stages - 1;
    makespan = mesh.in.model.n_layers * pass + first + last + 2 * hops * transfer;
  }
  // Of a device that does not compute while it sends: twice a microbatch and chunk, but where a chunk is an end.
  const bool sends_in_turn = blocks_sends(state.stage.sends, shape.kind) && !overlaps &&
                             facts_of(shape.kind).placement == StagePlacement::looped;
  const double one_hop = (whole ? 2 : 1) * transfer, embedding_before = whole ? first : first_f;
  // Before a device's last chunk is reached the first time, and after it is left the last time, the device has its
  // other chunks to run for one group alone, however long that is on its way around.
  const bool waits_around = whole && !overlaps && !sends_in_turn && runs_in_groups_of_stages(shape);
  const std::size_t devices = sends_in_turn ? kinds.kinds.size() : kinds.decisive;
  const auto of_devices = [&](auto pass_of_layers, auto before_layers) {
    const auto on_the_way = [&](const DeviceKind::Way& way) {
      return before_layers(way.layers, way.dense) + way.hops * one_hop + way.embeddings * embedding_before;
    };
    for (std::size_t k = 0; k < devices; ++k) {
      const DeviceKind& kind = kinds.kinds[k];
      double work = pass_of_layers(kind.layers, kind.dense);
      if (kind.embedding) work += first;
      if (kind.head) work += last;
      double before = on_the_way(kind.before);
      if (waits_around) before = max(before, on_the_way(kind.around));
      if (sends_in_turn) {
        work += (2 * shape.virtual_stages - (kind.embedding ? 1 : 0) - (kind.head ? 1 : 0)) * transfer;
        // Its last send is the first hop of its gradients' way back.
        if (kind.before.hops > 0) before -= transfer;
      }
      makespan = max(makespan, share * work + before);
    }
  };
  if (layer.cost.dense_first) {
    const auto pass_of = [overlaps](const StageBlocks<double>::OfKind& k) {
      return overlaps ? k.layer.work_forward + k.layer.work_backward : k.layer.forward + k.layer.backward;
    };
    const auto passes = [&](double n, double dense) {
      return blocks.sum(layer.cost.layers(n, dense), pass, pass_of);
    };
    of_devices(passes, [&](double n, double dense) {
      return whole ? passes(n, dense) : blocks.sum(layer.cost.layers(n, dense), &BlockTime<double>::forward);
    });
  } else {
    const double one_before = whole ? pass : blocks.layer.forward;
    of_devices([pass](double n, double) { return n * pass; },
               [one_before](double n, double) { return n * one_before; });
  }
  double rounded_layers = 0;
  const std::optional<WorkBeforeReturn> split = whole ? std::nullopt : work_before_return(shape);
  if (split && state.input_gradient == PricedState::kNotYet) price_input_gradients(mesh, layer, state);
  if (split && state.input_gradient > 0 && !overlaps) {
    makespan = max(makespan, split_makespan(mesh, layer.cost, state, kinds, shape, *split));
    rounded_layers = 4 * mesh.in.model.n_layers;
  }
  // The simulation rounds every operation to a tick; sums of doubles differ by less than the last factor.
  const double operations = 2 * (m + shape.stages) * shape.virtual_stages + 4 * shape.stages + rounded_layers;
  return (makespan - operations * kTickSeconds) * (1 - 1e-12);
}

double Pricer::least_of_slower(Tick makespan, const ScheduleShape& shape) {
  const double way = 2.0 * (shape.microbatches + 2 * shape.stages) * shape.virtual_stages;  // operations and hops
  return (double(makespan) - 2 * way) * kTickSeconds * (1 - 1e-12);
}

void Pricer::bound(const PlacedMesh& mesh, const PricedLayer& layer, PricedState& state, const DeviceKinds& kinds,
                   const ScheduleShape& shape, Price& price, double least_s) const {
  const StageBlocks<double>& blocks = *state.blocks;
  if (shape.stages == 1) {
    finish_step(mesh.in, layer.cost, blocks, state.work, state.work.work, 0.0, false, state.plan, state.step);
    price.step_time_s = state.step.step_time;
    price.exact = true;
    return;
  }
  const double makespan = max(least_makespan(mesh, layer, state, kinds, shape), least_s);
  price.exact = false;
  if (overlaps_forward_backward(shape.kind)) {
    StepCost<double> step;
    finish_paired(mesh, layer, state, makespan, step);
    price.step_time_s = step.step_time * (1 - 1e-9);
    return;
  }
  bounds(mesh, layer, state, {&makespan, 1}, {&price.step_time_s, 1});
}

void Pricer::bounds(const PlacedMesh& mesh, const PricedLayer& layer, PricedState& state,
                    std::span<const double> makespans, std::span<double> step_times_s) const {
  // Not below the mean work either: there a shorter makespan would not shorten the step, but lengthen an offload's
  // rest.
  const double work = state.work.work;
  if (state.plan.offload_optimizer || state.plan.offload_activations) {
    for (std::size_t i = 0; i < makespans.size(); ++i) {
      finish_step(mesh.in, layer.cost, *state.blocks, state.work, max(makespans[i], work), 0.0, true, state.plan,
                  state.step);
      step_times_s[i] = state.step.step_time * (1 - 1e-12);
    }
    return;
  }
  // Nothing but the bubble differs.
  const double before = state.step.before_pipeline + state.step.layers_host,
               optimizer = state.step.step_parts[step_part_index(Q::step_optimizer)];
  const bool calibrated = mesh.in.calibrated;
  for (std::size_t i = 0; i < makespans.size(); ++i) {
    const double bubble = bubble_time(max(makespans[i], work), work, 0.0, 0.0);
    const double others = without_host(before, 0.0, bubble, optimizer, 0.0);
    step_times_s[i] = (calibrated ? others + host_time(mesh.in, others) : others) * (1 - 1e-12);
  }
}

}  // namespace roofscape::engine
