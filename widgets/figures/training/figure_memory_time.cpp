// The memory-time figure: HBM of one stage's chip over the step, parts stacked, the peak against the capacity.
// Option `stage`: the fullest, the first, the middle or the last; `scale`: where the vertical axis ends.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "engine/studies/memory_timeline.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_options.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/line_chart.h"
#include "widgets/figures/common/stage_rows.h"
#include "widgets/figures/training/figure_memory_parts.h"
#include "widgets/figures/training/figure_pipeline_parts.h"
#include "widgets/plot/label_field.h"

namespace roofscape::widgets {

using engine::MemoryTimeline;
using engine::Q;
using namespace memory;

namespace {

enum class StageAt : std::uint8_t { fullest, first, middle, last };
// How far the vertical axis goes: to the capacity, to the peak, or to the capacity where the peak is not far below it.
enum class AxisEnd : std::uint8_t { automatic, capacity, peak };
constexpr std::array<std::string_view, 4> kStages{"fullest", "first", "middle", "last"};
constexpr std::array<std::string_view, 3> kScales{"auto", "capacity", "peak"};
constexpr FigureOptions kMemoryTimeOptions{OptionOf<StageAt>{"stage", kStages}, OptionOf<AxisEnd>{"scale", kScales}};

constexpr float kPeak = 8;                        // diameter of the dot, at scale 1
constexpr int kPeakRows = 14, kPeakColumns = 17;  // places tried for the name of a peak
constexpr int kLeaderSteps = 12;
constexpr int kPeakPieces = 60;  // of the activations' line, for that
constexpr float kPeakReach = 3;  // px: of a line that names keep clear of
constexpr double kFar = 0.4;     // of the capacity: a peak below it is shown larger, the capacity beyond the axis

// Whether the capacity lies beyond the end of the vertical axis.
bool beyond(const FigureView& view, double peak_gb, double capacity_gb) {
  if (capacity_gb <= peak_gb) return false;
  const auto end = kMemoryTimeOptions.chosen<AxisEnd>(view);
  return end == AxisEnd::peak || (end == AxisEnd::automatic && peak_gb < kFar * capacity_gb);
}

int stage_of(const FigureInput& input, const FigureView& view) {
  const int last = static_cast<int>(input.report.stages.size()) - 1;
  switch (kMemoryTimeOptions.chosen<StageAt>(view)) {
    case StageAt::fullest:
      break;
    case StageAt::first:
      return 0;
    case StageAt::middle:
      return last / 2;
    case StageAt::last:
      return last;
  }
  return std::clamp(input.report.fullest_stage, 0, std::max(0, last));
}

struct Band {
  Part part;
  double from_gb = 0, to_gb = 0;  // of activations: at the peak
};
// From below: what is there all the time, activations on top.
std::vector<Band> bands_of(const FigureInput& input, int stage) {
  const engine::StageRow& row = input.report.stages[static_cast<std::size_t>(stage)];
  std::vector<Band> out;
  double at = 0;
  const auto add = [&](const Part& part) {
    const double gb = row.memory_bytes[part.index] / kGb;
    if (gb > 0) out.push_back({part, at, at + gb});
    at += gb;
  };
  for (const Part& part : parts())
    if (part.look != MemoryPart::activations) add(part);
  for (const Part& part : parts())
    if (part.look == MemoryPart::activations) add(part);
  return out;
}

struct Piece {
  double from_s = 0, to_s = 0, from_gb = 0, to_gb = 0;
};
// The activations as pieces to draw, at most about one a column of the plot: of what falls into a column, the most.
std::vector<Piece> pieces_of(const MemoryTimeline& t, int columns) {
  std::vector<Piece> out;
  const auto at = [&t](std::size_t i) { return i < t.points.size() ? t.points[i].seconds : t.end_s; };
  if (static_cast<int>(t.points.size()) <= columns) {
    for (std::size_t i = 0; i < t.points.size(); ++i) {
      const double gb = t.points[i].activation_bytes / kGb;
      const double next = t.holds ? gb : (i + 1 < t.points.size() ? t.points[i + 1].activation_bytes / kGb : gb);
      if (at(i + 1) > at(i)) out.push_back({at(i), at(i + 1), gb, next});
    }
    return out;
  }
  std::size_t i = 0;
  for (int c = 0; c < columns; ++c) {
    const double from = t.end_s * c / columns, to = t.end_s * (c + 1) / columns;
    double most = t.points[i].activation_bytes;
    while (i + 1 < t.points.size() && t.points[i + 1].seconds < to)
      most = std::max(most, t.points[++i].activation_bytes);
    if (!out.empty() && out.back().to_gb == most / kGb)
      out.back().to_s = to;
    else
      out.push_back({from, to, most / kGb, most / kGb});
  }
  return out;
}

// One area in pieces: its ground first, without a seam where two meet, then a hatch that runs over all of them.
template <class At>
void draw_pieces(Canvas& canvas, Fill fill, const std::vector<Piece>& pieces, const Rect& area, At&& at) {
  Fill ground;
  ground.colour = fill.colour;
  const auto each = [&](auto&& draw) {
    for (const Piece& p : pieces)
      if (p.from_gb > 0 || p.to_gb > 0) {
        const Point a = at(p.from_s, p.from_gb), b = at(p.to_s, p.to_gb);
        const std::array<Point, 4> corners{a, b, Point{b.x, area.bottom()}, Point{a.x, area.bottom()}};
        draw(corners);
      }
  };
  each([&](const std::array<Point, 4>& piece) { canvas.polygon(piece, ground); });
  const float overlap = canvas.px(0.5f);
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const double level = std::min(pieces[i - 1].to_gb, pieces[i].from_gb);
    const Point joint = at(pieces[i].from_s, level);
    if (level > 0)
      canvas.rect(rect_between(joint.x - overlap, joint.y + overlap, joint.x + overlap, area.bottom()), ground);
  }
  fill.colour = kTransparent;
  fill.edge_width = 0;
  fill.hatch_area = area;
  each([&](const std::array<Point, 4>& piece) { canvas.polygon(piece, fill); });
}

std::string total_text(const FigureInput& input, int stage) {
  return bytes_text(input.report.stages[static_cast<std::size_t>(stage)].memory_total_bytes);
}

struct SideLabel {
  std::string text;
  Colour colour;
  double gb = 0;
  bool keep = false;  // others go first where not all have room
  double weight = 0;
};

// Names of the bands, and the capacity, at the right of the plot at their heights.
std::vector<SideLabel> side_labels(const FigureInput& input, const std::vector<Band>& bands, bool capacity_beyond) {
  std::vector<SideLabel> out;
  for (const Band& b : bands)
    out.push_back({part_name(input, b.part), line_of(input.theme, b.part.look), (b.from_gb + b.to_gb) / 2, false,
                   b.to_gb - b.from_gb});
  const double capacity = sizes_of(input).capacity_gb;
  if (capacity > 0) {
    const std::string text = format(capacity * kGb, engine::unit::bytes, {.trim_zeros = true});
    out.push_back({capacity_beyond ? input.texts.format("figure.memory-time.beyond", {text}) : text, input.theme.err,
                   capacity, true, 0});
  }
  return out;
}

std::string empty_key(const FigureInput& input) {
  return input.report.stages.size() > 1 ? "figure.memory-time.empty.pipeline" : "figure.memory-time.empty";
}

// A claim that is no quantity of the report and rests on its memory.
Claim of_memory(Claim claim) {
  claim.of = {engine::Q::memory_total};
  return claim;
}

// The same stage of the baseline, its fullest where the plan's is shown: all that stands in its memory over time.
struct BaselineTrace {
  std::vector<ChartPoint> points;  // seconds and GB
  double end_s = 0, peak_gb = 0, peak_s = 0;
};
std::optional<BaselineTrace> baseline_trace(const FigureInput& input, const FigureView& view) {
  if (input.baseline == nullptr || input.baseline->report.stages.empty()) return std::nullopt;
  FigureInput before{input.baseline->scenario, input.baseline->report, input.texts, input.theme, input.studies};
  const int stage = stage_of(before, view);
  const auto timeline = engine::memory_timeline(before.scenario, before.report, stage);
  if (!timeline) return std::nullopt;
  BaselineTrace out;
  double fixed = 0;
  for (const Band& b : bands_of(before, stage))
    if (b.part.look != MemoryPart::activations) fixed += b.to_gb - b.from_gb;
  for (const engine::MemoryTimelinePoint& p : timeline->points)
    out.points.push_back({p.seconds, fixed + p.activation_bytes / kGb});
  out.end_s = timeline->end_s;
  out.peak_s = timeline->peak_s;
  out.peak_gb = before.report.stages[static_cast<std::size_t>(stage)].memory_total_bytes / kGb;
  return out;
}

FigureHead memory_time_head(const FigureInput& input, const FigureView& view) {
  const TextTable& t = input.texts;
  FigureHead head;
  head.title = t.text("figure.memory-time.title");
  if (input.report.stages.empty()) return head;
  const int stage = stage_of(input, view);
  const auto timeline = engine::memory_timeline(input.scenario, input.report, stage);
  if (!timeline) return head;
  const double bytes = input.report.stages[static_cast<std::size_t>(stage)].memory_total_bytes;
  const std::string peak =
      say(head, of_memory(own_claim("memory-time.stage_bytes", bytes, total_text(input, stage))));
  head.brief = t.format("figure.memory-time.takeaway.brief", {peak});
  if (baseline_trace(input, view)) {
    head.takeaway = t.format("figure.memory-time.takeaway.baseline",
                             {peak, say(head, baseline_claim(input, engine::Q::memory_total))});
    head.context = compared_context(input);
    return head;
  }
  if (input.report.stages.size() > 1)
    head.takeaway = t.format("figure.memory-time.takeaway.stage",
                             {peak, say(head, beside_claim("memory-time.stage", stage, format_count(stage))),
                              say(head, data_claim("seconds", timeline->peak_s, format_duration(timeline->peak_s)))});
  else if (timeline->microbatches > 1)
    head.takeaway =
        t.format("figure.memory-time.takeaway.many",
                 {peak, say(head, claim_of(input, engine::Q::microbatches, format_count(timeline->microbatches)))});
  else
    head.takeaway = t.format("figure.memory-time.takeaway", {peak});
  return head;
}

// What must stay legible around the two peaks: the lines of both plans, the capacity, the dot and the words placed.
struct PeakLabels {
  LabelField clear, over;  // places beside the plan's memory, and on it too
  Rect dot;
  std::vector<Rect> named = {};
};

// A label of a peak at `top`: beside it, or as near as it covers no line, then with a leader. First where nothing is
// drawn, then over the plan's memory; over a line where there is no other place.
void name_peak(Canvas& canvas, const Theme& theme, PeakLabels& labels, Point top, const std::string& words,
               const TextStyle& style) {
  const Rect& room = labels.clear.room();
  const float width = canvas.text_width(words, style), line = small_line(canvas), gap = canvas.px(6);
  const Point first{confined(top.x + canvas.px(8), room.x, room.right() - width), top.y - gap - line};
  std::vector<Point> corners{first};
  for (int row = 0; row < kPeakRows; ++row)
    for (int column = 0; column < kPeakColumns; ++column)
      corners.push_back({room.x + (room.w - width) * static_cast<float>(column) / (kPeakColumns - 1),
                         room.y + (room.h - line) * static_cast<float>(row) / (kPeakRows - 1)});
  std::stable_sort(corners.begin() + 1, corners.end(), [&](Point a, Point b) {
    const auto far = [&](Point p) { return distance({confined(top.x, p.x, p.x + width), p.y + line / 2}, top); };
    return far(a) < far(b);
  });
  const auto leader = [&](Point corner) {
    const Rect box{corner.x, corner.y, width, line};
    return Point{confined(top.x, box.x, box.right()), confined(top.y, box.y, box.bottom())};
  };
  std::erase_if(corners, [&](Point corner) {  // those whose leader would run through the other's words
    const Point from = leader(corner);
    for (const Rect& named : labels.named)
      for (int step = 0; step <= kLeaderSteps; ++step)
        if (named.contains(from + (top - from) * (static_cast<float>(step) / kLeaderSteps))) return true;
    return false;
  });
  std::optional<Rect> place = labels.clear.place({width, line}, corners);
  if (!place) place = labels.over.place({width, line}, corners);
  const Rect box = place.value_or(Rect{first.x, confined(first.y, room.y, room.bottom() - line), width, line});
  const Point near = leader({box.x, box.y});
  labels.named.push_back(box);
  for (LabelField* field : {&labels.clear, &labels.over}) {
    field->take(box);
    field->take_line(near, top, canvas.px(2));
  }
  if (const float far = distance(near, top); far > line) {
    const Point way = (top - near) * (1 / far);
    canvas.line(near + way * canvas.px(2), top - way * canvas.px(2),
                {theme.ink3, theme.axis_width * canvas.em(), {}});
  }
  haloed_text(canvas, theme, {box.x, box.centre().y}, words, style);
}

void draw_memory_time(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, memory_time_head(input, view));
  if (rest.empty()) return;
  const Theme& theme = input.theme;
  const TextTable& t = input.texts;
  const int stage = stage_of(input, view);
  const auto timeline = engine::memory_timeline(input.scenario, input.report, stage);
  if (!timeline) {
    if (input.report.stages.size() > 1 && !input.report.pipeline.status.legal())
      return draw_schedule_reason(canvas, rest, input);
    return draw_empty_state(canvas, theme, rest, t.text(empty_key(input)));
  }
  const std::vector<Band> bands = bands_of(input, stage);
  const Sizes sizes = sizes_of(input);
  const double peak = bands.empty() ? 0 : bands.back().to_gb;
  const std::optional<BaselineTrace> before = baseline_trace(input, view);
  const double end_s = std::max(timeline->end_s, before ? before->end_s : 0),
               most_gb = std::max(peak, before ? before->peak_gb : 0);
  const TimeUnit unit = time_unit(end_s);

