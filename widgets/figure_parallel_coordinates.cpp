#include "widgets/figure_parallel_coordinates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "widgets/empty_state.h"
#include "widgets/figure_head.h"
#include "widgets/figure_memory_parts.h"
#include "widgets/figure_search_parts.h"
#include "widgets/number_format.h"
#include "widgets/palette.h"
#include "widgets/plot.h"

namespace roofscape::widgets {

using engine::Plan;
using engine::SearchResult;
using memory::bytes_text;
using search::AnyPlan;
using search::Shown;

namespace {

constexpr std::size_t kBright = 10;   // of the best plans
constexpr std::size_t kFaint = 400;   // of the sample
constexpr double kSlowest = 6;        // times the best: slower plans of the sample are left out
constexpr float kNarrow = 62;         // between axes, at scale 1: closer ones drop axes on which nothing differs

// A vertical axis: the value of a plan there, 0 (bottom) to 1, and what stands beside its ticks.
struct Dimension {
  std::string name;
  std::function<double(const AnyPlan&)> value;
  std::function<std::string(double)> words;
  bool logarithmic = false, continuous = false;
  std::vector<double> values;  // that occur, ascending; of a continuous one its ends
  double place(double v) const {
    const double low = values.front(), high = values.back();
    if (!(high > low)) return 0.5;
    return logarithmic ? std::log(v / low) / std::log(high / low) : (v - low) / (high - low);
  }
};

struct Line {
  std::size_t index = 0;  // of search::plan_at
  AnyPlan plan;
};

struct Lines {
  std::vector<Line> faint, bright;  // bright: best last, so that it lies on top
  std::optional<Line> present;
  template <class F>
  void each(F&& f) const {
    for (const Line& l : faint) f(l);
    for (const Line& l : bright) f(l);
    if (present) f(*present);
  }
};

Lines lines_of(const Shown& shown) {
  Lines out;
  const SearchResult& r = *shown.result;
  const double slowest = shown.fits() ? kSlowest * r.front.back().step_time_s : std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < r.sample.size() && out.faint.size() < kFaint; ++i)
    if ((r.sample[i].fits || !shown.fits()) && r.sample[i].step_time_s <= slowest) out.faint.push_back({search::sample_index(r, i), search::plan_at(r, search::sample_index(r, i))});
  for (std::size_t i = std::min(kBright, r.best.size()); i-- > 0;) out.bright.push_back({i, search::plan_at(r, i)});
  if (r.present_legal && r.present.step_time_s > 0) out.present = Line{search::present_index(r), search::plan_at(r, search::present_index(r))};
  return out;
}

std::vector<Dimension> dimensions_of(const FigureInput& input, const Shown& shown, const Lines& lines) {
  std::vector<Dimension> out;
  const TextTable& t = input.texts;
  const auto name = [&t](std::string_view id) { return std::string(t.text("figure.parallel-coordinates.axis." + std::string(id))); };
  const auto degree = [&](std::string_view id, int Plan::*member) {
    out.push_back({name(id), [member](const AnyPlan& a) { return static_cast<double>(a.plan->*member); }, [](double v) { return format_count(v); }, true, false, {}});
  };
  degree("data", &Plan::data);
  degree("fsdp", &Plan::fsdp);
  degree("tensor", &Plan::tensor);
  degree("pipeline", &Plan::pipeline);
  degree("context", &Plan::context);
  if (shown.scenario->model.is_moe()) degree("expert", &Plan::expert);
  degree("microbatch", &Plan::microbatch_sequences);
  out.push_back({name("checkpointing"), [](const AnyPlan& a) { return static_cast<double>(a.plan->policy); },
                 [&t](double v) { return search::policy_word(t, static_cast<engine::CheckpointPolicy>(v)); }, false, false, {}});
  out.push_back({name("time"), [](const AnyPlan& a) { return a.step_time_s; }, [](double v) { return format_duration(v); }, true, true, {}});
  out.push_back({name("memory"), [](const AnyPlan& a) { return a.memory_bytes; }, [](double v) { return bytes_text(v); }, false, true, {}});
  for (Dimension& d : out) {
    lines.each([&](const Line& l) { d.values.push_back(d.value(l.plan)); });
    if (d.values.empty()) d.values.push_back(1);
    std::sort(d.values.begin(), d.values.end());
    d.values.erase(std::unique(d.values.begin(), d.values.end()), d.values.end());
    if (d.continuous) d.values = {d.values.front(), d.values.back()};
  }
  // Choices of few values stand at even distances, whatever their numbers are.
  Dimension& policy = out[out.size() - 3];
  policy.value = [values = policy.values](const AnyPlan& a) {
    return static_cast<double>(std::find(values.begin(), values.end(), static_cast<double>(a.plan->policy)) - values.begin());
  };
  policy.words = [values = policy.values, words = policy.words](double v) { return words(values[static_cast<std::size_t>(v)]); };
  for (std::size_t i = 0; i < policy.values.size(); ++i) policy.values[i] = static_cast<double>(i);
  return out;
}

struct Placed {
  Rect plot;
  std::vector<float> x;  // of the axes
  float y(const Dimension& d, const AnyPlan& a) const { return plot.bottom() - static_cast<float>(std::clamp(d.place(d.value(a)), 0.0, 1.0)) * plot.h; }
  std::vector<Point> points(const std::vector<Dimension>& dimensions, const AnyPlan& a) const {
    std::vector<Point> out;
    for (std::size_t i = 0; i < dimensions.size(); ++i) out.push_back({x[i], y(dimensions[i], a)});
    return out;
  }
};

// The faster, the brighter.
Colour colour_of(const Dimension& time, const AnyPlan& a) {
  return viridis(1 - std::clamp(time.place(a.step_time_s), 0.0, 1.0));
}

void draw_names(Canvas& canvas, const FigureInput& input, const std::vector<Dimension>& dimensions, const Placed& l, const Rect& band, bool two_rows) {
  const float row = band.h / (two_rows ? 2 : 1), step = l.x.size() > 1 ? l.x[1] - l.x[0] : l.plot.w;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const float room = (two_rows ? 2 : 1) * step - canvas.px(6);
    TextStyle style = small_text(canvas, input.theme.ink2, HAlign::centre);
    const std::string text = ellipsize(canvas, dimensions[i].name, style, room);
    const float half = canvas.text_width(text, style) / 2;
    const float x = std::clamp(l.x[i], band.x + half, std::max(band.x + half, band.right() - half));
    canvas.text({x, band.y + row * ((two_rows && i % 2 == 1) ? 1.5f : 0.5f)}, text, style);
  }
}

