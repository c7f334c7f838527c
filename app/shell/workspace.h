// Workspace: the whole window but the window. It owns the session, the view and the settings, lays the panels out,
// feeds them a frame's input and runs commands. The real window and the headless tests drive the same object.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/panels/panel.h"
#include "app/session/evidence_job.h"
#include "app/session/layout.h"
#include "app/session/search_job.h"
#include "app/session/session.h"
#include "app/session/settings.h"
#include "app/session/settle_edit.h"
#include "app/session/tabs.h"
#include "engine/io/scenario/session_json.h"
#include "widgets/canvas/theme.h"
#include "widgets/plot/text_table.h"
#include "widgets/ui/canvas_screen.h"
#include "widgets/ui/interaction.h"

namespace roofscape::app {

// What only a real window can do. Each may be empty.
struct WindowActions {
  std::function<void(const std::string&)> copy_text;
  std::function<void()> toggle_full_screen;
  std::function<void()> close;
};

class Workspace {
 public:
  // The fonts must outlive the workspace.
  Workspace(std::shared_ptr<const io::PresetLibrary> presets, const widgets::FontStack& fonts, engine::Scenario start,
            std::string origin, widgets::TextTable texts, widgets::Theme theme, Settings settings);

  Session session;  // the one that is shown
  Tabs tabs;
  ViewState view;
  Settings settings;
  SearchJob searching;  // of plans, beside the window
  WindowActions actions;
  widgets::Interaction interaction;
  widgets::Probe probe;

  // Predicts the published measurements beside the window (app/session/evidence_job.h); `wake` is called from another thread.
  void start_evidence(std::function<void()> wake);
  void finish_evidence();  // the same, now: for a picture of one moment, and for tests
  bool take_evidence();    // true if there is something new to draw

  // Draws one frame. `begin_canvas` says what the em is before: call em_px() first for the fonts.
  void frame(widgets::ScreenCanvas& canvas, ImDrawList* list, const widgets::UiInput& input,
             const widgets::Rect& window);
  // Base text size for a window of this size, in pixels.
  float em_px(const widgets::Rect& window) const;
  double zoom(const widgets::Rect& window) const;
  void set_content_scale(float scale) { content_scale_ = scale; }

  const widgets::TextTable& texts() const { return texts_; }
  const widgets::Theme& theme() const { return theme_; }
  const widgets::FontStack& fonts() const { return fonts_; }
  bool set_theme(const std::string& name);
  void change_zoom(int eighths);  // 0: back to the size's own

  // The figure that export and copy mean: the one maximised, else the one last pointed at, else the first.
  std::size_t current_figure() const;
  void export_current_figure();     // asks where to and how the first time
  void write_exported();            // as settings.export_as says; an existing file is never replaced
  std::string figure_data() const;  // its data as tab-separated text
  void save();
  void save_as(const std::filesystem::path& file);
  void save_preset(const std::string& name);  // the edited model or cluster, as view.saving says
  bool edited() const;                        // the editor is open at something that departs from its preset
  void reset_edited();
  void open_scenario_list();
  void undo();
  void redo();
  void new_tab();  // with the scenario that is shown, what is wanted of its search, and its baseline
  void close_tab(std::size_t tab);
  void show_tab(std::size_t tab);
  void step_tabs(int by);
  void reopen_tab();
  void pin_or_unpin();
  void swap_with_baseline();
  void back_to_baseline();
  // A scenario as JSON, or a model's config.json, from the clipboard.
  void paste();
  // Everything that is open, for the autosave; and back. False with a message if nothing in it could be read.
  std::string session_text() const;
  // With `beside` the tab that is shown stays, and what was kept opens before it.
  bool restore(std::string_view text, const std::string& file, bool beside = false);
  // Files: a scenario opens in a tab of its own unless the one that is shown was not touched, a config.json becomes
  // the model of the present scenario.
  void open_file(const std::string& path);
  void open_beside(engine::Scenario scenario, const std::string& origin);
  void drop(const std::vector<std::string>& files);  // onto the window, whatever is open over it
  bool may_close();                                  // false: something would be lost, and a sheet asks
  // Another number after every change of what session_text() writes.
  std::size_t changes() const {
    return tabs.changes() * 1'000'003 + session.evaluations() +
           (pins_ + preference_changes_ + recent_changes_) * 1009;
  }
  void escape();
  void reset_layout();  // all of it: rails, splitters and the cells of both kinds
  void toggle_left_rail();
  void open_palette();
  void run_entry(const PaletteEntry& entry);  // does what was chosen in the palette
  void toggle_projector();
  void step_projector(int by);
  void toggle_search();
  void lift_search_limits();  // of the kind of workload that is shown
  bool has_search_news() const { return searching.latest() != view.search.latest; }
  void play_or_stop();  // the time cursor of the pipeline figure
  // Loads a preset or a file; drops of files come here too. A config.json of Hugging Face becomes the model of the
  // present scenario, as one step of undo.
  void open(const std::string& id_or_path);
  // All texts whose characters the fonts must have.
  std::string characters() const;

 private:
  // What a copy of a figure shows beyond the default: the tools and choices that are on, never what the pointer does.
  widgets::FigureView shown_view(std::size_t figure) const;
  LayoutRequest layout_request(const widgets::Rect& window);
  engine::Scenario draw_panels(PanelContext& ctx, const widgets::Rect& window, engine::Scenario edited);
  void run_commands(const std::vector<std::string>& requested);
  // Whether a figure or panel that is shown draws a search.
  bool shows_search() const;
  void take_search();    // what the job has, at the beginning of a frame
  void follow_search();  // asks for what is wanted now, at its end
  // Of the scenario as it is, where a panel draws the last one that could be drawn.
  widgets::FigureInput own_figure_input(const widgets::Theme& theme, widgets::StudyCache& studies,
                                        const widgets::SearchSeen& found) const;
  widgets::SearchSeen found_here() const;  // what was found for the present scenario; nulls: nothing
  void follow_kind();                      // the cells are those of the kind of workload
  void take_list_choice();
  void take_tabs(const TabStrip& strip);
  ShownTab shown_tab() { return {session, view.search.preferences, view.pinned}; }
  // The session takes an edit with what has to follow it; what that was is said in the status bar.
  void take_edit(engine::Scenario edited, const ViewState::Edit& edit, bool held);
  void take_model(std::string_view config, const std::string& file);
  bool is_open(const io::SavedTab& tab) const;
  void remember_file(const std::string& file);
  void take_sheet(Sheet sheet, const std::string& answer);
  const widgets::FontStack& fonts_;
  widgets::TextTable texts_;
  widgets::Theme theme_;
  float content_scale_ = 1;
  widgets::Rect window_{};
  std::optional<bool> was_compact_;
  bool was_covered_ = false, was_right_open_ = true;
  std::size_t pins_ = 0, preference_changes_ = 0, recent_changes_ = 0;
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
  EvidenceJob evidence_;
  std::vector<std::string> list_;  // what the entries of the open list load
};

}  // namespace roofscape::app
