// What every panel gets. A panel is a function `Scenario panel(PanelContext&, const Rect&, Scenario)`: it draws the
// session and returns an edited copy. It never changes the session; what it wants done beyond the scenario (a
// command, a figure maximised, a derivation opened) it puts into the view or asks for by command id.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/session/editor.h"
#include "app/session/layout.h"
#include "app/session/palette_entries.h"
#include "app/session/search_view.h"
#include "app/session/session.h"
#include "app/session/workbench.h"
#include "engine/evaluate/explain.h"
#include "engine/evaluate/sensitivity.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/figures.h"
#include "widgets/ui/controls.h"

namespace roofscape::app {

enum class Sheet : std::uint8_t { none, help, save_as, palette, open, export_figure, leave };
// What the name in Sheet::save_as is for.
enum class Saved : std::uint8_t { scenario, model, cluster };

// A scenario with its report, pinned to be compared with.
struct Pinned {
  engine::Scenario scenario;
  engine::Report report;
  widgets::Baseline baseline{scenario, report};
  explicit Pinned(engine::Scenario s);
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
};

struct ExportChoice;  // app/session/settings.h

// How the session is looked at: never undone, never part of a scenario.
struct ViewState {
  Arrangement arrangement;               // what is where; goes to the settings
  std::shared_ptr<const Pinned> pinned;  // the baseline of the tab that is shown; null: none
  std::optional<std::size_t> maximised;  // which figure
  std::vector<std::string> trail;        // ids of the derivations opened, the last one is shown
  bool right_open = true;
  bool left_asked = false;    // the left rail was opened in a window too narrow for it and the figures
  bool compact = false;       // a small window: fewer words
  std::array<int, 2> pair{};  // of a grid of two: which of the upper and of the lower cells
  int single = 0;             // of a grid of one: which cell
  Sheet sheet = Sheet::none;
  Saved saving = Saved::scenario;
  struct Palette {
    bool started = false;
    std::string typed;
    std::vector<PaletteEntry> entries;
    int highlighted = 0;
    float scroll = 0;  // rows
  };
  Palette palette;
  // The file chooser, while sheet is Sheet::open or Sheet::save_as.
  struct Files {
    std::vector<std::string> recent;  // paths, the newest first
    bool started = false;
    std::filesystem::path folder;  // what is not typed with a folder lies in it
    std::string typed;
    int highlighted = -1;            // of the rows as they were drawn last
    float scroll = 0;                // rows
    std::string problem;             // why what was typed cannot be opened
    std::filesystem::path replaces;  // a file that exists: asked before it is replaced
  };
  Files files;
  std::string save_problem;  // why what is open cannot be kept; empty: it is
  bool leave = false;        // the window closes all the same
  Workbench workbench;
  // The editor of the model or the cluster, over the grid of figures.
  struct Editor {
    bool open = false;
    EditorPart part = EditorPart::model;
    std::string search;                 // for presets
    std::string refused, refused_text;  // the row whose typed text was no value of it, and the text
    std::string refused_why;            // what was wrong with it, where its unit was
    void show(EditorPart which) {
      open = !open || part != which;
      part = which;
      refused.clear();
    }
  };
  Editor editor;
  SearchView search;
  bool projector = false;                                         // one figure over the window
  std::size_t projected = 0;                                      // which
  std::optional<int> hovered_stage, hovered_operation;            // of the frame before
  std::optional<int> next_hovered_stage, next_hovered_operation;  // found in this one
  std::optional<engine::Q> hovered_part, next_hovered_part;       // a part of the step, in the same way
  std::vector<std::pair<double, double>> spans;                   // by figure: the visible part of its x axis
  std::vector<std::array<std::uint8_t, widgets::kMostFigureOptions>> choices;  // by figure: of its options
  widgets::StudyCache studies;                          // what figures computed beyond the report
  std::shared_ptr<const engine::EvidenceSet> evidence;  // null: not computed yet
  struct PipelineTools {
    bool critical_path = false, memory_trace = false, playing = false;
    std::optional<double> cursor;                 // share of the time that playback has reached
    double shown_s = 20;                          // seconds the whole step takes on the screen
    double last_s = 0;                            // clock of the frame before
    std::pair<double, double> span_before{0, 1};  // visible part when a drag began
  };
  PipelineTools pipeline;
  std::optional<std::size_t> focused_figure;  // the one export and copy mean
  std::optional<Message> said;                // by a panel in this frame, for the strip

