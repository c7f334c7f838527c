// Choices, buttons and links of controls.h.
#include <algorithm>
#include <cmath>

#include "widgets/plot/plot.h"
#include "widgets/ui/controls.h"

namespace roofscape::widgets {

int drop_down(Ui& ui, const Rect& r, std::string_view id, std::span<const Option> options, int selected,
              const Readout& tip, std::string_view about) {
  const Theme& t = ui.theme;
  const ItemState s = ui.item(id, r);
  int next = selected;
  const bool open = ui.io.popup_open(id);
  const auto open_list = [&] {
    ui.io.open_popup(id, r, std::vector<Option>(options.begin(), options.end()), selected, r.w);
    for (std::size_t i = 0; i < options.size(); ++i) ui.io.popup().options[i].value = static_cast<int>(i);
  };
  if (s.clicked) open_list();
  if (s.focused && !ui.io.blocked() && !ui.io.editing_any()) {
    if (ui.io.take({Key::down, false, false, true})) open_list();
    const int step = (ui.io.take(Key::down) || ui.io.take(Key::right) ? 1 : 0) -
                     (ui.io.take(Key::up) || ui.io.take(Key::left) ? 1 : 0);
    for (int i = selected + step; step != 0 && i >= 0 && i < static_cast<int>(options.size()); i += step)
      if (options[static_cast<std::size_t>(i)].enabled) {
        next = i;
        break;
      }
  }
  if (const auto chosen = ui.io.popup_choice(id)) next = *chosen;

  draw_control_frame(ui, r, s.hovered || open, s.ring);
  draw_icon(ui.canvas, {r.right() - ui.px(13), r.centre().y}, ui.px(9), Icon::chevron_down, t.ink2);
  float right = r.right() - ui.px(25);
  if (next >= 0 && next < static_cast<int>(options.size())) {
    const Option& o = options[static_cast<std::size_t>(next)];
    const float room = right - r.x - ui.px(8);
    const auto width_of = [&ui, &t](const std::string& of) {
      return ui.canvas.text_width(of, text_style(ui, t.ink));
    };
    const std::string& text = o.shorter.empty() || width_of(o.text) <= room ? o.text : o.shorter;
    const float name = width_of(text);
    if (!o.detail.empty() && !o.listed) {
      TextStyle d = text_style(ui, t.ink3, kSmallText);
      d.halign = HAlign::right;
      const float detail = ui.canvas.text_width(o.detail, d);
      if (name + detail + ui.px(10) <= room) {
        ui.canvas.text({right, r.centre().y}, o.detail, d);
        right -= detail + ui.px(8);
      }
    }
    ui.canvas.text({r.x + ui.px(8), r.centre().y},
                   ellipsize(ui.canvas, text, text_style(ui, t.ink), right - r.x - ui.px(8)), text_style(ui, t.ink));
  }
  if (s.hovered && !tip.empty()) ui.io.hint(id, r, tip, std::string(about));
  return next;
}

int segmented(Ui& ui, const Rect& r, std::string_view id, std::span<const std::string> names, int selected,
              const Readout& tip, std::string_view about) {
  const Theme& t = ui.theme;
  const ItemState s = ui.item(id, r);
  int next = selected;
  const auto count = static_cast<int>(names.size());
  if (count == 0) return selected;
  const TextStyle plain = text_style(ui, t.ink2);
  // Equal parts if the words fit, else in proportion to them.
  std::vector<float> edges{r.x};
  float widest = 0, total = 0;
  for (const std::string& n : names) {
    widest = std::max(widest, ui.canvas.text_width(n, plain));
    total += ui.canvas.text_width(n, plain);
  }
  const bool equal = widest + ui.px(8) <= r.w / static_cast<float>(count);
  for (const std::string& n : names)
    edges.push_back(edges.back() +
                    (equal ? r.w / static_cast<float>(count)
                           : ui.canvas.text_width(n, plain) + (r.w - total) / static_cast<float>(count)));
  const auto part = [&](int i) {
    const auto k = static_cast<std::size_t>(i);
    return rect_between(std::round(edges[k]), r.y, std::round(edges[k + 1]), r.bottom());
  };
  for (int i = 0; i < count; ++i) {
    ui.probe.report(std::string(id) + "." + std::to_string(i), part(i), ui.canvas.clip_rect());
    if (s.pressed && part(i).contains(ui.io.pointer())) next = i;
  }
  if (s.focused && !ui.io.editing_any()) {
    if (ui.io.take(Key::right)) next = std::min(next + 1, count - 1);
    if (ui.io.take(Key::left)) next = std::max(next - 1, 0);
  }
  draw_control_frame(ui, r, false, s.ring);
  for (int i = 0; i < count; ++i) {
    const Rect p = part(i);
    if (i == next)
      ui.canvas.rect(p.inset(ui.px(1.5f)), {.colour = t.ink}, ui.px(2));
    else if (s.hovered && p.contains(ui.io.pointer()))
      ui.canvas.rect(p.inset(ui.px(1.5f)), {.colour = t.ctlh}, ui.px(2));
    TextStyle style = text_style(ui, i == next ? t.inv : t.ink2);
    style.halign = HAlign::centre;
    ui.canvas.text(p.centre(), ellipsize(ui.canvas, names[static_cast<std::size_t>(i)], style, p.w), style);
  }
  if (s.hovered && !tip.empty()) ui.io.hint(id, r, tip, std::string(about));
  return next;
}

bool check_box(Ui& ui, Point left_middle, std::string_view id, std::string_view label, bool on, const Readout& tip,
               std::string_view about) {
  const Theme& t = ui.theme;
  const float side = std::round(ui.px(13));
  const TextStyle style = text_style(ui, t.ink);
  const Rect row{left_middle.x, left_middle.y - ui.px(kRowHeight) / 2,
                 side + ui.px(8) + ui.canvas.text_width(label, style), ui.px(kRowHeight)};
  const ItemState s = ui.item(id, row);
  if (s.clicked) on = !on;
  const Rect box{left_middle.x, std::round(left_middle.y - side / 2), side, side};
  ui.canvas.rect(box, {.colour = s.hovered ? t.ctlh : t.ctl}, ui.px(2));
  ui.canvas.frame(box, {t.edge, std::max(1.0f, ui.px(1)), {}}, ui.px(2));
  if (on) draw_check_mark(ui.canvas, box, {t.ink, ui.px(1.8f), {}});
  ui.canvas.text({box.right() + ui.px(8), left_middle.y}, label, style);
  if (s.ring) ui.canvas.frame(row.inset(-ui.px(4), 0), {t.ink, ui.px(2), {}}, ui.px(3));
  if (s.hovered && !tip.empty()) ui.io.hint(id, row, tip, std::string(about));
  return on;
}

bool button(Ui& ui, const Rect& r, std::string_view id, std::string_view label, bool primary) {
  const Theme& t = ui.theme;
  const ItemState s = ui.item(id, r);
  if (primary) {
    ui.canvas.rect(r, {.colour = s.hovered ? mix(t.ink, t.ink2, 0.4f) : t.ink}, ui.px(3));
    if (s.ring) ui.canvas.frame(r.inset(-ui.px(3)), {t.ink, ui.px(2), {}}, ui.px(4));
  } else {
    draw_control_frame(ui, r, s.hovered, s.ring);
  }
  TextStyle style = text_style(ui, primary ? t.inv : t.ink);
  style.halign = HAlign::centre;
  ui.canvas.text(r.centre(), ellipsize(ui.canvas, label, style, r.w - ui.px(8)), style);
  return s.clicked;
}

bool icon_button(Ui& ui, const Rect& r, std::string_view id, Icon icon, const Readout& tip) {
  const ItemState s = ui.item(id, r);
  if (s.hovered) ui.canvas.rect(r, {.colour = ui.theme.ctlh}, ui.px(3));
  if (s.ring) ui.canvas.frame(r, {ui.theme.ink, ui.px(2), {}}, ui.px(3));
  draw_icon(ui.canvas, r.centre(), ui.px(11), icon, s.hovered || s.ring ? ui.theme.ink : ui.theme.ink2);
  if (s.hovered) ui.io.hint(id, r, tip);
  return s.clicked;
}

bool link(Ui& ui, const Rect& r, std::string_view id, const Readout& tip, Interaction::Focus focus) {
  const ItemState s = ui.item(id, r, focus);
  if (s.hovered) {
    ui.canvas.rect({r.x, r.bottom() - std::max(1.0f, ui.px(1)), r.w, std::max(1.0f, ui.px(1))},
                   {.colour = ui.theme.ink2});
    ui.io.set_cursor(Cursor::hand);
    if (!tip.empty()) ui.io.hint(id, r, tip);
  }
  if (s.ring) ui.canvas.frame(r.inset(-ui.px(3)), {ui.theme.ink, ui.px(2), {}}, ui.px(3));
  return s.clicked;
}

}  // namespace roofscape::widgets
