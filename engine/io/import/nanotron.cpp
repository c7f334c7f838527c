// nanotron's YAML: degrees under `parallelism`, batches under `tokens`, the model as a Hugging Face config under
// model.model_config. All of the mesh is in the file: dp x tp x pp (x context x expert).
#include <array>

#include <nlohmann/json.hpp>

#include "engine/io/huggingface/hf_config.h"
#include "engine/io/import/key_reader.h"
#include "engine/io/import/launch_formats.h"
#include "engine/io/import/mixed_precision.h"
#include "engine/io/json/json_text.h"

namespace roofscape::io {

using engine::say;

namespace {

// A document's values as JSON, for the reader of config.json.
Json json_of(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return nullptr;
    case Node::Kind::boolean:
      return node.number != 0;
    case Node::Kind::number:
      if (node.number == std::floor(node.number) && std::abs(node.number) < 9e15)
        return static_cast<std::int64_t>(node.number);
      return node.number;
    case Node::Kind::text:
      return node.text;
    case Node::Kind::list: {
      Json out = Json::array();
      for (const Node& item : node.items) out.push_back(json_of(item));
      return out;
    }
    case Node::Kind::map: {
      Json out = Json::object();
      for (std::size_t i = 0; i < node.items.size(); ++i) out[node.keys[i]] = json_of(node.items[i]);
      return out;
    }
  }
  return nullptr;
}

// What nanotron calls its model classes.
struct NanotronClass {
  std::string_view flag, type;  // of nanotron's config; model_type of Hugging Face
};
constexpr std::array kNanotronClasses{NanotronClass{"is_llama_config", "llama"},
                                      NanotronClass{"is_qwen2_config", "qwen2"},
                                      NanotronClass{"is_starcoder2_config", "starcoder2"}};

class NanotronReader {
 public:
  explicit NanotronReader(const LaunchSource& source)
      : file_(source.file), root_(source.document), keys_(source.file, plan_) {
    keys_.add(root_);
  }

  Result<LaunchPlan> read() {
    for (auto step : {&NanotronReader::model, &NanotronReader::mesh, &NanotronReader::batch,
                      &NanotronReader::precision, &NanotronReader::rest}) {
      (this->*step)();
      if (failure_) return *failure_;
      if (keys_.failed()) return *keys_.failure();
    }
    return std::move(plan_);
  }

 private:
  static engine::Sentence usual() { return say("import.default_of", std::string_view("nanotron")); }

  void model() {
    const Node* config = root_.at("model.model_config");
    if (config == nullptr || !config->is_map()) return;
    Json json = json_of(*config);
    std::string_view type;
    for (const NanotronClass& known : kNanotronClasses)
      if (const Node* flag = config->find(known.flag); flag != nullptr && flag->number != 0) type = known.type;
    if (type.empty() && config->find("model_type") == nullptr) {
      const Node* flag = nullptr;
      std::string name;
      for (std::size_t i = 0; i < config->keys.size(); ++i)
        if (config->keys[i].starts_with("is_") && config->keys[i].ends_with("_config"))
          flag = &config->items[i], name = config->keys[i];
      plan_.missing.push_back({"model", "--set model=..."});
      plan_.warn(say("import.nanotron.model", flag != nullptr ? in_quotes(name) : std::string("model_config")),
                 config->line);
      keys_.without_effect({"model.model_config.*"}, say("import.nanotron.not_read"));
      return;
    }
    if (!type.empty()) json["model_type"] = std::string(type);
    if (!json.contains("architectures")) json["architectures"] = Json::array();
    auto read = read_hf_config(json.dump(), file_);
    if (!read) {
      failure_ = read.error();
      const Node* member = config->find(failure_->path);
      failure_->path = failure_->path.empty() ? "model.model_config" : "model.model_config." + failure_->path;
      failure_->place = say("import.line", member != nullptr ? member->line : config->line);
      return;
    }
    plan_.shape = {read->shape, {"model.model_config", config->line}};
    plan_.shape->value.name.clear();
    for (std::string& note : read->notes) plan_.warn(std::move(note), config->line);
    for (std::size_t i = 0; i < config->keys.size(); ++i) keys_.has("model.model_config." + config->keys[i]);
  }

