// Workspace: the whole window but the window. It owns the open scenarios, the settings, the states of the panels and
// the jobs beside them, lays the panels out, feeds them a frame's input and runs commands. The real window and the
// headless tests drive the same object.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/tab_strip.h"
#include "app/session/cluster_job.h"
#include "app/session/evidence_job.h"
#include "app/session/layout.h"
#include "app/session/measured_job.h"
#include "app/session/search_job.h"
#include "app/session/session.h"
#include "app/session/settings.h"
#include "app/session/settle_edit.h"
#include "app/session/tabs.h"
#include "app/shell/panel_states.h"
#include "engine/frameworks/framework.h"
#include "engine/io/scenario/session_json.h"
#include "engine/io/tour/tour_edit.h"
#include "engine/studies/made_order.h"
#include "widgets/canvas/theme.h"
#include "widgets/plot/text_table.h"
#include "widgets/ui/canvas_screen.h"
#include "widgets/ui/interaction.h"

namespace roofscape::app {

// What only a real window can do. Each may be empty.
struct WindowActions {
  std::function<void(const std::string&)> copy_text;
  std::function<void()> toggle_full_screen;
  std::function<void(bool)> set_full_screen;  // on the monitor that the window is on; back as it was
  std::function<void()> close;
};

class Workspace {
 public:
  // The fonts must outlive the workspace.
  Workspace(std::shared_ptr<const io::PresetLibrary> presets, const widgets::FontStack& fonts, engine::Scenario start,
            std::string origin, widgets::TextTable texts, widgets::Theme theme, Settings settings);

  // ---- a frame ----

  // Draws one frame. The fonts have to be ready for text of em_px() by then.
  void frame(widgets::ScreenCanvas& canvas, ImDrawList* list, const widgets::UiInput& input,
             const widgets::Rect& window);
  // Base text size for a window of this size, in pixels.
  float em_px(const widgets::Rect& window) const;
  void set_content_scale(float scale) { content_scale_ = scale; }
  // What of the window it needs to know: entry of text, the cursor, when to draw again.
  widgets::Interaction& interaction() { return interaction_; }

  const widgets::TextTable& texts() const { return texts_; }
  const widgets::Theme& theme() const { return theme_; }
  const widgets::FontStack& fonts() const { return fonts_; }
  // All texts whose characters the fonts must have; and the same once, after a language or a tour brought others.
  std::string characters() const;
  std::string take_new_characters();

  // ---- the window around it ----

  WindowActions& actions() { return actions_; }
  const Settings& settings() const { return settings_; }
  void remember_size(int width, int height);  // of the window, in its own units
  // Nothing slides into its place: as was chosen, else as the system asks.
  bool still() const { return settings_.still.value_or(system_still_); }
  void set_system_still(bool still) { system_still_ = still; }
  // Called from other threads when a search or the evidence has news; nobody is after an empty one is set.
  void set_wake(const std::function<void()>& wake);
  bool has_search_news() const {
    return searching_.latest() != panels_.search.latest || choosing_.latest() != panels_.search.clusters.latest;
  }
  // Predicts the published measurements beside the window, once (app/session/evidence_job.h).
  void start_evidence() { evidence_job_.start(session_.presets()); }
  bool has_measured_news() const { return measuring_.reading(); }  // how far it is is drawn
  void finish_evidence();  // the same, now: for a picture of one moment, and for tests
  bool take_evidence();    // true if there is something new to draw

  // The lecturer's own window beside the wall (app/panels/presenter_panel.h): whether it is wanted, and one frame of it.
  // `clock`: the time of day in words. `now_s`: on the clock of the frames.
  bool presents() const { return panels_.wall.presents && on_wall(); }
  void stop_presenting() { panels_.wall.presents = false; }
  void draw_presenter(widgets::ScreenCanvas& canvas, ImDrawList* list, const widgets::Rect& window,
                      const std::string& clock, double now_s);

  // ---- what is open ----

