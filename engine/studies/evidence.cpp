#include "engine/studies/evidence.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <tuple>

#include "engine/base/stats.h"
#include "engine/evaluate/evaluate.h"
#include "engine/inputs/inputs.h"
#include "engine/model/parameters.h"
#include "engine/scenario/checkpoint_policies.h"
#include "engine/scenario/mesh_size.h"

namespace roofscape::engine {
namespace {

bool within(double a, double b, double factor) {
  return a > 0 && b > 0 && std::max(a / b, b / a) <= factor * (1 + 1e-9);
}

std::optional<double> number(EvidenceFeature feature, const EvidenceFeatures& f) {
  switch (feature) {
    case EvidenceFeature::size:
      return f.params;
    case EvidenceFeature::chips:
      return f.chips;
    case EvidenceFeature::tensor:
      return f.tensor;
    case EvidenceFeature::pipeline:
      return f.pipeline;
    case EvidenceFeature::context:
      return f.context;
    case EvidenceFeature::batch:
      return f.batch;
    case EvidenceFeature::bubble:
      return f.bubble;
    default:
      return std::nullopt;
  }
}

// One operation has a chip and nothing else in common with a plan.
bool is_asked(EvidenceFeature feature, EvidenceKind kind) {
  if (feature == EvidenceFeature::trial) return false;
  if (kind == EvidenceKind::kernel || kind == EvidenceKind::collective) return feature == EvidenceFeature::chip;
  // How long a pipeline idles says nothing of what it holds; what is computed again is a matter of training.
  if (feature == EvidenceFeature::bubble) return kind == EvidenceKind::step;
  return feature != EvidenceFeature::recomputation || kind != EvidenceKind::decode;
}

// What is asked only where enough runs have it; before the bubble, since highest_low() leaves that alone out.
bool is_preferred(EvidenceFeature feature) { return feature == EvidenceFeature::recomputation; }

// Student's t, one-sided 95 %, of 4 to 18 degrees of freedom: samples of kFewestNear to kEnoughNear - 1.
constexpr std::array kStudent{2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796,
                              1.782, 1.771, 1.761, 1.753, 1.746, 1.740, 1.734};
static_assert(kStudent.size() == kEnoughNear - kFewestNear);

// By the calibration of its chip: "a100"; all TPUs together, of each of which few runs are published.
std::string chip_generation(const EvidencePoint& point) {
  const std::string& source = point.features.generation;
  const std::size_t folder = source.find_last_of('/') + 1;
  std::string name = source.substr(folder, source.find_last_of('.') - folder);
  if (name.starts_with("tpu")) name = "tpu";
  if (name.starts_with("h100")) name = "h100";
  return name;
}

// A band so many times as wide, from its median.
void widen(ErrorBand& band, double factor) {
  const double middle = std::log1p(band.median);
  band.low = std::min(band.low, std::expm1(middle + factor * (std::log1p(band.low) - middle)));
  band.high = std::max(band.high, std::expm1(middle + factor * (std::log1p(band.high) - middle)));
}

// The interval that holds nine in ten of what comes after so few errors, and all of these.
std::pair<double, double> widened(std::span<const double> errors) {
  const double n = static_cast<double>(errors.size());
  double mean = 0, squares = 0;
  for (const double e : errors) mean += std::log1p(e) / n;
  for (const double e : errors) squares += (std::log1p(e) - mean) * (std::log1p(e) - mean);
  const double half = kStudent[errors.size() - kFewestNear] * std::sqrt(squares / (n - 1) * (1 + 1 / n));
  const auto [least, most] = std::minmax_element(errors.begin(), errors.end());
  return {std::min(*least, std::expm1(mean - half)), std::max(*most, std::expm1(mean + half))};
}

// `counts` says which points do; `any_bubble`: those whose pipeline idles more or less are near, too.
template <class Counts>
ErrorBand band_of(std::span<const EvidencePoint> points, const EvidenceFeatures& own, EvidenceKind kind,
                  Counts counts, bool any_bubble = false) {
  ErrorBand band;
  band.kind = kind;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (points[i].kind == kind && !points[i].contradicts && counts(points[i])) band.near.push_back(i);
  bool enough = band.near.size() >= kFewestNear;
  if (!enough) band.left = band.near.size();
  for (std::size_t f = 0; f < kEvidenceFeatures; ++f) {
    const auto feature = static_cast<EvidenceFeature>(f);
    if (!is_asked(feature, kind) || (any_bubble && feature == EvidenceFeature::bubble)) continue;
    const std::vector<std::size_t> before = band.near;
    std::erase_if(band.near, [&](std::size_t i) { return !is_near(feature, points[i].features, own); });
    if (is_preferred(feature) && enough && band.near.size() < kFewestNear) band.near = before;
    if (!enough || band.near.size() >= kFewestNear) continue;
    enough = false;
    band.outside = feature;
    band.before = before.size();
    band.left = band.near.size();
    if (const auto value = number(feature, own)) {
      band.own = *value;
      band.measured_least = band.measured_most = *number(feature, points[before.front()].features);
      for (const std::size_t i : before) {
        const double measured = *number(feature, points[i].features);
        band.measured_least = std::min(band.measured_least, measured);
        band.measured_most = std::max(band.measured_most, measured);
      }
    }
  }
  if (band.near.size() < kFewestNear) return band;
  band.trial = points[band.near.front()].trial;
  if (!band.trial.holds()) {
    band.outside = EvidenceFeature::trial;
    band.before = band.trial.tried, band.left = band.trial.inside;
    return band;
  }
  std::vector<double> errors;
  std::map<std::string_view, std::size_t> families;
  for (const std::size_t i : band.near) {
    errors.push_back(points[i].error);
    ++families[points[i].family];
    if (!points[i].complete) ++band.guessed;
  }
  for (const auto& family : families) band.families.emplace_back(family.first);
  std::stable_sort(band.families.begin(), band.families.end(),
                   [&](const std::string& a, const std::string& b) { return families.at(a) > families.at(b); });
  if (band.widened())
    std::tie(band.low, band.high) = widened(errors);
  else
    band.low = outer_quantile(errors, kBandLow), band.high = outer_quantile(errors, kBandHigh);
  band.median = median(errors);
  if (band.trial.widened > 1) widen(band, band.trial.widened);
  return band;
}

// How far a band has to be widened to hold an error, of the logarithm from its median.
double widening_for(const ErrorBand& band, double error) {
  const double middle = std::log1p(band.median), off = std::log1p(error) - middle;
  const double room = std::log1p(off < 0 ? band.low : band.high) - middle;
  if (off == 0) return 1;
  return room == 0 ? std::numeric_limits<double>::infinity() : std::max(1.0, off / room);
}

}  // namespace

EvidenceFeatures stated_features(const Scenario& s) {
  EvidenceFeatures f;
  f.work = s.workload.kind;
  const Chip& chip = s.cluster.chip;
  f.generation = chip.calibration.source.empty() ? chip.id : chip.calibration.source;
  f.precision = f.work == WorkloadKind::serving ? s.precision.weights : s.precision.compute;
  if (f.precision == Dtype::fp16) f.precision = Dtype::bf16;  // 16-bit arithmetic has one rate
  f.experts = s.model.is_moe();
  f.adapters = f.work == WorkloadKind::training && s.adapter.rank > 0;
  f.params = count_parameters(make_model_dims<double>(s.model, nullptr)).total;
  const Parallelism& p = s.parallelism;
  f.chips = static_cast<int>(std::min<double>(mesh_chips(p), std::numeric_limits<int>::max()));
  f.tensor = p.tensor;
  f.pipeline = p.pipeline;
  f.context = p.context;
  f.batch = s.workload.batch;
  f.stack = software_stack(s);
  if (s.checkpointing.policy != CheckpointPolicy::none)
    f.recomputation = facts_of(s.checkpointing.policy).repeats_layers() ? 2 : 1;
  return f;
}

EvidenceFeatures evidence_features(const Scenario& s) {
  EvidenceFeatures f = stated_features(s);
  const Report report = evaluate(s);
  f.bubble = s.parallelism.pipeline > 1 ? report.quantities.value_or(Q::pipeline_bubble_fraction, 0) : 0;
  f.runs = !report.has_errors() && report.quantities.value_or(Q::memory_free, 0) >= 0;
  return f;
}

bool is_near(EvidenceFeature feature, const EvidenceFeatures& point, const EvidenceFeatures& own) {
  const bool serving = own.work == WorkloadKind::serving;
  switch (feature) {
    case EvidenceFeature::runs:
      return own.runs;
    case EvidenceFeature::work:
      return point.work == own.work && point.adapters == own.adapters;
    case EvidenceFeature::chip:
      return point.generation == own.generation;
    case EvidenceFeature::precision:
      return point.precision == own.precision;
    case EvidenceFeature::experts:
      return point.experts == own.experts;
    case EvidenceFeature::stack:
      return point.stack == own.stack;
    case EvidenceFeature::recomputation:
      return serving || point.recomputation == own.recomputation;
    case EvidenceFeature::size:
      return within(point.params, own.params, kNearSize);
    case EvidenceFeature::chips:
      return within(point.chips, own.chips, kNearChips);
    case EvidenceFeature::tensor:
      return within(point.tensor, own.tensor, kNearTensor);
    // One stage has no bubble and no neighbours: it says nothing of two.
    case EvidenceFeature::pipeline:
      return (point.pipeline > 1) == (own.pipeline > 1) && within(point.pipeline, own.pipeline, kNearPipeline);
    case EvidenceFeature::context:
      return (point.context > 1) == (own.context > 1) && within(point.context, own.context, kNearContext);
    case EvidenceFeature::batch:
      return !serving || within(point.batch, own.batch, kNearBatch);
    case EvidenceFeature::bubble:
      return serving || std::abs(point.bubble - own.bubble) <= kNearBubble;
    case EvidenceFeature::trial:
      return true;  // of all points near enough
  }
  return false;
}

ErrorBand error_band(std::span<const EvidencePoint> points, const EvidenceFeatures& features, EvidenceKind kind) {
  return band_of(points, features, kind, [](const EvidencePoint&) { return true; });
}
ErrorBand error_band(std::span<const EvidencePoint> points, const Scenario& scenario, EvidenceKind kind) {
  return error_band(points, evidence_features(scenario), kind);
}

std::optional<double> highest_low(std::span<const EvidencePoint> points, const EvidenceFeatures& features,
                                  EvidenceKind kind) {
  if (features.pipeline == 1 || kind != EvidenceKind::step) {
    const ErrorBand band = error_band(points, features, kind);
    return band.validated() ? std::optional(band.low) : std::nullopt;
  }
  const ErrorBand all = band_of(
      points, features, kind, [](const EvidencePoint&) { return true; }, true);
  if (!all.validated()) return std::nullopt;
  // At least kFewestNear of these are left by any bubble, and the low end is no higher than the least of them, or than
  // the one in twenty from below, above which there are as many.
  std::vector<double> errors;
  for (const std::size_t i : all.near) errors.push_back(points[i].error);
  const auto nth = errors.begin() + (kFewestNear - 1);
  std::nth_element(errors.begin(), nth, errors.end(), std::greater<>());
  return *nth;
}

std::vector<BandedQuantity> banded_quantities(const Scenario& scenario) {
  if (scenario.serves()) return {{Q::time_per_output_token, EvidenceKind::decode, false}};
  return {{Q::step_time, EvidenceKind::step, false},
          {Q::mfu, EvidenceKind::step, true},
          {Q::memory_total, EvidenceKind::memory, false}};
}

ErrorSummary error_summary(std::span<const double> errors) {
  ErrorSummary out;
  out.n = errors.size();
  if (errors.empty()) return out;
  std::vector<double> absolute;
  for (const double e : errors) {
    absolute.push_back(std::abs(e));
    out.within_10 += std::abs(e) <= 0.10 ? 1 : 0;
    out.within_25 += std::abs(e) <= 0.25 ? 1 : 0;
  }
  out.within_10 /= static_cast<double>(out.n);
  out.within_25 /= static_cast<double>(out.n);
  out.bias = median({errors.begin(), errors.end()});
  out.median_absolute = median(absolute);
  return out;
}

std::vector<std::optional<ErrorBand>> bands_by_others(std::span<const EvidencePoint> points, EvidenceKind kind,
                                                      Others others) {
  std::vector<std::optional<ErrorBand>> out;
  for (const EvidencePoint& point : points) {
    const auto counts = [&](const EvidencePoint& other) {
      return others == Others::runs ? &other != &point : other.family != point.family || other.model != point.model;
    };
    out.push_back(point.kind == kind && !point.contradicts
                      ? std::optional(band_of(points, point.features, kind, counts))
                      : std::nullopt);
  }
  return out;
}

void try_bands(std::span<EvidencePoint> points) {
  for (EvidencePoint& point : points) point.trial = {};
  for (const EvidenceKind kind : {EvidenceKind::step, EvidenceKind::memory, EvidenceKind::decode}) {
    const auto bands = bands_by_others(points, kind, Others::models);
    // What each run that has a band needs to lie inside it, by generation.
    std::map<std::string, std::vector<double>> needed;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (bands[i]) {
        std::vector<double>& of = needed[chip_generation(points[i])];
        if (bands[i]->validated()) of.push_back(widening_for(*bands[i], points[i].error));
      }
    std::vector<double> few;
    for (const auto& [family, of] : needed)
      if (of.size() < kFewestTried) few.insert(few.end(), of.begin(), of.end());
    const auto trial_of = [](std::vector<double> of) {
      BandTrial trial;
      trial.tried = of.size();
      if (of.empty()) return trial;
      std::sort(of.begin(), of.end());
      const auto enough = static_cast<std::size_t>(std::ceil(kBandsAim * static_cast<double>(of.size())));
      // A hair more where it is wider, so that the run that decides is inside.
      trial.widened = of[enough - 1] > 1 ? std::min(of[enough - 1] * (1 + 1e-9), kMostWidened) : 1;
      trial.inside = static_cast<std::size_t>(
          std::count_if(of.begin(), of.end(), [&](double factor) { return factor <= trial.widened; }));
      return trial;
    };
    for (EvidencePoint& point : points) {
      if (point.kind != kind || point.contradicts) continue;
      const std::vector<double>& own = needed.at(chip_generation(point));
      point.trial = trial_of(own.size() < kFewestTried ? few : own);
    }
  }
}

BandCoverage band_coverage(std::span<const EvidencePoint> points, EvidenceKind kind, Others others) {
  BandCoverage out;
  const auto bands = bands_by_others(points, kind, others);
  for (std::size_t i = 0; i < points.size(); ++i)
    if (bands[i]) out.count(*bands[i], points[i].error);
  return out;
}

std::vector<CoverageRow> coverage_rows(std::span<const EvidencePoint> points) {
  std::vector<CoverageRow> out;
  for (const EvidenceKind kind : {EvidenceKind::step, EvidenceKind::memory, EvidenceKind::decode}) {
    const auto bands = bands_by_others(points, kind, Others::runs),
               harder = bands_by_others(points, kind, Others::models);
    CoverageRow all{kind, {}, {}, {}, {}}, experts{kind, "experts", {}, {}, {}};
    std::map<std::string, CoverageRow> families;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!bands[i]) continue;
      std::vector<CoverageRow*> rows{&all};
      if (kind == EvidenceKind::step) {
        const std::string family = chip_generation(points[i]);
        CoverageRow& own = families[family];
        own.kind = kind, own.part = family;
        own.trial = points[i].trial;
        rows.push_back(&own);
        if (points[i].features.experts) rows.push_back(&experts);
      }
      for (CoverageRow* row : rows) {
        row->coverage.count(*bands[i], points[i].error);
        row->without_model.count(*harder[i], points[i].error);
      }
    }
    if (all.coverage.all > 0) out.push_back(std::move(all));
    for (auto& [family, row] : families) out.push_back(std::move(row));
    if (experts.coverage.all > 0) out.push_back(std::move(experts));
  }
  return out;
}

}  // namespace roofscape::engine
