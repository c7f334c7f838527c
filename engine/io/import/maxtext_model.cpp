#include "engine/io/import/maxtext_model.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/io/import/framework_models.h"

namespace roofscape::io {

using engine::say;
using engine::TransformerShape;

namespace {

// decoder_block: layer types whose parts are known here. Others are named, never guessed.
struct DecoderBlock {
  std::string_view name;
  int norms = 2;
  int merged_layers = 1;   // layers that count as one in base_num_decoder_layers
  int local_of = 0;        // of so many layers all but the last are local; 0: none is
  bool layernorm = false;  // with biases everywhere and learned positions, as in GPT-3
  bool sinks = false;
  bool qk_norm = false;
};
constexpr std::array kDecoderBlocks{
    DecoderBlock{.name = "default"},
    DecoderBlock{.name = "llama2"},
    DecoderBlock{.name = "mistral"},
    DecoderBlock{.name = "mixtral"},
    DecoderBlock{.name = "deepseek"},
    DecoderBlock{.name = "gemma"},
    DecoderBlock{.name = "gemma2", .norms = 4, .merged_layers = 2, .local_of = 2},
    DecoderBlock{.name = "gemma3", .norms = 4, .local_of = 6, .qk_norm = true},
    DecoderBlock{.name = "qwen2"},
    DecoderBlock{.name = "qwen3", .qk_norm = true},
    DecoderBlock{.name = "qwen3_moe", .qk_norm = true},
    DecoderBlock{.name = "gpt3", .layernorm = true},
    DecoderBlock{.name = "gpt_oss", .local_of = 2, .sinks = true},
};

class BaseSizes {
 public:
  // `named`: the model whose sizes count where the file has none; null: base.yml's.
  BaseSizes(KeyReader& keys, LaunchPlan& plan, const TransformerShape* named = nullptr)
      : keys_(keys), plan_(plan), named_(named) {}

  // Sizes of a named model that the file puts others over.
  std::optional<TransformerShape> over_named() {
    TransformerShape m = *named_;
    m.id.clear();
    const auto take = [&](int& size, std::string_view key) {
      if (const auto stated = keys_.whole(key, 1, 1 << 22)) {
        size = stated->value;
        plan_.read.push_back({stated->origin.key, stated->origin.line, "model", std::to_string(size)});
      }
    };
    take(m.n_layers, "base_num_decoder_layers");
    take(m.d_model, "base_emb_dim");
    take(m.n_heads, "base_num_query_heads");
    take(m.n_kv_heads, "base_num_kv_heads");
    take(m.d_ff, "base_mlp_dim");
    take(m.d_head, "head_dim");
    take(m.vocab_size, "vocab_size");
    if (m.is_moe()) {
      take(m.moe.n_routed_experts, "num_experts");
      take(m.moe.experts_per_token, "num_experts_per_tok");
      if (keys_.has("base_moe_mlp_dim"))
        take(m.moe.d_ff_expert, "base_moe_mlp_dim");
      else if (keys_.has("base_mlp_dim") && named_->moe.d_ff_expert == named_->d_ff)
        m.moe.d_ff_expert = m.d_ff;
    }
    m.published_total_params = m.published_active_params = 0;
    return m;
  }

