// Controls: the window's sliders, choices and buttons, drawn by us on a Canvas (visual spec, section 3). A control is
// a function of its value: it takes it and returns the one after this frame's input. It never alters a value it was
// not asked to alter; what is outside its domain cannot be entered, what is unwise can, and carries a mark.
//
// Every control reports itself to the Probe under its id (a field path), its parts as ".track" and ".box".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/unit.h"
#include "widgets/canvas/number_format.h"
#include "widgets/ui/interaction.h"
#include "widgets/ui/marks.h"

namespace roofscape::widgets {

// Heights at scale 1.
inline constexpr float kRowHeight = 28, kControlHeight = 26, kBoxHeight = 24, kBoxWidth = 78;
// Of tall controls, in em: the whole of one, its head with the label, and the thumb.
inline constexpr float kTallRow = 3.2f, kTallHead = 1.6f, kTallThumb = 1;

// What a value of the track would give: a piece of the band under it. A dashed piece needs no colour to be told
// apart.
struct Notch {
  double value = 0;
  Colour colour;
  bool dashed = false;
};

struct ControlInfo {
  std::string_view id;
  std::string label;
  std::optional<Fill> swatch;  // colour of the mesh axis: the control is the legend
  bool off = false;            // at its neutral value: label and track step back
  std::string unit;            // in the value box, after the number
  Readout tip;                 // title, unit, key
  std::string about;
  std::optional<Mark> mark;        // of the finding that belongs to this control
  std::span<const Notch> preview;  // along the track, in order; empty: no band
  std::optional<double> baseline;  // the value pinned to compare with, where it differs
  float label_width = 106;         // at scale 1
  float box_width = kBoxWidth;     // for long units
  bool tall = false;               // read and moved from a distance: the label stands over the track
};

enum class SliderKind : std::uint8_t { power_of_two, integer, logarithmic, linear };
struct SliderRange {
  SliderKind kind = SliderKind::linear;
  double track_from = 0, track_to = 1;  // the ends of the track; the value may lie beyond them
  double minimum = 0, maximum = 1;      // the domain
  bool whole = false;
  engine::Unit unit = engine::unit::one;  // of the value: how it is shown in the box, and what may be typed
  std::optional<double> reset_to;         // right click
};

struct Edited {
  double value = 0;
  float height = 0;  // what the control took
  std::optional<std::string> refused =
      {};  // what was typed, where it is no number of the domain: the nearest that is was taken, or none
  engine::Sentence problem = {}, remedy = {};  // why it could not be read; empty where the nearest value was taken
};
// Label, track with notches, thumb, value box. A tall one is no stop of Tab: arrows belong to who shows it. Drag, arrows (with shift: by ten), right click resets, a click into
// the box, Ctrl+click or typing a digit enters a number.
Edited slider(Ui& ui, Point top_left, float width, const ControlInfo& info, const SliderRange& range, double value);

// How a value stands in its box, with its unit: "16 384", "15 T", "35 %", "500 ms", "80 GB". What is typed is read
// by engine::read_number, which takes all of these back.
std::string box_text(double value, const engine::Unit& unit);
NumberText box_parts(double value, const engine::Unit& unit);

// Index after this frame. The list opens below (above where there is no room).
int drop_down(Ui& ui, const Rect& r, std::string_view id, std::span<const Option> options, int selected,
              const Readout& tip = {}, std::string_view about = {});
int segmented(Ui& ui, const Rect& r, std::string_view id, std::span<const std::string> names, int selected,
              const Readout& tip = {}, std::string_view about = {});
bool check_box(Ui& ui, Point left_middle, std::string_view id, std::string_view label, bool on,
               const Readout& tip = {}, std::string_view about = {});
bool button(Ui& ui, const Rect& r, std::string_view id, std::string_view label, bool primary = false);
bool icon_button(Ui& ui, const Rect& r, std::string_view id, Icon icon, const Readout& tip);
// A number or phrase that can be pointed at and clicked: underlined while the pointer is on it.
bool link(Ui& ui, const Rect& r, std::string_view id, const Readout& tip,
          Interaction::Focus focus = Interaction::Focus::none);
// A line of text that can be edited (names); true while it changed, see Interaction::editing.
Interaction::EntryEvent text_box(Ui& ui, const Rect& r, std::string_view id);

// A region whose content may be taller than itself. Draw at `content_top` and end with the bottom reached.
struct ScrollRegion {
  Rect view;
  float content_top = 0;
  std::string_view id;
};
ScrollRegion begin_scroll(Ui& ui, std::string_view id, const Rect& view);
void end_scroll(Ui& ui, const ScrollRegion& region, float content_bottom);
// The row that is the chosen one: where another has become so, perhaps elsewhere, and is out of sight, it comes to the
// middle. Between begin and end; of several rows the first counts.
void chosen_row(Ui& ui, const ScrollRegion& region, std::string_view id, const Rect& row);
// The same sideways, for content whose width is known before it is drawn: how far it is scrolled. The bar lies at the
// foot of the view.
float scroll_across(Ui& ui, std::string_view id, const Rect& view, float content_width);

// Drawn last, over everything: the open list, and the text of what is pointed at.
void run_popup(Ui& ui, const Rect& window);
void draw_hint(Ui& ui, const Rect& window);

// Shared looks.
// A bar at the left of a row whose value differs from the baseline.
void draw_differs(Ui& ui, const Rect& row);
void draw_control_frame(Ui& ui, const Rect& r, bool hovered, bool ring, std::optional<Mark> mark = {});
TextStyle text_style(const Ui& ui, Colour colour, float size = 1, Weight weight = Weight::regular);

}  // namespace roofscape::widgets
