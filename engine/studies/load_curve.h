// Waiting under load: a replica simulated (batching_simulation.h) at rising rates of arrival, up to what the plan
// keeps up with. Percentiles of the time to first token, waiting included, and of the time per token.
//
// A thousand requests at each of forty rates take about 4 ms in all, so that the curve follows a slider. They are a sample:
// against 16 000 requests of the shipped scenarios at 0.8 of the most, medians are within 3 %, the ninetieth
// percentile within a fifth, the ninety-ninth (the ten slowest decide it) within three tenths. The seed stays, so
// that edits are compared on the same arrivals.
#pragma once

#include <vector>

#include "engine/report/report.h"
#include "engine/scenario/scenario.h"
#include "engine/serving/batching_simulation.h"

namespace roofscape::engine {

struct LoadPoint {
  double arrivals_per_s = 0;  // at all replicas
  double share_of_most = 0;   // of what the plan keeps up with in the steady state
  bool own = false;           // the scenario's own rate
  BatchingResult result;
};

struct LoadCurve {
  double most_per_s = 0;          // requests a second in the steady state
  std::vector<LoadPoint> points;  // by rising arrivals; empty: nothing is served, or figures are not known
};

LoadCurve load_curve(const Scenario&, const SimulationLength& = {1000, 1});

}  // namespace roofscape::engine
