// roofscape-cli search: the best plans of a scenario's space, with what was rejected and why.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/measured_pairs.h"
#include "app/cli/output.h"
#include "app/cli/scenario_input.h"
#include "app/cli/search_watch.h"
#include "app/cli/workers.h"
#include "app/core/report_text.h"
#include "app/core/strings.h"
#include "app/core/text_columns.h"
#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/offers.h"
#include "engine/evidence/evidence_points.h"
#include "engine/io/export/search_json.h"
#include "engine/io/presets/evidence_files.h"
#include "engine/search/slow_end.h"
#include "engine/studies/evidence.h"
#include "engine/studies/robust_search.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/evidence_text.h"
#include "widgets/figures/search/close_words.h"
#include "widgets/figures/search/figure_search_parts.h"
#include "widgets/figures/search/plan_table.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app::cli {

using engine::say;

namespace {

using engine::ConstraintKind;

struct SearchOptions {
  ScenarioInput input;
  int limit = 10;
  std::string objective;                            // empty: step time, or throughput where the scenario serves
  std::vector<std::string> pin, at_least, at_most;  // dimension=value
  double min_free = 0;
  bool every = false;                        // plans that differ in nothing that counts are listed too
  double most_token_s = 0, most_ttft_s = 0;  // of serving plans
  bool across_nodes = false;
  bool slow_end = false;
  std::string runs_on;  // id of a launcher or server; empty: any plan
  bool json = false, csv = false;
};

void add_options(OptionList& list, SearchOptions& options) {
  list.scenario(options.input.scenario);
  list.whole_number("--limit", options.limit, "cli.search.limit", 1, 10000);
  list.option("--objective", options.objective, "cli.search.objective");
  list.repeated("--pin", options.pin, "cli.search.pin");
  list.repeated("--min", options.at_least, "cli.search.min");
  list.repeated("--max", options.at_most, "cli.search.max");
  list.number("--min-free", options.min_free, "cli.search.min_free", engine::unit::fraction, 0.0, 0.99);
  list.flag("--slow-end", options.slow_end, "cli.search.slow_end");
  list.flag("--every", options.every, "cli.search.every");
  list.positive_number("--max-token-time", options.most_token_s, "cli.search.max_token_time", engine::unit::seconds);
  list.positive_number("--max-ttft", options.most_ttft_s, "cli.search.max_ttft", engine::unit::seconds);
  list.flag("--tensor-across-nodes", options.across_nodes, "cli.search.across_nodes");
  list.option("--runs-on", options.runs_on, "cli.search.runs_on");
  list.json(options.json);
  list.flag("--csv", options.csv, "cli.search.csv");
  add_edits(list, options.input);
}

// Reads --objective as one of these ids; nothing, and a complaint, if it is none.
template <class Objective>
std::optional<Objective> objective_of(const Context& context, const SearchOptions& options,
                                      const engine::EnumTable<Objective>& ids) {
  if (options.objective.empty()) return static_cast<Objective>(0);
  if (const auto found = ids.parse(options.objective)) return found;
  complain(context.texts, {"--objective",
                           {},
                           say("error.cli.search.objective", io::in_quotes(options.objective)),
                           say("error.there_are", io::listed(ids.ids()))});
  return std::nullopt;
}

// Puts --pin, --min and --max into `into`, a space of plans; complains about the first that cannot be.
template <class Space>
bool constrain_all(const Context& context, const SearchOptions& options, Space& into) {
  const auto constrain = [&](const char* option, const std::vector<std::string>& list, ConstraintKind kind) {
    std::map<std::string_view, std::string_view> said;
    for (const std::string& text : list) {
      const std::size_t equals = text.find('=');
      if (equals == std::string::npos) {
        complain(
            context.texts,
            {option, {}, say("error.cli.search.equals", io::in_quotes(text)), say("error.cli.search.equals.remedy")});
        return false;
      }
      const std::string_view name = std::string_view(text).substr(0, equals);
      if (const auto [earlier, is_new] = said.emplace(name, text); !is_new && earlier->second != text) {
        complain(context.texts, {option,
                                 {},
                                 say("error.cli.search.twice", io::in_quotes(earlier->second), io::in_quotes(text)),
                                 kind == ConstraintKind::pinned ? say("error.cli.search.twice.list")
                                                                : say("error.cli.search.twice.remedy")});
        return false;
      }
      if (const auto error = engine::constrain(into, std::string_view(text).substr(0, equals),
                                               std::string_view(text).substr(equals + 1), kind)) {
        complain(context.texts, {option, {}, error->message, error->remedy});
        return false;
      }
    }
    return true;
  };
  return constrain("--pin", options.pin, ConstraintKind::pinned) &&
         constrain("--min", options.at_least, ConstraintKind::at_least) &&
         constrain("--max", options.at_most, ConstraintKind::at_most);
}

// Reads --runs-on into `into`; complains where it is no launcher or server.
bool limit_to_framework(const Context& context, const SearchOptions& options,
                        std::optional<engine::Framework>& into) {
  if (options.runs_on.empty()) return true;
  into = engine::kFrameworkIds.parse(options.runs_on);
  if (!into)
    complain(context.texts, {"--runs-on",
                             {},
                             say("error.not_known", io::in_quotes(options.runs_on)),
                             say("error.there_are", io::listed(engine::kFrameworkIds.ids()))});
  return into.has_value();
}

// A table is read by people; files have every plan.
bool merges(const SearchOptions& options) { return !options.every && !options.json && !options.csv; }

// Constraints and objective from the options; complains about the first that cannot be.
std::optional<engine::SearchRequest> request_of(const Context& context, const SearchOptions& options,
                                                const engine::Scenario& scenario) {
  if (options.most_token_s > 0 || options.most_ttft_s > 0) {
    complain(context.texts, {options.most_token_s > 0 ? "--max-token-time" : "--max-ttft",
                             {},
                             say("error.cli.search.serves"),
                             say("error.cli.leave_out")});
    return std::nullopt;
  }
  engine::SearchRequest request;
  request.limit = static_cast<std::size_t>(options.limit);
  request.space = engine::space_of(scenario);
  request.space.min_free = options.min_free;
  request.space.tensor_across_nodes = options.across_nodes;
  const auto objective = objective_of<engine::Objective>(context, options, engine::kObjectiveIds);
  request.merge_alike = merges(options);
  request.cells = options.json;
  if (!objective || !constrain_all(context, options, request.space) ||
      !limit_to_framework(context, options, request.space.runs_on))
    return std::nullopt;
  request.objective = *objective;
  if (const std::size_t settings = engine::count_settings(request.space); settings > engine::kMostSettings) {
    complain(context.texts, {"--pin",
                             {},
                             say("error.search.settings", settings, engine::kMostSettings),
                             say("error.search.settings.remedy")});
    return std::nullopt;
  }
  return request;
}

// What the options promise takes the place of what the workload does.
std::optional<engine::ServingRequest> serving_request_of(const Context& context, const SearchOptions& options,
                                                         const engine::Scenario& scenario) {
  if (options.across_nodes) {
    complain(context.texts,
             {"--tensor-across-nodes", {}, say("error.cli.search.trains"), say("error.cli.search.trains.remedy")});
    return std::nullopt;
  }
  engine::ServingRequest request = engine::serving_request_of(scenario);
  request.limit = static_cast<std::size_t>(options.limit);
  request.min_free = options.min_free;
  if (options.most_token_s > 0) request.most_token_s = options.most_token_s;
  if (options.most_ttft_s > 0) request.most_ttft_s = options.most_ttft_s;
  const auto objective = objective_of<engine::ServingObjective>(context, options, engine::kServingObjectiveIds);
  request.merge_alike = merges(options);
  if (!objective || !constrain_all(context, options, request) ||
      !limit_to_framework(context, options, request.runs_on))
    return std::nullopt;
  request.objective = *objective;
  return request;
}

// Of the mode the scenario is evaluated in; nothing where there is none to tell.
std::optional<engine::Evidence> evidence_of(const Context& context, const engine::Scenario& scenario) {
  const engine::Mode mode = scenario.assumptions.mode;
  if (mode == engine::Mode::custom) return std::nullopt;
  const auto files = io::load_evidence(context.library);
  if (!files.ok()) {
    complain(context.texts, files.error());
    return std::nullopt;
  }
  return scenario.serves() ? evidence::evidence_points(files.value(), context.library, mode)
                           : evidence::evidence_with_pairs(files.value(), context.library, mode);
}

// Measurements of the scenario's mode to rank by; complains where there is nothing to rank by, or no such rank.
std::optional<engine::Evidence> slow_ends_of(const Context& context, const engine::Scenario& scenario,
                                             bool by_memory) {
  if (by_memory) {
    complain(
        context.texts,
        {"--slow-end", {}, say("error.cli.search.slow_end.memory"), say("error.cli.search.slow_end.memory.remedy")});
    return std::nullopt;
  }
  if (scenario.assumptions.mode == engine::Mode::custom) {
    complain(
        context.texts,
        {"--slow-end", {}, say("error.cli.search.slow_end.custom"), say("error.cli.search.slow_end.custom.remedy")});
    return std::nullopt;
  }
  return evidence_of(context, scenario);
}

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

std::string counts_text(const Context& context, const engine::SearchResult& result) {
  return context.texts.format("cli.search.counts", {whole(result.plans), whole(result.fit)}) + "\n" +
         reasons_text(context, result.rejected, engine::kRejectionIds);
}

// Why the present plan cannot run, and what would mend it, on one line; empty: it runs.
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
  const engine::RankedPlan &present = result.present, &best = result.best.front();
  const std::string now = texts.format(
      "cli.search.present",
      {widgets::format_duration(present.step_time_s), widgets::format(present.memory_bytes, engine::unit::bytes)});
  if (result.present_breaks) return out_text(context, now, *result.present_breaks);
  if (!engine::comparable(best, present)) return present_unlike_text(context, now);
  return "\n" + now +
         standing_text(context, engine::score_of(request.objective, present),
                       engine::score_of(request.objective, best), engine::kObjectiveIds[request.objective],
                       result.present_rank, best.slow_end_s > 0) +
         "\n";
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
                      const std::optional<engine::Evidence>& measured) {
  if (!some_fit || !measured) return std::string(context.texts.text("cli.search.none")) + "\n";
  std::string out = std::string(context.texts.text("cli.search.none_measured")) + "\n";
  const engine::ErrorBand band = engine::error_band(
      measured->points, scenario, scenario.serves() ? engine::EvidenceKind::decode : engine::EvidenceKind::step);
  if (!band.validated())
    out += context.texts.format("cli.search.unlike", {widgets::outside_text(context.texts, band, scenario)}) + "\n";
  return out;
}

