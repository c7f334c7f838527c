// Input that means no good, or is not what it seems: pipes, control characters, numbers beyond any computer, contradictory
// options, measurements that nobody measured.
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "engine/base/utf8.h"
#include "engine/io/export/csv.h"
#include "tests/app/cli/cli_run.h"
#include "tests/test_paths.h"

namespace roofscape {
namespace {

using test::Outcome;
using test::run;
using test::TemporaryFolder;

constexpr const char* kPlan = R"({"format": "roofscape/scenario", "version": 1, "name": "%", "model": "llama3-8b",
"cluster": {"chip": "h100-sxm", "nodes": 1, "node_size": 8}, "parallelism": {"fsdp": 8}})";

std::string plan_named(const std::string& name) {
  std::string plan = kPlan;
  return plan.replace(plan.find('%'), 1, name);
}

TEST_CASE("what a terminal takes for a command does not reach it from a file's names") {
  const TemporaryFolder folder;
  folder.write("plan.json", plan_named("a\\u001b[31mred\\u009b31m\\u0007\\u007f b"));
  for (const char* command : {"eval plan.json", "sweep plan.json --vary parallelism.zero_stage=1,2,3",
                              "check plan.json", "explain step.time_s plan.json", "eval --bad plan.json",
                              "figure step plan.json -o a.svg", "search plan.json --limit 3"}) {
    CAPTURE(command);
    const Outcome o = run(folder, command);
    CHECK(o.out == engine::without_controls(o.out));
    CHECK(o.err == engine::without_controls(o.err));
  }
}

TEST_CASE("a scenario is read from a pipe as from a file") {
  const TemporaryFolder folder;
  mkfifo((folder.path() / "pipe").c_str(), 0600);
  std::thread writer([&folder] { folder.write("pipe", plan_named("piped")); });
  const Outcome o = run(folder, "eval pipe");
  writer.join();
  CHECK(o.code == 0);
  CHECK(o.out.starts_with("piped"));
}

TEST_CASE("a pipe that nobody writes into is an error, and one among the presets is named and left out") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "presets" / "scenarios");
  mkfifo((folder.path() / "presets" / "scenarios" / "a.json").c_str(), 0600);
  const Outcome listed = run(folder, "presets --presets presets");
  CHECK(listed.code == 0);
  CHECK(listed.err.find("a.json: is a folder, a pipe or a device, not a file; put a JSON file in its place") !=
        std::string::npos);
  mkfifo((folder.path() / "pipe").c_str(), 0600);
  const Outcome o = run(folder, "eval pipe");
  CHECK(o.code == 2);
  CHECK(o.err == "roofscape-cli: pipe: nothing is written into it; write into the pipe, or give a file\n");
}

TEST_CASE("a number beyond any computer is named with its field") {
  const TemporaryFolder folder;
  folder.write("plan.json", R"({"workload": {"global_batch_sequences": 1e400}})");
  const Outcome o = run(folder, "eval plan.json");
  CHECK(o.code == 2);
  CHECK(o.err ==
        "roofscape-cli: plan.json: workload.global_batch_sequences: line 1, column 45: a number is too large "
        "for any computer; write a smaller one\n");
}

TEST_CASE("constraints of a search that contradict each other are named") {
  CHECK(
      run("search llama3-8b-8-h100 --pin tensor=2 --pin tensor=4").err ==
      "roofscape-cli: --pin: \"tensor=2\" and \"tensor=4\" contradict each other; give one of them, or one list such "
      "as tensor=4,8\n");
  for (const char* options : {"--min tensor=8 --max tensor=4", "--pin tensor=2 --min tensor=4"}) {
    const Outcome o = run(std::string("search llama3-8b-8-h100 ") + options);
    CHECK(o.code == 2);
    CHECK(o.err.find("tensor has no value left; what is pinned, the least and the greatest contradict each other") !=
          std::string::npos);
  }
  CHECK(run("search llama3-8b-8-h100 --pin tensor=2 --pin tensor=2 --limit 1").code == 0);
}

