// A torus slice as a lattice of chips: long sides are shown with a dotted gap and named with their length, links in
// the colour of the mesh axis laid on them (of several that share a direction, row by row), the wraparound as an arc
// along each axis whose rings close.
#include <algorithm>
#include <cmath>

#include "engine/inputs/placement.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/stage_rows.h"
#include "widgets/figures/hardware/figure_topology_parts.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets::topology {
namespace {

constexpr int kShown = 4, kShownFlat = 5;           // chips along a side
constexpr float kDepthX = 0.46f, kDepthY = -0.34f;  // of one step into the picture
constexpr float kChip = 0.2f;                       // of a step
constexpr float kMostStretch = 1.7f;                // steps to the right over those down, where the page is wide
constexpr float kFarthest = 0.6f;                   // of the panel in the colour of the rearmost plane
constexpr float kNamedSides = 150;                  // width and height from which sides are named
constexpr float kSwatch = 11;
constexpr float kLatticeAspect = 1.4f;  // of the picture, about

struct Direction {
  int size = 1;  // chips
  int shown = 1;
  bool broken = false;  // a gap before the last
  bool closes = false;
  std::vector<const AxisRow*> axes;  // that span it
};

std::array<Direction, 3> directions_of(const FigureInput& input, const std::vector<AxisRow>& rows,
                                       const engine::MeshLinks& mesh) {
  std::array<Direction, 3> out;
  const auto& slice = input.scenario.cluster.slice;
  const int most = mesh.torus_dims <= 2 ? kShownFlat : kShown;
  for (std::size_t i = 0; i < 3; ++i) {
    out[i].size = slice[i];
    out[i].shown = std::min(slice[i], most);
    out[i].broken = slice[i] > most;
    out[i].closes = mesh.closes[i];
    for (const AxisRow& row : rows)
      if (row.placement->tier == engine::LinkTier::ici &&
          (static_cast<unsigned>(mesh.group(row.placement->axis).on) >> i & 1u) != 0)
        out[i].axes.push_back(&row);
  }
  return out;
}

struct Lattice {
  Point origin;
  std::array<Point, 3> step;
  float chip = 0;
  Point at(int i, int j, int k) const {
    return origin + step[0] * static_cast<float>(i) + step[1] * static_cast<float>(j) +
           step[2] * static_cast<float>(k);
  }
};

Lattice fit(const Rect& room, const std::array<Direction, 3>& d) {
  const auto reach = [&](std::size_t i) { return static_cast<float>(d[i].shown - 1); };
  const float wide = reach(0) + kDepthX * reach(2) + 1.3f, high = reach(1) - kDepthY * reach(2) + 1.3f;
  const float unit = std::min(room.w / wide, room.h / high), across = std::min(room.w / wide, kMostStretch * unit);
  Lattice l;
  l.step = {Point{across, 0}, Point{0, unit}, Point{across * kDepthX, unit * kDepthY}};
  l.chip = unit * kChip;
  const float used_w = (reach(0) + kDepthX * reach(2)) * across, used_h = (reach(1) - kDepthY * reach(2)) * unit;
  l.origin = {room.x + (room.w - used_w) / 2, room.y + (room.h - used_h) / 2 - kDepthY * reach(2) * unit};
  return l;
}

float depth_share(int k, int shown) {
  return shown > 1 ? static_cast<float>(k) / static_cast<float>(shown - 1) : 0.0f;
}

Colour link_colour(const Theme& theme, const Direction& d, int line) {
  if (d.axes.empty()) return theme.axis;
  return line_of(theme, d.axes[static_cast<std::size_t>(line) % d.axes.size()]->look);
}

// From the last chip of an outer line around to the first.
void draw_wrap(Canvas& canvas, Point first, Point last, Point out, Colour colour, float width) {
  constexpr int kPieces = 64;
  std::vector<Point> arc;
  for (int i = 0; i <= kPieces; ++i) {
    const float t = static_cast<float>(i) / kPieces, bow = std::sin(t * 3.14159265f);
    const float over = 0.12f * std::cos(t * 3.14159265f);  // leaves along the line, as the cable does
    arc.push_back(first + (last - first) * (t - over * bow) + out * bow);
  }
  canvas.polyline(arc, {colour, width, {}});
}

// "x 16": a side and how long it is.
std::string side_text(const Direction& d, std::size_t which) {
  return std::string(engine::kTorusAxesIds[std::size_t{1} << which]) + " " + format_count(d.size);
}

// Beside each side that has links, beyond its arc.
void draw_sides(Canvas& canvas, const Theme& theme, const Lattice& l, const std::array<Direction, 3>& d, float bow) {
  const float off = l.chip / 2 + kSmallText * canvas.em() * 0.7f;
  const auto side = [&](std::size_t which, Point middle, Point out, float arc, HAlign align) {
    if (d[which].shown < 2) return;
    const float far = off + (d[which].closes ? arc : 0);
    canvas.text(middle + out * far, side_text(d[which], which), small_text(canvas, theme.ink2, align));
  };
  const int right = d[0].shown - 1, low = d[1].shown - 1, deep = d[2].shown - 1;
  const auto between = [](Point a, Point b) { return (a + b) * 0.5f; };
  side(0, between(l.at(0, low, 0), l.at(right, low, 0)), {0, 1}, bow, HAlign::centre);
  side(1, between(l.at(0, 0, 0), l.at(0, low, 0)), {-1, 0}, bow, HAlign::right);
  side(2, between(l.at(right, low, 0), l.at(right, low, deep)), {0.8f, 0.4f}, bow, HAlign::left);
}

void draw_lattice(Canvas& canvas, const Rect& room, const FigureInput& input, const std::array<Direction, 3>& d) {
  const Theme& theme = input.theme;
  const TextStyle small = small_text(canvas, theme.ink2, HAlign::left);
  const bool named = room.w > canvas.px(kNamedSides) && room.h > canvas.px(kNamedSides);
  Rect inner = room;
  if (named) {
    inner.cut_left(canvas.text_width(side_text(d[1], 1), small));
    inner.cut_right(canvas.text_width(side_text(d[2], 2), small));
    inner.cut_bottom(small_line(canvas));
  }
  const Lattice l = fit(inner, d);
  const float width = std::max(canvas.px(1.2f), std::min(theme.data_width * canvas.em(), l.chip * 0.3f));
  const Dash dots{width * 1.2f, width * 2.2f};
  const float bow = std::min(l.step[0].x, l.step[1].y) * 0.42f;
  if (named) draw_sides(canvas, theme, l, d, bow);
  const int right = d[0].shown - 1, low = d[1].shown - 1, deep = d[2].shown - 1;
  if (right > 0 && d[0].closes)
    draw_wrap(canvas, l.at(0, low, 0), l.at(right, low, 0), {0, bow}, link_colour(theme, d[0], low), width);
  if (low > 0 && d[1].closes)
    draw_wrap(canvas, l.at(0, 0, 0), l.at(0, low, 0), {-bow, 0}, link_colour(theme, d[1], 0), width);
  if (deep > 0 && d[2].closes)
    draw_wrap(canvas, l.at(right, low, 0), l.at(right, low, deep), {bow * 0.8f, bow * 0.4f},
              link_colour(theme, d[2], right + low), width);
  // Back to front, so that near chips cover far links; the ends of arcs lie under all of them.
  const auto far = [&](Colour c, int k) { return mix(c, theme.panel, kFarthest * depth_share(k, d[2].shown)); };
  for (int k = d[2].shown - 1; k >= 0; --k) {
    for (int j = 0; j < d[1].shown; ++j)
      for (int i = 0; i < d[0].shown; ++i) {
        const auto link = [&](std::size_t which, int index, Point to, int line) {
          if (index + 1 >= d[which].shown) return;
          const bool gap = d[which].broken && index + 2 == d[which].shown;
          canvas.line(l.at(i, j, k), to, {far(link_colour(theme, d[which], line), k), width, gap ? dots : Dash{}});
        };
        link(0, i, l.at(i + 1, j, k), j + k);
        link(1, j, l.at(i, j + 1, k), i + k);
        // To the viewer: it begins under its own chip and ends under the near one.
        if (k > 0)
          canvas.line(
              l.at(i, j, k), l.at(i, j, k - 1),
              {far(link_colour(theme, d[2], i + j), k), width, d[2].broken && k + 1 == d[2].shown ? dots : Dash{}});
      }
    for (int j = 0; j < d[1].shown; ++j)
      for (int i = 0; i < d[0].shown; ++i) {
        const Point p = l.at(i, j, k);
        canvas.rect({p.x - l.chip / 2, p.y - l.chip / 2, l.chip, l.chip},
                    {.colour = theme.panel, .edge = far(theme.ink2, k), .edge_width = std::max(1.0f, width * 0.6f)});
      }
  }
}

}  // namespace

