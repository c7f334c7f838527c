// Search: the best plans of a space, and what is said about the others.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <stop_token>
#include <thread>

#include "engine/evaluate/evaluate.h"
#include "engine/inputs/placement.h"
#include "engine/search/candidates.h"
#include "engine/search/search.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/search/search_fixture.h"
#include "tests/english.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::preset;

namespace {

// A space small enough to evaluate every plan of it.
Scenario small_scenario() {
  Scenario s = preset("llama3-8b-8-h100");
  s.cluster.nodes = 4;
  s.workload.global_batch_sequences = 64;
  return s;
}

SearchRequest request_with(const Scenario& s,
                           std::initializer_list<std::pair<std::string_view, std::string_view>> pins) {
  SearchRequest request;
  request.space = space_of(s);
  for (const auto& [name, value] : pins) REQUIRE_FALSE(constrain(request.space, name, value, ConstraintKind::pinned));
  return request;
}

struct Brute {
  double step, memory;
  Plan plan;
};
// Every plan of the space by plain loops and evaluate(), of those without an error that fit.
std::vector<Brute> brute_force(const Scenario& s, const SearchRequest& request) {
  const SpaceChoices choices(s, request.space);
  std::vector<Brute> out;
  EvaluationScratch scratch;
  Report report;
  Scenario other = s;
  for (const auto& group : choices.groups)
    for (const int pipeline : choices.data_divisors)
      for (const int fsdp : choices.data_divisors) {
        Plan plan = group.mesh;
        if (plan.tensor > s.cluster.node_size) continue;
        const int rest = group.mesh.data;  // what data, fsdp and pipeline share
        if (rest % pipeline != 0 || rest / pipeline % fsdp != 0) continue;
        plan.pipeline = pipeline, plan.fsdp = fsdp, plan.data = rest / pipeline / fsdp;
        for (const int zero : choices.zero_stages(plan.fsdp, plan.context))
          for (const bool sp : choices.sequence_parallel(plan.tensor))
            for (const int mb : choices.microbatches)
              for (const CheckpointPolicy policy : choices.policies)
                for (const auto& [kind, v] : choices.chunkings(plan.pipeline))
                  for (const bool offo : choices.offload_optimizer)
                    for (const bool offa : choices.offload_activations) {
                      plan.zero_stage = static_cast<std::uint8_t>(zero), plan.sequence_parallel = sp;
                      plan.microbatch_sequences = mb, plan.policy = policy, plan.schedule = kind;
                      plan.virtual_stages = v, plan.offload_optimizer = offo, plan.offload_activations = offa;
                      apply(other, plan);
                      evaluate(other, scratch, report);
                      if (report.has_errors() || !report.fits()) continue;
                      out.push_back({*report.quantities[Q::step_time], *report.quantities[Q::memory_total], plan});
                    }
      }
  return out;
}

}  // namespace

TEST_CASE("search finds the plans that evaluating every plan of the space finds") {
  const Scenario s = small_scenario();
  const SearchRequest request = request_with(s, {{"schedule", "1f1b,interleaved-1f1b,zb-h1,gpipe,zb-v,dualpipe"}});
  const SearchResult result = search(s, request);
  REQUIRE(result.finished);
  std::vector<Brute> all = brute_force(s, request);
  CHECK(result.fit == double(all.size()));
  std::sort(all.begin(), all.end(), [](const Brute& a, const Brute& b) {
    return std::tie(a.step, a.memory, a.plan) < std::tie(b.step, b.memory, b.plan);
  });
  REQUIRE(result.best.size() == request.limit);
  for (std::size_t i = 0; i < result.best.size(); ++i) {
    CHECK(result.best[i].step_time_s == all[i].step);
    CHECK(result.best[i].plan == all[i].plan);
  }
  // The front: in ascending memory each is faster than all before it.
  std::sort(all.begin(), all.end(), [](const Brute& a, const Brute& b) {
    return std::tie(a.memory, a.step, a.plan) < std::tie(b.memory, b.step, b.plan);
  });
  std::vector<Brute> front;
  for (const Brute& b : all)
    if (front.empty() || b.step < front.back().step) front.push_back(b);
  REQUIRE(result.front.size() == front.size());
  for (std::size_t i = 0; i < front.size(); ++i) CHECK(result.front[i].plan == front[i].plan);
}

