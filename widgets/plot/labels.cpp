// The labels of plot.h: what stands beside data instead of in a key, and the boxes that float over it.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "widgets/canvas/palette.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {
namespace {

TextStyle aligned_style(const Canvas& c, Colour colour, HAlign h, VAlign v) {
  TextStyle style;
  style.em = c.em() * kSmallText;
  style.colour = colour;
  style.halign = h;
  style.valign = v;
  return style;
}

// In em: from which a value of a readout is a sentence, and how wide one may be.
constexpr float kProse = 18, kWidestProse = 38;
constexpr int kProseLines = 4;
constexpr float kLeastBar = 1, kTickWidth = 3;  // scale-1 pixels
constexpr float kPillBeyond = 2;                // em that the pill of the present value may stand out of the plot

Stroke leader(const Canvas& c, const Theme& t) { return {t.ink3, t.axis_width * c.em(), {}}; }

}  // namespace

// Pools of labels that touch are centred on the mean of what they want: the least movement in the sense of squares.
std::vector<float> spread(std::span<const float> wanted, float gap, float low, float high) {
  const std::size_t n = wanted.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
  const float last = static_cast<float>(n > 0 ? n - 1 : 0);
  const float room = std::max(0.0f, high - low);
  // Too many for the room: closer together rather than outside it.
  const float step = n > 1 ? std::min(gap, room / last) : gap;

  struct Pool {
    double sum;  // of wanted places, each less its offset in the pool
    std::size_t first, count;
    double start() const { return sum / static_cast<double>(count); }
  };
  std::vector<Pool> pools;
  const auto clamped = [&](const Pool& p) {
    const double most = static_cast<double>(high) - static_cast<double>(step) * static_cast<double>(p.count - 1);
    return std::max(std::min(p.start(), most), static_cast<double>(low));
  };
  for (std::size_t i = 0; i < n; ++i) {
    pools.push_back({static_cast<double>(wanted[order[i]]), i, 1});
    while (pools.size() > 1) {
      const Pool& before = pools[pools.size() - 2];
      const Pool& here = pools.back();
      const double end = clamped(before) + static_cast<double>(step) * static_cast<double>(before.count);
      if (clamped(here) >= end) break;
      const double offset = static_cast<double>(step) * static_cast<double>(before.count);
      const Pool merged{before.sum + here.sum - offset * static_cast<double>(here.count), before.first,
                        before.count + here.count};
      pools.pop_back();
      pools.back() = merged;
    }
  }
  std::vector<float> placed(n);
  for (const Pool& p : pools)
    for (std::size_t k = 0; k < p.count; ++k)
      placed[order[p.first + k]] =
          static_cast<float>(clamped(p) + static_cast<double>(step) * static_cast<double>(k));
  return placed;
}

bool is_tick(const Canvas& canvas, const Rect& bar) { return bar.w < canvas.px(kLeastBar); }

Rect draw_tick(Canvas& canvas, const Theme& theme, const Rect& bar, const Fill& fill) {
  const Rect tick{bar.x, bar.y, canvas.px(kTickWidth), bar.h};
  const Colour line = cleared(fill.colour.visible() ? fill.colour : theme.bub, text_on(theme.panel), theme.panel, 3);
  canvas.rect(tick, {.colour = theme.panel});
  canvas.frame(tick, {line, theme.edge_width * canvas.em(), {}});
  return tick;
}

void draw_elbow_labels(Canvas& canvas, const Theme& theme, std::span<const PartLabel> labels, float baseline,
                       float bar_top, float left, float right) {
  const TextStyle style = aligned_style(canvas, theme.ink2, HAlign::left, VAlign::baseline);
  const float gap = style.em * 0.6f;
  struct Placed {
    const PartLabel* label;
    float width, x;
  };
  std::vector<Placed> row;
  for (const PartLabel& l : labels)
    if (l.to - l.from >= canvas.px(1)) {
      const float w = canvas.text_width(l.text, style);
      row.push_back({&l, w, (l.from + l.to - w) / 2});
    }
  // Left to right each clears the one before; then from the right edge back, so that the last ones stay inside.
  float free_from = left;
  for (Placed& p : row) {
    p.x = std::max(p.x, free_from);
    free_from = p.x + p.width + gap;
  }
  float free_to = right;
  for (auto p = row.rbegin(); p != row.rend(); ++p) {
    p->x = std::min(p->x, free_to - p->width);
    free_to = p->x - gap;
  }
  const float top = baseline + canvas.metrics().descent() * style.em, shelf = (top + bar_top) / 2;
  for (const Placed& p : row) {
    if (p.x < left - 0.5f) continue;  // no room for it at all: the readout names the part
    canvas.text({p.x, baseline}, p.label->text, style);
    const float middle = p.x + p.width / 2, part = (p.label->from + p.label->to) / 2;
    if (std::abs(middle - part) < canvas.px(2))
      canvas.line({part, top}, {part, bar_top}, leader(canvas, theme));
    else
      canvas.polyline({{middle, top}, {middle, shelf}, {part, shelf}, {part, bar_top}}, leader(canvas, theme));
  }
}

