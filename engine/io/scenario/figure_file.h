// What a figure's file says of itself: the scenario it is drawn of, the figure and its options, as one line of JSON in
// the metadata of PDF, SVG, PNG and HTML. A picture that carries it opens as that scenario.
//   {"format": "roofscape/figure", "version": 1, "figure": "step", "with": {...}, "scenario": {...}, "baseline": {...}}
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/io/json/result.h"
#include "engine/io/presets/preset_library.h"
#include "engine/scenario/scenario.h"

namespace roofscape::io {

inline constexpr std::string_view kFigureFormat = "roofscape/figure";
// Where the record stands: the keyword of a PNG's text, and the id of an element of SVG and HTML. In a PDF it is the
// keywords of the document.
inline constexpr std::string_view kFigureKeyword = "roofscape";

struct FigureRecord {
  std::string figure;
  std::vector<std::pair<std::string, std::string>> choices;  // option and choice
  const engine::Scenario& scenario;
  const engine::Scenario* baseline = nullptr;
};

// One line, ASCII only.
std::string figure_record(const FigureRecord& record, const PresetLibrary& library);

// Whether a file is a picture of a kind that figures are written in, by its first bytes.
bool is_picture(std::string_view bytes);
// The JSON text of the scenario in a picture's record. `file` is for messages; a picture without one is an error.
Result<std::string> scenario_in_picture(std::string_view bytes, std::string_view file);

}  // namespace roofscape::io
