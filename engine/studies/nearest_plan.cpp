#include "engine/studies/nearest_plan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "engine/evaluate/diagnose.h"
#include "engine/evaluate/evaluate.h"
#include "engine/frameworks/rules.h"
#include "engine/model/model_check.h"
#include "engine/pipeline/schedule.h"
#include "engine/scenario/mesh_size.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/serving/serving_inputs.h"
#include "engine/training/stage_time.h"

namespace roofscape::engine {

namespace {

constexpr int kMostTried = 300;  // meshes, of one value of what was edited
constexpr double kIdleOctave = 6, kProductOctave = 1000, kOpened = 0.5;
constexpr std::string_view kMissingFigure = "chip.missing_figure";

// The axes whose degrees multiply to the chips, in the order ties are broken in.
enum Part : std::uint8_t { tensor, context, pipeline, fsdp, data };
constexpr std::size_t kParts = 5;
using Mesh = std::array<int, kParts>;
constexpr std::array<double, kParts> kWeights{17, 5, 9, 2, 2};
constexpr std::array<std::string_view, kParts> kPaths{"parallelism.tensor", "parallelism.context",
                                                      "parallelism.pipeline", "parallelism.fsdp", "parallelism.data"};
constexpr std::array<std::int64_t, kParts> kMostOf{kMostTensorDegree, kMostContextDegree, kMostPipelineDegree,
                                                   kMostDataDegree, kMostDataDegree};
constexpr std::array<Axis, kParts> kAxes{Axis::tensor, Axis::context, Axis::pipeline, Axis::fsdp, Axis::data};

Mesh mesh_of(const Scenario& s) {
  const Parallelism& p = s.parallelism;
  return {p.tensor, p.context, p.pipeline, p.fsdp, p.data};
}
void put_mesh(Scenario& s, const Mesh& m) {
  Parallelism& p = s.parallelism;
  p.tensor = m[tensor], p.context = m[context], p.pipeline = m[pipeline], p.fsdp = m[fsdp], p.data = m[data];
}
std::int64_t product(const Mesh& m) {
  std::int64_t all = 1;
  for (const int degree : m) all = std::min<std::int64_t>(all * degree, std::int64_t{1} << 40);
  return all;
}

bool is_held(const NearestPlanOptions& options, std::string_view path) {
  return std::find(options.held.begin(), options.held.end(), path) != options.held.end();
}

std::int64_t prefill_chips(const Scenario& s) {
  return s.serves() && s.serving.disaggregated ? static_cast<std::int64_t>(mesh_chips(prefill_parallelism(s))) : 0;
}

int largest_divisor(int whole, int most) {
  int d = std::clamp(most, 1, std::max(1, whole));
  while (d > 1 && whole % d != 0) --d;
  return d;
}

// Divisors of any of the numbers, powers of two, and `now`: at most `most`.
std::vector<int> degrees(std::int64_t most, std::initializer_list<std::int64_t> wholes, int now) {
  std::vector<int> all;
  for (std::int64_t v = 1; v <= most; v *= 2) all.push_back(static_cast<int>(v));
  for (const std::int64_t whole : wholes)
    for (std::int64_t d = 1; d * d <= whole; ++d)
      if (whole % d == 0)
        for (const std::int64_t one : {d, whole / d})
          if (one <= most) all.push_back(static_cast<int>(one));
  if (now <= most) all.push_back(now);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

class Nearest {
 public:
  Nearest(const Scenario& before, const Scenario& wanted, const NearestPlanOptions& options)
      : options_(options), from_(mesh_of(before)), wanted_(wanted) {
    const std::int64_t chips = std::max<std::int64_t>(1, chip_count(wanted.cluster) - prefill_chips(wanted));
    const std::int64_t was = product(from_);
    limit_ = std::min(was, chips);
    // A mesh that has been larger than its cluster has nothing to keep.
    strict_ = options.keep_product && was <= chips;
  }

  std::optional<Scenario> find() {
    if (!strict_ && runs(wanted_)) return wanted_;
    if (model_fault(wanted_.model) || !experts_divide()) return std::nullopt;  // no mesh mends it
    // With the product kept there is next to always a mesh, and of these there are few.
    if (strict_)
      if (auto found = find_among(true)) return found;
    return find_among(false);
  }

 private:
  bool runs(const Scenario& s) {
    return (!options_.runs_on || broken_rule(*options_.runs_on, s) == nullptr) && check_.runs(s);
  }
  void keep_rules(Scenario& s) const {
    if (options_.runs_on) mend_for(*options_.runs_on, s);
  }

  struct Entry {
    double cost;
    Mesh mesh;
  };

  // False: expert ranks that are held contradict the model, on any mesh.
  bool experts_divide() const {
    const int ranks = wanted_.parallelism.expert;
    if (!is_held(options_, "parallelism.expert")) return true;
    return wanted_.model.is_moe() ? wanted_.model.moe.n_routed_experts % ranks == 0 : ranks == 1;
  }

  std::optional<Scenario> find_among(bool exact) {
    std::vector<Entry> heap;
    each_mesh(exact, [&](double cost, const Mesh& m) { heap.push_back({cost, m}); });
    const auto later = [](const Entry& a, const Entry& b) {
      return a.cost != b.cost ? a.cost > b.cost : a.mesh > b.mesh;
    };
    std::make_heap(heap.begin(), heap.end(), later);
    Scenario tried = wanted_;
    for (int n = 0; n < kMostTried && !heap.empty(); ++n) {
      std::pop_heap(heap.begin(), heap.end(), later);
      if (runs_with_followers(heap.back().mesh, tried)) return tried;
      heap.pop_back();
    }
    return std::nullopt;
  }

  // A degree that an axis may take, and what the change to it counts.
  struct Degree {
    int n;
    double cost;
  };
  Degree counted(Part part, int n) const {
    if (n == from_[part] || is_held(options_, kPaths[part])) return {n, 0};
    const double weight = kAxes[part] == options_.partner ? 1 : kWeights[part];
    const double octaves = std::abs(std::log2(static_cast<double>(n) / from_[part]));
    return {n, weight * octaves + (from_[part] == 1 ? kOpened : 0)};
  }
  double idle_cost(std::int64_t chips) const {
    return std::log2(static_cast<double>(limit_) / static_cast<double>(chips)) *
           (strict_ ? kProductOctave : kIdleOctave);
  }

  // Every mesh within the chips that does not contradict the sizes of model and batch; the rest is for evaluate.
  template <class Take>
  void each_mesh(bool exact, Take&& take) const {
    const Scenario& s = wanted_;
    const bool trains = !s.serves();
    const int batch = trains ? s.workload.global_batch_sequences : s.workload.batch;
    const Mesh now = mesh_of(s);
    const auto choices = [&](Part part, std::initializer_list<std::int64_t> wholes, bool free = true) {
      std::vector<Degree> out;
      if (!free || is_held(options_, kPaths[part]))
        out.push_back(counted(part, now[part]));
      else
        for (const int n : degrees(std::min(limit_, kMostOf[part]), wholes, from_[part]))
          out.push_back(counted(part, n));
      return out;
    };
    const auto heads = choices(tensor, {s.model.n_heads}), ranks = choices(context, {}),
               stages = choices(pipeline, {}), shards = choices(fsdp, {limit_, batch}, trains || from_[fsdp] > 1),
               replicas = choices(data, {limit_, batch});
    for (const auto& [t, t_cost] : heads) {
      if (s.model.n_heads % t != 0) continue;
      for (const auto& [c, c_cost] : ranks) {
        if (std::int64_t{t} * c > limit_ || (trains && s.workload.sequence_length % c != 0)) continue;
        for (const auto& [p, p_cost] : stages) {
          const std::int64_t inner = std::int64_t{t} * c * p;
          if (p > s.model.n_layers || inner > limit_) continue;
          for (const auto& [f, f_cost] : shards) {
            if (inner * f > limit_ || (trains && batch % f != 0) || (exact && limit_ % (inner * f) != 0)) continue;
            for (const auto& [d, d_cost] : replicas) {
              const std::int64_t chips = inner * f * d;
              if (exact && chips != limit_) continue;
              if (chips > limit_) break;
              const std::int64_t fed = std::int64_t{f} * d * (trains ? 1 : p);
              if (fed > batch || (trains && batch % fed != 0)) continue;
              take(t_cost + c_cost + p_cost + f_cost + d_cost + idle_cost(chips), Mesh{t, c, p, f, d});
            }
          }
        }
      }
    }
  }

  // `s`: the wanted scenario, whatever mesh was tried in it before.
  bool runs_with_followers(const Mesh& mesh, Scenario& s) {
    if (options_.runs_on)
      s = wanted_;  // whatever was mended
    else
      s.parallelism = wanted_.parallelism, s.pipeline = wanted_.pipeline;
    put_mesh(s, mesh);
    Parallelism& p = s.parallelism;
    const auto& wanted = wanted_.parallelism;
    const int fed = p.data * p.fsdp;
    if (!s.serves() && !is_held(options_, "pipeline.microbatch_sequences"))
      s.pipeline.microbatch_sequences =
          largest_divisor(s.workload.global_batch_sequences / fed, s.pipeline.microbatch_sequences);
    if (s.model.is_moe()) {
      if (!is_held(options_, "parallelism.expert_tensor") && p.expert_tensor > 0 &&
          (p.expert_tensor > p.tensor || p.tensor % p.expert_tensor != 0))
        p.expert_tensor = largest_divisor(p.tensor, p.expert_tensor);
      if (!is_held(options_, "parallelism.expert")) {
        const std::int64_t ranks = expert_ranks(p);
        p.expert = static_cast<int>(std::min<std::int64_t>(wanted.expert, ranks));
        while (p.expert > 1 && (ranks % p.expert != 0 || s.model.moe.n_routed_experts % p.expert != 0)) --p.expert;
      }
    } else if (!is_held(options_, "parallelism.expert")) {
      p.expert = 1;
    }
    keep_rules(s);
    if (!with_schedule(s)) return false;
    keep_rules(s);
    if (runs(s)) return true;
    // A rate that the chip does not have is no matter of the mesh.
    for (const Diagnostic& d : check_.found())
      if (d.code == "chip.no_rate" && !d.fix.empty() && !is_held(options_, "precision.compute")) {
        for (const FieldEdit& edit : Fix(d.fix)) apply(s, edit);
        if (runs(s)) return true;
        s.precision = wanted_.precision;
        return false;
      }
    return false;
  }

  // The schedule as it is, else one near it that can run with this many stages and microbatches.
  bool with_schedule(Scenario& s) const {
    if (s.serves() || s.parallelism.pipeline <= 1) return true;
    const ScheduleKind kind = s.pipeline.schedule;
    const int chunks = s.pipeline.virtual_stages;
    const bool kind_held = is_held(options_, "pipeline.schedule"),
               chunks_held = is_held(options_, "pipeline.virtual_stages");
    const auto legal = [&](ScheduleKind which, int count) {
      s.pipeline.schedule = which;
      s.pipeline.virtual_stages = count;
      const ScheduleShape shape = stage_key(s).shape;
      return check_schedule(shape).legal() &&
             layers_suffice(layer_split(s), shape.kind, shape.stages, std::max(1, passes_per_device(shape)));
    };
    if (legal(kind, chunks)) return true;
    const int most = std::max(8, chunks);
    for (int away = 1; away < most && !chunks_held; ++away)
      for (const int count : {chunks - away, chunks + away})
        if (count >= 1 && count <= most && legal(kind, count)) return true;
    if (!kind_held && legal(ScheduleKind::interleaved_1f1b, chunks)) return true;
    if (!kind_held && legal(ScheduleKind::one_f_one_b, chunks_held ? chunks : 1)) return true;
    s.pipeline.schedule = kind;
    s.pipeline.virtual_stages = chunks;
    return false;
  }

  const NearestPlanOptions& options_;
  const Mesh from_;
  const Scenario& wanted_;
  std::int64_t limit_ = 1;
  bool strict_ = false;
  PlanCheck check_;
};

// Half way to what it was, as octaves go: a power of two, or what it was.
double nearer(double value, double was) {
  if (value > was) {
    double lower = std::exp2(std::ceil(std::log2(std::max(value, 1.0))) - 1);
    if (!(lower < value)) lower = value / 2;
    return std::max(lower, was);
  }
  return std::min(std::exp2(std::floor(std::log2(std::max(value, 0.5))) + 1), was);
}

// Prefill ranks have a mesh of their own: what one axis takes its replicas give, and where that is not enough decoding
// does.
void settle_prefill(const Scenario& before, Scenario& wanted, const NearestPlanOptions& options) {
  if (is_held(options, "serving.prefill.data")) return;
  const std::int64_t was = prefill_chips(before);
  PrefillPlan& p = wanted.serving.prefill;
  const std::int64_t replica = std::int64_t{p.tensor} * p.context * p.pipeline;
  p.data = static_cast<int>(std::clamp<std::int64_t>(was / replica, 1, kMostDataDegree));
}

bool of_prefill_mesh(std::string_view path) {
  return path.starts_with("serving.prefill.") && path != "serving.prefill.expert";
}

// Both meshes anew: one mesh on all chips, of which prefill takes its part again where that can be.
std::optional<Scenario> apart_anew(const Scenario& before, const Scenario& wanted,
                                   const NearestPlanOptions& options) {
  Scenario together = wanted;
  together.serving.disaggregated = false;
  together.serving.prefill = {};
  auto shared = Nearest(before, together, options).find();
  if (!shared) return std::nullopt;
  Scenario apart = *shared;
  apart.serving.disaggregated = true;
  NearestPlan split = nearest_disaggregated(*shared, apart);
  return split.runs ? std::move(split.scenario) : std::move(*shared);
}

}  // namespace

bool PlanCheck::runs(const Scenario& s) {
  const Parallelism& p = s.parallelism;
  QuantityValues& q = report_.quantities;
  q.clear();
  q.set(Q::chips_used, s.serves() ? serving_chips(s) : mesh_chips(p));
  q.set(Q::data_ranks, static_cast<double>(data_ranks(p)));
  // Known, so that nobody looks for figures of the chip that are missing; how long it takes no error asks.
  q.set(s.serves() ? Q::time_per_output_token : Q::step_time, 0);
  report_.pipeline.status = {};
  if (!s.serves()) {
    const ScheduleShape shape = stage_key(s).shape;
    q.set(Q::microbatches, shape.microbatches);
    report_.pipeline.shape = shape;
    if (shape.stages > 1) {
      report_.pipeline.status = check_schedule(shape);
      const int virtual_stages = shape.stages * std::max(1, passes_per_device(shape));
      split_layers(layer_split(s), shape.kind, virtual_stages, report_.pipeline.layers);
    }
  }
  diagnose(s, report_);
  return engine::runs(report_);
}

bool runs(const Report& report) {
  return std::none_of(report.diagnostics.begin(), report.diagnostics.end(),
                      [](const Diagnostic& d) { return d.severity == Severity::error && d.code != kMissingFigure; });
}

NearestPlan nearest_plan_that_runs(const Scenario& before, const Scenario& wanted,
                                   const NearestPlanOptions& options) {
  const Field* one = options.held.size() == 1 ? find_field(options.held.front()) : nullptr;
  const bool approached =
      !options.exact && one != nullptr && (one->kind == FieldKind::integer || one->kind == FieldKind::number);
  Scenario tried = wanted;
  for (;;) {
    Scenario meshed = tried;
    if (options.keep_product && one != nullptr && of_prefill_mesh(one->path)) settle_prefill(before, meshed, options);
    NearestPlanOptions now = options;
    now.keep_product = options.keep_product && (one == nullptr || !of_prefill_mesh(one->path));
    if (auto found = Nearest(before, meshed, now).find())
      return {std::move(*found), true, one == nullptr || one->get(tried) == one->get(wanted)};
    if (!approached || one->get(tried) == one->get(before)) break;
    const double present = one->get(tried), was = one->get(before);
    double value = nearer(present, was);
    if (one->kind == FieldKind::integer) value = std::round(value);
    one->set(tried, value == present ? was : value);  // half of one is rounded to one
  }
  const bool of_subject = one == nullptr || one->path.starts_with("cluster.") || one->path.starts_with("model.");
  if (wanted.serves() && wanted.serving.disaggregated && before.serving.disaggregated && of_subject)
    if (auto found = apart_anew(before, wanted, options)) return {std::move(*found), true, true};
  return {wanted, false, true};
}

NearestPlan nearest_plan_on(Framework framework, const Scenario& s) {
  Scenario wanted = s;
  mend_for(framework, wanted);
  NearestPlanOptions options;
  options.runs_on = framework;
  return nearest_plan_that_runs(wanted, wanted, options);
}

NearestPlan nearest_disaggregated(const Scenario& before, const Scenario& wanted) {
  constexpr std::array<std::string_view, 1> kHeld{"serving.disaggregated"};
  const NearestPlanOptions options{kHeld, Axis::data, false, true};
  PlanCheck check;
  if (check.runs(wanted)) return {wanted, true, true};
  const PrefillPlan unset;
  const PrefillPlan& p = wanted.serving.prefill;
  const bool set = std::pair(p.data, p.tensor) != std::pair(unset.data, unset.tensor) ||
                   std::pair(p.context, p.pipeline) != std::pair(unset.context, unset.pipeline);
  if (set) return nearest_plan_that_runs(before, wanted, options);

  std::optional<Scenario> best;
  std::pair<bool, double> best_score{false, -1};
  EvaluationScratch scratch;
  Report report;
  const auto consider = [&](const Scenario& s) {
    if (!check.runs(s)) return;
    evaluate(s, scratch, report);
    const auto& q = report.quantities;
    const std::pair score{report.fits(),
                          std::min(q.value_or(Q::decode_requests, 0), q.value_or(Q::prefill_requests, 0))};
    if (best && !(score > best_score)) return;
    best = s;
    best_score = score;
  };
  // Of `apart` replicas of the decoding mesh prefill takes as many chips, the rest decodes.
  const auto split = [&](int Parallelism::*axis, int whole, int apart) {
    Scenario s = wanted;
    Parallelism& decode = s.parallelism;
    PrefillPlan& prefill = s.serving.prefill;
    decode.*axis = whole - apart;
    prefill.tensor = axis == &Parallelism::tensor ? apart : decode.tensor;
    prefill.context = 1;
    prefill.pipeline = axis == &Parallelism::pipeline ? apart : decode.pipeline;
    const std::int64_t copies = std::int64_t{axis == &Parallelism::data ? apart : decode.data} *
                                (axis == &Parallelism::fsdp ? apart : decode.fsdp) *
                                (axis == &Parallelism::context ? apart : decode.context);
    if (copies > kMostDataDegree) return;
    prefill.data = static_cast<int>(copies);
    if (s.model.is_moe()) {
      const auto experts = [&](std::int64_t ranks, int most) {
        int e = static_cast<int>(std::min<std::int64_t>(ranks, most));
        while (e > 1 && (ranks % e != 0 || s.model.moe.n_routed_experts % e != 0)) --e;
        return e;
      };
      const int was = wanted.parallelism.expert;
      decode.expert = experts(expert_ranks(decode), was);
      prefill.expert = experts(prefill.data, was);
    }
    consider(s);
  };
  for (int Parallelism::*axis : {&Parallelism::data, &Parallelism::fsdp, &Parallelism::context, &Parallelism::tensor,
                                 &Parallelism::pipeline}) {
    const int whole = wanted.parallelism.*axis;
    if (whole <= 1) continue;
    for (int apart = whole / 2; apart >= 1; apart /= 2) {
      split(axis, whole, apart);
      if (axis == &Parallelism::data && apart < whole - apart) split(axis, whole, whole - apart);
    }
    if (best && best_score.first) break;
  }
  if (!best) return nearest_plan_that_runs(before, wanted, options);
  return {std::move(*best), true, true};
}

}  // namespace roofscape::engine
