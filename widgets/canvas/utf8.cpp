#include "widgets/canvas/utf8.h"

#include <cstdint>
#include <iterator>

#include <utf8.h>

namespace roofscape::widgets {

void append_utf8(std::string& out, char32_t character) {
  constexpr char32_t kReplacement = 0xFFFD;
  const auto code = static_cast<std::uint32_t>(character);
  const bool valid = code <= 0x10FFFF && (code < 0xD800 || code >= 0xE000);
  utf8::unchecked::append(valid ? character : kReplacement, std::back_inserter(out));
}

}  // namespace roofscape::widgets