Rect draw_flags(Canvas& canvas, const Theme& theme, std::span<const Flag> flags, float top, std::string_view heading,
                std::span<const Tint> tints) {
  if (flags.empty()) return {0, top, 0, 0};
  std::vector<const Flag*> order;
  for (const Flag& f : flags) order.push_back(&f);
  std::stable_sort(order.begin(), order.end(), [](const Flag* a, const Flag* b) { return a->at.x < b->at.x; });
  const TextStyle name = aligned_style(canvas, theme.ink2, HAlign::right, VAlign::middle);
  TextStyle value = name;
  value.colour = theme.ink;
  float value_width = 0;
  for (const Flag* f : order) value_width = std::max(value_width, canvas.text_width(f->value, value));
  const float pitch = name.em * kLabelPitch, gap = canvas.px(6), elbow = canvas.px(6);
  float y = top + pitch / 2;
  Rect taken = rect_between(order.front()->at.x, top, order.back()->at.x, top);
  if (!heading.empty()) {
    TextStyle head = name;
    head.colour = theme.ink3;
    const Point at{order.front()->at.x - elbow - gap, y};
    haloed_text(canvas, theme, at, heading, head, tints);
    taken.x = std::min(taken.x, at.x - canvas.text_width(heading, head));
    y += pitch;
    taken = rect_between(taken.x, taken.y, order.back()->at.x, taken.bottom());
  }
  // The leftmost dot has the highest flag, so each leader ends before the next one begins.
  for (const Flag* f : order) {
    const float edge = f->at.x - elbow - gap;
    canvas.polyline({{f->at.x, f->at.y + canvas.px(7)}, {f->at.x, y}, {f->at.x - elbow, y}}, leader(canvas, theme));
    const Point at{edge - value_width - gap, y};
    haloed_text(canvas, theme, {edge, y}, f->value, value, tints);
    haloed_text(canvas, theme, at, f->name, name, tints);
    const float start = at.x - canvas.text_width(f->name, name);
    taken = rect_between(std::min(taken.x, start), taken.y, order.back()->at.x, y + pitch / 2);
    y += pitch;
  }
  return taken;
}

void draw_now(Canvas& canvas, const Theme& theme, const Rect& plot, float x, std::string_view pill) {
  canvas.line({x, plot.y}, {x, plot.bottom()}, {theme.ink, theme.axis_width * 1.5f * canvas.em(), {}});
  TextStyle style = aligned_style(canvas, theme.inv, HAlign::centre, VAlign::middle);
  style.weight = Weight::bold;
  const float w = canvas.text_width(pill, style) + canvas.px(12), h = style.em * 1.4f;
  // Within the figure, though more may stand beside it in the same clip: about as far as the numbers of the axis reach.
  const Rect clip = canvas.clip_rect();
  const float beyond = kPillBeyond * canvas.em();
  const float left =
      confined(x - w / 2, std::max(clip.x, plot.x - beyond), std::min(clip.right(), plot.right() + beyond) - w);
  const Rect box{left, plot.y - h - canvas.px(1), w, h};
  Fill ground;
  ground.colour = theme.ink;
  canvas.rect(box, ground, canvas.px(3));
  canvas.text(box.centre(), pill, style);
}

float draw_key(Canvas& canvas, const Theme& theme, Point at, std::span<const KeyEntry> entries, float gap) {
  const auto key = canvas.group("key");
  const TextStyle style = aligned_style(canvas, theme.ink2, HAlign::left, VAlign::middle);
  const float side = canvas.px(11);
  float x = at.x;
  for (const KeyEntry& e : entries) {
    const Rect swatch{x, at.y - side / 2, side, side};
    canvas.rect(swatch, e.fill);
    // A pattern with no ground needs an outline to read as a swatch.
    if (!e.fill.colour.visible()) canvas.frame(swatch, {theme.edge, theme.edge_width * canvas.em(), {}});
    x += side + canvas.px(6);
    canvas.text({x, at.y}, e.text, style);
    x += canvas.text_width(e.text, style) + canvas.px(gap);
  }
  return entries.empty() ? 0 : x - canvas.px(gap) - at.x;
}

