// Switched chips: the nodes that the first rank has to do with, each with its chips and the switch between them, under
// the switches of the fabric. Chips that share a group with the first one have the colour of that mesh axis, and so has
// the way to them. Ranks lie on the nodes in a fixed order: an axis reaches from its stride (ranks between two
// neighbours of a group) to stride x degree.
#include <algorithm>
#include <cmath>

#include "engine/hardware/memory_ladder.h"
#include "engine/inputs/placement.h"
#include "engine/scenario/mesh_size.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/stage_rows.h"
#include "widgets/figures/hardware/figure_topology_parts.h"
#include "widgets/plot/plot.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::widgets::topology {
namespace {

constexpr std::size_t kMostNodes = 4;
constexpr float kNodeGap = 12, kBrokenGap = 30;  // between nodes; where some are left out
constexpr float kMostNode = 300;                 // width
constexpr float kNodePad = 7, kMostChip = 46, kChipGap = 4;
constexpr float kMostChipAlone = 120,
                kGapAlone = 0.5f;    // of the chips of a node that stands alone; of a chip, between
constexpr float kSwitchRoom = 1.5f;  // of a line of text: a switch and its name
constexpr float kLane = 5;           // between the ways of two axes in one switch
constexpr float kRise = 12;          // between a node and the switch over it
constexpr float kMostTable = 0.5f;
constexpr float kShade = 0.1f;  // of ink: switches

// A switch level of the fabric: whom it reaches and how fast a chip gets there.
struct Level {
  std::string name, rate;
  double chips = 1;
};

struct Fabric {
  std::string node_rate;
  std::vector<Level> levels;  // from near to far
};

Fabric fabric_of(const FigureInput& input) {
  Fabric out;
  for (const engine::MemoryRung& rung : engine::memory_ladder(input.scenario.cluster)) {
    const std::string rate =
        rung.bytes_per_s ? format(*rung.bytes_per_s, engine::unit::bytes_per_s, {.trim_zeros = true}) : std::string();
    if (rung.memory == engine::Memory::node) out.node_rate = rate;
    if (rung.memory != engine::Memory::fabric) continue;
    out.levels.push_back({rung.level.empty() ? std::string(input.texts.text("figure.topology.band.fabric"))
                                             : source_text(input.texts, rung.level),
                          rate, rung.chips});
  }
  return out;
}

// An axis with its ranks: those of the first rank's group stand `stride` apart.
struct Reach {
  const AxisRow* row = nullptr;
  std::int64_t stride = 1;
  std::int64_t degree = 1;
  bool has(std::int64_t rank) const { return rank > 0 && rank % stride == 0 && rank / stride < degree; }
};

struct Picture {
  std::int64_t node_size = 1;
  int columns = 1, lines = 1;  // of the chips of a node
  std::vector<std::int64_t> nodes;
  std::vector<Reach> reaches;  // the nearest ranks first
  Fabric fabric;
  // The axis by which a rank is in the first one's group.
  const Reach* reach_of(std::int64_t rank) const {
    for (const Reach& r : reaches)
      if (r.has(rank)) return &r;
    return nullptr;
  }
  bool leaves_node(const Reach& r) const { return r.stride * (r.degree - 1) >= node_size; }
  // The first rank of the group that is in another node.
  std::int64_t next_outside(const Reach& r) const { return (node_size + r.stride - 1) / r.stride * r.stride; }
  // The lowest level that both nodes hang on.
  std::size_t level_between(std::int64_t a, std::int64_t b) const {
    for (std::size_t k = 0; k < fabric.levels.size(); ++k)
      if (group_at(k, a) == group_at(k, b)) return k;
    return fabric.levels.empty() ? 0 : fabric.levels.size() - 1;
  }
  std::int64_t group_at(std::size_t level, std::int64_t node) const {
    return node * node_size / std::max<std::int64_t>(1, static_cast<std::int64_t>(fabric.levels[level].chips));
  }
};

Picture picture_of(const FigureInput& input, const std::vector<AxisRow>& rows) {
  Picture p;
  p.node_size = std::max(1, input.scenario.cluster.node_size);
  const auto size = static_cast<int>(p.node_size);
  p.columns = size <= 2   ? size
              : size <= 8 ? (size + 1) / 2
                          : static_cast<int>(std::ceil(std::sqrt(2.0 * static_cast<double>(size))));
  p.lines = static_cast<int>((p.node_size + p.columns - 1) / p.columns);
  p.fabric = fabric_of(input);
  const engine::MeshLinks mesh = engine::place_mesh(input.scenario.cluster, input.scenario.parallelism,
                                                    engine::resolved_placement(input.scenario));
  for (const AxisRow& row : rows) {
    const engine::AxisLinks& links = mesh[row.placement->axis];
    p.reaches.push_back({&row, std::max<std::int64_t>(1, links.stride), links.degree});
  }
  p.nodes = {0};
  // The nodes of the neighbours the axes have outside, the nearest first.
  std::vector<std::int64_t> wanted;
  for (const Reach& r : p.reaches)
    if (p.leaves_node(r)) wanted.push_back(p.next_outside(r) / p.node_size);
  std::sort(wanted.begin(), wanted.end());
  for (const std::int64_t node : wanted)
    if (p.nodes.size() < kMostNodes && node != p.nodes.back()) p.nodes.push_back(node);
  return p;
}

// Where all stands.
struct Places {
  std::vector<Rect> nodes;                // by Picture::nodes
  std::vector<std::vector<Rect>> chips;   // of each, the first of it first
  std::vector<Rect> switches;             // of the chips of each node; empty: there is none
  std::vector<std::vector<Rect>> levels;  // of each level its switches, by node; equal where nodes share one
};

Places lay_out(const Canvas& canvas, const Rect& room, const Picture& p) {
  Places out;
  const float line = small_line(canvas),
              box = line * kSwitchRoom + canvas.px(kLane) * static_cast<float>(p.reaches.size());
  const auto n = static_cast<float>(p.nodes.size());
  float gaps = 0;
  for (std::size_t i = 1; i < p.nodes.size(); ++i)
    gaps += canvas.px(p.nodes[i] > p.nodes[i - 1] + 1 ? kBrokenGap : kNodeGap);
  const float above = p.nodes.size() > 1 ? static_cast<float>(p.fabric.levels.size()) * (box + canvas.px(kRise)) : 0;
  const float caption = p.nodes.size() > 1 ? line : 0;
  // A node that stands alone has the page.
  const bool alone = p.nodes.size() == 1;
  const float pad = canvas.px(alone ? 2 * kNodePad : kNodePad);
  const bool joined = p.node_size > 1;
  const float bar = joined ? line * (alone ? 2 : 1.25f) : 0, bars = joined ? bar + 2 * pad : 0;
  const float gap = canvas.px(kChipGap);
  float width = alone ? room.w : std::min((room.w - gaps) / n, canvas.px(kMostNode));
  const auto columns = static_cast<float>(p.columns), lines = static_cast<float>(p.lines);
  const float chip =
      std::min({(width - 2 * pad - gap * (columns - 1)) / columns, canvas.px(alone ? kMostChipAlone : kMostChip),
                (room.h - above - caption - 2 * pad - bars - gap * (lines - 1)) / lines});
  if (chip < canvas.px(3)) return out;
  float between = gap;  // chips of a line
  if (alone && columns > 1) {
    between = confined((width - 2 * pad - chip * columns) / (columns - 1), gap, chip * kGapAlone);
    width = chip * columns + between * (columns - 1) + 2 * pad;
  }
  const float height = chip * lines + gap * (lines - 1) + 2 * pad + bars;
  const float used = width * n + gaps;
  float x = room.x + (room.w - used) / 2;
  const float top = room.y + above + std::max(0.0f, room.h - above - caption - height) / 2;
  const int upper = (p.lines + 1) / 2;  // lines of chips over the switch
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    if (i > 0) x += canvas.px(p.nodes[i] > p.nodes[i - 1] + 1 ? kBrokenGap : kNodeGap);
    const Rect node{x, top, width, height};
    out.nodes.push_back(node);
    const float across = chip * columns + between * (columns - 1), left = node.centre().x - across / 2;
    std::vector<Rect>& chips = out.chips.emplace_back();
    for (std::int64_t k = 0; k < p.node_size; ++k) {
      const int row = static_cast<int>(k) / p.columns, column = static_cast<int>(k) % p.columns;
      chips.push_back({left + static_cast<float>(column) * (chip + between),
                       top + pad + static_cast<float>(row) * (chip + gap) + (row >= upper ? bars - gap : 0), chip,
                       chip});
    }
    out.switches.push_back(
        joined ? Rect{left, top + pad + static_cast<float>(upper) * (chip + gap) - gap + pad, across, bar} : Rect{});
    x += width;
  }
  if (p.nodes.size() < 2) return out;
  float bottom = top - canvas.px(kRise);
  for (std::size_t k = 0; k < p.fabric.levels.size(); ++k, bottom -= box + canvas.px(kRise)) {
    std::vector<Rect>& boxes = out.levels.emplace_back();
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      std::size_t first = i, last = i;
      while (first > 0 && p.group_at(k, p.nodes[first - 1]) == p.group_at(k, p.nodes[i])) --first;
      while (last + 1 < p.nodes.size() && p.group_at(k, p.nodes[last + 1]) == p.group_at(k, p.nodes[i])) ++last;
      boxes.push_back(rect_between(out.nodes[first].x, bottom - box, out.nodes[last].right(), bottom));
    }
  }
  return out;
}

