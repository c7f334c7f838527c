#include "widgets/figures/blocks/block_figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "engine/scenario/scenario_title.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/blocks/block_text.h"
#include "widgets/figures/common/bar_rows.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/line_chart.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::widgets {

using engine::BlockInput;
using engine::BlockOutput;
using engine::PictureData;
using engine::PictureLine;

namespace {

constexpr double kWideRange = 20;   // of values, from which their axis is logarithmic
constexpr double kHeadroom = 1.08;  // of an even axis over its largest value
constexpr double kWideBars = 100;   // of bars
constexpr std::size_t kMostLines = 7;

const engine::Unit& unit_of(const BlockOutput& o) { return engine::quantity(o.q).unit; }

// "time", "bytes", "FLOP/s": what numbers of a unit are called where they are of several outputs.
std::string unit_title(const TextTable& t, const engine::Unit& unit) {
  const std::string key = "calc.figure.unit." + std::string(unit.symbol);
  return std::string(t.has(key) ? t.text(key) : unit.symbol);
}

// A label with its unit, where ticks do not say it: "bytes (B)".
std::string axis_title(const TextTable& t, const std::string& label, const engine::Unit& unit) {
  const bool said = unit.symbol == "1" || label == unit.symbol || unit.symbol == "s" ||
                    label.find(unit.symbol) != std::string::npos;
  return said ? label : t.format("calc.figure.axis", {label, t.noun(unit, 0)});
}

// What the numbers of the figure are.
std::string value_title(const BlockFigure& f) {
  const BlockOutput& first = *f.data.lines.front().output;
  return f.data.lines.size() == 1 ? output_label(f.texts, first) : unit_title(f.texts, unit_of(first));
}

// A noun that the label says already does not follow the number: "MLP parameters: 56 371 445 760".
bool repeats(const std::string& label, const engine::Unit& unit) {
  return unit.notation == engine::Notation::count && unit.symbol.size() > 3 &&
         label.find(unit.symbol) != std::string::npos;
}

std::string amount(const BlockFigure& f, const BlockOutput& o, double value) {
  if (!std::isfinite(value)) return std::string(kNoValue);
  return f.texts.amount(value, unit_of(o), {.unit = !repeats(output_label(f.texts, o), unit_of(o))});
}
// In the picture and its headline: "10 B" of what a readout has in full.
std::string brief_amount(const BlockFigure& f, const BlockOutput& o, double value) {
  return unit_of(o) == engine::unit::parameters && std::isfinite(value) ? parameters_text(f.texts, value)
                                                                        : amount(f, o, value);
}
// "8192 tokens", "shards = 8", "microbatches = 32".
std::string point(const BlockFigure& f, const BlockInput& in, double value) {
  const engine::Unit& unit = engine::quantity(in.q).unit;
  const std::string label = input_label(f.texts, in);
  const bool bare = unit.symbol == "1" || repeats(label, unit);
  const std::string text = f.texts.amount(value, unit, {.unit = !bare || unit.symbol == "1", .trim_zeros = true});
  return bare ? f.texts.format("calc.figure.point", {label, text}) : text;
}

std::string choice_word(const BlockFigure& f, double index) {
  return block_word(f.texts, f.data.over->choices[static_cast<std::size_t>(index)]);
}

// The entry at the present value of the input.
std::optional<std::size_t> now_at(const PictureData& data) {
  if (!data.now) return std::nullopt;
  const auto found = std::find(data.x.begin(), data.x.end(), *data.now);
  return found == data.x.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - data.x.begin()));
}

TickLabels labels_of(const engine::Unit& unit) {
  return unit.notation == engine::Notation::duration ? TickLabels::duration
         : unit.notation == engine::Notation::si     ? TickLabels::si
         : unit.notation == engine::Notation::count  ? TickLabels::counts
                                                     : TickLabels::plain;
}

Stroke stroke_of(const Theme& theme, std::size_t line, float em) {
  const float width = theme.data_width * em;
  constexpr std::array kHues{Hue::blue, Hue::orange, Hue::green, Hue::purple, Hue::vermilion, Hue::sky};
  const std::array<Dash, 4> dashes{Dash{}, Dash{width * 5, width * 2}, Dash{width * 1.5f, width * 1.5f},
                                   Dash{width * 8, width * 3}};
  if (line == 0) return {theme.ink, width * 1.15f, {}};
  return {theme.stroke(kHues[(line - 1) % kHues.size()]), width, dashes[line % dashes.size()]};
}

