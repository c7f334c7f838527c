// Sweep S1: a fixed space of 9,960 plans, priced one and all, as a benchmark of the pricing. GPT-3 175B on 4,096
// A100-80GB in nodes of 8, 4,096 sequences of 2,048 tokens in 16 bit; tensor and pipeline in {1, 2, 4, 8, 16, 32},
// data the rest, virtual stages every divisor of the layers of a stage, three kinds of recomputation, optimizer
// sharding, tensor collectives as AllReduce or ReduceScatter and AllGather, microbatch in {1, 2, 4, 8, 16} where it
// divides; no overlap, no offload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/search/pricing.h"

namespace roofscape::bench {

// The workload, precision and assumptions of S1 on a model and a chip (GPT-3 175B and A100-80GB).
engine::Scenario s1_scenario(const engine::TransformerShape& model, const engine::Chip& chip);

struct S1Point {
  double step_time_s = 0;  // a bound unless it is exact
  double memory_bytes = 0;
  std::uint32_t plan = 0;  // of S1Result::plans
  std::uint16_t virtual_stages = 1;
  bool exact = false;
  bool fits = false;
  bool legal = true;  // false: the microbatches do not fill the stages, priced by formula
};

struct S1Result {
  std::vector<engine::Plan> plans;  // but for the schedule
  std::vector<S1Point> points;      // all of them, in the order of the loops
  std::size_t fit = 0, illegal = 0, simulated = 0;
  std::vector<std::size_t> best;  // of those that fit and are legal, by simulated step time; indices of points
  double step_at_peak_s = 0;      // of the model's FLOPs alone
  std::vector<std::pair<double, std::uint32_t>> candidates;  // working memory

  engine::Plan plan(const S1Point&) const;
  double mfu(const S1Point& point) const { return step_at_peak_s / point.step_time_s; }
};

// Prices all points, then simulates in ascending order of the bound until none can be among the `best` any more.
void sweep_s1(const engine::Scenario& s1, std::size_t best, S1Result& out);

// {"points": n, "fit": n, "illegal": n, "seconds": s, "points_per_s": n, "best": {...}, "top": [...]}; `seconds` is
// the processor time of one sweep.
std::string s1_json(const S1Result& result, double seconds);

}  // namespace roofscape::bench
