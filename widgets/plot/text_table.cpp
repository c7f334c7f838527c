#include "widgets/plot/text_table.h"

#include <limits>
#include <utility>
#include <vector>

#include "widgets/plot/particles.h"
#include "widgets/plot/plural.h"

namespace roofscape::widgets {
namespace {

// The number that a reader sees, so that "236 chips" has the form of 236 where it is 235.6, rounded; not a number where
// it is written with a fraction or a prefix ("1 k"), or is none.
double number_as_read(std::string_view number) {
  double whole = 0;
  bool digits = false;
  for (const char c : number) {
    if (c == '.' || c == ',' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
      return std::numeric_limits<double>::quiet_NaN();
    if (c >= '0' && c <= '9') whole = 10 * whole + (c - '0'), digits = true;
  }
  return digits ? whole : std::numeric_limits<double>::quiet_NaN();
}

// The n-th of "one|other" or "one|few|many".
std::string_view choice_of(std::string_view choices, std::size_t n) {
  for (; n > 0; --n) {
    const std::size_t bar = choices.find('|');
    if (bar == std::string_view::npos) break;
    choices.remove_prefix(bar + 1);
  }
  return choices.substr(0, choices.find('|'));
}

// What is counted in fractions has the second form: "1.5 chips", and in Russian that of two.
std::size_t written_form(std::string_view language, std::string_view number) {
  switch (plural_form(language, number_as_read(number))) {
    case PluralForm::one:
      return 0;
    case PluralForm::many:
      return 2;
    default:
      return 1;
  }
}

}  // namespace

std::string_view TextTable::text(std::string_view key) const {
  const auto found = texts_.find(key);
  return found == texts_.end() ? key : std::string_view(found->second);
}

std::string TextTable::format(std::string_view key, std::span<const std::string> arguments) const {
  const std::string_view pattern = text(key);
  std::string out;
  out.reserve(pattern.size() + 16 * arguments.size());
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '{') {
      std::size_t number = 0, j = i + 1;
      while (j < pattern.size() && pattern[j] >= '0' && pattern[j] <= '9' && number < 100)
        number = number * 10 + static_cast<std::size_t>(pattern[j++] - '0');
      const bool is_place = j > i + 1 && j < pattern.size() && number < arguments.size();
      if (is_place && pattern[j] == '}') {
        out += arguments[number];
        i = j;
        continue;
      }
      if (const std::size_t end = is_place && pattern[j] == ':' ? pattern.find('}', j) : std::string_view::npos;
          end != std::string_view::npos) {
        out += choice_of(pattern.substr(j + 1, end - j - 1), written_form(language_, arguments[number]));
        i = end;
        continue;
      }
    }
    out += pattern[i];
  }
  return language_ == "ko" ? settle_particles(std::move(out)) : out;
}

std::string TextTable::plural_key(std::string_view key, double number) const {
  const auto with = [key](PluralForm form) { return std::string(key) + "." + std::string(kPluralFormIds[form]); };
  std::string wanted = with(plural_form(language_, number));
  return has(wanted) ? wanted : with(PluralForm::other);
}

std::string TextTable::count(std::string_view key, double number, std::initializer_list<std::string> more) const {
  std::vector<std::string> arguments{format_count(number)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return format(plural_key(key, number), arguments);
}

std::string TextTable::write(const engine::Sentence& sentence) const {
  if (sentence.key.empty()) return sentence.verbatim;
  std::vector<std::string> parts;
  parts.reserve(sentence.parts.size());
  for (const engine::Sentence& part : sentence.parts) parts.push_back(write(part));
  return sentence.count ? format(plural_key(sentence.key, *sentence.count), parts) : format(sentence.key, parts);
}

std::string TextTable::noun(const engine::Unit& unit, double value) const {
  // A rounded number ("94.6 days") is no count.
  const bool counted = unit.notation == engine::Notation::count;
  const std::string key =
      plural_key("unit." + std::string(unit.symbol), counted ? value : std::numeric_limits<double>::quiet_NaN());
  return std::string(has(key) ? text(key) : unit.symbol);
}

std::string TextTable::amount(double value, const engine::Unit& unit, const NumberOptions& options) const {
  NumberText parts = format_parts(value, unit, options);
  if (parts.unit.ends_with(unit.symbol)) {  // "k tokens/s": the prefix stays
    const bool is_prefixed = parts.unit.size() > unit.symbol.size();
    const std::string key = "unit." + std::string(unit.symbol);
    const std::string form = plural_key(key, is_prefixed ? 0 : number_as_read(parts.number));
    if (has(form)) parts.unit.replace(parts.unit.size() - unit.symbol.size(), unit.symbol.size(), text(form));
  }
  return join(std::move(parts));
}

std::string TextTable::difference(double value, const engine::Unit& unit) const {
  return amount(value, unit, {.sign = true});
}

}  // namespace roofscape::widgets