TEST_CASE("measurements that nobody measured are refused with their place") {
  const TemporaryFolder folder;
  const auto refused = [&folder](const std::string& measured) {
    folder.write("m.json", R"({"name": "m", "entries": [{"id": "a", "family": "f", "table": "t", "task": "training",
"kind": "step", "source": "s", "measured": {)" +
                               measured + "}}]}");
    const Outcome o = run(folder, "validate m.json");
    CHECK(o.code == 2);
    return o.err;
  };
  CHECK(
      refused("\"step_time_s\": -1").find("measured.step_time_s: -1 was measured by nobody; give a number above 0") !=
      std::string::npos);
  CHECK(refused("\"step_time_s\": 0").find("0 was measured by nobody") != std::string::npos);
  CHECK(refused("\"mfu\": 400").find("measured.mfu: 400 is a share above 1; write 0.46 for 46 %") !=
        std::string::npos);
}

TEST_CASE("a cell that a spreadsheet takes for a formula is text in CSV, and a number stays one") {
  for (const char* formula : {"=1+1", "+cmd", "-2+3+cmd|' /C calc'!A0", "@SUM(A1)"})
    CHECK(io::csv_field(formula).find("'" + std::string(formula, 1)) != std::string::npos);
  for (const char* plain : {"-5", "+5", "-0.25", "1e-3", "-", "-3 %", "llama3-8b"})
    CHECK(io::csv_field(plain) == plain);
}

TEST_CASE("without a font nothing is drawn by any command, and nothing is left behind") {
  const TemporaryFolder folder;
  const auto fonts =
      folder.write("fonts.conf", "<?xml version=\"1.0\"?><fontconfig><dir>/nonexistent</dir></fontconfig>");
  folder.write("recipe.json", R"({"format": "roofscape/figures", "version": 1, "figures":
[{"figure": "step", "scenario": "llama3-8b-8-h100", "output": "step.pdf"}]})");
  setenv("FONTCONFIG_FILE", fonts.c_str(), 1);
  const char* kNone =
      "there is no font on this machine; install the package fonts-noto-core, for Korean also fonts-noto-cjk\n";
  for (const char* command :
       {"figure step llama3-8b-8-h100 -o step.svg", "figure --all llama3-8b-8-h100 -o all",
        "figure block kv-cache model=llama3-70b sequence_length=8192 sequences=16 -o kv.svg",
        "frames llama3-8b-8-h100 --vary parallelism.zero_stage=1,2 -o frames", "tour intro --export slides"}) {
    CAPTURE(command);
    const Outcome o = run(folder, command);
    CHECK(o.code == 2);
    CHECK(o.err == std::string("roofscape-cli: ") + kNone);
  }
  const Outcome recipe = run(folder, "figures recipe.json");
  CHECK(recipe.code == 2);
  CHECK(recipe.err == std::string("roofscape-cli: recipe.json: figures.0: ") + kNone);
  unsetenv("FONTCONFIG_FILE");
  CHECK(folder.count() == 2);
}

