// The evidence figure: published measurements against what is predicted for them, on logarithmic axes, with the line
// of a perfect prediction and the bands within 10 and 25 percent. The runs near the plan, which make its error band,
// are ringed, the others fade. Options: `quantity` (own: the plan's step time or time per token), `show` (values, or
// the error over what is predicted), `mode` of the predictions (own: the plan's), `view` (runs, or the coverage of the
// error bands).
#include <fmt/format.h>

#include <algorithm>
#include <array>
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
#include "widgets/figures/training/evidence_plot.h"
#include "widgets/plot/label_field.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

namespace evidence_plot {

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

constexpr float kLeastForKey = 640;  // px of width, below which sources are told by pointing only
constexpr float kLeastSources = 7;   // lines of them, where what marks mean takes its room from them

// Vermilion is trouble's. Seven hues and three shapes have no common factor: 21 looks.
constexpr std::array kSourceHues{Hue::blue, Hue::orange, Hue::green, Hue::purple, Hue::sky, Hue::grey, Hue::yellow};
constexpr std::array kSourceMarkers{Marker::circle, Marker::diamond, Marker::square};

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
    std::vector<double>& of_source = errors[group_of(points[i])];
    if (points[i].contradicts) continue;
    of_source.push_back(points[i].error);
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
  if (std::any_of(s.points.begin(), s.points.end(), [&](std::size_t i) { return points[i].contradicts; }))
    keys.push_back("figure.evidence.key.contradicts");
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
    } else if (key == "figure.evidence.key.contradicts") {
      draw_mark(canvas, at, Marker::circle, theme.ink2, false);
      strike_mark(canvas, at, theme.ink2);
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
  const Plot plot = lay_out(canvas, rest, input, s, shows_errors(view));
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
      "as\tvalue\tcomplete\tcontradicts\tnear\tcitation\n";
  const ShownEvidence s = shown(input, view);
  for (const std::size_t i : s.points) {
    const EvidencePoint& p = s.evidence->points[i];
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", p.id, p.family, p.model,
                       p.chip, p.features.chips, p.measured, p.predicted, p.error, unit_of(s.kind).symbol,
                       p.published, p.published_value, p.complete ? "yes" : "no", p.contradicts ? "yes" : "no",
                       s.near[i] ? "yes" : "no", p.source);
  }
  return out;
}

}  // namespace

}  // namespace evidence_plot

extern constinit const FigureRow evidence_figure{
    .name = "evidence",
    .subject = Subject::any,
    .about = About::runs,
    .rests = Rests::nothing,
    .height_pt = 297.6f,
    .options = evidence_plot::kEvidenceOptions.rows,
    .head = evidence_plot::evidence_head,
    .draw = evidence_plot::draw_evidence,
    .data = evidence_plot::evidence_data,
};

}  // namespace roofscape::widgets
