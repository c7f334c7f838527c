// A launch script as text: the commands it would run, with the values of its own variables put in. Nothing is ever
// run. What only a shell could know (a command substitution, the environment, a positional parameter without a default)
// stays open: the word keeps it as it is written and says so. For the .cpp files of engine/io.
//
// Understood: quotes, line continuations, comments, variables and arrays with += and the expansions ${X}, ${X:-word},
// ${X-word}, ${X:=word}, ${X:+word}, ${X[@]}, ${X[*]}, ${X[n]}, ${#X[@]}; $((...)) of whole numbers; export, local, declare,
// readonly; `bash -c` and eval of a text; files that `cat` or `tee` writes from here-documents; if with tests that can be decided ([ ], [[ ]], -z, -n, =, !=, -eq ... -ge),
// functions where they are called; #SBATCH lines; the variables Slurm derives from them. A branch whose test stays open is
// left out and reported; a loop's body is read once.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/json/result.h"

namespace roofscape::io {

struct ShellWord {
  std::string text;
  int line = 0;
  std::string open = {};  // what of it could not be resolved, as it is written: "$DATA_PATH"; empty: it is complete
  bool substitution = false;  // the open part is a command substitution
};
// What the script itself is given where nothing in it says so: no flag's value, as there may be nothing.
bool is_own_arguments(const ShellWord& word);

struct ShellCommand {
  std::vector<ShellWord> words;        // the program first
  std::vector<ShellWord> environment;  // assignments before it, NAME=VALUE
  int line = 0;
};

// One option of an #SBATCH line: "nodes", "16". Short options have their long names.
struct SbatchOption {
  std::string name, value;
  int line = 0;
};

// A part of the script that was not read, and from which line.
struct ShellGap {
  enum class Kind { condition, loop, case_list, other_file, replicas } kind = Kind::condition;
  std::string written;  // the test, shortened; the file; how many
  int line = 0;
};

struct ShellScript {
  std::vector<ShellCommand> commands;
  std::vector<SbatchOption> sbatch;
  std::vector<ShellGap> gaps;
  // Assignments in the order of the script, the last value of each; for readers that take sizes from variables.
  std::map<std::string, ShellWord> variables;
  // Files that the script writes from here-documents, by the names they are written to. Each row stands on the line that it
  // has in the script.
  std::map<std::string, std::string> files;
  // The file of that name, whatever folder it is called in. Null: the script writes none.
  const std::string* written_file(std::string_view name) const;
};

// Also a bare launch line, or a list of arguments alone. `environment`: NAME=VALUE, the variables that are set before it.
Result<ShellScript> read_shell(std::string_view text, std::string_view file,
                               std::span<const std::string> environment = {});
// Of a text whose lines are those of another file.
struct ShellSource;
Result<ShellScript> read_shell(const ShellSource& source, std::string_view file,
                               std::span<const std::string> environment);
// Words that a shell has split already (the command line after `--`): one command on line 0.
ShellScript shell_of_words(const std::vector<std::string>& words);

}  // namespace roofscape::io
