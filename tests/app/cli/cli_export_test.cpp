// roofscape-cli export-flags: a plan for a launcher, who can run it, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "engine/frameworks/framework.h"
#include "tests/app/cli/cli_run.h"
#include "tests/capture_binding.h"
#include "tests/test_paths.h"

namespace roofscape {
namespace {

using test::Outcome;
using test::run;

TEST_CASE("export-flags prints the file of a launcher, or writes it") {
  const std::string golden = test::text_of(test::source_dir() / "tests/golden/exports/llama3_405b_megatron.sh");
  const Outcome printed = run("export-flags llama3-405b-16k-h100 --for megatron");
  CHECK(printed.code == 0);
  CHECK(printed.out == golden);
  const test::TemporaryFolder folder;
  const Outcome written = run(folder, "export-flags llama3-405b-16k-h100 --for megatron -o run.sh");
  CHECK(written.code == 0);
  CHECK(written.out.empty());
  CHECK(test::text_of(folder.path() / "run.sh") == golden);
}

TEST_CASE("export-flags --who names each launcher and server, and the first rule that is broken") {
  const Outcome all = run("export-flags gpt3-175b-1024-a100 --who");
  CHECK(all.code == 0);
  CHECK(all.out.find("Megatron-LM      runs it\n") == 0);
  CHECK(all.out.find(
            "torchtitan       torchtitan has no model with LayerNorm (torchtitan 0.2.2, torchtitan/models)\n") !=
        std::string::npos);
  const auto json = nlohmann::json::parse(run("export-flags gpt3-175b-1024-a100 --who --json").out);
  REQUIRE(json.size() == engine::kFrameworks);
  CHECK(json[0].at("framework") == "megatron");
  CHECK(json[0].at("runs") == true);
  CHECK(json[0].at("rule").is_null());
  CHECK(json[2].at("rule") == "model");
  CHECK(json[2].at("path") == "model");
}

TEST_CASE("a plan that the launcher cannot run is refused with exit 1 and the nearest that it can") {
  const Outcome refused = run("export-flags llama3-8b-8-h100 --for deepspeed --set precision.compute=fp8");
  CHECK(refused.code == 1);
  CHECK(refused.out.empty());
  CHECK(refused.err ==
        "roofscape-cli: llama3-8b-8-h100: precision.compute: DeepSpeed cannot run this plan: DeepSpeed's own formats "
        "are "
        "bf16, fp16 and fp32 (DeepSpeed, deepspeed/runtime/config.py); the nearest plan that it can run has "
        "--set precision.compute=bf16\n");
  const Outcome impossible = run("export-flags llama3-8b-8-h100 --for megatron --set parallelism.tensor=16");
  CHECK(impossible.code == 1);
  CHECK(impossible.out.empty());
}

TEST_CASE("wrong options of export-flags are answered with one line and exit 2") {
  const test::Refusal cases[] = {
      {"export-flags llama3-8b-8-h100",
       "roofscape-cli: --for: names no launcher or server; there are: megatron, megatron-bridge, torchtitan, "
       "maxtext, "
       "jax, deepspeed, vllm, sglang, trtllm\n"},
      {"export-flags llama3-8b-8-h100 --for nanotron",
       "roofscape-cli: --for: \"nanotron\" is not known; there are: megatron, megatron-bridge, torchtitan, maxtext, "
       "jax, "
       "deepspeed, vllm, sglang, trtllm\n"},
      {"export-flags llama3-8b-8-h100 --for megatron --launcher mpirun",
       "roofscape-cli: --launcher: \"mpirun\" is not known; there are: torchrun, sbatch\n"},
      {"export-flags llama3-8b-8-h100 --for jax --launcher torchrun",
       "roofscape-cli: --launcher: torchrun does not start the processes of JAX; give sbatch\n"},
      {"export-flags llama3-8b-8-h100 --for jax --json",
       "roofscape-cli: --json: only what --who finds is JSON; add --who, or leave it out\n"},
  };
  for (const auto& [arguments, answer] : cases) {
    CAPTURE_BINDING(arguments);
    const Outcome outcome = run(arguments);
    CHECK(outcome.code == 2);
    CHECK(outcome.err == answer);
  }
}

TEST_CASE("a search can be limited to what a launcher runs, and says how many plans that leaves out") {
  const auto all = nlohmann::json::parse(run("search llama3-8b-8-h100 --json --limit 50").out);
  const auto some = nlohmann::json::parse(run("search llama3-8b-8-h100 --json --limit 50 --runs-on deepspeed").out);
  CHECK(all.at("plans") == some.at("plans"));
  CHECK(all.at("rejected").at("runs_on") == 0);
  CHECK(some.at("rejected").at("runs_on").get<double>() > 0);
  CHECK(some.at("fit").get<double>() > 0);
  CHECK(some.at("fit").get<double>() < all.at("fit").get<double>());
  for (const auto& row : some.at("best")) {
    const auto& names = row.at("runs_on");
    CHECK(std::find(names.begin(), names.end(), "deepspeed") != names.end());
  }
  const Outcome unknown = run("search llama3-8b-8-h100 --runs-on mesh-tensorflow");
  CHECK(unknown.code == 2);
  CHECK(
      unknown.err ==
      "roofscape-cli: --runs-on: \"mesh-tensorflow\" is not known; there are: megatron, megatron-bridge, torchtitan, "
      "maxtext, jax, deepspeed, vllm, sglang, trtllm\n");
}

TEST_CASE("a plan of a search is run by those who run it as a scenario, as JSON and as CSV") {
  for (const char* preset : {"llama3-8b-8-h100", "llama3-70b-serving-8-h100"}) {
    CAPTURE(preset);
    const std::string search = std::string("search ") + preset + " --limit 3";
    const auto best = nlohmann::json::parse(run(search + " --json").out).at("best");
    std::istringstream lines(run(search + " --csv").out);
    std::string line;
    std::getline(lines, line);
    for (const auto& row : best) {
      std::string question = std::string("export-flags ") + preset + " --who --json", names;
      for (const auto& [path, value] : row.at("plan").items())
        question += " --set " + path + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
      auto running = nlohmann::json::array();
      for (const auto& who : nlohmann::json::parse(run(question).out))
        if (who.at("runs").get<bool>()) {
          running.push_back(who.at("framework"));
          names += (names.empty() ? "" : " ") + who.at("framework").get<std::string>();
        }
      CHECK(row.at("runs_on") == running);
      std::getline(lines, line);
      CHECK(line.substr(line.rfind(',') + 1) == names);
    }
  }
}

TEST_CASE("a field is set by a framework's name for it") {
  const Outcome ours = run("eval llama3-8b-8-h100 --json --set parallelism.tensor=2 --set parallelism.fsdp=4");
  const Outcome theirs = run("eval llama3-8b-8-h100 --json --set TP=2 --set data_parallel_shard_degree=4");
  CHECK(theirs.code == 0);
  CHECK(theirs.out == ours.out);
}

}  // namespace
}  // namespace roofscape
