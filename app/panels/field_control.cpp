#include "app/panels/field_control.h"

#include <algorithm>
#include <cmath>

#include "app/panels/diagnostic_words.h"
#include "app/panels/field_text.h"
#include "app/panels/slider_preview.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

namespace {

constexpr float kTallBoxWidth = 96;  // of a number on the wall, at scale 1

// The field's value at the baseline, where it is another.
std::optional<double> baseline_of(const PanelContext& ctx, const engine::Field& field) {
  if (!ctx.baseline) return std::nullopt;
  const double was = field.get(ctx.baseline->scenario);
  return was != field.get(ctx.session.scenario()) ? std::optional(was) : std::nullopt;
}

// Where the value of a field is from: a line of the launch file, a default, or an edit of either.
std::string origin_words(const PanelContext& ctx, const LaunchImport& launch, const engine::Field& field) {
  const io::ReadValue* read = launch.origin_of(field.path);
  const io::AssumedValue* assumed = launch.assumption_of(field.path);
  if (read == nullptr && assumed == nullptr) return {};
  const std::string name = launch.file().substr(launch.file().rfind('/') + 1);
  const std::string origin = read == nullptr ? ctx.ui.texts.write(assumed->why)
                             : read->line > 0
                                 ? ctx.format("ui.import.from_line", {name, std::to_string(read->line), read->key})
                                 : ctx.format("ui.import.from", {name, read->key});
  const double was = field.get(launch.imported().scenario);
  if (was == field.get(ctx.session.scenario())) return origin;
  return ctx.format("ui.import.yours", {field_value(ctx, field, was), origin});
}

Readout field_tip(const PanelContext& ctx, const engine::Field& field) {
  Readout tip;
  tip.title = ctx.text("field." + std::string(field.path) + ".label");
  if (field.kind == engine::FieldKind::integer || field.kind == engine::FieldKind::number) {
    tip.rows.emplace_back(ctx.text("ui.tip.unit"), unit_words(ctx, field.unit));
    tip.rows.emplace_back(ctx.text("ui.tip.loaded"), field_value(ctx, field, field.get(ctx.session.loaded())));
  }
  if (const auto& launch = ctx.session.launch()) {
    const std::string from = origin_words(ctx, *launch, field);
    if (!from.empty()) tip.rows.emplace_back(ctx.text("ui.tip.from"), from);
  }
  if (const auto was = baseline_of(ctx, field))
    tip.rows.emplace_back(ctx.text("ui.pin.baseline"), field_value(ctx, field, *was));
  tip.rows.emplace_back(ctx.text("ui.tip.field"), std::string(field.path));
  return tip;
}

std::string about(const PanelContext& ctx, std::string_view path) {
  return std::string(ctx.text("field." + std::string(path) + ".about"));
}

std::vector<std::string> choice_names(const PanelContext& ctx, const engine::Field& field) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < field.choices.size(); ++i) {
    const std::string shorter = "rail." + std::string(field.path) + "." + std::string(field.choices[i]);
    names.push_back(ctx.ui.texts.has(shorter) ? std::string(ctx.text(shorter))
                                              : field_value(ctx, field, static_cast<double>(i)));
  }
  return names;
}

// What a control says when it is pointed at: the finding against it, whose words stand in the diagnostics, or what
// the field is. Nothing is written under a row, so that no row moves.
std::string said_of(const PanelContext& ctx, std::string_view path, const engine::Diagnostic* finding) {
  return finding == nullptr ? about(ctx, path) : diagnostic_text(ctx, *finding);
}

void note_edit(PanelContext& ctx, std::string_view path, bool typed) {
  ctx.requests.used = {std::string(path), typed};
}