Readout readout_of(const BlockFigure& f, double x, const std::string& x_text) {
  Readout out;
  out.title = x_text;
  const auto at = std::min_element(f.data.x.begin(), f.data.x.end(),
                                   [x](double a, double b) { return std::abs(a - x) < std::abs(b - x); });
  if (at == f.data.x.end()) return out;
  for (const PictureLine& line : f.data.lines)
    out.rows.emplace_back(output_label(f.texts, *line.output),
                          amount(f, *line.output, line.y[static_cast<std::size_t>(at - f.data.x.begin())]));
  return out;
}

// ---- curves ----

// Bytes, operations and seconds, and their rates: what counts things comes in powers of two.
bool is_in_tens(const engine::Unit& unit) {
  return unit.notation == engine::Notation::duration || unit.symbol.find("FLOP") != std::string_view::npos ||
         unit.symbol == "B" || unit.symbol.starts_with("B/");
}

Chart chart_of(const BlockFigure& f, float em) {
  const PictureData& data = f.data;
  const BlockInput& over = *data.over;
  const engine::Unit &x_unit = engine::quantity(over.q).unit, &y_unit = unit_of(*data.lines.front().output);
  Chart c;
  c.x_title = axis_title(f.texts, input_label(f.texts, over), x_unit);
  c.y_title = axis_title(f.texts, value_title(f), y_unit);
  c.x_labels = labels_of(x_unit), c.y_labels = labels_of(y_unit);
  c.x_from = data.x.front(), c.x_to = data.x.back();
  c.x_kind = data.even_steps ? ScaleKind::linear : is_in_tens(x_unit) ? ScaleKind::log10 : ScaleKind::log2;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t i = 0; i < data.lines.size() && i < kMostLines; ++i) {
    const PictureLine& line = data.lines[i];
    ChartLine out;
    out.label = data.lines.size() > 1 ? output_label(f.texts, *line.output) : std::string();
    out.stroke = stroke_of(f.theme, i, em);
    out.essential = i == 0;
    out.weight = i == 0 ? Weight::bold : Weight::regular;
    out.tag = "block." + std::string(line.output->name);
    for (std::size_t at = 0; at < data.x.size(); ++at) {
      if (!std::isfinite(line.y[at])) continue;
      out.points.push_back({data.x[at], line.y[at]});
      low = std::min(low, line.y[at]), high = std::max(high, line.y[at]);
    }
    out.readout = [f](const ChartPoint& p) { return readout_of(f, p.x, point(f, *f.data.over, p.x)); };
    c.lines.push_back(std::move(out));
  }
  // Powers, once they were, stay while axes are held.
  const double wide = low > 0 && high / low >= kWideRange ? 1 : 0;
  if (low > 0 && kept_range(f.axes, "block " + c.y_title + " in powers", {wide, wide}).to > 0) {
    std::tie(c.y_from, c.y_to) = log_range(low, high, kWideRange);
  } else {
    c.y_kind = ScaleKind::linear;
    const double top = std::max(high, 0.0), foot = std::min(low, 0.0);
    const double span = top > foot ? top - foot : 1;
    c.y_from = low < 0 ? foot - span * (kHeadroom - 1) : 0;
    c.y_to = high > 0 ? top + span * (kHeadroom - 1) : 0;
  }
  const auto kept = kept_range(f.axes, c.y_kind == ScaleKind::linear ? "block.y" : "block.y.log", {c.y_from, c.y_to});
  c.y_from = kept.from, c.y_to = kept.to;
  if (const auto at = now_at(data)) {
    c.now = Chart::Now{*data.now, point(f, over, *data.now)};
    for (std::size_t i = 0; i < c.lines.size(); ++i) {
      const double y = data.lines[i].y[*at];
      if (!std::isfinite(y)) continue;
      ChartDot dot;
      dot.at = {*data.now, y};
      const std::string text = brief_amount(f, *data.lines[i].output, y);
      // Where lines meet, one number says it of all.
      const bool said =
          std::any_of(c.dots.begin(), c.dots.end(), [&](const ChartDot& d) { return d.at.y == y && d.text == text; });
      if (!said) dot.text = text;
      dot.bold = i == 0;
      dot.colour = c.lines[i].stroke.colour;
      dot.tag = "block.now." + std::string(data.lines[i].output->name);
      dot.readout = readout_of(f, *data.now, point(f, over, *data.now));
      c.dots.push_back(std::move(dot));
    }
  }
  return c;
}

// ---- bars ----

struct Bar {
  std::string name;
  const BlockOutput* output = nullptr;
  double value = 0;
  bool now = false;
  std::string tag;
};

