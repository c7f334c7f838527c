// Meshes and what their axes move: bytes a layer, hybrid sharding, context and expert parallelism, the scaling
// recipe.
#include "engine/blocks/spec.h"
#include "engine/hardware/switched_collective.h"

namespace roofscape::engine::block_table {

namespace {

template <Scalar S>
void mesh(BlockRun<S>& io) {
  const S data = io[Q::mesh_data], fsdp = io[Q::mesh_fsdp], tensor = io[Q::mesh_tensor],
          context = io[Q::mesh_context], pipeline = io[Q::mesh_pipeline];
  const S ranks = io.out(Q::mesh_ranks, data * fsdp);
  const S shards = io.out(Q::mesh_shards, fsdp * context);
  const S token_ranks = io.out(Q::mesh_token_ranks, ranks * context);
  const S chips = io.out(Q::mesh_chips_used, token_ranks * tensor * pipeline);
  const S tokens = io.knows(Q::tokens) ? io[Q::tokens] : io[Q::batch_sequences] * io[Q::sequence_length];
  const S B = io.out(Q::mesh_tokens, tokens * one<S>());
  io.out(Q::mesh_tokens_chip, B / chips);
  io.out(Q::mesh_tokens_shard, B / shards);
  io.out(Q::mesh_tokens_rank, B / token_ranks);
  const S sequences = io.out(Q::mesh_sequences, B / io[Q::sequence_length]);
  const S rank_sequences = io.out(Q::mesh_rank_sequences, sequences / ranks);
  io.out(Q::mesh_split_needed, max(one<S>(), ranks / sequences));
  io.out(Q::mesh_microbatches, ceil(rank_sequences / io[Q::microbatch_sequences]));
  if (!divides(io, "expert", io.call().number("expert"), std::string("experts"), io.call().number("experts"))) return;
  io.out(Q::mesh_experts_rank, io[Q::ridge_experts] / io[Q::mesh_expert]);
  const S cluster = io[Q::cluster_chips];
  io.out(Q::mesh_idle, cluster - chips);
}

template <Scalar S>
void layer_traffic(BlockRun<S>& io) {
  const S B = io[Q::tokens], D = io[Q::d_model], F = io[Q::d_ff], X = io[Q::mesh_fsdp], Y = io[Q::mesh_tensor],
          b = io[Q::element_width], matrices = io[Q::tp_matrices];
  if (!divides(io, "tensor", value_of(Y), std::string("d_ff"), value_of(F))) return;
  const S two = constant<S>(2), three = constant<S>(3);
  // Matrices D x F, of all experts where there are several. A reduction of gradients to every rank counts twice a
  // gather.
  const S weights = io.out(Q::traffic_weights, matrices * b * D * io[Q::moved_ff]);
  const S stream = io.out(Q::traffic_stream, two * b * B * D);
  const S dp = io.out(Q::traffic_dp, two * weights);
  const S fsdp_forward = io.out(Q::traffic_fsdp_forward, weights * one<S>());
  const S fsdp = io.out(Q::traffic_fsdp, fsdp_forward + two * weights);
  io.out(Q::traffic_tp, two * stream);
  const S mixed_forward = io.out(Q::traffic_mixed_forward, stream / X + weights / Y);
  io.out(Q::traffic_mixed, three * mixed_forward);
  io.out(Q::traffic_ratio, fsdp / dp);
  // In passes over the weights, an AllReduce counted as one.
  const S passes_fsdp = io.out(Q::traffic_passes_fsdp, io[Q::traffic_gathers] + io[Q::traffic_reductions]);
  const S passes_dp = io.out(Q::traffic_passes_dp, one<S>() * io[Q::traffic_reductions]);
  io.out(Q::traffic_passes_ratio, passes_fsdp / passes_dp);
  // Times of the forward pass (twice as long backward), over the axes each spans.
  const S C = io[Q::peak_flops], W = io[Q::ici_axis_bandwidth], Mx = io[Q::bounds_axes_x], My = io[Q::bounds_axes_y];
  const S flops = named(Q::traffic_flops, constant<S>(2, unit::flop_each) * matrices * B * D * F);
  const S math = io.out(Q::traffic_math, flops / (X * Y * C));
  io.out(Q::traffic_math_backward, two * math);
  const S fsdp_time = io.out(Q::traffic_fsdp_time, weights / (Y * W * Mx));
  const S tensor_time = io.out(Q::traffic_tensor_time, stream / (X * W * My));
  const S sum = io.out(Q::traffic_sum, fsdp_time + tensor_time),
          both = io.out(Q::traffic_max, max(fsdp_time, tensor_time));
  io.out(Q::traffic_margin_sum, math / sum);
  io.out(Q::traffic_margin_max, math / both);
  io.out(Q::traffic_tokens_chip, B / (X * Y));
  const S forward = io.out(Q::traffic_forward, max(math, both));
  io.out(Q::traffic_mfu, math / forward);
  io.out(Q::traffic_dp_backward, two * weights / (W * Mx));
}

template <Scalar S>
void hsdp(BlockRun<S>& io) {
  const S P = io[Q::state_parameters], b = io[Q::element_width], K = io[Q::hsdp_shard], M = io[Q::hsdp_replicate];
  const S bytes = io.out(Q::hsdp_weights, P * b);
  io.out(Q::hsdp_gpus, K * M);
  const S moved = io[Q::traffic_gathers] + io[Q::traffic_reductions];
  const S intra = io.out(Q::hsdp_intra, named(Q::hsdp_passes, moved) * bytes * (K - one<S>()) / K);
  const S shard = io.out(Q::hsdp_shard_bytes, bytes / K);
  const S inter = io.out(Q::hsdp_inter, constant<S>(2) * shard * (M - one<S>()) / M);
  const S all = named(Q::hsdp_all, K * M);
  const S flat = io.out(Q::hsdp_flat, named(Q::hsdp_passes, moved) * bytes * (all - one<S>()) / all);
  const S fast = io[Q::hsdp_fast], slow = io[Q::hsdp_slow];
  const S t_intra = io.out(Q::hsdp_intra_time, intra / fast), t_inter = io.out(Q::hsdp_inter_time, inter / slow);
  const S total = io.out(Q::hsdp_time, t_intra + t_inter), busiest = io.out(Q::hsdp_busiest, max(t_intra, t_inter));
  // The ranks of a group share the slow links: together they take the array in once.
  const S t_flat = io.out(Q::hsdp_flat_time, max(intra / fast, flat / (K * slow)));
  io.out(Q::hsdp_speedup, t_flat / busiest);
  io.out(Q::hsdp_speedup_sum, t_flat / total);
  io.out(Q::hsdp_inter_share, inter / flat);
}

template <Scalar S>
void context(BlockRun<S>& io) {
  const S T = io[Q::sequence_length], cp = io[Q::mesh_context], b = io[Q::element_width], n = io[Q::flops_sequences];
  const S N = io[Q::n_heads], K = io[Q::n_kv_heads], H = io[Q::d_head], C = io[Q::peak_flops],
          W = io[Q::context_link];
  const S two = constant<S>(2), four_flop = constant<S>(4, unit::flop_each);
  if (!divides(io, "context", value_of(cp), std::string("sequence_length"), value_of(T))) return;
  const S local = io.out(Q::context_tokens, T / cp);
  const S held = named(Q::context_held, local * n);
  // A latent goes round in place of keys and values, once for both.
  const bool is_latent = io.knows(Q::kv_lora_rank);
  const S kv =
      named(Q::context_kv_elements, is_latent ? (io[Q::kv_lora_rank] + io[Q::qk_rope_head_dim]) / two : K * H);
  const S step = io.out(Q::context_step_bytes, two * b * held * kv);
  io.out(Q::context_ring_bytes, (cp - one<S>()) * step);
  io.out(Q::context_gather_bytes, two * b * (T * n) * kv);
  // Of latent attention the heads are written out before they are scored: scores and values have widths of their own.
  const S widths =
      is_latent ? named(Q::context_pair, N * (io[Q::qk_nope_head_dim] + io[Q::qk_rope_head_dim] + io[Q::v_head_dim]))
                : N * H;
  const S block_flops =
      io.out(Q::context_step_flops,
             is_latent ? constant<S>(2, unit::flop_each) * held * local * widths : four_flop * held * local * widths);
  const S worked = io.flag("causal") ? block_flops / two : block_flops;
  const S math = io.out(Q::context_step_math, worked / C);
  const S comms = io.out(Q::context_step_comms, step / W);
  io.out(Q::context_margin, math / comms);
  // What is sent of a token over what it is worked with.
  const S shared = is_latent ? two * kv / widths : K / N;
  const S least = b / constant<S>(2, unit::flop_each) * shared * (C / W);
  io.out(Q::context_least_tokens, io.flag("causal") ? two * least : least);
  // Queries and outputs, keys and values; those of a latent are written out, one of each to a head.
  const S ulysses =
      named(Q::context_ulysses_all,
            is_latent ? two * widths * b * held : named(Q::context_heads, two * N + two * K) * H * b * held);
  const S sent = io.out(Q::context_ulysses_bytes, ulysses * (cp - one<S>()) / cp);
  io.out(Q::context_ulysses_time, sent / W);
  io.out(Q::context_ulysses_limit, K * one<S>());
}

template <Scalar S>
void expert_parallel(BlockRun<S>& io) {
  const S B = io[Q::tokens], D = io[Q::d_model], F = io[Q::moe_d_ff], k = io[Q::ridge_experts_per_token],
          Z = io[Q::gb_expert_ways];
  const S b = io[Q::element_width], C = io[Q::peak_flops], W = io[Q::node_bandwidth], n = io[Q::gpucoll_gpus],
          E = io[Q::ridge_experts];
  const S two = constant<S>(2), two_flop = constant<S>(2, unit::flop_each);
  if (!divides(io, "ways", value_of(Z), std::string("experts"), value_of(E))) return;
  io.out(Q::ep_bytes, b * B * D * k);
  const S hit = io.out(Q::gb_expert_hit, hit_estimate(n * k, Z));
  const S math = io.out(Q::ep_math, named(Q::ep_flops, two_flop * io[Q::tp_matrices] * (B * k) * (D * F)) / (Z * C));
  const S away = named(Q::ep_away, (Z - n) / Z * hit);
  const S comms = io.out(Q::ep_comms, two * b * B * D * away / W);
  io.out(Q::ep_margin, math / comms);
  const S here = io.out(Q::ep_experts_rank, E / Z);
  io.out(Q::ep_rank_bytes, here * (io[Q::tp_matrices] * b * (D * F)));
  io.out(Q::ep_tokens_expert, io[Q::moe_capacity] * k * B / E);
}

constexpr std::string_view kStages[] = {"DP", "FSDP", "HSDP", "CP/PP/TP"};

template <Scalar S>
void recipe(BlockRun<S>& io) {
  const double gpus = value_of(io[Q::recipe_gpus]), params = value_of(io[Q::state_parameters]),
               sequence = value_of(io[Q::sequence_length]);
  if (!(gpus > 0)) return io.rest_needs("gpus");
  if (!(params > 0)) return io.rest_needs("parameters");
  const double many = value_of(io[Q::recipe_nd_gpus]), big = value_of(io[Q::recipe_nd_parameters]),
               lengthy = value_of(io[Q::recipe_nd_length]);
  const int stage = gpus > many || params > big || sequence > lengthy                                            ? 3
                    : gpus > value_of(io[Q::recipe_hsdp_gpus])                                                   ? 2
                    : params > value_of(io[Q::recipe_fsdp_parameters]) || gpus > value_of(io[Q::recipe_dp_gpus]) ? 1
                                                                                                                 : 0;
  io.say("stage", std::string(kStages[stage]));
  io.simulated(Q::recipe_stage, -1, stage);
}

}  // namespace

std::vector<BuildingBlock> parallelism_blocks() {
  const auto ways = [](std::string_view name, Q q) { return whole(name, q).def(1); };
  const auto axes = [](std::string_view name, Q q, double fallback) { return whole(name, q).def(fallback).up_to(3); };
  return {
      {"mesh",
       "scaling book ch. 5, 6 and 12; CS231n lecture",
       inputs(ways("data", Q::mesh_data), ways("fsdp", Q::mesh_fsdp), ways("tensor", Q::mesh_tensor),
              ways("context", Q::mesh_context), ways("pipeline", Q::mesh_pipeline), ways("expert", Q::mesh_expert),
              number("tokens", Q::tokens), number("batch_sequences", Q::batch_sequences),
              number("sequence_length", Q::sequence_length),
              whole("microbatch_sequences", Q::microbatch_sequences).def(1), expert_count_input(0),
              whole("cluster_chips", Q::cluster_chips)),
       {out("chips", Q::mesh_chips_used), out("data_ranks", Q::mesh_ranks), out("state_shards", Q::mesh_shards),
        out("token_ranks", Q::mesh_token_ranks), out("tokens", Q::mesh_tokens),
        out("tokens_per_chip", Q::mesh_tokens_chip), out("tokens_per_state_shard", Q::mesh_tokens_shard),
        out("tokens_per_rank", Q::mesh_tokens_rank), out("sequences", Q::mesh_sequences),
        out("sequences_per_data_rank", Q::mesh_rank_sequences), out("sequence_split_needed", Q::mesh_split_needed),
        out("microbatches", Q::mesh_microbatches), out("experts_per_rank", Q::mesh_experts_rank),
        out("idle_chips", Q::mesh_idle), out_holds("fits_cluster", Q::mesh_idle, 0)},
       mesh<double>,
       mesh<Traced>},
      {"layer-traffic",
       "scaling book ch. 5; CS231n lecture",
       inputs(number("tokens", Q::tokens), size_input("d_model"), met_width_input(), moved_width_input(),
              matrices_input(), ways("fsdp", Q::mesh_fsdp), ways("tensor", Q::mesh_tensor), element_input(),
              dtype_input(), peak_input(), axis_input(), axes("fsdp_axes", Q::bounds_axes_x, 1),
              axes("tensor_axes", Q::bounds_axes_y, 1), number("gathers", Q::traffic_gathers).def(2),
              number("reductions", Q::traffic_reductions).def(1)),
       {out("weights_bytes", Q::traffic_weights),
        out("stream_bytes", Q::traffic_stream),
        out("dp_bytes", Q::traffic_dp),
        out("fsdp_forward_bytes", Q::traffic_fsdp_forward),
        out("fsdp_bytes", Q::traffic_fsdp),
        out("tp_bytes", Q::traffic_tp),
        out("fsdp_tp_forward_bytes", Q::traffic_mixed_forward),
        out("fsdp_tp_bytes", Q::traffic_mixed),
        out("fsdp_to_dp", Q::traffic_ratio),
        out("fsdp_passes", Q::traffic_passes_fsdp),
        out("dp_passes", Q::traffic_passes_dp),
        out("fsdp_to_dp_passes", Q::traffic_passes_ratio),
        out("math_forward_s", Q::traffic_math),
        out("math_backward_s", Q::traffic_math_backward),
        out("fsdp_forward_s", Q::traffic_fsdp_time),
        out("tensor_forward_s", Q::traffic_tensor_time),
        out("dp_backward_s", Q::traffic_dp_backward),
        out("comms_sum_s", Q::traffic_sum),
        out("comms_max_s", Q::traffic_max),
        out("tokens_per_chip", Q::traffic_tokens_chip),
        out("forward_s", Q::traffic_forward),
        out("max_mfu", Q::traffic_mfu),
        out_holds("compute_bound_sum", Q::traffic_margin_sum, 1),
        out_holds("compute_bound_max", Q::traffic_margin_max, 1)},
       layer_traffic<double>,
       layer_traffic<Traced>},
      {"hsdp",
       "CS231n lecture",
       inputs(parameters_input(), element_input(), ways("shard_group", Q::hsdp_shard),
              ways("replicas", Q::hsdp_replicate), number("gathers", Q::traffic_gathers).def(2),
              number("reductions", Q::traffic_reductions).def(1),
              number("fast_bytes_per_s", Q::hsdp_fast).of("scaleup_bytes_per_s_per_chip_oneway"),
              number("slow_bytes_per_s", Q::hsdp_slow).of("scaleout_bytes_per_s_per_chip_oneway")),
       {out("gpus", Q::hsdp_gpus), out("weights_bytes", Q::hsdp_weights), out("shard_bytes", Q::hsdp_shard_bytes),
        out("intra_bytes", Q::hsdp_intra), out("inter_bytes", Q::hsdp_inter), out("flat_fsdp_bytes", Q::hsdp_flat),
        out("inter_to_flat", Q::hsdp_inter_share), out("intra_s", Q::hsdp_intra_time),
        out("inter_s", Q::hsdp_inter_time), out("time_s", Q::hsdp_time), out("overlapped_s", Q::hsdp_busiest),
        out("flat_fsdp_s", Q::hsdp_flat_time), out("speedup", Q::hsdp_speedup),
        out("speedup_in_turn", Q::hsdp_speedup_sum)},
       hsdp<double>,
       hsdp<Traced>},
      {"context",
       "CS231n lecture; Liu et al. 2023; Jacobs et al. 2023",
       inputs(number("sequence_length", Q::sequence_length), ways("context", Q::mesh_context),
              number("sequences", Q::flops_sequences).def(1), size_input("n_heads"), size_input("n_kv_heads"),
              size_input("d_head"), latent_inputs(), latent_head_inputs(), element_input(), flag("causal", false),
              dtype_input(), peak_input(), neighbour_link_input()),
       {out("tokens_per_rank", Q::context_tokens), out("ring_step_bytes", Q::context_step_bytes),
        out("ring_bytes", Q::context_ring_bytes), out("gather_bytes", Q::context_gather_bytes),
        out("ring_step_flops", Q::context_step_flops), out("ring_step_math_s", Q::context_step_math),
        out("ring_step_comms_s", Q::context_step_comms), out_holds("ring_hidden", Q::context_margin, 1),
        out("margin", Q::context_margin), out("least_tokens_per_rank", Q::context_least_tokens),
        out("ulysses_bytes", Q::context_ulysses_bytes), out("ulysses_s", Q::context_ulysses_time),
        out("ulysses_largest_ways", Q::context_ulysses_limit)},
       context<double>,
       context<Traced>},
      {"expert-parallel",
       "scaling book ch. 12",
       inputs(number("tokens", Q::tokens), size_input("d_model"),
              whole("expert_d_ff", Q::moe_d_ff).model([](const TransformerShape& m) {
                return m.is_moe() ? std::optional<double>(m.expert_width()) : std::nullopt;
              }),
              matrices_input(), expert_count_input(0), chosen_experts_input(0), whole("ways", Q::gb_expert_ways),
              element_input(), dtype_input(), peak_input(),
              number("node_bytes_per_s", Q::node_bandwidth).of("scaleout_bytes_per_s_per_node_oneway"),
              whole("node_size", Q::gpucoll_gpus).def(8).of("scaleup_domain_chips"),
              number("capacity_factor", Q::moe_capacity).def(1)),
       {out("all_to_all_bytes", Q::ep_bytes), out("hit_estimate", Q::gb_expert_hit), out("math_s", Q::ep_math),
        out("comms_s", Q::ep_comms), out_holds("compute_bound", Q::ep_margin, 1), out("margin", Q::ep_margin),
        out("experts_per_rank", Q::ep_experts_rank), out("tokens_per_expert", Q::ep_tokens_expert),
        out("expert_bytes_per_rank", Q::ep_rank_bytes)},
       expert_parallel<double>,
       expert_parallel<Traced>},
      {"recipe",
       "CS231n lecture",
       inputs(whole("gpus", Q::recipe_gpus), parameters_input(), number("sequence_length", Q::sequence_length),
              number("dp_gpus", Q::recipe_dp_gpus).def(128),
              number("fsdp_parameters", Q::recipe_fsdp_parameters).def(1e9),
              number("hsdp_gpus", Q::recipe_hsdp_gpus).def(256), number("nd_gpus", Q::recipe_nd_gpus).def(1000),
              number("nd_parameters", Q::recipe_nd_parameters).def(5e10),
              number("nd_sequence_length", Q::recipe_nd_length).def(10000)),
       {out_said("stage", kStages), out("stage_number", Q::recipe_stage)},
       recipe<double>,
       recipe<Traced>},
  };
}

}  // namespace roofscape::engine::block_table
