// The plans one step away from a plan.
#pragma once

#include <vector>

#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// The changes of the plan that are one step away: one field, or the few that go together (a factor moved from one
// mesh axis to another, with the microbatch that keeps their number). Never the model, the chips, the number formats
// or the work; the sequences that are decoded together count as plan where a service level bounds them or they do not
// fit, and kernels that keep less where a training plan does not fit.
std::vector<Fix> single_edits(const Scenario&, const Report&);

// The scenario with all edits of a fix.
Scenario after_fix(const Scenario&, const Fix&);

}  // namespace roofscape::engine