void draw_level(Canvas& canvas, const FigureInput& input, const Level& level, const Rect& box, bool named) {
  const Theme& theme = input.theme;
  canvas.rect(box, {.colour = mix(theme.panel, theme.ink, kShade)}, canvas.px(2));
  if (!named) return;
  const TextStyle bold = small_text(canvas, theme.ink2, HAlign::left, Weight::bold),
                  plain = small_text(canvas, theme.ink2, HAlign::left);
  const float pad = canvas.px(6), y = box.y + small_line(canvas) * 0.75f, room = box.w - 2 * pad;
  const std::string name = ellipsize(canvas, level.name, bold, room);
  canvas.text({box.x + pad, y}, name, bold);
  const std::string rate =
      input.texts.format(chip_key(input, "figure.topology.level"), {level.rate, format_count(level.chips)});
  const float used = canvas.text_width(name, bold) + canvas.px(8);
  for (const std::string& words : {level.rate.empty() ? std::string() : rate, level.rate})
    if (!words.empty() && used + canvas.text_width(words, plain) <= room) {
      canvas.text({box.x + pad + used, y}, words, plain);
      break;
    }
}

void draw_node(Canvas& canvas, const FigureInput& input, const Picture& p, const Places& l, std::size_t i) {
  const Theme& theme = input.theme;
  const Rect& node = l.nodes[i];
  canvas.frame(node, {theme.edge, theme.axis_width * canvas.em(), {}}, canvas.px(3));
  const Stroke thin{theme.ink3, theme.axis_width * canvas.em(), {}};
  const Rect& bar = l.switches[i];
  const TextStyle plain = small_text(canvas, theme.ink2, HAlign::centre);
  for (std::size_t k = 0; k < l.chips[i].size(); ++k) {
    const Rect& chip = l.chips[i][k];
    const std::int64_t rank = p.nodes[i] * p.node_size + static_cast<std::int64_t>(k);
    const Reach* reach = p.reach_of(rank);
    // Its link to the node's switch; that of a group inside the node in the colour of its axis. Only the lines of
    // chips beside the switch have one to see.
    const auto row = static_cast<int>(k) / p.columns;
    const bool above = chip.bottom() <= bar.y,
               beside = above ? row + 1 == (p.lines + 1) / 2 : row == (p.lines + 1) / 2;
    if (!bar.empty() && beside) {
      // The first chip is in all groups; inside its node in that of the nearest ranks.
      const Reach* over = rank == 0 && !p.reaches.empty() && p.reaches.front().stride < p.node_size
                              ? &p.reaches.front()
                          : rank < p.node_size ? reach
                                               : nullptr;
      const Stroke link =
          over != nullptr ? Stroke{line_of(theme, over->row->look), theme.data_width * canvas.em(), {}} : thin;
      const float from = above ? chip.bottom() : chip.y, to = above ? bar.y : bar.bottom();
      canvas.line({chip.centre().x, from}, {chip.centre().x, to}, link);
    }
    Fill fill{.colour = theme.panel, .edge = theme.edge, .edge_width = theme.axis_width * canvas.em()};
    if (rank == 0)
      fill = {.colour = theme.ink};
    else if (reach != nullptr)
      fill = fill_of(theme, reach->row->look, canvas.em());
    canvas.rect(chip, fill);
    const std::string number = format_count(static_cast<double>(rank));
    const bool named = rank == 0 || reach != nullptr;
    TextStyle style = small_text(canvas, named ? text_on(fill.colour) : theme.ink3, HAlign::centre,
                                 rank == 0 ? Weight::bold : Weight::regular);
    if (fill.hatch != Hatch::none) style.halo = fill.colour;
    if (canvas.text_width(number, style) + canvas.px(2) <= chip.w && small_line(canvas) * 0.8f <= chip.h)
      canvas.text(chip.centre(), number, style);
  }
  if (!bar.empty()) {
    canvas.rect(bar, {.colour = mix(theme.panel, theme.ink, kShade)}, canvas.px(2));
    const std::string words = input.texts.format("figure.topology.node_links", {p.fabric.node_rate});
    for (const std::string& text : {p.fabric.node_rate.empty() ? std::string() : words, p.fabric.node_rate})
      if (!text.empty() && canvas.text_width(text, plain) + canvas.px(4) <= bar.w) {
        canvas.text(bar.centre(), text, plain);
        break;
      }
  }
  if (p.nodes.size() < 2) return;
  canvas.text({node.centre().x, node.bottom() + small_line(canvas) * 0.6f},
              input.texts.format("figure.topology.node", {format_count(static_cast<double>(p.nodes[i]))}), plain);
  if (i > 0 && p.nodes[i] > p.nodes[i - 1] + 1)
    canvas.text({(l.nodes[i - 1].right() + node.x) / 2, node.centre().y}, "\u2026",
                small_text(canvas, theme.ink2, HAlign::centre, Weight::bold));
}

