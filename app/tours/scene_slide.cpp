#include "app/tours/scene_slide.h"

#include <algorithm>
#include <cmath>

#include "app/core/export.h"
#include "app/core/strings.h"
#include "app/tours/guess_line.h"
#include "app/tours/guess_mark.h"
#include "engine/scenario/scenario_title.h"
#include "widgets/canvas/canvas_ink.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/blocks/block_figure.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/plot/plot.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app {

using namespace widgets;

namespace {

constexpr float kSlideLines = 33.75f, kSlideColumns = 48;  // em of a slide
constexpr float kTitle = 1.6f, kQuestion = 1.25f, kLabel = 0.85f;
constexpr float kLine = FontStack::kLineHeight;
constexpr float kTwoLines = 0.95f, kLeastChoice = 0.8f,
                kChoiceLine = 1.2f;  // em of a choice in two lines, and of their pitch
constexpr float kNumberRoom = 2.1f;  // em, of the number beside an answer
constexpr int kMostLines = 12;

TextStyle style_of(const Canvas& canvas, Colour colour, float size, Weight weight = Weight::regular) {
  TextStyle style;
  style.em = size * canvas.em();
  style.weight = weight;
  style.valign = VAlign::middle;
  style.colour = colour;
  return style;
}

// A paragraph as it will be drawn.
struct Block {
  std::vector<std::string> lines;
  TextStyle style;
  float height() const { return static_cast<float>(lines.size()) * kLine * style.em; }
};
Block block_of(const Canvas& canvas, const std::string& text, const TextStyle& style, float width) {
  if (text.empty()) return {{}, style};
  return {wrap(canvas, text, style, width, kMostLines), style};
}
float draw(Canvas& canvas, Point at, const Block& block) {
  float y = at.y;
  for (const std::string& line : block.lines) {
    canvas.text({at.x, y + kLine * block.style.em / 2}, line, block.style);
    y += kLine * block.style.em;
  }
  return y;
}

// The column at the side, from top to bottom.
struct Side {
  Block context, question, answer, verdict, sentence, next, source, hint;
  float indent = 0;  // of the answer, beside the number of its choice
  float choice_height = 0, gap = 0;
};
Side side_of(const Canvas& canvas, const Theme* theme, const SlideText& text, float width, float scale) {
  const Theme none{};
  const Theme& t = theme != nullptr ? *theme : none;
  const Colour verdict = text.right ? t.ok : t.stroke(Hue::yellow);
  Side out;
  out.context = block_of(canvas, text.context, style_of(canvas, t.ink2, scale), width);
  out.question =
      block_of(canvas, text.question,
               style_of(canvas, text.revealed ? t.ink2 : t.ink, (text.revealed ? 1.0f : kQuestion) * scale), width);
  out.indent = text.right_choice > 0 ? std::round(kNumberRoom * scale * canvas.em()) : 0;
  out.answer =
      block_of(canvas, text.answer, style_of(canvas, t.ink, kTitle * scale, Weight::bold), width - out.indent);
  out.verdict = block_of(canvas, text.verdict, style_of(canvas, verdict, scale), width);
  out.sentence = block_of(canvas, text.sentence, style_of(canvas, t.ink, kQuestion * scale), width);
  out.next = block_of(canvas, text.next, style_of(canvas, t.ink2, scale), width);
  out.source = block_of(canvas, text.source, style_of(canvas, t.ink3, kLabel), width);
  out.hint = block_of(canvas, text.hint, style_of(canvas, t.ink3, kLabel), width);
  out.choice_height = std::round(2.0f * scale * canvas.em() * kQuestion);
  out.gap = std::round(0.8f * scale * canvas.em());
  return out;
}

float height_of(const Side& side, const SlideText& text) {
  float height = side.context.height() + side.question.height() + 2 * side.gap;
  if (text.revealed) {
    height += side.answer.height() + side.verdict.height() + side.sentence.height() + 2 * side.gap;
    if (!side.next.lines.empty()) height += side.next.height() + 2 * side.gap;
  } else {
    height += static_cast<float>(text.choices.size()) * (side.choice_height + side.gap / 2);
  }
  return height + std::max(side.source.height(), 0.0f) + side.hint.height() + side.gap;
}

// "16 × 16 × 16" of "16x16x16".
std::string sides_text(std::string_view value) {
  std::string out;
  for (const char c : value) out += c == 'x' ? std::string(" \u00d7 ") : std::string(1, c);
  return out;
}

// What a choice is chosen with, in its cap.
void draw_number(Canvas& canvas, const Rect& cap, std::size_t number, Colour edge, TextStyle digit) {
  canvas.frame(cap, {edge, canvas.px(1.2f), {}}, canvas.px(2));
  digit.halign = HAlign::centre;
  canvas.text(cap.centre(), std::to_string(number), digit);
}

// The plan in a line: its name, what the scene changed, the mode.
std::string plan_line(const io::TourState& state, const SceneValues& values, const TextTable& texts) {
  if (const BlockState* block = values.block(state.name)) {
    std::string out = std::string(texts.text("calc." + std::string(block->question.call.block().id)));
    return out;
  }
  const PlanState* plan = values.plan(state.name);
  if (plan == nullptr) return {};
  std::string out = source_text(texts, plan->scenario.name);  // a preset's name has words of its own in each language
  constexpr std::size_t kMost = 4;
  std::size_t count = 0;
  const auto path_of = [](const std::string& change) { return change.substr(0, change.find('=')); };
  for (auto at = state.set.begin(); at != state.set.end(); ++at) {
    const std::string& change = *at;
    // Of several changes of one field the last one counts.
    if (std::any_of(at + 1, state.set.end(),
                    [&](const std::string& later) { return path_of(later) == path_of(change); }))
      continue;
    if (path_of(change) == "assumptions.mode") continue;  // it is told anyway
    if (++count > kMost) {
      out += ", \u2026";
      break;
    }
    const std::size_t equals = change.find('=');
    const std::string path = change.substr(0, equals), value = change.substr(std::min(equals + 1, change.size()));
    std::string label = path;
    for (const std::string& key : {"rail." + path, "field." + path + ".label", "quantity." + path + ".label"})
      if (texts.has(key)) {
        label = texts.text(key);
        break;
      }
    const std::string word = "choice." + path + "." + value;
    const engine::Field* field = engine::find_field(path);
    std::string shown = value;
    if (texts.has(word))
      shown = texts.text(word);
    else if (path == "model")
      shown = engine::model_title(plan->scenario.model);
    else if (path == "cluster.chip")
      shown = engine::chip_title(plan->scenario.cluster.chip);
    else if (path == "cluster")
      shown = format_count(static_cast<double>(engine::chip_count(plan->scenario.cluster))) + " \u00d7 " +
              engine::chip_title(plan->scenario.cluster.chip);
    else if (path == "cluster.slice")
      shown = sides_text(value);
    else if (field != nullptr &&
             (field->kind == engine::FieldKind::integer || field->kind == engine::FieldKind::number))
      shown = field->kind == engine::FieldKind::integer
                  ? format_count(field->get(plan->scenario))
                  : texts.amount(field->get(plan->scenario), field->unit, {.trim_zeros = true});
    const bool first = count < 2;
    out += (first ? ": " : ", ") + label + " " + shown;
  }
  return out + "; " + mode_text(texts, plan->scenario.assumptions.mode);
}

}  // namespace

