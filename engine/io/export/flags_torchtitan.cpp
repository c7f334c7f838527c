// A plan for torchtitan, as the TOML of its version 0.2.
#include <fmt/format.h>

#include "engine/frameworks/rules.h"
#include "engine/frameworks/torch_terms.h"
#include "engine/io/export/flag_writers.h"
#include "engine/io/scenario/layer_layout.h"
#include "engine/pipeline/layer_split.h"
#include "engine/scenario/mesh_size.h"

namespace roofscape::io {

using engine::CheckpointPolicy;
using engine::Dtype;
using engine::say;

namespace {

// Models that torchtitan has a flavor of.
struct Flavor {
  std::string_view model, name, flavor;
};
constexpr Flavor kFlavors[] = {
    {"llama3-8b", "llama3", "8B"},
    {"llama3-70b", "llama3", "70B"},
    {"llama3-405b", "llama3", "405B"},
    {"llama3.2-1b", "llama3", "1B"},
    {"llama3.2-3b", "llama3", "3B"},
    {"qwen3-0.6b", "qwen3", "0.6B"},
    {"qwen3-1.7b", "qwen3", "1.7B"},
    {"qwen3-4b", "qwen3", "4B"},
    {"qwen3-8b", "qwen3", "8B"},
    {"qwen3-14b", "qwen3", "14B"},
    {"qwen3-32b", "qwen3", "32B"},
    {"qwen3-30b-a3b", "qwen3", "30B-A3B"},
    {"qwen3-235b-a22b", "qwen3", "235B-A22B"},
    {"deepseek-v2-lite", "deepseek_v3", "16B"},
    {"deepseek-v3", "deepseek_v3", "671B"},
    {"gpt-oss-20b", "gpt_oss", "20b"},
    {"gpt-oss-120b", "gpt_oss", "120b"},
};

class TitanText {
 public:
  explicit TitanText(LaunchText& text) : text_(text), s_(text.scenario()) {}

  std::string write() {
    model();
    training();
    parallelism();
    checkpointing();
    precision();
    std::string out = text_.header();
    for (const auto& [section, lines] : sections_) out += "\n[" + section + "]\n" + lines;
    return out;
  }

 private:
  void section(std::string name) { sections_.emplace_back(std::move(name), std::string()); }
  void line(std::string_view key, std::string value) {
    sections_.back().second += fmt::format("{} = {}\n", key, value);
  }
  void comment(const engine::Sentence& sentence) { sections_.back().second += text_.comment(sentence); }
  static std::string quoted(std::string_view word) { return fmt::format("\"{}\"", word); }
  // A number of a field that has a key of this section.
  void field(std::string_view path) {
    const std::string key = text_.key(path);
    line(std::string_view(key).substr(key.rfind('.') + 1), text_.value(path));
  }
  void choice(std::string_view path) {
    const std::string key = text_.key(path);
    line(std::string_view(key).substr(key.rfind('.') + 1), quoted(text_.value(path)));
  }

  void model() {
    section("model");
    const engine::TransformerShape* preset = text_.library().find_model(s_.model.id);
    for (const Flavor& flavor : kFlavors)
      if (flavor.model == s_.model.id && preset != nullptr && *preset == s_.model) {
        line("name", quoted(flavor.name));
        line("flavor", quoted(flavor.flavor));
        has_flavor_ = true;
        return;
      }
    comment(say("export.torchtitan.flavor"));
  }

  void training() {
    section("training");
    const int microbatch = s_.pipeline.microbatch_sequences;
    const bool piped = s_.parallelism.pipeline > 1;
    // All microbatches of a rank go through the pipeline in one fill; without one they are accumulated.
    line("local_batch_size", std::to_string(piped ? microbatch * microbatch_count(s_) : microbatch));
    field("workload.global_batch_sequences");
    field("workload.sequence_length");
    line("steps", text_.run_steps());
    if (engine::sharded_stage(s_) >= 2) {
      const std::string key = text_.key("offload.optimizer");
      line("enable_cpu_offload", s_.offload.optimizer ? "true" : "false");
    }
    text_.said({"pipeline.microbatch_sequences", "workload.kind"});
  }

