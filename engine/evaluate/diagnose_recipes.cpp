#include "engine/evaluate/diagnose_recipes.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/hardware/wires.h"
#include "engine/inputs/placement.h"
#include "engine/model/split_heads.h"
#include "engine/scenario/mesh_size.h"

namespace roofscape::engine {

namespace {

// Thresholds of the lecture's recipe (Stanford CS231n, lecture on distributed training).
constexpr double kLectureDataChips = 128, kLectureDataParameters = 1e9;
constexpr double kLectureHybridChips = 512;  // "256 to 512"
constexpr double kLectureAxesChips = 1000, kLectureAxesParameters = 50e9, kLectureAxesTokens = 10000;
// "A little" tensor or pipeline beside FSDP, and the nodes that experts or tensor may span (scaling book, chapter
// 12).
constexpr double kLittleModelParallelism = 8;
constexpr int kNodesOfModelParallelism = 2;
// Experts may span many nodes if they are wider than this many times peak over node bandwidth (chapter 12).
constexpr double kExpertWidthFactor = 8;

class Plan {
 public:
  Plan(const Scenario& s, const Report& r) : s_(s), r_(r) {}
  const Scenario& scenario() const { return s_; }
  const Parallelism& axes() const { return s_.parallelism; }
  std::optional<double> known(Q q) const { return r_.quantities[q]; }
  double quantity(Q q) const { return r_.quantities.value_or(q, 0); }
  double model_parallelism() const { return double(axes().tensor) * axes().pipeline; }
  bool has(std::string_view code) const {
    return std::any_of(r_.diagnostics.begin(), r_.diagnostics.end(),
                       [code](const Diagnostic& d) { return d.code == code; });
  }
  int nodes_of(Axis axis) const {
    for (const AxisPlacement& row : r_.placement)
      if (row.axis == axis) return row.across_nodes;
    return 1;
  }
  // Whether so many ranks can each get a microbatch of the batch.
  bool feeds(double ranks) const {
    return std::fmod(s_.workload.global_batch_sequences, ranks * s_.pipeline.microbatch_sequences) == 0;
  }
  // Whether a sequence can be split so often beside a tensor degree.
  bool splits(double context, int tensor) const {
    return std::fmod(s_.workload.sequence_length, context) == 0 &&
           (axes().context_method != ContextMethod::ulysses || context <= most_ulysses_ranks(s_.model, tensor));
  }
  // Tensor and pipeline given up for more ranks of `path`. Where the batch has too few sequences for them, context
  // takes the rest.
  Fix without_model_parallelism(std::string_view path, int degree) const {
    if (axes().expert > 1) return {};
    const double more = model_parallelism(), ranks = static_cast<double>(data_ranks(axes())) * more;
    for (int split = 1; split <= more; split *= 2) {
      const double context = double(axes().context) * split;
      if (std::fmod(more, split) != 0 || !feeds(ranks / split) || !splits(context, 1)) continue;
      Fix fix{edit(path, degree * more / split), edit("parallelism.tensor", 1), edit("parallelism.pipeline", 1)};
      if (split > 1) fix.push_back(edit("parallelism.context", context));
      if (axes().expert_tensor > 0) fix.push_back(edit("parallelism.expert_tensor", 0));
      return fix;
    }
    return {};
  }
  // `tensor` ways instead of the tensor and pipeline there are, on the same chips: fsdp, or where it is too small
  // data, makes up the difference. Empty where heads, experts or the batch do not go with it.
  Fix with_tensor(int tensor) const {
    const bool fsdp = axes().fsdp >= axes().data;
    const double degree = fsdp ? axes().fsdp : axes().data, other = fsdp ? axes().data : axes().fsdp;
    const double now = degree * model_parallelism() / tensor;
    if (tensor < 2 || tensor == axes().tensor || now < 1 || now != std::floor(now)) return {};
    if (s_.model.n_heads % tensor != 0 || axes().expert > 1 || axes().expert_tensor > 0) return {};
    // Where the batch has too few sequences for the ranks, context takes the rest.
    for (int split = 1; split <= now; split *= 2) {
      const double context = double(axes().context) * split;
      if (std::fmod(now, split) != 0 || !feeds(now / split * other) || !splits(context, tensor)) continue;
      Fix fix{edit("parallelism.tensor", tensor), edit(fsdp ? "parallelism.fsdp" : "parallelism.data", now / split)};
      if (axes().pipeline > 1) fix.push_back(edit("parallelism.pipeline", 1));
      if (split > 1) fix.push_back(edit("parallelism.context", context));
      return fix;
    }
    return {};
  }
  // The largest power of two up to `limit` ways that with_tensor can do.
  Fix with_tensor_up_to(double limit) const {
    int tensor = 1;
    while (2 * tensor <= limit && tensor < 1024) tensor *= 2;
    for (; tensor > 1; tensor /= 2)
      if (Fix fix = with_tensor(tensor); !fix.empty()) return fix;
    return {};
  }
  // The batch with so many tokens a chip of the cluster, in whole rounds of microbatches.
  Fix with_tokens(double tokens_per_chip) const {
    const double round = static_cast<double>(batch_granule(s_)) * axes().pipeline;
    const double needed = tokens_per_chip * quantity(Q::cluster_chips) / s_.workload.sequence_length;
    const FieldEdit batch = edit("workload.global_batch_sequences", std::ceil(needed / round) * round);
    return in_domain(*batch.field, batch.value) ? Fix{batch} : Fix{};
  }
  static FieldEdit edit(std::string_view path, double value) { return {find_field(path), value}; }