// The ends over and under the axis, the values between beside it; what would touch another is left out.
void draw_values(Canvas& canvas, const FigureInput& input, const Dimension& d, float x, float room, const Placed& l) {
  const TextStyle style = small_text(canvas, input.theme.ink3, HAlign::left), centred = small_text(canvas, input.theme.ink3, HAlign::centre);
  const float line = style.em * 1.35f, gap = canvas.px(12);
  const auto end = [&](double value, float y) {
    const std::string text = ellipsize(canvas, d.words(value), centred, room - canvas.px(6));
    const float half = canvas.text_width(text, centred) / 2;
    canvas.text({std::max(x, l.plot.x + half), y}, text, centred);
  };
  const double low = d.values.front(), high = d.values.back();
  const bool one = !(high > low);
  end(low, one ? l.plot.centre().y + gap : l.plot.bottom() + gap);
  if (one) return;
  end(high, l.plot.y - gap);
  std::vector<float> taken{l.plot.y - line / 2, l.plot.bottom() + line / 2};
  for (std::size_t i = 1; i + 1 < d.values.size(); ++i) {
    const float y = l.plot.bottom() - static_cast<float>(d.place(d.values[i])) * l.plot.h;
    if (std::any_of(taken.begin(), taken.end(), [&](float other) { return std::abs(other - y) < line; })) continue;
    const std::string text = d.words(d.values[i]);
    if (canvas.text_width(text, style) > room - canvas.px(10)) continue;
    taken.push_back(y);
    backed_text(canvas, input.theme, {x + canvas.px(6), y}, text, style);
  }
}

}  // namespace

FigureHead parallel_coordinates_head(const FigureInput& input, const FigureView&) { return search::head_of(input, "parallel-coordinates"); }

