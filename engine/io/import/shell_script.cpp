#include "engine/io/import/shell_script.h"

#include <utility>

#include "engine/io/import/document.h"
#include "engine/io/import/shell_expand.h"
#include "engine/io/import/shell_interpreter.h"
#include "engine/io/import/shell_sbatch.h"
#include "engine/io/import/shell_tests.h"
#include "engine/io/import/shell_text.h"

namespace roofscape::io {

using engine::say;

namespace {

// What Slurm tells a job of its header.
void set_slurm(const ShellScript& script, ShellInterpreter& interpreter) {
  constexpr std::pair<std::string_view, std::string_view> kTold[] = {
      {"nodes", "SLURM_NNODES"},
      {"nodes", "SLURM_JOB_NUM_NODES"},
      {"ntasks", "SLURM_NTASKS"},
      {"ntasks", "SLURM_NPROCS"},
      {"ntasks-per-node", "SLURM_NTASKS_PER_NODE"},
      {"gpus-per-node", "SLURM_GPUS_PER_NODE"},
      {"gpus-per-node", "SLURM_GPUS_ON_NODE"},
  };
  for (const SbatchOption& option : script.sbatch)
    for (const auto& [name, variable] : kTold)
      if (option.name == name && shell_whole(option.value)) interpreter.set(variable, option.value, option.line);
}

}  // namespace

bool is_own_arguments(const ShellWord& word) {
  const std::string_view text = word.text;
  return !word.open.empty() && (text == "$@" || text == "$*" || text == "${@}" || text == "${*}");
}

Result<ShellScript> read_shell(std::string_view text, std::string_view file,
                               std::span<const std::string> environment) {
  if (auto failure = check_text(text, file)) return *failure;
  return read_shell(ShellSource::of_file(text), file, environment);
}

Result<ShellScript> read_shell(const ShellSource& source, std::string_view file,
                               std::span<const std::string> environment) {
  if (source.text.find('\0') != std::string::npos)
    return InputError{std::string(file), {}, say("error.shell.binary"), say("error.file.not_ours")};
  ShellScript out;
  read_sbatch(source, out);
  ShellInterpreter interpreter(out);
  set_slurm(out, interpreter);
  for (const std::string& variable : environment) {
    const std::size_t sign = variable.find('=');
    if (sign == std::string::npos || !is_shell_name(std::string_view(variable).substr(0, sign)))
      return InputError{"--env", {}, say("error.import.variable", in_quotes(variable)), {}};
    interpreter.set(std::string_view(variable).substr(0, sign), std::string_view(variable).substr(sign + 1), 0);
  }
  interpreter.run_source(source, 0);
  if (interpreter.exhausted())
    return InputError{std::string(file), {}, say("error.shell.too_long"), say("error.file.not_ours")};
  interpreter.finish();
  return out;
}

const std::string* ShellScript::written_file(std::string_view name) const {
  const auto base = [](std::string_view path) { return path.substr(path.rfind('/') + 1); };
  const std::string* found = nullptr;
  for (const auto& [path, text] : files) {
    if (path == name) return &text;
    if (base(path) != base(name)) continue;
    if (found != nullptr) return nullptr;  // which of them, nothing says
    found = &text;
  }
  return found;
}

ShellScript shell_of_words(const std::vector<std::string>& words) {
  ShellScript out;
  ShellCommand command;
  for (const std::string& word : words) command.words.push_back({word, 0});
  out.commands.push_back(std::move(command));
  return out;
}

}  // namespace roofscape::io
