// Beside the list of a search, in the place of the right rail: what is searched, why plans drop out and why the
// second is not the first.
#pragma once

#include "app/panels/panel_context.h"
#include "app/panels/rail_rows.h"
#include "app/session/search_view.h"

namespace roofscape::app {

// The head of this rail and of that of clusters: which of the two is asked, and the way out.
void about_row(RailRows& rows, SearchView& search);

void search_rail(PanelContext& ctx, const widgets::Rect& r, SearchView& search);

}  // namespace roofscape::app
