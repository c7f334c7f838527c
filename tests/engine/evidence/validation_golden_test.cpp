// Four dozen published runs and what calibrated mode predicts of them: accuracy cannot rot unseen. The facts are in
// tests/golden/measured_runs.json, each with its source; the errors in measured_runs.txt, written anew with
// ROOFSCAPE_UPDATE_GOLDEN=1.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"
#include "tests/test_paths.h"

#include "engine/evidence/calibration_fit.h"
#include "engine/evidence/calibration_priors.h"
#include "engine/evidence/validation.h"
#include "engine/io/presets/measurements.h"

namespace roofscape {
namespace {

const std::filesystem::path& golden(const char* name) {
  static std::filesystem::path path;
  path = test::source_dir() / "tests" / "golden" / name;
  return path;
}

const evidence::Validation& runs(engine::Mode mode) {
  static const auto entries = io::load_measurements(golden("measured_runs.json").string());
  REQUIRE(entries);
  static const evidence::Validation calibrated =
      evidence::validate(entries.value(), test::shipped(), engine::Mode::calibrated);
  static const evidence::Validation ideal = evidence::validate(entries.value(), test::shipped(), engine::Mode::ideal);
  return mode == engine::Mode::ideal ? ideal : calibrated;
}

const evidence::ValidationSummary& kind(const evidence::Validation& validation, const std::string& name) {
  for (const evidence::ValidationSummary& s : validation.kinds)
    if (s.name == name) return s;
  FAIL("no rows of this kind");
  return validation.overall;
}

TEST_CASE("predictions of published runs are off as far as the golden says") {
  std::string lines;
  for (const evidence::ValidationRow& row : runs(engine::Mode::calibrated).rows)
    lines += fmt::format(
        "{} {} {}\n", row.id, row.quantity,
        row.predicted ? fmt::format("{:+.1f} %", 100 * row.error) : "not predicted: " + test::in_english(row.reason));
  if (std::getenv("ROOFSCAPE_UPDATE_GOLDEN") != nullptr)
    std::ofstream(golden("measured_runs.txt"), std::ios::binary) << lines;
  CHECK(lines == test::text_of(golden("measured_runs.txt")));
}

TEST_CASE("step times of published runs are predicted within 8 % in the median, and within 20 % nine times in ten") {
  const evidence::ValidationSummary& times = kind(runs(engine::Mode::calibrated), "training_time");
  CHECK(times.median <= 0.08);
  CHECK(times.p90 <= 0.20);
}

TEST_CASE("latencies and rates of published decoding runs are predicted within 15 % in the median") {
  CHECK(kind(runs(engine::Mode::calibrated), "inference").median <= 0.15);
}

TEST_CASE("a calibration fitted again to the same runs is the same to the last bit") {
  const auto entries = io::load_measurements(golden("measured_runs.json").string());
  REQUIRE(entries);
  std::vector<io::InputError> problems;
  const std::vector<io::CalibrationFile> files = io::shipped_calibrations(problems);
  const auto file =
      std::find_if(files.begin(), files.end(), [](const io::CalibrationFile& f) { return f.id == "tpu-v5e"; });
  REQUIRE(file != files.end());
  const auto fit = [&](bool leave_out) {
    return evidence::fit_calibration(entries.value(), test::shipped(), *file, nullptr, leave_out);
  };
  const evidence::CalibrationFit once = fit(true), again = fit(true);
  CHECK(once.result.calibration == again.result.calibration);
  CHECK(once.result.left_out == again.result.left_out);
  CHECK(once.objective == again.objective);
  CHECK(once.objective <= once.start);
}

TEST_CASE("what no run decides keeps its start, and a fitted value stands at no bound") {
  const auto entries = io::load_measurements(golden("measured_runs.json").string());
  REQUIRE(entries);
  std::vector<io::InputError> problems;
  for (const io::CalibrationFile& file : io::shipped_calibrations(problems)) {
    if (file.id != "tpu-v5e" && file.id != "tpu-7x") continue;
    const evidence::CalibrationFit fit =
        evidence::fit_calibration(entries.value(), test::shipped(), file, nullptr, false);
    for (std::size_t i = 0; i < file.searched.size(); ++i) {
      const io::SearchedValue& value = file.searched[i];
      const auto s = static_cast<std::size_t>(std::find(value.of.begin(), value.of.end(), true) - value.of.begin());
      if (s == value.of.size()) continue;
      const double found = fit.result.calibration.stacks[s].values[value.parameter];
      const engine::CalibrationRow& row = engine::kCalibrationRows[value.parameter];
      const double start = file.start.stacks[s].values[value.parameter];
      // What only memory feels may go down until the runs that completed fit.
      const bool lowered = evidence::of_memory_alone(row.parameter);
      if (fit.result.decided[i].runs == 0)
        CHECK_MESSAGE((found == start || (lowered && found < start)), row.id);
      else
        CHECK_MESSAGE((found > row.least && found < row.most), row.id);
    }
  }
}

TEST_CASE("a calibration that is written is read again, with what was found without each model") {
  std::vector<io::InputError> problems;
  const std::vector<io::CalibrationFile> files = io::shipped_calibrations(problems);
  const auto file =
      std::find_if(files.begin(), files.end(), [](const io::CalibrationFile& f) { return f.id == "tpu-v5e"; });
  REQUIRE(file != files.end());
  io::FittedCalibration fitted{file->calibration, 0.3, file->decided, {}};
  fitted.decided.at(0) = {31, 4, 0.5, 0.75};
  engine::Calibration without = file->calibration;
  const io::SearchedValue& value = file->searched.at(0);
  for (std::size_t s = 0; s < engine::kSoftwareStacks; ++s)
    if (value.of[s]) without.stacks[s].values[value.parameter] = 1e-4;
  fitted.left_out[static_cast<std::size_t>(io::LeftOutKind::model)]["A model"] = without;
  const auto text = io::rewrite_calibration(io::shipped_calibration_text("tpu-v5e"), *file, fitted);
  REQUIRE(text);
  const auto again = io::read_calibration(text.value(), "x.json", "x", [](std::string_view) { return nullptr; });
  REQUIRE_MESSAGE(again, test::in_english(again.error()));
  CHECK(again.value().pull == 0.3);
  CHECK(again.value().decided.at(0).runs == 31);
  CHECK(again.value().decided.at(0).high == 0.75);
  const auto& models = again.value().left_out[static_cast<std::size_t>(io::LeftOutKind::model)];
  REQUIRE(models.contains("A model"));
  CHECK(models.at("A model").stacks == without.stacks);
  CHECK(again.value().calibration.stacks == file->calibration.stacks);
}

TEST_CASE(
    "software of which a calibration has nothing has its forerunner's values, but for a host that starts layers") {
  using engine::SoftwareStack;
  const auto read = [](const std::string& stacks) {
    const auto file = io::read_calibration(
        R"({"format": "roofscape/calibration", "version": 1, "name": "x", "source": "x", "chips": ["b200"],
            "parameters": {"memory_efficiency": {"value": 0.8, "source": "s"}}, "stacks": {)" +
            stacks + "}}",
        "x.json", "x", [](std::string_view) { return nullptr; });
    REQUIRE_MESSAGE(file, test::in_english(file.error()));
    return file.value();
  };
  const auto of = [](const io::CalibrationFile& file, SoftwareStack stack) -> const engine::CalibrationValues& {
    return file.calibration.stacks[static_cast<std::size_t>(stack)];
  };
  const std::string megatron = R"("megatron": {"vector_passes": {"value": 1.5, "start": 1.25, "source": "s"},
                                               "layer_issue_s": {"value": 0.0002, "source": "s"}})";
  const io::CalibrationFile heir = read(megatron);
  engine::CalibrationValues replayed = of(heir, SoftwareStack::megatron);
  CHECK(replayed[engine::Calibrated::issue] == 0.0002);
  replayed[engine::Calibrated::issue] = 0;
  CHECK(of(heir, SoftwareStack::megatron_2026) == replayed);
  CHECK(of(heir, SoftwareStack::megatron_2026)[engine::Calibrated::vector_passes] == 1.5);
  REQUIRE(heir.searched.size() == 1);
  CHECK(heir.searched[0].of[static_cast<std::size_t>(SoftwareStack::megatron)]);
  CHECK(heir.searched[0].of[static_cast<std::size_t>(SoftwareStack::megatron_2026)]);
  CHECK_FALSE(heir.searched[0].of[static_cast<std::size_t>(SoftwareStack::torch_fsdp)]);
  const io::CalibrationFile own =
      read(megatron + R"(, "megatron-2026": {"kernel_gap_s": {"value": 2e-06, "source": "s"}})");
  CHECK(of(own, SoftwareStack::megatron_2026)[engine::Calibrated::vector_passes] == 0);
  CHECK(of(own, SoftwareStack::megatron_2026)[engine::Calibrated::kernel_gap] == 2e-06);
  CHECK_FALSE(own.searched[0].of[static_cast<std::size_t>(SoftwareStack::megatron_2026)]);
}

TEST_CASE("no published run that completed is predicted not to fit") {
  CHECK(runs(engine::Mode::calibrated).overall.false_out_of_memory == 0);
}

TEST_CASE("calibration explains most of what ideal mode leaves open") {
  CHECK(kind(runs(engine::Mode::calibrated), "training_time").mean <
        0.25 * kind(runs(engine::Mode::ideal), "training_time").mean);
}

}  // namespace
}  // namespace roofscape
