// Every field of the model, or of the chip and the network, as a row with its control, what its preset has, its
// source and its way back. It lies over the grid of figures, so that the verdict answers while one edits.
#include "app/panels/editor_panel.h"

#include <algorithm>
#include <cmath>

#include "app/panels/diagnostic_words.h"
#include "app/panels/editor_presets.h"
#include "app/panels/field_text.h"
#include "app/panels/panel_parts.h"
#include "engine/base/read_number.h"
#include "widgets/canvas/number_format.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;
using engine::Q;
using engine::Scenario;

namespace {

constexpr float kLabel = 176, kWideLabel = 206, kBox = 124, kSide = 22;
constexpr float kWithPresets = 600;  // width from which the presets stand beside the rows
constexpr float kWide = 760;  // width at scale 1 from which words about a field stand beside it instead of below

// Texts are by field; levels of switches and axes of the pod share theirs.
std::string text_key(const EditorRow& row) {
  if (row.of == EditorRow::Of::level) return "field.cluster.fabric." + std::string(row.member);
  return "field." + row.path;
}
std::string words(const PanelContext& ctx, const EditorRow& row, std::string_view which) {
  const std::string key = text_key(row) + "." + std::string(which);
  return std::string(ctx.text(ctx.ui.texts.has(key) ? key : "quantity." + row.path + "." + std::string(which)));
}

std::string value_words(const PanelContext& ctx, const EditorRow& row, const Scenario& s) {
  if (row.kind == EditorKind::text) return editor_text(row, s);
  const auto value = editor_value(row, s);
  if (!value) return std::string(ctx.text("ui.editor.unknown"));
  if (row.kind == EditorKind::boolean) return std::string(ctx.text(*value != 0 ? "ui.on" : "ui.off"));
  if (row.kind == EditorKind::choice)
    return std::string(
        ctx.text("choice." + row.path + "." + std::string(row.choices[static_cast<std::size_t>(*value)])));
  return ctx.ui.texts.amount(*value, row.unit, {.trim_zeros = true, .significant = 4});
}

// The track lies around what the preset has; any value of the domain can be typed.
SliderRange range_of(const EditorRow& row, double middle) {
  SliderRange range;
  range.unit = row.unit;
  range.minimum = row.minimum;
  range.maximum = row.maximum;
  range.whole = row.kind == EditorKind::integer;
  if (row.maximum <= 1 && row.kind == EditorKind::number) {
    range.kind = SliderKind::linear;
    range.track_to = 1;
  } else if (range.whole && (middle <= 256 || row.maximum <= 8)) {
    range.kind = SliderKind::integer;
    range.track_from = row.minimum;
    range.track_to = std::min(row.maximum, std::max(16.0, 2 * middle));
  } else if (range.whole || row.unit.notation == engine::Notation::count) {
    const double near = std::exp2(std::round(std::log2(std::max(1.0, middle))));
    range.kind = SliderKind::power_of_two;
    range.track_from = std::max(1.0, near / 16);
    range.track_to = std::min(row.maximum, near * 16);
  } else {
    range.kind = SliderKind::logarithmic;
    range.track_from = middle > 0 ? middle / 10 : 1;
    range.track_to = std::min(row.maximum, middle > 0 ? middle * 10 : 1000);
  }
  return range;
}

struct EditorRows {
  PanelContext& ctx;
  Scenario& scenario;
  const EditorPreset& preset;
  EditorState& state;
  float x, y, width;

  bool wide() const { return width >= ctx.px(kWide); }
  float label_width() const { return wide() ? kWideLabel : kLabel; }
  // What the control takes: all but the way back, or half where words stand beside it.
  float control_width() const {
    return std::round(wide() ? std::min(width * 0.55f, ctx.px(560)) : width) - ctx.px(kSide + 6);
  }
  std::string id(const EditorRow& row) const { return "edit." + row.path; }
  // Sources are sentences: they take the line.
  static bool takes_line(const EditorRow& row) {
    return row.of == EditorRow::Of::source || row.of == EditorRow::Of::pod_source;
  }

