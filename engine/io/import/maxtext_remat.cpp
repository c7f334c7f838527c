#include "engine/io/import/maxtext_remat.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "engine/base/sentence.h"

namespace roofscape::io {

using engine::say;

namespace {

// Tensors of a layer that a policy keeps, as custom policies name them.
enum class Kept { no, device, host };
struct KeptTensors {
  Kept input = Kept::device, context = Kept::no, query = Kept::no, key = Kept::no, value = Kept::no, out = Kept::no,
       mlp_in = Kept::no, mlp_out = Kept::no;
};
struct RematPolicy {
  std::string_view name;
  KeptTensors kept;
};
constexpr std::array kRematPolicies{
    // input, context, query, key, value, out, mlp_in, mlp_out
    RematPolicy{"full", {Kept::device, Kept::no, Kept::no, Kept::no, Kept::no, Kept::no, Kept::no, Kept::no}},
    RematPolicy{
        "minimal",
        {Kept::device, Kept::no, Kept::device, Kept::device, Kept::device, Kept::device, Kept::device, Kept::device}},
    RematPolicy{"minimal_flash",
                {Kept::device, Kept::device, Kept::device, Kept::device, Kept::device, Kept::device, Kept::device,
                 Kept::device}},
    RematPolicy{"minimal_with_context",
                {Kept::device, Kept::device, Kept::device, Kept::device, Kept::device, Kept::device, Kept::device,
                 Kept::device}},
    RematPolicy{"minimal_with_context_and_quantization",
                {Kept::device, Kept::device, Kept::device, Kept::device, Kept::device, Kept::device, Kept::device,
                 Kept::device}},
    RematPolicy{"minimal_offloaded",
                {Kept::device, Kept::no, Kept::host, Kept::host, Kept::host, Kept::host, Kept::host, Kept::host}},
    RematPolicy{
        "save_dot_with_context_except_mlp",
        {Kept::device, Kept::device, Kept::device, Kept::device, Kept::device, Kept::device, Kept::no, Kept::no}},
    RematPolicy{
        "save_dot_except_mlpwi",
        {Kept::device, Kept::no, Kept::device, Kept::device, Kept::device, Kept::device, Kept::no, Kept::device}},
    RematPolicy{"save_dot_except_mlp",
                {Kept::device, Kept::no, Kept::device, Kept::device, Kept::device, Kept::device, Kept::no, Kept::no}},
    RematPolicy{"save_qkv_proj",
                {Kept::device, Kept::no, Kept::device, Kept::device, Kept::device, Kept::no, Kept::no, Kept::no}},
    RematPolicy{"qkv_proj_offloaded",
                {Kept::device, Kept::no, Kept::host, Kept::host, Kept::host, Kept::no, Kept::no, Kept::no}},
    RematPolicy{"save_out_proj",
                {Kept::device, Kept::no, Kept::no, Kept::no, Kept::no, Kept::device, Kept::no, Kept::no}},
};

class MaxtextRematReader {
 public:
  MaxtextRematReader(KeyReader& keys, LaunchPlan& plan, const engine::TransformerShape& shape)
      : keys_(keys), plan_(plan), shape_(shape) {}

