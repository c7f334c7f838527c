// FontStack: the fonts of figures, found through fontconfig by family name, and the one source of text widths. It
// reads unhinted advances from the font files, so layout is the same on the screen and in every exported file.
// A character is taken from the first face of the chain that has it: Noto Sans, Noto Sans Math, Noto Sans CJK KR.
//
// All metrics are in em (multiply by the text size). Errors: none are thrown; a family that is not installed is
// replaced by fontconfig's best match and named in missing(), and a character no face has takes the first face's
// empty box. Not for use from two threads at once (the advances are cached): an export thread makes its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct FT_FaceRec_;

namespace roofscape::widgets {

enum class Weight : std::uint8_t { regular, bold };

// One face of the chain, as another program would open it.
struct FontFace {
  std::string family;  // the family that was asked for
  std::string path;    // font file
  int index = 0;       // face in a collection (.ttc)
};

struct MissingFont {
  std::string family;       // "Noto Sans CJK KR"
  std::string package;      // Debian package that has it: "fonts-noto-cjk"
  std::string replaced_by;  // file used instead, may be empty
};

struct GlyphChoice {
  std::uint32_t glyph = 0;  // index in the face, 0 is the empty box
  std::uint16_t face = 0;   // index in the chain
  float advance = 0;        // em, unhinted
};

class FontStack {
 public:
  FontStack();
  // "Noto Sans", "Noto Sans Math", "Noto Sans CJK KR".
  static std::vector<std::string> default_families();
  // With other families, in the order of the chain (--font, and tests with names that do not exist).
  explicit FontStack(const std::vector<std::string>& families);
  // No faces: every character, of either weight, is this wide (em) and has a glyph. For tests of layout that must not
  // depend on which release of a font is installed.
  static FontStack monospaced(float advance);
  ~FontStack();
  FontStack(FontStack&&) noexcept;
  FontStack& operator=(FontStack&&) noexcept;

  // Width of one line of text set at size `em`, in the unit of `em`. Control characters take no room.
  float width(std::string_view utf8, float em, Weight weight = Weight::regular) const;
  // The longest prefix that is at most `room` wide, cut between characters.
  std::string_view fit(std::string_view utf8, float em, float room, Weight weight = Weight::regular) const;

  // Of the first face, in em, all positive: from baseline up, from baseline down, height of capitals, of small x.
  float ascent(Weight weight = Weight::regular) const;
  float descent(Weight weight = Weight::regular) const;
  float cap_height(Weight weight = Weight::regular) const;
  float x_height(Weight weight = Weight::regular) const;
  // Distance of the baselines of prose.
  static constexpr float kLineHeight = 1.42f;

  // Which face and glyph draw a character, and how wide it is.
  const GlyphChoice& glyph(char32_t c, Weight weight = Weight::regular) const;
  float advance(char32_t c, Weight weight = Weight::regular) const { return glyph(c, weight).advance; }
  bool has_glyph(char32_t c, Weight weight = Weight::regular) const { return glyph(c, weight).glyph != 0; }

  // The chain of a weight, in order. Never empty unless the machine has no font at all.
  const std::vector<FontFace>& faces(Weight weight = Weight::regular) const;
  // The opened face behind faces(weight)[index]; owned by the stack and whoever holds keep_alive().
  FT_FaceRec_* native_face(Weight weight, std::size_t index) const;
  std::shared_ptr<const void> keep_alive() const;

  const std::vector<MissingFont>& missing() const;

 private:
  struct Impl;
  explicit FontStack(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace roofscape::widgets
