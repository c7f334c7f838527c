#include "engine/evidence/fit_rows.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/evidence/contradicting_runs.h"
#include "engine/evidence/measured_scenario.h"

namespace roofscape::evidence {
namespace {

using engine::Calibration;
using engine::kSoftwareStacks;

constexpr double kIncomplete = 0.3;  // weight of a run whose configuration is partly guessed
constexpr double kExcess = 40;       // charged for what does not fit, of the memory there is
// Of the memory there is, what a run that completed has to leave: a run like it, not in the fit, may take a little more.
constexpr double kMargin = 5e-3;

bool serves(std::size_t stack) {
  return stack < kSoftwareStacks && engine::is_serving_stack(static_cast<engine::SoftwareStack>(stack));
}

// The run's time by the first of the figures that state it, its memory, and of a server the time to the first token.
std::vector<std::size_t> observed(const io::Measurement& entry) {
  constexpr std::string_view kTimes[] = {"step_time_s",
                                         "tokens_per_s_per_chip",
                                         "samples_per_s_per_chip",
                                         "tflops_per_chip",
                                         "mfu",
                                         "latency_ms",
                                         "latency_s",
                                         "itl_ms",
                                         "output_tokens_per_s"};
  std::vector<std::size_t> out;
  if (entry.operation) {
    for (std::size_t i = 0; i < entry.values.size() && out.empty(); ++i)
      if (entry.values[i].value) out.push_back(i);
    return out;
  }
  for (const std::string_view name : kTimes) {
    const auto found = std::find_if(entry.values.begin(), entry.values.end(),
                                    [&](const io::MeasuredValue& v) { return v.quantity == name; });
    if (found != entry.values.end() && found->value) {
      out.push_back(static_cast<std::size_t>(found - entry.values.begin()));
      break;
    }
  }
  for (const std::string_view kind : {"memory", "first_token"}) {
    std::optional<std::size_t> counts;
    for (std::size_t i = 0; i < entry.values.size(); ++i) {
      const auto& [quantity, value] = entry.values[i];
      if (!value || kind_of(entry, quantity) != kind) continue;
      // What the driver says has all of it: what is allocated, and what the allocator keeps beside.
      if (!counts || quantity == "memory_gb_nvidia_smi") counts = i;
    }
    if (counts) out.push_back(*counts);
  }
  return out;
}

}  // namespace

bool decides(FitTask task, const io::SearchedValue& value) {
  return serves(value.stack) == (task == FitTask::serving);
}

FitRows::FitRows(std::span<const io::Measurement> entries, const io::PresetLibrary& library,
                 const io::CalibrationFile& file, FitTask task, const Calibration& known) {
  io::PresetLibrary calibrated = library;
  calibrated.calibrate(file.chips, known);
  const std::vector<bool> contradicts = contradicting_runs(entries);
  for (const io::Measurement& entry : entries) {
    if (entry.kind != "measured" || entry.held_out || !entry.hardware ||
        std::find(file.chips.begin(), file.chips.end(), entry.hardware->chip_id) == file.chips.end() ||
        (entry.task == "inference") != (task == FitTask::serving) || entry.task == "lora")
      continue;
    FitRow row;
    row.values = observed(entry);
    if (contradicts[static_cast<std::size_t>(&entry - entries.data())])
      std::erase_if(row.values, [&](std::size_t i) { return kind_of(entry, entry.values[i].quantity) != "memory"; });
    if (row.values.empty()) {
      ++refused_;
      continue;
    }
    row.entry = prepare(entry, calibrated, engine::Mode::calibrated);
    engine::Report report;
    EntryPrediction predicted;
    if (row.entry.reason.empty()) {
      engine::Scenario alone;
      if (row.entry.cluster) alone.cluster = *row.entry.cluster, alone.parallelism.zero_stage = 0;
      row.stack = static_cast<std::size_t>(engine::software_stack(row.entry.scenario ? *row.entry.scenario : alone));
      // Training software that serves has no values of its own for it.
      if (task == FitTask::serving && !serves(row.stack)) continue;
      predicted = evidence::predict(row.entry, scratch_, report);
      std::erase_if(row.values, [&](std::size_t i) {
        const double* value = std::get_if<double>(&predicted.values[i]);
        return value == nullptr || !std::isfinite(*value) || !(*value > 0) || !(*entry.values[i].value > 0);
      });
    } else {
      row.values.clear();
    }
    if (row.values.empty()) {
      ++refused_;
      continue;
    }
    rows_.push_back(std::move(row));
  }
  reports_.resize(rows_.size());
  // A source counts by the root of its size, so that neither the number of its runs nor their fewness decides alone.
  const auto name = [](const FitRow& row, std::size_t i) {
    const io::Measurement& entry = *row.entry.entry;
    return entry.family + "/" + kind_of(entry, entry.values[row.values[i]].quantity);
  };
  const auto weight = [](const FitRow& row) { return row.entry.entry->completeness == "full" ? 1 : kIncomplete; };
  std::map<std::string, double> sums;
  for (FitRow& row : rows_) {
    row.first = observations_;
    observations_ += row.values.size() + 1;
    for (std::size_t i = 0; i < row.values.size(); ++i) sums[name(row, i)] += weight(row);
  }
  for (FitRow& row : rows_) {
    // Runs in an environment of their own say nothing of the software.
    const double counts = row.entry.entry->environment.empty() ? 1 : 0;
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      const bool time = kind_of(*row.entry.entry, row.entry.entry->values[row.values[i]].quantity) != "memory";
      row.weights.push_back((time ? counts : 1) * weight(row) / std::sqrt(sums[name(row, i)]));
    }
    // That it ran is certain, however little of it is stated.
    row.weights.push_back(1 / std::sqrt(sums[name(row, 0)]));
  }
}

void FitRows::predict(std::size_t k, const Calibration& calibration, std::span<double> errors) {
  FitRow& row = rows_[k];
  auto& chip = row.entry.scenario ? row.entry.scenario->cluster.chip : row.entry.cluster->chip;
  chip.calibration.stacks = calibration.stacks;
  const EntryPrediction predicted = evidence::predict(row.entry, scratch_, reports_[k]);
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    const double* value = std::get_if<double>(&predicted.values[row.values[i]]);
    errors[i] = value != nullptr && *value > 0 && std::isfinite(*value)
                    ? std::log(*value / *row.entry.entry->values[row.values[i]].value)
                    : 0;
  }
  errors[row.values.size()] = kExcess * std::max(predicted.excess + kMargin, 0.0);
}

}  // namespace roofscape::evidence
