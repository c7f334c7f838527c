// The inputs of a derivation that are values of a calibration say what decides them: "measured: 41 runs of 5 sources,
// 0.80 to 0.88 (presets/calibration/h100.json)", "prior: no run decides it", "guess: ...".
#pragma once

#include "engine/evaluate/explain.h"
#include "engine/io/presets/calibration_origin.h"
#include "engine/scenario/scenario.h"
#include "widgets/plot/text_table.h"

namespace roofscape::app {

// In calibrated mode; of other modes and of chips without a calibration the sources stay as they are.
void tell_calibration_origins(engine::Derivation&, const engine::Scenario&, io::CalibrationOrigins&,
                              const widgets::TextTable&);

}  // namespace roofscape::app
