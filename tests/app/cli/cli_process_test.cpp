// roofscape-cli as a user runs it: what it prints, where, and its exit codes.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "tests/app/cli/cli_run.h"
#include "tests/capture_binding.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/test_paths.h"

namespace roofscape {
namespace {

using test::Outcome;
using test::Refusal;
using test::run;

constexpr const char* kStart = "llama3-70b-v5p-pod";

TEST_CASE("eval prints a report and exits 0, a warning is not an error") {
  const Outcome o = run(std::string("eval ") + kStart);
  CHECK(o.code == 0);
  CHECK(o.err.empty());
  CHECK(o.out.starts_with("LLaMA-3 70B on one v5p pod\nfits, "));
  CHECK(o.out.find("70\u202f553\u202f706\u202f496\u202fparameters") != std::string::npos);
  CHECK(o.out.find("768 of the 8960 chips are idle") != std::string::npos);
}

TEST_CASE("eval --json is JSON with the numbers of the book") {
  const Outcome o = run(std::string("eval ") + kStart + " --json");
  CHECK(o.code == 0);
  const auto report = nlohmann::json::parse(o.out);
  const auto value = [&](const char* id) { return report.at("quantities").at(id).at("value").get<double>(); };
  CHECK(value("params.total") == 70553706496.0);
  CHECK(value("bounds.fsdp_tokens_per_chip_3_axes") == 850);
  CHECK(value("step.time_s") > 0);
  CHECK(report.at("quantities").at("bound").at("value") == "compute");
  bool idle = false;
  for (const auto& d : report.at("diagnostics"))
    idle = idle || (d.at("code") == "mesh.idle_chips" && d.at("values").at(0).at("value") == 768);
  CHECK(idle);
}

TEST_CASE("every shipped scenario evaluates, checks and draws") {
  const test::TemporaryFolder folder;
  for (const io::Preset& preset : test::shipped().list(io::PresetKind::scenario)) {
    CAPTURE(preset.id);
    CHECK(run(folder, "eval " + preset.id).code == 0);
    CHECK(run(folder, "check " + preset.id).code == 0);
    CHECK(run(folder, "figure parameters " + preset.id + " -o p.svg").code == 0);
  }
  CHECK(folder.count() == 1);
}

TEST_CASE("--set changes what is evaluated, and may be repeated") {
  const Outcome o = run(std::string("eval ") + kStart +
                        " --set parallelism.fsdp=512 --set parallelism.tensor=8 --set 'name=my plan' --json");
  CHECK(o.code == 0);
  const auto report = nlohmann::json::parse(o.out);
  CHECK(report.at("scenario").at("parallelism").at("tensor") == 8);
  CHECK(report.at("scenario").at("parallelism").at("fsdp") == 512);
  CHECK(report.at("scenario").at("name") == "my plan");
}

TEST_CASE("a mesh larger than the cluster exits 1, says so with a remedy, and still prints the report") {
  const Outcome o = run(std::string("eval ") + kStart + " --set parallelism.tensor=8 --json");
  CHECK(o.code == 1);
  CHECK(o.err.starts_with(
      "roofscape-cli: llama3-70b-v5p-pod: parallelism.fsdp: The mesh needs 16\u202f384 chips, the cluster has 8960 "
      "chips; try parallelism.fsdp=512: runs, "));
  CHECK(nlohmann::json::parse(o.out).contains("quantities"));
  CHECK(run(std::string("check ") + kStart + " --set parallelism.tensor=8").code == 1);
}

TEST_CASE("explain prints a derivation down to sourced inputs") {
  const Outcome o = run(std::string("explain ") + kStart + " step.time_s");
  CHECK(o.code == 0);
  CHECK(o.err.empty());
  CHECK(o.out.find("T_step = sum of 13 parts") != std::string::npos);
  CHECK(o.out.find("\nInputs\n") != std::string::npos);
  CHECK(o.out.find("How to Scale Your Model") != std::string::npos);
}

TEST_CASE("explain --depth 1 is the number's own formula and its inputs") {
  const Outcome all = run(std::string("explain ") + kStart + " pipeline.layer_passes");
  const Outcome one = run(std::string("explain ") + kStart + " pipeline.layer_passes --depth 1");
  CHECK(one.code == 0);
  CHECK(all.out.find("X_ranks = ") != std::string::npos);
  CHECK(one.out.find("X_ranks = ") == std::string::npos);
  CHECK(one.out.find("n_pass = m * L / X_pipeline") != std::string::npos);
  CHECK(one.out.find("model.n_layers") != std::string::npos);
  CHECK(one.out.find("pipeline.microbatch_sequences") == std::string::npos);
}

TEST_CASE("explain says why a number is zero") {
  const auto said = [](const std::string& question) {
    return run(std::string("explain ") + kStart + " " + question).out;
  };
  CHECK(said("step.bubble_s").find("\nZero: there is one pipeline stage.\n") != std::string::npos);
  CHECK(said("step.attention_s").find("\nZero: the FLOP convention 6p counts no attention.\n") != std::string::npos);
  CHECK(said("step.data_exposed_s").find("\nZero: the data axis has one rank, so nothing is sent.\n") !=
        std::string::npos);
  CHECK(said("step.time_s").find("\nZero: ") == std::string::npos);
  CHECK(run("explain llama3-405b-16k-h100 pipeline.makespan_s").out.find("critical path: ") != std::string::npos);
}

TEST_CASE("explain bound says what the step goes into, the parts adding up to it") {
  for (const char* scenario : {kStart, "llama3-70b-16-v5e"}) {
    const Outcome o = run("explain " + std::string(scenario) + " bound");
    CAPTURE(o.out);
    CHECK(o.code == 0);
    CHECK(o.out.starts_with("Bound by "));
    double shares = 0;
    std::istringstream lines(o.out);
    for (std::string line; std::getline(lines, line);)
      if (const auto percent = line.find("\u202f%"); line.starts_with("  ") && percent != std::string::npos)
        shares += std::stod(line.substr(line.rfind(' ', percent) + 1));
    CHECK(shares == doctest::Approx(100).epsilon(0.01));
  }
}

TEST_CASE("eval --evidence says where a measurement of each number is expected, or what was not measured") {
  const Outcome near = run("eval llama3-8b-8-h100 --set assumptions.mode=calibrated --json --evidence");
  CHECK(near.code == 0);
  const auto step = nlohmann::json::parse(near.out).at("evidence").at("step.time_s");
  CHECK(step.at("runs").get<int>() >= 5);
  CHECK(step.at("least").get<double>() < step.at("most").get<double>());
  const Outcome far = run(std::string("eval ") + kStart + " --json --evidence");
  CHECK(nlohmann::json::parse(far.out).at("evidence").at("step.time_s").at("outside") == "chips");
  CHECK(nlohmann::json::parse(far.out).at("evidence").at("memory.chip_total_bytes").at("outside") == "chip");
}

TEST_CASE("the report with --evidence says why a number is not validated") {
  const Outcome o = run(std::string("eval ") + kStart + " --evidence");
  CHECK(o.out.find("Where a measurement is expected") != std::string::npos);
  CHECK(o.out.find("measured on 64 to 1024 chips, here 8192") != std::string::npos);
}

TEST_CASE("validate without a file takes the measurements that ship") {
  const Outcome o = run("validate --json");
  CHECK(o.code == 0);
  const auto json = nlohmann::json::parse(o.out);
  CHECK(json.at("mode") == "calibrated");
  CHECK(json.at("families").size() == 28);
  CHECK(json.at("overall").at("n").get<int>() > 700);
}

TEST_CASE("validate as text and JSON, and the evidence figure, mark the same runs as contradicting, in both modes") {
  for (const std::string mode : {"ideal", "calibrated"}) {
    CAPTURE(mode);
    std::set<std::string> in_json, in_text, in_figure;
    const auto json = nlohmann::json::parse(run("validate --json --mode " + mode).out);
    for (const auto& entry : json.at("entries"))
      if (entry.contains("contradicts_neighbours")) in_json.insert(entry.at("id").get<std::string>());
    std::istringstream text(run("validate --mode " + mode).out);
    std::string summary;
    for (std::string line; std::getline(text, line);) {
      if (line.ends_with("contradicts its neighbours")) in_text.insert(line.substr(0, line.find(' ')));
      if (line.starts_with("contradicting ")) summary = line;
    }
    // Of whatever plan the figure is: one that serves on switches, one that trains on a torus.
    for (const std::string plan : {"llama3-70b-serving-8-h100", "llama3-70b-v5p-pod"}) {
      in_figure.clear();
      for (const std::string quantity : {"decode", "step"}) {
        const auto data = nlohmann::json::parse(run("figure evidence " + plan + " --with quantity=" + quantity +
                                                    " --with mode=" + mode + " -o - --format json")
                                                    .out);
        const auto& columns = data.at("columns");
        const auto at =
            static_cast<std::size_t>(std::find(columns.begin(), columns.end(), "contradicts") - columns.begin());
        for (const auto& row : data.at("rows"))
          if (row.at(at) == "yes") in_figure.insert(row.at(0).get<std::string>());
      }
      CHECK(in_figure == in_json);
    }
    CHECK(in_json.size() == 11);
    CHECK(in_text == in_json);
    CHECK(summary.find(" " + std::to_string(json.at("contradicting").at("n").get<int>()) + " ") != std::string::npos);
  }
}

TEST_CASE("check says of an edit how many measured pairs that differ in it alone went the way predicted") {
  const std::string plan = "check llama3-405b-16k-h100-8k --set assumptions.mode=calibrated";
  CHECK(run(plan).out.find(" measured pairs that differ in this alone, ") != std::string::npos);
  const auto json = nlohmann::json::parse(run(plan + " --json").out);
  int told = 0;
  for (const auto& edit : json.at("edits")) {
    const auto& pairs = edit.at("measured_pairs");
    if (pairs.is_null()) continue;
    ++told;
    CHECK(pairs.at("pairs").get<int>() >= 5);
    CHECK(pairs.at("as_predicted").get<int>() <= pairs.at("pairs").get<int>());
  }
  CHECK(told > 0);
}

TEST_CASE("an unknown command is answered with those there are, in the order of --help") {
  constexpr std::string_view kNames[] = {
#define COMMAND(name) #name,
#include "app/cli/commands.def"
#undef COMMAND
  };
  std::string all;
  for (const std::string_view name : kNames) all += (all.empty() ? "" : ", ") + std::string(name);
  std::ranges::replace(all, '_', '-');
  const Outcome refused = run("frobnicate");
  CHECK(refused.code == 2);
  CHECK(refused.err == "roofscape-cli: unknown command \"frobnicate\"; there are: " + all + "\n");
}

TEST_CASE("what is written to a file goes to standard output where that is -, byte for byte") {
  const test::TemporaryFolder folder;
  const std::string plan = "llama3-8b-8-h100 --set parallelism.fsdp=2 --set parallelism.pipeline=4";
  const std::pair<std::string, std::string> cases[] = {
      {"trace " + plan, "step.json"},
      {"trace " + plan + " --layout torchtitan", "layers"},
      {"export-flags " + plan + " --for torchtitan", "train.toml"},
      {"import llama3-8b --cluster h100-sxm:8", "plan.json"},
      {"figure step " + plan + " --format svg", "step.svg"},
  };
  for (const auto& [command, file] : cases) {
    CAPTURE_BINDING(command);
    REQUIRE(run(folder, command + " -o " + file).code == 0);
    const Outcome o = run(folder, command + " -o -");
    CHECK(o.code == 0);
    CHECK(o.out == test::text_of(folder.path() / file));
  }
  CHECK_FALSE(std::filesystem::exists(folder.path() / "-"));
}

TEST_CASE("a scenario or launch file is read from standard input where it is -") {
  const test::TemporaryFolder folder;
  REQUIRE(run(folder, "import llama3-8b --cluster h100-sxm:8 -o plan.json").code == 0);
  const Outcome o = run(folder, "eval - < plan.json");
  CHECK(o.code == 0);
  CHECK(o.out == run(folder, "eval plan.json").out);
  const std::string launch = test::source_dir() / "tests/fuzz/launch/megatron";
  const auto scenario = [&](const std::string& arguments) {
    auto json = nlohmann::json::parse(run(folder, "import " + arguments + " --cluster h100-sxm -o -").out);
    json.erase("name"), json.at("model").erase("name"), json.at("model").erase("source");  // after the file
    return json;
  };
  CHECK(scenario("- < '" + launch + "'") == scenario("'" + launch + "'"));
  const Outcome none = run(folder, "eval - < /dev/null");
  CHECK(none.code == 2);
}

TEST_CASE("bad usage is answered with one line and exit 2") {
  const Refusal cases[] = {
      {"", "roofscape-cli: A subcommand is required; see roofscape-cli --help\n"},
      {"evall x", "roofscape-cli: unknown command \"evall\"; did you mean \"eval\"?\n"},
      {"eval", "roofscape-cli: scenario is required; see roofscape-cli --help\n"},
      {"eval none.json", "roofscape-cli: none.json: there is no such file; check the path\n"},
      {"eval llama3-70b-v5p-pud",
       "roofscape-cli: llama3-70b-v5p-pud: there is no such file and no scenario preset of that name; did you mean "
       "\"llama3-70b-v5p-pod\"?\n"},
      {"eval .", "roofscape-cli: .: is a folder; name a file\n"},
      {"eval llama3-8b",
       "roofscape-cli: llama3-8b: this is a model, and no scenario; give --cluster, such as --cluster h100-sxm:8\n"},
      {"explain llama3-70b-v5p-pod step.tim_s",
       "roofscape-cli: unknown quantity \"step.tim_s\"; did you mean \"step.time_s\"?\n"},
      {"explain llama3-70b-v5p-pod links.bytes_per_s",
       "roofscape-cli: \"links.bytes_per_s\": comes once per axis or stage; name one, such as "
       "\"links.bytes_per_s[fsdp]\"\n"},
      {"figure rofline llama3-70b-v5p-pod -o x.svg",
       "roofscape-cli: unknown figure \"rofline\"; did you mean \"roofline\"?\n"},
      {"figure roofline llama3-70b-v5p-pod",
       "roofscape-cli: figure needs a name, a scenario and -o FILE; such as: figure roofline llama3-70b-v5p-pod -o "
       "roofline.svg\n"},
      {"figure roofline llama3-70b-v5p-pod -o x.jpg",
       "roofscape-cli: x.jpg: the extension says no format; end it in .svg, .pdf, .png, .html, .csv or .json\n"},
      {"figure roofline llama3-70b-v5p-pod -o none/x.svg",
       "roofscape-cli: none/x.svg: cannot be written: No such file or directory; choose a place you may write to\n"},
      {"figure roofline llama3-70b-v5p-pod -o x.svg --size 1x1",
       "roofscape-cli: --size: \"1x1\" has no unit; write 1x1mm for millimetres or 1x1px for pixels; cm, in and pt "
       "are "
       "units too\n"},
      {"figure roofline llama3-70b-v5p-pod -o x.svg --size 1x1mm",
       "roofscape-cli: --size: \"1x1mm\" is no size; write it as 170x110mm, 84mm (the height follows), 3.25in, 17cm, "
       "240pt "
       "or 1280x720px, each side from 20 mm to 2000 mm\n"},
      {"figure roofline llama3-70b-v5p-pod -o x.svg --theme drak",
       "roofscape-cli: there is no theme \"drak\"; did you mean \"dark\"?\n"},
      {"figure roofline llama3-70b-v5p-pod -o x.svg --scale 2",
       "roofscape-cli: --scale: is for PNG only; give the size with --size\n"},
      {"figure roofline llama3-70b-v5p-pod -o x.png --scale 0",
       "roofscape-cli: --scale: \"0\" is no scale; give the pixels of a PNG for each point, from 0.25 to 40\n"},
      {"figure roofline llama3-70b-v5p-pod -o x.svg --svg-text curves",
       "roofscape-cli: --svg-text: \"curves\" is no way to write text; take text or outlines\n"},
      {"figure roofline llama3-70b-v5p-pod -o x.pdf --svg-text text",
       "roofscape-cli: --svg-text: is for SVG only; leave it out\n"},
      {"figure roofline llama3-70b-v5p-pod -o x.pdf --format svg",
       "roofscape-cli: --format: is not the format that the extension of \"x.pdf\" says; give one of them\n"},
      {"figure roofline llama3-70b-v5p-pod -o x.pdf --measured none.csv",
       "roofscape-cli: none.csv: there is no such file; check the path\n"},
      {"figure roofline llama3-70b-v5p-pod -o x.pdf --baseline none.json",
       "roofscape-cli: none.json: there is no such file; check the path\n"},
      {"figure --all -o x",
       "roofscape-cli: figure --all needs a scenario and -o FOLDER; such as: figure --all llama3-70b-v5p-pod -o "
       "figures\n"},
      {"figure --all llama3-70b-v5p-pod -o x --format jpg",
       "roofscape-cli: --format: \"jpg\" is no format; take svg, pdf, png, html, csv or json\n"},
      {"figure --all llama3-70b-v5p-pod -o x --with a=b",
       "roofscape-cli: --with: is for one figure; --all draws each as it is by default\n"},
      {"eval llama3-70b-v5p-pod --presets none",
       "roofscape-cli: none: there is no such folder; --presets takes a folder with chips, clusters, models or "
       "scenarios in it\n"},
      {"eval llama3-70b-v5p-pod --set parallelism.tensor=0",
       "roofscape-cli: --set: parallelism.tensor: 0 is out of range; give a whole number from 1 to 1024\n"},
      {"eval llama3-70b-v5p-pod --set parallelism.tensor=-8",
       "roofscape-cli: --set: parallelism.tensor: -8 is out of range; give a whole number from 1 to 1024\n"},
      {"eval llama3-70b-v5p-pod --set parallelism.tensor=1.5",
       "roofscape-cli: --set: parallelism.tensor: 1.5 is not a whole number; give a whole number from 1 to 1024\n"},
      {"eval llama3-70b-v5p-pod --set parallelism.tensor=1e300",
       "roofscape-cli: --set: parallelism.tensor: 1e+300 is out of range; give a whole number from 1 to 1024\n"},
      {"eval llama3-70b-v5p-pod --set paralelism.tensor=8",
       "roofscape-cli: --set: paralelism.tensor: unknown field; did you mean \"parallelism.tensor\"?\n"},
      // Options that the call would not read.
      {"export-flags llama3-8b-8-h100 --who --launcher torchrun",
       "roofscape-cli: --launcher: --who writes no script; leave it out\n"},
      {"clusters llama3-8b-8-h100 --on a100-80g:8 --theme dark",
       "roofscape-cli: --theme: is for the figure; give its file with -o\n"},
      {"clusters llama3-8b-8-h100 --on a100-80g:8 --size 90mm",
       "roofscape-cli: --size: is for the figure; give its file with -o\n"},
      {"tour --theme dark", "roofscape-cli: --theme: is for slides; give the folder with --export\n"},
      {"tour intro --size 90mm", "roofscape-cli: --size: is for slides; give the folder with --export\n"},
      {"tour intro --check --format svg", "roofscape-cli: --format: is for slides; give the folder with --export\n"},
      {"calc --list --explain",
       "roofscape-cli: --explain: is for the outputs of one block; give the name of a block\n"},
      {"calc matmul --search peak", "roofscape-cli: matmul: --search is of all blocks; leave it out\n"},
      {"calc matmul --list", "roofscape-cli: matmul: --list is of all blocks; leave it out\n"},
      {"calc --list --search peak", "roofscape-cli: --search: --list names all blocks; leave out one of them\n"},
      {"calc --search peak --json",
       "roofscape-cli: --json: what --search finds is not JSON; give --list --json, which has all blocks, or leave "
       "it "
       "out\n"},
      {"eval llama3-70b-v5p-pod --set nonsense",
       "roofscape-cli: --set: \"nonsense\" is no assignment; write path=value, such as parallelism.tensor=8\n"},
  };
  const test::TemporaryFolder folder;
  for (const Refusal& c : cases) {
    CAPTURE(c.arguments);
    const Outcome o = run(folder, c.arguments);
    CHECK(o.code == 2);
    CHECK(o.err == c.answer);
    CHECK(o.out.empty());
  }
  CHECK(folder.count() == 0);
}

TEST_CASE("a broken file is answered with its name, the place and a remedy") {
  const Refusal cases[] = {
      {"{\"format\": \"roofscape/scenario\",\n \"parall",
       "line 2, column 9: the JSON text ends too early; close what is open, or copy the whole file"},
      {R"({"paralellism": {"tensor": 4}})", "paralellism: unknown field; did you mean \"parallelism\"?"},
      {R"({"parallelism": {"tensor": 0}})",
       "parallelism.tensor: 0 is out of range; give a whole number from 1 to 1024"},
      {R"({"parallelism": {"tensor": -1}})",
       "parallelism.tensor: -1 is out of range; give a whole number from 1 to 1024"},
      {R"({"parallelism": {"tensor": "4"}})",
       "parallelism.tensor: \"4\" is not a number; give a whole number from 1 to 1024"},
      {R"({"parallelism": {"tensor": 1e300}})",
       "parallelism.tensor: 1e+300 is out of range; give a whole number from 1 to 1024"},
      {R"({"model": "lama3-70b"})", "model: no model preset is called \"lama3-70b\"; did you mean \"llama3-70b\"?"},
      {"{\"name\": \"\xff\"}", "line 1, column 11: not UTF-8 text; save it as UTF-8"},
  };
  for (const Refusal& c : cases) {
    const test::TemporaryFolder folder;
    folder.write("bad.json", c.arguments);
    for (const std::string command : {"eval bad.json", "eval bad.json --json", "check bad.json",
                                      "explain bad.json mfu", "figure memory bad.json -o x.pdf"}) {
      CAPTURE(command);
      const Outcome o = run(folder, command);
      CHECK(o.code == 2);
      CHECK(o.err == "roofscape-cli: bad.json: " + std::string(c.answer) + "\n");
      CHECK(o.out.empty());
    }
    CHECK(folder.count() == 1);
  }
}

TEST_CASE(
    "sweep reproduces chapter 7: step time and throughput of LLaMA-2 13B on 8 v5e against the batch, MHA and GQA") {
  const Outcome o = run(
      "sweep llama2-13b-16-v5e --set cluster.slice=4x2 --set parallelism.data=1 --set workload.prompt_tokens=7667 "
      "--set model.published_total_params=13e9 --set assumptions.parameters=published --vary model.n_kv_heads=40,8 "
      "--vary workload.batch=1,8,16,32,64,240 --quantities serving.time_per_output_token_s,serving.tokens_per_s "
      "--csv");
  CHECK(o.code == 0);
  std::istringstream lines(o.out);
  std::string line;
  std::getline(lines, line);
  CHECK(line ==
        "model.n_kv_heads,workload.batch,serving.time_per_output_token_s,serving.tokens_per_s,fits,bound,error");
  // Printed in the book, in ms and tokens a second, from weights of 26 GB and caches of 6.7 and 1.34 GB: 8179 tokens.
  const std::vector<std::pair<double, double>> book{
      {4.98, 200.61}, {12.13, 659.30}, {20.30, 787.99}, {36.65, 873.21},  {69.33, 923.13},  {249.09, 963.53},
      {4.17, 239.94}, {5.60, 1429.19}, {7.23, 2212.48}, {10.50, 3047.62}, {17.04, 3756.62}, {52.99, 4529.34}};
  for (const auto& [ms, rate] : book) {
    REQUIRE(std::getline(lines, line));
    CAPTURE(line);
    double heads = 0, batch = 0, seconds = 0, tokens = 0;
    REQUIRE(std::sscanf(line.c_str(), "%lf,%lf,%lf,%lf", &heads, &batch, &seconds, &tokens) == 4);
    // Half of the last digit printed; 4.98 and 20.30 are cut off, not rounded.
    CHECK(std::abs(seconds * 1e3 - ms) <= 0.0061);
    CHECK(tokens == doctest::Approx(rate).epsilon(1e-4));
  }
  CHECK_FALSE(std::getline(lines, line));
}

TEST_CASE("sweep prints every combination, as a table and as JSON") {
  const std::string question =
      "sweep llama3-70b-16-v5e --vary workload.batch=32,64 --vary precision.weights=bf16,int8,int4";
  const Outcome text = run(question);
  CHECK(text.code == 0);
  CHECK(std::count(text.out.begin(), text.out.end(), '\n') == 7);
  CHECK(text.out.find("time per output token") != std::string::npos);
  const auto json = nlohmann::json::parse(run(question + " --json").out);
  REQUIRE(json.at("rows").size() == 6);
  CHECK(json.at("rows").at(1).at("set").at("precision.weights") == "int8");
  CHECK(json.at("rows").at(1).at("quantities").at("serving.time_per_output_token_s").at("value").get<double>() ==
        doctest::Approx(0.008651172).epsilon(1e-6));
}

TEST_CASE("sweep works for training, and a row that is wrong is said and exits 1") {
  const Outcome o = run(std::string("sweep ") + kStart + " --vary parallelism.tensor=4,3 --csv");
  CHECK(o.code == 1);
  CHECK(o.out.find("tensor.heads_not_divisible") != std::string::npos);
}

TEST_CASE("wrong sweeps say what would be right") {
  const auto error = [](const std::string& rest) {
    const Outcome o = run(std::string("sweep ") + kStart + " " + rest);
    CHECK(o.code == 2);
    return o.err;
  };
  CHECK(error("").find("--vary") != std::string::npos);
  CHECK(error("--vary parallelism.tensor").find("path=a,b,c") != std::string::npos);
  CHECK(error("--vary parallelism.tensr=1,2").find("parallelism.tensor") != std::string::npos);
  CHECK(error("--vary parallelism.tensor=1 --quantities step.tim_s").find("step.time_s") != std::string::npos);
}

TEST_CASE("a quantity without a value says why and exits 1") {
  const Outcome o = run("explain llama3-405b-16k-h100 bounds.x_opt");
  CHECK(o.code == 1);
  CHECK(o.err ==
        "roofscape-cli: llama3-405b-16k-h100: bounds.x_opt: best FSDP degree has no value in this scenario: does not "
        "apply here\n");
}

TEST_CASE("presets, version and help") {
  const Outcome list = run("presets --json");
  CHECK(list.code == 0);
  CHECK(nlohmann::json::parse(list.out).at("models").size() >= 3);
  CHECK(run("presets").out.find("llama3-405b-16k-h100-8k") != std::string::npos);
  CHECK(run("--version").out.starts_with("roofscape-cli "));
  CHECK(run("--help").code == 0);
  CHECK(run("eval --help").code == 0);
}

TEST_CASE("--presets lays a folder over what ships, and says what it could not read") {
  const test::TemporaryFolder folder;
  folder.write("p/models/tiny.json",
               R"({"name": "Tiny", "n_layers": 2, "d_model": 64, "d_ff": 128, "n_heads": 4, "vocab_size": 100})");
  folder.write("p/models/bad.json", "{");
  const Outcome o = run(folder, "--presets p presets");
  CHECK(o.code == 0);
  CHECK(o.out.find("tiny") != std::string::npos);
  CHECK(o.err ==
        "roofscape-cli: p/models/bad.json: line 1, column 2: the JSON text ends too early; close what is open, or "
        "copy the whole file\n");
}

TEST_CASE("output that cannot be written is an error") {
  if (!std::filesystem::exists("/dev/full")) return;
  const test::TemporaryFolder folder;
  const std::string command = "'" + test::cli_program() + "' eval " + kStart + " >/dev/full 2>/dev/null";
  const int status = std::system(command.c_str());
  CHECK(WEXITSTATUS(status) == 2);
}

}  // namespace
}  // namespace roofscape
