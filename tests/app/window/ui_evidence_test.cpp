// The error band beside the numbers: where it is, what it says, and what a click opens.
#include <doctest/doctest.h>

#include "tests/app/window/ui_checks.h"
#include "tests/capture_binding.h"

#include "app/panels/evidence_band.h"
#include "widgets/figures/figures.h"

namespace roofscape {
namespace {

using engine::EvidenceKind;
using engine::EvidencePoint;

// `n` runs like the scenario whose steps were predicted 10 % too long to 20 % too short; ideal mode half as long.
std::shared_ptr<const engine::EvidenceSet> runs_like(const engine::Scenario& scenario, int n) {
  auto set = std::make_shared<engine::EvidenceSet>();
  set->ideal.mode = engine::Mode::ideal;
  for (int i = 0; i < n; ++i)
    for (const EvidenceKind kind : {EvidenceKind::step, EvidenceKind::memory, EvidenceKind::decode})
      for (engine::Evidence* evidence : {&set->calibrated, &set->ideal}) {
        EvidencePoint p;
        p.id = "run";
        p.family = "A paper";
        p.kind = kind;
        p.error = (i % 2 == 0 ? 0.1 : -0.2) - (evidence == &set->ideal ? 0.4 : 0);
        p.measured = 1;
        p.predicted = 1 + p.error;
        p.complete = true;
        p.features = engine::evidence_features(scenario);
        evidence->points.push_back(std::move(p));
      }
  return set;
}

engine::Scenario calibrated(const std::string& id) {
  engine::Scenario s = test::preset(id);
  s.assumptions.mode = engine::Mode::calibrated;
  return s;
}

// A harness whose window has the evidence.
struct WithEvidence : test::Harness {
  WithEvidence(const engine::Scenario& s, int runs, float width = 1920, float height = 1080)
      : Harness(s, "", width, height) {
    parts.evidence = runs_like(s, runs);
    step(2);
  }
};

bool maximised(const test::Harness& h, std::string_view figure) {
  return h.parts.panels.figures.maximised && widgets::figures()[*h.parts.panels.figures.maximised].name == figure;
}

TEST_CASE("beside MFU, step time and memory stands an error band") {
  const WithEvidence h(calibrated("llama3-8b-8-h100"), 8);
  for (const char* name : {"verdict.mfu.band", "verdict.step.band", "verdict.memory.band"})
    CHECK_MESSAGE(h.place(name) != nullptr, name);
}

TEST_CASE("beside the time per token of a scenario that serves stands an error band") {
  const WithEvidence h(calibrated("llama3-8b-serving-8-h100"), 8);
  CHECK(h.place("verdict.token.band") != nullptr);
  CHECK(h.place("verdict.memory.band") == nullptr);
}

TEST_CASE("with too few runs near it a number is not validated, and a click shows the runs there are") {
  WithEvidence h(calibrated("llama3-8b-8-h100"), 4);
  REQUIRE(h.place("verdict.step.band") != nullptr);
  h.click("verdict.step.band");
  CHECK(maximised(h, "evidence"));
}

TEST_CASE("a click on the band of memory opens the evidence of memory") {
  WithEvidence h(calibrated("llama3-8b-8-h100"), 8);
  h.click("verdict.memory.band");
  REQUIRE(maximised(h, "evidence"));
  widgets::FigureChoices memory{};
  REQUIRE(widgets::choose(*widgets::find_figure("evidence"), "quantity", "memory", memory));
  CHECK(h.parts.panels.figures.choices[*h.parts.panels.figures.maximised] == memory);
}

TEST_CASE("before the runs are predicted there is no band") {
  const test::Harness h(calibrated("llama3-8b-8-h100"), "", 1920, 1080);
  CHECK(h.place("verdict.step.band") == nullptr);
}

TEST_CASE("values of one's own have no band") {
  engine::Scenario s = calibrated("llama3-8b-8-h100");
  s.assumptions.mode = engine::Mode::custom;
  CHECK(WithEvidence(s, 8).place("verdict.step.band") == nullptr);
}

TEST_CASE("the mode is chosen in the top bar, in large and in small windows") {
  test::Harness large("llama3-8b-8-h100");
  REQUIRE(large.place("mode") != nullptr);
  const widgets::Rect r = large.place("mode")->rect;
  large.click({r.x + r.w / 2, r.centre().y});
  CHECK(large.scenario().assumptions.mode == engine::Mode::calibrated);
  const test::Harness small("llama3-8b-8-h100", 1280, 720);
  CHECK(small.place("mode") != nullptr);
}

TEST_CASE("a band cuts and covers no text at any size of the window") {
  for (const char* id : {"llama3-8b-8-h100", "llama3-405b-16k-h100", "llama3-8b-serving-8-h100"})
    for (const int runs : {0, 8})
      for (const auto& [w, h] : {std::pair{1280.0f, 720.0f}, std::pair{1920.0f, 1080.0f}, std::pair{1000.0f, 640.0f},
                                 std::pair{3840.0f, 2160.0f}}) {
        CAPTURE(id);
        CAPTURE_BINDING(w);
        WithEvidence shown(calibrated(id), runs, w, h);
        test::check_texts(shown, w);
        test::check_overlaps(shown);
      }
}

TEST_CASE("the job predicts the measurements that ship, once") {
  test::Harness h("llama3-8b-8-h100");
  h.workspace.finish_evidence();
  REQUIRE(h.parts.evidence != nullptr);
  CHECK(h.parts.evidence->calibrated.points.size() > 600);
  CHECK_FALSE(h.workspace.take_evidence());
}

}  // namespace
}  // namespace roofscape
