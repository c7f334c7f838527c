#include "engine/search/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <tuple>

#include "engine/evaluate.h"
#include "engine/search/candidates.h"

namespace roofscape::engine {
namespace {

// A number that looks random and depends on its place in the space alone, so that what is drawn by it does not depend
// on who works on which part. (The finalizer of SplitMix64: Steele, Lea and Flood, OOPSLA 2014.)
std::uint64_t scattered(std::uint64_t n) {
  n += 0x9E3779B97F4A7C15u;
  n = (n ^ (n >> 30)) * 0xBF58476D1CE4E5B9u;
  n = (n ^ (n >> 27)) * 0x94D049BB133111EBu;
  return n ^ (n >> 31);
}

// The plans with the smallest scattered numbers.
class Sample {
 public:
  struct Drawn {
    std::uint64_t number = 0;
    SampledPlan plan;
  };
  explicit Sample(std::size_t size) : size_(size) { drawn_.reserve(2 * size); }
  void start_part(std::size_t part) { next_ = static_cast<std::uint64_t>(part) << 32; }
  void offer(const Plan& plan, double memory_bytes, bool fits) {
    if (size_ == 0) return;
    const std::uint64_t number = scattered(next_++);
    if (number >= least_refused_) return;
    drawn_.push_back({number, {plan, 0, memory_bytes, fits}});
    if (drawn_.size() == 2 * size_) cut();
  }
  // The union of two samples, cut again, is the sample of both.
  void merge(const Sample& other) {
    drawn_.insert(drawn_.end(), other.drawn_.begin(), other.drawn_.end());
    cut();
  }
  // In the order of their numbers.
  std::vector<Drawn>& settle() {
    cut();
    return drawn_;
  }

 private:
  void cut() {
    std::sort(drawn_.begin(), drawn_.end(), [](const Drawn& a, const Drawn& b) { return a.number < b.number; });
    if (drawn_.size() <= size_) return;
    least_refused_ = drawn_[size_].number;
    drawn_.resize(size_);
  }
  std::size_t size_;
  std::uint64_t next_ = 0, least_refused_ = std::numeric_limits<std::uint64_t>::max();
  std::vector<Drawn> drawn_;
};

// The plan that is fastest without any bubble of those that lack a little memory.
struct Missed {
  double least_s = std::numeric_limits<double>::infinity(), memory_bytes = 0;
  Plan plan;
  bool better_than(const Missed& other) const {
    return std::tie(least_s, memory_bytes, plan) < std::tie(other.least_s, other.memory_bytes, other.plan);
  }
};

// One worker's share: parts of the space, each a group of meshes that share a layer and a microbatch.
class Worker {
 public:
  Worker(const Scenario& s, const SearchRequest& request, const SpaceChoices& choices, const std::atomic<bool>* stop)
      : s_(s), space_(request.space), choices_(choices), pricer_(s),
        candidates_(request.objective, request.limit, request.merge_alike, pricer_, stop), sample_(request.sample) {
    const std::optional<double> capacity = s.cluster.chip[ChipField::hbm_bytes].value;
    limit_bytes_ = capacity.value_or(0) * (1 - space_.min_free);
    for (const int pipeline : choices.data_divisors) {
      Chunks& chunks = chunks_.emplace_back();
      chunks.pipeline = pipeline;
      if (pipeline > s.model.n_layers) {
        chunks.count = choices.chunkings(pipeline).size();
        continue;
      }
      for (const auto& [kind, v] : choices.chunkings(pipeline))
        find_device_kinds(kind, pipeline, v, s.model.n_layers, layers_, chunks.kinds.emplace_back());
      chunks.count = chunks.kinds.size();
    }
  }

  // `part` of choices.groups x choices.microbatches.
  void process(std::size_t part) {
    const Plan& group = choices_.groups[part / choices_.microbatches.size()].mesh;
    microbatch_ = choices_.microbatches[part % choices_.microbatches.size()];
    sequence_parallel_ = choices_.sequence_parallel(group.tensor);
    per_layer_ = static_cast<double>(sequence_parallel_.size() * choices_.policies.size());
    sample_.start_part(part);
    place_meshes(group);
    if (meshes_used_ == 0) return;
    Plan plan = group;
    plan.microbatch_sequences = microbatch_;
    pricer_.price_layer(meshes_[0].placed, plan, layer_);
    for (std::size_t i = 0; i < meshes_used_; ++i) test_state(meshes_[i]);
    for (const bool sequence_parallel : sequence_parallel_)
      for (const CheckpointPolicy policy : choices_.policies) {
        plan.sequence_parallel = sequence_parallel, plan.policy = policy;
        pricer_.price_layer(meshes_[0].placed, plan, layer_);
        for (std::size_t i = 0; i < meshes_used_; ++i) price_mesh(meshes_[i], sequence_parallel, policy);
      }
  }
  void finish() { candidates_.settle(); }

