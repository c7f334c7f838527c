// What a scenario is called once it is not what it was, and where its numbers come from.
#include <doctest/doctest.h>

#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/scenario_title.h"

#include <algorithm>
#include <random>
#include <string>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/explain.h"
#include "engine/evaluate/provenance.h"
#include "engine/scenario/domains.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::library;
using tests::preset;
using tests::with;

TEST_CASE("a preset is called what its file says, in every mode") {
  for (const io::Preset& p : library().list(io::PresetKind::scenario)) {
    const Scenario s = preset(p.id);
    CHECK(scenario_title(s) == p.name);
    CHECK(scenario_title(with(s, {"assumptions.mode=calibrated", "assumptions.flops=exact"})) == p.name);
  }
}

TEST_CASE("any other field changed, a preset's name does not stand over it") {
  for (const char* id : {"llama3-70b-v5p-pod", "llama3-70b-serving-8-h100"}) {
    const Scenario was = preset(id);
    for (const Field& field : scenario_fields()) {
      if (field.path.starts_with("assumptions.")) continue;
      Scenario s = was;
      const double next = field.get(s) == field.maximum ? field.minimum : field.get(s) + 1;
      if (!in_domain(field, next)) continue;
      field.set(s, next);
      CAPTURE(field.path);
      CHECK(scenario_title(s) != was.name);
      CHECK(scenario_source(s).empty());
      field.set(s, field.get(was));
      CHECK(scenario_title(s) == was.name);
    }
  }
}

TEST_CASE("on another cluster it is called after its model and the chips it runs on") {
  CHECK(scenario_title(with(preset("llama3-70b-v5p-pod"), {"cluster=dgx-h100"})) ==
        "LLaMA-3 70B on 8 NVIDIA H100 SXM 80 GB");
  CHECK(scenario_title(with(preset("llama3-70b-serving-8-h100"), {"model=llama3-8b"})) ==
        "Serving LLaMA-3 8B on 8 NVIDIA H100 SXM 80 GB");
}

TEST_CASE("another plan for the same model and cluster is the name, edited") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"parallelism.tensor=8", "parallelism.fsdp=512"});
  CHECK(scenario_title(s) == "LLaMA-3 70B on one v5p pod (edited)");
}

TEST_CASE("a saved scenario keeps its title, and says what it was made from") {
  for (const char* change : {"parallelism.tensor=8", "cluster=dgx-h100", "model=llama3-8b", "model.n_layers=40"}) {
    const Scenario s = with(preset("llama3-70b-v5p-pod"), {change});
    const std::string text = io::write_scenario(s, library());
    const auto back = io::read_scenario(text, "saved.json", library());
    REQUIRE(back.ok());
    CHECK(scenario_title(back.value()) == scenario_title(s));
    CHECK(back.value() == s);
    CHECK(text.find("\"made_from\": \"LLaMA-3 70B on one v5p pod\"") != std::string::npos);
    CHECK(model_title(back.value().model) == model_title(s.model));
  }
}

TEST_CASE("a file keeps the name of an edited plan without the word for it, however often it is written") {
  Scenario s = with(preset("llama3-70b-v5p-pod"), {"parallelism.tensor=8"});
  for (int i = 0; i < 3; ++i) {
    const std::string text = io::write_scenario(s, library());
    CHECK(text.find("\"name\": \"LLaMA-3 70B on one v5p pod\"") != std::string::npos);
    CHECK(text.find("(edited)") == std::string::npos);
    const auto back = io::read_scenario(text, "saved.json", library());
    REQUIRE(back.ok());
    s = back.value();
    CHECK(scenario_title(s) == "LLaMA-3 70B on one v5p pod (edited)");
  }
}

TEST_CASE("a file that names an edited plan by its title reads as one that names it by what it was made from") {
  std::string text = io::write_scenario(with(preset("llama3-70b-v5p-pod"), {"parallelism.tensor=8"}), library());
  const std::string name = "\"name\": \"LLaMA-3 70B on one v5p pod";
  REQUIRE(text.find(name) != std::string::npos);
  text.insert(text.find(name) + name.size(), kEditedSuffix);
  const auto back = io::read_scenario(text, "older.json", library());
  REQUIRE(back.ok());
  CHECK(scenario_title(back.value()) == "LLaMA-3 70B on one v5p pod (edited)");
  CHECK(scenario_title(with(back.value(), {"parallelism.tensor=4"})) == "LLaMA-3 70B on one v5p pod (edited)");
}

