// roofscape-cli figure as a user runs it: the files it writes, and what it says of them.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/app/cli/cli_run.h"
#include "tests/capture_binding.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/test_paths.h"

namespace roofscape {
namespace {

using test::Outcome;
using test::run;

TEST_CASE("figures are written in all formats, the same bytes every time") {
  const test::TemporaryFolder folder;
  const std::pair<const char*, const char*> formats[] = {{"svg", "<svg"}, {"pdf", "%PDF-"}, {"png", "\x89PNG"}};
  const Outcome list = run("figure --list");
  CHECK(list.code == 0);
  for (const char* figure : {"roofline", "memory", "pipeline", "schedules", "bubble"}) {
    CHECK(list.out.find(figure) != std::string::npos);
    for (const auto& format : formats) {
      const std::string name = std::string(figure) + "." + format.first;
      CAPTURE(name);
      const Outcome o = run(folder, std::string("figure ") + figure + " llama3-405b-16k-h100 -o " + name);
      CHECK(o.code == 0);
      CHECK(o.err.empty());
      const std::string bytes = test::text_of(folder.path() / name);
      CHECK(bytes.size() > 2000);
      CHECK(bytes.find(format.second) != std::string::npos);
      run(folder, std::string("figure ") + figure + " llama3-405b-16k-h100 -o " + name);
      CHECK(test::text_of(folder.path() / name) == bytes);
    }
  }
  CHECK(folder.count() == 15);
  CHECK(run(folder, "figure memory llama3-405b-16k-h100 -o px.png --size 640x400px --theme dark").code == 0);
  const std::string png = test::text_of(folder.path() / "px.png");
  REQUIRE(png.size() > 24);
  CHECK(png.substr(16, 8) == std::string("\0\0\x02\x80\0\0\x01\x90", 8));  // 640 x 400 in the header
}

TEST_CASE("on a small page the head gives way to the picture, and what has no room at all is refused") {
  const test::TemporaryFolder folder;
  const std::string plan = " llama3-405b-16k-h100-8k --svg-text text --size ";
  CHECK(run(folder, "figure collective" + plan + "68x51mm -o small.svg").code == 0);
  const std::string small = test::text_of(folder.path() / "small.svg");
  CHECK(small.find("AllReduce") != std::string::npos);
  CHECK(small.find("ZeRO-2; interleaved") == std::string::npos);
  CHECK(run(folder, "figure collective" + plan + "170x110mm -o large.svg").code == 0);
  const std::string large = test::text_of(folder.path() / "large.svg");
  CHECK(large.find("AllReduce") != std::string::npos);
  CHECK(large.find("ZeRO-2; interleaved") != std::string::npos);
  const Outcome none = run(folder, "figure layer" + plan + "68x51mm -o none.svg");
  CHECK(none.code == 2);
  CHECK(
      none.err ==
      "roofscape-cli: none.svg: --size: nothing of the figure has room on a page of that size; give a larger size or "
      "smaller text\n");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "none.svg"));
  const Outcome all = run(folder, "figure --all llama3-405b-16k-h100-8k --size 68x51mm -o f --format svg");
  CHECK(all.code == 0);
  CHECK(all.err.find("layer (nothing of the figure has room on a page of that size)") != std::string::npos);
}

TEST_CASE("figure --all leaves out what the scenario has nothing to show of, and says so") {
  const test::TemporaryFolder folder;
  const auto names = [&](const std::string& arguments) {
    const Outcome o = run(folder, "figure --all " + arguments + " -o f");
    CHECK(o.code == 0);
    return std::pair{o.out, o.err};
  };
  const auto [train, missing] = names("llama3-8b-8-h100");
  CHECK(train.find("f/compare.pdf") == std::string::npos);
  CHECK(train.find("f/decode-step.pdf") == std::string::npos);
  CHECK(
      missing.starts_with("roofscape-cli: left out: pipeline (one pipeline stage), schedules (one pipeline stage), "
                          "bubble (one pipeline stage), compare (needs --baseline), decode-step (serving only)"));
  CHECK(train.find("f/pipeline.pdf") == std::string::npos);
  CHECK(names("llama3-8b-8-h100 --baseline llama3-70b-v5p-pod").first.find("f/compare.pdf") != std::string::npos);
  CHECK(names("llama3-405b-16k-h100").first.find("f/pipeline.pdf") != std::string::npos);
  const auto [serve, absent] = names("llama3-8b-serving-8-h100");
  CHECK(serve.find("f/decode-step.pdf") != std::string::npos);
  CHECK(serve.find("f/step.pdf") == std::string::npos);
  CHECK(absent.find("step (training only)") != std::string::npos);
}

