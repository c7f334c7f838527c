#include "engine/io/export/search_json.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/export/plan_json.h"
#include "engine/io/json/pretty.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/search/close_plans.h"
#include "engine/search/plan_dimensions.h"
#include "engine/search/slow_end.h"
#include "engine/search/who_runs.h"

namespace roofscape::io {
namespace {

template <std::size_t N>
OrderedJson parts_json(const std::array<engine::Q, N>& parts, const std::array<double, N>& seconds) {
  OrderedJson json;
  for (std::size_t i = 0; i < N; ++i) json[std::string(engine::quantity(parts[i]).id)] = seconds[i];
  return json;
}

template <class Reason>
OrderedJson rejected_json(const engine::EnumTable<Reason>& ids,
                          const std::array<double, engine::kEnumCount<Reason>>& counts) {
  OrderedJson json;
  for (std::size_t i = 0; i < counts.size(); ++i) json[std::string(ids.ids()[i])] = number_json(counts[i]);
  return json;
}

OrderedJson rank_json(int rank) { return rank > 0 ? OrderedJson(rank) : OrderedJson(nullptr); }

template <class Ranked>
OrderedJson list_json(const std::vector<Ranked>& list, OrderedJson (*one)(const Ranked&)) {
  OrderedJson json = OrderedJson::array();
  for (const Ranked& ranked : list) json.push_back(one(ranked));
  return json;
}

// Ids of the launchers and servers that can run a plan of the scenario.
template <class Plan>
std::vector<std::string_view> runners_of(const engine::Scenario& scenario, const Plan& plan) {
  std::vector<std::string_view> ids;
  for (const engine::Framework framework : engine::who_runs(scenario, plan).can)
    ids.push_back(engine::kFrameworkIds[framework]);
  return ids;
}
template <class Ranked>
OrderedJson best_json(const engine::Scenario& scenario, const std::vector<Ranked>& best,
                      OrderedJson (*one)(const Ranked&)) {
  OrderedJson json = list_json(best, one);
  for (std::size_t i = 0; i < best.size(); ++i) json[i]["runs_on"] = runners_of(scenario, best[i].plan);
  return json;
}

OrderedJson ranked_json(const engine::RankedPlan& ranked) {
  OrderedJson json = {{"plan", plan_json(ranked.plan)},
                      {"step_s", ranked.step_time_s},
                      {"memory_bytes", ranked.memory_bytes},
                      {"mfu", ranked.mfu},
                      {"tokens_per_s_per_chip", ranked.tokens_per_s_per_chip},
                      {"cost_usd", nullptr}};
  if (std::isfinite(ranked.cost_usd)) json["cost_usd"] = ranked.cost_usd;
  if (ranked.slow_end_s > 0) json["slow_end_s"] = ranked.slow_end_s;
  json["step_parts"] = parts_json(engine::kStepParts, ranked.step_parts);
  return json;
}

// A plan that cannot run is its fields, what it would hold where that is known, and why it cannot.
void withhold(OrderedJson& present, std::string_view problem) {
  for (auto& [key, value] : present.items())
    if (key != "plan" && !(key == "memory_bytes" && value.is_number() && value.get<double>() > 0)) value = nullptr;
  present["problem"] = problem.empty() ? OrderedJson(nullptr) : OrderedJson(std::string(problem));
}

// The constraint that keeps the present plan from counting, by name; a limit also by its dimension.
OrderedJson breaks_json(const std::optional<engine::BrokenConstraint>& breaks) {
  if (!breaks) return nullptr;
  OrderedJson json = {{"constraint", std::string(engine::kBrokenConstraintIds[breaks->kind])}};
  if (breaks->limit) json["dimension"] = std::string(breaks->limit->dimension);
  return json;
}

// Cells that no plan of runs say why.
OrderedJson cell_json(const engine::SearchCell& cell) {
  OrderedJson json = {{"tensor", cell.tensor},
                      {"pipeline", cell.pipeline},
                      {"plans", number_json(cell.plans)},
                      {"fit", number_json(cell.fit)},
                      {"best", nullptr}};
  if (cell.best) {
    json["best"] = ranked_json(*cell.best);
    return json;
  }
  json["reason"] = std::string(engine::kRejectionIds[cell.reason]);
  if (cell.missing_bytes > 0) json["missing_bytes"] = cell.missing_bytes;
  return json;
}

OrderedJson shortage_json(const engine::Shortage& shortage) {
  return {{"stage", shortage.device},
          {"part", std::string(engine::quantity(shortage.part).id)},
          {"missing_bytes", shortage.missing_bytes}};
}

// How many of the list cannot be told from its first, and by what margin; ranks count from 1.
OrderedJson close_json(const engine::SearchResult& result, engine::Objective objective,
                       const engine::PairRecord* pairs) {
  if (pairs == nullptr) return nullptr;
  const auto close = engine::close_plans(result, objective, pairs->margin());
  if (!close) return nullptr;
  OrderedJson json{{"plans", close->count},           {"whole_list", close->count == result.best.size()},
                   {"simplest", close->simplest + 1}, {"present", close->present},
                   {"margin", pairs->choices.error},  {"measured_pairs", pairs->choices.pairs}};
  json["decided_by"] = nullptr;
  if (const auto& by = close->decides)
    json["decided_by"] = {{"part", std::string(engine::quantity(by->part).id)},
                          {"least_share", by->least_share},
                          {"most_share", by->most_share},
                          {"rank", by->rival + 1},
                          {"factor", by->factor}};
  return json;
}

}  // namespace

std::string search_json(const engine::Scenario& scenario, engine::Objective objective,
                        const engine::SearchResult& result, std::string_view problem,
                        const engine::PairRecord* pairs) {
  OrderedJson json;
  json["finished"] = result.finished;
  json["chip_counts"] = result.chip_counts;
  json["plans"] = number_json(result.plans);
  json["fit"] = number_json(result.fit);
  json["rejected"] = rejected_json(engine::kRejectionIds, result.rejected);
  json["present"] = ranked_json(result.present);
  if (!result.present_legal) withhold(json["present"], problem);
  json["present"]["legal"] = result.present_legal;
  json["present"]["rank"] = rank_json(result.present_rank);
  json["present"]["breaks"] = breaks_json(result.present_breaks);
  if (result.present_shortage.missing_bytes > 0) json["present"]["shortage"] = shortage_json(result.present_shortage);
  json["near_miss"] = nullptr;
  if (result.near_miss) {
    json["near_miss"] = ranked_json(result.near_miss->plan);
    json["near_miss"]["shortage"] = shortage_json(result.near_miss->shortage);
  }
  json["best"] = best_json(scenario, result.best, ranked_json);
  json["close"] = close_json(result, objective, pairs);
  for (std::size_t i = 0; pairs != nullptr && i < result.best.size(); ++i) {
    engine::Scenario other = scenario;
    engine::apply(other, result.best[i].plan);
    json["best"][i]["measured_pairs"] = nullptr;
    if (const auto like = pairs->like(scenario, other))
      json["best"][i]["measured_pairs"] = {{"differ_in", std::string(engine::kPlanChangeIds[like->change])},
                                           {"pairs", like->pairs.apart},
                                           {"as_predicted", like->pairs.right}};
  }
  json["front"] = list_json(result.front, ranked_json);
  json["cells"] = OrderedJson::array();
  for (const engine::SearchCell& cell : result.cells) json["cells"].push_back(cell_json(cell));
  return pretty_text(json);
}

std::string search_csv(const engine::Scenario& scenario, const engine::SearchResult& result) {
  std::string out;
  for (const engine::PlanDimension& dimension : engine::plan_dimensions()) out += std::string(dimension.path) + ",";
  const bool by_slow_end = engine::by_slow_end(result.best);
  out += "step_s,memory_bytes,mfu,tokens_per_s_per_chip,cost_usd,runs_on";
  out += by_slow_end ? ",slow_end_s\n" : "\n";
  for (const engine::RankedPlan& ranked : result.best) {
    const OrderedJson plan = plan_json(ranked.plan);
    for (const OrderedJson& value : plan) out += (value.is_string() ? value.get<std::string>() : value.dump()) + ",";
    out += fmt::format("{},{},{},{},{},{}", ranked.step_time_s, ranked.memory_bytes, ranked.mfu,
                       ranked.tokens_per_s_per_chip,
                       std::isfinite(ranked.cost_usd) ? fmt::format("{}", ranked.cost_usd) : "",
                       fmt::join(runners_of(scenario, ranked.plan), " "));
    out += by_slow_end ? fmt::format(",{}\n", ranked.slow_end_s) : "\n";
  }
  return out;
}

namespace {

OrderedJson serving_plan_json(const engine::RankedDecoding& p) {
  OrderedJson json = {
      {"plan", plan_json(p.plan)},
      {"sustained_time_per_token_s", p.token_s},
      {"ttft_s", p.ttft_s},
      {"sustained_tokens_per_s", p.tokens_per_s},
      {"sustained_tokens_per_s_per_chip", p.tokens_per_s_per_chip},
      {"sustained_cost_per_million_tokens_usd", p.cost_usd ? OrderedJson(*p.cost_usd) : OrderedJson()},
      {"sequences_in_flight", p.in_flight},
      {"time_per_output_token_s", p.decode_token_s},
      {"tokens_per_s", p.decode_tokens_per_s},
      {"memory_bytes", p.chip_bytes}};
  if (p.slow_end_s > 0) json["slow_end_s"] = p.slow_end_s;
  json["step_parts"] = parts_json(engine::kDecodeParts, p.step_parts);
  return json;
}

}  // namespace

std::string serving_search_json(const engine::Scenario& scenario, const engine::ServingSearchResult& result,
                                std::string_view problem) {
  OrderedJson json;
  json["chip_counts"] = result.chip_counts;
  json["plans"] = number_json(result.plans);
  json["fit"] = number_json(result.fit);
  json["rejected"] = rejected_json(engine::kServingRejectionIds, result.rejected);
  json["present"] = serving_plan_json(result.present);
  if (!result.present_legal) withhold(json["present"], problem);
  json["present"]["legal"] = result.present_legal;
  json["present"]["fits"] = result.present_fits;
  json["present"]["rank"] = rank_json(result.present_rank);
  json["present"]["breaks"] = breaks_json(result.present_breaks);
  if (result.present_missing_bytes > 0)
    json["present"]["shortage"] = {{"part", std::string(engine::quantity(result.present.fullest_part).id)},
                                   {"missing_bytes", result.present_missing_bytes}};
  json["best"] = best_json(scenario, result.best, serving_plan_json);
  json["front"] = list_json(result.front, serving_plan_json);
  return pretty_text(json);
}

std::string serving_search_csv(const engine::Scenario& scenario, const engine::ServingSearchResult& result) {
  std::string out =
      "parallelism.data,parallelism.tensor,parallelism.expert,parallelism.pipeline,workload.batch,"
      "sustained_time_per_token_s,ttft_s,sustained_tokens_per_s,sustained_tokens_per_s_per_chip,"
      "sequences_in_flight,time_per_output_token_s,tokens_per_s,memory_bytes,runs_on";
  const bool by_slow_end = engine::by_slow_end(result.best);
  out += by_slow_end ? ",slow_end_s\n" : "\n";
  for (const engine::RankedDecoding& p : result.best) {
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}", p.plan.data, p.plan.tensor, p.plan.expert,
                       p.plan.pipeline, p.plan.batch, p.token_s, p.ttft_s, p.tokens_per_s, p.tokens_per_s_per_chip,
                       p.in_flight, p.decode_token_s, p.decode_tokens_per_s, p.chip_bytes,
                       fmt::join(runners_of(scenario, p.plan), " "));
    out += by_slow_end ? fmt::format(",{}\n", p.slow_end_s) : "\n";
  }
  return out;
}

}  // namespace roofscape::io
