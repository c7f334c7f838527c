// Advice: where a plan departs from a published recipe for scaling a training run, said as a note that names the
// rule. Two recipes: the scaling book's (chapters 5, 6 and 12) and the Stanford CS231n lecture's. At most one note of
// each.
#pragma once

#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// Appends to report.diagnostics, whose other members stand already.
void diagnose_recipes(const Scenario&, Report&);

}  // namespace roofscape::engine
