// ScreenCanvas: the Canvas that fills a Dear ImGui draw list, and ScreenFonts, the glyph atlas behind it.
//
// Why not ImGui's own text and rectangles: its pen rounds advances, its rectangles are not anti-aliased, and a line
// under a pixel is drawn a pixel wide. Here every fill is an anti-aliased convex polygon, thin lines lose opacity
// instead of being fattened, and glyph quads are placed by the widths of FontStack, so the window lays out exactly as
// exports do.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "widgets/canvas/canvas.h"
#include "widgets/canvas/font_stack.h"
#include "widgets/ui/imgui_compat.h"
#include "widgets/ui/mapped_file.h"

namespace roofscape::widgets {

// Sizes that are drawn sharp, in em of the window; others are scaled from the nearest.
inline constexpr std::array<float, 4> kScreenSizes{0.85f, 1.0f, 1.25f, 1.6f};

// The atlas of the current ImGui context, made from the faces FontStack found. Where the version of ImGui cannot make
// glyphs on demand, characters that were asked for and missing are remembered, and the next update() adds them.
class ScreenFonts {
 public:
  explicit ScreenFonts(const FontStack& fonts);
  // Characters that will be needed (string tables, names of presets).
  void add_characters(std::string_view utf8);
  // Call between frames. Builds the atlas if the em size or the characters changed; true if it did.
  bool update(float em_px);

  // The font whose glyphs are nearest to a size, for all characters of a text. Until the next update().
  struct Face {
    ImFont* font = nullptr;
    float size = 0;   // ImGui's, of the text
    float scale = 1;  // a glyph's quad times this is in pixels
  };
  Face face(float em_px, Weight weight) const;
  compat::GlyphQuad find(char32_t c, const Face& face);
  int builds() const { return builds_; }

 private:
  struct Entry {
    ImFont* font = nullptr;
    float em_px = 0;      // em it was built for
    float per_em = 1.3f;  // ImGui size of the first face over em
  };
  void rebuild();

  const FontStack& fonts_;
  float em_px_ = 0;
  int builds_ = 0;
  bool stale_ = true;
  std::set<char32_t> characters_, asked_;
  std::map<std::string, MappedFile> files_;
  std::array<std::vector<Entry>, 2> entries_;  // by weight
  std::vector<std::vector<ImWchar>> ranges_;   // kept while the atlas refers to them
};

class ScreenCanvas final : public Canvas {
 public:
  ScreenCanvas(const FontStack& fonts, ScreenFonts& atlas);
  // Starts a frame on a draw list whose clip is the whole display.
  void begin(ImDrawList* list, float em_px, const Rect& bounds);

  // Text audit of tests: strings drawn in the last frame with where they stood and their clip.
  struct DrawnText {
    std::string text;
    Rect rect, clip;
    bool upright = true;
  };
  void set_audit(bool on) { audit_ = on; }
  const std::vector<DrawnText>& drawn_texts() const { return drawn_; }

 protected:
  void raw_stroke(std::span<const Point> points, bool closed, Colour colour, float width) override;
  void raw_fill(std::span<const Point> points, Colour colour) override;
  void raw_halo(Point baseline, std::string_view utf8, float em, Weight weight, Colour colour, float angle,
                float reach) override;
  void raw_text(Point baseline, std::string_view utf8, float em, Weight weight, Colour colour, float angle) override;
  void raw_push_clip(const Rect& r) override;
  void raw_pop_clip() override;
  void on_text(Point anchor, std::string_view utf8, const TextStyle& style, const Rect& clip) override;

 private:
  ScreenFonts& atlas_;
  ImDrawList* list_ = nullptr;
  std::vector<ImVec2> points_;
  bool audit_ = false;
  std::vector<DrawnText> drawn_;
};

}  // namespace roofscape::widgets
