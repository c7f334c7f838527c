// The pieces of shell_script.cpp: characters that know their line, and a script cut into words and operators. For the .cpp
// files of engine/io.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roofscape::io {

// A character of an expanded word.
struct ShellChar {
  char c = 0;
  bool quoted = false;    // no word ends here
  std::uint8_t open = 0;  // what it belongs to could not be resolved: kOpenName, kOpenOther
  std::int32_t line = 0;
};
// A variable that nothing sets (a shell would take the environment's); anything else that only a shell could know.
inline constexpr std::uint8_t kOpenName = 1, kOpenOther = 2, kOpenSubstitution = 3;
using ShellText = std::vector<ShellChar>;

std::string plain(const ShellText& text);

// Text with the line of each character, as it stands in the file.
struct ShellSource {
  std::string text;
  std::vector<std::int32_t> lines;

  static ShellSource of_file(std::string_view text);
  static ShellSource of_text(const ShellText& text);
  std::int32_t line_at(std::size_t at) const {
    return lines.empty() ? 0 : lines[at < lines.size() ? at : lines.size() - 1];
  }
};

struct ShellToken {
  enum class Kind { word, op, newline, document } kind = Kind::word;
  std::size_t begin = 0, end = 0;  // in the source
  // Of a here-document, which is a token where its << stands: where what its command writes goes (empty: nowhere that is
  // named), whether that is added to, and whether its text stands for itself (<<'EOF').
  std::size_t target_begin = 0, target_end = 0;
  bool adds = false, literal = false;
  bool is(const ShellSource& source, std::string_view word) const {
    return std::string_view(source.text).substr(begin, end - begin) == word;
  }
};

// Words with their quotes, operators (; & | && || ;; ( ) and redirections with their targets left out), ends of lines,
// here-documents. Comments are left out.
std::vector<ShellToken> shell_tokens(const ShellSource& source);

// Where what begins at `at` ends: after the bracket that closes "${", "$(", "$((" or "(", or after a quoted piece. The
// length of the text if nothing closes it.
std::size_t shell_piece_end(std::string_view text, std::size_t at);

}  // namespace roofscape::io
