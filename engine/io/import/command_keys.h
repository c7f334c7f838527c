// The commands of a launch script, and their flags as keys. For the .cpp files of engine/io.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/import/key_reader.h"
#include "engine/io/import/shell_script.h"

namespace roofscape::io {

// All commands of a script, those that stand as one text in another ("--command=\"python3 train.py ...\"") after it.
std::vector<ShellCommand> commands_of(const ShellScript& script);

// A short flag and the long one it stands for: "-tp", "--tensor-parallel-size".
struct ShortFlag {
  std::string_view name, stands_for;
};
// A flag as it is asked for: with '-' for '_', and the long one where it is short.
std::string full_flag(std::string_view written, std::span<const ShortFlag> shorts);

// A word that is neither a flag nor the value of one, and the flag before it; empty before the first.
struct LooseWord {
  ShellWord word;
  std::string behind;
};

// Flags into keys, "--" and all, with '-' for '_'; `--x=1` and `--x 1` alike, `--x` alone is true and `--no-x` false for
// "--x". What is no flag and no flag's value comes back, in its order.
std::vector<LooseWord> take_flags(const ShellCommand& command, std::span<const ShortFlag> shorts, KeyReader& keys);

// Of those words the one that names what is served: the first before all flags, or else, where no flag `names` it, the
// last behind one, unless it may be one of several values of that. A name that only a shell could know counts as missing;
// that the other words may stand for arguments is told.
Maybe<std::string> take_served_name(const std::vector<LooseWord>& words, std::string_view names, KeyReader& keys,
                                    LaunchPlan& plan);

// Flags as the settings they stand for: "--training.seq_len 4096" as training.seq_len, "--num-processes=8" as num_processes,
// "--bf16" as true and "--training.no_compile" as training.compile false. Words before the first flag are left out.
void take_settings(const std::vector<ShellWord>& words, KeyReader& keys);

}  // namespace roofscape::io
