// How the parts of a decoding step look, and which of the two things that one waits for gives it its name.
#pragma once

#include "engine/base/quantity.h"
#include "engine/report/report.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/figure.h"

namespace roofscape::widgets {

// Of attention and linear layers the longer of reading and arithmetic; any other part is itself.
engine::Q decides_decode(const engine::Report&, engine::Q part);

// Transfers look like the mesh axis that takes longest, anything else as everywhere.
Fill look_of_decode(const FigureInput&, engine::Q what, float em);

}  // namespace roofscape::widgets