  const Session& session() const { return session_; }  // the one that is shown
  void say(Message message) { session_.say(std::move(message)); }
  // Loads a preset or a file.
  void open(const std::string& id_or_path);
  // Files: a scenario opens in a tab of its own unless the one that is shown was not touched; a config.json becomes
  // the model of the present scenario, an order of operations (torch's CSV) that of its pipeline, as one step of undo.
  void open_file(const std::string& path);
  void drop(const std::vector<std::string>& files);  // onto the window, whatever is open over it
  // Everything that is open, for the autosave; and back. False with a message if nothing in it could be read.
  std::string session_text() const;
  // With `beside` the tab that is shown stays, and what was kept opens before it.
  bool restore(std::string_view text, const std::string& file, bool beside = false);
  // Another number after every change of what session_text() writes.
  std::size_t changes() const {
    return tabs_.changes() * 1'000'003 + own_session().evaluations() +
           (pins_ + preference_changes_ + recent_changes_ + measured_changes_) * 1009;
  }
  // Why what is open cannot be kept; empty: it is.
  const std::string& save_problem() const { return save_problem_; }
  void set_save_problem(std::string problem) { save_problem_ = std::move(problem); }
  bool may_close();  // false: something would be lost, and a sheet asks

 private:
  friend class CommandTable;        // what a command does (commands.cpp)
  friend class WorkspaceInspector;  // of the tests, which look at every part and set it

  // ---- what commands do ----
  double zoom(const widgets::Rect& window) const;
  void change_zoom(int eighths);  // 0: back to the size's own
  bool set_theme(const std::string& name);
  void set_language(const std::string& name);  // at once, and from now on
  void export_current_figure();                // asks where to and how the first time
  void write_exported();                       // as settings.export_as says; an existing file is never replaced
  void add_to_recipe();                        // the figure that an export would write
  std::string figure_data();                   // its data, or the table that lies over it, as tab-separated text
  void save();
  void save_as(const std::filesystem::path& file);
  void save_preset(const std::string& name);  // the edited model or cluster, as the sheet says
  bool edited() const;                        // the editor is open at something that departs from its preset
  void reset_edited();
  void open_scenario_list();
  void new_tab();  // with the scenario that is shown, what is wanted of its search, and its baseline
  void close_tab(std::size_t tab);
  void show_tab(std::size_t tab);
  void step_tabs(int by);
  void reopen_tab();
  void switch_mode();  // calibrated to ideal, any other to calibrated
  void pin_or_unpin();
  void swap_with_baseline();
  void back_to_baseline();
  void paste();  // a scenario as JSON, or a model's config.json, from the clipboard
  void escape();
  void reset_layout();  // all of it: rails, splitters and the cells of both kinds
  void toggle_left_rail();
  void open_palette();
  void run_entry(const PaletteEntry& entry);  // does what was chosen in the palette
  void toggle_projector();
  // ---- the deck of the projector (workspace_deck.cpp) ----
  // The figures that are shown, in their order: of the deck those with a picture.
  std::vector<std::size_t> deck() const;
  void open_deck();  // the list in which figures are chosen
  void take_deck_choice();
  void keep_in_deck(std::size_t figure);  // or no longer
  void move_in_deck(int by);              // the projected figure, past its neighbour
  // The next one of the deck or the one before that is not `other`.
  std::size_t figure_after(std::size_t figure, int by, std::optional<std::size_t> other) const;
  void step_projector(int by);
  // Another figure beside the projected one, or none again; and which.
  void toggle_beside();
  void step_beside(int by);
  // ---- on the wall: a figure or a tour over the whole window (workspace_tour.cpp) ----
  bool on_wall() const { return panels_.projector.open || panels_.tour.open(); }
  void set_wall_theme();  // that of the projector, as light or dark as the one that was chosen
  void open_tour_list();
  // What is open waits until the tour is left.
  void open_tour(const std::string& id_or_path, std::size_t scene = 0);
  void leave_tour();
  void show_scene();  // its plan, as the play says
  void step_tour(int by);
  void go_to_scene(std::size_t scene);
  void reveal_scene();
  void take_digit(int digit);
  void take_enter();
  // ---- tours of one's own (workspace_author.cpp) ----
  bool in_own_tour() const;
  void open_scene_sheet(bool edits);
  std::vector<MarkOffer> offered_marks_of_scene(const widgets::FontStack& fonts, const std::string& answer);
  io::SceneDraft drafted_scene() const;  // what the window shows, with the words of the sheet
  std::filesystem::path authored_file() const;
  void save_scene();
  void refuse_scene(const io::InputError& error);  // the sheet stays, and says why
  bool write_tour(const std::string& text, const std::filesystem::path& file);
  void move_scene(int by);  // of the tour that is open; 0: takes it away

