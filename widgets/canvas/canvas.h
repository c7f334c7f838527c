// Canvas: what every figure draws on. One figure function serves the window, SVG, PDF, PNG and the tests, because all
// public verbs are reduced here to five raw ones (solid strokes, convex fills, text runs and clips): dashes, hatches,
// markers and arrows are plain strokes and fills before a destination sees them, so destinations cannot disagree.
//
// Lengths are in the destination's unit (geometry.h). `em()` is the base text size there; `px(n)` turns a length of
// the visual spec (pixels at scale 1, em 15) into it. Layout asks `metrics()` and nothing else. Errors: none. Shapes
// with a coordinate that is not finite, or of zero size, are left out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "widgets/canvas/colour.h"
#include "widgets/canvas/font_stack.h"
#include "widgets/canvas/geometry.h"

namespace roofscape::widgets {

struct DrawnFrame;  // plot.h

// Lengths drawn and skipped in turn, in the destination's unit. Empty means solid.
struct Dash {
  std::array<float, 6> lengths{};
  std::uint8_t count = 0;
  constexpr Dash() = default;
  constexpr Dash(std::initializer_list<float> l) {
    for (const float v : l)
      if (count < lengths.size()) lengths[count++] = v;
  }
  constexpr Dash scaled(float k) const {
    Dash d = *this;
    for (float& v : d.lengths) v *= k;
    return d;
  }
  constexpr bool solid() const { return count == 0; }
  friend constexpr bool operator==(const Dash&, const Dash&) = default;
};

struct Stroke {
  Colour colour;
  float width = 1;
  Dash dash;
};

enum class Hatch : std::uint8_t { none, slash, backslash, horizontal, vertical, cross, dots, sparse_slash };

struct Fill {
  Colour colour = kTransparent;
  Hatch hatch = Hatch::none;
  Colour hatch_ink = kTransparent;
  float pitch = 0;        // distance of hatch lines; 0: the default of the hatch kind at this em
  float hatch_width = 0;  // 0: one scale-1 pixel
  // Of the area this shape is a piece of: its pattern runs on from piece to piece. Empty: the shape stands alone.
  Rect hatch_area{};
  Colour edge = kTransparent;
  float edge_width = 0;  // drawn inside a rectangle, centred on the outline of other shapes
};

// Markers of one size have the same area, which is that of a circle of this diameter.
enum class Marker : std::uint8_t { circle, diamond, square };

enum class HAlign : std::uint8_t { left, centre, right };
// middle centres the capitals; top and bottom are the ascent and the descent of the font.
enum class VAlign : std::uint8_t { baseline, top, middle, bottom };

struct TextStyle {
  float em = 0;  // size in the destination's unit; 0: em() of the canvas
  Weight weight = Weight::regular;
  HAlign halign = HAlign::left;
  VAlign valign = VAlign::baseline;
  bool vertical = false;  // reads upwards, the same as angle -pi/2
  Colour colour;
  float angle = 0;  // radians, clockwise on screen, about the anchor
  // What lines behind the text are parted by, `kHaloWidth` around each glyph: the ground it stands on. None: transparent.
  Colour halo = kTransparent;
};
inline constexpr float kHaloWidth = 2;  // scale-1 pixels, 1.2 pt of a printed figure

// What a region says when pointed at: a title and rows of label and value.
struct Readout {
  std::string title;
  std::vector<std::pair<std::string, std::string>> rows;
  bool empty() const { return title.empty() && rows.empty(); }
};

// A named region: hover target, click target, SVG id and test handle.
struct TagRegion {
  std::string id;
  int index = -1;  // which one of several with the same id; -1: the only one
  Rect rect;       // already cut to the clip it was recorded in
  Readout readout;
};

// Which tags are kept. The window keeps only those near the pointer, so ten thousand blocks build no strings.
enum class Tagging : std::uint8_t { none, near_pointer, all };

class Canvas {
 public:
  // Scope object: the clip ends when it is destroyed.
  class Clip {
   public:
    Clip(Clip&& o) noexcept : canvas_(std::exchange(o.canvas_, nullptr)) {}
    Clip(const Clip&) = delete;
    Clip& operator=(const Clip&) = delete;
    Clip& operator=(Clip&&) = delete;
    ~Clip() {
      if (canvas_) canvas_->pop_clip();
    }

