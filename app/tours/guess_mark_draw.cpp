// What is drawn over a figure of the guess: its mark and words, and once it is revealed the answer and the gap to it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "app/tours/guess_mark.h"

namespace roofscape::app {

using namespace widgets;
using Kind = io::TourMark::Kind;

namespace {

constexpr float kGrip = 0.55f, kPillHeight = 1.45f;  // em
constexpr float kLeastGap = 0.8f;                    // em: nearer than that the guess is as good
constexpr int kGapSteps = 4;                         // places tried to either side for the name of a gap

TextStyle words_style(const Canvas& canvas, Colour colour) {
  TextStyle style;
  style.em = canvas.em();
  style.halign = HAlign::centre;
  style.valign = VAlign::middle;
  style.colour = colour;
  return style;
}

// Words in a box about `at`, kept inside `within`.
Rect draw_words(Canvas& canvas, const Theme& t, const Rect& within, Point at, const std::string& words, Colour ink,
                bool filled) {
  const float em = canvas.em();
  const TextStyle style = words_style(canvas, filled ? t.inv : ink);
  const float w = std::min(canvas.text_width(words, style) + em, within.w), h = std::round(kPillHeight * em);
  const Rect box{confined(at.x - w / 2, within.x, within.right() - w),
                 confined(at.y - h / 2, within.y, within.bottom() - h), w, h};
  canvas.rect(box, {.colour = filled ? ink : t.panel}, canvas.px(3));
  canvas.frame(box, {ink, canvas.px(1.5f), {}}, canvas.px(3));
  canvas.text(box.centre(), ellipsize(canvas, words, style, w - 0.5f * em), style);
  return box;
}

// The line that a value is on the figure: across the plot, or the end of a bar.
std::pair<Point, Point> line_of(const MarkPlace& place, float at) {
  return place.along_x ? std::pair{Point{at, place.band.y}, Point{at, place.band.bottom()}}
                       : std::pair{Point{place.frame.plot.x, at}, Point{place.frame.plot.right(), at}};
}
// Where a value is taken hold of.
Point grip_of(const MarkPlace& place, const io::TourMark& mark, const ScenePlay& play, float at) {
  if (place.along_x) return {at, place.band.centre().y};
  const Rect& plot = place.frame.plot;
  if (mark.kind == Kind::point && play.across >= 0) return {plot.x + play.across * plot.w, at};
  if (mark.kind == Kind::y) return {plot.centre().x, at};
  return {place.across, at};
}

void draw_sketch(Canvas& canvas, const Rect& plot, const std::vector<Point>& sketch, const Stroke& stroke) {
  std::vector<Point> points;
  for (const Point& p : sketch) points.push_back({plot.x + p.x * plot.w, plot.y + p.y * plot.h});
  if (points.size() > 1) canvas.polyline(points, stroke);
}

void draw_value(Canvas& canvas, const MarkPlace& place, const GuessShown& words, float at, Colour hue, bool dashed) {
  const io::TourMark& mark = words.scene.mark;
  Stroke stroke{hue, canvas.px(2.5f), {}};
  if (dashed) stroke.dash = Dash{5, 4}.scaled(canvas.px(1));
  if (mark.kind == Kind::bar) {
    const float begin = static_cast<float>(place.frame.x.begin());
    const Rect bar = rect_between(std::min(begin, at), place.band.y, std::max(begin, at), place.band.bottom());
    if (dashed) {
      canvas.rect(bar, {.colour = faded(hue, 0.22f)});
      canvas.polyline({{bar.x, bar.y}, {bar.right(), bar.y}, {bar.right(), bar.bottom()}, {bar.x, bar.bottom()}},
                      stroke);
    }
    canvas.line({at, bar.y - canvas.px(3)}, {at, bar.bottom() + canvas.px(3)}, {hue, canvas.px(3.5f), {}});
    return;
  }
  if (mark.kind == Kind::x || mark.kind == Kind::y) {
    const auto [from, to] = line_of(place, at);
    canvas.line(from, to, stroke);
  }
}

// Boxes to tick at what the choices name.
void draw_ticks(Canvas& canvas, const MarkPlace& place, const GuessShown& words, std::optional<std::size_t> pointed) {
  const Theme& t = words.theme;
  const float em = canvas.em();
  const Colour hue = t.stroke(Hue::yellow);
  for (std::size_t i = 0; i < place.choices.size(); ++i) {
    const Rect& tag = place.choices[i];
    if (tag.empty()) continue;
    const bool on = words.play.chosen == i, right = words.play.revealed && words.scene.choices[i].right;
    if (on || right || pointed == i)
      canvas.frame(tag.inset(canvas.px(-2)), {right ? t.ok : hue, canvas.px(on || right ? 2.5f : 1.5f), {}},
                   canvas.px(3));
    if (words.play.revealed && !on && !right) continue;
    const float side = std::round(std::min(1.3f * em, std::max(0.8f * em, tag.h * 0.8f)));
    const float left = tag.x < place.plots.x ? place.plots.x + canvas.px(4) : tag.right() - side;
    const Rect box{std::round(left), std::round(tag.centre().y - side / 2), side, side};
    canvas.rect(box, {.colour = on ? hue : t.panel}, canvas.px(2));
    canvas.frame(box, {right ? t.ok : hue, canvas.px(2), {}}, canvas.px(2));
    TextStyle style = words_style(canvas, on ? t.inv : hue);
    style.em = 0.75f * side;
    canvas.text(box.centre(), std::to_string(i + 1), style);
  }
}

void draw_gap(Canvas& canvas, const GuessShown& words, Point mine, Point there) {
  const float em = canvas.em();
  if (distance(mine, there) < kLeastGap * em) return;
  canvas.arrow(mine, there, {words.theme.stroke(Hue::yellow), canvas.px(3), {}}, 0.5f * em);
}

// What makes the gap, beside its arrow: where it covers least of the figure's words and of the two marks' own.
void name_gap(Canvas& canvas, const MarkPlace& place, const GuessShown& words, Point mine, Point there,
              const std::vector<Rect>& taken) {
  const float em = canvas.em();
  if (distance(mine, there) < kLeastGap * em) return;
  const std::string term = gap_term(words.scene, words.values, words.texts);
  if (term.empty()) return;
  const std::string said = words.texts.format("tour.gap", {term});
  const Rect& plot = place.frame.plot;
  const Rect within{place.plots.x, plot.y, place.plots.w, std::max(plot.h, 4 * em)};
  const float w = std::min(canvas.text_width(said, words_style(canvas, {})) + em, within.w),
              h = std::round(kPillHeight * em);
  const Point middle = (mine + there) * 0.5f;
  const auto box_at = [&](Point at) {
    return Rect{confined(at.x - w / 2, within.x, within.right() - w),
                confined(at.y - h / 2, within.y, within.bottom() - h), w, h};
  };
  const auto covered = [&](const Rect& box) {
    float out = 0;
    for (const auto* all : {&place.texts, &taken})
      for (const Rect& one : *all)
        if (const Rect both = intersection(box.inset(-0.15f * em), one); !both.empty()) out += both.w * both.h;
    const Rect arrow = rect_between(std::min(mine.x, there.x), std::min(mine.y, there.y) - 0.3f * em,
                                    std::max(mine.x, there.x), std::max(mine.y, there.y) + 0.3f * em);
    if (const Rect both = intersection(box, arrow); !both.empty()) out += both.w * both.h;
    return out;
  };
  const float low = std::min(place.band.bottom(), middle.y + 3 * em),
              high = std::max(place.band.y, middle.y - 3 * em);
  std::vector<Point> places;
  for (int step = 0; step <= kGapSteps; ++step)
    for (const float side : {-1.0f, 1.0f}) {
      const float by = side * static_cast<float>(step) * 0.5f;
      if (place.along_x) {
        places.push_back({middle.x + by * w, low + 0.9f * em});
        places.push_back({middle.x + by * w, high - 0.9f * em});
        places.push_back({middle.x + by * w, low + 2.6f * em});
        places.push_back({middle.x + by * w, high - 2.6f * em});
      } else {
        places.push_back({middle.x + w / 2 + em, middle.y + by * 2 * h});
        places.push_back({middle.x - w / 2 - em, middle.y + by * 2 * h});
      }
    }
  Point best = places.front();
  float least = std::numeric_limits<float>::infinity();
  for (const Point at : places)
    if (const float cost = covered(box_at(at)); cost < least) least = cost, best = at;
  draw_words(canvas, words.theme, within, best, said, words.theme.stroke(Hue::yellow), false);
}

// A line across the plot that parts where the figure says something.
void draw_parted(Canvas& canvas, Point from, Point to, const std::vector<Rect>& texts, const Stroke& stroke) {
  const bool down = from.x == to.x;
  std::vector<std::pair<float, float>> gaps;
  for (const Rect& text : texts) {
    const Rect box = text.inset(-canvas.px(3));
    const bool crossed = down ? box.x < from.x && box.right() > from.x : box.y < from.y && box.bottom() > from.y;
    if (crossed) gaps.emplace_back(down ? box.y : box.x, down ? box.bottom() : box.right());
  }
  std::sort(gaps.begin(), gaps.end());
  float at = down ? from.y : from.x;
  const float end = down ? to.y : to.x;
  const auto piece = [&](float until) {
    if (until > at)
      canvas.line(down ? Point{from.x, at} : Point{at, from.y}, down ? Point{from.x, until} : Point{until, from.y},
                  stroke);
  };
  for (const auto& [begin, over] : gaps) {
    piece(std::min(begin, end));
    at = std::max(at, over);
  }
  piece(end);
}

// The answer on an axis where nobody guessed: bars and dots tell theirs themselves. Its number stands beside its line, near
// the axis and clear of what the figure says.
void draw_answer(Canvas& canvas, const MarkPlace& place, const GuessShown& words, const Rect& within) {
  const Kind kind = words.scene.mark.kind;
  if (kind != Kind::x && kind != Kind::y) return;
  const Theme& t = words.theme;
  const float em = canvas.em(), at = place.position(place.answer);
  const Rect& plot = place.frame.plot;
  const auto [from, to] = line_of(place, at);
  draw_parted(canvas, from, to, place.texts, {t.ink, canvas.px(2.5f), {}});
  const std::string answer = words.values.answer_text(words.texts);
  const float w = canvas.text_width(answer, words_style(canvas, t.ink)) + 0.8f * em, h = kPillHeight * em;
  const auto box_at = [&](float share) {
    const Point middle = place.along_x ? Point{at, plot.bottom() - 0.9f * em - share * (plot.h - 1.8f * em)}
                                       : Point{plot.x + w / 2 + share * (plot.w - w), at};
    return Rect{confined(middle.x - w / 2, within.x, within.right() - w),
                confined(middle.y - h / 2, within.y, within.bottom() - h), w, h};
  };
  constexpr int kPlaces = 20;
  int best = 0;
  const auto clear = [&](int i) {
    const Rect box = box_at(static_cast<float>(i) / kPlaces).inset(-0.2f * em);
    return std::none_of(place.texts.begin(), place.texts.end(),
                        [&](const Rect& text) { return !intersection(box, text).empty(); });
  };
  for (int i = 0; i <= kPlaces; ++i)
    if (clear(i)) {
      best = i;
      break;
    }
  draw_words(canvas, t, within, box_at(static_cast<float>(best) / kPlaces).centre(), answer, t.ink, true);
}

}  // namespace

void draw_guess_mark(Canvas& canvas, const MarkPlace& place, const GuessShown& words,
                     std::optional<std::size_t> pointed) {
  draw_ticks(canvas, place, words, pointed);
  if (!place.reads) return;
  const Theme& t = words.theme;
  const io::TourMark& mark = words.scene.mark;
  const float em = canvas.em();
  const Colour hue = t.stroke(Hue::yellow);
  const auto guess = guessed_mark(words.play, words.values, place);
  const Rect& plot = place.frame.plot;
  // Bars are low: what is said of one stands over it.
  const Rect within = rect_between(place.plots.x, std::min(plot.y, place.band.y - 2 * em), place.plots.right(),
                                   std::max(plot.bottom(), place.band.bottom() + 2 * em));
  const auto beside = [&](Point grip) {
    if (mark.kind == Kind::bar) return Point{grip.x, place.band.y - 0.95f * em};
    return place.along_x ? Point{grip.x, plot.y + 0.9f * em} : Point{grip.x, grip.y - 1.5f * em};
  };
  draw_sketch(canvas, plot, words.play.sketch, {hue, canvas.px(3), {}});
  if (!words.play.revealed) {
    const float at = guess ? place.position(*guess) : place.idle(mark.kind);
    const Point grip = grip_of(place, mark, words.play, at);
    draw_value(canvas, place, words, at, guess ? hue : faded(hue, 0.55f), true);
    if (!place.along_x && mark.kind != Kind::y)  // what height it is, back at the axis
      canvas.line({plot.x, at}, grip, {faded(hue, 0.5f), canvas.px(1.5f), Dash{2, 4}.scaled(canvas.px(1))});
    canvas.marker(grip, Marker::circle, (words.held ? 1.3f : 1) * 2 * kGrip * em / 1.1f, {.colour = hue});
    const std::string said =
        guess ? words.texts.format("tour.guess",
                                   {words.values.guess_text(*guessed_value(words.play, words.values), words.texts)})
              : std::string(words.texts.text(mark.kind == Kind::bar      ? "tour.guess.drag.bar"
                                             : mark.kind == Kind::point  ? "tour.guess.drag.point"
                                             : mark.kind == Kind::sketch ? "tour.guess.drag.sketch"
                                                                         : "tour.guess.drag.line"));
    // Before there is a guess the words are out of the way of what the figure says.
    const bool chart = mark.kind != Kind::bar;
    const Point at_foot{plot.centre().x, plot.bottom() - 0.9f * em};
    draw_words(canvas, t, within, chart && !guess ? at_foot : beside(grip), said, hue, false);
    return;
  }
  if (!guess) return draw_answer(canvas, place, words, within);
  const float from = place.position(*guess), end = place.position(place.answer),
              to = from + (end - from) * words.arrival;
  ScenePlay answered;  // the answer stands where it is, wherever a point was dropped
  const Point mine = grip_of(place, mark, words.play, from), there = grip_of(place, mark, answered, to);
  draw_value(canvas, place, words, from, hue, true);
  draw_value(canvas, place, words, to, t.ink, false);
  if (words.arrival >= 1) draw_gap(canvas, words, mine, there);
  canvas.marker(mine, Marker::circle, 0.8f * em, {.colour = hue});
  canvas.marker(there, Marker::circle, 0.8f * em, {.colour = t.ink});
  // The dot of a chart says its number itself.
  const bool says = mark.kind == Kind::point || mark.kind == Kind::sketch;
  const Rect told =
      says ? Rect{}
           : draw_words(canvas, t, within, beside(there), words.values.answer_text(words.texts), t.ink, true);
  const std::string own = words.values.guess_text(*guessed_value(words.play, words.values), words.texts);
  const float half = canvas.text_width(own, words_style(canvas, hue)) / 2 + em;
  const Point at = beside(mine);
  std::vector<Rect> taken{told};
  if (says || at.x + half < told.x || at.x - half > told.right() || std::abs(at.y - told.centre().y) > 1.6f * em)
    taken.push_back(draw_words(canvas, t, within, at, own, hue, false));
  if (words.arrival >= 1) name_gap(canvas, place, words, mine, there, taken);
}

}  // namespace roofscape::app
