// Hugging Face: the YAML of `accelerate config` (with its FSDP, DeepSpeed, Megatron-LM and parallelism sections), and YAML of
// training arguments (Trainer, TRL, LLaMA-Factory, axolotl). The first says how processes share the work, the second what
// a step is; either leaves the other open.
#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "engine/io/import/accelerate_keys.h"
#include "engine/io/import/adapter_modules.h"
#include "engine/io/import/command_keys.h"
#include "engine/io/import/framework_models.h"
#include "engine/io/import/key_reader.h"
#include "engine/io/import/launch_formats.h"
#include "engine/io/import/launcher.h"
#include "engine/io/import/mixed_precision.h"
#include "engine/io/import/written_settings.h"

namespace roofscape::io {

using engine::say;

namespace {

struct FsdpStrategy {
  std::string_view name, number;  // of torch's ShardingFsdpStrategy, and as older files write it
  int stage;
  bool in_nodes;  // sharded inside a node, replicated across nodes
};
constexpr std::array kFsdpStrategies{
    FsdpStrategy{"FULL_SHARD", "1", 3, false},        FsdpStrategy{"SHARD_GRAD_OP", "2", 2, false},
    FsdpStrategy{"NO_SHARD", "3", 0, false},          FsdpStrategy{"HYBRID_SHARD", "4", 3, true},
    FsdpStrategy{"HYBRID_SHARD_ZERO2", "5", 2, true},
};

// axolotl's flags, and whether the scores stay on the chip.
constexpr std::array<std::pair<std::string_view, bool>, 5> kAttentionFlags{{{"flash_attention", true},
                                                                            {"sdp_attention", true},
                                                                            {"xformers_attention", true},
                                                                            {"flex_attention", true},
                                                                            {"eager_attention", false}}};

std::string in_capitals(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

class AccelerateReader {
 public:
  explicit AccelerateReader(std::string_view file) : keys_(file, plan_) {}
  KeyReader& keys() { return keys_; }
  LaunchPlan& plan() { return plan_; }
  void set_launcher() { launcher_ = true; }

  Result<LaunchPlan> read() {
    for (auto step : {&AccelerateReader::other_work, &AccelerateReader::processes, &AccelerateReader::kind,
                      &AccelerateReader::batch, &AccelerateReader::precision, &AccelerateReader::optimizer,
                      &AccelerateReader::adapters}) {
      (this->*step)();
      if (keys_.failed()) return *keys_.failure();
    }
    finish_accelerate_keys(keys_);
    return std::move(plan_);
  }

 private:
  static engine::Sentence usual() { return say("import.default_of", std::string_view("Accelerate")); }

  // LLaMA-Factory's stage and axolotl's rl: with a reference or reward model beside the one that is trained.
  void other_work() {
    const auto stage = keys_.word("stage"), learnt = keys_.word("rl");
    if (stage && stage->value != "pt" && stage->value != "sft")
      plan_.fail(say("import.accelerate.other_work", stage->origin.key + " " + stage->value), stage->origin.line);
    else if (stage)
      plan_.no_effect(stage->origin, say("import.ignored.no_effect"));
    if (learnt && !learnt->value.empty())
      plan_.fail(say("import.accelerate.other_work", learnt->origin.key + " " + learnt->value), learnt->origin.line);
  }

  void processes() {
    if (!launcher_) return;
    const auto all = keys_.whole("num_processes", 1, 1 << 20);
    const auto machines = keys_.whole("num_machines", 1, 1 << 17);
    if (keys_.failed() || !all) return;
    plan_.chips = all;
    const int nodes = machines ? machines->value : 1;
    if (all->value % nodes != 0)
      return keys_.contradiction(all->origin, std::to_string(all->value), machines->origin, std::to_string(nodes));
    node_ = all->value / nodes;
    if (machines) plan_.chips_per_node = {node_, machines->origin};
  }

  void kind() {
    const auto type = keys_.word("distributed_type");
    const std::string name = type ? in_capitals(type->value) : std::string();
    if (type) plan_.read.push_back({type->origin.key, type->origin.line, "parallelism.zero_stage", type->value});
    const auto asks = [&](std::string_view flag) { return keys_.is_word(flag, "true"); };
    // axolotl's FSDP2 has its settings alone.
    if (name == "FSDP" || asks("use_fsdp") || keys_.has("fsdp") ||
        (name.empty() && (keys_.has("fsdp_version") || keys_.like("fsdp_config.*"))))
      return fsdp();
    if (name == "DEEPSPEED" || asks("use_deepspeed") || keys_.has("zero_stage")) return deepspeed();
    if (name == "MEGATRON_LM" || asks("use_megatron_lm")) return megatron();
    if (name == "NO" || name == "FALSE" || name == "MULTI_GPU" || name == "MULTI_NPU" || name == "MULTI_CPU" ||
        name == "TP" || name == "XLA" || name == "TPU") {
      axes();
      plan_.rest = RestAxis::data;
      return plan_.assume("parallelism.zero_stage", 0, say("import.accelerate.replicated"));
    }
    if (type) return keys_.not_possible(type->origin, type->value, "NO MULTI_GPU FSDP DEEPSPEED MEGATRON_LM TP");
    axes();
    if (const auto file = keys_.word("deepspeed"))
      plan_.warn(say("import.accelerate.other_file", in_quotes(file->value)), file->origin.line);
  }

  // parallelism_config, or axolotl's sizes: a mesh beside the strategy.
  void axes() {
    const int tensor = keys_.degree(
        "parallelism_config.parallelism_config_tp_size|parallelism_config_tp_size|tp_config.tp_size|"
        "tensor_parallel_size",
        "parallelism.tensor", 1024, usual());
    // axolotl's is a ring (ring-flash-attn); Accelerate's is torch's, which gathers unless it is told otherwise.
    constexpr std::string_view kRing = "context_parallel_size|sequence_parallel_degree";
    const bool ring =
        keys_.has(kRing) || keys_.is_word("parallelism_config.parallelism_config_cp_comm_strategy", "alltoall");
    const int context = keys_.degree(
        "parallelism_config.parallelism_config_cp_size|parallelism_config_cp_size|"
        "parallelism_config.parallelism_config_sp_size|context_parallel_size|sequence_parallel_degree",
        "parallelism.context", 4096, usual());
    if (const auto ranks = keys_.whole(
            "parallelism_config.parallelism_config_dp_replicate_size|parallelism_config_dp_replicate_size|"
            "dp_replicate_size",
            1, kMostRanks))
      plan_.data = ranks;
    if (const auto ranks = keys_.whole(
            "parallelism_config.parallelism_config_dp_shard_size|parallelism_config_dp_shard_size|dp_shard_size", 1,
            kMostRanks))
      plan_.fsdp = ranks;
    if (context > 1) plan_.assume_choice("parallelism.context_method", ring ? "ring" : "all_gather", usual());
    plan_.assume("parallelism.sequence_parallel", 0, tensor > 1 ? usual() : say("import.tensor_is_one"));
    plan_.assume("parallelism.pipeline", 1, say("import.no_pipeline"));
    plan_.assume("pipeline.virtual_stages", 1, say("import.no_pipeline"));
  }

  void fsdp() {
    axes();
    plan_.rest = RestAxis::fsdp;
    const auto stated =
        keys_.word("fsdp_config.fsdp_sharding_strategy|fsdp_config.sharding_strategy|fsdp_sharding_strategy");
    const auto reshard = keys_.word(
        "fsdp_config.fsdp_reshard_after_forward|fsdp_config.reshard_after_forward|"
        "fsdp_reshard_after_forward");
    const auto arguments = keys_.is_list("fsdp") ? Maybe<std::string>() : keys_.word("fsdp");
    if (keys_.failed()) return;
    const bool shards = !reshard || (reshard->value != "false" && reshard->value != "False");
    if (stated || (reshard && strategy(reshard->value) != nullptr) || arguments) {
      const Stated<std::string>& from = stated                                           ? *stated
                                        : reshard && strategy(reshard->value) != nullptr ? *reshard
                                                                                         : *arguments;
      std::string word = in_capitals(from.value.substr(0, from.value.find(' ')));
      const FsdpStrategy* known = strategy(word);
      if (known == nullptr)
        return keys_.not_possible(from.origin, from.value,
                                  "FULL_SHARD SHARD_GRAD_OP NO_SHARD HYBRID_SHARD HYBRID_SHARD_ZERO2");
      plan_.state("parallelism.zero_stage", known->stage, from.origin, from.value);
      if (known->stage == 0) plan_.rest = RestAxis::data;
      if (known->in_nodes) in_nodes(from.origin);
      if (stated && reshard && shards != (known->stage == 3) && strategy(reshard->value) == nullptr)
        return keys_.contradiction(stated->origin, stated->value, reshard->origin, reshard->value);
    } else if (reshard) {
      plan_.state("parallelism.zero_stage", shards ? 3 : 2, reshard->origin, reshard->value);
    } else {
      plan_.assume("parallelism.zero_stage", 3, usual());
    }
    if (const auto away =
            keys_.flag("fsdp_config.fsdp_offload_params|fsdp_config.offload_params|fsdp_offload_params")) {
      plan_.state("offload.optimizer", away->value ? 1 : 0, away->origin, away->value ? "true" : "false");
      if (away->value) plan_.warn(say("import.offloads_weights"), away->origin.line);
    }
    checkpoints(
        "fsdp_config.fsdp_activation_checkpointing|fsdp_config.activation_checkpointing|fsdp_activation_"
        "checkpointing|"
        "gradient_checkpointing");
  }
  static const FsdpStrategy* strategy(std::string_view word) {
    const std::string name = in_capitals(word);
    for (const FsdpStrategy& row : kFsdpStrategies)
      if (row.name == name || row.number == name) return &row;
    return nullptr;
  }
  void in_nodes(const Origin& origin) {
    if (plan_.fsdp) return;
    if (node_ > 0)
      plan_.fsdp = {node_, origin};
    else
      plan_.missing.push_back({"parallelism.fsdp", "--set parallelism.fsdp=..."});
  }

  void checkpoints(std::string_view names) {
    const auto on = keys_.flag(names);
    if (!on) return;
    plan_.state_choice("checkpointing.policy", on->value ? "block" : "none", on->origin,
                       on->value ? "true" : "false");
    checkpointed_ = true;
  }

  void deepspeed() {
    axes();
    if (const auto file = keys_.word("deepspeed_config.deepspeed_config_file")) {
      plan_.missing.push_back({"parallelism.zero_stage", "--set parallelism.zero_stage=..."});
      plan_.warn(say("import.accelerate.other_file", in_quotes(file->value)), file->origin.line);
    }
    const auto stage = keys_.whole("deepspeed_config.zero_stage|zero_stage", 0, 3);
    const auto optimizer = keys_.word("deepspeed_config.offload_optimizer_device|offload_optimizer_device");
    const auto weights = keys_.word("deepspeed_config.offload_param_device|offload_param_device");
    if (keys_.failed()) return;
    if (stage) plan_.state("parallelism.zero_stage", stage->value, stage->origin);
    plan_.rest = stage && stage->value == 0 ? RestAxis::data : RestAxis::fsdp;
    if (optimizer)
      plan_.state("offload.optimizer", optimizer->value == "none" ? 0 : 1, optimizer->origin, optimizer->value);
    if (weights && weights->value != "none") plan_.warn(say("import.offloads_weights"), weights->origin.line);
  }

  void megatron() {
    keys_.degree("megatron_lm_config.megatron_lm_tp_degree|megatron_lm_tp_degree", "parallelism.tensor", 1024,
                 usual());
    keys_.degree("megatron_lm_config.megatron_lm_pp_degree|megatron_lm_pp_degree", "parallelism.pipeline", 1024,
                 usual());
    plan_.assume("parallelism.context", 1, usual());
    plan_.assume("pipeline.virtual_stages", 1, usual());
    const auto flagged = [&](std::string_view name, std::string_view field, bool usual_value) {
      const auto stated = keys_.flag(name);
      if (stated)
        plan_.state(field, stated->value ? 1 : 0, stated->origin, stated->value ? "true" : "false");
      else
        plan_.assume(field, usual_value ? 1 : 0, usual());
      return stated ? stated->value : usual_value;
    };
    flagged("megatron_lm_config.megatron_lm_sequence_parallelism|megatron_lm_sequence_parallelism",
            "parallelism.sequence_parallel", false);
    const bool sharded =
        flagged("megatron_lm_config.megatron_lm_use_distributed_optimizer|megatron_lm_use_distributed_optimizer",
                "parallelism.zero_stage", false);
    plan_.rest = sharded ? RestAxis::fsdp : RestAxis::data;
    if (const auto again =
            keys_.flag("megatron_lm_config.megatron_lm_recompute_activations|megatron_lm_recompute_activations")) {
      plan_.state_choice("checkpointing.policy", again->value ? "attention" : "none", again->origin,
                         again->value ? "true" : "false");
      checkpointed_ = true;
    }
    plan_.accumulation =
        keys_.whole("megatron_lm_config.megatron_lm_num_micro_batches|megatron_lm_num_micro_batches", 1, 1 << 20);
  }

  void batch() {
    const auto micro = keys_.whole(
        "per_device_train_batch_size|deepspeed_config.train_micro_batch_size_per_gpu|micro_batch_size", 1, 1 << 16);
    const bool automatic =
        keys_.is_word("gradient_accumulation_steps|deepspeed_config.gradient_accumulation_steps", "auto");
    const auto rounds =
        automatic
            ? Maybe<int>()
            : keys_.whole("gradient_accumulation_steps|deepspeed_config.gradient_accumulation_steps", 1, 1 << 20);
    const auto length = keys_.whole("cutoff_len|max_seq_length|max_length|sequence_len|model_max_length", 1, 1 << 24);
    if (keys_.failed()) return;
    if (length) plan_.state("workload.sequence_length", length->value, length->origin);
    if (micro)
      plan_.state("pipeline.microbatch_sequences", micro->value, micro->origin);
    else
      plan_.missing.push_back({"pipeline.microbatch_sequences", "--set pipeline.microbatch_sequences=..."});
    if (rounds && !plan_.accumulation) plan_.accumulation = rounds;
    if (!plan_.accumulation && micro && !automatic) plan_.accumulation = {1, {"gradient_accumulation_steps", 0}};
    if (!micro || automatic)
      plan_.missing.push_back({"workload.global_batch_sequences", "--set workload.global_batch_sequences=..."});
    plan_.steps(keys_.number("max_steps", -1, kMostTrainSteps));
    if (const auto model = keys_.word("model_name_or_path|base_model")) take_hub_model(plan_, *model);
    if (!checkpointed_) checkpoints("gradient_checkpointing");
    // LLaMA-Factory checkpoints unless it is told not to.
    if (const auto off = keys_.flag("disable_gradient_checkpointing"); off && !checkpointed_) {
      plan_.state_choice("checkpointing.policy", off->value ? "none" : "block", off->origin,
                         off->value ? "true" : "false");
      checkpointed_ = true;
    }
    loss();
    attention();
  }

  // By Transformers' name of the implementation, LLaMA-Factory's word, or axolotl's flags.
  void attention() {
    for (const auto& [key, fused] : kAttentionFlags)
      if (const auto on = keys_.flag(key); on && on->value)
        plan_.state_choice("kernels.attention", fused ? "fused" : "unfused", on->origin, "true");
    const auto word = keys_.word("attn_implementation|flash_attn");
    if (!word || word->value == "auto") return;
    const bool scores = word->value == "eager" || word->value == "disabled";
    plan_.state_choice("kernels.attention", scores ? "unfused" : "fused", word->origin, word->value);
  }

  void loss() {
    // These write 16-bit logits and a gradient in their place, and no 32-bit copy of either...
    for (const char* key : {"liger_cross_entropy", "chunked_cross_entropy"})
      if (const auto fused = keys_.flag(key); fused && fused->value)
        plan_.state_choice("kernels.loss", "fused", fused->origin, "true");
    // ...and these compute the loss with the product before it.
    for (const char* key :
         {"use_liger_kernel|enable_liger_kernel|liger_fused_linear_cross_entropy", "cut_cross_entropy"})
      if (const auto chunked = keys_.flag(key); chunked && chunked->value)
        plan_.state_choice("kernels.loss", "chunked", chunked->origin, "true");
  }

  void precision() {
    const auto mixed = keys_.word("mixed_precision");
    const auto truth = [&](std::string_view key) {
      if (keys_.is_word(key, "auto")) return Maybe<bool>();
      return keys_.flag(key);
    };
    // axolotl: bf16 where the chip has it, and all chips of today have; in fp16, where that is asked for.
    const bool by_chip = !launcher_ && keys_.has("base_model") && keys_.is_word("bf16", "auto");
    const auto automatic = by_chip ? keys_.word("bf16") : Maybe<std::string>();
    const auto brain = by_chip ? Maybe<bool>() : truth("bf16"), half = truth("fp16");
    if (keys_.failed()) return;
    if (brain && half && brain->value && half->value)
      return keys_.contradiction(brain->origin, "true", half->origin, "true");
    if (mixed && mixed->value != "no" && mixed->value != "false") {
      if (mixed->value != "bf16" && mixed->value != "fp16" && mixed->value != "fp8")
        return keys_.not_possible(mixed->origin, mixed->value, "no fp16 bf16 fp8");
      return state_mixed_precision(plan_, mixed->value, mixed->origin, mixed->value);
    }
    if (brain && brain->value) return state_mixed_precision(plan_, "bf16", brain->origin, "true");
    if (half && half->value) return state_mixed_precision(plan_, "fp16", half->origin, "true");
    if (automatic) return state_mixed_precision(plan_, "bf16", automatic->origin, automatic->value);
    if (mixed) plan_.read.push_back({mixed->origin.key, mixed->origin.line, "precision.compute", mixed->value});
    plan_.missing.push_back({"precision.compute", "--set precision.compute=..."});
    plan_.warn(say("import.accelerate.precision"), mixed ? mixed->origin.line : 0);
  }

  void optimizer() {
    if (const auto named = keys_.word("optimizer|optim"); named && !named->value.empty())
      state_optimizer(plan_, named->value, named->origin);
  }

  // LLaMA-Factory says finetuning_type, lora_rank and lora_target; axolotl adapter, lora_r and lora_target_modules or
  // lora_target_linear; both as PEFT names the modules of a Llama.
  void adapters() {
    const auto kind = keys_.word("finetuning_type|adapter");
    if (!kind || kind->value == "full" || kind->value.empty()) return;
    if (kind->value != "lora" && kind->value != "qlora")
      return plan_.fail(say("import.accelerate.adapter", in_quotes(kind->value)), kind->origin.line);
    if (const auto rank = keys_.whole("lora_rank|lora_r", 1, 1024))
      plan_.state("adapter.rank", rank->value, rank->origin);
    else
      plan_.assume("adapter.rank", 8, usual());
    if (keys_.failed()) return;
    targets();
    if (keys_.failed()) return;
    const auto bits = keys_.whole("quantization_bit", 2, 8);
    const auto four = keys_.flag("load_in_4bit"), eight = keys_.flag("load_in_8bit");
    const bool quarter = kind->value == "qlora" || (four && four->value) || (bits && bits->value == 4);
    if (!quarter && !(eight && eight->value) && !(bits && bits->value == 8)) return;
    const Origin& origin = bits ? bits->origin : four ? four->origin : eight ? eight->origin : kind->origin;
    // In place of the format that the mixed precision is usually said with.
    plan_.restate_choice("precision.weights", quarter ? "int4" : "int8", origin, quarter ? "nf4" : "int8");
    if (quarter) plan_.warn(say("import.nearest", std::string("nf4"), std::string("int4")), origin.line);
  }
  void targets() {
    const auto path = "adapter.targets";
    if (const auto linear = keys_.flag("lora_target_linear"); linear && linear->value)
      return plan_.state_choice(path, "linear", linear->origin, "true");
    const auto named = module_names(keys_, "lora_target|lora_target_modules");
    if (keys_.failed()) return;
    if (!named) return plan_.assume_choice(path, "linear", usual());
    state_adapter_modules(plan_, named->value, named->origin);
  }

  LaunchPlan plan_;
  KeyReader keys_;
  int node_ = 0;
  bool launcher_ = false, checkpointed_ = false;
};

bool is_accelerate(const LaunchSource& source) {
  const Node& root = source.document;
  return root.find("distributed_type") != nullptr || root.find("fsdp_config") != nullptr ||
         root.find("per_device_train_batch_size") != nullptr ||
         (root.find("base_model") != nullptr && root.find("micro_batch_size") != nullptr);
}

Result<LaunchPlan> read_accelerate(const LaunchSource& source, const PresetLibrary&) {
  AccelerateReader reader(source.file);
  reader.keys().add(source.document);
  if (source.document.find("distributed_type") != nullptr) reader.set_launcher();
  return reader.read();
}

// `accelerate launch`, or a program with training arguments behind any launcher.
bool is_arguments_command(const ShellCommand& command) {
  const std::vector<ShellWord>& words = command.words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i].text;
    if (word.starts_with("--per_device_train_batch_size") || word.starts_with("--per-device-train-batch-size"))
      return true;
    if (word.ends_with("accelerate") && i + 1 < words.size() && words[i + 1].text == "launch") return true;
  }
  return false;
}

bool is_arguments_line(const LaunchSource& source) {
  const std::vector<ShellCommand> commands = commands_of(source.script);
  return std::any_of(commands.begin(), commands.end(), is_arguments_command);
}

Result<LaunchPlan> read_arguments_line(const LaunchSource& source, const PresetLibrary&) {
  AccelerateReader reader(source.file);
  const std::vector<ShellCommand> commands = commands_of(source.script);
  const auto run = std::find_if(commands.begin(), commands.end(), is_arguments_command);
  const LaunchLine line = launch_line(*run);
  take_settings(line.arguments, reader.keys());
  const bool accelerated = std::any_of(line.launcher.begin(), line.launcher.end(),
                                       [](const ShellWord& word) { return word.text.ends_with("accelerate"); });
  if (accelerated) {
    take_settings(line.launcher, reader.keys());
    reader.set_launcher();
    if (const auto file = reader.keys().word("config_file"))
      if (auto failure = take_written_settings(source, *file, SettingNames::paths, UnwrittenSettings::importable,
                                               reader.keys(), reader.plan()))
        return *std::move(failure);
  } else if (auto failure = read_launcher(source.script, line, source.file, reader.plan())) {
    return *std::move(failure);
  }
  tell_gaps(source.script, reader.plan());
  return reader.read();
}

}  // namespace

const LaunchFormat accelerate_line_format{"accelerate", "Hugging Face Accelerate", LaunchSyntax::shell,
                                          is_arguments_line, read_arguments_line};
const LaunchFormat accelerate_yaml_format{"accelerate", "Hugging Face Accelerate", LaunchSyntax::yaml, is_accelerate,
                                          read_accelerate};

}  // namespace roofscape::io