  Readout tip(const EditorRow& row) const {
    Readout out{words(ctx, row, "label"), {}};
    const bool number = row.kind == EditorKind::integer || row.kind == EditorKind::number;
    if (number) out.rows.emplace_back(ctx.text("ui.tip.unit"), unit_words(ctx, row.unit));
    if (preset.has(row)) out.rows.emplace_back(ctx.text("ui.editor.preset"), value_words(ctx, row, preset.scenario));
    if (number)
      out.rows.emplace_back(ctx.text("ui.editor.domain"),
                            row.optional ? ctx.format("ui.editor.optional", {ctx.ui.texts.write(editor_domain(row))})
                                         : ctx.ui.texts.write(editor_domain(row)));
    out.rows.emplace_back(ctx.text("ui.tip.field"), row.path);
    return out;
  }
  // The sentence of the field, and where its value is from.
  std::string about(const EditorRow& row) const {
    const std::string source = editor_source(row, scenario);
    const std::string sentence = words(ctx, row, "about");
    return source.empty() ? sentence : ctx.format("ui.editor.about", {sentence, source});
  }

  void label(const EditorRow& row, bool marked) {
    const TextStyle s = ctx.style(ctx.ui.theme.ink);
    const float middle = y + ctx.px(kRowHeight) / 2;
    ctx.ui.canvas.text(
        {x, middle}, ellipsize(ctx.ui.canvas, words(ctx, row, "label"), s, ctx.px(label_width() - (marked ? 22 : 6))),
        s);
  }
  Rect box() const {
    const float h = std::round(ctx.px(kControlHeight)), at = x + ctx.px(label_width());
    return {at, y + std::round((ctx.px(kRowHeight) - h) / 2), std::max(ctx.px(60), x + control_width() - at), h};
  }

  void set(const EditorRow& row, std::optional<double> value) {
    set_editor_value(row, scenario, value, preset);
    state.refused.clear();
  }
  // Typed text that was no value of the row stands under it until something else is entered.
  void refuse(const EditorRow& row, std::string text, const engine::Sentence& problem,
              const engine::Sentence& remedy) {
    state.refused = row.path;
    state.refused_text = std::move(text);
    // No number at all is told with the domain, a wrong unit with the right one.
    const bool unit = !problem.empty() && engine::names_unit(state.refused_text);
    state.refused_why =
        unit ? ctx.format("ui.editor.refused.why", {ctx.ui.texts.write(problem), ctx.ui.texts.write(remedy)})
             : std::string();
  }

  // Back to the preset.
  void way_back(const EditorRow& row) {
    if (!departs(row, scenario, preset)) return;
    const float side = std::round(ctx.px(kSide));
    const Rect r{takes_line(row) ? x + width - side : x + control_width() + ctx.px(6),
                 y + std::round((ctx.px(kRowHeight) - side) / 2), side, side};
    if (!icon_button(ctx.ui, r, "edit.reset." + row.path, Icon::restore,
                     {ctx.format("ui.editor.back", {value_words(ctx, row, preset.scenario)}), {}}))
      return;
    reset_row(row, scenario, preset);
    state.refused.clear();
  }

  // Beside the control or below it: what the preset has where the row departs, else the source, else what the field
  // is.
  void note(const EditorRow& row, bool below) {
    const Theme& t = ctx.ui.theme;
    const bool differs = departs(row, scenario, preset);
    const std::string source = editor_source(row, scenario);
    const std::string text = differs ? ctx.format(source.empty() ? "ui.editor.was" : "ui.editor.was.source",
                                                  {value_words(ctx, row, preset.scenario), source})
                             : source.empty() ? words(ctx, row, "about")
                                              : source;
    const TextStyle s = ctx.style(differs ? t.ink : t.ink3, kSmallText);
    if (below) {
      y += draw_prose(ctx.ui.canvas, {x, y}, text, s, width) + ctx.px(5);
      return;
    }
    const float left = x + control_width() + ctx.px(kSide + 18), room = x + width - left;
    ctx.ui.canvas.text({left, y + ctx.px(kRowHeight) / 2}, ellipsize(ctx.ui.canvas, text, s, room), s);
    const Rect r{left, y, room, ctx.px(kRowHeight)};
    if (r.contains(ctx.ui.io.pointer()) && ctx.ui.canvas.clip_rect().contains(ctx.ui.io.pointer()))
      ctx.ui.io.hint(id(row) + ".note", r, tip(row), about(row));
  }

