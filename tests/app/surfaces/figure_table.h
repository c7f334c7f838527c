// The table that a figure copies, cell by cell.
#pragma once

#include <string>
#include <vector>

#include "widgets/figures/figures.h"

namespace roofscape::tests {

struct FigureTable {
  // Text of widgets::figure_data: a head, then rows, with tabs between cells.
  explicit FigureTable(const std::string& data);

  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};

// What a figure copies, without the marks of doubt.
FigureTable copied_table(const widgets::FigureRow& figure, const widgets::FigureInput& input);
double number_in(const std::string& cell);

}  // namespace roofscape::tests
