// roofscape-cli clusters: its table, exit status, and what it refuses.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "engine/io/json/files.h"
#include "tests/app/cli/cli_run.h"
#include "tests/capture_binding.h"

namespace roofscape {
namespace {

using test::Outcome;
using test::run;

TEST_CASE("clusters are listed with the cheapest first, exit 0 if one of them meets what is asked for, else 1") {
  const Outcome all = run("clusters llama3-8b-8-h100 --on h100-sxm:8..16,a100-80g:8 --json");
  CHECK(all.code == 0);
  const auto json = nlohmann::json::parse(all.out);
  REQUIRE(json.size() == 3);
  CHECK(json[0]["cluster"] == "h100-sxm:8");
  CHECK(json[2]["run.cost_usd"].is_null());  // its price is not known
  CHECK(run("clusters llama3-8b-8-h100 --on h100-sxm:8 --within 1d").code == 1);
  const Outcome late = run("clusters llama3-8b-8-h100 --on h100-sxm:8,h100-sxm:16 --within 5d");
  CHECK(late.code == 0);
  CHECK(late.out.find("too long") != std::string::npos);
  CHECK(run("clusters llama3-405b-16k-h100 --on h100-sxm:8").code == 1);
}

TEST_CASE("a chip that no run was fitted to is marked in calibrated mode") {
  const Outcome o = run("clusters llama3-8b-8-h100 --set assumptions.mode=calibrated --on h100-sxm:8,trainium2:16");
  CHECK(o.out.find("trainium2:16 *") != std::string::npos);
  CHECK(o.out.find("h100-sxm:8 *") == std::string::npos);
  CHECK(o.out.find("* no published run on this chip") != std::string::npos);
}

TEST_CASE(
    "the plan of a row, given to eval on its cluster, has the numbers of the row, in both modes, on torus and "
    "switches") {
  for (const std::string scenario : {"llama3-8b-8-h100", "llama3-70b-16-v5e"})
    for (const std::string mode : {"ideal", "calibrated"}) {
      const std::string in_mode = scenario + " --set assumptions.mode=" + mode;
      const Outcome all = run("clusters " + in_mode + " --on h100-sxm:16,tpu-v5p:16 --json");
      for (const auto& row : nlohmann::json::parse(all.out)) {
        const auto cluster = row["cluster"].get<std::string>();
        CAPTURE(cluster);
        CAPTURE(in_mode);
        REQUIRE(row["plan"].is_object());
        std::string eval = "eval " + in_mode + " --cluster " + cluster + " --json";
        for (const auto& [path, value] : row["plan"].items())
          eval += " --set " + path + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
        const Outcome one = run(eval);
        REQUIRE(one.code == 0);
        const auto quantities = nlohmann::json::parse(one.out)["quantities"];
        int compared = 0;
        for (const auto& [id, value] : row.items()) {
          if (!quantities.contains(id)) continue;
          ++compared;
          const auto& told = quantities[id].is_object() ? quantities[id]["value"] : quantities[id];
          CAPTURE_BINDING(id);
          CHECK(value == told);
        }
        CHECK(compared >= 6);
      }
    }
}

TEST_CASE("every:N is so many of each chip that ships") {
  const auto json = nlohmann::json::parse(run("clusters llama3-8b-8-h100 --on every:8 --json").out);
  const auto one = nlohmann::json::parse(run("clusters llama3-8b-8-h100 --on h100-sxm:8 --json").out);
  CHECK(json.size() == nlohmann::json::parse(run("presets chips --json").out)["chips"].size());
  CHECK(std::count(json.begin(), json.end(), one[0]) == 1);
  const auto doubled = nlohmann::json::parse(run("clusters llama3-8b-8-h100 --on every:8..16 --json").out);
  CHECK(doubled.size() == 2 * json.size());
}

TEST_CASE("a chip without a speed that plans need is not said to be too small: the figure is named") {
  for (const std::string scenario : {"llama3-8b-8-h100", "llama3-70b-serving-8-h100 --set precision.compute=bf16"}) {
    CAPTURE(scenario);
    const auto json = nlohmann::json::parse(run("clusters " + scenario + " --on rtx4090:8,gh200:8 --json").out);
    for (const auto& row : json) {
      if (!row["plan"].is_null()) continue;
      CHECK(row["verdict"] == "no-figure");
      CHECK(row["missing"] == nlohmann::json{"cluster.chip.scaleup_bytes_per_s_per_chip_oneway"});
    }
    const Outcome text = run("clusters " + scenario + " --on rtx4090:8");
    CHECK(text.code == 1);
    CHECK(text.out.find("chip lacks a figure  lacks scale-up, one chip\n") != std::string::npos);
  }
  // One chip needs no links: it is too small.
  const auto alone = nlohmann::json::parse(run("clusters llama3-8b-8-h100 --on rtx4090:1 --json").out);
  CHECK(alone[0]["verdict"] == "none-fits");
  CHECK_FALSE(alone[0].contains("missing"));
}

TEST_CASE("where a plan leaves chips idle the table says how many it uses, and whose costs these are") {
  const std::string on = " --on h100-sxm:1000,h100-sxm:1024";
  const Outcome o = run("clusters llama3-405b-16k-h100-8k" + on);
  CHECK(o.out.find("896 of 1000") != std::string::npos);
  CHECK(o.out.find("\ncost and energy are of the chips that are used\n") != std::string::npos);
  const auto json = nlohmann::json::parse(run("clusters llama3-405b-16k-h100-8k --json" + on).out);
  for (const auto& row : json) CHECK(row["used_chips"] == (row["chips"] == 1000 ? 896 : 1024));
  CHECK(run("clusters llama3-405b-16k-h100-8k --on h100-sxm:1024").out.find("of the chips that are used") ==
        std::string::npos);
}

TEST_CASE("CSV leaves empty what is not known") {
  const Outcome o = run("clusters llama3-8b-8-h100 --on b200:8,rtx4090:8 --csv");
  CHECK(o.out.find("null") == std::string::npos);
  CHECK(o.out.find(",cluster.chip.scaleup_bytes_per_s_per_chip_oneway\n") != std::string::npos);
}

TEST_CASE("CSV has a column for every member of the JSON and for the fields of the plan") {
  const Outcome o = run("clusters llama3-70b-16-v5e --on tpu-v5e:16,tpu-v5e:1 --csv");
  CHECK(o.out.starts_with("cluster,chip,chips,used_chips,verdict,calibrated,serving.sustained_time_per_token_s,"));
  CHECK(o.out.find(",workload.batch\n") != std::string::npos);
}

TEST_CASE("what clusters cannot do is refused in one line, exit 2") {
  const std::pair<std::string, std::string> cases[] = {
      {"--objective joy", "--objective: unknown objective \"joy\"; there are: cost, time, chips, energy"},
      {"--on h100-sxm", "--on: \"h100-sxm\" does not say how many chips"},
      {"--on h100-sxm:9999999", "--on: "},
      {"--on every:", "--on: \"every:\" does not say how many chips; give every:1024 or every:256..4096"},
      {"--on every:0", "--on: \"every:0\" does not say how many chips"},
      {"--on every:1..1000000", "--on: more than 100 clusters; give fewer"},
      {"--json --csv", "--csv: is another format than --json; give one of them"},
  };
  for (const auto& [options, message] : cases) {
    CAPTURE_BINDING(options);
    const Outcome o = run("clusters llama3-8b-8-h100 " + options);
    CHECK(o.code == 2);
    CHECK(o.err.find(message) != std::string::npos);
    CHECK(o.err.find('\n') == o.err.size() - 1);
  }
  for (const char* options : {"--objective energy", "--within 30d", "--max-cost 5M"})
    CHECK(run("clusters llama3-70b-16-v5e " + std::string(options)).code == 2);
}

TEST_CASE("clusters -o writes the figure of the answers, its data are those of the table") {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "clusters.csv").string();
  const Outcome o = run("clusters llama3-8b-8-h100 --on h100-sxm:8..16,a100-80g:8 -o " + file);
  CHECK(o.code == 0);
  CHECK(o.out.find("h100-sxm:16") != std::string::npos);  // the list too
  const std::string data = io::read_file(file).value();
  for (const char* name : {"h100-sxm:8,", "h100-sxm:16,", "a100-80g:8,"}) CHECK(data.find(name) != std::string::npos);
  const auto rows = nlohmann::json::parse(run("clusters llama3-8b-8-h100 --on h100-sxm:8..16,a100-80g:8 --json").out);
  for (const auto& row : rows)
    if (row["run.cost_usd"].is_number()) CHECK(data.find(row["run.cost_usd"].dump()) != std::string::npos);
  const Outcome wrong = run("clusters llama3-8b-8-h100 -o clusters.xyz");
  CHECK(wrong.code == 2);
  CHECK(wrong.err ==
        "roofscape-cli: clusters.xyz: the extension says no format; end it in .svg, .pdf, .png, .html, .csv or "
        ".json\n");
  CHECK(run("clusters llama3-8b-8-h100 --size 84mm -o " + file).err ==
        "roofscape-cli: --size: is for pictures; leave it out\n");
}

}  // namespace
}  // namespace roofscape
