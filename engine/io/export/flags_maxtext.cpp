// A plan for MaxText, as YAML over its base.yml.
#include <fmt/format.h>

#include "engine/frameworks/rules.h"
#include "engine/io/export/flag_writers.h"
#include "engine/scenario/mesh_size.h"

namespace roofscape::io {

using engine::CheckpointPolicy;
using engine::Dtype;
using engine::say;

namespace {

// Models that MaxText has a configuration of.
constexpr std::pair<std::string_view, std::string_view> kMaxtextNames[] = {
    {"llama2-7b", "llama2-7b"},         {"llama2-13b", "llama2-13b"},
    {"llama2-70b", "llama2-70b"},       {"llama3-8b", "llama3.1-8b"},
    {"llama3-70b", "llama3.1-70b"},     {"llama3-405b", "llama3.1-405b"},
    {"mistral-7b", "mistral-7b"},       {"mixtral-8x7b", "mixtral-8x7b"},
    {"mixtral-8x22b", "mixtral-8x22b"}, {"deepseek-v3", "deepseek3-671b"},
    {"gemma-2b", "gemma-2b"},           {"gemma-7b", "gemma-7b"},
    {"gemma2-2b", "gemma2-2b"},         {"gemma2-9b", "gemma2-9b"},
    {"gemma2-27b", "gemma2-27b"},       {"qwen3-0.6b", "qwen3-0.6b"},
    {"qwen3-4b", "qwen3-4b"},           {"qwen3-8b", "qwen3-8b"},
    {"qwen3-14b", "qwen3-14b"},         {"qwen3-32b", "qwen3-32b"},
    {"qwen3-30b-a3b", "qwen3-30b-a3b"}, {"qwen3-235b-a22b", "qwen3-235b-a22b"},
    {"gpt3-175b", "gpt3-175b"},         {"gpt-oss-20b", "gpt-oss-20b"},
    {"gpt-oss-120b", "gpt-oss-120b"},
};

class MaxtextText {
 public:
  explicit MaxtextText(LaunchText& text) : text_(text), s_(text.scenario()) {}

  std::string write() {
    line("base_config", "base.yml");
    line("hardware", s_.cluster.chip.interconnect == engine::Interconnect::torus ? "tpu" : "gpu");
    model();
    batch();
    mesh();
    if (s_.parallelism.pipeline > 1) pipeline();
    checkpointing();
    precision();
    return text_.header() + "\n" + out_;
  }

 private:
  void line(std::string_view key, std::string value) { out_ += fmt::format("{}: {}\n", key, value); }
  void field(std::string_view path) {
    const std::string key = text_.key(path);
    line(key, text_.value(path));
  }

  void model() {
    const engine::TransformerShape& m = s_.model;
    const engine::TransformerShape* preset = text_.library().find_model(m.id);
    const bool known = preset != nullptr && *preset == m;
    for (const auto& [id, name] : kMaxtextNames)
      if (known && id == m.id) return line("model_name", std::string(name));
    line("override_model_config", "true");
    line("decoder_block", m.is_mla() ? "deepseek" : m.is_moe() ? "mixtral" : m.qk_norm ? "qwen3" : "llama2");
    for (const std::string_view path :
         {"model.n_layers", "model.d_model", "model.d_ff", "model.n_heads", "model.n_kv_heads", "model.d_head",
          "model.vocab_size", "model.tied_embeddings"})
      field(path);
    line("mlp_activations", m.gated_mlp ? "[\"silu\", \"linear\"]" : "[\"gelu\"]");
    if (m.is_mla()) {
      for (const std::string_view path :
           {"model.mla.q_lora_rank", "model.mla.kv_lora_rank", "model.mla.qk_nope_head_dim",
            "model.mla.qk_rope_head_dim", "model.mla.v_head_dim"})
        field(path);
      line("attention_type", "mla");
    }
    if (!m.is_moe()) return;
    field("model.moe.n_routed_experts");
    field("model.moe.experts_per_token");
    line(text_.key("model.moe.d_ff_expert"), std::to_string(m.expert_width()));
    if (m.moe.n_shared_experts > 0) field("model.moe.n_shared_experts");
    if (m.moe.n_dense_layers > 0) field("model.moe.n_dense_layers");
  }

  void batch() {
    const engine::Parallelism& p = s_.parallelism;
    field("workload.sequence_length");
    const int microbatch = s_.pipeline.microbatch_sequences, count = microbatch_count(s_);
    // Sequences of a forward pass over all devices of the mesh. A pipeline takes all microbatches in one pass.
    const double rank = static_cast<double>(microbatch) * (p.pipeline > 1 ? count : 1);
    line("per_device_batch_size", fmt::format("{}", rank / (static_cast<double>(p.tensor) * p.context * p.pipeline)));
    line("gradient_accumulation_steps", std::to_string(p.pipeline > 1 ? 1 : count));
    line("steps", text_.run_steps());
    text_.said({"pipeline.microbatch_sequences", "workload.global_batch_sequences", "workload.kind"});
  }

