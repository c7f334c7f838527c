#include "engine/offers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "engine/pipeline/schedule.h"
#include "engine/provenance.h"
#include "engine/scenario_fields.h"
#include "engine/training/stage_cost.h"

namespace roofscape::engine {
namespace {

constexpr double kOperationsOfAChunk = 3;  // forward, and backward in two halves, of a microbatch
constexpr double kMostOperations = 20000;
constexpr std::size_t kMostEdits = 8;      // of one fix
constexpr std::size_t kSecondSteps = 6;  // plans from which a second change is tried

FieldEdit edit(std::string_view path, double value) { return {find_field(path), value}; }

bool touches_only(const Fix& fix, std::string_view group) {
  return std::all_of(fix.begin(), fix.end(), [group](const FieldEdit& e) {
    return e.field != nullptr && e.field->path.starts_with(group);
  });
}

Scenario applied(const Scenario& s, const Fix& fix) {
  Scenario out = s;
  for (const FieldEdit& e : fix)
    if (e.field != nullptr) apply(out, e);
  return out;
}

// Evaluates changed scenarios one after the other, in the same memory.
class Prices {
 public:
  const Report& of(const Scenario& s) {
    evaluate(s, scratch_, report_);
    return report_;
  }

 private:
  EvaluationScratch scratch_;
  Report report_;
};

bool has_finding(const Report& report, std::string_view code) {
  return std::any_of(report.diagnostics.begin(), report.diagnostics.end(),
                     [code](const Diagnostic& d) { return d.code == code; });
}

Gain gain_between(const Scenario& s, const Report& before, const Standing& was, const Scenario& changed,
                  const Report& after, const Standing& now) {
  Gain gain;
  gain.memory_bytes = now.memory_bytes;
  const bool same_work = s.workload == changed.workload;
  const bool timed = !s.serves() && !changed.serves() && same_work;
  gain.timed = timed;
  gain.before = !was.runs ? 0 : timed ? before.quantities.value_or(Q::step_time, 0) : was.rate;
  gain.after = timed ? after.quantities.value_or(Q::step_time, 0) : now.rate;
  gain.measure = !was.runs                   ? GainMeasure::runs
                 : !was.fits && now.fits     ? GainMeasure::fits
                 : !was.keeps_promise && now.keeps_promise ? GainMeasure::promise
                 : s.serves()                ? GainMeasure::serving_rate
                 : timed                     ? GainMeasure::step_time
                                             : GainMeasure::train_rate;
  return gain;
}

std::optional<Gain> gain_of(const Scenario& s, const Report& report, const Fix& fix, std::string_view code,
                            Prices& prices) {
  const Standing was = standing(s, report);
  const Scenario changed = applied(s, fix);
  if (changed == s) return std::nullopt;
  const Report& after = prices.of(changed);
  const Standing now = standing(changed, after);
  if (!now.runs) return std::nullopt;
  if (touches_only(fix, "assumptions.")) {
    if (code.empty() || has_finding(after, code) || !was.runs || now.fits < was.fits) return std::nullopt;
    Gain gain;
    gain.measure = GainMeasure::settles;
    gain.memory_bytes = now.memory_bytes;
    return gain;
  }
  if (!better(now, was)) return std::nullopt;
  return gain_between(s, report, was, changed, after, now);
}

// The changes one step away.
class Neighbours {
 public:
  Neighbours(const Scenario& s, const Report& report) : s_(s), report_(report) {
    mesh();
    if (s.serves()) serving();
    else training();
  }
  std::vector<Fix> take() {
    std::erase_if(all_, [this](const Fix& fix) { return !may_run(applied(s_, fix)); });
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
    if (static_cast<std::int64_t>(p.data) * p.fsdp * p.tensor * p.context * p.pipeline > chip_count(changed.cluster))
      return false;
    if (changed.model.n_heads % p.tensor != 0) return false;
    if (changed.serves() || p.pipeline == 1) return true;
    const double chunks = double(p.pipeline) * changed.pipeline.virtual_stages;
    if (chunks > changed.model.n_layers) return false;
    const double operations = kOperationsOfAChunk * chunks * microbatch_count(changed);
    const double now = kOperationsOfAChunk * double(s_.parallelism.pipeline) * s_.pipeline.virtual_stages *
                       microbatch_count(s_);
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
        grow(from, from.degree / f);
      }
    // Chips that nothing runs on.
    const double used = double(p.data) * p.fsdp * p.tensor * p.context * p.pipeline;
    const double idle = static_cast<double>(chip_count(s_.cluster)) / used;
    for (int f = 2; f <= idle; ++f)
      if (std::fmod(idle, f) == 0)
        for (const MeshAxis& axis : axes) grow(axis, double(axis.degree) * f);
    if (s_.model.is_moe())
      for (int e = 1; e <= s_.model.moe.n_routed_experts; ++e)
        if (s_.model.moe.n_routed_experts % e == 0 && e != p.expert) add_mesh({edit("parallelism.expert", e)});
  }
  void grow(const MeshAxis& axis, double degree) { add_mesh({edit(axis.path, degree)}); }

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
    const int ranks = p.data * p.fsdp;
    const int sequences = ranks > 0 ? s_.workload.global_batch_sequences / ranks : 0;
    for (int m = 1; m <= sequences; ++m)
      if (sequences % m == 0 && m != s_.pipeline.microbatch_sequences)
        add({edit("pipeline.microbatch_sequences", m)});
    add_values("parallelism.zero_stage", p.zero_stage, 0, 3);
    for (const CheckpointPolicy policy : {CheckpointPolicy::none, CheckpointPolicy::attention,
                                          CheckpointPolicy::big_matmuls, CheckpointPolicy::block})
      if (policy != s_.checkpointing.policy) add({edit("checkpointing.policy", static_cast<double>(policy))});
    if (p.tensor > 1) add({edit("parallelism.sequence_parallel", p.sequence_parallel ? 0 : 1)});
    if (p.context > 1) add_values("parallelism.context_method", static_cast<double>(p.context_method), 0, 2);
    add({edit("offload.optimizer", s_.offload.optimizer ? 0 : 1)});
    add({edit("offload.activations", s_.offload.activations ? 0 : 1)});
    if (p.pipeline > 1) schedules();
  }

