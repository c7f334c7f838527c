// Runs that contradict their neighbours: which are marked, and that nothing but a summary of their own counts them.
#include <doctest/doctest.h>

#include <algorithm>

#include "engine/evidence/contradicting_runs.h"
#include "engine/evidence/evidence_points.h"
#include "engine/evidence/one_change_pairs.h"
#include "engine/evidence/validation.h"
#include "engine/io/presets/evidence_files.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

namespace roofscape {
namespace {

std::vector<io::Measurement> read_runs(const std::string& text) {
  auto entries = io::read_measurements(R"({"entries": [)" + text + "]}", "m.json");
  REQUIRE_MESSAGE(entries, test::in_english(entries.error()));
  return std::move(entries.value());
}

// A server that answers `requests` at once, a token in `itl_ms`.
std::string server_run(const std::string& id, int requests, double itl_ms,
                       const std::string& software = "vLLM 0.18.0", int tensor = 2, int prompt_tokens = 1024) {
  return R"({"id": ")" + id + R"(", "family": "f", "task": "inference", "kind": "measured", "software": ")" +
         software +
         R"(", "config_completeness": "full", "precision_id": "bf16", "hardware": {"chip_id": "h200", "count": )" +
         std::to_string(tensor) + R"(, "node_size": 8}, "parallelism": {"dp": 1, "tp": )" + std::to_string(tensor) +
         R"(, "pp": 1}, "batch": {"batch": )" + std::to_string(requests) + R"(, "prompt_tokens": )" +
         std::to_string(prompt_tokens) + R"(, "output_tokens": 1024}, "model": {"name": "Llama 3.1 8B",
           "n_layers": 32, "d_model": 4096, "d_ff": 14336, "n_heads": 32, "n_kv_heads": 8, "d_head": 128,
           "vocab_size": 128256, "gated_mlp": true, "tied_embeddings": false}, "measured": {"itl_ms": )" +
         std::to_string(itl_ms) + "}}";
}

// As many sequences for each of `ranks` data-parallel ones, or `sequences` for all.
std::string training_run(const std::string& id, int ranks, double step_time_s, int tensor = 2, int sequences = 0) {
  return R"({"id": ")" + id + R"(", "family": "f", "task": "train", "kind": "measured", "config_completeness": "full",
    "precision_id": "bf16", "checkpointing_id": "none", "schedule_id": "none", "hardware": {"chip_id": "h100-sxm",
    "count": )" +
         std::to_string(ranks * tensor) + R"(, "node_size": 8}, "parallelism": {"dp": )" + std::to_string(ranks) +
         R"(, "tp": )" + std::to_string(tensor) + R"(, "pp": 1, "zero": 1}, "batch": {"global": )" +
         std::to_string(sequences > 0 ? sequences : 4 * ranks) + R"(, "micro": 1, "seq": 2048},
    "model": {"name": "GPT", "n_layers": 8, "d_model": 1024, "d_ff": 4096, "n_heads": 8, "n_kv_heads": 8,
      "d_head": 128, "vocab_size": 51200, "gated_mlp": false}, "measured": {"step_time_s": )" +
         std::to_string(step_time_s) + "}}";
}

// On 64 chips, dealt to so many stages of its 24 layers.
std::string dealt_run(int stages, double step_time_s, int sequences = 256) {
  return R"({"id": ")" + std::to_string(stages) +
         R"(", "family": "f", "task": "train", "kind": "measured", "config_completeness": "full",
    "precision_id": "bf16", "checkpointing_id": "none", "schedule_id": "1f1b", "hardware": {"chip_id": "h100-sxm",
    "count": 64, "node_size": 8}, "parallelism": {"dp": )" +
         std::to_string(64 / stages) + R"(, "tp": 1, "pp": )" + std::to_string(stages) +
         R"(, "zero": 1}, "batch": {"global": )" + std::to_string(sequences) + R"(, "micro": 1, "seq": 2048},
    "model": {"name": "GPT", "n_layers": 24, "d_model": 1024, "d_ff": 4096, "n_heads": 8, "n_kv_heads": 8,
      "d_head": 128, "vocab_size": 51200, "gated_mlp": false}, "measured": {"step_time_s": )" +
         std::to_string(step_time_s) + "}}";
}

