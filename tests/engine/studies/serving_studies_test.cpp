// What is made of a serving scenario on demand beside the latency-throughput trade: the cache against the weights,
// both phases on the roofline, how many chips each phase gets, what a batch may be at most; and parameters as
// published.
#include <doctest/doctest.h>

#include <algorithm>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/service_level.h"
#include "engine/studies/cache_growth.h"
#include "engine/studies/latency_throughput.h"
#include "engine/studies/load_curve.h"
#include "engine/studies/phase_balance.h"
#include "engine/studies/phase_roofline.h"
#include "engine/studies/serving_network.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::finding;
using tests::near;
using tests::preset;
using tests::value_if_any;
using tests::with;

namespace {

// LLaMA-2 13B on 8 v5e with sequences of 8192 tokens, as in chapter 7.
Scenario book_13b_unpaged() {
  return with(preset("llama2-13b-16-v5e"), {"cluster.slice=4x2", "parallelism.data=1", "serving.page_tokens=0"});
}

const CacheLine& own_line(const CacheStudy& study) {
  const auto it = std::find_if(study.lines.begin(), study.lines.end(), [](const CacheLine& l) { return l.own; });
  REQUIRE(it != study.lines.end());
  return *it;
}

const PhaseWork& work(const PhaseRoofline& study, ServingPhase phase, LayerShare share) {
  const auto it = std::find_if(study.works.begin(), study.works.end(),
                               [&](const PhaseWork& w) { return w.phase == phase && w.share == share; });
  REQUIRE(it != study.works.end());
  return *it;
}

}  // namespace

TEST_CASE("chapter 7: four caches of LLaMA-2 13B's 8192 tokens are larger than its weights, and 15 fit beside them") {
  const CacheStudy study = cache_growth(book_13b_unpaged(), CacheAxis::batch);
  CHECK(study.own == 16);
  CHECK(own_line(study).held == 8192);
  CHECK(own_line(study).equal == 4);
  CHECK(own_line(study).last == 15);
}
TEST_CASE(
    "along the length the cache of 16 sequences is as large as the weights where one token of all is their 16th "
    "part") {
  // 26 031 728 640 B over 16 x 819 200 B is 1986.06 tokens.
  const CacheStudy study = cache_growth(book_13b_unpaged(), CacheAxis::length);
  CHECK(study.own == 8192);
  CHECK(own_line(study).held == 16);
  CHECK(own_line(study).equal == 1987);
}
TEST_CASE("every point of the cache study is what evaluate says of it") {
  for (const char* id : {"llama3-70b-serving-8-h100", "deepseek-v3-h800-wide-expert"}) {
    CAPTURE(id);
    const Scenario s = preset(id);
    const CacheStudy study = cache_growth(s, CacheAxis::batch);
    REQUIRE(study.lines.size() == 4);
    for (const CachePoint& p : own_line(study).points) {
      Scenario at = s;
      at.workload.batch = static_cast<int>(p.at);
      const Report r = evaluate(at);
      REQUIRE(p.kv_bytes == *r.quantities[Q::memory_kv_cache]);
      REQUIRE(p.chip_bytes == *r.quantities[Q::memory_total]);
      REQUIRE(p.fits == r.fits());
    }
  }
}
TEST_CASE("sequences four times as long fill the memory with about a quarter of them") {
  const CacheStudy study = cache_growth(preset("llama3-8b-serving-8-h100"), CacheAxis::batch);
  for (std::size_t i = 1; i < study.lines.size(); ++i) {
    CHECK(study.lines[i].held == doctest::Approx(4 * study.lines[i - 1].held).epsilon(0.01));
    CHECK(study.lines[i].last == doctest::Approx(study.lines[i - 1].last / 4).epsilon(0.1));
  }
}
TEST_CASE("a histogram of lengths is stretched bin by bin") {
  const Scenario s = with(
      preset("llama3-70b-serving-8-h100"),
      {"workload.lengths.0.share=1", "workload.lengths.0.prompt_tokens=300", "workload.lengths.0.output_tokens=100"});
  const Scenario longer = with_length(s, 4 * value_if_any(s, Q::sequence_tokens));
  CHECK(longer.workload.lengths[0].prompt_tokens == 1200);
  CHECK(longer.workload.lengths[0].output_tokens == 400);
  CHECK(value_if_any(longer, Q::sequence_tokens) == doctest::Approx(4 * value_if_any(s, Q::sequence_tokens)));
}
TEST_CASE(
    "the batch at which the cache is as large as the weights is explained and stands where the study finds it") {
  CHECK(value_if_any(book_13b_unpaged(), Q::kv_equal_batch) == near(26031728640.0 / (819200.0 * 8192)));
}

