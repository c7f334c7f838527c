#include "engine/inputs/inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "engine/scenario/mesh_size.h"
#include "engine/scenario/scenario_title.h"

namespace roofscape::engine {

double bytes_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::none:
      return 0;
    case Dtype::int4:
      return 0.5;
    case Dtype::nvfp4:
      return 0.5 + 1.0 / 16;
    case Dtype::mxfp4:
      return 0.5 + 1.0 / 32;
    case Dtype::int8:
      return 1;
    case Dtype::fp8:
      return 1;
    case Dtype::bf16:
    case Dtype::fp16:
      return 2;
    case Dtype::fp32:
      return 4;
  }
  return 0;
}

// Block-wise quantisation of the moments (Dettmers et al. 2022, 8-bit Optimizers), with the blocks that bitsandbytes and
// torchao have today.
static constexpr int kMomentsInBlock = 256;

double bytes_of(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::none:
      return 0;
    case OptimizerKind::adam_bf16:
    case OptimizerKind::muon_bf16:
      return 4;
    case OptimizerKind::adam_fp32:
    case OptimizerKind::muon_fp32:
      return 8;
    case OptimizerKind::adam_8bit:
      return 2 * (1 + 4.0 / kMomentsInBlock);
  }
  return 0;
}

ChipField peak_field(Dtype compute) {
  switch (compute) {
    case Dtype::int4:
      return ChipField::peak_int4_dense_ops_per_s;
    case Dtype::nvfp4:
    case Dtype::mxfp4:
      return ChipField::peak_fp4_dense_flops_per_s;
    case Dtype::int8:
      return ChipField::peak_int8_dense_ops_per_s;
    case Dtype::fp8:
      return ChipField::peak_fp8_dense_flops_per_s;
    case Dtype::fp16:
      return ChipField::peak_fp16_dense_flops_per_s;
    case Dtype::fp32:
      return ChipField::peak_fp32_vector_flops_per_s;
    default:
      return ChipField::peak_bf16_dense_flops_per_s;
  }
}

Dtype served_compute(Dtype compute, const Chip& chip) {
  return chip[peak_field(compute)].value ? compute : Dtype::bf16;
}

ModelTraits model_traits(const TransformerShape& m) {
  ModelTraits is;
  is.gated_mlp = m.gated_mlp, is.tied_embeddings = m.tied_embeddings;
  is.qkv_bias = m.qkv_bias, is.o_bias = m.o_bias, is.mlp_bias = m.mlp_bias;
  is.unembedding_bias = m.unembedding_bias, is.layernorm_bias = m.layernorm_bias;
  is.qk_norm = m.qk_norm, is.qk_norm_all_heads = m.qk_norm_all_heads;
  is.attn_sinks = m.attn_sinks, is.rel_pos_projection = m.rel_pos_projection;
  is.moe = m.is_moe(), is.dense_layers = m.is_moe() && m.moe.n_dense_layers > 0;
  is.shared_experts = m.moe.n_shared_experts > 0, is.router_bias = m.moe.router_bias;
  is.shared_expert_gate = m.moe.shared_expert_gate, is.expert_groups = m.has_expert_groups();
  is.mla = m.is_mla(), is.q_lora = m.mla.q_lora_rank > 0;
  is.local = m.has_local_layers(), is.positions = m.learned_positions > 0;
  is.norms_per_layer = m.norms_per_layer, is.embedding_norm = m.embedding_norm;
  return is;
}

