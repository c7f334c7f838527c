// MaxText: YAML over its base.yml, and launch lines of key=value. Not a run's file but a model's is read as a model.
//
// Its mesh is a product of axes inside a slice (ici_) and across slices (dcn_); one of each kind may be -1 and takes what is
// left. fsdp, fsdp_transpose and expert all shard the batch and the weights, so they multiply into fsdp, with expert inside.
// tensor shards the residual stream by its features, tensor_sequence by the sequence. per_device_batch_size counts every
// device of the mesh and may be a fraction. A pipeline runs the forwards of all microbatches before the first backward, its
// layers going round the stages in repeats.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "engine/base/ascii.h"
#include "engine/io/import/command_keys.h"
#include "engine/io/import/key_reader.h"
#include "engine/io/import/launch_formats.h"
#include "engine/io/import/launcher.h"
#include "engine/io/import/maxtext_keys.h"
#include "engine/io/import/maxtext_mesh.h"
#include "engine/io/import/maxtext_model.h"
#include "engine/io/import/maxtext_remat.h"
#include "engine/io/import/mixed_precision.h"

namespace roofscape::io {

using engine::say;

namespace {

int jax_devices_of(const engine::Chip& chip) { return chip.id == "tpu-7x" ? 2 : 1; }

class MaxtextReader {
 public:
  MaxtextReader(std::string_view file, const PresetLibrary& library) : library_(library), keys_(file, plan_) {}
  KeyReader& keys() { return keys_; }
  LaunchPlan& plan() { return plan_; }

  Result<LaunchPlan> read(bool whole_plan) {
    plan_.devices_of = jax_devices_of;
    other_work();
    shape_ = read_maxtext_model(keys_, plan_, library_, whole_plan);
    if (whole_plan)
      for (auto step : {&MaxtextReader::mesh, &MaxtextReader::batch, &MaxtextReader::sharding,
                        &MaxtextReader::checkpointing, &MaxtextReader::precision})
        if (!keys_.failed()) (this->*step)();
    rest();
    if (keys_.failed()) return *keys_.failure();
    return std::move(plan_);
  }

 private:
  static engine::Sentence usual() { return say("import.default_of", std::string_view("MaxText")); }

  // What MaxText does besides pretraining: the plan is read, and is not what would run.
  void other_work() {
    for (const std::string_view pattern :
         {"student_overrides.*", "teacher_overrides.*", "rollout_*", "num_samplers_slices", "rl.*"})
      if (const auto origin = keys_.like(pattern))
        return plan_.fail(say("import.maxtext.other_work", origin->key), origin->line);
    for (const std::string_view key : {"use_dpo", "lora.enable_lora", "use_grpo"})
      if (keys_.is_word(key, "true")) return plan_.fail(say("import.maxtext.other_work", key), keys_.like(key)->line);
    const auto base = keys_.word("base_config");
    if (keys_.is_word("model_call_mode", "inference") ||
        (base &&
         (base->value.find("inference") != std::string::npos || base->value.find("decode") != std::string::npos)))
      plan_.fail(say("import.maxtext.inference"), base ? base->origin.line : 0);
  }

  void mesh() { mesh_ = read_maxtext_mesh(keys_, plan_); }

  void batch() {
    if (const auto length = keys_.whole("max_target_length", 1, 1 << 24))
      plan_.state("workload.sequence_length", length->value, length->origin);
    else if (!keys_.failed())
      plan_.assume("workload.sequence_length", 2048, usual());
    const auto stated = keys_.number("per_device_batch_size", 1e-9, 1 << 20);
    const auto rounds = keys_.whole("gradient_accumulation_steps", 1, 1 << 20);
    if (keys_.failed()) return;
    const Stated<double> each = stated ? *stated : Stated<double>{12, {"per_device_batch_size", 0}};
    const double rank = each.value * static_cast<double>(mesh_.inner);
    if (rank < 1 || rank > (1 << 24) || rank != std::floor(rank))
      return keys_.fail(each.origin,
                        say("import.maxtext.fraction", fmt::format("{:g}", each.value), std::to_string(mesh_.inner),
                            fmt::format("{:g}", rank)),
                        say("import.maxtext.fraction.remedy"));
    const int sequences = static_cast<int>(rank);
    plan_.batch_of_rank = {sequences, each.origin};
    plan_.accumulation = {rounds ? rounds->value : 1,
                          rounds ? rounds->origin : Origin{"gradient_accumulation_steps", 0}};
    const int parts = mesh_.pipeline > 1 ? stages(sequences) : 1;
    if (keys_.failed()) return;
    if (stated)
      plan_.state("pipeline.microbatch_sequences", sequences / parts, each.origin, fmt::format("{:g}", each.value));
    else
      plan_.assume("pipeline.microbatch_sequences", sequences / parts, usual());
    if (mesh_.pipeline == 1) plan_.assume("pipeline.virtual_stages", 1, say("import.no_pipeline"));
    run_length();
  }

