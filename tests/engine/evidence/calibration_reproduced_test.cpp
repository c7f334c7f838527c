// The shipped calibrations are what `calibrate` finds, to the last bit. Takes minutes; run on demand: ctest -C slow -L slow.
#include <doctest/doctest.h>

#include <string>

#include "engine/evidence/calibration_fit.h"
#include "engine/io/presets/calibration_json.h"
#include "engine/io/presets/evidence_files.h"
#include "tests/engine/io/io_fixture.h"

using namespace roofscape;

TEST_CASE("calibrate with the shipped measurements writes the shipped files again" * doctest::skip()) {
  std::vector<io::InputError> problems;
  const std::vector<io::CalibrationFile> files = io::shipped_calibrations(problems);
  const auto evidence = io::load_evidence(test::shipped());
  REQUIRE(evidence.ok());
  for (const io::CalibrationFile& file : files) {
    if (file.searched.empty()) continue;  // facts alone: nothing is fitted
    CAPTURE(file.id);
    const io::CalibrationFile* parent = nullptr;
    for (const io::CalibrationFile& other : files)
      if (other.id == file.inherits) parent = &other;
    const evidence::CalibrationFit fit =
        evidence::fit_calibration(evidence.value().entries, test::shipped(), file, parent, true);
    const auto text = io::rewrite_calibration(io::shipped_calibration_text(file.id), file, fit.result);
    REQUIRE(text.ok());
    CHECK(text.value() == io::shipped_calibration_text(file.id));
  }
}
