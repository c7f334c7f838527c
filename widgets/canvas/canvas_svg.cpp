#include "widgets/canvas/canvas_svg.h"

#include <iterator>
#include <numbers>

#include <fmt/format.h>

#include "engine/base/utf8.h"
#include "widgets/canvas/glyph_outlines.h"

namespace roofscape::widgets {
namespace {

void put(std::string& out, float v) { append_coordinate(out, v); }

void put_paint(std::string& out, const char* property, Colour c) {
  fmt::format_to(std::back_inserter(out), " {}=\"{}\"", property, to_hex(c));
  if (c.a != 255) fmt::format_to(std::back_inserter(out), " {}-opacity=\"{:.3g}\"", property, c.a / 255.0);
}

void put_attribute(std::string& out, const char* name, float v) {
  fmt::format_to(std::back_inserter(out), " {}=\"", name);
  put(out, v);
  out += '"';
}

void put_rect(std::string& out, const Rect& r) {
  put_attribute(out, "x", r.x);
  put_attribute(out, "y", r.y);
  put_attribute(out, "width", r.w);
  put_attribute(out, "height", r.h);
}

}  // namespace

std::string xml_escaped(std::string_view utf8) {
  std::string out;
  out.reserve(utf8.size());
  for (std::size_t at = 0; at < utf8.size();) {
    const char32_t c = engine::next_codepoint(utf8, at);
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        // XML 1.0 allows no control characters but these three, and neither of the two non-characters.
        engine::append_utf8(
            out, (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0xFFFE || c == 0xFFFF ? 0xFFFD : c);
    }
  }
  return out;
}

SvgCanvas::SvgCanvas(const FontStack& fonts, float em, float width, float height, SvgOptions options)
    : Canvas(fonts, em, {0, 0, width, height}), options_(std::move(options)) {
  if (!options_.tooltips) set_tagging(Tagging::none);
}

void SvgCanvas::path(std::span<const Point> points, bool closed) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    body_ += i == 0 ? 'M' : 'L';
    put(body_, points[i].x);
    body_ += ' ';
    put(body_, points[i].y);
  }
  if (closed) body_ += 'Z';
}

void SvgCanvas::flush() {
  if (!pending_) return;
  pending_ = false;
  body_ += "\" fill=\"none\"";
  put_paint(body_, "stroke", pending_colour_);
  put_attribute(body_, "stroke-width", pending_width_);
  body_ += "/>\n";
}

void SvgCanvas::raw_stroke(std::span<const Point> points, bool closed, Colour colour, float width) {
  if (colour != pending_colour_ || width != pending_width_) flush();
  if (!pending_) body_ += "<path d=\"";
  path(points, closed);
  pending_ = true;
  pending_colour_ = colour;
  pending_width_ = width;
  // Where translucent strokes cross they add up, which one path would not do.
  if (colour.a != 255) flush();
}

void SvgCanvas::raw_fill(std::span<const Point> points, Colour colour) {
  flush();
  body_ += "<path d=\"";
  path(points, true);
  body_ += '"';
  put_paint(body_, "fill", colour);
  body_ += "/>\n";
}

// As outlines below the text: a stroke of the text itself would be drawn over its fill by readers that do not know
// paint-order, office programs among them.
void SvgCanvas::raw_halo(Point at, std::string_view utf8, float em, Weight weight, Colour colour, float angle,
                         float reach) {
  flush();
  body_ += "<path d=\"";
  append_outlines(body_, metrics(), at, utf8, em, weight, angle);
  body_ += "\" fill=\"none\"";
  put_paint(body_, "stroke", colour);
  put_attribute(body_, "stroke-width", 2 * reach);
  body_ += " stroke-linejoin=\"round\" aria-hidden=\"true\"/>\n";
}

