#include "engine/serving/service_level.h"

#include <algorithm>

#include "engine/serving/serving_evaluation.h"

namespace roofscape::engine {

double served_time(const Scenario& s, ServedTime which) {
  const ServingEvaluation<double> e = run_serving<double>(s, nullptr);
  return which == ServedTime::first_token ? e.prefill.ttft : e.decode.token_time;
}

int largest_batch_within(const Scenario& scenario, ServedTime which, double limit_s, int most) {
  const Parallelism& plan = scenario.parallelism;
  const std::int64_t ranks = std::int64_t{plan.data} * plan.fsdp * plan.pipeline;
  if (ranks > most) return 0;
  Scenario s = scenario;
  const auto within = [&](int batch) {
    s.workload.batch = batch;
    return served_time(s, which) <= limit_s;
  };
  int meets = static_cast<int>(ranks), misses = most;
  if (!within(meets)) return 0;
  if (within(misses)) return misses;
  while (misses - meets > 1) {
    const int middle = meets + (misses - meets) / 2;
    (within(middle) ? meets : misses) = middle;
  }
  return meets;
}

}  // namespace roofscape::engine
