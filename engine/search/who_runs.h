// Which launchers and servers can run a plan that a search found.
#pragma once

#include "engine/frameworks/rules.h"
#include "engine/search/decoding_plan.h"
#include "engine/search/plan.h"

namespace roofscape::engine {

// Of the scenario with the plan applied: a Plan, or a DecodingPlan.
template <class AnyPlan>
WhoRuns who_runs(Scenario scenario, const AnyPlan& plan) {
  apply(scenario, plan);
  return who_runs(scenario);
}

}  // namespace roofscape::engine
