// What shells and manual pages take from the program's tables.
#include <doctest/doctest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/app/cli/cli_run.h"
#include "tests/test_paths.h"

namespace roofscape {
namespace {

using test::run;

// The words offered, without their remarks, joined by spaces.
std::string offered(const std::string& words) {
  const auto outcome = run("--complete " + words);
  CHECK(outcome.code == 0);
  std::string out;
  bool remark = false;
  for (const char c : outcome.out) {
    if (c == '\t') remark = true;
    if (c == '\n') remark = false;
    if (!remark) out += c == '\n' ? ' ' : c;
  }
  return out;
}

TEST_CASE("completion offers what stands at that place") {
  CHECK(offered("ev") == "eval ");
  CHECK(offered("eval llama3-8b") == "llama3-8b-8-h100 llama3-8b-serving-8-h100 :files ");
  CHECK(offered("figure roofl") == "roofline ");
  CHECK(offered("figure --all llama3-8b-8") == "llama3-8b-8-h100 :files ");
  CHECK(offered("figure pipeline x --with mem") == "memory-trace=off memory-trace=on ");
  CHECK(offered("figure roofline x --theme pr") == "print projector projector_light ");
  CHECK(offered("figure roofline x --theme=pr") == "--theme=print --theme=projector --theme=projector_light ");
  CHECK(offered("--lang en check --j") == "--json ");
  CHECK(offered("explain x step.time") == "step.time_s ");
  CHECK(offered("calc bounds ch") == "chip= chips= ");
  CHECK(offered("calc bounds d_ff=1 chip=h1") == "chip=h100-96g-hbm2e chip=h100-sxm ");
  CHECK(offered("check x y") == "");
}

TEST_CASE("completion goes on inside of what is assigned") {
  CHECK(offered("eval x --set parallelism.tens") == "parallelism.tensor= ");
  CHECK(offered("eval x --set pipeline.schedule=zb-h") == "pipeline.schedule=zb-h1 pipeline.schedule=zb-h2 ");
  CHECK(offered("search x --pin schedule=1f1b,zb-h") == "schedule=1f1b,zb-h1 schedule=1f1b,zb-h2 ");
  CHECK(offered("search x --pin offload_optimizer=") == "offload_optimizer=on offload_optimizer=off ");
  CHECK(offered("sweep x --quantities mfu,step.time") == "mfu,step.time_s ");
}

TEST_CASE("every command that is offered has its section in the manual page, and every option its line") {
  const std::string page = run("--man-sections").out;
  const std::string commands = offered("''");
  for (std::size_t at = 0; at < commands.size();) {
    const std::size_t end = commands.find(' ', at);
    const std::string command = commands.substr(at, end - at);
    at = end + 1;
    std::string escaped;
    for (const char c : command) escaped += c == '-' ? std::string("\\-") : std::string(1, c);
    CAPTURE(command);
    CHECK(page.find(".SS \\fB" + escaped + "\\fR") != std::string::npos);
  }
  for (const char* line : {"\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fITEXT\\fR", "\\fB\\-\\-hold\\-out\\fR\n",
                           "; from [1 \\- 10000]\n", ".SH FIGURES\n.TP\n\\fBroofline\\fR\n"})
    CHECK_MESSAGE(page.find(line) != std::string::npos, line);
}

// The first words of the first column of the README's table under "On the command line".
std::set<std::string> commands_of_readme() {
  std::istringstream lines(test::text_of(test::source_dir() / "README.md"));
  std::set<std::string> out;
  bool in_table = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("| `eval ")) in_table = true;
    if (!in_table) continue;
    if (!line.starts_with("| `")) break;
    out.insert(line.substr(3, line.find_first_of(" `", 3) - 3));
  }
  return out;
}

TEST_CASE("the README's table of commands has those that are offered") {
  std::istringstream words(offered("''"));
  std::set<std::string> commands;
  for (std::string word; words >> word;) commands.insert(word);
  CHECK(commands_of_readme() == commands);
}

}  // namespace
}  // namespace roofscape
