// Goes through a script as a shell would, without running anything: commands with their words, assignments and functions
// (shell_interpreter.cpp), tests, branches and loops (shell_control.cpp). For those and shell_script.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/import/shell_expand.h"
#include "engine/io/import/shell_script.h"
#include "engine/io/import/shell_text.h"

namespace roofscape::io {

class ShellInterpreter {
 public:
  explicit ShellInterpreter(ShellScript& out) : out_(out) {}

  void run_source(const ShellSource& source, int depth);
  void set(std::string_view name, std::string_view value, int line);
  void finish();
  bool exhausted() const {
    return variables_.exhausted() || steps_ > kMostSteps || out_.commands.size() >= kMostCommands;
  }

 private:
  static constexpr int kMostDeep = 24;  // functions, eval and control structures inside each other
  static constexpr std::size_t kMostCommands = 20'000;
  static constexpr std::size_t kMostSteps = 400'000;
  using Fields = ShellVariables::Fields;

  struct Range {
    const ShellSource* source;
    const std::vector<ShellToken>* tokens;
    std::size_t at, end;

    bool done() const { return at >= end; }
    const ShellToken& token() const { return (*tokens)[at]; }
    std::string_view text(std::size_t i) const {
      const ShellToken& t = (*tokens)[i];
      return std::string_view(source->text).substr(t.begin, t.end - t.begin);
    }
    bool is(std::string_view word) const { return !done() && text(at) == word; }
    std::int32_t line() const { return done() ? 0 : source->line_at(token().begin); }
  };
  struct Function {
    ShellSource source;
    std::vector<ShellToken> tokens;
  };

  // shell_interpreter.cpp
  // Statements up to the end of the range. True: the script ends here.
  bool run(Range& range, int depth);
  void statement(Range& range, int depth);
  static bool is_function(const Range& range);
  void define(Range& range);
  void gap(ShellGap::Kind kind, const Range& range, std::size_t at);
  // One command: assignments before it, its words, what it does to the variables.
  void simple(Range& range, int depth);
  void call(const Function& function, const Fields& fields, int depth);
  // What a command writes from a here-document.
  void write_file(const Range& range, const ShellToken& document, const ShellCommand& command);
  // Words joined and read once more.
  void again(const Fields& fields, int depth);
  // ((i++)), ((n += 1)): of loops; whatever was counted is not known any more.
  bool increments(std::string_view word);
  void assign(const Range& range, std::size_t i);

  // shell_control.cpp
  // Past what begins with `open` here, to after the word that closes it.
  static std::size_t after(const Range& range, std::string_view open, std::string_view close);
  // Where the parts of an `if` begin: then, elif, else, fi of this level.
  void conditional(Range& range, int depth);
  void branch(const Range& range, std::size_t from, std::size_t to, int depth);
  // What two tests come to, one after the other; without && or || the last one counts.
  static std::optional<bool> joined(std::optional<bool> left, std::string_view joint, std::optional<bool> right);
  // The commands of a test in a row; the last one that ran answers.
  std::optional<bool> condition(const Range& range, std::size_t from, std::size_t to, int depth);
  // [ ... ], [[ ... ]], test ..., true, false; the range ends up behind it.
  std::optional<bool> test(Range& range);
  void loop(Range& range, int depth);
  void choose(Range& range, int depth);

  ShellScript& out_;
  ShellVariables variables_;
  std::map<std::string, Function, std::less<>> functions_;
  std::optional<bool> last_ = true;  // what the command before came to
  bool skip_ = false;                // the rest of an && or || that does not run
  bool stopped_ = false;
  std::size_t steps_ = 0, total_ = 0;
};

}  // namespace roofscape::io
