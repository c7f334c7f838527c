#include "widgets/canvas/font_stack.h"

#include <fontconfig/fontconfig.h>
#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_ADVANCES_H
#include FT_TRUETYPE_TABLES_H

#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

#include "engine/base/utf8.h"

namespace roofscape::widgets {
namespace {

constexpr std::size_t kWeights = 2;
constexpr char32_t kDirectGlyphs = 0x600;  // Latin, Greek and Cyrillic are looked up in a plain array
constexpr float kGuessedAdvance = 0.6f;    // with no font on the machine at all

std::string package_of(std::string_view family) {
  return family.find("CJK") != std::string_view::npos ? "fonts-noto-cjk" : "fonts-noto-core";
}

struct Found {
  FontFace face;
  bool exact = false;
};

// fontconfig always answers with something; whether it is what was asked for shows only in the family names it
// returns.
Found find_face(const std::string& family, Weight weight) {
  Found found;
  found.face.family = family;
  FcPattern* wanted = FcPatternCreate();
  FcPatternAddString(wanted, FC_FAMILY, reinterpret_cast<const FcChar8*>(family.c_str()));
  FcPatternAddInteger(wanted, FC_WEIGHT, weight == Weight::bold ? FC_WEIGHT_BOLD : FC_WEIGHT_REGULAR);
  FcPatternAddInteger(wanted, FC_SLANT, FC_SLANT_ROMAN);
  FcPatternAddInteger(wanted, FC_WIDTH, FC_WIDTH_NORMAL);
  FcPatternAddBool(wanted, FC_SCALABLE, FcTrue);
  FcConfigSubstitute(nullptr, wanted, FcMatchPattern);
  FcDefaultSubstitute(wanted);
  FcResult result = FcResultNoMatch;
  if (FcPattern* match = FcFontMatch(nullptr, wanted, &result)) {
    FcChar8* text = nullptr;
    if (FcPatternGetString(match, FC_FILE, 0, &text) == FcResultMatch)
      found.face.path = reinterpret_cast<const char*>(text);
    FcPatternGetInteger(match, FC_INDEX, 0, &found.face.index);
    for (int i = 0; FcPatternGetString(match, FC_FAMILY, i, &text) == FcResultMatch; ++i)
      found.exact = found.exact || family == reinterpret_cast<const char*>(text);
    FcPatternDestroy(match);
  }
  FcPatternDestroy(wanted);
  return found;
}

struct Metrics {
  float ascent = 1.069f, descent = 0.293f, cap_height = 0.714f, x_height = 0.536f;
};

}  // namespace

struct FontStack::Impl {
  struct Chain {
    std::vector<FontFace> faces;
    std::vector<FT_Face> opened;  // null until needed: most texts never touch the large CJK file
    std::vector<bool> tried;
    Metrics metrics;
    std::array<GlyphChoice, kDirectGlyphs> direct{};
    std::array<bool, kDirectGlyphs> direct_known{};
    std::unordered_map<char32_t, GlyphChoice> other;
  };

  FT_Library library = nullptr;
  std::array<Chain, kWeights> chains;
  std::vector<MissingFont> missing;
  std::optional<GlyphChoice> every;  // the one glyph of a monospaced stack

