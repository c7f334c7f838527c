// Plans that are too close to be told apart, and which of them is simplest.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "engine/search/close_plans.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;

namespace {

RankedPlan ranked(double step_time_s, Plan plan = {}) {
  RankedPlan out;
  out.plan = plan;
  out.step_time_s = step_time_s;
  out.tokens_per_s_per_chip = 1e4 / step_time_s;
  out.cost_usd = 1e6 * step_time_s;
  return out;
}

SearchResult result_of(std::vector<RankedPlan> best) {
  SearchResult out;
  out.best = std::move(best);
  return out;
}

Plan random_plan(std::mt19937& random) {
  const auto power = [&random] { return 1 << (random() % 3); };
  Plan p;
  p.data = power(), p.fsdp = power(), p.tensor = power(), p.context = power(), p.pipeline = power();
  p.virtual_stages = power();
  p.schedule = static_cast<ScheduleKind>(random() % kEnumCount<ScheduleKind>);
  p.offload_optimizer = random() % 2 == 0, p.offload_activations = random() % 2 == 0;
  return p;
}

}  // namespace

TEST_CASE("plans within the margin of the first are close, and the next says how far it is behind") {
  const std::vector<RankedPlan> best{ranked(1.0), ranked(1.02), ranked(1.04), ranked(1.10)};
  for (const Objective objective : {Objective::step_time, Objective::throughput, Objective::cost}) {
    const auto close = close_plans(result_of(best), objective, 0.05);
    REQUIRE(close);
    CHECK(close->count == 3);
    CHECK(close->next == doctest::Approx(0.10));
  }
}

TEST_CASE("a first plan that is ahead by more than the margin is alone") {
  const std::vector<RankedPlan> best{ranked(1.0), ranked(1.06)};
  const auto close = close_plans(result_of(best), Objective::step_time, 0.05);
  REQUIRE(close);
  CHECK(close->count == 1);
  CHECK(close->next == doctest::Approx(0.06));
}

TEST_CASE("a list that ends within the margin has no next plan") {
  const std::vector<RankedPlan> best{ranked(1.0), ranked(1.01)};
  const auto close = close_plans(result_of(best), Objective::step_time, 0.05);
  REQUIRE(close);
  CHECK(close->count == best.size());
  CHECK(close->next == 0);
}

TEST_CASE("nothing is said of an empty list, of a ranking by memory, or by a cost that is not known") {
  CHECK_FALSE(close_plans({}, Objective::step_time, 0.05));
  std::vector<RankedPlan> best{ranked(1.0), ranked(1.01)};
  CHECK_FALSE(close_plans(result_of(best), Objective::memory, 0.05));
  for (RankedPlan& plan : best) plan.cost_usd = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(close_plans(result_of(best), Objective::cost, 0.05));
}

TEST_CASE("nothing is said where no margin is known") {
  CHECK_FALSE(close_plans(result_of({ranked(1.0), ranked(1.01)}), Objective::step_time, std::nullopt));
}

TEST_CASE("the present plan is close where it can run, counts, and is within the margin") {
  SearchResult result = result_of({ranked(1.0), ranked(1.01)});
  const auto present_close = [&result] { return close_plans(result, Objective::step_time, 0.05)->present; };
  result.present = ranked(1.04);
  result.present_legal = true;
  CHECK(present_close());
  result.present_breaks = BrokenConstraint{};
  CHECK_FALSE(present_close());
  result.present_breaks.reset();
  result.present_legal = false;
  CHECK_FALSE(present_close());
  result.present_legal = true;
  result.present = ranked(1.06);
  CHECK_FALSE(present_close());
}

TEST_CASE("the simplest of close plans has no offload, then the fewest axes, then the plainest schedule") {
  Plan offloads, staged, chunked, plain;
  offloads.offload_activations = true;
  staged.tensor = 8, staged.pipeline = 4;
  chunked = staged, chunked.schedule = ScheduleKind::interleaved_1f1b, chunked.virtual_stages = 2;
  plain.fsdp = 64;
  CHECK(simpler(plain, staged));
  CHECK(simpler(staged, chunked));
  CHECK(simpler(chunked, offloads));
  // Without stages there is no schedule to set up.
  Plan unused = plain;
  unused.virtual_stages = 4;
  CHECK(simpler(plain, unused));  // by Plan's order alone
  const std::vector<RankedPlan> best{ranked(1.0, offloads), ranked(1.01, chunked), ranked(1.02, staged),
                                     ranked(1.2, plain)};
  CHECK(close_plans(result_of(best), Objective::step_time, 0.05)->simplest == 2);
}

