// Search of plans: roofscape-cli bench-sweep.
#pragma once

#include "app/cli/commands.h"

namespace roofscape::app::cli {

// Prices the fixed sweep S1 once, from nothing, and says how fast that went.
int bench_sweep(const Context&);

}  // namespace roofscape::app::cli
