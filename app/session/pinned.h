// A scenario with its report, pinned to be compared with: the baseline of a tab.
#pragma once

#include "engine/report/report.h"
#include "engine/scenario/scenario.h"
#include "widgets/figures/common/figure.h"

namespace roofscape::app {

struct Pinned {
  engine::Scenario scenario;
  engine::Report report;
  widgets::Baseline baseline{scenario, report};
  explicit Pinned(engine::Scenario s);
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
};

}  // namespace roofscape::app
