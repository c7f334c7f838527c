// What one measurement is predicted to be. For the .cpp files of engine/io.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/io/measurements.h"
#include "engine/io/preset_library.h"
#include "engine/scenario.h"

namespace roofscape::io {

// A number in the unit of the measured quantity, or why there is none.
using Prediction = std::variant<double, std::string>;

struct EntryPrediction {
  std::vector<Prediction> values;    // one for each of the entry's, in their order
  std::vector<std::string> assumed;
  bool fits = true;                  // its memory does, as predicted
};

EntryPrediction predict(const Measurement&, const PresetLibrary&, engine::Mode);

// "training_time", "memory", "decode", "kernel", "collective", "analytic".
std::string kind_of(const Measurement&, const std::string& quantity);

}  // namespace roofscape::io
