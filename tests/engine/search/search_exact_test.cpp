// A search is exact: on random small spaces its result is what evaluating every plan makes, to the last bit and in
// order, in every mode, for every objective, with any number of workers and any length of the list.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/scenario/mesh_size.h"
#include "engine/search/plan_dimensions.h"
#include "engine/search/search.h"
#include "engine/search/searched_scenario.h"
#include "tests/cases_to_try.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/search/random_space.h"
#include "tests/engine/search/search_enumeration.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::any_of;
using tests::Dice;
using tests::difference;
using tests::searched;

TEST_CASE("of a small space a search finds what evaluating every plan finds, in every mode") {
  std::mt19937 rng(27);  // with which a dozen spaces, as under the sanitizers, have some of nearly every kind
  std::array<int, 3> modes{}, families{};
  int some_fit = 0, none_fit = 0, near = 0, cells = 0, ranks = 0, several_software = 0, launched = 0;
  double plans = 0;
  const int spaces = tests::spaces_to_try();
  for (int i = 0; i < spaces;) {
    CAPTURE(i);
    Dice dice(rng);
    Scenario s = tests::random_small_scenario(rng);
    SearchRequest request = tests::random_request(dice, s);
    tests::fit_some(dice, s, request);
    // The present plan is often one of the list, and decides what else is in the space.
    const SearchResult first = search(s, request);
    if (first.fit == 0 && !dice.one_in(6)) continue;  // of too many nothing fits
    ++i;
    if (!first.best.empty() && dice.one_in(2)) apply(s, any_of(dice, first.best).plan);
    const std::vector<tests::EnumeratedPlan> every = tests::Enumeration(s, request).evaluated();
    CAPTURE(std::string(kObjectiveIds[request.objective]));
    CAPTURE(s.cluster.chip.name);
    CAPTURE(static_cast<int>(s.assumptions.mode));
    for (const tests::EnumeratedPlan& p : every) {
      if (!p.rejected) REQUIRE_FALSE(p.has_errors);
      if (p.rejected == Rejection::state) REQUIRE(p.ranked.memory_bytes > p.limit_bytes);
    }
    const SearchResult wanted = tests::expected_result(every, request);
    const auto workers = static_cast<std::size_t>(dice.pick(1, 3));
    const SearchResult found = searched(s, request, workers);
    REQUIRE(found.finished);
    REQUIRE_MESSAGE(difference(found, wanted, request.limit).empty(), difference(found, wanted, request.limit));

    // Other workers, another length and seeds from here and from before: the same, as far as it goes.
    SearchRequest shorter = request;
    shorter.limit = static_cast<std::size_t>(dice.pick(0, static_cast<int>(request.limit)));
    std::vector<Plan> seeds = plans_of(dice.one_in(2) ? first : found);
    if (dice.one_in(2) && !every.empty()) seeds.push_back(any_of(dice, every).ranked.plan);
    const SearchResult again = searched(s, shorter, workers % 3 + 1, seeds);
    REQUIRE_MESSAGE(difference(again, found, shorter.limit).empty(), difference(again, found, shorter.limit));

    // Among the plans that were found, the same are best.
    SearchMemory memory{.seeds = plans_of(found), .listed = {}, .orders = {}};
    const SearchResult known = search_known(s, request, memory);
    REQUIRE(known.extent == SearchResult::Extent::known);
    REQUIRE(known.best.size() == found.best.size());
    bool tied = false;
    for (std::size_t k = 0; k < found.best.size() && !tied; ++k) {
      REQUIRE(known.best[k].step_time_s == found.best[k].step_time_s);
      // Of meshes that are as fast the one comes first whose simplest plan takes least, and of a mesh that only the
      // front has, another than the simplest is known.
      tied = request.merge_alike && known.best[k].plan != found.best[k].plan;
      if (tied) continue;
      REQUIRE(known.best[k].plan == found.best[k].plan);
      REQUIRE(known.best[k].memory_bytes == found.best[k].memory_bytes);
      REQUIRE(known.best[k].mfu == found.best[k].mfu);
    }
    REQUIRE(known.front.size() == found.front.size());
    for (std::size_t k = 0; k < found.front.size(); ++k) REQUIRE(known.front[k].plan == found.front[k].plan);
    for (const SearchCell& cell : known.cells) REQUIRE(cell.best);
    if (!tied) REQUIRE(known.present_rank == found.present_rank);

    // The present plan's place.
    const auto place = std::find_if(found.best.begin(), found.best.end(),
                                    [&](const RankedPlan& one) { return one.plan == found.present.plan; });
    if (place != found.best.end()) {
      REQUIRE(found.present_rank == place - found.best.begin() + 1);
      ++ranks;
    }
    if (found.present_rank > 0)
      REQUIRE(found.best[static_cast<std::size_t>(found.present_rank) - 1].step_time_s == found.present.step_time_s);

    ++modes[static_cast<std::size_t>(s.assumptions.mode)];
    ++families[s.cluster.chip.interconnect == Interconnect::torus ? 0 : 1];
    launched += request.space.runs_on && !wanted.best.empty();
    some_fit += !wanted.best.empty(), none_fit += wanted.front.empty(), near += wanted.near_miss.has_value();
    cells += static_cast<int>(wanted.cells.size());
    several_software += s.assumptions.mode == Mode::calibrated && !s.cluster.chip.calibration.source.empty();
    plans += wanted.plans;
  }
  MESSAGE(spaces, " spaces, ", plans, " plans; ideal, calibrated, custom ", modes[0], " ", modes[1], " ", modes[2],
          "; torus, switched ", families[0], " ", families[1], "; some fit ", some_fit, ", none ", none_fit,
          "; near misses ", near, ", with a framework ", launched, ", cells ", cells, ", present in the list ", ranks,
          ", calibrated chips ", several_software);
  CHECK(some_fit > spaces / 2);
  CHECK(near > spaces / 20);
  CHECK((launched > spaces / 50 || spaces < 50));  // a dozen, as under the sanitizers, may have none
  CHECK(several_software > spaces / 10);
}

