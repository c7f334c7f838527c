// The frontier figure: step time against memory of the plans a search priced, those no other plan beats in both as a
// stepped line, the capacity, the best plans by their rank, and the present plan with its distance to the best. Dots
// are tagged "frontier.plan" with their index of search::plan_at.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/front_picture.h"
#include "widgets/figures/search/figure_search_parts.h"
#include "widgets/figures/search/figure_serving_search.h"
#include "widgets/figures/training/figure_memory_parts.h"

namespace roofscape::widgets {

using engine::RankedPlan;
using engine::SearchResult;
using memory::bytes_text;
using memory::kGb;
using search::AnyPlan;
using search::TrainingShown;

namespace {

constexpr double kSlowest = 1.9;     // times the best that are shown at least
constexpr double kLinearUpTo = 5;    // ratio of the ends from which the axis of times is logarithmic
constexpr double kKnee = 1.05;       // times the best that a plan of little memory may take to be worth naming
constexpr double kUnderBest = 0.08;  // of the axis of times, where the numbers of the best stand
constexpr double kLittle = 0.2, kAxisRoom = 1.15;  // of what a chip holds; right of the largest plan
constexpr double kKneeMemory = 0.7;                // of the best plan's memory that it takes at most

struct Ends {
  double memory_gb = 1, fast_s = 1, slow_s = 10;
};

// The best plan and the present one stand inside; what is far slower or larger does not.
Ends ends_of(const TrainingShown& shown) {
  const SearchResult& r = *shown.result;
  double best = std::numeric_limits<double>::infinity(), slowest = 0;
  for (const engine::SampledPlan& s : r.sample)
    best = std::min(best, s.step_time_s), slowest = std::max(slowest, s.step_time_s);
  if (shown.fits()) best = r.front.back().step_time_s, slowest = std::max(slowest, r.front.front().step_time_s);
  Ends e;
  e.slow_s = std::min(slowest, kSlowest * best);
  double memory = shown.capacity_bytes * 1.1;
  if (r.present_legal && r.present.step_time_s > 0) {
    e.slow_s = std::max(e.slow_s, 1.1 * r.present.step_time_s);
    best = std::min(best, r.present.step_time_s);
    if (r.present.memory_bytes < 2 * shown.capacity_bytes) memory = std::max(memory, 1.1 * r.present.memory_bytes);
  }
  // Plans that take little of a chip fill the plot; what it holds is said below.
  double largest = r.present_legal ? r.present.memory_bytes : 0;
  for (const engine::SampledPlan& s : r.sample)
    if (s.step_time_s <= e.slow_s) largest = std::max(largest, s.memory_bytes);
  for (const auto* plans : {&r.best, &r.front})
    for (const RankedPlan& p : *plans)
      if (p.step_time_s <= e.slow_s) largest = std::max(largest, p.memory_bytes);
  if (largest > 0 && (largest < kLittle * memory || !(memory > 0))) memory = kAxisRoom * largest;
  e.memory_gb = memory / kGb;
  e.fast_s = best * 0.94;
  if (!(e.slow_s > 1.1 * e.fast_s)) e.slow_s = 1.5 * e.fast_s;
  return e;
}

// The smallest plan that is hardly slower than the best.
const RankedPlan* knee_of(const TrainingShown& shown) {
  const auto& front = shown.result->front;
  if (front.empty()) return nullptr;
  for (const RankedPlan& p : front)
    if (p.step_time_s <= kKnee * front.back().step_time_s)
      return p.memory_bytes <= kKneeMemory * front.back().memory_bytes ? &p : nullptr;
  return nullptr;
}

// Step time against memory.
FrontPicture picture_of(const FigureInput& input, const TrainingShown& shown, const FigureView& view) {
  const TextTable& t = input.texts;
  const SearchResult& r = *shown.result;
  const Ends e = ends_of(shown);
  const double unit_s = e.slow_s < 1 ? 1e-3 : 1;
  const auto dot = [unit_s](const auto& p, bool fits = true) {
    return FrontDot{p.memory_bytes / kGb, p.step_time_s / unit_s, fits};
  };
  FrontPicture out;
  out.x_to = e.memory_gb, out.y_from = e.fast_s / unit_s, out.y_to = e.slow_s / unit_s;
  out.x_title = t.text(chip_key(input, "figure.frontier.x"));
  out.y_title = t.text(unit_s < 1 ? "figure.frontier.y.ms" : "figure.frontier.y.s");
  for (const RankedPlan& p : r.best) out.best.push_back(dot(p));
  for (const RankedPlan& p : r.front) out.front.push_back(dot(p));
  for (const engine::SampledPlan& p : r.sample) out.cloud.push_back(dot(p, p.fits));
  if (!r.front.empty())
    out.front_end = (shown.capacity_bytes > 0 ? shown.capacity_bytes : r.front.back().memory_bytes) / kGb;
  out.tag = "frontier.plan";
  out.readout = [&input, shown](std::size_t i) {
    return search::readout_of(input, shown, search::plan_at(*shown.result, i),
                              i == search::present_index(*shown.result));
  };
  if (shown.capacity_bytes > 0)
    out.limit = {shown.capacity_bytes / kGb,
                 memory::capacity_words(t, shown.scenario->cluster.chip, shown.capacity_bytes), input.theme.err};
  if (const RankedPlan* knee = knee_of(shown); knee != nullptr && shown.capacity_bytes > 0)
    out.note = {dot(*knee), t.format("figure.frontier.knee",
                                     {format_share(knee->memory_bytes / shown.capacity_bytes),
                                      search::against_text(knee->step_time_s, r.front.back().step_time_s)})};
  if (r.present_legal && r.present.step_time_s > 0) {
    out.present = dot(r.present, !r.present_breaks);
    out.present_text = r.present_breaks
                           ? t.format("figure.frontier.now.out", {search::broken_words(t, *r.present_breaks)})
                           : std::string(t.text("figure.frontier.now"));
    if (shown.fits() && !r.present_breaks)
      out.gain_text =
          t.format("figure.frontier.gain",
                   {format_difference(shown.best().step_time_s - r.present.step_time_s, engine::unit::seconds)});
  }
  if (input.baseline) {
    const engine::QuantityValues& base = input.baseline->report.quantities;
    if (const auto step = base[engine::Q::step_time], bytes = base[engine::Q::memory_total]; step && bytes) {
      out.baseline = FrontDot{*bytes / kGb, *step / unit_s, true};
      out.x_to = std::max(out.x_to, 1.05 * out.baseline->x), out.y_to = std::max(out.y_to, 1.05 * out.baseline->y);
    }
  }
  out.y_kind = e.slow_s > kLinearUpTo * e.fast_s ? ScaleKind::log10 : ScaleKind::linear;
  if (!out.best.empty()) {
    const double best = out.best.front().y;
    out.y_from =
        std::min(out.y_from, out.y_kind == ScaleKind::linear ? std::max(0.0, best - kUnderBest * (out.y_to - best))
                                                             : best * std::pow(best / out.y_to, kUnderBest));
  }
  if (const auto hovered = search::index_of(r, view.hovered_plan)) out.hovered = dot(search::plan_at(r, *hovered));
  return out;
}

FigureHead frontier_head(const FigureInput& input, const FigureView&) {
  FigureHead head =
      input.scenario.serves() ? search::serving_head_of(input, "frontier") : search::head_of(input, "frontier");
  if (input.baseline) head.context = compared_context(input);
  return head;
}

void draw_frontier(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, frontier_head(input, view));
  if (rest.empty()) return;
  if (input.scenario.serves()) return search::draw_serving_front(canvas, rest, input, view);
  const TrainingShown shown = search::shown_of(input);
  if (!shown.priced()) return draw_empty_state(canvas, input.theme, rest, search::empty_text(input, shown));
  draw_front(canvas, rest, input, picture_of(input, shown, view));
}

std::string frontier_data(const FigureInput& input, const FigureView&) {
  if (input.scenario.serves()) return search::serving_plans_data(input);
  const TrainingShown shown = search::shown_of(input);
  std::string out = fmt::format("set\t{}\tstep s\tmemory bytes\tfits\n", search::plan_fields_head());
  if (shown.result == nullptr || !shown.result->finished) return out;
  const SearchResult& r = *shown.result;
  for (std::size_t i = 0; i < search::plan_count(r); ++i) {
    const AnyPlan a = search::plan_at(r, i);
    const bool present = i == search::present_index(r);
    if (present && !r.present_legal) continue;
    const char* set = i < r.best.size()                ? "best"
                      : i < search::sample_index(r, 0) ? "front"
                      : present                        ? "present"
                                                       : "sample";
    out += fmt::format("{}\t{}\t{}\t{}\t{}\n", set, search::plan_fields(input.texts, *a.plan), a.step_time_s,
                       a.memory_bytes, a.fits ? "yes" : "no");
  }
  return out;
}

}  // namespace

extern constinit const FigureRow frontier_figure{
    .name = "frontier",
    .subject = Subject::any,
    .needs = Needs::search,
    .about = About::search,
    .height_pt = 297.6f,
    .head = frontier_head,
    .draw = draw_frontier,
    .data = frontier_data,
    .plans = {"frontier.plan", search::drawn_plan},
};

}  // namespace roofscape::widgets
