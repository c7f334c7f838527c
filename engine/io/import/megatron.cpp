// Megatron-LM: a launch script, a bare list of arguments.
#include <algorithm>
#include <set>

#include "engine/io/import/launch_formats.h"
#include "engine/io/import/launcher.h"
#include "engine/io/import/megatron_reader.h"

namespace roofscape::io {

using engine::say;

namespace {

// Flags that only a Megatron launch has; two of them make one.
constexpr std::string_view kMarks[] = {"--num-layers",
                                       "--hidden-size",
                                       "--num-attention-heads",
                                       "--seq-length",
                                       "--micro-batch-size",
                                       "--global-batch-size",
                                       "--max-position-embeddings",
                                       "--tensor-model-parallel-size",
                                       "--pipeline-model-parallel-size",
                                       "--context-parallel-size",
                                       "--expert-model-parallel-size",
                                       "--use-distributed-optimizer",
                                       "--use-mcore-models",
                                       "--sequence-parallel",
                                       "--swiglu",
                                       "--ffn-hidden-size"};

std::size_t marks_of(const ShellCommand& command) {
  std::set<std::string> found;
  for (const ShellWord& word : command.words) {
    std::string flag = word.text.substr(0, word.text.find('='));
    std::replace(flag.begin(), flag.end(), '_', '-');
    if (std::find(std::begin(kMarks), std::end(kMarks), flag) != std::end(kMarks)) found.insert(flag);
  }
  return found.size();
}

// The command that starts the training: the one with most of Megatron's flags.
ShellCommand launch_command(const ShellScript& script) {
  ShellCommand best = joined_arguments(script);
  std::size_t most = marks_of(best);
  for (const ShellCommand& command : script.commands)
    if (const std::size_t marks = marks_of(command); marks > most) {
      best = command;
      most = marks;
    }
  return best;
}

bool recognises_script(const LaunchSource& source) { return marks_of(launch_command(source.script)) >= 2; }

Result<LaunchPlan> read_script(const LaunchSource& source, const PresetLibrary& library) {
  LaunchPlan plan;
  const LaunchLine line = launch_line(launch_command(source.script));
  tell_gaps(source.script, plan);
  if (auto failure = read_launcher(source.script, line, source.file, plan)) return *std::move(failure);
  if (auto failure = MegatronReader(source.file, library, plan).read(line)) return *std::move(failure);
  return plan;
}

}  // namespace

const LaunchFormat megatron_launch{"megatron", "Megatron-LM", LaunchSyntax::shell, recognises_script, read_script};

}  // namespace roofscape::io
