// The look of what the engine names: a part of the step or of a chip's memory, and a mesh axis. One each, wherever it
// is drawn.
#pragma once

#include "engine/base/quantity.h"
#include "engine/scenario/scenario.h"
#include "widgets/canvas/palette.h"

namespace roofscape::widgets {

// Of engine::kStepParts, engine::kMemoryParts and what parts of a decoding step wait for; any other quantity looks
// like compute. `em` is that of the canvas.
Fill fill_of(const Theme& theme, engine::Q part, float em);

StepPart look_of(engine::Axis axis);

}  // namespace roofscape::widgets
