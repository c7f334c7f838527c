// A systolic array that fills and drains: a square of cells that hold a tile of weights, into which rows of inputs enter from
// the left, each cell's share a cycle after that of the cell above, while sums run down and leave at the bottom (scaling book,
// chapter 2; Kung and Leiserson 1979). Cell (i, j) works on row m in cycle m + i + j, so the last of M rows is done after
// M + 2 D - 2 cycles of which each cell works in M.
#pragma once

#include <cstdint>

#include "engine/scenario/scenario.h"

namespace roofscape::engine {

struct SystolicRun {
  int side = 128;       // D, of the array
  bool of_chip = true;  // the chip states it; false: it is that of most TPUs
  std::int64_t rows = 1;
  std::int64_t cycles = 1;  // from the first input to the last sum
  std::int64_t cells() const { return static_cast<std::int64_t>(side) * side; }
  // Cells that work in this cycle, counted from 0; together over all cycles rows times cells.
  std::int64_t busy(std::int64_t cycle) const;
  double busy_share(std::int64_t cycle) const {
    return static_cast<double>(busy(cycle)) / static_cast<double>(cells());
  }
  // Of all cycles of all cells those that work: M / (M + 2 D - 2).
  double utilisation() const { return static_cast<double>(rows) / static_cast<double>(cycles); }
  // Between which rows of cells, counted along both sides (i + j), the work stands in this cycle; first > last: nowhere.
  struct Band {
    std::int64_t first = 0, last = -1;
  };
  Band band(std::int64_t cycle) const;
};

// `rows`: at least one.
SystolicRun systolic_run(const Scenario&, std::int64_t rows);

}  // namespace roofscape::engine
