// The workers of a search of training plans, over all combinations of settings that it tries. What they find does not
// depend on how many there are, nor on who does what.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "engine/search/search.h"
#include "engine/search/search_worker.h"

namespace roofscape::engine {

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
                                                             const std::vector<Plan>& settings);

// All workers of a search, who go through the whole space as often as they are asked.
class SearchTeam {
 public:
  // All but `workers` must outlive it; `progress` may be null, and without `run` they work one after the other.
  SearchTeam(const Scenario& s, const SearchRequest& request, SearchProgress* progress, std::size_t workers,
             const SearchWorkers& run, SearchMemory& memory);
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
  void work_all(const std::function<void(std::size_t)>& work) const;

  const Scenario& s_;
  const SearchRequest& request_;
  SearchProgress* progress_;
  std::size_t size_;
  const SearchWorkers& run_;
  SearchMemory& memory_;
  std::vector<std::unique_ptr<SettingSearch>> searches_;
  std::vector<std::size_t> order_;  // of the parts of one combination
  std::unique_ptr<KnownBest> known_;
};

}  // namespace roofscape::engine
