// Files of measurements: what they may hold, what is refused, what is predicted from an entry and what is not.
#include <doctest/doctest.h>

#include "tests/engine/io/io_fixture.h"

#include "engine/evaluate/evaluate.h"
#include "engine/evidence/measured_scenario.h"
#include "engine/evidence/validation.h"
#include "engine/io/presets/measurements.h"
#include "tests/english.h"

namespace roofscape {
namespace {

// A run of Megatron-LM on 32 chips: a measurement with everything that is needed (Narayanan et al. 2021, table 1).
const std::string kModel =
    R"("model": {"name": "GPT 1.7B", "n_layers": 24, "d_model": 2304, "d_ff": 9216, "n_heads": 24, "n_kv_heads": 24,
       "d_head": 96, "vocab_size": 51200, "gated_mlp": false, "tied_embeddings": true})";
std::string entry(const std::string& change = {}, const std::string& into = {}) {
  std::string text =
      R"({"id": "a", "family": "f", "task": "train", "kind": "measured", "config_completeness": "full", )" + kModel +
      R"(, "hardware": {"chip_id": "a100-80g", "count": 32, "node_size": 8, "cluster": "4x100 Gb/s Omni-Path per node"},
      "parallelism": {"dp": 32, "tp": 1, "pp": 1, "vpp": 1, "cp": 1, "ep": 1, "sp": false, "zero": 0},
      "batch": {"global": 512, "micro": 16, "seq": 2048}, "precision_id": "fp16", "checkpointing_id": "block",
      "schedule_id": "none", "measured": {"step_time_s": 3.528}})";
  if (!change.empty()) {
    const std::size_t at = text.find(change);
    REQUIRE(at != std::string::npos);
    text.replace(at, change.size(), into);
  }
  return text;
}
std::string file_of(const std::string& entries) { return "{\"entries\": [" + entries + "]}"; }

std::string refusal(const std::string& text) {
  const auto result = io::read_measurements(text, "m.json");
  return result ? std::string() : test::in_english(result.error());
}
io::Measurement measurement(const std::string& text) {
  const auto result = io::read_measurements(file_of(text), "m.json");
  REQUIRE(result);
  return result->front();
}
engine::Scenario scenario(const std::string& text) {
  auto built = evidence::build_training_scenario(measurement(text), test::shipped(), engine::Mode::ideal);
  REQUIRE_MESSAGE(std::holds_alternative<evidence::MeasuredScenario>(built),
                  test::in_english(std::get<engine::Sentence>(built)));
  return std::get<evidence::MeasuredScenario>(built).scenario;
}
std::string reason(const std::string& text) {
  auto built = evidence::build_training_scenario(measurement(text), test::shipped(), engine::Mode::ideal);
  return std::holds_alternative<engine::Sentence>(built) ? test::in_english(std::get<engine::Sentence>(built))
                                                         : std::string();
}
std::vector<std::string> guesses(const std::string& text) {
  const auto built = evidence::build_training_scenario(measurement(text), test::shipped(), engine::Mode::ideal);
  std::vector<std::string> out;
  for (const engine::Sentence& guess : std::get<evidence::MeasuredScenario>(built).assumed)
    out.push_back(test::in_english(guess));
  return out;
}

TEST_CASE("a file of measurements that is wrong is refused with the path of what is wrong") {
  CHECK(refusal("[]") == "m.json: is a list; measurements are a JSON object with \"entries\"");
  CHECK(refusal("{}") == "m.json: entries: is missing; give a list of measurements");
  CHECK(refusal(R"({"entries": [3]})") == "m.json: entries.0: is a number; expected an object");
  CHECK(refusal(R"({"entries": [{"id": "a"}]})") == "m.json: entries.0.family: is missing; every entry has one");
  CHECK(refusal(file_of(entry("\"dp\": 32", "\"dp\": \"many\""))) ==
        "m.json: entries.0.parallelism.dp: is a text; expected a number");
  CHECK(refusal(file_of(entry("\"dp\": 32", "\"dp\": -1"))) ==
        "m.json: entries.0.parallelism.dp: -1 is out of range");
  CHECK(refusal(file_of(entry("\"n_layers\": 24", "\"n_layers\": 0"))) ==
        "m.json: entries.0.model.n_layers: 0 is out of range; give a whole number from 1 to 10000");
  CHECK(refusal(file_of(entry() + ", " + entry())) ==
        "m.json: entries.1.id: \"a\" appears twice; give every entry an id of its own");
}

