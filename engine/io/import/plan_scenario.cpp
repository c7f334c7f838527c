#include "engine/io/import/plan_scenario.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>

#include "engine/inputs/inputs.h"
#include "engine/io/import/cluster_request.h"
#include "engine/io/import/document.h"
#include "engine/io/json/nearest.h"
#include "engine/io/scenario/layer_layout.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/mesh_size.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/scenario/scenario_title.h"

namespace roofscape::io {

using engine::say;
using engine::Scenario;
using engine::Sentence;

namespace {

constexpr std::string_view kBatchPath = "workload.global_batch_sequences";
constexpr std::string_view kDataPath = "parallelism.data", kFsdpPath = "parallelism.fsdp";

std::string shown_value(const engine::Field& field, double value) {
  if (field.kind == engine::FieldKind::choice) {
    const auto i = static_cast<std::size_t>(value);
    return i < field.choices.size() ? std::string(field.choices[i]) : std::string();
  }
  if (field.kind == engine::FieldKind::boolean) return value != 0 ? "true" : "false";
  return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                              : fmt::format("{}", value);
}

class PlanToScenario {
 public:
  PlanToScenario(LaunchPlan plan, std::string_view file, const ImportRequest& request, const PresetLibrary& library)
      : plan_(std::move(plan)), file_(file), request_(request), library_(library) {}

  Result<Imported> run() {
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
    if (auto failure = stages()) return *std::move(failure);
    told_defaults();
    if (auto failure = last_word()) return *std::move(failure);
    finish();
    return std::move(out_);
  }

 private:
  Scenario& s() { return out_.scenario; }

  void missing(std::string_view field, std::string option) {
    if (!out_.is_missing(field)) out_.missing.push_back({std::string(field), std::move(option)});
  }
  void missing_set(std::string_view field) { missing(field, "--set " + std::string(field) + "=..."); }
  void assumed(std::string_view field, std::string value, Sentence why) {
    out_.assumed.push_back({std::string(field), std::move(value), std::move(why)});
  }
  void read(const Origin& origin, std::string_view field, std::string value) {
    out_.read.push_back({origin.key, origin.line, std::string(field), std::move(value)});
  }
  InputError at(const Origin& origin, Sentence message, Sentence remedy = {}) const {
    InputError error = line_error(file_, origin.line, std::move(message), std::move(remedy));
    error.path = origin.key;
    return error;
  }

  // By name or by shape; what --set names goes over both.
  Failure model() {
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

  Failure set(const std::string& assignment) {
    auto failure = set_field(s(), assignment, library_);
    if (failure) failure->file = "--set";
    return failure;
  }

  // What --set says of single fields comes before the arithmetic, so that degrees that follow from others follow.
  Failure overrides() {
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
      if (path == "pipeline.virtual_stages" || path == "parallelism.pipeline") {
        plan_.layers_per_stage.reset();
        plan_.layout.reset();
        if (path == "pipeline.virtual_stages") replace(plan_.layers_per_virtual_stage);
      }
      own_.push_back({path, value, assignment.substr(path.size() + 1), {by, 0}});
    }
    return std::nullopt;
  }

