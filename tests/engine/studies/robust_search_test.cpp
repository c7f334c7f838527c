// A search by slow ends is exact: on random small spaces, with random measurements, its list is what the band of every
// plan makes.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "engine/scenario/mesh_size.h"
#include "engine/studies/robust_search.h"

#include "tests/cases_to_try.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/search/random_space.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::any_of;
using tests::Dice;

namespace {

Scenario with_plan(Scenario s, const Plan& plan) {
  apply(s, plan);
  return s;
}

// Runs of some of these plans, some of which were off by much.
std::vector<EvidencePoint> random_points(Dice& dice, const Scenario& s, const std::vector<RankedPlan>& plans) {
  std::vector<EvidencePoint> points;
  const int runs = dice.pick(0, 3) * 20 + dice.pick(0, 20);
  const bool few_sources = dice.one_in(2);
  for (int i = 0; i < runs && !plans.empty(); ++i) {
    EvidencePoint p;
    p.family = few_sources ? "one" : std::to_string(dice.pick(0, 3));
    p.model = std::to_string(dice.pick(0, 5));
    p.kind = dice.one_in(10) ? EvidenceKind::memory : EvidenceKind::step;
    p.features = evidence_features(with_plan(s, any_of(dice, plans).plan));
    p.features.bubble = std::clamp(p.features.bubble + 0.01 * dice.pick(-30, 30), 0.0, 1.0);
    p.error = 0.01 * dice.pick(-40, 60);
    points.push_back(std::move(p));
  }
  if (dice.one_in(2)) try_bands(points);
  return points;
}

// What is ranked by, the less the better.
double key_of(Objective objective, const RankedPlan& plan) {
  const double scale = plan.slow_end_s / plan.step_time_s;
  if (objective == Objective::throughput) return -(plan.tokens_per_s_per_chip / scale);
  if (objective == Objective::cost)
    return std::isfinite(plan.cost_usd) ? plan.cost_usd * scale : scale / plan.tokens_per_s_per_chip;
  return plan.slow_end_s;
}

std::vector<RankedPlan> by_slow_end(const Scenario& s, Objective objective, const std::vector<EvidencePoint>& points,
                                    std::vector<RankedPlan> plans) {
  std::vector<RankedPlan> out;
  for (RankedPlan& plan : plans) {
    const ErrorBand band = error_band(points, with_plan(s, plan.plan), EvidenceKind::step);
    if (!band.validated()) continue;
    plan.slow_end_s = band.most(plan.step_time_s);
    out.push_back(plan);
  }
  std::sort(out.begin(), out.end(), [objective](const RankedPlan& a, const RankedPlan& b) {
    const double of_a = key_of(objective, a), of_b = key_of(objective, b);
    if (of_a != of_b) return of_a < of_b;
    if (a.step_time_s != b.step_time_s) return a.step_time_s < b.step_time_s;
    if (a.memory_bytes != b.memory_bytes) return a.memory_bytes < b.memory_bytes;
    return a.plan < b.plan;
  });
  return out;
}

void require_same_list(const Scenario& s, const SearchRequest& request, const SearchResult& found,
                       const std::vector<RankedPlan>& wanted) {
  REQUIRE(found.best.size() == std::min(request.limit, wanted.size()));
  for (std::size_t k = 0; k < found.best.size(); ++k) {
    CAPTURE(k);
    const RankedPlan &a = found.best[k], &b = wanted[k];
    REQUIRE(a.slow_end_s == b.slow_end_s);
    REQUIRE(a.step_time_s == b.step_time_s);
    REQUIRE(a.memory_bytes == b.memory_bytes);
    REQUIRE(a.plan == b.plan);
    REQUIRE(a.bubble_fraction == evidence_features(with_plan(s, a.plan)).bubble);
  }
}

}  // namespace

TEST_CASE("by the slow end of their bands a search lists what the band of every plan makes, in every mode") {
  std::mt19937 rng(23);
  int listed = 0, reordered = 0, without = 0;
  for (int i = 0; i < tests::spaces_to_try();) {
    Dice dice(rng);
    Scenario s = tests::random_small_scenario(rng);
    SearchRequest request = tests::random_request(dice, s);
    request.merge_alike = request.cells = false;
    tests::fit_some(dice, s, request);
    SearchRequest whole = request;
    whole.limit = 100000;
    const std::vector<RankedPlan> every = search(s, whole).best;
    if (every.empty()) continue;
    ++i;
    CAPTURE(i);
    CAPTURE(std::string(kObjectiveIds[request.objective]));
    CAPTURE(static_cast<int>(s.assumptions.mode));
    const std::vector<EvidencePoint> points = random_points(dice, s, every);
    const SearchResult found = robust_search(s, request, points);
    REQUIRE(found.finished);
    if (request.objective == Objective::memory) {
      CHECK(tests::difference(found, search(s, request), request.limit).empty());
      continue;
    }
    const std::vector<RankedPlan> wanted = by_slow_end(s, request.objective, points, every);
    require_same_list(s, request, found, wanted);
    for (std::size_t k = 0; k < found.best.size(); ++k) reordered += !(found.best[k].plan == every[k].plan);
    listed += static_cast<int>(found.best.size());
    without += wanted.size() < every.size();
    CHECK(tests::difference(found, search(s, request), 0).empty());  // all but the list
    const ErrorBand own = error_band(points, s, EvidenceKind::step);
    if (found.present_legal)
      CHECK(found.present.slow_end_s == (own.validated() ? own.most(found.present.step_time_s) : 0));
  }
  CHECK(listed > tests::cases_to_try(100));
  CHECK(reordered > tests::cases_to_try(50));
  CHECK(without > tests::cases_to_try(10));
}