template <Scalar S>
ModelDims<S> make_model_dims(const TransformerShape& m, Trace* trace) {
  const auto input = [trace, &m](Q q, double value) {
    // Only a derivation asks where a size comes from.
    return input_leaf<S>(trace, q, -1, value,
                         trace == nullptr ? std::string_view() : model_source(m, quantity(q).id));
  };
  ModelDims<S> dims{input(Q::n_layers, m.n_layers),
                    input(Q::d_model, m.d_model),
                    input(Q::d_ff, m.d_ff),
                    input(Q::n_heads, m.n_heads),
                    input(Q::n_kv_heads, m.n_kv_heads),
                    input(Q::d_head, m.d_head),
                    input(Q::vocab_size, m.vocab_size),
                    model_traits(m)};
  if (dims.is.positions) dims.learned_positions = input(Q::learned_positions, m.learned_positions);
  if (dims.is.moe) {
    dims.n_experts = input(Q::n_routed_experts, m.moe.n_routed_experts);
    dims.experts_per_token = input(Q::experts_per_token, m.moe.experts_per_token);
    dims.d_ff_expert = input(Q::d_ff_expert, m.expert_width());
    dims.n_shared_experts = input(Q::n_shared_experts, m.moe.n_shared_experts);
    dims.n_dense_layers = input(Q::n_dense_layers, m.n_layers - m.n_moe_layers());
    if (dims.is.expert_groups) {
      dims.n_expert_groups = input(Q::n_expert_groups, m.moe.n_expert_groups);
      dims.groups_per_token = input(Q::groups_per_token, m.moe.groups_per_token);
    }
  }
  if (dims.is.mla) {
    if (dims.is.q_lora) dims.q_lora_rank = input(Q::q_lora_rank, m.mla.q_lora_rank);
    dims.kv_lora_rank = input(Q::kv_lora_rank, m.mla.kv_lora_rank);
    dims.qk_nope_head_dim = input(Q::qk_nope_head_dim, m.mla.qk_nope_head_dim);
    dims.qk_rope_head_dim = input(Q::qk_rope_head_dim, m.mla.qk_rope_head_dim);
    dims.v_head_dim = input(Q::v_head_dim, m.mla.v_head_dim);
  }
  if (dims.is.local) {
    dims.window_tokens = input(Q::window_tokens, m.local_attention.window_tokens);
    dims.n_local_layers = input(Q::n_local_layers, m.n_local_layers());
  }
  return dims;
}
template ModelDims<double> make_model_dims<double>(const TransformerShape&, Trace*);
template ModelDims<Traced> make_model_dims<Traced>(const TransformerShape&, Trace*);

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kChipsAHost = 8;
constexpr std::string_view kNotFitted = "no decoding run on this chip was fitted: left out";
// Two sockets of eight DDR4-3200 channels of 8 bytes, as in hosts of eight A100, for each of the eight.
constexpr double kUsualHostMemory = 2 * 8 * 3.2e9 * 8 / kChipsAHost;
constexpr std::string_view kBookAxes = "scaling book ch. 5: two axes for FSDP, one for tensor";

