#include "widgets/figures/training/compare_serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/quantity_look.h"
#include "widgets/figures/common/stage_rows.h"
#include "widgets/figures/training/decode_look.h"
#include "widgets/figures/training/figure_memory_parts.h"
#include "widgets/figures/training/figure_pipeline_parts.h"
#include "widgets/figures/training/time_bars.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

using engine::Q;

namespace {

constexpr double kSame = 1e-9;        // of a value: no difference
constexpr float kBarShare = 0.72f;    // of the pitch of the two bars
constexpr float kMostPitch = 34;      // px
constexpr float kHeadLine = 1.05f;    // of a line of small text: the name of a sum, and what changed
constexpr float kLeastPitch = 0.82f;  // lines of small text
constexpr float kAxisLines = 1.32f;   // ticks and their numbers
constexpr float kLeastEdged = 6;      // px: lower bars would be all edge
constexpr float kFaded = 0.5f;        // of the baseline's colours in the ground
constexpr float kMarkWidth = 3;       // px: what is narrower has no label

// What a part of one of the sums is: its quantity, and the quantity that names and colours it.
struct ComparedPart {
  Q part = Q::decode_step;
  Q look = Q::decode_step;
  double value = 0;
};

// A quantity that is the sum of its parts, of one plan.
struct ComparedSum {
  double value = 0;
  std::vector<ComparedPart> parts;
};

// One of the three: both plans.
struct Comparison {
  Q total = Q::ttft;
  std::string title;
  bool bytes = false;
  ComparedSum then, now;
  double most() const { return std::max(then.value, now.value); }
};

ComparedSum first_token(const engine::Report& r) {
  ComparedSum out{seconds_of(r, Q::ttft), {}};
  for (const Q part : engine::kPrefillParts) out.parts.push_back({part, part, seconds_of(r, part)});
  for (const Q part : {Q::ttft_interleave, Q::ttft_transfer, Q::ttft_host})
    out.parts.push_back({part, part, seconds_of(r, part)});
  return out;
}

// With `sustained` what the prefills of other requests add to decoding alone.
ComparedSum per_token(const engine::Report& r, bool sustained) {
  const double alone = seconds_of(r, Q::time_per_output_token),
               tokens = std::max(1.0, seconds_of(r, Q::accepted_per_step));
  ComparedSum out{sustained ? seconds_of(r, Q::mixed_token_time_q) : alone, {}};
  for (const Q part : engine::kDecodeParts)
    out.parts.push_back({part, decides_decode(r, part), seconds_of(r, part) / tokens});
  if (sustained) out.parts.push_back({Q::mixed_token_time_q, Q::prefill_work, out.value - alone});
  return out;
}

ComparedSum memory_of(const engine::Report& r) {
  ComparedSum out{seconds_of(r, Q::memory_total), {}};
  for (const Q part : engine::kServingMemoryParts) out.parts.push_back({part, part, seconds_of(r, part)});
  return out;
}

// As the plans run, if the batch they are given is in flight in both; else decoding alone.
bool is_sustained(const FigureInput& input) {
  const auto adds = [](const engine::Report& r) {
    return seconds_of(r, Q::mixed_token_time_q) >= seconds_of(r, Q::time_per_output_token) * (1 - kSame);
  };
  return adds(input.report) && adds(input.baseline->report);
}

std::vector<Comparison> comparisons(const FigureInput& input) {
  const TextTable& t = input.texts;
  const engine::Report &now = input.report, &then = input.baseline->report;
  const bool sustained = is_sustained(input);
  const Q token = sustained ? Q::mixed_token_time_q : Q::time_per_output_token;
  std::vector<Comparison> out;
  out.push_back({token, std::string(t.text(sustained ? "figure.compare.token" : "figure.compare.token.alone")), false,
                 per_token(then, sustained), per_token(now, sustained)});
  if (seconds_of(now, Q::ttft) > 0 && seconds_of(then, Q::ttft) > 0)
    out.push_back({Q::ttft, std::string(t.text("figure.compare.first")), false, first_token(then), first_token(now)});
  out.push_back({Q::memory_total, std::string(t.text(chip_key(input, "figure.compare.memory"))), true,
                 memory_of(then), memory_of(now)});
  return out;
}

// What time and memory have in common has one name and one look: weights are weights, read or held.
std::string_view part_key(Q look) {
  switch (look) {
    case Q::decode_kv_read:
    case Q::memory_kv_cache:
      return "figure.serving-memory.part.kv_cache_bytes";
    case Q::decode_weight_read:
    case Q::memory_weights:
      return "figure.serving-memory.part.weights_bytes";
    case Q::memory_activations:
      return "figure.serving-memory.part.activations_bytes";
    case Q::memory_reserve:
      return "figure.serving-memory.part.reserve_bytes";
    case Q::decode_attention_math:
    case Q::decode_flops_time:
      return "figure.compare.part.arithmetic";
    case Q::prefill_work:
      return "figure.compare.part.prefill";
    case Q::decode_exposed:
    case Q::prefill_exposed:
      return "figure.compare.part.exposed";
    case Q::decode_transfer:
    case Q::ttft_transfer:
      return "figure.compare.part.sent";
    case Q::prefill_bubble:
    case Q::ttft_interleave:
      return "figure.compare.part.waits";
    case Q::decode_draft:
      return "figure.compare.part.draft";
    default:
      return "figure.compare.part.host";
  }
}

Fill part_fill(const FigureInput& input, Q look, float em) {
  const Theme& theme = input.theme;
  switch (look) {
    case Q::prefill_work:
      return fill_of(theme, StepPart::compute, em);
    case Q::decode_attention_math:
    case Q::decode_flops_time:
      return fill_of(theme, Q::step_attention, em);
    case Q::ttft_transfer:
      return fill_of(theme, Q::decode_transfer, em);
    case Q::prefill_bubble:
    case Q::ttft_interleave:
      return fill_of(theme, StepPart::bubble, em);
    case Q::ttft_host:
      return fill_of(theme, Q::decode_host, em);
    case Q::decode_exposed:
    case Q::prefill_exposed: {
      // In the hue of the axis it waits for; weights, activations and what is sent on have its hatch in the same figure.
      Fill fill = look_of_decode(input, look, em);
      fill.hatch = Hatch::horizontal;
      return fill;
    }
    default:
      return look_of_decode(input, look, em);
  }
}

std::string value_text(const Comparison& c, double value) {
  return c.bytes ? memory::bytes_text(value) : format_duration(value);
}
std::string difference_text(const Comparison& c, double value) {
  return format_difference(value, c.bytes ? engine::unit::bytes : engine::unit::seconds);
}
// "-2.1 ms, -18 %"; nothing where there is none.
std::string change_text(const Comparison& c, double then, double now) {
  if (std::abs(now - then) <= kSame * std::max(std::abs(then), std::abs(now))) return "\u00b1 0";
  const std::string by = difference_text(c, now - then);
  if (!(then > 0)) return by;
  const double share = now / then - 1;
  return by + ", " + (share > 0 ? "+" : "") + format_percent(share, std::abs(share) < 0.1 ? 1 : 0);
}

std::vector<KeyEntry> key_of(const FigureInput& input, std::span<const Comparison> shown, float em) {
  std::vector<KeyEntry> out;
  for (const Comparison& c : shown)
    for (const ComparedSum* sum : {&c.then, &c.now})
      for (const ComparedPart& part : sum->parts) {
        if (!(part.value > kSame * c.most())) continue;
        std::string name(input.texts.text(part_key(part.look)));
        if (std::none_of(out.begin(), out.end(), [&](const KeyEntry& e) { return e.text == name; }))
          out.push_back({std::move(name), part_fill(input, part.look, em)});
      }
  return out;
}

Readout readout_of(const FigureInput& input, const Comparison& c, std::string name, double then, double now) {
  const TextTable& t = input.texts;
  Readout r;
  r.title = t.format("figure.compare.readout", {std::move(name), change_text(c, then, now)});
  r.rows.emplace_back(t.text("figure.compare.baseline"), value_text(c, then));
  r.rows.emplace_back(t.text("figure.compare.now"), value_text(c, now));
  return r;
}

double value_of(const ComparedSum& sum, Q part) {
  for (const ComparedPart& p : sum.parts)
    if (p.part == part) return p.value;
  return 0;
}

struct Places {
  float names = 0, values = 0;  // widths of the columns
  float gap = 0, pitch = 0;
};

void draw_bar(Canvas& canvas, const FigureInput& input, const Comparison& c, const ComparedSum& sum, const Rect& row,
              const Scale& x, double unit, bool is_then) {
  const Theme& theme = input.theme;
  Rect bar{x(0), row.centre().y - row.h * kBarShare / 2, 0, row.h * kBarShare};
  double at = 0;
  for (const ComparedPart& part : sum.parts) {
    if (!(part.value > kSame * c.most())) continue;
    Rect piece = rect_between(x(at / unit), bar.y, x((at + part.value) / unit), bar.bottom());
    at += part.value;
    Fill fill = part_fill(input, part.look, canvas.em());
    if (is_then) fill.colour = mix(theme.panel, fill.colour, kFaded), fill.edge = mix(theme.panel, fill.edge, kFaded);
    if (piece.h < canvas.px(kLeastEdged) || piece.w < canvas.px(kMarkWidth)) fill.edge_width = 0;
    if (piece.w < canvas.px(kMarkWidth)) fill.hatch = Hatch::none;
    canvas.rect(piece, fill);
    canvas.tag_with(engine::quantity(part.part).id, is_then ? 0 : 1, piece, [&] {
      return readout_of(input, c, std::string(input.texts.text(part_key(part.look))), value_of(c.then, part.part),
                        value_of(c.now, part.part));
    });
  }
  if (!is_then) return;
  bar = rect_between(x(0), bar.y, x(sum.value / unit), bar.bottom()).inset(0, -canvas.px(1));
  canvas.polyline(
      {{bar.x, bar.y}, {bar.right(), bar.y}, {bar.right(), bar.bottom()}, {bar.x, bar.bottom()}, {bar.x, bar.y}},
      {theme.ink, theme.axis_width * canvas.em(), Dash{3, 3}.scaled(canvas.px(1))});
}

void draw_section(Canvas& canvas, const FigureInput& input, Rect area, const Comparison& c, const Places& p) {
  const Theme& theme = input.theme;
  const float line = small_line(canvas);
  const TimeUnit time = time_unit(c.most());
  const double unit = c.bytes ? memory::kGb : time.seconds;
  const Rect head = area.cut_top(line * kHeadLine);
  const TextStyle bold = small_text(canvas, theme.ink, HAlign::left, Weight::bold);
  const std::string change = change_text(c, c.then.value, c.now.value);
  const TextStyle right = small_text(canvas, theme.ink, HAlign::right, Weight::bold);
  canvas.text({head.right(), head.centre().y}, change, right);
  canvas.text({head.x, head.centre().y},
              ellipsize(canvas, c.title, bold, head.w - canvas.text_width(change, right) - p.gap), bold);
  canvas.tag_with(engine::quantity(c.total).id, -1, head,
                  [&] { return readout_of(input, c, c.title, c.then.value, c.now.value); });

  const Rect rows{area.x + p.names + p.gap, area.y, area.w - p.names - p.values - 2 * p.gap, 2 * p.pitch};
  const double end =
      kept_range(input.axes, fmt::format("compare.{}", engine::quantity(c.total).id), {0, c.most()}).to;
  const Scale x(ScaleKind::linear, 0, end > 0 ? end / unit : 1, rows.x, rows.right());
  Frame frame;
  frame.y.grid = frame.y.line = false;
  frame.x.ticks = ticks(x, {std::clamp(static_cast<int>(rows.w / canvas.px(70)), 2, 6), TickLabels::plain, false});
  draw_frame(canvas, theme, rows, x, Scale(ScaleKind::linear, 0, 1, rows.bottom(), rows.y), frame);
  // The unit stands where the column of values ends, level with the numbers of the axis.
  canvas.text({area.right(), rows.bottom() + line * 0.85f},
              c.bytes               ? "GB"
              : time.seconds == 1   ? "s"
              : time.seconds > 1e-4 ? "ms"
                                    : "\u00b5s",
              small_text(canvas, theme.ink3, HAlign::right));
  for (const bool is_then : {true, false}) {
    const ComparedSum& sum = is_then ? c.then : c.now;
    const Rect row{area.x, rows.y + (is_then ? 0 : p.pitch), area.w, p.pitch};
    const Weight weight = is_then ? Weight::regular : Weight::bold;
    canvas.text({rows.x - p.gap, row.centre().y},
                input.texts.text(is_then ? "figure.compare.baseline" : "figure.compare.now"),
                small_text(canvas, is_then ? theme.ink2 : theme.ink, HAlign::right, weight));
    canvas.text({area.right(), row.centre().y}, value_text(c, sum.value),
                small_text(canvas, theme.ink, HAlign::right, weight));
    draw_bar(canvas, input, c, sum, row, x, unit, is_then);
  }
}

}  // namespace