std::vector<std::string> marked_runs(const std::vector<io::Measurement>& entries) {
  const std::vector<bool> contradicts = evidence::contradicting_runs(entries);
  REQUIRE(contradicts.size() == entries.size());
  std::vector<std::string> out;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (contradicts[i]) out.push_back(entries[i].id);
  return out;
}
using RunIds = std::vector<std::string>;

TEST_CASE("a server whose tokens are faster by more than a fifth with more requests contradicts the others") {
  CHECK(marked_runs(read_runs(server_run("8", 8, 5) + "," + server_run("16", 16, 6) + "," + server_run("32", 32, 8) +
                              "," + server_run("512", 512, 4))) == RunIds{"512"});
  // By less it may be noise.
  CHECK(marked_runs(read_runs(server_run("8", 8, 5) + "," + server_run("16", 16, 4.2))).empty());
  // The one in the middle that is too slow.
  CHECK(marked_runs(read_runs(server_run("8", 8, 5) + "," + server_run("16", 16, 20) + "," + server_run("32", 32, 8) +
                              "," + server_run("64", 64, 9))) == RunIds{"16"});
}

TEST_CASE("of two runs that contradict each other alone both are marked") {
  CHECK(marked_runs(read_runs(server_run("8", 8, 9) + "," + server_run("16", 16, 5))) == RunIds{"8", "16"});
}

TEST_CASE("servers that differ in more than their requests do not contradict each other") {
  const std::string fast = server_run("b", 64, 2);
  CHECK(marked_runs(read_runs(server_run("a", 8, 5, "SGLang 0.5") + "," + fast)).empty());
  CHECK(marked_runs(read_runs(server_run("a", 8, 5, "vLLM 0.18.0", 4) + "," + fast)).empty());
  CHECK(marked_runs(read_runs(server_run("a", 8, 5, "vLLM 0.18.0", 2, 8192) + "," + fast)).empty());
  // Versions of one engine are one engine.
  CHECK(marked_runs(read_runs(server_run("a", 8, 5, "vLLM 0.9.2") + "," + fast)) == RunIds{"a", "b"});
  // Another table, or another source, is another machine.
  auto entries = read_runs(server_run("a", 8, 5) + "," + fast);
  entries[1].table = "other";
  CHECK(marked_runs(entries).empty());
}

TEST_CASE("a chip that does more work in a larger cluster contradicts the others") {
  // Of the same sequences for each rank a step takes as long, or longer.
  CHECK(marked_runs(read_runs(training_run("8", 8, 1.0) + "," + training_run("16", 16, 1.02) + "," +
                              training_run("32", 32, 0.98)))
            .empty());
  CHECK(marked_runs(read_runs(training_run("8", 8, 1.0) + "," + training_run("16", 16, 1.02) + "," +
                              training_run("32", 32, 0.9))) == RunIds{"32"});
}

TEST_CASE("a run that was not of its plan contradicts none") {
  auto entries =
      read_runs(training_run("8", 8, 1.0) + "," + training_run("16", 16, 1.02) + "," + training_run("32", 32, 0.9));
  entries[2].ran_otherwise = true;
  CHECK(marked_runs(entries).empty());
}

TEST_CASE("a step of as many sequences that takes longer on more chips contradicts the others") {
  CHECK(marked_runs(read_runs(training_run("8", 8, 1.0, 2, 64) + "," + training_run("16", 16, 0.6, 2, 64))).empty());
  CHECK(marked_runs(read_runs(training_run("8", 8, 1.0, 2, 64) + "," + training_run("16", 16, 1.1, 2, 64))) ==
        RunIds{"8", "16"});
  // More tensor ranks are another plan, and may well be slower.
  CHECK(marked_runs(read_runs(training_run("8", 8, 1.0, 2, 64) + "," + training_run("16", 8, 1.1, 4, 64))).empty());
}

