#include "widgets/figures/common/front_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/plot/label_field.h"

namespace roofscape::widgets {

namespace {

constexpr std::size_t kNumbered = 6;                // of the best plans
constexpr float kLeastStep = 1;                     // of the front, px
constexpr float kHaloRoom = 2 * kHaloWidth + 1.5f;  // across a line that a label's halo must not reach
constexpr float kLinesForKey = 12;                  // of text, under which the key has no room

struct PlacedPicture {
  Rect plot;
  Scale x, y;
  Frame frame;
  Point at(const FrontDot& d) const { return {x(d.x), y(d.y)}; }
  bool shows(const FrontDot& d) const { return x.contains(d.x) && y.contains(d.y); }
};

PlacedPicture lay_out(const Canvas& canvas, const Rect& area, const FrontPicture& picture) {
  PlacedPicture l;
  const Scale x(picture.x_kind, picture.x_from, picture.x_to, 0, 1),
      y(picture.y_kind, picture.y_from, picture.y_to, 0, 1);
  l.frame.x.title = ellipsize(canvas, picture.x_title, small_text(canvas, {}, HAlign::left), area.w * 0.7f);
  l.frame.y.title = picture.y_title;
  l.frame.x.ticks = ticks(x, {std::clamp(static_cast<int>(area.w / canvas.px(80)), 2, 8), TickLabels::plain, false});
  l.frame.y.ticks = ticks(y, {std::clamp(static_cast<int>(area.h / canvas.px(70)), 2, 6), picture.y_labels, true});
  Frame untitled = l.frame;  // its title stands in a row of its own
  untitled.y.title.clear();
  l.plot = plot_rect(canvas, area, untitled);
  l.x = x.with_range(static_cast<double>(l.plot.x), static_cast<double>(l.plot.right()));
  l.y = y.with_range(static_cast<double>(l.plot.bottom()), static_cast<double>(l.plot.y));
  return l;
}

void tag_plan(Canvas& canvas, const FrontPicture& picture, const PlacedPicture& l, const FrontDot& dot,
              std::size_t index, float size) {
  if (!l.shows(dot)) return;
  const Point at = l.at(dot);
  canvas.tag_with(picture.tag, static_cast<int>(index), {at.x - size / 2, at.y - size / 2, size, size},
                  [&] { return picture.readout(index); });
}

void draw_cloud(Canvas& canvas, const FigureInput& input, const FrontPicture& picture, const PlacedPicture& l) {
  const auto cloud = canvas.group("cloud");
  const float size = canvas.px(picture.dot);
  const Fill dot{.colour = faded(input.theme.ink2, 0.35f)}, over{.colour = faded(input.theme.err, 0.35f)};
  const std::size_t first = picture.best.size() + picture.front.size();
  for (std::size_t i = 0; i < picture.cloud.size(); ++i) {
    const FrontDot& d = picture.cloud[i];
    if (!l.shows(d)) continue;
    const Point at = l.at(d);
    canvas.marker(at, Marker::circle, size, d.good ? dot : over);
    tag_plan(canvas, picture, l, d, first + i, size);
  }
}

Rect best_mark(const Canvas& canvas, Point at) {
  const float size = canvas.px(17);
  return {at.x - size / 2, at.y - size / 2, size, size};
}

void draw_limit(Canvas& canvas, const FigureInput& input, const FrontPicture& picture, const PlacedPicture& l,
                LabelField& field) {
  if (!picture.limit || !l.x.contains(picture.limit->x)) return;
  const Colour colour = picture.limit->colour;
  const float x = l.x(picture.limit->x);
  canvas.rect(rect_between(x, l.plot.y, l.plot.right(), l.plot.bottom()), {.colour = faded(colour, 0.1f)});
  canvas.line({x, l.plot.y}, {x, l.plot.bottom()}, {colour, canvas.px(1.6f), {}});
  const TextStyle style = small_text(canvas, colour, HAlign::right);
  const std::string& text = picture.limit->text;
  Rect box{x - canvas.px(6) - canvas.text_width(text, style), l.plot.y + canvas.px(2), canvas.text_width(text, style),
           style.em * 1.3f};
  // At the foot where a number of the best would stand in it.
  const auto covers_best = [&] {
    for (std::size_t i = 0; i < picture.best.size() && i < kNumbered; ++i)
      if (l.shows(picture.best[i]) && !intersection(box, best_mark(canvas, l.at(picture.best[i]))).empty())
        return true;
    return false;
  };
  if (covers_best()) box.y = l.plot.bottom() - canvas.px(2) - box.h;
  if (box.x < l.plot.x || covers_best() || !field.is_free(box)) return;
  haloed_text(canvas, input.theme, {box.right(), box.centre().y}, text, style);
  field.take(box);
}

// Stepped: between two plans one can only have the one that costs more.
std::vector<Point> steps_of(const Canvas& canvas, const FrontPicture& picture, const PlacedPicture& l) {
  std::vector<Point> points;
  if (picture.front.empty()) return points;
  // Steps too small to see would only thicken the line: such a point stands where the one before does, and one
  // between two others on a straight line is left out.
  const float least = canvas.px(kLeastStep);
  const auto add = [&](Point at) {
    if (!points.empty() && std::abs(at.x - points.back().x) < least) at.x = points.back().x;
    if (!points.empty() && std::abs(at.y - points.back().y) < least) at.y = points.back().y;
    if (!points.empty() && at.x == points.back().x && at.y == points.back().y) return;
    if (const std::size_t n = points.size();
        n > 1 && ((points[n - 2].x == points[n - 1].x && points[n - 1].x == at.x) ||
                  (points[n - 2].y == points[n - 1].y && points[n - 1].y == at.y)))
      points.pop_back();
    points.push_back(at);
  };
  const float edge = picture.falls ? l.plot.y : l.plot.bottom();
  // The line comes in where the first plan is that can be seen.
  const auto outside = [&](Point at) { return picture.falls ? at.y < edge : at.y > edge; };
  for (const FrontDot& p : picture.front) {
    const Point at = l.at(p);
    if (outside(at)) continue;
    add({at.x, points.empty() ? edge : points.back().y});
    add(at);
  }
  if (points.empty()) return points;
  // What is had with the last plan is had with all that costs more; the line never goes back.
  add({confined(l.x(picture.front_end), points.back().x, l.plot.right()), points.back().y});
  for (Point& p : points) p.y = confined(p.y, l.plot.y, l.plot.bottom());
  return points;
}

// A label beside a mark that is there already, off the dots of the cloud and the line of the limit if it can be.
bool put_label(Canvas& canvas, const FigureInput& input, const FrontPicture& picture, const PlacedPicture& l,
               LabelField& field, const Rect& mark, std::span<const LabelLine> lines) {
  const Size wanted = label_size(canvas, lines);
  const float away = canvas.px(5), size = canvas.px(picture.dot);
  LabelField lined = field;
  if (picture.limit && l.x.contains(picture.limit->x)) {
    const float x = l.x(picture.limit->x);
    lined.take_line({x, l.plot.y}, {x, l.plot.bottom()}, canvas.px(2));
  }
  LabelField dotted = lined;
  for (const FrontDot& d : picture.cloud)
    if (l.shows(d)) dotted.take({l.at(d).x - size / 2, l.at(d).y - size / 2, size, size});
  std::optional<Rect> place;
  for (LabelField* free : {&dotted, &lined})
    if (!place) place = free->place_around(mark, wanted, away);
  // Of a mark close past the limit rather on this side of its line than on it.
  if (const float limit = picture.limit ? l.x(picture.limit->x) : mark.x; !place && limit < mark.x) {
    const float left = limit - away - wanted.w;
    place =
        lined.place(wanted, std::array{Point{left, mark.centre().y - wanted.h / 2}, Point{left, mark.bottom()},
                                       Point{left, mark.bottom() + wanted.h / 2}, Point{left, mark.y - wanted.h}});
  }
  if (!place) place = field.place_around(mark, wanted, away);
  if (place) field.take(*place);
  if (!place) return false;
  std::vector<LabelLine> haloed(lines.begin(), lines.end());
  for (LabelLine& line : haloed) line.style.halo = input.theme.panel;
  draw_label(canvas, *place, haloed);
  return true;
}

// A mark that has no room for its words is none.
void draw_note(Canvas& canvas, const FigureInput& input, const FrontPicture& picture, const PlacedPicture& l,
               LabelField& field) {
  if (!picture.note || !l.shows(picture.note->at)) return;
  const Point at = l.at(picture.note->at);
  const float size = canvas.px(7);
  const std::array lines{LabelLine{picture.note->text, small_text(canvas, input.theme.ink2, HAlign::left)}};
  const Rect mark{at.x - size / 2, at.y - size / 2, size, size};
  if (!put_label(canvas, input, picture, l, field, mark, lines)) return;
  field.take(mark.inset(-canvas.px(2)));
  canvas.marker(at, Marker::circle, size,
                {.colour = input.theme.panel, .edge = input.theme.ink, .edge_width = canvas.px(1.5f)});
}

// "1", "1, 2", "1\u20134, 6": three that follow one another are a range.
std::string ranks_text(const std::vector<std::size_t>& ranks) {
  const auto number = [](std::size_t rank) { return format_count(static_cast<double>(rank)); };
  std::string out;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (end - i < 3) end = i + 1;
    out += (out.empty() ? "" : ", ") + number(ranks[i]);
    if (end - i > 1) out += "\u2013" + number(ranks[end - 1]);
    i = end;
  }
  return out;
}

// A mark with the ranks of the plans at it.
struct RankMark {
  Rect place;
  std::size_t rank = 0;  // the first of them
};

// The best by rank; those that would cover one another share a mark, which stands where the best of them is.
std::vector<RankMark> draw_best(Canvas& canvas, const FigureInput& input, const FrontPicture& picture,
                                const PlacedPicture& l, LabelField& field) {
  const Theme& theme = input.theme;
  const TextStyle number = small_text(canvas, theme.inv, HAlign::centre, Weight::bold);
  struct Group {
    Rect mark;
    std::vector<std::size_t> ranks;
  };
  std::vector<Group> groups;
  for (std::size_t i = 0; i < picture.best.size() && i < kNumbered; ++i) {
    if (!l.shows(picture.best[i])) continue;
    const Rect mark = best_mark(canvas, l.at(picture.best[i]));
    const auto near =
        std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.mark.intersects(mark); });
    if (near != groups.end())
      near->ranks.push_back(i + 1);
    else
      groups.push_back({mark, {i + 1}});
  }
  std::vector<RankMark> drawn;
  for (Group& g : groups) {
    const Point at = g.mark.centre();
    std::string text = ranks_text(g.ranks);
    const float width = std::max(g.mark.w, canvas.text_width(text, number) + canvas.px(9));
    Rect pill{at.x - width / 2, g.mark.y, width, g.mark.h};
    // On the side of the limit on which its plans are.
    if (const float limit = picture.limit ? l.x(picture.limit->x) : 0;
        width > g.mark.w && at.x < limit && pill.right() > limit)
      pill.x = std::max(limit - canvas.px(1), g.mark.right()) - width;
    const auto is_free = [&](const Rect& r) {
      return field.is_free(r) && std::none_of(groups.begin(), groups.end(), [&](const Group& other) {
               return &other != &g && other.mark.intersects(r);
             });
    };
    // Over its mark, or to either side of it; else the best of them alone.
    for (const float x : {g.mark.right() - width, g.mark.x})
      if (!is_free(pill)) pill.x = x;
    if (!is_free(pill)) pill = g.mark, text = ranks_text({g.ranks.front()});
    if (!field.is_free(pill)) continue;
    field.take(pill.inset(-canvas.px(2)));  // with the halo of a label beside it
    if (pill.w > g.mark.w)
      canvas.rect(pill, {.colour = theme.ink}, pill.h / 2);
    else
      canvas.marker(at, Marker::circle, pill.w, {.colour = theme.ink});
    canvas.text(pill.centre(), text, number);
    drawn.push_back({pill, g.ranks.front()});
  }
  return drawn;
}

