// roofscape-cli presets: lists, one preset, tables.
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "engine/io/presets/preset_library.h"
#include "engine/model/parameters.h"
#include "engine/studies/model_facts.h"
#include "tests/app/cli/cli_run.h"

namespace roofscape {
namespace {

using test::Outcome;
using test::Refusal;
using test::run;

TEST_CASE("presets KIND lists that kind alone") {
  const Outcome models = run("presets models");
  CHECK(models.code == 0);
  CHECK(models.out.find("  llama3-70b ") != std::string::npos);
  CHECK(models.out.find("h100-sxm") == std::string::npos);
  CHECK(run("presets chip").out == run("presets chips").out);
}

TEST_CASE("presets NAME shows a model's shape, a chip's figures with sources, a cluster, a scenario's fields") {
  const std::string model = run("presets llama-3-70b").out;
  CHECK(model.starts_with("LLaMA-3 70B\n"));
  CHECK(model.find("70\u202f553\u202f706\u202f496\u202fparameters") != std::string::npos);
  CHECK(model.find("query heads per KV head") != std::string::npos);
  const std::string chip = run("presets h100").out;
  CHECK(chip.starts_with("NVIDIA H100 SXM 80 GB\n"));
  CHECK(chip.find("990\u202fTFLOP/s  How to Scale Your Model") != std::string::npos);
  CHECK(run("presets dgx-h100").out.find("cluster.node_size") != std::string::npos);
  CHECK(run("presets gpt3-175b-1024-a100").out.find("parallelism.tensor") != std::string::npos);
}

TEST_CASE("every preset of every kind can be shown, and as JSON is its file") {
  for (std::size_t kind = 0; kind < io::kPresetFolders.size(); ++kind)
    for (const io::Preset& preset : test::shipped().list(static_cast<io::PresetKind>(kind))) {
      CAPTURE(preset.id);
      CHECK(run("presets " + preset.id).code == 0);
      const Outcome json = run("presets " + preset.id + " --json");
      CHECK(json.code == 0);
      CHECK(nlohmann::json::parse(json.out).at("name") == preset.name);
    }
}

TEST_CASE("the table of models has the engine's parameters, sorted as asked") {
  std::istringstream lines(run("presets models --csv --sort params").out);
  std::string line;
  std::getline(lines, line);
  CHECK(line.starts_with("id,params,active,n_layers,"));
  double before = 0;
  std::size_t rows = 0;
  for (; std::getline(lines, line); ++rows) {
    const std::string id = line.substr(0, line.find(','));
    const double params = std::stod(line.substr(line.find(',') + 1));
    CAPTURE(id);
    const engine::TransformerShape* model = test::shipped().find_model(id);
    REQUIRE(model != nullptr);
    CHECK(params == engine::count_parameters(engine::make_model_dims<double>(*model, nullptr)).total);
    CHECK(params >= before);
    before = params;
  }
  CHECK(rows == test::shipped().list(io::PresetKind::model).size());
}

TEST_CASE("a table that descends has the largest first, and what is missing last as in one that ascends") {
  const auto experts = [](const std::string& arguments) {
    std::istringstream lines(run("presets models --csv --sort experts" + arguments).out);
    std::vector<double> known;
    std::vector<std::string> missing;
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::istringstream cells(line);
      std::string cell;
      for (int i = 0; i < 13; ++i) std::getline(cells, cell, ',');
      if (cell.empty()) {
        missing.push_back(line);
      } else {
        CHECK(missing.empty());
        known.push_back(std::stod(cell));
      }
    }
    return std::pair(known, missing);
  };
  const auto up = experts(""), down = experts(" --descending");
  CHECK(up.second == down.second);
  CHECK(up.first == std::vector<double>(down.first.rbegin(), down.first.rend()));
  CHECK(up.first.size() >= 10);
}

TEST_CASE("a model without a number has a dash in the table and nothing in CSV") {
  const std::string csv = run("presets models --csv").out;
  CHECK(csv.find("\nllama3-8b,8030261248,8030261248,32,4096,14336,3.5,32,8,4,128,128256,,,") != std::string::npos);
  CHECK(run("presets models --table").out.find("\u2014") != std::string::npos);
}

TEST_CASE("presets says what it does not know") {
  const Refusal refusals[] = {
      {"presets llama3-7", "no preset is called \"llama3-7\"; did you mean \"llama2-7b\"?"},
      {"presets clusters --table",
       "there is a table of models and one of chips; `roofscape-cli presets models --table`, "
       "`roofscape-cli presets chips --table`"},
      {"presets models --sort parms", "--sort: there is no column \"parms\"; did you mean \"params\"?"},
  };
  for (const Refusal& refusal : refusals) {
    const Outcome o = run(refusal.arguments);
    CHECK(o.code == 2);
    CHECK(o.err == "roofscape-cli: " + std::string(refusal.answer) + "\n");
  }
  CHECK(run("presets llama3")
            .err.starts_with("roofscape-cli: \"llama3\" may be more than one preset; give one of: llama3-405b, "));
}

}  // namespace
}  // namespace roofscape