TEST_CASE("slow ends are compared by hours of chips where these have no price, also between meshes of fewer chips") {
  std::mt19937 rng(29);
  int fewer_first = 0;
  for (int i = 0; i < tests::cases_to_try(25);) {
    Dice dice(rng);
    Scenario s = tests::random_small_scenario(rng);
    s.cluster.chip[ChipField::price_usd_per_chip_hour].value.reset();
    const int chips = shared_chips(s.cluster);
    if (chips % 4 != 0 || chips > 64) continue;
    s.parallelism.data = chips / 4;
    s.parallelism.fsdp = s.parallelism.tensor = s.parallelism.context = s.parallelism.pipeline = 1;
    s.parallelism.expert = 1;
    SearchRequest request = tests::random_request(dice, s);
    request.objective = Objective::cost;
    request.merge_alike = request.cells = false;
    request.limit = 10;
    tests::fit_some(dice, s, request);
    SearchRequest whole = request;
    whole.limit = 100000;
    const std::vector<RankedPlan> every = search(s, whole).best;
    if (every.size() < 20) continue;
    ++i;
    CAPTURE(i);
    const std::vector<EvidencePoint> points = random_points(dice, s, every);
    const std::vector<RankedPlan> wanted = by_slow_end(s, request.objective, points, every);
    require_same_list(s, request, robust_search(s, request, points), wanted);
    fewer_first += !wanted.empty() && mesh_chips(wanted.front().plan) < chips;
  }
  CHECK(fewer_first > 0);
}

TEST_CASE(
    "by slow ends a search of plans that serve lists what the band of every plan makes, on switches and a torus") {
  std::mt19937 rng(31);
  int listed = 0;
  for (const char* id : {"llama3-8b-serving-8-h100", "llama2-13b-16-v5e"})
    for (const Mode mode : {Mode::ideal, Mode::calibrated})
      for (const ServingObjective objective : {ServingObjective::throughput, ServingObjective::token_time}) {
        CAPTURE(std::string(id));
        CAPTURE(static_cast<int>(mode));
        Dice dice(rng);
        Scenario s = tests::preset(id);
        s.assumptions.mode = mode;
        ServingRequest request = serving_request_of(s);
        request.objective = objective;
        request.limit = 5;
        ServingRequest whole = request;
        whole.limit = 100000;
        std::vector<RankedDecoding> wanted = search_serving(s, whole).best;
        REQUIRE_FALSE(wanted.empty());
        const auto with = [&s](const DecodingPlan& plan) {
          Scenario out = s;
          apply(out, plan);
          return out;
        };
        std::vector<EvidencePoint> points;
        for (int i = 0; i < 30; ++i) {
          EvidencePoint p;
          p.kind = EvidenceKind::decode;
          p.features = evidence_features(with(any_of(dice, wanted).plan));
          p.error = 0.01 * dice.pick(-40, 60);
          points.push_back(std::move(p));
        }
        for (RankedDecoding& plan : wanted) {
          const ErrorBand band = error_band(points, with(plan.plan), EvidenceKind::decode);
          plan.slow_end_s = band.validated() ? band.most(plan.decode_token_s) : 0;
        }
        std::erase_if(wanted, [](const RankedDecoding& plan) { return plan.slow_end_s == 0; });
        std::stable_sort(wanted.begin(), wanted.end(), [&](const RankedDecoding& a, const RankedDecoding& b) {
          const double slower_a = a.slow_end_s / a.decode_token_s, slower_b = b.slow_end_s / b.decode_token_s;
          if (objective == ServingObjective::token_time) return a.token_s * slower_a < b.token_s * slower_b;
          return a.tokens_per_s_per_chip / slower_a > b.tokens_per_s_per_chip / slower_b;
        });
        const ServingSearchResult found = robust_search(s, request, points);
        REQUIRE(found.best.size() == std::min(request.limit, wanted.size()));
        for (std::size_t k = 0; k < found.best.size(); ++k) {
          CAPTURE(k);
          CHECK(found.best[k].plan == wanted[k].plan);
          CHECK(found.best[k].slow_end_s == wanted[k].slow_end_s);
          ++listed;
        }
      }
  CHECK(listed > 20);
}

TEST_CASE("no band of a class of plans has a low end above the highest that is told without its bubble") {
  std::mt19937 rng(29);
  int compared = 0;
  for (int i = 0; i < tests::cases_to_try(300); ++i) {
    Dice dice(rng);
    std::vector<EvidencePoint> points;
    EvidenceFeatures own;
    own.params = 1e9;
    own.pipeline = dice.pick(1, 8);
    for (int n = dice.pick(0, 60); n > 0; --n) {
      EvidencePoint p;
      p.features = own;
      p.features.pipeline = dice.pick(1, 16);
      p.features.bubble = 0.01 * dice.pick(0, 90);
      p.features.recomputation = dice.one_in(4) ? 1 : 0;
      p.error = 0.01 * dice.pick(-60, 90);
      points.push_back(std::move(p));
    }
    if (dice.one_in(2)) try_bands(points);
    const auto highest = highest_low(points, own, EvidenceKind::step);
    for (int b = 0; b <= 100; ++b) {
      own.bubble = own.pipeline > 1 ? 0.01 * b : 0;
      const ErrorBand band = error_band(points, own, EvidenceKind::step);
      if (!band.validated()) continue;
      ++compared;
      REQUIRE(highest);
      REQUIRE(band.low <= *highest);
    }
  }
  CHECK(compared > tests::cases_to_try(1000));
}
