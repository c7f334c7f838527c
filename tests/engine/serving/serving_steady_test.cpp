// How a serving plan runs: sequences in flight, sustained times and rates, the promise, and the changes that are
// suggested. On many random scenarios (serving_fixture.h).
#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <string>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/offers.h"
#include "engine/evaluate/service_level.h"
#include "tests/engine/serving_fixture.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::finding;
using tests::preset;
using tests::value_or_nan;

namespace {

bool near(double a, double b, double tolerance) {
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), 1e-300);
}

// Random ones in every mode.
template <class Check>
void on_random_scenarios(unsigned seed, int count, Check&& check) {
  std::mt19937 rng(seed);
  EvaluationScratch scratch;
  Report report;
  for (int i = 0; i < count; ++i) {
    Scenario s = tests::random_serving_scenario(rng);
    s.assumptions.mode = i % 2 == 0 ? Mode::ideal : Mode::calibrated;
    evaluate(s, scratch, report);
    if (report.has_errors() || !(value_or_nan(report, Q::mixed_token_time_q) > 0)) continue;
    CAPTURE(i);
    check(s, report);
  }
}

Scenario edited(Scenario s, const Fix& fix) {
  for (const FieldEdit& edit : fix) apply(s, edit);
  return s;
}

}  // namespace

TEST_CASE("Little's law: sequences in flight are sustained tokens per second times the sustained time of one") {
  on_random_scenarios(1, 4000, [](const Scenario& s, const Report& r) {
    const double held = value_or_nan(r, Q::sustained_tokens) * value_or_nan(r, Q::mixed_token_time_q);
    CHECK(near(value_or_nan(r, Q::steady_batch), held, 1e-9));
    CHECK(value_or_nan(r, Q::steady_batch) <= s.workload.batch);
    CHECK(value_or_nan(r, Q::requests_per_s) <= value_or_nan(r, Q::capacity_requests));
    if (s.workload.arrivals_per_s > 0) {
      CHECK(value_or_nan(r, Q::requests_per_s) ==
            std::min(s.workload.arrivals_per_s, value_or_nan(r, Q::capacity_requests)));
      CHECK((finding(r, "serving.overloaded") != nullptr) ==
            (s.workload.arrivals_per_s >= value_or_nan(r, Q::capacity_requests)));
    }
  });
}

TEST_CASE("a larger batch is offered against overload only where the plan keeps up with it") {
  int offered = 0;
  on_random_scenarios(7, 4000, [&](const Scenario& s, const Report& r) {
    const Diagnostic* overloaded = finding(r, "serving.overloaded");
    if (overloaded == nullptr || overloaded->fix.empty()) return;
    ++offered;
    CHECK(value_or_nan(evaluate(edited(s, overloaded->fix)), Q::steady_load) < 1);
  });
  CHECK(offered > 0);
}

TEST_CASE("sustained is never faster than decoding alone what is in flight, and the same on chips of its own") {
  on_random_scenarios(2, 4000, [](const Scenario& s, const Report& r) {
    const bool fewer = r.quantities[Q::in_flight_token_time].has_value();
    const double alone = value_or_nan(r, fewer ? Q::in_flight_token_time : Q::time_per_output_token);
    const double sustained = value_or_nan(r, Q::mixed_token_time_q);
    if (s.serving.disaggregated)
      CHECK(sustained == alone);
    else
      CHECK(sustained >= alone);
    CHECK(alone <= value_or_nan(r, Q::time_per_output_token) * (1 + 1e-12));
  });
}

TEST_CASE("what is in flight is the least that keeps up with the arrivals, whatever slots there are beyond it") {
  on_random_scenarios(3, 3000, [](const Scenario& scenario, const Report&) {
    Scenario full = scenario;
    full.workload.arrivals_per_s = 0;
    if (full.workload.batch > 1 << 20) return;
    // What the decoding chips keep up with, prefills on them included.
    const Q most = full.serving.disaggregated ? Q::decode_requests : Q::capacity_requests;
    Scenario arriving = full;
    arriving.workload.arrivals_per_s = 0.9 * value_or_nan(full, Q::capacity_requests);
    double last = 0;
    for (const int slots : {1, 2, 4}) {
      arriving.workload.batch = full.workload.batch * slots;
      const Report r = evaluate(arriving);
      if (last > 0) CHECK(value_or_nan(r, Q::mixed_token_time_q) == last);
      last = value_or_nan(r, Q::mixed_token_time_q);
    }
    const double in_flight = value_or_nan(arriving, Q::steady_batch), arrivals = arriving.workload.arrivals_per_s;
    const double ranks = double(full.parallelism.data) * full.parallelism.fsdp * full.parallelism.pipeline;
    full.workload.batch = static_cast<int>(std::max(std::ceil(in_flight), ranks));
    CHECK(value_or_nan(full, most) >= arrivals * (1 - 1e-9));
    if (full.workload.batch > ranks) {
      --full.workload.batch;
      CHECK(value_or_nan(full, most) <= arrivals * (1 + 1e-9));
    }
  });
}

