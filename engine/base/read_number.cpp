#include "engine/base/read_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <utility>

#include "engine/base/ascii.h"
#include "engine/base/unit_names.h"
#include "engine/base/utf8.h"

namespace roofscape::engine {

namespace {

std::string marked(std::string_view text) { return fmt::format("\"{}\"", whole_characters(text, 80)); }

// The signs that programs and keyboards use instead of the plain ones.
std::string plain_signs(std::string_view typed) {
  std::string text(typed);
  constexpr std::pair<std::string_view, std::string_view> kSigns[] = {
      {"\u202f", " "}, {"\u00a0", " "}, {"\u2009", " "}, {"\t", " "},     {"\u2212", "-"},
      {"\u00b5", "u"}, {"\u03bc", "u"}, {"\u00d7", "x"}, {"\u00b7", "x"},
  };
  for (const auto& [from, to] : kSigns) replace_all(text, from, to);
  // Superscripts: a power of ten as format_scientific writes it.
  constexpr std::array<std::string_view, 11> kSuperscripts{"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074", "\u2075",
                                                           "\u2076", "\u2077", "\u2078", "\u2079", "\u207b"};
  constexpr std::string_view kPlain = "0123456789-";
  std::string out;
  bool raised = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    std::size_t which = 0;
    while (which < kSuperscripts.size() && !rest.starts_with(kSuperscripts[which])) ++which;
    if (which < kSuperscripts.size()) {
      if (!raised) out += '^';
      out += kPlain[which];
      at += kSuperscripts[which].size();
      raised = true;
    } else {
      out += text[at++];
      raised = false;
    }
  }
  const std::size_t first = out.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return out.substr(first, out.find_last_not_of(' ') + 1 - first);
}

// The text cut into digits as std::from_chars reads them, the power of ten, and the unit without its spaces.
struct Cut {
  std::string digits;
  int exponent = 0;
  std::string unit;
  bool dollars = false;
  enum class Fault : std::uint8_t { none, no_number, groups } fault = Fault::none;
};

// Sign and digits of a whole number; false if there are none.
bool take_exponent(std::string_view& rest, int& exponent) {
  std::size_t digits = 0;
  const bool negative = rest.starts_with('-');
  const std::size_t sign = negative || rest.starts_with('+') ? 1 : 0;
  int value = 0;
  while (sign + digits < rest.size() && is_digit(rest[sign + digits]) && digits < 5)
    value = value * 10 + (rest[sign + digits++] - '0');
  if (digits == 0) return false;
  exponent += negative ? -value : value;
  rest.remove_prefix(sign + digits);
  return true;
}

void skip_spaces(std::string_view& rest) {
  while (rest.starts_with(' ')) rest.remove_prefix(1);
}

Cut cut(std::string_view typed) {
  Cut out;
  const std::string text = plain_signs(typed);
  std::string_view rest = text;
  const auto fail = [&out](Cut::Fault fault) {
    out.fault = fault;
    return out;
  };
  if (rest.starts_with('-')) out.digits.push_back('-');
  if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
  skip_spaces(rest);
  if (rest.starts_with('$')) {
    out.dollars = true;
    rest.remove_prefix(1);
    skip_spaces(rest);
  }
  // Whole digits, in one piece or in groups of three.
  std::size_t group = 0;
  bool grouped = false;
  const std::size_t sign = out.digits.size();
  while (!rest.empty()) {
    if (is_digit(rest.front())) {
      out.digits += rest.front();
      rest.remove_prefix(1);
      ++group;
    } else if (group > 0 && (rest.front() == ',' || rest.front() == '_' || rest.front() == ' ')) {
      const bool next = rest.size() > 1 && is_digit(rest[1]);
      if (!next && rest.front() == ' ') break;
      const bool zero = !grouped && out.digits.size() == sign + 1 && out.digits.back() == '0';
      if (!next || group > 3 || (grouped && group != 3) || zero) return fail(Cut::Fault::groups);
      grouped = true;
      group = 0;
      rest.remove_prefix(1);
    } else {
      break;
    }
  }
  if (grouped && group != 3) return fail(Cut::Fault::groups);
  std::size_t after_point = 0;
  if (rest.starts_with('.')) {
    out.digits += '.';
    rest.remove_prefix(1);
    while (!rest.empty() && is_digit(rest.front())) {
      out.digits += rest.front();
      rest.remove_prefix(1);
      ++after_point;
    }
    if (rest.starts_with(',') || rest.starts_with('.')) return fail(Cut::Fault::groups);
  }
  if (out.digits.size() == sign || (after_point == 0 && out.digits.back() == '.' && out.digits.size() == sign + 1))
    return fail(Cut::Fault::no_number);
  // A power of ten: 1.5e12, 1.5 x 10^12, 10^12. "5 EFLOP" has none: E is followed by no digit.
  if (rest.size() > 1 && (rest.front() == 'e' || rest.front() == 'E')) {
    std::string_view power = rest.substr(1);
    if (take_exponent(power, out.exponent)) rest = power;
  }
  std::string_view power = rest;
  skip_spaces(power);
  if (power.starts_with('x') || power.starts_with('*')) {
    power.remove_prefix(1);
    skip_spaces(power);
    if (power.starts_with("10^")) {
      power.remove_prefix(3);
      if (!take_exponent(power, out.exponent)) return fail(Cut::Fault::no_number);
      rest = power;
    }
  } else if (power.starts_with('^') && out.digits.substr(sign) == "10") {
    power.remove_prefix(1);
    out.digits = out.digits.substr(0, sign) + "1";
    if (!take_exponent(power, out.exponent)) return fail(Cut::Fault::no_number);
    rest = power;
  }
  for (const char c : rest)
    if (c != ' ') out.unit += c;
  if (out.dollars) drop_hour(out.unit);
  return out;
}

double scaled(const Cut& number, int power_of_10, double factor, bool& good) {
  // The power goes into the digits, so that "30 us" is the double nearest to 3e-5.
  const std::string digits = number.digits + "e" + std::to_string(number.exponent + power_of_10);
  double value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  good = read.ec == std::errc{} && read.ptr == digits.data() + digits.size() && std::isfinite(value * factor);
  return value * factor;
}

bool may_be_percent(const Unit& unit) {
  return kind_of(unit) == UnitKind::share || (unit.symbol == "1" && unit.notation == Notation::plain);
}

}  // namespace

