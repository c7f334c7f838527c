#include "widgets/canvas/number_format.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "engine/base/digit_groups.h"

namespace roofscape::widgets {
namespace {

// fmt writes in the C locale unless asked otherwise, which is why no stream and no printf is used here.
std::string signed_text(bool negative, std::string digits, bool plus) {
  const bool zero = digits.find_first_of("123456789") == std::string::npos;
  if (zero) return digits;
  if (negative) return std::string(kMinus) + digits;
  return plus ? "+" + digits : digits;
}

void trim(std::string& digits) {
  if (digits.find('.') == std::string::npos) return;
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
}

// Decimals that show `significant` digits of a positive value, after rounding (9.996 shows as 10.0, not 10.00).
int decimals_for(double magnitude, int significant) {
  if (magnitude <= 0) return 0;
  const auto decimals = [&](double v) { return significant - 1 - static_cast<int>(std::floor(std::log10(v))); };
  const int d = decimals(magnitude);
  const double unit = std::pow(10.0, -d);
  return std::clamp(decimals(std::round(magnitude / unit) * unit * (1 + 1e-12)), 0, 30);
}

std::string superscript(int n) {
  constexpr std::array<const char*, 10> kDigits{"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                                "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  std::string text = n < 0 ? "\u207b" : "";
  for (const char c : std::to_string(std::abs(n))) text += kDigits[static_cast<std::size_t>(c - '0')];
  return text;
}

// Of what is smaller, even with the smallest prefix, nobody wants to count the zeros.
constexpr double kLeastPlain = 1e-5;

std::string digits_of(double magnitude, int significant, bool trim_zeros) {
  if (magnitude > 0 && magnitude < kLeastPlain) return format_scientific(magnitude, significant);
  const int decimals = decimals_for(magnitude, significant);
  // Half a unit goes up, as readers round, and as a count of the same value does.
  std::string digits = fmt::format("{:.{}f}", decimals == 0 ? std::round(magnitude) : magnitude, decimals);
  if (trim_zeros) trim(digits);
  return engine::digit_groups(std::move(digits));
}

struct Prefix {
  double factor;
  const char* text;
};
constexpr Prefix kDecimal[] = {{1e24, "Y"}, {1e21, "Z"}, {1e18, "E"}, {1e15, "P"}, {1e12, "T"},
                               {1e9, "G"},  {1e6, "M"},  {1e3, "k"},  {1, ""}};
constexpr Prefix kSmall[] = {{1, ""}, {1e-3, "m"}, {1e-6, "\u00b5"}, {1e-9, "n"}, {1e-12, "p"}};
constexpr Prefix kBinary[] = {{0x1p60, "Ei"}, {0x1p50, "Pi"}, {0x1p40, "Ti"}, {0x1p30, "Gi"},
                              {0x1p20, "Mi"}, {0x1p10, "Ki"}, {1, ""}};

// The largest prefix whose number, once rounded, is at least 1: 999 960 is 1.00 M, not 1000 k.
template <std::size_t N>
const Prefix& prefix_for(double magnitude, const Prefix (&table)[N], int significant) {
  const double almost = 1 - 0.5 * std::pow(10.0, -std::max(significant, 1));
  for (const Prefix& p : table)
    if (magnitude >= p.factor * almost) return p;
  return table[N - 1];
}

bool huge(double magnitude) { return magnitude >= 1e27; }

// A word ("tokens/s") stands apart from its prefix, a symbol ("FLOP/s") carries it.
std::string join_prefix(std::string_view prefix, std::string_view symbol) {
  const bool word = !symbol.empty() && symbol[0] >= 'a' && symbol[0] <= 'z' && symbol.size() > 1;
  std::string text(prefix);
  if (word && !prefix.empty()) text += " ";
  text += symbol;
  return text;
}

NumberText si_parts(double value, std::string_view symbol, const NumberOptions& o) {
  const double magnitude = std::abs(value);
  const std::string_view shown = o.unit ? symbol : std::string_view{};
  if (huge(magnitude))
    return {signed_text(value < 0, format_scientific(magnitude, o.significant), o.sign), std::string(shown)};
  const bool binary = symbol.substr(0, 1) == "B" && o.bytes == BytePrefix::binary;
  const Prefix& p =
      binary ? prefix_for(magnitude, kBinary, o.significant) : prefix_for(magnitude, kDecimal, o.significant);
  // Whole bytes and the like have no fractions to show.
  const bool whole = p.factor == 1 && magnitude == std::floor(magnitude);
  return {signed_text(value < 0, digits_of(magnitude / p.factor, o.significant, o.trim_zeros || whole), o.sign),
          join_prefix(p.text, shown)};
}

NumberText duration_parts(double seconds, const NumberOptions& o) {
  const double magnitude = std::abs(seconds);
  if (magnitude == 0) return {"0", "s"};
  const Prefix& p = prefix_for(magnitude, kSmall, o.significant);
  const std::string digits =
      magnitude >= 1e15 ? format_scientific(magnitude) : digits_of(magnitude / p.factor, o.significant, o.trim_zeros);
  return {signed_text(seconds < 0, digits, o.sign), std::string(p.text) + "s"};
}

NumberText money_parts(double dollars, const NumberOptions& o) {
  const double m = std::abs(dollars);
  std::string digits, unit;
  const auto scaled = [&](double factor, const char* suffix) {
    const double v = m / factor;
    digits = fmt::format("{:.{}f}", v, v < 9.95 ? 1 : 0);
    if (digits.size() > 2 && digits.ends_with(".0")) digits.resize(digits.size() - 2);
    digits = engine::digit_groups(std::move(digits));
    unit = suffix;
  };
  if (huge(m))
    digits = format_scientific(m);
  else if (m >= 0.9995e12)
    scaled(1e12, "T");
  else if (m >= 0.9995e9)
    scaled(1e9, "B");
  else if (m >= 0.9995e6)
    scaled(1e6, "M");
  else if (m < 9.995 && m > 0)
    digits = fmt::format("{:.2f}", m);  // hourly prices have cents
  else
    digits = engine::digit_groups(fmt::format("{:.0f}", m));
  return {signed_text(dollars < 0, "$" + digits, o.sign), unit};
}

}  // namespace

std::string join(NumberText text) {
  if (text.unit.empty()) return std::move(text.number);
  return text.number + std::string(kNarrowSpace) + text.unit;
}

std::string format_fixed(double value, int decimals) {
  if (!std::isfinite(value)) return std::string(kNoValue);
  if (huge(std::abs(value))) return signed_text(value < 0, format_scientific(std::abs(value)), false);
  return signed_text(
      value < 0, engine::digit_groups(fmt::format("{:.{}f}", std::abs(value), std::clamp(decimals, 0, 15))), false);
}

std::string format_count(double value) {
  // Counts are whole; a fraction of one (an average) keeps its three digits rather than being rounded away.
  if (std::isfinite(value) && value != std::floor(value)) return format_significant(value);
  return format_fixed(value, 0);
}

std::string format_significant(double value, int digits, bool trim_zeros) {
  if (!std::isfinite(value)) return std::string(kNoValue);
  const double m = std::abs(value);
  if (m == 0) return "0";
  const bool whole = m == std::floor(m);
  if (m >= 1e15 || m < kLeastPlain) return signed_text(value < 0, format_scientific(m, digits), false);
  return signed_text(value < 0, digits_of(m, digits, trim_zeros || whole), false);
}

std::string format_scientific(double value, int digits) {
  if (!std::isfinite(value)) return std::string(kNoValue);
  if (value == 0) return "0";
  std::string text = fmt::format("{:.{}e}", std::abs(value), std::clamp(digits, 1, 16) - 1);
  const std::size_t e = text.find('e');
  std::string mantissa = text.substr(0, e);
  trim(mantissa);
  const std::string power = "10" + superscript(std::stoi(text.substr(e + 1)));
  return signed_text(value < 0, mantissa == "1" ? power : mantissa + "\u202f\u00d7\u202f" + power, false);
}

std::string format_si(double value, std::string_view symbol, const NumberOptions& options) {
  if (!std::isfinite(value)) return std::string(kNoValue);
  return join(si_parts(value, symbol, options));
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds)) return std::string(kNoValue);
  return join(duration_parts(seconds, {}));
}