TEST_CASE("chapter 8: LLaMA-3 405B in int8 on 64 v5e keeps 15 ms per token up to batch 143") {
  // The question is asked without the network: links as fast as they may be written; and of decoding alone: prefill
  // has chips of its own, more than it needs.
  const Scenario s =
      with(preset("llama3-70b-16-v5e"),
           {"model=llama3-405b", "cluster.slice=8x8", "parallelism.tensor=64", "assumptions.hop_latency_s=1e-12",
            "cluster.chip.ici_bytes_per_s_per_axis_bidirectional=1e15",
            "cluster.chip.ici_bytes_per_s_per_link_oneway=1e15", "serving.disaggregated=true",
            "serving.prefill.tensor=64", "serving.prefill.data=1024"});
  CHECK(largest_batch_within(s, {.ttft_s = 0, .time_per_output_token_s = 0.015}, 4096) == 143);
}
TEST_CASE("a limit of exactly what a batch takes holds for it, and none for too fast a limit") {
  Scenario s = book_13b_unpaged();
  CHECK(largest_batch_within(s, {.ttft_s = 0, .time_per_output_token_s = value_if_any(s, Q::mixed_token_time_q)},
                             4096) == 16);
  CHECK(largest_batch_within(s, {.ttft_s = 0, .time_per_output_token_s = 1e-4}, 4096) == 0);
  CHECK(largest_batch_within(s, {.ttft_s = 0, .time_per_output_token_s = 10}, 4096) == 4096);
}
TEST_CASE("tokens that come late name the batch that keeps the limit, and it does") {
  const Scenario s = with(book_13b_unpaged(), {"workload.batch=64", "workload.slo.time_per_output_token_s=0.02"});
  const Report r = evaluate(s);
  const Diagnostic* d = finding(r, "serving.slo_token");
  REQUIRE(d != nullptr);
  Scenario better = s;
  for (const FieldEdit& edit : d->fix) apply(better, edit);
  CHECK(finding(evaluate(better), "serving.slo_token") == nullptr);
  CHECK(better.workload.batch == d->values[2].value);
  CHECK(value_if_any(better, Q::mixed_token_time_q) <= 0.02);
  ++better.workload.batch;
  CHECK(value_if_any(better, Q::mixed_token_time_q) > 0.02);
}
TEST_CASE("a limit below what reading the weights takes is said to be out of reach") {
  const Report r = evaluate(with(book_13b_unpaged(), {"workload.slo.time_per_output_token_s=0.003"}));
  CHECK(finding(r, "serving.slo_token") == nullptr);
  REQUIRE(finding(r, "serving.slo_token_never") != nullptr);
  CHECK(finding(r, "serving.slo_token_never")->fix.empty());
}
TEST_CASE("a limit that only prefills of others break is a finding of its own") {
  const Scenario s = preset("llama3-70b-serving-8-h100");
  const Report r = evaluate(s);
  const double alone = *r.quantities[Q::time_per_output_token], mixed = *r.quantities[Q::mixed_token_time_q];
  REQUIRE(mixed > alone);
  Scenario limited = s;
  limited.workload.slo.time_per_output_token_s = (alone + mixed) / 2;
  REQUIRE(finding(evaluate(limited), "serving.slo_token_mixed") != nullptr);
  CHECK(finding(evaluate(limited), "serving.slo_token_mixed")->severity == Severity::warning);
  limited.workload.slo.time_per_output_token_s = 1.01 * mixed;
  CHECK(finding(evaluate(limited), "serving.slo_token_mixed") == nullptr);
}
TEST_CASE("a first token that comes late because of the steps between chunks names the batch that is quick enough") {
  Scenario s = with(preset("llama3-70b-serving-8-h100"), {"serving.prefill_chunk_tokens=256"});
  const double prefill = value_if_any(s, Q::prefill_time), ttft = value_if_any(s, Q::ttft);
  s.workload.slo.ttft_s = prefill + 0.9 * (ttft - prefill);
  const Report r = evaluate(s);
  const Diagnostic* d = finding(r, "serving.slo_ttft");
  REQUIRE(d != nullptr);
  Scenario better = s;
  for (const FieldEdit& edit : d->fix) apply(better, edit);
  CHECK(better.workload.batch < s.workload.batch);
  CHECK(value_if_any(better, Q::ttft) <= s.workload.slo.ttft_s);
}
TEST_CASE("a first token that is too late whatever the batch is said to be") {
  const Scenario s = with(preset("llama3-70b-16-v5e"), {"workload.slo.ttft_s=0.01"});
  CHECK(finding(evaluate(s), "serving.slo_ttft_never") != nullptr);
}
TEST_CASE("without limits, and within them, nothing is said about them") {
  for (const char* field :
       {"workload.slo.ttft_s=0", "workload.slo.ttft_s=1000", "workload.slo.time_per_output_token_s=1000"}) {
    CAPTURE(field);
    for (const Diagnostic& d : evaluate(with(book_13b_unpaged(), {field})).diagnostics)
      CHECK_FALSE(d.code.starts_with("serving.slo"));
  }
}
TEST_CASE("points of the trade know whether they keep the limits, and the best of those is found") {
  const Scenario s = with(preset("llama3-70b-serving-8-h100"), {"workload.slo.time_per_output_token_s=0.01"});
  const auto points = latency_throughput(s, {});
  const TradePoint* best = best_kept(points);
  REQUIRE(best != nullptr);
  for (const TradePoint& p : points) {
    CHECK(p.keeps_slo == (p.time_per_token_s <= 0.01));
    if (p.fits && p.keeps_slo) CHECK(p.tokens_per_s_per_chip <= best->tokens_per_s_per_chip);
  }
  CHECK(best_kept(latency_throughput(with(s, {"workload.slo.ttft_s=1e-6"}), {})) == nullptr);
}

