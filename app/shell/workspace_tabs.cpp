// Open scenarios, the baseline and the clipboard: the part of Workspace that is about more than one scenario.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/shell/workspace.h"
#include "engine/io/export/export_flags.h"
#include "engine/io/export/runs_on.h"
#include "engine/io/huggingface/hf_config.h"
#include "engine/io/json/files.h"
#include "engine/io/measured/measured_input.h"
#include "engine/io/scenario/layer_layout.h"
#include "engine/io/scenario/order_json.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/io/scenario/session_json.h"
#include "engine/pipeline/given_order.h"
#include "engine/studies/nearest_plan.h"
#include "widgets/canvas/number_format.h"

namespace roofscape::app {

namespace {
constexpr const char* kClipboard = "clipboard";
constexpr std::size_t kMostRecentFiles = 20, kBeginningOfFile = std::size_t{64} << 10;
}  // namespace

// What is drawn from one scenario says nothing about another.
void Workspace::show_tab(std::size_t tab) {
  leave_tour();
  stop_measured();
  tabs_.show(tab, shown_tab());
  panels_.figures.pipeline.leave_playback();
}

void Workspace::step_tabs(int by) {
  const auto n = static_cast<int>(tabs_.count());
  show_tab(static_cast<std::size_t>(((static_cast<int>(tabs_.active()) + by) % n + n) % n));
}

void Workspace::new_tab() {
  leave_tour();
  stop_measured();
  // The plan is copied, what it was saved as is not: saving the copy must not overwrite the file of another tab.
  Session copy(session_.presets(), session_.scenario(), {});
  copy.set_measured(session_.measured());
  tabs_.add({std::move(copy), panels_.search.preferences, baseline_}, shown_tab());
}

void Workspace::close_tab(std::size_t tab) {
  leave_tour();
  stop_measured();
  tabs_.close(tab, shown_tab());
}

void Workspace::reopen_tab() {
  leave_tour();
  stop_measured();
  tabs_.reopen(shown_tab());
}

void Workspace::take_tabs(const TabStrip& strip) {
  if (strip.close)
    close_tab(*strip.close);
  else if (strip.show)
    show_tab(*strip.show);
  else if (strip.add)
    new_tab();
}

void Workspace::switch_mode() {
  engine::Scenario edited = session_.scenario();
  engine::Mode& mode = edited.assumptions.mode;
  mode = mode == engine::Mode::calibrated ? engine::Mode::ideal : engine::Mode::calibrated;
  session_.update(edited, false);
}

void Workspace::pin_or_unpin() {
  ++pins_;
  if (baseline_)
    baseline_.reset();
  else
    baseline_ = std::make_shared<const Pinned>(session_.scenario());
}

void Workspace::swap_with_baseline() {
  if (!baseline_) return;
  ++pins_;
  const auto before = std::exchange(baseline_, std::make_shared<const Pinned>(session_.scenario()));
  session_.update(before->scenario, false);
}

void Workspace::back_to_baseline() {
  if (baseline_) session_.update(baseline_->scenario, false);
}

void Workspace::paste() {
  leave_tour();
  const std::string text = interaction_.read_clipboard != nullptr ? interaction_.read_clipboard() : std::string();
  if (io::is_hf_config(text)) return take_model(text, kClipboard);
  if (io::is_layer_layout(text)) return take_layers(text);
  if (io::is_measured_run(text)) return read_measured({text}, kClipboard);
  if (take_launch(text, kClipboard)) return;
  auto read = io::read_scenario(text, kClipboard, session_.library());
  if (!read.ok()) {
    session_.say(message_of(read.error(), texts_));
    return;
  }
  session_.update(std::move(read).value(), false);
  session_.say({false, std::string(texts_.text("ui.pasted")), {}});
}

std::string Workspace::session_text() const {
  io::SavedSession saved;
  for (std::size_t i = 0; i < tabs_.count(); ++i) {
    const Session& one = tabs_.at(i, own_session());
    const OpenTab* other = tabs_.other(i);
    const auto& pinned = other != nullptr ? other->pinned : kept_ ? kept_->baseline : baseline_;
    io::SavedTab& tab = saved.tabs.emplace_back();
    tab.scenario = one.scenario();
    tab.origin = one.origin();
    if (pinned) tab.baseline = pinned->scenario;
    if (one.launch() != nullptr) tab.launch = one.launch()->saved();
    if (one.measured()) tab.measured = one.measured()->from;
    tab.search = to_words(other != nullptr ? other->preferences
                          : kept_          ? kept_->preferences
                                           : panels_.search.preferences);
  }
  saved.active = tabs_.active();
  saved.unread = unread_;
  saved.recent_files = panels_.sheets.files.recent;
  return io::write_session(saved, session_.library());
}

bool Workspace::restore(std::string_view text, const std::string& file, bool beside) {
  auto read = io::read_session(text, file, session_.library());
  if (!read.ok()) {
    session_.say({true, io::to_text(read.error(), texts_), {}});
    return false;
  }
  const auto scenario_of = [&](io::SavedTab& tab) {
    // What it was loaded from is one step of undo away.
    if (!tab.origin.empty())
      if (auto origin = io::load_scenario(tab.origin, session_.library()); origin.ok()) {
        Session opened(session_.presets(), std::move(origin).value(), tab.origin);
        opened.update(std::move(tab.scenario), false);
        return opened;
      }
    return Session(session_.presets(), std::move(tab.scenario), {});
  };
  const auto session_of = [&](io::SavedTab& tab) {
    Session opened = scenario_of(tab);
    if (tab.launch)
      if (auto launch = LaunchImport::kept(std::move(*tab.launch), session_.library()))
        opened.set_launch(std::make_shared<const LaunchImport>(std::move(*launch)));
    if (tab.measured) opened.set_measured(MeasuredBeside{std::move(*tab.measured)});
    return opened;
  };
  const auto tab_of = [&](io::SavedTab& tab) {
    OpenTab opened{session_of(tab), preferences_from(tab.search), {}};
    if (tab.baseline) opened.pinned = std::make_shared<const Pinned>(std::move(*tab.baseline));
    return opened;
  };
  io::SavedSession& saved = read.value();
  if (beside) {
    // Before the tab that is shown, in their order; what is open already is not opened twice.
    for (io::SavedTab& tab : saved.tabs)
      if (!is_open(tab)) tabs_.add_before(tab_of(tab));
  } else {
    OpenTab first = tab_of(saved.tabs.front());
    session_ = std::move(first.session);
    panels_.search.preferences = std::move(first.preferences);
    baseline_ = std::move(first.pinned);
    for (std::size_t i = 1; i < saved.tabs.size(); ++i) tabs_.add(tab_of(saved.tabs[i]), shown_tab());
    show_tab(saved.active);
  }
  for (const std::string& recent : saved.recent_files)
    if (std::find(panels_.sheets.files.recent.begin(), panels_.sheets.files.recent.end(), recent) ==
        panels_.sheets.files.recent.end())
      panels_.sheets.files.recent.push_back(recent);
  if (!saved.unread.empty()) {
    const io::UnreadTab& unread = saved.unread.front();
    session_.say(
        {true,
         texts_.count("ui.session.unread_tabs", static_cast<double>(saved.unread.size()),
                      {unread.name.empty() ? std::string(texts_.text("ui.scenario.unnamed")) : unread.name, file}),
         io::to_text(unread.reason, texts_)});
    unread_.insert(unread_.end(), std::make_move_iterator(saved.unread.begin()),
                   std::make_move_iterator(saved.unread.end()));
  }
  return true;
}

bool Workspace::is_open(const io::SavedTab& tab) const {
  for (std::size_t i = 0; i < tabs_.count(); ++i)
    if (const Session& open = tabs_.at(i, session_); open.origin() == tab.origin && open.scenario() == tab.scenario)
      return true;
  return false;
}

void Workspace::open_beside(engine::Scenario scenario, const std::string& origin) {
  leave_tour();
  if (session_.untouched()) {
    // A run that was dropped before its plan is laid over that.
    std::optional<MeasuredBeside> measured = session_.measured();
    session_ = Session(session_.presets(), std::move(scenario), origin);
    session_.set_measured(std::move(measured));
  } else {
    stop_measured();
    tabs_.add({Session(session_.presets(), std::move(scenario), origin), {}, {}}, shown_tab());
  }
  panels_.figures.pipeline.leave_playback();
}

void Workspace::open_file(const std::string& path) {
  leave_tour();
  std::error_code ignored;
  const std::filesystem::path whole = std::filesystem::absolute(path, ignored).lexically_normal();
  const std::string file = ignored ? path : whole.string();
  panels_.sheets.shown = Sheet::none;
  // A trace may be larger than anything of ours.
  if (const auto beginning = io::first_bytes(file, kBeginningOfFile);
      beginning.ok() && io::is_measured_run(beginning.value()))
    return read_measured({file}, whole.filename().string());
  const auto text = io::read_file(file);
  if (text.ok() && io::is_hf_config(text.value())) {
    take_model(text.value(), file);
    return remember_file(file);
  }
  if (text.ok() && io::is_order_csv(text.value())) {
    take_order(text.value(), file);
    return remember_file(file);
  }
  if (text.ok() && take_launch(text.value(), file)) return remember_file(file);
  for (std::size_t i = 0; i < tabs_.count(); ++i)
    if (const Session& open = tabs_.at(i, session_); open.file() == file && !open.file_changed()) {
      show_tab(i);
      return remember_file(file);
    }
  auto read = text.ok() ? io::load_scenario(file, session_.library()) : io::Result<engine::Scenario>(text.error());
  if (!read.ok()) {
    session_.say(message_of(read.error(), texts_));
    return;
  }
  open_beside(std::move(read).value(), file);
  remember_file(file);
  session_.say({false, texts_.format("ui.opened.file", {file}), {}});
}

void Workspace::take_order(std::string_view csv, const std::string& file) {
  engine::Scenario edited = session_.scenario();
  if (const auto failure = io::take_order_csv(csv, file, edited)) return session_.say(message_of(*failure, texts_));
  const engine::GivenOrder order = edited.pipeline.order;
  session_.update(std::move(edited), false);
  session_.say(
      {false,
       texts_.format("ui.opened.order", {widgets::format_count(order->stages),
                                         texts_.count("ui.pipeline.microbatches", order->microbatches), file}),
       {}});
}

void Workspace::copy_layers(std::string (*text)(const std::vector<int>& layers)) {
  if (actions_.copy_text) actions_.copy_text(text(session_.report().pipeline.layers));
  session_.say({false, std::string(texts_.text("ui.copied.layers")), {}});
}

void Workspace::copy_flags(engine::Framework framework) {
  const auto text = io::export_flags(session_.scenario(), framework, session_.library(), texts_);
  if (!text) return session_.say(message_of(text.error(), texts_));
  if (actions_.copy_text) actions_.copy_text(text.value());
  session_.say({false, texts_.format("ui.copied.flags", {std::string(framework_name(framework))}), {}});
}

void Workspace::adopt_nearest_on(engine::Framework framework) {
  const engine::Scenario before = session_.scenario();
  const engine::NearestPlan near = engine::nearest_plan_on(framework, before);
  if (!near.runs) {
    session_.say({true, texts_.write(engine::say("error.export.none", framework_name(framework))), {}});
    return;
  }
  session_.update(near.scenario, false);
  session_.say({false,
                texts_.format("ui.adopted.nearest",
                              {std::string(framework_name(framework)), io::set_options(before, near.scenario)}),
                {}});
}

void Workspace::take_layers(std::string_view layout) {
  engine::Scenario edited = session_.scenario();
  if (const auto failure = io::take_layer_layout(layout, edited)) return session_.say(message_of(*failure, texts_));
  const double stages = static_cast<double>(edited.pipeline.layers_per_stage.size());
  session_.update(std::move(edited), false);
  session_.say({false, texts_.count("ui.pasted.layers", stages), {}});
}

void Workspace::make_order(engine::OrderRecipe recipe) {
  const engine::MadeOrder made = engine::make_order(session_.scenario(), recipe);
  if (made.reason) {
    const std::string why = "ui.order.none." + std::string(engine::kNoOrderIds[*made.reason]);
    return session_.say({true, std::string(texts_.text("ui.order.none")), std::string(texts_.text(why))});
  }
  engine::Scenario edited = session_.scenario();
  engine::take_order(edited, made.order);
  session_.update(std::move(edited), false);
  session_.say(
      {false,
       texts_.format("ui.order.made", {texts_.count("ui.pipeline.microbatches", std::floor(made.most_microbatches))}),
       {}});
}

void Workspace::remember_file(const std::string& file) {
  std::vector<std::string>& recent = panels_.sheets.files.recent;
  std::erase(recent, file);
  recent.insert(recent.begin(), file);
  if (recent.size() > kMostRecentFiles) recent.resize(kMostRecentFiles);
  ++recent_changes_;
}

void Workspace::drop(const std::vector<std::string>& files) {
  interaction_.stop_entry();
  interaction_.close_popup();
  panels_.sheets.shown = Sheet::none;
  // Several measured files at once are of one run: ranks, or a trace with its log.
  std::vector<std::string> measured;
  for (const std::string& file : files) {
    const auto beginning = io::first_bytes(file, kBeginningOfFile);
    if (beginning.ok() && io::is_measured_run(beginning.value()))
      measured.push_back(file);
    else
      open_file(file);
  }
  if (measured.empty()) return;
  const std::string name = std::filesystem::path(measured.front()).filename().string();
  const std::size_t others = measured.size() - 1;
  read_measured(std::move(measured),
                others == 0 ? name : texts_.count("ui.measured.and_others", static_cast<double>(others), {name}));
}

bool Workspace::may_close() {
  if (save_problem_.empty() || leaves_) return true;
  interaction_.stop_entry();
  panels_.sheets.shown = Sheet::leave;
  return false;
}

}  // namespace roofscape::app
