// The options of roofscape-cli search, and what they ask for: of a training scenario, and of one that serves.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/scenario_input.h"
#include "engine/search/search.h"
#include "engine/search/serving_search.h"

namespace roofscape::app::cli {

struct SearchOptions {
  ScenarioInput input;
  int limit = 10;
  std::string objective;                            // empty: step time, or throughput where the scenario serves
  std::vector<std::string> pin, at_least, at_most;  // dimension=value
  double min_free = 0;
  bool every = false;                        // plans that differ in nothing that counts are listed too
  double most_token_s = 0, most_ttft_s = 0;  // of serving plans
  bool across_nodes = false;
  bool slow_end = false;
  std::string runs_on;  // id of a launcher or server; empty: any plan
  bool json = false, csv = false;
};

void add_search_options(OptionList&, SearchOptions&);

// Constraints and objective from the options; complains about the first that cannot be.
std::optional<engine::SearchRequest> request_of(const Context&, const SearchOptions&, const engine::Scenario&);
// What the options promise takes the place of what the workload does.
std::optional<engine::ServingRequest> serving_request_of(const Context&, const SearchOptions&,
                                                         const engine::Scenario&);

}  // namespace roofscape::app::cli