TEST_CASE(
    "chapter 7: linear layers of decoding do 2 FLOP per sequence and byte in int8, those of prefill 2 per token") {
  const PhaseRoofline study = phase_roofline(preset("llama3-70b-16-v5e"));
  CHECK(work(study, ServingPhase::decode, LayerShare::linear).intensity_flop_per_byte == near(2 * 32));
  CHECK(work(study, ServingPhase::prefill, LayerShare::linear).intensity_flop_per_byte == near(2 * 7680));
  CHECK(study.ridge_flop_per_byte == near(197e12 / 820e9));
  CHECK(study.critical_batch == near(197e12 / 820e9 / 2));
}
TEST_CASE(
    "chapter 4: attention of decoding does 8 FLOP per byte in bf16 where 8 queries share a KV head, at any batch") {
  for (const char* batch : {"workload.batch=8", "workload.batch=32"}) {
    const PhaseRoofline study = phase_roofline(with(preset("llama3-70b-16-v5e"), {"precision.kv_cache=bf16", batch}));
    CHECK(work(study, ServingPhase::decode, LayerShare::attention).intensity_flop_per_byte == near(8));
  }
}
TEST_CASE("no work is placed over a roof, and shares of a phase add up") {
  for (const char* id : {"llama2-13b-16-v5e", "llama3-8b-serving-8-h100", "deepseek-v3-h800-wide-expert"}) {
    CAPTURE(id);
    const PhaseRoofline study = phase_roofline(preset(id));
    REQUIRE(study.works.size() == 4);
    double prefill = 0, decode = 0;
    for (const PhaseWork& w : study.works) {
      CHECK(w.attainable_flop_per_s <= study.peak_flop_per_s);
      CHECK(w.attainable_flop_per_s <= w.intensity_flop_per_byte * study.hbm_bytes_per_s * (1 + 1e-12));
      (w.phase == ServingPhase::prefill ? prefill : decode) += w.share_of_phase;
    }
    CHECK(prefill == doctest::Approx(1));
    CHECK(decode == doctest::Approx(1));
  }
}
TEST_CASE("calibrated roofs are the rates of that mode, the data sheet's are beside them") {
  const Scenario s = with(preset("llama3-70b-serving-8-h100"), {"assumptions.mode=calibrated"});
  const PhaseRoofline study = phase_roofline(s);
  CHECK(study.peak_flop_per_s == value_if_any(s, Q::peak_flops));
  CHECK(study.hbm_bytes_per_s == value_if_any(s, Q::hbm_bandwidth));
  CHECK(study.critical_batch == value_if_any(s, Q::critical_sequences));
  CHECK(study.ideal_flop_per_s == near(1979e12));
  CHECK(study.ideal_hbm_bytes_per_s == near(3.35e12));
  CHECK(study.peak_flop_per_s < study.ideal_flop_per_s);
}
TEST_CASE("calibrated parts of a step are where their time puts them: FLOPs over what decoding takes for them") {
  const Scenario s = with(preset("llama3-70b-serving-8-h100"), {"assumptions.mode=calibrated"});
  const PhaseRoofline study = phase_roofline(s);
  const PhaseWork &linear = work(study, ServingPhase::decode, LayerShare::linear),
                  &attention = work(study, ServingPhase::decode, LayerShare::attention);
  CHECK(linear.flops / linear.attainable_flop_per_s == near(value_if_any(s, Q::decode_linear)));
  CHECK(attention.flops / attention.attainable_flop_per_s == near(value_if_any(s, Q::decode_attention)));
  for (const PhaseWork& w : study.works)
    CHECK(w.attainable_flop_per_s <= w.intensity_flop_per_byte * study.ideal_hbm_bytes_per_s * (1 + 1e-12));
}
TEST_CASE("the places of larger batches rise along the roof to the ridge") {
  const PhaseRoofline study = phase_roofline(preset("llama3-70b-16-v5e"));
  REQUIRE(study.batches.size() == 7);  // 1 to 64: 120 is critical
  for (const BatchPlace& b : study.batches) CHECK(b.intensity_flop_per_byte == near(2 * b.batch));
}

