// Inputs: the numbers of a Scenario as the formulas see them. This is the only place where the leaves of a derivation
// get their name and source; for plain evaluation names and sources cost nothing.
#pragma once

#include <array>

#include "engine/base/scalar.h"
#include "engine/inputs/placement.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// What formulas branch on: which terms a model has.
struct ModelTraits {
  bool gated_mlp = true, tied_embeddings = false;
  bool qkv_bias = false, o_bias = false, mlp_bias = false, unembedding_bias = false, layernorm_bias = false;
  bool qk_norm = false, qk_norm_all_heads = false, attn_sinks = false, rel_pos_projection = false;
  bool moe = false, dense_layers = false, shared_experts = false, router_bias = false, shared_expert_gate = false;
  bool expert_groups = false;
  bool mla = false, q_lora = false, local = false, positions = false;
  bool published_count = false;  // its parameters are as many as the source states
  int norms_per_layer = 2, embedding_norm = 0;
};
ModelTraits model_traits(const TransformerShape&);

template <Scalar S>
struct ModelDims {
  S n_layers, d_model, d_ff, n_heads, n_kv_heads, d_head, vocab_size;
  ModelTraits is;
  // Only set where the traits say that the model has them.
  S learned_positions{};
  S n_experts{}, experts_per_token{}, d_ff_expert{}, n_shared_experts{}, n_dense_layers{}, n_expert_groups{},
      groups_per_token{};
  S q_lora_rank{}, kv_lora_rank{}, qk_nope_head_dim{}, qk_rope_head_dim{}, v_head_dim{};
  S window_tokens{}, n_local_layers{};
  S published_params{};
};
template <Scalar S>
ModelDims<S> make_model_dims(const TransformerShape&, Trace* trace);
extern template ModelDims<double> make_model_dims<double>(const TransformerShape&, Trace*);
extern template ModelDims<Traced> make_model_dims<Traced>(const TransformerShape&, Trace*);

// Figures of the chip. Unknown ones are NaN (scalar.h).
template <Scalar S>
struct ChipRates {
  S peak_flops;     // FLOP/s of the compute dtype, dense
  S vector_flops;   // FLOP/s outside the matrix units; the peak where it is not known
  S hbm_capacity;   // bytes
  S hbm_bandwidth;  // bytes/s
  S ici_axis;  // bytes/s along one torus axis that closes, both directions; where none of the slice does, of one link
  S nvlink;    // bytes/s of one chip into its node, one direction
  S node;      // bytes/s of one node into the fabric, one direction
  S dcn;       // bytes/s of one chip into the data-centre network
  S price;     // dollars per chip hour
  S power;     // watts of one board
  std::array<S, kMaxFabricLevels> levels;  // bytes/s of one child's link into each fabric level, one direction
  S pcie;                                  // bytes/s between a chip and its host, one direction
  S host_memory;                           // bytes/s of the host's memory that one chip's state has
};

// The parameters of a calibrated or custom scenario; not set in ideal mode.
template <Scalar S>
struct CalibrationInputs {
  std::array<S, kCalibrationCount> values{};
  S peak{};           // FLOP/s of the compute dtype: the data sheet's, whatever chip.peak_flops is by now
  S peak_16{};        // FLOP/s of 16-bit arithmetic, which attention runs at
  S hbm{};            // bytes/s that memory-bound kernels reach
  S read{}, cache{};  // bytes/s at which a decoding step reads weights and its cache; serving only
  S log_nodes{};
  double units = 1;  // multiprocessors that share the tiles of a product
  double node_size = 1;
  bool lanes = false;          // matrix units of fixed width, which narrower heads fill in part (TPUs)
  bool direct = false;         // no switches inside a node
  bool issues = false;         // the host can be slower than the chip
  bool waits = false;          // it waits for each kernel (KernelLaunch::blocking)
  bool hosted = false;         // either: layers may idle for it
  Dtype narrow = Dtype::none;  // the compute dtype, where it is one of matrix multiplications alone
  const S& operator[](Calibrated p) const { return values[static_cast<std::size_t>(p)]; }
};

// What the formulas read of Muon; not set where all is Adam's.
template <Scalar S>
struct MuonInputs {
  bool on = false;
  bool distributed = false, blockwise = false;
  S steps{};
  S bytes{};       // of the optimizer state of a parameter: its momentum, and the master weight
  S send_bytes{};  // of an element of a matrix while it is made orthogonal, and of what is sent for that
  S peak{};        // FLOP/s of the products
};

// What the formulas read of adapters; not set where the weights themselves are trained.
template <Scalar S>
struct AdapterInputs {
  bool on = false;
  bool query = false, key = false, value = false, output = false, mlp = false, experts = false;
  S rank{};
  S bytes{};  // of a weight of an adapter

  void stand_beside(AdapterTargets targets, bool routed_experts) {
    const bool all = targets == AdapterTargets::linear, attention = all || targets == AdapterTargets::attention;
    on = true;
    query = value = attention || targets == AdapterTargets::query_value;
    key = output = attention;
    mlp = all || targets == AdapterTargets::mlp;
    experts = mlp && routed_experts;
  }
};

