// What choose_cluster() answers as JSON and CSV: a list in its order, each with "cluster", "chip", "chips", "verdict" (an id),
// "calibrated", quantities by their ids, and "plan" by the paths of the scenario's fields, or null.
#pragma once

#include <span>
#include <string>

#include "engine/search/cluster_choice.h"

namespace roofscape::io {

std::string clusters_json(std::span<const engine::ClusterAnswer> answers);
std::string clusters_csv(std::span<const engine::ClusterAnswer> answers);  // the plan's fields as columns

}  // namespace roofscape::io