// Links of nodes and switches, then the ways of the axes that leave the node on top of them.
void draw_ways(Canvas& canvas, const FigureInput& input, const Picture& p, const Places& l) {
  const Theme& theme = input.theme;
  if (l.levels.empty()) return;
  const Stroke thin{theme.ink3, theme.axis_width * canvas.em(), {}};
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const float x = l.nodes[i].centre().x;
    canvas.line({x, l.nodes[i].y}, {x, l.levels[0][i].bottom()}, thin);
    for (std::size_t k = 1; k < l.levels.size(); ++k)
      canvas.line({l.levels[k - 1][i].centre().x, l.levels[k - 1][i].y},
                  {l.levels[k - 1][i].centre().x, l.levels[k][i].bottom()}, thin);
  }
  const auto count = static_cast<float>(p.reaches.size());
  for (std::size_t a = 0; a < p.reaches.size(); ++a) {
    const Reach& r = p.reaches[a];
    if (!p.leaves_node(r)) continue;
    const std::int64_t rank = p.next_outside(r), node = rank / p.node_size;
    const auto at = std::find(p.nodes.begin(), p.nodes.end(), node);
    if (at == p.nodes.end()) continue;
    const auto to = static_cast<std::size_t>(at - p.nodes.begin());
    const Rect &from_chip = l.chips[0][0], &to_chip = l.chips[to][static_cast<std::size_t>(rank % p.node_size)];
    const std::size_t level = p.level_between(0, node);
    const float share = (static_cast<float>(a) + 1) / (count + 1);
    const float lane = l.levels[level][0].bottom() - canvas.px(kLane) * (static_cast<float>(a) + 0.7f);
    const float from_x = from_chip.x + from_chip.w * share, to_x = to_chip.x + to_chip.w * share;
    canvas.polyline({{from_x, from_chip.y}, {from_x, lane}, {to_x, lane}, {to_x, to_chip.y}},
                    {line_of(theme, r.row->look), theme.data_width * canvas.em(), {}});
  }
}

