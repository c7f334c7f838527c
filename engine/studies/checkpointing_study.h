// Every checkpointing policy of a plan: the memory of the fullest stage against the work done again. With the schemes
// that keep the inputs of C segments as curves in C (engine/model/checkpointing.h), and the C of each that needs
// least memory, which theory puts at the square root of the layers (Chen et al. 2016; CS231n notes).
#pragma once

#include <vector>

#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

struct CheckpointingPoint {
  Checkpointing checkpointing;
  double memory_bytes = 0;  // of the fullest stage's chip
  double work_s = 0;        // arithmetic of a step, without recomputation
  double recompute_s = 0;
  double step_s = 0;
  bool fits = true;
  bool own = false;  // the plan's own policy
  double arithmetic() const {
    return work_s > 0 ? (work_s + recompute_s) / work_s : 1;
  }  // over that without recomputation
};

struct CheckpointingStudy {
  std::vector<CheckpointingPoint> policies;  // one each of those without segments; the plan's own k and blocks
  std::vector<CheckpointingPoint> segments;  // by rising C
  std::vector<CheckpointingPoint> segments_minimal;  // by rising C, from where the arithmetic is not beyond reason
  int layers = 0;
  int root = 1;               // the whole number nearest to the square root of the layers
  double capacity_bytes = 0;  // 0: not known
};

CheckpointingStudy checkpointing_study(const Scenario& scenario);

}  // namespace roofscape::engine
