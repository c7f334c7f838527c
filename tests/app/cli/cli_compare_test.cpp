// roofscape-cli compare as a user runs it: two plans side by side, a measured run beside its prediction, and what it
// refuses.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/app/cli/cli_run.h"
#include "tests/capture_binding.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/test_paths.h"

namespace roofscape {
namespace {

using test::Outcome;
using test::run;

TEST_CASE("compare lays one number over the prediction, says what is unexplained and what would close the gap") {
  const Outcome o = run("compare llama3-405b-16k-h100-8k --measured step=20s,memory=70GiB");
  CHECK(o.code == 0);
  CHECK(o.err.empty());
  CHECK(o.out.starts_with("One step\n"));
  CHECK(o.out.find("20.0") != std::string::npos);
  CHECK(o.out.find("\n  unexplained ") != std::string::npos);
  CHECK(o.out.find("\nMemory of the fullest chip\n") != std::string::npos);
  CHECK(o.out.find("\nWhat alone would close the gap\n") != std::string::npos);
}

TEST_CASE("compare --json has the terms, whose differences add up to the measured step") {
  const Outcome o = run("compare llama3-405b-16k-h100-8k --measured step=20s --json");
  REQUIRE(o.code == 0);
  const auto json = nlohmann::json::parse(o.out);
  CHECK(json["measured_s"] == 20.0);
  double sum = json["unexplained_s"].get<double>();
  for (const auto& row : json["terms"]) {
    CHECK(row["measured_s"].is_null());
    sum += row["predicted_s"].get<double>();
  }
  CHECK(std::abs(sum - 20.0) < 1e-9);
  CHECK_FALSE(json["closing"].empty());
}

TEST_CASE("compare of a plan and its edit names the field and the numbers that differ, and no others") {
  const Outcome o = run("compare llama3-70b-v5p-pod --set checkpointing.policy=big_matmuls");
  CHECK(o.code == 0);
  CHECK(o.err.empty());
  CHECK(o.out.find("\nWhat differs\n  checkpointing.policy  k_per_layer  \u2192  big_matmuls\n\n") !=
        std::string::npos);
  CHECK(o.out.find("\n  step time          575\u202fms   484\u202fms   \u221215.8\u202f%  step.time_s\n") !=
        std::string::npos);
  CHECK(o.out.find("+15.5 points  mfu\n") != std::string::npos);
  CHECK(o.out.find("step.matmul_s") == std::string::npos);
  CHECK(o.out.find("\nFound of one alone\n  B  warning  Transfers not hidden\n") != std::string::npos);
}

TEST_CASE("edits are laid on the second of two plans") {
  const Outcome o =
      run("compare llama3-405b-16k-h100-8k llama3-405b-16k-h100 --set workload.sequence_length=8192 --set "
          "workload.global_batch_sequences=2048 --set parallelism.context=1 --set parallelism.fsdp=128 --json");
  CHECK(o.code == 0);
  const auto json = nlohmann::json::parse(o.out);
  std::vector<std::string> paths;
  for (const auto& change : json["changes"]) paths.push_back(change["path"]);
  CHECK(paths == std::vector<std::string>{"workload.train_tokens", "assumptions.stated_mfu"});
  CHECK(json["quantities"]["step.time_s"]["a"] == json["quantities"]["step.time_s"]["b"]);
}

TEST_CASE("compare --json has what eval has of each of the two, for plans that train and that serve") {
  for (const auto& [first, second] : {std::pair{"llama3-8b-8-h100", "gpt3-175b-1024-a100"},
                                      {"llama3-70b-serving-8-h100", "deepseek-v3-h800-wide-expert"}}) {
    const auto compared = nlohmann::json::parse(run("compare " + std::string(first) + ' ' + second + " --json").out);
    const auto of_a = nlohmann::json::parse(run("eval " + std::string(first) + " --json").out)["quantities"];
    const auto of_b = nlohmann::json::parse(run("eval " + std::string(second) + " --json").out)["quantities"];
    CHECK(compared["quantities"].size() > 50);
    for (const auto& [id, row] : compared["quantities"].items()) {
      CAPTURE_BINDING(id);
      CHECK(row["a"] == of_a[id]["value"]);
      CHECK(row["b"] == of_b[id]["value"]);
      CHECK(row["unit"] == of_a[id]["unit"]);
    }
  }
}

// The cells of the line that ends with an id, between runs of blanks.
std::vector<std::string> cells_of(const std::string& text, const std::string& id) {
  const std::size_t end = text.find("  " + id + "\n");
  if (end == std::string::npos) return {};
  const std::size_t begin = text.rfind('\n', end) + 1;
  std::vector<std::string> cells;
  for (std::size_t at = text.find_first_not_of(' ', begin); at < end;) {
    const std::size_t gap = std::min(text.find("  ", at), end);
    cells.push_back(text.substr(at, gap - at));
    at = text.find_first_not_of(' ', gap);
  }
  return cells;
}

TEST_CASE("what compare shows of a plan is what eval shows of it, in both modes, on a torus and on switches") {
  for (const auto& [plan, edit] : {std::pair{"llama3-70b-v5p-pod", "checkpointing.policy=big_matmuls"},
                                   {"llama3-405b-16k-h100", "pipeline.virtual_stages=4"},
                                   {"llama3-70b-16-v5e", "workload.batch=8"},
                                   {"llama3-70b-serving-8-h100", "workload.batch=8"}})
    for (const std::string mode : {"ideal", "calibrated"}) {
      const std::string a = std::string(plan) + " --set assumptions.mode=" + mode,
                        b = std::string(plan) + " --set assumptions.mode=ideal --set " + edit;
      CAPTURE(a);
      CAPTURE(b);
      const test::TemporaryFolder folder;
      folder.write("a.json", nlohmann::json::parse(run("eval " + a + " --json").out)["scenario"].dump());
      folder.write("b.json", nlohmann::json::parse(run("eval " + b + " --json").out)["scenario"].dump());
      const std::string compared = run(folder, "compare a.json b.json").out;
      const std::string of_a = run(folder, "eval a.json").out, of_b = run(folder, "eval b.json").out;
      const auto json = nlohmann::json::parse(run(folder, "compare a.json b.json --json").out);
      const auto json_a = nlohmann::json::parse(run(folder, "eval a.json --json").out)["quantities"],
                 json_b = nlohmann::json::parse(run(folder, "eval b.json --json").out)["quantities"];
      int lines = 0;
      for (const auto& [id, row] : json["quantities"].items()) {
        CAPTURE_BINDING(id);
        CHECK(row["a"] == json_a[id]["value"]);
        CHECK(row["b"] == json_b[id]["value"]);
        const std::vector<std::string> cells = cells_of(compared, id);
        if (cells.size() < 3) continue;
        ++lines;
        // A part that is zero has no line in a report.
        if (const auto in_a = cells_of(of_a, id); in_a.size() > 1) CHECK(cells[1] == in_a[1]);
        if (const auto in_b = cells_of(of_b, id); in_b.size() > 1) CHECK(cells[2] == in_b[1]);
      }
      CHECK(lines > 5);
    }
}

TEST_CASE("a plan that is compared with itself has no number that differs") {
  const Outcome o = run("compare llama3-8b-8-h100 llama3-8b-8-h100");
  CHECK(o.code == 0);
  CHECK(
      o.out.ends_with("\nWhat differs\n  nothing: it is the same plan\n\n"
                      "Numbers that are the same in both are left out.\n"));
}

TEST_CASE("of two plans one of which cannot run compare says so, with exit status 1") {
  const Outcome o = run("compare gpt3-175b-1024-a100 --set pipeline.schedule=gpipe");
  CHECK(o.code == 1);
  CHECK(o.out.find("\n   cannot run: Schedule not possible\n") != std::string::npos);
  CHECK(o.out.find("\n  B  error    Schedule not possible\n") != std::string::npos);
  CHECK(o.out.find("measured pairs") == std::string::npos);
}

TEST_CASE("compare says how measured pairs went that differ in the one thing that was changed") {
  const Outcome o = run("compare gpt3-175b-1024-a100 --set pipeline.schedule=1f1b --set pipeline.virtual_stages=1");
  CHECK(o.code == 0);
  CHECK(o.out.find(" measured pairs that differ in this alone, ") != std::string::npos);
  const auto json = nlohmann::json::parse(
      run("compare gpt3-175b-1024-a100 --set pipeline.schedule=1f1b --set pipeline.virtual_stages=1 --json").out);
  CHECK(json["measured_pairs"]["change"] == "schedule");
  CHECK(json["measured_pairs"]["right"] <= json["measured_pairs"]["apart"]);
}

TEST_CASE("a cluster is that of two launch files, and of one and its edit, alone it is what is changed") {
  const test::TemporaryFolder folder;
  folder.write("run.sh", test::text_of(test::source_dir() / "tests/fuzz/launch/megatron"));
  const auto changed = [&folder](const std::string& arguments) {
    const Outcome o = run(folder, "compare " + arguments + " --json");
    CAPTURE(o.err);
    REQUIRE_FALSE(o.out.empty());
    const auto json = nlohmann::json::parse(o.out);
    std::vector<std::string> paths;
    for (const auto& change : json["changes"]) paths.push_back(change["path"]);
    return paths;
  };
  CHECK(changed("run.sh run.sh --cluster h100-sxm") == std::vector<std::string>{});
  CHECK(changed("run.sh --cluster h100-sxm --set zero_stage=3") ==
        std::vector<std::string>{"parallelism.zero_stage"});
  CHECK(changed("llama3-8b-8-h100 --cluster a100-80g:8").front() == "cluster");
}

TEST_CASE("compare takes a launch file as the plan") {
  const test::TemporaryFolder folder;
  folder.write("run.sh", test::text_of(test::source_dir() / "tests/fuzz/launch/megatron"));
  const Outcome o =
      run(folder, "compare run.sh --cluster h100-sxm --measured 'elapsed time per iteration (ms): 9000.0 |'");
  CHECK(o.code == 0);
  CHECK(o.out.find("9.00") != std::string::npos);
}

TEST_CASE("compare refuses in one line, with exit status 2") {
  for (const test::Refusal& refusal :
       {test::Refusal{
            "compare llama3-8b-8-h100",
            "llama3-8b-8-h100: there is nothing to compare it with; name a second plan, change this one with "
            "--set, or give what was measured with --measured\n"},
        {"compare llama3-8b-8-h100 llama3-70b-v5p-pod --steps 3",
         "--steps: nothing measured was given; add --measured with what the steps are of\n"},
        {"compare llama3-8b-8-h100 --set parallelism.tensor=2 --steps 1", "--steps: nothing measured was given"},
        {"compare llama3-8b-8-h100 llama3-70b-v5p-pod --measured step=1s",
         "llama3-70b-v5p-pod: a measured run is compared with one plan; leave out the second plan, or --measured\n"},
        {"compare llama3-8b-8-h100 llama3-70b-serving-8-h100",
         "llama3-70b-serving-8-h100: one plan trains and the other serves: they have no numbers in common; compare "
         "plans "
         "of one kind of workload\n"},
        {"compare llama3-8b-8-h100 nowhere", "nowhere: "},
        {"compare llama3-8b-8-h100 --set tensro=2", "did you mean \"parallelism.tensor\"?\n"},
        {"compare llama3-8b-8-h100 --measured nowhere.json", "nowhere.json: "},
        {"compare llama3-8b-8-h100 --measured step=fast", "step: "},
        {"compare llama3-8b-8-h100 --measured step=1s --steps 0", "--steps"},
        {"compare nowhere --measured step=1s", "nowhere"}}) {
    CAPTURE(refusal.arguments);
    const Outcome o = run(refusal.arguments);
    CHECK(o.code == 2);
    CHECK(o.out.empty());
    CHECK(o.err.find(refusal.answer) != std::string::npos);
    CHECK(std::count(o.err.begin(), o.err.end(), '\n') == 1);
  }
}

TEST_CASE("figures of time and memory take a measured run of any kind") {
  const test::TemporaryFolder folder;
  folder.write("log.txt", "iteration 1/ 10 | elapsed time per iteration (ms): 9000.0 |\n");
  folder.write("row.json", R"({"step": "9 s", "memory": "60 GiB"})");
  folder.write("row.csv", "step,memory\n9 s,60 GiB\n");
  folder.write("trace.json", R"({"traceEvents": [
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "ts": 0, "dur": 9000000},
    {"ph": "X", "cat": "kernel", "name": "nvjet_gemm", "ts": 0, "dur": 3000000, "args": {"correlation": 1}}]})");
  for (const char* file : {"log.txt", "row.json", "row.csv", "trace.json", "step=9s"})
    for (const char* figure : {"step", "pipeline"}) {
      CAPTURE(file);
      CAPTURE(figure);
      const Outcome o = run(
          folder, std::string("figure ") + figure + " llama3-405b-16k-h100-8k -o - --format svg --measured " + file);
      CHECK(o.code == 0);
      CHECK(o.out.find("measured") != std::string::npos);
      CHECK(o.out.find("9.00") != std::string::npos);
    }
  const Outcome memory =
      run(folder, "figure memory llama3-405b-16k-h100-8k -o - --format csv --measured row.csv --measured log.txt");
  CHECK(memory.out.find("measured allocated") != std::string::npos);
  const Outcome serving =
      run(folder, "figure serving-memory llama3-70b-serving-8-h100 -o - --format csv --measured row.csv");
  CHECK(serving.out.find("measured bytes") != std::string::npos);
}

TEST_CASE("a figure that has nothing measured to show refuses a measured run") {
  const Outcome o = run("figure network llama3-8b-8-h100 -o x.svg --measured step=1s");
  CHECK(o.code == 2);
  CHECK(o.err.find("--measured: network has nothing measured to show") != std::string::npos);
}

}  // namespace
}  // namespace roofscape
