#include "engine/search/serving_search.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include "engine/base/divisors.h"
#include "engine/evaluate/service_level.h"
#include "engine/evaluate/serving_evaluation.h"
#include "engine/frameworks/rules.h"
#include "engine/frameworks/synonyms.h"
#include "engine/scenario/mesh_size.h"
#include "engine/search/even_chip_counts.h"

namespace roofscape::engine {
namespace {

constexpr int kBeyondMemory = 2;  // doublings of the batch past the last that fits, which are counted as too large

// What is asked for comes first, then what is good for the user and for who runs the chips.
auto numbers_of(const RankedDecoding& p, ServingObjective objective) {
  const double first = objective == ServingObjective::throughput   ? -p.tokens_per_s
                       : objective == ServingObjective::token_time ? p.token_s
                                                                   : p.chip_bytes;
  return std::tuple(first, p.token_s, -p.tokens_per_s, p.chip_bytes, p.ttft_s);
}
// Of plans with the same numbers the one that splits least comes first.
bool before(const RankedDecoding& a, const RankedDecoding& b, ServingObjective objective) {
  const auto key = [&](const RankedDecoding& p) {
    return std::tuple_cat(numbers_of(p, objective),
                          std::tuple(p.plan.pipeline, p.plan.tensor, p.plan.expert, p.plan.batch, p.plan.data));
  };
  return key(a) < key(b);
}

// What the batches of one mesh came to.
struct MeshOutcome {
  std::vector<RankedDecoding> priced;
  double plans = 0;
  std::array<double, kServingRejections> rejected{};
};

class Pricing {
 public:
  Pricing(const Scenario& s, const ServingRequest& request)
      : s_(s),
        request_(request),
        promised_{.ttft_s = request.most_ttft_s, .time_per_output_token_s = request.most_token_s} {}

  void mesh(const DecodingPlan& mesh, MeshOutcome& out) {
    if (s_.model.n_heads % mesh.tensor != 0) return reject(ServingRejection::heads, out);
    if (mesh.pipeline > s_.model.n_layers) return reject(ServingRejection::layers, out);
    if (request_.runs_on) {
      apply(s_, mesh);
      if (broken_rule(*request_.runs_on, s_) != nullptr) return reject(ServingRejection::runs_on, out);
    }
    const std::int64_t ranks = std::int64_t{mesh.data} * mesh.pipeline;
    if (!request_.batch.only.empty()) {
      std::vector<double> batches = request_.batch.only;
      std::sort(batches.begin(), batches.end());
      batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
      // Once for all that leave a replica without a sequence; with fewer than stages it runs.
      if (batches.front() < mesh.data) reject(ServingRejection::mesh, out);
      for (const double batch : batches)
        if (batch >= mesh.data && !take(mesh, static_cast<int>(batch), out)) return;
      return;
    }
    // In sequences of each rank: those that may be, and the doublings of one.
    const auto least_batch = static_cast<std::int64_t>(request_.batch.min),
               most_batch = static_cast<std::int64_t>(std::min<double>(request_.batch.max, kMostBatchSequences));
    const std::int64_t least = std::max<std::int64_t>(1, (least_batch + ranks - 1) / ranks),
                       most = most_batch / ranks;
    if (least > most) return;
    RankedDecoding probe;
    const auto legal = [&](std::int64_t each) {
      probe.plan = mesh;
      probe.plan.batch = static_cast<int>(each * ranks);
      return price(probe);
    };
    if (!legal(least)) return reject(ServingRejection::mesh, out);
    std::int64_t good = 0, bad = most + 1;
    int beyond = 0;
    for (std::int64_t each = 1; each <= most && beyond < kBeyondMemory; each *= 2) {
      if (each < least) continue;
      if (!take(mesh, static_cast<int>(each * ranks), out)) return;
      const auto& why = out.priced.back().rejected;
      if (!why)
        good = each;
      else
        bad = std::min(bad, each);
      if (why == ServingRejection::memory) ++beyond;
    }
    // Memory and both times rise with the batch, so the largest that is good lies between the last doubling that was
    // and the first that was not; where the least that may be is no doubling, from that on.
    const auto is_good = [&](std::int64_t each) { return legal(each) && !probe.rejected; };
    std::int64_t low = good;
    if (low == 0 && least < bad && is_good(least)) low = least;
    if (low == 0) return;
    while (bad - low > 1) {
      const std::int64_t middle = (low + bad) / 2;
      (is_good(middle) ? low : bad) = middle;
    }
    if (low > good) take(mesh, static_cast<int>(low * ranks), out);
  }