   private:
    friend class Canvas;
    explicit Clip(Canvas* canvas) : canvas_(canvas) {}
    Canvas* canvas_;
  };

  // Scope object: what is drawn until it is destroyed belongs together.
  class Group {
   public:
    Group(Group&& o) noexcept : canvas_(std::exchange(o.canvas_, nullptr)) {}
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;
    Group& operator=(Group&&) = delete;
    ~Group() {
      if (canvas_) canvas_->on_group_end();
    }

   private:
    friend class Canvas;
    explicit Group(Canvas* canvas) : canvas_(canvas) {}
    Canvas* canvas_;
  };

  virtual ~Canvas() = default;
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  void line(Point from, Point to, const Stroke& stroke);
  void polyline(std::span<const Point> points, const Stroke& stroke);
  void polyline(std::initializer_list<Point> points, const Stroke& stroke) {
    polyline(std::span<const Point>(points.begin(), points.size()), stroke);
  }
  // A line with an open head of length `head` at `to` (0: half an em).
  void arrow(Point from, Point to, const Stroke& stroke, float head = 0);
  // Convex, either winding (back ends receive clockwise on screen).
  void polygon(std::span<const Point> points, const Fill& fill);
  void polygon(std::initializer_list<Point> points, const Fill& fill) {
    polygon(std::span<const Point>(points.begin(), points.size()), fill);
  }
  void rect(const Rect& r, const Fill& fill, float radius = 0);
  // The outline of a rectangle, inside it.
  void frame(const Rect& r, const Stroke& stroke, float radius = 0);
  void marker(Point centre, Marker marker, float size, const Fill& fill);
  // One line of UTF-8 text. Invalid bytes show as U+FFFD.
  void text(Point anchor, std::string_view utf8, const TextStyle& style);
  [[nodiscard]] Clip clip(const Rect& r);

  // A series, or another part a person would take hold of in a drawing program: a group with this id in an SVG, and
  // nothing elsewhere. `index`: which one of several, -1 the only one.
  [[nodiscard]] Group group(std::string_view id, int index = -1) {
    on_group(id, index);
    return Group(this);
  }

  // Names a region; where regions overlap, a later one wins.
  void tag(std::string_view id, const Rect& r);
  void tag(std::string_view id, int index, const Rect& r, Readout readout = {});
  // The same where the readout is made by `make` (no arguments, returns Readout) and only if it will be kept.
  template <class MakeReadout>
  void tag_with(std::string_view id, int index, const Rect& r, MakeReadout&& make) {
    if (keeps_tag(r)) add_tag(id, index, r, make());
  }
  // Appends `mark` to the titles of readouts whose id is `marked`, from now on; none: an empty function.
  void mark_readouts(std::function<bool(std::string_view)> marked, std::string_view mark) {
    marked_ = std::move(marked);
    mark_ = mark;
  }
  // Whether a tag with this rectangle would be kept now.
  bool keeps_tag(const Rect& r) const;
  void set_tagging(Tagging mode) { tagging_ = mode; }
  // near_pointer mode about this point; `reach` is how far from a region it may be (8 scale-1 pixels are usual).
  void set_pointer(Point pointer, float reach);
  Tagging tagging() const { return tagging_; }
  const std::vector<TagRegion>& tags() const { return tags_; }
  // The region at a point: the last one that contains it, else the nearest within `reach`, else null.
  const TagRegion* hit(Point p, float reach = 0) const;

  // Where the axes of what is drawn are written down, for whoever lays something over them (plot.h); null: nowhere.
  void set_frames(std::vector<DrawnFrame>* frames) { frames_ = frames; }
  std::vector<DrawnFrame>* frames() const { return frames_; }

  // Multiplies the opacity of all that follows (a stale figure is drawn at 0.28). Returns the value before.
  float set_opacity(float opacity) { return std::exchange(opacity_, opacity); }

