// What a search has to find, by evaluating every plan of a small space: the list, the front, the cells of the mesh
// map, the near miss and the counts. Shares with the search what the space is (SpaceChoices), and no arithmetic.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/frameworks/rules.h"
#include "engine/search/candidates.h"
#include "engine/search/pricing.h"
#include "engine/search/search.h"

namespace roofscape::tests {

struct EnumeratedPlan {
  engine::RankedPlan ranked;
  double score = 0, limit_bytes = 0;
  bool has_errors = false;
  std::optional<engine::Rejection> rejected;
};

// Of the objective, from the numbers of the report.
inline double score_of(const engine::Report& report, engine::Objective objective) {
  using engine::Q;
  const auto& q = report.quantities;
  switch (objective) {
    case engine::Objective::step_time:
      return q.value_or(Q::step_time, 0);
    case engine::Objective::throughput:
      return -q.value_or(Q::tokens_per_s_per_chip, 0);
    case engine::Objective::cost:
      return q[Q::run_cost] ? *q[Q::run_cost] : q.value_or(Q::run_chip_hours, 0);
    case engine::Objective::memory:
      return q.value_or(Q::memory_total, 0);
  }
  return 0;
}

inline engine::RankedPlan ranked_by_report(const engine::Plan& plan, const engine::Report& report) {
  using engine::Q;
  const auto& q = report.quantities;
  engine::RankedPlan out;
  out.plan = plan;
  out.step_time_s = q.value_or(Q::step_time, 0);
  out.memory_bytes = q.value_or(Q::memory_total, 0);
  out.mfu = q.value_or(Q::mfu, 0);
  out.tokens_per_s_per_chip = q.value_or(Q::tokens_per_s_per_chip, 0);
  out.cost_usd = q.value_or(Q::run_cost, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < engine::kStepParts.size(); ++i)
    out.step_parts[i] = q.value_or(engine::kStepParts[i], 0);
  return out;
}

class Enumeration {
 public:
  Enumeration(const engine::Scenario& s, const engine::SearchRequest& request) : edited_(s), request_(request) {
    const engine::Plan own = engine::bare_plan(s);
    for (const engine::Plan& setting : engine::settings_tried(s, request.space))
      settings_.push_back(std::make_unique<Setting>(engine::with_settings_of(s, setting), request.space, own));
  }

  std::size_t count() {
    std::size_t n = 0;
    each_mesh([&](const engine::Plan& mesh, const Setting& with) {
      const engine::SpaceChoices& choices = with.choices;
      n += choices.zero_stages(mesh.fsdp, mesh.context).size() * choices.sequence_parallel(mesh.tensor).size() *
           choices.microbatches.size() * choices.policies.size() * choices.chunkings(mesh.pipeline).size() *
           choices.offload_optimizer.size() * choices.offload_activations.size();
    });
    return n;
  }
  std::vector<EnumeratedPlan> evaluated() {
    std::vector<EnumeratedPlan> out;
    each([&](const engine::Plan& plan) { out.push_back(evaluated(plan)); });
    return out;
  }
  // Every plan of the space, legal or not.
  template <class F>
  void each(F&& f) {
    using namespace engine;
    each_mesh([&](Plan plan, const Setting& with) {
      const SpaceChoices& choices = with.choices;
      for (const int zero : choices.zero_stages(plan.fsdp, plan.context))
        for (const bool sp : choices.sequence_parallel(plan.tensor))
          for (const int mb : choices.microbatches)
            for (const CheckpointPolicy policy : choices.policies)
              for (const auto& chunking : choices.chunkings(plan.pipeline))
                for (const bool optimizer : choices.offload_optimizer)
                  for (const bool activations : choices.offload_activations) {
                    plan.zero_stage = static_cast<std::uint8_t>(zero), plan.sequence_parallel = sp;
                    plan.microbatch_sequences = mb, plan.policy = policy, plan.schedule = chunking.kind;
                    plan.virtual_stages = chunking.virtual_stages;
                    plan.offload_optimizer = optimizer, plan.offload_activations = activations;
                    if (choices.has_schedule(plan)) f(plan);
                  }
    });
  }
  EnumeratedPlan evaluated(const engine::Plan& plan) {
    using namespace engine;
    EnumeratedPlan out;
    apply(edited_, plan);
    evaluate(edited_, scratch_, report_);
    out.ranked = ranked_by_report(plan, report_);
    out.has_errors = report_.has_errors();
    out.score = score_of(report_, request_.objective);
    out.limit_bytes = report_.quantities.value_or(Q::hbm_capacity, 0) * (1 - request_.space.min_free);
    out.rejected = rejection(plan, out);
    return out;
  }

