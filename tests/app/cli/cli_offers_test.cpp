// What roofscape-cli offers beside a finding, and what it says of a plan in each mode.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/app/cli/cli_run.h"

namespace roofscape {
namespace {

using Json = nlohmann::json;
using test::run;

double step_time(const std::string& arguments) {
  const auto outcome = run("eval llama3-8b-8-h100 --json " + arguments);
  REQUIRE(outcome.code == 0);
  return Json::parse(outcome.out).at("quantities").at("step.time_s").at("value").get<double>();
}

TEST_CASE(
    "custom mode set on the command line gives the calibrated numbers, whatever else is set in whatever order") {
  const std::string chip = "--set cluster.chip=b200 ", mode = "--set assumptions.mode=custom ",
                    own = "--set assumptions.custom.matmul_efficiency=0.5 ";
  const double calibrated = step_time(chip + "--set assumptions.mode=calibrated");
  CHECK(step_time(chip + mode) == calibrated);
  CHECK(step_time(mode + chip) == calibrated);
  CHECK(step_time(mode + chip + own) == step_time(own + chip + mode));
  CHECK(step_time(mode + chip + own) > calibrated);
}

TEST_CASE("a faulty model exits 1 and is told what to change, with what that gives") {
  const auto outcome = run("check llama3-8b-8-h100 --set model.n_kv_heads=12");
  CHECK(outcome.code == 1);
  CHECK(outcome.err.find("; try model.n_kv_heads=8: runs, ") != std::string::npos);
  CHECK(outcome.out.find("try model.n_kv_heads=8: runs, ") != std::string::npos);
}

TEST_CASE("check, eval and eval --json offer the same changes, and every one says what it gains") {
  for (const char* plan : {"llama3-70b-v5p-pod", "llama3-8b-8-h100 --set assumptions.mode=calibrated",
                           "llama3-70b-serving-8-h100 --set workload.arrivals_per_s=9 --set workload.batch=8",
                           "llama3-70b-serving-8-h100 --set workload.slo.time_per_output_token_s=0.005",
                           "llama3-8b-8-h100 --set parallelism.tensor=3"}) {
    CAPTURE(plan);
    std::string text = run(std::string("check ") + plan).out;
    text.erase(0, text.find("\n\n") + 2);  // the verdict
    CHECK(run(std::string("eval ") + plan).out.ends_with(text));
    const Json checked = Json::parse(run(std::string("check --json ") + plan).out).at("diagnostics");
    CHECK(checked == Json::parse(run(std::string("eval --json ") + plan).out).at("diagnostics"));
    for (const Json& finding : checked) {
      CHECK(finding.at("fix").empty() == !finding.contains("gain"));
      for (const auto& fix : finding.at("fix").items()) CHECK(text.find(fix.key() + "=") != std::string::npos);
    }
  }
}

TEST_CASE("a plan that cannot run is offered what makes it run, and no other gain") {
  for (const char* plan :
       {"llama3-70b-serving-8-h100 --set cluster.chip=a100-80g --set precision.compute=fp8",
        "llama3-70b-serving-8-h100 --set parallelism.tensor=3", "llama3-8b-8-h100 --set parallelism.tensor=3",
        "llama3-8b-8-h100 --set pipeline.microbatch_sequences=7"}) {
    CAPTURE(plan);
    const auto outcome = run(std::string("check ") + plan);
    REQUIRE(outcome.code == 1);
    CHECK(outcome.out.find("cannot run") != std::string::npos);
    CHECK(outcome.out.find("no single edit") == std::string::npos);
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("  edit ")) continue;
      CHECK_MESSAGE(line.find(": runs") != std::string::npos, line);
    }
  }
}