  void parallelism() {
    section("parallelism");
    const engine::Parallelism& p = s_.parallelism;
    for (const std::string_view path : {"parallelism.data", "parallelism.fsdp", "parallelism.tensor",
                                        "parallelism.context", "parallelism.pipeline"})
      field(path);
    text_.said({"parallelism.sequence_parallel"});
    const int stage = engine::sharded_stage(s_);
    if (stage >= 2) {
      const bool never = stage == 2 || p.keep_gathered == engine::KeepGathered::step;
      line("fsdp_reshard_after_forward", quoted(never ? "never" : "always"));
      // "never" is read as ZeRO 2, whose weights are never sharded at rest here.
      if (!never) text_.said({"parallelism.zero_stage", "parallelism.keep_gathered"});
    }
    if (p.context > 1) choice("parallelism.context_method");
    if (s_.model.is_moe()) {
      field("parallelism.expert");
      line("expert_tensor_parallel_degree", std::to_string(p.expert > 1 ? p.experts_tensor() : 1));
      if (p.expert > 1) text_.said({"parallelism.expert_tensor"});
    }
    if (p.pipeline > 1) pipeline();
  }

  void pipeline() {
    if (s_.pipeline.order) {  // as roofscape-cli trace writes it
      comment(say("export.torchtitan.order"));
      line("pipeline_parallel_schedule", quoted("PipelineScheduleMulti"));
      line("pipeline_parallel_schedule_csv", quoted("order.csv"));
    } else {
      choice("pipeline.schedule");
    }
    field("pipeline.microbatch_sequences");
    const int stages = virtual_stages_of(s_);
    const std::vector<int> layers = split_layers(layer_split(s_), s_.pipeline.schedule, stages);
    line("module_fqns_per_model_part", torchtitan_modules(layers));
    text_.said({"pipeline.layers_per_stage", "pipeline.virtual_stages", "pipeline.embedding_as_layers",
                "pipeline.head_as_layers", "pipeline.backward_order"});
  }

  void checkpointing() {
    section("activation_checkpoint");
    const CheckpointPolicy policy = s_.checkpointing.policy;
    if (policy == CheckpointPolicy::some_blocks) {
      line("mode", quoted("selective"));
      line("selective_ac_option", quoted(std::to_string(engine::every_nth_layer(s_))));
      text_.said({"checkpointing.policy"});
      // How many layers that is follows from the flavor.
      if (has_flavor_) text_.said({"checkpointing.blocks"});
      return;
    }
    choice("checkpointing.policy");
    if (policy == CheckpointPolicy::big_matmuls) line("selective_ac_option", quoted("op"));
  }

  void precision() {
    // Weights and optimizer state of 16 bits, without a copy of 32, are its one other format.
    const bool short_state = s_.precision.weights == Dtype::bf16 &&
                             s_.precision.optimizer == engine::OptimizerKind::adam_bf16 &&
                             s_.precision.master_weights == Dtype::none;
    for (auto& [name, lines] : sections_)
      if (name == "training") {
        lines += fmt::format("dtype = {}\n", quoted(short_state ? "bfloat16" : "float32"));
        lines += fmt::format("mixed_precision_param = {}\n",
                             quoted(s_.precision.compute == Dtype::fp32 ? "float32" : "bfloat16"));
      }
    if (s_.precision.compute != Dtype::fp8) return;
    for (auto& [name, lines] : sections_)
      if (name == "model") lines += "converters = [\"quantize.linear.float8\"]\n";
    section("quantize.linear.float8");
    line("enable_fsdp_float8_all_gather", "true");
    line("precompute_float8_dynamic_scale_for_fsdp", "true");
  }

  LaunchText& text_;
  const engine::Scenario& s_;
  bool has_flavor_ = false;
  std::vector<std::pair<std::string, std::string>> sections_;
};

}  // namespace

std::string torchtitan_toml(LaunchText& text) { return TitanText(text).write(); }

}  // namespace roofscape::io
