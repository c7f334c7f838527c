// A search is exact: on random small spaces its result is what evaluating every plan makes, to the last bit and in
// order, in every mode, for every objective, with any number of workers and any length of the list.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/scenario/checkpoint_policies.h"
#include "engine/search/search.h"
#include "tests/cases_to_try.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/search/search_enumeration.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::Dice;

namespace {

constexpr std::size_t kMostPlans = 1000;  // of a space that is evaluated as a whole

// More where somebody has time for it.
int spaces_to_try() {
  const char* asked = std::getenv("ROOFSCAPE_SEARCH_SPACES");
  return asked != nullptr ? std::atoi(asked) : tests::cases_to_try(100);
}

template <class T>
const T& any_of(Dice& dice, const std::vector<T>& list) {
  return list[static_cast<std::size_t>(dice.pick(0, static_cast<int>(list.size()) - 1))];
}

// That have what any plan needs.
const std::vector<const Chip*>& chips() {
  static const std::vector<const Chip*> all = [] {
    std::vector<const Chip*> out;
    for (const auto& entry : tests::library().list(io::PresetKind::chip)) {
      const Chip& chip = *tests::library().find_chip(entry.id);
      if (chip[ChipField::peak_bf16_dense_flops_per_s].value && chip[ChipField::hbm_bytes].value &&
          chip[ChipField::hbm_bytes_per_s].value)
        out.push_back(&chip);
    }
    return out;
  }();
  return all;
}

void random_assumptions(Dice& dice, Scenario& s) {
  Assumptions& a = s.assumptions;
  a.mode = static_cast<Mode>(dice.pick(0, 2));
  a.stack = dice.one_in(6) ? static_cast<StackChoice>(dice.pick(1, 4)) : StackChoice::automatic;
  a.flops = static_cast<FlopsConvention>(dice.pick(0, 2));
  a.axes_overlap = static_cast<AxesOverlap>(dice.pick(0, 3));
  a.overlap = dice.one_in(2) ? 1 : dice.pick(0, 10) / 10.0;
  a.reserve_bytes = dice.pick(0, 1) * 1e8;
  for (std::size_t i = 0; i < kCalibrationCount; ++i) {
    const CalibrationRow& row = kCalibrationRows[i];
    a.custom.values[i] = dice.one_in(2) ? row.ideal : row.least + (row.most - row.least) * dice.pick(0, 100) / 100;
  }
}

void random_small_cluster(Dice& dice, Scenario& s) {
  s.cluster = {};
  s.cluster.chip = *any_of(dice, chips());
  s.placement = {};
  if (s.cluster.chip.interconnect == Interconnect::switched) {
    s.cluster.node_size = dice.power(3);
    s.cluster.nodes = dice.one_in(4) ? dice.pick(1, 6) : std::min(dice.power(3), 32 / s.cluster.node_size);
    if (dice.one_in(3))
      s.cluster.fabric.push_back({"level", 1 << dice.pick(1, 5), dice.pick(1, 100) * 1e10, dice.one_in(3)});
    return;
  }
  const bool flat = s.cluster.chip[ChipField::ici_torus_dims].value == 2;
  for (std::size_t side = 0; side < (flat ? 2 : 3); ++side) s.cluster.slice[side] = dice.power(1) * dice.power(1);
  if (flat && dice.one_in(2)) s.cluster.slice[0] = 16;
  if (!flat && dice.one_in(2)) s.cluster.slice = {4, 4, dice.pick(1, 4)};
  s.cluster.slices = dice.one_in(3) ? 2 : 1;
  for (std::size_t axis = 0; axis < kAxisCount; ++axis)
    if (dice.one_in(4)) {
      s.placement.axes[axis] = dice.one_in(2) ? dice.pick(1, 3) : 0;
      s.placement.on[axis] = dice.one_in(2) ? static_cast<TorusAxes>(dice.pick(0, 7)) : TorusAxes::automatic;
    }
}

// Any model on any chip, few layers and few chips; memory about as large as what its plans take.
Scenario random_small_scenario(std::mt19937& rng) {
  Dice dice(rng);
  Scenario s = tests::random_scenario(rng);
  if (dice.one_in(3)) s.model = *tests::library().find_model(dice.one_in(2) ? "mixtral-8x7b" : "deepseek-v3");
  s.model.n_layers =
      dice.pick(std::max(2, s.model.moe.n_dense_layers + 1), std::max(12, s.model.moe.n_dense_layers + 4));
  s.model.local_attention.n_local_layers = std::min(s.model.local_attention.n_local_layers, s.model.n_layers);
  random_small_cluster(dice, s);
  random_assumptions(dice, s);
  s.workload.global_batch_sequences = dice.one_in(3) ? dice.pick(1, 3) * dice.power(5) : 32 * dice.power(2);
  s.workload.sequence_length = 1024 * dice.power(3);
  s.parallelism.expert_tensor = dice.one_in(3) ? dice.power(2) : 0;
  s.precision.compute = Dtype::bf16;
  if (s.cluster.chip[ChipField::peak_fp8_dense_flops_per_s].value && dice.one_in(6)) s.precision.compute = Dtype::fp8;
  if (dice.one_in(4)) s.cluster.chip[ChipField::price_usd_per_chip_hour].value = dice.pick(1, 9) / 2.0;
  return s;
}

Allowed random_subset(Dice& dice, const std::vector<int>& values) {
  Allowed out{0, std::numeric_limits<int>::max(), {}};
  for (const int value : values)
    if (dice.one_in(2)) out.only.push_back(value);
  if (out.only.empty()) out.only.push_back(any_of(dice, values));
  return out;
}

std::vector<int> numbers_to(int last) {
  std::vector<int> out;
  for (int i = 0; i <= last; ++i) out.push_back(i);
  return out;
}

// Random constraints, and more of them until the space is small.
SearchRequest random_request(Dice& dice, const Scenario& s) {
  SearchRequest request;
  request.space = space_of(s);
  request.objective = static_cast<Objective>(dice.pick(0, 3));
  request.merge_alike = dice.one_in(2);
  request.limit = static_cast<std::size_t>(dice.one_in(8) ? 0 : dice.pick(1, 30));
  request.cells = dice.one_in(2);
  request.space.tensor_across_nodes = dice.one_in(3);
  if (dice.one_in(3)) request.space.runs_on = static_cast<Framework>(dice.pick(0, static_cast<int>(kFrameworks) - 1));
  request.space.min_free = dice.one_in(3) ? dice.pick(1, 30) / 100.0 : 0;
  const int chips_there = static_cast<int>(chip_count(s.cluster));
  using Limit = Allowed PlanSpace::*;
  const std::vector<std::pair<Limit, std::vector<int>>> limits{
      {&PlanSpace::tensor, divisors(chips_there)},
      {&PlanSpace::context, divisors(chips_there)},
      {&PlanSpace::pipeline, divisors(chips_there)},
      {&PlanSpace::fsdp, divisors(chips_there)},
      {&PlanSpace::expert, divisors(64)},
      {&PlanSpace::microbatch, {1, 2, 3, 4, 8}},
      {&PlanSpace::zero_stage, numbers_to(3)},
      {&PlanSpace::sequence_parallel, {0, 1}},
      {&PlanSpace::schedule, numbers_to(kScheduleKinds - 1)},
      {&PlanSpace::policy, numbers_to(kCheckpointPolicies - 1)},
      {&PlanSpace::offload_optimizer, {0, 1}},
      {&PlanSpace::offload_activations, {0, 1}},
      {&PlanSpace::virtual_stages, {1, 2, 3, 4}}};
  const bool no_host = !s.cluster.chip[ChipField::host_pcie_bytes_per_s_per_chip].value;
  const auto restrict_one = [&] {
    const auto& [limit, values] = any_of(dice, limits);
    if (no_host && (limit == &PlanSpace::offload_optimizer || limit == &PlanSpace::offload_activations)) return;
    request.space.*limit = random_subset(dice, values);
  };
  for (int i = dice.pick(0, 3); i > 0; --i) restrict_one();
  while (tests::Enumeration(s, request).count() > kMostPlans) restrict_one();
  return request;
}

// Memory of the chip so that some plans fit and some do not.
void fit_some(Dice& dice, Scenario& s, const SearchRequest& request) {
  std::vector<Plan> plans;
  tests::Enumeration space(s, request);
  space.each([&](const Plan& plan) { plans.push_back(plan); });
  std::vector<double> bytes;
  for (int i = 0; i < 40 && bytes.size() < 9 && !plans.empty(); ++i) {
    const tests::EnumeratedPlan one = space.evaluated(any_of(dice, plans));
    if (!one.has_errors) bytes.push_back(one.ranked.memory_bytes);
  }
  if (bytes.empty()) return;
  std::sort(bytes.begin(), bytes.end());
  s.cluster.chip[ChipField::hbm_bytes].value = bytes[bytes.size() / 2] * dice.pick(8, 20) / 10;
}

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || a == b; }
bool same(const RankedPlan& a, const RankedPlan& b) {
  bool parts = true;
  for (std::size_t i = 0; i < a.step_parts.size(); ++i) parts = parts && same(a.step_parts[i], b.step_parts[i]);
  return parts && a.plan == b.plan && same(a.step_time_s, b.step_time_s) && same(a.memory_bytes, b.memory_bytes) &&
         same(a.mfu, b.mfu) && same(a.tokens_per_s_per_chip, b.tokens_per_s_per_chip) &&
         (same(a.cost_usd, b.cost_usd) || (std::isnan(a.cost_usd) && std::isnan(b.cost_usd)));
}
bool same_row(const RankedPlan& a, const RankedPlan& b) {
  return same(a, b) && a.alike == b.alike && a.least_alike == b.least_alike &&
         same(a.least_alike_bytes, b.least_alike_bytes);
}
bool same(const SearchCell& a, const SearchCell& b) {
  return a.tensor == b.tensor && a.pipeline == b.pipeline && a.plans == b.plans && a.fit == b.fit &&
         a.best.has_value() == b.best.has_value() && (!a.best || same(*a.best, *b.best)) && a.reason == b.reason &&
         same(a.missing_bytes, b.missing_bytes) && a.rejected == b.rejected;
}

