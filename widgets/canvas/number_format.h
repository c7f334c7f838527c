// How numbers are written for people, everywhere: three significant digits for results, exact counts, decimal bytes,
// groups of three from five digits on. Always with a decimal point and a true minus, in every language: nothing here
// looks at the locale. The gap between groups, and before units and %, is U+202F (narrow, does not break).
// Values come in base units (seconds, bytes, fractions). A value that is not finite is written as a dash, never as
// "nan".
//
// A unit is written by its symbol. Where that is a noun ("layers"), the word for it, in the form that goes with the
// number, is a matter of the language: TextTable::amount.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/unit.h"

namespace roofscape::widgets {

// Of axes whose ticks are numbers of one unit.
inline constexpr double kMsPerS = 1e3;

enum class BytePrefix : std::uint8_t { decimal, binary };  // GB or GiB, one choice for the whole window

struct NumberOptions {
  bool unit = true;         // append the unit's symbol
  bool sign = false;        // write + before positive values (differences)
  bool trim_zeros = false;  // inputs as given: 80 GB, not 80.0 GB
  int significant = 3;
  BytePrefix bytes = BytePrefix::decimal;
};

// A number and its unit apart, for value boxes that set them in two colours: {"62.9", "GB"}.
struct NumberText {
  std::string number, unit;
};
std::string join(NumberText);

std::string format(double value, const engine::Unit& unit, const NumberOptions& options = {});
NumberText format_parts(double value, const engine::Unit& unit, const NumberOptions& options = {});

std::string format_count(double value);                // exact: 70 553 706 496
std::string format_fixed(double value, int decimals);  // 16 384.5; for columns that share one number of decimals
std::string format_significant(double value, int digits = 3, bool trim_zeros = false);  // 3.14, 0.00271, 1024
std::string format_si(double value, std::string_view symbol,
                      const NumberOptions& options = {});       // 459 TFLOP/s, 1.82 M tokens/s
std::string format_duration(double seconds);                    // 9.23 s, 544 ms, 4.3 us with the micro sign
std::string format_percent(double fraction, int decimals = 1);  // 28.3 %
std::string format_share(double fraction);                      // whole percent, "< 1 %" under one
std::string format_money(double dollars);                       // $75 M
std::string format_ratio(double ratio);                         // 1.33 and a multiplication sign
std::string format_difference(double value, const engine::Unit& unit, NumberOptions options = {});  // always a sign
// Powers of ten in formulas: 4.23 x 10 with a superscript exponent.
std::string format_scientific(double value, int digits = 3);

inline constexpr std::string_view kNarrowSpace = "\u202f";
inline constexpr std::string_view kMinus = "\u2212";
inline constexpr std::string_view kNoValue = "\u2014";

}  // namespace roofscape::widgets