// The parameters, and the rates they leave of the chip's figures.
template <Scalar S>
void calibrate(const Scenario& s, Trace* trace, Inputs<S>& in) {
  const bool custom = s.assumptions.mode == Mode::custom;
  const Chip& chip = s.cluster.chip;
  const CalibrationValues values = applied_calibration(s);
  const std::string_view source = custom ? std::string_view("scenario")
                                  : chip.calibration.source.empty()
                                      ? std::string_view("no calibration of this chip: ideal")
                                      : std::string_view(chip.calibration.source);
  CalibrationInputs<S>& c = in.calibration;
  const bool unfitted = decodes_unfitted(s);
  for (std::size_t i = 0; i < kCalibrationCount; ++i) {
    const auto parameter = static_cast<Calibrated>(i);
    const bool host = std::find(kHostTimes.begin(), kHostTimes.end(), parameter) != kHostTimes.end();
    const bool own = (parameter == Calibrated::logit_bytes && s.kernels.loss != LossKernel::automatic) ||
                     (parameter == Calibrated::score_passes && s.kernels.attention != AttentionKernel::automatic);
    c.values[i] = input_leaf<S>(trace, static_cast<Q>(static_cast<std::size_t>(Q::cal_matmul_efficiency) + i), -1,
                                values.values[i],
                                own                ? std::string_view("scenario")
                                : unfitted && host ? kNotFitted
                                                   : source);
  }
  c.peak = in.chip.peak_flops;
  const Sourced& peak = chip[ChipField::peak_bf16_dense_flops_per_s];
  c.narrow = is_narrow_float(s.precision.compute) ? s.precision.compute : Dtype::none;
  c.peak_16 = c.narrow != Dtype::none
                  ? input_leaf<S>(trace, Q::peak_flops_16, -1, peak.value.value_or(kUnknown), peak.source)
                  : in.chip.peak_flops;
  c.hbm = named(Q::achieved_hbm, in.chip.hbm_bandwidth * c[Calibrated::memory_efficiency]);
  // A matrix unit of a TPU takes a kernel's tiles one after the other: no wave of them leaves units idle.
  const bool waves = chip.interconnect == Interconnect::switched && values[Calibrated::wave_share] > 0;
  c.units = chip[ChipField::sm_count].value.value_or(waves ? kUnknown : 1);
  c.node_size = chip[ChipField::scaleup_domain_chips].value.value_or(s.cluster.node_size);
  c.lanes = chip.interconnect == Interconnect::torus;
  c.direct = values[Calibrated::direct_links] > 0;
  c.issues = (s.serves() || s.kernels.launch != KernelLaunch::graphs) &&
             (values[Calibrated::issue] > 0 || (s.model.is_moe() && values[Calibrated::expert_issue] > 0));
  c.waits = waits_for_kernels(s);
  c.hosted = c.issues || c.waits;
  in.scores_in_hbm = values[Calibrated::score_passes] > 0;
  in.scores_by_vector = multiplies_heads_by_vector(s);
  // Of the nodes that the mesh is on: those that idle are waited for by nobody.
  const double nodes = std::max(1.0, mesh_chips(s.parallelism) / kChipsAHost);
  c.log_nodes = input_leaf<S>(trace, Q::log_nodes, -1, std::log(nodes), "scenario");
  // The report's capacity is what is there, made of the data sheet's.
  const Sourced& capacity = chip[ChipField::hbm_bytes];
  if (capacity.value)
    in.chip.hbm_capacity =
        named(Q::hbm_capacity, input_leaf<S>(trace, Q::sheet_capacity, -1, *capacity.value, capacity.source) *
                                   c[Calibrated::capacity]);
  const S& link = c[Calibrated::link_efficiency];
  const S& fabric = c[Calibrated::fabric_efficiency];
  in.achieved.nvlink = named(Q::achieved_links, in.chip.nvlink * link);
  in.achieved.ici_axis = named(Q::achieved_links, in.chip.ici_axis * link);
  in.achieved.node = named(Q::achieved_fabric, in.chip.node * fabric);
  in.achieved.dcn = named(Q::achieved_fabric, in.chip.dcn * fabric);
  in.achieved.pcie = named(Q::achieved_host, in.chip.pcie * c[Calibrated::host_link]);
  for (std::size_t i = 0; i < std::min(s.cluster.fabric.size(), kMaxFabricLevels); ++i)
    in.achieved.levels[i] = named(Q::achieved_fabric, in.chip.levels[i] * fabric);
  // A decoding step takes kernels together: they run at the rates that large ones reach.
  if (s.serves()) {
    c.read = in.chip.hbm_bandwidth * c[Calibrated::read_efficiency];
    // Weights narrower than the arithmetic are widened in the kernel that multiplies with them, unless the units of the
    // chip take four-bit floats beside eight-bit ones.
    const bool mixed = is_block_float(s.precision.weights) && c.narrow != Dtype::none &&
                       chip[ChipField::peak_fp4_dense_flops_per_s].value;
    if (!mixed && bytes_of(s.precision.weights) > 0 && bytes_of(s.precision.weights) < bytes_of(s.precision.compute))
      c.read = c.read / (constant<S>(1) + c[Calibrated::dequantization] * in.activation_bytes / in.weight_bytes);
    c.read = named(Q::achieved_read, c.read);
    c.cache = named(Q::achieved_cache, in.chip.hbm_bandwidth * c[Calibrated::cache_efficiency]);
    in.chip.peak_flops = named(Q::achieved_peak, in.chip.peak_flops * c[product_efficiency(c.narrow)]);
    in.chip.hbm_bandwidth = c.read;
    in.chip.nvlink = in.achieved.nvlink, in.chip.ici_axis = in.achieved.ici_axis;
    in.chip.node = in.achieved.node, in.chip.dcn = in.achieved.dcn, in.chip.levels = in.achieved.levels;
  }
}