// Where two results differ first; empty: nowhere. `length`: of the list.
std::string difference(const SearchResult& a, const SearchResult& b, std::size_t length) {
  if (a.plans != b.plans) return "plans";
  for (std::size_t i = 0; i < kRejections; ++i)
    if (a.rejected[i] != b.rejected[i])
      return "rejected " + std::string(kRejectionIds.ids()[i]) + " " + std::to_string(a.rejected[i]) + " " +
             std::to_string(b.rejected[i]);
  if (a.fit != b.fit) return "fit";
  if (std::min(a.best.size(), length) != std::min(b.best.size(), length)) return "length of the list";
  for (std::size_t i = 0; i < std::min(a.best.size(), length); ++i)
    if (!same_row(a.best[i], b.best[i]))
      return "row " + std::to_string(i) + ": " + std::to_string(a.best[i].step_time_s) + " " +
             std::to_string(b.best[i].step_time_s);
  if (a.front.size() != b.front.size()) return "length of the front";
  for (std::size_t i = 0; i < a.front.size(); ++i)
    if (!same(a.front[i], b.front[i])) return "front " + std::to_string(i);
  if (a.near_miss.has_value() != b.near_miss.has_value())
    return "near miss: " + (a.near_miss ? std::to_string(a.near_miss->plan.step_time_s) : "none") + " " +
           (b.near_miss ? std::to_string(b.near_miss->plan.step_time_s) : "none") + " where the fastest takes " +
           (a.front.empty() ? "nothing" : std::to_string(a.front.back().step_time_s));
  if (a.near_miss && !same(a.near_miss->plan, b.near_miss->plan)) return "the near miss";
  if (a.near_miss && !same(a.near_miss->shortage.missing_bytes, b.near_miss->shortage.missing_bytes))
    return "what the near miss lacks";
  if (a.cells.size() != b.cells.size()) return "number of cells";
  for (std::size_t i = 0; i < a.cells.size(); ++i)
    if (!same(a.cells[i], b.cells[i]))
      return "cell tensor " + std::to_string(a.cells[i].tensor) + " pipeline " + std::to_string(a.cells[i].pipeline);
  return {};
}

