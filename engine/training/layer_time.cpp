#include "engine/training/layer_time.h"

#include "engine/calibration/collectives.h"
#include "engine/model/adapter.h"
#include "engine/model/expert_routing.h"
#include "engine/scenario/checkpoint_policies.h"
#include "engine/scenario/mesh_size.h"
#include "engine/training/muon.h"

namespace roofscape::engine {

namespace {

// Means of what the step reads of kernels; what is of the model's ends or the same in both kinds stays.
template <Scalar S>
LayerKernels<S> mean_kernels(const Parameters<S>& params, const LayerKernels<S>& dense,
                             const LayerKernels<S>& experts, LayerKernels<S> out) {
  for (S LayerKernels<S>::*time :
       {&LayerKernels<S>::matmul_forward, &LayerKernels<S>::matmul_backward, &LayerKernels<S>::attention_forward,
        &LayerKernels<S>::attention_backward, &LayerKernels<S>::vector_forward, &LayerKernels<S>::vector_backward,
        &LayerKernels<S>::again, &LayerKernels<S>::issue})
    out.*time = mean_of_kinds(params, S(dense.*time), S(experts.*time));
  for (std::size_t i = 0; i < out.forward.size(); ++i) {
    out.forward[i] = mean_of_kinds(params, dense.forward[i], experts.forward[i]);
    out.backward[i] = mean_of_kinds(params, dense.backward[i], experts.backward[i]);
  }
  return out;
}

// Calibrated: kernels follow each other, so the traffic of vector operations is work of its own (block_time.h).
template <Scalar S>
void take_kernel_times(const Inputs<S>& in, const S& again, LayerTime<S>& cost) {
  const LayerKernels<S>& k = cost.kernels;
  cost.layer.math_forward = named(Q::layer_math_forward, k.matmul_forward + k.attention_forward);
  cost.layer.math_backward = named(Q::layer_math_backward, k.matmul_backward + k.attention_backward + k.again);
  cost.layer.hbm_forward = named(Q::layer_hbm_forward, k.vector_forward);
  cost.layer.hbm_backward = named(Q::layer_hbm_backward, k.vector_backward);
  // Of a layer's kernels forward; of those of both gradients, and those run again.
  const S passes_backward = constant<S>(2) + again;
  if (in.calibration.waits) {
    cost.host.forward = named(Q::layer_host_forward, S(k.issue));
    cost.host.backward = named(Q::layer_host_backward, passes_backward * k.issue);
  } else if (in.calibration.issues) {
    // A host that starts kernels more slowly than the chip runs them sets the pace.
    const auto idle = [&](const S& starts, const S& math, const S& hbm) { return max(starts - math - hbm, in.zero); };
    cost.host.forward = named(Q::layer_host_forward, idle(k.issue, cost.layer.math_forward, cost.layer.hbm_forward));
    cost.host.backward = named(Q::layer_host_backward,
                               idle(passes_backward * k.issue, cost.layer.math_backward, cost.layer.hbm_backward));
  }
  cost.head.math_forward = k.head_forward;
  cost.head.math_backward = k.head_backward;
  cost.head.hbm_forward = k.head_vector_forward;
  cost.head.hbm_backward = k.head_vector_backward;
  const S zero = k.embedding_forward - k.embedding_forward;
  cost.embedding.math_forward = named(Q::block_math_forward, kEmbeddingBlock, zero);
  cost.embedding.math_backward = named(Q::block_math_backward, kEmbeddingBlock, zero);
  cost.embedding.hbm_forward = k.embedding_forward;
  cost.embedding.hbm_backward = k.embedding_backward;
}

}  // namespace

template <Scalar S>
LinkRates<S> link_rates(const Inputs<S>& in) {
  LinkRates<S> rates;
  rates.bandwidth.fill(in.zero);
  for (const Axis axis : {Axis::data, Axis::tensor, Axis::context}) {
    if (in.degree(axis).n > 1)
      rates.bandwidth[axis] =
          named(Q::axis_bandwidth, static_cast<int>(axis),
                gather_bandwidth(in.links[axis], in.torus_axes[axis], group_rates(in, in.links[axis])));
  }
  rates.state_bandwidth = in.zero;
  if (in.links.state.degree > 1) {
    rates.state_bandwidth = named(Q::axis_bandwidth, static_cast<int>(Axis::fsdp),
                                  gather_bandwidth(in.links.state, in.torus_axes[Axis::fsdp], in.achieved));
    rates.bandwidth[Axis::fsdp] = rates.state_bandwidth;
  }
  if (in.degree(Axis::pipeline).n > 1)
    rates.bandwidth[Axis::pipeline] = named(Q::axis_bandwidth, static_cast<int>(Axis::pipeline),
                                            send_bandwidth(in.links[Axis::pipeline], in.achieved));

  rates.reduce_bandwidth = rates.bandwidth;
  for (const Axis axis : {Axis::data, Axis::tensor})
    if (in.degree(axis).n > 1 && reduces_in_network(in.links[axis]))
      rates.reduce_bandwidth[axis] =
          named(Q::axis_reduce_bandwidth, static_cast<int>(axis), reduce_bandwidth(in.links[axis], in.achieved));
  if (in.links.state.degree > 1 && reduces_in_network(in.links.state))
    rates.reduce_bandwidth[Axis::fsdp] =
        named(Q::axis_reduce_bandwidth, static_cast<int>(Axis::fsdp), reduce_bandwidth(in.links.state, in.achieved));
  rates.expert_state_bandwidth = rates.expert_state_reduce = rates.expert_data_reduce = in.zero;
  if (spreads_experts(in)) {
    const VariantScope scope(trace_of(in.zero), variant_of(LayerKind::experts));
    const auto reduces = [&](Axis axis, const AxisLinks& links, const S& gather) {
      return reduces_in_network(links)
                 ? named(Q::axis_reduce_bandwidth, static_cast<int>(axis), reduce_bandwidth(links, in.achieved))
                 : gather;
    };
    const auto gathers = [&](Axis axis, const AxisLinks& links) {
      return named(
          Q::axis_bandwidth, static_cast<int>(axis),
          gather_bandwidth(
              links, torus_axes_of<S>(links, Q::torus_axes, trace_of(in.zero), "ranks that hold the same experts"),
              group_rates(in, links)));
    };
    if (const AxisLinks& links = in.links.expert_state; links.degree > 1) {
      rates.expert_state_bandwidth = gathers(Axis::fsdp, links);
      rates.expert_state_reduce = reduces(Axis::fsdp, links, rates.expert_state_bandwidth);
      rates.expert_copies = input_leaf<S>(trace_of(in.zero), Q::group_ranks, static_cast<int>(Axis::fsdp),
                                          links.degree, "ranks of the state shards that hold the same experts");
    }
    if (const AxisLinks& links = in.links.expert_data; links.degree > 1)
      rates.expert_data_reduce = reduces(Axis::data, links, gathers(Axis::data, links));
  }
  rates.latency.fill(in.zero);
  const auto latency = [&](Axis axis, const AxisLinks& links) {
    if (links.degree > 1)
      rates.latency[axis] = named(Q::axis_latency, static_cast<int>(axis),
                                  axis == Axis::pipeline ? send_latency(in, links) : collective_latency(in, links));
  };
  for (const Axis axis : {Axis::data, Axis::tensor, Axis::context, Axis::expert, Axis::pipeline})
    latency(axis, in.links[axis]);
  latency(Axis::fsdp, in.links.state);
  const AxisLinks& pipeline = in.links[Axis::pipeline];
  rates.in_node_bandwidth = rates.in_node_latency = in.zero;
  if (const AxisLinks node = links_in_node(pipeline); node.degree > 1) {
    rates.stages_in_node = node.degree;
    rates.in_node_bandwidth = named(Q::pipeline_in_node_bandwidth, send_bandwidth(node, in.achieved));
    rates.in_node_latency = send_latency(in, node);
  }
  rates.wires = wires_of(in.links, in.axes_overlap, in.achieved);
  return rates;
}

namespace {

// Arithmetic and traffic at the data sheet's rates where weights are frozen: backward, their products give the gradient
// of their inputs alone; attention and the adapters take twice their forward.
template <Scalar S>
void frozen_layer(const Inputs<S>& in, const S& bytes_again, LayerTime<S>& cost) {
  const LayerOperations<S>& ops = cost.operations;
  const S& C = in.chip.peak_flops;
  const S& W = in.chip.hbm_bandwidth;
  const S& attention = ops.operations[static_cast<std::size_t>(OperationKind::attention)].flops;
  const S two = constant<S>(2);
  Block<S>& layer = cost.layer;
  layer.math_forward = named(Q::layer_math_forward, (ops.flops_forward + ops.adapter_flops) / C);
  layer.math_backward = named(Q::layer_math_backward,
                              (ops.flops_forward + attention + two * ops.adapter_flops + cost.flops_recompute) / C);
  layer.hbm_forward = named(Q::layer_hbm_forward, ops.hbm_bytes_forward / W);
  cost.hbm_bytes_backward =
      named(Q::layer_hbm_bytes_backward, two * ops.hbm_bytes_forward - ops.frozen_bytes + bytes_again);
  layer.hbm_backward = named(Q::layer_hbm_backward, cost.hbm_bytes_backward / W);
  cost.weight_gradient =
      named(Q::layer_weight_gradient, in.calibrated ? S(cost.kernels.weight_gradient) : ops.adapter_flops / C);
}

// Of a model whose layers are alike, or are taken as the mean layer.
template <Scalar S>
LayerTime<S> layer_time_of_all(const Inputs<S>& in, const LinkRates<S>& rates, const LayerKey& key,
                               ContextMethod method) {
  LayerTime<S> cost;
  static_cast<LinkRates<S>&>(cost) = rates;
  cost.params = count_parameters(in.model);
  const Degree<S>& tensor = in.degree(Axis::tensor);
  const Degree<S>& context = in.degree(Axis::context);
  cost.microbatch_tokens =
      named(Q::microbatch_tokens, microbatch_tokens(in.microbatch_sequences, in.sequence_length, context.x));
  const S& t = cost.microbatch_tokens;
  cost.operations = layer_operations(in, cost.params, key, t);
  cost.activations = layer_activations(in, key, t);

  // Recomputation: in the 6 P convention a block checkpoint repeats the whole forward pass (8 P); otherwise what the
  // policy drops is computed again, operation by operation.
  const RecomputedOperations again = recomputed_operations(key);
  const bool everything = repeats_forward_pass(key.policy, key.flops);
  S flops_again = in.zero, bytes_again = in.zero;
  for (std::size_t i = 0; i < again.size(); ++i) {
    if (!again[i]) continue;
    if (!is_vector_operation(static_cast<OperationKind>(i)))
      flops_again = flops_again + cost.operations.operations[i].flops;
    bytes_again = bytes_again + cost.operations.operations[i].hbm_bytes;
  }
  cost.recompute_times = recompute_times(in, key);
  const bool repeated = facts_of(key.policy).repeats == Repeats::layers_counted;
  if (repeated) {
    flops_again = cost.recompute_times * cost.operations.flops_forward;
    bytes_again = cost.recompute_times * cost.operations.hbm_bytes_forward;
  }
  if (in.adapter.on) {
    for (std::size_t i = 0; i < again.size() && !repeated; ++i)
      if (again[i]) bytes_again = bytes_again + cost.operations.adapters[i].hbm_bytes;
    if (repeated || everything)
      flops_again = (everything ? constant<S>(1) : S(cost.recompute_times)) *
                    (cost.operations.flops_forward + cost.operations.adapter_flops);
    else
      for (std::size_t i = 0; i < again.size(); ++i)
        if (again[i]) flops_again = flops_again + cost.operations.adapters[i].flops;
    cost.flops_recompute = named(Q::layer_flops_recompute, flops_again);
  } else {
    cost.flops_recompute = named(Q::layer_flops_recompute, everything ? cost.operations.flops_forward : flops_again);
  }

  const S two = constant<S>(2), gradients = constant<S>(kBackwardOverForward);
  if (in.calibrated) cost.kernels = layer_kernels(in, cost.params, key, cost.operations, t, cost.recompute_times);
  const S& C = in.chip.peak_flops;
  const S& W = in.chip.hbm_bandwidth;
  Block<S>& layer = cost.layer;
  if (in.adapter.on) {
    frozen_layer(in, bytes_again, cost);
  } else {
    layer.math_forward = named(Q::layer_math_forward, cost.operations.flops_forward / C);
    layer.math_backward =
        named(Q::layer_math_backward, (gradients * cost.operations.flops_forward + cost.flops_recompute) / C);
    layer.hbm_forward = named(Q::layer_hbm_forward, cost.operations.hbm_bytes_forward / W);
    cost.hbm_bytes_backward =
        named(Q::layer_hbm_bytes_backward, gradients * cost.operations.hbm_bytes_forward + bytes_again);
    layer.hbm_backward = named(Q::layer_hbm_backward, cost.hbm_bytes_backward / W);
  }

  const S passes = constant<S>(backward_passes(in) + (everything ? 1 : 0));
  const auto vocabulary = [&](int which, const S& flops, const S& bytes) {
    Block<S> block;
    block.math_forward = named(Q::block_math_forward, which, flops / C);
    block.math_backward = named(Q::block_math_backward, which, passes * flops / C);
    block.hbm_forward = named(Q::block_hbm_forward, which, bytes / W);
    // Nothing comes out of the gradient of a frozen embedding's input.
    const S back = !in.adapter.on ? gradients : constant<S>(which == kEmbeddingBlock ? 0 : 1);
    block.hbm_backward = named(Q::block_hbm_backward, which, back * bytes / W);
    block.comm_forward.fill(in.zero);
    block.comm_backward.fill(in.zero);
    return block;
  };
  cost.embedding = vocabulary(kEmbeddingBlock, cost.operations.embedding_flops, cost.operations.embedding_hbm_bytes);
  cost.head = vocabulary(kHeadBlock, cost.operations.head_flops, cost.operations.head_hbm_bytes);

  cost.layer_again = in.calibrated ? cost.kernels.again : named(Q::layer_again, cost.flops_recompute / C);
  if (in.calibrated)
    take_kernel_times(in, facts_of(key.policy).repeats_layers() ? cost.recompute_times : in.zero, cost);
  const bool repeats = in.calibrated && facts_of(key.policy).repeats_layers();

  cost.tensor_share = constant<S>(1);

  // Communication of tensor and context.
  cost.context_exchange = in.zero;
  layer.comm_forward.fill(in.zero);
  layer.comm_backward.fill(in.zero);
  const auto set = [&layer](Axis axis, const S& forward, const S& backward) {
    layer.comm_forward[axis] = named(Q::layer_comm_forward, static_cast<int>(axis), forward);
    layer.comm_backward[axis] = named(Q::layer_comm_backward, static_cast<int>(axis), backward);
  };
  if (tensor.n > 1) {
    cost.tensor_bytes = named(Q::tensor_activation_bytes, in.activation_bytes * t * in.model.d_model);
    const S& Wy = key.sequence_parallel ? cost.bandwidth[Axis::tensor] : cost.reduce_bandwidth[Axis::tensor];
    const S unit = with_latency(in, S(cost.tensor_bytes / Wy), cost.latency[Axis::tensor]);
    const S forward = constant<S>(kTensorCollectivesForward) * unit;
    S backward = constant<S>(tensor_units_backward(in.calibrated, key.sequence_parallel)) * unit;
    if (repeats) backward = backward + cost.recompute_times * forward;
    if (in.experts_split_tensor) {
      // Half of them are around the MLP; around experts only the ranks of one expert exchange activations.
      const S elsewhere = constant<S>(1) - in.expert_tensor / tensor.x;
      cost.tensor_share = named(Q::tensor_share, constant<S>(1) - cost.params.moe_share / constant<S>(2) * elsewhere);
      set(Axis::tensor, forward * cost.tensor_share, backward * cost.tensor_share);
    } else {
      set(Axis::tensor, forward, backward);
    }
  }
  if (context.n > 1) {
    const LayerWidths<S> widths = layer_widths(in, key);
    if (method == ContextMethod::ulysses) {
      // Two AllToAlls (Q, K and V in, outputs out), each moving one context rank's share; their gradients likewise.
      cost.context_bytes = named(Q::context_kv_bytes, two * in.activation_bytes * t * (widths.attention + widths.kv));
      cost.context_exchange =
          named(Q::context_exchange, exchange_time(in.links[Axis::context], cost.context_bytes, in.achieved));
      const S there_and_back = with_latency(in, cost.context_exchange, S(two * cost.latency[Axis::context]));
      set(Axis::context, there_and_back,
          repeats ? there_and_back + cost.recompute_times * there_and_back : there_and_back);
      cost.bandwidth[Axis::context] =
          named(Q::axis_bandwidth, static_cast<int>(Axis::context), cost.context_bytes / cost.context_exchange);
    } else {
      const S& Wc = cost.bandwidth[Axis::context];
      // Keys and values of the whole sequence pass by once; backward again, with their gradients.
      cost.context_bytes = named(Q::context_kv_bytes, two * in.activation_bytes * t * context.x * widths.kv);
      const S once = with_latency(in, S(cost.context_bytes / Wc), cost.latency[Axis::context]);
      S twice = two * once;
      if (repeats) twice = twice + cost.recompute_times * once;
      set(Axis::context, once, twice);
    }
  }
  // Experts spread over ranks: tokens go to them and come back, in the backward pass once more.
  const Degree<S>& expert = in.degree(Axis::expert);
  const bool spread = spreads_experts(in);
  // An expert that fewer than all tensor ranks split takes that much more of each of them.
  const S here = !spread                   ? in.zero
                 : in.experts_split_tensor ? cost.params.experts * tensor.x / (expert.x * in.expert_tensor)
                                           : cost.params.experts / expert.x;
  // More than all there are only where the expert ranks are too few for the tensor ranks' sets, which cannot run.
  const bool elsewhere = spread && value_of(here) <= value_of(cost.params.experts);
  cost.params_absent = named(Q::params_absent, elsewhere ? cost.params.experts - here : in.zero);
  cost.params_rank = named(Q::params_layer_rank, spread ? cost.params.layer - cost.params_absent / in.model.n_layers
                                                        : S(cost.params.layer));
  cost.params_spread = spread ? named(Q::params_layer_spread, here / in.model.n_layers) : in.zero;
  if (in.adapter.on) {
    const AdapterParameters<S> a = adapter_parameters(in, cost.params);
    cost.trained = a.layer;
    cost.trained_absent = cost.trained_spread = in.zero;
    cost.trained_rank = named(Q::adapter_layer_rank, S(a.layer));
    if (spread && value_of(a.experts) > 0) {
      cost.trained_spread = named(Q::adapter_spread, a.experts * here / cost.params.experts);
      if (elsewhere)
        cost.trained_absent = named(Q::adapter_absent, in.model.n_layers * (a.experts - cost.trained_spread));
      cost.trained_rank = named(Q::adapter_layer_rank, a.layer - cost.trained_absent / in.model.n_layers);
    }
  }
  cost.expert_bytes = cost.expert_across_bytes = cost.expert_exchange = in.zero;
  if (spread) {
    const AxisLinks& links = in.links[Axis::expert];
    const S stream = tensor.n > 1 ? cost.tensor_bytes
                                  : named(Q::tensor_activation_bytes, in.activation_bytes * t * in.model.d_model);
    const S each = min(in.model.experts_per_token, expert.x), copies = cost.params.moe_share * each;
    cost.expert_bytes = named(Q::expert_bytes, copies * (key.sequence_parallel ? stream / tensor.x : stream));
    cost.expert_across_bytes =
        links.tier == LinkTier::fabric
            ? named(Q::expert_across_bytes, cost.expert_bytes * copies_across_nodes(in.model, links, each))
            : cost.expert_bytes;
    cost.expert_exchange =
        named(Q::expert_exchange, exchange_time(links, cost.expert_bytes, cost.expert_across_bytes, in.achieved));
    const S there_and_back = two * with_latency(in, cost.expert_exchange, cost.latency[Axis::expert]);
    set(Axis::expert, there_and_back,
        repeats ? there_and_back + cost.recompute_times * there_and_back : there_and_back);
    cost.bandwidth[Axis::expert] =
        named(Q::axis_bandwidth, static_cast<int>(Axis::expert), cost.expert_bytes / cost.expert_exchange);
  }
  return cost;
}

// The same model with all its layers of one kind.
template <Scalar S>
Inputs<S> with_layers_of(LayerKind kind, Inputs<S> in) {
  ModelTraits& is = in.model.is;
  is.dense_layers = false;
  in.model.n_dense_layers = in.zero;
  if (kind == LayerKind::experts) return in;
  is.moe = is.shared_experts = is.router_bias = is.shared_expert_gate = is.expert_groups = false;
  in.experts_split_tensor = false;
  return in;
}

template <Scalar S>
LayerTime<S> layer_time_of(LayerKind kind, const Inputs<S>& in, const LinkRates<S>& rates, LayerKey key,
                           ContextMethod method) {
  key.d_ff = kind == LayerKind::dense ? key.d_ff_dense : key.d_ff_experts;
  const VariantScope scope(trace_of(in.zero), variant_of(kind));
  return layer_time_of_all(with_layers_of(kind, in), rates, key, method);
}

// What a layer takes is not linear in its width: what hides, what fits, how well a product is tiled is of each layer.
// So of two kinds of layers the mean is that of their times, not the time of a layer between them.
template <Scalar S>
void take_mean(const LayerTime<S>& dense, const LayerTime<S>& experts, const Inputs<S>& in, LayerTime<S>& cost) {
  const auto mean = [&cost](const S& a, const S& b) { return mean_of_kinds(cost.params, a, b); };
  const auto take = [&](Q q, S& to, const S& a, const S& b) { to = named(q, mean(a, b)); };
  const Block<S>&a = dense.layer, &b = experts.layer;
  Block<S>& layer = cost.layer;
  take(Q::layer_flops_recompute, cost.flops_recompute, dense.flops_recompute, experts.flops_recompute);
  take(Q::layer_hbm_bytes_backward, cost.hbm_bytes_backward, dense.hbm_bytes_backward, experts.hbm_bytes_backward);
  take(Q::layer_math_forward, layer.math_forward, a.math_forward, b.math_forward);
  take(Q::layer_math_backward, layer.math_backward, a.math_backward, b.math_backward);
  take(Q::layer_hbm_forward, layer.hbm_forward, a.hbm_forward, b.hbm_forward);
  take(Q::layer_hbm_backward, layer.hbm_backward, a.hbm_backward, b.hbm_backward);
  if (in.calibration.hosted) {
    take(Q::layer_host_forward, cost.host.forward, dense.host.forward, experts.host.forward);
    take(Q::layer_host_backward, cost.host.backward, dense.host.backward, experts.host.backward);
  }
  for (const Axis axis : {Axis::tensor, Axis::context, Axis::expert}) {
    if (in.degree(axis).n <= 1) continue;
    const int i = static_cast<int>(axis);
    layer.comm_forward[axis] = named(Q::layer_comm_forward, i, mean(a.comm_forward[axis], b.comm_forward[axis]));
    layer.comm_backward[axis] = named(Q::layer_comm_backward, i, mean(a.comm_backward[axis], b.comm_backward[axis]));
  }
  const LayerActivations<S>&x = dense.activations, &y = experts.activations;
  LayerActivations<S>& kept = cost.activations;
  take(Q::layer_checkpoint_bytes, kept.checkpoint_bytes, x.checkpoint_bytes, y.checkpoint_bytes);
  take(Q::layer_full_bytes, kept.full_bytes, x.full_bytes, y.full_bytes);
  take(Q::layer_postponed_bytes, kept.postponed_bytes, x.postponed_bytes, y.postponed_bytes);
  if (in.adapter.on)
    take(Q::layer_weight_gradient, cost.weight_gradient, dense.weight_gradient, experts.weight_gradient);
  kept.working_bytes = named(Q::buffers_working, max(x.working_bytes, y.working_bytes));
  if (!in.calibrated) {
    take(Q::layer_again, cost.layer_again, dense.layer_again, experts.layer_again);
    return;
  }
  cost.kernels = mean_kernels(cost.params, dense.kernels, experts.kernels, cost.kernels);
  cost.kernels.again = named(Q::layer_again, S(cost.kernels.again));
  cost.layer_again = cost.kernels.again;
}

}  // namespace

template <Scalar S>
LayerTime<S> layer_time(const Inputs<S>& in, const LinkRates<S>& rates, const LayerKey& key, ContextMethod method) {
  LayerTime<S> cost = layer_time_of_all(in, rates, key, method);
  if (in.muon.on) cost.muon = muon_parameters(in, cost.params);
  cost.has_kinds = key.d_ff_dense > 0;
  if (!cost.has_kinds) return cost;
  cost.dense_first = key.dense_first;
  const LayerTime<S> dense = layer_time_of(LayerKind::dense, in, rates, key, method),
                     experts = layer_time_of(LayerKind::experts, in, rates, key, method);
  take_mean(dense, experts, in, cost);
  const auto of_kind = [](const LayerTime<S>& of) {
    return LayerOfKind<S>{of.layer,        of.params.layer,   of.params_rank,    of.params_spread,
                          of.activations,  of.layer_again,    of.host,           of.trained,
                          of.trained_rank, of.trained_spread, of.weight_gradient};
  };
  cost.kinds = {of_kind(dense), of_kind(experts)};
  return cost;
}

template <Scalar S>
LayerTime<S> layer_time(const Inputs<S>& in, const LayerKey& key, ContextMethod method) {
  return layer_time(in, link_rates(in), key, method);
}

template LinkRates<double> link_rates<double>(const Inputs<double>&);
template LinkRates<Traced> link_rates<Traced>(const Inputs<Traced>&);
template LayerTime<double> layer_time<double>(const Inputs<double>&, const LinkRates<double>&, const LayerKey&,
                                              ContextMethod);
template LayerTime<Traced> layer_time<Traced>(const Inputs<Traced>&, const LinkRates<Traced>&, const LayerKey&,
                                              ContextMethod);
template LayerTime<double> layer_time<double>(const Inputs<double>&, const LayerKey&, ContextMethod);
template LayerTime<Traced> layer_time<Traced>(const Inputs<Traced>&, const LayerKey&, ContextMethod);

}  // namespace roofscape::engine