  const FontStack& metrics() const { return fonts_; }
  float em() const { return em_; }
  float px(float scale_1_pixels) const { return scale_1_pixels * (em_ / 15.0f); }
  float text_width(std::string_view utf8, const TextStyle& style) const;
  // The rectangle a text will take (of its bounding box if it is at an angle), ascent to descent.
  Rect text_bounds(Point anchor, std::string_view utf8, const TextStyle& style) const;
  const Rect& bounds() const { return bounds_; }
  const Rect& clip_rect() const { return clips_.back(); }

 protected:
  // The font stack must outlive the canvas. `bounds` is the whole drawing, and the outermost clip.
  Canvas(const FontStack& fonts, float em, const Rect& bounds);

  // Solid, butt ends, round-free mitre joins; the points are finite. `closed` joins the last point to the first.
  virtual void raw_stroke(std::span<const Point> points, bool closed, Colour colour, float width) = 0;
  // Convex, clockwise on screen.
  virtual void raw_fill(std::span<const Point> points, Colour colour) = 0;
  // Pen at `baseline`, running at `angle` radians clockwise; not empty, no control characters are to be drawn.
  virtual void raw_text(Point baseline, std::string_view utf8, float em, Weight weight, Colour colour,
                        float angle) = 0;
  // A text's halo: its glyphs stroked with this colour, `reach` beyond their outlines. The text itself follows.
  virtual void raw_halo(Point /*baseline*/, std::string_view /*utf8*/, float /*em*/, Weight, Colour, float /*angle*/,
                        float /*reach*/) {}
  // The rectangle is already the common part of all clips around it.
  virtual void raw_push_clip(const Rect& r) = 0;
  virtual void raw_pop_clip() = 0;

  // For back ends that write groups.
  virtual void on_group(std::string_view /*id*/, int /*index*/) {}
  virtual void on_group_end() {}
  // For back ends that write tags, or record verbs as the figure called them.
  virtual void on_tag(const TagRegion&) {}
  virtual void on_text(Point /*anchor*/, std::string_view, const TextStyle&, const Rect& /*clip*/) {}
  // Verbs that leave something to draw, before they are reduced to strokes and fills; the polygon of a marker and the
  // edge of a rectangle are not verbs of their own.
  virtual void on_line(std::span<const Point>, const Stroke&, bool /*arrow*/) {}
  virtual void on_polygon(std::span<const Point>, const Fill&) {}
  virtual void on_rect(const Rect&, const Fill&, float /*radius*/) {}
  virtual void on_frame(const Rect&, const Stroke&, float /*radius*/) {}
  virtual void on_marker(Point /*centre*/, Marker, float /*size*/, const Fill&) {}

  // For canvases that are used again every frame.
  void restart(float em, const Rect& bounds);

 private:
  void add_tag(std::string_view id, int index, const Rect& r, Readout readout);
  void pop_clip();
  void stroke_points(std::span<const Point> points, bool closed, const Stroke& stroke);
  void stroke_frame(const Rect& r, const Stroke& stroke, float radius);
  bool fill_polygon(std::span<const Point> points, const Fill& fill);
  void dash_segment(Point a, Point b, const Stroke& stroke, float period, float& phase);
  void hatch_polygon(std::span<const Point> points, const Rect& box, const Fill& fill);
  struct HatchPlace {
    Rect box;            // of the shape
    Point origin;        // of the pattern
    bool piece = false;  // of a larger area: lines run to the very edge, where the next piece takes them up
  };
  void hatch_lines(std::span<const Point> points, const HatchPlace& place, Point direction, float pitch, Colour,
                   float width);
  void hatch_dots(std::span<const Point> points, const HatchPlace& place, float pitch, Colour ink, float width);
  Colour shade(Colour c) const { return opacity_ >= 1 ? c : faded(c, opacity_); }
  Point baseline_of(Point anchor, float width, const TextStyle& style) const;

  std::vector<DrawnFrame>* frames_ = nullptr;
  const FontStack& fonts_;
  float em_;
  Rect bounds_;
  float opacity_ = 1;
  Tagging tagging_ = Tagging::all;
  std::function<bool(std::string_view)> marked_;
  std::string mark_;
  Point pointer_{};
  float reach_ = 0;
  std::vector<Rect> clips_;
  std::vector<TagRegion> tags_;
  std::vector<Point> scratch_;  // corners of rounded shapes, kept to save an allocation per shape
};

}  // namespace roofscape::widgets
