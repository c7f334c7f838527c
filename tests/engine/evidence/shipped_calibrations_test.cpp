// What the calibrations that ship say of themselves: each value stands inside its bounds, is decided by as many runs as
// it says, or is what was known before.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "engine/evidence/calibration_fit.h"
#include "engine/evidence/calibration_priors.h"
#include "engine/io/presets/calibration_json.h"
#include "engine/io/presets/calibration_origin.h"
#include "engine/io/presets/evidence_files.h"
#include "tests/engine/io/io_fixture.h"

using namespace roofscape;
using engine::kCalibrationRows;
using engine::kSoftwareStacks;

namespace {

std::vector<io::CalibrationFile> files() {
  std::vector<io::InputError> problems;
  std::vector<io::CalibrationFile> out = io::shipped_calibrations(problems);
  REQUIRE(problems.empty());
  return out;
}

double value_in(const engine::Calibration& calibration, const io::SearchedValue& value) {
  std::size_t s = 0;
  while (s + 1 < kSoftwareStacks && !value.of[s]) ++s;
  return calibration.stacks[s].values[value.parameter];
}

// Of each searched value of each file.
template <class F>
void each_value(F f) {
  for (const io::CalibrationFile& file : files())
    for (std::size_t i = 0; i < file.searched.size(); ++i) {
      CAPTURE(file.id);
      CAPTURE(kCalibrationRows[file.searched[i].parameter].id);
      f(file, file.searched[i], file.decided[i]);
    }
}

}  // namespace

TEST_CASE("no value that runs decide stands at a bound") {
  each_value([](const io::CalibrationFile& file, const io::SearchedValue& value, const io::Decided& decided) {
    if (decided.runs == 0) return;
    const evidence::Prior prior = evidence::prior_of(kCalibrationRows[value.parameter].parameter);
    const double x = value_in(file.calibration, value);
    const double margin = prior.share ? 0.002 * (prior.most - prior.least) : 0.002 * prior.least;
    CHECK(x > prior.least + margin);
    CHECK(x < prior.most - margin);
  });
}

TEST_CASE("a value is called measured where enough runs feel it, and its interval holds it") {
  each_value([](const io::CalibrationFile& file, const io::SearchedValue& value, const io::Decided& decided) {
    if (decided.runs == 0) return;
    CHECK(decided.runs >= evidence::kFewestRuns);
    CHECK(decided.sources >= 1);
    CHECK(decided.sources <= decided.runs);
    if (decided.high > decided.low) {
      const double x = value_in(file.calibration, value);
      CHECK(decided.low <= x);
      CHECK(x <= decided.high);
    }
  });
}

TEST_CASE("a value that no run decides is what was known before, or lower so that runs that completed fit") {
  each_value([](const io::CalibrationFile& file, const io::SearchedValue& value, const io::Decided& decided) {
    if (decided.runs > 0) return;
    const engine::Calibrated parameter = kCalibrationRows[value.parameter].parameter;
    const bool memory = evidence::of_memory_alone(parameter);
    const double x = value_in(file.calibration, value), start = value_in(file.start, value);
    if (memory)
      CHECK(x <= start);
    else
      CHECK(x == start);
  });
}

TEST_CASE("every calibration with measured values ships what was found without each model, source and fold") {
  for (const io::CalibrationFile& file : files()) {
    CAPTURE(file.id);
    bool measured = false;
    for (const io::Decided& decided : file.decided) measured = measured || decided.runs > 0;
    if (!measured) continue;
    for (std::size_t kind = 0; kind < io::kLeftOutKinds; ++kind) CHECK_FALSE(file.left_out[kind].empty());
  }
}

TEST_CASE("a value of a calibration tells where it comes from, through files that inherit") {
  using engine::Calibrated;
  using engine::SoftwareStack;
  const std::string h100 = "presets/calibration/h100.json";
  io::CalibrationOrigins origins;
  const auto measured = origins.find(h100, SoftwareStack::megatron, Calibrated::matmul_efficiency);
  REQUIRE(measured.has_value());
  CHECK(measured->searched);
  CHECK(measured->decided.runs > 50);
  CHECK(measured->file == h100);
  const auto stated = origins.find(h100, SoftwareStack::megatron, Calibrated::capacity);
  REQUIRE(stated.has_value());
  CHECK_FALSE(stated->searched);
  CHECK(stated->statement.find("nvidia-smi") != std::string::npos);
  const auto inherited =
      origins.find("presets/calibration/mi300x.json", SoftwareStack::megatron, Calibrated::kernel_gap);
  REQUIRE(inherited.has_value());
  CHECK(inherited->file == h100);
  CHECK_FALSE(origins.find("", SoftwareStack::megatron, Calibrated::kernel_gap).has_value());
  // What its forerunner has, but for a host that starts layers.
  const auto heir = origins.find(h100, SoftwareStack::megatron_2026, Calibrated::vector_passes);
  REQUIRE(heir.has_value());
  CHECK(heir->decided.runs == origins.find(h100, SoftwareStack::megatron, Calibrated::vector_passes)->decided.runs);
  CHECK_FALSE(origins.find(h100, SoftwareStack::megatron_2026, Calibrated::issue).has_value());
}