  void schedules() {
    const int layers = (s_.model.n_layers + s_.parallelism.pipeline - 1) / s_.parallelism.pipeline;
    for (int k = 0; k < kScheduleKinds; ++k) {
      const auto kind = static_cast<ScheduleKind>(k);
      const bool same = kind == s_.pipeline.schedule;
      const bool free = kind == ScheduleKind::interleaved_1f1b || kind == ScheduleKind::looped_bfs;
      const int least = free ? 2 : default_virtual_stages(kind), most = free ? layers : least;
      for (int v = least; v <= most; ++v) {
        Fix fix;
        if (!same) fix.push_back(edit("pipeline.schedule", k));
        if (v != s_.pipeline.virtual_stages) fix.push_back(edit("pipeline.virtual_stages", v));
        if (!fix.empty()) add(fix);
      }
    }
  }

  void serving() {
    add_values("serving.kv_split", static_cast<double>(s_.serving.kv_split), 0, 2);
    for (const int chunk : {0, 256, 512, 1024, 2048, 4096, 8192})
      if (chunk != s_.serving.prefill_chunk_tokens) add({edit("serving.prefill_chunk_tokens", chunk)});
    if (s_.serving.draft_tokens > 0) add({edit("serving.draft_tokens", 0)});
    const ServiceLevel& slo = s_.workload.slo;
    const bool bounded = slo.ttft_s > 0 || slo.time_per_output_token_s > 0;
    const double most = report_.quantities.value_or(Q::max_batch, 0), now = s_.workload.batch;
    const bool fits = report_.quantities.value_or(Q::memory_free, 0) >= 0;
    if (!bounded && fits) return;
    const double ranks = double(s_.parallelism.data) * s_.parallelism.fsdp * s_.parallelism.pipeline;
    for (double batch = ranks; batch <= std::max(most, now); batch *= 2)
      if (batch != now) add({edit("workload.batch", batch)});
    if (most >= 1 && most != now) add({edit("workload.batch", most)});
  }

