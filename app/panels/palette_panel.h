// The command palette: one line to type in, and what it finds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/panels/panel_context.h"
#include "app/session/palette_entries.h"

namespace roofscape::app {

struct PaletteState {
  bool started = false;
  std::string typed;
  std::vector<PaletteEntry> entries;
  std::vector<TourName> tours;  // those there are when it opens
  int highlighted = 0;
  float scroll = 0;  // rows
};

struct PaletteReply {
  bool closed = false;
  std::optional<PaletteEntry> chosen = {};
};
PaletteReply palette_panel(PanelContext& ctx, const widgets::Rect& window, PaletteState& state);

}  // namespace roofscape::app
