// One stage: the stacked bar against the capacity, and under it the same parts one below the other, enlarged, so that
// four gigabytes of ninety-six can be read as well as seventy-nine of eighty.
#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/stage_rows.h"
#include "widgets/figures/training/figure_memory_parts.h"

namespace roofscape::widgets::memory {
namespace {

using engine::Q;

constexpr float kHeader = 26, kGap = 10, kColumnGap = 18;
constexpr float kLeastBar = 18, kMostBar = 110, kBarShare = 0.17f;  // of the height of the figure
constexpr float kMostRow = 84, kRowBarShare = 0.62f;
constexpr float kLeastRow = 1.02f, kHeadRow = 1.15f;  // lines of small text
constexpr float kLens = 26, kLeastLens = 6;           // between the axis and the breakdown

struct Line {
  Part part;
  std::string name, value, share;
  double from_gb = 0, to_gb = 0;
};

// Values of a column have one number of decimals; what would read as zero says how small it is.
std::string column_value(const FigureInput& input, double gb, int decimals) {
  const double least = std::pow(10.0, -decimals);
  if (gb > 0 && gb < least / 2) return input.texts.format("figure.less_than", {format_fixed(least, decimals)});
  return format_fixed(gb, decimals);
}

std::vector<Line> lines_of(const FigureInput& input) {
  const engine::StageRow& row = input.report.stages.front();
  const Sizes sizes = sizes_of(input);
  std::vector<Line> out;
  double from = 0;
  for (const Part& part : parts()) {
    const double bytes = row.memory_bytes[part.index], to = from + bytes / kGb;
    if (bytes > 0)
      out.push_back({part, part_name(input, part), column_value(input, bytes / kGb, sizes.decimals),
                     format_share(bytes / row.memory_total_bytes), from, to});
    from = to;
  }
  return out;
}

// Total at the end of the bar, and what is free (or too much) beside it.
void draw_sum(Canvas& canvas, const FigureInput& input, const Rect& bar, const Scale& x, const Rect& plot) {
  const Theme& theme = input.theme;
  const Sizes sizes = sizes_of(input);
  const double total = total_gb(input.report.stages.front());
  const bool over = sizes.over(total);
  const Colour trouble = readable(line_of(theme, MemoryPart::over_capacity), theme.panel);
  const TextStyle style = small_text(canvas, over ? trouble : theme.ink, HAlign::left, Weight::bold);
  const std::string text = over ? "+" + bytes_text((total - sizes.capacity_gb) * kGb) : bytes_text(total * kGb);
  Point at{x(total) + canvas.px(6), bar.centre().y};
  const float line = sizes.capacity_gb > 0 ? x(sizes.capacity_gb) : -1, clear = canvas.px(3);
  const auto keep_off = [&](float edge) {
    if (edge > at.x - clear && edge < at.x + canvas.text_width(text, style) + clear) at.x = edge + canvas.px(6);
  };
  if (sizes.ghost_gb > total) keep_off(x(sizes.ghost_gb));
  keep_off(line);
  if (sizes.ghost_gb > total) keep_off(x(sizes.ghost_gb));
  // At the end of the figure over the end of the bar.
  const float last = canvas.clip_rect().right() - canvas.text_width(text, style) - clear;
  if (at.x > last) {
    at.x = last;
    haloed_text(canvas, theme, at, text, style);
  } else {
    canvas.text(at, text, style);
  }
  const Rect bounds = canvas.text_bounds(at, text, style);
  canvas.tag_with(engine::quantity(Q::memory_total).id, -1, bounds, [&] {
    Readout r;
    r.title = input.texts.format("figure.memory.used", {bytes_text(total * kGb)});
    return r;
  });
  if (over || sizes.capacity_gb <= 0) return;
  const std::string free = input.texts.format("figure.memory.free", {bytes_text((sizes.capacity_gb - total) * kGb)});
  const TextStyle faint = small_text(canvas, theme.ink3, HAlign::centre);
  // On one side of where the baseline ends: where there is more room.
  float from = bounds.right(), to = line - canvas.px(8);
  if (const float ghost = x(sizes.ghost_gb); sizes.ghost_gb > 0 && ghost > from && ghost < to)
    (ghost - from > to - ghost ? to : from) = ghost;
  if (bounds.x > line || canvas.text_width(free, faint) + canvas.px(16) > to - from) return;
  const Point middle{(from + std::max(to, from + 1)) / 2, bar.centre().y};
  haloed_text(canvas, theme, middle, free, faint);
  canvas.tag_with(engine::quantity(Q::memory_free).id, -1,
                  rect_between(bounds.right(), bar.y, std::min(line, plot.right()), bar.bottom()), [&] {
                    Readout r;
                    r.title = free;
                    return r;
                  });
}

struct Columns {
  float bars_right = 0, value_right = 0, share_right = 0;
};

Columns columns_of(const Canvas& canvas, const FigureInput& input, const std::vector<Line>& lines, float right) {
  const TextStyle regular = small_text(canvas, {}, HAlign::left),
                  bold = small_text(canvas, {}, HAlign::left, Weight::bold);
  float value = canvas.text_width(input.texts.text("figure.memory.column.gb"), regular);
  float share = canvas.text_width(input.texts.text("figure.memory.column.share"), regular);
  for (const Line& l : lines) {
    value = std::max(value, canvas.text_width(l.value, bold));
    share = std::max(share, canvas.text_width(l.share, bold));
  }
  Columns c;
  c.share_right = right;
  c.value_right = right - share - canvas.px(kColumnGap);
  c.bars_right = c.value_right - value - canvas.px(kColumnGap);
  return c;
}

void draw_breakdown(Canvas& canvas, const FigureInput& input, const FigureView& view, const Rect& area,
                    float names_right, float head, std::vector<Line> lines) {
  const Theme& theme = input.theme;
  const Columns columns = columns_of(canvas, input, lines, area.right());
  const auto room = static_cast<std::size_t>(std::max(0.0f, (area.h - head) / (small_line(canvas) * kLeastRow)));
  // The smallest go where not all can stand; their place in the sum stays.
  while (lines.size() > room)
    lines.erase(std::min_element(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
      return a.to_gb - a.from_gb < b.to_gb - b.from_gb;
    }));
  if (lines.empty()) return;
  const double total = total_gb(input.report.stages.front());
  const Scale x(ScaleKind::linear, 0, total, area.x, columns.bars_right);
  if (head > 0) {
    const float heading = area.y + head / 2;
    const TextStyle faint = small_text(canvas, theme.ink3, HAlign::right);
    canvas.text({columns.value_right, heading}, input.texts.text("figure.memory.column.gb"), faint);
    canvas.text({columns.share_right, heading}, input.texts.text("figure.memory.column.share"), faint);
    // The rows have a scale of their own: its ends.
    canvas.text({x(0), heading}, "0", small_text(canvas, theme.ink2, HAlign::left));
    canvas.text({x(total), heading}, bytes_text(total * kGb), small_text(canvas, theme.ink2, HAlign::right));
  }
  const float pitch = std::min((area.h - head) / static_cast<float>(lines.size()), canvas.px(kMostRow));
  const auto largest = std::max_element(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    return a.to_gb - a.from_gb < b.to_gb - b.from_gb;
  });
  float y = area.y + head;
  const Stroke joint{theme.ink3, theme.grid_width * canvas.em(), {}};
  for (auto it = lines.begin(); it != lines.end(); ++it, y += pitch) {
    const float h = pitch * kRowBarShare, middle = y + pitch / 2;
    const Rect bar = rect_between(x(it->from_gb), middle - h / 2, x(it->to_gb), middle + h / 2);
    Fill fill = fill_of(theme, it->part.look, canvas.em());
    if (view.compact) fill.hatch = Hatch::none;  // as everywhere in small windows
    // From the end of a part down to the start of the next: the rows are one bar taken apart.
    if (it + 1 != lines.end())
      canvas.line({bar.right(), bar.bottom()}, {bar.right(), bar.bottom() + pitch - h}, joint);
    canvas.rect(bar, fill);
    const Weight weight = it == largest ? Weight::bold : Weight::regular;
    canvas.text({names_right, middle}, it->name, small_text(canvas, theme.ink2, HAlign::right));
    canvas.text({columns.value_right, middle}, it->value, small_text(canvas, theme.ink, HAlign::right, weight));
    canvas.text({columns.share_right, middle}, it->share, small_text(canvas, theme.ink2, HAlign::right, weight));
    canvas.tag_with(engine::quantity(it->part.quantity).id, 0, rect_between(area.x, y, area.right(), y + pitch),
                    [&] { return part_readout(input, 0, it->part); });
  }
  const Sizes sizes = sizes_of(input);
  if (sizes.over(total)) {
    const float at = x(sizes.capacity_gb);
    canvas.line({at, area.y + head}, {at, y}, {theme.err, theme.data_width * canvas.em() * 0.8f, {}});
  }
}

}  // namespace

