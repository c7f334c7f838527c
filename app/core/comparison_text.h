// Two plans side by side for a terminal: what is said of each, the fields in which they differ, and the numbers that do.
#pragma once

#include <string>

#include "engine/report/report.h"
#include "engine/scenario/scenario.h"
#include "widgets/plot/text_table.h"

namespace roofscape::app {

struct ComparedPlan {
  const engine::Scenario& scenario;
  const engine::Report& report;
};

// Both train, or both serve. `pairs`: how measured pairs went that differ as these do (widgets::pairs_text), or empty.
std::string comparison_text(const ComparedPlan& a, const ComparedPlan& b, const std::string& pairs,
                            const widgets::TextTable& texts);

}  // namespace roofscape::app
