// The fit of what one task decides of one calibration file: training, or on top of it serving. calibration_fit.h says
// what is minimised. For the .cpp files of engine/evidence.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "engine/evidence/fit_rows.h"
#include "engine/io/presets/calibration_json.h"

namespace roofscape::evidence {

inline constexpr int kMostFitSteps = 30;  // of Gauss and Newton

// What a calibration has of a value that is searched, which some stacks share.
double searched_value(const engine::Calibration&, const io::SearchedValue&);
void set_searched_value(engine::Calibration&, const io::SearchedValue&, double);

class TaskFit {
 public:
  // `held`: of the rows, those that are left out; empty: none is.
  using Held = std::vector<bool>;
  struct Found {
    engine::Calibration calibration;
    double objective = 0;
  };

  TaskFit(std::span<const io::Measurement>, const io::PresetLibrary&, const io::CalibrationFile&, FitTask,
          const engine::Calibration& known);

  const FitRows& rows() const { return rows_; }
  // Which values are fitted: those that enough runs feel with the calibration `at`. Counts who feels them.
  void choose(const engine::Calibration& at, std::vector<io::Decided>& decided);
  // The values that another of the same file has chosen.
  void search_as(const TaskFit& other) { searched_ = other.searched_; }
  // Fits with all runs and gives up what they say less of than was known before; the calibration found before that.
  engine::Calibration keep_what_is_decided(const engine::Calibration& base, std::vector<io::Decided>& decided);
  // From `from`; what is not searched is as in `base`.
  Found search(const engine::Calibration& base, const engine::Calibration& from, double pull, const Held& held,
               int steps);
  // A run that completed did fit. Where the most likely values say otherwise, those that only memory feels go down
  // together, of each generation of software by itself, as far as it takes; runs that a standard deviation does not make
  // fit are off for other reasons and decide nothing here.
  engine::Calibration make_room(engine::Calibration found, const Held& held);
  // The rows that `is_held` says.
  Held held(const std::function<bool(const io::Measurement&)>& is_held) const;
  // Adds the absolute errors of the rows that `counts` says.
  void errors_of(const engine::Calibration&, const std::function<bool(const io::Measurement&)>& counts,
                 std::vector<double>& out);

 private:
  using Vector = std::vector<double>;
  struct Minimum;  // where a search stands
  // ln(predicted / measured) of each observation; of held rows 0.
  Vector predictions(const engine::Calibration&, const Held& held = {});
  void predict_row(std::size_t row, const engine::Calibration&, Vector& errors);
  // The rows whose stack has the value.
  void predict(const engine::Calibration&, const io::SearchedValue&, Vector& errors, const Held& held = {});
  Minimum minimise(const engine::Calibration& base, const engine::Calibration& from, double pull, const Held& held,
                   int steps);
  void look(Minimum& at, const Held& held);
  // Of each value searched the share of its variance before that the runs take away: 1 - pull (A + pull)^-1.
  static Vector decided_by_data(const Minimum& at);

  const io::CalibrationFile& file_;
  FitTask task_;
  FitRows rows_;
  std::vector<std::size_t> searched_;  // of the file's
};

}  // namespace roofscape::evidence