  // None: a part of it is not known, and the plan says so.
  std::optional<TransformerShape> read() {
    const auto style = keys_.word("decoder_block");
    const std::string name = style ? style->value : "llama2";
    const auto block = std::find_if(kDecoderBlocks.begin(), kDecoderBlocks.end(),
                                    [&](const DecoderBlock& row) { return row.name == name; });
    const auto cycle = keys_.whole("inhomogeneous_layer_cycle_interval", 1, 10000);
    const auto step = keys_.whole("interleave_moe_layer_step", 1, 10000);
    const bool mixed = (cycle && cycle->value > 1 && block != kDecoderBlocks.end() && block->local_of == 0) ||
                       (step && step->value > 1);
    const auto more = keys_.like("engram_layers");
    if (block == kDecoderBlocks.end() || mixed || (more && !keys_.is_word("engram_layers", ""))) {
      plan_.warn(say("import.maxtext.block", in_quotes(name)), style ? style->origin.line : 0);
      plan_.missing.push_back({"model", "--set model=..."});
      keys_.without_effect({"base_*", "num_experts*", "vocab_size", "*head_dim", "mlp_activations", "*_lora_rank",
                            "attention_*", "global_num_kv*", "logits_via*", "sliding_*", "use_qk_norm", "shared_exp*",
                            "routed_*", "first_num*", "gdn_*", "*rout*_group*"},
                           say("import.nanotron.not_read"));
      return std::nullopt;
    }
    if (keys_.is_word("use_indexer", "true"))
      plan_.warn(say("import.maxtext.indexer"), keys_.like("use_indexer")->line);
    if (keys_.is_word("use_multimodal", "true") || keys_.like("vision_encoder_block"))
      plan_.warn(say("import.maxtext.vision"));
    scale();
    TransformerShape m;
    m.n_layers = size("base_num_decoder_layers", 16, "model.n_layers") * layer_scale_ * block->merged_layers;
    m.d_model = size("base_emb_dim", 2048, "model.d_model") * width_scale_;
    m.n_heads = size("base_num_query_heads", 16, "model.n_heads") * head_scale_;
    m.n_kv_heads = size("base_num_kv_heads", 16, "model.n_kv_heads") * head_scale_;
    m.d_ff = size("base_mlp_dim", 7168, "model.d_ff") * head_scale_;
    m.d_head = size("head_dim", 128, "model.d_head");
    m.vocab_size = size("vocab_size", 32000, "model.vocab_size");
    m.norms_per_layer = block->norms;
    m.gated_mlp = gated();
    m.tied_embeddings = flag("logits_via_embedding");
    m.qkv_bias = flag("attention_bias") || block->layernorm;
    m.o_bias = (m.qkv_bias && block->sinks) || block->layernorm;
    m.mlp_bias = flag("mlp_bias") || block->layernorm;
    m.layernorm_bias = block->layernorm;
    const bool sinks = flag("attention_sink"), norms = flag("use_qk_norm");
    m.attn_sinks = block->sinks || sinks;
    m.qk_norm = block->qk_norm || norms;
    if (const auto rows = keys_.whole("trainable_position_size", -1, 1 << 24); rows && rows->value > 0)
      m.learned_positions = rows->value;
    if (const auto window = keys_.whole("sliding_window_size", 0, 1 << 24); window && window->value > 0) {
      m.local_attention.window_tokens = window->value;
      m.local_attention.n_local_layers = block->local_of > 1 ? m.n_layers - m.n_layers / block->local_of : 0;
    }
    if (const auto most = keys_.whole("max_position_embeddings", 1, 1 << 30)) m.max_context_tokens = most->value;
    experts(m);
    latent(m);
    for (const auto& [field, value] :
         {std::pair<std::string_view, int>{"d_model", m.d_model}, {"n_layers", m.n_layers}})
      if (value < 1 || value > (1 << 20)) {
        keys_.fail(scale_origin_, say("import.maxtext.scaled", field), say("import.maxtext.scaled.remedy"));
        return std::nullopt;
      }
    return m;
  }

 private:
  // BaseSizes that neither the file nor a model name gives are those of base.yml.
  int size(std::string_view key, int usual, std::string_view field) {
    const auto stated = keys_.whole(key, 1, 1 << 22);
    if (stated)
      plan_.read.push_back(
          {stated->origin.key, stated->origin.line, std::string(field), std::to_string(stated->value)});
    else
      defaults_ += (defaults_.empty() ? "" : ", ") + std::string(key) + " " + std::to_string(usual);
    return stated ? stated->value : usual;
  }
  bool flag(std::string_view key) {
    const auto stated = keys_.flag(key);
    return stated && stated->value;
  }

  // Doublings go round heads and MLP width, embedding width, layers.
  void scale() {
    const auto stated = keys_.whole("global_parameter_scale", 1, 1 << 20);
    if (!stated || stated->value == 1) return;
    scale_origin_ = stated->origin;
    const int log = static_cast<int>(std::lround(std::log2(stated->value)));
    if (1 << log != stated->value)
      return keys_.fail(stated->origin, say("import.maxtext.scale", stated->value),
                        say("import.maxtext.scale.remedy"));
    const int rounds = log / 3, rest = log % 3;
    head_scale_ = 1 << (rounds + (rest > 0 ? 1 : 0));
    width_scale_ = 1 << (rounds + (rest > 1 ? 1 : 0));
    layer_scale_ = 1 << rounds;
    plan_.read.push_back({stated->origin.key, stated->origin.line, "model", std::to_string(stated->value)});
    plan_.warn(say("import.maxtext.scale_applied", std::string_view("global_parameter_scale"), stated->value,
                   width_scale_, head_scale_, layer_scale_),
               stated->origin.line);
  }

  // Two activations are two matrices that are multiplied.
  bool gated() {
    if (!keys_.has("mlp_activations")) return true;
    if (const auto word = keys_.is_list("mlp_activations") ? Maybe<std::string>() : keys_.word("mlp_activations"))
      return word->value.find(',') != std::string::npos;
    const auto list = keys_.list("mlp_activations");
    return list.list != nullptr && list.list->items.size() > 1;
  }

