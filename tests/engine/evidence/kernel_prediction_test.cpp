// Kernels, layers and runs that ran out of memory: what is predicted of them, and that no fit sees what is held out.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engine/evidence/calibration_fit.h"
#include "engine/evidence/fit_rows.h"
#include "engine/evidence/kernel_prediction.h"
#include "engine/evidence/validation.h"
#include "engine/io/presets/evidence_files.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"
#include "tests/test_paths.h"

namespace roofscape {
namespace {

constexpr const char* kLlama =
    R"("model": {"name": "Llama 3.1 8B", "n_layers": 32, "d_model": 4096, "d_ff": 14336, "n_heads": 32, "n_kv_heads": 8,
        "d_head": 128, "vocab_size": 128256, "gated_mlp": true, "tied_embeddings": false},
     "parallelism": {"dp": 1, "tp": 1, "pp": 1, "zero": 0})";

evidence::Validation validated(const std::string& members, const std::string& measured,
                               engine::Mode mode = engine::Mode::ideal) {
  const std::string text =
      R"({"entries": [{"id": "a", "family": "f", "kind": "measured", "hardware": {"chip_id": "h200", "count": 1},
          "config_completeness": "full", "precision_id": "bf16", )" +
      members + R"(, "measured": {)" + measured + "}}]}";
  const auto entries = io::read_measurements(text, "m.json");
  REQUIRE_MESSAGE(entries, test::in_english(entries.error()));
  return evidence::validate(entries.value(), test::shipped(), mode);
}
double predicted(const std::string& members, const std::string& quantity, engine::Mode mode = engine::Mode::ideal,
                 double measured = 1) {
  const evidence::Validation v = validated(members, "\"" + quantity + "\": " + std::to_string(measured), mode);
  REQUIRE_MESSAGE(v.rows.at(0).predicted, test::in_english(v.rows.at(0).reason));
  return *v.rows.at(0).predicted;
}
std::string attention(const char* pass, const char* causal) {
  return std::string(R"("task": "attention", "op": {"op": "attention_)") + pass +
         R"(", "batch": 2, "tokens": 8192, "heads": 32, "d_head": 128, "causal": )" + causal + "}";
}

TEST_CASE("attention is four FLOP a pair of tokens and element of a head, of which the causal half is done") {
  const double full = predicted(attention("forward", "false"), "time_us");
  CHECK(full == doctest::Approx(4.0 * 2 * 8192 * 8192 * 32 * 128 / 990e12 * 1e6));
  CHECK(predicted(attention("forward", "true"), "time_us") == doctest::Approx(full / 2));
  CHECK(predicted(attention("backward", "true"), "time_us") == doctest::Approx(full / 2 * 2.5));
}

TEST_CASE("attention alone and attention of a layer are one formula") {
  // A layer of nothing but attention does not exist: what two lengths differ by, less what grows in proportion.
  const auto at = [](int tokens) {
    return predicted(std::string(R"("task": "layer", "checkpointing_id": "none", "schedule_id": "none", )") + kLlama +
                         R"(, "batch": {"global": 1, "micro": 1, "seq": )" + std::to_string(tokens) + "}",
                     "forward_ms", engine::Mode::calibrated);
  };
  const auto alone = [](int tokens) {
    return predicted(std::string(R"("task": "attention", "op": {"op": "attention_forward", "batch": 1, "tokens": )") +
                         std::to_string(tokens) + R"(, "heads": 32, "d_head": 128, "causal": true})",
                     "time_ms", engine::Mode::calibrated);
  };
  // Per token the rest of a layer takes the same, but for the waves of its products.
  const double grown = at(65536) / 65536 - at(32768) / 32768;
  CHECK(grown == doctest::Approx(alone(65536) / 65536 - alone(32768) / 32768).epsilon(0.1));
}

