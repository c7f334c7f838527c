#include "engine/io/import/framework_models.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace roofscape::io {

namespace {

using engine::Dtype;

struct Flavor {
  std::string_view name, flavor, preset;
};
// Folders of torchtitan/models and its experiments, and what their tables call the sizes.
constexpr std::array kFlavors{
    Flavor{"llama", "7b", "llama2-7b"},
    Flavor{"llama", "13b", "llama2-13b"},
    Flavor{"llama", "70b", "llama2-70b"},
    Flavor{"llama2", "7b", "llama2-7b"},
    Flavor{"llama2", "13b", "llama2-13b"},
    Flavor{"llama2", "70b", "llama2-70b"},
    Flavor{"llama3", "8b", "llama3-8b"},
    Flavor{"llama3", "70b", "llama3-70b"},
    Flavor{"llama3", "405b", "llama3-405b"},
    Flavor{"llama3", "1b", "llama3.2-1b"},
    Flavor{"llama3", "3b", "llama3.2-3b"},
    Flavor{"llama3", "3.2-1b", "llama3.2-1b"},
    Flavor{"llama3", "3.2-3b", "llama3.2-3b"},
    Flavor{"deepseek_v2", "deepseek-ai/deepseek-v2-lite", "deepseek-v2-lite"},
    Flavor{"deepseek_v2", "deepseek-v2-lite", "deepseek-v2-lite"},
    Flavor{"deepseek_v3", "16b", "deepseek-v2-lite"},
    Flavor{"deepseek_v3", "236b", "deepseek-v2"},
    Flavor{"deepseek_v3", "671b", "deepseek-v3"},
    Flavor{"qwen3", "0.6b", "qwen3-0.6b"},
    Flavor{"qwen3", "1.7b", "qwen3-1.7b"},
    Flavor{"qwen3", "4b", "qwen3-4b"},
    Flavor{"qwen3", "8b", "qwen3-8b"},
    Flavor{"qwen3", "14b", "qwen3-14b"},
    Flavor{"qwen3", "32b", "qwen3-32b"},
    Flavor{"qwen3", "30b-a3b", "qwen3-30b-a3b"},
    Flavor{"qwen3", "235b-a22b", "qwen3-235b-a22b"},
    Flavor{"gpt_oss", "20b", "gpt-oss-20b"},
    Flavor{"gpt_oss", "120b", "gpt-oss-120b"},
};

struct Named {
  std::string_view name, preset;
};
// configs/models of MaxText.
constexpr std::array kMaxtextModels{
    Named{"llama2-7b", "llama2-7b"},
    Named{"llama2-13b", "llama2-13b"},
    Named{"llama2-70b", "llama2-70b"},
    Named{"llama3-8b", "llama3-8b"},
    Named{"llama3-70b", "llama3-70b"},
    Named{"llama3-405b", "llama3-405b"},
    Named{"llama3.1-8b", "llama3-8b"},
    Named{"llama3.1-70b", "llama3-70b"},
    Named{"llama3.1-405b", "llama3-405b"},
    Named{"llama3.3-70b", "llama3-70b"},
    Named{"mistral-7b", "mistral-7b"},
    Named{"mixtral-8x7b", "mixtral-8x7b"},
    Named{"mixtral-8x22b", "mixtral-8x22b"},
    Named{"deepseek2-16b", "deepseek-v2-lite"},
    Named{"deepseek2-236b", "deepseek-v2"},
    Named{"deepseek3-671b", "deepseek-v3"},
    Named{"deepseek3-671b-2dfsdp", "deepseek-v3"},
    Named{"deepseek3-671b-batchsplit", "deepseek-v3"},
    Named{"gemma-2b", "gemma-2b"},
    Named{"gemma-7b", "gemma-7b"},
    Named{"gemma2-2b", "gemma2-2b"},
    Named{"gemma2-9b", "gemma2-9b"},
    Named{"gemma2-27b", "gemma2-27b"},
    Named{"gemma3-4b", "gemma3-4b-text"},
    Named{"gemma3-12b", "gemma3-12b-text"},
    Named{"gemma3-27b", "gemma3-27b-text"},
    Named{"gpt3-175b", "gpt3-175b"},
    Named{"gpt-oss-20b", "gpt-oss-20b"},
    Named{"gpt-oss-120b", "gpt-oss-120b"},
    Named{"qwen2.5-1.5b", "qwen2.5-1.5b"},
    Named{"qwen2.5-7b", "qwen2.5-7b"},
    Named{"qwen2.5-14b", "qwen2.5-14b"},
    Named{"qwen3-0.6b", "qwen3-0.6b"},
    Named{"qwen3-1.7b", "qwen3-1.7b"},
    Named{"qwen3-1.7b-base", "qwen3-1.7b"},
    Named{"qwen3-4b", "qwen3-4b"},
    Named{"qwen3-4b-base", "qwen3-4b"},
    Named{"qwen3-4b-thinking-2507", "qwen3-4b"},
    Named{"qwen3-8b", "qwen3-8b"},
    Named{"qwen3-8b-base", "qwen3-8b"},
    Named{"qwen3-14b", "qwen3-14b"},
    Named{"qwen3-14b-base", "qwen3-14b"},
    Named{"qwen3-32b", "qwen3-32b"},
    Named{"qwen3-30b-a3b", "qwen3-30b-a3b"},
    Named{"qwen3-30b-a3b-base", "qwen3-30b-a3b"},
    Named{"qwen3-235b-a22b", "qwen3-235b-a22b"},
};

struct Stem {
  std::string_view name, preset;
  Dtype published = Dtype::none;  // how its own repository stores the weights; none: in 16 bits
};
// Beginnings of names on the Hugging Face hub, in lower case. What follows must be a word of kSuffixes.
constexpr std::array kStems{
    Stem{"llama-2-7b", "llama2-7b"},
    Stem{"llama-2-13b", "llama2-13b"},
    Stem{"llama-2-70b", "llama2-70b"},
    Stem{"llama-3-8b", "llama3-8b"},
    Stem{"llama-3-70b", "llama3-70b"},
    Stem{"llama-3.1-8b", "llama3-8b"},
    Stem{"llama-3.1-70b", "llama3-70b"},
    Stem{"llama-3.1-405b", "llama3-405b"},
    Stem{"llama-3.2-1b", "llama3.2-1b"},
    Stem{"llama-3.2-3b", "llama3.2-3b"},
    Stem{"llama-3.3-70b", "llama3-70b"},
    Stem{"mistral-7b", "mistral-7b"},
    Stem{"mixtral-8x7b", "mixtral-8x7b"},
    Stem{"mixtral-8x22b", "mixtral-8x22b"},
    Stem{"mistral-large", "mistral-large-2407"},
    Stem{"qwen2.5-0.5b", "qwen2.5-0.5b"},
    Stem{"qwen2.5-1.5b", "qwen2.5-1.5b"},
    Stem{"qwen2.5-3b", "qwen2.5-3b"},
    Stem{"qwen2.5-7b", "qwen2.5-7b"},
    Stem{"qwen2.5-14b", "qwen2.5-14b"},
    Stem{"qwen2.5-32b", "qwen2.5-32b"},
    Stem{"qwen2.5-72b", "qwen2.5-72b"},
    Stem{"qwen3-0.6b", "qwen3-0.6b"},
    Stem{"qwen3-1.7b", "qwen3-1.7b"},
    Stem{"qwen3-4b", "qwen3-4b"},
    Stem{"qwen3-8b", "qwen3-8b"},
    Stem{"qwen3-14b", "qwen3-14b"},
    Stem{"qwen3-32b", "qwen3-32b"},
    Stem{"qwen3-30b-a3b", "qwen3-30b-a3b"},
    Stem{"qwen3-235b-a22b", "qwen3-235b-a22b"},
    Stem{"deepseek-v2", "deepseek-v2"},
    Stem{"deepseek-v2-lite", "deepseek-v2-lite"},
    Stem{"deepseek-v3", "deepseek-v3", Dtype::fp8},
    Stem{"deepseek-v3.1", "deepseek-v3", Dtype::fp8},
    Stem{"deepseek-r1", "deepseek-v3", Dtype::fp8},
    Stem{"gemma-2b", "gemma-2b"},
    Stem{"gemma-7b", "gemma-7b"},
    Stem{"gemma-2-2b", "gemma2-2b"},
    Stem{"gemma-2-9b", "gemma2-9b"},
    Stem{"gemma-2-27b", "gemma2-27b"},
    Stem{"gemma-3-1b", "gemma3-1b"},
    Stem{"gemma-3-4b", "gemma3-4b-text"},
    Stem{"gemma-3-12b", "gemma3-12b-text"},
    Stem{"gemma-3-27b", "gemma3-27b-text"},
    Stem{"gpt-oss-20b", "gpt-oss-20b", Dtype::int4},
    Stem{"gpt-oss-120b", "gpt-oss-120b", Dtype::int4},
    Stem{"bloom", "bloom-176b"},
};
// What says only how a model was tuned or when.
constexpr std::array<std::string_view, 18> kSuffixes{"instruct", "chat", "hf",       "base",    "it",        "pt",
                                                     "v0.1",     "v0.2", "v0.3",     "2407",    "2411",      "2507",
                                                     "0324",     "0528", "thinking", "dynamic", "quantized", "block"};
struct Storage {
  std::string_view word;
  Dtype dtype;
};
constexpr std::array kStorages{
    Storage{"fp8", Dtype::fp8},    Storage{"w8a8", Dtype::int8},  Storage{"int8", Dtype::int8},
    Storage{"8bit", Dtype::int8},  Storage{"awq", Dtype::int4},   Storage{"gptq", Dtype::int4},
    Storage{"int4", Dtype::int4},  Storage{"w4a16", Dtype::int4}, Storage{"4bit", Dtype::int4},
    Storage{"nvfp4", Dtype::int4}, Storage{"fp4", Dtype::int4},   Storage{"mxfp4", Dtype::int4},
    Storage{"bf16", Dtype::bf16},
};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return out;
}

}  // namespace

