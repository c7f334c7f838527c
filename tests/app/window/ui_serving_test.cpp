// The window follows the kind of workload: what the rail, the verdict, the numbers and the grid show when a scenario
// serves.
#include <doctest/doctest.h>

#include <filesystem>

#include "engine/evaluate/evaluate.h"
#include "tests/app/window/ui_search.h"
#include "tests/capture_binding.h"
#include "widgets/figures/figures.h"

using namespace roofscape;
using engine::WorkloadKind;
using test::Harness;
using test::kServing;

namespace {
constexpr const char* kApart = "deepseek-v3-h800-wide-expert";
constexpr const char* kTraining = "llama3-70b-v5p-pod";

void choose_kind(Harness& h, WorkloadKind kind) {
  REQUIRE(h.reach("workload.kind"));
  const widgets::Rect r = h.place("workload.kind")->visible;
  h.click(widgets::Point{r.x + r.w * (kind == WorkloadKind::training ? 0.25f : 0.75f), r.centre().y});
  h.step(2);
}
}  // namespace

TEST_CASE("no control of the rail edits a field that the kind of workload does not read") {
  for (const char* id : {kServing, kApart, kTraining}) {
    Harness h(id);
    for (const engine::Field& field : engine::scenario_fields())
      if (!engine::applies(field, h.scenario().workload.kind)) {
        CAPTURE(field.path);
        CHECK(h.place(field.path) == nullptr);
      }
  }
}

TEST_CASE("the rail of a serving scenario has requests, formats and mesh, a prefill plan only where it is apart") {
  for (const char* path :
       {"workload.prompt_tokens", "workload.output_tokens", "workload.batch", "workload.arrivals_per_s",
        "workload.slo.ttft_s", "workload.slo.time_per_output_token_s", "assumptions.parameters", "precision.kv_cache",
        "serving.disaggregated", "serving.prefix_hit_rate", "serving.draft_tokens", "parallelism.tensor"}) {
    CAPTURE(path);
    CHECK(Harness(kServing).reach(path));
  }
  Harness together(kServing), apart(kApart);
  CHECK(together.place("serving.prefill.data") == nullptr);
  CHECK(apart.reach("serving.prefill.data"));
  // Without drafts the row of what is accepted stands in its place, with nothing to edit.
  CHECK(together.place("serving.acceptance_rate") != nullptr);
  CHECK(together.place("serving.acceptance_rate.box") == nullptr);
  CHECK(together.place("serving.acceptance_rate.track") == nullptr);
  CHECK(apart.reach("serving.acceptance_rate.box"));
}

TEST_CASE(
    "the verdict of a serving scenario is about tokens, that of training about the run, and each fact opens its "
    "derivation") {
  for (const auto& [w, hgt] : {std::pair{1280.0f, 720.0f}, {1920.0f, 1080.0f}}) {
    Harness h(kServing, w, hgt);
    CHECK(h.place("verdict.mfu") == nullptr);
    CHECK(h.place("verdict.run") == nullptr);
    for (const auto& [fact, quantity] : {std::pair{"verdict.ttft", "serving.ttft_s"},
                                         {"verdict.token", "serving.sustained_time_per_token_s"},
                                         {"verdict.tokens", "serving.sustained_tokens_per_s"},
                                         {"verdict.max_batch", "serving.max_batch"},
                                         {"verdict.cost", "serving.sustained_cost_per_million_tokens_usd"},
                                         {"verdict.memory", "memory.chip_total_bytes"}}) {
      CAPTURE_BINDING(fact);
      h.click(fact);
      REQUIRE_FALSE(h.parts.panels.right_rail.derivation.trail.empty());
      CHECK(h.parts.panels.right_rail.derivation.trail.back() == quantity);
    }
    test::check_texts(h, w);
  }
  Harness h(kTraining);
  CHECK(h.place("verdict.ttft") == nullptr);
  CHECK(h.place("verdict.mfu") != nullptr);
}

TEST_CASE("the bar of a serving scenario is the decoding step: its parts fill it") {
  Harness h(kServing);
  double sum = 0;
  float right = 0;
  for (const engine::Q part : engine::kDecodeParts) {
    const double value = h.report().quantities.value_or(part, 0);
    const auto* p = h.place("step_bar." + std::string(engine::quantity(part).id));
    CHECK((p != nullptr) == (value > 0));
    if (p != nullptr) right = std::max(right, p->rect.right());
    sum += value;
  }
  CHECK(sum == h.report().quantities.value_or(engine::Q::decode_step, 0));
  CHECK(right > 1300);
}

