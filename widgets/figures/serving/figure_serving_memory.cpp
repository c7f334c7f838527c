// The serving-memory figure: what the HBM of a decoding chip holds, as a waterfall of engine::kServingMemoryParts
// against the capacity, and how many more sequences the rest has room for. A baseline is a dashed outline in every
// row; what a measured run held is a bar below the sum.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/bar_rows.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/measured_ghost.h"
#include "widgets/figures/common/quantity_look.h"
#include "widgets/figures/training/figure_memory_parts.h"

namespace roofscape::widgets {

using engine::Q;
using memory::kGb;

namespace {

constexpr float kUsedInk = 0.6f;
constexpr float kFreeFade = 0.35f;  // of the look of the cache, for what could hold more of it

double bytes_of(const engine::Report& report, Q q) { return report.quantities.value_or(q, 0); }
bool known(const engine::Report& report) {
  return bytes_of(report, Q::memory_total) > 0 && bytes_of(report, Q::hbm_capacity) > 0;
}
std::string part_text(double bytes, Q of = Q::memory_total) {
  return format(bytes, engine::unit::bytes, {.trim_zeros = of == Q::hbm_capacity});  // as given: 80 GB, not 80.0 GB
}

// Sequences that fit beside those there are; negative: so many too many. All replicas together.
double more_sequences(const FigureInput& input) {
  return bytes_of(input.report, Q::max_batch) - static_cast<double>(input.scenario.workload.batch);
}

struct ServingMemoryRow {
  Q part = Q::memory_total;
  double from = 0, to = 0;
  double base_from = 0, base_to = 0;
  bool total = false;
};

std::vector<ServingMemoryRow> serving_memory_rows(const FigureInput& input) {
  std::vector<ServingMemoryRow> out;
  double at = 0, base_at = 0;
  const auto base_of = [&](Q q) { return input.baseline ? bytes_of(input.baseline->report, q) : 0; };
  for (const Q part : engine::kServingMemoryParts) {
    const double bytes = bytes_of(input.report, part), base = base_of(part);
    if (bytes > 0 || base > 0) out.push_back({part, at, at + bytes, base_at, base_at + base});
    at += bytes;
    base_at += base;
  }
  out.push_back({Q::memory_total, 0, bytes_of(input.report, Q::memory_total), 0, base_of(Q::memory_total), true});
  const double capacity = bytes_of(input.report, Q::hbm_capacity);
  if (bytes_of(input.report, Q::memory_free) > 0)
    out.push_back({Q::memory_free, bytes_of(input.report, Q::memory_total), capacity});
  out.push_back({Q::hbm_capacity, 0, capacity, 0, 0, true});
  return out;
}

std::string row_name(const FigureInput& input, const ServingMemoryRow& row) {
  const std::string_view id = engine::quantity(row.part).id;
  return std::string(input.texts.text("figure.serving-memory.part." + std::string(id.substr(id.rfind('.') + 1))));
}

Fill row_fill(const Canvas& canvas, const FigureInput& input, const FigureView& view, const ServingMemoryRow& row) {
  const Theme& theme = input.theme;
  if (row.part == Q::memory_total)
    return Fill{.colour = input.report.fits() ? mix(theme.panel, theme.ink, kUsedInk) : theme.err};
  if (row.part == Q::hbm_capacity)
    return Fill{.colour = theme.panel, .edge = theme.ink3, .edge_width = theme.axis_width * canvas.em()};
  Fill fill = fill_of(theme, row.part == Q::memory_free ? Q::memory_kv_cache : row.part, canvas.em());
  if (row.part == Q::memory_free) fill.colour = faded(fill.colour, kFreeFade), fill.edge_width = 0;
  if (view.compact || row.part == Q::memory_free) fill.hatch = Hatch::none;
  return fill;
}

Readout readout_of(const FigureInput& input, const ServingMemoryRow& row) {
  const TextTable& t = input.texts;
  Readout r;
  const double bytes = row.to - row.from;
  r.title = t.format("figure.step.readout", {row_name(input, row), part_text(bytes, row.part)});
  if (row.part == Q::memory_kv_cache || row.part == Q::memory_free)
    r.rows.emplace_back(t.text("figure.serving-memory.sequence"),
                        part_text(bytes_of(input.report, Q::sequence_chip_bytes)));
  if (row.part == Q::memory_free)
    r.rows.emplace_back(t.text("figure.serving-memory.more"), format_count(std::max(0.0, more_sequences(input))));
  if (row.part != Q::hbm_capacity)
    r.rows.emplace_back(t.text("figure.serving-memory.share"),
                        format_share(bytes / bytes_of(input.report, Q::hbm_capacity)));
  if (row.part == Q::memory_total && measured_bytes(input) > 0)
    r.rows.emplace_back(t.text("measured.measured"), part_text(measured_bytes(input)));
  if (input.baseline && row.part != Q::hbm_capacity && row.part != Q::memory_free)
    r.rows.emplace_back(t.text("figure.step.difference"),
                        format_difference(bytes - (row.base_to - row.base_from), engine::unit::bytes));
  return r;
}

FigureHead plain_serving_memory_head(const FigureInput& input) {
  const TextTable& t = input.texts;
  FigureHead head;
  if (input.baseline) head.context = compared_context(input);
  head.title = t.text("figure.serving-memory.title");
  if (!known(input.report)) return head;
  const double more = more_sequences(input);
  head.brief = t.format("figure.serving-memory.takeaway.brief",
                        {say(head, claim_of(input, Q::memory_total)),
                         say(head, claim_of(input, Q::hbm_capacity,
                                            part_text(bytes_of(input.report, Q::hbm_capacity), Q::hbm_capacity)))});
  const char* key = !input.report.fits() ? "figure.serving-memory.takeaway.over"
                    : more > 0           ? "figure.serving-memory.takeaway"
                                         : "figure.serving-memory.takeaway.none";
  std::string beside, most;
  if (input.report.fits() && more > 0) beside = say(head, own_claim("serving-memory.more", more, format_count(more)));
  if (!input.report.fits() || more > 0)
    most = say(head, claim_of(input, Q::max_batch, format_count(bytes_of(input.report, Q::max_batch))));
  head.takeaway = t.format(key, {head.brief, beside, most});
  return head;
}

FigureHead serving_memory_head(const FigureInput& input, const FigureView&) {
  FigureHead head = plain_serving_memory_head(input);
  if (known(input.report)) say_measured_bytes(input, head);
  return head;
}

void draw_serving_memory(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Theme& theme = input.theme;
  const Rect rest = draw_figure_head(canvas, area, input, view, serving_memory_head(input, view));
  if (rest.empty()) return;
  const TextTable& t = input.texts;
  if (!known(input.report)) return draw_empty_state(canvas, theme, rest, t.text("figure.serving-memory.empty"));
  const std::vector<ServingMemoryRow> rows = serving_memory_rows(input);
  const double capacity = bytes_of(input.report, Q::hbm_capacity);
  const double measured = measured_bytes(input);
  double end = measured;
  for (const ServingMemoryRow& row : rows) end = std::max({end, row.to, row.base_to});

  std::vector<BarRow> bars;
  for (const ServingMemoryRow& row : rows) {
    BarRow bar;
    bar.name = row_name(input, row);
    bar.value = part_text(row.to - row.from, row.part);
    if (row.part != Q::hbm_capacity) bar.second = format_share((row.to - row.from) / capacity);
    bar.bold = row.total;
    bar.joined = !row.total;
    bar.weight = row.total || row.part == Q::memory_free ? std::numeric_limits<double>::infinity()
                                                         : std::max(row.to - row.from, row.base_to - row.base_from);
    bar.parts.push_back({row.from / kGb, row.to / kGb, row_fill(canvas, input, view, row)});
    if (input.baseline && row.base_to > row.base_from)
      bar.ghost = BarPart{row.base_from / kGb, row.base_to / kGb, {}};
    if (row.part == Q::memory_total && measured > 0)
      bar.under = BarPart{0, measured / kGb, measured_fill(theme, canvas.em())};
    bars.push_back(std::move(bar));
  }
  BarAxis axis;
  if (measured > 0) axis.key = {measured_key(input, canvas.em())};
  axis.to = kept_range(input.axes, "serving-memory.x", {0, end}).to / kGb;
  axis.unit = kGb;
  axis.title = t.text("figure.serving-memory.x");
  axis.value = t.text("figure.serving-memory.column.bytes");
  axis.second = t.text("figure.serving-memory.column.share");
  const BarRowsPlot plot = draw_bar_rows(canvas, theme, rest, bars, axis);
  const float line = plot.x(capacity / kGb);
  canvas.line({line, plot.plot.y}, {line, plot.plot.bottom()},
              {input.report.fits() ? theme.ink2 : theme.err, theme.axis_width * canvas.em(), {}});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!plot.has_row(i)) continue;
    canvas.tag_with(engine::quantity(rows[i].part).id, -1, plot.band(i, rest),
                    [&] { return readout_of(input, rows[i]); });
    if (rows[i].part != Q::memory_free || !(more_sequences(input) > 0)) continue;
    // In the room that is free, or left of it where it is narrow: how many more sequences it is for.
    const std::string text = t.format("figure.serving-memory.room", {format_count(more_sequences(input))});
    const Rect bar = plot.bar(i, bars[i].parts.front());
    const TextStyle style = small_text(canvas, theme.ink, HAlign::left, Weight::bold);
    const float width = canvas.text_width(text, style), gap = canvas.px(6);
    if (width + 2 * gap <= bar.w)
      canvas.text({bar.x + gap, bar.centre().y}, text, style);
    else if (bar.x - gap - width > plot.plot.x + gap)
      haloed_text(canvas, theme, {bar.x - gap - width, bar.centre().y}, text, style);
  }
}

std::string serving_memory_data(const FigureInput& input, const FigureView&) {
  std::string out = "part\tbytes";
  if (input.baseline) out += "\tbaseline bytes";
  const double measured = measured_bytes(input);
  if (measured > 0) out += "\tmeasured bytes";
  out += '\n';
  for (const ServingMemoryRow& row : serving_memory_rows(input)) {
    out += fmt::format("{}\t{}", engine::quantity(row.part).id, bytes_of(input.report, row.part));
    if (input.baseline) out += fmt::format("\t{}", bytes_of(input.baseline->report, row.part));
    if (measured > 0) out += row.part == Q::memory_total ? fmt::format("\t{}", measured) : "\t";
    out += '\n';
  }
  return out;
}

}  // namespace

extern constinit const FigureRow serving_memory_figure{
    .name = "serving-memory",
    .subject = Subject::serving,
    .measures = Measures::run,
    .rests = Rests::memory,
    .height_pt = 255.1f,
    .head = serving_memory_head,
    .draw = draw_serving_memory,
    .data = serving_memory_data,
};

}  // namespace roofscape::widgets