  // False: it cannot be.
  bool price(RankedDecoding& one) {
    apply(s_, one.plan);
    return price_as_is(one);
  }
  // Of the scenario, whatever the plan says.
  bool price_as_is(RankedDecoding& one) {
    evaluate_serving(s_, report_);
    const auto q = [this](Q id) { return report_.quantities.value_or(id, 0); };
    one.rejected = ServingRejection::mesh;
    if (report_.has_errors() || !(q(Q::mixed_token_time_q) > 0)) return false;
    one.token_s = q(Q::mixed_token_time_q);
    one.ttft_s = q(Q::ttft);
    one.tokens_per_s = q(Q::sustained_tokens);
    one.tokens_per_s_per_chip = q(Q::sustained_tokens_per_chip);
    one.chip_bytes = q(Q::memory_total);
    one.decode_token_s = q(Q::time_per_output_token);
    one.decode_tokens_per_s = q(Q::serving_tokens_per_s);
    one.in_flight = q(Q::steady_batch);
    one.cost_usd = report_.quantities[Q::sustained_cost];
    for (std::size_t i = 0; i < kDecodeParts.size(); ++i) one.step_parts[i] = q(kDecodeParts[i]);
    one.fullest_part = *std::max_element(kServingMemoryParts.begin(), kServingMemoryParts.end(),
                                         [&](Q a, Q b) { return q(a) < q(b); });
    one.rejected.reset();
    if (missing_bytes() > 0)
      one.rejected = ServingRejection::memory;
    else if (!keeps({.ttft_s = 0, .time_per_output_token_s = promised_.time_per_output_token_s},
                    {one.ttft_s, one.token_s}))
      one.rejected = ServingRejection::token_time;
    else if (!keeps(promised_, {one.ttft_s, one.token_s}))
      one.rejected = ServingRejection::ttft;
    return true;
  }
  // Of what was priced last: of the memory that there is in its mode.
  double capacity_bytes() const { return report_.quantities.value_or(Q::hbm_capacity, 0); }
  double missing_bytes() const {
    return std::max(0.0,
                    report_.quantities.value_or(Q::memory_total, 0) - capacity_bytes() * (1 - request_.min_free));
  }

