// SearchJob: searches of plans beside the window, of scenarios that train and of those that serve. A thread works on
// copies of the scenario and the request; the newest request wins (newest_request.h), and a result keeps the scenario and
// the request it belongs to. Results do not depend on threads or timing, only on what was asked. Workers
// run below the priority of the window's thread. While a search runs, another thread ranks what is known already for
// the newest request, so that a list follows a drag at once; the search itself tells the list of the whole space before it
// counts, draws and maps the rest, which it leaves as soon as a newer request waits.
//
// All members may be called by one thread (the window's); `wake` is called by the job's own.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "app/session/newest_request.h"
#include "engine/scenario/scenario.h"
#include "engine/search/search.h"
#include "engine/search/serving_search.h"
#include "engine/studies/evidence.h"

namespace roofscape::app {

// Of the two requests the one of the scenario's kind counts.
struct SearchQuery {
  engine::Scenario scenario;
  engine::SearchRequest request;
  engine::ServingRequest serving;
  // What to rank by the slow end of error bands with (studies/robust_search.h); null: by predictions.
  std::shared_ptr<const engine::EvidenceSet> measured = {};
  std::span<const engine::EvidencePoint> points() const { return measured->of(scenario.assumptions.mode).points; }
  bool serves() const { return scenario.serves(); }
  // Whether both have the same result, but for what it says of the present plan.
  bool asks_the_same(const SearchQuery& other) const;
  friend bool operator==(const SearchQuery&, const SearchQuery&) = default;
};

struct SearchOutcome {
  SearchQuery query;
  engine::SearchResult result;          // where it trains
  engine::ServingSearchResult serving;  // where it serves
  double seconds = 0;                   // by the clock
  bool finished() const { return query.serves() ? serving.finished : result.finished; }
  // Finished, and of the whole space.
  bool listed() const { return !query.serves() && result.extent == engine::SearchResult::Extent::listed; }
  bool counted() const { return finished() && (query.serves() || result.is_whole()); }
};
// What was found, for another scenario whose query asks the same.
SearchOutcome with_present(const SearchOutcome& found, const engine::Scenario& scenario);

class SearchJob : public NewestRequest<SearchQuery> {
 public:
  static constexpr double kPatience_s = 1.5;  // with a search while a control is held

  // As many workers as the machine has cores, at least one.
  SearchJob();
  explicit SearchJob(std::size_t workers, double patience_s = kPatience_s)
      : workers_(workers), patience_s_(patience_s) {}
  ~SearchJob();

  // Wants this searched. Nothing happens if what runs, was found last or was cancelled asks the same. Otherwise it
  // takes the place of any request that waits, and what runs is stopped; but while a control is `held` what runs is
  // finished first, so that a drag shows results instead of stopping each of them for the next, unless it takes
  // longer than the patience there is.
  void ask(const engine::Scenario& scenario, const engine::SearchRequest& request, bool held,
           std::shared_ptr<const engine::EvidenceSet> measured = {});
  void ask(const engine::Scenario& scenario, const engine::ServingRequest& request, bool held,
           std::shared_ptr<const engine::EvidenceSet> measured = {});
  // The list stays, where it has been told.
  void cancel();
  // Nobody looks at searches for now: orders of operations that they wrote out, some ten MB a worker, are let go once
  // nothing runs. What was found stays, and the next search finds the same.
  void release();

  // The newest result, for the scenario it was asked with first (with_present); null: none yet.
  std::shared_ptr<const SearchOutcome> latest() const;
  // Of a request that trains and is ranked by predictions, newer than latest(): what is best for it among the plans
  // that the search before has found (engine::search_known), some milliseconds after it was asked; then the list of the
  // whole space. Until that of a newer one takes its place. Null: nothing waits or runs, or nothing of them fits.
  std::shared_ptr<const SearchOutcome> so_far() const;
  double progress() const;      // of what runs, 0 to 1
  std::size_t started() const;  // searches so far

 private:
  void run(std::stop_token stop);
  void run_known(std::stop_token stop);
  void ask(SearchQuery query, bool held);
  void search(SearchOutcome& found, engine::SearchProgress& progress);
  void take_list(const SearchQuery& query, const engine::SearchResult& list, engine::SearchProgress& progress);

  std::size_t workers_;
  double patience_s_ = kPatience_s;
  std::optional<SearchQuery> known_queued_;  // for what is known to be ranked again
  bool known_runs_ = false;
  bool listed_ = false;  // what runs has told its list
  std::shared_ptr<const SearchOutcome> latest_, so_far_;
  std::vector<engine::Plan> known_plans_;  // of the last search that trained
  engine::SearchMemory memory_;            // of the job's own thread
  engine::SearchMemory known_memory_;      // of the other thread
  std::jthread thread_, known_thread_;     // started by the first request that asks for them
};

}  // namespace roofscape::app
