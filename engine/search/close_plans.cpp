#include "engine/search/close_plans.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

#include "engine/pipeline/schedules.h"
#include "engine/search/slow_end.h"

namespace roofscape::engine {
namespace {

int count_of(auto... conditions) { return (0 + ... + (conditions ? 1 : 0)); }

auto effort_of(const Plan& p) {
  const bool staged = p.pipeline > 1;
  return std::tuple(count_of(p.offload_optimizer, p.offload_activations),
                    count_of(p.tensor > 1, p.context > 1, staged, p.expert > 1, p.data > 1 && p.fsdp > 1),
                    count_of(staged && p.virtual_stages > 1, staged && splits_backward(p.schedule),
                             staged && overlaps_forward_backward(p.schedule)));
}

// As a share of the first.
double how_far_behind(const RankedPlan& first, const RankedPlan& plan, Objective objective) {
  const double best = score_of(objective, first), own = score_of(objective, plan);
  return objective == Objective::throughput ? best / own - 1 : own / best - 1;
}

// What a second of a step weighs in the ranking: the less of seconds so weighted the better is a plan.
double weight_of(const RankedPlan& plan, Objective objective) {
  const double score = score_of(objective, plan);
  return (objective == Objective::throughput ? 1 / score : score) / plan.step_time_s;
}

std::optional<DecidingPart> deciding_part(std::span<const RankedPlan> close, Objective objective) {
  constexpr double kLeastSpread = 2e-3;  // of a step: less is no difference that a person measures
  constexpr double kOfSpread = 0.1;      // that a rival differs by, at least
  constexpr double kMostTimes = 1.5;     // longer or shorter than predicted: by more, another model is wanted
  const RankedPlan& first = close.front();
  const auto weighted = [&](const RankedPlan& plan, std::size_t part) {
    return weight_of(plan, objective) * plan.step_parts[part];
  };
  const auto by_part = [&](std::size_t part) {
    double least = weighted(first, part), most = least;
    for (const RankedPlan& plan : close) {
      const double seconds = weighted(plan, part);
      least = std::min(least, seconds), most = std::max(most, seconds);
    }
    return most - least;
  };
  std::size_t part = 0;
  for (std::size_t i = 1; i < kStepParts.size(); ++i)
    if (by_part(i) > by_part(part)) part = i;
  const double spread = by_part(part), best = weight_of(first, objective) * first.step_time_s;
  if (!(spread > kLeastSpread * best)) return std::nullopt;
  DecidingPart out{kStepParts[part], 1, 0, 0, 0};
  for (std::size_t i = 0; i < close.size(); ++i) {
    const double share = close[i].step_parts[part] / close[i].step_time_s;
    out.least_share = std::min(out.least_share, share), out.most_share = std::max(out.most_share, share);
    const double differs = weighted(first, part) - weighted(close[i], part);
    if (!(std::abs(differs) > kOfSpread * spread)) continue;
    const double behind = weight_of(close[i], objective) * close[i].step_time_s - best;
    const double factor = 1 + behind / differs;
    if (out.rival == 0 || std::abs(factor - 1) < std::abs(out.factor - 1)) out.rival = i, out.factor = factor;
  }
  if (out.rival == 0 || out.factor < 1 / kMostTimes || out.factor > kMostTimes) return std::nullopt;
  return out;
}

}  // namespace

bool simpler(const Plan& a, const Plan& b) {
  const auto of_a = effort_of(a), of_b = effort_of(b);
  return of_a != of_b ? of_a < of_b : a < b;
}

std::optional<ClosePlans> close_plans(const SearchResult& result, Objective objective, std::optional<double> margin) {
  const auto& best = result.best;
  if (!margin || best.empty() || objective == Objective::memory) return std::nullopt;
  if (objective == Objective::cost && std::isnan(best.front().cost_usd)) return std::nullopt;
  ClosePlans out;
  out.present = result.present_legal && !result.present_breaks && comparable(best.front(), result.present) &&
                how_far_behind(best.front(), result.present, objective) <= *margin;
  for (std::size_t i = 1; i < best.size(); ++i) {
    const double behind = how_far_behind(best.front(), best[i], objective);
    if (behind > *margin) {
      out.next = behind;
      break;
    }
    ++out.count;
    if (simpler(best[i].plan, best[out.simplest].plan)) out.simplest = i;
  }
  if (out.count > 1) out.decides = deciding_part(std::span(best).first(out.count), objective);
  return out;
}

}  // namespace roofscape::engine
