// A measured run laid over the prediction for it. What a profiler or a log says of one step is put beside the parts of the
// predicted step, so that predicted + differences by name + what has no name = measured. And of each assumption: the value
// at which the prediction alone would be the measured step, if there is one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/enum_table.h"
#include "engine/evaluate/measured.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

struct Field;  // scenario/scenario_fields.h

// What a kernel does, as its name says.
enum class WorkKind : std::uint8_t { matmul, attention, optimizer, vector, host_copy, unknown };
inline constexpr EnumTable<WorkKind> kWorkKinds{"matmul", "attention", "optimizer", "vector", "host_copy", "unknown"};
enum class MeasuredCollective : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all, send_recv, other };
inline constexpr EnumTable<MeasuredCollective> kMeasuredCollectives{"all_reduce", "all_gather", "reduce_scatter",
                                                                    "all_to_all", "send_recv",  "other"};

// Seconds of one step and of one rank, the mean over the ranks and steps that were measured.
struct WorkTime {
  double seconds = 0;  // durations added up
  double own_s = 0;    // of the step: while no kernel of a kind before it ran
  double count = 0;    // kernels
};
struct CollectiveTime {
  double seconds = 0;
  double exposed_s = 0;  // while no other work ran
  double count = 0;
  std::optional<double>
      link_s;  // of the rank that entered last, so without waiting; several ranks are needed to tell
};
struct MeasuredKernels {
  bool timeline = false;  // false: sums by kernel; what ran beside what is not known
  int ranks = 1, steps = 1;
  std::array<WorkTime, kEnumCount<WorkKind>> work{};
  std::array<CollectiveTime, kEnumCount<MeasuredCollective>> collectives{};
  // Nothing ran: before the host had started the next kernel, after it had, and where it is not known which.
  double idle_host_s = 0, idle_launch_s = 0, idle_s = 0;
  std::vector<std::pair<std::string, double>> unknown;  // kernels that have no kind, the longest first, seconds

  // The order and the number of the unknown ones, after some were added.
  void keep_longest_unknown();
};

// What one rank did in the last step that was measured, in kMeasuredBins stretches of equal length: the share of each that
// a kind of work or of collective had to itself; the rest is idle.
enum class LaneWork : std::uint8_t { compute, optimizer, send_recv, collective };
inline constexpr std::size_t kLaneWorks = 4, kMeasuredBins = 512;
struct MeasuredLane {
  std::optional<int> rank;
  double step_s = 0;
  std::optional<double>
      optimizer_s;  // when the optimizer begins, after all products of the step; none: it is not seen
  std::vector<std::array<float, kLaneWorks>> bins;
};

// Memory of a rank at its peak, by what PyTorch says it holds.
enum class HeldMemory : std::uint8_t { weights, gradients, optimizer, activations, other };
inline constexpr EnumTable<HeldMemory> kHeldMemory{"weights", "gradients", "optimizer", "activations", "other"};

struct MeasuredRun {
  std::vector<std::string> sources;  // files or lines, as people see them
  // Of one step. What several sources say of one number has to be settled before.
  std::optional<double> step_s, flops_per_chip_per_s, mfu, tokens_per_chip_per_s;
  std::optional<double> allocated_bytes, reserved_bytes;  // the most of a rank
  int log_steps = 0;                                      // lines of steps that these are the median of
  std::optional<MeasuredKernels> kernels;
  std::vector<MeasuredOperation> operations;  // with their FLOPs and bytes, where a file has these
  std::vector<MeasuredLane> lanes;            // by rank; of timelines
  std::optional<std::array<double, kEnumCount<HeldMemory>>> held_bytes;  // their sum is what is allocated
};

// A line of the sum. A measured value that is not known stands for the predicted one, so its difference is in what is
// unexplained.
enum class StepTerm : std::uint8_t {
  arithmetic,
  vector,
  optimizer,
  offload,
  communication,
  pipeline,
  host,
  unknown_kernels
};
inline constexpr EnumTable<StepTerm> kStepTerms{"arithmetic",    "vector",   "optimizer", "offload",
                                                "communication", "pipeline", "host",      "unknown_kernels"};
struct StepTermRow {
  StepTerm term{};
  std::span<const Q> parts;  // of the predicted step
  double predicted_s = 0;
  std::optional<double> measured_s;
};
struct MeasuredComparison {
  std::optional<double> predicted_s;  // none: the plan has no step
  std::optional<double> measured_s;   // none: nothing says how long a step was
  bool step_follows = false;          // it was worked out from tokens a second, FLOP/s or MFU
  std::vector<StepTermRow> terms;
  double unexplained_s = 0;  // what the terms leave of measured less predicted; 0 where either is not known

  std::optional<double> predicted_mfu, measured_mfu;  // in Roofscape's FLOPs of the model
  // FLOPs of a step and chip as the framework counts them, and as the model has them here.
  std::optional<double> framework_flops, model_flops;

  std::optional<double> predicted_bytes, capacity_bytes;  // the fullest stage, and what there is
};
MeasuredComparison compare_measured(const Scenario&, const Report&, const MeasuredRun&);

// What one assumption would have to be, all others as they are.
struct ClosingAssumption {
  const Field* field = nullptr;  // of the scenario in custom mode
  double now = 0;
  std::optional<double> needed;  // none: no value of its domain closes the gap
  double furthest = 0;           // the value of its domain that comes nearest, and the step there
  double furthest_step_s = 0;
};
// Those that move the step by more than a thousandth. The ones that close the gap first, those that move least before the
// others; then the rest, the nearest first. Empty: the plan has no step.
std::vector<ClosingAssumption> closing_assumptions(const Scenario&, double measured_step_s);

}  // namespace roofscape::engine
