#include "app/core/calibration_origin.h"

#include "widgets/canvas/number_format.h"

namespace roofscape::app {

void tell_calibration_origins(engine::Derivation& derivation, const engine::Scenario& scenario,
                              io::CalibrationOrigins& origins, const widgets::TextTable& texts) {
  if (scenario.assumptions.mode != engine::Mode::calibrated) return;
  const std::string& file = scenario.cluster.chip.calibration.source;
  const engine::SoftwareStack stack = engine::software_stack(scenario);
  for (engine::DerivationLine& line : derivation.lines) {
    if (!line.is_input || line.source != file) continue;
    for (const engine::CalibrationRow& row : engine::kCalibrationRows) {
      if (line.id != "calibration." + std::string(row.id)) continue;
      const auto origin = origins.find(file, stack, row.parameter);
      if (!origin) break;
      if (origin->decided.runs > 0)
        line.source = texts.format("calibration.origin.measured",
                                   {widgets::format_count(static_cast<double>(origin->decided.runs)),
                                    widgets::format_count(static_cast<double>(origin->decided.sources)),
                                    widgets::format(origin->decided.low, row.unit),
                                    widgets::format(origin->decided.high, row.unit), origin->file});
      else
        line.source = texts.format(origin->searched ? "calibration.origin.prior" : "calibration.origin.stated",
                                   {origin->statement, origin->file});
    }
  }
}

}  // namespace roofscape::app
