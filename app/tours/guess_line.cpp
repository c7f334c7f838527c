#include "app/tours/guess_line.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/evaluate/explain.h"
#include "widgets/canvas/number_format.h"
#include "widgets/plot/plot.h"
#include "widgets/plot/quantity_label.h"
#include "widgets/plot/ticks.h"

namespace roofscape::app {

using namespace widgets;

namespace {

constexpr float kPillRow = 1.5f, kAxisAt = 2.5f,
                kMarginEm = 3;     // em: pills, axis, and what labels stand out at its ends
constexpr double kManyTimes = 12;  // further apart than this, the axis is logarithmic
constexpr double kSnap = 0.02;     // of the axis

double scaled(const Scale& axis, double value) {
  return (axis.position(value) - axis.begin()) / (axis.end() - axis.begin());
}

TextStyle line_text(const Canvas& canvas, Colour colour, HAlign halign) {
  TextStyle style;
  style.em = kSmallText * canvas.em();
  style.halign = halign;
  style.valign = VAlign::middle;
  style.colour = colour;
  return style;
}

// A framed word over the axis, kept between its ends, and its line down to it.
Rect draw_pill(Canvas& canvas, const Theme& theme, const Rect& place, float x, float y, const std::string& words,
               Colour ink, bool filled, const Stroke& down, float axis_y) {
  const float em = canvas.em();
  TextStyle style = line_text(canvas, filled ? theme.inv : ink, HAlign::centre);
  const float w = canvas.text_width(words, style) + 0.8f * em, h = std::round(1.3f * em);
  const float left = confined(x - w / 2, place.x, place.right() - w);
  const Rect box{left, y, w, h};
  canvas.line({x, box.bottom()}, {x, axis_y}, down);
  canvas.rect(box, {.colour = filled ? ink : theme.panel}, canvas.px(3));
  if (!filled) canvas.frame(box, {ink, canvas.px(1.5f), {}}, canvas.px(3));
  canvas.text(box.centre(), words, style);
  return box;
}

std::string term_of(const engine::Derivation& derivation, const engine::Derivation* before, const TextTable& texts) {
  using Kind = engine::Expression::Kind;
  const engine::Expression& formula = derivation.lines.front().expression;
  const auto label = [&](const engine::Expression& one) {
    return one.kind == Kind::operand ? quantity_label(texts, one.id) : std::string();
  };
  const auto was = [&](const engine::Expression& one) {
    const engine::DerivationLine* line = before == nullptr ? nullptr : before->find(one.id);
    return line == nullptr ? 0.0 : line->value;
  };
  if (formula.kind == Kind::add) {
    const auto largest = std::max_element(
        formula.children.begin(), formula.children.end(),
        [&](const auto& a, const auto& b) { return std::abs(a.value - was(a)) < std::abs(b.value - was(b)); });
    const std::string name = largest == formula.children.end() ? std::string() : label(*largest);
    return name.empty() ? name : texts.format("tour.gap.most", {name});
  }
  const bool decided = formula.kind == Kind::max || formula.kind == Kind::min || formula.kind == Kind::choose;
  if (decided && formula.winner >= 0 && static_cast<std::size_t>(formula.winner) < formula.children.size()) {
    const std::string name = label(formula.children[static_cast<std::size_t>(formula.winner)]);
    return name.empty() ? name : texts.format("tour.gap.decides", {name});
  }
  if (formula.kind == Kind::divide && formula.children.size() == 2) {
    const std::string over = label(formula.children[0]), under = label(formula.children[1]);
    if (!over.empty() && !under.empty()) return texts.format("tour.gap.over", {over, under});
  }
  return {};
}

}  // namespace

std::optional<Scale> guess_axis(const io::TourScene& scene, const SceneValues& values, const Canvas& canvas,
                                const Rect& place) {
  if (!guesses_number(scene, values) || place.empty()) return std::nullopt;
  double low = values.answer()->value, high = low;
  if (scene.guess) {
    low = std::min(low, scene.guess->first);
    high = std::max(high, scene.guess->second);
  } else {
    for (std::size_t i = 0; i < scene.choices.size(); ++i)
      if (const auto value = values.choice_value(i)) {
        low = std::min(low, *value);
        high = std::max(high, *value);
      }
    if (!(high > low)) return std::nullopt;
  }
  const float margin = kMarginEm * canvas.em();
  const double begin = place.x + margin, end = place.right() - margin;
  const bool percent = values.answer()->unit.notation == engine::Notation::percent || scene.form == "percent" ||
                       scene.form == "whole_percent" || scene.form == "share";
  const bool share = percent && low >= 0 && high <= 1;
  if (share) return Scale(ScaleKind::linear, 0, 1, begin, end);
  if (low > 0 && high / low > kManyTimes) {
    // Whole decades with room at both ends.
    const double from = std::pow(10, std::floor(std::log10(low * 0.7))),
                 to = std::pow(10, std::ceil(std::log10(high * 1.4)));
    return Scale(ScaleKind::log10, from, to, begin, end);
  }
  const double pad = 0.15 * (high - low);
  return rounded(Scale(ScaleKind::linear, low >= 0 ? std::max(0.0, std::min(low - pad, 0.0)) : low - pad, high + pad,
                       begin, end),
                 5);
}

bool guesses_number(const io::TourScene& scene, const SceneValues& values) {
  if (!values.answer()) return false;
  if (scene.guess) return true;
  std::size_t numbers = 0;
  for (std::size_t i = 0; i < scene.choices.size(); ++i) numbers += values.choice_value(i) ? 1 : 0;
  return numbers > 1;
}

bool guesses_on_line(const io::TourScene& scene, const SceneValues& values) {
  return scene.mark.kind == io::TourMark::Kind::none && guesses_number(scene, values);
}

std::optional<double> guessed_value(const ScenePlay& play, const SceneValues& values) {
  if (play.guess) return play.guess;
  return play.chosen ? values.choice_value(*play.chosen) : std::nullopt;
}

double readable(const Scale& axis, double value) {
  value = std::clamp(value, std::min(axis.from(), axis.to()), std::max(axis.from(), axis.to()));
  const double step = axis.logarithmic()
                          ? std::pow(10, std::floor(std::log10(value)) - 1)
                          : std::pow(10, std::floor(std::log10(std::abs(axis.to() - axis.from()))) - 2);
  return std::round(value / step) * step;
}

std::optional<std::size_t> choice_at(const io::TourScene& scene, const SceneValues& values, const Scale& axis,
                                     double value) {
  for (std::size_t i = 0; i < scene.choices.size(); ++i)
    if (const auto one = values.choice_value(i); one && std::abs(scaled(axis, *one) - scaled(axis, value)) < kSnap)
      return i;
  return std::nullopt;
}

std::string gap_term(const io::TourScene& scene, const SceneValues& values, const TextTable& texts) {
  const PlanState* shown = values.plan();
  const std::vector<io::TourReference> references = scene.answer.references();
  if (shown == nullptr || references.empty()) return {};
  // Of a guess on the figure what its axis counts, against the same before where the answer compares the two.
  const io::TourReference asked = scene.mark.of.empty() ? references.front() : io::TourReference{{}, scene.mark.of};
  const PlanState* plan = values.plan(asked.state);
  if (plan == nullptr) return {};
  const auto derivation = engine::explain(plan->scenario, asked.name);
  if (!derivation) return {};
  if (references.size() == 1) return term_of(*derivation, nullptr, texts);
  const auto found = std::find_if(references.begin(), references.end(), [&](const io::TourReference& one) {
    return one.name == asked.name && one.state != asked.state;
  });
  if (found == references.end()) return scene.mark.of.empty() ? std::string() : term_of(*derivation, nullptr, texts);
  const io::TourReference& other = *found;
  const PlanState* before = values.plan(other.state);
  if (references.size() != 2 || before == nullptr) return {};
  const auto was = engine::explain(before->scenario, other.name);
  return was ? term_of(*derivation, &*was, texts) : std::string();
}

void draw_guess_line(Canvas& canvas, const Rect& place, const Scale& axis, const GuessShown& line) {
  const Theme& t = line.theme;
  const float em = canvas.em(), y = std::round(place.y + kAxisAt * em);
  canvas.line({axis(axis.from()), y}, {axis(axis.to()), y}, {t.axis, t.axis_width * em, {}});
  float last = -1e6f;
  for (const Tick& tick : ticks(axis, {5, TickLabels::plain, true})) {
    const float x = axis(tick.value);
    canvas.line({x, y}, {x, y + (tick.major ? 0.35f : 0.2f) * em}, {t.axis, t.axis_width * em, {}});
    if (!tick.major) continue;
    const std::string words = line.values.guess_text(tick.value, line.texts);
    const TextStyle style = line_text(canvas, t.ink2, HAlign::centre);
    const float half = canvas.text_width(words, style) / 2;
    if (x - half < last + 0.6f * em) continue;
    canvas.text({x, y + 0.95f * em}, words, style);
    last = x + half;
  }
  const auto guess = guessed_value(line.play, line.values);
  const auto answer = line.values.answer();
  const Colour hue = t.stroke(Hue::yellow);
  const float pills = place.y;
  const bool revealed = line.play.revealed && answer.has_value();
  if (!guess && !revealed) {
    // Where the hand begins: at the end of the axis, where no answer is.
    const float x = static_cast<float>(axis.begin());
    canvas.marker({x, y}, Marker::circle, 0.8f * em, {.colour = hue});
    canvas.text({x - 0.4f * em, pills + kPillRow * em / 2}, line.texts.text("tour.guess.drag"),
                line_text(canvas, hue, HAlign::left));
    return;
  }
  const float from = guess ? axis(*guess) : axis(axis.from());
  if (revealed) {
    const float to = from + (axis(answer->value) - from) * line.arrival;
    if (guess && line.arrival >= 1 && std::abs(to - from) > 1.2f * em) {
      // The gap, and what makes it where there is room to say so.
      const float gap_y = y - 0.35f * em;
      canvas.line({from, gap_y}, {to, gap_y}, {hue, canvas.px(3), {}});
      const std::string term = gap_term(line.scene, line.values, line.texts);
      const TextStyle style = line_text(canvas, hue, HAlign::left);
      const float below = place.bottom() - 0.55f * em;
      if (!term.empty())
        canvas.text({place.x, below}, ellipsize(canvas, line.texts.format("tour.gap", {term}), style, place.w),
                    style);
    }
    const std::string words = line.values.answer_text(line.texts);
    const Rect box = draw_pill(canvas, t, place, to, pills, words, t.ink, true, {t.ink, canvas.px(2.5f), {}}, y);
    canvas.marker({to, y}, Marker::circle, 0.7f * em, {.colour = t.ink});
    if (!guess) return;
    // Beside the answer, not under it.
    const std::string mine = line.values.guess_text(*guess, line.texts);
    const TextStyle style = line_text(canvas, hue, HAlign::centre);
    const float half = canvas.text_width(mine, style) / 2 + 0.4f * em;
    if (from + half < box.x || from - half > box.right())
      draw_pill(canvas, t, place, from, pills, mine, hue, false, {hue, canvas.px(2), Dash{4, 4}.scaled(canvas.px(1))},
                y);
    canvas.marker({from, y}, Marker::circle, 0.7f * em, {.colour = hue});
    return;
  }
  draw_pill(canvas, t, place, from, pills,
            line.texts.format("tour.guess", {line.values.guess_text(*guess, line.texts)}), hue, false,
            {hue, canvas.px(2), Dash{4, 4}.scaled(canvas.px(1))}, y);
  canvas.marker({from, y}, Marker::circle, (line.held ? 1.1f : 0.9f) * em, {.colour = hue});
}

}  // namespace roofscape::app