  void read() {
    const auto policy = keys_.word("remat_policy");
    if (keys_.failed()) return;
    const std::string name = policy ? policy->value : "full";
    const auto take_policy = [&](std::string_view id) {
      if (policy)
        plan_.state_choice("checkpointing.policy", id, policy->origin, name);
      else
        plan_.assume_choice("checkpointing.policy", id, usual());
    };
    if (name == "none") return take_policy("none");
    KeptTensors tensors;
    if (name == "custom") {
      if (kept("decoder_layer_input") == Kept::host) tensors.input = Kept::host;
      tensors.context = kept("context");
      const Kept all = kept("qkv_proj");
      tensors.query = std::max(all, kept("query_proj"));
      tensors.key = std::max(all, kept("key_proj"));
      tensors.value = std::max(all, kept("value_proj"));
      tensors.out = kept("out_proj");
      tensors.mlp_in =
          std::max({kept("mlpwi"), kept("mlpwi_0"), kept("mlpwi_1"), kept("moe_mlpwi_0"), kept("moe_mlpwi_1")});
      tensors.mlp_out = std::max(kept("mlpwo"), kept("moe_mlpwo"));
      if (keys_.failed()) return;
    } else {
      const auto row = std::find_if(kRematPolicies.begin(), kRematPolicies.end(),
                                    [&](const RematPolicy& known) { return known.name == name; });
      if (row == kRematPolicies.end()) {
        std::string names = "none custom";
        for (const RematPolicy& known : kRematPolicies) names += " " + std::string(known.name);
        return keys_.not_possible(policy->origin, name, names);
      }
      tensors = row->kept;
    }
    nearest(tensors, name, policy, take_policy);
  }

 private:
  static engine::Sentence usual() { return say("import.default_of", std::string_view("MaxText")); }

  Kept kept(std::string_view names) {
    const auto word = keys_.word(names);
    if (!word || word->value == "remat") return Kept::no;
    if (word->value == "offload") return Kept::host;
    if (word->value != "device") keys_.not_possible(word->origin, word->value, "remat device offload");
    return Kept::device;
  }

  template <class Take>
  void nearest(const KeptTensors& t, const std::string& name, const Maybe<std::string>& policy,
               const Take& take_policy) {
    const auto holds = [](Kept kept) { return kept == Kept::no ? 0.0 : 1.0; };
    const bool host =
        std::max({t.input, t.context, t.query, t.key, t.value, t.out, t.mlp_in, t.mlp_out}) == Kept::host;
    const int line = policy ? policy->origin.line : 0;
    if (host) {
      if (policy)
        plan_.state("offload.activations", 1, policy->origin, name);
      else
        plan_.assume("offload.activations", 1, usual());
    }
    const bool attention = holds(t.query) * holds(t.key) * holds(t.value) * holds(t.out) > 0;
    if (attention && holds(t.mlp_in) > 0 && holds(t.mlp_out) > 0) {
      take_policy("big_matmuls");
      if (host) plan_.warn(say("import.maxtext.remat", in_quotes(name), std::string_view("big_matmuls")), line);
      return;
    }
    const double width = std::max(1, shape_.d_model);
    const bool known = shape_.n_layers > 0;
    const double heads = known ? shape_.n_heads * shape_.d_head / width : 1;
    const double kv_heads = known ? shape_.n_kv_heads * shape_.d_head / width : 0.25;
    const double mlp = known ? shape_.d_ff * (shape_.gated_mlp ? 2 : 1) / width : 7;
    const double kept = 1 + holds(t.context) * heads + holds(t.query) * heads +
                        (holds(t.key) + holds(t.value)) * kv_heads + holds(t.out) + holds(t.mlp_out) +
                        holds(t.mlp_in) * mlp;
    const int k = std::clamp(static_cast<int>(std::lround(kept)), 1, 20);
    if (k == 1) {
      take_policy("block");
      if (name != "full") plan_.warn(say("import.maxtext.remat", in_quotes(name), std::string_view("block")), line);
      return;
    }
    take_policy("k_per_layer");
    plan_.assume("checkpointing.k", k, say("import.maxtext.tensors", in_quotes(name)));
    plan_.warn(say("import.maxtext.remat", in_quotes(name), std::string_view("k_per_layer")), line);
  }

  KeyReader& keys_;
  LaunchPlan& plan_;
  const engine::TransformerShape& shape_;
};

}  // namespace

void read_maxtext_remat(KeyReader& keys, LaunchPlan& plan, const engine::TransformerShape& shape) {
  MaxtextRematReader(keys, plan, shape).read();
}

}  // namespace roofscape::io
