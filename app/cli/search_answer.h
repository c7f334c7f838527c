// What roofscape-cli search says of what it has found, to be read by people.
#pragma once

#include <string>

#include "app/cli/command.h"
#include "engine/search/search.h"
#include "engine/search/serving_search.h"
#include "engine/studies/evidence.h"

namespace roofscape::app::cli {

// The measured runs that are told beside a list. `ranks`: its plans are ranked by them, at the slow ends of their bands.
struct MeasuredBeside {
  const engine::Evidence* evidence = nullptr;  // null: there are none to tell
  bool ranks = false;
};

// The counts, the list, and how the present plan stands against it.
std::string search_text(const Context&, const engine::Scenario&, const engine::SearchRequest&,
                        const engine::SearchResult&, const MeasuredBeside&);
std::string serving_text(const Context&, const engine::Scenario&, const engine::ServingRequest&,
                         const engine::ServingSearchResult&, const MeasuredBeside&);

// Why the present plan cannot run, and what would mend it, on one line; empty: it runs.
std::string present_problem(const Context&, const engine::Scenario&);

}  // namespace roofscape::app::cli
