// What a schedule takes is the same wherever it is shown: the figures that compare schedules, the price a search
// gives, a sweep and evaluate() have one arithmetic, to the last bit. Over random scenarios and all presets that have
// stages.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "engine/evaluate/evaluate.h"
#include "engine/io/export/sweep.h"
#include "engine/scenario/mesh_size.h"
#include "engine/search/pricing.h"
#include "engine/studies/made_order.h"
#include "engine/studies/schedule_comparison.h"
#include "tests/app/surfaces/any_scenario.h"
#include "tests/app/surfaces/figure_table.h"
#include "tests/engine/fixtures.h"
#include "tests/widgets/figures/figure_fixture.h"
#include "widgets/figures/common/doubts.h"
#include "widgets/figures/figures.h"

using namespace roofscape;
using engine::Q;
using engine::Report;
using engine::Scenario;
using engine::ScheduleKind;
using tests::copied_table;
using tests::FigureTable;
using tests::number_in;

namespace {

int schedule_cases() {
  const char* wanted = std::getenv("ROOFSCAPE_SURFACE_CASES");
  return wanted != nullptr ? std::max(1, std::atoi(wanted)) : 250;
}

struct Answer {
  double step_s = 0, memory_bytes = 0, makespan_s = 0, idle = 0;
};

void check_figures(const Scenario& s, const std::vector<Answer>& answers) {
  const Report report = engine::evaluate(s);
  if (report.has_errors()) return;
  widgets::StudyCache studies;
  const widgets::Theme theme = widgets::testing::theme("dark");
  const widgets::FigureInput input{s, report, widgets::testing::english(), theme, studies};
  const FigureTable schedules = copied_table(*widgets::find_figure("schedules"), input);
  REQUIRE(schedules.rows.size() == answers.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto& row = schedules.rows[i];
    const Answer& a = answers[i];
    CAPTURE(row[0]);
    CHECK((row[2] == "yes") == (a.step_s > 0));
    if (a.step_s == 0) continue;
    CHECK(number_in(row[3]) == doctest::Approx(a.makespan_s).epsilon(1e-12));  // drawn in ticks
    CHECK(number_in(row[4]) == a.idle);
    CHECK(number_in(row[6]) == a.step_s);
    CHECK(number_in(row[7]) == a.memory_bytes);
  }
  const int microbatches = engine::shape_under(s, s.pipeline.schedule).microbatches;
  for (const auto& row : copied_table(*widgets::find_figure("bubble"), input).rows) {
    if (number_in(row[1]) != microbatches) continue;
    const auto kind = engine::parse_schedule(row[0]);
    CAPTURE(row[0]);
    REQUIRE(kind);
    CHECK(number_in(row[2]) == answers[static_cast<std::size_t>(*kind)].idle);
  }
}

void check_schedules(const Scenario& s) {
  std::vector<Answer> answers;
  engine::Pricer pricer(s);
  for (const ScheduleKind kind : engine::kSchedules) {
    const Scenario under = engine::scenario_under(s, kind);
    const Report r = engine::evaluate(under);
    CAPTURE(engine::schedule_id(kind));
    answers.emplace_back();
    const auto swept = io::run_sweep(s,
                                     {{"pipeline.schedule", {std::string(engine::schedule_id(kind))}},
                                      {"pipeline.virtual_stages", {std::to_string(under.pipeline.virtual_stages)}}},
                                     {Q::step_time, Q::memory_total}, tests::library());
    REQUIRE(swept);
    CHECK(swept->rows.front().quantities[0] == r.quantities[Q::step_time]);
    CHECK(swept->rows.front().quantities[1] == r.quantities[Q::memory_total]);
    if (r.has_errors() || !r.quantities[Q::step_time]) continue;
    Answer& a = answers.back();
    a = {r.quantities.value_or(Q::step_time, 0), r.quantities.value_or(Q::memory_total, 0),
         r.quantities.value_or(Q::pipeline_makespan, 0), r.quantities.value_or(Q::pipeline_bubble_fraction, 0)};
    const engine::Price price = pricer.price(engine::plan_of(under), true);
    CHECK(price.step_time_s == a.step_s);
    CHECK(price.memory_bytes == a.memory_bytes);
  }
  check_figures(s, answers);
}

}  // namespace

