#include "engine/search/search.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>

#include "engine/evaluate/evaluate.h"
#include "engine/frameworks/rules.h"
#include "engine/search/search_worker.h"

namespace roofscape::engine {
namespace {

constexpr std::size_t kManyListed = 300;  // plans whose evaluation takes longer than it takes to start threads

RankedPlan ranked(const Plan& plan, const Report& report) {
  RankedPlan out;
  out.plan = plan;
  const QuantityValues& q = report.quantities;
  out.step_time_s = q.value_or(Q::step_time, 0);
  out.memory_bytes = q.value_or(Q::memory_total, 0);
  out.mfu = q.value_or(Q::mfu, 0);
  out.tokens_per_s_per_chip = q.value_or(Q::tokens_per_s_per_chip, 0);
  out.cost_usd = q.value_or(Q::run_cost, std::numeric_limits<double>::quiet_NaN());
  if (plan.pipeline > 1) out.bubble_fraction = q.value_or(Q::pipeline_bubble_fraction, 0);
  for (std::size_t i = 0; i < kStepParts.size(); ++i) out.step_parts[i] = q.value_or(kStepParts[i], 0);
  return out;
}

Shortage shortage_of(const Report& report, double min_free) {
  Shortage out;
  const QuantityValues& q = report.quantities;
  const double missing = q.value_or(Q::memory_total, 0) - q.value_or(Q::hbm_capacity, 0) * (1 - min_free);
  if (missing <= 0) return out;
  out.missing_bytes = missing;
  out.device = report.fullest_stage;
  for (const Q part : kMemoryParts)
    if (q.value_or(part, 0) > q.value_or(out.part, 0)) out.part = part;
  return out;
}

RankedPlan with_alike(RankedPlan one, const Alike& alike) {
  one.alike = alike.count - 1;
  one.least_alike = alike.smallest;
  one.least_alike_bytes = alike.least_bytes;
  return one;
}

// Evaluates plans of a scenario, one after the other.
class PlanEvaluation {
 public:
  // `spans`: orders that somebody keeps.
  PlanEvaluation(const Scenario& s, OrderSpans& spans) : edited_(s), spans_(spans) {}
  const Report& report(const Plan& plan) {
    apply(edited_, plan);
    evaluate(edited_, scratch_, report_);
    return report_;
  }
  // Of a plan that can run.
  RankedPlan ranked(const Plan& plan) {
    apply(edited_, plan);
    evaluate_quantities(edited_, scratch_, spans_, report_);
    return engine::ranked(plan, report_);
  }
  RankedPlan listed(const Alike& alike) { return with_alike(ranked(alike.simplest.plan), alike); }

 private:
  Scenario edited_;
  OrderSpans& spans_;
  EvaluationScratch scratch_;
  Report report_;
};

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

// What is searched with one combination of settings.
struct SettingSearch {
  SettingSearch(const Scenario& s, const PlanSpace& space, const Plan& tried, const Plan& own)
      : setting(tried), scenario(with_settings_of(s, tried)), choices(scenario, space, own) {}
  SettingSearch(const SettingSearch&) = delete;
  SettingSearch& operator=(const SettingSearch&) = delete;
  ~SettingSearch() = default;