// Of a line, from its start.
struct Stretch {
  float low = 0, high = 0;
};

// How far along the direction a line from `at` is inside of the place; nothing where it passes it by.
std::optional<Stretch> way_inside(Point at, Point direction, const Rect& place) {
  Stretch way{0, std::numeric_limits<float>::infinity()};
  const auto cut = [&way](float from, float along, float low, float high) {
    if (along == 0) {
      if (from < low || from > high) way.high = way.low;
      return;
    }
    const auto [enters, leaves] = std::minmax((low - from) / along, (high - from) / along);
    way.low = std::max(way.low, enters), way.high = std::min(way.high, leaves);
  };
  cut(at.x, direction.x, place.x, place.right());
  cut(at.y, direction.y, place.y, place.bottom());
  if (!(way.low < way.high)) return std::nullopt;
  return way;
}

// From the present plan to the best, behind the marks of others. Without one where they are near.
std::optional<std::vector<Stretch>> way_to_best(const Canvas& canvas, Point at, Point direction, float from,
                                                float until, const std::vector<RankMark>& marks) {
  std::vector<Stretch> hidden;
  for (const RankMark& mark : marks) {
    const std::optional<Stretch> inside = way_inside(at, direction, mark.place.inset(-canvas.px(4)));
    if (!inside) continue;
    if (mark.rank == 1)
      until = std::min(until, inside->low);
    else
      hidden.push_back(*inside);
  }
  std::ranges::sort(hidden, {}, &Stretch::low);
  std::vector<Stretch> shown;
  for (const Stretch& behind : hidden) {
    if (behind.low >= until) break;
    if (behind.low > from) shown.push_back({from, behind.low});
    from = std::max(from, behind.high);
  }
  if (until - from < canvas.px(12)) return std::nullopt;
  shown.push_back({from, until});
  if (shown.back().high - shown.front().low <= canvas.px(24)) return std::nullopt;
  return shown;
}

