// Do the error bands hold? Each published run is given the band that the others make, with predictions of calibrations
// that saw no run of its model: how many runs have a band, and how many of these lie inside it. A band says nine in
// ten. Harder is to lie in it without the runs of one's own model from one's own source: that is what a plan unlike all
// others may expect, and what decides how wide bands are and whether they are shown (engine/studies/evidence.h).
#pragma once

#include <span>
#include <vector>

#include "engine/io/presets/measurements.h"
#include "engine/io/presets/preset_library.h"
#include "engine/studies/evidence.h"

namespace roofscape::evidence {

std::vector<engine::CoverageRow> coverage_rows(std::span<const io::Measurement>, const io::PresetLibrary&,
                                               engine::Mode);

}  // namespace roofscape::evidence
