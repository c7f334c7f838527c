// A plan for JAX: a module that makes the mesh and has the shape and PartitionSpec of every weight and activation. Run by
// itself it prints what each device holds of each.
#include <fmt/format.h>

#include "engine/frameworks/jax_terms.h"
#include "engine/frameworks/rules.h"
#include "engine/inputs/inputs.h"
#include "engine/io/export/flag_writers.h"
#include "engine/scenario/mesh_size.h"

namespace roofscape::io {

using engine::CheckpointPolicy;
using engine::Dtype;
using engine::say;

namespace {

class JaxText {
 public:
  explicit JaxText(LaunchText& text) : text_(text), s_(text.scenario()) {}

  std::string write() {
    const engine::Parallelism& p = s_.parallelism;
    text_.said({"parallelism.data", "parallelism.fsdp", "parallelism.tensor", "parallelism.context",
                "parallelism.pipeline", "parallelism.expert", "parallelism.expert_tensor",
                "parallelism.sequence_parallel", "parallelism.zero_stage", "workload.global_batch_sequences",
                "workload.sequence_length", "workload.kind", "pipeline.microbatch_sequences"});
    std::string out;
    settings();
    weights();
    activations();
    out += text_.header();
    out += "import jax\nimport jax.numpy as jnp\nfrom jax.sharding import NamedSharding, PartitionSpec as P\n\n";
    comment(out, say("export.jax.mesh"));
    const engine::ExpertAxis expert = engine::expert_axis(s_);
    const int data = expert == engine::ExpertAxis::of_data ? p.data / p.expert : p.data;
    const int fsdp = expert == engine::ExpertAxis::of_fsdp ? p.fsdp / p.expert : p.fsdp;
    out += "axes = {\n";
    const auto axis = [&out](std::string_view name, int size) {
      out += fmt::format("    \"{}\": {},\n", name, size);
    };
    axis("pipeline", p.pipeline);
    axis("data", data);
    axis("fsdp", fsdp);
    if (expert != engine::ExpertAxis::none) axis("expert", p.expert);
    axis("context", p.context);
    axis("tensor", p.tensor);
    out += "}\nmesh = jax.make_mesh(tuple(axes.values()), tuple(axes))\n\n";
    out += settings_;
    out += "\n";
    comment(out, say("export.jax.weights"));
    out += "weights = {\n" + weights_ + "}\n\n";
    if (const int stage = engine::sharded_stage(s_); stage == 1 || stage == 2) {
      comment(out, say("export.jax.state", stage));
      out += "optimizer_state = {\n" + state_ + "}\n\n";
    }
    comment(out, say("export.jax.activations"));
    out += "activations = {\n" + activations_ + "}\n\n\n";
    out +=
        "def sharding(spec):\n    return NamedSharding(mesh, spec)\n\n\n"
        "def main():\n"
        "    for arrays in (weights, activations):\n"
        "        for name, (shape, spec) in arrays.items():\n"
        "            print(f\"{name:28} {str(shape):32} {str(spec):64} {sharding(spec).shard_shape(shape)}\")\n\n\n"
        "if __name__ == \"__main__\":\n    main()\n";
    return out;
  }

 private:
  static constexpr std::string_view kNone = "None";

  void comment(std::string& out, const engine::Sentence& sentence) const { out += text_.comment(sentence); }

  // The axes that share the batch, and those that shard weights along the model's width.
  std::string batch_axes() const {
    return engine::expert_axis(s_) == engine::ExpertAxis::none ? "(\"data\", \"fsdp\")"
                                                               : "(\"data\", \"fsdp\", \"expert\")";
  }
  std::string width_axes(bool of_expert, int from_stage) const {
    if (engine::sharded_stage(s_) < from_stage) return std::string(kNone);
    const bool with_expert = !of_expert && engine::expert_axis(s_) == engine::ExpertAxis::of_fsdp;
    return with_expert ? "(\"fsdp\", \"expert\", \"context\")" : "(\"fsdp\", \"context\")";
  }

  void row(std::string& into, std::string_view name, const std::vector<int>& shape,
           const std::vector<std::string>& spec) const {
    std::string sizes, axes;
    for (const int n : shape) sizes += (sizes.empty() ? "" : ", ") + std::to_string(n);
    if (shape.size() == 1) sizes += ",";
    for (const std::string& axis : spec) axes += (axes.empty() ? "" : ", ") + axis;
    into += fmt::format("    \"{}\": (({}), P({})),\n", name, sizes, axes);
  }
  // A weight, "width" in its spec being the model's width; and the optimizer's state of it.
  void weight(std::string_view name, const std::vector<int>& shape, std::vector<std::string> spec,
              bool of_expert = false) {
    const auto filled = [&](int stage) {
      std::vector<std::string> axes = spec;
      for (std::string& axis : axes)
        if (axis == "width") axis = width_axes(of_expert, stage);
      return axes;
    };
    row(weights_, name, shape, filled(3));
    row(state_, name, shape, filled(1));
  }

