#include "engine/io/import/shell_tests.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace roofscape::io {

std::optional<std::string> decided_text(const ShellText& text) {
  std::string out;
  for (const ShellChar& c : text) {
    if (c.open == kOpenName) continue;
    if (c.open != 0) return std::nullopt;
    out += c.c;
  }
  return out;
}

std::optional<std::int64_t> shell_whole(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<bool> test_of(std::span<const ShellText> words) {
  for (const std::string_view joint : {"-o", "||", "-a", "&&"})
    for (std::size_t i = 1; i + 1 < words.size(); ++i)
      if (plain(words[i]) == joint) {
        const auto left = test_of(words.first(i)), right = test_of(words.subspan(i + 1));
        const bool either = joint == "-o" || joint == "||";
        if (left && *left == either) return either;
        if (right && *right == either) return either;
        return left && right ? std::optional(!either) : std::nullopt;
      }
  if (!words.empty() && plain(words[0]) == "!") {
    const auto inner = test_of(words.subspan(1));
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  if (words.empty()) return false;
  if (words.size() == 1) {
    const auto word = decided_text(words[0]);
    return word ? std::optional(!word->empty()) : std::nullopt;
  }
  if (words.size() == 2) {
    const std::string op = plain(words[0]);
    const auto word = decided_text(words[1]);
    if (!word) return std::nullopt;
    if (op == "-z") return word->empty();
    if (op == "-n") return !word->empty();
    return std::nullopt;  // -f, -d: of the disk
  }
  if (words.size() != 3) return std::nullopt;
  const auto left = decided_text(words[0]), right = decided_text(words[2]);
  const std::string op = plain(words[1]);
  if (!left || !right) return std::nullopt;
  if (op == "=" || op == "==" || op == "!=") {
    if (op != "=" && std::any_of(words[2].begin(), words[2].end(), [](const ShellChar& c) {
          return !c.quoted && (c.c == '*' || c.c == '?' || c.c == '[');
        }))
      return std::nullopt;  // a pattern
    return (*left == *right) == (op != "!=");
  }
  const auto a = shell_whole(*left), b = shell_whole(*right);
  if (!a || !b) return std::nullopt;
  if (op == "-eq") return *a == *b;
  if (op == "-ne") return *a != *b;
  if (op == "-lt" || op == "<") return *a < *b;
  if (op == "-le") return *a <= *b;
  if (op == "-gt" || op == ">") return *a > *b;
  if (op == "-ge") return *a >= *b;
  return std::nullopt;
}

}  // namespace roofscape::io
