#include "widgets/plot/plural.h"

#include <algorithm>
#include <cmath>

namespace roofscape::widgets {
namespace {

struct Language {
  std::string_view id;
  PluralForm (*form)(double whole);  // of a whole number that is not negative
};

PluralForm english(double whole) { return whole == 1 ? PluralForm::one : PluralForm::other; }
PluralForm korean(double) { return PluralForm::other; }
PluralForm russian(double whole) {
  const double last = std::fmod(whole, 10), last_two = std::fmod(whole, 100);
  const bool teen = last_two >= 11 && last_two <= 14;
  if (last == 1 && !teen) return PluralForm::one;
  return last >= 2 && last <= 4 && !teen ? PluralForm::few : PluralForm::many;
}

constexpr std::array kLanguages{Language{"en", english}, Language{"ko", korean}, Language{"ru", russian}};

}  // namespace

PluralForm plural_form(std::string_view language, double number) {
  const double size = std::abs(number);
  if (size != std::floor(size)) return PluralForm::other;
  const std::string_view id = language.substr(0, language.find_first_of("-_"));
  const auto found =
      std::find_if(kLanguages.begin(), kLanguages.end(), [id](const Language& l) { return l.id == id; });
  return (found == kLanguages.end() ? english : found->form)(size);
}

}  // namespace roofscape::widgets
