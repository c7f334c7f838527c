// What only a training plan with pipeline stages has: stages without layers, a schedule's broken rule, layers or an
// order by hand that do not fit the plan, and why its devices wait.
#pragma once

#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// Appends to report.diagnostics; reads the report's quantities and its pipeline.
void diagnose_pipeline(const Scenario&, Report&);

}  // namespace roofscape::engine