  // Steps below one are those of the learning rate's schedule.
  void run_length() {
    const auto steps = keys_.number("steps", -1, kMostTrainSteps);
    const auto schedule = keys_.number("learning_rate_schedule_steps", -1, kMostTrainSteps);
    plan_.steps(schedule && (!steps || steps->value < 1) ? schedule : steps);
  }

  // Stages, repeats and microbatches of a pipeline; how many of these a rank's batch is cut into.
  int stages(int sequences) {
    const auto layers = keys_.whole("num_layers_per_pipeline_stage", 1, 10000);
    const auto repeats = keys_.whole("num_pipeline_repeats", -1, 10000);
    const auto count = keys_.whole("num_pipeline_microbatches", -1, 1 << 20);
    const auto delayed = keys_.flag("pipeline_delay_activation_forwarding");
    const auto piped = keys_.whole("pipeline_parallel_layers", -1, 10000);
    if (keys_.failed()) return 1;
    if (piped && piped->value > 0) plan_.warn(say("import.maxtext.piped_layers", piped->value), piped->origin.line);
    const int parts = count && count->value > 0 ? count->value : mesh_.pipeline * (delayed && delayed->value ? 2 : 1);
    const Origin from = count ? count->origin : Origin{"num_pipeline_microbatches", 0};
    if (sequences % parts != 0) {
      keys_.contradiction({"per_device_batch_size", 0}, std::to_string(sequences), from, std::to_string(parts));
      return 1;
    }
    int chunks = repeats && repeats->value > 0 ? repeats->value : 0;
    if (chunks > 0) {
      plan_.state("pipeline.virtual_stages", chunks, repeats->origin);
    } else if (shape_.n_layers > 0) {
      const int each = layers ? layers->value : 1;
      chunks = shape_.n_layers / (mesh_.pipeline * each);
      if (chunks * mesh_.pipeline * each != shape_.n_layers) {
        keys_.fail(layers ? layers->origin : Origin{"num_layers_per_pipeline_stage", 0},
                   say("import.maxtext.repeats", shape_.n_layers, mesh_.pipeline, each),
                   say("import.maxtext.repeats.remedy"));
        return 1;
      }
      if (layers)
        plan_.state("pipeline.virtual_stages", chunks, layers->origin);
      else
        plan_.assume("pipeline.virtual_stages", chunks, usual());
    } else {
      plan_.missing.push_back({"pipeline.virtual_stages", "--set pipeline.virtual_stages=..."});
    }
    plan_.assume_choice("pipeline.schedule", chunks > 1 ? "looped-bfs" : "gpipe", say("import.maxtext.schedule"));
    if (delayed && delayed->value) plan_.warn(say("import.maxtext.delayed"), delayed->origin.line);
    const auto once = keys_.flag("pipeline_fsdp_ag_once"), repeated = keys_.flag("pipeline_fsdp_ag_per_repeat");
    if (once && once->value)
      plan_.state_choice("parallelism.keep_gathered", "step", once->origin, "true");
    else if (repeated && repeated->value)
      plan_.state_choice("parallelism.keep_gathered", "chunk", repeated->origin, "true");
    return parts;
  }

  void sharding() {
    const auto over_data = keys_.flag("shard_optimizer_over_data");
    if (keys_.failed()) return;
    if (over_data && over_data->value && plan_.data && fsdp_is_one()) {
      // Optimizer state alone is sharded, over the data ranks: these are the group of stage 1.
      plan_.fsdp = plan_.data;
      plan_.data = Stated<int>{1, over_data->origin};
      plan_.rest = RestAxis::fsdp;
      std::erase_if(plan_.defaults, [](const DefaultField& field) {
        return field.path == "parallelism.data" || field.path == "parallelism.fsdp";
      });
      plan_.state("parallelism.zero_stage", 1, over_data->origin, "true");
    } else {
      plan_.assume("parallelism.zero_stage", 3, say("import.maxtext.sharded"));
      if (over_data && over_data->value) plan_.warn(say("import.maxtext.over_data"), over_data->origin.line);
    }
    if (const auto offload = keys_.flag("optimizer_memory_host_offload"))
      plan_.state("offload.optimizer", offload->value ? 1 : 0, offload->origin, offload->value ? "true" : "false");
    if (const auto offload = keys_.flag("parameter_memory_host_offload"); offload && offload->value)
      plan_.warn(say("import.offloads_weights"), offload->origin.line);
    if (const auto rules = keys_.word("custom_mesh_and_rule|custom_mesh"); rules && !rules->value.empty())
      plan_.warn(say("import.maxtext.rules", in_quotes(rules->value)), rules->origin.line);
  }