  void mesh() {
    tensor_ = keys_.degree("parallelism.tp", "parallelism.tensor", 1024, usual());
    const int pipeline = keys_.degree("parallelism.pp", "parallelism.pipeline", 1024, usual());
    keys_.degree("parallelism.context_parallel_size", "parallelism.context", 4096, usual());
    const int expert = keys_.degree("parallelism.expert_parallel_size", "parallelism.expert", 4096, usual());
    const auto ranks = keys_.whole("parallelism.dp", 1, kMostRanks);
    const auto stage = keys_.whole("optimizer.zero_stage", 0, 3);
    const auto mode = keys_.word("parallelism.tp_mode");
    const auto engine_word = keys_.word("parallelism.pp_engine");
    if (keys_.failed()) return;
    if (stage)
      plan_.state("parallelism.zero_stage", stage->value, stage->origin);
    else
      plan_.assume("parallelism.zero_stage", 0, usual());
    const bool shards = stage && stage->value > 0;
    plan_.rest = shards ? RestAxis::fsdp : RestAxis::data;
    if (ranks) {
      (shards ? plan_.fsdp : plan_.data) = ranks;
      plan_.assume(shards ? "parallelism.data" : "parallelism.fsdp", 1,
                   shards ? say("import.nanotron.sharded") : say("import.nanotron.replicated"));
    }
    if (expert > 1) plan_.assume("parallelism.expert_tensor", tensor_, usual());
    if (mode && mode->value != "ALL_REDUCE" && mode->value != "REDUCE_SCATTER")
      return keys_.not_possible(mode->origin, mode->value, "ALL_REDUCE REDUCE_SCATTER");
    if (mode && tensor_ > 1)
      plan_.state("parallelism.sequence_parallel", mode->value == "REDUCE_SCATTER" ? 1 : 0, mode->origin,
                  mode->value);
    else
      plan_.assume("parallelism.sequence_parallel", 0, tensor_ > 1 ? usual() : say("import.tensor_is_one"));
    if (pipeline == 1) {
      if (engine_word) plan_.no_effect(engine_word->origin, say("import.no_pipeline"));
    } else if (engine_word) {
      if (engine_word->value != "1f1b" && engine_word->value != "afab")
        return keys_.not_possible(engine_word->origin, engine_word->value, "1f1b afab");
      plan_.state_choice("pipeline.schedule", engine_word->value == "afab" ? "gpipe" : "1f1b", engine_word->origin,
                         engine_word->value);
    } else {
      plan_.assume_choice("pipeline.schedule", "1f1b", usual());
    }
    plan_.assume("pipeline.virtual_stages", 1, usual());
    if (const auto again = keys_.flag("parallelism.recompute_layer"))
      plan_.state_choice("checkpointing.policy", again->value ? "block" : "none", again->origin,
                         again->value ? "true" : "false");
    else if (!keys_.failed())
      plan_.assume_choice("checkpointing.policy", "none", usual());
  }

  void batch() {
    if (const auto length = keys_.whole("tokens.sequence_length", 1, 1 << 24))
      plan_.state("workload.sequence_length", length->value, length->origin);
    if (const auto micro = keys_.whole("tokens.micro_batch_size", 1, 1 << 16))
      plan_.state("pipeline.microbatch_sequences", micro->value, micro->origin);
    plan_.accumulation = keys_.whole("tokens.batch_accumulation_per_replica", 1, 1 << 20);
    if (!plan_.accumulation && !keys_.failed())
      plan_.accumulation = {1, {"tokens.batch_accumulation_per_replica", 0}};
  }

  void precision() {
    const auto type = keys_.word("model.dtype");
    const auto full_gradients = keys_.flag("optimizer.accumulate_grad_in_fp32");
    if (keys_.failed()) return;
    const std::string name = type ? type->value : "bfloat16";
    const std::string_view word = format_of_dtype(name);
    if (word.empty()) return keys_.not_possible(type->origin, name, "bfloat16 float16 float32");
    const auto take = [&](std::string_view field, std::string_view choice, const auto& from) {
      if (from)
        plan_.state_choice(field, choice, from->origin);
      else
        plan_.assume_choice(field, choice, usual());
    };
    const bool in_full = full_gradients && full_gradients->value;
    take("precision.compute", word, type);
    take("precision.weights", word, type);
    take("precision.gradients", in_full ? "fp32" : word, full_gradients);
    // With gradients added up in 32 bits there is a master copy of the weights.
    take("precision.master_weights", in_full && word != "fp32" ? "fp32" : "none", full_gradients);
    plan_.assume_choice("precision.optimizer", in_full || word == "fp32" ? "adam_fp32" : "adam_bf16", usual());
    if (const auto kind = keys_.word("optimizer.optimizer_factory.name");
        kind && kind->value != "adamW" && kind->value != "adam")
      plan_.warn(say("import.optimizer_unknown", in_quotes(kind->value)), kind->origin.line);
    else if (kind)
      plan_.read.push_back({kind->origin.key, kind->origin.line, "precision.optimizer", kind->value});
  }

  void rest() {
    plan_.steps(keys_.number("tokens.train_steps", -1, kMostTrainSteps));
    keys_.without_effect({"parallelism.tp_linear_async_communication"}, say("import.ignored.overlap"));
    keys_.without_effect({"parallelism.tp_recompute_allgather", "parallelism.moe_layer_recompute",
                          "model.ddp_bucket*", "optimizer.optimizer_factory.torch_adam*"},
                         say("import.ignored.not_modelled"));
    keys_.without_effect(
        {"checkpoints.*", "data_stages*", "data.*", "general.*", "logging.*", "model.*", "optimizer.*", "profiler*",
         "tokenizer.*", "tokens.*", "lighteval*", "s3_upload*", "metrics_logging*", "experiment*"},
        say("import.ignored.no_effect"));
    keys_.finish({{"tokens.*", "workload.global_batch_sequences"},
                  {"parallelism.tp_mode", "parallelism.sequence_parallel"},
                  {"optimizer.*", "precision.optimizer"},
                  {"model.model_config.*", "model"}});
  }

  std::string_view file_;
  const Node& root_;
  LaunchPlan plan_;
  KeyReader keys_;
  Failure failure_;
  int tensor_ = 1;
};

bool is_nanotron(const LaunchSource& source) {
  const Node& root = source.document;
  const Node *parallelism = root.find("parallelism"), *tokens = root.find("tokens");
  return (parallelism != nullptr && parallelism->find("tp") != nullptr && parallelism->find("dp") != nullptr) ||
         (tokens != nullptr && tokens->find("micro_batch_size") != nullptr);
}

Result<LaunchPlan> read_nanotron(const LaunchSource& source, const PresetLibrary&) {
  return NanotronReader(source).read();
}

}  // namespace

const LaunchFormat nanotron_yaml_format{"nanotron", "nanotron", LaunchSyntax::yaml, is_nanotron, read_nanotron};

}  // namespace roofscape::io
