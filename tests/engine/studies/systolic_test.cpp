// A systolic array that fills and drains: the closed form against a count of the cells.
#include "engine/studies/systolic.h"

#include <doctest/doctest.h>

#include "engine/scenario/scenario.h"

using namespace roofscape::engine;

namespace {

SystolicRun run_of(int side, std::int64_t rows) {
  Scenario s;
  s.cluster.chip[ChipField::mxu_dim].value = side;
  return systolic_run(s, rows);
}

}  // namespace

TEST_CASE("rows M through an array of D by D take M + 2 D - 2 cycles, of which M are work") {
  struct Golden {
    int side;
    std::int64_t rows, cycles;
    double utilisation;
  };
  for (const Golden& g :
       {Golden{128, 8, 262, 8.0 / 262}, Golden{128, 128, 382, 128.0 / 382}, Golden{128, 512, 766, 512.0 / 766},
        Golden{128, 4096, 4350, 4096.0 / 4350}, Golden{256, 512, 1022, 512.0 / 1022}, Golden{1, 5, 5, 1.0}}) {
    const SystolicRun run = run_of(g.side, g.rows);
    CHECK(run.of_chip);
    CHECK(run.cycles == g.cycles);
    CHECK(run.utilisation() == g.utilisation);
  }
}

TEST_CASE("the cells that work are those that a row has reached and the last has not left") {
  for (const int side : {1, 2, 5, 8})
    for (const std::int64_t rows : {1, 3, 8, 20}) {
      const SystolicRun run = run_of(side, rows);
      std::int64_t all = 0;
      for (std::int64_t cycle = 0; cycle < run.cycles; ++cycle) {
        std::int64_t count = 0;
        for (int i = 0; i < side; ++i)
          for (int j = 0; j < side; ++j) {
            const std::int64_t row = cycle - i - j;
            const bool works = row >= 0 && row < rows;
            count += works;
            const auto band = run.band(cycle);
            CHECK(works == (i + j >= band.first && i + j <= band.last));
          }
        CHECK(run.busy(cycle) == count);
        CHECK(count > 0);
        all += count;
      }
      CHECK(all == rows * run.cells());
      CHECK(run.busy(-1) == 0);
      CHECK(run.busy(run.cycles) == 0);
    }
}

TEST_CASE("a chip that states no array has the usual one") {
  Scenario s;
  s.cluster.chip[ChipField::mxu_dim].value.reset();
  CHECK_FALSE(systolic_run(s, 8).of_chip);
  CHECK(systolic_run(s, 8).side == 128);
  s.cluster.chip[ChipField::mxu_dim].value = 1e9;
  CHECK(systolic_run(s, 8).side == 128);
  CHECK(systolic_run(s, -5).rows == 1);
}
