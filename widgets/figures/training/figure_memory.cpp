// The memory figure: what fills the HBM of a chip, one stacked bar a pipeline stage, against the capacity. With one
// stage the bar stands over its own breakdown, enlarged, part by part.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/measured_ghost.h"
#include "widgets/figures/common/stage_rows.h"
#include "widgets/figures/training/figure_memory_parts.h"
#include "widgets/figures/training/figure_pipeline_parts.h"

namespace roofscape::widgets {

using engine::Q;
using namespace memory;

namespace {

constexpr float kTotalGap = 6;
constexpr float kNamesShare = 0.6f;  // of the width, that the names of parts may take beside the capacity's
constexpr float kHighEnough = 10;    // rows of a key, from which there is room for one

TextStyle total_style(const Canvas& canvas, const Theme& theme, bool fullest, bool over) {
  TextStyle s;
  s.em = kSmallText * canvas.em();
  s.weight = fullest ? Weight::bold : Weight::regular;
  s.valign = VAlign::middle;
  s.colour = over      ? readable(line_of(theme, MemoryPart::over_capacity), theme.panel)
             : fullest ? theme.ink
                       : theme.ink2;
  return s;
}

std::string total_text(const Sizes& sizes, double gb) {
  if (!sizes.over(gb)) return format_fixed(gb, sizes.decimals);
  return "+" + format_fixed(gb - sizes.capacity_gb, sizes.decimals);
}

float widest_total(const Canvas& canvas, const FigureInput& input, const Sizes& sizes) {
  const TextStyle bold = total_style(canvas, input.theme, true, false);
  float widest = 0;
  for (const engine::StageRow& row : input.report.stages)
    widest = std::max(widest, canvas.text_width(total_text(sizes, total_gb(row)), bold));
  return widest;
}

constexpr float kCloseKeys = 9;

struct PartName {
  PartLabel label;
  KeyEntry key;
  double bytes = 0;
  float width = 0;
};

// Whether leaders from labels set side by side down to their parts would run over one another.
bool leaders_clash(const std::vector<PartName>& names, float left, float right, float gap) {
  std::vector<float> middle;
  float free_from = left;
  for (const PartName& n : names) {
    const float at = std::max((n.label.from + n.label.to - n.width) / 2, free_from);
    middle.push_back(at + n.width / 2);
    free_from = at + n.width + gap;
  }
  float free_to = right;
  for (std::size_t i = names.size(); i-- > 0;) {
    middle[i] = std::min(middle[i], free_to - names[i].width / 2);
    free_to = middle[i] - names[i].width / 2 - gap;
  }
  float reached = left;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const float part = (names[i].label.from + names[i].label.to) / 2;
    if (i > 0 && std::min(part, middle[i]) <= reached) return true;
    reached = std::max({reached, part, middle[i]});
  }
  return false;
}

// Every part that some stage has to be seen, for a key over the rows.
std::vector<KeyEntry> key_of_parts(const Canvas& canvas, const FigureInput& input, const FigureView& view,
                                   double visible_gb) {
  std::vector<KeyEntry> out;
  for (const Part& part : parts()) {
    if (std::none_of(input.report.stages.begin(), input.report.stages.end(),
                     [&](const engine::StageRow& row) { return row.memory_bytes[part.index] / kGb >= visible_gb; }))
      continue;
    Fill fill = fill_of(input.theme, part.look, canvas.em());
    if (view.compact) fill.hatch = Hatch::none;
    out.push_back({part_name(input, part), fill});
  }
  return out;
}

// Whether the names of all these have room over the first bar, beside the capacity's.
bool names_fit(const Canvas& canvas, const std::vector<KeyEntry>& key, float room) {
  TextStyle style;
  style.em = kSmallText * canvas.em();
  float sum = 0;
  for (const KeyEntry& e : key) sum += canvas.text_width(e.text, style) + style.em * 0.6f;
  return sum <= room;
}

// Names of the parts above the first bar, with leaders; a key in their place where leaders would run over one
// another, or where it names more: a later bar may have a part that the first has not. Where names cannot all stand,
// the smallest parts lose theirs.
void draw_part_names(Canvas& canvas, const FigureInput& input, const FigureView& view, const StageRows& rows,
                     const Scale& x, const Rect& capacity) {
  float left = rows.plot.x, right = rows.area.right();
  TextStyle style;
  style.em = kSmallText * canvas.em();
  const float gap = style.em * 0.6f;
  const auto key_gap = [&](float between) { return canvas.px(11 + 6 + between); };
  if (!capacity.empty()) {
    if (capacity.centre().x > rows.plot.centre().x)
      right = capacity.x - canvas.px(9);
    else
      left = capacity.right() + canvas.px(9);
  }
  std::vector<PartName> names, of_first;
  double from = 0;
  const engine::StageRow& first = input.report.stages.front();
  const auto seen = [&](double bytes) { return x(bytes / kGb) - x(0) >= canvas.px(1); };
  for (const Part& part : parts()) {
    const double to = from + first.memory_bytes[part.index] / kGb;
    double most = 0;
    for (const engine::StageRow& row : input.report.stages) most = std::max(most, row.memory_bytes[part.index]);
    if (seen(most)) {
      const std::string text = part_name(input, part);
      Fill fill = fill_of(input.theme, part.look, canvas.em());
      if (view.compact) fill.hatch = Hatch::none;
      names.push_back({{text, x(from), x(to)}, {text, fill}, most, canvas.text_width(text, style)});
      if (seen(first.memory_bytes[part.index])) of_first.push_back(names.back());
    }
    from = to;
  }
  const auto needed = [](const std::vector<PartName>& all, float between) {
    float sum = 0;
    for (const PartName& n : all) sum += n.width + between;
    return sum;
  };
  const auto shrink_to_fit = [&](std::vector<PartName>& all, float between) {
    while (!all.empty() && needed(all, between) > right - left + gap)
      all.erase(std::min_element(all.begin(), all.end(),
                                 [](const PartName& a, const PartName& b) { return a.bytes < b.bytes; }));
  };
  shrink_to_fit(of_first, gap);
  // Close together before one is left out.
  const float between = needed(names, key_gap(kKeyGap)) <= right - left + gap ? kKeyGap : kCloseKeys;
  shrink_to_fit(names, key_gap(between));
  if (names.size() > of_first.size() || leaders_clash(of_first, left, right, gap)) {
    std::vector<KeyEntry> key;
    for (PartName& n : names) key.push_back(std::move(n.key));
    draw_key(canvas, input.theme, {left, rows.header.centre().y}, key, between);
    return;
  }
  std::vector<PartLabel> labels;
  for (PartName& n : of_first) labels.push_back(std::move(n.label));
  const float baseline =
      rows.header.y + rows.header.h / 2 + canvas.metrics().cap_height() / 2 * kSmallText * canvas.em();
  draw_elbow_labels(canvas, input.theme, labels, baseline, rows.bar(0).y, left, right);
}

// What the baseline fills on a stage; where it has other stages, on its fullest one.
double ghost_gb(const FigureInput& input, const Sizes& sizes, int stage) {
  const auto& stages = input.baseline->report.stages;
  return stages.size() == input.report.stages.size() ? total_gb(stages[static_cast<std::size_t>(stage)])
                                                     : sizes.ghost_gb;
}

// The baseline's totals, stepped across the rows; empty without one.
std::vector<Point> ghost_line(const FigureInput& input, const StageRows& rows, const Scale& x) {
  const Sizes sizes = sizes_of(input);
  std::vector<Point> line;
  for (int stage = 0; sizes.ghost_gb > 0 && stage < rows.count; ++stage) {
    const Rect band = rows.band(stage);
    const float at = x(ghost_gb(input, sizes, stage));
    if (line.empty() || std::abs(line.back().x - at) > 0.01f)
      line.push_back({at, band.y});
    else
      line.pop_back();
    line.push_back({at, band.bottom()});
  }
  return line;
}

void draw_ghost(Canvas& canvas, const FigureInput& input, const StageRows& rows, const Scale& x,
                std::span<const Point> line) {
  if (line.empty()) return;
  const Sizes sizes = sizes_of(input);
  const float reach = canvas.px(4);
  for (int stage = 0; stage < rows.count; ++stage) {
    const Rect band = rows.band(stage);
    const double gb = ghost_gb(input, sizes, stage);
    canvas.tag_with("memory.baseline", stage, rect_between(x(gb) - reach, band.y, x(gb) + reach, band.bottom()),
                    [&] { return ghost_readout(input, gb); });
  }
  draw_ghost_line(canvas, input.theme, line);
}

// How far to the right a total goes so that no line of the capacity or the baseline runs through it.
float shift_past_lines(const Canvas& canvas, Rect text, float capacity, std::span<const Point> ghost) {
  const float from = text.x, clear = canvas.px(3);
  const auto keep_off = [&](float left, float right) {
    if (left >= text.right() + clear || right <= text.x - clear) return false;
    text.x = right + canvas.px(kTotalGap);
    return true;
  };
  for (bool moved = true; moved;) {
    moved = capacity > 0 && keep_off(capacity, capacity);
    for (std::size_t i = 1; i < ghost.size(); ++i) {
      const auto [top, bottom] = std::minmax(ghost[i - 1].y, ghost[i].y);
      const auto [left, right] = std::minmax(ghost[i - 1].x, ghost[i].x);
      if (top < text.bottom() && bottom > text.y && keep_off(left, right)) moved = true;
    }
  }
  return text.x - from;
}

void draw_totals(Canvas& canvas, const FigureInput& input, const FigureView& view, const StageRows& rows,
                 const Scale& x, std::span<const Point> ghost) {
  const Sizes sizes = sizes_of(input);
  const float height = number_line(canvas);
  // Where text is higher than rows, rows with a number have a total, and give way to the fullest.
  const auto has_total = [&](int stage) {
    if (stage == sizes.fullest) return true;
    if (view.compact || stage % rows.label_every != 0) return false;
    return static_cast<float>(std::abs(stage - sizes.fullest)) * rows.pitch >= height;
  };
  const float line = sizes.capacity_gb > 0 ? x(sizes.capacity_gb) : -1;
  for (int stage = 0; stage < rows.count; ++stage) {
    const bool fullest = stage == sizes.fullest, hovered = view.hovered_stage == stage;
    if (!has_total(stage)) continue;
    const double gb = total_gb(input.report.stages[static_cast<std::size_t>(stage)]);
    const TextStyle style = total_style(canvas, input.theme, fullest || hovered, sizes.over(gb));
    const std::string text = total_text(sizes, gb);
    const Rect bar = rows.bar(stage);
    const float half = height / 2;  // rows may be lower than text: it stays between header and axis
    Point at{x(gb) + canvas.px(kTotalGap), confined(bar.centre().y, rows.plot.y + half, rows.plot.bottom() - half)};
    at.x += shift_past_lines(canvas, canvas.text_bounds(at, text, style), line, ghost);
    // The tint of a row that is pointed at stays whole.
    if (hovered)
      canvas.text(at, text, style);
    else
      haloed_text(canvas, input.theme, at, text, style);
    canvas.tag_with(engine::quantity(Q::memory_total).id, stage, canvas.text_bounds(at, text, style), [&] {
      Readout r;
      r.title = input.texts.format("figure.memory.readout.total", {format_count(stage), bytes_text(gb * kGb)});
      return r;
    });
  }
}

FigureHead plan_head(const FigureInput& input) {
  const TextTable& t = input.texts;
  const bool several = input.report.stages.size() > 1;
  FigureHead head;
  head.title = several ? std::string(t.text("figure.memory.title.stages"))
                       : std::string(t.text(chip_key(input, "figure.memory.title")));
  if (input.report.stages.empty()) return head;
  const Sizes sizes = sizes_of(input);
  if (sizes.capacity_gb <= 0) {
    head.takeaway = t.format("figure.memory.used", {say(head, claim_of(input, engine::Q::memory_total))});
    return head;
  }
  Claim spare = claim_of(input, engine::Q::memory_free);
  const bool over = spare.value < 0;
  spare.shown = bytes_text(std::abs(spare.value));
  const std::string bytes = say(head, std::move(spare));
  if (over)
    head.takeaway = t.format("figure.memory.too_much", {bytes});
  else if (several)
    head.takeaway = t.format("figure.memory.free_on_stage",
                             {bytes, say(head, data_claim("stage", sizes.fullest, format_count(sizes.fullest)))});
  else
    head.takeaway = t.format("figure.memory.free", {bytes});
  return head;
}

FigureHead memory_head(const FigureInput& input, const FigureView&) {
  FigureHead head = plan_head(input);
  if (input.report.stages.empty()) return head;
  say_measured_bytes(input, head);
  if (sizes_of(input).ghost_gb <= 0) return head;
  if (head.brief.empty()) head.brief = head.takeaway;
  head.takeaway = input.texts.format("figure.memory.with_baseline",
                                     {head.takeaway, say(head, baseline_claim(input, engine::Q::memory_total))});
  return head;
}

void draw_memory(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, memory_head(input, view));
  const int stages = static_cast<int>(input.report.stages.size());
  if (stages == 0 || rest.empty()) return;
  if (stages == 1) {
    draw_single(canvas, rest, input, view);
    return;
  }
  const Sizes sizes = sizes_of(input);
  const PlotAxis any =
      gb_axis(input, Scale(ScaleKind::linear, 0, std::max(sizes.most_gb, sizes.capacity_gb), 0, 1), rest.w, canvas);
  const float measured = measured_height(canvas, input);
  Rect over = rest;
  over.cut_bottom(measured);
  // What has no room over the first bar stands in a key over all.
  const double axis_gb = std::max(sizes.most_gb, sizes.capacity_gb) * 1.1;
  const std::vector<KeyEntry> key =
      key_of_parts(canvas, input, view, axis_gb * static_cast<double>(canvas.px(1) / std::max(1.0f, rest.w)));
  const bool apart =
      view.print && rest.h > kHighEnough * key_row_height(canvas) && !names_fit(canvas, key, rest.w * kNamesShare);
  if (apart) {
    const Rect strip =
        over.cut_top(key_row_height(canvas) * static_cast<float>(key_rows(canvas, rest.w, key)) + canvas.px(4));
    draw_fitting_key(canvas, input.theme, {strip.x, strip.centre().y}, strip.w, key, {});
  }
  const StageRows rows =
      stage_rows(canvas, input.texts, over, stages, any, view.compact, row_word(input.report.pipeline.shape));
  const double end = axis_end(canvas, input, rows.plot.w, widest_total(canvas, input, sizes));
  const Scale x(ScaleKind::linear, 0, end, rows.plot.x, rows.plot.right());

