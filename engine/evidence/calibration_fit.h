// Fits a calibration to measurements, inside the physical bounds of the parameters, from a start that is written
// down: downhill over all of them at once (Levenberg and Marquardt), then one by one. No random numbers, so the same
// file gives the same calibration. Minimised is the mean over families of the mean of |ln(predicted / measured)|,
// with the median of all rows: small families count as much as large ones, and single rows far off do not decide. A
// run that completed and is predicted not to fit is charged.
//
// Training, kernels and collectives decide what the chips and the training software do; inference alone decides what
// the software that serves does, on top of them.
//
// Cross-validation fits everything anew from the start with the rows of one family, and of one model, left out, and
// looks at how far those rows are off then.
//
// Searched are the values of the file that have a "start"; a value under "parameters" moves for all software at once.
// Moving one costs a little, so that what no measurement decides keeps its start.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/io/presets/calibration_json.h"
#include "engine/io/presets/measurements.h"
#include "engine/io/presets/preset_library.h"

namespace roofscape::evidence {

struct HeldOut {
  std::string name;  // of the family or model that was left out
  std::size_t rows = 0;
  double fitted = 0;    // median absolute error on it when it took part
  double held_out = 0;  // and when it did not
};

struct CalibrationFit {
  engine::Calibration calibration;
  std::size_t rows = 0;
  double start = 0, objective = 0;
  double median = 0, mean = 0;  // absolute error of the rows
  std::vector<HeldOut> by_family, by_model;
  double family_left_out = 0,
         model_left_out = 0;  // median absolute error of all rows, each when its family or model was left out
};

// Fits the chips of the file, from its start. `hold_out`: the cross-validation too.
CalibrationFit fit_calibration(std::span<const io::Measurement>, const io::PresetLibrary&, const io::CalibrationFile&,
                               bool hold_out);

}  // namespace roofscape::evidence
