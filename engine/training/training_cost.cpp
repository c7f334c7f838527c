#include "engine/training/training_cost.h"

#include "engine/training/run.h"

namespace roofscape::engine {

namespace {

// For how long something is sent in a block, both directions. Calibrated, what is not issued under the work follows
// it, axis by axis, whatever wire it is on.
template <Scalar S>
S block_network(const Inputs<S>& in, const BlockTime<S>& block) {
  if (!in.calibrated) return block.network_forward + block.network_backward;
  return (block.hidden_forward + block.exposed_forward) + (block.hidden_backward + block.exposed_backward);
}

// Of one microbatch in a layer. Dense layers and those with experts need not wait for the same wire: their mean is not
// what the wires take of their mean transfers.
template <Scalar S>
S layer_network(const Inputs<S>& in, const LayerTime<S>& layer, const StageTime<S>& stage) {
  if (in.calibrated || !stage.has_kinds) return block_network(in, stage.layer);
  return mean_of_kinds(layer.params, block_network(in, stage.kind(LayerKind::dense).layer),
                       block_network(in, stage.kind(LayerKind::experts).layer));
}

// All communication of a step, hidden or not: of the layers, of the vocabulary's blocks, and on the busiest wire of
// what is reduced after a pipeline's last microbatch, or one after the other where the host waits for each. Not a number
// where the speed of a link is not known.
template <Scalar S>
S step_network(const Inputs<S>& in, const LayerTime<S>& layer, const StageTime<S>& stage) {
  S network = stage.layer_passes * layer_network(in, layer, stage);
  const S vocabulary = block_network(in, stage.embedding) + block_network(in, stage.head);
  if (!(value_of(vocabulary) <= 0)) network = network + stage.microbatches * vocabulary / stage.stages;
  unsigned talks = 0;
  for (std::size_t i = 0; i < stage.end_network.size(); ++i)
    talks |= value_of(stage.end_network[i]) <= 0 ? 0u : 1u << i;
  if (stage.muon.sends)
    for (const S& seconds : stage.muon.network)
      if (!(value_of(seconds) <= 0)) network = network + seconds;
  if (talks == 0) return network;
  if (!in.calibration.waits) return network + busiest(layer.wires, stage.end_network, talks, in.zero).time;
  for (std::size_t i = 0; i < stage.end_network.size(); ++i)
    if ((talks >> i & 1u) != 0) network = network + stage.end_network[i];
  return network;
}

template <Scalar S>
void fill_step(const Inputs<S>& in, const LayerTime<S>& layer, const StageTime<S>& stage, const PlanKey& key,
               TrainingCost<S>& out) {
  const S& C = in.chip.peak_flops;
  const S& N = stage.chips;
  model_flops<S>(in, layer.params, key, out);
  step_parts<S>(in, layer, out, stage, stage, stage, stage, key, out);
  finish_step<S>(in, layer, stage, stage, stage.makespan, stage.in_transfer, stage.simulated, key, out);
  const S& B = out.tokens_per_step;

  out.network = named(Q::network_total, step_network(in, layer, stage));

  const S& T = out.step_time;
  out.mfu = named(Q::mfu, utilisation(out.flops_model, N, C, T));
  out.hfu = named(Q::hfu, utilisation(out.flops_hardware, N, C, T));
  out.tokens_per_s = named(Q::tokens_per_s, B / T);
  out.tokens_per_s_per_chip = named(Q::tokens_per_s_per_chip, out.tokens_per_s / N);
  out.run_steps = named(Q::run_steps, in.train_tokens / B);
  out.run_time = named(Q::run_time, out.run_steps * T);
  out.run_days = named(Q::run_days, days_of(out.run_time));
  out.chip_hours = named(Q::run_chip_hours, N * hours_of(out.run_time));
  out.cost_usd = named(Q::run_cost, out.chip_hours * in.chip.price);
  out.energy_kwh = named(Q::run_energy, out.chip_hours * in.chip.power / constant<S>(1000));
  out.stated_days =
      named(Q::stated_run_days, days_of(run_seconds(out.flops_run, in.cluster_chips, C, in.stated_mfu)));
}

}  // namespace

template <Scalar S>
void training_cost(const Inputs<S>& in, const LayerTime<S>& layer, const StageTime<S>& stage, const PlanKey& key,
                   const PipelineReport& pipeline, TrainingCost<S>& out) {
  fill_step(in, layer, stage, key, out);
  chip_memory<S>(in, layer, stage, key, pipeline, out, out);
  bubble<S>(in, stage, out);
}

template void training_cost<double>(const Inputs<double>&, const LayerTime<double>&, const StageTime<double>&,
                                    const PlanKey&, const PipelineReport&, TrainingCost<double>&);
template void training_cost<Traced>(const Inputs<Traced>&, const LayerTime<Traced>&, const StageTime<Traced>&,
                                    const PlanKey&, const PipelineReport&, TrainingCost<Traced>&);

}  // namespace roofscape::engine
