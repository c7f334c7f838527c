#include "engine/training/step_time.h"

#include <algorithm>

#include "engine/model/adapter.h"
#include "engine/scenario/checkpoint_policies.h"
#include "engine/training/optimizer_home.h"

namespace roofscape::engine {

namespace {

// The parts of the step that finish_step adds, and those before them, whose sum is known by then.
constexpr std::size_t kPipelineParts = 9;
static_assert(kStepParts[kPipelineParts] == Q::step_pipeline_transfer);
constexpr std::size_t kHostPart = kStepParts.size() - 1;
static_assert(kStepParts[kHostPart] == Q::step_host && kHostPart == kPipelineParts + 4);

// Exposed communication of one axis over a step, mean of the chips.
template <Scalar S>
S exposed_of(const Inputs<S>& in, const StepCounts<S>& counts, const StageBlocks<S>& blocks, const StageWork<S>& work,
             const EndReduction<S>& end, Axis axis) {
  S exposed = in.zero;
  const bool in_layers = blocks.communicates[axis];
  if (in_layers)
    exposed = work.layer_passes * blocks.layer.exposed[axis] +
              counts.microbatches * blocks.vocab_exposed[axis] / counts.stages;
  if (in_layers && work.pairs) exposed = work.exposed_left * exposed;
  if (!(value_of(end.end_reduction[axis]) <= 0))  // also of a link whose speed is not known
    exposed = in_layers ? exposed + end.end_reduction[axis] : end.end_reduction[axis];
  if (end.muon.sends && !(value_of(end.muon.exposed[axis]) <= 0)) exposed = exposed + end.muon.exposed[axis];
  return exposed;
}

// What the update on the host adds to the step (ZeRO-Offload, Ren et al. 2021). A gradient is final in the backward of
// the last microbatch, where those of a layer are sent under the work of the next; what is reduced after a pipeline's
// last backward is sent then. The update begins when the last gradients are there (their norm scales all of them) and
// takes the host's memory a pass over gradients, weights and state; a layer's weights go up while the next is updated,
// and the next step begins when all are there.
// `waits`: its backward takes as long as its checkpoint does from the host, which the step has then been charged for.
template <Scalar S>
S host_update(const Inputs<S>& in, const LayerTime<S>& layer, const StageBlocks<S>& blocks, const PlanKey& key,
              const StepCost<S>& step, bool waits) {
  const S& pcie = in.achieved.pcie;
  const S updated = host_share(in, step.updated_params);
  const S layers = in.model.n_layers / in.degree(Axis::pipeline).x;
  const S gradients = named(Q::offload_gradients, in.reduced_gradient_bytes * updated / pcie);
  const S update = named(Q::offload_update, step.optimizer_bytes_each * updated / in.chip.host_memory);
  const S& weight = in.adapter.on ? in.adapter.bytes : in.weight_bytes;
  const S weights = named(Q::offload_weights, weight * updated / pcie);
  // A backward that waits for its checkpoint gives the gradients that much longer: they go the other way.
  const bool pipelined = in.degree(Axis::pipeline).n > 1;
  S backward = blocks.layer.backward;
  if (waits) backward = max(backward, layer.activations.checkpoint_bytes / pcie);
  const bool at_the_end =
      pipelined && (in.degree(Axis::data).n > 1 ||
                    (in.links.state.degree > 1 &&
                     state_traffic_of(key.zero_stage, key.keep_gathered, true) == StateTraffic::once_a_step));
  const S late =
      at_the_end ? gradients
                 : named(Q::offload_late, max(gradients / layers, gradients - (layers - constant<S>(1)) * backward));
  const S after = late + (max(update, weights) + min(update, weights) / layers);
  if (!in.muon.on) return named(Q::offload_after, after);
  // Momentum comes up to be made orthogonal, and the update goes back.
  const S momentum =
      named(Q::offload_momentum, constant<S>(2) * in.muon.send_bytes * host_share(in, step.updated_by_muon) / pcie);
  return named(Q::offload_after, after + momentum);
}

// The pass of the chip's own share of the update over HBM.
template <Scalar S>
S chip_update(const Inputs<S>& in, const PlanKey& key, const StepCost<S>& step) {
  const S& W = in.calibrated ? in.calibration.hbm : in.chip.hbm_bandwidth;
  return chip_share(in, key, S(step.optimizer_bytes_each * step.updated_params / W));
}

// Parameters that a token passes through, adapters included.
template <Scalar S>
S active_of(const Inputs<S>& in, const LayerTime<S>& layer) {
  if (!in.adapter.on) return layer.params.active;
  return named(Q::active_with_adapters,
               layer.params.active + in.model.n_layers * adapter_parameters(in, layer.params).active);
}

// Parameters of the model that Muon updates and that ranks hold together, as step_parts has them of all.
template <Scalar S>
S muon_params(const Inputs<S>& in, const LayerTime<S>& layer, bool sharded, const S& shards) {
  const MuonParameters<S>& muon = layer.muon;
  const S all = named(Q::muon_params, in.model.n_layers * muon.layer);
  if (!spreads_experts(in) || (sharded && !experts_reach_data(in))) return all;
  const S rank = all - muon.share * layer.params_absent;
  if (!sharded) return rank;
  return params_of_shards(rank, S(muon.share * layer.params_spread * in.model.n_layers), shards);
}

template <Q part, Scalar S>
void set_part(StepCost<S>& out, const S& x) {
  constexpr std::size_t i = step_part_index(part);
  out.step_parts[i] = named(part, x);
}

}  // namespace

template <Scalar S>
void step_parts(const Inputs<S>& in, const LayerTime<S>& layer, const ModelFlops<S>& model,
                const StepCounts<S>& counts, const StageBlocks<S>& blocks, const StageWork<S>& work,
                const EndReduction<S>& end, const PlanKey& key, StepCost<S>& out) {
  const S& C = in.chip.peak_flops;
  const S& N = counts.chips;
  const S zero = in.zero;
  const bool everything_again = repeats_forward_pass(key.policy, key.flops);
  out.flops_recompute =
      named(Q::flops_recompute_per_step,
            everything_again ? constant<S>(2, unit::flop_each) * active_of(in, layer) * model.tokens_per_step
                             : layer.flops_recompute * work.layer_passes * N);
  out.flops_hardware = named(Q::flops_hardware_per_step, model.flops_model + out.flops_recompute);

  const S& attention = model.flops_attention;
  const bool counts_attention = key.flops != FlopsConvention::six_p;
  const S matmul =
      counts_attention ? named(Q::flops_matmul_per_step, model.flops_model - attention) : model.flops_model;
  if (in.calibrated) {
    const LayerKernels<S>& k = layer.kernels;
    set_part<Q::step_matmul, S>(out, work.layer_passes * (k.matmul_forward + k.matmul_backward) +
                                         counts.microbatches * (k.head_forward + k.head_backward) / counts.stages);
    set_part<Q::step_attention, S>(out, work.layer_passes * (k.attention_forward + k.attention_backward));
    set_part<Q::step_recompute, S>(out, work.layer_passes * k.again);
  } else {
    set_part<Q::step_matmul, S>(out, matmul / (N * C));
    set_part<Q::step_attention, S>(out, counts_attention ? attention / (N * C) : zero);
    set_part<Q::step_recompute, S>(out, out.flops_recompute / (N * C));
  }
  set_part<Q::step_hbm, S>(out, work.layer_passes * blocks.layer.hbm_exposed +
                                    counts.microbatches * blocks.vocab_hbm_exposed / counts.stages);
  const auto expose = [&](Axis axis) { return exposed_of(in, counts, blocks, work, end, axis); };
  set_part<Q::step_data, S>(out, expose(Axis::data));
  set_part<Q::step_fsdp, S>(out, expose(Axis::fsdp));
  set_part<Q::step_tensor, S>(out, expose(Axis::tensor));
  set_part<Q::step_context, S>(out, expose(Axis::context));
  set_part<Q::step_expert, S>(out, expose(Axis::expert));
  // The optimizer reads gradients, weights and its state and writes weights and state: a pass over HBM.
  const S shards = key.zero_stage >= 1 ? counts.state_shards : constant<S>(1);
  const auto moved_by = [&in](const S& state) {
    const S& weight = in.adapter.on ? in.adapter.bytes : in.weight_bytes;
    return constant<S>(2) * (state + weight) + in.reduced_gradient_bytes;
  };
  const S rank = layer.params.total - layer.params_absent;
  S once = key.zero_stage >= 1 ? layer.params.total : rank;
  if (key.zero_stage >= 1 && experts_reach_data(in))
    once = named(Q::params_sharded, params_of_shards(rank, S(layer.params_spread * in.model.n_layers), shards));
  if (in.adapter.on) {
    once = named(Q::params_trained, in.model.n_layers * layer.trained);
    if (key.zero_stage < 1) once = once - layer.trained_absent;
    if (key.zero_stage >= 1 && experts_reach_data(in))
      once = named(Q::params_sharded, params_of_shards(S(once - layer.trained_absent),
                                                       S(layer.trained_spread * in.model.n_layers), shards));
  }
  const S updated = counts.weights_twice ? constant<S>(2) * once : once;
  out.updated_params = named(Q::optimizer_parameters, updated / (in.degree(Axis::tensor).x * counts.stages * shards));
  if (end.muon.on) {
    const S muon = muon_params(in, layer, key.zero_stage >= 1, shards);
    out.updated_by_muon = named(Q::muon_updated, (counts.weights_twice ? constant<S>(2) * muon : muon) /
                                                     (in.degree(Axis::tensor).x * counts.stages * shards));
    const S adam = named(Q::adam_bytes_a_parameter, moved_by(in.optimizer_bytes)),
            one_moment = named(Q::muon_bytes_a_parameter, moved_by(in.muon.bytes));
    const S by_muon = named(Q::muon_updated_share, out.updated_by_muon / out.updated_params);
    out.optimizer_bytes_each =
        named(Q::optimizer_bytes_a_parameter, (constant<S>(1) - by_muon) * adam + by_muon * one_moment);
  } else {
    out.optimizer_bytes_each = named(Q::optimizer_bytes_a_parameter, moved_by(in.optimizer_bytes));
  }
  out.before_pipeline = out.step_parts[0];
  for (std::size_t i = 1; i < kPipelineParts; ++i) out.before_pipeline = out.before_pipeline + out.step_parts[i];
  out.layers_host = in.calibration.hosted
                        ? named(Q::step_layers_host, work.layer_passes * (layer.host.forward + layer.host.backward))
                        : S(zero);
  const bool of_chip = updates_on_chip(in, key);
  S update = of_chip ? chip_update(in, key, out) : zero;
  // Newton-Schulz takes the matrix units of the chip also where the state is on the host.
  if (end.muon.on) update = of_chip ? S(update + end.muon.products) : S(end.muon.products);
  set_part<Q::step_optimizer, S>(out, update);
}

template <Scalar S>
void finish_step(const Inputs<S>& in, const LayerTime<S>& layer, const StageBlocks<S>& blocks,
                 const StageWork<S>& work, const S& makespan, const S& in_transfer, bool simulated,
                 const PlanKey& key, StepCost<S>& out) {
  const S zero = in.zero;
  const bool pipelined = in.degree(Axis::pipeline).n > 1;
  // What a device idles, with a transfer to it under way and without.
  set_part<Q::step_pipeline_transfer, S>(out, in_transfer);
  set_part<Q::step_bubble, S>(out,
                              pipelined && simulated ? bubble_time<S>(makespan, work.work, in_transfer, zero) : zero);
  // Checkpoints go out under the forward and come back under the backward of the layers, which a pipeline has going on
  // at the same time. Out, the gradients follow them on the same links; back, the weights.
  // While the host updates its share the chip updates its own.
  const auto after_backward = [&](bool waits) {
    const S host = host_update(in, layer, blocks, key, out, waits);
    return in.splits_optimizer ? S(max(host - chip_update(in, key, out), zero)) : host;
  };
  S offload = zero;
  if (key.offload_activations) {
    const S seconds =
        named(Q::offload_activations, layer.activations.checkpoint_bytes * work.layer_passes / in.achieved.pcie);
    const S window = named(Q::offload_window, makespan);
    offload = max(seconds - window, zero);
    if (!pipelined)
      offload = max(offload, max(seconds - work.layer_passes * blocks.layer.forward, zero) +
                                 max(seconds - work.layer_passes * blocks.layer.backward, zero));
  }
  if (updates_on_host(key) && !key.offload_activations) {
    offload = after_backward(false);
  } else if (updates_on_host(key)) {
    const S waited = offload + after_backward(true);
    // A pipeline whose other turns cover the checkpoints' way makes no backward wait for them.
    offload = pipelined ? max(waited, after_backward(false)) : waited;
  }
  set_part<Q::step_offload, S>(out, offload);
  const auto part = [&out](std::size_t i) -> const S& { return out.step_parts[kPipelineParts + i]; };
  const S others = without_host<S>(out.before_pipeline, part(0), part(1), part(2), part(3));
  if (!in.calibrated) {  // in ideal mode the host takes no time and is no part of the sum
    set_part<Q::step_host, S>(out, zero);
    out.step_time = named(Q::step_time, others);
    return;
  }
  // The slowest node is waited for in what layers wait for their host, too.
  const bool hosted = in.calibration.hosted;
  set_part<Q::step_host, S>(
      out, hosted ? S(host_time(in, S(others + out.layers_host)) + out.layers_host) : host_time(in, others));
  out.step_time = named(Q::step_time, others + out.step_parts[kHostPart]);
}

template void step_parts<double>(const Inputs<double>&, const LayerTime<double>&, const ModelFlops<double>&,
                                 const StepCounts<double>&, const StageBlocks<double>&, const StageWork<double>&,
                                 const EndReduction<double>&, const PlanKey&, StepCost<double>&);
template void step_parts<Traced>(const Inputs<Traced>&, const LayerTime<Traced>&, const ModelFlops<Traced>&,
                                 const StepCounts<Traced>&, const StageBlocks<Traced>&, const StageWork<Traced>&,
                                 const EndReduction<Traced>&, const PlanKey&, StepCost<Traced>&);
template void finish_step<double>(const Inputs<double>&, const LayerTime<double>&, const StageBlocks<double>&,
                                  const StageWork<double>&, const double&, const double&, bool, const PlanKey&,
                                  StepCost<double>&);
template void finish_step<Traced>(const Inputs<Traced>&, const LayerTime<Traced>&, const StageBlocks<Traced>&,
                                  const StageWork<Traced>&, const Traced&, const Traced&, bool, const PlanKey&,
                                  StepCost<Traced>&);

}  // namespace roofscape::engine