TEST_CASE("TFLOP/s may be counted without the gates of MLPs and without the windows of attention") {
  // Megatron Bridge up to 26.04.01 counts 27.24 GFLOP a token of gpt-oss-120b over 4,096 tokens, by its tables' tokens
  // and TFLOP/s: two matrices of an expert's three, and no window in any of the 36 layers.
  const auto flops_per_token = [](const char* basis) {
    const evidence::Validation v = validated(
        R"("task": "pretrain", "checkpointing_id": "none", "schedule_id": "none",
           "model": {"name": "gpt-oss 120B", "n_layers": 36, "d_model": 2880, "d_ff": 2880, "n_heads": 64,
             "n_kv_heads": 8, "d_head": 64, "vocab_size": 201088, "gated_mlp": true, "tied_embeddings": false,
             "moe": {"n_routed_experts": 128, "experts_per_token": 4, "d_ff_expert": 2880},
             "local_attention": {"window_tokens": 128, "n_local_layers": 18}},
           "parallelism": {"dp": 1, "tp": 1, "pp": 1, "ep": 1, "zero": 0},
           "batch": {"global": 4, "micro": 4, "seq": 4096})",
        std::string(R"("tokens_per_s_per_chip": 1, "tflops_per_chip": 1, "flops_basis": ")") + basis + "\"");
    double tokens = 0, tflops = 0;
    for (const evidence::ValidationRow& row : v.rows)
      (row.quantity == "tflops_per_chip" ? tflops : tokens) = row.predicted.value_or(0);
    return tflops / tokens * 1e3;  // GFLOP
  };
  CHECK(flops_per_token("causal attention without windows, MLPs without gates") ==
        doctest::Approx(27.24).epsilon(0.001));
  CHECK(flops_per_token("causal attention") == doctest::Approx(32.7).epsilon(0.002));
}

TEST_CASE("a pass over vectors reads and writes each tensor once") {
  CHECK(predicted(R"("task": "add", "op": {"op": "add", "elements": 1073741824})", "time_us") ==
        doctest::Approx(3 * 2 * 1073741824.0 / 4.8e12 * 1e6));
  CHECK(predicted(R"("task": "fill", "op": {"op": "fill", "elements": 1073741824})", "time_us") ==
        doctest::Approx(2 * 1073741824.0 / 4.8e12 * 1e6));
}

TEST_CASE("a copy from the host takes its bytes over the link") {
  CHECK(predicted(R"("task": "copy", "op": {"op": "host_to_device", "bytes": 64000000})", "time_us") ==
        doctest::Approx(1000));
}

TEST_CASE(
    "a product timed alone runs at the boost clock, one that goes on for seconds at what the power limit leaves") {
  const std::string product = R"("task": "gemm", "op": {"op": "gemm", "m": 8192, "n": 8192, "k": 8192})";
  const double going_on = predicted(product, "time_us", engine::Mode::calibrated);
  const double alone = predicted(product + R"(, "short_run": true)", "time_us", engine::Mode::calibrated);
  CHECK(going_on == doctest::Approx(1632).epsilon(0.06));  // measured for twelve seconds
  CHECK(alone == doctest::Approx(1390).epsilon(0.06));     // and five times in a row
  // Without a calibration the peak is the peak.
  CHECK(predicted(product + R"(, "short_run": true)", "time_us") == predicted(product, "time_us"));
}

TEST_CASE("of a decoding layer the weights and the cache are read") {
  const auto layer = [](int batch, int context) {
    return predicted(std::string(R"("task": "layer", "what": "decode", )") + kLlama + R"(, "batch": {"batch": )" +
                         std::to_string(batch) + R"(, "output_tokens": 1, "prompt_tokens": )" +
                         std::to_string(context) + "}",
                     "decode_ms");
  };
  const double weights = 2.0 * (4096.0 * (4096 + 2048) + 4096.0 * 4096 + 3.0 * 4096 * 14336);
  CHECK(layer(1, 1024) == doctest::Approx(1e3 * (weights + 1024.0 * 4096) / 4.8e12).epsilon(0.02));
  // A cache of many times the chip's memory in all layers: one layer was there.
  CHECK(layer(256, 65536) - layer(256, 32768) == doctest::Approx(1e3 * 256 * 32768.0 * 4096 / 4.8e12).epsilon(0.02));
}

TEST_CASE("a run that ran out of memory is judged right or wrong, and so is one that completed") {
  const auto step = [](int batch) {
    return std::string(R"("task": "pretrain", "checkpointing_id": "none", "schedule_id": "none", )") + kLlama +
           R"(, "batch": {"global": )" + std::to_string(batch) + R"(, "micro": )" + std::to_string(batch) +
           R"(, "seq": 4096})";
  };
  const evidence::Validation right = validated(step(256), R"("completed": 0)", engine::Mode::calibrated);
  CHECK(right.rows.at(0).kind == "fits");
  CHECK(right.rows.at(0).error == 0);
  CHECK(right.overall.false_out_of_memory == 0);
  const evidence::Validation wrong = validated(step(256), R"("completed": 1)", engine::Mode::calibrated);
  CHECK(wrong.rows.at(0).error == -1);
  CHECK(wrong.overall.false_out_of_memory == 1);
  REQUIRE(wrong.operations.size() == 1);
  CHECK(wrong.operations[0].name == "fits");
}

