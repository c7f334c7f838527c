// Evidence: how wrong predictions have been. Points are published measurements beside what is predicted for the same
// run; the error band of a scenario is that of the points near it, and where there are too few of them, the feature
// that nobody measured. Values only: where measurements come from is engine/evidence/evidence_points.h.
//
// Near means: the same quantity of the same kind of work, on a chip of the same generation (one calibration), with
// the same arithmetic, kind of model (dense or experts) and software, and within the limits stated below in size of
// the model, chips, degrees and idle share of the pipeline; with as much recomputed, where enough runs have that. Of
// single operations only the chip is asked. A plan that does not fit or cannot run has no band: nobody could have
// measured it.
//
// The band are the signed errors of the near points from the share kBandLow to kBandHigh, rounded outward to an error
// that was seen. Of fewer than kEnoughNear the extremes of the sample hold less than nine in ten of what comes: there
// the band is widened to Student's interval for one run more, on the logarithm of predicted over measured. The limits
// were chosen so that nine in ten of the published runs lie inside the band that the others give them, and three in
// four have one (band_coverage).
//
// A band is also for plans that nobody measured. So the bands of each generation of chips (all TPUs being one, of each of
// which few runs are published) are tried on the runs of each model with that model's runs of the same source taken away
// (try_bands): as far as it takes for nine in ten of them to lie inside, the bands of the generation are widened; where
// kMostWidened is not enough, they do not hold, and none is shown.
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
#include "engine/studies/plan_change.h"

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
  runs,       // the plan fits and can run
  work,       // training of all weights, of adapters, or serving
  chip,       // generation: chips that share a calibration
  precision,  // of the arithmetic; serving: of the weights
  experts,    // dense, or a mixture of experts
  stack,      // generation of software
  size,       // parameters, all of them
  chips,
  tensor,
  pipeline,
  context,
  batch,          // serving: sequences decoded together
  recomputation,  // training: none, some operations, or whole layers; where enough of the others have the same
  bubble,         // training: idle share of the pipeline
  trial,          // bands of this generation, tried on models left out, hold
};
inline constexpr std::size_t kEvidenceFeatures = kEnumCount<EvidenceFeature>;
inline constexpr EnumTable<EvidenceFeature> kEvidenceFeatureIds{
    "runs",   "work",     "chip",    "precision", "experts",       "stack",  "size", "chips",
    "tensor", "pipeline", "context", "batch",     "recomputation", "bubble", "trial"};

struct EvidenceFeatures {
  WorkloadKind work = WorkloadKind::training;
  std::string generation;
  Dtype precision = Dtype::bf16;
  bool experts = false;
  bool adapters = false;  // these alone are trained
  SoftwareStack stack{};
  int recomputation = 0;  // of training: 0 none, 1 some operations, 2 whole layers
  double params = 0;
  int chips = 1, tensor = 1, pipeline = 1, context = 1;
  int batch = 1;      // of serving
  double bubble = 0;  // of training
  bool runs = true;   // it fits and can run
};
EvidenceFeatures evidence_features(const Scenario&);
// The same but for what an evaluation tells, `bubble` and `runs`: as of a plan that runs and whose stages never wait.
EvidenceFeatures stated_features(const Scenario&);

// What the bands of a kind on a generation of chips are worth for models that are not among the runs they are made of:
// of `tried` runs with a band so many lie inside it, after it was widened from its median by a factor (of the logarithm
// of predicted over measured).
struct BandTrial {
  std::size_t tried = 0, inside = 0;
  double widened = 1;
  double share() const { return tried > 0 ? static_cast<double>(inside) / static_cast<double>(tried) : 0; }
  bool holds() const;
};

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
  // What was measured contradicts the runs beside it: near no plan, in no band (engine/evidence/contradicting_runs.h).
  bool contradicts = false;
  EvidenceFeatures features;
  BandTrial trial;  // of its kind and generation: try_bands
};

