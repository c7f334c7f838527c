// What fills one microbatch's pass through a virtual stage: work, recomputation, and the communication of each mesh
// axis, hidden and exposed. For pictures of single operations (a trace): summed over a step, less what overlapped
// pairs hide, the mean of the devices is the step's own parts.
#pragma once

#include <vector>

#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// Seconds of one direction. Exposed is what communication adds to the work; `network` is how long each axis is busy,
// which the rest of it hides under the work. The engine knows what a direction exposes and what an axis exposes in
// both: where an axis is exposed in both directions its share of each is in proportion.
struct PassParts {
  double time_s = 0;       // work and exposed communication
  double recompute_s = 0;  // backward only: of the work, forwards done again, arithmetic alone
  AxisArray<double> exposed_s{}, network_s{};
  double exposed_all_s() const;
};
struct StagePasses {
  PassParts forward, backward;
};

struct StepPasses {
  std::vector<StagePasses> stages;  // by virtual stage along the way of a microbatch; one without a pipeline
  StagePasses layer;
  double host_s = 0;  // of the step's host part; the rest of that waits for the slowest node
};

// Of a scenario that trains.
StepPasses step_passes(const Scenario&);

}  // namespace roofscape::engine
