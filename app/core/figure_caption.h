// The caption of a figure as a file of its own, for papers that set it: what the figure shows, what it says and what it
// is of, as LaTeX (to be \input inside \caption) or as plain text.
#pragma once

#include <filesystem>
#include <string>

#include "engine/io/json/result.h"
#include "widgets/figures/common/figure.h"

namespace roofscape::app {

std::string caption_text(const widgets::FigureHead& head);
// The same with what LaTeX reads otherwise escaped: reserved characters, thin spaces and the signs that its fonts lack
// outside formulas.
std::string caption_latex(const widgets::FigureHead& head);
// The content of a file, by its extension: .tex or .txt.
io::Result<std::string> caption_file(const widgets::FigureHead& head, const std::filesystem::path& file);

}  // namespace roofscape::app
