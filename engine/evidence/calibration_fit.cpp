#include "engine/evidence/calibration_fit.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "engine/base/stats.h"
#include "engine/evidence/measured_prediction.h"
#include "engine/evidence/measured_scenario.h"

namespace roofscape::evidence {
namespace {

using engine::Calibration;
using engine::kCalibrationCount;
using engine::kCalibrationRows;
using engine::kSoftwareStacks;

constexpr int kShrinks = 8;  // times the steps are halved
constexpr int kShrinksLeftOut =
    3;  // and where rows are left out: the difference is small beside what leaving out does
constexpr double kFirstStep = 0.1;     // of a parameter's range
constexpr int kDescents = 25;          // steps over all parameters at once, at most
constexpr int kTogether = 3;           // times both are tried
constexpr int kDampings = 6;           // tries of one of them
constexpr double kLongestStep = 0.2;   // of a parameter's range
constexpr double kNudge = 0.02;        // of a parameter's range, to see what it does
constexpr double kSmallError = 0.02;   // of |ln|: below it errors count as their squares
constexpr double kFlat = 1e-3;         // keeps what no row decides where it is
constexpr int kPassesAStep = 10;       // over all parameters, at most
constexpr double kIncomplete = 0.3;    // weight of a row whose configuration is partly guessed
constexpr double kMemory = 1;          // of memory, against time
constexpr double kLargestError = 1.0;  // of |ln|: beyond it a row says nothing more
constexpr double kEnough = 3e-4;       // of the objective: less is no progress
constexpr double kDoesNotFit = 1;      // charged, a row
constexpr double kExcess = 10;         // and for what does not fit, of the memory there is
constexpr double kMoved =
    0.002;  // for a parameter moved by its whole range from the start: measurements have to ask for it

struct Row {
  PreparedEntry entry;
  std::size_t stack = 0;
  std::vector<std::size_t> values;  // which of the entry's are compared
  double weight = 1;
  std::string family, model;
  std::vector<double> loss;   // last computed, a value: |ln(predicted / measured)|, and what does not fit
  std::vector<double> error;  // the same with its sign; and what does not fit
  engine::Report report;      // of the last evaluation: its pipeline keeps its order
  bool held = false;          // left out of the objective
};

// Of quantities that say the same (a time, a rate and an MFU of one run) the first that the entry has.
std::vector<std::size_t> compared(const io::Measurement& entry) {
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
  for (std::size_t i = 0; i < entry.values.size(); ++i)
    if (entry.values[i].value && kind_of(entry, entry.values[i].quantity) == "memory") out.push_back(i);
  return out;
}

// Training and serving are fitted apart: chips and training software to training, kernels and collectives, and then,
// with the chips as they are by now, the software that serves to inference.
enum class Task { training, serving };

bool serves(std::size_t stack) {
  return stack < kSoftwareStacks && engine::is_serving_stack(static_cast<engine::SoftwareStack>(stack));
}

class Fit {
 public:
  // `known`: with which the rules that fill what an entry leaves open see what fits.
  Fit(std::span<const io::Measurement> entries, const io::PresetLibrary& library, const io::CalibrationFile& file,
      Task task, const Calibration& known)
      : best_(file.start), start_(file.start) {
    for (const io::SearchedValue& value : file.searched)
      if (serves(value.stack) == (task == Task::serving)) searched_.push_back(value);
    const std::vector<std::string>& chips = file.chips;
    io::PresetLibrary calibrated = library;
    calibrated.calibrate(chips, known);
    for (const io::Measurement& entry : entries) {
      if (entry.kind != "measured" || !entry.hardware ||
          std::find(chips.begin(), chips.end(), entry.hardware->chip_id) == chips.end() ||
          (entry.task == "inference") != (task == Task::serving))
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
      if (task == Task::serving && !serves(row.stack))
        continue;  // nothing that serving decides of training software is searched
      rows_.push_back(std::move(row));
    }
    for (Row& row : rows_) evaluate(row, best_);
  }

  // As another fit of the same task left it.
  void start_from(const Calibration& from) {
    start_ = from;
    restart(from);
  }
  std::size_t size() const { return rows_.size(); }
  const Calibration& best() const { return best_; }
  // Without the median it is smooth enough to go downhill on.
  double objective(bool with_median = true) const {
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
    // A family counts by the root of its size, so that neither the number of its rows nor their fewness decides
    // alone.
    double sum = 0, weight = 0;
    for (const auto& [name, family] : families) {
      const double w = std::sqrt(family.second);
      sum += w * family.first / family.second;
      weight += w;
    }
    return sum / weight + (with_median ? 0.5 * engine::median(std::move(all)) : 0.0) + moved();
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
    for (Row& row : rows_)
      row.held = (!family.empty() && row.family == family) || (!model.empty() && row.model == model);
  }
  void restart(const Calibration& from) {
    best_ = from;
    for (Row& row : rows_) evaluate(row, best_);
  }

