#include "engine/training/stage_time.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "engine/scenario/mesh_size.h"
#include "engine/training/paired_stages.h"
#include "engine/training/state_traffic.h"

namespace roofscape::engine {

Tick ticks_of(double seconds) {
  const double t = seconds / kTickSeconds;
  if (!(t > 0)) return 0;
  return t > 4e18 ? Tick{4'000'000'000'000'000'000} : static_cast<Tick>(std::llround(t));
}

StageKey stage_key(const Scenario& s) {
  StageKey key;
  key.shape = schedule_shape(s.pipeline, s.pipeline.schedule, s.parallelism.pipeline, microbatch_count(s),
                             s.pipeline.virtual_stages);
  key.layers = layer_split(s);
  // A host that waits for each kernel waits for what it sends, too.
  key.sends = waits_for_kernels(s) ? StageSends::blocking : s.pipeline.sends;
  key.zero_stage = s.parallelism.zero_stage;
  key.keep_gathered = s.parallelism.keep_gathered;
  key.sequence_parallel = s.parallelism.sequence_parallel;
  key.tied_embeddings = s.model.tied_embeddings;
  return key;
}

template <Scalar S>
StepCounts<S> step_counts(const Inputs<S>& in, bool weights_twice) {
  StepCounts<S> cost;
  cost.weights_twice = weights_twice;
  const S& Y = in.degree(Axis::tensor).x;
  const S& p = in.degree(Axis::pipeline).x;
  cost.stages = p;
  cost.data_ranks = named(Q::data_ranks, in.degree(Axis::data).x * in.degree(Axis::fsdp).x);
  cost.state_shards = named(Q::state_shards, in.degree(Axis::fsdp).x * in.degree(Axis::context).x);
  cost.chips =
      named(Q::chips_used, in.degree(Axis::data).x * in.degree(Axis::fsdp).x * Y * in.degree(Axis::context).x * p);
  cost.microbatches =
      named(Q::microbatches, microbatches(in.batch_sequences, cost.data_ranks, in.microbatch_sequences));
  return cost;
}

namespace {

// What hides is judged in each layer; the mean layer's times are the mean of the kinds'. Its network stays that of the
// mean transfers in `out`, as figures have it that draw one layer.
template <Scalar S>
BlockTime<S> mean_block(const Parameters<S>& params, const BlockTime<S>& dense, const BlockTime<S>& experts,
                        BlockTime<S> out) {
  const BlockNames names = layer_names();
  const auto take = [&](Q q, S BlockTime<S>::*time) {
    out.*time = named(q, mean_of_kinds(params, S(dense.*time), S(experts.*time)));
  };
  take(names.work_forward, &BlockTime<S>::work_forward);
  take(names.work_backward, &BlockTime<S>::work_backward);
  take(names.exposed_forward, &BlockTime<S>::exposed_forward);
  take(names.exposed_backward, &BlockTime<S>::exposed_backward);
  take(names.forward, &BlockTime<S>::forward);
  take(names.backward, &BlockTime<S>::backward);
  take(names.hbm_exposed, &BlockTime<S>::hbm_exposed);
  out.hidden_forward = mean_of_kinds(params, dense.hidden_forward, experts.hidden_forward);
  out.hidden_backward = mean_of_kinds(params, dense.hidden_backward, experts.hidden_backward);
  for (std::size_t i = 0; i < out.exposed.size(); ++i)
    out.exposed[i] =
        named(names.exposed, static_cast<int>(i), mean_of_kinds(params, dense.exposed[i], experts.exposed[i]));
  return out;
}

}  // namespace

template <Scalar S>
void stage_blocks(const Inputs<S>& in, const LayerTime<S>& layer, const LinkRates<S>& rates,
                  const StepCounts<S>& counts, const StageKey& key, StageBlocks<S>& cost) {
  const S& Y = in.degree(Axis::tensor).x;
  const bool pipelined = key.shape.stages > 1;
  const S& m = counts.microbatches;

  const Axis state_axis = state_axis_of(in);
  const S& reduced = in.reduced_gradient_bytes;
  // Frozen weights are gathered where ZeRO-3 shards them, and never change.
  const bool frozen = in.adapter.on, gathers = !frozen || key.zero_stage == 3;
  const auto weights_of = [&](const S& rank, const S& trained) {
    if (!frozen) return sent_weight_bytes(in, key.zero_stage) * rank / Y;
    const S adapters = in.adapter.bytes * trained / Y;
    return gathers ? in.gather_bytes * rank / Y + adapters : adapters;
  };
  const auto gradients_of = [&](const S& rank, const S& trained) {
    return frozen ? reduced * trained / Y : reduced * rank / Y;
  };
  cost.weight_bytes = named(Q::gathered_weight_bytes, weights_of(layer.params_rank, layer.trained_rank));
  cost.gradient_bytes = named(Q::gradient_bytes, gradients_of(layer.params_rank, layer.trained_rank));

  Block<S> block = layer.layer;
  AxisMask& talks = cost.communicates;
  talks.fill(false);
  for (const Axis axis : {Axis::tensor, Axis::context}) talks[axis] = in.degree(axis).n > 1;
  talks[Axis::expert] = spreads_experts(in);
  const auto add = [&](Block<S>& b, Axis axis, const S& forward, const S& backward, bool fresh, int which) {
    S f = fresh ? forward : b.comm_forward[axis] + forward;
    S g = fresh ? backward : b.comm_backward[axis] + backward;
    const int index = which < 0 ? static_cast<int>(axis) : which * kAxisCount + static_cast<int>(axis);
    b.comm_forward[axis] = named(which < 0 ? Q::layer_comm_forward : Q::block_comm_forward, index, f);
    b.comm_backward[axis] = named(which < 0 ? Q::layer_comm_backward : Q::block_comm_backward, index, g);
  };
  const bool state_moves =
      in.links.state.degree > 1 && (!pipelined || state_traffic_of(key) != StateTraffic::once_a_step);
  const bool data_moves = in.degree(Axis::data).n > 1 && !pipelined;
  const bool state_is_first = !talks[state_axis];
  OnceAStep<S> once;
  once.microbatches = m;
  once.axes[state_axis] = state_moves && state_traffic_of(key) == StateTraffic::once_a_step;
  once.shared[state_axis] = !state_is_first;
  if (data_moves) once.axes[Axis::data] = true;
  const auto take_once = [&](const BlockTraffic<S>& traffic) {
    if (state_moves)
      once.forward[state_axis] = traffic.state_forward, once.backward[state_axis] = traffic.state_backward;
    if (data_moves) once.forward[Axis::data] = in.zero, once.backward[Axis::data] = traffic.data_backward;
  };
  const auto add_state = [&](Block<S>& b, const S& weight_bytes, const S& gradient_bytes, const S& params_spread,
                             const S& trained_spread) {
    MovedState<S> weights{weight_bytes}, gradients{gradient_bytes};
    if (value_of(params_spread) > 0) {
      weights.spread = gradients.spread = true;
      weights.experts = named(Q::expert_weight_bytes, weights_of(params_spread, trained_spread));
      gradients.experts = named(Q::expert_gradient_bytes, gradients_of(params_spread, trained_spread));
    }
    const BlockTraffic<S> traffic = block_traffic(in, rates, key, weights, gradients, m, counts.state_shards);
    if (state_moves) add(b, state_axis, traffic.state_forward, traffic.state_backward, state_is_first, -1);
    if (data_moves) add(b, Axis::data, in.zero, traffic.data_backward, true, -1);
    take_once(traffic);
  };
  if (state_moves) talks[state_axis] = true;
  if (data_moves) talks[Axis::data] = true;
  add_state(block, cost.weight_bytes, cost.gradient_bytes, layer.params_spread, layer.trained_spread);
  cost.comm_forward = block.comm_forward;
  cost.comm_backward = block.comm_backward;
  const auto host_of = [&in](const auto& of) { return in.calibration.hosted ? &of.host : nullptr; };
  cost.layer = block_time(in, block, talks, once, rates.wires, layer_names(), host_of(layer));
  cost.has_kinds = layer.has_kinds;
  if (layer.has_kinds) {
    for (const LayerKind kind : {LayerKind::dense, LayerKind::experts}) {
      const VariantScope scope(trace_of(in.zero), variant_of(kind));
      const LayerOfKind<S>& of = layer.kind(kind);
      AxisMask kind_talks = talks;
      if (kind == LayerKind::dense) kind_talks[Axis::expert] = false;
      Block<S> b = of.layer;
      add_state(b, named(Q::gathered_weight_bytes, weights_of(of.params_rank, of.trained_rank)),
                named(Q::gradient_bytes, gradients_of(of.params_rank, of.trained_rank)), of.params_spread,
                of.trained_spread);
      cost.kinds[static_cast<std::size_t>(kind)] = {
          block_time(in, b, kind_talks, once, rates.wires, layer_names(), host_of(of)), b.comm_forward,
          b.comm_backward};
    }
    cost.layer =
        mean_block(layer.params, cost.kind(LayerKind::dense).layer, cost.kind(LayerKind::experts).layer, cost.layer);
  }

  // Embedding and head move their own state over the same links.
  AxisMask vocab_talks{};
  const auto vocabulary = [&](int which, Block<S> b, const S& parameters) {
    const MovedState<S> w{frozen && !gathers ? in.zero : sent_weight_bytes(in, key.zero_stage) * parameters / Y},
        g{frozen ? in.zero : reduced * parameters / Y};
    const BlockTraffic<S> state = block_traffic(in, rates, key, w, g, m, counts.state_shards);
    if (state_moves) add(b, state_axis, state.state_forward, state.state_backward, true, which);
    if (data_moves) add(b, Axis::data, in.zero, state.data_backward, true, which);
    take_once(state);
    once.shared[state_axis] = false;
    vocab_talks[state_axis] = state_moves;
    if (data_moves) vocab_talks[Axis::data] = true;
    return block_time(in, b, vocab_talks, once, rates.wires, vocabulary_names(which));
  };
  cost.embedding = vocabulary(kEmbeddingBlock, layer.embedding, layer.params.embedding);
  cost.head = vocabulary(kHeadBlock, layer.head,
                         key.tied_embeddings && !pipelined ? in.model.d_model : layer.params.unembedding);
  cost.vocab_time = named(
      Q::vocab_time, (cost.embedding.forward + cost.embedding.backward) + (cost.head.forward + cost.head.backward));
  cost.vocab_hbm_exposed = named(Q::vocab_hbm_exposed, cost.embedding.hbm_exposed + cost.head.hbm_exposed);
  for (std::size_t i = 0; i < cost.vocab_exposed.size(); ++i)
    cost.vocab_exposed[i] = named(Q::vocab_exposed, static_cast<int>(i),
                                  vocab_talks[i] ? cost.embedding.exposed[i] + cost.head.exposed[i] : in.zero);
}

template <Scalar S>
StageWork<S> stage_work(const Inputs<S>& in, const StepCounts<S>& counts, const StageBlocks<S>& blocks,
                        bool overlaps) {
  const S& m = counts.microbatches;
  const S& p = in.degree(Axis::pipeline).x;
  StageWork<S> cost;
  cost.layer_passes = named(Q::layers_a_stage, m * in.model.n_layers / p);
  cost.work = named(overlaps ? Q::pipeline_work_apart : Q::pipeline_work,
                    cost.layer_passes * (blocks.layer.forward + blocks.layer.backward) + m * blocks.vocab_time / p);
  return cost;
}

template <Scalar S>
StageTicks stage_ticks(const Inputs<S>& in, const LayerTime<S>& layer, const StagePass<S>& pass,
                       const StageLayers<S>& layers, bool first, bool last) {
  const double attention =
      in.calibrated
          ? value_of(layer.kernels.attention_forward)
          : value_of(layer.operations.operations[static_cast<std::size_t>(OperationKind::attention)].flops) /
                value_of(in.chip.peak_flops);
  const Tick backward = ticks_of(value_of(pass.backward));
  // The weight gradient is half of the backward matrix multiplications; attention has none.
  double weight = value_of(layers.all) * (value_of(layer.layer.math_forward) - attention);
  if (layers.by_kind)  // attention is the same in both kinds
    weight = value_of(layers.dense) * (value_of(layer.kind(LayerKind::dense).layer.math_forward) - attention) +
             value_of(layers.experts) * (value_of(layer.kind(LayerKind::experts).layer.math_forward) - attention);
  if (in.adapter.on) {
    weight = value_of(layers.all) * value_of(layer.weight_gradient);
    if (layers.by_kind)
      weight = value_of(layers.dense) * value_of(layer.kind(LayerKind::dense).weight_gradient) +
               value_of(layers.experts) * value_of(layer.kind(LayerKind::experts).weight_gradient);
    first = last = false;
  }
  if (first) weight += value_of(layer.embedding.math_forward);
  if (last) weight += value_of(layer.head.math_forward);
  StageTicks ticks;
  ticks.forward = ticks_of(value_of(pass.forward));
  ticks.backward_weight = std::clamp(ticks_of(weight), Tick{0}, backward);
  ticks.backward_input = backward - ticks.backward_weight;
  return ticks;
}
template StageTicks stage_ticks<double>(const Inputs<double>&, const LayerTime<double>&, const StagePass<double>&,
                                        const StageLayers<double>&, bool, bool);

template <Scalar S>
void stage_times(const Inputs<S>& in, const LayerTime<S>& layer, const StageKey& key, PipelineReport& pipeline,
                 StageTime<S>& cost) {
  const bool pipelined = key.shape.stages > 1;
  static_cast<StepCounts<S>&>(cost) = step_counts(in, holds_weights_twice(key.shape));
  stage_blocks<S>(in, layer, layer, cost, key, cost);
  const bool overlaps = pipelined && overlaps_forward_backward(key.shape.kind) && check_schedule(key.shape).legal();
  static_cast<StageWork<S>&>(cost) = stage_work<S>(in, cost, cost, overlaps);
  end_reduction<S>(in, layer, layer, cost, key, cost);

  // Virtual stages and their times.
  const int virtual_stages = pipelined ? key.shape.stages * passes_per_device(key.shape) : 1;
  split_layers(key.layers, key.shape.kind, virtual_stages, pipeline.layers);
  const std::vector<int>& layers = pipeline.layers;
  if (layer.dense_first) first_layers(layers, key.layers.first_dense, cost.dense_layers);
  // A stage between the first and the last that holds the same layers as the one before it takes the same times.
  const auto like_before = [&](int s) {
    const auto i = static_cast<std::size_t>(s);
    return s > 1 && s < virtual_stages - 1 && layers[i] == layers[i - 1] &&
           (!layer.dense_first || cost.dense_layers[i] == cost.dense_layers[i - 1]);
  };
  cost.stage_layers.clear();
  cost.forward.clear();
  cost.backward.clear();
  for (int s = 0; s < virtual_stages; ++s) {
    const bool first = s == 0, last = s == virtual_stages - 1;
    const auto i = static_cast<std::size_t>(s);
    if constexpr (!std::is_same_v<S, Traced>) {  // a derivation names each stage
      if (like_before(s)) {
        cost.stage_layers.push_back(cost.stage_layers.back());
        cost.forward.push_back(cost.forward.back());
        cost.backward.push_back(cost.backward.back());
        continue;
      }
    }
    StageLayers<S> n{in.model.n_layers};
    if (pipelined) {
      const int dense = layer.dense_first ? cost.dense_layers[i] : 0;
      const auto count = [&in, s](Q q, int layers_of) { return named(q, s, constant<S>(layers_of) + in.zero); };
      n = layer.layers(count(Q::stage_layers, layers[i]), count(Q::stage_dense_layers, dense),
                       count(Q::stage_expert_layers, layers[i] - dense));
      cost.stage_layers.push_back(n);
    }
    const StagePass<S> pass = stage_pass<S>(cost, n, first, last);
    cost.forward.push_back(named(Q::stage_forward, s, pass.forward));
    cost.backward.push_back(named(Q::stage_backward, s, pass.backward));
  }

  if (overlaps) {
    paired_stages<S>(in, layer, cost, key.shape, cost.forward, cost.backward, cost.stage_layers, cost.paired);
    hide_in_pairs<S>(in, cost, cost, cost.paired, cost);
  }
  cost.transfer = cost.transfer_in_node = cost.bubble_time = cost.bubble_to_work = cost.span_bubble =
      cost.even_stages_idle = in.zero;
  cost.makespan = cost.work;
  cost.in_transfer = in.zero;
  cost.simulated = cost.drawn = false;
  pipeline.shape = key.shape;
  pipeline.status = pipelined ? check_schedule(key.shape) : ScheduleStatus{};
  if (!pipelined) return;

  StageTransfers<S> transfers = stage_transfers<S>(in, layer, layer.microbatch_tokens, key.sequence_parallel);
  cost.transfer = named(Q::pipeline_transfer, transfers.transfer);
  if (layer.stages_in_node > 1) cost.transfer_in_node = named(Q::pipeline_transfer_in_node, transfers.in_node);
  if (!pipeline.status.legal()) return;

  PipelineTimes& times = pipeline.times;
  const auto positions = static_cast<std::size_t>(virtual_stage_count(key.shape));
  times.forward.resize(positions);
  times.backward_input.resize(positions);
  times.backward_weight.resize(positions);
  pipeline.recompute.resize(positions);
  times.overlapped.clear();
  set_hops<S>(layer, transfers, times);
  times.blocking_send = blocks_sends(key.sends, key.shape.kind);
  const double peak = value_of(in.chip.peak_flops);
  const double layer_again = in.calibrated ? value_of(layer.kernels.again) : value_of(layer.flops_recompute) / peak;
  const auto stages = static_cast<std::size_t>(virtual_stages);
  for (std::size_t i = 0; i < positions; ++i) {
    const std::size_t s = i < stages ? i : i - stages;  // DualPipe: the second direction again
    const StageLayers<S>& n = cost.stage_layers[s];
    if (like_before(static_cast<int>(s))) {
      times.forward[i] = times.forward[i - 1];
      times.backward_weight[i] = times.backward_weight[i - 1];
      times.backward_input[i] = times.backward_input[i - 1];
      pipeline.recompute[i] = pipeline.recompute[i - 1];
      continue;
    }
    const StageTicks ticks =
        stage_ticks<S>(in, layer, {cost.forward[s], cost.backward[s]}, n, s == 0, s + 1 == stages);
    times.forward[i] = ticks.forward;
    times.backward_weight[i] = ticks.backward_weight;
    times.backward_input[i] = ticks.backward_input;
    // Arithmetic alone, as in the step's part: beyond two forwards, what a block's backward does is a forward again.
    double again = layers[s] * layer_again;
    if (n.by_kind)
      again = value_of(n.dense) * value_of(layer.kind(LayerKind::dense).again) +
              value_of(n.experts) * value_of(layer.kind(LayerKind::experts).again);
    if (in.calibrated) {
      pipeline.recompute[i] = std::min(ticks_of(again), times.backward_input[i]);
      continue;
    }
    const double passes = backward_passes(in);
    if (s == 0) again += value_of(layer.embedding.math_backward) - passes * value_of(layer.embedding.math_forward);
    if (s + 1 == stages) again += value_of(layer.head.math_backward) - passes * value_of(layer.head.math_forward);
    pipeline.recompute[i] = std::min(ticks_of(again), times.backward_input[i]);
  }
  if (overlaps) pair_times<S>(cost.paired, key.shape, times);
}

template StepCounts<double> step_counts<double>(const Inputs<double>&, bool);
template void stage_blocks<double>(const Inputs<double>&, const LayerTime<double>&, const LinkRates<double>&,
                                   const StepCounts<double>&, const StageKey&, StageBlocks<double>&);
template StageWork<double> stage_work<double>(const Inputs<double>&, const StepCounts<double>&,
                                              const StageBlocks<double>&, bool);
template void stage_times<double>(const Inputs<double>&, const LayerTime<double>&, const StageKey&, PipelineReport&,
                                  StageTime<double>&);
template void stage_times<Traced>(const Inputs<Traced>&, const LayerTime<Traced>&, const StageKey&, PipelineReport&,
                                  StageTime<Traced>&);

}  // namespace roofscape::engine
