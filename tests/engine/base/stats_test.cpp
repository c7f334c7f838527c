#include "engine/base/stats.h"

#include <vector>

#include <doctest/doctest.h>

using namespace roofscape::engine;

TEST_CASE("the median of an even number of values lies halfway between the middle two") {
  CHECK(median({4, 1, 3, 2}) == 2.5);
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({7}) == 7);
  CHECK(median({}) == 0);
}

TEST_CASE("a quantile lies in a straight line between its neighbours") {
  CHECK(quantile({10, 0, 20, 30, 40}, 0.9) == doctest::Approx(36));
  CHECK(quantile({10, 0, 20, 30, 40}, 0) == 0);
  CHECK(quantile({10, 0, 20, 30, 40}, 1) == 40);
}

TEST_CASE("an outer quantile is the value at or beyond the place") {
  std::vector<double> values{30, 0, 40, 10, 20};
  CHECK(outer_quantile(values, 0.05) == 0);
  CHECK(outer_quantile(values, 0.95) == 40);
  CHECK(outer_quantile(values, 0.75) == 30);
}

TEST_CASE("a percentile by nearest rank is one of the values") {
  std::vector<double> values{30, 0, 40, 10, 20};
  CHECK(nearest_rank(values, 0.5) == 20);
  CHECK(nearest_rank(values, 0.9) == 40);
  CHECK(nearest_rank(values, 0.2) == 0);
}
