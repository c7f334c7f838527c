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
#include "engine/base/time_units.h"
#include "engine/base/utf8.h"

namespace roofscape::engine {

namespace {

// What a unit measures. Units of one kind differ by a factor; between kinds nothing is converted.
enum class Kind : std::uint8_t {
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

struct Named {
  std::string_view name;  // lower case where `any_case`
  Kind kind;
  double factor;  // of the kind's own base: s, B, B/s, FLOP, FLOP/s, USD, W, kWh, Hz
  enum Prefixes : std::uint8_t { none, small, large } prefixes = none;
  bool any_case = false;
  int power_of_10 = 0;  // beside the factor: digits scaled by it stay exact
};

constexpr double kSecondsPerYear = kDaysPerYear * kSecondsPerDay;
constexpr double kBit = 0.125;

constexpr Named kNames[] = {
    {"s", Kind::time, 1, Named::small},
    {"sec", Kind::time, 1},
    {"secs", Kind::time, 1},
    {"second", Kind::time, 1},
    {"seconds", Kind::time, 1},
    {"min", Kind::time, kSecondsPerMinute},
    {"mins", Kind::time, kSecondsPerMinute},
    {"minute", Kind::time, kSecondsPerMinute},
    {"minutes", Kind::time, kSecondsPerMinute},
    {"h", Kind::time, kSecondsPerHour},
    {"hr", Kind::time, kSecondsPerHour},
    {"hrs", Kind::time, kSecondsPerHour},
    {"hour", Kind::time, kSecondsPerHour},
    {"hours", Kind::time, kSecondsPerHour},
    {"d", Kind::time, kSecondsPerDay},
    {"day", Kind::time, kSecondsPerDay},
    {"days", Kind::time, kSecondsPerDay},
    {"week", Kind::time, 7 * kSecondsPerDay},
    {"weeks", Kind::time, 7 * kSecondsPerDay},
    {"yr", Kind::time, kSecondsPerYear},
    {"year", Kind::time, kSecondsPerYear},
    {"years", Kind::time, kSecondsPerYear},
    {"B", Kind::bytes, 1, Named::large},
    {"byte", Kind::bytes, 1, Named::large},
    {"bytes", Kind::bytes, 1, Named::large},
    {"bit", Kind::bytes, kBit, Named::large},
    {"bits", Kind::bytes, kBit, Named::large},
    {"B/s", Kind::byte_rate, 1, Named::large},
    {"Bps", Kind::byte_rate, 1, Named::large},
    {"byte/s", Kind::byte_rate, 1, Named::large},
    {"bytes/s", Kind::byte_rate, 1, Named::large},
    {"bit/s", Kind::byte_rate, kBit, Named::large},
    {"bits/s", Kind::byte_rate, kBit, Named::large},
    {"b/s", Kind::byte_rate, kBit, Named::large},
    {"bps", Kind::byte_rate, kBit, Named::large},
    {"flop", Kind::flop, 1, Named::large, true},
    {"flops", Kind::flop, 1, Named::large, true},
    {"op", Kind::flop, 1, Named::large, true},
    {"ops", Kind::flop, 1, Named::large, true},
    {"flop/s", Kind::flop_rate, 1, Named::large, true},
    {"flops/s", Kind::flop_rate, 1, Named::large, true},
    {"flops", Kind::flop_rate, 1, Named::large, true},
    {"op/s", Kind::flop_rate, 1, Named::large, true},
    {"ops/s", Kind::flop_rate, 1, Named::large, true},
    {"ops", Kind::flop_rate, 1, Named::large, true},
    {"USD", Kind::money, 1, Named::large},
    {"usd", Kind::money, 1, Named::large},
    {"$", Kind::money, 1, Named::large},
    {"dollar", Kind::money, 1, Named::large},
    {"dollars", Kind::money, 1, Named::large},
    {"W", Kind::power, 1, Named::large},
    {"watt", Kind::power, 1, Named::large},
    {"watts", Kind::power, 1, Named::large},
    {"Wh", Kind::energy, 1, Named::large, false, -3},
    {"hz", Kind::frequency, 1, Named::large, true},
};

struct Prefix {
  std::string_view text;
  int power_of_10 = 0;
  double factor = 1;
};
constexpr Prefix kLarge[] = {{"", 0},           {"k", 3},          {"K", 3},          {"M", 6},
                             {"G", 9},          {"T", 12},         {"P", 15},         {"E", 18},
                             {"Z", 21},         {"Y", 24},         {"Ki", 0, 0x1p10}, {"Mi", 0, 0x1p20},
                             {"Gi", 0, 0x1p30}, {"Ti", 0, 0x1p40}, {"Pi", 0, 0x1p50}, {"Ei", 0, 0x1p60}};
constexpr Prefix kSmall[] = {{"", 0}, {"m", -3}, {"u", -6}, {"n", -9}, {"p", -12}};
// Where no unit follows that could be mistaken, as in the names of models: 13b, 15t.
constexpr Prefix kLoose[] = {{"B", 9}, {"b", 9}, {"g", 9}, {"t", 12}};

Kind kind_of(const Unit& unit) {
  if (unit.notation == Notation::percent) return Kind::share;
  for (const auto& [symbol, kind] :
       {std::pair{"s", Kind::time}, std::pair{"days", Kind::time}, std::pair{"h", Kind::time},
        std::pair{"years", Kind::time}, std::pair{"B", Kind::bytes}, std::pair{"B/s", Kind::byte_rate},
        std::pair{"FLOP", Kind::flop}, std::pair{"FLOP/s", Kind::flop_rate}, std::pair{"USD", Kind::money},
        std::pair{"W", Kind::power}, std::pair{"kWh", Kind::energy}, std::pair{"Hz", Kind::frequency}})
    if (unit.symbol == symbol) return kind;
  return Kind::counted;
}

// Of the unit, in the base of its kind.
double base_of(const Unit& unit) {
  if (unit.symbol == "days") return kSecondsPerDay;
  if (unit.symbol == "h") return kSecondsPerHour;
  if (unit.symbol == "years") return kSecondsPerYear;
  return 1;
}

Sentence kind_words(Kind kind) {
  switch (kind) {
    case Kind::counted:
      return say("error.number.kind.count");
    case Kind::share:
      return say("error.number.kind.share");
    case Kind::time:
      return say("error.number.kind.time");
    case Kind::bytes:
      return say("error.number.kind.bytes");
    case Kind::byte_rate:
      return say("error.number.kind.byte_rate");
    case Kind::flop:
      return say("error.number.kind.operations");
    case Kind::flop_rate:
      return say("error.number.kind.operation_rate");
    case Kind::money:
      return say("error.number.kind.money");
    case Kind::power:
      return say("error.number.kind.power");
    case Kind::energy:
      return say("error.number.kind.energy");
    case Kind::frequency:
      return say("error.number.kind.frequency");
  }
  return {};
}

std::string marked(std::string_view text) { return fmt::format("\"{}\"", whole_characters(text, 80)); }

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

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

// Dollars are per hour where they are a price: "$10.80/h".
void drop_hour(std::string& unit) {
  for (const std::string_view hourly : {"/h", "/hr", "/hour"})
    if (unit.ends_with(hourly)) unit.resize(unit.size() - hourly.size());
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

// What a unit that was typed stands for.
struct Meant {
  Kind kind = Kind::counted;
  int power_of_10 = 0;
  double factor = 1;
};

// A unit of this kind with one of its prefixes.
std::optional<Meant> as_kind(std::string_view unit, Kind kind) {
  std::string rest(unit);
  // "per second" in its other spellings.
  for (const std::string_view slow : {"/sec", "/second"})
    if (rest.ends_with(slow)) rest = rest.substr(0, rest.size() - slow.size()) + "/s";
  if (kind == Kind::money) drop_hour(rest);
  for (const Named& named : kNames) {
    if (named.kind != kind) continue;
    const std::string whole = named.any_case ? ascii_lower(rest) : rest;
    if (!whole.ends_with(named.name)) continue;
    const std::string_view prefix = std::string_view(rest).substr(0, rest.size() - named.name.size());
    if (prefix.empty()) return Meant{kind, named.power_of_10, named.factor};
    const auto find = [&](const auto& table) -> std::optional<Meant> {
      for (const Prefix& p : table)
        if (p.text == prefix) return Meant{kind, p.power_of_10 + named.power_of_10, p.factor * named.factor};
      return std::nullopt;
    };
    if (named.prefixes == Named::small)
      if (const auto meant = find(kSmall)) return meant;
    if (named.prefixes == Named::large) {
      if (const auto meant = find(kLarge)) return meant;
      if (kind == Kind::money || named.any_case)
        if (const auto meant = find(kLoose); meant && (kind == Kind::money || prefix != "b")) return meant;
    }
  }
  return std::nullopt;
}

// A prefix alone.
std::optional<Meant> as_prefix(std::string_view unit, Kind kind) {
  if (kind == Kind::time || kind == Kind::share) return std::nullopt;
  for (const Prefix& p : kLarge)
    if (p.text == unit) return Meant{kind, p.power_of_10, p.factor};
  if (kind == Kind::counted || kind == Kind::money || kind == Kind::flop || kind == Kind::flop_rate)
    for (const Prefix& p : kLoose)
      if (p.text == unit) return Meant{kind, p.power_of_10, p.factor};
  return std::nullopt;
}

std::string without_plural(std::string_view word) {
  std::string out;  // of each word around a slash
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t slash = std::min(word.find('/', at), word.size());
    std::string_view part = word.substr(at, slash - at);
    if (part.size() > 2 && part.ends_with("es") && part.find("batch") != std::string_view::npos)
      part.remove_suffix(2);
    else if (part.size() > 2 && part.ends_with('s'))
      part.remove_suffix(1);
    out += part;
    if (slash < word.size()) out += '/';
    at = slash + 1;
  }
  replace_all(out, "param", "parameter");
  replace_all(out, "parametereter", "parameter");
  replace_all(out, "token", "tok");
  replace_all(out, "request", "req");
  replace_all(out, "sequence", "seq");
  replace_all(out, "-", "");
  replace_all(out, "hour", "h");
  return out;
}

// The word of the expected unit ("tokens", "tok/s", "chip h"), with a prefix or none.
std::optional<Meant> as_word(std::string_view unit, const Unit& expected) {
  std::string symbol;
  for (const char c : expected.symbol)
    if (c != ' ') symbol += c;
  const std::string wanted = without_plural(symbol);
  const auto is_it = [&](std::string_view word) { return !word.empty() && without_plural(word) == wanted; };
  if (symbol != "1") {
    if (is_it(unit)) return Meant{Kind::counted, 0, 1};
    for (const Prefix& p : kLarge)
      if (!p.text.empty() && unit.starts_with(p.text) && is_it(unit.substr(p.text.size())))
        return Meant{Kind::counted, p.power_of_10, p.factor};
    for (const Prefix& p : kLoose)
      if (unit.starts_with(p.text) && is_it(unit.substr(p.text.size())))
        return Meant{Kind::counted, p.power_of_10, p.factor};
  } else if (unit == "x") {
    return Meant{Kind::counted, 0, 1};  // 1.33 times
  }
  return std::nullopt;
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
  return kind_of(unit) == Kind::share || (unit.symbol == "1" && unit.notation == Notation::plain);
}

}  // namespace

Sentence expected_number(const Unit& unit) {
  switch (kind_of(unit)) {
    case Kind::share:
      return say("error.number.expected.share");
    case Kind::time:
      if (unit.symbol == "days") return say("error.number.expected.days");
      if (unit.symbol == "h") return say("error.number.expected.hours");
      if (unit.symbol == "years") return say("error.number.expected.years");
      return say("error.number.expected.time");
    case Kind::bytes:
      return say("error.number.expected.bytes");
    case Kind::byte_rate:
      return say("error.number.expected.byte_rate");
    case Kind::flop:
      return say("error.number.expected.flop");
    case Kind::flop_rate:
      return say("error.number.expected.flop_rate");
    case Kind::money:
      return say("error.number.expected.money");
    case Kind::power:
      return say("error.number.expected.power");
    case Kind::energy:
      return say("error.number.expected.energy");
    case Kind::frequency:
      return say("error.number.expected.frequency");
    case Kind::counted:
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
  const Kind kind = kind_of(unit);
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
  if (number.dollars && kind != Kind::money) return fail(say("error.number.is_money", marked(text)), give());
  if (number.unit.empty()) {
    if (kind != Kind::share) return take(0, 1);
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
  if (kind == Kind::counted)
    if (const auto meant = as_word(number.unit, unit)) return take(meant->power_of_10, meant->factor);
  if (const auto meant = as_kind(number.unit, kind))
    return take(meant->power_of_10, meant->factor == base_of(unit) ? 1 : meant->factor / base_of(unit));
  if (const auto meant = as_prefix(number.unit, kind)) return take(meant->power_of_10, meant->factor);
  if (number.unit == "m") {
    if (kind == Kind::time)
      return fail(say("error.number.minutes", marked(text)), say("error.number.minutes.remedy", number.digits));
    return fail(say("error.number.mega", marked(text)),
                say("error.number.mega.remedy", number.digits, expected_number(unit)));
  }
  if (kind == Kind::bytes || kind == Kind::byte_rate) {
    // A small b is a bit to some and a byte to others.
    std::string prefix(1, number.unit.front());
    if (prefix != "k" && prefix[0] >= 'a' && prefix[0] <= 'z') prefix[0] = static_cast<char>(prefix[0] - 'a' + 'A');
    if (number.unit.size() > 1 && number.unit[1] == 'b' && as_prefix(prefix, Kind::bytes)) {
      const std::string_view rate = kind == Kind::bytes ? "" : "/s";
      return fail(
          say("error.number.bits", marked(text)),
          say("error.number.bits.remedy", fmt::format("{}B{}", prefix, rate), fmt::format("{}bit{}", prefix, rate)));
    }
  }
  for (std::size_t k = 1; k <= static_cast<std::size_t>(Kind::frequency); ++k)
    if (const Kind other = static_cast<Kind>(k); other != kind && as_kind(number.unit, other))
      return fail(say("error.number.is_kind", marked(text), kind_words(other)), takes());
  return fail(say("error.number.no_unit", marked(text), marked(number.unit)), takes());
}

}  // namespace roofscape::engine
