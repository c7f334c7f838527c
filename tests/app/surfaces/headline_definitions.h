// What the numbers are that headlines of figures define themselves, each computed here by another way: from the
// report, from a scenario beside it that evaluate() is asked for, or from the table that the figure copies.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/report/report.h"
#include "engine/scenario/scenario.h"
#include "tests/app/surfaces/figure_table.h"
#include "widgets/figures/common/figure.h"

namespace roofscape::tests {

inline bool near(double a, double b, double tolerance = 1e-6) {
  return std::abs(a - b) <= tolerance * std::max({std::abs(a), std::abs(b), 1e-12});
}

// What a figure copies, and by column the numbers of cells that have something in them ("yes" is 1).
struct Columns : FigureTable {
  explicit Columns(const std::string& data);
  const std::vector<double>& operator[](const std::string& column) const;
  bool has(const std::string& column, double value) const;
  // Whether the value is that of one cell of a column over another's.
  bool is_ratio(const std::string& column, const std::string& over, double value) const;

  std::map<std::string, std::vector<double>> numbers;
};

struct ShownFigure {
  const widgets::FigureInput& input;
  const widgets::FigureView& view;
  const Columns& table;
  const engine::Scenario& s = input.scenario;
  const engine::Report& r = input.report;
  double q(engine::Q id) const { return r.quantities.value_or(id, 0); }
};

// By the name of the definition: whether a number is what it says.
using HeadlineDefinition = std::function<bool(const ShownFigure&, double)>;
const std::map<std::string, HeadlineDefinition>& headline_definitions();

}  // namespace roofscape::tests