  // The control of the rail that was used in this frame, and whether a value was typed into it.
  struct Edit {
    std::string path;
    bool typed = false;
  };
  Edit edit;
  bool reason_said = false;  // in this frame: why there is no present picture

  // The derivation of `trail.back()`, kept while neither it nor the scenario changes.
  struct Derived {
    std::string id;
    engine::Scenario scenario;
    std::optional<engine::Derivation> derivation;
  };
  std::optional<Derived> derived;
  // What more of each input would do to it; kept while a control is held.
  struct Sensitivity {
    std::string id;
    engine::Scenario scenario;
    std::vector<engine::SensitivityRow> rows;
  };
  std::optional<Sensitivity> sensitivity;
  // What each notch of the slider pointed at would give, kept while nothing but its own field changes.
  struct Preview {
    std::string path;
    engine::Scenario scenario;            // with the field at the first notch
    std::optional<engine::Axis> partner;  // of a mesh axis that keeps the product
    std::vector<widgets::Notch> notches;
  };
  std::optional<Preview> preview;
  bool keep_product = true;  // one mesh axis grows, the others give way, the partner first
  engine::Axis partner = engine::Axis::fsdp;

  ViewState() : spans(widgets::figures().size(), {0.0, 1.0}), choices(widgets::figures().size()) {}
};

struct PanelContext {
  widgets::Ui& ui;
  const Session& session;
  ViewState& view;
  std::vector<std::string>& requests;                        // ids of commands, run after the frame
  std::span<const Command> commands;                         // all there are
  std::function<bool(const Command&)> usable = {}, on = {};  // a command's state; empty: all usable, none on
  // The scenario when the control that is held was taken hold of; null: the session's.
  const engine::Scenario* base = nullptr;

