// Orders made for a plan: what it runs then is what was made, and why none can be.
#include <doctest/doctest.h>

#include <algorithm>

#include "engine/evaluate/evaluate.h"
#include "engine/pipeline/given_order.h"
#include "engine/studies/made_order.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using namespace roofscape::tests;

TEST_CASE("a plan runs the order that is made for it, and holds no more than the recipe's microbatches") {
  for (const char* id : {"gpt3-175b-1024-a100", "llama3-405b-16k-h100"})
    for (const Mode mode : {Mode::ideal, Mode::calibrated})
      for (const OrderRecipe recipe : {OrderRecipe::zb_1p, OrderRecipe::zb_2p}) {
        CAPTURE(id);
        Scenario s = preset(id);
        s.assumptions.mode = mode;
        const MadeOrder made = make_order(s, recipe);
        REQUIRE_FALSE(made.reason);
        take_order(s, made.order);
        const Report r = evaluate(s);
        CHECK_FALSE(r.has_errors());
        CHECK(r.pipeline.shape.order == made.order);
        const int stages = s.parallelism.pipeline;
        CHECK(made.most_microbatches <= (recipe == OrderRecipe::zb_1p ? stages : 2 * stages));
        for (const StageRow& stage : r.stages) CHECK(stage.in_flight_microbatches <= made.most_microbatches);
        // The order's own times are the plan's: made again it is the same.
        CHECK(make_order(s, recipe).order == made.order);
      }
}

TEST_CASE("an order that is made to fit fits, and its step is no longer than that of the recipes that do") {
  for (const char* id : {"gpt3-175b-1024-a100", "llama3-405b-16k-h100"}) {
    CAPTURE(id);
    const Scenario s = preset(id);
    const auto report_of = [&s](OrderRecipe recipe) {
      Scenario given = s;
      take_order(given, make_order(s, recipe).order);
      return evaluate(given);
    };
    const Report fit = report_of(OrderRecipe::zb_fit);
    CHECK(value_of(fit, Q::memory_free) >= 0);
    for (const ScheduleKind kind : {ScheduleKind::zb_h1, ScheduleKind::zb_h2}) {
      Scenario by_rule = s;
      by_rule.pipeline.schedule = kind, by_rule.pipeline.virtual_stages = 1;
      const Report r = evaluate(by_rule);
      if (!r.has_errors() && value_of(r, Q::memory_free) >= 0)
        CHECK(value_of(fit, Q::step_time) <= value_of(r, Q::step_time) * (1 + 1e-12));
    }
    const Report on_v = report_of(OrderRecipe::zb_v_fit);
    CHECK(value_of(on_v, Q::memory_free) >= 0);
    CHECK(on_v.pipeline.shape.kind == ScheduleKind::zb_v);
    Scenario by_rule = s;
    by_rule.pipeline.schedule = ScheduleKind::zb_v, by_rule.pipeline.virtual_stages = 2;
    if (const Report r = evaluate(by_rule); !r.has_errors() && value_of(r, Q::memory_free) >= 0)
      CHECK(value_of(on_v, Q::step_time) <= value_of(r, Q::step_time) * (1 + 1e-12));
    for (const OrderRecipe other : {OrderRecipe::zb_1p, OrderRecipe::zb_2p}) {
      const Report r = report_of(other);
      if (value_of(r, Q::memory_free) >= 0) CHECK(value_of(fit, Q::step_time) <= value_of(r, Q::step_time));
    }
  }
}

TEST_CASE("the V orders of little memory run in a plan, with fewer microbatches on a chip than its 1F1B has") {
  for (const Mode mode : {Mode::ideal, Mode::calibrated}) {
    Scenario s = with(preset("gpt3-175b-1024-a100"), {"pipeline.schedule=1f1b", "pipeline.virtual_stages=1"});
    s.assumptions.mode = mode;
    const Report plain = evaluate(s);
    const auto of = [&s](OrderRecipe recipe) {
      Scenario given = s;
      take_order(given, make_order(s, recipe).order);
      return evaluate(given);
    };
    const Report half = of(OrderRecipe::v_half), least = of(OrderRecipe::v_min);
    const auto most = [](const Report& r) {
      double held = 0;
      for (const StageRow& stage : r.stages) held = std::max(held, stage.in_flight_microbatches);
      return held;
    };
    CHECK(half.pipeline.shape.kind == ScheduleKind::zb_v);
    CHECK(most(plain) == 16);
    CHECK(most(half) == 9.5);
    CHECK(most(least) == 6);
  }
}

TEST_CASE("no order is made of plans that serve, have one stage, cannot run, are too long or fit no chip") {
  const Scenario s = preset("llama3-405b-16k-h100");
  const auto reason = [](const Scenario& plan, OrderRecipe recipe) { return make_order(plan, recipe).reason; };
  CHECK(reason(preset("llama3-8b-8-h100"), OrderRecipe::zb_1p) == NoOrder::no_pipeline);
  CHECK(reason(preset("llama3-70b-serving-8-h100"), OrderRecipe::zb_1p) == NoOrder::serves);
  Scenario no_chip = s;
  no_chip.cluster.chip[ChipField::peak_bf16_dense_flops_per_s].value.reset();
  CHECK(reason(no_chip, OrderRecipe::zb_2p) == NoOrder::cannot_run);
  Scenario many = s;
  many.workload.global_batch_sequences *= 1000;
  CHECK(reason(many, OrderRecipe::zb_1p) == NoOrder::too_long);
  Scenario small = s;
  small.cluster.chip[ChipField::hbm_bytes].value = 8e9;
  CHECK(reason(small, OrderRecipe::zb_fit) == NoOrder::does_not_fit);
  CHECK_FALSE(reason(small, OrderRecipe::zb_1p));
}
