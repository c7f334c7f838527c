// The look of a quantity that is a part of the step or of a chip's memory: one fill a part, wherever it is drawn.
#pragma once

#include "engine/quantity.h"
#include "widgets/palette.h"

namespace roofscape::widgets {

// Of engine::kStepParts, engine::kMemoryParts and what parts of a decoding step wait for; any other quantity looks like compute. `em` is that of the canvas.
Fill fill_of(const Theme& theme, engine::Q part, float em);

}  // namespace roofscape::widgets
