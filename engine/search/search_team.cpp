#include "engine/search/search_team.h"

#include <algorithm>
#include <atomic>
#include <tuple>
#include <utility>

#include "engine/search/plan_evaluation.h"

namespace roofscape::engine {
namespace {

constexpr std::size_t kManyListed = 300;  // plans whose evaluation takes longer than it takes to start threads

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

}  // namespace

std::vector<std::unique_ptr<SettingSearch>> setting_searches(const Scenario& s, const PlanSpace& space,
                                                             const std::vector<Plan>& settings) {
  std::vector<std::unique_ptr<SettingSearch>> out;
  const Plan own = bare_plan(s);
  for (const Plan& setting : settings) out.push_back(std::make_unique<SettingSearch>(s, space, setting, own));
  return out;
}

SearchTeam::SearchTeam(const Scenario& s, const SearchRequest& request, SearchProgress* progress, std::size_t workers,
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

void SearchTeam::work_all(const std::function<void(std::size_t)>& work) const {
  if (run_) return run_(work);
  for (std::size_t i = 0; i < size_; ++i) work(i);
}

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
  if (order_.empty()) order_ = made[0]->fastest_first(of_setting);
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
      const std::size_t part = order_[n % of_setting];
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
  result.chip_counts = choices().chip_counts;
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

}  // namespace roofscape::engine