TEST_CASE("a schedule takes the same time and memory in figures, search, sweep and eval: random scenarios") {
  std::mt19937 rng(20261119);
  for (int i = 0; i < schedule_cases(); ++i) {
    Scenario s = tests::any_scenario(rng, engine::WorkloadKind::training);
    s.assumptions.mode = i % 2 == 0 ? engine::Mode::ideal : engine::Mode::calibrated;
    if (s.parallelism.pipeline < 2) continue;
    CAPTURE(i);
    CAPTURE(s.model.id);
    check_schedules(s);
  }
}

TEST_CASE("a schedule takes the same time and memory in figures, search, sweep and eval: presets") {
  for (const auto& listed : tests::library().list(io::PresetKind::scenario))
    for (const engine::Mode mode : {engine::Mode::ideal, engine::Mode::calibrated}) {
      Scenario s = tests::preset(listed.id);
      if (s.serves() || s.parallelism.pipeline < 2) continue;
      s.assumptions.mode = mode;
      CAPTURE(listed.id);
      check_schedules(s);
    }
}

TEST_CASE("a made order and kept weights take the same time and memory in figures, search, sweep and eval") {
  const Scenario switched =
      tests::with(tests::preset("gpt3-175b-1024-a100"), {"workload.global_batch_sequences=384"});
  const Scenario torus =
      tests::with(tests::preset("llama3-70b-v5p-pod"), {"parallelism.fsdp=256", "parallelism.pipeline=4"});
  for (Scenario s : {switched, torus})
    for (const engine::Mode mode : {engine::Mode::ideal, engine::Mode::calibrated}) {
      s.assumptions.mode = mode;
      CAPTURE(s.model.id);
      for (const std::string_view recipe : engine::kOrderRecipes.ids()) {
        CAPTURE(recipe);
        const engine::MadeOrder made = engine::make_order(s, *engine::kOrderRecipes.parse(recipe));
        if (made.reason == engine::NoOrder::does_not_fit) continue;
        REQUIRE(made.order);
        Scenario given = s;
        engine::take_order(given, made.order);
        check_schedules(given);
      }
      for (const engine::KeepGathered keep :
           {engine::KeepGathered::microbatch, engine::KeepGathered::chunk, engine::KeepGathered::step}) {
        Scenario kept = s;
        kept.parallelism.fsdp *= kept.parallelism.data, kept.parallelism.data = 1;
        kept.parallelism.zero_stage = 3;
        kept.parallelism.keep_gathered = keep;
        CAPTURE(static_cast<int>(keep));
        check_schedules(kept);
      }
    }
}

TEST_CASE("interleaving stages whose head is four layers does not pay: figure and eval say so alike") {
  // Gemma-2 9B on eight H100: cut into fractions of layers and of the head, the interleaved schedule would gain.
  Scenario s = tests::with(tests::preset("llama3-8b-8-h100"),
                           {"model=gemma2-9b", "parallelism.fsdp=2", "parallelism.pipeline=4",
                            "parallelism.zero_stage=1", "pipeline.schedule=1f1b"});
  const auto variants = engine::compare_schedules(s);
  const auto& own = variants[static_cast<std::size_t>(ScheduleKind::one_f_one_b)];
  const auto& interleaved = variants[static_cast<std::size_t>(ScheduleKind::interleaved_1f1b)];
  CHECK(interleaved.step_time_s ==
        tests::value_of(engine::scenario_under(s, ScheduleKind::interleaved_1f1b), Q::step_time));
  CHECK(interleaved.step_time_s > own.step_time_s);
}
