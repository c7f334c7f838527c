#include "engine/evaluate/diagnose.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/divisors.h"
#include "engine/evaluate/diagnose_pipeline.h"
#include "engine/evaluate/diagnose_recipes.h"
#include "engine/evaluate/diagnose_serving.h"
#include "engine/evaluate/missing_figures.h"
#include "engine/evaluate/nearest_degree.h"
#include "engine/hardware/wires.h"
#include "engine/inputs/inputs.h"
#include "engine/model/model_check.h"
#include "engine/model/split_heads.h"
#include "engine/report/findings.h"
#include "engine/scenario/mesh_size.h"
#include "engine/training/book_bounds.h"
#include "engine/training/stage_time.h"

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

constexpr std::array<std::string_view, kAxisCount> kPlacedAxes{"placement.data.axes",   "placement.fsdp.axes",
                                                               "placement.tensor.axes", "placement.context.axes",
                                                               "placement.expert.axes", "placement.pipeline.axes"};
constexpr std::array<std::string_view, kAxisCount> kPlacedOn{"placement.data.on",   "placement.fsdp.on",
                                                             "placement.tensor.on", "placement.context.on",
                                                             "placement.expert.on", "placement.pipeline.on"};

// Axes of the torus that carry nothing: a mesh axis is held on fewer than it could have, or takes one alone. The
// suggestion lets go of what is held, or else gives the widest axis all that is free.
void check_unused(Findings& f, const MeshLinks& mesh) {
  const Scenario& s = f.scenario();
  const unsigned sides = torus_sides(s.cluster);
  const auto unused = [&](const MeshLinks& m) {
    unsigned taken = m.state.tier == LinkTier::ici ? static_cast<unsigned>(m.state.on) : 0;
    for (const AxisLinks& links : m.axes)
      if (links.tier == LinkTier::ici) taken |= static_cast<unsigned>(links.on);
    return taken == 0 ? 0u : sides & ~taken;  // a mesh that communicates over nothing leaves nothing unused
  };
  const unsigned free = unused(mesh);
  if (free == 0) return;
  int widest = -1;
  Fix fix;
  Placement let_go = s.placement;
  for (std::size_t i = 0; i < static_cast<std::size_t>(kAxisCount); ++i) {
    const AxisLinks& links = mesh.axes[i];
    if (links.tier != LinkTier::ici) continue;
    if (widest < 0 || links.degree > mesh.axes[static_cast<std::size_t>(widest)].degree) widest = static_cast<int>(i);
    const auto axis = static_cast<Axis>(i);
    if (axis != Axis::data && axis != Axis::fsdp) continue;
    if (s.placement.axes[i] > 0) fix.push_back(Findings::edit(kPlacedAxes[i], 0)), let_go.axes[i] = 0;
    if (s.placement.on[i] != TorusAxes::automatic) {
      fix.push_back(Findings::edit(kPlacedOn[i], 0));
      let_go.on[i] = TorusAxes::automatic;
    }
  }
  if (fix.empty() || unused(place_mesh(s.cluster, s.parallelism, let_go)) != 0) {
    fix.clear();
    const auto w = static_cast<std::size_t>(std::max(widest, 0));
    fix.push_back(Findings::edit(kPlacedOn[w], static_cast<double>(static_cast<unsigned>(mesh.axes[w].on) | free)));
  }
  f.add(Severity::warning, "torus.unused_axis",
        {{double(torus_axis_count(free)), unit::count}, {double(torus_axis_count(sides)), unit::count}},
        kPlacedAxes[static_cast<std::size_t>(std::max(widest, 0))], fix);
}

