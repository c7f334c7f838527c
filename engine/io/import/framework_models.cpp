#include "engine/io/import/framework_models.h"
#include "engine/base/ascii.h"
#include "engine/io/json/result.h"

#include <algorithm>
#include <array>
#include <string>

namespace roofscape::io {

namespace {

using engine::Dtype;

struct TitanFlavor {
  std::string_view name, flavor, preset;
};
// Folders of torchtitan/models and its experiments, and what their tables call the sizes.
constexpr std::array kTitanFlavors{
    TitanFlavor{"llama", "7b", "llama2-7b"},
    TitanFlavor{"llama", "13b", "llama2-13b"},
    TitanFlavor{"llama", "70b", "llama2-70b"},
    TitanFlavor{"llama2", "7b", "llama2-7b"},
    TitanFlavor{"llama2", "13b", "llama2-13b"},
    TitanFlavor{"llama2", "70b", "llama2-70b"},
    TitanFlavor{"llama3", "8b", "llama3-8b"},
    TitanFlavor{"llama3", "70b", "llama3-70b"},
    TitanFlavor{"llama3", "405b", "llama3-405b"},
    TitanFlavor{"llama3", "1b", "llama3.2-1b"},
    TitanFlavor{"llama3", "3b", "llama3.2-3b"},
    TitanFlavor{"llama3", "3.2-1b", "llama3.2-1b"},
    TitanFlavor{"llama3", "3.2-3b", "llama3.2-3b"},
    TitanFlavor{"llama4", "17bx16e", "llama4-scout"},
    TitanFlavor{"llama4", "17bx128e", "llama4-maverick"},
    TitanFlavor{"deepseek_v2", "deepseek-ai/deepseek-v2-lite", "deepseek-v2-lite"},
    TitanFlavor{"deepseek_v2", "deepseek-v2-lite", "deepseek-v2-lite"},
    TitanFlavor{"deepseek_v3", "16b", "deepseek-v2-lite"},
    TitanFlavor{"deepseek_v3", "236b", "deepseek-v2"},
    TitanFlavor{"deepseek_v3", "671b", "deepseek-v3"},
    TitanFlavor{"qwen3", "0.6b", "qwen3-0.6b"},
    TitanFlavor{"qwen3", "1.7b", "qwen3-1.7b"},
    TitanFlavor{"qwen3", "4b", "qwen3-4b"},
    TitanFlavor{"qwen3", "8b", "qwen3-8b"},
    TitanFlavor{"qwen3", "14b", "qwen3-14b"},
    TitanFlavor{"qwen3", "32b", "qwen3-32b"},
    TitanFlavor{"qwen3", "30b-a3b", "qwen3-30b-a3b"},
    TitanFlavor{"qwen3", "235b-a22b", "qwen3-235b-a22b"},
    TitanFlavor{"gpt_oss", "20b", "gpt-oss-20b"},
    TitanFlavor{"gpt_oss", "120b", "gpt-oss-120b"},
};

struct MaxtextName {
  std::string_view name, preset;
};
// configs/models of MaxText.
constexpr std::array kMaxtextModels{
    MaxtextName{"llama2-7b", "llama2-7b"},
    MaxtextName{"llama2-13b", "llama2-13b"},
    MaxtextName{"llama2-70b", "llama2-70b"},
    MaxtextName{"llama3-8b", "llama3-8b"},
    MaxtextName{"llama3-70b", "llama3-70b"},
    MaxtextName{"llama3-405b", "llama3-405b"},
    MaxtextName{"llama3.1-8b", "llama3-8b"},
    MaxtextName{"llama3.1-70b", "llama3-70b"},
    MaxtextName{"llama3.1-405b", "llama3-405b"},
    MaxtextName{"llama3.3-70b", "llama3-70b"},
    MaxtextName{"llama4-17b-16e", "llama4-scout"},
    MaxtextName{"llama4-17b-128e", "llama4-maverick"},
    MaxtextName{"mistral-7b", "mistral-7b"},
    MaxtextName{"mixtral-8x7b", "mixtral-8x7b"},
    MaxtextName{"mixtral-8x22b", "mixtral-8x22b"},
    MaxtextName{"deepseek2-16b", "deepseek-v2-lite"},
    MaxtextName{"deepseek2-236b", "deepseek-v2"},
    MaxtextName{"deepseek3-671b", "deepseek-v3"},
    MaxtextName{"deepseek3-671b-2dfsdp", "deepseek-v3"},
    MaxtextName{"deepseek3-671b-batchsplit", "deepseek-v3"},
    MaxtextName{"gemma-2b", "gemma-2b"},
    MaxtextName{"gemma-7b", "gemma-7b"},
    MaxtextName{"gemma2-2b", "gemma2-2b"},
    MaxtextName{"gemma2-9b", "gemma2-9b"},
    MaxtextName{"gemma2-27b", "gemma2-27b"},
    MaxtextName{"gemma3-4b", "gemma3-4b-text"},
    MaxtextName{"gemma3-12b", "gemma3-12b-text"},
    MaxtextName{"gemma3-27b", "gemma3-27b-text"},
    MaxtextName{"gpt3-175b", "gpt3-175b"},
    MaxtextName{"gpt-oss-20b", "gpt-oss-20b"},
    MaxtextName{"gpt-oss-120b", "gpt-oss-120b"},
    MaxtextName{"qwen2.5-1.5b", "qwen2.5-1.5b"},
    MaxtextName{"qwen2.5-7b", "qwen2.5-7b"},
    MaxtextName{"qwen2.5-14b", "qwen2.5-14b"},
    MaxtextName{"qwen3-0.6b", "qwen3-0.6b"},
    MaxtextName{"qwen3-1.7b", "qwen3-1.7b"},
    MaxtextName{"qwen3-1.7b-base", "qwen3-1.7b"},
    MaxtextName{"qwen3-4b", "qwen3-4b"},
    MaxtextName{"qwen3-4b-base", "qwen3-4b"},
    MaxtextName{"qwen3-4b-thinking-2507", "qwen3-4b"},
    MaxtextName{"qwen3-8b", "qwen3-8b"},
    MaxtextName{"qwen3-8b-base", "qwen3-8b"},
    MaxtextName{"qwen3-14b", "qwen3-14b"},
    MaxtextName{"qwen3-14b-base", "qwen3-14b"},
    MaxtextName{"qwen3-32b", "qwen3-32b"},
    MaxtextName{"qwen3-30b-a3b", "qwen3-30b-a3b"},
    MaxtextName{"qwen3-30b-a3b-base", "qwen3-30b-a3b"},
    MaxtextName{"qwen3-235b-a22b", "qwen3-235b-a22b"},
};

struct HubStem {
  std::string_view name, preset;
  Dtype published = Dtype::none;  // how its own repository stores the weights; none: in 16 bits
};
// Beginnings of names on the Hugging Face hub, in lower case. What follows must be a word of kHubSuffixes.
constexpr std::array kHubStems{
    HubStem{"llama-2-7b", "llama2-7b"},
    HubStem{"llama-2-13b", "llama2-13b"},
    HubStem{"llama-2-70b", "llama2-70b"},
    HubStem{"llama-3-8b", "llama3-8b"},
    HubStem{"llama-3-70b", "llama3-70b"},
    HubStem{"llama-3.1-8b", "llama3-8b"},
    HubStem{"llama-3.1-70b", "llama3-70b"},
    HubStem{"llama-3.1-405b", "llama3-405b"},
    HubStem{"llama-3.2-1b", "llama3.2-1b"},
    HubStem{"llama-3.2-3b", "llama3.2-3b"},
    HubStem{"llama-3.3-70b", "llama3-70b"},
    HubStem{"llama-4-scout-17b-16e", "llama4-scout"},
    HubStem{"llama-4-maverick-17b-128e", "llama4-maverick"},
    HubStem{"mistral-7b", "mistral-7b"},
    HubStem{"mixtral-8x7b", "mixtral-8x7b"},
    HubStem{"mixtral-8x22b", "mixtral-8x22b"},
    HubStem{"mistral-large", "mistral-large-2407"},
    HubStem{"qwen2.5-0.5b", "qwen2.5-0.5b"},
    HubStem{"qwen2.5-1.5b", "qwen2.5-1.5b"},
    HubStem{"qwen2.5-3b", "qwen2.5-3b"},
    HubStem{"qwen2.5-7b", "qwen2.5-7b"},
    HubStem{"qwen2.5-14b", "qwen2.5-14b"},
    HubStem{"qwen2.5-32b", "qwen2.5-32b"},
    HubStem{"qwen2.5-72b", "qwen2.5-72b"},
    HubStem{"qwen3-0.6b", "qwen3-0.6b"},
    HubStem{"qwen3-1.7b", "qwen3-1.7b"},
    HubStem{"qwen3-4b", "qwen3-4b"},
    HubStem{"qwen3-8b", "qwen3-8b"},
    HubStem{"qwen3-14b", "qwen3-14b"},
    HubStem{"qwen3-32b", "qwen3-32b"},
    HubStem{"qwen3-30b-a3b", "qwen3-30b-a3b"},
    HubStem{"qwen3-235b-a22b", "qwen3-235b-a22b"},
    HubStem{"deepseek-v2", "deepseek-v2"},
    HubStem{"deepseek-v2-lite", "deepseek-v2-lite"},
    HubStem{"deepseek-v3", "deepseek-v3", Dtype::fp8},
    HubStem{"deepseek-v3.1", "deepseek-v3", Dtype::fp8},
    HubStem{"deepseek-r1", "deepseek-v3", Dtype::fp8},
    HubStem{"kimi-k2", "kimi-k2", Dtype::fp8},
    HubStem{"kimi-k2-thinking", "kimi-k2", Dtype::int4},
    HubStem{"glm-4.5", "glm-4.5"},
    HubStem{"glm-4.5-air", "glm-4.5-air"},
    HubStem{"glm-4.6", "glm-4.5"},
    HubStem{"minimax-m2", "minimax-m2", Dtype::fp8},
    HubStem{"gemma-2b", "gemma-2b"},
    HubStem{"gemma-7b", "gemma-7b"},
    HubStem{"gemma-2-2b", "gemma2-2b"},
    HubStem{"gemma-2-9b", "gemma2-9b"},
    HubStem{"gemma-2-27b", "gemma2-27b"},
    HubStem{"gemma-3-1b", "gemma3-1b"},
    HubStem{"gemma-3-4b", "gemma3-4b-text"},
    HubStem{"gemma-3-12b", "gemma3-12b-text"},
    HubStem{"gemma-3-27b", "gemma3-27b-text"},
    HubStem{"gpt-oss-20b", "gpt-oss-20b", Dtype::mxfp4},
    HubStem{"gpt-oss-120b", "gpt-oss-120b", Dtype::mxfp4},
    HubStem{"bloom", "bloom-176b"},
};
// What says only how a model was tuned or when.
constexpr std::array<std::string_view, 19> kHubSuffixes{
    "instruct", "chat", "hf",   "base", "it",   "pt",       "v0.1",    "v0.2",      "v0.3", "2407",
    "2411",     "2507", "0905", "0324", "0528", "thinking", "dynamic", "quantized", "block"};
struct HubStorage {
  std::string_view word;
  Dtype dtype;
};
constexpr std::array kHubStorages{
    HubStorage{"fp8", Dtype::fp8},     HubStorage{"w8a8", Dtype::int8},  HubStorage{"int8", Dtype::int8},
    HubStorage{"8bit", Dtype::int8},   HubStorage{"awq", Dtype::int4},   HubStorage{"gptq", Dtype::int4},
    HubStorage{"int4", Dtype::int4},   HubStorage{"w4a16", Dtype::int4}, HubStorage{"4bit", Dtype::int4},
    HubStorage{"nvfp4", Dtype::nvfp4}, HubStorage{"fp4", Dtype::nvfp4},  HubStorage{"mxfp4", Dtype::mxfp4},
    HubStorage{"bf16", Dtype::bf16},
};

}  // namespace

std::string_view torchtitan_model(std::string_view name, std::string_view flavor) {
  // Variants of one model: "simple_fsdp.llama3", "llama3_ft".
  if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos) name.remove_prefix(dot + 1);
  if (name.ends_with("_ft")) name.remove_suffix(3);
  const std::string size = engine::ascii_lower(flavor);
  for (const TitanFlavor& row : kTitanFlavors)
    if (row.name == name && row.flavor == size) return row.preset;
  return {};
}

