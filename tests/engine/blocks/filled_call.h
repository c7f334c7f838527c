// A block with a value for every input that it takes: a chip, a model, and typical values for the rest.
#pragma once

#include <fmt/format.h>

#include "engine/blocks/block_picture.h"
#include "tests/engine/fixtures.h"

namespace roofscape::tests {

// What the block refuses beside the others is left out.
inline engine::BlockCall filled_call(const engine::BuildingBlock& block) {
  const bool torus = block.find_input("axis_bytes_per_s") != nullptr || block.id.starts_with("tpu");
  const engine::Chip* chip = library().find_chip(torus ? "tpu-v5p" : "h100-sxm");
  const engine::TransformerShape* model =
      library().find_model(block.id == "mla" || block.id == "moe" ? "deepseek-v3" : "llama3-70b");
  engine::BlockCall call(block);
  const auto completed = [&](engine::BlockCall some) {
    some.complete(chip, model);
    return some;
  };
  const auto answers = [](const engine::BlockCall& some) {
    const engine::BlockResult result = engine::run_block_plain(some);
    std::size_t n = 0;
    for (const auto& answer : result.answers) n += result.error || answer.is_absent() ? 0 : 1;
    return n;
  };
  for (const engine::BlockInput& in : block.inputs) {
    const engine::BlockCall before = completed(call);
    if (before.value(in.name).is_known() || !in.is_numeric()) continue;
    engine::BlockCall more = call;
    if (more.set(in.name, fmt::format("{}", engine::typical_value(in)))) continue;
    const engine::BlockCall after = completed(more);
    if (engine::run_block_plain(after).error || answers(after) < answers(before)) continue;
    call = more;
  }
  return completed(call);
}

}  // namespace roofscape::tests
