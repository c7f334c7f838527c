// roofscape-cli compare as a user runs it: a measured run beside its prediction, and what it refuses.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/app/cli/cli_run.h"
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
       {test::Refusal{"compare llama3-8b-8-h100", "--measured: nothing measured was given"},
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
