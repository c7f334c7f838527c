#pragma once

// Text in UTF-8: whether it is, its characters one by one, and where one may cut it.

#include <cstddef>
#include <string>
#include <string_view>

namespace roofscape::engine {

// Whether a byte goes on with a character that an earlier one began.
constexpr bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// At most `most` bytes from the start of a text, and not half a character.
constexpr std::string_view whole_characters(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && continues_character(text[most])) --most;
  return text.substr(0, most);
}

// Where the character before or after the one at `at` begins: 0 and the text's size at its ends.
constexpr std::size_t previous_character(std::string_view text, std::size_t at) {
  if (at == 0) return 0;
  --at;
  while (at > 0 && continues_character(text[at])) --at;
  return at;
}
constexpr std::size_t next_character(std::string_view text, std::size_t at) {
  if (at >= text.size()) return text.size();
  ++at;
  while (at < text.size() && continues_character(text[at])) ++at;
  return at;
}

// How many characters a text has.
constexpr std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += continues_character(c) ? 0 : 1;
  return count;
}

// The character at `at`, which moves past it. An invalid byte gives U+FFFD and moves by one.
char32_t next_codepoint(std::string_view text, std::size_t& at);

// Appends a character of any plane. What is no character (a surrogate, a number beyond U+10FFFF) is written as
// U+FFFD.
void append_utf8(std::string& out, char32_t character);

// With U+FFFD for every control character but the end of a line and the tab: what a terminal would take for a command.
std::string without_controls(std::string_view text);

// Offset of the first byte that is not UTF-8 (overlong forms and surrogates included), npos if all of it is.
std::size_t first_invalid_utf8(std::string_view text);

}  // namespace roofscape::engine
