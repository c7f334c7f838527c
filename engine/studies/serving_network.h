// When the transfers of a decoding step hide behind its work: both over the batch, on the scenario's mesh (scaling book,
// chapter 7). Work is what attention and linear layers wait for, the longer of reads and arithmetic each; transfers are
// those of all mesh axes. Every point is a scenario that evaluate() would give these numbers.
#pragma once

#include <vector>

#include "engine/scenario/scenario.h"

namespace roofscape::engine {

struct ServingNetworkPoint {
  double batch = 0;
  double work_s = 0, network_s = 0, exposed_s = 0;
  bool fits = false;
  bool hides() const { return work_s >= network_s; }
};

struct ServingNetwork {
  std::vector<ServingNetworkPoint> points;  // batches rising, the scenario's own among them
  double own = 0;                           // the scenario's batch
  // Batches between those of the points at which the longer of work and transfers becomes the shorter, rising.
  std::vector<double> crossings;
  bool known() const { return !points.empty(); }  // false: nothing is served, or nothing is sent
};

ServingNetwork serving_network(const Scenario&);

}  // namespace roofscape::engine
