// Measurements as the points of engine/studies/evidence.h: one for each run and kind of quantity, with what is
// predicted for it in the unit of its kind. A run published as tokens a second, MFU or TFLOP/s is told as the step
// time that gives that figure, by the same FLOPs and tokens that the prediction has; of several figures of one run
// the most direct counts. In calibrated mode a run is predicted by the calibration that was found without the runs of
// its model, where its chip's file has one.
#pragma once

#include <span>

#include "engine/io/presets/evidence_files.h"
#include "engine/studies/evidence.h"

namespace roofscape::evidence {

engine::Evidence evidence_points(const io::EvidenceFiles&, const io::PresetLibrary&, engine::Mode);
// The same with the record of measured pairs.
engine::Evidence evidence_with_pairs(const io::EvidenceFiles&, const io::PresetLibrary&, engine::Mode);
// In both modes.
engine::EvidenceSet evidence_set(const io::EvidenceFiles&, const io::PresetLibrary&);

}  // namespace roofscape::evidence