TEST_CASE("merged, the list has of plans alike in mesh, schedule and time one, the simplest, and counts the others") {
  const Scenario s = small_scenario();
  SearchRequest request = request_with(s, {{"schedule", "1f1b,zb-h1"}});
  request.merge_alike = true;
  for (const Objective objective : {Objective::step_time, Objective::memory}) {
    request.objective = objective;
    const SearchResult result = search(s, request);
    std::map<std::tuple<double, double, Plan>, std::vector<Brute>> groups;
    for (const Brute& b : brute_force(s, request))
      groups[{objective == Objective::memory ? b.memory : b.step, b.step, shape_without_knobs(b.plan)}].push_back(b);
    REQUIRE(result.best.size() == request.limit);
    std::set<std::tuple<double, double, Plan>> seen;
    double worst = 0;
    for (const RankedPlan& one : result.best) {
      const double score = objective == Objective::memory ? one.memory_bytes : one.step_time_s;
      const std::tuple key{score, one.step_time_s, shape_without_knobs(one.plan)};
      CHECK(seen.insert(key).second);
      const auto& group = groups.at(key);
      CHECK(one.alike == static_cast<int>(group.size()) - 1);
      const auto offloads = [](const Plan& p) { return int{p.offload_optimizer} + int{p.offload_activations}; };
      double least = group.front().memory;
      for (const Brute& b : group) {
        least = std::min(least, b.memory);
        CHECK(offloads(one.plan) <= offloads(b.plan));
      }
      CHECK(one.least_alike_bytes == least);
      CHECK(score >= worst);
      worst = score;
    }
    // No group is left out that is better than the last of the list.
    std::size_t better = 0;
    for (const auto& [key, group] : groups) better += std::get<0>(key) < worst;
    CHECK(better <= result.best.size());
    for (const auto& [key, group] : groups)
      if (std::get<0>(key) < worst) CHECK(seen.count(key) == 1);
  }
}

TEST_CASE("a present plan that a simpler one stands for has its rank") {
  Scenario s = small_scenario();
  SearchRequest request = request_with(s, {{"schedule", "1f1b"}});
  request.merge_alike = true;
  const SearchResult result = search(s, request);
  const auto row = std::find_if(result.best.begin(), result.best.end(),
                                [](const RankedPlan& one) { return one.least_alike != one.plan; });
  REQUIRE(row != result.best.end());
  apply(s, row->least_alike);
  const Report smallest = evaluate(s);
  REQUIRE(*smallest.quantities[Q::step_time] == row->step_time_s);
  CHECK(*smallest.quantities[Q::memory_total] == row->least_alike_bytes);
  CHECK(search(s, request).present_rank == row - result.best.begin() + 1);
}

TEST_CASE("merged or not, the best and the front are as good, whoever searched") {
  const Scenario s = preset("llama3-70b-v5p-pod");
  SearchRequest request = request_with(s, {{"schedule", "1f1b,zb-h1"}, {"microbatch", "1,2"}});
  const SearchResult every = search(s, request);
  request.merge_alike = true;
  const SearchResult one = search(s, request);
  const SearchResult three = search(s, request, nullptr, 3, tests::three_threads);
  CHECK(one.best.front().step_time_s == every.best.front().step_time_s);
  REQUIRE(one.best.size() == three.best.size());
  for (std::size_t i = 0; i < one.best.size(); ++i) {
    CHECK(one.best[i].plan == three.best[i].plan);
    CHECK(one.best[i].alike == three.best[i].alike);
  }
  REQUIRE(one.front.size() == every.front.size());
  REQUIRE(three.front.size() == every.front.size());
  for (std::size_t i = 0; i < one.front.size(); ++i) {
    CHECK(one.front[i].plan == every.front[i].plan);
    CHECK(three.front[i].plan == every.front[i].plan);
  }
}

