#include "app/cli/output.h"

#include <cstdio>

#include "engine/base/utf8.h"

namespace roofscape::app::cli {

void complain(const engine::Words& words, const io::InputError& error) {
  const std::string line = engine::without_controls("roofscape-cli: " + io::to_text(error, words)) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

int refuse(const engine::Words& words, const io::InputError& error) {
  complain(words, error);
  return kBadInput;
}

int print(const engine::Words& words, const std::string& text, int code) {
  return print_file(words, engine::without_controls(text), code);
}

int print_file(const engine::Words& words, const std::string& bytes, int code) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() && std::fflush(stdout) == 0) return code;
  return refuse(words, {{}, {}, engine::say("error.output"), engine::say("error.output.remedy")});
}

}  // namespace roofscape::app::cli
