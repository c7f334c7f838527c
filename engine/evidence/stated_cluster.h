// The cluster that a measurement ran on, as far as its entry states it; what it leaves open is filled by a rule:
//
//   node    8 chips; TPU slices as near to a square or cube as the count of chips allows
//   fabric  the chip's figure, or what the entry's cluster says as "NxM Gb/s ... per node" or "M Gb/s per GPU"
#pragma once

#include <variant>

#include "engine/base/sentence.h"
#include "engine/io/presets/measurements.h"
#include "engine/io/presets/preset_library.h"
#include "engine/scenario/scenario.h"

namespace roofscape::evidence {

// Of `ranks` chips; or why there is none.
std::variant<engine::Cluster, engine::Sentence> build_cluster(const io::Measurement&, const io::PresetLibrary&,
                                                              int ranks);

}  // namespace roofscape::evidence
