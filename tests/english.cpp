#include "tests/english.h"

#include <doctest/doctest.h>

#include "engine/io/presets/resources.h"
#include "engine/io/scenario/scenario_json.h"

namespace roofscape::test {

const widgets::TextTable& english() {
  static const widgets::TextTable texts = texts_in("en");
  return texts;
}

widgets::TextTable texts_in(std::string_view language) {
  const std::string file = "assets/strings/" + std::string(language) + ".json";
  auto read = io::read_flat_map(io::embedded_text(file), file);
  REQUIRE(read.ok());
  return widgets::TextTable({read.value().begin(), read.value().end()}, language);
}

std::string in_english(const engine::Sentence& sentence) { return english().write(sentence); }
std::string in_english(const io::InputError& error) { return io::to_text(error, english()); }

}  // namespace roofscape::test
