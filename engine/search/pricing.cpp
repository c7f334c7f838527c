#include "engine/search/pricing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "engine/training/state_traffic.h"

namespace roofscape::engine {
namespace {

// What a plan says in the keys of its layer, stage and step; the rest is the scenario's.
LayerKey keyed(LayerKey key, const Plan& plan) {
  key.tensor = plan.tensor;
  key.sequence_parallel = plan.sequence_parallel;
  key.policy = plan.policy;
  return key;
}
void set(StageKey& key, const Plan& plan, int stages) {
  key.shape.stages = stages;
  key.zero_stage = plan.zero_stage;
  key.sequence_parallel = plan.sequence_parallel;
}
void set(PlanKey& key, const Plan& plan) {
  key.policy = plan.policy;
  key.zero_stage = plan.zero_stage;
  key.offload_optimizer = plan.offload_optimizer;
  key.offload_activations = plan.offload_activations;
}

// What a device holds, as chip_memory() counts it: without a pipeline the mean layers.
StageLayers<double> device_layers(const PlacedMesh& mesh, const PricedLayer& layer, int layers, int dense) {
  return mesh.plan.pipeline == 1 ? StageLayers<double>{double(layers)} : layer.cost.layers(layers, dense);
}

// Equal to the bit, so that two unknown figures are the same.
bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

}  // namespace

bool share_layers(const PlacedMesh& a, const PlacedMesh& b) {
  const LinkRates<double>&x = a.rates, &y = b.rates;
  for (const Axis axis : {Axis::tensor, Axis::context, Axis::expert}) {
    const auto i = static_cast<std::size_t>(axis);
    if (!(a.in.links[axis] == b.in.links[axis]) || !same_bits(a.in.torus_axes[axis], b.in.torus_axes[axis]) ||
        !same_bits(x.bandwidth[axis], y.bandwidth[axis]) ||
        !same_bits(x.reduce_bandwidth[axis], y.reduce_bandwidth[axis]) ||
        !same_bits(x.latency[axis], y.latency[axis]) || !same_bits(x.wires.share[axis], y.wires.share[axis]))
      return false;
    for (std::size_t wire = 0; wire < x.wires.whole.size(); ++wire)
      if (((x.wires.whole[wire] ^ y.wires.whole[wire]) >> i & 1) != 0 ||
          ((x.wires.part[wire] ^ y.wires.part[wire]) >> i & 1) != 0)
        return false;
  }
  const auto &c = a.in.calibration.values, &d = b.in.calibration.values;
  return std::equal(c.begin(), c.end(), d.begin(), same_bits);
}

PricedState::PricedState(const Pricer& pricer) : stage(pricer.stage_key()), plan(pricer.plan_key()) {}

Pricer::Pricer(const Scenario& s)
    : base_(s),
      placed_(s),
      layer_key_(layer_key(s)),
      stage_key_(engine::stage_key(s)),
      plan_key_(engine::plan_key(s)) {
  const Inputs<double> in = make_inputs<double>(s, nullptr);
  model_flops(in, count_parameters(in.model), plan_key_, flops_);
}

SoftwareStack Pricer::software(const Plan& plan) {
  if (base_.assumptions.mode != Mode::calibrated) return {};
  placed_.parallelism.fsdp = plan.fsdp;
  placed_.parallelism.context = plan.context;
  placed_.parallelism.pipeline = plan.pipeline;
  placed_.parallelism.zero_stage = plan.zero_stage;
  return software_stack(placed_);
}

void Pricer::place(const Plan& plan, PlacedMesh& out) {
  apply(placed_, plan);
  out.plan = plan;
  out.in = make_inputs<double>(placed_, nullptr);
  out.rates = link_rates(out.in);
  out.counts = step_counts(out.in, false);
}

void Pricer::set_microbatch(PlacedMesh& mesh, int sequences) {
  mesh.plan.microbatch_sequences = sequences;
  mesh.in.microbatch_sequences = sequences;
  mesh.counts = step_counts(mesh.in, false);
}

void Pricer::price_layer(const PlacedMesh& mesh, const Plan& plan, PricedLayer& out) const {
  out.cost = layer_time(mesh.in, mesh.rates, keyed(layer_key_, plan), base_.parallelism.context_method);
  // Nothing of the mesh but the layer's own axes is read where no state moves.
  StageKey still = stage_key_;
  set(still, plan, 2);
  still.zero_stage = 0;
  stage_blocks(mesh.in, out.cost, mesh.rates, mesh.counts, still, out.still);
}

void Pricer::price_state(const PlacedMesh& mesh, const PricedLayer& layer, const Plan& plan, PricedState& out) const {
  price_buffers(mesh, layer, plan, out);
  price_step(mesh, layer, out);
}

void Pricer::price_buffers(const PlacedMesh& mesh, const PricedLayer& layer, const Plan& plan, PricedState& out,
                           HeldByKind* held) const {
  set(out.stage, plan, mesh.plan.pipeline);
  set(out.plan, plan);
  out.held = held != nullptr ? held : &out.own_held;
  if (held == nullptr) out.own_held.clear();
  out.held->clear_rest();
  working_memory(mesh.in, layer.cost, out.plan, out.buffers);
}

void Pricer::price_step(const PlacedMesh& mesh, const PricedLayer& layer, PricedState& out,
                        const EndReduction<double>* end) const {
  out.blocks = &layer.still;
  if (moves_state(mesh.in, out.stage)) {
    stage_blocks(mesh.in, layer.cost, mesh.rates, mesh.counts, out.stage, out.moving);
    out.blocks = &out.moving;
  }
  out.work = stage_work(mesh.in, mesh.counts, *out.blocks, false);
  out.paired_work = PricedState::kNotYet;
  out.end = end != nullptr ? end : &out.own_end;
  if (end == nullptr) end_reduction(mesh.in, layer.cost, mesh.rates, mesh.counts, out.stage, out.own_end);
  step_parts(mesh.in, layer.cost, flops_, mesh.counts, *out.blocks, out.work, *out.end, out.plan, out.step);
  price_passes(mesh, layer, out);
}

void Pricer::price_still(const PlacedMesh& mesh, const PricedLayer& layer, const Plan& plan, PricedState& out) const {
  set(out.stage, plan, mesh.plan.pipeline);
  out.blocks = &layer.still;
  price_passes(mesh, layer, out);
}

void Pricer::price_passes(const PlacedMesh& mesh, const PricedLayer& layer, PricedState& out) {
  const StageBlocks<double>& blocks = *out.blocks;
  out.pass = blocks.layer.forward + blocks.layer.backward;
  out.first = blocks.embedding.forward + blocks.embedding.backward;
  out.last = blocks.head.forward + blocks.head.backward;
  out.hops = hops(mesh, layer, out.stage.sequence_parallel);
  out.input_gradient = PricedState::kNotYet;
}

Hops Pricer::hops(const PlacedMesh& mesh, const PricedLayer& layer, bool sequence_parallel) {
  if (mesh.plan.pipeline == 1) return {};
  const double tokens = layer.cost.microbatch_tokens;
  const StageTransfers<double> each = stage_transfers(mesh.in, mesh.rates, tokens, sequence_parallel);
  return {least_stage_transfer(mesh.in, mesh.rates, tokens, sequence_parallel), each.transfer, each.in_node,
          mesh.rates.stages_in_node};
}

double Pricer::state_bytes(const PlacedMesh& mesh, const PricedLayer& layer, const Plan& plan, int layers,
                           bool embedding, bool head) const {
  PlanKey key = plan_key_;
  set(key, plan);
  const auto bytes = [&](int dense) {
    StageMemory<double> memory;
    const DeviceLoad<double> load{0, device_layers(mesh, layer, layers, dense), 1, embedding, head, false, 0};
    state_memory(mesh.in, layer.cost, mesh.counts, load, key, memory);
    return memory.parts[0] + memory.parts[1] + memory.parts[2];
  };
  const int most_dense = std::min(layers, stage_key_.layers.first_dense);
  return layer.cost.dense_first ? std::min(bytes(0), bytes(most_dense)) : bytes(0);
}

const StageMemory<double>& Pricer::held(const PlacedMesh& mesh, const PricedLayer& layer, PricedState& state,
                                        const DeviceMoments& device) {
  std::vector<HeldByKind::OfKind>& kinds = state.held->kinds;
  if (device.kind >= kinds.size()) kinds.resize(device.kind + 1);
  auto& [has_state, has_rest, load, memory] = kinds[device.kind];
  if (has_rest) return memory;
  if (!has_state) {
    const DeviceKinds::Held& holds = device.held;
    load = {holds.device,
            device_layers(mesh, layer, holds.layers, holds.dense),
            device.in_flight,
            holds.embedding,
            holds.head,
            device.doubled,
            0,
            device.chunks_in_turn};
    state_memory(mesh.in, layer.cost, mesh.counts, load, state.plan, memory);
  }
  hold_buffers(mesh.in, state.buffers, load, state.plan, memory);
  memory.bytes = microbatch_bytes(layer.cost, load);
  has_state = has_rest = true;
  return memory;
}

double Pricer::memory(const PlacedMesh& mesh, const PricedLayer& layer, PricedState& state,
                      std::span<const DeviceMoments> devices) const {
  const HeldTerms<double> terms = held_terms(state.buffers, state.plan);
  double fullest = -1;
  for (const DeviceMoments& device : devices) {
    const StageMemory<double>& memory = held(mesh, layer, state, device);
    HeldMicrobatches at_peak = device.moments.front();
    if (device.moments.size() > 1) at_peak = held_at_peak(device.moments, memory.bytes, state.plan);
    fullest = max(fullest, held_in_flight(terms, memory, at_peak.all, at_peak.postponed).total);
  }
  return fullest;
}

void Pricer::memories(const PlacedMesh& mesh, const PricedLayer& layer, PricedState& state,
                      const DistinctMoments& moments, std::vector<double>& out) const {
  out.resize(moments.size());
  // Asked here too: of most kinds it is known, and a call for each would be a good part of the whole.
  for (const DeviceMoments& device : moments.kinds())
    if (!state.held->knows(device.kind)) held(mesh, layer, state, device);
  const HeldTerms<double> terms = held_terms(state.buffers, state.plan);
  const HeldByKind::OfKind* const kinds = state.held->kinds.data();
  const std::uint16_t* const kind = moments.kind().data();
  const double *const in_flight = moments.in_flight().data(), *const postponed = moments.postponed().data();
  double* const bytes = out.data();
  for (std::size_t row = 0, rows = moments.size(); row < rows; ++row)
    bytes[row] = held_in_flight(terms, kinds[kind[row]].memory, in_flight[row], postponed[row]).total;
}

// Layers of each virtual stage: layers_ and, where their kinds stand apart, dense_.
void Pricer::deal_layers(const LayerTime<double>& layer, const LayerSplit& split, ScheduleKind kind, int stages) {
  split_layers(split, kind, stages, layers_);
  if (layer.dense_first) first_layers(layers_, split.first_dense, dense_);
}
StageLayers<double> Pricer::stage_layers(const LayerTime<double>& layer, int stage) const {
  const auto s = static_cast<std::size_t>(stage);
  const int dense = layer.dense_first ? dense_[s] : 0;
  return layer.layers(layers_[s], dense);
}

// What a schedule that overlaps makes of the stages: its pairs, and the work that is left of what they hide.
void Pricer::pair_stages(const PlacedMesh& mesh, const PricedLayer& layer, const PricedState& state,
                         const ScheduleShape& shape) {
  const int stages = shape.stages * passes_per_device(shape);
  deal_layers(layer.cost, state.stage.layers, shape.kind, stages);
  stage_.forward.clear(), stage_.backward.clear(), stage_.stage_layers.clear();
  for (int s = 0; s < stages; ++s) {
    const StageLayers<double> n = stage_layers(layer.cost, s);
    const StagePass<double> pass = stage_pass<double>(*state.blocks, n, s == 0, s + 1 == stages);
    stage_.forward.push_back(pass.forward), stage_.backward.push_back(pass.backward);
    stage_.stage_layers.push_back(n);
  }
  paired_stages(mesh.in, mesh.rates, *state.blocks, shape, stage_.forward, stage_.backward, stage_.stage_layers,
                stage_.paired);
  paired_work_ = stage_work(mesh.in, mesh.counts, *state.blocks, true);
  hide_in_pairs(mesh.in, mesh.counts, *state.blocks, stage_.paired, paired_work_);
}

Pricer::OfStep Pricer::step_of(const PlacedMesh& mesh, const PricedLayer& layer, PricedState& state,
                               const ScheduleShape& shape) {
  if (!overlaps_forward_backward(shape.kind)) return {&state.work, &state.step};
  StepCounts<double> counts = mesh.counts;
  counts.weights_twice = holds_weights_twice(shape);
  EndReduction<double> end = *state.end;
  if (counts.weights_twice) end_reduction(mesh.in, layer.cost, mesh.rates, counts, state.stage, end);
  step_parts(mesh.in, layer.cost, flops_, counts, *state.blocks, paired_work_, end, state.plan, paired_step_);
  return {&paired_work_, &paired_step_};
}

bool Pricer::set_stages(const PlacedMesh& mesh, const PricedLayer& layer, const PricedState& state,
                        const ScheduleShape& shape) {
  if (overlaps_forward_backward(shape.kind)) pair_stages(mesh, layer, state, shape);
  const StageBlocks<double>& blocks = *state.blocks;
  // DualPipe has the stages of its second direction behind those of the first.
  const int stages = shape.stages * passes_per_device(shape), positions = virtual_stage_count(shape);
  if (!is_drawn(shape)) return false;
  Span& wanted = wanted_;
  wanted = {shape,
            {blocks.layer.forward, blocks.layer.backward, blocks.embedding.forward, blocks.embedding.backward,
             blocks.head.forward, blocks.head.backward},
            {},
            {}};
  for (std::size_t k = 0; blocks.has_kinds && k < blocks.kinds.size(); ++k) {
    wanted.blocks[6 + 2 * k] = blocks.kinds[k].layer.forward;
    wanted.blocks[7 + 2 * k] = blocks.kinds[k].layer.backward;
  }
  set_hops(mesh.rates,
           stage_transfers(mesh.in, mesh.rates, layer.cost.microbatch_tokens, state.stage.sequence_parallel), times_);
  wanted.hops = {times_.transfer, times_.node_devices, times_.transfer_in_node};
  times_.blocking_send = blocks_sends(state.stage.sends, shape.kind);
  const bool without_order = runs_without_order(shape);
  spanned_ = false;
  for (std::size_t i = 0; without_order && i < spans_used_; ++i) {
    const Span& known = spans_[i];
    if (known.shape == shape && known.blocks == wanted.blocks && known.hops == wanted.hops) {
      wanted.step = known.step;
      spanned_ = true;
      return true;
    }
  }
  deal_layers(layer.cost, state.stage.layers, shape.kind, stages);
  const auto count = static_cast<std::size_t>(positions), once = static_cast<std::size_t>(stages);
  times_.forward.resize(count);
  times_.backward_input.resize(count);
  times_.backward_weight.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t s = i % once;
    const bool first = s == 0, last = s + 1 == once;
    StageTicks ticks;
    if (s > 1 && !last && layers_[s] == layers_[s - 1] && (!layer.cost.dense_first || dense_[s] == dense_[s - 1])) {
      ticks = {times_.forward[i - 1], times_.backward_input[i - 1], times_.backward_weight[i - 1]};
    } else {
      const StageLayers<double> n = stage_layers(layer.cost, static_cast<int>(s));
      ticks = stage_ticks<double>(mesh.in, layer.cost, stage_pass<double>(blocks, n, first, last), n, first, last);
    }
    times_.forward[i] = ticks.forward;
    times_.backward_input[i] = ticks.backward_input, times_.backward_weight[i] = ticks.backward_weight;
  }
  times_.overlapped.clear();
  if (overlaps_forward_backward(shape.kind)) pair_times(stage_.paired, shape, times_);
  return check_times(times_, count, static_cast<std::uint32_t>(shape.microbatches)) == SimulationOutcome::finished;
}

