// The evidence figure: published measurements against what is predicted for them, on logarithmic axes, with the line
// of a perfect prediction and the bands within 10 and 25 percent. The runs near the plan, which make its error band,
// are ringed, the others fade. Options: `quantity` (own: the plan's step time or time per token), `show` (values, or
// the error over what is predicted), `mode` of the predictions (own: the plan's), `view` (runs, or the coverage of the
// error bands).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "engine/studies/evidence.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/evidence_text.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_options.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/training/evidence_coverage.h"
#include "widgets/plot/label_field.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

using engine::ErrorBand;
using engine::EvidenceKind;
using engine::EvidencePoint;

namespace {

enum class EvidenceQuantity : std::uint8_t {
  own,
  step,
  memory,
  decode,
  kernel,
  collective
};  // own, then engine::EvidenceKind
enum class Show : std::uint8_t { values, error };
enum class PredictedIn : std::uint8_t { own, calibrated, ideal };
enum class EvidenceView : std::uint8_t { runs, coverage };
constexpr std::array<std::string_view, 1 + engine::kEvidenceKinds> kEvidenceQuantities{
    "own", "step", "memory", "decode", "kernel", "collective"};
constexpr std::array<std::string_view, 2> kShows{"values", "error"};
constexpr std::array<std::string_view, 3> kModes{"own", "calibrated", "ideal"};
constexpr std::array<std::string_view, 2> kEvidenceViews{"runs", "coverage"};
constexpr FigureOptions kEvidenceOptions{OptionOf<EvidenceQuantity>{"quantity", kEvidenceQuantities},
                                         OptionOf<Show>{"show", kShows}, OptionOf<PredictedIn>{"mode", kModes},
                                         OptionOf<EvidenceView>{"view", kEvidenceViews}};

constexpr float kSourceMark = 7, kFaded = 0.6f;  // px; opacity of what is far from the plan
constexpr float kLeastForKey = 640;              // px of width, below which sources are told by pointing only
constexpr float kBandTint = 0.07f;               // of ink, in each band; the inner one lies in the outer one
constexpr float kLeastSources = 7;               // lines of them, where what marks mean takes its room from them
constexpr double kMostError = 1.5;               // of the error axis: what is beyond stands at its edge
constexpr std::size_t kSourceLine = 52;          // characters of a source in one row of a readout

// Vermilion is trouble's. Seven hues and three shapes have no common factor: 21 looks.
constexpr std::array kSourceHues{Hue::blue, Hue::orange, Hue::green, Hue::purple, Hue::sky, Hue::grey, Hue::yellow};
constexpr std::array kSourceMarkers{Marker::circle, Marker::diamond, Marker::square};

struct SourceLook {
  Hue hue = Hue::blue;
  Marker marker = Marker::circle;
};
struct Source {
  std::string name;
  std::size_t n = 0;
  double median_absolute = 0;
  SourceLook look;
};

// What is shown: the points of one kind and how they lie to the plan.
struct ShownEvidence {
  const engine::Evidence* evidence = nullptr;  // null: not there yet
  EvidenceKind kind = EvidenceKind::step;
  std::vector<std::size_t> points;
  std::vector<bool> near;  // by index of all points
  ErrorBand band;
  std::optional<double> own;    // what is predicted of the plan, where it is of this kind and mode
  std::vector<Source> sources;  // the one with the most points first
  engine::ErrorSummary summary;
};

EvidenceKind kind_of(const FigureInput& input, const FigureView& view) {
  const bool serves = input.scenario.serves();
  const auto chosen = kEvidenceOptions.chosen<EvidenceQuantity>(view);
  if (chosen == EvidenceQuantity::own) return serves ? EvidenceKind::decode : EvidenceKind::step;
  return static_cast<EvidenceKind>(static_cast<int>(chosen) - static_cast<int>(EvidenceQuantity::step));
}
bool shows_coverage(const FigureView& view) {
  return kEvidenceOptions.chosen<EvidenceView>(view) == EvidenceView::coverage;
}
bool shows_errors(const FigureView& view) { return kEvidenceOptions.chosen<Show>(view) == Show::error; }
engine::Mode mode_of(const FigureInput& input, const FigureView& view) {
  const auto chosen = kEvidenceOptions.chosen<PredictedIn>(view);
  if (chosen == PredictedIn::calibrated) return engine::Mode::calibrated;
  if (chosen == PredictedIn::ideal) return engine::Mode::ideal;
  return input.scenario.assumptions.mode == engine::Mode::ideal ? engine::Mode::ideal : engine::Mode::calibrated;
}

std::optional<double> own_value(const FigureInput& input, EvidenceKind kind) {
  if (input.report.has_errors()) return std::nullopt;
  const bool serves = input.scenario.serves();
  switch (kind) {
    case EvidenceKind::step:
      return input.report.quantities[engine::Q::step_time];
    case EvidenceKind::decode:
      return input.report.quantities[engine::Q::time_per_output_token];
    case EvidenceKind::memory:
      return serves ? std::nullopt : input.report.quantities[engine::Q::memory_total];
    default:
      return std::nullopt;
  }
}

bool is_operation(EvidenceKind kind) { return kind == EvidenceKind::kernel || kind == EvidenceKind::collective; }

// What has a look of its own: a source of runs; of single operations, which come from few places, the chip.
std::string_view group_of(const EvidencePoint& point) { return is_operation(point.kind) ? point.chip : point.family; }

double median_of(std::vector<double>& values) { return engine::error_summary(values).median_absolute; }

ShownEvidence shown(const FigureInput& input, const FigureView& view) {
  ShownEvidence out;
  out.kind = kind_of(input, view);
  if (input.evidence == nullptr) return out;
  const engine::Mode mode = mode_of(input, view);
  out.evidence = &input.evidence->of(mode);
  const auto& points = out.evidence->points;
  std::map<std::string_view, std::vector<double>> errors;
  std::vector<double> all;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].kind != out.kind) continue;
    out.points.push_back(i);
    errors[group_of(points[i])].push_back(points[i].error);
    all.push_back(points[i].error);
  }
  out.summary = engine::error_summary(all);
  for (auto& [name, values] : errors)
    out.sources.push_back({std::string(name), values.size(), median_of(values), {}});
  std::stable_sort(out.sources.begin(), out.sources.end(),
                   [](const Source& a, const Source& b) { return a.n > b.n; });
  for (std::size_t i = 0; i < out.sources.size(); ++i)
    out.sources[i].look = {kSourceHues[i % kSourceHues.size()], kSourceMarkers[i % kSourceMarkers.size()]};
  out.band = engine::error_band(points, input.scenario, out.kind);
  out.near.assign(points.size(), false);
  if (out.band.validated())
    for (const std::size_t i : out.band.near) out.near[i] = true;
  if (mode == input.scenario.assumptions.mode) out.own = own_value(input, out.kind);
  if (out.own && !(*out.own > 0)) out.own.reset();
  return out;
}

