#include "engine/evaluate/custom_mode.h"

#include <algorithm>

namespace roofscape::engine {
namespace {

// Nobody has set these values by hand: they are the ideal ones, or those of some chip.
bool untouched(const CalibrationValues& values, const Scenario& s, std::span<const Chip> chips) {
  if (values == CalibrationValues{}) return true;
  const auto of = [&](const Chip& chip) {
    const auto& stacks = chip.calibration.stacks;
    return std::any_of(stacks.begin(), stacks.end(), [&values](CalibrationValues stack) {
      if (stack == values) return true;
      // As it serves on software that was fitted to training.
      for (const Calibrated host : kHostTimes) stack[host] = 0;
      return stack == values;
    });
  };
  return of(s.cluster.chip) || std::any_of(chips.begin(), chips.end(), of);
}

}  // namespace

CalibrationValues calibrated_values(const Scenario& s) {
  Scenario calibrated = s;
  calibrated.assumptions.mode = Mode::calibrated;
  return applied_calibration(calibrated);
}

void start_custom(Scenario& s, std::span<const Chip> chips) {
  if (untouched(s.assumptions.custom, s, chips)) s.assumptions.custom = calibrated_values(s);
}

}  // namespace roofscape::engine
