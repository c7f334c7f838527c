#include "widgets/figures/common/heat_grid.h"

#include <algorithm>
#include <cmath>

#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/stage_rows.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

namespace {

constexpr float kTwoLines = 2.15f;  // lines that a cell is high, from which its number has a note
constexpr float kMostCell = 200;    // a cell grows no higher than this
constexpr float kMostShape = 3.2f;  // width over height of the widest, where that is wider
constexpr float kKeyWidth = 120, kKeyHeight = 10, kKeyGap = 6;
constexpr int kKeySteps = 40;
constexpr double kLeastSpan = 0.1;     // of the best number
constexpr int kKeyRows = 3;            // under the colours
constexpr float kTwoKeyRowLines = 13;  // of a figure that has a second row for the words of the key

bool any(const HeatGrid& grid, HeatCell::Look look) {
  return std::any_of(grid.cells.begin(), grid.cells.end(), [look](const HeatCell& c) { return c.look == look; });
}

// What the numbers in the cells and the looks of the others mean, as much as `room` takes.
std::string key_words(const Canvas& canvas, const TextStyle& style, const HeatGrid& grid, float room) {
  for (const std::string* words : {&grid.key, &grid.brief_key})
    if (canvas.text_width(*words, style) <= room) return *words;
  return {};
}

// The reason in a cell of this size, line by line; empty where it does not fit as a whole.
std::vector<std::string> reason_lines(const Canvas& canvas, const TextStyle& style, const std::string& reason,
                                      const Rect& cell) {
  const float room = cell.w - canvas.px(8);
  const int most = static_cast<int>((cell.h - canvas.px(4)) / small_line(canvas));
  if (reason.empty() || most < 1 || room <= 0) return {};
  std::vector<std::string> lines = wrap(canvas, reason, style, room, most + 1);
  if (lines.size() > static_cast<std::size_t>(most)) return {};
  for (const std::string& line : lines)
    if (canvas.text_width(line, style) > room || line.ends_with("\u2026")) return {};
  return lines;
}

// Of the colours between the two ends, in a row of this width.
float key_width(const Canvas& canvas, const HeatGrid& grid, float row) {
  const TextStyle style = small_text(canvas, {}, HAlign::left);
  return std::min(canvas.px(kKeyWidth), row - canvas.text_width(grid.low, style) -
                                            canvas.text_width(grid.high, style) - 2 * canvas.px(kKeyGap));
}
// Where the words begin beside the key, from its left edge.
float words_at(const Canvas& canvas, const HeatGrid& grid, float row) {
  const TextStyle style = small_text(canvas, {}, HAlign::left);
  return key_width(canvas, grid, row) + canvas.text_width(grid.low, style) + canvas.text_width(grid.high, style) +
         2 * canvas.px(kKeyGap) + canvas.px(14);
}

// The colour key with its ends, from the left edge on; its words beside it, or under it in the row `below`.
void draw_key(Canvas& canvas, const FigureInput& input, const Rect& row, const Rect& below, const HeatGrid& grid) {
  const Theme& theme = input.theme;
  const TextStyle style = small_text(canvas, theme.ink2, HAlign::left);
  const float gap = canvas.px(kKeyGap), width = key_width(canvas, grid, row.w), height = canvas.px(kKeyHeight);
  if (width < canvas.px(24)) return;
  canvas.text({row.x, row.centre().y}, grid.low, style);
  const float start = row.x + canvas.text_width(grid.low, style) + gap;
  for (int i = 0; i < kKeySteps; ++i) {
    const float from = start + width * static_cast<float>(i) / kKeySteps;
    canvas.rect({from, row.centre().y - height / 2, width / kKeySteps + canvas.px(0.3f), height},
                Fill{.colour = viridis((i + 0.5) / kKeySteps)});
  }
  canvas.text({start + width + gap, row.centre().y}, grid.high, style);
  const TextStyle faint = small_text(canvas, theme.ink3, HAlign::left);
  const float after = words_at(canvas, grid, row.w);
  if (below.empty()) {
    const std::string words = key_words(canvas, faint, grid, row.w - after);
    if (!words.empty()) canvas.text({row.x + after, row.centre().y}, words, faint);
    return;
  }
  const float line = small_line(canvas);
  Rect rest = below.inset(0, line * 0.1f);
  for (const std::string& words : wrap(canvas, grid.key, faint, below.w, kKeyRows))
    canvas.text({rest.x, rest.cut_top(line).centre().y}, words, faint);
}

}  // namespace

