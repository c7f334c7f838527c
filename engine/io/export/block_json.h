// Building blocks (engine/blocks) from text and as JSON: what `roofscape-cli calc` reads and prints.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "engine/blocks/block.h"
#include "engine/blocks/solve.h"
#include "engine/io/json/result.h"
#include "engine/io/presets/preset_library.h"

namespace roofscape::io {

struct BlockQuestion {
  engine::BlockCall call;
  std::string chip, model;                    // presets that gave what was left out; empty: none
  std::optional<engine::SolvedInput> solved;  // an input that was found from an output
};

// The block called `id` with inputs as typed, "name=value" each; "chip=PRESET" and "model=PRESET" give what is left
// out. An output with a value asks backwards: the one input that it lacks, or that "solve=INPUT" names, is found. The
// error names the block or input, its domain, and the nearest known word.
Result<BlockQuestion> read_block_question(std::string_view id, std::span<const std::string> assignments,
                                          const PresetLibrary& library);

// An error where the inputs contradict each other, or decide no output at all and no preset was asked.
Result<engine::BlockResult> answer(const BlockQuestion& question);

// {"block": id, "inputs": {name: value}, "outputs": {name: {"value": x, "unit": u}}}; an absent output has null and
// either the inputs it misses, "needs", with what the preset says of them, "because": {name: words}, or why it has no
// value whatever else is given, "reason": the key of a text, calc.absent.<reason>.
std::string block_json(const BlockQuestion& question, const engine::BlockResult& result);
// All blocks with inputs (unit, default, domain) and outputs. `text` gives the words for a key of the texts.
std::string blocks_json(const std::function<std::string(const std::string&)>& text, const engine::Words& words);

// Keys of the texts that say what an input or output is.
std::string about_key(const engine::BlockInput& input);
std::string about_key(const engine::BlockOutput& output);
// "2", "d_model / n_heads", "of the chip", "none": what an input is when it is left out.
engine::Sentence default_of(const engine::BlockInput& input);

}  // namespace roofscape::io
