// The clusters figure: which cluster? The best plan on each of several, time over cost, chips or energy (of a run, or of a
// token), those that no other beats in both as a stepped line, what was asked for as limits, and the present plan. Dots
// are tagged "clusters.answer" with the index of their answer.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/search/cluster_choice.h"
#include "engine/search/decoding_plan.h"
#include "engine/search/plan.h"
#include "engine/training/run.h"
#include "widgets/canvas/geometry.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/line_chart.h"
#include "widgets/figures/search/cluster_table.h"
#include "widgets/figures/search/figure_clusters_parts.h"
#include "widgets/figures/search/figure_search_parts.h"
#include "widgets/figures/search/figure_serving_search.h"
#include "widgets/plot/label_field.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {
namespace clusters {

using engine::ClusterAnswer;
using engine::ClusterVerdict;

namespace {

constexpr double kEven = 3;                         // ratio of the ends of an axis from which it is logarithmic
constexpr float kMark = 8, kFirst = 11, kOwn = 13;  // px
constexpr float kSamePlace = 3;                     // px: nearer marks are one to the eye
constexpr double kWhPerKwh = 1e3;
constexpr float kLeastPlotWidth = 60, kLeastPlotHeight = 40;

struct Axes {
  ScaleKind x_kind = ScaleKind::log10, y_kind = ScaleKind::log10;
  double x_from = 1, x_to = 10, y_from = 1, y_to = 10;
};

std::pair<double, double> ends_of(double low, double high, ScaleKind& kind) {
  kind = high > kEven * low ? ScaleKind::log10 : ScaleKind::linear;
  if (kind == ScaleKind::log10) return log_range(low, high, kEven);
  const double room = std::max(0.12 * (high - low), 0.05 * high);
  return {std::max(0.0, low - room), high + room};
}

// All answers and the present plan stand inside, and the limits unless they are far away.
Axes axes_of(const Shown& shown, const Measure& m, const std::optional<ClusterAnswer>& present) {
  constexpr double kInSight = 3;  // times the ends
  double left = std::numeric_limits<double>::infinity(), right = 0, low = left, high = 0;
  const auto take = [&](const ClusterAnswer& a) {
    if (!m.places(a)) return;
    left = std::min(left, m.x(a)), right = std::max(right, m.x(a));
    low = std::min(low, m.y(a)), high = std::max(high, m.y(a));
  };
  for (const ClusterAnswer& a : shown.answers) take(a);
  if (present) take(*present);
  const auto reach = [](double limit, double& from, double& to) {
    if (limit > from / kInSight && limit < to * kInSight) from = std::min(from, limit), to = std::max(to, limit);
  };
  if (!m.serves) reach(shown.request.most_run_days, low, high);
  if (!m.serves && m.over == Over::cost) reach(shown.request.most_cost_usd, left, right);
  Axes out;
  std::tie(out.x_from, out.x_to) = ends_of(left, right, out.x_kind);
  std::tie(out.y_from, out.y_to) = ends_of(low, high, out.y_kind);
  return out;
}

struct Placed {
  Rect plot;
  Scale x, y;
  Frame frame;
  Measure measure;
  Point at(const ClusterAnswer& a) const { return {x(measure.x(a)), y(measure.y(a))}; }
  Rect mark(const ClusterAnswer& a, float size) const {
    const Point p = at(a);
    return {p.x - size / 2, p.y - size / 2, size, size};
  }
};

// So that a name has room at the left of the leftmost mark: `share` of the width.
void make_room(Axes& axes, double leftmost, double share) {
  if (axes.x_kind == ScaleKind::log10)
    axes.x_from = std::min(axes.x_from, std::pow(leftmost / std::pow(axes.x_to, share), 1 / (1 - share)));
  else
    axes.x_from = std::max(0.0, std::min(axes.x_from, (leftmost - share * axes.x_to) / (1 - share)));
}

Placed lay_out(const Canvas& canvas, const FigureInput& input, const Rect& area, const Axes& axes, const Measure& m) {
  const TextTable& t = input.texts;
  Placed l{{}, {}, {}, {}, m};
  const Scale x(axes.x_kind, axes.x_from, axes.x_to, 0, 1), y(axes.y_kind, axes.y_from, axes.y_to, 0, 1);
  const std::string of_x = "figure.clusters.x." + std::string(m.id());
  l.frame.x.title = t.text(m.over == Over::chips              ? chip_key(input, of_x)
                           : m.serves && m.over == Over::cost ? of_x + ".serving"
                                                              : of_x);
  l.frame.y.title = t.text(m.serves ? "figure.clusters.y.token" : "figure.clusters.y.run");
  l.frame.x.ticks = ticks(x, {std::clamp(static_cast<int>(area.w / canvas.px(80)), 2, 8), TickLabels::si, false});
  l.frame.y.ticks = ticks(y, {std::clamp(static_cast<int>(area.h / canvas.px(60)), 2, 6), TickLabels::plain, true});
  l.plot = plot_rect(canvas, area, l.frame);
  l.x = x.with_range(static_cast<double>(l.plot.x), static_cast<double>(l.plot.right()));
  l.y = y.with_range(static_cast<double>(l.plot.bottom()), static_cast<double>(l.plot.y));
  return l;
}

// What a limit leaves out is tinted.
struct Limit {
  bool is_time = false;  // else cost
  double most = 0;       // on the axis
  std::string words;
};
std::vector<Limit> limits_of(const FigureInput& input, const Shown& shown, const Placed& l) {
  const TextTable& t = input.texts;
  std::vector<Limit> out;
  if (const double most = shown.request.most_run_days; most > 0 && l.y.contains(most))
    out.push_back({true, most, t.format("figure.clusters.within", {t.amount(most, engine::unit::days)})});
  if (const double most = shown.request.most_cost_usd; most > 0 && l.measure.over == Over::cost && l.x.contains(most))
    out.push_back({false, most, t.format("figure.clusters.at_most", {t.amount(most, engine::unit::dollars)})});
  return out;
}

std::pair<Point, Point> line_of(const Limit& limit, const Placed& l) {
  if (limit.is_time) return {{l.plot.x, l.y(limit.most)}, {l.plot.right(), l.y(limit.most)}};
  return {{l.x(limit.most), l.plot.y}, {l.x(limit.most), l.plot.bottom()}};
}

void draw_limits(Canvas& canvas, const FigureInput& input, std::span<const Limit> limits, const Placed& l,
                 LabelField& field) {
  const Colour colour = input.theme.warn;
  for (const Limit& limit : limits) {
    const auto [from, to] = line_of(limit, l);
    const Rect out = limit.is_time ? rect_between(l.plot.x, l.plot.y, l.plot.right(), from.y)
                                   : rect_between(from.x, l.plot.y, l.plot.right(), l.plot.bottom());
    canvas.rect(out, {.colour = faded(colour, 0.08f)});
    canvas.line(from, to, {colour, canvas.px(1.6f), {}});
    field.take_line(from, to, canvas.px(3));
  }
}

// At either end of the line, inside of it where there is room.
void name_limits(Canvas& canvas, const FigureInput& input, std::span<const Limit> limits, const Placed& l,
                 LabelField& field) {
  const Colour colour = readable(input.theme.warn, input.theme.panel);
  for (const Limit& limit : limits) {
    const std::array words{LabelLine{limit.words, small_text(canvas, colour, HAlign::left)}};
    const Size size = label_size(canvas, words);
    const auto [from, to] = line_of(limit, l);
    const float gap = canvas.px(4);
    const float left = l.plot.x + gap, right = l.plot.right() - gap - size.w, top = l.plot.y + gap,
                bottom = l.plot.bottom() - gap - size.h;
    const std::array corners =
        limit.is_time ? std::array{Point{right, from.y + gap}, Point{left, from.y + gap},
                                   Point{right, from.y - gap - size.h}, Point{left, from.y - gap - size.h}}
                      : std::array{Point{from.x - gap - size.w, top}, Point{from.x - gap - size.w, bottom},
                                   Point{from.x + gap, top}, Point{from.x + gap, bottom}};
    if (const auto place = field.place(size, corners)) draw_label(canvas, *place, words);
  }
}

// Stepped: between two clusters one can only have the dearer one's time for its price.
void draw_front_line(Canvas& canvas, const FigureInput& input, std::span<const ClusterAnswer* const> front,
                     const Placed& l, LabelField& field) {
  std::vector<Point> points;
  for (const ClusterAnswer* a : front) {
    const Point at = l.at(*a);
    points.push_back({at.x, points.empty() ? l.plot.y : points.back().y});
    points.push_back(at);
  }
  if (points.empty()) return;
  points.push_back({l.plot.right(), points.back().y});
  canvas.polyline(points, {input.theme.ink3, 0.6f * input.theme.data_width * canvas.em(), {}});
  for (std::size_t i = 1; i < points.size(); ++i) field.take_line(points[i - 1], points[i], canvas.px(3));
}

// What is drawn, and which of the answers have no place.
std::string key_of(const FigureInput& input, const Shown& shown, const Measure& m, bool has_front) {
  const TextTable& t = input.texts;
  std::string words;
  const auto add = [&](std::string_view clause) {
    if (!words.empty()) words += t.text("figure.clause_separator");
    words += clause;
  };
  const auto count = [&](const auto& counts) {
    return static_cast<double>(std::count_if(shown.answers.begin(), shown.answers.end(), counts));
  };
  if (has_front) add(t.text("figure.clusters.key.front." + std::string(m.id())));
  const auto refused = [&](const ClusterAnswer& a) { return m.places(a) && a.verdict != ClusterVerdict::meets; };
  if (count(refused) > 0) add(t.text("figure.clusters.key.refused"));
  if (const double n = count([](const ClusterAnswer& a) { return !a.runs; }); n > 0)
    add(t.count("figure.clusters.key.no_plan", n));
  if (const double n = count([&](const ClusterAnswer& a) { return a.runs && !m.places(a); }); n > 0)
    add(t.count("figure.clusters.key.without." + std::string(m.id()), n));
  if (count([&](const ClusterAnswer& a) { return m.places(a) && !a.is_calibrated; }) > 0)
    add(t.text("clusters.ideal"));
  return words;
}

FigureHead head_of(const FigureInput& input, const FigureView& view) {
  const TextTable& t = input.texts;
  FigureHead head;
  head.title = t.text("figure.clusters.title");
  const Shown shown = shown_of(input);
  if (shown.answers.empty()) return head;
  const Measure m = measure_of(input, view, shown.answers);
  if (m.serves && m.over == Over::energy) return head;  // there is none
  const ClusterAnswer& first = shown.answers.front();
  if (first.verdict != ClusterVerdict::meets || !m.places(first)) {
    head.takeaway = t.text("ui.clusters.none_meets");
    return head;
  }
  const std::string form =
      "figure.clusters.takeaway" + std::string(m.serves && m.over == Over::cost ? ".serving" : "");
  const auto words = [&](const ClusterAnswer& a, const std::string& name) {
    const std::string time =
        say(head, data_claim(m.serves ? "seconds per token" : "days", m.serves ? a.time_s : m.y(a), m.y_text(t, a)));
    if (m.over == Over::chips) return t.format("figure.clusters.takeaway.chips", {name, time});
    const bool is_energy = m.over == Over::energy;
    const char* const column = is_energy ? "Wh" : m.serves ? "dollars per million tokens" : "dollars";
    const double cost = is_energy ? a.energy_kwh * kWhPerKwh : a.cost_usd;
    return t.format(form, {name, say(head, data_claim(column, cost, m.x_text(t, a))), time});
  };
  head.brief = words(first, say(head, name_claim(label_of(input, shown.answers, first))));
  head.takeaway = head.brief;
  const auto present = present_of(input, shown.request);
  if (present && m.places(*present) && engine::moved_to(input.scenario, first) != input.scenario)
    head.takeaway +=
        std::string(t.text("figure.clause_separator")) + words(*present, std::string(t.text("figure.frontier.now")));
  return head;
}

void draw_answers(Canvas& canvas, const FigureInput& input, const FigureView& view, const Shown& shown,
                  std::span<const ClusterAnswer* const> front, const Placed& l,
                  const std::optional<ClusterAnswer>& present) {
  const Theme& theme = input.theme;
  const Measure& m = l.measure;
  LabelField field(l.plot);
  const std::vector<Limit> limits = limits_of(input, shown, l);
  draw_limits(canvas, input, limits, l, field);
  draw_front_line(canvas, input, front, l, field);
  const auto is_front = [&](const ClusterAnswer& a) {
    return std::find(front.begin(), front.end(), &a) != front.end();
  };
  const bool shows_present = present && m.places(*present);
  if (shows_present) {
    const Rect mark = l.mark(*present, canvas.px(kOwn + 4));
    canvas.marker(mark.centre(), Marker::circle, mark.w,
                  {.colour = theme.panel, .edge = theme.ink, .edge_width = canvas.px(2.2f)});
    field.take(mark.inset(-canvas.px(1)));
  }
  // The first over the others, which stand in the order of the list.
  for (std::size_t i = shown.answers.size(); i-- > 0;) {
    const ClusterAnswer& a = shown.answers[i];
    if (!m.places(a)) continue;
    const bool meets = a.verdict == ClusterVerdict::meets;
    const Rect mark = l.mark(a, canvas.px(i == 0 && meets ? kFirst : kMark));
    const Colour colour = is_front(a) || i == 0 ? theme.ink : theme.ink2;
    canvas.marker(mark.centre(), Marker::circle, mark.w,
                  meets ? Fill{.colour = colour, .edge = theme.panel, .edge_width = canvas.px(1)}
                        : Fill{.colour = theme.panel, .edge = colour, .edge_width = canvas.px(1.5f)});
    field.take(mark.inset(-canvas.px(1)));
    if (view.hovered_answer == i)
      canvas.marker(mark.centre(), Marker::circle, canvas.px(21),
                    {.colour = kTransparent, .edge = theme.ink, .edge_width = canvas.px(2)});
    canvas.tag_with("clusters.answer", static_cast<int>(i), mark,
                    [&] { return search::answer_readout(input.texts, a, a.name); });
  }
  const auto name = [&](Point at, float size, std::span<const LabelLine> words) {
    const float s = canvas.px(size);
    if (const auto place =
            field.place_around({at.x - s / 2, at.y - s / 2, s, s}, label_size(canvas, words), canvas.px(4)))
      draw_label(canvas, *place, words);
  };
  if (shows_present) {
    const std::array words{LabelLine{std::string(input.texts.text("figure.frontier.now")),
                                     small_text(canvas, theme.ink, HAlign::left, Weight::bold)}};
    name(l.mark(*present, canvas.px(kOwn + 4)).centre(), kOwn + 4, words);
    canvas.tag_with("clusters.now", -1, l.mark(*present, canvas.px(kOwn + 4)), [&] {
      return search::answer_readout(input.texts, *present, std::string(input.texts.text("ui.clusters.present")));
    });
  }
  name_limits(canvas, input, limits, l, field);
  // The telling ones first: the answer, the front, the others by rank.
  std::vector<const ClusterAnswer*> named;
  for (const ClusterAnswer& a : shown.answers)
    if (m.places(a)) named.push_back(&a);
  std::stable_sort(named.begin(), named.end(), [&](const ClusterAnswer* a, const ClusterAnswer* b) {
    const auto weight = [&](const ClusterAnswer& one) {
      return &one == shown.answers.data() ? 0 : is_front(one) ? 1 : 2;
    };
    return weight(*a) < weight(*b);
  });
  // Answers whose marks lie on each other share a label, one under the other.
  while (!named.empty()) {
    const Point at = l.mark(*named.front(), canvas.px(kFirst)).centre();
    std::vector<LabelLine> words;
    std::erase_if(named, [&](const ClusterAnswer* a) {
      if (distance(at, l.mark(*a, canvas.px(kFirst)).centre()) > canvas.px(kSamePlace)) return false;
      words.push_back({label_of(input, shown.answers, *a),
                       small_text(canvas, is_front(*a) ? theme.ink : theme.ink2, HAlign::left,
                                  a == shown.answers.data() ? Weight::bold : Weight::regular)});
      return true;
    });
    name(at, kFirst, words);
  }
}

void draw_whole(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  Rect rest = draw_figure_head(canvas, area, input, view, head_of(input, view));
  if (rest.empty()) return;
  const TextTable& t = input.texts;
  const Shown shown = shown_of(input);
  if (shown.answers.empty()) {
    const ClustersSeen* seen = input.search != nullptr ? &input.search->clusters : nullptr;
    const std::string why = seen == nullptr || !seen->waits ? std::string(t.text("figure.clusters.none"))
                            : seen->stopped                 ? std::string(t.text("ui.search.cancelled"))
                                            : t.format("ui.clusters.searching", {format_share(seen->progress)});
    return draw_empty_state(canvas, input.theme, rest, why);
  }
  const Measure m = measure_of(input, view, shown.answers);
  const auto present = present_of(input, shown.request);
  const std::vector<const ClusterAnswer*> front = front_of(shown.answers, present, m);
  const std::string key = m.serves && m.over == Over::energy ? std::string(t.text("figure.clusters.no_energy"))
                                                             : key_of(input, shown, m, !front.empty());
  if (front.empty()) return draw_empty_state(canvas, input.theme, rest, key);
  const TextStyle faint = small_text(canvas, input.theme.ink3, HAlign::left);
  constexpr float kLinesForKey = 11;
  if (const float row = faint.em * FontStack::kLineHeight; rest.h > row * kLinesForKey)
    draw_foot_lines(canvas, rest, wrap(canvas, key, faint, rest.w, 3), row, faint);
  Axes axes = axes_of(shown, m, present);
  Placed l = lay_out(canvas, input, rest, axes, m);
  const ClusterAnswer& leftmost = *front.front();
  const float name =
      canvas.text_width(label_of(input, shown.answers, leftmost), small_text(canvas, {}, HAlign::left, Weight::bold));
  constexpr float kMostRoom = 0.45f;
  make_room(axes, m.x(leftmost), std::min(kMostRoom, (name + canvas.px(2 * kFirst)) / std::max(l.plot.w, 1.0f)));
  l = lay_out(canvas, input, rest, axes, m);
  if (l.plot.w < canvas.px(kLeastPlotWidth) || l.plot.h < canvas.px(kLeastPlotHeight)) return;
  draw_frame(canvas, input.theme, l.plot, l.x, l.y, l.frame);
  draw_answers(canvas, input, view, shown, front, l, present);
}

std::string data_of(const FigureInput& input, const FigureView&) {
  const bool serves = input.scenario.serves();
  std::string out = fmt::format("set\tcluster\tchip\tchips\t{}\tmemory bytes\tverdict\tplan\n",
                                serves ? "seconds per token\tTTFT s\tdollars per million tokens\ttokens per s"
                                       : "days\tdollars\tWh\tMFU\tstep s");
  const Shown shown = shown_of(input);
  const auto add = [&](std::string_view set, const ClusterAnswer& a) {
    const auto number = [](double value) { return std::isnan(value) ? std::string() : fmt::format("{}", value); };
    const std::string results =
        serves ? fmt::format("{}\t{}\t{}\t{}", number(a.time_s), number(a.ttft_s), number(a.cost_usd),
                             number(a.tokens_per_s))
               : fmt::format("{}\t{}\t{}\t{}\t{}", number(engine::days_of(a.time_s)), number(a.cost_usd),
                             number(a.energy_kwh * kWhPerKwh), number(a.mfu), number(a.step_time_s));
    const std::string plan = !a.runs  ? std::string()
                             : serves ? search::decoding_words(input.texts, engine::decoding_plan_of(a.scenario))
                                      : search::plan_words(input.texts, engine::plan_of(a.scenario));
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", set, a.name, a.scenario.cluster.chip.name, a.chips,
                       results, number(a.memory_bytes), engine::kClusterVerdictIds[a.verdict], plan);
  };
  for (const ClusterAnswer& a : shown.answers) add("answer", a);
  if (const auto present = present_of(input, shown.request); present && !shown.answers.empty())
    add("present", *present);
  return out;
}

std::optional<engine::Scenario> moved(const FigureInput& input, const engine::Scenario& scenario, int index) {
  const Shown shown = shown_of(input);
  if (index < 0 || static_cast<std::size_t>(index) >= shown.answers.size()) return std::nullopt;
  const ClusterAnswer& answer = shown.answers[static_cast<std::size_t>(index)];
  if (!answer.runs) return std::nullopt;
  return engine::moved_to(scenario, answer);
}

}  // namespace
}  // namespace clusters

extern constinit const FigureRow clusters_figure{
    .name = "clusters",
    .subject = Subject::any,
    .needs = Needs::clusters,
    .about = About::search,
    .height_pt = 269.3f,
    .options = clusters::kOptions.rows,
    .head = clusters::head_of,
    .draw = clusters::draw_whole,
    .data = clusters::data_of,
    .plans = {"clusters.answer", nullptr, clusters::moved},
};

}  // namespace roofscape::widgets
