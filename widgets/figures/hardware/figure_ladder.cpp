// Ladder: the memories a chip can reach, from its registers to the other chips of its cluster, as steps of capacity
// (logarithmic x) and bandwidth (logarithmic y); at the right the arithmetic a byte must bring. Figures that are not
// published are left out and named under the plot.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/hardware/memory_ladder.h"
#include "engine/inputs/inputs.h"
#include "engine/scenario/scenario_fields.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/plot/label_field.h"
#include "widgets/plot/plot.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::widgets {

using engine::Memory;
using engine::MemoryRung;

namespace {

constexpr float kRungWidth = 4, kRungDot = 9;  // px
constexpr double kShortest = 1.6;              // a rung reaches at least this factor of bytes, so that it can be seen
constexpr std::size_t kFewestRungs = 2;

std::string_view id_of(const MemoryRung& rung) { return engine::kMemoryIds[rung.memory]; }

std::string name_of(const FigureInput& input, const MemoryRung& rung) {
  const std::string key = "figure.ladder.memory." + std::string(id_of(rung));
  if (rung.memory == Memory::fabric && !rung.level.empty())
    return input.texts.format("figure.ladder.memory.level",
                              {source_text(input.texts, rung.level), format_count(rung.chips)});
  return input.texts.format(rung.chips > 1 ? chip_key(input, key) : key, {format_count(rung.chips)});
}

std::string amounts_of(const FigureInput& input, const MemoryRung& rung) {
  std::string out;
  const auto add = [&](std::string text) {
    if (!out.empty()) out += input.texts.text("figure.list_separator");
    out += text;
  };
  const NumberOptions given{.trim_zeros = true};
  if (rung.bytes) add(format(*rung.bytes, engine::unit::bytes, given));
  if (rung.bytes_per_s) add(format(*rung.bytes_per_s, engine::unit::bytes_per_s, given));
  if (rung.flop_per_byte) add(format(*rung.flop_per_byte, engine::unit::flop_per_byte, given));
  return out;
}

// The id under which the engine explains a rung's bandwidth; memories it does not use have one of the figure.
std::string tag_of(const MemoryRung& rung) {
  switch (rung.memory) {
    case Memory::hbm:
      return std::string(engine::quantity(engine::Q::hbm_bandwidth).id);
    case Memory::node:
      return std::string(engine::quantity(engine::Q::nvlink_bandwidth).id);
    case Memory::dcn:
      return std::string(engine::quantity(engine::Q::dcn_bandwidth).id);
    default:
      return "ladder." + std::string(id_of(rung));
  }
}

std::vector<MemoryRung> rungs_of(const FigureInput& input) {
  return engine::memory_ladder(input.scenario.cluster, engine::peak_field(input.scenario.precision.compute));
}

// What the right axis counts, with the format whose peak it is.
std::string intensity_title(const FigureInput& input) {
  const auto& names = engine::find_field("precision.compute")->choices;
  const engine::ChipField peak =
      engine::ladder_peak(input.scenario.cluster.chip, engine::peak_field(input.scenario.precision.compute));
  for (std::size_t i = 0; i < names.size(); ++i)
    if (const auto dtype = static_cast<engine::Dtype>(i);
        dtype != engine::Dtype::none && engine::peak_field(dtype) == peak)
      return input.texts.format("figure.ladder.intensity",
                                {std::string(input.texts.text("figure.dtype." + std::string(names[i])))});
  return {};
}

struct Split {
  std::vector<MemoryRung> drawn;  // with a bandwidth
  std::string left_out;           // the sentence under the plot; empty if nothing is
};

Split split(const FigureInput& input) {
  Split out;
  std::string names;
  for (MemoryRung& rung : rungs_of(input)) {
    if (rung.bytes_per_s) {
      out.drawn.push_back(std::move(rung));
      continue;
    }
    if (!names.empty()) names += input.texts.text("figure.list_separator");
    names +=
        input.texts.format("figure.ladder.holding",
                           {name_of(input, rung), format(*rung.bytes, engine::unit::bytes, {.trim_zeros = true})});
  }
  if (!names.empty()) out.left_out = input.texts.format("figure.ladder.left_out", {names});
  return out;
}

// Ends of a rung on the x axis, in bytes: from where the one before ends.
struct Span {
  double from = 0, to = 0;
  bool open = false;  // nobody says how far it reaches
};

std::vector<Span> spans_of(const std::vector<MemoryRung>& rungs, double low, double high) {
  std::vector<Span> out;
  double reached = low;
  for (const MemoryRung& rung : rungs) {
    Span span{reached, rung.bytes.value_or(high), !rung.bytes};
    span.from = std::min(span.from, span.to / kShortest);
    out.push_back(span);
    reached = std::max(reached, span.to);
  }
  return out;
}

void right_axis(Canvas& canvas, const FigureInput& input, const Rect& plot, const Scale& y, double peak,
                Point title) {
  const Theme& theme = input.theme;
  const Stroke axis{theme.axis, theme.axis_width * canvas.em(), {}};
  canvas.line({plot.right(), plot.y}, {plot.right(), plot.bottom()}, axis);
  const Scale intensity(ScaleKind::log10, peak / y.to(), peak / y.from(), y.end(), y.begin());
  TextStyle style = small_text(canvas, theme.ink2, HAlign::left);
  float last = -1e30f;
  for (const Tick& t :
       ticks(intensity, {std::max(2, static_cast<int>(plot.h / canvas.px(45))), TickLabels::plain, true})) {
    const float py = intensity(t.value), length = canvas.px(t.major ? 4.0f : 2.0f);
    canvas.line({plot.right(), py}, {plot.right() + length, py}, axis);
    if (!t.major || t.label.empty() || py - last < style.em) continue;
    canvas.text({plot.right() + canvas.px(8), py}, t.label, style);
    last = py;
  }
  style.colour = theme.ink3;
  style.halign = HAlign::right;
  style.valign = VAlign::baseline;
  canvas.text({title.x, title.y}, intensity_title(input), style);
}

// Name and amounts beside the end of a rung, shorter where there is less room: always in the order of the ladder.
void draw_rung_label(Canvas& canvas, const FigureInput& input, const MemoryRung& rung, Point start, Point end,
                     LabelField& field) {
  const TextStyle name = small_text(canvas, input.theme.ink, HAlign::left, Weight::bold);
  const TextStyle amounts = small_text(canvas, input.theme.ink2, HAlign::left);
  const std::string words = name_of(input, rung);
  const std::array<std::vector<LabelLine>, 3> forms{
      std::vector<LabelLine>{{words, name}, {amounts_of(input, rung), amounts}},
      std::vector<LabelLine>{{words, name},
                             {format(*rung.bytes_per_s, engine::unit::bytes_per_s, {.trim_zeros = true}), amounts}},
      std::vector<LabelLine>{{words, name}}};
  const float gap = canvas.px(8);
  for (const auto& lines : forms) {
    Size size = label_size(canvas, lines);
    size.w += gap;  // so that two names side by side stay two
    const float middle = end.y - size.h / 2, over = end.y - gap - size.h, under = end.y + gap;
    const std::array<Point, 9> corners{
        Point{end.x + gap, middle}, {end.x + gap, over},    {end.x + gap, end.y - size.h * 0.75f},
        {start.x + gap, under},     {end.x - size.w, over}, {start.x + gap, over},
        {end.x - size.w, under},    {end.x + gap, under},   {start.x - size.w - gap, middle}};
    if (const auto place = field.place(size, corners)) {
      draw_label(canvas, *place, lines);
      return;
    }
  }
}

FigureHead ladder_head(const FigureInput& input, const FigureView&) {
  FigureHead head;
  head.title = input.texts.text("figure.ladder.title");
  head.context = chips_context(input);
  const auto drawn = split(input).drawn;
  const auto near =
      std::find_if(drawn.begin(), drawn.end(), [](const MemoryRung& r) { return r.memory == Memory::hbm; });
  if (near == drawn.end() || near + 1 >= drawn.end()) return head;
  const MemoryRung& far = drawn.back();
  const double slower = *near->bytes_per_s / *far.bytes_per_s;
  const std::string ratio = say(head, beside_claim("ladder.slower", slower, format_ratio(slower)));
  head.takeaway = input.texts.format("figure.ladder.takeaway", {say(head, name_claim(name_of(input, far))), ratio});
  head.brief = input.texts.format("figure.ladder.brief", {ratio});
  return head;
}

void draw_ladder(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Theme& theme = input.theme;
  Rect rest = draw_figure_head(canvas, area, input, view, ladder_head(input, view));
  const Split ladder = split(input);
  if (ladder.drawn.size() < kFewestRungs) {
    draw_empty_state(canvas, theme, rest, input.texts.text("figure.ladder.unknown"));
    return;
  }
  if (!ladder.left_out.empty()) {
    const TextStyle style = small_text(canvas, theme.ink3, HAlign::left);
    const auto lines = wrap(canvas, ladder.left_out, style, rest.w, 2);
    const float pitch = FontStack::kLineHeight * style.em;
    Rect strip = rest.cut_bottom(pitch * static_cast<float>(lines.size()) + canvas.px(4));
    strip.cut_top(canvas.px(4));
    for (const std::string& line : lines) canvas.text({strip.x, strip.cut_top(pitch).centre().y}, line, style);
  }

  double low = 1e300, high = 0, slow = 1e300, fast = 0, peak = 0;
  for (const MemoryRung& rung : ladder.drawn) {
    if (rung.bytes) low = std::min(low, *rung.bytes), high = std::max(high, *rung.bytes);
    slow = std::min(slow, *rung.bytes_per_s);
    fast = std::max(fast, *rung.bytes_per_s);
    if (rung.flop_per_byte) peak = *rung.flop_per_byte * *rung.bytes_per_s;
  }
  // The last label stands to the right of its rung where there is room for it.
  Scale x(ScaleKind::log10, low / 10, high * 100, 0, 1), y(ScaleKind::log10, slow / 3, fast * 3, 1, 0);
  Frame frame;
  frame.x.title = input.texts.text(chip_key(input, "figure.ladder.x"));
  frame.y.title = input.texts.text(chip_key(input, "figure.ladder.y"));
  frame.y.ticks = ticks(y, {std::clamp(static_cast<int>(rest.h / canvas.px(45)), 2, 8), TickLabels::si, true});
  frame.x.ticks = ticks(x, {std::clamp(static_cast<int>(rest.w / canvas.px(60)), 2, 9), TickLabels::si, true});
  const float right = canvas.text_width("10\u202f000", small_text(canvas, theme.ink2, HAlign::left)) + canvas.px(10);
  Rect inner = rest;
  if (peak > 0) inner.cut_right(right);
  const Rect plot = plot_rect(canvas, inner, frame);
  x = x.with_range(plot.x, plot.right());
  y = y.with_range(plot.bottom(), plot.y);
  if (peak > 0) {
    // Its title shares the line above the plot with that of the left axis.
    const TextStyle title = small_text(canvas, theme.ink3, HAlign::right);
    const float room = rest.right() - canvas.px(16) - plot.x - canvas.text_width(intensity_title(input), title);
    frame.y.title = ellipsize(canvas, frame.y.title, title, room);
  }
  draw_frame(canvas, theme, plot, x, y, frame);
  if (peak > 0) {
    const TextStyle title = small_text(canvas, theme.ink3, HAlign::left);
    right_axis(canvas, input, plot, y, peak,
               {rest.right(), plot.y - canvas.px(8) - canvas.metrics().descent() * title.em});
  }

  const auto spans = spans_of(ladder.drawn, x.from(), x.to());
  LabelField field(plot.inset(canvas.px(2)));
  const Stroke rung_stroke{theme.ink, canvas.px(kRungWidth), {}};
  const Stroke drop{theme.ink3, theme.axis_width * canvas.em(), {canvas.px(4), canvas.px(3)}};
  Point before{};
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const float py = y(*ladder.drawn[i].bytes_per_s);
    const Point from{x(spans[i].from), py}, to{x(spans[i].to), py};
    if (i > 0) canvas.line({before.x, before.y}, {before.x, py}, drop);
    if (i > 0) field.take_line({before.x, before.y}, {before.x, py}, canvas.px(3));
    field.take_line(from, to, canvas.px(kRungDot));
    before = to;
  }
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const MemoryRung& rung = ladder.drawn[i];
    const float py = y(*rung.bytes_per_s), size = canvas.px(kRungDot);
    const Point from{x(spans[i].from), py}, to{x(spans[i].to), py};
    if (spans[i].open) {
      canvas.arrow(from, to, rung_stroke);
    } else {
      canvas.line(from, to, rung_stroke);
      canvas.marker(to, Marker::circle, size, {.colour = theme.ink});
    }
    canvas.tag_with(
        tag_of(rung), static_cast<int>(i), rect_between(from.x, py - size / 2, to.x + size / 2, py + size / 2), [&] {
          Readout r;
          r.title = name_of(input, rung);
          const auto add = [&](std::string_view key, std::string value) {
            r.rows.emplace_back(std::string(input.texts.text(key)), std::move(value));
          };
          if (rung.bytes)
            add(chip_key(input, "figure.ladder.reach"),
                format(*rung.bytes, engine::unit::bytes, {.trim_zeros = true}));
          add("figure.ladder.rate", format(*rung.bytes_per_s, engine::unit::bytes_per_s, {.trim_zeros = true}));
          if (rung.flop_per_byte)
            add("figure.ladder.needed", format(*rung.flop_per_byte, engine::unit::flop_per_byte));
          return r;
        });
  }
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const float py = y(*ladder.drawn[i].bytes_per_s);
    draw_rung_label(canvas, input, ladder.drawn[i], {x(spans[i].from), py}, {x(spans[i].to), py}, field);
  }
}

std::string ladder_data(const FigureInput& input, const FigureView&) {
  std::string out = "memory\tbytes\tbytes/s\tchips\tFLOP/byte\n";
  const auto number = [](const std::optional<double>& v) { return v ? fmt::format("{}", *v) : std::string(); };
  for (const MemoryRung& rung : rungs_of(input))
    out += fmt::format("{}\t{}\t{}\t{}\t{}\n", name_of(input, rung), number(rung.bytes), number(rung.bytes_per_s),
                       rung.chips, number(rung.flop_per_byte));
  return out;
}

}  // namespace

extern constinit const FigureRow ladder_figure{
    .name = "ladder",
    .subject = Subject::any,
    .about = About::chips,
    .head = ladder_head,
    .draw = draw_ladder,
    .data = ladder_data,
};

}  // namespace roofscape::widgets
