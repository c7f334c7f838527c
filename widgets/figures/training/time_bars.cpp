#include "widgets/figures/training/time_bars.h"

#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"

namespace roofscape::widgets {

namespace {

constexpr float kHiddenFade = 0.45f;

}  // namespace

BarAxis time_bar_axis(const TextTable& texts, double end_s, const TimeUnit& unit) {
  BarAxis axis;
  axis.to = end_s / unit.seconds;
  axis.unit = unit.seconds;
  axis.title = texts.text(unit.key);
  axis.value = texts.text("figure.step.column.time");
  axis.second = texts.text("figure.step.column.share");
  return axis;
}

Fill hidden_fill(const Theme& theme, Fill fill, const FigureView& view) {
  // Faded it may be lost on the panel; its edge is not.
  fill.edge = cleared(fill.colour, text_on(theme.panel), theme.panel, 3);
  fill.edge_width = fill.hatch_width;
  fill.colour = faded(fill.colour, kHiddenFade);
  if (view.compact) fill.hatch = Hatch::none;
  return fill;
}

void add_baseline_time(Readout& readout, const TextTable& texts, double seconds, double base_seconds) {
  readout.rows.emplace_back(texts.text("figure.step.baseline"), format_duration(base_seconds));
  readout.rows.emplace_back(texts.text("figure.step.difference"),
                            format_difference(seconds - base_seconds, engine::unit::seconds));
}

}  // namespace roofscape::widgets
