#include "engine/base/utf8.h"

#include <cstdint>
#include <iterator>

#include <utf8.h>

namespace roofscape::engine {

namespace {

constexpr char32_t kReplacement = 0xFFFD;

}  // namespace

char32_t next_codepoint(std::string_view text, std::size_t& at) {
  if (static_cast<unsigned char>(text[at]) < 0x80) return static_cast<char32_t>(text[at++]);  // most of what is drawn
  const char* const begin = text.data() + at;
  const char* next = begin;
  try {
    const auto character = static_cast<char32_t>(utf8::next(next, text.data() + text.size()));
    at += static_cast<std::size_t>(next - begin);
    return character;
  } catch (const utf8::exception&) {
    ++at;
    return kReplacement;
  }
}

void append_utf8(std::string& out, char32_t character) {
  const auto code = static_cast<std::uint32_t>(character);
  const bool valid = code <= 0x10FFFF && (code < 0xD800 || code >= 0xE000);
  utf8::unchecked::append(valid ? character : kReplacement, std::back_inserter(out));
}

std::size_t first_invalid_utf8(std::string_view text) {
  const auto bad = utf8::find_invalid(text.begin(), text.end());
  return bad == text.end() ? std::string_view::npos : static_cast<std::size_t>(bad - text.begin());
}

std::string without_controls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t c = next_codepoint(text, at);
    if ((c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0))
      append_utf8(out, 0xfffd);
    else
      out += text.substr(begin, at - begin);
  }
  return out;
}

}  // namespace roofscape::engine