TEST_CASE("an edit that check offers of a plan that cannot run or fit leads to one that runs and fits") {
  for (const std::string plan :
       {"llama3-405b-16k-h100 --set parallelism.tensor=6", "llama3-405b-16k-h100 --set parallelism.tensor=1",
        "llama3-405b-16k-h100-8k --set parallelism.expert=4", "deepseek-v3-2048-h800 --set parallelism.fsdp=100",
        "llama3-70b-v5p-pod --set parallelism.context=5", "llama3-70b-serving-8-h100 --set workload.batch=100000"}) {
    CAPTURE(plan);
    const Json now = Json::parse(run("check --json " + plan).out);
    CHECK_FALSE((now.at("runs").get<bool>() && now.at("fits").get<bool>()));
    REQUIRE(!now.at("edits").empty());
    for (const Json& edit : now.at("edits")) {
      std::string words = edit.at("edit");
      CAPTURE(words);
      for (std::size_t at = 0; (at = words.find(", ", at)) != std::string::npos;) words.replace(at, 2, " --set ");
      const Json then = Json::parse(run("check --json " + plan + " --set " + words).out);
      CHECK((then.at("runs").get<bool>() && then.at("fits").get<bool>()));
    }
  }
}

TEST_CASE("what check says a search finds is the first of what search lists, of training and of serving") {
  for (const std::string plan :
       {"llama3-8b-8-h100", "llama3-70b-serving-8-h100", "llama3-70b-serving-8-h100 --set parallelism.tensor=3",
        "llama3-8b-serving-8-h100 --set workload.slo.time_per_output_token_s=0.01",
        "llama3-70b-serving-8-h100 --set cluster.nodes=3 --set assumptions.mode=calibrated",
        "llama3-8b-8-h100 --set cluster.nodes=3 --set assumptions.mode=calibrated", "llama3-70b-v5p-pod",
        "llama3-70b-16-v5e", "llama3-70b-16-v5e --set assumptions.mode=calibrated"}) {
    CAPTURE(plan);
    const Json checked = Json::parse(run("check --json " + plan).out).at("search");
    const Json best = Json::parse(run("search --json --limit 1 " + plan).out).at("best").at(0);
    if (checked.contains("step_time_s")) {
      CHECK(checked.at("step_time_s") == best.at("step_s"));  // of plans as fast, JSON lists another first
      continue;
    }
    CHECK(checked.at("tokens_per_s") == best.at("sustained_tokens_per_s"));
    CHECK(checked.at("memory_bytes") == best.at("memory_bytes"));
    CHECK(checked.at("ttft_s") == best.at("ttft_s"));
  }
  CHECK(run("check llama3-70b-serving-8-h100")
            .out.find("\n  search          finds 20.1\u202f% more throughput, 17.0") != std::string::npos);
  CHECK(run("check llama3-70b-serving-8-h100 --set parallelism.tensor=3").out.find("\n  search  finds 17.0") !=
        std::string::npos);
  CHECK(run("check llama3-70b-serving-8-h100 --set workload.slo.time_per_output_token_s=1e-6")
            .out.find("finds no plan that fits and keeps what is promised") != std::string::npos);
}

TEST_CASE("check answers in ten lines, and exits 1 where a requirement is not met") {
  const auto met = run("check llama3-8b-8-h100 --require 'fits, step<=1h, mfu>=1%'");
  CHECK(met.code == 0);
  CHECK(met.out.find("met: mfu>=1%") != std::string::npos);
  const std::string verdict = met.out.substr(0, met.out.find("\n\n"));
  CHECK(std::count(verdict.begin(), verdict.end(), '\n') + 1 <= 13);  // ten, and one for each requirement
  const auto unmet = run("check llama3-8b-8-h100 --require 'mfu>=0.99' --json");
  CHECK(unmet.code == 1);
  CHECK_FALSE(Json::parse(unmet.out).at("requirements").at(0).at("met").get<bool>());
  CHECK(run("check llama3-8b-8-h100 --require speed").code == 2);
  CHECK(run("check llama3-8b-8-h100 --require 'mfu>=fast'").code == 2);
}

TEST_CASE("the preset of a published run says what was published beside what the mode says") {
  for (const char* mode : {"ideal", "calibrated"}) {
    CAPTURE(mode);
    const std::string plan = "llama3-405b-16k-h100-8k --set assumptions.mode=" + std::string(mode);
    const std::string text = run("eval " + plan).out;
    CHECK(text.find("published  MFU 41.0\u202f%, " + std::string(mode) + " mode says ") != std::string::npos);
    const Json report = Json::parse(run("eval --json " + plan).out);
    CHECK(report.at("published").at("quantities").at("mfu") == 0.41);
  }
  CHECK(run("eval llama3-405b-16k-h100-8k --set parallelism.fsdp=64").out.find("published") == std::string::npos);
}

}  // namespace
}  // namespace roofscape
