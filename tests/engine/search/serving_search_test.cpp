// Search of serving plans: what is found is what evaluate() says, and nothing in the space is better.
#include <doctest/doctest.h>

#include <functional>
#include <numeric>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/search/searched_scenario.h"
#include "engine/search/serving_search.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/search/search_fixture.h"
#include "tests/english.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::preset;

namespace {

double token_time(const Report& r) { return *r.quantities[Q::mixed_token_time_q]; }

}  // namespace

TEST_CASE("a serving plan that is found has the numbers of its evaluation") {
  for (const char* id : {"llama3-8b-serving-8-h100", "llama3-70b-serving-8-h100", "llama3-70b-16-v5e"}) {
    CAPTURE(id);
    const Scenario s = preset(id);
    const ServingSearchResult found = search_serving(s, {});
    REQUIRE(!found.best.empty());
    for (const RankedDecoding& plan : found.best) {
      Scenario other = s;
      apply(other, plan.plan);
      const Report report = evaluate(other);
      CHECK(token_time(report) == plan.token_s);
      CHECK(*report.quantities[Q::memory_total] == plan.chip_bytes);
      CHECK(*report.quantities[Q::sustained_tokens_per_chip] == plan.tokens_per_s_per_chip);
      CHECK(report.fits());
    }
  }
}

TEST_CASE("every serving plan is counted once: it fits, or one reason stands against it") {
  ServingRequest request;
  request.most_token_s = 0.03;
  const ServingSearchResult found = search_serving(preset("llama3-70b-serving-8-h100"), request);
  CHECK(found.plans == found.fit + std::accumulate(found.rejected.begin(), found.rejected.end(), 0.0));
  CHECK(found.rejected[static_cast<std::size_t>(ServingRejection::token_time)] > 0);
  CHECK(found.rejected[static_cast<std::size_t>(ServingRejection::memory)] > 0);
}

TEST_CASE(
    "a promise leaves only plans that keep it, and the best of them is no worse than the present plan that keeps "
    "it") {
  const Scenario s = preset("llama3-70b-serving-8-h100");
  ServingRequest request;
  const Report own = evaluate(s);
  request.most_token_s = token_time(own);
  const ServingSearchResult found = search_serving(s, request);
  REQUIRE(!found.best.empty());
  for (const RankedDecoding& plan : found.best) CHECK(plan.token_s <= request.most_token_s);
  CHECK(found.best.front().tokens_per_s_per_chip >= *own.quantities[Q::sustained_tokens_per_chip]);
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
  const int chips =
      s.parallelism.data * s.parallelism.fsdp * s.parallelism.tensor * s.parallelism.context * s.parallelism.pipeline;
  ServingRequest request;
  request.expert = {1, 1 << 20, {double(s.parallelism.expert)}};
  request.pipeline.max = 1;
  const ServingSearchResult found = search_serving(s, request);
  REQUIRE(!found.best.empty());
  for (const RankedDecoding& plan : found.best)
    CHECK(plan.plan.data * plan.plan.tensor * plan.plan.pipeline * s.parallelism.context == chips);
}

TEST_CASE("64 of 72 chips spread experts over ranks that 72 do not, and throughput counts the idle ones") {
  Scenario s = tests::with(preset("deepseek-v3-h800-wide-expert"), {"serving.disaggregated=false"});
  s.cluster.node_size = 8, s.cluster.nodes = 9;
  ServingRequest request;
  request.limit = 2000;
  const ServingSearchResult found = search_serving(s, request);
  CHECK(found.chip_counts == std::vector{72, 64});
  REQUIRE(has_several_chip_counts(found));
  int spread = 0;
  for (const RankedDecoding& one : found.best) {
    spread += one.plan.expert > 8;
    if (one.plan.expert > 8) CHECK(decoding_chips(one.plan) == 64);
  }
  CHECK(spread > 0);
  for (std::size_t i = 1; i < found.best.size(); ++i)
    CHECK(found.best[i - 1].tokens_per_s >= found.best[i].tokens_per_s);
}

