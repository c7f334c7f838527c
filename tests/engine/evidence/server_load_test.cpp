// What a source says of a server's load and recipe, and what follows for the time to the first token.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/evidence/measured_prediction.h"
#include "engine/evidence/validation.h"
#include "engine/io/presets/evidence_files.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

namespace roofscape {
namespace {

using engine::Mode;
using engine::Q;

// 32 requests in flight on two H200s, with `more` in its batch.
io::Measurement run_of_load(const std::string& more = "") {
  const std::string text =
      R"({"entries": [{"id": "a", "family": "f", "task": "inference", "kind": "measured", "software": "vLLM 0.18.0",
        "config_completeness": "full", "precision_id": "bf16",
        "hardware": {"chip_id": "h200", "count": 2, "node_size": 8}, "parallelism": {"dp": 1, "tp": 2, "pp": 1},
        "batch": {"batch": 32, "prompt_tokens": 2000, "output_tokens": 1000, "rounds": 10)" +
      more + R"(}, "model": {"name": "Llama 3.1 8B", "n_layers": 32, "d_model": 4096, "d_ff": 14336, "n_heads": 32,
        "n_kv_heads": 8, "d_head": 128, "vocab_size": 128256, "gated_mlp": true, "tied_embeddings": false},
        "measured": {"ttft_ms": 100}}]})";
  auto entries = io::read_measurements(text, "m.json");
  REQUIRE_MESSAGE(entries, test::in_english(entries.error()));
  return entries.value().front();
}

// The same with software that runs a batch from its prompts to its last token.
io::Measurement batch_from_start_to_end(const std::string& more = "") {
  io::Measurement run = run_of_load(more);
  run.source = "FasterTransformer";
  run.software.clear();
  run.values = {{"latency_ms", 100.0}};
  return run;
}

engine::Scenario scenario_of(const io::Measurement& run) {
  const evidence::PreparedEntry prepared = evidence::prepare(run, test::shipped(), Mode::calibrated);
  REQUIRE(prepared.scenario);
  return *prepared.scenario;
}

double latency_ms(const io::Measurement& run) {
  return std::get<double>(evidence::predict(run, test::shipped(), Mode::calibrated).values.front());
}

double first_token_ms(const io::Measurement& run) {
  return std::get<double>(evidence::predict(run, test::shipped(), Mode::calibrated).values.front());
}

TEST_CASE("a request that joins after N decoding steps waits for half of them") {
  const io::Measurement each = run_of_load(), thirty = run_of_load(R"(, "join_steps": 30)");
  const double step_ms = engine::evaluate(scenario_of(each)).quantities[Q::decode_step].value() * 1e3;
  CHECK(first_token_ms(thirty) - first_token_ms(each) == doctest::Approx(29.0 / 2 * step_ms).epsilon(1e-9));
}

TEST_CASE("as many prompts go through a pass as its tokens hold, and one at least") {
  CHECK(scenario_of(run_of_load()).serving.prefill_prompts == 4);  // 8192 tokens where nothing is said
  CHECK(scenario_of(run_of_load(R"(, "pass_tokens": 20000)")).serving.prefill_prompts == 10);
  CHECK(scenario_of(run_of_load(R"(, "pass_tokens": 1152)")).serving.prefill_prompts == 1);
}

TEST_CASE("a run takes the decoding steps that it states, else one for each token but the first") {
  const io::Measurement usual = batch_from_start_to_end(),
                        first_too = batch_from_start_to_end(R"(, "decode_steps": 1000)"),
                        none = batch_from_start_to_end(R"(, "decode_steps": 0)");
  const double step_ms = engine::evaluate(scenario_of(usual)).quantities[Q::decode_step].value() * 1e3;
  CHECK(latency_ms(first_too) - latency_ms(usual) == doctest::Approx(step_ms).epsilon(1e-9));
  CHECK(latency_ms(usual) - latency_ms(none) == doctest::Approx(999 * step_ms).epsilon(1e-9));
}

TEST_CASE("the prompts of a batch that runs from start to end are cut into passes, with no step between them") {
  const io::Measurement whole = batch_from_start_to_end(R"(, "decode_steps": 0)"),
                        cut = batch_from_start_to_end(R"(, "decode_steps": 0, "pass_tokens": 1024)");
  const engine::Scenario s = scenario_of(cut);
  CHECK(scenario_of(whole).serving.prefill_chunk_tokens == 0);
  CHECK(s.serving.prefill_chunk_tokens == 1024);
  CHECK(s.serving.prefill_prompts == 32);
  const engine::Report r = engine::evaluate(s);
  CHECK(r.quantities[Q::prefill_chunks_q] == 63);  // 64,000 tokens
  CHECK(latency_ms(cut) == doctest::Approx(1e3 * r.quantities[Q::prefill_time].value()).epsilon(1e-9));
}

TEST_CASE("lengths that are drawn evenly have the mean of what is drawn from") {
  const engine::Scenario s = scenario_of(run_of_load(R"(, "lengths_from": 0.8)"));
  CHECK(s.workload.prompt_tokens == 1800);
  CHECK(s.workload.output_tokens == 900);
}

TEST_CASE("a first token of a server that had run nothing is a kind of its own") {
  const io::Measurement run = run_of_load(R"(, "cold": true)");
  CHECK(evidence::kind_of(run, "ttft_ms") == "first_token_cold");
  CHECK(evidence::kind_of(run, "itl_ms") == "token_time");
  CHECK(evidence::kind_of(run_of_load(), "ttft_ms") == "first_token");
  CHECK(first_token_ms(run) == first_token_ms(run_of_load()));
}

TEST_CASE("every load of InferenceX says what its recipe does") {
  const auto files = io::load_evidence(test::shipped());
  REQUIRE(files);
  std::size_t loads = 0, cold = 0;
  for (const io::Measurement& run : files.value().entries) {
    if (run.table != "InferenceX") continue;
    CAPTURE(run.id);
    CHECK(run.batch->rounds == 10);
    CHECK(run.batch->lengths_from == 0.8);
    CHECK(run.batch->pass_tokens >= *run.batch->prompt_tokens / 2);
    ++loads, cold += run.batch->cold;
  }
  CHECK(loads == 637);
  CHECK(cold == 397);
}

TEST_CASE("first tokens of a model that no fit has seen are off by 30 % in the median, and of runs by 20 %") {
  const auto files = io::load_evidence(test::shipped());
  REQUIRE(files);
  std::vector<io::Measurement> loads;
  for (const io::Measurement& run : files.value().entries)
    if (run.table == "InferenceX") loads.push_back(run);
  const evidence::Validation found = evidence::validate(loads, test::shipped(), Mode::calibrated);
  const auto kind = std::find_if(found.kinds.begin(), found.kinds.end(),
                                 [](const evidence::ValidationSummary& of) { return of.name == "first_token"; });
  REQUIRE(kind != found.kinds.end());
  CHECK(kind->n > 200);
  CHECK(kind->left_out[static_cast<std::size_t>(io::LeftOutKind::model)].median <= 0.30);
  CHECK(kind->left_out[static_cast<std::size_t>(io::LeftOutKind::fold)].median <= 0.20);
}

}  // namespace
}  // namespace roofscape
