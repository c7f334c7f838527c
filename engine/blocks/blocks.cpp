// The table of building blocks.
#include "engine/blocks/spec.h"

namespace roofscape::engine {

std::span<const BuildingBlock> blocks() {
  static const std::vector<BuildingBlock> all = [] {
    std::vector<BuildingBlock> table;
    for (const auto& family :
         {block_table::roofline_blocks(), block_table::hardware_blocks(), block_table::network_blocks(),
          block_table::sharding_blocks(), block_table::model_blocks(), block_table::memory_blocks(),
          block_table::bounds_blocks(), block_table::parallelism_blocks(), block_table::pipeline_blocks(),
          block_table::run_blocks(), block_table::serving_blocks(), block_table::serving_limit_blocks()})
      table.insert(table.end(), family.begin(), family.end());
    return table;
  }();
  return all;
}

const BuildingBlock* find_block(std::string_view id) {
  for (const BuildingBlock& block : blocks())
    if (block.id == id) return &block;
  return nullptr;
}

}  // namespace roofscape::engine
