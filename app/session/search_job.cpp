#include "app/session/search_job.h"

#include <chrono>
#include <exception>
#include <utility>

#include "app/session/background_workers.h"
#include "engine/search/searched_scenario.h"
#include "engine/studies/robust_search.h"

namespace roofscape::app {

bool SearchQuery::asks_the_same(const SearchQuery& other) const {
  if (*this == other) return true;
  const bool same_request = serves() ? serving == other.serving : request == other.request;
  return serves() == other.serves() && same_request && measured == other.measured &&
         engine::searched_scenario(scenario) == engine::searched_scenario(other.scenario);
}

SearchOutcome with_present(const SearchOutcome& found, const engine::Scenario& scenario) {
  SearchOutcome out = found;
  out.query.scenario = scenario;
  const bool serves = out.query.serves();
  if (out.query.measured && serves)
    engine::place_present(scenario, out.query.serving, out.query.points(), out.serving);
  else if (out.query.measured)
    engine::place_present(scenario, out.query.request, out.query.points(), out.result);
  else if (serves)
    engine::place_present(scenario, out.query.serving, out.serving);
  else
    engine::place_present(scenario, out.query.request, out.result);
  return out;
}

SearchJob::SearchJob() : SearchJob(background_worker_count()) {}

SearchJob::~SearchJob() {
  const std::scoped_lock lock(mutex_);
  leave();
  known_queued_.reset();
  thread_.request_stop();
  known_thread_.request_stop();
  // The threads are joined by their own destructors, after the lock is gone.
}

void SearchJob::ask(const engine::Scenario& scenario, const engine::SearchRequest& request, bool held,
                    std::shared_ptr<const engine::EvidenceSet> measured) {
  ask({scenario, request, {}, std::move(measured)}, held);
}
void SearchJob::ask(const engine::Scenario& scenario, const engine::ServingRequest& request, bool held,
                    std::shared_ptr<const engine::EvidenceSet> measured) {
  ask({scenario, {}, request, std::move(measured)}, held);
}

void SearchJob::ask(SearchQuery query, bool held) {
  const std::scoped_lock lock(mutex_);
  const auto is_asked = [&](const SearchQuery& other) { return other.asks_the_same(query); };
  if (is_cancelled(is_asked)) return;
  const bool runs_on = goes_on();
  if (runs_on && is_asked(*running_)) {
    queued_.reset();
    return;
  }
  if (!queued_ || !is_asked(*queued_)) {
    if (!running_ && latest_ && !latest_->listed() && is_asked(latest_->query)) {
      queued_.reset();
      so_far_.reset();
      return;
    }
    if (!query.serves() && !query.measured && !known_plans_.empty()) {
      known_queued_ = query;
      if (!known_thread_.joinable())
        known_thread_ = std::jthread([this](std::stop_token stop) { run_known(std::move(stop)); });
    }
    queued_ = std::move(query);
  }
  const bool too_long =
      runs_on && std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count() > patience_s_;
  if (runs_on && (!held || too_long || listed_)) progress_->stop = true;
  if (!thread_.joinable()) thread_ = std::jthread([this](std::stop_token stop) { run(std::move(stop)); });
  changed_.notify_all();
}

void SearchJob::cancel() {
  NewestRequest::cancel();
  const std::scoped_lock lock(mutex_);
  known_queued_.reset();
  if (so_far_ && so_far_->listed()) latest_ = so_far_;
  so_far_.reset();
}

void SearchJob::release() {
  const std::scoped_lock lock(mutex_);
  if (!running_ && !queued_) memory_.orders.clear();
  if (!known_runs_ && !known_queued_) known_memory_.orders.clear();
}

std::shared_ptr<const SearchOutcome> SearchJob::latest() const {
  const std::scoped_lock lock(mutex_);
  return latest_;
}

std::shared_ptr<const SearchOutcome> SearchJob::so_far() const {
  const std::scoped_lock lock(mutex_);
  return so_far_;
}

double SearchJob::progress() const {
  const std::scoped_lock lock(mutex_);
  if (!progress_) return 0;
  const std::size_t total = progress_->total, done = progress_->done;
  return total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0;
}

std::size_t SearchJob::started() const {
  const std::scoped_lock lock(mutex_);
  return started_;
}

void SearchJob::run(std::stop_token stop) {
  std::shared_ptr<SearchOutcome> found;
  const auto work = [&](const SearchQuery& query, engine::SearchProgress& progress) {
    found = std::make_shared<SearchOutcome>();
    found->query = query;
    try {
      search(*found, progress);
    } catch (...) {
      memory_ = {};  // may be half made
      throw;
    }
    found->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  };
  serve(std::move(stop), work, [&](bool wanted) {
    listed_ = false;
    if (wanted && !found->query.serves()) known_plans_ = memory_.known();
    if (!queued_ || (wanted && so_far_ && so_far_->query == found->query)) so_far_.reset();
    if (wanted) latest_ = std::move(found);
  });
}

void SearchJob::run_known(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return known_queued_.has_value(); })) {
    auto found = std::make_shared<SearchOutcome>();
    found->query = *std::exchange(known_queued_, std::nullopt);
    known_memory_.seeds = known_plans_;
    const auto begun = std::chrono::steady_clock::now();
    known_runs_ = true;
    lock.unlock();
    try {
      found->result = engine::search_known(found->query.scenario, found->query.request, known_memory_);
    } catch (const std::exception&) {  // there is no list so far, then
      known_memory_ = {};
    }
    found->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    lock.lock();
    known_runs_ = false;
    const auto waits = [&](const std::optional<SearchQuery>& query) { return query && *query == found->query; };
    if (!waits(queued_) && !waits(running_)) continue;  // found meanwhile, or not wanted any more
    if (waits(running_) && listed_) continue;
    if (found->result.best.empty()) continue;
    so_far_ = std::move(found);
    if (wake_) wake_();
  }
}

void SearchJob::take_list(const SearchQuery& query, const engine::SearchResult& list,
                          engine::SearchProgress& progress) {
  const std::scoped_lock lock(mutex_);
  if (progress.stop || !list.finished) return;
  listed_ = true;
  known_plans_ = memory_.known();
  if (queued_) {
    progress.stop = true;
    return;
  }
  auto found = std::make_shared<SearchOutcome>();
  found->query = query;
  found->result = list;
  // Of plans that were known, where none is listed: they stay in the map until the whole is there.
  if (so_far_ && so_far_->query == query) engine::add_cells(so_far_->result.cells, found->result.cells);
  found->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  so_far_ = std::move(found);
  if (wake_) wake_();
}

void SearchJob::search(SearchOutcome& found, engine::SearchProgress& progress) {
  const engine::SearchWorkers workers = background_workers(workers_);
  const SearchQuery& query = found.query;
  if (query.measured && query.serves())
    found.serving = engine::robust_search(query.scenario, query.serving, query.points(), &progress, workers);
  else if (query.measured)
    found.result =
        engine::robust_search(query.scenario, query.request, query.points(), &progress, workers_, workers, &memory_);
  else if (query.serves())
    found.serving = engine::search_serving(query.scenario, query.serving, &progress, workers);
  else
    found.result = engine::search(query.scenario, query.request, &progress, workers_, workers, &memory_,
                                  [&](const engine::SearchResult& list) { take_list(query, list, progress); });
}

}  // namespace roofscape::app