// What the scenario asks of the torus and does not get, and what its links carry.
void check_torus(Findings& f, const MeshLinks& mesh) {
  const Scenario& s = f.scenario();
  const int sides = torus_axis_count(torus_sides(s.cluster));
  if (!mesh.wrapped)
    f.add(Severity::note, "torus.not_wrapped",
          {{double(sides - mesh.closing), unit::count}, {double(sides), unit::count}}, "cluster.slice.0");
  unsigned with_tensor = 0, with_pipeline = 0;
  for (std::size_t i = 0; i < kPlacedAxes.size(); ++i) {
    const auto axis = static_cast<Axis>(i);
    const AxisLinks& links = mesh[axis];
    const int on = torus_axis_count(static_cast<unsigned>(s.placement.on[i])),
              asked = s.placement.axes[i] > 0 ? s.placement.axes[i] : on;
    if (links.tier == LinkTier::dcn && links.torus_axes == 0 && asked > 0) {
      Fix let_go;
      if (s.placement.axes[i] > 0) let_go.push_back(Findings::edit(kPlacedAxes[i], 0));
      if (on > 0) let_go.push_back(Findings::edit(kPlacedOn[i], 0));
      f.add(Severity::note, "placement.between_slices", {{double(links.degree), unit::count}}, kPlacedOn[i], let_go);
    }
    if (links.tier != LinkTier::ici) continue;
    if ((asked > 0 && asked != links.torus_axes) || (on > 0 && s.placement.on[i] != links.on))
      f.add(Severity::warning, "placement.not_as_asked",
            {{double(on > 0 ? on : asked), unit::count}, {double(links.torus_axes), unit::count}}, kPlacedAxes[i]);
    const auto shared_with = [&](Axis own) {
      return static_cast<unsigned>(links.on) & static_cast<unsigned>(mesh[own].on);
    };
    if (axis != Axis::pipeline) with_pipeline |= shared_with(Axis::pipeline);
    if (axis != Axis::pipeline && axis != Axis::tensor) with_tensor |= shared_with(Axis::tensor);
  }
  check_unused(f, mesh);
  // What stages send one another waits for nothing but stages.
  const bool waits = resolved(s.assumptions.axes_overlap, s.cluster.chip.interconnect) != AxesOverlap::max;
  if (with_tensor != 0)
    f.add(Severity::note, waits ? "placement.shared_in_turn" : "placement.shared_axis",
          {{double(torus_axis_count(with_tensor)), unit::count}}, "placement.tensor.on");
  if (with_pipeline != 0)
    f.add(Severity::note, "placement.shared_axis", {{double(torus_axis_count(with_pipeline)), unit::count}},
          "placement.pipeline.on");
}

// How many times as many data ranks the idle chips allow, each with whole microbatches or sequences to decode; 1: none.
int times_data_ranks(const Scenario& s, double used, double total) {
  const double most = std::floor(total / used);
  if (s.serves()) {
    const auto sequences = static_cast<double>(s.workload.batch / data_ranks(s.parallelism));
    return static_cast<int>(std::max(1.0, std::min(most, sequences)));
  }
  if (s.workload.global_batch_sequences % batch_granule(s) != 0) return 1;
  const std::int64_t shares = s.workload.global_batch_sequences / batch_granule(s);
  const int stages = s.parallelism.pipeline;
  const auto runs = [&](std::int64_t microbatches) {
    return stages == 1 ||
           bool(check_schedule(schedule_shape(s.pipeline, s.pipeline.schedule, stages, static_cast<int>(microbatches),
                                              s.pipeline.virtual_stages)));
  };
  // The largest divisor that is not too large and leaves microbatches enough; not of divisors(), as plans that run are
  // evaluated without allocating.
  std::int64_t times = 1;
  for (std::int64_t d = 1; d <= shares / d; ++d)
    if (shares % d == 0)
      for (const std::int64_t divisor : {d, shares / d})
        if (static_cast<double>(divisor) <= most && divisor > times && runs(shares / divisor)) times = divisor;
  return static_cast<int>(times);
}

// The most ranks, of a data axis with `degree` of them, that so many chips hold and whose shares of the batch are whole
// microbatches; a power of two where that says nothing.
double most_data_ranks(const Scenario& s, double degree, double most) {
  if (s.serves()) return most;
  const double share = s.workload.global_batch_sequences / (static_cast<double>(batch_granule(s)) / degree);
  if (share != std::floor(share)) return floor_power_of_two(most);
  const std::vector<int> whole = divisors(static_cast<int>(share));
  return *std::prev(std::upper_bound(whole.begin(), whole.end(), most));
}