void draw_torus(Canvas& canvas, const Rect& area, const FigureInput& input, const std::vector<AxisRow>& rows) {
  const Theme& theme = input.theme;
  const engine::MeshLinks mesh =
      engine::place_mesh(input.scenario.cluster, input.scenario.parallelism, input.scenario.placement);
  const auto directions = directions_of(input, rows, mesh);
  const float line = kSmallText * canvas.em() * FontStack::kLineHeight, gap = canvas.px(kColumnGap);
  const TextStyle name = small_text(canvas, theme.ink, HAlign::left, Weight::bold),
                  words = small_text(canvas, theme.ink2, HAlign::left);
  const TextStyle rate = small_text(canvas, theme.ink, HAlign::right),
                  faint = small_text(canvas, theme.ink3, HAlign::left);

  // What is said of the slice, under the table.
  std::string sides;
  for (int i = 0; i < std::clamp(mesh.torus_dims, 1, 3); ++i) {
    if (!sides.empty()) sides += " \u00d7 ";
    sides += format_count(input.scenario.cluster.slice[static_cast<std::size_t>(i)]);
  }
  std::string closing;
  for (std::size_t i = 0; i < 3; ++i)
    if (mesh.closes[i] && !mesh.wrapped) closing += engine::kTorusAxesIds[std::size_t{1} << i];
  std::string note =
      !closing.empty() ? input.texts.format("figure.topology.slice.partly", {sides, closing})
                       : input.texts.format(
                             mesh.wrapped ? "figure.topology.slice.wrapped" : "figure.topology.slice.open", {sides});
  const int slices = input.scenario.cluster.slices;
  const int used = engine::slices_used(input.scenario.cluster, input.scenario.parallelism);
  if (used < slices)
    note = input.texts.format("figure.topology.slices.used", {format_count(used), format_count(slices), note});
  else if (slices > 1)
    note = input.texts.format("figure.topology.slices", {format_count(slices), note});

  // Which chips a group takes of a slice of unequal sides is not decided by the mesh: what depends on it says so.
  std::string even;
  for (const AxisRow& row : rows) {
    const engine::AxisPlacement& p = *row.placement;
    if (p.tier != engine::LinkTier::ici || p.torus_axes < 2) continue;
    const int ranks = std::max(p.group, p.degree);
    bool whole = true;  // of a slice that is as long every way: so it is
    for (std::size_t i = 0; i < 3; ++i)
      if ((static_cast<unsigned>(mesh.group(p.axis).on) >> i & 1u) != 0)
        whole = whole && std::abs(std::pow(input.scenario.cluster.slice[i], p.torus_axes) - ranks) < 0.5;
    if (whole) continue;
    const std::string side = format_significant(std::pow(ranks, 1.0 / p.torus_axes));
    if (!even.empty()) even += input.texts.text("figure.list_separator");
    even += row.name + ": " + side;
    for (int i = 1; i < p.torus_axes; ++i) even += " \u00d7 " + side;
  }
  if (!even.empty()) even = input.texts.format("figure.topology.even_sides", {even});

  float names = 0, links_width = 0, rates = 0;
  for (const AxisRow& row : rows) {
    names = std::max(names, canvas.text_width(row.name, name));
    links_width = std::max(links_width, canvas.text_width(row.links, words));
    rates = std::max(rates, canvas.text_width(row.rate, rate));
  }
  const float table = canvas.px(kSwatch + 8) + names + links_width + rates + 2 * gap + canvas.px(1);
  const float needed = line * (static_cast<float>(rows.size()) + (even.empty() ? 2.6f : 4.6f));
  // Beside the table where the picture is not smaller there than over it.
  const float over = std::min(area.w, (area.h - std::min(needed, area.h * 0.55f)) * kLatticeAspect),
              aside = std::min(area.w - table - 2 * gap, area.h * kLatticeAspect);
  const bool beside = aside >= over && area.w > area.h * 0.9f;
  Rect picture = area, list = area;
  if (beside) {
    picture.w = std::min(area.w - table - gap * 2, area.h * 2.4f);
    // Small pictures in wide figures: both stand together.
    const float both = picture.w + gap * 2 + table, shift = std::max(0.0f, (area.w - both) / 2);
    picture.x += shift;
    list = {picture.right() + gap * 2, area.y + std::max(0.0f, (area.h - needed) / 2),
            std::min(table * 1.15f, area.right() - picture.right() - gap * 2), std::min(needed, area.h)};
  } else {
    const float height = std::min(needed, area.h * 0.55f);
    picture.h = area.h - height - canvas.px(4);
    list.y = area.bottom() - height;
    list.h = height;
  }
  if (picture.w > canvas.px(60) && picture.h > canvas.px(50))
    draw_lattice(canvas, picture.inset(canvas.px(6)), input, directions);

  const float right = list.right();
  Rect below = list;
  for (const AxisRow& row : rows) {
    if (below.h < line * 1.5f) break;
    const Rect strip = below.cut_top(line);
    const float middle = strip.centre().y, side = canvas.px(kSwatch);
    canvas.rect({strip.x, middle - side / 2, side, side}, fill_of(theme, row.look, canvas.em()));
    const float left = strip.x + side + canvas.px(8), end = right - canvas.text_width(row.rate, rate) - gap;
    const std::string shown = ellipsize(canvas, row.name, name, end - left);
    canvas.text({left, middle}, shown, name);
    const float next = left + names + gap;
    const std::string links = ellipsize(canvas, row.links, words, end - next);
    if (end > next && !links.empty()) canvas.text({next, middle}, links, words);
    canvas.text({right, middle}, row.rate, rate);
    canvas.tag_with(tag_of(row), -1, strip, [&] { return readout_of(input, row); });
  }
  below.cut_top(line * 0.4f);
  const int lines = static_cast<int>(below.h / line);
  if (lines <= 0) return;
  for (const std::string* part : {&note, &even})
    if (!part->empty() && below.h >= line)
      for (const std::string& text :
           wrap(canvas, *part, faint, below.w, std::min(static_cast<int>(below.h / line), 2)))
        canvas.text({below.x, below.cut_top(line).centre().y}, text, faint);
}

}  // namespace roofscape::widgets::topology
