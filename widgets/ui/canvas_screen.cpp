#include "widgets/ui/canvas_screen.h"

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_TRUETYPE_TABLES_H

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/base/utf8.h"

namespace roofscape::widgets {

namespace {

// Whether anything of these points, grown by `reach`, can be seen through the clip: rows of a scrolled region that
// are out of sight cost nothing.
bool in_sight(std::span<const Point> points, const Rect& clip, float reach) {
  float left = points[0].x, right = left, top = points[0].y, bottom = top;
  for (const Point p : points) {
    left = std::min(left, p.x);
    right = std::max(right, p.x);
    top = std::min(top, p.y);
    bottom = std::max(bottom, p.y);
  }
  return right + reach > clip.x && left - reach < clip.right() && bottom + reach > clip.y &&
         top - reach < clip.bottom();
}

constexpr std::array kWeights{Weight::regular, Weight::bold};

ImU32 packed(Colour c) { return IM_COL32(c.r, c.g, c.b, c.a); }

// ImGui's size of a face that is set at one em: ascent less descent of the hhea table, which is what it divides by.
float imgui_size_per_em(const FontStack& fonts, Weight weight, std::size_t index) {
  FT_Face face = fonts.native_face(weight, index);
  if (face == nullptr || face->units_per_EM == 0) return 1.36f;
  float height = static_cast<float>(face->ascender - face->descender);
  if (const auto* hhea = static_cast<const TT_HoriHeader*>(FT_Get_Sfnt_Table(face, FT_SFNT_HHEA)))
    height = static_cast<float>(hhea->Ascender - hhea->Descender);
  return height > 0 ? height / static_cast<float>(face->units_per_EM) : 1.36f;
}

}  // namespace

ScreenFonts::ScreenFonts(const FontStack& fonts) : fonts_(fonts) {
  for (char32_t c = 0x20; c < 0x7F; ++c) characters_.insert(c);
  for (char32_t c = 0xA0; c < 0x100; ++c) characters_.insert(c);
  add_characters(
      "\u2009\u202f\u2013\u2014\u2018\u2019\u201c\u201d\u2026\u2190\u2191\u2192\u2193\u00b5\u00d7\u2212\u2264\u2265"
      "\u221a\u2308\u2309\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b\u0394\u03b1\u03b2\u03c1"
      "\u00b1\u2248\ufffd");
}

void ScreenFonts::add_characters(std::string_view utf8) {
  for (std::size_t at = 0; at < utf8.size();) {
    const char32_t c = engine::next_codepoint(utf8, at);
    if (c >= 0x20 && c <= 0xFFFF && characters_.insert(c).second) stale_ = true;
  }
}

bool ScreenFonts::update(float em_px) {
  if (!asked_.empty()) {
    for (const char32_t c : asked_)
      if (fonts_.has_glyph(c) && characters_.insert(c).second) stale_ = true;
    asked_.clear();
  }
  const bool dynamic = compat::dynamic_glyphs();
  if (builds_ > 0 && (dynamic || (!stale_ && em_px == em_px_))) return false;
  em_px_ = em_px;
  rebuild();
  stale_ = false;
  return true;
}

void ScreenFonts::rebuild() {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  compat::clear_fonts(atlas);
  ranges_.clear();
  ranges_.reserve(kWeights.size() * 8);
  const bool dynamic = compat::dynamic_glyphs();
  for (std::size_t w = 0; w < kWeights.size(); ++w) {
    const auto& faces = fonts_.faces(kWeights[w]);
    // Which characters come from which face.
    std::vector<std::vector<ImWchar>*> of_face(faces.size(), nullptr);
    if (!dynamic) {
      for (std::size_t f = 0; f < faces.size(); ++f) of_face[f] = &ranges_.emplace_back();
      for (const char32_t c : characters_) {
        const std::size_t f = fonts_.glyph(c, kWeights[w]).face;
        if (f >= faces.size()) continue;
        auto& r = *of_face[f];
        const ImWchar wc = static_cast<ImWchar>(c);
        if (!r.empty() && r.back() + 1 == wc) {
          r.back() = wc;
        } else {
          r.push_back(wc);
          r.push_back(wc);
        }
      }
      for (auto* r : of_face) r->push_back(0);
    }
    entries_[w].clear();
    for (const float size : kScreenSizes) {
      if (dynamic && size != 1.0f) continue;
      std::vector<compat::FontPart> parts;
      float first_per_em = 0;
      for (std::size_t f = 0; f < faces.size(); ++f) {
        if (!dynamic && of_face[f]->size() < 3) continue;
        const float per_em = imgui_size_per_em(fonts_, kWeights[w], f);
        if (parts.empty()) first_per_em = per_em;
        parts.push_back({files_.try_emplace(faces[f].path, faces[f].path).first->second.bytes(), faces[f].index,
                         per_em * em_px_ * size, of_face[f]});
      }
      if (ImFont* font = compat::add_font(atlas, parts)) entries_[w].push_back({font, em_px_ * size, first_per_em});
    }
  }
  if (atlas.Fonts.Size == 0) atlas.AddFontDefault();
  compat::build_fonts(atlas);
  ++builds_;
}

ScreenFonts::Face ScreenFonts::face(float em_px, Weight weight) const {
  const auto& entries = entries_[weight == Weight::bold ? 1 : 0];
  if (entries.empty()) return {};
  const Entry* best = &entries.front();
  for (const Entry& e : entries)
    if (std::abs(e.em_px - em_px) < std::abs(best->em_px - em_px)) best = &e;
  const float size = best->per_em * em_px;
  return {best->font, size, size / compat::built_size(*best->font, size)};
}

compat::GlyphQuad ScreenFonts::find(char32_t c, const Face& face) {
  if (face.font == nullptr) return {};
  compat::GlyphQuad quad = compat::find_glyph(*face.font, face.size, c);
  if (quad.found || c < 0x20) return quad;
  asked_.insert(c);
  return compat::find_glyph(*face.font, face.size, U'\ufffd');
}

ScreenCanvas::ScreenCanvas(const FontStack& fonts, ScreenFonts& atlas)
    : Canvas(fonts, 15, {0, 0, 1, 1}), atlas_(atlas) {}

void ScreenCanvas::begin(ImDrawList* list, float em_px, const Rect& bounds) {
  list_ = list;
  list_->Flags |= ImDrawListFlags_AntiAliasedLines | ImDrawListFlags_AntiAliasedFill;
  list_->Flags &= ~ImDrawListFlags_AntiAliasedLinesUseTex;
  drawn_.clear();
  restart(em_px, bounds);
}

void ScreenCanvas::raw_stroke(std::span<const Point> points, bool closed, Colour colour, float width) {
  if (width < 1) {
    colour = faded(colour, width);
    width = 1;
  }
  if (!colour.visible() || points.empty() || !in_sight(points, clip_rect(), width + 1)) return;
  points_.clear();
  // Upright lines of about a pixel are moved onto the pixels, else they would smear over two at half strength.
  const bool thin = width < 1.75f;
  const auto on_pixel = [](float v) { return std::floor(v) + 0.5f; };
  if (thin) width = std::max(1.0f, std::round(width * 4) / 4);
  for (std::size_t i = 0; i < points.size(); ++i) {
    Point p = points[i];
    if (thin) {
      const std::size_t n = points.size();
      const auto straight = [&](std::size_t a, std::size_t b, bool x) {
        return x ? points[a].x == points[b].x : points[a].y == points[b].y;
      };
      const bool before = closed || i > 0, after = closed || i + 1 < n;
      const std::size_t prev = (i + n - 1) % n, next = (i + 1) % n;
      if ((before && straight(prev, i, true)) || (after && straight(i, next, true))) p.x = on_pixel(p.x);
      if ((before && straight(prev, i, false)) || (after && straight(i, next, false))) p.y = on_pixel(p.y);
    }
    points_.push_back({p.x, p.y});
  }
  compat::polyline(*list_, points_.data(), static_cast<int>(points_.size()), packed(colour), closed, width);
}

void ScreenCanvas::raw_fill(std::span<const Point> points, Colour colour) {
  if (!colour.visible() || points.size() < 3 || !in_sight(points, clip_rect(), 1)) return;
  points_.clear();
  for (const Point p : points) points_.push_back({p.x, p.y});
  list_->AddConvexPolyFilled(points_.data(), static_cast<int>(points_.size()), packed(colour));
}

// ImGui has glyphs as pictures, not as outlines: copies of the text all around it are its stroke.
void ScreenCanvas::raw_halo(Point at, std::string_view utf8, float em, Weight weight, Colour colour, float angle,
                            float reach) {
  constexpr int kCopies = 8;
  for (int i = 0; i < kCopies; ++i) {
    const float turn = 2 * std::numbers::pi_v<float> * static_cast<float>(i) / kCopies;
    raw_text(at + Point{std::cos(turn), std::sin(turn)} * reach, utf8, em, weight, colour, angle);
  }
}

void ScreenCanvas::raw_text(Point baseline, std::string_view utf8, float em, Weight weight, Colour colour,
                            float angle) {
  const FontStack& fonts = metrics();
  if (angle == 0 && (baseline.y + em < clip_rect().y || baseline.y - 2 * em > clip_rect().bottom())) return;
  // Where glyphs come on demand, asking for one may move the others in the atlas: ask for all, then place all.
  const ScreenFonts::Face face = atlas_.face(em, weight);
  if (compat::dynamic_glyphs())
    for (std::size_t at = 0; at < utf8.size();) atlas_.find(engine::next_codepoint(utf8, at), face);
  const float cosine = std::cos(angle), sine = std::sin(angle);
  const bool upright = angle == 0;
  const ImU32 ink = packed(colour);
  // Upright text stands on whole pixels vertically, which keeps horizontal stems sharp; the pen itself is not
  // rounded.
  const float y = upright ? std::round(baseline.y) : baseline.y;
  float pen = 0;
  for (std::size_t at = 0; at < utf8.size();) {
    const char32_t c = engine::next_codepoint(utf8, at);
    if (c < 0x20) continue;
    const compat::GlyphQuad glyph = atlas_.find(c, face);
    if (glyph.visible) {
      const float x0 = pen + glyph.x0 * face.scale, x1 = pen + glyph.x1 * face.scale;
      const float y0 = glyph.y0 * face.scale, y1 = glyph.y1 * face.scale;
      list_->PrimReserve(6, 4);
      if (upright) {
        list_->PrimRectUV({baseline.x + x0, y + y0}, {baseline.x + x1, y + y1}, {glyph.u0, glyph.v0},
                          {glyph.u1, glyph.v1}, ink);
      } else {
        const auto turned = [&](float px, float py) {
          return ImVec2{baseline.x + px * cosine - py * sine, y + px * sine + py * cosine};
        };
        list_->PrimQuadUV(turned(x0, y0), turned(x1, y0), turned(x1, y1), turned(x0, y1), {glyph.u0, glyph.v0},
                          {glyph.u1, glyph.v0}, {glyph.u1, glyph.v1}, {glyph.u0, glyph.v1}, ink);
      }
    }
    pen += fonts.advance(c, weight) * em;
  }
}

void ScreenCanvas::raw_push_clip(const Rect& r) { list_->PushClipRect({r.x, r.y}, {r.right(), r.bottom()}, false); }

void ScreenCanvas::raw_pop_clip() { list_->PopClipRect(); }

void ScreenCanvas::on_text(Point anchor, std::string_view utf8, const TextStyle& style, const Rect& clip) {
  if (audit_)
    drawn_.push_back(
        {std::string(utf8), text_bounds(anchor, utf8, style), clip, style.angle == 0 && !style.vertical});
}

}  // namespace roofscape::widgets