void draw_present(Canvas& canvas, const FigureInput& input, const FrontPicture& picture, const PlacedPicture& l,
                  const std::vector<RankMark>& marks, LabelField& field) {
  if (!picture.present || !l.shows(*picture.present)) return;
  const Theme& theme = input.theme;
  const Colour colour = picture.present->good ? theme.ink : theme.err;
  const Point at = l.at(*picture.present);
  const float size = canvas.px(13);
  const Rect mark{at.x - size / 2, at.y - size / 2, size, size};
  std::vector<LabelLine> lines{{picture.present_text, small_text(canvas, colour, HAlign::left, Weight::bold)}};
  if (!picture.best.empty() && l.shows(picture.best.front())) {
    const Point to = l.at(picture.best.front());
    const float length = distance(at, to);
    const Point d = (to - at) * (1 / std::max(length, 1e-3f));
    if (const auto way = way_to_best(canvas, at, d, size / 2, length - canvas.px(18), marks)) {
      const Stroke stroke{theme.ink3, canvas.px(1), {}};
      for (const Stretch& part : *way) {
        const Point from = at + d * part.low, until = at + d * part.high;
        if (&part == &way->back())
          canvas.arrow(from, until, stroke, canvas.px(7));
        else
          canvas.line(from, until, stroke);
        field.take_line(from, until, canvas.px(kHaloRoom));
      }
      lines.push_back({picture.gain_text, small_text(canvas, theme.ink2, HAlign::left)});
    }
  }
  canvas.marker(at, Marker::circle, size, {.colour = theme.panel, .edge = colour, .edge_width = canvas.px(2.2f)});
  field.take(mark.inset(-canvas.px(2)));
  // Its name at least, where there is no room for what the best would gain.
  if (!put_label(canvas, input, picture, l, field, mark, lines) && lines.size() > 1)
    put_label(canvas, input, picture, l, field, mark, std::span(lines).first(1));
}