 private:
  // The scenario with one combination of settings.
  struct Setting {
    Setting(engine::Scenario with, const engine::PlanSpace& space, const engine::Plan& own)
        : scenario(std::move(with)), choices(scenario, space, own) {}
    engine::Scenario scenario;
    engine::SpaceChoices choices;
  };

  // Every mesh of the space, as a plan.
  template <class F>
  void each_mesh(F&& f) {
    const engine::PlanSpace& space = request_.space;
    for (const auto& with : settings_) {
      const engine::SpaceChoices& choices = with->choices;
      for (const auto& group : choices.groups)
        for (const int pipeline : choices.data_divisors)
          for (const int fsdp : choices.data_divisors) {
            const int rest = group.mesh.data;  // what data, fsdp and pipeline share
            if (rest % pipeline != 0 || rest / pipeline % fsdp != 0) continue;
            engine::Plan plan = group.mesh;
            plan.pipeline = pipeline, plan.fsdp = fsdp, plan.data = rest / pipeline / fsdp;
            if (space.pipeline.allows(pipeline) && space.fsdp.allows(fsdp) && space.data.allows(plan.data) &&
                choices.has_mesh(plan))
              f(plan, *with);
          }
    }
  }
  std::optional<engine::Rejection> rejection(const engine::Plan& plan, const EnumeratedPlan& found) {
    using namespace engine;
    const Setting& with = **std::find_if(settings_.begin(), settings_.end(), [&plan](const auto& one) {
      return same_settings(bare_plan(one->scenario), plan);
    });
    const SpaceChoices& choices = with.choices;
    const Scenario& s = with.scenario;
    if (const auto why = choices.reject_group(plan)) return why;
    if (const auto why = choices.reject_mesh(plan)) return why;
    const int microbatches = microbatches_of(plan, s.workload.global_batch_sequences);
    if (microbatches == 0) return Rejection::batch;
    if (choices.reject_sequence_parallel(plan.tensor, plan.sequence_parallel)) return Rejection::experts;
    const ScheduleShape shape = shape_of(plan, microbatches, s.pipeline);
    if (plan.pipeline > 1) {
      if (!layers_suffice(layer_split(s), shape.kind, shape.stages, passes_per_device(shape)))
        return Rejection::layers;
      if (!check_schedule(shape)) return Rejection::schedule;
      if (2.0 * microbatches * virtual_stage_count(shape) > static_cast<double>(kMaxDrawnOps))
        return Rejection::too_long;
    }
    if (request_.space.runs_on && broken_rule(*request_.space.runs_on, edited_) != nullptr) return Rejection::runs_on;
    // Of a pricer that has priced nothing else.
    Pricer pricer(s);
    PlacedMesh mesh;
    PricedLayer layer;
    pricer.place(plan, mesh);
    pricer.price_layer(mesh, plan, layer);
    const int stages = plan.pipeline;
    if (pricer.state_bytes(mesh, layer, plan, (s.model.n_layers + stages - 1) / stages, stages == 1, stages == 1) >
        found.limit_bytes)
      return Rejection::state;
    if (found.ranked.memory_bytes > found.limit_bytes) return Rejection::memory;
    if (!report_.quantities[Q::step_time]) return Rejection::rate;
    return std::nullopt;
  }

