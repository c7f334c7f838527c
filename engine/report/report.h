// A Report is everything a view may draw of one Scenario: the quantities, and tables of operations, collectives,
// stages and the simulated pipeline. It holds values only; texts are made from it by whoever shows it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/collective_kind.h"
#include "engine/base/enum_table.h"
#include "engine/base/quantity.h"
#include "engine/pipeline/schedule.h"
#include "engine/pipeline/simulate.h"
#include "engine/report/diagnostic.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// Why a quantity has no value.
enum class Absence : std::uint8_t {
  none,            // it has one
  not_applicable,  // this kind of chip or plan has no such thing (tensor bound of a chip without a torus)
  unknown_input,   // a published figure it needs is not known
  cannot_run,      // the plan breaks a rule (an error diagnostic): it has no times, nor what follows from them
};
inline constexpr EnumTable<Absence> kAbsenceIds{"", "not_applicable", "unknown_input", "cannot_run"};

// Values by row of the quantity table. Never NaN or infinite: what cannot be computed is absent, with the reason.
class QuantityValues {
 public:
  std::optional<double> operator[](Q q) const {
    const auto i = static_cast<std::size_t>(q);
    return i < kReportQuantityCount && absence_[i] == Absence::none ? std::optional<double>(values_[i])
                                                                    : std::nullopt;
  }
  double value_or(Q q, double fallback) const { return (*this)[q].value_or(fallback); }
  Absence absence(Q q) const {
    const auto i = static_cast<std::size_t>(q);
    return i < kReportQuantityCount ? absence_[i] : Absence::not_applicable;
  }
  void set(Q q, double value);  // a value that is not finite is stored as absent
  void withhold(Q q);           // a value it has is absent: the plan cannot run
  void clear() {
    values_.fill(0);
    absence_.fill(Absence::not_applicable);
  }
  friend bool operator==(const QuantityValues&, const QuantityValues&) = default;

 private:
  std::array<double, kReportQuantityCount> values_{};
  std::array<Absence, kReportQuantityCount> absence_{};
};

// The classes of operations a training step is made of. Matrix multiplications run on the matrix units, attention
// too; the others are vector operations that move bytes.
enum class OperationKind : std::uint8_t {
  embedding,
  qkv,
  attention,
  attention_out,
  router,
  gate_up,
  down,
  logits,  // on the matrix units
  norms,
  rope,
  activation,
  residual,
  optimizer  // vector operations
};
inline constexpr int kOperationCount = static_cast<int>(kEnumCount<OperationKind>);
inline constexpr EnumTable<OperationKind> kOperationIds{
    "embedding", "qkv",   "attention", "attention_out", "router",   "gate_up",  "down",
    "logits",    "norms", "rope",      "activation",    "residual", "optimizer"};
constexpr bool is_vector_operation(OperationKind kind) { return kind >= OperationKind::norms; }

// The part of the step an operation counts to. Vector operations are hidden under the others, what is not is HBM
// traffic.
constexpr Q part_of(OperationKind kind) {
  if (kind == OperationKind::attention) return Q::step_attention;
  if (kind == OperationKind::optimizer) return Q::step_optimizer;
  return is_vector_operation(kind) ? Q::step_hbm : Q::step_matmul;
}

// One class of operations over a whole step, on the mean chip, forward, backward and recomputation together, at the
// speed of the scenario's mode (training/operation_steps.h).
struct OperationRow {
  OperationKind kind = OperationKind::qkv;
  double flops = 0;  // ideal: in the stated convention, else executed; vectors: their own arithmetic
  double hbm_bytes = 0;
  double intensity_flop_per_byte = 0;
  double achieved_flop_per_s = 0;  // min(peak, intensity * HBM bandwidth) in ideal mode; flops / time
  double time_s = 0;
  double share_of_step = 0;  // time over step time; ideal: vector operations are hidden under the others
};

struct CollectiveRow {
  Axis axis = Axis::data;
  CollectiveKind kind = CollectiveKind::all_gather;
  bool backward = false;
  bool end_of_step = false;          // once a step instead of once a layer and microbatch
  double bytes = 0;                  // of the gathered array, one call
  double calls_per_step = 0;         // on one chip; at the end of a step, how many layers' gradients there are
  double time_s = 0;                 // one call, with its latency
  double bandwidth_bytes_per_s = 0;  // at which its bytes are sent
  bool of_update = false;            // at the end of a step: what Muon sends, not a reduction
  double experts_bytes = 0;          // of the bytes, experts' that go between ranks with the same ones
  // Of one call the bytes alone.
  double sent_s() const {
    if (!(bandwidth_bytes_per_s > 0)) return 0;
    return (kind == CollectiveKind::all_reduce ? 2 : 1) * bytes / bandwidth_bytes_per_s;
  }
};

// Transfers of a mesh axis, each as long as it takes alone on its links; state that is sharded over context alone
// counts with context.
struct AxisTransfers {
  double forward_s = 0, backward_s = 0;  // of a layer and microbatch; of what moves once a step, its share
  double step_end_s = 0;                 // once a step, after a pipeline's last microbatch
  double update_s = 0;                   // of Muon, when the update is made
  double hidden_s = 0;                   // of a step, in layers and at its end: what runs beside work
};

