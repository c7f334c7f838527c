#include "engine/evaluate/single_edits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/divisors.h"
#include "engine/frameworks/rules.h"
#include "engine/inputs/placement.h"
#include "engine/pipeline/schedule.h"
#include "engine/scenario/checkpoint_policies.h"
#include "engine/scenario/mesh_size.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/training/stage_time.h"

namespace roofscape::engine {
namespace {

constexpr double kOperationsOfAChunk = 3;  // forward, and backward in two halves, of a microbatch
constexpr double kMostOperations = 20000;
constexpr double kOffloadSteps = 20;       // of the optimizer's state, from nothing to all of it
constexpr std::size_t kBatchDivisors = 3;  // tried of the numbers of data ranks that the batch divides by

FieldEdit edit(std::string_view path, double value) { return {find_field(path), value}; }

// The changes one step away.
class Neighbours {
 public:
  Neighbours(const Scenario& s, const Report& report) : s_(s), report_(report) {
    mesh();
    if (s.serves())
      serving();
    else
      training();
  }
  std::vector<Fix> take() {
    std::erase_if(all_, [this](const Fix& fix) { return !may_run(after_fix(s_, fix)); });
    return std::move(all_);
  }

 private:
  struct MeshAxis {
    std::string_view path;
    int degree;
    bool feeds;  // its ranks take different sequences
  };

  // False for what is an error for certain, before it is evaluated; and for pipelines so long that only making their
  // order would take longer than all the rest.
  bool may_run(const Scenario& changed) const {
    const Parallelism& p = changed.parallelism;
    if (mesh_chips(p) > static_cast<double>(chip_count(changed.cluster))) return false;
    if (changed.model.n_heads % p.tensor != 0) return false;
    // As the search has it: tensor ranks leave the node only where they do so already.
    if (crosses_nodes(changed.cluster, p.tensor) && !crosses_nodes(s_.cluster, s_.parallelism.tensor)) return false;
    if (changed.serves() || p.pipeline == 1) return true;
    const double chunks = double(virtual_stages_of(changed));
    if (chunks > kMaxVirtualStages ||
        !layers_suffice(layer_split(changed), changed.pipeline.schedule, p.pipeline, changed.pipeline.virtual_stages))
      return false;
    const double operations = kOperationsOfAChunk * chunks * microbatch_count(changed);
    const double now =
        kOperationsOfAChunk * double(s_.parallelism.pipeline) * s_.pipeline.virtual_stages * microbatch_count(s_);
    return operations <= std::max(kMostOperations, 2 * now);
  }
  void add(const Fix& fix) {
    for (const FieldEdit& e : fix)
      if (e.field == nullptr || !in_domain(*e.field, e.value)) return;
    all_.push_back(fix);
  }
  void add_values(std::string_view path, double now, int least, int most) {
    for (int v = least; v <= most; ++v)
      if (v != now) add({edit(path, v)});
  }

  // Of a torus whose axes are given out by hand, a changed mesh may need them given out anew.
  void add_mesh(const Fix& fix) {
    add(fix);
    if (s_.cluster.chip.interconnect != Interconnect::torus || s_.placement == Placement{}) return;
    Fix free = fix;
    for (std::size_t i = 0; i < kAxisCount && free.size() < 7; ++i) {
      const std::string path = "placement." + std::string(kAxisIds[i]);
      if (s_.placement.axes[i] != 0) free.push_back(edit(path + ".axes", 0));
      if (s_.placement.on[i] != TorusAxes::automatic && free.size() < 7) free.push_back(edit(path + ".on", 0));
    }
    add(free);
  }