TEST_CASE("entries that are alike stand as rows of a table, with their models beside") {
  const auto read = io::read_measurements_file(
      R"({"models": {"m": {"name": "M", "n_layers": 2}},
          "tables": [{"entry": {"family": "f", "task": "inference", "batch": {"rounds": 10, "lengths_from": 0.8}},
                      "columns": ["id", "model", "hardware.chip_id", "hardware.count", "batch.batch", "measured.itl_ms"],
                      "rows": [["a", "m", "h200", 8, 4, 5.5], ["b", "m", "h200", null, 8, 6.5]]}]})",
      "m.json");
  REQUIRE(read);
  const std::vector<io::Measurement>& entries = read->entries;
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].model->shape.name == "M");
  CHECK(entries[0].hardware->chip_id == "h200");
  CHECK(entries[0].hardware->count == 8);
  CHECK(entries[0].batch->rounds == 10);
  CHECK(entries[0].batch->lengths_from == 0.8);
  CHECK(entries[0].batch->batch == 4);
  CHECK(entries[1].id == "b");
  CHECK_FALSE(entries[1].hardware->count.has_value());
  CHECK(entries[1].values[0].value == 6.5);
}

TEST_CASE("a table that is wrong is refused with the path of what is wrong") {
  const auto table = [](const std::string& members) { return refusal("{\"tables\": [" + members + "]}"); };
  const std::string remedy = "; write \"columns\" as a list of texts and \"rows\" as a list of lists";
  CHECK(refusal(R"({"tables": 3})") == "m.json: tables: is a number" + remedy);
  CHECK(table("3") == "m.json: tables.0: a table has columns, each a text, and rows" + remedy);
  CHECK(table(R"({"columns": [1], "rows": []})") ==
        "m.json: tables.0: a table has columns, each a text, and rows" + remedy);
  CHECK(table(R"({"columns": ["id", "family"], "rows": [["a"]]})") ==
        "m.json: tables.0.rows.0: 1 value for 2 columns; give a value for each column, null for none");
  CHECK(table(R"({"columns": ["id", "id.x"], "rows": [["a", 1]]})") ==
        "m.json: tables.0.rows.0: \"id.x\" cannot be a column" + remedy);
  CHECK(table(R"({"columns": ["id", "model"], "rows": [["a", "m"]]})") ==
        "m.json: tables.0.rows.0: no model \"m\" stands under \"models\"; put its shape there, by this name");
  CHECK(table(R"({"columns": ["id"], "rows": [["a"]]})") ==
        "m.json: tables.0.rows.0.family: is missing; every entry has one");
}

TEST_CASE("whole data-parallel degrees become replicas and groups that shard state") {
  CHECK(scenario(entry()).parallelism.data == 32);
  CHECK(scenario(entry()).parallelism.fsdp == 1);
  CHECK(scenario(entry("\"zero\": 0", "\"zero\": 1")).parallelism.fsdp == 32);
  const engine::Scenario grouped = scenario(entry("\"zero\": 0", "\"zero\": 1, \"zero_group\": 8"));
  CHECK(grouped.parallelism.fsdp == 8);
  CHECK(grouped.parallelism.data == 4);
}

TEST_CASE("the links of a cluster are read from its words") {
  const auto node = [](const std::string& words) {
    return scenario(entry("4x100 Gb/s Omni-Path per node", words))
        .cluster.chip[engine::ChipField::scaleout_bytes_per_s_per_node_oneway]
        .value.value_or(0);
  };
  CHECK(node("4x100 Gb/s Omni-Path per node") == 50e9);
  CHECK(node("NVSwitch in node, 800 Gb/s per node") == 100e9);
  CHECK(node("400 Gb/s per GPU") == 400e9);
  CHECK(node("some network") == 200e9);  // the chip's own figure
}

TEST_CASE("what an entry leaves open is guessed by a rule that is said") {
  CHECK(guesses(entry()).empty());
  CHECK(guesses(entry("\"micro\": 16", "\"micro\": null")) == std::vector<std::string>{"microbatch of 4 sequences"});
  CHECK(guesses(entry("\"vocab_size\": 51200", "\"vocab_size\": null")) ==
        std::vector<std::string>{"vocabulary of 51200 tokens"});
}

TEST_CASE("what an entry states of its kernels is what its scenario has, another word is refused with its path") {
  const auto with_kernels = [](const char* kernels) {
    return entry("\"schedule_id\"", std::string("\"kernels\": ") + kernels + ", \"schedule_id\"");
  };
  const engine::KernelChoices kernels =
      scenario(with_kernels(R"({"attention": "unfused", "loss": "plain", "elementwise": "eager"})")).kernels;
  CHECK(kernels == engine::KernelChoices{engine::AttentionKernel::unfused, engine::LossKernel::plain,
                                         engine::ElementwiseKernel::eager});
  CHECK(scenario(entry()).kernels == engine::KernelChoices{});
  CHECK(refusal(file_of(with_kernels(R"({"loss": "flash"})"))) ==
        "m.json: entries.0.kernels.loss: \"flash\" is not possible here; give one of: auto plain fused chunked");
  CHECK(refusal(file_of(with_kernels("\"plain\""))) == "m.json: entries.0.kernels: is a text; expected an object");
}

