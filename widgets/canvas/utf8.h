// Writing UTF-8, the same everywhere. What reads it a character at a time is next_codepoint (font_stack.h).
#pragma once

#include <string>

namespace roofscape::widgets {

// Appends a character of any plane. What is no character (a surrogate, a number beyond U+10FFFF) is written as
// U+FFFD.
void append_utf8(std::string& out, char32_t character);

}  // namespace roofscape::widgets
