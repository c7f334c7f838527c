// Blocks asked backwards: which value of an input gives an output that is asked for. The block's own formulas are run
// for trial values of the input, so that every block answers for every number it takes: given the days how many
// chips, given the time which bandwidth, given the memory how many tokens.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/blocks/block.h"

namespace roofscape::engine {

// An output with the value it shall have, as it is typed: "30", "1.5e-3", "true", "compute".
struct WantedOutput {
  std::string output, text;
};

// What was found. Of a whole number the wanted value lies between two of them in general: the one that was taken keeps
// a time, an amount of memory or a cost at or below what was asked, and anything else at or above it.
struct SolvedInput {
  std::string input;
  WantedOutput wanted;
  double value = 0;                    // of the input
  std::optional<double> reached;       // what the output then is; none of words
  std::optional<double> next_value;    // the whole number on the other side,
  std::optional<double> next_reached;  // and what the output is there
  std::optional<double> residual;      // reached less wanted; none of words and truths
  int trials = 0;                      // values of the input for which the block was run
};

// Numbers, truths and words of which an input can be asked.
bool can_be_wanted(const BlockOutput&);

// The inputs that such a value can be solved for: numbers that the output follows from, those typed in first. `call` is
// complete.
std::vector<std::string> inputs_behind(const BlockCall& call, const BlockOutput&);

// Gives `call`, in which nothing is filled in yet, the value of `input` at which the output is as wanted: the least one
// where there are several. Empty: the one input that the output still needs. Errors: no such input, one that is typed
// in, more than one unknown, a value that the output does not reach; the remedy says what it does reach.
std::optional<BlockError> solve_block(BlockCall& call, const WantedOutput&, std::string_view input, const Chip*,
                                      const TransformerShape*, SolvedInput& found);

}  // namespace roofscape::engine
