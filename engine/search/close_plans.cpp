#include "engine/search/close_plans.h"

#include <cmath>
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
  return out;
}

}  // namespace roofscape::engine
