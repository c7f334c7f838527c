// First moves: wherever a control, a change of cluster or a switch leads, a plan runs.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/session/workload_switch.h"
#include "engine/evaluate/evaluate.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/search/plan.h"
#include "engine/search/search.h"
#include "engine/search/serving_search.h"
#include "engine/studies/nearest_plan.h"
#include "tests/app/window/ui_harness.h"

using namespace roofscape;
using engine::Scenario;

namespace {

constexpr std::array<std::string_view, 6> kAxes{"parallelism.data",    "parallelism.fsdp",     "parallelism.tensor",
                                                "parallelism.context", "parallelism.pipeline", "parallelism.expert"};

void check_runs(const Scenario& s) { CHECK(engine::runs(engine::evaluate(s))); }

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
        if (kind == io::PresetKind::cluster)
          wanted.cluster = *test::presets().find_cluster(p.id);
        else
          REQUIRE_FALSE(io::set_field(wanted, "cluster.chip=" + p.id, test::presets()));
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

TEST_CASE("what stands against a plan is found without evaluating it") {
  std::mt19937 random(23);
  const auto chance = [&](std::size_t n) { return random() % n; };
  const auto& chips = test::presets().list(io::PresetKind::chip);
  const auto errors = [](std::span<const engine::Diagnostic> all) {
    std::vector<std::string> codes;
    for (const engine::Diagnostic& d : all)
      if (d.severity == engine::Severity::error && d.code != "chip.missing_figure") codes.emplace_back(d.code);
    return codes;
  };
  engine::PlanCheck check;
  engine::EvaluationScratch scratch;
  engine::Report report;
  int refused = 0, accepted = 0;
  for (const Scenario& start : presets_of()) {
    CAPTURE(start.name);
    for (int i = 0; i < 60; ++i) {
      CAPTURE(i);
      Scenario s = start;
      for (std::size_t edits = 1 + chance(3); edits > 0; --edits) {
        const auto fields = engine::scenario_fields();
        const engine::Field& f =
            chance(2) == 0 ? fields[chance(fields.size())] : *engine::find_field(kAxes[chance(6)]);
        double value = f.kind == engine::FieldKind::boolean ? double(chance(2)) : 1 << chance(7);
        if (!f.choices.empty()) value = double(chance(f.choices.size()));
        if (engine::in_domain(f, value)) f.set(s, value);
      }
      if (chance(4) == 0) s.cluster.chip = *test::presets().find_chip(chips[chance(chips.size())].id);
      evaluate(s, scratch, report);
      const bool runs = check.runs(s);
      CHECK(runs == engine::runs(report));
      CHECK(errors(check.found()) == errors(report.diagnostics));
      ++(runs ? accepted : refused);
    }
  }
  CHECK(accepted > 100);
  CHECK(refused > 100);
}

TEST_CASE("the nearest plan is the first that evaluates without an error, of all meshes in the order of the rule") {
  using engine::Axis;
  const Scenario before = test::preset("llama3-8b-8-h100");
  REQUIRE(engine::chip_count(before.cluster) == 8);
  constexpr std::array<std::string_view, 5> kOrder{"parallelism.tensor", "parallelism.context",
                                                   "parallelism.pipeline", "parallelism.fsdp", "parallelism.data"};
  constexpr std::array<Axis, 5> kPartners{Axis::tensor, Axis::context, Axis::pipeline, Axis::fsdp, Axis::data};
  constexpr std::array<double, 5> kWeights{17, 5, 9, 2, 2};
  const auto octaves = [](double a, double b) { return std::abs(std::log2(a / b)); };
  int moved = 0;
  for (std::size_t edited = 0; edited < 5; ++edited)
    for (const int degree : {1, 2, 4, 8})
      for (const Axis partner : kPartners)
        for (const bool keep : {false, true}) {
          Scenario wanted = before;
          engine::find_field(kOrder[edited])->set(wanted, degree);
          std::optional<Scenario> first;
          std::pair<double, std::array<double, 5>> least;
          std::array<double, 5> mesh{};
          for (int n = 0; n < 4 * 4 * 4 * 4 * 4; ++n) {
            Scenario s = wanted;
            double cost = 0, product = 1, was = 1;
            for (std::size_t i = 0; i < 5; ++i) {
              mesh[i] = 1 << (n >> (2 * i) & 3);
              const engine::Field* axis = engine::find_field(kOrder[i]);
              const double old = axis->get(before);
              axis->set(s, mesh[i]);
              product *= mesh[i], was *= old;
              if (i != edited && mesh[i] != old)
                cost += (kPartners[i] == partner ? 1 : kWeights[i]) * octaves(mesh[i], old) + (old == 1 ? 0.5 : 0);
            }
            if (mesh[edited] != degree || product > was) continue;
            cost += octaves(was, product) * (keep ? 1000 : 6);
            if (first && !(std::pair(cost, mesh) < least)) continue;
            const int ranks = s.parallelism.data * s.parallelism.fsdp, batch = s.workload.global_batch_sequences;
            int& microbatch = s.pipeline.microbatch_sequences;
            while (batch % ranks == 0 && microbatch > 1 && batch / ranks % microbatch != 0) --microbatch;
            if (!engine::runs(engine::evaluate(s))) continue;
            first = s;
            least = {cost, mesh};
          }
          const std::array held{kOrder[edited]};
          const engine::NearestPlan plan =
              engine::nearest_plan_that_runs(before, wanted, {held, partner, keep, true});
          CAPTURE(edited);
          CAPTURE(degree);
          CAPTURE(keep);
          REQUIRE(first);
          REQUIRE(plan.runs);
          // What runs as it was edited stays, unless the others have to make up for it.
          CHECK(plan.scenario == (!keep && engine::runs(engine::evaluate(wanted)) ? wanted : *first));
          moved += plan.scenario == wanted ? 0 : 1;
        }
  CHECK(moved > 50);
}

TEST_CASE("an impossible size of one goes back to none") {
  const Scenario before = test::preset("llama3-8b-8-h100");
  const engine::Field* field = engine::find_field("model.mla.kv_lora_rank");
  REQUIRE(field->get(before) == 0);
  Scenario wanted = before;
  field->set(wanted, 1);
  const std::array<std::string_view, 1> held{field->path};
  const engine::NearestPlan plan = engine::nearest_plan_that_runs(before, wanted, {held});
  CHECK(plan.runs);
  CHECK_FALSE(plan.reached);
  CHECK(plan.scenario == before);
}

namespace {

void check_domains(const Scenario& s) {
  for (const engine::Field& field : engine::scenario_fields()) {
    CAPTURE(field.path);
    CHECK(engine::in_domain(field, field.get(s)));
  }
}

// Of the largest clusters that their fields allow, and of sizes on the way there.
std::vector<Scenario> on_huge_clusters(const char* id) {
  std::vector<Scenario> all;
  for (const int nodes : {12'000, 1 << 14, 1 << 17})
    for (const int node_size : {8, 72, 1024}) {
      Scenario s = test::preset(id);
      s.cluster.nodes = nodes;
      s.cluster.node_size = node_size;
      all.push_back(std::move(s));
    }
  Scenario torus = test::preset(id);
  torus.cluster.chip = *test::presets().find_chip("tpu-v5p");
  torus.cluster.slice = {1024, 1024, 1024};
  torus.cluster.slices = 1024;
  all.push_back(std::move(torus));
  return all;
}

}  // namespace

TEST_CASE("on a cluster of any size the plan after a switch of workload has degrees that their fields can say") {
  for (const char* id : {"llama3-8b-8-h100", "mixtral-8x7b-64-h100", "llama3-8b-serving-8-h100"})
    for (const Scenario& s : on_huge_clusters(id)) {
      CAPTURE(engine::chip_count(s.cluster));
      check_domains(app::with_workload_kind(
          s, s.serves() ? engine::WorkloadKind::training : engine::WorkloadKind::serving, nullptr));
    }
}

TEST_CASE("on a cluster of any size the nearest plan has degrees that their fields can say") {
  for (const char* id : {"llama3-8b-8-h100", "llama3-8b-serving-8-h100"})
    for (const Scenario& s : on_huge_clusters(id)) {
      CAPTURE(engine::chip_count(s.cluster));
      for (const bool keep_product : {false, true}) {
        Scenario before = s;
        before.parallelism.data = 65536, before.parallelism.tensor = 8, before.parallelism.fsdp = 1;
        Scenario wanted = before;
        wanted.parallelism.tensor = 1;
        const std::array<std::string_view, 1> held{"parallelism.tensor"};
        check_domains(
            engine::nearest_plan_that_runs(before, wanted, {held, engine::Axis::fsdp, keep_product}).scenario);
      }
      if (!s.serves()) continue;
      Scenario apart = s;
      apart.serving.disaggregated = true;
      apart.parallelism.data = 4096, apart.parallelism.context = 64, apart.parallelism.tensor = 1;
      apart.workload.batch = 1 << 22;
      check_domains(engine::nearest_disaggregated(s, apart).scenario);
    }
}

TEST_CASE("on a cluster of any size a search lists plans whose degrees their fields can say") {
  for (const char* id : {"llama3-8b-8-h100", "llama3-8b-serving-8-h100"})
    for (Scenario& s : on_huge_clusters(id)) {
      CAPTURE(engine::chip_count(s.cluster));
      if (engine::chip_count(s.cluster) > 1 << 20) continue;  // minutes
      s.workload.sequence_length = 64;
      s.workload.global_batch_sequences = 1 << 20;
      engine::SearchRequest training;
      training.space = engine::space_of(s);
      training.space.schedule = {0, 0, {}};
      training.limit = 2000;
      engine::ServingRequest serving = engine::serving_request_of(s);
      serving.limit = 2000;
      std::vector<Scenario> found;
      const auto take = [&](const auto& result) {
        for (const auto& one : result.best) engine::apply(found.emplace_back(s), one.plan);
      };
      if (s.serves())
        take(engine::search_serving(s, serving));
      else
        take(engine::search(s, training));
      for (const Scenario& one : found) check_domains(one);
    }
}
