// torchtitan: TOML, or its printed configuration as JSON. Three layouts of the same settings are read: degrees under
// [training] (2024), pipeline and context degrees under [experimental] (to early 2025), all under [parallelism].
//
// Its rules: data_parallel_shard_degree -1 takes the chips that the others leave. Weights are gathered and dropped layer
// by layer (ZeRO-3) without a pipeline; with one they stay whole through the step. Tensor parallelism shards the sequence
// too. A rank's local batch is one microbatch without a pipeline, several of pipeline_parallel_microbatch_size with one.
// The embedding and the head each count as a layer of their stage.
#include <algorithm>
#include <cmath>

#include "engine/io/import/command_keys.h"
#include "engine/io/import/framework_models.h"
#include "engine/io/import/key_reader.h"
#include "engine/io/import/launch_formats.h"
#include "engine/io/import/launcher.h"
#include "engine/io/import/torchtitan_keys.h"
#include "engine/io/import/torchtitan_pipeline.h"
#include "engine/io/import/written_settings.h"
#include "engine/scenario/scenario.h"

namespace roofscape::io {

using engine::say;

namespace {

// The debug model of llama3, which is a table in torchtitan's code.
engine::TransformerShape debug_model() {
  engine::TransformerShape shape;
  shape.name = "torchtitan llama3 debugmodel";
  shape.n_layers = 6;
  shape.d_model = 256;
  shape.d_ff = 768;
  shape.n_heads = shape.n_kv_heads = 16;
  shape.d_head = 16;
  shape.vocab_size = 2048;
  return shape;
}

class TitanReader {
 public:
  TitanReader(std::string_view file, const PresetLibrary& library) : library_(library), keys_(file, plan_) {}
  KeyReader& keys() { return keys_; }
  LaunchPlan& plan() { return plan_; }
  void is_old() { old_layout_ = true; }

  Result<LaunchPlan> read() {
    for (auto step :
         {&TitanReader::model, &TitanReader::degrees, &TitanReader::pipeline, &TitanReader::sharding,
          &TitanReader::experts, &TitanReader::checkpointing, &TitanReader::precision, &TitanReader::rest}) {
      (this->*step)();
      if (keys_.failed()) return *keys_.failure();
    }
    return std::move(plan_);
  }

 private:
  static engine::Sentence usual() { return say("import.default_of", std::string_view("torchtitan")); }

  void model() {
    const auto name = keys_.word("model.name|model_spec.name");
    const auto flavor = keys_.word("model.flavor|model_spec.flavor");
    if (!name && !flavor) return;
    if (!name || !flavor) {
      const Origin& origin = name ? name->origin : flavor->origin;
      plan_.warn(say("import.torchtitan.half_named", origin.key), origin.line);
      return;
    }
    std::string_view size = flavor->value;
    for (const std::string_view kernel : {"_flex_attn", "_varlen_attn", "_flex", "_varlen"})
      if (size.ends_with(kernel)) size.remove_suffix(kernel.size());
    if (const std::string_view preset = torchtitan_model(name->value, size); !preset.empty()) {
      plan_.model = {std::string(preset), flavor->origin};
      plan_.model_written = flavor->value;
      if (const engine::TransformerShape* shape = library_.find_model(preset)) layers_ = shape->n_layers;
      plan_.read.push_back({name->origin.key, name->origin.line, "model", name->value});
      return;
    }
    if (name->value == "llama3" && size == "debugmodel" && !old_layout_) {
      plan_.shape = {debug_model(), flavor->origin};
      layers_ = plan_.shape->value.n_layers;
      plan_.warn(say("import.torchtitan.debug_model", flavor->value), flavor->origin.line);
      return;
    }
    plan_.warn(say("import.torchtitan.model_unknown", in_quotes(name->value), in_quotes(flavor->value)),
               flavor->origin.line);
  }

