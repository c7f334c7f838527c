// What one measurement is predicted to be. For the .cpp files of engine/evidence.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/io/presets/measurements.h"
#include "engine/io/presets/preset_library.h"
#include "engine/scenario/scenario.h"

namespace roofscape::evidence {

// The units measurements are published in, in those the engine computes in.
inline constexpr double kGiga = 1e9, kTera = 1e12;

// A number in the unit of the measured quantity, or why there is none.
using Prediction = std::variant<double, engine::Sentence>;

struct EntryPrediction {
  std::vector<Prediction> values;  // one for each of the entry's, in their order
  std::vector<engine::Sentence> assumed;
  bool fits = true;   // its memory does, as predicted
  double excess = 0;  // what it takes beyond the memory there is, of that; less than 0: it fits
};

// An entry made ready: its scenario or chips, built once and then evaluated as often as calibrations change.
struct PreparedEntry {
  const io::Measurement* entry = nullptr;
  engine::Mode mode = engine::Mode::ideal;
  std::optional<engine::Scenario> scenario;  // training
  std::optional<engine::Cluster> cluster;    // one operation
  int ranks = 1;
  engine::Sentence reason;  // why there is neither
  std::vector<engine::Sentence> assumed;
  std::vector<double> flops;  // of each value whose meaning depends on a convention, else 0
};
PreparedEntry prepare(const io::Measurement&, const io::PresetLibrary&, engine::Mode);
EntryPrediction predict(const PreparedEntry&);
// The same with working memory: the report of an entry priced again and again keeps the order of its pipeline.
EntryPrediction predict(const PreparedEntry&, engine::EvaluationScratch&, engine::Report&);
EntryPrediction predict(const io::Measurement&, const io::PresetLibrary&, engine::Mode);

// Whether a quantity is a share that is compared in points.
bool in_points(const std::string& quantity);

// "training_time", "memory", "inference", "token_time", "first_token", "first_token_cold", "kernel", "collective",
// "bubble", "analytic", "layer". A cold first token waits for kernels to be built, which no prediction knows and no fit
// is given.
std::string kind_of(const io::Measurement&, const std::string& quantity);

}  // namespace roofscape::evidence
