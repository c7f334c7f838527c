#include "engine/evaluate/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/finite.h"
#include "engine/calibration/collectives.h"
#include "engine/evaluate/bound.h"
#include "engine/evaluate/diagnose.h"
#include "engine/evaluate/evaluation.h"
#include "engine/evaluate/serving_evaluation.h"
#include "engine/hardware/collective.h"
#include "engine/pipeline/in_flight.h"
#include "engine/training/state_traffic.h"

namespace roofscape::engine {

namespace {

double ratio(double a, double b) { return b > 0 ? finite(a / b) : 0.0; }

void fill_operations(const Evaluation<double>& e, std::vector<OperationRow>& rows) {
  rows.clear();
  for (int i = 0; i < kOperationCount; ++i) {
    const OperationStep<double>& step = e.operations[static_cast<std::size_t>(i)];
    if (!step.present) continue;
    rows.push_back({static_cast<OperationKind>(i), finite(step.flops), finite(step.hbm_bytes), finite(step.intensity),
                    finite(step.achieved), finite(step.time), finite(step.share)});
  }
}

// What moves at the end of a step starts once, not once for each layer's worth: the rows of an axis have their shares of
// the time that it takes with its latency.
void start_once(const Evaluation<double>& e, std::vector<CollectiveRow>& rows) {
  AxisArray<double> sent{};
  const auto axis_of = [&](const CollectiveRow& row) {
    return row.axis == Axis::fsdp ? state_axis_of(e.in) : row.axis;
  };
  for (const CollectiveRow& row : rows)
    if (row.end_of_step) sent[axis_of(row)] += row.calls_per_step * row.time_s;
  for (CollectiveRow& row : rows)
    if (row.end_of_step) row.time_s *= ratio(e.stage.end_network[axis_of(row)], sent[axis_of(row)]);
}

void fill_collectives(const Scenario& s, const Evaluation<double>& e, std::vector<CollectiveRow>& rows) {
  rows.clear();
  const auto& plan = s.parallelism;
  const double layers = e.stage.layer_passes;
  const auto add = [&](Axis axis, CollectiveKind kind, bool backward, bool end, double bytes, double calls,
                       double seconds, double bandwidth) {
    rows.push_back({axis, kind, backward, end, finite(bytes), finite(calls), finite(seconds), finite(bandwidth)});
  };
  // A call whose bytes alone take `sent`; an AllReduce is two.
  const auto call = [&](Axis axis, CollectiveKind kind, double sent) {
    return with_latency(e.in, sent, (kind == CollectiveKind::all_reduce ? 2 : 1) * e.layer.latency[axis]);
  };
  const auto gathered = [&](Axis axis, CollectiveKind kind, bool backward, bool end, double bytes, double calls) {
    const bool reduces = kind == CollectiveKind::all_reduce;
    const bool in_two = axis == Axis::fsdp && plan.zero_stage == 0;  // an AllReduce, listed as its two halves
    const double w = reduces || in_two ? e.layer.reduce_bandwidth[axis] : e.layer.bandwidth[axis];
    const double passes = reduces ? 2 : 1;
    const double sent = ratio(passes * bytes, w);
    add(axis, kind, backward, end, bytes, calls, end ? sent : call(axis, kind, sent), w);
  };
  using enum CollectiveKind;
  const bool pipelined = plan.pipeline > 1;
  // Of training state. Experts that are spread are moved between the ranks that hold the same ones, at their own rate.
  const auto add_state = [&](Axis axis, CollectiveKind kind, bool backward, bool end, double bytes, double calls,
                             bool update = false) {
    const double shards = e.stage.state_shards;
    if (!spreads_experts(e.in)) {
      gathered(axis, kind, backward, end, axis == Axis::data ? bytes / shards : bytes, calls);
      return;
    }
    double share = end ? ratio(e.stage.expert_gradient_bytes, e.stage.mean_gradient_bytes)
                       : ratio(e.layer.params_spread, e.layer.params_rank);
    if (update) share = ratio(e.stage.expert_update_bytes, e.stage.update_bytes);
    if (e.in.adapter.on && !end) {
      // Of gradients, and of weights below ZeRO-3, adapters alone.
      const double trained = e.in.adapter.bytes * e.layer.trained_spread;
      share = bytes == e.stage.gradient_bytes || plan.zero_stage < 3
                  ? ratio(e.layer.trained_spread, e.layer.trained_rank)
                  : ratio(e.in.gather_bytes * e.layer.params_spread + trained,
                          e.in.gather_bytes * e.layer.params_rank + e.in.adapter.bytes * e.layer.trained_rank);
    }
    const MovedState<double> state{bytes, bytes * share, true};
    const AxisLinks &of_state = e.in.links.expert_state, &of_data = e.in.links.expert_data;
    double moved = 0, of_experts = 0, seconds = 0;
    if (axis == Axis::fsdp) {
      if (of_state.degree > 1) of_experts = state.experts;
      moved = of_state.degree > 1 ? state.all : state.all - state.experts;
      seconds = state_moved<double>(e.layer, plan.zero_stage, state, of_state.degree > 1);
    } else {
      const bool sharded = e.in.links.state.degree > 1;
      moved = sharded ? (state.all - state.experts) / shards : state.all - state.experts;
      if (of_data.degree > 1) of_experts = state.experts / of_state.degree;
      moved += of_experts;
      seconds = data_moved<double>(e.in, e.layer, state, shards);
    }
    if (e.in.adapter.on && !(moved > 0)) return;  // all adapters are of experts that no other rank has
    add(axis, kind, backward, end, moved, calls, end ? seconds : call(axis, kind, seconds),
        ratio((kind == all_reduce ? 2 : 1) * moved, seconds));
    rows.back().experts_bytes = finite(of_experts);
  };
  // Once a step: a layer's worth at a time. After a pipeline the embedding and the head of its stages go with them.
  const double once = pipelined ? ratio(e.stage.mean_gradient_bytes, e.stage.gradient_bytes) : e.in.model.n_layers;
  if (e.in.links.state.degree > 1) {
    const StateTraffic when = state_traffic_of(plan.zero_stage, plan.keep_gathered, pipelined);
    if (when != StateTraffic::once_a_step) {
      const double calls = when == StateTraffic::every_chunk ? ratio(layers, e.stage.microbatches) : layers;
      add_state(Axis::fsdp, all_gather, false, false, e.stage.weight_bytes, calls);
      add_state(Axis::fsdp, all_gather, true, false, e.stage.weight_bytes, calls);
      add_state(Axis::fsdp, reduce_scatter, true, false, e.stage.gradient_bytes, calls);
    } else {
      add_state(Axis::fsdp, reduce_scatter, true, pipelined, e.stage.gradient_bytes, once);
      const bool update = e.in.adapter.on && pipelined && plan.zero_stage > 0;  // frozen weights too, if sharded
      add_state(Axis::fsdp, all_gather, false, pipelined,
                plan.zero_stage == 0 ? e.stage.gradient_bytes : e.stage.weight_bytes,
                update ? ratio(e.stage.update_bytes, e.stage.weight_bytes) : once, update);
    }
  }
  if (plan.data > 1) add_state(Axis::data, all_reduce, true, pipelined, e.stage.gradient_bytes, once);
  if (pipelined) start_once(e, rows);
  if (e.stage.muon.sends) {
    const MuonWork<double>& muon = e.stage.muon;
    for (const Axis axis : {Axis::data, Axis::fsdp, Axis::context, Axis::tensor})
      if (muon.network[axis] > 0) {
        add(axis == Axis::context ? Axis::fsdp : axis,
            muon.exchanges && axis != Axis::tensor ? all_to_all : all_gather, true, true,
            ratio(muon.bytes[axis], muon.calls[axis]), muon.calls[axis], ratio(muon.network[axis], muon.calls[axis]),
            ratio(muon.bytes[axis], muon.sent[axis]));
        rows.back().of_update = true;
        if (axis != Axis::tensor) rows.back().experts_bytes = ratio(muon.experts_bytes, muon.calls[axis]);
      }
  }
  if (plan.tensor > 1) {
    const double times = layers * e.layer.tensor_share;
    if (plan.sequence_parallel) {
      for (const bool backward : {false, true})
        for (const CollectiveKind kind : {all_gather, reduce_scatter})
          gathered(Axis::tensor, kind, backward, false, e.layer.tensor_bytes, (backward ? 4 : 2) * times);
    } else {
      for (const bool backward : {false, true})
        gathered(Axis::tensor, all_reduce, backward, false, e.layer.tensor_bytes, 2 * times);
    }
  }
  if (plan.context > 1) {
    for (const bool backward : {false, true}) {
      if (plan.context_method == ContextMethod::ulysses)
        // Heads are exchanged before attention and after it; the mean of both.
        add(Axis::context, all_to_all, backward, false, e.layer.context_bytes / 2, 2 * layers,
            call(Axis::context, all_to_all, e.layer.context_exchange / 2), e.layer.bandwidth[Axis::context]);
      else
        gathered(Axis::context, all_gather, backward, false, e.layer.context_bytes, (backward ? 2 : 1) * layers);
    }
  }
  if (plan.expert > 1 && s.model.is_moe())
    for (const bool backward : {false, true})
      add(Axis::expert, all_to_all, backward, false, e.layer.expert_bytes, 2 * layers,
          call(Axis::expert, all_to_all, e.layer.expert_exchange), e.layer.bandwidth[Axis::expert]);
  if (pipelined) {
    const double bytes = boundary_bytes(e.in, e.layer.microbatch_tokens, plan.sequence_parallel);
    // Of a microbatch, each way: from stage to stage for each chunk, and of looped chunks back to the first device.
    const ScheduleShape& shape = stage_key(s).shape;
    const int node = e.layer.stages_in_node, chunks = passes_per_device(shape);
    const int steps = plan.pipeline - 1, far_steps = node > 1 ? steps / node : steps;
    const int wraps = facts_of(shape.kind).placement == StagePlacement::looped ? chunks - 1 : 0;
    const int far_wraps = far_steps > 0 ? wraps : 0;
    const double each = ratio(2 * e.stage.microbatches, plan.pipeline);  // on one device, as their mean
    const int far = chunks * far_steps + far_wraps, near = chunks * (steps - far_steps) + wraps - far_wraps;
    if (far > 0)
      add(Axis::pipeline, send, false, false, bytes, each * far, e.stage.transfer, e.layer.bandwidth[Axis::pipeline]);
    if (near > 0)
      add(Axis::pipeline, send, false, false, bytes, each * near, e.stage.transfer_in_node,
          e.layer.in_node_bandwidth);
  }
}

void fill_transfers(const Evaluation<double>& e, AxisArray<AxisTransfers>& out) {
  const auto& stage = e.stage;
  for (std::size_t a = 0; a < out.size(); ++a) {
    AxisTransfers& axis = out[a] = {};
    axis.step_end_s = finite(stage.end_network[a]);
    if (const Axis of = static_cast<Axis>(a); e.in.calibrated && hides(e.in, of))
      axis.hidden_s = e.in.calibration[hidden_at_end(of)] * axis.step_end_s;
    if (stage.muon.sends) {
      axis.update_s = finite(stage.muon.network[a]);
      axis.hidden_s += std::max(0.0, finite(stage.muon.network[a] - stage.muon.exposed[a]));
    }
    if (!stage.communicates[a]) continue;
    axis.forward_s = finite(stage.comm_forward[a]), axis.backward_s = finite(stage.comm_backward[a]);
    const double exposed = stage.pairs ? stage.exposed_left * stage.layer.exposed[a] : stage.layer.exposed[a];
    // Where all is exposed, the sum of its shares can be above it by a rounding.
    axis.hidden_s +=
        std::max(0.0, finite(stage.layer_passes * (stage.comm_forward[a] + stage.comm_backward[a] - exposed)));
  }
}

void fill_placement(const Evaluation<double>& e, std::vector<AxisPlacement>& rows) {
  rows.clear();
  for (int i = 0; i < kAxisCount; ++i) {
    const auto axis = static_cast<Axis>(i);
    const AxisLinks& links = e.in.links.group(axis);
    rows.push_back({axis, links.tier, e.in.degree(axis).n, links.torus_axes, links.inside_node, links.across_nodes,
                    finite(e.layer.bandwidth[axis]), binding_level(links, e.in.chip), std::max(links.degree, 1),
                    links.on, links.open_axes});
  }
}

void fill_stages(const Scenario& s, const Evaluation<double>& e, const PipelineReport& pipeline,
                 std::vector<StageRow>& rows) {
  const int devices = s.parallelism.pipeline;
  rows.assign(static_cast<std::size_t>(devices), {});
  const int virtual_stages = devices > 1 ? devices * passes_per_device(pipeline.shape) : 1;
  const std::vector<int>& layers = pipeline.layers;
  const bool has_orders = !pipeline.orders.ops.empty();
  const int first_dense = s.model.n_first_dense_layers();
  int first = 0;
  for (int v = 0; v < virtual_stages; ++v) {
    const auto device = static_cast<std::size_t>(has_orders ? pipeline.orders.device_of[static_cast<std::size_t>(v)]
                                                 : pipeline.status.legal() ? device_of(pipeline.shape, v)
                                                                           : v % devices);
    StageRow& row = rows[device];
    if (row.layers == 0) row.first_layer = first;
    row.layers += layers[static_cast<std::size_t>(v)];
    row.has_embedding = row.has_embedding || v == 0;
    row.has_head = row.has_head || v == virtual_stages - 1;
    row.forward_s += finite(e.stage.forward[static_cast<std::size_t>(v)]);
    row.backward_s += finite(e.stage.backward[static_cast<std::size_t>(v)]);
    row.dense_layers += std::clamp(first_dense - first, 0, layers[static_cast<std::size_t>(v)]);
    first += layers[static_cast<std::size_t>(v)];
  }
  for (std::size_t d = 0; d < rows.size(); ++d) {
    const StageMemory<double>& memory = e.plan.stages[d];
    rows[d].params = finite(memory.params);
    rows[d].kept_bytes = finite(memory.bytes.kept), rows[d].postponed_bytes = finite(memory.bytes.needed);
    rows[d].idle_s = d < pipeline.idle.size() ? static_cast<double>(pipeline.idle[d]) * kTickSeconds : 0;
    rows[d].in_flight_microbatches =
        devices > 1 && pipeline.status.legal() ? peak_in_flight(pipeline.shape, static_cast<int>(d)) : 1;
    for (std::size_t i = 0; i < kMemoryPartCount; ++i) rows[d].memory_bytes[i] = finite(memory.parts[i]);
    rows[d].memory_total_bytes = finite(memory.total);
  }
}

}  // namespace

void QuantityValues::set(Q q, double value) {
  const auto i = static_cast<std::size_t>(q);
  if (std::isfinite(value)) [[likely]] {
    values_[i] = value;
    absence_[i] = Absence::none;
  } else {
    values_[i] = 0;
    absence_[i] = Absence::unknown_input;
  }
}

void QuantityValues::withhold(Q q) {
  const auto i = static_cast<std::size_t>(q);
  if (i >= kReportQuantityCount || absence_[i] != Absence::none) return;
  values_[i] = 0;
  absence_[i] = Absence::cannot_run;
}

bool Report::has_errors() const {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::error; });
}

