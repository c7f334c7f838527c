#include "engine/io/export/megatron_settings.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/frameworks/megatron_terms.h"
#include "engine/frameworks/rules.h"
#include "engine/io/scenario/layer_layout.h"
#include "engine/pipeline/layer_split.h"
#include "engine/scenario/mesh_size.h"

namespace roofscape::io {

using engine::CheckpointPolicy;
using engine::Dtype;
using engine::Scenario;
using engine::ScheduleKind;
using engine::TransformerShape;

namespace {

class Settings {
 public:
  Settings(LaunchText& text, bool for_bridge) : text_(text), s_(text.scenario()), bridge_(for_bridge) {}

  std::vector<MegatronSetting> all() {
    model();
    if (s_.model.is_mla()) latent_attention();
    if (s_.model.is_moe()) experts();
    batch();
    mesh();
    if (s_.parallelism.pipeline > 1) pipeline();
    sharding();
    recomputation();
    kernels();
    precision();
    offload();
    if (s_.adapter.rank > 0) adapters();
    return std::move(out_);
  }

 private:
  // A field that both have a key for.
  void field(std::string_view path) { field(path, text_.value(path)); }
  void field(std::string_view path, const std::string& value) {
    const std::string key = std::string(engine::key_for(engine::Framework::megatron_bridge, path));
    text_.said({path});
    out_.push_back(
        {group_, "--" + std::string(engine::key_for(engine::Framework::megatron, path)) + " " + value, key, value});
  }
  void row(std::string flag, std::string key = {}, std::string value = {}) {
    out_.push_back({group_, std::move(flag), std::move(key), std::move(value)});
  }
  void said_or_bent(std::string_view path, bool said) {
    if (said)
      text_.said({path});
    else
      text_.bent(path);
  }
  void on(std::string_view flag, std::string_view key) { row(std::string(flag), std::string(key), "true"); }

  void model() {
    group_ = "MODEL";
    const TransformerShape& m = s_.model;
    row("--use-mcore-models");
    for (const std::string_view path : {"model.n_layers", "model.d_model", "model.d_ff", "model.n_heads"})
      field(path);
    if (!m.is_mla()) {
      if (m.n_kv_heads != m.n_heads || bridge_) {
        if (m.n_kv_heads != m.n_heads) row("--group-query-attention");
        field("model.n_kv_heads");
      }
      text_.said({"model.n_kv_heads"});
    }
    field("model.d_head");
    field("model.vocab_size");
    row("--make-vocab-size-divisible-by 1", "model.make_vocab_size_divisible_by", "1");
    const int positions = std::max({m.learned_positions, m.max_context_tokens, s_.workload.sequence_length});
    row(fmt::format("--max-position-embeddings {}", positions));
    said_or_bent("model.max_context_tokens", positions == m.max_context_tokens);
    const bool learned = m.learned_positions > 0;
    row(fmt::format("--position-embedding-type {}", learned ? "learned_absolute" : "rope"),
        "model.position_embedding_type", learned ? "learned_absolute" : "rope");
    said_or_bent("model.learned_positions", !learned || m.learned_positions == positions);
    row(fmt::format("--normalization {}", m.layernorm_bias ? "LayerNorm" : "RMSNorm"), "model.normalization",
        m.layernorm_bias ? "LayerNorm" : "RMSNorm");
    if (m.gated_mlp) row("--swiglu", "model.gated_linear_unit", "true");
    if (!m.tied_embeddings)
      row("--untie-embeddings-and-output-weights", "model.share_embeddings_and_output_weights", "false");
    if (!m.mlp_bias) row("--disable-bias-linear", "model.add_bias_linear", "false");
    if (m.qkv_bias && !m.mlp_bias) on("--add-qkv-bias", "model.add_qkv_bias");
    if (m.qk_norm) on("--qk-layernorm", "model.qk_layernorm");
    if (m.attn_sinks) row("--softmax-type learnable", "model.softmax_type", "learnable");
    if (m.has_local_layers()) {
      const int local = m.n_local_layers(), global = m.n_layers - local;
      row(fmt::format("--window-size {},0", m.local_attention.window_tokens), "model.window_size",
          fmt::format("[{}, 0]", m.local_attention.window_tokens));
      // Every nth layer sees all tokens, where that is as many layers as the model has of them.
      const int every = global > 0 ? m.n_layers / global : 0;
      if (every > 1 && m.n_layers / every == global) {
        row(fmt::format("--window-attn-skip-freq {}", every), "model.window_attn_skip_freq",
            fmt::format("{}", every));
        text_.said({"model.local_attention.window_tokens", "model.local_attention.n_local_layers"});
      } else if (global == 0) {
        text_.said({"model.local_attention.window_tokens", "model.local_attention.n_local_layers"});
      } else {
        row(fmt::format("--window-attn-skip-freq \"([1]*{}+[0]*{})\"", local, global), "model.window_attn_skip_freq",
            fmt::format("\"([1]*{}+[0]*{})\"", local, global));
      }
    }
    text_.said({"model.layernorm_bias", "model.gated_mlp", "model.tied_embeddings", "model.mlp_bias", "model.o_bias",
                "model.qkv_bias", "model.qk_norm"});
  }