void draw_parallel_coordinates(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, parallel_coordinates_head(input, view));
  if (rest.empty()) return;
  const Shown shown = search::shown_of(input);
  if (!shown.priced()) return draw_empty_state(canvas, input.theme, rest, search::empty_text(input, shown));
  const Theme& theme = input.theme;
  const Lines lines = lines_of(shown);
  std::vector<Dimension> dimensions = dimensions_of(input, shown, lines);
  const Dimension time = dimensions[dimensions.size() - 2];
  const auto step_of = [&] { return rest.w / static_cast<float>(dimensions.size()); };
  if (step_of() < canvas.px(kNarrow)) std::erase_if(dimensions, [](const Dimension& d) { return d.values.size() < 2; });
  if (dimensions.empty()) return;

  Rect room = rest;
  const TextStyle name = small_text(canvas, theme.ink2, HAlign::centre);
  const float row = name.em * 1.45f, step = step_of();
  const bool two_rows = std::any_of(dimensions.begin(), dimensions.end(), [&](const Dimension& d) { return canvas.text_width(d.name, name) > step - canvas.px(6); });
  const Rect names = room.cut_top(row * (two_rows ? 2.0f : 1.0f));
  const Rect note = room.cut_bottom(row * 1.2f);
  room.cut_top(row * 1.5f);
  room.cut_bottom(row * 1.5f);
  Placed l;
  l.plot = room;
  if (room.h < canvas.px(40) || step < canvas.px(16)) return;
  for (std::size_t i = 0; i < dimensions.size(); ++i) l.x.push_back(room.x + step * (static_cast<float>(i) + 0.4f));
  const float width = theme.data_width * canvas.em();
  draw_names(canvas, input, dimensions, l, names, two_rows);

  for (const Line& line : lines.faint) canvas.polyline(l.points(dimensions, line.plan), {faded(colour_of(time, line.plan), 0.2f), std::max(canvas.px(0.8f), width * 0.35f), {}});
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    canvas.line({l.x[i], room.y}, {l.x[i], room.bottom()}, {theme.axis, theme.axis_width * canvas.em(), {}});
    draw_values(canvas, input, dimensions[i], l.x[i], step, l);
  }
  const auto bold = [&](const Line& line, Colour colour, float thickness, Dash dash = {}) {
    const std::vector<Point> points = l.points(dimensions, line.plan);
    canvas.polyline(points, {theme.panel, thickness + canvas.px(2), {}});
    canvas.polyline(points, {colour, thickness, dash});
    for (const Point& p : points) canvas.marker(p, Marker::circle, thickness * 2.4f, {.colour = colour});
  };
  for (const Line& line : lines.bright) bold(line, colour_of(time, line.plan), width * (line.index == 0 ? 1.3f : 0.8f));
  if (lines.present) bold(*lines.present, theme.ink, width, {canvas.px(6), canvas.px(4)});
  if (view.hovered_plan)
    for (std::size_t i = 0; i < search::plan_count(*shown.result); ++i)
      if (const AnyPlan a = search::plan_at(*shown.result, i); *a.plan == *view.hovered_plan) {
        bold({i, a}, theme.ink, width * 1.4f);
        break;
      }
  // What can be pointed at: any line on the axes of time and memory, where few meet, and the bright ones everywhere.
  const float size = canvas.px(8);
  const auto tag = [&](const Line& line, std::size_t first) {
    for (std::size_t i = first; i < dimensions.size(); ++i) {
      const Point p{l.x[i], l.y(dimensions[i], line.plan)};
      canvas.tag_with("parallel.plan", static_cast<int>(line.index), {p.x - size / 2, p.y - size / 2, size, size},
                      [&] { return search::readout_of(input, shown, line.plan, line.index == search::present_index(*shown.result)); });
    }
  };
  for (const Line& line : lines.faint) tag(line, dimensions.size() - std::min<std::size_t>(2, dimensions.size()));
  if (lines.present) tag(*lines.present, 0);
  for (const Line& line : lines.bright) tag(line, 0);

  const TextStyle faint = small_text(canvas, theme.ink3, HAlign::left);
  const std::string words = input.texts.format(lines.present ? "figure.parallel-coordinates.note" : "figure.parallel-coordinates.note.alone",
                                               {format_count(static_cast<double>(lines.bright.size())), format_count(static_cast<double>(lines.faint.size()))});
  canvas.text({note.x, note.centre().y}, ellipsize(canvas, words, faint, note.w), faint);
}

std::string parallel_coordinates_data(const FigureInput& input, const FigureView&) {
  const Shown shown = search::shown_of(input);
  std::string out = "line\tdata\tfsdp\ttensor\tpipeline\tcontext\texpert\tmicrobatch\tcheckpointing\tstep s\tmemory bytes\n";
  if (!shown.priced()) return out;
  const Lines lines = lines_of(shown);
  lines.each([&](const Line& line) {
    const Plan& p = *line.plan.plan;
    const bool best = line.index < shown.result->best.size(), present = line.index == search::present_index(*shown.result);
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", best ? "best" : present ? "present" : "sample", p.data, p.fsdp, p.tensor, p.pipeline,
                       p.context, p.expert, p.microbatch_sequences, search::policy_word(input.texts, p.policy), line.plan.step_time_s, line.plan.memory_bytes);
  });
  return out;
}

}  // namespace roofscape::widgets
