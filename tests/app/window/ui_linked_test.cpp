// What is pointed at in one place lights up in the others; what a slider or an input would do is shown before it is
// done.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "app/panels/slider_preview.h"
#include "engine/evaluate/evaluate.h"
#include "tests/app/window/ui_checks.h"

using namespace roofscape;
using engine::Q;
using test::drawn;
using test::Harness;

namespace {

const widgets::TagRegion* find_tag(const Harness& h, std::string_view id, int index) {
  for (const widgets::TagRegion& tag : h.canvas.tags())
    if (tag.id == id && (index < 0 || tag.index == index) && tag.rect.w > 3 && tag.rect.h > 3) return &tag;
  return nullptr;
}

widgets::Point place_of(Harness& h, std::string_view id, int index = -1) {
  h.canvas.set_tagging(widgets::Tagging::all);
  h.step();
  const widgets::TagRegion* tag = find_tag(h, id, index);
  REQUIRE_MESSAGE(tag != nullptr, std::string(id));
  const widgets::Point at = tag->rect.centre();
  h.canvas.set_tagging(widgets::Tagging::none);
  return at;
}

app::SliderPreview& band_of(Harness& h, const char* path, const engine::Scenario& first) {
  return *h.parts.studies.get<std::shared_ptr<app::SliderPreview>>(
      app::SliderPreviewKey{path, first, std::nullopt}, [] { return std::make_shared<app::SliderPreview>(); });
}

}  // namespace

TEST_CASE("an operation of the roofline lights its part of the step, and the part lights its operations") {
  Harness h("llama3-405b-16k-h100-8k");
  h.move(place_of(h, "operation.residual"));
  CHECK(h.parts.hovered.part == Q::step_hbm);
  const auto* bar = h.place("step_bar.step.matmul_s");
  REQUIRE(bar != nullptr);
  h.move(bar->rect.centre());
  CHECK(h.parts.hovered.part == Q::step_matmul);
  CHECK_FALSE(h.parts.hovered.operation.has_value());
  h.move({2, 2});
  CHECK_FALSE(h.parts.hovered.part.has_value());
}

TEST_CASE("a stage pointed at anywhere is told in the numbers, the memory of the verdict is the fullest stage") {
  Harness h("llama3-405b-16k-h100-8k");
  h.show_numbers();
  h.move(place_of(h, "memory.weights_bytes", 5));
  CHECK(h.parts.hovered.stage == 5);
  CHECK(drawn(h, "stage 5,"));
  h.move(h.place("verdict.memory")->rect.centre());
  h.step(2);
  CHECK(h.parts.hovered.stage == h.report().fullest_stage);
  h.move({2, 2});
  CHECK_FALSE(h.parts.hovered.stage.has_value());
  CHECK_FALSE(drawn(h, "stage 5,"));
}

TEST_CASE("the slider pointed at shows what each of its values would give") {
  Harness h("llama3-405b-16k-h100-8k");
  h.parts.settings.mesh.keep_product = false;  // of this field alone
  REQUIRE(h.reach("parallelism.tensor"));
  h.move(h.place("parallelism.tensor")->rect.centre());
  h.step(2);
  const engine::Field* field = engine::find_field("parallelism.tensor");
  engine::Scenario first = h.scenario();
  field->set(first, 1);
  const app::SliderPreview& band = band_of(h, "parallelism.tensor", first);
  REQUIRE(band.notches.size() == 9);  // 1 to 256
  for (const widgets::Notch& n : band.notches) {
    engine::Scenario s = h.scenario();
    field->set(s, n.value);
    const auto outcome = app::outcome_of(engine::evaluate(s));
    const widgets::Theme& t = h.workspace.theme();
    CAPTURE(n.value);
    CHECK(n.dashed == (outcome == app::Outcome::impossible));
    if (outcome == app::Outcome::compute) CHECK(n.colour == t.ok);
    if (outcome == app::Outcome::network) CHECK(n.colour == t.warn);
    if (outcome == app::Outcome::too_large) CHECK(n.colour == t.err);
  }
}