  bool fsdp_is_one() const { return plan_.fsdp ? plan_.fsdp->value == 1 : plan_.value_of("parallelism.fsdp") == 1.0; }

  void checkpointing() { read_maxtext_remat(keys_, plan_, shape_); }

  void precision() {
    const auto compute = keys_.word("dtype"), weights = keys_.word("weight_dtype"),
               quantization = keys_.word("quantization");
    const auto optimizer = keys_.word("opt_type"), moment = keys_.word("mu_dtype"),
               gradients = keys_.word("grad_dtype");
    if (keys_.failed()) return;
    const auto type_of = [&](const Maybe<std::string>& stated, std::string_view usual_type) -> std::string_view {
      if (!stated || stated->value.empty()) return usual_type;
      if (const std::string_view format = format_of_dtype(stated->value); !format.empty()) return format;
      keys_.not_possible(stated->origin, stated->value, "bfloat16 float32 float16");
      return usual_type;
    };
    const std::string_view computes = type_of(compute, "bf16"), stores = type_of(weights, "fp32");
    type_of(gradients, "fp32");
    type_of(moment, "fp32");
    if (keys_.failed()) return;
    const std::string_view low = quantization ? std::string_view(quantization->value) : std::string_view();
    if (low.find("fp8") != std::string_view::npos)
      plan_.state_choice("precision.compute", "fp8", quantization->origin, quantization->value);
    else if (low.find("nvfp4") != std::string_view::npos)
      plan_.state_choice("precision.compute", "nvfp4", quantization->origin, quantization->value);
    else if (low.starts_with("int8") || low == "aqt_int8")
      plan_.state_choice("precision.compute", "int8", quantization->origin, quantization->value);
    else if (!low.empty())
      plan_.warn(say("import.maxtext.quantization", in_quotes(low)), quantization->origin.line);
    const bool narrow = low.find("fp8") != std::string_view::npos || low.find("nvfp4") != std::string_view::npos;
    if (!narrow && !low.starts_with("int8") && low != "aqt_int8") {
      if (compute)
        plan_.state_choice("precision.compute", computes, compute->origin, compute->value);
      else
        plan_.assume_choice("precision.compute", "bf16", usual());
    } else if (compute) {
      plan_.no_effect(compute->origin, say("import.maxtext.quantized", in_quotes(low)));
    }
    // Weights of 32 bits are gathered and multiplied as copies of 16: a master copy in Roofscape's terms.
    const bool pure = stores != "fp32", full = computes == "fp32";
    const auto take = [&](std::string_view field, std::string_view type) {
      if (weights)
        plan_.state_choice(field, type, weights->origin, weights->value);
      else
        plan_.assume_choice(field, type, usual());
    };
    take("precision.weights", pure ? stores : full ? "fp32" : "bf16");
    take("precision.master_weights", pure || full ? "none" : "fp32");
    plan_.assume_choice("precision.gradients", full ? "fp32" : "bf16", usual());
    const std::string kind = optimizer ? optimizer->value : "adamw";
    const std::string_view state = kind == "sgd"    ? "none"
                                   : kind == "muon" ? (pure ? "muon_bf16" : "muon_fp32")
                                                    : (pure ? "adam_bf16" : "adam_fp32");
    if (optimizer)
      plan_.state_choice("precision.optimizer", state, optimizer->origin, kind);
    else
      plan_.assume_choice("precision.optimizer", state, usual());
    if (kind != "adamw" && kind != "adam_pax" && kind != "sgd" && kind != "muon")
      plan_.warn(say("import.optimizer_unknown", in_quotes(kind)), optimizer->origin.line);
    if (moment && !moment->value.empty()) plan_.no_effect(moment->origin, say("import.ignored.not_modelled"));
  }

  void rest() {
    if (!keys_.failed()) finish_maxtext_keys(keys_);
  }

