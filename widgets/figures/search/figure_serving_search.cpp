#include "widgets/figures/search/figure_serving_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/front_picture.h"
#include "widgets/figures/common/line_chart.h"
#include "widgets/figures/training/figure_memory_parts.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::widgets::search {

using engine::DecodingPlan;
using engine::RankedDecoding;
using engine::ServingRejection;
using engine::ServingSearchResult;
using memory::bytes_text;

namespace {

constexpr std::size_t kBright = 10, kFaint = 400;  // lines of plans side by side
constexpr std::size_t kFewDots = 400;              // fewer are drawn larger
constexpr double kLimitInSight = 4;                // times the slowest plan on the front

std::size_t sample_begin(const ServingSearchResult& r) { return r.best.size() + r.front.size(); }
std::size_t present_at(const ServingSearchResult& r) { return sample_begin(r) + r.sample.size(); }

std::string rate_text(const TextTable& t, double tokens_per_s) {
  return t.amount(tokens_per_s, engine::unit::tokens_per_s);
}

const engine::ServiceLevel& promise_of(const ServingShown& shown) { return shown.scenario->workload.slo; }

FrontDot dot_of(const ToldRate& rate, const RankedDecoding& p) {
  return {p.token_s * kMsPerS, rate.of(p), p.rejected != ServingRejection::memory};
}

// The plans that fit and the present one stand inside.
void set_ends(const ServingShown& shown, FrontPicture& out) {
  const ServingSearchResult& r = *shown.result;
  const ToldRate rate = told_rate(r);
  double left = std::numeric_limits<double>::infinity(), right = 0, low = left, high = 0;
  const auto take = [&](const RankedDecoding& p) {
    const FrontDot d = dot_of(rate, p);
    if (!(d.x > 0) || !(d.y > 0)) return;
    left = std::min(left, d.x), right = std::max(right, d.x), low = std::min(low, d.y), high = std::max(high, d.y);
  };
  for (const RankedDecoding& p : r.sample)
    if (!shown.fits() || p.rejected != ServingRejection::memory) take(p);
  for (const auto* list : {&r.best, &r.front})
    for (const RankedDecoding& p : *list) take(p);
  if (r.present_legal) take(r.present);
  if (const double limit = promise_of(shown).time_per_output_token_s * kMsPerS;
      limit > left / kLimitInSight && limit < right * kLimitInSight)
    left = std::min(left, limit), right = std::max(right, limit);
  std::tie(out.x_from, out.x_to) = log_range(left, right, 4);
  std::tie(out.y_from, out.y_to) = log_range(low, high, 10);
}

std::string present_words(const FigureInput& input, const ServingSearchResult& r) {
  const TextTable& t = input.texts;
  return r.present_breaks ? t.format("figure.frontier.now.out", {broken_words(t, *r.present_breaks)})
                          : std::string(t.text("figure.frontier.now"));
}

FrontPicture picture_of(const FigureInput& input, const ServingShown& shown, const FigureView& view) {
  const TextTable& t = input.texts;
  const ServingSearchResult& r = *shown.result;
  const ToldRate rate = told_rate(r);
  const auto dot = [&rate](const RankedDecoding& p) { return dot_of(rate, p); };
  FrontPicture out;
  out.x_kind = out.y_kind = ScaleKind::log10;
  set_ends(shown, out);
  out.y_labels = TickLabels::si;
  out.x_title = t.text("figure.latency-throughput.x");
  out.y_title = t.text(rate.key(input, "figure.latency-throughput.y"));
  for (const RankedDecoding& p : r.best) out.best.push_back(dot(p));
  for (const RankedDecoding& p : r.front) out.front.push_back(dot(p));
  for (const RankedDecoding& p : r.sample) out.cloud.push_back(dot(p));
  out.falls = false;
  if (r.sample.size() < kFewDots) out.dot = 4.2f;
  out.front_end = out.x_to;
  out.tag = "frontier.plan";
  out.readout = [&input, shown](std::size_t i) {
    return decoding_readout(input, shown, decoding_at(*shown.result, i), i == present_at(*shown.result));
  };
  if (const double limit = promise_of(shown).time_per_output_token_s; limit > 0) {
    out.limit = {limit * kMsPerS, t.format("figure.latency-throughput.slo", {format_duration(limit)}),
                 input.theme.warn};
    out.front_end = std::min(out.front_end, limit * kMsPerS);
  }
  if (r.present_legal) {
    out.present = dot(r.present);
    out.present->good = !r.present_breaks;
    out.present_text = present_words(input, r);
    if (shown.fits() && !r.present_breaks)
      out.gain_text =
          t.format(rate.key(input, "figure.frontier.gain.rate"),
                   {t.difference(rate.of(shown.best()) - rate.of(r.present), engine::unit::tokens_per_s)});
  }
  if (input.baseline) {
    const engine::QuantityValues& base = input.baseline->report.quantities;
    const auto time = base[engine::Q::mixed_token_time_q], generated = base[rate.quantity()];
    if (time && generated && *time > 0 && *generated > 0) {
      out.baseline = FrontDot{*time * kMsPerS, *generated, true};
      out.x_from = std::min(out.x_from, *time * kMsPerS / 1.1), out.x_to = std::max(out.x_to, *time * kMsPerS * 1.1);
      out.y_from = std::min(out.y_from, *generated / 1.1), out.y_to = std::max(out.y_to, *generated * 1.1);
    }
  }
  if (const auto hovered = index_of(r, view.hovered_decoding)) out.hovered = dot(decoding_at(r, *hovered));
  return out;
}

}  // namespace