// What a right click on a row offers: the value as it was opened, and a place on the wall.
void row_menu(PanelContext& ctx, const Rect& row, const engine::Field& field, engine::Scenario& scenario) {
  enum Entry : int { reset, pin };
  const std::string owner = "row." + std::string(field.path);
  const double loaded = field.get(ctx.session.loaded());
  if (ctx.ui.io.right_click_in(intersection(row, ctx.ui.canvas.clip_rect()))) {
    const bool pinned = std::find(ctx.pinned.begin(), ctx.pinned.end(), field.path) != ctx.pinned.end();
    std::vector<Option> options;
    options.push_back({ctx.format("ui.row.reset", {field_value(ctx, field, loaded)}),
                       {},
                       loaded != field.get(scenario),
                       false,
                       reset});
    options.push_back({std::string(ctx.text("ui.row.pin")), {}, true, true, pin, pinned});
    const Point at = ctx.ui.io.pointer();
    ctx.ui.io.open_popup(owner, {at.x, at.y, 1, 1}, std::move(options), -1);
  }
  const auto chosen = ctx.ui.io.popup_choice(owner);
  if (chosen == pin) ctx.requests.pin = field.path;
  if (chosen != reset) return;
  field.set(scenario, loaded);
  note_edit(ctx, field.path, false);
}

// Label at the left with its mark.
void row_label(PanelContext& ctx, const Column& column, std::string_view path, const engine::Diagnostic* finding) {
  const float y = column.y + ctx.px(kRowHeight) / 2;
  const TextStyle s = ctx.style(ctx.ui.theme.ink);
  const std::string label = field_label(ctx, path);
  ctx.ui.canvas.text({column.x, y}, ellipsize(ctx.ui.canvas, label, s, ctx.px(kLabelWidth - 4)), s);
  if (const engine::Field* field = engine::find_field(path); field != nullptr && baseline_of(ctx, *field))
    draw_differs(ctx.ui, {column.x, column.y, column.width, ctx.px(kRowHeight)});
  if (finding != nullptr)
    draw_mark(ctx.ui.canvas, ctx.ui.theme, {column.x + ctx.px(kLabelWidth - 15), y}, ctx.px(12),
              mark_of(finding->severity));
}

}  // namespace

SliderRange powers(double from, double to) {
  SliderRange r;
  r.kind = SliderKind::power_of_two;
  r.track_from = from;
  r.track_to = to;
  return r;
}

SliderRange integers(double from, double to) {
  SliderRange r = powers(from, to);
  r.kind = SliderKind::integer;
  return r;
}

SliderRange shares() {
  SliderRange r;
  r.kind = SliderKind::linear;
  r.track_from = 0;
  r.track_to = 1;
  return r;
}

void field_slider(PanelContext& ctx, Column& column, engine::Scenario& scenario, std::string_view path,
                  SliderRange range, const FieldLook& look) {
  const engine::Field* field = engine::find_field(path);
  if (field == nullptr || !engine::applies(*field, scenario.workload.kind)) return;
  range.minimum = field->minimum;
  range.maximum = field->maximum;
  range.whole = field->kind == engine::FieldKind::integer;
  range.unit = field->unit;
  ControlInfo info;
  info.id = path;
  info.label = field_label(ctx, path);
  info.label_width = look.label_width;
  info.tall = look.tall;
  if (look.tall) info.box_width = kTallBoxWidth;
  info.swatch = look.swatch;
  info.off = look.off;
  info.unit = unit_in_box(ctx, field->unit, field->get(scenario));
  info.tip = field_tip(ctx, *field);
  const engine::Diagnostic* finding = finding_of(ctx, path);
  info.about = said_of(ctx, path, finding);
  info.baseline = baseline_of(ctx, *field);
  if (finding != nullptr) info.mark = mark_of(finding->severity);
  // One slider at a time shows what its values would give: the one held, else the one pointed at.
  const bool pointed = ctx.ui.io.anything_held() ? ctx.ui.io.holds(path) : ctx.ui.io.rested(path) >= 0;
  if (pointed) {
    info.preview = slider_preview(ctx, *field, range, scenario);
    info.tip.rows.emplace_back(ctx.text("ui.preview.now"),
                               ctx.text("ui.preview." + std::string(kOutcomeIds[outcome_of(ctx.session.report())])));
  }
  const double value = field->get(scenario);
  const bool typing = ctx.ui.io.editing(path);
  const Edited edited = slider(ctx.ui, {column.x, column.y}, column.width, info, range, value);
  if (edited.value != value && engine::in_domain(*field, edited.value)) {
    field->set(scenario, edited.value);
    note_edit(ctx, path, typing);
  }
  tell_refused(ctx, edited, info.label, engine::domain_of(*field));
  row_menu(ctx, {column.x, column.y, column.width, edited.height}, *field, scenario);
  column.y += edited.height;
}

