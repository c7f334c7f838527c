// The strip of open scenarios, shown while there are several.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/panel_context.h"

namespace roofscape::app {

// The open scenarios; what was asked of them.
struct TabStrip {
  struct Tab {
    std::string name;
    bool saved = true;
  };
  std::vector<Tab> tabs;
  std::size_t active = 0;
  std::optional<std::size_t> show, close;
  bool add = false;
};
void tab_strip(PanelContext& ctx, const widgets::Rect& r, TabStrip& strip);

}  // namespace roofscape::app