std::string ToldRate::key(const FigureInput& input, std::string_view stem) const {
  return together ? std::string(stem) + ".all" : chip_key(input, stem);
}

ToldRate told_rate(const ServingSearchResult& result) { return {engine::has_several_chip_counts(result)}; }

std::string ranked_by_key(engine::ServingObjective objective, const ServingSearchResult& result) {
  const std::string id(engine::kServingObjectiveIds[objective]);
  return objective == engine::ServingObjective::throughput && told_rate(result).together ? id + ".all" : id;
}

std::size_t decoding_count(const ServingSearchResult& r) { return present_at(r) + 1; }

const RankedDecoding& decoding_at(const ServingSearchResult& r, std::size_t index) {
  if (index < r.best.size()) return r.best[index];
  if (index < sample_begin(r)) return r.front[index - r.best.size()];
  return index < present_at(r) ? r.sample[index - sample_begin(r)] : r.present;
}

std::optional<std::size_t> index_of(const ServingSearchResult& r, const std::optional<DecodingPlan>& plan) {
  if (!plan) return std::nullopt;
  for (std::size_t i = 0; i < decoding_count(r); ++i)
    if (decoding_at(r, i).plan == *plan) return i;
  return std::nullopt;
}

std::optional<FoundPlan> drawn_plan(const FigureInput& input, int index) {
  if (input.search == nullptr || index < 0) return std::nullopt;
  const auto at = static_cast<std::size_t>(index);
  if (const engine::SearchResult* result = input.search->result; result != nullptr && at < plan_count(*result))
    return *plan_at(*result, at).plan;
  if (const ServingSearchResult* result = input.search->serving; result != nullptr && at < decoding_count(*result))
    return decoding_at(*result, at).plan;
  return std::nullopt;
}

std::string decoding_words(const TextTable& texts, const DecodingPlan& plan) {
  engine::Plan mesh;
  mesh.data = plan.data, mesh.tensor = plan.tensor, mesh.expert = plan.expert, mesh.pipeline = plan.pipeline;
  return texts.format("figure.search.with_batch", {plan_words(texts, mesh), format_count(plan.batch)});
}