  const Scenario& s_;
  const Report& report_;
  std::vector<Fix> all_;
};

struct Candidate {
  Fix fix;
  Standing standing;
};

// A plan that does not fit is no plan: it is offered only where it is faster than one that does not fit either.
bool serves_its_end(const Standing& was, const Standing& now) {
  if (!was.runs || !was.fits) return now.runs && now.fits;
  return better(now, was);
}

}  // namespace

Standing standing(const Scenario& s, const Report& report) {
  Standing out;
  out.runs = !report.has_errors();
  out.memory_bytes = report.quantities.value_or(Q::memory_total, 0);
  out.fits = report.quantities.value_or(Q::memory_free, 0) >= 0;
  out.keeps_promise = true;
  if (s.serves()) {
    const ServiceLevel& slo = s.workload.slo;
    const double token = report.quantities.value_or(
        Q::mixed_token_time_q, report.quantities.value_or(Q::time_per_output_token, 0));
    const double first = report.quantities.value_or(Q::ttft, 0);
    out.keeps_promise = (!(slo.time_per_output_token_s > 0) || token <= slo.time_per_output_token_s) &&
                        (!(slo.ttft_s > 0) || first <= slo.ttft_s);
    const double chips = report.quantities.value_or(Q::cluster_chips, 0);
    const double rate = report.quantities.value_or(Q::sustained_tokens, 0);
    out.rate = chips > 0 ? rate / chips : 0;
  } else {
    out.rate = report.quantities.value_or(Q::tokens_per_s, 0);
  }
  return out;
}

bool better(const Standing& a, const Standing& b) {
  if (a.runs != b.runs) return a.runs;
  if (a.fits != b.fits) return a.fits;
  if (!a.fits) return a.memory_bytes < b.memory_bytes;
  if (a.keeps_promise != b.keeps_promise) return a.keeps_promise;
  return a.rate > b.rate;
}

std::optional<Gain> gain_of(const Scenario& s, const Report& report, const Fix& fix) {
  Prices prices;
  return gain_of(s, report, fix, {}, prices);
}

std::vector<Fix> single_edits(const Scenario& s, const Report& report) { return Neighbours(s, report).take(); }

struct BestEdit::State {
  // A plan from which changes are tried: the present one, or one that a first change led to.
  struct Start {
    Scenario scenario;
    Fix fix;
    std::vector<Fix> changes;
  };
  Scenario scenario;
  Report report;
  Standing was;
  Prices prices;
  Start start;
  std::size_t next = 0;
  std::vector<Candidate> seen;  // after the first change, the least bad first once they are sorted
  std::size_t starts = 0;       // of `seen` that second changes were tried from
  bool second = false;
  std::optional<Candidate> best;

  bool remedied() const { return best && serves_its_end(was, best->standing); }

  // Where second changes begin, or go on from another plan; false when there are no more.
  bool go_on() {
    if ((was.runs && was.fits) || (remedied() && !second)) return false;
    if (!second) {
      second = true;
      std::stable_sort(seen.begin(), seen.end(),
                       [](const Candidate& a, const Candidate& b) { return better(a.standing, b.standing); });
      seen.resize(std::min(seen.size(), kSecondSteps));
    }
    if (starts == seen.size()) return false;
    start.fix = seen[starts++].fix;
    start.scenario = applied(scenario, start.fix);
    start.changes = single_edits(start.scenario, prices.of(start.scenario));
    next = 0;
    return true;
  }
  void try_next() {
    const Fix& change = start.changes[next++];
    if (start.fix.size() + change.size() > kMostEdits) return;
    Fix whole = start.fix;
    for (const FieldEdit& e : change) whole.push_back(e);
    const Scenario changed = applied(start.scenario, change);
    const Standing now = standing(changed, prices.of(changed));
    if (!second) seen.push_back({whole, now});
    if (now.runs && (!best || better(now, best->standing))) best = Candidate{whole, now};
  }
};