void withhold_run(Report& out) {
  for (std::size_t i = 0; i < kReportQuantityCount; ++i)
    if (const auto q = static_cast<Q>(i); is_of_a_run(q)) out.quantities.withhold(q);
  out.bound = {BoundKind::none, Axis::data};
  out.operations.clear();
  out.collectives.clear();
  out.transfers = {};
  for (StageRow& stage : out.stages) stage.forward_s = stage.backward_s = stage.idle_s = 0;
  out.pipeline.timeline.start.clear();
  out.pipeline.timeline.makespan = 0;
  out.pipeline.idle.clear();
  out.pipeline.step_end_s = out.pipeline.reduction_s = out.pipeline.update_exchange_s = 0;
}

struct EvaluationScratch::Memory {
  Evaluation<double> evaluation;
  PipelineScratch pipeline;
};
EvaluationScratch::EvaluationScratch() : memory_(std::make_unique<Memory>()) {}
EvaluationScratch::~EvaluationScratch() = default;
EvaluationScratch::EvaluationScratch(EvaluationScratch&&) noexcept = default;
EvaluationScratch& EvaluationScratch::operator=(EvaluationScratch&&) noexcept = default;

namespace {

void report_training(const Scenario& s, const Evaluation<double>& e, Report& out) {
  out.quantities.clear();
  for_each_quantity(e, [&out](Q q, double value) { out.quantities.set(q, value); });
  fill_transfers(e, out.transfers);
  out.bound = find_bound(e, out.transfers);
  out.fullest_stage = static_cast<int>(e.plan.fullest_stage);
  fill_operations(e, out.operations);
  fill_collectives(s, e, out.collectives);
  fill_placement(e, out.placement);
  fill_stages(s, e, out.pipeline, out.stages);
  out.pipeline.reduction_s = out.pipeline.update_exchange_s = 0;
  for (const double end : e.stage.end_reduction) out.pipeline.reduction_s += finite(end);
  if (e.stage.muon.sends)
    for (const double end : e.stage.muon.exposed) out.pipeline.update_exchange_s += finite(end);
  out.pipeline.step_end_s = seconds_of_part(e, Q::step_optimizer) + out.pipeline.reduction_s;
  if (e.stage.muon.sends) out.pipeline.step_end_s += out.pipeline.update_exchange_s;
  diagnose(s, out, &e.in.links);
  if (out.has_errors()) withhold_run(out);
}

}  // namespace