  Frame frame;
  frame.y.title = t.text(chip_key(input, "figure.memory.x"));
  const bool far = beyond(view, most_gb, sizes.capacity_gb);
  const Scale y_domain(ScaleKind::linear, 0, far ? 1.25 * most_gb : 1.12 * std::max(most_gb, sizes.capacity_gb), 0,
                       1);
  frame.y.ticks =
      ticks(y_domain, {std::clamp(static_cast<int>(rest.h / canvas.px(45)), 2, 6), TickLabels::plain, false});
  const Scale x_domain(ScaleKind::linear, 0, end_s / unit.seconds, 0, 1);
  frame.x = time_axis(canvas, input, x_domain, unit, rest.w * 0.7f);
  frame.x.grid = false;

  std::vector<SideLabel> labels = side_labels(input, bands, far);
  const TextStyle style = small_text(canvas, theme.ink2, HAlign::left);
  if (timeline->microbatches_shown < timeline->microbatches) {
    const auto title = [&](const char* key) {
      return t.format(key, {std::string(t.text(unit.key)), format_count(timeline->microbatches_shown),
                            format_count(timeline->microbatches)});
    };
    frame.x.title = title("figure.memory-time.x.first");
    if (canvas.text_width(frame.x.title, style) > rest.w * 0.7f)
      frame.x.title = title("figure.memory-time.x.first.short");
  }
  float widest = 0;
  for (const SideLabel& l : labels) widest = std::max(widest, canvas.text_width(l.text, style));
  widest = std::min(widest, rest.w * 0.3f);
  Rect framed = plot_rect(canvas, rest, frame);
  const Rect plot = rect_between(framed.x, framed.y, rest.right() - widest - canvas.px(12), framed.bottom());
  if (plot.w < canvas.px(40) || plot.h < canvas.px(24)) return;
  const Scale x = x_domain.with_range(plot.x, plot.right()), y = y_domain.with_range(plot.bottom(), plot.y);
  draw_frame(canvas, theme, plot, x, y, frame);