  draw_stage_tint(canvas, input.theme, rows, view.hovered_stage);
  Frame frame;
  frame.x = gb_axis(input, x, rows.plot.w, canvas);
  frame.y.grid = frame.y.line = false;
  Rect framed = rows.plot;
  framed.h += measured;
  draw_frame(canvas, input.theme, framed, x, Scale(ScaleKind::linear, 0, 1, framed.bottom(), framed.y), frame);
  draw_stage_numbers(canvas, input.theme, input.texts, rows, view.hovered_stage);
  for (int stage = 0; stage < rows.count; ++stage)
    draw_stack(canvas, input, rows.bar(stage), x, stage, !view.compact);
  const std::vector<Point> ghost = ghost_line(input, rows, x);
  draw_ghost(canvas, input, rows, x, ghost);
  const Rect capacity =
      draw_capacity(canvas, input, x, rows.header.centre().y, rows.header.bottom() - canvas.px(5), framed.bottom());
  draw_measured_bytes(canvas, input, rect_between(framed.x, rows.plot.bottom(), framed.right(), framed.bottom()), x);
  if (!apart) draw_part_names(canvas, input, view, rows, x, capacity);
  draw_totals(canvas, input, view, rows, x, ghost);
}

constexpr std::array kHeldParts{Q::memory_weights, Q::memory_gradients, Q::memory_optimizer,
                                Q::memory_activations};  // in the order of engine::HeldMemory

