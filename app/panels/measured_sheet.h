// A measured run beside the plan that is shown: step, where the difference is, kernels, collectives, memory, and which
// assumption would close the gap. While it is read, how far that is, and a way to stop.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/core/measured_sections.h"
#include "app/panels/sheet.h"

namespace roofscape::app {

struct MeasuredSheetState {
  std::string name;               // of what is being read
  std::optional<double> reading;  // how much of it was read; none: nothing is
  struct Laid {                   // over the plan, kept while both are the same
    engine::Scenario scenario;
    std::shared_ptr<const engine::MeasuredRun> run;
    std::string summary;
    std::vector<MeasuredSection> sections;
  };
  std::optional<Laid> laid;
};

// The answer is kStopReading where reading is to stop.
inline constexpr const char* kStopReading = "stop";
inline constexpr const char* kForgetMeasured = "forget";  // or what was read is to go
SheetReply measured_sheet(PanelContext& ctx, const widgets::Rect& window, MeasuredSheetState& state);

}  // namespace roofscape::app
