#include "app/shell/commands.h"

#include <array>
#include <utility>
#include <vector>

#include "app/shell/workspace.h"
#include "engine/frameworks/rules.h"
#include "engine/io/scenario/layer_layout.h"
#include "engine/io/scenario/scenario_json.h"
#include "widgets/figures/figures.h"

namespace roofscape::app {

using widgets::Key;
using widgets::KeyPress;

namespace {

constexpr KeyPress plain(Key k) { return {k, false, false, false}; }
constexpr KeyPress ctrl(Key k) { return {k, true, false, false}; }
constexpr KeyPress ctrl(char c) { return ctrl(widgets::key_of(c)); }
constexpr KeyPress alt(char c) { return {widgets::key_of(c), false, false, true}; }
constexpr KeyPress shift(Key k) { return {k, false, true, false}; }
constexpr KeyPress ctrl_shift(Key k) { return {k, true, true, false}; }
constexpr KeyPress ctrl_shift(char c) { return ctrl_shift(widgets::key_of(c)); }

constexpr KeyPress kNone{};

constexpr std::array kThemes{"dark", "light", "print", "high_contrast"};
constexpr std::array kLanguages{"en", "ko", "ru"};
// One command per figure, "figure.<name>", in the order of the table of figures.
constexpr std::size_t kFigureCommands = widgets::kFigureCount;
const std::array<std::string, kFigureCommands>& figure_command_ids() {
  static const auto ids = [] {
    std::array<std::string, kFigureCommands> out;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = "figure." + std::string(widgets::figures()[i].name);
    return out;
  }();
  return ids;
}

}  // namespace

// What every command does to the workspace, whose parts are its own.
class CommandTable {
 public:
  static std::vector<Command> all();

 private:
  template <int N>
  static void open_preset(Workspace& w) {
    const auto all = w.session_.library().list(io::PresetKind::scenario);
    if (static_cast<std::size_t>(N) >= all.size()) return;
    w.open(all[static_cast<std::size_t>(N)].id);
    // One key is pressed easily: how to come back is said.
    w.session_.say({false, w.texts().format("ui.opened", {all[static_cast<std::size_t>(N)].name}), {}});
  }

  template <std::size_t N>
  static void show_figure(Workspace& w) {
    if (w.panels_.projector.open) {
      w.panels_.projector.figure = N;
      return;
    }
    // In sight it goes back to its place; under something it comes out.
    const bool seen = w.cover() == Workspace::Cover::none || w.cover() == Workspace::Cover::search;
    w.uncover();
    auto& maximised = w.panels_.figures.maximised;
    maximised = seen && maximised == N ? std::nullopt : std::optional(N);
  }

  template <std::size_t N>
  static void set_theme(Workspace& w) {
    w.set_theme(kThemes[N]);
  }
  template <std::size_t N>
  static bool theme_is(const Workspace& w) {
    return w.settings_.theme == kThemes[N];
  }

  template <std::size_t N>
  static void set_language(Workspace& w) {
    w.set_language(kLanguages[N]);
  }
  template <std::size_t N>
  static bool language_is(const Workspace& w) {
    return language_of(w.texts_) == kLanguages[N];
  }

  static bool in_projector(const Workspace& w) { return w.panels_.projector.open && !w.panels_.tour.open(); }
  static bool in_tour(const Workspace& w) { return w.panels_.tour.open(); }
  static bool on_wall(const Workspace& w) { return w.on_wall(); }
  template <WallMarks::Tool tool>
  static void take_tool(Workspace& w) {
    w.panels_.marks.take(tool, w.interaction_.input().now_s);
  }
  template <WallMarks::Tool tool>
  static bool tool_is(const Workspace& w) {
    return w.panels_.marks.tool == tool;
  }
  static bool in_own_tour(const Workspace& w) { return w.in_own_tour(); }
  template <int digit>
  static void take_digit(Workspace& w) {
    w.take_digit(digit);
  }
  static void go_to_end(Workspace& w, bool last) {
    if (w.panels_.tour.open()) return w.go_to_scene(last ? w.panels_.tour.play->count() - 1 : 0);
    const std::vector<std::size_t> deck = w.deck();
    if (deck.empty()) return;
    w.panels_.projector.figure = last ? deck.back() : deck.front();
    w.panels_.wall.built = widgets::BuildStep::all;
  }
  static bool several_tabs(const Workspace& w) { return w.tabs_.count() > 1; }
  static bool workbench_open(const Workspace& w) { return w.panels_.workbench.open; }
  static bool table_open(const Workspace& w) { return w.panels_.table.open; }
  static bool editor_open(const Workspace& w) { return w.panels_.editor.open; }
  static bool has_baseline(const Workspace& w) { return w.baseline_ != nullptr; }
  static bool has_pipeline(const Workspace& w) { return w.session_.report().pipeline.drawn(); }
  template <engine::OrderRecipe recipe>
  static void make_order(Workspace& w) {
    w.make_order(recipe);
  }
  static bool has_stages(const Workspace& w) {
    const engine::Scenario& s = w.session_.scenario();
    return !s.serves() && s.parallelism.pipeline > 1;
  }