  // One field, two values: neither is taken.
  Failure no_contradictions() const {
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

  // A mesh of which every degree is known says how many chips there are. They have no origin of their own.
  void imply_chips(bool asked) {
    if (plan_.chips) return;
    double chips = 1;
    for (const std::string_view path :
         {kDataPath, kFsdpPath, std::string_view("parallelism.tensor"), std::string_view("parallelism.context"),
          std::string_view("parallelism.pipeline")}) {
      const Maybe<int>* degree = path == kDataPath ? &plan_.data : path == kFsdpPath ? &plan_.fsdp : nullptr;
      auto value = degree != nullptr && *degree ? std::optional<double>((*degree)->value) : plan_.value_of(path);
      for (const StatedField& own : own_)
        if (own.path == path) value = own.value;
      if (!value && asked && plan_.rest_alone && plan_.rest_alone->path == path) value = plan_.rest_alone->value;
      if (!value) return;
      chips *= *value;
    }
    if (chips >= 1 && chips <= (1 << 20)) plan_.chips = {static_cast<int>(chips), {}};
  }

  Failure cluster() {
    std::string wish = request_.cluster;
    for (const std::string& assignment : request_.set)
      if (assignment.starts_with("cluster=")) wish = assignment.substr(8);
    if (wish.empty() && plan_.chip && plan_.chips) {
      wish = plan_.chip->value;
      read(plan_.chip->origin, "cluster.chip", wish);
    }
    imply_chips(!wish.empty());
    if (wish.empty()) {
      missing(plan_.chips ? "cluster.chip" : "cluster", "--cluster");
      return std::nullopt;
    }
    auto cluster = requested_cluster(wish, plan_, library_);
    if (!cluster) return cluster.error();
    s().cluster = std::move(cluster->cluster);
    has_cluster_ = cluster->counted;
    if (!has_cluster_) {
      const std::size_t colon = wish.rfind(':');
      missing("cluster.chips", "--cluster " + wish.substr(0, colon) + ":N");
      return std::nullopt;
    }
    if (plan_.chips && !plan_.chips->origin.key.empty() && cluster->own_count &&
        engine::chip_count(s().cluster) != plan_.chips->value / plan_.devices_per_chip)
      out_.overridden.push_back({plan_.chips->origin.key, plan_.chips->origin.line, "cluster.chips",
                                 std::to_string(plan_.chips->value), "--cluster " + wish});
    return std::nullopt;
  }

  InputError out_of_domain(const engine::Field& field, const Origin& origin, const std::string& written) const {
    return at(origin, say("error.import.out_of_domain", in_quotes(written)),
              say("error.give", engine::domain_of(field)));
  }

  Failure put(const StatedField& stated) {
    const engine::Field* field = engine::find_field(stated.path);
    if (field == nullptr) return at(stated.origin, say("error.unknown_field"));
    if (!engine::in_domain(*field, stated.value))
      return out_of_domain(*field, stated.origin,
                           stated.written.empty() ? fmt::format("{}", stated.value) : stated.written);
    field->set(s(), stated.value);
    return std::nullopt;
  }

  Failure fields() {
    for (const DefaultField& value : plan_.defaults) {
      if (plan_.stated(value.path) != nullptr) continue;
      if (auto failure = put({value.path, value.value, {}, {value.path, 0}})) return failure;
      assumed(value.path, shown_value(*engine::find_field(value.path), value.value), value.why);
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

  // A reader takes the sizes of a shape as the file has them; those that a scenario may not have are refused by name.
  Failure shape_in_domain() {
    if (!plan_.shape) return std::nullopt;
    for (const engine::Field& field : engine::scenario_fields()) {
      const double value = field.get(s());
      if (!field.path.starts_with("model.") || engine::in_domain(field, value)) continue;
      return out_of_domain(field, {std::string(field.path), plan_.shape->origin.line}, shown_value(field, value));
    }
    return std::nullopt;
  }

  // The formats of a quantised checkpoint are those of a server. Training starts from weights of 16 bits or more.
  void stored() {
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
    s().precision.compute = runs;
    std::erase_if(out_.read, [&](const ReadValue& row) { return row.field == kCompute; });
    assumed(kCompute, shown_value(*engine::find_field(kCompute), static_cast<double>(runs)),
            say("import.why.widened", s().cluster.chip.name));
  }

  // Whether the receipt has it already: as something that follows, or as missing.
  bool said(std::string_view path) const {
    const auto of_path = [&](const auto& row) { return row.field == path; };
    return std::any_of(out_.assumed.begin(), out_.assumed.end(), of_path) ||
           std::any_of(out_.missing.begin(), out_.missing.end(), of_path) ||
           std::any_of(plan_.missing.begin(), plan_.missing.end(), of_path);
  }
  bool given(std::string_view path) const {
    return plan_.value_of(path).has_value() ||
           std::any_of(own_.begin(), own_.end(), [&](const StatedField& field) { return field.path == path; });
  }

  // A model of sizes alone needs those that decide its shape. One that is known by its shape has its vocabulary.
  void check_model() {
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

  // Chips among the axes: those that are stated, and the rest axis of what they leave.
  Failure chips() {
    engine::Parallelism& p = s().parallelism;
    if (has_cluster_ && plan_.devices_of != nullptr) plan_.devices_per_chip = plan_.devices_of(s().cluster.chip);
    default_degrees();
    const std::int64_t inner = std::int64_t{p.tensor} * p.context * p.pipeline;
    const std::int64_t expert_tensor = p.experts_tensor();
    // Experts lie in the data, context and, folded, the tensor ranks of one stage.
    std::int64_t least = inner;
    if (p.expert > 1) least = std::lcm(std::int64_t{p.tensor} * p.context, expert_tensor * p.expert) * p.pipeline;
    const std::int64_t stated =
        std::int64_t{plan_.data ? plan_.data->value : 1} * (plan_.fsdp ? plan_.fsdp->value : 1);
    if (plan_.data && (plan_.data->value < 1 || plan_.data->value > 65536))
      return at(plan_.data->origin, say("error.import.out_of_domain", std::to_string(plan_.data->value)));
    if (plan_.fsdp && (plan_.fsdp->value < 1 || plan_.fsdp->value > 65536))
      return at(plan_.fsdp->origin, say("error.import.out_of_domain", std::to_string(plan_.fsdp->value)));
    least = std::lcm(least, stated * inner);
    if (!plan_.fsdp) least = std::lcm(least, stated * inner * plan_.fsdp_multiple);
    minimum_chips_ = least;

    std::optional<std::int64_t> have;
    if (has_cluster_)
      have = engine::chip_count(s().cluster) * plan_.devices_per_chip;
    else if (plan_.chips)
      have = plan_.chips->value;
    if (!have && plan_.rest_alone) {
      (plan_.rest_alone->path == kDataPath ? plan_.data : plan_.fsdp) = {static_cast<int>(plan_.rest_alone->value),
                                                                         {}};
      assumed(plan_.rest_alone->path, fmt::format("{:.0f}", plan_.rest_alone->value), plan_.rest_alone->why);
    }
    if (plan_.data && plan_.fsdp) {
      p.data = plan_.data->value;
      p.fsdp = plan_.fsdp->value;
      read_degree(plan_.data, kDataPath);
      read_degree(plan_.fsdp, kFsdpPath);
      ranks_known_ = true;
      if (!have) stand_in(stated * inner);
      if (have && *have < stated * inner) plan_.fail(say("import.too_few_chips", *have, stated * inner));
      state_chips(have);
      return std::nullopt;
    }
    read_degree(plan_.data, kDataPath);
    read_degree(plan_.fsdp, kFsdpPath);
    p.data = plan_.data ? plan_.data->value : 1;
    p.fsdp = plan_.fsdp ? plan_.fsdp->value : 1;
    if (have && *have % least != 0) {
      plan_.fail(say("import.not_a_multiple", *have, least, p.tensor, p.context, p.pipeline, p.expert),
                 plan_.chips && !has_cluster_ ? plan_.chips->origin.line : 0);
      have.reset();
      if (!has_cluster_) {
        std::erase_if(out_.missing, [](const MissingValue& value) { return value.field == "cluster.chip"; });
        out_.missing.insert(out_.missing.begin(), {"cluster", "--cluster"});
      }
    }
    if (!have || *have % least != 0) {
      if (!plan_.data) missing(kDataPath, "--cluster");
      if (!plan_.fsdp) missing(kFsdpPath, "--cluster");
      if (!has_cluster_) stand_in(least);
      return std::nullopt;
    }
    const std::int64_t ranks = *have / inner;
    const bool to_data = plan_.fsdp || (!plan_.data && plan_.rest == RestAxis::data);
    const std::int64_t rest = ranks / stated;
    if (rest > 65536) {
      plan_.fail(say("import.not_a_multiple", *have, least, p.tensor, p.context, p.pipeline, p.expert));
      return std::nullopt;
    }
    (to_data ? p.data : p.fsdp) = static_cast<int>(rest);
    assumed(to_data ? kDataPath : kFsdpPath, std::to_string(rest), say("import.why.rest", *have, inner * stated));
    ranks_known_ = true;
    if (!has_cluster_) stand_in(*have);
    state_chips(have);
    return std::nullopt;
  }

  // A degree that is the framework's default is as good as a stated one. It has no origin.
  void default_degrees() {
    for (const DefaultField& value : plan_.defaults) {
      if (value.path != kDataPath && value.path != kFsdpPath) continue;
      Maybe<int>& degree = value.path == kDataPath ? plan_.data : plan_.fsdp;
      if (degree) continue;
      int size = static_cast<int>(value.value);
      if (value.path == kDataPath && plan_.data_times_slices && has_cluster_ &&
          s().cluster.chip.interconnect == engine::Interconnect::torus) {
        size *= s().cluster.slices;
        for (AssumedValue& told : out_.assumed)
          if (told.field == kDataPath) told.value = std::to_string(size);
      }
      degree = {size, {}};
    }
  }
  void read_degree(const Maybe<int>& degree, std::string_view path) {
    if (degree && !degree->origin.key.empty()) read(degree->origin, path, std::to_string(degree->value));
  }

  // Ranks of devices as ranks of chips: one chip takes the sequences of its devices.
  void fold_devices() {
    const int each = plan_.devices_per_chip;
    if (each == 1 || !ranks_known_) return;
    engine::Parallelism& p = s().parallelism;
    int& degree = p.fsdp % each == 0 ? p.fsdp : p.data;
    if (degree % each != 0) return plan_.fail(say("import.devices_odd", each, p.data, p.fsdp));
    degree /= each;
    s().pipeline.microbatch_sequences *= each;
    if (plan_.batch_of_rank) plan_.batch_of_rank->value *= each;
    plan_.warn(say("import.devices", each, degree * each, degree));
  }

  void state_chips(std::optional<std::int64_t> have) {
    if (!have || !plan_.chips || has_cluster_) return;
    if (plan_.chips->origin.key.empty())
      assumed("cluster.chips", std::to_string(*have), say("import.why.degrees"));
    else
      read(plan_.chips->origin, "cluster.chips", std::to_string(*have));
  }

  // Until a cluster is chosen the scenario has one that holds the mesh.
  void stand_in(std::int64_t chips) {
    const engine::Cluster* start = library_.find_cluster("h100-16k");
    if (start == nullptr) start = library_.find_cluster(kDefaultCluster);
    if (start == nullptr) return;
    if (chips <= (1 << 20))
      if (const auto cluster = cluster_of(start->chip, static_cast<int>(chips),
                                          plan_.chips_per_node ? plan_.chips_per_node->value : 0)) {
        s().cluster = *cluster;
        return;
      }
    s().cluster = *start;
  }

  // What a server leaves of a chip's memory.
  void reserve() {
    constexpr std::string_view kPath = "assumptions.reserve_bytes";
    if (!has_cluster_ || !plan_.memory_share || given(kPath)) return;
    const auto capacity = s().cluster.chip[engine::ChipField::hbm_bytes].value;
    if (!capacity) return;
    const double bytes = std::floor((1 - plan_.memory_share->value) * *capacity);
    s().assumptions.reserve_bytes = bytes;
    const Origin& origin = plan_.memory_share->origin;
    if (origin.line > 0 || given("workload.kind"))
      read(origin, kPath, fmt::format("{:g}", plan_.memory_share->value));
  }

  // Of a batch, its ranks and their passes follows the microbatch.
  void microbatch() {
    constexpr std::string_view kPath = "pipeline.microbatch_sequences";
    if (!plan_.accumulation || given(kPath) || !given(kBatchPath)) return;
    if (!ranks_known_) return missing(kPath, "--cluster");
    const std::int64_t passes = engine::data_ranks(s().parallelism) * plan_.accumulation->value;
    const int batch = s().workload.global_batch_sequences;
    if (batch % passes != 0) {
      plan_.fail(say("import.microbatch_not_whole", batch, passes));
      return missing_set(kPath);
    }
    s().pipeline.microbatch_sequences = static_cast<int>(batch / passes);
    assumed(kPath, std::to_string(batch / passes), say("import.why.microbatch", batch, passes));
  }

  void batch() {
    if (s().serves()) return;
    microbatch();
    const std::int64_t ranks = engine::data_ranks(s().parallelism);
    const auto take = [&](const Origin& origin, double sequences) {
      if (!(sequences >= 1) || sequences > (1 << 24) || sequences != std::floor(sequences)) {
        plan_.fail(say("import.batch_not_whole", origin.key, fmt::format("{:g}", sequences)), origin.line);
        missing_set(kBatchPath);
        return;
      }
      s().workload.global_batch_sequences = static_cast<int>(sequences);
      assumed(kBatchPath, fmt::format("{:.0f}", sequences), say("import.why.batch", origin.key));
    };
    if (given(kBatchPath)) {
      // Stated outright.
    } else if (plan_.batch_of_rank || plan_.accumulation || plan_.batch_per_device) {
      const Origin& origin = plan_.batch_of_rank  ? plan_.batch_of_rank->origin
                             : plan_.accumulation ? plan_.accumulation->origin
                                                  : plan_.batch_per_device->origin;
      if (!ranks_known_) {
        missing(kBatchPath, "--cluster");
      } else if (plan_.batch_of_rank) {
        take(origin, static_cast<double>(ranks) * plan_.batch_of_rank->value *
                         (plan_.accumulation ? plan_.accumulation->value : 1));
      } else if (plan_.accumulation) {
        take(origin, static_cast<double>(ranks) * plan_.accumulation->value * s().pipeline.microbatch_sequences);
      } else {
        take(origin, engine::mesh_chips(s().parallelism) * plan_.devices_per_chip * plan_.batch_per_device->value);
      }
    } else if (plan_.model_only) {
      // As many as the default at least, the same for every rank.
      const std::int64_t wished = s().workload.global_batch_sequences;
      s().workload.global_batch_sequences = static_cast<int>((wished + ranks - 1) / ranks * ranks);
      assumed(kBatchPath, std::to_string(s().workload.global_batch_sequences), say("import.why.ours"));
    } else {
      missing_set(kBatchPath);
    }
    if (!given("workload.sequence_length") && plan_.model_only) {
      int& length = s().workload.sequence_length;
      if (s().model.max_context_tokens > 0) length = std::min(length, s().model.max_context_tokens);
      assumed("workload.sequence_length", std::to_string(length), say("import.why.ours"));
    } else if (!given("workload.sequence_length")) {
      missing_set("workload.sequence_length");
    }
    if (!ranks_known_ || out_.is_missing(kBatchPath)) return;
    const std::int64_t granule = engine::batch_granule(s());
    if (s().workload.global_batch_sequences % granule != 0)
      plan_.warn(say("import.batch_granule", s().workload.global_batch_sequences, granule));
  }

  Failure stages() {
    engine::PipelinePlan& plan = s().pipeline;
    if (plan_.layers_per_virtual_stage) {
      const auto& [value, origin] = *plan_.layers_per_virtual_stage;
      const int pipeline = s().parallelism.pipeline;
      // An embedding or a head that counts as a layer takes a place among them.
      const int layers = s().model.n_layers + static_cast<int>(plan.embedding_as_layers + plan.head_as_layers);
      if (out_.is_missing("model") || out_.is_missing("model.n_layers")) {
        missing_set("pipeline.virtual_stages");
      } else if (value < 1 || layers % (pipeline * value) != 0) {
        plan_.fail(say("import.layers_per_stage", origin.key, value, layers, pipeline), origin.line);
        missing_set("pipeline.virtual_stages");
      } else {
        const int chunks = layers / pipeline / value;
        if (auto failure =
                put({"pipeline.virtual_stages", static_cast<double>(chunks), std::to_string(value), origin}))
          return failure;
        read(origin, "pipeline.virtual_stages", std::to_string(value));
        assumed("pipeline.virtual_stages", std::to_string(chunks), say("import.why.layers", layers, pipeline, value));
      }
    }
    if (plan_.layout) {
      if (auto failure = take_layer_layout(plan_.layout->value, s())) {
        plan_.fail(say("import.layout", plan_.layout->origin.key, failure->message), plan_.layout->origin.line);
      } else {
        read(plan_.layout->origin, "pipeline.layers_per_stage", plan_.layout->value);
      }
    }
    if (plan_.layers_per_stage) {
      plan.layers_per_stage = plan_.layers_per_stage->value;
      std::string written;
      for (const int layers : plan.layers_per_stage) written += (written.empty() ? "" : ",") + std::to_string(layers);
      read(plan_.layers_per_stage->origin, "pipeline.layers_per_stage", written);
    }
    if (!given("pipeline.schedule") && !s().serves() && plan.virtual_stages > 1 &&
        plan.schedule == engine::ScheduleKind::one_f_one_b) {
      plan.schedule = engine::ScheduleKind::interleaved_1f1b;
      assumed("pipeline.schedule", "interleaved-1f1b", say("import.why.interleaved"));
    }
    return std::nullopt;
  }

  // What neither the file nor the framework says and the answer depends on: Roofscape's own default.
  void told_defaults() {
    constexpr std::string_view kTraining[] = {"parallelism.zero_stage",
                                              "parallelism.sequence_parallel",
                                              "pipeline.microbatch_sequences",
                                              "checkpointing.policy",
                                              "precision.compute",
                                              "precision.weights",
                                              "precision.gradients",
                                              "precision.optimizer",
                                              "precision.master_weights"};
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

  // --set once more, in its order, for what is no field of the table.
  Failure last_word() {
    for (const std::string& assignment : request_.set) {
      const std::string path = assignment.substr(0, assignment.find('='));
      if (path == "cluster" || path == "model" || path == kDataPath || path == kFsdpPath) continue;
      if (engine::find_field(path) != nullptr && !path.starts_with("cluster.")) continue;
      if (auto failure = set(assignment)) return failure;
      std::erase_if(out_.missing, [&](const MissingValue& value) { return value.field == path; });
    }
    return std::nullopt;
  }

  void finish() {
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

  LaunchPlan plan_;
  std::string_view file_;
  const ImportRequest& request_;
  const PresetLibrary& library_;
  Imported out_;
  std::vector<StatedField> own_;  // of --set
  bool has_model_ = false, has_cluster_ = false, ranks_known_ = false;
  std::int64_t minimum_chips_ = 1;
};

}  // namespace

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
