// What stands around a list that a job beside the window makes: its head, a note under its rows, and what is said where
// there are none.
#pragma once

#include <string>
#include <string_view>

#include "app/panels/panel_context.h"
#include "app/session/search_view.h"

namespace roofscape::app {

inline constexpr float kListHead = 38, kListRow = 26;  // heights, at scale 1

struct ListHead {
  std::string title, words;
  bool running = false, stopped = false;  // of the job
  double progress = 0;
};
// Title, what is listed, and at the right what the job does, with a button to stop it or to ask it again.
void list_head(PanelContext& ctx, widgets::Rect r, const ListHead& head, SearchView::Ask& ask);

// Small sentences under the rows, cut off at their foot; what would take more than a third of these is read by pointing at
// the rest.
void list_note(PanelContext& ctx, widgets::Rect& rows, const std::string& id, const std::string& words);

// A row that is pointed at, and its ground: `lit` as pointed at elsewhere, from 0 to 1; `own`: it is what is shown.
widgets::ItemState list_row(PanelContext& ctx, const std::string& id, const widgets::Rect& row, float lit, bool own);
// What the pointer is told of a row.
void hint_row(PanelContext& ctx, const std::string& id, const widgets::Rect& row, widgets::Readout tip,
              std::string_view about);

// One sentence in the middle, with a button under it where there is a label; whether that was clicked.
bool notice(PanelContext& ctx, const widgets::Rect& r, std::string_view id, const std::string& words,
            const std::string& label);

}  // namespace roofscape::app
