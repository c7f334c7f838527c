// What a step updates: low-rank adapters beside frozen weights, and Muon's matrices beside Adam's parameters.
#include "engine/blocks/spec.h"
#include "engine/model/adapter.h"
#include "engine/model/layer_operations.h"
#include "engine/model/parameters.h"
#include "engine/scenario/scenario.h"
#include "engine/training/muon.h"
#include "engine/training/run.h"

namespace roofscape::engine::block_table {

namespace {

template <Scalar S>
void adapters(BlockRun<S>& io) {
  if (!is_possible(io)) return;
  Inputs<S> in = alone(io, dims_of(io), one<S>());
  const Parameters<S> p = count_parameters(in.model);
  const S full_flops = io.out(Q::lora_full_flops_token, training_flops_per_token(in, p, FlopsConvention::six_p));
  in.adapter.stand_beside(*kAdapterTargets.parse(io.choice("targets")), io.flag("routed_experts"));
  in.adapter.rank = io[Q::adapter_rank], in.adapter.bytes = io[Q::adapter_width_bytes];
  const AdapterParameters<S> a = adapter_parameters(in, p);
  io.out(Q::adapter_layer, a.layer);
  io.out(Q::adapter_active, a.active);
  const S trained = io.out(Q::params_trained, in.model.n_layers * a.layer);
  io.out(Q::lora_share, trained / p.total);
  const S bg = io[Q::gradient_width_bytes], bo = io[Q::optimizer_width_bytes];
  const S frozen = io.out(Q::lora_frozen, io[Q::weight_width_bytes] * p.total);
  const S state = io.out(Q::lora_state, training_state_bytes(trained, in.adapter.bytes, bg, bo));
  const S total = io.out(Q::lora_total, frozen + state);
  const S full = io.out(Q::lora_full, training_state_bytes(p.total, in.adapter.bytes, bg, bo));
  io.out(Q::lora_reduction, full / total);
  io.out(Q::lora_free, io[Q::hbm_capacity] - total);
  io.out(Q::lora_file, in.adapter.bytes * trained);
  const S flops = io.out(Q::lora_flops_token, training_flops_per_token(in, p, FlopsConvention::six_p));
  io.out(Q::lora_flops_ratio, flops / full_flops);
}

// All matrices of the model on one chip, by the engine's own account of a step's end.
template <Scalar S>
MuonWork<S> muon_on_one_chip(const Inputs<S>& in, const Parameters<S>& p) {
  LayerTime<S> layer{};
  layer.params = p;
  StepCounts<S> counts{};
  counts.stages = one<S>();
  MuonWork<S> work{};
  muon_work(in, layer, LinkRates<S>{}, counts, StageKey{}, work);
  return work;
}

template <Scalar S>
void muon(BlockRun<S>& io) {
  if (!is_possible(io)) return;
  const S steps = io[Q::muon_steps], tokens = io[Q::tokens], m = io[Q::ns_rows], n = io[Q::ns_columns];
  const S shorter = named(Q::ns_shorter, min(m, n)), longer = named(Q::ns_longer, max(m, n));
  const S six = constant<S>(6, unit::flop_each);
  const S flops = io.out(Q::ns_flops, newton_schulz_flops(shorter, longer, steps));
  io.out(Q::ns_overhead, flops / (six * m * n * tokens));
  io.out(Q::ns_bound, steps * shorter / tokens);

  Inputs<S> in = alone(io, dims_of(io), one<S>());
  in.muon.on = true;
  in.muon.steps = steps, in.muon.send_bytes = io[Q::muon_send_bytes], in.muon.peak = io[Q::peak_flops];
  in.chip.hbm_bandwidth = io[Q::hbm_bandwidth];
  const Parameters<S> p = count_parameters(in.model);
  const S updated = io.out(Q::ns_updated, in.model.n_layers * muon_parameters(in, p).layer);
  io.out(Q::ns_updated_share, updated / p.total);
  const MuonWork<S> work = muon_on_one_chip(in, p);
  const S all = io.out(Q::ns_all_flops, one<S>() * work.flops);
  const S training = io.out(Q::ns_training_flops, six * p.active * tokens);
  io.out(Q::ns_all_overhead, all / training);
  io.out(Q::ns_tokens, all / (constant<S>(0.01) * six * p.active));
  io.out(Q::ns_time, one<S>() * work.products);
  const S moments = io[Q::optimizer_width_bytes], moment = io[Q::muon_width_bytes];
  const S adam = io.out(Q::ns_adam_state, moments * p.total);
  const S state = io.out(Q::ns_state, moment * updated + moments * (p.total - updated));
  io.out(Q::ns_saved, adam - state);
  io.out(Q::ns_gathered, in.muon.send_bytes * updated);
}

std::optional<double> mlp_width(const TransformerShape& m) { return m.is_moe() ? m.expert_width() : m.d_ff; }

}  // namespace

std::vector<BuildingBlock> update_blocks() {
  return {
      {"adapters",
       "Hu et al. 2021; Dettmers et al. 2023",
       inputs(whole("rank", Q::adapter_rank).def(16), choice("targets", kAdapterTargets.ids(), "linear"),
              flag("routed_experts", true), model_inputs(), expert_inputs(),
              number("weight_bytes", Q::weight_width_bytes).def(2).at_least(0),
              number("adapter_bytes", Q::adapter_width_bytes).def(2).at_least(0),
              number("gradient_bytes", Q::gradient_width_bytes).def(2).at_least(0),
              number("optimizer_bytes", Q::optimizer_width_bytes).def(8).at_least(0),
              number("capacity_bytes", Q::hbm_capacity).of("hbm_bytes")),
       {out("parameters", Q::params_trained), out("share", Q::lora_share), out("layer", Q::adapter_layer),
        out("layer_active", Q::adapter_active), out("file_bytes", Q::lora_file), out("frozen_bytes", Q::lora_frozen),
        out("adapter_state_bytes", Q::lora_state), out("total_bytes", Q::lora_total),
        out("full_training_bytes", Q::lora_full), out("reduction", Q::lora_reduction),
        out_holds("fits", Q::lora_free, 0), out("free_bytes", Q::lora_free),
        out("flops_per_token", Q::lora_flops_token), out("full_training_flops_per_token", Q::lora_full_flops_token),
        out("flops_ratio", Q::lora_flops_ratio)},
       adapters<double>,
       adapters<Traced>},
      {"muon",
       "Jordan et al. 2024; Liu et al. 2025",
       inputs(whole("rows", Q::ns_rows)
                  .model([](const TransformerShape& m) { return std::optional<double>(m.d_model); })
                  .from("d_model", [](const BlockCall& c) { return std::optional(c.number("d_model")); }),
              whole("columns", Q::ns_columns)
                  .model(mlp_width)
                  .from("d_ff", [](const BlockCall& c) { return std::optional(c.number("d_ff")); }),
              number("tokens", Q::tokens), whole("newton_schulz_steps", Q::muon_steps).def(5), model_inputs(),
              expert_inputs(), number("optimizer_bytes", Q::optimizer_width_bytes).def(8).at_least(0),
              number("muon_bytes", Q::muon_width_bytes)
                  .at_least(0)
                  .from("optimizer_bytes / 2",
                        [](const BlockCall& c) { return std::optional(c.number("optimizer_bytes") / 2); }),
              number("element_bytes", Q::muon_send_bytes).def(2), dtype_input(), peak_input(), hbm_input()),
       {out("matrix_flops", Q::ns_flops), out("matrix_overhead", Q::ns_overhead), out("overhead_bound", Q::ns_bound),
        out("updated", Q::ns_updated), out("updated_share", Q::ns_updated_share), out("flops", Q::ns_all_flops),
        out("training_flops", Q::ns_training_flops), out("overhead", Q::ns_all_overhead),
        out("tokens_for_1_percent", Q::ns_tokens), out("time_s", Q::ns_time), out("state_bytes", Q::ns_state),
        out("adam_state_bytes", Q::ns_adam_state), out("saved_bytes", Q::ns_saved),
        out("gathered_bytes", Q::ns_gathered)},
       muon<double>,
       muon<Traced>},
  };
}

}  // namespace roofscape::engine::block_table
