// The right rail: what changed since the baseline, diagnostics, and the derivation; folded, a strip that counts the
// diagnostics.
#pragma once

#include "app/panels/derivation_panel.h"
#include "app/panels/panel_context.h"

namespace roofscape::app {

struct RightRailState {
  bool open = true;
  DerivationState derivation;
};

// `open` as it was laid out: what is clicked in this frame opens it in the next.
engine::Scenario right_rail(PanelContext& ctx, const widgets::Rect& r, bool open, RightRailState& state,
                            engine::Scenario scenario);

}  // namespace roofscape::app