  double plans = 0;
  std::array<double, kRejections> rejected{};
  const Candidates& candidates() const { return candidates_; }
  Candidates& candidates() { return candidates_; }
  Sample& sample() { return sample_; }
  const Missed& missed() const { return missed_; }
  void price_sampled(SampledPlan& sampled) { sampled.step_time_s = pricer_.price(sampled.plan, true).step_time_s; }

 private:
  struct Chunks {
    int pipeline = 1;
    std::size_t count = 0;
    std::vector<DeviceKinds> kinds;
  };
  // ZeRO stage and place of the optimizer, and what its state takes at least.
  struct StateChoice {
    int zero = 0;
    bool offload_optimizer = false;
    double bytes = 0;
  };
  struct Mesh {
    PlacedMesh placed;
    const Chunks* chunks = nullptr;
    int microbatches = 1;
    std::vector<StateChoice> states;
    std::vector<std::size_t> legal;  // of chunks->kinds
  };

  void reject(Rejection why, double count) { rejected[static_cast<std::size_t>(why)] += count; }

  void place_meshes(const Plan& group) {
    meshes_used_ = 0;
    const std::optional<Rejection> whole_group = choices_.reject_group(group);
    const int rest = group.data;
    const double offloads =
        static_cast<double>(choices_.offload_optimizer.size() * choices_.offload_activations.size());
    for (const Chunks& chunks : chunks_) {
      if (rest % chunks.pipeline != 0 || !space_.pipeline.allows(chunks.pipeline)) continue;
      const int ranks = rest / chunks.pipeline;
      for (const int fsdp : choices_.data_divisors) {
        if (fsdp > ranks) break;
        if (ranks % fsdp != 0 || !space_.fsdp.allows(fsdp) || !space_.data.allows(ranks / fsdp)) continue;
        const std::vector<int> zeros = choices_.zero_stages(fsdp, group.context);
        const double count = static_cast<double>(zeros.size() * chunks.count) * offloads * per_layer_;
        plans += count;
        Plan plan = group;
        plan.pipeline = chunks.pipeline, plan.fsdp = fsdp, plan.data = ranks / fsdp;
        plan.microbatch_sequences = microbatch_;
        const int microbatches = microbatches_of(plan, s_.workload.global_batch_sequences);
        std::optional<Rejection> why = whole_group ? whole_group : choices_.reject_mesh(plan);
        if (!why && microbatches == 0) why = Rejection::batch;
        if (why) {
          reject(*why, count);
          continue;
        }
        if (meshes_used_ == meshes_.size()) meshes_.emplace_back();
        Mesh& mesh = meshes_[meshes_used_++];
        pricer_.place(plan, mesh.placed);
        mesh.chunks = &chunks;
        mesh.microbatches = microbatches;
        mesh.states.clear();
        for (const int zero : zeros)
          for (const bool offload : choices_.offload_optimizer) mesh.states.push_back({zero, offload, 0});
        test_schedules(mesh);
      }
    }
  }

  // Which of the schedules can be run; the others are counted for every choice that is left.
  void test_schedules(Mesh& mesh) {
    mesh.legal.clear();
    for (std::size_t i = 0; i < mesh.chunks->kinds.size(); ++i) {
      const DeviceKinds& kinds = mesh.chunks->kinds[i];
      if (kinds.stages == 1) {
        mesh.legal.push_back(i);
        continue;
      }
      const ScheduleShape shape{kinds.kind, kinds.stages, mesh.microbatches, kinds.virtual_stages, 0};
      std::optional<Rejection> why;
      if (kinds.stages * kinds.virtual_stages > s_.model.n_layers) why = Rejection::layers;
      else if (!check_schedule(shape)) why = Rejection::schedule;
      else if (2.0 * shape.microbatches * virtual_stage_count(shape) > static_cast<double>(kMaxDrawnOps))
        why = Rejection::too_long;
      if (why)
        reject(*why, static_cast<double>(mesh.states.size() * choices_.offload_activations.size()) * per_layer_);
      else
        mesh.legal.push_back(i);
    }
  }