void SvgCanvas::raw_text(Point at, std::string_view utf8, float em, Weight weight, Colour colour, float angle) {
  flush();
  if (options_.text == SvgText::outlines) {
    body_ += "<path d=\"";
    append_outlines(body_, metrics(), at, utf8, em, weight, angle);
    body_ += '"';
    put_paint(body_, "fill", colour);
    fmt::format_to(std::back_inserter(body_), " aria-label=\"{}\"/>\n", xml_escaped(utf8));
    return;
  }
  body_ += "<text";
  put_attribute(body_, "x", at.x);
  put_attribute(body_, "y", at.y);
  put_attribute(body_, "font-size", em);
  if (weight == Weight::bold) body_ += " font-weight=\"700\"";
  put_paint(body_, "fill", colour);
  put_attribute(body_, "textLength", metrics().width(utf8, em, weight));
  if (angle != 0) {
    body_ += " transform=\"rotate(";
    put(body_, angle * 180 / std::numbers::pi_v<float>);
    body_ += ' ';
    put(body_, at.x);
    body_ += ' ';
    put(body_, at.y);
    body_ += ")\"";
  }
  fmt::format_to(std::back_inserter(body_), ">{}</text>\n", xml_escaped(utf8));
}

void SvgCanvas::raw_push_clip(const Rect& r) {
  flush();
  fmt::format_to(std::back_inserter(clips_), "<clipPath id=\"{}clip{}\"><rect", options_.prefix, ++clip_count_);
  put_rect(clips_, r);
  clips_ += "/></clipPath>\n";
  fmt::format_to(std::back_inserter(body_), "<g clip-path=\"url(#{}clip{})\">\n", options_.prefix, clip_count_);
  ++open_groups_;
}

void SvgCanvas::raw_pop_clip() {
  flush();
  body_ += "</g>\n";
  --open_groups_;
}

// As an id of XML: letters, digits, ".", "-" and "_", and a number behind what stands a second time.
std::string SvgCanvas::unique_id(std::string_view id) {
  std::string out;
  for (const char c : id) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
                       c == '-' || c == '_';
    out += plain ? c : '-';
  }
  const int before = ids_[out]++;
  return options_.prefix + (before == 0 ? out : fmt::format("{}-{}", out, before + 1));
}

void SvgCanvas::on_group(std::string_view id, int index) {
  flush();
  fmt::format_to(std::back_inserter(body_), "<g id=\"{}\">\n",
                 unique_id(index < 0 ? std::string(id) : fmt::format("{}-{}", id, index)));
  ++open_groups_;
}

void SvgCanvas::on_group_end() { raw_pop_clip(); }

std::string SvgCanvas::finish() {
  flush();
  const Rect size = bounds();
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"";
  put(out, size.w);
  out += "pt\" height=\"";
  put(out, size.h);
  out += "pt\" viewBox=\"0 0 ";
  put(out, size.w);
  out += ' ';
  put(out, size.h);
  out += "\" font-family=\"";
  const std::vector<FontFace>& faces = metrics().faces();
  for (const FontFace& face : faces) out += fmt::format("'{}', ", xml_escaped(face.family));
  out += "sans-serif\" stroke-linejoin=\"miter\" xml:space=\"preserve\" role=\"img\">\n";
  if (!options_.title.empty()) out += fmt::format("<title>{}</title>\n", xml_escaped(options_.title));
  if (!options_.description.empty()) out += fmt::format("<desc>{}</desc>\n", xml_escaped(options_.description));
  if (!options_.metadata.empty())
    out += fmt::format("<metadata id=\"{}\">{}</metadata>\n", options_.keyword, xml_escaped(options_.metadata));
  if (!clips_.empty()) out += fmt::format("<defs>\n{}</defs>\n", clips_);
  out += body_;
  for (int i = 0; i < open_groups_; ++i) out += "</g>\n";
  if (options_.tooltips && !tags().empty()) {
    // Last, so that they lie on top and their titles show when pointed at.
    out += "<g id=\"" + options_.prefix + "tooltips\" fill=\"none\" pointer-events=\"all\">\n";
    for (const TagRegion& t : tags()) {
      out += fmt::format("<rect id=\"{}\" data-tag=\"{}\"",
                         unique_id(t.index < 0 ? "tag-" + t.id : fmt::format("tag-{}-{}", t.id, t.index)),
                         xml_escaped(t.id));
      put_rect(out, t.rect);
      if (t.readout.empty()) {
        out += "/>\n";
        continue;
      }
      std::string words = t.readout.title;
      for (const auto& row : t.readout.rows) words += fmt::format("\n{}: {}", row.first, row.second);
      out += fmt::format("><title>{}</title></rect>\n", xml_escaped(words));
    }
    out += "</g>\n";
  }
  return out + "</svg>\n";
}

}  // namespace roofscape::widgets
