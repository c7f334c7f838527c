#include "widgets/plot/text_table.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/test_paths.h"
#include "widgets/plot/plural.h"

using namespace roofscape;
using namespace roofscape::widgets;
namespace unit = roofscape::engine::unit;

namespace {

using Texts = TextTable::Texts;

std::string forms(std::string_view language, const std::vector<double>& numbers) {
  std::string out;
  for (const double n : numbers)
    out += (out.empty() ? "" : " ") + std::string(kPluralFormIds[plural_form(language, n)]);
  return out;
}

TextTable russian() {
  return TextTable({{"chips.one", "{0} чип"},
                    {"chips.few", "{0} чипа"},
                    {"chips.many", "{0} чипов"},
                    {"chips.other", "{0} чипа"},
                    {"unit.layers.one", "слой"},
                    {"unit.layers.few", "слоя"},
                    {"unit.layers.many", "слоёв"},
                    {"unit.layers.other", "слоя"}},
                   "ru");
}

}  // namespace

TEST_CASE("English has one form for one and another for all other numbers") {
  CHECK(forms("en", {0, 1, 2, 5, 11, 21}) == "other one other other other other");
  CHECK(forms("en-GB", {1}) == "one");
}

TEST_CASE("Korean has one form") { CHECK(forms("ko", {0, 1, 2, 21}) == "other other other other"); }

TEST_CASE("Russian nouns follow the last digits of the number") {
  CHECK(forms("ru", {1, 2, 5, 11, 21, 22, 25, 111, 112, 0}) == "one few many many one few many many many many");
}

TEST_CASE("a number that is not whole has the form of fractions") {
  CHECK(forms("ru", {1.5, 2.5}) == "other other");
  CHECK(forms("en", {1.5}) == "other");
}

TEST_CASE("a count is spoken in the form of its language") {
  const TextTable texts = russian();
  CHECK(texts.count("chips", 1) == "1 чип");
  CHECK(texts.count("chips", 22) == "22 чипа");
  CHECK(texts.count("chips", 111) == "111 чипов");
}

TEST_CASE("a word in a text has the form of the number that it names") {
  const Texts forms{{"run", "{0} {0:chip runs|chips run} on {1} {1:node|nodes}"}};
  const TextTable english(forms);
  CHECK(english.format("run", {"1", "16\u202f384"}) == "1 chip runs on 16\u202f384 nodes");
  CHECK(english.format("run", {"21", "1"}) == "21 chips run on 1 node");
  for (const char* number : {"1.0", "1\u202fk", "0", "none", ""}) {
    CAPTURE(number);
    CHECK(english.format("run", {number, "2"}) == std::string(number) + " chips run on 2 nodes");
  }
  const TextTable texts({{"run", "{0} {0:чип|чипа|чипов}"}}, "ru");
  for (const char* text : {"1 чип", "3 чипа", "11 чипов", "1.5 чипа"}) {
    const std::string_view whole = text;
    CHECK(texts.format("run", {std::string(whole.substr(0, whole.find(' ')))}) == whole);
  }
}

TEST_CASE("a word for a number that is not there is left as it stands") {
  const Texts forms{{"run", "{1:chip|chips} and {0:chip"}};
  const TextTable texts(forms);
  CHECK(texts.format("run", {"2"}) == "{1:chip|chips} and {0:chip");
}

TEST_CASE("a form that a table lacks is that of other numbers") {
  const Texts forms{{"edits.other", "{0} edits of {1}"}};
  const TextTable texts(forms);
  CHECK(texts.count("edits", 1, {"it"}) == "1 edits of it");
}

TEST_CASE("a unit that is a noun is written in the language of the table") {
  CHECK(russian().amount(21, unit::layers) == "21\u202fслой");
  CHECK(russian().amount(25, unit::layers) == "25\u202fслоёв");
  CHECK(russian().amount(25, unit::chips) == "25\u202fchips");  // no noun for it
  CHECK(russian().amount(62.9e9, unit::bytes) == "62.9\u202fGB");
}

TEST_CASE("a unit has the form of the number that is printed, not of the one that was rounded to it") {
  const Texts forms{{"unit.chips.one", "чип"},
                    {"unit.chips.few", "чипа"},
                    {"unit.chips.many", "чипов"},
                    {"unit.chips.other", "чипа"}};
  const TextTable texts(forms, "ru");
  CHECK(texts.amount(235.6, unit::chips_real) == "236\u202fчипов");
  CHECK(texts.amount(1234.4, unit::chips_real) == "1234\u202fчипа");
  CHECK(texts.amount(11.2, unit::chips_real) == "11.2\u202fчипа");
}

// A language is a file of texts: no source decides a form of a noun by comparing with one.
TEST_CASE("no source of the program chooses a text by whether a number is one") {
  namespace fs = std::filesystem;
  std::size_t files = 0;
  for (const char* folder : {"app", "widgets"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(test::source_dir() / folder)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
      ++files;
      std::ifstream file(entry.path());
      const std::string source{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      for (std::size_t at = source.find("== 1 ?"); at != std::string::npos; at = source.find("== 1 ?", at + 1)) {
        const std::string rest = source.substr(at, source.find_first_of(";\n", at) - at);
        // Choices of a figure's options and names of files are numbered, not counted.
        const std::string before = source.substr(at - std::min<std::size_t>(at, 40), std::min<std::size_t>(at, 40));
        const bool numbered = before.find("choices[") != std::string::npos || rest.find(".json") != std::string::npos;
        CHECK_MESSAGE((numbered || rest.find('"') == std::string::npos), entry.path().filename().string()
                                                                             << ": " << rest);
      }
    }
  CHECK(files > 200);
}