std::vector<Bar> bars_of(const BlockFigure& f) {
  std::vector<Bar> out;
  for (const PictureLine& line : f.data.lines) {
    const std::string label = output_label(f.texts, *line.output);
    if (f.data.is_choice()) {
      for (std::size_t i = 0; i < line.y.size(); ++i)
        if (std::isfinite(line.y[i]))
          out.push_back(
              {f.data.lines.size() == 1 ? choice_word(f, f.data.x[i])
                                        : f.texts.format("calc.figure.bar", {label, choice_word(f, f.data.x[i])}),
               line.output, line.y[i], f.data.now == f.data.x[i], "block." + std::string(f.data.over->choices[i])});
    } else if (line.y.size() == 1) {
      out.push_back({label, line.output, line.y.front(), false, "block." + std::string(line.output->name)});
    } else {
      for (std::size_t i = 0; i < line.y.size(); ++i)
        out.push_back({f.texts.format("calc.figure.bar", {label, format_count(static_cast<double>(i + 1))}),
                       line.output, line.y[i], false,
                       "block." + std::string(line.output->name) + "." + std::to_string(i)});
    }
  }
  return out;
}

// What a bar's axis counts in, so that its ticks are short: "GB" and 1e9.
struct BarUnit {
  std::string symbol;
  double of = 1;
};
BarUnit bar_unit(const engine::Unit& unit, double largest) {
  if (unit.notation == engine::Notation::percent) return {"%", 0.01};
  if (unit.notation == engine::Notation::duration) {
    if (largest < 1e-3) return {"\u00b5s", 1e-6};
    if (largest < 1) return {"ms", 1e-3};
    return {"s", 1};
  }
  constexpr std::array<std::pair<double, std::string_view>, 6> kPrefixes{
      {{1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  static const std::map<std::string_view, std::string_view> powers{{"k", "\u00b3"},       {"M", "\u2076"},
                                                                   {"G", "\u2079"},       {"T", "\u00b9\u00b2"},
                                                                   {"P", "\u00b9\u2075"}, {"E", "\u00b9\u2078"}};
  const bool noun = unit.notation != engine::Notation::si;
  for (const auto& [of, prefix] : kPrefixes)
    if (largest >= of && !(noun && largest < 1e5))
      return {noun ? fmt::format("10{}", powers.at(prefix)) : std::string(prefix) + std::string(unit.symbol), of};
  return {noun ? std::string() : std::string(unit.symbol), 1};
}

void draw_bars(Canvas& canvas, const Rect& area, const BlockFigure& f) {
  const std::vector<Bar> bars = bars_of(f);
  double largest = 0, least = std::numeric_limits<double>::infinity();
  for (const Bar& bar : bars)
    if (bar.value > 0) largest = std::max(largest, bar.value), least = std::min(least, bar.value);
  const bool wide = largest / least >= kWideBars;
  const BarUnit in = bar_unit(unit_of(*bars.front().output), largest);
  Fill fill;
  fill.colour = f.theme.fill(Hue::blue);
  Fill present = fill;
  present.colour = f.theme.fill(Hue::orange);
  std::vector<BarRow> rows;
  for (const Bar& bar : bars) {
    BarRow row;
    row.name = bar.name;
    row.value = amount(f, *bar.output, bar.value);
    row.bold = bar.now;
    row.weight = bar.now ? std::numeric_limits<double>::infinity() : bar.value;
    if (bar.value > 0) row.parts.push_back({0, bar.value / in.of, bar.now ? present : fill, 0});
    rows.push_back(std::move(row));
  }
  BarAxis axis;
  axis.to = largest / in.of;
  axis.unit = in.of;
  if (wide) {
    axis.kind = ScaleKind::log10;
    axis.from = std::pow(10, std::floor(std::log10(least / in.of) - 0.3));
  }
  axis.title = in.symbol.empty() ? value_title(f) : f.texts.format("calc.figure.axis", {value_title(f), in.symbol});
  const BarRowsPlot plot = draw_bar_rows(canvas, f.theme, area, rows, axis);
  for (std::size_t i = 0; i < bars.size(); ++i)
    if (plot.has_row(i))
      canvas.tag_with(bars[i].tag, -1, plot.band(i, area), [&] {
        Readout out;
        out.title = bars[i].name;
        out.rows.emplace_back(output_label(f.texts, *bars[i].output), rows[i].value);
        return out;
      });
}

std::string number_of(const BlockFigure& f, const BlockInput& in, double value) {
  const engine::Unit& unit = engine::quantity(in.q).unit;
  return f.texts.amount(value, unit, {.unit = !repeats(input_label(f.texts, in), unit), .trim_zeros = true});
}

// Chip, model, and what was typed: what the numbers depend on.
std::string context_of(const BlockFigure& f) {
  const TextTable& t = f.texts;
  std::string out;
  const auto add = [&](const std::string& part) {
    out += (out.empty() ? std::string() : std::string(t.text("figure.list_separator"))) + part;
  };
  if (f.call.model() != nullptr) add(engine::model_title(*f.call.model()));
  if (f.call.chip() != nullptr) add(engine::chip_title(*f.call.chip()));
  for (const BlockInput& in : f.call.block().inputs) {
    if (!f.call.is_typed(in.name)) continue;
    std::string value;
    for (const double x : f.call.value(in.name).numbers) {
      const bool flag = in.kind == engine::InputKind::flag || in.kind == engine::InputKind::flags;
      value += value.empty() ? "" : " \u00d7 ";
      value += flag              ? std::string(t.text(x > 0.5 ? "figure.context.on" : "figure.context.off"))
               : in.is_numeric() ? number_of(f, in, x)
                                 : block_word(t, in.choices[static_cast<std::size_t>(x)]);
    }
    add(t.format("calc.figure.given", {input_label(t, in), value}));
  }
  return out;
}

std::string empty_words(const BlockFigure& f) {
  std::string names;
  for (const std::string& name : f.data.missing) {
    const BlockInput* in = f.call.block().find_input(name);
    names += (names.empty() ? std::string() : std::string(f.texts.text("figure.list_separator"))) +
             (in == nullptr ? name : input_label(f.texts, *in));
  }
  return names.empty() ? std::string(f.texts.text("calc.figure.empty"))
                       : f.texts.format("calc.figure.needs", {names});
}

}  // namespace

FigureHead block_figure_head(const BlockFigure& f) {
  const TextTable& t = f.texts;
  FigureHead head;
  const std::string block = block_name(t, f.call.block());
  head.context = context_of(f);
  if (f.data.lines.empty()) {
    head.title = block;
    return head;
  }
  const PictureLine& first = f.data.lines.front();
  const std::string what = value_title(f);
  head.title = f.data.over == nullptr ? t.format("calc.figure.title", {block, what})
               : f.data.is_choice()   ? t.format("calc.figure.title.by", {block, what, input_label(t, *f.data.over)})
                                    : t.format("calc.figure.title.over", {block, what, input_label(t, *f.data.over)});
  if (f.data.over == nullptr) {
    const std::vector<Bar> bars = bars_of(f);
    const auto largest =
        std::max_element(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) { return a.value < b.value; });
    head.takeaway =
        t.format("calc.figure.takeaway.largest", {largest->name, brief_amount(f, *largest->output, largest->value)});
  } else if (const auto at = now_at(f.data)) {
    const std::string value = brief_amount(f, *first.output, first.y[*at]);
    const std::string name = output_label(t, *first.output);
    const bool alone = f.data.lines.size() < 2;
    head.takeaway = f.data.is_choice()
                        ? t.format("calc.figure.takeaway.choice", {name, choice_word(f, *f.data.now), value})
                        : t.format(alone ? "calc.figure.takeaway.now" : "calc.figure.takeaway.first",
                                   {name, point(f, *f.data.over, *f.data.now), value});
    head.brief =
        t.format("calc.figure.takeaway.brief",
                 {f.data.is_choice() ? choice_word(f, *f.data.now) : point(f, *f.data.over, *f.data.now), value});
  }
  return head;
}

void draw_block_figure(Canvas& canvas, const Rect& area, const BlockFigure& f, bool print, const HeadParts& parts) {
  const Rect rest = print ? draw_printed_head(canvas, area, f.theme, block_figure_head(f), parts) : area;
  if (rest.empty()) return;
  if (f.data.lines.empty()) return draw_empty_state(canvas, f.theme, rest, empty_words(f));
  if (f.data.over != nullptr && !f.data.is_choice())
    return draw_line_chart(canvas, rest, f.theme, chart_of(f, canvas.em()));
  draw_bars(canvas, rest, f);
}

std::string block_figure_data(const BlockFigure& f) {
  const auto head = [](std::string_view name, std::string_view unit) {
    return unit == "1" || unit.empty() ? std::string(name) : fmt::format("{} {}", name, unit);
  };
  std::string out;
  if (f.data.over == nullptr) {
    out = "output\tunit\tvalue\n";
    for (const PictureLine& line : f.data.lines)
      for (const double y : line.y)
        out += fmt::format("{}\t{}\t{}\n", line.output->name, unit_of(*line.output).symbol, y);
    return out;
  }
  out = head(f.data.over->name, engine::unit_text(*f.data.over));
  for (const PictureLine& line : f.data.lines) out += "\t" + head(line.output->name, unit_of(*line.output).symbol);
  out += "\n";
  for (std::size_t i = 0; i < f.data.x.size(); ++i) {
    out += f.data.is_choice() ? std::string(f.data.over->choices[i]) : fmt::format("{}", f.data.x[i]);
    for (const PictureLine& line : f.data.lines)
      out += std::isfinite(line.y[i]) ? fmt::format("\t{}", line.y[i]) : std::string("\t");
    out += "\n";
  }
  return out;
}

}  // namespace roofscape::widgets