namespace {

// What `figure` says where it writes nothing, and ends with this code.
std::string refusal(const test::TemporaryFolder& folder, const std::string& arguments, int code = 2) {
  CAPTURE(arguments);
  const std::size_t files = folder.count();
  const Outcome o = run(folder, "figure " + arguments);
  CHECK(o.code == code);
  CHECK(o.out.empty());
  CHECK(folder.count() == files);
  return o.err;
}
const std::string kDrawsOthers = "; `roofscape-cli figure --all` draws every figure that it has\n";

}  // namespace

TEST_CASE("a figure that has nothing to show of the scenario is no file, and says why") {
  const test::TemporaryFolder folder;
  CHECK(refusal(folder, "bubble llama3-8b-serving-8-h100 -o x.pdf") ==
        "roofscape-cli: llama3-8b-serving-8-h100: bubble shows nothing of this scenario: training only" +
            kDrawsOthers);
  CHECK(refusal(folder, "kv llama3-8b-8-h100 -o x.pdf") ==
        "roofscape-cli: llama3-8b-8-h100: kv shows nothing of this scenario: serving only" + kDrawsOthers);
  CHECK(refusal(folder, "pipeline llama3-8b-8-h100 -o x.csv") ==
        "roofscape-cli: llama3-8b-8-h100: pipeline shows nothing of this scenario: one pipeline stage" +
            kDrawsOthers);
  CHECK(refusal(folder, "compare llama3-8b-8-h100 -o x.svg") ==
        "roofscape-cli: llama3-8b-8-h100: compare shows nothing of this scenario: needs --baseline; give the plan to "
        "compare with as --baseline\n");
  CHECK(refusal(folder, "kv llama3-8b-8-h100 --vary workload.global_batch_sequences=8,16 -o x.html") ==
        "roofscape-cli: llama3-8b-8-h100: kv shows nothing of this scenario: serving only" + kDrawsOthers);
  CHECK(folder.count() == 0);
}

TEST_CASE("a figure whose page would be one sentence is no file, and the sentence is the message") {
  const test::TemporaryFolder folder;
  const std::string one_chip = "llama3-8b-8-h100 --set parallelism.fsdp=1 --set workload.global_batch_sequences=1";
  const std::string sentence = "Training state is sharded over data or FSDP ranks, of which this plan has one";
  CHECK(refusal(folder, "zero-stages " + one_chip + " --set pipeline.microbatch_sequences=1 -o x.pdf")
            .find("zero-stages shows nothing of this scenario: " + sentence + kDrawsOthers) != std::string::npos);
  for (const std::string type : {"svg", "csv"})
    CHECK(refusal(folder, "network llama3-8b-8-h100 --set parallelism.fsdp=1 -o x." + type)
              .find("network shows nothing of this scenario: ") != std::string::npos);
  const Outcome all = run(folder, "figure --all " + one_chip + " -o f");
  CHECK(all.err.find("zero-stages (" + sentence + ")") != std::string::npos);
  CHECK(all.out.find("f/network.pdf") == std::string::npos);
}

TEST_CASE("a figure of a search in which no plan can run is no file, and an answer") {
  const test::TemporaryFolder folder;
  CHECK(refusal(folder, "frontier llama3-405b-16k-h100 --set model.n_kv_heads=7 -o x.svg", 1)
            .ends_with("roofscape-cli: llama3-405b-16k-h100: frontier shows nothing of this scenario: No plan of the "
                       "space can be run on these chips\n"));
}

