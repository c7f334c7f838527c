// A measured run beside its prediction as tables: for a terminal and for the window.
#pragma once

#include <string>
#include <vector>

#include "engine/report/report.h"
#include "engine/scenario/scenario.h"
#include "engine/studies/measured_run.h"
#include "widgets/plot/text_table.h"

namespace roofscape::app {

// Everything that is said of one measured run.
struct MeasuredAnswer {
  engine::MeasuredRun run;
  engine::MeasuredComparison comparison;
  std::vector<engine::ClosingAssumption> closing;
};
MeasuredAnswer measured_answer(const engine::Scenario&, const engine::Report&, engine::MeasuredRun);

struct MeasuredSection {
  std::string title;
  std::vector<std::string> head;               // of the columns; the first is of the names
  std::vector<std::vector<std::string>> rows;  // as many cells as the head has; all but the first are numbers
  bool summed = false;                         // the last row is the sum of those above it
};
std::vector<MeasuredSection> measured_sections(const MeasuredAnswer&, const widgets::TextTable&);

// The sections for a terminal.
std::string measured_text(const MeasuredAnswer&, const widgets::TextTable&);

}  // namespace roofscape::app
