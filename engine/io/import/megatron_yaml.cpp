// Configuration files whose words are those of Megatron Core: the YAML of Megatron-LM's functional tests, Megatron-Bridge's
// configuration and NeMo's. Each key is turned into the flag that means it, and the flags are read as those of a launch.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/ascii.h"
#include "engine/io/import/adapter_modules.h"
#include "engine/io/import/launch_formats.h"
#include "engine/io/import/megatron_reader.h"
#include "engine/io/import/mixed_precision.h"

namespace roofscape::io {

using engine::say;

namespace {

const Node* test_arguments(const LaunchSource& source) { return source.document.find("MODEL_ARGS"); }

bool recognises_yaml(const LaunchSource& source) {
  const Node* arguments = test_arguments(source);
  return arguments != nullptr && arguments->is_map() && !arguments->keys.empty() &&
         std::any_of(arguments->keys.begin(), arguments->keys.end(),
                     [](const std::string& key) { return key.starts_with("--"); });
}

// "--num-layers: 12" is the flag with its value, "--bf16: true" the flag alone, "false" and null no flag at all.
Result<LaunchPlan> read_yaml_arguments(const LaunchSource& source, const PresetLibrary& library) {
  const Node& arguments = *test_arguments(source);
  LaunchLine line;
  const auto put = [&](const Node& node) {
    ShellWord word{node.text, node.line};
    if (const std::size_t at = node.text.find('$'); at != std::string::npos && at + 1 < node.text.size()) {
      word.open = node.text.substr(at);
      word.substitution = node.text[at + 1] == '(';
    }
    line.arguments.push_back(std::move(word));
  };
  for (std::size_t i = 0; i < arguments.keys.size(); ++i) {
    const Node& value = arguments.items[i];
    if (value.is_null() || (value.kind == Node::Kind::boolean && value.number == 0)) continue;
    line.arguments.push_back({arguments.keys[i], value.line});
    if (value.is_list()) {
      for (const Node& item : value.items)
        if (item.is_scalar()) put(item);
    } else if (value.is_scalar() && value.kind != Node::Kind::boolean) {
      put(value);
    }
  }
  LaunchPlan plan;
  if (auto failure = MegatronReader(source.file, library, plan).read(line)) return *std::move(failure);
  return plan;
}

// ---- Megatron-Bridge and NeMo ----

// A key that is called otherwise than its flag.
struct KeyFlag {
  std::string_view key, flag;
};
constexpr std::array kRenamedKeys{
    KeyFlag{"num_moe_experts", "--num-experts"},
    KeyFlag{"encoder_seq_length", "--seq-length"},
    KeyFlag{"sequence_length", "--seq-length"},
    KeyFlag{"virtual_pipeline_model_parallel_size", "--num-virtual-stages-per-pipeline-rank"},
    KeyFlag{"microbatch_group_size_per_vp_stage", "--microbatch-group-size-per-virtual-pipeline-stage"},
    KeyFlag{"num_layers_in_first_pipeline_stage", "--decoder-first-pipeline-num-layers"},
    KeyFlag{"num_layers_in_last_pipeline_stage", "--decoder-last-pipeline-num-layers"},
    KeyFlag{"account_for_embedding_in_pipeline_split", "--account-for-embedding-in-pipeline-split"},
    KeyFlag{"activations_checkpoint_granularity", "--recompute-granularity"},
    KeyFlag{"activations_checkpoint_method", "--recompute-method"},
    KeyFlag{"activations_checkpoint_num_layers", "--recompute-num-layers"},
    KeyFlag{"qk_head_dim", "--qk-head-dim"},
    KeyFlag{"max_steps", "--train-iters"},
    KeyFlag{"fp8_recipe", "--fp8-recipe"},
    KeyFlag{"make_vocab_size_divisible_by", "--make-vocab-size-divisible-by"},
};
// Sections, and keys anywhere, that say nothing of time or memory.
constexpr std::array<std::string_view, 22> kQuietSections{"exp_manager",
                                                          "logger",
                                                          "log",
                                                          "checkpoint",
                                                          "rng",
                                                          "dist",
                                                          "nvrx",
                                                          "scheduler",
                                                          "profiling",
                                                          "tensorboard",
                                                          "resume",
                                                          "rerun_state_machine",
                                                          "inprocess_restart",
                                                          "straggler",
                                                          "ft",
                                                          "validation",
                                                          "hydra",
                                                          "run",
                                                          "defaults",
                                                          "tokenizer_args",
                                                          "nsys_profile",
                                                          "eval"};
constexpr std::array<std::string_view, 10> kQuietKeys{"library", "_target_", "_partial_", "_call_", "_args_",
                                                      "name",    "_name_",   "seed",      "lr",     "max_epochs"};

struct Leaf {
  std::string path, key;
  const Node* value = nullptr;
};

class CoreSettings {
 public:
  CoreSettings(const LaunchSource& source, LaunchPlan& plan) : document_(source.document), plan_(plan) {
    gather(document_, {});
  }

