// Beside the list of a search, in the place of the right rail: what is searched, why plans drop out and why the
// second is not the first.
#pragma once

#include "app/panels/panel_context.h"
#include "app/session/search_view.h"

namespace roofscape::app {

void search_rail(PanelContext& ctx, const widgets::Rect& r, SearchView& search);

}  // namespace roofscape::app