  // Some device holds at least the mean number of layers.
  void test_state(Mesh& mesh) {
    Plan plan = mesh.placed.plan;
    const int stages = plan.pipeline;
    const int layers = (s_.model.n_layers + stages - 1) / stages;
    std::erase_if(mesh.states, [&](StateChoice& choice) {
      plan.zero_stage = static_cast<std::uint8_t>(choice.zero);
      plan.offload_optimizer = choice.offload_optimizer;
      choice.bytes = pricer_.state_bytes(mesh.placed, layer_, plan, layers, stages == 1, stages == 1);
      if (choice.bytes <= limit_bytes_) return false;
      reject(Rejection::state,
             static_cast<double>(mesh.legal.size() * choices_.offload_activations.size()) * per_layer_);
      return true;
    });
  }

  void price_mesh(Mesh& mesh, bool sequence_parallel, CheckpointPolicy policy) {
    Candidate candidate;
    Plan& plan = candidate.plan;
    candidate.chips = mesh.placed.counts.chips;
    for (const StateChoice& choice : mesh.states)
      for (const bool offload_activations : choices_.offload_activations) {
        plan = mesh.placed.plan;
        plan.sequence_parallel = sequence_parallel, plan.policy = policy;
        plan.zero_stage = static_cast<std::uint8_t>(choice.zero);
        plan.offload_optimizer = choice.offload_optimizer, plan.offload_activations = offload_activations;
        pricer_.price_state(mesh.placed, layer_, plan, state_);
        // The step without any bubble: what is too slow then needs no schedule.
        const double least = pricer_.least_time(mesh.placed, layer_, state_);
        const bool matters = candidates_.wants(least, choice.bytes, candidate.chips);
        for (const std::size_t i : mesh.legal) {
          const DeviceKinds& kinds = mesh.chunks->kinds[i];
          const ScheduleShape shape{kinds.kind, kinds.stages, mesh.microbatches, kinds.virtual_stages, 0};
          candidate.price = pricer_.memory(mesh.placed, layer_, state_, kinds, shape);
          plan.schedule = kinds.kind, plan.virtual_stages = kinds.virtual_stages;
          const bool fits = candidate.price.memory_bytes <= limit_bytes_;
          sample_.offer(plan, candidate.price.memory_bytes, fits);
          if (!fits) {
            reject(Rejection::memory, 1);
            if (candidate.price.memory_bytes <= (1 + kNearMissShare) * limit_bytes_)
              if (const Missed missed{least, candidate.price.memory_bytes, plan}; missed.better_than(missed_))
                missed_ = missed;
            continue;
          }
          if (!matters || !candidates_.wants(least, candidate.price.memory_bytes, candidate.chips)) continue;
          pricer_.bound(mesh.placed, layer_, state_, kinds, shape, candidate.price);
          if (!candidates_.wants(candidate.price.step_time_s, candidate.price.memory_bytes, candidate.chips))
            continue;
          candidates_.add(candidate);
        }
      }
  }

