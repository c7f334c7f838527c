// Shipped presets, evaluated, for the tests of figures that need a report that belongs to its scenario.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "engine/evaluate.h"
#include "engine/io/scenario_json.h"
#include "tests/widgets/figure_fixture.h"

namespace roofscape::widgets::testing {

inline FigureCase evaluated(const engine::Scenario& scenario) { return {scenario, engine::evaluate(scenario)}; }

inline FigureCase preset_case(const std::string& id) {
  static const io::PresetLibrary shipped;
  const auto scenario = io::load_scenario(id, shipped);
  REQUIRE_MESSAGE(scenario.ok(), id);
  return evaluated(scenario.value());
}

}  // namespace roofscape::widgets::testing
