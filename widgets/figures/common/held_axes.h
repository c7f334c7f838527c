// HeldAxes: the ranges of the axes of figures while something is dragged, so that what moves is the data. A range that is
// held still grows where the data would leave it, and never shrinks; figures ask for theirs before they lay out.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace roofscape::widgets {

class HeldAxes {
 public:
  struct Range {
    double from = 0, to = 1;
  };
  // From the next frame on. What was not held is forgotten.
  void hold(bool on) { held_ = on; }
  bool held() const { return held_; }
  // How much further than its data an axis that begins at zero goes, so that the longest bar does not end where it does.
  void leave_room(double times) { room_ = times; }
  // The range that `axis` ("step.x") has in this frame, for data that want this one.
  Range keep(std::string_view axis, Range wanted) {
    if (wanted.from == 0) wanted.to *= room_;
    const auto found = ranges_.find(axis);
    if (found == ranges_.end()) return ranges_.emplace(std::string(axis), wanted).first->second;
    Range& range = found->second;
    range = held_ ? Range{std::min(range.from, wanted.from), std::max(range.to, wanted.to)} : wanted;
    return range;
  }

  // As it was last kept; 0 to 1 where it never was.
  Range range(std::string_view axis) const {
    const auto found = ranges_.find(axis);
    return found == ranges_.end() ? Range{} : found->second;
  }

 private:
  bool held_ = false;
  double room_ = 1;
  std::map<std::string, Range, std::less<>> ranges_;
};

// The same where there may be none to hold.
inline HeldAxes::Range kept_range(HeldAxes* axes, std::string_view axis, HeldAxes::Range wanted) {
  return axes == nullptr ? wanted : axes->keep(axis, wanted);
}

}  // namespace roofscape::widgets
