// Hundreds of malformed inputs: files damaged by rule, for every reader of the command line, and options that say nothing
// good. Each is answered with one line on stderr and exit status 2, and leaves no file behind. The suite tries one in
// eight, of other ones by ROOFSCAPE_MALFORMED_FROM; ROOFSCAPE_MALFORMED=all tries all.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/presets/resources.h"
#include "tests/app/cli/cli_run.h"
#include "tests/test_paths.h"

namespace roofscape {
namespace {

using test::Outcome;
using test::run;
using test::TemporaryFolder;

// P and Q stand for presets, one without a pipeline and one with.
constexpr std::string_view kOptions[] = {
    R"(evall)",
    R"(eval)",
    R"(eval a b c)",
    R"(eval P --set)",
    R"(eval P --set =)",
    R"(eval P --set a)",
    R"(eval P --set a=)",
    R"(eval P --set parallelism.tensor=)",
    R"(eval P --set parallelism.tensor=-1)",
    R"(eval P --set parallelism.tensor=1.5)",
    R"(eval P --set parallelism.tensor=nan)",
    R"(eval P --set parallelism.tensor=inf)",
    R"(eval P --set parallelism.tensor=0x10)",
    R"(eval P --set parallelism.tensor=9223372036854775808)",
    R"(eval P --set parallelism.tensor=1e18)",
    R"(eval P --set cluster.chips=1000000000000000000)",
    R"(eval P --set cluster.nodes=9223372036854775807)",
    R"(eval P --set workload.train_tokens=1e19)",
    R"(eval P --set workload.train_tokens=-5)",
    R"(eval P --set parallelism=3)",
    R"(eval P --set pipeline.schedule=nosuch)",
    R"(eval P --set "pipeline.layers_per_stage=(t)*999999999999L")",
    R"(eval P --set pipeline.layers_per_stage=1,2,x)",
    R"(eval P --set pipeline.layers_per_stage=1e9,1)",
    R"(eval P --set pipeline.order=/nonexistent)",
    R"(eval P --set pipeline.order=/dev/zero)",
    R"(eval P --set model=/dev/null)",
    R"(eval P --set model=/)",
    R"(eval P --set model=../../etc/passwd)",
    R"(eval P --set cluster.slice=4x4x4)",
    R"(eval P --set cluster.slice=)",
    R"(eval P --set cluster.chip=h1000)",
    R"(eval P --set cluster.chip.hbm_bytes=-1)",
    R"(eval P --set cluster.chip.hbm_bytes=1e400)",
    R"(eval P --set cluster.chip.nosuch=1)",
    R"(eval P --set assumptions.mode=magic)",
    R"(eval P --set assumptions.custom.matmul_efficiency=2)",
    R"(eval P --set workload.lengths.9.share=1)",
    R"(eval P --cluster nosuch)",
    R"(eval P --cluster h100-sxm:0)",
    R"(eval P --cluster h100-sxm:-8)",
    R"(eval P --cluster h100-sxm:999999999999999999999)",
    R"(eval P --cluster h100-sxm:x)",
    R"(eval P --bad)",
    R"(eval P --json=maybe)",
    R"(eval P --lang xx)",
    R"(eval P --presets /nonexistent)",
    R"(eval P --presets /dev/null)",
    R"(eval /)",
    R"(eval /dev/null)",
    R"(eval /nonexistent.json)",
    R"(eval "")",
    R"(sweep P)",
    R"(sweep P --vary)",
    R"(sweep P --vary x)",
    R"(sweep P --vary x=)",
    R"(sweep P --vary x=1)",
    R"(sweep P --vary parallelism.tensor=1,,2)",
    R"(sweep P --vary parallelism.tensor=1,x)",
    R"(sweep P --vary parallelism.tensor=1,2 --quantities nosuch)",
    R"(sweep P --vary parallelism.tensor=1,2 --csv --json)",
    R"(sweep P --vary workload.batch=1..1000000000)",
    R"(sweep P --vary parallelism.tensor=1:1000000000)",
    R"(figure)",
    R"(figure nosuch P -o x.svg)",
    R"(figure step)",
    R"(figure step P)",
    R"(figure step P -o)",
    R"(figure step P -o x)",
    R"(figure step P -o x.doc)",
    R"(figure step P -o /nonexistent/x.svg)",
    R"(figure step P -o /proc/x.svg)",
    R"(figure step P -o x.svg --size 0x0)",
    R"(figure step P -o x.svg --size 1e9x1e9)",
    R"(figure step P -o x.svg --size -5mm)",
    R"(figure step P -o x.svg --theme nosuch)",
    R"(figure step P -o x.svg --theme ../../x)",
    R"(figure step P -o x.svg --font NoSuchFont)",
    R"(figure step P -o x.svg --dpi 300)",
    R"(figure step P -o x.png --dpi 0)",
    R"(figure step P -o x.png --dpi 1e9)",
    R"(figure step P -o x.png --scale 1000)",
    R"(figure step P -o x.svg --venue nosuch)",
    R"(figure step P -o x.svg --head nosuch)",
    R"(figure step P -o x.svg --text-size 0)",
    R"(figure step P -o x.svg --with nosuch=1)",
    R"(figure step P -o x.svg --with x)",
    R"(figure step P -o x.svg --baseline nosuch)",
    R"(figure step P -o x.svg --measured /nonexistent)",
    R"(figure step P -o x.html --vary x)",
    R"(figure step P -o x.svg --vary parallelism.tensor=1,2)",
    R"(figure --all)",
    R"(figure --all P)",
    R"(figure --all P -o /dev/null)",
    R"(figure --all P -o d --format doc)",
    R"(figures)",
    R"(figures /nonexistent)",
    R"(figures /)",
    R"(frames P)",
    R"(frames P --vary parallelism.tensor=1,2)",
    R"(frames P --vary x -o d)",
    R"(frames P --vary parallelism.zero_stage=1,2 -o d --figure nosuch)",
    R"(frames P --vary parallelism.zero_stage=1,2 -o d --format csv)",
    R"(frames P --vary parallelism.zero_stage=1,2 -o d --size 0)",
    R"(frames P --vary parallelism.zero_stage=1,2 -o /dev/null)",
    R"(calc)",
    R"(calc nosuch)",
    R"(calc params)",
    R"(calc params x=1)",
    R"(calc params n_layers)",
    R"(calc params n_layers=)",
    R"(calc params n_layers=-1)",
    R"(calc params n_layers=1e400)",
    R"(calc params n_layers=nan)",
    R"(calc params n_layers=1.5)",
    R"(calc params n_layers=99999999999999999999)",
    R"(calc params model=nosuch)",
    R"(calc params model=/dev/zero)",
    R"(calc params model=llama3-8b solve=nosuch)",
    R"(calc kv-cache sequence_length=8192 sequence_length=4096)",
    R"(calc decode chip=nosuch)",
    R"(calc --search)",
    R"(search)",
    R"(search P --limit 0)",
    R"(search P --limit -1)",
    R"(search P --limit 1e9)",
    R"(search P --limit 99999999999999999999)",
    R"(search P --pin)",
    R"(search P --pin x)",
    R"(search P --pin tensor=)",
    R"(search P --pin tensor=0)",
    R"(search P --pin nosuch=1)",
    R"(search P --min tensor=x)",
    R"(search P --max tensor=-3)",
    R"(search P --objective nosuch)",
    R"(search P --runs-on nosuch)",
    R"(search P --max-ttft -1)",
    R"(search P --max-ttft nan)",
    R"(search P --pin schedule=nosuch)",
    R"(compare)",
    R"(compare P)",
    R"(compare P --measured)",
    R"(compare P --measured /nonexistent)",
    R"(compare P --measured x --steps 0)",
    R"(compare P --measured "")",
    R"(compare P P --steps 2)",
    R"(figure roofline P -o x.svg --steps 2)",
    R"(explain P)",
    R"(explain P nosuch)",
    R"(explain P step.time_s --depth 0)",
    R"(explain P step.time_s[99])",
    R"(explain P "")",
    R"(export-flags P)",
    R"(export-flags P --for nosuch)",
    R"(export-flags P --for megatron -o /nonexistent/x)",
    R"(export-flags P --for megatron --launcher nosuch)",
    R"(trace P)",
    R"(trace Q -o x.doc)",
    R"(trace Q -o /nonexistent/x.json)",
    R"(trace Q --layout nosuch)",
    R"(import)",
    R"(import /nonexistent)",
    R"(import /)",
    R"(import /dev/null)",
    R"(check)",
    R"(check P --require)",
    R"(check P --require nosuch)",
    R"(check P --require "mfu>=x")",
    R"(check P --require "mfu>=")",
    R"(check P --require "mfu=>0.3")",
    R"(check P --require ,)",
    R"(tour nosuch)",
    R"(tour intro --export)",
    R"(tour intro --export d --format doc)",
    R"(tour intro --export d --theme nosuch)",
    R"(tour intro --export d --size 0)",
    R"(tour intro --export /dev/null)",
    R"(tour intro --check --export d)",
    R"(validate /nonexistent)",
    R"(validate --mode nosuch)",
    R"(validate /)",
    R"(calibrate)",
    R"(calibrate --chip nosuch)",
    R"(calibrate /nonexistent --chip h100-sxm)",
    R"(presets nosuch)",
    R"(presets --nosuch)",
    R"(--nosuch)",
    R"(--lang)",
    R"(--presets)",
    R"(eval P --set "pipeline.layers_per_stage=E(t")",
    R"(search P --pin tensor=2 --pin tensor=4)",
    R"(tour intro --texts --check)",
    R"(presets --json --csv)",
};

std::string with_presets(std::string command) {
  const auto put = [&command](std::string_view letter, std::string_view preset) {
    for (std::size_t at = command.find(letter); at != std::string::npos; at = command.find(letter, at + 1))
      command.replace(at + 1, 1, preset);
  };
  command += ' ';
  put(" P ", "llama3-8b-8-h100"), put(" Q ", "llama3-405b-16k-h100");
  return command;
}

// A kind of file with commands that read it, where F is the file.
struct Readable {
  std::string name, text;
  std::vector<std::string> commands;
};

std::vector<Readable> readable_files() {
  const auto seed = [](const char* name) { return test::text_of(test::source_dir() / "tests/fuzz/presets" / name); };
  const auto shipped = [](const char* path) { return std::string(io::embedded_text(path)); };
  return {
      {"scenario",
       shipped("presets/scenarios/llama3-8b-8-h100.json"),
       {"eval F", "sweep F --vary parallelism.zero_stage=1,2", "figure step F -o a.svg", "search F --limit 1",
        "check F", "trace F -o a.json", "export-flags F --for megatron", "eval F --cluster h100-sxm"}},
      {"model", "{\"model\": " + shipped("presets/models/llama3-8b.json") + "}", {"eval F"}},
      {"cluster", "{\"cluster\": " + seed("cluster") + "}", {"eval F"}},
      {"recipe", seed("recipe"), {"figures F"}},
      {"tour", seed("tour_plan"), {"tour F --check", "tour F --texts", "tour F --export slides"}},
      {"measurements", seed("measurements_bloom"), {"validate F", "calibrate F --chip a100-80g"}},
      {"config", seed("hf_llama"), {"import F --cluster h100-sxm:8", "calc params model=F"}},
      {"operations",
       R"([{"name": "a", "flops": 1e12, "bytes": 1e9, "seconds": 1}])",
       {"figure roofline llama3-8b-8-h100 --measured F -o a.svg", "compare llama3-8b-8-h100 --measured F"}},
  };
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  return at == std::string::npos ? std::string(by) : text.replace(at, what.size(), by);
}

std::string in_utf16(std::string_view text) {
  std::string out = "\xff\xfe";
  for (const char c : text) out += c, out += '\0';
  return out;
}

struct Damage {
  const char* name;
  std::function<std::string(const std::string&)> of;
};

const std::vector<Damage>& damages() {
  static const std::vector<Damage> all{
      {"cut in half", [](const std::string& t) { return t.substr(0, t.size() / 2); }},
      {"empty", [](const std::string&) { return std::string(); }},
      {"blank", [](const std::string&) { return std::string("  \n\t \n"); }},
      {"UTF-16", [](const std::string& t) { return in_utf16(t); }},
      {"Latin-1", [](const std::string& t) { return replaced(t, "{", "{\"n\xe9me\": 1, "); }},
      {"a zero byte", [](const std::string& t) { return t.substr(0, 3) + '\0' + t.substr(3); }},
      {"lists in lists", [](const std::string&) { return std::string(20'000, '['); }},
      {"a list", [](const std::string&) { return std::string("[1, 2, 3]"); }},
      {"a number", [](const std::string&) { return std::string("12"); }},
      {"null", [](const std::string&) { return std::string("null"); }},
      {"a text", [](const std::string&) { return std::string("\"text\""); }},
      {"more after its end", [](const std::string& t) { return t + " x"; }},
      {"a key twice", [](const std::string& t) { return replaced(t, "{", R"({"name": "a", "name": "b", )"); }},
      {"a comma too many", [](const std::string& t) { return t.substr(0, t.find_last_of("}]")) + ",}"; }},
      {"single quotes", [](std::string t) { return std::replace(t.begin(), t.end(), '"', '\''), t; }},
      {"not a number", [](const std::string& t) { return replaced(t, "{", "{\"name\": NaN, "); }},
      {"too large", [](const std::string&) { return "{\"name\": \"" + std::string(9 << 20, 'x') + "\"}"; }},
      {"a picture", [](const std::string&) { return "\x89PNG\r\n\x1a\n" + std::string(100, '\0'); }},
      {"compressed", [](const std::string&) { return "\x1f\x8b\x08" + std::string(60, '\0'); }},
      {"a program",
       [](const std::string&) {
         return "\x7f"
                "ELF" +
                std::string(200, '\1');
       }},
      {"a PDF", [](const std::string&) { return "%PDF-1.7\n" + std::string(100, 'x'); }},
      {"XML that names a file",
       [](const std::string&) {
         return std::string(
             R"(<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>)");
       }},
      {"a control character in a key", [](const std::string& t) { return replaced(t, "{", "{\"na\x01me\": 1, "); }},
      {"half a surrogate", [](const std::string& t) { return replaced(t, "{", R"({"\ud800": 1, )"); }},
      {"a number beyond any computer",
       [](const std::string& t) { return replaced(t, "{", "{\"version\": 1e400, "); }},
      {"too many values",
       [](const std::string&) {
         std::string list = "[0";
         for (int i = 0; i < 250'000; ++i) list += ",0";
         return list + "]";
       }},
  };
  return all;
}

struct Malformed {
  std::string what, command;
  std::string file = {};  // what F is
};

std::vector<Malformed> malformed_inputs() {
  std::vector<Malformed> all;
  for (const std::string_view options : kOptions) all.push_back({"options", with_presets(std::string(options))});
  for (const Readable& kind : readable_files())
    for (std::size_t i = 0; i < damages().size(); ++i) {
      const Damage& damage = damages()[i];
      std::string command = kind.commands[i % kind.commands.size()];
      const std::size_t place = command.find_first_of('F', command.find(' '));
      all.push_back({kind.name + ": " + damage.name, command.replace(place, 1, "F.in"), damage.of(kind.text)});
    }
  return all;
}

std::size_t number_from(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : static_cast<std::size_t>(std::max(0, std::atoi(text)));
}

TEST_CASE("malformed files and options are answered in one line with exit status 2, and nothing is left behind") {
  const std::vector<Malformed> all = malformed_inputs();
  CHECK(all.size() > 350);
  const char* wanted = std::getenv("ROOFSCAPE_MALFORMED");
  const std::size_t stride = wanted != nullptr && std::string_view(wanted) == "all" ? 1 : 8;
  for (std::size_t i = number_from("ROOFSCAPE_MALFORMED_FROM") % stride; i < all.size(); i += stride) {
    const Malformed& input = all[i];
    const TemporaryFolder folder;
    const bool has_file = input.command.find("F.in") != std::string::npos;
    if (has_file) folder.write("F.in", input.file);
    const Outcome o = run(folder, input.command);
    INFO(i << ": " << input.what << ": roofscape-cli " << input.command << " says " << o.err.substr(0, 300));
    CHECK(o.code == 2);
    CHECK(std::count(o.err.begin(), o.err.end(), '\n') == 1);
    CHECK(o.err.starts_with("roofscape-cli: "));
    CHECK(o.err.size() < 700);
    CHECK(folder.count() == (has_file ? 1 : 0));
  }
}

}  // namespace
}  // namespace roofscape