SourceLook source_look(const ShownEvidence& s, const EvidencePoint& point) {
  for (const Source& source : s.sources)
    if (source.name == group_of(point)) return source.look;
  return {};
}

// "arXiv ... Table 5" over as many rows as it takes.
void add_source(Readout& r, std::string_view label, std::string_view source) {
  for (bool first = true; !source.empty(); first = false) {
    std::size_t cut = source.size();
    if (cut > kSourceLine) {
      cut = source.rfind(' ', kSourceLine);
      if (cut == std::string_view::npos || cut == 0) cut = std::min(source.find(' '), source.size());
    }
    r.rows.emplace_back(first ? std::string(label) : std::string(), std::string(source.substr(0, cut)));
    source.remove_prefix(std::min(source.size(), cut + 1));
  }
}

std::string plan_of(const FigureInput& input, const EvidencePoint& p) {
  std::string plan;
  const auto add = [&](const char* key, int degree) {
    if (degree <= 1) return;
    if (!plan.empty()) plan += input.texts.text("figure.list_separator");
    plan += input.texts.format(key, {format_count(degree)});
  };
  add("figure.evidence.plan.data",
      p.features.chips / std::max(1, p.features.tensor * p.features.pipeline * p.features.context));
  add("figure.axis.tensor", p.features.tensor);
  add("figure.axis.pipeline", p.features.pipeline);
  add("figure.axis.context", p.features.context);
  return plan.empty() ? std::string(input.texts.text("figure.no_parallelism")) : plan;
}

