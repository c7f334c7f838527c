#pragma once

// Text in UTF-8, as far as the engine must know: whether it is, and where one may cut it.

#include <cstddef>
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

// Offset of the first byte that is not UTF-8 (overlong forms and surrogates included), npos if all of it is.
std::size_t first_invalid_utf8(std::string_view text);

}  // namespace roofscape::engine
