// Plot: the parts every figure has (head, axes, grid, labels), so that figures only draw their data. Functions draw
// on a Canvas and keep no state. The y title stands above its axis with an up arrow, the x title below at the right
// with a right arrow; there is a left and a bottom axis only; labels stand beside what they name instead of in a key.
// Lengths are those of the canvas; names of text sizes are in em of the canvas.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "widgets/canvas/canvas.h"
#include "widgets/canvas/theme.h"
#include "widgets/plot/scale.h"
#include "widgets/plot/ticks.h"

namespace roofscape::widgets {

inline constexpr float kSmallText = 0.85f;  // tick labels, captions
inline constexpr float kHeadText = 1.0f;    // figure title; on paper 1.1
// Style of small text set on the middle of its line: labels of rows, values beside bars.
TextStyle small_text(const Canvas& canvas, Colour colour, HAlign halign, Weight weight = Weight::regular);

// The style of a head in the language of `text`: bold, or for Korean larger instead.
TextStyle head_style(const Canvas& canvas, const Theme& theme, std::string_view text);

// Bold title, then the takeaway as a phrase with its number: beside the title on the screen; on paper (`stacked`)
// under it. What does not fit is cut at a word and ends in an ellipsis. Returns what is left of `area` below the
// head.
struct Head {
  std::string title, takeaway;
  bool stacked = false;
};
Rect draw_head(Canvas& canvas, const Theme& theme, Rect area, const Head& head);
// Of a title, and of one on paper.
TextStyle head_style(const Canvas& canvas, const Theme& theme, std::string_view title);
TextStyle stacked_title_style(const Canvas& canvas, const Theme& theme, std::string_view title);

struct PlotAxis {
  std::string title;  // with its unit; empty: none, and no room for one
  std::vector<Tick> ticks;
  bool grid = true;
  bool line = true;
  double unit = 1;  // of one on this axis in base units: 1e9 where it counts GB
};
struct Frame {
  PlotAxis x, y;
};
// Axes as they were drawn (Canvas::set_frames).
struct DrawnFrame {
  Rect plot;
  Scale x, y;
  Frame frame;
  std::string title = {};  // of the y axis, where the figure writes it itself
  Point title_at = {};
};

// The plot rectangle inside `area` once titles, tick labels and the overhang of the last x label have their room. The
// ranges of scales depend on it, ticks on the scales: lay out with the ticks of a scale of any range, then set the
// range.
Rect plot_rect(const Canvas& canvas, const Rect& area, const Frame& frame);
// Grid, axes, ticks, labels and titles; x labels that would touch are left out evenly.
void draw_frame(Canvas& canvas, const Theme& theme, const Rect& plot, const Scale& x, const Scale& y,
                const Frame& frame);

// A part of a plot that is tinted: a convex polygon.
struct Tint {
  std::array<Point, 4> corners;
  Colour colour;
};
// The colour of the ground at a place: the panel's under the tints that lie there.
Colour ground_at(const Theme& theme, Point at, std::span<const Tint> tints = {});
// Text with a halo in the colour of the ground it stands on, for labels that lines run through. It must not stand on an
// axis, a marker or the end of a line, which the halo would cut (RecordCanvas::audit finds it).
void haloed_text(Canvas& canvas, const Theme& theme, Point anchor, std::string_view text, const TextStyle& style,
                 std::span<const Tint> tints = {});

// Whether a bar is too short to be seen: then it is drawn as a hollow tick, which no length is read from.
bool is_tick(const Canvas& canvas, const Rect& bar);
// Returns what it covers.
Rect draw_tick(Canvas& canvas, const Theme& theme, const Rect& bar, const Fill& fill);

// Of ink: the region of a roofline plot where bandwidth decides.
inline constexpr float kRegionTint = 0.045f;
// em between the baselines of labels that are pushed apart.
inline constexpr float kLabelPitch = 1.35f;

// Moves wanted centres apart to at least `gap`, keeping their order and staying within `low` to `high` if they fit at
// all; as little as possible in total. Returns the places in the order of the input.
std::vector<float> spread(std::span<const float> wanted, float gap, float low, float high);

// Labels above the first of a stack of bars: each centred on its part if it fits, else pushed aside with an elbow.
struct PartLabel {
  std::string text;
  float from = 0, to = 0;  // ends of the part on x
};
// Baselines at `baseline`, leaders down to `bar_top`; parts narrower than `px(1)` are skipped.
void draw_elbow_labels(Canvas& canvas, const Theme& theme, std::span<const PartLabel> labels, float baseline,
                       float bar_top, float left, float right);

// Flags hung under dots, to their left, in order of x so that leaders never cross.
struct Flag {
  Point at;
  std::string name, value;
};
// Returns the rectangle the flags take. `top` is where the first may stand; `heading` stands over the values.
Rect draw_flags(Canvas& canvas, const Theme& theme, std::span<const Flag> flags, float top, std::string_view heading,
                std::span<const Tint> tints = {});

// The vertical ink line of the present value with its pill above the plot ("now 1024").
void draw_now(Canvas& canvas, const Theme& theme, const Rect& plot, float x, std::string_view pill);

// Swatches and names in one row, for figures whose blocks are too small to label. Returns the width used.
struct KeyEntry {
  std::string text;
  Fill fill;
  std::string brief = {};  // where there is no room for the text; empty: the text
};
inline constexpr float kKeyGap = 16;  // between entries, at scale 1
float draw_key(Canvas& canvas, const Theme& theme, Point left_middle, std::span<const KeyEntry> entries,
               float gap = kKeyGap);

// The readout beside a datum: title and rows in a bordered box, kept inside `within` and off `avoid`; where it is
// larger than `within`, inside `window`.
void draw_readout(Canvas& canvas, const Theme& theme, const Readout& readout, const Rect& avoid, Rect within,
                  const Rect& window);

// In a box: it is on, or was chosen.
void draw_check_mark(Canvas& canvas, const Rect& box, const Stroke& stroke);

// Text cut at a word to fit `room`, with an ellipsis if anything was cut.
std::string ellipsize(const Canvas& canvas, std::string_view text, const TextStyle& style, float room);
// Whether a line may end at this space of a text: none begins with a dash.
bool line_may_end(std::string_view text, std::size_t space);
// `text` on at most `lines` lines that fit `width`, broken at spaces; the last one ends in an ellipsis if it must.
std::vector<std::string> wrap(const Canvas& canvas, std::string_view text, const TextStyle& style, float width,
                              int lines);

}  // namespace roofscape::widgets