void check_chips(Findings& f, const MeshLinks* placed) {
  const Scenario& s = f.scenario();
  const double used = f.quantity(Q::chips_used), total = static_cast<double>(chip_count(s.cluster));
  if (used > total) {
    // Fewer data shards are the change that alters the arithmetic of a microbatch least.
    Fix fix;
    const bool fsdp = s.parallelism.fsdp >= s.parallelism.data;
    const double degree = fsdp ? s.parallelism.fsdp : s.parallelism.data;
    const bool two_meshes = s.serves() && s.serving.disaggregated;
    if (used / degree <= total && !two_meshes)
      fix = {Findings::edit(fsdp ? "parallelism.fsdp" : "parallelism.data",
                            most_data_ranks(s, degree, std::floor(total / (used / degree))))};
    f.add(Severity::error, "mesh.too_many_chips", {{used, unit::chips}, {total, unit::chips}}, "parallelism.fsdp",
          fix);
  } else if (used < total) {
    Fix fix;
    const bool fsdp = !s.serves() && s.parallelism.fsdp >= s.parallelism.data;
    const int times = s.serves() && s.serving.disaggregated ? 1 : times_data_ranks(s, used, total);
    const double ranks = double(times) * (fsdp ? s.parallelism.fsdp : s.parallelism.data);
    if (times > 1 && ranks <= kMostDataDegree)
      fix = {Findings::edit(fsdp ? "parallelism.fsdp" : "parallelism.data", ranks)};
    f.add(Severity::warning, "mesh.idle_chips", {{total - used, unit::chips}, {total, unit::chips}},
          "parallelism.fsdp", fix);
  }
  if (s.cluster.chip.interconnect == Interconnect::torus && used <= total) {
    if (used > largest_power_of_two_box(s.cluster.slice) * s.cluster.slices &&
        std::has_single_bit(static_cast<std::uint64_t>(used)))
      f.add(Severity::note, "mesh.not_tiling", {{used, unit::chips}});
    if (placed != nullptr)
      check_torus(f, *placed);
    else
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
  const auto ranks = static_cast<double>(data_ranks(s.parallelism)), granule = static_cast<double>(batch_granule(s));
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
          "parallelism.context",
          {Findings::edit("parallelism.context", std::gcd(s.workload.sequence_length, s.parallelism.context))});
  const int heads = most_ulysses_ranks(s.model, s.parallelism.tensor);
  if (s.parallelism.context_method == ContextMethod::ulysses && s.parallelism.context > heads)
    f.add(Severity::error, "context.ulysses_heads",
          {{double(s.parallelism.context), unit::ways}, {double(heads), unit::count}}, "parallelism.context_method",
          {Findings::edit("parallelism.context_method", static_cast<double>(ContextMethod::ring))});
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

// The matrices of an adapter are a rank wide: orthogonal or not, their products are no work to speak of.
void check_adapters(Findings& f) {
  const Scenario& s = f.scenario();
  if (s.adapter.rank > 0 && is_muon(s.precision.optimizer))
    f.add(Severity::note, "adapter.muon", {{double(s.adapter.rank), unit::elements}}, "precision.optimizer");
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
  if (const std::optional<ModelFault> fault = model_fault(m)) {
    Fix fix;
    for (const ModelEdit& edit : fault->remedy) fix.push_back(Findings::edit(edit.field, edit.value));
    if (fault->code == "model.latent_without_heads")
      f.add(Severity::error, fault->code, {{fault->value, unit::elements}}, fault->field, fix);
    else
      f.add(Severity::error, fault->code, {{fault->value, unit::count}, {fault->limit, unit::count}}, fault->field,
            fix);
  }
  const bool training = !s.serves();  // serving has its own words for these
  if (training && m.max_context_tokens > 0 && s.workload.sequence_length > m.max_context_tokens)
    f.add(Severity::note, "model.beyond_context",
          {{double(s.workload.sequence_length), unit::tokens}, {double(m.max_context_tokens), unit::tokens}},
          "workload.sequence_length");
  if (m.n_heads % tensor != 0) {
    // One that divides the chips which the other axes leave, so that these can use all of them, and in the node where
    // it is in one; where that leaves one rank alone, the next smaller.
    const auto room =
        static_cast<int>(static_cast<double>(chip_count(s.cluster)) * tensor / mesh_chips(s.parallelism));
    const bool crosses = crosses_nodes(s.cluster, tensor);
    const auto divides = [&m](int degree) { return m.n_heads % degree == 0; };
    int nearest = nearest_degree(tensor, std::min(m.n_heads, room), [&](int degree) {
      return divides(degree) && room % degree == 0 && (crosses || !crosses_nodes(s.cluster, degree));
    });
    if (nearest == 1) nearest = nearest_degree(tensor, tensor, divides);
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
    const double ranks = static_cast<double>(data_ranks(s.parallelism)) * s.parallelism.context * carved;
    const int experts = s.model.moe.n_routed_experts;
    const auto mended = [&] {
      return Fix{Findings::edit("parallelism.expert", nearest_degree(expert, experts, [&](int degree) {
                                  return experts % degree == 0 && std::fmod(ranks, degree) == 0;
                                }))};
    };
    if (experts % expert != 0)
      f.add(Severity::error, "expert.not_divisible", {{double(experts), unit::count}, {double(expert), unit::ways}},
            "parallelism.expert", mended());
    else if (std::fmod(ranks, expert) != 0)
      f.add(Severity::error, "expert.exceeds_ranks", {{double(expert), unit::ways}, {ranks, unit::ways}},
            "parallelism.expert", mended());
  } else if (expert > 1) {
    f.add(Severity::error, "expert.dense_model", {{double(expert), unit::ways}}, "parallelism.expert",
          {Findings::edit("parallelism.expert", 1)});
  }
  check_expert_tensor(f);
  check_adapters(f);
  if (s.cluster.chip.interconnect == Interconnect::switched && tensor > s.cluster.node_size)
    f.add(Severity::warning, "tensor.crosses_nodes",
          {{double(tensor), unit::ways}, {double(s.cluster.node_size), unit::chips}}, "parallelism.tensor",
          {Findings::edit("parallelism.tensor", s.cluster.node_size)});
  if (!s.cluster.chip[peak_field(s.precision.compute)].value)
    f.add(Severity::error, "chip.no_rate", {}, "precision.compute", known_rate(s));
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
    else if (s.parallelism.keep_gathered != KeepGathered::microbatch &&
             s.parallelism.fsdp * s.parallelism.context > 1)
      fix = {Findings::edit("parallelism.keep_gathered", static_cast<double>(KeepGathered::microbatch))};
    f.add(Severity::warning, "memory.does_not_fit",
          {{-free, unit::bytes}, {double(r.fullest_stage), unit::count}, {capacity, unit::bytes}}, {}, fix);
  } else if (free < 0.05 * capacity) {
    f.add(Severity::warning, "memory.fits_barely", {{free, unit::bytes}, {capacity, unit::bytes}});
  }
}

