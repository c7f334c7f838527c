#include "engine/evidence/one_change_pairs.h"

#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "engine/base/stats.h"
#include "engine/evidence/left_out_library.h"
#include "engine/evidence/measured_prediction.h"
#include "engine/scenario/mesh_size.h"

namespace roofscape::evidence {
namespace {

struct Run {
  const io::Measurement* entry = nullptr;
  engine::Scenario scenario;
  double measured = 0, predicted = 0;  // tokens per chip and second
};

bool same_mesh(const engine::Parallelism& a, const engine::Parallelism& b) {
  return a.tensor == b.tensor && a.pipeline == b.pipeline && a.context == b.context && a.expert == b.expert &&
         a.expert_tensor == b.expert_tensor && a.zero_stage == b.zero_stage &&
         a.sequence_parallel == b.sequence_parallel;
}

}  // namespace

std::optional<PlanChange> change_between(const engine::Scenario& a, const engine::Scenario& b) {
  if (a.serves() || b.serves()) return std::nullopt;
  if (!(a.model == b.model) || a.cluster.chip.id != b.cluster.chip.id) return std::nullopt;
  if (a.offload.activations != b.offload.activations) return std::nullopt;
  const bool chips = engine::mesh_chips(a.parallelism) != engine::mesh_chips(b.parallelism);
  const bool mesh =
      !same_mesh(a.parallelism, b.parallelism) ||
      (!chips && (a.parallelism.data != b.parallelism.data || a.parallelism.fsdp != b.parallelism.fsdp));
  // One stage has no schedule.
  const bool schedule =
      a.parallelism.pipeline > 1 && b.parallelism.pipeline > 1 &&
      (a.pipeline.schedule != b.pipeline.schedule || a.pipeline.virtual_stages != b.pipeline.virtual_stages);
  const bool length = a.workload.sequence_length != b.workload.sequence_length;
  const bool recomputation =
      a.checkpointing.policy != b.checkpointing.policy || a.checkpointing.blocks != b.checkpointing.blocks;
  const bool format = a.precision.compute != b.precision.compute;
  // The batch goes with the chips, if each has the same, and with the length, if a step has as many tokens.
  const auto tokens_of = [](const engine::Scenario& s) {
    return static_cast<double>(s.workload.global_batch_sequences) * s.workload.sequence_length;
  };
  const double ratio = tokens_of(b) / tokens_of(a);
  const double chip_ratio =
      static_cast<double>(engine::mesh_chips(b.parallelism)) / static_cast<double>(engine::mesh_chips(a.parallelism));
  const bool same_tokens = std::abs(ratio - 1) < 1e-9, with_chips = chips && std::abs(ratio / chip_ratio - 1) < 1e-9;
  const bool micro = a.pipeline.microbatch_sequences != b.pipeline.microbatch_sequences;
  const bool batch = (!same_tokens && !with_chips) || (micro && !length);
  const std::pair<bool, PlanChange> changes[] = {
      {schedule, PlanChange::schedule}, {mesh, PlanChange::mesh},     {recomputation, PlanChange::recomputation},
      {batch, PlanChange::batch},       {length, PlanChange::length}, {format, PlanChange::format},
      {chips, PlanChange::chips}};
  std::optional<PlanChange> only;
  for (const auto& [changed, change] : changes) {
    if (!changed) continue;
    if (only) return std::nullopt;
    only = change;
  }
  return only;
}

std::vector<OneChangePair> one_change_pairs(std::span<const io::Measurement> entries,
                                            const io::PresetLibrary& library, engine::Mode mode) {
  std::optional<LeftOutLibrary> left_out;
  if (mode == engine::Mode::calibrated) left_out.emplace(library);
  // Only runs of one source and table are comparable: same people, software and machine.
  std::map<std::tuple<std::string, std::string>, std::vector<Run>> sources;
  for (const io::Measurement& entry : entries) {
    if (entry.kind != "measured" || !entry.model || entry.operation) continue;
    io::Measurement asked = entry;
    // The first figure that says how fast it was; the prediction of the same figure is comparable whatever it counts.
    asked.values.clear();
    for (const char* quantity :
         {"step_time_s", "tokens_per_s_per_chip", "samples_per_s_per_chip", "tflops_per_chip", "mfu"})
      for (const io::MeasuredValue& value : entry.values)
        if (value.quantity == quantity && value.value.value_or(0) > 0 && asked.values.empty())
          asked.values.push_back(value);
    if (asked.values.empty()) continue;
    asked.values.push_back({"tokens_per_s_per_chip", 1.0});
    const io::PresetLibrary* without = left_out ? left_out->without(io::LeftOutKind::model, entry) : nullptr;
    const PreparedEntry prepared = prepare(asked, without != nullptr ? *without : library, mode);
    if (!prepared.scenario || prepared.scenario->serves()) continue;
    const EntryPrediction predicted = predict(prepared);
    const double *figure = std::get_if<double>(&predicted.values[0]),
                 *rate = std::get_if<double>(&predicted.values[1]);
    if (figure == nullptr || rate == nullptr || !(*figure > 0) || !(*rate > 0)) continue;
    const double ratio = *figure / *asked.values[0].value;
    const double too_fast = asked.values[0].quantity == "step_time_s" ? 1 / ratio : ratio;
    sources[{entry.family, entry.table}].push_back({&entry, *prepared.scenario, *rate / too_fast, *rate});
  }
  std::vector<OneChangePair> out;
  for (const auto& [source, runs] : sources)
    for (std::size_t i = 0; i < runs.size(); ++i)
      for (std::size_t j = i + 1; j < runs.size(); ++j)
        if (const auto change = change_between(runs[i].scenario, runs[j].scenario))
          out.push_back({runs[i].entry->id, runs[j].entry->id, *change, std::log(runs[j].measured / runs[i].measured),
                         std::log(runs[j].predicted / runs[i].predicted)});
  return out;
}

PairSummary pair_summary(std::span<const OneChangePair> pairs) {
  PairSummary out;
  out.pairs = pairs.size();
  std::vector<double> errors;
  for (const OneChangePair& pair : pairs) {
    errors.push_back(std::abs(std::expm1(pair.predicted - pair.measured)));
    if (std::abs(pair.measured) <= std::log1p(kApart)) continue;
    ++out.apart;
    if (pair.measured * pair.predicted > 0) ++out.right;
  }
  out.error = engine::median(std::move(errors));
  return out;
}

PairSummary pair_summary(std::span<const OneChangePair> pairs, PlanChange change) {
  std::vector<OneChangePair> those;
  for (const OneChangePair& pair : pairs)
    if (pair.change == change) those.push_back(pair);
  return pair_summary(those);
}

}  // namespace roofscape::evidence