std::string format_percent(double fraction, int decimals) {
  if (!std::isfinite(fraction)) return std::string(kNoValue);
  return format_fixed(fraction * 100, decimals) + std::string(kNarrowSpace) + "%";
}

std::string format_share(double fraction) {
  if (fraction > 0 && fraction < 0.01) return fmt::format("<{}1{}%", kNarrowSpace, kNarrowSpace);
  return format_percent(fraction, 0);
}

std::string format_money(double dollars) {
  if (!std::isfinite(dollars)) return std::string(kNoValue);
  return join(money_parts(dollars, {}));
}

std::string format_ratio(double ratio) {
  if (!std::isfinite(ratio)) return std::string(kNoValue);
  return format_significant(ratio) + "\u00d7";
}

NumberText format_parts(double value, const engine::Unit& unit, const NumberOptions& o) {
  if (!std::isfinite(value)) return {std::string(kNoValue), {}};
  const std::string_view symbol = unit.symbol == "1" || !o.unit ? std::string_view{} : unit.symbol;
  const auto plus = [&](std::string digits) { return o.sign && value > 0 && digits != "0" ? "+" + digits : digits; };
  switch (unit.notation) {
    case engine::Notation::count:
      return {plus(format_count(value)), std::string(symbol)};
    case engine::Notation::plain:
      // Kilowatt-hours of a run are millions: as people read them, in MWh and GWh.
      if (symbol == engine::unit::kilowatt_hours.symbol) return si_parts(value * 1e3, "Wh", o);
      return {plus(format_significant(value, o.significant, o.trim_zeros)), std::string(symbol)};
    case engine::Notation::si:
      return si_parts(value, unit.symbol == "1" ? "" : unit.symbol, o);
    case engine::Notation::duration:
      return duration_parts(value, o);
    case engine::Notation::percent: {
      std::string digits = format_fixed(value * 100, 1);
      if (o.trim_zeros) trim(digits);
      return {plus(std::move(digits)), o.unit ? "%" : ""};
    }
    case engine::Notation::money:
      return money_parts(value, o);
  }
  return {plus(format_significant(value)), std::string(symbol)};
}

std::string format(double value, const engine::Unit& unit, const NumberOptions& options) {
  return join(format_parts(value, unit, options));
}

std::string format_difference(double value, const engine::Unit& unit, NumberOptions options) {
  options.sign = true;
  return format(value, unit, options);
}

}  // namespace roofscape::widgets
