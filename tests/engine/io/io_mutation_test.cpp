// Thousands of damaged presets: none may crash, hang or be read into something outside the domains of the fields. The
// damage is made by a fixed generator, so a failure is repeatable; the libFuzzer target in tests/fuzz looks further.
#include <doctest/doctest.h>

#include <random>

#include "engine/evaluate/evaluate.h"
#include "engine/io/presets/resources.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/scenario_fields.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

namespace roofscape {
namespace {

using test::shipped;

std::string mutated(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  constexpr std::string_view kPieces[] = {"0",
                                          "-1",
                                          "1e300",
                                          "1e-300",
                                          "null",
                                          "true",
                                          "\"\"",
                                          "[]",
                                          "{}",
                                          "\"",
                                          ",",
                                          ":",
                                          "}",
                                          "]",
                                          "4294967296",
                                          "0.5",
                                          "\\u0000",
                                          "\xff",
                                          "\xef\xbb\xbf",
                                          "NaN",
                                          "[[[[",
                                          "99999999999999999999"};
  for (std::size_t edits = 1 + below(3); edits > 0; --edits) {
    const std::size_t at = below(text.size() + 1);
    switch (below(6)) {
      case 0:
        text.resize(at);
        break;  // cut
      case 1:
        text.insert(at, kPieces[below(std::size(kPieces))]);
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      case 3:
        text.erase(at, below(20));
        break;
      case 4:
        text.insert(at, text.substr(below(text.size() + 1), below(80)));
        break;    // copied elsewhere
      default: {  // a number replaced
        const std::size_t digit = text.find_first_of("0123456789", at);
        if (digit == std::string::npos) break;
        const std::size_t end = std::min(text.size(), text.find_first_not_of("0123456789.e", digit));
        text.replace(digit, end - digit, kPieces[below(std::size(kPieces))]);
      }
    }
  }
  return text;
}

TEST_CASE("damaged scenarios are answered, never swallowed") {
  std::mt19937 random(20240607);
  std::vector<std::string> seeds;
  for (const io::Resource& resource : io::embedded_resources())
    if (resource.path.starts_with("presets/scenarios/")) seeds.emplace_back(resource.text);
  // One with everything inline, so that the readers of chips and models get their share.
  auto scenario = io::load_scenario(std::string(io::kStartScenario), shipped());
  REQUIRE(scenario.ok());
  scenario->model.id = "mine";
  scenario->cluster.chip.id = "mine";
  seeds.push_back(io::write_scenario(scenario.value(), shipped()));

  int read = 0;
  for (int i = 0; i < 6000; ++i) {
    const std::string text = mutated(seeds[static_cast<std::size_t>(i) % seeds.size()], random);
    const auto result = io::read_scenario(text, "mutant.json", shipped());
    if (!result) {
      const std::string line = test::in_english(result.error());
      CHECK(line.starts_with("mutant.json: "));
      CHECK(line.size() < 600);
      CHECK(line.find('\n') == std::string::npos);
      continue;
    }
    ++read;
    for (const engine::Field& field : engine::scenario_fields())
      CHECK_MESSAGE(engine::in_domain(field, field.get(result.value())), field.path << " in " << text);
    const auto again = io::read_scenario(io::write_scenario(result.value(), shipped()), "again.json", shipped());
    REQUIRE_MESSAGE(again.ok(), text);
    CHECK(again.value() == result.value());
  }
  CHECK(read > 100);  // otherwise nothing behind the parser was tried
}

}  // namespace
}  // namespace roofscape
