#include "widgets/figures/training/figure_memory_parts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/measured_ghost.h"
#include "widgets/figures/common/stage_rows.h"

namespace roofscape::widgets::memory {

using engine::Q;

namespace {
constexpr float kLeastEdged = 6;                      // lower bars would be all edge
constexpr float kMeasuredGap = 5, kMeasuredBar = 11;  // scale-1 pixels: over the line of words; the bar
constexpr std::array kHeldLooks{MemoryPart::weights, MemoryPart::gradients, MemoryPart::optimizer,
                                MemoryPart::activations};  // in the order of engine::HeldMemory
}  // namespace

const std::vector<Part>& parts() {
  static const std::vector<Part> kParts = [] {
    std::vector<Part> out;
    for (std::size_t i = 0; i < engine::kMemoryParts.size(); ++i) {
      const Q q = engine::kMemoryParts[i];
      MemoryPart look = MemoryPart::reserve;
      if (q == Q::memory_weights) look = MemoryPart::weights;
      if (q == Q::memory_gradients) look = MemoryPart::gradients;
      if (q == Q::memory_optimizer) look = MemoryPart::optimizer;
      if (q == Q::memory_activations) look = MemoryPart::activations;
      if (q == Q::memory_buffers) look = MemoryPart::buffers;
      out.push_back({i, look, q});
    }
    return out;
  }();
  return kParts;
}

Sizes sizes_of(const FigureInput& input) {
  Sizes s;
  s.capacity_gb = std::max(0.0, input.report.quantities.value_or(Q::hbm_capacity, 0) / kGb);
  s.fullest = input.report.fullest_stage;
  for (const engine::StageRow& row : input.report.stages) s.most_gb = std::max(s.most_gb, total_gb(row));
  if (input.baseline != nullptr)
    for (const engine::StageRow& row : input.baseline->report.stages)
      s.ghost_gb = std::max(s.ghost_gb, total_gb(row));
  if (input.run != nullptr)
    s.measured_gb = std::max(input.run->allocated_bytes.value_or(0), input.run->reserved_bytes.value_or(0)) / kGb;
  if (s.most_gb > 0) s.decimals = std::clamp(2 - static_cast<int>(std::floor(std::log10(s.most_gb))), 0, 2);
  return s;
}

std::string part_name(const FigureInput& input, const Part& part) {
  return std::string(input.texts.text("figure.memory.part." + std::string(name_of(part.look))));
}

std::string bytes_text(double bytes) { return format(bytes, engine::unit::bytes); }
std::string capacity_text(double bytes) { return format(bytes, engine::unit::bytes, {.trim_zeros = true}); }

std::string capacity_words(const TextTable& texts, const engine::Chip& chip, double bytes) {
  const std::string amount = capacity_text(bytes);
  const auto& sheet = chip[engine::ChipField::hbm_bytes].value;
  const std::string sold = sheet ? capacity_text(*sheet) : amount;
  return sold == amount ? amount : texts.format("figure.memory.capacity_sold", {amount, sold});
}

PlotAxis gb_axis(const FigureInput& input, const Scale& scale, float width, const Canvas& canvas) {
  PlotAxis axis;
  axis.title = input.texts.text(chip_key(input, "figure.memory.x"));
  TickOptions options;
  options.about = std::clamp(static_cast<int>(width / canvas.px(85)), 2, 8);
  axis.ticks = ticks(scale, options);
  // The axis ends where the figure does, and a number may not reach over that end.
  if (!axis.ticks.empty()) {
    Tick& last = axis.ticks.back();
    const double room = (scale.end() - scale.position(last.value)) / (scale.end() - scale.begin()) * width;
    const TextStyle style = small_text(canvas, input.theme.ink2, HAlign::centre);
    if (canvas.text_width(last.label, style) / 2 > static_cast<float>(room)) last.label.clear();
  }
  axis.unit = kGb;
  return axis;
}

namespace {

std::string own_capacity(const FigureInput& input) {
  return capacity_words(input.texts, input.scenario.cluster.chip, sizes_of(input).capacity_gb * kGb);
}

}  // namespace

double axis_end(const Canvas& canvas, const FigureInput& input, float width, float total_label_width) {
  const Sizes sizes = sizes_of(input);
  const double w = std::max(1.0f, width);
  const double label = std::min<double>(total_label_width + canvas.px(10), 0.6 * w);
  TextStyle small;
  small.em = kSmallText * canvas.em();
  const double half = std::min<double>(canvas.text_width(own_capacity(input), small) / 2, 0.3 * w);
  // A total that would stand on the baseline's line stands past it.
  double end =
      std::max({sizes.most_gb * w / (w - label), sizes.ghost_gb * w / (w - label), sizes.measured_gb * 1.02});
  if (sizes.capacity_gb > 0) end = std::max({end, sizes.capacity_gb * w / (w - half), sizes.capacity_gb * 1.12});
  return kept_range(input.axes, "memory.x", {0, end > 0 ? end : 1}).to;
}

void draw_ghost_line(Canvas& canvas, const Theme& theme, std::span<const Point> points, bool closed) {
  std::vector<Point> line(points.begin(), points.end());
  if (closed && !line.empty()) line.push_back(line.front());
  canvas.polyline(line, {theme.panel, canvas.px(3.4f), {}});
  canvas.polyline(line, {theme.ink, canvas.px(1.6f), {canvas.px(5), canvas.px(3)}});
}

Readout ghost_readout(const FigureInput& input, double gb) {
  Readout r;
  r.title = input.texts.format("figure.memory.readout.baseline", {bytes_text(gb * kGb)});
  return r;
}

float measured_height(const Canvas& canvas, const FigureInput& input) {
  return sizes_of(input).measured_gb > 0 ? small_line(canvas) + canvas.px(kMeasuredGap + kMeasuredBar) : 0;
}

void draw_measured_bytes(Canvas& canvas, const FigureInput& input, const Rect& area, const Scale& x) {
  const Sizes sizes = sizes_of(input);
  if (sizes.measured_gb <= 0) return;
  const TextTable& t = input.texts;
  const engine::MeasuredRun& run = *input.run;
  const double allocated = run.allocated_bytes.value_or(0), reserved = run.reserved_bytes.value_or(0);
  std::vector<std::string> said;
  if (allocated > 0) said.push_back(t.format("figure.memory.measured.allocated", {bytes_text(allocated)}));
  if (reserved > 0) said.push_back(t.format("figure.memory.measured.reserved", {bytes_text(reserved)}));
  const std::string words = t.format("figure.memory.measured", {said.front()});
  const std::string both = said.size() > 1 ? t.format("figure.memory.measured.both", {said[0], said[1]}) : words;
  const TextStyle style = small_text(canvas, input.theme.ink2, HAlign::left);
  const float line = small_line(canvas), top = area.y + canvas.px(kMeasuredGap);
  canvas.text({area.x, top + line / 2},
              canvas.text_width(both, style) <= area.w ? both : ellipsize(canvas, words, style, area.w), style);
  const Rect row = rect_between(area.x, top + line, area.right(), area.bottom());
  const auto piece = [&](double from, double to) {
    return rect_between(x(from / kGb), row.y, x(std::min(to / kGb, x.to())), row.bottom());
  };
  const auto series = canvas.group("memory.measured");
  double at = 0;
  if (run.held_bytes)
    for (std::size_t i = 0; i < run.held_bytes->size(); ++i) {
      const double to = at + (*run.held_bytes)[i];
      const Fill fill = i < kHeldLooks.size() ? fill_of(input.theme, kHeldLooks[i], canvas.em())
                                              : measured_fill(input.theme, canvas.em());
      if (to > at) canvas.rect(piece(at, to), fill);
      at = to;
    }
  else if (allocated > 0)
    canvas.rect(piece(0, at = allocated), measured_fill(input.theme, canvas.em()));
  if (reserved > at) {  // hollow: reserved, and nothing in it
    Fill hollow = measured_fill(input.theme, canvas.em());
    hollow.colour = faded(hollow.colour, 0);
    canvas.rect(piece(at, reserved), hollow);
  }
  canvas.tag_with("memory.measured", -1, area, [&] {
    Readout r{both, {}};
    for (std::size_t i = 0; run.held_bytes && i < run.held_bytes->size() && r.rows.size() < 5; ++i)
      r.rows.emplace_back(t.text("figure.memory.held." + std::string(engine::kHeldMemory.ids()[i])),
                          bytes_text((*run.held_bytes)[i]));
    r.rows.emplace_back(t.text("measured.memory.predicted"), bytes_text(sizes.most_gb * kGb));
    return r;
  });
}

Readout part_readout(const FigureInput& input, int stage, const Part& part) {
  const TextTable& t = input.texts;
  const engine::StageRow& row = input.report.stages[static_cast<std::size_t>(stage)];
  const double bytes = row.memory_bytes[part.index];
  Readout r;
  r.title =
      input.report.stages.size() > 1
          ? t.format("figure.memory.readout.stage", {format_count(stage), part_name(input, part), bytes_text(bytes)})
          : t.format("figure.memory.readout", {part_name(input, part), bytes_text(bytes)});
  if (part.look == MemoryPart::activations)
    r.rows.emplace_back(t.text("figure.memory.in_flight"),
                        t.format(t.plural_key("figure.microbatches", row.in_flight_microbatches),
                                 {format_significant(row.in_flight_microbatches, 3, true)}));
  if (row.memory_total_bytes > 0)
    r.rows.emplace_back(
        t.text(input.report.stages.size() > 1 ? "figure.memory.share_of_stage" : "figure.memory.share"),
        format_share(bytes / row.memory_total_bytes));
  r.rows.emplace_back(t.text("figure.memory.layers"), format_count(row.layers));
  if (row.dense_layers > 0) r.rows.emplace_back(t.text("figure.memory.dense_layers"), format_count(row.dense_layers));
  return r;
}

void draw_stack(Canvas& canvas, const FigureInput& input, const Rect& bar, const Scale& x, int stage, bool hatches) {
  const Theme& theme = input.theme;
  const engine::StageRow& row = input.report.stages[static_cast<std::size_t>(stage)];
  const Sizes sizes = sizes_of(input);
  const double total = total_gb(row);
  const double seen = sizes.over(total) ? sizes.capacity_gb : total;
  double from = 0;
  for (const Part& part : parts()) {
    const double to = from + row.memory_bytes[part.index] / kGb;
    const Rect whole = rect_between(x(from), bar.y, x(to), bar.bottom());
    if (from < seen && to > from) {
      Fill fill = fill_of(theme, part.look, canvas.em());
      if (!hatches) fill.hatch = Hatch::none;
      if (bar.h < canvas.px(kLeastEdged)) fill.edge_width = 0;
      const auto series = canvas.group(engine::quantity(part.quantity).id, stage);
      canvas.rect(rect_between(x(from), bar.y, x(std::min(to, seen)), bar.bottom()), fill);
    }
    canvas.tag_with(engine::quantity(part.quantity).id, stage, whole,
                    [&] { return part_readout(input, stage, part); });
    from = to;
  }
  if (!(seen < total)) return;
  const Rect excess = rect_between(x(seen), bar.y, x(total), bar.bottom());
  // Trouble keeps its hatch even where the parts lose theirs.
  canvas.rect(excess, fill_of(theme, MemoryPart::over_capacity, canvas.em()));
  canvas.tag_with(engine::quantity(Q::memory_free).id, stage, excess, [&] {
    Readout r;
    r.title = input.texts.format("figure.memory.readout.excess",
                                 {format_count(stage), bytes_text((total - sizes.capacity_gb) * kGb)});
    return r;
  });
}

namespace {

TextStyle capacity_style(const Canvas& canvas, const Theme& theme) {
  TextStyle s;
  s.em = kSmallText * canvas.em();
  s.halign = HAlign::centre;
  s.valign = VAlign::middle;
  s.colour = theme.err;
  return s;
}

}  // namespace

Rect capacity_label(const Canvas& canvas, const FigureInput& input, const Scale& x, float label_middle) {
  const Sizes sizes = sizes_of(input);
  if (sizes.capacity_gb <= 0) return {};
  Rect label = canvas.text_bounds({x(sizes.capacity_gb), label_middle}, own_capacity(input),
                                  capacity_style(canvas, input.theme));
  // Beside the axis stands what the rows are, and how far they are over.
  const auto end = static_cast<float>(x.end());
  label.x = std::max(std::min(label.x, end - label.w), x(0));
  return label;
}

Rect draw_capacity(Canvas& canvas, const FigureInput& input, const Scale& x, float label_middle, float top,
                   float bottom) {
  const Sizes sizes = sizes_of(input);
  if (sizes.capacity_gb <= 0) return {};
  const Theme& theme = input.theme;
  const float at = x(sizes.capacity_gb);
  canvas.line({at, top}, {at, bottom}, {theme.err, theme.data_width * canvas.em() * 0.8f, {}});
  const Rect label = capacity_label(canvas, input, x, label_middle);
  canvas.text({label.centre().x, label_middle}, own_capacity(input), capacity_style(canvas, theme));
  const float reach = canvas.px(4);
  const auto readout = [&] {
    Readout r;
    r.title = input.texts.format("figure.memory.readout.capacity", {own_capacity(input)});
    return r;
  };
  canvas.tag_with(engine::quantity(Q::hbm_capacity).id, -1, rect_between(at - reach, top, at + reach, bottom),
                  readout);
  canvas.tag_with(engine::quantity(Q::hbm_capacity).id, -1, label, readout);
  return label;
}

}  // namespace roofscape::widgets::memory
