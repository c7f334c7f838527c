#include "engine/studies/systolic.h"

#include <algorithm>
#include <cmath>

namespace roofscape::engine {

namespace {

constexpr int kUsualSide = 128;     // of TPU v2 to v5
constexpr double kMostSide = 4096;  // of an array that a file may state

// Cells whose i + j is at most `sum`.
std::int64_t cells_up_to(std::int64_t sum, std::int64_t side) {
  if (sum < 0) return 0;
  if (sum < side) return (sum + 1) * (sum + 2) / 2;
  if (sum >= 2 * side - 2) return side * side;
  const std::int64_t left = 2 * side - 2 - sum;
  return side * side - left * (left + 1) / 2;
}

}  // namespace

SystolicRun::Band SystolicRun::band(std::int64_t cycle) const {
  return {std::max<std::int64_t>(0, cycle - rows + 1), std::min<std::int64_t>(cycle, 2 * std::int64_t{side} - 2)};
}

std::int64_t SystolicRun::busy(std::int64_t cycle) const {
  return cells_up_to(cycle, side) - cells_up_to(cycle - rows, side);
}

SystolicRun systolic_run(const Scenario& s, std::int64_t rows) {
  SystolicRun out;
  const auto stated = s.cluster.chip[ChipField::mxu_dim].value;
  out.of_chip = stated && *stated >= 1 && *stated <= kMostSide && std::floor(*stated) == *stated;
  out.side = out.of_chip ? static_cast<int>(*stated) : kUsualSide;
  out.rows = std::max<std::int64_t>(1, rows);
  out.cycles = out.rows + 2 * std::int64_t{out.side} - 2;
  return out;
}

}  // namespace roofscape::engine
