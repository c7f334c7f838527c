// What a building block answers, for tests that hold it against a report.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/blocks/block.h"
#include "engine/evaluate.h"
#include "engine/io/block_json.h"
#include "tests/engine/fixtures.h"

namespace roofscape::tests {

inline std::string digits(double x) { return fmt::format("{}", x); }  // as many as bring the same bits back

using Typed = std::vector<std::string>;
using Answers = std::map<std::string, double>;

inline Answers calc(std::string_view block, const Typed& inputs) {
  const auto question = io::read_block_question(block, inputs, library());
  INFO((question ? std::string() : io::to_text(question.error())));
  REQUIRE(question.ok());
  const auto result = io::answer(question.value());
  INFO((result ? std::string() : io::to_text(result.error())));
  REQUIRE(result.ok());
  Answers out;
  for (const engine::BlockAnswer& answer : result.value().answers)
    if (answer.numbers.size() == 1) out[std::string(answer.output->name)] = answer.numbers[0];
  return out;
}

struct Same {
  std::string_view output;
  engine::Q q;
};

// Checks bits; says how many were there to check.
inline int check_same(const Answers& answers, const engine::Report& report, const std::vector<Same>& rows) {
  int compared = 0;
  for (const Same& row : rows) {
    const auto there = answers.find(std::string(row.output));
    const auto here = report.quantities[row.q];
    if (there == answers.end() || !here) continue;
    CAPTURE(row.output);
    CAPTURE(engine::quantity(row.q).id);
    CHECK(there->second == *here);
    ++compared;
  }
  return compared;
}

// The same sum in another order.
inline bool to_rounding(double a, double b) { return std::abs(a - b) <= 1e-15 * std::abs(b); }

// Four sequences a step on one chip: nothing is split, so that totals are what blocks count.
inline engine::Scenario alone(const engine::TransformerShape& model, const engine::Chip& chip) {
  engine::Scenario s = preset("llama3-8b-8-h100");
  s.model = model;
  s.cluster.chip = chip;
  s.cluster.slice = {1, 1, 1};
  s.cluster.slices = s.cluster.nodes = s.cluster.node_size = 1;
  s.cluster.fabric.clear();
  s.placement = {};
  s.parallelism = {};
  s.pipeline = {};
  s.checkpointing = {};
  s.offload = {};
  s.workload.global_batch_sequences = 4;
  s.workload.sequence_length = 2048;
  s.assumptions = {};
  return s;
}

inline std::string with_value(std::string_view name, const engine::Report& r, engine::Q q) {
  return std::string(name) + "=" + digits(r.quantities.value_or(q, 0));
}

inline bool is_torus(const engine::Chip& chip) { return chip.interconnect == engine::Interconnect::torus; }

}  // namespace roofscape::tests
