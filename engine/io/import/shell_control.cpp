// Tests, branches and loops of a script.
#include <algorithm>

#include "engine/io/import/shell_interpreter.h"
#include "engine/io/import/shell_tests.h"

namespace roofscape::io {

std::size_t ShellInterpreter::after(const Range& range, std::string_view open, std::string_view close) {
  int level = 0;
  for (std::size_t i = range.at; i < range.end; ++i) {
    if (range.text(i) == open) ++level;
    if (range.text(i) == close && --level == 0) return i + 1;
  }
  return range.end;
}

void ShellInterpreter::conditional(Range& range, int depth) {
  const std::size_t end = after(range, "if", "fi");
  std::size_t test = range.at + 1;
  bool open = false, done = false;
  while (test < end && !stopped_) {
    // The test runs up to its `then`, the branch up to the next word of this level.
    std::size_t then = test;
    while (then < end && range.text(then) != "then") ++then;
    std::size_t stop = then + 1;
    int level = 0;
    for (; stop < end; ++stop) {
      const std::string_view word = range.text(stop);
      if (word == "if") ++level;
      if (word == "fi" && level-- == 0) break;
      if (level == 0 && (word == "elif" || word == "else")) break;
    }
    if (!done) {
      const std::optional<bool> answer = condition(range, test, then, depth);
      if (!answer) {
        gap(ShellGap::Kind::condition, range, test);
        open = true;
      } else if (*answer && !open) {
        branch(range, then + 1, stop, depth);
        done = true;
      }
    }
    if (stop < end && range.text(stop) == "elif") {
      test = stop + 1;
      continue;
    }
    if (stop < end && range.text(stop) == "else" && !done && !open) {
      branch(range, stop + 1, end - 1, depth);
    }
    break;
  }
  range.at = end;
}

void ShellInterpreter::branch(const Range& range, std::size_t from, std::size_t to, int depth) {
  if (depth >= kMostDeep || from >= to) return;
  Range inside{range.source, range.tokens, from, std::min(to, range.end)};
  last_ = true;
  skip_ = false;
  run(inside, depth + 1);
  skip_ = false;
}

std::optional<bool> ShellInterpreter::joined(std::optional<bool> left, std::string_view joint,
                                             std::optional<bool> right) {
  if (joint != "&&" && joint != "||") return right;
  const bool decisive = joint == "||";
  if ((left && *left == decisive) || (right && *right == decisive)) return decisive;
  if (left && right) return !decisive;
  return std::nullopt;
}

std::optional<bool> ShellInterpreter::condition(const Range& range, std::size_t from, std::size_t to, int depth) {
  if (depth >= kMostDeep) return std::nullopt;
  Range inside{range.source, range.tokens, from, std::min(to, range.end)};
  bool negated = false;
  if (inside.is("!")) {
    negated = true;
    ++inside.at;
  }
  std::optional<bool> answer;
  bool tests = false;
  std::string_view joint;
  while (!inside.done()) {
    const std::string_view word = inside.text(inside.at);
    if (inside.token().kind != ShellToken::Kind::word) {
      if (word == "&&" || word == "||") joint = word;
      ++inside.at;
      continue;
    }
    if (word != "[" && word != "[[" && word != "test" && word != "true" && word != "false" && !word.starts_with("(("))
      return std::nullopt;
    const std::optional<bool> one = test(inside);
    tests = true;
    answer = joined(answer, joint, one);
  }
  if (!tests || !answer) return std::nullopt;
  return *answer != negated;
}

std::optional<bool> ShellInterpreter::test(Range& range) {
  const std::string_view program = range.text(range.at);
  if (program.starts_with("((")) {
    const std::string inside(program.substr(2, program.size() >= 4 ? program.size() - 4 : 0));
    ++range.at;
    const auto value = variables_.arithmetic(inside);
    return value ? std::optional(*value != 0) : std::nullopt;
  }
  ++range.at;
  if (program == "true") return true;
  if (program == "false") return false;
  const std::string_view close = program == "[" ? "]" : program == "[[" ? "]]" : std::string_view();
  std::vector<ShellText> words;
  while (!range.done()) {
    const std::string_view word = range.text(range.at);
    if (!close.empty() && word == close) {
      ++range.at;
      break;
    }
    if (range.token().kind != ShellToken::Kind::word && (program != "[[" || word == "\n" || word == ";")) break;
    if (range.token().kind != ShellToken::Kind::word) {
      ShellText op;
      for (const char c : word) op.push_back({c, true, 0, 0});
      words.push_back(std::move(op));
    } else {
      words.push_back(variables_.value(*range.source, range.token().begin, range.token().end));
    }
    ++range.at;
  }
  return test_of(words);
}

void ShellInterpreter::loop(Range& range, int depth) {
  const bool counts = range.is("for") || range.is("select");
  const std::size_t end = after(range, "do", "done");  // nested loops have their own do ... done
  std::size_t body = range.at;
  while (body < end && range.text(body) != "do") ++body;
  gap(ShellGap::Kind::loop, range, range.at);
  if (counts && range.at + 1 < body && is_shell_name(range.text(range.at + 1))) {
    // What it is changes from round to round.
    ShellText open;
    for (const char c : "$" + std::string(range.text(range.at + 1)))
      open.push_back({c, true, kOpenOther, range.line()});
    variables_.set(range.text(range.at + 1), {std::move(open)});
  }
  if (body + 1 < end) branch(range, body + 1, end - 1, depth);
  range.at = std::max(end, range.at + 1);
}

void ShellInterpreter::choose(Range& range, int depth) {
  const std::size_t end = after(range, "case", "esac");
  std::size_t at = range.at + 1;
  std::optional<std::string> subject;
  if (at < end)
    subject = decided_text(variables_.value(*range.source, (*range.tokens)[at].begin, (*range.tokens)[at].end));
  while (at < end && range.text(at) != "in") ++at;
  ++at;
  bool taken = false;
  if (!subject) gap(ShellGap::Kind::case_list, range, range.at);
  while (at + 1 < end && subject && !taken) {
    bool matches = false, open = false;
    while (at + 1 < end && range.text(at) != ")") {
      const ShellToken& token = (*range.tokens)[at];
      if (token.kind == ShellToken::Kind::word) {
        const std::string_view written = range.text(at);
        if (written == "*")
          matches = true;
        else if (written.find_first_of("*?[") != std::string_view::npos)
          open = true;
        else if (decided_text(variables_.value(*range.source, token.begin, token.end)) == subject)
          matches = true;
      }
      ++at;
    }
    std::size_t stop = ++at;
    int level = 0;
    for (; stop + 1 < end; ++stop) {
      if (range.text(stop) == "case") ++level;
      if (range.text(stop) == "esac") --level;
      if (level == 0 && range.text(stop) == ";;") break;
    }
    if (open && !matches) {
      gap(ShellGap::Kind::case_list, range, range.at);
      break;
    }
    if (matches) {
      branch(range, at, std::min(stop, end - 1), depth);
      taken = true;
    }
    at = stop + 1;
  }
  range.at = end;
}

}  // namespace roofscape::io
