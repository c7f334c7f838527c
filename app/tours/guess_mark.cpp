#include "app/tours/guess_mark.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "widgets/canvas/canvas_record.h"

namespace roofscape::app {

using namespace widgets;
using Kind = io::TourMark::Kind;

namespace {

constexpr float kChoiceSnap = 0.012f;  // of the axis: a choice that is as good
constexpr double kKeyStep = 0.02;      // of the axis, by key
constexpr float kTextBand = 2.2f;      // of a bar that is known by the label at its end, over that label
constexpr float kGrip = 0.55f, kPillHeight = 1.45f;  // em
constexpr float kRowBand = 0.72f;                    // of a row, its bar
constexpr float kLeastGap = 0.8f;                    // em: nearer than that the guess is as good
constexpr int kGapSteps = 4;                         // places tried to either side for the name of a gap
constexpr float kLeastMove = 0.004f;                 // of the plot, between points of a sketch

bool named(const TagRegion& tag, const std::string& wanted) {
  return wanted == tag.id || wanted == tag.id + "#" + std::to_string(tag.index);
}
const TagRegion* find_tag(std::span<const TagRegion> tags, const std::string& wanted) {
  const TagRegion* found = nullptr;
  for (const TagRegion& tag : tags)
    if (named(tag, wanted) && !tag.rect.empty()) found = &tag;
  return found;
}

const Scale& axis_of(const MarkPlace& place) { return place.along_x ? place.frame.x : place.frame.y; }
double unit_of(const MarkPlace& place) { return place.along_x ? place.frame.frame.x.unit : place.frame.frame.y.unit; }

// Of several frames the one whose plot is nearest to a tag's height.
const DrawnFrame& frame_at(const std::vector<DrawnFrame>& frames, const Rect& tag) {
  return *std::min_element(frames.begin(), frames.end(), [&](const DrawnFrame& a, const DrawnFrame& b) {
    const auto off = [&](const DrawnFrame& f) {
      return std::max({0.0f, f.plot.y - tag.centre().y, tag.centre().y - f.plot.bottom()});
    };
    return off(a) < off(b);
  });
}

// As a hand can tell it on this axis, in base units.
double readable_mark(const MarkPlace& place, double value) {
  return readable(axis_of(place), value / unit_of(place)) * unit_of(place);
}

void set_mark(TourPlay& play, const SceneValues& values, const MarkPlace& place, double mark) {
  const io::TourScene& scene = play.scene();
  const Scale& axis = axis_of(place);
  const float length = std::abs(static_cast<float>(axis.end() - axis.begin())), at = place.position(mark);
  const bool free = scene.mark.kind == Kind::point || scene.mark.kind == Kind::sketch;
  ScenePlay& now = play.play();
  if (!free)
    for (std::size_t i = 0; i < scene.choices.size(); ++i)
      if (const auto value = values.choice_value(i)) {
        const double there = mark_of(values, place, *value);
        const auto back = values.answer_at(there);
        if (!back || std::abs(*back - *value) > 0.02 * std::abs(*value)) continue;  // beyond the axis
        if (std::abs(place.position(there) - at) > kChoiceSnap * length) continue;
        now.chosen = i;
        now.guess.reset();
        return;
      }
  if (const auto answer = values.answer_at(readable_mark(place, mark))) play.guess(*answer);
}

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
// Where that is before there is a guess: a line across an axis at its end, where it points at nothing, else in the middle.
float idle_at(const MarkPlace& place, Kind kind) {
  constexpr double kAtEnd = 0.06;
  const Scale& axis = axis_of(place);
  const double share = kind == Kind::x ? kAtEnd : kind == Kind::y ? 1 - kAtEnd : 0.5;
  return static_cast<float>(axis.begin() + share * (axis.end() - axis.begin()));
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

}  // namespace

double MarkPlace::value(Point at) const {
  const Scale& axis = axis_of(*this);
  const double p = along_x ? at.x : at.y, low = std::min(axis.begin(), axis.end()),
               high = std::max(axis.begin(), axis.end());
  return axis.value(std::clamp(p, low, high)) * unit_of(*this);
}

float MarkPlace::position(double value) const {
  const Scale& axis = axis_of(*this);
  const double low = std::min(axis.begin(), axis.end()), high = std::max(axis.begin(), axis.end());
  return static_cast<float>(std::clamp(axis.position(value / unit_of(*this)), low, high));
}

bool guesses_on_figure(const io::TourScene& scene) {
  return scene.mark.kind != Kind::none ||
         std::any_of(scene.choices.begin(), scene.choices.end(), [](const auto& one) { return !one.mark.empty(); });
}

std::optional<MarkPlace> mark_place(const Canvas& canvas, const Rect& area, const SceneFigures& of) {
  const io::TourScene& scene = of.scene;
  if (!guesses_on_figure(scene) || scene.figures.empty() || area.empty()) return std::nullopt;
  if (of.axes != nullptr) {
    of.axes->hold(true);
    of.axes->leave_room(scene.mark.kind == Kind::bar ? kRoomToGuess : 1);
  }
  SceneFigures plain = of;
  plain.revealed = true;
  // The first drawings find how far the axes have to reach, the last where things stand on them.
  std::vector<DrawnFrame> frames;
  RecordCanvas apart(canvas.metrics(), canvas.em(), canvas.bounds());
  if (scene.has_before()) draw_scene_figure(apart, area, plain, 0, io::kBeforeState);
  draw_scene_figure(apart, area, plain, 0, io::kShownState);
  const std::size_t first = apart.tags().size(), first_text = apart.texts().size();
  apart.set_tagging(Tagging::all);
  apart.set_frames(&frames);
  draw_scene_figure(apart, area, plain, 0, io::kShownState);
  const std::span<const TagRegion> tags(apart.tags().data() + first, apart.tags().size() - first);
  MarkPlace place;
  if (frames.empty()) {
    if (scene.mark.kind != Kind::none) return std::nullopt;
    frames.push_back({area, {}, {}, {}, {}, {}});
  }
  place.frame = frames.front();
  for (const io::TourChoice& choice : scene.choices) {
    const TagRegion* tag = choice.mark.empty() ? nullptr : find_tag(tags, choice.mark);
    place.choices.push_back(tag != nullptr ? intersection(tag->rect, area) : Rect{});
  }
  place.plots = frames.front().plot;
  for (const DrawnFrame& frame : frames)
    place.plots = rect_between(std::min(place.plots.x, frame.plot.x), std::min(place.plots.y, frame.plot.y),
                               area.right(), std::max(place.plots.bottom(), frame.plot.bottom()));
  place.plots = rect_between(place.plots.x, place.plots.y, area.right(), place.plots.bottom());
  // Of the rows, not of the key over them. The axes of a chart write theirs themselves.
  if (scene.mark.kind == Kind::none || scene.mark.kind == Kind::bar)
    for (std::size_t i = first_text; i < apart.texts().size(); ++i)
      if (const TextRun& run = apart.texts()[i];
          run.bounds.right() <= place.plots.x + canvas.px(1) && run.bounds.centre().y >= place.plots.y)
        place.names.push_back({run.text, run.anchor, run.style});
  if (scene.mark.kind == Kind::none) return place;
  for (std::size_t i = first_text; i < apart.texts().size(); ++i) place.texts.push_back(apart.texts()[i].bounds);
  place.reads = true;
  place.along_x = scene.mark.along_x();
  if (!scene.mark.tag.empty()) {
    const TagRegion* tag = find_tag(tags, scene.mark.tag);
    if (tag == nullptr) return std::nullopt;
    place.frame = frame_at(frames, tag->rect);
    // Of several bars, such as those of stages, the first of the longest ones, whose label stands furthest out.
    if (scene.mark.kind == Kind::bar)
      for (const TagRegion& one : tags)
        if (named(one, scene.mark.tag) && !one.rect.empty() &&
            (one.rect.x > tag->rect.x || (one.rect.x == tag->rect.x && one.rect.y < tag->rect.y)))
          tag = &one;
    place.across = tag->rect.centre().x;
    const Rect& plot = place.frame.plot;
    const auto bars = std::count_if(tags.begin(), tags.end(),
                                    [&](const TagRegion& one) { return one.id == tag->id && !one.rect.empty(); });
    const float h = tag->rect.w >= plot.w / 2 ? kRowBand * tag->rect.h
                    : bars > 1                ? tag->rect.h
                                              : kTextBand * tag->rect.h;
    place.band = rect_between(plot.x, tag->rect.centre().y - h / 2, plot.right(), tag->rect.centre().y + h / 2);
  }
  if (scene.mark.kind != Kind::bar) place.band = place.frame.plot;
  const auto answer = of.values.marked();
  if (!answer || !std::isfinite(*answer)) return std::nullopt;
  place.answer = *answer;
  return place;
}

void draw_open_axes(Canvas& canvas, const Rect& area, const SceneFigures& of, const MarkPlace& place) {
  const Theme& t = of.theme;
  for (const MarkPlace::Name& name : place.names) canvas.text(name.anchor, name.text, name.style);
  Fill fill;
  fill.colour = faded(t.ctl, 0.6f);
  fill.hatch = Hatch::sparse_slash;
  fill.hatch_ink = faded(t.ink3, 0.14f);
  canvas.rect(place.plots, fill, canvas.px(3));
  if (place.reads) draw_frame(canvas, t, place.frame.plot, place.frame.x, place.frame.y, place.frame.frame);
  if (!place.frame.title.empty()) {
    TextStyle style = small_text(canvas, t.ink3, HAlign::left);
    canvas.text(place.frame.title_at, ellipsize(canvas, place.frame.title, style, area.w), style);
  }
}

double mark_of(const SceneValues& values, const MarkPlace& place, double answer) {
  const Scale& axis = axis_of(place);
  double low = axis.begin(), high = axis.end();
  const auto at = [&](double position) {
    return values.answer_at(axis.value(position) * unit_of(place)).value_or(std::nan(""));
  };
  const bool rises = at(high) > at(low);
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (at(middle) < answer) == rises ? low = middle : high = middle;
  }
  return axis.value((low + high) / 2) * unit_of(place);
}

std::optional<double> guessed_mark(const ScenePlay& play, const SceneValues& values, const MarkPlace& place) {
  const auto guess = guessed_value(play, values);
  if (!guess || !place.reads) return std::nullopt;
  return mark_of(values, place, *guess);
}

void guess_at(TourPlay& play, const SceneValues& values, const MarkPlace& place, Point at, bool begins) {
  if (play.play().revealed || !place.reads) return;
  if (begins) play.keep();
  const Rect& plot = place.frame.plot;
  const Point share{std::clamp((at.x - plot.x) / plot.w, 0.0f, 1.0f),
                    std::clamp((at.y - plot.y) / plot.h, 0.0f, 1.0f)};
  ScenePlay& now = play.play();
  if (play.scene().mark.kind == Kind::point) now.across = share.x;
  if (play.scene().mark.kind != Kind::sketch) return set_mark(play, values, place, place.value(at));
  if (begins) now.sketch.clear();
  // Drawn back over itself the line is drawn anew from there.
  while (!now.sketch.empty() && now.sketch.back().x >= share.x - kLeastMove) now.sketch.pop_back();
  now.sketch.push_back(share);
  // Its height where the answer is; at its nearest end where it does not reach so far.
  const float asked = (place.across - plot.x) / plot.w;
  float height = now.sketch.front().y;
  for (std::size_t i = 0; i < now.sketch.size() && now.sketch[i].x <= asked; ++i) {
    height = now.sketch[i].y;
    if (i + 1 < now.sketch.size() && now.sketch[i + 1].x > asked) {
      const Point &a = now.sketch[i], &b = now.sketch[i + 1];
      height = a.y + (b.y - a.y) * (asked - a.x) / (b.x - a.x);
    }
  }
  set_mark(play, values, place, place.value({place.across, plot.y + height * plot.h}));
}

void step_guess(TourPlay& play, const SceneValues& values, const MarkPlace& place, int steps) {
  if (play.play().revealed || !place.reads) return;
  const Scale& axis = axis_of(place);
  const double length = axis.end() - axis.begin(), low = std::min(axis.begin(), axis.end()),
               high = std::max(axis.begin(), axis.end());
  const auto now = guessed_mark(play.play(), values, place);
  const double at =
      now ? static_cast<double>(place.position(*now)) : static_cast<double>(idle_at(place, play.scene().mark.kind));
  play.keep();
  play.play().sketch.clear();
  const double mark = axis.value(std::clamp(at + steps * kKeyStep * length, low, high)) * unit_of(place);
  if (const auto answer = values.answer_at(readable_mark(place, mark))) play.guess(*answer);
}

namespace {

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
    const float at = guess ? place.position(*guess) : idle_at(place, mark.kind);
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
