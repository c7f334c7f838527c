// A launch line taken apart: what starts the processes (torchrun, srun, python -m torch.distributed.run, deepspeed,
// accelerate, mpirun), the program, its arguments; and how many processes on how many nodes that comes to. For the .cpp
// files of engine/io.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/io/import/launch_plan.h"
#include "engine/io/import/shell_script.h"

namespace roofscape::io {

struct LaunchLine {
  std::vector<ShellWord> launcher;  // before the program
  ShellWord program;                // "pretrain_gpt.py", or the module of `python -m`; empty: arguments alone
  std::vector<ShellWord> arguments;
};
LaunchLine launch_line(const ShellCommand& command);
// All commands of a script that are lists of arguments alone, as one: a file of flags, one or more on a line.
ShellCommand joined_arguments(const ShellScript& script);

// One option with what follows it up to the next: "--num-layers" with "32". `--key=value` is taken apart.
struct Argument {
  std::string flag;  // with its dashes, '_' as '-'
  std::string written;
  std::vector<ShellWord> values;
  int line = 0;

  Origin origin() const { return {written, line}; }
  std::string value_text() const;   // the values, with blanks between them
  std::string switch_text() const;  // the same of what may have none, or a word that only a shell could know: "true"
};
struct Arguments {
  std::vector<Argument> options;
  std::vector<ShellWord> others;  // before the first option: positional, or variables that nothing sets
};
Arguments arguments_of(const std::vector<ShellWord>& words);

// Nodes x processes as the launcher or Slurm's header says, into plan.chips and plan.chips_per_node. Sizes that stay
// open are reported; two that disagree are an error with both lines.
Failure read_launcher(const ShellScript& script, const LaunchLine& line, std::string_view file, LaunchPlan& plan);
// What of a script was not read, as warnings.
void tell_gaps(const ShellScript& script, LaunchPlan& plan);

}  // namespace roofscape::io
