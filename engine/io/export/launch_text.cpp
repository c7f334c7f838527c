#include "engine/io/export/launch_text.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include <fmt/format.h>

#include "engine/base/utf8.h"
#include "engine/frameworks/rules.h"
#include "engine/io/presets/parts_json.h"
#include "engine/io/scenario/scenario_write.h"
#include "engine/pipeline/schedules.h"
#include "engine/scenario/checkpoint_policies.h"
#include "engine/scenario/mesh_size.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/scenario/scenario_title.h"

namespace roofscape::io {

using engine::Field;
using engine::say;
using engine::Scenario;

namespace {

std::string field_text(const Field& field, double value) {
  const OrderedJson json = field_json(field, value);
  return json.is_string() ? json.get<std::string>() : json.dump();
}

bool starts_with_any(std::string_view path, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return path.starts_with(prefix); });
}

// Fields that reading a launch file gives defaults of the framework, which may not be ours.
bool has_other_defaults(std::string_view path) {
  for (const std::string_view same : {"pipeline.group_size", "pipeline.sends", "pipeline.backward_order",
                                      "precision.residual", "offload.optimizer_fraction"})
    if (path == same) return false;
  return path == "assumptions.mode" || starts_with_any(path, {"parallelism.", "pipeline.", "checkpointing.", "muon.",
                                                              "precision.", "offload.", "workload."});
}

// A name may have ends of lines in it, also those that only YAML takes for ends; none may leave the comment.
std::string comment_line(std::string_view text) {
  std::string line = engine::without_controls(text);
  for (const std::string_view end : {"\n", "\t", "\u2028", "\u2029"})
    for (std::size_t at = 0; (at = line.find(end, at)) != std::string::npos;) line.replace(at, end.size(), " ");
  return "# " + line + '\n';
}

}  // namespace

bool field_matters(const Scenario& s, std::string_view path) {
  const engine::Parallelism& p = s.parallelism;
  if (path == engine::kLayersByHand || path == engine::kGivenOrder) return false;
  if (path == "parallelism.context_method") return p.context > 1;
  if (path == "placement.order") return engine::rank_order_matters(s.cluster, p);
  if (path == "parallelism.zero_stage") return p.fsdp * p.context > 1;
  if (path == "parallelism.keep_gathered") return engine::sharded_stage(s) == 3;
  if (path == "parallelism.sequence_parallel") return p.tensor > 1;
  if (path == "parallelism.expert" || path == "parallelism.expert_tensor") return s.model.is_moe();
  if (path == "checkpointing.k" || path == "checkpointing.blocks" || path == "checkpointing.segments") {
    using engine::CheckpointCount;
    const CheckpointCount count = engine::facts_of(s.checkpointing.policy).count;
    return count == (path == "checkpointing.k"        ? CheckpointCount::k
                     : path == "checkpointing.blocks" ? CheckpointCount::blocks
                                                      : CheckpointCount::segments);
  }
  if (path.starts_with("pipeline.") && path != "pipeline.microbatch_sequences") {
    const engine::ScheduleFacts& facts = engine::facts_of(s.pipeline.schedule);
    if (p.pipeline == 1) return false;
    if (path == "pipeline.group_size") return facts.takes_groups;
    if (path == "pipeline.backward_order") return facts.orders_backwards;
    if (path == "pipeline.embedding_as_layers" || path == "pipeline.head_as_layers")
      return s.pipeline.layers_per_stage.empty();
  }
  if (path == "adapter.targets" || path == "adapter.experts") return s.adapter.rank > 0;
  if (path == "offload.optimizer_fraction") return s.offload.optimizer;
  if (path.starts_with("muon.")) return engine::is_muon(s.precision.optimizer);
  if (path.starts_with("assumptions.custom.")) return s.assumptions.mode == engine::Mode::custom;
  if (path.starts_with("workload.lengths.")) return s.workload.has_lengths();
  if (path.starts_with("serving.prefill.")) return s.serving.disaggregated;
  if (path == "serving.acceptance_rate" || path == "serving.draft_cost") return s.serving.draft_tokens > 0;
  return true;
}