  // Downhill over all parameters at once and one by one, in turn.
  void search(int rounds, int shrinks) {
    double now = objective();
    Calibration found = best_;
    double least = now;
    for (int round = 0; round < rounds; ++round) {
      descend();
      now = one_by_one(2, objective());
      if (now < least) least = now, found = best_;
    }
    restart(found);
    one_by_one(shrinks, least);
  }

 private:
  double one_by_one(int shrinks, double now) {
    double step = kFirstStep;
    for (int shrink = 0; shrink < shrinks; ++shrink, step /= 2) {
      for (int pass = 0; pass < kPassesAStep; ++pass) {
        const double before = now;
        const Calibration from = best_;
        for (const io::SearchedValue& value : searched_) now = improve(value, step, now);
        now = follow(from, now);
        if (before - now < kEnough * before) break;
      }
    }
    return now;
  }
  double moved() const {
    double sum = 0;
    for (const io::SearchedValue& value : searched_) {
      const double from = of(start_, value);
      sum += std::abs(of(best_, value) - from) / scale(kCalibrationRows[value.parameter], from);
    }
    return kMoved * sum;
  }
  void evaluate(Row& row, const Calibration& calibration) {
    auto& chip = row.entry.scenario ? row.entry.scenario->cluster.chip : row.entry.cluster->chip;
    chip.calibration.stacks = calibration.stacks;
    const EntryPrediction predicted = predict(row.entry, scratch_, row.report);
    row.loss.assign(row.values.size(), kLargestError);
    row.error.assign(row.values.size() + 1, 0);
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      const double* value = std::get_if<double>(&predicted.values[row.values[i]]);
      if (value == nullptr || !(*value > 0)) continue;
      row.error[i] = std::log(*value / *row.entry.entry->values[row.values[i]].value);
      row.loss[i] = std::min(kLargestError, std::abs(row.error[i]));
    }
    if (predicted.fits) return;
    row.error.back() = kExcess * predicted.excess;
    // That it ran is certain, however little of it is stated.
    row.loss[0] += (kDoesNotFit + kExcess * predicted.excess) / row.weight;
  }

  static bool takes_part(const io::SearchedValue& value, const Row& row) { return value.of[row.stack]; }
  static double of(const Calibration& calibration, const io::SearchedValue& value) {
    const auto s = static_cast<std::size_t>(std::find(value.of.begin(), value.of.end(), true) - value.of.begin());
    return calibration.stacks[std::min(s, kSoftwareStacks - 1)].values[value.parameter];
  }
  double at(const io::SearchedValue& value) const { return of(best_, value); }
  static void put(Calibration& calibration, const io::SearchedValue& value, double x) {
    for (std::size_t s = 0; s < kSoftwareStacks; ++s)
      if (value.of[s]) calibration.stacks[s].values[value.parameter] = x;
  }
  bool decided(const io::SearchedValue& value) const {
    return std::any_of(rows_.begin(), rows_.end(),
                       [&](const Row& row) { return !row.held && takes_part(value, row); });
  }

  // Weights of the rows' values as the objective has them, its median aside.
  std::vector<std::vector<double>> weights() const {
    std::map<std::string, double> families;
    const auto name = [](const Row& row, std::size_t i) { return i > 0 ? row.family + "/memory" : row.family; };
    for (const Row& row : rows_)
      for (std::size_t i = 0; i < row.loss.size() && !row.held; ++i) families[name(row, i)] += row.weight;
    std::vector<std::vector<double>> out(rows_.size());
    for (std::size_t k = 0; k < rows_.size(); ++k)
      for (std::size_t i = 0; i < rows_[k].error.size(); ++i) {
        const std::string family = name(rows_[k], i < rows_[k].loss.size() ? i : 0);
        out[k].push_back(rows_[k].held ? 0 : rows_[k].weight / std::sqrt(families[family]));
      }
    return out;
  }

