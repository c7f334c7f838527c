#include "widgets/figures/training/evidence_plot.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/evidence_text.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/plot/label_field.h"

namespace roofscape::widgets::evidence_plot {

using engine::EvidenceKind;
using engine::EvidencePoint;

bool is_operation(EvidenceKind kind) { return kind == EvidenceKind::kernel || kind == EvidenceKind::collective; }

std::string_view group_of(const EvidencePoint& point) { return is_operation(point.kind) ? point.chip : point.family; }

namespace {

constexpr float kFaded = 0.6f;           // opacity of what is far from the plan
constexpr double kMostError = 1.5;       // of the error axis: what is beyond stands at its edge
constexpr std::size_t kSourceLine = 52;  // characters of a source in one row of a readout

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
  if (p.contradicts)
    r.rows.emplace_back(t.text("figure.evidence.contradicts"), t.text("figure.evidence.contradicts.value"));
  add_source(r, t.text("figure.evidence.source"), p.source);
  r.rows.emplace_back(t.text("figure.evidence.id"), p.id);
  return r;
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

}  // namespace

Plot lay_out(const Canvas& canvas, const Rect& room, const FigureInput& input, const ShownEvidence& s, bool errors) {
  const std::string kind(engine::kEvidenceKindIds[s.kind]);
  Plot plot;
  plot.errors = errors;
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

void strike_mark(Canvas& canvas, Point at, Colour colour) {
  const float reach = canvas.px(kSourceMark) * 0.75f;
  canvas.line({at.x - reach, at.y + reach}, {at.x + reach, at.y - reach}, {colour, canvas.px(1.2f), {}});
}

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
    draw_mark(canvas, at, look.marker, colour, p.complete && !p.contradicts);
    if (p.contradicts) strike_mark(canvas, at, colour);
    canvas.set_opacity(before);
    canvas.tag_with("evidence.point", static_cast<int>(i), {at.x - size / 2, at.y - size / 2, size, size},
                    [&] { return readout_of(input, s, p); });
  }
}

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

}  // namespace roofscape::widgets::evidence_plot
