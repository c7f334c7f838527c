// The overlap figure: the compute and communication streams of three layers, forward and backward, and what of the
// communication is exposed. Option `strategy`: the plan's own, a plain one on the same chips, or all of them under
// one another.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/studies/layer_overlap.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_options.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/quantity_look.h"
#include "widgets/figures/common/stage_rows.h"
#include "widgets/figures/training/figure_overlap_parts.h"
#include "widgets/figures/training/figure_pipeline_parts.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

using engine::LayerOverlap;
using engine::LayerPass;
using engine::Q;
using engine::Strategy;

namespace {

enum class Streams : std::uint8_t { plan, data, fsdp, hybrid, tensor, all };  // of one engine::Strategy, or of all
constexpr std::array kStreams = [] {
  std::array<std::string_view, engine::kStrategyIds.size() + 1> out{};
  std::copy(engine::kStrategyIds.begin(), engine::kStrategyIds.end(), out.begin());
  out.back() = "all";
  return out;
}();
constexpr FigureOptions kOverlapOptions{OptionOf<Streams>{"strategy", kStreams}};

constexpr float kMostLane = 300, kLaneShare = 0.62f;
constexpr double kToldInPairs = 0.005;   // of what is exposed: less that pairs hide is not told
constexpr double kToldElsewhere = 1e-3;  // of the step: less that is exposed elsewhere is not worth a word

struct OverlapKey {
  engine::Scenario scenario;
  Strategy strategy;
  bool operator==(const OverlapKey&) const = default;
};

bool shows_all(const FigureView& view) { return kOverlapOptions.chosen<Streams>(view) == Streams::all; }
Strategy strategy_of(const FigureView& view) {
  return shows_all(view) ? Strategy::plan : static_cast<Strategy>(kOverlapOptions.chosen<Streams>(view));
}

}  // namespace

