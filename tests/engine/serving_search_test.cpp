// Search of serving plans: what is found is what evaluate() says, and nothing in the space is better.
#include <doctest/doctest.h>

#include "engine/search/serving_search.h"
#include "fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::preset;

namespace {

double token_time(const Report& r) { return *r.quantities[Q::time_per_output_token]; }

}  // namespace

TEST_CASE("a serving plan that is found has the numbers of its evaluation") {
  for (const char* id : {"llama3-8b-serving-8-h100", "llama3-70b-serving-8-h100", "llama3-70b-16-v5e"}) {
    CAPTURE(id);
    const Scenario s = preset(id);
    const ServingSearchResult found = search_serving(s, {});
    REQUIRE(!found.best.empty());
    for (const DecodingPlan& plan : found.best) {
      Scenario other = s;
      apply(other, plan);
      const Report report = evaluate(other);
      CHECK(token_time(report) == plan.token_s);
      CHECK(*report.quantities[Q::memory_total] == plan.chip_bytes);
      CHECK(*report.quantities[Q::serving_tokens_per_chip] == plan.tokens_per_s_per_chip);
      CHECK(report.fits());
    }
  }
}

TEST_CASE("every serving plan is counted once: it fits, or one reason stands against it") {
  ServingRequest request;
  request.most_token_s = 0.02;
  const ServingSearchResult found = search_serving(preset("llama3-70b-serving-8-h100"), request);
  CHECK(found.plans == found.fit + found.rejected[0] + found.rejected[1] + found.rejected[2]);
  CHECK(found.rejected[static_cast<std::size_t>(ServingRejection::slow)] > 0);
  CHECK(found.rejected[static_cast<std::size_t>(ServingRejection::memory)] > 0);
}

TEST_CASE("a promise leaves only plans that keep it, and the best of them is no worse than the present plan that keeps it") {
  const Scenario s = preset("llama3-70b-serving-8-h100");
  ServingRequest request;
  const Report own = evaluate(s);
  request.most_token_s = token_time(own);
  const ServingSearchResult found = search_serving(s, request);
  REQUIRE(!found.best.empty());
  for (const DecodingPlan& plan : found.best) CHECK(plan.token_s <= request.most_token_s);
  CHECK(found.best.front().tokens_per_s_per_chip >= *own.quantities[Q::serving_tokens_per_chip]);
}

TEST_CASE("on the front of serving plans every next one is slower for the user and better for the chip") {
  const ServingSearchResult found = search_serving(preset("llama3-8b-serving-8-h100"), {});
  REQUIRE(found.front.size() > 2);
  for (std::size_t i = 1; i < found.front.size(); ++i) {
    CHECK(found.front[i].token_s > found.front[i - 1].token_s);
    CHECK(found.front[i].tokens_per_s_per_chip > found.front[i - 1].tokens_per_s_per_chip);
  }
}

TEST_CASE("each objective puts its own first") {
  const Scenario s = preset("llama3-70b-serving-8-h100");
  ServingRequest request;
  request.objective = ServingObjective::token_time;
  const ServingSearchResult fast = search_serving(s, request);
  request.objective = ServingObjective::memory;
  const ServingSearchResult small = search_serving(s, request);
  for (std::size_t i = 1; i < fast.best.size(); ++i) CHECK(fast.best[i - 1].token_s <= fast.best[i].token_s);
  for (std::size_t i = 1; i < small.best.size(); ++i) CHECK(small.best[i - 1].chip_bytes <= small.best[i].chip_bytes);
}

TEST_CASE("prefill with chips of its own keeps them: decoding plans have the decoding chips") {
  const Scenario s = preset("deepseek-v3-h800-wide-expert");
  const int chips = s.parallelism.data * s.parallelism.fsdp * s.parallelism.tensor * s.parallelism.context * s.parallelism.pipeline;
  ServingRequest request;
  request.expert = {1, 1 << 20, {s.parallelism.expert}};
  request.pipeline.max = 1;
  const ServingSearchResult found = search_serving(s, request);
  REQUIRE(!found.best.empty());
  for (const DecodingPlan& plan : found.best) CHECK(plan.data * plan.tensor * plan.pipeline * s.parallelism.context == chips);
}

TEST_CASE("a scenario that trains has no serving plans") { CHECK(search_serving(preset("llama3-8b-8-h100"), {}).best.empty()); }

TEST_CASE("constraints of serving are read as those of training, with their own names") {
  ServingRequest request;
  CHECK_FALSE(constrain(request, "tensor", "2,4", ConstraintKind::pinned));
  CHECK((request.tensor.allows(4) && !request.tensor.allows(8)));
  CHECK_FALSE(constrain(request, "batch", "64", ConstraintKind::at_most));
  CHECK_FALSE(request.batch.allows(128));
  CHECK(constrain(request, "fsdp", "2", ConstraintKind::pinned)->message == "serving has no dimension \"fsdp\"");
  CHECK(constrain(request, "batch", "0", ConstraintKind::pinned)->message == "batch cannot be \"0\"");
  CHECK(constrain(request, "batch", "1,2", ConstraintKind::at_most)->message == "a limit of batch is one number");
}