  void degrees() {
    tensor_ = keys_.degree(
        "parallelism.tensor_parallel_degree|training.tensor_parallel_degree|training.sequence_parallel_degree",
        "parallelism.tensor", 1024, usual());
    context_ = keys_.degree(
        "parallelism.context_parallel_degree|experimental.context_parallel_degree|"
        "training.context_parallel_degree",
        "parallelism.context", 4096, usual());
    pipeline_ = keys_.degree(
        "parallelism.pipeline_parallel_degree|experimental.pipeline_parallel_degree|"
        "training.pipeline_parallel_degree",
        "parallelism.pipeline", 1024, usual());
    if (keys_.failed()) return;
    const auto sequence = keys_.flag("parallelism.enable_sequence_parallel");
    if (sequence && tensor_ > 1)
      plan_.state("parallelism.sequence_parallel", sequence->value ? 1 : 0, sequence->origin,
                  sequence->value ? "true" : "false");
    else
      plan_.assume("parallelism.sequence_parallel", tensor_ > 1 ? 1 : 0,
                   tensor_ > 1 ? say("import.torchtitan.sequence") : say("import.tensor_is_one"));
    const auto rotate =
        keys_.word("parallelism.context_parallel_rotate_method|experimental.context_parallel_rotate_method");
    if (rotate && rotate->value != "allgather" && rotate->value != "alltoall")
      return keys_.not_possible(rotate->origin, rotate->value, "allgather alltoall");
    if (context_ > 1) {
      if (rotate)
        plan_.state_choice("parallelism.context_method", rotate->value == "alltoall" ? "ring" : "all_gather",
                           rotate->origin, rotate->value);
      else
        plan_.assume_choice("parallelism.context_method", "all_gather", usual());
    }
    data_ranks();
  }

  void data_ranks() {
    const auto replicate = keys_.whole(
        "parallelism.data_parallel_replicate_degree|training.data_parallel_replicate_degree", 1, kMostRanks);
    const auto shard = keys_.whole(
        "parallelism.data_parallel_shard_degree|training.data_parallel_shard_degree|training.data_parallel_degree",
        -1, kMostRanks);
    const auto type = keys_.word("training.data_parallel_type|parallelism.data_parallel_type");
    if (keys_.failed()) return;
    if (shard && shard->value == 0)
      return keys_.fail(shard->origin, say("error.out_of_range", in_quotes("0")),
                        say("import.torchtitan.shard.remedy"));
    replicates_ = type && type->value == "ddp";
    if (type && type->value != "ddp" && type->value != "fsdp")
      return keys_.not_possible(type->origin, type->value, "fsdp ddp");
    if (type) plan_.read.push_back({type->origin.key, type->origin.line, "parallelism.zero_stage", type->value});
    if (replicate)
      plan_.data = replicate;
    else if (!replicates_)
      plan_.assume("parallelism.data", 1, usual());
    plan_.rest = replicates_ ? RestAxis::data : RestAxis::fsdp;
    if (shard && shard->value > 0) (replicates_ ? plan_.data : plan_.fsdp) = shard;
    if (replicates_) plan_.assume("parallelism.fsdp", 1, say("import.torchtitan.replicated"));
    if (shard && shard->value < 0)
      plan_.read.push_back(
          {shard->origin.key, shard->origin.line, replicates_ ? "parallelism.data" : "parallelism.fsdp", "-1"});
  }

  void pipeline() { read_titan_pipeline(keys_, plan_, {old_layout_, pipeline_, layers_}); }

