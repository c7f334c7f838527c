// Scrolled regions and what lies over everything: the open list and the hover text of controls.h.
#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/text_match.h"
#include "engine/base/utf8.h"
#include "widgets/canvas/number_format.h"
#include "widgets/plot/plot.h"
#include "widgets/ui/controls.h"

namespace roofscape::widgets {

namespace {
constexpr float kFade = 20;

// What goes on below fades out, rather than end in the middle of its letters.
void fade_out(Ui& ui, const Rect& view) {
  constexpr int kSteps = 8;
  Rect rest = view;
  Rect foot = rest.cut_bottom(ui.px(kFade));
  for (int i = 1; i <= kSteps; ++i)
    ui.canvas.rect(foot.cut_top(ui.px(kFade) / kSteps),
                   {.colour = faded(ui.theme.panel, static_cast<float>(i) / kSteps)});
}

// What does not fit; less than a few pixels is not worth a scroll bar.
float overflow(float content, const Rect& view) { return content - view.h < 3 ? 0 : content - view.h; }
}  // namespace

ScrollRegion begin_scroll(Ui& ui, std::string_view id, const Rect& view) {
  auto& s = ui.io.scroll(id);
  const float most = overflow(s.content, view);
  s.offset = confined(std::round(s.offset), 0.0f, most);
  s.shows_chosen = false;
  return {view, view.y - s.offset, id};
}

void chosen_row(Ui& ui, const ScrollRegion& region, std::string_view id, const Rect& row) {
  auto& s = ui.io.scroll(region.id);
  const std::uint64_t chosen = Interaction::hash(id);
  if (std::exchange(s.shows_chosen, true) || s.chosen == chosen) return;
  s.chosen = chosen;
  if (row.y < region.view.y || row.bottom() > region.view.bottom())
    s.offset += row.centre().y - region.view.centre().y;
}

void end_scroll(Ui& ui, const ScrollRegion& region, float content_bottom) {
  auto& s = ui.io.scroll(region.id);
  const Rect& view = region.view;
  s.content = content_bottom - region.content_top;
  const float most = overflow(s.content, view);
  if (const float notches = ui.io.take_wheel(view); notches != 0) s.offset -= notches * ui.px(kRowHeight) * 2;
  // A control that gets the focus by keyboard comes into sight.
  if (ui.io.focus_moved() && ui.io.focus_rect()) {
    const Rect f = *ui.io.focus_rect();
    const bool inside = f.x >= view.x && f.right() <= view.right() && f.y >= region.content_top - 1 &&
                        f.bottom() <= content_bottom + 1;
    if (inside) {
      if (f.y < view.y) s.offset -= view.y - f.y + ui.px(8);
      if (f.bottom() > view.bottom()) s.offset += f.bottom() - view.bottom() + ui.px(8);
    }
  }
  if (s.offset < most - 1) fade_out(ui, view);
  if (most > 0) {
    const float track_w = ui.px(4), length = std::max(ui.px(32), view.h * view.h / s.content);
    const Rect grab{view.right() - ui.px(9), view.y, ui.px(9), view.h};
    const ItemState item = ui.item(std::string(region.id) + ".scroll", grab, Interaction::Focus::none);
    if (item.pressed) s.grab = s.offset;
    if (item.held && view.h > length)
      s.offset = s.grab + (ui.io.pointer().y - ui.io.drag_origin().y) * most / (view.h - length);
    const float at = view.y + (view.h - length) * std::clamp(s.offset / most, 0.0f, 1.0f);
    ui.canvas.rect({view.right() - ui.px(6), at + ui.px(2), track_w, length - ui.px(4)},
                   {.colour = item.hovered || item.held ? ui.theme.ink3 : ui.theme.line}, ui.px(2));
  }
  s.offset = confined(s.offset, 0.0f, most);
}

float scroll_across(Ui& ui, std::string_view id, const Rect& view, float content_width) {
  auto& s = ui.io.scroll(id);
  s.content = content_width;
  const float most = s.content - view.w < 3 ? 0 : s.content - view.w;
  if (const float notches = ui.io.take_wheel_across(view); notches != 0) s.offset -= notches * ui.px(kRowHeight) * 2;
  if (most > 0) {
    const float length = std::max(ui.px(32), view.w * view.w / s.content);
    const Rect grab{view.x, view.bottom() - ui.px(9), view.w, ui.px(9)};
    const ItemState item = ui.item(id, grab, Interaction::Focus::none);
    if (item.pressed) s.grab = s.offset;
    if (item.held && view.w > length)
      s.offset = s.grab + (ui.io.pointer().x - ui.io.drag_origin().x) * most / (view.w - length);
    const float at = view.x + (view.w - length) * std::clamp(s.offset / most, 0.0f, 1.0f);
    ui.canvas.rect({at + ui.px(2), view.bottom() - ui.px(6), length - ui.px(4), ui.px(4)},
                   {.colour = item.hovered || item.held ? ui.theme.ink3 : ui.theme.line}, ui.px(2));
  }
  s.offset = confined(std::round(s.offset), 0.0f, most);
  return s.offset;
}

namespace {

// The list as it is drawn: the entries that have what was typed, and their places.
struct PopupRows {
  std::vector<int> shown;
  std::vector<float> tops;  // from the top of the list's content
  float row_h = 0, pad = 0, total = 0;
};

// How well what was typed finds it, by any of its names.
engine::Match match_of_option(std::string_view typed, const Option& option) {
  engine::Match best = engine::match_of(typed, option.text, option.id);
  for (const std::string& alias : option.aliases) best = std::max(best, engine::match_of(typed, alias));
  return best;
}

float separator_height(Ui& ui, const Option& option) { return option.separated ? ui.px(9) : 0; }

PopupRows popup_rows(Ui& ui, const Interaction::Popup& popup) {
  PopupRows rows;
  rows.row_h = std::round(ui.px(kRowHeight));
  rows.pad = ui.px(5);
  float y = rows.pad;
  for (std::size_t i = 0; i < popup.options.size(); ++i) {
    const Option& o = popup.options[i];
    if (popup.searched() && !popup.typed.empty() && match_of_option(popup.typed, o) == engine::Match::none) continue;
    if (!rows.shown.empty()) y += separator_height(ui, o);
    rows.shown.push_back(static_cast<int>(i));
    rows.tops.push_back(y);
    y += rows.row_h;
  }
  rows.total = y + rows.pad;
  return rows;
}

// Below its anchor, above where there is no room; for all entries, so that a search moves no edge at the anchor.
Rect popup_rect(Ui& ui, const Interaction::Popup& popup, const Rect& window) {
  float width = popup.min_width, height = ui.px(10) + (popup.searched() ? std::round(ui.px(kRowHeight)) : 0);
  for (const Option& o : popup.options) {
    float w = ui.canvas.text_width(o.text, text_style(ui, ui.theme.ink)) + ui.px(44);
    if (!o.detail.empty()) w += ui.canvas.text_width(o.detail, text_style(ui, ui.theme.ink3, kSmallText)) + ui.px(24);
    width = std::max(width, w);
    height += std::round(ui.px(kRowHeight)) + separator_height(ui, o);
  }
  width = std::min(width, window.w - ui.px(16));
  Rect r{popup.anchor.x, popup.anchor.bottom() + ui.px(3), width, height};
  const float below = window.bottom() - ui.px(6) - r.y, above = popup.anchor.y - ui.px(9) - window.y;
  if (r.h > below && above > below) {
    r.h = std::min(r.h, above);
    r.y = popup.anchor.y - ui.px(3) - r.h;
  } else {
    r.h = std::min(r.h, below);
  }
  r.x = confined(r.x, window.x + ui.px(6), window.right() - ui.px(6) - r.w);
  return r;
}

// What was typed, over a long list.
void draw_search(Ui& ui, const Interaction::Popup& popup, const Rect& line, bool nothing) {
  const Theme& t = ui.theme;
  const bool empty = popup.typed.empty();
  const std::string count = std::to_string(popup.options.size());
  const std::string text = empty     ? ui.texts.format("ui.list.search", {count})
                           : nothing ? ui.texts.format("ui.list.none", {popup.typed})
                                     : popup.typed;
  const TextStyle style = text_style(ui, empty ? t.ink3 : nothing ? t.err : t.ink);
  const std::string shown = ellipsize(ui.canvas, text, style, line.w - ui.px(36));
  const Point at{line.x + ui.px(28), line.centre().y};
  ui.canvas.text(at, shown, style);
  if (!nothing) {
    const float x = at.x + (empty ? -ui.px(3) : ui.canvas.text_width(shown, style) + ui.px(1));
    ui.canvas.rect({std::round(x), line.y + ui.px(6), std::max(1.0f, ui.px(1)), line.h - ui.px(12)},
                   {.colour = t.ink});
  }
  ui.canvas.rect({line.x + ui.px(8), line.bottom() - 1, line.w - ui.px(16), std::max(1.0f, ui.px(1))},
                 {.colour = t.line});
}

// Typed letters: a long list shows what has them, a short one goes to the best that has; a pause begins anew there.
void type_at_popup(Ui& ui, Interaction::Popup& popup) {
  std::string letters = ui.io.take_typed();
  const double now = ui.io.input().now_s;
  bool changed = !letters.empty();
  if (popup.searched()) {
    popup.typed += letters;
    if (ui.io.take(Key::backspace) && !popup.typed.empty()) {
      popup.typed.resize(engine::previous_character(popup.typed, popup.typed.size()));
      changed = true;
    }
    if (changed) popup.scroll = 0;
  } else if (changed) {
    popup.typed = now - popup.typed_s < 1.0 ? popup.typed + letters : letters;
  }
  if (!changed) return;
  popup.typed_s = now;
  popup.highlighted = -1;
  engine::Match best = engine::Match::none;
  for (std::size_t i = 0; i < popup.options.size(); ++i) {
    const Option& o = popup.options[i];
    const engine::Match match = o.enabled && !o.heading ? match_of_option(popup.typed, o) : engine::Match::none;
    if (match <= best) continue;
    best = match;
    popup.highlighted = static_cast<int>(i);
  }
}

}  // namespace

void run_popup(Ui& ui, const Rect& window) {
  auto& popup = ui.io.popup();
  if (!popup.open) return;
  const Theme& t = ui.theme;
  Rect r = popup_rect(ui, popup, window);
  const int before = popup.highlighted;
  type_at_popup(ui, popup);
  const PopupRows rows = popup_rows(ui, popup);
  const float search_h = popup.searched() ? std::round(ui.px(kRowHeight)) : 0;
  if (const float spare = r.h - search_h - rows.total; spare > 0) {  // fewer entries: it shrinks towards its anchor
    if (r.y < popup.anchor.y) r.y += spare;
    r.h -= spare;
  }
  popup.rect = r;
  Rect list = r;
  const Rect search = list.cut_top(search_h);
  const auto place_of = [&](int option) {
    const auto at = std::find(rows.shown.begin(), rows.shown.end(), option);
    return at == rows.shown.end() ? -1 : static_cast<int>(at - rows.shown.begin());
  };
  const auto enabled = [&](int i) { return place_of(i) >= 0 && popup.options[static_cast<std::size_t>(i)].enabled; };
  const auto choose = [&](int i) {
    if (!enabled(i)) return;
    popup.chosen = popup.options[static_cast<std::size_t>(i)].value;
    popup.open = false;
  };
  const float most = std::max(0.0f, rows.total - list.h);
  const auto show = [&](int i) {
    const int place = place_of(i);
    if (place < 0) return;
    const float top = rows.tops[static_cast<std::size_t>(place)];
    if (top - popup.scroll < rows.pad) popup.scroll = top - rows.pad;
    if (top + rows.row_h - popup.scroll > list.h - rows.pad) popup.scroll = top + rows.row_h - list.h + rows.pad;
  };
  const auto walk = [&](int step) {
    const int count = static_cast<int>(rows.shown.size());
    int at = place_of(popup.highlighted);
    if (at < 0) at = step > 0 ? -1 : count;
    for (at += step; at >= 0 && at < count; at += step)
      if (enabled(rows.shown[static_cast<std::size_t>(at)])) {
        popup.highlighted = rows.shown[static_cast<std::size_t>(at)];
        show(popup.highlighted);
        return;
      }
  };
  if (popup.fresh && popup.selected > 0) show(popup.selected);
  if (popup.highlighted != before) show(popup.highlighted);
  if (ui.io.take(Key::down)) walk(1);
  if (ui.io.take(Key::up)) walk(-1);
  ui.io.drop_plain_keys();
  if (ui.io.take(Key::page_down))
    for (int i = 0; i < 8; ++i) walk(1);
  if (ui.io.take(Key::page_up))
    for (int i = 0; i < 8; ++i) walk(-1);
  if (ui.io.take(Key::escape)) {
    if (popup.searched() && !popup.typed.empty())
      popup.typed.clear();
    else
      popup.open = false;
  }
  const bool enter = ui.io.take(Key::enter);
  popup.scroll = confined(popup.scroll - ui.io.input().wheel * rows.row_h * 2, 0.0f, most);

  const Point pointer = ui.io.pointer();
  ui.canvas.rect(r, {.colour = t.ctl}, ui.px(3));
  ui.canvas.frame(r, {t.edge, std::max(1.0f, ui.px(1)), {}}, ui.px(3));
  if (popup.searched()) draw_search(ui, popup, search, rows.shown.empty());
  {
    const auto clip = ui.canvas.clip(list.inset(ui.px(1)));
    for (std::size_t place = 0; place < rows.shown.size(); ++place) {
      const int index = rows.shown[place];
      const Option& o = popup.options[static_cast<std::size_t>(index)];
      const float y = list.y + rows.tops[place] - popup.scroll;
      if (o.separated && place > 0)
        ui.canvas.rect({r.x + ui.px(8), std::round(y - ui.px(5)), r.w - ui.px(16), std::max(1.0f, ui.px(1))},
                       {.colour = t.line});
      const Rect row{r.x + ui.px(4), y, r.w - ui.px(8), rows.row_h};
      ui.probe.report(popup.owner_name + "#" + std::to_string(index), row, ui.canvas.clip_rect());
      const bool over = row.contains(pointer) && list.contains(pointer);
      if (over && o.enabled && (ui.io.pointer_moved() || popup.highlighted < 0 || ui.io.pressed_now()))
        popup.highlighted = index;
      if (popup.highlighted == index && o.enabled) ui.canvas.rect(row, {.colour = t.ctlh}, ui.px(2));
      if (popup.selected == index || o.checked)
        draw_mark(ui.canvas, t, {row.x + ui.px(12), row.centre().y}, ui.px(10), Mark::good);
      float right = row.right() - ui.px(8);
      if (!o.detail.empty()) {
        TextStyle d = text_style(ui, t.ink3, kSmallText);
        d.halign = HAlign::right;
        ui.canvas.text({right, row.centre().y}, o.detail, d);
        right -= ui.canvas.text_width(o.detail, d) + ui.px(8);
      }
      const TextStyle style = text_style(ui, o.enabled ? t.ink : t.ink3, o.heading ? kSmallText : 1.0f);
      const float indent = ui.px(o.heading ? 8 : 24);
      ui.canvas.text({row.x + indent, row.centre().y}, ellipsize(ui.canvas, o.text, style, right - row.x - indent),
                     style);
    }
    if (most > 0) {
      const float length = std::max(ui.px(24), list.h * list.h / rows.total);
      ui.canvas.rect({r.right() - ui.px(6), list.y + ui.px(2) + (list.h - ui.px(4) - length) * popup.scroll / most,
                      ui.px(4), length},
                     {.colour = t.edge}, ui.px(2));
    }
  }
  // The press that opened the list may be released anywhere; a later one chooses or closes.
  if (!popup.fresh && popup.open) {
    if (enter) choose(popup.highlighted);
    if (ui.io.pressed_now()) {
      if (!r.contains(pointer))
        popup.open = false;
      else if (list.contains(pointer))
        choose(popup.highlighted);
    }
  }
}

void draw_hint(Ui& ui, const Rect& window) {
  const auto& hint = ui.io.current_hint();
  if (!hint.show || ui.io.blocked()) return;
  if (hint.about.empty()) {
    draw_readout(ui.canvas, ui.theme, hint.readout, hint.avoid, hint.within, window);
    return;
  }
  const Theme& t = ui.theme;
  const float width = ui.px(300), pad = ui.px(10);
  const TextStyle title = text_style(ui, t.ink, 1, Weight::bold), small = text_style(ui, t.ink2, kSmallText);
  const auto title_lines = wrapped_lines(ui.canvas, hint.readout.title, title, width);
  const auto about_lines = wrapped_lines(ui.canvas, hint.about, small, width);
  const float row = std::round(small.em * FontStack::kLineHeight);
  const float height = prose_height(title, title_lines.size()) + prose_height(small, about_lines.size()) +
                       row * static_cast<float>(hint.readout.rows.size()) + ui.px(4);
  float widest = 0;
  for (const auto line : title_lines) widest = std::max(widest, ui.canvas.text_width(line, title));
  for (const auto line : about_lines) widest = std::max(widest, ui.canvas.text_width(line, small));
  for (const auto& [label, value] : hint.readout.rows)
    widest = std::max(widest, ui.canvas.text_width(label, small) + ui.canvas.text_width(value, small) + ui.px(20));
  Rect r{hint.avoid.right() + ui.px(8), hint.avoid.y, widest + 2 * pad, height + 2 * pad};
  if (r.right() > window.right() - ui.px(4)) {
    r.x = std::max(window.x + ui.px(4), std::min(hint.avoid.x, window.right() - r.w - ui.px(4)));
    r.y = hint.avoid.bottom() + ui.px(6);
    if (r.bottom() > window.bottom() - ui.px(4)) r.y = hint.avoid.y - ui.px(6) - r.h;
  }
  r.y = confined(r.y, window.y + ui.px(4), window.bottom() - ui.px(4) - r.h);
  r.x = std::round(r.x);
  r.y = std::round(r.y);
  ui.canvas.rect(r, {.colour = t.ctl}, ui.px(3));
  ui.canvas.frame(r, {t.edge, std::max(1.0f, ui.px(1)), {}}, ui.px(3));
  float y = r.y + pad;
  y += draw_prose(ui.canvas, {r.x + pad, y}, hint.readout.title, title, width) + ui.px(2);
  y += draw_prose(ui.canvas, {r.x + pad, y}, hint.about, small, width) + ui.px(2);
  for (const auto& [label, value] : hint.readout.rows) {
    TextStyle v = text_style(ui, t.ink, kSmallText);
    v.halign = HAlign::right;
    ui.canvas.text({r.x + pad, y + row / 2}, label, text_style(ui, t.ink3, kSmallText));
    ui.canvas.text({r.right() - pad, y + row / 2}, value, v);
    y += row;
  }
}

}  // namespace roofscape::widgets
