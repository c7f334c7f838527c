// The derivation of what was clicked: its formula in symbols and with numbers, what it is made of, and the inputs
// with their sources.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/panels/panel_context.h"
#include "engine/evaluate/explain.h"
#include "engine/evaluate/sensitivity.h"
#include "engine/io/presets/calibration_origin.h"

namespace roofscape::app {

struct DerivationState {
  std::vector<std::string> trail;  // ids of the derivations opened, the last one is shown

  // The derivation that is shown, kept while neither it nor the scenario changes.
  struct Derived {
    std::string id;
    engine::Scenario scenario;
    std::optional<engine::Derivation> derivation;
  };
  std::optional<Derived> derived;
  // What more of each input would do to it; kept while a control is held.
  struct Sensitivities {
    std::string id;
    engine::Scenario scenario;
    std::vector<engine::SensitivityRow> rows;
  };
  std::optional<Sensitivities> sensitivities;
  io::CalibrationOrigins origins;

  void open(std::string id);
};

engine::Scenario derivation_panel(PanelContext& ctx, const widgets::Rect& r, DerivationState& state,
                                  engine::Scenario scenario);

}  // namespace roofscape::app