  void sharding() {
    const auto reshard = keys_.word("parallelism.fsdp_reshard_after_forward");
    if (keys_.failed()) return;
    const std::string word = reshard ? reshard->value : "default";
    if (word != "default" && word != "always" && word != "never")
      return keys_.not_possible(reshard->origin, word, "default always never");
    const bool replicated =
        replicates_ || (plan_.data && plan_.data->value > 1 && plan_.fsdp && plan_.fsdp->value == 1 && context_ == 1);
    keeps_gathered_ = !replicated && (word == "never" || (word == "default" && pipeline_ > 1));
    const int stage = replicated ? 0 : keeps_gathered_ ? 2 : 3;
    if (reshard && word != "default" && !replicated)
      plan_.state("parallelism.zero_stage", stage, reshard->origin, word);
    else
      plan_.assume("parallelism.zero_stage", stage,
                   stage == 0   ? say("import.torchtitan.replicated")
                   : stage == 2 ? say("import.torchtitan.kept")
                                : say("import.torchtitan.resharded"));
    if (reshard && (word == "default" || replicated)) plan_.no_effect(reshard->origin, usual());
    if (stage == 2)
      plan_.warn(say("import.torchtitan.zero_2"), reshard && word != "default" ? reshard->origin.line : 0);
    if (const auto offload = keys_.flag("training.enable_cpu_offload")) {
      plan_.state("offload.optimizer", offload->value ? 1 : 0, offload->origin, offload->value ? "true" : "false");
      if (offload->value) plan_.warn(say("import.offloads_weights"), offload->origin.line);
    }
  }

  void experts() {
    const auto expert =
        keys_.whole("parallelism.expert_parallel_degree|experimental.expert_parallel_degree", 1, 4096);
    const auto inside = keys_.whole("parallelism.expert_tensor_parallel_degree", 1, 1024);
    if (keys_.failed()) return;
    if (expert)
      plan_.state("parallelism.expert", expert->value, expert->origin);
    else
      plan_.assume("parallelism.expert", 1, usual());
    if (!expert || expert->value == 1) {
      if (inside) plan_.no_effect(inside->origin, say("import.torchtitan.no_experts"));
      return;
    }
    const int split = inside ? inside->value : 1;
    if (split != 1 && split != tensor_)
      return keys_.fail(inside->origin, say("import.torchtitan.expert_tensor", split, tensor_),
                        say("import.torchtitan.expert_tensor.remedy", tensor_));
    if (inside)
      plan_.state("parallelism.expert_tensor", split, inside->origin);
    else
      plan_.assume("parallelism.expert_tensor", 1, usual());
  }

  void checkpointing() {
    const auto mode = keys_.word("activation_checkpoint.mode");
    const auto option = keys_.word("activation_checkpoint.selective_ac_option");
    if (const auto first = keys_.flag("training.enable_selective_ac"); first && !mode) {  // before there were modes
      plan_.missing.push_back({"checkpointing.policy", "--set checkpointing.policy=..."});
      return plan_.warn(say("import.torchtitan.first_checkpoints"), first->origin.line);
    }
    if (keys_.failed()) return;
    const std::string word = mode ? mode->value : "selective";
    const std::string written = word == "selective" && option ? word + " " + option->value : word;
    const auto take = [&](std::string_view policy) {
      if (mode)
        plan_.state_choice("checkpointing.policy", policy, mode->origin, written);
      else
        plan_.assume_choice("checkpointing.policy", policy, usual());
    };
    if (option && word != "selective") plan_.no_effect(option->origin, say("import.torchtitan.not_selective", word));
    if (word == "none") return take("none");
    if (word == "full") return take("block");
    if (word == "memory_budget") {
      plan_.missing.push_back({"checkpointing.policy", "--set checkpointing.policy=..."});
      return plan_.warn(say("import.torchtitan.memory_budget"), mode->origin.line);
    }
    if (word != "selective") return keys_.not_possible(mode->origin, word, "none selective full memory_budget");
    const std::string every = option ? option->value : "2";
    if (every == "op") {
      plan_.warn(say("import.torchtitan.selective_op"), option->origin.line);
      return take("big_matmuls");
    }
    const auto number = plain_number(every);
    if (!number || *number < 1 || *number > 10000 || *number != std::floor(*number))
      return keys_.fail(option->origin, say("error.not_possible", in_quotes(every)),
                        say("import.torchtitan.selective.remedy"));
    const int step = static_cast<int>(*number);
    if (step == 1) return take("block");
    take("some_blocks");
    if (layers_ == 0) {
      plan_.missing.push_back({"checkpointing.blocks", "--set checkpointing.blocks=..."});
      return;
    }
    plan_.assume("checkpointing.blocks", std::max(1, layers_ / step),
                 say("import.torchtitan.every_layer", step, layers_));
  }