namespace overlap {

LayerOverlap study(const FigureInput& input, Strategy strategy) {
  if (strategy == Strategy::plan) return engine::layer_overlap(input.scenario, input.report);
  return input.studies.get<LayerOverlap>(OverlapKey{input.scenario, strategy},
                                         [&] { return engine::layer_overlap(input.scenario, strategy); });
}

std::string_view strategy_key(Strategy strategy) {
  static constexpr std::array<std::string_view, engine::kStrategyIds.size()> kKeys{
      "figure.overlap.strategy.plan", "figure.overlap.strategy.dp", "figure.overlap.strategy.fsdp",
      "figure.overlap.strategy.hsdp", "figure.overlap.strategy.tp"};
  return kKeys[static_cast<std::size_t>(strategy)];
}

double length_of(const LayerOverlap& o) { return kLayers * (o.forward.total_s() + o.backward.total_s()); }

double exposed_share(const LayerOverlap& o) {
  const double total = o.forward.total_s() + o.backward.total_s();
  return total > 0 ? (o.forward.exposed_s + o.backward.exposed_s) / total : 0;
}

std::vector<engine::Axis> lanes_of(const LayerOverlap& o) {
  std::vector<engine::Axis> out;
  for (std::size_t i = 0; i < engine::kAxisCount; ++i)
    if (o.forward.gather_s[i] + o.forward.transfer_s[i] + o.backward.gather_s[i] + o.backward.transfer_s[i] > 0)
      out.push_back(static_cast<engine::Axis>(i));
  return out;
}

std::vector<Block> blocks_of(const LayerOverlap& o) {
  std::vector<Block> out;
  const int first = std::max(0, (o.scenario.model.n_layers - kLayers) / 2);
  double at = 0;
  for (const bool backward : {false, true}) {
    const LayerPass& pass = backward ? o.backward : o.forward;
    for (int i = 0; i < kLayers; ++i) {
      const int layer = backward ? first + kLayers - 1 - i : first + i, next = backward ? layer - 1 : layer + 1;
      const double end = at + pass.total_s();
      if (pass.recompute_s > 0)
        out.push_back({Block::Kind::recompute, {}, backward, layer, at, at + pass.recompute_s});
      out.push_back({Block::Kind::compute, {}, backward, layer, at + pass.recompute_s, at + pass.compute_s});
      if (pass.exposed_s > 0) out.push_back({Block::Kind::exposed, {}, backward, layer, at + pass.compute_s, end});
      // What is exposed ends the slot; what is hidden starts with it. The gather is for the layer that comes next,
      // the gradients that travel are those of the layer before.
      // An axis waits for those before it that share links with it.
      engine::AxisArray<double> after{};
      double network = 0;
      for (std::size_t a = 0; a < engine::kAxisCount; ++a) {
        for (std::size_t b = 0; b < a; ++b)
          if ((o.waits[a] >> b & 1u) != 0)
            after[a] = std::max(after[a], after[b] + pass.gather_s[b] + pass.transfer_s[b]);
        network = std::max(network, after[a] + pass.gather_s[a] + pass.transfer_s[a]);
      }
      const double start = pass.exposed_s > 0 ? std::max(at, end - network) : at;
      for (const engine::Axis axis : lanes_of(o)) {
        const auto a = static_cast<std::size_t>(axis);
        double from = start + after[a];
        if (pass.gather_s[a] > 0)
          out.push_back({Block::Kind::gather, axis, backward, next, from, from + pass.gather_s[a]});
        from += pass.gather_s[a];
        const bool gradients = backward && (axis == engine::Axis::data || axis == engine::Axis::fsdp);
        if (pass.transfer_s[a] > 0)
          out.push_back({Block::Kind::transfer, axis, backward, gradients ? layer + 1 : layer, from,
                         from + pass.transfer_s[a]});
        from += pass.transfer_s[a];
      }
      at = end;
    }
  }
  return out;
}

constexpr float kLeastKeyPitch = 13.5f;  // scale-1 pixels

Fill exposed_fill(const Theme& theme, float em) {
  Fill fill = fill_of(theme, StepPart::bubble, em);
  fill.edge = theme.err;
  fill.edge_width = 1.5f * theme.edge_width * em;
  return fill;
}

Fill gather_fill(const Theme& theme, engine::Axis axis, float em) {
  return chunk_of(theme, fill_of(theme, look_of(axis), em), 1, 2);
}

namespace {

// Exposed transfers of a step, seconds. Where those of a layer hide: of the end of the step, the embeddings, the
// head.
double exposed_elsewhere(const FigureInput& input) {
  double seconds = 0;
  for (const Q part : engine::kExposedParts)
    if (part != Q::step_pipeline_transfer) seconds += input.report.quantities.value_or(part, 0);
  return seconds;
}

}  // namespace

std::string axis_name(const FigureInput& input, const LayerOverlap& o, engine::Axis axis) {
  const auto i = static_cast<std::size_t>(axis);
  return input.texts.format("figure.axis." + std::string(engine::kAxisIds[i]),
                            {format_count(o.scenario.parallelism.degree(axis))});
}

namespace {

Readout readout_of(const FigureInput& input, const LayerOverlap& o, const Block& b) {
  const TextTable& t = input.texts;
  Readout r;
  const char* kinds[]{"compute", "recompute", "exposed", "gather", "transfer"};
  std::string kind = kinds[static_cast<std::size_t>(b.kind)];
  if (b.kind == Block::Kind::transfer)
    kind = b.axis == engine::Axis::data || b.axis == engine::Axis::fsdp ? (b.backward ? "gradients" : "update")
                                                                        : std::string(engine::kAxisIds[b.axis]);
  r.title =
      t.format("figure.overlap.readout", {std::string(t.text("figure.overlap.kind." + kind)), format_count(b.layer)});
  r.rows.emplace_back(t.text("figure.overlap.duration"), format_duration(b.to - b.from));
  const LayerPass& pass = b.backward ? o.backward : o.forward;
  r.rows.emplace_back(t.text(b.backward ? "figure.overlap.backward" : "figure.overlap.forward"),
                      format_duration(pass.total_s()));
  const double carried = o.carried[static_cast<std::size_t>(b.axis)];
  if ((b.kind == Block::Kind::transfer || b.kind == Block::Kind::gather) && carried < 1)
    r.rows.emplace_back(t.text("figure.overlap.carries"), format_share(carried));
  return r;
}

// A quantity of the report where the plan itself is shown; other plans' numbers have no derivation here.
std::string_view tag_of(const Block& b, bool own) {
  if (!own) return "overlap.block";
  switch (b.kind) {
    case Block::Kind::recompute:
      return engine::quantity(Q::layer_again).id;
    case Block::Kind::compute:
      return engine::quantity(b.backward ? Q::layer_work_backward : Q::layer_work_forward).id;
    case Block::Kind::exposed:
      return engine::quantity(b.backward ? Q::layer_exposed_backward : Q::layer_exposed_forward).id;
    default:
      return engine::quantity(b.backward ? Q::layer_comm_backward : Q::layer_comm_forward).id;
  }
}

}  // namespace

bool draw_blocks(Canvas& canvas, const FigureInput& input, const FigureView& view, const LayerOverlap& o, bool own,
                 const Rect& plot, double end_s) {
  const Theme& theme = input.theme;
  const std::vector<engine::Axis> axes = lanes_of(o);
  const Scale x(ScaleKind::linear, 0, end_s, plot.x, plot.right());
  const float line = small_line(canvas);
  const float pitch = plot.h / static_cast<float>(1 + axes.size());
  const float height = std::max(canvas.px(6), pitch * kLaneShare), inset = (pitch - height) / 2;
  bool numbered = false;
  for (const Block& b : blocks_of(o)) {
    const bool compute_lane =
        b.kind == Block::Kind::compute || b.kind == Block::Kind::recompute || b.kind == Block::Kind::exposed;
    const auto lane = compute_lane ? 0 : 1 + std::find(axes.begin(), axes.end(), b.axis) - axes.begin();
    const float top = plot.y + pitch * static_cast<float>(lane) + inset;
    Rect r = rect_between(x(b.from), top, x(b.to), top + height);
    if (r.w > canvas.px(3)) r.w -= canvas.px(0.8f);
    Fill fill;
    if (b.kind == Block::Kind::compute) fill = fill_of(theme, StepPart::compute, canvas.em());
    if (b.kind == Block::Kind::recompute) fill = fill_of(theme, StepPart::recompute, canvas.em());
    if (!compute_lane) fill = fill_of(theme, look_of(b.axis), canvas.em());
    // A gather is the same axis, fetched ahead: in another shade, so that it is told from the gradients.
    if (b.kind == Block::Kind::gather) fill = gather_fill(theme, b.axis, canvas.em());
    if (view.compact && b.kind != Block::Kind::exposed) fill.hatch = Hatch::none;
    if (b.kind == Block::Kind::exposed) fill = exposed_fill(theme, canvas.em());
    if (is_tick(canvas, r))
      r = draw_tick(canvas, theme, r, fill);
    else
      canvas.rect(r, fill);
    if (b.kind != Block::Kind::exposed && b.kind != Block::Kind::recompute) {
      // The layer it is for, where it fits.
      const std::string number = format_count(b.layer);
      const TextStyle digits = small_text(canvas, text_on(fill.colour), HAlign::centre);
      if (canvas.text_width(number, digits) + canvas.px(4) < r.w && line < r.h + canvas.px(2)) {
        TextStyle haloed = digits;
        if (fill.hatch != Hatch::none) haloed.halo = fill.colour;
        canvas.text(r.centre(), number, haloed);
        numbered = true;
      }
    }
    canvas.tag_with(tag_of(b, own), compute_lane || !own ? -1 : static_cast<int>(b.axis), r,
                    [&] { return readout_of(input, o, b); });
  }
  return numbered;
}

std::optional<engine::Axis> gathered_axis(const LayerOverlap& o) {
  for (std::size_t i = 0; i < engine::kAxisCount; ++i)
    if (o.forward.gather_s[i] + o.backward.gather_s[i] > 0) return static_cast<engine::Axis>(i);
  return std::nullopt;
}

std::string carried_text(const FigureInput& input, const LayerOverlap& o) {
  const TextTable& t = input.texts;
  std::string axes;
  double carried = 1;
  for (const engine::Axis axis : lanes_of(o)) {
    const double share = o.carried[axis];
    if (share >= 1) continue;
    carried = std::min(carried, share);
    if (!axes.empty()) axes += t.text("figure.list_separator");
    axes += t.text("figure.scaling.bound." + std::string(engine::kAxisIds[axis]));
  }
  if (axes.empty()) return {};
  const double microbatches = std::round(1 / carried);
  if (microbatches == 2) return t.format("figure.overlap.once.two", {axes});
  return t.format("figure.overlap.once", {axes, format_count(microbatches)});
}

std::vector<KeyEntry> overlap_key(const FigureInput& input, float em, bool recompute, bool exposed,
                                  std::optional<engine::Axis> gathered, const std::vector<engine::Axis>& axes) {
  const Theme& theme = input.theme;
  const TextTable& t = input.texts;
  std::vector<KeyEntry> key{{std::string(t.text("figure.overlap.compute")), fill_of(theme, StepPart::compute, em)}};
  if (recompute)
    key.push_back({std::string(t.text("figure.overlap.kind.recompute")), fill_of(theme, StepPart::recompute, em)});
  if (exposed) key.push_back({std::string(t.text("figure.overlap.kind.exposed")), exposed_fill(theme, em)});
  if (gathered) key.push_back({std::string(t.text("figure.overlap.kind.gather")), gather_fill(theme, *gathered, em)});
  for (const engine::Axis axis : axes)
    key.push_back({std::string(t.text("figure.scaling.bound." + std::string(engine::kAxisIds[axis]))),
                   fill_of(theme, look_of(axis), em)});
  return key;
}

void draw_overlap_key(Canvas& canvas, const FigureInput& input, const Rect& row, const std::vector<KeyEntry>& key,
                      bool numbers) {
  draw_fitting_key(canvas, input.theme, {row.x, row.centre().y}, row.w, key,
                   numbers ? input.texts.text("figure.overlap.note") : std::string_view{}, {},
                   std::max(row.h / 2, canvas.px(kLeastKeyPitch)));
}

}  // namespace overlap

