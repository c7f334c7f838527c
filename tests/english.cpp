#include "tests/english.h"

#include <doctest/doctest.h>

#include "engine/io/presets/resources.h"
#include "engine/io/scenario/scenario_json.h"

namespace roofscape::test {

const widgets::TextTable& english() {
  static const widgets::TextTable texts = [] {
    constexpr std::string_view kFile = "assets/strings/en.json";
    auto read = io::read_flat_map(io::embedded_text(kFile), kFile);
    REQUIRE(read.ok());
    return widgets::TextTable({read.value().begin(), read.value().end()});
  }();
  return texts;
}

std::string in_english(const engine::Sentence& sentence) { return english().write(sentence); }
std::string in_english(const io::InputError& error) { return io::to_text(error, english()); }

}  // namespace roofscape::test
