// A recipe: the figures of a paper or a lecture in one file, which `roofscape-cli figures` makes.
//   {"format": "roofscape/figures", "version": 1,
//    "all": {"venue": "icml", "bare": true},
//    "figures": [{"figure": "step", "scenario": "llama3-405b-16k-h100", "set": ["pipeline.schedule=1f1b"],
//                 "output": "step.pdf", "caption": "step.tex"}, ...]}
// A figure's members are the options of `roofscape-cli figure`, with _ for -; what stands under "all" is each figure's
// where it says nothing itself. Files are relative to the recipe's folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/io/json/result.h"

namespace roofscape::io {

struct RecipeFigure {
  std::string figure, scenario, output;
  std::vector<std::string> set, with;
  std::string baseline, measured, theme, size, venue, head, caption, font, text_size, dpi, svg_text;
  bool bare = false, svg_tooltips = false;
};

// The first figure of a recipe is "figures.0" in messages. Errors: no recipe, an unknown member, a wrong type, a figure
// without "figure", "scenario" or "output", two figures with one output.
Result<std::vector<RecipeFigure>> read_recipe(std::string_view text, std::string_view file);

// The text of a recipe with one figure more, all else as it stands; an empty text begins a recipe. What the figure says
// is written as it is: files relative to the recipe's folder. Errors: those of reading, before and after.
Result<std::string> add_figure(std::string_view text, std::string_view file, const RecipeFigure& figure);

}  // namespace roofscape::io
