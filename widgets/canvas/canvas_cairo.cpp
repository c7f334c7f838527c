#include "widgets/canvas/canvas_cairo.h"

#include <cairo-ft.h>
#include <cairo-pdf.h>
#include <cairo.h>

#include <array>
#include <cmath>

#include "engine/base/utf8.h"
#include "widgets/canvas/png_chunks.h"

namespace roofscape::widgets {
namespace {

// Cairo stamps PDFs with the time of day otherwise.
constexpr const char* kPdfDate = "2000-01-01T00:00:00Z";

const cairo_user_data_key_t kKeepAliveKey{};

void release_fonts(void* held) { delete static_cast<std::shared_ptr<const void>*>(held); }

cairo_status_t append(void* out, const unsigned char* data, unsigned int length) {
  static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

void set_colour(cairo_t* cr, Colour c) {
  cairo_set_source_rgba(cr, c.r / 255.0, c.g / 255.0, c.b / 255.0, c.a / 255.0);
}

// Adds a sub-path.
void trace(cairo_t* cr, std::span<const Point> points, bool closed) {
  cairo_new_sub_path(cr);
  for (const Point& p : points) cairo_line_to(cr, static_cast<double>(p.x), static_cast<double>(p.y));
  if (closed) cairo_close_path(cr);
}

}  // namespace

struct CairoCanvas::Impl {
  // Written to by Cairo until the surface is finished, so it must not move.
  std::string bytes;
  cairo_surface_t* surface = nullptr;
  cairo_t* cr = nullptr;
  bool raster = false;
  double pixels_per_metre = 0;
  PngText text;
  std::array<std::vector<cairo_font_face_t*>, 2> faces;  // by weight and place in the chain; null until used
  std::vector<cairo_glyph_t> glyphs;
  std::vector<cairo_text_cluster_t> clusters;
  // Opaque strokes of one look that follow one another (dashes, hatches) are one path: the same picture, a smaller
  // file.
  Colour pending_colour;
  float pending_width = 0;
  int pending = 0;

  void flush() {
    if (pending == 0) return;
    pending = 0;
    set_colour(cr, pending_colour);
    cairo_set_line_width(cr, static_cast<double>(pending_width));
    cairo_stroke(cr);
  }

  ~Impl() {
    if (cr) cairo_destroy(cr);
    for (auto& chain : faces)
      for (cairo_font_face_t* face : chain)
        if (face) cairo_font_face_destroy(face);
    if (surface) cairo_surface_destroy(surface);
  }

  void begin() {
    cr = cairo_create(surface);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_MITER);
    cairo_set_line_cap(cr, CAIRO_LINE_CAP_BUTT);
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_GOOD);
    cairo_font_options_t* options = cairo_font_options_create();
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_set_font_options(cr, options);
    cairo_font_options_destroy(options);
  }

  cairo_font_face_t* face(const FontStack& fonts, Weight weight, std::size_t index) {
    auto& chain = faces[static_cast<std::size_t>(weight)];
    if (index >= chain.size()) chain.resize(index + 1);
    if (!chain[index]) {
      FT_Face native = fonts.native_face(weight, index);
      if (!native) return nullptr;
      chain[index] = cairo_ft_font_face_create_for_ft_face(native, FT_LOAD_NO_HINTING | FT_LOAD_NO_BITMAP);
      // Cairo keeps faces in caches of its own after the surface is gone; the FreeType faces must live as long.
      auto* held = new std::shared_ptr<const void>(fonts.keep_alive());
      if (cairo_font_face_set_user_data(chain[index], &kKeepAliveKey, held, release_fonts) != CAIRO_STATUS_SUCCESS)
        delete held;
    }
    return chain[index];
  }
};

CairoCanvas::CairoCanvas(const FontStack& fonts, float em, const Rect& bounds, std::unique_ptr<Impl> impl)
    : Canvas(fonts, em, bounds), impl_(std::move(impl)) {}
CairoCanvas::~CairoCanvas() = default;