float scene_em(float width, float height) { return std::min(height / kSlideLines, width / kSlideColumns); }

SlideText slide_text(const TourPlay& play, const SceneValues& values, const TextTable& texts) {
  const io::TourScene& scene = play.scene();
  const ScenePlay& now = play.play();
  SlideText out;
  out.tour = play.tour().title.in(language_of(texts));
  out.title = values.write(scene.title, texts);
  const io::TourState* before = now.revealed ? nullptr : scene.state(io::kBeforeState);
  out.plan = plan_line(before != nullptr ? *before : scene.shown(), values, texts);
  out.index = play.index();
  out.count = play.count();
  out.context = values.write(scene.context, texts);
  out.question = values.write(scene.question, texts);
  for (std::size_t i = 0; i < scene.choices.size(); ++i) out.choices.push_back(values.choice_text(i, texts));
  out.chosen = now.chosen;
  out.revealed = now.revealed;
  out.source = values.write(scene.source, texts);
  if (!now.revealed) {
    const bool on_figure = guesses_on_figure(scene);
    const std::string_view key = now.guessed()                                 ? on_figure ? "undo" : "reveal"
                                 : scene.choices.empty()                       ? "guess"
                                 : !on_figure                                  ? "choose"
                                 : scene.mark.kind == io::TourMark::Kind::none ? "tick"
                                                                               : "figure";
    out.hint = texts.format("tour.hint." + std::string(key), {std::to_string(scene.choices.size())});
    if (now.chosen) out.hint = texts.format("tour.hint.chosen", {std::to_string(*now.chosen + 1), out.hint});
    return out;
  }
  out.answer = values.answer_text(texts);
  for (std::size_t i = 0; i < scene.choices.size(); ++i)
    if (scene.choices[i].right) out.right_choice = i + 1;
  out.sentence = values.write(scene.sentence, texts);
  if (const auto right = play.is_right(play.index(), values)) {
    out.right = *right;
    const std::string guess =
        now.chosen
            ? texts.format("tour.choice", {values.choice_text(*now.chosen, texts), std::to_string(*now.chosen + 1)})
            : values.guess_text(*now.guess, texts);
    out.verdict = texts.format(*right ? "tour.verdict.right" : "tour.verdict.wrong", {guess});
  }
  if (play.index() + 1 < play.count()) {
    const io::TourScene& next = play.tour().scenes[play.index() + 1];
    out.next = texts.format("tour.next", {std::string(next.title.in(language_of(texts)))});
  }
  return out;
}