// `measured`: what a list by slow ends was made with.
std::string search_text(const Context& context, const engine::Scenario& scenario,
                        const engine::SearchRequest& request, const engine::SearchResult& result,
                        std::optional<engine::Evidence> measured) {
  const bool by_slow_end = measured.has_value();
  const std::string counts = counts_text(context, result);
  if (result.best.empty())
    return counts + none_text(context, scenario, result.fit > 0, measured) +
           present_text(context, scenario, request, result);
  if (!measured) measured = evidence_of(context, scenario);
  const auto table = widgets::search::plan_table(context.texts, scenario, request.objective, result,
                                                 measured ? &*measured : nullptr);
  const std::string note = widgets::search::above_one_words(context.texts, table.rows);
  return counts + by_slow_end_text(context, by_slow_end) + plan_list_text(table, result.present_rank, context.texts) +
         (note.empty() ? note : "\n" + note + "\n") +
         (measured ? close_text(context, request, result, measured->pairs) : std::string()) +
         present_text(context, scenario, request, result) + near_miss_text(context, result);
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
  const engine::RankedDecoding &present = result.present, &best = result.best.front();
  if (lacks_memory(result.present_breaks))
    return "\n" +
           texts.format("cli.search.serving_present_full",
                        {widgets::format(result.present_missing_bytes, engine::unit::bytes),
                         widgets::quantity_label(context.texts, present.fullest_part)}) +
           "\n";
  const std::string now = texts.format(
      "cli.search.serving_present",
      {widgets::format_duration(present.token_s), widgets::format_significant(present.tokens_per_s_per_chip)});
  if (result.present_breaks) return out_text(context, now, *result.present_breaks);
  if (!engine::comparable(best, present)) return present_unlike_text(context, now);
  return "\n" + now +
         standing_text(context, engine::score_of(request.objective, present),
                       engine::score_of(request.objective, best), engine::kServingObjectiveIds[request.objective],
                       result.present_rank, best.slow_end_s > 0) +
         "\n";
}

