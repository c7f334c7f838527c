// The findings of the scenario on screen, with what each suggested change gains. Evaluated once for a scenario; while
// a control is held, as it was before.
#pragma once

#include <vector>

#include "app/panels/panel_context.h"
#include "engine/evaluate/offers.h"

namespace roofscape::app {

const std::vector<engine::OfferedFinding>& findings(const PanelContext& ctx);

}  // namespace roofscape::app
