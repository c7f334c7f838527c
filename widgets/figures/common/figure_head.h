// What stands over a figure on paper and at its foot, and the words all figures share: chip or GPU, the scenario in one line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "widgets/canvas/canvas.h"
#include "widgets/figures/common/figure.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

// em of the line that states model, chips, plan and mode: 7 points on paper, and no text there is smaller.
inline constexpr float kCaptionText = 0.78f;

inline constexpr std::string_view kHeadGroup = "head";  // that a canvas has the lines of a head in

// Title and takeaway, then the line that states model, chips, plan and mode, inside a margin: what of them `view`
// wants. Returns what is left below them; `area` itself where the view is not print (the window draws the head beside
// its buttons).
Rect draw_figure_head(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view,
                      const FigureHead& head);

// The same of a head that is whole: what it is of stands in its context.
Rect draw_printed_head(Canvas& canvas, const Rect& area, const Theme& theme, const FigureHead& head,
                       const HeadParts& parts = {});

// Lines of prose at the foot of `rest`, with a little room over them, which are cut off it; and what they take of it.
float foot_height(const Canvas& canvas, std::size_t lines, float line);
void draw_foot_lines(Canvas& canvas, Rect& rest, const std::vector<std::string>& lines, float line,
                     const TextStyle& style);

// "LLaMA-3.1 405B on 16 384 H100 SXM, fsdp 128, tensor 8, pipeline 16, ZeRO-1; 1F1B, 16 microbatches of 1; 2048
// sequences of 8192 tokens; layer inputs kept; bf16; ideal mode": all that the numbers of a plan depend on and that a
// person sets. Of a plan that serves the batch and the lengths of requests.
std::string context_line(const FigureInput& input);

// Lines for figures that are not of the plan: of the model alone, of its chips (`count` of them; 0: the scenario's
// own); of the plan at the rates its chip is published with, whatever the mode.
std::string model_context(const FigureInput& input);
std::string chips_context(const FigureInput& input, std::size_t count = 0);
std::string published_context(const FigureInput& input);
// context_line() and what the baseline has instead: "...; baseline: pipeline.schedule 1f1b, ...". At most `most`
// differences are named.
std::string compared_context(const FigureInput& input, std::size_t most = 4);
// Without the maker's name and the words after the type: "H100 SXM", "TPU v5p".
std::string short_name(const engine::Chip& chip);
// "calibrated mode".
std::string mode_text(const TextTable& texts, engine::Mode mode);

// The key of a text that differs by kind of chip: `stem` + ".gpu" for switched chips, else ".chip".
std::string chip_key(const FigureInput& input, std::string_view stem);

}  // namespace roofscape::widgets
