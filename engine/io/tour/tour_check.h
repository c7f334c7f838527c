// That what a tour names is there: states, quantities, fields, inputs and outputs of blocks. For the .cpp files of
// engine/io/tour.
#pragma once

#include <string>

#include "engine/io/json/result.h"
#include "engine/io/presets/parts_json.h"
#include "engine/io/tour/tour.h"

namespace roofscape::io {

// The formulas in the scene's texts, in each of their languages.
Failure check_tour_texts(const TourScene& scene, const PartContext& context);
// Everything that a formula or text of the scene names.
Failure check_tour_names(const TourScene& scene, const PartContext& context);
// What the audience may move.
Failure check_tour_controls(const TourScene& scene, const PartContext& context);

}  // namespace roofscape::io