TEST_CASE("figure --all writes every figure it can and says which, the same bytes every time") {
  const test::TemporaryFolder folder;
  for (const std::string format : {"pdf", "svg", "png"}) {
    CAPTURE(format);
    const std::string command =
        "figure --all llama3-8b-8-h100 -o f/" + format + (format == "pdf" ? "" : " --format " + format);
    const Outcome o = run(folder, command);
    CHECK(o.code == 0);
    std::map<std::string, std::string> first;
    std::istringstream lines(o.out);
    for (std::string name; std::getline(lines, name);) {
      CAPTURE(name);
      CHECK(name.ends_with("." + format));
      first[name] = test::text_of(folder.path() / name);
      CHECK(first[name].size() > 500);  // an empty state is small
    }
    CHECK(o.out.find("f/" + format + "/roofline." + format + "\n") != std::string::npos);
    CHECK(static_cast<std::size_t>(
              std::distance(std::filesystem::directory_iterator(folder.path() / "f" / format), {})) == first.size());
    CHECK(run(folder, command).out == o.out);
    for (const auto& file : first)
      CHECK_MESSAGE(test::text_of(folder.path() / file.first) == file.second, file.first);
  }
}

TEST_CASE("an SVG's text can be outlines: no text elements, the same words for those who listen") {
  const test::TemporaryFolder folder;
  CHECK(run(folder, "figure roofline llama3-8b-8-h100 -o a.svg --svg-text outlines").code == 0);
  CHECK(run(folder, "figure roofline llama3-8b-8-h100 -o b.svg --svg-text outlines").code == 0);
  const std::string svg = test::text_of(folder.path() / "a.svg");
  CHECK(svg.find("<text") == std::string::npos);
  CHECK(svg.find("aria-label=\"Roofline\"") != std::string::npos);
  CHECK(svg == test::text_of(folder.path() / "b.svg"));
}

TEST_CASE("--scale gives a PNG its pixels") {
  const test::TemporaryFolder folder;
  CHECK(run(folder, "figure memory llama3-8b-8-h100 -o a.png --size 480x300pt --scale 2").code == 0);
  const std::string png = test::text_of(folder.path() / "a.png");
  REQUIRE(png.size() > 24);
  CHECK(png.substr(16, 8) == std::string("\0\0\x03\xc0\0\0\x02\x58", 8));  // 960 x 600
}

TEST_CASE("a figure of any format opens again as the scenario it is of") {
  const test::TemporaryFolder folder;
  const std::string set = " --set workload.global_batch_sequences=4096 --set assumptions.mode=calibrated";
  const Outcome there = run("eval llama3-405b-16k-h100-8k" + set);
  CHECK(there.code == 0);
  for (const char* name : {"step.svg", "step.pdf", "step.png"}) {
    CAPTURE(name);
    const std::string file = name;
    CHECK(run(folder, "figure step llama3-405b-16k-h100-8k" + set + " -o " + file).code == 0);
    const Outcome again = run(folder, "eval " + file);
    CHECK(again.code == there.code);
    CHECK(again.out == there.out);
  }
}

TEST_CASE("a picture that no scenario is in says so") {
  const test::TemporaryFolder folder;
  for (const auto& [name, bytes] : {std::pair{"a.svg", std::string("<svg></svg>")},
                                    {"a.pdf", std::string("%PDF-1.4\n(x)")},
                                    {"a.png", std::string("\x89PNG\r\n\x1a\n\xff\xff\xff\xfftEXt", 16)},
                                    {"b.svg", std::string("<svg><metadata id=\"roofscape\">{}</metadata></svg>")}}) {
    CAPTURE_BINDING(name);
    folder.write(name, bytes);
    const Outcome o = run(folder, std::string("eval ") + name);
    CHECK(o.code == 2);
    CHECK(o.err ==
          std::string("roofscape-cli: ") + name +
              ": is a picture that no scenario is in; open a figure that was written here, or a scenario file\n");
  }
}