TEST_CASE("the band of a slider whose pipelines are long is made over several frames, and is the same") {
  Harness h("gpt3-175b-1024-a100");
  engine::Scenario plan = h.scenario();
  plan.pipeline.schedule = engine::ScheduleKind::zb_h1;  // no middle that repeats: each step is run as a whole
  h.parts.session.update(plan, false);
  h.parts.settings.mesh.keep_product = false;
  constexpr const char* kBatch = "workload.global_batch_sequences";
  const engine::Field* field = engine::find_field(kBatch);
  engine::Scenario first = h.scenario();
  field->set(first, 1);
  REQUIRE(h.reach(kBatch));
  h.move(h.place(kBatch)->rect.centre());
  std::vector<std::size_t> known;
  for (int frame = 0; frame < 100 && (known.empty() || !band_of(h, kBatch, first).finished()); ++frame) {
    h.step();
    known.push_back(band_of(h, kBatch, first).outcomes.size());
  }
  const app::SliderPreview& band = band_of(h, kBatch, first);
  REQUIRE(band.finished());
  CHECK(std::count_if(known.begin(), known.end(), [](std::size_t n) { return n > 0 && n < 17; }) >= 1);
  REQUIRE(band.outcomes.size() == 17);  // 1 to 65,536
  for (std::size_t i = 0; i < band.outcomes.size(); ++i) {
    CAPTURE(band.values[i]);
    engine::Scenario s = h.scenario();
    field->set(s, band.values[i]);
    CHECK(band.outcomes[i] == app::outcome_of(engine::evaluate(s)));
  }
}

TEST_CASE("with the product kept one axis grows and the partner shrinks") {
  Harness h("llama3-405b-16k-h100-8k");
  const int product = h.scenario().parallelism.fsdp * h.scenario().parallelism.tensor;
  CHECK(h.parts.settings.mesh.keep_product);
  REQUIRE(h.place("mesh.partner") != nullptr);
  h.drag("parallelism.tensor", 0.35f, 0.6f);
  CHECK(h.scenario().parallelism.tensor > 8);
  CHECK(h.scenario().parallelism.tensor * h.scenario().parallelism.fsdp == product);
  h.drag("parallelism.tensor", 0.6f, 1.0f);
  CHECK(h.scenario().parallelism.tensor * h.scenario().parallelism.fsdp == product);
  h.drag("parallelism.tensor", 1.0f, 0.0f);
  CHECK(h.scenario().parallelism.tensor == 1);
  CHECK(h.scenario().parallelism.fsdp == product);
  CHECK(h.parts.session.history().undo_depth() == 3);
}

TEST_CASE("a derivation says what a tenth more of each input would do, and each row opens the input") {
  Harness h("llama3-405b-16k-h100-8k");
  h.click("verdict.mfu");
  h.step(2);
  REQUIRE(h.parts.panels.right_rail.derivation.sensitivities.has_value());
  CHECK(h.parts.panels.right_rail.derivation.sensitivities->id == "mfu");
  REQUIRE_FALSE(h.parts.panels.right_rail.derivation.sensitivities->rows.empty());
  CHECK(drawn(h, "10 % more of each input"));
  const std::string input(
      engine::quantity(h.parts.panels.right_rail.derivation.sensitivities->rows.front().input).id);
  std::string last;
  for (const auto& [name, place] : h.parts.probe.all())
    if (name.starts_with("why.") && name.ends_with("." + input)) last = name;
  REQUIRE_FALSE(last.empty());
  h.click(last);
  CHECK(h.parts.panels.right_rail.derivation.trail.back() == input);
  // Not while a hand is on a control: there is no time for it.
  h.parts.panels.right_rail.derivation.trail = {"mfu"};
  h.step(2);
  REQUIRE(h.reach("workload.sequence_length"));
  const widgets::Rect track = h.place("workload.sequence_length.track")->rect;
  h.move({track.x + track.w * 0.4f, track.centre().y});
  h.press();
  h.move({track.x + track.w * 0.8f, track.centre().y});
  CHECK_FALSE(h.parts.panels.right_rail.derivation.sensitivities->scenario == h.scenario());
  h.release();
  h.step();
  CHECK(h.parts.panels.right_rail.derivation.sensitivities->scenario == h.scenario());
}
