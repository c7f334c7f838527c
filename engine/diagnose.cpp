#include "engine/diagnose.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "engine/advise.h"
#include "engine/findings.h"
#include "engine/inputs.h"
#include "engine/serving/diagnose_serving.h"
#include "engine/training/bounds.h"
#include "engine/training/stage_cost.h"

namespace roofscape::engine {

namespace {

double floor_power_of_two(double x) {
  return x < 1 ? 1 : static_cast<double>(std::bit_floor(static_cast<std::uint64_t>(std::min(x, 1e18))));
}

// The largest box of powers of two that fits a slice.
double largest_power_of_two_box(const std::array<int, 3>& slice) {
  double box = 1;
  for (const int side : slice) box *= floor_power_of_two(side);
  return box;
}

// What the scenario asks of the torus and does not get, and what its links carry.
void check_torus(Findings& f, const MeshLinks& mesh) {
  const Scenario& s = f.scenario();
  const int sides = std::popcount(torus_sides(s.cluster));
  if (!mesh.wrapped)
    f.add(Severity::note, "torus.not_wrapped",
          {{double(sides - mesh.closing), unit::count}, {double(sides), unit::count}}, "cluster.slice.0");
  constexpr std::array<std::string_view, kAxisCount> kFields{"placement.data.axes",   "placement.fsdp.axes",
                                                             "placement.tensor.axes", "placement.context.axes",
                                                             "placement.expert.axes", "placement.pipeline.axes"};
  unsigned shared = 0;
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    const AxisLinks& links = mesh[static_cast<Axis>(i)];
    if (links.tier != LinkTier::ici) continue;
    const int on = std::popcount(static_cast<unsigned>(s.placement.on[i])),
              asked = s.placement.axes[i] > 0 ? s.placement.axes[i] : on;
    if ((asked > 0 && asked != links.torus_axes) || (on > 0 && s.placement.on[i] != links.on))
      f.add(Severity::warning, "placement.not_as_asked",
            {{double(on > 0 ? on : asked), unit::count}, {double(links.torus_axes), unit::count}}, kFields[i]);
    for (const Axis own : {Axis::tensor, Axis::pipeline})
      if (static_cast<Axis>(i) != own)
        shared |= static_cast<unsigned>(links.on) & static_cast<unsigned>(mesh[own].on);
  }
  if (shared != 0)
    f.add(Severity::note, "placement.shared_axis", {{double(std::popcount(shared)), unit::count}},
          "placement.tensor.on");
}

void check_chips(Findings& f) {
  const Scenario& s = f.scenario();
  const double used = f.quantity(Q::chips_used), total = static_cast<double>(chip_count(s.cluster));
  if (used > total) {
    // Fewer data shards are the change that alters the arithmetic of a microbatch least.
    Fix fix;
    const bool fsdp = s.parallelism.fsdp >= s.parallelism.data;
    const double degree = fsdp ? s.parallelism.fsdp : s.parallelism.data;
    const double allowed = floor_power_of_two(total / (used / degree));
    const bool two_meshes = s.serves() && s.serving.disaggregated;
    if (allowed >= 1 && used / degree <= total && !two_meshes)
      fix = {Findings::edit(fsdp ? "parallelism.fsdp" : "parallelism.data", allowed)};
    f.add(Severity::error, "mesh.too_many_chips", {{used, unit::chips}, {total, unit::chips}}, "parallelism.fsdp",
          fix);
  } else if (used < total) {
    f.add(Severity::warning, "mesh.idle_chips", {{total - used, unit::chips}, {total, unit::chips}},
          "parallelism.fsdp");
  }
  if (s.cluster.chip.interconnect == Interconnect::torus && used <= total) {
    if (used > largest_power_of_two_box(s.cluster.slice) * s.cluster.slices &&
        std::has_single_bit(static_cast<std::uint64_t>(used)))
      f.add(Severity::note, "mesh.not_tiling", {{used, unit::chips}});
    check_torus(f, place_mesh(s.cluster, s.parallelism, s.placement));
  }
}

void check_fabric(Findings& f) {
  const Cluster& cluster = f.scenario().cluster;
  if (cluster.chip.interconnect != Interconnect::switched || cluster.fabric.empty()) return;
  double joined = 1;
  for (const FabricLevel& level : cluster.fabric) joined *= level.degree;
  if (joined < cluster.nodes)
    f.add(Severity::note, "cluster.fabric_too_small", {{joined, unit::count}, {double(cluster.nodes), unit::count}},
          "cluster.nodes");
}

void check_batch(Findings& f) {
  const Scenario& s = f.scenario();
  const double batch = s.workload.global_batch_sequences;
  const double ranks = static_cast<double>(s.parallelism.data) * s.parallelism.fsdp;
  const double granule = ranks * s.pipeline.microbatch_sequences;
  if (batch < ranks) {
    Fix fix;
    const double split = ranks / batch;
    const bool fsdp = s.parallelism.fsdp >= s.parallelism.data;
    const double degree = fsdp ? s.parallelism.fsdp : s.parallelism.data;
    if (split == std::floor(split) && std::fmod(degree, split) == 0)  // what data loses, context takes over
      fix = {Findings::edit(fsdp ? "parallelism.fsdp" : "parallelism.data", degree / split),
             Findings::edit("parallelism.context", s.parallelism.context * split)};
    f.add(Severity::error, "batch.too_few_sequences", {{batch, unit::sequences}, {ranks, unit::ways}},
          "workload.global_batch_sequences", fix);
  } else if (std::fmod(batch, granule) != 0) {
    f.add(Severity::error, "batch.not_divisible", {{batch, unit::sequences}, {granule, unit::sequences}},
          "workload.global_batch_sequences",
          {Findings::edit("workload.global_batch_sequences", std::ceil(batch / granule) * granule)});
  }
  if (s.workload.sequence_length % s.parallelism.context != 0)
    f.add(Severity::error, "context.sequence_not_divisible",
          {{double(s.workload.sequence_length), unit::tokens}, {double(s.parallelism.context), unit::ways}},
          "parallelism.context");
}

// Tensor ranks that do not split an expert hold other experts, so there must be as many expert ranks, and each must
// have tokens of its own to send.
void check_expert_tensor(Findings& f) {
  const Scenario& s = f.scenario();
  const auto& plan = s.parallelism;
  if (plan.expert_tensor == 0 || plan.expert_tensor == plan.tensor || !s.model.is_moe()) return;
  const double asked = plan.expert_tensor, tensor = plan.tensor;
  const std::string_view path = "parallelism.expert_tensor";
  if (asked > tensor || std::fmod(tensor, asked) != 0) {
    f.add(Severity::error, "expert_tensor.not_divisible", {{tensor, unit::ways}, {asked, unit::ways}}, path,
          {Findings::edit(path, 0)});
  } else if (std::fmod(plan.expert, tensor / asked) != 0) {
    f.add(Severity::error, "expert_tensor.too_few_experts",
          {{double(plan.expert), unit::ways}, {tensor / asked, unit::ways}}, "parallelism.expert",
          {Findings::edit("parallelism.expert", std::ceil(plan.expert * asked / tensor) * tensor / asked)});
  } else if (!plan.sequence_parallel) {
    f.add(Severity::error, "expert_tensor.needs_sequence_parallel", {}, "parallelism.sequence_parallel",
          {Findings::edit("parallelism.sequence_parallel", 1)});
  }
}

// Another type of the same or a larger width whose peak is known.
Fix known_rate(const Scenario& s) {
  if (s.cluster.chip[peak_field(s.precision.compute)].value) return {};
  for (const Dtype dtype : {Dtype::bf16, Dtype::fp16, Dtype::fp32})
    if (s.cluster.chip[peak_field(dtype)].value)
      return {Findings::edit("precision.compute", static_cast<double>(dtype))};
  return {};
}

void check_model(Findings& f) {
  const Scenario& s = f.scenario();
  const auto& m = s.model;
  const int tensor = s.parallelism.tensor;
  if (m.n_heads % m.n_kv_heads != 0)
    f.add(Severity::error, "model.heads_not_divisible",
          {{double(m.n_heads), unit::count}, {double(m.n_kv_heads), unit::count}}, "model.n_kv_heads");
  if (m.is_moe() && (m.moe.experts_per_token < 1 || m.moe.experts_per_token > m.moe.n_routed_experts))
    f.add(Severity::error, "model.experts_out_of_range",
          {{double(m.moe.experts_per_token), unit::count}, {double(m.moe.n_routed_experts), unit::count}},
          "model.moe.experts_per_token",
          {Findings::edit("model.moe.experts_per_token",
                          std::clamp(m.moe.experts_per_token, 1, m.moe.n_routed_experts))});
  if (m.is_mla() && (m.mla.qk_nope_head_dim + m.mla.qk_rope_head_dim < 1 || m.mla.v_head_dim < 1))
    f.add(Severity::error, "model.latent_without_heads", {{double(m.mla.kv_lora_rank), unit::elements}},
          "model.mla.v_head_dim");
  const bool training = !s.serves();  // serving has its own words for these
  if (training && m.max_context_tokens > 0 && s.workload.sequence_length > m.max_context_tokens)
    f.add(Severity::note, "model.beyond_context",
          {{double(s.workload.sequence_length), unit::tokens}, {double(m.max_context_tokens), unit::tokens}},
          "workload.sequence_length");
  if (m.n_heads % tensor != 0) {
    int nearest = tensor;
    while (nearest > 1 && m.n_heads % nearest != 0) --nearest;
    f.add(Severity::error, "tensor.heads_not_divisible",
          {{double(m.n_heads), unit::count}, {double(tensor), unit::ways}}, "parallelism.tensor",
          {Findings::edit("parallelism.tensor", nearest)});
  } else if (training && tensor > m.n_kv_heads && !m.is_mla()) {
    f.add(Severity::warning, "tensor.exceeds_kv_heads",
          {{double(tensor), unit::ways},
           {double(m.n_kv_heads), unit::count},
           {double(tensor) / m.n_kv_heads, unit::one}},
          "parallelism.tensor", {Findings::edit("parallelism.tensor", m.n_kv_heads)});
  }
  const int expert = s.parallelism.expert;
  if (expert > 1 && s.model.is_moe()) {
    const int carved = std::max(1, tensor / s.parallelism.experts_tensor());
    const double ranks =
        static_cast<double>(s.parallelism.data) * s.parallelism.fsdp * s.parallelism.context * carved;
    if (s.model.moe.n_routed_experts % expert != 0) {
      int nearest = std::min(expert, s.model.moe.n_routed_experts);
      while (nearest > 1 && s.model.moe.n_routed_experts % nearest != 0) --nearest;
      f.add(Severity::error, "expert.not_divisible",
            {{double(s.model.moe.n_routed_experts), unit::count}, {double(expert), unit::ways}}, "parallelism.expert",
            {Findings::edit("parallelism.expert", nearest)});
    } else if (std::fmod(ranks, expert) != 0) {
      f.add(Severity::error, "expert.exceeds_ranks", {{double(expert), unit::ways}, {ranks, unit::ways}},
            "parallelism.expert");
    }
  } else if (expert > 1) {
    f.add(Severity::error, "expert.dense_model", {{double(expert), unit::ways}}, "parallelism.expert",
          {Findings::edit("parallelism.expert", 1)});
  }
  check_expert_tensor(f);
  if (s.cluster.chip.interconnect == Interconnect::switched && tensor > s.cluster.node_size)
    f.add(Severity::warning, "tensor.crosses_nodes",
          {{double(tensor), unit::ways}, {double(s.cluster.node_size), unit::chips}}, "parallelism.tensor",
          {Findings::edit("parallelism.tensor", s.cluster.node_size)});
  for (const ChipField field : {peak_field(s.precision.compute), ChipField::hbm_bytes, ChipField::hbm_bytes_per_s})
    if (!s.cluster.chip[field].value) {
      f.add(Severity::error, "chip.no_rate", {}, "precision.compute", known_rate(s));
      break;
    }
}

// Chunks divide the bubble (Narayanan et al. 2021): as many as layers allow, up to eight; where microbatches do not
// fill the stages, none.
Fix smaller_bubble(const Findings& f) {
  const Scenario& s = f.scenario();
  if (s.pipeline.schedule != ScheduleKind::one_f_one_b && s.pipeline.schedule != ScheduleKind::gpipe) return {};
  for (const int chunks : {8, 4, 2}) {
    ScheduleShape shape = f.report().pipeline.shape;
    shape.kind = ScheduleKind::interleaved_1f1b;
    shape.virtual_stages = chunks;
    if (shape.stages * chunks <= s.model.n_layers && check_schedule(shape).legal())
      return {Findings::edit("pipeline.schedule", static_cast<double>(ScheduleKind::interleaved_1f1b)),
              Findings::edit("pipeline.virtual_stages", chunks)};
  }
  return {};
}

void check_pipeline(Findings& f) {
  const Scenario& s = f.scenario();
  const int stages = s.parallelism.pipeline;
  if (stages <= 1) return;
  const PipelineReport& pipeline = f.report().pipeline;
  const double m = f.quantity(Q::microbatches);
  const int virtual_stages = stages * std::max(1, passes_per_device(pipeline.shape));
  if (virtual_stages > s.model.n_layers) {
    f.add(Severity::error, "pipeline.more_stages_than_layers",
          {{double(virtual_stages), unit::count}, {double(s.model.n_layers), unit::layers}}, "parallelism.pipeline");
  } else if (s.model.n_layers % virtual_stages != 0) {
    f.add(Severity::note, "pipeline.uneven_layers",
          {{double(s.model.n_layers), unit::layers}, {double(virtual_stages), unit::count}}, "parallelism.pipeline");
  }
  if (!pipeline.status.legal()) {
    Fix fix;
    if (pipeline.status.field == ShapeField::virtual_stages)
      fix = {Findings::edit("pipeline.virtual_stages",
                            pipeline.status.above > 0 ? pipeline.status.above : pipeline.status.below)};
    if (pipeline.status.field == ShapeField::microbatches && pipeline.status.above > 0)
      fix = {Findings::edit("workload.global_batch_sequences",
                            f.quantity(Q::data_ranks) * s.pipeline.microbatch_sequences * pipeline.status.above)};
    f.add(Severity::error, "pipeline.illegal_schedule", {{m, unit::microbatches}, {double(stages), unit::count}},
          "pipeline.schedule", fix);
    return;
  }
  const double bubble = f.quantity(Q::pipeline_bubble_fraction);
  if (bubble > 0.15)
    f.add(Severity::warning, "pipeline.bubble",
          {{bubble, unit::fraction}, {m, unit::microbatches}, {double(stages), unit::count}}, "pipeline.schedule",
          smaller_bubble(f));
}

void check_memory(Findings& f) {
  const Report& r = f.report();
  const double capacity = f.quantity(Q::hbm_capacity), free = f.quantity(Q::memory_free);
  if (capacity <= 0) return;
  if (free < 0) {
    Fix fix;
    const Scenario& s = f.scenario();
    if (s.checkpointing.policy != CheckpointPolicy::block)
      fix = {Findings::edit("checkpointing.policy", static_cast<double>(CheckpointPolicy::block))};
    else if (s.parallelism.zero_stage < 3 && s.parallelism.fsdp * s.parallelism.context > 1)
      fix = {Findings::edit("parallelism.zero_stage", s.parallelism.zero_stage + 1)};
    f.add(Severity::warning, "memory.does_not_fit",
          {{-free, unit::bytes}, {double(r.fullest_stage), unit::count}, {capacity, unit::bytes}}, {}, fix);
  } else if (free < 0.05 * capacity) {
    f.add(Severity::warning, "memory.fits_barely", {{free, unit::bytes}, {capacity, unit::bytes}});
  }
}

void check_network(Findings& f) {
  const Scenario& s = f.scenario();
  const Report& r = f.report();
  const double step = f.quantity(Q::step_time);
  // Said beside the axis that is exposed longest.
  constexpr std::array<std::string_view, kAxisCount> kFields{"parallelism.data",    "parallelism.fsdp",
                                                             "parallelism.tensor",  "parallelism.context",
                                                             "parallelism.expert",  "parallelism.pipeline"};
  double exposed = 0, longest = 0;
  std::string_view field;
  for (std::size_t i = 0; i < kExposedParts.size(); ++i) {
    if (static_cast<Axis>(i) == Axis::pipeline) continue;  // its transfers are the schedule's, not a layer's
    const double seconds = f.quantity(kExposedParts[i]);
    exposed += seconds;
    if (seconds > longest) longest = seconds, field = kFields[i];
  }
  if (step > 0 && exposed > 0.02 * step)
    f.add(Severity::warning, "network.bound", {{exposed / step, unit::fraction}}, field);
  // Pure FSDP below its limit, where tensor parallelism would get under it (scaling book, chapter 6).
  const double tokens = f.quantity(Q::bound_cluster_tokens);
  const auto mixed =
      r.quantities[s.assumptions.axes_overlap == AxesOverlap::sum ? Q::bound_mixed_sum : Q::bound_mixed_max];
  const auto fsdp = r.quantities[Q::bound_fsdp_3];
  if (mixed && fsdp && s.parallelism.tensor == 1 && s.parallelism.pipeline == 1 && tokens < *fsdp) {
    const double limit = f.quantity(Q::bound_tensor);
    const double best = f.quantity(Q::chips_used) / std::max(1.0, f.quantity(Q::bound_x_opt));
    double tensor = std::min(floor_power_of_two(limit), floor_power_of_two(std::max(2.0, best)));
    const double shards = s.parallelism.fsdp;
    Fix fix;
    if (tensor >= 2 && std::fmod(shards, tensor) == 0)
      fix = {Findings::edit("parallelism.fsdp", shards / tensor), Findings::edit("parallelism.tensor", tensor)};
    f.add(Severity::warning, "network.fsdp_limit",
          {{tokens, unit::tokens_per_chip},
           {*fsdp, unit::tokens_per_chip},
           {tensor, unit::ways},
           {*mixed, unit::tokens_per_chip}},
          "parallelism.tensor", fix);
  }
}

void check_convention(Findings& f) {
  const Scenario& s = f.scenario();
  if (s.assumptions.flops != FlopsConvention::six_p) return;
  // 12 T N H L of attention against 6 P.
  const double attention = 12.0 * s.workload.sequence_length * s.model.n_heads * s.model.d_head * s.model.n_layers;
  const double share = attention / std::max(1.0, f.quantity(Q::flops_per_token));
  if (share > 0.1)
    f.add(Severity::note, "flops.attention_not_counted", {{share, unit::fraction}}, "assumptions.flops",
          {Findings::edit("assumptions.flops", static_cast<double>(FlopsConvention::exact_causal))});
}

}  // namespace

void diagnose(const Scenario& s, Report& report) {
  report.diagnostics.clear();
  Findings f(s, report);
  check_chips(f);
  check_fabric(f);
  if (s.serves()) {
    check_model(f);
    diagnose_serving(s, report);
  } else {
    check_batch(f);
    check_model(f);
    check_pipeline(f);
    check_memory(f);
    check_network(f);
    check_convention(f);
    advise(s, report);
  }
  // Insertion sort: there are few, equals keep their order, and nothing is allocated.
  const auto begin = report.diagnostics.begin();
  for (auto it = begin; it != report.diagnostics.end(); ++it)
    std::rotate(std::upper_bound(begin, it, *it,
                                 [](const Diagnostic& a, const Diagnostic& b) { return a.severity < b.severity; }),
                it, it + 1);
}

}  // namespace roofscape::engine