struct Evidence {
  Mode mode = Mode::calibrated;  // of the predictions
  std::vector<EvidencePoint> points;
  std::size_t runs_without_point = 0;  // nothing predicts what was measured, or it is of none of the kinds
  PairRecord pairs;                    // of a set alone
};
// The predictions of both modes; null while they are being made.
struct EvidenceSet {
  Evidence calibrated, ideal;
  const Evidence& of(Mode mode) const { return mode == Mode::ideal ? ideal : calibrated; }
};

inline constexpr double kNearSize = 8, kNearChips = 16, kNearTensor = 4, kNearPipeline = 8, kNearContext = 4,
                        kNearBatch = 4;
inline constexpr double kNearBubble = 0.2;  // of the step, not a factor
inline constexpr std::size_t kFewestNear = 5, kEnoughNear = 20;
inline constexpr double kBandLow = 0.05, kBandHigh = 0.95;
// Of runs tried, the share that widened bands are to hold, and the least that a band is shown with. Generations with
// fewer than kFewestTried are tried together.
inline constexpr double kBandsAim = 0.9, kBandsHold = 0.88, kMostWidened = 2;
inline constexpr std::size_t kFewestTried = 10;
inline bool BandTrial::holds() const { return tried == 0 || share() >= kBandsHold; }

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

  BandTrial trial;  // of the near points' generation

  bool validated() const { return near.size() >= kFewestNear && trial.holds(); }
  bool widened() const { return validated() && near.size() < kEnoughNear; }
  // Where a measurement of what is predicted as `value` is expected: value / (1 + error) at both ends.
  double least(double value) const { return value / (1 + high); }
  double most(double value) const { return value / (1 + low); }
  // Of a rate that goes with one over the predicted time, such as MFU.
  double least_rate(double value) const { return value * (1 + low); }
  double most_rate(double value) const { return value * (1 + high); }
};
ErrorBand error_band(std::span<const EvidencePoint>, const Scenario&, EvidenceKind);
ErrorBand error_band(std::span<const EvidencePoint>, const EvidenceFeatures&, EvidenceKind);
// No band with these features, whatever its pipeline idles, has a low end above this one; of a plan without a pipeline it
// is that of its band. Nothing: there is no band then.
std::optional<double> highest_low(std::span<const EvidencePoint>, const EvidenceFeatures&, EvidenceKind);
// Fills the trial of each point, by all of them.
void try_bands(std::span<EvidencePoint>);

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

// Points that would have a band by the others: of how many, how many
// there are, and how many have their error inside it. What a band promises, held against what is known.
struct BandCoverage {
  std::size_t all = 0, n = 0, inside = 0;
  void count(const ErrorBand& band, double error) {
    ++all;
    if (!band.validated()) return;
    ++n;
    if (error >= band.low && error <= band.high) ++inside;
  }
  double share() const { return n > 0 ? static_cast<double>(inside) / static_cast<double>(n) : 0; }
};
// All other runs; or those alone that are of another model or source, which is harder: nobody measured such a plan.
enum class Others : std::uint8_t { runs, models };
BandCoverage band_coverage(std::span<const EvidencePoint>, EvidenceKind, Others = Others::runs);
// The coverage of a kind, or of those points of it that are on one generation of chips or of models with experts.
struct CoverageRow {
  EvidenceKind kind = EvidenceKind::step;
  std::string part;  // "a100", "experts"; empty: all of the kind
  BandCoverage coverage, without_model;
  // Of rows of one generation of chips. Where its bands do not hold, nothing is covered.
  std::optional<BandTrial> trial;
  std::string name() const { return std::string(kEvidenceKindIds[kind]) + (part.empty() ? "" : " " + part); }
};
// All steps, those by generation of chips (TPUs together, of each of which few runs are published) and of models with
// experts; then memory and decoding.
std::vector<CoverageRow> coverage_rows(std::span<const EvidencePoint>);
// The band that the others give each point of the kind; in the order of the points, empty for other kinds.
std::vector<std::optional<ErrorBand>> bands_by_others(std::span<const EvidencePoint>, EvidenceKind, Others);

}  // namespace roofscape::engine
