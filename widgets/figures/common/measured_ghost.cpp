#include "widgets/figures/common/measured_ghost.h"

#include <string>
#include <utility>

#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/claims.h"

namespace roofscape::widgets {

namespace {

constexpr float kMeasuredShade = 0.28f;  // of ink in the panel

void say_measured(const FigureInput& input, FigureHead& head, Claim claim) {
  const std::string words = input.texts.format("figure.measured.takeaway", {say(head, std::move(claim))});
  if (head.brief.empty()) head.brief = head.takeaway;
  head.takeaway = head.takeaway.empty() ? words : input.texts.format("figure.measured.with", {head.takeaway, words});
}

}  // namespace

Fill measured_fill(const Theme& theme, float em) {
  Fill fill;
  fill.colour = mix(theme.panel, theme.ink, kMeasuredShade);
  fill.edge = theme.ink;
  fill.edge_width = theme.axis_width * em;
  return fill;
}

KeyEntry measured_key(const FigureInput& input, float em) {
  return {std::string(input.texts.text("measured.measured")), measured_fill(input.theme, em)};
}

std::optional<engine::MeasuredComparison> measured_comparison(const FigureInput& input) {
  if (input.run == nullptr) return std::nullopt;
  return engine::compare_measured(input.scenario, input.report, *input.run);
}

std::optional<double> measured_step(const FigureInput& input) {
  const auto comparison = measured_comparison(input);
  return comparison ? comparison->measured_s : std::nullopt;
}

void say_measured_step(const FigureInput& input, FigureHead& head) {
  if (const auto seconds = measured_step(input))
    say_measured(input, head, beside_claim("measured.step", *seconds, format_duration(*seconds)));
}

double measured_bytes(const FigureInput& input) {
  if (input.run == nullptr) return 0;
  return input.run->allocated_bytes.value_or(input.run->reserved_bytes.value_or(0));
}

void say_measured_bytes(const FigureInput& input, FigureHead& head) {
  if (const double bytes = measured_bytes(input); bytes > 0)
    say_measured(input, head, beside_claim("measured.memory", bytes, format(bytes, engine::unit::bytes)));
}

void add_measured_time(Readout& readout, const FigureInput& input, double seconds) {
  readout.rows.emplace_back(input.texts.text("measured.measured"), format_duration(seconds));
}

}  // namespace roofscape::widgets