SearchResult searched(const Scenario& s, const SearchRequest& request, std::size_t workers) {
  return search(s, request, nullptr, workers, [workers](const std::function<void(std::size_t)>& work) {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < workers; ++i) threads.emplace_back(work, i);
  });
}

}  // namespace

TEST_CASE("of a small space a search finds what evaluating every plan finds, in every mode") {
  std::mt19937 rng(16);
  std::array<int, 3> modes{}, families{};
  int some_fit = 0, none_fit = 0, near = 0, cells = 0, ranks = 0, several_software = 0, launched = 0;
  double plans = 0;
  const int spaces = spaces_to_try();
  for (int i = 0; i < spaces;) {
    CAPTURE(i);
    Dice dice(rng);
    Scenario s = random_small_scenario(rng);
    SearchRequest request = random_request(dice, s);
    fit_some(dice, s, request);
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

    // Other workers and another length: the same, as far as it goes.
    SearchRequest shorter = request;
    shorter.limit = static_cast<std::size_t>(dice.pick(0, static_cast<int>(request.limit)));
    const SearchResult again = searched(s, shorter, workers % 3 + 1);
    REQUIRE_MESSAGE(difference(again, found, shorter.limit).empty(), difference(again, found, shorter.limit));

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
  CHECK(launched > spaces / 50);
  CHECK(several_software > spaces / 10);
}