StepSpan Pricer::simulate_stages(const ScheduleShape& shape) {
  if (!runs_without_order(shape)) return with_order_->span(shape, times_);
  if (!spanned_) {
    wanted_.step = one_f_one_b_span(shape, times_, without_order_);
    spans_[spans_next_] = wanted_;
    spans_next_ = (spans_next_ + 1) % spans_.size();
    spans_used_ = std::min(spans_.size(), spans_used_ + 1);
  }
  return wanted_.step;
}

Tick Pricer::least_simulated(const PlacedMesh& mesh, const PricedLayer& layer, const PricedState& state,
                             const ScheduleShape& shape) {
  if (!with_order_->knows(shape) || !set_stages(mesh, layer, state, shape)) return 0;
  return spanned_ ? wanted_.step.makespan : with_order_->least_makespan(shape, times_);
}

bool Pricer::bound_simulated(const ScheduleShape& shape, Price& price) {
  const Tick least = least_simulated(mesh_, layer_, state_, shape);
  if (least == 0) return false;
  const OfStep of = step_of(mesh_, layer_, state_, shape);
  const double makespan = max(double(least) * kTickSeconds, of.work->work);
  finish_step(mesh_.in, layer_.cost, *state_.blocks, *of.work, makespan, 0.0, true, state_.plan, *of.parts);
  const double step_s = of.parts->step_time * (1 - 1e-12);
  if (!(step_s > price.step_time_s)) return false;
  price.step_time_s = step_s;
  return true;
}

