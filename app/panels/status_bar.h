// The status bar: saved or not, what an evaluation took, undo depth, the last thing done, and the keys worth knowing;
// and the message strip, which says what could not be done without getting in the way.
#pragma once

#include <string_view>

#include "app/panels/panel_context.h"

namespace roofscape::app {

// `exports`: the name of what an export means. `kept`: whether what is open is kept by the autosave.
void status_bar(PanelContext& ctx, const widgets::Rect& r, std::string_view exports, bool kept);
// True when it was dismissed.
bool message_strip(PanelContext& ctx, const widgets::Rect& r);

}  // namespace roofscape::app