template <Scalar S>
MuonInputs<S> muon_inputs(const Scenario& s, Trace* trace) {
  const auto input = [trace](Q q, double value, std::string_view source) {
    return input_leaf<S>(trace, q, -1, value, source);
  };
  const Precision& p = s.precision;
  MuonInputs<S> muon;
  muon.on = true;
  muon.distributed = s.muon.homes == MuonHomes::distributed;
  muon.blockwise = s.muon.tensor == MuonTensor::blockwise;
  muon.steps = input(Q::muon_steps, s.muon.newton_schulz_steps, "scenario");
  muon.bytes =
      input(Q::muon_width_bytes, bytes_of(p.optimizer) / 2 + bytes_of(p.master_weights), "scenario: one moment");
  // Also of a model that is trained in fewer bits: 16 suffice (Jordan et al. 2024), fewer nobody has tried.
  const Dtype dtype = p.compute == Dtype::fp16 || p.compute == Dtype::fp32 ? p.compute : Dtype::bf16;
  muon.send_bytes = input(Q::muon_send_bytes, bytes_of(dtype), "Newton-Schulz runs in 16 bits; Jordan et al. 2024");
  const Sourced& peak = s.cluster.chip[peak_field(dtype)];
  const Sourced& computes = s.cluster.chip[peak_field(p.compute)];
  // Sheets that round differ by less than a format does: fewer bits are not slower.
  const bool slower = peak.value && computes.value && *computes.value < *peak.value;
  const Sourced& takes = slower ? computes : peak;
  muon.peak = input(Q::muon_peak, takes.value.value_or(kUnknown), takes.source);
  return muon;
}

template <Scalar S>
AdapterInputs<S> adapter_inputs(const Scenario& s, Trace* trace) {
  AdapterInputs<S> out;
  out.stand_beside(s.adapter.targets, s.adapter.experts);
  out.rank = input_leaf<S>(trace, Q::adapter_rank, -1, s.adapter.rank, "scenario");
  const Dtype dtype = s.precision.compute == Dtype::fp32 ? Dtype::fp32 : Dtype::bf16;
  out.bytes = input_leaf<S>(trace, Q::adapter_width_bytes, -1, bytes_of(dtype),
                            "adapters keep to 16 bits whatever the model is stored in; Dettmers et al. 2023");
  return out;
}

}  // namespace

template <Scalar S>
S torus_axes_of(const AxisLinks& links, Q count, Trace* trace, std::string_view source) {
  const S axes = input_leaf<S>(trace, count, links.axis, links.torus_axes, source);
  if (!links.slice_closes || links.open_axes == 0) return axes;
  const S open = input_leaf<S>(trace, Q::torus_open, links.axis, links.open_axes, source);
  return named(Q::torus_worth, links.axis, axes - open / constant<S>(2));
}
template double torus_axes_of<double>(const AxisLinks&, Q, Trace*, std::string_view);
template Traced torus_axes_of<Traced>(const AxisLinks&, Q, Trace*, std::string_view);

// Of a chip that states none.
constexpr double kUsualHopLatency = 1e-6;

