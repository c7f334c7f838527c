// First moves: wherever a control, a change of cluster or a switch leads, a plan runs.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "engine/evaluate.h"
#include "engine/io/scenario_json.h"
#include "engine/scenario_fields.h"
#include "engine/studies/nearest_plan.h"
#include "tests/app/ui_harness.h"

using namespace roofscape;
using engine::Scenario;

namespace {

constexpr std::array<std::string_view, 6> kAxes{"parallelism.data",    "parallelism.fsdp",     "parallelism.tensor",
                                                "parallelism.context", "parallelism.pipeline", "parallelism.expert"};

void check_runs(const Scenario& s) {
  CHECK(engine::runs(engine::evaluate(s)));
}

std::vector<Scenario> presets_of(bool serving_alone = false) {
  std::vector<Scenario> all;
  for (const io::Preset& p : test::presets().list(io::PresetKind::scenario)) {
    Scenario s = test::preset(p.id);
    if (!serving_alone || s.serves()) all.push_back(std::move(s));
  }
  return all;
}

}  // namespace

TEST_CASE("every mesh slider of every preset, moved to every stop, leaves a plan that runs") {
  for (const Scenario& before : presets_of()) {
    CAPTURE(before.name);
    const double chips = static_cast<double>(engine::chip_count(before.cluster));
    for (const std::string_view path : kAxes) {
      CAPTURE(path);
      if (path == "parallelism.expert" && !before.model.is_moe()) continue;
      const engine::Field* field = engine::find_field(path);
      const std::array held{path};
      const bool wide = path == "parallelism.data" || path == "parallelism.fsdp";
      const double last = wide ? 2 * chips : path == "parallelism.pipeline" ? 128 : 256;  // the track's end
      for (double stop = 1; stop <= last; stop *= 2) {
        CAPTURE(stop);
        Scenario wanted = before;
        field->set(wanted, stop);
        const engine::NearestPlan plan =
            engine::nearest_plan_that_runs(before, wanted, {held, engine::Axis::fsdp, true});
        REQUIRE(plan.runs);
        check_runs(plan.scenario);
        // What a person gave stays as it was given.
        CHECK(plan.scenario.model == before.model);
        CHECK(plan.scenario.cluster == before.cluster);
        CHECK(plan.scenario.workload == before.workload);
        const double got = field->get(plan.scenario), was = field->get(before);
        CHECK(plan.reached == (got == stop));
        CHECK(std::min(stop, was) <= got);
        CHECK(got <= std::max(stop, was));
      }
    }
  }
}

TEST_CASE("every scenario on every cluster and on every chip has a plan that runs") {
  constexpr std::array<std::string_view, 1> kHeld{"cluster"};
  for (const Scenario& before : presets_of()) {
    CAPTURE(before.name);
    for (const io::PresetKind kind : {io::PresetKind::cluster, io::PresetKind::chip})
      for (const io::Preset& p : test::presets().list(kind)) {
        CAPTURE(p.id);
        Scenario wanted = before;
        if (kind == io::PresetKind::cluster) wanted.cluster = *test::presets().find_cluster(p.id);
        else REQUIRE_FALSE(io::set_field(wanted, "cluster.chip=" + p.id, test::presets()));
        const engine::NearestPlan plan = engine::nearest_plan_that_runs(before, wanted, {kHeld});
        REQUIRE(plan.runs);
        check_runs(plan.scenario);
        CHECK(plan.scenario.workload == before.workload);
      }
  }
}

TEST_CASE("prefill on chips of its own leaves a plan that runs, for every serving preset") {
  for (const Scenario& before : presets_of(true)) {
    CAPTURE(before.name);
    Scenario wanted = before;
    wanted.serving.disaggregated = true;
    const engine::NearestPlan plan = engine::nearest_disaggregated(before, wanted);
    REQUIRE(plan.runs);
    CHECK(plan.scenario.serving.disaggregated);
    check_runs(plan.scenario);
    CHECK(engine::evaluate(plan.scenario).quantities.value_or(engine::Q::prefill_requests, 0) > 0);
  }
}

TEST_CASE("the nearest plan to one that runs is itself, and what is typed is held to the value") {
  const Scenario before = test::preset("llama3-70b-v5p-pod");
  Scenario wanted = before;
  wanted.workload.train_tokens = 2e12;
  constexpr std::array<std::string_view, 1> kTokens{"workload.train_tokens"};
  CHECK(engine::nearest_plan_that_runs(before, wanted, {kTokens}).scenario == wanted);
  wanted = before;
  wanted.parallelism.tensor = 12;  // of 64 heads
  constexpr std::array<std::string_view, 1> kTensor{"parallelism.tensor"};
  const auto typed = engine::nearest_plan_that_runs(before, wanted, {kTensor, engine::Axis::fsdp, true, true});
  CHECK_FALSE(typed.runs);
  CHECK(typed.scenario == wanted);
  const auto dragged = engine::nearest_plan_that_runs(before, wanted, {kTensor, engine::Axis::fsdp, true, false});
  CHECK(dragged.runs);
  CHECK_FALSE(dragged.reached);
  CHECK(dragged.scenario.parallelism.tensor == 8);
  CHECK(dragged.scenario.parallelism.fsdp == before.parallelism.fsdp / 2);
  CHECK(dragged.scenario.parallelism.context == before.parallelism.context);
}
