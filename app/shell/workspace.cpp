#include "app/shell/workspace.h"

#include <algorithm>
#include <cmath>
#include <system_error>
#include <tuple>

#include "app/core/strings.h"
#include "app/panels/pipeline_tools.h"
#include "app/panels/search_panel.h"
#include "app/panels/splitters.h"
#include "app/shell/commands.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/scenario_title.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/figures.h"

namespace roofscape::app {

using namespace widgets;

namespace {

constexpr float kProjectorLines = 33.75f, kProjectorColumns = 48;  // em of a projected window
constexpr std::int64_t kOperationsAFrame =
    80'000;                        // simulated beyond the plan's own timeline: about 2 ms where orders are new
constexpr float kWallZoom = 1.5f;  // of a window of 4K

// What followed an edit: "Also fsdp 512, context 4, so that the plan runs". A mesh whose data and fsdp ranks make up
// for another axis says so itself.
std::string settled_words(const TextTable& texts, const SettledEdit& settled, const ViewState::Edit& edit) {
  constexpr std::size_t kMost = 6;
  if (!settled.runs) return std::string(texts.text("ui.settled.none"));
  std::string list;
  bool plain = is_mesh_axis(edit.path) && settled.reached;
  std::size_t count = 0;
  for (const ScenarioChange& change : settled.also) {
    if (change.field == nullptr) continue;
    plain = plain && (change.what == "parallelism.data" || change.what == "parallelism.fsdp");
    if (++count > kMost) continue;
    list += (list.empty() ? "" : ", ") + field_label(texts, change.what) + " " +
            field_value(texts, *change.field, change.field->get(settled.scenario));
  }
  if (count > kMost) list += ", \u2026";
  if (!settled.reached) {
    const engine::Field* field = engine::find_field(edit.path);
    return field == nullptr
               ? std::string()
               : texts.format("ui.settled.stopped", {field_label(texts, edit.path),
                                                     field_value(texts, *field, field->get(settled.scenario))});
  }
  return plain || list.empty() ? std::string() : texts.format("ui.settled.also", {list});
}

}  // namespace

Workspace::Workspace(std::shared_ptr<const io::PresetLibrary> presets, const FontStack& fonts, engine::Scenario start,
                     std::string origin, TextTable texts, Theme theme, Settings chosen)
    : session(std::move(presets), std::move(start), std::move(origin)),
      settings(std::move(chosen)),
      fonts_(fonts),
      texts_(std::move(texts)),
      theme_(std::move(theme)) {
  edit_base_ = session.scenario();
  view.arrangement = settings.arrangement;
  view.keep_product = settings.keep_product;
  view.partner = settings.partner;
  for (const MissingFont& m : fonts.missing())
    session.say({true, texts_.format("ui.font.missing", {m.family, m.package}), {}});
}

double Workspace::zoom(const Rect& window) const {
  const float w = window.w / content_scale_, h = window.h / content_scale_;
  // A wall of pixels that does not say it is dense is still read from a distance.
  const float usual = is_small(w, h) ? kSmallZoom : w >= 3200 && h >= 1700 ? kWallZoom : 1.0f;
  const double wanted = settings.zoom > 0 ? settings.zoom : static_cast<double>(usual);
  return std::min(wanted, static_cast<double>(std::min(w / kLeastWidth, h / kLeastHeight)));
}

float Workspace::em_px(const Rect& window) const {
  if (view.projector) return std::max(6.0f, std::min(window.h / kProjectorLines, window.w / kProjectorColumns));
  return std::max(6.0f, 15.0f * content_scale_ * static_cast<float>(zoom(window)));
}

void Workspace::change_zoom(int eighths) {
  if (eighths == 0) {
    settings.zoom = 0;
    return;
  }
  const double now = zoom(window_);
  settings.zoom = std::clamp((std::round(now * 8) + eighths) / 8, 0.75, 4.0);
}

bool Workspace::set_theme(const std::string& name) {
  auto theme = load_theme(name);
  if (!theme.ok()) return false;
  theme_ = std::move(theme).value();
  settings.theme = name;
  return true;
}

void Workspace::take_edit(engine::Scenario edited, const ViewState::Edit& edit, bool held) {
  if (edited == session.scenario()) {
    session.update(std::move(edited), held);
    return;
  }
  if (!settled_ || !(settled_->edited == edited) || !(settled_->base == edit_base_)) {
    EditNature nature{edit.path, edit.typed, view.keep_product, giving_partner(edit_base_.parallelism, view.partner)};
    SettledEdit result = settle_edit(edit_base_, session.scenario(), edited, nature, session.library().chips());
    settled_ = Settled{edit_base_, std::move(edited), std::move(result)};
  }
  const SettledEdit& settled = settled_->result;
  session.update(settled.scenario, held);
  if (const std::string words = settled_words(texts_, settled, edit); !words.empty()) session.say({false, words, {}});
}

void Workspace::follow_kind() {
  const engine::WorkloadKind kind = session.scenario().workload.kind;
  if (kind == settings.kind) return;
  std::swap(view.arrangement.cells, settings.other_cells);
  settings.kind = kind;
}

void Workspace::reset_layout() {
  view.arrangement = {};
  const bool serving = settings.kind == engine::WorkloadKind::serving;
  view.arrangement.cells = default_cells(settings.kind);
  settings.other_cells = default_cells(serving ? engine::WorkloadKind::training : engine::WorkloadKind::serving);
}

void Workspace::toggle_left_rail() {
  const float room = window_.w * 15 / em_px(window_);
  if (room < (view.right_open ? kLeastWithBoth : kLeastWithRail)) {
    view.left_asked = !view.left_asked;
    view.arrangement.left_open = true;
    if (view.left_asked) view.right_open = was_right_open_ = false;
  } else {
    view.arrangement.left_open = !view.arrangement.left_open;
  }
}

void Workspace::open_palette() {
  view.palette = {};
  view.sheet = view.sheet == Sheet::palette ? Sheet::none : Sheet::palette;
}

void Workspace::run_entry(const PaletteEntry& entry) {
  engine::Scenario edited = session.scenario();
  switch (entry.kind) {
    case PaletteKind::command:
      if (const Command* c = find_command(entry.value); c != nullptr && enabled(*c, *this)) c->run(*this);
      return;
    case PaletteKind::field:
      if (const engine::Field* field = engine::find_field(entry.value)) field->set(edited, entry.number);
      if (edited.workload.kind != session.scenario().workload.kind) edited = session.with_kind(edited.workload.kind);
      break;
    case PaletteKind::quantity:
      return open_derivation(view, entry.value);
    case PaletteKind::scenario:
      return open(entry.value);
    case PaletteKind::file:
      return open_file(entry.value);
    case PaletteKind::model:
      if (const auto* model = session.library().find_model(entry.value)) edited.model = *model;
      break;
    case PaletteKind::cluster:
      if (const auto* cluster = session.library().find_cluster(entry.value))
        edited.cluster = *cluster;
      else if (session.library().find_chip(entry.value) != nullptr)
        (void)io::set_field(edited, "cluster.chip=" + entry.value, session.library());
      break;
    case PaletteKind::block:
      view.editor.open = false;
      return view.workbench.show(entry.value);
    case PaletteKind::complete:
      return;
  }
  take_edit(std::move(edited), {entry.kind == PaletteKind::field ? entry.value : std::string(), true}, false);
}

void Workspace::toggle_projector() {
  view.projector = !view.projector;
  if (!view.projector) {
    set_theme(settings.theme);
    return;
  }
  view.projected = current_figure();
  view.maximised.reset();
  if (auto theme = load_theme("projector"); theme.ok()) theme_ = std::move(theme).value();
}

void Workspace::step_projector(int by) {
  session.dismiss_message();  // it was about the figure before
  // Past the figures that say nothing of this kind of workload.
  const auto n = static_cast<int>(figures().size());
  for (int i = 0; i < n; ++i) {
    view.projected = static_cast<std::size_t>(((static_cast<int>(view.projected) + by) % n + n) % n);
    if (widgets::shows(figures()[view.projected], session.scenario())) return;
  }
}

void Workspace::undo() { session.undo(); }
void Workspace::redo() { session.redo(); }

void Workspace::escape() {
  if (view.sheet != Sheet::none)
    view.sheet = Sheet::none;
  else if (view.projector)
    toggle_projector();
  else if (view.editor.open)
    view.editor.open = false;
  else if (view.workbench.open)
    view.workbench.open = false;
  else if (view.pipeline.cursor)
    view.pipeline.cursor.reset(), view.pipeline.playing = false;
  else if (view.maximised)
    view.maximised.reset();
  else if (view.search.open && view.trail.empty())
    view.search.open = false;
  else if (session.message())
    session.dismiss_message();
  else if (!view.trail.empty())
    view.trail.clear();
  else
    interaction.clear_focus();
}

void Workspace::play_or_stop() {
  ViewState::PipelineTools& tools = view.pipeline;
  tools.playing = !tools.playing;
  if (tools.playing && (!tools.cursor || *tools.cursor >= 1)) tools.cursor = 0;
}

bool Workspace::edited() const {
  return view.editor.open && departures(view.editor.part, session.scenario(), editor_preset(session)) > 0;
}

void Workspace::reset_edited() {
  engine::Scenario back = session.scenario();
  reset_part(view.editor.part, back, editor_preset(session));
  view.editor.refused.clear();
  session.update(std::move(back), false);
}

std::string Workspace::characters() const {
  std::string all;
  for (const auto& entry : texts_.all()) all += entry.second;
  for (const io::PresetKind kind :
       {io::PresetKind::chip, io::PresetKind::cluster, io::PresetKind::model, io::PresetKind::scenario})
    for (const io::Preset& p : session.library().list(kind)) all += p.name;
  return all;
}

void Workspace::run_commands(const std::vector<std::string>& requested) {
  for (const std::string& id : requested)
    if (const Command* c = find_command(id); c != nullptr && enabled(*c, *this)) c->run(*this);
  if (interaction.editing_any()) {
    // While text is typed only commands with Ctrl or a function key work.
    for (const Command& c : commands())
      if ((c.key.control || c.key.key >= Key::f1) && interaction.take(c.key) && enabled(c, *this)) c.run(*this);
    return;
  }
  for (const Command& c : commands()) {
    if (c.key.key == Key::none) continue;
    const bool pressed = interaction.take(c.key) || (c.other_key.key != Key::none && interaction.take(c.other_key));
    if (pressed && enabled(c, *this)) c.run(*this);
  }
}

LayoutRequest Workspace::layout_request(const Rect& window) {
  LayoutRequest request;
  const float em = em_px(window), w = window.w / content_scale_;
  request.window = window;
  request.em = em;
  request.compact = is_small(w, window.h / content_scale_) || window.w * 15 / em < 1400 || window.h * 15 / em < 800;
  request.few = w < 1100;
  if (!was_compact_)
    view.right_open = view.arrangement.right_open.value_or(!request.compact);
  else if (*was_compact_ != request.compact)
    view.right_open = !request.compact;
  was_compact_ = view.compact = request.compact;
  // The editor and the workbench take the room there is; what they say of diagnostics and derivations stands in them.
  const bool covered = view.editor.open || view.workbench.open;
  if (covered && !was_covered_ && request.compact) view.right_open = false;
  was_covered_ = covered;
  // Where there is room for little, the figures go before the rails: one of them, the one asked for last, or none.
  if (view.right_open && !was_right_open_) view.left_asked = false;
  was_right_open_ = view.right_open;
  request.left_open = view.arrangement.left_open &&
                      (window.w * 15 / em >= (view.right_open ? kLeastWithBoth : kLeastWithRail) || view.left_asked);
  request.right_open = view.right_open;
  request.message = session.message() && session.message()->strip();
  request.tabs = tabs.count() > 1;
  request.baseline = view.pinned != nullptr;
  request.arrangement = &view.arrangement;
  return request;
}

engine::Scenario Workspace::draw_panels(PanelContext& ctx, const Rect& window, engine::Scenario edited) {
  const LayoutRequest request = layout_request(window);
  const Layout layout = lay_out(request);
  run_splitters(ctx, layout, request);
  edited = top_bar(ctx, layout.top, std::move(edited));
  TabStrip strip;
  if (request.tabs) {
    for (std::size_t i = 0; i < tabs.count(); ++i) {
      const Session& one = tabs.at(i, session);
      strip.tabs.push_back({one.scenario().name.empty() ? std::string(texts_.text("ui.scenario.unnamed"))
                                                        : engine::scenario_title(one.scenario()),
                            one.saved()});
      if (one.untitled()) strip.tabs.back().name = texts_.format("ui.tab.untitled", {strip.tabs.back().name});
    }
    strip.active = tabs.active();
    tab_strip(ctx, layout.tabs, strip);
    deferred_.tabs = std::move(strip);
  }
  if (request.left_open) edited = scenario_rail(ctx, layout.left, std::move(edited));
  // What is drawn from here on is of the slider's new value, in the frame in which it moved.
  take_edit(std::move(edited), std::exchange(view.edit, {}), interaction.anything_held());
  edited = session.scenario();
  edited = verdict_bar(ctx, layout.verdict, std::move(edited));
  if (request.message) deferred_.dismiss = message_strip(ctx, layout.message);
  const bool searches = view.search.open && !view.workbench.open && !view.editor.open;
  if (view.editor.open)
    edited = editor_panel(ctx, layout.grid, std::move(edited));
  else if (view.workbench.open)
    workbench_panel(ctx, layout.grid);
  else if (searches && !view.maximised)
    edited = search_panel(ctx, layout.grid, std::move(edited));
  else
    edited = figure_grid(ctx, layout, std::move(edited));
  if (searches && request.right_open)
    search_rail(ctx, layout.right);
  else
    edited = right_rail(ctx, layout.right, request.right_open, std::move(edited));
  edited = status_bar(ctx, layout.status, std::move(edited));
  draw_splitters(ctx, layout, request);
  view.arrangement.right_open = view.right_open == !request.compact ? std::nullopt : std::optional(view.right_open);
  return edited;
}

void Workspace::start_evidence(std::function<void()> wake) { evidence_.start(session.presets(), std::move(wake)); }

void Workspace::finish_evidence() {
  evidence_.start(session.presets(), {});
  evidence_.wait();
  take_evidence();
}

bool Workspace::take_evidence() {
  if (const std::string problem = evidence_.take_problem(); !problem.empty()) session.say({true, problem, {}});
  auto made = evidence_.take();
  if (made == nullptr) return false;
  view.evidence = std::move(made);
  return true;
}

void Workspace::frame(ScreenCanvas& canvas, ImDrawList* list, const UiInput& input, const Rect& window) {
  window_ = window;
  follow_kind();
  canvas.begin(list, em_px(window), window);
  if (canvas.tagging() != Tagging::all) canvas.set_tagging(Tagging::none);
  interaction.begin(input, window);
  canvas.set_pointer(interaction.pointer(), canvas.px(8));
  probe.clear();

  std::vector<std::string> requests;
  Ui ui{canvas, theme_, texts_, interaction, probe};
  const auto usable = [this](const Command& c) { return enabled(c, *this); };
  const auto on = [this](const Command& c) { return c.on != nullptr && c.on(*this); };
  PanelContext ctx{ui, session, view, requests, commands(), usable, on};
  deferred_ = {};
  view.said.reset();
  view.edit = {};
  view.reason_said = false;
  if (!interaction.anything_held()) settled_.reset();
  ctx.base = &edit_base_;
  view.next_hovered_stage.reset();
  view.next_hovered_operation.reset();
  view.next_hovered_part.reset();
  view.search.next_hovered.reset();
  view.search.ask = SearchView::Ask::none;
  take_search();
  const bool sheet = view.sheet != Sheet::none;
  interaction.set_covered(sheet);
  canvas.rect(window, {.colour = theme_.win});
  view.studies.begin_frame(kOperationsAFrame);
  engine::Scenario edited = view.projector ? projector_panel(ctx, window, session.scenario())
                                           : draw_panels(ctx, window, session.scenario());
  if (view.studies.unfinished) interaction.wake_after(0);
  interaction.set_covered(false);
  std::string name;
  const Sheet asked_sheet = view.sheet;
  std::optional<PaletteEntry> entry;
  if (view.sheet == Sheet::palette)
    entry = palette_panel(ctx, window, usable);
  else if (sheet)
    name = sheet_panel(ctx, window, settings.export_as);
  run_popup(ui, window);
  draw_hint(ui, window);

  take_edit(std::move(edited), view.edit, interaction.anything_held());
  if (deferred_.dismiss) session.dismiss_message();
  if (view.said) session.say(*std::exchange(view.said, std::nullopt));
  if (!name.empty()) take_sheet(asked_sheet, name);
  view.hovered_stage = view.next_hovered_stage;
  view.hovered_operation = view.next_hovered_operation;
  view.hovered_part = view.next_hovered_part;
  view.search.hovered = view.search.next_hovered;
  take_tabs(deferred_.tabs);
  take_list_choice();
  const auto shown = [this] { return std::tuple(view.projector, view.projected, view.maximised, view.search.open); };
  const auto before = shown();
  run_commands(requests);
  if (entry) run_entry(*entry);
  // A pointer that rests would have its readout hide what was asked for.
  if (shown() != before) interaction.park_pointer();
  settings.arrangement = view.arrangement;
  settings.keep_product = view.keep_product;
  settings.partner = view.partner;
  if (view.search.preferences != preferences_before_) {
    preferences_before_ = view.search.preferences;
    ++preference_changes_;
  }
  follow_search();
  if (!interaction.anything_held() && !(edit_base_ == session.scenario())) edit_base_ = session.scenario();
  interaction.end();
}

}  // namespace roofscape::app
