// Collectives step by step: what every rank ends with, and what is sent on the way.
#include "engine/studies/collective_steps.h"

#include <doctest/doctest.h>

#include "engine/scenario/scenario.h"

using namespace roofscape::engine;

namespace {

CollectiveSteps steps(CollectiveKind kind, int ranks) { return collective_steps(Scenario{}, kind, ranks); }

int arrived(const CollectiveSteps& c, int step, int rank) {
  int count = 0;
  for (int place = 0; place < c.ranks; ++place) count += c.at(step, rank, place).arrived;
  return count;
}

}  // namespace

TEST_CASE("an AllGather ends with every block on every rank, after as many steps as there are other ranks") {
  for (const int ranks : {2, 4, 8}) {
    const CollectiveSteps c = steps(CollectiveKind::all_gather, ranks);
    CHECK(c.steps == ranks - 1);
    for (int rank = 0; rank < ranks; ++rank)
      for (int place = 0; place < ranks; ++place) {
        CHECK(c.at(0, rank, place).held == (rank == place));
        CHECK(c.at(c.steps, rank, place).held);
        CHECK(c.at(c.steps, rank, place).block == place);
      }
  }
}

TEST_CASE("a ReduceScatter ends with one whole sum on each rank") {
  for (const int ranks : {2, 4, 8}) {
    const CollectiveSteps c = steps(CollectiveKind::reduce_scatter, ranks);
    CHECK(c.steps == ranks - 1);
    for (int rank = 0; rank < ranks; ++rank)
      for (int place = 0; place < ranks; ++place) {
        CHECK(c.at(0, rank, place).summed == 1);
        CHECK(c.at(c.steps, rank, place).held == (rank == place));
        if (rank == place) CHECK(c.at(c.steps, rank, place).summed == ranks);
      }
  }
}

TEST_CASE("an AllReduce ends with every whole sum on every rank, in twice the steps of either half") {
  for (const int ranks : {2, 4, 8}) {
    const CollectiveSteps c = steps(CollectiveKind::all_reduce, ranks);
    CHECK(c.steps == 2 * (ranks - 1));
    for (int rank = 0; rank < ranks; ++rank)
      for (int place = 0; place < ranks; ++place) {
        CHECK(c.at(c.steps, rank, place).held);
        CHECK(c.at(c.steps, rank, place).summed == ranks);
      }
  }
}

TEST_CASE("an AllToAll ends with what every rank had for this one") {
  for (const int ranks : {2, 4, 8}) {
    const CollectiveSteps c = steps(CollectiveKind::all_to_all, ranks);
    CHECK(c.steps == ranks - 1);
    for (int rank = 0; rank < ranks; ++rank)
      for (int place = 0; place < ranks; ++place) {
        CHECK(c.at(c.steps, rank, place).from == place);
        CHECK(c.at(c.steps, rank, place).block == rank);
      }
  }
}

TEST_CASE("in every step of a collective one block arrives on every rank, which is what a rank sends") {
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                          CollectiveKind::all_to_all})
    for (const int ranks : {4, 8}) {
      const CollectiveSteps c = steps(kind, ranks);
      for (int rank = 0; rank < ranks; ++rank) {
        CHECK(arrived(c, 0, rank) == 0);
        for (int step = 1; step <= c.steps; ++step) CHECK(arrived(c, step, rank) == 1);
      }
      CHECK(c.block_bytes * ranks == c.array_bytes);
      CHECK(c.sent_bytes == c.block_bytes * c.steps);
    }
}

// Rank 2 of four: the sum of block 2 comes last from rank 1, after it went from rank 3 over 0 and 1.
TEST_CASE("partial sums of a ReduceScatter grow by one rank a step on their way round the ring") {
  const CollectiveSteps c = steps(CollectiveKind::reduce_scatter, 4);
  CHECK(c.at(1, 0, 2).summed == 2);
  CHECK(c.at(2, 1, 2).summed == 3);
  CHECK(c.at(3, 2, 2).summed == 4);
  CHECK_FALSE(c.at(1, 3, 2).held);
}
