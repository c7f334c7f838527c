#include "engine/evidence/calibration_fit.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
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
#include "engine/evidence/task_fit.h"

namespace roofscape::evidence {
namespace {

using engine::Calibration;
using engine::kCalibrationRows;
using engine::kSoftwareStacks;
using Progress = std::function<void(std::size_t, std::size_t)>;

constexpr int kDigits = 5;  // of a value that ships
constexpr std::size_t kFolds = 10;

// One of ten parts, by a name; FNV-1a.
std::string part_of(std::string_view name) {
  std::uint32_t hash = 2166136261U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return std::to_string((hash >> 8) % kFolds);
}

double rounded(double x) {
  if (x == 0) return 0;
  const double scale = std::pow(10.0, kDigits - 1 - std::floor(std::log10(std::abs(x))));
  return std::round(x * scale) / scale;
}

void round_searched(const io::CalibrationFile& file, Calibration& calibration) {
  for (const io::SearchedValue& value : file.searched)
    set_searched_value(calibration, value, rounded(searched_value(calibration, value)));
}

bool any_run(const io::Measurement&) { return true; }

// Runs that are left out together.
struct Group {
  std::optional<io::LeftOutKind> kind;  // none: a part of the models
  std::string name;
  bool operator()(const io::Measurement& entry) const {
    return kind ? left_out_name(*kind, entry) == name : part_of(left_out_name(io::LeftOutKind::model, entry)) == name;
  }
};

// Training, and on top of it serving.
struct Fits {
  TaskFit training, serving;

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
  Calibration search(const Calibration& base, const Calibration& from, double pull) {
    const Calibration trained =
        training.make_room(training.search(base, from, pull, {}, kMostFitSteps).calibration, {});
    return serving.search(trained, from, pull, {}, kMostFitSteps).calibration;
  }
  // From the start: nothing that the runs left out have decided is known to it.
  Calibration without(const Calibration& base, double pull, const Group& group) {
    const TaskFit::Held held = training.held(group);
    const Calibration trained =
        training.make_room(training.search(base, base, pull, held, kMostFitSteps).calibration, held);
    return serving.search(trained, base, pull, serving.held(group), kMostFitSteps).calibration;
  }
  std::vector<double> errors_of(const Calibration& calibration,
                                const std::function<bool(const io::Measurement&)>& counts) {
    std::vector<double> out;
    training.errors_of(calibration, counts, out);
    serving.errors_of(calibration, counts, out);
    return out;
  }
  std::set<std::string> names(io::LeftOutKind kind) const {
    std::set<std::string> out;
    for (const TaskFit* fit : {&training, &serving})
      for (const FitRow& row : fit->rows().rows()) out.insert(left_out_name(kind, *row.entry.entry));
    return out;
  }
  std::vector<Group> groups(io::LeftOutKind kind) const {
    std::vector<Group> out;
    for (const std::string& name : names(kind)) out.push_back({kind, name});
    return out;
  }
  // Of a tenth of the models each.
  std::vector<Group> parts() const {
    std::set<std::string> names_of_parts;
    for (const std::string& model : names(io::LeftOutKind::model)) names_of_parts.insert(part_of(model));
    std::vector<Group> out;
    for (const std::string& part : names_of_parts) out.push_back({std::nullopt, part});
    return out;
  }
};

// Where a fit without a group starts. What is not the file's own is the parent's, found without the same runs.
Calibration base_without(const io::CalibrationFile& file, const io::CalibrationFile* parent, const Group& group) {
  if (parent == nullptr || !group.kind) return file.start;
  const auto& groups = parent->left_out[static_cast<std::size_t>(*group.kind)];
  const auto found = groups.find(group.name);
  if (found == groups.end()) return file.start;
  Calibration base = found->second;
  for (std::size_t s = 0; s < kSoftwareStacks; ++s)
    for (std::size_t p = 0; p < kCalibrationRows.size(); ++p)
      if (file.start.stacks[s].values[p] != parent->calibration.stacks[s].values[p])
        base.stacks[s].values[p] = file.start.stacks[s].values[p];
  for (const io::SearchedValue& value : file.searched)
    set_searched_value(base, value, searched_value(file.start, value));
  return base;
}

// Fits without one group after the other, on all cores; what one finds does not depend on which thread gets it.
class FitsWithout {
 public:
  FitsWithout(Fits& fits, std::span<const io::Measurement> entries, const io::PresetLibrary& library,
              const io::CalibrationFile& file, const io::CalibrationFile* parent, const Calibration& known,
              const Progress& progress)
      : fits_(fits), file_(file), parent_(parent), progress_(progress) {
    for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i)
      others_.push_back(std::make_unique<Fits>(fits, entries, library, file, known));
  }
  // How many fits there will be.
  void expect(std::size_t all) { all_ = all; }

  std::vector<Calibration> of(const std::vector<Group>& groups, double pull) {
    std::vector<Calibration> out(groups.size());
    std::atomic<std::size_t> next{0};
    engine::run_workers(others_.size() + 1, [&](std::size_t worker) {
      Fits& own = worker < others_.size() ? *others_[worker] : fits_;
      for (std::size_t i = next++; i < groups.size(); i = next++) {
        out[i] = own.without(base_without(file_, parent_, groups[i]), pull, groups[i]);
        const std::scoped_lock lock(counting_);
        if (progress_) progress_(++done_, all_);
      }
    });
    return out;
  }

