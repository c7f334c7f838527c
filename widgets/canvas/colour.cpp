#include "widgets/canvas/colour.h"

#include <array>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

namespace roofscape::widgets {
namespace {

// How bright a channel is (sRGB). Found once: the ink of every bar's label asks.
double linear(std::uint8_t channel) {
  static const std::array<double, 256> kLinear = [] {
    std::array<double, 256> out{};
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double v = static_cast<double>(i) / 255.0;
      out[i] = v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    }
    return out;
  }();
  return kLinear[channel];
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Colour mix(Colour a, Colour b, float share) {
  const float k = std::clamp(share, 0.0f, 1.0f);
  const auto channel = [k](std::uint8_t x, std::uint8_t y) {
    return static_cast<std::uint8_t>(std::lround(static_cast<float>(x) * (1 - k) + static_cast<float>(y) * k));
  };
  return {channel(a.r, b.r), channel(a.g, b.g), channel(a.b, b.b), channel(a.a, b.a)};
}

double luminance(Colour c) { return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b); }

double contrast(Colour a, Colour b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

Colour text_on(Colour fill) {
  constexpr Colour kBlack{0, 0, 0, 255}, kWhite{255, 255, 255, 255};
  return contrast(fill, kBlack) >= contrast(fill, kWhite) ? kBlack : kWhite;
}

std::optional<Colour> parse_colour(std::string_view hex) {
  if ((hex.size() != 7 && hex.size() != 9) || hex[0] != '#') return std::nullopt;
  Colour c;
  std::uint8_t* const channels[] = {&c.r, &c.g, &c.b, &c.a};
  for (std::size_t i = 0; 2 * i + 2 < hex.size(); ++i) {
    const int high = hex_digit(hex[2 * i + 1]), low = hex_digit(hex[2 * i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    *channels[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return c;
}

std::string to_hex(Colour c) { return fmt::format("#{:02X}{:02X}{:02X}", c.r, c.g, c.b); }

}  // namespace roofscape::widgets
