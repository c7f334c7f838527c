// What is offered was evaluated: it runs, gains exactly what it says, and nothing one step away gains more.
#include "engine/evaluate/offers.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/single_edits.h"
#include "engine/frameworks/rules.h"
#include "engine/inputs/placement.h"
#include "tests/capture_binding.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::preset;
using tests::value_of;
using tests::with;

namespace {

Scenario applied(Scenario s, const Fix& fix) {
  for (const FieldEdit& edit : fix) apply(s, edit);
  return s;
}

bool sets(const Fix& fix, std::string_view path, double value) {
  for (const FieldEdit& edit : fix)
    if (edit.field->path == path && edit.value == value) return true;
  return false;
}

// Every fix on offer, applied, is as good as it says, to the bit.
void check_offers(const Scenario& s) {
  const Report report = evaluate(s);
  const Standing was = standing(s, report);
  for (const OfferedFinding& f : offered_findings(s, report)) {
    CAPTURE(f.diagnostic.code);
    CHECK(f.gain.has_value() == !f.diagnostic.fix.empty());
    CHECK_FALSE((f.diagnostic.code.starts_with("advice.") && !f.gain));
    if (!f.gain) continue;
    const Scenario changed = applied(s, f.diagnostic.fix);
    const Report after = evaluate(changed);
    const Standing now = standing(changed, after);
    CHECK_FALSE(after.has_errors());
    CHECK(f.gain->memory_bytes == now.memory_bytes);
    if (f.gain->measure == GainMeasure::settles) continue;
    CHECK(better(now, was));
    CHECK(now.fits >= was.fits);
    const bool at_same_rate = f.gain->measure == GainMeasure::request_time || f.gain->measure == GainMeasure::memory;
    if (at_same_rate) CHECK(now.rate == was.rate);
    CHECK(f.gain->after == (f.gain->measure == GainMeasure::memory ? now.memory_bytes
                            : !f.gain->timed                       ? now.rate
                            : s.serves()                           ? now.request_s
                                                                   : after.quantities.value_or(Q::step_time, 0)));
    if (at_same_rate) CHECK(f.gain->after < f.gain->before);
    CHECK(now.keeps_promise >= (was.runs && was.fits && was.keeps_promise));
    if (f.gain->measure == GainMeasure::step_time) {
      CHECK(f.gain->before == report.quantities.value_or(Q::step_time, 0));
      CHECK(f.gain->after < f.gain->before);
    }
    if (f.gain->measure == GainMeasure::train_rate || f.gain->measure == GainMeasure::serving_rate)
      CHECK(f.gain->after > f.gain->before);
    if (f.gain->measure == GainMeasure::fits) CHECK_FALSE(was.fits);
    if (f.gain->measure == GainMeasure::runs) CHECK_FALSE(was.runs);
  }
}

// The best of the single edits by evaluating each, without the code under test.
void check_best(const Scenario& s) {
  const Report report = evaluate(s);
  const Standing was = standing(s, report);
  std::optional<Standing> best;
  for (const Fix& fix : single_edits(s, report)) {
    const Scenario changed = applied(s, fix);
    const Standing now = standing(changed, evaluate(changed));
    const bool breaks = was.runs && was.fits && was.keeps_promise && !now.keeps_promise;
    if (now.runs && !breaks && (!best || better(now, *best))) best = now;
  }
  std::optional<Standing> offered;
  for (const OfferedFinding& f : offered_findings(s, report)) {
    if (!f.gain || f.gain->measure == GainMeasure::settles) continue;
    const Scenario changed = applied(s, f.diagnostic.fix);
    const Standing now = standing(changed, evaluate(changed));
    if (!offered || better(now, *offered)) offered = now;
  }
  const bool same_rank = best && was.runs && best->fits == was.fits && best->keeps_up == was.keeps_up &&
                         best->keeps_promise == was.keeps_promise;
  const bool worth = best && better(*best, was) && best->fits >= was.fits &&
                     (!same_rank || best->rate > was.rate * (1 + kWorthOffering)) &&
                     ((was.runs && was.fits) || best->fits);
  if (worth) {
    REQUIRE(offered.has_value());
    CHECK_FALSE(better(*best, *offered));
  }
}

}  // namespace

TEST_CASE("a report without times keeps no service level") {
  const Scenario s = with(preset("llama3-8b-serving-8-h100"), {"workload.slo.time_per_output_token_s=0.05"});
  Report report = evaluate(s);
  REQUIRE(standing(s, report).keeps_promise);
  report.quantities.withhold(Q::mixed_token_time_q);
  CHECK_FALSE(standing(s, report).keeps_promise);
  CHECK(standing(with(s, {"workload.slo.time_per_output_token_s=0"}), report).keeps_promise);
}