TEST_CASE("a size changed by hand is sourced so, the others as before") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"model.n_layers=40"});
  const auto derivation = explain(s, "params.total");
  REQUIRE(derivation.has_value());
  CHECK(derivation->find("model.n_layers")->source == kSetByHand);
  CHECK(derivation->find("model.d_model")->source == preset("llama3-70b-v5p-pod").model.source);
  CHECK(model_title(s.model) == "LLaMA-3 70B (edited)");
  CHECK(model_source(s.model).ends_with("edited by hand: n_layers"));
}

TEST_CASE("a model keeps what was edited through a file, and a name given after the edits stands") {
  Scenario s = with(preset("llama3-70b-v5p-pod"), {"model.n_layers=40", "model.d_ff=1024"});
  set_model_name(s.model, "Mine");
  const auto back = io::read_scenario(io::write_scenario(s, library()), "saved.json", library());
  REQUIRE(back.ok());
  CHECK(model_title(back.value().model) == "Mine");
  CHECK(back.value().model.edits.fields == s.model.edits.fields);
}

TEST_CASE("a chip with a figure changed by hand is called edited") {
  const Scenario s = with(preset("llama3-8b-8-h100"), {"cluster.chip.hbm_bytes=96e9"});
  CHECK(chip_title(s.cluster.chip) == "NVIDIA H100 SXM 80 GB (edited)");
}

TEST_CASE("the numbers a figure from memory reaches are those that have it in their derivation") {
  Scenario s = with(preset("llama3-8b-8-h100"), {"model=chinchilla-70b"});
  s.model.source = "a paper, from memory, not verified";
  const Provenance doubts = unverified_inputs(s, evaluate(s));
  REQUIRE_FALSE(doubts.inputs.empty());
  int checked = 0;
  for (const std::string_view id : {"step.time_s", "memory.free_bytes", "params.total", "run.days", "mfu"}) {
    const auto derivation = explain(s, id);
    REQUIRE(derivation.has_value());
    bool doubtful = false, simulated = false;
    for (const DerivationLine& line : derivation->lines) {
      doubtful = doubtful || (line.is_input && line.source.find(kUnverified) != std::string::npos);
      simulated = simulated || line.is_simulated;
    }
    CAPTURE(id);
    if (simulated) continue;
    CHECK(doubts.reaches(derivation->lines.front().quantity) == doubtful);
    ++checked;
  }
  CHECK(checked > 0);
}

TEST_CASE("where no source of model, chip or calibration says that it is not verified, no input of a plan says so") {
  int doubtful = 0, plans = 0;
  const auto look_at = [&](const Scenario& s) {
    ++plans;
    const bool found = has_unverified_source(s);
    bool said = false;
    const Recording run(s);
    for (const std::string& id : run.explainable())
      if (const auto line = run.explain(id, 0); line && line->lines.front().is_input)
        said = said || line->lines.front().source.find(kUnverified) != std::string::npos;
    CHECK((found || !said));
    CHECK((found || unverified_inputs(s, evaluate(s)).inputs.empty()));
    doubtful += said ? 1 : 0;
  };
  for (const io::Preset& p : library().list(io::PresetKind::scenario))
    for (const Mode mode : {Mode::ideal, Mode::calibrated}) {
      CAPTURE(p.id);
      Scenario s = preset(p.id);
      s.assumptions.mode = mode;
      look_at(s);
    }
  for (const char* base : {"llama3-8b-8-h100", "llama3-8b-serving-8-h100"})
    for (const io::Preset& p : library().list(io::PresetKind::chip)) {
      CAPTURE(p.id);
      look_at(with(preset(base), {"cluster.chip=" + p.id}));
    }
  CHECK(plans > 60);
  const int of_presets = doubtful;
  Scenario marked = preset("llama3-8b-8-h100");
  marked.model.source = "a paper, from memory, not verified";
  look_at(marked);
  CHECK(doubtful == of_presets + 1);
}
