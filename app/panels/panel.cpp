#include "app/panels/panel.h"

#include <cmath>

#include "app/core/strings.h"
#include "engine/evaluate/evaluate.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/quantity_look.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;
using engine::Q;

Pinned::Pinned(engine::Scenario s) : scenario(std::move(s)), report(engine::evaluate(scenario)) {}

std::string change_from_baseline(const PanelContext& ctx, Q q) {
  if (!ctx.view.pinned) return {};
  const auto before = ctx.view.pinned->report.quantities[q], now = ctx.session.report().quantities[q];
  if (!before || ctx.view.pinned->report.has_errors()) return {};
  const engine::Unit& unit = engine::quantity(q).unit;
  const std::string was = ctx.ui.texts.amount(*before, unit);
  if (!now || ctx.session.report().has_errors()) return ctx.format("ui.pin.was_only", {was});
  if (*now == *before) return std::string(ctx.text("ui.pin.same"));
  std::string change;
  // Shares differ by points, sizes and money by an amount, times and rates by a share.
  if (unit.notation == engine::Notation::percent)
    change = ctx.format("ui.pin.points",
                        {format((*now - *before) * 100, engine::unit::one, {.unit = false, .sign = true})});
  else if (q == Q::step_time || *before == 0 || q == Q::tokens_per_s)
    change = *before == 0 ? ctx.ui.texts.amount(*now, unit, {.sign = true})
                          : format(*now / *before - 1, engine::unit::fraction, {.sign = true});
  else
    change = ctx.ui.texts.amount(*now - *before, unit, {.sign = true});
  return ctx.format("ui.pin.was", {change, was});
}

Readout quantity_tip(const PanelContext& ctx, Q q) {
  const engine::Quantity& row = engine::quantity(q);
  Readout tip;
  tip.title = ctx.text("quantity." + std::string(row.id) + ".label");
  tip.rows.emplace_back(ctx.text("ui.tip.quantity"), row.id);
  if (!engine::is_input(row)) tip.rows.emplace_back(ctx.text("ui.tip.click"), ctx.text("ui.tip.derivation"));
  return tip;
}

void open_derivation(ViewState& view, std::string id) {
  if (id.empty()) return;
  if (view.trail.empty() || view.trail.back() != id) view.trail.push_back(std::move(id));
  if (view.trail.size() > 64) view.trail.erase(view.trail.begin());
  view.right_open = true;
}

void quantity_text(PanelContext& ctx, std::string_view probe_id, Point anchor, std::string_view text,
                   const TextStyle& style, Q q) {
  const Rect bounds = ctx.ui.canvas.text_bounds(anchor, text, style);
  const std::string about(ctx.text("quantity." + std::string(engine::quantity(q).id) + ".about"));
  const ItemState s = ctx.ui.item(probe_id, bounds, Interaction::Focus::none);
  ctx.ui.canvas.text(anchor, text, style);
  if (s.hovered) {
    const float line = std::max(1.0f, std::round(ctx.px(1)));
    ctx.ui.canvas.rect({bounds.x, std::round(bounds.bottom() - ctx.px(2)), bounds.w, line}, {.colour = style.colour});
    ctx.ui.io.set_cursor(Cursor::hand);
    ctx.ui.io.hint(probe_id, bounds, quantity_tip(ctx, q), about);
  }
  if (s.clicked) open_derivation(ctx.view, std::string(engine::quantity(q).id));
}

std::string_view without_index(std::string_view id) { return id.substr(0, id.find('[')); }

ScopedId scoped_id(std::string_view id) {
  constexpr std::string_view kScope = "schedule.";
  const std::size_t slash = id.find('/');
  if (!id.starts_with(kScope) || slash == std::string_view::npos) return {{}, id, std::nullopt};
  return {id.substr(0, slash + 1), id.substr(slash + 1),
          engine::parse_schedule(id.substr(kScope.size(), slash - kScope.size()))};
}

