#include "engine/search/search.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "engine/frameworks/rules.h"
#include "engine/search/plan_evaluation.h"
#include "engine/search/search_team.h"

namespace roofscape::engine {
namespace {

// Why no plan of a cell can run.
void give_reason(const CellCounts& counts, SearchCell& cell) {
  const auto rejected = [&counts](Rejection why) { return counts.rejected[static_cast<std::size_t>(why)]; };
  if (rejected(Rejection::state) + rejected(Rejection::memory) > 0) {
    cell.reason = rejected(Rejection::memory) > 0 ? Rejection::memory : Rejection::state;
    cell.missing_bytes = counts.missing_bytes;
    return;
  }
  const auto most = std::max_element(counts.rejected.begin(), counts.rejected.end());
  cell.reason = static_cast<Rejection>(most - counts.rejected.begin());
}

void fill_cells(const SpaceChoices& choices, const SearchWorker& found, PlanEvaluation& evaluation,
                std::vector<SearchCell>& out) {
  for (const int tensor : choices.tensors)
    for (std::size_t p = 0; p < choices.data_divisors.size(); ++p) {
      const std::size_t at = choices.cell_of(tensor, p);
      const CellCounts& counts = found.cells()[at];
      const auto& best = found.candidates().best_of_cell(at);
      if (counts.plans == 0 && !best) continue;
      SearchCell& cell = out.emplace_back();
      cell.tensor = tensor, cell.pipeline = choices.data_divisors[p];
      cell.plans = counts.plans, cell.fit = counts.fit();
      cell.rejected = counts.rejected;
      if (best)
        cell.best = evaluation.ranked(best->plan);
      else
        give_reason(counts, cell);
    }
}

// The present plan's place in the list. Its twin in the space, where some choices of it mean nothing, counts as it.
int rank_of_present(const Scenario& s, const SearchResult& result, const SearchRequest& request,
                    PlanEvaluation& evaluation) {
  const RankedPlan& present = result.present;
  if (!result.present_legal || result.present_shortage.missing_bytes > 0) return 0;
  const std::optional<Plan> plan = as_searched(s, request.space, present.plan);
  if (!plan) return 0;
  if (*plan != present.plan) {
    const RankedPlan twin = evaluation.ranked(*plan);
    if (twin.step_time_s != present.step_time_s || twin.memory_bytes != present.memory_bytes) return 0;
  }
  const Plan shape = shape_without_knobs(*plan);
  const auto found = std::find_if(result.best.begin(), result.best.end(), [&](const RankedPlan& one) {
    if (one.plan == *plan) return true;
    return request.merge_alike && one.step_time_s == present.step_time_s &&
           (request.objective != Objective::memory || one.memory_bytes == present.memory_bytes) &&
           shape_without_knobs(one.plan) == shape;
  });
  return found == result.best.end() ? 0 : static_cast<int>(found - result.best.begin()) + 1;
}

}  // namespace

double score_of(Objective objective, const RankedPlan& plan) {
  switch (objective) {
    case Objective::throughput:
      return plan.tokens_per_s_per_chip / plan.slow_scale();
    case Objective::cost:
      // Without a price an hour of a chip is the unit, as in the ranking.
      if (!std::isfinite(plan.cost_usd)) return plan.slow_scale() / plan.tokens_per_s_per_chip;
      return plan.cost_usd * plan.slow_scale();
    case Objective::memory:
      return plan.memory_bytes;
    case Objective::step_time:
      break;
  }
  return plan.slow_end_s > 0 ? plan.slow_end_s : plan.step_time_s;
}

Shortage shortage_of(const Scenario& s, const Plan& plan, double min_free) {
  Scenario other = s;
  apply(other, plan);
  return shortage_of(evaluate(other), min_free);
}

namespace {

// Of the plan that the report is of.
std::optional<BrokenConstraint> broken_constraint(const Scenario& s, const PlanSpace& space, const Report& report) {
  if (shortage_of(report, space.min_free).missing_bytes > 0)
    return BrokenConstraint{shortage_of(report, 0).missing_bytes > 0 ? BrokenConstraint::Kind::memory
                                                                     : BrokenConstraint::Kind::min_free};
  if (space.runs_on && broken_rule(*space.runs_on, s) != nullptr)
    return BrokenConstraint{BrokenConstraint::Kind::runs_on};
  if (const auto limit = broken_limit(s, space, plan_of(s)))
    return BrokenConstraint{BrokenConstraint::Kind::limit, limit};
  return std::nullopt;
}

}  // namespace

void add_cells(const std::vector<SearchCell>& others, std::vector<SearchCell>& cells) {
  const auto place = [](const SearchCell& cell) { return std::pair(cell.tensor, cell.pipeline); };
  for (const SearchCell& other : others) {
    const auto at = std::ranges::lower_bound(cells, place(other), {}, place);
    if (at == cells.end() || place(*at) != place(other)) cells.insert(at, other);
  }
}

std::vector<Plan> SearchMemory::known() const {
  std::vector<Plan> out = seeds;
  out.insert(out.end(), listed.begin(), listed.end());
  return out;
}

std::vector<Plan> plans_of(const SearchResult& result) {
  std::vector<Plan> out;
  for (const auto* list : {&result.best, &result.front})
    for (const RankedPlan& one : *list) out.push_back(one.plan);
  for (const SearchCell& cell : result.cells)
    if (cell.best) out.push_back(cell.best->plan);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void place_present(const Scenario& s, const SearchRequest& request, SearchResult& result) {
  const Report report = evaluate(s);
  result.present = ranked(plan_of(s), report);
  result.present_legal = !report.has_errors();
  result.present_shortage = shortage_of(report, request.space.min_free);
  result.present_breaks.reset();
  if (result.present_legal) result.present_breaks = broken_constraint(s, request.space, report);
  OrderSpans spans;
  PlanEvaluation evaluation(s, spans);
  result.present_rank = rank_of_present(s, result, request, evaluation);
}

namespace {

bool can_be_priced(const Scenario& s) {
  const Chip& chip = s.cluster.chip;
  return chip[peak_field(s.precision.compute)].value && chip[ChipField::hbm_bytes].value &&
         chip[ChipField::hbm_bytes_per_s].value;
}

}  // namespace

SearchResult search_known(const Scenario& s, const SearchRequest& request, SearchMemory& memory) {
  SearchResult result;
  result.extent = SearchResult::Extent::known;
  if (can_be_priced(s)) {
    std::vector<Plan> plans = memory.known();
    plans.push_back(plan_of(s));
    // Of combinations that none of the plans has there is nothing to find.
    std::vector<Plan> settings = settings_tried(s, request.space);
    settings.erase(std::remove_if(settings.begin() + 1, settings.end(),
                                  [&plans](const Plan& setting) {
                                    return std::ranges::none_of(
                                        plans, [&](const Plan& plan) { return same_settings(plan, setting); });
                                  }),
                   settings.end());
    const auto searches = setting_searches(s, request.space, settings);
    const SpaceChoices& choices = searches.front()->choices;
    result.chip_counts = choices.chip_counts;
    KnownBest known(request.cells ? choices.cell_count() : 0);
    if (memory.orders.empty()) memory.orders.resize(1);
    const auto found_with = [&](const SettingSearch& with) {
      auto worker = std::make_unique<SearchWorker>(with.scenario, request, with.choices, known, nullptr);
      worker->lend_orders(memory.orders.front());
      worker->find_among(plans);
      return worker;
    };
    const auto first = found_with(*searches.front());
    SearchWorker& all = *first;
    for (std::size_t i = 1; i < searches.size(); ++i) all.merge(*found_with(*searches[i]));
    all.finish();
    PlanEvaluation evaluation(s, memory.orders.front());
    const Candidates& found = all.candidates();
    for (const Alike& one : found.best()) result.best.push_back(evaluation.listed(one));
    for (const Candidate& one : found.front()) result.front.push_back(evaluation.ranked(one.plan));
    if (request.cells) fill_cells(choices, all, evaluation, result.cells);
    result.finished = true;
  }
  place_present(s, request, result);
  return result;
}

namespace {

// What is listed first of a cell is the best of it.
std::vector<SearchCell> listed_cells(const std::vector<RankedPlan>& best) {
  std::vector<SearchCell> out;
  for (const RankedPlan& one : best) {
    SearchCell cell;
    cell.tensor = one.plan.tensor, cell.pipeline = one.plan.pipeline;
    cell.best = one;
    add_cells({cell}, out);
  }
  return out;
}

// The list and the front alone.
SearchResult find_list(const Scenario& s, const SearchRequest& request, SearchTeam& team, SearchMemory& memory) {
  SearchRequest wanted = request;
  wanted.cells = false, wanted.sample = 0;
  SearchResult result;
  result.extent = SearchResult::Extent::listed;
  const auto found = team.find(wanted, SearchAim::list);
  if (team.stopped()) return result;
  team.fill_list(*found, result);
  if (request.cells) result.cells = listed_cells(result.best);
  memory.listed = plans_of(result);
  place_present(s, request, result);
  result.finished = true;
  return result;
}

}  // namespace

SearchResult search(const Scenario& s, const SearchRequest& request, SearchProgress* progress, std::size_t workers,
                    const SearchWorkers& run, SearchMemory* memory, const SearchListed& listed) {
  SearchResult result;
  if (!can_be_priced(s)) {
    place_present(s, request, result);
    return result;
  }
  SearchMemory of_this;
  SearchMemory& kept = memory != nullptr ? *memory : of_this;
  SearchTeam team(s, request, progress, workers, run, kept);
  if (progress != nullptr) progress->total = (listed ? 2 : 1) * team.parts();
  if (listed) {
    const SearchResult list = find_list(s, request, team, kept);
    if (!team.stopped()) listed(list);
  }

  const auto all = team.find(request, SearchAim::all);
  result.plans = result.fit = all->plans();
  result.rejected = all->rejected();
  for (const double count : result.rejected) result.fit -= count;
  team.fill_list(*all, result);
  if (team.stopped()) {
    place_present(s, request, result);
    return result;
  }
  team.fill_near_miss(*all, result);
  if (request.cells) {
    PlanEvaluation evaluation(s, kept.orders.front());
    fill_cells(team.choices(), *all, evaluation, result.cells);
  }
  team.fill_sample(*all, result);
  if (team.stopped()) {
    result.sample.clear();
    return result;
  }
  place_present(s, request, result);
  result.finished = true;
  if (memory != nullptr) memory->seeds = plans_of(result), memory->listed.clear();
  return result;
}

}  // namespace roofscape::engine
