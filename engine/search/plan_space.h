// The space of plans a search looks through: every mesh of all chips, and of fewer where those divide better
// (even_chip_counts.h) or the scenario's own mesh leaves some idle, times the choices that do not change the mesh.
// Constraints are values: each dimension has numbers or choices that are allowed.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/enum_table.h"
#include "engine/base/sentence.h"
#include "engine/frameworks/framework.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/search/plan.h"
#include "engine/search/torus_places.h"

namespace roofscape::engine {

struct PlanDimension;

// Numbers a dimension may have: a range, or a set inside it.
struct Allowed {
  double min = 1, max = std::numeric_limits<double>::infinity();
  std::vector<double> only;  // empty: every number of the range
  bool allows(double n) const;
  friend bool operator==(const Allowed&, const Allowed&) = default;
};

struct PlanSpace {
  Allowed data{1, kMostDataDegree, {}}, fsdp{1, kMostDataDegree, {}};
  Allowed tensor{1, kMostTensorDegree, {}}, context{1, kMostContextDegree, {}};
  Allowed pipeline{1, kMostPipelineDegree, {}}, expert{1, kMostExpertDegree, {}};
  Allowed microbatch{1, 16, {}};  // sequences
  Allowed virtual_stages{1, 16, {}};
  Allowed zero_stage{0, 3, {}};
  Allowed sequence_parallel{0, 1, {}}, offload_optimizer{0, 1, {}}, offload_activations{0, 1, {}};
  Allowed schedule{0, kScheduleKinds - 1, {}};  // by enumeration
  Allowed policy{0, static_cast<int>(CheckpointPolicy::block), {}};
  // Of settings the values that are tried. None: the scenario's own.
  std::vector<double> keep_gathered, context_method, expert_tensor, group_size, embedding_as_layers, head_as_layers;
  std::vector<double> data_on, fsdp_on, tensor_on, context_on, expert_on, pipeline_on;
  std::vector<double> rank_order, optimizer_fraction;
  bool tensor_across_nodes = false;
  double min_free = 0;                    // share of HBM that stays free, 0 to 1
  std::optional<Framework> runs_on = {};  // only plans that keep the rules of this one
  friend bool operator==(const PlanSpace&, const PlanSpace&) = default;
};
// What fits the scenario: of checkpointing nothing kept, the attention core, outputs of matrix multiplications and
// whole layers, and the scenario's own policy; schedules made for experts where the model has some; offload where the
// speed of PCIe is known.
PlanSpace space_of(const Scenario&);

// The combinations of settings that are tried, each as a plan of which nothing else is said: of every setting the
// scenario's own value first, where the space has it.
std::vector<Plan> settings_tried(const Scenario&, const PlanSpace&);
// How many these are, and of how many a search should be asked for at most.
std::size_t count_settings(const PlanSpace&);
inline constexpr std::size_t kMostSettings = 1024;
Scenario with_settings_of(Scenario, const Plan&);
bool same_settings(const Plan&, const Plan&);

enum class ConstraintKind : std::uint8_t { pinned, at_least, at_most };
// "tensor", "8" or "4,8"; choices by their words ("schedule", "1f1b,zb-h1"), switches as on and off; of settings also
// "any". What is wrong, in words, or nothing.
struct ConstraintError {
  Sentence message, remedy;
};
std::optional<ConstraintError> constrain(PlanSpace&, std::string_view name, std::string_view value,
                                         ConstraintKind how);
// The same of one dimension, called `name` in words. `field`: the scenario's, whose values and words it has.
std::optional<ConstraintError> constrain(Allowed&, std::string_view name, std::string_view value, ConstraintKind how,
                                         const Field& field);
std::vector<std::string_view> dimension_names();

// A limit of a space that is narrower than what fits the scenario.
struct BrokenLimit {
  std::string_view dimension;  // "tensor"; "tensor_nodes": tensor ranks of one group are on several nodes
  Allowed allowed;             // not of "tensor_nodes"
};
// The first such limit that keeps a plan out of the space, whether it would run or not; choices that mean nothing for
// the plan, such as the schedule of one stage, break none.
std::optional<BrokenLimit> broken_limit(const Scenario&, const PlanSpace&, const Plan&);

// Which constraint of a search a plan that has a price breaks, so that it does not count beside the plans found.
struct BrokenConstraint {
  enum class Kind : std::uint8_t { memory, min_free, token_time, ttft, limit, runs_on };
  Kind kind = Kind::memory;  // min_free: it fits, and leaves less memory free than asked for
  std::optional<BrokenLimit> limit = {};
};
inline constexpr EnumTable<BrokenConstraint::Kind> kBrokenConstraintIds{"memory", "min_free", "token_time",
                                                                        "ttft",   "limit",    "runs_on"};

// Why plans are left out: the first test a plan fails, cheapest first.
enum class Rejection : std::uint8_t {
  model,         // the model is impossible, whatever the plan
  heads,         // tensor does not divide attention heads, or KV heads neither way
  tensor_nodes,  // tensor does not stay inside a node
  sequence,      // context does not divide the sequence
  layers,        // more pipeline stages than layers
  experts,       // expert ranks divide neither the experts nor the ranks they are carved out of, or the tensor
                 // ranks that split an expert cannot be had
  batch,         // sequences do not divide over the ranks
  schedule,      // the schedule does not allow the stages, chunks or microbatches
  too_long,      // more operations than are simulated
  runs_on,       // the framework asked for does not run it
  state,         // weights, gradients and optimizer state alone do not fit
  memory,        // does not fit
  rate,          // the chip lacks a speed that the plan needs, so it has no time
};
inline constexpr std::size_t kRejections = kEnumCount<Rejection>;
inline constexpr EnumTable<Rejection> kRejectionIds{"model",   "heads",  "tensor_nodes", "sequence", "layers",
                                                    "experts", "batch",  "schedule",     "too_long", "runs_on",
                                                    "state",   "memory", "rate"};

// Numbers a mesh leaves open, for one space and a scenario with one combination of settings.
class SpaceChoices {
 public:
  SpaceChoices(const Scenario&, const PlanSpace&);
  // Of a scenario with settings that are tried (settings_tried) beside others; `own`: those that come first.
  SpaceChoices(const Scenario&, const PlanSpace&, const Plan& own);