  template <std::size_t N>
  static bool same_work(const Workspace& w) {
    return !w.session_.report().has_errors() &&
           w.session_.scenario().serves() == engine::is_server(static_cast<engine::Framework>(N));
  }
  template <std::size_t N>
  static void copy_flags(Workspace& w) {
    w.copy_flags(static_cast<engine::Framework>(N));
  }
  template <std::size_t N>
  static bool cannot_run(const Workspace& w) {
    return same_work<N>(w) &&
           engine::broken_rule(static_cast<engine::Framework>(N), w.session_.scenario()) != nullptr;
  }
  template <std::size_t N>
  static void adopt_nearest(Workspace& w) {
    w.adopt_nearest_on(static_cast<engine::Framework>(N));
  }

  static std::vector<Command> fixed();
  template <std::size_t... N>
  static void append_export_commands(std::vector<Command>& all, std::index_sequence<N...>);
  template <std::size_t... N>
  static void append_figure_commands(std::vector<Command>& all, std::index_sequence<N...>);
};

std::vector<Command> CommandTable::fixed() {
  return {
      Command{"file.open", Category::file, ctrl('O'), kNone, false, nullptr,
              [](Workspace& w) {
                w.panels_.sheets.files.started = false;
                w.panels_.sheets.shown = Sheet::open;
              }},
      Command{"file.presets", Category::file, ctrl_shift('O'), kNone, false, nullptr,
              [](Workspace& w) { w.open_scenario_list(); }},
      Command{"tab.new", Category::file, ctrl('N'), kNone, true, nullptr, [](Workspace& w) { w.new_tab(); }},
      Command{"tab.close", Category::file, ctrl('W'), kNone, false, several_tabs,
              [](Workspace& w) { w.close_tab(w.tabs_.active()); }},
      Command{"tab.reopen", Category::file, ctrl_shift('T'), kNone, false,
              [](const Workspace& w) { return w.tabs_.can_reopen(); }, [](Workspace& w) { w.reopen_tab(); }},
      Command{"tab.next", Category::file, ctrl(Key::tab), kNone, false, several_tabs,
              [](Workspace& w) { w.step_tabs(1); }},
      Command{"tab.previous", Category::file, ctrl_shift(Key::tab), kNone, false, several_tabs,
              [](Workspace& w) { w.step_tabs(-1); }},
      Command{"file.save", Category::file, ctrl('S'), kNone, true, nullptr, [](Workspace& w) { w.save(); }},
      Command{"file.save_as", Category::file, ctrl_shift('S'), kNone, false, nullptr,
              [](Workspace& w) {
                w.panels_.sheets.files.started = false;
                w.panels_.sheets.shown = Sheet::save_as;
                w.panels_.sheets.saving = Saved::scenario;
              }},
      Command{"file.receipt", Category::file, kNone, kNone, false,
              [](const Workspace& w) { return w.session_.launch() != nullptr; },
              [](Workspace& w) { w.show_receipt(); }},
      Command{"file.measured", Category::file, kNone, kNone, false,
              [](const Workspace& w) { return w.session_.measured_run() != nullptr; },
              [](Workspace& w) { w.panels_.sheets.shown = Sheet::measured; }},
      Command{"file.measured.forget", Category::file, kNone, kNone, false,
              [](const Workspace& w) { return w.session_.measured().has_value(); },
              [](Workspace& w) { w.forget_measured(); }},
      Command{"figure.export", Category::file, ctrl('E'), kNone, true, nullptr,
              [](Workspace& w) { w.export_current_figure(); }},
      Command{"figure.recipe", Category::file, kNone, kNone, false, nullptr, [](Workspace& w) { w.add_to_recipe(); }},
      Command{"figure.export_as", Category::file, ctrl_shift('E'), kNone, false, nullptr,
              [](Workspace& w) {
                if (w.cover() == Workspace::Cover::table) return w.save_table();
                w.panels_.sheets.shown = Sheet::export_figure;
              }},
      Command{"file.quit", Category::file, ctrl('Q'), kNone, true,
              [](const Workspace& w) { return static_cast<bool>(w.actions_.close); },
              [](Workspace& w) { w.actions_.close(); }},
      Command{"edit.undo", Category::edit, ctrl('Z'), kNone, false,
              [](const Workspace& w) {
                const TourState& tour = w.panels_.tour;
                return (tour.open() && tour.play->can_undo()) || w.session_.history().can_undo();
              },
              [](Workspace& w) {
                // Of a scene that asks the guess is what was done last.
                if (!w.panels_.tour.open() || !w.panels_.tour.play->undo()) w.session_.undo();
              }},
      Command{"edit.redo", Category::edit, ctrl_shift('Z'), ctrl('Y'), false,
              [](const Workspace& w) { return w.session_.history().can_redo(); },
              [](Workspace& w) { w.session_.redo(); }},
      Command{
          "edit.copy_data", Category::edit, ctrl('C'), kNone, true, nullptr,
          [](Workspace& w) {
            if (w.actions_.copy_text) w.actions_.copy_text(w.figure_data());
            const bool table = w.cover() == Workspace::Cover::table;
            w.session_.say({false, std::string(w.texts().text(table ? "ui.copied.table" : "ui.copied.data")), {}});
          }},
      Command{"edit.copy_scenario", Category::edit, ctrl_shift('C'), kNone, false, nullptr,
              [](Workspace& w) {
                if (w.actions_.copy_text)
                  w.actions_.copy_text(io::write_scenario(w.session_.scenario(), w.session_.library()));
                w.session_.say({false, std::string(w.texts().text("ui.copied.scenario")), {}});
              }},
      Command{"edit.copy_megatron_layout", Category::edit, kNone, kNone, false, has_stages,
              [](Workspace& w) { w.copy_layers(io::megatron_layout); }},
      Command{"edit.copy_torchtitan_modules", Category::edit, kNone, kNone, false, has_stages,
              [](Workspace& w) { w.copy_layers(io::torchtitan_modules); }},
      Command{"edit.paste_scenario", Category::edit, ctrl('V'), kNone, false,
              [](const Workspace& w) { return w.interaction_.read_clipboard != nullptr; },
              [](Workspace& w) { w.paste(); }},
      Command{"wall.black", Category::wall, plain(widgets::key_of('B')), plain(widgets::key_of('.')), false, on_wall,
              [](Workspace& w) { w.blank(WallState::Blank::black); }},
      Command{"wall.white", Category::wall, plain(widgets::key_of('W')), kNone, false, on_wall,
              [](Workspace& w) { w.blank(WallState::Blank::white); }},
      Command{"baseline.pin", Category::edit, plain(widgets::key_of('B')), kNone, true, nullptr,
              [](Workspace& w) { w.pin_or_unpin(); }},
      Command{"edit.mode", Category::edit, plain(Key::f3), kNone, false, nullptr,
              [](Workspace& w) { w.switch_mode(); },
              [](const Workspace& w) { return w.session_.scenario().assumptions.mode == engine::Mode::calibrated; }},
      Command{"baseline.swap", Category::edit, kNone, kNone, false, has_baseline,
              [](Workspace& w) { w.swap_with_baseline(); }},
      Command{"baseline.undo", Category::edit, kNone, kNone, false, has_baseline,
              [](Workspace& w) { w.back_to_baseline(); }},
      Command{"order.zb_1p", Category::edit, kNone, kNone, true, has_stages, make_order<engine::OrderRecipe::zb_1p>},
      Command{"order.zb_2p", Category::edit, kNone, kNone, false, has_stages, make_order<engine::OrderRecipe::zb_2p>},
      Command{"order.zb_fit", Category::edit, kNone, kNone, false, has_stages,
              make_order<engine::OrderRecipe::zb_fit>},
      Command{"order.zb_v_fit", Category::edit, kNone, kNone, false, has_stages,
              make_order<engine::OrderRecipe::zb_v_fit>},
      Command{"order.v_half", Category::edit, kNone, kNone, false, has_stages,
              make_order<engine::OrderRecipe::v_half>},
      Command{"order.v_min", Category::edit, kNone, kNone, false, has_stages, make_order<engine::OrderRecipe::v_min>},
      Command{"edit.reset", Category::edit, kNone, kNone, true,
              [](const Workspace& w) { return !(w.session_.scenario() == w.session_.loaded()); },
              [](Workspace& w) { w.session_.update(w.session_.loaded(), false); }},
      Command{"view.zoom_in", Category::view, ctrl(Key::equal), ctrl_shift(Key::equal), false, nullptr,
              [](Workspace& w) { w.change_zoom(1); }},
      Command{"view.zoom_out", Category::view, ctrl(Key::minus), kNone, false, nullptr,
              [](Workspace& w) { w.change_zoom(-1); }},
      Command{"view.zoom_reset", Category::view, ctrl('0'), kNone, false, nullptr,
              [](Workspace& w) { w.change_zoom(0); }},
      Command{"view.palette", Category::view, ctrl('P'), kNone, true, nullptr,
              [](Workspace& w) { w.open_palette(); }},
      Command{"view.workbench", Category::view, plain(Key::f6), kNone, false, nullptr,
              [](Workspace& w) {
                const bool opens = w.cover() != Workspace::Cover::workbench;
                w.uncover();
                w.panels_.workbench.open = opens;
              },
              workbench_open},
      Command{"view.table", Category::view, plain(Key::f8), kNone, false, nullptr,
              [](Workspace& w) {
                const bool opens = w.cover() != Workspace::Cover::table;
                w.uncover();
                w.panels_.table.open = opens;
              },
              table_open},
      Command{"view.search", Category::view, plain(Key::f7), kNone, false, nullptr,
              [](Workspace& w) { w.toggle_search(SearchView::About::plans); },
              [](const Workspace& w) { return w.panels_.search.shows(SearchView::About::plans); }},
      Command{"view.clusters", Category::view, KeyPress{Key::f7, false, true}, kNone, false, nullptr,
              [](Workspace& w) { w.toggle_search(SearchView::About::clusters); },
              [](const Workspace& w) { return w.panels_.search.shows(SearchView::About::clusters); }},
      Command{"search.reset", Category::view, kNone, kNone, false,
              [](const Workspace& w) {
                return limits(w.panels_.search.preferences, w.session_.scenario().workload.kind);
              },
              [](Workspace& w) { w.lift_search_limits(); }},
      Command{"editor.model", Category::edit, plain(Key::f2), kNone, true, nullptr,
              [](Workspace& w) { w.panels_.editor.show(EditorPart::model); },
              [](const Workspace& w) { return w.panels_.editor.open && w.panels_.editor.part == EditorPart::model; }},
      Command{
          "editor.cluster", Category::edit, plain(Key::f4), kNone, false, nullptr,
          [](Workspace& w) { w.panels_.editor.show(EditorPart::cluster); },
          [](const Workspace& w) { return w.panels_.editor.open && w.panels_.editor.part == EditorPart::cluster; }},
      Command{"editor.reset", Category::edit, kNone, kNone, false, [](const Workspace& w) { return w.edited(); },
              [](Workspace& w) { w.reset_edited(); }},
      Command{"editor.save", Category::edit, kNone, kNone, false, editor_open,
              [](Workspace& w) {
                w.panels_.sheets.shown = Sheet::save_as;
                w.panels_.sheets.saving = w.panels_.editor.part == EditorPart::model ? Saved::model : Saved::cluster;
              }},
      Command{"workbench.copy", Category::edit, kNone, kNone, false, workbench_open,
              [](Workspace& w) {
                Workbench& bench = w.panels_.workbench;
                if (w.actions_.copy_text)
                  w.actions_.copy_text(command_line(bench.shown(), bench.bench(w.session_).given));
                w.session_.say({false, std::string(w.texts().text("ui.copied.command")), {}});
              }},
      Command{"workbench.reset", Category::edit, kNone, kNone, false, workbench_open,
              [](Workspace& w) { w.panels_.workbench.reset(w.session_); }},
      Command{"view.projector", Category::view, plain(Key::f5), kNone, false,
              [](const Workspace& w) { return !w.panels_.tour.open(); }, [](Workspace& w) { w.toggle_projector(); },
              [](const Workspace& w) { return w.panels_.projector.open; }},
      Command{"tour.open", Category::tours, plain(Key::f9), kNone, false, nullptr,
              [](Workspace& w) { w.open_tour_list(); }},
      Command{"tour.next", Category::tours, plain(Key::page_down), plain(Key::right), true, in_tour,
              [](Workspace& w) { w.step_tour(1); }},
      Command{"tour.previous", Category::tours, plain(Key::page_up), plain(Key::left), false, in_tour,
              [](Workspace& w) { w.step_tour(-1); }},
      Command{"wall.first", Category::wall, plain(Key::home), kNone, false, on_wall,
              [](Workspace& w) { go_to_end(w, false); }},
      Command{"wall.last", Category::wall, plain(Key::end), kNone, false, on_wall,
              [](Workspace& w) { go_to_end(w, true); }},
      Command{"wall.go", Category::wall, plain(Key::enter), kNone, false, on_wall,
              [](Workspace& w) { w.take_enter(); }},
      Command{"tour.notes", Category::tours, plain(widgets::key_of('N')), kNone, true, in_tour,
              [](Workspace& w) { w.panels_.tour.notes = !w.panels_.tour.notes; },
              [](const Workspace& w) { return w.panels_.tour.notes; }},
      Command{"tour.score", Category::tours, plain(widgets::key_of('S')), kNone, false, in_tour,
              [](Workspace& w) { w.panels_.tour.score = !w.panels_.tour.score; },
              [](const Workspace& w) { return w.panels_.tour.score; }},
      Command{"tour.why", Category::tours, plain(widgets::key_of('D')), kNone, false,
              [](const Workspace& w) {
                return w.panels_.tour.open() && w.panels_.tour.play->play().revealed &&
                       !derivable_answer(w.panels_.tour).empty();
              },
              [](Workspace& w) {
                auto& trail = w.panels_.tour.derivation.trail;
                if (trail.empty())
                  w.panels_.tour.derivation.open(derivable_answer(w.panels_.tour));
                else
                  trail.clear();
              }},
      Command{"tour.restart", Category::tours, kNone, kNone, true, in_tour,
              [](Workspace& w) {
                w.panels_.tour.play->forget();
                w.show_scene();
              }},
      Command{"tour.add_scene", Category::tours, kNone, kNone, true,
              [](const Workspace& w) { return !w.panels_.tour.open(); },
              [](Workspace& w) { w.open_scene_sheet(false); }},
      Command{"tour.edit_scene", Category::tours, kNone, kNone, false, in_own_tour,
              [](Workspace& w) { w.open_scene_sheet(true); }},
      Command{"tour.scene_earlier", Category::tours, kNone, kNone, false, in_own_tour,
              [](Workspace& w) { w.move_scene(-1); }},
      Command{"tour.scene_later", Category::tours, kNone, kNone, false, in_own_tour,
              [](Workspace& w) { w.move_scene(1); }},
      Command{"tour.remove_scene", Category::tours, kNone, kNone, false,
              [](const Workspace& w) { return w.in_own_tour() && w.panels_.tour.play->count() > 1; },
              [](Workspace& w) { w.move_scene(0); }},
      Command{"tour.leave", Category::tours, kNone, kNone, false, in_tour, [](Workspace& w) { w.leave_tour(); }},
      Command{"wall.step_up", Category::wall, plain(widgets::key_of(']')), kNone, false, on_wall,
              [](Workspace& w) { w.step_control(1); }},
      Command{"wall.step_down", Category::wall, plain(widgets::key_of('[')), kNone, false, on_wall,
              [](Workspace& w) { w.step_control(-1); }},
      Command{"wall.pin", Category::view, plain(widgets::key_of('P')), kNone, false,
              [](const Workspace& w) { return !w.panels_.wall.stepped.empty(); },
              [](Workspace& w) { w.pin_control(w.panels_.wall.stepped); }},
      Command{"wall.next_control",
              Category::wall,
              plain(Key::tab),
              {Key::tab, false, true, false},
              false,
              [](const Workspace& w) { return w.on_wall() && w.wall_controls().size() > 1; },
              [](Workspace& w) { w.next_control(1); }},
      Command{"wall.pointer", Category::wall, plain(WallMarks::key(WallMarks::Tool::pointer)), kNone, false, on_wall,
              take_tool<WallMarks::Tool::pointer>, tool_is<WallMarks::Tool::pointer>},
      Command{"wall.ink", Category::wall, plain(WallMarks::key(WallMarks::Tool::ink)), kNone, false, on_wall,
              take_tool<WallMarks::Tool::ink>, tool_is<WallMarks::Tool::ink>},
      Command{"wall.pen", Category::wall, plain(WallMarks::key(WallMarks::Tool::pen)), kNone, false, on_wall,
              take_tool<WallMarks::Tool::pen>, tool_is<WallMarks::Tool::pen>},
      Command{"wall.spotlight", Category::wall, plain(WallMarks::key(WallMarks::Tool::spotlight)), kNone, false,
              on_wall, take_tool<WallMarks::Tool::spotlight>, tool_is<WallMarks::Tool::spotlight>},
      Command{"wall.presenter", Category::wall, plain(Key::f10), kNone, false, on_wall,
              [](Workspace& w) { w.panels_.wall.presents = !w.panels_.wall.presents; },
              [](const Workspace& w) { return w.panels_.wall.presents; }},
      Command{"wall.build", Category::wall, plain(widgets::key_of('U')), kNone, false, on_wall,
              [](Workspace& w) {
                widgets::BuildStep& built = w.panels_.wall.built;
                built = built == widgets::BuildStep::axes    ? widgets::BuildStep::lines
                        : built == widgets::BuildStep::lines ? widgets::BuildStep::all
                                                             : widgets::BuildStep::axes;
              }},
      Command{"wall.deck", Category::wall, plain(widgets::key_of('K')), kNone, false, in_projector,
              [](Workspace& w) { w.open_deck(); }},
      Command{"wall.deck_earlier",
              Category::wall,
              {Key::page_up, true, false, false},
              kNone,
              false,
              in_projector,
              [](Workspace& w) { w.move_in_deck(-1); }},
      Command{"wall.deck_later",
              Category::wall,
              {Key::page_down, true, false, false},
              kNone,
              false,
              in_projector,
              [](Workspace& w) { w.move_in_deck(1); }},
      Command{"wall.deck_all", Category::wall, kNone, kNone, false,
              [](const Workspace& w) { return in_projector(w) && !w.settings_.deck.empty(); },
              [](Workspace& w) { w.settings_.deck.clear(); }},
      Command{"wall.hold_axes", Category::wall, plain(widgets::key_of('L')), kNone, false, on_wall,
              [](Workspace& w) { w.panels_.wall.axes_held = !w.panels_.wall.axes_held; },
              [](const Workspace& w) { return w.panels_.wall.axes_held; }},
      Command{"wall.digit.0", Category::hidden, plain(widgets::key_of('0')), kNone, false, on_wall, take_digit<0>},
      Command{"wall.digit.1", Category::hidden, plain(widgets::key_of('1')), kNone, false, on_wall, take_digit<1>},
      Command{"wall.digit.2", Category::hidden, plain(widgets::key_of('2')), kNone, false, on_wall, take_digit<2>},
      Command{"wall.digit.3", Category::hidden, plain(widgets::key_of('3')), kNone, false, on_wall, take_digit<3>},
      Command{"wall.digit.4", Category::hidden, plain(widgets::key_of('4')), kNone, false, on_wall, take_digit<4>},
      Command{"wall.digit.5", Category::hidden, plain(widgets::key_of('5')), kNone, false, on_wall, take_digit<5>},
      Command{"wall.digit.6", Category::hidden, plain(widgets::key_of('6')), kNone, false, on_wall, take_digit<6>},
      Command{"wall.digit.7", Category::hidden, plain(widgets::key_of('7')), kNone, false, on_wall, take_digit<7>},
      Command{"wall.digit.8", Category::hidden, plain(widgets::key_of('8')), kNone, false, on_wall, take_digit<8>},
      Command{"wall.digit.9", Category::hidden, plain(widgets::key_of('9')), kNone, false, on_wall, take_digit<9>},
      Command{"projector.next", Category::wall, plain(Key::right), plain(Key::page_down), false, in_projector,
              [](Workspace& w) { w.step_projector(1); }},
      Command{"projector.previous", Category::wall, plain(Key::left), plain(Key::page_up), false, in_projector,
              [](Workspace& w) { w.step_projector(-1); }},
      Command{"projector.beside", Category::wall, plain(widgets::key_of('T')), kNone, false, in_projector,
              [](Workspace& w) { w.toggle_beside(); },
              [](const Workspace& w) { return w.panels_.projector.beside.has_value(); }},
      Command{"projector.beside_next", Category::wall, shift(Key::right), kNone, false, in_projector,
              [](Workspace& w) { w.step_beside(1); }},
      Command{"projector.beside_previous", Category::wall, shift(Key::left), kNone, false, in_projector,
              [](Workspace& w) { w.step_beside(-1); }},
      Command{"view.theme", Category::view, ctrl('T'), kNone, true, nullptr,
              [](Workspace& w) { w.set_theme(w.theme().dark() ? "light" : "dark"); }},
      Command{"theme.dark", Category::view, kNone, kNone, false, nullptr, set_theme<0>, theme_is<0>},
      Command{"theme.light", Category::view, kNone, kNone, false, nullptr, set_theme<1>, theme_is<1>},
      Command{"theme.print", Category::view, kNone, kNone, false, nullptr, set_theme<2>, theme_is<2>},
      Command{"theme.high_contrast", Category::view, kNone, kNone, false, nullptr, set_theme<3>, theme_is<3>},
      Command{"language.en", Category::view, kNone, kNone, true, nullptr, set_language<0>, language_is<0>},
      Command{"language.ko", Category::view, kNone, kNone, false, nullptr, set_language<1>, language_is<1>},
      Command{"language.ru", Category::view, kNone, kNone, false, nullptr, set_language<2>, language_is<2>},
      Command{"view.still", Category::view, kNone, kNone, true, nullptr,
              [](Workspace& w) { w.settings_.still = !w.still(); }, [](const Workspace& w) { return w.still(); }},
      Command{"view.right_rail", Category::view, ctrl('D'), kNone, false, nullptr,
              [](Workspace& w) { w.panels_.right_rail.open = !w.panels_.right_rail.open; },
              [](const Workspace& w) { return w.panels_.right_rail.open; }},
      Command{"view.left_rail", Category::view, ctrl('L'), kNone, false, nullptr,
              [](Workspace& w) { w.toggle_left_rail(); },
              [](const Workspace& w) { return w.settings_.arrangement.left_open; }},
      Command{"view.layout_reset", Category::view, kNone, kNone, false, nullptr,
              [](Workspace& w) { w.reset_layout(); }},
      Command{"view.full_screen", Category::view, plain(Key::f11), kNone, true,
              [](const Workspace& w) { return static_cast<bool>(w.actions_.toggle_full_screen); },
              [](Workspace& w) { w.actions_.toggle_full_screen(); }},
      Command{
          "pipeline.critical_path", Category::figures, kNone, kNone, true, has_pipeline,
          [](Workspace& w) { w.panels_.figures.pipeline.critical_path = !w.panels_.figures.pipeline.critical_path; }},
      Command{
          "pipeline.memory_trace", Category::figures, kNone, kNone, false, has_pipeline,
          [](Workspace& w) { w.panels_.figures.pipeline.memory_trace = !w.panels_.figures.pipeline.memory_trace; }},
      Command{"pipeline.play", Category::figures, plain(widgets::key_of(' ')), kNone, false, has_pipeline,
              [](Workspace& w) { w.panels_.figures.pipeline.play_or_stop(); }},
      Command{"figure.all", Category::figures, kNone, kNone, true,
              [](const Workspace& w) { return w.panels_.figures.maximised.has_value(); },
              [](Workspace& w) { w.panels_.figures.maximised.reset(); }},
      Command{"help.keys", Category::help, plain(Key::f1), kNone, false, nullptr,
              [](Workspace& w) {
                w.panels_.sheets.shown = w.panels_.sheets.shown == Sheet::help ? Sheet::none : Sheet::help;
              }},
      Command{"escape", Category::hidden, plain(Key::escape), kNone, false, nullptr,
              [](Workspace& w) { w.escape(); }},
      Command{"preset.1", Category::hidden, alt('1'), kNone, false, nullptr, open_preset<0>},
      Command{"preset.2", Category::hidden, alt('2'), kNone, false, nullptr, open_preset<1>},
      Command{"preset.3", Category::hidden, alt('3'), kNone, false, nullptr, open_preset<2>},
      Command{"preset.4", Category::hidden, alt('4'), kNone, false, nullptr, open_preset<3>},
      Command{"preset.5", Category::hidden, alt('5'), kNone, false, nullptr, open_preset<4>},
      Command{"preset.6", Category::hidden, alt('6'), kNone, false, nullptr, open_preset<5>},
      Command{"preset.7", Category::hidden, alt('7'), kNone, false, nullptr, open_preset<6>},
      Command{"preset.8", Category::hidden, alt('8'), kNone, false, nullptr, open_preset<7>},
      Command{"preset.9", Category::hidden, alt('9'), kNone, false, nullptr, open_preset<8>},
  };
}

template <std::size_t... N>
void CommandTable::append_figure_commands(std::vector<Command>& all, std::index_sequence<N...>) {
  (all.push_back({figure_command_ids()[N], Category::figures, kNone, kNone, N == 0, nullptr, show_figure<N>}), ...);
}

// In the menu the files of every framework; in the palette also the nearest plan of one that cannot run this.
template <std::size_t... N>
void CommandTable::append_export_commands(std::vector<Command>& all, std::index_sequence<N...>) {
  constexpr std::array<std::string_view, engine::kFrameworks> kCopy{
      "edit.copy_for.megatron", "edit.copy_for.megatron-bridge", "edit.copy_for.torchtitan", "edit.copy_for.maxtext",
      "edit.copy_for.jax",      "edit.copy_for.deepspeed",       "edit.copy_for.vllm",       "edit.copy_for.sglang",
      "edit.copy_for.trtllm"};
  constexpr std::array<std::string_view, engine::kFrameworks> kNearest{
      "edit.nearest_for.megatron",   "edit.nearest_for.megatron-bridge",
      "edit.nearest_for.torchtitan", "edit.nearest_for.maxtext",
      "edit.nearest_for.jax",        "edit.nearest_for.deepspeed",
      "edit.nearest_for.vllm",       "edit.nearest_for.sglang",
      "edit.nearest_for.trtllm"};
  (all.push_back({kCopy[N], Category::edit, kNone, kNone, N == 0, same_work<N>, copy_flags<N>}), ...);
  (all.push_back({kNearest[N], Category::palette, kNone, kNone, false, cannot_run<N>, adopt_nearest<N>}), ...);
}

std::vector<Command> CommandTable::all() {
  std::vector<Command> out = fixed();
  append_export_commands(out, std::make_index_sequence<engine::kFrameworks>());
  append_figure_commands(out, std::make_index_sequence<kFigureCommands>());
  return out;
}

std::span<const Command> commands() {
  static const std::vector<Command> all = CommandTable::all();
  return all;
}

const Command* find_command(std::string_view id) { return find_command(commands(), id); }

bool enabled(const Command& command, const Workspace& workspace) {
  return command.enabled == nullptr || command.enabled(workspace);
}

}  // namespace roofscape::app
