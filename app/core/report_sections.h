// The sections of a report's numbers in the order in which a terminal shows them: of one plan (report_text.h), and of
// two side by side (comparison_text.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/quantity.h"
#include "engine/scenario/scenario.h"

namespace roofscape::app {

struct ReportSection {
  // What the report of one plan says below a section that is no quantity.
  enum class Below : std::uint8_t { nothing, placement, run_counts };
  std::string_view title;  // a key of the texts
  std::span<const engine::Q> rows;
  std::optional<engine::Q> total = {};  // the rows are its parts
  Below below = Below::nothing;
};

std::vector<ReportSection> report_sections(const engine::Scenario&);

}  // namespace roofscape::app