TEST_CASE("plans at one rate are ranked by the time of a request, then by memory") {
  const Standing now{true, true, true, true, 100, 2, 0, 60e9};
  Standing other = now;
  CHECK_FALSE(better(other, now));
  other.memory_bytes = 50e9;
  CHECK(better(other, now));
  other.request_s = 3;
  CHECK_FALSE(better(other, now));
  other.rate = 101;
  CHECK(better(other, now));
  other.keeps_up = false;
  CHECK_FALSE(better(other, now));
}

TEST_CASE("where requests decide the rate, a fix that serves them sooner is offered, though it takes more memory") {
  const Scenario s = with(preset("llama3-70b-serving-8-h100"),
                          {"workload.arrivals_per_s=0.5", "parallelism.fsdp=2", "parallelism.tensor=4"});
  const auto findings = vetted_findings(s, evaluate(s));
  const auto fsdp = std::find_if(findings.begin(), findings.end(),
                                 [](const OfferedFinding& f) { return f.diagnostic.code == "serving.fsdp"; });
  REQUIRE((fsdp != findings.end() && fsdp->gain));
  CHECK(fsdp->gain->measure == GainMeasure::request_time);
  CHECK(fsdp->gain->change() < -0.1);
  CHECK(fsdp->gain->memory_bytes == fsdp->leads_to.memory_bytes);
}

TEST_CASE("what arrives faster than it is served is offered a plan that keeps up") {
  const Scenario s = with(preset("llama3-8b-serving-8-h100"), {"workload.batch=8", "workload.arrivals_per_s=20"});
  const Report report = evaluate(s);
  REQUIRE_FALSE(standing(s, report).keeps_up);
  const auto best = offered_findings(s, report);
  const bool mended = std::any_of(best.begin(), best.end(), [](const OfferedFinding& f) {
    return f.gain && f.gain->measure == GainMeasure::keeps_up && f.leads_to.keeps_up;
  });
  CHECK(mended);
}

TEST_CASE("microbatch 4 is proposed for pure FSDP on the v5p pod, with its gain") {
  const Scenario s =
      with(preset("llama3-70b-v5p-pod"),
           {"workload.global_batch_sequences=8192", "workload.sequence_length=512", "parallelism.fsdp=2048",
            "parallelism.tensor=4", "parallelism.context=1", "pipeline.microbatch_sequences=1"});
  const Report report = evaluate(s);
  const auto best = best_edit(s, report);
  REQUIRE(best.has_value());
  CHECK(sets(best->fix, "pipeline.microbatch_sequences", 4));
  CHECK(best->gain.change() < -0.1);
}

TEST_CASE("a fix that would make the step longer is not offered") {
  // FSDP over 8192 chips, one sequence each: with tensor 4 and microbatches of one the step takes longer.
  const Scenario s =
      with(preset("llama3-70b-v5p-pod"), {"workload.global_batch_sequences=8192", "workload.sequence_length=512",
                                          "parallelism.fsdp=8192", "parallelism.tensor=1", "parallelism.context=1"});
  const Report report = evaluate(s);
  CHECK(evaluate(with(s, {"parallelism.fsdp=2048", "parallelism.tensor=4"})).quantities.value_or(Q::step_time, 0) >
        report.quantities.value_or(Q::step_time, 0));
  check_offers(s);
  check_best(s);
  // With microbatches of four it takes a quarter less.
  const auto best = best_edit(s, report);
  REQUIRE(best.has_value());
  CHECK(sets(best->fix, "parallelism.tensor", 4));
  CHECK(sets(best->fix, "pipeline.microbatch_sequences", 4));
  CHECK(best->gain.change() < -0.25);
}

TEST_CASE("no advice is shown against the best plan there is one step away") {
  Scenario s = with(preset("llama3-8b-8-h100"), {"assumptions.mode=calibrated"});
  for (int step = 0; step < 20; ++step) {
    const auto best = best_edit(s, evaluate(s));
    if (!best) break;
    s = applied(s, best->fix);
  }
  REQUIRE_FALSE(best_edit(s, evaluate(s)).has_value());
  for (const OfferedFinding& f : offered_findings(s, evaluate(s)))
    CHECK_FALSE((f.diagnostic.code.starts_with("advice.") && f.diagnostic.code != "advice.best_edit" &&
                 f.gain->change() > -kWorthOffering));
}

