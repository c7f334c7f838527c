// All strategies of the overlap figure under one another, over one axis of time, with what is exposed as a share and
// the layer's time in figures beside it.
#include <algorithm>
#include <utility>
#include <vector>

#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/stage_rows.h"
#include "widgets/figures/training/figure_overlap_parts.h"
#include "widgets/figures/training/figure_pipeline_parts.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets::overlap {

using engine::LayerOverlap;
using engine::Strategy;

namespace {

constexpr float kLeastLane = 0.45f;  // of a line of text
constexpr float kMostLane = 46;
constexpr float kGapShare = 0.16f;  // of a strategy's height, to the next one
constexpr float kColumnGap = 14;
constexpr float kLaneNames = 0.2f;  // of the width, at most
// A plan whose layers end this early on the common axis is drawn a second time, over the whole width.
constexpr double kMagnifiedBelow = 0.4;
constexpr float kLensGap = 1.1f;           // lanes, between the two
constexpr std::size_t kBeforeTheLens = 3;  // strategies that are worth more than it
constexpr float kNoteLines = 1.2f, kAxisLines = 2.6f;

struct Panel {
  Strategy strategy;
  LayerOverlap overlap;
  std::vector<engine::Axis> axes;
  float lanes() const { return static_cast<float>(1 + axes.size()); }
};

// The plain ones are kept together: one by one each would push the one before out of the cache.
struct Panels {
  std::vector<Panel> plain;
};

Panel panel_of(Strategy strategy, LayerOverlap overlap) {
  Panel p{strategy, std::move(overlap), {}};
  p.axes = lanes_of(p.overlap);
  return p;
}

std::vector<Panel> panels_of(const FigureInput& input) {
  const Panels& kept = input.studies.get<Panels>(input.scenario, [&] {
    Panels all;
    for (std::size_t i = 1; i < engine::kStrategyIds.size(); ++i)
      all.plain.push_back(
          panel_of(static_cast<Strategy>(i), engine::layer_overlap(input.scenario, static_cast<Strategy>(i))));
    return all;
  });
  std::vector<Panel> out{panel_of(Strategy::plan, study(input, Strategy::plan))};
  out.insert(out.end(), kept.plain.begin(), kept.plain.end());
  // One that cannot run has no times; it keeps its row, which says so.
  std::erase_if(out, [](const Panel& p) { return !(length_of(p.overlap) > 0) && p.overlap.problem.empty(); });
  return out;
}

double longest(const std::vector<Panel>& panels) {
  double end = 0;
  for (const Panel& p : panels) end = std::max(end, length_of(p.overlap));
  return end;
}

bool wants_lens(const std::vector<Panel>& panels) {
  const double own = panels.empty() ? 0 : length_of(panels.front().overlap);
  return own > 0 && panels.front().strategy == Strategy::plan && own < kMagnifiedBelow * longest(panels);
}

// Of the first so many panels, at the least.
float height_of(const std::vector<Panel>& panels, std::size_t count, bool with_lens, float line) {
  float lanes = with_lens ? (panels.front().lanes() + kLensGap) * kLeastLane : 0;
  for (std::size_t i = 0; i < count; ++i) lanes += std::max(panels[i].lanes() * kLeastLane, 2.0f);
  return lanes * line / (1 - kGapShare);
}

double layer_seconds(const LayerOverlap& o) { return o.forward.total_s() + o.backward.total_s(); }

}  // namespace

FigureHead strategies_head(const FigureInput& input) {
  const TextTable& t = input.texts;
  FigureHead head;
  head.title = t.text("figure.overlap.title.all");
  const std::vector<Panel> panels = panels_of(input);
  const Panel* least = nullptr;
  for (const Panel& p : panels)
    if (p.overlap.problem.empty() && p.strategy != Strategy::plan &&
        (least == nullptr || exposed_share(p.overlap) < exposed_share(least->overlap)))
      least = &p;
  if (panels.empty()) return head;
  const double own = exposed_share(panels.front().overlap);
  const LayerOverlap& plan = panels.front().overlap;
  const double work = plan.forward.compute_s + plan.backward.compute_s,
               network = plan.forward.network_s + plan.backward.network_s;
  const auto share = [&](std::string_view what, double of) {
    return say(head, own_claim("overlap." + std::string(what), of, format_share(of)));
  };
  head.brief = own > 0
                   ? t.format("figure.overlap.takeaway.all.brief", {share("plan_exposed_share", own)})
                   : t.format("figure.overlap.takeaway.all.hidden", {share("plan_network_share", network / work)});
  if (least == nullptr)
    head.takeaway = t.format("figure.overlap.takeaway.all.none", {head.brief});
  else if (exposed_share(least->overlap) > 0)
    head.takeaway =
        t.format("figure.overlap.takeaway.all", {head.brief, std::string(t.text(strategy_key(least->strategy))),
                                                 share("least_exposed_share", exposed_share(least->overlap))});
  else
    head.takeaway = own > 0 ? t.format("figure.overlap.takeaway.all.free",
                                       {head.brief, std::string(t.text(strategy_key(least->strategy)))})
                            : head.brief;
  return head;
}