  void step_control(int by);
  void pin_control(const std::string& path);           // to the wall; or takes it away
  void next_control(int by);                           // of those on the wall the one that is stepped
  std::size_t left_at(const std::string& tour) const;  // the scene where it was left
  void blank(WallState::Blank what);
  std::vector<std::string> wall_controls() const;
  engine::Scenario draw_wall(PanelContext& ctx, const widgets::Rect& window);
  void draw_blank(PanelContext& ctx, const widgets::Rect& window);

  void toggle_search(SearchView::About about);
  void lift_search_limits();  // of the kind of workload that is shown

  // What lies over the grid of figures; of several that are open the first.
  enum class Cover : std::uint8_t { none, editor, workbench, table, search };
  Cover cover() const;
  void uncover();     // closes the editor, the workbench and the table
  void save_table();  // of models or chips as CSV, beside exported figures; nothing that is there is replaced

  // The figure that export and copy mean: the one maximised, else the one last pointed at, else the first.
  std::size_t current_figure() const;
  // Whether they mean the figure of the block on the workbench, which lies over the others.
  bool shows_block() const { return cover() == Cover::workbench; }
  std::string exported_name() const;  // of what they mean, for people
  // What a copy of a figure shows beyond the default: the tools and choices that are on, never what the pointer does.
  widgets::FigureView shown_view(std::size_t figure) const;
  // Of the scenario as it is, where a panel draws the last one that could be drawn.
  widgets::FigureInput own_figure_input(const widgets::Theme& theme, widgets::StudyCache& studies,
                                        const widgets::SearchSeen& found) const;

  // ---- the parts of a frame ----
  // What the projector shows, with its title, on the lecturer's window.
  void draw_projected(widgets::Canvas& canvas, widgets::Rect place);
  LayoutRequest layout_request(const widgets::Rect& window);
  InSight in_sight(const LayoutRequest& request) const;
  engine::Scenario draw_panels(PanelContext& ctx, const widgets::Rect& window, engine::Scenario edited);
  // The session takes an edit with what has to follow it; what that was is said in the status bar.
  void take_edit(engine::Scenario edited, const UsedControl& edit, bool held);
  void open_derivation(const std::string& id);
  void open_evidence(engine::EvidenceKind kind);  // its figure
  void open_requested(PanelRequests& requests);   // derivation and evidence that panels asked for
  void run_commands(const std::vector<std::string>& requested);
  void follow_kind();  // the cells are those of the kind of workload
  void take_list_choice();
  void take_tabs(const TabStrip& strip);
  void take_sheet(Sheet sheet, const std::string& answer);

  // ---- files and tabs ----
  void open_beside(engine::Scenario scenario, const std::string& origin);
  void take_model(std::string_view config, const std::string& file);
  // A launch file of a framework as a scenario beside what is open, with its receipt; false: it is none. Where it lacks
  // what an evaluation needs, or holds an error, the receipt asks first.
  bool take_launch(std::string_view text, const std::string& file);
  void open_launch(LaunchImport read);  // as the tab that is shown
  void accept_import();                 // of the receipt's sheet
  void show_receipt();                  // of the plan that is shown
  void show_next_receipt();             // of those that wait, where no sheet is open
  // What a real run left behind, files or a line: read beside the window, then laid over the plan that is shown.
  void read_measured(std::vector<std::string> inputs, const std::string& name);
  void start_measured(io::SavedMeasured from);
  void stop_measured();                                            // before another tab is shown
  void forget_measured();                                          // that of the tab that is shown
  void take_measured();                                            // what the job has, at the beginning of a frame
  void take_order(std::string_view csv, const std::string& file);  // of a pipeline's operations, into the scenario
  void copy_layers(std::string (*text)(const std::vector<int>& layers));  // of the stages, to the clipboard
  // The plan as the file of a launcher or server, to the clipboard; or what keeps that from running it.
  void copy_flags(engine::Framework framework);
  // The nearest plan that it can run, as one step of undo.
  void adopt_nearest_on(engine::Framework framework);
  void take_layers(std::string_view layout);    // of Megatron-LM or torchtitan
  void make_order(engine::OrderRecipe recipe);  // for the scenario's times; one step of undo
  bool is_open(const io::SavedTab& tab) const;
  void remember_file(const std::string& file);
  ShownTab shown_tab() { return {session_, panels_.search.preferences, baseline_}; }

