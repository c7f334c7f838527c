// Units of quantities: what dimension a number has and how people expect to read it. Values are always stored in the
// base unit (seconds, bytes, FLOP, dollars, plain counts); a Unit never scales a stored value.
#pragma once

#include <cstdint>
#include <string_view>

namespace roofscape::engine {

// Exponents of the four dimensions that formulas can mix up. Tokens, chips, parameters and other counts are pure
// numbers.
struct Dimension {
  std::int8_t second = 0, byte = 0, flop = 0, dollar = 0;
  friend constexpr bool operator==(const Dimension&, const Dimension&) = default;
  friend constexpr Dimension operator*(Dimension a, Dimension b) {
    return {static_cast<std::int8_t>(a.second + b.second), static_cast<std::int8_t>(a.byte + b.byte),
            static_cast<std::int8_t>(a.flop + b.flop), static_cast<std::int8_t>(a.dollar + b.dollar)};
  }
  friend constexpr Dimension operator/(Dimension a, Dimension b) {
    return {static_cast<std::int8_t>(a.second - b.second), static_cast<std::int8_t>(a.byte - b.byte),
            static_cast<std::int8_t>(a.flop - b.flop), static_cast<std::int8_t>(a.dollar - b.dollar)};
  }
};

// How a number is written for people (the writing itself is in widgets/canvas/number_format.h).
enum class Notation : std::uint8_t {
  count,     // exact integer, grouped in threes: 70 553 706 496
  plain,     // three significant digits, no prefix: 3.14
  si,        // three significant digits with an SI prefix before the unit: 459 TFLOP/s, 80 GB
  duration,  // s, ms, us, ns
  percent,   // a fraction shown as percent with one decimal: 28.3 %
  money,     // $75 M, or whole dollars
};

struct Unit {
  std::string_view symbol;  // as in the report's JSON: "s", "B", "FLOP", "tokens", "1" for pure ratios
  Dimension dimension;
  Notation notation = Notation::plain;
  friend constexpr bool operator==(const Unit&, const Unit&) = default;
};

namespace unit {
inline constexpr Unit one{"1", {}, Notation::plain};
inline constexpr Unit count{"1", {}, Notation::count};
inline constexpr Unit fraction{"1", {}, Notation::percent};
inline constexpr Unit parameters{"parameters", {}, Notation::count};
inline constexpr Unit tokens{"tokens", {}, Notation::count};
inline constexpr Unit tokens_per_chip{"tokens/chip", {}, Notation::plain};
inline constexpr Unit sequences{"sequences", {}, Notation::count};
inline constexpr Unit chips{"chips", {}, Notation::count};
inline constexpr Unit chips_real{"chips", {}, Notation::plain};
inline constexpr Unit layers{"layers", {}, Notation::count};
inline constexpr Unit ways{"ways", {}, Notation::count};
inline constexpr Unit ways_real{"ways", {}, Notation::plain};
inline constexpr Unit elements{"elements", {}, Notation::count};
inline constexpr Unit elements_real{"elements", {}, Notation::plain};
inline constexpr Unit steps{"steps", {}, Notation::count};
inline constexpr Unit microbatches{"microbatches", {}, Notation::count};
inline constexpr Unit days{"days", {}, Notation::plain};
inline constexpr Unit hours{"h", {}, Notation::plain};
inline constexpr Unit years{"years", {}, Notation::plain};
inline constexpr Unit kilowatt_hours{"kWh", {}, Notation::plain};
inline constexpr Unit chip_hours{"chip h", {}, Notation::si};
inline constexpr Unit seconds{"s", {1, 0, 0, 0}, Notation::duration};
inline constexpr Unit bytes{"B", {0, 1, 0, 0}, Notation::si};
inline constexpr Unit bytes_each{"B", {0, 1, 0, 0}, Notation::plain};  // bytes of one element
inline constexpr Unit flop{"FLOP", {0, 0, 1, 0}, Notation::si};
inline constexpr Unit flop_each{"FLOP", {0, 0, 1, 0}, Notation::plain};  // 2 FLOP of a multiply-add
inline constexpr Unit flop_per_s{"FLOP/s", {-1, 0, 1, 0}, Notation::si};
inline constexpr Unit bytes_per_s{"B/s", {-1, 1, 0, 0}, Notation::si};
inline constexpr Unit flop_per_byte{"FLOP/B", {0, -1, 1, 0}, Notation::plain};
inline constexpr Unit tokens_per_s{"tokens/s", {-1, 0, 0, 0}, Notation::si};
inline constexpr Unit requests_per_s{"requests/s", {-1, 0, 0, 0}, Notation::si};
inline constexpr Unit hertz{"Hz", {-1, 0, 0, 0}, Notation::si};
inline constexpr Unit watts{"W", {}, Notation::si};                      // energy has no dimension of its own here
inline constexpr Unit seconds_each{"s", {1, 0, 0, 0}, Notation::plain};  // 86400 s of a day
inline constexpr Unit flop_per_dollar{"FLOP/USD", {0, 0, 1, -1}, Notation::si};
inline constexpr Unit dollars{"USD", {0, 0, 0, 1}, Notation::money};
}  // namespace unit

}  // namespace roofscape::engine
