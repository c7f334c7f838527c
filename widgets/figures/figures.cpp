#include "widgets/figures/figures.h"

#include <algorithm>
#include <array>

#include "widgets/figures/common/doubts.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"

namespace roofscape::widgets {

#define ROOFSCAPE_FIGURE(name) extern const FigureRow name##_figure;
#include "widgets/figures/figure_list.def"
#undef ROOFSCAPE_FIGURE

std::span<const FigureRow> figures() {
#define ROOFSCAPE_FIGURE(name) name##_figure,
  static const std::array<FigureRow, kFigureCount> all{
#include "widgets/figures/figure_list.def"
  };
#undef ROOFSCAPE_FIGURE
  return all;
}

bool shows(const FigureRow& row, const engine::Scenario& scenario) {
  if (row.subject == Subject::any) return true;
  return (row.subject == Subject::serving) == scenario.serves();
}

namespace {

// Whether another schedule of the same mesh may run: this one's rule is broken, or its chunks are more than the
// layers are and the stages are not.
bool schedule_at_fault(const engine::Diagnostic& d, const engine::Report& report) {
  if (d.code == "pipeline.illegal_schedule") return true;
  const engine::ScheduleShape& shape = report.pipeline.shape;
  return d.code == "pipeline.more_stages_than_layers" && engine::passes_per_device(shape) > 1 &&
         shape.stages <= report.quantities.value_or(engine::Q::n_layers, 0);
}

}  // namespace

const engine::Diagnostic* cannot_show(const FigureRow& row, const engine::Report& report) {
  if (row.about != About::plan && row.about != About::schedules) return nullptr;
  for (const engine::Diagnostic& d : report.diagnostics)
    if (d.severity == engine::Severity::error && (row.about == About::plan || !schedule_at_fault(d, report)))
      return &d;
  return nullptr;
}

std::string cannot_run_text(const engine::Diagnostic& why, const TextTable& texts) {
  const std::string title = "diagnostic." + std::string(why.code) + ".title";
  return texts.format("figure.cannot_run", {std::string(texts.text(title))});
}

FigureHead figure_head(const FigureRow& row, const FigureInput& input, const FigureView& view) {
  if (shows(row, input.scenario) && cannot_show(row, input.report) == nullptr) {
    FigureHead head = row.head(input, view);
    mark_doubts(head, input);
    return head;
  }
  FigureHead head;
  head.title = input.texts.text("command.figure." + std::string(row.name));
  return head;
}

void draw_figure(const FigureRow& row, Canvas& canvas, const Rect& area, const FigureInput& input,
                 const FigureView& view) {
  const bool right_kind = shows(row, input.scenario);
  const engine::Diagnostic* why = cannot_show(row, input.report);
  if (right_kind && why == nullptr) {
    const engine::Provenance* doubts = doubts_of(input);
    if (doubts != nullptr)
      canvas.mark_readouts([doubts, own = quantity_of(row.rests, input.scenario)](
                               std::string_view id) { return doubted(*doubts, id, own); },
                           kDoubtMark);
    row.draw(canvas, area, input, view);
    if (doubts != nullptr) canvas.mark_readouts({}, {});
    return;
  }
  const Rect rest = draw_figure_head(canvas, area, input, view, figure_head(row, input, view));
  if (right_kind) return draw_empty_state(canvas, input.theme, rest, cannot_run_text(*why, input.texts));
  draw_empty_state(
      canvas, input.theme, rest,
      input.texts.text(row.subject == Subject::training ? "figure.training_only" : "figure.serving_only"));
}

std::string figure_data(const FigureRow& row, const FigureInput& input, const FigureView& view) {
  if (!shows(row, input.scenario) || cannot_show(row, input.report) != nullptr) return {};
  const engine::Provenance* doubts = doubts_of(input);
  std::string data = row.data(input, view);
  return doubts == nullptr ? data : marked_data(data, *doubts, quantity_of(row.rests, input.scenario));
}

const FigureRow* find_figure(std::string_view name) {
  for (const FigureRow& row : figures())
    if (row.name == name) return &row;
  return nullptr;
}

std::size_t figure_index(const FigureRow& row) { return static_cast<std::size_t>(&row - figures().data()); }

bool choose(const FigureRow& row, std::string_view key, std::string_view choice, FigureChoices& choices) {
  for (std::size_t i = 0; i < row.options.size(); ++i) {
    const FigureOption& option = row.options[i];
    if (option.key != key) continue;
    const auto found = std::find(option.choices.begin(), option.choices.end(), choice);
    if (found == option.choices.end()) return false;
    choices[i] = static_cast<std::uint8_t>(found - option.choices.begin());
    return true;
  }
  return false;
}

}  // namespace roofscape::widgets
