// Variables of a script and words with their values put in. For shell_interpreter.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/import/shell_text.h"

namespace roofscape::io {

class ShellVariables {
 public:
  using Fields = std::vector<ShellText>;

  // None: nothing sets it.
  const Fields* find(std::string_view name) const;
  void set(std::string_view name, Fields value) { values_.insert_or_assign(std::string(name), std::move(value)); }
  void unset(std::string_view name);
  const std::map<std::string, Fields, std::less<>>& all() const { return values_; }

  Fields arguments;  // $1, $2, ... inside a function; the script's own are not known
  bool in_function = false;

  // A word of a source, `begin` to `end`, as the fields it becomes. Not split: as one field, as in an assignment.
  Fields expand(const ShellSource& source, std::size_t begin, std::size_t end, bool split = true);
  // The same of a right-hand side, joined.
  ShellText value(const ShellSource& source, std::size_t begin, std::size_t end);
  // What is written inside another word, which is no place of a source: not split.
  Fields expand_nested(std::string_view written, int depth);
  // Whole-number arithmetic; none: it holds something that is not known, or is no arithmetic.
  std::optional<std::int64_t> arithmetic(std::string_view expression, int depth = 0);

  // Characters made so far; a script that makes more than this many is given up on.
  static constexpr std::size_t kMostCharacters = 4'000'000;
  bool exhausted() const { return made_ > kMostCharacters; }
  // Expressions evaluated so far, each mention of a variable anew: ten that hold one another ten times are 10^10.
  static constexpr std::size_t kMostEvaluations = 100'000;
  bool may_evaluate() { return ++evaluations_ <= kMostEvaluations; }

 private:
  friend class ShellExpansion;
  std::map<std::string, Fields, std::less<>> values_;
  std::size_t made_ = 0, evaluations_ = 0;
};

// Names of variables.
bool is_name_start(char c);
bool is_name_character(char c);
bool is_shell_name(std::string_view word);

inline constexpr int kMostNestedExpansions = 16;

}  // namespace roofscape::io
