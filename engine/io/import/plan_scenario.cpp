#include "engine/io/import/plan_scenario.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "engine/inputs/inputs.h"
#include "engine/io/import/document.h"
#include "engine/io/import/plan_to_scenario.h"
#include "engine/io/json/nearest.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/scenario/scenario_title.h"

namespace roofscape::io {

using engine::say;
using engine::Scenario;
using engine::Sentence;

namespace {

std::string shown_value(const engine::Field& field, double value) {
  if (field.kind == engine::FieldKind::choice) {
    const auto i = static_cast<std::size_t>(value);
    return i < field.choices.size() ? std::string(field.choices[i]) : std::string();
  }
  if (field.kind == engine::FieldKind::boolean) return value != 0 ? "true" : "false";
  return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                              : fmt::format("{}", value);
}

}  // namespace

Result<Imported> PlanToScenario::run() {
  if (auto failure = model()) return *std::move(failure);
  if (auto failure = overrides()) return *std::move(failure);
  if (auto failure = no_contradictions()) return *std::move(failure);
  if (auto failure = cluster()) return *std::move(failure);
  if (auto failure = fields()) return *std::move(failure);
  stored();
  check_model();
  if (auto failure = chips()) return *std::move(failure);
  fold_devices();
  reserve();
  batch();
  if (auto failure = run_length()) return *std::move(failure);
  if (auto failure = stages()) return *std::move(failure);
  told_defaults();
  if (auto failure = last_word()) return *std::move(failure);
  finish();
  return std::move(out_);
}

InputError PlanToScenario::at(const Origin& origin, Sentence message, Sentence remedy) const {
  InputError error = line_error(file_, origin.line, std::move(message), std::move(remedy));
  error.path = origin.key;
  return error;
}

Failure PlanToScenario::model() {
  for (const std::string& assignment : request_.set)
    if (assignment.starts_with("model=")) {
      if (auto failure = set(assignment)) return failure;
      has_model_ = true;
      // Sizes of the file belong to the model that was replaced.
      std::erase_if(plan_.fields, [&](const StatedField& field) {
        if (!field.path.starts_with("model.")) return false;
        out_.overridden.push_back(
            {field.origin.key, field.origin.line, field.path, field.written, "--set " + assignment});
        return true;
      });
      std::erase_if(plan_.defaults, [](const DefaultField& field) { return field.path.starts_with("model."); });
      std::erase_if(plan_.missing, [](const MissingValue& value) { return value.field.starts_with("model"); });
      return std::nullopt;
    }
  if (plan_.shape) {
    s().model = plan_.shape->value;
    has_model_ = true;
    read(plan_.shape->origin, "model", s().model.name);
  } else if (plan_.model) {
    const Preset* preset = library_.meant(PresetKind::model, plan_.model->value);
    if (preset != nullptr) {
      s().model = *library_.find_model(preset->id);
      has_model_ = true;
      read(plan_.model->origin, "model", plan_.model_written.empty() ? plan_.model->value : plan_.model_written);
    } else {
      InputError error = library_.not_meant(PresetKind::model, plan_.model->value);
      plan_.warn(say("import.model_unknown", plan_.model->origin.key, in_quotes(plan_.model->value)),
                 plan_.model->origin.line);
    }
  }
  return std::nullopt;
}

Failure PlanToScenario::set(const std::string& assignment) {
  auto failure = set_field(s(), assignment, library_);
  if (failure) failure->file = "--set";
  return failure;
}

Failure PlanToScenario::overrides() {
  for (const std::string& assignment : request_.set) {
    const std::string path = assignment.substr(0, assignment.find('='));
    const engine::Field* field = engine::find_field(path);
    if (field == nullptr || path.starts_with("cluster.")) continue;
    Scenario scratch = s();
    if (auto failure = set_field(scratch, assignment, library_)) {
      failure->file = "--set";
      return failure;
    }
    const double value = field->get(scratch);
    const std::string by = "--set " + assignment;
    std::erase_if(plan_.fields, [&](const StatedField& stated) {
      if (stated.path != path) return false;
      out_.overridden.push_back({stated.origin.key, stated.origin.line, path, stated.written, by});
      return true;
    });
    std::erase_if(plan_.defaults, [&](const DefaultField& stated) { return stated.path == path; });
    std::erase_if(plan_.missing, [&](const MissingValue& stated) { return stated.field == path; });
    const auto replace = [&](auto& stated) {
      if (stated)
        out_.overridden.push_back(
            {stated->origin.key, stated->origin.line, path, fmt::format("{}", stated->value), by});
      stated.reset();
    };
    if (path == kDataPath || path == kFsdpPath) {
      Maybe<int>& degree = path == kDataPath ? plan_.data : plan_.fsdp;
      replace(degree);
      degree = {static_cast<int>(value), {by, 0}};
      continue;
    }
    if (path == kBatchPath) {
      replace(plan_.batch_of_rank);
      replace(plan_.accumulation);
      replace(plan_.batch_per_device);
    }
    if (path == kLengthPath) {
      replace(plan_.train_steps);
      replace(plan_.train_sequences);
    }
    if (path == "pipeline.virtual_stages" || path == "parallelism.pipeline") {
      plan_.layers_per_stage.reset();
      plan_.layout.reset();
      if (path == "pipeline.virtual_stages") replace(plan_.layers_per_virtual_stage);
    }
    own_.push_back({path, value, assignment.substr(path.size() + 1), {by, 0}});
  }
  return std::nullopt;
}

Failure PlanToScenario::no_contradictions() const {
  for (std::size_t i = 0; i < plan_.fields.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) {
      const StatedField &a = plan_.fields[k], &b = plan_.fields[i];
      if (a.path != b.path || a.value == b.value) continue;
      return at(b.origin,
                say("error.import.two_sources", b.path, a.origin.key + " " + a.written, a.origin.line,
                    b.origin.key + " " + b.written, b.origin.line),
                say("error.import.two_sources.remedy", "--set " + b.path + "=..."));
    }
  return std::nullopt;
}

InputError PlanToScenario::out_of_domain(const engine::Field& field, const Origin& origin,
                                         const std::string& written) const {
  return at(origin, say("error.import.out_of_domain", in_quotes(written)),
            say("error.give", engine::domain_of(field)));
}

Failure PlanToScenario::put(const StatedField& stated) {
  const engine::Field* field = engine::find_field(stated.path);
  if (field == nullptr) return at(stated.origin, say("error.unknown_field"));
  if (!engine::in_domain(*field, stated.value))
    return out_of_domain(*field, stated.origin,
                         stated.written.empty() ? fmt::format("{}", stated.value) : stated.written);
  field->set(s(), stated.value);
  return std::nullopt;
}

Failure PlanToScenario::fields() {
  for (const DefaultField& value : plan_.defaults) {
    if (plan_.stated(value.path) != nullptr) continue;
    const double number = value.of_chip != nullptr && has_cluster_ ? value.of_chip(s().cluster.chip) : value.value;
    if (auto failure = put({value.path, number, {}, {value.path, 0}})) return failure;
    assumed(value.path, shown_value(*engine::find_field(value.path), number), value.why);
  }
  for (std::size_t i = 0; i < plan_.fields.size(); ++i) {
    const StatedField& stated = plan_.fields[i];
    if (auto failure = put(stated)) return failure;
    read(stated.origin, stated.path,
         stated.written.empty() ? shown_value(*engine::find_field(stated.path), stated.value) : stated.written);
  }
  for (const StatedField& stated : own_) {
    if (auto failure = put(stated)) return failure;
    read(stated.origin, stated.path, stated.written);
  }
  s().model.edits = {};  // reading is not editing
  return shape_in_domain();
}

Failure PlanToScenario::shape_in_domain() {
  if (!plan_.shape) return std::nullopt;
  for (const engine::Field& field : engine::scenario_fields()) {
    const double value = field.get(s());
    if (!field.path.starts_with("model.") || engine::in_domain(field, value)) continue;
    return out_of_domain(field, {std::string(field.path), plan_.shape->origin.line}, shown_value(field, value));
  }
  return std::nullopt;
}

void PlanToScenario::stored() {
  if (plan_.stored) {
    const HfStored& formats = plan_.stored->value;
    const Origin& origin = plan_.stored->origin;
    if (formats.weights == engine::Dtype::none) {
      plan_.warn(say("import.stored.unknown", in_quotes(formats.written)), origin.line);
    } else if (!s().serves()) {
      plan_.warn(
          say("import.stored.training", in_quotes(formats.written), std::string("--set workload.kind=serving")),
          origin.line);
    } else {
      const auto take = [&](std::string_view path, engine::Dtype& field, engine::Dtype dtype) {
        if (given(path) || dtype == engine::Dtype::none) return;
        field = dtype;
        read(origin, path, formats.written);
      };
      take("precision.weights", s().precision.weights, formats.weights);
      take("precision.compute", s().precision.compute, formats.compute);
      take("precision.kv_cache", s().precision.kv_cache, formats.kv_cache);
    }
  }
  constexpr std::string_view kCompute = "precision.compute";
  const bool own =
      std::any_of(own_.begin(), own_.end(), [&](const StatedField& field) { return field.path == kCompute; });
  const engine::Dtype runs = engine::served_compute(s().precision.compute, s().cluster.chip);
  if (!s().serves() || !has_cluster_ || own || runs == s().precision.compute) return;
  const std::string wanted = shown_value(*engine::find_field(kCompute), static_cast<double>(s().precision.compute));
  s().precision.compute = runs;
  std::erase_if(out_.read, [&](const ReadValue& row) { return row.field == kCompute; });
  std::erase_if(out_.assumed, [&](const AssumedValue& row) { return row.field == kCompute; });
  assumed(kCompute, shown_value(*engine::find_field(kCompute), static_cast<double>(runs)),
          say("import.why.widened", s().cluster.chip.name, wanted));
}

bool PlanToScenario::said(std::string_view path) const {
  const auto of_path = [&](const auto& row) { return row.field == path; };
  return std::any_of(out_.read.begin(), out_.read.end(), of_path) ||
         std::any_of(out_.assumed.begin(), out_.assumed.end(), of_path) ||
         std::any_of(out_.missing.begin(), out_.missing.end(), of_path) ||
         std::any_of(plan_.missing.begin(), plan_.missing.end(), of_path);
}

bool PlanToScenario::given(std::string_view path) const {
  return plan_.value_of(path).has_value() ||
         std::any_of(own_.begin(), own_.end(), [&](const StatedField& field) { return field.path == path; });
}

void PlanToScenario::check_model() {
  if (has_model_) return;
  const bool sized = given("model.n_layers") || given("model.d_model");
  if (!sized) {
    missing("model", "--set model=...");
    return;
  }
  for (const std::string_view path : {"model.n_layers", "model.d_model", "model.d_ff", "model.n_heads"})
    if (!given(path)) missing_set(path);
  engine::TransformerShape& m = s().model;
  if (!given("model.n_kv_heads")) m.n_kv_heads = m.n_heads;
  if (!given("model.d_head") && m.n_heads > 0) m.d_head = std::max(1, m.d_model / m.n_heads);
  if (given("model.vocab_size") || (!out_.missing.empty() && out_.missing.back().field.starts_with("model."))) {
    if (!given("model.vocab_size")) missing_set("model.vocab_size");
    return;
  }
  const Preset* alike = nullptr;
  int vocabulary = 0;
  for (const Preset& preset : library_.list(PresetKind::model)) {
    engine::TransformerShape known = *library_.find_model(preset.id);
    if (known.n_layers != m.n_layers || known.d_model != m.d_model || known.d_ff != m.d_ff ||
        known.n_heads != m.n_heads || known.n_kv_heads != m.n_kv_heads ||
        known.moe.n_routed_experts != m.moe.n_routed_experts)
      continue;
    if (alike != nullptr && vocabulary != known.vocab_size)
      return missing_set("model.vocab_size");  // two of one shape
    alike = &preset;
    vocabulary = known.vocab_size;
  }
  if (alike == nullptr) return missing_set("model.vocab_size");
  m.vocab_size = vocabulary;
  assumed("model.vocab_size", std::to_string(vocabulary), say("import.why.as_model", alike->name));
}

void PlanToScenario::told_defaults() {
  constexpr std::string_view kTraining[] = {"parallelism.zero_stage", "parallelism.sequence_parallel",
                                            "workload.train_tokens",  "pipeline.microbatch_sequences",
                                            "checkpointing.policy",   "precision.compute",
                                            "precision.weights",      "precision.gradients",
                                            "precision.optimizer",    "precision.master_weights"};
  constexpr std::string_view kServing[] = {"precision.compute", "precision.weights", "workload.prompt_tokens",
                                           "workload.output_tokens", "workload.batch"};
  const auto tell = [&](std::span<const std::string_view> paths) {
    for (const std::string_view path : paths)
      if (!given(path) && !said(path))
        assumed(path, shown_value(*engine::find_field(path), engine::find_field(path)->get(s())),
                say("import.why.ours"));
  };
  if (s().serves())
    tell(kServing);
  else
    tell(kTraining);
  if (!given("assumptions.mode") && has_cluster_) {
    const bool measured = s().cluster.chip.calibration != engine::Calibration{};
    s().assumptions.mode = measured ? engine::Mode::calibrated : engine::Mode::ideal;
    assumed("assumptions.mode", measured ? "calibrated" : "ideal", say("import.why.mode"));
  }
}

Failure PlanToScenario::last_word() {
  for (const std::string& assignment : request_.set) {
    const std::string path = assignment.substr(0, assignment.find('='));
    if (path == "cluster" || path == "model" || path == kDataPath || path == kFsdpPath) continue;
    if (engine::find_field(path) != nullptr && !path.starts_with("cluster.")) continue;
    if (auto failure = set(assignment)) return failure;
    std::erase_if(out_.missing, [&](const MissingValue& value) { return value.field == path; });
  }
  return std::nullopt;
}

void PlanToScenario::finish() {
  for (MissingValue& value : plan_.missing) missing(value.field, value.option);
  const std::filesystem::path path{std::string(file_)};
  std::string name = plan_.name.empty() ? path.stem().string() : plan_.name;
  if (name.empty()) name = "imported";
  if (s().model.name.empty()) s().model.name = name;
  if (s().model.source.empty()) s().model.source = path.filename().string();
  engine::set_name(s(), std::move(name));
  std::move(plan_.read.begin(), plan_.read.end(), std::back_inserter(out_.read));
  out_.ignored = std::move(plan_.ignored);
  out_.notices = std::move(plan_.notices);
  std::stable_sort(out_.read.begin(), out_.read.end(),
                   [](const ReadValue& a, const ReadValue& b) { return a.line < b.line; });
  std::stable_sort(out_.ignored.begin(), out_.ignored.end(),
                   [](const IgnoredKey& a, const IgnoredKey& b) { return a.line < b.line; });
}

bool Imported::is_missing(std::string_view field) const {
  return std::any_of(missing.begin(), missing.end(), [&](const MissingValue& value) { return value.field == field; });
}

bool Imported::has_errors() const {
  return std::any_of(notices.begin(), notices.end(), [](const ImportNotice& notice) { return notice.error; });
}

Result<Imported> plan_scenario(LaunchPlan plan, std::string_view file, const ImportRequest& request,
                               const PresetLibrary& library) {
  return PlanToScenario(std::move(plan), file, request, library).run();
}

}  // namespace roofscape::io
