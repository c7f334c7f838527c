// ClusterJob: the best plan on each of several clusters, beside the window. A thread works on copies; the newest
// request wins (newest_request.h). The first answers show as they come; later ones take the place of those before once
// all are there. What was found on a cluster is kept, so that another order, another limit or one cluster more searches
// nothing twice.
//
// All members may be called by one thread (the window's); `wake` is called by the job's own.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "app/session/newest_request.h"
#include "engine/scenario/scenario.h"
#include "engine/search/cluster_choice.h"
#include "engine/search/plan_space.h"
#include "engine/search/progress.h"

namespace roofscape::app {

using NamedClusters = std::shared_ptr<const std::vector<engine::NamedCluster>>;

struct ClusterQuery {
  engine::Scenario scenario;
  NamedClusters clusters;  // shared from frame to frame: chips are long; never null
  engine::ClusterRequest request;
  bool serves() const { return scenario.serves(); }
  // Whether both have the same answers, wherever the scenarios run at present.
  bool asks_the_same(const ClusterQuery& other) const;
};

struct ClusterOutcome {
  ClusterQuery query;
  std::vector<engine::ClusterAnswer> answers;  // ranked
  bool finished() const { return answers.size() == query.clusters->size(); }
};

class ClusterJob : public NewestRequest<ClusterQuery> {
 public:
  ClusterJob();  // as many workers as the machine has cores
  explicit ClusterJob(std::size_t workers) : workers_(workers) {}
  ~ClusterJob();

  // Wants these answered, if there are any. Nothing happens if what runs, was answered last or was cancelled asks the
  // same; else it takes the place of what waits, and what runs is stopped.
  void ask(ClusterQuery query);

  // Nobody looks at clusters for now: what is kept of answers before, each with a scenario of its own, is let go once
  // nothing runs. The newest answers stay.
  void release();

  std::shared_ptr<const ClusterOutcome> latest() const;  // answers so far of what was begun last; null: none yet
  double progress() const;                               // of what runs, 0 to 1
  std::size_t searched() const;                          // clusters so far

 private:
  // All that an answer follows from.
  struct Asked {
    engine::Scenario scenario;  // on its cluster, as far as a search reads it
    engine::PlanSpace space;    // of plans that train
    bool by_time = false;       // of plans that serve, the fastest
    friend bool operator==(const Asked&, const Asked&) = default;
  };
  struct Kept {
    Asked asked;
    engine::ClusterAnswer answer;
  };
  static Asked asked_on(const ClusterQuery& query, const engine::Cluster& cluster);
  friend struct ClusterQuery;

  void run(std::stop_token stop);
  void answer(const ClusterQuery& query, engine::SearchProgress& progress);
  engine::ClusterAnswer answer_on(const ClusterQuery& query, const engine::NamedCluster& cluster,
                                  engine::SearchProgress& progress);

  std::size_t workers_;
  std::size_t answered_ = 0, searched_ = 0;  // answered_: of what runs
  std::shared_ptr<const ClusterOutcome> latest_;
  std::vector<Kept> kept_;  // the oldest first; while a request runs the job's own thread's
  std::jthread thread_;     // started by the first request; last: it ends before what it writes to
};

}  // namespace roofscape::app