TEST_CASE("the balance of the phases is the ratio of chips that evaluate gives") {
  const Scenario s = preset("deepseek-v3-h800-wide-expert");
  const PhaseBalance study = phase_balance(s);
  CHECK(study.balance_chips ==
        doctest::Approx(value_if_any(s, Q::prefill_chip_ratio) * value_if_any(s, Q::decode_chips)));
  CHECK(study.shared_requests_per_chip == 0);
}
TEST_CASE("every split is what evaluate says of it, and the best serves most requests for each chip") {
  for (const char* id : {"llama3-70b-serving-8-h100", "llama3-8b-serving-8-h100", "deepseek-v3-h800-wide-expert"}) {
    CAPTURE(id);
    const Scenario s = preset(id);
    const PhaseBalance study = phase_balance(s);
    REQUIRE(study.best >= 0);
    const PhaseSplit& best = study.splits[static_cast<std::size_t>(study.best)];
    for (const PhaseSplit& p : study.splits) {
      const Scenario at = with_prefill_replicas(s, p.prefill_replicas, study.decode_copies);
      REQUIRE(p.requests_per_s == value_if_any(at, Q::requests_per_s));
      REQUIRE(p.decode_chips == study.decode_copies * value_if_any(s, Q::decode_chips));
      CHECK(p.requests_per_s / p.chips() <= best.requests_per_s / best.chips());
    }
  }
}
TEST_CASE(
    "a plan of one replica is taken often enough for the split to be fine: 4 copies of 70B on 8 H100 need 33 prefill "
    "GPUs") {
  const Scenario s = preset("llama3-70b-serving-8-h100");
  const PhaseBalance study = phase_balance(s);
  CHECK(study.decode_copies == 4);
  CHECK(study.balance_chips == doctest::Approx(4 * 8 * value_if_any(s, Q::prefill_chip_ratio)));
  CHECK(study.splits[0].decode_requests_per_s == doctest::Approx(4 * value_if_any(s, Q::decode_requests)));
}
TEST_CASE("splits around the balance: before it prefill is the slower phase, behind it decoding is") {
  const PhaseBalance study = phase_balance(preset("llama3-8b-serving-8-h100"));
  for (const PhaseSplit& p : study.splits)
    CHECK((p.prefill_requests_per_s < p.decode_requests_per_s) == (p.prefill_chips < study.balance_chips));
}
TEST_CASE("prefill replicas that share experts come together, and the plan's own split is among them") {
  const Scenario s = preset("deepseek-v3-h800-wide-expert");
  CHECK(prefill_group(s) == 32);
  int own = 0;
  for (const PhaseSplit& p : phase_balance(s).splits) {
    CHECK(p.prefill_replicas % 32 == 0);
    own += p.own ? p.prefill_replicas : 0;
  }
  CHECK(own == 160);
}
TEST_CASE("training has no cache, no phases and no roofline of them") {
  const Scenario s = preset("llama3-70b-v5p-pod");
  CHECK(cache_growth(s, CacheAxis::batch).lines.empty());
  CHECK(phase_roofline(s).works.empty());
  CHECK(phase_balance(s).splits.empty());
  CHECK(load_curve(s).points.empty());
}

