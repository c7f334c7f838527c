// Where a value of a shipped calibration comes from: how many published runs decide it, or that it is what was known
// before, or a statement of its own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/io/presets/calibration_json.h"

namespace roofscape::io {

struct CalibrationOrigin {
  std::string file;       // "presets/calibration/h100.json"; where a value is inherited, the file that has it
  bool searched = false;  // `calibrate` looks for it
  Decided decided;        // by runs; of a searched value without any it is its start
  std::string statement;  // of a value that is not searched: a fact with its source, or a guess
};

// Reads a file once: a derivation names some ten values of one, and is made anew in each frame of a drag. Copies share
// what was read.
class CalibrationOrigins {
 public:
  CalibrationOrigins();

  // `source` as Calibration::source; nothing where the file or the value is not one that ships.
  std::optional<CalibrationOrigin> find(std::string_view source, engine::SoftwareStack stack,
                                        engine::Calibrated parameter);

 private:
  struct Files;
  std::shared_ptr<Files> files_;
};

}  // namespace roofscape::io
