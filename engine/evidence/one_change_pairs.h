// Does the ranking hold? People choose between plans, so what counts is the difference between two of them. Of all
// published training runs, those pairs in which a source changed one thing and measured again: which of both was
// faster, by how much, and what is predicted of that; by a calibration that saw no run of their model, where there is
// one. Runs that contradict their neighbours (contradicting_runs.h) are in no pair.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/io/presets/measurements.h"
#include "engine/io/presets/preset_library.h"
#include "engine/scenario/scenario.h"
#include "engine/studies/plan_change.h"

namespace roofscape::evidence {

using engine::PairSummary;
using engine::PlanChange;

struct OneChangePair {
  std::string first, second;  // ids of the runs
  PlanChange change{};
  double measured = 0, predicted = 0;  // ln of the second's tokens per chip and second over the first's
};
std::vector<OneChangePair> one_change_pairs(std::span<const io::Measurement>, const io::PresetLibrary&, engine::Mode);

PairSummary pair_summary(std::span<const OneChangePair>);
PairSummary pair_summary(std::span<const OneChangePair>, PlanChange);
engine::PairRecord pair_record(std::span<const OneChangePair>);

}  // namespace roofscape::evidence