  void mesh() {
    const Parallelism& p = s_.parallelism;
    const std::array<MeshAxis, 5> axes{{{"parallelism.data", p.data, true},
                                        {"parallelism.fsdp", p.fsdp, true},
                                        {"parallelism.tensor", p.tensor, false},
                                        {"parallelism.context", p.context, false},
                                        {"parallelism.pipeline", p.pipeline, false}}};
    for (const MeshAxis& from : axes)
      for (int f = 2; f <= from.degree; ++f) {
        if (from.degree % f != 0) continue;
        for (const MeshAxis& to : axes)
          if (to.path != from.path) move(from, to, f);
        add_mesh({edit(from.path, from.degree / f)});
      }
    // Of the chips that the other axes leave, as many as divide them: more where chips are idle, and another number
    // where the degree is none of a plan. Where they divide badly, as many as the batch divides by.
    for (const MeshAxis& axis : axes) {
      const auto room = static_cast<int>(static_cast<double>(chip_count(s_.cluster)) * axis.degree / mesh_chips(p));
      std::vector<int> degrees = divisors(room);
      if (axis.feeds && !s_.serves()) {
        const auto others = static_cast<int>(data_ranks(p) / axis.degree);
        std::vector<int> of_batch = divisors(s_.workload.global_batch_sequences / others);
        std::erase_if(of_batch, [room](int degree) { return degree > room; });
        const auto most = static_cast<std::ptrdiff_t>(std::min(of_batch.size(), kBatchDivisors));
        degrees.insert(degrees.end(), of_batch.end() - most, of_batch.end());
      }
      std::sort(degrees.begin(), degrees.end());
      degrees.erase(std::unique(degrees.begin(), degrees.end()), degrees.end());
      for (const int degree : degrees)
        if (axis.degree % degree != 0) add_mesh({edit(axis.path, degree)});
    }
    if (s_.model.is_moe())
      for (int e = 1; e <= s_.model.moe.n_routed_experts; ++e)
        if (s_.model.moe.n_routed_experts % e == 0 && e != p.expert) add_mesh({edit("parallelism.expert", e)});
  }

  void move(const MeshAxis& from, const MeshAxis& to, int f) {
    Fix fix{edit(from.path, from.degree / f), edit(to.path, double(to.degree) * f)};
    if (from.path == "parallelism.pipeline" && from.degree == f && s_.pipeline.virtual_stages > 1)
      fix.push_back(edit("pipeline.virtual_stages", 1));
    add_mesh(fix);
    if (s_.serves() || from.feeds == to.feeds) return;
    // With as many microbatches as before.
    const double micro = s_.pipeline.microbatch_sequences;
    if (from.feeds || std::fmod(micro, f) == 0) {
      fix.push_back(edit("pipeline.microbatch_sequences", from.feeds ? micro * f : micro / f));
      add_mesh(fix);
    }
  }

  void training() {
    const Parallelism& p = s_.parallelism;
    const std::int64_t sequences = s_.workload.global_batch_sequences / data_ranks(p);
    for (int m = 1; m <= sequences; ++m)
      if (sequences % m == 0 && m != s_.pipeline.microbatch_sequences)
        add({edit("pipeline.microbatch_sequences", m)});
    add_values("parallelism.zero_stage", p.zero_stage, 0, 3);
    if (p.zero_stage == 3) add_values("parallelism.keep_gathered", static_cast<double>(p.keep_gathered), 0, 2);
    for (const CheckpointFacts& facts : kCheckpointFacts)
      if (facts.searched && facts.policy != s_.checkpointing.policy)
        add({edit("checkpointing.policy", static_cast<double>(facts.policy))});
    if (p.tensor > 1) add({edit("parallelism.sequence_parallel", p.sequence_parallel ? 0 : 1)});
    if (p.context > 1) add_values("parallelism.context_method", static_cast<double>(p.context_method), 0, 2);
    offload();
    if (report_.quantities.value_or(Q::memory_free, 0) < 0) kernels();
    if (s_.kernels.launch == KernelLaunch::blocking)
      add({edit("kernels.launch", static_cast<double>(KernelLaunch::queued))});
    else if (report_.quantities.value_or(Q::step_layers_host, 0) > 0)
      add({edit("kernels.launch", static_cast<double>(KernelLaunch::graphs))});
    if (p.pipeline > 1) schedules();
  }

  // Of the optimizer all or nothing, or just as much as memory lacks.
  void offload() {
    add({edit("offload.optimizer", s_.offload.optimizer ? 0 : 1)});
    add({edit("offload.activations", s_.offload.activations ? 0 : 1)});
    const double lacking = -report_.quantities.value_or(Q::memory_free, 0);
    const double on_chip = report_.quantities.value_or(Q::memory_optimizer, 0);
    if (!(lacking > 0 && on_chip > lacking)) return;
    const double now = s_.offload.optimizer ? s_.offload.optimizer_fraction : 0;
    const double fraction = std::ceil(kOffloadSteps * (now + (1 - now) * lacking / on_chip)) / kOffloadSteps;
    if (!(fraction < 1)) return;
    Fix fix;
    if (!s_.offload.optimizer) fix.push_back(edit("offload.optimizer", 1));
    fix.push_back(edit("offload.optimizer_fraction", fraction));
    const std::vector<Framework> by = launchers();
    if (by.empty() || is_launched(fix, by)) add(fix);
  }

