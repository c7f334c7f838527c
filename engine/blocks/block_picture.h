// What the figure of a block shows: its outputs over one input (curves), at each word of a choice (columns), or beside
// each other. Every block has a picture of its own; another input and other outputs can be asked for.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/blocks/block.h"

namespace roofscape::engine {

struct BlockPicture {
  std::string_view over;                  // an input, a number or a choice; empty: the outputs beside each other
  std::vector<std::string_view> outputs;  // numbers of one unit; beside each other also lists
  std::size_t points = 97;                // of a curve; few where each is a simulation
};

// The block's own picture.
const BlockPicture& picture_of(const BuildingBlock& block);

// The picture with another input and other outputs; an empty one stays as it is, "none" asks for outputs beside each
// other. The error's `input` is "over" or "show".
struct PictureAnswer {
  BlockPicture picture;
  std::optional<BlockError> error;
};
PictureAnswer picture_with(const BuildingBlock& block, std::string_view over, std::span<const std::string> outputs);
// Inputs and outputs that a picture can have, in the order of the block.
std::vector<const BlockInput*> picture_inputs(const BuildingBlock& block);
std::vector<const BlockOutput*> picture_outputs(const BuildingBlock& block);

// One output: a number at each x, NaN where the block has no answer. Beside each other: its entries.
struct PictureLine {
  const BlockOutput* output = nullptr;
  std::vector<double> y;
};

struct PictureData {
  const BlockInput* over = nullptr;  // null: outputs beside each other
  std::vector<double> x;             // values of `over`, ascending; of a choice the index of the word
  bool even_steps = false;           // x goes in even steps rather than in even ratios
  std::optional<double> now;         // what `over` is in the call
  std::vector<PictureLine> lines;    // those with an answer anywhere
  std::vector<std::string> missing;  // without lines: inputs that the outputs need
  bool is_choice() const { return over != nullptr && !over->is_numeric(); }
};

// Runs the block over double at each point of the picture. An x that the block refuses (a split that does not come out
// even) has no number.
PictureData picture_data(const BlockCall& call, const BlockPicture& picture);

// A round value of the right size for an input of which nothing is known: an example to type over, the middle of an
// axis.
double typical_value(const BlockInput& input);

}  // namespace roofscape::engine
