// Two mesh axes as a heat map: a cell for each pair of degrees, coloured by a number; cells without one are hatched
// or blank. What the numbers are is the figure's.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "widgets/figures/common/figure.h"
#include "widgets/plot/scale.h"

namespace roofscape::widgets {

struct HeatCell {
  enum class Look : std::uint8_t {
    coloured,
    hatched,  // it cannot be
    blank,    // there is no such mesh
  };
  Look look = Look::blank;
  double shade = 0;  // 0 to 1, the better the higher
  std::string text;
  bool own = false;    // the plan itself
  bool best = false;   // of all
  std::string note;    // under the text, where there is room for two lines
  std::string brief;   // where the text has no room
  std::string reason;  // of a hatched cell without a text, in words; they stand there if they fit as a whole
  // A plan that passes the memory by so much, hatched.
  void set_over(double bytes);
};

// The numbers of the cells that are coloured, and the shade of one among them.
struct HeatRange {
  double low = 0, high = 0;
  bool any = false;
  void add(double value);
  // Moves the worse end out to a tenth of the best at least, so that numbers that are nearly equal look so.
  void widen(bool high_is_better);
  // 0 to 1, the better the higher. Where there is no range: fairly good.
  double shade(double value, ScaleKind scale, bool high_is_better) const;
};

struct HeatGrid {
  std::vector<int> x_degrees, y_degrees;  // rising
  std::vector<HeatCell> cells;            // row by row of y
  std::string x_title, y_title;
  std::string tag;
  std::function<Readout(std::size_t cell)> readout;
  std::string low, high;  // numbers at the ends of the colour key
  std::string key;        // what numbers and looks mean, beside the colours
  std::string brief_key;  // the same where there is little room
  std::string none;       // in the place of the key where nothing is coloured
};

// Beside the colours: what the numbers are and what the other looks mean, of which only those named that are there.
// `hatched`: the key of the sentence about hatched cells, empty without any; `over`: some lack memory and say how
// much; `own`, `best`: a cell has the frame of this plan, the dashed one of the best.
std::string heat_key(const TextTable& texts, const std::string& quantity, std::string_view hatched, bool over,
                     bool blank, bool own, bool best);

void draw_heat_grid(Canvas& canvas, const Rect& area, const FigureInput& input, const HeatGrid& grid);

}  // namespace roofscape::widgets
