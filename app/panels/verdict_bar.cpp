#include "app/panels/verdict_bar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "app/panels/diagnostic_words.h"
#include "app/panels/evidence_band.h"
#include "app/panels/panel_parts.h"
#include "app/panels/quantity_text.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/quantity_look.h"
#include "widgets/figures/common/step_words.h"
#include "widgets/figures/training/figure_memory_parts.h"
#include "widgets/plot/plot.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app {

using namespace widgets;
using engine::Q;

namespace {

constexpr float kLeastFact = 96;  // width of a fact of the verdict

// The same said at length and in fewer words: the first that has room is shown, none is cut.
using Ways = std::vector<std::string>;

struct Fact {
  std::string_view id;
  Ways label, value, below;
  std::optional<Mark> mark;
  Q quantity = Q::step_time;
  float share = 1;                                    // of the width
  std::optional<engine::EvidenceKind> evidence = {};  // what its error band is of
};

// A text, and where there is one its ".brief" and ".briefest".
Ways ways(const PanelContext& ctx, std::string_view key, const std::vector<std::string>& values = {}) {
  Ways out{ctx.ui.texts.format(key, values)};
  for (const std::string_view shorter : {".brief", ".briefest"})
    if (const std::string other = std::string(key) + std::string(shorter); ctx.ui.texts.has(other))
      out.push_back(ctx.ui.texts.format(other, values));
  return out;
}

// The same of so many chips, in the form that goes with their number.
Ways ways_on_chips(const PanelContext& ctx, std::string_view key, double chips, const std::string& value) {
  Ways out;
  for (const std::string_view shorter : {"", ".brief", ".briefest"})
    out.push_back(ctx.ui.texts.count(std::string(key) + std::string(shorter), chips, {value}));
  return out;
}

std::string value_of(const PanelContext& ctx, Q q, NumberOptions options = {}) {
  // Times of a plan that is not possible say nothing.
  const auto v = ctx.session.report().quantities[q];
  return v && !ctx.session.report().has_errors() ? ctx.ui.texts.amount(*v, engine::quantity(q).unit, options)
                                                 : std::string(kNoValue);
}

// What a bar is made of: the parts of a step of training, or of a decoding step.
std::span<const Q> parts_of(const engine::Scenario& s) {
  return s.serves() ? std::span<const Q>(engine::kDecodeParts) : std::span<const Q>(engine::kStepParts);
}
Q total_of(const engine::Scenario& s) { return s.serves() ? Q::decode_step : Q::step_time; }

// Of a decoding step a part looks like what it waits for: the cache, the weights or arithmetic.
Fill look_of(const Theme& t, Q part, const engine::Scenario& s, const engine::QuantityValues& q, float em) {
  const auto longer = [&](Q a, Q b) { return q.value_or(a, 0) >= q.value_or(b, 0); };
  switch (part) {
    case Q::decode_attention:
      if (longer(Q::decode_kv_read, Q::decode_attention_math)) return fill_of(t, MemoryPart::kv_cache, em);
      return fill_of(t, Q::step_attention, em);
    case Q::decode_linear:
      return longer(Q::decode_weight_read, Q::decode_flops_time) ? fill_of(t, MemoryPart::weights, em)
                                                                 : fill_of(t, Q::step_matmul, em);
    case Q::decode_exposed:
      return fill_of(t,
                     s.parallelism.tensor > 1   ? Q::step_tensor
                     : s.parallelism.expert > 1 ? Q::step_expert
                                                : Q::step_data,
                     em);
    case Q::decode_transfer:
      return fill_of(t, Q::step_pipeline_transfer, em);
    case Q::decode_draft:
      return fill_of(t, Q::step_recompute, em);
    default:
      return fill_of(t, part, em);
  }
}

// The longest part of the decoding step.
Q longest_part(const engine::QuantityValues& q) {
  return *std::max_element(engine::kDecodeParts.begin(), engine::kDecodeParts.end(),
                           [&](Q a, Q b) { return q.value_or(a, 0) < q.value_or(b, 0); });
}

Q bound_quantity(const engine::Bound& bound) {
  switch (bound.kind) {
    case engine::BoundKind::compute:
      return Q::step_matmul;
    case engine::BoundKind::hbm:
      return Q::step_hbm;
    case engine::BoundKind::bubble:
      return Q::step_bubble;
    case engine::BoundKind::host:
      return Q::step_host;
    case engine::BoundKind::offload:
      return Q::step_offload;
    case engine::BoundKind::none:
      return Q::step_time;
    case engine::BoundKind::latency:
    case engine::BoundKind::mesh_axis:
      break;
  }
  return engine::kExposedParts[static_cast<std::size_t>(bound.axis)];
}

Fact memory_fact(const PanelContext& ctx) {
  const engine::Report& report = ctx.session.report();
  const auto& q = report.quantities;
  Fact f{"verdict.memory", ways(ctx, "ui.verdict.memory"), {std::string(kNoValue)}, {}, {}, Q::memory_total, 1.12f};
  if (!ctx.session.scenario().serves()) f.evidence = engine::EvidenceKind::memory;
  const auto total = q[Q::memory_total], free = q[Q::memory_free], capacity = q[Q::hbm_capacity];
  if (!total || !free || !capacity) {
    f.below = ways(ctx, "report.verdict.memory_unknown");
    return f;
  }
  // "17.6 of 80 GB": the unit once, where both are counted in it.
  const std::string amount =
      *total >= 1e9 && *capacity < 1e12 ? format_significant(*total / 1e9) : format(*total, engine::unit::bytes);
  const std::string all = memory::capacity_words(ctx.ui.texts, ctx.session.scenario().cluster.chip, *capacity),
                    least = memory::capacity_text(*capacity);
  const bool several = report.stages.size() > 1;
  const std::string stage = format_count(report.fullest_stage);
  // The chip's memory as it is sold beside what there is of it, then without.
  const auto amounts = [&](std::string_view key, const std::string& first) {
    f.below = ways(ctx, key, {first, all, stage});
    for (std::string& other : ways(ctx, key, {first, least, stage})) f.below.push_back(std::move(other));
  };
  if (report.has_errors()) {  // shards of a mesh that cannot be: no verdict
    amounts("ui.verdict.if_possible", amount);
  } else if (report.fits()) {
    f.mark = Mark::good;
    f.value = ways(ctx, "ui.verdict.fits");
    // Within the band it may as well not.
    const engine::ErrorBand* band = f.evidence ? band_of(ctx, *f.evidence) : nullptr;
    if (band != nullptr && band->validated() && band->most(*total) > *capacity) {
      f.mark = Mark::warning;
      f.value = ways(ctx, "ui.verdict.fits_barely");
    }
    amounts(several ? "ui.verdict.fits.stage" : "ui.verdict.fits.one", amount);
  } else {
    f.mark = Mark::error;
    f.value = ways(ctx, "ui.verdict.does_not_fit");
    amounts(several ? "ui.verdict.over.stage" : "ui.verdict.over.one", format(-*free, engine::unit::bytes));
  }
  return f;
}

Fact bound_fact(const PanelContext& ctx) {
  const engine::Report& report = ctx.session.report();
  Fact f{"verdict.bound",
         ways(ctx, "ui.verdict.bound"),
         {std::string(kNoValue)},
         {},
         {},
         bound_quantity(report.bound),
         1.12f};
  if (report.has_errors()) {
    f.mark = Mark::error;
    f.value = ways(ctx, "ui.verdict.impossible");
    // Where neither the diagnostics nor a figure say why.
    const engine::Diagnostic* d = worst_diagnostic(report);
    if (d != nullptr && !ctx.in_sight.diagnostics && !ctx.in_sight.figures) f.below = {diagnostic_title(ctx, *d)};
    return f;
  }
  const bool serving = ctx.session.scenario().serves();
  const auto step = report.quantities[total_of(ctx.session.scenario())];
  if (!step || *step <= 0) return f;
  f.value = {bound_name(ctx.ui.texts, report.bound)};
  if (report.bound.kind == engine::BoundKind::mesh_axis)
    f.value.push_back(std::string(ctx.text("axis." + std::string(report.bound.id()))));
  if (serving) {
    f.quantity = longest_part(report.quantities);
    f.below = ways(
        ctx, "ui.verdict.part_share",
        {quantity_label(ctx.ui.texts, f.quantity), format_share(report.quantities.value_or(f.quantity, 0) / *step)});
    if (report.bound.kind == engine::BoundKind::mesh_axis || report.bound.kind == engine::BoundKind::latency)
      f.mark = Mark::warning;
  } else if (report.bound.kind == engine::BoundKind::mesh_axis && report.bound.axis != engine::Axis::pipeline) {
    // Busy longer than arithmetic, though most of that may be hidden under it.
    f.mark = Mark::warning;
    f.below = ways(ctx, "ui.verdict.busy",
                   {format_share(report.quantities.value_or(Q::network_total, 0) / *step),
                    format_share(exposed_network_share(report))});
  } else if (names_second(report)) {
    // Another group of the step is as large as to be named: "compute 49 %, pipeline bubble 47 %".
    f.mark = Mark::warning;
    f.value = {step_words(report, ctx.ui.texts), bound_name(ctx.ui.texts, report.bound)};
    f.below = ways(ctx, report.quantities.value_or(Q::step_recompute, 0) > 0 ? "ui.verdict.shares.recompute"
                                                                             : "ui.verdict.shares");
  } else {
    if (report.bound.kind != engine::BoundKind::compute) f.mark = Mark::warning;
    const bool again =
        report.bound.kind == engine::BoundKind::compute && report.quantities.value_or(Q::step_recompute, 0) > 0;
    f.below =
        ways(ctx, again ? "ui.verdict.share.recompute" : "ui.verdict.share", {format_share(bound_share(report))});
  }
  return f;
}

void training_facts(const PanelContext& ctx, bool compact, std::vector<Fact>& all) {
  const engine::Report& report = ctx.session.report();
  const auto& q = report.quantities;
  const bool runs = !report.has_errors();
  const auto add = [&](std::string_view id, Ways label, Q quantity, Ways below, float share) -> Fact& {
    return all.emplace_back(
        Fact{id, std::move(label), {value_of(ctx, quantity)}, std::move(below), {}, quantity, share});
  };
  add("verdict.mfu", {"MFU"}, Q::mfu, runs ? Ways{band_words(ctx, engine::EvidenceKind::step)} : Ways{}, 0.94f)
      .evidence = engine::EvidenceKind::step;
  add("verdict.step", ways(ctx, "ui.verdict.step"), Q::step_time,
      runs ? Ways{value_of(ctx, Q::tokens_per_s)} : Ways{}, 1.0f)
      .evidence = engine::EvidenceKind::step;
  const double chips = q.value_or(Q::chips_used, 0);
  Ways run_of;
  if (runs && q[Q::run_days])
    run_of = compact && q[Q::run_cost]
                 ? Ways{value_of(ctx, Q::run_cost)}
                 : ways_on_chips(ctx, "ui.verdict.run_of", chips,
                                 format_si(ctx.session.scenario().workload.train_tokens, "", {.trim_zeros = true}));
  add("verdict.run", ways(ctx, "ui.verdict.run"), Q::run_days, std::move(run_of), 1.0f);
  if (compact) return;
  const auto price = q[Q::price];
  add("verdict.cost", ways(ctx, "ui.verdict.cost"), Q::run_cost,
      price ? ways_on_chips(ctx, "ui.verdict.price_of", chips, format_fixed(*price, 2))
            : ways(ctx, "ui.verdict.no_price"),
      0.86f);
}

// What matters of serving: what a user waits for, what the chips give, how many sequences there is room for, the
// price.
void serving_facts(const PanelContext& ctx, std::vector<Fact>& all) {
  const engine::Report& report = ctx.session.report();
  const auto& q = report.quantities;
  const auto add = [&](std::string_view id, std::string_view key, Q quantity, Ways below, float share) -> Fact& {
    return all.emplace_back(
        Fact{id, ways(ctx, key), {value_of(ctx, quantity)}, std::move(below), {}, quantity, share});
  };
  add("verdict.ttft", "ui.verdict.ttft", Q::ttft,
      q[Q::fresh_tokens] ? ways(ctx, "ui.verdict.ttft.prompt", {format_count(std::round(*q[Q::fresh_tokens]))})
                         : Ways{},
      1.0f);
  const bool drafts = ctx.session.scenario().serving.draft_tokens > 0;
  // As the plan runs; the time of decoding alone stands below where prefills make it longer.
  const bool mixed = q.value_or(Q::mixed_token_time_q, 0) > q.value_or(Q::time_per_output_token, 0);
  add("verdict.token", "ui.verdict.token", Q::mixed_token_time_q,
      mixed    ? ways(ctx, "ui.verdict.token.alone", {value_of(ctx, Q::time_per_output_token)})
      : drafts ? ways(ctx, "ui.verdict.token.drafts",
                      {value_of(ctx, Q::decode_step), value_of(ctx, Q::accepted_per_step, {.unit = false})})
               : ways(ctx, "ui.verdict.token.batch", {format_count(std::round(q.value_or(Q::steady_batch, 0)))}),
      1.0f)
      .evidence = engine::EvidenceKind::decode;
  add("verdict.tokens", "ui.verdict.tokens", Q::sustained_tokens,
      ways(ctx, "ui.verdict.per_chip", {value_of(ctx, Q::sustained_tokens_per_chip)}), 1.12f);
  Fact& most = add("verdict.max_batch", "ui.verdict.max_batch", Q::max_batch, {}, 0.9f);
  if (const auto v = q[Q::max_batch]; v && !report.has_errors()) {
    most.value = {format_count(*v)};
    const int slots = ctx.session.scenario().workload.batch;
    const double in_flight = std::round(q.value_or(Q::steady_batch, slots));
    most.below = in_flight < slots
                     ? ways(ctx, "ui.verdict.max_batch.in_flight", {format_count(slots), format_count(in_flight)})
                     : ways(ctx, "ui.verdict.max_batch.now", {format_count(slots)});
  }
  add("verdict.cost", "ui.verdict.million", Q::sustained_cost,
      q[Q::price] ? ways(ctx, "ui.verdict.price", {format_fixed(*q[Q::price], 2)}) : ways(ctx, "ui.verdict.no_price"),
      0.96f);
}

std::vector<Fact> facts(const PanelContext& ctx, bool compact) {
  std::vector<Fact> all;
  all.push_back(memory_fact(ctx));
  all.push_back(bound_fact(ctx));
  const bool serving = ctx.session.scenario().serves();
  if (serving)
    serving_facts(ctx, all);
  else
    training_facts(ctx, compact, all);
  const engine::Report& report_now = ctx.session.report();
  if (ctx.baseline != nullptr && ctx.baseline->scenario.serves() == serving)
    for (Fact& f : all) {
      if (f.id == "verdict.bound") {
        const engine::Report& before = ctx.baseline->report;
        const std::string was =
            before.has_errors() ? std::string(ctx.text("ui.verdict.impossible")) : bound_words(before, ctx.ui.texts);
        f.below = was == bound_words(report_now, ctx.ui.texts) ? ways(ctx, "ui.pin.same")
                                                               : ways(ctx, "ui.pin.was_only", {was});
      } else if (const std::string change = change_from_baseline(ctx, f.quantity); !change.empty()) {
        f.below = {change};
      }
    }
  return all;
}

// The parts of the step, end to end. Only the present step (`id` "step_bar") opens derivations.
void step_bar(PanelContext& ctx, const Rect& bar, const engine::Scenario& scenario, const engine::Report& report,
              std::string_view bar_id, bool words) {
  const auto& q = report.quantities;
  const auto total = q[total_of(scenario)];
  const Theme& t = ctx.ui.theme;
  ctx.ui.canvas.rect(bar, {.colour = t.ctl});
  if (!total || *total <= 0 || report.has_errors()) return;
  const bool present = &report == &ctx.session.report();
  double done = 0;
  struct Label {
    std::string text;
    Rect part;
    double value = 0;
  };
  std::vector<Label> labels;
  for (const Q part : parts_of(scenario)) {
    const double value = q.value_or(part, 0);
    if (value <= 0) continue;
    const float x0 = bar.x + static_cast<float>(done / *total) * bar.w;
    done += value;
    const float x1 = std::min(bar.right(), bar.x + static_cast<float>(done / *total) * bar.w);
    const Rect r = rect_between(x0, bar.y, std::max(x0, x1 - (x1 - x0 > ctx.px(4) ? ctx.px(1) : 0)), bar.bottom());
    const Fill fill = look_of(t, part, scenario, q, ctx.ui.em());
    ctx.ui.canvas.rect(r, fill);
    if (part == Q::step_bubble) ctx.ui.canvas.frame(r, {t.bub, std::max(1.0f, ctx.px(1)), {}});
    const std::string id = std::string(bar_id) + "." + std::string(engine::quantity(part).id);
    const Rect target =
        rect_between(r.x, r.y - ctx.px(2), std::max(r.right(), r.x + ctx.px(3)), r.bottom() + ctx.px(2));
    const ItemState s = ctx.ui.item(id, target, Interaction::Focus::none);
    const std::string name = quantity_label(ctx.ui.texts, part);
    if (s.hovered) ctx.next_hovered.part = part;
    if (ctx.hovered.part == part && !s.hovered) ctx.ui.canvas.frame(r, {t.ink, ctx.px(1.5f), {}});
    if (s.hovered) {
      if (present) ctx.ui.io.set_cursor(Cursor::hand);
      Readout tip{name + " " + format_duration(value), {}};
      tip.rows.emplace_back(ctx.text("ui.tip.share_of_step"), format_share(value / *total));
      tip.rows.emplace_back(ctx.text("ui.tip.quantity"), std::string(engine::quantity(part).id));
      ctx.ui.io.hint(id, target, tip, {}, 0.08);
      ctx.ui.canvas.frame(r, {t.ink, ctx.px(1.5f), {}});
    }
    if (s.clicked && present) ctx.requests.explain(engine::quantity(part).id);
    if (words && value / *total >= 0.02)
      labels.push_back(
          {ctx.format("ui.step.part", {name, format_duration(value), format_share(value / *total)}), r, value});
  }
  // The largest parts are named first; a smaller one only where its words stand at its own place.
  std::stable_sort(labels.begin(), labels.end(), [](const Label& a, const Label& b) { return a.value > b.value; });
  const TextStyle small = ctx.style(t.ink2, kSmallText);
  std::vector<std::pair<float, float>> taken;
  for (const Label& label : labels) {
    const float width = ctx.ui.canvas.text_width(label.text, small), gap = ctx.px(14);
    float x = std::min(label.part.x, bar.right() - width);
    // Pushed right of what is in the way, as far as its own part goes.
    for (const auto& other : taken)
      if (x < other.second + gap && x + width + gap > other.first && other.second + gap <= label.part.right() - width)
        x = std::max(x, other.second + gap);
    const bool free = std::none_of(taken.begin(), taken.end(), [&](const auto& other) {
      return x < other.second + gap && x + width + gap > other.first;
    });
    if (!free || x < bar.x) continue;
    ctx.ui.canvas.text({x, bar.bottom() + ctx.px(13)}, label.text, small);
    taken.emplace_back(x, x + width);
  }
}

// The present step over that of the baseline, on one scale.
void compared_bars(PanelContext& ctx, const Rect& area) {
  const Theme& t = ctx.ui.theme;
  const engine::Report &now = ctx.session.report(), &before = ctx.baseline->report;
  const TextStyle bold = ctx.style(t.ink, kSmallText, Weight::bold), small = ctx.style(t.ink2, kSmallText);
  const std::string first(ctx.text("ui.pin.now")), second(ctx.text("ui.pin.baseline"));
  const float label =
      std::max(ctx.ui.canvas.text_width(first, bold), ctx.ui.canvas.text_width(second, small)) + ctx.px(12);
  const Q total = total_of(ctx.session.scenario());
  const double a = now.has_errors() ? 0 : now.quantities.value_or(total, 0),
               b = before.has_errors() ? 0 : before.quantities.value_or(total, 0);
  const double longest = std::max({a, b, 1e-300});
  const float h = std::round(ctx.px(11)), room = area.w - label;
  const auto row = [&](float y, std::string_view name, const TextStyle& style, double seconds) {
    ctx.ui.canvas.text({area.x, y + h / 2}, name, style);
    return Rect{area.x + label, y, std::max(ctx.px(2), room * static_cast<float>(seconds / longest)), h};
  };
  const Rect upper = row(std::round(area.y), first, bold, a),
             lower = row(std::round(area.y + ctx.px(17)), second, small, b);
  step_bar(ctx, upper, ctx.session.scenario(), now, "step_bar", false);
  step_bar(ctx, lower, ctx.baseline->scenario, before, "baseline_bar", false);
  if (a <= 0 || b <= 0) return;
  const Rect& shorter = a < b ? upper : lower;
  const std::string words = ctx.format(a < b ? "ui.pin.saved" : "ui.pin.lost", {format_duration(std::abs(a - b))});
  const float width = ctx.ui.canvas.text_width(words, small);
  if (a == b || shorter.right() + ctx.px(10) + width > area.right()) return;
  const float x = std::round(shorter.right() + ctx.px(1));
  ctx.ui.canvas.line({x, upper.y - ctx.px(3)}, {x, lower.bottom() + ctx.px(3)},
                     {t.ink, std::max(1.0f, ctx.px(1)), {}});
  ctx.ui.canvas.text({x + ctx.px(8), shorter.centre().y}, words, small);
}

struct Fitted {
  std::string text;
  TextStyle style;
  bool shortened = false;
};

// The first of the ways that has room at one of the sizes, which are tried first; nothing where none has.
Fitted fitted(const PanelContext& ctx, const Ways& said, TextStyle style, std::span<const float> sizes, float room) {
  for (std::size_t i = 0; i < said.size(); ++i)
    for (const float size : sizes) {
      style.em = size * ctx.ui.em();
      if (ctx.ui.canvas.text_width(said[i], style) <= room) return {said[i], style, i > 0};
    }
  return {{}, style, !said.empty()};
}

// A line of small print in one of its ways; pointed at, all that it had no room for.
void small_print(PanelContext& ctx, const std::string& id, Point at, const Ways& said, float room) {
  constexpr std::array kUsual{kSmallText};
  constexpr std::array kSmaller{0.9f * kSmallText, 0.8f * kSmallText};
  const TextStyle style = ctx.style(ctx.ui.theme.ink2, kSmallText);
  Fitted line = fitted(ctx, said, style, kUsual, room);
  if (line.text.empty()) line = fitted(ctx, said, style, kSmaller, room);
  ctx.ui.canvas.text(at, line.text, line.style);
  if (!line.shortened) return;
  const Rect r{at.x, at.y - ctx.px(9), room, ctx.px(18)};
  if (ctx.ui.item(id, r, Interaction::Focus::none).hovered) ctx.ui.io.hint(id, r, {said.front(), {}});
}

}  // namespace

