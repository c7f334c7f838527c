#include "engine/serving/serving_capacity.h"

#include <cmath>

#include "engine/model/layer_operations.h"
#include "engine/serving/capacity.h"

namespace roofscape::engine {

namespace {

// Weights on one chip: outside experts over tensor, experts over their ways, all over stages and, with FSDP, over its
// ranks.
template <Scalar S>
S resident_weights(const ServingInputs<S>& si, const Parameters<S>& p, const DecodeCost<S>& decode) {
  const Inputs<S>& in = si.in;
  const PhaseMesh<S>& mesh = si.decode;
  const S& stages = mesh.degree(Axis::pipeline).x;
  const S shards = si.shards_weights ? mesh.degree(Axis::fsdp).x * stages : stages * constant<S>(1);
  const S rest = in.rest_bytes * decode.params_shared / (mesh.degree(Axis::tensor).x * shards);
  if (!in.model.is.moe) return rest;
  return rest + in.weight_bytes * p.experts / (decode.expert_ways * shards);
}

template <Scalar S>
void smallest_slices(const ServingInputs<S>& si, const Parameters<S>& p, const Cluster& cluster,
                     ServingCapacity<S>& out) {
  constexpr std::array<double, 3> kBytes{2, 1, 0.5};
  constexpr std::array kRaw{Q::slice_bytes_bf16, Q::slice_bytes_int8, Q::slice_bytes_int4};
  constexpr std::array kSlice{Q::slice_bf16, Q::slice_int8, Q::slice_int4};
  Trace* trace = trace_of(si.batch);
  for (std::size_t i = 0; i < kBytes.size(); ++i) {
    out.minimum_chips[i] =
        named(kRaw[i], constant<S>(kBytes[i], unit::bytes_each) * p.total / si.in.chip.hbm_capacity);
    out.slices[i] = input_leaf<S>(trace, kSlice[i], -1, obtainable_chips(cluster, value_of(out.minimum_chips[i])),
                                  "the next size in which these chips can be had");
  }
}

}  // namespace

double obtainable_chips(const Cluster& cluster, double chips) {
  if (!std::isfinite(chips)) return chips;
  if (cluster.chip.interconnect == Interconnect::torus) {
    constexpr std::array<double, 2> kFlat{1, 4};
    constexpr std::array<double, 1> kCubes{4};
    const bool flat = cluster.chip[ChipField::ici_torus_dims].value == 2;
    return flat ? next_slice(chips, kFlat) : next_slice(chips, kCubes);
  }
  const double node = cluster.node_size;
  return chips <= node ? std::min(next_power_of_two(chips), node) : std::ceil(chips / node) * node;
}

template <Scalar S>
ServingCapacity<S> serving_capacity(const ServingInputs<S>& si, const Parameters<S>& p, const DecodeCost<S>& decode,
                                    const PrefillCost<S>& prefill, const Cluster& cluster) {
  const Inputs<S>& in = si.in;
  const PhaseMesh<S>& mesh = si.decode;
  const S &Y = mesh.degree(Axis::tensor).x, &c = mesh.degree(Axis::context).x,
          &stages = mesh.degree(Axis::pipeline).x;
  ServingCapacity<S> out;
  const S zero = constant<S>(0);
  const S weights = named(Q::memory_weights, resident_weights(si, p, decode));
  out.sequence_chip_bytes = named(Q::sequence_chip_bytes, decode.kv_sequence_bytes / (decode.kv_ways * stages));
  const S cache = named(Q::memory_kv_cache, decode.replica_sequences * out.sequence_chip_bytes);
  // One activation of model and MLP width, and logits of the tokens that are checked; pipeline stages work on a part
  // of the sequences at a time.
  const S width = named(Q::working_width, in.model.d_model + active_ff(in.model) / Y);
  const S checked = (si.drafts + constant<S>(1)) / (stages * c);
  const S each = in.activation_bytes * width + constant<S>(kLogitBytes, unit::bytes_each) * in.model.vocab_size / Y;
  out.sequence_working = named(Q::sequence_working_bytes, checked * each);
  out.prefill_working = named(Q::prefill_working_bytes,
                              si.disaggregated ? S(in.zero) : in.activation_bytes * prefill.pass_tokens * width);
  const S activations =
      named(Q::memory_activations, out.prefill_working + decode.replica_sequences * out.sequence_working);
  const S reserve = named(Q::memory_reserve, constant<S>(1) * in.reserve_bytes);
  out.parts = {weights, cache, activations, reserve};
  out.total = named(Q::memory_total, weights + cache + activations + reserve);
  out.free = named(Q::memory_free, in.chip.hbm_capacity - out.total);

  out.kv_equal_batch = named(Q::kv_equal_batch, decode.replicas * weights / out.sequence_chip_bytes);

  // Where tensor ranks take different sequences, they do so once there is one for each.
  S full_ways = decode.kv_head_ways * c;
  if (si.kv_split != KvSplit::heads) full_ways = full_ways * decode.kv_spare_ways;
  const S full_sequence = named(Q::sequence_chip_bytes_full, decode.kv_sequence_bytes / (full_ways * stages));
  out.room = named(Q::kv_room, in.chip.hbm_capacity - weights - out.prefill_working - reserve);
  const S fits = max(sequences_that_fit(out.room, full_sequence + out.sequence_working), zero);
  const bool other_sequences = si.kv_split == KvSplit::batch && value_of(decode.kv_spare_ways) > 1;
  if (other_sequences) {
    // Fewer sequences than that leave ranks without one, but no chip with less than a whole sequence's heads.
    const S unsplit = named(Q::sequence_unsplit, decode.kv_sequence_bytes / (decode.kv_head_ways * c));
    const S spread = named(Q::replica_max_spread, fits);
    const S few = named(Q::replica_max_few, max(sequences_that_fit(out.room - unsplit, out.sequence_working), zero));
    out.replica_max =
        named(Q::replica_max_batch, choose(at_least(spread, decode.kv_spare_ways * stages), spread, few));
  } else {
    out.replica_max = named(Q::replica_max_batch, fits);
  }
  out.max_batch = named(Q::max_batch, decode.replicas * out.replica_max);
  out.kv_total = named(Q::kv_total_bytes, si.batch * decode.kv_sequence_bytes);
  out.weights_all =
      named(Q::weights_bytes_all, in.rest_apart ? in.rest_bytes * decode.params_shared + in.weight_bytes * p.experts
                                                : in.weight_bytes * p.total);
  smallest_slices(si, p, cluster, out);
  return out;
}

template ServingCapacity<double> serving_capacity<double>(const ServingInputs<double>&, const Parameters<double>&,
                                                          const DecodeCost<double>&, const PrefillCost<double>&,
                                                          const Cluster&);
template ServingCapacity<Traced> serving_capacity<Traced>(const ServingInputs<Traced>&, const Parameters<Traced>&,
                                                          const DecodeCost<Traced>&, const PrefillCost<Traced>&,
                                                          const Cluster&);

}  // namespace roofscape::engine