Readout readout_of(const FigureInput& input, const ShownEvidence& s, const EvidencePoint& p) {
  const TextTable& t = input.texts;
  const engine::Unit unit = unit_of(s.kind);
  const bool operation = is_operation(s.kind);
  Readout r;
  r.title = operation && p.features.chips <= 1
                ? t.format("figure.evidence.point.operation", {p.model, p.chip})
                : t.format("figure.evidence.point", {p.model, format_count(p.features.chips), p.chip});
  r.rows.emplace_back(t.text("figure.evidence.measured"), format(p.measured, unit));
  const std::string as = "figure.evidence.as." + p.published;
  if (t.has(as))
    r.rows.emplace_back(t.text("figure.evidence.published"),
                        t.format(as, {format_significant(p.published_value, 4)}));
  r.rows.emplace_back(t.text("figure.evidence.predicted"),
                      t.format("figure.evidence.value_error", {format(p.predicted, unit), error_text(p.error)}));
  if (!operation) r.rows.emplace_back(t.text("figure.evidence.plan"), plan_of(input, p));
  if (!p.complete) r.rows.emplace_back(t.text("figure.evidence.guessed"), t.text("figure.evidence.guessed.value"));
  add_source(r, t.text("figure.evidence.source"), p.source);
  r.rows.emplace_back(t.text("figure.evidence.id"), p.id);
  return r;
}

// ---- the picture ----

struct Plot {
  Rect area;
  Frame frame;
  Scale x, y;
  bool errors = false;
  double most_error = 0;

  Point at(const EvidencePoint& p) const {
    return errors ? Point{x(p.predicted), y(std::min(p.error, most_error))} : Point{x(p.measured), y(p.predicted)};
  }
};

Plot lay_out(const Canvas& canvas, const Rect& room, const FigureInput& input, const FigureView& view,
             const ShownEvidence& s) {
  const std::string kind(engine::kEvidenceKindIds[s.kind]);
  Plot plot;
  plot.errors = shows_errors(view);
  double low = 1e300, high = 0, least = -0.25, most = 0.25;
  const auto take = [&](double v) { low = std::min(low, v), high = std::max(high, v); };
  for (const std::size_t i : s.points) {
    const EvidencePoint& p = s.evidence->points[i];
    take(p.predicted);
    if (!plot.errors) take(p.measured);
    least = std::min(least, p.error), most = std::max(most, p.error);
  }
  if (s.own) {
    take(*s.own);
    if (s.band.validated() && !plot.errors) take(s.band.least(*s.own)), take(s.band.most(*s.own));
  }
  const engine::Unit unit = unit_of(s.kind);
  const TickLabels labels = unit.notation == engine::Notation::duration ? TickLabels::plain : TickLabels::si;
  plot.x = Scale(ScaleKind::log10, low / 1.5, high * 1.5, 0, 1);
  plot.frame.x.ticks = ticks(plot.x, {std::clamp(static_cast<int>(room.w / canvas.px(70)), 2, 10), labels, true});
  plot.frame.x.title =
      input.texts.text("figure.evidence." + std::string(plot.errors ? "predicted." : "measured.") + kind);
  if (plot.errors) {
    plot.most_error = std::min(most, kMostError);
    const double pad = 0.04 * (plot.most_error - least);
    plot.y = Scale(ScaleKind::linear, least - pad, plot.most_error + pad, 1, 0);
    plot.frame.y.ticks =
        ticks(plot.y, {std::clamp(static_cast<int>(room.h / canvas.px(44)), 2, 8), TickLabels::plain, false});
    for (Tick& tick : plot.frame.y.ticks)
      tick.label = (tick.value > 1e-9    ? "+"
                    : tick.value < -1e-9 ? std::string(kMinus)
                                         : std::string()) +
                   format_percent(std::abs(tick.value), 0);
    plot.frame.y.title = input.texts.text("figure.evidence.y.error");
  } else {
    plot.y = Scale(ScaleKind::log10, low / 1.5, high * 1.5, 1, 0);
    plot.frame.y.ticks = ticks(plot.y, {std::clamp(static_cast<int>(room.h / canvas.px(44)), 2, 8), labels, true});
    plot.frame.y.title = input.texts.text("figure.evidence.predicted." + kind);
  }
  plot.area = plot_rect(canvas, room, plot.frame);
  plot.x = plot.x.with_range(plot.area.x, plot.area.right());
  plot.y = plot.y.with_range(plot.area.bottom(), plot.area.y);
  return plot;
}

