#include "app/cli/output.h"

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "engine/base/utf8.h"
#include "engine/io/json/files.h"

namespace roofscape::app::cli {

void complain(const engine::Words& words, const io::InputError& error) {
  const std::string line = engine::without_controls("roofscape-cli: " + io::to_text(error, words)) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

int refuse(const engine::Words& words, const io::InputError& error) {
  complain(words, error);
  return kBadInput;
}

int refuse_two_formats(const engine::Words& words) {
  return refuse(
      words,
      {"--csv", {}, engine::say("error.cli.search.two_formats"), engine::say("error.cli.search.two_formats.remedy")});
}

int print(const engine::Words& words, const std::string& text, int code) {
  return print_file(words, engine::without_controls(text), code);
}

int print_file(const engine::Words& words, const std::string& bytes, int code) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() && std::fflush(stdout) == 0) return code;
  return refuse(words, {{}, {}, engine::say("error.output"), engine::say("error.output.remedy")});
}

int write_output(const engine::Words& words, const std::string& file, const std::string& bytes, int code) {
  if (file == kStandardOutput) return print_file(words, bytes, code);
  if (const auto error = io::write_file_atomically(file, bytes)) return refuse(words, *error);
  return code;
}

std::optional<io::InputError> make_folder(const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (!problem) return std::nullopt;
  return io::InputError{folder,
                        {},
                        engine::say("error.cli.figure.folder", problem.message()),
                        engine::say("error.file.unwritable.remedy")};
}

}  // namespace roofscape::app::cli
