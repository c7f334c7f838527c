// Every language that ships says everything that English says, with the same values in it. A key that is missing is
// listed with its English text, so that it can be translated from the output of this test.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include "app/core/strings.h"
#include "engine/io/presets/resources.h"
#include "engine/io/scenario/scenario_json.h"
#include "tests/english.h"
#include "widgets/plot/plural.h"

namespace roofscape {
namespace {

using Texts = std::map<std::string, std::string>;

Texts texts_of(const std::string& language) {
  const std::string path = "assets/strings/" + language + ".json";
  auto read = io::read_flat_map(io::embedded_text(path), path);
  REQUIRE_MESSAGE(read.ok(), (read ? "" : test::in_english(read.error())));
  return {read.value().begin(), read.value().end()};
}

std::vector<std::string> translations() {
  std::vector<std::string> names = app::language_names();
  std::erase(names, "en");
  return names;
}

// "{0}", "{2}": what is put into a text.
std::set<std::string> places_of(std::string_view text) {
  std::set<std::string> places;
  for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
    const std::size_t end = text.find_first_not_of("0123456789", at + 1);
    if (end != std::string_view::npos && end > at + 1 && text[end] == '}')
      places.emplace(text.substr(at, end - at + 1));
  }
  return places;
}

// "ui.pin.edits" of "ui.pin.edits.one", if English counts with it: a language has forms of its own then.
std::string counted(const Texts& english, const std::string& key) {
  for (const std::string_view form : widgets::kPluralFormIds) {
    const std::string tail = "." + std::string(form);
    if (!key.ends_with(tail)) continue;
    std::string stem = key.substr(0, key.size() - tail.size());
    if (english.contains(stem + ".other")) return stem;
  }
  return {};
}

std::set<std::string> forms_of(const std::string& language) {
  std::set<std::string> forms;
  for (const double n : {0.0, 1.0, 2.0, 5.0, 11.0, 21.0, 1.5})
    forms.emplace(widgets::kPluralFormIds[widgets::plural_form(language, n)]);
  return forms;
}

TEST_CASE("every text has a translation in every language that ships") {
  const Texts english = texts_of("en");
  for (const std::string& language : translations()) {
    const Texts texts = texts_of(language);
    const std::set<std::string> forms = forms_of(language);
    for (const auto& entry : english) {
      const auto& key = entry.first;
      const auto& text = entry.second;
      const std::string stem = counted(english, key);
      if (stem.empty()) {
        CHECK_MESSAGE(texts.contains(key), language << " lacks \"" << key << "\": \"" << text << "\"");
        continue;
      }
      const bool one = english.contains(stem + ".one");  // a key may end in "other" without a count
      for (const std::string& form : one ? forms : std::set<std::string>{"other"})
        CHECK_MESSAGE(texts.contains(stem + "." + form),
                      language << " lacks \"" << stem << "." << form << "\": \"" << text << "\"");
    }
  }
}

TEST_CASE("no language that ships has a text that English has not") {
  const Texts english = texts_of("en");
  for (const std::string& language : translations())
    for (const auto& entry : texts_of(language)) {
      const auto& key = entry.first;
      const auto& text = entry.second;
      // The rules of formulas stand in English in the table of quantities (quantity_label.h: source_text).
      const bool known = english.contains(key) || !counted(english, key).empty() || key.starts_with("source.");
      CHECK_MESSAGE(known, language << " has \"" << key << "\", which English has not");
      CHECK_MESSAGE(!text.empty(), language << " \"" << key << "\" is empty");
    }
}

TEST_CASE("words that follow a number have all forms of their language, and the number is in the text") {
  const std::map<std::string, std::ptrdiff_t> form_counts{{"en", 2}, {"ko", 1}, {"ru", 3}};
  for (const auto& of_language : form_counts)
    for (const auto& entry : texts_of(of_language.first)) {
      const std::string& text = entry.second;
      CAPTURE(of_language.first);
      CAPTURE(entry.first);
      for (std::size_t at = text.find(':'); at != std::string::npos; at = text.find(':', at + 1)) {
        if (at < 2 || text[at - 2] != '{') continue;
        const std::string words = text.substr(at, text.find('}', at) - at);
        CHECK(std::count(words.begin(), words.end(), '|') + 1 == of_language.second);
        CHECK(text.find(text.substr(at - 2, 2) + "}") != std::string::npos);
      }
    }
}

TEST_CASE("a translation has the places of the English text") {
  const Texts english = texts_of("en");
  for (const std::string& language : translations())
    for (const auto& entry : texts_of(language)) {
      const auto& key = entry.first;
      const auto& text = entry.second;
      const std::string stem = counted(english, key);
      const auto source = english.find(stem.empty() ? key : stem + ".other");
      if (source == english.end()) continue;
      const std::set<std::string> wanted = places_of(source->second), places = places_of(text);
      // The form of one thing may leave out its number.
      const bool same = stem.empty() || key.ends_with(".other")
                            ? places == wanted
                            : std::includes(wanted.begin(), wanted.end(), places.begin(), places.end());
      CHECK_MESSAGE(same, language << " \"" << key << "\": \"" << text << "\" for \"" << source->second << "\"");
    }
}

TEST_CASE("what is joined to another text keeps its space or has a mark instead") {
  const Texts english = texts_of("en");
  const auto joined = [](std::string_view text) { return text.starts_with(' ') || text.starts_with(','); };
  for (const std::string& language : translations())
    for (const auto& entry : texts_of(language)) {
      const auto& key = entry.first;
      const auto& text = entry.second;
      if (const auto source = english.find(key); source != english.end()) {
        CHECK_MESSAGE(joined(text) == joined(source->second), language << " " << key);
        CHECK_MESSAGE(text.ends_with(' ') == source->second.ends_with(' '), language << " " << key);
      }
    }
}

TEST_CASE("a locale is answered in its language, or in English where that does not ship") {
  CHECK(app::language_of_locale("ko_KR.UTF-8") == "ko");
  CHECK(app::language_of_locale("ko") == "ko");
  CHECK(app::language_of_locale("ru_RU@cyrillic") == "ru");
  for (const char* other : {"C", "C.UTF-8", "POSIX", "", "kok_IN", "xx_YY.UTF-8", "../ko"})
    CHECK(app::language_of_locale(other) == "en");
}

// Names, symbols and commands are the same in every language, sentences are not.
TEST_CASE("no sentence is left in English") {
  const Texts english = texts_of("en");
  const auto words = [](std::string_view text) {
    int count = 0, letters = 0;
    bool quoted = false;
    for (const char c : text) {
      if (c == '`') quoted = !quoted;
      letters = !quoted && c >= 'a' && c <= 'z' ? letters + 1 : 0;
      count += letters == 3 ? 1 : 0;
    }
    return count;
  };
  for (const std::string& language : translations())
    for (const auto& entry : texts_of(language)) {
      const auto& key = entry.first;
      const auto& text = entry.second;
      if (const auto source = english.find(key); source != english.end() && words(text) >= 3)
        CHECK_MESSAGE(text != source->second, language << " \"" << key << "\" is still English: \"" << text << "\"");
    }
}

}  // namespace
}  // namespace roofscape
