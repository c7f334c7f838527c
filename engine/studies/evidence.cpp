#include "engine/studies/evidence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "engine/base/stats.h"
#include "engine/inputs/inputs.h"
#include "engine/model/parameters.h"
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
    default:
      return std::nullopt;
  }
}

// One operation has a chip and nothing else in common with a plan.
bool is_asked(EvidenceFeature feature, EvidenceKind kind) {
  return (kind != EvidenceKind::kernel && kind != EvidenceKind::collective) || feature == EvidenceFeature::chip;
}

// `of` says which points count.
template <class Counts>
ErrorBand band_of(std::span<const EvidencePoint> points, const EvidenceFeatures& own, EvidenceKind kind,
                  Counts counts) {
  ErrorBand band;
  band.kind = kind;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (points[i].kind == kind && counts(points[i])) band.near.push_back(i);
  bool enough = band.near.size() >= kFewestNear;
  if (!enough) band.left = band.near.size();
  for (std::size_t f = 0; f < kEvidenceFeatures; ++f) {
    const auto feature = static_cast<EvidenceFeature>(f);
    if (!is_asked(feature, kind)) continue;
    const std::vector<std::size_t> before = band.near;
    std::erase_if(band.near, [&](std::size_t i) { return !is_near(feature, points[i].features, own); });
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
  if (!band.validated()) return band;
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
  band.low = outer_quantile(errors, kBandLow);
  band.high = outer_quantile(errors, kBandHigh);
  band.median = median(errors);
  return band;
}

}  // namespace

EvidenceFeatures evidence_features(const Scenario& s) {
  EvidenceFeatures f;
  f.work = s.workload.kind;
  const Chip& chip = s.cluster.chip;
  f.generation = chip.calibration.source.empty() ? chip.id : chip.calibration.source;
  f.precision = f.work == WorkloadKind::serving ? s.precision.weights : s.precision.compute;
  if (f.precision == Dtype::fp16) f.precision = Dtype::bf16;  // 16-bit arithmetic has one rate
  f.experts = s.model.is_moe();
  f.params = count_parameters(make_model_dims<double>(s.model, nullptr)).total;
  const Parallelism& p = s.parallelism;
  f.chips = static_cast<int>(std::min<double>(mesh_chips(p), std::numeric_limits<int>::max()));
  f.tensor = p.tensor;
  f.pipeline = p.pipeline;
  f.context = p.context;
  f.batch = s.workload.batch;
  return f;
}

bool is_near(EvidenceFeature feature, const EvidenceFeatures& point, const EvidenceFeatures& own) {
  const bool serving = own.work == WorkloadKind::serving;
  switch (feature) {
    case EvidenceFeature::work:
      return point.work == own.work;
    case EvidenceFeature::chip:
      return point.generation == own.generation;
    case EvidenceFeature::precision:
      return point.precision == own.precision;
    case EvidenceFeature::experts:
      return point.experts == own.experts;
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
  }
  return false;
}

ErrorBand error_band(std::span<const EvidencePoint> points, const Scenario& scenario, EvidenceKind kind) {
  return band_of(points, evidence_features(scenario), kind, [](const EvidencePoint&) { return true; });
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

BandCoverage band_coverage(std::span<const EvidencePoint> points, EvidenceKind kind) {
  BandCoverage out;
  for (const EvidencePoint& point : points) {
    if (point.kind != kind) continue;
    const ErrorBand band = band_of(points, point.features, kind, [&](const EvidencePoint& other) {
      return other.family != point.family || other.model != point.model;
    });
    if (!band.validated()) continue;
    ++out.n;
    if (point.error >= band.low && point.error <= band.high) ++out.inside;
  }
  return out;
}

}  // namespace roofscape::engine
