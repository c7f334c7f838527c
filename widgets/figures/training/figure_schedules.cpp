// The schedules figure: the scenario's step under one schedule after the other, on one time axis. Beside the rows
// stand what idles and how many microbatches a device holds; schedules that cannot run are listed with the reason. As
// many are drawn as have room, the plan's own always among them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "engine/studies/schedule_comparison.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/stage_rows.h"
#include "widgets/figures/training/figure_pipeline_blocks.h"
#include "widgets/figures/training/figure_pipeline_parts.h"
#include "widgets/figures/training/figure_schedules_layout.h"

namespace roofscape::widgets {

namespace schedules {

using engine::ScheduleKind;
using engine::ScheduleVariant;
using gantt::kTicksPerSecond;

namespace {

// As few decimals as show every peak that is written exactly, two at most.
int decimals_of(const ScheduleVariant& v, bool each) {
  const std::vector<double>& peaks = v.pipeline().peak_microbatches;
  if (peaks.empty()) return 0;
  const double most = *std::max_element(peaks.begin(), peaks.end());
  int decimals = 0;
  for (const double peak : peaks)
    while ((each || peak == most) && decimals < 2 &&
           std::abs(peak * std::pow(10, decimals) - std::round(peak * std::pow(10, decimals))) > 1e-6)
      ++decimals;
  return decimals;
}

void draw_names(Canvas& canvas, const FigureInput& input, const FigureView& view, const SchedulesLayout& l,
                std::size_t i) {
  const Theme& theme = input.theme;
  const ScheduleVariant& v = *l.shown[i];
  const StageRows& rows = l.rows[i];
  const TextStyle bold = small_text(canvas, theme.ink, HAlign::left, Weight::bold);
  const float line = small_line(canvas);
  const std::string name = schedule_name(input, v.shape);
  const std::string own = v.own ? std::string(input.texts.text("figure.schedules.own")) : std::string();
  Rect tag;
  if (l.wide) {
    const float y = rows.plot.y + std::max(line, rows.pitch) / 2;
    canvas.text({rows.area.x, y}, name, bold);
    if (!own.empty() && rows.plot.h >= 2 * line)
      canvas.text({rows.area.x, y + line},
                  ellipsize(canvas, own, small_text(canvas, theme.ink3, HAlign::left), l.name_right - rows.area.x),
                  small_text(canvas, theme.ink3, HAlign::left));
    tag = rect_between(rows.area.x, y - line / 2, l.name_right, y + line / 2);
  } else {
    const TextStyle plain = small_text(canvas, theme.ink2, HAlign::right);
    const Point at{rows.plot.x, rows.header.y + rows.header.h / 2};
    const std::string shown = ellipsize(canvas, name, bold, rows.plot.w);
    canvas.text(at, shown, bold);
    const std::string idle = input.texts.format("figure.schedules.idle_alone", {format_percent(v.idle_fraction)});
    const float width = canvas.text_width(idle, plain);
    float right = rows.plot.right();
    if (const auto base = baseline_x(input, l);
        base && *base > right - width - canvas.px(4) && *base < right + canvas.px(4))
      right = *base - canvas.px(4);  // left of the line where the baseline ends
    // How long it takes and idles; the first is the last to go.
    const std::string time = format_duration(static_cast<double>(v.makespan) / kTicksPerSecond);
    TextStyle strong = small_text(canvas, theme.ink, HAlign::right, Weight::bold);
    const float gap = canvas.px(8), taken = canvas.text_width(shown, bold) + gap,
                time_width = canvas.text_width(time, strong), room = right - rows.plot.x;
    float end = right, left = at.x + taken;
    if (taken + time_width + gap + width <= room) canvas.text({right, at.y}, idle, plain), end -= width + gap;
    if (left + time_width <= end) canvas.text({end, at.y}, time, strong), end -= time_width + gap;
    const TextStyle faint = small_text(canvas, theme.ink3, HAlign::left);
    if (!own.empty() && left + canvas.text_width(own, faint) <= end) canvas.text({left, at.y}, own, faint);
    tag = {at.x, rows.header.y, rows.plot.w, rows.header.h};
  }
  canvas.tag_with("schedule." + std::string(engine::schedule_id(v.shape.kind)), -1, tag, [&] {
    Readout out;
    out.title = idle_text(input, v);
    out.rows.emplace_back(std::string(input.texts.text("figure.pipeline.duration")),
                          format_duration(static_cast<double>(v.makespan) / kTicksPerSecond));
    const auto& peaks = v.pipeline().peak_microbatches;
    if (!peaks.empty())
      out.rows.emplace_back(std::string(input.texts.text("figure.schedules.held_most")),
                            format_significant(*std::max_element(peaks.begin(), peaks.end()), 3, true));
    return out;
  });
  const float right = rows.plot.x - canvas.px(kRowNumberGap);
  for (int d = 0; d < rows.count; ++d) {
    const bool here = view.hovered_stage == d;
    if (!here && (d % rows.label_every != 0 ||
                  (view.hovered_stage && std::abs(static_cast<float>(*view.hovered_stage - d)) * rows.pitch < line)))
      continue;
    canvas.text(
        {right, rows.bar(d).centre().y}, format_count(d),
        small_text(canvas, here ? theme.ink : theme.ink2, HAlign::right, here ? Weight::bold : Weight::regular));
  }
}

// `key_left`: where the key over the rows begins.
void draw_column_heads(Canvas& canvas, const FigureInput& input, const SchedulesLayout& l, float key_left) {
  const TextStyle style = small_text(canvas, input.theme.ink3, HAlign::right);
  const float pitch = FontStack::kLineHeight * style.em, right = l.plot.x - canvas.px(kRowNumberGap);
  // What the rows are: on the line of the first name; beside names over the rows, or under them where the key is.
  const Rect &first = l.rows.front().header, &last = l.rows.back().plot;
  const float word_y = !l.wide               ? first.y + first.h / 2
                       : key_left < l.plot.x ? last.bottom() + canvas.px(2) + pitch / 2
                                             : l.header.bottom() - canvas.px(2) - pitch / 2;
  if (canvas.text_width(l.word, style) <= right - l.header.x + 0.5f) canvas.text({right, word_y}, l.word, style);
  if (!l.wide) return;
  for (const Column* column : {&l.idle, &l.held}) {
    const std::vector<std::string> lines = wrap(canvas, column->head, style, column->width - canvas.px(kHeadGap), 2);
    float y = l.header.bottom() - canvas.px(2) - pitch * (static_cast<float>(lines.size()) - 0.5f);
    for (const std::string& text : lines) canvas.text({column->right, y}, text, style), y += pitch;
  }
}

void draw_numbers(Canvas& canvas, const FigureInput& input, const SchedulesLayout& l, std::size_t i,
                  double most_held) {
  if (!l.wide) return;
  const Theme& theme = input.theme;
  const ScheduleVariant& v = *l.shown[i];
  int decimals = 0;  // the column keeps one number of them
  for (const ScheduleVariant* of : l.shown) decimals = std::max(decimals, decimals_of(*of, l.each));
  const StageRows& rows = l.rows[i];
  const std::vector<double>& peaks = v.pipeline().peak_microbatches;
  const TextStyle plain = small_text(canvas, theme.ink2, HAlign::right),
                  dark = small_text(canvas, theme.ink, HAlign::right);
  Fill fill = fill_of(theme, MemoryPart::activations, canvas.em());
  const float start = l.held.right - l.held.width + canvas.px(kNumberColumnGap);
  const float height = rows.bar_height * (l.each ? 0.6f : 0.8f);
  if (height < canvas.px(6)) fill.edge_width = 0;
  for (int d = 0; d < rows.count && d < static_cast<int>(peaks.size()); ++d) {
    const auto at = static_cast<std::size_t>(d);
    const float y = rows.bar(d).centre().y;
    const Rect bar{start, y - height / 2, canvas.px(kBar) * static_cast<float>(peaks[at] / most_held), height};
    canvas.rect(bar, fill);
    canvas.tag_with(v.own ? engine::quantity(engine::Q::stage_in_flight).id : "schedule.held", d, bar, [&] {
      Readout out;
      out.title = input.texts.format("figure.schedules.readout.held", {format_fixed(peaks[at], decimals)});
      out.rows.emplace_back(std::string(input.texts.text(row_word(v.pipeline().shape))), format_count(d));
      return out;
    });
    if (!l.each) continue;
    canvas.text({l.idle.right, y},
                format_percent(static_cast<double>(v.pipeline().idle[at]) / static_cast<double>(v.makespan)), plain);
    canvas.text({l.held.right, y}, format_fixed(peaks[at], decimals), dark);
  }
  if (l.each || peaks.empty()) return;
  const float y = std::max(rows.plot.centre().y, rows.plot.y + small_line(canvas) / 2);
  canvas.text({l.idle.right, y}, format_percent(v.idle_fraction), plain);
  canvas.text({l.held.right, y}, format_fixed(*std::max_element(peaks.begin(), peaks.end()), decimals), dark);
}

// The time of a schedule under the line at its end.
struct EndLabel {
  std::string text;
  TextStyle style;
  Rect box;
};
EndLabel end_label(Canvas& canvas, const FigureInput& input, const SchedulesLayout& l, std::size_t i) {
  const double end = static_cast<double>(l.shown[i]->makespan) / kTicksPerSecond / l.unit.seconds;
  EndLabel out{format_significant(end), small_text(canvas, input.theme.ink, HAlign::centre, Weight::bold), {}};
  const float half = canvas.text_width(out.text, out.style) / 2;
  const float most =
      std::max(l.plot.x + half, (l.wide ? l.idle.right - l.idle.width : canvas.bounds().right()) - half);
  out.box = {confined(l.x(end), l.plot.x + half, most) - half, l.rows[i].plot.bottom() + canvas.px(3), 2 * half,
             small_line(canvas)};
  // Beside the line where the baseline ends, not under it.
  if (const auto base = baseline_x(input, l)) {
    const float gap = canvas.px(3);
    if (*base > out.box.x - gap && *base < out.box.right() + gap) {
      const float right = *base + gap, left = *base - gap - out.box.w;
      const bool fits = right + out.box.w <= most + half;
      out.box.x = fits && (l.x(end) >= *base || left < l.plot.x) ? right : left;
    }
  }
  return out;
}

void draw_end(Canvas& canvas, const FigureInput& input, const SchedulesLayout& l, std::size_t i) {
  const auto end = static_cast<double>(l.shown[i]->makespan);
  if (end < l.from || end > l.to) return;
  const StageRows& rows = l.rows[i];
  const float x = l.x(end / kTicksPerSecond / l.unit.seconds), over = canvas.px(l.wide ? 3 : 1);
  canvas.line({x, rows.plot.y - over}, {x, rows.plot.bottom() + canvas.px(3)}, {input.theme.ink, canvas.px(2), {}});
  if (!l.wide) return;  // it stands beside the name
  const EndLabel label = end_label(canvas, input, l, i);
  haloed_text(canvas, input.theme, label.box.centre(), label.text, label.style);
}

// A dashed line through all schedules where that of the baseline ends, with its time over the axis.
void draw_baseline_end(Canvas& canvas, const FigureInput& input, const SchedulesLayout& l) {
  const auto at = baseline_x(input, l);
  if (!at) return;
  const double end = baseline_end(input);
  const float x = *at, y = l.plot.bottom() - small_line(canvas) / 2;
  canvas.line({x, l.plot.y}, {x, l.plot.bottom()},
              {input.theme.ink2, input.theme.axis_width * 1.5f * canvas.em(), Dash{3, 3}.scaled(canvas.px(1))});
  const TextStyle style = small_text(canvas, input.theme.ink2, HAlign::left);
  const std::string text = input.texts.format(
      "figure.step.readout",
      {std::string(input.texts.text("figure.step.baseline")), format_duration(end / kTicksPerSecond)});
  const float width = canvas.text_width(text, style), gap = canvas.px(5);
  // On the side where the time of the last schedule does not stand, or beyond that.
  const bool right = x + gap + width <= l.plot.right() && static_cast<double>(l.shown.back()->makespan) < end;
  Rect box{right || x - gap - width < l.plot.x ? x + gap : x - gap - width, y - small_line(canvas) / 2, width,
           small_line(canvas)};
  if (const Rect other = end_label(canvas, input, l, l.shown.size() - 1).box;
      l.wide && !intersection(box, other).empty())
    box.x = other.x - gap - width >= l.plot.x ? other.x - gap - width : other.right() + gap;
  haloed_text(canvas, input.theme, {box.x, y}, text, style);
}

// The key over the rows: what it lists, and where it stands.
struct SchedulesKey {
  std::vector<KeyEntry> entries;
  std::string note, brief_note;
  float left = 0, room = 0;
  int rows = 1;
};

SchedulesKey schedules_key(Canvas& canvas, const FigureInput& input, const SchedulesLayout& l,
                           const std::vector<gantt::Gantt>& gantts) {
  const TextTable& t = input.texts;
  SchedulesKey out;
  bool split = false, whole = false, both_ways = false;
  int chunks = 1;
  for (const ScheduleVariant* v : l.shown) {
    const bool splits = engine::splits_backward(v->shape.kind);
    split = split || splits;
    whole = whole || !splits || engine::overlaps_forward_backward(v->shape.kind);
    const int of = engine::default_virtual_stages(v->shape.kind);
    chunks = std::max({chunks, of, v->shape.virtual_stages});
    both_ways = both_ways || engine::directions(v->shape.kind) == 2;
  }
  const float em = canvas.em();
  const auto entry = [&](std::string_view key, TimelinePart kind) {
    const std::string brief = std::string(key) + ".brief";
    return KeyEntry{std::string(t.text(key)), fill_of(input.theme, kind, em),
                    t.has(brief) ? std::string(t.text(brief)) : std::string()};
  };
  std::vector<KeyEntry>& entries = out.entries;
  entries.push_back(entry("figure.pipeline.forward", TimelinePart::forward));
  entries.push_back(entry(!split   ? "figure.pipeline.backward"
                          : !whole ? "figure.pipeline.backward_input"
                                   : "figure.schedules.backward_or_input",
                          TimelinePart::backward));
  if (split)
    entries.push_back(
        entry(whole ? "figure.schedules.weight" : "figure.pipeline.backward_weight", TimelinePart::backward_weight));
  if (std::any_of(gantts.begin(), gantts.end(), [](const gantt::Gantt& g) { return g.recomputes; }))
    entries.push_back(entry("figure.pipeline.recompute", TimelinePart::recompute));
  entries.push_back(
      {std::string(t.text("figure.pipeline.idle")), gantt::idle_swatch(input.theme, gantts.front(), em)});
  if (std::any_of(gantts.begin(), gantts.end(), [&](const gantt::Gantt& g) { return g.shows_step_end(canvas); }))
    entries.push_back(entry("figure.pipeline.step_end", TimelinePart::step_end));
  const bool splits = std::any_of(gantts.begin(), gantts.end(),
                                  [&](const gantt::Gantt& g) { return gantt::splits_bars(canvas, input, g); });
  out.note = gantt::key_note(t, chunks, splits, both_ways);
  out.brief_note = splits ? gantt::key_note(t, 1, true, false) : out.note;
  const float right = l.wide ? l.idle.right - l.idle.width : l.plot.right();
  // Over the rows if it fits there, else from the edge of the figure on where that saves a second row.
  out.left = l.plot.x;
  out.rows = key_rows(canvas, right - out.left, entries);
  if (out.rows > 1 && key_rows(canvas, right - l.header.x, entries) == 1) out.left = l.header.x, out.rows = 1;
  out.room = right - out.left;
  return out;
}

void draw_schedules_key(Canvas& canvas, const FigureInput& input, const SchedulesLayout& l, const SchedulesKey& key) {
  const float up = canvas.px(14) + key_row_height(canvas) * static_cast<float>(key.rows - 1) / 2;
  draw_fitting_key(canvas, input.theme, {key.left, l.header.bottom() - up}, key.room, key.entries, key.note,
                   key.brief_note);
}

std::vector<gantt::Gantt> gantts_of(const Canvas& canvas, const FigureInput& input, ComparedSchedules& c,
                                    const SchedulesLayout& l) {
  std::vector<gantt::Gantt> out;
  for (std::size_t i = 0; i < l.shown.size(); ++i) {
    gantt::Gantt& g =
        out.emplace_back(gantt::make_gantt(canvas, input.theme, l.shown[i]->pipeline(), l.rows[i], l.from, l.to));
    if (g.detail == gantt::Detail::shares) g.levels = &c.levels_of(g.pipeline);
    // The quantities of stages are the plan's own.
    if (!l.shown[i]->own) g.scope = "schedule." + std::string(engine::schedule_id(g.pipeline.shape.kind)) + "/";
  }
  return out;
}

FigureHead schedules_head(const FigureInput& input, const FigureView&) {
  const TextTable& t = input.texts;
  FigureHead head;
  if (input.baseline) head.context = compared_context(input);
  head.title = t.text("figure.schedules.title");
  ComparedSchedules* c = comparison_of(input);
  if (c == nullptr || !c->all.done()) return head;  // which is fastest is not known yet
  const ScheduleVariant *best = fastest(*c), &own = variant(*c, c->shape().kind);
  if (best == nullptr) return head;
  const auto name_of = [&](const ScheduleVariant& v) { return say(head, name_claim(schedule_name(input, v.shape))); };
  const auto idle_of = [&](const ScheduleVariant& v) {
    return say(head, data_claim("idle share", v.idle_fraction, format_percent(v.idle_fraction)));
  };
  const std::string name = name_of(*best), idle = idle_of(*best);
  if (best == &own)
    head.takeaway = t.format("figure.schedules.takeaway.own", {name, idle});
  else if (own.legal()) {
    const double shorter = 1 - best->step_time_s / own.step_time_s;
    const std::string less = say(head, own_claim("schedules.shorter", shorter, format_percent(shorter)));
    head.takeaway = t.format("figure.schedules.takeaway", {name, less, name_of(own), idle, idle_of(own)});
    head.brief = t.format("figure.schedules.takeaway.brief", {name, less});
  } else
    head.takeaway = t.format("figure.schedules.takeaway.alone", {name, idle});
  return head;
}

void draw_schedules(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, schedules_head(input, view));
  if (rest.empty()) return;
  ComparedSchedules* c = comparison_of(input);
  if (c == nullptr) {
    if (input.report.pipeline.shape.stages > 1) return draw_schedule_reason(canvas, rest, input);
    return draw_one_stage(canvas, rest, input, input.texts.text("figure.schedules.try"));
  }
  SchedulesLayout l = lay_out(canvas, rest, input, view, *c, 1);
  std::vector<gantt::Gantt> gantts;
  SchedulesKey key;
  // What the key lists depends on the rows, and a second line of it takes room from them.
  for (const int rows : {1, 2}) {
    if (rows > 1) l = lay_out(canvas, rest, input, view, *c, rows);
    if (l.shown.empty()) {
      if (choose(*c, 1).empty()) draw_schedule_reason(canvas, rest, input);
      return;
    }
    gantts = gantts_of(canvas, input, *c, l);
    key = schedules_key(canvas, input, l, gantts);
    if (l.wide || key.rows <= rows) break;
  }
  for (const StageRows& rows : l.rows) {
    StageRows band = rows;  // the tint ends where the rows do
    draw_stage_tint(canvas, input.theme, band, view.hovered_stage);
  }
  draw_frame(canvas, input.theme, l.plot, l.x, Scale(ScaleKind::linear, 0, 1, l.plot.bottom(), l.plot.y), l.frame);
  draw_schedules_key(canvas, input, l, key);
  draw_column_heads(canvas, input, l, key.left);
  double most_held = 1e-9;
  for (const ScheduleVariant* v : l.shown)
    for (const double peak : v->pipeline().peak_microbatches) most_held = std::max(most_held, peak);
  for (std::size_t i = 0; i < l.shown.size(); ++i) {
    draw_names(canvas, input, view, l, i);
    gantt::draw_blocks(canvas, input, gantts[i]);
    draw_numbers(canvas, input, l, i, most_held);
    draw_end(canvas, input, l, i);
  }
  draw_baseline_end(canvas, input, l);
  const TextStyle style = small_text(canvas, input.theme.ink2, HAlign::left);
  float y = l.foot.y;
  const float pitch = FontStack::kLineHeight * style.em;
  for (const std::string& note : l.notes) canvas.text({l.foot.x, y + pitch / 2}, note, style), y += pitch;
}

std::string schedules_data(const FigureInput& input, const FigureView&) {
  std::string out = "schedule\tchunks\tlegal\tmakespan s\tidle share\tmost microbatches held\tstep s\tmemory bytes\n";
  const ComparedSchedules* c = comparison_of(input);
  if (c == nullptr) return out;
  for (const engine::ScheduleVariant& v : c->all.variants()) {
    const std::vector<double> peaks = v.drawn() ? v.pipeline().peak_microbatches : std::vector<double>();
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", engine::schedule_id(v.shape.kind), v.shape.virtual_stages,
                       v.legal() ? "yes" : "no", static_cast<double>(v.makespan) * 1e-12, v.idle_fraction,
                       peaks.empty() ? 0.0 : *std::max_element(peaks.begin(), peaks.end()), v.step_time_s,
                       v.memory_bytes);
  }
  return out;
}

}  // namespace

}  // namespace schedules

extern constinit const FigureRow schedules_figure{
    .name = "schedules",
    .needs = Needs::stages,
    .about = About::schedules,
    .width_pt = kPageWidth,
    .height_pt = 472.0f,
    .head = schedules::schedules_head,
    .draw = schedules::draw_schedules,
    .data = schedules::schedules_data,
};

}  // namespace roofscape::widgets