  void settings() {
    const engine::Precision& p = s_.precision;
    const auto jax = [](Dtype dtype) {
      return dtype == Dtype::fp32            ? "jnp.float32"
             : dtype == Dtype::fp16          ? "jnp.float16"
             : dtype == Dtype::fp8           ? "jnp.float8_e4m3fn"
             : dtype == Dtype::int8          ? "jnp.int8"
             : dtype == Dtype::int4          ? "jnp.int4"
             : engine::is_block_float(dtype) ? "jnp.float4_e2m1fn"
                                             : "jnp.bfloat16";
    };
    settings_ += fmt::format("global_batch = {}\nmicrobatch = {}\nmicrobatches = {}\nsequence_length = {}\n",
                             s_.workload.global_batch_sequences,
                             s_.pipeline.microbatch_sequences * engine::data_ranks(s_.parallelism),
                             microbatch_count(s_), s_.workload.sequence_length);
    settings_ += fmt::format("compute_dtype = {}\nweight_dtype = {}\n", jax(p.compute), jax(p.weights));
    text_.said({"precision.compute", "precision.weights"});
    const std::string_view policy = s_.checkpointing.policy == CheckpointPolicy::none          ? "everything_saveable"
                                    : s_.checkpointing.policy == CheckpointPolicy::big_matmuls ? "checkpoint_dots"
                                    : s_.checkpointing.policy == CheckpointPolicy::block       ? "nothing_saveable"
                                                                                               : "";
    if (policy.empty()) return;
    settings_ += fmt::format("remat_policy = jax.checkpoint_policies.{}\n", policy);
    text_.said({"checkpointing.policy"});
  }

  void weights() {
    const engine::TransformerShape& m = s_.model;
    const int d = m.d_model;
    const std::string tensor = "\"tensor\"", stage = "\"pipeline\"", none(kNone);
    weight("embedding", {m.vocab_size, d}, {tensor, "width"});
    if (m.learned_positions > 0) weight("positions", {m.learned_positions, d}, {none, "width"});
    const auto layered = [&](std::string_view name, int layers, std::vector<int> shape, std::vector<std::string> spec,
                             bool of_expert = false) {
      if (layers == 0) return;
      shape.insert(shape.begin(), layers);
      spec.insert(spec.begin(), stage);
      weight("layers." + std::string(name), shape, std::move(spec), of_expert);
    };
    const int layers = m.n_layers;
    if (m.norms_per_layer > 0) layered("norms", layers, {m.norms_per_layer, d}, {none, none});
    if (m.is_mla()) {
      const engine::MlaShape& a = m.mla;
      const int head = a.qk_nope_head_dim + a.qk_rope_head_dim;
      if (a.q_lora_rank > 0) {
        layered("q_down", layers, {d, a.q_lora_rank}, {"width", none});
        layered("q_up", layers, {a.q_lora_rank, m.n_heads, head}, {none, tensor, none});
      } else {
        layered("q", layers, {d, m.n_heads, head}, {"width", tensor, none});
      }
      layered("kv_down", layers, {d, a.kv_lora_rank + a.qk_rope_head_dim}, {"width", none});
      layered("kv_up", layers, {a.kv_lora_rank, m.n_heads, a.qk_nope_head_dim + a.v_head_dim}, {none, tensor, none});
      layered("o", layers, {m.n_heads, a.v_head_dim, d}, {tensor, none, "width"});
    } else {
      layered("q", layers, {d, m.n_heads, m.d_head}, {"width", tensor, none});
      layered("k", layers, {d, m.n_kv_heads, m.d_head}, {"width", tensor, none});
      layered("v", layers, {d, m.n_kv_heads, m.d_head}, {"width", tensor, none});
      layered("o", layers, {m.n_heads, m.d_head, d}, {tensor, none, "width"});
      if (m.qkv_bias) {
        layered("q_bias", layers, {m.n_heads, m.d_head}, {tensor, none});
        layered("k_bias", layers, {m.n_kv_heads, m.d_head}, {tensor, none});
        layered("v_bias", layers, {m.n_kv_heads, m.d_head}, {tensor, none});
      }
    }
    if (m.o_bias) layered("o_bias", layers, {d}, {none});
    if (m.qk_norm) layered("qk_norms", layers, {2, m.d_head}, {none, none});
    if (m.attn_sinks) layered("sinks", layers, {m.n_heads}, {tensor});
    const int dense = layers - m.n_moe_layers();
    if (m.gated_mlp) layered("mlp_gate", dense, {d, m.d_ff}, {"width", tensor});
    layered("mlp_up", dense, {d, m.d_ff}, {"width", tensor});
    layered("mlp_down", dense, {m.d_ff, d}, {tensor, "width"});
    if (m.is_moe()) {
      const int sparse = m.n_moe_layers(), experts = m.moe.n_routed_experts, width = m.expert_width();
      const std::string expert = engine::expert_axis(s_) == engine::ExpertAxis::none ? none : "\"expert\"";
      layered("router", sparse, {d, experts}, {"width", none});
      if (m.gated_mlp) layered("expert_gate", sparse, {experts, d, width}, {expert, "width", tensor}, true);
      layered("expert_up", sparse, {experts, d, width}, {expert, "width", tensor}, true);
      layered("expert_down", sparse, {experts, width, d}, {expert, tensor, "width"}, true);
      if (const int shared = m.moe.n_shared_experts * width; shared > 0) {
        if (m.gated_mlp) layered("shared_gate", sparse, {d, shared}, {"width", tensor});
        layered("shared_up", sparse, {d, shared}, {"width", tensor});
        layered("shared_down", sparse, {shared, d}, {tensor, "width"});
      }
    }
    weight("final_norm", {d}, {none});
    if (!m.tied_embeddings) weight("unembedding", {d, m.vocab_size}, {"width", tensor});
  }

