#include "app/tabs.h"

#include <utility>

namespace roofscape::app {

void Tabs::show(std::size_t tab, Session& shown) {
  if (tab >= others_.size() || tab == active_) return;
  others_[active_] = std::move(shown);
  shown = std::move(*others_[tab]);
  others_[tab].reset();
  active_ = tab;
  ++changes_;
}

void Tabs::step(int by, Session& shown) {
  const auto n = static_cast<std::ptrdiff_t>(others_.size());
  show(static_cast<std::size_t>(((static_cast<std::ptrdiff_t>(active_) + by) % n + n) % n), shown);
}

void Tabs::add(Session session, Session& shown) {
  const std::size_t place = active_ + 1;
  others_.insert(others_.begin() + static_cast<std::ptrdiff_t>(place), std::move(session));
  ++changes_;
  show(place, shown);
}

void Tabs::close(std::size_t tab, Session& shown) {
  if (tab >= others_.size() || others_.size() == 1) return;
  if (tab == active_) show(tab + 1 < others_.size() ? tab + 1 : tab - 1, shown);
  closed_.push_back(std::move(*others_[tab]));
  if (closed_.size() > kMostClosed) closed_.erase(closed_.begin());
  others_.erase(others_.begin() + static_cast<std::ptrdiff_t>(tab));
  if (active_ > tab) --active_;
  ++changes_;
}

void Tabs::reopen(Session& shown) {
  if (closed_.empty()) return;
  Session session = std::move(closed_.back());
  closed_.pop_back();
  add(std::move(session), shown);
}

}  // namespace roofscape::app