TEST_CASE("a limit of a space is broken only by plans it would admit without, and by choices that mean something") {
  const Scenario s = small_scenario();
  Plan plan = plan_of(s);
  plan.pipeline = 1, plan.tensor = 4, plan.schedule = ScheduleKind::gpipe;
  PlanSpace space = space_of(s);
  CHECK_FALSE(broken_limit(s, space, plan));
  space.schedule = {0, kScheduleKinds - 1, {static_cast<int>(ScheduleKind::zb_h1)}};
  CHECK_FALSE(broken_limit(s, space, plan));  // one stage has no schedule
  plan.pipeline = 2;
  CHECK(broken_limit(s, space, plan)->dimension == "schedule");
  space.tensor.max = 2;
  CHECK(broken_limit(s, space, plan)->dimension == "tensor");
  CHECK(broken_limit(s, space, plan)->allowed.max == 2);
  plan.tensor = 2 * s.cluster.node_size;
  CHECK(broken_limit(s, space_of(s), plan)->dimension == "tensor_nodes");
}

TEST_CASE("a search has the same result with one worker and with three") {
  const Scenario s = preset("llama3-70b-v5p-pod");
  SearchRequest request = request_with(s, {{"schedule", "1f1b,zb-h1"}, {"microbatch", "1,2"}});
  const SearchResult one = search(s, request);
  const SearchResult three = search(s, request, nullptr, 3, tests::three_threads);
  CHECK(one.plans == three.plans);
  CHECK(one.rejected == three.rejected);
  REQUIRE(one.best.size() == three.best.size());
  for (std::size_t i = 0; i < one.best.size(); ++i) CHECK(one.best[i].plan == three.best[i].plan);
  REQUIRE(one.front.size() == three.front.size());
  for (std::size_t i = 0; i < one.front.size(); ++i) CHECK(one.front[i].plan == three.front[i].plan);
}

TEST_CASE("where the plan leaves chips idle, meshes of as many chips as it has are searched too") {
  const Scenario s = preset("llama3-70b-v5p-pod");  // 8192 of 8960 chips
  const SearchResult result = search(s, request_with(s, {{"schedule", "1f1b"}, {"microbatch", "1"}}));
  REQUIRE(result.present_legal);
  CHECK(result.present_shortage.missing_bytes == 0);
  CHECK(result.best.front().step_time_s <= result.present.step_time_s);
  CHECK(result.front.back().step_time_s <= result.present.step_time_s);
}

TEST_CASE("a pinned dimension has its value in every plan that is found") {
  const Scenario s = small_scenario();
  const SearchResult result = search(s, request_with(s, {{"tensor", "4"}, {"policy", "block"}}));
  REQUIRE(!result.best.empty());
  for (const RankedPlan& plan : result.best)
    CHECK((plan.plan.tensor == 4 && plan.plan.policy == CheckpointPolicy::block));
}

TEST_CASE("torus axes that a search gives to tensor are no other group's, and a plan may be the better for them") {
  const Scenario s = preset("llama3-70b-v5p-pod");
  const auto search_with = [&](std::string_view torus_axes) {
    SearchRequest request = request_with(s, {{"tensor_on", torus_axes}, {"zero_stage", "3"}, {"policy", "block"}});
    request.limit = 300;
    return search(s, request);
  };
  const SearchResult found = search_with("any");
  int named = 0;
  for (const RankedPlan& row : found.best) {
    Scenario with = s;
    apply(with, row.plan);
    if (row.plan.on[Axis::tensor] == TorusAxes::automatic) continue;
    ++named;
    const MeshLinks links = place_mesh(with.cluster, with.parallelism, with.placement);
    for (const Axis axis : {Axis::data, Axis::fsdp, Axis::context, Axis::pipeline})
      CHECK((static_cast<unsigned>(links.group(axis).on) & static_cast<unsigned>(links[Axis::tensor].on)) == 0);
    CHECK(evaluate(with).quantities[Q::step_time] == row.step_time_s);
  }
  CHECK(named > 0);
  CHECK(found.best.front().step_time_s <= search_with("auto").best.front().step_time_s);
  for (const RankedPlan& row : search_with("xyz").best) CHECK(row.plan.tensor == 1);  // which lies nowhere
}

