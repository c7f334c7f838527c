// The decode-step figure: what a token's time is made of, as a waterfall. The parts of engine::kDecodeParts stand
// under one another, each beginning where the one before it ends, down to the step; what they hide (the shorter of
// weight reads and arithmetic, transfers under work) stands beside them. With drafts a last row is the time of one
// token. A baseline is a dashed outline in every row.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/measured_ghost.h"
#include "widgets/figures/training/decode_look.h"
#include "widgets/figures/training/time_bars.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::widgets {

using engine::Q;

namespace {

constexpr double kNothing = 1e-3;  // of the step: what is hidden and shorter has no row

bool has_decode_step(const engine::Report& report) { return seconds_of(report, Q::decode_step) > 0; }

struct DecodeRow {
  Q part = Q::decode_step;  // the tag: what the row is a value of
  Q what = Q::decode_step;  // the side that decides it, which names and colours the row
  double from = 0, to = 0;
  double base_from = 0, base_to = 0;
  bool aside = false, total = false;
};

// Those that take time here or in the baseline, and under their sum what takes none: it is hidden.
std::vector<DecodeRow> decode_rows(const FigureInput& input) {
  const engine::Report& report = input.report;
  std::vector<DecodeRow> out, asides;
  const double step = seconds_of(report, Q::decode_step);
  double at = 0, base_at = 0;
  for (const Q part : engine::kDecodeParts) {
    const double seconds = seconds_of(report, part),
                 base = input.baseline ? seconds_of(input.baseline->report, part) : 0;
    const Q what = decides_decode(report, part);
    if (seconds > 0 || base > 0) out.push_back({part, what, at, at + seconds, base_at, base_at + base});
    if (part == Q::decode_linear) {
      const Q other = what == Q::decode_flops_time ? Q::decode_weight_read : Q::decode_flops_time;
      if (seconds_of(report, other) > kNothing * step)
        asides.push_back({other, other, at, at + seconds_of(report, other), 0, 0, true});
      const double hidden = seconds_of(report, Q::decode_network) - seconds_of(report, Q::decode_exposed);
      if (hidden > kNothing * step) asides.push_back({Q::decode_network, Q::decode_network, 0, hidden, 0, 0, true});
    }
    at += seconds;
    base_at += base;
  }
  const auto total = [&](Q q) {
    out.push_back(
        {q, q, 0, seconds_of(report, q), 0, input.baseline ? seconds_of(input.baseline->report, q) : 0, false, true});
  };
  total(Q::decode_step);
  if (report.quantities.value_or(Q::accepted_per_step, 1) > 1) total(Q::time_per_output_token);
  out.insert(out.end(), asides.begin(), asides.end());
  return out;
}

std::string row_name(const FigureInput& input, const DecodeRow& row) {
  const std::string_view id = engine::quantity(row.what).id;
  if (row.aside)
    return std::string(input.texts.text("figure.decode-step.hidden." + std::string(id.substr(id.rfind('.') + 1))));
  if (row.total && row.what == Q::time_per_output_token)  // the title says of what
    return std::string(input.texts.text("figure.decode-step.per_token"));
  return quantity_label(input.texts, row.what);
}

Fill row_fill(const Canvas& canvas, const FigureInput& input, const FigureView& view, const DecodeRow& row) {
  if (row.total) return Fill{.colour = input.theme.ink};
  Fill fill = look_of_decode(input, row.what, canvas.em());
  if (row.aside) return hidden_fill(input.theme, fill, view);
  if (view.compact) fill.hatch = Hatch::none;
  return fill;
}

Readout readout_of(const FigureInput& input, const DecodeRow& row) {
  const TextTable& t = input.texts;
  Readout r;
  const double seconds = row.to - row.from;
  r.title = t.format("figure.step.readout", {row_name(input, row), format_duration(seconds)});
  if (row.aside) return r;
  if (!row.total)
    r.rows.emplace_back(t.text("figure.step.share"),
                        format_share(seconds / seconds_of(input.report, Q::decode_step)));
  if (row.part == Q::time_per_output_token)
    r.rows.emplace_back(t.text("figure.decode-step.tokens_per_step"),
                        format_significant(seconds_of(input.report, Q::accepted_per_step)));
  if (input.baseline) add_baseline_time(r, t, seconds, row.base_to - row.base_from);
  if (row.part == Q::decode_step && row.total)
    if (const auto measured = measured_step(input)) add_measured_time(r, input, *measured);
  return r;
}

FigureHead plain_decode_head(const FigureInput& input) {
  const TextTable& t = input.texts;
  FigureHead head;
  head.title = t.text("figure.decode-step.title");
  if (!has_decode_step(input.report)) return head;
  const std::string token = say(head, claim_of(input, Q::time_per_output_token));
  if (input.baseline && has_decode_step(input.baseline->report)) {
    const std::string difference = say(head, difference_claim(input, Q::time_per_output_token));
    head.takeaway = t.format("figure.decode-step.takeaway.baseline", {token, difference});
    head.brief = t.format("figure.decode-step.takeaway.baseline.brief", {token, difference});
    return head;
  }
  const std::vector<DecodeRow> rows = decode_rows(input);
  const DecodeRow* longest = nullptr;
  for (const DecodeRow& row : rows)
    if (!row.aside && !row.total && (longest == nullptr || row.to - row.from > longest->to - longest->from))
      longest = &row;
  head.takeaway =
      t.format("figure.decode-step.takeaway",
               {token, say(head, share_claim(input, {longest->part}, Q::decode_step)), row_name(input, *longest)});
  head.brief = t.format("figure.decode-step.takeaway.brief", {token});
  return head;
}

FigureHead decode_step_head(const FigureInput& input, const FigureView&) {
  FigureHead head = plain_decode_head(input);
  if (has_decode_step(input.report)) say_measured_step(input, head);
  return head;
}

void draw_decode_step(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, decode_step_head(input, view));
  if (rest.empty()) return;
  const TextTable& t = input.texts;
  if (!has_decode_step(input.report))
    return draw_empty_state(canvas, input.theme, rest, t.text("figure.decode-step.empty"));
  const std::vector<DecodeRow> rows = decode_rows(input);
  const auto measured = measured_step(input);
  double end = measured.value_or(0);
  for (const DecodeRow& row : rows) end = std::max({end, row.to, row.base_to});
  end = kept_range(input.axes, "decode-step.x", {0, end}).to;
  const TimeUnit unit = time_unit(end);