SlideLayout lay_out_slide(const Canvas& canvas, const Rect& area, const SlideText& text, float dock_height,
                          bool guesses) {
  const float em = canvas.em();
  SlideLayout out;
  Rect rest = area.inset(std::round(1.4f * em), std::round(em));
  out.head = rest.cut_top(std::round(5.0f * em));
  out.side = rest.cut_right(std::round(0.34f * rest.w));
  rest.cut_right(std::round(1.2f * em));
  if (dock_height > 0) {
    out.dock = rest.cut_bottom(dock_height);
    rest.cut_bottom(std::round(0.5f * em));
  }
  if (guesses) {
    out.line = rest.cut_bottom(std::round(kGuessLine * em));
    rest.cut_bottom(std::round(0.4f * em));
  }
  out.figure = rest;
  for (const float scale : {1.0f, 0.85f, 0.75f}) {
    out.scale = scale;
    out.fits = height_of(side_of(canvas, nullptr, text, out.side.w, scale), text) <= out.side.h;
    if (out.fits) break;
  }
  const Side side = side_of(canvas, nullptr, text, out.side.w, out.scale);
  out.foot = side.source.height() + side.hint.height();
  if (text.revealed) return out;
  float y =
      out.side.y + side.context.height() + side.question.height() + (side.context.lines.empty() ? 1 : 2) * side.gap;
  y = std::round(y);
  for (std::size_t i = 0; i < text.choices.size(); ++i) {
    out.choices.push_back({out.side.x, y, out.side.w, side.choice_height});
    y += side.choice_height + std::round(side.gap / 2);
  }
  return out;
}

