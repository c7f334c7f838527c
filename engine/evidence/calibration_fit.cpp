#include "engine/evidence/calibration_fit.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "engine/base/stats.h"
#include "engine/base/workers.h"
#include "engine/evidence/calibration_priors.h"
#include "engine/evidence/fit_rows.h"

namespace roofscape::evidence {
namespace {

using engine::Calibration;
using engine::kCalibrationRows;
using engine::kSoftwareStacks;

constexpr int kSteps = 30;            // of Gauss and Newton, at most
constexpr int kDampings = 6;          // tries of one of them
constexpr double kNudge = 0.05;       // of a coordinate, to see what it does
constexpr double kLongestStep = 1;    // of a coordinate
constexpr double kSmallError = 0.03;  // of |ln|: below it errors count as their squares
constexpr double kEnough = 1e-4;      // of the objective: less is no progress
constexpr double kGood = 3e-3;        // a step that gains so much may use what was seen before it
constexpr double kMostRoom = 1;       // standard deviations
constexpr int kHalvings = 16;
constexpr int kDigits = 5;  // of a value that ships
constexpr std::size_t kFolds = 10;
constexpr double kFirstPull = 0.01;  // with which it is seen what the runs decide
constexpr double kDecided = 0.3;  // of a value's variance: less taken away by the runs, and it stays where it starts

double rounded(double x) {
  if (x == 0) return 0;
  const double scale = std::pow(10.0, kDigits - 1 - std::floor(std::log10(std::abs(x))));
  return std::round(x * scale) / scale;
}

// One of ten parts, by a name; FNV-1a.
std::string part_of(std::string_view name) {
  std::uint32_t hash = 2166136261U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return std::to_string((hash >> 8) % kFolds);
}

double rho(double error) { return std::hypot(error, kSmallError) - kSmallError; }

using Vector = std::vector<double>;

// The runs of one task of one file, and the values that they decide.
class Fit {
 public:
  Fit(std::span<const io::Measurement> entries, const io::PresetLibrary& library, const io::CalibrationFile& file,
      FitTask task, const Calibration& known)
      : file_(file), task_(task), rows_(entries, library, file, task, known) {}

  const FitRows& rows() const { return rows_; }

