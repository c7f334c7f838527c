// Whether a suggested change of a serving scenario is worth offering. A change is evaluated first: it must not break
// what holds (it runs, fits, keeps the promise, keeps up with the arrivals), and either mend one of these or give more
// tokens for each chip, or the same sooner or in less memory.
#pragma once

#include "engine/report.h"
#include "engine/scenario.h"

namespace roofscape::engine {

// Where changes are tried; its memory is reused.
struct FixRoom {
  Scenario scenario;
  Report report;
};

// Empties the fixes of the report's diagnostics that are not worth it; all of them where there is no room.
void keep_worthy_fixes(const Scenario&, FixRoom* room, Report&);

}  // namespace roofscape::engine