  std::vector<BarRow> bars;
  for (const DecodeRow& row : rows) {
    BarRow bar;
    const double seconds = row.to - row.from;
    bar.name = row_name(input, row);
    bar.value = format_duration(seconds);
    bar.bold = row.total;
    bar.joined = !row.aside && !row.total;
    bar.aside = row.aside;
    bar.weight = row.total ? std::numeric_limits<double>::infinity()
                           : std::max(seconds, row.base_to - row.base_from) * (row.aside ? kNothing : 1);
    bar.parts.push_back({row.from / unit.seconds, row.to / unit.seconds, row_fill(canvas, input, view, row)});
    if (!row.aside && !row.total) bar.second = format_share(seconds / seconds_of(input.report, Q::decode_step));
    if (input.baseline && !row.aside)
      bar.ghost = BarPart{row.base_from / unit.seconds, row.base_to / unit.seconds, {}};
    if (row.part == Q::decode_step && row.total && measured)
      bar.under = BarPart{0, *measured / unit.seconds, measured_fill(input.theme, canvas.em())};
    bars.push_back(std::move(bar));
  }
  BarAxis axis = time_bar_axis(t, end, unit);
  if (measured) axis.key = {measured_key(input, canvas.em())};
  const BarRowsPlot plot = draw_bar_rows(canvas, input.theme, rest, bars, axis);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (plot.has_row(i))
      canvas.tag_with(engine::quantity(rows[i].part).id, -1, plot.band(i, rest),
                      [&] { return readout_of(input, rows[i]); });
}

std::string decode_step_data(const FigureInput& input, const FigureView&) {
  const auto measured = measured_step(input);
  std::string out = "part\tseconds\thidden";
  if (input.baseline) out += "\tbaseline seconds";
  if (measured) out += "\tmeasured seconds";
  out += '\n';
  for (const DecodeRow& row : decode_rows(input)) {
    const bool rest = row.part == Q::decode_network;  // what of it work hides
    out += fmt::format("{}\t{}\t{}", rest ? std::string_view("hidden communication") : engine::quantity(row.part).id,
                       rest ? row.to - row.from : seconds_of(input.report, row.part), row.aside ? "yes" : "no");
    if (input.baseline) out += fmt::format("\t{}", row.aside ? 0 : seconds_of(input.baseline->report, row.part));
    if (measured) out += row.part == Q::decode_step && row.total ? fmt::format("\t{}", *measured) : "\t";
    out += '\n';
  }
  return out;
}

}  // namespace

extern constinit const FigureRow decode_step_figure{
    .name = "decode-step",
    .subject = Subject::serving,
    .measures = Measures::run,
    .height_pt = 255.1f,
    .head = decode_step_head,
    .draw = draw_decode_step,
    .data = decode_step_data,
};

}  // namespace roofscape::widgets