TEST_CASE("what only the other kind of workload reads is named with the remedy, and the plan is evaluated without") {
  const TemporaryFolder folder;
  const auto told = [&folder](const std::string& arguments) {
    const Outcome o = run(folder, arguments);
    CHECK(o.code == 0);
    CHECK_FALSE(o.out.empty());
    return o.err;
  };
  const std::string kServes = "; only training reads it; leave it out, or set workload.kind=training\n",
                    kTrains = "; only serving reads it; leave it out, or set workload.kind=serving\n";
  folder.write("serving.json", R"({"model": "llama3-8b", "cluster": {"chip": "h100-sxm", "nodes": 1},
"workload": {"kind": "serving", "global_batch_sequences": 3}, "pipeline": {"schedule": "gpipe"}})");
  CHECK(told("eval serving.json") ==
        "roofscape-cli: serving.json: without effect on a plan that serves: workload.global_batch_sequences, "
        "pipeline.schedule" +
            kServes);
  folder.write("training.json", plan_named("t").insert(1, R"("serving": {"draft_tokens": 3}, )"));
  CHECK(told("sweep training.json --vary parallelism.zero_stage=1,2") ==
        "roofscape-cli: training.json: without effect on a plan that trains: serving.draft_tokens" + kTrains);
  // Of an edit also where it is what was there before, and by a framework's name.
  CHECK(told("eval llama3-8b-8-h100 --set workload.batch=32 --set serving.draft_tokens=3") ==
        "roofscape-cli: --set: without effect on a plan that trains: workload.batch, serving.draft_tokens" + kTrains);
  CHECK(
      told("eval llama3-70b-serving-8-h100 --set micro-batch-size=2 --set schedule=gpipe") ==
      "roofscape-cli: --set: without effect on a plan that serves: pipeline.microbatch_sequences, pipeline.schedule" +
          kServes);
  CHECK(told("eval serving.json --set workload.kind=training --set parallelism.fsdp=1") == "");
  CHECK(told("eval llama3-8b-8-h100 --set workload.kind=serving --set parallelism.fsdp=1") == "");
}

TEST_CASE("a word that the other kind of workload has is answered with the field of this kind that is like it") {
  const TemporaryFolder folder;
  CHECK(run(folder, "eval llama3-8b-8-h100 --set batch=32").err ==
        "roofscape-cli: --set: without effect on a plan that trains: workload.batch; only serving reads it; did you "
        "mean \"workload.global_batch_sequences\"? Otherwise leave it out, or set workload.kind=serving\n");
  CHECK(run(folder, "eval llama3-70b-serving-8-h100 --set global-batch-size=32").err ==
        "roofscape-cli: --set: without effect on a plan that serves: workload.global_batch_sequences; only training "
        "reads it; did you mean \"workload.batch\"? Otherwise leave it out, or set workload.kind=training\n");
  const Outcome trains = run(folder, "eval llama3-8b-8-h100 --set batchsize=32");
  CHECK(trains.code == 2);
  CHECK(trains.err ==
        "roofscape-cli: --set: batchsize: unknown field; did you mean \"workload.global_batch_sequences\"?\n");
  CHECK(run(folder, "eval llama3-70b-serving-8-h100 --set batchsize=32").err ==
        "roofscape-cli: --set: batchsize: unknown field; did you mean \"workload.batch\"?\n");
}

TEST_CASE("a list and the switch that says whether there is one contradict each other") {
  const TemporaryFolder folder;
  folder.write("plan.json",
               plan_named("t").insert(1, R"("pipeline": {"layers_per_stage": [16, 16], "layers_by_hand": false}, )"));
  const Outcome o = run(folder, "eval plan.json");
  CHECK(o.code == 2);
  CHECK(o.err ==
        "roofscape-cli: plan.json: pipeline.layers_by_hand: stands beside \"layers_per_stage\"; give one of "
        "the two\n");
}

TEST_CASE("a number of hundreds of digits is shortened in what is said of it") {
  const std::string digits(330, '9');
  const TemporaryFolder folder;
  folder.write("plan.json", "{\"parallelism\": {\"tensor\": " + digits.substr(0, 300) + "}}");
  for (const std::string& arguments :
       {"search llama3-8b-8-h100 --pin tensor=" + digits, "eval llama3-8b-8-h100 --set parallelism.tensor=" + digits,
        "eval llama3-8b-8-h100 --set cluster.slice=" + digits, "calc params n_layers=" + digits,
        "sweep llama3-8b-8-h100 --vary parallelism.tensor=" + digits, "search llama3-8b-8-h100 --limit " + digits,
        "figure step llama3-8b-8-h100 -o a.svg --size " + digits, std::string("eval plan.json")}) {
    CAPTURE(arguments);
    const Outcome o = run(folder, arguments);
    CHECK(o.code == 2);
    CHECK(o.err.find(std::string(61, '9')) == std::string::npos);
    CHECK(o.err.size() < 500);
  }
}

