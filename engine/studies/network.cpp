#include "engine/studies/network.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "engine/hardware/collective.h"
#include "engine/hardware/roofline.h"
#include "engine/hardware/wires.h"
#include "engine/studies/log_axis.h"
#include "engine/training/book_bounds.h"
#include "engine/training/layer_time.h"
#include "engine/training/stage_time.h"

namespace roofscape::engine {

namespace {

constexpr double kTokensBelow = 3, kTokensAbove = 3;  // of the axis beyond what is marked, as factors
// Tokens per chip of a step between which crossings are looked for: what hides with one token hides at any batch.
constexpr double kFewestTokens = 1, kMostTokens = 1e9;
constexpr int kWholeSlice = 256;  // chips up to which tensor parallelism over all of them is shown

using Time = std::function<double(double)>;  // seconds of tokens a chip

// What a layer asks of a chip: arithmetic a token, bytes its weights and gradients have when gathered, bytes that all
// collectives of tensor parallelism together move for a token.
struct LayerLoad {
  double flops = 0, state_bytes = 0, gradient_bytes = 0, activation_bytes = 0;
};

LayerLoad load_of(const Scenario& s, const Inputs<double>& in, const LayerTime<double>& layer,
                  const NetworkQuestion& q) {
  const bool backward = q.pass == Pass::backward;
  LayerLoad load;
  double params = 0, collectives = 0;
  if (q.count == LayerCount::mlp) {
    const Bounds<double> limits = bounds(in, in.batch_sequences * in.sequence_length, transfers_add(s));
    load.flops = kMlpMatrices * matmul_flops(MatmulShape<double>{1, in.model.d_model, limits.active_width});
    params = kMlpMatrices * in.model.d_model * limits.total_width;
    collectives = backward ? kMlpCollectivesBackward : kMlpCollectivesForward;
  } else {
    load.flops = layer.operations.flops_forward * in.degree(Axis::tensor).x / layer.microbatch_tokens;
    params = layer.params.layer;
    collectives = backward ? tensor_collectives_backward(s.parallelism.sequence_parallel) : kTensorCollectivesForward;
  }
  if (backward) load.flops *= kBackwardOverForward;
  const double weights = in.gather_bytes * params;
  load.gradient_bytes = in.reduced_gradient_bytes * params;
  load.state_bytes = backward ? weights + load.gradient_bytes : weights;
  load.activation_bytes = collectives * in.activation_bytes * in.model.d_model;
  return load;
}

// Time of a layer's pass, as evaluated, over its arithmetic at the peak.
double slowness(const Inputs<double>& in, const LayerTime<double>& layer, Pass pass) {
  const bool backward = pass == Pass::backward;
  const Block<double>& block = layer.layer;
  double work = backward ? block.math_backward + block.hbm_backward : block.math_forward + block.hbm_forward;
  if (in.calibration.hosted) work += backward ? layer.host.backward : layer.host.forward;
  return work * in.chip.peak_flops / ((backward ? kBackwardOverForward : 1) * layer.operations.flops_forward);
}

Parallelism mesh_of(int fsdp, int tensor) {
  Parallelism p;
  p.fsdp = fsdp;
  p.tensor = tensor;
  return p;
}

// Crossing of a rising arithmetic with a strategy's communication: the least tokens from which arithmetic takes
// longer.
std::optional<double> crossing(const Time& compute, const Time& network) {
  const auto hidden = [&](double b) { return compute(b) >= network(b); };
  if (!hidden(kMostTokens)) return std::nullopt;
  if (hidden(kFewestTokens)) return 0.0;
  double low = std::log(kFewestTokens), high = std::log(kMostTokens);
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (hidden(std::exp(middle)) ? high : low) = middle;
  }
  return std::exp(high);
}

struct TimedStrategy {
  NetworkStrategy kind;
  int axes, degree;
  Time time;
};

void add_torus(const Scenario& s, const Inputs<double>& in, const LayerLoad& load, double chips,
               std::vector<TimedStrategy>& out, Pass pass) {
  const int dims = in.links.torus_dims;
  const double slice = std::max(1.0, chips / in.slices);
  const auto at = [&](double bytes, double worth) {
    return all_gather_time(bytes, torus_gather_bandwidth(worth, in.achieved.ici_axis));
  };
  const auto over = [&](double bytes, int axes) { return at(bytes, in.links.best_axes_worth(axes)); };
  for (int axes = dims; axes >= 1; --axes) {
    const double t = over(load.state_bytes, axes);
    out.push_back({NetworkStrategy::fsdp, axes, static_cast<int>(slice), [t](double) { return t; }});
  }
  if (pass == Pass::backward) {
    const double t = all_reduce_of_gather(over(load.gradient_bytes, dims));
    out.push_back({NetworkStrategy::data, dims, static_cast<int>(slice), [t](double) { return t; }});
    if (in.slices > 1) {
      const double d = all_reduce_time(load.gradient_bytes, in.achieved.dcn) / slice;
      out.push_back({NetworkStrategy::data_dcn, 0, static_cast<int>(in.slices), [d](double) { return d; }});
    }
  }
  const bool all = slice <= kWholeSlice;
  const int side = *std::max_element(s.cluster.slice.begin(), s.cluster.slice.end());
  const double degree = all ? slice : side;
  const int axes = all ? dims : 1;
  if (degree > 1) {
    const double each = over(load.activation_bytes, axes) * degree;
    out.push_back({NetworkStrategy::tensor, axes, static_cast<int>(degree), [each](double b) { return each * b; }});
  }
  if (dims < 2) return;
  const double fsdp = at(load.state_bytes, in.bound_axes_fsdp),
               tensor = at(load.activation_bytes, in.bound_axes_tensor);
  for (const bool add : {true, false}) {
    const auto time = [=](double b) {
      const double best = best_tensor_degree(fsdp, tensor * b);
      return best <= 1 ? fsdp : std::min(fsdp, split_time(fsdp, tensor * b, std::min(best, slice), add));
    };
    out.push_back({add ? NetworkStrategy::mixed_sum : NetworkStrategy::mixed_max,
                   static_cast<int>(in.bound_axes_fsdp), 0, time});
  }
}

void add_switched(const Scenario& s, const Inputs<double>& in, const LayerLoad& load, int chips,
                  std::vector<TimedStrategy>& out, Pass pass) {
  const auto rate = [&](const AxisLinks& links) { return gather_bandwidth(links, 1.0, in.achieved); };
  const MeshLinks alone = place_mesh(s.cluster, mesh_of(chips, 1), {});
  if (chips > 1) {
    const double t = all_gather_time(load.state_bytes, rate(alone.state));
    out.push_back({NetworkStrategy::fsdp, 0, chips, [t](double) { return t; }});
    if (pass == Pass::backward) {
      const double d = all_reduce_time(load.gradient_bytes, reduces_in_network(alone.state)
                                                                ? reduce_bandwidth(alone.state, in.achieved)
                                                                : rate(alone.state));
      out.push_back({NetworkStrategy::data, 0, chips, [d](double) { return d; }});
    }
  }
  if (const int node = std::min(s.cluster.node_size, chips); node > 1) {
    const double each =
        all_gather_time(load.activation_bytes, rate(place_mesh(s.cluster, mesh_of(1, node), {})[Axis::tensor])) *
        node;
    out.push_back({NetworkStrategy::tensor, 0, node, [each](double b) { return each * b; }});
  }
  // Switches have no continuous optimum: the best of all powers of two, by what the levels of the fabric give each.
  struct Split {
    double degree, fsdp, tensor;  // seconds of the whole layer without the other
    Wires<double> wires;
  };
  std::vector<Split> splits;
  for (int tensor = 2; tensor <= chips / 2; tensor *= 2) {
    const MeshLinks mesh = place_mesh(s.cluster, mesh_of(chips / tensor, tensor), {});
    splits.push_back({static_cast<double>(tensor), all_gather_time(load.state_bytes, rate(mesh.state)),
                      all_gather_time(load.activation_bytes, rate(mesh[Axis::tensor])),
                      wires_of(mesh, AxesOverlap::by_wire, in.chip)});
  }
  if (splits.empty()) return;
  const auto best = [&out, &splits](NetworkStrategy kind, auto&& time) {
    out.push_back({kind, 0, 0, [splits, time](double b) {
                     double least = std::numeric_limits<double>::infinity();
                     for (const Split& x : splits) least = std::min(least, time(x, b));
                     return least;
                   }});
  };
  for (const bool add : {true, false})
    best(add ? NetworkStrategy::mixed_sum : NetworkStrategy::mixed_max,
         [add](const Split& x, double b) { return split_time(x.fsdp, x.tensor * b, x.degree, add); });
  if (in.axes_overlap == AxesOverlap::by_wire)
    best(NetworkStrategy::mixed_wire, [](const Split& x, double b) {
      constexpr auto fsdp = static_cast<std::size_t>(Axis::fsdp), tensor = static_cast<std::size_t>(Axis::tensor);
      AxisArray<double> times{};
      times[fsdp] = x.fsdp / x.degree, times[tensor] = x.tensor * b * x.degree;
      return busiest(x.wires, times, 1u << fsdp | 1u << tensor, 0.0).time;
    });
}

// The scenario's mesh with its number of microbatches, whose size follows the batch. What moves activations grows
// with the tokens, down to the hops that a message takes however short it is; what moves weights and gradients does
// not. What is reduced after the last microbatch of a pipeline is no layer's: no arithmetic hides it.
// Returns how often a step it gathers weights. `tokens_now`: of a chip, in a step.
double add_plan(const Scenario& s, const Inputs<double>& in, const LayerTime<double>& layer, double tokens_now,
                std::vector<TimedStrategy>& out, Pass pass) {
  PipelineReport pipeline;
  const StageKey key = stage_key(s);
  const int stages = key.shape.stages;
  StageTime<double> stage;
  stage_times(in, layer, key, pipeline, stage);
  const auto& all = pass == Pass::forward ? stage.comm_forward : stage.comm_backward;
  const auto activations_of = [pass](const LayerTime<double>& one) -> const AxisArray<double>& {
    return pass == Pass::forward ? one.layer.comm_forward : one.layer.comm_backward;
  };
  const AxisArray<double>& activations = activations_of(layer);
  const double passes =
      tokens_now / (layer.microbatch_tokens / in.degree(Axis::tensor).x);  // through a chip's layers
  AxisArray<double> fixed{};
  bool any = false;
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    fixed[i] = stage.communicates[i] ? (all[i] - activations[i]) * stage.microbatches / stages : 0;
    any = any || activations[i] > 0 || fixed[i] > 0;
  }
  if (!any) return 0;
  const LinkRates<double> rates = layer;
  out.push_back({NetworkStrategy::plan, 0, 1,
                 [=, key = layer_key(s), method = s.parallelism.context_method, wires = layer.wires](double b) {
                   Inputs<double> there = in;
                   there.microbatch_sequences = in.microbatch_sequences * (b / tokens_now);
                   const LayerTime<double> one = layer_time(there, rates, key, method);
                   AxisArray<double> times{};
                   for (std::size_t i = 0; i < times.size(); ++i)
                     times[i] = fixed[i] + passes * activations_of(one)[i];
                   return busiest(wires, times, (1u << kAxisCount) - 1, 0.0).time;
                 }});
  const bool every = state_traffic_of(stage_key(s)) == StateTraffic::every_microbatch;
  return every && in.links.state.degree > 1 ? stage.microbatches : 0;
}

}  // namespace