void evaluate(const Scenario& s, EvaluationScratch& scratch, Report& out) {
  if (s.serves()) return evaluate_serving(s, out);
  Evaluation<double>& e = scratch.memory_->evaluation;
  run_evaluation<double>(s, nullptr, scratch.memory_->pipeline, out.pipeline, e);
  report_training(s, e, out);
}

void evaluate_without_timeline(const Scenario& s, EvaluationScratch& scratch, OrderSpans& spans, Report& out) {
  if (s.serves()) return evaluate_serving(s, out);
  Evaluation<double>& e = scratch.memory_->evaluation;
  run_evaluation<double>(s, nullptr, scratch.memory_->pipeline, out.pipeline, e, {.spans = &spans});
  report_training(s, e, out);
}

void evaluate_quantities(const Scenario& s, EvaluationScratch& scratch, OrderSpans& spans, Report& out) {
  Evaluation<double>& e = scratch.memory_->evaluation;
  run_evaluation<double>(s, nullptr, scratch.memory_->pipeline, out.pipeline, e, {.spans = &spans});
  out.quantities.clear();
  for_each_quantity(e, [&out](Q q, double value) { out.quantities.set(q, value); });
}

Report evaluate(const Scenario& s) {
  Report report;
  EvaluationScratch scratch;
  evaluate(s, scratch, report);
  return report;
}

}  // namespace roofscape::engine
