// SvgCanvas: figures as SVG, written by hand so that text stays text. Each run carries its width (textLength): where
// a reader lacks the fonts the layout still holds. Coordinates are rounded to 0.01, elements are in drawing order and in
// the groups of the figure, tags become invisible rectangles with an id and a title where that is asked for, and nothing
// depends on the time or the machine but the fonts.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "widgets/canvas/canvas.h"

namespace roofscape::widgets {

enum class SvgText : std::uint8_t {
  text,      // can be searched, edited and read aloud
  outlines,  // looks the same without the fonts; several times larger
};

struct SvgOptions {
  std::string title, description;  // for readers that speak; empty ones are left out
  bool tooltips = false;           // tags as invisible rectangles on top, which say what they are when pointed at
  std::string keyword = {}, metadata = {};  // a text in the file under the id `keyword`; empty: none
  SvgText text = SvgText::text;
  std::string prefix = {};  // of all ids, where several drawings stand in one document
};

class SvgCanvas final : public Canvas {
 public:
  // `size` in points (1/72 inch); the ground is transparent unless the figure draws one.
  SvgCanvas(const FontStack& fonts, float em, float width, float height, SvgOptions options = {});

  // The whole file. Further drawing after this is an error of the caller and is not in it.
  std::string finish();

 private:
  void raw_stroke(std::span<const Point> points, bool closed, Colour colour, float width) override;
  void raw_fill(std::span<const Point> points, Colour colour) override;
  void raw_halo(Point baseline, std::string_view utf8, float em, Weight weight, Colour colour, float angle,
                float reach) override;
  void raw_text(Point baseline, std::string_view utf8, float em, Weight weight, Colour colour, float angle) override;
  void raw_push_clip(const Rect& r) override;
  void raw_pop_clip() override;
  void on_group(std::string_view id, int index) override;
  void on_group_end() override;
  std::string unique_id(std::string_view id);
  void path(std::span<const Point> points, bool closed);
  void flush();

  SvgOptions options_;
  std::string body_, clips_;
  std::map<std::string, int, std::less<>> ids_;  // how often each was asked for: no two elements may have one
  int clip_count_ = 0, open_groups_ = 0;
  // Opaque strokes of one look that follow one another (dashes, hatches) are one element.
  bool pending_ = false;
  Colour pending_colour_;
  float pending_width_ = 0;
};

// Text for XML: the five reserved characters escaped, control characters and invalid UTF-8 replaced by U+FFFD.
std::string xml_escaped(std::string_view utf8);

}  // namespace roofscape::widgets