// Every axis with its look, its links and its bandwidth, a line each. Returns what it needs of height.
float draw_axis_table(Canvas& canvas, const FigureInput& input, const Rect& area, const std::vector<AxisRow>& rows,
                      bool draw) {
  const Theme& theme = input.theme;
  const float line = small_line(canvas) * 1.12f, side = canvas.px(11), gap = canvas.px(kColumnGap);
  const TextStyle name = small_text(canvas, theme.ink, HAlign::left, Weight::bold),
                  words = small_text(canvas, theme.ink2, HAlign::left),
                  rate = small_text(canvas, theme.ink, HAlign::right);
  float names = 0, links = 0, rates = 0;
  for (const AxisRow& row : rows) {
    names = std::max(names, canvas.text_width(row.name, name));
    links = std::max(links, canvas.text_width(row.links, words));
    rates = std::max(rates, canvas.text_width(row.rate, rate));
  }
  const float width = std::min(area.w, side + canvas.px(8) + names + links + rates + 2 * gap);
  const auto count = static_cast<std::size_t>(confined(area.h / line, 0.0f, static_cast<float>(rows.size())));
  if (!draw) return line * static_cast<float>(rows.size());
  for (std::size_t i = 0; i < count; ++i) {
    const AxisRow& row = rows[i];
    const Rect strip{area.x, area.y + line * static_cast<float>(i), width, line};
    const float y = strip.centre().y, left = strip.x + side + canvas.px(8);
    canvas.rect({strip.x, y - side / 2, side, side}, fill_of(theme, row.look, canvas.em()));
    const float end = strip.right() - canvas.text_width(row.rate, rate) - gap;
    canvas.text({left, y}, ellipsize(canvas, row.name, name, end - left), name);
    const std::string said = ellipsize(canvas, row.links, words, end - left - names - gap + canvas.px(0.5f));
    if (!said.empty()) canvas.text({left + names + gap, y}, said, words);
    canvas.text({strip.right(), y}, row.rate, rate);
    canvas.tag_with(tag_of(row), -1, strip, [&] { return readout_of(input, row); });
  }
  return line * static_cast<float>(count);
}

}  // namespace