  const Command* command(std::string_view id) const { return find_command(commands, id); }
  std::string_view text(std::string_view key) const { return ui.texts.text(key); }
  std::string format(std::string_view key, std::initializer_list<std::string> a) const {
    return ui.texts.format(key, a);
  }
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
// A derivation under another schedule than the plan's: "schedule.zb-h1/pipeline.bubble_fraction". Of an id without
// one the prefix is empty and the schedule the plan's own.
struct ScopedId {
  std::string_view prefix, quantity;
  std::optional<engine::ScheduleKind> schedule;
};
ScopedId scoped_id(std::string_view id);
// The id of a row of the quantity table from "links.bytes_per_s[fsdp]".
std::string_view without_index(std::string_view id);
// A label of the rail: "rail.<path>" where the field's own label is too long for it.
std::string field_label(const widgets::TextTable& texts, std::string_view path);
std::string field_label(const PanelContext& ctx, std::string_view path);
// A value of a field as people write it: "8", "bf16", "35 %".
std::string field_value(const widgets::TextTable& texts, const engine::Field& field, double value);
std::string field_value(const PanelContext& ctx, const engine::Field& field, double value);
// The unit of a value box: as it stands in the box beside a number without a unit of its own ("tok", "1 chip"), and
// as the tip names it ("tokens").
std::string unit_in_box(const PanelContext& ctx, const engine::Unit& unit, double value);
std::string unit_words(const PanelContext& ctx, const engine::Unit& unit);

// Says in the strip why what was typed was not taken, or that the nearest possible value was.
void tell_refused(PanelContext& ctx, const widgets::Edited& edited, std::string_view label,
                  const std::string& domain);

bool is_step_part(engine::Q q);
// The look of a part of the step or of memory.
widgets::Fill part_fill(const widgets::Theme& theme, engine::Q part, float em);

void separator(PanelContext& ctx, float x0, float x1, float y);
void vertical_separator(PanelContext& ctx, float x, float y0, float y1);
// A line of text to be typed in; what was accepted, if something was. `hint` stands there while it is empty.
std::optional<std::string> typed_line(PanelContext& ctx, const widgets::Rect& r, std::string_view id,
                                      const std::string& now, std::string_view hint);
// Bold section title at the left, small text at the right; returns the height.
float section_head(PanelContext& ctx, widgets::Point top_left, float width, std::string_view title,
                   std::string_view note = {}, std::optional<widgets::Mark> mark = {});

widgets::Mark mark_of(engine::Severity severity);
// The error or warning that names this field; null if there is none.
const engine::Diagnostic* finding_of(const PanelContext& ctx, std::string_view path);
std::string diagnostic_title(const PanelContext& ctx, const engine::Diagnostic& d);
// The error or warning most worth reading first; null if there is none.
const engine::Diagnostic* worst_diagnostic(const engine::Report& report);
// Whether the panel of diagnostics is in sight, so that what it says need not be said elsewhere.
bool shows_diagnostics(const PanelContext& ctx);
std::string diagnostic_text(const PanelContext& ctx, const engine::Diagnostic& d);

// What a number was at the baseline: "was 12.2 s", with the change before it; empty without a baseline or a value
// there.
std::string change_from_baseline(const PanelContext& ctx, engine::Q q);

// ---- the panels ----

// The open scenarios; what was asked of them.
struct TabStrip {
  struct Tab {
    std::string name;
    bool saved = true;
  };
  std::vector<Tab> tabs;
  std::size_t active = 0;
  std::optional<std::size_t> show, close;
  bool add = false;
};
void tab_strip(PanelContext& ctx, const widgets::Rect& r, TabStrip& strip);
// What differs from the baseline, each change with its way back. Returns the height its content took.
float changes_panel(PanelContext& ctx, const widgets::Rect& r, engine::Scenario& scenario);

engine::Scenario top_bar(PanelContext& ctx, const widgets::Rect& r, engine::Scenario scenario);
engine::Scenario scenario_rail(PanelContext& ctx, const widgets::Rect& r, engine::Scenario scenario);
engine::Scenario verdict_bar(PanelContext& ctx, const widgets::Rect& r, engine::Scenario scenario);
engine::Scenario figure_grid(PanelContext& ctx, const Layout& layout, engine::Scenario scenario);
engine::Scenario numbers_panel(PanelContext& ctx, const widgets::Rect& r, std::size_t place,
                               engine::Scenario scenario);
// `open` as it was laid out: what is clicked in this frame opens it in the next.
engine::Scenario right_rail(PanelContext& ctx, const widgets::Rect& r, bool open, engine::Scenario scenario);
// Returns the height its content took.
std::string fix_label(const PanelContext& ctx, const engine::Diagnostic& d);
float diagnostics_panel(PanelContext& ctx, const widgets::Rect& r, engine::Scenario& scenario);
engine::Scenario derivation_panel(PanelContext& ctx, const widgets::Rect& r, engine::Scenario scenario);
engine::Scenario status_bar(PanelContext& ctx, const widgets::Rect& r, engine::Scenario scenario);
// True when it was dismissed.
bool message_strip(PanelContext& ctx, const widgets::Rect& r);
// What was chosen in the command palette; it is open while view.sheet is Sheet::palette.
std::optional<PaletteEntry> palette_panel(PanelContext& ctx, const widgets::Rect& window,
                                          const std::function<bool(const Command&)>& usable);
// The building blocks, over the grid of figures while view.workbench.open.
void workbench_panel(PanelContext& ctx, const widgets::Rect& r);
// The editor of the model or the cluster, over the grid of figures while view.editor.open.
engine::Scenario editor_panel(PanelContext& ctx, const widgets::Rect& r, engine::Scenario scenario);
// Its list of presets to start from.
void editor_presets(PanelContext& ctx, widgets::Rect r, engine::Scenario& scenario, const EditorPreset& preset);
engine::Scenario projector_panel(PanelContext& ctx, const widgets::Rect& window, engine::Scenario scenario);
// Over everything: the keys, a file to open or to save to, how to export. What was chosen, once it was.
std::string sheet_panel(PanelContext& ctx, const widgets::Rect& window, ExportChoice& exports);

}  // namespace roofscape::app