std::string derivation_id(std::string_view tag_id, int index) {
  // Of another schedule its bubble: it is what it is compared by, and made of its makespan and its work.
  if (tag_id.starts_with("schedule.")) {
    const std::string scope = std::string(tag_id.substr(0, tag_id.find('/'))) + "/";
    return scoped_id(scope).schedule ? scope + std::string(engine::quantity(Q::pipeline_bubble_fraction).id)
                                     : std::string();
  }
  if (tag_id.starts_with("operation.")) {
    if (index < 0 || index >= engine::kOperationCount) return {};
    return std::string(engine::quantity(Q::operation_time).id) + "[" +
           std::string(engine::kOperationIds[static_cast<std::size_t>(index)]) + "]";
  }
  const auto q = engine::find_quantity(without_index(tag_id));
  if (!q) return {};
  std::string id(tag_id);
  if (!engine::is_indexed(engine::quantity(*q)) || index < 0 || id.find('[') != std::string::npos) return id;
  const bool by_stage = id.starts_with("stage.");
  if (!by_stage && index >= engine::kAxisCount) return id;
  return id + "[" +
         (by_stage ? std::to_string(index) : std::string(engine::kAxisIds[static_cast<std::size_t>(index)])) + "]";
}

std::string field_label(const TextTable& texts, std::string_view path) {
  const std::string shorter = "rail." + std::string(path);
  if (texts.has(shorter)) return std::string(texts.text(shorter));
  // Sizes of a model have the texts of their quantities.
  const std::string label = "field." + std::string(path) + ".label";
  return std::string(texts.text(texts.has(label) ? label : "quantity." + std::string(path) + ".label"));
}
std::string field_label(const PanelContext& ctx, std::string_view path) { return field_label(ctx.ui.texts, path); }

std::string field_value(const PanelContext& ctx, const engine::Field& field, double value) {
  return field_value(ctx.ui.texts, field, value);
}
std::string field_value(const TextTable& texts, const engine::Field& field, double value) {
  if (field.kind == engine::FieldKind::choice) {
    const auto i = static_cast<std::size_t>(value);
    if (i >= field.choices.size()) return {};
    return std::string(texts.text("choice." + std::string(field.path) + "." + std::string(field.choices[i])));
  }
  if (field.kind == engine::FieldKind::boolean) return std::string(texts.text(value != 0 ? "ui.on" : "ui.off"));
  return format(value, field.unit, {.unit = field.unit.notation != engine::Notation::count, .trim_zeros = true});
}

void tell_refused(PanelContext& ctx, const Edited& edited, std::string_view label, const std::string& domain) {
  if (!edited.refused) return;
  if (!edited.problem.empty())
    ctx.view.said = {true, ctx.format("ui.number.refused", {std::string(label), edited.problem}), edited.remedy};
  else
    ctx.view.said = {true, ctx.format("ui.number.clamped", {std::string(label), *edited.refused, domain}), {}};
}

Fill part_fill(const Theme& theme, Q part, float em) { return fill_of(theme, part, em); }

void separator(PanelContext& ctx, float x0, float x1, float y) {
  ctx.ui.canvas.rect({x0, std::round(y), x1 - x0, std::max(1.0f, std::round(ctx.px(1)))},
                     {.colour = ctx.ui.theme.line});
}

void vertical_separator(PanelContext& ctx, float x, float y0, float y1) {
  ctx.ui.canvas.rect({std::round(x), y0, std::max(1.0f, std::round(ctx.px(1))), y1 - y0},
                     {.colour = ctx.ui.theme.line});
}

float section_head(PanelContext& ctx, Point p, float width, std::string_view title, std::string_view note,
                   std::optional<Mark> mark) {
  const float h = std::round(ctx.px(32)), y = p.y + h / 2;
  const TextStyle bold = ctx.style(ctx.ui.theme.ink, 1, Weight::bold);
  const std::string words = ellipsize(ctx.ui.canvas, title, bold, width);
  ctx.ui.canvas.text({p.x, y}, words, bold);
  const float room = width - ctx.ui.canvas.text_width(words, bold) - ctx.px(mark ? 34 : 12);
  if (!note.empty() && room > ctx.px(30)) {
    TextStyle s = ctx.style(mark == Mark::error ? ctx.ui.theme.err : ctx.ui.theme.ink2, 0.85f);
    s.halign = HAlign::right;
    const std::string beside = ellipsize(ctx.ui.canvas, note, s, room);
    ctx.ui.canvas.text({p.x + width, y}, beside, s);
    if (mark)
      draw_mark(ctx.ui.canvas, ctx.ui.theme, {p.x + width - ctx.ui.canvas.text_width(beside, s) - ctx.px(13), y},
                ctx.px(11), *mark);
  }
  return h;
}

