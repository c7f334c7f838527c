#include "tests/engine/fixtures.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/inputs/inputs.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/model/split_heads.h"
#include "engine/scenario/checkpoint_policies.h"

namespace roofscape::tests {

const io::PresetLibrary& library() {
  static const io::PresetLibrary shipped;
  return shipped;
}

engine::Scenario preset(const std::string& id) {
  auto scenario = io::load_scenario(id, library());
  REQUIRE_MESSAGE(scenario.ok(), id);
  scenario.value().assumptions.mode = engine::Mode::ideal;
  return std::move(scenario).value();
}

void slow_down(engine::Chip& chip, double ops_per_s) {
  for (const engine::ChipField peak :
       {engine::ChipField::peak_bf16_dense_flops_per_s, engine::ChipField::peak_fp16_dense_flops_per_s,
        engine::ChipField::peak_tf32_dense_flops_per_s, engine::ChipField::peak_fp8_dense_flops_per_s,
        engine::ChipField::peak_int8_dense_ops_per_s, engine::ChipField::peak_fp4_dense_flops_per_s})
    if (chip[peak].value) chip[peak].value = std::min(*chip[peak].value, ops_per_s);
}

engine::Scenario with(engine::Scenario s, std::initializer_list<std::string_view> assignments) {
  for (const std::string_view a : assignments) {
    const auto error = io::set_field(s, a, library());
    REQUIRE_MESSAGE(!error, std::string(a));
  }
  return s;
}

double value_of(const engine::Report& report, engine::Q q) {
  REQUIRE_MESSAGE(report.quantities[q].has_value(), std::string(engine::quantity(q).id));
  return *report.quantities[q];
}
double value_of(const engine::Scenario& s, engine::Q q) { return value_of(engine::evaluate(s), q); }
double value_if_any(const engine::Scenario& s, engine::Q q) { return engine::evaluate(s).quantities.value_or(q, -1); }
double value_or_nan(const engine::Report& report, engine::Q q) { return report.quantities.value_or(q, std::nan("")); }
double value_or_nan(const engine::Scenario& s, engine::Q q) { return value_or_nan(engine::evaluate(s), q); }

doctest::Approx near(double x) { return doctest::Approx(x).epsilon(1e-12); }

const engine::Diagnostic* finding(const engine::Report& report, std::string_view code) {
  for (const engine::Diagnostic& d : report.diagnostics)
    if (d.code == code) return &d;
  return nullptr;
}
engine::Scenario fixed(engine::Scenario s, const engine::Diagnostic& d) {
  for (const engine::FieldEdit& edit : d.fix) engine::apply(s, edit);
  return s;
}

void random_schedule(Dice& dice, engine::Scenario& s) {
  using enum engine::ScheduleKind;
  auto& plan = s.pipeline;
  plan.schedule = static_cast<engine::ScheduleKind>(dice.pick(0, engine::kScheduleKinds - 1));
  plan.virtual_stages = plan.schedule == zb_h1 ? dice.power(1) : engine::default_virtual_stages(plan.schedule);
  int& stages = s.parallelism.pipeline;
  while (stages > 1 && stages * plan.virtual_stages > s.model.n_layers) stages /= 2;
  const bool many = plan.schedule == zb_h2 || plan.schedule == dualpipe || plan.schedule == dualpipe_v;
  const bool groups = engine::facts_of(plan.schedule).takes_groups;
  const int microbatches = groups ? dice.pick(1, 3 * stages) : stages * dice.pick(many ? 2 : 1, 3);
  plan.group_size = groups && dice.one_in(2) ? dice.pick(1, 2 * microbatches) : 0;
  s.workload.global_batch_sequences =
      s.parallelism.data * s.parallelism.fsdp * plan.microbatch_sequences * microbatches;
  plan.embedding_as_layers = dice.one_in(3) ? dice.pick(0, 3) : 0;
  plan.head_as_layers = dice.one_in(3) ? dice.pick(0, 3) : 0;
  if (stages == 1 || !dice.one_in(4)) return;
  engine::list_layers(s, true);
  std::vector<int>& layers = plan.layers_per_stage;
  const int last = static_cast<int>(layers.size()) - 1;
  for (int moves = dice.pick(1, 6); moves > 0; --moves) {
    const auto from = static_cast<std::size_t>(dice.pick(0, last)), to = static_cast<std::size_t>(dice.pick(0, last));
    if (layers[from] > 1) --layers[from], ++layers[to];
  }
}

void random_experts(Dice& dice, engine::Scenario& s) {
  auto& plan = s.parallelism;
  if (!s.model.is_moe() || dice.one_in(3)) return;
  if (plan.sequence_parallel && dice.one_in(2)) plan.expert_tensor = std::min(plan.tensor, dice.power(3));
  if (s.model.moe.n_routed_experts % (plan.tensor / plan.experts_tensor()) != 0) plan.expert_tensor = 0;
  plan.expert = plan.tensor / plan.experts_tensor();
  const int ranks = plan.data * plan.fsdp * plan.context * plan.expert;
  for (int i = dice.pick(0, 5); i > 0; --i)
    if (ranks % (2 * plan.expert) == 0 && s.model.moe.n_routed_experts % (2 * plan.expert) == 0) plan.expert *= 2;
}

void random_cluster(Dice& dice, const engine::Chip& chip, engine::Scenario& s) {
  using namespace engine;
  const auto& plan = s.parallelism;
  const int used = plan.data * plan.fsdp * plan.tensor * plan.context * plan.pipeline;
  s.cluster = {};
  s.cluster.chip = chip;
  if (chip.interconnect == Interconnect::torus) {
    const bool flat = chip[ChipField::ici_torus_dims].value == 2;
    const int corner = flat ? 16 : 4;
    s.cluster.slice = {corner, corner, flat ? 1 : corner};
    if (dice.one_in(4)) s.cluster.slice[0] -= 2;
    s.cluster.slices = dice.one_in(2) ? plan.data : 1;
    // A side has at most 1024 chips.
    for (std::size_t side = 0; chip_count(s.cluster) < used; side = (side + 1) % (flat ? 2 : 3))
      (s.cluster.slice[side] <= 512 ? s.cluster.slice[side] : s.cluster.slices) *= 2;
    return;
  }
  s.cluster.node_size = static_cast<int>(chip[ChipField::scaleup_domain_chips].value.value_or(8));
  // Two million chips are more than there are nodes for.
  while (used / s.cluster.node_size >= find_field("cluster.nodes")->maximum) s.cluster.node_size *= 2;
  s.cluster.nodes = (used + s.cluster.node_size - 1) / s.cluster.node_size;
  if (dice.one_in(2)) return;
  for (int level = dice.pick(1, 3); level > 0; --level)
    s.cluster.fabric.push_back({"level", dice.power(5), dice.pick(1, 100) * 1e11, dice.one_in(3)});
}

engine::Scenario random_scenario(std::mt19937& rng) {
  using namespace engine;
  Dice dice(rng);
  static const Scenario base = preset("llama3-70b-v5p-pod");
  static const std::vector<const Chip*> chips = [] {
    std::vector<const Chip*> out;
    for (const char* id :
         {"tpu-v5p", "tpu-v4p", "tpu-v5e", "tpu-v6e", "h100-sxm", "a100-80g", "b200", "gb200-nvl72", "mi300x"})
      out.push_back(library().find_chip(id));
    return out;
  }();
  const auto any_of = [&dice](const auto& list) {
    return list[static_cast<std::size_t>(dice.pick(0, static_cast<int>(list.size()) - 1))];
  };
  Scenario s = base;
  s.model = *library().find_model(any_of(library().list(io::PresetKind::model)).id);
  auto& plan = s.parallelism;
  plan = {};
  plan.data = dice.power(4), plan.fsdp = dice.power(6), plan.tensor = dice.power(4), plan.context = dice.power(3);
  plan.pipeline = dice.one_in(3) ? 1 : dice.power(4);
  plan.sequence_parallel = dice.one_in(2);
  plan.zero_stage = dice.pick(0, 3);
  plan.context_method = static_cast<ContextMethod>(dice.pick(0, 2));
  while (s.model.n_heads % plan.tensor != 0) plan.tensor /= 2;
  if (plan.context_method == ContextMethod::ulysses)
    while (plan.context > most_ulysses_ranks(s.model, plan.tensor)) plan.context /= 2;
  s.pipeline.microbatch_sequences = dice.power(1);
  s.pipeline.sends = static_cast<StageSends>(dice.pick(0, 2));
  random_schedule(dice, s);
  random_experts(dice, s);
  random_cluster(dice, *any_of(chips), s);
  s.placement = {};
  if (dice.one_in(2)) s.placement.order = static_cast<RankOrder>(dice.pick(1, 2));
  s.workload.sequence_length = 1024 * dice.power(6);
  s.checkpointing = {static_cast<CheckpointPolicy>(dice.pick(0, kCheckpointPolicies - 1)), dice.pick(1, 20),
                     dice.pick(1, s.model.n_layers), dice.pick(0, s.model.n_layers)};
  if (s.cluster.chip[ChipField::peak_fp8_dense_flops_per_s].value && dice.one_in(8)) {
    constexpr std::array kNarrow{Dtype::fp8, Dtype::nvfp4, Dtype::mxfp4};
    const Dtype narrow = kNarrow[static_cast<std::size_t>(s.model.n_layers) % kNarrow.size()];
    s.precision.compute = s.cluster.chip[peak_field(narrow)].value ? narrow : Dtype::fp8;
  }
  s.precision.gradients = static_cast<Dtype>(dice.pick(0, 4));
  s.precision.optimizer = static_cast<OptimizerKind>(dice.pick(0, 2));
  // Of what was drawn before, so that the other scenarios stay what they were.
  if (s.precision.optimizer == OptimizerKind::adam_bf16 && s.model.n_layers % 4 == 1)
    s.precision.optimizer = OptimizerKind::adam_8bit;
  if (s.precision.optimizer != OptimizerKind::none && s.precision.optimizer != OptimizerKind::adam_8bit &&
      (s.model.n_layers + s.checkpointing.k) % 3 == 0) {
    s.precision.optimizer =
        s.precision.optimizer == OptimizerKind::adam_bf16 ? OptimizerKind::muon_bf16 : OptimizerKind::muon_fp32;
    s.muon = {1 + s.checkpointing.k % 6, static_cast<MuonHomes>(s.checkpointing.k % 2),
              static_cast<MuonTensor>(s.checkpointing.k / 2 % 2)};
  }
  if ((s.model.n_layers + s.checkpointing.k) % 5 == 1)
    s.adapter = {1 << (s.checkpointing.k % 7), static_cast<AdapterTargets>(s.checkpointing.k % 4),
                 s.checkpointing.k % 3 != 0};
  if ((s.model.n_layers + s.checkpointing.k) % 6 == 2) s.precision.weights = Dtype::fp32;
  if ((s.model.n_layers + s.checkpointing.k) % 8 == 1)
    s.kernels = {static_cast<AttentionKernel>(s.checkpointing.k % 3), static_cast<LossKernel>(s.model.n_layers % 4),
                 static_cast<ElementwiseKernel>(s.checkpointing.k / 3 % 2),
                 static_cast<KernelLaunch>(s.model.n_layers / 4 % 3)};
  s.precision.master_weights = dice.one_in(2) ? Dtype::none : Dtype::fp32;
  if (s.cluster.chip[ChipField::host_pcie_bytes_per_s_per_chip].value) {
    s.offload.optimizer = dice.one_in(3), s.offload.activations = dice.one_in(3);
    if (s.offload.optimizer && s.model.n_layers % 2 == 0) s.offload.optimizer_fraction = s.checkpointing.k % 9 / 8.0;
  }
  s.assumptions.flops = static_cast<FlopsConvention>(dice.pick(0, 2));
  s.assumptions.axes_overlap = static_cast<AxesOverlap>(dice.pick(0, 3));
  s.assumptions.overlap = dice.one_in(2) ? 1 : dice.pick(0, 10) / 10.0;
  s.assumptions.reserve_bytes = dice.pick(0, 1) * 1e9;
  plan.keep_gathered = static_cast<KeepGathered>(dice.pick(0, 2));
  s.pipeline.backward_order = static_cast<BackwardOrder>(dice.pick(0, 1));
  return s;
}

}  // namespace roofscape::tests