  void latent_attention() {
    on("--multi-latent-attention", "model.multi_latent_attention");
    if (s_.model.mla.q_lora_rank > 0) field("model.mla.q_lora_rank");
    for (const std::string_view path : {"model.mla.kv_lora_rank", "model.mla.qk_nope_head_dim",
                                        "model.mla.qk_rope_head_dim", "model.mla.v_head_dim"})
      field(path);
    text_.said({"model.mla.q_lora_rank"});
  }

  void experts() {
    const engine::MoeShape& moe = s_.model.moe;
    field("model.moe.n_routed_experts");
    field("model.moe.experts_per_token");
    if (moe.d_ff_expert > 0) field("model.moe.d_ff_expert");
    if (moe.n_shared_experts > 0) {
      const int width = moe.n_shared_experts * s_.model.expert_width();
      row(fmt::format("--moe-shared-expert-intermediate-size {}", width), "model.moe_shared_expert_intermediate_size",
          std::to_string(width));
      if (moe.shared_expert_gate) on("--moe-shared-expert-gate", "model.moe_shared_expert_gate");
    }
    if (moe.n_dense_layers > 0) {
      const std::string pattern = fmt::format("([0]*{}+[1]*{})", moe.n_dense_layers, s_.model.n_moe_layers());
      row("--moe-layer-freq \"" + pattern + "\"", "model.moe_layer_freq", "\"" + pattern + "\"");
    }
    if (moe.n_expert_groups > 0) field("model.moe.n_expert_groups");
    if (moe.groups_per_token > 0) field("model.moe.groups_per_token");
    if (moe.router_bias) on("--moe-router-enable-expert-bias", "model.moe_router_enable_expert_bias");
    row("--moe-token-dispatcher-type alltoall", "model.moe_token_dispatcher_type", "alltoall");
    on("--moe-grouped-gemm", "model.moe_grouped_gemm");
    text_.said({"model.moe.n_shared_experts", "model.moe.shared_expert_gate", "model.moe.n_dense_layers",
                "model.moe.router_bias", "model.moe.n_expert_groups", "model.moe.groups_per_token"});
  }

  void batch() {
    group_ = "TRAINING";
    field("workload.sequence_length");
    field("pipeline.microbatch_sequences");
    field("workload.global_batch_sequences");
    const double samples = s_.workload.train_tokens / s_.workload.sequence_length;
    row(fmt::format("--train-samples {:.0f}", std::max(1.0, std::ceil(samples))), "train.train_samples",
        fmt::format("{:.0f}", std::max(1.0, std::ceil(samples))));
    if (samples == std::floor(samples)) text_.said({"workload.train_tokens"});
    text_.said({"workload.kind"});
  }

  void mesh() {
    group_ = "PARALLEL";
    const engine::Parallelism& p = s_.parallelism;
    field("parallelism.tensor");
    field("parallelism.pipeline");
    field("parallelism.context");
    if (p.context > 1) field("parallelism.context_method");
    if (p.tensor > 1 && p.sequence_parallel) on("--sequence-parallel", "model.sequence_parallel");
    if (s_.model.is_moe()) {
      field("parallelism.expert");
      row(fmt::format("--expert-tensor-parallel-size {}", p.experts_tensor()), "model.expert_tensor_parallel_size",
          std::to_string(p.experts_tensor()));
    }
    if (s_.placement.order == engine::RankOrder::data_last && field_matters(s_, "placement.order")) {
      on("--use-tp-pp-dp-mapping", "dist.use_tp_pp_dp_mapping");
      text_.said({"placement.order"});
    }
    // Ranks that share the batch are what the other degrees leave.
    text_.said(
        {"parallelism.sequence_parallel", "parallelism.expert_tensor", "parallelism.data", "parallelism.fsdp"});
  }

