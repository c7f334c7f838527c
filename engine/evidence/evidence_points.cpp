#include "engine/evidence/evidence_points.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/evidence/contradicting_runs.h"
#include "engine/evidence/left_out_library.h"
#include "engine/evidence/measured_prediction.h"
#include "engine/evidence/one_change_pairs.h"

namespace roofscape::evidence {
namespace {

using engine::EvidenceKind;
using engine::EvidencePoint;

// How a published quantity becomes one of a kind: the quantity of that kind that the program predicts for any such
// run, in base units after `scale`; and whether the published figure rises when that one falls.
struct Published {
  std::string_view quantity;
  EvidenceKind kind;
  std::string_view told_as;
  double scale = 1;
  bool inverse = false;
};
constexpr double kMilli = 1e-3;
// The most direct first: of one run and kind the first counts.
constexpr std::array kPublished{
    Published{"step_time_s", EvidenceKind::step, "step_time_s"},
    Published{"tokens_per_s_per_chip", EvidenceKind::step, "step_time_s", 1, true},
    Published{"tokens_per_s", EvidenceKind::step, "step_time_s", 1, true},
    Published{"samples_per_s_per_chip", EvidenceKind::step, "step_time_s", 1, true},
    Published{"tflops_per_chip", EvidenceKind::step, "step_time_s", 1, true},
    Published{"mfu", EvidenceKind::step, "step_time_s", 1, true},
    Published{"hfu", EvidenceKind::step, "step_time_s", 1, true},
    Published{"mfu_without_attention", EvidenceKind::step, "step_time_s", 1, true},
    Published{"memory_gb", EvidenceKind::memory, "memory_gb", kGiga},
    Published{"memory_gib", EvidenceKind::memory, "memory_gb", kGiga},
    Published{"memory_gb_nvidia_smi", EvidenceKind::memory, "memory_gb", kGiga},
    Published{"itl_ms", EvidenceKind::decode, "itl_ms", kMilli},
    Published{"latency_ms", EvidenceKind::decode, "itl_ms", kMilli},
    Published{"latency_s", EvidenceKind::decode, "itl_ms", kMilli},
    Published{"output_tokens_per_s", EvidenceKind::decode, "itl_ms", kMilli, true},
    Published{"tflops", EvidenceKind::kernel, "tflops", kTera},
    Published{"tflops_max", EvidenceKind::kernel, "tflops_max", kTera},
    Published{"time_ms", EvidenceKind::kernel, "tflops", kTera, true},
    Published{"time_s", EvidenceKind::kernel, "tflops", kTera, true},
    Published{"time_us", EvidenceKind::kernel, "tflops", kTera, true},
    Published{"busbw_gb_s", EvidenceKind::collective, "busbw_gb_s", kGiga},
    Published{"time_us", EvidenceKind::collective, "busbw_gb_s", kGiga, true},
    Published{"dispatch_gb_s", EvidenceKind::collective, "dispatch_gb_s", kGiga},
};

// Whether a quantity of this name is of this kind in this entry: "time_ms" may be a kernel's or a collective's.
bool belongs(const io::Measurement& entry, const Published& row) {
  const std::string kind = kind_of(entry, std::string(row.quantity));
  switch (row.kind) {
    case EvidenceKind::step:
      return kind == "training_time";
    case EvidenceKind::memory:
      return kind == "memory" && entry.task != "inference";
    case EvidenceKind::decode:
      return kind == "inference" || kind == "token_time";
    case EvidenceKind::kernel:
      return kind == "kernel";
    case EvidenceKind::collective:
      return kind == "collective";
  }
  return false;
}

std::optional<std::size_t> place_of(const io::Measurement& entry, std::string_view quantity) {
  for (std::size_t i = 0; i < entry.values.size(); ++i)
    if (entry.values[i].quantity == quantity) return i;
  return std::nullopt;
}

const double* number_in(const EntryPrediction& predicted, std::size_t i) {
  const double* value = i < predicted.values.size() ? std::get_if<double>(&predicted.values[i]) : nullptr;
  return value != nullptr && std::isfinite(*value) && *value > 0 ? value : nullptr;
}

engine::EvidenceFeatures features_of(const PreparedEntry& prepared) {
  if (prepared.scenario) return engine::evidence_features(*prepared.scenario);
  engine::Scenario alone;
  if (prepared.cluster) alone.cluster = *prepared.cluster;
  alone.parallelism.zero_stage = 0;
  alone.parallelism.data = prepared.ranks;
  return engine::evidence_features(alone);
}

std::string operation_name(const io::MeasuredShape& op) {
  std::string name = op.op;
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

void add_points(const io::Measurement& entry, const io::EvidenceFiles& files, const io::PresetLibrary& library,
                engine::Mode mode, bool contradicts, engine::Evidence& out) {
  // What the kinds are told in is predicted beside what was measured.
  io::Measurement asked = entry;
  for (const Published& row : kPublished)
    if (belongs(entry, row) && place_of(entry, row.quantity) && !place_of(asked, row.told_as))
      asked.values.push_back({std::string(row.told_as), 1.0});
  const PreparedEntry prepared = prepare(asked, library, mode);
  const EntryPrediction predicted = predict(prepared);
  std::array<bool, engine::kEvidenceKinds> done{};
  for (const Published& row : kPublished) {
    bool& taken = done[static_cast<std::size_t>(row.kind)];
    const auto at = place_of(entry, row.quantity);
    if (taken || !at || !belongs(entry, row) || !(entry.values[*at].value.value_or(0) > 0)) continue;
    const double *as_published = number_in(predicted, *at),
                 *as_told = number_in(predicted, *place_of(asked, row.told_as));
    if (as_published == nullptr || as_told == nullptr) continue;
    const double ratio = *as_published / *entry.values[*at].value;
    EvidencePoint point;
    point.id = entry.id;
    point.family = files.names.at(entry.family);
    point.source = entry.source;
    point.model = entry.operation ? operation_name(*entry.operation)
                  : entry.model   ? entry.model->shape.name
                                  : std::string();
    point.chip = prepared.scenario ? prepared.scenario->cluster.chip.name : prepared.cluster->chip.name;
    point.kind = row.kind;
    point.published = row.quantity;
    point.published_value = *entry.values[*at].value;
    point.predicted = *as_told * row.scale;
    point.error = (row.inverse ? 1 / ratio : ratio) - 1;
    point.measured = point.predicted / (1 + point.error);
    // Of an operation the shape is all there is to state.
    point.complete = entry.completeness == "full" || entry.operation.has_value();
    point.contradicts = contradicts && row.kind != EvidenceKind::memory;
    point.features = features_of(prepared);
    out.points.push_back(std::move(point));
    taken = true;
  }
}

}  // namespace

engine::Evidence evidence_points(const io::EvidenceFiles& files, const io::PresetLibrary& library,
                                 engine::Mode mode) {
  engine::Evidence out;
  out.mode = mode;
  std::optional<LeftOutLibrary> left_out;
  if (mode == engine::Mode::calibrated) left_out.emplace(library);
  const std::vector<bool> contradicts = contradicting_runs(files.entries);
  for (const io::Measurement& entry : files.entries) {
    const std::size_t before = out.points.size();
    const io::PresetLibrary* without =
        left_out && entry.kind == "measured" ? left_out->without(io::LeftOutKind::model, entry) : nullptr;
    if (entry.kind == "measured")
      add_points(entry, files, without != nullptr ? *without : library, mode,
                 contradicts[static_cast<std::size_t>(&entry - files.entries.data())], out);
    if (out.points.size() == before) ++out.runs_without_point;
  }
  engine::try_bands(out.points);
  return out;
}

engine::Evidence evidence_with_pairs(const io::EvidenceFiles& files, const io::PresetLibrary& library,
                                     engine::Mode mode) {
  engine::Evidence out = evidence_points(files, library, mode);
  out.pairs = pair_record(one_change_pairs(files.entries, library, mode));
  return out;
}

engine::EvidenceSet evidence_set(const io::EvidenceFiles& files, const io::PresetLibrary& library) {
  return {evidence_with_pairs(files, library, engine::Mode::calibrated),
          evidence_with_pairs(files, library, engine::Mode::ideal)};
}

}  // namespace roofscape::evidence