std::string_view maxtext_model(std::string_view name) {
  for (const MaxtextName& row : kMaxtextModels)
    if (row.name == name) return row.preset;
  return {};
}

HubModel hub_model(std::string_view name) {
  while (name.ends_with('/')) name.remove_suffix(1);
  std::string folded = engine::ascii_lower(name.substr(name.rfind('/') + 1));
  std::replace(folded.begin(), folded.end(), '_', '-');
  std::string_view rest = folded;
  if (rest.starts_with("meta-")) rest.remove_prefix(5);
  const HubStem* stem = nullptr;
  for (const HubStem& row : kHubStems)
    if (rest.starts_with(row.name) && (rest.size() == row.name.size() || rest[row.name.size()] == '-') &&
        (stem == nullptr || row.name.size() > stem->name.size()))
      stem = &row;
  if (stem == nullptr) return {};
  HubModel out{stem->preset, {}, {}};
  if (stem->published != Dtype::none) out.weights = stem->published;
  rest.remove_prefix(stem->name.size());
  while (!rest.empty()) {
    rest.remove_prefix(1);  // '-'
    const std::string_view word = rest.substr(0, rest.find('-'));
    rest.remove_prefix(word.size());
    const auto stored = std::find_if(kHubStorages.begin(), kHubStorages.end(),
                                     [&](const HubStorage& row) { return row.word == word; });
    if (stored != kHubStorages.end()) {
      out.weights = stored->dtype;
      out.called = stored->word;
    } else if (std::find(kHubSuffixes.begin(), kHubSuffixes.end(), word) == kHubSuffixes.end()) {
      return {};
    }
  }
  return out;
}

HubModel take_hub_model(LaunchPlan& plan, const Stated<std::string>& name) {
  const HubModel known = hub_model(name.value);
  plan.model_written = name.value;
  if (!known.preset.empty())
    plan.model = {std::string(known.preset), name.origin};
  else
    plan.warn(engine::say("import.model_unknown", name.origin.key, in_quotes(name.value)), name.origin.line);
  return known;
}

}  // namespace roofscape::io
