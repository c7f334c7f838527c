// roofscape-cli search as a user runs it: its lists, its constraints and its refusals.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tests/app/cli/cli_run.h"
#include "tests/engine/io/io_fixture.h"
#include "widgets/canvas/number_format.h"

namespace roofscape {
namespace {

using test::Outcome;
using test::Refusal;
using test::run;

TEST_CASE("search prints the space, the best plans and the present one") {
  const Outcome o = run("search llama3-8b-8-h100 --limit 3");
  CHECK(o.code == 0);
  CHECK(o.err.empty());
  const std::size_t digits = o.out.find_first_not_of("0123456789");
  CHECK(digits > 0);
  CHECK(std::string_view(o.out).substr(digits).starts_with(" plans, "));
  CHECK(o.out.find("\n  3  ") != std::string::npos);
  CHECK(o.out.find("\n  4  ") == std::string::npos);
  CHECK(o.out.find("\npresent plan: ") != std::string::npos);
}

TEST_CASE("search says in one line why the present plan cannot run, and JSON has no numbers for it") {
  struct Case {
    const char *question, *says;
  };
  const Case cases[] = {
      {"search llama3-8b-8-h100 --limit 1 --set parallelism.tensor=3 --set parallelism.fsdp=1",
       "The 32 heads do not divide by tensor 3; try parallelism.tensor=4"},
      {"search llama3-8b-serving-8-h100 --limit 1 --set parallelism.tensor=3 --set parallelism.data=2",
       "The 32 heads do not divide by tensor 3; try parallelism.tensor=4"},
      {"search llama3-8b-8-h100 --limit 1 --set parallelism.tensor=3", "The mesh needs 24 chips, the cluster has 8"}};
  for (const Case& c : cases) {
    CAPTURE(c.question);
    const Outcome o = run(c.question);
    CHECK(o.code == 0);
    const std::size_t at = o.out.find("\npresent plan cannot run: ");
    REQUIRE(at != std::string::npos);
    const std::string line = o.out.substr(at + 1, o.out.find('\n', at + 1) - at - 1);
    CHECK(line.find(c.says) != std::string::npos);
    const auto found = nlohmann::json::parse(run(std::string(c.question) + " --json").out);
    const auto& present = found.at("present");
    CHECK(present.at("legal") == false);
    CHECK(line == "present plan cannot run: " + present.at("problem").get<std::string>());
    CHECK(present.at("step_parts").is_null());
    for (const char* key : {"step_s", "mfu", "tokens_per_s_per_chip", "cost_usd", "sustained_time_per_token_s",
                            "ttft_s", "sustained_tokens_per_s", "tokens_per_s", "sequences_in_flight"})
      if (present.contains(key)) CHECK_MESSAGE(present.at(key).is_null(), key);
    CHECK(found.at("best").at(0).at("plan").at("parallelism.tensor") != 3);
  }
}

TEST_CASE("search says how many plans of its list cannot be told apart, and by which margin") {
  const std::string search = "search llama3-8b-8-h100 --set assumptions.mode=calibrated --limit 30";
  const auto found = nlohmann::json::parse(run(search + " --json").out);
  const auto &close = found.at("close"), &best = found.at("best");
  const double margin = close.at("margin"), first = best.at(0).at("step_s");
  CHECK(margin > 0.005);
  CHECK(margin < 0.2);
  CHECK(close.at("measured_pairs") >= 20);
  std::size_t within = 0;
  for (const auto& plan : best) within += plan.at("step_s").get<double>() <= first * (1 + margin) ? 1 : 0;
  CHECK(close.at("plans") == within);
  CHECK(close.at("whole_list") == (within == best.size()));
  CHECK(close.at("simplest") >= 1);
  CHECK(close.at("simplest") <= within);
  const std::string said = run(search).out;
  CAPTURE(said);
  CHECK(said.find("cannot be told apart") != std::string::npos);
  CHECK(close.at("present") == (found.at("present").at("step_s") <= first * (1 + margin)));
  // The best plan, taken over, is as close as any.
  std::string taken = search + " --json";
  for (const auto& [path, value] : best.at(0).at("plan").items())
    taken += " --set " + path + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
  CHECK(nlohmann::json::parse(run(taken).out).at("close").at("present") == true);
  // Memory is no matter of speed.
  CHECK(nlohmann::json::parse(run(search + " --objective memory --json").out).at("close").is_null());
  CHECK(run(search + " --objective memory").out.find("told apart") == std::string::npos);
}

TEST_CASE("what search says of close plans is what its JSON counts, in both modes, on a torus and on switches") {
  int decided = 0;
  for (const char* scenario : {"llama3-8b-8-h100", "llama3-70b-v5p-pod", "mixtral-8x7b-64-h100"})
    for (const char* mode : {"ideal", "calibrated"}) {
      CAPTURE(scenario);
      CAPTURE(mode);
      const std::string search = std::string("search ") + scenario + " --limit 12 --set assumptions.mode=" + mode;
      const auto close = nlohmann::json::parse(run(search + " --every --json").out).at("close");
      const std::string said = run(search + " --every").out;
      CAPTURE(close.dump());
      CAPTURE(said);
      const auto says = [&said](const std::string& words) { return said.find(words) != std::string::npos; };
      CHECK(says("median of " + close.at("measured_pairs").dump() + " pairs"));
      const std::size_t plans = close.at("plans");
      CHECK(says(widgets::format_percent(close.at("margin").get<double>())));
      CHECK(says("cannot be told apart") == (plans > 1));
      CHECK(says("all " + std::to_string(plans) + " plans listed") == (plans > 1 && close.at("whole_list") == true));
      CHECK(says("the first " + std::to_string(plans) + " plans") == (plans > 1 && close.at("whole_list") == false));
      CHECK(says("number " + close.at("simplest").dump() + " is the simplest") ==
            (plans > 1 && close.at("simplest") > 1));
      CHECK(says("the present plan is as close") == (plans > 1 && close.at("present") == true));
      const auto& by = close.at("decided_by");
      CHECK(says("What sets them apart most is") == !by.is_null());
      decided += by.is_null() ? 0 : 1;
      if (by.is_null()) continue;
      CHECK(says(fmt::format("({} to {} of a step): number {} is ahead once that takes {} times as long as predicted",
                             widgets::format_percent(by.at("least_share").get<double>()),
                             widgets::format_percent(by.at("most_share").get<double>()), by.at("rank").get<int>(),
                             widgets::format_significant(by.at("factor").get<double>()))));
    }
  CHECK(decided > 0);
  // Measured pairs are of training.
  for (const char* mode : {"ideal", "calibrated"}) {
    const std::string serving =
        std::string("search llama3-70b-serving-8-h100 --limit 12 --set assumptions.mode=") + mode;
    CHECK_FALSE(nlohmann::json::parse(run(serving + " --json").out).contains("close"));
    CHECK(run(serving).out.find("told apart") == std::string::npos);
  }
}

TEST_CASE("search --json counts every plan once, and its best plan is what eval says of it") {
  const Outcome o = run("search llama3-8b-8-h100 --limit 2 --json");
  CHECK(o.code == 0);
  const auto found = nlohmann::json::parse(o.out);
  double left = found.at("plans").get<double>() - found.at("fit").get<double>();
  for (const auto& [reason, count] : found.at("rejected").items()) left -= count.get<double>();
  CHECK(left == 0);
  REQUIRE(found.at("best").size() == 2);
  std::string set;
  for (const auto& [path, value] : found.at("best").at(0).at("plan").items())
    set += " --set " + path + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
  const auto report = nlohmann::json::parse(run("eval llama3-8b-8-h100 --json" + set).out);
  CHECK(report.at("quantities").at("step.time_s").at("value") == found.at("best").at(0).at("step_s"));
  CHECK(report.at("quantities").at("memory.chip_total_bytes").at("value") ==
        found.at("best").at(0).at("memory_bytes"));
}

TEST_CASE("search --csv has a line of names and one for each plan") {
  const Outcome o = run("search llama3-8b-8-h100 --limit 4 --csv");
  CHECK(o.code == 0);
  CHECK(o.out.starts_with("parallelism.data,parallelism.fsdp,parallelism.tensor,"));
  CHECK(std::count(o.out.begin(), o.out.end(), '\n') == 5);
}

TEST_CASE("search keeps to its constraints and ranks by the objective") {
  const auto found = nlohmann::json::parse(
      run("search llama3-8b-8-h100 --pin tensor=2 --max pipeline=2 --min-free 0.5 --objective memory --json").out);
  double before = 0;
  REQUIRE(!found.at("best").empty());
  for (const auto& one : found.at("best")) {
    CHECK(one.at("plan").at("parallelism.tensor") == 2);
    CHECK(one.at("plan").at("parallelism.pipeline").get<int>() <= 2);
    CHECK(one.at("memory_bytes").get<double>() <= 40e9);
    CHECK(one.at("memory_bytes").get<double>() >= before);
    before = one.at("memory_bytes").get<double>();
  }
}

TEST_CASE("search tries the settings it is asked to beside each other, and names those of each plan") {
  const std::string question = "search llama3-405b-16k-h100 --limit 6 --min-free 80%";
  const std::string tries = " --pin keep_gathered=any --pin context_method=ring,all_gather";
  const auto alone = nlohmann::json::parse(run(question + " --json").out);
  const auto tried = nlohmann::json::parse(run(question + " --json" + tries).out);
  CHECK(tried.at("plans") > alone.at("plans"));
  CHECK(tried.at("best").at(0).at("step_s") < alone.at("best").at(0).at("step_s"));
  const Outcome table = run(question + tries);
  CHECK(table.out.find("context via") != std::string::npos);
  CHECK(table.out.find("gathered for") != std::string::npos);
  CHECK(run(question).out.find("context via") == std::string::npos);
}

TEST_CASE("a plan found with another setting is in eval and sweep what the search says, in both modes, anywhere") {
  for (const std::string preset : {"llama3-405b-16k-h100", "llama3-70b-v5p-4-pods", "mixtral-8x7b-64-h100"})
    for (const std::string mode : {"ideal", "calibrated"}) {
      CAPTURE(preset);
      CAPTURE(mode);
      const std::string scenario = preset + " --set assumptions.mode=" + mode;
      const auto found = nlohmann::json::parse(
          run("search " + scenario +
              " --json --limit 2 --min fsdp=2 --pin zero_stage=3 --pin keep_gathered=chunk,step --pin "
              "context_method=all_gather --pin expert_tensor=1 --pin head_as_layers=0,1 --pin tensor_on=y,xy")
              .out);
      REQUIRE_FALSE(found.at("best").empty());
      for (const auto& one : found.at("best")) {
        const auto& plan = one.at("plan");
        CHECK(plan.at("parallelism.keep_gathered") != "microbatch");
        CHECK(plan.at("placement.tensor.on") != "auto");
        std::string set;
        for (const auto& [path, value] : plan.items())
          set += " --set " + path + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
        const auto report = nlohmann::json::parse(run("eval " + scenario + " --json" + set).out);
        CHECK(report.at("quantities").at("step.time_s").at("value") == one.at("step_s"));
        CHECK(report.at("quantities").at("memory.chip_total_bytes").at("value") == one.at("memory_bytes"));
        const auto swept = nlohmann::json::parse(
            run("sweep " + scenario + set + " --vary parallelism.keep_gathered=" +
                plan.at("parallelism.keep_gathered").get<std::string>() + " --quantities step.time_s --json")
                .out);
        CHECK(swept.dump().find(one.at("step_s").dump()) != std::string::npos);
      }
    }
}

TEST_CASE("plans that serve have no settings to try") {
  const Outcome o = run("search llama3-8b-serving-8-h100 --pin keep_gathered=any");
  CHECK(o.code == 2);
  CHECK(o.err.find("serving has no dimension \"keep_gathered\"") != std::string::npos);
}

TEST_CASE("a present plan with a setting that is not tried breaks that limit, unless the setting means nothing") {
  const auto breaks = [](const std::string& question) {
    return nlohmann::json::parse(run("search " + question + " --json --limit 1").out).at("present").at("breaks");
  };
  const auto broken = breaks("llama3-405b-16k-h100 --pin context_method=ring");
  REQUIRE(broken.is_object());
  CHECK(broken.at("dimension") == "context_method");
  CHECK(breaks("llama3-405b-16k-h100 --pin context_method=ring,all_gather").is_null());
  // On one rank of context there is nothing to send.
  CHECK(breaks("llama3-8b-8-h100 --pin context_method=ulysses").is_null());
}

TEST_CASE("search exits 1 where no plan fits, and still says why") {
  const Outcome o =
      run("search llama3-405b-16k-h100-8k --pin tensor=1 --pin pipeline=1 --pin fsdp=1 --pin context=1");
  CHECK(o.code == 1);
  CHECK(o.out ==
        "80 plans, 0 fit\n  80  sequences do not divide over the ranks\n\n"
        "no plan fits; widen the constraints or add chips\n");
}

TEST_CASE("search answers bad constraints with a remedy and exit 2") {
  const Refusal cases[] = {
      {"--pin tensr=2",
       "roofscape-cli: --pin: there is no dimension \"tensr\"; there are: data, fsdp, tensor, context, pipeline, "
       "expert, microbatch, "
       "virtual_stages, zero_stage, sequence_parallel, schedule, policy, offload_optimizer, offload_activations, "
       "keep_gathered, context_method, expert_tensor, group_size, embedding_as_layers, head_as_layers, data_on, "
       "fsdp_on, tensor_on, context_on, expert_on, pipeline_on, rank_order, optimizer_fraction\n"},
      {"--pin tensor", "roofscape-cli: --pin: \"tensor\" has no \"=\"; give dimension=value, such as tensor=8\n"},
      {"--pin tensor=0", "roofscape-cli: --pin: tensor cannot be \"0\"; give a whole number from 1 to 1024\n"},
      {"--pin data=100000", "roofscape-cli: --pin: data cannot be \"100000\"; give a whole number from 1 to 65536\n"},
      {"--pin zero_stage=x", "roofscape-cli: --pin: zero_stage cannot be \"x\"; give 0, 1, 2 or 3\n"},
      {"--pin offload_optimizer=maybe",
       "roofscape-cli: --pin: offload_optimizer cannot be \"maybe\"; give on or off\n"},
      {"--max schedule=1f1b",
       "roofscape-cli: --max: a limit of schedule is one number; give one number, or use --pin\n"},
      {"--max group_size=8",
       "roofscape-cli: --max: group_size takes values, not a limit; list the values with --pin, or give any\n"},
      {"--pin keep_gathered=all",
       "roofscape-cli: --pin: keep_gathered cannot be \"all\"; give one of: microbatch, chunk, step, or any to try "
       "several\n"},
      {"--pin expert_tensor=-1",
       "roofscape-cli: --pin: expert_tensor cannot be \"-1\"; give a whole number from 0 to 1024, or any to try "
       "several\n"},
      {"--pin head_as_layers=0,1,2,3,4,5,6,7,8,9,10 --pin group_size=any --pin context_method=any "
       "--pin keep_gathered=any",
       "roofscape-cli: --pin: 1089 combinations of settings are more than the 1024 that are tried; name fewer values "
       "with --pin\n"},
      {"--objective speed",
       "roofscape-cli: --objective: unknown objective \"speed\"; there are: step-time, throughput, cost, memory\n"},
      {"--min-free 200%",
       "roofscape-cli: --min-free: Value 2 not in range 0.000000 to 0.990000; see roofscape-cli --help\n"},
      {"--json --csv", "roofscape-cli: --csv: is another format than --json; give one of them\n"},
  };
  for (const Refusal& c : cases) {
    const Outcome o = run(std::string("search llama3-8b-8-h100 ") + c.arguments);
    CAPTURE(c.arguments);
    CHECK(o.code == 2);
    CHECK(o.out.empty());
    CHECK(o.err == c.answer);
  }
}

TEST_CASE("search of a scenario that serves ranks meshes and batches, within what is promised") {
  const Outcome o = run("search llama3-70b-serving-8-h100 --limit 5 --max-token-time 0.03 --json");
  CHECK(run("search llama3-70b-serving-8-h100 --limit 5 --max-token-time '30 ms' --json").out == o.out);
  CHECK(o.code == 0);
  const auto found = nlohmann::json::parse(o.out);
  REQUIRE(found.at("best").size() == 5);
  double before = std::numeric_limits<double>::infinity();
  for (const auto& one : found.at("best")) {
    CHECK(one.at("sustained_time_per_token_s").get<double>() <= 0.03);
    CHECK(one.at("memory_bytes").get<double>() <= 80e9);
    CHECK(one.at("sustained_tokens_per_s_per_chip").get<double>() <= before);
    before = one.at("sustained_tokens_per_s_per_chip").get<double>();
  }
  std::string set;
  for (const auto& [path, value] : found.at("best").at(0).at("plan").items())
    set += " --set " + path + "=" + value.dump();
  const auto report = nlohmann::json::parse(run("eval llama3-70b-serving-8-h100 --json" + set).out);
  CHECK(report.at("quantities").at("serving.time_per_output_token_s").at("value") ==
        found.at("best").at(0).at("time_per_output_token_s"));
  CHECK(report.at("quantities").at("serving.sustained_time_per_token_s").at("value") ==
        found.at("best").at(0).at("sustained_time_per_token_s"));
  CHECK(run("search llama3-70b-serving-8-h100 --max-token-time 0.000001").code == 1);
  CHECK(
      run("search llama3-70b-serving-8-h100 --pin fsdp=2").err ==
      "roofscape-cli: --pin: serving has no dimension \"fsdp\"; there are: data, tensor, expert, pipeline, batch\n");
  CHECK(run("search llama3-8b-8-h100 --max-token-time 1").err ==
        "roofscape-cli: --max-token-time: is for scenarios that serve; leave it out\n");
}

TEST_CASE("search by slow ends ranks by the longest that a plan may take, and says what it does not list") {
  for (const char* which : {"llama3-8b-8-h100", "llama3-70b-serving-8-h100"}) {
    const std::string what = std::string("search ") + which + " --slow-end --limit 5 --set mode=calibrated";
    CAPTURE(what);
    const Outcome text = run(what);
    CHECK(text.code == 0);
    CHECK(text.out.find("ranked by the slow end of the error band; plans unlike any measured run are left out\n") !=
          std::string::npos);
    CHECK(text.out.find("not validated") == std::string::npos);
    const auto best = nlohmann::json::parse(run(what + " --json").out).at("best");
    REQUIRE(best.size() == 5);
    const bool serves = best.at(0).contains("sustained_tokens_per_s_per_chip");
    double before = 0;
    for (const auto& one : best) {
      const double predicted = one.at(serves ? "time_per_output_token_s" : "step_s").get<double>(),
                   slow = one.at("slow_end_s").get<double>();
      const double key = serves ? slow / predicted / one.at("sustained_tokens_per_s_per_chip").get<double>() : slow;
      CHECK(key >= before * (1 - 1e-12));
      before = key;
    }
    const std::string csv = run(what + " --csv").out;
    CHECK(csv.substr(0, csv.find('\n')).ends_with(",runs_on,slow_end_s"));
  }
  CHECK(run("search llama3-8b-8-h100 --csv --limit 1").out.find("slow_end_s") == std::string::npos);
}

TEST_CASE("search by slow ends refuses what has none") {
  CHECK(run("search llama3-8b-8-h100 --slow-end --objective memory").err ==
        "roofscape-cli: --slow-end: ranks by time, and the objective is memory; leave out one of them\n");
  CHECK(run("search llama3-70b-serving-8-h100 --slow-end --objective memory").code == 2);
  CHECK(run("search llama3-8b-8-h100 --slow-end --set mode=custom").err ==
        "roofscape-cli: --slow-end: needs predictions that were held against measured runs; custom mode has none; "
        "give --set assumptions.mode=calibrated or =ideal\n");
  const Outcome none = run("search mixtral-8x7b-64-h100 --slow-end --set mode=calibrated");
  CHECK(none.code == 1);
  CHECK(none.out.find("no plan that fits is like the runs that were measured, so none has an error band; leave out "
                      "--slow-end to rank by predictions\nthe present plan: ") != std::string::npos);
}

TEST_CASE("search does not compare a present plan that breaks a promise or a limit with the best") {
  const auto last_line = [](const char* arguments) {
    const std::string out = run(std::string("search llama3-") + arguments).out;
    const std::string_view text(out);
    const auto at = text.find("present plan: ");
    REQUIRE(at != std::string_view::npos);
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    CHECK(line.find("against the best") == std::string_view::npos);
    return std::string(line.substr(line.find(';') + 2));
  };
  CHECK(last_line("70b-serving-8-h100 --max-token-time 9ms") == "does not count: later per token than promised");
  CHECK(last_line("70b-serving-8-h100 --max tensor=2") ==
        "does not count: outside of the limits (tensor: at most 2)");
  CHECK(last_line("8b-8-h100 --max fsdp=4") == "does not count: outside of the limits (fsdp: at most 4)");
  CHECK(last_line("8b-8-h100 --min-free 0.7") == "does not count: leaves less memory free than asked for");
  CHECK(last_line("8b-serving-8-h100 --min-free 0.6") == "does not count: leaves less memory free than asked for");
  const auto breaks = [](const char* arguments) {
    return nlohmann::json::parse(run(std::string("search llama3-") + arguments + " --limit 1 --json").out)
        .at("present")
        .at("breaks");
  };
  CHECK(breaks("70b-serving-8-h100").is_null());
  CHECK(breaks("70b-serving-8-h100 --max-token-time 9ms").at("constraint") == "token_time");
  CHECK(breaks("8b-8-h100 --min-free 0.7") == nlohmann::json{{"constraint", "min_free"}});
  CHECK(breaks("8b-serving-8-h100 --min-free 0.6") == nlohmann::json{{"constraint", "min_free"}});
  CHECK(breaks("8b-8-h100 --max fsdp=4") == nlohmann::json{{"constraint", "limit"}, {"dimension", "fsdp"}});
}

TEST_CASE("a present plan that is larger than the memory does not fit, however much is to stay free") {
  for (const char* free : {"0", "0.1"}) {
    CAPTURE(free);
    const auto says = [&](const std::string& arguments, const char* words) {
      const std::string out = run("search " + arguments + " --limit 1 --min-free " + free).out;
      CHECK_MESSAGE(out.find(words) != std::string::npos, out);
    };
    says("llama3-8b-8-h100 --set parallelism.fsdp=1 --set parallelism.data=8",
         "\npresent plan does not fit: stage 0 lacks ");
    says("llama3-70b-serving-8-h100 --set workload.batch=4096", "\npresent plan does not fit: a chip lacks ");
  }
}

TEST_CASE("search keeps to what the workload promises, unless an option promises something else") {
  const char* slow =
      "search llama3-70b-serving-8-h100 --limit 3 --json --set workload.slo.time_per_output_token_s=0.01";
  for (const auto& one : nlohmann::json::parse(run(slow).out).at("best"))
    CHECK(one.at("sustained_time_per_token_s").get<double>() <= 0.01);
  const auto widened = nlohmann::json::parse(run(std::string(slow) + " --max-token-time 5").out);
  CHECK(widened.at("best").at(0).at("sustained_time_per_token_s").get<double>() > 0.01);
  CHECK(widened.at("rejected").at("token_time") == 0);
  CHECK(run("search llama3-70b-serving-8-h100 --set workload.slo.time_per_output_token_s=0.01")
            .out.find("promised: at most 10 ms per token\n") != std::string::npos);
}

TEST_CASE("a present plan that serves on few of the chips is held against what all of them generate") {
  const Outcome o = run("search llama3-70b-serving-8-h100 --set cluster.nodes=3 --limit 3");
  CHECK(
      o.out.find("\nmeshes of all 24 chips, and of fewer that are a simpler product: 16; what they generate together "
                 "ranks them\n") != std::string::npos);
  CHECK(o.out.find(" tokens/s per chip;") == std::string::npos);
  CHECK(o.out.find(" against the best by throughput of all chips\n") != std::string::npos);
  // With all chips of a power of two there is one number, and the rate is that of a chip.
  const Outcome one = run("search llama3-70b-serving-8-h100 --limit 3");
  CHECK(one.out.find("meshes of all") == std::string::npos);
  CHECK(one.out.find(" tokens/s per chip;") != std::string::npos);
  CHECK(one.out.find(" against the best by throughput per chip") != std::string::npos);
}

TEST_CASE("search lists plans that are alike once, all with --every, and all in JSON") {
  const Outcome merged = run("search llama3-8b-8-h100 --limit 5"),
                every = run("search llama3-8b-8-h100 --limit 5 --every");
  CHECK(merged.out.find("as fast") != std::string::npos);
  CHECK(every.out.find("as fast") == std::string::npos);
  const auto json = nlohmann::json::parse(run("search llama3-8b-8-h100 --limit 2 --json").out).at("best");
  CHECK(json.at(0).at("step_s") == json.at(1).at("step_s"));
  CHECK(json.at(0).at("plan").at("parallelism.tensor") == json.at(1).at("plan").at("parallelism.tensor"));
}

}  // namespace
}  // namespace roofscape