Sentence expected_number(const Unit& unit) {
  switch (kind_of(unit)) {
    case UnitKind::share:
      return say("error.number.expected.share");
    case UnitKind::time:
      if (unit.symbol == "days") return say("error.number.expected.days");
      if (unit.symbol == "h") return say("error.number.expected.hours");
      if (unit.symbol == "years") return say("error.number.expected.years");
      return say("error.number.expected.time");
    case UnitKind::bytes:
      return say("error.number.expected.bytes");
    case UnitKind::byte_rate:
      return say("error.number.expected.byte_rate");
    case UnitKind::flop:
      return say("error.number.expected.flop");
    case UnitKind::flop_rate:
      return say("error.number.expected.flop_rate");
    case UnitKind::money:
      return say("error.number.expected.money");
    case UnitKind::power:
      return say("error.number.expected.power");
    case UnitKind::energy:
      return say("error.number.expected.energy");
    case UnitKind::frequency:
      return say("error.number.expected.frequency");
    case UnitKind::counted:
      break;
  }
  if (unit.symbol == "1")
    return unit.notation == Notation::count ? say("error.number.expected.count") : say("error.number.expected.ratio");
  return unit.notation == Notation::si ? say("error.number.expected.prefix", unit.symbol)
                                       : say("error.number.expected.whole", unit.symbol);
}

bool names_unit(std::string_view text) {
  const Cut number = cut(text);
  return number.fault == Cut::Fault::none && (number.dollars || !number.unit.empty());
}

NumberReading read_number(std::string_view text, const Unit& unit) {
  const auto fail = [](Sentence problem, Sentence remedy) {
    return NumberReading{std::nullopt, std::move(problem), std::move(remedy)};
  };
  const Cut number = cut(text);
  const UnitKind kind = kind_of(unit);
  const auto give = [&unit] { return say("error.give", expected_number(unit)); };
  const auto takes = [&unit] { return say("error.number.takes", expected_number(unit)); };
  if (number.fault == Cut::Fault::groups)
    return fail(say("error.number.groups", marked(text)), say("error.number.groups.remedy"));
  if (number.fault != Cut::Fault::none) return fail(say("error.not_a_number", marked(text)), give());
  bool good = true;
  const auto take = [&](int power_of_10, double factor) {
    const double value = scaled(number, power_of_10, factor, good);
    if (good) return NumberReading{value, {}, {}};
    return fail(say("error.number.extreme", marked(text)), give());
  };
  if (number.dollars && kind != UnitKind::money) return fail(say("error.number.is_money", marked(text)), give());
  if (number.unit.empty()) {
    if (kind != UnitKind::share) return take(0, 1);
    const NumberReading fraction = take(0, 1);
    if (!fraction || std::abs(*fraction) <= 1) return fraction;
    if (std::abs(*fraction) < 2)
      return fail(say("error.number.percent", marked(text)), say("error.number.percent.remedy", number.digits));
    return take(-2, 1);
  }
  if (number.unit == "%") {
    if (may_be_percent(unit)) return take(-2, 1);
    return fail(say("error.number.is_share", marked(text)), give());
  }
  if (kind == UnitKind::counted)
    if (const auto meant = as_word(number.unit, unit)) return take(meant->power_of_10, meant->factor);
  if (const auto meant = as_kind(number.unit, kind))
    return take(meant->power_of_10, meant->factor == base_of(unit) ? 1 : meant->factor / base_of(unit));
  if (const auto meant = as_prefix(number.unit, kind)) return take(meant->power_of_10, meant->factor);
  if (number.unit == "m") {
    if (kind == UnitKind::time)
      return fail(say("error.number.minutes", marked(text)), say("error.number.minutes.remedy", number.digits));
    return fail(say("error.number.mega", marked(text)),
                say("error.number.mega.remedy", number.digits, expected_number(unit)));
  }
  if (kind == UnitKind::bytes || kind == UnitKind::byte_rate) {
    // A small b is a bit to some and a byte to others.
    std::string prefix(1, number.unit.front());
    if (prefix != "k" && prefix[0] >= 'a' && prefix[0] <= 'z') prefix[0] = static_cast<char>(prefix[0] - 'a' + 'A');
    if (number.unit.size() > 1 && number.unit[1] == 'b' && as_prefix(prefix, UnitKind::bytes)) {
      const std::string_view rate = kind == UnitKind::bytes ? "" : "/s";
      return fail(
          say("error.number.bits", marked(text)),
          say("error.number.bits.remedy", fmt::format("{}B{}", prefix, rate), fmt::format("{}bit{}", prefix, rate)));
    }
  }
  for (std::size_t k = 1; k <= static_cast<std::size_t>(kLastUnitKind); ++k)
    if (const UnitKind other = static_cast<UnitKind>(k); other != kind && as_kind(number.unit, other))
      return fail(say("error.number.is_kind", marked(text), kind_words(other)), takes());
  return fail(say("error.number.no_unit", marked(text), marked(number.unit)), takes());
}

}  // namespace roofscape::engine
