// The left rail: which launchers and servers run the plan, and which of their rules keeps the others from it.
#include <algorithm>
#include <cmath>
#include <string>

#include "app/panels/rail_parts.h"
#include "engine/frameworks/rules.h"
#include "engine/scenario/scenario.h"
#include "widgets/figures/search/plan_table.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

void runners_row(PanelContext& ctx, Column& column, const engine::Scenario& s) {
  constexpr const char* kId = "mesh.runs_on";
  const Theme& t = ctx.ui.theme;
  const Rect row{column.x, column.y, column.width, std::round(ctx.px(kRowHeight))};
  column.y += row.h;
  const float y = row.centre().y, side = ctx.px(14);
  const TextStyle label = ctx.style(t.ink2), small = ctx.style(t.ink2, kSmallText);
  const std::string name(ctx.text("ui.search.column.runs_on"));
  ctx.ui.canvas.text({row.x, y}, name, label);
  const float left =
      std::max(row.x + ctx.px(kLabelWidth), row.x + ctx.ui.canvas.text_width(name, label) + ctx.px(10));
  const auto say = [&](std::string_view words, const TextStyle& style, float from) {
    ctx.ui.canvas.text({from, y}, ellipsize(ctx.ui.canvas, words, style, row.right() - from), style);
  };
  // A plan with an error of its own runs nowhere, whatever the rules of any launcher say.
  const auto& findings = ctx.session.report().diagnostics;
  if (std::any_of(findings.begin(), findings.end(),
                  [](const engine::Diagnostic& d) { return d.severity == engine::Severity::error; }))
    return say(ctx.text("ui.mesh.runs_on.error"), ctx.style(t.ink3, kSmallText), left);
  const engine::WhoRuns who = engine::who_runs(s);
  if (who.can.empty() && who.cannot.empty())
    return say(ctx.text("ui.mesh.runs_on.unknown"), ctx.style(t.ink3, kSmallText), left);
  const Mark mark = who.can.empty() ? Mark::warning : who.cannot.empty() ? Mark::good : Mark::note;
  draw_mark(ctx.ui.canvas, t, {left + side / 2, y}, side, mark);
  say(who.can.empty() ? std::string(ctx.text("ui.mesh.runs_on.none")) : search::framework_names(who.can), small,
      left + side + ctx.px(6));
  if (!ctx.ui.item(kId, row, Interaction::Focus::none).hovered) return;
  Readout tip{name, {}};
  for (const engine::Framework framework : who.can)
    tip.rows.emplace_back(std::string(framework_name(framework)), std::string(ctx.text("ui.mesh.runs_on.yes")));
  for (const engine::Framework framework : who.cannot)
    tip.rows.emplace_back(std::string(framework_name(framework)),
                          ctx.ui.texts.write(engine::broken_rule(framework, s)->words(s)));
  ctx.ui.io.hint(kId, row, tip, std::string(ctx.text("ui.mesh.runs_on.about")));
}

}  // namespace roofscape::app
