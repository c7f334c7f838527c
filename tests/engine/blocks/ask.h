// Asking building blocks in tests, with inputs as they are typed.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "engine/io/export/block_json.h"
#include "tests/engine/fixtures.h"

namespace roofscape::tests {

inline io::Result<engine::BlockResult> ask(std::string_view block, std::vector<std::string> inputs) {
  const auto question = io::read_block_question(block, inputs, library());
  if (!question) return question.error();
  return io::answer(question.value());
}

inline double number(const io::Result<engine::BlockResult>& result, std::string_view name) {
  REQUIRE_MESSAGE(result.ok(), (result ? "" : io::to_text(result.error())));
  const engine::BlockAnswer* a = result->find(name);
  REQUIRE(a != nullptr);
  REQUIRE_FALSE(a->numbers.empty());
  return a->numbers.front();
}

}  // namespace roofscape::tests