Readout decoding_readout(const FigureInput& input, const ServingShown& shown, const RankedDecoding& p, bool present) {
  const TextTable& t = input.texts;
  Readout r;
  r.title = decoding_words(t, p.plan);
  if (present) r.title = t.format("figure.search.present", {r.title});
  const ToldRate told = told_rate(*shown.result);
  std::string rate = rate_text(t, told.of(p)), time = format_duration(p.token_s);
  if (shown.fits() && !p.rejected && !(present && shown.result->present_breaks)) {
    rate = t.format("figure.search.time_against", {rate, against_text(told.of(p), told.of(shown.best()))});
    time = t.format("figure.search.time_against", {time, against_text(p.token_s, shown.best().token_s)});
  }
  const auto promised = [&](std::string text, ServingRejection why, double limit) {
    return p.rejected == why ? t.format("figure.search.over_promise", {text, format_duration(limit)}) : text;
  };
  r.rows.emplace_back(t.text(told.key(input, "figure.latency-throughput.rate")), std::move(rate));
  if (told.together)
    r.rows.emplace_back(t.text("ui.search.column.chips"),
                        format_count(engine::decoding_chips(p.plan, *shown.scenario)));
  r.rows.emplace_back(
      t.text("figure.latency-throughput.time"),
      promised(std::move(time), ServingRejection::token_time, promise_of(shown).time_per_output_token_s));
  r.rows.emplace_back(quantity_label(t, engine::Q::ttft),
                      promised(format_duration(p.ttft_s), ServingRejection::ttft, promise_of(shown).ttft_s));
  r.rows.emplace_back(t.text("figure.search.memory"), memory_text(input, p.chip_bytes, shown.capacity_bytes));
  if (p.rejected == ServingRejection::memory)
    r.rows.emplace_back(t.text("figure.search.fullest"), quantity_label(t, p.fullest_part));
  if (p.outdone > 0) r.rows.emplace_back(t.text("figure.search.outdone"), format_count(p.outdone));
  return r;
}

std::string serving_empty_text(const FigureInput& input, const ServingShown& shown) {
  if (shown.result == nullptr) return none_yet_text(input);
  return std::string(
      input.texts.text(shown.result->finished ? "figure.search.nothing" : "figure.search.unknown_chip"));
}

FigureHead serving_head_of(const FigureInput& input, std::string_view figure) {
  const TextTable& t = input.texts;
  FigureHead head;
  head.title = t.text("figure." + std::string(figure) + ".title");
  const ServingShown shown = serving_shown_of(input);
  if (shown.result == nullptr || !shown.result->finished) return head;
  const ServingSearchResult& r = *shown.result;
  if (!shown.fits()) {
    head.takeaway = t.format(r.rejected[static_cast<std::size_t>(ServingRejection::token_time)] +
                                         r.rejected[static_cast<std::size_t>(ServingRejection::ttft)] >
                                     0
                                 ? "figure.search.takeaway.none_kept"
                                 : "figure.search.takeaway.none",
                             {say(head, beside_claim("search.plans", static_cast<double>(r.plans),
                                                     format_count(static_cast<double>(r.plans))))});
    return head;
  }
  const RankedDecoding& best = shown.best();
  const ToldRate told = told_rate(r);
  const auto rate = [&](double tokens) { return say(head, data_claim(told.column(), tokens, rate_text(t, tokens))); };
  head.brief = t.format(
      told.key(input, "figure.search.takeaway.serving.brief"),
      {rate(told.of(best)), say(head, data_claim("seconds per token", best.token_s, format_duration(best.token_s)))});
  head.takeaway = head.brief;
  const double now = told.of(r.present);
  if (r.present_breaks)
    head.takeaway = takeaway_out(input, head, *r.present_breaks);
  else if (r.present_legal)
    head.takeaway = t.format(
        "figure.search.takeaway",
        {head.brief, rate(now),
         say(head, own_claim("search.against_best", now / told.of(best) - 1, against_text(now, told.of(best))))});
  return head;
}

void draw_serving_front(Canvas& canvas, const Rect& rest, const FigureInput& input, const FigureView& view) {
  const ServingShown shown = serving_shown_of(input);
  if (!shown.priced()) return draw_empty_state(canvas, input.theme, rest, serving_empty_text(input, shown));
  draw_front(canvas, rest, input, picture_of(input, shown, view));
}

