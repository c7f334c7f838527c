#include "engine/evidence/validation.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "engine/base/stats.h"
#include "engine/evidence/measured_prediction.h"
#include "engine/io/json/json_text.h"
#include "engine/io/json/pretty.h"
#include "engine/scenario/scenario_fields.h"

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

io::OrderedJson summary_json(const ValidationSummary& s) {
  return {{"name", s.name},
          {"n", s.n},
          {"not_predicted", s.not_predicted},
          {"median_absolute_error", s.median},
          {"mean_absolute_error", s.mean},
          {"p90_absolute_error", s.p90},
          {"worst_absolute_error", s.worst},
          {"bias", s.bias},
          {"false_out_of_memory", s.false_out_of_memory}};
}

std::string percent(double x) { return fmt::format("{:.1f} %", 100 * x); }

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
        row.reason =
            row.measured == 0 ? "the measured value is zero: an error has no scale" : "the prediction is not finite";
      } else {
        row.reason = std::get<std::string>(predicted.values[i]);
      }
      rows.push_back(std::move(row));
    }
  }
  return summarised(std::move(rows));
}

std::string validation_json(const Validation& validation, engine::Mode mode) {
  io::OrderedJson json;
  const engine::Field* field = engine::find_field("assumptions.mode");
  json["mode"] = std::string(field->choices[static_cast<std::size_t>(mode)]);
  json["entries"] = io::OrderedJson::array();
  for (const ValidationRow& row : validation.rows) {
    io::OrderedJson entry;
    entry["id"] = row.id;
    entry["family"] = row.family;
    if (!row.chip.empty()) entry["chip"] = row.chip;
    entry["kind"] = row.kind;
    entry["quantity"] = row.quantity;
    entry["measured"] = row.measured;
    if (row.predicted) {
      entry["predicted"] = *row.predicted;
      entry["error"] = row.error;
      if (row.false_out_of_memory) entry["false_out_of_memory"] = true;
    } else {
      entry["reason"] = row.reason;
    }
    if (!row.assumed.empty()) entry["assumed"] = row.assumed;
    json["entries"].push_back(std::move(entry));
  }
  const auto summaries = [](const std::vector<ValidationSummary>& list) {
    io::OrderedJson out = io::OrderedJson::array();
    for (const ValidationSummary& s : list) out.push_back(summary_json(s));
    return out;
  };
  json["families"] = summaries(validation.families);
  json["kinds"] = summaries(validation.kinds);
  json["overall"] = summary_json(validation.overall);
  return io::pretty_text(json);
}

std::string validation_text(const Validation& validation) {
  std::string out;
  std::size_t id = 0, quantity = 0;
  for (const ValidationRow& row : validation.rows)
    id = std::max(id, row.id.size()), quantity = std::max(quantity, row.quantity.size());
  const auto line = [&](const std::string& a, const std::string& b, const std::string& c, const std::string& d,
                        const std::string& e) {
    out += fmt::format("{:<{}}  {:<{}}  {:>12}  {:>12}  {}\n", a, id, b, quantity, c, d, e);
  };
  line("entry", "quantity", "measured", "predicted", "error");
  for (const ValidationRow& row : validation.rows) {
    const std::string measured = fmt::format("{:.5g}", row.measured);
    if (row.predicted)
      line(row.id, row.quantity, measured, fmt::format("{:.5g}", *row.predicted),
           fmt::format("{:+.1f} %{}", 100 * row.error, row.false_out_of_memory ? "  predicted not to fit" : ""));
    else
      line(row.id, row.quantity, measured, "-", row.reason);
  }
  const auto table = [&out](const std::string& head, const std::vector<ValidationSummary>& list) {
    std::size_t width = head.size();
    for (const ValidationSummary& s : list) width = std::max(width, s.name.size());
    out += fmt::format("\n{:<{}}  {:>5}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>9}  {:>14}\n", head, width, "n",
                       "median", "mean", "p90", "worst", "bias", "false OOM", "not predicted");
    for (const ValidationSummary& s : list)
      out += fmt::format("{:<{}}  {:>5}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>9}  {:>14}\n", s.name, width, s.n,
                         percent(s.median), percent(s.mean), percent(s.p90), percent(s.worst),
                         fmt::format("{:+.1f} %", 100 * s.bias), s.false_out_of_memory, s.not_predicted);
  };
  table("family", validation.families);
  table("kind", validation.kinds);
  table("overall", {validation.overall});
  return out;
}

}  // namespace roofscape::evidence
