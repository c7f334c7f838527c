// What stands over a figure on paper, and the words all figures share: chip or GPU, the scenario in one line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "widgets/canvas.h"
#include "widgets/figure.h"

namespace roofscape::widgets {

// Title and takeaway, then the line that states model, chips, plan and mode, inside a margin. Returns what is left
// below them; `area` itself where the view is not print (the window draws the head beside its buttons).
Rect draw_figure_head(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view,
                      const FigureHead& head);

// "LLaMA-3.1 405B on 16 384 H100 SXM, fsdp 128, tensor 8, pipeline 16, ZeRO-1; ideal mode".
std::string context_line(const FigureInput& input);

// The key of a text that differs by kind of chip: `stem` + ".gpu" for switched chips, else ".chip".
std::string chip_key(const FigureInput& input, std::string_view stem);

// `text` on at most `lines` lines that fit `width`, broken at spaces; the last one ends in an ellipsis if it must.
std::vector<std::string> wrap(const Canvas& canvas, std::string_view text, const TextStyle& style, float width,
                              int lines);

}  // namespace roofscape::widgets
