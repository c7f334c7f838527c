#include "app/cli/output.h"

#include <cstdio>

namespace roofscape::app::cli {

void complain(const engine::Words& words, const io::InputError& error) {
  const std::string line = "roofscape-cli: " + io::to_text(error, words) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

int refuse(const engine::Words& words, const io::InputError& error) {
  complain(words, error);
  return kBadInput;
}

int print(const engine::Words& words, const std::string& text, int code) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return code;
  return refuse(words, {{}, {}, engine::say("error.output"), engine::say("error.output.remedy")});
}

}  // namespace roofscape::app::cli
