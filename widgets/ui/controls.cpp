#include "widgets/ui/controls.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include "engine/base/read_number.h"
#include "widgets/canvas/number_format.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

namespace {

double to_track(const SliderRange& range, double value) {
  const auto place = [&](double v) {
    switch (range.kind) {
      case SliderKind::power_of_two:
      case SliderKind::logarithmic:
        return std::log2(std::max(v, 1e-300));
      default:
        return v;
    }
  };
  const double from = place(range.track_from), to = place(range.track_to);
  return to == from ? 0 : std::clamp((place(value) - from) / (to - from), 0.0, 1.0);
}

double from_track(const SliderRange& range, double t) {
  t = std::clamp(t, 0.0, 1.0);
  double v = 0;
  switch (range.kind) {
    case SliderKind::power_of_two: {
      const double from = std::log2(range.track_from), to = std::log2(range.track_to);
      v = std::exp2(std::round(from + t * (to - from)));
      break;
    }
    case SliderKind::logarithmic: {
      const double from = std::log10(range.track_from), to = std::log10(range.track_to);
      v = std::pow(10.0, from + t * (to - from));
      // Two significant digits: a drag should land on numbers one would say.
      const double step = std::pow(10.0, std::floor(std::log10(v)) - 1);
      v = std::round(v / step) * step;
      break;
    }
    case SliderKind::integer:
      v = std::round(range.track_from + t * (range.track_to - range.track_from));
      break;
    case SliderKind::linear: {
      v = range.track_from + t * (range.track_to - range.track_from);
      const double step = std::pow(10.0, std::floor(std::log10(range.track_to - range.track_from)) - 2);
      v = std::round(v / step) * step;
      break;
    }
  }
  return v;
}

double clamped(const SliderRange& range, double v) {
  if (range.whole) v = std::round(v);
  return std::clamp(v, range.minimum, range.maximum);
}

double stepped(const SliderRange& range, double value, int steps) {
  switch (range.kind) {
    case SliderKind::power_of_two: {
      // Where nothing is a value, it lies one step below one.
      if (range.minimum <= 0 && value < 1 && steps > 0) return std::exp2(steps - 1);
      if (range.minimum <= 0 && value <= 1 && steps < 0) return 0;
      // From a value between two powers the first step goes to the next power in that direction.
      const double exponent = std::log2(std::max(value, 1.0));
      const double start = steps > 0 ? std::floor(exponent + 1e-9) : std::ceil(exponent - 1e-9);
      return std::exp2(std::max(0.0, start + steps));
    }
    case SliderKind::logarithmic:
      return from_track(range, to_track(range, value) + 0.02 * steps);
    case SliderKind::integer:
      return value + steps;
    case SliderKind::linear:
      return value + steps * (range.track_to - range.track_from) / 100;
  }
  return value;
}

void draw_track(Ui& ui, const Rect& r, const ControlInfo& info, const SliderRange& range, double value, bool held) {
  const Theme& t = ui.theme;
  const float y = std::round(r.centre().y), h = ui.px(4), x = r.x + static_cast<float>(to_track(range, value)) * r.w;
  ui.canvas.rect({r.x, y - h / 2, r.w, h}, {.colour = t.ctlh}, ui.px(2));
  const Colour colour = info.off ? t.edge : info.swatch ? info.swatch->colour : t.ink2;
  if (x - r.x > ui.px(2)) ui.canvas.rect({r.x, y - h / 2, x - r.x, h}, {.colour = colour}, ui.px(2));
  // One notch a power of two (or ten where there would be too many), one an integer.
  double from = range.track_from, to = range.track_to;
  int notches = 0;
  if (range.kind == SliderKind::power_of_two) notches = static_cast<int>(std::lround(std::log2(to / from)));
  if (range.kind == SliderKind::logarithmic) notches = static_cast<int>(std::lround(std::log10(to / from)));
  if (range.kind == SliderKind::integer) notches = static_cast<int>(to - from);
  if (notches > 0 && r.w / static_cast<float>(notches) >= ui.px(3))
    for (int i = 0; i <= notches; ++i) {
      const float nx = std::round(r.x + r.w * static_cast<float>(i) / static_cast<float>(notches));
      ui.canvas.rect({nx, y + ui.px(6), std::max(1.0f, std::round(ui.px(1))), ui.px(2)}, {.colour = t.edge});
    }
  // Each notch has the part of the band that is nearest to it.
  for (std::size_t i = 0; i < info.preview.size(); ++i) {
    const auto place = [&](std::size_t k) {
      return r.x + static_cast<float>(to_track(range, info.preview[k].value)) * r.w;
    };
    const float x0 = i == 0 ? place(0) : (place(i - 1) + place(i)) / 2;
    const float x1 = i + 1 == info.preview.size() ? place(i) : (place(i) + place(i + 1)) / 2;
    const float top = std::round(y + ui.px(9)), thick = std::max(2.0f, std::round(ui.px(3)));
    const float step = ui.px(5), part = ui.px(info.preview[i].dashed ? 3 : 5);
    for (float at = x0; at < x1; at += step)
      ui.canvas.rect(rect_between(at, top, std::min(x1, at + part), top + thick), {.colour = info.preview[i].colour});
  }
  if (info.baseline) {
    const float gx = r.x + static_cast<float>(to_track(range, *info.baseline)) * r.w;
    const Rect ghost{std::round(gx - ui.px(4)), std::round(y - ui.px(8)), ui.px(8), ui.px(16)};
    const Stroke dashes{t.ink2, std::max(1.0f, ui.px(1)), Dash{ui.px(2), ui.px(2)}};
    const std::array<Point, 5> edge{Point{ghost.x, ghost.y}, Point{ghost.right(), ghost.y},
                                    Point{ghost.right(), ghost.bottom()}, Point{ghost.x, ghost.bottom()},
                                    Point{ghost.x, ghost.y}};
    ui.canvas.polyline(edge, dashes);
  }
  const float tall = kTallThumb * ui.em();
  const float tw = info.tall ? tall : ui.px(info.off && !held ? 5 : 8);
  const float th = info.tall ? tall : ui.px(info.off && !held ? 12 : 16);
  const Rect thumb{std::round(x - tw / 2), std::round(y - th / 2), tw, th};
  ui.canvas.rect(thumb, {.colour = info.off && !held && !info.tall ? t.edge : t.ink},
                 info.tall ? tall / 2 : ui.px(1.5f));
  if (held) ui.canvas.frame(thumb.inset(-ui.px(3)), {t.ink2, ui.px(1), {}}, ui.px(3));
}

// The unit that a number typed without one has; empty where it has one, or none would be shown.
std::string bare_unit(std::string_view typed, const engine::Unit& unit) {
  if (typed.empty() || engine::names_unit(typed)) return {};
  if (unit.notation == engine::Notation::percent) {
    // Above 1 it is read as a percentage.
    const engine::NumberReading read = engine::read_number(typed, unit);
    const engine::NumberReading alone = engine::read_number(typed, engine::unit::one);
    return read && alone && *read != *alone ? "%" : "";
  }
  if (unit.notation == engine::Notation::money) return "$";
  return box_parts(0, {unit.symbol, unit.dimension, engine::Notation::plain}).unit;
}

void draw_entry(Ui& ui, const Rect& box, bool align_right) {
  const auto& entry = ui.io.entry();
  const TextStyle style = text_style(ui, ui.theme.ink);
  const auto clip = ui.canvas.clip(box.inset(ui.px(2), 0));
  const float whole = ui.canvas.text_width(entry.text, style);
  float x = align_right ? box.right() - ui.px(7) - whole : box.x + ui.px(7);
  const auto at = [&](std::size_t byte) {
    return x + ui.canvas.text_width(std::string_view(entry.text).substr(0, byte), style);
  };
  // Keep the caret inside.
  const float caret_now = at(entry.caret);
  if (caret_now > box.right() - ui.px(6)) x -= caret_now - (box.right() - ui.px(6));
  if (at(entry.caret) < box.x + ui.px(6)) x += box.x + ui.px(6) - at(entry.caret);
  const float a = at(std::min(entry.caret, entry.anchor)), b = at(std::max(entry.caret, entry.anchor));
  if (b > a) ui.canvas.rect(rect_between(a, box.y + ui.px(4), b, box.bottom() - ui.px(4)), {.colour = ui.theme.edge});
  TextStyle shown = style;
  shown.valign = VAlign::middle;
  ui.canvas.text({x, box.centre().y}, entry.text, shown);
  const float c = std::round(at(entry.caret));
  ui.canvas.rect({c, box.y + ui.px(4), std::max(1.0f, ui.px(1.25f)), box.h - ui.px(8)}, {.colour = ui.theme.ink});
}

}  // namespace