std::string_view torchtitan_model(std::string_view name, std::string_view flavor) {
  // Variants of one model: "simple_fsdp.llama3", "llama3_ft".
  if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos) name.remove_prefix(dot + 1);
  if (name.ends_with("_ft")) name.remove_suffix(3);
  const std::string size = lower(flavor);
  for (const Flavor& row : kFlavors)
    if (row.name == name && row.flavor == size) return row.preset;
  return {};
}

std::string_view maxtext_model(std::string_view name) {
  for (const Named& row : kMaxtextModels)
    if (row.name == name) return row.preset;
  return {};
}

HubModel hub_model(std::string_view name) {
  while (name.ends_with('/')) name.remove_suffix(1);
  std::string folded = lower(name.substr(name.rfind('/') + 1));
  std::replace(folded.begin(), folded.end(), '_', '-');
  std::string_view rest = folded;
  if (rest.starts_with("meta-")) rest.remove_prefix(5);
  const Stem* stem = nullptr;
  for (const Stem& row : kStems)
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
    const auto stored =
        std::find_if(kStorages.begin(), kStorages.end(), [&](const Storage& row) { return row.word == word; });
    if (stored != kStorages.end()) {
      out.weights = stored->dtype;
      out.called = stored->word;
    } else if (std::find(kSuffixes.begin(), kSuffixes.end(), word) == kSuffixes.end()) {
      return {};
    }
  }
  return out;
}

}  // namespace roofscape::io