  engine::Scenario edited_;
  const engine::SearchRequest& request_;
  std::vector<std::unique_ptr<Setting>> settings_;
  engine::EvaluationScratch scratch_;
  engine::Report report_;
};

// The result that the plans of the space, each evaluated, make.
inline engine::SearchResult expected_result(const std::vector<EnumeratedPlan>& all,
                                            const engine::SearchRequest& request) {
  using namespace engine;
  SearchResult out;
  out.plans = static_cast<double>(all.size());
  const auto key = [](const EnumeratedPlan* p) {
    return std::tuple(p->score, p->ranked.step_time_s, p->ranked.memory_bytes, p->ranked.plan);
  };
  const auto by_key = [&key](const auto* a, const auto* b) { return key(a) < key(b); };
  const auto by_time = [](const auto* a, const auto* b) {
    const auto time_key = [](const EnumeratedPlan* p) {
      return std::tuple(p->ranked.step_time_s, p->ranked.memory_bytes, p->ranked.plan);
    };
    return time_key(a) < time_key(b);
  };
  const auto by_memory = [](const auto* a, const auto* b) {
    const auto memory_key = [](const EnumeratedPlan* p) {
      return std::tuple(p->ranked.memory_bytes, p->ranked.step_time_s, p->ranked.plan);
    };
    return memory_key(a) < memory_key(b);
  };
  std::vector<const EnumeratedPlan*> fit, near;
  struct Cell {
    SearchCell cell;
    const EnumeratedPlan* best = nullptr;
    double missing = std::numeric_limits<double>::infinity();
  };
  std::map<std::pair<int, int>, Cell> cells;
  for (const EnumeratedPlan& p : all) {
    const Plan& plan = p.ranked.plan;
    Cell& cell = cells[{plan.tensor, plan.pipeline}];
    cell.cell.tensor = plan.tensor, cell.cell.pipeline = plan.pipeline;
    ++cell.cell.plans;
    if (!p.rejected) {
      fit.push_back(&p);
      ++cell.cell.fit;
      if (cell.best == nullptr || by_key(&p, cell.best)) cell.best = &p;
      continue;
    }
    ++out.rejected[static_cast<std::size_t>(*p.rejected)];
    ++cell.cell.rejected[static_cast<std::size_t>(*p.rejected)];
    if (*p.rejected == Rejection::memory || *p.rejected == Rejection::state)
      cell.missing = std::min(cell.missing, p.ranked.memory_bytes - p.limit_bytes);
    if (*p.rejected == Rejection::memory && p.ranked.step_time_s > 0 &&
        p.ranked.memory_bytes <= (1 + kNearMissShare) * p.limit_bytes)
      near.push_back(&p);
  }
  out.fit = static_cast<double>(fit.size());

  // The list.
  std::sort(fit.begin(), fit.end(), by_key);
  if (!request.merge_alike) {
    for (const EnumeratedPlan* p : fit) {
      RankedPlan& one = out.best.emplace_back(p->ranked);
      one.least_alike = one.plan, one.least_alike_bytes = one.memory_bytes;
    }
  } else {
    std::map<std::tuple<double, double, Plan>, std::vector<const EnumeratedPlan*>> groups;
    for (const EnumeratedPlan* p : fit)
      groups[{p->score, p->ranked.step_time_s, shape_without_knobs(p->ranked.plan)}].push_back(p);
    std::vector<const EnumeratedPlan*> simplest;
    std::map<Plan, std::pair<int, const EnumeratedPlan*>> alike;
    for (auto& [group_key, group] : groups) {
      const auto simple = *std::min_element(
          group.begin(), group.end(), [](const auto* a, const auto* b) { return a->ranked.plan < b->ranked.plan; });
      const auto least = *std::min_element(group.begin(), group.end(), [](const auto* a, const auto* b) {
        return std::tie(a->ranked.memory_bytes, a->ranked.plan) < std::tie(b->ranked.memory_bytes, b->ranked.plan);
      });
      simplest.push_back(simple);
      alike[simple->ranked.plan] = {static_cast<int>(group.size()) - 1, least};
    }
    std::sort(simplest.begin(), simplest.end(), by_key);
    for (const EnumeratedPlan* p : simplest) {
      RankedPlan& one = out.best.emplace_back(p->ranked);
      const auto& [others, least] = alike[one.plan];
      one.alike = others, one.least_alike = least->ranked.plan, one.least_alike_bytes = least->ranked.memory_bytes;
    }
  }
  if (out.best.size() > request.limit) out.best.resize(request.limit);

  // The front: in ascending memory each is faster than all before it.
  std::sort(fit.begin(), fit.end(), by_memory);
  for (const EnumeratedPlan* p : fit)
    if (out.front.empty() || p->ranked.step_time_s < out.front.back().step_time_s) out.front.push_back(p->ranked);

  if (!near.empty()) {
    const EnumeratedPlan* fastest = *std::min_element(near.begin(), near.end(), by_time);
    if (out.front.empty() || fastest->ranked.step_time_s < out.front.back().step_time_s) {
      out.near_miss.emplace();
      out.near_miss->plan = fastest->ranked;
      out.near_miss->shortage.missing_bytes = fastest->ranked.memory_bytes - fastest->limit_bytes;
    }
  }
  for (auto& [degrees, cell] : cells) {
    SearchCell& one = cell.cell;
    const auto rejected = [&one](Rejection why) { return one.rejected[static_cast<std::size_t>(why)]; };
    if (cell.best != nullptr) {
      one.best = cell.best->ranked;
    } else if (std::isfinite(cell.missing)) {
      one.reason = rejected(Rejection::memory) > 0 ? Rejection::memory : Rejection::state;
      one.missing_bytes = cell.missing;
    } else {
      const auto most = std::max_element(one.rejected.begin(), one.rejected.end());
      one.reason = static_cast<Rejection>(most - one.rejected.begin());
    }
    if (request.cells) out.cells.push_back(one);
  }
  return out;
}

}  // namespace roofscape::tests