TEST_CASE(
    "the part that decides is the one plans differ in most, and its factor is where the first plan is overtaken") {
  std::mt19937 random(6);
  std::uniform_real_distribution<double> any(0, 1);
  int decided = 0;
  for (int i = 0; i < 3'000; ++i) {
    // Most of a step is alike, the rest is dealt to parts in any way, and the ranking may count chips.
    const Objective objective =
        std::array{Objective::step_time, Objective::throughput, Objective::cost}[static_cast<std::size_t>(i % 3)];
    std::vector<RankedPlan> best;
    for (std::size_t k = 0; k < 2 + random() % 5; ++k) {
      RankedPlan plan;
      plan.step_parts[0] = 1;
      for (int n = 0; n < 3; ++n) plan.step_parts[random() % kStepParts.size()] += 0.05 * any(random);
      for (const double part : plan.step_parts) plan.step_time_s += part;
      const double chips = 1 + 0.02 * any(random);
      plan.tokens_per_s_per_chip = 1e4 / plan.step_time_s / chips;
      plan.cost_usd = 1e6 * plan.step_time_s * chips;
      best.push_back(plan);
    }
    // What is ranked by, the smaller the better.
    const auto key = [objective](const RankedPlan& plan) {
      const double score = score_of(objective, plan);
      return objective == Objective::throughput ? 1 / score : score;
    };
    std::ranges::sort(best, {}, key);
    const auto close = close_plans(result_of(best), objective, 0.2);
    REQUIRE(close);
    CAPTURE(i);
    if (!close->decides) continue;
    ++decided;
    const DecidingPart& by = *close->decides;
    const auto part = static_cast<std::size_t>(std::ranges::find(kStepParts, by.part) - kStepParts.begin());
    REQUIRE(part < kStepParts.size());
    // With the part taking so many times as long.
    const auto key_with = [&](const RankedPlan& plan, double factor) {
      return key(plan) * (1 + (factor - 1) * plan.step_parts[part] / plan.step_time_s);
    };
    const RankedPlan &first = best.front(), &rival = best[by.rival];
    CHECK(key_with(rival, by.factor) == doctest::Approx(key_with(first, by.factor)).epsilon(1e-12));
    const double further = by.factor + (by.factor >= 1 ? 1e-6 : -1e-6),
                 before = by.factor + (by.factor >= 1 ? -1e-6 : 1e-6);
    CHECK(key_with(rival, further) < key_with(first, further));
    CHECK(key_with(rival, before) > key_with(first, before));
    double least = 1, most = 0;
    for (std::size_t k = 0; k < close->count; ++k) {
      const double share = best[k].step_parts[part] / best[k].step_time_s;
      least = std::min(least, share), most = std::max(most, share);
    }
    CHECK(by.least_share == least);
    CHECK(by.most_share == most);
  }
  CHECK(decided > 500);
}

TEST_CASE(
    "plans that differ in nothing by much, or are too far behind for what they differ in, are decided by nothing") {
  RankedPlan first = ranked(1.0), second = ranked(1.001);
  first.step_parts[0] = 1, second.step_parts[0] = 1.001;
  CHECK_FALSE(close_plans(result_of({first, second}), Objective::step_time, 0.05)->decides);
  // A part of 2 % would have to be gone for a plan that is 4 % behind.
  second = ranked(1.04);
  second.step_parts[0] = 1.02, second.step_parts[1] = 0.02;
  CHECK_FALSE(close_plans(result_of({first, second}), Objective::step_time, 0.05)->decides);
  CHECK_FALSE(close_plans(result_of({first}), Objective::step_time, 0.05)->decides);
}

TEST_CASE("what is simpler is a strict order of plans") {
  std::mt19937 random(5);
  for (int i = 0; i < 20'000; ++i) {
    const Plan a = random_plan(random), b = random_plan(random), c = random_plan(random);
    CHECK((simpler(a, b) || simpler(b, a) || a == b));
    CHECK_FALSE((simpler(a, b) && simpler(b, a)));
    if (simpler(a, b) && simpler(b, c)) CHECK(simpler(a, c));
  }
}

TEST_CASE("of a search's list the count is that of a look at every plan") {
  Scenario s = tests::preset("llama3-8b-8-h100");
  SearchRequest request;
  request.space = space_of(s);
  request.limit = 500;
  for (const Objective objective : {Objective::step_time, Objective::throughput, Objective::cost}) {
    request.objective = objective;
    const SearchResult result = search(s, request);
    REQUIRE(result.best.size() > 20);
    for (const double margin : {0.0, 0.003, 0.03, 0.3}) {
      const auto close = close_plans(result, objective, margin);
      REQUIRE(close);
      const double limit = result.best.front().step_time_s * (1 + margin);
      const auto within = std::count_if(result.best.begin(), result.best.end(), [limit](const RankedPlan& p) {
        return p.step_time_s <= limit * (1 + 1e-12);
      });
      CHECK(close->count == static_cast<std::size_t>(within));
      for (std::size_t i = 0; i < close->count; ++i)
        CHECK_FALSE(simpler(result.best[i].plan, result.best[close->simplest].plan));
    }
  }
}