// Where predictions are within `share` of what was measured.
void draw_band(Canvas& canvas, const Theme& theme, const Plot& plot, double share) {
  const Fill tint{.colour = faded(theme.ink, kBandTint)};
  if (plot.errors)
    return canvas.rect(rect_between(plot.area.x, plot.y(share), plot.area.right(), plot.y(-share)), tint);
  // Beyond the ends of the axis, so that the band fills the corners.
  const double from = plot.x.from() / 2, to = plot.x.to() * 2;
  canvas.polygon({{plot.x(from), plot.y(from * (1 - share))},
                  {plot.x(from), plot.y(from * (1 + share))},
                  {plot.x(to), plot.y(to * (1 + share))},
                  {plot.x(to), plot.y(to * (1 - share))}},
                 tint);
}

// A ring: near the plan. Hollow: a part of the configuration was guessed.
void draw_ring(Canvas& canvas, const Theme& theme, Point at, Marker marker) {
  canvas.marker(at, marker, canvas.px(kSourceMark + 4.5f),
                {.colour = theme.panel, .edge = theme.ink, .edge_width = canvas.px(1.2f)});
}
void draw_mark(Canvas& canvas, Point at, Marker marker, Colour colour, bool complete) {
  const float size = canvas.px(kSourceMark);
  if (complete)
    canvas.marker(at, marker, size, {.colour = colour});
  else
    canvas.marker(at, marker, size - canvas.px(1), {.edge = colour, .edge_width = canvas.px(1.4f)});
}

// `told`: whether a key or a readout says whose a mark is; where nothing does, hues and forms would be a riddle.
void draw_points(Canvas& canvas, const FigureInput& input, const ShownEvidence& s, const Plot& plot, bool near,
                 bool told) {
  const Theme& theme = input.theme;
  const bool some_near = s.band.validated();
  const float size = canvas.px(kSourceMark);
  for (const std::size_t i : s.points) {
    if (s.near[i] != near) continue;
    const EvidencePoint& p = s.evidence->points[i];
    const Point at = plot.at(p);
    const SourceLook look = told ? source_look(s, p) : SourceLook{};
    // Beside runs like the plan the others are a ground to see them on.
    const Colour colour = some_near && !near ? theme.ink3 : told ? theme.stroke(look.hue) : theme.ink2;
    const float before = some_near && !near ? canvas.set_opacity(kFaded) : canvas.set_opacity(near ? 1.0f : 0.85f);
    if (near) draw_ring(canvas, theme, at, look.marker);
    draw_mark(canvas, at, look.marker, colour, p.complete);
    canvas.set_opacity(before);
    canvas.tag_with("evidence.point", static_cast<int>(i), {at.x - size / 2, at.y - size / 2, size, size},
                    [&] { return readout_of(input, s, p); });
  }
}

// The plan: what is predicted of it, and where a measurement is expected.
void draw_own(Canvas& canvas, const FigureInput& input, const ShownEvidence& s, const Plot& plot) {
  if (!s.own) return;
  const Theme& theme = input.theme;
  const Stroke bar{theme.ink, canvas.px(3), {}}, cap{theme.ink, canvas.px(1.6f), {}};
  const float reach = canvas.px(5);
  const std::string value = format(*s.own, unit_of(s.kind));
  if (plot.errors) {
    const float x = plot.x(*s.own);
    canvas.line({x, plot.area.y}, {x, plot.area.bottom()},
                {theme.ink, theme.axis_width * 1.5f * canvas.em(), Dash{4, 3}.scaled(canvas.px(1))});
    if (!s.band.validated()) return;
    const float top = plot.y(std::min(s.band.high, plot.most_error)), bottom = plot.y(s.band.low);
    canvas.line({x, top}, {x, bottom}, bar);
    for (const float y : {top, bottom}) canvas.line({x - reach, y}, {x + reach, y}, cap);
    return;
  }
  const float y = plot.y(*s.own);
  const float left = s.band.validated() ? plot.x(s.band.least(*s.own)) : plot.x(*s.own);
  const float right = s.band.validated() ? plot.x(s.band.most(*s.own)) : left;
  canvas.line({plot.area.x, y}, {right, y},
              {theme.ink, theme.axis_width * 1.5f * canvas.em(), Dash{4, 3}.scaled(canvas.px(1))});
  if (s.band.validated()) {
    canvas.line({left, y}, {right, y}, bar);
    for (const float x : {left, right}) canvas.line({x, y - reach}, {x, y + reach}, cap);
  }
  const Rect mark{left - reach, y - reach, right - left + 2 * reach, 2 * reach};
  canvas.tag_with("evidence.plan", -1, mark, [&] {
    Readout r{input.texts.format("figure.evidence.now", {value}), {}};
    if (s.band.validated())
      r.rows.emplace_back(input.texts.text("figure.evidence.expected"),
                          range_text(input.texts, s.band.least(*s.own), s.band.most(*s.own), unit_of(s.kind)));
    return r;
  });
}

