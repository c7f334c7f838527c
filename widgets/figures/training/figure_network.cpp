// The network figure: time of one layer's arithmetic and of each strategy's communication over the tokens a chip has,
// the present batch marked, regions shaded by what bounds a chip; or the ratio of the two times (scaling book,
// chapter 5). Options: quantity, pass, layer.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <tuple>

#include "engine/studies/layer_overlap.h"
#include "engine/studies/network.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_options.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/line_chart.h"
#include "widgets/figures/training/network_serving.h"

namespace roofscape::widgets {

using engine::NetworkLine;
using engine::NetworkStrategy;
using engine::NetworkStudy;
using engine::Q;

namespace {

enum class NetworkQuantity : std::uint8_t { time, ratio };
// automatic: the best of them beside the plan, all where the plan has no line.
enum class Alternatives : std::uint8_t { automatic, all };
constexpr std::array<std::string_view, 2> kNetworkQuantities{"time", "ratio"}, kPasses{"forward", "backward"},
    kLayerCounts{"whole", "mlp"}, kAlternatives{"auto", "all"};
constexpr FigureOptions kNetworkOptions{
    OptionOf<NetworkQuantity>{"quantity", kNetworkQuantities}, OptionOf<engine::Pass>{"pass", kPasses},
    OptionOf<engine::LayerCount>{"layer", kLayerCounts}, OptionOf<Alternatives>{"alternatives", kAlternatives}};

constexpr double kToldExposed = 0.005;  // of a layer or step: what is exposed of less, or hidden of that, is not told

constexpr float kNetworkTint = 0.075f, kMixTint = 0.03f;  // of ink
constexpr double kSameTime = 1e-3;                        // times closer than this are one
constexpr double kMostShown = 1e5;                        // of the axis of time, end over end
constexpr double kRatioFloor = 0.02;
constexpr float kComputeWidth = 1.9f;  // of a curve: what all others are held against
constexpr double kCovered = 0.004;     // of the axis of time: a line so near to another is not seen beside it

bool ratio_of(const FigureView& view) {
  return kNetworkOptions.chosen<NetworkQuantity>(view) == NetworkQuantity::ratio;
}

engine::NetworkQuestion question(const FigureView& view) {
  return {kNetworkOptions.chosen<engine::LayerCount>(view), kNetworkOptions.chosen<engine::Pass>(view)};
}

struct NetworkKey {
  engine::Scenario scenario;
  engine::NetworkQuestion question;
  friend bool operator==(const NetworkKey&, const NetworkKey&) = default;
};

const NetworkStudy& network_study_of(const FigureInput& input, const FigureView& view) {
  const NetworkKey key{input.scenario, question(view)};
  return input.studies.get<NetworkStudy>(key, [&] { return engine::network_study(key.scenario, key.question); });
}

// Seconds of a step for which this plan's layers are through and it reduces gradients.
double end_of(const FigureInput& input, const FigureView& view) {
  const bool asked = question(view) == engine::NetworkQuestion{engine::LayerCount::whole, engine::Pass::backward};
  return asked ? input.report.pipeline.reduction_s : 0;
}

std::string tokens_text(double tokens) { return format_significant(tokens); }

std::string name_of_line(const FigureInput& input, const NetworkLine& line) {
  const std::string key = "figure.network.line." + std::string(engine::kNetworkStrategyIds[line.strategy]);
  const TextTable& t = input.texts;
  if (line.strategy == NetworkStrategy::fsdp && line.axes > 0) return t.count(key + ".axes", line.axes);
  if (line.strategy == NetworkStrategy::tensor) return t.format(key, {format_count(line.degree)});
  return std::string(t.text(key));
}

// The quantity a crossing is, where its number is that of the report.
std::string tag_of(const FigureInput& input, const NetworkLine& line) {
  Q q = Q::bound_fsdp_1;
  bool bound = true;
  switch (line.strategy) {
    case NetworkStrategy::fsdp:
      q = line.axes == 3 ? Q::bound_fsdp_3 : line.axes == 2 ? Q::bound_fsdp_2 : Q::bound_fsdp_1;
      break;
    case NetworkStrategy::mixed_sum:
      q = Q::bound_mixed_sum;
      break;
    case NetworkStrategy::mixed_max:
      q = Q::bound_mixed_max;
      break;
    default:
      bound = false;
  }
  const auto value = input.report.quantities[q];
  if (bound && value && line.hidden_from && std::abs(*value / *line.hidden_from - 1) < kSameTime)
    return std::string(engine::quantity(q).id);
  return fmt::format("network.crossing.{}{}", engine::kNetworkStrategyIds[line.strategy],
                     line.axes > 0 ? std::to_string(line.axes) : std::string());
}

Stroke stroke_of_line(const FigureInput& input, NetworkStrategy assumed, const NetworkLine& line, float em,
                      int most_axes) {
  const Theme& theme = input.theme;
  const float width = theme.data_width * em;
  switch (line.strategy) {
    case NetworkStrategy::fsdp: {
      Stroke s = stroke_of(theme, StepPart::fsdp, em, line.axes != most_axes);
      if (line.axes != most_axes) s.width *= 0.75f;
      return s;
    }
    case NetworkStrategy::data:
    case NetworkStrategy::data_dcn:
      return stroke_of(theme, StepPart::data, em, true);
    case NetworkStrategy::tensor:
      return {theme.stroke(Hue::orange), width * 0.75f, dash_of(StepPart::tensor, width * 0.75f)};
    case NetworkStrategy::mixed_sum:
    case NetworkStrategy::mixed_max:
    case NetworkStrategy::mixed_wire:
      if (line.strategy == assumed) return {theme.stroke(Hue::orange), width, Dash{width * 5, width * 2}};
      return {theme.stroke(Hue::orange), width * 0.75f, Dash{width * 1.2f, width * 1.6f}};
    case NetworkStrategy::plan:
      return plan_stroke(theme, em);
  }
  return {};
}

Readout readout_of(const FigureInput& input, const NetworkStudy& study, const std::string& name,
                   const NetworkLine* line, double tokens) {
  const TextTable& t = input.texts;
  std::size_t at = 0;
  while (at + 1 < study.tokens.size() && study.tokens[at] < tokens * 0.9999) ++at;
  Readout out;
  const double network = line ? line->seconds[at] : 0;
  out.title = t.format("figure.network.readout", {name, format_duration(line ? network : study.compute[at])});
  out.rows.emplace_back(std::string(t.text(chip_key(input, "figure.network.tokens"))), tokens_text(tokens));
  out.rows.emplace_back(std::string(t.text("figure.network.batch")),
                        format_si(tokens * study.chips, t.text("figure.network.tokens.unit")));
  if (line)
    out.rows.emplace_back(std::string(t.text("figure.network.ratio")),
                          format_significant(study.compute[at] / network));
  if (line && line->hidden_from)
    out.rows.emplace_back(std::string(t.text("figure.network.from")), tokens_text(*line->hidden_from));
  return out;
}

const NetworkLine* plan_of(const NetworkStudy& study) {
  for (const NetworkLine& line : study.lines)
    if (line.strategy == NetworkStrategy::plan) return &line;
  return nullptr;
}

// Whether the plan sends for less time than it computes now.
bool is_shorter(const NetworkLine& plan) {
  return plan.hidden_from && (*plan.hidden_from <= 0 || plan.ratio_now >= 1);
}
engine::Q exposed_of(const FigureView& view) {
  return question(view).pass == engine::Pass::backward ? engine::Q::layer_exposed_backward
                                                       : engine::Q::layer_exposed_forward;
}
// Whether it exposes something all the same.
bool exposes(const FigureInput& input, const FigureView& view, const NetworkLine& plan) {
  const bool back = question(view).pass == engine::Pass::backward;
  return is_shorter(plan) &&
         input.report.quantities.value_or(exposed_of(view), 0) >
             kToldExposed * input.report.quantities.value_or(
                                back ? engine::Q::layer_time_backward : engine::Q::layer_time_forward, 0);
}

// Where the plan has a line, the regions are the plan's own; else those of what FSDP can do, with tensor or alone.
std::vector<ChartBand> bands_of(const FigureInput& input, const FigureView& view, const NetworkStudy& study) {
  const TextTable& t = input.texts;
  const double end = study.tokens.back(), start = study.tokens.front();
  std::vector<ChartBand> out;
  const auto add = [&](double from, double to, float tint, std::string_view key) {
    from = confined(from, start, end), to = confined(to, start, end);
    const std::string brief = std::string(key) + ".brief";
    if (to > from)
      out.push_back({from, to, tint, std::string(t.text(key)), false, false,
                     t.has(brief) ? std::string(t.text(brief)) : std::string()});
  };
  if (const NetworkLine* plan = plan_of(study)) {
    const double hides = plan->hidden_from.value_or(end);
    // The lines are of a layer alone, whatever pairs of passes hide of what it exposes.
    const bool paired = engine::hidden_in_pairs(input.report) >= kToldExposed;
    add(start, hides, kNetworkTint, paired ? "figure.network.plan.bound.apart" : "figure.network.plan.bound");
    add(hides, end, 0, exposes(input, view, *plan) ? "figure.network.plan.shorter" : "figure.network.plan.hides");
    return out;
  }
  const double mixed = study.mixed_from.value_or(end), alone = study.fsdp_from.value_or(end);
  add(start, mixed, kNetworkTint, "figure.network.bound");
  if (alone > mixed * 1.02) add(mixed, alone, kMixTint, "figure.network.mix");
  add(alone, end, 0, "figure.network.alone");
  return out;
}

// What the numbers in the picture would seem to contradict, in sentences.
std::string note_of(const FigureInput& input, const FigureView& view, const NetworkStudy& study) {
  const TextTable& t = input.texts;
  std::string out;
  const auto say = [&](std::string sentence) { out += (out.empty() ? "" : " ") + std::move(sentence); };
  if (study.plan_gathers > 1) say(t.format("figure.network.gathers", {format_count(study.plan_gathers)}));
  if (const double hidden = engine::hidden_in_pairs(input.report);
      hidden >= kToldExposed && plan_of(study) != nullptr)
    say(t.format("figure.network.pairs", {format_share(hidden)}));
  // In no line: there is no arithmetic left to hide it.
  const double end = end_of(input, view);
  if (end > 0) say(t.format("figure.network.end", {format_duration(end)}));
  // A whole layer hides earlier or later than the two matrices that the book and the report's bounds count.
  const auto bound =
      input.report.quantities[study.assumed == NetworkStrategy::mixed_sum ? Q::bound_mixed_sum : Q::bound_mixed_max];
  if (bound && study.mixed_from && question(view) == engine::NetworkQuestion{} &&
      std::abs(*bound / *study.mixed_from - 1) > kSameTime)
    say(t.format("figure.network.book", {tokens_text(*bound)}));
  return out;
}

// The strategy that leaves the network least to do now, of those that reduce gradients as the plan has to.
const NetworkLine* best_alternative(const NetworkStudy& study) {
  const NetworkLine* best = nullptr;
  for (const NetworkLine& line : study.lines) {
    const bool whole = line.strategy == NetworkStrategy::fsdp || line.strategy == NetworkStrategy::data ||
                       line.strategy == study.assumed;
    if (whole && (best == nullptr || line.ratio_now > best->ratio_now)) best = &line;
  }
  return best;
}

// The book's ratio chart has FSDP on all axes, tensor where it comes near, and both.
bool shown(const FigureView& view, const NetworkStudy& study, const NetworkLine& line, int most_axes) {
  if (!ratio_of(view))
    return kNetworkOptions.chosen<Alternatives>(view) == Alternatives::all || plan_of(study) == nullptr ||
           line.strategy == NetworkStrategy::plan || &line == best_alternative(study);
  if (line.strategy == NetworkStrategy::tensor) return line.ratio_now >= kRatioFloor;
  return line.strategy != NetworkStrategy::fsdp || line.axes == most_axes;
}

struct TimeScale {
  double factor = 1;
  std::string_view unit;
};
TimeScale time_scale(double typical) {
  if (typical < 2e-4) return {1e6, "us"};
  if (typical < 0.2) return {1e3, "ms"};
  return {1, "s"};
}

// A line that lies under the arithmetic's or the plan's all the way is named with it.
void name_covered(const FigureInput& input, Chart& c) {
  const double near = kCovered * std::log(c.y_to / c.y_from);
  const auto leads = [](const ChartLine& l) { return l.weight == Weight::bold || l.tag == "network.compute"; };
  for (ChartLine& line : c.lines) {
    if (leads(line)) continue;
    for (ChartLine& over : c.lines) {
      const auto apart = [&](const ChartPoint& p, const ChartPoint& q) {
        return std::abs(std::log(p.y / q.y)) > near;
      };
      if (!leads(over) ||
          std::mismatch(line.points.begin(), line.points.end(), over.points.begin(), std::not_fn(apart)).first !=
              line.points.end())
        continue;
      over.label = input.texts.format("figure.network.line.both", {over.label, line.label});
      line.label.clear();
      break;
    }
  }
}

struct BaselineNetwork {
  NetworkStudy study;
};
const BaselineNetwork& baseline_study(const FigureInput& input, const FigureView& view) {
  const NetworkKey key{input.baseline->scenario, question(view)};
  return input.studies.get<BaselineNetwork>(
      key, [&] { return BaselineNetwork{engine::network_study(key.scenario, key.question)}; });
}
// Of the baseline's own mesh; null without one.
const NetworkLine* baseline_line(const FigureInput& input, const FigureView& view) {
  if (input.baseline == nullptr || input.baseline->scenario.serves()) return nullptr;
  const BaselineNetwork& base = baseline_study(input, view);
  return base.study.known() ? plan_of(base.study) : nullptr;
}

Chart chart_of(const FigureInput& input, const FigureView& view, const NetworkStudy& study, float em) {
  const TextTable& t = input.texts;
  const Theme& theme = input.theme;
  const bool ratio = ratio_of(view);
  Chart c;
  c.x_title = t.text(chip_key(input, "figure.network.x"));
  c.x_from = study.tokens.front(), c.x_to = study.tokens.back();
  const TimeScale scale = time_scale(study.compute[study.compute.size() / 2]);
  const std::string layer = fmt::format("{}.{}", kNetworkOptions.chosen_id<engine::LayerCount>(view),
                                        kNetworkOptions.chosen_id<engine::Pass>(view));
  c.y_title = ratio ? std::string(t.text("figure.network.y.ratio"))
                    : t.format("figure.network.y." + layer,
                               {std::string(t.text("figure.network.unit." + std::string(scale.unit)))});
  int most_axes = 0;
  for (const NetworkLine& line : study.lines)
    if (line.strategy == NetworkStrategy::fsdp) most_axes = std::max(most_axes, line.axes);

  double low = 1e300, high = 0;
  const auto add = [&](std::string label, const Stroke& stroke, const NetworkLine* line, bool essential,
                       Weight weight, bool ranged) {
    ChartLine out;
    const std::string name = label;
    out.label = std::move(label);
    out.stroke = stroke;
    out.essential = essential;
    out.weight = weight;
    out.tag = line ? "network." + std::string(engine::kNetworkStrategyIds[line->strategy]) : "network.compute";
    if (line && line->axes > 0) out.tag += "_" + std::to_string(line->axes);
    for (std::size_t i = 0; i < study.tokens.size(); ++i) {
      const double y =
          ratio ? study.compute[i] / line->seconds[i] : scale.factor * (line ? line->seconds[i] : study.compute[i]);
      out.points.push_back({study.tokens[i], y});
      if (ranged) low = std::min(low, y), high = std::max(high, y);
    }
    out.readout = [&input, &study, name, line](const ChartPoint& p) {
      return readout_of(input, study, name, line, p.x);
    };
    c.lines.push_back(std::move(out));
  };
  if (!ratio)
    add(std::string(t.text("figure.network.compute")), {theme.ink3, theme.data_width * em * kComputeWidth, {}},
        nullptr, true, Weight::regular, true);
  const NetworkLine* fsdp = nullptr;
  for (const NetworkLine& line : study.lines)
    if (line.strategy == NetworkStrategy::fsdp && line.axes == most_axes) fsdp = &line;
  // Where data parallelism costs what FSDP does, one line says both.
  const auto as_fsdp = [&](const NetworkLine& line) {
    return fsdp && line.strategy == NetworkStrategy::data &&
           std::abs(line.seconds.front() / fsdp->seconds.front() - 1) < kSameTime;
  };
  const bool both = std::any_of(study.lines.begin(), study.lines.end(), as_fsdp);
  std::vector<const NetworkLine*> order;
  for (const NetworkLine& line : study.lines) order.push_back(&line);
  const auto rank = [&](const NetworkLine* line) {
    if (line->strategy == NetworkStrategy::plan) return 0;
    if (line == fsdp) return 1;
    if (line->strategy == study.assumed) return 2;
    return 3 + static_cast<int>(line->strategy);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const NetworkLine* a, const NetworkLine* b) { return rank(a) < rank(b); });
  for (const NetworkLine* line : order) {
    if (as_fsdp(*line) || !shown(view, study, *line, most_axes)) continue;
    std::string name = name_of_line(input, *line);
    if (line == fsdp && both) name = t.format("figure.network.line.with_data", {name});
    const bool main = rank(line) < 3;
    const bool far = line->strategy == NetworkStrategy::tensor || (line->strategy == NetworkStrategy::plan && ratio);
    add(std::move(name), stroke_of_line(input, study.assumed, *line, em, most_axes), line, main,
        line->strategy == NetworkStrategy::plan ? Weight::bold : Weight::regular, !far);
  }
  std::tie(c.y_from, c.y_to) = log_range(std::max(low, high / kMostShown), high);
  name_covered(input, c);

