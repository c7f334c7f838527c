#include "engine/serving/steady_state.h"

#include <algorithm>
#include <cmath>

#include "engine/base/time_units.h"
#include "engine/serving/batching.h"

namespace roofscape::engine {

namespace {

constexpr int kMostDoublings = 40;
constexpr int kMostSteps = 80;
constexpr double kClose = 1e-13;  // of the number of sequences

}  // namespace

template <Scalar S>
SteadyState<S> served_requests(const ServingInputs<S>& si, const DecodeCost<S>& decode,
                               const PrefillCost<S>& prefill) {
  SteadyState<S> out;
  out.decode_requests = named(Q::decode_requests, request_rate(si.batch, decode.token_time, si.output));
  // Of one prompt, where several go through together.
  out.interval =
      si.prompts_together > 1 ? named(Q::prefill_share_time, prefill.interval / si.prompts) : S(prefill.interval);
  out.prefill_requests = named(Q::prefill_requests, prefill.replicas / out.interval);
  if (si.disaggregated) {
    out.full_token_time = decode.token_time;
    out.capacity = named(Q::capacity_requests, min(out.decode_requests, out.prefill_requests));
  } else {
    out.full_token_time = mixed_token_time(decode.token_time, out.interval, decode.replica_sequences, si.output);
    out.capacity = named(Q::capacity_requests, request_rate(si.batch, out.full_token_time, si.output));
  }
  if (si.has_arrivals) out.load = named(Q::steady_load, si.arrivals / out.capacity);
  out.requests =
      named(Q::requests_per_s, si.has_arrivals ? min(si.arrivals, out.capacity) : constant<S>(1) * out.capacity);
  out.prefill_load = named(Q::prefill_load, out.requests / out.prefill_requests);
  return out;
}

InFlight sequences_in_flight(const ServingInputs<double>& si, const Parameters<double>& p,
                             const SteadyState<double>& steady) {
  InFlight out;
  // At its own capacity decoding has every slot taken; below it, as many as balance.
  const double full = request_rate(si.batch, steady.full_token_time, si.output);
  if (!(steady.requests < full)) return out;
  const PhaseMesh<double>& mesh = si.decode;
  const double ranks = mesh.degree(Axis::data).x * mesh.degree(Axis::fsdp).x * mesh.degree(Axis::pipeline).x;
  const double prefills = si.disaggregated ? 1 : 1 - steady.prefill_load;
  const double each = steady.requests * si.output / prefills;  // sequences in flight a second of token time
  ServingInputs<double> at = si;
  // Sequences that the requests hold at the pace of `batch` of them. A step has at least one for every rank, else
  // there is no step.
  const auto held = [&](double batch) {
    at.batch = std::max(batch, ranks);
    const DecodeCost<double> decode = decode_cost(at, p);
    out.token_time_s = decode.token_time, out.step_s = decode.step;
    return each * decode.token_time;
  };
  // Step times grow no faster than the batch, so there is one balance. It is searched between bounds that do not
  // depend on workload.batch: the same sequences are in flight whatever the slots beyond them.
  double low = 0, high = ranks, above = 0, below = held(high) - high;
  for (int i = 0; below > 0 && i < kMostDoublings; ++i) {
    low = high, above = below;
    high *= 2;
    below = held(high) - high;
  }
  out.fewer = below <= 0;                  // else figures are not known
  if (!out.fewer || low == 0) return out;  // one for every rank, or fewer: the step is what it is
  // False position with halving (Illinois).
  for (int i = 0, side = 0; i < kMostSteps && high - low > kClose * high && below < 0; ++i) {
    const double middle = std::clamp(high - below * (high - low) / (below - above), low, high);
    const double value = held(middle) - middle;
    if (value > 0) {
      low = middle, above = value;
      if (side == 1) below /= 2;
      side = 1;
    } else {
      high = middle, below = value;
      if (side == -1) above /= 2;
      side = -1;
    }
  }
  held(high);
  return out;
}

template <Scalar S>
void complete(const ServingInputs<S>& si, const DecodeCost<S>& decode, const PrefillCost<S>& prefill,
              const InFlight& in_flight, SteadyState<S>& out) {
  constexpr std::string_view kBalance = "evaluated with the sequences in flight, at which as many leave as arrive";
  const S one = constant<S>(1), hour = constant<S>(kSecondsPerHour, unit::seconds_each), million = constant<S>(1e6);
  out.in_flight = in_flight;
  Trace* trace = trace_of(si.batch);
  out.token_time = in_flight.fewer
                       ? input_leaf<S>(trace, Q::in_flight_token_time, -1, in_flight.token_time_s, kBalance)
                       : S(decode.token_time);
  out.step =
      in_flight.fewer ? input_leaf<S>(trace, Q::in_flight_step, -1, in_flight.step_s, kBalance) : S(decode.step);
  if (!in_flight.fewer) {
    out.mixed_token_time = named(Q::mixed_token_time_q, one * out.full_token_time);
    out.batch = named(Q::steady_batch, one * si.batch);
  } else {
    out.mixed_token_time = named(Q::mixed_token_time_q,
                                 si.disaggregated ? one * out.token_time : out.token_time / (one - out.prefill_load));
    out.batch = named(Q::steady_batch, min(si.batch, out.requests * si.output * out.mixed_token_time));
  }
  out.sustained_tokens = named(Q::sustained_tokens, out.requests * si.output);
  const S chips = si.disaggregated ? decode.chips + prefill.chips : one * decode.chips;
  out.sustained_per_chip = named(Q::sustained_tokens_per_chip, out.sustained_tokens / chips);

  const S servers = prefill_servers(out.interval, decode.replica_sequences, decode.token_time, si.output);
  out.prefill_servers = named(Q::prefill_servers_q, servers);
  const S prefill_each = prefill.chips / prefill.replicas, decode_each = decode.chips / decode.replicas;
  out.prefill_chip_ratio = named(Q::prefill_chip_ratio, out.prefill_servers * prefill_each / decode_each);

  out.ttft_interleave =
      named(Q::ttft_interleave, si.chunked && !si.disaggregated ? (prefill.chunks - one) * out.step : S(si.in.zero));
  const S ready = prefill.time + out.ttft_interleave + prefill.transfer;
  const bool calibrated = si.in.calibrated;
  out.ttft_host = named(Q::ttft_host, calibrated ? one * si.in.calibration[Calibrated::request_host] : S(si.in.zero));
  out.ttft = named(Q::ttft, calibrated ? ready + out.ttft_host : ready);
  out.request_time = named(Q::request_time, out.ttft + (si.output - one) * out.mixed_token_time);

  const S hour_tokens = named(Q::serving_hour_tokens, decode.tokens_per_s * hour);
  out.cost = named(Q::serving_cost, million * decode.chips * si.in.chip.price / hour_tokens);
  const S sustained = named(Q::sustained_hour_tokens, out.sustained_tokens * hour);
  out.sustained_cost = named(Q::sustained_cost, million * chips * si.in.chip.price / sustained);
}

ROOFSCAPE_STEADY_STATE(, double)
ROOFSCAPE_STEADY_STATE(, Traced)

}  // namespace roofscape::engine