TEST_CASE("a finding says that a promise is broken where and only where the sustained times break it") {
  on_random_scenarios(4, 4000, [](const Scenario& s, const Report& r) {
    const ServiceLevel& slo = s.workload.slo;
    bool token = false, first = false;
    for (const Diagnostic& d : r.diagnostics) {
      token = token || d.code.starts_with("serving.slo_token");
      first = first || d.code.starts_with("serving.slo_ttft");
    }
    CHECK(token ==
          (slo.time_per_output_token_s > 0 && value_or_nan(r, Q::mixed_token_time_q) > slo.time_per_output_token_s));
    CHECK(first == (slo.ttft_s > 0 && value_or_nan(r, Q::ttft) > slo.ttft_s));
    CHECK(keeps_promise(s, r) == !(token || first));
    const ServedTimes times = served_times(s);
    CHECK(times.ttft_s == value_or_nan(r, Q::ttft));
    CHECK(times.token_s == value_or_nan(r, Q::mixed_token_time_q));
  });
}

TEST_CASE("no change that is suggested breaks what held, and a batch that is suggested keeps the promise") {
  int offered = 0;
  on_random_scenarios(5, 6000, [&offered](const Scenario& s, const Report& r) {
    for (const OfferedFinding& finding : vetted_findings(s, r)) {
      const Diagnostic& d = finding.diagnostic;
      if (d.fix.empty()) continue;
      CAPTURE(d.code);
      ++offered;
      const Scenario better = edited(s, d.fix);
      const Report after = evaluate(better);
      CHECK_FALSE(after.has_errors());
      if (r.fits()) CHECK(after.fits());
      if (r.fits() && keeps_promise(s, r)) CHECK(keeps_promise(better, after));
      const auto loaded = [](const Report& report) { return report.quantities.value_or(Q::steady_load, 0) >= 1; };
      if (r.fits() && !loaded(r)) CHECK_FALSE(loaded(after));
    }
  });
  CHECK(offered > 300);
}

TEST_CASE("70B on 8 H100 with a promise of 30 ms: a larger batch that would break it is not suggested") {
  Scenario s = preset("llama3-70b-serving-8-h100");
  s.assumptions.mode = Mode::calibrated;
  s.workload.slo = {.ttft_s = 0.5, .time_per_output_token_s = 0.03};
  for (const int batch : {16, 64, 200, 400, 816}) {
    s.workload.batch = batch;
    const Report r = evaluate(s);
    for (const OfferedFinding& finding : offered_findings(s, r))
      for (const FieldEdit& edit : finding.diagnostic.fix)
        if (edit.field->path == "workload.batch")
          CHECK(value_or_nan(edited(s, finding.diagnostic.fix), Q::mixed_token_time_q) <= 0.03);
  }
}

TEST_CASE(
    "arrivals of a request a second change what is in flight, its time and its cost, not what decoding could do") {
  Scenario s = preset("llama3-70b-serving-8-h100");
  s.assumptions.mode = Mode::calibrated;
  const Report full = evaluate(s);
  s.workload.arrivals_per_s = 1;
  const Report r = evaluate(s);
  CHECK(value_or_nan(r, Q::requests_per_s) == 1);
  CHECK(value_or_nan(r, Q::steady_batch) < value_or_nan(full, Q::steady_batch));
  CHECK(value_or_nan(r, Q::mixed_token_time_q) < value_or_nan(full, Q::mixed_token_time_q));
  CHECK(value_or_nan(r, Q::sustained_cost) > value_or_nan(full, Q::sustained_cost));
  CHECK(value_or_nan(r, Q::time_per_output_token) == value_or_nan(full, Q::time_per_output_token));
}

TEST_CASE("the host's time of a training step is not part of a decoding step on chips fitted to training alone") {
  for (const std::string chip : {"tpu-v4p", "tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu-7x"}) {
    CAPTURE(chip);
    Scenario s = tests::with(preset("llama3-8b-serving-8-h100"), {"cluster.chip=" + chip});
    s.assumptions.mode = Mode::calibrated;
    const Report r = evaluate(s);
    // What is left is the starts of kernels: microseconds each.
    CHECK(value_or_nan(r, Q::decode_host) < 1e-3);
    CHECK(finding(r, "serving.not_fitted") != nullptr);
    s.assumptions.mode = Mode::ideal;
    CHECK(finding(evaluate(s), "serving.not_fitted") == nullptr);
  }
  Scenario s = preset("llama3-8b-serving-8-h100");
  s.assumptions.mode = Mode::calibrated;
  CHECK(finding(evaluate(s), "serving.not_fitted") == nullptr);
}

TEST_CASE("a step in which the host takes longest is bound by the host, not by HBM") {
  Scenario s = preset("llama3-8b-serving-8-h100");
  s.assumptions.mode = Mode::custom;
  CHECK(evaluate(s).bound.kind == BoundKind::hbm);
  s.assumptions.custom[Calibrated::step_host] = 1;
  CHECK(evaluate(s).bound.kind == BoundKind::host);
}
