#include "engine/evaluate/diagnose.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/evaluate/diagnose_recipes.h"
#include "engine/evaluate/diagnose_serving.h"
#include "engine/evaluate/missing_figures.h"
#include "engine/hardware/wires.h"
#include "engine/inputs/inputs.h"
#include "engine/model/model_check.h"
#include "engine/model/split_heads.h"
#include "engine/pipeline/listed_order.h"
#include "engine/report/findings.h"
#include "engine/scenario/mesh_size.h"
#include "engine/training/bounds.h"
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
        {{double(std::popcount(free)), unit::count}, {double(std::popcount(sides)), unit::count}},
        kPlacedAxes[static_cast<std::size_t>(std::max(widest, 0))], fix);
}

// What the scenario asks of the torus and does not get, and what its links carry.
void check_torus(Findings& f, const MeshLinks& mesh) {
  const Scenario& s = f.scenario();
  const int sides = std::popcount(torus_sides(s.cluster));
  if (!mesh.wrapped)
    f.add(Severity::note, "torus.not_wrapped",
          {{double(sides - mesh.closing), unit::count}, {double(sides), unit::count}}, "cluster.slice.0");
  unsigned shared = 0;
  for (std::size_t i = 0; i < kPlacedAxes.size(); ++i) {
    const AxisLinks& links = mesh[static_cast<Axis>(i)];
    if (links.tier != LinkTier::ici) continue;
    const int on = std::popcount(static_cast<unsigned>(s.placement.on[i])),
              asked = s.placement.axes[i] > 0 ? s.placement.axes[i] : on;
    if ((asked > 0 && asked != links.torus_axes) || (on > 0 && s.placement.on[i] != links.on))
      f.add(Severity::warning, "placement.not_as_asked",
            {{double(on > 0 ? on : asked), unit::count}, {double(links.torus_axes), unit::count}}, kPlacedAxes[i]);
    for (const Axis own : {Axis::tensor, Axis::pipeline})
      if (static_cast<Axis>(i) != own)
        shared |= static_cast<unsigned>(links.on) & static_cast<unsigned>(mesh[own].on);
  }
  check_unused(f, mesh);
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
    const double ranks = static_cast<double>(data_ranks(s.parallelism)) * s.parallelism.context * carved;
    if (s.model.moe.n_routed_experts % expert != 0) {
      int nearest = std::min(expert, s.model.moe.n_routed_experts);
      while (nearest > 1 && s.model.moe.n_routed_experts % nearest != 0) --nearest;
      f.add(Severity::error, "expert.not_divisible",
            {{double(s.model.moe.n_routed_experts), unit::count}, {double(expert), unit::ways}}, "parallelism.expert",
            {Findings::edit("parallelism.expert", nearest)});
    } else if (std::fmod(ranks, expert) != 0) {
      int nearest = expert;
      while (nearest > 1 && (std::fmod(ranks, nearest) != 0 || s.model.moe.n_routed_experts % nearest != 0))
        --nearest;
      f.add(Severity::error, "expert.exceeds_ranks", {{double(expert), unit::ways}, {ranks, unit::ways}},
            "parallelism.expert", {Findings::edit("parallelism.expert", nearest)});
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
  if (!s.cluster.chip[peak_field(s.precision.compute)].value)
    f.add(Severity::error, "chip.no_rate", {}, "precision.compute", known_rate(s));
}

// Chunks divide the bubble (Narayanan et al. 2021): as many as layers allow, up to eight; where microbatches do not
// fill the stages, none.
Fix smaller_bubble(const Findings& f) {
  const Scenario& s = f.scenario();
  if (s.pipeline.schedule != ScheduleKind::one_f_one_b && s.pipeline.schedule != ScheduleKind::gpipe) return {};
  for (const int chunks : {8, 4, 2}) {
    const ScheduleShape& now = f.report().pipeline.shape;
    const ScheduleShape shape =
        schedule_shape(s.pipeline, ScheduleKind::interleaved_1f1b, now.stages, now.microbatches, chunks);
    if (layers_suffice(layer_split(s), shape.kind, shape.stages, chunks) && check_schedule(shape).legal())
      return {Findings::edit("pipeline.schedule", static_cast<double>(ScheduleKind::interleaved_1f1b)),
              Findings::edit("pipeline.virtual_stages", chunks)};
  }
  return {};
}

// What the embedding and the head are to count for, so that the slowest device takes least.
struct Balance {
  int device = 0, moved = 0;             // layers away from the slowest device
  double slowest_s = 0, balanced_s = 0;  // a microbatch through the slowest device, now and then
  Fix fix;
};
Balance balance_of(const Findings& f) {
  const Scenario& s = f.scenario();
  const PipelineReport& pipeline = f.report().pipeline;
  const double layer = f.quantity(Q::layer_time_forward) + f.quantity(Q::layer_time_backward);
  const int stages = virtual_stages_of(s);
  LayerSplit split = layer_split(s);
  const std::vector<int> now = split_layers(split, s.pipeline.schedule, stages);
  // By virtual stage, what its layers do not take: the embedding and the head.
  const auto beside = [&](int stage) {
    const auto i = static_cast<std::size_t>(stage);
    const Tick pass =
        pipeline.times.forward[i] + pipeline.times.backward_input[i] + pipeline.times.backward_weight[i];
    return std::max(0.0, double(pass) * kTickSeconds - now[i] * layer);
  };
  const double embedding = beside(0), head = beside(stages - 1);
  Orders placed;
  place_stages(pipeline.shape, placed.device_of);
  const auto by_device = [&](const std::vector<int>& layers) {
    std::vector<double> times(static_cast<std::size_t>(pipeline.shape.stages));
    for (std::size_t i = 0; i < placed.device_of.size(); ++i) {
      const std::size_t stage = i % layers.size();
      double& time = times[placed.device_of[i]];
      time += layers[stage] * layer;
      if (stage == 0) time += embedding;
      if (stage + 1 == layers.size()) time += head;
    }
    return times;
  };
  Balance out;
  const std::vector<double> times = by_device(now);
  const auto slowest = std::max_element(times.begin(), times.end());
  out.device = static_cast<int>(slowest - times.begin());
  out.slowest_s = out.balanced_s = *slowest;
  if (!(layer > 0)) return out;
  const auto held = [&](const std::vector<int>& layers) {
    int sum = 0;
    for (std::size_t i = 0; i < placed.device_of.size(); ++i)
      if (placed.device_of[i] == out.device) sum += layers[i % layers.size()];
    return sum;
  };
  split.listed.clear();
  const int most_embedding = static_cast<int>(std::min(embedding / layer, 100.0)) + 1,
            most_head = static_cast<int>(std::min(head / layer, 100.0)) + 1;
  std::vector<int> layers;
  for (int e = 0; e <= most_embedding; ++e)
    for (int h = 0; h <= most_head; ++h) {
      split.embedding_as_layers = e, split.head_as_layers = h;
      split_layers(split, s.pipeline.schedule, stages, layers);
      if (!layers_suffice(split, layers, pipeline.shape.stages)) continue;
      const std::vector<double> then = by_device(layers);
      const double time = *std::max_element(then.begin(), then.end());
      if (time >= out.balanced_s * (1 - 1e-9)) continue;
      out.balanced_s = time;
      out.moved = held(now) - held(layers);
      out.fix = {};
      if (e != s.pipeline.embedding_as_layers) out.fix.push_back(Findings::edit("pipeline.embedding_as_layers", e));
      if (h != s.pipeline.head_as_layers) out.fix.push_back(Findings::edit("pipeline.head_as_layers", h));
      if (!s.pipeline.layers_per_stage.empty()) out.fix.push_back(Findings::edit(kLayersByHand, 0));
    }
  return out;
}

// 1F1B waits for a transfer with every microbatch; with twice the warm-up it is on its way while others compute.
Fix hidden_transfers(const Findings& f) {
  if (f.scenario().pipeline.schedule != ScheduleKind::one_f_one_b) return {};
  return {Findings::edit("pipeline.schedule", static_cast<double>(ScheduleKind::eager_1f1b))};
}

// Why devices wait: few microbatches for the stages, stages that take longer than others, or transfers. The largest
// of the three is said, with what would make it less.
void check_bubble(Findings& f) {
  const double bubble = f.quantity(Q::pipeline_bubble_fraction);
  if (!(bubble > 0.15)) return;
  const double span = f.quantity(Q::pipeline_makespan), even = f.quantity(Q::pipeline_idle_even),
               imbalance = f.quantity(Q::pipeline_idle_imbalance), transfer = f.quantity(Q::pipeline_in_transfer);
  const DiagnosticValue waits{bubble, unit::fraction};
  if (imbalance > even && imbalance > transfer) {
    const Balance b = balance_of(f);
    DiagnosticValues values{
        waits, {imbalance / span, unit::fraction}, {double(b.device), unit::count}, {b.slowest_s, unit::seconds}};
    if (b.moved > 0) {
      values.push_back({double(b.moved), unit::count});
      values.push_back({b.balanced_s, unit::seconds});
    }
    const std::string_view remedy = b.moved > 1 ? "move_layers" : b.moved == 1 ? "move_layer" : "";
    f.add(Severity::warning, "pipeline.imbalance", values, "pipeline.head_as_layers", b.fix, remedy);
  } else if (transfer > even) {
    f.add(Severity::warning, "pipeline.transfers",
          {waits, {transfer / span, unit::fraction}, {f.quantity(Q::pipeline_transfer), unit::seconds}},
          "pipeline.schedule", hidden_transfers(f));
  } else {
    const ScheduleShape& shape = f.report().pipeline.shape;
    f.add(Severity::warning, "pipeline.bubble",
          {waits, {double(shape.microbatches), unit::microbatches}, {double(shape.stages), unit::count}},
          "pipeline.schedule", smaller_bubble(f));
  }
}

// Which rule of the schedule is broken, with the numbers of its sentence.
void check_schedule_rule(Findings& f, const ScheduleShape& shape, const ScheduleStatus& status) {
  const DiagnosticValue chunks{double(shape.virtual_stages), unit::count}, stages{double(shape.stages), unit::count},
      microbatches{double(shape.microbatches), unit::microbatches};
  const auto add = [&](std::string_view reason, const DiagnosticValues& values, const Fix& fix) {
    f.add(Severity::error, "pipeline.illegal_schedule", values, "pipeline.schedule", fix, reason);
  };
  const int nearest = status.above > 0 ? status.above : status.below;
  const Fix fewer_chunks{Findings::edit("pipeline.virtual_stages", nearest)};
  Fix batch;
  if (status.field == ShapeField::microbatches && nearest > 0)
    batch = {Findings::edit("workload.global_batch_sequences",
                            static_cast<double>(batch_granule(f.scenario())) * nearest)};
  switch (status.rule) {
    case ScheduleRule::one_chunk:
      return add("one_chunk", {chunks}, fewer_chunks);
    case ScheduleRule::two_chunks:
      return add("two_chunks", {chunks}, fewer_chunks);
    case ScheduleRule::stages_even:
      return add("stages_even", {stages}, {});
    case ScheduleRule::microbatches_even:
      return add("microbatches_even", {microbatches, stages}, batch);
    case ScheduleRule::microbatches_fill_stages:
      return add("microbatches_fill_stages", {microbatches, stages}, batch);
    case ScheduleRule::microbatches_at_least:
      return add("microbatches_at_least", {microbatches, stages, {double(status.above), unit::microbatches}}, batch);
    case ScheduleRule::too_large:
      return add("too_large", {microbatches, stages}, batch);
    default:
      return add({}, {microbatches, stages}, {});
  }
}

// Why layers that are listed for the virtual stages are not used.
void check_listed_layers(Findings& f, const LayerSplit& layers, int virtual_stages) {
  const Fix deal{Findings::edit(kLayersByHand, 0)};
  const auto add = [&f, &deal](std::string_view reason, const DiagnosticValues& values) {
    f.add(Severity::warning, "pipeline.listed_layers", values, "pipeline.layers_per_stage", deal, reason);
  };
  const auto listed = static_cast<double>(layers.listed.size());
  switch (listed_layers(layers, virtual_stages)) {
    case ListedLayers::other_count:
      return add("other_count", {{listed, unit::count}, {double(virtual_stages), unit::count}});
    case ListedLayers::other_sum:
      return add("other_sum", {{std::accumulate(layers.listed.begin(), layers.listed.end(), 0.0), unit::layers},
                               {double(layers.n_layers), unit::layers}});
    case ListedLayers::empty_between:
      return add("empty_between", {});
    case ListedLayers::none:
    case ListedLayers::used:
      return;
  }
}

// Whether stages hold other numbers of layers; one that is the embedding or the head alone holds none.
bool are_uneven(const std::vector<int>& layers) {
  const int held = layers[layers.size() / 2];
  return std::any_of(layers.begin(), layers.end(), [held](int n) { return n != 0 && n != held; });
}

// An order of other sizes than the plan's: the schedule's own is run.
void check_given_order(Findings& f, const ListedOrder& order) {
  f.add(Severity::warning, "pipeline.given_order",
        {{double(order.stages), unit::count},
         {double(order.virtual_stages), unit::count},
         {double(order.microbatches), unit::microbatches}},
        kGivenOrder, {Findings::edit(kGivenOrder, 0)});
}

void check_pipeline(Findings& f) {
  const Scenario& s = f.scenario();
  const int stages = s.parallelism.pipeline;
  if (stages <= 1) return;
  const PipelineReport& pipeline = f.report().pipeline;
  const int passes = std::max(1, passes_per_device(pipeline.shape)), virtual_stages = stages * passes;
  const LayerSplit layers = layer_split(s);
  const ListedLayers listed = listed_layers(layers, virtual_stages);
  if (listed != ListedLayers::none && listed != ListedLayers::used) check_listed_layers(f, layers, virtual_stages);
  if (!layers_suffice(layers, pipeline.layers, stages)) {
    int fewer = stages;
    while (fewer > 1 && (stages % fewer != 0 || !layers_suffice(layers, s.pipeline.schedule, fewer, passes))) --fewer;
    f.add(Severity::error, "pipeline.more_stages_than_layers",
          {{double(virtual_stages), unit::count}, {double(s.model.n_layers), unit::layers}}, "parallelism.pipeline",
          {Findings::edit("parallelism.pipeline", fewer)});
  } else if (listed != ListedLayers::used && s.pipeline.embedding_as_layers + s.pipeline.head_as_layers == 0 &&
             are_uneven(pipeline.layers)) {
    f.add(Severity::note, "pipeline.uneven_layers",
          {{double(s.model.n_layers), unit::layers}, {double(virtual_stages), unit::count}}, "parallelism.pipeline");
  }
  if (s.pipeline.order && !pipeline.shape.order) check_given_order(f, *s.pipeline.order);
  if (!pipeline.status.legal()) return check_schedule_rule(f, pipeline.shape, pipeline.status);
  if (const int used = pipeline.shape.group_size; used > 0 && used != s.pipeline.group_size)
    f.add(Severity::note, "pipeline.other_group",
          {{double(s.pipeline.group_size), unit::microbatches},
           {double(used), unit::microbatches},
           {double(pipeline.shape.microbatches), unit::microbatches},
           {double(stages), unit::count}},
          "pipeline.group_size", {Findings::edit("pipeline.group_size", used)});
  check_bubble(f);
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
    check_utilisation(f);
    check_convention(f);
    diagnose_recipes(s, report);
  }
  check_figures(f);
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
