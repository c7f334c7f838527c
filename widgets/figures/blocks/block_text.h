// Building blocks in words: the labels of inputs and outputs, and the words of a choice or an answer.
#pragma once

#include <string>
#include <string_view>

#include "engine/blocks/block.h"
#include "widgets/plot/text_table.h"

namespace roofscape::widgets {

std::string input_label(const TextTable& texts, const engine::BlockInput& in);
std::string output_label(const TextTable& texts, const engine::BlockOutput& out);
// Whether an output is a quantity, with its label and unit.
bool is_quantity(const engine::BlockOutput& out);
// What the question of a block is about, as heads say it.
std::string block_name(const TextTable& texts, const engine::BuildingBlock& block);
// A word of a choice or an answer as people say it, where its id is not that already.
std::string block_word(const TextTable& texts, std::string_view word);

}  // namespace roofscape::widgets
