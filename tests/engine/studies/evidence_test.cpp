// The error band of a scenario: which measurements count, what the band is, and what is said where there are too few.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/studies/evidence.h"

#include "tests/engine/fixtures.h"

namespace roofscape {
namespace {

using engine::ErrorBand;
using engine::EvidenceFeature;
using engine::EvidenceKind;
using engine::EvidencePoint;
using engine::Scenario;

Scenario own() { return tests::preset("llama3-8b-8-h100"); }

// A run like the scenario, off by `error`.
EvidencePoint run_like(const Scenario& scenario, double error, EvidenceKind kind = EvidenceKind::step) {
  EvidencePoint p;
  p.family = "one";
  p.model = "m";
  p.kind = kind;
  p.error = error;
  p.complete = true;
  p.features = engine::evidence_features(scenario);
  return p;
}

std::vector<EvidencePoint> runs(std::size_t n, double error = 0.1) {
  return std::vector<EvidencePoint>(n, run_like(own(), error));
}

TEST_CASE("four runs are too few for a band, five are enough") {
  CHECK_FALSE(engine::error_band(runs(4), own(), EvidenceKind::step).validated());
  CHECK(engine::error_band(runs(5), own(), EvidenceKind::step).validated());
}

TEST_CASE("of few runs the band is Student's interval for one more, on the logarithm") {
  std::vector<EvidencePoint> points;
  for (const double error : {0.2, -0.1, 0.0, 0.05, 0.1}) points.push_back(run_like(own(), error));
  const ErrorBand band = engine::error_band(points, own(), EvidenceKind::step);
  // Mean 0.0436 and deviation 0.109 of ln(1 + error); t(4) = 2.132; times the root of 6 fifths.
  CHECK(band.widened());
  CHECK(band.low == doctest::Approx(-0.18644).epsilon(1e-4));
  CHECK(band.median == 0.05);
  CHECK(band.high == doctest::Approx(0.34280).epsilon(1e-4));
}

TEST_CASE("twenty runs are enough for a band of their own errors") {
  std::vector<EvidencePoint> points;
  for (int i = 0; i < 20; ++i) points.push_back(run_like(own(), i / 100.0));
  const ErrorBand band = engine::error_band(points, own(), EvidenceKind::step);
  CHECK_FALSE(band.widened());
  CHECK(band.low >= 0);
  CHECK(band.high <= 0.19);
  points.pop_back();
  CHECK(engine::error_band(points, own(), EvidenceKind::step).high > 0.18);
}

TEST_CASE("a plan that does not fit or cannot run has no band, whatever was measured near it") {
  Scenario large = own();
  large.model = *tests::library().find_model("llama3-405b");
  CHECK(engine::error_band(runs(40), large, EvidenceKind::step).outside == EvidenceFeature::runs);
  Scenario broken = own();
  broken.parallelism.tensor = 3;
  CHECK(engine::error_band(runs(40), broken, EvidenceKind::step).outside == EvidenceFeature::runs);
}

TEST_CASE("runs with other software say nothing of a plan") {
  const ErrorBand band =
      engine::error_band(runs(9), tests::with(own(), {"assumptions.stack=xla"}), EvidenceKind::step);
  CHECK(band.outside == EvidenceFeature::stack);
  CHECK_FALSE(band.validated());
}

TEST_CASE("of a hundred and one runs the five outermost on each side are outside the band") {
  std::vector<EvidencePoint> points;
  for (int i = 0; i <= 100; ++i) points.push_back(run_like(own(), i / 100.0));
  const ErrorBand band = engine::error_band(points, own(), EvidenceKind::step);
  CHECK(band.low == doctest::Approx(0.05));
  CHECK(band.high == doctest::Approx(0.95));
}

TEST_CASE("a prediction that has been 25 % too long stands for a time a fifth shorter, and an MFU a quarter higher") {
  ErrorBand band;
  band.low = band.high = 0.25;
  CHECK(band.least(10) == 8);
  CHECK(band.most(10) == 8);
  CHECK(band.least_rate(0.4) == doctest::Approx(0.5));
}

TEST_CASE("another quantity of the same runs says nothing") {
  std::vector<EvidencePoint> points(9, run_like(own(), 0.1, EvidenceKind::memory));
  CHECK_FALSE(engine::error_band(points, own(), EvidenceKind::step).validated());
  CHECK(engine::error_band(points, own(), EvidenceKind::memory).validated());
}

TEST_CASE("chips of one calibration are one generation, those of another are not") {
  Scenario h200 = own(), a100 = own();
  h200.cluster.chip = *tests::library().find_chip("h200");
  a100.cluster.chip = *tests::library().find_chip("a100-80g");
  CHECK(engine::error_band(runs(9), h200, EvidenceKind::step).validated());
  const ErrorBand band = engine::error_band(runs(9), a100, EvidenceKind::step);
  CHECK_FALSE(band.validated());
  CHECK(band.outside == EvidenceFeature::chip);
  CHECK(band.before == 9);
  CHECK(band.left == 0);
}

TEST_CASE("16-bit formats count as one, 8 bits do not") {
  CHECK(engine::error_band(runs(9), tests::with(own(), {"precision.compute=fp16"}), EvidenceKind::step).validated());
  CHECK(engine::error_band(runs(9), tests::with(own(), {"precision.compute=fp8"}), EvidenceKind::step).outside ==
        EvidenceFeature::precision);
}

TEST_CASE("runs of dense models say nothing of a mixture of experts") {
  Scenario experts = own();
  experts.model = *tests::library().find_model("mixtral-8x7b");
  experts.cluster.nodes = 8, experts.parallelism.fsdp = 64;
  experts.workload.global_batch_sequences = 64;
  CHECK(engine::error_band(runs(9), experts, EvidenceKind::step).outside == EvidenceFeature::experts);
}

TEST_CASE("a model eight times as large is near, one ten times as large is not") {
  std::vector<EvidencePoint> points = runs(5);
  for (EvidencePoint& p : points) p.features.params /= 8;
  CHECK(engine::error_band(points, own(), EvidenceKind::step).validated());
  for (EvidencePoint& p : points) p.features.params /= 1.25;
  CHECK(engine::error_band(points, own(), EvidenceKind::step).outside == EvidenceFeature::size);
}

TEST_CASE("where a number is outside, the band says what was measured") {
  std::vector<EvidencePoint> points = runs(6);
  points[0].features.chips = 128;
  for (std::size_t i = 1; i < 6; ++i) points[i].features.chips = 512;
  const ErrorBand band = engine::error_band(points, own(), EvidenceKind::step);
  CHECK(band.outside == EvidenceFeature::chips);
  CHECK(band.measured_least == 128);
  CHECK(band.measured_most == 512);
  CHECK(band.own == 8);
}

TEST_CASE("a pipeline is never near one stage") {
  std::vector<EvidencePoint> points = runs(9);
  for (EvidencePoint& p : points) p.features.pipeline = 2;
  CHECK(engine::error_band(points, own(), EvidenceKind::step).outside == EvidenceFeature::pipeline);
}

TEST_CASE("of a kernel only the chip is asked") {
  std::vector<EvidencePoint> points(5, run_like(own(), 0.1, EvidenceKind::kernel));
  for (EvidencePoint& p : points) p.features.params = 1, p.features.chips = 1, p.features.experts = true;
  CHECK(engine::error_band(points, own(), EvidenceKind::kernel).validated());
}

TEST_CASE("sources are named by the number of their near runs, and guessed runs are counted") {
  std::vector<EvidencePoint> points = runs(6);
  points[0].family = "few";
  points[1].complete = points[2].complete = false;
  const ErrorBand band = engine::error_band(points, own(), EvidenceKind::step);
  CHECK(band.families == std::vector<std::string>{"one", "few"});
  CHECK(band.guessed == 2);
}

TEST_CASE("coverage never counts a run towards its own band") {
  std::vector<EvidencePoint> points = runs(12, 0.1);
  for (std::size_t i = 6; i < 12; ++i) points[i].model = "other", points[i].error = 0.5;
  const engine::BandCoverage coverage = engine::band_coverage(points, EvidenceKind::step, engine::Others::models);
  CHECK(coverage.n == 12);
  CHECK(coverage.inside == 0);
}

TEST_CASE("bands are as wide as it takes for runs of models left out to lie inside, or there is none") {
  // Twenty runs of one model within 10 %, and twenty of another whose errors are `spread` times as far from the median.
  const auto two_models = [](double spread) {
    std::vector<EvidencePoint> points = runs(40, 0.1);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double at = (static_cast<double>(i % 20) / 19 * 2 - 1) * std::log(1.1);
      points[i].error = std::expm1(i < 20 ? at : spread * at);
      if (i >= 20) points[i].model = "other";
    }
    engine::try_bands(points);
    return points;
  };
  const ErrorBand alike = engine::error_band(two_models(1), own(), EvidenceKind::step);
  CHECK(alike.validated());
  CHECK(alike.trial.tried == 40);
  CHECK(alike.trial.widened == 1);
  const std::vector<EvidencePoint> wider = two_models(1.5);
  const ErrorBand widened = engine::error_band(wider, own(), EvidenceKind::step);
  CHECK(widened.validated());
  CHECK(widened.trial.widened > 1);
  CHECK(widened.trial.widened <= 1.5);
  CHECK(engine::band_coverage(wider, EvidenceKind::step, engine::Others::models).share() >= engine::kBandsAim);
  const ErrorBand none = engine::error_band(two_models(8), own(), EvidenceKind::step);
  CHECK_FALSE(none.validated());
  CHECK(none.outside == EvidenceFeature::trial);
  CHECK(none.before == 40);
  CHECK(none.left == none.trial.inside);
}

TEST_CASE("a summary of errors") {
  const std::vector<double> errors{-0.3, -0.05, 0.05, 0.2};
  const engine::ErrorSummary s = engine::error_summary(errors);
  CHECK(s.n == 4);
  CHECK(s.bias == doctest::Approx(0.0));
  CHECK(s.median_absolute == doctest::Approx(0.125));
  CHECK(s.within_10 == 0.5);
  CHECK(s.within_25 == 0.75);
}

}  // namespace
}  // namespace roofscape
