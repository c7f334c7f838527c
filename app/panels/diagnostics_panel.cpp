#include "app/panels/diagnostics_panel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/core/gain_text.h"
#include "app/panels/diagnostic_words.h"
#include "app/panels/findings.h"
#include "app/panels/panel_parts.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

namespace {

// How measured pairs that differ as the changes on offer do went, by finding: looked up when these are others.
struct PairsOfFixes {
  std::vector<std::string> words;
};
struct PairsAsked {
  engine::Scenario scenario;
  const engine::EvidenceSet* evidence = nullptr;
  std::size_t findings = 0, offers = 0;  // while a control is held there are findings without offers
  std::string language;                  // a text of it
  friend bool operator==(const PairsAsked&, const PairsAsked&) = default;
};

const PairsOfFixes& pairs_of(const PanelContext& ctx, const std::vector<engine::OfferedFinding>& all) {
  const auto offers =
      std::count_if(all.begin(), all.end(), [](const auto& one) { return !one.diagnostic.fix.empty(); });
  const PairsAsked asked{ctx.session.scenario(), ctx.evidence.get(), all.size(), static_cast<std::size_t>(offers),
                         std::string(ctx.text("figure.pairs"))};
  return ctx.studies.get<PairsOfFixes>(asked, [&] {
    PairsOfFixes out;
    for (const engine::OfferedFinding& one : all)
      out.words.push_back(one.diagnostic.fix.empty() ? std::string() : fix_pairs(ctx, one.diagnostic));
    return out;
  });
}

}  // namespace

float diagnostics_panel(PanelContext& ctx, const Rect& r, engine::Scenario& scenario) {
  const Theme& t = ctx.ui.theme;
  const float pad = std::round(ctx.px(16));
  const auto& all = findings(ctx);
  const auto clip = ctx.ui.canvas.clip(r);
  float x = r.right() - pad;
  const float head_h = std::round(ctx.px(36));
  ctx.ui.canvas.text({r.x + pad, r.y + head_h / 2}, ctx.text("ui.diagnostics.title"),
                     ctx.style(t.ink, 1, Weight::bold));
  for (const engine::Severity severity :
       {engine::Severity::note, engine::Severity::warning, engine::Severity::error}) {
    int count = 0;
    for (const engine::OfferedFinding& f : all) count += f.diagnostic.severity == severity ? 1 : 0;
    if (count == 0) continue;
    TextStyle s = ctx.style(t.ink2, kSmallText);
    s.halign = HAlign::right;
    const std::string number = std::to_string(count);
    ctx.ui.canvas.text({x, r.y + head_h / 2}, number, s);
    x -= ctx.ui.canvas.text_width(number, s) + ctx.px(11);
    draw_mark(ctx.ui.canvas, t, {x, r.y + head_h / 2}, ctx.px(12), mark_of(severity));
    x -= ctx.px(17);
  }

  Rect view = r;
  view.cut_top(head_h);
  const auto inner = ctx.ui.canvas.clip(view);
  const ScrollRegion scroll = begin_scroll(ctx.ui, "diagnostics", view);
  float y = scroll.content_top;
  const float text_x = r.x + pad + ctx.px(26), width = r.right() - pad - text_x;
  if (all.empty()) {
    draw_mark(ctx.ui.canvas, t, {r.x + pad + ctx.px(8), y + ctx.px(11)}, ctx.px(14), Mark::good);
    y += draw_prose(ctx.ui.canvas, {text_x, y}, ctx.text("ui.diagnostics.none"), ctx.style(t.ink2), width);
  }
  const PairsOfFixes& pairs = pairs_of(ctx, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const engine::Diagnostic& d = all[i].diagnostic;
    if (i > 0) {
      separator(ctx, text_x, r.right() - pad, y + ctx.px(4));
      y += ctx.px(12);
    }
    draw_mark(ctx.ui.canvas, t, {r.x + pad + ctx.px(8), y + ctx.px(11)}, ctx.px(15), mark_of(d.severity));
    y += draw_prose(ctx.ui.canvas, {text_x, y}, diagnostic_title(ctx, d), ctx.style(t.ink), width);
    y += draw_prose(ctx.ui.canvas, {text_x, y}, diagnostic_text(ctx, d), ctx.style(t.ink2, kSmallText), width) +
         ctx.px(2);
    if (!d.fix.empty()) {
      const std::string label = fix_label(ctx, d);
      const std::string gain = all[i].gain ? gain_text(*all[i].gain, ctx.ui.texts) : std::string();
      const TextStyle style = ctx.style(t.ink);
      const float w = std::min(width, ctx.ui.canvas.text_width(label, style) + ctx.px(24));
      const Rect b{text_x, std::round(y + ctx.px(2)), w, std::round(ctx.px(kControlHeight))};
      if (button(ctx.ui, b, fmt::format("fix.{}", d.code), label))
        for (const engine::FieldEdit& edit : d.fix)
          if (edit.field != nullptr) engine::apply(scenario, edit);
      if (!gain.empty()) {
        // Beside the button, or under it where there is no room.
        const TextStyle beside = ctx.style(t.ink2, kSmallText);
        const bool fits = b.right() + ctx.px(10) + ctx.ui.canvas.text_width(gain, beside) <= text_x + width;
        const Point at = fits ? Point{b.right() + ctx.px(10), b.centre().y} : Point{text_x, b.bottom() + ctx.px(11)};
        ctx.ui.canvas.text(at, gain, beside);
        if (!fits) y = b.bottom() + ctx.px(20);
      }
      y = std::max(y, b.bottom() + ctx.px(4));
      if (!pairs.words[i].empty())
        y += draw_prose(ctx.ui.canvas, {text_x, y}, pairs.words[i], ctx.style(t.ink2, kSmallText), width) + ctx.px(2);
    }
  }
  y += ctx.px(10);
  end_scroll(ctx.ui, scroll, y);
  return head_h + y - scroll.content_top;
}

}  // namespace roofscape::app
