#include "widgets/figure_pipeline.h"

#include <algorithm>
#include <cmath>

#include "widgets/figure_head.h"
#include "widgets/figure_pipeline_blocks.h"
#include "widgets/number_format.h"
#include "widgets/stage_rows.h"

namespace roofscape::widgets {

using engine::Q;
using engine::ScheduleRule;

namespace {

using gantt::kTicksPerSecond;

TextStyle centred(const Canvas& canvas, float em, Colour colour) {
  TextStyle s;
  s.em = em * canvas.em();
  s.halign = HAlign::centre;
  s.valign = VAlign::middle;
  s.colour = colour;
  return s;
}

// Lines under each other, centred about `middle`; returns how high they are.
float draw_prose(Canvas& canvas, Point top_middle, std::string_view text, const TextStyle& style, float width, int lines) {
  const float pitch = FontStack::kLineHeight * style.em;
  float y = top_middle.y;
  for (const std::string& line : wrap(canvas, text, style, width, lines)) {
    canvas.text({top_middle.x, y + pitch / 2}, line, style);
    y += pitch;
  }
  return y - top_middle.y;
}

void draw_one_stage(Canvas& canvas, const Rect& area, const FigureInput& input) {
  const Theme& theme = input.theme;
  const TextTable& t = input.texts;
  const float width = area.w - canvas.px(24);
  const double microbatches = input.report.quantities.value_or(Q::microbatches, 1);
  const int layers = input.scenario.model.n_layers;
  float y = area.y + area.h * 0.34f;
  y += draw_prose(canvas, {area.centre().x, y}, t.text("figure.pipeline.one_stage"), centred(canvas, 1.0f, theme.ink), width, 2);
  const TextStyle prose = centred(canvas, kSmallText, theme.ink2);
  y += draw_prose(canvas, {area.centre().x, y}, t.format("figure.pipeline.one_stage.why", {format_count(layers)}), prose, width, 3);
  if (microbatches > 1)
    y += draw_prose(canvas, {area.centre().x, y}, t.format("figure.pipeline.one_stage.accumulation", {format_count(microbatches)}),
                    prose, width, 3);
  // What rows would be: outlines at the foot, where there is room for them and for a button of the window's.
  const float row = canvas.px(9), pitch = canvas.px(15);
  const float top = area.bottom() - 4 * pitch - canvas.px(6);
  if (top < y + canvas.px(52)) return;
  for (int i = 0; i < 4; ++i)
    canvas.frame({area.x + canvas.px(24), top + static_cast<float>(i) * pitch, std::max(0.0f, area.w - canvas.px(48)), row},
                 {theme.line, theme.grid_width * canvas.em(), {}});
}

std::string rule_key(ScheduleRule rule) {
  switch (rule) {
    case ScheduleRule::stages_even: return "stages_even";
    case ScheduleRule::one_chunk: return "one_chunk";
    case ScheduleRule::two_chunks: return "two_chunks";
    case ScheduleRule::microbatches_even: return "microbatches_even";
    case ScheduleRule::microbatches_fill_stages: return "microbatches_fill_stages";
    case ScheduleRule::microbatches_at_least: return "microbatches_at_least";
    case ScheduleRule::last_group_fills_stages: return "last_group_fills_stages";
    case ScheduleRule::too_large: return "too_large";
    case ScheduleRule::group_size_interleaved_only:
    case ScheduleRule::group_size_range: return "group_size";
    case ScheduleRule::legal:
    case ScheduleRule::stages_positive:
    case ScheduleRule::virtual_stages_positive:
    case ScheduleRule::microbatches_positive: break;
  }
  return "other";
}

std::string schedule_name(const FigureInput& input, const engine::ScheduleShape& shape) {
  std::string name(input.texts.text("figure.pipeline.schedule." + std::string(engine::schedule_id(shape.kind))));
  if (shape.virtual_stages > engine::default_virtual_stages(shape.kind) ||
      (shape.virtual_stages > 1 && (shape.kind == engine::ScheduleKind::interleaved_1f1b || shape.kind == engine::ScheduleKind::looped_bfs)))
    name = input.texts.format("figure.pipeline.chunks", {name, format_count(shape.virtual_stages)});
  return name;
}

// A box with what is wrong and the nearest values that are not, in the middle of the figure.
void draw_reason(Canvas& canvas, const Rect& area, const FigureInput& input) {
  const Theme& theme = input.theme;
  const TextTable& t = input.texts;
  const engine::PipelineReport& p = input.report.pipeline;
  const engine::ScheduleStatus& status = p.status;
  const std::string value = format_count(status.value), stages = format_count(p.shape.stages);
  const std::string name = schedule_name(input, p.shape);
  std::string reason(t.text("figure.pipeline.not_simulated")), remedy;
  if (!status.legal()) {
    reason = t.format("figure.pipeline.rule." + rule_key(status.rule), {value, stages, name});
    const std::string below = format_count(status.below), above = format_count(status.above);
    if (status.below > 0 && status.above > 0) remedy = t.format("figure.pipeline.nearest_two", {below, above});
    else if (status.below > 0 || status.above > 0) remedy = t.format("figure.pipeline.nearest", {status.below > 0 ? below : above});
  }
  TextStyle head;
  head.colour = theme.ink;
  head.valign = VAlign::middle;
  TextStyle prose = head;
  prose.em = kSmallText * canvas.em();
  prose.colour = theme.ink2;
  const float pad = canvas.px(14), icon = canvas.px(16), gap = canvas.px(10);
  const float most = std::min(area.w - canvas.px(8), canvas.px(460)) - 2 * pad - icon - gap;
  if (most <= 0) return;
  const std::vector<std::string> first = wrap(canvas, reason, head, most, 3), second = wrap(canvas, remedy, prose, most, 2);
  float width = 0;
  for (const std::string& line : first) width = std::max(width, canvas.text_width(line, head));
  for (const std::string& line : second) width = std::max(width, canvas.text_width(line, prose));
  const float head_pitch = FontStack::kLineHeight * canvas.em(), prose_pitch = FontStack::kLineHeight * prose.em;
  const float height = 2 * pad + head_pitch * static_cast<float>(first.size()) + prose_pitch * static_cast<float>(second.size());
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

struct TimeUnit {
  std::string_view key;
  double seconds;
};
TimeUnit unit_for(double seconds) {
  if (seconds >= 1) return {"figure.pipeline.x.s", 1};
  if (seconds >= 1e-3) return {"figure.pipeline.x.ms", 1e-3};
  return {"figure.pipeline.x.us", 1e-6};
}

// In drawing order; what does not fit is left out from the end.
void draw_kinds_key(Canvas& canvas, const FigureInput& input, const gantt::Gantt& g) {
  const TextTable& t = input.texts;
  const bool split = engine::splits_backward(g.pipeline.shape.kind);
  const auto entry = [&](std::string_view key, Fill fill) { return KeyEntry{std::string(t.text(key)), fill}; };
  std::vector<KeyEntry> entries{entry("figure.pipeline.forward", g.fills[0][0])};
  entries.push_back(entry(split ? "figure.pipeline.backward_input" : "figure.pipeline.backward", g.fills[1][0]));
  if (split) entries.push_back(entry("figure.pipeline.backward_weight", g.fills[3][0]));
  entries.push_back(entry("figure.pipeline.idle", g.idle));
  if (g.step_end > 0) entries.push_back(entry("figure.pipeline.step_end", g.end));
  TextStyle style;
  style.em = kSmallText * canvas.em();
  style.valign = VAlign::middle;
  style.colour = input.theme.ink3;
  const auto width = [&](const KeyEntry& e) { return canvas.px(11 + 6 + 16) + canvas.text_width(e.text, style); };
  const float room = g.rows.area.right() - g.rows.plot.x;
  float used = -canvas.px(16);
  std::size_t fits = 0;
  while (fits < entries.size() && used + width(entries[fits]) <= room) used += width(entries[fits++]);
  entries.resize(fits);
  const Point at{g.rows.plot.x, g.rows.header.centre().y};
  draw_key(canvas, input.theme, at, entries);
  if (g.chunks < 2 || g.detail == gantt::Detail::shares) return;  // shares have no shades
  const std::string_view lighter = t.text(g.chunks == 2 ? "figure.pipeline.lighter" : "figure.pipeline.lighter_many");
  if (used + canvas.px(16) + canvas.text_width(lighter, style) <= room)
    canvas.text({at.x + used + canvas.px(16), at.y}, lighter, style);
}

PlotAxis time_axis(const Canvas& canvas, const FigureInput& input, const Scale& scale, const TimeUnit& unit, float width) {
  PlotAxis axis;
  axis.title = input.texts.text(unit.key);
  TickOptions options;
  options.about = std::clamp(static_cast<int>(width / canvas.px(85)), 2, 8);
  axis.ticks = ticks(scale, options);
  return axis;
}

}  // namespace

FigureHead pipeline_head(const FigureInput& input) {
  const TextTable& t = input.texts;
  const engine::PipelineReport& p = input.report.pipeline;
  FigureHead head;
  head.title = t.text("figure.pipeline.title");
  if (!p.status.legal()) {
    head.takeaway = t.format("figure.pipeline.cannot_run", {schedule_name(input, p.shape)});
  } else if (p.drawn()) {
    const double idle = input.report.quantities.value_or(Q::pipeline_bubble_fraction, 0);
    head.takeaway = t.format("figure.pipeline.takeaway",
                             {schedule_name(input, p.shape), format_percent(idle), format_count(p.shape.stages),
                              format_count(p.shape.microbatches)});
  }
  return head;
}

void draw_pipeline(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, pipeline_head(input));
  const engine::PipelineReport& p = input.report.pipeline;
  if (rest.empty()) return;
  if (!p.status.legal()) return draw_reason(canvas, rest, input);
  if (!p.drawn()) return p.shape.stages > 1 ? draw_reason(canvas, rest, input) : draw_one_stage(canvas, rest, input);