void draw_single(Canvas& canvas, Rect area, const FigureInput& input, const FigureView& view) {
  const Theme& theme = input.theme;
  const Sizes sizes = sizes_of(input);
  const std::vector<Line> lines = lines_of(input);
  const std::string sum(input.texts.text("figure.memory.total"));
  float names = canvas.text_width(sum, small_text(canvas, {}, HAlign::left, Weight::bold));
  for (const Line& l : lines)
    names = std::max(names, canvas.text_width(l.name, small_text(canvas, {}, HAlign::left)));

  Rect rest = area;
  rest.cut_left(std::min(names + canvas.px(kGap), area.w / 2));
  const float names_right = rest.x - canvas.px(kGap);
  const Rect header = rest.cut_top(canvas.px(kHeader));
  const float label =
      canvas.text_width(bytes_text(sizes.most_gb * kGb), small_text(canvas, {}, HAlign::left, Weight::bold));
  const double end = axis_end(canvas, input, rest.w, label);

  Frame frame;
  frame.x = gb_axis(input, Scale(ScaleKind::linear, 0, end, 0, 1), rest.w, canvas);
  frame.y.grid = frame.y.line = false;
  const float below = rest.bottom() - plot_rect(canvas, rest, frame).bottom();  // axis labels and title
  // Where height is short the bar, the lens and the heading shrink before a part loses its row.
  const float measured = measured_height(canvas, input);
  const float line = small_line(canvas), rows = line * kLeastRow * static_cast<float>(lines.size());
  float bar_height = std::clamp(area.h * kBarShare, canvas.px(kLeastBar), canvas.px(kMostBar));
  float lens_height = canvas.px(kLens), head = line * kHeadRow;
  const float frame_height = canvas.px(8) + below + measured;
  if (frame_height + bar_height + lens_height + head + rows > rest.h) {
    bar_height = canvas.px(kLeastBar);
    lens_height = canvas.px(kLeastLens);
    if (frame_height + bar_height + lens_height + head + rows > rest.h) head = 0;
  }
  const Rect plot{rest.x, rest.y, rest.w, bar_height + canvas.px(8) + measured};
  const Scale x(ScaleKind::linear, 0, end, plot.x, plot.right());
  const Rect bar{plot.x, plot.y + canvas.px(2), plot.w, bar_height};
  rest.cut_top(plot.h + below + lens_height);

  if (!lines.empty() && rest.h > head + line * kLeastRow) {
    // Shows that the rows below are this bar, enlarged.
    const Columns columns = columns_of(canvas, input, lines, rest.right());
    const double total = total_gb(input.report.stages.front());
    // Below the numbers of the axis, down to those of the rows' own scale.
    const Stroke lens{theme.ink3, theme.grid_width * canvas.em(), {}};
    canvas.line({bar.x, rest.y - lens_height}, {bar.x, rest.y}, lens);
    canvas.line({x(total), rest.y - lens_height}, {columns.bars_right, rest.y}, lens);
    draw_breakdown(canvas, input, view, rest, names_right, head, lines);
  }
  draw_frame(canvas, theme, plot, x, Scale(ScaleKind::linear, 0, 1, plot.bottom(), plot.y), frame);
  canvas.text({names_right, bar.centre().y}, sum, small_text(canvas, theme.ink, HAlign::right, Weight::bold));
  draw_stack(canvas, input, bar, x, 0, !view.compact);
  draw_measured_bytes(canvas, input,
                      rect_between(plot.x, plot.bottom() - measured, plot.right(), plot.bottom() - canvas.px(2)), x);
  if (sizes.ghost_gb > 0) {
    const Rect ghost = rect_between(bar.x, bar.y - canvas.px(1), x(sizes.ghost_gb), bar.bottom() + canvas.px(1));
    const std::array<Point, 4> outline{Point{ghost.x, ghost.y},
                                       {ghost.right(), ghost.y},
                                       {ghost.right(), ghost.bottom()},
                                       {ghost.x, ghost.bottom()}};
    draw_ghost_line(canvas, theme, outline, true);
    canvas.tag_with("memory.baseline", 0,
                    rect_between(ghost.right() - canvas.px(4), bar.y, ghost.right() + canvas.px(4), bar.bottom()),
                    [&] { return ghost_readout(input, sizes.ghost_gb); });
  }
  draw_capacity(canvas, input, x, header.centre().y, header.bottom() - canvas.px(5), plot.bottom());
  draw_sum(canvas, input, bar, x, plot);
}

}  // namespace roofscape::widgets::memory