  void pipeline() {
    const engine::PipelinePlan& plan = s_.pipeline;
    const int stages = virtual_stages_of(s_), devices = s_.parallelism.pipeline, chunks = stages / devices;
    const std::vector<int> layers = split_layers(layer_split(s_), plan.schedule, stages);
    const bool even = std::all_of(layers.begin(), layers.end(), [&](int n) { return n == layers.front(); });
    if (!even) {
      const std::string layout = megatron_layout(layers);
      row("--pipeline-model-parallel-layout \"" + layout + "\"", "model.pipeline_model_parallel_layout",
          "\"" + layout + "\"");
    } else if (chunks > 1) {
      row(fmt::format("--num-virtual-stages-per-pipeline-rank {}", chunks),
          "model.virtual_pipeline_model_parallel_size", std::to_string(chunks));
    }
    text_.said({"pipeline.virtual_stages", "pipeline.layers_per_stage", "pipeline.embedding_as_layers",
                "pipeline.head_as_layers"});
    if (plan.schedule == ScheduleKind::overlapped_1f1b)
      on("--overlap-moe-expert-parallel-comm", "comm_overlap.overlap_moe_expert_parallel_comm");
    // 1F1B is interleaved where there are virtual stages, and only there.
    if (plan.schedule == ScheduleKind::overlapped_1f1b ||
        (plan.schedule == ScheduleKind::interleaved_1f1b) == (chunks > 1))
      text_.said({"pipeline.schedule"});
    if (chunks > 1) {
      // Where groups of as many microbatches as stages leave a last one that is smaller, Megatron-LM does not start.
      const int group = group_size_of(schedule_shape(plan, plan.schedule, devices, microbatch_count(s_), chunks));
      if (engine::facts_of(plan.schedule).takes_groups && group != devices)
        field("pipeline.group_size", std::to_string(group));
      else
        text_.said({"pipeline.group_size"});
      if (engine::blocks_sends(plan.sends, plan.schedule))
        row("--no-overlap-p2p-communication", "comm_overlap.overlap_p2p_comm", "false");
    }
  }

  void sharding() {
    const engine::Parallelism& p = s_.parallelism;
    const int stage = engine::sharded_stage(s_);
    // Muon cannot use state that is dealt as one flat buffer: its ranks have whole matrices.
    const bool layer_wise = engine::is_muon(s_.precision.optimizer) && stage == 1;
    if (stage == 0) {
      row({}, "ddp.use_distributed_optimizer", "false");
      if (p.data * p.fsdp > 1) on("--overlap-grad-reduce", "ddp.overlap_grad_reduce");
    } else if (layer_wise) {
      on("--use-layer-wise-distributed-optimizer", "optimizer.use_layer_wise_distributed_optimizer");
      on("--overlap-grad-reduce", "ddp.overlap_grad_reduce");
    } else {
      on("--use-distributed-optimizer", "ddp.use_distributed_optimizer");
      on("--overlap-grad-reduce", "ddp.overlap_grad_reduce");
      on("--overlap-param-gather", "ddp.overlap_param_gather");
      if (p.data > 1)
        row(fmt::format("--num-distributed-optimizer-instances {}", p.data),
            "ddp.num_distributed_optimizer_instances", std::to_string(p.data));
      if (stage > 1) {
        const std::string_view strategy = stage == 2 ? "optim_grads" : "optim_grads_params";
        on("--use-megatron-fsdp", "ddp.use_megatron_fsdp");
        row(fmt::format("--data-parallel-sharding-strategy {}", strategy), "ddp.data_parallel_sharding_strategy",
            std::string(strategy));
        row("--ckpt-format fsdp_dtensor", "checkpoint.ckpt_format", "fsdp_dtensor");
      }
    }
    text_.said({"parallelism.zero_stage", "parallelism.keep_gathered"});
  }

  void recomputation() {
    group_ = "TRAINING";
    const auto full = [this](std::string_view method, int layers) {
      row("--recompute-granularity full", "model.recompute_granularity", "full");
      row(fmt::format("--recompute-method {}", method), "model.recompute_method", std::string(method));
      row(fmt::format("--recompute-num-layers {}", layers), "model.recompute_num_layers", std::to_string(layers));
    };
    switch (s_.checkpointing.policy) {
      case CheckpointPolicy::attention:
        row("--recompute-granularity selective", "model.recompute_granularity", "selective");
        row("--recompute-modules core_attn", "model.recompute_modules", "[core_attn]");
        break;
      case CheckpointPolicy::block:
        full("uniform", 1);
        break;
      case CheckpointPolicy::segments:
        full("uniform", engine::megatron_segment_layers(s_));
        break;
      case CheckpointPolicy::some_blocks:
        full("block", engine::megatron_blocks_per_stage(s_));
        break;
      default:
        break;
    }
    // Segments of one layer, and blocks of all, are written as what they amount to.
    const CheckpointPolicy policy = s_.checkpointing.policy;
    if (policy == CheckpointPolicy::segments && engine::megatron_segment_layers(s_) == 1) return;
    if (policy == CheckpointPolicy::some_blocks && s_.checkpointing.blocks == s_.model.n_layers) return;
    text_.said({"checkpointing.policy", "checkpointing.segments", "checkpointing.blocks"});
  }

