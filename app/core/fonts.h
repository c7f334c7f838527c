// The fonts that everything is drawn with, by whichever program or command: one place that says what is wrong with them.
#pragma once

#include <string_view>

#include "engine/io/json/result.h"
#include "widgets/canvas/font_stack.h"

namespace roofscape::app {

// Those of the program; behind `family` where one is asked for. An error where this machine has no font at all, since
// what is drawn then has no letters, and where it has not that family.
io::Result<widgets::FontStack> load_fonts(std::string_view family = {});

}  // namespace roofscape::app