 private:
  static void reject(ServingRejection why, MeshOutcome& out) {
    out.plans += 1;
    out.rejected[static_cast<std::size_t>(why)] += 1;
  }
  // One plan of the space. False: the mesh cannot be, with this batch or at all.
  bool take(const DecodingPlan& mesh, int batch, MeshOutcome& out) {
    RankedDecoding one;
    one.plan = mesh;
    one.plan.batch = batch;
    const bool legal = price(one);
    if (one.rejected)
      reject(*one.rejected, out);
    else
      out.plans += 1;
    if (legal) out.priced.push_back(one);
    return legal;
  }
  Scenario s_;
  const ServingRequest& request_;
  ServiceLevel promised_;
  Report report_;
};

std::vector<RankedDecoding> front_of(std::vector<RankedDecoding> plans) {
  std::sort(plans.begin(), plans.end(),
            [](const auto& a, const auto& b) { return before(a, b, ServingObjective::token_time); });
  std::vector<RankedDecoding> front;
  for (const RankedDecoding& p : plans)
    if (front.empty() || p.tokens_per_s > front.back().tokens_per_s) front.push_back(p);
  return front;
}

// Whether `a` is of the mesh of `b` and no worse in anything.
bool outdoes(const RankedDecoding& a, const RankedDecoding& b) {
  DecodingPlan mesh = a.plan;
  mesh.batch = b.plan.batch;
  return mesh == b.plan && a.token_s <= b.token_s && a.ttft_s <= b.ttft_s && a.tokens_per_s >= b.tokens_per_s &&
         a.chip_bytes <= b.chip_bytes;
}

void rank(std::vector<RankedDecoding>& plans, const ServingRequest& request) {
  std::sort(plans.begin(), plans.end(),
            [&](const auto& a, const auto& b) { return before(a, b, request.objective); });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    RankedDecoding* better = nullptr;
    for (std::size_t k = 0; request.merge_alike && k < kept && better == nullptr; ++k)
      if (outdoes(plans[k], plans[i])) better = &plans[k];
    if (better != nullptr) {
      ++better->outdone;
    } else {
      if (kept != i) plans[kept] = plans[i];
      ++kept;
    }
  }
  plans.resize(std::min(kept, request.limit));
}

// What the meshes came to by tensor and pipeline, in the order of the meshes.
std::vector<ServingCell> cells_of(const std::vector<DecodingPlan>& meshes, const std::vector<MeshOutcome>& outcomes,
                                  ServingObjective objective) {
  std::vector<ServingCell> out;
  for (std::size_t i = 0; i < meshes.size(); ++i) {
    if (out.empty() || out.back().tensor != meshes[i].tensor || out.back().pipeline != meshes[i].pipeline) {
      out.push_back({meshes[i].tensor, meshes[i].pipeline, {}, {}, {}});
      // Of meshes without a price the reason that came first.
      for (std::size_t r = kServingRejections; r-- > 0;)
        if (outcomes[i].rejected[r] > 0) out.back().why = static_cast<ServingRejection>(r);
    }
    ServingCell& cell = out.back();
    for (const RankedDecoding& one : outcomes[i].priced) {
      if (!one.rejected && (!cell.best || before(one, *cell.best, objective))) cell.best = one;
      if (one.rejected && (!cell.nearest || one.chip_bytes < cell.nearest->chip_bytes)) cell.nearest = one;
    }
  }
  for (ServingCell& cell : out) {
    if (cell.best)
      cell.nearest.reset();
    else if (cell.nearest)
      cell.why = *cell.nearest->rejected;
  }
  return out;
}

// Chips that prefill leaves to a mesh of its own are what that mesh has.
std::vector<int> decoding_chip_counts(const Scenario& s) {
  const int chips = decoding_chips(s);
  return s.serving.disaggregated ? std::vector{chips} : simpler_chip_counts(chips);
}

// By tensor, then pipeline.
std::vector<DecodingPlan> meshes_of(const Scenario& s, const ServingRequest& request) {
  std::vector<DecodingPlan> out;
  const std::vector<int> experts = s.model.is_moe() ? divisors(s.model.moe.n_routed_experts) : std::vector<int>{1};
  for (const int chips : decoding_chip_counts(s))
    for (const int tensor : divisors(chips)) {
      if (!request.tensor.allows(tensor)) continue;
      for (const int pipeline : divisors(chips / tensor)) {
        const int data = chips / tensor / pipeline;
        if (!request.pipeline.allows(pipeline) || !request.data.allows(data)) continue;
        for (const int expert : experts)
          if (request.expert.allows(expert)) out.push_back({data, tensor, expert, pipeline, 1});
      }
    }
  std::ranges::stable_sort(out, {}, [](const DecodingPlan& mesh) { return std::pair(mesh.tensor, mesh.pipeline); });
  return out;
}

struct ServedDimension {
  std::string_view name, path;  // path: of the scenario's field
  Allowed ServingRequest::*allowed;
  int DecodingPlan::*value;
};
constexpr std::array<ServedDimension, 5> kServedDimensions{{
    {"data", "parallelism.data", &ServingRequest::data, &DecodingPlan::data},
    {"tensor", "parallelism.tensor", &ServingRequest::tensor, &DecodingPlan::tensor},
    {"expert", "parallelism.expert", &ServingRequest::expert, &DecodingPlan::expert},
    {"pipeline", "parallelism.pipeline", &ServingRequest::pipeline, &DecodingPlan::pipeline},
    {"batch", "workload.batch", &ServingRequest::batch, &DecodingPlan::batch},
}};

// Of a plan that has a price.
std::optional<BrokenConstraint> broken_constraint(const ServingRequest& request, const RankedDecoding& plan,
                                                  double capacity_bytes) {
  using enum BrokenConstraint::Kind;
  if (plan.rejected == ServingRejection::memory)
    return BrokenConstraint{plan.chip_bytes > capacity_bytes ? memory : min_free};
  if (plan.rejected == ServingRejection::token_time) return BrokenConstraint{token_time};
  if (plan.rejected == ServingRejection::ttft) return BrokenConstraint{ttft};
  if (const auto broken = broken_limit(request, plan.plan)) return BrokenConstraint{limit, broken};
  return std::nullopt;
}

}  // namespace

int decoding_chips(const Scenario& s) {
  const double chips =
      s.serving.disaggregated ? mesh_chips(s.parallelism) : static_cast<double>(chip_count(s.cluster));
  return static_cast<int>(std::min<double>(chips, std::numeric_limits<int>::max())) / s.parallelism.context;
}

DecodingPlan decoding_plan_of(const Scenario& s) {
  DecodingPlan plan;
  plan.data = static_cast<int>(std::min<std::int64_t>(data_ranks(s.parallelism), std::numeric_limits<int>::max()));
  plan.tensor = s.parallelism.tensor, plan.expert = s.parallelism.expert, plan.pipeline = s.parallelism.pipeline;
  plan.batch = s.workload.batch;
  return plan;
}

void apply(Scenario& s, const DecodingPlan& plan) {
  s.parallelism.data = plan.data, s.parallelism.fsdp = 1;
  s.parallelism.tensor = plan.tensor, s.parallelism.expert = plan.expert, s.parallelism.pipeline = plan.pipeline;
  s.workload.batch = plan.batch;
}

ServingRequest serving_request_of(const Scenario& s) {
  ServingRequest request;
  request.most_token_s = s.workload.slo.time_per_output_token_s;
  request.most_ttft_s = s.workload.slo.ttft_s;
  return request;
}