  void precision() {
    const auto parameters = keys_.word("training.mixed_precision_param");
    const auto kept = keys_.word("training.dtype");
    if (keys_.failed()) return;
    const auto is_float = [&](const Maybe<std::string>& type) {
      if (!type || type->value == "bfloat16" || type->value == "float32" || keys_.failed()) return;
      keys_.not_possible(type->origin, type->value, "bfloat16 float32");
    };
    is_float(parameters);
    is_float(kept);
    if (keys_.failed()) return;
    const bool full = parameters && parameters->value == "float32";
    const bool pure = kept && kept->value == "bfloat16";
    const Maybe<std::string> low = low_precision();
    if (low)
      plan_.state_choice("precision.compute", "fp8", low->origin, low->value);
    else if (parameters)
      plan_.state_choice("precision.compute", full ? "fp32" : "bf16", parameters->origin, parameters->value);
    else
      plan_.assume_choice("precision.compute", "bf16", usual());
    const auto take = [&](std::string_view field, std::string_view type) {
      if (pure)
        plan_.state_choice(field, type, kept->origin, kept->value);
      else
        plan_.assume_choice(field, type, usual());
    };
    // It trains 32-bit weights, whose shards are gathered in the type of the arithmetic: what is kept gathered is a copy
    // of them in that type. Gradients are reduced in 32 bits (training.mixed_precision_reduce, which has no other
    // value) and stay so.
    const bool copied = keeps_gathered_ && !full;
    take("precision.weights", pure || copied ? "bf16" : "fp32");
    take("precision.optimizer", pure ? "adam_bf16" : "adam_fp32");
    take("precision.master_weights", copied && !pure ? "fp32" : "none");
    const auto early = keys_.flag("optimizer.early_step_in_backward");
    if (early && early->value)
      plan_.state_choice("precision.gradients", "none", early->origin, "true");
    else
      take("precision.gradients", pure ? "bf16" : "fp32");
    if (const auto name = keys_.word("optimizer.name"); name && name->value != "Adam" && name->value != "AdamW")
      plan_.warn(say("import.optimizer_unknown", in_quotes(name->value)), name->origin.line);
    else if (name)
      plan_.read.push_back({name->origin.key, name->origin.line, "precision.optimizer", name->value});
  }

  // What makes matrix multiplications run in 8 bits.
  Maybe<std::string> low_precision() {
    if (const auto old = keys_.flag("float8.enable_float8_linear"); old && old->value)
      return Stated<std::string>{"true", old->origin};
    if (const auto oldest = keys_.word("training.fp8_linear");
        oldest && !oldest->value.empty() && oldest->value != "false" && oldest->value != "0")
      return oldest;
    if (!keys_.has("model.converters") || keys_.is_word("model.converters", "")) return std::nullopt;
    const auto list = keys_.list("model.converters");
    if (list.list == nullptr) return std::nullopt;
    for (const Node& converter : list.list->items) {
      const std::string_view name = converter.text;
      const bool eight = name.find("float8") != std::string_view::npos || name.find("mx") != std::string_view::npos;
      if (eight && name.find("grouped_mm") == std::string_view::npos)
        return Stated<std::string>{converter.text, list.origin};
      plan_.warn(say("import.torchtitan.converter", in_quotes(name)), list.origin.line);
    }
    return std::nullopt;
  }

  void rest() {
    plan_.steps(keys_.number("training.steps", -1, kMostTrainSteps));
    plan_.assume_choice("assumptions.stack", "torch-fsdp", usual());
    if (const auto module =
            keys_.word("experimental.custom_args_module|experimental.custom_import|job.custom_config_module|"
                       "experimental.custom_model_path");
        module && !module->value.empty())
      plan_.warn(say("import.torchtitan.custom", in_quotes(module->value)), module->origin.line);
    finish_titan_keys(keys_);
  }