// Hollow and small, with its name.
void draw_baseline(Canvas& canvas, const FigureInput& input, const FrontPicture& picture, const PlacedPicture& l,
                   LabelField& field) {
  if (!picture.baseline || !l.shows(*picture.baseline)) return;
  const Theme& theme = input.theme;
  const Point at = l.at(*picture.baseline);
  const float size = canvas.px(10);
  const Rect mark{at.x - size / 2, at.y - size / 2, size, size};
  canvas.marker(at, Marker::circle, size, {.colour = theme.panel, .edge = theme.ink, .edge_width = canvas.px(1.4f)});
  field.take(mark.inset(-canvas.px(2)));
  const std::vector<LabelLine> lines{
      {std::string(input.texts.text("figure.step.baseline")), small_text(canvas, theme.ink2, HAlign::left)}};
  put_label(canvas, input, picture, l, field, mark, lines);
  canvas.tag_with("baseline", -1, mark, [&] {
    Readout r{std::string(input.texts.text("figure.step.baseline")), {}};
    r.rows.emplace_back(picture.x_title, format_significant(picture.baseline->x));
    r.rows.emplace_back(picture.y_title, format_significant(picture.baseline->y));
    return r;
  });
}

void draw_hovered(Canvas& canvas, const FigureInput& input, const FrontPicture& picture, const PlacedPicture& l) {
  if (!picture.hovered || !l.shows(*picture.hovered)) return;
  const Point at = l.at(*picture.hovered);
  canvas.line({at.x, at.y}, {at.x, l.plot.bottom()}, {input.theme.ink3, canvas.px(1), {canvas.px(3), canvas.px(3)}});
  canvas.line({l.plot.x, at.y}, {at.x, at.y}, {input.theme.ink3, canvas.px(1), {canvas.px(3), canvas.px(3)}});
  canvas.marker(at, Marker::circle, canvas.px(21),
                {.colour = kTransparent, .edge = input.theme.ink, .edge_width = canvas.px(2)});
}

}  // namespace

