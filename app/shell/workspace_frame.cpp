// One frame of the window: where its parts stand, what they draw and what they ask for.
#include "app/shell/workspace.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "app/core/strings.h"
#include "app/panels/clusters_panel.h"
#include "app/panels/clusters_rail.h"
#include "app/panels/field_text.h"
#include "app/panels/scenario_rail.h"
#include "app/panels/search_rail.h"
#include "app/panels/splitters.h"
#include "app/panels/status_bar.h"
#include "app/panels/top_bar.h"
#include "app/panels/verdict_bar.h"
#include "app/shell/commands.h"
#include "engine/scenario/scenario_title.h"
#include "widgets/figures/figures.h"

namespace roofscape::app {

using namespace widgets;

namespace {

// Simulated beyond the plan's own timeline: about 2 ms where orders are new.
constexpr std::int64_t kOperationsAFrame = 80'000;

// What followed an edit: "Also fsdp 512, context 4, so that the plan runs". A mesh whose data and fsdp ranks make up
// for another axis says so itself.
std::string settled_words(const TextTable& texts, const SettledEdit& settled, const UsedControl& edit) {
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

void Workspace::take_edit(engine::Scenario edited, const UsedControl& edit, bool held) {
  if (edited == session_.scenario()) {
    session_.update(std::move(edited), held);
    return;
  }
  if (!settled_ || !(settled_->edited == edited) || !(settled_->base == edit_base_)) {
    EditNature nature{edit.path, edit.typed, settings_.mesh.keep_product,
                      giving_partner(edit_base_.parallelism, settings_.mesh.partner)};
    SettledEdit result = settle_edit(edit_base_, session_.scenario(), edited, nature, session_.library().chips());
    settled_ = Settled{edit_base_, std::move(edited), std::move(result)};
  }
  if (!edit.path.empty()) panels_.wall.stepped = edit.path;
  const SettledEdit& settled = settled_->result;
  session_.update(settled.scenario, held);
  if (const std::string words = settled_words(texts_, settled, edit); !words.empty())
    session_.say({false, words, {}});
}

void Workspace::follow_kind() {
  const engine::WorkloadKind kind = session_.scenario().workload.kind;
  if (kind == settings_.kind) return;
  std::swap(settings_.arrangement.cells, settings_.other_cells);
  settings_.kind = kind;
}

void Workspace::open_requested(PanelRequests& requests) {
  if (!requests.derivation.empty()) open_derivation(std::exchange(requests.derivation, {}));
  if (requests.evidence) open_evidence(*std::exchange(requests.evidence, std::nullopt));
}

void Workspace::run_commands(const std::vector<std::string>& requested) {
  for (const std::string& id : requested)
    if (const Command* c = find_command(id); c != nullptr && enabled(*c, *this)) c->run(*this);
  if (interaction_.editing_any()) {
    // While text is typed only commands with Ctrl or a function key work.
    for (const Command& c : commands())
      if ((c.key.control || c.key.key >= Key::f1) && interaction_.take(c.key) && enabled(c, *this)) c.run(*this);
    return;
  }
  for (const Key released : interaction_.input().released) panels_.marks.let_go(released, interaction_.input().now_s);
  // In the order in which they were pressed: a remote control or a macro sends several in one frame.
  const std::vector<KeyPress> pressed = interaction_.input().keys;
  for (const KeyPress& press : pressed)
    for (const Command& c : commands())
      if ((c.key == press || c.other_key == press) && enabled(c, *this) && interaction_.take(press)) {
        c.run(*this);
        break;
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
    panels_.right_rail.open = settings_.arrangement.right_open.value_or(!request.compact);
  else if (*was_compact_ != request.compact)
    panels_.right_rail.open = !request.compact;
  was_compact_ = request.compact;
  // Editor, workbench and table take the room there is; what they say of diagnostics and derivations stands in them.
  const bool covered = cover() != Cover::none && cover() != Cover::search;
  if (covered && !was_covered_ && request.compact) panels_.right_rail.open = false;
  was_covered_ = covered;
  // Where there is room for little, the figures go before the rails: one of them, the one asked for last, or none.
  if (panels_.right_rail.open && !was_right_open_) left_asked_ = false;
  was_right_open_ = panels_.right_rail.open;
  request.left_open =
      settings_.arrangement.left_open &&
      (window.w * 15 / em >= (panels_.right_rail.open ? kLeastWithBoth : kLeastWithRail) || left_asked_);
  request.right_open = panels_.right_rail.open;
  request.message = session_.message() && session_.message()->strip();
  request.tabs = tabs_.count() > 1;
  request.baseline = baseline_ != nullptr;
  request.arrangement = &settings_.arrangement;
  return request;
}

InSight Workspace::in_sight(const LayoutRequest& request) const {
  const FigureRow* compare = find_figure("compare");
  const auto& cells = settings_.arrangement.cells;
  const auto& maximised = panels_.figures.maximised;
  return {request.compact, cover() == Cover::none, request.right_open && cover() != Cover::search,
          compare != nullptr && (maximised == figure_index(*compare) ||
                                 std::find(cells.begin(), cells.end(), compare->name) != cells.end())};
}

engine::Scenario Workspace::draw_panels(PanelContext& ctx, const Rect& window, engine::Scenario edited) {
  const LayoutRequest request = layout_request(window);
  const Layout layout = lay_out(request);
  // What covers the grid has no inner lines either.
  const auto divided = [this] { return !panels_.figures.maximised && cover() == Cover::none; };
  run_splitters(ctx, layout, request, divided(), settings_.arrangement);
  ctx.in_sight = in_sight(request);
  edited = top_bar(ctx, layout.top, std::move(edited));
  TabStrip strip;
  if (request.tabs) {
    for (std::size_t i = 0; i < tabs_.count(); ++i) {
      const Session& one = tabs_.at(i, session_);
      strip.tabs.push_back({one.scenario().name.empty() ? std::string(texts_.text("ui.scenario.unnamed"))
                                                        : engine::scenario_title(one.scenario()),
                            one.saved()});
      if (one.untitled()) strip.tabs.back().name = texts_.format("ui.tab.untitled", {strip.tabs.back().name});
    }
    strip.active = tabs_.active();
    tab_strip(ctx, layout.tabs, strip);
    deferred_.tabs = std::move(strip);
  }
  if (request.left_open) edited = scenario_rail(ctx, layout.left, settings_.mesh, std::move(edited));
  // What is drawn from here on is of the slider's new value, in the frame in which it moved.
  take_edit(std::move(edited), std::exchange(ctx.requests.used, {}), interaction_.anything_held());
  edited = session_.scenario();
  take_search();
  edited = verdict_bar(ctx, layout.verdict, std::move(edited));
  open_requested(ctx.requests);
  if (request.message) deferred_.dismiss = message_strip(ctx, layout.message);
  const Cover over = cover();
  const bool searches = over == Cover::search;
  if (over == Cover::editor)
    edited = editor_panel(ctx, layout.grid, panels_.editor, std::move(edited));
  else if (over == Cover::workbench)
    workbench_panel(ctx, layout.grid, panels_.workbench);
  else if (over == Cover::table)
    edited = preset_table_panel(ctx, layout.grid, panels_.table, std::move(edited));
  else if (searches && !panels_.figures.maximised)
    edited = panels_.search.about == SearchView::About::clusters
                 ? clusters_panel(ctx, layout.grid, panels_.search, panels_.figures, std::move(edited))
                 : search_panel(ctx, layout.grid, panels_.search, panels_.figures, std::move(edited));
  else
    edited = figure_grid(ctx, layout, panels_.grid, settings_.arrangement.cells, panels_.figures, std::move(edited));
  open_requested(ctx.requests);
  if (searches && request.right_open)
    (panels_.search.about == SearchView::About::clusters ? clusters_rail : search_rail)(ctx, layout.right,
                                                                                        panels_.search);
  else
    edited = right_rail(ctx, layout.right, request.right_open, panels_.right_rail, std::move(edited));
  status_bar(ctx, layout.status, exported_name(), save_problem_.empty());
  draw_splitters(ctx, layout, request, divided());
  settings_.arrangement.right_open =
      panels_.right_rail.open == !request.compact ? std::nullopt : std::optional(panels_.right_rail.open);
  return edited;
}

void Workspace::frame(ScreenCanvas& canvas, ImDrawList* list, const UiInput& input, const Rect& window) {
  window_ = window;
  follow_kind();
  canvas.begin(list, em_px(window), window);
  if (canvas.tagging() != Tagging::all) canvas.set_tagging(Tagging::none);
  // On the wall Tab goes round the controls there, which no key moves but [ and ].
  UiInput seen = input;
  if (on_wall() && panels_.sheets.shown == Sheet::none && !interaction_.popup().open && !interaction_.editing_any())
    std::erase_if(seen.keys, [this](const KeyPress& press) {
      if (press.key != Key::tab || press.control || press.alt) return false;
      if (wall_controls().size() > 1) next_control(press.shift ? -1 : 1);
      return true;
    });
  interaction_.begin(seen, window);
  canvas.set_pointer(interaction_.pointer(), canvas.px(8));
  probe_.clear();

  // What jobs have made takes the place of what the panels would see.
  panels_.search.ask = SearchView::Ask::none;
  take_search();
  take_measured();
  PanelRequests requests;
  Hovered next_hovered;
  Ui ui{canvas, theme_, texts_, interaction_, probe_};
  // Behind the answer of a scene stands what it was once somebody bends it, not a second picture of the same.
  const bool unbent = panels_.tour.open() && baseline_ && baseline_->scenario == session_.scenario();
  PanelContext ctx{.ui = ui,
                   .session = session_,
                   .requests = requests,
                   .commands = commands(),
                   .usable = [this](const Command& c) { return enabled(c, *this); },
                   .on = [this](const Command& c) { return c.on != nullptr && c.on(*this); },
                   .baseline = unbent ? nullptr : baseline_.get(),
                   .run = session_.measured_run(),
                   .evidence = evidence_,
                   .found = panels_.search.seen,
                   .studies = studies_,
                   .hovered = hovered_,
                   .next_hovered = next_hovered,
                   .mesh = settings_.mesh,
                   .pinned = settings_.pinned,
                   .stepped = panels_.wall.stepped,
                   .axes = held_axes_,
                   .built = on_wall() ? panels_.wall.built : widgets::BuildStep::all,
                   .base = edit_base_};
  deferred_ = {};
  panels_.figures.reason_said = false;
  if (!interaction_.anything_held()) settled_.reset();
  // While something is dragged the axes stay, so that what moves is the data.
  held_axes_.hold(panels_.wall.axes_held || interaction_.anything_held() || holds_axes(panels_.tour));
  const bool sheet = panels_.sheets.shown != Sheet::none;
  interaction_.set_covered(sheet);
  canvas.rect(window, {.colour = theme_.win});
  studies_.begin_frame(kOperationsAFrame);
  engine::Scenario edited = on_wall() ? draw_wall(ctx, window) : draw_panels(ctx, window, session_.scenario());
  if (studies_.unfinished) interaction_.wake_after(0);
  interaction_.set_covered(false);
  const Sheet asked_sheet = panels_.sheets.shown;
  std::optional<PaletteEntry> entry;
  std::string answer;
  bool closed = false;
  if (panels_.sheets.shown == Sheet::palette) {
    PaletteReply reply = palette_panel(ctx, window, panels_.palette);
    closed = reply.closed;
    entry = std::move(reply.chosen);
  } else if (sheet) {
    SheetReply reply = sheet_panel(ctx, window, panels_.sheets, settings_.export_as, save_problem_);
    closed = reply.closed;
    answer = std::move(reply.answer);
  }
  if (closed) panels_.sheets.shown = std::exchange(panels_.sheets.under, Sheet::none);
  run_popup(ui, window);
  draw_hint(ui, window);
  draw_blank(ctx, window);

  take_edit(std::move(edited), requests.used, interaction_.anything_held());
  open_requested(requests);
  if (deferred_.dismiss) session_.dismiss_message();
  if (!requests.pin.empty()) pin_control(requests.pin);
  if (requests.message) session_.say(std::move(*requests.message));
  if (!requests.copied.empty() && actions_.copy_text) actions_.copy_text(requests.copied);
  if (!answer.empty()) take_sheet(asked_sheet, answer);
  hovered_ = std::move(next_hovered);
  take_tabs(deferred_.tabs);
  take_list_choice();
  const auto shown = [this] {
    return std::tuple(
        panels_.projector.open, panels_.projector.figure, panels_.projector.beside, panels_.figures.maximised,
        panels_.search.open, panels_.search.about,
        panels_.tour.open() ? 2 * panels_.tour.play->index() + 1 + panels_.tour.play->play().revealed : 0);
  };
  const auto before = shown();
  run_commands(requests.commands);
  if (entry) run_entry(*entry);
  show_next_receipt();
  // A pointer that rests would have its readout hide what was asked for.
  if (shown() != before) interaction_.park_pointer();
  if (panels_.search.preferences != preferences_before_) {
    preferences_before_ = panels_.search.preferences;
    ++preference_changes_;
  }
  follow_search();
  if (!interaction_.anything_held() && !(edit_base_ == session_.scenario())) edit_base_ = session_.scenario();
  interaction_.end();
}

}  // namespace roofscape::app