void draw_switched(Canvas& canvas, const Rect& area, const FigureInput& input, const std::vector<AxisRow>& rows) {
  const Theme& theme = input.theme;
  const Picture p = picture_of(input, rows);
  Rect rest = area;
  const float line = small_line(canvas), gap = canvas.px(8);
  const float table = std::min(draw_axis_table(canvas, input, rest, rows, false), rest.h * kMostTable);
  const bool gathers = std::any_of(rows.begin(), rows.end(), [](const AxisRow& row) {
    return row.placement->axis != engine::Axis::pipeline && row.placement->bandwidth_bytes_per_s > 0;
  });
  // A rate above that of a link needs a word.
  if (gathers && rest.h - table > line * 12) {
    const TextStyle note = small_text(canvas, theme.ink3, HAlign::left);
    const float width = std::min(area.w, canvas.clip_rect().right() - area.x - canvas.px(4));
    const auto text = wrap(canvas, input.texts.text("figure.topology.counted"), note, width, 2);
    Rect foot = rest.cut_bottom(line * static_cast<float>(text.size()));
    for (const std::string& words_of_line : text)
      canvas.text({foot.x, foot.cut_top(line).centre().y}, words_of_line, note);
    rest.cut_bottom(gap / 2);
  }
  const Rect list = rest.cut_bottom(table);
  rest.cut_bottom(gap);
  const Places places = lay_out(canvas, rest, p);
  if (!places.nodes.empty()) {
    for (std::size_t k = 0; k < places.levels.size(); ++k)
      for (std::size_t i = 0; i < places.levels[k].size(); ++i)
        if (i == 0 || !(places.levels[k][i] == places.levels[k][i - 1]))
          draw_level(canvas, input, p.fabric.levels[k], places.levels[k][i], i == 0);
    for (std::size_t i = 0; i < places.nodes.size(); ++i) draw_node(canvas, input, p, places, i);
    draw_ways(canvas, input, p, places);
  }
  draw_axis_table(canvas, input, list, rows, true);
}

}  // namespace roofscape::widgets::topology
