// Beside the list of clusters, in the place of the right rail: what comes first, what a run may take, among which
// clusters, and what the first has over another.
#pragma once

#include "app/panels/panel_context.h"
#include "app/session/search_view.h"

namespace roofscape::app {

void clusters_rail(PanelContext& ctx, const widgets::Rect& r, SearchView& search);

}  // namespace roofscape::app
