#include "app/cli/output.h"

#include <cstdio>

namespace roofscape::app::cli {

void complain(const io::InputError& error) {
  const std::string line = "roofscape-cli: " + io::to_text(error) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

int refuse(const io::InputError& error) {
  complain(error);
  return kBadInput;
}

int print(const std::string& text, int code) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return code;
  return refuse({{}, {}, "the output could not be written", "check the disk or the pipe"});
}

}  // namespace roofscape::app::cli