  Plan setting;
  Scenario scenario;
  SpaceChoices choices;
};

std::vector<std::unique_ptr<SettingSearch>> setting_searches(const Scenario& s, const PlanSpace& space,
                                                             const std::vector<Plan>& settings) {
  std::vector<std::unique_ptr<SettingSearch>> out;
  const Plan own = bare_plan(s);
  for (const Plan& setting : settings) out.push_back(std::make_unique<SettingSearch>(s, space, setting, own));
  return out;
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

// Plans with the same schedule and chunks together: who prices one has the orders of the others at hand.
std::vector<std::vector<Plan>> by_schedule(std::vector<Plan> plans) {
  const auto schedule = [](const Plan& plan) {
    return std::tuple(plan.pipeline, plan.schedule, plan.virtual_stages, plan.data * plan.fsdp,
                      plan.microbatch_sequences);
  };
  std::ranges::stable_sort(plans, {}, schedule);
  std::vector<std::vector<Plan>> out;
  for (const Plan& plan : plans) {
    if (out.empty() || schedule(out.back().front()) != schedule(plan)) out.emplace_back();
    out.back().push_back(plan);
  }
  return out;
}

// All workers of a search, who go through the whole space as often as they are asked.
class SearchTeam {
 public:
  SearchTeam(const Scenario& s, const SearchRequest& request, SearchProgress* progress, std::size_t workers,
             const SearchWorkers& run, SearchMemory& memory)
      : s_(s),
        request_(request),
        progress_(progress),
        size_(std::max<std::size_t>(1, workers)),
        run_(run),
        memory_(memory),
        searches_(setting_searches(s, request.space, settings_tried(s, request.space))) {
    if (memory.orders.size() < size_) memory.orders.resize(size_);
  }
  SearchTeam(const SearchTeam&) = delete;
  SearchTeam& operator=(const SearchTeam&) = delete;
  ~SearchTeam() = default;

  // Meshes and microbatches are the same whatever the settings.
  const SpaceChoices& choices() const { return searches_.front()->choices; }
  std::size_t parts() const { return choices().groups.size() * choices().microbatches.size() * searches_.size(); }
  bool stopped() const { return progress_ != nullptr && progress_->stop; }

  // What all of them have found, until they are asked again.
  std::unique_ptr<SearchWorker> find(const SearchRequest& wanted, SearchAim aim);
  void fill_list(const SearchWorker& found, SearchResult& result) const;
  void fill_near_miss(const SearchWorker& found, SearchResult& result) const;
  void fill_sample(SearchWorker& found, SearchResult& result) const;

 private:
  using Workers = std::vector<std::unique_ptr<SearchWorker>>;
  using WorkerMaker = std::function<std::unique_ptr<SearchWorker>(const SettingSearch&, std::size_t)>;
  Workers seeded(const WorkerMaker& make);
  void work_all(const std::function<void(std::size_t)>& work) const {
    if (run_) return run_(work);
    for (std::size_t i = 0; i < size_; ++i) work(i);
  }

  const Scenario& s_;
  const SearchRequest& request_;
  SearchProgress* progress_;
  std::size_t size_;
  const SearchWorkers& run_;
  SearchMemory& memory_;
  std::vector<std::unique_ptr<SettingSearch>> searches_;
  std::unique_ptr<KnownBest> known_;
};

// Workers who know what plans take that have been found before, none where there are none.
SearchTeam::Workers SearchTeam::seeded(const WorkerMaker& make) {
  const std::vector<std::vector<Plan>> seeds = by_schedule(memory_.known());
  Workers team(size_);
  if (seeds.empty()) return team;
  std::vector<std::vector<Candidate>> priced(size_);
  std::atomic<std::size_t> next{0};
  work_all([&](std::size_t i) {
    team[i] = make(*searches_.front(), i);
    for (std::size_t n = next++; n < seeds.size() && !stopped(); n = next++)
      for (const Candidate& one : team[i]->priced(seeds[n])) priced[i].push_back(one);
  });
  for (std::size_t i = 1; i < size_; ++i) priced[0].insert(priced[0].end(), priced[i].begin(), priced[i].end());
  team[0]->take_seeds(std::move(priced[0]));
  for (std::size_t i = 1; i < size_; ++i) {
    team[i]->take_known_front();
    memory_.orders[0].learn(memory_.orders[i]);
  }
  for (std::size_t i = 1; i < size_; ++i) memory_.orders[i].learn(memory_.orders[0]);
  return team;
}

std::unique_ptr<SearchWorker> SearchTeam::find(const SearchRequest& wanted, SearchAim aim) {
  known_ = std::make_unique<KnownBest>(wanted.cells ? choices().cell_count() : 0);
  const WorkerMaker worker_with = [&](const SettingSearch& with, std::size_t i) {
    auto worker = std::make_unique<SearchWorker>(with.scenario, wanted, with.choices, *known_,
                                                 progress_ != nullptr ? &progress_->stop : nullptr, aim);
    worker->lend_orders(memory_.orders[i]);
    return worker;
  };
  Workers made = seeded(worker_with);
  if (made[0] == nullptr) made[0] = worker_with(*searches_.front(), 0);
  // What is found early keeps others from being simulated.
  const std::size_t of_setting = parts() / searches_.size();
  const std::vector<std::size_t> order = made[0]->fastest_first(of_setting);
  std::atomic<std::size_t> next{0}, simulated{0};
  // Each has a worker for one combination after the other, and keeps what they find in its first.
  Workers team(size_);
  work_all([&](std::size_t i) {
    std::size_t setting = 0;
    std::unique_ptr<SearchWorker> now = std::move(made[i]);
    const auto put_away = [&] {
      if (now == nullptr) return;
      if (!stopped()) now->finish();
      simulated += now->simulated();
      if (team[i] == nullptr) {
        team[i] = std::move(now);
        return;
      }
      team[i]->merge(*now);
      if (!stopped()) team[i]->finish();
      now.reset();
    };
    for (std::size_t n = next++; n < parts() && !stopped(); n = next++) {
      if (now == nullptr || setting != n / of_setting) {
        put_away();
        setting = n / of_setting;
        now = worker_with(*searches_[setting], i);
      }
      const std::size_t part = order[n % of_setting];
      now->process(part, setting * of_setting + part);
      if (progress_ != nullptr) ++progress_->done;
    }
    put_away();
  });
  if (progress_ != nullptr) progress_->simulated += simulated;
  for (std::size_t i = 1; i < size_; ++i)
    if (team[i] != nullptr) team[0]->merge(*team[i]);
  team[0]->finish();
  return std::move(team[0]);
}

void SearchTeam::fill_list(const SearchWorker& found, SearchResult& result) const {
  const std::vector<Alike> best = found.candidates().best();
  std::vector<Plan> listed;
  for (const Alike& alike : best) listed.push_back(alike.simplest.plan);
  for (const Candidate& candidate : found.candidates().front()) listed.push_back(candidate.plan);
  std::vector<RankedPlan> evaluated(listed.size());
  const auto evaluate_share = [&](std::size_t share, std::size_t step) {
    PlanEvaluation each(s_, memory_.orders[share]);
    for (std::size_t i = share; i < listed.size(); i += step) evaluated[i] = each.ranked(listed[i]);
  };
  if (listed.size() < kManyListed)
    evaluate_share(0, 1);
  else
    work_all([&](std::size_t i) { evaluate_share(i, size_); });
  result.front.assign(evaluated.begin() + static_cast<std::ptrdiff_t>(best.size()), evaluated.end());
  evaluated.resize(best.size());
  result.best = std::move(evaluated);
  for (std::size_t i = 0; i < best.size(); ++i) result.best[i] = with_alike(result.best[i], best[i]);
}

void SearchTeam::fill_near_miss(const SearchWorker& found, SearchResult& result) const {
  const auto& missed = found.missed().best();
  if (!missed || !(missed->price.step_time_s < found.candidates().fastest_s())) return;
  PlanEvaluation evaluation(s_, memory_.orders.front());
  const Report& report = evaluation.report(missed->plan);
  result.near_miss = NearMiss{ranked(missed->plan, report), shortage_of(report, request_.space.min_free)};
}

void SearchTeam::fill_sample(SearchWorker& found, SearchResult& result) const {
  std::vector<PlanSample::Drawn>& drawn = found.sample().settle();
  work_all([&](std::size_t i) {
    std::vector<std::unique_ptr<Pricer>> pricers(searches_.size());
    for (std::size_t k = i; k < drawn.size() && !stopped(); k += size_) {
      SampledPlan& one = drawn[k].plan;
      const auto with = std::ranges::find_if(
          searches_, [&one](const auto& search) { return same_settings(search->setting, one.plan); });
      std::unique_ptr<Pricer>& pricer = pricers[static_cast<std::size_t>(with - searches_.begin())];
      if (pricer == nullptr) {
        pricer = std::make_unique<Pricer>((*with)->scenario);
        pricer->lend_orders(memory_.orders[i]);
      }
      one.step_time_s = pricer->price(one.plan, true).step_time_s;
    }
  });
  for (const PlanSample::Drawn& one : drawn) result.sample.push_back(one.plan);
}

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