TEST_CASE("a figure's table is written as CSV and JSON, with the numbers that eval has") {
  const test::TemporaryFolder folder;
  CHECK(run(folder, "figure step llama3-8b-8-h100 -o s.csv").code == 0);
  const std::string csv = test::text_of(folder.path() / "s.csv");
  CHECK(csv.starts_with("part,seconds\nstep.matmul_s,"));
  const Outcome json = run("figure step llama3-8b-8-h100 -o - --format json");
  CHECK(json.code == 0);
  const auto table = nlohmann::json::parse(json.out);
  const auto report = nlohmann::json::parse(run("eval llama3-8b-8-h100 --json").out);
  CHECK(table["columns"] == nlohmann::json({"part", "seconds"}));
  CHECK(table["figure"] == "step");
  int compared = 0;
  for (const auto& row : table["rows"])
    if (const auto& all = report["quantities"]; all.contains(row[0]) && ++compared > 0)
      CHECK(row[1] == all[row[0].get<std::string>()]["value"]);
  CHECK(compared > 3);
}

TEST_CASE("a recipe makes its figures beside it, and once more leaves them alone") {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "paper");
  folder.write("paper/recipe.json", R"({"format": "roofscape/figures", "version": 1,
    "all": {"venue": "icml", "bare": true},
    "figures": [
      {"figure": "step", "scenario": "llama3-8b-8-h100", "output": "out/step.pdf", "caption": "out/step.tex"},
      {"figure": "memory", "scenario": "llama3-8b-8-h100", "set": ["assumptions.mode=calibrated"], "output": "m.svg"}]})");
  const Outcome first = run(folder, "figures paper/recipe.json");
  CHECK(first.code == 0);
  CHECK(first.err == "");
  CHECK(first.out == "1 of 2: paper/out/step.pdf written\n2 of 2: paper/m.svg written\n");
  CHECK(test::text_of(folder.path() / "paper/out/step.tex").starts_with("Where the step goes. "));
  const auto when = std::filesystem::last_write_time(folder.path() / "paper/m.svg");
  CHECK(run(folder, "figures paper/recipe.json").out ==
        "1 of 2: paper/out/step.pdf unchanged\n2 of 2: paper/m.svg unchanged\n");
  CHECK(std::filesystem::last_write_time(folder.path() / "paper/m.svg") == when);
  // The same figure by hand is the same file.
  CHECK(run(folder, "figure memory llama3-8b-8-h100 --set assumptions.mode=calibrated --venue icml --bare -o x.svg")
            .code == 0);
  CHECK(test::text_of(folder.path() / "x.svg") == test::text_of(folder.path() / "paper/m.svg"));
}

TEST_CASE("figures --check writes nothing and says which file is not what the recipe makes") {
  const test::TemporaryFolder folder;
  folder.write("r.json", R"({"format": "roofscape/figures", "figures": [
      {"figure": "step", "scenario": "llama3-8b-8-h100", "output": "step.pdf"}]})");
  const Outcome o = run(folder, "figures r.json --check");
  CHECK(o.code == 1);
  CHECK(o.out == "1 of 1: step.pdf is not what the recipe makes\n");
  CHECK(folder.count() == 1);
  CHECK(run(folder, "figures r.json").code == 0);
  CHECK(run(folder, "figures r.json --check").code == 0);
}