TEST_CASE("a scenario that trains has no serving plans") {
  CHECK(search_serving(preset("llama3-8b-8-h100"), {}).best.empty());
}

TEST_CASE("constraints of serving are read as those of training, with their own names") {
  ServingRequest request;
  CHECK_FALSE(constrain(request, "tensor", "2,4", ConstraintKind::pinned));
  CHECK((request.tensor.allows(4) && !request.tensor.allows(8)));
  CHECK_FALSE(constrain(request, "batch", "64", ConstraintKind::at_most));
  CHECK_FALSE(request.batch.allows(128));
  CHECK(test::in_english(constrain(request, "fsdp", "2", ConstraintKind::pinned)->message) ==
        "serving has no dimension \"fsdp\"");
  CHECK(test::in_english(constrain(request, "batch", "0", ConstraintKind::pinned)->message) ==
        "batch cannot be \"0\"");
  CHECK(test::in_english(constrain(request, "batch", "1,2", ConstraintKind::at_most)->message) ==
        "a limit of batch is one number");
}

TEST_CASE("of every serving mesh the largest batch that fits is among the plans") {
  const Scenario s = preset("llama3-70b-serving-8-h100");
  ServingRequest request;
  request.tensor = {8, 8, {8}};
  request.limit = 1000;
  const ServingSearchResult found = search_serving(s, request);
  REQUIRE(!found.best.empty());
  int largest = 0;
  for (const RankedDecoding& one : found.best) largest = std::max(largest, one.plan.batch);
  CHECK(largest == static_cast<int>(*evaluate(s).quantities[Q::max_batch]));
}

TEST_CASE("the largest batch within a promise keeps it, and one sequence per rank more would not") {
  const Scenario s = preset("llama3-70b-serving-8-h100");
  ServingRequest request;
  request.tensor = {8, 8, {8}};
  request.most_token_s = 0.01;
  request.limit = 1000;
  int largest = 0;
  for (const RankedDecoding& one : search_serving(s, request).best) largest = std::max(largest, one.plan.batch);
  Scenario other = s;
  other.workload.batch = largest;
  CHECK(token_time(evaluate(other)) <= 0.01);
  other.workload.batch = largest + 1;
  CHECK(token_time(evaluate(other)) > 0.01);
}

TEST_CASE("a batch that is pinned is looked at whether it is a power of two or not") {
  const Scenario s = preset("llama3-70b-serving-8-h100");
  ServingRequest request;
  REQUIRE_FALSE(constrain(request, "batch", "100", ConstraintKind::pinned));
  const ServingSearchResult found = search_serving(s, request);
  REQUIRE(!found.best.empty());
  for (const RankedDecoding& one : found.best) CHECK(one.plan.batch == 100);
}

TEST_CASE(
    "merged, no serving plan of the list is no better in anything than one of its mesh before it, and all are "
    "accounted for") {
  const Scenario s = preset("llama3-70b-serving-8-h100");
  ServingRequest request;
  request.limit = 1000;
  const ServingSearchResult all = search_serving(s, request);
  request.merge_alike = true;
  const ServingSearchResult merged = search_serving(s, request);
  REQUIRE(merged.best.size() < all.best.size());
  std::size_t counted = merged.best.size();
  for (std::size_t i = 0; i < merged.best.size(); ++i) {
    counted += static_cast<std::size_t>(merged.best[i].outdone);
    DecodingPlan mesh = merged.best[i].plan;
    for (std::size_t k = 0; k < i; ++k) {
      mesh.batch = merged.best[k].plan.batch;
      if (mesh == merged.best[k].plan)
        CHECK((merged.best[k].token_s > merged.best[i].token_s ||
               merged.best[k].chip_bytes > merged.best[i].chip_bytes));
    }
  }
  CHECK(counted == all.best.size());
  CHECK(merged.best.front().plan == all.best.front().plan);
}