  for (const Band& b : bands) {
    Fill fill = fill_of(theme, b.part.look, canvas.em());
    if (view.compact) fill.hatch = Hatch::none;
    if (b.part.look != MemoryPart::activations) {
      const Rect r = rect_between(plot.x, y(b.to_gb), x(timeline->end_s / unit.seconds), y(b.from_gb));
      if (r.h < canvas.px(4)) fill.edge_width = 0;
      canvas.rect(r, fill);
      canvas.tag_with(engine::quantity(b.part.quantity).id, stage, r,
                      [&] { return part_readout(input, stage, b.part); });
      continue;
    }
    const std::vector<Piece> pieces = pieces_of(*timeline, static_cast<int>(plot.w / canvas.px(1)));
    const float base = y(b.from_gb);
    draw_pieces(canvas, fill, pieces, rect_between(plot.x, y(b.to_gb), plot.right(), base), [&](double s, double gb) {
      return Point{x(s / unit.seconds), y(b.from_gb + gb)};
    });
    for (const Piece& p : pieces) {
      const float left = x(p.from_s / unit.seconds), right = x(p.to_s / unit.seconds);
      canvas.tag_with(
          engine::quantity(Q::memory_activations).id, stage, rect_between(left, plot.y, right, base), [&] {
            Readout r;
            const std::string name = part_name(input, b.part), end = bytes_text(p.to_gb * kGb);
            r.title = p.from_gb == p.to_gb
                          ? t.format("figure.memory.readout", {name, end})
                          : t.format("figure.memory-time.changing", {name, bytes_text(p.from_gb * kGb), end});
            r.rows.emplace_back(t.text("figure.memory-time.from"), format_duration(p.from_s));
            r.rows.emplace_back(t.text("figure.memory-time.to"), format_duration(p.to_s));
            r.rows.emplace_back(t.text("figure.memory.total"),
                                bytes_text((b.from_gb + std::max(p.from_gb, p.to_gb)) * kGb));
            return r;
          });
    }
  }
  if (sizes.capacity_gb > 0 && !far) {
    const float at = y(sizes.capacity_gb), reach = canvas.px(4);
    canvas.line({plot.x, at}, {plot.right(), at}, {theme.err, theme.data_width * canvas.em() * 0.8f, {}});
    canvas.tag_with(engine::quantity(Q::hbm_capacity).id, -1,
                    rect_between(plot.x, at - reach, plot.right(), at + reach), [&] {
                      Readout r;
                      r.title = t.format("figure.memory.readout.capacity", {capacity_text(sizes.capacity_gb * kGb)});
                      return r;
                    });
  }

