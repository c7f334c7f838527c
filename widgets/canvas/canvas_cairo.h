// CairoCanvas: figures as PDF and PNG. Hinting is off and glyphs come from the very files the layout was measured
// with, so a figure is the same as on the screen. The same drawing gives the same bytes: PDF dates are fixed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "widgets/canvas/canvas.h"

namespace roofscape::widgets {

struct PdfOptions {
  std::string title, author;
  std::string keywords = {};  // of the document's metadata
};
struct PngText {
  std::string keyword, text;  // an empty text is left out
};

class CairoCanvas final : public Canvas {
 public:
  // Width and height in points. A PDF is kept in memory until finish().
  static std::unique_ptr<CairoCanvas> pdf(const FontStack& fonts, float em, float width, float height,
                                          const PdfOptions& options = {});
  // `scale` pixels per point, which the file says as its resolution; `ground` is painted first (transparent is
  // allowed).
  static std::unique_ptr<CairoCanvas> png(const FontStack& fonts, float em, float width, float height, double scale,
                                          Colour ground, PngText text = {});
  ~CairoCanvas() override;

  // The bytes of the file; call once. Empty, with error() set, if Cairo failed (no memory, an absurd size).
  std::string finish();
  const std::string& error() const { return error_; }

  // The width Cairo itself measures for a text, for the test that layout and export agree.
  double measured_width(std::string_view utf8, float em, Weight weight);

 private:
  struct Impl;
  CairoCanvas(const FontStack& fonts, float em, const Rect& bounds, std::unique_ptr<Impl> impl);
  void raw_stroke(std::span<const Point> points, bool closed, Colour colour, float width) override;
  void raw_fill(std::span<const Point> points, Colour colour) override;
  void raw_halo(Point baseline, std::string_view utf8, float em, Weight weight, Colour colour, float angle,
                float reach) override;
  void raw_text(Point baseline, std::string_view utf8, float em, Weight weight, Colour colour, float angle) override;
  void raw_push_clip(const Rect& r) override;
  void raw_pop_clip() override;
  template <class Draw>
  void for_each_run(Point at, std::string_view utf8, float em, Weight weight, float angle, Draw&& draw);

  std::unique_ptr<Impl> impl_;
  std::string error_;
};

}  // namespace roofscape::widgets