void field_choice(PanelContext& ctx, Column& column, engine::Scenario& scenario, std::string_view path,
                  bool label_above) {
  const engine::Field* field = engine::find_field(path);
  if (field == nullptr || !engine::applies(*field, scenario.workload.kind)) return;
  const engine::Diagnostic* finding = finding_of(ctx, path);
  std::vector<Option> options;
  for (std::string& name : choice_names(ctx, *field)) options.push_back({std::move(name), {}, true, false, 0});
  const float h = std::round(ctx.px(kControlHeight));
  Rect r{column.x, column.y, column.width, h};
  if (label_above) {
    const TextStyle s = ctx.style(ctx.ui.theme.ink2, kSmallText);
    const std::string label = field_label(ctx, path);
    ctx.ui.canvas.text({column.x, column.y + ctx.px(9)}, ellipsize(ctx.ui.canvas, label, s, column.width), s);
    r.y += std::round(ctx.px(19));
    column.y = r.bottom() + ctx.px(4);
  } else {
    row_label(ctx, column, path, finding);
    r.x += ctx.px(kLabelWidth);
    r.w -= ctx.px(kLabelWidth);
    r.y += std::round((ctx.px(kRowHeight) - h) / 2);
    column.y += std::round(ctx.px(kRowHeight));
  }
  row_menu(ctx, {column.x, r.y, column.width, h}, *field, scenario);
  const int now = static_cast<int>(field->get(scenario));
  const int next = drop_down(ctx.ui, r, path, options, now, field_tip(ctx, *field), said_of(ctx, path, finding));
  if (next == now || !engine::in_domain(*field, next)) return;
  field->set(scenario, next);
  note_edit(ctx, path, false);
}

void field_segments(PanelContext& ctx, Column& column, engine::Scenario& scenario, std::string_view path) {
  const engine::Field* field = engine::find_field(path);
  if (field == nullptr || !engine::applies(*field, scenario.workload.kind)) return;
  const engine::Diagnostic* finding = finding_of(ctx, path);
  row_label(ctx, column, path, finding);
  std::vector<std::string> names;
  const bool number = field->kind == engine::FieldKind::integer;
  if (number)
    for (double v = field->minimum; v <= field->maximum && names.size() < 8; ++v) names.push_back(format_count(v));
  else
    names = choice_names(ctx, *field);
  const float h = std::round(ctx.px(kControlHeight));
  const Rect r{column.x + ctx.px(kLabelWidth), column.y + std::round((ctx.px(kRowHeight) - h) / 2),
               column.width - ctx.px(kLabelWidth), h};
  row_menu(ctx, {column.x, r.y, column.width, h}, *field, scenario);
  const double base = number ? field->minimum : 0;
  const int now = static_cast<int>(field->get(scenario) - base);
  const int next = segmented(ctx.ui, r, path, names, now, field_tip(ctx, *field), said_of(ctx, path, finding));
  column.y += std::round(ctx.px(kRowHeight));
  if (next == now || !engine::in_domain(*field, base + next)) return;
  field->set(scenario, base + next);
  note_edit(ctx, path, false);
}

void field_switch(PanelContext& ctx, Column& column, engine::Scenario& scenario, std::string_view path) {
  const engine::Field* field = engine::find_field(path);
  if (field == nullptr || !engine::applies(*field, scenario.workload.kind)) return;
  row_menu(ctx, {column.x, column.y, column.width, ctx.px(kRowHeight)}, *field, scenario);
  const bool now = field->get(scenario) != 0;
  const bool next = check_box(ctx.ui, {column.x, column.y + ctx.px(kRowHeight) / 2}, path, field_label(ctx, path),
                              now, field_tip(ctx, *field), said_of(ctx, path, finding_of(ctx, path)));
  if (next != now) {
    field->set(scenario, next ? 1 : 0);
    note_edit(ctx, path, false);
  }
  if (baseline_of(ctx, *field)) draw_differs(ctx.ui, {column.x, column.y, column.width, ctx.px(kRowHeight)});
  column.y += std::round(ctx.px(kRowHeight));
}

