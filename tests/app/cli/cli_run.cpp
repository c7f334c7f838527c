#include "tests/app/cli/cli_run.h"

#include <sys/wait.h>

#include <cstdlib>

#include "tests/test_paths.h"

namespace roofscape::test {

Outcome run(const TemporaryFolder& folder, const std::string& arguments, const std::string& environment) {
  const TemporaryFolder capture;
  const std::string command =
      "cd '" + folder.path().string() +
      "' && env -u DISPLAY -u WAYLAND_DISPLAY LC_ALL=C LSAN_OPTIONS=print_suppressions=0 XDG_DATA_HOME='" +
      folder.path().string() + "/none' " + environment + " '" + cli_program() + "' </dev/null " + arguments + " >'" +
      (capture.path() / "out").string() + "' 2>'" + (capture.path() / "err").string() + "'";
  const int status = std::system(command.c_str());
  Outcome outcome;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  outcome.out = text_of(capture.path() / "out");
  outcome.err = text_of(capture.path() / "err");
  return outcome;
}

Outcome run(const std::string& arguments) { return run(TemporaryFolder(), arguments); }

}  // namespace roofscape::test
