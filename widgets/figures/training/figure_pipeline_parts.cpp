#include "widgets/figures/training/figure_pipeline_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/stage_rows.h"

namespace roofscape::widgets {

using engine::Q;
using engine::ScheduleRule;

namespace {

constexpr float kSwatchAndGap = 17, kCloseKeyGap = 8;  // scale-1 pixels

TextStyle centred(const Canvas& canvas, float em, Colour colour) {
  TextStyle s;
  s.em = em * canvas.em();
  s.halign = HAlign::centre;
  s.valign = VAlign::middle;
  s.colour = colour;
  return s;
}

// Lines under each other, centred about `middle`; returns how high they are.
float draw_prose(Canvas& canvas, Point top_middle, std::string_view text, const TextStyle& style, float width,
                 int lines) {
  const float pitch = FontStack::kLineHeight * style.em;
  float y = top_middle.y;
  for (const std::string& line : wrap(canvas, text, style, width, lines)) {
    canvas.text({top_middle.x, y + pitch / 2}, line, style);
    y += pitch;
  }
  return y - top_middle.y;
}

std::string rule_key(ScheduleRule rule) {
  switch (rule) {
    case ScheduleRule::stages_even:
      return "stages_even";
    case ScheduleRule::one_chunk:
      return "one_chunk";
    case ScheduleRule::two_chunks:
      return "two_chunks";
    case ScheduleRule::microbatches_even:
      return "microbatches_even";
    case ScheduleRule::microbatches_fill_stages:
      return "microbatches_fill_stages";
    case ScheduleRule::microbatches_at_least:
      return "microbatches_at_least";
    case ScheduleRule::last_group_fills_stages:
      return "last_group_fills_stages";
    case ScheduleRule::too_large:
      return "too_large";
    case ScheduleRule::group_size_interleaved_only:
    case ScheduleRule::group_size_range:
      return "group_size";
    case ScheduleRule::legal:
    case ScheduleRule::stages_positive:
    case ScheduleRule::virtual_stages_positive:
    case ScheduleRule::microbatches_positive:
      break;
  }
  return "other";
}

using ByRank = std::array<engine::ScheduleKind, engine::kScheduleKinds>;
constexpr ByRank kByRank = [] {
  ByRank out = engine::kSchedules;
  std::sort(out.begin(), out.end(), [](engine::ScheduleKind a, engine::ScheduleKind b) {
    return std::pair(engine::facts_of(a).figure_rank, a) < std::pair(engine::facts_of(b).figure_rank, b);
  });
  return out;
}();

}  // namespace

std::span<const engine::ScheduleKind> schedules_by_rank() { return kByRank; }

std::string schedule_name(const FigureInput& input, const engine::ScheduleShape& shape) {
  std::string name(input.texts.text("figure.pipeline.schedule." + std::string(engine::schedule_id(shape.kind))));
  if (shape.virtual_stages > engine::default_virtual_stages(shape.kind) ||
      (shape.virtual_stages > 1 && engine::varies_chunks(shape.kind)))
    name = input.texts.format("figure.pipeline.chunks", {name, format_count(shape.virtual_stages)});
  return shape.order ? input.texts.format("figure.pipeline.given_order", {name}) : name;
}

ScheduleReason schedule_reason(const FigureInput& input, const engine::ScheduleShape& shape,
                               const engine::ScheduleStatus& status) {
  const TextTable& t = input.texts;
  if (status.legal()) return {std::string(t.text("figure.pipeline.not_simulated")), {}};
  ScheduleReason out;
  out.reason = t.format("figure.pipeline.rule." + rule_key(status.rule),
                        {format_count(status.value), format_count(shape.stages), schedule_name(input, shape)});
  const std::string below = format_count(status.below), above = format_count(status.above);
  if (status.below > 0 && status.above > 0)
    out.remedy = t.format("figure.pipeline.nearest_two", {below, above});
  else if (status.below > 0 || status.above > 0)
    out.remedy = t.format("figure.pipeline.nearest", {status.below > 0 ? below : above});
  return out;
}

Rect one_stage_area(const Canvas& canvas, const Rect& area) {
  const float h = std::min(area.h, canvas.px(280));
  return {area.x, area.y + (area.h - h) / 2, area.w, h};
}

void draw_one_stage(Canvas& canvas, const Rect& whole, const FigureInput& input, std::string_view advice) {
  const Rect area = one_stage_area(canvas, whole);
  const Theme& theme = input.theme;
  const TextTable& t = input.texts;
  const float width = area.w - canvas.px(24);
  const double microbatches = input.report.quantities.value_or(Q::microbatches, 1);
  const int layers = input.scenario.model.n_layers;
  float y = area.y + area.h * 0.34f;
  y += draw_prose(canvas, {area.centre().x, y}, t.text("figure.pipeline.one_stage"), centred(canvas, 1.0f, theme.ink),
                  width, 2);
  const TextStyle prose = centred(canvas, kSmallText, theme.ink2);
  y += draw_prose(canvas, {area.centre().x, y}, t.format("figure.pipeline.one_stage.why", {format_count(layers)}),
                  prose, width, 3);
  if (microbatches > 1)
    y +=
        draw_prose(canvas, {area.centre().x, y},
                   t.format("figure.pipeline.one_stage.accumulation", {format_count(microbatches)}), prose, width, 3);
  if (!advice.empty()) y += draw_prose(canvas, {area.centre().x, y}, advice, prose, width, 3);
  // What rows would be: outlines at the foot, where there is room for them and for a button of the window's.
  const float row = canvas.px(9), pitch = canvas.px(15);
  const float top = area.bottom() - 4 * pitch - canvas.px(6);
  if (top < y + canvas.px(52)) return;
  for (int i = 0; i < 4; ++i)
    canvas.frame(
        {area.x + canvas.px(24), top + static_cast<float>(i) * pitch, std::max(0.0f, area.w - canvas.px(48)), row},
        {theme.line, theme.grid_width * canvas.em(), {}});
}

void draw_schedule_reason(Canvas& canvas, const Rect& area, const FigureInput& input) {
  const Theme& theme = input.theme;
  const auto [why, how] = schedule_reason(input, input.report.pipeline.shape, input.report.pipeline.status);
  TextStyle head;
  head.colour = theme.ink;
  head.valign = VAlign::middle;
  TextStyle prose = head;
  prose.em = kSmallText * canvas.em();
  prose.colour = theme.ink2;
  const float pad = canvas.px(14), icon = canvas.px(16), gap = canvas.px(10);
  const float most = std::min(area.w - canvas.px(8), canvas.px(460)) - 2 * pad - icon - gap;
  if (most <= 0) return;
  const std::vector<std::string> first = wrap(canvas, why, head, most, 3), second = wrap(canvas, how, prose, most, 2);
  float width = 0;
  for (const std::string& line : first) width = std::max(width, canvas.text_width(line, head));
  for (const std::string& line : second) width = std::max(width, canvas.text_width(line, prose));
  const float head_pitch = FontStack::kLineHeight * canvas.em(), prose_pitch = FontStack::kLineHeight * prose.em;
  const float height =
      2 * pad + head_pitch * static_cast<float>(first.size()) + prose_pitch * static_cast<float>(second.size());
  width += 2 * pad + icon + gap;
  const Rect box{area.centre().x - width / 2, area.centre().y - height / 2, width, height};
  Fill ground;
  ground.colour = theme.ctl;
  ground.edge = theme.err;
  ground.edge_width = canvas.px(1.5f);
  canvas.rect(box, ground, canvas.px(3));
  const Point c{box.x + pad + icon / 2, box.y + pad + head_pitch / 2};
  std::vector<Point> octagon;
  for (int i = 0; i < 8; ++i) {
    const float a = (static_cast<float>(i) + 0.5f) * 0.78539816f;
    octagon.push_back(c + Point{std::cos(a), std::sin(a)} * (icon / 2));
  }
  Fill alarm;
  alarm.colour = theme.err;
  canvas.polygon(octagon, alarm);
  const float arm = icon * 0.17f;
  const Stroke cross{theme.panel, canvas.px(1.8f), {}};
  canvas.line(c - Point{arm, arm}, c + Point{arm, arm}, cross);
  canvas.line(c + Point{-arm, arm}, c + Point{arm, -arm}, cross);
  float y = box.y + pad;
  const float x = box.x + pad + icon + gap;
  for (const std::string& line : first) canvas.text({x, y + head_pitch / 2}, line, head), y += head_pitch;
  for (const std::string& line : second) canvas.text({x, y + prose_pitch / 2}, line, prose), y += prose_pitch;
}

TimeUnit time_unit(double seconds) {
  if (seconds >= 1) return {"figure.pipeline.x.s", 1};
  if (seconds >= 1e-3) return {"figure.pipeline.x.ms", 1e-3};
  return {"figure.pipeline.x.us", 1e-6};
}

PlotAxis time_axis(const Canvas& canvas, const FigureInput& input, const Scale& scale, const TimeUnit& unit,
                   float width) {
  PlotAxis axis;
  axis.title = input.texts.text(unit.key);
  TickOptions options;
  options.about = std::clamp(static_cast<int>(width / canvas.px(85)), 2, 8);
  axis.ticks = ticks(scale, options);
  return axis;
}

std::shared_ptr<engine::OrderSpans> order_spans(const FigureInput& input) {
  return input.studies.get<std::shared_ptr<engine::OrderSpans>>(
      0, [] { return std::make_shared<engine::OrderSpans>(); });
}

namespace {

// How entries lie: all of them in one row, else in two, the first of so many; fewer where even these have no room.
struct KeyRows {
  std::size_t first = 0, all = 0;
  float gap = kKeyGap;
};

float key_width(const Canvas& canvas, std::span<const KeyEntry> row, float gap) {
  const TextStyle style = small_text(canvas, {}, HAlign::left);
  float used = row.empty() ? 0 : canvas.px(gap) * static_cast<float>(row.size() - 1);
  for (const KeyEntry& e : row) used += canvas.px(kSwatchAndGap) + canvas.text_width(e.text, style);
  return used;
}

KeyRows key_rows_of(const Canvas& canvas, float room, std::span<const KeyEntry> entries) {
  KeyRows out{entries.size(), entries.size()};
  if (key_width(canvas, entries, out.gap) > room) out.gap = kCloseKeyGap;
  if (key_width(canvas, entries, out.gap) <= room) return out;
  while (out.first > 1 && key_width(canvas, entries.first(out.first), out.gap) > room) --out.first;
  while (out.all > out.first && key_width(canvas, entries.subspan(out.first, out.all - out.first), out.gap) > room)
    --out.all;
  return out;
}

}  // namespace

int key_rows(const Canvas& canvas, float room, std::span<const KeyEntry> entries) {
  const KeyRows rows = key_rows_of(canvas, room, entries);
  return rows.first < rows.all ? 2 : 1;
}

float key_row_height(const Canvas& canvas) { return small_line(canvas); }

void draw_fitting_key(Canvas& canvas, const Theme& theme, Point at, float room, std::span<const KeyEntry> entries,
                      std::string_view note, std::string_view brief_note, float pitch) {
  const TextStyle style = small_text(canvas, theme.ink3, HAlign::left);
  std::vector<KeyEntry> shown(entries.begin(), entries.end());
  KeyRows rows = key_rows_of(canvas, room, shown);
  if (rows.all < shown.size()) {
    for (KeyEntry& e : shown)
      if (!e.brief.empty()) e.text = e.brief;
    rows = key_rows_of(canvas, room, shown);
  }
  const std::span<const KeyEntry> all(shown);
  const std::span<const KeyEntry> first = all.first(rows.first),
                                  rest = all.subspan(rows.first, rows.all - rows.first);
  const float half =
      rest.empty() ? 0 : (pitch > 0 ? std::min(pitch, key_row_height(canvas)) : key_row_height(canvas)) / 2;
  draw_key(canvas, theme, {at.x, at.y - half}, first, rows.gap);
  draw_key(canvas, theme, {at.x, at.y + half}, rest, rows.gap);
  const float used = key_width(canvas, rest.empty() ? first : rest, rows.gap);
  for (const std::string_view words : {note, brief_note}) {
    if (words.empty() || used + canvas.px(kKeyGap) + canvas.text_width(words, style) > room) continue;
    canvas.text({at.x + used + canvas.px(kKeyGap), at.y + half}, words, style);
    break;
  }
}

}  // namespace roofscape::widgets