  const double total = static_cast<double>(p.timeline.makespan) + std::max(0.0, p.step_end_s) * kTicksPerSecond;
  const double from = std::clamp(view.from, 0.0, 1.0) * total;
  const double to = std::max(from + 1, std::clamp(view.to, 0.0, 1.0) * total);
  const TimeUnit unit = unit_for(to / kTicksPerSecond);
  const double per_tick = 1 / (kTicksPerSecond * unit.seconds);
  const Scale range(ScaleKind::linear, from * per_tick, to * per_tick, 0, 1);
  const int stages = static_cast<int>(p.orders.devices());
  const StageRows rows = stage_rows(canvas, input.texts, rest, stages, time_axis(canvas, input, range, unit, rest.w), view.compact);
  const Scale x = range.with_range(rows.plot.x, rows.plot.right());
  const gantt::Gantt g = gantt::make_gantt(canvas, input, rows, from, to);

  draw_stage_tint(canvas, input.theme, rows, view.hovered_stage);
  Frame frame;
  frame.x = time_axis(canvas, input, x, unit, rows.plot.w);
  frame.y.grid = frame.y.line = false;
  draw_frame(canvas, input.theme, rows.plot, x, Scale(ScaleKind::linear, 0, 1, rows.plot.bottom(), rows.plot.y), frame);
  draw_stage_numbers(canvas, input.theme, input.texts, rows, view.hovered_stage);
  draw_kinds_key(canvas, input, g);
  gantt::draw_blocks(canvas, input, g);
}

}  // namespace roofscape::widgets