TEST_CASE("no change that is tried takes tensor ranks out of the node") {
  for (const std::string_view id : {"llama3-405b-16k-h100-8k", "llama3-8b-8-h100", "llama3-70b-serving-8-h100"})
    for (const std::string_view nodes : {"cluster.nodes=16", "cluster.nodes=2048"}) {
      const Scenario s = with(preset(std::string(id)), {std::string(nodes)});
      REQUIRE_FALSE(crosses_nodes(s.cluster, s.parallelism.tensor));
      for (const Fix& fix : single_edits(s, evaluate(s)))
        CHECK_FALSE(crosses_nodes(s.cluster, applied(s, fix).parallelism.tensor));
    }
}

TEST_CASE("a plan over the memory is offered one that fits, or nothing: never one that is over it too") {
  const Scenario s = with(preset("llama3-8b-8-h100"), {"model=qwen3-32b", "parallelism.zero_stage=1",
                                                       "checkpointing.policy=none", "assumptions.mode=calibrated"});
  const Report report = evaluate(s);
  REQUIRE(report.quantities.value_or(Q::memory_free, 0) < 0);
  bool one = false;
  for (const OfferedFinding& f : offered_findings(s, report)) {
    if (!f.gain || f.gain->measure == GainMeasure::settles) continue;
    one = true;
    CHECK(evaluate(applied(s, f.diagnostic.fix)).quantities.value_or(Q::memory_free, -1) >= 0);
  }
  CHECK(one);
}

TEST_CASE("who breaks one degree of a mesh is offered what runs and fits, no worse than taking it back") {
  int broken = 0, too_large = 0, offered_several = 0;
  for (const std::string_view id :
       {"llama3-405b-16k-h100", "llama3-405b-16k-h100-8k", "gpt3-175b-1024-a100", "deepseek-v3-2048-h800",
        "llama3-8b-8-h100", "llama3-70b-v5p-pod", "llama3-70b-serving-8-h100", "llama3-8b-serving-8-h100"}) {
    const Scenario whole = preset(std::string(id));
    const Standing before = standing(whole, evaluate(whole));
    REQUIRE(before.runs);
    if (!before.fits || crosses_nodes(whole.cluster, whole.parallelism.tensor)) continue;
    const Parallelism& p = whole.parallelism;
    for (const auto& [axis, degree] :
         {std::pair{"data", p.data}, {"fsdp", p.fsdp}, {"tensor", p.tensor}, {"pipeline", p.pipeline}})
      for (const int other : {1, 3, 5, 6, 7, degree + 1, 2 * degree}) {
        const Scenario s = with(whole, {"parallelism." + std::string(axis) + "=" + std::to_string(other)});
        const Report report = evaluate(s);
        const Standing now = standing(s, report);
        if (now.runs && now.fits) continue;
        CAPTURE(id);
        CAPTURE_BINDING(axis);
        CAPTURE(other);
        BestEdit edits(s, report);
        edits.finish();
        const std::optional<Offer> best = edits.offer();
        REQUIRE(best);
        CHECK_FALSE(better(before, best->leads_to));
        const std::vector<Offer> offers = best_offers(edits.offers(), offered_findings(s, report), 3);
        REQUIRE(!offers.empty());
        CHECK(offers.size() <= 3);
        CHECK_FALSE(better(best->leads_to, offers.front().leads_to));
        for (const Offer& offer : offers) {
          const Scenario changed = applied(s, offer.fix);
          const Standing then = standing(changed, evaluate(changed));
          CHECK((then.runs && then.fits));
          CHECK((offer.gain.measure == GainMeasure::runs || offer.gain.measure == GainMeasure::fits));
        }
        for (std::size_t i = 1; i < offers.size(); ++i) CHECK(better(offers[i - 1].leads_to, offers[i].leads_to));
        ++broken, too_large += !now.fits, offered_several += offers.size() > 1;
      }
  }
  CHECK(broken > 50);
  CHECK(too_large > 10);
  CHECK(offered_several > 20);
}