TEST_CASE("values of a setting that come to the same are the same plan, and others make a difference") {
  std::mt19937 rng(61);
  std::map<std::string_view, std::pair<int, int>> same, apart;  // cases, and those with other numbers
  const int cases = tests::cases_to_try(100);
  for (int i = 0; i < cases; ++i) {
    Dice dice(rng);
    Scenario s = tests::random_small_scenario(rng);
    // On a torus, half of them: there are the most settings.
    while (i % 2 == 1 && s.cluster.chip.interconnect != Interconnect::torus) s = tests::random_small_scenario(rng);
    const SearchRequest request = tests::random_request(dice, s);
    std::vector<Plan> plans;
    tests::Enumeration(s, request).each([&](const Plan& plan) { plans.push_back(plan); });
    for (int k = 0; k < 8 && !plans.empty(); ++k) {
      const Plan plan = any_of(dice, plans);
      for (const PlanDimension& dimension : plan_dimensions()) {
        if (dimension.setting == nullptr) continue;
        const auto with = [&](double value) {
          Plan other = plan;
          dimension.set(other, value);
          apply(s, other);
          QuantityValues quantities = evaluate(s).quantities;
          // The book's bounds tell torus axes that are named from those that are chosen.
          for (std::size_t q = 0; q < kReportQuantityCount; ++q)
            if (kQuantities[q].id.starts_with("bounds.")) quantities.withhold(static_cast<Q>(q));
          return quantities;
        };
        const std::span<const double> values = dimension.setting->worth_trying;
        const auto any_value = [&] {
          return values[static_cast<std::size_t>(dice.pick(0, static_cast<int>(values.size()) - 1))];
        };
        const double one = any_value(), other = any_value();
        const bool equal = dimension.setting->comes_to(s, plan, one) == dimension.setting->comes_to(s, plan, other);
        auto& [tried, differ] = (equal ? same : apart)[dimension.name];
        ++tried;
        differ += with(one) != with(other);
      }
    }
  }
  for (const PlanDimension& dimension : plan_dimensions()) {
    if (dimension.setting == nullptr) continue;
    CAPTURE(dimension.name);
    MESSAGE(same[dimension.name].first, " alike, ", apart[dimension.name].first, " apart, of which ",
            apart[dimension.name].second, " have other numbers");
    CHECK(same[dimension.name].second == 0);
    if (cases >= 100) CHECK(apart[dimension.name].second > 0);
  }
}

