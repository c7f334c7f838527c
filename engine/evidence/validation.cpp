#include "engine/evidence/validation.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/base/stats.h"
#include "engine/evidence/measured_prediction.h"

namespace roofscape::evidence {
namespace {

template <class Belongs>
ValidationSummary summary(std::string name, const std::vector<ValidationRow>& rows, Belongs belongs) {
  ValidationSummary out;
  out.name = std::move(name);
  std::vector<double> errors;
  std::set<std::string> memory;
  for (const ValidationRow& row : rows) {
    if (!belongs(row)) continue;
    if (!row.predicted) {
      ++out.not_predicted;
      continue;
    }
    errors.push_back(std::abs(row.error));
    out.bias += row.error;
    out.mean += std::abs(row.error);
    if (row.false_out_of_memory) memory.insert(row.id);
  }
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
    if (name == "training_time")
      out.kinds.push_back(summary(name + "_complete", out.rows,
                                  [&](const ValidationRow& row) { return row.kind == name && row.complete; }));
  }
  out.overall = summary("overall", out.rows, [](const ValidationRow&) { return true; });
  return out;
}

Validation validate(std::span<const io::Measurement> entries, const io::PresetLibrary& library, engine::Mode mode) {
  std::vector<ValidationRow> rows;
  for (const io::Measurement& entry : entries) {
    EntryPrediction predicted = predict(entry, library, mode);
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
      if (const double* number = std::get_if<double>(&predicted.values[i]);
          number != nullptr && std::isfinite(*number) && row.measured != 0) {
        row.predicted = *number;
        row.error = (*number - row.measured) / row.measured;
        row.false_out_of_memory = !predicted.fits && entry.kind == "measured";
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
