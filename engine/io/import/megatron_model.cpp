// The model of a Megatron-LM launch: widths, attention, experts, vocabulary.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/io/import/document.h"
#include "engine/io/import/megatron_flags.h"
#include "engine/io/import/megatron_reader.h"
#include "engine/io/import/repeated_list.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::io {

using engine::say;

Failure MegatronReader::model() {
  const bool sized = has("model.n_layers") || has("model.d_model");
  if (!sized) return std::nullopt;  // the sizes come from somewhere else: all of a model is missing
  const int width = value("model.d_model", 0), heads = value("model.n_heads", 0);
  const bool gated = flag("--swiglu") || flag("--geglu") || flag("--gated-linear-unit");
  tell("model.gated_mlp", gated,
       flag("--geglu")               ? "--geglu"
       : flag("--gated-linear-unit") ? "--gated-linear-unit"
                                     : "--swiglu");
  if (!has("model.d_ff") && width > 0)
    // For gated MLPs two thirds of it, rounded down to a multiple of 64.
    plan_.assume("model.d_ff", gated ? width * 4 * 2 / 3 / 64 * 64 : 4.0 * width,
                 gated ? say("import.why.megatron_gated_ff") : say("import.why.megatron_ff"));
  if (!has("model.d_head") && heads > 0 && width > 0) {
    if (width % heads != 0 && !flag("--multi-latent-attention"))
      return line_error(file_, stated_line("model.n_heads"), say("error.config.heads_width", heads, width),
                        say("error.import.heads_width.remedy"));
    plan_.assume("model.d_head", std::max(1, width / heads), say("import.why.megatron_head"));
  }
  tell("model.tied_embeddings", !flag("--untie-embeddings-and-output-weights"),
       "--untie-embeddings-and-output-weights");
  const bool bias = !flag("--disable-bias-linear") && word("--add-bias-linear") != "false";
  tell("model.mlp_bias", bias, "--disable-bias-linear");
  tell("model.o_bias", bias, "--disable-bias-linear");
  tell("model.qkv_bias", bias || flag("--add-qkv-bias"),
       flag("--add-qkv-bias") ? "--add-qkv-bias" : "--disable-bias-linear");
  const std::string norm = word("--normalization");
  tell("model.layernorm_bias", norm.empty() || norm == "LayerNorm", "--normalization");
  if (const Argument* argument = find("--embed-layernorm"))
    plan_.state("model.embedding_norm", 1, argument->origin(), written(argument->flag));

  const std::string kind = word("--position-embedding-type");
  const bool rotary = flag("--use-rotary-position-embeddings") || (!kind.empty() && kind != "learned_absolute");
  const int positions = value("model.max_context_tokens", 0);
  if (!rotary && positions > 0 && !flag("--no-position-embedding") && !flag("--no-learned-position-embeddings")) {
    if (kind.empty())
      plan_.assume("model.learned_positions", positions, say("import.why.megatron_positions"));
    else
      plan_.state("model.learned_positions", positions, origin("--position-embedding-type"), kind);
  }
  if (!has("model.vocab_size")) vocabulary();
  if (const Argument* argument = find("--make-vocab-size-divisible-by"))
    plan_.no_effect(argument->origin(), say("import.why.padding"));
  if (const Argument* argument = find("--mtp-num-layers"); argument != nullptr && word("--mtp-num-layers") != "0")
    plan_.warn(say("import.further_tokens", argument->written + " " + argument->value_text()), argument->line);
  return std::nullopt;
}

void MegatronReader::vocabulary() {
  constexpr std::pair<std::string_view, int> kTokenizers[] = {
      {"GPT2BPETokenizer", 50257}, {"Llama2Tokenizer", 32000}, {"Llama3Tokenizer", 128256}};
  const std::string type = word("--tokenizer-type");
  for (const auto& [name, size] : kTokenizers)
    if (type == name) return plan_.assume("model.vocab_size", size, say("import.why.tokenizer", type));
  // The merges of byte pairs are GPT-2's.
  if (type.empty() && flag("--merge-file"))
    return plan_.assume("model.vocab_size", 50257, say("import.why.tokenizer", std::string("GPT-2")));
  std::string model = word("--tokenizer-model");
  if (model.empty()) model = word("--tokenizer-name-or-path");
  while (model.ends_with('/')) model.pop_back();
  if (model.ends_with(".model") || model.ends_with(".json") || model.find('$') != std::string::npos) return;
  const std::string name = model.substr(model.rfind('/') + 1);
  if (const Preset* preset = name.empty() ? nullptr : library_.meant(PresetKind::model, name))
    plan_.assume("model.vocab_size", library_.find_model(preset->id)->vocab_size,
                 say("import.why.tokenizer", preset->name));
}