namespace {

// What the marks of the cloud and the line mean, as far as they are drawn.
std::string marks_key(const FigureInput& input, const FrontPicture& picture) {
  const TextTable& t = input.texts;
  std::string words;
  const auto add = [&](std::string_view key) {
    if (!words.empty()) words += t.text("figure.clause_separator");
    words += t.text(key);
  };
  if (!picture.front.empty()) add("figure.frontier.key.front");
  if (!picture.best.empty()) add("figure.frontier.key.best");
  const auto any = [&](bool good) {
    return std::any_of(picture.cloud.begin(), picture.cloud.end(), [&](const FrontDot& d) { return d.good == good; });
  };
  if (any(true)) add("figure.frontier.key.cloud");
  if (any(false)) add("figure.frontier.key.over");
  if (picture.limit && picture.limit->x > picture.x_to) {
    if (!words.empty()) words += t.text("figure.clause_separator");
    words += t.format("figure.frontier.key.beyond", {picture.limit->text});
  }
  return words;
}

}  // namespace

void draw_front(Canvas& canvas, const Rect& area, const FigureInput& input, const FrontPicture& picture) {
  Rect room = area;
  const float row = small_text(canvas, {}, HAlign::left).em * FontStack::kLineHeight;
  const Rect title = room.cut_top(row);
  room.cut_top(canvas.px(6));
  if (room.h > row * kLinesForKey) {
    const TextStyle faint_key = small_text(canvas, input.theme.ink3, HAlign::left);
    const float width = std::min(room.w, canvas.clip_rect().right() - room.x - canvas.px(4));
    const std::vector<std::string> lines = wrap(canvas, marks_key(input, picture), faint_key, width, 2);
    Rect foot = room.cut_bottom(row * (static_cast<float>(lines.size()) + 0.1f));
    for (const std::string& line : lines) canvas.text({foot.x, foot.cut_top(row).centre().y}, line, faint_key);
  }
  const PlacedPicture l = lay_out(canvas, room, picture);
  if (l.plot.w < canvas.px(60) || l.plot.h < canvas.px(40)) return;
  Frame frame = l.frame;
  const TextStyle faint = small_text(canvas, input.theme.ink3, HAlign::left);
  canvas.text({title.x, title.centre().y}, ellipsize(canvas, "\u2191 " + frame.y.title, faint, title.w), faint);
  frame.y.title.clear();
  draw_frame(canvas, input.theme, l.plot, l.x, l.y, frame);
  LabelField field(l.plot);
  const auto clip = canvas.clip(l.plot.inset(-canvas.px(9)));
  draw_cloud(canvas, input, picture, l);
  draw_limit(canvas, input, picture, l, field);
  const std::vector<Point> steps = steps_of(canvas, picture, l);
  canvas.polyline(steps, {input.theme.ink, input.theme.data_width * canvas.em(), {}});
  for (std::size_t i = 0; i < picture.front.size(); ++i)
    tag_plan(canvas, picture, l, picture.front[i], picture.best.size() + i, canvas.px(8));
  const std::vector<RankMark> marks = draw_best(canvas, input, picture, l, field);
  for (std::size_t i = 1; i < steps.size(); ++i) field.take_line(steps[i - 1], steps[i], canvas.px(2));
  // Halos would cut the axes, and the ends of the line.
  const Point corner{l.plot.x, l.plot.bottom()};
  field.take_line({l.plot.x, l.plot.y}, corner, canvas.px(kHaloRoom));
  field.take_line(corner, {l.plot.right(), l.plot.bottom()}, canvas.px(kHaloRoom));
  if (!steps.empty())
    for (const Point end : {steps.front(), steps.back()})
      field.take(Rect{end.x, end.y, 0, 0}.inset(-canvas.px(kHaloRoom / 2)));
  draw_present(canvas, input, picture, l, marks, field);
  draw_baseline(canvas, input, picture, l, field);
  draw_note(canvas, input, picture, l, field);
  for (std::size_t i = picture.best.size(); i-- > 0;)
    tag_plan(canvas, picture, l, picture.best[i], i, canvas.px(i < kNumbered ? 17 : 8));
  if (picture.present)
    tag_plan(canvas, picture, l, *picture.present, picture.best.size() + picture.front.size() + picture.cloud.size(),
             canvas.px(14));
  draw_hovered(canvas, input, picture, l);
}

}  // namespace roofscape::widgets
