// RecordCanvas: a canvas for tests. It keeps every primitive that a destination would draw, the texts as the figure
// asked for them, and the tags, and can say what is wrong with the texts: cut by their clip, or over one another.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "widgets/canvas/canvas.h"

namespace roofscape::widgets {

struct Primitive {
  enum class Kind : std::uint8_t { stroke, fill, text, push_clip, pop_clip };
  Kind kind = Kind::stroke;
  std::vector<Point> points;  // of a text its pen, of a clip its corners
  Colour colour;
  float width = 0;  // of a stroke; of a text its em
  bool closed = false;
  float angle = 0;
  Weight weight = Weight::regular;
  std::string text;
  std::string group = {};  // the innermost it was drawn in
};

struct TextRun {
  std::string text;
  Point anchor;
  TextStyle style;                 // em filled in
  Rect bounds;                     // ascent to descent; of the bounding box if turned
  std::array<Point, 4> corners{};  // tight: the capitals' height, turned with the text; what must not overlap
  Rect clip;
  std::size_t order = 0;   // how many primitives were drawn before it
  std::string group = {};  // the innermost it was drawn in
};

// A line or a marker as the figure asked for it.
struct Mark {
  enum class Kind : std::uint8_t { line, marker };
  Kind kind = Kind::line;
  std::vector<Point> points;  // of a line; of a marker its centre
  Rect box;                   // what it covers
  std::string group;          // the innermost it was drawn in
  std::size_t texts = 0;      // that were drawn before it
  float width = 0;            // of a line
  Colour colour = kTransparent;
  Rect clip = {};
  std::size_t order = 0;  // how many primitives were drawn before it
  bool arrow = false;     // a line with a head at its end
};

struct TextProblem {
  // covers: its halo lies over an axis, a marker or the end of a line that were there before it.
  // crossed: a bold line runs through it: drawn after it, without a halo between, or of another colour under its halo, unless
  // it is one of the "levels" where lines meet or of the "letters" that a note tells.
  enum class Kind : std::uint8_t { outside_clip, overlap, missing_glyph, covers, crossed };
  Kind kind = Kind::overlap;
  std::string text, other;  // other: what it overlaps
};

class RecordCanvas final : public Canvas {
 public:
  RecordCanvas(const FontStack& fonts, float em, const Rect& bounds) : Canvas(fonts, em, bounds) {}

  const std::vector<Primitive>& primitives() const { return primitives_; }
  std::size_t count(Primitive::Kind kind) const;
  const std::vector<TextRun>& texts() const { return texts_; }
  const std::vector<Mark>& marks() const { return marks_; }
  const TextRun* find_text(std::string_view text) const;  // the first run that is exactly this
  std::size_t count_tags(std::string_view id) const;
  const TagRegion* find_tag(std::string_view id, int index = -1) const;

  // Everything drawn, one primitive a line with coordinates rounded to 0.01: the same on every machine that has the
  // same fonts.
  std::string to_text() const;
  // Empty if all is well. Strings may touch their clip by `slack` and each other by as much.
  std::vector<TextProblem> audit(float slack = 0.5f) const;
  // The problems in words, for a test's message.
  std::string audit_text(float slack = 0.5f) const;

 private:
  void raw_stroke(std::span<const Point> points, bool closed, Colour colour, float width) override;
  void raw_fill(std::span<const Point> points, Colour colour) override;
  void raw_text(Point baseline, std::string_view utf8, float em, Weight weight, Colour colour, float angle) override;
  void raw_push_clip(const Rect& r) override;
  void raw_pop_clip() override;
  void on_text(Point anchor, std::string_view utf8, const TextStyle& style, const Rect& clip) override;
  void on_line(std::span<const Point> points, const Stroke& stroke, bool arrow) override;
  void on_marker(Point centre, Marker marker, float size, const Fill& fill) override;
  void on_group(std::string_view id, int index) override;
  void on_group_end() override { groups_.pop_back(); }
  std::string group_id() const { return groups_.empty() ? std::string() : groups_.back(); }
  void audit_halo(const TextRun& run, std::size_t order, std::vector<TextProblem>& problems) const;
  bool hidden(const Mark& line, const TextRun& run) const;
  void audit_crossed(const TextRun& run, std::size_t order, std::vector<TextProblem>& problems) const;

  std::vector<Primitive> primitives_;
  std::vector<TextRun> texts_;
  std::vector<Mark> marks_;
  std::vector<std::string> groups_;
  std::vector<Rect> clips_;
};

}  // namespace roofscape::widgets
