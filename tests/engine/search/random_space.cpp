#include "tests/engine/search/random_space.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include <doctest/doctest.h>

#include "engine/base/divisors.h"
#include "engine/scenario/checkpoint_policies.h"
#include "engine/scenario/mesh_size.h"
#include "tests/cases_to_try.h"
#include "tests/engine/search/search_enumeration.h"

namespace roofscape::tests {

using namespace engine;

namespace {

constexpr std::size_t kMostPlans = 1000;  // of a space that is evaluated as a whole

// That have what any plan needs.
const std::vector<const Chip*>& chips() {
  static const std::vector<const Chip*> all = [] {
    std::vector<const Chip*> out;
    for (const auto& entry : library().list(io::PresetKind::chip)) {
      const Chip& chip = *library().find_chip(entry.id);
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
    // Of what was drawn before, so that the other scenarios stay what they were.
    if (row.parameter == Calibrated::logit_bytes) {
      a.custom.values[i] = a.overlap == 1 ? row.ideal : a.overlap * row.most;
      continue;
    }
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

}  // namespace

int spaces_to_try() {
  const char* asked = std::getenv("ROOFSCAPE_SEARCH_SPACES");
  return asked != nullptr ? std::atoi(asked) : cases_to_try(100);
}

// Any model on any chip, few layers and few chips; memory about as large as what its plans take.
Scenario random_small_scenario(std::mt19937& rng) {
  Dice dice(rng);
  Scenario s = random_scenario(rng);
  if (dice.one_in(3)) s.model = *library().find_model(dice.one_in(2) ? "mixtral-8x7b" : "deepseek-v3");
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
  if (dice.one_in(2)) {
    const auto try_values = [&](std::vector<double> PlanSpace::*setting, const std::vector<int>& values) {
      if (dice.one_in(3)) request.space.*setting = random_subset(dice, values).only;
    };
    try_values(&PlanSpace::keep_gathered, {0, 1, 2});
    try_values(&PlanSpace::context_method, {0, 1, 2});
    try_values(&PlanSpace::expert_tensor, {0, 1, 2, 4});
    try_values(&PlanSpace::group_size, {0, 1, 2, 4, 6, 8});
    try_values(&PlanSpace::embedding_as_layers, {0, 1});
    try_values(&PlanSpace::head_as_layers, {0, 1, 2});
    try_values(&PlanSpace::rank_order, {0, 1, 2});
    if (dice.one_in(3)) request.space.optimizer_fraction = {0, dice.pick(1, 9) / 10.0, 1};
    // Of three mesh axes three places each, or fewer; each mesh has few that differ.
    const std::vector places{&PlanSpace::data_on,    &PlanSpace::fsdp_on,   &PlanSpace::tensor_on,
                             &PlanSpace::context_on, &PlanSpace::expert_on, &PlanSpace::pipeline_on};
    for (int i = 0; i < 3; ++i)
      if (dice.one_in(2))
        request.space.*
            any_of(dice, places) = {double(dice.pick(0, 7)), double(dice.pick(0, 7)), double(dice.pick(0, 7))};
  }
  for (int i = dice.pick(0, 3); i > 0; --i) restrict_one();
  while (Enumeration(s, request).count() > kMostPlans) restrict_one();
  return request;
}

// Memory of the chip so that some plans fit and some do not.
void fit_some(Dice& dice, Scenario& s, const SearchRequest& request) {
  std::vector<Plan> plans;
  Enumeration space(s, request);
  space.each([&](const Plan& plan) { plans.push_back(plan); });
  std::vector<double> bytes;
  for (int i = 0; i < 40 && bytes.size() < 9 && !plans.empty(); ++i) {
    const EnumeratedPlan one = space.evaluated(any_of(dice, plans));
    if (!one.has_errors) bytes.push_back(one.ranked.memory_bytes);
  }
  if (bytes.empty()) return;
  std::sort(bytes.begin(), bytes.end());
  s.cluster.chip[ChipField::hbm_bytes].value = bytes[bytes.size() / 2] * dice.pick(8, 20) / 10;
}

void take_another_plan(Dice& dice, Scenario& s, const SearchRequest& request) {
  std::vector<Plan> plans;
  const double chips = mesh_chips(s.parallelism);
  Enumeration(s, request).each([&](const Plan& plan) {
    if (mesh_chips(plan) == chips) plans.push_back(plan);
  });
  if (plans.empty()) return;
  Plan plan = any_of(dice, plans);
  // Read where there is nothing to split or to schedule.
  plan.schedule = s.pipeline.schedule, plan.sequence_parallel = s.parallelism.sequence_parallel;
  apply_choices(s, plan);
}

void apply_choices(Scenario& s, const Plan& plan) {
  const Plan own = bare_plan(s);
  apply(s, plan);
  s = with_settings_of(std::move(s), own);
}

namespace {

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

}  // namespace

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

std::string difference_of_present(const SearchResult& a, const SearchResult& b) {
  if (!same(a.present, b.present)) return "the present plan";
  if (a.present_legal != b.present_legal) return "whether it is legal";
  if (a.present_rank != b.present_rank)
    return "its rank: " + std::to_string(a.present_rank) + " " + std::to_string(b.present_rank);
  if (a.present_shortage.device != b.present_shortage.device || a.present_shortage.part != b.present_shortage.part ||
      !same(a.present_shortage.missing_bytes, b.present_shortage.missing_bytes))
    return "its shortage";
  if (a.present_breaks.has_value() != b.present_breaks.has_value() ||
      (a.present_breaks && a.present_breaks->kind != b.present_breaks->kind))
    return "what it breaks";
  return {};
}

SearchResult searched(const Scenario& s, const SearchRequest& request, std::size_t workers,
                      const std::vector<Plan>& seeds) {
  const SearchWorkers threads = [workers](const std::function<void(std::size_t)>& work) {
    std::vector<std::jthread> team;
    for (std::size_t i = 0; i < workers; ++i) team.emplace_back(work, i);
  };
  SearchMemory memory{.seeds = seeds, .listed = {}, .orders = {}};
  // Told its list or not, before all else is known: it finds the same, and the list is what it finds.
  if (workers % 2 == 0) return search(s, request, nullptr, workers, threads, &memory);
  std::optional<SearchResult> list;
  SearchResult found =
      search(s, request, nullptr, workers, threads, &memory, [&list](const SearchResult& told) { list = told; });
  REQUIRE(list.has_value());
  REQUIRE(list->extent == SearchResult::Extent::listed);
  REQUIRE(list->finished);
  SearchResult whole = *list;  // with what a list does not say
  whole.plans = found.plans, whole.rejected = found.rejected, whole.fit = found.fit;
  whole.sample = found.sample, whole.near_miss = found.near_miss, whole.cells = found.cells;
  REQUIRE_MESSAGE(difference(whole, found, request.limit).empty(), difference(whole, found, request.limit));
  REQUIRE(whole.best.size() == found.best.size());
  for (const SearchCell& cell : list->cells) {
    const auto same = [&cell](const SearchCell& c) { return c.tensor == cell.tensor && c.pipeline == cell.pipeline; };
    const auto of_found = std::ranges::find_if(found.cells, same);
    REQUIRE(of_found != found.cells.end());
    REQUIRE(of_found->best);
    REQUIRE(of_found->best->step_time_s == cell.best->step_time_s);
    if (!request.merge_alike) REQUIRE(of_found->best->plan == cell.best->plan);
  }
  return found;
}

}  // namespace roofscape::tests
