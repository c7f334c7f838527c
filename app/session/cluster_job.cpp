#include "app/session/cluster_job.h"

#include <algorithm>
#include <utility>

#include "app/session/background_workers.h"
#include "engine/scenario/mesh_size.h"
#include "engine/search/searched_scenario.h"

namespace roofscape::app {

using engine::ClusterAnswer;
using engine::ClusterObjective;
using engine::NamedCluster;
using engine::Scenario;

namespace {
constexpr std::size_t kMostKept = 400;
}

ClusterJob::Asked ClusterJob::asked_on(const ClusterQuery& query, const engine::Cluster& cluster) {
  Scenario on = query.scenario;
  on.cluster = cluster;
  Asked asked;
  if (query.serves())
    asked.by_time = query.request.objective == ClusterObjective::time;
  else
    asked.space = engine::space_of(on);
  asked.scenario = engine::searched_scenario(on);
  return asked;
}

bool ClusterQuery::asks_the_same(const ClusterQuery& other) const {
  if (!(request == other.request) || serves() != other.serves()) return false;
  if (clusters != other.clusters && *clusters != *other.clusters) return false;
  // Chips that the present mesh leaves idle are chips that a plan may leave idle (SpaceChoices).
  if (engine::mesh_chips(scenario.parallelism) != engine::mesh_chips(other.scenario.parallelism)) return false;
  if (clusters->empty()) return true;
  const engine::Cluster& any = clusters->front().cluster;
  return ClusterJob::asked_on(*this, any) == ClusterJob::asked_on(other, any);
}

ClusterJob::ClusterJob() : ClusterJob(background_worker_count()) {}

ClusterJob::~ClusterJob() {
  const std::scoped_lock lock(mutex_);
  leave();
  thread_.request_stop();
}

void ClusterJob::ask(ClusterQuery query) {
  if (query.clusters->empty()) return;
  const std::scoped_lock lock(mutex_);
  const auto is_asked = [&](const ClusterQuery& other) { return other.asks_the_same(query); };
  if (is_cancelled(is_asked)) return;
  if (queued_ && is_asked(*queued_)) return;
  if (goes_on() && is_asked(*running_)) {
    queued_.reset();
    return;
  }
  if (!running_ && !queued_ && latest_ && latest_->finished() && is_asked(latest_->query)) return;
  queued_ = std::move(query);
  if (progress_) progress_->stop = true;
  if (!thread_.joinable()) thread_ = std::jthread([this](std::stop_token stop) { run(std::move(stop)); });
  changed_.notify_all();
}

void ClusterJob::release() {
  const std::scoped_lock lock(mutex_);
  if (!running_ && !queued_) std::vector<Kept>().swap(kept_);  // the room they had, too
}

std::shared_ptr<const ClusterOutcome> ClusterJob::latest() const {
  const std::scoped_lock lock(mutex_);
  return latest_;
}

double ClusterJob::progress() const {
  const std::scoped_lock lock(mutex_);
  if (!running_ || !progress_) return 0;
  const std::size_t total = progress_->total, done = progress_->done;
  const double part = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0;
  return std::min(1.0, (static_cast<double>(answered_) + part) / static_cast<double>(running_->clusters->size()));
}

std::size_t ClusterJob::searched() const {
  const std::scoped_lock lock(mutex_);
  return searched_;
}

void ClusterJob::run(std::stop_token stop) {
  serve(
      std::move(stop),
      [this](const ClusterQuery& query, engine::SearchProgress& progress) { answer(query, progress); },
      [this](bool) { answered_ = 0; });
}

void ClusterJob::answer(const ClusterQuery& query, engine::SearchProgress& progress) {
  std::vector<ClusterAnswer> answers;
  for (const NamedCluster& cluster : *query.clusters) {
    ClusterAnswer one = answer_on(query, cluster, progress);
    if (progress.stop) return;
    answers.push_back(std::move(one));
    auto outcome = std::make_shared<ClusterOutcome>();
    outcome->query = query;
    outcome->answers = answers;
    engine::rank(outcome->answers, query.request);
    const std::scoped_lock lock(mutex_);
    if (progress.stop) return;
    ++answered_;
    progress.done = 0, progress.total = 0;
    // Answers that are whole stay until others are.
    if (!outcome->finished() && latest_ && latest_->finished() && latest_->query.serves() == query.serves()) continue;
    latest_ = std::move(outcome);
    if (wake_) wake_();
  }
}

ClusterAnswer ClusterJob::answer_on(const ClusterQuery& query, const NamedCluster& cluster,
                                    engine::SearchProgress& progress) {
  Asked asked = asked_on(query, cluster.cluster);
  const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.asked == asked; });
  if (known != kept_.end()) {
    ClusterAnswer answer = known->answer;
    answer.name = cluster.name;
    return answer;
  }
  ClusterAnswer answer = engine::best_on(query.scenario, cluster, query.request.objective, &progress, workers_,
                                         background_workers(workers_));
  if (progress.stop) return answer;
  if (kept_.size() >= kMostKept) kept_.erase(kept_.begin());
  kept_.push_back({std::move(asked), answer});
  const std::scoped_lock lock(mutex_);
  ++searched_;
  return answer;
}

}  // namespace roofscape::app