// A policy that keeps as much as keeping all does: that of attention under a fused kernel, whose output a framework
// keeps in any case, or so many checkpoints that nothing is left out.
void check_checkpointing(Findings& f) {
  if (f.scenario().checkpointing.policy == CheckpointPolicy::none) return;
  const double kept = f.quantity(Q::layer_checkpoint_bytes), all = f.quantity(Q::layer_full_bytes);
  if (all <= 0 || kept < all) return;
  f.add(Severity::note, "checkpointing.frees_nothing", {{kept, unit::bytes}, {all, unit::bytes}},
        "checkpointing.policy",
        {Findings::edit("checkpointing.policy", static_cast<double>(CheckpointPolicy::none))});
}

constexpr double kFeltHost = 0.02;  // of the step

// Launches that block were set to find an error, and forgotten; or the host is slower than the chip.
void check_launches(Findings& f) {
  const Scenario& s = f.scenario();
  if (!waits_for_kernels(s)) {
    const double share = f.quantity(Q::step_layers_host) / f.quantity(Q::step_time);
    if (share > kFeltHost)
      f.add(Severity::note, "kernels.host_bound", {{share, unit::fraction}}, "kernels.launch",
            {Findings::edit("kernels.launch", static_cast<double>(KernelLaunch::graphs))});
    return;
  }
  f.add(Severity::note, "kernels.launch_blocks", {{applied_calibration(s)[Calibrated::wait], unit::seconds}},
        "kernels.launch", {Findings::edit("kernels.launch", static_cast<double>(KernelLaunch::queued))});
}

void check_heads(Findings& f) {
  const Scenario& s = f.scenario();
  if (!multiplies_heads_by_vector(s)) return;
  const double width = s.model.is_mla() ? s.model.mla.v_head_dim : s.model.d_head;
  f.add(Severity::note, "kernels.heads_unaligned", {{width, unit::count}}, "kernels.attention",
        {Findings::edit("kernels.attention", static_cast<double>(AttentionKernel::fused))});
}

// Calibrated times are those of the kernels, which skip the masked half of attention; FLOPs of a convention that counts
// it, or passes that the kernels need not run, can then be more than the chips could have done.
void check_utilisation(Findings& f) {
  const double mfu = f.quantity(Q::mfu), hfu = f.quantity(Q::hfu);
  if (mfu <= 1 && hfu <= 1) return;
  Fix fix;
  if (f.scenario().assumptions.flops != FlopsConvention::exact_causal)
    fix = {Findings::edit("assumptions.flops", static_cast<double>(FlopsConvention::exact_causal))};
  f.add(Severity::warning, mfu > 1 ? "mfu.above_one" : "hfu.above_one", {{mfu > 1 ? mfu : hfu, unit::fraction}},
        "assumptions.flops", fix);
}