std::optional<std::string> typed_line(PanelContext& ctx, const Rect& r, std::string_view id, const std::string& now,
                                      std::string_view hint) {
  Interaction& io = ctx.ui.io;
  const bool before = io.editing(id);
  const auto event = text_box(ctx.ui, r, id);
  if (!before && io.editing(id)) {
    io.start_entry(id, now);
  } else if (!before) {
    const TextStyle s = ctx.style(now.empty() ? ctx.ui.theme.ink3 : ctx.ui.theme.ink);
    ctx.ui.canvas.text({r.x + ctx.px(8), r.centre().y},
                       ellipsize(ctx.ui.canvas, now.empty() ? hint : std::string_view(now), s, r.w - ctx.px(14)), s);
  } else if (event == Interaction::EntryEvent::accepted || (io.pressed_now() && !r.contains(io.pointer()))) {
    std::string text = io.entry().text;
    io.stop_entry();
    return text;
  } else if (event == Interaction::EntryEvent::cancelled) {
    io.stop_entry();
  }
  return std::nullopt;
}

const engine::Diagnostic* finding_of(const PanelContext& ctx, std::string_view path) {
  const engine::Diagnostic* worst = nullptr;
  for (const engine::Diagnostic& d : ctx.session.report().diagnostics)
    if (d.field_path == path && d.severity != engine::Severity::note &&
        (worst == nullptr || d.severity < worst->severity))
      worst = &d;
  return worst;
}

Mark mark_of(engine::Severity severity) {
  switch (severity) {
    case engine::Severity::error:
      return Mark::error;
    case engine::Severity::warning:
      return Mark::warning;
    case engine::Severity::note:
      return Mark::note;
  }
  return Mark::note;
}

const engine::Diagnostic* worst_diagnostic(const engine::Report& report) {
  const engine::Diagnostic* worst = nullptr;
  for (const engine::Diagnostic& d : report.diagnostics)
    if (worst == nullptr || d.severity < worst->severity) worst = &d;
  return worst;
}

bool shows_diagnostics(const PanelContext& ctx) {
  const ViewState& v = ctx.view;
  const bool searches = v.search.open && !v.workbench.open && !v.editor.open;
  return v.right_open && !searches && !v.projector;
}

std::string unit_in_box(const PanelContext& ctx, const engine::Unit& unit, double value) {
  if (unit.symbol == "1") return {};
  const std::string shorter = "ui.unit." + std::string(unit.symbol);
  const std::string counted = ctx.ui.texts.plural_key(shorter, value);
  if (ctx.ui.texts.has(counted)) return std::string(ctx.text(counted));
  return ctx.ui.texts.has(shorter) ? std::string(ctx.text(shorter)) : ctx.ui.texts.noun(unit, value);
}

std::string unit_words(const PanelContext& ctx, const engine::Unit& unit) {
  if (unit.notation == engine::Notation::percent) return "%";
  return unit.symbol == "1" ? std::string(ctx.text("ui.unit.ratio")) : std::string(unit.symbol);
}

std::string diagnostic_title(const PanelContext& ctx, const engine::Diagnostic& d) {
  const std::string key = "diagnostic." + std::string(d.code) + ".title";
  return std::string(ctx.text(ctx.ui.texts.has(key) ? key : std::string(d.code)));
}

std::string diagnostic_text(const PanelContext& ctx, const engine::Diagnostic& d) {
  return diagnostic_text(d, ctx.ui.texts);
}

}  // namespace roofscape::app