TEST_CASE("more work at a time is advice, and no edit of a plan that runs, but one of a plan whose batch cannot be") {
  const auto changes_work = [](const Scenario& s) {
    const Report report = evaluate(s);
    BestEdit edits(s, report);
    edits.finish();
    const std::vector<Offer> offers = best_offers(edits.offers(), vetted_findings(s, report), 100);
    return std::any_of(offers.begin(), offers.end(),
                       [&s](const Offer& offer) { return applied(s, offer.fix).workload != s.workload; });
  };
  const Scenario runs = with(preset("llama3-70b-v5p-4-pods"), {"assumptions.mode=calibrated"});
  const std::vector<OfferedFinding> advice = vetted_findings(runs, evaluate(runs));
  REQUIRE(std::any_of(advice.begin(), advice.end(),
                      [](const OfferedFinding& f) { return f.gain && f.gain->measure == GainMeasure::train_rate; }));
  CHECK_FALSE(changes_work(runs));
  CHECK(changes_work(with(preset("deepseek-v3-2048-h800"), {"workload.global_batch_sequences=15000"})));
}

TEST_CASE("kernels that keep less are tried where a training plan does not fit, and nowhere else") {
  const auto kernels_tried = [](const Scenario& s) {
    std::set<std::string> out;
    for (const Fix& fix : single_edits(s, evaluate(s)))
      for (const FieldEdit& e : fix)
        if (e.field->path.starts_with("kernels.")) out.insert(std::string(e.field->path));
    return out;
  };
  const Scenario fits = preset("llama3-8b-8-h100");
  CHECK(kernels_tried(fits).empty());
  const Scenario full = with(fits, {"pipeline.microbatch_sequences=16", "workload.sequence_length=16384"});
  REQUIRE(evaluate(full).quantities.value_or(Q::memory_free, 0) < 0);
  CHECK(kernels_tried(full) == std::set<std::string>{"kernels.loss"});
  CHECK(
      kernels_tried(with(full, {"kernels.loss=chunked", "kernels.attention=unfused", "kernels.elementwise=eager"})) ==
      std::set<std::string>{"kernels.attention", "kernels.elementwise"});
}

TEST_CASE("where memory is short the least share of the optimizer that makes it fit is tried on the host") {
  const auto share_tried = [](const Scenario& s) {
    double share = 0;
    for (const Fix& fix : single_edits(s, evaluate(s)))
      for (const FieldEdit& e : fix)
        if (e.field->path == "offload.optimizer_fraction") share = e.value;
    return share;
  };
  const auto fits = [](Scenario s, double share) {
    s.offload.optimizer = share > 0, s.offload.optimizer_fraction = share;
    return value_of(evaluate(s), Q::memory_free) >= 0;
  };
  const Scenario room = preset("llama3-8b-8-h100");
  CHECK(share_tried(room) == 0);
  int tried = 0;
  for (int tokens = 8192; tokens <= 12288; tokens += 256) {
    const Scenario s =
        with(room, {"pipeline.microbatch_sequences=8", fmt::format("workload.sequence_length={}", tokens)});
    int twentieths = 0;
    while (twentieths < 20 && !fits(s, twentieths / 20.0)) ++twentieths;
    CAPTURE(tokens);
    CHECK(share_tried(s) == doctest::Approx(twentieths < 20 ? twentieths / 20.0 : 0));
    tried += twentieths > 0 && twentieths < 20;
  }
  CHECK(tried > 3);
  // Of a plan whose launchers offload all of it or nothing no share is.
  const Scenario pipelined = with(room, {"parallelism.fsdp=4", "parallelism.pipeline=2",
                                         "pipeline.microbatch_sequences=8", "workload.sequence_length=10240"});
  const Scenario half = with(pipelined, {"offload.optimizer=true", "offload.optimizer_fraction=0.5"});
  for (const Framework framework : who_runs(pipelined).can)
    REQUIRE((framework == Framework::jax || broken_rule(framework, half) != nullptr));
  REQUIRE((!fits(pipelined, 0) && fits(pipelined, 0.5)));
  CHECK(share_tried(pipelined) == 0);
}

TEST_CASE("what is offered for a plan that cannot run leads to one that runs") {
  const Scenario s = with(preset("llama3-8b-8-h100"), {"parallelism.tensor=16"});
  const Report report = evaluate(s);
  REQUIRE(report.has_errors());
  const auto all = offered_findings(s, report);
  bool one = false;
  for (const OfferedFinding& f : all)
    if (f.gain) {
      one = true;
      CHECK_FALSE(evaluate(applied(s, f.diagnostic.fix)).has_errors());
    }
  CHECK(one);
}

TEST_CASE("two changes that set one field are offered as the last of them") {
  const Scenario s =
      with(preset("llama3-405b-16k-h100-8k"), {"parallelism.tensor=3", "checkpointing.policy=attention"});
  const std::optional<Offer> best = best_edit(s, evaluate(s));
  REQUIRE(best.has_value());
  CHECK(best->fix.size() == 1);
  CHECK(sets(best->fix, "parallelism.tensor", 8));
}

