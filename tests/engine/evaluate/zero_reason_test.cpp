#include "engine/evaluate/zero_reason.h"

#include <optional>
#include <random>
#include <utility>

#include <doctest/doctest.h>

#include "engine/evaluate/evaluate.h"
#include "tests/engine/fixtures.h"

using namespace roofscape::engine;
using namespace roofscape;

TEST_CASE("a transfer that takes no time in a step is hidden, or there is none") {
  std::mt19937 rng(18);
  int hidden = 0, alone = 0;
  for (int round = 0; round < 400; ++round) {
    const Scenario s = tests::random_scenario(rng);
    const Report report = evaluate(s);
    if (report.has_errors() || s.serves()) continue;
    for (const auto& [part, axis] : {std::pair{Q::step_data, Axis::data},
                                     {Q::step_fsdp, Axis::fsdp},
                                     {Q::step_tensor, Axis::tensor},
                                     {Q::step_context, Axis::context},
                                     {Q::step_expert, Axis::expert}}) {
      const auto reason = zero_reason(s, report, part);
      REQUIRE(reason.has_value() == (report.quantities.value_or(part, 1) == 0));
      if (!reason) continue;
      CHECK(reason->axis == axis);
      if (reason->kind == ZeroKind::hidden) {
        ++hidden;
        CHECK(reason->hidden_s > 0);
        CHECK(s.parallelism.degree(axis) > 1);
      }
      if (s.parallelism.degree(axis) == 1) {
        ++alone;
        CHECK(reason->kind == ZeroKind::one_rank);
      }
    }
  }
  CHECK(hidden > 10);
  CHECK(alone > 100);
}

TEST_CASE("parts that a choice leaves out name the choice") {
  Scenario s = tests::preset("llama3-70b-v5p-pod");
  s.parallelism.pipeline = 1;
  s.assumptions.flops = FlopsConvention::six_p;
  const Report report = evaluate(s);
  REQUIRE_FALSE(report.has_errors());
  const auto kind = [&](Q q) {
    const auto reason = zero_reason(s, report, q);
    return reason ? std::optional(reason->kind) : std::nullopt;
  };
  CHECK(kind(Q::step_attention) == ZeroKind::convention);
  CHECK(kind(Q::step_bubble) == ZeroKind::one_stage);
  CHECK(kind(Q::step_offload) == ZeroKind::not_offloaded);
  CHECK(kind(Q::step_host) == ZeroKind::ideal_mode);
  CHECK(kind(Q::step_matmul) == std::nullopt);
}
