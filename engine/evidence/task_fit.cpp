#include "engine/evidence/task_fit.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "engine/evidence/calibration_fit.h"
#include "engine/evidence/calibration_priors.h"

namespace roofscape::evidence {
namespace {

using engine::Calibration;
using engine::kCalibrationRows;
using engine::kSoftwareStacks;
using Vector = std::vector<double>;

constexpr int kDampings = 6;          // tries of one step
constexpr double kNudge = 0.05;       // of a coordinate, to see what it does
constexpr double kLongestStep = 1;    // of a coordinate
constexpr double kSmallError = 0.03;  // of |ln|: below it errors count as their squares
constexpr double kEnough = 1e-4;      // of the objective: less is no progress
constexpr double kGood = 3e-3;        // a step that gains so much may use what was seen before it
constexpr double kMostRoom = 1;       // standard deviations
constexpr int kHalvings = 16;
constexpr double kFirstPull = 0.01;  // with which it is seen what the runs decide
constexpr double kDecided = 0.3;  // of a value's variance: less taken away by the runs, and it stays where it starts

double rho(double error) { return std::hypot(error, kSmallError) - kSmallError; }
// Of a square that is reweighted to rho.
double weight_of(double weight, double error) { return weight / std::hypot(error, kSmallError); }

Prior prior_of_value(const io::SearchedValue& value) { return prior_of(kCalibrationRows[value.parameter].parameter); }

// (A + damping diag A) x = b, A symmetric and positive: Cholesky.
Vector damped_solution(Vector a, Vector x, double damping) {
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) a[i * n + i] *= 1 + damping;
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

}  // namespace

double searched_value(const Calibration& calibration, const io::SearchedValue& value) {
  const auto first = static_cast<std::size_t>(std::find(value.of.begin(), value.of.end(), true) - value.of.begin());
  return calibration.stacks[std::min(first, kSoftwareStacks - 1)].values[value.parameter];
}

void set_searched_value(Calibration& calibration, const io::SearchedValue& value, double x) {
  for (std::size_t s = 0; s < kSoftwareStacks; ++s)
    if (value.of[s]) calibration.stacks[s].values[value.parameter] = x;
}

struct TaskFit::Minimum {
  Calibration calibration;
  Vector u, u0;  // the coordinates of the values searched; where they start
  std::vector<Prior> priors;
  double pull = 0;
  Vector weights;  // of the observations; 0 of those that are left out
  Vector errors;
  // What one coordinate does to the errors. It changes slowly: one table serves as long as it makes good progress.
  std::vector<Vector> slopes;

  double objective(const Vector& of_errors, const Vector& at) const {
    double sum = 0;
    for (std::size_t i = 0; i < of_errors.size(); ++i)
      if (weights[i] > 0) sum += weights[i] * rho(of_errors[i]);
    for (std::size_t j = 0; j < u.size(); ++j) sum += pull * (at[j] - u0[j]) * (at[j] - u0[j]);
    return sum;
  }
  // Of the reweighted squares.
  Vector curvature() const {
    const std::size_t n = u.size();
    Vector matrix(n * n, 0.0);
    for (std::size_t j = 0; j < n; ++j) matrix[j * n + j] = 2 * pull;
    std::vector<std::size_t> touched;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      if (weights[i] <= 0) continue;
      touched.clear();
      for (std::size_t j = 0; j < n; ++j)
        if (slopes[j][i] != 0) touched.push_back(j);
      const double w = weight_of(weights[i], errors[i]);
      for (const std::size_t a : touched)
        for (const std::size_t b : touched) matrix[a * n + b] += w * slopes[a][i] * slopes[b][i];
    }
    return matrix;
  }
  Vector descent() const {
    Vector out(u.size());
    for (std::size_t j = 0; j < u.size(); ++j) {
      out[j] = -2 * pull * (u[j] - u0[j]);
      for (std::size_t i = 0; i < errors.size(); ++i)
        if (weights[i] > 0 && slopes[j][i] != 0)
          out[j] -= weight_of(weights[i], errors[i]) * slopes[j][i] * errors[i];
    }
    return out;
  }
};

TaskFit::TaskFit(std::span<const io::Measurement> entries, const io::PresetLibrary& library,
                 const io::CalibrationFile& file, FitTask task, const Calibration& known)
    : file_(file), task_(task), rows_(entries, library, file, task, known) {}

