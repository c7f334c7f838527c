// The table that a figure copies, cell by cell.
#pragma once

#include <string>
#include <vector>

namespace roofscape::tests {

struct FigureTable {
  // Text of widgets::figure_data: a head, then rows, with tabs between cells.
  explicit FigureTable(const std::string& data);

  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};

}  // namespace roofscape::tests
