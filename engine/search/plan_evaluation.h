// What a search says of single plans: evaluated whole, as everything else that shows a scenario does it.
#pragma once

#include "engine/evaluate/evaluate.h"
#include "engine/pipeline/order_span.h"
#include "engine/search/candidates.h"
#include "engine/search/search.h"

namespace roofscape::engine {

RankedPlan ranked(const Plan& plan, const Report& report);
RankedPlan with_alike(RankedPlan one, const Alike& alike);
// What the fullest device lacks, of which `min_free` is to stay free; nothing where that fits.
Shortage shortage_of(const Report& report, double min_free);

// Evaluates plans of a scenario, one after the other.
class PlanEvaluation {
 public:
  // `spans`: orders that somebody keeps.
  PlanEvaluation(const Scenario& s, OrderSpans& spans) : edited_(s), spans_(spans) {}
  const Report& report(const Plan& plan) {
    apply(edited_, plan);
    evaluate(edited_, scratch_, report_);
    return report_;
  }
  // Of a plan that can run.
  RankedPlan ranked(const Plan& plan) {
    apply(edited_, plan);
    evaluate_quantities(edited_, scratch_, spans_, report_);
    return engine::ranked(plan, report_);
  }
  RankedPlan listed(const Alike& alike) { return with_alike(ranked(alike.simplest.plan), alike); }

 private:
  Scenario edited_;
  OrderSpans& spans_;
  EvaluationScratch scratch_;
  Report report_;
};

}  // namespace roofscape::engine
