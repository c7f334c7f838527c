// What a person wants of "which cluster?" (engine/search/cluster_choice.h): among which clusters, what comes first, and
// what a run may take. Kept with the session as words, beside those of the search of plans.
#pragma once

#include <map>
#include <string>

#include "engine/search/cluster_choice.h"

namespace roofscape::app {

struct ClusterPreferences {
  engine::ClusterObjective training = engine::ClusterObjective::cost, serving = engine::ClusterObjective::cost;
  double most_run_days = 0, most_cost_usd = 0;  // of a training run; 0: anything
  std::string among;  // clusters, as engine/io/import/named_clusters.h reads them; empty: those around the present
  friend bool operator==(const ClusterPreferences&, const ClusterPreferences&) = default;
};

engine::ClusterRequest request_of(const ClusterPreferences& preferences, bool serves);

// What is as by default has no words; what cannot be understood is read as the default.
void put_words(const ClusterPreferences& preferences, std::map<std::string, std::string, std::less<>>& into);
ClusterPreferences cluster_preferences_from(const std::map<std::string, std::string, std::less<>>& words);

}  // namespace roofscape::app
