// Diagnostics of the report in words, and which of them concerns what.
#pragma once

#include <string>
#include <string_view>

#include "app/panels/panel_context.h"
#include "engine/report/report.h"

namespace roofscape::app {

widgets::Mark mark_of(engine::Severity severity);
// The error or warning that names this field; null if there is none.
const engine::Diagnostic* finding_of(const PanelContext& ctx, std::string_view path);
// The error or warning most worth reading first; null if there is none.
const engine::Diagnostic* worst_diagnostic(const engine::Report& report);

std::string diagnostic_title(const PanelContext& ctx, const engine::Diagnostic& d);
std::string diagnostic_text(const PanelContext& ctx, const engine::Diagnostic& d);
// What the button of its suggested change says: "Set tensor 8".
std::string fix_label(const PanelContext& ctx, const engine::Diagnostic& d);
// How measured pairs went that differ as the plan does after its fix; empty: there are too few.
std::string fix_pairs(const PanelContext& ctx, const engine::Diagnostic& d);

}  // namespace roofscape::app
