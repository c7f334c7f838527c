// `roofscape-cli calc`: the building blocks of the engine from the command line.
#pragma once

#include "app/cli/commands.h"

namespace roofscape::app::cli {

// calc NAME key=value ... [--json] [--explain], or calc --list [--json].
int calc(const Context&);

}  // namespace roofscape::app::cli
