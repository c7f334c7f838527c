// What every panel gets. A panel is a function `Scenario panel(PanelContext&, const Rect&, Scenario)`: it draws the session
// and returns an edited copy. It never changes the session; what it wants done beyond the scenario (a command, a figure
// maximised, a derivation opened) it puts into the view or asks for by command id.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/session.h"
#include "engine/explain.h"
#include "widgets/controls.h"
#include "widgets/figures.h"
#include "widgets/palette.h"

namespace roofscape::app {

enum class Sheet : std::uint8_t { none, help, save_as };

// How the session is looked at: never undone, never part of a scenario.
struct ViewState {
  std::optional<std::size_t> maximised;  // which figure
  std::vector<std::string> trail;        // ids of the derivations opened, the last one is shown
  bool right_open = true;
  bool compact = false;                  // a small window: fewer words
  bool narrow = false;                   // a smaller one: two figures at a time, chosen by tabs
  std::array<int, 2> tabs{};             // what they show: 0 the numbers, else a figure's row + 1
  Sheet sheet = Sheet::none;
  std::optional<int> hovered_stage, hovered_operation;            // of the frame before
  std::optional<int> next_hovered_stage, next_hovered_operation;  // found in this one
  std::vector<std::pair<double, double>> spans;                   // by figure: the visible part of its x axis
  std::vector<std::array<std::uint8_t, widgets::kMostFigureOptions>> choices;  // by figure: of its options
  widgets::StudyCache studies;                                    // what figures computed beyond the report
  struct PipelineTools {
    bool critical_path = false, memory_trace = false, playing = false;
    std::optional<double> cursor;                 // share of the time that playback has reached
    double shown_s = 20;                          // seconds the whole step takes on the screen
    double last_s = 0;                            // clock of the frame before
    std::pair<double, double> span_before{0, 1};  // visible part when a drag began
  };
  PipelineTools pipeline;
  std::optional<std::size_t> focused_figure;                      // the one export and copy mean

  // Reasons under controls, as they stood before a control was taken hold of: rows must not move under the hand.
  std::map<std::string, std::string, std::less<>> reasons;

  // The derivation of `trail.back()`, kept while neither it nor the scenario changes.
  struct Derived {
    std::string id;
    engine::Scenario scenario;
    std::optional<engine::Derivation> derivation;
  };
  std::optional<Derived> derived;

  ViewState() : spans(widgets::figures().size(), {0.0, 1.0}), choices(widgets::figures().size()) {
    const auto place = [](std::string_view name) { return static_cast<int>(widgets::find_figure(name) - widgets::figures().data()) + 1; };
    tabs = {place("roofline"), place("pipeline")};
  }
};

struct PanelContext {
  widgets::Ui& ui;
  const Session& session;
  ViewState& view;
  std::vector<std::string>& requests;  // ids of commands, run after the frame

  std::string_view text(std::string_view key) const { return ui.texts.text(key); }
  std::string format(std::string_view key, std::initializer_list<std::string> a) const { return ui.texts.format(key, a); }
  float px(float v) const { return ui.px(v); }
  widgets::TextStyle style(widgets::Colour c, float size = 1, widgets::Weight w = widgets::Weight::regular) const {
    return widgets::text_style(ui, c, size, w);
  }
};

// ---- shared by panels ----

// A quantity's label and explanation, as the text of what is pointed at.
widgets::Readout quantity_tip(const PanelContext& ctx, engine::Q q);
// Text that stands for a quantity: it can be pointed at and clicked; a click opens its derivation.
void quantity_text(PanelContext& ctx, std::string_view probe_id, widgets::Point anchor, std::string_view text,
                   const widgets::TextStyle& style, engine::Q q);
void open_derivation(ViewState& view, std::string id);
// The id explain() understands for a tag of a figure; empty if it names no quantity.
std::string derivation_id(std::string_view tag_id, int index);
// A derivation under another schedule than the plan's: "schedule.zb-h1/pipeline.bubble_fraction". Of an id without one the
// prefix is empty and the schedule the plan's own.
struct ScopedId {
  std::string_view prefix, quantity;
  std::optional<engine::ScheduleKind> schedule;
};
ScopedId scoped_id(std::string_view id);
// The id of a row of the quantity table from "links.bytes_per_s[fsdp]".
std::string_view without_index(std::string_view id);
// A label of the rail: "rail.<path>" where the field's own label is too long for it.
std::string field_label(const PanelContext& ctx, std::string_view path);
// A value of a field as people write it: "8", "bf16", "35 %".
std::string field_value(const PanelContext& ctx, const engine::Field& field, double value);

// The look of a part of the step or of memory.
widgets::Fill part_fill(const widgets::Theme& theme, engine::Q part, float em);

void separator(PanelContext& ctx, float x0, float x1, float y);
void vertical_separator(PanelContext& ctx, float x, float y0, float y1);
// Bold section title at the left, small text at the right; returns the height.
float section_head(PanelContext& ctx, widgets::Point top_left, float width, std::string_view title,
                   std::string_view note = {}, std::optional<widgets::Mark> mark = {});

widgets::Mark mark_of(engine::Severity severity);
std::string diagnostic_title(const PanelContext& ctx, const engine::Diagnostic& d);
// The error or warning most worth reading first; null if there is none.
const engine::Diagnostic* worst_diagnostic(const engine::Report& report);
std::string diagnostic_text(const PanelContext& ctx, const engine::Diagnostic& d);

// ---- the panels ----

engine::Scenario top_bar(PanelContext& ctx, const widgets::Rect& r, engine::Scenario scenario);
engine::Scenario scenario_rail(PanelContext& ctx, const widgets::Rect& r, engine::Scenario scenario);
engine::Scenario verdict_bar(PanelContext& ctx, const widgets::Rect& r, engine::Scenario scenario);
engine::Scenario figure_grid(PanelContext& ctx, const widgets::Rect& grid,
                             const std::array<widgets::Rect, 4>& cells, engine::Scenario scenario);
engine::Scenario numbers_panel(PanelContext& ctx, const widgets::Rect& r, engine::Scenario scenario);
engine::Scenario right_rail(PanelContext& ctx, const widgets::Rect& r, engine::Scenario scenario);
// Returns the height its content took.
std::string fix_label(const PanelContext& ctx, const engine::Diagnostic& d);
float diagnostics_panel(PanelContext& ctx, const widgets::Rect& r, engine::Scenario& scenario);
engine::Scenario derivation_panel(PanelContext& ctx, const widgets::Rect& r, engine::Scenario scenario);
engine::Scenario status_bar(PanelContext& ctx, const widgets::Rect& r, engine::Scenario scenario);
// True when it was dismissed.
bool message_strip(PanelContext& ctx, const widgets::Rect& r);
// Over everything: the keys, or the name to save under, which is returned once it was entered.
std::string sheet_panel(PanelContext& ctx, const widgets::Rect& window);

}  // namespace roofscape::app