  Arguments arguments() {
    for (const Leaf& leaf : leaves_) take(leaf);
    if (groups_) flag("--group-query-attention", *groups_);
    // Where the launcher's default is all of the state, the core's own is none of it.
    if (has("--optimizer-cpu-offload") && !has("--optimizer-offload-fraction"))
      plan_.assume("offload.optimizer_fraction", 0, say("import.why.megatron_core"));
    return std::move(out_);
  }

 private:
  void gather(const Node& map, const std::string& prefix) {
    for (std::size_t i = 0; i < map.keys.size(); ++i) {
      const std::string path = prefix.empty() ? map.keys[i] : prefix + "." + map.keys[i];
      if (map.items[i].is_map())
        gather(map.items[i], path);
      else
        leaves_.push_back({path, map.keys[i], &map.items[i]});
    }
  }

  // "${model.hidden_size}", "${.hidden_size}": the value that is meant. What is computed stays open.
  const Node* meant(const Leaf& leaf) const {
    const Node* value = leaf.value;
    std::string path = leaf.path;
    for (int hops = 0; hops < 8 && value != nullptr && value->is_scalar(); ++hops) {
      const std::string& text = value->text;
      if (!text.starts_with("${") || !text.ends_with('}') || text.find_first_of(":{$", 2) != std::string::npos)
        return value;
      std::string to = text.substr(2, text.size() - 3);
      std::size_t dots = 0;
      while (dots < to.size() && to[dots] == '.') ++dots;
      if (dots > 0) {
        std::string base = path;
        for (std::size_t i = 0; i < dots; ++i) base.erase(std::min(base.rfind('.'), base.size()));
        to = (base.empty() || base == path ? std::string() : base + ".") + to.substr(dots);
      }
      value = document_.at(to);
      path = to;
    }
    return value;
  }

  static ShellWord word_of(const Node& node, int line) {
    ShellWord word{node.text, line};
    if (node.text.find("${") != std::string::npos) word.open = node.text;
    return word;
  }
  void put(std::string_view flag_name, const Leaf& leaf, std::vector<ShellWord> values) {
    out_.options.push_back({std::string(flag_name), leaf.path, std::move(values), leaf.value->line});
  }
  // A flag without a value, which the receipt shows as it is written.
  void flag(std::string_view flag_name, const Leaf& leaf) {
    put(flag_name, leaf, {{leaf.value->text, leaf.value->line}});
  }

  bool has(std::string_view flag_name) const {
    return std::ranges::any_of(out_.options, [&](const Argument& option) { return option.flag == flag_name; });
  }

  bool quiet(const Leaf& leaf) const {
    if (leaf.key == "use_tp_pp_dp_mapping") return false;  // of the section that else says how processes are started
    const std::string_view section = std::string_view(leaf.path).substr(0, leaf.path.find('.'));
    return std::find(kQuietSections.begin(), kQuietSections.end(), section) != kQuietSections.end() ||
           std::find(kQuietKeys.begin(), kQuietKeys.end(), leaf.key) != kQuietKeys.end();
  }

  void take(const Leaf& leaf) {
    const Node* value = meant(leaf);
    if (value == nullptr) {
      put("--" + dashed(leaf.key), leaf, {word_of(*leaf.value, leaf.value->line)});
      return;
    }
    if (value->is_null()) return;
    if (leaf.path.starts_with("peft.") || leaf.path.find(".peft.") != std::string::npos) return adapter(leaf, *value);
    if (special(leaf, *value)) return;
    if (quiet(leaf)) return plan_.no_effect({leaf.path, leaf.value->line}, say("import.why.no_effect"));
    if (value->kind == Node::Kind::boolean && value->number == 0) return;
    std::string name = "--" + dashed(leaf.key);
    for (const auto& [key, renamed] : kRenamedKeys)
      if (leaf.key == key) name = renamed;
    std::vector<ShellWord> values;
    if (value->is_list()) {
      for (const Node& item : value->items)
        if (item.is_scalar()) values.push_back(word_of(item, leaf.value->line));
    } else if (value->kind != Node::Kind::boolean) {
      values.push_back(word_of(*value, leaf.value->line));
    }
    put(name, leaf, std::move(values));
    if (leaf.key == "num_query_groups") groups_ = leaf;
  }

