// What each rank of a plan gets: chips among the axes, the batch among the ranks and their passes, layers among the stages.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "engine/evaluate/evaluate.h"
#include "engine/io/import/cluster_request.h"
#include "engine/io/import/document.h"
#include "engine/io/import/plan_to_scenario.h"
#include "engine/io/scenario/layer_layout.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/cluster_of_chips.h"
#include "engine/scenario/mesh_size.h"

namespace roofscape::io {

using engine::say;

void PlanToScenario::imply_chips(bool asked) {
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

Failure PlanToScenario::cluster() {
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

Failure PlanToScenario::chips() {
  engine::Parallelism& p = s().parallelism;
  if (has_cluster_ && plan_.devices_of != nullptr) plan_.devices_per_chip = plan_.devices_of(s().cluster.chip);
  default_degrees();
  serving_degrees();
  const std::int64_t inner = std::int64_t{p.tensor} * p.context * p.pipeline;
  const std::int64_t expert_tensor = p.experts_tensor();
  // Experts lie in the data, context and, folded, the tensor ranks of one stage.
  std::int64_t least = inner;
  if (p.expert > 1) least = std::lcm(std::int64_t{p.tensor} * p.context, expert_tensor * p.expert) * p.pipeline;
  const std::int64_t stated = std::int64_t{plan_.data ? plan_.data->value : 1} * (plan_.fsdp ? plan_.fsdp->value : 1);
  if (plan_.data && (plan_.data->value < 1 || plan_.data->value > 65536))
    return at(plan_.data->origin, say("error.import.out_of_domain", std::to_string(plan_.data->value)));
  if (plan_.fsdp && (plan_.fsdp->value < 1 || plan_.fsdp->value > 65536))
    return at(plan_.fsdp->origin, say("error.import.out_of_domain", std::to_string(plan_.fsdp->value)));
  least = std::lcm(least, stated * inner);
  if (!plan_.fsdp) least = std::lcm(least, stated * inner * plan_.fsdp_multiple);

  std::optional<std::int64_t> have;
  if (has_cluster_)
    have = engine::chip_count(s().cluster) * plan_.devices_per_chip;
  else if (plan_.chips)
    have = plan_.chips->value;
  if (!have && plan_.rest_alone) {
    (plan_.rest_alone->path == kDataPath ? plan_.data : plan_.fsdp) = {static_cast<int>(plan_.rest_alone->value), {}};
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

void PlanToScenario::default_degrees() {
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

void PlanToScenario::serving_degrees() {
  constexpr std::string_view kTensorPath = "parallelism.tensor", kPipelinePath = "parallelism.pipeline";
  if (!plan_.model_only || !has_cluster_ || !s().serves() || plan_.data || plan_.fsdp) return;
  engine::Parallelism& p = s().parallelism;
  const engine::Cluster& cluster = s().cluster;
  const bool torus = cluster.chip.interconnect == engine::Interconnect::torus;
  const std::int64_t chips = engine::chip_count(cluster);
  const std::int64_t node = torus ? chips / cluster.slices : cluster.node_size;
  if (!given(kTensorPath)) {
    const std::int64_t others = std::int64_t{p.context} * p.pipeline;
    std::int64_t ways = std::min<std::int64_t>(node, s().model.n_heads);
    while (ways > 1 && (chips % (others * ways) != 0 || node % ways != 0 || s().model.n_heads % ways != 0)) --ways;
    p.tensor = static_cast<int>(ways);
    assumed(kTensorPath, std::to_string(ways), say("import.why.serving_tensor", s().model.n_heads, node));
  }
  plan_.fsdp = {1, {}};
  assumed(kFsdpPath, "1", say("import.serve.whole_weights"));
  plan_.rest = RestAxis::data;
  const std::int64_t inner = std::int64_t{p.tensor} * p.context * p.pipeline, rest = chips / inner;
  if (given(kPipelinePath) || rest == 1 || chips % inner != 0 || rest > s().model.n_layers) return;
  engine::Scenario replicas = s();
  replicas.parallelism.data = static_cast<int>(rest), replicas.parallelism.fsdp = 1;
  replicas.workload.batch = std::max(replicas.workload.batch, replicas.parallelism.data);
  const engine::Report report = engine::evaluate(replicas);
  if (!(report.quantities.value_or(engine::Q::memory_free, 0) < 0)) return;
  p.pipeline = static_cast<int>(rest);
  assumed(kPipelinePath, std::to_string(rest), say("import.why.serving_pipeline", p.tensor));
}

void PlanToScenario::fold_devices() {
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

void PlanToScenario::state_chips(std::optional<std::int64_t> have) {
  if (!have || !plan_.chips || has_cluster_) return;
  if (plan_.chips->origin.key.empty())
    assumed("cluster.chips", std::to_string(*have), say("import.why.degrees"));
  else
    read(plan_.chips->origin, "cluster.chips", std::to_string(*have));
}

void PlanToScenario::stand_in(std::int64_t chips) {
  const engine::Cluster* start = library_.find_cluster("h100-16k");
  if (start == nullptr) start = library_.find_cluster(kDefaultCluster);
  if (start == nullptr) return;
  if (chips <= engine::kMostClusterChips)
    if (const auto cluster = engine::cluster_of(start->chip, static_cast<int>(chips),
                                                plan_.chips_per_node ? plan_.chips_per_node->value : 0)) {
      s().cluster = *cluster;
      return;
    }
  s().cluster = *start;
}

void PlanToScenario::reserve() {
  constexpr std::string_view kPath = "assumptions.reserve_bytes";
  if (!has_cluster_ || !plan_.memory_share || given(kPath)) return;
  const auto capacity = s().cluster.chip[engine::ChipField::hbm_bytes].value;
  if (!capacity) return;
  const double bytes = std::floor((1 - plan_.memory_share->value) * *capacity);
  s().assumptions.reserve_bytes = bytes;
  if (!plan_.memory_share_default.empty())
    return assumed(kPath, fmt::format("{}", bytes), plan_.memory_share_default);
  read(plan_.memory_share->origin, kPath, fmt::format("{:g}", plan_.memory_share->value));
}

void PlanToScenario::microbatch() {
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

void PlanToScenario::batch() {
  if (s().serves()) {
    // As many as the default at least, the same for every stage of every replica.
    const engine::Parallelism& p = s().parallelism;
    const std::int64_t each = std::int64_t{p.data} * p.fsdp * p.pipeline, wished = s().workload.batch;
    if (plan_.model_only && ranks_known_ && !given("workload.batch"))
      s().workload.batch = static_cast<int>((wished + each - 1) / each * each);
    return;
  }
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
  if (!plan_.note_on_reduction.empty() && s().parallelism.data * s().parallelism.fsdp > 1)
    plan_.warn(plan_.note_on_reduction);
}

Failure PlanToScenario::run_length() {
  const Maybe<double>& length = plan_.train_sequences ? plan_.train_sequences : plan_.train_steps;
  if (!length || s().serves() || given(kLengthPath)) return std::nullopt;
  const std::string written = fmt::format("{:.0f}", length->value);
  read(length->origin, kLengthPath, written);
  if (out_.is_missing("workload.sequence_length") || (!plan_.train_sequences && out_.is_missing(kBatchPath)))
    return std::nullopt;
  const double sequences = length->value * (plan_.train_sequences ? 1 : s().workload.global_batch_sequences);
  return put({std::string(kLengthPath), sequences * s().workload.sequence_length, written, length->origin});
}

Failure PlanToScenario::stages() {
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
      if (auto failure = put({"pipeline.virtual_stages", static_cast<double>(chunks), std::to_string(value), origin}))
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
  check_last_group();
  return std::nullopt;
}

// Groups of the default size may leave a last one that the framework refuses, and that a scenario without a size of its
// own avoids.
void PlanToScenario::check_last_group() {
  const engine::PipelinePlan& plan = s().pipeline;
  const int stages = s().parallelism.pipeline;
  if (!plan_.groups_of_stages || plan.group_size > 0 || stages == 1 || !ranks_known_ || out_.is_missing(kBatchPath) ||
      !engine::facts_of(plan.schedule).takes_groups)
    return;
  const int microbatches = microbatch_count(s());
  const int group = group_size_of(schedule_shape(plan, plan.schedule, stages, microbatches, plan.virtual_stages));
  if (group > stages) plan_.warn(say("import.last_group", microbatches, stages, microbatches % stages, group));
}

}  // namespace roofscape::io