engine::Scenario verdict_bar(PanelContext& ctx, const Rect& r, engine::Scenario scenario) {
  const Theme& t = ctx.ui.theme;
  const bool compact = ctx.in_sight.compact;
  ctx.ui.canvas.rect(r, {.colour = t.win});
  const float pad = std::round(ctx.px(18));
  const auto clip = ctx.ui.canvas.clip(r);
  std::vector<Fact> all = facts(ctx, compact);
  // Where there is no room for all, the last are left out.
  constexpr std::size_t kFewest = 3;
  while (all.size() > kFewest && r.w / static_cast<float>(all.size()) < ctx.px(kLeastFact)) all.pop_back();
  float shares = 0;
  for (const Fact& f : all) shares += f.share;
  float x = r.x + pad;
  const float width = r.w - 2 * pad;
  const float label_y = r.y + ctx.px(compact ? 14 : 17), value_y = r.y + ctx.px(compact ? 36 : 42),
              below_y = r.y + ctx.px(compact ? 58 : 68);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Fact& f = all[i];
    const float w = width * f.share / shares, room = w - ctx.px(20);
    if (i > 0) vertical_separator(ctx, x - ctx.px(12), r.y + ctx.px(12), below_y + ctx.px(8));
    small_print(ctx, std::string(f.id) + ".label", {x, label_y}, f.label, room);
    float vx = x;
    if (f.mark) {
      draw_mark(ctx.ui.canvas, t, {x + ctx.px(9), value_y}, ctx.px(17), *f.mark);
      vx += ctx.px(26);
    }
    constexpr std::array kLarge{1.6f, 1.25f, 1.0f, 0.85f, 0.7f};
    const Fitted value = fitted(ctx, f.value, ctx.style(t.ink, 1, Weight::bold),
                                std::span(kLarge).subspan(compact ? 1 : 0), room - (vx - x));
    quantity_text(ctx, f.id, {vx, value_y}, value.text, value.style, f.quantity);
    if (const auto v = ctx.session.report().quantities[f.quantity]; f.evidence && v) {
      const BandedValue banded{std::string(f.id) + ".band", *f.evidence, *v, engine::quantity(f.quantity).unit,
                               f.quantity == Q::mfu};
      const float after = vx + ctx.ui.canvas.text_width(value.text, value.style) + ctx.px(10);
      // MFU says below in words what its band is of, or that there is none.
      const engine::ErrorBand* band = band_of(ctx, *f.evidence);
      const bool said_below =
          f.quantity == Q::mfu && ctx.baseline == nullptr && (band == nullptr || !band->validated());
      if (!said_below) draw_error_band(ctx, {after, value_y}, x + room - after, banded);
      if (f.quantity == Q::mfu && ctx.baseline == nullptr)
        band_item(ctx, {x, below_y - ctx.px(9), room, ctx.px(18)},
                  {std::string(f.id) + ".validated", *f.evidence, *v, banded.unit, true});
    }
    // Memory is that of the fullest stage, the bound is a part of the step: they light up where they are drawn.
    if (ctx.ui.io.rested(f.id) >= 0) {
      if (f.id == "verdict.memory" && ctx.session.report().stages.size() > 1)
        ctx.next_hovered.stage = ctx.session.report().fullest_stage;
      if (is_step_part(f.quantity)) ctx.next_hovered.part = f.quantity;
    }
    small_print(ctx, std::string(f.id) + ".below", {x, below_y}, f.below, room);
    x += w;
  }
  const float bar_h = std::round(ctx.px(12));
  const float bar_y = std::round(r.y + ctx.px(compact ? 76 : 86));
  if (ctx.baseline != nullptr && ctx.baseline->scenario.serves() == scenario.serves())
    compared_bars(ctx, {r.x + pad, bar_y + ctx.px(2), width, ctx.px(30)});
  else
    step_bar(ctx, {r.x + pad, bar_y, width, bar_h}, ctx.session.scenario(), ctx.session.report(), "step_bar",
             !compact);
  separator(ctx, r.x, r.right(), r.bottom() - 1);
  return scenario;
}

}  // namespace roofscape::app