std::string memory_data(const FigureInput& input, const FigureView&) {
  std::string out = "stage";
  for (const engine::Q part : engine::kMemoryParts) out += fmt::format("\t{}", engine::quantity(part).id);
  out += fmt::format("\t{}\n", engine::quantity(engine::Q::memory_total).id);
  for (std::size_t i = 0; i < input.report.stages.size(); ++i) {
    out += fmt::format("{}", i);
    for (const double bytes : input.report.stages[i].memory_bytes) out += fmt::format("\t{}", bytes);
    out += fmt::format("\t{}\n", input.report.stages[i].memory_total_bytes);
  }
  if (sizes_of(input).measured_gb > 0) {
    // Of the parts those that a run can tell: weights, gradients, optimizer, activations.
    out += input.run->allocated_bytes ? "measured allocated" : "measured reserved";
    for (const Part& part : parts()) {
      const auto held = std::find(kHeldParts.begin(), kHeldParts.end(), part.quantity);
      out += held != kHeldParts.end() && input.run->held_bytes
                 ? fmt::format("\t{}", (*input.run->held_bytes)[static_cast<std::size_t>(held - kHeldParts.begin())])
                 : std::string("\t");
    }
    out +=
        fmt::format("\t{}\n", input.run->allocated_bytes ? *input.run->allocated_bytes : *input.run->reserved_bytes);
  }
  return out;
}

}  // namespace

extern constinit const FigureRow memory_figure{
    .name = "memory",
    .measures = Measures::run,
    .rests = Rests::memory,
    .height_pt = 269.3f,
    .head = memory_head,
    .draw = draw_memory,
    .data = memory_data,
};

}  // namespace roofscape::widgets
