#include "engine/training/memory.h"

#include <algorithm>

#include "engine/pipeline/schedule.h"
#include "engine/training/optimizer_home.h"
#include "engine/training/run.h"

namespace roofscape::engine {

namespace {

template <Scalar S, std::size_t N>
S sum_in_order(const std::array<S, N>& parts) {
  S total = parts[0];
  for (std::size_t i = 1; i < N; ++i) total = total + parts[i];
  return total;
}

}  // namespace

template <Scalar S>
void working_memory(const Inputs<S>& in, const LayerTime<S>& layer, const PlanKey& key, WorkingMemory<S>& out) {
  const S& Y = in.degree(Axis::tensor).x;
  // Gathered weights and a gradient under ZeRO-3, the layer being recomputed, logits.
  const bool gathers = key.zero_stage == 3 && in.links.state.degree > 1;
  out.keeps_gathered = gathers && key.keep_gathered != KeepGathered::microbatch;
  if (in.adapter.on && gathers && !out.keeps_gathered) {
    const S& rank = layer.largest(layer.params_rank, [](const LayerOfKind<S>& k) { return k.params_rank; });
    const S& trained = layer.largest(layer.trained_rank, [](const LayerOfKind<S>& k) { return k.trained_rank; });
    const S two = constant<S>(2);
    out.buffers_gathered =
        named(Q::buffers_gathered,
              two * in.gather_bytes * rank / Y + (two * in.adapter.bytes + in.reduced_gradient_bytes) * trained / Y);
  } else
    out.buffers_gathered =
        named(Q::buffers_gathered,
              gathers && !out.keeps_gathered
                  ? (constant<S>(2) * in.gather_bytes + in.reduced_gradient_bytes) *
                        layer.largest(layer.params_rank, [](const LayerOfKind<S>& k) { return k.params_rank; }) / Y
                  : in.zero);
  out.buffers_working = layer.activations.working_bytes;
  out.largest_checkpoint = layer.largest(layer.activations.checkpoint_bytes,
                                         [](const LayerOfKind<S>& k) { return k.activations.checkpoint_bytes; });
  // What the loss holds of each; whether the last stage needs it at the peak is up to hold_buffers().
  const S of_logit =
      in.calibrated ? S(in.calibration[Calibrated::logit_bytes]) : constant<S>(in.logit_bytes, unit::bytes_each);
  out.buffers_logits = named(Q::buffers_logits, of_logit * layer.microbatch_tokens * in.model.vocab_size / Y);
}

namespace {

// The frozen weights, as far as a chip holds them, and the adapters with all that training keeps of them.
template <Scalar S>
void adapter_memory(const Inputs<S>& in, const LayerTime<S>& layer, const StepCounts<S>& counts,
                    const DeviceLoad<S>& load, const PlanKey& key, const S& frozen, StageMemory<S>& memory) {
  const S& Y = in.degree(Axis::tensor).x;
  const StageLayers<S>& n = load.layers;
  const S all = named(Q::stage_params_trained, load.device,
                      layer.sum(n, layer.trained, [](const LayerOfKind<S>& k) { return k.trained; }));
  const S rank = spreads_experts(in)
                     ? layer.sum(n, layer.trained_rank, [](const LayerOfKind<S>& k) { return k.trained_rank; })
                     : S(all);
  const auto held = [&](int zero_stage) {
    if (key.zero_stage < zero_stage) return rank / Y;
    const S once =
        experts_reach_data(in)
            ? params_of_shards(
                  rank, layer.sum(n, layer.trained_spread, [](const LayerOfKind<S>& k) { return k.trained_spread; }),
                  counts.state_shards)
            : S(all);
    return once / (Y * counts.state_shards);
  };
  memory.parts[0] = in.weight_bytes * frozen + in.adapter.bytes * held(3);
  memory.parts[1] = key.stores_gradients ? in.gradient_bytes * held(2) : in.zero;
  memory.parts[2] = updates_on_chip(in, key) ? chip_share(in, key, S(in.optimizer_bytes * held(1))) : in.zero;
  memory.trained_gathered = rank / Y;
}

}  // namespace

template <Scalar S>
void state_memory(const Inputs<S>& in, const LayerTime<S>& layer, const StepCounts<S>& counts,
                  const DeviceLoad<S>& load, const PlanKey& key, StageMemory<S>& memory) {
  const S zero = in.zero;
  const S& Y = in.degree(Axis::tensor).x;
  const bool pipelined = in.degree(Axis::pipeline).n > 1;
  const StageLayers<S>& n = load.layers;
  const int d = load.device;
  const auto shards_from = [&](int zero_stage) {
    return key.zero_stage >= zero_stage ? counts.state_shards : constant<S>(1);
  };
  if (!pipelined) {
    memory.params = named(Q::stage_params, d, layer.params.total);
  } else {
    S params = layer.sum(n, layer.params.layer, [](const LayerOfKind<S>& k) { return k.params; });
    if (load.embedding) params = params + layer.params.embedding;
    // A tied unembedding on another stage than the embedding is a copy of it.
    if (load.head)
      params = params + (key.tied_embeddings && !load.embedding ? layer.params.unembedding + layer.params.head
                                                                : layer.params.head);
    memory.params = named(Q::stage_params, d, params);
  }
  // Sharded state is spread over all ranks, experts or not; what is not sharded still leaves out others' experts, and
  // so does what is sharded over fewer ranks than the experts are spread over.
  const bool spread = spreads_experts(in);
  const S rank_params =
      spread ? named(Q::stage_params_rank, d,
                     memory.params - (n.by_kind ? n.experts * layer.params_absent / layer.params.n_moe_layers
                                                : n.all * layer.params_absent / in.model.n_layers))
             : memory.params;
  const S sharded = experts_reach_data(in)
                        ? named(Q::stage_params_sharded, d,
                                params_of_shards(rank_params,
                                                 layer.sum(n, layer.params_spread,
                                                           [](const LayerOfKind<S>& k) { return k.params_spread; }),
                                                 counts.state_shards))
                        : memory.params;
  const auto held = [&](int zero_stage) -> const S& { return key.zero_stage >= zero_stage ? sharded : rank_params; };
  if (in.adapter.on) {
    adapter_memory<S>(in, layer, counts, load, key, held(3) / (Y * shards_from(3)), memory);
    memory.params_gathered = rank_params / Y;
    memory.state = memory.parts[0] + memory.parts[1] + memory.parts[2];
    return;
  }
  memory.parts[0] = in.weight_bytes * held(3) / (Y * shards_from(3));
  memory.parts[1] = key.stores_gradients ? in.gradient_bytes * held(2) / (Y * shards_from(2)) : zero;
  memory.parts[2] = zero;
  if (updates_on_chip(in, key)) {
    S state = in.optimizer_bytes * held(1);
    if (in.muon.on) {
      const MuonParameters<S>& muon = layer.muon;
      S by_muon = of_layers(n, muon.layer, muon.kinds[0], muon.kinds[1]);
      const bool reaches = key.zero_stage >= 1 && experts_reach_data(in);
      if (spread && (key.zero_stage < 1 || reaches)) by_muon = by_muon - muon.share * (memory.params - rank_params);
      if (reaches)
        by_muon = params_of_shards(by_muon,
                                   S(muon.share * layer.sum(n, layer.params_spread,
                                                            [](const LayerOfKind<S>& k) { return k.params_spread; })),
                                   counts.state_shards);
      by_muon = named(Q::stage_params_muon, d, by_muon);
      state = state - (in.optimizer_bytes - in.muon.bytes) * by_muon;
    }
    memory.parts[2] = chip_share(in, key, S(state / (Y * shards_from(1))));
  }
  memory.params_gathered = rank_params / Y;
  memory.state = memory.parts[0] + memory.parts[1] + memory.parts[2];
}

template <Scalar S>
void chip_memory(const Inputs<S>& in, const LayerTime<S>& layer, const StageTime<S>& stage, const PlanKey& key,
                 const PipelineReport& pipeline, WorkingMemory<S>& buffers, ChipMemory<S>& out) {
  const S zero = in.zero;
  const bool pipelined = in.degree(Axis::pipeline).n > 1;
  const int devices = in.degree(Axis::pipeline).n;
  const S one = constant<S>(1);
  working_memory<S>(in, layer, key, buffers);

  const bool has_orders = pipelined && !pipeline.orders.ops.empty();
  const bool held_in_order = pipelined && pipeline.status.legal();
  const int virtual_stages = pipelined ? devices * passes_per_device(pipeline.shape) : 1;
  const bool doubled =
      pipelined && virtual_stage_count(pipeline.shape) > virtual_stages;  // DualPipe: both directions
  const int in_turn = pipelined ? chunks_in_turn(pipeline.shape) : 1;
  out.stages.resize(static_cast<std::size_t>(devices));
  for (StageMemory<S>& memory : out.stages) memory.virtual_stages = 0, memory.embedding = memory.head = false;
  const int positions = has_orders      ? static_cast<int>(pipeline.orders.device_of.size())
                        : held_in_order ? virtual_stage_count(pipeline.shape)
                                        : virtual_stages;
  for (int position = 0; position < positions; ++position) {
    const int s = position % virtual_stages;
    const std::size_t d = has_orders ? pipeline.orders.device_of[static_cast<std::size_t>(position)]
                                     : static_cast<std::size_t>(held_in_order ? device_of(pipeline.shape, position)
                                                                              : position % devices);
    StageMemory<S>& memory = out.stages[d];
    const StageLayers<S> n =
        pipelined ? stage.stage_layers[static_cast<std::size_t>(s)] : StageLayers<S>{in.model.n_layers};
    memory.layers = memory.virtual_stages++ > 0 ? memory.layers + n : n;
    memory.embedding = memory.embedding || s == 0;
    memory.head = memory.head || s == virtual_stages - 1;
  }
  for (int d = 0; d < devices; ++d) {
    StageMemory<S>& memory = out.stages[static_cast<std::size_t>(d)];
    if (memory.virtual_stages == 0) memory.layers = layer.layers(zero, zero, zero);
    DeviceLoad<S> load{d, memory.layers, one, memory.embedding, memory.head, doubled, zero, in_turn};
    memory.bytes = microbatch_bytes(layer, load);
    const HeldMicrobatches held =
        held_in_order ? held_at_peak(held_moments(pipeline.shape, d), memory.bytes, key) : HeldMicrobatches{1, 0};
    load.in_flight = pipelined ? simulated_leaf<S>(trace_of(zero), Q::stage_in_flight, d, held.all)
                               : named(Q::stage_in_flight, d, one + zero);
    if (held.postponed > 0) load.postponed = simulated_leaf<S>(trace_of(zero), Q::stage_postponed, d, held.postponed);
    state_memory<S>(in, layer, stage, load, key, memory);
    finish_memory<S>(in, buffers, load, key, memory);
  }
  out.fullest_stage =
      index_of_largest<S>(out.stages, [](const StageMemory<S>& memory) -> const S& { return memory.total; });
  StageMemory<S>& fullest = out.stages[out.fullest_stage];
  for (std::size_t i = 0; i < kMemoryPartCount; ++i) fullest.parts[i] = named(kMemoryParts[i], fullest.parts[i]);
  fullest.total = named(Q::memory_total, sum_in_order(fullest.parts));
  if (buffers.keeps_gathered) buffers.buffers_gathered = named(Q::buffers_gathered, fullest.gathered);
  out.memory_free = named(Q::memory_free, in.chip.hbm_capacity - fullest.total);

  const S state = training_state_bytes(layer.params.total, in.weight_bytes, in.gradient_bytes, in.optimizer_bytes);
  out.state_bytes = named(
      Q::training_state_bytes,
      in.adapter.on
          ? in.weight_bytes * layer.params.total + (in.adapter.bytes + in.gradient_bytes + in.optimizer_bytes) *
                                                       named(Q::params_trained, in.model.n_layers * layer.trained)
      : in.muon.on ? state - (in.optimizer_bytes - in.muon.bytes) * layer.muon.layer * in.model.n_layers
                   : state);
  out.checkpoints_bytes =
      named(Q::checkpoints_all_bytes, layer.activations.checkpoint_bytes * stage.layer_passes * stage.chips);
  out.job_bytes = named(Q::memory_job_bytes, out.state_bytes + out.checkpoints_bytes);
  out.minimum_chips = named(Q::memory_min_chips, out.job_bytes / in.chip.hbm_capacity);
}

template void working_memory<double>(const Inputs<double>&, const LayerTime<double>&, const PlanKey&,
                                     WorkingMemory<double>&);
template void state_memory<double>(const Inputs<double>&, const LayerTime<double>&, const StepCounts<double>&,
                                   const DeviceLoad<double>&, const PlanKey&, StageMemory<double>&);
template void chip_memory<double>(const Inputs<double>&, const LayerTime<double>&, const StageTime<double>&,
                                  const PlanKey&, const PipelineReport&, WorkingMemory<double>&, ChipMemory<double>&);
template void chip_memory<Traced>(const Inputs<Traced>&, const LayerTime<Traced>&, const StageTime<Traced>&,
                                  const PlanKey&, const PipelineReport&, WorkingMemory<Traced>&, ChipMemory<Traced>&);

}  // namespace roofscape::engine
