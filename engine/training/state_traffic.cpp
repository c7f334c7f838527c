#include "engine/training/state_traffic.h"

#include <cmath>

#include "engine/calibration/collectives.h"
#include "engine/hardware/wires.h"
#include "engine/training/muon.h"

namespace roofscape::engine {

template <Scalar S>
S state_moved(const LinkRates<S>& rates, int zero_stage, const MovedState<S>& bytes, bool expert_copies) {
  const bool whole = zero_stage == 0;
  const S& rate = whole ? rates.reduce_bandwidth[Axis::fsdp] : rates.state_bandwidth;
  if (!bytes.spread) return bytes.all / rate;
  const S rest = (bytes.all - bytes.experts) / rate;
  if (!expert_copies) return rest;
  return rest + bytes.experts / (whole ? rates.expert_state_reduce : rates.expert_state_bandwidth);
}
template <Scalar S>
S data_moved(const Inputs<S>& in, const LinkRates<S>& rates, const MovedState<S>& gradients, const S& shards) {
  const bool sharded = in.links.state.degree > 1;
  const S& rate = rates.reduce_bandwidth[Axis::data];
  if (!gradients.spread) {
    const S whole = all_reduce_time(gradients.all, rate);
    return sharded ? whole / shards : whole;
  }
  const S rest = all_reduce_time(S(gradients.all - gradients.experts), rate);
  const S seconds = sharded ? rest / shards : rest;
  if (in.links.expert_data.degree <= 1) return seconds;
  const S experts = all_reduce_time(gradients.experts, rates.expert_data_reduce);
  return seconds +
         named(Q::expert_reduction, in.links.expert_state.degree > 1 ? experts / rates.expert_copies : experts);
}

template <Scalar S>
BlockTraffic<S> block_traffic(const Inputs<S>& in, const LinkRates<S>& rates, const StageKey& key,
                              const MovedState<S>& weights, const MovedState<S>& gradients, const S& microbatches,
                              const S& shards) {
  const bool sharded = in.links.state.degree > 1, replicated = in.degree(Axis::data).n > 1;
  const bool spread = key.shape.stages == 1;
  BlockTraffic<S> traffic{in.zero, in.zero, in.zero};
  // Every gather and reduction starts once a layer and microbatch, or once a step or chunk where gradients add up first.
  // One of nothing, of adapters that no other rank has, does not start.
  const auto started = [&](const S& sent, const S& latency) {
    return value_of(sent) > 0 ? with_latency(in, sent, latency) : sent;
  };
  const auto moved = [&](const MovedState<S>& bytes, Q q) {
    const S sent = state_moved(rates, key.zero_stage, bytes, in.links.expert_state.degree > 1);
    const S seconds = started(sent, rates.latency[Axis::fsdp]);
    return bytes.spread ? named(q, seconds) : seconds;
  };
  const StateTraffic when = state_traffic_of(key);
  if (sharded && when != StateTraffic::once_a_step) {
    traffic.state_forward = moved(weights, Q::state_gather);
    traffic.state_backward = traffic.state_forward + moved(gradients, Q::state_scatter);
    if (when == StateTraffic::every_chunk) {
      traffic.state_forward = traffic.state_forward / microbatches;
      traffic.state_backward = traffic.state_backward / microbatches;
    }
  } else if (sharded && spread) {
    // Reduced gradients, or updated weights.
    traffic.state_forward =
        (key.zero_stage == 0 ? moved(gradients, Q::state_scatter) : moved(weights, Q::state_gather)) / microbatches;
    traffic.state_backward = moved(gradients, Q::state_scatter) / microbatches;
  }
  if (replicated && spread) {
    const S sent = data_moved(in, rates, gradients, shards);
    const S seconds = started(sent, S(constant<S>(2) * rates.latency[Axis::data]));
    traffic.data_backward = (gradients.spread ? named(Q::state_reduction, seconds) : seconds) / microbatches;
  }
  return traffic;
}

namespace {

// An AllReduce, or a scatter and a gather, starts twice. Calibrated: part of the reduction at the end of a step runs
// under the last backward passes, and gathered weights under the first forward ones; not where the host waits for
// each.
template <Scalar S>
void expose_end(const Inputs<S>& in, const LinkRates<S>& rates, EndReduction<S>& cost) {
  for (const Axis axis : {Axis::data, Axis::fsdp, Axis::context}) {
    S& whole = cost.end_network[axis];
    if (!(value_of(whole) > 0)) continue;
    whole = with_latency(in, whole, S(constant<S>(2) * rates.latency[axis]));
    if (in.calibrated && hides(in, axis)) {
      cost.end_reduction[axis] = named(Q::step_end_reduction, static_cast<int>(axis),
                                       (constant<S>(1) - in.calibration[hidden_at_end(axis)]) * whole);
    } else {
      whole = named(Q::step_end_reduction, static_cast<int>(axis), whole);
      cost.end_reduction[axis] = whole;
    }
  }
}

// Reductions on wires of their own run at the same time, as transfers inside layers do: the busiest wire is what the
// step waits for, and the axes that it does not carry add nothing. Where the host waits for each of them, they are
// one after the other.
template <Scalar S>
void keep_busiest(const Wires<S>& wires, EndReduction<S>& cost, const S& zero) {
  unsigned talks = 0;
  for (std::size_t i = 0; i < cost.end_reduction.size(); ++i) {
    const double seconds = value_of(cost.end_reduction[i]);
    if (std::isnan(seconds)) return;  // of a link that is not known
    if (seconds > 0) talks |= 1u << i;
  }
  if ((talks & (talks - 1)) == 0) return;  // one axis at most
  const Busiest<S> wire = busiest(wires, cost.end_reduction, talks, zero);
  for (std::size_t i = 0; i < cost.end_reduction.size(); ++i) {
    S& end = cost.end_reduction[i];
    if ((talks >> i & 1u) == 0 || (wire.whole >> i & 1u) != 0) continue;
    if ((wire.part >> i & 1u) != 0)
      end = named(Q::step_end_reduction, static_cast<int>(i), wires.share[i] * end);
    else
      end = zero;
  }
}

}  // namespace

namespace {

template <Scalar S>
S frozen_held(const Inputs<S>&, const LayerTime<S>& layer, const StepCounts<S>& counts) {
  const S rank = layer.params.total - layer.params_absent;
  return named(Q::frozen_held, counts.weights_twice ? constant<S>(2) * rank : rank);
}

}  // namespace

template <Scalar S>
void end_reduction(const Inputs<S>& in, const LayerTime<S>& layer, const LinkRates<S>& rates,
                   const StepCounts<S>& counts, const StageKey& key, EndReduction<S>& cost) {
  const S& Y = in.degree(Axis::tensor).x;
  const S& p = in.degree(Axis::pipeline).x;
  const bool pipelined = key.shape.stages > 1;
  const S& reduced = in.reduced_gradient_bytes;
  const Axis state_axis = state_axis_of(in);
  // What is left to reduce when the last microbatch of a pipeline is through: nothing hides it.
  cost.end_network.fill(in.zero);
  cost.muon.on = cost.muon.sends = false;
  if (in.muon.on) muon_work(in, layer, rates, counts, key, cost.muon);
  if (pipelined) {
    // Adapters alone have gradients, and only they are sent again where weights are not sharded.
    const bool frozen = in.adapter.on, base = !frozen || key.zero_stage == 3;
    const S once = named(Q::params_held, frozen ? in.model.n_layers * layer.trained - layer.trained_absent
                                                : layer.params.total - layer.params_absent);
    const S held = counts.weights_twice ? constant<S>(2) * once : once;
    cost.mean_gradient_bytes = named(Q::stage_gradient_bytes, reduced * held / (Y * p));
    const bool spread = spreads_experts(in);
    S held_spread = in.zero;
    MovedState<S> gradients{cost.mean_gradient_bytes};
    if (spread) {
      const S experts = (frozen ? layer.trained_spread : layer.params_spread) * in.model.n_layers;
      held_spread = named(Q::params_held_spread, counts.weights_twice ? constant<S>(2) * experts : experts);
      cost.expert_gradient_bytes = named(Q::stage_expert_gradient_bytes, reduced * held_spread / (Y * p));
      gradients = {cost.mean_gradient_bytes, cost.expert_gradient_bytes, true};
    }
    const bool sharded = in.links.state.degree > 1;
    if (sharded && state_traffic_of(key) == StateTraffic::once_a_step) {
      const S& gathered = key.zero_stage == 0 ? reduced
                          : frozen            ? in.adapter.bytes
                                              : sent_weight_bytes(in, key.zero_stage);
      S updated = gathered * held / (Y * p);
      if (frozen && base) updated = updated + in.gather_bytes * frozen_held(in, layer, counts) / (Y * p);
      const S update = named(Q::stage_update_bytes, updated);
      if (frozen) cost.update_bytes = update;
      MovedState<S> moved{cost.mean_gradient_bytes + update};
      if (spread) {
        S of_experts = (reduced + gathered) * held_spread / (Y * p);
        if (frozen && base) {
          const S experts = named(Q::frozen_held_spread, layer.params_spread * in.model.n_layers);
          const S both = counts.weights_twice ? constant<S>(2) * experts : experts;
          of_experts = of_experts + in.gather_bytes * both / (Y * p);
        }
        moved = {moved.all, named(Q::stage_expert_update_bytes, of_experts), true};
        if (frozen) cost.expert_update_bytes = moved.experts - cost.expert_gradient_bytes;
      }
      cost.end_network[state_axis] =
          named(Q::step_end_reduction, static_cast<int>(state_axis),
                state_moved(rates, key.zero_stage, moved, in.links.expert_state.degree > 1));
    }
    if (in.degree(Axis::data).n > 1)
      cost.end_network[Axis::data] = named(Q::step_end_reduction, static_cast<int>(Axis::data),
                                           data_moved(in, rates, gradients, counts.state_shards));
  }
  cost.end_reduction = cost.end_network;
  if (!pipelined) return;
  expose_end(in, rates, cost);
  if (!in.calibration.waits) keep_busiest(rates.wires, cost, in.zero);
}

template double state_moved<double>(const LinkRates<double>&, int, const MovedState<double>&, bool);
template Traced state_moved<Traced>(const LinkRates<Traced>&, int, const MovedState<Traced>&, bool);
template double data_moved<double>(const Inputs<double>&, const LinkRates<double>&, const MovedState<double>&,
                                   const double&);
template BlockTraffic<double> block_traffic<double>(const Inputs<double>&, const LinkRates<double>&, const StageKey&,
                                                    const MovedState<double>&, const MovedState<double>&,
                                                    const double&, const double&);
template BlockTraffic<Traced> block_traffic<Traced>(const Inputs<Traced>&, const LinkRates<Traced>&, const StageKey&,
                                                    const MovedState<Traced>&, const MovedState<Traced>&,
                                                    const Traced&, const Traced&);
template void end_reduction<double>(const Inputs<double>&, const LayerTime<double>&, const LinkRates<double>&,
                                    const StepCounts<double>&, const StageKey&, EndReduction<double>&);
template void end_reduction<Traced>(const Inputs<Traced>&, const LayerTime<Traced>&, const LinkRates<Traced>&,
                                    const StepCounts<Traced>&, const StageKey&, EndReduction<Traced>&);

}  // namespace roofscape::engine
