#include "engine/serving/pass_network.h"

#include "engine/calibration/collectives.h"
#include "engine/hardware/collective.h"
#include "engine/model/expert_routing.h"

namespace roofscape::engine {

namespace {

// Gather and scatter around attention and around the MLP.
constexpr double kTensorCollectives = 4;

}  // namespace

template <Scalar S>
PassNetwork<S> pass_network(const ServingInputs<S>& si, const PhaseMesh<S>& mesh, const Parameters<S>& p,
                            const PassShape<S>& pass, const NetworkRows& rows) {
  const Inputs<S>& in = si.in;
  PassNetwork<S> out;
  for (auto* each : {&out.bandwidth, &out.bytes, &out.call, &out.calls, &out.seconds, &out.latency})
    each->fill(in.zero);
  out.total = in.zero;
  // One collective a layer takes `wire` seconds by its bytes; there are `calls` of them in all passes.
  // Calibrated, its latency comes on top: a library's call moves nothing before its ranks have met.
  const auto add = [&](Axis axis, const S& bytes, const S& wire, const S& calls) {
    const int index = static_cast<int>(axis);
    out.bytes[axis] = bytes;
    out.call[axis] = named(rows.call, index,
                           in.calibrated ? wire + mesh.latency[axis] : max(wire, mesh.hops[axis] * si.hop_latency));
    out.calls[axis] = named(rows.calls, index, calls);
    const S floor =
        in.calibrated ? out.calls[axis] * mesh.latency[axis] : out.calls[axis] * mesh.hops[axis] * si.hop_latency;
    out.latency[axis] = named(rows.latency, index, axis == Axis::tensor ? floor + pass.kv_exchange_latency : floor);
    out.seconds[axis] = out.calls[axis] * out.call[axis];
    out.communicates[axis] = true;
  };
  const auto gather = [&](Axis axis, const AxisLinks& links, const S& bytes, const S& calls) {
    const int index = static_cast<int>(axis);
    out.bandwidth[axis] =
        named(rows.bandwidth, index,
              gather_bandwidth(links, mesh.torus_axes[axis], in.calibrated ? group_rates(in, links) : in.chip));
    add(axis, bytes, bytes / out.bandwidth[axis], calls);
  };
  const auto sized = [&](Axis axis, const S& bytes) { return named(rows.bytes, static_cast<int>(axis), bytes); };
  const S layers = in.model.n_layers * pass.passes;
  const Degree<S>&tensor = mesh.degree(Axis::tensor), &context = mesh.degree(Axis::context),
        &expert = mesh.degree(Axis::expert);
  const bool spread = expert.n > 1 && in.model.is.moe;
  S stream = in.activation_bytes * pass.tokens * in.model.d_model;
  if (tensor.n > 1 || spread) stream = sized(Axis::tensor, stream);
  if (tensor.n > 1) {
    S calls = constant<S>(kTensorCollectives) * layers;
    if (mesh.experts_split_tensor) {
      // Half of them are around the MLP; around experts only the ranks of one expert exchange activations.
      const S elsewhere = constant<S>(1) - mesh.expert_tensor / tensor.x;
      calls = calls * named(Q::tensor_share, constant<S>(1) - p.moe_share / constant<S>(2) * elsewhere);
    }
    gather(Axis::tensor, mesh.links[Axis::tensor], stream, calls);
    auto& seconds = out.seconds[Axis::tensor];
    seconds = seconds + pass.kv_exchange;
  }
  if (context.n > 1)
    gather(Axis::context, mesh.links[Axis::context], sized(Axis::context, pass.context_bytes),
           constant<S>(pass.context_calls) * layers);
  if (spread) {
    // To each rank that has one of its k experts, and back; every tensor rank sends its share of the tokens.
    const S each = min(in.model.experts_per_token, expert.x), copies = p.moe_share * each;
    const S bytes = sized(Axis::expert, copies * (stream / tensor.x));
    const AxisLinks& links = mesh.links[Axis::expert];
    const S across = links.tier == LinkTier::fabric
                         ? named(rows.expert_across, bytes * copies_across_nodes(in.model, links, each))
                         : bytes;
    const S wire = exchange_time(links, bytes, across, in.chip);
    add(Axis::expert, bytes, wire, constant<S>(2) * layers);
    out.bandwidth[Axis::expert] =
        named(rows.bandwidth, static_cast<int>(Axis::expert), bytes / out.call[Axis::expert]);
  }
  if (si.shards_weights && mesh.degree(Axis::fsdp).n > 1)
    gather(Axis::fsdp, mesh.links.state, sized(Axis::fsdp, in.weight_bytes * p.layer / tensor.x), layers);
  for (std::size_t i = 0; i < out.seconds.size(); ++i) {
    if (!out.communicates[i]) continue;
    out.seconds[i] = named(rows.seconds, static_cast<int>(i), out.seconds[i]);
    out.total = out.total + out.seconds[i];
  }
  out.total = named(rows.total, out.total);
  return out;
}

template PassNetwork<double> pass_network<double>(const ServingInputs<double>&, const PhaseMesh<double>&,
                                                  const Parameters<double>&, const PassShape<double>&,
                                                  const NetworkRows&);
template PassNetwork<Traced> pass_network<Traced>(const ServingInputs<Traced>&, const PhaseMesh<Traced>&,
                                                  const Parameters<Traced>&, const PassShape<Traced>&,
                                                  const NetworkRows&);

}  // namespace roofscape::engine
