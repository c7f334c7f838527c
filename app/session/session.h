// Session: what is being worked on. The current Scenario and its Report, undo, where it was loaded from and whether
// it was saved since, and the messages to show. No drawing, no window; panels read it and return an edited Scenario.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/session/history.h"
#include "app/session/launch_import.h"
#include "engine/evaluate/evaluate.h"
#include "engine/io/json/result.h"
#include "engine/io/presets/preset_library.h"
#include "engine/io/scenario/session_json.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"
#include "engine/studies/measured_run.h"

namespace roofscape::app {

// A line in the message strip: something that could not be done, or where a file went. Never a modal box.
struct Message {
  bool is_error = false;
  std::string text;
  std::string detail;     // remedy, or more than a line of the status bar holds
  bool in_strip = false;  // in the strip though it is no error
  bool strip() const { return is_error || in_strip; }
};

// What an error says, its remedy as the detail.
Message message_of(const io::InputError& error, const engine::Words& words);

// A real run laid over the plan of a session, and what it is read from.
struct MeasuredBeside {
  io::SavedMeasured from;
  std::shared_ptr<const engine::MeasuredRun> run = {};  // null: not read yet, or not readable
  bool unreadable = false;
};

class Session {
 public:
  // The presets are never changed; who works beside the window keeps them by a pointer of its own.
  Session(std::shared_ptr<const io::PresetLibrary> presets, engine::Scenario start, std::string origin);

  const engine::Scenario& scenario() const { return history_.current(); }
  const engine::Report& report() const { return report_; }
  const io::PresetLibrary& library() const { return *presets_; }
  const std::shared_ptr<const io::PresetLibrary>& presets() const { return presets_; }
  // Others take their place, after a file was added to their folder.
  void use_presets(std::shared_ptr<const io::PresetLibrary> presets) { presets_ = std::move(presets); }
  // The scenario as it was loaded: what "reset" goes back to.
  const engine::Scenario& loaded() const { return loaded_; }
  // The last scenario whose step could be computed, with its report: figures show it, faded, while the present one
  // has none.
  const engine::Scenario& last_drawable() const { return last_drawable_; }
  const engine::Report& last_drawable_report() const { return stand_in_ ? *stand_in_ : report_; }
  // Models read from files since the session began, as they were read.
  const std::vector<engine::TransformerShape>& imported_models() const { return imported_; }
  void remember_model(engine::TransformerShape model);
  bool drawable() const;  // there is a step or a time per token, and no error stands against the plan

  // Takes the scenario the panels returned. True if it changed; the report is computed again only then.
  bool update(engine::Scenario edited, bool held);
  bool undo();
  bool redo();
  const History& history() const { return history_; }
  // The scenario with the other kind of workload, its mesh and formats as they last were with it.
  engine::Scenario with_kind(engine::WorkloadKind kind) const;

  // A preset's id or a file. On an error the current scenario stays and the message strip says why.
  bool open(const std::string& id_or_path, const engine::Words& words);
  bool save(const std::filesystem::path& file, const engine::Words& words);
  // Whether the file this scenario was read from or saved to was changed by something else since.
  bool file_changed() const;
  const std::filesystem::path& file() const { return file_; }  // empty: a preset, never saved
  // The launch file that the plan was read from; null: from none.
  const std::shared_ptr<const LaunchImport>& launch() const { return launch_; }
  void set_launch(std::shared_ptr<const LaunchImport> launch) { launch_ = std::move(launch); }
  // The measured run laid over the plan; it stays over another plan that is opened in its place.
  const std::optional<MeasuredBeside>& measured() const { return measured_; }
  const engine::MeasuredRun* measured_run() const {
    return measured_ ? measured_->run.get() : nullptr;
  }  // null: none
  void set_measured(std::optional<MeasuredBeside> measured) { measured_ = std::move(measured); }
  // Neither a preset nor a file: there is nothing that saving could overwrite, so it asks where to.
  bool untitled() const { return preset_id_.empty() && file_.empty(); }
  const std::string& preset_id() const { return preset_id_; }
  // The preset's id or the file's path; empty if it was never saved.
  std::string origin() const { return preset_id_.empty() ? file_.string() : preset_id_; }
  bool saved() const { return !untitled() && scenario() == saved_; }
  // As it was loaded, with nothing to go back to: another scenario may take its place.
  bool untouched() const { return saved() && !history_.can_undo() && !history_.can_redo(); }

  void say(Message message);
  const std::optional<Message>& message() const { return message_; }
  void dismiss_message() { message_.reset(); }

  // Of a session that is kept out of sight: its reports, which may be large, are made again when it comes back.
  void forget_reports();
  void evaluate_again() { evaluate_current(); }

  double evaluation_us() const { return evaluation_us_; }
  std::size_t evaluations() const { return evaluations_; }

 private:
  void evaluate_current();
  void forget_news();
  std::shared_ptr<const io::PresetLibrary> presets_;
  History history_;
  engine::Scenario loaded_, saved_, last_drawable_;
  engine::EvaluationScratch scratch_;
  engine::Report report_;
  std::optional<engine::Report> stand_in_;  // of last_drawable_, while the present scenario has nothing to draw
  std::vector<engine::TransformerShape> imported_;
  std::shared_ptr<const LaunchImport> launch_;
  std::optional<MeasuredBeside> measured_;
  std::filesystem::path file_;
  std::string preset_id_;
  std::optional<Message> message_;
  double evaluation_us_ = 0;
  std::size_t evaluations_ = 0;
};

}  // namespace roofscape::app
