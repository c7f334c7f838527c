#include "app/session/session.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "app/session/workload_switch.h"
#include "engine/evaluate/evaluate.h"
#include "engine/io/json/files.h"
#include "engine/io/scenario/figure_file.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/scenario_title.h"

namespace roofscape::app {

Message message_of(const io::InputError& error, const engine::Words& words) {
  io::InputError without = error;
  without.remedy = {};
  return {true, io::to_text(without, words), words.write(error.remedy)};
}

namespace {

// Where a scenario that was read from this file is saved: a figure is no place for that, though one comes from it.
std::filesystem::path place_of(const std::string& file) {
  const auto text = io::read_file(file);
  return text.ok() && io::is_picture(text.value()) ? std::filesystem::path() : std::filesystem::path(file);
}

}  // namespace

Session::Session(std::shared_ptr<const io::PresetLibrary> presets, engine::Scenario start, std::string origin)
    : presets_(std::move(presets)), history_(start), loaded_(start), saved_(start), last_drawable_(start) {
  if (presets_->find_scenario_text(origin) != nullptr)
    preset_id_ = std::move(origin);
  else
    file_ = place_of(origin);
  evaluate_current();
}

bool Session::drawable() const {
  const bool serves = scenario().serves();
  return report_.quantities[serves ? engine::Q::mixed_token_time_q : engine::Q::step_time].has_value() &&
         !report_.has_errors();
}

void Session::evaluate_current() {
  const auto begin = std::chrono::steady_clock::now();
  engine::evaluate(scenario(), scratch_, report_);
  evaluation_us_ = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  ++evaluations_;
  if (drawable()) {
    last_drawable_ = scenario();
    stand_in_.reset();
  } else if (!stand_in_) {
    engine::evaluate(last_drawable_, scratch_, stand_in_.emplace());
  }
}

void Session::forget_reports() {
  scratch_ = {};
  report_ = {};
  stand_in_.reset();
}

bool Session::update(engine::Scenario edited, bool held) {
  if (!history_.update(std::move(edited), held)) return false;
  forget_news();
  evaluate_current();
  return true;
}

bool Session::undo() {
  if (!history_.undo()) return false;
  forget_news();
  evaluate_current();
  return true;
}

bool Session::redo() {
  if (!history_.redo()) return false;
  forget_news();
  evaluate_current();
  return true;
}

engine::Scenario Session::with_kind(engine::WorkloadKind kind) const {
  return with_workload_kind(scenario(), kind, history_.latest([&](const engine::Scenario& s) {
    return s.workload.kind == kind && s.model == scenario().model && s.cluster == scenario().cluster;
  }));
}

bool Session::open(const std::string& id_or_path, const engine::Words& words) {
  auto loaded = io::load_scenario(id_or_path, *presets_);
  if (!loaded.ok()) {
    say(message_of(loaded.error(), words));
    return false;
  }
  loaded_ = saved_ = loaded.value();
  const bool preset = presets_->find_scenario_text(id_or_path) != nullptr;
  preset_id_ = preset ? id_or_path : std::string();
  file_ = preset ? std::filesystem::path() : place_of(id_or_path);
  message_.reset();
  update(std::move(loaded).value(), false);
  return true;
}

bool Session::file_changed() const {
  std::error_code missing;
  if (file_.empty() || !std::filesystem::exists(file_, missing)) return false;
  const auto there = io::load_scenario(file_.string(), *presets_);
  // As texts: what a file does not hold (where a figure came from) makes no difference.
  return !there.ok() || io::write_scenario(there.value(), *presets_) != io::write_scenario(saved_, *presets_);
}

bool Session::save(const std::filesystem::path& file, const engine::Words& words) {
  engine::Scenario kept = scenario();
  // A file of one's own is what it now says, and its name stands for that; a preset's name stands for the preset.
  const auto& presets = presets_->list(io::PresetKind::scenario);
  const bool own_name = std::none_of(presets.begin(), presets.end(),
                                     [&](const io::Preset& preset) { return preset.name == kept.name; });
  if (file == file_ && own_name) engine::set_name(kept, kept.name);
  if (const auto failure = io::write_file_atomically(file, io::write_scenario(kept, *presets_))) {
    say({true, io::to_text(*failure, words), {}});
    return false;
  }
  history_.restamp(kept.stamp);
  file_ = file;
  preset_id_.clear();
  saved_ = scenario();
  return true;
}

void Session::remember_model(engine::TransformerShape model) {
  std::erase_if(imported_,
                [&](const engine::TransformerShape& m) { return m.id == model.id && m.name == model.name; });
  imported_.push_back(std::move(model));
}

// What was said of the step before is no longer news, and may no longer be true. What could not be done stays until it
// is dismissed.
void Session::forget_news() {
  if (message_ && !message_->is_error) message_.reset();
}

void Session::say(Message message) { message_ = std::move(message); }

}  // namespace roofscape::app
