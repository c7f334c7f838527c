// DeepSpeed's JSON. It knows neither the model nor the chips: those are asked for. "auto" is filled in by the program that
// starts it, and is unknown here.
//
// train_batch_size = train_micro_batch_size_per_gpu x gradient_accumulation_steps x data-parallel ranks; of the three that
// a file can state two give the third once the ranks are known, and all three give the ranks.
#include <array>

#include "engine/io/import/key_reader.h"
#include "engine/io/import/launch_formats.h"
#include "engine/io/import/mixed_precision.h"

namespace roofscape::io {

using engine::say;

namespace {

constexpr int kMostSequences = 1 << 24;

class DeepspeedReader {
 public:
  explicit DeepspeedReader(const LaunchSource& source) : keys_(source.file, plan_) { keys_.add(source.document); }

  Result<LaunchPlan> read() {
    for (auto step : {&DeepspeedReader::sharding, &DeepspeedReader::batch, &DeepspeedReader::precision,
                      &DeepspeedReader::other_axes, &DeepspeedReader::rest}) {
      (this->*step)();
      if (keys_.failed()) return *keys_.failure();
    }
    return std::move(plan_);
  }

 private:
  static engine::Sentence usual() { return say("import.default_of", std::string_view("DeepSpeed")); }

  // None where the file does not say it, or says "auto"; then the field is missing.
  Maybe<int> counted(std::string_view key, std::string_view field) {
    if (!keys_.is_word(key, "auto")) return keys_.whole(key, 1, kMostSequences);
    if (const auto word = keys_.word(key))  // none after an error
      plan_.read.push_back({word->origin.key, word->origin.line, std::string(field), "auto"});
    return std::nullopt;
  }
  void missing(std::string_view field) {
    plan_.missing.push_back({std::string(field), "--set " + std::string(field) + "=..."});
  }

  // By default stage 3 alone reduces gradients while it computes.
  void overlap(bool by_default) {
    const auto stated = keys_.flag("zero_optimization.overlap_comm");
    if (stated) plan_.no_effect(stated->origin, say("import.ignored.overlap"));
    if (!(stated ? stated->value : by_default))
      plan_.note_on_reduction = say("import.not_overlapped", std::string("overlap_comm"));
  }

  void sharding() {
    Maybe<int> stage;
    if (keys_.is_word("zero_optimization", "true") ||
        keys_.is_word("zero_optimization", "false")) {  // before it had stages
      const auto on = keys_.flag("zero_optimization");
      if (on) stage = {on->value ? 1 : 0, on->origin};
    } else if (keys_.is_word("zero_optimization.stage", "auto")) {
      missing("parallelism.zero_stage");
      keys_.has("zero_optimization.stage");
    } else {
      stage = keys_.whole("zero_optimization.stage", 0, 3);
    }
    if (keys_.failed()) return;
    if (stage)
      plan_.state("parallelism.zero_stage", stage->value, stage->origin);
    else if (plan_.missing.empty())
      plan_.assume("parallelism.zero_stage", 0, usual());
    plan_.rest = stage && stage->value > 0 ? RestAxis::fsdp : RestAxis::data;
    overlap(stage && stage->value == 3);
    if (const auto group = keys_.whole("zero_optimization.mics_shard_size", -1, 65536); group && group->value > 0)
      plan_.fsdp = group;
    if (const auto part = keys_.whole("zero_optimization.zero_hpz_partition_size", 1, 65536); part && part->value > 1)
      plan_.warn(say("import.deepspeed.secondary", part->value), part->origin.line);
    offload();
    if (const auto ranks = keys_.flag("activation_checkpointing.cpu_checkpointing"); ranks && ranks->value)
      plan_.state("offload.activations", 1, ranks->origin, "true");
  }

