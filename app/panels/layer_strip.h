// The layers of a pipeline's virtual stages as a strip in the rail, as wide as they are many. A boundary between two
// stages is dragged to move layers from one to the other, a double click or Enter lets the list be typed, and a right
// click deals the layers evenly again.
#pragma once

#include "app/panels/field_control.h"

namespace roofscape::app {

void layer_strip(PanelContext& ctx, Column& column, engine::Scenario& scenario);

}  // namespace roofscape::app
