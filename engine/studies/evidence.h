// Evidence: how wrong predictions have been. Points are published measurements beside what is predicted for the same
// run; the error band of a scenario is that of the points near it, and where there are too few of them, the feature
// that nobody measured. Values only: where measurements come from is engine/evidence/evidence_points.h.
//
// Near means: the same quantity of the same kind of work, on a chip of the same generation (one calibration), with
// the same arithmetic and kind of model (dense or experts), and within the factors stated below in size of the model,
// chips and degrees; of single operations only the chip is asked. The band are the signed errors of the near points
// from the share kBandLow to kBandHigh, rounded outward to an error that was seen: of few points it is as wide as
// they are. The factors and shares were chosen so that, with every run's own model and source left out, about four in
// five runs lie inside the band that the others give it (band_coverage); narrower boxes or shares promise more than
// they keep.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/enum_table.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

enum class EvidenceKind : std::uint8_t {
  step,        // seconds of a training step
  memory,      // bytes of a chip, all of it, while training
  decode,      // seconds a generated token takes, the prompt's share included where the source timed both
  kernel,      // FLOP/s of one matrix multiplication or attention kernel
  collective,  // bytes/s: bus bandwidth as nccl-tests counts it, or what a rank receives in an exchange of experts
};
inline constexpr std::size_t kEvidenceKinds = kEnumCount<EvidenceKind>;
inline constexpr EnumTable<EvidenceKind> kEvidenceKindIds{"step", "memory", "decode", "kernel", "collective"};

// What decides whether a measurement says something about a scenario, in the order in which it is asked.
enum class EvidenceFeature : std::uint8_t {
  work,       // training or serving
  chip,       // generation: chips that share a calibration
  precision,  // of the arithmetic; serving: of the weights
  experts,    // dense, or a mixture of experts
  size,       // parameters, all of them
  chips,
  tensor,
  pipeline,
  context,
  batch,  // serving: sequences decoded together
};
inline constexpr std::size_t kEvidenceFeatures = kEnumCount<EvidenceFeature>;
inline constexpr EnumTable<EvidenceFeature> kEvidenceFeatureIds{"work",  "chip",   "precision", "experts", "size",
                                                                "chips", "tensor", "pipeline",  "context", "batch"};

struct EvidenceFeatures {
  WorkloadKind work = WorkloadKind::training;
  std::string generation;
  Dtype precision = Dtype::bf16;
  bool experts = false;
  double params = 0;
  int chips = 1, tensor = 1, pipeline = 1, context = 1;
  int batch = 1;  // of serving
};
EvidenceFeatures evidence_features(const Scenario&);

struct EvidencePoint {
  std::string id, family, source;
  std::string model, chip;  // names; a kernel or a collective: the operation instead of a model
  EvidenceKind kind = EvidenceKind::step;
  std::string published;       // what the source gives: "mfu"
  double published_value = 0;  // in its unit
  double measured = 0, predicted = 0;
  double error = 0;  // (predicted - measured) / measured
  bool complete =
      false;  // the source states the whole configuration; else rules filled the rest, and the error is theirs too
  EvidenceFeatures features;
};

struct Evidence {
  Mode mode = Mode::calibrated;  // of the predictions
  std::vector<EvidencePoint> points;
  std::size_t runs_without_point = 0;  // nothing predicts what was measured, or it is of none of the kinds
};
// The predictions of both modes; null while they are being made.
struct EvidenceSet {
  Evidence calibrated, ideal;
  const Evidence& of(Mode mode) const { return mode == Mode::ideal ? ideal : calibrated; }
};

inline constexpr double kNearSize = 4, kNearChips = 8, kNearTensor = 4, kNearPipeline = 8, kNearContext = 4,
                        kNearBatch = 4;
inline constexpr std::size_t kFewestNear = 5;
inline constexpr double kBandLow = 0.05, kBandHigh = 0.95;

// Whether a feature of a point is within the stated factor of the scenario's.
bool is_near(EvidenceFeature, const EvidenceFeatures& point, const EvidenceFeatures& scenario);

struct ErrorBand {
  EvidenceKind kind = EvidenceKind::step;
  std::vector<std::size_t> near;         // indices of points, in their order
  double low = 0, median = 0, high = 0;  // signed errors; validated() only
  std::size_t guessed = 0;  // of the near points, those whose source leaves a part of the configuration open
  std::vector<std::string> families;  // sources of the near points, the one with the most first

  // Where it is not validated: the first feature that leaves fewer than kFewestNear points; of those left before it,
  // how many there were, how many remain, and for a feature that is a number what was measured and what the scenario
  // has.
  EvidenceFeature outside = EvidenceFeature::work;
  std::size_t before = 0, left = 0;
  double measured_least = 0, measured_most = 0, own = 0;

  bool validated() const { return near.size() >= kFewestNear; }
  // Where a measurement of what is predicted as `value` is expected: value / (1 + error) at both ends.
  double least(double value) const { return value / (1 + high); }
  double most(double value) const { return value / (1 + low); }
  // Of a rate that goes with one over the predicted time, such as MFU.
  double least_rate(double value) const { return value * (1 + low); }
  double most_rate(double value) const { return value * (1 + high); }
};
ErrorBand error_band(std::span<const EvidencePoint>, const Scenario&, EvidenceKind);

// The numbers of a report that have a band, with the kind of evidence it is of.
struct BandedQuantity {
  Q quantity = Q::step_time;
  EvidenceKind kind = EvidenceKind::step;
  bool rate = false;  // goes with one over the predicted time
};
std::vector<BandedQuantity> banded_quantities(const Scenario&);

struct ErrorSummary {
  std::size_t n = 0;
  double median_absolute = 0;
  double bias = 0;                      // median of the signed errors
  double within_10 = 0, within_25 = 0;  // shares
};
ErrorSummary error_summary(std::span<const double> errors);

// Points that would have a band by the others (without those of the same model and source): how many there are,
// and how many have their error inside it. What a band promises, held against what is known.
struct BandCoverage {
  std::size_t n = 0, inside = 0;
};
BandCoverage band_coverage(std::span<const EvidencePoint>, EvidenceKind);

}  // namespace roofscape::engine
