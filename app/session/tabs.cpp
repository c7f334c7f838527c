#include "app/session/tabs.h"

#include <utility>

namespace roofscape::app {

void Tabs::show(std::size_t tab, const ShownTab& shown) {
  if (tab >= others_.size() || tab == active_) return;
  others_[active_] = OpenTab{std::move(shown.session), std::move(shown.preferences), std::move(shown.pinned)};
  OpenTab& next = *others_[tab];
  shown.session = std::move(next.session);
  shown.preferences = std::move(next.preferences);
  shown.pinned = std::move(next.pinned);
  others_[tab].reset();
  active_ = tab;
  ++changes_;
}

void Tabs::step(int by, const ShownTab& shown) {
  const auto n = static_cast<std::ptrdiff_t>(others_.size());
  show(static_cast<std::size_t>(((static_cast<std::ptrdiff_t>(active_) + by) % n + n) % n), shown);
}

void Tabs::add(OpenTab tab, const ShownTab& shown) {
  const std::size_t place = active_ + 1;
  others_.insert(others_.begin() + static_cast<std::ptrdiff_t>(place), std::move(tab));
  ++changes_;
  show(place, shown);
}

void Tabs::add_before(OpenTab tab) {
  others_.insert(others_.begin() + static_cast<std::ptrdiff_t>(active_), std::move(tab));
  ++active_;
  ++changes_;
}

void Tabs::close(std::size_t tab, const ShownTab& shown) {
  if (tab >= others_.size() || others_.size() == 1) return;
  if (tab == active_) show(tab + 1 < others_.size() ? tab + 1 : tab - 1, shown);
  closed_.push_back(std::move(*others_[tab]));
  closed_.back().session.forget_reports();
  if (closed_.size() > kMostClosed) closed_.erase(closed_.begin());
  others_.erase(others_.begin() + static_cast<std::ptrdiff_t>(tab));
  if (active_ > tab) --active_;
  ++changes_;
}

void Tabs::reopen(const ShownTab& shown) {
  if (closed_.empty()) return;
  OpenTab tab = std::move(closed_.back());
  closed_.pop_back();
  tab.session.evaluate_again();
  add(std::move(tab), shown);
}

void Tabs::use_presets(const std::shared_ptr<const io::PresetLibrary>& presets) {
  for (std::optional<OpenTab>& tab : others_)
    if (tab) tab->session.use_presets(presets);
  for (OpenTab& tab : closed_) tab.session.use_presets(presets);
}

}  // namespace roofscape::app
