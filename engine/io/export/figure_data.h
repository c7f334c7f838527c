// The table of a figure as files: what `figure -o x.csv` and `-o x.json` write. Figures give their table as
// tab-separated text with a line of names first.
#pragma once

#include <string>
#include <string_view>

namespace roofscape::io {

std::string csv_of_table(std::string_view tab_separated);

// {"format": "roofscape/figure-data", "version": 1, "title", "takeaway", "context", "columns": [...], "rows": [[...]]};
// `record` (scenario/figure_file.h), where it is not empty, adds "figure", "with", "scenario" and "baseline". Numbers are
// numbers, an empty field is null.
struct FigureTable {
  std::string_view title, takeaway, context;
  std::string_view tab_separated;
  std::string_view record;
};
std::string figure_data_json(const FigureTable& table);

}  // namespace roofscape::io