std::string LaunchText::key(std::string_view path) {
  said_.emplace(path);
  return std::string(engine::key_for(framework_, path));
}

std::string LaunchText::value(std::string_view path) const {
  const Field* field = engine::find_field(path);
  std::string text = field_text(*field, field->get(s_));
  if (field->kind == engine::FieldKind::choice)
    if (const std::string_view word = engine::word_for(framework_, path, text); !word.empty())
      return std::string(word);
  return text;
}

void LaunchText::said(std::initializer_list<std::string_view> paths) {
  for (const std::string_view path : paths) said_.emplace(path);
}

std::vector<std::string> LaunchText::notes() const {
  std::vector<std::string> out;
  const auto part = [&out](std::string_view path, const OrderedJson& json) {
    out.push_back(std::string(path) + "=" + (json.is_string() ? json.get<std::string>() : json.dump()));
  };
  const OrderedJson model = model_json(s_.model, library_);
  const bool named = model.is_string();
  const bool sized = said_.contains("model.d_model");
  if (named || !sized) part("model", model);
  const auto clusters = library_.list(PresetKind::cluster);
  const auto cluster = std::find_if(clusters.begin(), clusters.end(), [this](const Preset& preset) {
    return *library_.find_cluster(preset.id) == s_.cluster;
  });
  if (cluster != clusters.end())
    out.push_back("cluster=" + cluster->id);
  else
    part("cluster", cluster_json(s_.cluster, library_));
  const bool idle = engine::mesh_chips(s_.parallelism) != static_cast<double>(engine::chip_count(s_.cluster));
  const Scenario defaults;
  for (const Field& field : engine::scenario_fields()) {
    const std::string_view path = field.path;
    // Which ranks share the batch cannot follow from chips of which some are idle.
    const bool ranks = idle && (path == "parallelism.data" || path == "parallelism.fsdp");
    const bool bent = bent_.contains(path) || ranks;
    if (path.starts_with("cluster.") || (path.starts_with("model.") && (named || !sized) && !bent)) continue;
    if ((said_.contains(path) && !ranks) || !engine::applies(field, s_.workload.kind) || !field_matters(s_, path))
      continue;
    double value = field.get(s_);
    // Ranks that share the batch and no state are those of data.
    if (ranks && engine::sharded_stage(s_) == 0)
      value = path == "parallelism.data" ? static_cast<double>(engine::data_ranks(s_.parallelism)) : 1;
    // torchtitan's software is read from it; of the others it follows from the plan.
    const bool implied = framework_ == engine::Framework::torchtitan && path == "assumptions.stack";
    if (value == field.get(defaults) && !has_other_defaults(path) && !implied && !bent) continue;
    out.push_back(std::string(path) + "=" + field_text(field, value));
  }
  if (s_.parallelism.pipeline > 1 && !s_.pipeline.layers_per_stage.empty() &&
      !said_.contains(std::string_view("pipeline.layers_per_stage"))) {
    std::string layers;
    for (const int n : s_.pipeline.layers_per_stage) layers += (layers.empty() ? "" : ",") + std::to_string(n);
    out.push_back("pipeline.layers_per_stage=" + layers);
  }
  return out;
}

std::string LaunchText::comment(const engine::Sentence& sentence) const { return comment_line(text(sentence)); }

std::string LaunchText::run_steps() {
  const engine::Workload& w = s_.workload;
  const double steps = w.train_tokens / (static_cast<double>(w.global_batch_sequences) * w.sequence_length);
  if (steps >= 1 && steps == std::floor(steps)) said({"workload.train_tokens"});
  return fmt::format("{:.0f}", std::max(1.0, std::ceil(steps)));
}

std::string LaunchText::header() const {
  std::string out = comment(say("export.header", engine::scenario_title(s_), framework_name(framework_))) +
                    comment(say("export.notes", framework_name(framework_)));
  for (const std::string& note : notes()) out += comment_line(std::string(kNoteMark) + note);
  return out;
}

}  // namespace roofscape::io
