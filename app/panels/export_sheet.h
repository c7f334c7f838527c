// What an export asks the first time: the folder, the size, the theme and the formats.
#pragma once

#include "app/panels/sheet.h"

namespace roofscape::app {

// The answer is the folder, once the choice was accepted; or that the figure goes into the recipe
// there.
inline constexpr const char* kAddToRecipe = "recipe";
SheetReply export_sheet(PanelContext& ctx, const widgets::Rect& window, ExportChoice& choice);

}  // namespace roofscape::app
