// The editor of the model or the cluster, over the grid of figures.
#pragma once

#include <string>

#include "app/panels/panel_context.h"
#include "app/session/editor.h"

namespace roofscape::app {

struct EditorState {
  bool open = false;
  EditorPart part = EditorPart::model;
  std::string search;                 // for presets
  std::string refused, refused_text;  // the row whose typed text was no value of it, and the text
  std::string refused_why;            // what was wrong with it, where its unit was
  void show(EditorPart which) {
    open = !open || part != which;
    part = which;
    refused.clear();
  }
};

engine::Scenario editor_panel(PanelContext& ctx, const widgets::Rect& r, EditorState& state,
                              engine::Scenario scenario);

}  // namespace roofscape::app