bool line_may_end(std::string_view text, std::size_t space) {
  const std::string_view next = text.substr(space + 1);
  return !next.starts_with("\u2014") && !next.starts_with("\u2013");
}

std::vector<std::string> wrap(const Canvas& canvas, std::string_view text, const TextStyle& style, float width,
                              int lines) {
  std::vector<std::string> out;
  while (!text.empty() && static_cast<int>(out.size()) < lines) {
    if (static_cast<int>(out.size()) + 1 == lines || canvas.text_width(text, style) <= width) {
      out.push_back(ellipsize(canvas, text, style, width));
      break;
    }
    std::size_t end = 0;  // of the longest run of whole words that fits
    for (std::size_t at = text.find(' '); at != std::string_view::npos; at = text.find(' ', at + 1)) {
      if (canvas.text_width(text.substr(0, at), style) > width) break;
      if (line_may_end(text, at)) end = at;
    }
    if (end == 0) {
      // No space in time (Korean runs long): between two characters.
      end = canvas.metrics().fit(text, style.em > 0 ? style.em : canvas.em(), width, style.weight).size();
      if (end == 0) break;
    }
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  return out;
}

void draw_readout(Canvas& canvas, const Theme& theme, const Readout& readout, const Rect& avoid, Rect within,
                  const Rect& window) {
  if (readout.empty()) return;
  TextStyle title;
  title.em = canvas.em();
  title.weight = Weight::bold;
  title.colour = theme.ink;
  const TextStyle label = aligned_style(canvas, theme.ink2, HAlign::left, VAlign::baseline);
  TextStyle value = label;
  value.colour = theme.ink;
  value.halign = HAlign::right;
  const float pad = canvas.px(8), row = label.em * FontStack::kLineHeight, head = title.em * FontStack::kLineHeight;
  const float between = canvas.px(16);
  float width = canvas.text_width(readout.title, title), names = 0, values = 0;
  for (const auto& [name, text] : readout.rows) {
    names = std::max(names, canvas.text_width(name, label)),
    values = std::max(values, canvas.text_width(text, value));
    width = std::max(width, canvas.text_width(name, label) + between + canvas.text_width(text, value));
  }
  // Numbers end where the box does; sentences begin below each other and go on in further lines.
  const bool prose = values > kProse * label.em;
  std::vector<std::vector<std::string>> lines;
  std::size_t height = 0;
  if (prose) {
    value.halign = HAlign::left;
    const float room = std::min(kWidestProse * label.em, window.w - 2 * pad - names - between);
    values = 0;
    for (const auto& [name, text] : readout.rows) {
      lines.push_back(wrap(canvas, text, value, room, kProseLines));
      for (const std::string& line : lines.back()) values = std::max(values, canvas.text_width(line, value));
      height += std::max<std::size_t>(1, lines.back().size());
    }
    width = std::max(canvas.text_width(readout.title, title), names + between + values);
  } else {
    for (const auto& [name, text] : readout.rows) lines.push_back({text});
    height = lines.size();
  }
  Rect box{0, 0, width + 2 * pad, 2 * pad + (readout.title.empty() ? 0 : head) + row * static_cast<float>(height)};

  if (box.w > within.w || box.h > within.h) within = window;

  // Beside the datum on the right and below its row, else wherever there is room; inside in any case.
  const float gap = canvas.px(12);
  box.x = avoid.right() + gap;
  if (box.right() > within.right()) box.x = avoid.x - gap - box.w;
  box.y = avoid.bottom() + gap / 2;
  if (box.bottom() > within.bottom()) box.y = avoid.y - gap / 2 - box.h;
  box.x = confined(box.x, within.x, within.right() - box.w);
  box.y = confined(box.y, within.y, within.bottom() - box.h);

  Fill ground;
  ground.colour = theme.ctl;
  ground.edge = theme.edge;
  ground.edge_width = theme.axis_width * canvas.em();
  canvas.rect(box, ground, canvas.px(3));
  float y = box.y + pad;
  if (!readout.title.empty()) {
    canvas.text({box.x + pad, y + canvas.metrics().ascent() * title.em}, readout.title, title);
    y += head;
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const float ascent = canvas.metrics().ascent() * label.em;
    canvas.text({box.x + pad, y + ascent}, readout.rows[i].first, label);
    for (const std::string& line : lines[i]) {
      canvas.text({prose ? box.x + pad + names + between : box.right() - pad, y + ascent}, line, value);
      y += row;
    }
    if (lines[i].empty()) y += row;
  }
}

}  // namespace roofscape::widgets
