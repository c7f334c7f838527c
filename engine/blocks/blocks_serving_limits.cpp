// Serving in small questions: how far model parallelism goes, a batch in its steady state, speculation.
#include <cmath>

#include "engine/blocks/spec.h"
#include "engine/hardware/torus_collective.h"
#include "engine/serving/batching.h"
#include "engine/serving/batching_simulation.h"
#include "engine/serving/limits.h"
#include "engine/serving/speculation.h"
#include "engine/training/book_bounds.h"

namespace roofscape::engine::block_table {

namespace {

template <Scalar S>
void limits(BlockRun<S>& io) {
  const S F = io[Q::d_ff], B = io[Q::lim_batch], M = io[Q::lim_axes], W = io[Q::ici_axis_bandwidth],
          C = io[Q::peak_flops];
  const S w = io[Q::lim_link], hop = io[Q::lim_hop], b = io[Q::element_width], Y = io[Q::lim_ways];
  const bool given = io.knows(Q::lim_alpha_given);
  const S alpha = io.out(Q::lim_alpha, given ? io[Q::lim_alpha_given] : C / W);
  const S tokens = named(Q::lim_tokens, b * alpha / constant<S>(2, unit::flop_each));
  const S compute = io.out(Q::lim_compute, tensor_degree_limit(F, M, tokens));
  io.out(Q::lim_line, one_direction(compute));
  const S beta = io.out(Q::lim_beta, io.knows(Q::lim_beta_given) ? io[Q::lim_beta_given] : io[Q::hbm_bandwidth] / W);
  const S width = named(Q::lim_memory_width, F * M * (io[Q::weight_width_bytes] / b));
  io.out(Q::lim_memory, memory_tensor_limit(width, B, beta));
  const S threshold = io.out(Q::lim_threshold, latency_bound_bytes(Y, w, hop));
  const S activation = io.out(Q::lim_activation, b * B * io[Q::d_model]);
  io.out(Q::lim_latency, threshold / activation);
  io.out(Q::lim_latency_ways, latency_bound_ways(activation, w, hop));
  const S rate = io.out(Q::lim_rate, torus_gather_bandwidth(M, W));
  const S hops = io.out(Q::lim_hops, floor(Y / constant<S>(2)));
  const S least = io.out(Q::lim_floor, hops * hop);
  io.out(Q::lim_collective, max(activation / rate, least));
  const S heads = io.out(Q::lim_kv_ways, min(io[Q::n_kv_heads], io[Q::lim_chips]));
  io.out(Q::lim_batch_ways, io[Q::lim_chips] / heads);
}

template <Scalar S>
void stationary(BlockRun<S>& io) {
  const S N = io[Q::stat_chips], m = io[Q::stat_multiple], M = io[Q::stat_axes], W = io[Q::ici_axis_bandwidth];
  const S X = io.out(Q::stat_x, stationary_ways_of_width(N, m));
  io.out(Q::stat_yz, N / X);
  const S c = io.out(Q::stat_coefficient, stationary_coefficient(m));
  const S unit_bytes =
      named(Q::stat_bytes, io[Q::element_width] * io[Q::stat_batch] * io[Q::d_model] / constant<S>(2));
  const S root = named(Q::stat_root, sqrt(N));
  const S split = io.out(Q::stat_time, c * unit_bytes / (root * W));
  const S plain = io.out(Q::stat_plain, constant<S>(4) * unit_bytes / (M * W));
  io.out(Q::stat_speedup, plain / split);
  const S threshold = io.out(Q::stat_threshold, stationary_chips(m, M));
  io.out(Q::stat_margin, N / threshold);
}

template <Scalar S>
void batching(BlockRun<S>& io) {
  const S b = io[Q::dec_batch], G = io[Q::dec_generated], T = io[Q::bat_step], tp = io[Q::bat_prefill],
          n = io[Q::dec_chips];
  io.out(Q::bat_finished, finished_per_step(b, G));
  const S length = io.out(Q::bat_length, io[Q::bat_prompt] + G);
  io.out(Q::bat_evicted, b * length / G);
  const S requests = io.out(Q::bat_requests, request_rate(b, T, G));
  io.out(Q::bat_chip_requests, requests / n);
  io.out(Q::bat_tokens, b / T);
  io.out(Q::bat_latency, T * G);
  const S ratio = io.out(Q::bat_ratio, prefill_servers(tp, b, T, G));
  io.out(Q::bat_chip_ratio, ratio * io[Q::bat_prefill_chips] / n);
  const S mixed = io.out(Q::bat_mixed, mixed_token_time(T, tp, b, G));
  io.out(Q::bat_mixed_requests, request_rate(b, mixed, G));
  // Little's law, from the step time as a line over the batch.
  const S rate = io[Q::bat_rate], fixed = io[Q::bat_fixed], each = io[Q::bat_each];
  const auto settle = [&](Q load_row, Q batch_row, const S& prefill) {
    const S load = io.out(load_row, offered_load(rate, G, each, prefill));
    const S settled = settled_batch(rate, G, fixed, load);
    if (!(value_of(load) >= 1))
      io.out(batch_row, settled);
    else
      io.without(batch_row, "overloaded");
  };
  settle(Q::bat_load, Q::bat_settled, constant<S>(0, unit::seconds));
  settle(Q::bat_mixed_load, Q::bat_mixed_settled, tp);
}

template <Scalar S>
void batching_simulation(BlockRun<S>& io) {
  const auto number = [&io](Q q) { return value_of(io[q]); };
  BatchingModel model;
  model.arrivals_per_s = number(Q::queue_rate);
  model.slots = io.integer(Q::queue_slots);
  model.step_fixed_s = number(Q::queue_fixed), model.step_each_s = number(Q::queue_each);
  model.tokens_per_step = number(Q::queue_tokens);
  model.disaggregated = io.flag("disaggregated");
  model.prefill_servers = number(Q::queue_servers), model.transfer_s = number(Q::queue_transfer);
  for (const Q needed :
       {Q::queue_rate, Q::queue_slots, Q::queue_output, Q::queue_prefill, Q::queue_fixed, Q::queue_each})
    if (!io.knows(needed))
      for (const BlockInput& in : io.call().block().inputs)
        if (in.q == needed && in.is_numeric()) return io.rest_needs(in.name);
  model.classes = {{1, io.integer(Q::queue_output), number(Q::queue_prefill), io.integer(Q::queue_chunks)}};
  const BatchingResult result = simulate_batching(
      model, {io.integer(Q::queue_requests), static_cast<std::uint64_t>(io.integer(Q::queue_seed))});
  const auto say = [&io](Q q, double x) { io.simulated(q, -1, x); };
  say(Q::queue_ttft_50, result.ttft_s.p50), say(Q::queue_ttft_90, result.ttft_s.p90),
      say(Q::queue_ttft_99, result.ttft_s.p99);
  say(Q::queue_ttft_mean, result.ttft_s.mean);
  say(Q::queue_token_50, result.time_per_token_s.p50), say(Q::queue_token_90, result.time_per_token_s.p90);
  say(Q::queue_token_99, result.time_per_token_s.p99);
  say(Q::queue_batch, result.mean_batch), say(Q::queue_queue, result.mean_queue),
      say(Q::queue_busy, result.busy_fraction);
  say(Q::queue_token_rate, result.tokens_per_s), say(Q::queue_request_rate, result.requests_per_s);
  say(Q::queue_overloaded, result.overloaded ? 1 : 0);
}

template <Scalar S>
void speculation(BlockRun<S>& io) {
  const S a = io[Q::spec_acceptance];
  const S g = io[Q::spec_draft];
  const S tokens = io.knows(Q::spec_draft) ? accepted_tokens(io.integer(Q::spec_draft), a, Q::spec_chance) : g * a;
  const S made = io.out(Q::spec_tokens, tokens);
  const S cost = io.out(Q::spec_round, round_cost(g, io[Q::spec_cost]));
  io.out(Q::spec_speedup, made / cost);
  const S checked = io.out(Q::spec_checked, io[Q::dec_batch] * (g + one<S>()));
  io.out(Q::spec_margin, io[Q::spec_critical] / checked);
}

}  // namespace

std::vector<BuildingBlock> serving_limit_blocks() {
  const auto batch = [] { return whole("batch", Q::dec_batch); };
  return {
      {"serving-limits",
       "scaling book ch. 7 and 8",
       inputs(size_input("d_model"), met_width_input(), size_input("n_heads"), size_input("n_kv_heads"),
              whole("batch", Q::lim_batch), whole("chips", Q::lim_chips), whole("tensor", Q::lim_ways),
              whole("torus_axes", Q::lim_axes).def(1).up_to(3), element_input(),
              number("weight_bytes", Q::weight_width_bytes).def(2), dtype_input(), peak_input(), hbm_input(),
              axis_input(), number("link_bytes_per_s", Q::lim_link).of("ici_bytes_per_s_per_link_oneway"),
              number("hop_s", Q::lim_hop).of("ici_hop_latency_s").def(1e-6),
              number("ici_intensity", Q::lim_alpha_given), number("hbm_over_ici", Q::lim_beta_given)),
       {out("intensity", Q::lim_alpha), out("tensor_limit", Q::lim_compute),
        out("tensor_limit_without_rings", Q::lim_line), out("hbm_to_ici", Q::lim_beta),
        out("tensor_limit_memory_bound", Q::lim_memory), out("latency_bound_bytes", Q::lim_threshold),
        out("activation_bytes", Q::lim_activation),
        out_holds("latency_bound", Q::lim_latency, std::nextafter(1.0, 2.0)),
        out("latency_bound_ways", Q::lim_latency_ways), out("bandwidth_bytes_per_s", Q::lim_rate),
        out("hops", Q::lim_hops), out("latency_s", Q::lim_floor), out("gather_s", Q::lim_collective),
        out("kv_head_ways", Q::lim_kv_ways), out("kv_batch_ways", Q::lim_batch_ways)},
       limits<double>,
       limits<Traced>},
      {"weight-stationary",
       "scaling book ch. 7",
       inputs(whole("chips", Q::stat_chips), size_input("d_model"), met_width_input(),
              number("ff_multiple", Q::stat_multiple)
                  .from("d_ff / d_model",
                        [](const BlockCall& c) -> std::optional<double> {
                          const double ratio = c.number("d_ff") / c.number("d_model");
                          return ratio > 0 ? std::optional(ratio) : std::nullopt;
                        })
                  .def(4),
              whole("batch", Q::stat_batch), torus_axes_input("axes", Q::stat_axes, 3), element_input(),
              axis_input()),
       {out("ways_of_d_model", Q::stat_x), out("ways_of_d_ff", Q::stat_yz), out("coefficient", Q::stat_coefficient),
        out("time_s", Q::stat_time), out("tensor_parallel_s", Q::stat_plain),
        out("faster_from_chips", Q::stat_threshold), out_holds("faster", Q::stat_margin, 1),
        out("speedup", Q::stat_speedup)},
       stationary<double>,
       stationary<Traced>},
      {"batching",
       "scaling book ch. 7 and 8; Little's law",
       inputs(batch(), number("prompt_tokens", Q::bat_prompt), number("generated_tokens", Q::dec_generated),
              number("step_s", Q::bat_step), number("prefill_s", Q::bat_prefill), whole("chips", Q::dec_chips).def(1),
              whole("prefill_chips", Q::bat_prefill_chips).def(1), number("arrivals_per_s", Q::bat_rate),
              number("step_fixed_s", Q::bat_fixed), number("step_per_sequence_s", Q::bat_each).at_least(0)),
       {out("finished_per_step", Q::bat_finished), out("sequence_tokens", Q::bat_length),
        out("evicted_tokens_per_step", Q::bat_evicted), out("requests_per_s", Q::bat_requests),
        out("requests_per_s_per_chip", Q::bat_chip_requests), out("tokens_per_s", Q::bat_tokens),
        out("sequence_s", Q::bat_latency), out("prefill_servers_per_decode", Q::bat_ratio),
        out("prefill_chips_per_decode", Q::bat_chip_ratio), out("mixed_step_s", Q::bat_mixed),
        out("mixed_requests_per_s", Q::bat_mixed_requests), out("load", Q::bat_load),
        out("steady_batch", Q::bat_settled), out("mixed_load", Q::bat_mixed_load),
        out("mixed_steady_batch", Q::bat_mixed_settled)},
       batching<double>,
       batching<Traced>},
      {"batching-simulation",
       "discrete simulation of continuous batching",
       inputs(number("arrivals_per_s", Q::queue_rate), whole("slots", Q::queue_slots).up_to(1e6),
              whole("output_tokens", Q::queue_output).up_to(1e6), number("prefill_s", Q::queue_prefill),
              whole("chunks", Q::queue_chunks).def(1).up_to(1e6), number("step_fixed_s", Q::queue_fixed).at_least(0),
              number("step_per_sequence_s", Q::queue_each).at_least(0),
              number("tokens_per_step", Q::queue_tokens).def(1).at_least(1), flag("disaggregated", false),
              number("prefill_replicas", Q::queue_servers).def(1).up_to(1e4),
              number("transfer_s", Q::queue_transfer).def(0).at_least(0),
              whole("requests", Q::queue_requests).def(2000).up_to(1e5),
              whole("seed", Q::queue_seed).def(1).up_to(1e9)),
       {out("ttft_p50_s", Q::queue_ttft_50), out("ttft_p90_s", Q::queue_ttft_90), out("ttft_p99_s", Q::queue_ttft_99),
        out("ttft_mean_s", Q::queue_ttft_mean), out("time_per_token_p50_s", Q::queue_token_50),
        out("time_per_token_p90_s", Q::queue_token_90), out("time_per_token_p99_s", Q::queue_token_99),
        out("mean_batch", Q::queue_batch), out("mean_queue", Q::queue_queue), out("busy", Q::queue_busy),
        out("tokens_per_s", Q::queue_token_rate), out("requests_per_s", Q::queue_request_rate),
        out_holds("overloaded", Q::queue_overloaded, 0.5)},
       batching_simulation<double>,
       batching_simulation<Traced>,
       BlockTopic::serving,
       true},
      {"speculation",
       "Leviathan et al. 2023",
       inputs(whole("draft_tokens", Q::spec_draft).up_to(kMostDraftTokens),
              fraction("acceptance", Q::spec_acceptance).at_least(0),
              number("draft_cost", Q::spec_cost).def(0).at_least(0), batch(),
              number("critical_batch", Q::spec_critical)),
       {out("tokens_per_step", Q::spec_tokens), out("steps_per_round", Q::spec_round),
        out("speedup", Q::spec_speedup), out("tokens_checked", Q::spec_checked),
        out_holds("checking_is_free", Q::spec_margin, 1)},
       speculation<double>,
       speculation<Traced>},
  };
}

}  // namespace roofscape::engine::block_table