bool compares_serving(const FigureInput& input) {
  return input.baseline != nullptr && seconds_of(input.report, Q::decode_step) > 0 &&
         seconds_of(input.baseline->report, Q::decode_step) > 0;
}

void say_serving_comparison(const FigureInput& input, FigureHead& head) {
  const TextTable& t = input.texts;
  const std::vector<Comparison> all = comparisons(input);
  const bool same = std::all_of(all.begin(), all.end(), [](const Comparison& c) {
    return std::abs(c.now.value - c.then.value) <= kSame * c.most();
  });
  if (same) {
    head.takeaway = t.text("figure.compare.same");
    return;
  }
  const auto said = [&](const Comparison& c) {
    if (std::abs(c.now.value - c.then.value) <= kSame * c.most())
      return std::string(t.text("figure.compare.unchanged"));
    return say(head, difference_claim(input, c.total));
  };
  const std::string token = said(all.front());
  head.brief = t.format("figure.compare.serving.brief", {token});
  if (all.size() < 3) {
    head.takeaway = head.brief;
    return;
  }
  head.takeaway = t.format("figure.compare.serving.takeaway", {token, said(all[1]), said(all[2])});
}

void draw_serving_comparison(Canvas& canvas, Rect rest, const FigureInput& input, const FigureView&) {
  const float line = small_line(canvas);
  std::vector<Comparison> shown = comparisons(input);
  const auto section = [&](float pitch) { return line * (kHeadLine + kAxisLines) + 2 * pitch; };
  // As many as there is room for: time per token first.
  while (shown.size() > 1 && static_cast<float>(shown.size()) * section(line * kLeastPitch) > rest.h)
    shown.pop_back();
  const std::vector<KeyEntry> key = key_of(input, shown, canvas.em());
  const float count = static_cast<float>(shown.size());
  const float key_height = key_row_height(canvas) * static_cast<float>(key_rows(canvas, rest.w, key));
  if (count * section(line * kLeastPitch) + key_height <= rest.h) {
    const Rect strip = rest.cut_top(key_height);
    draw_fitting_key(canvas, input.theme, {strip.x, strip.centre().y}, strip.w, key, {});
  }
  Places p;
  p.gap = canvas.px(10);
  p.pitch = std::min(canvas.px(kMostPitch), (rest.h / count - section(0)) / 2);
  if (p.pitch <= 0) return;
  for (const Comparison& c : shown)
    for (const bool is_then : {true, false}) {
      const Weight weight = is_then ? Weight::regular : Weight::bold;
      const TextStyle style = small_text(canvas, input.theme.ink, HAlign::left, weight);
      p.names = std::max(
          p.names,
          canvas.text_width(input.texts.text(is_then ? "figure.compare.baseline" : "figure.compare.now"), style));
      p.values = std::max(p.values, canvas.text_width(value_text(c, (is_then ? c.then : c.now).value), style));
    }
  const float height = std::min(rest.h / count, section(p.pitch) + line * 1.5f);
  for (const Comparison& c : shown) draw_section(canvas, input, rest.cut_top(height), c, p);
}

std::string serving_comparison_data(const FigureInput& input) {
  std::string out = "part\tof\tbaseline\tvalue\tdifference\n";
  if (!compares_serving(input)) return out;
  for (const Comparison& c : comparisons(input)) {
    const std::string_view total = engine::quantity(c.total).id;
    const auto add = [&](std::string_view part, double then, double now) {
      out += fmt::format("{}\t{}\t{}\t{}\t{}\n", part, total, then, now, now - then);
    };
    for (std::size_t i = 0; i < c.now.parts.size(); ++i) {
      const Q part = c.now.parts[i].part;  // prefills between steps are what the sum has more than decoding alone
      add(part == c.total ? "compare.prefills" : engine::quantity(part).id, c.then.parts[i].value,
          c.now.parts[i].value);
    }
    add(total, c.then.value, c.now.value);
  }
  return out;
}

}  // namespace roofscape::widgets
