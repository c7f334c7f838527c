#include "engine/evaluate/pass_parts.h"

#include <algorithm>
#include <numeric>

#include "engine/evaluate/evaluation.h"

namespace roofscape::engine {
namespace {

// Sums over blocks of both passes. Of a block the exposed time is known by axis and by direction: an axis that
// communicates one way only is exposed that way; the others share what is left of each direction. Block by block, so
// that a pass is the sum of its blocks.
struct PassSums {
  PassParts forward, backward;

  void add(double times, const BlockTime<double>& time, const AxisArray<double>& network_f,
           const AxisArray<double>& network_b, const AxisMask& communicates) {
    if (times <= 0) return;
    const auto forward_only = [&](std::size_t a) { return network_f[a] > 0 && network_b[a] <= 0; };
    const auto backward_only = [&](std::size_t a) { return network_b[a] > 0 && network_f[a] <= 0; };
    double left_forward = time.exposed_forward, both = 0;
    for (std::size_t a = 0; a < communicates.size(); ++a) {
      if (!communicates[a]) continue;
      if (forward_only(a))
        left_forward -= time.exposed[a];
      else if (!backward_only(a))
        both += time.exposed[a];
    }
    const double share = both > 0 ? std::clamp(left_forward / both, 0.0, 1.0) : 0;
    for (std::size_t a = 0; a < communicates.size(); ++a) {
      if (!communicates[a]) continue;
      const double of_forward = forward_only(a) ? 1 : backward_only(a) ? 0 : share;
      const double first = of_forward * time.exposed[a];
      forward.exposed_s[a] += times * first;
      backward.exposed_s[a] += times * (time.exposed[a] - first);
      forward.network_s[a] += times * network_f[a];
      backward.network_s[a] += times * network_b[a];
    }
  }
};

}  // namespace

double PassParts::exposed_all_s() const { return std::accumulate(exposed_s.begin(), exposed_s.end(), 0.0); }

StepPasses step_passes(const Scenario& s) {
  const auto in = make_inputs<double>(s, nullptr);
  const auto layer = layer_time(in, layer_key(s), s.parallelism.context_method);
  PipelineReport pipeline;
  StageTime<double> stage;
  stage_times(in, layer, stage_key(s), pipeline, stage);
  // Beyond two forwards, what the backward of a vocabulary's block does is a forward again.
  const auto again = [&in](const Block<double>& block) {
    return in.calibrated ? 0.0 : std::max(0.0, block.math_backward - 2 * block.math_forward);
  };
  const auto parts = [&](const StageLayers<double>& layers, bool first, bool last, double forward_s,
                         double backward_s) {
    PassSums sums;
    if (!layers.by_kind)
      sums.add(layers.all, stage.layer, stage.comm_forward, stage.comm_backward, stage.communicates);
    for (const LayerKind kind : {LayerKind::dense, LayerKind::experts}) {
      const auto& of = stage.kind(kind);
      const double times = kind == LayerKind::dense ? layers.dense : layers.experts;
      if (layers.by_kind) sums.add(times, of.layer, of.comm_forward, of.comm_backward, stage.communicates);
    }
    if (first)
      sums.add(1, stage.embedding, layer.embedding.comm_forward, layer.embedding.comm_backward, stage.communicates);
    if (last) sums.add(1, stage.head, layer.head.comm_forward, layer.head.comm_backward, stage.communicates);
    StagePasses passes;
    passes.forward = sums.forward;
    passes.backward = sums.backward;
    passes.forward.time_s = forward_s;
    passes.backward.time_s = backward_s;
    passes.backward.recompute_s =
        layer.sum(layers, layer.layer_again, [](const LayerOfKind<double>& k) { return k.again; });
    if (first) passes.backward.recompute_s += again(layer.embedding);
    if (last) passes.backward.recompute_s += again(layer.head);
    return passes;
  };
  StepPasses out;
  const std::size_t count = stage.forward.size();
  for (std::size_t i = 0; i < count; ++i) {
    const StageLayers<double> layers = count > 1 ? stage.stage_layers[i] : StageLayers<double>{in.model.n_layers};
    out.stages.push_back(parts(layers, i == 0, i + 1 == count, stage.forward[i], stage.backward[i]));
  }
  out.layer = parts({1.0}, false, false, stage.layer.forward, stage.layer.backward);
  if (in.calibrated) out.host_s = in.calibration[Calibrated::step_host];
  return out;
}

}  // namespace roofscape::engine
