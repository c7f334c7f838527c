#include "engine/evaluate/diagnose_pipeline.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

#include "engine/pipeline/given_order.h"
#include "engine/report/findings.h"
#include "engine/scenario/mesh_size.h"
#include "engine/training/memory.h"
#include "engine/training/stage_time.h"

namespace roofscape::engine {

namespace {

// Chunks divide the bubble (Narayanan et al. 2021): as many as layers allow, up to eight; where microbatches do not
// fill the stages, none.
Fix smaller_bubble(const Findings& f) {
  const Scenario& s = f.scenario();
  if (s.pipeline.schedule != ScheduleKind::one_f_one_b && s.pipeline.schedule != ScheduleKind::gpipe) return {};
  for (const int chunks : {8, 4, 2}) {
    const ScheduleShape& now = f.report().pipeline.shape;
    // Too few layers by far; the embedding and the head may have a virtual stage each. How layers are dealt takes memory.
    if (now.stages * chunks > s.model.n_layers + 2) continue;
    const ScheduleShape shape =
        schedule_shape(s.pipeline, ScheduleKind::interleaved_1f1b, now.stages, now.microbatches, chunks);
    if (layers_suffice(layer_split(s), shape.kind, shape.stages, chunks) && check_schedule(shape).legal()) {
      Fix fix{Findings::edit("pipeline.schedule", static_cast<double>(ScheduleKind::interleaved_1f1b)),
              Findings::edit("pipeline.virtual_stages", chunks)};
      // A list by hand is of the stages there are now.
      if (!s.pipeline.layers_per_stage.empty()) fix.push_back(Findings::edit(kLayersByHand, 0));
      return fix;
    }
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

// Weights that stay gathered for a chunk come and go only where its microbatches are computed together.
void check_kept_chunks(Findings& f) {
  const Scenario& s = f.scenario();
  const Parallelism& plan = s.parallelism;
  if (plan.zero_stage < 3 || plan.keep_gathered != KeepGathered::chunk || plan.fsdp * plan.context == 1) return;
  if (takes_chunks_in_turn(f.report().pipeline.shape)) return;
  f.add(Severity::warning, "pipeline.kept_chunks", {}, "parallelism.keep_gathered",
        {Findings::edit("parallelism.keep_gathered", static_cast<double>(KeepGathered::step))});
}

// An order of other sizes than the plan's, or of another schedule: the schedule's own is run.
void check_given_order(Findings& f, const ListedOrder& order) {
  const ScheduleShape& shape = f.report().pipeline.shape;
  const bool sizes_are_same = order.stages == shape.stages && order.virtual_stages == shape.virtual_stages &&
                              order.microbatches == shape.microbatches;
  f.add(Severity::warning, "pipeline.given_order",
        {{double(order.stages), unit::count},
         {double(order.virtual_stages), unit::count},
         {double(order.microbatches), unit::microbatches}},
        kGivenOrder, {Findings::edit(kGivenOrder, 0)}, sizes_are_same ? "schedule" : "");
}

}  // namespace

void diagnose_pipeline(const Scenario& s, Report& report) {
  Findings f(s, report);
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
  check_kept_chunks(f);
  if (!pipeline.status.legal()) return check_schedule_rule(f, pipeline.shape, pipeline.status);
  if (pipeline.too_long)
    return f.add(Severity::error, "pipeline.too_long", {{double(kLongestRow) * kTickSeconds, unit::seconds}},
                 "workload.global_batch_sequences");
  if (const int used = pipeline.shape.group_size; used > 0 && used != s.pipeline.group_size)
    f.add(Severity::note, "pipeline.other_group",
          {{double(s.pipeline.group_size), unit::microbatches},
           {double(used), unit::microbatches},
           {double(pipeline.shape.microbatches), unit::microbatches},
           {double(stages), unit::count}},
          "pipeline.group_size", {Findings::edit("pipeline.group_size", used)});
  check_bubble(f);
}

}  // namespace roofscape::engine
