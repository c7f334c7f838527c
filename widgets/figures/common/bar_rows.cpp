#include "widgets/figures/common/bar_rows.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/stage_rows.h"

namespace roofscape::widgets {
namespace {

constexpr float kGap = 10, kColumnGap = 14;            // beside names; between columns
constexpr float kMostNames = 0.42f;                    // of the width
constexpr float kLeastNames = 0.22f;                   // of the width, where names take two lines for a column's sake
constexpr float kNameLine = 0.94f;                     // of a line of small text: lines of one name stand close
constexpr float kAxisLines = 3.6f;                     // what heads, ticks and title take, about
constexpr float kLeastBars = 0.3f;                     // of the width, before a column goes
constexpr float kHeadRow = 1.05f, kLeastPitch = 0.9f;  // lines of small text
constexpr float kMostPitch = 100, kBarShare = 0.66f;
constexpr float kSharedPitch = 0.8f, kUpperShare = 0.62f, kUnderFrom = 0.68f;  // of a row with a measured bar
constexpr float kLowShade = 0.6f;
constexpr float kLeastEdged = 6;    // lower bars would be all edge
constexpr float kCapitals = 0.75f;  // of a line of text: what a bar must be high for a name in it

struct Columns {
  float names_right = 0, value_right = 0, second_right = 0;
  bool value = true, second = true;
};

float widest(const Canvas& canvas, std::span<const BarRow> rows, const std::string BarRow::*text,
             const std::string& head) {
  float w = canvas.text_width(head, small_text(canvas, {}, HAlign::left));
  for (const BarRow& r : rows)
    w = std::max(
        w, canvas.text_width(r.*text, small_text(canvas, {}, HAlign::left, r.bold ? Weight::bold : Weight::regular)));
  return w;
}

}  // namespace

Rect BarRowsPlot::bar(std::size_t row, const BarPart& part) const {
  const float top = tops[row] + (pitch - bar_height) / 2 + lane_height * static_cast<float>(part.lane);
  return rect_between(x(std::max(part.from, x.from())), top, x(part.to), top + lane_height);
}

BarRowsPlot draw_bar_rows(Canvas& canvas, const Theme& theme, const Rect& area, std::span<const BarRow> rows,
                          const BarAxis& axis) {
  BarRowsPlot out;
  out.tops.assign(rows.size(), -1);
  if (rows.empty() || area.empty()) return out;
  const float line = small_line(canvas);

  // Columns: names at the left, numbers at the right as far as bars keep their room.
  Columns c;
  float names = std::min(widest(canvas, rows, &BarRow::name, ""), area.w * kMostNames);
  const float value = widest(canvas, rows, &BarRow::value, axis.value),
              second = widest(canvas, rows, &BarRow::second, axis.second);
  const float gap = canvas.px(kColumnGap);
  float left = area.x + names + canvas.px(kGap);
  const auto bars_right = [&] {
    return area.right() - (c.second && second > 0 ? second + gap : 0) - (c.value && value > 0 ? value + gap : 0);
  };
  // Before the last column goes, names take two lines, where rows are high enough for that.
  const float lacking = area.w * kLeastBars - (bars_right() - left);
  const bool two_lines = (area.h - kAxisLines * line) / static_cast<float>(rows.size()) >= 2 * kNameLine * line;
  if (lacking > 0 && names - lacking >= area.w * kLeastNames && (two_lines || axis.keeps_second))
    names -= lacking, left -= lacking;
  if (bars_right() - left < area.w * kLeastBars - canvas.px(0.5f)) c.second = false;
  if (bars_right() - left < area.w * kLeastBars) c.value = false;
  c.names_right = area.x + names;
  c.second_right = area.right();
  c.value_right = area.right() - (c.second && second > 0 ? second + gap : 0);
  Rect rest = rect_between(left, area.y, std::max(left + 1, bars_right()), area.bottom());

  Frame frame;
  frame.y.grid = frame.y.line = false;
  frame.x.title = axis.title;
  frame.x.unit = axis.unit;
  const Scale domain(axis.kind, axis.from, axis.to > axis.from ? axis.to : axis.from + 1, 0, 1);
  frame.x.ticks =
      ticks(domain, {std::clamp(static_cast<int>(rest.w / canvas.px(70)), 2, 8), TickLabels::plain, false});
  const Rect inside = plot_rect(canvas, rest, frame);
  rest.cut_bottom(rest.bottom() - inside.bottom());
  const bool is_last = (!c.value || value == 0) && (!c.second || second == 0);
  if (is_last) rest.cut_right(rest.right() - inside.right());  // half a number of the axis stands beyond its end
  const bool has_heads = (!axis.value.empty() || !axis.second.empty() || !axis.key.empty()) &&
                         rest.h > line * (kHeadRow + kLeastPitch * static_cast<float>(rows.size()));
  const Rect head = rest.cut_top(has_heads ? line * kHeadRow : 0);

  std::vector<std::size_t> shown(rows.size());
  for (std::size_t i = 0; i < shown.size(); ++i) shown[i] = i;
  const auto room = static_cast<std::size_t>(std::max(1.0f, rest.h / (line * kLeastPitch)));
  while (shown.size() > room)
    shown.erase(std::min_element(shown.begin(), shown.end(),
                                 [&](std::size_t a, std::size_t b) { return rows[a].weight < rows[b].weight; }));
  out.pitch = std::min(rest.h / static_cast<float>(shown.size()), canvas.px(kMostPitch));
  const bool shared = std::any_of(rows.begin(), rows.end(), [](const BarRow& r) { return r.under.has_value(); });
  out.bar_height = out.pitch * (shared ? kSharedPitch : kBarShare);
  out.lane_height = out.bar_height * (shared ? kUpperShare : 1) / static_cast<float>(std::max(1, axis.lanes));
  out.plot = {rest.x, rest.y, rest.w, out.pitch * static_cast<float>(shown.size())};
  out.x = domain.with_range(out.plot.x, out.plot.right());
  for (std::size_t k = 0; k < shown.size(); ++k) out.tops[shown[k]] = rest.y + out.pitch * static_cast<float>(k);

  draw_frame(canvas, theme, out.plot, out.x, Scale(ScaleKind::linear, 0, 1, out.plot.bottom(), out.plot.y), frame);
  if (has_heads) {
    const TextStyle faint = small_text(canvas, theme.ink3, HAlign::right);
    if (c.value && !axis.value.empty()) canvas.text({c.value_right, head.centre().y}, axis.value, faint);
    if (c.second && !axis.second.empty()) canvas.text({c.second_right, head.centre().y}, axis.second, faint);
    draw_key(canvas, theme, {rest.x, head.centre().y}, axis.key);
  }
  const Stroke joint{theme.ink3, theme.grid_width * canvas.em(), {}};
  const Stroke ghost{theme.ink, theme.axis_width * canvas.em(), Dash{3, 3}.scaled(canvas.px(1))};
  for (std::size_t k = 0; k < shown.size(); ++k) {
    const BarRow& row = rows[shown[k]];
    const auto series = canvas.group(row.name);
    const float top = out.tops[shown[k]], middle = top + out.pitch / 2;
    if (row.aside && k > 0 && !rows[shown[k - 1]].aside)
      canvas.line({area.x, top}, {area.right(), top}, {theme.line, theme.axis_width * canvas.em(), {}});
    std::size_t next = k + 1;
    while (next < shown.size() && rows[shown[next]].aside) ++next;
    if ((row.joint || (row.joined && !row.parts.empty())) && next < shown.size()) {
      const float at = out.x(row.joint ? *row.joint : row.parts.back().to), margin = (out.pitch - out.bar_height) / 2;
      const float bottom = top + margin + out.lane_height * static_cast<float>(std::max(1, axis.lanes));
      canvas.line({at, bottom}, {at, out.tops[shown[next]] + margin}, joint);
    }
    for (const BarPart& part : row.parts) {
      if (!(part.to > part.from)) continue;
      Rect bar = out.bar(shown[k], part);
      Fill fill = part.fill;
      if (is_tick(canvas, bar)) {
        bar.x = std::min(bar.x, out.plot.right() - canvas.px(3));
        draw_tick(canvas, theme, bar, fill);
        continue;
      }
      if (bar.h < canvas.px(kLeastEdged)) fill.edge_width = 0;
      canvas.rect(bar, fill);
      if (part.label.empty()) continue;
      const Colour opaque{fill.colour.r, fill.colour.g, fill.colour.b, 255};
      const Colour seen = mix(theme.panel, opaque, static_cast<float>(fill.colour.a) / 255);
      TextStyle label = small_text(canvas, text_on(seen), HAlign::centre);
      if (canvas.text_width(part.label, label) + canvas.px(6) > bar.w || line * kCapitals > bar.h) continue;
      if (fill.hatch != Hatch::none) label.halo = seen;
      canvas.text(bar.centre(), part.label, label);
    }
    if (row.under && row.under->to > row.under->from) {
      Rect bar = out.bar(shown[k], *row.under);
      bar.y = top + (out.pitch - out.bar_height) / 2 + out.bar_height * kUnderFrom;
      bar.h = out.bar_height * (1 - kUnderFrom);
      Fill fill = row.under->fill;
      if (bar.h < canvas.px(kLeastEdged)) {  // what is low has no edge, and shows in the edge's colour
        fill.colour = mix(theme.panel, fill.edge, kLowShade);
        fill.edge_width = 0;
      }
      canvas.rect(bar, fill);
    }
    if (row.ghost && row.ghost->to > row.ghost->from) {
      const Rect g = out.bar(shown[k], *row.ghost).inset(0, -canvas.px(2));
      canvas.polyline({{g.x, g.y}, {g.right(), g.y}, {g.right(), g.bottom()}, {g.x, g.bottom()}, {g.x, g.y}}, ghost);
    }
    const Weight weight = row.bold ? Weight::bold : Weight::regular;
    const TextStyle name = small_text(canvas, row.bold ? theme.ink : theme.ink2, HAlign::right, weight);
    const bool high = out.pitch >= 2 * kNameLine * line;
    const bool cut = !high && !row.brief.empty() && canvas.text_width(row.name, name) > names + canvas.px(0.5f);
    const std::vector<std::string> lines =
        wrap(canvas, cut ? row.brief : row.name, name, names + canvas.px(0.5f), high ? 2 : 1);
    const float first = middle - kNameLine * line * (static_cast<float>(lines.size()) - 1) / 2;
    for (std::size_t i = 0; i < lines.size(); ++i)
      canvas.text({c.names_right, first + kNameLine * line * static_cast<float>(i)}, lines[i], name);
    if (c.value && !row.value.empty())
      canvas.text({c.value_right, middle}, row.value, small_text(canvas, theme.ink, HAlign::right, weight));
    if (c.second && !row.second.empty())
      canvas.text({c.second_right, middle}, row.second, small_text(canvas, theme.ink2, HAlign::right, weight));
  }
  return out;
}

}  // namespace roofscape::widgets
