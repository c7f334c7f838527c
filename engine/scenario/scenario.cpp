#include "engine/scenario/scenario.h"

#include "engine/pipeline/given_order.h"
#include "engine/scenario/mesh_size.h"

#include <algorithm>
#include <limits>

namespace roofscape::engine {

std::int64_t slice_chips(const Cluster& cluster) {
  return std::int64_t{cluster.slice[0]} * cluster.slice[1] * cluster.slice[2];
}

std::int64_t chip_count(const Cluster& cluster) {
  if (cluster.chip.interconnect == Interconnect::torus) return slice_chips(cluster) * cluster.slices;
  return std::int64_t{cluster.nodes} * cluster.node_size;
}

int shared_chips(const Cluster& cluster) {
  return static_cast<int>(std::min<std::int64_t>(chip_count(cluster), std::numeric_limits<int>::max()));
}

int microbatch_count(const Scenario& s) {
  const auto ranks = static_cast<double>(data_ranks(s.parallelism));
  return static_cast<int>(
      std::max(1.0, microbatches<double>(s.workload.global_batch_sequences, ranks, s.pipeline.microbatch_sequences)));
}

LayerSplit layer_split(const Scenario& s) {
  LayerSplit split{s.model.n_layers, s.pipeline.embedding_as_layers, s.pipeline.head_as_layers,
                   s.pipeline.layers_per_stage};
  split.first_dense = s.model.n_first_dense_layers();
  return split;
}

ScheduleShape schedule_shape(const PipelinePlan& plan, ScheduleKind kind, int stages, int microbatches,
                             int virtual_stages) {
  ScheduleShape shape{kind, stages, microbatches, stages > 1 ? virtual_stages : 1, 0};
  if (plan.order && stages > 1) shape.order = order_of(plan.order, shape);
  if (shape.order) return shape;
  shape.group_size = group_under(kind, plan.group_size, stages, microbatches);
  if (facts_of(kind).orders_backwards && stages > 1) shape.backward_order = plan.backward_order;
  return shape;
}

int virtual_stages_of(const Scenario& s) {
  const int stages = s.parallelism.pipeline;
  return stages > 1 ? stages * passes_per_device({.kind = s.pipeline.schedule,
                                                  .stages = stages,
                                                  .virtual_stages = s.pipeline.virtual_stages})
                    : 1;
}

void list_layers(Scenario& s, bool by_hand) {
  std::vector<int>& listed = s.pipeline.layers_per_stage;
  if (!by_hand) return listed.clear();
  if (listed.empty()) listed = split_layers(layer_split(s), s.pipeline.schedule, virtual_stages_of(s));
}

void give_order(Scenario& s, bool given) {
  constexpr std::int64_t kMostCells = 1 << 18;
  if (!given) {
    s.pipeline.order = {};
    return;
  }
  if (s.pipeline.order) return;
  const ScheduleShape shape = schedule_shape(s.pipeline, s.pipeline.schedule, s.parallelism.pipeline,
                                             microbatch_count(s), s.pipeline.virtual_stages);
  if (!check_schedule(shape) || std::int64_t{virtual_stage_count(shape)} * shape.microbatches > kMostCells) return;
  Orders orders;
  make_orders(shape, orders);
  s.pipeline.order = read_listed_order(order_csv(orders), shape.kind).order;
}

void take_order(Scenario& s, const GivenOrder& order) {
  s.pipeline.order = order;
  s.pipeline.schedule = order->kind;
  s.pipeline.virtual_stages = order->virtual_stages;
}

AxesOverlap resolved(AxesOverlap overlap, Interconnect interconnect) {
  if (overlap != AxesOverlap::automatic) return overlap;
  return interconnect == Interconnect::switched ? AxesOverlap::by_wire : AxesOverlap::sum;
}

SoftwareStack software_stack(const Scenario& s) {
  const bool serves = s.serves();
  if (s.assumptions.stack != StackChoice::automatic) {
    const auto chosen = static_cast<SoftwareStack>(static_cast<int>(s.assumptions.stack) - 1);
    if (chosen == SoftwareStack::xla || is_serving_stack(chosen) == serves) return chosen;
  }
  if (s.cluster.chip.interconnect == Interconnect::torus) return SoftwareStack::xla;
  if (serves) return SoftwareStack::inflight;
  // Over one rank there is nothing to shard, whatever the stage of ZeRO.
  const Parallelism& plan = s.parallelism;
  const bool sharded = plan.zero_stage == 3 && std::max(plan.fsdp, plan.context) > 1;
  return sharded && plan.pipeline == 1 ? SoftwareStack::torch_fsdp : SoftwareStack::megatron;
}

bool waits_for_kernels(const Scenario& s) {
  return s.kernels.launch == KernelLaunch::blocking && !s.serves() && s.assumptions.mode != Mode::ideal &&
         applied_calibration(s)[Calibrated::wait] > 0;
}

bool multiplies_heads_by_vector(const Scenario& s) {
  return s.assumptions.mode != Mode::ideal && s.cluster.chip.interconnect == Interconnect::switched &&
         !s.model.has_aligned_heads() && applied_calibration(s)[Calibrated::score_passes] > 0;
}

bool decodes_unfitted(const Scenario& s) {
  return s.serves() && s.assumptions.mode == Mode::calibrated && !s.cluster.chip.calibration.source.empty() &&
         !is_serving_stack(software_stack(s));
}

std::optional<double> bytes_of_logit(LossKernel loss) {
  switch (loss) {
    case LossKernel::automatic:
      break;
    case LossKernel::plain:
      return 12;
    case LossKernel::fused:
      return 4;
    case LossKernel::chunked:
      return 0;
  }
  return std::nullopt;
}

namespace {

// Times that scores cross HBM where no software of the chip tells: as products, masked, normalized, dropped out.
constexpr double kUsualScorePasses = 6;

// Of the software, or the scenario's own.
CalibrationValues stated_calibration(const Scenario& s) {
  if (s.assumptions.mode == Mode::custom) return s.assumptions.custom;
  const SoftwareStack stack = software_stack(s);
  CalibrationValues values = s.cluster.chip.calibration.stacks[static_cast<std::size_t>(stack)];
  if (s.serves() && !is_serving_stack(stack))
    for (const Calibrated host : kHostTimes) values[host] = 0;
  return values;
}

}  // namespace

CalibrationValues applied_calibration(const Scenario& s) {
  CalibrationValues values = stated_calibration(s);
  if (const auto bytes = bytes_of_logit(s.kernels.loss)) values[Calibrated::logit_bytes] = *bytes;
  double& passes = values[Calibrated::score_passes];
  if (s.kernels.attention == AttentionKernel::fused) passes = 0;
  // As often as in the software of this chip that is known not to fuse them.
  if (s.kernels.attention == AttentionKernel::unfused && passes == 0) {
    constexpr auto kUnfused = static_cast<std::size_t>(SoftwareStack::megatron_2021);
    passes = s.cluster.chip.calibration.stacks[kUnfused][Calibrated::score_passes];
    if (passes == 0) passes = kUsualScorePasses;
  }
  return values;
}

}  // namespace roofscape::engine