 private:
  Fits& fits_;
  const io::CalibrationFile& file_;
  const io::CalibrationFile* parent_;
  const Progress& progress_;
  std::vector<std::unique_ptr<Fits>> others_;
  std::size_t done_ = 0, all_ = 0;
  std::mutex counting_;
};

// The pull with which models that were left out are predicted best, into `out`.
void choose_pull(Fits& fits, FitsWithout& without, CalibrationFit& out) {
  const std::vector<Group> parts = fits.parts();
  double least = 0;
  for (const double pull : kPulls) {
    const std::vector<Calibration> found = without.of(parts, pull);
    std::vector<double> errors;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      fits.training.errors_of(found[i], parts[i], errors);
      if (fits.training.rows().rows().empty()) fits.serving.errors_of(found[i], parts[i], errors);
    }
    double mean = 0;
    for (const double error : errors) mean += std::log1p(error) / static_cast<double>(errors.size());
    out.pulls.push_back({pull, mean, engine::median(errors), engine::quantile(errors, 0.9)});
    if (pull == kPulls.front() || mean < least) least = mean, out.result.pull = pull;
  }
}

// The calibrations without each model, source and fold, and how far off they are, into `out`.
void leave_each_out(Fits& fits, FitsWithout& without, const io::CalibrationFile& file, CalibrationFit& out) {
  std::vector<Group> groups;
  for (const io::LeftOutKind kind : {io::LeftOutKind::model, io::LeftOutKind::source, io::LeftOutKind::fold})
    for (Group& group : fits.groups(kind)) groups.push_back(std::move(group));
  const std::vector<Calibration> found = without.of(groups, out.result.pull);
  std::array<std::vector<double>, io::kLeftOutKinds> left_out;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto kind = static_cast<std::size_t>(*groups[i].kind);
    Calibration calibration = found[i];
    round_searched(file, calibration);
    const std::vector<double> of_group = fits.errors_of(calibration, groups[i]);
    left_out[kind].insert(left_out[kind].end(), of_group.begin(), of_group.end());
    out.groups.push_back({*groups[i].kind, groups[i].name, of_group.size(),
                          engine::median(fits.errors_of(out.result.calibration, groups[i])),
                          engine::median(of_group)});
    out.result.left_out[kind][groups[i].name] = std::move(calibration);
  }
  for (std::size_t kind = 0; kind < io::kLeftOutKinds; ++kind) {
    out.left_out_median[kind] = engine::median(left_out[kind]);
    out.left_out_p90[kind] = engine::quantile(left_out[kind], 0.9);
  }
}

// The interval of a value: what it comes to without one model after the other (the jackknife), nine in ten.
void set_intervals(const io::CalibrationFile& file, io::FittedCalibration& fitted) {
  constexpr double kNineInTen = 1.645;
  const auto& groups = fitted.left_out[static_cast<std::size_t>(io::LeftOutKind::model)];
  for (std::size_t i = 0; i < file.searched.size(); ++i) {
    io::Decided& decided = fitted.decided[i];
    if (decided.runs == 0) continue;
    const io::SearchedValue& value = file.searched[i];
    const Prior prior = prior_of(kCalibrationRows[value.parameter].parameter);
    const double center = coordinate(prior, searched_value(fitted.calibration, value));
    double squares = 0;
    for (const auto& [name, calibration] : groups) {
      const double off = coordinate(prior, searched_value(calibration, value)) - center;
      squares += off * off;
    }
    const double n = static_cast<double>(groups.size());
    const double half = kNineInTen * std::sqrt(squares * (n - 1) / n);
    decided.low = rounded(value_at(prior, center - half));
    decided.high = rounded(value_at(prior, center + half));
  }
}

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
                               const Progress& progress) {
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
  Calibration& found = out.result.calibration;
  found = fits.keep_what_is_decided(file.start, out.result.decided);
  std::optional<FitsWithout> without;
  if (leave_out) {
    without.emplace(fits, entries, library, file, parent, known, progress);
    std::size_t all = kPulls.size() * fits.parts().size();
    for (const io::LeftOutKind kind : {io::LeftOutKind::model, io::LeftOutKind::source, io::LeftOutKind::fold})
      all += fits.names(kind).size();
    without->expect(all);
    choose_pull(fits, *without, out);
  }
  const double pull = out.result.pull;
  found = fits.search(file.start, found, pull);
  round_searched(file, found);
  out.rows = fits.training.rows().rows().size() + fits.serving.rows().rows().size();
  out.refused = fits.training.rows().refused() + fits.serving.rows().refused();
  out.start = fits.training.search(file.start, file.start, pull, {}, 0).objective;
  out.objective = fits.training.search(found, found, pull, {}, 0).objective;
  const std::vector<double> errors = fits.errors_of(found, any_run);
  out.median = engine::median(errors);
  for (const double error : errors) out.mean += error / static_cast<double>(errors.size());
  if (!leave_out) return out;
  leave_each_out(fits, *without, file, out);
  set_intervals(file, out.result);
  return out;
}

}  // namespace roofscape::evidence
