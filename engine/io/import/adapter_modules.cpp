#include "engine/io/import/adapter_modules.h"

#include <array>
#include <cctype>
#include <string>

#include "engine/base/ascii.h"
#include "engine/io/json/result.h"

namespace roofscape::io {

using engine::say;

namespace {

enum Matrix : unsigned { kQ = 1, kK = 2, kV = 4, kO = 8, kGate = 16, kUp = 32, kDown = 64 };
constexpr unsigned kAttention = kQ | kK | kV | kO, kMlp = kGate | kUp | kDown;

struct Module {
  std::string_view name;
  unsigned matrices;
};
constexpr std::array kModules{
    Module{"q_proj", kQ}, Module{"k_proj", kK}, Module{"v_proj", kV}, Module{"o_proj", kO}, Module{"out_proj", kO},
    Module{"gate_proj", kGate}, Module{"up_proj", kUp}, Module{"down_proj", kDown},
    // Meta's Llama, Mixtral, InternLM
    Module{"wq", kQ}, Module{"wk", kK}, Module{"wv", kV}, Module{"wo", kO}, Module{"w1", kGate}, Module{"w3", kUp},
    Module{"w2", kDown}, Module{"wqkv", kQ | kK | kV},
    // Phi, Falcon, BLOOM, GPT-NeoX, ChatGLM, GPT-2, Qwen, Baichuan, MPT
    Module{"qkv_proj", kQ | kK | kV}, Module{"gate_up_proj", kGate | kUp}, Module{"query_key_value", kQ | kK | kV},
    Module{"dense", kO}, Module{"dense_h_to_4h", kGate | kUp}, Module{"dense_4h_to_h", kDown},
    Module{"fc1", kGate | kUp}, Module{"fc2", kDown}, Module{"c_attn", kQ | kK | kV}, Module{"c_proj", kO},
    Module{"c_fc", kGate | kUp}, Module{"w_pack", kQ | kK | kV}, Module{"query", kQ}, Module{"key", kK},
    Module{"value", kV},
    // Latent attention: down to the latents and up from them
    Module{"q_a_proj", kQ}, Module{"q_b_proj", kQ}, Module{"kv_a_proj_with_mqa", kK | kV},
    Module{"kv_b_proj", kK | kV},
    // Megatron Core; NeMo
    Module{"linear_q_proj", kQ}, Module{"linear_q_down_proj", kQ}, Module{"linear_q_up_proj", kQ},
    Module{"linear_kv_down_proj", kK | kV}, Module{"linear_kv_up_proj", kK | kV}, Module{"linear_qkv", kQ | kK | kV},
    Module{"linear_q", kQ}, Module{"linear_k", kK}, Module{"linear_v", kV}, Module{"linear_proj", kO},
    Module{"linear_fc1", kGate | kUp}, Module{"linear_fc1_gate", kGate}, Module{"linear_fc1_up", kUp},
    Module{"linear_fc2", kDown}, Module{"attention_qkv", kQ | kK | kV}, Module{"attention_dense", kO},
    Module{"mlp_fc1", kGate | kUp}, Module{"mlp_fc2", kDown}, Module{"attention", kAttention}, Module{"mlp", kMlp},
    Module{"all", kAttention | kMlp}, Module{"all_linear", kAttention | kMlp}};

unsigned matrices_of(std::string_view names) {
  unsigned out = 0;
  std::string word;
  const auto take = [&] {
    for (const Module& module : kModules)
      if (module.name == word) out |= module.matrices;
    word.clear();
  };
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto c = static_cast<unsigned char>(names[i]);
    const bool joins = c == '-' && !word.empty();  // "all-linear"
    if (std::isalnum(c) != 0 || c == '_' || joins)
      word += joins ? '_' : engine::ascii_lower(names[i]);
    else
      take();
  }
  take();
  return out;
}

}  // namespace

AdapterModules adapter_modules(std::string_view names) {
  const unsigned named = matrices_of(names);
  if (named == 0) return {};
  const bool mlp = (named & kMlp) != 0, attention = (named & kAttention) != 0;
  if (mlp && attention) return {"linear", named == (kAttention | kMlp)};
  if (mlp) return {"mlp", named == kMlp};
  if ((named & (kK | kO)) != 0) return {"attention", named == kAttention};
  return {"query_value", named == (kQ | kV)};
}

std::string module_names(const Node& value) {
  std::string names = value.text;
  for (const Node& item : value.items) names += (names.empty() ? "" : ",") + item.text;
  return names;
}

Maybe<std::string> module_names(KeyReader& keys, std::string_view names) {
  Maybe<std::string> out;
  if (keys.is_list(names)) {
    if (const auto list = keys.list(names); list.list != nullptr) out = {module_names(*list.list), list.origin};
  } else {
    out = keys.word(names);
  }
  return out && !out->value.empty() ? out : std::nullopt;
}

void state_adapter_modules(LaunchPlan& plan, std::string_view names, const Origin& origin) {
  constexpr std::string_view kField = "adapter.targets";
  const AdapterModules modules = adapter_modules(names);
  if (modules.targets.empty()) {
    plan.assume_choice(kField, "linear", say("import.adapter.modules_unknown"));
    return plan.warn(say("import.adapter.modules", in_quotes(names)), origin.line);
  }
  plan.state_choice(kField, modules.targets, origin, std::string(names));
  if (!modules.exact) plan.warn(say("import.nearest", std::string(names), modules.targets), origin.line);
}

}  // namespace roofscape::io
