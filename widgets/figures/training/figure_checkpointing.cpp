// The checkpointing figure: memory of the fullest stage against recomputation for every policy, and the schemes that
// keep the inputs of C segments as a curve in C with the C near the square root of the layers marked.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/scenario/checkpoint_policies.h"
#include "engine/studies/checkpointing_study.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/line_chart.h"
#include "widgets/figures/training/figure_memory_parts.h"

namespace roofscape::widgets {

using engine::CheckpointingPoint;
using engine::CheckpointingStudy;
using engine::CheckpointPolicy;
using memory::bytes_text;
using memory::capacity_text;
using memory::kGb;

namespace {

constexpr float kOverTint = 0.08f;                   // of ink, where plans do not fit
constexpr double kRoom = 1.12;                       // of the axis of memory beyond the data
constexpr double kFarCapacity = 4;                   // times what plans take: a capacity beyond leaves the picture
constexpr double kLeastArithmetic = 1.34;            // that the axis reaches, a whole forward pass again
constexpr double kUnderOne = 0.1, kOverMost = 1.25;  // of the axis of arithmetic, for marks and names at its ends
constexpr int kMemoryNumbers = 8;                    // about as many on the axis of memory

const CheckpointingStudy& checkpointing_study_of(const FigureInput& input) {
  return input.studies.get<CheckpointingStudy>(input.scenario,
                                               [&] { return engine::checkpointing_study(input.scenario); });
}

std::string name_of(const FigureInput& input, const engine::Checkpointing& c) {
  const std::string key = "figure.checkpointing.policy." + std::string(engine::policy_id(c.policy));
  switch (engine::facts_of(c.policy).count) {
    case engine::CheckpointCount::k:
      return input.texts.format(key, {format_count(c.k)});
    case engine::CheckpointCount::blocks:
      return input.texts.format(key, {format_count(c.blocks)});
    default:
      return std::string(input.texts.text(key));
  }
}

bool in_segments(const CheckpointingPoint& p) {
  return engine::facts_of(p.checkpointing.policy).count == engine::CheckpointCount::segments;
}

// Policies first, then the curves.
std::vector<const CheckpointingPoint*> all_points(const CheckpointingStudy& study) {
  std::vector<const CheckpointingPoint*> out;
  for (const auto* points : {&study.policies, &study.segments, &study.segments_minimal})
    for (const CheckpointingPoint& p : *points) out.push_back(&p);
  return out;
}

const CheckpointingPoint* own_point(const CheckpointingStudy& study) {
  for (const CheckpointingPoint* p : all_points(study))
    if (p->own) return p;
  return nullptr;
}

bool drawable(const CheckpointingStudy& study) {
  return !study.policies.empty() && study.policies.front().work_s > 0 && study.policies.front().memory_bytes > 0;
}

Readout readout_of(const FigureInput& input, const CheckpointingPoint& p, double capacity_bytes) {
  const TextTable& t = input.texts;
  Readout r;
  r.title = in_segments(p) ? t.format("figure.checkpointing.readout.segments",
                                      {name_of(input, p.checkpointing), format_count(p.checkpointing.segments)})
                           : name_of(input, p.checkpointing);
  r.rows.emplace_back(t.text("figure.checkpointing.memory"), bytes_text(p.memory_bytes));
  r.rows.emplace_back(t.text("figure.checkpointing.recompute"), format_duration(p.recompute_s));
  r.rows.emplace_back(t.text("figure.checkpointing.step"), format_duration(p.step_s));
  if (!p.fits) r.rows.emplace_back(t.text("figure.checkpointing.over"), bytes_text(p.memory_bytes - capacity_bytes));
  return r;
}

ChartLine curve_of(const FigureInput& input, const CheckpointingStudy& study,
                   const std::vector<CheckpointingPoint>& points, Stroke stroke) {
  ChartLine line;
  for (const CheckpointingPoint& p : points) line.points.push_back({p.memory_bytes / kGb, p.arithmetic()});
  line.stroke = stroke;
  line.tag = "checkpointing.curve";
  const double capacity = study.capacity_bytes;
  line.readout = [&input, &points, capacity](const ChartPoint& at) {
    for (const CheckpointingPoint& p : points)
      if (p.memory_bytes / kGb == at.x && p.arithmetic() == at.y) return readout_of(input, p, capacity);
    return Readout{};
  };
  return line;
}

Chart chart_of(const FigureInput& input, const CheckpointingStudy& study, float em) {
  const Theme& theme = input.theme;
  const TextTable& t = input.texts;
  Chart chart;
  chart.letters = true;
  chart.x_kind = chart.y_kind = ScaleKind::linear;
  chart.x_title = t.text(chip_key(input, "figure.memory.x"));
  chart.y_title = t.text("figure.checkpointing.y");
  double high = 0, most = kLeastArithmetic;
  for (const CheckpointingPoint* p : all_points(study)) {
    // The minimal way computes several times as much: a number in the note, no part of the axes.
    if (p->checkpointing.policy == CheckpointPolicy::segments_minimal && !p->own) continue;
    if (!in_segments(*p) || p->own) high = std::max(high, p->memory_bytes / kGb);
    most = std::max(most, p->arithmetic());
  }
  const double capacity = study.capacity_bytes / kGb;
  if (capacity > 0 && capacity < kFarCapacity * high) high = std::max(high, capacity);
  const double step = tick_step(high * kRoom, kMemoryNumbers);
  chart.x_from = 0, chart.x_to = std::ceil(high * kRoom / step) * step;
  chart.y_from = 1 - kUnderOne * (most - 1), chart.y_to = 1 + (most - 1) * kOverMost;
  if (capacity > 0 && capacity < chart.x_to)
    chart.bands.push_back({capacity, chart.x_to, kOverTint,
                           t.format("figure.checkpointing.beyond", {capacity_text(study.capacity_bytes)}), false,
                           true, "> " + capacity_text(study.capacity_bytes)});

  const float width = theme.data_width * em;
  if (study.segments.size() > 1)
    chart.lines.push_back(curve_of(input, study, study.segments, {theme.ink3, width, Dash{12, 4}.scaled(width / 2)}));
  const auto dot = [&](const CheckpointingPoint& p, std::string text) {
    ChartDot d;
    d.at = {p.memory_bytes / kGb, p.arithmetic()};
    d.text = std::move(text);
    d.bold = p.own;
    d.tag = p.own ? std::string("memory.chip_total_bytes") : std::string("checkpointing.policy");
    d.colour = p.own ? theme.ink : p.fits ? theme.ink2 : theme.ink3;
    d.size = p.own ? 10.0f : 6.0f;
    d.readout = readout_of(input, p, study.capacity_bytes);
    chart.dots.push_back(std::move(d));
  };
  // The plan's own first, so that its name has the first choice of room.
  if (const CheckpointingPoint* own = own_point(study))
    dot(*own, t.format("figure.checkpointing.own", {name_of(input, own->checkpointing)}));
  for (const CheckpointingPoint& p : study.policies)
    if (!p.own) dot(p, name_of(input, p.checkpointing));
  for (const CheckpointingPoint& p : study.segments)
    if (p.checkpointing.segments == study.root && !p.own)
      dot(p, t.format("figure.checkpointing.root", {format_count(study.root)}));
  if (input.baseline) {
    const engine::QuantityValues& base = input.baseline->report.quantities;
    // The arithmetic of its own step, whose recomputation has a part of its own.
    const double recompute = base.value_or(engine::Q::step_recompute, 0),
                 work = base.value_or(engine::Q::step_matmul, 0) + base.value_or(engine::Q::step_attention, 0);
    if (work > 0)
      add_baseline(chart, input, {base.value_or(engine::Q::memory_total, 0) / kGb, (work + recompute) / work});
  }
  if (study.segments.size() > 1) chart.note = t.text("figure.checkpointing.dashed");
  const auto least = std::min_element(
      study.segments_minimal.begin(), study.segments_minimal.end(),
      [](const CheckpointingPoint& a, const CheckpointingPoint& b) { return a.memory_bytes < b.memory_bytes; });
  if (least != study.segments_minimal.end())
    chart.note += (chart.note.empty() ? "" : " ") +
                  t.format("figure.checkpointing.minimal",
                           {format_count(least->checkpointing.segments), bytes_text(least->memory_bytes),
                            format_ratio(least->arithmetic())});
  return chart;
}

FigureHead checkpointing_head(const FigureInput& input, const FigureView&) {
  const TextTable& t = input.texts;
  FigureHead head;
  if (input.baseline) head.context = compared_context(input);
  head.title = t.text("figure.checkpointing.title");
  const CheckpointingStudy& study = checkpointing_study_of(input);
  const CheckpointingPoint* own = own_point(study);
  if (!drawable(study) || own == nullptr) return head;
  const CheckpointingPoint& none = study.policies.front();
  const std::string bytes = say(head, claim_of(input, engine::Q::memory_total, bytes_text(own->memory_bytes)));
  if (own->checkpointing.policy == CheckpointPolicy::none)
    head.takeaway = t.format("figure.checkpointing.takeaway.none", {bytes});
  else {
    const std::string arithmetic =
        say(head, own_claim("checkpointing.arithmetic", own->arithmetic(), format_ratio(own->arithmetic())));
    const std::string name = say(head, name_claim(name_of(input, own->checkpointing))),
                      before = bytes_text(none.memory_bytes);
    // As where attention scores are never stored.
    if (bytes_text(own->memory_bytes) == before)
      head.takeaway = t.format("figure.checkpointing.takeaway.idle", {name, bytes, arithmetic});
    else
      head.takeaway =
          t.format("figure.checkpointing.takeaway",
                   {name, bytes, say(head, data_claim("memory bytes", none.memory_bytes, before)), arithmetic});
    head.brief = t.format("figure.checkpointing.takeaway.brief", {bytes, arithmetic});
  }
  return head;
}

void draw_checkpointing(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, checkpointing_head(input, view));
  if (rest.empty()) return;
  const CheckpointingStudy& study = checkpointing_study_of(input);
  if (!drawable(study))
    return draw_empty_state(canvas, input.theme, rest, input.texts.text("figure.checkpointing.empty"));
  draw_line_chart(canvas, rest, input.theme,
                  on_held_axes(chart_of(input, study, canvas.em()), input, "checkpointing"));
}

std::string checkpointing_data(const FigureInput& input, const FigureView&) {
  std::string out = "policy\tsegments\tmemory bytes\trecompute s\tstep s\tfits\n";
  for (const CheckpointingPoint* p : all_points(checkpointing_study_of(input)))
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", engine::policy_id(p->checkpointing.policy),
                       in_segments(*p) ? std::to_string(p->checkpointing.segments) : "", p->memory_bytes,
                       p->recompute_s, p->step_s, p->fits ? "yes" : "no");
  return out;
}

}  // namespace

extern constinit const FigureRow checkpointing_figure{
    .name = "checkpointing",
    .head = checkpointing_head,
    .draw = draw_checkpointing,
    .data = checkpointing_data,
};

}  // namespace roofscape::widgets
