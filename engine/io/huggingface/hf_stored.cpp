// quantization_config: how a checkpoint stores its weights. Sources: transformers, utils/quantization_config.py; modelopt's
// hf_quant_config; compressed-tensors, config/base.py.
#include "engine/base/ascii.h"
#include "engine/io/huggingface/hf_reader.h"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>

namespace roofscape::io {

namespace {

using engine::Dtype;

std::string member(const Json& json, std::string_view key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? engine::ascii_lower(found->get<std::string>()) : std::string();
}

double number(const Json& json, std::string_view key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

// Of bits and whether they are a float's.
Dtype by_width(double bits, bool is_float) {
  if (bits == 8) return is_float ? Dtype::fp8 : Dtype::int8;
  if (bits == 4) return is_float ? Dtype::nvfp4 : Dtype::int4;
  return Dtype::none;
}

// "NVFP4", "FP8", "W4A16_AWQ", "nvfp4-pack-quantized".
Dtype by_words(std::string_view words) {
  struct Word {
    std::string_view word;
    Dtype dtype;
  };
  constexpr std::array kWords{Word{"mxfp4", Dtype::mxfp4}, Word{"fp4", Dtype::nvfp4},  Word{"fp8", Dtype::fp8},
                              Word{"int4", Dtype::int4},   Word{"w4a16", Dtype::int4}, Word{"int8", Dtype::int8},
                              Word{"w8a", Dtype::int8}};
  for (const Word& row : kWords)
    if (words.find(row.word) != std::string_view::npos) return row.dtype;
  return Dtype::none;
}

// compressed-tensors has groups of layers, each with its weights and, where they are narrowed too, its inputs.
void read_groups(const Json& config, HfStored& out) {
  const auto groups = config.find("config_groups");
  if (groups == config.end() || !groups->is_object()) return;
  for (const auto& group : *groups) {
    if (!group.is_object()) continue;
    const auto weights = group.find("weights"), inputs = group.find("input_activations");
    if (weights == group.end() || !weights->is_object()) continue;
    if (out.weights == Dtype::none)
      out.weights = by_width(number(*weights, "num_bits"), member(*weights, "type") == "float");
    if (inputs != group.end() && inputs->is_object() && number(*inputs, "num_bits") == number(*weights, "num_bits"))
      out.compute = out.weights;
    return;
  }
}

}  // namespace

std::optional<HfStored> read_hf_stored(const Json& json) {
  const auto found = json.find("quantization_config");
  if (found == json.end() || !found->is_object()) return std::nullopt;
  const Json& config = *found;
  HfStored out;
  const std::string method = member(config, "quant_method"), algorithm = member(config, "quant_algo");
  out.written = method.empty() ? algorithm : algorithm.empty() ? method : method + " " + algorithm;
  const auto is_on = [&config](std::string_view key) {
    const auto flag = config.find(key);
    return flag != config.end() && flag->is_boolean() && flag->get<bool>();
  };
  if (method == "gptq" || method == "awq" || method == "auto-round") {
    out.weights = by_width(number(config, config.contains("bits") ? "bits" : "w_bit"), false);
  } else if (method == "bitsandbytes") {
    out.weights = is_on("load_in_4bit") || is_on("_load_in_4bit") ? Dtype::int4 : Dtype::int8;
  } else if (method == "compressed-tensors" || method == "modelopt" || !algorithm.empty()) {
    out.weights = by_words(algorithm.empty() ? member(config, "format") : algorithm);
    // An algorithm says what both operands are; a format only how weights are packed.
    if (!algorithm.empty() && algorithm.find("a16") == std::string::npos && out.weights != Dtype::int4)
      out.compute = out.weights;
    read_groups(config, out);
  } else {
    out.weights = by_words(method);
    if (out.weights == Dtype::fp8) out.compute = Dtype::fp8;
  }
  for (const std::string_view key : {"kv_cache_quant_algo", "kv_cache_scheme"}) {
    const auto cache = config.find(key);
    if (cache == config.end()) continue;
    if (cache->is_string()) out.kv_cache = by_words(engine::ascii_lower(cache->get<std::string>()));
    if (cache->is_object()) out.kv_cache = by_width(number(*cache, "num_bits"), member(*cache, "type") == "float");
  }
  return out;
}

}  // namespace roofscape::io
