// A plan with an error diagnostic has no time and nothing that follows from one, on any surface of the engine; one
// that only does not fit keeps its time.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/explain.h"
#include "engine/io/export/report_json.h"
#include "engine/io/export/sweep.h"
#include "engine/io/export/trace_json.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/serving_fixture.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::library;

namespace {

// What breaks a rule, by the code that says so; others may be broken with it.
struct Breaker {
  std::string_view code;
  std::function<void(Scenario&)> apply;
};

const std::vector<Breaker>& breakers() {
  static const std::vector<Breaker> all{
      {"batch.too_few_sequences",
       [](Scenario& s) { s.parallelism.data *= 2 * std::max(1, s.workload.global_batch_sequences); }},
      {"batch.not_divisible",
       [](Scenario& s) {
         s.parallelism.data = 2, s.parallelism.fsdp = 1;
         s.workload.global_batch_sequences = 7;
       }},
      {"context.sequence_not_divisible",
       [](Scenario& s) { s.parallelism.context = 2, s.workload.sequence_length |= 1; }},
      {"mesh.too_many_chips",
       [](Scenario& s) {
         s.cluster.nodes = s.cluster.slices = s.cluster.node_size = 1, s.cluster.slice = {1, 1, 1};
         s.parallelism.tensor = 1, s.parallelism.data = 64;
       }},
      {"tensor.heads_not_divisible", [](Scenario& s) { s.parallelism.tensor = s.model.n_heads + 1; }},
      {"model.heads_not_divisible", [](Scenario& s) { s.model.n_kv_heads = s.model.n_heads + 1; }},
      {"expert.dense_model", [](Scenario& s) { s.model.moe = {}, s.parallelism.expert = 2; }},
      {"pipeline.more_stages_than_layers",
       [](Scenario& s) { s.parallelism.pipeline = s.model.n_layers + 1, s.pipeline.virtual_stages = 1; }},
      {"pipeline.illegal_schedule",
       [](Scenario& s) {
         s.parallelism.pipeline = 4, s.pipeline.schedule = ScheduleKind::dualpipe, s.pipeline.virtual_stages = 3;
         s.parallelism.data = s.parallelism.fsdp = 1, s.workload.global_batch_sequences = 5;
       }},
      {"pipeline.too_long",
       [](Scenario& s) {
         s.parallelism = {}, s.pipeline = {};
         s.parallelism.pipeline = 2, s.pipeline.schedule = ScheduleKind::one_f_one_b;
         s.workload.global_batch_sequences = 64 * s.pipeline.microbatch_sequences;
         tests::slow_down(s.cluster.chip, 1);
       }},
  };
  return all;
}

bool is_time(const Quantity& row) {
  return row.unit == unit::seconds || row.unit == unit::days || row.unit == unit::chip_hours ||
         row.unit == unit::dollars || row.unit == unit::kilowatt_hours || row.unit == unit::tokens_per_s ||
         row.unit == unit::requests_per_s;
}

// The first thing in the report that a plan which cannot run does not have; empty: nothing.
std::string of_a_run(const Report& r) {
  for (std::size_t i = 0; i < kReportQuantityCount; ++i) {
    const auto q = static_cast<Q>(i);
    const Quantity& row = quantity(q);
    if (!r.quantities[q]) continue;
    if (!is_input(row) && is_time(row)) return std::string(row.id);
    for (const Q share : {Q::mfu, Q::hfu, Q::pipeline_bubble_fraction, Q::prefill_load, Q::steady_load})
      if (q == share) return std::string(row.id);
  }
  if (r.bound.kind != BoundKind::none) return "bound";
  if (!r.operations.empty()) return "operations";
  if (!r.collectives.empty()) return "collectives";
  if (r.pipeline.drawn()) return "timeline";
  for (const StageRow& stage : r.stages)
    if (stage.forward_s != 0 || stage.backward_s != 0 || stage.idle_s != 0) return "times of a stage";
  return {};
}

}  // namespace

