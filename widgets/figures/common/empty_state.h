// The middle of a figure that has nothing to draw: one sentence that says why.
#pragma once

#include <string_view>

#include "widgets/canvas/canvas.h"
#include "widgets/canvas/theme.h"

namespace roofscape::widgets {

// The group that the sentence is drawn in, by which others know that there was nothing to draw.
inline constexpr std::string_view kEmptyState = "empty-state";

void draw_empty_state(Canvas& canvas, const Theme& theme, const Rect& area, std::string_view why);

}  // namespace roofscape::widgets
