#include "tests/test_paths.h"

namespace roofscape::test {

const std::filesystem::path& source_dir() {
  static const std::filesystem::path path = ROOFSCAPE_SOURCE_DIR;
  return path;
}

const std::string& cli_program() {
  static const std::string path = ROOFSCAPE_CLI;
  return path;
}

}  // namespace roofscape::test