  explicit Impl(const GlyphChoice& one) : every(one) {}
  explicit Impl(const std::vector<std::string>& families) {
    if (FT_Init_FreeType(&library) != 0) library = nullptr;
    FcInit();
    for (std::size_t w = 0; w < kWeights; ++w) {
      Chain& chain = chains[w];
      for (const std::string& family : families) {
        const Found found = find_face(family, static_cast<Weight>(w));
        if (!found.exact && w == 0) missing.push_back({family, package_of(family), found.face.path});
        if (!found.face.path.empty()) chain.faces.push_back(found.face);
      }
      chain.opened.resize(chain.faces.size());
      chain.tried.resize(chain.faces.size());
      read_metrics(chain);
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    for (Chain& chain : chains)
      for (FT_Face face : chain.opened)
        if (face) FT_Done_Face(face);
    if (library) FT_Done_FreeType(library);
  }

  FT_Face open(Chain& chain, std::size_t i) const {
    if (i >= chain.faces.size()) return nullptr;
    if (!chain.tried[i]) {
      chain.tried[i] = true;
      FT_Face face = nullptr;
      if (library && FT_New_Face(library, chain.faces[i].path.c_str(), chain.faces[i].index, &face) == 0)
        chain.opened[i] = face;
    }
    return chain.opened[i];
  }

  void read_metrics(Chain& chain) const {
    const FT_Face face = open(chain, 0);
    if (!face || face->units_per_EM == 0) return;
    const float em = face->units_per_EM;
    chain.metrics.ascent = static_cast<float>(face->ascender) / em;
    chain.metrics.descent = -static_cast<float>(face->descender) / em;
    if (const auto* os2 = static_cast<const TT_OS2*>(FT_Get_Sfnt_Table(face, FT_SFNT_OS2));
        os2 && os2->version >= 2) {
      if (os2->sCapHeight > 0) chain.metrics.cap_height = static_cast<float>(os2->sCapHeight) / em;
      if (os2->sxHeight > 0) chain.metrics.x_height = static_cast<float>(os2->sxHeight) / em;
    }
  }

  GlyphChoice choose(Chain& chain, char32_t c) const {
    GlyphChoice choice;
    for (std::size_t i = 0; i < chain.faces.size(); ++i) {
      const FT_Face face = open(chain, i);
      if (!face) continue;
      if (const FT_UInt glyph = FT_Get_Char_Index(face, c); glyph != 0) {
        choice.glyph = glyph;
        choice.face = static_cast<std::uint16_t>(i);
        break;
      }
    }
    FT_Fixed advance = 0;
    const FT_Face face = open(chain, choice.face);
    // In font units: scaling to a pixel size would round, and layout must not depend on the size of the text.
    if (face && face->units_per_EM != 0 && FT_Get_Advance(face, choice.glyph, FT_LOAD_NO_SCALE, &advance) == 0)
      choice.advance = static_cast<float>(advance) / static_cast<float>(face->units_per_EM);
    else
      choice.advance = kGuessedAdvance;
    if (c < 0x20 || (c >= 0x7F && c < 0xA0)) choice.advance = 0;
    return choice;
  }

  const GlyphChoice& glyph(char32_t c, Weight weight) {
    if (every) return *every;
    Chain& chain = chains[static_cast<std::size_t>(weight)];
    if (c < kDirectGlyphs) {
      if (!chain.direct_known[c]) {
        chain.direct[c] = choose(chain, c);
        chain.direct_known[c] = true;
      }
      return chain.direct[c];
    }
    const auto [it, fresh] = chain.other.try_emplace(c);
    if (fresh) it->second = choose(chain, c);
    return it->second;
  }
};

std::vector<std::string> FontStack::default_families() { return {"Noto Sans", "Noto Sans Math", "Noto Sans CJK KR"}; }
FontStack::FontStack() : FontStack(default_families()) {}
FontStack::FontStack(const std::vector<std::string>& families) : impl_(std::make_shared<Impl>(families)) {}
FontStack::FontStack(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
FontStack FontStack::monospaced(float advance) {
  return FontStack(std::make_shared<Impl>(GlyphChoice{.glyph = 1, .face = 0, .advance = advance}));
}
FontStack::~FontStack() = default;
FontStack::FontStack(FontStack&&) noexcept = default;
FontStack& FontStack::operator=(FontStack&&) noexcept = default;

const GlyphChoice& FontStack::glyph(char32_t c, Weight weight) const { return impl_->glyph(c, weight); }

float FontStack::width(std::string_view utf8, float em, Weight weight) const {
  // Summed in double: a long line would otherwise drift from what the destinations add up.
  double total = 0;
  for (std::size_t at = 0; at < utf8.size();) total += impl_->glyph(engine::next_codepoint(utf8, at), weight).advance;
  return static_cast<float>(total * em);
}

std::string_view FontStack::fit(std::string_view utf8, float em, float room, Weight weight) const {
  double total = 0;
  std::size_t kept = 0;
  for (std::size_t at = 0; at < utf8.size(); kept = at) {
    total += impl_->glyph(engine::next_codepoint(utf8, at), weight).advance;
    if (total * em > room) break;
  }
  return utf8.substr(0, kept);
}

float FontStack::ascent(Weight w) const { return impl_->chains[static_cast<std::size_t>(w)].metrics.ascent; }
float FontStack::descent(Weight w) const { return impl_->chains[static_cast<std::size_t>(w)].metrics.descent; }
float FontStack::cap_height(Weight w) const { return impl_->chains[static_cast<std::size_t>(w)].metrics.cap_height; }
float FontStack::x_height(Weight w) const { return impl_->chains[static_cast<std::size_t>(w)].metrics.x_height; }

const std::vector<FontFace>& FontStack::faces(Weight weight) const {
  return impl_->chains[static_cast<std::size_t>(weight)].faces;
}

FT_FaceRec_* FontStack::native_face(Weight weight, std::size_t index) const {
  return impl_->open(impl_->chains[static_cast<std::size_t>(weight)], index);
}

std::shared_ptr<const void> FontStack::keep_alive() const { return impl_; }
const std::vector<MissingFont>& FontStack::missing() const { return impl_->missing; }

}  // namespace roofscape::widgets
