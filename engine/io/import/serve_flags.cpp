#include "engine/io/import/serve_flags.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/base/ascii.h"
#include "engine/io/import/framework_models.h"

namespace roofscape::io {

using engine::say;

namespace {

struct ServedQuantization {
  std::string_view name;
  ServedFormat format;
};
constexpr std::array kServedQuantizations{
    ServedQuantization{"fp8", {"fp8", "fp8"}},
    ServedQuantization{"fbgemm_fp8", {"fp8", "fp8"}},
    ServedQuantization{"ptpc_fp8", {"fp8", "fp8"}},
    ServedQuantization{"w8a8_fp8", {"fp8", "fp8"}},
    ServedQuantization{"blockwise_fp8", {"fp8", "fp8"}},
    ServedQuantization{"fp8_block_scales", {"fp8", "fp8"}},
    ServedQuantization{"fp8_per_channel_per_token", {"fp8", "fp8"}},
    ServedQuantization{"modelopt", {"fp8", "fp8"}},
    ServedQuantization{"modelopt_fp8", {"fp8", "fp8"}},
    ServedQuantization{"deepspeedfp", {"fp8", ""}},
    ServedQuantization{"awq", {"int4", ""}},
    ServedQuantization{"awq_marlin", {"int4", ""}},
    ServedQuantization{"gptq", {"int4", ""}},
    ServedQuantization{"gptq_marlin", {"int4", ""}},
    ServedQuantization{"marlin", {"int4", ""}},
    ServedQuantization{"bitsandbytes", {"int4", ""}},
    ServedQuantization{"w4a16_awq", {"int4", ""}},
    ServedQuantization{"w4a16_gptq", {"int4", ""}},
    ServedQuantization{"w4a16", {"int4", ""}},
    ServedQuantization{"w8a16", {"int8", ""}},
    ServedQuantization{"mxfp4", {"mxfp4", ""}},
    ServedQuantization{"w4a16_mxfp4", {"mxfp4", ""}},
    ServedQuantization{"w4a8_mxfp4_fp8", {"mxfp4", "fp8"}},
    ServedQuantization{"modelopt_fp4", {"nvfp4", "nvfp4"}},
    ServedQuantization{"petit_nvfp4", {"nvfp4", ""}},
    ServedQuantization{"nvfp4", {"nvfp4", "nvfp4"}},
    ServedQuantization{"experts_int8", {"int8", ""}},
    ServedQuantization{"w8a8_int8", {"int8", "int8"}},
    ServedQuantization{"int8", {"int8", ""}},
    ServedQuantization{"compressed-tensors", {"", ""}},
    ServedQuantization{"auto", {"", ""}},
    ServedQuantization{"none", {"", ""}},
    ServedQuantization{"no_quant", {"", ""}},
};

// What the kernels of a quantised checkpoint multiply in, which --dtype does not change; empty: 16 bits.
std::string_view checkpoint_compute(const HubModel& checkpoint) {
  if (checkpoint.weights == engine::Dtype::nvfp4) return "nvfp4";
  if (checkpoint.weights == engine::Dtype::fp8) return "fp8";
  if (checkpoint.called == "w8a8") return "int8";
  return {};
}

std::string_view dtype_word(engine::Dtype type) {
  switch (type) {
    case engine::Dtype::fp8:
      return "fp8";
    case engine::Dtype::int8:
      return "int8";
    case engine::Dtype::int4:
      return "int4";
    case engine::Dtype::nvfp4:
      return "nvfp4";
    case engine::Dtype::mxfp4:
      return "mxfp4";
    default:
      return "bf16";
  }
}

}  // namespace

std::optional<double> human_number(std::string_view written) {
  if (written.empty()) return std::nullopt;
  double unit = 1;
  switch (written.back()) {
    case 'k':
      unit = 1e3;
      break;
    case 'm':
      unit = 1e6;
      break;
    case 'K':
      unit = 1024;
      break;
    case 'M':
      unit = 1024.0 * 1024;
      break;
    default:
      break;
  }
  if (unit != 1) written.remove_suffix(1);
  const auto number = plain_number(written);
  if (!number || *number * unit != std::floor(*number * unit)) return std::nullopt;
  return *number * unit;
}

std::optional<ServedFormat> served_format(std::string_view quantization) {
  const std::string word = engine::ascii_lower(quantization);
  for (const ServedQuantization& row : kServedQuantizations)
    if (row.name == word) return row.format;
  return std::nullopt;
}

void read_served_model(KeyReader& keys, LaunchPlan& plan, const Maybe<std::string>& model, std::string_view engine,
                       std::string_view type_keys, std::string_view quantization_keys) {
  HubModel known;
  if (model) known = take_hub_model(plan, *model);
  const auto type = keys.word(type_keys);
  const auto quantization = keys.word(quantization_keys);
  if (keys.failed()) return;
  struct Type {
    std::string_view name, word;
  };
  constexpr std::array kTypes{Type{"auto", ""},         Type{"half", "fp16"},  Type{"float16", "fp16"},
                              Type{"bfloat16", "bf16"}, Type{"float", "fp32"}, Type{"float32", "fp32"}};
  std::string_view word;
  if (type) {
    const auto row = std::find_if(kTypes.begin(), kTypes.end(), [&](const Type& t) { return t.name == type->value; });
    if (row == kTypes.end())
      return keys.not_possible(type->origin, type->value, "auto bfloat16 float16 half float32 float");
    word = row->word;
  }
  ServedFormat format;
  if (quantization) {
    const auto stated = served_format(quantization->value);
    if (stated) {
      format = *stated;
    } else {
      plan.missing.push_back({"precision.weights", "--set precision.weights=..."});
      plan.warn(say("import.serve.quantization", in_quotes(quantization->value)), quantization->origin.line);
    }
  }
  const auto take = [&](std::string_view field, std::string_view stated) {
    if (quantization && !stated.empty())
      plan.state_choice(field, stated, quantization->origin, quantization->value);
    else if (type && !word.empty())
      plan.state_choice(field, word, type->origin, type->value);
    else
      plan.assume_choice(field, "bf16", say("import.serve.sixteen", engine));
  };
  if (const std::string_view compute = checkpoint_compute(known); format.weights.empty() && !compute.empty())
    plan.assume_choice("precision.compute", compute, say("import.serve.checkpoint", in_quotes(model->value)));
  else
    take("precision.compute", format.compute);
  if (format.weights.empty() && known.weights && *known.weights != engine::Dtype::bf16) {
    // The checkpoint itself is quantised: its name, or its publisher, says so.
    plan.assume_choice("precision.weights", dtype_word(*known.weights),
                       say("import.serve.checkpoint", in_quotes(model->value)));
    return;
  }
  take("precision.weights", format.weights);
}

void read_cache_format(KeyReader& keys, LaunchPlan& plan, std::string_view engine, std::string_view type_keys) {
  const auto cache = keys.word(type_keys);
  if (!cache || cache->value == "auto" || cache->value == "bfloat16" || cache->value == "bf16") {
    if (cache && cache->value != "auto")
      plan.state_choice("precision.kv_cache", "bf16", cache->origin, cache->value);
    else
      plan.assume_choice("precision.kv_cache", "bf16", say("import.serve.sixteen", engine));
    if (cache && cache->value == "auto") plan.no_effect(cache->origin, say("import.default_of", engine));
    return;
  }
  std::string_view word;
  if (cache->value.starts_with("fp8") || cache->value == "nvfp8")
    word = "fp8";
  else if (cache->value == "float16" || cache->value == "half")
    word = "fp16";
  else if (cache->value == "int8")
    word = "int8";
  else if (cache->value == "fp4_e2m1")
    word = "mxfp4";
  else if (cache->value.starts_with("fp4") || cache->value == "nvfp4")
    word = "nvfp4";
  else if (cache->value == "int4")
    word = "int4";
  if (word.empty()) return keys.not_possible(cache->origin, cache->value, "auto bfloat16 fp8 fp8_e4m3 fp8_e5m2");
  plan.state_choice("precision.kv_cache", word, cache->origin, cache->value);
}

void tell_other_servers(std::span<const ShellCommand> commands, bool (*starts_server)(const ShellCommand&),
                        const Maybe<std::string>& model, LaunchPlan& plan) {
  if (!model) return;
  const auto names_model = [&model](const ShellWord& word) {
    return word.text == model->value || word.text.ends_with("=" + model->value);
  };
  bool behind = false;
  for (const ShellCommand& command : commands) {
    if (!starts_server(command)) continue;
    if (behind && std::none_of(command.words.begin(), command.words.end(), names_model))
      plan.warn(say("import.other_server"), command.line);
    behind = true;
  }
}

void leave_out_server_flags(KeyReader& keys) {
  keys.without_effect(
      {"--allow*", "--api-key", "--chat-template*", "--collect*", "--device", "--download-dir", "--enable-request*",
       "--host", "--load-format", "--log-*", "--model-loader*", "--node-rank", "--port", "--reasoning*", "--revision",
       "--served-model-name", "--tokenizer*", "--tool-*", "--trust-remote-code"},
      say("import.ignored.no_effect"));
}

void deal_experts(KeyReader& keys, LaunchPlan& plan, const PresetLibrary& library, const ServedRanks& served,
                  std::string_view engine) {
  const engine::TransformerShape* shape = plan.model ? library.find_model(plan.model->value) : nullptr;
  const bool moe = shape != nullptr && shape->is_moe();
  const int spread = served.spread ? served.spread->value : 1;
  if (spread > 1 && (shape == nullptr || moe)) {
    if (served.ranks % spread != 0)
      return keys.contradiction(served.ranks_origin, std::to_string(served.ranks), served.spread->origin,
                                std::to_string(spread));
    plan.state("parallelism.expert", spread, served.spread->origin, std::to_string(spread));
    const int left = std::max(1, std::min(served.ranks / served.groups, served.ranks / spread));
    if (served.expert_tensor)
      plan.state("parallelism.expert_tensor", served.expert_tensor->value, served.expert_tensor->origin);
    else
      plan.assume("parallelism.expert_tensor", left, say("import.default_of", engine));
    return;
  }
  plan.assume("parallelism.expert", 1, say("import.default_of", engine));
  if (served.expert_tensor) plan.no_effect(served.expert_tensor->origin, say("import.default_of", engine));
  if (spread > 1) plan.no_effect(served.spread->origin, say("import.serve.no_experts"));
  if (moe && served.groups > 1) plan.warn(say("import.vllm.shared_experts"), served.groups_origin.line);
}

}  // namespace roofscape::io
