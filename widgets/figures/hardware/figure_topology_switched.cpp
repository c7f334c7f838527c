// Switched chips: ranks lie on the nodes in a fixed order, so each mesh axis reaches from its stride (ranks between
// two neighbours of a group) to stride x degree. On a logarithmic axis these are bars; where a bar passes the end of
// a node or of a switch, the group has to leave it.
#include <algorithm>
#include <cmath>

#include "engine/hardware/memory_ladder.h"
#include "engine/inputs/placement.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/hardware/figure_topology_parts.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets::topology {
namespace {

constexpr float kTint = 0.05f;                                // of every second band
constexpr float kMostRow = 54, kTallRow = 130, kBar = 0.62f;  // rows of a tall figure grow, a third of it stays free
constexpr float kRowsForNote = 8;  // lines beside those of the mesh axes from which there is room for a note

// Ranks below one node or switch, and how fast a chip gets out of the band before it.
struct Band {
  std::string name, rate;
  double from = 1, to = 1;  // ranks
};

std::vector<Band> bands_of(const FigureInput& input) {
  std::vector<Band> out;
  double reached = 1;
  for (const engine::MemoryRung& rung : engine::memory_ladder(input.scenario.cluster)) {
    if (rung.memory != engine::Memory::node && rung.memory != engine::Memory::fabric) continue;
    Band band;
    const bool level = rung.memory == engine::Memory::fabric && !rung.level.empty();
    band.name =
        level ? rung.level
              : std::string(input.texts.text(rung.memory == engine::Memory::node ? "figure.topology.band.node"
                                                                                 : "figure.topology.band.fabric"));
    if (rung.bytes_per_s) band.rate = format(*rung.bytes_per_s, engine::unit::bytes_per_s, {.trim_zeros = true});
    band.from = reached;
    band.to = reached = rung.chips;
    out.push_back(std::move(band));
  }
  return out;
}

std::vector<Tick> rank_ticks(double ranks, float room) {
  std::vector<Tick> out;
  const int last = static_cast<int>(std::ceil(std::log2(ranks) - 1e-9));
  const int step = std::max(1, static_cast<int>(std::ceil(static_cast<float>(last + 1) / std::max(2.0f, room))));
  for (int power = 0; power <= last; power += step)
    out.push_back({std::exp2(power), true, format_count(std::exp2(power))});
  return out;
}

}  // namespace

