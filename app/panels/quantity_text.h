// Numbers of the report as panels show them: what is said of one that is pointed at, and how it differs from the
// baseline.
#pragma once

#include <string>
#include <string_view>

#include "app/panels/panel_context.h"
#include "engine/base/quantity.h"

namespace roofscape::app {

// A quantity's label and explanation, as the text of what is pointed at.
widgets::Readout quantity_tip(const PanelContext& ctx, engine::Q q);
// Text that stands for a quantity: it can be pointed at and clicked; a click opens its derivation.
void quantity_text(PanelContext& ctx, std::string_view probe_id, widgets::Point anchor, std::string_view text,
                   const widgets::TextStyle& style, engine::Q q);

bool is_step_part(engine::Q q);

// What a number was at the baseline: "was 12.2 s", with the change before it; empty without a baseline or a value
// there.
std::string change_from_baseline(const PanelContext& ctx, engine::Q q);

}  // namespace roofscape::app
