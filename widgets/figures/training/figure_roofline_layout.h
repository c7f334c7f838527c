// Where the parts of the roofline figure are: axes from the data, dots, and the places of labels so that none covers
// another, a dot or a roof. Drawing is in figure_roofline.cpp.
#pragma once

#include <string>
#include <vector>

#include "widgets/canvas/palette.h"
#include "widgets/figures/common/figure.h"
#include "widgets/plot/plot.h"
#include "widgets/plot/scale.h"

namespace roofscape::widgets::roofline {

struct Dot {
  const engine::OperationRow* row = nullptr;
  Roof look = Roof::matmul;
  std::string name;
  Point at;
  float size = 0;  // diameter
};

// A bandwidth: HBM always, the faster memory above it where it is known.
struct Slope {
  double bytes_per_s = 0;
  std::string label;
  Point low, high;  // ends of the drawn line
};

struct TextPlace {
  std::string text;
  Point anchor;
  TextStyle style;
  Rect bounds;
};

// The peak of another number type than the plan computes in: a roof that would be reached with it.
struct OtherPeak {
  double flop_per_s = 0;
  Point low, high;  // from where bandwidth allows it to the end of the axis
  TextPlace label;
};

// A measured operation; its label has an empty text where there is no room. Where so many are measured that their marks
// would hide each other, the longest of a small place stands for all that are there.
struct MeasuredDot {
  const engine::MeasuredOperation* row = nullptr;
  std::size_t count = 1;  // operations it stands for, and their time
  double seconds = 0;
  double intensity = 0, flop_per_s = 0;
  Point at;
  float size = 0;
  TextPlace label;
};

// What the mark of an operation covers, computed (Dot) or measured.
template <class Operation>
Rect mark_rect(const Operation& d) {
  return {d.at.x - d.size / 2, d.at.y - d.size / 2, d.size, d.size};
}

// What a kind of mark stands for.
struct KeyMark {
  Roof look = Roof::matmul;
  Point at;
  float size = 0;
  TextPlace label;
};

struct Layout {
  bool drawn = false;  // false: peak or bandwidth is not known
  double peak = 0, bandwidth = 0, ridge = 0;
  double achieved = 0;  // of the matrix multiplications, where clearly under the peak; else 0
  Rect plot;
  Frame frame;
  Scale x, y;
  Slope hbm;
  std::vector<Slope> faster;  // none or one
  std::vector<Dot> dots;      // largest first
  std::vector<Flag> flags;
  bool flag_heading = false;
  float flag_top = 0;
  TextPlace peak_label, ridge_label;
  std::vector<TextPlace> slope_labels;  // in the order hbm, faster; empty text where there is no room
  std::vector<TextPlace> side_labels;
  std::vector<OtherPeak> other_peaks;
  std::vector<MeasuredDot> measured;
  std::vector<KeyMark> key;
};

// Marks left of this part of the ridge stand on the slope.
inline constexpr double kRidgeShare = 0.9;
// Of draw_flags, by which the room of flags is measured: their lines in small text, and what stands before their names.
inline constexpr float kFlagPitch = 1.35f;
inline constexpr float kFlagElbow = 12, kFlagColumn = 6;

// The measured operations of a layout (figure_roofline_measured.cpp), in this order: what can be drawn of them; their places
// once the axes are there; their names, where the rest of the figure leaves room.
void find_measured(const Canvas& canvas, const FigureInput& input, Layout& l);
void stand_measured(Layout& l);
void name_measured(const Canvas& canvas, const FigureInput& input, const std::vector<Rect>& taken, Layout& l);

// Names of all else (figure_roofline_labels.cpp), once roofs, dots and flags have their places.
void place_labels(const Canvas& canvas, const FigureInput& input, Layout& l);

// What the words of the flags cover: of their heading, where there is one, then of each flag.
std::vector<Rect> flag_words(const Canvas& canvas, const FigureInput& input, const Layout& l);

TextStyle small(const Canvas& canvas, Colour colour, HAlign h, VAlign v);
TextPlace place(const Canvas& canvas, std::string text, Point anchor, const TextStyle& style);

// The name of a roof: "bf16 peak 197 TFLOP/s".
std::string peak_text(const FigureInput& input, std::string_view dtype_key, double flop_per_s);

Layout lay_out(const Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view);

// Whether vector operations take no time of their own: the ideal step hides them under the others.
bool hides_vectors(const FigureInput& input);
// Whether operations take time twice: a step's parts count that as recomputation, an operation counts all of its time.
bool recomputes(const FigureInput& input);
std::string_view share_heading(const FigureInput& input);

std::string operation_name(const FigureInput& input, engine::OperationKind kind);
// Flops of matrix multiplications over their time; 0 where there are none.
double matmul_flop_per_s(const engine::Report& report);
// Of the measured operations: the time the roofs allow over the time they took; 0 where there are none.
double measured_share(const FigureInput& input);

}  // namespace roofscape::widgets::roofline
