// calc pipeline with orders that are made for the times that are typed in.
#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tests/engine/blocks/ask.h"

using namespace roofscape;
using namespace roofscape::tests;

namespace {

using PipelineInputs = std::vector<std::string>;

PipelineInputs and_also(PipelineInputs inputs, const PipelineInputs& more) {
  inputs.insert(inputs.end(), more.begin(), more.end());
  return inputs;
}

// Times of different proportions, as stages, microbatches, forward, input and weight gradient.
std::vector<PipelineInputs> timed_pipelines() {
  std::vector<PipelineInputs> all;
  for (const char* p : {"2", "4", "8"})
    for (const char* m : {"8", "24"})
      for (const auto& [f, bi, w] :
           {std::tuple{"1", "1", "1"}, std::tuple{"1", "1.3", "0.7"}, std::tuple{"2", "3", "1"}})
        all.push_back({std::string("stages=") + p, std::string("microbatches=") + m, std::string("t_forward=") + f,
                       std::string("t_backward_input=") + bi, std::string("t_backward_weight=") + w});
  return all;
}

std::string refusal_of_order(const io::Result<engine::BlockResult>& result) {
  return result ? "answered" : test::in_english(result.error());
}

}  // namespace

TEST_CASE("an order made for its times is never longer than the schedule of its memory") {
  for (const PipelineInputs& times : timed_pipelines()) {
    const auto idle = [&times](const PipelineInputs& order) {
      return number(ask("pipeline", and_also(times, order)), "span_bubble");
    };
    const std::string stages = times.front().substr(times.front().find('=') + 1);
    CAPTURE(fmt::format("{}", fmt::join(times, " ")));
    CHECK(idle({"schedule=zb-1p"}) <= idle({"schedule=zb-h1"}));
    CHECK(idle({"schedule=zb-2p"}) <= idle({"schedule=zb-1p"}));
    CHECK(idle({"schedule=zb-v-fit", "held_microbatches=" + stages}) <= idle({"schedule=zb-v"}));
  }
}

TEST_CASE("an order made for its times keeps to its limit") {
  for (const PipelineInputs& times : timed_pipelines()) {
    const auto held = [&times](const PipelineInputs& order) {
      return number(ask("pipeline", and_also(times, order)), "most_held");
    };
    const double stages = std::stod(times.front().substr(times.front().find('=') + 1));
    CAPTURE(fmt::format("{}", fmt::join(times, " ")));
    CHECK(held({"schedule=zb-1p"}) <= stages);
    CHECK(held({"schedule=zb-2p"}) <= 2 * stages);
    CHECK(held({"schedule=zb-fit", "held_microbatches=3"}) <= 3);
    CHECK(held({"schedule=zb-v-fit", "held_microbatches=2.5"}) <= 2.5);
    CHECK(held({"schedule=v-min"}) <= held({"schedule=v-half"}));
    CHECK(held({"schedule=v-half"}) <= stages / 2 + 2);
  }
}

TEST_CASE("an order under a limit asks for it") {
  CHECK(refusal_of_order(ask("pipeline", {"stages=4", "microbatches=8", "schedule=zb-fit"})) ==
        "held_microbatches: zb-fit needs a limit; say how many microbatches a device may hold, as "
        "held_microbatches=12");
}

TEST_CASE("an order made for its times is not tried beyond its length") {
  CHECK(refusal_of_order(ask("pipeline", {"stages=16", "microbatches=5000", "schedule=v-half"})) ==
        "microbatches: an order made for its times has at most 131072 operations; fewer microbatches or stages, or a "
        "schedule that follows a rule");
}

TEST_CASE("an order made for its times has the chunks of its placement") {
  CHECK(refusal_of_order(ask("pipeline", {"stages=4", "microbatches=8", "schedule=zb-1p", "virtual_stages=2"}))
            .find("one chunk") != std::string::npos);
  CHECK(refusal_of_order(ask("pipeline", {"stages=4", "microbatches=8", "schedule=v-min", "virtual_stages=1"}))
            .find("two chunks") != std::string::npos);
}
