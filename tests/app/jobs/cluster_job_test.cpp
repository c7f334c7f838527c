// "Which cluster?" beside the window: the newest question wins, and what was found before changes no answer.
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "app/session/cluster_job.h"
#include "engine/io/import/named_clusters.h"
#include "engine/io/presets/preset_library.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/scenario_fields.h"
#include "tests/english.h"

using namespace roofscape;
using app::ClusterJob;
using app::ClusterQuery;
using engine::ClusterAnswer;
using engine::ClusterObjective;
using engine::Scenario;

namespace {

const io::PresetLibrary& library() {
  static const io::PresetLibrary shipped;
  return shipped;
}

ClusterQuery query_of(const char* preset, std::string_view among, engine::ClusterRequest request = {}) {
  std::vector<engine::NamedCluster> clusters;
  REQUIRE_FALSE(io::add_named_clusters(among, "--on", library(), clusters).has_value());
  return {io::load_scenario(preset, library()).value(),
          std::make_shared<const std::vector<engine::NamedCluster>>(std::move(clusters)), request};
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void check_answers(const ClusterJob& job, const ClusterQuery& query) {
  const auto found = job.latest();
  REQUIRE(found);
  REQUIRE(found->finished());
  const std::vector<ClusterAnswer> wanted = engine::choose_cluster(query.scenario, *query.clusters, query.request);
  REQUIRE(found->answers.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const ClusterAnswer& a = found->answers[i];
    const ClusterAnswer& b = wanted[i];
    CAPTURE(b.name);
    CHECK(a.name == b.name);
    CHECK(a.verdict == b.verdict);
    CHECK(a.missing == b.missing);
    CHECK(a.is_calibrated == b.is_calibrated);
    CHECK(same(a.time_s, b.time_s));
    CHECK(same(a.cost_usd, b.cost_usd));
    CHECK(same(a.energy_kwh, b.energy_kwh));
    CHECK(same(a.tokens_per_s, b.tokens_per_s));
    CHECK(same(a.memory_bytes, b.memory_bytes));
    CHECK(a.scenario.parallelism == b.scenario.parallelism);
  }
}

constexpr const char* kTraining = "llama3-8b-8-h100";
constexpr const char* kServing = "llama3-8b-serving-8-h100";

}  // namespace

TEST_CASE("clusters asked beside the window have the answers of those asked in place") {
  ClusterJob job(2);
  for (const char* preset : {kTraining, kServing})
    for (const engine::Mode mode : {engine::Mode::ideal, engine::Mode::calibrated}) {
      ClusterQuery query = query_of(preset, "h100-sxm:4..16,tpu-v5p:8,rtx4090:8");
      query.scenario.assumptions.mode = mode;
      job.ask(query);
      job.wait();
      check_answers(job, query);
    }
}

TEST_CASE("after any edit of a scenario the answers are those of a question never asked before") {
  std::mt19937 random(5);
  ClusterJob job(1);
  for (const char* preset : {kTraining, kServing}) {
    ClusterQuery query = query_of(preset, "h100-sxm:8,tpu-v5p:8");
    int changed = 0;
    for (int n = 0; n < 60; ++n) {
      const auto& fields = engine::scenario_fields();
      const engine::Field& field = fields[random() % fields.size()];
      if (field.path.starts_with("model.") || field.path.starts_with("cluster.")) continue;
      const double now = field.get(query.scenario), next = random() % 2 == 0 ? now * 2 : std::round(now / 2);
      if (!engine::in_domain(field, next) || next == now) continue;
      CAPTURE(field.path);
      field.set(query.scenario, next);
      ++changed;
      job.ask(query);
      job.wait();
      check_answers(job, query);
    }
    CHECK(changed > 5);
  }
}

TEST_CASE("another order, another limit and one cluster more search no cluster twice") {
  ClusterJob job(1);
  ClusterQuery query = query_of(kTraining, "h100-sxm:8..16");
  job.ask(query);
  job.wait();
  CHECK(job.searched() == 2);
  query.request = {ClusterObjective::time, 5, 0};
  job.ask(query);
  job.wait();
  CHECK(job.searched() == 2);
  check_answers(job, query);
  query.clusters = query_of(kTraining, "h100-sxm:8..16,a100-80g:8").clusters;
  job.ask(query);
  job.wait();
  CHECK(job.searched() == 3);
  check_answers(job, query);
}

TEST_CASE("answers that were let go are searched again and are the same, and the newest stay meanwhile") {
  ClusterJob job(1);
  job.release();  // nothing was asked yet
  ClusterQuery query = query_of(kTraining, "h100-sxm:8..16");
  job.ask(query);
  for (int i = 0; i < 100; ++i) job.release();  // while it runs nothing goes
  job.wait();
  CHECK(job.searched() == 2);
  const auto newest = job.latest();
  job.release();
  CHECK(job.latest() == newest);
  query.clusters = query_of(kTraining, "h100-sxm:8").clusters;
  job.ask(query);
  job.wait();
  CHECK(job.searched() == 3);
  check_answers(job, query);
}

TEST_CASE("where the scenario runs at present is no part of the question") {
  ClusterJob job(1);
  ClusterQuery query = query_of(kTraining, "h100-sxm:8..16");
  job.ask(query);
  job.wait();
  const auto before = job.latest();
  query.scenario.parallelism.tensor = 4;
  query.scenario.parallelism.fsdp = 2;
  query.scenario.name = "another";
  CHECK(query.asks_the_same(before->query));
  job.ask(query);
  job.wait();
  CHECK(job.latest() == before);
}

TEST_CASE("a question that was stopped is not asked again unless it is wished") {
  ClusterJob job(1);
  const ClusterQuery query = query_of("llama3-405b-16k-h100-8k", "h100-sxm:8192..16384");
  job.ask(query);
  job.cancel();
  job.wait();
  CHECK(job.state() == ClusterJob::State::cancelled);
  job.ask(query);
  CHECK(job.state() == ClusterJob::State::cancelled);
  const ClusterQuery other = query_of(kTraining, "h100-sxm:8");
  job.ask(other);
  job.wait();
  check_answers(job, other);
  CHECK(job.state() == ClusterJob::State::idle);
}

TEST_CASE("answers that are whole stay until others are") {
  ClusterJob job(1);
  const ClusterQuery query = query_of(kTraining, "h100-sxm:8..16");
  job.ask(query);
  job.wait();
  int incomplete = 0;
  ClusterQuery other = query_of(kTraining, "h100-sxm:4..32");
  job.ask(other);
  while (job.state() == ClusterJob::State::running) incomplete += job.latest()->finished() ? 0 : 1;
  CHECK(incomplete == 0);
  check_answers(job, other);
}
