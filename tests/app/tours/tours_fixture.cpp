#include "tests/app/tours/tours_fixture.h"

#include <doctest/doctest.h>

#include <map>

#include "app/core/strings.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

namespace roofscape::tests {

using test::in_english;
using test::shipped;

const widgets::TextTable& texts_in(std::string_view language) {
  static std::map<std::string, widgets::TextTable, std::less<>> kept;
  const auto found = kept.find(language);
  if (found != kept.end()) return found->second;
  auto read = app::load_texts(language);
  REQUIRE(read.ok());
  return kept.emplace(std::string(language), std::move(read).value()).first->second;
}

const std::vector<io::Tour>& tours() {
  static const std::vector<io::Tour> all = [] {
    std::vector<io::InputError> problems;
    std::vector<io::Tour> read = io::load_tours(shipped(), problems);
    for (const io::InputError& problem : problems) FAIL_CHECK(in_english(problem));
    return read;
  }();
  return all;
}

io::Tour one_scene(const std::string& members) {
  const auto tour =
      io::read_tour(R"({"title": "T", "scenes": [{"title": "t", "question": "q", "sentence": "{mfu}", )" + kScenario +
                        ", " + members + "}]}",
                    "my.json", shipped());
  REQUIRE_MESSAGE(tour.ok(), in_english(tour.error()));
  return tour.value();
}

}  // namespace roofscape::tests