std::string serving_text(const Context& context, const engine::Scenario& scenario,
                         const engine::ServingRequest& request, const engine::ServingSearchResult& result,
                         std::optional<engine::Evidence> measured) {
  const bool by_slow_end = measured.has_value();
  const auto& texts = context.texts;
  const std::string out = texts.format("cli.search.serving_counts", {whole(result.plans), whole(result.fit)}) + "\n" +
                          promised_text(context, request) + std::string(texts.text("cli.search.sustained")) + "\n" +
                          reasons_text(context, result.rejected, engine::kServingRejectionIds);
  if (result.best.empty())
    return out + none_text(context, scenario, result.fit > 0, measured) +
           serving_present_text(context, scenario, request, result);
  if (!measured) measured = evidence_of(context, scenario);
  const auto table =
      widgets::search::plan_table(texts, scenario, request.objective, result, measured ? &*measured : nullptr);
  return out + by_slow_end_text(context, by_slow_end) + plan_list_text(table, result.present_rank, context.texts) +
         serving_present_text(context, scenario, request, result);
}

// What is said above a list that a search was stopped at.
void say_stopped(const Context& context, const engine::SearchProgress& progress) {
  const auto total = static_cast<double>(progress.total), done = static_cast<double>(progress.done);
  complain(context.texts, {{},
                           {},
                           say("error.cli.search.stopped", whole(total > 0 ? std::floor(100 * done / total) : 0)),
                           say("error.cli.search.stopped.remedy")});
}

