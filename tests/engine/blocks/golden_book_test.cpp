// The worked questions of the book and the lecture (tests/golden/book_cases.json), answered through the
// building blocks at their exact values. The data says which block answers what and how its inputs map; an input may
// be an earlier answer of the same case, "@name", an answer may be one entry of a list, "name#2", or negated,
// "!name".
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/io/export/block_json.h"
#include "tests/engine/fixtures.h"
#include "tests/english.h"
#include "tests/test_paths.h"

using namespace roofscape;
using tests::library;
using Json = nlohmann::json;

namespace {

constexpr double kTolerance = 1e-9;
int covered_cases = 0, covered_answers = 0;

const Json& cases() {
  static const Json data = [] {
    std::ifstream file(test::source_dir() / "tests/golden/book_cases.json");
    return Json::parse(file);
  }();
  return data;
}

std::string digits(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}

struct Piece {
  std::string name;
  std::size_t index = 0;
};
Piece piece_of(const std::string& text) {
  const std::size_t mark = text.find('#');
  if (mark == std::string::npos) return {text, 0};
  return {text.substr(0, mark), std::stoul(text.substr(mark + 1))};
}

// Checks one answer against what is expected and returns its number.
double check_answer(const engine::BlockAnswer& answer, std::size_t index, bool negated, const Json& expected) {
  if (expected.is_string()) {
    CHECK(answer.word == expected.get<std::string>());
    return 0;
  }
  REQUIRE(answer.numbers.size() > index);
  const double x = answer.numbers[index];
  if (expected.is_boolean()) {
    CHECK((x > 0.5) != (expected.get<bool>() == negated));
  } else if (expected.is_number()) {
    const double exact = expected.get<double>();
    CHECK_MESSAGE(std::abs(x - exact) <= kTolerance * std::abs(exact), x << " is not " << exact);
  }
  return x;
}

void check_case(const Json& entry) {
  std::map<std::string, double> known;
  for (const Json& step : entry.at("steps")) {
    std::vector<std::string> inputs;
    for (const auto& [name, value] : step.at("inputs").items()) {
      std::string text = value.get<std::string>();
      if (text.starts_with("@")) text = digits(known.at(text.substr(1)));
      inputs.push_back(name + "=" + text);
    }
    const auto question = io::read_block_question(step.at("block").get<std::string>(), inputs, library());
    REQUIRE_MESSAGE(question.ok(), (question ? "" : test::in_english(question.error())));
    const auto result = io::answer(question.value());
    REQUIRE_MESSAGE(result.ok(), (result ? "" : test::in_english(result.error())));
    for (const auto& item : step.at("answers").items()) {
      const std::string wanted = item.key();
      CAPTURE(wanted);
      const std::string text = item.value().get<std::string>();
      const bool negated = text.starts_with("!");
      const Piece from = piece_of(negated ? text.substr(1) : text), to = piece_of(wanted);
      const engine::BlockAnswer* answer = result->find(from.name);
      REQUIRE_MESSAGE(answer != nullptr, from.name);
      const bool is_aux = wanted.starts_with("_");
      const Json exact = is_aux ? Json() : entry.at("expected").at(to.name).at("exact");
      known[wanted] = check_answer(*answer, from.index, negated, exact.is_array() ? exact.at(to.index) : exact);
      covered_answers += !is_aux;
    }
  }
  ++covered_cases;
}

void check_chapter(const char* prefix) {
  int found = 0;
  for (const Json& entry : cases()) {
    if (!entry.at("chapter").get<std::string>().starts_with(prefix)) continue;
    ++found;
    const std::string name = entry.at("id").get<std::string>() + ": " + entry.at("title").get<std::string>();
    SUBCASE(name.c_str()) { check_case(entry); }
  }
  CHECK(found > 0);
}

}  // namespace

TEST_CASE("introduction") { check_chapter("0-"); }
TEST_CASE("chapter 1, rooflines") { check_chapter("1-"); }
TEST_CASE("chapter 2, TPUs") { check_chapter("2-"); }
TEST_CASE("chapter 3, sharding") { check_chapter("3-"); }
TEST_CASE("chapter 4, Transformers") { check_chapter("4-"); }
TEST_CASE("chapter 5, training") { check_chapter("5-"); }
TEST_CASE("chapter 6, applied training") { check_chapter("6-"); }
TEST_CASE("chapter 7, inference") { check_chapter("7-"); }
TEST_CASE("chapter 8, serving LLaMA-3") { check_chapter("8-"); }
TEST_CASE("chapter 9, profiling") { check_chapter("9-"); }
TEST_CASE("chapter 10, JAX") { check_chapter("10-"); }
TEST_CASE("chapter 12, GPUs") { check_chapter("12-"); }
TEST_CASE("CS231n lecture") { check_chapter("S-"); }
TEST_CASE("papers") { check_chapter("L-"); }
TEST_CASE("every case names a block and answers all that is expected") {
  std::size_t expected = 0;
  for (const Json& entry : cases()) {
    CAPTURE(entry.at("id").get<std::string>());
    for (const auto& item : entry.at("expected").items()) {
      const std::string name = item.key();
      ++expected;
      bool answered = false;
      for (const Json& step : entry.at("steps"))
        for (const auto& [wanted, output] : step.at("answers").items())
          answered = answered || piece_of(wanted).name == name;
      CHECK_MESSAGE(answered, name);
    }
  }
  if (covered_cases > 0)
    std::printf("%d of %zu cases checked, %d answers to %zu questions\n", covered_cases, cases().size(),
                covered_answers, expected);
}