TEST_CASE("what random plans are offered is as good as it says, and the best of its neighbourhood is there") {
  std::mt19937 rng(2024);
  for (int i = 0; i < 60; ++i) {
    Scenario s = tests::random_scenario(rng);
    s.assumptions.mode = i % 2 == 0 ? Mode::ideal : Mode::calibrated;
    CAPTURE(i);
    check_offers(s);
    check_best(s);
  }
}

TEST_CASE("a torus axis that lies idle is offered to the mesh only where that is quicker, with its gain") {
  const auto unused = [](std::initializer_list<std::string_view> edits) {
    const Scenario s = with(preset("llama3-70b-v5p-pod"), edits);
    for (const OfferedFinding& f : vetted_findings(s, evaluate(s)))
      if (f.diagnostic.code == "torus.unused_axis") return f;
    FAIL("no axis is unused");
    return OfferedFinding{};
  };
  const OfferedFinding slow = unused({"placement.fsdp.axes=1"});
  REQUIRE(slow.gain.has_value());
  CHECK(slow.gain->change() < -0.2);
  CHECK(sets(slow.diagnostic.fix, "placement.fsdp.axes", 0));
  CHECK_FALSE(unused({"placement.fsdp.axes=2", "parallelism.tensor=1", "parallelism.fsdp=1024"}).gain.has_value());
}

TEST_CASE("the same of serving, with and without a service level") {
  for (const char* id : {"llama3-8b-serving-8-h100", "llama3-70b-serving-8-h100", "llama3-70b-16-v5e"})
    for (const char* mode : {"assumptions.mode=ideal", "assumptions.mode=calibrated"})
      for (const char* promise :
           {"workload.slo.time_per_output_token_s=0", "workload.slo.time_per_output_token_s=0.03",
            "workload.slo.time_per_output_token_s=0.001"}) {
        CAPTURE(id);
        CAPTURE(mode);
        CAPTURE(promise);
        const Scenario s = with(preset(id), {mode, promise});
        check_offers(s);
        check_best(s);
      }
}

TEST_CASE("a schedule one step away is one that a launcher of the plan runs, where any but JAX runs the plan") {
  const auto launchers = [](const Scenario& s) {
    std::vector<Framework> out = who_runs(s).can;
    std::erase(out, Framework::jax);
    return out;
  };
  std::mt19937 rng(11);
  int bound = 0;
  for (int i = 0; i < 2000; ++i) {
    const Scenario s = tests::random_scenario(rng);
    const Report report = evaluate(s);
    if (s.parallelism.pipeline == 1 || report.has_errors()) continue;
    const std::vector<Framework> now = launchers(s);
    for (const Fix& fix : single_edits(s, report)) {
      const Scenario changed = after_fix(s, fix);
      if (now.empty() || changed.pipeline.schedule == s.pipeline.schedule) continue;
      const std::vector<Framework> then = launchers(changed);
      CHECK(std::any_of(now.begin(), now.end(),
                        [&](Framework f) { return std::find(then.begin(), then.end(), f) != then.end(); }));
      ++bound;
    }
  }
  CHECK(bound > 0);
}

TEST_CASE("of a plan whose schedule cannot run, schedules that a launcher runs are tried alone where there are any") {
  int mended = 0;
  for (const std::string_view id : {"llama3-405b-16k-h100-8k", "gpt3-175b-1024-a100", "mixtral-8x7b-64-h100"})
    for (const std::string_view broken :
         {"pipeline.schedule=dualpipe", "pipeline.schedule=zb-v", "pipeline.virtual_stages=64"}) {
      const Scenario s = with(preset(std::string(id)), {std::string(broken), "parallelism.expert=1"});
      const Report report = evaluate(s);
      if (!report.has_errors() || s.parallelism.pipeline == 1) continue;
      CAPTURE(id);
      CAPTURE(broken);
      for (const Fix& fix : single_edits(s, report)) {
        const Scenario changed = after_fix(s, fix);
        if (changed.pipeline == s.pipeline || evaluate(changed).has_errors()) continue;
        if (changed.pipeline.microbatch_sequences != s.pipeline.microbatch_sequences) continue;
        const WhoRuns who = who_runs(changed);
        CHECK(std::any_of(who.can.begin(), who.can.end(), [](Framework f) { return f != Framework::jax; }));
        ++mended;
      }
    }
  CHECK(mended > 20);
}
