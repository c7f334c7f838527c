// Tabs: the scenarios that are open. Each is a Session with a history of its own; the one that is shown lives outside
// and changes places with the others, so that panels and commands know only one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/session.h"

namespace roofscape::app {

class Tabs {
 public:
  std::size_t count() const { return others_.size(); }
  std::size_t active() const { return active_; }
  // The session of a tab; `shown` is the one outside.
  const Session& at(std::size_t tab, const Session& shown) const { return tab == active_ ? shown : *others_[tab]; }

  void show(std::size_t tab, Session& shown);
  void step(int by, Session& shown);  // round and round
  // A new tab after the shown one, which is shown then.
  void add(Session session, Session& shown);
  // The last one stays. What was closed can be opened again.
  void close(std::size_t tab, Session& shown);
  bool can_reopen() const { return !closed_.empty(); }
  void reopen(Session& shown);
  // Grows with every change of what is open.
  std::size_t changes() const { return changes_; }

 private:
  static constexpr std::size_t kMostClosed = 10;
  std::vector<std::optional<Session>> others_ = std::vector<std::optional<Session>>(1);  // empty at `active_`
  std::vector<Session> closed_;
  std::size_t active_ = 0, changes_ = 0;
};

}  // namespace roofscape::app
