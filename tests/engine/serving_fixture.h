// Serving scenarios for tests: random valid ones over all shipped models and the chips of fixtures.h.
#pragma once

#include <random>

#include "tests/engine/fixtures.h"

namespace roofscape::tests {

engine::Scenario random_serving_scenario(std::mt19937& rng);

}  // namespace roofscape::tests