Failure MegatronReader::attention() {
  const int heads = value("model.n_heads", 0);
  const bool latent = flag("--multi-latent-attention");
  const Argument* groups = find("--num-query-groups");
  if (groups != nullptr && (flag("--group-query-attention") || !flag("--use-mcore-models"))) {
    const auto number = whole("--num-query-groups", "model.n_kv_heads", 1, 1 << 14);
    if (!number) return number.error();
    if (number.value() && (flag("--group-query-attention") || *number.value() > 1))
      plan_.state("model.n_kv_heads", *number.value(), groups->origin(), groups->value_text());
  } else if (flag("--group-query-attention")) {
    plan_.assume("model.n_kv_heads", 1, say("import.why.megatron"));
  }
  if (!has("model.n_kv_heads") && heads > 0)
    plan_.assume("model.n_kv_heads", heads,
                 latent ? say("import.why.latent_heads") : say("import.why.megatron_kv_heads"));
  if (latent) {
    // The class's own ranks.
    constexpr std::pair<std::string_view, int> kRanks[] = {{"model.mla.kv_lora_rank", 32},
                                                           {"model.mla.qk_nope_head_dim", 128},
                                                           {"model.mla.qk_rope_head_dim", 64},
                                                           {"model.mla.v_head_dim", 128}};
    for (const auto& [field, fallback] : kRanks)
      if (!has(field)) plan_.assume(field, fallback, say("import.why.megatron"));
  } else {
    std::erase_if(plan_.fields, [](const StatedField& field) { return field.path.starts_with("model.mla."); });
  }
  // The other sinks are no parameters.
  if (const Argument* argument = find("--softmax-type")) {
    if (argument->value_text() == "learnable")
      plan_.state("model.attn_sinks", 1, argument->origin(), argument->value_text());
    else
      plan_.no_effect(argument->origin(), say("import.why.no_effect"));
  }
  if (const Argument* argument =
          find("--qk-layernorm")) {  // of latent attention the norms of its ranks, which it has
    if (!latent) plan_.state("model.qk_norm", 1, argument->origin(), written(argument->flag));
  }
  if (const Argument* window = find("--window-size")) {
    // "128,0": tokens before, tokens after.
    const std::string written = word("--window-size");
    int tokens = 0;
    const std::size_t digit = std::min(written.find_first_of("0123456789"), written.size());
    std::from_chars(written.data() + digit, written.data() + written.size(), tokens);
    const int layers = value("model.n_layers", 1);
    int skip = 0;
    const std::string every = word("--window-attn-skip-freq");
    std::from_chars(every.data(), every.data() + every.size(), skip);
    if (tokens > 0) {
      plan_.state("model.local_attention.window_tokens", tokens, window->origin(), written);
      plan_.state("model.local_attention.n_local_layers", skip > 1 ? layers - layers / skip : layers,
                  window->origin(), written);
    }
  }
  return std::nullopt;
}

Failure MegatronReader::experts() {
  if (!has("model.moe.n_routed_experts")) return std::nullopt;
  const int layers = value("model.n_layers", 1);
  if (!has("model.moe.experts_per_token")) plan_.assume("model.moe.experts_per_token", 2, say("import.why.megatron"));
  if (!has("model.moe.d_ff_expert"))
    plan_.assume("model.moe.d_ff_expert", std::min(value("model.d_ff", 1), 1 << 22),
                 say("import.why.megatron_expert_ff"));
  const int width = value("model.moe.d_ff_expert", 1);
  if (const Argument* shared = find("--moe-shared-expert-intermediate-size")) {
    const auto size = whole("--moe-shared-expert-intermediate-size", "model.moe.n_shared_experts", 0, 1 << 22);
    if (!size) return size.error();
    if (size.value()) {
      const int count = (*size.value() + width - 1) / width;
      plan_.state("model.moe.n_shared_experts", count, shared->origin(), shared->value_text());
      if (*size.value() % width != 0)
        plan_.warn(say("import.shared_width", *size.value(), width, count), shared->line);
    }
  }
  if (const Argument* argument = find("--moe-shared-expert-gate"))
    plan_.state("model.moe.shared_expert_gate", 1, argument->origin(), written(argument->flag));
  if (const Argument* argument = find("--moe-router-enable-expert-bias"))
    plan_.state("model.moe.router_bias", 1, argument->origin(), written(argument->flag));
  if (const Argument* argument = find("--moe-layer-freq")) {
    const std::string written = argument->value_text();
    std::vector<int> pattern;
    if (const auto every = plain_number(written); every && *every >= 1 && *every <= 10000) {
      for (int i = 0; i < layers; ++i) pattern.push_back(i % static_cast<int>(*every) == 0 ? 1 : 0);
    } else {
      auto list = read_repeated_list(written);
      if (!list) return at(*argument, say("error.import.list", in_quotes(written)), say("error.import.list.remedy"));
      pattern = *std::move(list);
    }
    if (static_cast<int>(pattern.size()) != layers)
      return at(*argument, say("error.import.pattern_size", pattern.size(), layers));
    const int dense = static_cast<int>(std::count(pattern.begin(), pattern.end(), 0));
    plan_.state("model.moe.n_dense_layers", dense, argument->origin(), written);
    if (std::find(pattern.begin(), pattern.end(), 1) != pattern.end() &&
        std::find(std::find(pattern.begin(), pattern.end(), 1), pattern.end(), 0) != pattern.end())
      plan_.warn(say("import.dense_layers_apart", dense), argument->line);
  }
  return std::nullopt;
}

}  // namespace roofscape::io
