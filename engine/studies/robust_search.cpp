#include "engine/studies/robust_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "engine/scenario/checkpoint_policies.h"
#include "engine/scenario/mesh_size.h"

namespace roofscape::engine {
namespace {

constexpr std::size_t kFirstList = 64;

// Plans that share their band, but for what their pipeline idles: those of a space.
struct BandClass {
  PlanSpace space;
  EvidenceFeatures features;
  double least = 1;  // slow end over prediction
  double bound = 0;  // of the objective at the slow end; no plan of the class is better
};

// What is ranked by, as a number of which less is better.
double key_of(Objective objective, const RankedPlan& plan) {
  const double score = score_of(objective, plan);
  return objective == Objective::throughput ? -score : score;
}
// What no plan goes below that takes no less than this one and whose slow end is at least so many times its prediction:
// bands come to their ends by products in another order, and plans as good as the last one listed are wanted, too.
double least_key(Objective objective, RankedPlan plan, double scale) {
  plan.slow_end_s = scale * plan.step_time_s;
  const double key = key_of(objective, plan);
  return key - 1e-12 * std::abs(key);
}

Allowed just(const Allowed& of, double value) {
  Allowed out = of;
  out.only = {value};
  return out;
}

// Choices of the ZeRO stage and of whether there are FSDP ranks that run on the same software.
struct Software {
  int fsdp = 1;  // what stands for those allowed
  Allowed allowed;
  std::vector<int> zero_stages;
};
std::vector<Software> by_software(Scenario& plan, const PlanSpace& space) {
  std::vector<Software> out;
  const auto stack = [&plan](int fsdp, int zero) {
    plan.parallelism.fsdp = fsdp, plan.parallelism.zero_stage = zero;
    return software_stack(plan);
  };
  const auto add = [&](int fsdp, Allowed degrees) {
    std::map<SoftwareStack, std::vector<int>> stages;
    for (int zero = 0; zero <= 3; ++zero)
      if (space.zero_stage.allows(zero)) stages[stack(fsdp, zero)].push_back(zero);
    for (auto& [software, zeros] : stages) out.push_back({fsdp, degrees, std::move(zeros)});
  };
  const auto one_stack = [&] {
    for (int zero = 1; zero <= 3; ++zero)
      if (stack(2, zero) != stack(2, 0) || stack(1, zero) != stack(2, 0)) return false;
    return true;
  };
  if (one_stack()) {
    add(1, space.fsdp);
  } else {
    if (space.fsdp.allows(1)) add(1, just(space.fsdp, 1));
    Allowed more = space.fsdp;
    more.min = std::max(more.min, 2.0);
    if (more.min <= more.max) add(2, std::move(more));
  }
  return out;
}

// `best` of each pair of tensor and pipeline: what is predicted of the best of its plans, whatever else they choose.
std::vector<BandClass> band_classes(const Scenario& s, const SearchRequest& request,
                                    std::span<const EvidencePoint> points, const std::vector<SearchCell>& cells) {
  std::vector<BandClass> out;
  const SpaceChoices choices(s, request.space);
  std::vector<std::pair<int, int>> meshes;  // tensor, context
  for (const SpaceChoices::Group& group : choices.groups) meshes.emplace_back(group.mesh.tensor, group.mesh.context);
  std::sort(meshes.begin(), meshes.end());
  meshes.erase(std::unique(meshes.begin(), meshes.end()), meshes.end());
  std::map<int, std::vector<int>> policies;  // by how much is computed again, as evidence has it
  Scenario plan = s;
  for (const CheckpointPolicy policy : choices.policies) {
    plan.checkpointing.policy = policy;
    policies[stated_features(plan).recomputation].push_back(static_cast<int>(policy));
  }
  apply(plan, bare_plan(s));
  for (const SearchCell& cell : cells) {
    if (!cell.best) continue;
    for (const auto& [tensor, context] : meshes) {
      if (tensor != cell.tensor) continue;
      for (const auto& [recomputation, alike] : policies) {
        plan.parallelism.tensor = tensor, plan.parallelism.context = context;
        plan.parallelism.pipeline = cell.pipeline;
        plan.checkpointing.policy = static_cast<CheckpointPolicy>(alike.front());
        for (Software& software : by_software(plan, request.space)) {
          plan.parallelism.fsdp = software.fsdp;
          plan.parallelism.zero_stage = software.zero_stages.front();
          BandClass one;
          one.features = stated_features(plan);
          std::optional<double> low;
          for (const int chips : choices.chip_counts) {
            one.features.chips = chips;
            if (const auto of_these = highest_low(points, one.features, EvidenceKind::step))
              low = std::max(low.value_or(*of_these), *of_these);
          }
          if (!low) continue;
          one.least = 1 / (1 + *low);
          one.bound = least_key(request.objective, *cell.best, one.least);
          one.space = request.space;
          one.space.tensor = just(request.space.tensor, tensor);
          one.space.context = just(request.space.context, context);
          one.space.pipeline = just(request.space.pipeline, cell.pipeline);
          one.space.fsdp = std::move(software.allowed);
          one.space.zero_stage.only.assign(software.zero_stages.begin(), software.zero_stages.end());
          one.space.policy.only.assign(alike.begin(), alike.end());
          out.push_back(std::move(one));
        }
      }
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const BandClass& a, const BandClass& b) { return a.bound < b.bound; });
  return out;
}

// The plans listed so far, the best first, and no more than are asked for.
class SlowEnds {
 public:
  explicit SlowEnds(const SearchRequest& request) : request_(request) {}
  // Whether a plan no better than this could be listed.
  bool wants(double bound) const {
    return best_.size() < request_.limit || (!best_.empty() && !(bound > key(best_.back())));
  }
  void add(const RankedPlan& plan) {
    const auto order = [this](const RankedPlan& one) {
      return std::tuple(key(one), one.step_time_s, one.memory_bytes);
    };
    const auto before = [&](const RankedPlan& a, const RankedPlan& b) {
      return order(a) != order(b) ? order(a) < order(b) : a.plan < b.plan;
    };
    const auto at = std::lower_bound(best_.begin(), best_.end(), plan, before);
    if (at != best_.end() && at->plan == plan.plan) return;
    best_.insert(at, plan);
    if (best_.size() > request_.limit) best_.pop_back();
  }
  std::vector<RankedPlan> take() { return std::move(best_); }

