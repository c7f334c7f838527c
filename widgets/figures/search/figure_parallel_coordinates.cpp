// The parallel-coordinates figure: each plan of a search is a line over its mesh axes, its other choices, its step
// time and its memory. The best plans stand out over a sample of those that fit. Where a line crosses an axis it is
// tagged "parallel.plan" with its index of search::plan_at.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/parallel_axes.h"
#include "widgets/figures/search/figure_search_parts.h"
#include "widgets/figures/search/figure_serving_search.h"
#include "widgets/figures/training/figure_memory_parts.h"

namespace roofscape::widgets {

using engine::Plan;
using engine::SearchResult;
using memory::bytes_text;
using search::AnyPlan;
using search::TrainingShown;

namespace {

constexpr std::size_t kBright = 10;  // of the best plans
constexpr std::size_t kFaint = 400;  // of the sample
constexpr double kSlowestDrawn = 4;  // times the best: slower plans of the sample are left out

struct PlanLine {
  std::size_t index = 0;  // of search::plan_at
  AnyPlan plan;
};

struct PlanLines {
  std::vector<PlanLine> faint, bright;  // bright: best last, so that it lies on top
  std::optional<PlanLine> present;
  template <class F>
  void each(F&& f) const {
    for (const PlanLine& l : faint) f(l);
    for (const PlanLine& l : bright) f(l);
    if (present) f(*present);
  }
};

PlanLines lines_of(const TrainingShown& shown) {
  PlanLines out;
  const SearchResult& r = *shown.result;
  const double slowest =
      shown.fits() ? kSlowestDrawn * r.front.back().step_time_s : std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < r.sample.size() && out.faint.size() < kFaint; ++i)
    if ((r.sample[i].fits || !shown.fits()) && r.sample[i].step_time_s <= slowest)
      out.faint.push_back({search::sample_index(r, i), search::plan_at(r, search::sample_index(r, i))});
  for (std::size_t i = std::min(kBright, r.best.size()); i-- > 0;) out.bright.push_back({i, search::plan_at(r, i)});
  if (r.present_legal && r.present.step_time_s > 0)
    out.present = PlanLine{search::present_index(r), search::plan_at(r, search::present_index(r))};
  return out;
}

// Of choices that have no order the place among those that occur, at even distances.
std::vector<double> policies_of(const PlanLines& lines) {
  std::vector<double> out;
  lines.each([&](const PlanLine& l) { out.push_back(static_cast<double>(l.plan.plan->policy)); });
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

ParallelAxes axes_of(const FigureInput& input, const TrainingShown& shown, const FigureView& view) {
  const TextTable& t = input.texts;
  const SearchResult& result = *shown.result;
  const PlanLines lines = lines_of(shown);
  ParallelAxes out;
  const auto name = [&t](std::string_view id) {
    return std::string(t.text("figure.parallel-coordinates.axis." + std::string(id)));
  };
  std::vector<int Plan::*> degrees{&Plan::data, &Plan::fsdp, &Plan::tensor, &Plan::pipeline, &Plan::context};
  std::vector<std::string_view> ids{"data", "fsdp", "tensor", "pipeline", "context"};
  if (shown.scenario->model.is_moe()) degrees.push_back(&Plan::expert), ids.push_back("expert");
  degrees.push_back(&Plan::microbatch_sequences), ids.push_back("microbatch");
  for (const std::string_view id : ids)
    out.axes.push_back({name(id), [](double v) { return format_count(v); }, true});
  const std::vector<double> policies = policies_of(lines);
  out.axes.push_back({name("checkpointing"), [&t, policies](double v) {
                        const std::size_t i = std::min(static_cast<std::size_t>(v), policies.size() - 1);
                        return search::policy_word(t, static_cast<engine::CheckpointPolicy>(policies[i]));
                      }});
  out.colour_axis = out.axes.size();
  out.axes.push_back({name("time"), [](double v) { return format_duration(v); }, true, true});
  out.axes.push_back({name("memory"), [](double v) { return bytes_text(v); }, false, true});

  const auto line_of = [&](const PlanLine& l) {
    ParallelLine one{l.index, {}};
    for (const auto member : degrees) one.values.push_back(static_cast<double>(l.plan.plan->*member));
    const auto policy = std::find(policies.begin(), policies.end(), static_cast<double>(l.plan.plan->policy));
    one.values.push_back(static_cast<double>(policy - policies.begin()));
    one.values.push_back(l.plan.step_time_s);
    one.values.push_back(l.plan.memory_bytes);
    return one;
  };
  for (const PlanLine& l : lines.faint) out.faint.push_back(line_of(l));
  for (const PlanLine& l : lines.bright) out.bright.push_back(line_of(l));
  if (lines.present) out.present = line_of(*lines.present);
  if (const auto hovered = search::index_of(result, view.hovered_plan))
    out.hovered = line_of({*hovered, search::plan_at(result, *hovered)});
  out.tag = "parallel.plan";
  out.readout = [&input, shown](std::size_t i) {
    return search::readout_of(input, shown, search::plan_at(*shown.result, i),
                              i == search::present_index(*shown.result));
  };
  const std::string faint = format_count(static_cast<double>(lines.faint.size()));
  out.note =
      lines_note(input, out, "figure.parallel-coordinates.note.best",
                 shown.fits() ? t.format("figure.parallel-coordinates.note.fit", {faint, format_count(kSlowestDrawn)})
                              : t.format("figure.parallel-coordinates.note.none_fits", {faint}));
  return out;
}

FigureHead parallel_coordinates_head(const FigureInput& input, const FigureView&) {
  return input.scenario.serves() ? search::serving_head_of(input, "parallel-coordinates")
                                 : search::head_of(input, "parallel-coordinates");
}

void draw_parallel_coordinates(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, parallel_coordinates_head(input, view));
  if (rest.empty()) return;
  if (input.scenario.serves()) {
    const search::ServingShown shown = search::serving_shown_of(input);
    if (!shown.priced()) return draw_empty_state(canvas, input.theme, rest, search::serving_empty_text(input, shown));
    return draw_parallel_axes(canvas, rest, input, search::serving_axes(input, shown, view));
  }
  const TrainingShown shown = search::shown_of(input);
  if (!shown.priced()) return draw_empty_state(canvas, input.theme, rest, search::empty_text(input, shown));
  draw_parallel_axes(canvas, rest, input, axes_of(input, shown, view));
}

float parallel_coordinates_height(const Canvas& canvas, float width, const FigureInput& input,
                                  const FigureView& view) {
  if (input.scenario.serves()) {
    const search::ServingShown shown = search::serving_shown_of(input);
    return shown.priced() ? parallel_axes_height(canvas, width, input, search::serving_axes(input, shown, view)) : 0;
  }
  const TrainingShown shown = search::shown_of(input);
  return shown.priced() ? parallel_axes_height(canvas, width, input, axes_of(input, shown, view)) : 0;
}

std::string parallel_coordinates_data(const FigureInput& input, const FigureView&) {
  if (input.scenario.serves()) return search::serving_plans_data(input);
  const TrainingShown shown = search::shown_of(input);
  std::string out = fmt::format("line\t{}\tstep s\tmemory bytes\n", search::plan_fields_head());
  if (!shown.priced()) return out;
  const PlanLines lines = lines_of(shown);
  lines.each([&](const PlanLine& line) {
    const bool best = line.index < shown.result->best.size(),
               present = line.index == search::present_index(*shown.result);
    out +=
        fmt::format("{}\t{}\t{}\t{}\n",
                    best      ? "best"
                    : present ? "present"
                              : "sample",
                    search::plan_fields(input.texts, *line.plan.plan), line.plan.step_time_s, line.plan.memory_bytes);
  });
  return out;
}

}  // namespace

extern constinit const FigureRow parallel_coordinates_figure{
    .name = "parallel-coordinates",
    .subject = Subject::any,
    .needs = Needs::search,
    .about = About::search,
    .width_pt = kPageWidth,
    .height_pt = 297.6f,
    .head = parallel_coordinates_head,
    .draw = draw_parallel_coordinates,
    .data = parallel_coordinates_data,
    .plans = {"parallel.plan", search::drawn_plan},
    .own_height = parallel_coordinates_height,
};

}  // namespace roofscape::widgets
