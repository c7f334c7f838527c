#include "engine/evaluate/service_level.h"

#include <limits>

#include "engine/evaluate/serving_evaluation.h"
#include "engine/scenario/mesh_size.h"

namespace roofscape::engine {

namespace {

// Of the inputs' batch.
ServedTimes times_of(const ServingInputs<double>& si, const Parameters<double>& p) {
  const DecodeCost<double> decode = decode_cost(si, p);
  const PrefillCost<double> prefill = prefill_cost(si, p, decode);
  SteadyState<double> steady = served_requests(si, decode, prefill);
  complete(si, decode, prefill, sequences_in_flight(si, p, steady), steady);
  return {steady.ttft, steady.mixed_token_time};
}

}  // namespace

ServedTimes served_times(const Scenario& s) {
  ServingInputs<double> si;
  read_serving_inputs(s, nullptr, si);
  return times_of(si, count_parameters(si.in.model));
}

double steady_load_of(const Scenario& s, int batch) {
  ServingInputs<double> si;
  read_serving_inputs(s, nullptr, si);
  si.batch = batch;
  if (!si.has_arrivals) return 0;
  const Parameters<double> p = count_parameters(si.in.model);
  const DecodeCost<double> decode = decode_cost(si, p);
  return served_requests(si, decode, prefill_cost(si, p, decode)).load;
}

bool keeps(const ServiceLevel& limits, const ServedTimes& times) {
  return (!(limits.ttft_s > 0) || times.ttft_s <= limits.ttft_s) &&
         (!(limits.time_per_output_token_s > 0) || times.token_s <= limits.time_per_output_token_s);
}

bool keeps_promise(const Scenario& s, const Report& report) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  return keeps(s.workload.slo, {report.quantities.value_or(Q::ttft, kUnknown),
                                report.quantities.value_or(Q::mixed_token_time_q, kUnknown)});
}

int largest_batch_within(const Scenario& s, const ServiceLevel& limits, int most) {
  const std::int64_t least = least_decoding_batch(s.parallelism);
  if (least > most) return 0;
  if (!limits.any()) return most;
  ServingInputs<double> si;
  read_serving_inputs(s, nullptr, si);
  const Parameters<double> p = count_parameters(si.in.model);
  const auto within = [&](int batch) {
    si.batch = batch;
    return keeps(limits, times_of(si, p));
  };
  int meets = static_cast<int>(least), misses = most;
  if (!within(meets)) return 0;
  if (within(misses)) return misses;
  while (misses - meets > 1) {
    const int middle = meets + (misses - meets) / 2;
    (within(middle) ? meets : misses) = middle;
  }
  return meets;
}

}  // namespace roofscape::engine