  // Meshes that share a layer: tensor, context and expert.
  struct Group {
    Plan mesh;
  };
  std::vector<Group> groups;
  std::vector<int> chip_counts;    // that a mesh has, falling; the first is all
  std::vector<int> data_divisors;  // of these
  std::vector<int> microbatches;
  std::vector<int> tensors;  // of the groups, rising
  std::vector<CheckpointPolicy> policies;
  std::vector<bool> offload_optimizer, offload_activations;

  std::vector<bool> sequence_parallel(int tensor) const;
  std::vector<int> zero_stages(int fsdp, int context) const;
  // Schedule and chunks of a number of stages.
  struct Chunking {
    ScheduleKind kind;
    int virtual_stages;
  };
  std::vector<Chunking> chunkings(int pipeline) const;
  // Whether the plan is of the space with these settings, not with others that come to the same for it and come first:
  // by its mesh alone, which may not have all values either, and by schedule and microbatch.
  bool has_mesh(const Plan&) const;
  bool has_schedule(const Plan&) const;
  bool one_setting() const { return earlier_.empty() && others_.empty() && !places_; }
  // Why no plan with this tensor, context and expert is looked at; of the whole mesh with `whole`.
  std::optional<Rejection> reject_group(const Plan&) const;
  std::optional<Rejection> reject_mesh(const Plan&) const;
  // Whether no plan with this tensor degree can have it on, or off: experts that fewer ranks split need it.
  bool reject_sequence_parallel(int tensor, bool on) const;
  // The plan of the space that is this one but for choices that mean nothing for it: schedule and chunks of one stage,
  // sequence parallelism of one tensor rank, the ZeRO stage where there is nothing to share with. Nothing: it is
  // outside of the space, or has other settings.
  std::optional<Plan> as_searched(Plan) const;

  // Cells of the mesh map: of each tensor degree those of each number of stages in data_divisors.
  std::size_t cell_count() const { return tensors.size() * data_divisors.size(); }
  std::size_t cell_of(int tensor, std::size_t pipeline_at) const;

 private:
  // A setting, and its values that come first.
  struct Earlier {
    const PlanDimension* of = nullptr;
    std::vector<double> values;
  };
  bool told_apart(const Plan&, const Earlier&) const;
  bool places_first(const Plan&) const;

  const Scenario& s_;
  const PlanSpace& space_;
  Plan setting_;                       // its settings alone
  std::vector<Earlier> earlier_;       // of settings with any, but for placements
  std::optional<PlacesTried> places_;  // where this is not the first placement
  // Settings with another value than the scenario's own, which not every mesh may have.
  std::vector<const PlanDimension*> others_;
};
// The plan of the space that is this one, as as_searched() of whatever settings it has there.
std::optional<Plan> as_searched(const Scenario&, const PlanSpace&, Plan);

}  // namespace roofscape::engine
