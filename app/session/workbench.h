// The workbench without its drawing: which building block is open, what was given to it, and what it answers.
// Everything is made from the table of blocks (engine/blocks/block.h) and answered by what `roofscape-cli calc`
// calls, so that the two cannot disagree.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/session.h"
#include "engine/blocks/block.h"
#include "engine/blocks/block_picture.h"
#include "engine/evaluate/explain.h"
#include "engine/io/export/block_json.h"
#include "widgets/plot/text_table.h"

namespace roofscape::app {

// Inputs by name, as they are typed after `calc NAME`; "chip" and "model" name presets.
using BlockInputs = std::map<std::string, std::string, std::less<>>;

// What a block answers to its inputs.
struct BlockReply {
  std::optional<io::BlockQuestion> question;  // of the inputs that could be read; its values stand in the controls
  std::optional<engine::BlockResult> result;  // none with an error
  std::optional<io::InputError> error;  // its path is the input's name, or the block's where no single one is wrong
};
BlockReply ask_block(const engine::BuildingBlock& block, const BlockInputs& given, const io::PresetLibrary& library);

// What a block starts with: chip, model and every number that the open scenario has under the same name, and examples
// for what is needed beyond, so that it answers at once. An input that no answer needs is left out.
BlockInputs start_inputs(const engine::BuildingBlock& block, const Session& session);

// Whether the workbench takes a value for this output: not for one whose name is that of an input.
bool can_ask_backwards(const engine::BuildingBlock& block, const engine::BlockOutput& output);

// "roofscape-cli calc matmul batch=512 d_in=8192": the same question on the command line.
std::string command_line(const engine::BuildingBlock& block, const BlockInputs& given);
// The shortest text that reads back as the same number.
std::string input_text(double value);
// A value as it is typed: "8", "4,8,2", "ring", "true".
std::string input_text(const engine::BlockInput& input, const engine::BlockValue& value);

struct Workbench {
  struct Bench {
    BlockInputs start, given;
    std::map<std::string, double, std::less<>> middle;  // of the track of each input: the value it had first
    std::string derived;                                // the output whose derivation is open
    std::string over, show;  // of the figure: an input or "none", an output; empty: the block's own
    // An output whose value is given in place of an input, as `calc NAME OUTPUT=VALUE solve=INPUT`; both stand in
    // `given` too.
    struct Backwards {
      std::string output;
      std::vector<std::string> inputs;  // that it can be solved for
      BlockInputs before;               // what was given, to which clearing it returns
    };
    std::optional<Backwards> backwards;
  };
  bool open = false;
  std::string block, search;
  std::map<std::string, Bench, std::less<>> benches;  // by block; kept while the window is open

  // The reply of the block that is shown, kept while nothing is changed.
  struct Kept {
    std::string block;
    BlockInputs given;
    BlockReply reply;
    std::string derived;
    std::vector<engine::Derivation> derivations;
    std::string over, show;  // of the figure that `data` is for
    engine::BlockPicture picture;
    engine::PictureData data;  // empty where the inputs are refused
  };
  std::optional<Kept> kept;
  // The blocks that `search` finds, kept while it stays.
  std::vector<const engine::BuildingBlock*> listed;
  std::optional<std::string> listed_for;

  // Opens the window's workbench at this block; an unknown or empty id at the one that was shown last, or the first.
  void show(std::string_view id);
  const engine::BuildingBlock& shown() const;
  // The blocks for the list: those that have to do with what is searched for, the best first; all of them, by topic, where
  // nothing is.
  const std::vector<const engine::BuildingBlock*>& list(const widgets::TextTable& texts);
  Bench& bench(const Session& session);  // of the shown block, made when it is first asked for
  const Kept& reply(const Session& session);
  void reset(const Session& session);  // the shown block, to what the scenario now says
  void reset_input(const Session& session, std::string_view name);
  void set(const Session& session, std::string_view name, std::string text);
  void leave_out(const Session& session, std::string_view name);
  // Asks backwards: the output as it is typed, with the first input that it can be solved for open. An empty text
  // returns to what was given before.
  void want(const Session& session, std::string_view output, const std::string& text);
  void solve_for(const Session& session, std::string_view input);
  void ask_forwards(const Session& session);
};

}  // namespace roofscape::app
