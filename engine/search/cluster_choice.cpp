#include "engine/search/cluster_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/missing_figures.h"
#include "engine/scenario/cluster_of_chips.h"
#include "engine/scenario/mesh_size.h"
#include "engine/search/decoding_plan.h"
#include "engine/search/plan.h"
#include "engine/search/search.h"
#include "engine/search/serving_search.h"
#include "engine/training/run.h"

namespace roofscape::engine {
namespace {

// What is not known stands behind all that is.
double known_or_last(double x) { return std::isnan(x) ? std::numeric_limits<double>::infinity() : x; }

double score_of(const ClusterAnswer& answer, ClusterObjective objective) {
  switch (objective) {
    case ClusterObjective::cost:
      return known_or_last(answer.cost_usd);
    case ClusterObjective::time:
      return known_or_last(answer.time_s);
    case ClusterObjective::chips:
      return static_cast<double>(answer.chips);
    case ClusterObjective::energy:
      break;
  }
  return known_or_last(answer.energy_kwh);
}

ClusterVerdict verdict_of(const ClusterAnswer& answer, const ClusterRequest& request) {
  if (request.most_run_days > 0 && !(days_of(answer.time_s) <= request.most_run_days))
    return ClusterVerdict::too_long;
  if (request.most_cost_usd > 0 && std::isnan(answer.cost_usd)) return ClusterVerdict::no_price;
  if (request.most_cost_usd > 0 && answer.cost_usd > request.most_cost_usd) return ClusterVerdict::too_expensive;
  return ClusterVerdict::meets;
}

// The scenario with a plan that needs what any plan of several chips does: of a figure that it lacks most others are
// without a time, too.
Scenario spread_out(Scenario scenario) {
  if (scenario.serves()) {
    const int chips = std::max(1, decoding_chips(scenario));
    DecodingPlan plan = decoding_plan_of(scenario);
    plan.expert = plan.pipeline = 1;
    plan.tensor = std::gcd(chips, std::max(1, scenario.model.n_heads));
    plan.data = chips / plan.tensor;
    apply(scenario, plan);
  } else {
    Plan plan = bare_plan(scenario);
    plan.schedule = scenario.pipeline.schedule;
    plan.fsdp = std::min(shared_chips(scenario.cluster), kMostDataDegree);
    apply(scenario, plan);
  }
  return scenario;
}

// Whether some plans have no time for want of a figure of the chip.
bool lacks_figure(const ClusterAnswer&, const SearchResult& found) {
  return !found.finished || found.rejected[static_cast<std::size_t>(Rejection::rate)] > 0;
}
bool lacks_figure(const ClusterAnswer& answer, const ServingSearchResult& found) {
  return !found.finished || !answer.missing.empty();
}

// Applies the best plan; false: there is none, and the verdict says why.
template <class Result>
bool take_best(const Result& result, ClusterAnswer& answer) {
  if (!result.best.empty()) {
    apply(answer.scenario, result.best.front().plan);
    return true;
  }
  answer.missing = missing_figures(spread_out(answer.scenario));
  answer.verdict = ClusterVerdict::no_figure;
  if (!lacks_figure(answer, result)) {
    answer.verdict = ClusterVerdict::none_fits;
    answer.missing.clear();
  }
  return false;
}

bool is_calibrated(const Scenario& scenario) {
  return scenario.assumptions.mode != Mode::calibrated || !scenario.cluster.chip.calibration.source.empty();
}

void fill_numbers(const Report& report, ClusterAnswer& answer) {
  const auto value = [&](Q q) { return report.quantities.value_or(q, ClusterAnswer::kUnknown); };
  answer.used_chips = value(Q::chips_used);
  answer.memory_bytes = value(Q::memory_total);
  answer.capacity_bytes = value(Q::hbm_capacity);
  if (answer.scenario.serves()) {
    answer.time_s = value(Q::mixed_token_time_q);
    answer.ttft_s = value(Q::ttft);
    answer.tokens_per_s = value(Q::sustained_tokens);
    answer.cost_usd = value(Q::sustained_cost);
    return;
  }
  answer.time_s = value(Q::run_time);
  answer.step_time_s = value(Q::step_time);
  answer.mfu = value(Q::mfu);
  answer.tokens_per_s = value(Q::tokens_per_s);
  answer.cost_usd = value(Q::run_cost);
  answer.energy_kwh = value(Q::run_energy);
}

}  // namespace

std::vector<NamedCluster> clusters_around(const Cluster& cluster, std::string_view chip) {
  std::vector<NamedCluster> out;
  const auto chips = static_cast<double>(chip_count(cluster));
  for (const double share : {0.25, 0.5, 1.0, 2.0, 4.0}) {
    const double wanted = share * chips;
    if (wanted < 1 || wanted != std::floor(wanted) || wanted > kMostClusterChips) continue;
    const std::string name = fmt::format("{}:{:.0f}", chip, wanted);
    if (share == 1)
      out.push_back({name, cluster});
    else if (auto other = cluster_of(cluster.chip, static_cast<int>(wanted), cluster.node_size, cluster.slices))
      out.push_back({name, *std::move(other)});
  }
  return out;
}

Scenario moved_to(Scenario scenario, const ClusterAnswer& answer) {
  scenario.cluster = answer.scenario.cluster;
  if (!answer.runs) return scenario;
  if (scenario.serves())
    apply(scenario, decoding_plan_of(answer.scenario));
  else
    apply(scenario, plan_of(answer.scenario));
  return scenario;
}

ClusterAnswer best_on(const Scenario& scenario, const NamedCluster& on, ClusterObjective objective,
                      SearchProgress* progress, std::size_t workers, const SearchWorkers& run) {
  ClusterAnswer answer;
  answer.name = on.name;
  answer.scenario = scenario;
  answer.scenario.cluster = on.cluster;
  answer.chips = chip_count(on.cluster);
  answer.is_calibrated = is_calibrated(answer.scenario);
  if (scenario.serves()) {
    ServingRequest asked = serving_request_of(answer.scenario);
    asked.limit = 1;
    if (objective == ClusterObjective::time) asked.objective = ServingObjective::token_time;
    answer.runs = take_best(search_serving(answer.scenario, asked, progress, run), answer);
  } else {
    SearchRequest asked;
    asked.space = space_of(answer.scenario);
    asked.limit = 1;
    answer.runs = take_best(search(answer.scenario, asked, progress, workers, run), answer);
  }
  if (answer.runs) fill_numbers(evaluate(answer.scenario), answer);
  return answer;
}

ClusterAnswer answer_of(std::string name, const Scenario& scenario, const Report& report) {
  ClusterAnswer answer;
  answer.name = std::move(name);
  answer.scenario = scenario;
  answer.chips = chip_count(scenario.cluster);
  answer.is_calibrated = is_calibrated(scenario);
  answer.runs = !report.has_errors();
  if (answer.runs) fill_numbers(report, answer);
  return answer;
}

std::optional<ClusterAnswer> present_answer(std::string name, const Scenario& scenario, const Report& report,
                                            const ClusterRequest& request) {
  ClusterAnswer answer = answer_of(std::move(name), scenario, report);
  if (!answer.runs) return std::nullopt;
  answer.verdict = verdict_of(answer, request);
  return answer;
}

void rank(std::vector<ClusterAnswer>& answers, const ClusterRequest& request) {
  for (ClusterAnswer& answer : answers)
    if (answer.runs) answer.verdict = verdict_of(answer, request);
  const auto key = [&](const ClusterAnswer& answer) {
    return std::tuple(answer.verdict, score_of(answer, request.objective),
                      request.objective == ClusterObjective::chips ? known_or_last(answer.cost_usd) : 0.0,
                      known_or_last(answer.time_s), answer.chips);
  };
  std::stable_sort(answers.begin(), answers.end(),
                   [&](const ClusterAnswer& a, const ClusterAnswer& b) { return key(a) < key(b); });
}

std::vector<ClusterAnswer> choose_cluster(const Scenario& scenario, std::span<const NamedCluster> clusters,
                                          const ClusterRequest& request, SearchProgress* progress,
                                          std::size_t workers, const SearchWorkers& run) {
  std::vector<ClusterAnswer> answers;
  for (const NamedCluster& one : clusters) {
    if (progress != nullptr) progress->done = 0, progress->total = 0;
    ClusterAnswer answer = best_on(scenario, one, request.objective, progress, workers, run);
    if (progress != nullptr && progress->stop) return {};
    answers.push_back(std::move(answer));
  }
  rank(answers, request);
  return answers;
}

}  // namespace roofscape::engine