TEST_CASE("two hundred thousand measured operations are drawn, each with a mark that stands for it") {
  const TemporaryFolder folder;
  std::string rows = "name,flops,bytes,seconds\n";
  for (int i = 0; i < 200'000; ++i)
    rows += "k" + std::to_string(i % 40) + "," + std::to_string(1 + i % 997) + "e12," + std::to_string(1 + i % 89) +
            "e9," + std::to_string(1 + i % 13) + "\n";
  folder.write("rows.csv", rows);
  const Outcome o = run(folder, "figure roofline llama3-8b-8-h100 --measured rows.csv -o roofline.svg");
  CHECK(o.code == 0);
  CHECK(std::filesystem::file_size(folder.path() / "roofline.svg") < 8'000'000);
}

TEST_CASE("what cannot be written is an error, whichever command writes it, and the old file stays") {
  const TemporaryFolder folder;
  for (const char* command :
       {"eval llama3-8b-8-h100", "sweep llama3-8b-8-h100 --vary parallelism.zero_stage=1,2 --csv", "presets --json",
        "figure step llama3-8b-8-h100 -o - --format svg", "calc --list", "calc --help", "--help", "--version"}) {
    CAPTURE(command);
    const Outcome o = run(folder, std::string(command) + " >/dev/full 2>err; echo $? >code; true");
    CHECK(test::text_of(folder.path() / "code") == "2\n");
    CHECK(test::text_of(folder.path() / "err") ==
          "roofscape-cli: the output could not be written; check the disk or the pipe\n");
  }
  // A limit on the size of files stands for a full disk.
  folder.write("step.svg", "old");
  const Outcome o = run(folder, "--version >/dev/null; trap '' XFSZ; ulimit -f 1; '" + test::cli_program() +
                                    "' figure step llama3-8b-8-h100 -o step.svg");
  CHECK(o.code == 2);
  CHECK(o.err.find("step.svg: cannot be written: File too large") != std::string::npos);
  CHECK(test::text_of(folder.path() / "step.svg") == "old");
  CHECK(folder.count() == 3);  // with the two of the loop
}

TEST_CASE("files are the same to the byte whatever the time zone, the locale, the cores and the name of the folder") {
  const TemporaryFolder folder;
  std::string first;
  for (const auto& [where, environment] :
       {std::pair{"plain", "TZ=UTC"},
        {"with spaces and 한국어", "TZ=Asia/Kolkata LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8"}}) {
    std::filesystem::create_directories(folder.path() / where);
    const std::string command = std::string("; env ") + environment + " '" + test::cli_program() + "' --lang en ";
    const std::string all = command + "figure step llama3-8b-8-h100 -o 'F/a.svg'" + command +
                            "figure step llama3-8b-8-h100 -o 'F/a.pdf'" + command +
                            "figure step llama3-8b-8-h100 -o 'F/a.png'" + command +
                            "eval llama3-8b-8-h100 --json >'F/eval'" + command +
                            "search llama3-8b-8-h100 --json --limit 3 >'F/search'; true";
    std::string commands = all;
    for (std::size_t at = commands.find("F/"); at != std::string::npos; at = commands.find("F/", at + 1))
      commands.replace(at, 1, where);
    const Outcome o = run(folder, "--version >/dev/null" + commands);
    CHECK(o.err == "");
    std::string bytes;
    for (const char* file : {"a.svg", "a.pdf", "a.png", "eval", "search"}) {
      const std::string text = test::text_of(folder.path() / where / file);
      CHECK(text.size() > 1000);
      bytes += text;
    }
    if (first.empty()) first = bytes;
    CHECK((bytes == first));
  }
}

}  // namespace
}  // namespace roofscape
