// What lies over the whole window: which sheet, how it ends, and the ground that all of them have.
#pragma once

#include <cstdint>
#include <string>

#include "app/panels/panel_context.h"

namespace roofscape::app {

enum class Sheet : std::uint8_t { none, help, save_as, palette, open, export_figure, leave, import, measured, scene };
// What the name in Sheet::save_as is for.
enum class Saved : std::uint8_t { scenario, model, cluster };

struct SheetReply {
  bool closed = false;
  std::string answer = {};  // what was chosen or typed; empty: nothing
};

// Dims the window and draws an empty sheet in its middle.
widgets::Rect sheet_ground(PanelContext& ctx, const widgets::Rect& window, float width, float height);

}  // namespace roofscape::app
