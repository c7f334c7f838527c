// Units by the names that people type, with their prefixes: "GiB/s", "ms", "tok/s", "M$". For read_number.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/sentence.h"
#include "engine/base/unit.h"

namespace roofscape::engine {

// What a unit measures. Units of one kind differ by a factor; between kinds nothing is converted.
enum class UnitKind : std::uint8_t {
  counted,  // pure numbers and words such as tokens
  share,
  time,
  bytes,
  byte_rate,
  flop,
  flop_rate,
  money,
  power,
  energy,
  frequency
};

inline constexpr UnitKind kLastUnitKind = UnitKind::frequency;
UnitKind kind_of(const Unit&);
Sentence kind_words(UnitKind);  // "a time"
// Of the unit, in the base of its kind: s, B, B/s, FLOP, FLOP/s, USD, W, kWh, Hz.
double base_of(const Unit&);

// What a unit that was typed stands for.
struct NamedUnit {
  UnitKind kind = UnitKind::counted;
  int power_of_10 = 0;
  double factor = 1;
};

// A unit of this kind with one of its prefixes.
std::optional<NamedUnit> as_kind(std::string_view unit, UnitKind);
// A prefix alone.
std::optional<NamedUnit> as_prefix(std::string_view unit, UnitKind);
// The word of the expected unit ("tokens", "tok/s", "chip h"), with a prefix or none.
std::optional<NamedUnit> as_word(std::string_view unit, const Unit& expected);

// Dollars are per hour where they are a price: "$10.80/h".
void drop_hour(std::string& unit);

}  // namespace roofscape::engine
