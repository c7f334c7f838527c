#include "tests/app/surfaces/calc_answers.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "engine/blocks/block.h"
#include "engine/io/export/block_json.h"
#include "tests/english.h"

namespace roofscape::tests {

std::string digits(double x) { return fmt::format("{}", x); }

Answers calc(std::string_view block, const Typed& inputs) {
  const auto question = io::read_block_question(block, inputs, library());
  INFO((question ? std::string() : test::in_english(question.error())));
  REQUIRE(question.ok());
  const auto result = io::answer(question.value());
  INFO((result ? std::string() : test::in_english(result.error())));
  REQUIRE(result.ok());
  Answers out;
  for (const engine::BlockAnswer& answer : result.value().answers)
    if (answer.numbers.size() == 1) out[std::string(answer.output->name)] = answer.numbers[0];
  return out;
}

int check_same(const Answers& answers, const engine::Report& report, const std::vector<Same>& rows) {
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

bool to_rounding(double a, double b) { return std::abs(a - b) <= 1e-15 * std::abs(b); }

engine::Scenario alone(const engine::TransformerShape& model, const engine::Chip& chip) {
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

std::string with_value(std::string_view name, const engine::Report& r, engine::Q q) {
  return std::string(name) + "=" + digits(r.quantities.value_or(q, 0));
}

bool is_torus(const engine::Chip& chip) { return chip.interconnect == engine::Interconnect::torus; }

}  // namespace roofscape::tests
