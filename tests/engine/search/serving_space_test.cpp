// Search of serving plans against an enumeration of the space by evaluate(), over many random small scenarios: chips
// with a torus and with switches, ideal and calibrated, each objective, with and without a promise and arrivals,
// prefill on the same chips and on its own. Everything is compared, to the bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/frameworks/rules.h"
#include "engine/search/serving_search.h"
#include "engine/serving/serving_inputs.h"
#include "tests/cases_to_try.h"
#include "tests/engine/search/search_fixture.h"
#include "tests/engine/serving_fixture.h"

using namespace roofscape;
using namespace roofscape::engine;

namespace {

constexpr int kCases = tests::cases_to_try(400);
constexpr int kMostBatch = 96;

struct Small {
  Scenario scenario;
  ServingRequest request;
};

// At most 16 chips that decode, so that all batches of all meshes can be looked at.
Small random_small(std::mt19937& rng, int number) {
  tests::Dice dice(rng);
  Small out;
  Scenario& s = out.scenario;
  do {
    s = tests::random_serving_scenario(rng);
    auto& p = s.parallelism;
    p.data = dice.power(2), p.tensor = dice.power(2), p.pipeline = dice.power(1), p.expert = 1;
    p.context = dice.one_in(6) ? 2 : 1, p.fsdp = 1, p.expert_tensor = 0;
    if (s.serving.disaggregated) s.serving.prefill = {dice.power(1), 1, 1, 1, 1};
    Cluster& c = s.cluster;
    const int chips = static_cast<int>(serving_chips(s));
    if (c.chip.interconnect == Interconnect::torus) {
      c.slices = 1, c.slice.fill(1);
      c.slice[0] = chips > 4 ? 4 : chips, c.slice[1] = std::max(1, (chips + 3) / 4);
    } else {
      c.node_size = std::min(8, std::max(1, chips)), c.nodes = (chips + c.node_size - 1) / c.node_size;
      if (dice.one_in(4)) c.nodes = dice.pick(1, std::max(1, 16 / c.node_size));
      if (dice.one_in(6)) c.node_size = dice.pick(1, 7);
    }
  } while (s.model.n_heads % s.parallelism.tensor != 0);
  s.assumptions.mode = number % 2 == 0 ? Mode::calibrated : Mode::ideal;
  s.workload.batch = dice.pick(1, kMostBatch);
  // A limit drawn at random seldom lies among the times of the space; that of the plan itself does.
  if (number % 8 == 0)
    if (const auto own = evaluate(s).quantities[Q::mixed_token_time_q]) s.workload.slo.time_per_output_token_s = *own;
  ServingRequest& r = out.request;
  r = serving_request_of(s);
  r.batch.max = kMostBatch;
  if (dice.one_in(4)) r.batch.min = dice.pick(1, 20);
  if (dice.one_in(5)) r.batch.only = {double(dice.pick(1, 50)), double(dice.pick(1, 50)), 8};
  if (dice.one_in(4)) r.min_free = 0.1;
  if (dice.one_in(4)) r.pipeline.max = 1;
  if (dice.one_in(6)) r.tensor.only = {1, 2, 8};
  r.objective = static_cast<ServingObjective>(dice.pick(0, 2));
  r.merge_alike = dice.one_in(3);
  r.limit = 1000;
  constexpr Framework kServers[] = {Framework::vllm, Framework::sglang, Framework::trtllm};
  if (dice.one_in(4)) out.request.runs_on = kServers[static_cast<std::size_t>(number) % std::size(kServers)];
  return out;
}

struct Priced {
  DecodingPlan plan;
  double token_s = 0, ttft_s = 0, tokens_per_s = 0, per_chip = 0, bytes = 0, decode_token_s = 0, in_flight = 0;
  std::optional<ServingRejection> rejected;
};

std::optional<Priced> priced(const Small& small, const DecodingPlan& plan) {
  Scenario s = small.scenario;
  apply(s, plan);
  const Report r = evaluate(s);
  const auto q = [&r](Q id) { return r.quantities.value_or(id, 0); };
  if (r.has_errors() || !(q(Q::mixed_token_time_q) > 0)) return {};
  Priced out{plan,
             q(Q::mixed_token_time_q),
             q(Q::ttft),
             q(Q::sustained_tokens),
             q(Q::sustained_tokens_per_chip),
             q(Q::memory_total),
             q(Q::time_per_output_token),
             q(Q::steady_batch),
             {}};
  const ServingRequest& w = small.request;
  if (out.bytes > q(Q::hbm_capacity) * (1 - w.min_free))
    out.rejected = ServingRejection::memory;
  else if (w.most_token_s > 0 && out.token_s > w.most_token_s)
    out.rejected = ServingRejection::token_time;
  else if (w.most_ttft_s > 0 && out.ttft_s > w.most_ttft_s)
    out.rejected = ServingRejection::ttft;
  return out;
}

struct Enumerated {
  std::vector<Priced> all, best, front;
  std::array<double, kServingRejections> rejected{};
  double plans = 0;
};

bool ranks_before(const Priced& a, const Priced& b, ServingObjective objective) {
  const auto key = [objective](const Priced& p) {
    const double first = objective == ServingObjective::throughput   ? -p.tokens_per_s
                         : objective == ServingObjective::token_time ? p.token_s
                                                                     : p.bytes;
    return std::tuple(first, p.token_s, -p.tokens_per_s, p.bytes, p.ttft_s, p.plan.pipeline, p.plan.tensor,
                      p.plan.expert, p.plan.batch, p.plan.data);
  };
  return key(a) < key(b);
}

Enumerated enumerate(const Small& small) {
  const Scenario& s = small.scenario;
  const ServingRequest& w = small.request;
  Enumerated out;
  const Parallelism& own = s.parallelism;
  const int chips = s.serving.disaggregated ? own.data * own.fsdp * own.tensor * own.pipeline
                                            : static_cast<int>(chip_count(s.cluster)) / own.context;
  const int experts = s.model.is_moe() ? s.model.moe.n_routed_experts : 1;
  const auto reject = [&out](ServingRejection why) {
    out.plans += 1;
    out.rejected[static_cast<std::size_t>(why)] += 1;
  };
  const auto mesh = [&](DecodingPlan plan) {
    if (s.model.n_heads % plan.tensor != 0) return reject(ServingRejection::heads);
    if (plan.pipeline > s.model.n_layers) return reject(ServingRejection::layers);
    if (w.runs_on) {
      Scenario asked = s;
      apply(asked, plan);
      if (broken_rule(*w.runs_on, asked) != nullptr) return reject(ServingRejection::runs_on);
    }
    const int ranks = plan.data * plan.pipeline;
    std::map<int, Priced> batches;  // every one that may be
    bool legal = true;
    const auto add = [&](int batch) {
      plan.batch = batch;
      const auto one = priced(small, plan);
      if (one)
        batches.emplace(batch, *one);
      else
        legal = false;
    };
    std::vector<int> taken;
    if (!w.batch.only.empty()) {
      bool small_ones = false;
      for (const double batch : w.batch.only)
        if (batch >= plan.data)
          add(static_cast<int>(batch)), taken.push_back(static_cast<int>(batch));  // fewer than stages run
        else
          small_ones = true;
      if (small_ones) reject(ServingRejection::mesh);
      std::sort(taken.begin(), taken.end());
      taken.erase(std::unique(taken.begin(), taken.end()), taken.end());
    } else {
      for (int batch = ranks; batch <= w.batch.max; batch += ranks)
        if (batch >= w.batch.min) add(batch);
    }
    if (!legal) return reject(ServingRejection::mesh);
    if (w.batch.only.empty()) {
      int beyond = 0;
      for (int batch = ranks; batch <= w.batch.max && beyond < 2; batch *= 2) {
        if (batch < w.batch.min) continue;
        taken.push_back(batch);
        if (batches.at(batch).rejected == ServingRejection::memory) ++beyond;
      }
      int largest = 0;
      for (const auto& [batch, one] : batches)
        if (!one.rejected) largest = batch;
      if (largest > 0 && std::find(taken.begin(), taken.end(), largest) == taken.end()) taken.push_back(largest);
    }
    for (const int batch : taken) {
      const Priced& one = batches.at(batch);
      if (one.rejected)
        reject(*one.rejected);
      else
        out.plans += 1;
      out.all.push_back(one);
    }
  };
  for (const int used :
       s.serving.disaggregated ? std::vector{chips} : tests::simplest_numbers(chips, [](int) { return true; }))
    for (int tensor = 1; tensor <= used; ++tensor)
      for (int pipeline = 1; used % tensor == 0 && pipeline <= used / tensor; ++pipeline) {
        if (used / tensor % pipeline != 0 || !w.tensor.allows(tensor) || !w.pipeline.allows(pipeline)) continue;
        for (int expert = 1; expert <= experts; ++expert)
          if (experts % expert == 0) mesh({used / tensor / pipeline, tensor, expert, pipeline, 1});
      }
  for (const Priced& one : out.all)
    if (!one.rejected) out.best.push_back(one);
  std::sort(out.best.begin(), out.best.end(),
            [&](const Priced& a, const Priced& b) { return ranks_before(a, b, w.objective); });
  std::vector<Priced> by_time = out.best;
  std::sort(by_time.begin(), by_time.end(),
            [](const Priced& a, const Priced& b) { return ranks_before(a, b, ServingObjective::token_time); });
  for (const Priced& one : by_time)
    if (out.front.empty() || one.tokens_per_s > out.front.back().tokens_per_s) out.front.push_back(one);
  if (w.merge_alike) {
    std::vector<Priced> kept;
    for (const Priced& one : out.best)
      if (std::none_of(kept.begin(), kept.end(), [&one](const Priced& k) {
            DecodingPlan at_batch = k.plan;
            at_batch.batch = one.plan.batch;
            return at_batch == one.plan && k.token_s <= one.token_s && k.ttft_s <= one.ttft_s &&
                   k.tokens_per_s >= one.tokens_per_s && k.bytes <= one.bytes;
          }))
        kept.push_back(one);
    out.best = kept;
  }
  return out;
}

bool same(const RankedDecoding& a, const Priced& b) {
  return a.plan == b.plan && a.token_s == b.token_s && a.ttft_s == b.ttft_s && a.tokens_per_s == b.tokens_per_s &&
         a.tokens_per_s_per_chip == b.per_chip && a.chip_bytes == b.bytes && a.decode_token_s == b.decode_token_s &&
         a.in_flight == b.in_flight && a.rejected == b.rejected;
}
bool same(const RankedDecoding& a, const RankedDecoding& b) {
  return a.plan == b.plan && a.token_s == b.token_s && a.ttft_s == b.ttft_s && a.chip_bytes == b.chip_bytes &&
         a.outdone == b.outdone;
}

}  // namespace