TEST_CASE("a search places several mesh axes at once, each apart from tensor and pipeline") {
  const Scenario s = preset("llama3-70b-v5p-pod");
  SearchRequest request =
      request_with(s, {{"tensor_on", "x,xy"}, {"pipeline_on", "y,z"}, {"zero_stage", "3"}, {"policy", "block"}});
  request.space.tensor.min = request.space.pipeline.min = 2;
  const SearchResult found = search(s, request);
  REQUIRE_FALSE(found.best.empty());
  for (const RankedPlan& row : found.best) {
    Scenario with = s;
    apply(with, row.plan);
    const MeshLinks links = place_mesh(with.cluster, with.parallelism, with.placement);
    CHECK(links[Axis::pipeline].on == row.plan.on[Axis::pipeline]);
    for (const Axis own : {Axis::tensor, Axis::pipeline})
      for (const Axis axis : {Axis::data, Axis::fsdp, Axis::tensor, Axis::context, Axis::pipeline})
        if (axis != own)
          CHECK((static_cast<unsigned>(links.group(axis).on) & static_cast<unsigned>(links[own].on)) == 0);
    CHECK(evaluate(with).quantities[Q::step_time] == row.step_time_s);
  }
}

TEST_CASE("of the optimizer a search puts the share on the host that is fastest of those that fit") {
  Scenario s = preset("llama3-8b-8-h100");
  s.cluster.node_size = 2;
  for (const Mode mode : {Mode::ideal, Mode::calibrated}) {
    s.assumptions.mode = mode;
    CAPTURE(static_cast<int>(mode));
    SearchRequest request = request_with(s, {{"optimizer_fraction", "any"}, {"offload_optimizer", "on"}});
    request.limit = 50;
    const SearchResult found = search(s, request);
    REQUIRE_FALSE(found.best.empty());
    const double fastest = found.best.front().step_time_s;
    double least = 1;
    for (const RankedPlan& row : found.best) {
      least = std::min(least, row.plan.optimizer_fraction);
      Scenario with = s;
      apply(with, row.plan);
      CHECK(evaluate(with).quantities[Q::step_time] == row.step_time_s);
      // No other share of the same plan is faster and fits.
      for (int tenths = 1; tenths <= 10; ++tenths) {
        with.offload.optimizer_fraction = tenths / 10.0;
        if (shortage_of(with, plan_of(with)).missing_bytes > 0) continue;
        CHECK(*evaluate(with).quantities[Q::step_time] >= fastest);
      }
    }
    CHECK(least < 1);
  }
}

TEST_CASE("no plan that is found leaves less memory free than asked") {
  const Scenario s = small_scenario();
  SearchRequest request = request_with(s, {});
  request.space.min_free = 0.5;
  const SearchResult result = search(s, request);
  REQUIRE(!result.front.empty());
  for (const RankedPlan& plan : result.front) CHECK(plan.memory_bytes <= 40e9);
}

TEST_CASE("a sample has as many plans as asked for, priced as evaluate prices them, whoever searched") {
  const Scenario s = small_scenario();
  SearchRequest request = request_with(s, {{"schedule", "1f1b"}});
  request.sample = 200;
  const SearchResult one = search(s, request);
  const SearchResult three = search(s, request, nullptr, 3);
  REQUIRE(one.sample.size() == 200);
  REQUIRE(three.sample.size() == 200);
  Scenario other = s;
  int fit = 0;
  for (std::size_t i = 0; i < one.sample.size(); ++i) {
    const SampledPlan& drawn = one.sample[i];
    REQUIRE(drawn.plan == three.sample[i].plan);
    apply(other, drawn.plan);
    const Report report = evaluate(other);
    CHECK(drawn.step_time_s == *report.quantities[Q::step_time]);
    CHECK(drawn.memory_bytes == *report.quantities[Q::memory_total]);
    CHECK(drawn.fits == report.fits());
    fit += drawn.fits;
  }
  CHECK((fit > 0 && fit < 200));
}

