#include "widgets/canvas/png_chunks.h"

#include <zlib.h>

#include <cmath>
#include <cstdint>

namespace roofscape::widgets {
namespace {

constexpr std::string_view kSignature{"\x89PNG\r\n\x1a\n", 8};
constexpr std::size_t kAfterHeader = 8 + 4 + 4 + 13 + 4;  // signature; IHDR: length, name, data, check sum
constexpr char kUnitMetre = 1;

void append_number(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((value >> shift) & 0xFF);
}

std::string chunk(std::string_view name, std::string_view data) {
  std::string out;
  append_number(out, static_cast<std::uint32_t>(data.size()));
  out.append(name).append(data);
  const auto* checked = reinterpret_cast<const Bytef*>(out.data() + 4);
  append_number(out, static_cast<std::uint32_t>(crc32(0, checked, static_cast<uInt>(out.size() - 4))));
  return out;
}

}  // namespace

std::string with_png_chunks(std::string png, double pixels_per_metre, std::string_view keyword,
                            std::string_view text) {
  if (!png.starts_with(kSignature) || png.size() < kAfterHeader) return png;
  std::string size;
  for (int side = 0; side < 2; ++side) append_number(size, static_cast<std::uint32_t>(std::lround(pixels_per_metre)));
  size += kUnitMetre;
  std::string added = chunk("pHYs", size);
  if (!text.empty()) added += chunk("tEXt", std::string(keyword) + '\0' + std::string(text));
  png.insert(kAfterHeader, added);
  return png;
}

}  // namespace roofscape::widgets