  void kernels() {
    using engine::AttentionKernel;
    if (s_.kernels.attention != AttentionKernel::automatic) {
      const std::string_view backend = s_.kernels.attention == AttentionKernel::fused ? "flash" : "unfused";
      row(fmt::format("--attention-backend {}", backend), "model.attention_backend", std::string(backend));
      text_.said({"kernels.attention"});
    }
    if (s_.kernels.loss == engine::LossKernel::fused) {
      on("--cross-entropy-loss-fusion", "model.cross_entropy_loss_fusion");
      text_.said({"kernels.loss"});
    }
    if (s_.kernels.launch == engine::KernelLaunch::graphs) {
      row("--cuda-graph-impl transformer_engine", "model.cuda_graph_impl", "transformer_engine");
      // How many tokens experts get is known when they run: what comes before them can be captured.
      if (s_.model.is_moe())
        row("--cuda-graph-scope attn moe_router moe_preprocess", "model.cuda_graph_scope",
            "[attn, moe_router, moe_preprocess]");
      text_.said({"kernels.launch"});
    }
  }

  void precision() {
    const engine::Precision& p = s_.precision;
    const bool fp8 = p.compute == Dtype::fp8, fp4 = p.compute == Dtype::nvfp4, narrow = fp8 || fp4;
    const bool bf16 = p.compute == Dtype::bf16 || narrow, fp16 = p.compute == Dtype::fp16;
    if (bf16) row("--bf16", narrow ? "" : "mixed_precision", narrow ? "" : "bf16_mixed");
    if (fp16) row("--fp16", "mixed_precision", "fp16_mixed");
    if (fp8) row("--fp8-format hybrid", "mixed_precision", "bf16_with_fp8_current_scaling_mixed");
    if (fp4) row("--fp4-format e2m1", "mixed_precision", "bf16_with_nvfp4_mixed");
    if (p.weights == Dtype::fp8) on("--fp8-param-gather", "ddp.fp8_param_gather");
    text_.said({"precision.compute"});
    if (p.weights != Dtype::fp8) text_.said({"precision.weights"});
    if (p.gradients == Dtype::bf16 && bf16) {
      row("--grad-reduce-in-bf16", "ddp.grad_reduce_in_fp32", "false");
      text_.said({"precision.gradients"});
    } else if (p.gradients == Dtype::fp32 && (bf16 || fp16)) {
      row("--accumulate-allreduce-grads-in-fp32", "ddp.grad_reduce_in_fp32", "true");
      text_.said({"precision.gradients"});
    }
    if (p.optimizer == engine::OptimizerKind::adam_bf16) {
      on("--use-precision-aware-optimizer", "optimizer.use_precision_aware_optimizer");
      row("--exp-avg-dtype bf16", "optimizer.exp_avg_dtype", "bfloat16");
      row("--exp-avg-sq-dtype bf16", "optimizer.exp_avg_sq_dtype", "bfloat16");
    } else if (p.optimizer == engine::OptimizerKind::adam_8bit) {
      on("--use-precision-aware-optimizer", "optimizer.use_precision_aware_optimizer");
      row("--exp-avg-dtype fp8", "optimizer.exp_avg_dtype", "uint8");
      row("--exp-avg-sq-dtype fp8", "optimizer.exp_avg_sq_dtype", "uint8");
    } else if (s_.offload.optimizer) {
      on("--use-precision-aware-optimizer", "optimizer.use_precision_aware_optimizer");
    }
    if (engine::is_muon(p.optimizer)) muon();
    if (p.optimizer != engine::OptimizerKind::none && p.optimizer != engine::OptimizerKind::muon_bf16)
      text_.said({"precision.optimizer"});
    if ((p.master_weights == Dtype::fp32) == (bf16 || fp16) &&
        (p.master_weights == Dtype::fp32 || p.master_weights == Dtype::none))
      text_.said({"precision.master_weights"});
    if (p.residual == Dtype::fp32) on("--fp32-residual-connection", "model.fp32_residual_connection");
  }

