// Asking building blocks in tests, with inputs as they are typed.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/export/block_json.h"
#include "tests/engine/fixtures.h"
#include "tests/english.h"

namespace roofscape::tests {

inline io::Result<engine::BlockResult> ask(std::string_view block, std::vector<std::string> inputs) {
  const auto question = io::read_block_question(block, inputs, library());
  if (!question) return question.error();
  return io::answer(question.value());
}

inline double number(const io::Result<engine::BlockResult>& result, std::string_view name) {
  REQUIRE_MESSAGE(result.ok(), (result ? "" : test::in_english(result.error())));
  const engine::BlockAnswer* a = result->find(name);
  REQUIRE(a != nullptr);
  REQUIRE_FALSE(a->numbers.empty());
  return a->numbers.front();
}

// Something inside the domain of an input; sizes differ by input so that mistakes show.
inline std::string typical(const engine::BlockInput& in, std::mt19937& rng) {
  const auto pick = [&rng](int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); };
  switch (in.kind) {
    case engine::InputKind::choice:
    case engine::InputKind::words:
      return std::string(in.choices[static_cast<std::size_t>(pick(0, static_cast<int>(in.choices.size()) - 1))]);
    case engine::InputKind::flag:
    case engine::InputKind::flags:
      return pick(0, 1) == 1 ? "true" : "false";
    case engine::InputKind::numbers:
    case engine::InputKind::integers:
      return std::to_string(pick(2, 3)) + (pick(0, 3) == 0 ? std::string() : "," + std::to_string(pick(2, 3)));
    default:
      break;
  }
  if (in.high <= 1) return "0.4";
  if (in.high <= 8) return std::to_string(pick(1, static_cast<int>(in.high)));
  const std::string_view unit = engine::quantity(in.q).unit.symbol;
  if (unit == "B/s" || unit == "FLOP/s") return std::to_string(pick(1, 900)) + "e9";
  if (unit == "s") return std::to_string(pick(2, 9)) + "e-3";
  return std::to_string(pick(2, 9));
}

}  // namespace roofscape::tests