  void experts(TransformerShape& m) {
    const auto count = keys_.whole("num_experts", 1, 1 << 14);
    const auto each = keys_.whole("num_experts_per_tok", 1, 1 << 14);
    const auto width = keys_.whole("base_moe_mlp_dim", -1, 1 << 22);
    const auto shared = keys_.whole("shared_experts", 0, 1024);
    const auto dense = keys_.whole("first_num_dense_layers", 0, 10000);
    const auto groups = keys_.whole("n_routing_groups", -1, 1 << 14),
               top = keys_.whole("topk_routing_group", -1, 1 << 14);
    const bool bias = flag("routed_bias");
    if (!count || count->value == 1) return;
    m.moe.n_routed_experts = count->value;
    m.moe.experts_per_token = each ? each->value : 1;
    m.moe.d_ff_expert = width && width->value > 0 ? width->value * head_scale_ : m.d_ff;
    m.moe.n_shared_experts = shared ? shared->value : 0;
    m.moe.n_dense_layers = dense ? dense->value : 0;
    m.moe.router_bias = bias;
    if (groups && top && groups->value > 1 && top->value > 0) {
      m.moe.n_expert_groups = groups->value;
      m.moe.groups_per_token = top->value;
    }
  }

  void latent(TransformerShape& m) {
    const auto query = keys_.whole("q_lora_rank", 0, 1 << 20), cache = keys_.whole("kv_lora_rank", 0, 1 << 20);
    const auto nope = keys_.whole("qk_nope_head_dim", 1, 1 << 14), rope = keys_.whole("qk_rope_head_dim", 1, 1 << 14);
    const auto value = keys_.whole("v_head_dim", 1, 1 << 14);
    const bool latent = keys_.is_word("attention_type", "mla");
    if (!latent) return;
    m.mla.q_lora_rank = query ? query->value : 0;
    m.mla.kv_lora_rank = cache ? cache->value : 512;
    m.mla.qk_nope_head_dim = nope ? nope->value : 128;
    m.mla.qk_rope_head_dim = rope ? rope->value : 64;
    m.mla.v_head_dim = value ? value->value : 128;
    m.n_kv_heads = m.n_heads;
    m.d_head = m.mla.qk_nope_head_dim;
  }

 public:
  std::string defaults_;  // of base.yml that were taken

 private:
  KeyReader& keys_;
  LaunchPlan& plan_;
  const TransformerShape* named_ = nullptr;
  Origin scale_origin_;
  int head_scale_ = 1, width_scale_ = 1, layer_scale_ = 1;
};

}  // namespace

TransformerShape read_maxtext_model(KeyReader& keys, LaunchPlan& plan, const PresetLibrary& library,
                                    bool whole_plan) {
  TransformerShape unknown;
  unknown.n_layers = 0;
  const auto name = keys.word("model_name");
  if (keys.failed()) return unknown;
  const bool sized =
      keys.has_any({"base_emb_dim", "base_num_query_heads", "base_num_kv_heads", "base_mlp_dim",
                    "base_num_decoder_layers", "num_experts", "base_moe_mlp_dim", "global_parameter_scale"});
  if (name && name->value != "default" && !name->value.empty()) {
    const std::string_view preset = maxtext_model(name->value);
    const TransformerShape* known = preset.empty() ? nullptr : library.find_model(preset);
    const auto told = keys.flag("override_model_config");
    if (sized && known != nullptr && told && told->value) {
      if (const auto shape = BaseSizes(keys, plan, known).over_named(); shape && !keys.failed()) {
        plan.shape = {*shape, name->origin};
        plan.shape->value.name = name->value;
        return *shape;
      }
      return unknown;
    }
    if (sized)  // MaxText takes them only where it is told to
      plan.fail(say("import.maxtext.overridden", in_quotes(name->value)), name->origin.line);
    if (preset.empty()) {
      plan.warn(say("import.model_unknown", name->origin.key, in_quotes(name->value)), name->origin.line);
      return unknown;
    }
    plan.model = {std::string(preset), name->origin};
    plan.model_written = name->value;
    const TransformerShape* shape = library.find_model(preset);
    return shape != nullptr ? *shape : unknown;
  }
  if (!sized && !whole_plan) return unknown;
  plan.model_only = !whole_plan;
  BaseSizes sizes(keys, plan);
  auto shape = sizes.read();
  if (!shape || keys.failed()) return unknown;
  if (!sized)
    plan.warn(say("import.maxtext.default_model"));
  else if (!sizes.defaults_.empty())
    plan.warn(say("import.maxtext.default_sizes", sizes.defaults_));
  plan.shape = {*shape, {sized ? "base_*" : "base.yml", 0}};
  return *shape;
}

}  // namespace roofscape::io
