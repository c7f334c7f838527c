// What is wrong with a scenario, or worth knowing, and what to do about it. Diagnostics are decided here and nowhere
// else: diagnose.cpp what any scenario may have, diagnose_pipeline.cpp what only pipelines have, diagnose_serving.cpp
// what only serving has, diagnose_recipes.cpp where a training plan departs from a published recipe. They read the
// report and evaluate nothing; a change that must be evaluated to be worth naming is an offer (offers.h).
#pragma once

#include "engine/inputs/placement.h"
#include "engine/report/report.h"

namespace roofscape::engine {

// Fills report.diagnostics from the scenario and the quantities already in the report, errors first. `placed`: its mesh,
// where that has been placed already.
void diagnose(const Scenario&, Report& report, const MeshLinks* placed = nullptr);

}  // namespace roofscape::engine
