// The figure of a building block: curves of its outputs over one input with the present point, columns of one output by
// the words of a choice, or outputs beside each other. The workbench draws it beside the answers, `figure block NAME`
// into a file. What it shows is computed by engine::picture_data.
#pragma once

#include <string>

#include "engine/blocks/block_picture.h"
#include "widgets/canvas/canvas.h"
#include "widgets/canvas/theme.h"
#include "widgets/figures/common/figure.h"
#include "widgets/plot/text_table.h"

namespace roofscape::widgets {

struct BlockFigure {
  const engine::BlockCall& call;  // completed
  const engine::PictureData& data;
  const TextTable& texts;
  const Theme& theme;
  HeldAxes* axes = nullptr;  // null: axes fit the data
};

// "matmul: FLOP/s reached over rows", the present value, and what was given.
FigureHead block_figure_head(const BlockFigure& figure);
// `print`: under these parts of its head, as files have it.
void draw_block_figure(Canvas& canvas, const Rect& area, const BlockFigure& figure, bool print,
                       const HeadParts& parts = {});
// What it shows as tab-separated text with a line of names first; numbers in full, in base units.
std::string block_figure_data(const BlockFigure& figure);

}  // namespace roofscape::widgets