  void number(const EditorRow& row, double value, const std::optional<Mark>& mark) {
    const std::string name = id(row);
    ControlInfo info;
    info.id = name;
    info.label = words(ctx, row, "label");
    info.label_width = label_width();
    info.box_width = kBox;
    info.unit = unit_in_box(ctx, row.unit, value);
    info.tip = tip(row);
    info.about = about(row);
    info.mark = mark;
    const auto was = preset.has(row) ? editor_value(row, preset.scenario) : std::nullopt;
    if (was && *was != value) info.baseline = *was;
    SliderRange range = range_of(row, was && *was > 0 ? *was : value);
    if (was) range.reset_to = *was;
    const Edited edited = slider(ctx.ui, {x, y}, control_width(), info, range, value);
    if (edited.value != value && editor_takes(row, edited.value)) set(row, edited.value);
    if (!edited.refused) return;
    // An emptied box makes a figure unknown.
    if (edited.refused->empty() && row.optional)
      set(row, std::nullopt);
    else
      refuse(row, *edited.refused, edited.problem, edited.remedy);
  }

  void unknown(const EditorRow& row) {
    const Rect r = box();
    label(row, false);
    const auto typed = typed_line(ctx, r, id(row), {}, ctx.text("ui.editor.unknown"));
    if (typed && !typed->empty()) {
      const engine::NumberReading value = engine::read_number(*typed, row.unit);
      if (value && editor_takes(row, *value))
        set(row, value.value);
      else
        refuse(row, *typed, value.problem, value.remedy);
    }
    if (!ctx.ui.io.editing(id(row)) && r.contains(ctx.ui.io.pointer()))
      ctx.ui.io.hint(id(row), r, tip(row), about(row));
  }

  void row(const EditorRow& row) {
    const float top = y;
    const engine::Diagnostic* finding = finding_of(ctx, row.path);
    const bool refused = state.refused == row.path;
    std::optional<Mark> mark;
    if (refused)
      mark = Mark::error;
    else if (finding != nullptr)
      mark = mark_of(finding->severity);
    const std::string name = id(row);
    const auto value = editor_value(row, scenario);
    bool marks_itself = false;
    if (row.kind == EditorKind::text) {
      label(row, mark.has_value());
      const std::string now = editor_text(row, scenario);
      Rect r = box();
      if (takes_line(row)) r.w = x + width - r.x - (departs(row, scenario, preset) ? ctx.px(kSide + 10) : 0);
      if (const auto typed = typed_line(ctx, r, name, now, ctx.text("ui.editor.none")); typed && *typed != now)
        set_editor_text(row, scenario, *typed);
    } else if (row.kind == EditorKind::boolean) {
      const bool on = value.value_or(0) != 0;
      if (check_box(ctx.ui, {x, y + ctx.px(kRowHeight) / 2}, name, words(ctx, row, "label"), on, tip(row),
                    about(row)) != on)
        set(row, on ? 0 : 1);
    } else if (row.kind == EditorKind::choice) {
      label(row, mark.has_value());
      std::vector<Option> options;
      for (const std::string_view choice : row.choices)
        options.push_back({std::string(ctx.text("choice." + row.path + "." + std::string(choice))), {}});
      const int now = static_cast<int>(value.value_or(0)),
                next = drop_down(ctx.ui, box(), name, options, now, tip(row), about(row));
      if (next != now) set(row, next);
    } else if (value) {
      marks_itself = true;
      number(row, *value, mark);
    } else {
      unknown(row);
    }
    const Rect whole{x, top, width, ctx.px(kRowHeight)};
    if (departs(row, scenario, preset)) draw_differs(ctx.ui, whole);
    if (mark && !marks_itself)
      draw_mark(ctx.ui.canvas, ctx.ui.theme, {x + ctx.px(label_width() - 15), whole.centre().y}, ctx.px(12), *mark);
    way_back(row);
    if (wide() && !takes_line(row)) note(row, false);
    y = top + std::round(ctx.px(kRowHeight));
    if (refused || finding != nullptr) {
      const std::string why =
          !refused ? diagnostic_text(ctx, *finding)
          : state.refused_why.empty()
              ? ctx.format("ui.editor.refused", {state.refused_text, ctx.ui.texts.write(editor_domain(row))})
              : state.refused_why;
      y += draw_prose(ctx.ui.canvas, {x, y}, why, ctx.style(mark_colour(ctx.ui.theme, *mark), kSmallText), width) +
           ctx.px(4);
    }
    if (!wide() && row.kind != EditorKind::text) note(row, true);
  }