// What labels keep clear of: marks with their rings.
LabelField marks_field(const Canvas& canvas, const ShownEvidence& s, const Plot& plot) {
  LabelField field(plot.area.inset(canvas.px(2)));
  const float mark = canvas.px(kSourceMark + 9);
  for (const std::size_t i : s.points) {
    const Point at = plot.at(s.evidence->points[i]);
    field.take({at.x - mark / 2, at.y - mark / 2, mark, mark});
  }
  return field;
}

// At its line where no mark is; the readout has it where there is no such place. Returns what it takes.
std::optional<Rect> draw_own_label(Canvas& canvas, const FigureInput& input, const ShownEvidence& s,
                                   const Plot& plot) {
  if (!s.own) return std::nullopt;
  const std::array lines{LabelLine{input.texts.format("figure.evidence.now", {format(*s.own, unit_of(s.kind))}),
                                   small_text(canvas, input.theme.ink, HAlign::left, Weight::bold)}};
  const Size size = label_size(canvas, lines);
  LabelField field = marks_field(canvas, s, plot);
  std::vector<Point> corners;
  const float gap = canvas.px(7);
  constexpr int kSteps = 6;
  for (int i = 0; i < kSteps; ++i) {
    const float along = static_cast<float>(i) / (kSteps - 1);
    if (plot.errors) {
      const float x = plot.x(*s.own), y = plot.area.y + gap / 2 + (plot.area.h - size.h - gap) * along;
      for (const float left : {x + gap, x - gap - size.w}) corners.push_back({left, y});
    } else {
      const float y = plot.y(*s.own), x = plot.area.x + gap + (plot.area.w - size.w - 2 * gap) * along;
      for (const float top : {y - size.h - canvas.px(2), y + canvas.px(2)}) corners.push_back({x, top});
    }
  }
  const auto place = field.place(size, corners);
  if (!place) return std::nullopt;
  std::array haloed = lines;
  haloed[0].style.halo = input.theme.panel;
  draw_label(canvas, *place, haloed);
  return place;
}

// How many lie in the bands, in a corner where no mark is: below the line of a perfect prediction there mostly is room.
void draw_shares(Canvas& canvas, const FigureInput& input, const ShownEvidence& s, const Plot& plot,
                 const std::optional<Rect>& own_label) {
  const TextStyle style = small_text(canvas, input.theme.ink2, HAlign::right);
  const std::array lines{
      LabelLine{input.texts.format("figure.evidence.within", {"10", format_share(s.summary.within_10)}), style},
      LabelLine{input.texts.format("figure.evidence.within", {"25", format_share(s.summary.within_25)}), style}};
  const Size size = label_size(canvas, lines);
  if (size.w > plot.area.w * 0.5f || plot.area.h < canvas.px(110)) return;
  const float gap = canvas.px(8);
  LabelField field = marks_field(canvas, s, plot);
  if (own_label) field.take(*own_label);
  if (s.own) {
    const float level = plot.errors ? plot.x(*s.own) : plot.y(*s.own);
    if (plot.errors)
      field.take_line({level, plot.area.y}, {level, plot.area.bottom()}, gap);
    else
      field.take_line({plot.area.x, level}, {plot.area.right(), level}, gap);
  }
  const float left = plot.area.x + gap, right = plot.area.right() - gap - size.w, top = plot.area.y + gap,
              low = plot.area.bottom() - gap - size.h;
  const std::array<Point, 4> corners{Point{right, low}, {left, top}, {right, top}, {left, low}};
  const auto place = field.place(size, corners);
  if (!place) return;
  std::array haloed = lines;
  for (LabelLine& line : haloed) line.style.halo = input.theme.panel;
  draw_label(canvas, *place, haloed, HAlign::right);
}