  // Crossings, the telling ones with their number.
  for (const NetworkLine* line : order) {
    if (!line->hidden_from || *line->hidden_from <= 0 || as_fsdp(*line) || !shown(view, study, *line, most_axes))
      continue;
    ChartDot dot;
    dot.at = {*line->hidden_from, ratio ? 1 : scale.factor * line->seconds_there};
    dot.text = tokens_text(*line->hidden_from);
    dot.tag = tag_of(input, *line);
    dot.colour = theme.ink;
    dot.readout = readout_of(input, study, name_of_line(input, *line), line, *line->hidden_from);
    c.dots.push_back(std::move(dot));
  }

  if (const NetworkLine* base = baseline_line(input, view); base != nullptr && !ratio) {
    const NetworkStudy& of_base = baseline_study(input, view).study;
    ChartLine ghost;
    for (std::size_t i = 0; i < of_base.tokens.size(); ++i)
      ghost.points.push_back({of_base.tokens[i], scale.factor * base->seconds[i]});
    ghost.stroke = {theme.ink, theme.axis_width * em, Dash{3, 3}.scaled(em / 15)};
    ghost.label = t.text("figure.step.baseline");
    ghost.tag = "network.baseline";
    ghost.readout = [&input, &of_base, base, name = ghost.label](const ChartPoint& p) {
      return readout_of(input, of_base, name, base, p.x);
    };
    c.lines.push_back(std::move(ghost));
  }
  if (ratio) {
    c.bands.push_back({c.y_from, 1, kNetworkTint, std::string(t.text("figure.network.bound")), true});
    c.bands.push_back({1, c.y_to, 0, std::string(t.text("figure.network.free")), true});
  } else {
    c.bands = bands_of(input, view, study);
  }
  c.now = Chart::Now{study.tokens_now, t.format("figure.network.now", {tokens_text(study.tokens_now)})};
  c.note = note_of(input, view, study);
  return c;
}

FigureHead network_head(const FigureInput& input, const FigureView& view) {
  if (input.scenario.serves()) return serving_network_head(input);
  const TextTable& t = input.texts;
  FigureHead head;
  if (input.baseline) head.context = compared_context(input);
  head.title = t.text("figure.network.title");
  const NetworkStudy& study = network_study_of(input, view);
  if (!study.known()) return head;
  const std::string now =
      say(head, beside_claim("network.tokens_now", study.tokens_now, tokens_text(study.tokens_now)));
  const auto from = [&](std::string_view of, double tokens) {
    return say(head, own_claim("network." + std::string(of), tokens, tokens_text(tokens)));
  };
  const auto tell = [&](std::string_view key, std::initializer_list<std::string> words) {
    const bool bound = key == "plan_bound" || key == "plan_never" || key == "bound" || key == "never";
    head.takeaway = t.format(chip_key(input, "figure.network.takeaway." + std::string(key)), words);
    const std::string_view brief = bound ? "bound" : key.starts_with("mix") ? "mix" : "hides";
    head.brief = t.format("figure.network.takeaway.brief." + std::string(brief), {now});
  };
  // What hides under no layer.
  const auto tell_end = [&] {
    const double end = end_of(input, view);
    if (!(end > kToldExposed * input.report.quantities.value_or(Q::step_time, 0))) return;
    head.takeaway = t.format("figure.network.takeaway.end",
                             {head.takeaway, say(head, own_claim("network.end", end, format_duration(end)))});
    head.brief = t.format("figure.network.takeaway.brief.exposed", {now});
  };
  if (const NetworkLine* plan = plan_of(study)) {
    const std::string pass(t.text(question(view).pass == engine::Pass::backward ? "figure.network.pass.backward"
                                                                                : "figure.network.pass.forward"));
    // Calibrated and custom: what is sent without work beside it stays exposed, however short it is.
    const bool shorter = is_shorter(*plan);
    // A pass exposes it alone; beside another one of a pair it does not.
    const auto tell_pairs = [&] {
      const double hidden = engine::hidden_in_pairs(input.report);
      if (hidden < kToldExposed) return;
      head.takeaway =
          t.format("figure.takeaway.pairs",
                   {head.takeaway, say(head, own_claim("network.hidden_in_pairs", hidden, format_share(hidden)))});
      head.brief = t.format("figure.network.takeaway.brief.exposed", {now});
    };
    if (exposes(input, view, *plan)) {
      tell("plan_exposed", {now, pass, say(head, claim_of(input, exposed_of(view)))});
      head.brief = t.format("figure.network.takeaway.brief.exposed", {now});
      tell_pairs();
      return head;
    }
    if (!plan->hidden_from)
      tell("plan_never", {now, pass});
    else if (*plan->hidden_from <= 0)
      tell("plan_always", {now, pass});
    else
      tell(plan->ratio_now >= 1 ? "plan_hides" : "plan_bound", {now, pass, from("plan_from", *plan->hidden_from)});
    if (shorter)
      tell_end();
    else
      tell_pairs();
    return head;
  }
  if (study.fsdp_from && study.tokens_now >= *study.fsdp_from)
    tell("alone", {now, from("fsdp_from", *study.fsdp_from)});
  else if (study.mixed_from && study.tokens_now >= *study.mixed_from) {
    if (study.fsdp_from)
      tell("mix", {now, {}, from("fsdp_from", *study.fsdp_from)});
    else
      tell("mix_only", {now, from("mixed_from", *study.mixed_from)});
  } else if (study.mixed_from)
    tell("bound", {now, from("mixed_from", *study.mixed_from)});
  else if (study.lines.size() == 1 && study.lines[0].hidden_from && *study.lines[0].hidden_from == 0)
    tell("always", {now});
  else
    tell("never", {now});
  tell_end();
  return head;
}

void draw_network(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  if (input.scenario.serves()) return draw_serving_network(canvas, area, input, view);
  const Rect rest = draw_figure_head(canvas, area, input, view, network_head(input, view));
  if (rest.empty()) return;
  const NetworkStudy& study = network_study_of(input, view);
  if (!study.known())
    return draw_empty_state(canvas, input.theme, rest,
                            input.texts.text(study.chips > 1 ? "figure.network.unknown" : "figure.network.one_chip"));
  draw_line_chart(canvas, rest, input.theme,
                  on_held_axes(chart_of(input, view, study, canvas.em()), input, "network"));
}

std::string network_data(const FigureInput& input, const FigureView& view) {
  if (input.scenario.serves()) return serving_network_data(input);
  const NetworkStudy& study = network_study_of(input, view);
  std::string out = "tokens per chip\tcompute s";
  for (const NetworkLine& line : study.lines)
    out += fmt::format("\t{}{} s", engine::kNetworkStrategyIds[line.strategy],
                       line.axes > 0 ? " " + std::to_string(line.axes) : "");
  out += "\n";
  for (std::size_t i = 0; i < study.tokens.size(); ++i) {
    out += fmt::format("{}\t{}", study.tokens[i], study.compute[i]);
    for (const NetworkLine& line : study.lines) out += fmt::format("\t{}", line.seconds[i]);
    out += "\n";
  }
  return out;
}

}  // namespace

extern constinit const FigureRow network_figure{
    .name = "network",
    .subject = Subject::any,
    .options = kNetworkOptions.rows,
    .head = network_head,
    .draw = draw_network,
    .data = network_data,
};

}  // namespace roofscape::widgets
