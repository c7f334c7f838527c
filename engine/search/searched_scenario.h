// What of a scenario a search reads. The space covers most choices of the present plan (its mesh, microbatch, ZeRO
// stage, checkpointing policy, offload), so changing one of them changes neither the list nor the front, the map or the
// counts; only where the present plan stands among them (place_present). Two scenarios for which this is equal have the
// same result in everything else, given equal requests.
#pragma once

#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// The scenario with everything that a search of its plans does not read set to one value.
Scenario searched_scenario(const Scenario&);

}  // namespace roofscape::engine
