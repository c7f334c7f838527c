// Predicted against measured: every quantity of every entry of a measurement file, with the signed error
// (predicted - measured) / measured or the reason there is no prediction; and summaries by family, by kind of run,
// overall. In calibrated mode the errors stand beside those of calibrations that were found without the run's fold,
// its model and its source (calibration_fit.h).
//
// Runs that contradict their neighbours (contradicting_runs.h) are predicted like all others and summed up apart.
//
// A run counts once for each kind: of figures that say the same (step time, tokens a second, TFLOP/s, MFU) the summaries
// take the first, most direct one; a run that no figure predicts counts as not predicted. Shares of idle time are
// compared in points, since a part of nearly nothing is no error.
//
// FLOPs conventions, chosen by the words with which an entry says how its figure was counted:
//   "hardware FLOPs"                  model FLOPs with full attention, and what is computed again
//   "n_params" or "6N"                6 FLOP a parameter and token, and full attention (Chowdhery et al. 2022)
//   "causal" without "non-causal"     every matrix multiplication, half of attention
//   anything else, or no words        every matrix multiplication, full attention
// and beside these "without windows": as if all layers saw all tokens; "without gates": two matrices of an MLP's three.
// MFU and HFU are over the chip's dense peak in the precision of the run.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/io/presets/calibration_json.h"
#include "engine/io/presets/measurements.h"
#include "engine/io/presets/preset_library.h"
#include "engine/scenario/scenario.h"

namespace roofscape::evidence {

struct ValidationRow {
  std::string id, family, chip, quantity, kind;  // kind: training_time, memory, decode, kernel, collective, analytic
  bool restates = false;                         // what another figure of the run says
  double measured = 0;
  std::optional<double> predicted;
  double error = 0;  // where there is a prediction; of a share in points
  // The same without the runs of the kind (io::LeftOutKind); none in ideal mode.
  std::array<std::optional<double>, io::kLeftOutKinds> left_out;
  engine::Sentence reason;                // where there is none
  std::vector<engine::Sentence> assumed;  // what the entry leaves open and a rule filled
  std::string chips;                      // of a training run: "h100 dense", "h100 experts"
  std::string model;                      // of serving: its name
  std::string operation;                  // of a piece of a step: "gemm fp8" (operation_of); else empty
  bool held_out = false;                  // no fit has seen it
  bool contradicts = false;               // its neighbours (contradicting_runs.h): no summary but its own counts it
  bool complete = false;                  // the entry states its whole configuration
  bool false_out_of_memory = false;       // it ran, and is predicted not to fit, by the fit or by one without it
};

struct ValidationSummary {
  std::string name;
  std::size_t n = 0;  // runs with a prediction
  std::size_t not_predicted = 0;
  double median = 0, mean = 0, p90 = 0;  // of the absolute error
  double worst = 0;
  double bias = 0;                      // mean of the signed error
  std::size_t false_out_of_memory = 0;  // entries
  // Median and 90th percentile of the absolute errors without each run's model, source, fold; n says of how many.
  struct Without {
    std::size_t n = 0;
    double median = 0, p90 = 0;
  };
  std::array<Without, io::kLeftOutKinds> left_out;
  Without held_out;  // of those that no fit may use
};

struct Validation {
  std::vector<ValidationRow> rows;          // in the order of the file
  std::vector<ValidationSummary> families;  // in the order they appear in
  // The same by kind; training_time_complete: rows with a complete configuration;
  // training_time_experts: of models with experts.
  std::vector<ValidationSummary> kinds;
  ValidationSummary overall;
  ValidationSummary contradicting;       // of the runs that contradict their neighbours, which no other one counts
  std::vector<ValidationSummary> chips;  // times of training by generation of chips, dense models and experts apart
  // Time per token and to the first one of servers: "token_time h100-sxm", and by model.
  std::vector<ValidationSummary> serving;
  std::vector<ValidationSummary> operations;  // pieces of a step: kernels, layers, whether a run fits
};

Validation validate(std::span<const io::Measurement>, const io::PresetLibrary&, engine::Mode);
// `rows` in file order and the summaries of them.
Validation summarised(std::vector<ValidationRow> rows);

}  // namespace roofscape::evidence