TEST_CASE("a plan with an error has no time, training") {
  std::mt19937 rng(20251122);
  EvaluationScratch scratch;
  Report report;
  std::map<std::string_view, int> seen;
  for (int i = 0; i < 400; ++i) {
    Scenario s = tests::random_scenario(rng);
    s.assumptions.mode = i % 3 == 0 ? Mode::calibrated : i % 3 == 1 ? Mode::custom : Mode::ideal;
    const Breaker& breaker = breakers()[static_cast<std::size_t>(i) % breakers().size()];
    breaker.apply(s);
    evaluate(s, scratch, report);
    CAPTURE(breaker.code);
    CAPTURE(i);
    for (const Diagnostic& d : report.diagnostics)
      if (d.code == breaker.code) ++seen[breaker.code];
    REQUIRE(report.has_errors());
    CHECK(of_a_run(report) == "");
    CHECK(report.quantities.absence(Q::step_time) == Absence::cannot_run);
    CHECK(report.quantities.absence(Q::mfu) == Absence::cannot_run);
    // No word of a time it does not have. Sizes stand.
    for (const Diagnostic& d : report.diagnostics)
      for (const std::string_view timed : {"network.bound", "network.fsdp_limit", "pipeline.bubble"})
        CHECK(d.code != timed);
    CHECK(report.quantities[Q::params_total]);
    CHECK(report.quantities[Q::tokens_per_step]);
  }
  for (const Breaker& breaker : breakers()) {
    CAPTURE(breaker.code);
    CHECK(seen[breaker.code] > 10);
  }
}

TEST_CASE("a plan with an error has no time, serving") {
  std::mt19937 rng(20251123);
  for (int i = 0; i < 200; ++i) {
    Scenario s = tests::random_serving_scenario(rng);
    if (i % 2 == 0)
      s.parallelism.tensor = s.model.n_heads + 1;
    else
      s.parallelism.data = 2 * s.workload.batch + 1;
    const Report report = evaluate(s);
    CAPTURE(i);
    REQUIRE(report.has_errors());
    CHECK(of_a_run(report) == "");
    CHECK(report.quantities.absence(Q::time_per_output_token) == Absence::cannot_run);
    CHECK(report.quantities.absence(Q::max_batch) != Absence::none);
  }
}

TEST_CASE("a scratch that saw a plan that cannot run gives the next one as ever") {
  std::mt19937 rng(7);
  EvaluationScratch scratch;
  Report reused;
  for (int i = 0; i < 60; ++i) {
    const Scenario good = tests::random_scenario(rng);
    Scenario bad = good;
    breakers()[static_cast<std::size_t>(i) % breakers().size()].apply(bad);
    evaluate(good, scratch, reused);
    evaluate(bad, scratch, reused);
    evaluate(good, scratch, reused);
    const Report fresh = evaluate(good);
    CHECK(reused.quantities == fresh.quantities);
    CHECK(reused.pipeline.timeline.start == fresh.pipeline.timeline.start);
    CHECK(reused.operations.size() == fresh.operations.size());
  }
}

TEST_CASE("a plan that only does not fit keeps its time") {
  Scenario s = tests::preset("llama3-70b-v5p-pod");
  s.checkpointing.policy = CheckpointPolicy::none;
  s.precision.gradients = Dtype::fp32;
  s.workload.global_batch_sequences *= 64;
  s.pipeline.microbatch_sequences = 64;
  const Report report = evaluate(s);
  REQUIRE_FALSE(report.has_errors());
  REQUIRE_FALSE(report.fits());
  CHECK(report.quantities[Q::step_time]);
  CHECK(report.bound.kind != BoundKind::none);
}

TEST_CASE("explain, sweep, JSON and trace of a plan that cannot run") {
  Scenario s = tests::preset("llama3-70b-v5p-pod");
  s.parallelism.tensor = 5;
  const Report report = evaluate(s);
  REQUIRE(report.has_errors());
  CHECK_FALSE(explain(s, "step.time_s"));
  CHECK_FALSE(explain(s, "layer.comm_forward_s[fsdp]"));
  CHECK(explain(s, "params.total"));
  for (const std::string& id : explainable(s)) {
    const auto q = find_quantity(id.substr(0, id.find('[')));
    REQUIRE(q);
    CHECK_FALSE(is_of_a_run(*q));
  }
  const auto table = io::run_sweep(s, {io::read_varied_field("parallelism.tensor=4,5").value()},
                                   {Q::step_time, Q::params_total}, library());
  REQUIRE(table.ok());
  CHECK(table.value().rows[1].error == "mesh.too_many_chips");
  CHECK_FALSE(table.value().rows[1].quantities[0]);
  CHECK(table.value().rows[1].quantities[1]);
  CHECK(table.value().rows[1].bound.empty());
  const std::string json = io::report_json(s, report, library(), {}, nullptr);
  CHECK(json.find("\"cannot_run\"") != std::string::npos);
  CHECK_FALSE(io::trace_json(s, report).ok());
}
