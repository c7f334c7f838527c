// The model: a Scenario in, a Report out. No state, no clock; equal Scenarios give equal Reports to the last bit.
#pragma once

#include "engine/report.h"
#include "engine/scenario.h"

namespace roofscape::engine {

Report evaluate(const Scenario&);
// The same, reusing the memory of an old report.
void evaluate(const Scenario&, Report& out);

}  // namespace roofscape::engine
