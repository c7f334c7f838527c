// How many chips of an awkward number the meshes of a search have, against every mesh of every number.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "engine/scenario/mesh_size.h"
#include "engine/search/even_chip_counts.h"
#include "engine/search/plan_space.h"
#include "engine/search/search.h"
#include "tests/engine/search/random_space.h"
#include "tests/engine/search/search_fixture.h"

namespace roofscape::engine {
namespace {

// Whether a mesh of so many chips divides heads, sequence, layers and batch.
bool divides_evenly(const Scenario& s, int chips) {
  for (int tensor = 1; tensor <= chips; ++tensor)
    for (int context = 1; context <= chips / tensor; ++context)
      for (int pipeline = 1; pipeline <= chips / tensor / context; ++pipeline) {
        const int model = tensor * context * pipeline;
        if (chips % model != 0 || s.workload.sequence_length % context != 0 || s.model.n_layers % pipeline != 0 ||
            s.workload.global_batch_sequences % (chips / model) != 0)
          continue;
        Plan plan;
        plan.tensor = tensor, plan.context = context;
        const PlanSpace space = space_of(s);
        if (!SpaceChoices(s, space).reject_group(plan)) return true;
      }
  return false;
}

std::vector<int> found_by_trying(const Scenario& s) {
  return tests::simplest_numbers(shared_chips(s.cluster), [&s](int count) { return divides_evenly(s, count); });
}

// Of the preset on so many H100 in nodes of 8.
std::vector<int> counts_on(int nodes) {
  Scenario s = tests::preset("llama3-405b-16k-h100-8k");
  s.cluster.nodes = nodes;
  return even_chip_counts(s);
}

TEST_CASE("of chips that no mesh divides evenly, fewer are tried, down to a power of two") {
  // 126 layers have the odd factors 3, 7, 9, 21 and 63; batch, sequence and heads are powers of two.
  CHECK(counts_on(1500) == std::vector{10752, 9216, 8192});
  CHECK(counts_on(125) == std::vector{896, 768, 512});
}

TEST_CASE("of chips that a mesh divides evenly, all are used, and beside an odd factor a simpler number") {
  CHECK(counts_on(2048) == std::vector{16384});
  CHECK(counts_on(1344) == std::vector{10752, 9216, 8192});
  CHECK(counts_on(144) == std::vector{1152, 1024});
}

TEST_CASE("stages that are pinned to a power of two leave plans on 1,152 chips") {
  Scenario s = tests::preset("llama3-405b-16k-h100-8k");
  s.cluster.nodes = 144;
  SearchRequest request;
  request.space = space_of(s);
  request.space.pipeline.only = {16};
  const SearchResult found = search(s, request);
  REQUIRE_FALSE(found.best.empty());
  CHECK(mesh_chips(found.best.front().plan) == 1024);
}

TEST_CASE("chip counts that divide evenly are those that trying every mesh finds") {
  std::mt19937 rng(2971);
  tests::Dice dice(rng);
  for (int i = 0; i < 100; ++i) {
    Scenario s = tests::random_small_scenario(rng);
    s.parallelism.context_method = ContextMethod::ring;  // Ulysses splits heads once more
    if (s.cluster.chip.interconnect == Interconnect::switched) s.cluster.nodes = dice.pick(1, 20);
    CAPTURE(i);
    CAPTURE(shared_chips(s.cluster));
    CHECK(even_chip_counts(s) == found_by_trying(s));
  }
}

TEST_CASE("of replicas the simpler numbers of chips are those that trying every number finds") {
  for (int chips = 1; chips <= 2000; ++chips) {
    CAPTURE(chips);
    CHECK(simpler_chip_counts(chips) == tests::simplest_numbers(chips, [](int) { return true; }));
  }
}

TEST_CASE("what a search is limited to does not change how many chips its meshes have") {
  std::mt19937 rng(31);
  tests::Dice dice(rng);
  for (int i = 0; i < 50; ++i) {
    const Scenario s = tests::random_small_scenario(rng);
    const PlanSpace widest = space_of(s), narrower = tests::random_request(dice, s).space;
    CHECK(SpaceChoices(s, narrower).chip_counts == SpaceChoices(s, widest).chip_counts);
  }
}

TEST_CASE("a search finds a plan on a cluster whose chips divide nothing") {
  Scenario s = tests::preset("llama3-405b-16k-h100-8k");
  s.cluster.nodes = 1500;
  SearchRequest request;
  request.space = space_of(s);
  const SearchResult found = search(s, request);
  REQUIRE_FALSE(found.best.empty());
  CHECK(mesh_chips(found.best.front().plan) == 10752);
  CHECK(found.chip_counts == std::vector{12000, 10752, 9216, 8192});
}

}  // namespace
}  // namespace roofscape::engine