ParallelAxes serving_axes(const FigureInput& input, const ServingShown& shown, const FigureView& view) {
  const TextTable& t = input.texts;
  const ServingSearchResult& r = *shown.result;
  ParallelAxes out;
  const auto name = [&t](std::string_view id) {
    return std::string(t.text("figure.parallel-coordinates.axis." + std::string(id)));
  };
  std::vector<int DecodingPlan::*> degrees{&DecodingPlan::data, &DecodingPlan::tensor};
  std::vector<std::string_view> ids{"data", "tensor"};
  if (shown.scenario->model.is_moe()) degrees.push_back(&DecodingPlan::expert), ids.push_back("expert");
  degrees.push_back(&DecodingPlan::pipeline), ids.push_back("pipeline");
  degrees.push_back(&DecodingPlan::batch), ids.push_back("batch");
  for (const std::string_view id : ids)
    out.axes.push_back({name(id), [](double v) { return format_count(v); }, true});
  const auto duration = [](double v) { return format_duration(v); };
  out.axes.push_back({name("memory"), [](double v) { return bytes_text(v); }, false, true});
  out.axes.push_back({name("ttft"), duration, true, true});
  out.axes.push_back({name("token_time"), duration, true, true});
  out.colour_axis = out.axes.size();
  const ToldRate rate = told_rate(r);
  out.axes.push_back({std::string(t.text(rate.key(input, "figure.parallel-coordinates.axis.throughput"))),
                      [](double v) { return format_si(v, ""); }, true, true});
  out.low_is_best = false;
  const auto line_of = [&](std::size_t index) {
    const RankedDecoding& p = decoding_at(r, index);
    ParallelLine one{index, {}};
    for (const auto member : degrees) one.values.push_back(static_cast<double>(p.plan.*member));
    one.values.insert(one.values.end(), {p.chip_bytes, p.ttft_s, p.token_s, rate.of(p)});
    return one;
  };
  for (std::size_t i = 0; i < r.sample.size() && out.faint.size() < kFaint; ++i)
    if (!r.sample[i].rejected || !shown.fits()) out.faint.push_back(line_of(sample_begin(r) + i));
  for (std::size_t i = std::min(kBright, r.best.size()); i-- > 0;) out.bright.push_back(line_of(i));
  if (r.present_legal) out.present = line_of(present_at(r));
  if (const auto hovered = index_of(r, view.hovered_decoding)) out.hovered = line_of(*hovered);
  out.tag = "parallel.plan";
  out.readout = [&input, shown](std::size_t i) {
    return decoding_readout(input, shown, decoding_at(*shown.result, i), i == present_at(*shown.result));
  };
  const bool promised = promise_of(shown).time_per_output_token_s > 0 || promise_of(shown).ttft_s > 0;
  out.note = lines_note(input, out, rate.key(input, "figure.parallel-coordinates.note.best.serving"),
                        t.format(shown.fits() ? promised ? "figure.parallel-coordinates.note.keep"
                                                         : "figure.parallel-coordinates.note.fit.all"
                                 : promised   ? "figure.parallel-coordinates.note.none_keeps"
                                              : "figure.parallel-coordinates.note.none_fits",
                                 {format_count(static_cast<double>(out.faint.size()))}));
  return out;
}

std::string serving_plans_data(const FigureInput& input) {
  const ServingShown shown = serving_shown_of(input);
  const ToldRate rate = shown.result != nullptr ? told_rate(*shown.result) : ToldRate{};
  std::string out = fmt::format(
      "set\tdata\ttensor\texpert\tpipeline\tbatch\tseconds per token\tseconds to first token\ttokens per s and "
      "chip\t{}memory bytes\ttaken\n",
      rate.together ? rate.column() + "\t" : std::string());
  if (shown.result == nullptr || !shown.result->finished) return out;
  const ServingSearchResult& r = *shown.result;
  for (std::size_t i = 0; i < decoding_count(r); ++i) {
    const bool present = i == present_at(r);
    if (present && !r.present_legal) continue;
    const RankedDecoding& p = decoding_at(r, i);
    const char* set = i < r.best.size() ? "best" : i < sample_begin(r) ? "front" : present ? "present" : "sample";
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t", set, p.plan.data, p.plan.tensor, p.plan.expert,
                       p.plan.pipeline, p.plan.batch, p.token_s, p.ttft_s, p.tokens_per_s_per_chip);
    if (rate.together) out += fmt::format("{}\t", p.tokens_per_s);
    out += fmt::format("{}\t{}\n", p.chip_bytes, p.rejected ? engine::kServingRejectionIds[*p.rejected] : "yes");
  }
  return out;
}

}  // namespace roofscape::widgets::search