  // Gauss, Newton, Levenberg and Marquardt on the errors; reweighted, so that their absolute values are minimised and
  // not their squares (Lawson 1961). A step is taken only if the objective likes it.
  void descend() {
    std::vector<io::SearchedValue> moved;
    for (const io::SearchedValue& value : searched_)
      if (decided(value)) moved.push_back(value);
    const std::size_t n = moved.size();
    const auto weight = weights();
    double now = objective(false), damping = 0.1;
    for (int iteration = 0; iteration < kDescents; ++iteration) {
      std::vector<double> range(n), matrix(n * n, 0.0), gradient(n, 0.0);
      std::vector<std::vector<double>> slopes(n);
      for (std::size_t j = 0; j < n; ++j) {
        const auto& bounds = kCalibrationRows[moved[j].parameter];
        const double value = at(moved[j]);
        range[j] = scale(bounds, value);
        const double step = value + kNudge * range[j] <= bounds.most ? kNudge * range[j] : -kNudge * range[j];
        Calibration tried = best_;
        put(tried, moved[j], value + step);
        for (Row& row : rows_) {
          const std::size_t values = row.error.size();
          if (row.held || !takes_part(moved[j], row)) {
            slopes[j].insert(slopes[j].end(), values, 0.0);
            continue;
          }
          const std::vector<double> loss = row.loss, error = row.error;
          evaluate(row, tried);
          for (std::size_t i = 0; i < values; ++i) slopes[j].push_back((row.error[i] - error[i]) * range[j] / step);
          row.loss = loss, row.error = error;
        }
      }
      std::size_t at_value = 0;
      for (std::size_t k = 0; k < rows_.size(); ++k)
        for (std::size_t i = 0; i < rows_[k].error.size(); ++i, ++at_value) {
          const double error = rows_[k].error[i];
          if (weight[k][i] <= 0 || std::abs(error) > kLargestError) continue;
          const double w = weight[k][i] / std::max(std::abs(error), kSmallError);
          for (std::size_t a = 0; a < n; ++a) {
            if (slopes[a][at_value] == 0) continue;
            gradient[a] -= w * slopes[a][at_value] * error;
            for (std::size_t b = 0; b < n; ++b) matrix[a * n + b] += w * slopes[a][at_value] * slopes[b][at_value];
          }
        }
      bool better = false;
      for (int attempt = 0; attempt < kDampings && !better; ++attempt) {
        const std::vector<double> step = damped_solution(matrix, gradient, damping);
        Calibration tried = best_;
        for (std::size_t j = 0; j < n; ++j) {
          const auto& bounds = kCalibrationRows[moved[j].parameter];
          put(tried, moved[j],
              std::clamp(at(moved[j]) + range[j] * std::clamp(step[j], -kLongestStep, kLongestStep), bounds.least,
                         bounds.most));
        }
        const double next = accept(tried, now, false);
        better = next < now;
        damping = better ? std::max(damping / 3, 1e-4) : damping * 4;
        if (better && now - next < kEnough * now) iteration = kDescents;
        now = next;
      }
      if (!better) break;
    }
  }
  // (A + damping (diag A + 1)) x = b, A symmetric and not negative: Cholesky.
  static std::vector<double> damped_solution(std::vector<double> a, std::vector<double> x, double damping) {
    const std::size_t n = x.size();
    for (std::size_t i = 0; i < n; ++i) a[i * n + i] += damping * (a[i * n + i] + kFlat);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < j; ++k) a[j * n + j] -= a[j * n + k] * a[j * n + k];
      a[j * n + j] = std::sqrt(std::max(a[j * n + j], 1e-12));
      for (std::size_t i = j + 1; i < n; ++i) {
        for (std::size_t k = 0; k < j; ++k) a[i * n + j] -= a[i * n + k] * a[j * n + k];
        a[i * n + j] /= a[j * n + j];
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < i; ++k) x[i] -= a[i * n + k] * x[k];
      x[i] /= a[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t k = i + 1; k < n; ++k) x[i] -= a[k * n + i] * x[k];
      x[i] /= a[i * n + i];
    }
    return x;
  }

  // Goes to `tried` if the objective is below `now` there; the objective.
  double accept(Calibration& tried, double now, bool with_median = true) {
    std::vector<std::pair<std::vector<double>, std::vector<double>>> kept;
    for (Row& row : rows_) {
      kept.emplace_back(row.loss, row.error);
      if (best_.stacks[row.stack].values != tried.stacks[row.stack].values) evaluate(row, tried);
    }
    std::swap(best_, tried);
    if (const double next = objective(with_median); next < now) return next;
    std::swap(best_, tried);
    for (std::size_t i = 0; i < rows_.size(); ++i) std::tie(rows_[i].loss, rows_[i].error) = kept[i];
    return now;
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
    return tried == best_ ? now : accept(tried, now);
  }

  // One parameter a step up or down.
  double improve(const io::SearchedValue& value, double step, double now) {
    if (!decided(value)) return now;
    const auto& bounds = kCalibrationRows[value.parameter];
    for (const double direction : {1.0, -1.0}) {
      const double before = at(value);
      const double next = std::clamp(before + direction * step * scale(bounds, before), bounds.least, bounds.most);
      if (next == before) continue;
      Calibration tried = best_;
      put(tried, value, next);
      if (const double found = accept(tried, now); found < now) return found;
    }
    return now;
  }
  // Latencies and sizes are searched in proportion to what they are, from the hundredth of their range on.
  static double scale(const engine::CalibrationRow& row, double value) {
    const double range = row.most - row.least;
    return row.most > 1 || row.most < 0.01 ? std::max(2 * std::abs(value), range / 50) : range;
  }

  std::vector<Row> rows_;
  engine::EvaluationScratch scratch_;
  Calibration best_, start_;
  std::vector<io::SearchedValue> searched_;
};

}  // namespace