  static std::string dashed(std::string key) {
    std::replace(key.begin(), key.end(), '_', '-');
    return key;
  }

  // Keys whose value decides which flag they are.
  bool special(const Leaf& leaf, const Node& value) {
    const std::string& key = leaf.key;
    const std::string& text = value.text;
    const bool off = value.kind == Node::Kind::boolean && value.number == 0;
    const bool on = value.kind == Node::Kind::boolean && value.number != 0;
    if (key == "share_embeddings_and_output_weights") {
      if (off) flag("--untie-embeddings-and-output-weights", leaf);
    } else if (key == "add_bias_linear" || key == "bias") {
      if (off) flag("--disable-bias-linear", leaf);
    } else if (key == "gated_linear_unit") {
      if (on) flag("--swiglu", leaf);
    } else if (key == "activation" || key == "activation_func") {
      if (text.find("swiglu") != std::string::npos) flag("--swiglu", leaf);
      if (text.find("geglu") != std::string::npos) flag("--geglu", leaf);
      if (text.find("swiglu") == std::string::npos && text.find("geglu") == std::string::npos)
        plan_.no_effect({leaf.path, leaf.value->line}, say("import.why.no_effect"));
    } else if (key == "normalization") {
      const bool rms = text == "rmsnorm" || text == "RMSNorm";
      put("--normalization", leaf, {{rms ? "RMSNorm" : "LayerNorm", leaf.value->line}});
    } else if (key == "precision" || key == "mixed_precision") {
      const auto has = [&](std::string_view letters) { return text.find(letters) != std::string::npos; };
      if (has("bf16"))
        flag("--bf16", leaf);
      else if (has("16"))
        flag("--fp16", leaf);
      if (has("fp4")) put("--fp4-format", leaf, {{"e2m1", leaf.value->line}});
      if (has("fp8") || has("mxfp8")) put("--fp8-format", leaf, {{"hybrid", leaf.value->line}});
    } else if (key == "fp4") {
      if (!off) put("--fp4-format", leaf, {{on ? "e2m1" : text, leaf.value->line}});
    } else if (key == "fp8") {
      if (!off) put("--fp8-format", leaf, {{on ? "hybrid" : text, leaf.value->line}});
    } else if (key == "grad_reduce_in_fp32") {
      flag(off ? "--grad-reduce-in-bf16" : "--accumulate-allreduce-grads-in-fp32", leaf);
    } else if (key == "grad_reduce_dtype" || key == "grad_sync_dtype") {
      flag(text.find("bf16") != std::string::npos || text.find("bfloat16") != std::string::npos
               ? "--grad-reduce-in-bf16"
               : "--accumulate-allreduce-grads-in-fp32",
           leaf);
    } else if (key == "overlap_p2p_comm") {
      if (off) flag("--no-overlap-p2p-communication", leaf);
    } else if (key == "exp_avg_dtype" || key == "exp_avg_sq_dtype" || key == "main_grads_dtype" ||
               key == "main_params_dtype") {
      // Torch's names of them; what is kept in fp8 are bytes to torch.
      const std::string_view dtype = std::string_view(text).substr(text.rfind('.') + 1);  // "torch.bfloat16"
      const std::string_view format = dtype == "uint8" ? "fp8" : format_of_dtype(dtype);
      put("--" + dashed(key), leaf, {{format.empty() ? text : std::string(format), leaf.value->line}});
    } else if (key == "window_size" && value.is_list() && value.items.size() == 2) {
      put("--window-size", leaf, {{value.items[0].text + "," + value.items[1].text, leaf.value->line}});
    } else if (key == "moe_layer_freq" && value.is_list()) {
      std::string list;
      for (const Node& item : value.items) list += (list.empty() ? "[" : ",") + item.text;
      put("--moe-layer-freq", leaf, {{list + "]", leaf.value->line}});
    } else if (leaf.path.ends_with("optim.name")) {
      if (text.find("distributed") != std::string::npos) flag("--use-distributed-optimizer", leaf);
    } else if (leaf.path.starts_with("trainer.") && key == "devices") {
      chips(leaf, value, devices_);
    } else if (leaf.path.starts_with("trainer.") && key == "num_nodes") {
      chips(leaf, value, nodes_);
    } else if (leaf.path.find("tokenizer.") != std::string::npos && (key == "model" || key == "type")) {
      // A name of a model on Hugging Face is its tokenizer's.
      if (text.find('/') != std::string::npos) put("--tokenizer-model", leaf, {word_of(value, leaf.value->line)});
    } else {
      return false;
    }
    return true;
  }