std::unique_ptr<CairoCanvas> CairoCanvas::pdf(const FontStack& fonts, float em, float width, float height,
                                              const PdfOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->surface = cairo_pdf_surface_create_for_stream(append, &impl->bytes, static_cast<double>(width),
                                                      static_cast<double>(height));
  // Newer versions pack what a file says of itself, and some publishers take no newer ones.
  cairo_pdf_surface_restrict_to_version(impl->surface, CAIRO_PDF_VERSION_1_4);
  cairo_pdf_surface_set_metadata(impl->surface, CAIRO_PDF_METADATA_CREATE_DATE, kPdfDate);
  if (!options.title.empty())
    cairo_pdf_surface_set_metadata(impl->surface, CAIRO_PDF_METADATA_TITLE, options.title.c_str());
  if (!options.keywords.empty())
    cairo_pdf_surface_set_metadata(impl->surface, CAIRO_PDF_METADATA_KEYWORDS, options.keywords.c_str());
  if (!options.author.empty())
    cairo_pdf_surface_set_metadata(impl->surface, CAIRO_PDF_METADATA_AUTHOR, options.author.c_str());
  impl->begin();
  return std::unique_ptr<CairoCanvas>(new CairoCanvas(fonts, em, {0, 0, width, height}, std::move(impl)));
}

std::unique_ptr<CairoCanvas> CairoCanvas::png(const FontStack& fonts, float em, float width, float height,
                                              double scale, Colour ground, PngText text) {
  constexpr double kPointsPerMetre = 72 / 0.0254;
  auto impl = std::make_unique<Impl>();
  impl->raster = true;
  impl->pixels_per_metre = scale * kPointsPerMetre;
  impl->text = std::move(text);
  constexpr double kRounding = 1e-3;  // of a length that was whole pixels before it was points
  const auto pixels = [scale](float v) {
    const double n = std::ceil(static_cast<double>(v) * scale - kRounding);
    return n >= 1 && n < 32768 ? static_cast<int>(n) : -1;  // -1: Cairo answers with an error surface
  };
  impl->surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, pixels(width), pixels(height));
  impl->begin();
  set_colour(impl->cr, ground);
  cairo_paint(impl->cr);
  cairo_scale(impl->cr, scale, scale);
  return std::unique_ptr<CairoCanvas>(new CairoCanvas(fonts, em, {0, 0, width, height}, std::move(impl)));
}

std::string CairoCanvas::finish() {
  impl_->flush();
  cairo_status_t status = cairo_status(impl_->cr);
  // A PNG must be written before the surface is finished, a PDF is only complete after.
  if (status == CAIRO_STATUS_SUCCESS && impl_->raster)
    status = cairo_surface_write_to_png_stream(impl_->surface, append, &impl_->bytes);
  if (!impl_->raster) cairo_show_page(impl_->cr);
  cairo_surface_finish(impl_->surface);
  if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(impl_->surface);
  if (status != CAIRO_STATUS_SUCCESS) {
    error_ = cairo_status_to_string(status);
    return {};
  }
  if (!impl_->raster) return std::move(impl_->bytes);
  return with_png_chunks(std::move(impl_->bytes), impl_->pixels_per_metre, impl_->text.keyword, impl_->text.text);
}

void CairoCanvas::raw_stroke(std::span<const Point> points, bool closed, Colour colour, float width) {
  constexpr int kMostTogether = 256;  // Cairo's time for one path grows faster than its length
  if (impl_->pending > 0 &&
      (colour != impl_->pending_colour || width != impl_->pending_width || impl_->pending >= kMostTogether))
    impl_->flush();
  trace(impl_->cr, points, closed);
  impl_->pending_colour = colour;
  impl_->pending_width = width;
  ++impl_->pending;
  // Where translucent strokes cross they add up, which one path would not do.
  if (colour.a != 255) impl_->flush();
}

void CairoCanvas::raw_fill(std::span<const Point> points, Colour colour) {
  impl_->flush();
  trace(impl_->cr, points, true);
  set_colour(impl_->cr, colour);
  cairo_fill(impl_->cr);
}