CalibrationFit fit_calibration(std::span<const io::Measurement> entries, const io::PresetLibrary& library,
                               const io::CalibrationFile& file, bool hold_out) {
  CalibrationFit out;
  // Both fits, one after the other; the rows of one family or model may be left out.
  struct Fits {
    Fit training, serving;
    void search(const Calibration& start, int rounds, int shrinks) {
      training.start_from(start);
      training.search(rounds, shrinks);
      serving.start_from(training.best());
      serving.search(rounds, shrinks);
    }
    std::vector<double> errors(const std::string& family, const std::string& model) const {
      std::vector<double> all = training.errors(family, model);
      const std::vector<double> more = serving.errors(family, model);
      all.insert(all.end(), more.begin(), more.end());
      return all;
    }
    double objective() const { return training.objective() + serving.objective(); }
  };
  const auto make = [&](const Calibration& known) {
    return Fits{Fit(entries, library, file, Task::training, known),
                Fit(entries, library, file, Task::serving, known)};
  };
  Fits fits = make(file.start);
  out.rows = fits.training.size() + fits.serving.size();
  out.start = fits.objective();
  fits.search(file.start, kTogether, kShrinks);
  // What fitted was judged by the start; once more by what has been found.
  const Calibration first = fits.serving.best();
  fits = make(first);
  fits.search(first, 1, kShrinks);
  out.objective = fits.objective();
  out.calibration = fits.serving.best();
  const std::vector<double> errors = fits.errors({}, {});
  out.median = engine::median(errors);
  for (const double error : errors) out.mean += error / static_cast<double>(errors.size());
  if (!hold_out) return out;

  std::vector<HeldOut> folds;
  for (const bool families : {true, false}) {
    std::set<std::string> names;
    for (const Fit* fit : {&fits.training, &fits.serving})
      for (const std::string& name : fit->names(families)) names.insert(name);
    for (const std::string& name : names) {
      HeldOut fold;
      fold.name = name;
      const std::vector<double> with = families ? fits.errors(name, {}) : fits.errors({}, name);
      fold.rows = with.size();
      fold.fitted = engine::median(with);
      (families ? out.by_family : out.by_model).push_back(std::move(fold));
    }
  }
  // Each fold is fitted anew from the start; what one finds does not depend on which thread gets it.
  std::vector<std::vector<double>> left_out(out.by_family.size() + out.by_model.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    Fits own = make(file.start);
    for (std::size_t i = next++; i < left_out.size(); i = next++) {
      const bool families = i < out.by_family.size();
      HeldOut& fold = families ? out.by_family[i] : out.by_model[i - out.by_family.size()];
      const std::string family = families ? fold.name : std::string(), model = families ? std::string() : fold.name;
      own.training.hold(family, model);
      own.serving.hold(family, model);
      own.search(file.start, 1, kShrinksLeftOut);
      left_out[i] = own.errors(family, model);
      fold.held_out = engine::median(left_out[i]);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  std::vector<double> by_family, by_model;
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    std::vector<double>& all = i < out.by_family.size() ? by_family : by_model;
    all.insert(all.end(), left_out[i].begin(), left_out[i].end());
  }
  out.family_left_out = engine::median(by_family);
  out.model_left_out = engine::median(by_model);
  return out;
}

}  // namespace roofscape::evidence