  void section(std::string_view which) {
    y += ctx.px(8);
    const std::string title = "ui.editor.section." + std::string(which);
    // Figures that chips wired as these do not use.
    const bool torus = scenario.cluster.chip.interconnect == engine::Interconnect::torus;
    const bool idle = (which == "node_links" && torus) || (which == "torus_links" && !torus);
    y += section_head(ctx, {x, y}, width, ctx.text(title), idle ? ctx.text("ui.editor.idle") : std::string_view());
  }

  // One more level of switches, or one less.
  void levels() {
    engine::Cluster& cluster = scenario.cluster;
    const float h = std::round(ctx.px(kControlHeight));
    if (cluster.fabric.empty()) {
      const TextStyle s = ctx.style(ctx.ui.theme.ink3, kSmallText);
      y += draw_prose(ctx.ui.canvas, {x, y}, ctx.text("ui.editor.levels.none"), s, width) + ctx.px(4);
    }
    y += ctx.px(4);
    float at = x;
    const auto press = [&](std::string_view id, std::string_view key) {
      const std::string text(ctx.text(key));
      const Rect r{at, y, std::round(ctx.ui.canvas.text_width(text, ctx.style(ctx.ui.theme.ink)) + ctx.px(24)), h};
      at = r.right() + ctx.px(8);
      return button(ctx.ui, r, id, text);
    };
    if (cluster.fabric.size() < engine::kMaxFabricLevels && press("edit.level.add", "ui.editor.level.add"))
      add_level(cluster);
    else if (!cluster.fabric.empty() && press("edit.level.remove", "ui.editor.level.remove"))
      remove_level(cluster, cluster.fabric.size() - 1);
    y += h + ctx.px(4);
  }
};

// What the edited thing amounts to, from the report.
std::string summary(const PanelContext& ctx, EditorPart part, const Scenario& s, const EditorPreset& preset) {
  const auto& q = ctx.session.report().quantities;
  const auto value = [&](Q which) {
    return q[which] ? ctx.ui.texts.amount(*q[which], engine::quantity(which).unit) : std::string(kNoValue);
  };
  const int n = departures(part, s, preset);
  if (part == EditorPart::model) {
    const std::string total = value(Q::params_total), cache = value(Q::kv_cache_bytes_per_token);
    const std::string whole =
        s.model.is_moe()
            ? ctx.format("ui.editor.sum.moe", {total, format_count(q.value_or(Q::params_active, 0)), cache})
            : ctx.format("ui.editor.sum.model", {total, cache});
    if (!preset.model) return ctx.format("ui.editor.sum.own", {whole});
    return n == 0 ? ctx.format("ui.editor.sum.same", {whole, preset.model_name})
                  : ctx.ui.texts.count("ui.editor.sum.departs", n, {whole, preset.model_name});
  }
  const std::string whole =
      ctx.format("ui.editor.sum.cluster",
                 {format_count(static_cast<double>(engine::chip_count(s.cluster))), s.cluster.chip.name});
  if (!preset.cluster && !preset.chip) return ctx.format("ui.editor.sum.own", {whole});
  const std::string& name = preset.cluster ? preset.cluster_name : preset.chip_name;
  return n == 0 ? ctx.format("ui.editor.sum.same", {whole, name})
                : ctx.ui.texts.count("ui.editor.sum.departs", n, {whole, name});
}

void head(PanelContext& ctx, Rect r, EditorState& editor) {
  const Theme& t = ctx.ui.theme;
  const float side = std::round(ctx.px(24)), button_h = std::round(ctx.px(kControlHeight));
  const auto middle = [&](Rect b, float h) { return Rect{b.x, std::round(r.centre().y - h / 2), b.w, h}; };
  if (icon_button(ctx.ui, middle(r.cut_right(side), side), "editor.close", Icon::close,
                  {std::string(ctx.text("ui.editor.close")), {{std::string(ctx.text("ui.tip.key")), "Esc"}}}))
    editor.open = false;
  r.cut_right(ctx.px(8));
  for (const std::string_view id : {"editor.reset", "editor.save"}) {
    const Command* command = ctx.command(id);
    if (command == nullptr || (ctx.usable && !ctx.usable(*command))) continue;
    const std::string text(ctx.text("ui." + std::string(id)));
    const float w = std::round(ctx.ui.canvas.text_width(text, ctx.style(t.ink)) + ctx.px(24));
    if (button(ctx.ui, middle(r.cut_right(w), button_h), id, text)) ctx.requests.run(id);
    r.cut_right(ctx.px(8));
  }
  const std::vector<std::string> names{std::string(ctx.text("ui.editor.model")),
                                       std::string(ctx.text("ui.editor.cluster"))};
  float w = 0;
  for (const std::string& n : names) w += ctx.ui.canvas.text_width(n, ctx.style(t.ink)) + ctx.px(28);
  const int next = segmented(ctx.ui, middle({r.x, r.y, std::min(w, r.w), r.h}, button_h), "editor.part", names,
                             static_cast<int>(editor.part));
  if (next != static_cast<int>(editor.part)) {
    editor.part = static_cast<EditorPart>(next);
    editor.search.clear();
    editor.refused.clear();
  }
}

}  // namespace

