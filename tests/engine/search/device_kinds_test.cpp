#include "engine/search/device_kinds.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "engine/search/pricing.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/invariants.h"

using namespace roofscape;
using namespace roofscape::engine;

TEST_CASE("devices that another outlasts decide no plan's bound") {
  std::mt19937 rng(14);
  PlacedMesh mesh;
  PricedLayer layer;
  DeviceKinds kinds;
  std::vector<int> layers;
  int outlasted = 0, dense_first = 0, blocking = 0;
  for (int i = 0; i < 8000; ++i) {
    Scenario s = tests::random_scenario(rng);
    if (i % 2 == 1) s = tests::with(s, {"assumptions.mode=calibrated"});
    const Plan plan = plan_of(s);
    if (s.serves() || plan.pipeline < 2) continue;
    Pricer pricer(tests::without_plan(s));
    PricedState state(pricer);
    pricer.place(plan, mesh);
    const ScheduleShape shape = shape_of(plan, static_cast<int>(mesh.counts.microbatches), s.pipeline);
    if (!check_schedule(shape)) continue;
    pricer.price_layer(mesh, plan, layer);
    pricer.price_state(mesh, layer, plan, state);
    find_device_kinds(shape.kind, shape.stages, shape.virtual_stages, pricer.layer_split(), layers, kinds);
    REQUIRE(kinds.decisive > 0);
    outlasted += kinds.decisive < kinds.kinds.size();
    dense_first += layer.cost.dense_first && kinds.decisive < kinds.kinds.size();
    blocking += blocks_sends(s.pipeline.sends, shape.kind);
    Price price, of_all;
    pricer.bound(mesh, layer, state, kinds, shape, price);
    kinds.decisive = kinds.kinds.size();
    pricer.bound(mesh, layer, state, kinds, shape, of_all);
    CAPTURE(i);
    CAPTURE(schedule_id(shape.kind));
    if (of_all.step_time_s > 0) REQUIRE(price.step_time_s == of_all.step_time_s);  // else a link is not known
  }
  CHECK(outlasted > 500);
  CHECK(dense_first > 20);
  CHECK(blocking > 100);
}