  void activations() {
    const engine::TransformerShape& m = s_.model;
    const auto batch = static_cast<int>(s_.pipeline.microbatch_sequences * engine::data_ranks(s_.parallelism));
    const int length = s_.workload.sequence_length;
    const std::string rows = batch_axes(), tensor = "\"tensor\"", context = "\"context\"", none(kNone);
    const bool split = s_.parallelism.sequence_parallel && s_.parallelism.tensor > 1;
    row(activations_, "tokens", {batch, length}, {rows, context});
    row(activations_, "residual", {batch, length, m.d_model},
        {rows, split ? "(\"context\", \"tensor\")" : context, none});
    const int head = m.is_mla() ? m.mla.qk_nope_head_dim + m.mla.qk_rope_head_dim : m.d_head;
    row(activations_, "queries", {batch, length, m.n_heads, head}, {rows, context, tensor, none});
    const int kv_heads = m.is_mla() ? m.n_heads : m.n_kv_heads;
    const bool gathers = s_.parallelism.context_method == engine::ContextMethod::all_gather;
    row(activations_, "keys", {batch, length, kv_heads, head}, {rows, gathers ? none : context, tensor, none});
    row(activations_, "values", {batch, length, kv_heads, m.is_mla() ? m.mla.v_head_dim : m.d_head},
        {rows, gathers ? none : context, tensor, none});
    if (s_.parallelism.context_method != engine::ContextMethod::ulysses) text_.said({"parallelism.context_method"});
    row(activations_, "attention", {batch, length, m.n_heads, m.is_mla() ? m.mla.v_head_dim : m.d_head},
        {rows, context, tensor, none});
    if (m.n_moe_layers() < m.n_layers) row(activations_, "mlp", {batch, length, m.d_ff}, {rows, context, tensor});
    if (m.is_moe()) {
      // Tokens of an expert's buffer: those that are routed, over all experts.
      const std::int64_t routed = std::int64_t{batch} * length * m.moe.experts_per_token / m.moe.n_routed_experts;
      activations_ += fmt::format("    \"expert_mlp\": (({}, {}, {}), P({}, None, \"tensor\")),\n",
                                  m.moe.n_routed_experts, routed, m.expert_width(),
                                  engine::expert_axis(s_) == engine::ExpertAxis::none ? "None" : "\"expert\"");
    }
    row(activations_, "logits", {batch, length, m.vocab_size}, {rows, context, tensor});
  }

  LaunchText& text_;
  const engine::Scenario& s_;
  std::string settings_, weights_, state_, activations_;
};

}  // namespace

std::string jax_python(LaunchText& text) { return JaxText(text).write(); }

}  // namespace roofscape::io