BestEdit::BestEdit(const Scenario& s, const Report& report) : state_(std::make_unique<State>()) {
  state_->scenario = s;
  state_->report = report;
  state_->was = standing(s, report);
  state_->start = {s, {}, single_edits(s, report)};
}
BestEdit::~BestEdit() = default;
BestEdit::BestEdit(BestEdit&&) noexcept = default;
BestEdit& BestEdit::operator=(BestEdit&&) noexcept = default;

bool BestEdit::step(int plans) {
  State& at = *state_;
  for (int i = 0; i < plans; ++i) {
    while (at.next == at.start.changes.size())
      if (!at.go_on()) return true;
    at.try_next();
  }
  return false;
}

std::optional<Offer> BestEdit::offer() {
  const State& at = *state_;
  if (!at.remedied()) return std::nullopt;
  const Standing &was = at.was, &now = at.best->standing;
  const bool same_rank = was.runs && was.fits == now.fits && was.keeps_promise == now.keeps_promise;
  if (same_rank && !(now.rate > was.rate * (1 + kWorthOffering))) return std::nullopt;
  if (auto gain = gain_of(at.scenario, at.report, at.best->fix, {}, state_->prices)) return Offer{at.best->fix, *gain};
  return std::nullopt;
}

std::optional<Offer> best_edit(const Scenario& s, const Report& report) {
  BestEdit search(s, report);
  while (!search.step(1024)) {
  }
  return search.offer();
}

std::vector<OfferedFinding> vetted_findings(const Scenario& s, const Report& report) {
  Prices prices;
  std::vector<OfferedFinding> out;
  const Standing was = standing(s, report);
  for (const Diagnostic& d : report.diagnostics) {
    const bool advice = d.code.starts_with("advice.");
    OfferedFinding finding{d, std::nullopt};
    if (!d.fix.empty()) {
      finding.gain = gain_of(s, report, d.fix, d.code, prices);
      // A step that leaves the plan as impossible as it was is no remedy.
      const Scenario changed = applied(s, d.fix);
      if (finding.gain && finding.gain->measure != GainMeasure::settles) {
        const Standing now = standing(changed, prices.of(changed));
        if (!serves_its_end(was, now) || (advice && was.fits && !(now.rate > was.rate * (1 + kWorthOffering))))
          finding.gain.reset();
      }
      if (!finding.gain) finding.diagnostic.fix.clear();
    }
    if (advice && !finding.gain) continue;
    out.push_back(std::move(finding));
  }
  if (const Provenance doubts = unverified_inputs(s); !doubts.inputs.empty())
    out.push_back({{Severity::note, "provenance.unverified",
                    {{static_cast<double>(doubts.inputs.size()), unit::count}}, {}, {}},
                   std::nullopt});
  return out;
}

void add_best_edit(const Scenario& s, const std::optional<Offer>& best, std::vector<OfferedFinding>& findings) {
  if (!best) return;
  Prices prices;
  const auto leads_to = [&](const Fix& fix) {
    const Scenario changed = applied(s, fix);
    return standing(changed, prices.of(changed));
  };
  const Standing top = leads_to(best->fix);
  for (const OfferedFinding& finding : findings)
    if (finding.gain && finding.gain->measure != GainMeasure::settles &&
        !better(top, leads_to(finding.diagnostic.fix)))
      return;
  findings.push_back(
      {{Severity::note, "advice.best_edit", {}, best->fix.front().field->path, best->fix}, best->gain});
}

std::vector<OfferedFinding> offered_findings(const Scenario& s, const Report& report) {
  std::vector<OfferedFinding> findings = vetted_findings(s, report);
  add_best_edit(s, best_edit(s, report), findings);
  return findings;
}

}  // namespace roofscape::engine
