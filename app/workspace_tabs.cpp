// Open scenarios, the baseline and the clipboard: the part of Workspace that is about more than one scenario.
#include <utility>

#include "app/workspace.h"
#include "engine/io/files.h"
#include "engine/io/hf_config.h"
#include "engine/io/scenario_json.h"
#include "engine/io/session_json.h"

namespace roofscape::app {

namespace {
constexpr const char* kClipboard = "clipboard";
}

// What is drawn from one scenario says nothing about another.
void Workspace::show_tab(std::size_t tab) {
  tabs.show(tab, session);
  view.pipeline.cursor.reset();
  view.pipeline.playing = false;
  view.reasons.clear();
}

void Workspace::step_tabs(int by) {
  const auto n = static_cast<int>(tabs.count());
  show_tab(static_cast<std::size_t>(((static_cast<int>(tabs.active()) + by) % n + n) % n));
}

void Workspace::new_tab() {
  Session copy(session.library(), session.scenario(), session.origin());
  tabs.add(std::move(copy), session);
}

void Workspace::close_tab(std::size_t tab) {
  tabs.close(tab, session);
  view.reasons.clear();
}

void Workspace::reopen_tab() { tabs.reopen(session); }

void Workspace::take_tabs(const TabStrip& strip) {
  if (strip.close) close_tab(*strip.close);
  else if (strip.show) show_tab(*strip.show);
  else if (strip.add) new_tab();
}

void Workspace::pin_or_unpin() {
  ++pins_;
  if (view.pinned) view.pinned.reset();
  else view.pinned = std::make_shared<const Pinned>(session.scenario());
}

void Workspace::swap_with_baseline() {
  if (!view.pinned) return;
  ++pins_;
  const auto before = std::exchange(view.pinned, std::make_shared<const Pinned>(session.scenario()));
  session.update(before->scenario, false);
}

void Workspace::back_to_baseline() {
  if (view.pinned) session.update(view.pinned->scenario, false);
}

void Workspace::paste() {
  const std::string text = interaction.read_clipboard != nullptr ? interaction.read_clipboard() : std::string();
  if (io::is_hf_config(text)) return take_model(text, kClipboard);
  auto read = io::read_scenario(text, kClipboard, session.library());
  if (!read.ok()) {
    const io::InputError& e = read.error();
    session.say({true, io::to_text({e.file, e.path, e.message, {}}), e.remedy});
    return;
  }
  session.update(std::move(read).value(), false);
  session.say({false, std::string(texts_.text("ui.pasted")), {}});
}

std::string Workspace::session_text() const {
  io::SavedSession saved;
  for (std::size_t i = 0; i < tabs.count(); ++i) {
    const Session& one = tabs.at(i, session);
    saved.tabs.push_back({one.scenario(), one.origin()});
  }
  saved.active = tabs.active();
  if (view.pinned) saved.baseline = view.pinned->scenario;
  saved.search = to_words(view.search.wishes);
  return io::write_session(saved, session.library());
}

bool Workspace::restore(std::string_view text, const std::string& file) {
  auto read = io::read_session(text, file, session.library());
  if (!read.ok()) {
    session.say({true, io::to_text(read.error()), {}});
    return false;
  }
  const auto session_of = [&](io::SavedTab& tab) {
    // What it was loaded from is one step of undo away.
    if (!tab.origin.empty())
      if (auto origin = io::load_scenario(tab.origin, session.library()); origin.ok()) {
        Session opened(session.library(), std::move(origin).value(), tab.origin);
        opened.update(std::move(tab.scenario), false);
        return opened;
      }
    return Session(session.library(), std::move(tab.scenario), {});
  };
  io::SavedSession& saved = read.value();
  session = session_of(saved.tabs.front());
  for (std::size_t i = 1; i < saved.tabs.size(); ++i) tabs.add(session_of(saved.tabs[i]), session);
  show_tab(saved.active);
  if (saved.baseline) view.pinned = std::make_shared<const Pinned>(std::move(*saved.baseline));
  view.search.wishes = wishes_from(saved.search);
  return true;
}

}  // namespace roofscape::app
