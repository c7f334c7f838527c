#include "engine/search/cluster_choice.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "engine/evaluate/evaluate.h"
#include "engine/scenario/mesh_size.h"
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

// Applies the best plan; false: there is none, and the verdict says why.
template <class Result>
bool take_best(const Result& result, ClusterAnswer& answer) {
  if (result.best.empty()) {
    answer.verdict = result.finished ? ClusterVerdict::none_fits : ClusterVerdict::no_figure;
    return false;
  }
  apply(answer.scenario, result.best.front().plan);
  return true;
}

void fill_numbers(const Report& report, ClusterAnswer& answer) {
  const auto value = [&](Q q) { return report.quantities.value_or(q, ClusterAnswer::kUnknown); };
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

std::vector<ClusterAnswer> choose_cluster(const Scenario& scenario, std::span<const NamedCluster> clusters,
                                          const ClusterRequest& request, SearchProgress* progress,
                                          std::size_t workers, const SearchWorkers& run) {
  std::vector<ClusterAnswer> answers;
  for (const auto& [name, cluster] : clusters) {
    if (progress != nullptr) progress->done = 0, progress->total = 0;
    ClusterAnswer answer;
    answer.name = name;
    answer.scenario = scenario;
    answer.scenario.cluster = cluster;
    answer.chips = chip_count(cluster);
    answer.is_calibrated = scenario.assumptions.mode != Mode::calibrated || !cluster.chip.calibration.source.empty();
    if (scenario.serves()) {
      ServingRequest asked = serving_request_of(answer.scenario);
      asked.limit = 1;
      if (request.objective == ClusterObjective::time) asked.objective = ServingObjective::token_time;
      answer.runs = take_best(search_serving(answer.scenario, asked, progress, run), answer);
    } else {
      SearchRequest asked;
      asked.space = space_of(answer.scenario);
      asked.limit = 1;
      answer.runs = take_best(search(answer.scenario, asked, progress, workers, run), answer);
    }
    if (progress != nullptr && progress->stop) return {};
    if (answer.runs) {
      fill_numbers(evaluate(answer.scenario), answer);
      answer.verdict = verdict_of(answer, request);
    }
    answers.push_back(std::move(answer));
  }
  const auto key = [&](const ClusterAnswer& answer) {
    return std::tuple(answer.verdict, score_of(answer, request.objective),
                      request.objective == ClusterObjective::chips ? known_or_last(answer.cost_usd) : 0.0,
                      known_or_last(answer.time_s), answer.chips);
  };
  std::stable_sort(answers.begin(), answers.end(),
                   [&](const ClusterAnswer& a, const ClusterAnswer& b) { return key(a) < key(b); });
  return answers;
}

}  // namespace roofscape::engine
