// Fields of the scenario in words: label, value, unit, and why what was typed was not taken.
#pragma once

#include <string>
#include <string_view>

#include "app/panels/panel_context.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::app {

// A label of the rail: "rail.<path>" where the field's own label is too long for it.
std::string field_label(const widgets::TextTable& texts, std::string_view path);
std::string field_label(const PanelContext& ctx, std::string_view path);
// A value of a field as people write it: "8", "bf16", "35 %".
std::string field_value(const widgets::TextTable& texts, const engine::Field& field, double value);
std::string field_value(const PanelContext& ctx, const engine::Field& field, double value);
// The unit of a value box: as it stands in the box beside a number without a unit of its own ("tok", "1 chip"), and
// as the tip names it ("tokens").
std::string unit_in_box(const PanelContext& ctx, const engine::Unit& unit, double value);
std::string unit_words(const PanelContext& ctx, const engine::Unit& unit);

// Says in the strip why what was typed was not taken, or that the nearest possible value was.
void tell_refused(PanelContext& ctx, const widgets::Edited& edited, std::string_view label,
                  const engine::Sentence& domain);

}  // namespace roofscape::app