std::string_view sources_title(const FigureInput& input, const ShownEvidence& s) {
  return input.texts.text(is_operation(s.kind) ? "figure.evidence.sources.chip" : "figure.evidence.sources");
}

// Whether its marks are in its colour: some of its runs are like the plan, or none of any are.
bool near_source(const ShownEvidence& s, const Source& source) {
  return !s.band.validated() || std::any_of(s.points.begin(), s.points.end(), [&](std::size_t i) {
    return s.near[i] && group_of(s.evidence->points[i]) == source.name;
  });
}

// The sources with their median error, the one with the most runs first; what does not fit is counted.
void draw_sources(Canvas& canvas, const FigureInput& input, const ShownEvidence& s, const Rect& area) {
  const Theme& theme = input.theme;
  const TextStyle head = small_text(canvas, theme.ink3, HAlign::left),
                  name = small_text(canvas, theme.ink2, HAlign::left),
                  value = small_text(canvas, theme.ink, HAlign::right);
  TextStyle over = head;
  over.halign = HAlign::right;
  const float line = name.em * kLabelLine;
  float y = area.y + line / 2;
  const std::string_view what = sources_title(input, s), error_title = input.texts.text("figure.evidence.median");
  const float both = canvas.text_width(what, head) + canvas.px(12) + canvas.text_width(error_title, over);
  canvas.text({area.x, y}, ellipsize(canvas, what, head, both <= area.w ? area.w : area.w * 0.6f), head);
  canvas.text({area.right(), y}, ellipsize(canvas, error_title, over, both <= area.w ? area.w : area.w * 0.38f),
              over);
  const auto room = static_cast<std::size_t>(std::max(0.0f, (area.h - line) / line));
  const std::size_t n = s.sources.size() <= room ? s.sources.size() : room > 0 ? room - 1 : 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Source& source = s.sources[i];
    y += line;
    canvas.marker({area.x + canvas.px(5), y}, source.look.marker, canvas.px(kSourceMark),
                  {.colour = near_source(s, source) ? theme.stroke(source.look.hue) : theme.ink3});
    const std::string error = format_percent(source.median_absolute, source.median_absolute < 0.0995 ? 1 : 0);
    const float left = canvas.px(16), width = canvas.text_width(error, value) + canvas.px(8);
    const std::string text =
        input.texts.format("figure.evidence.source_runs", {source.name, format_count(static_cast<double>(source.n))});
    canvas.text({area.x + left, y}, ellipsize(canvas, text, name, area.w - left - width), name);
    canvas.text({area.right(), y}, error, value);
  }
  if (n < s.sources.size() && room > 0)
    canvas.text({area.x + canvas.px(16), y + line},
                input.texts.format("figure.evidence.more", {format_count(static_cast<double>(s.sources.size() - n))}),
                head);
}

// What marks and bands mean: of what there is in the picture.
std::vector<std::string_view> meanings_of(const ShownEvidence& s) {
  const auto& points = s.evidence->points;
  const bool hollow =
      std::any_of(s.points.begin(), s.points.end(), [&](std::size_t i) { return !points[i].complete; });
  const bool rings = std::any_of(s.points.begin(), s.points.end(), [&](std::size_t i) { return s.near[i]; });
  std::vector<std::string_view> keys;
  if (rings) keys.push_back("figure.evidence.key.near");
  if (hollow) keys.push_back("figure.evidence.key.guessed");
  keys.push_back("figure.evidence.key.band.10");
  keys.push_back("figure.evidence.key.band.25");
  return keys;
}