  void offload() {
    const auto device = keys_.word("zero_optimization.offload_optimizer.device");
    const auto before = keys_.flag("zero_optimization.cpu_offload");  // its name before there were devices
    const auto weights = keys_.word("zero_optimization.offload_param.device");
    const auto weights_before = keys_.flag("zero_optimization.cpu_offload_params");
    if (keys_.failed()) return;
    for (const auto* stated : {device ? &*device : nullptr, weights ? &*weights : nullptr})
      if (stated != nullptr && stated->value != "cpu" && stated->value != "nvme" && stated->value != "none")
        return keys_.not_possible(stated->origin, stated->value, "none cpu nvme");
    const bool away = device && device->value != "none";
    if (device && before && away != before->value)
      return keys_.contradiction(device->origin, device->value, before->origin, before->value ? "true" : "false");
    if (device)
      plan_.state("offload.optimizer", away ? 1 : 0, device->origin, device->value);
    else if (before)
      plan_.state("offload.optimizer", before->value ? 1 : 0, before->origin, before->value ? "true" : "false");
    else
      plan_.assume("offload.optimizer", 0, usual());
    if (const auto ratio = keys_.number("zero_optimization.offload_optimizer.ratio", 0, 1)) {
      if (plan_.value_of("parallelism.zero_stage") == 3)
        plan_.state("offload.optimizer_fraction", ratio->value, ratio->origin);
      else
        plan_.no_effect(ratio->origin, say("import.deepspeed.ratio"));
    }
    if (device && device->value == "nvme") plan_.warn(say("import.deepspeed.nvme"), device->origin.line);
    if (weights && weights->value != "none") plan_.warn(say("import.offloads_weights"), weights->origin.line);
    if (weights_before && weights_before->value)
      plan_.warn(say("import.offloads_weights"), weights_before->origin.line);
  }

  void batch() {
    constexpr std::string_view kGlobal = "workload.global_batch_sequences", kMicro = "pipeline.microbatch_sequences";
    const auto global = counted("train_batch_size", kGlobal);
    const auto micro = counted("train_micro_batch_size_per_gpu", kMicro);
    const bool open_rounds = keys_.is_word("gradient_accumulation_steps", "auto");
    auto rounds = counted("gradient_accumulation_steps", kGlobal);
    if (keys_.failed()) return;
    if (global) plan_.state(kGlobal, global->value, global->origin);
    if (micro) plan_.state(kMicro, micro->value, micro->origin);
    if (global && micro && rounds) {
      const std::int64_t pass = std::int64_t{micro->value} * rounds->value;
      if (global->value % pass != 0)
        return keys_.contradiction(global->origin, std::to_string(global->value), micro->origin,
                                   std::to_string(micro->value));
      Stated<int> ranks{static_cast<int>(global->value / pass), global->origin};
      // With groups that shard (MiCS) the ranks are all copies of all groups.
      if (plan_.fsdp && ranks.value % plan_.fsdp->value == 0) ranks.value /= plan_.fsdp->value;
      (plan_.rest == RestAxis::fsdp && !plan_.fsdp ? plan_.fsdp : plan_.data) = ranks;
      if (plan_.rest == RestAxis::fsdp)
        plan_.assume("parallelism.data", 1, say("import.deepspeed.ranks"));
      else
        plan_.assume("parallelism.fsdp", 1, say("import.deepspeed.ranks"));
      return;
    }
    if (rounds)
      plan_.accumulation = rounds;
    else if (!open_rounds && !(global && micro))
      plan_.accumulation = {1, {"gradient_accumulation_steps", 0}};
    if (!micro && !(global && plan_.accumulation)) missing(kMicro);
    if (!global && !(micro && plan_.accumulation)) missing(kGlobal);
  }

  void precision() {
    const auto on = [&](std::string_view key) {  // none: "auto"
      if (keys_.is_word(key, "auto")) return Maybe<bool>();
      const auto stated = keys_.flag(key);
      return stated ? stated : Maybe<bool>(Stated<bool>{false, {}});
    };
    const auto half = on("fp16.enabled"), brain = on("bf16.enabled|bfloat16.enabled");
    if (keys_.failed()) return;
    if (half && brain && half->value && brain->value)
      return keys_.contradiction(half->origin, "true", brain->origin, "true");
    if (brain && brain->value)
      state_mixed_precision(plan_, "bf16", brain->origin, "bf16");
    else if (half && half->value)
      state_mixed_precision(plan_, "fp16", half->origin, "fp16");
    else if (!half || !brain)
      missing("precision.compute");
    else
      assume_mixed_precision(plan_, "fp32", usual());
    if (const auto optimizer = keys_.word("optimizer.type"))
      state_optimizer(plan_, optimizer->value, optimizer->origin);
  }