TEST_CASE("a run slower than with fewer stages and than with more contradicts both") {
  const std::string few = dealt_run(2, 1.0), many = dealt_run(8, 1.2);
  CHECK(marked_runs(read_runs(few + "," + dealt_run(4, 1.3) + "," + many)) == RunIds{"4"});
  // By less it may be noise; between the two it is as it should be, and faster than both as well.
  for (const double time : {1.22, 1.1, 0.8}) {
    CAPTURE(time);
    CHECK(marked_runs(read_runs(few + "," + dealt_run(4, time) + "," + many)).empty());
  }
  // With the fewest stages, or the most, a run may be as slow as it is.
  CHECK(marked_runs(read_runs(dealt_run(2, 3.0) + "," + dealt_run(4, 1.3) + "," + many)).empty());
  CHECK(marked_runs(read_runs(few + "," + dealt_run(4, 1.3) + "," + dealt_run(8, 3.0))).empty());
  // Of another batch, or with stages of unequal layers, it is another matter.
  CHECK(marked_runs(read_runs(few + "," + dealt_run(4, 1.3, 128) + "," + many)).empty());
  CHECK(marked_runs(read_runs(few + "," + dealt_run(7, 1.3) + "," + many)).empty());
}

TEST_CASE("a run that contradicts its neighbours is predicted, and summed up apart") {
  const auto entries =
      read_runs(server_run("8", 8, 5) + "," + server_run("16", 16, 6) + "," + server_run("512", 512, 4));
  const evidence::Validation v = evidence::validate(entries, test::shipped(), engine::Mode::calibrated);
  REQUIRE(v.rows.size() == 3);
  CHECK_FALSE(v.rows[1].contradicts);
  CHECK(v.rows[2].contradicts);
  REQUIRE(v.rows[2].predicted);
  CHECK(v.overall.n == 2);
  CHECK(v.contradicting.n == 1);
  CHECK(v.contradicting.worst == std::abs(v.rows[2].error));
  CHECK(v.overall.worst == std::max(std::abs(v.rows[0].error), std::abs(v.rows[1].error)));
}

TEST_CASE("runs that contradict their neighbours are in no pair and near no plan") {
  const auto entries =
      read_runs(training_run("8", 8, 1.0) + "," + training_run("16", 16, 1.02) + "," + training_run("32", 32, 0.8));
  for (const evidence::OneChangePair& pair :
       evidence::one_change_pairs(entries, test::shipped(), engine::Mode::ideal)) {
    CHECK(pair.first != "32");
    CHECK(pair.second != "32");
  }
  io::EvidenceFiles files;
  files.entries = entries;
  files.names["f"] = "f";
  const engine::Evidence evidence = evidence::evidence_points(files, test::shipped(), engine::Mode::ideal);
  const auto bands = engine::bands_by_others(evidence.points, engine::EvidenceKind::step, engine::Others::runs);
  REQUIRE(evidence.points.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(evidence.points[i].contradicts == (evidence.points[i].id == "32"));
    CHECK(bands[i].has_value() == (evidence.points[i].id != "32"));
  }
}

TEST_CASE("numbers scaled by tensor and by block are two formats: alone one change, beside another two") {
  const auto in_format = [](std::string run, const char* format) {
    const std::string bf16 = R"("precision_id": "bf16")";
    return run.replace(run.find(bf16), bf16.size(), std::string(R"("precision_id": ")") + format + "\"");
  };
  const auto pairs = [&](const char* second, const char* of_8, const char* of_16) {
    const auto entries = read_runs(in_format(training_run("a", 8, 1.0), of_8) + "," +
                                   in_format(training_run("b", second[0] == '8' ? 8 : 16, 1.2), of_16));
    return evidence::one_change_pairs(entries, test::shipped(), engine::Mode::ideal);
  };
  REQUIRE(pairs("8", "fp8", "mxfp8").size() == 1);
  CHECK(pairs("8", "fp8", "mxfp8")[0].change == engine::PlanChange::format);
  REQUIRE(pairs("16", "fp8", "fp8").size() == 1);
  CHECK(pairs("16", "fp8", "fp8")[0].change == engine::PlanChange::chips);
  CHECK(pairs("16", "fp8", "mxfp8").empty());
}

TEST_CASE("of the shipped runs ten servers and one training run contradict their neighbours") {
  const auto files = io::load_evidence(test::shipped());
  REQUIRE(files.ok());
  const std::vector<bool> contradicts = evidence::contradicting_runs(files.value().entries);
  std::size_t servers = 0, trainings = 0;
  for (std::size_t i = 0; i < contradicts.size(); ++i)
    if (contradicts[i]) ++(files.value().entries[i].task == "inference" ? servers : trainings);
  CHECK(servers == 10);
  CHECK(trainings == 1);
}

}  // namespace
}  // namespace roofscape
