// roofscape-cli search: the best plans of a scenario's space, with what was rejected and why.
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>

#include "app/cli/measured_evidence.h"
#include "app/cli/output.h"
#include "app/cli/search_answer.h"
#include "app/cli/search_options.h"
#include "app/cli/search_watch.h"
#include "app/cli/workers.h"
#include "engine/io/export/search_json.h"
#include "engine/studies/robust_search.h"

namespace roofscape::app::cli {

using engine::say;

namespace {

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
  return measured_evidence(context, scenario);
}

// What is told beside a list: the runs it is ranked by, or else, unless it is empty, those there are, read now.
MeasuredBeside beside_list(const Context& context, const engine::Scenario& scenario, bool empty,
                           std::optional<engine::Evidence>& measured) {
  const bool ranks = measured.has_value();
  if (!ranks && !empty) measured = measured_evidence(context, scenario);
  return {measured ? &*measured : nullptr, ranks};
}

// What is said above a list that a search was stopped at.
void say_stopped(const Context& context, const engine::SearchProgress& progress) {
  const auto total = static_cast<double>(progress.total), done = static_cast<double>(progress.done);
  complain(context.texts,
           {{},
            {},
            say("error.cli.search.stopped", fmt::format("{:.0f}", total > 0 ? std::floor(100 * done / total) : 0)),
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
  const MeasuredBeside beside = beside_list(context, scenario, result.best.empty(), measured);
  return print(context.texts, serving_text(context, scenario, *request, result, beside), code);
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
  const MeasuredBeside beside = beside_list(context, *scenario, result.best.empty(), measured);
  return print(context.texts, search_text(context, *scenario, *request, result, beside), code);
}

}  // namespace

const Command search_command = command<SearchOptions, add_search_options, run>("search", "cli.search");

}  // namespace roofscape::app::cli
