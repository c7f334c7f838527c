// What is made of a serving scenario on demand: the simulated queue and the latency-throughput trade.
#include <doctest/doctest.h>

#include <algorithm>

#include "engine/evaluate/evaluate.h"
#include "engine/serving/batching_simulation.h"
#include "engine/studies/latency_throughput.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::preset;
using tests::with;

namespace {

BatchingModel one_server() {
  BatchingModel m;
  m.classes = {{1, 100, 0.05, 1}};
  m.slots = 1000;
  m.step_fixed_s = 0.01;
  return m;
}

}  // namespace

TEST_CASE("a request that is alone takes its prefill, and a step for every token but the first") {
  BatchingModel m = one_server();
  m.arrivals_per_s = 1e-3;
  const BatchingResult r = simulate_batching(m, {200, 1});
  CHECK(r.requests == 200);
  CHECK(r.ttft_s.p50 == doctest::Approx(0.05));
  CHECK(r.ttft_s.p99 == doctest::Approx(0.05));
  CHECK(r.time_per_token_s.p99 == doctest::Approx(0.01));
  CHECK(r.request_s.p50 == doctest::Approx(0.05 + 99 * 0.01));
}
TEST_CASE("a step that brings more than a token on the mean makes fewer steps, the last one whole") {
  // 99 tokens after the first, 1.6 a step: 62 steps.
  BatchingModel m = one_server();
  m.arrivals_per_s = 1e-3, m.tokens_per_step = 1.6;
  const BatchingResult r = simulate_batching(m, {200, 1});
  CHECK(r.request_s.p50 == doctest::Approx(0.05 + 62 * 0.01));
}
TEST_CASE("a chunk of a prompt lengthens the step of those that decode, and nothing else does") {
  // Prompts of 4 chunks of 20 ms, a step of 10 ms. At this rate two are seldom there together: the slowest of a
  // hundred had one other's whole prompt beside it.
  BatchingModel m = one_server();
  m.classes = {{1, 100, 0.08, 4}};
  m.arrivals_per_s = 0.05;
  const BatchingResult r = simulate_batching(m, {1000, 1});
  CHECK(r.time_per_token_s.p50 == doctest::Approx(0.01));
  CHECK(r.time_per_token_s.p99 == doctest::Approx((99 * 0.01 + 0.08) / 99));
}
TEST_CASE("percentiles are by nearest rank: of a hundred equal gaps the ninetieth is the ninetieth") {
  // One slot, prompts of 1 s that all arrive at once: the n-th waits n seconds.
  BatchingModel m = one_server();
  m.classes = {{1, 1, 1.0, 1}};
  m.arrivals_per_s = 1e9;
  const BatchingResult r = simulate_batching(m, {100, 1});  // behind 25 that settle
  CHECK(r.ttft_s.p50 == doctest::Approx(25 + 50));
  CHECK(r.ttft_s.p90 == doctest::Approx(25 + 90));
  CHECK(r.ttft_s.p99 == doctest::Approx(25 + 99));
}
TEST_CASE("the simulated batch is that of the steady state") {
  // T(b) = 10 ms + 0.1 ms b, prefill elsewhere: b = rate G T_0 / (1 - rate G t).
  BatchingModel m = one_server();
  m.disaggregated = true, m.prefill_servers = 100, m.step_each_s = 1e-4, m.arrivals_per_s = 40;
  const BatchingResult r = simulate_batching(m, {20000, 3});
  CHECK(r.mean_batch == doctest::Approx(40 * 99 * 0.01 / (1 - 40 * 99 * 1e-4)).epsilon(0.05));
  CHECK(r.requests_per_s == doctest::Approx(40).epsilon(0.05));
  CHECK_FALSE(r.overloaded);
}
TEST_CASE("the same seed gives the same result, another one another") {
  BatchingModel m = one_server();
  m.arrivals_per_s = 10;
  const BatchingResult a = simulate_batching(m, {500, 7}), b = simulate_batching(m, {500, 7}),
                       c = simulate_batching(m, {500, 8});
  CHECK(a.ttft_s.p99 == b.ttft_s.p99);
  CHECK(a.time_per_token_s.mean == b.time_per_token_s.mean);
  CHECK(a.ttft_s.p99 != c.ttft_s.p99);
}
TEST_CASE("more arrivals than prefill can take overload it") {
  BatchingModel m = one_server();
  m.arrivals_per_s = 30;  // a prefill takes 50 ms and a step runs beside it
  CHECK(simulate_batching(m, {2000, 1}).overloaded);
}
TEST_CASE("waiting grows with the arrivals") {
  const Scenario s = preset("llama3-70b-serving-8-h100");
  const Report r = evaluate(s);
  const double most = *r.quantities[Q::capacity_requests];
  double last = 0;
  for (const double share : {0.2, 0.5, 0.8}) {
    const BatchingResult result = simulate_batching(batching_model(s, r, share * most), {3000, 1});
    CHECK(result.ttft_s.mean > last);
    last = result.ttft_s.mean;
    CHECK(result.requests_per_s == doctest::Approx(share * most).epsilon(0.1));
  }
}
TEST_CASE("a request is simulated with its own share of the prompts that go together") {
  for (const char* chunk : {"serving.prefill_chunk_tokens=0", "serving.prefill_chunk_tokens=1024"}) {
    CAPTURE(chunk);
    const Scenario s = with(preset("llama3-70b-serving-8-h100"), {"serving.prefill_prompts=4", chunk});
    const Report r = evaluate(s);
    const BatchingModel m = batching_model(s, r);
    REQUIRE(m.classes.size() == 1);
    CHECK(m.classes[0].prefill_s == doctest::Approx(*r.quantities[Q::prefill_share_time]).epsilon(1e-12));
    CHECK(m.classes[0].chunks == std::max(1.0, *r.quantities[Q::prefill_chunks_q] / 4));
  }
}
TEST_CASE("percentiles do not fall, and no request is faster than its prefill") {
  const Scenario s =
      with(preset("llama3-8b-serving-8-h100"),
           {"workload.lengths.0.share=3", "workload.lengths.0.prompt_tokens=500", "workload.lengths.1.share=1",
            "workload.lengths.1.prompt_tokens=8000", "workload.lengths.1.output_tokens=900"});
  const BatchingModel m = batching_model(s, evaluate(s));
  REQUIRE(m.classes.size() == 2);
  const BatchingResult r = simulate_batching(m, {4000, 5});
  for (const Percentiles& p : {r.ttft_s, r.time_per_token_s, r.request_s}) {
    CHECK(p.p50 <= p.p90);
    CHECK(p.p90 <= p.p99);
  }
  CHECK(r.ttft_s.p50 >= m.classes[0].prefill_s);
  CHECK(r.time_per_token_s.p50 >= m.steps.front().seconds / m.tokens_per_step);
}
TEST_CASE("training has nothing to simulate and no trade") {
  const Scenario s = preset("llama3-70b-v5p-pod");
  CHECK(simulate_batching(batching_model(s, evaluate(s)), {}).requests == 0);
  CHECK(latency_throughput(s, {}).empty());
}
TEST_CASE("every point of the trade is what evaluate says of it") {
  const Scenario s = preset("llama3-70b-serving-8-h100");
  const auto points = latency_throughput(s, {{}, {1, 2, 4, 8}});
  REQUIRE(points.size() > 20);
  for (const TradePoint& p : points) {
    Scenario at = s;
    at.workload.batch = p.batch, at.parallelism.tensor = p.tensor, at.parallelism.data = p.data;
    const Report r = evaluate(at);
    REQUIRE(p.time_per_token_s == *r.quantities[Q::mixed_token_time_q]);
    REQUIRE(p.decode_time_per_token_s == *r.quantities[Q::time_per_output_token]);
    REQUIRE(p.tokens_per_s_per_chip == *r.quantities[Q::sustained_tokens_per_chip]);
    REQUIRE(p.fits == r.fits());
    REQUIRE(p.tensor * p.data == 8);
  }
}
TEST_CASE("the Pareto front rises: whoever waits longer gets more from a chip") {
  auto points = latency_throughput(preset("llama3-70b-serving-8-h100"), {{}, {2, 4, 8}});
  std::erase_if(points, [](const TradePoint& p) { return !p.pareto; });
  REQUIRE(points.size() > 3);
  std::sort(points.begin(), points.end(),
            [](const TradePoint& a, const TradePoint& b) { return a.time_per_token_s < b.time_per_token_s; });
  for (std::size_t i = 1; i < points.size(); ++i)
    CHECK(points[i].tokens_per_s_per_chip > points[i - 1].tokens_per_s_per_chip);
  for (const TradePoint& p : points) CHECK(p.fits);
}
TEST_CASE("the trade goes on to batches that do not fit, and no further than two of them") {
  const auto points = latency_throughput(preset("llama2-13b-16-v5e"), {});
  CHECK(std::count_if(points.begin(), points.end(), [](const TradePoint& p) { return !p.fits; }) == 2);
}
TEST_CASE("within a limit the point of best throughput is found") {
  const auto points = latency_throughput(preset("llama3-70b-serving-8-h100"), {});
  const TradePoint* best = best_within(points, 0.01);
  REQUIRE(best != nullptr);
  CHECK(best->time_per_token_s <= 0.01);
  for (const TradePoint& p : points)
    if (p.fits && p.time_per_token_s <= 0.01) CHECK(p.tokens_per_s_per_chip <= best->tokens_per_s_per_chip);
  CHECK(best_within(points, 1e-6) == nullptr);
}
