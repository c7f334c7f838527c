// Which cluster: one answer for each, in an order that a brute force over searches gives.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/io/import/named_clusters.h"
#include "engine/search/cluster_choice.h"
#include "engine/search/search.h"
#include "engine/search/serving_search.h"
#include "engine/training/run.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

namespace roofscape::engine {
namespace {

std::vector<NamedCluster> named(std::string_view list) {
  std::vector<NamedCluster> out;
  const auto error = io::add_named_clusters(list, "--on", test::shipped(), out);
  REQUIRE_FALSE(error.has_value());
  return out;
}

Scenario scenario_of(std::string_view id) { return io::load_scenario(std::string(id), test::shipped()).value(); }

// As a report has it: nothing where it is not known.
std::optional<double> known(double x) { return std::isnan(x) ? std::nullopt : std::optional(x); }

std::vector<std::string> names_of(const std::vector<ClusterAnswer>& answers) {
  std::vector<std::string> out;
  for (const ClusterAnswer& a : answers) out.push_back(a.name);
  return out;
}

TEST_CASE("each cluster's answer is what a search on it finds and evaluate gives") {
  for (const Mode mode : {Mode::ideal, Mode::calibrated}) {
    Scenario scenario = scenario_of("llama3-8b-8-h100");
    scenario.assumptions.mode = mode;
    for (const ClusterAnswer& a : choose_cluster(scenario, named("h100-sxm:8..32,a100-80g:16,tpu-v5p:16"), {})) {
      CAPTURE(a.name);
      Scenario on = scenario;
      on.cluster = a.scenario.cluster;
      SearchRequest request;
      request.space = space_of(on);
      request.limit = 1;
      const SearchResult found = search(on, request);
      REQUIRE(found.best.empty() != a.runs);
      if (!a.runs) continue;
      const Report report = evaluate(a.scenario);
      CHECK_FALSE(report.has_errors());
      CHECK(plan_of(a.scenario) == found.best.front().plan);
      CHECK(a.step_time_s == found.best.front().step_time_s);
      CHECK(a.time_s == report.quantities[Q::run_time]);
      CHECK(known(a.cost_usd) == report.quantities[Q::run_cost]);
      CHECK(known(a.energy_kwh) == report.quantities[Q::run_energy]);
      CHECK(a.chips == chip_count(on.cluster));
    }
  }
}

TEST_CASE("what a report of an answer's plan comes to is the answer, in both modes, on torus and switches") {
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  for (const char* preset : {"llama3-8b-8-h100", "llama3-70b-serving-8-h100", "llama3-70b-16-v5e"})
    for (const Mode mode : {Mode::ideal, Mode::calibrated}) {
      Scenario scenario = scenario_of(preset);
      scenario.assumptions.mode = mode;
      for (const ClusterAnswer& a : choose_cluster(scenario, named("h100-sxm:8..16,tpu-v5p:16,trainium2:16"), {})) {
        if (!a.runs) continue;
        CAPTURE(preset);
        CAPTURE(a.name);
        std::vector<ClusterAnswer> beside{answer_of(a.name, a.scenario, evaluate(a.scenario))};
        rank(beside, {});
        const ClusterAnswer& b = beside.front();
        CHECK(b.runs);
        CHECK(b.verdict == a.verdict);
        CHECK(b.chips == a.chips);
        CHECK(b.is_calibrated == a.is_calibrated);
        for (double ClusterAnswer::*value :
             {&ClusterAnswer::time_s, &ClusterAnswer::cost_usd, &ClusterAnswer::energy_kwh,
              &ClusterAnswer::step_time_s, &ClusterAnswer::mfu, &ClusterAnswer::tokens_per_s, &ClusterAnswer::ttft_s,
              &ClusterAnswer::memory_bytes, &ClusterAnswer::capacity_bytes, &ClusterAnswer::used_chips})
          CHECK(same(a.*value, b.*value));
      }
    }
}

TEST_CASE("an answer that leaves chips idle says how many its plan uses, and is paid for those") {
  const Scenario scenario = scenario_of("llama3-405b-16k-h100-8k");  // 126 layers
  for (const ClusterAnswer& a : choose_cluster(scenario, named("h100-sxm:12000,h100-sxm:10752"), {})) {
    CAPTURE(a.name);
    REQUIRE(a.runs);
    CHECK(a.used_chips == 10752);
    CHECK(a.cost_usd == doctest::Approx(10752 * hours_of(a.time_s) *
                                        scenario.cluster.chip[ChipField::price_usd_per_chip_hour].value.value()));
  }
}

TEST_CASE("answers are in the order of what is asked for, and those that miss it come after") {
  const Scenario scenario = scenario_of("llama3-8b-8-h100");
  const auto clusters = named("h100-sxm:8..64,a100-80g:32,b200:8");
  const auto found = choose_cluster(scenario, clusters, {});  // of plans that train every objective has the same
  for (const ClusterObjective objective :
       {ClusterObjective::cost, ClusterObjective::time, ClusterObjective::chips, ClusterObjective::energy}) {
    CAPTURE(kClusterObjectiveIds[objective]);
    auto all = found;
    rank(all, {objective});
    REQUIRE(all.size() == clusters.size());
    const auto value = [&](const ClusterAnswer& a) {
      const double x = objective == ClusterObjective::cost     ? a.cost_usd
                       : objective == ClusterObjective::time   ? a.time_s
                       : objective == ClusterObjective::energy ? a.energy_kwh
                                                               : static_cast<double>(a.chips);
      return known(x).value_or(std::numeric_limits<double>::infinity());  // what is not known stands last
    };
    for (std::size_t i = 1; i < all.size(); ++i) {
      REQUIRE(all[i].verdict == ClusterVerdict::meets);
      CHECK(value(all[i - 1]) <= value(all[i]));
    }
    // The middle one's time as a deadline: those that take longer stand behind, with their reason.
    std::vector<double> times;
    for (const ClusterAnswer& a : all) times.push_back(days_of(a.time_s));
    std::sort(times.begin(), times.end());
    ClusterRequest request{objective};
    request.most_run_days = times[times.size() / 2];
    auto limited = found;
    rank(limited, request);
    bool missed = false;
    for (const ClusterAnswer& a : limited) {
      CHECK((a.verdict == ClusterVerdict::meets) == (days_of(a.time_s) <= request.most_run_days));
      CHECK((!missed || a.verdict != ClusterVerdict::meets));
      missed |= a.verdict != ClusterVerdict::meets;
    }
    CHECK(missed);
  }
}

TEST_CASE("a budget keeps out what costs more, and what has no price") {
  Scenario scenario = scenario_of("llama3-8b-8-h100");
  auto clusters = named("h100-sxm:8,h100-sxm:64");
  clusters[1].cluster.chip[ChipField::price_usd_per_chip_hour].value.reset();
  const auto free = choose_cluster(scenario, clusters, {});
  REQUIRE(free[0].name == "h100-sxm:8");
  CHECK(std::isnan(free[1].cost_usd));
  ClusterRequest request;
  request.most_cost_usd = free[0].cost_usd / 2;
  const auto answers = choose_cluster(scenario, clusters, request);
  CHECK(answers[0].verdict == ClusterVerdict::too_expensive);
  CHECK(answers[1].verdict == ClusterVerdict::no_price);
}

TEST_CASE("the smallest cluster that holds a model is the first by chips, smaller ones say that no plan fits") {
  const auto answers =
      choose_cluster(scenario_of("llama3-70b-lora-8-h100"), named("h100-sxm:1..16"), {ClusterObjective::chips});
  REQUIRE(answers.front().verdict == ClusterVerdict::meets);
  for (const ClusterAnswer& a : answers)
    CHECK((a.chips < answers.front().chips) == (a.verdict == ClusterVerdict::none_fits));
  CHECK(answers.back().verdict == ClusterVerdict::none_fits);
}

TEST_CASE("serving is compared by what a million tokens cost, or by the time of one") {
  const auto clusters = named("tpu-v5e:16..64,h100-sxm:8");
  for (const Mode mode : {Mode::ideal, Mode::calibrated})
    for (const ClusterObjective objective : {ClusterObjective::cost, ClusterObjective::time}) {
      CAPTURE(kClusterObjectiveIds[objective]);
      Scenario scenario = scenario_of("llama3-70b-16-v5e");
      scenario.assumptions.mode = mode;
      const auto answers = choose_cluster(scenario, clusters, {objective});
      for (const ClusterAnswer& a : answers) {
        if (!a.runs) continue;
        ServingRequest request = serving_request_of(a.scenario);
        request.limit = 1;
        if (objective == ClusterObjective::time) request.objective = ServingObjective::token_time;
        Scenario on = scenario;
        on.cluster = a.scenario.cluster;
        const auto found = search_serving(on, request);
        REQUIRE_FALSE(found.best.empty());
        CHECK(a.time_s == found.best.front().token_s);
        CHECK(a.tokens_per_s == found.best.front().tokens_per_s);
        CHECK(a.cost_usd == found.best.front().cost_usd);
      }
      for (std::size_t i = 1; i < answers.size(); ++i)
        if (answers[i].runs && answers[i - 1].runs)
          CHECK((objective == ClusterObjective::cost ? answers[i - 1].cost_usd <= answers[i].cost_usd
                                                     : answers[i - 1].time_s <= answers[i].time_s));
    }
}

TEST_CASE("the answer does not depend on the number of threads") {
  const Scenario scenario = scenario_of("llama3-8b-8-h100");
  const auto clusters = named("h100-sxm:8..16,h200:8");
  const auto one = choose_cluster(scenario, clusters, {});
  const auto three = choose_cluster(scenario, clusters, {}, nullptr, 3, [](const auto& work) {
    for (std::size_t i = 0; i < 3; ++i) work(i);
  });
  REQUIRE(names_of(one) == names_of(three));
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(one[i].scenario == three[i].scenario);
}

TEST_CASE(
    "without a list a quarter to four times the scenario's chips are compared, by names that can be asked for") {
  const Scenario scenario = scenario_of("llama3-8b-8-h100");
  const auto around = io::clusters_around(scenario.cluster, test::shipped());
  std::vector<std::string> names;
  for (const NamedCluster& one : around) names.push_back(one.name);
  CHECK(names == std::vector<std::string>{"h100-sxm:2", "h100-sxm:4", "h100-sxm:8", "h100-sxm:16", "h100-sxm:32"});
  CHECK(around[2].cluster == scenario.cluster);
  for (const NamedCluster& one : around)
    if (one.name != "h100-sxm:8") CHECK(named(one.name)[0].cluster == one.cluster);
}

TEST_CASE("ranges of chips are doublings, and what is no cluster says so") {
  CHECK(named("h100-sxm:8..100").size() == 4);
  CHECK(named("dgx-h100,h100-sxm:16").size() == 2);
  std::vector<NamedCluster> out;
  const auto error = [&](std::string_view list) {
    const auto problem = io::add_named_clusters(list, "--on", test::shipped(), out);
    return problem ? test::in_english(*problem) : std::string();
  };
  CHECK(error("h100-sxm") ==
        "--on: \"h100-sxm\" does not say how many chips; give h100-sxm:1024 or h100-sxm:256..4096");
  CHECK(error("h100-sxm:64..8") ==
        "--on: \"h100-sxm:64..8\" is not a range of chips; give the smaller number first, "
        "such as h100-sxm:1024..16384");
  CHECK(error("h100-sxm:0..8").starts_with("--on: \"h100-sxm:0..8\" is not a range of chips"));
  CHECK(error("nonsense:8").starts_with("--on: "));
  std::string many;
  for (int i = 0; i < 101; ++i) many += "h100-sxm:8,";
  CHECK(error(many) == "--on: more than 100 clusters; give fewer");
}

}  // namespace
}  // namespace roofscape::engine