  const PresetLibrary& library_;
  LaunchPlan plan_;
  KeyReader keys_;
  bool old_layout_ = false, replicates_ = false, keeps_gathered_ = false;
  int tensor_ = 1, context_ = 1, pipeline_ = 1, layers_ = 0;
};

bool is_titan(const LaunchSource& source) {
  const Node& root = source.document;
  const auto section = [&](std::string_view name) {
    const Node* node = root.find(name);
    return node != nullptr && node->is_map() ? node : nullptr;
  };
  const Node *training = section("training"), *parallelism = section("parallelism"), *model = section("model");
  for (const std::string_view key :
       {"local_batch_size", "batch_size", "seq_len", "data_parallel_degree", "tensor_parallel_degree",
        "num_tokens_per_microbatch_per_dp_rank", "max_context_length"})
    if (training != nullptr && training->find(key) != nullptr) return true;
  for (const std::string_view key :
       {"tensor_parallel_degree", "data_parallel_shard_degree", "data_parallel_replicate_degree",
        "pipeline_parallel_degree", "context_parallel_degree", "expert_parallel_degree"})
    if (parallelism != nullptr && parallelism->find(key) != nullptr) return true;
  return model != nullptr && model->find("flavor") != nullptr;
}

Result<LaunchPlan> read_titan(const LaunchSource& source, const PresetLibrary& library) {
  TitanReader reader(source.file, library);
  reader.keys().add(source.document);
  if (source.document.find("parallelism") == nullptr) reader.is_old();
  return reader.read();
}

// A line that starts torchtitan with settings of its own over a file's.
bool is_titan_command(const ShellCommand& command) {
  bool named = false;
  for (const ShellWord& word : command.words) {
    if (word.text.starts_with("--parallelism.") || word.text.starts_with("--job.config_file") ||
        word.text.starts_with("--job.config-file"))
      return true;
    named = named || word.text == "torchtitan.train" || word.text.ends_with("torchtitan/train.py") ||
            word.text.ends_with("run_train.sh");
  }
  return named;
}

bool is_titan_line(const LaunchSource& source) {
  const std::vector<ShellCommand> commands = commands_of(source.script);
  return std::any_of(commands.begin(), commands.end(), is_titan_command);
}

Result<LaunchPlan> read_titan_line(const LaunchSource& source, const PresetLibrary& library) {
  TitanReader reader(source.file, library);
  const std::vector<ShellCommand> commands = commands_of(source.script);
  const auto run = std::find_if(commands.begin(), commands.end(), is_titan_command);
  const LaunchLine line = launch_line(*run);
  take_settings(line.arguments, reader.keys());
  // The rest of the settings are in that file.
  auto file = reader.keys().word("job.config_file|config");
  if (const auto set = source.script.variables.find("CONFIG_FILE"); !file && set != source.script.variables.end())
    file = {set->second.text, {"CONFIG_FILE", set->second.line}};
  if (file) {
    if (auto failure = take_written_settings(source, *file, SettingNames::paths, UnwrittenSettings::importable,
                                             reader.keys(), reader.plan()))
      return *std::move(failure);
  } else if (line.program.text.ends_with("run_train.sh")) {
    reader.plan().fail(say("import.settings_file", in_quotes(line.program.text)), run->line);
  }
  if (auto failure = read_launcher(source.script, line, source.file, reader.plan())) return *std::move(failure);
  tell_gaps(source.script, reader.plan());
  return reader.read();
}

}  // namespace

const LaunchFormat torchtitan_toml_format{"torchtitan", "torchtitan", LaunchSyntax::toml, is_titan, read_titan};
const LaunchFormat torchtitan_line_format{"torchtitan", "torchtitan", LaunchSyntax::shell, is_titan_line,
                                          read_titan_line};
const LaunchFormat torchtitan_json_format{"torchtitan", "torchtitan", LaunchSyntax::json, is_titan, read_titan};

}  // namespace roofscape::io