TEST_CASE("what is wrong with a recipe is said with its path and the remedy") {
  const test::TemporaryFolder folder;
  const auto refused = [&](const std::string& figure) {
    folder.write("r.json", R"({"format": "roofscape/figures", "figures": [)" + figure + "]}");
    const Outcome o = run(folder, "figures r.json");
    CHECK(o.code == 2);
    CHECK(folder.count() == 1);
    return o.err;
  };
  const std::string start = R"({"figure": "step", "scenario": "llama3-8b-8-h100", "output": "s.pdf")";
  CHECK(refused(start + R"(, "sise": "84mm"})") ==
        "roofscape-cli: r.json: figures.0.sise: unknown field; did you mean \"size\"?\n");
  CHECK(refused(start + R"(, "size": "84"})") ==
        "roofscape-cli: r.json: figures.0.size: \"84\" has no unit; write 84mm for millimetres or 84px for pixels; "
        "cm, in and "
        "pt are units too\n");
  CHECK(refused(start + R"(, "text_size": "8"})").starts_with("roofscape-cli: r.json: figures.0.text_size: "));
  CHECK(refused(start + R"(, "bare": "yes"})") ==
        "roofscape-cli: r.json: figures.0.bare: is a text; give true or false\n");
  CHECK(refused(start + "}, " + start + "}") ==
        "roofscape-cli: r.json: figures.1.output: s.pdf is the output of another figure too; give each a file of its "
        "own\n");
  CHECK(refused(R"({"figure": "step", "output": "s.pdf"})") ==
        "roofscape-cli: r.json: figures.0.scenario: is missing; each figure needs figure, scenario and output\n");
  CHECK(refused("").starts_with("roofscape-cli: r.json: figures: no figures are listed; a recipe is {"));
  folder.write("r.json", "[]");
  CHECK(run(folder, "figures r.json").code == 2);
  folder.write("r.json", R"({"format": "roofscape/scenario"})");
  CHECK(run(folder, "figures r.json").err.starts_with("roofscape-cli: r.json: format: is no recipe of figures; "));
}

TEST_CASE("- writes to standard output, which needs the format said") {
  const Outcome svg = run("figure step llama3-8b-8-h100 -o - --format svg --bare");
  CHECK(svg.code == 0);
  CHECK(svg.out.starts_with("<svg"));
  CHECK(svg.out.find("Where the step goes</text>") == std::string::npos);  // bare; the <title> stays
  const Outcome unsaid = run("figure step llama3-8b-8-h100 -o -");
  CHECK(unsaid.code == 2);
  CHECK(unsaid.err ==
        "roofscape-cli: -o -: standard output has no extension to say the format; add --format svg, pdf, png, html, "
        "csv or "
        "json\n");
}

TEST_CASE("a page needs no network, says what its marks are, and opens again as its scenario") {
  const test::TemporaryFolder folder;
  CHECK(run(folder, "figure step llama3-8b-8-h100 --set parallelism.tensor=2 --set parallelism.fsdp=4 -o p.html")
            .code == 0);
  const std::string page = test::text_of(folder.path() / "p.html");
  CHECK(page.starts_with("<!DOCTYPE html>"));
  CHECK(page.find("data-tag=\"step.time_s\"") != std::string::npos);
  CHECK(page.find("type=\"range\"") == std::string::npos);  // one frame has no slider
  std::string without = page;
  for (const std::string name : {"http://www.w3.org/2000/svg"})
    for (std::size_t at; (at = without.find(name)) != std::string::npos;) without.erase(at, name.size());
  CHECK(without.find("http") == std::string::npos);
  const auto parallelism = [&](const std::string& what) {
    return nlohmann::json::parse(run(folder, "eval " + what + " --json").out)["scenario"]["parallelism"];
  };
  CHECK(parallelism("p.html")["tensor"] == 2);
}

TEST_CASE("a page is in the language of its words, and a name in its record opens no element") {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "s.json")
      << R"({"format": "roofscape/scenario", "version": 1, "name": "a <!-- <script> b", "model": "llama3-8b"})";
  for (const char* varied : {"", " --vary workload.global_batch_sequences=1024,2048"}) {
    CAPTURE(varied);
    run(folder, std::string("--lang ko figure memory s.json -o p.html") + varied);
    const std::string page = test::text_of(folder.path() / "p.html");
    CHECK(page.find("<html lang=\"ko\">") != std::string::npos);
    CHECK(page.find("a \\u003c!-- \\u003cscript> b") != std::string::npos);
    CHECK(page.find("<!-- <script") == std::string::npos);
  }
}

