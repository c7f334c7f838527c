// The table of building blocks.
#include "engine/blocks/spec.h"

namespace roofscape::engine {

std::span<const BuildingBlock> blocks() {
  static const std::vector<BuildingBlock> all = [] {
    std::vector<BuildingBlock> table;
    const auto add = [&table](BlockTopic topic, std::vector<BuildingBlock> family) {
      for (BuildingBlock& block : family) {
        block.topic = topic;
        table.push_back(std::move(block));
      }
    };
    add(BlockTopic::roofline, block_table::roofline_blocks());
    add(BlockTopic::hardware, block_table::hardware_blocks());
    add(BlockTopic::network, block_table::network_blocks());
    add(BlockTopic::sharding, block_table::sharding_blocks());
    add(BlockTopic::model, block_table::model_blocks());
    add(BlockTopic::memory, block_table::memory_blocks());
    add(BlockTopic::memory, block_table::update_blocks());
    add(BlockTopic::bounds, block_table::bounds_blocks());
    add(BlockTopic::parallelism, block_table::parallelism_blocks());
    add(BlockTopic::pipeline, block_table::pipeline_blocks());
    add(BlockTopic::run, block_table::run_blocks());
    add(BlockTopic::serving, block_table::serving_blocks());
    add(BlockTopic::serving, block_table::serving_limit_blocks());
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