NetworkStudy network_study(const Scenario& s, const NetworkQuestion& q) {
  const Inputs<double> in = make_inputs<double>(s, nullptr);
  const LayerTime<double> layer = layer_time(in, layer_key(s), s.parallelism.context_method);
  const LayerLoad load = load_of(s, in, layer, q);
  NetworkStudy study;
  // A mesh that is larger than its cluster is laid out on what there is.
  study.chips = std::min(step_counts(in, false).chips, in.cluster_chips);
  study.tokens_now = in.batch_sequences * in.sequence_length / study.chips;
  const double peak = in.chip.peak_flops;
  // Calibrated, a layer takes as long as its kernels do, more by the same factor whichever of its matrices count.
  const double slower = in.calibrated ? slowness(in, layer, q.pass) : 1;
  const Time compute = [&](double b) { return slower * time_at(load.flops * b, peak); };
  if (!(load.flops > 0) || !(peak > 0) || !std::isfinite(compute(1)) || !(study.tokens_now > 0)) return study;

  std::vector<TimedStrategy> strategies;
  if (in.links.torus_dims > 0)
    add_torus(s, in, load, study.chips, strategies, q.pass);
  else
    add_switched(s, in, load, static_cast<int>(std::min<double>(study.chips, 1 << 24)), strategies, q.pass);
  if (q.count == LayerCount::whole) study.plan_gathers = add_plan(s, in, layer, study.tokens_now, strategies, q.pass);
  std::erase_if(strategies, [](const TimedStrategy& x) { return !std::isfinite(x.time(1)) || !(x.time(1) > 0); });
  if (strategies.empty()) return study;

  double low = study.tokens_now, high = study.tokens_now;
  const bool by_links = in.links.torus_dims == 0 && in.axes_overlap == AxesOverlap::by_wire;
  study.assumed = by_links           ? NetworkStrategy::mixed_wire
                  : transfers_add(s) ? NetworkStrategy::mixed_sum
                                     : NetworkStrategy::mixed_max;
  for (const TimedStrategy& x : strategies) {
    NetworkLine line{x.kind,
                     x.axes,
                     x.degree,
                     {},
                     crossing(compute, x.time),
                     0,
                     compute(study.tokens_now) / x.time(study.tokens_now)};
    if (line.hidden_from && *line.hidden_from > 0) {
      line.seconds_there = compute(*line.hidden_from);
      low = std::min(low, *line.hidden_from), high = std::max(high, *line.hidden_from);
    }
    const auto least = [&](std::optional<double>& best) {
      if (line.hidden_from && (!best || *line.hidden_from < *best)) best = line.hidden_from;
    };
    if (x.kind == NetworkStrategy::fsdp) least(study.fsdp_from);
    if (x.kind == NetworkStrategy::fsdp || x.kind == study.assumed) least(study.mixed_from);
    study.lines.push_back(std::move(line));
  }
  // Powers of two around what is marked.
  low = std::exp2(std::floor(std::log2(std::max(low, 1.0) / kTokensBelow)));
  high = std::exp2(std::ceil(std::log2(high * kTokensAbove)));
  low = std::max(low, high * 1e-8);
  study.tokens = log_axis(low, high);
  for (const double b : study.tokens) {
    study.compute.push_back(compute(b));
    for (std::size_t k = 0; k < strategies.size(); ++k) study.lines[k].seconds.push_back(strategies[k].time(b));
  }
  return study;
}

}  // namespace roofscape::engine
