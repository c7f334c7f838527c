#include "engine/evidence/validation.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "engine/base/stats.h"
#include "engine/evidence/contradicting_runs.h"
#include "engine/evidence/kernel_prediction.h"
#include "engine/evidence/left_out_library.h"
#include "engine/evidence/measured_prediction.h"

namespace roofscape::evidence {
namespace {

// What a chip's training runs are told apart by.
constexpr std::string_view kExperts = " experts", kDense = " dense";

template <class Belongs>
ValidationSummary summary(std::string name, const std::vector<ValidationRow>& rows, Belongs belongs,
                          bool contradicting = false) {
  ValidationSummary out;
  out.name = std::move(name);
  std::vector<double> errors, held_out;
  std::set<std::string> memory;
  std::array<std::vector<double>, io::kLeftOutKinds> left_out;
  for (const ValidationRow& row : rows) {
    if (!belongs(row) || row.restates || row.contradicts != contradicting) continue;
    if (!row.predicted) {
      ++out.not_predicted;
      continue;
    }
    errors.push_back(std::abs(row.error));
    if (row.held_out) held_out.push_back(std::abs(row.error));
    out.bias += row.error;
    out.mean += std::abs(row.error);
    if (row.false_out_of_memory) memory.insert(row.id);
    for (std::size_t k = 0; k < io::kLeftOutKinds; ++k)
      if (row.left_out[k]) left_out[k].push_back(std::abs(*row.left_out[k]));
  }
  for (std::size_t k = 0; k < io::kLeftOutKinds; ++k)
    out.left_out[k] = {left_out[k].size(), engine::median(left_out[k]), engine::quantile(left_out[k], 0.9)};
  out.held_out = {held_out.size(), engine::median(held_out), engine::quantile(held_out, 0.9)};
  out.n = errors.size();
  out.false_out_of_memory = memory.size();
  if (errors.empty()) return out;
  out.mean /= static_cast<double>(out.n);
  out.bias /= static_cast<double>(out.n);
  out.worst = *std::max_element(errors.begin(), errors.end());
  out.median = engine::median(errors);
  out.p90 = engine::quantile(errors, 0.9);
  return out;
}

// A chip's calibration by its file: "h100"; the chip where it has none.
std::string generation(const engine::Chip& chip) {
  const std::string& source = chip.calibration.source;
  if (source.empty()) return chip.id;
  const std::size_t folder = source.find_last_of('/') + 1;
  return source.substr(folder, source.find_last_of('.') - folder);
}

// Of each kind and of what says the same, the value that counts: the most direct that is predicted, else the first.
std::vector<std::size_t> most_direct_values(const io::Measurement& entry, const EntryPrediction& predicted) {
  constexpr std::string_view kDirect[] = {"step_time_s",
                                          "step_time_s_derived",
                                          "tokens_per_s_per_chip",
                                          "tokens_per_s",
                                          "samples_per_s_per_chip",
                                          "tflops_per_chip",
                                          "mfu",
                                          "hfu",
                                          "mfu_without_attention",
                                          "latency_ms",
                                          "latency_s",
                                          "itl_ms",
                                          "output_tokens_per_s",
                                          "weight_bandwidth_gb_s_per_chip",
                                          "tflops",
                                          "time_ms",
                                          "time_s",
                                          "busbw_gb_s",
                                          "time_us",
                                          "memory_gb_nvidia_smi",
                                          "max_allocated_gb"};
  std::vector<std::size_t> out;
  std::set<std::string> stated;  // kinds with a value that counts
  for (const bool only_predicted : {true, false})
    for (const std::string_view quantity : kDirect)
      for (std::size_t i = 0; i < entry.values.size(); ++i) {
        if (entry.values[i].quantity != quantity) continue;
        const std::string kind = kind_of(entry, entry.values[i].quantity);
        if (only_predicted && !std::holds_alternative<double>(predicted.values[i])) continue;
        if (stated.insert(kind).second) out.push_back(i);
      }
  // What is in no such list says something of its own.
  for (std::size_t i = 0; i < entry.values.size(); ++i)
    if (std::find(std::begin(kDirect), std::end(kDirect), entry.values[i].quantity) == std::end(kDirect))
      out.push_back(i);
  return out;
}

}  // namespace

Validation summarised(std::vector<ValidationRow> rows) {
  Validation out;
  out.rows = std::move(rows);
  std::vector<std::string> families, kinds;
  const auto add = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const ValidationRow& row : out.rows) add(families, row.family), add(kinds, row.kind);
  for (const std::string& name : families)
    out.families.push_back(summary(name, out.rows, [&](const ValidationRow& row) { return row.family == name; }));
  for (const std::string& name : kinds) {
    out.kinds.push_back(summary(name, out.rows, [&](const ValidationRow& row) { return row.kind == name; }));
    if (name != "training_time") continue;
    out.kinds.push_back(summary(name + "_complete", out.rows,
                                [&](const ValidationRow& row) { return row.kind == name && row.complete; }));
    out.kinds.push_back(summary(name + "_experts", out.rows, [&](const ValidationRow& row) {
      return row.kind == name && row.chips.ends_with(kExperts);
    }));
  }
  std::vector<std::string> chips;
  for (const ValidationRow& row : out.rows)
    if (!row.chips.empty()) add(chips, row.chips);
  for (const std::string& name : chips)
    out.chips.push_back(summary(name, out.rows, [&](const ValidationRow& row) { return row.chips == name; }));
  for (const std::string_view kind : {"token_time", "first_token", "first_token_cold"})
    for (std::string ValidationRow::*group : {&ValidationRow::chip, &ValidationRow::model}) {
      std::set<std::string> groups;
      for (const ValidationRow& row : out.rows)
        if (row.kind == kind && !(row.*group).empty()) groups.insert(row.*group);
      for (const std::string& name : groups)
        out.serving.push_back(summary(std::string(kind) + " " + name, out.rows, [&](const ValidationRow& row) {
          return row.kind == kind && row.*group == name;
        }));
    }
  std::vector<std::string> operations;
  for (const ValidationRow& row : out.rows)
    if (!row.operation.empty()) add(operations, row.operation);
  for (const std::string& name : operations)
    out.operations.push_back(
        summary(name, out.rows, [&](const ValidationRow& row) { return row.operation == name; }));
  const auto all = [](const ValidationRow&) { return true; };
  out.overall = summary("overall", out.rows, all);
  out.contradicting = summary("contradicting", out.rows, all, true);
  return out;
}

