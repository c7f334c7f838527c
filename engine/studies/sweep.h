#pragma once

// A table of quantities over every combination of some fields' values. How a value is set is the caller's: presets can
// be varied like numbers.

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/quantity.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

struct SweepRow {
  std::vector<std::size_t> choice;  // by varied field: which of its values
  std::vector<std::optional<double>> quantities;
  std::vector<Absence> absences;  // by quantity: why it has no value
  bool fits = false;              // no verdict where there is an error
  std::string bound;              // empty: the plan cannot run
  std::string error;              // code of the first error diagnostic; empty: none
};

// Sets one value of a varied field; false: it cannot be set, and the sweep ends.
using SetChoice = std::function<bool(Scenario&, std::size_t field, std::size_t value)>;

// Rows in which the last field varies fastest; `sizes`: how many values each field has, at least one. None where a
// value could not be set.
std::optional<std::vector<SweepRow>> sweep(const Scenario& base, std::span<const std::size_t> sizes,
                                           std::span<const Q> quantities, const SetChoice& set);

}  // namespace roofscape::engine
