#include "tests/engine/io/io_fixture.h"

#include <doctest/doctest.h>

#include <stdlib.h>

#include <fstream>
#include <sstream>

#include "engine/io/scenario/scenario_json.h"
#include "tests/english.h"

namespace roofscape::test {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "roofscape-test-XXXXXX").string();
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TemporaryFolder::write(const std::string& name, const std::string& text) const {
  const std::filesystem::path file = path_ / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

std::size_t TemporaryFolder::count() const {
  std::size_t n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::recursive_directory_iterator(path_)) ++n;
  return n;
}

const io::PresetLibrary& shipped() {
  static const io::PresetLibrary library;
  return library;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

io::Result<engine::Scenario> read(std::string_view text) { return io::read_scenario(text, "s.json", shipped()); }

std::string error_of(std::string_view text) {
  const auto result = read(text);
  return result ? std::string() : test::in_english(result.error());
}

}  // namespace roofscape::test
