#include "app/session/cluster_preferences.h"

#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "engine/base/read_number.h"

namespace roofscape::app {

using engine::ClusterObjective;

namespace {

constexpr const char* kRankBy = "clusters.rank by";
constexpr const char* kServingRankBy = "clusters.serving.rank by";
constexpr const char* kDays = "clusters.at most days";
constexpr const char* kDollars = "clusters.at most dollars";
constexpr const char* kAmong = "clusters.among";

using Words = std::map<std::string, std::string, std::less<>>;

void put_number(double value, const char* key, Words& into) {
  if (value > 0) into[key] = fmt::format("{}", value);
}
void take_number(const Words& words, const char* key, const engine::Unit& unit, double& out) {
  const auto found = words.find(key);
  if (found == words.end()) return;
  if (const auto number = engine::read_number(found->second, unit); number && *number > 0) out = *number;
}
void take_objective(const Words& words, const char* key, ClusterObjective& out) {
  const auto found = words.find(key);
  if (found == words.end()) return;
  if (const auto objective = engine::kClusterObjectiveIds.parse(found->second)) out = *objective;
}

}  // namespace

engine::ClusterRequest request_of(const ClusterPreferences& preferences, bool serves) {
  if (serves) return {preferences.serving, 0, 0};
  return {preferences.training, preferences.most_run_days, preferences.most_cost_usd};
}

void put_words(const ClusterPreferences& preferences, Words& into) {
  const ClusterPreferences usual;
  if (preferences.training != usual.training) into[kRankBy] = engine::kClusterObjectiveIds[preferences.training];
  if (preferences.serving != usual.serving) into[kServingRankBy] = engine::kClusterObjectiveIds[preferences.serving];
  put_number(preferences.most_run_days, kDays, into);
  put_number(preferences.most_cost_usd, kDollars, into);
  if (!preferences.among.empty()) into[kAmong] = preferences.among;
}

ClusterPreferences cluster_preferences_from(const Words& words) {
  ClusterPreferences out;
  take_objective(words, kRankBy, out.training);
  take_objective(words, kServingRankBy, out.serving);
  if (out.serving == ClusterObjective::energy) out.serving = ClusterPreferences{}.serving;  // serving has none
  take_number(words, kDays, engine::unit::days, out.most_run_days);
  take_number(words, kDollars, engine::unit::dollars, out.most_cost_usd);
  if (const auto found = words.find(kAmong); found != words.end()) out.among = found->second;
  return out;
}

}  // namespace roofscape::app