void TaskFit::choose(const Calibration& at, std::vector<io::Decided>& decided) {
  searched_.clear();
  const Vector base = predictions(at);
  for (std::size_t i = 0; i < file_.searched.size(); ++i) {
    const io::SearchedValue& value = file_.searched[i];
    if (!decides(task_, value)) continue;
    decided[i] = {};
    const Prior prior = prior_of_value(value);
    if (!has_room(prior, searched_value(file_.start, value))) continue;
    std::set<std::size_t> runs;
    std::set<std::string> sources;
    for (const double bound : {prior.least, prior.most}) {
      Calibration moved = at;
      set_searched_value(moved, value, bound);
      Vector errors = base;
      predict(moved, value, errors);
      for (std::size_t k = 0; k < rows_.rows().size(); ++k) {
        const FitRow& row = rows_.rows()[k];
        for (std::size_t o = 0; o < row.values.size(); ++o)
          if (std::abs(errors[row.first + o] - base[row.first + o]) >= kFeels) {
            runs.insert(k);
            sources.insert(row.entry.entry->family);
          }
      }
    }
    if (runs.size() < kFewestRuns) continue;
    decided[i].runs = runs.size();
    decided[i].sources = sources.size();
    searched_.push_back(i);
  }
}

void TaskFit::look(Minimum& at, const Held& held) {
  at.slopes.assign(at.u.size(), at.errors);
  for (std::size_t j = 0; j < at.u.size(); ++j) {
    const io::SearchedValue& value = file_.searched[searched_[j]];
    Calibration nudged = at.calibration;
    const double nudge = at.u[j] > at.u0[j] ? -kNudge : kNudge;
    set_searched_value(nudged, value, value_at(at.priors[j], at.u[j] + nudge));
    predict(nudged, value, at.slopes[j], held);
    for (std::size_t i = 0; i < at.errors.size(); ++i) at.slopes[j][i] = (at.slopes[j][i] - at.errors[i]) / nudge;
  }
}

TaskFit::Minimum TaskFit::minimise(const Calibration& base, const Calibration& from, double pull, const Held& held,
                                   int steps) {
  const std::size_t n = searched_.size();
  Minimum at;
  at.calibration = base;
  at.pull = pull;
  at.u.resize(n), at.u0.resize(n);
  for (std::size_t j = 0; j < n; ++j) {
    const io::SearchedValue& value = file_.searched[searched_[j]];
    at.priors.push_back(prior_of_value(value));
    at.u0[j] = coordinate(at.priors[j], searched_value(file_.start, value));
    const double x = searched_value(from, value);
    at.u[j] = has_room(at.priors[j], x) ? coordinate(at.priors[j], x) : at.u0[j];
  }
  const auto set = [&](Calibration& calibration, const Vector& u) {
    for (std::size_t j = 0; j < n; ++j)
      set_searched_value(calibration, file_.searched[searched_[j]], value_at(at.priors[j], u[j]));
  };
  at.weights.resize(rows_.observations());
  for (std::size_t k = 0; k < rows_.rows().size(); ++k)
    for (std::size_t o = 0; o < rows_.rows()[k].weights.size(); ++o)
      at.weights[rows_.rows()[k].first + o] = held.empty() || !held[k] ? rows_.rows()[k].weights[o] : 0;
  set(at.calibration, at.u);
  at.errors = predictions(at.calibration, held);
  double now = at.objective(at.errors, at.u), damping = 0.1;
  bool fresh = true;
  if (steps > 0) look(at, held);
  for (int step = 0; step < steps && n > 0; ++step) {
    const Vector matrix = at.curvature(), gradient = at.descent();
    double gained = 0;
    for (int attempt = 0; attempt < kDampings && gained <= 0; ++attempt) {
      const Vector move = damped_solution(matrix, gradient, damping);
      Vector tried = at.u;
      for (std::size_t j = 0; j < n; ++j) tried[j] += std::clamp(move[j], -kLongestStep, kLongestStep);
      Calibration there = base;
      set(there, tried);
      Vector errors_there = predictions(there, held);
      const double next = at.objective(errors_there, tried);
      gained = now - next;
      damping = gained > 0 ? std::max(damping / 4, 1e-4) : damping * 4;
      if (gained > 0)
        now = next, at.calibration = there, at.u = std::move(tried), at.errors = std::move(errors_there);
    }
    if (gained >= kGood * now) {
      fresh = false;
      continue;
    }
    if (fresh && gained < kEnough * now) break;
    look(at, held);
    fresh = true;
    damping = std::min(damping, 1.0);
  }
  return at;
}

TaskFit::Found TaskFit::search(const Calibration& base, const Calibration& from, double pull, const Held& held,
                               int steps) {
  Minimum at = minimise(base, from, pull, held, steps);
  return {at.calibration, at.objective(at.errors, at.u)};
}