// At the foot of the column of sources.
void draw_meanings(Canvas& canvas, const FigureInput& input, const std::vector<std::string_view>& keys, Rect area) {
  const Theme& theme = input.theme;
  const TextStyle style = small_text(canvas, theme.ink3, HAlign::left);
  const float line = style.em * kLabelLine, left = canvas.px(16), side = canvas.px(11);
  float y = area.bottom() - line * (static_cast<float>(keys.size()) - 0.5f);
  for (const std::string_view key : keys) {
    const Point at{area.x + canvas.px(5), y};
    if (key == "figure.evidence.key.near") {
      draw_ring(canvas, theme, at, Marker::circle);
      draw_mark(canvas, at, Marker::circle, theme.ink3, true);
    } else if (key == "figure.evidence.key.guessed") {
      draw_mark(canvas, at, Marker::circle, theme.ink2, false);
    } else {
      const Rect swatch{at.x - side / 2, y - side / 2, side, side};
      canvas.rect(swatch, {.colour = faded(theme.ink, kBandTint)});
      if (key == "figure.evidence.key.band.10") canvas.rect(swatch, {.colour = faded(theme.ink, kBandTint)});
      canvas.frame(swatch, {theme.line, theme.grid_width * canvas.em(), {}});
    }
    canvas.text({area.x + left, y}, ellipsize(canvas, input.texts.text(key), style, area.w - left), style);
    y += line;
  }
}

float sources_width(const Canvas& canvas, const FigureInput& input, const ShownEvidence& s, const Rect& area,
                    const FigureView& view) {
  if (view.compact || area.w < canvas.px(kLeastForKey) || s.sources.size() < 2) return 0;
  const TextStyle name = small_text(canvas, {}, HAlign::left);
  float width = 0;
  for (const Source& source : s.sources)
    width = std::max(width,
                     canvas.text_width(input.texts.format("figure.evidence.source_runs",
                                                          {source.name, format_count(static_cast<double>(source.n))}),
                                       name));
  width += canvas.px(16 + 8) + canvas.text_width("100\u202f%", name);
  const float titles = canvas.text_width(sources_title(input, s), name) + canvas.px(12) +
                       canvas.text_width(input.texts.text("figure.evidence.median"), name);
  return std::min(std::max(width, titles), area.w * 0.36f);
}

FigureHead evidence_head(const FigureInput& input, const FigureView& view) {
  const TextTable& t = input.texts;
  if (shows_coverage(view)) {
    FigureHead head =
        input.evidence != nullptr
            ? coverage_head(input, input.evidence->of(mode_of(input, view)))
            : FigureHead{.title = std::string(t.text("figure.evidence.title.coverage")), .takeaway = {}};
    head.context = t.format("figure.context.evidence", {mode_text(t, mode_of(input, view))}) + "; " +
                   std::string(t.text("figure.evidence.coverage.key"));
    return head;
  }
  const ShownEvidence s = shown(input, view);
  FigureHead head;
  head.title = t.text("figure.evidence.title." + std::string(engine::kEvidenceKindIds[s.kind]));
  // Of runs, in the mode that is asked for; the plan's own mode where it stands among them.
  head.context = t.format("figure.context.evidence", {mode_text(t, mode_of(input, view))});
  if (s.own) head.context += "; " + t.format("figure.context.evidence.own", {context_line(input)});
  if (s.evidence == nullptr || s.points.empty()) return head;
  const auto own = [&](std::string_view what, double value, std::string shown) {
    return say(head, beside_claim("evidence." + std::string(what), value, std::move(shown)));
  };
  const auto count = [&](std::string_view what, std::size_t n) {
    return own(what, static_cast<double>(n), format_count(static_cast<double>(n)));
  };
  const std::string runs = count("runs", s.summary.n);
  // Ideal mode is a bound: what is told is how far measurements stay above it.
  const bool times = s.kind == EvidenceKind::step || s.kind == EvidenceKind::decode;
  if (times && s.evidence->mode == engine::Mode::ideal) {
    const auto longer = [&](std::string_view what, double error) {
      return own(what, 1 / (1 + error), format_ratio(1 / (1 + error)));
    };
    const std::string middle = longer("longer", s.summary.bias);
    head.brief = t.format("figure.evidence.brief.ideal", {middle, runs});
    head.takeaway = s.band.validated()
                        ? t.format("figure.evidence.takeaway.ideal",
                                   {middle, runs, longer("longer_near", s.band.high),
                                    longer("longer_near", s.band.low), count("near", s.band.near.size())})
                        : t.format("figure.evidence.takeaway.ideal.outside",
                                   {middle, runs, say(head, name_claim(outside_text(t, s.band, input.scenario)))});
    return head;
  }
  const std::string median = own("median", s.summary.median_absolute, format_percent(s.summary.median_absolute));
  head.brief = t.format("figure.evidence.brief", {median, runs});
  head.takeaway = s.band.validated()
                      ? t.format(is_operation(s.kind) ? "figure.evidence.takeaway.chip" : "figure.evidence.takeaway",
                                 {median, runs, say(head, name_claim(errors_text(t, s.band.low, s.band.high))),
                                  count("near", s.band.near.size())})
                      : t.format("figure.evidence.takeaway.outside",
                                 {median, runs, say(head, name_claim(outside_text(t, s.band, input.scenario)))});
  return head;
}

