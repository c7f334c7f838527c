#include "engine/base/unit_names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "engine/base/ascii.h"
#include "engine/base/time_units.h"

namespace roofscape::engine {
namespace {

struct Named {
  std::string_view name;  // lower case where `any_case`
  UnitKind kind;
  double factor;  // of the kind's own base: s, B, B/s, FLOP, FLOP/s, USD, W, kWh, Hz
  enum Prefixes : std::uint8_t { none, small, large } prefixes = none;
  bool any_case = false;
  int power_of_10 = 0;  // beside the factor: digits scaled by it stay exact
};

constexpr double kSecondsPerYear = kDaysPerYear * kSecondsPerDay;
constexpr double kBit = 0.125;

constexpr Named kNames[] = {
    {"s", UnitKind::time, 1, Named::small},
    {"sec", UnitKind::time, 1},
    {"secs", UnitKind::time, 1},
    {"second", UnitKind::time, 1},
    {"seconds", UnitKind::time, 1},
    {"min", UnitKind::time, kSecondsPerMinute},
    {"mins", UnitKind::time, kSecondsPerMinute},
    {"minute", UnitKind::time, kSecondsPerMinute},
    {"minutes", UnitKind::time, kSecondsPerMinute},
    {"h", UnitKind::time, kSecondsPerHour},
    {"hr", UnitKind::time, kSecondsPerHour},
    {"hrs", UnitKind::time, kSecondsPerHour},
    {"hour", UnitKind::time, kSecondsPerHour},
    {"hours", UnitKind::time, kSecondsPerHour},
    {"d", UnitKind::time, kSecondsPerDay},
    {"day", UnitKind::time, kSecondsPerDay},
    {"days", UnitKind::time, kSecondsPerDay},
    {"week", UnitKind::time, 7 * kSecondsPerDay},
    {"weeks", UnitKind::time, 7 * kSecondsPerDay},
    {"yr", UnitKind::time, kSecondsPerYear},
    {"year", UnitKind::time, kSecondsPerYear},
    {"years", UnitKind::time, kSecondsPerYear},
    {"B", UnitKind::bytes, 1, Named::large},
    {"byte", UnitKind::bytes, 1, Named::large},
    {"bytes", UnitKind::bytes, 1, Named::large},
    {"bit", UnitKind::bytes, kBit, Named::large},
    {"bits", UnitKind::bytes, kBit, Named::large},
    {"B/s", UnitKind::byte_rate, 1, Named::large},
    {"Bps", UnitKind::byte_rate, 1, Named::large},
    {"byte/s", UnitKind::byte_rate, 1, Named::large},
    {"bytes/s", UnitKind::byte_rate, 1, Named::large},
    {"bit/s", UnitKind::byte_rate, kBit, Named::large},
    {"bits/s", UnitKind::byte_rate, kBit, Named::large},
    {"b/s", UnitKind::byte_rate, kBit, Named::large},
    {"bps", UnitKind::byte_rate, kBit, Named::large},
    {"flop", UnitKind::flop, 1, Named::large, true},
    {"flops", UnitKind::flop, 1, Named::large, true},
    {"op", UnitKind::flop, 1, Named::large, true},
    {"ops", UnitKind::flop, 1, Named::large, true},
    {"flop/s", UnitKind::flop_rate, 1, Named::large, true},
    {"flops/s", UnitKind::flop_rate, 1, Named::large, true},
    {"flops", UnitKind::flop_rate, 1, Named::large, true},
    {"op/s", UnitKind::flop_rate, 1, Named::large, true},
    {"ops/s", UnitKind::flop_rate, 1, Named::large, true},
    {"ops", UnitKind::flop_rate, 1, Named::large, true},
    {"USD", UnitKind::money, 1, Named::large},
    {"usd", UnitKind::money, 1, Named::large},
    {"$", UnitKind::money, 1, Named::large},
    {"dollar", UnitKind::money, 1, Named::large},
    {"dollars", UnitKind::money, 1, Named::large},
    {"W", UnitKind::power, 1, Named::large},
    {"watt", UnitKind::power, 1, Named::large},
    {"watts", UnitKind::power, 1, Named::large},
    {"Wh", UnitKind::energy, 1, Named::large, false, -3},
    {"hz", UnitKind::frequency, 1, Named::large, true},
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

}  // namespace

UnitKind kind_of(const Unit& unit) {
  if (unit.notation == Notation::percent) return UnitKind::share;
  for (const auto& [symbol, kind] :
       {std::pair{"s", UnitKind::time}, std::pair{"days", UnitKind::time}, std::pair{"h", UnitKind::time},
        std::pair{"years", UnitKind::time}, std::pair{"B", UnitKind::bytes}, std::pair{"B/s", UnitKind::byte_rate},
        std::pair{"FLOP", UnitKind::flop}, std::pair{"FLOP/s", UnitKind::flop_rate},
        std::pair{"USD", UnitKind::money}, std::pair{"W", UnitKind::power}, std::pair{"kWh", UnitKind::energy},
        std::pair{"Hz", UnitKind::frequency}})
    if (unit.symbol == symbol) return kind;
  return UnitKind::counted;
}

double base_of(const Unit& unit) {
  if (unit.symbol == "days") return kSecondsPerDay;
  if (unit.symbol == "h") return kSecondsPerHour;
  if (unit.symbol == "years") return kSecondsPerYear;
  return 1;
}

Sentence kind_words(UnitKind kind) {
  switch (kind) {
    case UnitKind::counted:
      return say("error.number.kind.count");
    case UnitKind::share:
      return say("error.number.kind.share");
    case UnitKind::time:
      return say("error.number.kind.time");
    case UnitKind::bytes:
      return say("error.number.kind.bytes");
    case UnitKind::byte_rate:
      return say("error.number.kind.byte_rate");
    case UnitKind::flop:
      return say("error.number.kind.operations");
    case UnitKind::flop_rate:
      return say("error.number.kind.operation_rate");
    case UnitKind::money:
      return say("error.number.kind.money");
    case UnitKind::power:
      return say("error.number.kind.power");
    case UnitKind::energy:
      return say("error.number.kind.energy");
    case UnitKind::frequency:
      return say("error.number.kind.frequency");
  }
  return {};
}

void drop_hour(std::string& unit) {
  for (const std::string_view hourly : {"/h", "/hr", "/hour"})
    if (unit.ends_with(hourly)) unit.resize(unit.size() - hourly.size());
}

std::optional<NamedUnit> as_kind(std::string_view unit, UnitKind kind) {
  std::string rest(unit);
  // "per second" in its other spellings.
  for (const std::string_view slow : {"/sec", "/second"})
    if (rest.ends_with(slow)) rest = rest.substr(0, rest.size() - slow.size()) + "/s";
  if (kind == UnitKind::money) drop_hour(rest);
  for (const Named& named : kNames) {
    if (named.kind != kind) continue;
    const std::string whole = named.any_case ? ascii_lower(rest) : rest;
    if (!whole.ends_with(named.name)) continue;
    const std::string_view prefix = std::string_view(rest).substr(0, rest.size() - named.name.size());
    if (prefix.empty()) return NamedUnit{kind, named.power_of_10, named.factor};
    const auto find = [&](const auto& table) -> std::optional<NamedUnit> {
      for (const Prefix& p : table)
        if (p.text == prefix) return NamedUnit{kind, p.power_of_10 + named.power_of_10, p.factor * named.factor};
      return std::nullopt;
    };
    if (named.prefixes == Named::small)
      if (const auto meant = find(kSmall)) return meant;
    if (named.prefixes == Named::large) {
      if (const auto meant = find(kLarge)) return meant;
      if (kind == UnitKind::money || named.any_case)
        if (const auto meant = find(kLoose); meant && (kind == UnitKind::money || prefix != "b")) return meant;
    }
  }
  return std::nullopt;
}

std::optional<NamedUnit> as_prefix(std::string_view unit, UnitKind kind) {
  if (kind == UnitKind::time || kind == UnitKind::share) return std::nullopt;
  for (const Prefix& p : kLarge)
    if (p.text == unit) return NamedUnit{kind, p.power_of_10, p.factor};
  if (kind == UnitKind::counted || kind == UnitKind::money || kind == UnitKind::flop || kind == UnitKind::flop_rate)
    for (const Prefix& p : kLoose)
      if (p.text == unit) return NamedUnit{kind, p.power_of_10, p.factor};
  return std::nullopt;
}

std::optional<NamedUnit> as_word(std::string_view unit, const Unit& expected) {
  std::string symbol;
  for (const char c : expected.symbol)
    if (c != ' ') symbol += c;
  const std::string wanted = without_plural(symbol);
  const auto is_it = [&](std::string_view word) { return !word.empty() && without_plural(word) == wanted; };
  if (symbol != "1") {
    if (is_it(unit)) return NamedUnit{UnitKind::counted, 0, 1};
    for (const Prefix& p : kLarge)
      if (!p.text.empty() && unit.starts_with(p.text) && is_it(unit.substr(p.text.size())))
        return NamedUnit{UnitKind::counted, p.power_of_10, p.factor};
    for (const Prefix& p : kLoose)
      if (unit.starts_with(p.text) && is_it(unit.substr(p.text.size())))
        return NamedUnit{UnitKind::counted, p.power_of_10, p.factor};
  } else if (unit == "x") {
    return NamedUnit{UnitKind::counted, 0, 1};  // 1.33 times
  }
  return std::nullopt;
}

}  // namespace roofscape::engine