void draw_strategies(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Theme& theme = input.theme;
  const TextTable& t = input.texts;
  std::vector<Panel> panels = panels_of(input);
  if (panels.empty()) return draw_empty_state(canvas, theme, area, t.text("figure.overlap.empty"));
  const float line = small_line(canvas), gap = canvas.px(kColumnGap);
  Rect rest = area;
  const Rect key_row = rest.cut_top(line * 1.3f), heads = rest.cut_top(line * 1.3f);
  // The sentence about parts of transfers only beside all of them: the readouts say it too.
  if (height_of(panels, panels.size(), false, line) + (kNoteLines + kAxisLines) * line <= rest.h &&
      std::any_of(panels.begin(), panels.end(),
                  [&](const Panel& p) { return !carried_text(input, p.overlap).empty(); })) {
    const TextStyle note = small_text(canvas, theme.ink2, HAlign::left);
    const Rect foot = rest.cut_bottom(line * kNoteLines);
    canvas.text({foot.x, foot.centre().y}, ellipsize(canvas, t.text("figure.overlap.once.all"), note, foot.w), note);
  }
  const Rect axis_row = rest.cut_bottom(line * kAxisLines);
  // As many strategies as keep their lanes apart; the plan's own stands first.
  while (panels.size() > kBeforeTheLens && wants_lens(panels) &&
         height_of(panels, panels.size(), true, line) > rest.h)
    panels.pop_back();
  while (panels.size() > 1 && height_of(panels, panels.size(), false, line) > rest.h) panels.pop_back();
  const bool with_lens = wants_lens(panels) && height_of(panels, panels.size(), true, line) <= rest.h;

  float sum = with_lens ? panels.front().lanes() + kLensGap : 0;
  for (const Panel& p : panels) sum += std::max(p.lanes(), 2.0f);
  const float pitch = std::min(rest.h / sum * (1 - kGapShare), canvas.px(kMostLane));
  const float spare = std::max(0.0f, rest.h - pitch * sum) / static_cast<float>(panels.size());
  // Close, as a column of numbers; closer still, the key names the axes: colour alone does not.
  const bool named = pitch >= number_line(canvas) * 0.95f;
  const double end = longest(panels);
  const std::string magnified =
      with_lens ? t.format("figure.overlap.magnified", {format_ratio(end / length_of(panels.front().overlap))})
                : std::string();

  const TextStyle bold = small_text(canvas, theme.ink, HAlign::left, Weight::bold),
                  faint = small_text(canvas, theme.ink3, HAlign::right);
  const TextStyle value = small_text(canvas, theme.ink, HAlign::right),
                  lane_name = small_text(canvas, theme.ink2, HAlign::right);
  const std::string share_head(t.text("figure.overlap.kind.exposed")), time_head(t.text("figure.overlap.layer"));
  float names = 0, lanes = canvas.text_width(t.text("figure.overlap.compute"), lane_name),
        shares = canvas.text_width(share_head, faint), times = canvas.text_width(time_head, faint);
  for (const Panel& p : panels) {
    names = std::max(names, canvas.text_width(t.text(strategy_key(p.strategy)), bold));
    for (const engine::Axis axis : p.axes)
      lanes = std::max(lanes, canvas.text_width(axis_name(input, p.overlap, axis), lane_name));
    shares = std::max(shares, canvas.text_width(format_share(exposed_share(p.overlap)), value));
    times = std::max(times, canvas.text_width(format_duration(layer_seconds(p.overlap)), value));
  }
  names = std::max(names, canvas.text_width(magnified, small_text(canvas, theme.ink2, HAlign::left)));
  lanes = named ? std::min(lanes, area.w * kLaneNames) : 0;
  const bool with_times = names + lanes + shares + times + 4 * gap < area.w * 0.62f;
  const float left = area.x + names + gap + lanes + canvas.px(8),
              right = area.right() - shares - gap - (with_times ? times + gap : 0);
  const float middle = heads.centre().y;
  canvas.text({area.right(), middle}, share_head, faint);
  if (with_times) canvas.text({area.right() - shares - gap, middle}, time_head, faint);

  std::vector<engine::Axis> nameless;
  if (!named)
    for (std::size_t i = 0; i < engine::kAxisCount; ++i)
      if (const auto axis = static_cast<engine::Axis>(i);
          std::any_of(panels.begin(), panels.end(),
                      [&](const Panel& p) { return std::find(p.axes.begin(), p.axes.end(), axis) != p.axes.end(); }))
        nameless.push_back(axis);
  float y = rest.y;
  bool recompute = false, exposed = false, numbered = false;
  std::optional<engine::Axis> gathered;
  for (const Panel& p : panels) {
    const LayerOverlap& o = p.overlap;
    recompute = recompute || o.backward.recompute_s > 0, exposed = exposed || exposed_share(o) > 0;
    if (!gathered) gathered = gathered_axis(o);
    const Rect plot = rect_between(left, y, right, y + pitch * p.lanes());
    const Rect whole{area.x, y, area.w, pitch * std::max(p.lanes(), 2.0f)};
    canvas.text({area.x, y + line / 2}, t.text(strategy_key(p.strategy)), bold);
    const auto name_lanes = [&](float top) {
      for (std::size_t i = 0; named && i < 1 + p.axes.size(); ++i) {
        const std::string name =
            i == 0 ? std::string(t.text("figure.overlap.compute")) : axis_name(input, o, p.axes[i - 1]);
        canvas.text({left - canvas.px(8), top + pitch * (static_cast<float>(i) + 0.5f)},
                    ellipsize(canvas, name, lane_name, lanes + canvas.px(0.5f)), lane_name);
      }
    };
    name_lanes(y);
    if (!o.problem.empty()) {
      const TextStyle why = small_text(canvas, theme.err, HAlign::left);
      canvas.text({left, y + line / 2},
                  ellipsize(canvas,
                            t.format("figure.overlap.problem",
                                     {std::string(t.text("diagnostic." + std::string(o.problem) + ".title"))}),
                            why, area.right() - left),
                  why);
      canvas.tag_with("overlap.strategy", static_cast<int>(p.strategy),
                      rect_between(area.x, whole.y, left, whole.bottom()), [&] {
                        Readout r;
                        r.title = t.text(strategy_key(p.strategy));
                        r.rows.emplace_back(t.text("figure.scaling.problem"),
                                            t.text("diagnostic." + std::string(o.problem) + ".title"));
                        return r;
                      });
      y += whole.h + spare;
      continue;
    }
    const auto draw_layers = [&](const Rect& at, double seconds) {
      numbered = draw_blocks(canvas, input, view, o, p.strategy == Strategy::plan, at, seconds) || numbered;
      // Where forward turns into backward.
      const float turn = at.x + at.w * static_cast<float>(kLayers * o.forward.total_s() / seconds);
      canvas.line({turn, at.y}, {turn, at.bottom()},
                  {theme.ink3, theme.axis_width * canvas.em(), Dash{3, 3}.scaled(canvas.px(1))});
    };
    draw_layers(plot, end);
    const TextStyle told =
        small_text(canvas, theme.ink, HAlign::right, p.strategy == Strategy::plan ? Weight::bold : Weight::regular);
    const float row = y + std::min(pitch * p.lanes() / 2, whole.h / 2);
    canvas.text({area.right(), row}, format_share(exposed_share(o)), told);
    if (with_times) canvas.text({area.right() - shares - gap, row}, format_duration(layer_seconds(o)), told);
    canvas.tag_with(
        "overlap.strategy", static_cast<int>(p.strategy), rect_between(area.x, whole.y, left, whole.bottom()), [&] {
          Readout r;
          r.title = t.format("figure.overlap.readout.strategy",
                             {std::string(t.text(strategy_key(p.strategy))), format_duration(layer_seconds(o))});
          r.rows.emplace_back(share_head, format_duration(o.forward.exposed_s + o.backward.exposed_s));
          r.rows.emplace_back(t.text("figure.overlap.network"),
                              format_duration(o.forward.network_s + o.backward.network_s));
          return r;
        });
    y += whole.h;
    if (with_lens && p.strategy == Strategy::plan) {
      const float top = y + kLensGap * pitch, stop = plot.x + plot.w * static_cast<float>(length_of(o) / end);
      const Stroke edge{theme.ink3, theme.axis_width * canvas.em(), {}};
      const float from = y + canvas.px(2), to = top - canvas.px(2);
      canvas.line({left, from}, {left, to}, edge);
      canvas.line({stop, from}, {right, to}, edge);
      canvas.text({area.x, top + line / 2}, t.format("figure.overlap.magnified", {format_ratio(end / length_of(o))}),
                  small_text(canvas, theme.ink2, HAlign::left));
      name_lanes(top);
      draw_layers(rect_between(left, top, right, top + pitch * p.lanes()), length_of(o));
      y = top + pitch * p.lanes();
    }
    y += spare;
  }
  draw_overlap_key(canvas, input, key_row, overlap_key(input, canvas.em(), recompute, exposed, gathered, nameless),
                   numbered);
  // One axis of time under all of them.
  if (end > 0 && right > left) {
    const TimeUnit unit = time_unit(end);
    const Scale domain(ScaleKind::linear, 0, end / unit.seconds, 0, 1);
    Frame frame;
    frame.y.grid = frame.y.line = false;
    frame.x = time_axis(canvas, input, domain, unit, right - left);
    frame.x.grid = false;
    const Rect strip = rect_between(left, axis_row.y, right, axis_row.y + canvas.px(1));
    draw_frame(canvas, theme, strip, domain.with_range(strip.x, strip.right()),
               Scale(ScaleKind::linear, 0, 1, strip.bottom(), strip.y), frame);
  }
}

}  // namespace roofscape::widgets::overlap
