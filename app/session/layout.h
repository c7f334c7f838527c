// Layout: where the parts of the window are, from its size, the em and what a person arranged. Visual spec, section
// 3: top bar 40, verdict 128, status 28, left rail 332, right rail 392 (a strip of 44 when folded), grid columns 46.8
// : 53.2 and rows 49.2 : 50.8. Whatever was arranged is clamped to what the window has room for.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "widgets/canvas/geometry.h"

namespace roofscape::app {

inline constexpr std::string_view kNumbersCell =
    "numbers";  // the cell that shows the numbers panel instead of a figure
inline constexpr std::size_t kCellCount = 4;

// What a person chose about the layout. Kept in the settings, never undone.
struct Arrangement {
  // Names of figures, left to right, top row first.
  std::array<std::string, kCellCount> cells{"roofline", "network", "memory", "step"};
  float column = 0.468f, row = 0.492f;  // share of the grid that the first column and row have
  float left = 332, right = 392;        // widths of the rails at scale 1
  bool left_open = true;
  std::optional<bool> right_open;  // none: open unless the window is small
  friend bool operator==(const Arrangement&, const Arrangement&) = default;
};

// How many figures are shown at once.
enum class GridKind : std::uint8_t { four, two, one };

struct Layout {
  widgets::Rect top, tabs, left, verdict, message, right, status, grid;
  std::array<widgets::Rect, kCellCount> cells;  // of a grid of four
  GridKind kind = GridKind::four;
};

struct LayoutRequest {
  widgets::Rect window;
  float em = 15;
  bool compact = false;  // a small window: a lower verdict with fewer words
  bool few = false;      // show two figures at most
  bool left_open = true, right_open = true;
  bool tabs = false;  // a strip of open scenarios
  bool message = false;
  bool baseline = false;                     // the verdict shows two bars
  const Arrangement* arrangement = nullptr;  // null: the default one
};
Layout lay_out(const LayoutRequest& request);

// Puts what a splitter was dragged to into the arrangement, `at` in pixels of the window.
enum class Splitter : std::uint8_t { left, right, column, row };
inline constexpr std::array<std::string_view, 4> kSplitterIds{"splitter.left", "splitter.right", "splitter.column",
                                                              "splitter.row"};
void move_splitter(Arrangement& arrangement, Splitter splitter, float at, const Layout& layout, float em);
void reset_splitter(Arrangement& arrangement, Splitter splitter);
// Its grab area, 8 px at scale 1 across; empty where it does not exist.
widgets::Rect splitter_area(Splitter splitter, const Layout& layout, const LayoutRequest& request);

// Whether a window of this size (in pixels at content scale 1) is a small one, and the zoom it starts with.
constexpr bool is_small(float width, float height) { return width < 1440 || height < 850; }
constexpr float kSmallZoom = 0.875f;
// Text never grows beyond what leaves the window this large, in pixels at scale 1.
constexpr float kLeastWidth = 640, kLeastHeight = 400;

// Width at scale 1 from which the left rail stands beside the figures, and from which both rails do.
constexpr float kLeastWithRail = 720, kLeastWithBoth = 960;

}  // namespace roofscape::app
