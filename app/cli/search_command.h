// Search of plans: roofscape-cli search and bench-sweep.
#pragma once

#include "app/cli/commands.h"

namespace roofscape::app::cli {

// The best plans of a scenario's space, with what was rejected and why.
int search(const Context&);

// Prices the fixed sweep S1 once, from nothing, and says how fast that went.
int bench_sweep(const Context&);

}  // namespace roofscape::app::cli