TextStyle text_style(const Ui& ui, Colour colour, float size, Weight weight) {
  TextStyle s;
  s.em = ui.em() * size;
  s.weight = weight;
  s.valign = VAlign::middle;
  s.colour = colour;
  return s;
}

void draw_control_frame(Ui& ui, const Rect& r, bool hovered, bool ring, std::optional<Mark> mark) {
  ui.canvas.rect(r, {.colour = hovered ? ui.theme.ctlh : ui.theme.ctl}, ui.px(3));
  Colour edge = ui.theme.edge;
  if (mark == Mark::error || mark == Mark::warning) edge = mark_colour(ui.theme, *mark);
  ui.canvas.frame(r, {edge, std::max(1.0f, ui.px(1)), {}}, ui.px(3));
  if (ring) ui.canvas.frame(r.inset(-ui.px(3)), {ui.theme.ink, ui.px(2), {}}, ui.px(4));
}

void draw_differs(Ui& ui, const Rect& row) {
  const float h = ui.px(14);
  ui.canvas.rect({std::round(row.x - ui.px(11)), std::round(row.centre().y - h / 2), std::round(ui.px(3)), h},
                 {.colour = ui.theme.ink});
}

NumberText box_parts(double value, const engine::Unit& unit) {
  // Words ("tokens") stand beside the box where there is room, symbols in it.
  const bool word = unit.symbol.size() > 2 && unit.symbol[0] >= 'a' && unit.symbol[0] <= 'z' && unit.symbol != "kWh";
  const std::string_view symbol = unit.symbol == "1" || word ? std::string_view{} : unit.symbol;
  switch (unit.notation) {
    case engine::Notation::count:
      return {format_count(value), {}};
    case engine::Notation::percent:
      return {format_significant(value * 100, 4, true), "%"};
    case engine::Notation::si:
      return format_parts(value, {symbol, {}, engine::Notation::si}, {.trim_zeros = true, .significant = 4});
    case engine::Notation::duration:
      return format_parts(value, unit, {.trim_zeros = true, .significant = 4});
    case engine::Notation::money:
      return {"$" + format_significant(value, 6, true), {}};
    case engine::Notation::plain:
      break;
  }
  return {format_significant(value, 6, true), std::string(symbol)};
}