TEST_CASE("the numbers of a serving scenario are of serving and open their derivation") {
  Harness h(kServing);
  h.parts.settings.arrangement.cells[1] = "numbers";
  h.step(2);
  CHECK(h.place("number.flops.per_token") == nullptr);
  h.click("number.serving.sustained_tokens_per_s");
  CHECK(h.parts.panels.right_rail.derivation.trail.back() == "serving.sustained_tokens_per_s");
  h.click("limit.serving.critical_batch_sequences");
  CHECK(h.parts.panels.right_rail.derivation.trail.back() == "serving.critical_batch_sequences");
}

TEST_CASE("before anything was clicked the time per token is derived, and the step time where the scenario trains") {
  for (const auto& [preset, id] :
       {std::pair{kServing, "serving.sustained_time_per_token_s"}, {"llama3-70b-v5p-pod", "step.time_s"}}) {
    CAPTURE_BINDING(preset);
    Harness h(preset);
    h.step(2);
    REQUIRE(h.parts.panels.right_rail.derivation.derived.has_value());
    CHECK(h.parts.panels.right_rail.derivation.derived->id == id);
    CHECK(h.parts.panels.right_rail.derivation.derived->derivation.has_value());
  }
}

TEST_CASE("the switch of the kind is one step of undo, gives a plan that runs, and back brings the mesh that was") {
  Harness h(kTraining);
  const engine::Scenario before = h.scenario();
  choose_kind(h, WorkloadKind::serving);
  CHECK(h.scenario().workload.kind == WorkloadKind::serving);
  CHECK(h.scenario().model == before.model);
  CHECK(h.scenario().cluster == before.cluster);
  CHECK(h.scenario().workload.prompt_tokens == before.workload.sequence_length);
  CHECK(h.parts.session.history().undo_depth() == 1);
  CHECK_FALSE(h.report().has_errors());
  CHECK(h.report().fits());
  CHECK(h.report().quantities[engine::Q::time_per_output_token].has_value());
  choose_kind(h, WorkloadKind::training);
  CHECK(h.scenario() == before);
  h.parts.session.undo();
  h.parts.session.undo();
  CHECK(h.scenario() == before);
}

TEST_CASE("every preset can be turned into the other kind without an error") {
  for (const io::Preset& p : test::presets().list(io::PresetKind::scenario)) {
    CAPTURE(p.id);
    const app::Session session(test::shared_presets(), test::preset(p.id), p.id);
    const bool serves = session.scenario().workload.kind == WorkloadKind::serving;
    const engine::Scenario other = session.with_kind(serves ? WorkloadKind::training : WorkloadKind::serving);
    CHECK_FALSE(engine::evaluate(other).has_errors());
  }
}

TEST_CASE("each kind of workload has its own cells, kept in the settings") {
  Harness h(kTraining);
  h.parts.settings.arrangement.cells[0] = "memory-time";
  h.step(2);
  const auto training = h.parts.settings.arrangement.cells;
  choose_kind(h, WorkloadKind::serving);
  CHECK(h.parts.settings.arrangement.cells == app::default_cells(WorkloadKind::serving));
  h.parts.settings.arrangement.cells[3] = "ladder";
  h.step(2);
  const auto serving = h.parts.settings.arrangement.cells;
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "roofscape-ui-serving-settings.json";
  REQUIRE(app::write_settings(file, h.parts.settings));
  const app::Settings read = app::read_settings(file);
  std::filesystem::remove(file);
  CHECK(read.arrangement.cells == training);
  CHECK(read.other_cells == serving);
  choose_kind(h, WorkloadKind::training);
  CHECK(h.parts.settings.arrangement.cells == training);
}

TEST_CASE("no figure stands twice in the grid, whatever names the arrangement has") {
  Harness h(kServing);
  h.parts.settings.arrangement.cells = {"no-such-figure", "nor-this", "nor-that", "ladder"};
  h.step(2);
  int shown = 0;
  for (const widgets::FigureRow& row : widgets::figures())
    shown += h.place("figure." + std::string(row.name)) != nullptr ? 1 : 0;
  CHECK(shown + (h.place("numbers.title") != nullptr ? 1 : 0) == 4);
}