TEST_CASE("--vary puts a slider over the figure at each value, and no two elements have one id") {
  const test::TemporaryFolder folder;
  const Outcome o =
      run(folder, "figure memory llama3-70b-v5p-pod --vary workload.global_batch_sequences=1024,2048 -o p.html");
  CHECK(o.code == 0);
  const std::string page = test::text_of(folder.path() / "p.html");
  CHECK(page.find("data-label=\"1024\"") != std::string::npos);
  CHECK(page.find("data-label=\"2048\" hidden") != std::string::npos);
  CHECK(page.find("max=\"1\"") != std::string::npos);
  std::map<std::string, int> ids;
  for (std::size_t at = 0; (at = page.find(" id=\"", at)) != std::string::npos;) {
    at += 5;
    ++ids[page.substr(at, page.find('"', at) - at)];
  }
  CHECK(ids.size() > 20);
  for (const auto& [id, count] : ids) {
    CAPTURE_BINDING(id);
    CHECK(count == 1);
  }
  const auto refused = [&](const std::string& arguments) {
    const Outcome said = run(folder, "figure memory llama3-70b-v5p-pod " + arguments);
    CHECK(said.code == 2);
    return said.err;
  };
  CHECK(refused("--vary workload.batch=1,2 -o a.svg") ==
        "roofscape-cli: --vary: is for HTML only; end the file's name in .html\n");
  CHECK(refused("--vary workload.batch -o a.html") ==
        "roofscape-cli: --vary: \"workload.batch\" names no field and its values; write it as "
        "parallelism.tensor=1,2,4,8\n");
}

TEST_CASE("a block's curve of parameters counts in billions, and one number stands where its lines meet") {
  const test::TemporaryFolder folder;
  const std::string state = "figure block state chip=h100-sxm weight_bytes=2 gradient_bytes=2 ";
  CHECK(run(folder, state + "optimizer_bytes=4 --over optimizer_bytes --show largest_parameters -o a.svg").code == 0);
  const std::string largest = test::text_of(folder.path() / "a.svg");
  CHECK(largest.find(">10\u202fB<") != std::string::npos);
  CHECK(largest.find("000\u202f000") == std::string::npos);
  CHECK(run(folder, state + "model=llama3-8b optimizer_bytes=12 -o b.svg").code == 0);
  const std::string bytes = test::text_of(folder.path() / "b.svg");
  const std::size_t first = bytes.find(">128\u202fGB<");
  CHECK(first != std::string::npos);
  CHECK(bytes.find(">128\u202fGB<", first + 1) == std::string::npos);
}

TEST_CASE("--with takes several choices, wherever it stands") {
  const test::TemporaryFolder folder;
  const std::string choices = "--with quantity=ratio pass=backward", scenario = " network llama3-70b-v5p-pod ";
  CHECK(run(folder, "figure" + scenario + choices + " -o a.csv").code == 0);
  CHECK(run(folder, "figure " + choices + scenario + "-o b.csv").code == 0);
  CHECK(run(folder, "figure" + scenario + "--with quantity=ratio --with pass=backward -o c.csv").code == 0);
  const std::string table = test::text_of(folder.path() / "a.csv");
  CHECK(!table.empty());
  CHECK(test::text_of(folder.path() / "b.csv") == table);
  CHECK(test::text_of(folder.path() / "c.csv") == table);
  CHECK(run(folder, "figure" + scenario + "--with quantity=ratio pass=sideways -o d.csv").code == 2);
}

TEST_CASE("an option that may be repeated takes several assignments, and leaves what follows them") {
  const test::TemporaryFolder folder;
  const auto out = [&](const std::string& arguments) {
    const Outcome o = run(folder, arguments);
    CHECK_MESSAGE(o.code == 0, o.err);
    return o.out;
  };
  const std::string json = out("eval llama3-8b-8-h100 --set tensor=2 --set fsdp=4 --json");
  CHECK(out("eval --set tensor=2 fsdp=4 llama3-8b-8-h100 --json") == json);
  CHECK(out("eval --set=tensor=2 fsdp=4 llama3-8b-8-h100 --json") == json);
  CHECK(out("eval llama3-8b-8-h100 --json --set tensor=2 fsdp=4") == json);
  CHECK(out("sweep llama3-8b-8-h100 --vary gbs=64,128 zero=2,3 --csv") ==
        out("sweep llama3-8b-8-h100 --vary gbs=64,128 --vary zero=2,3 --csv"));
  CHECK(out("search llama3-8b-8-h100 --pin tensor=1 context=1 --max pipeline=1 --limit 3") ==
        out("search llama3-8b-8-h100 --pin tensor=1 --pin context=1 --max pipeline=1 --limit 3"));
  // A file may have a name like that.
  std::filesystem::copy_file(test::source_dir() / "presets/scenarios/llama3-8b-8-h100.json",
                             folder.path() / "a=b.json");
  CHECK(run(folder, "eval --set tensor=2 fsdp=4 ./a=b.json").code == 0);
  CHECK(run(folder, "eval llama3-8b-8-h100 fsdp=4").code == 2);
}

