// Orders of operations that are given, in a scenario: what changes, what does not, and what is said where they do not
// suit the plan.
#include <doctest/doctest.h>

#include "engine/evaluate/evaluate.h"
#include "engine/pipeline/given_order.h"
#include "engine/pipeline/order_span.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/studies/schedule_comparison.h"
#include "engine/training/stage_time.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using namespace roofscape::tests;

namespace {

Scenario with_given_order(Scenario s) {
  find_field(kGivenOrder)->set(s, 1);
  return s;
}

const Diagnostic* diagnostic_of(const Report& report, std::string_view code) {
  for (const Diagnostic& d : report.diagnostics)
    if (d.code == code) return &d;
  return nullptr;
}

}  // namespace

TEST_CASE("a plan that is given its schedule's own order has every number that it had, in every schedule and mode") {
  for (const char* id : {"llama3-405b-16k-h100", "deepseek-v3-2048-h800", "gpt3-175b-1024-a100"})
    for (const Mode mode : {Mode::ideal, Mode::calibrated})
      for (const ScheduleKind kind : kSchedules) {
        Scenario s = preset(id);
        s.assumptions.mode = mode;
        s = scenario_under(s, kind);
        const Report before = evaluate(s);
        if (!before.pipeline.status.legal()) continue;
        CAPTURE(id);
        CAPTURE(schedule_id(kind));
        const Scenario listed = with_given_order(s);
        REQUIRE(listed.pipeline.order);
        const Report after = evaluate(listed);
        REQUIRE(after.pipeline.shape.order);
        for (std::size_t i = 0; i < kReportQuantityCount; ++i) {
          const auto q = static_cast<Q>(i);
          // A closed form knows no timeline; an order that is given is always run.
          if (q == Q::pipeline_in_transfer) continue;
          CAPTURE(quantity(q).id);
          CHECK(before.quantities[q] == after.quantities[q]);
        }
        CHECK(before.pipeline.timeline.start == after.pipeline.timeline.start);
        CHECK(before.diagnostics.size() == after.diagnostics.size());
      }
}

TEST_CASE("a long step has every number and every start that its order run whole has, in every schedule and mode") {
  OrderSpans spans;
  Timeline timeline;
  int repeated = 0;
  for (const char* id : {"kimi-k2-2048-h800", "gpt3-175b-1024-a100"})
    for (const Mode mode : {Mode::ideal, Mode::calibrated})
      for (const ScheduleKind kind : kSchedules) {
        Scenario s = preset(id);
        s.assumptions.mode = mode;
        s = scenario_under(s, kind);
        const std::size_t ops = evaluate(s).pipeline.orders.ops.size();
        if (ops == 0) continue;
        s.workload.global_batch_sequences *= static_cast<int>(kLongStep / ops + 2);
        const Report report = evaluate(s), whole = evaluate(with_given_order(s));
        CAPTURE(id);
        CAPTURE(schedule_id(kind));
        REQUIRE(whole.pipeline.shape.order);
        REQUIRE(report.pipeline.orders.ops.size() >= kLongStep);
        repeated += spans.fill_timeline(report.pipeline.shape, report.pipeline.times, timeline) ? 1 : 0;
        for (std::size_t i = 0; i < kReportQuantityCount; ++i) {
          const auto q = static_cast<Q>(i);
          CAPTURE(quantity(q).id);
          CHECK(report.quantities[q] == whole.quantities[q]);
        }
        CHECK(report.pipeline.timeline.start == whole.pipeline.timeline.start);
        CHECK(report.pipeline.timeline.busy == whole.pipeline.timeline.busy);
        CHECK(report.pipeline.idle == whole.pipeline.idle);
        CHECK(report.pipeline.peak_microbatches == whole.pipeline.peak_microbatches);
      }
  CHECK(repeated > 20);  // were not run whole
}

TEST_CASE("an order other than the schedule's own changes the step as simulating it does") {
  Scenario s = preset("gpt3-175b-1024-a100");
  s = scenario_under(s, ScheduleKind::one_f_one_b);
  s.pipeline.sends = StageSends::overlapped;  // as under GPipe
  const Report own = evaluate(s);
  ScheduleShape all_forward = own.pipeline.shape;
  all_forward.kind = ScheduleKind::gpipe;
  Orders orders;
  make_orders(all_forward, orders);
  s.pipeline.order = read_listed_order(order_csv(orders), ScheduleKind::one_f_one_b).order;
  const Report listed = evaluate(s);
  const Report gpipe = evaluate(scenario_under(s, ScheduleKind::gpipe));
  CHECK(listed.quantities[Q::step_time] == gpipe.quantities[Q::step_time]);
  CHECK(listed.stages.front().in_flight_microbatches == gpipe.stages.front().in_flight_microbatches);
  CHECK(listed.stages.front().in_flight_microbatches > own.stages.front().in_flight_microbatches);
}

TEST_CASE("an order of other sizes than the plan's is not run, and said not to be") {
  Scenario s = scenario_under(preset("gpt3-175b-1024-a100"), ScheduleKind::one_f_one_b);
  const Report own = evaluate(s);
  CHECK(diagnostic_of(own, "pipeline.given_order") == nullptr);
  s = with_given_order(s);
  CHECK(diagnostic_of(evaluate(s), "pipeline.given_order") == nullptr);
  s.workload.global_batch_sequences *= 2;
  const Report other = evaluate(s);
  CHECK_FALSE(other.pipeline.shape.order);
  const Diagnostic* said = diagnostic_of(other, "pipeline.given_order");
  REQUIRE(said != nullptr);
  CHECK(said->severity == Severity::warning);
  Scenario mended = s;
  for (const FieldEdit& edit : said->fix) apply(mended, edit);
  CHECK_FALSE(mended.pipeline.order);
  CHECK(diagnostic_of(evaluate(mended), "pipeline.given_order") == nullptr);
}

TEST_CASE("an order of another schedule is not run, and said not to be") {
  Scenario s = with_given_order(scenario_under(preset("gpt3-175b-1024-a100"), ScheduleKind::one_f_one_b));
  s.pipeline.schedule = ScheduleKind::gpipe;
  const Report report = evaluate(s);
  CHECK_FALSE(report.pipeline.shape.order);
  const Diagnostic* said = diagnostic_of(report, "pipeline.given_order");
  REQUIRE(said != nullptr);
  CHECK(said->detail == "schedule");
}

TEST_CASE("an order that is read brings its schedule and its chunks") {
  Scenario s = preset("gpt3-175b-1024-a100");
  Orders orders;
  make_orders({ScheduleKind::zb_v, s.parallelism.pipeline, 16, 2, 0}, orders);
  take_order(s, read_listed_order(order_csv(orders), s.pipeline.schedule).order);
  CHECK(s.pipeline.schedule == ScheduleKind::zb_v);
  CHECK(s.pipeline.virtual_stages == 2);
}