void Pricer::exact(const PlacedMesh& mesh, PricedLayer& layer, PricedState& state, const ScheduleShape& shape,
                   Price& price) {
  if (shape.stages == 1) {
    bound(mesh, layer, state, kinds_, shape, price);
    return;
  }
  price.exact = true;
  if (std::isnan(state.hops.least)) {  // ticks would count it as none
    price.step_time_s = state.hops.least;
    return;
  }
  if (set_stages(mesh, layer, state, shape)) {
    const StepSpan step = simulate_stages(shape);
    const OfStep of = step_of(mesh, layer, state, shape);
    const auto seconds = [](double ticks) { return ticks * kTickSeconds; };
    finish_step(mesh.in, layer.cost, *state.blocks, *of.work, seconds(double(step.makespan)),
                seconds(double(step.in_transfer) / shape.stages), true, state.plan, *of.parts);
    price.step_time_s = of.parts->step_time;
    return;
  }
  // Too long to be simulated, or more than ticks can count: as evaluate() does it.
  StageKey key = state.stage;
  key.shape = shape;
  static_cast<LinkRates<double>&>(layer.cost) = mesh.rates;
  PipelineReport pipeline;
  run_stages(mesh.in, layer.cost, key, scratch_, pipeline, stage_);
  if (pipeline.too_long) {
    price.step_time_s = std::numeric_limits<double>::infinity();
    return;
  }
  const OfStep of = step_of(mesh, layer, state, shape);
  finish_step(mesh.in, layer.cost, *state.blocks, *of.work, stage_.makespan, stage_.in_transfer, stage_.simulated,
              state.plan, *of.parts);
  price.step_time_s = of.parts->step_time;
}

ScheduleShape Pricer::price_pieces(const Plan& plan) {
  place(plan, mesh_);
  price_layer(mesh_, plan, layer_);
  price_state(mesh_, layer_, plan, state_);
  return shape_of(plan, static_cast<int>(mesh_.counts.microbatches), base_.pipeline);
}

Price Pricer::price(const Plan& plan, bool simulate) {
  const ScheduleShape shape = price_pieces(plan);
  find_device_kinds(plan.schedule, plan.pipeline, shape.virtual_stages, stage_key_.layers, layers_, kinds_);
  held_kinds_.clear();
  fullest_devices(kinds_, shape, held_kinds_, devices_);
  Price price;
  price.memory_bytes = memory(mesh_, layer_, state_, devices_);
  if (simulate)
    exact(mesh_, layer_, state_, shape, price);
  else
    bound(mesh_, layer_, state_, kinds_, shape, price);
  return price;
}

}  // namespace roofscape::engine
