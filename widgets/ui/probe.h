// Probe: where every control stood in the last frame, by field path or name, so that a test can press, drag or type
// at "parallelism.tensor" without knowing the layout. Parts of a control have a suffix: ".track", ".box".
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "widgets/canvas/geometry.h"

namespace roofscape::widgets {

class Probe {
 public:
  struct Place {
    Rect rect;     // whole
    Rect visible;  // cut to the scrolled region it is in; may be empty
  };
  void clear() { count_ = 0; }
  void report(std::string_view name, const Rect& rect, const Rect& clip);
  // Where a control was drawn last; null if it was not.
  const Place* find(std::string_view name) const;
  std::map<std::string, Place, std::less<>> all() const;

 private:
  // In the order of the frame, which writes hundreds and seldom asks for one: names keep their memory from one to the
  // next.
  struct Reported {
    std::string name;
    Place place;
  };
  std::vector<Reported> reported_;
  std::size_t count_ = 0;
};

}  // namespace roofscape::widgets