 private:
  double key(const RankedPlan& plan) const { return key_of(request_.objective, plan); }
  const SearchRequest& request_;
  std::vector<RankedPlan> best_;
};

double slow_end(std::span<const EvidencePoint> points, const EvidenceFeatures& features, double step_s) {
  const ErrorBand band = error_band(points, features, EvidenceKind::step);
  return band.validated() ? band.most(step_s) : 0;
}

}  // namespace

void place_present(const Scenario& s, const SearchRequest& request, std::span<const EvidencePoint> points,
                   SearchResult& result) {
  place_present(s, request, result);
  result.present.slow_end_s =
      result.present_legal ? slow_end(points, evidence_features(s), result.present.step_time_s) : 0;
}

SearchResult robust_search(const Scenario& s, const SearchRequest& request, std::span<const EvidencePoint> points,
                           SearchProgress* progress, std::size_t workers, const SearchWorkers& run,
                           SearchMemory* memory) {
  if (request.objective == Objective::memory) return search(s, request, progress, workers, run, memory);
  SearchRequest with_cells = request;
  with_cells.cells = true;
  SearchResult result = search(s, with_cells, progress, workers, run, memory);
  std::vector<BandClass> classes;
  if (result.finished) classes = band_classes(s, request, points, result.cells);
  if (!request.cells) result.cells.clear();
  if (!result.finished) return result;
  if (progress != nullptr) progress->total += classes.size();
  SlowEnds listed(request);
  SearchMemory kept;
  for (BandClass& one : classes) {
    if (progress != nullptr && progress->stop) {
      result.finished = false;
      break;
    }
    if (progress != nullptr) ++progress->done;
    SearchRequest asked = request;
    asked.space = std::move(one.space);
    asked.cells = false, asked.sample = 0;
    asked.limit = std::max(request.limit, kFirstList);
    for (bool more = listed.wants(one.bound); more;) {
      kept.seeds.clear();
      const SearchResult found = search(s, asked, nullptr, workers, run, &kept);
      for (RankedPlan plan : found.best) {
        EvidenceFeatures features = one.features;
        features.bubble = plan.bubble_fraction;
        features.chips = static_cast<int>(mesh_chips(plan.plan));
        plan.slow_end_s = slow_end(points, features, plan.step_time_s);
        if (plan.slow_end_s > 0) listed.add(plan);
      }
      more = found.best.size() == asked.limit &&
             listed.wants(least_key(request.objective, found.best.back(), one.least));
      asked.limit *= 4;
    }
  }
  result.best = listed.take();
  place_present(s, request, points, result);
  return result;
}

namespace {

// Of a decoding plan that has a price.
double slow_end(const Scenario& with, const RankedDecoding& plan, std::span<const EvidencePoint> points) {
  const ErrorBand band = error_band(points, with, EvidenceKind::decode);
  return band.validated() ? band.most(plan.decode_token_s) : 0;
}

}  // namespace

void place_present(const Scenario& s, const ServingRequest& request, std::span<const EvidencePoint> points,
                   ServingSearchResult& result) {
  place_present(s, request, result);
  result.present.slow_end_s = result.present_legal ? slow_end(s, result.present, points) : 0;
}

ServingSearchResult robust_search(const Scenario& s, const ServingRequest& request,
                                  std::span<const EvidencePoint> points, SearchProgress* progress,
                                  const SearchWorkers& run) {
  if (request.objective == ServingObjective::memory) return search_serving(s, request, progress, run);
  ServingRequest all = request;
  all.limit = std::numeric_limits<std::size_t>::max();
  all.merge_alike = false;
  ServingSearchResult result = search_serving(s, all, progress, run);
  if (!result.finished) return result;
  Scenario with = s;
  for (RankedDecoding& plan : result.best) {
    apply(with, plan.plan);
    plan.slow_end_s = slow_end(with, plan, points);
  }
  std::erase_if(result.best, [](const RankedDecoding& plan) { return !(plan.slow_end_s > 0); });
  std::stable_sort(result.best.begin(), result.best.end(), [&](const RankedDecoding& a, const RankedDecoding& b) {
    const double of_a = score_of(request.objective, a), of_b = score_of(request.objective, b);
    return request.objective == ServingObjective::throughput ? of_a > of_b : of_a < of_b;
  });
  if (result.best.size() > request.limit) result.best.resize(request.limit);
  place_present(s, request, points, result);
  return result;
}

}  // namespace roofscape::engine
