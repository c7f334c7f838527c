#include "engine/search/serving_search.h"

#include <algorithm>
#include <tuple>

#include "engine/evaluate.h"

namespace roofscape::engine {
namespace {

constexpr int kBeyondMemory = 1;      // doublings of the batch past the last that fits, which are counted as too large
constexpr int kLargestBatch = 1 << 24;

bool has_own_prefill(const Scenario& s) { return s.serving.disaggregated; }

// Chips that decode: all of the cluster, unless some are prefill's own.
int decoding_chips(const Scenario& s) {
  const Parallelism& p = s.parallelism;
  if (has_own_prefill(s)) return p.data * p.fsdp * p.tensor * p.pipeline;
  return static_cast<int>(chip_count(s.cluster)) / std::max(1, p.context);
}

// What is asked for comes first, then what is good for the user and for the chip, then a fixed order.
auto key_of(const DecodingPlan& p, ServingObjective objective) {
  const double first = objective == ServingObjective::throughput ? -p.tokens_per_s_per_chip : objective == ServingObjective::token_time ? p.token_s : p.chip_bytes;
  return std::tuple(first, p.token_s, -p.tokens_per_s_per_chip, p.tensor, p.pipeline, p.expert, p.batch);
}

class Search {
 public:
  Search(const Scenario& s, const ServingRequest& request) : s_(s), request_(request) {
    limit_bytes_ = s.cluster.chip[ChipField::hbm_bytes].value.value_or(0) * (1 - request.min_free);
  }

  void mesh(DecodingPlan plan, ServingSearchResult& out) {
    // Batches from one sequence a rank.
    const std::int64_t ranks = std::int64_t{plan.data} * plan.pipeline;
    int beyond = 0;
    for (std::int64_t batch = ranks; batch <= kLargestBatch && beyond <= kBeyondMemory; batch *= 2) {
      plan.batch = static_cast<int>(batch);
      if (!request_.batch.allows(plan.batch)) continue;
      out.plans += 1;
      if (!price(plan)) {
        out.rejected[static_cast<std::size_t>(ServingRejection::mesh)] += 1;
        return;
      }
      if (!(plan.chip_bytes <= limit_bytes_)) {
        out.rejected[static_cast<std::size_t>(ServingRejection::memory)] += 1;
        ++beyond;
      } else if (breaks_promise(plan)) {
        out.rejected[static_cast<std::size_t>(ServingRejection::slow)] += 1;
      } else {
        out.fit += 1;
        found.push_back(plan);
      }
    }
  }

  bool price(DecodingPlan& plan) {
    apply(s_, plan);
    evaluate(s_, scratch_, report_);
    const auto q = [this](Q id) { return report_.quantities.value_or(id, 0); };
    if (report_.has_errors() || !(q(Q::time_per_output_token) > 0)) return false;
    plan.token_s = q(Q::time_per_output_token);
    plan.ttft_s = q(Q::ttft);
    plan.tokens_per_s = q(Q::serving_tokens_per_s);
    plan.tokens_per_s_per_chip = q(Q::serving_tokens_per_chip);
    plan.chip_bytes = q(Q::memory_total);
    return true;
  }
  bool fits(const DecodingPlan& plan) const { return plan.chip_bytes <= limit_bytes_; }

  std::vector<DecodingPlan> found;

 private:
  bool breaks_promise(const DecodingPlan& p) const {
    return (request_.most_token_s > 0 && p.token_s > request_.most_token_s) || (request_.most_ttft_s > 0 && p.ttft_s > request_.most_ttft_s);
  }
  Scenario s_;
  const ServingRequest& request_;
  double limit_bytes_ = 0;
  EvaluationScratch scratch_;
  Report report_;
};

std::vector<DecodingPlan> front_of(std::vector<DecodingPlan> plans) {
  std::sort(plans.begin(), plans.end(), [](const DecodingPlan& a, const DecodingPlan& b) {
    return key_of(a, ServingObjective::token_time) < key_of(b, ServingObjective::token_time);
  });
  std::vector<DecodingPlan> front;
  for (const DecodingPlan& p : plans)
    if (front.empty() || p.tokens_per_s_per_chip > front.back().tokens_per_s_per_chip) front.push_back(p);
  return front;
}

}  // namespace

DecodingPlan decoding_plan_of(const Scenario& s) {
  DecodingPlan plan;
  plan.data = s.parallelism.data * s.parallelism.fsdp;
  plan.tensor = s.parallelism.tensor, plan.expert = s.parallelism.expert, plan.pipeline = s.parallelism.pipeline;
  plan.batch = s.workload.batch;
  return plan;
}

void apply(Scenario& s, const DecodingPlan& plan) {
  s.parallelism.data = plan.data, s.parallelism.fsdp = 1;
  s.parallelism.tensor = plan.tensor, s.parallelism.expert = plan.expert, s.parallelism.pipeline = plan.pipeline;
  s.workload.batch = plan.batch;
}

std::optional<ConstraintError> constrain(ServingRequest& request, std::string_view name, std::string_view value, ConstraintKind how) {
  struct Named {
    std::string_view name;
    Allowed ServingRequest::*allowed;
  };
  constexpr std::array<Named, 5> kDimensions{{{"data", &ServingRequest::data},
                                                  {"tensor", &ServingRequest::tensor},
                                                  {"expert", &ServingRequest::expert},
                                                  {"pipeline", &ServingRequest::pipeline},
                                                  {"batch", &ServingRequest::batch}}};
  const auto found = std::find_if(kDimensions.begin(), kDimensions.end(), [&](const Named& d) { return d.name == name; });
  if (found == kDimensions.end())
    return ConstraintError{"serving has no dimension \"" + std::string(name) + "\"", "there are: data, tensor, expert, pipeline, batch"};
  // Numbers are read as those of any degree are.
  PlanSpace space;
  space.data = request.*(found->allowed);
  if (auto error = constrain(space, "data", value, how)) {
    if (error->message.starts_with("data ")) error->message.replace(0, 4, name);
    else if (const std::size_t at = error->message.rfind("data"); at != std::string::npos) error->message.replace(at, 4, name);
    return error;
  }
  request.*(found->allowed) = space.data;
  return std::nullopt;
}

ServingSearchResult search_serving(const Scenario& s, const ServingRequest& request) {
  ServingSearchResult out;
  out.present = decoding_plan_of(s);
  if (s.workload.kind != WorkloadKind::serving) return out;
  Search search(s, request);
  out.present_legal = search.price(out.present);
  out.present_fits = out.present_legal && search.fits(out.present);
  const int chips = decoding_chips(s);
  const std::vector<int> experts = s.model.is_moe() ? divisors(s.model.moe.n_routed_experts) : std::vector<int>{1};
  for (const int tensor : divisors(chips)) {
    if (!request.tensor.allows(tensor) || s.model.n_heads % tensor != 0) continue;
    for (const int pipeline : divisors(chips / tensor)) {
      if (!request.pipeline.allows(pipeline) || pipeline > s.model.n_layers) continue;
      const int data = chips / tensor / pipeline;
      if (!request.data.allows(data)) continue;
      for (const int expert : experts)
        if (request.expert.allows(expert)) search.mesh({data, tensor, expert, pipeline, 1}, out);
    }
  }
  out.front = front_of(search.found);
  out.best = std::move(search.found);
  std::sort(out.best.begin(), out.best.end(), [&](const DecodingPlan& a, const DecodingPlan& b) { return key_of(a, request.objective) < key_of(b, request.objective); });
  if (out.best.size() > request.limit) out.best.resize(request.limit);
  return out;
}

}  // namespace roofscape::engine
