// Where tests find the source tree and the program under test. In a file of its own, so that test files do not depend
// on where the tree lies and a compiler cache serves every checkout.
#pragma once

#include <filesystem>
#include <string>

namespace roofscape::test {

const std::filesystem::path& source_dir();
const std::string& cli_program();  // path of roofscape-cli

}  // namespace roofscape::test