  const PresetLibrary& library_;
  LaunchPlan plan_;
  KeyReader keys_;
  engine::TransformerShape shape_;
  MaxtextMesh mesh_;
};

// Keys that a run of MaxText has and a model's file has not.
bool is_run_key(std::string_view key) {
  constexpr std::array<std::string_view, 9> kKeys{"base_config",       "model_name",       "per_device_batch_size",
                                                  "max_target_length", "remat_policy",     "steps",
                                                  "run_name",          "compile_topology", "base_output_directory"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end() ||
         ((key.starts_with("ici_") || key.starts_with("dcn_")) && key.ends_with("_parallelism"));
}
bool is_model_key(std::string_view key) {
  constexpr std::array<std::string_view, 5> kKeys{"base_emb_dim", "base_num_decoder_layers", "base_num_query_heads",
                                                  "base_mlp_dim", "decoder_block"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

bool is_maxtext_file(const LaunchSource& source) {
  const Node& root = source.document;
  int run = 0;
  for (const std::string& key : root.keys) {
    if (is_model_key(key) || ((key.starts_with("ici_") || key.starts_with("dcn_")) && key.ends_with("_parallelism")))
      return true;
    if (key == "per_device_batch_size" || key == "max_target_length" || key == "remat_policy" || key == "base_config")
      return true;
    if (is_run_key(key)) ++run;
  }
  return run >= 3;
}

Result<LaunchPlan> read_maxtext_file(const LaunchSource& source, const PresetLibrary& library) {
  MaxtextReader reader(source.file, library);
  reader.keys().add(source.document);
  const bool run = std::any_of(source.document.keys.begin(), source.document.keys.end(),
                               [](const std::string& key) { return is_run_key(key); });
  return reader.read(run);
}

// "key=value" with a key of letters, digits and underscores. npos: it is none.
std::size_t equals_sign(std::string_view word) {
  std::size_t end = 0;
  while (end < word.size() && (std::isalnum(static_cast<unsigned char>(word[end])) != 0 || word[end] == '_')) ++end;
  return end > 0 && end < word.size() && word[end] == '=' && std::isalpha(static_cast<unsigned char>(word[0])) != 0
             ? end
             : std::string_view::npos;
}

bool is_maxtext_command(const ShellCommand& command) {
  bool named = false;
  int keys = 0;
  for (const ShellWord& word : command.words) {
    const std::size_t at = equals_sign(word.text);
    if (at == std::string_view::npos)
      named = named || engine::ascii_lower(word.text).find("maxtext") != std::string::npos;
    else if (const std::string_view key = std::string_view(word.text).substr(0, at);
             is_run_key(key) || is_model_key(key))
      ++keys;
  }
  return keys > 0 && (named || keys > 1);
}

bool is_maxtext_line(const LaunchSource& source) {
  const std::vector<ShellCommand> commands = commands_of(source.script);
  return std::any_of(commands.begin(), commands.end(), is_maxtext_command);
}

// What xpk and its like are told of the chips, as the keys that MaxText has for them.
void take_topology(const ShellCommand& command, KeyReader& keys) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTopologyFlags{
      {{"--tpu-type", "compile_topology"},
       {"--device-type", "compile_topology"},
       {"--num-slices", "compile_topology_num_slices"},
       {"--num-nodes", "compile_topology_num_slices"}}};
  for (std::size_t i = 0; i < command.words.size(); ++i)
    for (const auto& [flag, key] : kTopologyFlags) {
      const std::string_view text = command.words[i].text;
      if (!text.starts_with(flag)) continue;
      const bool joined = text.size() > flag.size() && text[flag.size()] == '=';
      if (!joined && (text != flag || i + 1 == command.words.size())) continue;
      const ShellWord& value = joined ? command.words[i] : command.words[i + 1];
      keys.add(std::string(key),
               plain_scalar(joined ? text.substr(flag.size() + 1) : std::string_view(value.text), value.line),
               value.open);
    }
}

Result<LaunchPlan> read_maxtext_line(const LaunchSource& source, const PresetLibrary& library) {
  MaxtextReader reader(source.file, library);
  std::vector<ShellCommand> commands = commands_of(source.script);
  // A command that holds the run as one text has the run behind it; its own flags say on what it runs.
  const auto run = std::find_if(commands.rbegin(), commands.rend(), is_maxtext_command);
  for (const ShellCommand& command : commands) {
    take_topology(command, reader.keys());
    if (&command != &*run) continue;
    bool begun = false;
    for (const ShellWord& word : command.words) {
      const std::size_t at = equals_sign(word.text);
      if (at != std::string_view::npos) {
        begun = true;
        const std::string value = word.text.substr(at + 1);
        reader.keys().add(word.text.substr(0, at), plain_scalar(value, word.line), word.open);
      } else if (begun) {
        reader.plan().warn(say("import.maxtext.stray", in_quotes(word.text)), word.line);
      } else if (word.text.ends_with(".yml") || word.text.ends_with(".yaml")) {
        const std::string_view name = std::string_view(word.text).substr(word.text.rfind('/') + 1);
        if (name != "base.yml") reader.plan().warn(say("import.maxtext.other_file", in_quotes(word.text)), word.line);
      }
    }
    break;  // the first run of a script
  }
  tell_gaps(source.script, reader.plan());
  return reader.read(true);
}

}  // namespace

const LaunchFormat maxtext_yaml_format{"maxtext", "MaxText", LaunchSyntax::yaml, is_maxtext_file, read_maxtext_file};
const LaunchFormat maxtext_line_format{"maxtext", "MaxText", LaunchSyntax::shell, is_maxtext_line, read_maxtext_line};

}  // namespace roofscape::io
