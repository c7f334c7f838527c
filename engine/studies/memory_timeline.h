// HBM of one stage's chip over the step: the activations as they come and go, on what the chip holds all the time.
// The peak is the stage's activation memory in the report, to the last byte: the simulation says when, the report how
// much.
#pragma once

#include <optional>
#include <vector>

#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

struct MemoryTimelinePoint {
  double seconds = 0;
  double activation_bytes = 0;
};

struct MemoryTimeline {
  int stage = 0;
  // In order of time. With a pipeline the amount holds until the next point; without one it changes evenly in
  // between, layer by layer.
  std::vector<MemoryTimelinePoint> points;
  bool holds = true;
  double end_s = 0;            // of what is shown
  double peak_s = 0;           // first time of the peak
  int microbatches_shown = 0;  // without a pipeline they are all alike: the first few
  int microbatches = 0;
};

// Nothing where there is no timeline: a schedule that is illegal or too long to draw, a stage that is not there.
std::optional<MemoryTimeline> memory_timeline(const Scenario& scenario, const Report& report, int stage);

}  // namespace roofscape::engine
