// Fits a calibration to measurements: the most likely values, given what was known before (calibration_priors.h) and
// how far each run's prediction is off. Minimised is
//   sum over observations of weight * rho(ln(predicted / measured)) + pull * sum over values of (distance from start)^2
// with rho(e) = sqrt(e^2 + d^2) - d, the smoothed absolute error, and the distance in standard deviations of the prior.
// Every observation counts to the end: none is given up however far off it is. Of one run its time is one observation
// and its memory another; figures that restate the time (a rate, TFLOP/s, MFU) are not counted again. A run that
// completed and is predicted not to fit is charged for what is over. By Gauss and Newton with Levenberg's and
// Marquardt's damping on reweighted squares; no random numbers, so the same file gives the same calibration.
//
// Training, kernels and collectives decide what the chips and the training software do; inference alone decides what
// the software that serves does, on top of them.
//
// Fitted are the values of the file that have a "start", that at least kFewestRuns runs feel (a value moved from one
// bound to the other changes their predictions by kFeels or more), and of whose variance before the runs take away
// half or more. The others keep their start: they are priors. The strength of the pull is the one of kPulls with which
// runs of models that were left out, a tenth of the models at a time, are predicted best; those of training, where there
// are any: few values are of serving alone, and there are many runs of it.
//
// Left out are the runs of each model, of each source, and of each of ten folds (by their id), each time with a fit of
// its own; the calibrations found without them are kept, so that every shipped run can be predicted by a calibration
// that never saw it.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/presets/calibration_json.h"
#include "engine/io/presets/measurements.h"
#include "engine/io/presets/preset_library.h"

namespace roofscape::evidence {

inline constexpr std::array kPulls{0.01, 0.03, 0.1, 1.0};
inline constexpr std::size_t kFewestRuns = 3;
inline constexpr double kFeels = 0.02;

struct LeftOutErrors {
  io::LeftOutKind kind{};
  std::string name;
  std::size_t observations = 0;
  double fitted = 0, left_out = 0;  // median absolute error of them
};

// How runs of models left out are predicted with a pull.
struct PullTried {
  double pull = 0, mean = 0, median = 0, p90 = 0;  // mean: of ln(1 + absolute error), the least of which decides
};

struct CalibrationFit {
  io::FittedCalibration result;
  std::size_t rows = 0, refused = 0;  // runs that took part, and those that nothing predicts
  double start = 0, objective = 0;
  double median = 0, mean = 0;  // absolute error of the observations
  std::vector<PullTried> pulls;
  std::vector<LeftOutErrors> groups;
  // Median and 90th percentile of all, each when its group was left out, by LeftOutKind.
  std::array<double, io::kLeftOutKinds> left_out_median{}, left_out_p90{};
};

// What a run is called when it is left out with others of its kind.
std::string left_out_name(io::LeftOutKind, const io::Measurement&);

// Fits the chips of the file, from its start. `leave_out`: also chooses the pull and fits without each group, which
// takes minutes; else the file's own pull is used. `parent` is the file that this one inherits from, or null.
// `progress` is told how many of how many fits are done.
CalibrationFit fit_calibration(std::span<const io::Measurement>, const io::PresetLibrary&, const io::CalibrationFile&,
                               const io::CalibrationFile* parent, bool leave_out,
                               const std::function<void(std::size_t, std::size_t)>& progress = {});

}  // namespace roofscape::evidence