void draw_slide(Canvas& canvas, const Theme& t, const SlideLayout& layout, const SlideText& text) {
  const float em = canvas.em();
  Rect head = layout.head;
  const Rect top = head.cut_top(std::round(1.4f * em)), title = head.cut_top(std::round(2.2f * em));
  // Place in the tour: numbers, and a dash for each scene where there is room.
  TextStyle small = style_of(canvas, t.ink2, 1);
  float right = top.right();
  const float dash = 0.55f * em, step = 0.85f * em;
  if (static_cast<float>(text.count) * step < top.w / 3) {
    for (std::size_t i = text.count; i-- > 0;) {
      right -= dash;
      const Colour colour = i == text.index ? t.ink : i < text.index ? t.ink3 : t.edge;
      canvas.rect({right, top.centre().y - 0.08f * em, dash, 0.16f * em}, {.colour = colour});
      right -= step - dash;
    }
    right -= 0.3f * em;
  }
  const std::string place = std::to_string(text.index + 1) + " / " + std::to_string(text.count);
  small.halign = HAlign::right;
  canvas.text({right, top.centre().y}, place, small);
  small.halign = HAlign::left;
  canvas.text({top.x, top.centre().y},
              ellipsize(canvas, text.tour, small, right - canvas.text_width(place, small) - em - top.x), small);
  const TextStyle large = style_of(canvas, t.ink, kTitle, Weight::bold);
  canvas.text({title.x, title.centre().y}, ellipsize(canvas, text.title, large, title.w), large);
  const TextStyle plan = style_of(canvas, t.ink3, kLabel);
  canvas.text({head.x, head.y + 0.5f * em}, ellipsize(canvas, text.plan, plan, head.w), plan);

  const Side side = side_of(canvas, &t, text, layout.side.w, layout.scale);
  float y = layout.side.y;
  if (!side.context.lines.empty()) y = draw(canvas, {layout.side.x, y}, side.context) + side.gap;
  y = draw(canvas, {layout.side.x, y}, side.question) + side.gap;
  for (std::size_t i = 0; i < layout.choices.size(); ++i) {
    const Rect& box = layout.choices[i];
    const bool on = text.chosen == i;
    canvas.rect(box, {.colour = on ? t.ink : t.ctl}, canvas.px(3));
    canvas.frame(box, {on ? t.ink : t.edge, canvas.px(1.2f), {}}, canvas.px(3));
    const float side_of_cap = std::round(0.6f * box.h);
    const Rect cap{box.x + std::round(0.2f * box.h), box.centre().y - side_of_cap / 2, side_of_cap, side_of_cap};
    draw_number(canvas, cap, i + 1, on ? t.inv : t.edge,
                style_of(canvas, on ? t.inv : t.ink2, kLabel * layout.scale));
    TextStyle words = style_of(canvas, on ? t.inv : t.ink, kQuestion * layout.scale);
    const float x = cap.right() + std::round(0.3f * box.h), room = box.right() - x - 0.3f * em;
    // Smaller in one line, or where that would be too small in two.
    if (const float wide = canvas.text_width(text.choices[i], words); wide > room)
      words.em = std::max(kTwoLines * em, words.em * room / wide);
    std::vector<std::string> lines = wrap(canvas, text.choices[i], words, room, 2);
    if (lines.back().ends_with("\u2026") && !text.choices[i].ends_with("\u2026")) {
      words.em = kLeastChoice * em;
      lines = wrap(canvas, text.choices[i], words, room, 2);
    }
    const float pitch = kChoiceLine * words.em;
    float middle = box.centre().y - pitch * static_cast<float>(lines.size() - 1) / 2, end = x;
    for (const std::string& line : lines) {
      canvas.text({x, middle}, line, words);
      end = std::max(end, x + canvas.text_width(line, words));
      middle += pitch;
    }
    // Not by its shade alone; the hint says it too.
    const Rect tick{box.right() - cap.w - 0.3f * em, cap.y, cap.w, cap.h};
    if (on && end + 0.3f * em < tick.x) draw_check_mark(canvas, tick, {t.inv, tick.h * 0.14f, {}});
  }
  if (text.revealed) {
    if (text.right_choice > 0) {
      const float line = kLine * side.answer.style.em, size = std::round(0.75f * line);
      draw_number(canvas, {layout.side.x, y + (line - size) / 2, size, size}, text.right_choice, t.ink,
                  style_of(canvas, t.ink, kQuestion * layout.scale));
    }
    y = draw(canvas, {layout.side.x + side.indent, y}, side.answer);
    y = draw(canvas, {layout.side.x, y}, side.verdict) + side.gap;
    y = draw(canvas, {layout.side.x, y}, side.sentence) + side.gap;
    if (!side.next.lines.empty()) {
      canvas.line({layout.side.x, y}, {layout.side.right(), y}, {t.line, canvas.px(1), {}});
      draw(canvas, {layout.side.x, y + side.gap / 2}, side.next);
    }
  }
  // At the foot: how to go on, and where it is from.
  float foot = layout.side.bottom() - side.source.height();
  draw(canvas, {layout.side.x, foot}, side.source);
  foot -= side.hint.height();
  draw(canvas, {layout.side.x, foot}, side.hint);
}

FigureView scene_view(const io::TourFigure& figure) {
  FigureView view;
  if (const FigureRow* row = find_figure(figure.name))
    for (const std::string& option : figure.with) (void)choose(*row, option, view);
  return view;
}