TEST_CASE("the recipe of the README's figures makes each of its pictures that is a figure, at its size") {
  const test::TemporaryFolder folder;
  const std::filesystem::path pictures = test::source_dir() / "assets/pictures";
  const std::string recipe = test::text_of(pictures / "figures.json"),
                    readme = test::text_of(test::source_dir() / "README.md");
  std::filesystem::copy_file(pictures / "figures.json", folder.path() / "figures.json");
  CHECK(run(folder, "figures figures.json").code == 0);
  for (const nlohmann::json& figure : nlohmann::json::parse(recipe)["figures"]) {
    const std::string name = figure["output"];
    CAPTURE(name);
    CHECK(readme.find("(assets/pictures/" + name + ")") != std::string::npos);
    // Bytes are those of the fonts and of the drawing library of a machine; the header has width and height.
    const std::string made = test::text_of(folder.path() / name), kept = test::text_of(pictures / name);
    REQUIRE(made.size() > 24);
    CHECK(made.substr(0, 24) == kept.substr(0, 24));
  }
}

TEST_CASE("a font that is not installed is refused, and one that is is embedded") {
  const test::TemporaryFolder folder;
  const Outcome none = run(folder, "figure step llama3-8b-8-h100 -o a.pdf --font \"No Such Font\"");
  CHECK(none.code == 2);
  CHECK(none.err ==
        "roofscape-cli: --font: no font is called \"No Such Font\"; fc-list : family lists the fonts that are "
        "installed\n");
  CHECK(folder.count() == 0);
  CHECK(run(folder, "figure step llama3-8b-8-h100 -o a.svg --font \"Noto Sans Math\"").code == 0);
  CHECK(test::text_of(folder.path() / "a.svg").find("font-family=\"'Noto Sans Math'") != std::string::npos);
}

TEST_CASE("options of pictures are refused for tables, and those of one format for another") {
  const test::TemporaryFolder folder;
  const auto refused = [&](const std::string& arguments) {
    const Outcome o = run(folder, "figure step llama3-8b-8-h100 " + arguments);
    CHECK(o.code == 2);
    CHECK(folder.count() == 0);
    return o.err;
  };
  CHECK(refused("-o a.csv --bare") == "roofscape-cli: --bare: is for pictures; leave it out\n");
  CHECK(refused("-o a.json --size 84mm") == "roofscape-cli: --size: is for pictures; leave it out\n");
  CHECK(refused("-o a.pdf --dpi 300") == "roofscape-cli: --dpi: is for PNG only; give the size with --size\n");
  CHECK(refused("-o a.pdf --svg-tooltips") == "roofscape-cli: --svg-tooltips: is for SVG only; leave it out\n");
  CHECK(refused("-o a.pdf --steps 1") ==
        "roofscape-cli: --steps: nothing measured was given; add --measured with what the steps are of\n");
  CHECK(refused("-o a.svg --format pdf") ==
        "roofscape-cli: --format: is not the format that the extension of \"a.svg\" says; give one of them\n");
}

TEST_CASE("a file has the format that is asked for, where its extension says the same or none") {
  const test::TemporaryFolder folder;
  for (const char* name : {"a.svg", "a"}) {
    CAPTURE(name);
    CHECK(run(folder, std::string("figure step llama3-8b-8-h100 --format svg -o ") + name).code == 0);
    CHECK(test::text_of(folder.path() / name).find("<svg") != std::string::npos);
  }
}