std::optional<ConstraintError> constrain(ServingRequest& request, std::string_view name, std::string_view value,
                                         ConstraintKind how) {
  const NamedField* field = find_named_field(name);
  const auto found = std::find_if(kServedDimensions.begin(), kServedDimensions.end(), [&](const ServedDimension& d) {
    return d.name == name || (field != nullptr && d.path == field->path);
  });
  if (found == kServedDimensions.end())
    return ConstraintError{say("error.search.serving_dimension", name),
                           say("error.there_are", std::string("data, tensor, expert, pipeline, batch"))};
  return constrain(request.*(found->allowed), name, value, how, *find_field(found->path));
}

std::optional<BrokenLimit> broken_limit(const ServingRequest& request, const DecodingPlan& plan) {
  for (const ServedDimension& d : kServedDimensions)
    if (!(request.*d.allowed).allows(plan.*d.value)) return BrokenLimit{d.name, request.*d.allowed};
  return std::nullopt;
}

void place_present(const Scenario& s, const ServingRequest& request, ServingSearchResult& out) {
  out.present = {};
  out.present.plan = decoding_plan_of(s);
  out.present_breaks.reset();
  Pricing own(s, request);
  out.present_legal = own.price_as_is(out.present);
  out.present_missing_bytes = out.present_legal ? own.missing_bytes() : 0;
  out.capacity_bytes = own.capacity_bytes();
  out.present_fits = out.present_legal && !(out.present_missing_bytes > 0);
  if (out.present_legal) out.present_breaks = broken_constraint(request, out.present, out.capacity_bytes);
  if (out.present_legal && !out.present_breaks && request.runs_on && broken_rule(*request.runs_on, s) != nullptr)
    out.present_breaks = BrokenConstraint{BrokenConstraint::Kind::runs_on};
  // With weights sharded over fsdp the present plan is none of the space, whatever its mesh.
  out.present_rank = 0;
  for (std::size_t i = 0; i < out.best.size() && out.present_rank == 0; ++i)
    if (out.best[i].plan == out.present.plan && out.best[i].token_s == out.present.token_s)
      out.present_rank = static_cast<int>(i) + 1;
}

bool has_several_chip_counts(const ServingSearchResult& result) {
  if (result.best.empty()) return false;
  const double first = decoding_chips(result.best.front().plan);
  const auto is_other = [first](const RankedDecoding& one) { return decoding_chips(one.plan) != first; };
  return std::ranges::any_of(result.best, is_other) || std::ranges::any_of(result.front, is_other) ||
         (result.present_legal && is_other(result.present));
}

double score_of(ServingObjective objective, const RankedDecoding& plan) {
  switch (objective) {
    case ServingObjective::throughput:
      return plan.tokens_per_s / plan.slow_scale();
    case ServingObjective::token_time:
      break;
    case ServingObjective::memory:
      return plan.chip_bytes;
  }
  return plan.token_s * plan.slow_scale();
}

ServingSearchResult search_serving(const Scenario& s, const ServingRequest& request, SearchProgress* progress,
                                   const SearchWorkers& run) {
  ServingSearchResult out;
  out.present.plan = decoding_plan_of(s);
  if (!s.serves()) return out;
  out.chip_counts = decoding_chip_counts(s);
  const std::vector<DecodingPlan> meshes = meshes_of(s, request);
  std::vector<MeshOutcome> outcomes(meshes.size());
  if (progress != nullptr) progress->total = meshes.size();
  const auto stopped = [progress] { return progress != nullptr && progress->stop; };
  std::atomic<std::size_t> next{0};
  const auto work = [&](std::size_t) {
    Pricing pricing(s, request);
    for (std::size_t i = next++; i < meshes.size() && !stopped(); i = next++) {
      pricing.mesh(meshes[i], outcomes[i]);
      if (progress != nullptr) ++progress->done;
    }
  };
  if (run)
    run(work);
  else
    work(0);
  if (stopped()) return out;

  std::vector<RankedDecoding> priced;
  for (const MeshOutcome& one : outcomes) {
    out.plans += one.plans;
    for (std::size_t r = 0; r < kServingRejections; ++r) out.rejected[r] += one.rejected[r];
    priced.insert(priced.end(), one.priced.begin(), one.priced.end());
  }
  out.fit = out.plans;
  for (const double count : out.rejected) out.fit -= count;
  const std::size_t sampled = std::min(request.sample, priced.size());
  for (std::size_t i = 0; i < sampled; ++i) out.sample.push_back(priced[i * priced.size() / sampled]);
  for (const RankedDecoding& one : priced)
    if (!one.rejected) out.best.push_back(one);
  out.cells = cells_of(meshes, outcomes, request.objective);
  out.front = front_of(out.best);
  rank(out.best, request);
  place_present(s, request, out);
  out.finished = true;
  return out;
}

}  // namespace roofscape::engine
