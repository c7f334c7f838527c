// One layer's compute and communication, forward and backward, of one microbatch: how long each takes and how much of
// the communication work does not hide. For a plan and for the plain strategies on the same chips. The engine judges
// overlap per layer and direction (training/block_time.h); weights are gathered one layer ahead.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "engine/base/enum_table.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

enum class Strategy : std::uint8_t { plan, data, fsdp, hybrid, tensor };
inline constexpr EnumTable<Strategy> kStrategyIds{"plan", "dp", "fsdp", "hsdp", "tp"};

struct LayerPass {
  double compute_s = 0;            // work: arithmetic or HBM, whichever is longer; with recomputation
  double recompute_s = 0;          // the part of it that is a forward again
  AxisArray<double> gather_s{};    // by axis: what fetches weights, one layer ahead
  AxisArray<double> transfer_s{};  // by axis: what moves gradients, activations, keys or tokens
  double exposed_s = 0;            // that work does not hide
  double total_s() const { return compute_s + exposed_s; }
  double network_s = 0;  // of all axes: of the busiest wire, or as assumed
};

struct LayerOverlap {
  Scenario scenario;  // of the strategy
  LayerPass forward, backward;
  AxisArray<std::uint8_t> waits{};  // by axis, as bits: the axes that share links with it (wires.h)
  // By axis: the part that one microbatch carries of what a layer moves once a step (a step's AllReduce of gradients,
  // spread over the microbatches it hides under). 1: what is drawn is done for every microbatch.
  AxisArray<double> carried{1, 1, 1, 1, 1, 1};
  double hidden_in_pairs = 0;  // of a step; exposed_s is of a layer alone
  std::string_view problem;    // code of the error diagnostic that keeps this plan from running; empty: none
};

// The scenario with all ranks that the plan gives data, fsdp and tensor given to one strategy: replicas (dp), shards
// of everything (fsdp), shards inside a node or along the first torus axis with replicas beyond (hsdp), or tensor
// there with replicas beyond (tp). The number of chips stays; state is sharded by fsdp and hsdp only.
Scenario with_strategy(const Scenario& scenario, Strategy strategy);
// Of what the layers of a step expose alone, the share that runs under another microbatch's pass where the schedule pairs
// a forward with a backward (DualPipe); 0 without pairs.
double hidden_in_pairs(const Report&);
// The axis whose ranks a collective of the report runs between: state that is sharded over context alone moves over
// context.
Axis moves_over(const Scenario&, const CollectiveRow&);

LayerOverlap layer_overlap(const Scenario& scenario, Strategy strategy);
// The same from a report that is there already.
LayerOverlap layer_overlap(const Scenario& scenario, const Report& report);

}  // namespace roofscape::engine