TEST_CASE("a run of which its source says that it was not of its plan is not predicted") {
  const std::string step = std::string(R"("task": "train", "checkpointing_id": "none", "schedule_id": "none", )") +
                           kLlama + R"(, "batch": {"global": 256, "micro": 256, "seq": 4096})";
  CHECK(validated(step, R"("step_time_s": 1)").overall.false_out_of_memory == 1);
  const evidence::Validation v = validated(step + R"(, "ran_otherwise": true)", R"("step_time_s": 1)");
  CHECK(v.overall.false_out_of_memory == 0);
  REQUIRE(v.rows.size() == 1);
  CHECK_FALSE(v.rows[0].predicted);
  CHECK(test::in_english(v.rows[0].reason) == "the source says that it did not run as planned, and not how it ran");
}

TEST_CASE("of a run's memory a fit is given what the driver counts, before what is allocated of it") {
  const auto entries = io::read_measurements(
      std::string(R"({"entries": [{"id": "a", "family": "f", "task": "pretrain", "kind": "measured",
        "hardware": {"chip_id": "h200", "count": 1}, "config_completeness": "full", "precision_id": "bf16",
        "checkpointing_id": "block", "schedule_id": "none", "batch": {"global": 1, "micro": 1, "seq": 4096}, )") +
          kLlama + R"(, "measured": {"max_allocated_gb": 120, "memory_gb_nvidia_smi": 130, "step_time_s": 1}}]})",
      "m.json");
  REQUIRE_MESSAGE(entries, test::in_english(entries.error()));
  std::vector<io::InputError> problems;
  for (const io::CalibrationFile& file : io::shipped_calibrations(problems)) {
    if (file.id != "h100") continue;
    const evidence::FitRows fit(entries.value(), test::shipped(), file, evidence::FitTask::training, file.start);
    REQUIRE(fit.rows().size() == 1);
    std::vector<std::string> observed;
    for (const std::size_t i : fit.rows()[0].values) observed.push_back(entries.value()[0].values[i].quantity);
    CHECK(observed == std::vector<std::string>{"step_time_s", "memory_gb_nvidia_smi"});
  }
}

TEST_CASE("rows of an operation are summed up, and those held out of fits apart") {
  const evidence::Validation v =
      validated(R"("task": "gemm", "held_out": true, "op": {"op": "gemm", "m": 64, "n": 64, "k": 64})",
                R"("time_us": 5)", engine::Mode::calibrated);
  REQUIRE(v.operations.size() == 1);
  CHECK(v.operations[0].name == "gemm bf16");
  CHECK(v.operations[0].held_out.n == 1);
  CHECK(v.operations[0].held_out.median == doctest::Approx(std::abs(v.rows[0].error)));
}

TEST_CASE("what is held out takes no part in a fit") {
  auto entries = io::load_measurements((test::source_dir() / "tests" / "golden" / "measured_runs.json").string());
  REQUIRE(entries);
  std::vector<io::InputError> problems;
  const std::vector<io::CalibrationFile> files = io::shipped_calibrations(problems);
  const io::CalibrationFile* file = nullptr;
  for (const io::CalibrationFile& of : files)
    if (of.id == "tpu-v5e") file = &of;
  REQUIRE(file != nullptr);
  const auto rows = [&] {
    return evidence::fit_calibration(entries.value(), test::shipped(), *file, nullptr, false).rows;
  };
  const std::size_t all = rows();
  REQUIRE(all > 0);
  for (io::Measurement& entry : entries.value()) entry.held_out = true;
  CHECK(rows() == 0);
}

TEST_CASE("measurements of one H200 ship, of which fits may use the memory of four in five training steps") {
  const auto files = io::load_evidence(test::shipped());
  REQUIRE(files);
  std::size_t n = 0, steps = 0, in_fits = 0;
  for (const io::Measurement& m : files.value().entries) {
    if (m.family != "kernels-h200") continue;
    ++n;
    if (m.table == "memory") {
      ++steps;
      if (!m.held_out) ++in_fits;
    } else {
      CHECK_MESSAGE(m.held_out, m.id);
    }
    CHECK_MESSAGE(m.source.starts_with("measured for Roofscape on one H200 (torch 2.11"), m.id);
  }
  CHECK(n == 1293);
  CHECK(steps == 67);
  CHECK(in_fits == 53);
}

}  // namespace
}  // namespace roofscape