std::vector<Rect> figure_places(const Canvas& canvas, const Rect& area, std::size_t count) {
  if (count < 2) return {area};
  const float gap = std::round(1.2f * canvas.em());
  // Beside each other where each keeps the shape of a figure, else one over the other.
  if (area.w > 2.2f * area.h) {
    const float w = (area.w - gap) / 2;
    return {{area.x, area.y, w, area.h}, {area.x + w + gap, area.y, w, area.h}};
  }
  const float h = (area.h - gap) / 2;
  return {{area.x, area.y, area.w, h}, {area.x, area.y + h + gap, area.w, h}};
}

Rect figure_rest(const Canvas& canvas, Rect place) {
  place.cut_top(std::round(1.6f * canvas.em()));
  return place;
}

Rect draw_figure_title(Canvas& canvas, const Theme& t, Rect area, const FigureHead& head, bool revealed) {
  const Rect line = area.cut_top(std::round(1.6f * canvas.em()));
  TextStyle name = style_of(canvas, t.ink2, 1);
  const TextStyle phrase = style_of(canvas, t.ink3, 1);
  std::string title = head.title;
  if (const float wide = canvas.text_width(title, name); wide > line.w)
    name.em = std::max(kSmallText * canvas.em(), name.em * line.w / wide);
  // What stands in brackets, such as the axis, which is named there, is left out before anything is cut.
  if (const std::size_t aside = title.rfind(" (");
      aside != std::string::npos && canvas.text_width(title, name) > line.w)
    title.resize(aside);
  title = ellipsize(canvas, title, name, line.w);
  canvas.text({line.x, line.centre().y}, title, name);
  if (!revealed || head.takeaway.empty()) return area;
  const float x = line.x + canvas.text_width(title, name) + 0.8f * canvas.em(), room = line.right() - x;
  std::string takeaway = head.takeaway;
  if (canvas.text_width(takeaway, phrase) > room && !head.brief.empty()) takeaway = head.brief;
  // Whole or not at all: the scene's sentence says what there is to see.
  if (canvas.text_width(takeaway, phrase) <= room) canvas.text({x, line.centre().y}, takeaway, phrase);
  return area;
}

void draw_cover(Canvas& canvas, const Theme& t, const Rect& area) {
  const float em = canvas.em();
  Fill fill;
  fill.colour = t.ctl;
  fill.hatch = Hatch::sparse_slash;
  fill.hatch_ink = faded(t.ink3, 0.25f);
  canvas.rect(area, fill, canvas.px(4));
  canvas.frame(area, {t.edge, canvas.px(1), {}}, canvas.px(4));
  TextStyle mark = style_of(canvas, t.ink2, std::clamp(0.4f * area.h / em, 0.8f, kTitle), Weight::bold);
  mark.halign = HAlign::centre;
  canvas.text(area.centre(), "?", mark);
}

void draw_marks(Canvas& canvas, const Theme& t, const Rect& area, const io::TourScene& scene, std::size_t first,
                bool revealed) {
  const auto named = [](const TagRegion& tag, const std::string& wanted) {
    return wanted == tag.id || wanted == tag.id + "#" + std::to_string(tag.index);
  };
  const std::vector<TagRegion> tags(
      canvas.tags().begin() + static_cast<std::ptrdiff_t>(std::min(first, canvas.tags().size())),
      canvas.tags().end());
  for (const std::string& wanted : revealed ? scene.highlight : scene.cover)
    for (const TagRegion& tag : tags) {
      if (!named(tag, wanted) || tag.rect.empty()) continue;
      Rect box = tag.rect;
      if (revealed) {
        box = intersection(box.inset(-canvas.px(3)), area);
        canvas.frame(box, {t.stroke(Hue::yellow), canvas.px(2.5f), {}}, canvas.px(3));
        continue;
      }
      // A bar is covered along with all its length could be, so that the cover does not tell it.
      box = box.w >= box.h ? rect_between(box.x, box.y - canvas.px(2), area.right(), box.bottom() + canvas.px(2))
                           : rect_between(box.x - canvas.px(2), area.y, box.right() + canvas.px(2), box.bottom());
      draw_cover(canvas, t, intersection(box, area));
    }
}

