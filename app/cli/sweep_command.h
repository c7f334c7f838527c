// `roofscape-cli sweep S --vary path=a,b,c [--vary ...]`: a table of quantities over every combination of the values,
// as text, CSV or JSON.
#pragma once

#include "app/cli/commands.h"

namespace roofscape::app::cli {

int sweep(const Context&);

}  // namespace roofscape::app::cli
