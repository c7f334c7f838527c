// What the tests of engine/io share: the shipped presets, folders that vanish, and reading a scenario from text.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <stdlib.h>

#include "engine/io/preset_library.h"
#include "engine/io/scenario_json.h"

namespace roofscape::test {

inline const io::PresetLibrary& shipped() {
  static const io::PresetLibrary library;
  return library;
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "roofscape-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
  std::size_t count() const {
    std::size_t n = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::recursive_directory_iterator(path_)) ++n;
    return n;
  }

 private:
  std::filesystem::path path_;
};

inline std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline io::Result<engine::Scenario> read(std::string_view text) {
  return io::read_scenario(text, "s.json", shipped());
}

// The one line an erroneous text is answered with; "" if it was read.
inline std::string error_of(std::string_view text) {
  const auto result = read(text);
  return result ? std::string() : io::to_text(result.error());
}

}  // namespace roofscape::test