void HeatCell::set_over(double bytes) {
  look = Look::hatched;
  text = format(bytes, engine::unit::bytes, {.sign = true});
  brief = format(bytes, engine::unit::bytes, {.sign = true, .significant = 2});
}

void HeatRange::add(double value) {
  low = any ? std::min(low, value) : value;
  high = any ? std::max(high, value) : value;
  any = true;
}

void HeatRange::widen(bool high_is_better) {
  if (!any) return;
  if (high_is_better)
    low = std::min(low, high * (1 - kLeastSpan));
  else
    high = std::max(high, low * (1 + kLeastSpan));
}

double HeatRange::shade(double value, ScaleKind scale, bool high_is_better) const {
  if (!(high > low)) return 0.7;
  const double share =
      scale == ScaleKind::log10 ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return high_is_better ? share : 1 - share;
}

std::string heat_key(const TextTable& texts, const std::string& quantity, std::string_view hatched, bool over,
                     bool blank, bool own, bool best) {
  std::string out = quantity;
  const auto add = [&](std::string_view key) { out += "; " + std::string(texts.text(key)); };
  if (!hatched.empty()) add(hatched);
  if (over) out += texts.text("figure.mesh-map.key.over");
  if (blank) add("figure.mesh-map.key.blank");
  if (own || best)
    add(!best ? "figure.mesh-map.key.frame" : own ? "figure.mesh-map.key.frames" : "figure.mesh-map.key.frame.best");
  return out;
}

