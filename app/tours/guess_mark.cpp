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
constexpr float kRowBand = 0.72f;      // of a row, its bar
constexpr float kLeastMove = 0.004f;   // of the plot, between points of a sketch

bool named(const TagRegion& tag, const std::string& wanted) {
  return wanted == tag.id || wanted == tag.id + "#" + std::to_string(tag.index);
}
const TagRegion* find_tag(std::span<const TagRegion> tags, const std::string& wanted) {
  const TagRegion* found = nullptr;
  for (const TagRegion& tag : tags)
    if (named(tag, wanted) && !tag.rect.empty()) found = &tag;
  return found;
}

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
  return readable(place.axis(), value / unit_of(place)) * unit_of(place);
}

void set_mark(TourPlay& play, const SceneValues& values, const MarkPlace& place, double mark) {
  const io::TourScene& scene = play.scene();
  const Scale& axis = place.axis();
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

}  // namespace

double MarkPlace::value(Point at) const {
  const Scale& axis = this->axis();
  const double p = along_x ? at.x : at.y, low = std::min(axis.begin(), axis.end()),
               high = std::max(axis.begin(), axis.end());
  return axis.value(std::clamp(p, low, high)) * unit_of(*this);
}

float MarkPlace::position(double value) const {
  const Scale& axis = this->axis();
  const double low = std::min(axis.begin(), axis.end()), high = std::max(axis.begin(), axis.end());
  return static_cast<float>(std::clamp(axis.position(value / unit_of(*this)), low, high));
}

float MarkPlace::idle(Kind kind) const {
  constexpr double kAtEnd = 0.06;
  const double share = kind == Kind::x ? kAtEnd : kind == Kind::y ? 1 - kAtEnd : 0.5;
  return static_cast<float>(axis().begin() + share * (axis().end() - axis().begin()));
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
  const Scale& axis = place.axis();
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
  const Scale& axis = place.axis();
  const double length = axis.end() - axis.begin(), low = std::min(axis.begin(), axis.end()),
               high = std::max(axis.begin(), axis.end());
  const auto now = guessed_mark(play.play(), values, place);
  const double at =
      now ? static_cast<double>(place.position(*now)) : static_cast<double>(place.idle(play.scene().mark.kind));
  play.keep();
  play.play().sketch.clear();
  const double mark = axis.value(std::clamp(at + steps * kKeyStep * length, low, high)) * unit_of(place);
  if (const auto answer = values.answer_at(readable_mark(place, mark))) play.guess(*answer);
}

}  // namespace roofscape::app
