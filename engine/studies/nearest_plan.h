// The plan nearest to a wanted one that runs: what a control, a change of cluster or a switch turns to where the
// scenario as edited would have an error diagnostic, so that no first move ends in an impossible plan.
//
// The rule. What was edited is held; the model, the batch, the lengths and the cluster are never altered. The mesh may
// use as many chips as it did, or as many as there are now. Of all meshes within that, in ascending order of what they
// change, the first that `evaluate` finds no error with is taken. The change of an axis counts the octaves it moves,
// times the weight of the axis: the partner 1, data and fsdp 2, context 5, pipeline 9, tensor 17, and half a point for
// an axis that was not in use; an octave of chips that stay idle counts 6, or, where the product is to be kept, more
// than all else. Ties go to the smaller mesh in the order tensor, context, pipeline, fsdp, data. With a mesh its
// followers are settled: the microbatch, expert ranks and ranks per expert become the largest that divide, at most
// what they were; chunks and schedule stay where the schedule can run, else other chunks, interleaving and 1F1B are
// tried in this order; a number format the chip has no rate for gives way to the one its diagnostic suggests.
// Where chips of prefill and of decoding do not both fit a smaller cluster, the chips are shared out anew.
// Where nothing runs with the edited value, a value that is approached by a control goes back towards what it was by
// powers of two; one that is held exactly (typed, chosen) is returned as it is, with runs = false.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "engine/frameworks/framework.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

struct NearestPlanOptions {
  std::span<const std::string_view> held;  // paths of fields that were edited
  Axis partner = Axis::fsdp;               // the mesh axis that gives way first
  bool keep_product = false;               // a mesh axis was edited and the others make up for it
  bool exact = false;                      // the edited value, or nothing
  std::optional<Framework> runs_on = {};   // and it keeps the rules of this framework
};

struct NearestPlan {
  Scenario scenario;  // the wanted one where nothing runs
  bool runs = false;
  bool reached = true;  // with the edited value; false: it went back towards what it was
};

NearestPlan nearest_plan_that_runs(const Scenario& before, const Scenario& wanted, const NearestPlanOptions& options);

// The plan nearest to this one that a framework can run: with the knobs its rules ask for (mend_for), on the nearest mesh
// that keeps them. `runs` is false where none does.
NearestPlan nearest_plan_on(Framework, const Scenario&);

// No error stands against the plan but that a published figure of the chip is missing, which no plan can mend.
bool runs(const Report& report);

// The same of plans that nobody has evaluated, one after the other: errors are a matter of degrees, sizes and schedule
// rules, never of times, so no pipeline is simulated.
class PlanCheck {
 public:
  bool runs(const Scenario&);
  // Of the last scenario. The errors are those of its evaluation; of the rest some is missing.
  std::span<const Diagnostic> found() const { return report_.diagnostics; }

 private:
  Report report_;
};

// The scenario with chips of its own for prefill, taken from the decoding mesh: of the splits of its replicas (of the
// ranks of its largest other axis where there is one replica) the one that serves the most requests a second, of those
// that fit if any does. A prefill mesh that was set stays, and decoding gives way to it.
NearestPlan nearest_disaggregated(const Scenario& before, const Scenario& wanted);

}  // namespace roofscape::engine