void draw_heat_grid(Canvas& canvas, const Rect& area, const FigureInput& input, const HeatGrid& heat) {
  const Theme& theme = input.theme;
  Rect rest = area;
  const float line = small_line(canvas);
  const TextStyle title = small_text(canvas, theme.ink3, HAlign::left),
                  number = small_text(canvas, theme.ink2, HAlign::right);
  const Rect top = rest.cut_top(line * 1.3f);
  const bool coloured = any(heat, HeatCell::Look::coloured);
  const bool two_rows = coloured && area.h > kTwoKeyRowLines * line &&
                        canvas.text_width(heat.key, title) > area.w - words_at(canvas, heat, area.w);
  const std::size_t rows = two_rows ? wrap(canvas, heat.key, title, area.w, kKeyRows).size() : 0;
  const Rect below = two_rows ? rest.cut_bottom(line * (static_cast<float>(rows) + 0.2f)) : Rect{};
  const Rect key = rest.cut_bottom(line * 1.4f);
  const Rect foot = rest.cut_bottom(line * 2.3f);  // numbers, then the name of the axis
  float widest = 0;
  for (const int d : heat.y_degrees) widest = std::max(widest, canvas.text_width(format_count(d), number));
  rest.cut_left(widest + canvas.px(8));
  const std::size_t nx = heat.x_degrees.size(), ny = heat.y_degrees.size();
  const float h = std::min(rest.h / static_cast<float>(ny), canvas.px(kMostCell));
  const float w = std::min(rest.w / static_cast<float>(nx), std::max(canvas.px(kMostCell), kMostShape * h));
  if (w < canvas.px(6) || h < canvas.px(4)) return;
  const auto cell_rect = [&](std::size_t xi, std::size_t yi) {
    return Rect{rest.x + w * static_cast<float>(xi), rest.y + h * static_cast<float>(ny - 1 - yi), w, h};
  };
  const Rect grid{rest.x, rest.y, w * static_cast<float>(nx), h * static_cast<float>(ny)};

  canvas.text({top.x, top.centre().y}, ellipsize(canvas, heat.y_title, title, top.w), title);
  for (std::size_t yi = 0; yi < ny; yi += static_cast<std::size_t>(std::ceil(line / h)))
    canvas.text({rest.x - canvas.px(8), cell_rect(0, yi).centre().y}, format_count(heat.y_degrees[yi]), number);
  float free_from = 0;
  for (std::size_t xi = 0; xi < nx; ++xi) {
    const std::string text = format_count(heat.x_degrees[xi]);
    const TextStyle style = small_text(canvas, theme.ink2, HAlign::centre);
    const float middle = cell_rect(xi, 0).centre().x, half = canvas.text_width(text, style) / 2;
    if (xi > 0 && middle - half < free_from + canvas.px(3)) continue;
    canvas.text({middle, grid.bottom() + line * 0.65f}, text, style);
    free_from = middle + half;
  }
  TextStyle right = title;
  right.halign = HAlign::right;
  canvas.text({grid.right(), grid.bottom() + line * 1.65f},
              ellipsize(canvas, heat.x_title, right, grid.right() - foot.x), right);

  const float gap = canvas.px(0.8f);
  const Stroke thin{theme.line, theme.grid_width * canvas.em(), {}};
  for (std::size_t i = 0; i < heat.cells.size(); ++i) {
    const HeatCell& c = heat.cells[i];
    const Rect r = cell_rect(i % nx, i / nx).inset(gap);
    Colour ink = theme.ink2;
    if (c.look == HeatCell::Look::coloured) {
      const Fill fill{.colour = viridis(c.shade)};
      canvas.rect(r, fill);
      ink = text_on(fill.colour);
    } else {
      if (c.look == HeatCell::Look::hatched) canvas.rect(r, fill_of(theme, TimelinePart::idle, canvas.em()));
      canvas.frame(r, thin);
    }
    const TextStyle style = small_text(canvas, ink, HAlign::centre, c.own || c.best ? Weight::bold : Weight::regular);
    const auto fits = [&](const std::string& text) {
      return !text.empty() && canvas.text_width(text, style) + canvas.px(4) < r.w && line < r.h;
    };
    const std::string* text = fits(c.text) ? &c.text : fits(c.brief) ? &c.brief : nullptr;
    if (text != nullptr && c.look == HeatCell::Look::coloured) {
      const TextStyle note = small_text(canvas, ink, HAlign::centre);
      const bool both =
          !c.note.empty() && canvas.text_width(c.note, note) + canvas.px(6) < r.w && r.h > kTwoLines * line;
      const float up = both ? line * 0.5f : 0;
      canvas.text({r.centre().x, r.centre().y - up}, *text, style);
      if (both) canvas.text({r.centre().x, r.centre().y + up}, c.note, note);
    } else if (text != nullptr)
      haloed_text(canvas, theme, r.centre(), *text, style);
    if (c.look == HeatCell::Look::hatched && c.text.empty()) {
      const TextStyle quiet = small_text(canvas, theme.ink3, HAlign::centre);
      const std::vector<std::string> lines = reason_lines(canvas, quiet, c.reason, r);
      float y = r.centre().y - line * (static_cast<float>(lines.size()) - 1) / 2;
      for (const std::string& words : lines) haloed_text(canvas, theme, {r.centre().x, y}, words, quiet), y += line;
    }
    canvas.tag_with(heat.tag, static_cast<int>(i), r, [&] { return heat.readout(i); });
  }
  for (std::size_t i = 0; i < heat.cells.size(); ++i) {
    const Rect r = cell_rect(i % nx, i / nx);
    if (heat.cells[i].best && !heat.cells[i].own) {
      const Rect d = r.inset(canvas.px(2));
      canvas.frame(d, {theme.panel, canvas.px(2.4f), {}});
      canvas.polyline({{d.x, d.y}, {d.right(), d.y}, {d.right(), d.bottom()}, {d.x, d.bottom()}, {d.x, d.y}},
                      {theme.ink, canvas.px(1.4f), Dash{4, 3}.scaled(canvas.px(1))});
    }
    if (heat.cells[i].own) {
      // Ink between two lines of the panel: it is as dark or as light as cells are, on one side or the other.
      canvas.frame(r.inset(-canvas.px(1.5f)), {theme.panel, canvas.px(5), {}});
      canvas.frame(r, {theme.ink, canvas.px(2), {}});
    }
  }
  if (coloured)
    draw_key(canvas, input, key, below, heat);
  else
    canvas.text({key.x, key.centre().y}, ellipsize(canvas, heat.none, title, key.w), title);
}

}  // namespace roofscape::widgets
