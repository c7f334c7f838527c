// Blocks asked backwards: what an input gave, asked for, gives the input.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "engine/blocks/solve.h"
#include "tests/engine/blocks/ask.h"
#include "tests/english.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::ask;
using tests::library;
using tests::number;

namespace {

bool is_plain_number(const BlockInput& in) { return in.kind == InputKind::number || in.kind == InputKind::integer; }

// A call with all inputs but `open`, nothing filled in yet.
BlockCall call_without(const BuildingBlock& block, const std::vector<std::string>& texts, const BlockInput* open) {
  BlockCall call(block);
  for (std::size_t i = 0; i < block.inputs.size(); ++i)
    if (&block.inputs[i] != open) CHECK_FALSE(call.set(block.inputs[i].name, texts[i]));
  return call;
}

std::string refusal(const io::Result<BlockResult>& result) {
  REQUIRE_FALSE(result.ok());
  return test::in_english(result.error());
}

}  // namespace

TEST_CASE("what an input gave, asked for, is given again: every block, input and output") {
  std::mt19937 rng(3);
  int asked = 0;
  for (const BuildingBlock& block : blocks()) {
    CAPTURE(std::string(block.id));
    for (int round = 0; round < (block.is_simulated ? 1 : 4); ++round) {
      std::vector<std::string> texts;
      for (const BlockInput& in : block.inputs) texts.push_back(tests::typical(in, rng));
      BlockCall whole = call_without(block, texts, nullptr);
      whole.complete(nullptr, nullptr);
      const BlockResult forward = run_block_plain(whole);
      if (forward.error) continue;
      for (const BlockInput& in : block.inputs) {
        // The seed of random numbers is none that an answer follows from.
        if (!is_plain_number(in) || in.name == "seed") continue;
        CAPTURE(std::string(in.name));
        // One output at a time, another in each round.
        std::vector<const BlockAnswer*> numbers;
        for (const BlockAnswer& a : forward.answers)
          // A share above 1 is not typed as a number, but as a percentage.
          if (a.output->kind == OutputKind::number && !a.is_absent() &&
              !(quantity(a.output->q).unit.notation == Notation::percent && a.numbers.front() > 1))
            numbers.push_back(&a);
        if (numbers.empty()) continue;
        const BlockAnswer& answer = *numbers[std::uniform_int_distribution<std::size_t>(0, numbers.size() - 1)(rng)];
        CAPTURE(std::string(answer.output->name));
        const double wanted = answer.numbers.front();
        CAPTURE(wanted);
        BlockCall call = call_without(block, texts, &in);
        SolvedInput found;
        const auto wrong = solve_block(call, {std::string(answer.output->name), fmt::format("{:.17g}", wanted)},
                                       in.name, nullptr, nullptr, found);
        CHECK_MESSAGE(!wrong, (wrong ? test::in_english(wrong->message) : ""));
        if (wrong) continue;
        ++asked;
        CAPTURE(found.value);
        REQUIRE(found.reached.has_value());
        // Or it jumps across, between two whole numbers.
        const bool is_between = found.next_reached && (*found.reached - wanted) * (*found.next_reached - wanted) < 0;
        CHECK((is_between || *found.reached == doctest::Approx(wanted).epsilon(1e-9)));
        call.complete(nullptr, nullptr);
        CHECK(run_block_plain(call).find(answer.output->name)->numbers.front() == *found.reached);
      }
    }
  }
  CHECK(asked > 500);
}
TEST_CASE("the one input that an output lacks need not be named") {
  const auto run = ask("run", {"chip=h100", "parameters=70e9", "mfu=0.4", "chips=1000", "days=30"});
  CHECK(number(run, "flops") == doctest::Approx(1000 * 0.4 * 990e12 * 30 * 86400));
}
TEST_CASE("of whole numbers time and memory stay within what was asked, and rates reach it") {
  const auto solved = [](std::string_view block, const std::vector<std::string>& inputs) {
    const auto question = io::read_block_question(block, inputs, library());
    REQUIRE_MESSAGE(question.ok(), (question ? "" : test::in_english(question.error())));
    REQUIRE(question.value().solved.has_value());
    return *question.value().solved;
  };
  const SolvedInput chips =
      solved("run", {"chip=h100", "model=llama3-70b", "tokens=15e12", "days=30", "solve=chips"});
  CHECK(*chips.reached <= 30);
  CHECK(*chips.next_reached > 30);
  CHECK(*chips.next_value == chips.value - 1);
  const SolvedInput length = solved("kv-cache", {"model=llama3-70b", "sequences=8", "bytes=100e9"});
  CHECK(length.input == "sequence_length");
  CHECK(*length.reached <= 100e9);
  CHECK(*length.next_value == length.value + 1);
}
TEST_CASE("from which batch a matmul is bound by compute can be asked in words") {
  const auto compute = ask("roofline", {"chip=h100", "bytes=1e9", "regime=compute", "solve=flops"});
  CHECK(number(compute, "intensity") == doctest::Approx(number(compute, "ridge")));
}
TEST_CASE("what cannot be solved says why") {
  CHECK(refusal(ask("run", {"chip=h100", "days=30"})).find("needs more than one input") != std::string::npos);
  CHECK(refusal(ask("run", {"chip=h100", "parameters=1e9", "tokens=1e12", "days=30"})).find("solve=NAME") !=
        std::string::npos);
  CHECK(refusal(ask("run", {"chip=h100", "parameters=1e9", "tokens=1e12", "days=30", "chips=4", "solve=chips"}))
            .find("given and asked for") != std::string::npos);
  CHECK(refusal(ask("pipeline-bubble", {"stages=4", "max_mfu=2"})).find("never") != std::string::npos);
  CHECK(refusal(ask("run", {"days=30", "years=1"})).find("one at a time") != std::string::npos);
  CHECK(refusal(ask("run", {"solve=chips", "tokens=1"})).find("OUTPUT=VALUE") != std::string::npos);
}
TEST_CASE("ways far beyond a size are refused with the nearest that come out even") {
  const auto far = ask("context", {"sequence_length=9", "context=1000000000000"});
  CHECK(refusal(far).find("nearest: 9") != std::string::npos);
  CHECK(refusal(ask("context", {"sequence_length=48", "context=5"})).find("nearest: 4 or 6") != std::string::npos);
}
TEST_CASE("sizes that have to come out even are solved in their multiples") {
  const auto ways = ask("tensor-parallel", {"chip=v5e", "tokens=1024", "d_model=8192", "ways=16", "torus_axes=2",
                                            "largest_ways=16", "solve=d_ff"});
  CHECK(number(ways, "largest_ways") >= 16);
  CHECK(number(ways, "largest_ways") < 16.02);
}
TEST_CASE("a name that goes in and comes out is asked for where something is solved") {
  CHECK(number(ask("run", {"chip=h100", "tokens=2e12", "flops=1.2e24", "solve=parameters"}), "flops_per_token") ==
        doctest::Approx(6e11));
}
TEST_CASE("of a length and the keys that follow from it the length is found") {
  const auto question = io::read_block_question(
      "flops", std::vector<std::string>{"model=llama3-70b", "attention_share=0.2"}, library());
  REQUIRE(question.ok());
  CHECK(question.value().solved->input == "sequence_length");
}
