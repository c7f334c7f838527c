// The answers to "which cluster?" as words: each cluster, what its best plan comes to, and whether that is what was
// asked for. The window and the command line have their columns from here.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/search/cluster_choice.h"
#include "widgets/canvas/canvas.h"
#include "widgets/figures/search/plan_table.h"
#include "widgets/plot/text_table.h"

namespace roofscape::widgets::search {

struct ClusterTable {
  std::vector<PlanColumn> columns;
  std::vector<std::vector<std::string>> rows;  // in the order of the answers; a cell for each column
  bool assumed = false;                        // a row is of a chip that no run has been fitted to, and is marked
  bool idle = false;                           // a plan leaves chips idle, which its cost is without
};
bool leaves_idle(const engine::ClusterAnswer&);
// `serves`: whether the scenario does; its columns are others.
ClusterTable cluster_table(const TextTable& texts, bool serves, std::span<const engine::ClusterAnswer> answers);
// What is said of an answer that is pointed at: its cells that say something, and the time of a step.
Readout answer_readout(const TextTable& texts, const engine::ClusterAnswer& answer, std::string title);

}  // namespace roofscape::widgets::search