  const Scenario& s_;
  const PlanSpace& space_;
  const SpaceChoices& choices_;
  Pricer pricer_;
  Candidates candidates_;
  Sample sample_;
  Missed missed_;
  double limit_bytes_ = 0, per_layer_ = 1;
  int microbatch_ = 1;
  std::vector<bool> sequence_parallel_;
  std::vector<Chunks> chunks_;
  std::vector<Mesh> meshes_;
  std::size_t meshes_used_ = 0;
  PricedLayer layer_;
  PricedState state_;
  std::vector<int> layers_;
};

RankedPlan ranked(const Plan& plan, const Report& report) {
  RankedPlan out;
  out.plan = plan;
  const QuantityValues& q = report.quantities;
  out.step_time_s = q.value_or(Q::step_time, 0);
  out.memory_bytes = q.value_or(Q::memory_total, 0);
  out.mfu = q.value_or(Q::mfu, 0);
  out.tokens_per_s_per_chip = q.value_or(Q::tokens_per_s_per_chip, 0);
  out.cost_usd = q.value_or(Q::run_cost, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < kStepParts.size(); ++i) out.step_parts[i] = q.value_or(kStepParts[i], 0);
  return out;
}

Shortage shortage_of(const Report& report, double min_free) {
  Shortage out;
  const QuantityValues& q = report.quantities;
  const double missing = q.value_or(Q::memory_total, 0) - q.value_or(Q::hbm_capacity, 0) * (1 - min_free);
  if (missing <= 0) return out;
  out.missing_bytes = missing;
  out.device = report.fullest_stage;
  for (const Q part : kMemoryParts)
    if (q.value_or(part, 0) > q.value_or(out.part, 0)) out.part = part;
  return out;
}

// The front is in ascending memory, so its last plan takes the least time of all.
double fastest(const SearchResult& result) {
  return result.front.empty() ? std::numeric_limits<double>::infinity() : result.front.back().step_time_s;
}

}  // namespace

Shortage shortage_of(const Scenario& s, const Plan& plan, double min_free) {
  Scenario other = s;
  apply(other, plan);
  return shortage_of(evaluate(other), min_free);
}

SearchResult search(const Scenario& s, const SearchRequest& request, SearchProgress* progress, std::size_t workers,
                    const SearchWorkers& run) {
  SearchResult result;
  Report report;
  EvaluationScratch scratch;
  evaluate(s, scratch, report);
  result.present = ranked(plan_of(s), report);
  result.present_legal = !report.has_errors();
  result.present_shortage = shortage_of(report, request.space.min_free);
  const Chip& chip = s.cluster.chip;
  if (!chip[peak_field(s.precision.compute)].value || !chip[ChipField::hbm_bytes].value ||
      !chip[ChipField::hbm_bytes_per_s].value)
    return result;

  const SpaceChoices choices(s, request.space);
  const std::size_t parts = choices.groups.size() * choices.microbatches.size();
  if (progress != nullptr) progress->total = parts;
  std::vector<std::unique_ptr<Worker>> team;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, workers); ++i)
    team.push_back(std::make_unique<Worker>(s, request, choices, progress != nullptr ? &progress->stop : nullptr));
  std::atomic<std::size_t> next{0};
  const auto stopped = [progress] { return progress != nullptr && progress->stop; };
  const auto all_work = [&](const std::function<void(std::size_t)>& work) {
    if (run) return run(work);
    for (std::size_t i = 0; i < team.size(); ++i) work(i);
  };
  all_work([&](std::size_t i) {
    for (std::size_t part = next++; part < parts && !stopped(); part = next++) {
      team[i]->process(part);
      if (progress != nullptr) ++progress->done;
    }
    if (!stopped()) team[i]->finish();
  });
  if (stopped()) return result;

  Candidates& merged = team[0]->candidates();
  Missed missed = team[0]->missed();
  for (std::size_t i = 0; i < team.size(); ++i) {
    result.plans += team[i]->plans;
    for (std::size_t r = 0; r < kRejections; ++r) result.rejected[r] += team[i]->rejected[r];
    if (i == 0) continue;
    team[0]->sample().merge(team[i]->sample());
    if (team[i]->missed().better_than(missed)) missed = team[i]->missed();
    merged.merge(team[i]->candidates());
    result.simulated += team[i]->candidates().simulated();
  }
  if (!request.merge_alike) merged.settle();
  if (stopped()) return result;
  result.simulated += merged.simulated();
  result.fit = result.plans;
  for (const double count : result.rejected) result.fit -= count;

  Scenario other = s;
  const auto ranked_of = [&](const Plan& plan) {
    apply(other, plan);
    evaluate(other, scratch, report);
    return ranked(plan, report);
  };
  for (const Alike& alike : merged.best()) {
    RankedPlan& one = result.best.emplace_back(ranked_of(alike.simplest.plan));
    one.alike = alike.count - 1;
    one.least_alike_bytes = alike.least_bytes;
  }
  for (const Candidate& candidate : merged.front()) result.front.push_back(ranked_of(candidate.plan));
  if (std::isfinite(missed.least_s)) {
    apply(other, missed.plan);
    evaluate(other, scratch, report);
    NearMiss near{ranked(missed.plan, report), shortage_of(report, request.space.min_free)};
    if (result.best.empty() || near.plan.step_time_s < fastest(result)) result.near_miss = std::move(near);
  }

  std::vector<Sample::Drawn>& drawn = team[0]->sample().settle();
  all_work([&](std::size_t i) {
    for (std::size_t k = i; k < drawn.size() && !stopped(); k += team.size()) team[i]->price_sampled(drawn[k].plan);
  });
  if (stopped()) return result;
  for (const Sample::Drawn& one : drawn) result.sample.push_back(one.plan);
  for (std::size_t i = 0; i < result.best.size() && result.present_rank == 0; ++i)
    if (result.best[i].plan == result.present.plan ||
        (request.merge_alike && result.present_legal && result.present_shortage.missing_bytes == 0 &&
         result.best[i].step_time_s == result.present.step_time_s &&
         shape_without_knobs(result.best[i].plan) == shape_without_knobs(result.present.plan)))
      result.present_rank = static_cast<int>(i) + 1;
  result.finished = true;
  return result;
}

}  // namespace roofscape::engine
