// Serving: what the scaling book's chapters 7 and 8 say, asked of whole scenarios.
#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "engine/evaluate/evaluate.h"
#include "engine/serving/serving_inputs.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::near;
using tests::preset;
using tests::value_of;
using tests::with;

namespace {

bool says(const Scenario& s, std::string_view code) {
  for (const Diagnostic& d : evaluate(s).diagnostics)
    if (d.code == code) return true;
  return false;
}
Scenario with_all_fixed(const Scenario& s, std::string_view code) {
  Scenario out = s;
  for (const Diagnostic& d : evaluate(s).diagnostics)
    if (d.code == code) out = tests::fixed(out, d);
  return out;
}

// LLaMA-2 13B on 8 v5e with sequences of 8192 tokens, as in chapter 7.
Scenario book_13b() { return with(preset("llama2-13b-16-v5e"), {"cluster.slice=4x2", "parallelism.data=1"}); }

}  // namespace

TEST_CASE("chapter 7: step time and throughput of LLaMA-2 13B are bytes over bandwidth") {
  constexpr double kWeights = 2 * 13015864320.0, kSequence = 819200.0 * 8192, kBandwidth = 8 * 820e9;
  for (const double batch : {1.0, 8.0, 16.0, 32.0, 64.0}) {
    Scenario s = book_13b();
    s.workload.batch = static_cast<int>(batch);
    const double step = (batch * kSequence + kWeights) / kBandwidth;
    CHECK(value_of(s, Q::decode_step) == near(step));
    CHECK(value_of(s, Q::serving_tokens_per_s) == near(batch / step));
  }
}
TEST_CASE(
    "chapter 7: of LLaMA-2 13B's sequences of 8192 tokens 15 fit on 8 v5e, with 8 KV heads five times as many, and "
    "more") {
  CHECK(value_of(with(book_13b(), {"assumptions.reserve_bytes=0"}), Q::max_batch) == 15);
  CHECK(value_of(with(book_13b(), {"model.n_kv_heads=8"}), Q::max_batch) > 5 * 15);
}
TEST_CASE("chapter 8: a step of LLaMA-3 70B in int8 at batch 32 on 16 v5e is cache and weights over bandwidth") {
  const Scenario s = preset("llama3-70b-16-v5e");
  const double kv = 32 * 163840.0 * 8192 / (16 * 820e9), weights = 70553706496.0 / (16 * 820e9);
  CHECK(value_of(s, Q::decode_kv_read) == near(kv));
  CHECK(value_of(s, Q::decode_weight_read) == near(weights));
  CHECK(value_of(s, Q::decode_flops_time) == near(2 * 70553706496.0 * 32 / (16 * 197e12)));
  CHECK(value_of(s, Q::decode_step) == near(kv + weights));
}
TEST_CASE("chapter 8: prefill of 8192 tokens of LLaMA-3 70B at 40 % takes 0.92 s on 16 v5e") {
  const Scenario s = with(preset("llama3-70b-16-v5e"), {"workload.prompt_tokens=8192"});
  CHECK(value_of(s, Q::prefill_at_mfu) == near(2 * 70553706496.0 * 8192 / (16 * 197e12 * 0.4)));
}
TEST_CASE("chapter 8: LLaMA-3 70B needs slices of 16, 8 and 4 v5e in bf16, int8 and int4") {
  const Scenario s = preset("llama3-70b-16-v5e");
  CHECK(value_of(s, Q::slice_bf16) == 16);
  CHECK(value_of(s, Q::slice_int8) == 8);
  CHECK(value_of(s, Q::slice_int4) == 4);
}
TEST_CASE("the critical batch of v5e is 240 in bf16, half of it with int8 weights, 240 with int8 arithmetic too") {
  const Scenario s = book_13b();
  CHECK(value_of(s, Q::critical_batch) == near(197e12 / 820e9));
  CHECK(value_of(with(s, {"precision.weights=int8"}), Q::critical_batch) == near(197e12 / 820e9 / 2));
  CHECK(value_of(with(s, {"precision.weights=int8", "precision.compute=int8"}), Q::critical_batch) ==
        near(197e12 / 820e9));
}
TEST_CASE("experts raise the critical batch by experts over experts per token") {
  const Scenario s = with(book_13b(), {"model=mixtral-8x7b"});
  CHECK(value_of(s, Q::critical_batch) == near(4 * 197e12 / 820e9));
}
TEST_CASE("a pass reads the experts its tokens are sent to, at most all") {
  const Scenario s = with(preset("llama3-8b-serving-8-h100"),
                          {"model=mixtral-8x7b", "parallelism.data=1", "parallelism.tensor=8", "workload.batch=1"});
  CHECK(value_of(s, Q::experts_hit) == 2);
  CHECK(value_of(with(s, {"workload.batch=64"}), Q::experts_hit) == 8);
}
TEST_CASE("latent attention keeps 576 numbers per token and layer, whatever the heads") {
  const Scenario s = preset("deepseek-v3-h800-wide-expert");
  CHECK(value_of(s, Q::kv_cache_bytes_per_token) == near(2.0 * 576 * 61));
  CHECK(value_of(s, Q::kv_head_ways) == 1);
}
TEST_CASE("layers with a window keep no more than its tokens") {
  const Scenario s = with(book_13b(), {"model=gemma3-27b-text", "parallelism.tensor=8", "serving.page_tokens=0"});
  const auto& m = s.model;
  const double per_layer = 2.0 * 2 * m.n_kv_heads * m.d_head;
  const double tokens =
      (m.n_layers - m.n_local_layers()) * 8192.0 + m.n_local_layers() * double(m.local_attention.window_tokens);
  CHECK(value_of(s, Q::kv_sequence_bytes) == near(per_layer * tokens));
}
TEST_CASE("pages round a sequence's memory up but not what a step reads") {
  const Scenario s = with(book_13b(), {"serving.page_tokens=1000"});
  CHECK(value_of(s, Q::allocated_tokens) == 9000);
  CHECK(value_of(s, Q::kv_read_bytes) == near(819200.0 * 8192));
}
TEST_CASE("tensor ranks beyond the KV heads copy the cache, unless they take other sequences or tokens") {
  const Scenario s = with(preset("llama3-70b-16-v5e"), {"serving.kv_split=heads"});
  CHECK(value_of(s, Q::kv_copies) == 2);
  CHECK(says(s, "serving.kv_replicated"));
  for (const char* split : {"serving.kv_split=batch", "serving.kv_split=sequence"}) {
    CHECK(value_of(with(s, {split}), Q::kv_copies) == 1);
    CHECK(value_of(with(s, {split}), Q::decode_kv_read) == near(value_of(s, Q::decode_kv_read) / 2));
    CHECK_FALSE(says(with(s, {split}), "serving.kv_replicated"));
  }
  CHECK(value_of(with_all_fixed(s, "serving.kv_replicated"), Q::kv_copies) == 1);
}
TEST_CASE("one sequence cannot be spread over ranks that take other sequences") {
  CHECK(value_of(with(preset("llama3-70b-16-v5e"), {"workload.batch=1"}), Q::kv_copies) == 2);
}
TEST_CASE("context ranks split the cache and the tokens, not the weights") {
  const Scenario s =
      with(preset("llama3-70b-16-v5e"), {"parallelism.tensor=8", "parallelism.context=2", "placement.tensor.axes=1"});
  const Scenario without = with(preset("llama3-70b-16-v5e"), {"parallelism.tensor=8", "placement.tensor.axes=1"});
  CHECK(value_of(s, Q::decode_kv_read) == near(value_of(without, Q::decode_kv_read) / 2));
  CHECK(value_of(s, Q::decode_weight_read) == near(value_of(without, Q::decode_weight_read)));
  CHECK(value_of(s, Q::decode_flops_time) == near(value_of(without, Q::decode_flops_time) / 2));
}
TEST_CASE("no collective is faster than its hops") {
  const Scenario s = with(preset("llama3-70b-16-v5e"), {"workload.batch=1", "assumptions.hop_latency_s=1e-5"});
  // A 4 x 4 slice does not wrap: 3 hops along each axis; four collectives in each of 80 layers, two exchanges of
  // queries.
  CHECK(value_of(s, Q::decode_network) == near(80 * 4 * 6e-5 + 80 * 2 * 6e-5));
  CHECK(evaluate(s).bound.id() == "latency");
}
TEST_CASE("a pipeline reads every stage's weights for each part of the batch and adds its hops") {
  const Scenario one = with(preset("llama3-70b-serving-8-h100"), {"assumptions.flops=6p"});
  const Scenario four = with(one, {"parallelism.tensor=2", "parallelism.pipeline=4"});
  CHECK(value_of(four, Q::pass_sequences) == value_of(one, Q::pass_sequences) / 4);
  CHECK(value_of(four, Q::decode_weight_read) == near(4 * value_of(one, Q::decode_weight_read)));
  CHECK(value_of(four, Q::decode_kv_read) == near(value_of(one, Q::decode_kv_read)));
  CHECK(value_of(four, Q::memory_weights) == near(value_of(one, Q::memory_weights)));
  CHECK(value_of(four, Q::decode_transfer) > 0);
}
TEST_CASE(
    "fewer sequences than stages run at the pace of one a pass, and are warned of, none for a replica is an error") {
  const Scenario four = with(preset("llama3-70b-serving-8-h100"),
                             {"parallelism.tensor=2", "parallelism.pipeline=4", "workload.batch=4"});
  const Scenario one = with(four, {"workload.batch=1"});
  // Each of the four has a pass of its own, which takes as long whether or not the others come.
  CHECK(value_of(one, Q::pass_sequences) == 1);
  CHECK(value_of(one, Q::time_per_output_token) == value_of(four, Q::time_per_output_token));
  CHECK(value_of(one, Q::serving_tokens_per_s) == near(value_of(four, Q::serving_tokens_per_s) / 4));
  CHECK_FALSE(evaluate(one).has_errors());
  CHECK(says(one, "serving.idle_stages"));
  CHECK_FALSE(says(four, "serving.idle_stages"));
  CHECK_FALSE(says(with_all_fixed(one, "serving.idle_stages"), "serving.idle_stages"));
  const Scenario empty =
      with(preset("llama3-8b-serving-8-h100"), {"parallelism.tensor=1", "parallelism.data=8", "workload.batch=4"});
  CHECK(says(empty, "serving.too_few_sequences"));
  CHECK(evaluate(empty).has_errors());
}
TEST_CASE("speculation brings 3.36 tokens per step for four drafts at 0.8, and checks five times the tokens") {
  const Scenario s = with(preset("llama3-70b-serving-8-h100"),
                          {"serving.draft_tokens=4", "serving.acceptance_rate=0.8", "serving.draft_cost=0.05"});
  CHECK(value_of(s, Q::accepted_per_step) == near(3.3616));
  CHECK(value_of(s, Q::pass_tokens) == 5 * 128);
  CHECK(value_of(s, Q::decode_draft) == near(4 * 0.05 * value_of(s, Q::decode_model_step)));
}
TEST_CASE("calibrated, collectives of a decoding step stand between its kernels, and starting them takes time") {
  const Scenario ideal = with(preset("llama3-70b-serving-8-h100"), {"workload.batch=1"});
  const Scenario s = with(ideal, {"assumptions.mode=calibrated"});
  CHECK(value_of(ideal, Q::decode_host) == 0);
  CHECK(value_of(s, Q::decode_host) > 0);
  CHECK(value_of(s, Q::decode_exposed) == near(value_of(s, Q::decode_network)));
  CHECK(value_of(s, Q::decode_step) > 1.5 * value_of(ideal, Q::decode_step));
}
TEST_CASE("calibrated, a pass reads no embedding, and the whole output head where it is not split") {
  const Scenario split = with(preset("llama3-70b-serving-8-h100"), {"assumptions.mode=custom"});
  const Scenario whole = with(split, {"assumptions.custom.whole_head=1"});
  const double vocabulary = 128256.0 * 8192, tensor = split.parallelism.tensor;
  const double bytes = value_of(split, Q::weight_width_bytes);
  CHECK(value_of(split, Q::weight_read_bytes) ==
        near(bytes * (value_of(split, Q::params_total) - vocabulary) / tensor));
  CHECK(value_of(whole, Q::weight_read_bytes) - value_of(split, Q::weight_read_bytes) ==
        near(bytes * vocabulary * (1 - 1 / tensor)));
}
TEST_CASE("prompts that are prefilled together read the weights once") {
  const Scenario one = with(preset("llama2-13b-16-v5e"), {"workload.prompt_tokens=16"});
  const Scenario four = with(one, {"serving.prefill_prompts=4"});
  CHECK(value_of(four, Q::prefill_weight_read) == value_of(one, Q::prefill_weight_read));
  CHECK(value_of(four, Q::prefill_flops_time) == near(4 * value_of(one, Q::prefill_flops_time)));
}
TEST_CASE("prompts that go together fill the chunks one behind the other") {
  const Scenario one = with(preset("llama3-70b-serving-8-h100"), {"workload.prompt_tokens=512"});
  const Scenario four = with(one, {"serving.prefill_prompts=4", "serving.prefill_chunk_tokens=1024"});
  CHECK(value_of(four, Q::prefill_chunks_q) == 2);
  CHECK(value_of(four, Q::prefill_pass_tokens) == 1024);
  CHECK(value_of(four, Q::prefill_weight_read) == near(2 * value_of(one, Q::prefill_weight_read)));
  CHECK(value_of(four, Q::prefill_kv_read) == near(4 * value_of(one, Q::prefill_kv_read)));
}
TEST_CASE("a chunk of a longer prompt reads what the prompt's earlier ones left, not those of other prompts") {
  const Scenario one =
      with(preset("llama3-70b-serving-8-h100"), {"workload.prompt_tokens=2048", "serving.prefill_chunk_tokens=1024"});
  const Scenario four = with(one, {"serving.prefill_prompts=4"});
  CHECK(value_of(four, Q::prefill_chunks_q) == 4 * value_of(one, Q::prefill_chunks_q));
  CHECK(value_of(four, Q::prefill_kv_read) == near(4 * value_of(one, Q::prefill_kv_read)));
}
TEST_CASE("stages take prompts that go together in groups, and in chunks where there are any") {
  const Scenario four = with(preset("llama3-70b-serving-8-h100"),
                             {"parallelism.tensor=4", "parallelism.pipeline=2", "workload.prompt_tokens=512",
                              "serving.prefill_chunk_tokens=0", "serving.prefill_prompts=4"});
  CHECK(value_of(four, Q::prefill_chunks_q) == 2);
  CHECK(value_of(with(four, {"serving.prefill_chunk_tokens=512"}), Q::prefill_chunks_q) == 4);
  CHECK(value_of(with(four, {"serving.prefill_chunk_tokens=8192"}), Q::prefill_chunks_q) == 1);
}
TEST_CASE("software that trains does not serve, and the other way round") {
  const Scenario s = with(preset("llama3-70b-serving-8-h100"), {"assumptions.stack=megatron"});
  CHECK(software_stack(s) == SoftwareStack::inflight);
  CHECK(software_stack(with(s, {"assumptions.stack=faster-transformer"})) == SoftwareStack::faster_transformer);
  CHECK(software_stack(with(preset("llama3-8b-8-h100"), {"assumptions.stack=inflight"})) ==
        software_stack(preset("llama3-8b-8-h100")));
}
TEST_CASE("a prefix found in the cache is not prefilled") {
  const Scenario s = with(preset("llama3-70b-16-v5e"), {"serving.prefix_hit_rate=0.5"});
  CHECK(value_of(s, Q::prefill_linear_flops) ==
        near(0.5 * value_of(preset("llama3-70b-16-v5e"), Q::prefill_linear_flops)));
}
TEST_CASE("chunks let a decoding step run between them") {
  const Scenario s =
      with(preset("llama3-70b-serving-8-h100"), {"workload.prompt_tokens=4096", "serving.prefill_chunk_tokens=1024"});
  CHECK(value_of(s, Q::prefill_chunks_q) == 4);
  CHECK(value_of(s, Q::ttft_interleave) == near(3 * value_of(s, Q::decode_step)));
}
TEST_CASE("a histogram of one bin is the fixed lengths") {
  const Scenario s = preset("llama3-70b-serving-8-h100");
  const Scenario bins = with(s, {"workload.lengths.0.share=3", "workload.lengths.0.prompt_tokens=2048",
                                 "workload.lengths.0.output_tokens=512"});
  for (const Q q : {Q::decode_step, Q::prefill_time, Q::ttft, Q::max_batch, Q::requests_per_s})
    CHECK(value_of(bins, q) == near(value_of(s, q)));
}
TEST_CASE("sequences that generate longer weigh more in the cache") {
  const Scenario s = with(preset("llama3-70b-serving-8-h100"),
                          {"workload.lengths.0.share=1", "workload.lengths.0.prompt_tokens=1000",
                           "workload.lengths.0.output_tokens=100", "workload.lengths.1.share=1",
                           "workload.lengths.1.prompt_tokens=2000", "workload.lengths.1.output_tokens=300"});
  CHECK(value_of(s, Q::prompt_mean) == 1500);
  CHECK(value_of(s, Q::output_mean) == 200);
  CHECK(value_of(s, Q::sequence_tokens) == near((100 * 1100.0 + 300 * 2300.0) / 400));
}
TEST_CASE("disaggregated phases finish what the slower one keeps up with, and send the cache") {
  const Scenario s = preset("deepseek-v3-h800-wide-expert");
  CHECK(value_of(s, Q::requests_per_s) ==
        std::min(value_of(s, Q::decode_requests), value_of(s, Q::prefill_requests)));
  CHECK(value_of(s, Q::ttft) == near(value_of(s, Q::prefill_time) + value_of(s, Q::ttft_transfer)));
  CHECK(value_of(s, Q::chips_used) == 288);
  // One chip to one chip, an eighth of a node's links each.
  CHECK(value_of(s, Q::transfer_rate) == near(400e9 / 8));
}
TEST_CASE("book: 2.99 prefill servers for each that decodes") {
  // 0.91 s a prefill, 19 ms a step of 32 sequences, 512 tokens an answer: here by the plan's own times.
  const Scenario s = preset("llama3-70b-16-v5e");
  CHECK(value_of(s, Q::prefill_servers_q) ==
        near(value_of(s, Q::prefill_stage_time) * 32 / (value_of(s, Q::decode_step) * 512)));
}
TEST_CASE("advice of too little prefill asks for what keeps up") {
  const Scenario s = with(preset("deepseek-v3-h800-wide-expert"),
                          {"model=llama3-8b", "parallelism.expert=1", "serving.prefill.expert=1",
                           "serving.prefill.data=1", "serving.draft_tokens=0"});
  REQUIRE(says(s, "serving.too_little_prefill"));
  const Scenario better = with_all_fixed(s, "serving.too_little_prefill");
  CHECK_FALSE(says(better, "serving.too_little_prefill"));
  CHECK(value_of(better, Q::prefill_requests) >= value_of(better, Q::decode_requests));
}
TEST_CASE("FSDP in generation gathers all weights for every token, and is said") {
  const Scenario s = with(preset("llama3-8b-serving-8-h100"), {"parallelism.data=1", "parallelism.fsdp=8"});
  REQUIRE(says(s, "serving.fsdp"));
  CHECK(value_of(s, Q::decode_exposed) > 0);
  const Scenario better = with_all_fixed(s, "serving.fsdp");
  CHECK(better.parallelism.data == 8);
  CHECK(value_of(better, Q::decode_exposed) == 0);
}
TEST_CASE("a batch that does not fit is answered with the largest that does") {
  const Scenario s = with(book_13b(), {"workload.batch=64"});
  REQUIRE(says(s, "serving.batch_does_not_fit"));
  const Scenario better = with_all_fixed(s, "serving.batch_does_not_fit");
  CHECK(better.workload.batch == 15);
  CHECK(evaluate(better).fits());
  CHECK_FALSE(evaluate(with(better, {"workload.batch=16"})).fits());
}
TEST_CASE("below the critical batch the one that is not memory-bound is named, where it fits") {
  const Scenario s = with(preset("llama3-70b-serving-8-h100"), {"assumptions.flops=6p"});
  REQUIRE(says(s, "serving.memory_bound"));
  const Scenario better = with_all_fixed(s, "serving.memory_bound");
  CHECK_FALSE(says(better, "serving.memory_bound"));
  CHECK(value_of(better, Q::decode_flops_time) >= value_of(better, Q::decode_weight_read));
}
TEST_CASE("arrivals settle at the batch of Little's law") {
  const Scenario s =
      with(preset("llama3-70b-serving-8-h100"), {"workload.arrivals_per_s=10", "assumptions.flops=6p"});
  // In flight = arrivals x time of their tokens, prefills of the others included.
  const double batch = value_of(s, Q::steady_batch);
  Scenario in_flight = with(s, {"workload.arrivals_per_s=0"});
  in_flight.workload.batch = static_cast<int>(std::floor(batch));
  const double low = value_of(in_flight, Q::time_per_output_token);
  ++in_flight.workload.batch;
  const double high = value_of(in_flight, Q::time_per_output_token);
  const double token = low + (high - low) * (batch - std::floor(batch));
  const double mixed = token + value_of(s, Q::prefill_stage_time) * batch / 512;
  CHECK(batch == doctest::Approx(10 * 512 * mixed).epsilon(1e-9));
  CHECK(says(with(s, {"workload.arrivals_per_s=1000"}), "serving.overloaded"));
}
TEST_CASE("what applies to training only is absent from a serving report, and the other way round") {
  const Report serving = evaluate(preset("llama3-70b-16-v5e")), training = evaluate(preset("llama3-70b-v5p-pod"));
  for (const Q q : {Q::mfu, Q::step_time, Q::run_days, Q::memory_optimizer, Q::bound_fsdp_1, Q::flops_per_token})
    CHECK(serving.quantities.absence(q) == Absence::not_applicable);
  for (const Q q : {Q::decode_step, Q::ttft, Q::max_batch, Q::memory_kv_cache})
    CHECK(training.quantities.absence(q) == Absence::not_applicable);
  CHECK(serving.operations.empty());
  CHECK(serving.stages.empty());
  CHECK_FALSE(serving.pipeline.drawn());
}
TEST_CASE("a report may be used for training and serving in turn") {
  Report report;
  EvaluationScratch scratch;
  for (const char* id : {"llama3-405b-16k-h100", "llama3-70b-16-v5e", "llama3-405b-16k-h100"}) {
    evaluate(preset(id), scratch, report);
    CHECK(report.quantities == evaluate(preset(id)).quantities);
    CHECK(report.stages.size() == evaluate(preset(id)).stages.size());
    CHECK(report.pipeline.timeline.start == evaluate(preset(id)).pipeline.timeline.start);
  }
}
TEST_CASE("serving survives every field at both ends of its domain") {
  for (const char* id : {"llama3-70b-16-v5e", "deepseek-v3-h800-wide-expert"}) {
    Report report;
    EvaluationScratch scratch;
    for (const Field& field : scenario_fields())
      for (const double end : {field.minimum, field.maximum}) {
        if (!in_domain(field, end)) continue;
        Scenario s = preset(id);
        field.set(s, end);
        CAPTURE(std::string(field.path));
        evaluate(s, scratch, report);
        for (std::size_t q = 0; q < kReportQuantityCount; ++q)
          REQUIRE(std::isfinite(report.quantities.value_or(static_cast<Q>(q), 0)));
      }
  }
}
