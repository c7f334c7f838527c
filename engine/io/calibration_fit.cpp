#include "engine/io/calibration_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "engine/io/measured_prediction.h"
#include "engine/io/measured_scenario.h"

namespace roofscape::io {
namespace {

using engine::Calibration;
using engine::kCalibrationCount;
using engine::kCalibrationRows;
using engine::kSoftwareStacks;

constexpr int kShrinks = 8;           // times the steps are halved
constexpr double kFirstStep = 0.2;    // of a parameter's range
constexpr int kPassesAStep = 10;      // over all parameters, at most
constexpr double kIncomplete = 0.3;   // weight of a row whose configuration is partly guessed
constexpr double kMemory = 1;         // of memory, against time
constexpr double kLargestError = 1.0; // of |ln|: beyond it a row says nothing more
constexpr double kDoesNotFit = 1;     // charged, a row
constexpr double kMoved = 0.002;      // for a parameter moved by its whole range from the start: measurements have to ask for it

struct Row {
  PreparedEntry entry;
  std::size_t stack = 0;
  std::vector<std::size_t> values;  // which of the entry's are compared
  double weight = 1;
  std::string family, model;
  std::vector<double> loss;         // last computed, a value
  bool held = false;                // left out of the objective
};

// Of quantities that say the same (a time, a rate and an MFU of one run) the first that the entry has.
std::vector<std::size_t> compared(const Measurement& entry) {
  constexpr std::string_view kTimes[] = {"step_time_s", "tokens_per_s_per_chip", "samples_per_s_per_chip", "tflops_per_chip", "mfu"};
  std::vector<std::size_t> out;
  if (entry.operation) {
    for (std::size_t i = 0; i < entry.values.size() && out.empty(); ++i)
      if (entry.values[i].value) out.push_back(i);
    return out;
  }
  for (const std::string_view name : kTimes) {
    const auto found = std::find_if(entry.values.begin(), entry.values.end(), [&](const MeasuredValue& v) { return v.quantity == name; });
    if (found != entry.values.end() && found->value) {
      out.push_back(static_cast<std::size_t>(found - entry.values.begin()));
      break;
    }
  }
  for (std::size_t i = 0; i < entry.values.size(); ++i)
    if (entry.values[i].value && kind_of(entry, entry.values[i].quantity) == "memory") out.push_back(i);
  return out;
}

class Fit {
 public:
  Fit(std::span<const Measurement> entries, const PresetLibrary& library, const CalibrationFile& file)
      : best_(file.start), start_(file.start), searched_(file.searched) {
    const std::vector<std::string>& chips = file.chips;
    PresetLibrary calibrated = library;
    calibrated.calibrate(chips, file.start);
    for (const Measurement& entry : entries) {
      if (entry.kind != "measured" || !entry.hardware ||
          std::find(chips.begin(), chips.end(), entry.hardware->chip_id) == chips.end())
        continue;
      Row row;
      row.values = compared(entry);
      if (row.values.empty()) continue;
      row.entry = prepare(entry, calibrated, engine::Mode::calibrated);
      if (!row.entry.reason.empty()) continue;
      row.family = entry.family;
      row.model = entry.model ? entry.model->shape.name : entry.operation->op;
      row.weight = entry.completeness == "full" ? 1 : kIncomplete;
      engine::Scenario alone;
      if (row.entry.cluster) alone.cluster = *row.entry.cluster, alone.parallelism.zero_stage = 0;
      row.stack = static_cast<std::size_t>(engine::software_stack(row.entry.scenario ? *row.entry.scenario : alone));
      rows_.push_back(std::move(row));
    }
    for (Row& row : rows_) evaluate(row, best_);
  }

  std::size_t size() const { return rows_.size(); }
  const Calibration& best() const { return best_; }
  double objective() const {
    std::map<std::string, std::pair<double, double>> families;
    std::vector<double> all;
    for (const Row& row : rows_) {
      if (row.held) continue;
      for (std::size_t i = 0; i < row.loss.size(); ++i) {
        auto& [sum, weight] = families[i > 0 ? row.family + "/memory" : row.family];
        const double w = row.weight * (i > 0 ? kMemory : 1);
        sum += w * row.loss[i];
        weight += w;
        if (i == 0) all.push_back(row.loss[i]);
      }
    }
    if (all.empty()) return 0;
    // A family counts by the root of its size, so that neither the number of its rows nor their fewness decides alone.
    double sum = 0, weight = 0;
    for (const auto& [name, family] : families) {
      const double w = std::sqrt(family.second);
      sum += w * family.first / family.second;
      weight += w;
    }
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
    return sum / weight + 0.5 * all[all.size() / 2] + moved();
  }
  std::vector<double> errors(const std::string& family, const std::string& model) const {
    std::vector<double> out;
    for (const Row& row : rows_)
      if ((family.empty() || row.family == family) && (model.empty() || row.model == model))
        for (const double loss : row.loss) out.push_back(std::abs(std::expm1(loss)));
    return out;
  }
  std::vector<std::string> names(bool of_families) const {
    std::set<std::string> out;
    for (const Row& row : rows_) out.insert(of_families ? row.family : row.model);
    return {out.begin(), out.end()};
  }
  void hold(const std::string& family, const std::string& model) {
    for (Row& row : rows_) row.held = (!family.empty() && row.family == family) || (!model.empty() && row.model == model);
  }
  void restart(const Calibration& from) {
    best_ = from;
    for (Row& row : rows_) evaluate(row, best_);
  }