void draw_switched(Canvas& canvas, const Rect& area, const FigureInput& input, const std::vector<AxisRow>& rows) {
  const Theme& theme = input.theme;
  const engine::MeshLinks mesh =
      engine::place_mesh(input.scenario.cluster, input.scenario.parallelism, input.scenario.placement);
  const auto bands = bands_of(input);
  double ranks = 2;
  for (const Band& band : bands) ranks = std::max(ranks, band.to);
  for (const AxisRow& row : rows) {
    const engine::AxisLinks& links = mesh[row.placement->axis];
    ranks = std::max(ranks, static_cast<double>(links.stride) * links.degree);
  }
  const TextStyle name = small_text(canvas, theme.ink, HAlign::right),
                  words = small_text(canvas, theme.ink2, HAlign::left);
  const TextStyle rate = small_text(canvas, theme.ink, HAlign::right),
                  faint = small_text(canvas, theme.ink3, HAlign::right);
  float names = 0, rates = canvas.text_width(input.texts.text("figure.topology.column.rate"), faint),
        links = canvas.text_width(input.texts.text("figure.topology.column.links"), faint);
  for (const AxisRow& row : rows) {
    names = std::max(names, canvas.text_width(row.name, name));
    rates = std::max(rates, canvas.text_width(row.rate, rate));
    links = std::max(links, canvas.text_width(row.links, words));
  }
  const float gap = canvas.px(kColumnGap), line = kSmallText * canvas.em() * FontStack::kLineHeight;
  const bool with_links = names + rates + links + 3 * gap < area.w * 0.6f,
             with_rates = names + rates + 2 * gap < area.w * 0.6f;
  names = std::min(names, area.w * 0.35f);

  Rect rest = area;
  const bool gathers = std::any_of(rows.begin(), rows.end(), [](const AxisRow& row) {
    return row.placement->axis != engine::Axis::pipeline && row.placement->bandwidth_bytes_per_s > 0;
  });
  // A rate above that of a link needs a word.
  if (with_rates && gathers && area.h > line * (kRowsForNote + static_cast<float>(rows.size()))) {
    const TextStyle note = small_text(canvas, theme.ink3, HAlign::left);
    const auto text = wrap(canvas, input.texts.text("figure.topology.counted"), note, area.w, 2);
    Rect foot = rest.cut_bottom(line * static_cast<float>(text.size()));
    for (const std::string& words_of_line : text)
      canvas.text({foot.x, foot.cut_top(line).centre().y}, words_of_line, note);
    rest.cut_bottom(canvas.px(4));
  }
  const Rect header = rest.cut_top(2 * line + canvas.px(4));
  rest.cut_left(names + canvas.px(8));
  const float right = rest.right();
  if (with_rates) rest.cut_right(rates + gap + (with_links ? links + gap : 0));
  Frame frame;
  frame.x.title = input.texts.text(chip_key(input, "figure.topology.x"));
  frame.x.grid = false;
  frame.x.ticks = rank_ticks(ranks, rest.w / canvas.px(52));
  frame.y.grid = frame.y.line = false;
  Rect plot = rest;
  plot.cut_bottom(rest.bottom() - plot_rect(canvas, rest, frame).bottom());
  if (!with_rates) plot.cut_right(canvas.text_width(format_count(ranks), words) / 2);
  const Scale x(ScaleKind::log2, 1, ranks, plot.x, plot.right());

  // Bands, each with its name and what a chip gets out of it.
  for (std::size_t i = 0; i < bands.size(); ++i) {
    const Band& band = bands[i];
    const float from = x(band.from), to = x(band.to);
    if (i % 2 == 0) canvas.rect(rect_between(from, plot.y, to, plot.bottom()), {.colour = faded(theme.ink, kTint)});
    canvas.line({to, header.y + line * 0.3f}, {to, plot.bottom()},
                {theme.axis, theme.axis_width * canvas.em(), {canvas.px(4), canvas.px(3)}});
    const float room = to - from - canvas.px(8);
    const TextStyle bold = small_text(canvas, theme.ink2, HAlign::left, Weight::bold);
    const auto fits = [&](const std::string& text, const TextStyle& style) {
      return !text.empty() && canvas.text_width(text, style) <= room;
    };
    if (fits(band.name, bold)) canvas.text({from + canvas.px(4), header.y + line / 2}, band.name, bold);
    if (fits(band.rate, words)) canvas.text({from + canvas.px(4), header.y + line * 1.5f}, band.rate, words);
  }
  draw_frame(canvas, theme, plot, x, Scale(ScaleKind::linear, 0, 1, plot.bottom(), plot.y), frame);
  if (with_rates)
    canvas.text({right, header.y + line * 1.5f}, input.texts.text("figure.topology.column.rate"), faint);
  if (with_links)
    canvas.text({plot.right() + gap, header.y + line * 1.5f}, input.texts.text("figure.topology.column.links"),
                small_text(canvas, theme.ink3, HAlign::left));

  const auto room = static_cast<std::size_t>(std::max(1.0f, std::floor(plot.h / (line * 0.95f))));
  const std::size_t count = std::min(rows.size(), room);
  const float third = plot.h / (1.5f * static_cast<float>(count));
  const float pitch =
      std::min(plot.h / static_cast<float>(count), std::clamp(third, canvas.px(kMostRow), canvas.px(kTallRow)));
  float y = plot.y + std::max(0.0f, (plot.h - pitch * static_cast<float>(count)) * 0.2f);
  for (std::size_t i = 0; i < count; ++i, y += pitch) {
    const AxisRow& row = rows[i];
    const engine::AxisLinks& place = mesh[row.placement->axis];
    const float middle = y + pitch / 2, half = pitch * kBar / 2;
    const auto stride = static_cast<double>(place.stride);
    const Rect bar = rect_between(x(stride), middle - half, x(stride * place.degree), middle + half);
    canvas.rect(bar, fill_of(theme, row.look, canvas.em()));
    canvas.text({plot.x - canvas.px(8), middle}, ellipsize(canvas, row.name, name, names), name);
    if (with_links) canvas.text({plot.right() + gap, middle}, row.links, words);
    if (with_rates) canvas.text({right, middle}, row.rate, rate);
    canvas.tag_with(tag_of(row), -1, rect_between(area.x, y, area.right(), y + pitch),
                    [&] { return readout_of(input, row); });
  }
}

}  // namespace roofscape::widgets::topology