void field_tall(PanelContext& ctx, const Rect& r, engine::Scenario& scenario, std::string_view path,
                const SliderRange& range) {
  const engine::Field* field = engine::find_field(path);
  if (field == nullptr || !engine::applies(*field, scenario.workload.kind)) return;
  const bool choice = field->kind == engine::FieldKind::choice;
  if (!choice && field->kind != engine::FieldKind::boolean) {
    Column column{r.x, r.y, r.w};
    field_slider(ctx, column, scenario, path, range, {.tall = true});
    return;
  }
  Rect under = r;
  const Rect head = under.cut_top(std::round(kTallHead * ctx.ui.em()));
  const TextStyle label = ctx.style(ctx.ui.theme.ink);
  ctx.ui.canvas.text({head.x, head.centre().y}, ellipsize(ctx.ui.canvas, field_label(ctx, path), label, head.w),
                     label);
  under.h = std::min(under.h, std::round(1.4f * ctx.ui.em()));
  row_menu(ctx, r, *field, scenario);
  std::vector<std::string> names;
  if (choice)
    names = choice_names(ctx, *field);
  else
    names = {field_value(ctx, *field, 0), field_value(ctx, *field, 1)};
  const int now = static_cast<int>(field->get(scenario));
  float widest = 0;
  for (const std::string& name : names) widest = std::max(widest, ctx.ui.canvas.text_width(name, label));
  int next = now;
  if ((widest + ctx.px(16)) * static_cast<float>(names.size()) <= under.w) {
    next = segmented(ctx.ui, under, path, names, now, field_tip(ctx, *field), about(ctx, path));
  } else {
    std::vector<Option> options;
    for (std::size_t i = 0; i < names.size(); ++i)
      options.push_back({std::move(names[i]), {}, true, false, static_cast<int>(i)});
    next = drop_down(ctx.ui, under, path, options, now, field_tip(ctx, *field), about(ctx, path));
  }
  if (next == now || !engine::in_domain(*field, next)) return;
  field->set(scenario, next);
  note_edit(ctx, path, false);
}

void field_unavailable(PanelContext& ctx, Column& column, std::string_view path, std::string_view reason,
                       const std::optional<Fill>& swatch) {
  const engine::Field* field = engine::find_field(path);
  if (field == nullptr || !engine::applies(*field, ctx.session.scenario().workload.kind)) return;
  const Theme& t = ctx.ui.theme;
  const Rect row{column.x, column.y, column.width, std::round(ctx.px(kRowHeight))};
  const float y = row.centre().y, side = ctx.px(11);
  float x = row.x;
  if (swatch) {
    ctx.ui.canvas.rect({x, std::round(y - side / 2), side, side},
                       hatched(t, mix(swatch->colour, t.panel, 0.5f), Hatch::none, ctx.ui.em()), ctx.px(1));
    x += ctx.px(19);
  }
  const TextStyle label = ctx.style(t.ink3), small = ctx.style(t.ink3, kSmallText);
  const std::string name = field_label(ctx, path);
  ctx.ui.canvas.text({x, y}, name, label);
  const float left = std::max(row.x + ctx.px(kLabelWidth), x + ctx.ui.canvas.text_width(name, label) + ctx.px(10));
  ctx.ui.canvas.text({left, y}, ellipsize(ctx.ui.canvas, reason, small, row.right() - left), small);
  const ItemState s = ctx.ui.item(path, row, Interaction::Focus::none);
  if (s.hovered) ctx.ui.io.hint(path, row, field_tip(ctx, *field), about(ctx, path));
  column.y += row.h;
}

}  // namespace roofscape::app
