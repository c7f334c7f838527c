#include "widgets/canvas/canvas_record.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "engine/base/utf8.h"

namespace roofscape::widgets {
namespace {

// Rounded so that two compilers agree, and without a minus before zero.
std::string number(float v) {
  const double r = std::round(static_cast<double>(v) * 100) / 100;
  return fmt::format("{:.10g}", r == 0 ? 0.0 : r);
}

std::string colour_text(Colour c) { return c.a == 255 ? to_hex(c) : fmt::format("{}{:02X}", to_hex(c), c.a); }

// Two convex outlines overlap by more than `slack` unless some edge's normal parts them.
bool overlap(const std::array<Point, 4>& a, const std::array<Point, 4>& b, float slack) {
  for (const auto* shape : {&a, &b})
    for (std::size_t i = 0; i < 4; ++i) {
      const Point e = (*shape)[(i + 1) % 4] - (*shape)[i];
      const float length = std::hypot(e.x, e.y);
      if (length <= 0) continue;
      const Point n{e.y / length, -e.x / length};
      float a_low = std::numeric_limits<float>::max(), a_high = -a_low, b_low = a_low, b_high = -a_low;
      for (std::size_t k = 0; k < 4; ++k) {
        const float pa = a[k].x * n.x + a[k].y * n.y, pb = b[k].x * n.x + b[k].y * n.y;
        a_low = std::min(a_low, pa);
        a_high = std::max(a_high, pa);
        b_low = std::min(b_low, pb);
        b_high = std::max(b_high, pb);
      }
      if (std::min(a_high, b_high) - std::max(a_low, b_low) <= slack) return false;
    }
  return true;
}

Rect box_around(std::span<const Point> points) {
  Rect box{points.front().x, points.front().y, 0, 0};
  for (const Point& p : points)
    box = rect_between(std::min(box.x, p.x), std::min(box.y, p.y), std::max(box.right(), p.x),
                       std::max(box.bottom(), p.y));
  return box;
}

}  // namespace

void RecordCanvas::raw_stroke(std::span<const Point> points, bool closed, Colour colour, float width) {
  primitives_.push_back({Primitive::Kind::stroke,
                         {points.begin(), points.end()},
                         colour,
                         width,
                         closed,
                         0,
                         Weight::regular,
                         {},
                         group_id()});
}

void RecordCanvas::raw_fill(std::span<const Point> points, Colour colour) {
  primitives_.push_back(
      {Primitive::Kind::fill, {points.begin(), points.end()}, colour, 0, true, 0, Weight::regular, {}, group_id()});
}

void RecordCanvas::raw_text(Point baseline, std::string_view utf8, float em, Weight weight, Colour colour,
                            float angle) {
  primitives_.push_back(
      {Primitive::Kind::text, {baseline}, colour, em, false, angle, weight, std::string(utf8), group_id()});
}

void RecordCanvas::raw_push_clip(const Rect& r) {
  clips_.push_back(clips_.empty() ? r : intersection(clips_.back(), r));
  primitives_.push_back({Primitive::Kind::push_clip,
                         {{r.x, r.y}, {r.right(), r.bottom()}},
                         kTransparent,
                         0,
                         false,
                         0,
                         Weight::regular,
                         {},
                         group_id()});
}

void RecordCanvas::raw_pop_clip() {
  if (!clips_.empty()) clips_.pop_back();
  primitives_.push_back({Primitive::Kind::pop_clip, {}, kTransparent, 0, false, 0, Weight::regular, {}, group_id()});
}

void RecordCanvas::on_text(Point anchor, std::string_view utf8, const TextStyle& style, const Rect& clip) {
  TextRun run{std::string(utf8), anchor, style, text_bounds(anchor, utf8, style), {}, clip};
  if (run.style.em <= 0) run.style.em = em();
  // Corners of the capitals' box: the pen is where a baseline-aligned text with the same alignment starts.
  const float up = metrics().cap_height(style.weight) * run.style.em,
              ascent = metrics().ascent(style.weight) * run.style.em;
  const float down = metrics().descent(style.weight) * run.style.em, width = text_width(utf8, style);
  const float angle = style.vertical ? -1.57079633f : style.angle;
  const Point along{std::cos(angle), std::sin(angle)}, below{-along.y, along.x};
  float shift_x = style.halign == HAlign::left ? 0 : style.halign == HAlign::centre ? -width / 2 : -width;
  float shift_y = 0;
  if (style.valign == VAlign::top) shift_y = ascent;
  if (style.valign == VAlign::middle) shift_y = up / 2;
  if (style.valign == VAlign::bottom) shift_y = -down;
  const Point pen = anchor + along * shift_x + below * shift_y;
  run.order = primitives_.size();
  run.group = group_id();
  run.corners = {pen - below * up, pen + along * width - below * up, pen + along * width, pen};
  texts_.push_back(std::move(run));
}

void RecordCanvas::on_line(std::span<const Point> points, const Stroke& stroke, bool arrow) {
  marks_.push_back({Mark::Kind::line,
                    {points.begin(), points.end()},
                    box_around(points).inset(-stroke.width / 2),
                    group_id(),
                    texts_.size(),
                    stroke.width,
                    stroke.colour,
                    clips_.empty() ? bounds() : clips_.back(),
                    primitives_.size(),
                    arrow});
}

void RecordCanvas::on_marker(Point centre, Marker, float size, const Fill&) {
  marks_.push_back({Mark::Kind::marker,
                    {centre},
                    {centre.x - size / 2, centre.y - size / 2, size, size},
                    group_id(),
                    texts_.size(),
                    0,
                    kTransparent,
                    {},
                    primitives_.size()});
}

void RecordCanvas::on_group(std::string_view id, int) { groups_.emplace_back(id); }

std::size_t RecordCanvas::count(Primitive::Kind kind) const {
  std::size_t n = 0;
  for (const Primitive& p : primitives_) n += p.kind == kind;
  return n;
}

const TextRun* RecordCanvas::find_text(std::string_view text) const {
  for (const TextRun& run : texts_)
    if (run.text == text) return &run;
  return nullptr;
}

std::size_t RecordCanvas::count_tags(std::string_view id) const {
  std::size_t n = 0;
  for (const TagRegion& t : tags()) n += t.id == id;
  return n;
}

const TagRegion* RecordCanvas::find_tag(std::string_view id, int index) const {
  for (const TagRegion& t : tags())
    if (t.id == id && (index < 0 || t.index == index)) return &t;
  return nullptr;
}

std::string RecordCanvas::to_text() const {
  std::string out;
  for (const Primitive& p : primitives_) {
    constexpr const char* kNames[] = {"stroke", "fill", "text", "clip", "end"};
    out += kNames[static_cast<std::size_t>(p.kind)];
    if (p.kind == Primitive::Kind::stroke)
      out += fmt::format(" {} {}{}", colour_text(p.colour), number(p.width), p.closed ? " closed" : "");
    if (p.kind == Primitive::Kind::fill) out += fmt::format(" {}", colour_text(p.colour));
    if (p.kind == Primitive::Kind::text)
      out +=
          fmt::format(" {} {}{}{}", colour_text(p.colour), number(p.width), p.weight == Weight::bold ? " bold" : "",
                      p.angle != 0 ? fmt::format(" at {}", number(p.angle)) : "");
    for (const Point& q : p.points) out += fmt::format(" {},{}", number(q.x), number(q.y));
    if (p.kind == Primitive::Kind::text) out += fmt::format(" \"{}\"", p.text);
    out += "\n";
  }
  for (const TagRegion& t : tags()) {
    out += fmt::format("tag {}", t.id);
    if (t.index >= 0) out += fmt::format("[{}]", t.index);
    out += fmt::format(" {} {} {} {}\n", number(t.rect.x), number(t.rect.y), number(t.rect.w), number(t.rect.h));
  }
  return out;
}

// Of upright texts: their capitals and the halo around them, against what was drawn before.
void RecordCanvas::audit_halo(const TextRun& run, std::size_t order, std::vector<TextProblem>& problems) const {
  if (!run.style.halo.visible() || run.style.vertical || run.style.angle != 0) return;
  const Rect glyphs = rect_between(run.corners[0].x, run.corners[0].y, run.corners[2].x, run.corners[2].y);
  const Rect covered = glyphs.inset(-px(kHaloWidth)).inset(0.1f);
  for (const Mark& m : marks_) {
    if (m.texts > order) break;
    bool bad = false;
    if (m.group == "cloud") continue;  // hundreds of faint dots are a texture
    if (m.kind == Mark::Kind::marker || m.group == "axes")
      bad = m.box.intersects(covered);
    else if (m.group != "grid")
      bad = covered.contains(m.points.front()) || covered.contains(m.points.back());
    if (!bad) continue;
    const char* what = m.kind == Mark::Kind::marker ? "a marker"
                       : m.group == "axes"          ? "an axis"
                                                    : "the end of a line";
    problems.push_back({TextProblem::Kind::covers, run.text, what});
    return;
  }
}

// Whether a fill that was drawn between the two is the text's own ground over the line.
bool RecordCanvas::hidden(const Mark& line, const TextRun& run) const {
  for (std::size_t k = line.order; k < run.order; ++k) {
    const Primitive& p = primitives_[k];
    if (p.kind != Primitive::Kind::fill || p.colour.a < 255) continue;
    const Rect box = box_around(p.points);
    if (std::all_of(run.corners.begin(), run.corners.end(), [&](const Point& q) { return box.contains(q); }))
      return true;
  }
  return false;
}

// Bold lines through a text: under it without a halo between, over it, or cut by its halo though it names another: a
// label has the colour of the line that it stands on.
void RecordCanvas::audit_crossed(const TextRun& run, std::size_t order, std::vector<TextProblem>& problems) const {
  constexpr float kBold = 2.4f;        // at scale 1: 1.44 points on paper
  constexpr std::uint8_t kSeen = 128;  // of opacity
  constexpr float kTouch = 0.6f;       // at scale 1
  for (const Mark& m : marks_) {
    if (m.kind != Mark::Kind::line || m.width < px(kBold) || m.colour.a < kSeen) continue;
    const bool amid = run.group == "levels" || run.group == "letters";
    if (m.texts <= order && run.style.halo.visible() && (run.style.colour == m.colour || amid)) continue;
    if (!m.box.intersects(run.bounds) || !m.clip.intersects(run.bounds)) continue;
    bool crosses = false;
    for (std::size_t k = 1; k < m.points.size() && !crosses; ++k) {
      const Point a = m.points[k - 1], b = m.points[k];
      const float length = std::hypot(b.x - a.x, b.y - a.y);
      if (!(length > 0)) continue;
      const Point half{-(b.y - a.y) / length * m.width / 2, (b.x - a.x) / length * m.width / 2};
      crosses = overlap(run.corners, {a + half, b + half, b - half, a - half}, px(kTouch));
    }
    if (!crosses || hidden(m, run)) continue;
    problems.push_back({TextProblem::Kind::crossed, run.text, m.group});
    return;
  }
}

std::vector<TextProblem> RecordCanvas::audit(float slack) const {
  std::vector<TextProblem> problems;
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const TextRun& run = texts_[i];
    const Rect allowed = run.clip.inset(-slack);
    for (const Point& c : run.corners)
      if (c.x < allowed.x || c.x > allowed.right() || c.y < allowed.y || c.y > allowed.bottom()) {
        problems.push_back({TextProblem::Kind::outside_clip, run.text, {}});
        break;
      }
    for (std::size_t at = 0; at < run.text.size();)
      if (const char32_t c = engine::next_codepoint(run.text, at);
          c >= 0x20 && !metrics().has_glyph(c, run.style.weight)) {
        problems.push_back({TextProblem::Kind::missing_glyph, run.text, {}});
        break;
      }
    audit_halo(run, i, problems);
    audit_crossed(run, i, problems);
    for (std::size_t j = 0; j < i; ++j)
      if (overlap(run.corners, texts_[j].corners, slack))
        problems.push_back({TextProblem::Kind::overlap, run.text, texts_[j].text});
  }
  return problems;
}

std::string RecordCanvas::audit_text(float slack) const {
  std::string out;
  for (const TextProblem& p : audit(slack)) {
    if (p.kind == TextProblem::Kind::overlap) out += fmt::format("\"{}\" is over \"{}\"\n", p.text, p.other);
    if (p.kind == TextProblem::Kind::outside_clip) out += fmt::format("\"{}\" leaves its clip\n", p.text);
    if (p.kind == TextProblem::Kind::covers) out += fmt::format("\"{}\" covers {}\n", p.text, p.other);
    if (p.kind == TextProblem::Kind::crossed)
      out += fmt::format("\"{}\" is crossed by a bold line{}{}\n", p.text, p.other.empty() ? "" : " of ", p.other);
    if (p.kind == TextProblem::Kind::missing_glyph)
      out += fmt::format("\"{}\" has a character no font has\n", p.text);
  }
  return out;
}

}  // namespace roofscape::widgets