Scenario editor_panel(PanelContext& ctx, const Rect& r, EditorState& state, Scenario scenario) {
  const Theme& t = ctx.ui.theme;
  const float pad = std::round(ctx.px(16));
  ctx.ui.canvas.rect(r, {.colour = t.panel});
  const auto clip = ctx.ui.canvas.clip(r);
  const EditorPreset preset = editor_preset(ctx.session);
  Rect rest = r;
  if (r.w >= ctx.px(kWithPresets)) {  // else the rail's list is there
    editor_presets(ctx, rest.cut_left(std::round(std::min(ctx.px(250), r.w * 0.27f))), state, preset, scenario);
    vertical_separator(ctx, rest.x, r.y, r.bottom());
  }
  head(ctx, rest.cut_top(std::round(ctx.px(46))).inset(pad, 0), state);
  rest.cut_top(draw_prose(ctx.ui.canvas, {rest.x + pad, rest.y}, summary(ctx, state.part, scenario, preset),
                          ctx.style(t.ink2, kSmallText), rest.w - 2 * pad) +
               ctx.px(8));
  separator(ctx, rest.x, rest.right(), rest.y);

  const bool model = state.part == EditorPart::model;
  const auto inner = ctx.ui.canvas.clip(rest);
  const ScrollRegion scroll = begin_scroll(ctx.ui, model ? "editor.rows.model" : "editor.rows.cluster", rest);
  EditorRows rows{ctx, scenario, preset, state, rest.x + pad, scroll.content_top, rest.w - 2 * pad};
  std::string_view section;
  const std::vector<EditorRow> all = editor_rows(state.part, scenario);
  const bool switched = scenario.cluster.chip.interconnect == engine::Interconnect::switched;
  for (const EditorRow& row : all) {
    if (row.section != section) {
      // After the cluster's own fields the levels of its network, if only to add one.
      if (section == "levels") rows.levels();
      if (section == "cluster" && row.section != "levels" && switched) {
        rows.section("levels");
        rows.levels();
      }
      section = row.section;
      rows.section(section);
    }
    if (row.of == EditorRow::Of::level && row.kind == EditorKind::text && row.index > 0) rows.y += ctx.px(8);
    rows.row(row);
  }
  end_scroll(ctx.ui, scroll, rows.y + ctx.px(16));
  return scenario;
}

}  // namespace roofscape::app