template <Scalar S>
Inputs<S> make_inputs(const Scenario& s, Trace* trace) {
  Inputs<S> in;
  const auto input = [trace](Q q, double value, std::string_view source) {
    return input_leaf<S>(trace, q, -1, value, source);
  };
  const auto figure = [&](Q q, ChipField field) {
    const Sourced& sourced = s.cluster.chip[field];
    return input(q, sourced.value.value_or(kUnknown), sourced.source);
  };
  const std::string_view yours = "scenario";
  if constexpr (std::same_as<S, Traced>) {
    in.zero = trace->zero();
  } else {
    in.zero = 0;
  }
  in.model = make_model_dims<S>(s.model, trace);
  // Of a training step every operation has its shape; the formulas of serving take the parameters together.
  in.model.is.published_count =
      s.serves() && s.model.published_total_params > 0 && s.assumptions.parameters == ParameterCount::published;
  if (in.model.is.published_count)
    in.model.published_params = input(Q::published_params, s.model.published_total_params, s.model.source);
  in.links = place_mesh(s.cluster, s.parallelism, resolved_placement(s));
  in.chip.peak_flops = figure(Q::peak_flops, peak_field(s.precision.compute));
  in.chip.vector_flops = s.cluster.chip[ChipField::peak_fp32_vector_flops_per_s].value
                             ? figure(Q::chip_vector_flops, ChipField::peak_fp32_vector_flops_per_s)
                             : in.chip.peak_flops;
  in.chip.hbm_capacity = figure(Q::hbm_capacity, ChipField::hbm_bytes);
  in.chip.hbm_bandwidth = figure(Q::hbm_bandwidth, ChipField::hbm_bytes_per_s);
  in.chip.ici_axis =
      figure(Q::ici_axis_bandwidth, in.links.closing > 0 ? ChipField::ici_bytes_per_s_per_axis_bidirectional
                                                         : ChipField::ici_bytes_per_s_per_link_oneway);
  in.chip.nvlink = figure(Q::nvlink_bandwidth, ChipField::scaleup_bytes_per_s_per_chip_oneway);
  in.chip.node = s.cluster.fabric.empty()
                     ? figure(Q::node_bandwidth, ChipField::scaleout_bytes_per_s_per_node_oneway)
                     : input(Q::node_bandwidth, s.cluster.fabric[0].bytes_per_s_per_child, yours);
  // Serving may assume one of its own.
  const Sourced& hop = s.cluster.chip[latency_field(s.cluster.chip.interconnect)];
  in.hop_latency = s.serves() && s.assumptions.hop_latency_s > 0
                       ? input(Q::hop_latency, s.assumptions.hop_latency_s, yours)
                   : hop.value ? input(Q::hop_latency, *hop.value, hop.source)
                               : input(Q::hop_latency, kUsualHopLatency, "about a microsecond; scaling book ch. 2");
  in.chip.dcn = figure(Q::dcn_bandwidth, ChipField::dcn_bytes_per_s_per_chip);
  in.chip.price = figure(Q::price, ChipField::price_usd_per_chip_hour);
  in.chip.power = figure(Q::board_power, ChipField::board_power_watts);
  in.chip.levels.fill(in.zero);
  for (std::size_t i = 0; i < std::min(s.cluster.fabric.size(), kMaxFabricLevels); ++i)
    in.chip.levels[i] = input_leaf<S>(trace, Q::fabric_bandwidth, static_cast<int>(i),
                                      s.cluster.fabric[i].bytes_per_s_per_child, yours);
  in.expert_tensor = input(Q::expert_tensor, s.parallelism.experts_tensor(), yours);
  in.experts_split_tensor = s.model.is_moe() && s.parallelism.experts_tensor() < s.parallelism.tensor;
  in.chip.pcie = figure(Q::pcie_bandwidth, ChipField::host_pcie_bytes_per_s_per_chip);
  in.chip.host_memory =
      s.assumptions.host_memory_bytes_per_s > 0
          ? input(Q::host_memory_bandwidth, s.assumptions.host_memory_bytes_per_s, yours)
          : input(Q::host_memory_bandwidth, kUsualHostMemory, "an eighth of two sockets of eight DDR4-3200 channels");
  in.cluster_chips = input(Q::cluster_chips, static_cast<double>(chip_count(s.cluster)), yours);
  in.slices = input(Q::cluster_slices, s.cluster.slices, yours);
  in.batch_sequences = input(Q::batch_sequences, s.workload.global_batch_sequences, yours);
  in.sequence_length = input(Q::sequence_length, s.workload.sequence_length, yours);
  in.train_tokens = input(Q::train_tokens, s.workload.train_tokens, yours);
  for (int i = 0; i < kAxisCount; ++i) {
    const auto axis = static_cast<Axis>(i);
    const std::size_t slot = static_cast<std::size_t>(i);
    const int degree = s.parallelism.degree(axis);
    in.degrees[slot] = {degree, input_leaf<S>(trace, Q::axis_degree, i, degree, yours)};
    in.torus_axes[slot] = torus_axes_of<S>(in.links.group(axis), Q::torus_axes, trace);
  }
  // Of the axes the mesh takes, else of as many of the slice's best.
  const auto placed = [&](Axis axis, int book) {
    const AxisLinks& links = in.links.group(axis);
    const bool asked = s.placement.axes[axis] > 0 || s.placement.on[axis] != TorusAxes::automatic;
    if (asked && links.tier == LinkTier::ici) return in.torus_axes[axis];
    AxisLinks best;
    best.axis = static_cast<int>(axis);
    best.torus_axes =
        s.placement.axes[axis] > 0 ? s.placement.axes[axis] : std::min(book, std::max(1, in.links.torus_dims - 1));
    best.slice_closes = in.links.closing > 0;
    best.open_axes = std::max(0, best.torus_axes - in.links.closing);
    return torus_axes_of<S>(best, Q::torus_axes, trace, asked ? yours : kBookAxes);
  };
  in.bound_axes_fsdp = placed(Axis::fsdp, 2);
  in.bound_axes_tensor = placed(Axis::tensor, 1);
  in.microbatch_sequences = input(Q::microbatch_sequences, s.pipeline.microbatch_sequences, yours);
  in.checkpoints_per_layer = input(Q::checkpoints_per_layer, s.checkpointing.k, yours);
  in.checkpointed_blocks = input(Q::checkpointed_blocks, std::min(s.checkpointing.blocks, s.model.n_layers), yours);
  const bool root = s.checkpointing.segments == 0;
  in.checkpoint_segments =
      input(Q::checkpoint_segments,
            root ? std::round(std::sqrt(s.model.n_layers)) : std::min(s.checkpointing.segments, s.model.n_layers),
            root ? std::string_view("square root of the layers") : yours);
  in.overlap = input(Q::overlap, s.assumptions.overlap, yours);
  in.full_overlap = s.assumptions.overlap == 1;
  in.axes_overlap = resolved(s.assumptions.axes_overlap, s.cluster.chip.interconnect);
  const auto& precision = s.precision;
  // Software that multiplies in 8 bits keeps and sends its activations in 16. In four bits nobody does.
  in.calibrated = s.assumptions.mode != Mode::ideal;
  const bool wider = in.calibrated ? is_narrow_float(precision.compute) : is_block_float(precision.compute);
  const double kept = bytes_of(wider ? Dtype::bf16 : precision.compute);
  in.activation_bytes = input(Q::activation_width_bytes, kept, yours);
  // Serving keeps nothing for a backward pass, and counts what it sends as it counts activations.
  const double stream =
      precision.residual != Dtype::none ? bytes_of(precision.residual) : std::max(kept, bytes_of(Dtype::bf16));
  in.residual_bytes = s.serves() ? in.activation_bytes : input(Q::residual_width_bytes, stream, yours);
  in.weight_bytes = input(Q::weight_width_bytes, bytes_of(precision.weights), yours);
  // Published four-bit checkpoints of models with experts (gpt-oss, DeepSeek-R1-FP4) have nothing else in four bits.
  in.rest_apart = s.serves() && s.model.is_moe() && is_block_float(precision.weights);
  in.rest_bytes = in.rest_apart ? input(Q::rest_width_bytes, bytes_of(Dtype::bf16),
                                        "four-bit checkpoints keep all but the experts in 16 bits")
                                : in.weight_bytes;
  in.gradient_bytes = input(Q::gradient_width_bytes, bytes_of(precision.gradients), yours);
  // The matrices of an adapter are narrow: all that Muon is for them is one moment fewer.
  const bool adapts = s.adapter.rank > 0 && !s.serves(), one_moment = adapts && is_muon(precision.optimizer);
  in.optimizer_bytes =
      input(Q::optimizer_width_bytes,
            bytes_of(precision.optimizer) / (one_moment ? 2 : 1) + bytes_of(precision.master_weights), yours);
  if (adapts) in.adapter = adapter_inputs<S>(s, trace);
  if (is_muon(precision.optimizer) && !s.serves() && !adapts) in.muon = muon_inputs<S>(s, trace);
  in.reduced_gradient_bytes = precision.gradients == Dtype::none ? in.activation_bytes : in.gradient_bytes;
  // Weights of 32 bits are those of the optimizer: a layer's are cast before they are gathered. Narrower ones are sent
  // as stored, but that software whose rates are measured casts them too.
  const double stored = bytes_of(precision.weights);
  const bool full = stored > bytes_of(Dtype::bf16);
  in.gather_bytes = (in.calibrated || full) && stored > kept ? in.activation_bytes : in.weight_bytes;
  in.update_bytes = full ? in.weight_bytes : in.gather_bytes;
  in.achieved = in.chip;
  in.scores_in_hbm = s.kernels.attention == AttentionKernel::unfused;
  in.eager = s.kernels.elementwise == ElementwiseKernel::eager;
  in.logit_bytes = bytes_of_logit(s.kernels.loss).value_or(*bytes_of_logit(LossKernel::fused));
  in.splits_optimizer = s.offload.optimizer_fraction < 1;
  if (in.splits_optimizer) in.offload_fraction = input(Q::offload_fraction, s.offload.optimizer_fraction, yours);
  if (in.calibrated) calibrate(s, trace, in);
  in.stated_mfu = input(Q::stated_mfu, s.assumptions.stated_mfu, yours);
  in.reserve_bytes = input(Q::reserve_bytes, s.assumptions.reserve_bytes, yours);
  if (in.calibrated && s.serves()) in.reserve_bytes = in.reserve_bytes + in.calibration[Calibrated::reserve];
  return in;
}

template Inputs<double> make_inputs<double>(const Scenario&, Trace*);
template Inputs<Traced> make_inputs<Traced>(const Scenario&, Trace*);

}  // namespace roofscape::engine