  // Which values are fitted: those that enough runs feel with the calibration `at`. Counts who feels them.
  void choose(const Calibration& at, std::vector<io::Decided>& decided) {
    searched_.clear();
    const Vector base = predictions(at);
    for (std::size_t i = 0; i < file_.searched.size(); ++i) {
      const io::SearchedValue& value = file_.searched[i];
      if (!decides(task_, value)) continue;
      decided[i] = {};
      const Prior prior = prior_of(kCalibrationRows[value.parameter].parameter);
      if (!has_room(prior, of(file_.start, value))) continue;
      std::set<std::size_t> runs;
      std::set<std::string> sources;
      for (const double bound : {prior.least, prior.most}) {
        Calibration moved = at;
        put(moved, value, bound);
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

  // From `from`, the rows in `held` left out; what is not searched is as in `base`.
  Calibration search(const Calibration& base, const Calibration& from, double pull, const std::vector<bool>& held,
                     int steps, double* objective = nullptr, Vector* informed = nullptr) {
    const std::size_t n = searched_.size();
    Calibration best = base;
    Vector u(n), u0(n);
    std::vector<Prior> priors;
    for (std::size_t j = 0; j < n; ++j) {
      const io::SearchedValue& value = file_.searched[searched_[j]];
      priors.push_back(prior_of(kCalibrationRows[value.parameter].parameter));
      u0[j] = coordinate(priors[j], of(file_.start, value));
      const double x = of(from, value);
      u[j] = has_room(priors[j], x) ? coordinate(priors[j], x) : u0[j];
    }
    const auto set = [&](Calibration& calibration, const Vector& at) {
      for (std::size_t j = 0; j < n; ++j) put(calibration, file_.searched[searched_[j]], value_at(priors[j], at[j]));
    };
    Vector weights(rows_.observations());
    for (std::size_t k = 0; k < rows_.rows().size(); ++k)
      for (std::size_t o = 0; o < rows_.rows()[k].weights.size(); ++o)
        weights[rows_.rows()[k].first + o] = held.empty() || !held[k] ? rows_.rows()[k].weights[o] : 0;
    const auto objective_of = [&](const Vector& errors, const Vector& at) {
      double sum = 0;
      for (std::size_t i = 0; i < errors.size(); ++i)
        if (weights[i] > 0) sum += weights[i] * rho(errors[i]);
      for (std::size_t j = 0; j < n; ++j) sum += pull * (at[j] - u0[j]) * (at[j] - u0[j]);
      return sum;
    };
    set(best, u);
    Vector errors = predictions(best, held);
    double now = objective_of(errors, u), damping = 0.1;
    // What one coordinate does to the errors. It changes slowly: one table serves as long as it makes good progress.
    std::vector<Vector> slopes;
    bool fresh = false;
    const auto look = [&] {
      slopes.assign(n, errors);
      for (std::size_t j = 0; j < n; ++j) {
        Calibration nudged = best;
        const double nudge = u[j] > u0[j] ? -kNudge : kNudge;
        put(nudged, file_.searched[searched_[j]], value_at(priors[j], u[j] + nudge));
        predict(nudged, file_.searched[searched_[j]], slopes[j], held);
        for (std::size_t i = 0; i < errors.size(); ++i) slopes[j][i] = (slopes[j][i] - errors[i]) / nudge;
      }
      fresh = true;
    };
    if (steps > 0) look();
    for (int step = 0; step < steps && n > 0; ++step) {
      Vector matrix(n * n, 0.0), gradient(n);
      for (std::size_t j = 0; j < n; ++j) {
        gradient[j] = -2 * pull * (u[j] - u0[j]);
        matrix[j * n + j] = 2 * pull;
      }
      std::vector<std::size_t> touched;
      for (std::size_t i = 0; i < errors.size(); ++i) {
        if (weights[i] <= 0) continue;
        touched.clear();
        for (std::size_t j = 0; j < n; ++j)
          if (slopes[j][i] != 0) touched.push_back(j);
        const double w = weights[i] / std::hypot(errors[i], kSmallError);
        for (const std::size_t a : touched) {
          gradient[a] -= w * slopes[a][i] * errors[i];
          for (const std::size_t b : touched) matrix[a * n + b] += w * slopes[a][i] * slopes[b][i];
        }
      }
      double gained = 0;
      for (int attempt = 0; attempt < kDampings && gained <= 0; ++attempt) {
        const Vector move = damped_solution(matrix, gradient, damping);
        Vector tried = u;
        for (std::size_t j = 0; j < n; ++j) tried[j] += std::clamp(move[j], -kLongestStep, kLongestStep);
        Calibration there = base;
        set(there, tried);
        Vector errors_there = predictions(there, held);
        const double next = objective_of(errors_there, tried);
        gained = now - next;
        damping = gained > 0 ? std::max(damping / 4, 1e-4) : damping * 4;
        if (gained > 0) now = next, best = there, u = std::move(tried), errors = std::move(errors_there);
      }
      if (gained >= kGood * now) {
        fresh = false;
        continue;
      }
      if (fresh && gained < kEnough * now) break;
      look();
      damping = std::min(damping, 1.0);
    }
    if (objective != nullptr) *objective = now;
    if (informed != nullptr) *informed = decided_by_data(u, errors, weights, pull, look, slopes);
    return best;
  }

  // Fits with all runs and gives up what they say less of than was known before; the calibration found before that.
  Calibration keep_what_is_decided(const Calibration& base, std::vector<io::Decided>& decided) {
    Vector informed;
    Calibration found = search(base, base, kFirstPull, {}, kSteps, nullptr, &informed);
    std::vector<std::size_t> kept;
    for (std::size_t j = 0; j < searched_.size(); ++j) {
      const std::size_t i = searched_[j];
      if (informed[j] >= kDecided) {
        kept.push_back(i);
      } else {
        decided[i] = {};
        put(found, file_.searched[i], of(file_.start, file_.searched[i]));
      }
    }
    searched_ = std::move(kept);
    return found;
  }

  // ln(predicted / measured) of each observation; of held rows 0.
  Vector predictions(const Calibration& calibration, const std::vector<bool>& held = {}) {
    Vector errors(rows_.observations());
    for (std::size_t k = 0; k < rows_.rows().size(); ++k)
      if (held.empty() || !held[k]) predict_row(k, calibration, errors);
    return errors;
  }
  // Absolute errors of the rows that `counts` says.
  template <class Counts>
  void errors_of(const Calibration& calibration, Counts counts, Vector& out) {
    Vector errors(rows_.observations());
    for (std::size_t k = 0; k < rows_.rows().size(); ++k) {
      const FitRow& row = rows_.rows()[k];
      if (!counts(*row.entry.entry)) continue;
      predict_row(k, calibration, errors);
      for (std::size_t o = 0; o < row.values.size(); ++o) out.push_back(std::abs(std::expm1(errors[row.first + o])));
    }
  }
  std::vector<bool> held(std::optional<io::LeftOutKind> kind, const std::string& name) const {
    std::vector<bool> out;
    for (const FitRow& row : rows_.rows())
      out.push_back((kind ? left_out_name(*kind, *row.entry.entry)
                          : part_of(left_out_name(io::LeftOutKind::model, *row.entry.entry))) == name);
    return out;
  }
  // A run that completed did fit. Where the most likely values say otherwise, those that only memory feels go down
  // together, of each generation of software by itself, as far as it takes; runs that kMostRoom does not make fit are
  // off for other reasons and decide nothing here.
  Calibration make_room(Calibration found, const std::vector<bool>& held) {
    for (std::size_t s = 0; s < kSoftwareStacks; ++s) {
      const auto lowered = [&](double by) {
        Calibration out = found;
        for (const io::SearchedValue& value : file_.searched) {
          const engine::Calibrated parameter = kCalibrationRows[value.parameter].parameter;
          const bool memory = of_memory_alone(parameter);
          const Prior prior = prior_of(parameter);
          if (memory && value.of[s] && has_room(prior, of(file_.start, value)))
            put(out, value, value_at(prior, coordinate(prior, of(found, value)) - by));
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
  const std::vector<std::size_t>& searched() const { return searched_; }
  void search_as(const Fit& other) { searched_ = other.searched_; }

  static double of(const Calibration& calibration, const io::SearchedValue& value) {
    const auto first = static_cast<std::size_t>(std::find(value.of.begin(), value.of.end(), true) - value.of.begin());
    return calibration.stacks[std::min(first, kSoftwareStacks - 1)].values[value.parameter];
  }
  static void put(Calibration& calibration, const io::SearchedValue& value, double x) {
    for (std::size_t s = 0; s < kSoftwareStacks; ++s)
      if (value.of[s]) calibration.stacks[s].values[value.parameter] = x;
  }

 private:
  // Of each value searched the share of its variance before that the runs take away: 1 - pull (A + pull)^-1.
  template <class Look>
  static Vector decided_by_data(const Vector& u, const Vector& errors, const Vector& weights, double pull, Look look,
                                const std::vector<Vector>& slopes) {
    look();
    const std::size_t n = u.size();
    Vector matrix(n * n, 0.0), out(n);
    for (std::size_t j = 0; j < n; ++j) matrix[j * n + j] = 2 * pull;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      if (weights[i] <= 0) continue;
      const double w = weights[i] / std::hypot(errors[i], kSmallError);
      for (std::size_t a = 0; a < n; ++a)
        if (slopes[a][i] != 0)
          for (std::size_t b = 0; b < n; ++b) matrix[a * n + b] += w * slopes[a][i] * slopes[b][i];
    }
    for (std::size_t j = 0; j < n; ++j) {
      Vector unit(n, 0.0);
      unit[j] = 1;
      out[j] = 1 - 2 * pull * damped_solution(matrix, unit, 0)[j];
    }
    return out;
  }
  void predict_row(std::size_t k, const Calibration& calibration, Vector& errors) {
    const FitRow& row = rows_.rows()[k];
    rows_.predict(k, calibration, std::span(errors).subspan(row.first, row.values.size() + 1));
  }
  // The rows whose stack has the value.
  void predict(const Calibration& calibration, const io::SearchedValue& value, Vector& errors,
               const std::vector<bool>& held = {}) {
    for (std::size_t k = 0; k < rows_.rows().size(); ++k)
      if (value.of[rows_.rows()[k].stack] && (held.empty() || !held[k])) predict_row(k, calibration, errors);
  }
  // (A + damping diag A) x = b, A symmetric and positive: Cholesky.
  static Vector damped_solution(Vector a, Vector x, double damping) {
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

  const io::CalibrationFile& file_;
  FitTask task_;
  FitRows rows_;
  std::vector<std::size_t> searched_;  // of the file's
};

// Training, and on top of it serving.
struct Fits {
  Fit training, serving;

  Fits(std::span<const io::Measurement> entries, const io::PresetLibrary& library, const io::CalibrationFile& file,
       const Calibration& known)
      : training(entries, library, file, FitTask::training, known),
        serving(entries, library, file, FitTask::serving, known) {}
  // The same again, for another thread.
  Fits(const Fits& other, std::span<const io::Measurement> entries, const io::PresetLibrary& library,
       const io::CalibrationFile& file, const Calibration& known)
      : Fits(entries, library, file, known) {
    training.search_as(other.training);
    serving.search_as(other.serving);
  }
  void choose(const Calibration& at, std::vector<io::Decided>& decided) {
    training.choose(at, decided);
    serving.choose(at, decided);
  }
  Calibration keep_what_is_decided(const Calibration& base, std::vector<io::Decided>& decided) {
    return serving.keep_what_is_decided(training.keep_what_is_decided(base, decided), decided);
  }
  Calibration search(const Calibration& base, const Calibration& from, double pull, int steps) {
    const Calibration trained = training.make_room(training.search(base, from, pull, {}, steps), {});
    return serving.search(trained, from, pull, {}, steps);
  }
  // From the start: nothing that the runs left out have decided is known to it.
  Calibration without(const Calibration& base, double pull, std::optional<io::LeftOutKind> kind,
                      const std::string& name) {
    const std::vector<bool> held = training.held(kind, name);
    const Calibration trained = training.make_room(training.search(base, base, pull, held, kSteps), held);
    return serving.search(trained, base, pull, serving.held(kind, name), kSteps);
  }
  template <class Counts>
  Vector errors_of(const Calibration& calibration, Counts counts) {
    Vector out;
    training.errors_of(calibration, counts, out);
    serving.errors_of(calibration, counts, out);
    return out;
  }
  std::set<std::string> names(io::LeftOutKind kind) const {
    std::set<std::string> out;
    for (const Fit* fit : {&training, &serving})
      for (const FitRow& row : fit->rows().rows()) out.insert(left_out_name(kind, *row.entry.entry));
    return out;
  }
};

}  // namespace

std::string left_out_name(io::LeftOutKind kind, const io::Measurement& entry) {
  switch (kind) {
    case io::LeftOutKind::model:
      return entry.model ? entry.model->shape.name : entry.operation ? entry.operation->op : std::string();
    case io::LeftOutKind::source:
      return entry.family;
    case io::LeftOutKind::fold:
      return part_of(entry.id);
  }
  return {};
}

CalibrationFit fit_calibration(std::span<const io::Measurement> entries, const io::PresetLibrary& library,
                               const io::CalibrationFile& file, const io::CalibrationFile* parent, bool leave_out,
                               const std::function<void(std::size_t, std::size_t)>& progress) {
  CalibrationFit out;
  out.result.decided.resize(file.searched.size());
  out.result.pull = file.pull;
  // What fits is judged by the start; once more by what has been found.
  Calibration known = file.start;
  {
    Fits first(entries, library, file, file.start);
    first.choose(file.start, out.result.decided);
    known = first.keep_what_is_decided(file.start, out.result.decided);
  }
  Fits fits(entries, library, file, known);
  fits.choose(known, out.result.decided);
  Calibration found = fits.keep_what_is_decided(file.start, out.result.decided);

  // What is not the file's own is the parent's, found without the same runs.
  const auto base_without = [&](std::optional<io::LeftOutKind> kind, const std::string& name) {
    if (parent == nullptr || !kind) return file.start;
    const auto& groups = parent->left_out[static_cast<std::size_t>(*kind)];
    const auto group = groups.find(name);
    if (group == groups.end()) return file.start;
    Calibration base = group->second;
    for (std::size_t s = 0; s < kSoftwareStacks; ++s)
      for (std::size_t p = 0; p < kCalibrationRows.size(); ++p)
        if (file.start.stacks[s].values[p] != parent->calibration.stacks[s].values[p])
          base.stacks[s].values[p] = file.start.stacks[s].values[p];
    for (const io::SearchedValue& value : file.searched) Fit::put(base, value, Fit::of(file.start, value));
    return base;
  };
  struct Task {
    std::optional<io::LeftOutKind> kind;  // none: a part of the models
    std::string name;
  };
  // What one finds does not depend on which thread gets it.
  std::size_t done = 0, all = 0;
  std::mutex counting;
  std::vector<std::unique_ptr<Fits>> others;
  for (unsigned i = 1; leave_out && i < std::thread::hardware_concurrency(); ++i)
    others.push_back(std::make_unique<Fits>(fits, entries, library, file, known));
  const auto leave_each_out = [&](const std::vector<Task>& tasks, double pull) {
    std::vector<Calibration> without(tasks.size());
    std::atomic<std::size_t> next{0};
    engine::run_workers(others.size() + 1, [&](std::size_t worker) {
      Fits& own = worker < others.size() ? *others[worker] : fits;
      for (std::size_t i = next++; i < tasks.size(); i = next++) {
        without[i] = own.without(base_without(tasks[i].kind, tasks[i].name), pull, tasks[i].kind, tasks[i].name);
        const std::scoped_lock lock(counting);
        if (progress) progress(++done, all);
      }
    });
    return without;
  };
  const auto tasks_of = [&](io::LeftOutKind kind) {
    std::vector<Task> tasks;
    for (const std::string& name : fits.names(kind)) tasks.push_back({kind, name});
    return tasks;
  };
  const auto same = [](const Task& task) {
    return [&task](const io::Measurement& entry) { return left_out_name(*task.kind, entry) == task.name; };
  };

  if (leave_out) {
    const std::set<std::string> models = fits.names(io::LeftOutKind::model);
    std::set<std::string> parts;
    for (const std::string& model : models) parts.insert(part_of(model));
    all = kPulls.size() * parts.size() + models.size() + fits.names(io::LeftOutKind::source).size() +
          fits.names(io::LeftOutKind::fold).size();
    std::vector<Task> part_tasks;
    for (const std::string& part : parts) part_tasks.push_back({std::nullopt, part});
    double least = 0;
    for (const double pull : kPulls) {
      const std::vector<Calibration> without = leave_each_out(part_tasks, pull);
      Vector errors;
      for (std::size_t i = 0; i < part_tasks.size(); ++i) {
        const auto of_part = [&](const io::Measurement& entry) {
          return part_of(left_out_name(io::LeftOutKind::model, entry)) == part_tasks[i].name;
        };
        fits.training.errors_of(without[i], of_part, errors);
        if (fits.training.rows().rows().empty()) fits.serving.errors_of(without[i], of_part, errors);
      }
      double mean = 0;
      for (const double error : errors) mean += std::log1p(error) / static_cast<double>(errors.size());
      out.pulls.push_back({pull, mean, engine::median(errors), engine::quantile(errors, 0.9)});
      if (pull == kPulls.front() || mean < least) least = mean, out.result.pull = pull;
    }
  }
  found = fits.search(file.start, found, out.result.pull, kSteps);
  for (const io::SearchedValue& value : file.searched) Fit::put(found, value, rounded(Fit::of(found, value)));
  out.result.calibration = found;
  out.rows = fits.training.rows().rows().size() + fits.serving.rows().rows().size();
  out.refused = fits.training.rows().refused() + fits.serving.rows().refused();
  fits.training.search(file.start, file.start, out.result.pull, {}, 0, &out.start);
  fits.training.search(found, found, out.result.pull, {}, 0, &out.objective);
  const Vector errors = fits.errors_of(found, [](const io::Measurement&) { return true; });
  out.median = engine::median(errors);
  for (const double error : errors) out.mean += error / static_cast<double>(errors.size());
  if (!leave_out) return out;

  std::vector<Task> tasks;
  for (const io::LeftOutKind kind : {io::LeftOutKind::model, io::LeftOutKind::source, io::LeftOutKind::fold})
    for (Task& task : tasks_of(kind)) tasks.push_back(std::move(task));
  const std::vector<Calibration> without = leave_each_out(tasks, out.result.pull);
  std::array<Vector, io::kLeftOutKinds> left_out;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto kind = static_cast<std::size_t>(*tasks[i].kind);
    Calibration calibration = without[i];
    for (const io::SearchedValue& value : file.searched)
      Fit::put(calibration, value, rounded(Fit::of(calibration, value)));
    const Vector of_group = fits.errors_of(calibration, same(tasks[i]));
    left_out[kind].insert(left_out[kind].end(), of_group.begin(), of_group.end());
    out.groups.push_back({*tasks[i].kind, tasks[i].name, of_group.size(),
                          engine::median(fits.errors_of(found, same(tasks[i]))), engine::median(of_group)});
    out.result.left_out[kind][tasks[i].name] = std::move(calibration);
  }
  for (std::size_t kind = 0; kind < io::kLeftOutKinds; ++kind) {
    out.left_out_median[kind] = engine::median(left_out[kind]);
    out.left_out_p90[kind] = engine::quantile(left_out[kind], 0.9);
  }
  // The interval of a value: what it comes to without one model after the other (the jackknife), nine in ten.
  constexpr double kNineInTen = 1.645;
  for (std::size_t i = 0; i < file.searched.size(); ++i) {
    io::Decided& decided = out.result.decided[i];
    if (decided.runs == 0) continue;
    const auto& groups = out.result.left_out[static_cast<std::size_t>(io::LeftOutKind::model)];
    const Prior prior = prior_of(kCalibrationRows[file.searched[i].parameter].parameter);
    const double center = coordinate(prior, Fit::of(found, file.searched[i]));
    double squares = 0;
    for (const auto& [name, calibration] : groups) {
      const double off = coordinate(prior, Fit::of(calibration, file.searched[i])) - center;
      squares += off * off;
    }
    const double n = static_cast<double>(groups.size());
    const double half = kNineInTen * std::sqrt(squares * (n - 1) / n);
    decided.low = rounded(value_at(prior, center - half));
    decided.high = rounded(value_at(prior, center + half));
  }
  return out;
}

}  // namespace roofscape::evidence