TEST_CASE("a sample larger than what was priced is all that was priced") {
  const Scenario s = small_scenario();
  SearchRequest request =
      request_with(s, {{"schedule", "1f1b"}, {"tensor", "2"}, {"pipeline", "1"}, {"offload_optimizer", "off"}});
  request.sample = 1'000'000;
  const SearchResult result = search(s, request);
  const double priced = result.fit + result.rejected[static_cast<std::size_t>(Rejection::memory)];
  CHECK(double(result.sample.size()) == priced);
}

TEST_CASE(
    "the near miss is faster than all that fit and lacks at most a quarter of the memory, on a stage that is named") {
  const Scenario s = preset("llama3-405b-16k-h100-8k");
  const SearchResult result = search(s, request_with(s, {{"context", "1"},
                                                         {"pipeline", "8"},
                                                         {"fsdp", "128,256"},
                                                         {"schedule", "1f1b"},
                                                         {"microbatch", "1"},
                                                         {"data", "1"},
                                                         {"offload_activations", "off"}}));
  REQUIRE(result.near_miss);
  REQUIRE(!result.best.empty());
  const auto& [plan, shortage] = *result.near_miss;
  CHECK(plan.step_time_s < result.best.front().step_time_s);
  CHECK(plan.memory_bytes <= (1 + kNearMissShare) * 80e9);
  CHECK(shortage.missing_bytes == plan.memory_bytes - 80e9);
  Scenario other = s;
  apply(other, plan.plan);
  CHECK(evaluate(other).fullest_stage == shortage.device);
}

TEST_CASE("a search that is told to stop returns unfinished") {
  const Scenario s = small_scenario();
  SearchProgress progress;
  progress.stop = true;
  CHECK_FALSE(search(s, request_with(s, {}), &progress).finished);
}

TEST_CASE("whenever a search is stopped, what it returns are plans that can run, in order, as they are evaluated") {
  const Scenario s = small_scenario();
  SearchRequest request = request_with(s, {});
  for (const std::size_t parts : {std::size_t{1}, std::size_t{5}, std::size_t{20}}) {
    SearchProgress progress;
    const SearchResult found = search(s, request, &progress, 1, [&](const std::function<void(std::size_t)>& work) {
      std::jthread watch([&progress, parts](std::stop_token over) {
        while (progress.done < parts && !over.stop_requested()) std::this_thread::yield();
        progress.stop = true;
      });
      work(0);
    });
    CHECK_FALSE(found.finished);
    for (std::size_t i = 0; i < found.best.size(); ++i) {
      Scenario other = s;
      apply(other, found.best[i].plan);
      const Report report = evaluate(other);
      CHECK(report.fits());
      CHECK(report.quantities[Q::step_time] == found.best[i].step_time_s);
      if (i > 0) CHECK(found.best[i - 1].step_time_s <= found.best[i].step_time_s);
    }
  }
}

TEST_CASE("constraints that make no sense are refused with a remedy") {
  PlanSpace space;
  const auto unknown = constrain(space, "tensors", "8", ConstraintKind::pinned);
  REQUIRE(unknown);
  CHECK(test::in_english(unknown->message) == "there is no dimension \"tensors\"");
  const auto word = constrain(space, "offload_optimizer", "maybe", ConstraintKind::pinned);
  REQUIRE(word);
  CHECK(test::in_english(word->message) == "offload_optimizer cannot be \"maybe\"");
  CHECK(test::in_english(word->remedy) == "give on or off");
}
