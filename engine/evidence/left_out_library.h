// Presets as they would be had some published runs never been seen: calibrations that were found without the model,
// the source or the fold of a run. For the .cpp files of engine/evidence.
#pragma once

#include <string>
#include <vector>

#include "engine/io/presets/calibration_json.h"
#include "engine/io/presets/measurements.h"
#include "engine/io/presets/preset_library.h"

namespace roofscape::evidence {

class LeftOutLibrary {
 public:
  explicit LeftOutLibrary(const io::PresetLibrary& with_all);
  // Null where the calibration of the entry's chip came without such fits: nothing is known of a run left out. Where it
  // has them but was not fitted to such runs, it is the shipped one. Good until the next call.
  const io::PresetLibrary* without(io::LeftOutKind, const io::Measurement&);

 private:
  std::vector<io::CalibrationFile> files_;
  io::PresetLibrary library_;
  io::LeftOutKind kind_{};
  std::string name_;
};

}  // namespace roofscape::evidence