TEST_CASE("what a framework handed out is predicted without the reserve of the device that takes most") {
  io::Measurement one = measurement(entry(R"("dp": 32, "tp": 1, "pp": 1,)", R"("dp": 4, "tp": 1, "pp": 8,)"));
  one.schedule = "1f1b";
  one.batch->micro = 1;
  one.values = {{"memory_gb", 20.0}, {"max_allocated_gb", 18.0}};
  const evidence::Validation of = evidence::validate({&one, 1}, test::shipped(), engine::Mode::calibrated);
  REQUIRE(of.rows.size() == 2);
  const auto built = evidence::build_training_scenario(one, test::shipped(), engine::Mode::calibrated);
  const engine::Report report = engine::evaluate(std::get<evidence::MeasuredScenario>(built).scenario);
  const double reserve = report.stages.at(static_cast<std::size_t>(report.fullest_stage)).memory_bytes.back();
  CHECK(of.rows[0].predicted.value() - of.rows[1].predicted.value() == doctest::Approx(reserve / 1e9).epsilon(1e-9));
}

TEST_CASE("an entry that cannot be built says why") {
  CHECK(reason(entry("\"n_heads\": 24", "\"n_heads\": null")) == "the model's n_heads is not stated");
  CHECK(reason(entry("a100-80g", "a100")) == "the chip is not one of the presets");
  CHECK(reason(entry("\"count\": 32", "\"count\": 31")) == "32 x 1 x 1 x 1 ranks are not 31 devices");
  CHECK(reason(entry("\"tp\": 1", "\"tp\": null")) == "the split over tensor and pipeline ranks is not stated");
}

TEST_CASE("FLOPs are counted as the entry's words say") {
  const auto predicted = [](const std::string& basis) {
    const std::string measured = R"("tflops_per_chip": 100, "flops_basis": ")" + basis + "\"";
    const auto entries = io::read_measurements(file_of(entry("\"step_time_s\": 3.528", measured)), "m.json");
    return evidence::validate(entries.value(), test::shipped(), engine::Mode::ideal).rows.at(0).predicted.value_or(0);
  };
  // Recomputing every layer adds a third of the layers' forward and backward; the logits are not computed again.
  const double model = predicted("model FLOPs, non-causal attention (full s^2)");
  CHECK(predicted("hardware FLOPs incl. recompute") > 1.3 * model);
  CHECK(predicted("hardware FLOPs incl. recompute") < 4.0 / 3 * model);
  CHECK(predicted("model FLOPs, causal attention") < model);
  CHECK(predicted("") == model);
}

TEST_CASE("every measured quantity has a row: an error or a reason") {
  const auto entries = io::read_measurements(
      file_of(entry("\"step_time_s\": 3.528", "\"step_time_s\": 3.528, \"smiles\": 3")), "m.json");
  const evidence::Validation v = evidence::validate(entries.value(), test::shipped(), engine::Mode::ideal);
  REQUIRE(v.rows.size() == 2);
  CHECK(v.rows[0].quantity == "smiles");
  CHECK(test::in_english(v.rows[0].reason) == "nothing predicts this quantity");
  CHECK(v.rows[1].error == doctest::Approx((v.rows[1].predicted.value_or(0) - 3.528) / 3.528));
  CHECK(v.overall.n == 1);
  CHECK(v.overall.not_predicted == 1);
}

TEST_CASE("a summary's median, mean, 90th percentile and bias are those of the rows") {
  std::vector<evidence::ValidationRow> rows;
  for (const double error : {-0.3, 0.1, 0.2, -0.2, 0.1}) {
    evidence::ValidationRow row;
    row.id = "r", row.family = "f", row.kind = "k", row.predicted = 1, row.error = error;
    rows.push_back(row);
  }
  const evidence::ValidationSummary s = evidence::summarised(rows).overall;
  CHECK(s.median == doctest::Approx(0.2));
  CHECK(s.mean == doctest::Approx(0.18));
  CHECK(s.p90 == doctest::Approx(0.26));
  CHECK(s.worst == doctest::Approx(0.3));
  CHECK(s.bias == doctest::Approx(-0.02));
}

}  // namespace
}  // namespace roofscape