void check_network(Findings& f) {
  const Scenario& s = f.scenario();
  const Report& r = f.report();
  const double step = f.quantity(Q::step_time);
  // Said beside the axis that is exposed longest.
  constexpr std::array<std::string_view, kAxisCount> kFields{"parallelism.data",   "parallelism.fsdp",
                                                             "parallelism.tensor", "parallelism.context",
                                                             "parallelism.expert", "parallelism.pipeline"};
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
  const auto mixed = r.quantities[transfers_add(s) ? Q::bound_mixed_sum : Q::bound_mixed_max];
  const auto fsdp = r.quantities[Q::bound_fsdp_3];
  // Said of a plan whose own transfers of state stand out: the bounds are the book's, of two matrices of a layer.
  const double state = f.quantity(Q::step_fsdp) + f.quantity(Q::step_data);
  if (mixed && fsdp && s.parallelism.tensor == 1 && s.parallelism.pipeline == 1 && tokens < *fsdp &&
      state > 0.02 * step) {
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

// What has to be entered before there is a time at all: asked where nothing else stands against the plan, which may
// need other figures than the one that runs.
// A chip on which no published run was fitted has no calibration: its calibrated mode is the ideal one.
void check_mode(Findings& f) {
  const Scenario& s = f.scenario();
  if (s.assumptions.mode == Mode::calibrated && s.cluster.chip.calibration.source.empty())
    f.add(Severity::note, "calibration.none", {}, "assumptions.mode");
}

void check_figures(Findings& f) {
  const bool known =
      f.scenario().serves() ? f.knows(Q::mixed_token_time_q) && f.knows(Q::ttft) : f.knows(Q::step_time);
  if (known || f.report().has_errors()) return;
  for (const ChipField figure : missing_figures(f.scenario()))
    f.add(Severity::error, "chip.missing_figure", {}, figure_path(figure));
}

// Diagnostics that read times.
constexpr std::array<std::string_view, 22> kOfARun{"network.bound",
                                                   "network.fsdp_limit",
                                                   "pipeline.bubble",
                                                   "pipeline.imbalance",
                                                   "pipeline.transfers",
                                                   "serving.overloaded",
                                                   "serving.exposed",
                                                   "serving.memory_bound",
                                                   "serving.memory_bound_always",
                                                   "serving.drafts_cost",
                                                   "serving.prefill_interferes",
                                                   "serving.too_little_prefill",
                                                   "serving.too_much_prefill",
                                                   "serving.slo_token_mixed",
                                                   "serving.slo_token_mixed_never",
                                                   "serving.slo_token",
                                                   "serving.slo_token_never",
                                                   "serving.slo_ttft",
                                                   "serving.slo_ttft_chunks",
                                                   "serving.slo_ttft_never",
                                                   "mfu.above_one",
                                                   "hfu.above_one"};

}  // namespace

void diagnose(const Scenario& s, Report& report, const MeshLinks* placed) {
  report.diagnostics.clear();
  Findings f(s, report);
  check_chips(f, placed);
  check_fabric(f);
  if (s.serves()) {
    check_model(f);
    diagnose_serving(s, report);
  } else {
    check_batch(f);
    check_model(f);
    check_memory(f);  // what does not fit is said before what could be quicker
    check_checkpointing(f);
    check_launches(f);
    diagnose_pipeline(s, report);
    check_network(f);
    check_utilisation(f);
    check_convention(f);
    diagnose_recipes(s, report);
  }
  check_heads(f);
  check_figures(f);
  check_mode(f);
  // Of a plan that cannot run nothing is said that follows from a time.
  if (report.has_errors())
    std::erase_if(report.diagnostics, [](const Diagnostic& d) {
      return d.severity != Severity::error && std::find(kOfARun.begin(), kOfARun.end(), d.code) != kOfARun.end();
    });
  // Insertion sort: there are few, equals keep their order, and nothing is allocated.
  const auto begin = report.diagnostics.begin();
  for (auto it = begin; it != report.diagnostics.end(); ++it)
    std::rotate(std::upper_bound(begin, it, *it,
                                 [](const Diagnostic& a, const Diagnostic& b) { return a.severity < b.severity; }),
                it, it + 1);
}

}  // namespace roofscape::engine
