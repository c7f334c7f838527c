// Serving in small questions: a decoding step, a prefill, what fits.
#include <algorithm>

#include "engine/base/time_units.h"
#include "engine/blocks/spec.h"
#include "engine/model/kv_cache.h"
#include "engine/model/layer_operations.h"
#include "engine/serving/capacity.h"
#include "engine/serving/decode.h"
#include "engine/serving/prefill.h"

namespace roofscape::engine::block_table {

namespace {

constexpr const char* kTokenText = "of the model, with kv_element_bytes";

// Bytes of a token in the cache of the model preset; a window counts for sequences as long as the context.
std::optional<double> token_bytes(const BlockCall& call) {
  if (call.model() == nullptr) return std::nullopt;
  const double context =
      call.block().find_input("context") != nullptr ? call.number("context") : call.number("tokens");
  const ModelDims<double> dims = make_model_dims<double>(*call.model(), nullptr);
  return kv_cache_bytes_per_token(dims, call.number("kv_element_bytes"), context > 0 ? context : 1.0);
}

In weight_input() { return number("weight_bytes", Q::weight_width_bytes).def(2); }
In kv_element_input() { return number("kv_element_bytes", Q::dec_kv_element).def(2); }
In kv_token_input() { return number("kv_bytes_per_token", Q::dec_token).at_least(0).from(kTokenText, token_bytes); }
In capacity_input() { return number("capacity_bytes", Q::hbm_capacity).of("hbm_bytes"); }

template <Scalar S>
S weight_total(BlockRun<S>& io) {
  return io.knows(Q::dec_weights_given) ? io[Q::dec_weights_given]
                                        : io[Q::state_parameters] * io[Q::weight_width_bytes];
}
template <Scalar S>
S sequence_total(BlockRun<S>& io) {
  return io.knows(Q::dec_sequence_given) ? io[Q::dec_sequence_given] : io[Q::dec_token] * io[Q::dec_context];
}

template <Scalar S>
void decode(BlockRun<S>& io) {
  const S P = io[Q::dec_active], b = io[Q::dec_batch], n = io[Q::dec_chips], C = io[Q::peak_flops];
  const S W = io[Q::hbm_bandwidth], G = io[Q::dec_generated], each = io[Q::dec_tokens_each];
  const S sequence = io.out(Q::dec_sequence, sequence_total(io));
  const S weights = io.out(Q::dec_weights, weight_total(io));
  const S kv = io.out(Q::dec_kv, b * sequence);
  const S total = io.out(Q::dec_total, kv + weights);
  const S kv_time = io.out(Q::dec_kv_time, hbm_read_seconds(kv, n, W));
  const S weight_time = io.out(Q::dec_weight_time, hbm_read_seconds(weights, n, W));
  const S checked = io.knows(Q::spec_draft) ? named(Q::spec_checked, b * (io[Q::spec_draft] + one<S>())) : b;
  const S flops = io.out(Q::dec_flops, linear_flops(P, checked));
  const S flops_time = io.out(Q::dec_flops_time, flops_seconds(flops, n, C));
  const S linear = io.out(Q::dec_linear, linear_seconds(flops_time, weight_time));
  io.out(Q::dec_margin, flops_time / weight_time);
  const S step = io.out(Q::dec_step, kv_time + linear);
  const S low = io.out(Q::dec_bandwidth_step, hbm_read_seconds(total, n, W));
  const S rate = io.out(Q::dec_rate, each * b / step);
  io.out(Q::dec_chip_rate, rate / n);
  io.out(Q::dec_user_rate, each / step);
  io.out(Q::dec_bandwidth_rate, each * b / low);
  const S requests = io.out(Q::dec_requests, rate / G);
  io.out(Q::dec_chip_requests, requests / n);
  io.out(Q::dec_share, kv_time / step);
  // What fits.
  const S hbm = io.out(Q::dec_hbm, n * io[Q::hbm_capacity]);
  io.out(Q::dec_free, hbm - total);
  const S room = io.out(Q::dec_room, hbm - weights);
  io.out(Q::dec_most, max(sequences_that_fit(room, sequence), constant<S>(0)));
  io.out(Q::dec_exceeding, ceil(weights / sequence));
  // Where it stops paying.
  const S critical = io.out(Q::dec_critical, critical_batch(io[Q::weight_width_bytes], C, W));
  io.out(Q::dec_critical_sparse, critical * (io[Q::state_parameters] / P));
  io.out(Q::dec_plateau, n * W / sequence);
  io.out(Q::dec_ceiling, n * C / linear_flops(P, one<S>()));
  const S cache_each = io.out(Q::dec_each, hbm_read_seconds(sequence, n, W));
  const S flops_each = io.out(Q::dec_each_flops, flops_seconds(linear_flops(P, one<S>()), n, C));
  io.out(Q::dec_within, max(batch_within(io[Q::dec_limit], cache_each, flops_each, weight_time), constant<S>(0)));
  const S hour = io.out(Q::dec_hour_tokens, rate * constant<S>(kSecondsPerHour, unit::seconds_each));
  io.out(Q::dec_cost, constant<S>(1e6) * n * io[Q::price] / hour);
}

template <Scalar S>
void prefill(BlockRun<S>& io) {
  if (!is_possible(io)) return;
  const S P = io[Q::dec_active], T = io[Q::pre_tokens], n = io[Q::dec_chips], C = io[Q::peak_flops],
          W = io[Q::hbm_bandwidth];
  const S hit = io[Q::pre_hit];
  if (value_of(hit) > value_of(T))
    return io.fail("prefix_hit_tokens", say("error.block.prefix"), say("error.block.prefix.remedy"));
  const S fresh = io.out(Q::pre_fresh, T - hit);
  const S linear = io.out(Q::pre_linear, linear_flops(P, fresh));
  const S all = prefill_span(hit, fresh, io.flag("causal"));
  S span = all;
  if (io.knows(Q::window_tokens)) {
    const ModelDims<S> m = dims_of(io);
    const S whole_span = named(Q::pre_span_all, all);
    span = mean_of_layers(m, whole_span, min(m.window_tokens, whole_span));
  }
  span = io.out(Q::pre_span, span);
  const S width = named(Q::pre_width, io.knows(Q::attention_width) ? io[Q::attention_width] * one<S>()
                                                                   : io[Q::n_heads] * io[Q::d_head]);
  const S attention = io.out(Q::pre_attention, attention_flops(fresh, span, width, io[Q::n_layers]));
  const S flops = io.out(Q::pre_flops, linear + attention);
  const S reach = io.out(Q::pre_reach, n * C * io[Q::pre_mfu]);
  const S linear_time = io.out(Q::pre_linear_time, linear / reach);
  io.out(Q::pre_attention_time, attention / reach);
  const S time = io.out(Q::pre_time, flops / reach);
  io.out(Q::pre_share, attention / flops);
  io.out(Q::pre_saving, prefix_saving(hit, T));
  const S weights = io.out(Q::pre_weights, weight_total(io));
  io.out(Q::pre_weight_time, hbm_read_seconds(weights, n, W));
  const S critical = io.out(Q::pre_critical, critical_batch(io[Q::weight_width_bytes], C, W));
  io.out(Q::pre_margin, fresh / critical);
  io.out(Q::pre_activation, io[Q::element_width] * fresh * io[Q::d_model]);
  const S cache = io.out(Q::pre_cache, io[Q::dec_token] * T);
  const S transfer = io.out(Q::pre_transfer, cache / io[Q::pre_link]);
  const S chunks = io.out(Q::pre_chunks, prefill_chunks(fresh, io[Q::pre_chunk]));
  io.out(Q::pre_chunk_time, time / chunks);
  // Without the shape of its attention a prefill is that of its linear layers; without a link nothing is sent.
  const bool whole =
      io.knows(Q::n_layers) && (io.knows(Q::attention_width) || (io.knows(Q::n_heads) && io.knows(Q::d_head)));
  const S work = whole ? time : linear_time;
  const S waiting = io[Q::pre_queue] + work;
  io.out(Q::pre_ttft, io.knows(Q::pre_link) ? waiting + transfer : waiting);
}

template <Scalar S>
void capacity(BlockRun<S>& io) {
  const S n = io[Q::dec_chips], M = io[Q::hbm_capacity], W = io[Q::hbm_bandwidth];
  const S weights = io.out(Q::dec_weights, weight_total(io));
  const S sequence = io.out(Q::dec_sequence, sequence_total(io));
  const S kv = io.out(Q::dec_kv, io[Q::dec_batch] * sequence);
  const S extra = io[Q::cap_extra];
  // Without sequences asked for, all bytes are the weights and what else is given.
  const bool sequences = io.knows(Q::dec_batch);
  const S total = io.out(Q::cap_total, sequences ? weights + kv + extra : weights + extra);
  const S raw = io.out(Q::cap_raw, total / M);
  io.out(Q::cap_whole, ceil(raw));
  const S weight_raw = io.out(Q::cap_weight_raw, weights / M);
  std::vector<double> sizes;
  for (const int size : io.integers(Q::cap_slices)) sizes.push_back(size);
  std::sort(sizes.begin(), sizes.end());
  io.simulated(Q::cap_slice, -1, next_slice(value_of(raw), sizes));
  io.simulated(Q::cap_weight_slice, -1, next_slice(value_of(weight_raw), sizes));
  io.simulated(Q::cap_power, -1, next_power_of_two(value_of(raw)));
  io.simulated(Q::cap_weight_power, -1, next_power_of_two(value_of(weight_raw)));
  const S hbm = io.out(Q::dec_hbm, n * M);
  const S room = io.out(Q::dec_room, hbm - weights - extra);
  const S most = io.out(Q::dec_most, max(sequences_that_fit(room, sequence), constant<S>(0)));
  io.out(Q::cap_chip_sequences, most / n);
  io.out(Q::dec_free, hbm - total);
  io.out(Q::dec_exceeding, ceil(weights / sequence));
  io.out(Q::cap_chip, total / n);
  const S chip = io.out(Q::cap_weights_chip, weights / n);
  io.out(Q::cap_load, chip / W);
  io.out(Q::cap_chip_free, M - chip);
  io.out(Q::cap_dram_sequences, sequences_that_fit(io[Q::cap_dram], sequence));
  io.out(Q::cap_reload, sequence / (n * io[Q::transfer_pcie]));
  io.out(Q::cap_sweep, M / W);
}

}  // namespace

std::vector<BuildingBlock> serving_blocks() {
  const auto weights_given = [] { return number("weights_bytes", Q::dec_weights_given); };
  const auto sequence_given = [] { return number("kv_bytes_per_sequence", Q::dec_sequence_given); };
  const auto chips = [] { return whole("chips", Q::dec_chips).def(1); };
  return {
      {"decode",
       "scaling book ch. 7 and 8",
       inputs(parameters_input(), active_parameters_input(), weight_input(), weights_given(),
              number("context", Q::dec_context), kv_element_input(), kv_token_input(), sequence_given(),
              whole("batch", Q::dec_batch).def(1), chips(), dtype_input(), peak_input(), hbm_input(),
              capacity_input(), number("generated_tokens", Q::dec_generated), number("step_limit_s", Q::dec_limit),
              number("tokens_per_step", Q::dec_tokens_each).def(1), number("draft_tokens", Q::spec_draft).at_least(0),
              number("price_usd_per_hour", Q::price).of("price_usd_per_chip_hour")),
       {out("kv_bytes_per_sequence", Q::dec_sequence),
        out("kv_bytes", Q::dec_kv),
        out("weights_bytes", Q::dec_weights),
        out("total_bytes", Q::dec_total),
        out("kv_s", Q::dec_kv_time),
        out("weights_s", Q::dec_weight_time),
        out("flops", Q::dec_flops),
        out("flops_s", Q::dec_flops_time),
        out("linear_s", Q::dec_linear),
        out_word("regime", Q::dec_margin, 1, "compute", "memory"),
        out("step_s", Q::dec_step),
        out("bandwidth_step_s", Q::dec_bandwidth_step),
        out("tokens_per_s", Q::dec_rate),
        out("tokens_per_s_per_chip", Q::dec_chip_rate),
        out("tokens_per_s_per_sequence", Q::dec_user_rate),
        out("bandwidth_tokens_per_s", Q::dec_bandwidth_rate),
        out("requests_per_s", Q::dec_requests),
        out("requests_per_s_per_chip", Q::dec_chip_requests),
        out("kv_share", Q::dec_share),
        out_holds("fits", Q::dec_free, 0),
        out("hbm_bytes", Q::dec_hbm),
        out("free_bytes", Q::dec_free),
        out("room_bytes", Q::dec_room),
        out("max_batch", Q::dec_most),
        out("caches_to_exceed_weights", Q::dec_exceeding),
        out("critical_batch", Q::dec_critical),
        out("critical_batch_sparse", Q::dec_critical_sparse),
        out("kv_plateau_tokens_per_s", Q::dec_plateau),
        out("compute_plateau_tokens_per_s", Q::dec_ceiling),
        out("sequence_kv_s", Q::dec_each),
        out("sequence_flops_s", Q::dec_each_flops),
        out("batch_within_limit", Q::dec_within),
        out("cost_per_million_tokens_usd", Q::dec_cost)},
       decode<double>,
       decode<Traced>},
      {"prefill",
       "scaling book ch. 7 and 8",
       inputs(parameters_input(), active_parameters_input(), weight_input(), weights_given(),
              number("tokens", Q::pre_tokens), number("prefix_hit_tokens", Q::pre_hit).def(0).at_least(0),
              flag("causal", true), model_inputs(), window_inputs(), attention_width_input(), element_input(),
              kv_element_input(), kv_token_input(), chips(), dtype_input(), peak_input(),
              fraction("mfu", Q::pre_mfu).def(1), hbm_input(), number("chunk_tokens", Q::pre_chunk),
              number("transfer_bytes_per_s", Q::pre_link), number("queue_s", Q::pre_queue).def(0).at_least(0)),
       {out("new_tokens", Q::pre_fresh),
        out("linear_flops", Q::pre_linear),
        out("attention_flops", Q::pre_attention),
        out("flops", Q::pre_flops),
        out("flops_per_s", Q::pre_reach),
        out("linear_s", Q::pre_linear_time),
        out("attention_s", Q::pre_attention_time),
        out("time_s", Q::pre_time),
        out("attention_share", Q::pre_share),
        out("keys_met", Q::pre_span),
        out("prefix_saving", Q::pre_saving),
        out("weights_bytes", Q::pre_weights),
        out("weights_s", Q::pre_weight_time),
        out("critical_tokens", Q::pre_critical),
        out_holds("compute_bound", Q::pre_margin, 1),
        out("activation_bytes", Q::pre_activation),
        out("kv_bytes", Q::pre_cache),
        out("transfer_s", Q::pre_transfer),
        out("chunks", Q::pre_chunks),
        out("chunk_s", Q::pre_chunk_time),
        out("ttft_s", Q::pre_ttft)},
       prefill<double>,
       prefill<Traced>},
      {"serving-capacity",
       "scaling book ch. 7 and 8",
       inputs(parameters_input(), weight_input(), weights_given(), number("context", Q::dec_context),
              kv_element_input(), kv_token_input(), sequence_given(), whole("batch", Q::dec_batch),
              number("extra_bytes", Q::cap_extra).def(0).at_least(0), chips(), capacity_input(), hbm_input(),
              wholes("slices", Q::cap_slices).def({1, 4, 8, 16, 32, 64, 128, 256}).entries(32),
              number("host_dram_bytes", Q::cap_dram).of("host_dram_bytes"),
              number("pcie_bytes_per_s", Q::transfer_pcie).of("host_pcie_bytes_per_s_per_chip")),
       {out("weights_bytes", Q::dec_weights),
        out("kv_bytes_per_sequence", Q::dec_sequence),
        out("kv_bytes", Q::dec_kv),
        out("total_bytes", Q::cap_total),
        out("minimum_chips", Q::cap_raw),
        out("minimum_chips_whole", Q::cap_whole),
        out("slice", Q::cap_slice),
        out("power_of_two", Q::cap_power),
        out("weights_chips", Q::cap_weight_raw),
        out("weights_slice", Q::cap_weight_slice),
        out("weights_power_of_two", Q::cap_weight_power),
        out("hbm_bytes", Q::dec_hbm),
        out("room_bytes", Q::dec_room),
        out("max_batch", Q::dec_most),
        out("max_batch_per_chip", Q::cap_chip_sequences),
        out_holds("fits", Q::dec_free, 0),
        out("free_bytes", Q::dec_free),
        out("caches_to_exceed_weights", Q::dec_exceeding),
        out("bytes_per_chip", Q::cap_chip),
        out("weights_bytes_per_chip", Q::cap_weights_chip),
        out("weights_load_s", Q::cap_load),
        out("free_bytes_per_chip", Q::cap_chip_free),
        out("caches_in_host_memory", Q::cap_dram_sequences),
        out("reload_s", Q::cap_reload),
        out("hbm_sweep_s", Q::cap_sweep)},
       capacity<double>,
       capacity<Traced>},
  };
}

}  // namespace roofscape::engine::block_table