Vector TaskFit::decided_by_data(const Minimum& at) {
  const Vector matrix = at.curvature();
  Vector out(at.u.size());
  for (std::size_t j = 0; j < out.size(); ++j) {
    Vector unit(out.size(), 0.0);
    unit[j] = 1;
    out[j] = 1 - 2 * at.pull * damped_solution(matrix, unit, 0)[j];
  }
  return out;
}

Calibration TaskFit::keep_what_is_decided(const Calibration& base, std::vector<io::Decided>& decided) {
  Minimum at = minimise(base, base, kFirstPull, {}, kMostFitSteps);
  look(at, {});
  const Vector informed = decided_by_data(at);
  std::vector<std::size_t> kept;
  for (std::size_t j = 0; j < searched_.size(); ++j) {
    const std::size_t i = searched_[j];
    if (informed[j] >= kDecided) {
      kept.push_back(i);
    } else {
      decided[i] = {};
      set_searched_value(at.calibration, file_.searched[i], searched_value(file_.start, file_.searched[i]));
    }
  }
  searched_ = std::move(kept);
  return at.calibration;
}

Vector TaskFit::predictions(const Calibration& calibration, const Held& held) {
  Vector errors(rows_.observations());
  for (std::size_t k = 0; k < rows_.rows().size(); ++k)
    if (held.empty() || !held[k]) predict_row(k, calibration, errors);
  return errors;
}

void TaskFit::errors_of(const Calibration& calibration, const std::function<bool(const io::Measurement&)>& counts,
                        Vector& out) {
  Vector errors(rows_.observations());
  for (std::size_t k = 0; k < rows_.rows().size(); ++k) {
    const FitRow& row = rows_.rows()[k];
    if (!counts(*row.entry.entry)) continue;
    predict_row(k, calibration, errors);
    for (std::size_t o = 0; o < row.values.size(); ++o) out.push_back(std::abs(std::expm1(errors[row.first + o])));
  }
}

TaskFit::Held TaskFit::held(const std::function<bool(const io::Measurement&)>& is_held) const {
  Held out;
  for (const FitRow& row : rows_.rows()) out.push_back(is_held(*row.entry.entry));
  return out;
}

Calibration TaskFit::make_room(Calibration found, const Held& held) {
  for (std::size_t s = 0; s < kSoftwareStacks; ++s) {
    const auto lowered = [&](double by) {
      Calibration out = found;
      for (const io::SearchedValue& value : file_.searched) {
        const bool memory = of_memory_alone(kCalibrationRows[value.parameter].parameter);
        const Prior prior = prior_of_value(value);
        if (memory && value.of[s] && has_room(prior, searched_value(file_.start, value)))
          set_searched_value(out, value, value_at(prior, coordinate(prior, searched_value(found, value)) - by));
      }
      return out;
    };
    const auto fits = [&](std::size_t k, const Calibration& calibration) {
      Vector errors(rows_.rows()[k].values.size() + 1);
      rows_.predict(k, calibration, errors);
      return errors.back() <= 0;
    };
    std::vector<std::size_t> helped;
    for (std::size_t k = 0; k < rows_.rows().size(); ++k)
      if (rows_.rows()[k].stack == s && (held.empty() || !held[k]) && !fits(k, found)) helped.push_back(k);
    const Calibration lowest = lowered(kMostRoom);
    std::erase_if(helped, [&](std::size_t k) { return !fits(k, lowest); });
    double least = 0, most = kMostRoom;
    for (int i = 0; i < kHalvings && !helped.empty(); ++i) {
      const double middle = (least + most) / 2;
      const Calibration there = lowered(middle);
      const bool all = std::all_of(helped.begin(), helped.end(), [&](std::size_t k) { return fits(k, there); });
      (all ? most : least) = middle;
    }
    if (!helped.empty()) found = lowered(most);
  }
  return found;
}

void TaskFit::predict_row(std::size_t k, const Calibration& calibration, Vector& errors) {
  const FitRow& row = rows_.rows()[k];
  rows_.predict(k, calibration, std::span(errors).subspan(row.first, row.values.size() + 1));
}

void TaskFit::predict(const Calibration& calibration, const io::SearchedValue& value, Vector& errors,
                      const Held& held) {
  for (std::size_t k = 0; k < rows_.rows().size(); ++k)
    if (value.of[rows_.rows()[k].stack] && (held.empty() || !held[k])) predict_row(k, calibration, errors);
}

}  // namespace roofscape::evidence
