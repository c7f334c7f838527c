#include "app/cli/search_answer.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "app/core/report_text.h"
#include "app/core/strings.h"
#include "app/core/text_columns.h"
#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/offers.h"
#include "engine/search/slow_end.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/evidence_text.h"
#include "widgets/figures/search/close_words.h"
#include "widgets/figures/search/figure_search_parts.h"
#include "widgets/figures/search/figure_serving_search.h"
#include "widgets/figures/search/plan_table.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app::cli {
namespace {

std::string whole(double x) { return fmt::format("{:.0f}", x); }

// How many plans were left out for which reason.
template <class Reason>
std::string reasons_text(const Context& context, const std::array<double, engine::kEnumCount<Reason>>& rejected,
                         const engine::EnumTable<Reason>& ids) {
  Columns reasons({true, false});
  for (std::size_t i = 0; i < rejected.size(); ++i)
    if (rejected[i] > 0)
      reasons.add(
          {whole(rejected[i]), std::string(context.texts.text("cli.search.rejected." + std::string(ids.ids()[i])))});
  return reasons.text(2) + "\n";
}

// How the present plan stands against the best, by what is ranked by.
std::string standing_text(const Context& context, double score, double best, std::string_view objective, int rank,
                          bool by_slow_end) {
  std::string by(context.texts.text("ui.search.objective." + std::string(objective)));
  if (by_slow_end) by = context.texts.format("ui.search.at_slow_end", {by});
  std::string out = context.texts.format("cli.search.standing", {widgets::search::against_text(score, best), by});
  if (rank > 0) out += context.texts.format("cli.search.rank", {std::to_string(rank)});
  return out;
}

// Of how many chips meshes were looked at; nothing where all of them have all chips.
std::string chip_counts_text(const Context& context, std::string_view key, const std::vector<int>& chip_counts) {
  const std::string fewer = widgets::search::fewer_chips(chip_counts);
  if (fewer.empty()) return fewer;
  return context.texts.format(key, {widgets::format_count(chip_counts.front()), fewer}) + "\n";
}

std::string counts_text(const Context& context, const engine::SearchResult& result) {
  return context.texts.format("cli.search.counts", {whole(result.plans), whole(result.fit)}) + "\n" +
         chip_counts_text(context, "cli.search.chip_counts", result.chip_counts) +
         reasons_text(context, result.rejected, engine::kRejectionIds);
}

std::string present_cannot_text(const Context& context, const std::string& problem) {
  return problem.empty() ? problem : "\n" + context.texts.format("cli.search.present_cannot", {problem}) + "\n";
}

// Whether the capacity itself is too little; a plan that fits may still leave less free than asked for, which is a
// constraint and no shortage.
bool lacks_memory(const std::optional<engine::BrokenConstraint>& breaks) {
  return breaks && breaks->kind == engine::BrokenConstraint::Kind::memory;
}

// The present plan's numbers, and which constraint keeps it from being compared with the best.
std::string out_text(const Context& context, const std::string& now, const engine::BrokenConstraint& broken) {
  return "\n" + now +
         context.texts.format("cli.search.present_out", {widgets::search::broken_words(context.texts, broken)}) +
         "\n";
}

// Of a list by slow ends.
std::string present_unlike_text(const Context& context, const std::string& now) {
  return "\n" + now + std::string(context.texts.text("cli.search.present_unlike")) + "\n";
}

// The present plan's numbers and how they stand against the best; `ranked_by`: the end of the key of the objective.
template <class Objective, class Result>
std::string held_against_best(const Context& context, const std::string& now, Objective objective,
                              const Result& result, const std::string& ranked_by) {
  if (result.present_breaks) return out_text(context, now, *result.present_breaks);
  const auto& best = result.best.front();
  if (!engine::comparable(best, result.present)) return present_unlike_text(context, now);
  return "\n" + now +
         standing_text(context, engine::score_of(objective, result.present), engine::score_of(objective, best),
                       ranked_by, result.present_rank, best.slow_end_s > 0) +
         "\n";
}

std::string present_text(const Context& context, const engine::Scenario& scenario,
                         const engine::SearchRequest& request, const engine::SearchResult& result) {
  const widgets::TextTable& texts = context.texts;
  if (!result.present_legal) return present_cannot_text(context, present_problem(context, scenario));
  if (result.best.empty()) return {};
  const auto& [device, part, missing] = result.present_shortage;
  if (lacks_memory(result.present_breaks))
    return "\n" +
           texts.format("cli.search.present_short",
                        {std::to_string(device), widgets::format(missing, engine::unit::bytes),
                         widgets::quantity_label(context.texts, part)}) +
           "\n";
  const engine::RankedPlan& present = result.present;
  const std::string now = texts.format(
      "cli.search.present",
      {widgets::format_duration(present.step_time_s), widgets::format(present.memory_bytes, engine::unit::bytes)});
  return held_against_best(context, now, request.objective, result,
                           std::string(engine::kObjectiveIds[request.objective]));
}

std::string near_miss_text(const Context& context, const engine::SearchResult& result) {
  if (!result.near_miss) return {};
  const auto& [plan, shortage] = *result.near_miss;
  return context.texts.format(
             "cli.search.near_miss",
             {widgets::format_duration(plan.step_time_s), widgets::search::plan_words(context.texts, plan.plan),
              std::to_string(shortage.device), widgets::format(shortage.missing_bytes, engine::unit::bytes),
              widgets::quantity_label(context.texts, shortage.part)}) +
         "\n";
}

// Whether the list's order says anything; empty where measurements do not tell.
std::string close_text(const Context& context, const engine::SearchRequest& request,
                       const engine::SearchResult& result, const engine::PairRecord& pairs) {
  const auto close = engine::close_plans(result, request.objective, pairs.margin());
  if (!close) return {};
  const std::string words = widgets::search::close_words(context.texts, *close, result.best.size(), pairs.choices);
  return words.empty() ? words : "\n" + words + "\n";
}

std::string by_slow_end_text(const Context& context, bool by_slow_end) {
  return by_slow_end ? std::string(context.texts.text("cli.search.by_slow_end")) + "\n" : std::string();
}

// Why a list is empty; of one by slow ends, what keeps the present plan from having a band.
std::string none_text(const Context& context, const engine::Scenario& scenario, bool some_fit,
                      const MeasuredBeside& measured) {
  if (!some_fit || !measured.ranks) return std::string(context.texts.text("cli.search.none")) + "\n";
  std::string out = std::string(context.texts.text("cli.search.none_measured")) + "\n";
  const engine::ErrorBand band =
      engine::error_band(measured.evidence->points, scenario,
                         scenario.serves() ? engine::EvidenceKind::decode : engine::EvidenceKind::step);
  if (!band.validated())
    out += context.texts.format("cli.search.unlike", {widgets::outside_text(context.texts, band, scenario)}) + "\n";
  return out;
}

std::string ms_text(double s) { return fmt::format("{:.3g} ms", 1e3 * s); }

// "promised: 30 ms per token, 1000 ms to the first"; nothing where nothing is.
std::string promised_text(const Context& context, const engine::ServingRequest& request) {
  std::string out;
  const auto add = [&](std::string_view key, double s) {
    if (s > 0) out += (out.empty() ? "" : ", ") + context.texts.format(key, {ms_text(s)});
  };
  add("cli.search.promised.token", request.most_token_s);
  add("cli.search.promised.ttft", request.most_ttft_s);
  return out.empty() ? out : context.texts.format("cli.search.promised", {out}) + "\n";
}

std::string serving_present_text(const Context& context, const engine::Scenario& scenario,
                                 const engine::ServingRequest& request, const engine::ServingSearchResult& result) {
  const auto& texts = context.texts;
  if (!result.present_legal) return present_cannot_text(context, present_problem(context, scenario));
  if (result.best.empty()) return {};
  const engine::RankedDecoding& present = result.present;
  if (lacks_memory(result.present_breaks))
    return "\n" +
           texts.format("cli.search.serving_present_full",
                        {widgets::format(result.present_missing_bytes, engine::unit::bytes),
                         widgets::quantity_label(context.texts, present.fullest_part)}) +
           "\n";
  const widgets::search::ToldRate rate = widgets::search::told_rate(result);
  const std::string now =
      texts.format(rate.together ? "cli.search.serving_present.all" : "cli.search.serving_present",
                   {widgets::format_duration(present.token_s), widgets::format_significant(rate.of(present))});
  return held_against_best(context, now, request.objective, result,
                           widgets::search::ranked_by_key(request.objective, result));
}

}  // namespace