  // What other parts of the program may say beside this file.
  void other_axes() {
    const auto tensor = keys_.whole("tensor_parallel.autotp_size|autotp_size|tensor_parallel.tp_size", 0, 1024);
    const auto context = keys_.whole("sequence_parallel_size", 1, 4096);
    if (keys_.failed()) return;
    if (tensor && tensor->value > 0)
      plan_.state("parallelism.tensor", tensor->value, tensor->origin);
    else
      plan_.assume("parallelism.tensor", 1, say("import.deepspeed.elsewhere"));
    plan_.assume("parallelism.sequence_parallel", 0, say("import.deepspeed.elsewhere"));
    if (context) {
      plan_.state("parallelism.context", context->value, context->origin);
      plan_.assume_choice("parallelism.context_method", "ulysses", usual());
    } else {
      plan_.assume("parallelism.context", 1, say("import.deepspeed.elsewhere"));
      if (keys_.has("seq_parallel_communication_data_type")) plan_.warn(say("import.deepspeed.ulysses"));
    }
    plan_.assume("parallelism.pipeline", 1, say("import.deepspeed.elsewhere"));
    plan_.assume("pipeline.virtual_stages", 1, say("import.no_pipeline"));
  }

  void rest() {
    keys_.without_effect({"activation_checkpointing.*"}, say("import.deepspeed.checkpoints"));
    keys_.without_effect({"zero_optimization.*",
                          "zero_force*",
                          "zero_allow*",
                          "communication_data_type",
                          "seq_parallel*",
                          "prescale*",
                          "gradient_predivide*",
                          "sparse_gradients",
                          "aio.*",
                          "compression*",
                          "data_types.*",
                          "torch_autocast.*",
                          "compile.*",
                          "pipeline.*",
                          "tensor_parallel.*",
                          "hybrid_engine.*",
                          "elasticity.*",
                          "autotuning.*",
                          "data_efficiency.*",
                          "curriculum_learning.*",
                          "progressive_layer_drop.*",
                          "disable_allgather",
                          "optimizer.legacy*",
                          "fp16.auto_cast",
                          "bf16.*",
                          "amp.*"},
                         say("import.ignored.not_modelled"));
    keys_.without_effect(
        {"optimizer.*", "scheduler.*", "fp16.*", "gradient_clipping", "steps_per_print", "wall_clock_breakdown",
         "dump_state", "flops_profiler.*", "tensorboard.*", "wandb.*", "csv_monitor.*", "comet.*", "comms_logger.*",
         "checkpoint.*", "memory_breakdown", "eigenvalue.*", "dataloader*", "load_universal*", "checkpoint_tag*"},
        say("import.ignored.no_effect"));
    keys_.finish({{"train*batch_size*", "workload.global_batch_sequences"},
                  {"gradient_accumulation_steps", "workload.global_batch_sequences"},
                  {"fp16.enabled", "precision.compute"},
                  {"bf*16.enabled", "precision.compute"},
                  {"zero_optimization.offload_optimizer.ratio", "offload.optimizer_fraction"},
                  {"zero_optimization.offload*", "offload.optimizer"},
                  {"zero_optimization.cpu_offload*", "offload.optimizer"},
                  {"zero_optimization.mics*", "parallelism.fsdp"},
                  {"tensor_parallel.*", "parallelism.tensor"},
                  {"activation_checkpointing.cpu*", "offload.activations"}});
  }

  LaunchPlan plan_;
  KeyReader keys_;
};

bool is_deepspeed(const LaunchSource& source) {
  const Node& root = source.document;
  if (!root.is_map() || root.find("model_type") != nullptr) return false;
  if (root.find("zero_optimization") != nullptr || root.find("train_micro_batch_size_per_gpu") != nullptr)
    return true;
  const bool batch = root.find("train_batch_size") != nullptr || root.find("gradient_accumulation_steps") != nullptr;
  return batch && (root.find("fp16") != nullptr || root.find("bf16") != nullptr ||
                   root.find("optimizer") != nullptr || root.find("gradient_clipping") != nullptr);
}

Result<LaunchPlan> read_deepspeed(const LaunchSource& source, const PresetLibrary&) {
  return DeepspeedReader(source).read();
}

}  // namespace

const LaunchFormat deepspeed_json_format{"deepspeed", "DeepSpeed", LaunchSyntax::json, is_deepspeed, read_deepspeed};

}  // namespace roofscape::io
