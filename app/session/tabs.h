// Tabs: the scenarios that are open. Each is a Session with a history of its own, with what is wanted of a search of
// it and the baseline it is compared with. The one that is shown lives outside and changes places with the others, so
// that panels and commands know only one.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/search_preferences.h"
#include "app/session/session.h"

namespace roofscape::app {

struct Pinned;  // pinned.h

struct OpenTab {
  Session session;
  SearchPreferences preferences = {};
  std::shared_ptr<const Pinned> pinned = {};  // the baseline; null: none
};
// The tab that is shown, where the window has it.
struct ShownTab {
  Session& session;
  SearchPreferences& preferences;
  std::shared_ptr<const Pinned>& pinned;
};

class Tabs {
 public:
  std::size_t count() const { return others_.size(); }
  std::size_t active() const { return active_; }
  // The session of a tab; `shown` is the one outside.
  const Session& at(std::size_t tab, const Session& shown) const {
    return tab == active_ ? shown : others_[tab]->session;
  }
  // A tab that is not shown; null: it is.
  const OpenTab* other(std::size_t tab) const { return tab == active_ ? nullptr : &*others_[tab]; }

  void show(std::size_t tab, const ShownTab& shown);
  void step(int by, const ShownTab& shown);  // round and round
  // A new tab after the shown one, which is shown then.
  void add(OpenTab tab, const ShownTab& shown);
  // A tab before the shown one, which stays shown.
  void add_before(OpenTab tab);
  // The last one stays. What was closed can be opened again.
  void close(std::size_t tab, const ShownTab& shown);
  bool can_reopen() const { return !closed_.empty(); }
  void reopen(const ShownTab& shown);
  // Of the sessions that are not shown, the closed ones too.
  void use_presets(const std::shared_ptr<const io::PresetLibrary>& presets);
  // Grows with every change of what is open.
  std::size_t changes() const { return changes_; }

 private:
  static constexpr std::size_t kMostClosed = 10;
  std::vector<std::optional<OpenTab>> others_ = std::vector<std::optional<OpenTab>>(1);  // empty at `active_`
  std::vector<OpenTab> closed_;
  std::size_t active_ = 0, changes_ = 0;
};

}  // namespace roofscape::app
