// Generations: peak arithmetic and bandwidth of chips over the years they were announced, one mark a chip, a line of
// growth for each kind of number and each bandwidth, the scenario's own chip marked. Needs FigureInput.chips.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "engine/hardware/generations.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/plot/label_field.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

using engine::Generation;
using engine::Rate;
using engine::RateHistory;

namespace {

constexpr float kColumnTrends = 32;               // em
constexpr float kChipMark = 6.5f, kOwnRing = 13;  // px
constexpr float kLeastPanel = 120;                // px: lower, and bandwidths give way
constexpr float kPanelGap = 10;
constexpr int kFarthest = 8;  // lines of text from a mark to its name

// Number types and links have no hue: marks of ink, grey or none, of three shapes.
struct RateLook {
  Marker marker;
  float ink;  // of the mark, the rest is the panel's; 0: hollow
  Dash dash;  // px at width 2
};
RateLook rate_look(Rate rate) {
  switch (rate) {
    case Rate::fp32:
      return {Marker::square, 0.3f, {2, 4}};
    case Rate::half:
    case Rate::hbm:
      break;
    case Rate::fp8:
    case Rate::links:
      return {Marker::diamond, 0.55f, {10, 4}};
    case Rate::fp4:
      return {Marker::square, 0, {6, 3}};
  }
  return {Marker::circle, 1, {}};
}
Colour line_of(const Theme& theme, const RateLook& look) {
  return mix(theme.panel, theme.ink, std::max(look.ink, 0.55f));
}
Fill fill_of(const Theme& theme, const RateLook& look, float em) {
  if (look.ink > 0) return {.colour = mix(theme.panel, theme.ink, look.ink)};
  return {.colour = theme.panel, .edge = theme.ink2, .edge_width = 1.3f * theme.axis_width * em};
}

using Histories = std::array<RateHistory, engine::kRateCount>;

// Found once for the chips there are: the window draws the same ones frame after frame.
const Histories& histories_of(const FigureInput& input) {
  using Key = std::pair<const engine::Chip*, std::size_t>;
  return input.studies.get<Histories>(Key{input.chips.data(), input.chips.size()},
                                      [&] { return engine::generations(input.chips); });
}

std::string name_of(const FigureInput& input, Rate rate) {
  return std::string(input.texts.text("figure.generations.rate." + std::string(engine::kRateIds[rate])));
}

bool shorter_name(const FigureInput& input, const Generation& a, const Generation& b) {
  return short_name(input.chips[a.chip]).size() < short_name(input.chips[b.chip]).size();
}

std::string years(const FigureInput& input, double value) {
  return input.texts.format("figure.generations.years", {format_fixed(value, 1)});
}

Readout readout_of(const FigureInput& input, const RateHistory& history, const Generation& g) {
  const engine::Unit unit = engine::is_bandwidth(history.rate) ? engine::unit::bytes_per_s : engine::unit::flop_per_s;
  Readout r;
  r.title = input.chips[g.chip].name;
  r.rows.emplace_back(name_of(input, history.rate), format(g.value, unit, {.trim_zeros = true}));
  r.rows.emplace_back(std::string(input.texts.text("figure.generations.year")), std::to_string(g.year));
  if (history.doubling_years)
    r.rows.emplace_back(std::string(input.texts.text("figure.generations.doubles")),
                        years(input, *history.doubling_years));
  return r;
}

// One set of axes: arithmetic, or bandwidth.
struct Panel {
  bool bandwidth = false;
  bool last = false;  // with the years under it
  std::vector<const RateHistory*> shown;
  Rect area, plot;
  Frame frame;
  Scale x, y;
};

std::string growth_of(const FigureInput& input, const RateHistory& h) {
  return h.doubling_years ? input.texts.format("figure.generations.doubling", {format_fixed(*h.doubling_years, 1)})
                          : std::string();
}

TextStyle end_style(const Canvas& canvas, Colour colour) {
  return small_text(canvas, colour, HAlign::left, Weight::bold);
}

// Room for the names at the ends of lines.
float end_width(const Canvas& canvas, const FigureInput& input, const Histories& all, float most) {
  float width = 0;
  for (const RateHistory& h : all)
    width = std::max({width, canvas.text_width(name_of(input, h.rate), end_style(canvas, {})),
                      canvas.text_width(growth_of(input, h), small_text(canvas, {}, HAlign::left))});
  return std::min(width, most);
}

void lay_out(const Canvas& canvas, const FigureInput& input, Panel& panel, const Histories& all, int first_year,
             int last_year, float ends) {
  double low = 1e300, high = 0;
  for (const RateHistory& h : all)
    if (engine::is_bandwidth(h.rate) == panel.bandwidth && !h.chips.empty()) {
      panel.shown.push_back(&h);
      for (const Generation& g : h.chips) low = std::min(low, g.value), high = std::max(high, g.value);
    }
  panel.x = Scale(ScaleKind::linear, first_year - 0.6, last_year + 0.6, 0, 1);
  panel.y = Scale(ScaleKind::log10, low / 2, high * 3, 1, 0);
  const int step = panel.area.w > canvas.px(60) * static_cast<float>(last_year - first_year + 1) ? 1 : 2;
  for (int year = last_year; year >= first_year; year -= step)
    panel.frame.x.ticks.insert(panel.frame.x.ticks.begin(), Tick{static_cast<double>(year), true,
                                                                 panel.last ? std::to_string(year) : std::string()});
  panel.frame.y.ticks =
      ticks(panel.y, {std::clamp(static_cast<int>(panel.area.h / canvas.px(40)), 2, 8), TickLabels::si, true});
  panel.frame.y.title =
      input.texts.text(panel.bandwidth ? "figure.generations.y.bandwidth" : "figure.generations.y.flops");
  Rect inner = panel.area;
  inner.cut_right(ends + canvas.px(14));
  panel.plot = plot_rect(canvas, inner, panel.frame);
}

void draw_trends(Canvas& canvas, const FigureInput& input, const Panel& panel, float ends, LabelField& field) {
  const Theme& theme = input.theme;
  const Rect& plot = panel.plot;
  std::vector<float> wanted;
  for (const RateHistory* h : panel.shown) {
    const RateLook look = rate_look(h->rate);
    Point end{panel.x(h->chips.back().year), panel.y(h->chips.back().value)};
    if (h->doubling_years) {
      const auto at = [&](double year) {
        return Point{panel.x(year),
                     panel.y(h->at_first_year * std::exp2((year - h->chips.front().year) / *h->doubling_years))};
      };
      const Point from = at(h->chips.front().year);
      end = at(panel.x.to());
      const auto clip = canvas.clip(plot);
      canvas.line(from, end,
                  {line_of(theme, look), theme.data_width * canvas.em() * 0.7f, look.dash.scaled(canvas.px(0.7f))});
      field.take_line(from, end, canvas.px(4));
    }
    wanted.push_back(confined(end.y, plot.y, plot.bottom()));
  }
  // Ends of lines: the name, and under it how fast it grows.
  const TextStyle note = small_text(canvas, theme.ink2, HAlign::left);
  const float pitch = kLabelLine * note.em;
  const bool two = plot.h > pitch * 2.2f * static_cast<float>(panel.shown.size());
  // Further from the next name than from what belongs to it, where there is the room.
  const float apart = std::clamp(plot.h / (pitch * static_cast<float>(panel.shown.size())), 2.1f, 2.7f);
  const auto placed =
      spread(wanted, pitch * (two ? apart : 1.0f), plot.y + pitch / 2, plot.bottom() - pitch * (two ? 1.5f : 0.5f));
  for (std::size_t i = 0; i < panel.shown.size(); ++i) {
    const RateHistory& h = *panel.shown[i];
    const float left = plot.right() + canvas.px(10);
    const RateLook look = rate_look(h.rate);
    if (!h.doubling_years)  // no line that ends here: from the last chip
      canvas.line({panel.x(h.chips.back().year) + canvas.px(kChipMark), wanted[i]}, {left - canvas.px(2), placed[i]},
                  {line_of(theme, look), theme.axis_width * canvas.em(), Dash{canvas.px(1), canvas.px(2)}});
    else if (std::abs(placed[i] - wanted[i]) > pitch * 0.3f)
      canvas.line({plot.right() + canvas.px(1), wanted[i]}, {left - canvas.px(2), placed[i]},
                  {theme.ink3, theme.axis_width * canvas.em(), {}});
    const TextStyle style = end_style(canvas, readable(line_of(theme, look), theme.panel));
    canvas.text({left, placed[i]}, ellipsize(canvas, name_of(input, h.rate), style, ends), style);
    if (two) canvas.text({left, placed[i] + pitch}, ellipsize(canvas, growth_of(input, h), note, ends), note);
  }
}

struct Named {
  Rate rate;
  const Generation* generation;
  bool own;
};

// Below or above a mark that has no room beside it, the nearest first, with a leader. The leader may cross other marks and
// lines: the ring says which mark is meant.
std::optional<Rect> place_with_leader(Canvas& canvas, const Theme& theme, Point p, float reach, Size size,
                                      LabelField& field) {
  for (int step = 1; step <= kFarthest; ++step)
    for (const float way : {1.0f, -1.0f}) {
      const float y = p.y + way * (reach / 2 + static_cast<float>(step) * size.h) - size.h / 2;
      const std::array corners{Point{p.x - size.w / 2, y}, Point{p.x - size.w, y}, Point{p.x, y}};
      const std::optional<Rect> place = field.place(size, corners);
      if (!place) continue;
      const Point from{p.x, p.y + way * reach / 2}, to{p.x, way > 0 ? place->y : place->bottom()};
      canvas.line(from, to, {theme.ink2, theme.axis_width * canvas.em(), {}});
      field.take_line(from, to, canvas.px(2));
      return place;
    }
  return std::nullopt;
}

// The plan's own chip first, then those that set a record and the others where there is room, the newest first; a chip
// with several peaks is named once.
void draw_names(Canvas& canvas, const FigureInput& input, const Panel& panel, std::span<const Named> marks,
                LabelField& field) {
  std::vector<std::size_t> done;
  for (const Named& mark : marks) {
    const Generation& g = *mark.generation;
    if (std::find(done.begin(), done.end(), g.chip) != done.end()) continue;
    const LabelLine line{short_name(input.chips[g.chip]),
                         small_text(canvas, mark.own ? input.theme.ink : input.theme.ink2, HAlign::left,
                                    mark.own ? Weight::bold : Weight::regular)};
    const float reach = canvas.px(mark.own ? kOwnRing : kChipMark);
    const Point p{panel.x(g.year), panel.y(g.value)};
    const Size size = label_size(canvas, {&line, 1});
    const Rect at{p.x - reach / 2, p.y - reach / 2, reach, reach};
    auto place = field.place_naming(at, size, canvas.px(3));
    if (!place && mark.own) place = field.place_around(at, size, canvas.px(3));
    if (!place && mark.own) place = place_with_leader(canvas, input.theme, p, reach, size, field);
    if (!place) continue;
    draw_label(canvas, *place, {&line, 1});
    done.push_back(g.chip);
  }
}

void draw_panel(Canvas& canvas, const FigureInput& input, Panel& panel, float ends) {
  const Theme& theme = input.theme;
  const Rect& plot = panel.plot;
  panel.x = panel.x.with_range(plot.x, plot.right());
  panel.y = panel.y.with_range(plot.bottom(), plot.y);
  draw_frame(canvas, theme, plot, panel.x, panel.y, panel.frame);
  LabelField field(plot.inset(canvas.px(2)));
  draw_trends(canvas, input, panel, ends, field);
  const float mark = canvas.px(kChipMark), ring = canvas.px(kOwnRing);
  std::vector<Named> own, records, others;
  int index = 0;
  const auto is_main = [](const RateHistory* h) { return h->rate == Rate::half || h->rate == Rate::hbm; };
  // Chips are named at their main rate, so its marks lie over the others.
  std::vector<const RateHistory*> order = panel.shown;
  std::stable_partition(order.begin(), order.end(), [&](const RateHistory* h) { return !is_main(h); });
  for (const RateHistory* h : order) {
    const RateLook look = rate_look(h->rate);
    const bool main = is_main(h);
    double best = 0;
    for (const Generation& g : h->chips) {
      const Point p{panel.x(g.year), panel.y(g.value)};
      const bool is_own = input.chips[g.chip].name == input.scenario.cluster.chip.name;
      const float size = is_own ? ring : mark;
      if (is_own) canvas.marker(p, look.marker, ring, {.edge = theme.ink, .edge_width = canvas.px(1.6f)});
      canvas.marker(p, look.marker, mark + canvas.px(1.6f), {.colour = theme.panel});
      canvas.marker(p, look.marker, mark, fill_of(theme, look, canvas.em()));
      const Rect at{p.x - size / 2, p.y - size / 2, size, size};
      if (main)
        field.take_mark(at);
      else
        field.take(at);
      if (is_own)
        own.insert(main ? own.begin() : own.end(), {h->rate, &g, true});
      else if (main && g.value > best)
        records.insert(records.begin(), {h->rate, &g, false});
      else if (main && g.value == best && !records.empty() && g.year == records.front().generation->year &&
               shorter_name(input, g, *records.front().generation))
        records.front().generation = &g;  // at one place: the plain model rather than its variant
      else if (main)
        others.insert(others.begin(), {h->rate, &g, false});
      best = std::max(best, g.value);
      canvas.tag_with("generations." + std::string(engine::kRateIds[h->rate]), index++,
                      {p.x - mark, p.y - mark, 2 * mark, 2 * mark}, [&] { return readout_of(input, *h, g); });
    }
  }
  // At its main rate where it has one: names of chips stand at marks of one kind.
  if (std::any_of(own.begin(), own.end(), [](const Named& n) { return n.rate == Rate::half || n.rate == Rate::hbm; }))
    own.resize(1);
  own.insert(own.end(), records.begin(), records.end());
  own.insert(own.end(), others.begin(), others.end());
  draw_names(canvas, input, panel, own, field);
}

FigureHead generations_head(const FigureInput& input, const FigureView&) {
  FigureHead head;
  head.title = input.texts.text("figure.generations.title");
  head.context = chips_context(input, std::max<std::size_t>(1, input.chips.size()));
  const Histories& all = histories_of(input);
  const auto &flops = all[static_cast<std::size_t>(Rate::half)], &hbm = all[static_cast<std::size_t>(Rate::hbm)];
  if (!flops.doubling_years || !hbm.doubling_years) return head;
  const auto years = [&](const RateHistory& h) {
    return say(head,
               beside_claim("generations.doubling_years", *h.doubling_years, format_fixed(*h.doubling_years, 1)));
  };
  const std::string of_flops = years(flops), of_hbm = years(hbm);
  head.takeaway = input.texts.format("figure.generations.takeaway", {of_flops, of_hbm});
  head.brief = input.texts.format("figure.generations.brief", {of_flops, of_hbm});
  return head;
}

void draw_generations(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  Rect rest = draw_figure_head(canvas, area, input, view, generations_head(input, view));
  const Histories& all = histories_of(input);
  int first = 9999, last = 0;
  bool bandwidths = false;
  for (const RateHistory& h : all)
    for (const Generation& g : h.chips) {
      first = std::min(first, g.year);
      last = std::max(last, g.year);
      bandwidths = bandwidths || engine::is_bandwidth(h.rate);
    }
  if (last == 0) {
    draw_empty_state(canvas, input.theme, rest, input.texts.text("figure.generations.none"));
    return;
  }
  const float ends = end_width(canvas, input, all, rest.w * 0.3f);
  std::vector<Panel> panels(1);
  if (bandwidths && rest.h >= canvas.px(2 * kLeastPanel + kPanelGap)) {
    panels[0].area = rest.cut_top(rest.h * 0.5f);
    rest.cut_top(canvas.px(kPanelGap));
    panels.emplace_back().bandwidth = true;
  }
  panels.back().area = rest;
  panels.back().last = true;
  for (Panel& panel : panels) lay_out(canvas, input, panel, all, first, last, ends);
  // Years stand over years.
  float left = 0;
  for (const Panel& panel : panels) left = std::max(left, panel.plot.x);
  const float right = std::min(panels.front().plot.right(), panels.back().plot.right());
  for (Panel& panel : panels) {
    if (panel.shown.empty()) continue;
    panel.plot = rect_between(left, panel.plot.y, right, panel.plot.bottom());
    draw_panel(canvas, input, panel, ends);
  }
}

// In a column higher than its width asks for: names stand over one another at the ends of lines.
float generations_height(const Canvas& canvas, float width, const FigureInput&, const FigureView&) {
  return width < canvas.px(kJournalColumn) ? kColumnTrends * canvas.em() : 0;
}

std::string generations_data(const FigureInput& input, const FigureView&) {
  std::string out = "chip\tyear\trate\tvalue per s\n";
  for (const RateHistory& h : histories_of(input))
    for (const Generation& g : h.chips)
      out += fmt::format("{}\t{}\t{}\t{}\n", input.chips[g.chip].name, g.year, name_of(input, h.rate), g.value);
  return out;
}

}  // namespace

extern constinit const FigureRow generations_figure{
    .name = "generations",
    .subject = Subject::any,
    .about = About::chips,
    .rests = Rests::nothing,
    .height_pt = 368.5f,
    .head = generations_head,
    .draw = draw_generations,
    .data = generations_data,
    .own_height = generations_height,
};

}  // namespace roofscape::widgets