std::string box_text(double value, const engine::Unit& unit) {
  const NumberText parts = box_parts(value, unit);
  return parts.unit.empty() ? parts.number : parts.number + std::string(kNarrowSpace) + parts.unit;
}

Edited slider(Ui& ui, Point top_left, float width, const ControlInfo& info, const SliderRange& range, double value) {
  const Theme& t = ui.theme;
  const Rect row{top_left.x, top_left.y, width, std::round(info.tall ? kTallRow * ui.em() : ui.px(kRowHeight))};
  const Rect head{row.x, row.y, row.w, info.tall ? std::round(kTallHead * ui.em()) : row.h};
  const std::string id(info.id);
  const float box_w = std::round(ui.px(info.box_width)),
              box_h = std::round(info.tall ? 1.25f * ui.em() : ui.px(kBoxHeight));
  const Rect box{head.right() - box_w, head.y + std::round((head.h - box_h) / 2), box_w, box_h};
  const float track_x = row.x + ui.px(info.label_width), half_thumb = kTallThumb * ui.em() / 2;
  const Rect track = info.tall
                         ? rect_between(row.x + half_thumb, head.bottom(), row.right() - half_thumb, row.bottom())
                         : Rect{track_x, row.y, std::max(ui.px(40), box.x - ui.px(13) - track_x), row.h};
  const float label_end = info.tall ? box.x : track.x;

  ItemState all = ui.item(info.id, row, info.tall ? Interaction::Focus::none : Interaction::Focus::tab_stop);
  ui.probe.report(id + ".track", track, ui.canvas.clip_rect());
  ui.probe.report(id + ".box", box, ui.canvas.clip_rect());
  const Point pointer = ui.io.pointer(), origin = ui.io.drag_origin();
  const bool in_box = box.contains(all.held ? origin : pointer);
  double next = value;
  std::optional<std::string> refused;
  engine::Sentence problem, remedy;

  if (ui.io.editing(info.id)) {
    const auto event = ui.io.run_entry();
    const bool left = all.pressed ? !in_box : ui.io.input().down[0] && !box.contains(pointer);
    if (event == Interaction::EntryEvent::accepted || left) {
      // The box shows few digits: left as it was, it changes nothing.
      const std::string& text = ui.io.entry().text;
      engine::NumberReading typed;
      if (text == box_text(value, range.unit))
        typed.value = value;
      else
        typed = engine::read_number(text, range.unit);
      if (typed) next = *typed == value ? value : clamped(range, *typed);
      if (!typed || next != *typed) refused = text;
      problem = typed.problem;
      remedy = typed.remedy;
      ui.io.stop_entry();
    } else if (event == Interaction::EntryEvent::cancelled) {
      ui.io.stop_entry();
    }
  } else {
    const bool type = (all.pressed && (in_box || ui.io.input().control));
    const std::string& typed = ui.io.input().typed;
    const bool digit = all.focused && !ui.io.input().control && typed.size() == 1 &&
                       (std::isdigit(static_cast<unsigned char>(typed[0])) || typed[0] == '.');
    if (type || (all.clicked && all.focused && !all.hovered)) {
      ui.io.start_entry(info.id, box_text(value, range.unit));
    } else if (digit) {
      ui.io.start_entry(info.id, {});
      ui.io.run_entry();  // takes the character and its key
    } else if (all.held && !in_box && !ui.io.input().control && track.inset(-ui.px(8), 0).contains(origin)) {
      // A press that does not move leaves a value between two notches as it is.
      if (!(all.pressed) ||
          std::abs(pointer.x - (track.x + static_cast<float>(to_track(range, value)) * track.w)) > ui.px(6))
        if (all.pressed || ui.io.dragged_sideways())
          next = clamped(range, from_track(range, static_cast<double>((pointer.x - track.x) / track.w)));
    } else if (all.right_clicked && range.reset_to) {
      next = clamped(range, *range.reset_to);
    } else if (all.focused) {
      const int up = (ui.io.take(Key::right) ? 1 : 0) - (ui.io.take(Key::left) ? 1 : 0);
      const int big = (ui.io.take({Key::right, false, true, false}) ? 1 : 0) -
                      (ui.io.take({Key::left, false, true, false}) ? 1 : 0);
      const int steps = up + big * (range.kind == SliderKind::power_of_two ? 2 : 10);
      if (steps != 0) next = clamped(range, stepped(range, value, steps));
      if (ui.io.take(Key::home)) next = clamped(range, range.track_from);
      if (ui.io.take(Key::end)) next = clamped(range, range.track_to);
    }
  }

  if (all.hovered && !all.held && !info.tall)
    ui.canvas.rect(row.inset(-ui.px(6), 0), {.colour = mix(t.panel, t.ctl, 0.75f)}, ui.px(3));
  if (all.ring) ui.canvas.frame(row.inset(-ui.px(6), 0), {t.ink, ui.px(2), {}}, ui.px(3));
  float x = row.x;
  if (info.swatch) {
    const float s = std::round(ui.px(10));
    ui.canvas.rect({row.x, std::round(row.centre().y - s / 2), s, s}, *info.swatch);
    x += ui.px(18);
  }
  ui.canvas.text({x, head.centre().y},
                 ellipsize(ui.canvas, info.label, text_style(ui, t.ink2), label_end - x - ui.px(info.mark ? 22 : 4)),
                 text_style(ui, info.off ? t.ink3 : t.ink));
  if (info.baseline && !info.tall) draw_differs(ui, row);
  if (info.mark) draw_mark(ui.canvas, t, {label_end - ui.px(15), head.centre().y}, ui.px(12), *info.mark);
  draw_track(ui, track, info, range, next, all.held && !in_box);

  const bool editing = ui.io.editing(info.id);
  draw_control_frame(ui, box, all.hovered && in_box, false, info.mark);
  if (editing) ui.canvas.frame(box, {t.ink, ui.px(1.5f), {}}, ui.px(3));
  TextStyle u = text_style(ui, t.ink3, kSmallText);
  u.halign = HAlign::right;
  if (editing) {
    // A number alone is in the base unit: it says so while it is typed.
    const std::string base = bare_unit(ui.io.entry().text, range.unit);
    Rect field = box;
    if (!base.empty()) {
      ui.canvas.text({box.right() - ui.px(8), box.centre().y}, base, u);
      field.w -= ui.canvas.text_width(base, u) + ui.px(4);
    }
    draw_entry(ui, field, true);
  } else {
    float right = box.right() - ui.px(8);
    const NumberText parts = box_parts(next, range.unit);
    TextStyle v = text_style(ui, info.mark == Mark::error ? t.err : info.off ? t.ink2 : t.ink);
    v.halign = HAlign::right;
    // A word steps back where it would squeeze the number; the tip has it.
    const float room = right - box.x - ui.px(5);
    std::string unit = parts.unit.empty() ? info.unit : parts.unit;
    if (parts.unit.empty() && ui.canvas.text_width(parts.number, v) + ui.canvas.text_width(unit, u) + ui.px(4) > room)
      unit.clear();
    // What is wider than the box with its unit is written smaller, both.
    if (!unit.empty()) {
      TextStyle small = v;
      small.em = ui.em() * kSmallText;
      const float wide = ui.canvas.text_width(parts.number, small) + ui.canvas.text_width(unit, u);
      if (const float left = room - ui.px(4); wide > left) {
        u.em *= left / wide;
        v.em = small.em * left / wide;
      }
      ui.canvas.text({right, box.centre().y}, unit, u);
      right -= ui.canvas.text_width(unit, u) + ui.px(4);
    }
    const float left = right - box.x - ui.px(5);
    if (ui.canvas.text_width(parts.number, v) > left) v.em = std::min(v.em, ui.em() * kSmallText);
    if (const float wide = ui.canvas.text_width(parts.number, v); wide > left) v.em *= left / wide;
    ui.canvas.text({right, box.centre().y}, parts.number, v);
  }
  if (all.hovered && in_box) ui.io.set_cursor(Cursor::text);
  if (all.hovered && !editing && !all.held) ui.io.hint(info.id, row, info.tip, info.about);

  return {next, row.h, std::move(refused), std::move(problem), std::move(remedy)};
}

Interaction::EntryEvent text_box(Ui& ui, const Rect& r, std::string_view id) {
  const ItemState s = ui.item(id, r);
  if (!ui.io.editing(id)) {
    if (s.pressed || s.clicked) ui.io.start_entry(id, ui.io.entry().text);
    draw_control_frame(ui, r, s.hovered, s.ring);
    return Interaction::EntryEvent::none;
  }
  const auto event = ui.io.run_entry();
  draw_control_frame(ui, r, false, false);
  ui.canvas.frame(r, {ui.theme.ink, ui.px(1.5f), {}}, ui.px(3));
  draw_entry(ui, r, false);
  if (s.hovered) ui.io.set_cursor(Cursor::text);
  return event;
}

}  // namespace roofscape::widgets