// How a mesh axis is laid on the links.
struct AxisPlacement {
  Axis axis = Axis::data;
  LinkTier tier = LinkTier::none;
  int degree = 1;
  int torus_axes = 0;                // ici: axes of the torus it spans
  int inside_node = 1;               // switched: neighbours inside a node ...
  int across_nodes = 1;              // ... and nodes it spans
  double bandwidth_bytes_per_s = 0;  // 0: the axis moves nothing
  int fabric_level = -1;  // of the cluster's fabric, the level that decides; -1: links inside the node, or none
  int group = 1;          // ranks that communicate: of fsdp, fsdp x context
  TorusAxes on = TorusAxes::automatic;          // ici: which axes of the torus; automatic: none
  int open_axes = 0;                            // ici: of these, axes whose rings do not close
  int links() const { return 2 * torus_axes; }  // ici: of a chip
};

// The part of step time that is the exposed communication of a mesh axis, by Axis.
inline constexpr AxisArray<Q> kExposedParts{Q::step_data,    Q::step_fsdp,   Q::step_tensor,
                                            Q::step_context, Q::step_expert, Q::step_pipeline_transfer};

inline constexpr std::size_t kMemoryPartCount = kMemoryParts.size();

struct StageRow {
  int first_layer = 0, layers = 0;
  int dense_layers = 0;  // of them, in a model whose first layers are dense and whose others have experts
  bool has_embedding = false, has_head = false;
  double params = 0;
  double forward_s = 0, backward_s = 0;  // one microbatch; 0, as idle_s, of a plan that cannot run
  double in_flight_microbatches = 0;
  // Of one microbatch in all its layers: kept until the backward, and needed by a weight gradient that is put off.
  double kept_bytes = 0, postponed_bytes = 0;
  double idle_s = 0;                                    // of the whole schedule
  std::array<double, kMemoryPartCount> memory_bytes{};  // in the order of kMemoryParts
  double memory_total_bytes = 0;
};

// The simulated pipeline of one step. Empty (stages == 1) when there is none.
// What running a pipeline's order finds, in seconds.
struct SimulatedStep {
  double makespan = 0, in_transfer = 0, even_stages_idle = 0;
  bool drawn = false;  // has a timeline, and with it:
  double bubble_time = 0, bubble_to_work = 0, span_bubble = 0;
};

struct PipelineReport {
  ScheduleShape shape;
  ScheduleStatus status;    // legal, or the rule that is broken
  bool too_long = false;    // its operations in a row last longer than ticks can count: the step has no time
  std::vector<int> layers;  // by virtual stage
  Orders orders;
  RunPlan plan;         // the order made ready to run, kept with it
  StepsByLevel levels;  // of the plan, where it was run with two sets of times
  // By device: held at its peak, until the weight gradient; of the order alone.
  std::vector<double> peak_microbatches;
  PipelineTimes times;
  // By virtual stage: the part of a backward in which forwards are done again, in one piece at its start though
  // layers take turns. Part of times.backward_input; may be empty where it is not known.
  std::vector<Tick> recompute;
  Timeline timeline;  // ticks are picoseconds
  std::optional<SimulatedStep> simulated;
  std::vector<Tick> idle;        // by device
  double step_end_s = 0;         // reduction and optimizer after the last operation
  double update_exchange_s = 0;  // of it, what the step waits for of what Muon sends
  double reduction_s = 0;        // of it, the reduction: what of the axes' step_end_s the step waits for
  bool drawn() const { return !timeline.start.empty(); }
};

// What limits the step: the resource that is busy longest, whether or not it hides under another. `none`: the plan
// cannot run.
enum class BoundKind : std::uint8_t { compute, hbm, mesh_axis, bubble, latency, host, offload, none };
struct Bound {
  BoundKind kind = BoundKind::compute;
  Axis axis = Axis::data;       // mesh_axis only
  std::string_view id() const;  // "compute", "hbm", "bubble", "latency", "host", "offload" or the axis; none: ""
};

// A plan with an error diagnostic cannot run: its report has sizes, memory, placement and limits, but nothing that is
// of a run (is_of_a_run), no bound, no operations, collectives or timeline.
struct Report {
  QuantityValues quantities;
  Bound bound;
  int fullest_stage = 0;
  std::vector<OperationRow> operations;
  std::vector<CollectiveRow> collectives;
  AxisArray<AxisTransfers> transfers{};  // by mesh axis; training only
  std::vector<AxisPlacement> placement;
  std::vector<StageRow> stages;
  PipelineReport pipeline;
  std::vector<Diagnostic> diagnostics;

  bool has_errors() const;
  bool fits() const { return quantities.value_or(Q::memory_free, 0) >= 0; }
};

// Takes out of a report what a plan that cannot run does not have. evaluate() has done so.
void withhold_run(Report& report);

}  // namespace roofscape::engine