int search_serving(const Context& context, const SearchOptions& options, const engine::Scenario& scenario) {
  const auto request = serving_request_of(context, options, scenario);
  if (!request) return kBadInput;
  std::optional<engine::Evidence> measured;
  if (options.slow_end) {
    measured = slow_ends_of(context, scenario, request->objective == engine::ServingObjective::memory);
    if (!measured) return kBadInput;
  }
  engine::SearchProgress progress;
  engine::ServingSearchResult result;
  {
    const SearchWatch watch(context.texts, progress);
    result = measured ? engine::robust_search(scenario, *request, measured->points, &progress, run_workers)
                      : engine::search_serving(scenario, *request, &progress, run_workers);
  }
  if (!result.finished) {
    say_stopped(context, progress);
    return kHasErrors;
  }
  const int code = result.best.empty() ? kHasErrors : kGood;
  if (options.json) {
    const std::string problem = result.present_legal ? "" : present_problem(context, scenario);
    return print(context.texts, io::serving_search_json(scenario, result, problem), code);
  }
  if (options.csv) return print(context.texts, io::serving_search_csv(scenario, result), code);
  return print(context.texts, serving_text(context, scenario, *request, result, std::move(measured)), code);
}

int run(const Context& context, const SearchOptions& options) {
  const auto scenario = read_scenario(context, options.input);
  if (!scenario) return kBadInput;
  if (options.json && options.csv) return refuse_two_formats(context.texts);
  if (scenario->serves()) return search_serving(context, options, *scenario);
  const auto request = request_of(context, options, *scenario);
  if (!request) return kBadInput;
  std::optional<engine::Evidence> measured;
  if (options.slow_end) {
    measured = slow_ends_of(context, *scenario, request->objective == engine::Objective::memory);
    if (!measured) return kBadInput;
  }
  engine::SearchProgress progress;
  engine::SearchResult result;
  {
    const SearchWatch watch(context.texts, progress);
    result = measured ? engine::robust_search(*scenario, *request, measured->points, &progress, worker_count(),
                                              run_workers)
                      : engine::search(*scenario, *request, &progress, worker_count(), run_workers);
  }
  if (progress.stop) {
    say_stopped(context, progress);
    if (result.best.empty()) return kHasErrors;
  } else if (!result.finished) {
    complain(context.texts, {options.input.scenario, "cluster.chip", say("error.cli.search.chip"),
                             say("error.cli.search.chip.remedy")});
    return kHasErrors;
  }
  const int code = result.best.empty() || !result.finished ? kHasErrors : kGood;
  if (options.json) {
    const std::string problem = result.present_legal ? "" : present_problem(context, *scenario);
    const auto pairs =
        measured ? std::optional(measured->pairs) : measured_pairs(context, scenario->assumptions.mode);
    return print(context.texts,
                 io::search_json(*scenario, request->objective, result, problem, pairs ? &*pairs : nullptr), code);
  }
  if (options.csv) return print(context.texts, io::search_csv(*scenario, result), code);
  return print(context.texts, search_text(context, *scenario, *request, result, std::move(measured)), code);
}

}  // namespace

const Command search_command = command<SearchOptions, add_options, run>("search", "cli.search");

}  // namespace roofscape::app::cli
