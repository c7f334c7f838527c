// Three dozen published runs and what calibrated mode predicts of them: accuracy cannot rot unseen. The facts are in
// tests/golden/measured_runs.json, each with its source; the errors in measured_runs.txt, written anew with
// ROOFSCAPE_UPDATE_GOLDEN=1.
#include <cmath>
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>

#include "io_fixture.h"
#include "tests/test_paths.h"

#include "engine/io/measurements.h"
#include "engine/io/validation.h"

namespace roofscape {
namespace {

const std::filesystem::path& golden(const char* name) {
  static std::filesystem::path path;
  path = test::source_dir() / "tests" / "golden" / name;
  return path;
}

const io::Validation& runs(engine::Mode mode) {
  static const auto entries = io::load_measurements(golden("measured_runs.json").string());
  REQUIRE(entries);
  static const io::Validation calibrated = io::validate(entries.value(), test::shipped(), engine::Mode::calibrated);
  static const io::Validation ideal = io::validate(entries.value(), test::shipped(), engine::Mode::ideal);
  return mode == engine::Mode::ideal ? ideal : calibrated;
}

const io::ValidationSummary& kind(const io::Validation& validation, const std::string& name) {
  for (const io::ValidationSummary& s : validation.kinds)
    if (s.name == name) return s;
  FAIL("no rows of this kind");
  return validation.overall;
}

TEST_CASE("predictions of published runs are off as far as the golden says") {
  std::string lines;
  for (const io::ValidationRow& row : runs(engine::Mode::calibrated).rows)
    lines += fmt::format("{} {} {}\n", row.id, row.quantity,
                         row.predicted ? fmt::format("{:+.1f} %", 100 * row.error) : "not predicted: " + row.reason);
  if (std::getenv("ROOFSCAPE_UPDATE_GOLDEN") != nullptr) std::ofstream(golden("measured_runs.txt"), std::ios::binary) << lines;
  CHECK(lines == test::text_of(golden("measured_runs.txt")));
}

TEST_CASE("step times of published runs are predicted within 8 % in the median, and within 20 % nine times in ten") {
  const io::ValidationSummary& times = kind(runs(engine::Mode::calibrated), "training_time");
  CHECK(times.median <= 0.08);
  CHECK(times.p90 <= 0.20);
}

TEST_CASE("no published run that completed is predicted not to fit") {
  CHECK(runs(engine::Mode::calibrated).overall.false_out_of_memory == 0);
}

TEST_CASE("calibration explains most of what ideal mode leaves open") {
  CHECK(kind(runs(engine::Mode::calibrated), "training_time").mean < 0.25 * kind(runs(engine::Mode::ideal), "training_time").mean);
}

}  // namespace
}  // namespace roofscape