  void mesh() {
    const engine::Parallelism& p = s_.parallelism;
    const int stage = engine::sharded_stage(s_);
    const int expert = s_.model.is_moe() ? p.expert : 1;
    // Ranks that share nothing, or the optimizer state alone, are those of the data axis.
    const bool over_data = stage < 3;
    std::int64_t data = over_data ? engine::data_ranks(p) : p.data;
    const std::int64_t fsdp = over_data ? 1 : p.fsdp / expert;
    // Slices, and nodes of GPUs, are joined by the data-centre network: the data axis is laid across them as far as it
    // goes.
    const std::int64_t islands = s_.cluster.chip.interconnect == engine::Interconnect::torus ? s_.cluster.slices : 1;
    std::int64_t across = 1;
    for (std::int64_t d = islands; d >= 1; --d)
      if (islands % d == 0 && data % d == 0) {
        across = d;
        break;
      }
    data /= across;
    line("dcn_data_parallelism", std::to_string(across));
    line("ici_data_parallelism", std::to_string(data));
    line("ici_fsdp_parallelism", std::to_string(fsdp));
    line(p.tensor > 1 && p.sequence_parallel ? "ici_tensor_sequence_parallelism" : "ici_tensor_parallelism",
         std::to_string(p.tensor));
    line("ici_context_parallelism", std::to_string(p.context));
    line("ici_pipeline_parallelism", std::to_string(p.pipeline));
    if (s_.model.is_moe()) line("ici_expert_parallelism", std::to_string(expert));
    if (stage == 1) line("shard_optimizer_over_data", "true");
    text_.said({"parallelism.data", "parallelism.fsdp", "parallelism.tensor", "parallelism.context",
                "parallelism.pipeline", "parallelism.expert", "parallelism.expert_tensor", "parallelism.zero_stage"});
    // Of a tensor axis by features the reader is not sure.
    if (p.tensor == 1 || p.sequence_parallel) text_.said({"parallelism.sequence_parallel"});
    if (p.context > 1) {
      field("parallelism.context_method");
      const bool torus = s_.cluster.chip.interconnect == engine::Interconnect::torus;
      if (torus && p.context_method != engine::ContextMethod::all_gather) {
        line("attention", "flash");
        line("use_tokamax_splash", "true");
        if (p.context_method == engine::ContextMethod::ulysses || p.context % 2 != 0)
          line("context_parallel_load_balance", "false");
      }
    }
    if (p.pipeline == 1 && p.keep_gathered == engine::KeepGathered::microbatch)
      text_.said({"parallelism.keep_gathered"});
  }

  void pipeline() {
    const int stages = s_.parallelism.pipeline, repeats = virtual_stages_of(s_) / stages;
    line("num_layers_per_pipeline_stage", std::to_string(s_.model.n_layers / (stages * repeats)));
    line("num_pipeline_repeats", std::to_string(repeats));
    line("num_pipeline_microbatches", std::to_string(static_cast<std::int64_t>(microbatch_count(s_))));
    const bool once = s_.parallelism.keep_gathered == engine::KeepGathered::step;
    if (engine::sharded_stage(s_) == 3) {
      line("pipeline_fsdp_ag_once", once ? "true" : "false");
      text_.said({"parallelism.keep_gathered"});
    }
    text_.said({"pipeline.virtual_stages", "pipeline.schedule", "pipeline.layers_per_stage",
                "pipeline.embedding_as_layers", "pipeline.head_as_layers"});
    // One repeat is GPipe, more are breadth-first.
    const bool several = repeats > 1;
    if (several != (s_.pipeline.schedule == engine::ScheduleKind::looped_bfs)) text_.unsaid("pipeline.schedule");
  }

  void checkpointing() {
    const bool away = s_.offload.activations;
    if (away) {
      line("remat_policy", "minimal_offloaded");
      text_.said({"checkpointing.policy"});
    } else {
      field("checkpointing.policy");
    }
    text_.said({"offload.activations"});
    line("optimizer_memory_host_offload", s_.offload.optimizer ? "true" : "false");
    text_.said({"offload.optimizer"});
  }

  void precision() {
    const engine::Precision& p = s_.precision;
    const auto jax = [](Dtype dtype) {
      return dtype == Dtype::fp32 ? "float32" : dtype == Dtype::fp16 ? "float16" : "bfloat16";
    };
    line("dtype", jax(p.compute));
    line("weight_dtype", jax(p.master_weights != Dtype::none ? p.master_weights : p.weights));
    if (p.gradients == Dtype::fp32 || p.gradients == Dtype::bf16) line("grad_dtype", jax(p.gradients));
    if (engine::is_muon(p.optimizer)) line("opt_type", "muon");
    if (p.optimizer == engine::OptimizerKind::adam_bf16 || p.optimizer == engine::OptimizerKind::muon_bf16)
      line("mu_dtype", "bfloat16");
    if (p.compute == Dtype::fp8) line("quantization", "fp8");
    if (p.compute == Dtype::int8) line("quantization", "int8");
  }

  LaunchText& text_;
  const engine::Scenario& s_;
  std::string out_;
};

}  // namespace

std::string maxtext_yaml(LaunchText& text) { return MaxtextText(text).write(); }

}  // namespace roofscape::io
