// The sentences of engine, readers and commands against the strings files: what is said has a text with a place for
// each of its parts, and no text is left that nobody says. By reading the source, as a translator would have to.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"
#include "tests/test_paths.h"

namespace roofscape {
namespace {

using test::english;

struct Said {
  std::string key, file;
  std::size_t parts = 0;  // with the count, where it has one
  bool counted = false;
};

// All sources of these folders, by path.
std::map<std::string, std::string> sources() {
  std::map<std::string, std::string> out;
  for (const char* folder : {"engine", "app", "widgets"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(test::source_dir() / folder))
      if (const auto ending = entry.path().extension(); ending == ".cpp" || ending == ".h")
        out[entry.path().string()] = test::text_of(entry.path());
  return out;
}

// Arguments between the parenthesis at `open` and the one that closes it.
std::size_t arguments(const std::string& source, std::size_t open) {
  std::size_t commas = 0;
  int depth = 0;
  for (std::size_t i = open; i < source.size(); ++i) {
    const char at = source[i];
    if (at == '"' || at == '\'') {
      for (++i; i < source.size() && source[i] != at; ++i)
        if (source[i] == '\\') ++i;
    } else if (at == '(' || at == '{' || at == '[') {
      ++depth;
    } else if (at == ')' || at == '}' || at == ']') {
      if (--depth == 0) return commas + 1;
    } else if (at == ',' && depth == 1) {
      ++commas;
    }
  }
  return 0;
}

std::vector<Said> all_said() {
  std::vector<Said> out;
  for (const auto& [file, source] : sources())
    for (const std::string_view call : {"say(\"", "say_count(\""})
      for (std::size_t at = source.find(call); at != std::string::npos; at = source.find(call, at + 1)) {
        const char before = at > 0 ? source[at - 1] : ' ';  // of another name, or a member of that name
        if (std::isalnum(static_cast<unsigned char>(before)) != 0 || before == '_' || before == '.') continue;
        const std::size_t key = at + call.size(), open = key - 2;
        out.push_back({source.substr(key, source.find('"', key) - key), file, arguments(source, open) - 1,
                       call.starts_with("say_count")});
      }
  return out;
}

// One more than the greatest number of a place: "{0} to {2}" has three.
std::size_t places(std::string_view text) {
  std::size_t most = 0;
  for (std::size_t i = 0; i + 2 < text.size(); ++i)
    if (text[i] == '{' && text[i + 1] >= '0' && text[i + 1] <= '9' && text[i + 2] == '}')
      most = std::max(most, static_cast<std::size_t>(text[i + 1] - '0') + 1);
  return most;
}

TEST_CASE("every sentence that is said has a text with a place for each of its parts") {
  const std::vector<Said> said = all_said();
  CHECK(said.size() > 300);
  for (const Said& one : said) {
    CAPTURE(one.file);
    CAPTURE(one.key);
    const std::string key = one.counted ? one.key + ".other" : one.key;
    REQUIRE(english().has(key));
    if (one.counted) CHECK(english().has(one.key + ".one"));
    CHECK(places(english().text(key)) == one.parts);
  }
}

TEST_CASE("every text of a sentence is said somewhere") {
  std::set<std::string> said;
  for (const Said& one : all_said()) said.insert(one.key);
  for (const auto& entry : english().all()) {
    std::string stem = entry.first;
    if (!stem.starts_with("error.") && !stem.starts_with("evidence.assumed.") &&
        !stem.starts_with("evidence.unpredicted."))
      continue;
    for (const std::string_view form : {".one", ".other"})
      if (stem.ends_with(form) && said.contains(stem.substr(0, stem.size() - form.size())))
        stem.resize(stem.size() - form.size());
    CHECK_MESSAGE(said.contains(stem), entry.first << " is said nowhere");
  }
}

// Words of one's own cannot become a sentence by mistake: a literal has no way into one.
static_assert(!std::is_constructible_v<engine::Sentence, const char*>);

TEST_CASE("a sentence is written with its parts, one within the other, in the form that goes with its count") {
  const widgets::TextTable russian({{"many.one", "{0} слой"},
                                    {"many.few", "{0} слоя"},
                                    {"many.many", "{0} слоёв"},
                                    {"many.other", "{0} слоя"},
                                    {"error.both", "{1}: {0}"}},
                                   "ru");
  CHECK(russian.write(engine::say_count("many", 21)) == "21 слой");
  CHECK(russian.write(engine::say_count("many", 3)) == "3 слоя");
  CHECK(russian.write(engine::say_count("many", 5)) == "5 слоёв");
  CHECK(russian.write(engine::say("error.both", engine::say_count("many", 1), std::string("input {0}"))) ==
        "input {0}: 1 слой");
  CHECK(russian.write(engine::say("error.nobody.wrote.this")) == "error.nobody.wrote.this");
  CHECK(russian.write(engine::Sentence(std::string("as it is"))) == "as it is");
}

}  // namespace
}  // namespace roofscape
