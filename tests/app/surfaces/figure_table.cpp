#include "tests/app/surfaces/figure_table.h"

#include <cstdlib>

#include "widgets/figures/common/doubts.h"

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

FigureTable copied_table(const widgets::FigureRow& figure, const widgets::FigureInput& input) {
  std::string data = widgets::figure_data(figure, input, {});
  for (std::size_t at; (at = data.find(widgets::kDoubtMark)) != std::string::npos;)
    data.erase(at, widgets::kDoubtMark.size());
  return FigureTable(data);
}

double number_in(const std::string& cell) { return std::strtod(cell.c_str(), nullptr); }

}  // namespace roofscape::tests
