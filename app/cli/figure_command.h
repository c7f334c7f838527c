// `roofscape-cli figure`: figures into files, one or all of them.
#pragma once

#include "app/cli/commands.h"

namespace roofscape::app::cli {

// figure NAME S -o FILE, figure --all S -o DIR [--format pdf], or figure --list.
int figure(const Context&);

}  // namespace roofscape::app::cli