  // That run this plan. JAX is none: a library, in which anything can be written.
  std::vector<Framework> launchers() const {
    std::vector<Framework> out = who_runs(s_).can;
    std::erase(out, Framework::jax);
    return out;
  }
  bool is_launched(const Fix& fix, const std::vector<Framework>& by) const {
    const Scenario changed = after_fix(s_, fix);
    return std::any_of(by.begin(), by.end(), [&changed](Framework f) { return broken_rule(f, changed) == nullptr; });
  }

  // Software rather than plan, and of no cost in time: asked for where memory is short, and nowhere else.
  void kernels() {
    const KernelChoices& now = s_.kernels;
    if (now.loss != LossKernel::chunked) add({edit("kernels.loss", static_cast<double>(LossKernel::chunked))});
    if (now.attention == AttentionKernel::unfused)
      add({edit("kernels.attention", static_cast<double>(AttentionKernel::fused))});
    if (now.elementwise != ElementwiseKernel::fused)
      add({edit("kernels.elementwise", static_cast<double>(ElementwiseKernel::fused))});
  }

  void schedules() {
    // A plan that no launcher runs is bound to none. Of one that cannot run, a schedule that any launcher runs comes
    // before those that none does.
    const bool faulty = report_.has_errors();
    std::vector<Framework> by = faulty ? std::vector<Framework>{} : launchers();
    for (std::size_t f = 0; faulty && f < kFrameworks; ++f)
      if (static_cast<Framework>(f) != Framework::jax) by.push_back(static_cast<Framework>(f));
    const int layers = (s_.model.n_layers + s_.parallelism.pipeline - 1) / s_.parallelism.pipeline;
    std::vector<Fix> others;  // that no launcher runs
    bool one_launched = false;
    for (const ScheduleKind kind : kSchedules) {
      const bool same = kind == s_.pipeline.schedule;
      const int least = default_virtual_stages(kind), most = varies_chunks(kind) ? layers : least;
      for (int v = least; v <= most; ++v) {
        Fix fix;
        if (!same) fix.push_back(edit("pipeline.schedule", static_cast<double>(kind)));
        if (v != s_.pipeline.virtual_stages) fix.push_back(edit("pipeline.virtual_stages", v));
        if (fix.empty()) continue;
        const bool launched = is_launched(fix, by);
        one_launched = one_launched || launched;
        if (launched || (same && !faulty))
          add(fix);
        else
          others.push_back(std::move(fix));
      }
    }
    if (by.empty() || (faulty && !one_launched))
      for (const Fix& fix : others) add(fix);
  }

  void serving() {
    add_values("serving.kv_split", static_cast<double>(s_.serving.kv_split), 0, 2);
    for (const int chunk : {0, 256, 512, 1024, 2048, 4096, 8192})
      if (chunk != s_.serving.prefill_chunk_tokens) add({edit("serving.prefill_chunk_tokens", chunk)});
    if (s_.serving.draft_tokens > 0) add({edit("serving.draft_tokens", 0)});
    const bool bounded = s_.workload.slo.any();
    const double most = report_.quantities.value_or(Q::max_batch, 0), now = s_.workload.batch;
    const bool fits = report_.quantities.value_or(Q::memory_free, 0) >= 0;
    if (!bounded && fits) return;
    for (auto batch = static_cast<double>(least_decoding_batch(s_.parallelism)); batch <= std::max(most, now);
         batch *= 2)
      if (batch != now) add({edit("workload.batch", batch)});
    if (most >= 1 && most != now) add({edit("workload.batch", most)});
  }

  const Scenario& s_;
  const Report& report_;
  std::vector<Fix> all_;
};

}  // namespace

Scenario after_fix(const Scenario& s, const Fix& fix) {
  Scenario out = s;
  for (const FieldEdit& e : fix)
    if (e.field != nullptr) apply(out, e);
  return out;
}

std::vector<Fix> single_edits(const Scenario& s, const Report& report) { return Neighbours(s, report).take(); }

}  // namespace roofscape::engine
