// What holds of a report, checked together: the first property that is broken, in words; empty where all hold. One text
// instead of an assertion each keeps a case in microseconds, so that tests, bench_properties and the fuzz target of plans
// check the same over any number of scenarios.
#pragma once

#include <string>

#include "engine/io/presets/preset_library.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::tests {

// Whatever the plan, also where it cannot run: every number finite and none negative that cannot be, parts that add up.
std::string report_fault(const engine::Report&);

// Whether every published figure of the chip is known that times and memory rest on.
bool has_all_figures(const engine::Scenario&, const engine::Report&);
// Of a training or serving scenario that is meant to be valid, on a chip with all figures.
std::string training_fault(const engine::Scenario&, const engine::Report&);
std::string serving_fault(const engine::Scenario&, const engine::Report&);

// Where more of one thing never helps: a larger batch or a longer prompt against memory and times.
std::string serving_not_monotone(const engine::Scenario&, const engine::Report&);
std::string training_not_monotone(const engine::Scenario&, const engine::Report&);

// The traced run has the report's values to the last bit, and no formula mixes dimensions.
std::string traced_fault(const engine::Scenario&, const engine::Report&);
// The scenario without its plan, as the pricer of a search gets it: that learns of a plan from the plan alone.
engine::Scenario without_plan(engine::Scenario);
// A search prices the plan as it was evaluated, and its bound is never above that. Nothing to compare: empty.
std::string price_fault(const engine::Scenario&, const engine::Report&);
// The scenario, written, reads back equal.
std::string round_trip_fault(const engine::Scenario&, const io::PresetLibrary&);

}  // namespace roofscape::tests
