// The chain of an evaluation, shared by evaluate() (double) and explain() (Traced): inputs, then the three costs,
// then the bounds. Not for views; they get a Report or a Derivation.
#pragma once

#include "engine/hardware/wires.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"
#include "engine/training/book_bounds.h"
#include "engine/training/layer_time.h"
#include "engine/training/operation_steps.h"
#include "engine/training/pipeline_run.h"
#include "engine/training/training_cost.h"

namespace roofscape::engine {

template <Scalar S>
struct Evaluation {
  Inputs<S> in;
  LayerTime<S> layer;
  StageTime<S> stage;
  TrainingCost<S> plan;
  OperationSteps<S> operations;
  Bounds<S> limits;
  S tokens_per_chip;
};

// Fills `e` and `pipeline`, reusing the memory of the evaluation before. `length`: see run_stages().
template <Scalar S>
void run_evaluation(const Scenario& s, Trace* trace, PipelineScratch& scratch, PipelineReport& pipeline,
                    Evaluation<S>& e, const StepLength& length = {}) {
  e.in = make_inputs<S>(s, trace);
  e.layer = layer_time(e.in, layer_key(s), s.parallelism.context_method);
  run_stages(e.in, e.layer, stage_key(s), scratch, pipeline, e.stage, length);
  training_cost(e.in, e.layer, e.stage, plan_key(s), pipeline, e.plan);
  operation_steps(e.in, e.layer, e.stage, e.plan, layer_key(s), plan_key(s), e.operations);
  e.limits = bounds(e.in, e.plan.tokens_per_step, transfers_add(s));
  e.tokens_per_chip = named(Q::tokens_per_chip, e.plan.tokens_per_step / e.stage.chips);
}
template <Scalar S>
Evaluation<S> run_evaluation(const Scenario& s, Trace* trace, PipelineReport& pipeline,
                             const StepLength& length = {}) {
  PipelineScratch scratch;
  Evaluation<S> e;
  run_evaluation(s, trace, scratch, pipeline, e, length);
  return e;
}

// What only some models have: inputs and parameters of experts, latent attention, windows, learned positions.
template <Scalar S, class F>
void for_each_model_quantity(const ModelDims<S>& m, const Parameters<S>& p, F&& f) {
  if (m.is.positions) f(Q::learned_positions, m.learned_positions), f(Q::params_positions, p.positions);
  if (m.is.local) f(Q::window_tokens, m.window_tokens), f(Q::n_local_layers, m.n_local_layers);
  if (m.is.moe) {
    f(Q::n_routed_experts, m.n_experts), f(Q::experts_per_token, m.experts_per_token);
    f(Q::d_ff_expert, m.d_ff_expert), f(Q::n_shared_experts, m.n_shared_experts);
    f(Q::n_dense_layers, m.n_dense_layers), f(Q::n_moe_layers, p.n_moe_layers), f(Q::moe_share, p.moe_share);
    f(Q::params_expert, p.expert), f(Q::params_experts, p.experts), f(Q::params_router, p.router);
    if (m.is.expert_groups) f(Q::n_expert_groups, m.n_expert_groups), f(Q::groups_per_token, m.groups_per_token);
    if (m.is.shared_experts) f(Q::params_shared_experts, p.shared_experts);
    if (m.is.dense_layers) f(Q::params_dense_mlp, p.dense_mlp);
    f(Q::params_inactive, p.inactive), f(Q::params_layer_active, p.layer_active);
  }
  if (m.is.mla) {
    if (m.is.q_lora) f(Q::q_lora_rank, m.q_lora_rank);
    f(Q::kv_lora_rank, m.kv_lora_rank), f(Q::qk_nope_head_dim, m.qk_nope_head_dim);
    f(Q::qk_rope_head_dim, m.qk_rope_head_dim), f(Q::v_head_dim, m.v_head_dim);
    f(Q::params_attention_matrices, p.attention_matrices), f(Q::params_qkv_layer, p.qkv_layer);
  }
}

// The sizes of the model and the rates of the chip and its links, which training and serving both start from.
template <Scalar S, class F>
void for_each_spec_quantity(const Inputs<S>& in, F&& f) {
  f(Q::n_layers, in.model.n_layers), f(Q::d_model, in.model.d_model), f(Q::d_ff, in.model.d_ff);
  f(Q::n_heads, in.model.n_heads), f(Q::n_kv_heads, in.model.n_kv_heads), f(Q::d_head, in.model.d_head);
  f(Q::vocab_size, in.model.vocab_size);
  f(Q::peak_flops, in.chip.peak_flops), f(Q::hbm_capacity, in.chip.hbm_capacity);
  f(Q::hbm_bandwidth, in.chip.hbm_bandwidth), f(Q::price, in.chip.price);
  if (in.links.torus_dims > 0)
    f(Q::ici_axis_bandwidth, in.chip.ici_axis), f(Q::dcn_bandwidth, in.chip.dcn);
  else
    f(Q::nvlink_bandwidth, in.chip.nvlink), f(Q::node_bandwidth, in.chip.node);
  f(Q::cluster_chips, in.cluster_chips);
}

// Calls f(Q, value) for every quantity that has a slot in a report and applies to this evaluation.
template <Scalar S, class F>
void for_each_quantity(const Evaluation<S>& e, F&& f) {
  const auto& [in, layer, stage, plan, operations, limits, tokens_per_chip] = e;
  const auto& p = layer.params;
  const auto& ops = layer.operations;
  const bool torus = limits.torus, pipelined = in.degree(Axis::pipeline).n > 1;
  for_each_spec_quantity(in, f);
  for_each_model_quantity(in.model, p, f);
  f(Q::board_power, in.chip.power);
  if (in.experts_split_tensor) f(Q::expert_tensor, in.expert_tensor), f(Q::tensor_share, layer.tensor_share);
  if (torus) f(Q::cluster_slices, in.slices);
  f(Q::batch_sequences, in.batch_sequences), f(Q::sequence_length, in.sequence_length);
  f(Q::train_tokens, in.train_tokens), f(Q::microbatch_sequences, in.microbatch_sequences);
  f(Q::checkpoints_per_layer, in.checkpoints_per_layer), f(Q::activation_width_bytes, in.activation_bytes);
  f(Q::residual_width_bytes, in.residual_bytes);
  f(Q::weight_width_bytes, in.weight_bytes), f(Q::gradient_width_bytes, in.gradient_bytes);
  f(Q::optimizer_width_bytes, in.optimizer_bytes), f(Q::reserve_bytes, in.reserve_bytes);
  f(Q::stated_mfu, in.stated_mfu), f(Q::overlap, in.overlap), f(Q::pcie_bandwidth, in.chip.pcie);
  f(Q::host_memory_bandwidth, in.chip.host_memory);
  f(Q::checkpointed_blocks, in.checkpointed_blocks), f(Q::checkpoint_segments, in.checkpoint_segments);

  f(Q::params_mlp, p.mlp), f(Q::params_attention, p.attention), f(Q::params_norms, p.norms);
  f(Q::params_vocab, p.vocab), f(Q::params_embedding, p.embedding), f(Q::params_head, p.head);
  f(Q::params_unembedding, p.unembedding), f(Q::params_mlp_layer, p.mlp_layer);
  f(Q::params_attention_layer, p.attention_layer), f(Q::params_matmul_layer, p.matmul_layer);
  f(Q::params_layer, p.layer), f(Q::params_total, p.total), f(Q::params_active, p.active);
  f(Q::params_matmul, p.matmul), f(Q::kv_cache_bytes_per_token, ops.kv_cache_bytes_per_token);
  f(Q::flops_per_token, plan.flops_per_token), f(Q::tokens_per_step, plan.tokens_per_step);
  f(Q::flops_model_per_step, plan.flops_model), f(Q::flops_recompute_per_step, plan.flops_recompute);
  f(Q::flops_hardware_per_step, plan.flops_hardware), f(Q::flops_run, plan.flops_run);

  f(Q::chips_used, stage.chips), f(Q::data_ranks, stage.data_ranks), f(Q::state_shards, stage.state_shards);
  f(Q::microbatches, stage.microbatches), f(Q::tokens_per_chip, tokens_per_chip);
  f(Q::microbatch_tokens, layer.microbatch_tokens);

  f(Q::layer_flops_forward, ops.flops_forward), f(Q::layer_flops_recompute, layer.flops_recompute);
  f(Q::recompute_times, layer.recompute_times);
  f(Q::layer_again, layer.layer_again);
  f(Q::layer_math_forward, layer.layer.math_forward), f(Q::layer_math_backward, layer.layer.math_backward);
  f(Q::layer_hbm_bytes_forward, ops.hbm_bytes_forward), f(Q::layer_hbm_bytes_backward, layer.hbm_bytes_backward);
  f(Q::layer_hbm_forward, layer.layer.hbm_forward), f(Q::layer_hbm_backward, layer.layer.hbm_backward);
  if (in.calibration.hosted && value_of(plan.layers_host) > 0) {
    f(Q::layer_host_forward, layer.host.forward), f(Q::layer_host_backward, layer.host.backward);
    f(Q::step_layers_host, plan.layers_host);
  }
  f(Q::layer_work_forward, stage.layer.work_forward), f(Q::layer_work_backward, stage.layer.work_backward);
  f(Q::gathered_weight_bytes, stage.weight_bytes), f(Q::gradient_bytes, stage.gradient_bytes);
  if (in.degree(Axis::tensor).n > 1) f(Q::tensor_activation_bytes, layer.tensor_bytes);
  if (in.degree(Axis::context).n > 1) f(Q::context_kv_bytes, layer.context_bytes);
  if (in.degree(Axis::context).n > 1 && in.links.context_exchanges) f(Q::context_exchange, layer.context_exchange);
  if (spreads_experts(in)) {
    f(Q::expert_bytes, layer.expert_bytes), f(Q::expert_exchange, layer.expert_exchange);
    if (in.links[Axis::expert].tier == LinkTier::fabric) f(Q::expert_across_bytes, layer.expert_across_bytes);
  }
  f(Q::params_layer_rank, layer.params_rank), f(Q::params_absent, layer.params_absent);
  f(Q::layer_network_forward, stage.layer.network_forward),
      f(Q::layer_network_backward, stage.layer.network_backward);
  f(Q::layer_exposed_forward, stage.layer.exposed_forward),
      f(Q::layer_exposed_backward, stage.layer.exposed_backward);
  f(Q::layer_hbm_exposed, stage.layer.hbm_exposed);
  f(Q::layer_time_forward, stage.layer.forward), f(Q::layer_time_backward, stage.layer.backward);
  f(Q::vocab_time, stage.vocab_time), f(Q::vocab_hbm_exposed, stage.vocab_hbm_exposed);
  f(Q::layers_a_stage, stage.layer_passes);

  if (in.adapter.on) {
    f(Q::adapter_rank, in.adapter.rank), f(Q::adapter_width_bytes, in.adapter.bytes);
    f(Q::adapter_layer, layer.trained), f(Q::params_trained, in.model.n_layers * layer.trained);
    f(Q::layer_weight_gradient, layer.weight_gradient);
  }
  if (in.muon.on) {
    f(Q::muon_steps, in.muon.steps), f(Q::muon_width_bytes, in.muon.bytes);
    f(Q::muon_send_bytes, in.muon.send_bytes), f(Q::muon_peak, in.muon.peak);
    f(Q::muon_layer, layer.muon.layer), f(Q::muon_flops, stage.muon.flops), f(Q::muon_products, stage.muon.products);
    f(Q::muon_updated, plan.updated_by_muon);
  }
  for (std::size_t i = 0; i < kStepParts.size(); ++i) f(kStepParts[i], plan.step_parts[i]);
  f(Q::step_time, plan.step_time), f(Q::network_total, plan.network);
  f(Q::mfu, plan.mfu), f(Q::hfu, plan.hfu);
  f(Q::tokens_per_s, plan.tokens_per_s), f(Q::tokens_per_s_per_chip, plan.tokens_per_s_per_chip);
  f(Q::run_steps, plan.run_steps), f(Q::run_time, plan.run_time), f(Q::run_days, plan.run_days);
  f(Q::run_chip_hours, plan.chip_hours), f(Q::run_cost, plan.cost_usd), f(Q::run_energy, plan.energy_kwh);
  f(Q::stated_run_days, plan.stated_days);

  const StageMemory<S>& fullest = plan.stages[plan.fullest_stage];
  for (std::size_t i = 0; i < kMemoryPartCount; ++i) f(kMemoryParts[i], fullest.parts[i]);
  f(Q::memory_total, fullest.total), f(Q::memory_free, plan.memory_free);
  f(Q::layer_checkpoint_bytes, layer.activations.checkpoint_bytes),
      f(Q::layer_full_bytes, layer.activations.full_bytes),
      f(Q::layer_postponed_bytes, layer.activations.postponed_bytes);
  f(Q::buffers_gathered, plan.buffers_gathered), f(Q::buffers_working, plan.buffers_working);
  f(Q::buffers_logits, plan.buffers_logits);
  f(Q::training_state_bytes, plan.state_bytes), f(Q::checkpoints_all_bytes, plan.checkpoints_bytes);
  f(Q::memory_job_bytes, plan.job_bytes), f(Q::memory_min_chips, plan.minimum_chips);

  f(Q::pipeline_work, stage.work), f(Q::pipeline_bubble_fraction, plan.bubble_fraction);
  f(Q::pipeline_bubble_ideal, plan.bubble_even);
  if (pipelined) f(Q::pipeline_transfer, stage.transfer);
  if (pipelined && layer.stages_in_node > 1)
    f(Q::pipeline_transfer_in_node, stage.transfer_in_node),
        f(Q::pipeline_in_node_bandwidth, layer.in_node_bandwidth);
  if (pipelined && stage.drawn)
    f(Q::pipeline_bubble_time, stage.bubble_time), f(Q::pipeline_bubble_to_work, stage.bubble_to_work),
        f(Q::pipeline_span_bubble, stage.span_bubble);
  if (pipelined && stage.simulated)
    f(Q::pipeline_makespan, stage.makespan), f(Q::pipeline_in_transfer, stage.in_transfer),
        f(Q::pipeline_even_stages, stage.even_stages_idle), f(Q::pipeline_idle_even, plan.idle_even),
        f(Q::pipeline_idle_imbalance, plan.idle_imbalance);
  if (stage.pairs) f(Q::pairs_hidden, stage.hidden), f(Q::exposed_left, stage.exposed_left);
  if (pipelined) f(Q::stage_gradient_bytes, stage.mean_gradient_bytes);

  f(Q::bound_cluster_tokens, limits.tokens_per_chip), f(Q::bound_alpha, limits.alpha);
  f(Q::bound_fsdp_1, limits.fsdp_1), f(Q::bound_tensor, limits.tensor), f(Q::ridge, limits.ridge);
  f(Q::bound_max_chips_fsdp, limits.max_chips_fsdp);
  if (!torus) f(Q::bound_link, limits.link);
  if (in.model.is.moe)
    f(Q::bound_active_width, limits.active_width), f(Q::bound_total_width, limits.total_width),
        f(Q::bound_dense, limits.dense);
  if (torus) f(Q::bound_max_chips_mixed, limits.max_chips_mixed);
  if (torus) {
    f(Q::bound_fsdp_2, limits.fsdp_2), f(Q::bound_fsdp_3, limits.fsdp_3);
    f(Q::bound_mixed_sum, limits.mixed_sum), f(Q::bound_mixed_max, limits.mixed_max);
    f(Q::bound_x_opt, limits.x_opt), f(Q::bound_ratio_sum, limits.ratio_sum);
    f(Q::bound_ratio_max, limits.ratio_max), f(Q::bound_dcn, limits.dcn);
  }
}

}  // namespace roofscape::engine
