#include "widgets/ui/probe.h"

namespace roofscape::widgets {

void Probe::report(std::string_view name, const Rect& rect, const Rect& clip) {
  if (count_ == reported_.size()) reported_.emplace_back();
  Reported& control = reported_[count_++];
  control.name = name;
  control.place = {rect, intersection(rect, clip)};
}

const Probe::Place* Probe::find(std::string_view name) const {
  for (std::size_t i = count_; i-- > 0;)
    if (reported_[i].name == name) return &reported_[i].place;
  return nullptr;
}

std::map<std::string, Probe::Place, std::less<>> Probe::all() const {
  std::map<std::string, Place, std::less<>> out;
  for (std::size_t i = 0; i < count_; ++i) out.insert_or_assign(reported_[i].name, reported_[i].place);
  return out;
}

}  // namespace roofscape::widgets
