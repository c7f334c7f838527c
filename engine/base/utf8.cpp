#include "engine/base/utf8.h"

namespace roofscape::engine {

std::size_t first_invalid_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto tail = [&](std::size_t i) { return i < text.size() && continues_character(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned b = byte(i);
    if (b < 0x80) {
      i += 1;
    } else if (b >= 0xc2 && b <= 0xdf && tail(i + 1)) {
      i += 2;
    } else if (b >= 0xe0 && b <= 0xef && tail(i + 1) && tail(i + 2) && (b != 0xe0 || byte(i + 1) >= 0xa0) &&
               (b != 0xed || byte(i + 1) < 0xa0)) {
      i += 3;
    } else if (b >= 0xf0 && b <= 0xf4 && tail(i + 1) && tail(i + 2) && tail(i + 3) &&
               (b != 0xf0 || byte(i + 1) >= 0x90) && (b != 0xf4 || byte(i + 1) < 0x90)) {
      i += 4;
    } else {
      return i;
    }
  }
  return std::string_view::npos;
}

}  // namespace roofscape::engine
