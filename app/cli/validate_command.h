// roofscape-cli validate [FILE]: predictions against the measurements of a file, or those that ship. calibrate FILE
// --chip C: fits a calibration.
#pragma once

#include "app/cli/commands.h"

namespace roofscape::app::cli {

int validate(const Context&);
int calibrate(const Context&);

}  // namespace roofscape::app::cli