void draw_scene_figure(Canvas& canvas, const Rect& area, const SceneFigures& of, std::size_t index,
                       std::string_view state) {
  const io::TourFigure& figure = of.scene.figures[index];
  if (const BlockState* block = of.values.block(state)) {
    const engine::PictureData& data = of.values.picture(index, state);
    const BlockFigure picture{block->question.call, data, of.texts, of.theme, of.axes};
    if (!data.lines.empty()) draw_block_figure(canvas, area, picture, false);
    return;
  }
  const PlanState* plan = of.values.plan(state);
  const FigureRow* row = find_figure(figure.name);
  if (plan == nullptr || row == nullptr) return;
  const PlanState* was = of.revealed ? of.values.plan(io::kBeforeState) : nullptr;
  std::optional<Baseline> ghost;
  if (was != nullptr) ghost.emplace(Baseline{was->scenario, was->report});
  FigureInput input{plan->scenario,    plan->report, of.texts, of.theme, of.studies, ghost ? &*ghost : nullptr, {},
                    of.library.chips()};
  input.axes = of.axes;
  draw_figure(*row, canvas, area, input, scene_view(figure));
}

bool shares_axes(const io::TourScene& scene) {
  return guesses_on_figure(scene) || (scene.has_before() && scene.runs);
}

void keep_scene_axes(const Canvas& canvas, const Rect& area, const SceneFigures& of, std::size_t index) {
  of.axes->hold(true);
  SceneFigures plain = of;
  plain.revealed = true;
  InkCanvas apart(canvas.metrics(), canvas.em(), canvas.bounds());
  for (const std::string_view state : {io::kBeforeState, io::kShownState})
    if (state == io::kShownState || of.scene.has_before()) draw_scene_figure(apart, area, plain, index, state);
}

void draw_scene_figures(Canvas& canvas, const Rect& area, const SceneFigures& of) {
  const std::vector<Rect> places = figure_places(canvas, area, of.scene.figures.size());
  const std::string_view state = !of.revealed && of.scene.has_before() ? io::kBeforeState : io::kShownState;
  const bool whole = !of.revealed && of.scene.covered;
  HeldAxes own;
  for (std::size_t i = 0; i < of.scene.figures.size() && i < places.size(); ++i) {
    const io::TourFigure& figure = of.scene.figures[i];
    const Tagging before = canvas.tagging();
    if (!of.scene.cover.empty() || !of.scene.highlight.empty()) canvas.set_tagging(Tagging::all);
    const std::size_t first = canvas.tags().size();
    FigureHead head;
    if (const BlockState* block = of.values.block(state)) {
      const engine::PictureData& data = of.values.picture(i, state);
      head = block_figure_head({block->question.call, data, of.texts, of.theme});
    } else if (const PlanState* plan = of.values.plan(state)) {
      const FigureRow* row = find_figure(figure.name);
      if (row == nullptr) continue;
      const FigureInput input{plan->scenario, plan->report, of.texts, of.theme,
                              of.studies,     nullptr,      {},       of.library.chips()};
      head = figure_head(*row, input, scene_view(figure));
    }
    const Rect rest = draw_figure_title(canvas, of.theme, places[i], head, of.revealed);
    // Where a number is guessed on the figure its axes are there from the first, and stay.
    std::optional<MarkPlace> mark;
    SceneFigures drawn = of;
    const bool guessed = i == 0 && guesses_on_figure(of.scene);
    if (drawn.axes == nullptr && shares_axes(of.scene)) {
      drawn.axes = &own;
      if (!guessed) keep_scene_axes(canvas, rest, drawn, i);
    }
    if (guessed) mark = of.mark != nullptr ? std::optional(*of.mark) : mark_place(canvas, rest, drawn);
    if (!whole)
      draw_scene_figure(canvas, rest, drawn, i, state);
    else if (mark)
      draw_open_axes(canvas, rest, drawn, *mark);
    else
      draw_cover(canvas, of.theme, rest);
    if (!whole) draw_marks(canvas, of.theme, rest, of.scene, first, of.revealed);
    // Where nobody guessed, as in files: the answer on its axis, and the tick at what was right.
    if (mark && of.revealed && of.mark == nullptr) {
      ScenePlay answered;
      answered.revealed = true;
      draw_guess_mark(canvas, *mark, {of.scene, of.values, of.texts, of.theme, answered}, {});
    }
    canvas.set_tagging(before);
  }
}

}  // namespace roofscape::app
