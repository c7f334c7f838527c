// Which numbers of a report rest on figures that nobody has verified: those whose source says so ("from memory, not
// verified"). Followed through the arithmetic that was done (Traced), so a number is marked exactly when such a figure
// entered it. Made on demand; evaluate() does not pay for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/quantity.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

inline constexpr std::string_view kUnverified = "not verified";  // what such a source says

struct Provenance {
  std::vector<std::string> inputs;  // ids of the quantities that are such figures and were used, each once
  std::vector<Q> reached;           // all quantities they entered, the inputs among them, sorted
  bool reaches(Q quantity) const;
};
// Whether there is such a figure at all.
bool has_unverified_source(const Scenario&);
// `report`: evaluate()'s of the scenario, whose pipeline is not run again.
Provenance unverified_inputs(const Scenario&, const Report& report);

}  // namespace roofscape::engine
