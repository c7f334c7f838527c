// What people call chips, models, clusters and scenarios.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

using namespace roofscape;
using io::Preset;
using io::PresetKind;

namespace {

constexpr std::array kKinds{PresetKind::chip, PresetKind::model, PresetKind::cluster, PresetKind::scenario};

std::string meant(PresetKind kind, std::string_view word) {
  const Preset* preset = test::shipped().meant(kind, word);
  return preset == nullptr ? std::string() : preset->id;
}

}  // namespace

TEST_CASE("an id is the same word in capitals, with spaces, and without hyphens") {
  for (const PresetKind kind : kKinds)
    for (const Preset& preset : test::shipped().list(kind)) {
      std::string capitals = preset.id, spaced = preset.id, bare = preset.id;
      std::transform(capitals.begin(), capitals.end(), capitals.begin(),
                     [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
      std::replace(spaced.begin(), spaced.end(), '-', ' ');
      std::erase(bare, '-');
      for (const std::string& word : {preset.id, capitals, spaced, bare}) CHECK(meant(kind, word) == preset.id);
      for (const std::string& alias : preset.aliases) CHECK(meant(kind, alias) == preset.id);
    }
}

TEST_CASE("a full name means its preset, where no other has it") {
  for (const PresetKind kind : kKinds)
    for (const Preset& preset : test::shipped().list(kind)) {
      const auto same = [&](const Preset& other) { return other.name == preset.name; };
      if (std::ranges::count_if(test::shipped().list(kind), same) == 1) CHECK(meant(kind, preset.name) == preset.id);
    }
}

TEST_CASE("chips and models are known by the names that people use") {
  for (const auto& [word, id] : {std::pair{"h100", "h100-sxm"},
                                 {"H100 SXM", "h100-sxm"},
                                 {"a100", "a100-80g"},
                                 {"v5p", "tpu-v5p"},
                                 {"TPU-v5e", "tpu-v5e"},
                                 {"tpu v4", "tpu-v4p"},
                                 {"ironwood", "tpu-7x"},
                                 {"gb200", "gb200-nvl72"},
                                 {"h200", "h200"},
                                 {"mi250x", "mi250x-gcd"}})
    CHECK(meant(PresetKind::chip, word) == id);
  for (const auto& [word, id] : {std::pair{"llama-3-70b", "llama3-70b"},
                                 {"Llama3 8B", "llama3-8b"},
                                 {"gpt3", "gpt3-175b"},
                                 {"gemma-3-27b", "gemma3-27b-text"},
                                 {"Qwen3-32B", "qwen3-32b"},
                                 {"deepseek-r1", "deepseek-v3"}})
    CHECK(meant(PresetKind::model, word) == id);
}

TEST_CASE("a piece of a word means nothing") {
  for (const char* word : {"h10", "h", "v5", "100", ""}) CHECK(meant(PresetKind::chip, word) == "");
  for (const char* word : {"llama3-7", "llama3-4", "70"}) CHECK(meant(PresetKind::model, word) == "");
}

TEST_CASE("a number alone means no preset, whatever names it is in") {
  for (const PresetKind kind : kKinds)
    for (const char* word : {"-1", "1", "40%", "[1]", "8", "2"}) CHECK(meant(kind, word) == "");
}

TEST_CASE("a word that several presets have is refused with their names") {
  const io::InputError error = test::shipped().not_meant(PresetKind::model, "llama3");
  CHECK(test::in_english(error) ==
        "\"llama3\" may be more than one model; give one of: llama3-405b, llama3-70b, llama3-8b");
  CHECK(test::in_english(test::shipped().not_meant(PresetKind::model, "qwen3")).ends_with(", qwen3-8b"));
  CHECK(test::in_english(test::shipped().not_meant(PresetKind::chip, "h10")) ==
        "no chip preset is called \"h10\"; did you mean \"h100\"?");
}

TEST_CASE("what --set and calc are given may be such a name, and is kept as the preset's id") {
  auto read = io::load_scenario("LLaMA3-70B-v5p-pod", test::shipped());
  REQUIRE(read);
  engine::Scenario& scenario = read.value();
  CHECK_FALSE(io::set_field(scenario, "model=Qwen3-32B", test::shipped()));
  CHECK(scenario.model.id == "qwen3-32b");
  CHECK_FALSE(io::set_field(scenario, "cluster.chip=v5e", test::shipped()));
  CHECK(scenario.cluster.chip.id == "tpu-v5e");
}

TEST_CASE("what is typed into a list finds a preset by its aliases as by its name") {
  const io::PresetLibrary& library = test::shipped();
  for (const PresetKind kind : {PresetKind::chip, PresetKind::model})
    for (const io::Preset& preset : library.list(kind)) {
      CAPTURE(preset.id);
      CHECK(io::match_of(preset.name, preset) == engine::Match::exact);
      for (const std::string& alias : preset.aliases) CHECK(io::match_of(alias, preset) == engine::Match::exact);
    }
}

TEST_CASE("aliases of a preset that are no list of texts are refused") {
  test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "models");
  folder.write("models/mine.json", R"({"n_layers": 2, "d_model": 64, "d_ff": 128, "n_heads": 2, "vocab_size": 100,
    "aliases": "mine"})");
  const io::PresetLibrary library(folder.path());
  REQUIRE(library.problems().size() == 1);
  CHECK(library.problems()[0].path == "aliases");
  CHECK(test::in_english(library.problems()[0].message) == "is no list");
}
