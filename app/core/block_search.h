// Building blocks by words that people use for them: their names, what they are about, other words for it, and what
// goes into them and comes out.
#pragma once

#include <string_view>
#include <vector>

#include "engine/blocks/block.h"
#include "widgets/plot/text_table.h"

namespace roofscape::app {

struct FoundBlock {
  const engine::BuildingBlock* block = nullptr;
  double score = 0;  // more is better
};

// Those in which every word is found, the best first; of equals in the order of the table.
std::vector<FoundBlock> find_blocks(const widgets::TextTable& texts, std::string_view words);

}  // namespace roofscape::app