// Calls `draw` with each run of glyphs of one face, which `impl_` then holds, and the text they stand for. Clusters tie
// glyphs to bytes, so that text in a PDF can be searched and copied.
template <class Draw>
void CairoCanvas::for_each_run(Point at, std::string_view utf8, float em, Weight weight, float angle, Draw&& draw) {
  impl_->flush();
  cairo_t* cr = impl_->cr;
  cairo_save(cr);
  cairo_translate(cr, static_cast<double>(at.x), static_cast<double>(at.y));
  if (angle != 0) cairo_rotate(cr, static_cast<double>(angle));
  double pen = 0;
  for (std::size_t i = 0; i < utf8.size();) {
    impl_->glyphs.clear();
    impl_->clusters.clear();
    std::string text;
    std::uint16_t face = 0;
    while (i < utf8.size()) {
      std::size_t next = i;
      const char32_t c = engine::next_codepoint(utf8, next);
      const GlyphChoice& g = metrics().glyph(c, weight);
      if (impl_->glyphs.empty())
        face = g.face;
      else if (g.face != face)
        break;
      if (c >= 0x20 && !(c >= 0x7F && c < 0xA0)) {
        const std::string_view bytes = c == 0xFFFD ? std::string_view("\uFFFD") : utf8.substr(i, next - i);
        impl_->glyphs.push_back({g.glyph, pen, 0});
        impl_->clusters.push_back({static_cast<int>(bytes.size()), 1});
        text += bytes;
        pen += static_cast<double>(g.advance) * static_cast<double>(em);
      }
      i = next;
    }
    cairo_font_face_t* font = impl_->face(metrics(), weight, face);
    if (!font || impl_->glyphs.empty()) continue;
    cairo_set_font_face(cr, font);
    cairo_set_font_size(cr, static_cast<double>(em));
    draw(cr, text);
  }
  cairo_restore(cr);
}

void CairoCanvas::raw_halo(Point at, std::string_view utf8, float em, Weight weight, Colour colour, float angle,
                           float reach) {
  for_each_run(at, utf8, em, weight, angle, [&](cairo_t* cr, const std::string&) {
    cairo_new_path(cr);
    cairo_glyph_path(cr, impl_->glyphs.data(), static_cast<int>(impl_->glyphs.size()));
    set_colour(cr, colour);
    cairo_set_line_width(cr, 2 * static_cast<double>(reach));
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke(cr);
  });
}

void CairoCanvas::raw_text(Point at, std::string_view utf8, float em, Weight weight, Colour colour, float angle) {
  for_each_run(at, utf8, em, weight, angle, [&](cairo_t* cr, const std::string& text) {
    set_colour(cr, colour);
    cairo_show_text_glyphs(cr, text.data(), static_cast<int>(text.size()), impl_->glyphs.data(),
                           static_cast<int>(impl_->glyphs.size()), impl_->clusters.data(),
                           static_cast<int>(impl_->clusters.size()), static_cast<cairo_text_cluster_flags_t>(0));
  });
}

double CairoCanvas::measured_width(std::string_view utf8, float em, Weight weight) {
  double total = 0;
  for (std::size_t i = 0; i < utf8.size();) {
    const GlyphChoice g = metrics().glyph(engine::next_codepoint(utf8, i), weight);
    cairo_font_face_t* font = impl_->face(metrics(), weight, g.face);
    if (!font) continue;
    cairo_set_font_face(impl_->cr, font);
    cairo_set_font_size(impl_->cr, static_cast<double>(em));
    const cairo_glyph_t glyph{g.glyph, 0, 0};
    cairo_text_extents_t extents;
    cairo_glyph_extents(impl_->cr, &glyph, 1, &extents);
    total += extents.x_advance;
  }
  return total;
}

void CairoCanvas::raw_push_clip(const Rect& r) {
  impl_->flush();
  cairo_save(impl_->cr);
  cairo_rectangle(impl_->cr, static_cast<double>(r.x), static_cast<double>(r.y), static_cast<double>(r.w),
                  static_cast<double>(r.h));
  cairo_clip(impl_->cr);
}

void CairoCanvas::raw_pop_clip() {
  impl_->flush();
  cairo_restore(impl_->cr);
}

}  // namespace roofscape::widgets