TEST_CASE("figures of a search are drawn without a window, which searches for them") {
  const test::TemporaryFolder folder;
  for (const char* name : {"frontier", "parallel-coordinates"}) {
    CHECK(run(folder, std::string("figure ") + name + " llama3-8b-8-h100 -o x.svg").code == 0);
    CHECK(test::text_of(folder.path() / "x.svg").find("best 6.83") != std::string::npos);
    CHECK(run(folder, std::string("figure ") + name + " llama3-70b-serving-8-h100 -o y.svg").code == 0);
    CHECK(test::text_of(folder.path() / "y.svg").find("tokens/s per GPU at ") != std::string::npos);
  }
}

TEST_CASE("figure block draws a block with inputs as calc takes them") {
  const test::TemporaryFolder folder;
  const Outcome o =
      run(folder, "figure block kv-cache model=llama-3-70b sequence_length=8192 sequences=16 -o kv.svg");
  CHECK(o.code == 0);
  CHECK(o.out + o.err == "");
  const std::string svg = test::text_of(folder.path() / "kv.svg");
  CHECK(svg.find("KV cache: bytes of the cache over sequence length") != std::string::npos);
  CHECK(svg.find("42.9\u202fGB") != std::string::npos);
  CHECK(run("figure --list").out.find("block NAME") != std::string::npos);
}

TEST_CASE("figure block takes another axis and other outputs") {
  const test::TemporaryFolder folder;
  const auto title = [&](const std::string& arguments) {
    const Outcome o = run(folder, "figure block collective chip=v5p bytes=1e8 axes=8 -o c.svg " + arguments);
    CHECK(o.code == 0);
    CHECK(o.err == "");
    const std::string svg = test::text_of(folder.path() / "c.svg");
    const std::size_t from = svg.find("<title>") + 7;
    return svg.substr(from, svg.find("</title>") - from);
  };
  CHECK(title("") == "Collective on a torus: time over bytes of the array");
  CHECK(title("--over kind --show time_s") == "Collective on a torus: time by collective");
  CHECK(title("--over hop_s --show latency_s") == "Collective on a torus: time of the hops over latency of a hop");
  CHECK(title("--over none --show bandwidth_s,latency_s") == "Collective on a torus: time");
}

TEST_CASE("figure block refuses what cannot be drawn, with the remedy") {
  const test::TemporaryFolder folder;
  const auto refused = [&](const std::string& arguments) {
    const Outcome o = run(folder, "figure " + arguments);
    CHECK(o.code == 2);
    CHECK(folder.count() == 0);
    return o.err;
  };
  CHECK(refused("block decode chip=h100 -o d.svg") ==
        "roofscape-cli: decode: there is nothing to draw of these inputs; give kv_bytes_per_token, context, "
        "parameters\n");
  CHECK(refused("block p2p bytes=1e6 distance=2 --over speed -o p.svg")
            .starts_with(
                "roofscape-cli: --over: speed is no input that a figure of p2p can be over; there are: bytes,"));
  for (const std::string option : {"--with tier=dcn", "--all", "--baseline x", "--measured step=1s", "--set a=1",
                                   "--steps 1", "--vary a=1,2", "--cluster h100-sxm"}) {
    CAPTURE(option);
    CHECK(refused("block p2p bytes=1e6 distance=2 -o p.html " + option) ==
          "roofscape-cli: " + option.substr(0, option.find(' ')) +
              ": is for figures of a scenario; give inputs as name=value\n");
  }
  CHECK(refused("block p2p bytes=many -o p.svg").find("bytes") != std::string::npos);
  CHECK(refused("block p2p -o p.txt") ==
        "roofscape-cli: p.txt: the extension says no format; end it in .svg, .pdf, .png, .html, .csv or .json\n");
  CHECK(refused("block").starts_with("roofscape-cli: figure block needs the name of a block and -o FILE"));
  CHECK(refused("roofline llama3-8b-8-h100 batch=3 -o r.svg").find("\"batch=3\" is for figures of a block") !=
        std::string::npos);
  CHECK(refused("roofline llama3-8b-8-h100 --over batch -o r.svg").find("--over: is for figures of a block") !=
        std::string::npos);
}

}  // namespace
}  // namespace roofscape
