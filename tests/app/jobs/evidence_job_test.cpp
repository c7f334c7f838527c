// Predictions of the published measurements beside the window, while the window takes other presets.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

#include "app/session/evidence_job.h"
#include "app/session/session.h"
#include "engine/io/presets/preset_json.h"
#include "engine/io/scenario/scenario_json.h"
#include "tests/engine/io/io_fixture.h"

using namespace roofscape;
using app::EvidenceJob;
using Presets = std::shared_ptr<const io::PresetLibrary>;

TEST_CASE("a preset that is saved while the evidence job runs is there at once, and the job ends with its own") {
  const test::TemporaryFolder folder;
  const auto presets = std::make_shared<const io::PresetLibrary>(folder.path());
  app::Session session(presets, io::load_scenario("llama3-8b-8-h100", *presets).value(), "llama3-8b-8-h100");
  EvidenceJob job;
  job.start(session.presets());
  engine::TransformerShape mine = session.scenario().model;
  mine.id = "mine";
  folder.write("models/mine.json", io::write_model_preset(mine, session.library()));
  session.use_presets(std::make_shared<const io::PresetLibrary>(folder.path()));
  CHECK(session.library().find_model("mine") != nullptr);
  CHECK(presets->find_model("mine") == nullptr);
  job.wait();
  CHECK_FALSE(job.take_problem());
  CHECK(job.take() != nullptr);
}

TEST_CASE("the evidence job keeps its presets until it ends, and no longer") {
  Presets presets = std::make_shared<const io::PresetLibrary>();
  const std::weak_ptr<const io::PresetLibrary> kept = presets;
  EvidenceJob job;
  job.start(std::move(presets));
  job.wait();
  CHECK(job.take() != nullptr);
  CHECK(kept.expired());
}

TEST_CASE("the evidence job wakes the window once, and gives its result once") {
  int woken = 0;
  EvidenceJob job;
  job.set_wake([&woken] { ++woken; });
  job.start(std::make_shared<const io::PresetLibrary>());
  job.start(std::make_shared<const io::PresetLibrary>());  // it was started
  job.wait();
  CHECK(woken == 1);
  CHECK(job.take() != nullptr);
  CHECK(job.take() == nullptr);
}

TEST_CASE("the evidence job is not done again by who starts it after its end") {
  EvidenceJob job;
  job.start(std::make_shared<const io::PresetLibrary>());
  job.wait();
  CHECK(job.take() != nullptr);
  job.start(std::make_shared<const io::PresetLibrary>());
  job.wait();
  CHECK(job.take() == nullptr);
}

TEST_CASE("the evidence job wakes nobody after the window took its wake back") {
  int woken = 0;
  EvidenceJob job;
  job.set_wake([&woken] { ++woken; });
  job.start(std::make_shared<const io::PresetLibrary>());
  job.set_wake({});
  const int before = woken;  // it may have ended already
  job.wait();
  CHECK(woken == before);
}