std::string present_problem(const Context& context, const engine::Scenario& scenario) {
  const engine::Report report = engine::evaluate(scenario);
  if (!report.has_errors()) return {};
  for (const engine::OfferedFinding& finding : engine::offered_findings(scenario, report)) {
    const engine::Diagnostic& diagnostic = finding.diagnostic;
    if (diagnostic.severity != engine::Severity::error) continue;
    std::string out = diagnostic_text(diagnostic, context.texts);
    if (out.ends_with('.')) out.pop_back();
    const std::string offer = offer_text(finding, context.texts);
    return offer.empty() ? out : out + "; " + offer;
  }
  return {};
}

std::string search_text(const Context& context, const engine::Scenario& scenario,
                        const engine::SearchRequest& request, const engine::SearchResult& result,
                        const MeasuredBeside& measured) {
  const std::string counts = counts_text(context, result);
  if (result.best.empty())
    return counts + none_text(context, scenario, result.fit > 0, measured) +
           present_text(context, scenario, request, result);
  const auto table =
      widgets::search::plan_table(context.texts, scenario, request.objective, result, measured.evidence);
  const std::string note = widgets::search::above_one_words(context.texts, table.rows);
  return counts + by_slow_end_text(context, measured.ranks) +
         plan_list_text(table, result.present_rank, context.texts) + (note.empty() ? note : "\n" + note + "\n") +
         (measured.evidence != nullptr ? close_text(context, request, result, measured.evidence->pairs)
                                       : std::string()) +
         present_text(context, scenario, request, result) + near_miss_text(context, result);
}

std::string serving_text(const Context& context, const engine::Scenario& scenario,
                         const engine::ServingRequest& request, const engine::ServingSearchResult& result,
                         const MeasuredBeside& measured) {
  const auto& texts = context.texts;
  const std::string out = texts.format("cli.search.serving_counts", {whole(result.plans), whole(result.fit)}) + "\n" +
                          chip_counts_text(context, "cli.search.chip_counts.serving", result.chip_counts) +
                          promised_text(context, request) + std::string(texts.text("cli.search.sustained")) + "\n" +
                          reasons_text(context, result.rejected, engine::kServingRejectionIds);
  if (result.best.empty())
    return out + none_text(context, scenario, result.fit > 0, measured) +
           serving_present_text(context, scenario, request, result);
  const auto table = widgets::search::plan_table(texts, scenario, request.objective, result, measured.evidence);
  return out + by_slow_end_text(context, measured.ranks) + plan_list_text(table, result.present_rank, context.texts) +
         serving_present_text(context, scenario, request, result);
}

}  // namespace roofscape::app::cli