  // Megatron-Bridge: peft with dim and target_modules; NeMo: model.peft with lora_tuning.adapter_dim.
  void adapter(const Leaf& leaf, const Node& value) {
    const Origin origin{leaf.path, leaf.value->line};
    const std::string& key = leaf.key;
    if (key == "_target_" || key == "peft_scheme") {
      if (engine::ascii_lower(value.text).find("lora") == std::string::npos)
        return plan_.fail(say("import.accelerate.adapter", in_quotes(value.text)), origin.line);
      plan_.read.push_back({origin.key, origin.line, "adapter.rank", value.text});
    } else if ((key == "dim" || key == "adapter_dim") && value.kind == Node::Kind::number) {
      plan_.state("adapter.rank", value.number, origin);
    } else if (key == "target_modules" && (value.is_list() || value.kind == Node::Kind::text)) {
      state_adapter_modules(plan_, module_names(value), origin);
    } else {
      plan_.no_effect(origin, say("import.why.no_effect"));
    }
  }

  void chips(const Leaf& leaf, const Node& value, std::optional<Stated<int>>& of) {
    if (value.kind != Node::Kind::number || value.number < 1 || value.number > 65536) return;
    of = {static_cast<int>(value.number), {leaf.path, leaf.value->line}};
    if (devices_ && nodes_ && static_cast<std::int64_t>(devices_->value) * nodes_->value <= (1 << 20)) {
      plan_.chips = {devices_->value * nodes_->value, nodes_->origin};
      plan_.chips_per_node = devices_;
    }
  }

  const Node& document_;
  LaunchPlan& plan_;
  std::vector<Leaf> leaves_;
  Arguments out_;
  std::optional<Leaf> groups_;
  Maybe<int> devices_, nodes_;
};

// Whether any key below a section is one of Megatron Core's parallel degrees, sizes or batches.
bool has_core_keys(const Node* node, int depth = 0) {
  constexpr std::string_view kCore[] = {"tensor_model_parallel_size",
                                        "pipeline_model_parallel_size",
                                        "num_layers",
                                        "hidden_size",
                                        "micro_batch_size",
                                        "global_batch_size",
                                        "ffn_hidden_size"};
  if (node == nullptr || !node->is_map() || depth > 3) return false;
  for (std::size_t i = 0; i < node->keys.size(); ++i)
    if (std::find(std::begin(kCore), std::end(kCore), node->keys[i]) != std::end(kCore) ||
        has_core_keys(&node->items[i], depth + 1))
      return true;
  return false;
}

bool recognises_nemo(const LaunchSource& source) {
  const Node *trainer = source.document.find("trainer"), *model = source.document.find("model");
  return trainer != nullptr && trainer->is_map() && (has_core_keys(model) || has_core_keys(trainer));
}
bool recognises_bridge(const LaunchSource& source) {
  if (source.document.find("trainer") != nullptr) return false;
  const auto section = [&](std::string_view name) {
    const Node* node = source.document.find(name);
    return node != nullptr && node->is_map();
  };
  return section("model") && has_core_keys(source.document.find("model")) &&
         (section("train") || section("ddp") || source.document.find("mixed_precision") != nullptr ||
          section("comm_overlap"));
}

Result<LaunchPlan> read_core_settings(const LaunchSource& source, const PresetLibrary& library) {
  LaunchPlan plan;
  Arguments arguments = CoreSettings(source, plan).arguments();
  if (auto failure = MegatronReader(source.file, library, plan).read({}, std::move(arguments)))
    return *std::move(failure);
  plan.note_on_reduction = {};  // these overlap it unless told otherwise
  return plan;
}

}  // namespace

const LaunchFormat megatron_yaml{"megatron-yaml", "Megatron-LM", LaunchSyntax::yaml, recognises_yaml,
                                 read_yaml_arguments};
const LaunchFormat megatron_bridge_yaml_format{"megatron-bridge", "Megatron-Bridge", LaunchSyntax::yaml,
                                               recognises_bridge, read_core_settings};
const LaunchFormat nemo_yaml_format{"nemo", "NeMo", LaunchSyntax::yaml, recognises_nemo, read_core_settings};

}  // namespace roofscape::io