using namespace overlap;

namespace {

// Where the name of the line at `at` stands, `width` long: left of it or right of it, free of the words that stand at
// `taken` (from, to).
std::optional<float> beside_line(const Canvas& canvas, float width, float at, const Rect& plot,
                                 std::initializer_list<std::pair<float, float>> taken) {
  const float gap = canvas.px(5);
  for (const float x : {at - gap - width, at + gap})
    if (x >= plot.x && x + width <= plot.right() + 1 && std::none_of(taken.begin(), taken.end(), [&](const auto& t) {
          return x < t.second + gap && t.first < x + width + gap;
        }))
      return x;
  return std::nullopt;
}

// Of the layers of the baseline that are drawn of the plan, under the same strategy; 0: there is no baseline.
double baseline_length(const FigureInput& input, Strategy strategy) {
  if (input.baseline == nullptr || input.baseline->scenario.serves()) return 0;
  const FigureInput base{input.baseline->scenario, input.baseline->report, input.texts, input.theme, input.studies};
  const LayerOverlap o = study(base, strategy);
  return o.problem.empty() ? length_of(o) : 0;
}

FigureHead overlap_head(const FigureInput& input, const FigureView& view) {
  if (shows_all(view)) return strategies_head(input);
  const TextTable& t = input.texts;
  const LayerOverlap o = study(input, strategy_of(view));
  FigureHead head;
  if (input.baseline) head.context = compared_context(input);
  const std::string name(t.text(strategy_key(strategy_of(view))));
  head.title = t.format("figure.overlap.title", {name});
  const double total = o.forward.total_s() + o.backward.total_s(),
               network = o.forward.network_s + o.backward.network_s;
  const double exposed = o.forward.exposed_s + o.backward.exposed_s,
               work = o.forward.compute_s + o.backward.compute_s;
  if (total <= 0) return head;
  const auto time = [&](std::string_view what, double seconds) {
    return say(head, own_claim("overlap." + std::string(what), seconds, format_duration(seconds)));
  };
  const auto share = [&](std::string_view what, double of) {
    return say(head, own_claim("overlap." + std::string(what), of, format_share(of)));
  };
  if (exposed <= 0) {
    head.takeaway = network <= 0
                        ? t.format("figure.overlap.takeaway.silent", {time("layer", total)})
                        : t.format("figure.overlap.takeaway.hidden", {share("network_share", network / work)});
    head.brief = head.takeaway;
    const double elsewhere = strategy_of(view) == Strategy::plan ? exposed_elsewhere(input) : 0;
    if (elsewhere > kToldElsewhere * input.report.quantities.value_or(Q::step_time, 0))
      head.takeaway =
          t.format("figure.overlap.takeaway.hidden.elsewhere", {head.brief, time("elsewhere", elsewhere)});
  } else {
    head.takeaway =
        t.format("figure.overlap.takeaway", {time("exposed", exposed), share("exposed_share", exposed / total)});
    if (o.hidden_in_pairs >= kToldInPairs) {
      head.brief = head.takeaway;
      head.takeaway = t.format("figure.takeaway.pairs", {head.brief, share("hidden_in_pairs", o.hidden_in_pairs)});
    }
  }
  return head;
}

void draw_overlap(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  Rect rest = draw_figure_head(canvas, area, input, view, overlap_head(input, view));
  if (rest.empty()) return;
  if (shows_all(view)) return draw_strategies(canvas, rest, input, view);
  const Theme& theme = input.theme;
  const TextTable& t = input.texts;
  const LayerOverlap o = study(input, strategy_of(view));
  const double base = baseline_length(input, strategy_of(view));
  const double end = kept_range(input.axes, "overlap.x", {0, std::max(length_of(o), base)}).to;
  // A plain strategy that cannot run has no times, and says why.
  if (!o.problem.empty())
    return draw_empty_state(
        canvas, theme, rest,
        t.format("figure.overlap.problem", {std::string(t.text("diagnostic." + std::string(o.problem) + ".title"))}));
  if (!(end > 0)) return draw_empty_state(canvas, theme, rest, t.text("figure.overlap.empty"));
  const std::vector<engine::Axis> axes = lanes_of(o);
  const bool own = strategy_of(view) == Strategy::plan;
  const float line = small_line(canvas);

  // Which part of a step's transfer is drawn, where a layer moves something once a step.
  if (const std::string text = carried_text(input, o); !text.empty()) {
    const TextStyle note = small_text(canvas, theme.ink2, HAlign::left);
    const Rect foot = rest.cut_bottom(line * 1.2f);
    canvas.text({foot.x, foot.centre().y}, ellipsize(canvas, text, note, foot.w), note);
  }

  const TextStyle name = small_text(canvas, theme.ink2, HAlign::right);
  std::vector<std::string> names{std::string(t.text("figure.overlap.compute"))};
  for (const engine::Axis axis : axes) names.push_back(axis_name(input, o, axis));
  float widest = 0;
  for (const std::string& n : names) widest = std::max(widest, canvas.text_width(n, name));
  widest = std::min(widest, rest.w * 0.34f);

  const std::vector<KeyEntry> key = overlap_key(input, canvas.em(), o.backward.recompute_s > 0,
                                                o.forward.exposed_s + o.backward.exposed_s > 0, gathered_axis(o));
  const auto more_rows = static_cast<float>(key_rows(canvas, rest.w, key) - 1);
  const Rect key_row = rest.cut_top(line * 1.3f + key_row_height(canvas) * more_rows),
             directions = rest.cut_top(line * 1.4f);
  rest.cut_left(widest + canvas.px(10));
  const TimeUnit unit = time_unit(end);
  const Scale domain(ScaleKind::linear, 0, end / unit.seconds, 0, 1);
  Frame frame;
  frame.y.grid = frame.y.line = false;
  frame.x = time_axis(canvas, input, domain, unit, rest.w);
  Rect plot = plot_rect(canvas, rest, frame);
  plot = rect_between(plot.x, rest.y, plot.right(), plot.bottom());
  const auto lanes = static_cast<float>(names.size());
  const float pitch = std::min(plot.h / lanes, canvas.px(kMostLane));
  plot.h = pitch * lanes;
  const Scale x = domain.with_range(plot.x, plot.right());
  draw_frame(canvas, theme, plot, x, Scale(ScaleKind::linear, 0, 1, plot.bottom(), plot.y), frame);

  // Forward and backward over the lanes, and a line where one turns into the other.
  const double turn = kLayers * o.forward.total_s() / unit.seconds;
  const TextStyle word = small_text(canvas, theme.ink3, HAlign::left);
  const float middle = directions.centre().y, edge = x(turn);
  const std::string forward(t.text("figure.overlap.forward")), backward(t.text("figure.overlap.backward"));
  if (canvas.text_width(forward, word) + canvas.px(6) < edge - plot.x) canvas.text({plot.x, middle}, forward, word);
  // Where the same layers of the baseline end. Its name comes before the word for what is drawn plainly.
  const float base_at = x(base / unit.seconds), word_at = edge + canvas.px(4);
  const std::string base_name =
      base > 0 ? t.format("figure.step.readout", {std::string(t.text("figure.step.baseline")), format_duration(base)})
               : std::string();
  const std::pair<float, float> first{plot.x, plot.x + canvas.text_width(forward, word)},
      second{word_at, word_at + canvas.text_width(backward, word)};
  std::optional<float> name_at;
  bool says_backward = true;
  if (base > 0) {
    const float width = canvas.text_width(base_name, word);
    name_at = beside_line(canvas, width, base_at, plot, {first, second});
    if (!name_at) {
      name_at = beside_line(canvas, width, base_at, plot, {first});
      says_backward = !name_at;
    }
  }
  if (says_backward) canvas.text({word_at, middle}, ellipsize(canvas, backward, word, plot.right() - word_at), word);
  canvas.line({edge, directions.y}, {edge, plot.bottom()},
              {theme.ink3, theme.axis_width * canvas.em(), Dash{3, 3}.scaled(canvas.px(1))});

  for (std::size_t i = 0; i < names.size(); ++i)
    canvas.text({plot.x - canvas.px(10), plot.y + pitch * (static_cast<float>(i) + 0.5f)},
                ellipsize(canvas, names[i], name, widest + canvas.px(0.5f)), name);

  const bool numbered = draw_blocks(canvas, input, view, o, own, plot, end);
  if (base > 0) {
    const float at = base_at;
    canvas.line({at, directions.y}, {at, plot.bottom()},
                {theme.ink, theme.axis_width * 1.5f * canvas.em(), Dash{3, 3}.scaled(canvas.px(1))});
    if (name_at) canvas.text({*name_at, middle}, base_name, small_text(canvas, theme.ink2, HAlign::left));
    canvas.tag_with("baseline", -1, {at - canvas.px(4), plot.y, canvas.px(8), plot.h}, [&] {
      return Readout{base_name, {}};
    });
  }
  draw_overlap_key(canvas, input, key_row, key, numbered);
}

std::string overlap_data(const FigureInput& input, const FigureView& view) {
  std::string out = "strategy\tstream\tkind\tdirection\tlayer\tstart s\tend s\n";
  const char* kinds[]{"compute", "recompute", "exposed", "gather", "transfer"};
  for (std::size_t i = 0; i < engine::kStrategyIds.size(); ++i) {
    const auto strategy = static_cast<Strategy>(i);
    if (!shows_all(view) && strategy != strategy_of(view)) continue;
    for (const Block& b : blocks_of(study(input, strategy))) {
      const bool network = b.kind == Block::Kind::gather || b.kind == Block::Kind::transfer;
      out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", engine::kStrategyIds.ids()[i],
                         network ? engine::kAxisIds[b.axis] : std::string_view("compute"),
                         kinds[static_cast<std::size_t>(b.kind)], b.backward ? "backward" : "forward", b.layer,
                         b.from, b.to);
    }
  }
  return out;
}

}  // namespace

extern constinit const FigureRow overlap_figure{
    .name = "overlap",
    .options = kOverlapOptions.rows,
    .head = overlap_head,
    .draw = draw_overlap,
    .data = overlap_data,
};

}  // namespace roofscape::widgets
