// Memory: training state, activations and checkpoints, KV cache, offload to host memory.
#include "engine/blocks/spec.h"
#include "engine/hardware/transfer.h"
#include "engine/model/kv_cache.h"
#include "engine/model/layer_operations.h"
#include "engine/model/parameters.h"
#include "engine/serving/capacity.h"
#include "engine/training/run.h"

namespace roofscape::engine::block_table {

namespace {

template <Scalar S>
void state(BlockRun<S>& io) {
  const S P = io[Q::state_parameters];
  const S bw = io[Q::weight_width_bytes], bg = io[Q::gradient_width_bytes], bo = io[Q::optimizer_width_bytes];
  const S each = io.out(Q::state_each, bw + bg + bo);
  const S weights = io.out(Q::state_weights, bw * P), gradients = io.out(Q::state_gradients, bg * P),
          optimizer = io.out(Q::state_optimizer, bo * P);
  const S all = io.out(Q::state_total, training_state_bytes(P, bw, bg, bo));
  const S model_ways = named(Q::state_model_ways, io[Q::state_tensor] * io[Q::state_pipeline]);
  const S Z = io[Q::state_shards_in];
  const S w = io.out(Q::state_chip_weights, weights / model_ways),
          g = io.out(Q::state_chip_gradients, gradients / model_ways),
          o = io.out(Q::state_chip_optimizer, optimizer / model_ways);
  const S zero0 = io.out(Q::state_zero0, w + g + o), zero1 = io.out(Q::state_zero1, w + g + o / Z);
  const S zero2 = io.out(Q::state_zero2, w + g / Z + o / Z), zero3 = io.out(Q::state_zero3, w / Z + g / Z + o / Z);
  const std::string_view stage = io.choice("zero_stage");
  const S chip = io.out(Q::state_chip, one<S>() * (stage == "0"   ? zero0
                                                   : stage == "1" ? zero1
                                                   : stage == "2" ? zero2
                                                                  : zero3));
  const S capacity = io[Q::hbm_capacity], activations = io[Q::state_activations];
  // Saved activations are spread over all chips of the job, as the book counts them.
  const S spread = io.out(Q::state_chip_activations, activations / named(Q::state_chips_used, model_ways * Z));
  const S held = io.out(Q::state_chip_all, chip + spread);
  io.out(Q::state_free, capacity - held);
  io.out(Q::state_largest, capacity / each);
  const S sharded = named(Q::state_sharded_each, each / named(Q::state_chips_used, model_ways * Z));
  io.out(Q::state_largest_job, (capacity - spread) / sharded);
  const S job = io.out(Q::state_job, all + activations);
  const S chips = io.out(Q::state_chips, job / capacity);
  io.out(Q::state_chips_whole, ceil(chips));
}

template <Scalar S>
void activations(BlockRun<S>& io) {
  if (!is_possible(io)) return;
  const S B = io[Q::tokens], D = io[Q::d_model], L = io[Q::n_layers], b = io[Q::element_width];
  const S kept = constant<S>(20), big = constant<S>(7), two = constant<S>(2);
  const S block = io.out(Q::act_block, checkpoint_bytes(b, D, B, one<S>(), L));
  const S all = io.out(Q::act_all, checkpoint_bytes(b, D, B, kept, L));
  io.out(Q::act_big, checkpoint_bytes(b, D, B, big, L));
  const S k = io.out(Q::act_k, checkpoint_bytes(b, D, B, io[Q::act_checkpoints], L));
  // Gate and up, or up alone; the outputs of down and of the heads are of the model's width.
  const S ups = constant<S>(io.flag("gated_mlp") ? 2 : 1) * (io.knows(Q::active_ff) ? io[Q::active_ff] : io[Q::d_ff]);
  const S mlp_width = named(Q::act_mlp_width, ups + D);
  io.out(Q::act_mlp, checkpoint_bytes(b, mlp_width, B, one<S>(), L));
  const S H = io[Q::d_head];
  const S queries = io.knows(Q::attention_width) ? io[Q::attention_width] : io[Q::n_heads] * H;
  const S kv = io.knows(Q::kv_width) ? io[Q::kv_width] : io[Q::n_kv_heads] * H;
  const S T = io[Q::sequence_length];
  S seen = T;
  if (io.knows(Q::window_tokens)) {
    const ModelDims<S> m = dims_of(io);
    seen = named(Q::act_seen_keys, mean_of_layers(m, T, min(m.window_tokens, T)));
  }
  const S heads = named(Q::act_heads_width, queries + two * kv);
  const S exact = named(Q::act_exact_width, heads + two * D + ups);
  io.out(Q::act_big_exact, checkpoint_bytes(b, exact, B, one<S>(), L));
  const S chips = io[Q::act_chips];
  io.out(Q::act_block_chip, block / chips);
  io.out(Q::act_k_chip, k / chips);
  io.out(Q::act_all_chip, all / chips);
  // What the backward pass then does again.
  const S P = io[Q::state_parameters];
  io.out(Q::act_flops_block, constant<S>(8, unit::flop_each) * P * B);
  io.out(Q::act_flops_none, constant<S>(6, unit::flop_each) * P * B);
  io.out(Q::act_flops_attention, constant<S>(4, unit::flop_each) * B * seen * queries * L);
}

template <Scalar S>
void activations_gpt(BlockRun<S>& io) {
  const S s = io[Q::gpt_sequence], bt = io[Q::gpt_microbatch], a = io[Q::n_heads], h = io[Q::d_model],
          t = io[Q::gpt_tensor];
  const BlockCall& call = io.call();
  const double layers_split = call.number("stages") * call.number("virtual_stages");
  if (!divides(io, "tensor", call.number("tensor"), std::string("n_heads"), call.number("n_heads")) ||
      (call.is_typed("stages") && call.value("n_layers").source != "default" &&
       !divides(io, "stages", layers_split, std::string("n_layers"), call.number("n_layers"))))
    return;
  const S byte = constant<S>(1, unit::bytes_each);
  const S unit_bytes = named(Q::gpt_unit, byte * s * bt * h);
  const S core = io.out(Q::gpt_core, constant<S>(5) * a * s / h);
  const S linear = constant<S>(34);
  const S none = io.out(Q::gpt_none, unit_bytes * (linear + core));
  io.out(Q::gpt_token, none / (s * bt));
  io.out(Q::gpt_tp, unit_bytes * (constant<S>(10) + constant<S>(24) / t + core / t));
  const S sequence = io.out(Q::gpt_sp, none / t);
  const S selective = io.out(Q::gpt_selective, linear * unit_bytes / t);
  const S full = io.out(Q::gpt_full, constant<S>(2) * unit_bytes);
  io.out(Q::gpt_full_sharded, constant<S>(2) * unit_bytes / t);
  io.out(Q::gpt_saved, core / (linear + core));
  io.out(Q::gpt_selective_overhead, constant<S>(4) / constant<S>(72) * s / h);
  const S L = io[Q::n_layers], v = io[Q::gpt_chunks], p = io[Q::gpt_stages];
  // The first stage of 1F1B holds p microbatches of L / p layers; chunks add to that.
  const S chunks = io.out(Q::gpt_interleave, one<S>() + (p - one<S>()) / (p * v));
  const S factor = io.integer(Q::gpt_chunks) == 1 ? one<S>() : chunks;
  io.out(Q::gpt_stage, L * sequence * factor);
  io.out(Q::gpt_stage_selective, L * selective * factor);
  io.out(Q::gpt_stage_full, L * full * factor);
}

template <Scalar S>
void checkpointing(BlockRun<S>& io) {
  const S N = io[Q::n_layers];
  const S root = io.out(Q::ckpt_root, sqrt(N));
  const S C = io.knows(Q::ckpt_count) ? io[Q::ckpt_count] : root;
  const S used = io.out(Q::ckpt_used, C * one<S>());
  const S two = constant<S>(2);
  const S length = io.out(Q::ckpt_segment, N / used);
  // The lecture: inside a segment nothing is kept, so every layer starts again from the segment's checkpoint. It
  // counts the way to the layer's input; with the layer itself, whose tensors its backward needs, N more.
  io.out(Q::ckpt_none_extra, N * (N - one<S>()) / two);
  io.out(Q::ckpt_none_order, N * N);
  io.out(Q::ckpt_extra, N * (length - one<S>()) / two);
  io.out(Q::ckpt_all, N * (length + one<S>()) / two);
  io.out(Q::ckpt_order, N * length);
  io.out(Q::ckpt_memory, one<S>() * used);
  io.out(Q::ckpt_root_extra, N * (root - one<S>()) / two);
  io.out(Q::ckpt_root_order, N * root);
  // Chen et al. 2016: the recomputed segment is kept while it is needed.
  io.out(Q::ckpt_chen_extra, N * one<S>());
  io.out(Q::ckpt_chen_memory, used + length);
  io.out(Q::ckpt_chen_best, two * root);
  // One recomputed forward pass: 2 of 6 FLOP a parameter and token again.
  const S once = constant<S>(6);
  const S again = io.out(Q::ckpt_block_factor, (once + two * io[Q::ckpt_again]) / once);
  io.out(Q::ckpt_hfu, io[Q::ckpt_mfu] * again);
}

template <Scalar S>
void kv_cache(BlockRun<S>& io) {
  if (!is_possible(io)) return;
  const S b = io[Q::element_width], H = io[Q::d_head], Ssq = io[Q::kv_length], n = io[Q::kv_sequences];
  ModelDims<S> m = dims_of(io);
  // A width that is typed in wins over what the heads make of it, and over a preset's latent.
  const bool is_width = io.knows(Q::kv_width_in);
  if (is_width) m.n_kv_heads = io[Q::kv_width_in], m.d_head = one<S>(), m.is.mla = false;
  // Layers that share one cache keep it once.
  const S shared = io[Q::kv_sharing];
  const S layers = io.integer(Q::kv_sharing) == 1 ? io[Q::n_layers] : named(Q::kv_layers, io[Q::n_layers] / shared);
  const S local_layers =
      io.integer(Q::kv_sharing) == 1 ? m.n_local_layers : named(Q::kv_local_layers, m.n_local_layers / shared);
  m.n_layers = layers, m.n_local_layers = local_layers;
  const S token = io.out(Q::kv_token, kv_cache_bytes_per_token(m, b, Ssq));
  ModelDims<S> whole = m;
  whole.is.local = false;
  const S newest = io.out(Q::kv_new_token, kv_cache_bytes_per_token(whole, b, Ssq));
  const S seen = io.out(Q::kv_seen, m.is.local ? mean_of_layers(m, Ssq, min(m.window_tokens, Ssq)) : Ssq * one<S>());
  const S sequence = io.out(Q::kv_sequence, token * Ssq);
  const S total = io.out(Q::kv_total, sequence * n);
  io.out(Q::kv_gib, total / constant<S>(1073741824.0, unit::bytes_each));
  const S mha = io.out(Q::kv_mha_token, constant<S>(2) * b * (io[Q::n_heads] * H) * layers);
  io.out(Q::kv_reduction, mha / newest);
  io.out(Q::kv_window_reduction, Ssq / seen);
  if (io.knows(Q::kv_lora_rank)) {
    const S mla = io.out(Q::kv_mla_token, b * layers * (io[Q::kv_lora_rank] + io[Q::qk_rope_head_dim]));
    io.out(Q::kv_mla_total, mla * seen * n);
    io.out(Q::kv_mla_reduction, mha / mla);
  } else {
    io.without({Q::kv_mla_token, Q::kv_mla_total, Q::kv_mla_reduction}, "no_latent");
  }
  const S page = io[Q::kv_page];
  const S pages = named(Q::kv_pages, paged_tokens(Ssq, page));
  const S window_pages =
      m.is.local ? named(Q::kv_window_pages, paged_tokens(min(m.window_tokens, Ssq), page)) : pages;
  const S allocated = io.out(Q::kv_allocated, m.is.local ? mean_of_layers(m, pages, window_pages) : pages * one<S>());
  io.out(Q::kv_paged, newest * allocated * n);
  // A cache that layers share is stored once and read by each of them.
  io.out(Q::kv_read, shared * total / io[Q::hbm_bandwidth]);
  const S room = io[Q::kv_capacity];
  io.out(Q::kv_fit, sequences_that_fit(room, sequence));
  if (m.is.local)
    io.without(Q::kv_length_fit, "window_keeps_less");
  else
    io.out(Q::kv_length_fit, floor(room / (n * newest)));
}

template <Scalar S>
void offload(BlockRun<S>& io) {
  const S P = io[Q::state_parameters], W = io[Q::transfer_pcie];
  const S optimizer = io.out(Q::offload_bytes, io[Q::optimizer_width_bytes] * P / io[Q::offload_chips]);
  const S time = io.out(Q::offload_optimizer_time, round_trip_time(optimizer, W));
  io.out(Q::offload_optimizer_hidden, io[Q::offload_step] / time);
  const S activations = io.out(Q::offload_activation_time, io[Q::state_activations] / W);
  io.out(Q::offload_forward_hidden, io[Q::offload_forward] / activations);
  io.out(Q::offload_backward_hidden, io[Q::offload_backward] / activations);
  io.out(Q::offload_critical_batch,
         io[Q::matmul_weight_bytes] * io[Q::peak_flops] / (constant<S>(2, unit::flop_each) * W));
}

}  // namespace

std::vector<BuildingBlock> memory_blocks() {
  return {
      {"state",
       "scaling book ch. 5 and 6; Rajbhandari et al. 2019",
       inputs(parameters_input(), number("weight_bytes", Q::weight_width_bytes).def(2).at_least(0),
              number("gradient_bytes", Q::gradient_width_bytes).def(0).at_least(0),
              number("optimizer_bytes", Q::optimizer_width_bytes).def(8).at_least(0),
              choice("zero_stage", {"0", "1", "2", "3"}), whole("shards", Q::state_shards_in).def(1),
              whole("tensor", Q::state_tensor).def(1), whole("pipeline", Q::state_pipeline).def(1),
              number("capacity_bytes", Q::hbm_capacity).of("hbm_bytes"),
              number("activation_bytes", Q::state_activations).def(0).at_least(0)),
       {out("bytes_per_parameter", Q::state_each), out("weight_total_bytes", Q::state_weights),
        out("gradient_total_bytes", Q::state_gradients), out("optimizer_total_bytes", Q::state_optimizer),
        out("total_bytes", Q::state_total), out("zero_0_bytes", Q::state_zero0), out("zero_1_bytes", Q::state_zero1),
        out("zero_2_bytes", Q::state_zero2), out("zero_3_bytes", Q::state_zero3), out("chip_bytes", Q::state_chip),
        out("activation_chip_bytes", Q::state_chip_activations), out("chip_total_bytes", Q::state_chip_all),
        out_holds("fits", Q::state_free, 0), out("free_bytes", Q::state_free),
        out("largest_parameters", Q::state_largest), out("largest_parameters_sharded", Q::state_largest_job),
        out("job_bytes", Q::state_job), out("minimum_chips", Q::state_chips),
        out("minimum_chips_whole", Q::state_chips_whole)},
       state<double>,
       state<Traced>},
      {"activations",
       "scaling book ch. 4, 5 and 6",
       inputs(number("tokens", Q::tokens), model_inputs(), width_inputs(), window_inputs(), element_input(),
              number("checkpoints_per_layer", Q::act_checkpoints).def(4), whole("chips", Q::act_chips).def(1),
              // What a token does again it does with the parameters it passes through.
              number("parameters", Q::state_parameters).model([](const TransformerShape& m) {
                return std::optional(count_parameters(make_model_dims<double>(m, nullptr)).active);
              }),
              whole("sequence_length", Q::sequence_length)),
       {out("all_bytes", Q::act_all), out("big_matmuls_bytes", Q::act_big),
        out("big_matmuls_exact_bytes", Q::act_big_exact), out("mlp_matmuls_bytes", Q::act_mlp),
        out("k_per_layer_bytes", Q::act_k), out("block_bytes", Q::act_block),
        out("all_bytes_per_chip", Q::act_all_chip), out("k_per_layer_bytes_per_chip", Q::act_k_chip),
        out("block_bytes_per_chip", Q::act_block_chip), out("flops_without_recompute", Q::act_flops_none),
        out("flops_block", Q::act_flops_block), out("flops_recomputed_attention", Q::act_flops_attention)},
       activations<double>,
       activations<Traced>},
      {"activations-gpt",
       "Korthikanti et al. 2022",
       inputs(whole("sequence_length", Q::gpt_sequence), whole("microbatch_sequences", Q::gpt_microbatch).def(1),
              size_input("n_heads"), size_input("d_model"), whole("tensor", Q::gpt_tensor).def(1),
              size_input("n_layers").def(1), whole("stages", Q::gpt_stages).def(1),
              whole("virtual_stages", Q::gpt_chunks).def(1)),
       {out("layer_bytes", Q::gpt_none), out("tensor_bytes", Q::gpt_tp), out("tensor_sequence_bytes", Q::gpt_sp),
        out("selective_bytes", Q::gpt_selective), out("full_recompute_bytes", Q::gpt_full),
        out("full_recompute_sharded_bytes", Q::gpt_full_sharded), out("core_share", Q::gpt_core),
        out("selective_saves", Q::gpt_saved), out("selective_flops_overhead", Q::gpt_selective_overhead),
        out("interleaving_factor", Q::gpt_interleave), out("first_stage_bytes", Q::gpt_stage),
        out("first_stage_selective_bytes", Q::gpt_stage_selective),
        out("first_stage_full_recompute_bytes", Q::gpt_stage_full), out("bytes_per_token", Q::gpt_token)},
       activations_gpt<double>,
       activations_gpt<Traced>},
      {"checkpointing",
       "CS231n lecture; Chen et al. 2016",
       inputs(size_input("n_layers"), number("checkpoints", Q::ckpt_count), fraction("mfu", Q::ckpt_mfu),
              number("recomputed_forwards", Q::ckpt_again).def(1).at_least(0)),
       {out("checkpoints", Q::ckpt_used), out("segment_layers", Q::ckpt_segment),
        out("optimal_checkpoints", Q::ckpt_root), out("keep_nothing_extra_forwards", Q::ckpt_none_extra),
        out("keep_nothing_order", Q::ckpt_none_order), out("extra_forwards", Q::ckpt_extra),
        out("extra_forwards_with_own", Q::ckpt_all), out("compute_order", Q::ckpt_order),
        out("memory_layers", Q::ckpt_memory), out("sqrt_extra_forwards", Q::ckpt_root_extra),
        out("sqrt_compute_order", Q::ckpt_root_order), out("sqrt_memory_layers", Q::ckpt_root),
        out("chen_extra_forwards", Q::ckpt_chen_extra), out("chen_memory_layers", Q::ckpt_chen_memory),
        out("chen_best_memory_layers", Q::ckpt_chen_best), out("block_flops_factor", Q::ckpt_block_factor),
        out("block_hfu", Q::ckpt_hfu)},
       checkpointing<double>,
       checkpointing<Traced>},
      {"kv-cache",
       "scaling book ch. 4",
       inputs(model_inputs(), window_inputs(), element_input(), whole("sequence_length", Q::kv_length),
              whole("sequences", Q::kv_sequences).def(1), number("kv_width", Q::kv_width_in),
              whole("layers_sharing", Q::kv_sharing).def(1), latent_inputs(),
              whole("page_tokens", Q::kv_page).def(16), hbm_input(), number("capacity_bytes", Q::kv_capacity)),
       {out("bytes_per_token", Q::kv_token), out("bytes_per_new_token", Q::kv_new_token),
        out("bytes_per_sequence", Q::kv_sequence), out("bytes", Q::kv_total), out("gib", Q::kv_gib),
        out("tokens_kept", Q::kv_seen), out("mla_bytes_per_token", Q::kv_mla_token),
        out("mla_bytes", Q::kv_mla_total), out("mha_bytes_per_token", Q::kv_mha_token),
        out("reduction", Q::kv_reduction), out("mla_reduction", Q::kv_mla_reduction), out("paged_bytes", Q::kv_paged),
        out("window_reduction", Q::kv_window_reduction), out("allocated_tokens", Q::kv_allocated),
        out("read_s", Q::kv_read), out("sequences_that_fit", Q::kv_fit), out("length_that_fits", Q::kv_length_fit)},
       kv_cache<double>,
       kv_cache<Traced>},
      {"offload",
       "scaling book ch. 2; CS231n lecture",
       inputs(parameters_input(), number("optimizer_bytes", Q::optimizer_width_bytes).def(8),
              whole("chips", Q::offload_chips).def(1),
              number("pcie_bytes_per_s", Q::transfer_pcie).of("host_pcie_bytes_per_s_per_chip"),
              number("step_s", Q::offload_step), number("activation_bytes", Q::state_activations),
              number("forward_s", Q::offload_forward), number("backward_s", Q::offload_backward),
              number("weight_bytes", Q::matmul_weight_bytes).def(2), dtype_input(), peak_input()),
       {out("optimizer_chip_bytes", Q::offload_bytes), out("optimizer_s", Q::offload_optimizer_time),
        out_holds("optimizer_hidden", Q::offload_optimizer_hidden, 1),
        out("activation_s", Q::offload_activation_time), out_holds("forward_hidden", Q::offload_forward_hidden, 1),
        out_holds("backward_hidden", Q::offload_backward_hidden, 1),
        out("critical_batch", Q::offload_critical_batch)},
       offload<double>,
       offload<Traced>},
  };
}

}  // namespace roofscape::engine::block_table
