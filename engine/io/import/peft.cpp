// PEFT's adapter_config.json: the rank and the modules of low-rank adapters, and the model they are for. It is what is
// left of a run beside its weights; how many chips trained it, and with which batch, it does not say.
#include <utility>

#include "engine/io/import/adapter_modules.h"
#include "engine/io/import/framework_models.h"
#include "engine/io/import/key_reader.h"
#include "engine/io/import/launch_formats.h"
#include "engine/io/json/result.h"

namespace roofscape::io {

using engine::say;

namespace {

class PeftReader {
 public:
  explicit PeftReader(const LaunchSource& source) : keys_(source.file, plan_) { keys_.add(source.document); }

  Result<LaunchPlan> read() {
    plan_.model_only = true;
    plan_.rest = RestAxis::fsdp;
    for (auto step : {&PeftReader::kind, &PeftReader::model, &PeftReader::modules, &PeftReader::rest}) {
      (this->*step)();
      if (keys_.failed()) return *keys_.failure();
    }
    return std::move(plan_);
  }

 private:
  static engine::Sentence usual() { return say("import.default_of", std::string_view("PEFT")); }

  void kind() {
    const auto type = keys_.word("peft_type");
    if (!type) return;
    if (type->value != "LORA")
      return plan_.fail(say("import.accelerate.adapter", in_quotes(type->value)), type->origin.line);
    plan_.read.push_back({type->origin.key, type->origin.line, "adapter.rank", type->value});
    if (const auto rank = keys_.whole("r", 1, 1024))
      plan_.state("adapter.rank", rank->value, rank->origin);
    else if (!keys_.failed())
      plan_.assume("adapter.rank", 8, usual());
  }

  void model() {
    const auto name = keys_.word("base_model_name_or_path");
    if (!name || name->value.empty()) return plan_.missing.push_back({"model", "--set model=..."});
    take_hub_model(plan_, *name);
  }

  void modules() {
    const auto named = module_names(keys_, "target_modules");
    if (keys_.failed()) return;
    if (!named) return plan_.assume_choice("adapter.targets", "query_value", usual());
    state_adapter_modules(plan_, named->value, named->origin);
  }

  // What changes the number of weights that are trained, and has no field.
  void rest() {
    for (const std::string_view key : {"modules_to_save", "layers_to_transform", "layers_pattern", "exclude_modules",
                                       "layer_replication", "trainable_token_indices", "target_parameters"}) {
      if (keys_.is_list(key)) {
        if (const auto list = keys_.list(key); list.list != nullptr && !list.list->items.empty())
          not_counted(list.origin);
      } else if (const auto word = keys_.word(key); word && !word->value.empty()) {
        not_counted(word->origin);
      }
    }
    if (const auto rank = keys_.like("rank_pattern.*")) not_counted(*rank);
    for (const std::string_view key : {"use_dora", "use_qalora", "lora_bias"})
      if (const auto flag = keys_.flag(key); flag && flag->value) not_counted(flag->origin);
    if (const auto bias = keys_.word("bias"); bias && bias->value != "none") not_counted(bias->origin);
    keys_.not_modelled_when_on({"lora_dropout"});
    keys_.without_effect({"lora_alpha",
                          "use_rslora",
                          "alpha_pattern*",
                          "init_lora_weights",
                          "task_type",
                          "inference_mode",
                          "fan_in_fan_out",
                          "auto_mapping*",
                          "revision",
                          "peft_version",
                          "megatron_*",
                          "loftq_config*",
                          "eva_config*",
                          "corda_config*",
                          "arrow_config*",
                          "rank_pattern*",
                          "qalora_group_size",
                          "use_qalora",
                          "use_dora",
                          "lora_bias",
                          "bias",
                          "ensure_weight_tying",
                          "alora_invocation_tokens*"},
                         say("import.ignored.no_effect"));
    keys_.finish({{"peft_type", "adapter.rank"}});
  }
  void not_counted(const Origin& origin) { plan_.warn(say("import.adapter.not_counted", origin.key), origin.line); }

  LaunchPlan plan_;
  KeyReader keys_;
};

bool is_peft(const LaunchSource& source) { return source.document.find("peft_type") != nullptr; }

Result<LaunchPlan> read_peft(const LaunchSource& source, const PresetLibrary&) { return PeftReader(source).read(); }

}  // namespace

const LaunchFormat peft_json_format{"peft", "PEFT", LaunchSyntax::json, is_peft, read_peft};

}  // namespace roofscape::io