TEST_CASE("plans too long to simulate are in no list, and what runs is") {
  Scenario s = tests::preset("llama3-8b-8-h100");
  tests::slow_down(s.cluster.chip, 1e8);
  for (const bool merge : {false, true})
    for (const Mode mode : {Mode::ideal, Mode::calibrated}) {
      CAPTURE(merge);
      CAPTURE(static_cast<int>(mode));
      s.assumptions.mode = mode;
      SearchRequest request;
      request.limit = 400, request.merge_alike = merge;
      request.space.microbatch.only = {1}, request.space.zero_stage.only = {1};
      request.space.offload_optimizer.max = request.space.offload_activations.max = 0;
      const SearchResult found = searched(s, request, 2);
      REQUIRE(found.finished);
      int pipelined = 0, too_long = 0;
      for (const auto* list : {&found.best, &found.front})
        for (const RankedPlan& one : *list) {
          Scenario edited = s;
          apply(edited, one.plan);
          const Report report = evaluate(edited);
          REQUIRE_FALSE(report.has_errors());
          REQUIRE(one.step_time_s == tests::value_of(report, Q::step_time));
          pipelined += one.plan.pipeline > 1;
        }
      const std::vector<tests::EnumeratedPlan> every = tests::Enumeration(s, request).evaluated();
      for (const tests::EnumeratedPlan& p : every) too_long += p.has_errors && p.ranked.plan.pipeline > 1;
      MESSAGE(found.best.size(), " plans, ", pipelined, " with a pipeline; too long ", too_long, " of ",
              every.size());
      CHECK(too_long > 0);
    }
}

TEST_CASE("choices of the present plan that the space covers change nothing but what is said of that plan") {
  std::mt19937 rng(31);
  int others = 0, ranked = 0;
  const int cases = tests::cases_to_try(40);
  for (int i = 0; i < cases; ++i) {
    CAPTURE(i);
    Dice dice(rng);
    Scenario s = tests::random_small_scenario(rng);
    const SearchRequest request = tests::random_request(dice, s);
    tests::fit_some(dice, s, request);
    if (!dice.one_in(4)) {  // a plan of the space, mostly one that can be listed
      std::vector<tests::EnumeratedPlan> every = tests::Enumeration(s, request).evaluated();
      const auto cannot = [](const tests::EnumeratedPlan& one) { return one.rejected.has_value(); };
      if (!std::ranges::all_of(every, cannot) && !dice.one_in(4)) std::erase_if(every, cannot);
      if (!every.empty()) apply(s, any_of(dice, every).ranked.plan);
    }
    SearchResult found = search(s, request);
    Scenario other = s;
    tests::take_another_plan(dice, other, request);
    // Now and then one of the list, of those first that stay in it with what the search reads of the scenario.
    if (!found.best.empty() && !dice.one_in(3)) {
      std::vector<Plan> listed;
      for (const RankedPlan& one : found.best)
        if (one.plan.schedule == s.pipeline.schedule &&
            one.plan.sequence_parallel == s.parallelism.sequence_parallel &&
            mesh_chips(one.plan) == mesh_chips(s.parallelism))
          listed.push_back(one.plan);
      Plan plan = listed.empty() ? any_of(dice, found.best).plan : any_of(dice, listed);
      plan.schedule = s.pipeline.schedule, plan.sequence_parallel = s.parallelism.sequence_parallel;
      if (mesh_chips(plan) == mesh_chips(s.parallelism)) tests::apply_choices(other, plan);
    }
    other.name = "another", other.workload.batch += 1, other.serving.page_tokens += 1;
    REQUIRE(searched_scenario(other) == searched_scenario(s));
    const SearchResult wanted = search(other, request);
    REQUIRE_MESSAGE(difference(found, wanted, request.limit).empty(), difference(found, wanted, request.limit));
    place_present(other, request, found);
    REQUIRE_MESSAGE(tests::difference_of_present(found, wanted).empty(), tests::difference_of_present(found, wanted));
    others += !(other.parallelism == s.parallelism);
    ranked += wanted.present_rank > 0;
  }
  CHECK(others >= cases / 5);
  CHECK(ranked >= cases / 20);
}