void draw_evidence(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  Rect rest = draw_figure_head(canvas, area, input, view, evidence_head(input, view));
  if (rest.empty()) return;
  if (shows_coverage(view) && input.evidence != nullptr)
    return draw_coverage(canvas, rest, input, input.evidence->of(mode_of(input, view)));
  const ShownEvidence s = shown(input, view);
  if (s.evidence == nullptr)
    return draw_empty_state(canvas, input.theme, rest, input.texts.text("figure.evidence.waiting"));
  if (s.points.empty()) return draw_empty_state(canvas, input.theme, rest, input.texts.text("figure.evidence.none"));
  const float width = sources_width(canvas, input, s, rest, view);
  if (width > 0) {
    Rect key = rest.cut_right(width);
    rest.cut_right(canvas.px(18));
    const std::vector<std::string_view> meanings = meanings_of(s);
    const float line = kSmallText * canvas.em() * kLabelLine;
    const auto lines = static_cast<float>(meanings.size()), all = static_cast<float>(s.sources.size() + 1);
    // Under the sources; of these the last ones give way.
    if (key.h >= line * (lines + 0.5f + std::min(all, kLeastSources)))
      draw_meanings(canvas, input, meanings, key.cut_bottom(line * (lines + 0.5f)));
    draw_sources(canvas, input, s, key);
  }
  const Plot plot = lay_out(canvas, rest, input, view, s);
  const Theme& theme = input.theme;
  draw_frame(canvas, theme, plot.area, plot.x, plot.y, plot.frame);
  {
    const auto clip = canvas.clip(plot.area);
    draw_band(canvas, theme, plot, 0.25);
    draw_band(canvas, theme, plot, 0.10);
    const Stroke line{theme.ink2, theme.axis_width * 1.2f * canvas.em(), {}};
    if (plot.errors)
      canvas.line({plot.area.x, plot.y(0)}, {plot.area.right(), plot.y(0)}, line);
    else
      canvas.line({plot.x(plot.x.from()), plot.y(plot.x.from())}, {plot.x(plot.x.to()), plot.y(plot.x.to())}, line);
    for (const bool near : {false, true}) draw_points(canvas, input, s, plot, near, width > 0 || !view.print);
  }
  draw_own(canvas, input, s, plot);
  draw_shares(canvas, input, s, plot, draw_own_label(canvas, input, s, plot));
}

std::string evidence_data(const FigureInput& input, const FigureView& view) {
  if (shows_coverage(view) && input.evidence != nullptr)
    return coverage_data(input, input.evidence->of(mode_of(input, view)));
  std::string out =
      "id\tsource\tmodel\tchip\tchips\tmeasured\tpredicted\terror\tunit\tpublished "
      "as\tvalue\tcomplete\tnear\tcitation\n";
  const ShownEvidence s = shown(input, view);
  for (const std::size_t i : s.points) {
    const EvidencePoint& p = s.evidence->points[i];
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", p.id, p.family, p.model, p.chip,
                       p.features.chips, p.measured, p.predicted, p.error, unit_of(s.kind).symbol, p.published,
                       p.published_value, p.complete ? "yes" : "no", s.near[i] ? "yes" : "no", p.source);
  }
  return out;
}

}  // namespace

extern constinit const FigureRow evidence_figure{
    .name = "evidence",
    .subject = Subject::any,
    .about = About::runs,
    .rests = Rests::nothing,
    .height_pt = 297.6f,
    .options = kEvidenceOptions.rows,
    .head = evidence_head,
    .draw = draw_evidence,
    .data = evidence_data,
};

}  // namespace roofscape::widgets