TEST_CASE("under load the first token comes later at every rate, and the scenario's own rate is among the points") {
  const LoadCurve study = load_curve(with(preset("llama3-70b-serving-8-h100"), {"workload.arrivals_per_s=10"}));
  int own = 0;
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    own += study.points[i].own && study.points[i].arrivals_per_s == 10;
    if (i > 0) CHECK(study.points[i].result.ttft_s.mean > study.points[i - 1].result.ttft_s.mean);
  }
  CHECK(own == 1);
}

TEST_CASE("with parameters as published a model with fewer KV heads keeps its size") {
  const Scenario fewer = with(book_13b_unpaged(), {"model.n_kv_heads=8"});
  const Scenario kept = with(fewer, {"assumptions.parameters=published"});
  CHECK(value_if_any(fewer, Q::params_total) == 13015864320.0 - 40 * 2.0 * 5120 * 128 * 32);
  CHECK(value_if_any(kept, Q::params_total) == 13015864320.0);
  CHECK(value_if_any(kept, Q::params_attention) == value_if_any(fewer, Q::params_attention));
  CHECK(value_if_any(kept, Q::decode_weight_read) == near(2 * 13015864320.0 / (8 * 820e9)));
}
TEST_CASE("where counted and published parameters are the same, nothing changes") {
  const Report counted = evaluate(book_13b_unpaged()),
               published = evaluate(with(book_13b_unpaged(), {"assumptions.parameters=published"}));
  for (const Q q : {Q::params_total, Q::params_mlp, Q::params_matmul, Q::decode_step, Q::ttft, Q::memory_total})
    CHECK(*published.quantities[q] == *counted.quantities[q]);
}
TEST_CASE("of a mixture of experts the experts take what is left of the published parameters") {
  const Scenario s =
      with(preset("llama3-8b-serving-8-h100"),
           {"model=mixtral-8x7b", "model.published_total_params=50e9", "assumptions.parameters=published"});
  CHECK(value_if_any(s, Q::params_total) == doctest::Approx(50e9).epsilon(1e-12));
  CHECK(value_if_any(s, Q::params_total) - value_if_any(s, Q::params_active) ==
        doctest::Approx(0.75 * value_if_any(s, Q::params_experts)).epsilon(1e-12));
}

TEST_CASE("transfers of a decoding step are those of evaluate, and hide where work takes longer") {
  Scenario s = preset("llama3-70b-serving-8-h100");
  for (const Mode mode : {Mode::ideal, Mode::calibrated}) {
    s.assumptions.mode = mode;
    const ServingNetwork study = serving_network(s);
    REQUIRE(study.points.size() > 4);
    CHECK(study.own == s.workload.batch);
    for (const ServingNetworkPoint& p : study.points) {
      Scenario at = s;
      at.workload.batch = static_cast<int>(p.batch);
      const Report r = evaluate(at);
      CHECK(p.work_s == *r.quantities[Q::decode_work]);
      CHECK(p.network_s == *r.quantities[Q::decode_network]);
      CHECK(p.exposed_s == *r.quantities[Q::decode_exposed]);
      // The order changes at crossings and nowhere else.
      const auto passed = std::count_if(study.crossings.begin(), study.crossings.end(),
                                        [&p](double crossing) { return crossing < p.batch; });
      CHECK(p.hides() == (study.points.front().hides() == (passed % 2 == 0)));
    }
  }
  s.parallelism.tensor = 1, s.parallelism.data = 8;
  CHECK_FALSE(serving_network(s).known());
  CHECK_FALSE(serving_network(preset("llama3-8b-8-h100")).known());
}