TEST_CASE("a search of serving plans has the same result with one worker and with three") {
  const Scenario s = preset("deepseek-v3-h800-wide-expert");
  const ServingSearchResult one = search_serving(s, {});
  const ServingSearchResult three = search_serving(s, {}, nullptr, tests::three_threads);
  CHECK(one.plans == three.plans);
  CHECK(one.rejected == three.rejected);
  REQUIRE(one.best.size() == three.best.size());
  for (std::size_t i = 0; i < one.best.size(); ++i) CHECK(one.best[i].plan == three.best[i].plan);
}

TEST_CASE("another present serving plan of as many chips changes nothing but what is said of that plan") {
  for (const char* id : {"llama3-8b-serving-8-h100", "llama3-70b-serving-8-h100", "llama3-70b-16-v5e"}) {
    CAPTURE(id);
    const Scenario s = preset(id);
    const ServingRequest request = serving_request_of(s);
    ServingSearchResult found = search_serving(s, request);
    REQUIRE(found.best.size() > 3);
    Scenario other = s;
    apply(other, found.best[3].plan);
    REQUIRE(searched_scenario(other) == searched_scenario(s));
    const ServingSearchResult wanted = search_serving(other, request);
    place_present(other, request, found);
    CHECK(found.rejected == wanted.rejected);
    REQUIRE(found.best.size() == wanted.best.size());
    for (std::size_t i = 0; i < found.best.size(); ++i) CHECK(found.best[i].plan == wanted.best[i].plan);
    CHECK(found.present.plan == wanted.present.plan);
    CHECK(found.present.token_s == wanted.present.token_s);
    CHECK(found.present_rank == 4);
    CHECK(wanted.present_rank == 4);
    CHECK(found.capacity_bytes == wanted.capacity_bytes);
  }
}

TEST_CASE("a search of serving plans that is told to stop returns unfinished") {
  SearchProgress progress;
  progress.stop = true;
  CHECK_FALSE(search_serving(preset("llama3-70b-serving-8-h100"), {}, &progress).finished);
}

TEST_CASE("a present serving plan that does not fit says how much a chip lacks and what takes most") {
  Scenario s = preset("llama3-70b-serving-8-h100");
  s.workload.batch = 4096;
  const ServingSearchResult found = search_serving(s, {});
  CHECK(found.present_legal);
  CHECK_FALSE(found.present_fits);
  CHECK(found.present_missing_bytes ==
        *evaluate(s).quantities[Q::memory_total] - *evaluate(s).quantities[Q::hbm_capacity]);
  CHECK(found.present.fullest_part == Q::memory_kv_cache);
}

TEST_CASE("what the workload promises is what a serving request promises") {
  Scenario s = preset("llama3-70b-serving-8-h100");
  s.workload.slo = {.ttft_s = 1.5, .time_per_output_token_s = 0.025};
  CHECK(serving_request_of(s).most_ttft_s == 1.5);
  CHECK(serving_request_of(s).most_token_s == 0.025);
}

TEST_CASE("the best of all cells is the best of the list, and a cell without a plan says why") {
  const Scenario s = preset("deepseek-v3-h800-wide-expert");
  for (const ServingObjective objective :
       {ServingObjective::throughput, ServingObjective::token_time, ServingObjective::memory}) {
    ServingRequest request;
    request.objective = objective;
    const ServingSearchResult found = search_serving(s, request);
    bool is_best = false;
    for (const ServingCell& cell : found.cells) {
      if (cell.best) is_best = is_best || cell.best->plan == found.best.front().plan;
      if (!cell.best && cell.nearest) CHECK(cell.nearest->rejected == cell.why);
      if (cell.pipeline > s.model.n_layers && s.model.n_heads % cell.tensor == 0)
        CHECK(cell.why == ServingRejection::layers);
      if (s.model.n_heads % cell.tensor != 0) CHECK(cell.why == ServingRejection::heads);
    }
    CHECK(is_best);
  }
}
