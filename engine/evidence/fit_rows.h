// The runs that a calibration is fitted to, ready to be predicted again and again. For the .cpp files of
// engine/evidence.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/evidence/measured_prediction.h"
#include "engine/io/presets/calibration_json.h"

namespace roofscape::evidence {

// Training and serving are fitted apart.
enum class FitTask { training, serving };
bool decides(FitTask, const io::SearchedValue&);

struct FitRow {
  PreparedEntry entry;
  std::size_t stack = 0;
  std::vector<std::size_t> values;  // of the entry, those that are observations: its time, its memory
  std::vector<double> weights;      // of each observation, and of what does not fit
  std::size_t first = 0;            // observation of this row
};

class FitRows {
 public:
  // Runs on the file's chips whose stack has values to search. `known`: with which the rules that fill what an entry
  // leaves open see what fits.
  FitRows(std::span<const io::Measurement>, const io::PresetLibrary&, const io::CalibrationFile&, FitTask,
          const engine::Calibration& known);

  std::span<const FitRow> rows() const { return rows_; }
  std::size_t observations() const { return observations_; }
  std::size_t refused() const { return refused_; }  // runs that nothing predicts
  // What the observations of a row are off with a calibration, ln(predicted / measured), and after them how far the
  // run is over what memory there is.
  void predict(std::size_t row, const engine::Calibration&, std::span<double> errors);

 private:
  std::vector<FitRow> rows_;
  std::vector<engine::Report> reports_;  // of the last evaluation: a pipeline keeps its order
  std::size_t observations_ = 0, refused_ = 0;
  engine::EvaluationScratch scratch_;
};

}  // namespace roofscape::evidence