TEST_CASE("the search of a serving space is its enumeration by evaluate, to the bit") {
  std::mt19937 rng(16);
  int listed = 0, promised = 0, apart = 0;
  for (int number = 0; number < kCases; ++number) {
    CAPTURE(number);
    const Small small = random_small(rng, number);
    const Enumerated expected = enumerate(small);
    const ServingSearchResult found = search_serving(small.scenario, small.request);
    CHECK(found.plans == expected.plans);
    CHECK(found.rejected == expected.rejected);
    REQUIRE(found.best.size() == expected.best.size());
    for (std::size_t i = 0; i < found.best.size(); ++i) REQUIRE(same(found.best[i], expected.best[i]));
    REQUIRE(found.front.size() == expected.front.size());
    for (std::size_t i = 0; i < found.front.size(); ++i) REQUIRE(same(found.front[i], expected.front[i]));
    for (const ServingCell& cell : found.cells) {
      const Priced* best = nullptr;
      for (const Priced& one : expected.all)
        if (!one.rejected && one.plan.tensor == cell.tensor && one.plan.pipeline == cell.pipeline &&
            (best == nullptr || ranks_before(one, *best, small.request.objective)))
          best = &one;
      REQUIRE(cell.best.has_value() == (best != nullptr));
      if (best != nullptr) REQUIRE(same(*cell.best, *best));
    }
    // The present plan is what evaluate() says of the scenario.
    const Report own = evaluate(small.scenario);
    REQUIRE(found.present_legal == !own.has_errors());
    if (found.present_legal) {
      CHECK(found.present.token_s == *own.quantities[Q::mixed_token_time_q]);
      CHECK(found.capacity_bytes == *own.quantities[Q::hbm_capacity]);
      if (small.request.min_free == 0) CHECK(found.present_fits == own.fits());
    }
    // A shorter list is the beginning of a longer one, with any number of threads.
    ServingRequest shorter = small.request;
    shorter.limit = 3;
    const ServingSearchResult few = search_serving(small.scenario, shorter, nullptr, tests::three_threads);
    REQUIRE(few.best.size() == std::min<std::size_t>(3, found.best.size()));
    for (std::size_t i = 0; i < few.best.size(); ++i) REQUIRE(same(few.best[i], found.best[i]));
    listed += static_cast<int>(found.best.size());
    promised += found.rejected[static_cast<std::size_t>(ServingRejection::token_time)] > 0;
    apart += small.scenario.serving.disaggregated && !found.best.empty();
  }
  CHECK(listed > 5 * kCases);
  CHECK(promised >= kCases / 50);
  CHECK(apart > kCases / 20);
}