  void muon() {
    const engine::Muon& muon = s_.muon;
    row("--optimizer muon", "optimizer.optimizer", "muon");
    row(fmt::format("--muon-num-ns-steps {}", muon.newton_schulz_steps), "optimizer.muon_num_ns_steps",
        std::to_string(muon.newton_schulz_steps));
    const std::string_view slices = muon.tensor == engine::MuonTensor::blockwise ? "blockwise" : "duplicated";
    row(fmt::format("--muon-tp-mode {}", slices), "optimizer.muon_tp_mode", std::string(slices));
    text_.said({"muon.newton_schulz_steps", "muon.tensor"});
    const bool homes = muon.homes == engine::MuonHomes::distributed;
    if (homes == (engine::sharded_stage(s_) == 1)) text_.said({"muon.homes"});
  }

  void offload() {
    if (s_.offload.optimizer) {
      on("--optimizer-cpu-offload", "optimizer.optimizer_cpu_offload");
      const std::string fraction = fmt::format("{:#}", s_.offload.optimizer_fraction);
      row("--optimizer-offload-fraction " + fraction, "optimizer.optimizer_offload_fraction", fraction);
      text_.said({"offload.optimizer_fraction"});
    }
    if (s_.offload.activations) {
      on("--cpu-offloading", "model.cpu_offloading");
      row(fmt::format("--cpu-offloading-num-layers {}", std::max(1, s_.model.n_layers - 1)),
          "model.cpu_offloading_num_layers", std::to_string(std::max(1, s_.model.n_layers - 1)));
    }
    text_.said({"offload.optimizer", "offload.activations"});
  }

  // Of Megatron Bridge alone. Its canonical form has adapters for queries, keys, values, gate and up each; that of
  // fused matrices is for modules that the canonical one does not split.
  void adapters() {
    using engine::AdapterTargets;
    const AdapterTargets targets = s_.adapter.targets;
    const bool mlp = targets == AdapterTargets::mlp || targets == AdapterTargets::linear;
    const bool attention = targets != AdapterTargets::mlp, latent = s_.model.is_mla();
    const bool canonical = !(attention && latent) && (!mlp || s_.model.gated_mlp);
    std::string modules;
    const auto add = [&modules](std::string_view names) {
      modules += (modules.empty() ? "" : ", ") + std::string(names);
    };
    if (attention && latent) {
      add(s_.model.mla.q_lora_rank > 0 ? "linear_q_down_proj, linear_q_up_proj" : "linear_q_proj");
      add("linear_kv_down_proj, linear_kv_up_proj");
    } else if (attention) {
      add(targets == AdapterTargets::query_value ? "linear_q, linear_v"
          : canonical                            ? "linear_q, linear_k, linear_v"
                                                 : "linear_qkv");
    }
    if (attention && targets != AdapterTargets::query_value) add("linear_proj");
    if (mlp) add(canonical ? "linear_fc1_gate, linear_fc1_up, linear_fc2" : "linear_fc1, linear_fc2");
    row({}, "peft._target_",
        canonical ? "megatron.bridge.peft.canonical_lora.CanonicalLoRA" : "megatron.bridge.peft.lora.LoRA");
    row({}, "peft.dim", std::to_string(s_.adapter.rank));
    row({}, "peft.target_modules", "[" + modules + "]");
    // Otherwise the experts of a rank share one adapter, as they do in the fused form.
    const bool of_experts = mlp && s_.model.is_moe();
    if (of_experts && canonical) row({}, "peft.share_expert_adapters", "false");
    row({}, "checkpoint.pretrained_checkpoint", "PRETRAINED_CHECKPOINT");
    text_.said({"adapter.rank"});
    // Fused matrices share what reads their input, which the plan has for each.
    const bool fused = !canonical && ((attention && !latent) || (mlp && s_.model.gated_mlp));
    said_or_bent("adapter.targets", !fused && !(latent && targets == AdapterTargets::query_value));
    // A module's name is that of the routed experts' too.
    if (s_.adapter.experts && (canonical || !of_experts))
      text_.said({"adapter.experts"});
    else if (of_experts)
      text_.bent("adapter.experts");
  }

  LaunchText& text_;
  const Scenario& s_;
  bool bridge_;
  std::string_view group_;
  std::vector<MegatronSetting> out_;
};

}  // namespace

std::vector<MegatronSetting> megatron_settings(LaunchText& text, bool for_bridge) {
  return Settings(text, for_bridge).all();
}

}  // namespace roofscape::io
