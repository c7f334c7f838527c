// roofscape-cli trace: the step as a Chrome trace, of a pipeline and without one.
#include <doctest/doctest.h>

#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/io/export/trace_json.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/pipeline/order_csv.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"
#include "tests/test_paths.h"

namespace roofscape {
namespace {

using Json = nlohmann::json;

engine::Scenario scenario(const char* preset, std::initializer_list<const char*> changes = {}) {
  auto read = io::load_scenario(preset, test::shipped());
  REQUIRE(read.ok());
  for (const char* change : changes) REQUIRE_FALSE(io::set_field(read.value(), change, test::shipped()));
  return read.value();
}

Json traced(const engine::Scenario& s) {
  const auto text = io::trace_json(s, engine::evaluate(s));
  REQUIRE(text.ok());
  return Json::parse(text.value()).at("traceEvents");
}

std::int64_t picoseconds(const Json& micro) { return std::llround(micro.get<double>() * 1e6); }

// Slices of a thread that are not apart; times are doubles in JSON, exact to a picosecond below an hour.
int overlaps(const Json& events) {
  std::map<std::pair<int, int>, std::vector<std::pair<std::int64_t, std::int64_t>>> threads;
  for (const Json& e : events)
    if (e.at("ph") == "X")
      threads[{e.at("pid").get<int>(), e.at("tid").get<int>()}].emplace_back(
          picoseconds(e.at("ts")), picoseconds(e.at("ts")) + picoseconds(e.at("dur")));
  int found = 0;
  for (auto& thread : threads) {
    std::sort(thread.second.begin(), thread.second.end());
    for (std::size_t i = 1; i < thread.second.size(); ++i)
      found += thread.second[i].first < thread.second[i - 1].second;
  }
  return found;
}

std::set<std::pair<int, int>> named_threads(const Json& events) {
  std::set<std::pair<int, int>> out;
  for (const Json& e : events)
    if (e.at("name") == "thread_name") CHECK(out.emplace(e.at("pid").get<int>(), e.at("tid").get<int>()).second);
  return out;
}

bool is_operation(const Json& e) {
  const std::string category = e.at("cat");
  return category == "forward" || category.starts_with("backward");
}

double last_end(const Json& events) {
  double end = 0;
  for (const Json& e : events)
    if (e.at("ph") == "X") end = std::max(end, e.at("ts").get<double>() + e.at("dur").get<double>());
  return end / 1e6;
}

int exit_code(const test::TemporaryFolder& folder, const std::string& arguments) {
  const std::string command = "cd '" + folder.path().string() + "' && XDG_DATA_HOME='" + folder.path().string() +
                              "/none' '" + test::cli_program() + "' " + arguments + " >/dev/null 2>err </dev/null";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

constexpr const char* kPipeline = "llama3-405b-16k-h100-8k";

// The plan on 4 stages with 12 microbatches, without chunks.
engine::Scenario four_stages(std::initializer_list<const char*> changes = {}) {
  engine::Scenario s = scenario(kPipeline, {"parallelism.pipeline=4", "workload.global_batch_sequences=1536",
                                            "pipeline.schedule=1f1b", "pipeline.virtual_stages=1"});
  for (const char* change : changes) REQUIRE_FALSE(io::set_field(s, change, test::shipped()));
  return s;
}

}  // namespace

TEST_CASE("the trace of a pipeline has every operation once, at its time") {
  for (const std::string schedule : {"1f1b", "zb-h1", "dualpipe", "interleaved-1f1b", "overlapped-1f1b"}) {
    CAPTURE(schedule);
    const engine::Scenario s =
        schedule == "interleaved-1f1b"
            ? scenario(kPipeline, {"parallelism.pipeline=4", "workload.global_batch_sequences=1536"})
            : four_stages({("pipeline.schedule=" + schedule).c_str()});
    const engine::Report report = engine::evaluate(s);
    const engine::PipelineReport& p = report.pipeline;
    REQUIRE(p.drawn());
    std::map<std::tuple<std::string, int, int>, std::pair<int, std::int64_t>> expected;  // device and start
    constexpr const char* kWords[] = {"forward", "backward", "backward_input", "backward_weight"};
    for (std::uint32_t i = 0; i < p.orders.ops.size(); ++i) {
      const engine::Op op = p.orders.ops[i];
      expected[{kWords[static_cast<int>(op.kind())], static_cast<int>(op.stage()),
                static_cast<int>(op.microbatch()) + 1}] = {static_cast<int>(p.orders.device_of[op.stage()]),
                                                           p.timeline.start[i]};
    }
    const Json events = traced(s);
    std::size_t seen = 0;
    for (const Json& e : events) {
      if (e.at("ph") != "X" || !is_operation(e)) continue;
      ++seen;
      const auto it = expected.find({e.at("cat").get<std::string>(), e.at("args").at("stage").get<int>(),
                                     e.at("args").at("microbatch").get<int>()});
      REQUIRE(it != expected.end());
      CHECK(it->second.first == e.at("pid"));
      CHECK(it->second.second == picoseconds(e.at("ts")));
      expected.erase(it);
    }
    CHECK(seen == p.orders.ops.size());
    CHECK(expected.empty());
    CHECK(overlaps(events) == 0);
  }
}

TEST_CASE("transfers, the end of the step and memory are in the trace, on threads that have names") {
  // 126 layers on 16 chunks: those of a device are not of one size.
  for (const int chunks : {1, 4}) {
    CAPTURE(chunks);
    const engine::Scenario s = chunks == 1
                                   ? four_stages()
                                   : four_stages({"pipeline.schedule=interleaved-1f1b", "pipeline.virtual_stages=4"});
    const engine::Report report = engine::evaluate(s);
    const Json events = traced(s);
    const auto threads = named_threads(events);
    std::size_t transfers = 0;
    std::set<int> processes, ended;
    std::map<int, double> most, last;
    for (const Json& e : events) {
      if (e.at("name") == "process_name") CHECK(processes.insert(e.at("pid").get<int>()).second);
      if (e.at("ph") == "X") CHECK(threads.contains({e.at("pid").get<int>(), e.at("tid").get<int>()}));
      if (e.at("ph") == "X" && e.at("cat") == "transfer") {
        ++transfers;
        CHECK(e.at("args").at("to") != e.at("pid"));
        CHECK(e.at("args").at("bytes").get<double>() > 0);
      }
      if (e.at("name") == "optimizer") ended.insert(e.at("pid").get<int>());
      if (e.at("ph") != "C") continue;
      const int device = e.at("pid").get<int>();
      last[device] = e.at("args").at("bytes").get<double>();
      most[device] = std::max(most[device], last[device]);
    }
    CHECK(processes == std::set<int>{0, 1, 2, 3});
    CHECK(ended == processes);
    // Each microbatch over the gaps between chunks, both ways.
    CHECK(transfers == static_cast<std::size_t>(2 * (4 * chunks - 1) * 12));
    for (int device = 0; device < 4; ++device) {
      const engine::StageRow& row = report.stages[static_cast<std::size_t>(device)];
      CHECK(most[device] == doctest::Approx(row.memory_bytes[3]).epsilon(1e-9));  // activations
      CHECK(last[device] == 0);
    }
    CHECK(last_end(events) == doctest::Approx(report.quantities.value_or(engine::Q::step_time, 0)).epsilon(0.01));
  }
}

TEST_CASE("without a pipeline the trace is one chip's layers, collectives and optimizer") {
  const engine::Scenario s = scenario("llama3-70b-v5p-pod");
  const engine::Report report = engine::evaluate(s);
  const Json events = traced(s);
  CHECK(overlaps(events) == 0);
  std::map<std::string, int> slices;
  int layers = 0, processes = 0;
  for (const Json& e : events) {
    processes += e.at("name") == "process_name";
    if (e.at("ph") != "X") continue;
    ++slices[e.at("cat").get<std::string>()];
    layers += e.at("args").contains("layer") && is_operation(e);
  }
  const int microbatches = static_cast<int>(report.quantities.value_or(engine::Q::microbatches, 0));
  CHECK(processes == 1);
  CHECK(layers == 2 * s.model.n_layers * microbatches);
  CHECK(slices["collective"] > 0);
  CHECK(slices["step_end"] >= 1);
  CHECK(last_end(events) == doctest::Approx(report.quantities.value_or(engine::Q::step_time, 0)).epsilon(0.01));
}

TEST_CASE("every shipped scenario has a valid trace without overlaps, and the same one twice") {
  for (const io::Preset& preset : test::shipped().list(io::PresetKind::scenario)) {
    CAPTURE(preset.id);
    const engine::Scenario s = scenario(preset.id.c_str());
    if (s.workload.kind == engine::WorkloadKind::serving) continue;
    const engine::Report report = engine::evaluate(s);
    const auto text = io::trace_json(s, report);
    REQUIRE(text.ok());
    CHECK(text.value() == io::trace_json(s, report).value());
    if (text.value().size() < 40'000'000) CHECK(overlaps(Json::parse(text.value()).at("traceEvents")) == 0);
  }
}

TEST_CASE("a trace ends when the step does, and its sums are the parts of the step, in every mode") {
  using enum engine::Q;
  for (const char* preset : {"gpt3-175b-1024-a100", "deepseek-v3-2048-h800", "llama3-405b-16k-h100-8k",
                             "llama3-70b-v5p-pod", "llama3-8b-8-h100"})
    for (const char* plan : {"assumptions.mode=ideal", "assumptions.mode=calibrated", "offload.optimizer=true"}) {
      CAPTURE(preset);
      CAPTURE(plan);
      engine::Scenario s = scenario(preset, {plan});
      s.offload.optimizer_fraction = 0.5;  // where any of it is on the host
      const engine::Report report = engine::evaluate(s);
      const auto part = [&report](engine::Q q) { return report.quantities.value_or(q, 0); };
      const Json events = traced(s);
      CHECK(overlaps(events) == 0);
      CHECK(std::abs(last_end(events) - part(step_time)) <= 1e-6 * part(step_time));
      std::map<std::string, double> sums;  // of all devices
      std::set<int> devices;
      for (const Json& e : events) {
        devices.insert(e.at("pid").get<int>());
        if (e.at("ph") != "X") continue;
        const double seconds = e.at("dur").get<double>() * 1e-6;
        if (is_operation(e))
          sums["work"] += e.at("tid") == 1 ? seconds : 0;  // not the other half of a pair
        else
          sums["all " + e.at("cat").get<std::string>()] += seconds, sums[e.at("name")] += seconds;
      }
      const auto mean = [&](const std::string& what) { return sums[what] / static_cast<double>(devices.size()); };
      const double close = 1e-7 * part(step_time);
      CHECK(std::abs(mean("work") - part(step_matmul) - part(step_attention) - part(step_recompute) -
                     part(step_hbm)) < close);
      CHECK(std::abs(mean("all recompute") - part(step_recompute)) < close);
      CHECK(std::abs(mean("all exposed") + mean("gradient reduction") - part(step_data) - part(step_fsdp) -
                     part(step_tensor) - part(step_context) - part(step_expert)) < close);
      CHECK(std::abs(mean("offload, exposed") - part(step_offload)) < close);
      for (const auto& one : {std::pair{"tensor, exposed", step_tensor}, std::pair{"context, exposed", step_context},
                              std::pair{"expert, exposed", step_expert}}) {
        const std::string axis = one.first;
        CAPTURE(axis);
        CHECK(std::abs(mean(axis) - part(one.second)) < close);
      }
      CHECK(std::abs(mean("optimizer") - part(step_optimizer)) < close);
      CHECK(std::abs(mean("host") + mean("waiting for the slowest node") - part(step_host)) < close);
    }
}

TEST_CASE("every send of a trace has an arrow, to the forward or backward that reads it") {
  for (const engine::ScheduleKind kind : engine::kSchedules) {
    const std::string schedule(engine::schedule_id(kind));
    CAPTURE(schedule);
    const std::string chunks = std::to_string(engine::default_virtual_stages(kind));
    const Json events = traced(
        four_stages({("pipeline.virtual_stages=" + chunks).c_str(), ("pipeline.schedule=" + schedule).c_str()}));
    using Place = std::tuple<int, int, std::int64_t>;  // process, thread, start
    std::map<Place, const Json*> slices;
    for (const Json& e : events)
      if (e.at("ph") == "X") slices[{e.at("pid").get<int>(), e.at("tid").get<int>(), picoseconds(e.at("ts"))}] = &e;
    std::map<int, const Json*> sent;
    std::size_t sends = 0, arrived = 0;
    for (const Json& e : events) {
      sends += e.at("ph") == "X" && e.at("cat") == "transfer";
      if (e.at("ph") != "s" && e.at("ph") != "f") continue;
      const Place at{e.at("pid").get<int>(), e.at("tid").get<int>(), picoseconds(e.at("ts"))};
      REQUIRE(slices.contains(at));
      if (e.at("ph") == "s") {
        CHECK(slices[at]->at("cat") == "transfer");
        CHECK(sent.emplace(e.at("id").get<int>(), slices[at]).second);
        continue;
      }
      ++arrived;
      REQUIRE(sent.contains(e.at("id").get<int>()));
      const Json& from = *sent[e.at("id").get<int>()];
      const Json& to = *slices[at];
      CHECK(is_operation(to));
      CHECK(from.at("args").at("to") == to.at("pid"));
      CHECK(from.at("args").at("microbatch") == to.at("args").at("microbatch"));
      CHECK(from.at("name").get<std::string>().starts_with(to.at("cat") == "forward" ? "send act" : "send grad"));
      CHECK(picoseconds(from.at("ts")) + picoseconds(from.at("dur")) <= picoseconds(to.at("ts")));
    }
    CHECK(sends > 0);
    CHECK(sent.size() == sends);
    CHECK(arrived == sends);
  }
}

TEST_CASE("collectives of every axis lie on rows of their own, also with a pipeline") {
  const Json events = traced(scenario("gpt3-175b-1024-a100", {"assumptions.mode=calibrated"}));
  std::set<int> computes, collects;
  for (const Json& e : events) {
    if (e.at("ph") != "X") continue;
    if (is_operation(e)) computes.insert(e.at("tid").get<int>());
    if (e.at("cat") == "collective" || e.at("cat") == "exposed") collects.insert(e.at("tid").get<int>());
  }
  REQUIRE(collects.size() == 2);
  for (const int thread : collects) CHECK_FALSE(computes.contains(thread));
}

TEST_CASE("a scenario that serves has no step to trace, and says so") {
  const engine::Scenario s = scenario("llama3-8b-serving-8-h100");
  const auto text = io::trace_json(s, engine::evaluate(s));
  REQUIRE_FALSE(text.ok());
  CHECK(test::in_english(text.error()) ==
        "workload.kind: the scenario serves, and a trace is of a training step; give a scenario whose workload.kind "
        "is training");
}

TEST_CASE("every event of a trace is what the format takes, and time never runs back on a track") {
  for (const bool pipelined : {true, false}) {
    CAPTURE(pipelined);
    const Json events =
        traced(pipelined ? four_stages({"pipeline.schedule=dualpipe"}) : scenario("llama3-70b-v5p-pod"));
    std::map<std::pair<int, int>, double> at;            // last start by thread
    std::map<std::pair<int, std::string>, double> told;  // last time by counter
    for (const Json& e : events) {
      REQUIRE(e.at("pid").is_number_integer());
      REQUIRE_FALSE(e.at("name").get<std::string>().empty());
      const std::string phase = e.at("ph");
      if (phase == "M") {
        const std::string about = e.at("name");
        CHECK((about == "process_name" || about == "thread_name" || about == "process_sort_index" ||
               about == "thread_sort_index"));
        if (about.ends_with("_name")) CHECK_FALSE(e.at("args").at("name").get<std::string>().empty());
        continue;
      }
      const double ts = e.at("ts").get<double>();
      CHECK((std::isfinite(ts) && ts >= 0));
      const int pid = e.at("pid").get<int>();
      if (phase == "C") {
        auto [last, fresh] = told.try_emplace({pid, e.at("name").get<std::string>()}, ts);
        CHECK((fresh || last->second < ts));
        last->second = ts;
        for (const Json& value : e.at("args")) CHECK((value.is_number() && value.get<double>() >= 0));
        continue;
      }
      if (phase == "s" || phase == "f") continue;  // arrows have their own test
      REQUIRE(phase == "X");
      CHECK(e.at("dur").get<double>() >= 0);
      CHECK_FALSE(e.at("cat").get<std::string>().empty());
      auto [last, fresh] = at.try_emplace({pid, e.at("tid").get<int>()}, ts);
      CHECK((fresh || last->second <= ts));
      last->second = ts;
    }
    CHECK_FALSE(at.empty());
    CHECK_FALSE(told.empty());
  }
}

TEST_CASE("trace -o order.csv writes the order of the pipeline as torch reads it") {
  const test::TemporaryFolder folder;
  for (const std::string schedule : {"1f1b", "zb-h1", "dualpipe", "overlapped-1f1b"}) {
    CAPTURE(schedule);
    const std::string changes =
        " --set parallelism.pipeline=4 --set workload.global_batch_sequences=1536"
        " --set pipeline.virtual_stages=1 --set pipeline.schedule=" +
        schedule;
    REQUIRE(exit_code(folder, std::string("trace ") + kPipeline + changes + " -o order.csv") == 0);
    engine::OrderFromCsv read;
    REQUIRE_FALSE(engine::read_order_csv(test::text_of(folder.path() / "order.csv"), 12, read));
    const engine::Scenario s = four_stages({("pipeline.schedule=" + schedule).c_str()});
    const engine::Report report = engine::evaluate(s);
    CHECK(read.orders.ops == report.pipeline.orders.ops);
    CHECK(read.orders.device_of == report.pipeline.orders.device_of);
  }
  CHECK(exit_code(folder, "trace llama3-70b-v5p-pod -o none.csv") == 2);
  CHECK(test::text_of(folder.path() / "err").find("there is one stage, so there is no order") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "none.csv"));
}

TEST_CASE("trace --layout writes the layers of the stages as Megatron-LM and torchtitan are told them") {
  const test::TemporaryFolder folder;
  CHECK(exit_code(folder, "trace llama3-405b-16k-h100 --layout megatron -o layout.txt") == 0);
  CHECK(test::text_of(folder.path() / "layout.txt") == "E|(t|)*126L\n");
  CHECK(exit_code(folder,
                  "trace llama3-8b-8-h100 --set parallelism.pipeline=8 --set parallelism.fsdp=1 --set "
                  "pipeline.layers_per_stage='Et*3|(t*4|)*6t*5L' --layout torchtitan -o parts.json") == 0);
  CHECK(test::text_of(folder.path() / "parts.json")
            .starts_with(R"([["tok_embeddings","layers.0","layers.1","layers.2"],["layers.3",)"));
  CHECK(exit_code(folder, "trace llama3-8b-8-h100 --layout nemo") == 2);
  CHECK(test::text_of(folder.path() / "err") ==
        "roofscape-cli: --layout: \"nemo\" is not known; take megatron or torchtitan\n");
  CHECK(exit_code(folder, "trace llama3-8b-serving-8-h100 --layout megatron") == 2);
  CHECK(test::text_of(folder.path() / "err") ==
        "roofscape-cli: llama3-8b-serving-8-h100: workload.kind: the scenario serves, and a layout is of a training "
        "plan's stages; give a scenario whose workload.kind is training\n");
}

TEST_CASE("trace writes its file whole and answers with the exit codes of the others") {
  const test::TemporaryFolder folder;
  CHECK(exit_code(folder, "trace llama3-70b-v5p-pod -o step.json") == 0);
  CHECK(test::text_of(folder.path() / "err").empty());
  CHECK(Json::parse(test::text_of(folder.path() / "step.json")).contains("traceEvents"));
  CHECK(exit_code(folder, "trace llama3-70b-v5p-pod") == 2);
  CHECK(test::text_of(folder.path() / "err") ==
        "roofscape-cli: trace needs a scenario and -o FILE; such as: trace llama3-405b-16k-h100-8k -o step.json\n");
  CHECK(exit_code(folder, "trace llama3-70b-v5p-pod -o none/step.json") == 2);
  CHECK(exit_code(folder, "trace nothing-like-it -o x.json") == 2);
  CHECK(exit_code(folder, "trace llama3-70b-v5p-pod -o x.txt") == 2);
  CHECK(test::text_of(folder.path() / "err") ==
        "roofscape-cli: x.txt: a trace is JSON, and the order of a pipeline CSV; this name says neither; end it in "
        ".json or .csv\n");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "x.txt"));
  CHECK(exit_code(folder, "trace llama3-70b-v5p-pod -o many.json --set parallelism.tensor=8") ==
        1);  // too many chips
  CHECK_FALSE(std::filesystem::exists(folder.path() / "many.json"));
  CHECK(exit_code(folder,
                  std::string("trace ") + kPipeline +
                      " -o x.json --set pipeline.schedule=zb-h2 --set workload.global_batch_sequences=1280") == 1);
  const std::string said = test::text_of(folder.path() / "err");
  CHECK(said.find(": This schedule has one virtual stage per stage; the plan has 8") != std::string::npos);
  CHECK(
      said.find("pipeline.schedule: the plan cannot run (pipeline.illegal_schedule), so its step has no trace; mend "
                "it first; `roofscape-cli check` says how\n") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "x.json"));
}

}  // namespace roofscape