  // ---- the search beside the window ----
  bool shows_figure_of(widgets::Needs needs) const;
  bool shows_search() const;      // a figure or panel that is shown draws one
  void take_search();             // what the job has, at the beginning of a frame and after an edit
  void show_newest(bool serves);  // of what the job has
  // The newest result; if it answers for the present scenario too, as that one's.
  std::shared_ptr<const SearchOutcome> found_for_present();
  // What plans are ranked by the slow end of error bands with; null: by predictions, or nothing is measured yet.
  std::shared_ptr<const engine::EvidenceSet> measured_to_rank_by() const;
  void follow_search();  // asks for what is wanted now, at its end
  // The same of clusters (workspace_clusters.cpp).
  void take_clusters();
  bool shows_clusters() const;
  widgets::ClustersSeen clusters_found_here() const;  // as found_here(), and what of them is asked
  void follow_clusters();
  void name_clusters();                    // those that are asked about, read where they have changed
  ClusterQuery cluster_query() const;      // they have been named
  widgets::SearchSeen found_here() const;  // what was found for the present scenario; nulls: nothing

  Session session_;
  Tabs tabs_;
  std::shared_ptr<const Pinned> baseline_;  // of the tab that is shown; null: none
  Settings settings_;
  PanelStates panels_;
  Hovered hovered_;
  widgets::StudyCache studies_;                                 // what figures computed beyond the report
  widgets::HeldAxes held_axes_;                                 // of the figures in sight
  std::map<std::size_t, std::vector<WallMarks::Stroke>> pens_;  // of the tour's scenes, by their place
  std::shared_ptr<const engine::EvidenceSet> evidence_;         // null: not computed yet
  SearchJob searching_;                                         // of plans, beside the window
  ClusterJob choosing_;                                         // of a cluster, beside it too
  struct PlacedSearch {
    std::shared_ptr<const SearchOutcome> of, found;
  };
  PlacedSearch placed_;                        // kept from frame to frame, so that what is drawn of it is too
  std::vector<engine::Scenario> since_found_;  // while a search is in sight, from what it shows to the present one
  EvidenceJob evidence_job_;
  MeasuredJob measuring_;
  io::SavedMeasured measured_from_;  // what that reads
  WindowActions actions_;
  widgets::Interaction interaction_;
  widgets::Probe probe_;

  const widgets::FontStack& fonts_;
  widgets::TextTable texts_;
  widgets::Theme theme_, desk_theme_;  // what is shown, and what is shown away from the wall
  float content_scale_ = 1;
  bool system_still_ = false;
  bool characters_changed_ = false;
  widgets::Rect window_{};
  std::optional<bool> was_compact_;
  bool was_covered_ = false, was_right_open_ = true;
  bool left_asked_ = false;  // the left rail was opened in a window too narrow for it and the figures
  std::string save_problem_;
  bool leaves_ = false;  // the window closes all the same
  std::size_t pins_ = 0, preference_changes_ = 0, recent_changes_ = 0, measured_changes_ = 0;
  std::vector<io::UnreadTab> unread_;  // kept in the session as they are
  SearchPreferences preferences_before_;
  struct Deferred {  // asked of this frame, done at its end
    TabStrip tabs;
    bool dismiss = false;
  };
  Deferred deferred_;
  engine::Scenario edit_base_;  // the scenario when the control that is held was taken hold of
  // The last edit that was settled: a control that is held where it cannot go asks for the same in every frame.
  struct Settled {
    engine::Scenario base, edited;
    SettledEdit result;
  };
  std::optional<Settled> settled_;
  // What was open when a tour began.
  struct Kept {
    Session session;
    SearchPreferences preferences;
    std::shared_ptr<const Pinned> baseline;
    bool projected = false;
  };
  std::optional<Kept> kept_;
  // The session that counts as open: that of a tour does not.
  const Session& own_session() const { return kept_ ? kept_->session : session_; }
  std::map<std::string, std::size_t, std::less<>> tour_places_;  // the scene where each tour was left
  std::vector<std::string> list_;                                // what the entries of the open list load
};

}  // namespace roofscape::app