  void search(int shrinks, double first_step) {
    double now = objective();
    double step = first_step;
    for (int shrink = 0; shrink < shrinks; ++shrink, step /= 2) {
      for (int pass = 0; pass < kPassesAStep; ++pass) {
        const double before = now;
        const Calibration from = best_;
        for (const SearchedValue& value : searched_) now = improve(value.parameter, value.stack, step, now);
        now = follow(from, now);
        if (before - now < 1e-4 * before) break;
      }
    }
  }

 private:
  double moved() const {
    double sum = 0;
    for (std::size_t p = 0; p < kCalibrationCount; ++p)
      for (std::size_t s = 0; s < kSoftwareStacks; ++s)
        sum += std::abs(best_.stacks[s].values[p] - start_.stacks[s].values[p]) / (kCalibrationRows[p].most - kCalibrationRows[p].least);
    return kMoved * sum;
  }
  static void evaluate(Row& row, const Calibration& calibration) {
    auto& chip = row.entry.scenario ? row.entry.scenario->cluster.chip : row.entry.cluster->chip;
    chip.calibration.stacks = calibration.stacks;
    const EntryPrediction predicted = predict(row.entry);
    row.loss.assign(row.values.size(), kLargestError);
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      const double* value = std::get_if<double>(&predicted.values[row.values[i]]);
      if (value == nullptr || !(*value > 0)) continue;
      row.loss[i] = std::min(kLargestError, std::abs(std::log(*value / *row.entry.entry->values[row.values[i]].value)));
    }
    if (!predicted.fits) row.loss[0] += kDoesNotFit;
  }

  // Once more the way that all parameters together have just gone (Hooke and Jeeves 1961).
  double follow(const Calibration& from, double now) {
    Calibration tried = best_;
    for (std::size_t s = 0; s < kSoftwareStacks; ++s)
      for (std::size_t p = 0; p < kCalibrationCount; ++p) {
        const auto& row = kCalibrationRows[p];
        const double value = best_.stacks[s].values[p];
        tried.stacks[s].values[p] = std::clamp(2 * value - from.stacks[s].values[p], row.least, row.most);
      }
    if (tried == best_) return now;
    std::vector<std::vector<double>> kept;
    for (Row& row : rows_) {
      kept.push_back(row.loss);
      evaluate(row, tried);
    }
    std::swap(best_, tried);
    if (const double next = objective(); next < now) return next;
    std::swap(best_, tried);
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].loss = kept[i];
    return now;
  }

  // One parameter, of one stack or (stack == kSoftwareStacks) of all, a step up or down.
  double improve(std::size_t p, std::size_t stack, double step, double now) {
    const auto& bounds = kCalibrationRows[p];
    const std::size_t at = stack == kSoftwareStacks ? 0 : stack;
    const auto takes_part = [&](const Row& row) { return stack == kSoftwareStacks || row.stack == stack; };
    if (std::none_of(rows_.begin(), rows_.end(), [&](const Row& row) { return !row.held && takes_part(row); })) return now;
    for (const double direction : {1.0, -1.0}) {
      const double value = best_.stacks[at].values[p];
      const double next = std::clamp(value + direction * step * scale(bounds, value), bounds.least, bounds.most);
      if (next == value) continue;
      Calibration tried = best_;
      for (std::size_t s = 0; s < kSoftwareStacks; ++s)
        if (stack == kSoftwareStacks || s == stack) tried.stacks[s].values[p] = next;
      std::vector<std::vector<double>> kept;
      for (Row& row : rows_) {
        if (!takes_part(row)) continue;
        kept.push_back(row.loss);
        evaluate(row, tried);
      }
      std::swap(best_, tried);
      if (const double objective_now = objective(); objective_now < now) return objective_now;
      std::swap(best_, tried);
      std::size_t i = 0;
      for (Row& row : rows_)
        if (takes_part(row)) row.loss = kept[i++];
    }
    return now;
  }
  // Latencies and sizes are searched in proportion to what they are, from the hundredth of their range on.
  static double scale(const engine::CalibrationRow& row, double value) {
    const double range = row.most - row.least;
    return row.most > 1 || row.most < 0.01 ? std::max(2 * std::abs(value), range / 50) : range;
  }

  std::vector<Row> rows_;
  Calibration best_, start_;
  std::vector<SearchedValue> searched_;
};

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

CalibrationFit fit_calibration(std::span<const Measurement> entries, const PresetLibrary& library, const CalibrationFile& file,
                               bool hold_out) {
  CalibrationFit out;
  Fit fit(entries, library, file);
  out.rows = fit.size();
  out.start = fit.objective();
  fit.search(kShrinks, kFirstStep);
  out.objective = fit.objective();
  out.calibration = fit.best();
  const std::vector<double> errors = fit.errors({}, {});
  out.median = median_of(errors);
  for (const double error : errors) out.mean += error / static_cast<double>(errors.size());
  if (!hold_out) return out;
  for (const bool families : {true, false}) {
    for (const std::string& name : fit.names(families)) {
      const std::string family = families ? name : std::string(), model = families ? std::string() : name;
      HeldOut held;
      held.name = name;
      fit.restart(out.calibration);
      const std::vector<double> with = fit.errors(family, model);
      held.rows = with.size();
      held.fitted = median_of(with);
      // Fitted anew from the start without it.
      fit.hold(family, model);
      fit.restart(file.start);
      fit.search(kShrinks - 2, kFirstStep);
      held.held_out = median_of(fit.errors(family, model));
      fit.hold({}, {});
      (families ? out.by_family : out.by_model).push_back(std::move(held));
    }
  }
  return out;
}

}  // namespace roofscape::io
