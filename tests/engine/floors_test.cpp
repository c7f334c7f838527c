// The floors of the program: what a folder may include is what stands below it, as engine/CMakeLists.txt and the
// orders below list them. Read from the sources, so that no header slips past the linker.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/test_paths.h"

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

Words words_of(std::string_view text) {
  Words out;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    for (std::string word; words >> word;) out.push_back(word);
  }
  return out;
}

// Files of ours that a source includes, as they are written there.
Words includes_of(const fs::path& file) {
  Words out;
  std::ifstream in(file);
  constexpr std::string_view kBegin = "#include \"";
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(kBegin))
      out.push_back(line.substr(kBegin.size(), line.find('"', kBegin.size()) - kBegin.size()));
  return out;
}

const fs::path& root() { return roofscape::test::source_dir(); }

// Folder -> folders that its sources include, below `top`; with a file that does.
std::map<std::string, std::map<std::string, std::string>> folder_includes(const std::string& top) {
  std::map<std::string, std::map<std::string, std::string>> out;
  for (const auto& entry : fs::recursive_directory_iterator(root() / top)) {
    const fs::path& file = entry.path();
    if (!entry.is_regular_file() || file.extension() == ".txt") continue;
    const std::string from = fs::relative(file.parent_path(), root()).generic_string();
    out[from];
    for (const std::string& included : includes_of(file)) {
      const std::string to = fs::path(included).parent_path().generic_string();
      if (to != from && included != "engine/precompiled.h" && included.starts_with(top + "/"))
        out[from].emplace(to, file.filename().string() + " includes " + included);
    }
  }
  return out;
}

// In the order of engine/CMakeLists.txt, each with those it stands on.
struct Floor {
  std::string name;
  std::set<std::string> on;
};
std::vector<Floor> engine_floors() {
  std::vector<Floor> out;
  const Words list = words_of(text_of(root() / "engine/CMakeLists.txt"));
  auto word = std::find(list.begin(), list.end(), "set(floors");
  for (++word; *word != ")"; ++word) {
    const Words words = words_of(text_of(root() / "engine" / *word / "CMakeLists.txt"));
    std::set<std::string> on;
    for (auto below = std::find(words.begin(), words.end(), "ON"); below != words.end(); ++below)
      if (*below != "ON") on.insert(below->substr(0, below->find(')')));
    out.push_back({*word, on});
  }
  return out;
}

// Every include between folders of `top` leads to one that is named before.
void check_order(const std::string& top, const Words& order) {
  const auto place = [&](const std::string& folder) {
    return std::find(order.begin(), order.end(), folder) - order.begin();
  };
  for (const auto& entry : folder_includes(top)) {
    const std::string& from = entry.first;
    CAPTURE(from);
    CHECK(static_cast<std::size_t>(place(from)) < order.size());
    for (const auto& target : entry.second) CHECK_MESSAGE(place(target.first) < place(from), target.second);
  }
}

}  // namespace

TEST_CASE("a floor of the engine stands on floors below it alone") {
  std::set<std::string> below;
  const auto floors = engine_floors();
  REQUIRE(floors.size() > 10);
  for (const Floor& floor : floors) {
    CAPTURE(floor.name);
    for (const std::string& other : floor.on) CHECK_MESSAGE(below.contains(other), other);
    below.insert(floor.name);
  }
}

TEST_CASE("a floor of the engine includes what it is said to stand on, and nothing else") {
  const auto includes = folder_includes("engine");
  for (const Floor& floor : engine_floors()) {
    CAPTURE(floor.name);
    std::set<std::string> included;
    for (const auto& target : includes.at("engine/" + floor.name)) {
      const std::string other = target.first.substr(std::string_view("engine/").size());
      CHECK_MESSAGE(floor.on.contains(other), target.second);
      included.insert(other);
    }
    for (const std::string& other : floor.on) CHECK_MESSAGE(included.contains(other), "no need for ", other);
  }
}

TEST_CASE("folders of the engine include those before them") {
  Words order;
  for (const Floor& floor : engine_floors()) order.push_back("engine/" + floor.name);
  for (const char* folder : {"io/json", "io/huggingface", "io/presets", "io/scenario", "io/import", "io/measured",
                             "io/export", "io/tour", "evidence"})
    order.push_back(std::string("engine/") + folder);
  order.push_back("engine");  // precompiled.h
  check_order("engine", order);
}

TEST_CASE("folders of the widgets include those before them") {
  check_order("widgets", {"widgets/canvas", "widgets/plot", "widgets/figures/common", "widgets/figures/training",
                          "widgets/figures/serving", "widgets/figures/hardware", "widgets/figures/search",
                          "widgets/figures/blocks", "widgets/figures", "widgets/ui"});
}

TEST_CASE("folders of the app include those before them") {
  check_order("app", {"app/core", "app/tours", "app/session", "app/panels", "app/shell", "app/cli"});
}

TEST_CASE("the command line includes nothing of the window") {
  const auto includes = folder_includes("app");
  for (const auto& target : includes.at("app/cli"))
    CHECK_MESSAGE((target.first == "app/core" || target.first == "app/tours"), target.second);
}

TEST_CASE("the engine includes neither widgets nor app, and the widgets not the app") {
  for (const std::string top : {"engine", "widgets"})
    for (const auto& entry : fs::recursive_directory_iterator(root() / top))
      for (const std::string& included : entry.is_regular_file() ? includes_of(entry.path()) : Words{}) {
        CAPTURE(entry.path().filename().string());
        CHECK_FALSE(included.starts_with("app/"));
        CHECK_FALSE((top == "engine" && included.starts_with("widgets/")));
      }
}

TEST_CASE("outside of io no source of the engine names the JSON library") {
  for (const auto& entry : fs::recursive_directory_iterator(root() / "engine")) {
    if (!entry.is_regular_file()) continue;
    const std::string file = fs::relative(entry.path(), root()).generic_string();
    if (file.starts_with("engine/io/") || file.ends_with("CMakeLists.txt")) continue;
    CAPTURE(file);
    CHECK(text_of(entry.path()).find("nlohmann") == std::string::npos);
  }
}

TEST_CASE("links of the papers lead to what is there") {
  int links = 0;
  for (const char* paper : {"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"}) {
    const std::string text = text_of(root() / paper);
    for (std::size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
      const std::string target = text.substr(at + 2, text.find_first_of(")#", at) - at - 2);
      if (target.empty() || target.find(':') != std::string::npos) continue;
      CHECK_MESSAGE(fs::exists(root() / target), paper, ": ", target);
      ++links;
    }
  }
  CHECK(links > 100);
}
