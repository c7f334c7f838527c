#include "widgets/canvas/glyph_outlines.h"

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H

#include <fmt/format.h>

#include <cmath>

#include "engine/base/utf8.h"

namespace roofscape::widgets {
namespace {

// Where the outline being decomposed lands: font units to the drawing's, y turned over.
struct Pen {
  std::string& path;
  Point origin;
  float scale = 0, cosine = 1, sine = 0;
  float advance = 0;
  bool open = false;

  void put(const FT_Vector& v) const {
    const float x = advance + static_cast<float>(v.x) * scale, y = -static_cast<float>(v.y) * scale;
    append_coordinate(path, origin.x + x * cosine - y * sine);
    path += ' ';
    append_coordinate(path, origin.y + x * sine + y * cosine);
  }
  void close() {
    if (open) path += 'Z';
    open = false;
  }
};

int move_to(const FT_Vector* to, void* user) {
  Pen& pen = *static_cast<Pen*>(user);
  pen.close();
  pen.path += 'M';
  pen.put(*to);
  pen.open = true;
  return 0;
}

int line_to(const FT_Vector* to, void* user) {
  const Pen& pen = *static_cast<const Pen*>(user);
  pen.path += 'L';
  pen.put(*to);
  return 0;
}

int conic_to(const FT_Vector* control, const FT_Vector* to, void* user) {
  const Pen& pen = *static_cast<const Pen*>(user);
  pen.path += 'Q';
  pen.put(*control);
  pen.path += ' ';
  pen.put(*to);
  return 0;
}

int cubic_to(const FT_Vector* first, const FT_Vector* second, const FT_Vector* to, void* user) {
  const Pen& pen = *static_cast<const Pen*>(user);
  pen.path += 'C';
  pen.put(*first);
  pen.path += ' ';
  pen.put(*second);
  pen.path += ' ';
  pen.put(*to);
  return 0;
}

}  // namespace

// In whole hundredths: faster than a general double, and no two machines can round differently.
void append_coordinate(std::string& out, float value) {
  long long n = std::llround(static_cast<double>(value) * 100);
  if (n < 0) {
    out += '-';
    n = -n;
  }
  const fmt::format_int whole(n / 100);
  out.append(whole.data(), whole.size());
  if (const auto rest = static_cast<int>(n % 100); rest != 0) {
    out += '.';
    out += static_cast<char>('0' + rest / 10);
    if (rest % 10 != 0) out += static_cast<char>('0' + rest % 10);
  }
}

void append_outlines(std::string& path, const FontStack& fonts, Point baseline, std::string_view utf8, float em,
                     Weight weight, float angle) {
  FT_Outline_Funcs verbs{};
  verbs.move_to = move_to;
  verbs.line_to = line_to;
  verbs.conic_to = conic_to;
  verbs.cubic_to = cubic_to;
  Pen pen{path, baseline, 0, std::cos(angle), std::sin(angle)};
  for (std::size_t at = 0; at < utf8.size();) {
    const GlyphChoice& glyph = fonts.glyph(engine::next_codepoint(utf8, at), weight);
    const FT_Face face = fonts.native_face(weight, glyph.face);
    if (face && face->units_per_EM != 0 && FT_Load_Glyph(face, glyph.glyph, FT_LOAD_NO_SCALE) == 0 &&
        face->glyph->format == FT_GLYPH_FORMAT_OUTLINE) {
      pen.scale = em / static_cast<float>(face->units_per_EM);
      FT_Outline_Decompose(&face->glyph->outline, &verbs, &pen);
      pen.close();
    }
    pen.advance += glyph.advance * em;
  }
}

}  // namespace roofscape::widgets
