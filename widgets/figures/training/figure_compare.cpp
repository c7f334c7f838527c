// Compare: where the difference between the baseline's step and the present one comes from, part by part, the largest
// change first: a waterfall from the one to the other; and how measured pairs went that differ as they do. Needs
// FigureInput.baseline.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/bar_rows.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/evidence_text.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/quantity_look.h"
#include "widgets/figures/training/compare_serving.h"
#include "widgets/figures/training/figure_pipeline_parts.h"
#include "widgets/plot/label_field.h"
#include "widgets/plot/plot.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::widgets {

using engine::Q;

namespace {

constexpr double kToldAlone = 0.002;  // of the baseline's step: smaller changes are told together

struct Change {
  std::optional<Q> part;  // none: all the small ones
  double seconds = 0;     // present less baseline
};

constexpr int kPairLines = 3;
constexpr double kLittle = 0.2, kBefore = 0.8;  // of the axis that changes; of that, what stands before it

struct StepComparison {
  double before = 0, after = 0;  // seconds a step
  std::vector<Change> changes;   // the largest first, the small ones last; they add up to after - before
};

// Empty unless both plans have a step.
std::optional<StepComparison> compare(const FigureInput& input) {
  if (input.baseline == nullptr) return std::nullopt;
  const auto &now = input.report.quantities, &then = input.baseline->report.quantities;
  const auto after = now[Q::step_time], before = then[Q::step_time];
  if (!after || !before || !(*after > 0) || !(*before > 0)) return std::nullopt;
  StepComparison out{*before, *after, {}};
  Change rest;
  for (const Q part : engine::kStepParts) {
    const Change change{part, now.value_or(part, 0) - then.value_or(part, 0)};
    if (std::abs(change.seconds) < kToldAlone * out.before)
      rest.seconds += change.seconds;
    else
      out.changes.push_back(change);
  }
  std::stable_sort(out.changes.begin(), out.changes.end(),
                   [](const Change& a, const Change& b) { return std::abs(a.seconds) > std::abs(b.seconds); });
  if (std::abs(rest.seconds) > 1e-6 * out.before) out.changes.push_back(rest);
  return out;
}

std::string name_of(const FigureInput& input, const Change& change) {
  if (!change.part) return std::string(input.texts.text("figure.compare.rest"));
  return quantity_label(input.texts, *change.part);
}

std::string signed_share(double fraction) { return (fraction > 0 ? "+" : "") + format_percent(fraction, 1); }

Readout readout_of(const FigureInput& input, const StepComparison& c, const Change& change) {
  const TextTable& t = input.texts;
  Readout r;
  r.title = t.format("figure.compare.readout",
                     {name_of(input, change), format_difference(change.seconds, engine::unit::seconds)});
  if (change.part) {
    r.rows.emplace_back(t.text("figure.compare.baseline"),
                        format_duration(input.baseline->report.quantities.value_or(*change.part, 0)));
    r.rows.emplace_back(t.text("figure.compare.now"),
                        format_duration(input.report.quantities.value_or(*change.part, 0)));
  }
  r.rows.emplace_back(t.text("figure.compare.share"), signed_share(change.seconds / c.before));
  return r;
}

FigureHead compare_head(const FigureInput& input, const FigureView&) {
  const TextTable& t = input.texts;
  FigureHead head;
  head.title = t.text("figure.compare.title");
  head.context = compared_context(input);
  if (compares_serving(input)) {
    say_serving_comparison(input, head);
    return head;
  }
  const auto c = compare(input);
  if (!c) return head;
  const std::string difference = say(head, difference_claim(input, Q::step_time));
  head.brief = t.format("figure.compare.brief", {difference});
  if (c->changes.empty()) {
    head.takeaway = t.text("figure.compare.same");
    return head;
  }
  const Change& most = c->changes.front();
  head.takeaway =
      t.format("figure.compare.takeaway",
               {difference, say(head, growth_claim(input, Q::step_time, signed_share(c->after / c->before - 1))),
                name_of(input, most),
                say(head, most.part ? difference_claim(input, *most.part)
                                    : own_claim("compare.rest", most.seconds,
                                                format_difference(most.seconds, engine::unit::seconds)))});
  return head;
}

// Where the axis begins: at 0, or where little changes just before the least, so that the parts can be read.
double axis_start(const StepComparison& c, double end, double unit_s) {
  double least = std::min(c.before, c.after), at = c.before;
  for (const Change& change : c.changes) least = std::min(least, at += change.seconds);
  least /= unit_s;
  const double span = end - least;
  if (!(span > 0) || span > kLittle * end) return 0;
  const double step = std::pow(10, std::floor(std::log10(span)));
  return std::max(0.0, std::floor((least - kBefore * span) / step) * step);
}

// The bars of the sums begin before the axis does.
void draw_break(Canvas& canvas, const Theme& theme, const BarRowsPlot& plot, std::size_t row) {
  const float height = plot.bar_height, top = plot.tops[row] + (plot.pitch - height) / 2;
  const float x = plot.plot.x + canvas.px(9), lean = canvas.px(4), over = canvas.px(3), gap = canvas.px(4);
  for (const float at : {x, x + gap}) {
    const Point low{at - lean, top + height + over}, high{at + lean, top - over};
    canvas.line(low, high, {theme.panel, canvas.px(3), {}});
    canvas.line(low, high, {theme.ink2, canvas.px(1), {}});
  }
}

void draw_compare(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  Rect rest = draw_figure_head(canvas, area, input, view, compare_head(input, view));
  if (rest.empty()) return;
  const TextTable& t = input.texts;
  const auto c = compare(input);
  const bool serves = compares_serving(input);
  if (!c && !serves)
    return draw_empty_state(canvas, input.theme, rest,
                            t.text(input.baseline == nullptr ? "figure.compare.none" : "figure.compare.no_step"));

  // How measured pairs of runs went that differ as these two plans do.
  const engine::Mode mode = input.scenario.assumptions.mode;
  const bool measured = input.evidence != nullptr && mode != engine::Mode::custom;
  if (const std::string pairs =
          pairs_text(t, measured ? &input.evidence->of(mode) : nullptr, input.baseline->scenario, input.scenario);
      !pairs.empty()) {
    const TextStyle style = small_text(canvas, input.theme.ink2, HAlign::left);
    const float line = kSmallText * canvas.em() * kLabelLine;
    const auto lines = wrap(canvas, pairs, style, rest.w, kPairLines);
    Rect foot = rest.cut_bottom(line * static_cast<float>(lines.size()));
    for (const std::string& words : lines) canvas.text({foot.x, foot.cut_top(line).centre().y}, words, style);
  }

  if (serves) return draw_serving_comparison(canvas, rest, input, view);

  double end = std::max(c->before, c->after), at = c->before;
  for (const Change& change : c->changes) end = std::max(end, at += change.seconds);
  const TimeUnit unit = time_unit(end);
  std::vector<BarRow> bars;
  const auto total = [&](std::string_view key, double seconds) -> BarRow& {
    BarRow& bar = bars.emplace_back();
    bar.name = t.text(key);
    bar.value = format_duration(seconds);
    bar.weight = std::numeric_limits<double>::infinity();
    return bar;
  };
  BarRow& before = total("figure.compare.baseline", c->before);
  before.ghost = BarPart{0, c->before / unit.seconds, {}};
  before.joint = c->before / unit.seconds;
  at = c->before;
  for (const Change& change : c->changes) {
    BarRow& bar = bars.emplace_back();
    const double to = at + change.seconds;
    Fill fill =
        change.part ? fill_of(input.theme, *change.part, canvas.em()) : Fill{.colour = input.theme.fill(Hue::grey)};
    if (view.compact && change.part != Q::step_bubble) fill.hatch = Hatch::none;
    bar.name = name_of(input, change);
    bar.value = format_difference(change.seconds, engine::unit::seconds);
    bar.second = signed_share(change.seconds / c->before);
    bar.weight = std::abs(change.seconds);
    bar.parts.push_back({std::min(at, to) / unit.seconds, std::max(at, to) / unit.seconds, fill});
    bar.joint = to / unit.seconds;
    at = to;
  }
  BarRow& now = total("figure.compare.now", c->after);
  now.bold = true;
  now.parts.push_back({0, c->after / unit.seconds, {.colour = input.theme.ink}});
  BarAxis axis;
  axis.to = end / unit.seconds;
  axis.title = t.text(unit.key);
  axis.from = axis_start(*c, end / unit.seconds, unit.seconds);
  if (axis.from > 0) axis.title = t.format("figure.compare.x.from", {format_significant(axis.from), axis.title});
  const BarRowsPlot plot = draw_bar_rows(canvas, input.theme, rest, bars, axis);
  if (axis.from > 0)
    for (const std::size_t row : {std::size_t{0}, bars.size() - 1})
      if (plot.has_row(row)) draw_break(canvas, input.theme, plot, row);
  for (std::size_t i = 0; i < c->changes.size(); ++i)
    if (plot.has_row(i + 1)) {
      const Change& change = c->changes[i];
      const std::string_view id = change.part ? engine::quantity(*change.part).id : "compare.rest";
      canvas.tag_with(id, -1, plot.band(i + 1, rest), [&] { return readout_of(input, *c, change); });
    }
  const auto tag_total = [&](std::size_t row, std::string_view id, std::string_view key, double seconds) {
    if (!plot.has_row(row)) return;
    canvas.tag_with(id, -1, plot.band(row, rest), [&] {
      Readout r;
      r.title = t.format("figure.compare.readout", {std::string(t.text(key)), format_duration(seconds)});
      return r;
    });
  };
  tag_total(0, "compare.baseline", "figure.compare.baseline", c->before);
  tag_total(bars.size() - 1, engine::quantity(Q::step_time).id, "figure.compare.now", c->after);
}

std::string compare_data(const FigureInput& input, const FigureView&) {
  if (compares_serving(input)) return serving_comparison_data(input);
  std::string out = "part\tbaseline seconds\tseconds\tdifference\n";
  if (!compare(input)) return out;
  const auto &now = input.report.quantities, &then = input.baseline->report.quantities;
  const auto add = [&](Q q) {
    const double a = then.value_or(q, 0), b = now.value_or(q, 0);
    out += fmt::format("{}\t{}\t{}\t{}\n", engine::quantity(q).id, a, b, b - a);
  };
  for (const Q part : engine::kStepParts) add(part);
  add(Q::step_time);
  return out;
}

}  // namespace

extern constinit const FigureRow compare_figure{
    .name = "compare",
    .subject = Subject::any,
    .needs = Needs::baseline,
    .height_pt = 255.1f,
    .head = compare_head,
    .draw = draw_compare,
    .data = compare_data,
};

}  // namespace roofscape::widgets