 private:
  const Scenario& s_;
  const Report& r_;
};

using Advice = std::optional<Diagnostic>;

Advice note(std::string_view code, const DiagnosticValues& values, std::string_view field, const Fix& fix = {}) {
  return Diagnostic{Severity::note, code, values, field, fix};
}

// Chapters 5 and 6: data parallelism across pods; inside one plain data parallelism if the model fits, FSDP while
// there are tokens enough, then FSDP with tensor; below that limit no split helps.
Advice book_torus(const Plan& plan) {
  const Scenario& s = plan.scenario();
  const auto& axes = plan.axes();
  const int slices = slices_used(s.cluster, axes);
  if (slices > 1 && axes.data % slices != 0) {
    Fix fix;
    const auto ranks = static_cast<double>(data_ranks(axes));
    if (std::fmod(ranks, slices) == 0)
      fix = {Plan::edit("parallelism.data", slices), Plan::edit("parallelism.fsdp", ranks / slices)};
    return note("advice.book.data_across_pods", {{double(slices), unit::count}, {double(axes.data), unit::ways}},
                "parallelism.data", fix);
  }
  const bool flat = s.cluster.chip[ChipField::ici_torus_dims].value == 2;
  const auto fsdp = plan.known(flat ? Q::bound_fsdp_2 : Q::bound_fsdp_3);
  const auto mixed = plan.known(transfers_add(s) ? Q::bound_mixed_sum : Q::bound_mixed_max);
  if (!fsdp || !mixed) return {};
  const double tokens = plan.quantity(Q::bound_cluster_tokens);
  const double state = plan.quantity(Q::training_state_bytes), capacity = plan.quantity(Q::hbm_capacity);
  const DiagnosticValue tensor{double(axes.tensor), unit::ways}, stages{double(axes.pipeline), unit::ways};
  if (tokens >= *fsdp) {
    if (plan.model_parallelism() == 1) return {};
    if (state <= capacity)
      return note("advice.book.data", {{state, unit::bytes}, {capacity, unit::bytes}, tensor, stages},
                  "parallelism.data", plan.without_model_parallelism("parallelism.data", axes.data));
    return note("advice.book.fsdp", {{tokens, unit::tokens_per_chip}, {*fsdp, unit::tokens_per_chip}, tensor, stages},
                "parallelism.fsdp", plan.without_model_parallelism("parallelism.fsdp", axes.fsdp));
  }
  const double least = std::min(*fsdp, *mixed);
  if (tokens < least)
    return note("advice.book.more_tokens", {{tokens, unit::tokens_per_chip}, {least, unit::tokens_per_chip}},
                "workload.global_batch_sequences", plan.with_tokens(least));
  const double most = plan.quantity(Q::bound_tensor);
  if (plan.has("network.fsdp_limit") || (axes.tensor > 1 && axes.tensor <= most && axes.pipeline == 1)) return {};
  return note("advice.book.fsdp_tensor",
              {{tokens, unit::tokens_per_chip},
               {*mixed, unit::tokens_per_chip},
               {*fsdp, unit::tokens_per_chip},
               tensor,
               stages,
               {most, unit::ways_real}},
              "parallelism.tensor",
              plan.with_tensor_up_to(std::min(
                  most, std::max(2.0, plan.quantity(Q::chips_used) / std::max(1.0, plan.quantity(Q::bound_x_opt))))));
}

Advice book_experts(const Plan& plan) {
  const Scenario& s = plan.scenario();
  const auto& axes = plan.axes();
  const int nodes = plan.nodes_of(Axis::expert);
  const double width = s.model.expert_width(), limit = kExpertWidthFactor * plan.quantity(Q::bound_alpha);
  if (axes.expert > 1 && nodes > kNodesOfModelParallelism && limit > 0 && width < limit) {
    Fix fix;
    const int inside = kNodesOfModelParallelism * s.cluster.node_size / axes.experts_tensor();
    if (inside >= 1 && axes.expert % inside == 0 && axes.experts_tensor() == axes.tensor)
      fix = {Plan::edit("parallelism.expert", inside)};
    return note("advice.book.experts_near",
                {{double(axes.expert), unit::ways},
                 {double(nodes), unit::count},
                 {width, unit::elements},
                 {limit, unit::elements_real}},
                "parallelism.expert", fix);
  }
  if (axes.tensor <= axes.expert) return {};
  Fix fix;
  const int expert = axes.expert * axes.tensor;
  if (axes.pipeline == 1 && axes.expert_tensor == 0 && s.model.moe.n_routed_experts % expert == 0 &&
      plan.feeds(static_cast<double>(data_ranks(axes)) * axes.tensor))
    fix = {Plan::edit("parallelism.tensor", 1), Plan::edit("parallelism.fsdp", double(axes.fsdp) * axes.tensor),
           Plan::edit("parallelism.expert", expert)};
  return note("advice.book.experts_first", {{double(axes.tensor), unit::ways}, {double(axes.expert), unit::ways}},
              "parallelism.expert", fix);
}

// Chapter 12: small dense models FSDP with little else, larger ones tensor over one or two nodes, pipeline and
// ZeRO-1; mixtures of experts expert before tensor.
Advice book_switched(const Plan& plan) {
  const Scenario& s = plan.scenario();
  const auto& axes = plan.axes();
  if (s.model.is_moe()) return book_experts(plan);
  const auto limit = plan.known(Q::bound_fsdp_1);
  if (!limit) return {};
  const double tokens = plan.quantity(Q::bound_cluster_tokens);
  DiagnosticValues values{{tokens, unit::tokens_per_chip},
                          {*limit, unit::tokens_per_chip},
                          {double(axes.tensor), unit::ways},
                          {double(axes.pipeline), unit::ways}};
  if (tokens >= *limit) {
    if (plan.model_parallelism() <= kLittleModelParallelism) return {};
    auto fix = plan.without_model_parallelism("parallelism.fsdp", axes.fsdp);
    if (!fix.empty()) fix.push_back(Plan::edit("parallelism.zero_stage", 3));
    return note("advice.book.gpu_fsdp", values, "parallelism.fsdp", fix);
  }
  const int node = s.cluster.node_size;
  const bool narrow = axes.tensor == 1, wide = axes.tensor > kNodesOfModelParallelism * node;
  const bool regathers = axes.pipeline > 1 && axes.zero_stage == 3 && axes.keep_gathered == KeepGathered::microbatch;
  if (plan.quantity(Q::chips_used) <= node || !(narrow || wide || regathers)) return {};
  Fix fix;
  if (regathers) fix.push_back(Plan::edit("parallelism.zero_stage", 1));
  if (narrow && axes.fsdp % node == 0 && s.model.n_heads % node == 0 && plan.splits(axes.context, node)) {
    fix.push_back(Plan::edit("parallelism.tensor", node));
    fix.push_back(Plan::edit("parallelism.fsdp", axes.fsdp / node));
  }
  values.push_back({double(axes.zero_stage), unit::count});
  return note("advice.book.gpu_tensor_pipeline", values, "parallelism.tensor", fix);
}

// By chips and parameters: data parallelism, FSDP, HSDP, then all axes; checkpointing as soon as activations
// overflow.
Advice lecture(const Plan& plan) {
  const Scenario& s = plan.scenario();
  const auto& axes = plan.axes();
  const double chips = plan.quantity(Q::chips_used), parameters = plan.quantity(Q::params_total);
  const double length = s.workload.sequence_length;
  const double activations = plan.quantity(Q::memory_activations), capacity = plan.quantity(Q::hbm_capacity);
  if (plan.quantity(Q::memory_free) < 0 && s.checkpointing.policy == CheckpointPolicy::none)
    return note("advice.lecture.checkpointing", {{activations, unit::bytes}, {capacity, unit::bytes}},
                "checkpointing.policy",
                {Plan::edit("checkpointing.policy", static_cast<double>(CheckpointPolicy::block))});
  const DiagnosticValues size{{chips, unit::chips}, {parameters, unit::parameters}, {length, unit::tokens}};
  const bool large = chips > kLectureAxesChips || parameters > kLectureAxesParameters || length > kLectureAxesTokens;
  const double splits = plan.model_parallelism() * axes.context;
  if (large) {
    if (chips <= kLectureAxesChips || splits > 1) return {};
    // Tensor first, as far as it stays cheap: inside a node, on a torus up to the book's limit.
    const bool torus = s.cluster.chip.interconnect == Interconnect::torus;
    return note("advice.lecture.more_axes", size, "parallelism.tensor",
                plan.with_tensor_up_to(torus ? std::min(plan.quantity(Q::bound_tensor), kLittleModelParallelism)
                                             : double(s.cluster.node_size)));
  }
  if (splits > 1 && axes.expert == 1) {
    Fix fix;
    if (axes.context == 1) fix = plan.without_model_parallelism("parallelism.fsdp", axes.fsdp);
    DiagnosticValues values = size;
    for (const int degree : {axes.tensor, axes.pipeline, axes.context})
      values.push_back({double(degree), unit::ways});
    return note("advice.lecture.fewer_axes", values, "parallelism.tensor", fix);
  }
  if (chips <= 1) return {};
  const DiagnosticValue shards{double(axes.fsdp), unit::ways};
  if (chips <= kLectureDataChips && parameters <= kLectureDataParameters) {
    if (axes.fsdp == 1 || axes.zero_stage < 3) return {};
    return note(
        "advice.lecture.data", {size[0], size[1], shards}, "parallelism.zero_stage",
        {Plan::edit("parallelism.data", static_cast<double>(data_ranks(axes))), Plan::edit("parallelism.fsdp", 1)});
  }
  if (parameters > kLectureDataParameters && (axes.fsdp == 1 || axes.zero_stage < 3)) {
    Fix fix{Plan::edit("parallelism.zero_stage", 3)};
    if (axes.fsdp == 1 && axes.data > 1)
      fix.push_back(Plan::edit("parallelism.fsdp", axes.data)), fix.push_back(Plan::edit("parallelism.data", 1));
    return note("advice.lecture.fsdp", {size[1], shards, {double(axes.zero_stage), unit::count}}, "parallelism.fsdp",
                fix);
  }
  if (axes.fsdp <= kLectureHybridChips || axes.data > 1) return {};
  Fix fix;
  int copies = 1, group = axes.fsdp;
  while (group > kLectureHybridChips / 2 && group % 2 == 0) group /= 2, copies *= 2;
  if (copies > 1) fix = {Plan::edit("parallelism.data", copies), Plan::edit("parallelism.fsdp", group)};
  return note("advice.lecture.hybrid", {size[0], shards}, "parallelism.data", fix);
}

}  // namespace

void diagnose_recipes(const Scenario& s, Report& report) {
  if (report.has_errors()) return;  // an advice to a plan that cannot run leads nowhere
  const Plan plan(s, report);
  const bool torus = s.cluster.chip.interconnect == Interconnect::torus;
  Advice book = torus ? book_torus(plan) : book_switched(plan);
  Advice from_lecture = lecture(plan);
  for (Advice* advice : {&book, &from_lecture})
    if (*advice) report.diagnostics.push_back(std::move(**advice));
}

}  // namespace roofscape::engine