template <Scalar S>
struct Inputs {
  S zero;
  ModelDims<S> model;
  ChipRates<S> chip;
  ChipRates<S> achieved;    // links as collectives reach them; in ideal mode the same
  bool calibrated = false;  // also in custom mode
  CalibrationInputs<S> calibration;
  S cluster_chips, slices;
  S expert_tensor;                    // tensor degree inside experts
  bool experts_split_tensor = false;  // it is below the tensor degree
  S batch_sequences, sequence_length, train_tokens;
  AxisArray<Degree<S>> degrees;
  S microbatch_sequences, checkpoints_per_layer;
  S activation_bytes, weight_bytes, gradient_bytes, optimizer_bytes;  // of one element or parameter
  MuonInputs<S> muon;
  AdapterInputs<S> adapter;
  S rest_bytes;              // of a served weight outside the experts
  bool rest_apart = false;   // it is another than weight_bytes
  S residual_bytes;          // of an element of the residual stream, where it is kept or sent to the next stage
  S gather_bytes;            // of a weight whose shards are gathered for a layer (ZeRO-3)
  S update_bytes;            // of a weight that ranks keep whole, as its new value is sent to them (below ZeRO-3)
  S reduced_gradient_bytes;  // of a gradient element as it is sent: as stored, else in the compute dtype
  S offload_fraction{};      // of the parameters whose optimizer state is offloaded, where that is not all
  bool splits_optimizer = false;
  S stated_mfu, reserve_bytes;
  S overlap;  // share of the work communication hides under
  bool full_overlap = true;
  AxesOverlap axes_overlap = AxesOverlap::sum;  // resolved: never automatic
  S checkpointed_blocks, checkpoint_segments;
  bool scores_in_hbm = false;            // of attention (AttentionKernel)
  bool scores_by_vector = false;         // whose products matrix units do not take (has_aligned_heads)
  bool eager = false;                    // ElementwiseKernel
  double logit_bytes = 4;                // in ideal mode (bytes_of_logit); calibrated mode has a parameter
  AxisArray<S> torus_axes;               // as axes_worth (placement.h)
  S bound_axes_fsdp, bound_axes_tensor;  // torus axes the bounds assume for FSDP and tensor: as placed, else 2 and 1
  MeshLinks links;
  S hop_latency;  // of a message to the next chip or switch, however small; calibrated mode has its own

  const Degree<S>& degree(Axis axis) const { return degrees[axis]; }
};

// Calibrated: whether transfers of an axis can run beside work. A host that waits for each kernel starts nothing beside
// one, and tensor-parallel kernels that send while they multiply are made for one node.
template <Scalar S>
bool hides(const Inputs<S>& in, Axis axis) {
  return !in.calibration.waits && (axis != Axis::tensor || in.links[Axis::tensor].tier != LinkTier::fabric);
}

// `trace` is where Traced inputs are recorded; ignored for double.
template <Scalar S>
Inputs<S> make_inputs(const Scenario&, Trace* trace);
extern template Inputs<double> make_inputs<double>(const Scenario&, Trace*);
extern template Inputs<Traced> make_inputs<Traced>(const Scenario&, Trace*);

// The torus axes a group spans, as `count` and, where some do not close beside others that do, in those that close.
template <Scalar S>
S torus_axes_of(const AxisLinks&, Q count, Trace* trace,
                std::string_view source = "placement of the mesh on the links");

// Of one element, with its share of the scale of its block; 0 for none. NVFP4's second scale, four bytes for a whole
// tensor, is not counted.
// Sources: OCP Microscaling Formats 1.0 (MXFP4: 32 elements, E8M0); NVIDIA, "Pretraining Large Language Models with
// NVFP4" 2025 (16 elements, E4M3).
double bytes_of(Dtype);
double bytes_of(OptimizerKind);
constexpr bool is_block_float(Dtype dtype) { return dtype == Dtype::nvfp4 || dtype == Dtype::mxfp4; }
// Floats for matrix multiplications alone: what is between them is kept, sent and added up in 16 bits.
constexpr bool is_narrow_float(Dtype dtype) { return dtype == Dtype::fp8 || is_block_float(dtype); }
// The cache of a server whose scenario does not say: as the arithmetic, but no kernel attends in four bits.
constexpr Dtype cache_format(const Precision& p) {
  if (p.kv_cache != Dtype::none) return p.kv_cache;
  return is_block_float(p.compute) ? Dtype::fp8 : p.compute;
}
// The dense peak of a dtype on a chip: which published figure it is.
ChipField peak_field(Dtype compute);
// What a server multiplies in on a chip. Without units for a format its kernels widen the weights to 16 bits.
Dtype served_compute(Dtype compute, const Chip&);
// What large products of a dtype reach of its peak.
constexpr Calibrated product_efficiency(Dtype compute) {
  return compute == Dtype::fp8     ? Calibrated::matmul_efficiency_fp8
         : is_block_float(compute) ? Calibrated::matmul_efficiency_fp4
                                   : Calibrated::matmul_efficiency;
}

}  // namespace roofscape::engine
