// Where the groups of a plan lie on a torus, for a search that tries several placements: which of them are one, and
// which it may try beside the scenario's own.
#pragma once

#include <optional>
#include <vector>

#include "engine/scenario/scenario.h"
#include "engine/search/plan.h"

namespace roofscape::engine {

struct TorusPlaces {
  // The torus axes of every group that sends; the same number for two placements that no time tells apart, because the
  // one has torus axes where the other has others like them.
  int code = 0;
  AxisArray<unsigned> on{};  // torus axes of the groups of a mesh axis, as bits; 0: it lies nowhere
};
// Of the mesh and the placement that the plan names. Nothing lies anywhere on switches.
TorusPlaces torus_places(const Scenario&, const Plan&);

// Whether a search may place this mesh axis as the plan has it: tensor and pipeline on torus axes that no other group
// has, the others on none that these two have.
bool keeps_axes_apart(const Scenario&, const Plan&, Axis);

// By mesh axis, each in the order in which they are tried.
using PlacesTried = AxisArray<std::vector<TorusAxes>>;
// The first of the combinations of these, the last axis changing fastest, that is the plan's own placement for its
// mesh; axes that lie nowhere have their first place then. Nothing: none of them is.
std::optional<AxisArray<TorusAxes>> first_placed_as(const Scenario&, const PlacesTried&, const Plan&);

}  // namespace roofscape::engine
