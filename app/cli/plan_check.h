// What check asks beside a plan's report and the changes of it: what a search finds, and whether the plan meets what is
// required of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/json/result.h"
#include "engine/report/report.h"
#include "engine/search/plan.h"
#include "engine/search/serving_search.h"
#include "engine/studies/evidence.h"

namespace roofscape::app::cli {

// The best plan of the whole space of a training scenario. None: the chip lacks a figure, or no plan fits.
struct FoundPlan {
  engine::Plan plan;
  double step_time_s = 0, mfu = 0, memory_bytes = 0;
};
std::optional<FoundPlan> found_plan(const engine::Scenario&);

// Of a scenario that serves: the plan that generates most, of those that fit and keep what is promised, and what the
// scenario's own generates, if it is one of these.
struct FoundDecoding {
  engine::RankedDecoding best;
  std::optional<double> present_tokens_per_s;
};
std::optional<FoundDecoding> found_decoding(const engine::Scenario&);

// One of "fits,mfu>=0.35,step<=12s".
struct Requirement {
  std::string written;
  bool fits = false;  // else a quantity against a limit
  engine::Q quantity = engine::Q::mfu;
  bool at_least = false;
  double limit = 0;

  // Unmet where the number is not known.
  bool met(const engine::Report&) const;
};
io::Result<std::vector<Requirement>> read_requirements(std::string_view text, const engine::Scenario&);

}  // namespace roofscape::app::cli