  std::vector<Point> trace;
  if (before) {
    for (const ChartPoint& p : before->points) {
      const Point at{x(p.x / unit.seconds), y(p.y)};
      if (!trace.empty() && at.x - trace.back().x < canvas.px(0.5f) &&
          std::abs(at.y - trace.back().y) < canvas.px(0.5f))
        continue;
      trace.push_back(at);
    }
    memory::draw_ghost_line(canvas, theme, trace);
  }

  // Names at the right, the least ones left out where they would not fit.
  const float pitch = kLabelPitch * style.em;
  const auto fit = static_cast<std::size_t>(std::max(1.0f, plot.h / pitch));
  while (labels.size() > fit)
    labels.erase(std::min_element(labels.begin(), labels.end(), [](const SideLabel& a, const SideLabel& b) {
      return a.keep != b.keep ? b.keep : a.weight < b.weight;
    }));
  std::vector<float> wanted;
  for (const SideLabel& l : labels) wanted.push_back(std::max(plot.y, y(l.gb)));
  const std::vector<float> placed = spread(wanted, pitch, plot.y, plot.bottom());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    TextStyle s = style;
    s.colour = readable(labels[i].colour, theme.panel);
    const float start = plot.right() + canvas.px(10);
    if (std::abs(placed[i] - wanted[i]) > style.em * 0.35f && labels[i].gb <= y_domain.to())
      canvas.line({plot.right() + canvas.px(2), wanted[i]}, {start - canvas.px(2), placed[i]},
                  {theme.ink3, theme.axis_width * canvas.em(), {}});
    canvas.text({start, placed[i]}, ellipsize(canvas, labels[i].text, s, rest.right() - start), s);
  }

  // The peak, with its number, then the baseline's.
  const Point dot{x(timeline->peak_s / unit.seconds), y(peak)};
  canvas.marker(dot, Marker::circle, canvas.px(kPeak), Fill{.colour = theme.ink});
  const std::string text = t.format("figure.memory-time.peak", {total_text(input, stage)});
  const float pad = canvas.px(4), dot_size = canvas.px(kPeak + 2 * kPeakReach);
  const Rect room = plot.inset(pad, 1);
  PeakLabels names{
      LabelField(room), LabelField(room), {dot.x - dot_size / 2, dot.y - dot_size / 2, dot_size, dot_size}};
  for (LabelField* field : {&names.clear, &names.over}) {
    field->take(names.dot);
    for (std::size_t i = 1, from = 0; i < trace.size(); ++i) {
      if (distance(trace[from], trace[i]) < canvas.px(kPeakReach)) continue;
      field->take_line(trace[from], trace[i], canvas.px(kPeakReach));
      from = i;
    }
    if (sizes.capacity_gb > 0 && !far) {
      const float at = y(sizes.capacity_gb);
      field->take({plot.x, at - canvas.px(1), plot.w, canvas.px(2)});
    }
  }
  for (const Band& b : bands) {
    if (b.part.look != MemoryPart::activations) {
      names.clear.take(rect_between(plot.x, y(b.to_gb), x(timeline->end_s / unit.seconds), y(b.from_gb)));
      continue;
    }
    for (const Piece& p : pieces_of(*timeline, kPeakPieces)) {
      const float left = x(p.from_s / unit.seconds), right = x(p.to_s / unit.seconds);
      const Point from{left, y(b.from_gb + p.from_gb)}, to{right, y(b.from_gb + p.to_gb)};
      names.over.take_line(from, to, canvas.px(2));
      // Its area in steps, from the base up to the line.
      constexpr int kSteps = 8;
      for (int i = 0; i < kSteps; ++i) {
        const float a = static_cast<float>(i) / kSteps, c = static_cast<float>(i + 1) / kSteps;
        names.clear.take(rect_between(from.x + (to.x - from.x) * a,
                                      std::min(from.y + (to.y - from.y) * a, from.y + (to.y - from.y) * c),
                                      from.x + (to.x - from.x) * c, y(b.from_gb)));
      }
    }
  }
  name_peak(canvas, theme, names, dot, text, small_text(canvas, theme.ink, HAlign::left, Weight::bold));
  if (before)
    name_peak(canvas, theme, names, {x(before->peak_s / unit.seconds), y(before->peak_gb)},
              t.format("figure.memory-time.baseline", {bytes_text(before->peak_gb * kGb)}),
              small_text(canvas, theme.ink2, HAlign::left));
  const float reach = canvas.px(6);
  canvas.tag_with(engine::quantity(Q::memory_total).id, stage, {dot.x - reach, dot.y - reach, 2 * reach, 2 * reach},
                  [&] {
                    Readout r;
                    r.title = text;
                    r.rows.emplace_back(t.text("figure.memory-time.from"), format_duration(timeline->peak_s));
                    return r;
                  });
}

std::string memory_time_data(const FigureInput& input, const FigureView& view) {
  std::string out = "seconds\tactivation bytes\ttotal bytes\n";
  const int stage = stage_of(input, view);
  const auto timeline = engine::memory_timeline(input.scenario, input.report, stage);
  if (!timeline) return out;
  double fixed = 0;
  for (const Part& part : parts())
    if (part.look != MemoryPart::activations)
      fixed += input.report.stages[static_cast<std::size_t>(stage)].memory_bytes[part.index];
  for (const engine::MemoryTimelinePoint& p : timeline->points)
    out += fmt::format("{}\t{}\t{}\n", p.seconds, p.activation_bytes, fixed + p.activation_bytes);
  return out;
}

}  // namespace

extern constinit const FigureRow memory_time_figure{
    .name = "memory-time",
    .rests = Rests::memory,
    .height_pt = 255.1f,
    .options = kMemoryTimeOptions.rows,
    .head = memory_time_head,
    .draw = draw_memory_time,
    .data = memory_time_data,
};

}  // namespace roofscape::widgets
