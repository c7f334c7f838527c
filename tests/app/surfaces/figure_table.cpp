#include "tests/app/surfaces/figure_table.h"

#include <sstream>

namespace roofscape::tests {

namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> out(1);
  for (const char c : line) {
    if (c == '\t')
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

}  // namespace

FigureTable::FigureTable(const std::string& data) {
  std::istringstream lines(data);
  std::string line;
  if (std::getline(lines, line)) head = cells_of(line);
  while (std::getline(lines, line)) rows.push_back(cells_of(line));
}

}  // namespace roofscape::tests