Validation validate(std::span<const io::Measurement> entries, const io::PresetLibrary& library, engine::Mode mode) {
  std::vector<ValidationRow> rows;
  std::optional<LeftOutLibrary> left_out;
  if (mode == engine::Mode::calibrated) left_out.emplace(library);
  const std::vector<bool> contradicts = contradicting_runs(entries);
  for (const io::Measurement& entry : entries) {
    const PreparedEntry prepared = prepare(entry, library, mode);
    EntryPrediction predicted = predict(prepared);
    std::array<EntryPrediction, io::kLeftOutKinds> without;
    for (std::size_t k = 0; left_out && k < io::kLeftOutKinds; ++k)
      if (entry.held_out && static_cast<io::LeftOutKind>(k) == io::LeftOutKind::fold)
        without[k] = predicted;  // it took part in none
      else if (const io::PresetLibrary* others = left_out->without(static_cast<io::LeftOutKind>(k), entry))
        without[k] = predict(entry, *others, mode);
    const auto error_of = [&](const EntryPrediction& of, std::size_t i) -> std::optional<double> {
      const double* number = i < of.values.size() ? std::get_if<double>(&of.values[i]) : nullptr;
      const double measured = entry.values[i].value.value_or(0);
      if (number == nullptr || !std::isfinite(*number)) return std::nullopt;
      if (in_points(entry.values[i].quantity)) return *number - measured;
      if (measured == 0) return std::nullopt;
      return (*number - measured) / measured;
    };
    const std::vector<std::size_t> most_direct = most_direct_values(entry, predicted);
    for (std::size_t i = 0; i < entry.values.size(); ++i) {
      const io::MeasuredValue& value = entry.values[i];
      ValidationRow row;
      row.id = entry.id;
      row.family = entry.family;
      row.chip = entry.hardware ? entry.hardware->chip_id : std::string();
      row.quantity = value.quantity;
      row.kind = kind_of(entry, value.quantity);
      row.measured = value.value.value_or(0);
      row.assumed = predicted.assumed;
      row.complete = entry.completeness == "full";
      row.operation = operation_of(entry, value.quantity);
      row.held_out = entry.held_out;
      row.contradicts = row.kind != "memory" && contradicts[static_cast<std::size_t>(&entry - entries.data())];
      row.restates = std::find(most_direct.begin(), most_direct.end(), i) == most_direct.end();
      if (row.kind == "training_time" && prepared.scenario)
        row.chips = generation(prepared.scenario->cluster.chip) +
                    std::string(prepared.scenario->model.is_moe() ? kExperts : kDense);
      if (entry.task == "inference" && entry.model) row.model = entry.model->shape.name;
      const double* number = std::get_if<double>(&predicted.values[i]);
      if (const auto error = error_of(predicted, i)) {
        row.predicted = *number;
        row.error = *error;
        const bool ran_out = value.quantity == "completed" && row.measured == 0;
        const bool fits = predicted.fits && std::ranges::all_of(without, &EntryPrediction::fits);
        row.false_out_of_memory = !fits && entry.kind == "measured" && !ran_out;
        for (std::size_t k = 0; k < io::kLeftOutKinds; ++k) row.left_out[k] = error_of(without[k], i);
      } else if (number != nullptr) {
        row.reason = row.measured == 0 ? engine::say("evidence.unpredicted.zero")
                                       : engine::say("evidence.unpredicted.not_finite");
      } else {
        row.reason = std::get<engine::Sentence>(predicted.values[i]);
      }
      rows.push_back(std::move(row));
    }
  }
  return summarised(std::move(rows));
}

}  // namespace roofscape::evidence
