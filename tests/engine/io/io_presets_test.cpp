// The presets that ship, a user's folder over them, the schema, and the report as JSON.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/explain.h"
#include "engine/evaluate/offers.h"
#include "engine/io/export/report_json.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/scenario_fields.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"
#include "tests/test_paths.h"

namespace roofscape {
namespace {

using nlohmann::json;
using test::shipped;

TEST_CASE("what ships is read without a problem") {
  for (const io::InputError& problem : shipped().problems()) FAIL_CHECK(test::in_english(problem));
  CHECK(shipped().list(io::PresetKind::chip).size() >= 28);
  CHECK(shipped().list(io::PresetKind::model).size() >= 70);
  CHECK(shipped().list(io::PresetKind::cluster).size() >= 6);
  CHECK(shipped().list(io::PresetKind::scenario).size() >= 4);
  for (const auto kind :
       {io::PresetKind::chip, io::PresetKind::model, io::PresetKind::cluster, io::PresetKind::scenario})
    for (const io::Preset& preset : shipped().list(kind)) CHECK(preset.name != preset.id);
}

TEST_CASE("every figure of a shipped chip has a source, unknown ones too") {
  for (const io::Preset& preset : shipped().list(io::PresetKind::chip)) {
    const engine::Chip* chip = shipped().find_chip(preset.id);
    REQUIRE(chip != nullptr);
    for (const engine::ChipFieldRow& row : engine::kChipFields) {
      CAPTURE(preset.id);
      CAPTURE(row.id);
      CHECK((*chip)[row.field].source.size() > 5);
      CHECK((*chip)[row.field].source != "not given");
    }
    for (const auto field : {engine::ChipField::hbm_bytes, engine::ChipField::hbm_bytes_per_s})
      CHECK((*chip)[field].value.has_value());
    const bool old = preset.id == "k40" || preset.id == "v100";  // made before bf16
    CHECK((*chip)[engine::ChipField::peak_bf16_dense_flops_per_s].value.has_value() == !old);
  }
  CHECK((*shipped().find_chip("tpu-v5p"))[engine::ChipField::peak_bf16_dense_flops_per_s].value == 459e12);
  CHECK((*shipped().find_chip("h100-sxm"))[engine::ChipField::hbm_bytes].value == 80e9);
  CHECK(!(*shipped().find_chip("h100-sxm"))[engine::ChipField::ici_torus_dims].value.has_value());
}

// Units x FLOP a cycle x clock (scaling book, chapters 2 and 12).
TEST_CASE("peaks follow from unit counts and clocks") {
  using F = engine::ChipField;
  const auto value = [](const char* id, F field) { return *(*shipped().find_chip(id))[field].value; };
  for (const char* id : {"tpu-v5p", "tpu-v5e"}) {
    CAPTURE(id);
    const double side = value(id, F::mxu_dim);
    const double peak = value(id, F::tensorcores_per_chip) * value(id, F::mxus_per_tensorcore) * 2 * side * side *
                        value(id, F::clock_hz_base);
    CHECK(peak == doctest::Approx(value(id, F::peak_bf16_dense_flops_per_s)).epsilon(0.01));
  }
  for (const char* id : {"a100-80g", "h100-sxm", "b200"}) {
    CAPTURE(id);
    const double peak = value(id, F::sm_count) * value(id, F::tensor_cores_per_sm) *
                        value(id, F::matmul_flops_per_cycle_per_tensor_core) * value(id, F::clock_hz_boost);
    CHECK(peak == doctest::Approx(value(id, F::peak_bf16_dense_flops_per_s)).epsilon(0.09));
    CHECK(value(id, F::scaleup_links_per_chip) * value(id, F::scaleup_bytes_per_s_per_link_oneway) ==
          value(id, F::scaleup_bytes_per_s_per_chip_oneway));
  }
}

TEST_CASE("both directions of a torus axis are twice one direction") {
  using F = engine::ChipField;
  for (const io::Preset& preset : shipped().list(io::PresetKind::chip)) {
    const engine::Chip& chip = *shipped().find_chip(preset.id);
    if (chip.interconnect != engine::Interconnect::torus) continue;
    CAPTURE(preset.id);
    CHECK(*chip[F::ici_bytes_per_s_per_axis_bidirectional].value ==
          2 * *chip[F::ici_bytes_per_s_per_link_oneway].value);
    CHECK(*chip[F::ici_links_per_chip].value == 2 * *chip[F::ici_torus_dims].value);
    CHECK((chip.pod_shape[2] > 1) == (*chip[F::ici_torus_dims].value == 3));
  }
}

TEST_CASE("every shipped model names its source") {
  for (const io::Preset& preset : shipped().list(io::PresetKind::model))
    CHECK(shipped().find_model(preset.id)->source.size() > 5);
}

TEST_CASE("a user's folder adds and replaces, and its broken files are reported") {
  const test::TemporaryFolder folder;
  folder.write("models/tiny.json",
               R"({"name": "Tiny", "n_layers": 1, "d_model": 8, "d_ff": 8, "n_heads": 1, "vocab_size": 10})");
  folder.write("models/llama3-8b.json",
               R"({"name": "Mine", "n_layers": 1, "d_model": 8, "d_ff": 8, "n_heads": 1, "vocab_size": 10})");
  folder.write("models/broken.json", "{");
  folder.write("chips/wrong.json", R"({"interconnect": "star"})");
  folder.write("clusters/two.json", R"({"name": "Two nodes", "chip": "h100-sxm", "nodes": 2})");
  folder.write("scenarios/s.json", R"({"name": "S", "model": "tiny", "cluster": "two"})");
  folder.write("models/notes.txt", "not a preset");
  const io::PresetLibrary library(folder.path());
  CHECK(library.find_model("tiny")->name == "Tiny");
  CHECK(library.find_model("llama3-8b")->name == "Mine");
  CHECK(library.find_preset(io::PresetKind::model, "llama3-8b")->from_user);
  CHECK(library.find_model("llama3-70b") != nullptr);
  CHECK(library.find_model("broken") == nullptr);
  CHECK(library.find_model("notes") == nullptr);
  REQUIRE(library.problems().size() == 2);
  const auto scenario = io::load_scenario("s", library);
  REQUIRE_MESSAGE(scenario.ok(), (scenario ? "" : test::in_english(scenario.error())));
  CHECK(engine::chip_count(scenario->cluster) == 16);
  CHECK(io::PresetLibrary(folder.path() / "none").problems().empty());
}

// ---- the schema ----

using ordered_json = nlohmann::ordered_json;

std::filesystem::path schema_file() { return test::source_dir() / "presets/scenarios/scenario.schema.json"; }

const json& schema() {
  static const json parsed = json::parse(test::text_of(schema_file()));
  return parsed;
}

// The node of a schema for a path of the field table; made where there is none.
ordered_json& schema_node(ordered_json& whole, std::string_view path) {
  ordered_json* node = &whole;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    const std::string step(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    if (node->is_object() && node->value("type", ordered_json()) == "array") {
      node = &node->at("items");
      continue;
    }
    node = &(*node)["properties"][step];
    if (!node->contains("oneOf")) continue;
    for (const ordered_json& option : node->at("oneOf"))
      if (option.contains("$ref")) {
        node = &whole.at(ordered_json::json_pointer(option.at("$ref").get<std::string>().substr(1)));
        break;
      }
  }
  return *node;
}

void set_number(ordered_json& node, const char* key, double value) {
  if (node.contains(key) && node.at(key).get<double>() == value) return;
  if (value == std::floor(value) && std::abs(value) < 1e15)
    node[key] = static_cast<std::int64_t>(value);
  else
    node[key] = value;
}

// What the row of a field says, and of a new field what its text says it is. The sizes of a model have no defaults.
void describe_field(ordered_json& node, const engine::Field& field, const json& texts) {
  const double fallback = field.get(engine::Scenario{});
  const bool is_new = node.empty();
  const bool size = field.path.starts_with("model.") && field.kind != engine::FieldKind::boolean;
  const bool has_default = is_new ? !size : node.contains("default");
  if (field.kind == engine::FieldKind::choice) {
    ordered_json words = ordered_json::array();
    for (std::size_t i = 0; i < field.choices.size(); ++i)
      if (engine::in_domain(field, static_cast<double>(i))) words.push_back(std::string(field.choices[i]));
    node["enum"] = words;
    node["default"] = std::string(field.choices[static_cast<std::size_t>(fallback)]);
  } else if (field.kind == engine::FieldKind::boolean) {
    node["type"] = "boolean";
    if (has_default) node["default"] = fallback != 0;
  } else {
    node["type"] = field.kind == engine::FieldKind::integer ? "integer" : "number";
    set_number(node, "minimum", field.minimum);
    set_number(node, "maximum", field.maximum);
    if (has_default) set_number(node, "default", fallback);
  }
  if (!is_new) return;
  for (const std::string start : {"field.", "quantity."})
    if (const std::string key = start + std::string(field.path) + ".about"; texts.contains(key))
      node["description"] = texts.at(key).get<std::string>();
}

TEST_CASE("the schema says of every field what its row in the table says, ROOFSCAPE_UPDATE_GOLDEN=1 writes it anew") {
  const std::string text = test::text_of(schema_file());
  const json texts = json::parse(test::text_of(test::source_dir() / "assets/strings/en.json"));
  const ordered_json stored = ordered_json::parse(text);
  ordered_json wanted = stored;
  for (const engine::Field& field : engine::scenario_fields()) {
    const ordered_json before = schema_node(wanted, field.path);
    ordered_json& node = schema_node(wanted, field.path);
    describe_field(node, field, texts);
    CHECK_MESSAGE((before == node || std::getenv("ROOFSCAPE_UPDATE_GOLDEN") != nullptr), field.path);
  }
  if (std::getenv("ROOFSCAPE_UPDATE_GOLDEN") != nullptr && wanted != stored)
    std::ofstream(schema_file()) << wanted.dump(2) << '\n';
}

void collect_leaves(const json& node, const std::string& path, std::vector<std::string>& out) {
  if (node.value("type", json()) == "array" && node.at("items").contains("properties"))
    return collect_leaves(node.at("items"), path + ".0", out);
  if (!node.contains("properties")) {
    out.push_back(path);
    return;
  }
  for (const auto& member : node.at("properties").items())
    collect_leaves(member.value(), path.empty() ? member.key() : path + "." + member.key(), out);
}

TEST_CASE("the schema has no field that the table does not have") {
  std::vector<std::string> leaves;
  collect_leaves(schema(), "", leaves);
  collect_leaves(schema().at("$defs").at("model"), "model", leaves);
  for (const std::string& leaf : leaves) {
    const bool head = leaf == "$schema" || leaf == "format" || leaf == "version" || leaf == "name" ||
                      leaf == "made_from" || leaf == "source" || leaf == "model" || leaf == "cluster" ||
                      leaf == "pipeline.layers_per_stage" || leaf == "pipeline.order" ||
                      leaf == "pipeline.order_schedule" || leaf == "model.edited" || leaf == "model.format" ||
                      leaf == "model.version" || leaf == "model.id" || leaf == "model.name" || leaf == "model.source";
    CHECK_MESSAGE((head || engine::find_field(leaf) != nullptr), leaf);
  }
  for (const engine::ChipFieldRow& row : engine::kChipFields)
    CHECK(schema().at("$defs").at("chip").at("properties").contains(std::string(row.id)));
}

// ---- the report ----

TEST_CASE("a report as JSON has every quantity once, with its unit or a reason") {
  for (const io::Preset& preset : shipped().list(io::PresetKind::scenario)) {
    CAPTURE(preset.id);
    const auto scenario = io::load_scenario(preset.id, shipped());
    REQUIRE(scenario.ok());
    const engine::Report report = engine::evaluate(scenario.value());
    const json out = json::parse(
        io::report_json(scenario.value(), report, shipped(), [](const engine::Diagnostic&) { return "text"; }));
    const engine::QuantityValues values = engine::all_quantities(scenario.value(), report);
    std::size_t expected = 1;  // bound
    for (std::size_t i = 0; i < engine::kReportQuantityCount; ++i) {
      const engine::Quantity& row = engine::quantity(static_cast<engine::Q>(i));
      if (engine::is_indexed(row)) continue;
      ++expected;
      const json& entry = out.at("quantities").at(std::string(row.id));
      CHECK(entry.at("unit") == json(std::string(row.unit.symbol)));
      const auto value = values[static_cast<engine::Q>(i)];
      if (value)
        CHECK(entry.at("value").get<double>() == *value);
      else
        CHECK(!entry.at("reason").get<std::string>().empty());
    }
    CHECK(out.at("quantities").size() == expected);
    CHECK(out.at("quantities").at("bound").at("value").is_string());
    CHECK(out.at("stages").size() == report.stages.size());
    CHECK(out.at("operations").size() == report.operations.size());
    CHECK(out.at("diagnostics").size() == engine::offered_findings(scenario.value(), report).size());
    for (const json& diagnostic : out.at("diagnostics")) {
      CHECK(diagnostic.at("text") == "text");
      for (const auto& fix : diagnostic.at("fix").items()) CHECK(engine::find_field(fix.key()) != nullptr);
    }
    // The scenario inside reads back to the one that was asked about.
    const auto again = io::read_scenario(out.at("scenario").dump(), "report", shipped());
    REQUIRE(again.ok());
    CHECK(again.value() == scenario.value());
  }
}

}  // namespace
}  // namespace roofscape
