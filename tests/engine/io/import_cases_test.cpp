// Every launch file of tests/engine/io/imports comes to the plan its framework means, which stands beside it: one JSON for
// each folder, a list of cases. A case has `file`, `fields` (path: value), what is `missing`, the `chips` the launcher states,
// `with_chips` (degrees and microbatches on a cluster of so many H100), `layers_per_stage`, the model's `params` and, where the
// file has an error, a word that one of the errors has to say (`error_names`).
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "engine/evaluate/evaluate.h"
#include "engine/io/import/import_launch.h"
#include "engine/scenario/mesh_size.h"
#include "engine/scenario/scenario_fields.h"
#include "tests/capture_binding.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"
#include "tests/test_paths.h"

namespace roofscape {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using test::shipped;

const fs::path& folder() {
  static const fs::path path = test::source_dir() / "tests" / "engine" / "io" / "imports";
  return path;
}

std::vector<Json> cases() {
  std::vector<Json> out;
  for (const auto& entry : fs::directory_iterator(folder()))
    if (entry.path().extension() == ".json")
      for (const Json& one : Json::parse(test::text_of(entry.path()))) out.push_back(one);
  return out;
}

io::Result<io::Imported> imported(const Json& one, const io::ImportRequest& request = {}) {
  const std::string file = one.at("file");
  return io::import_launch(test::text_of(folder() / file), file, request, shipped());
}

// A field of the table as JSON states it.
Json value_of(const engine::Scenario& scenario, const std::string& path) {
  if (path == "parallelism.expert_tensor") return scenario.parallelism.experts_tensor();
  const engine::Field* field = engine::find_field(path);
  REQUIRE_MESSAGE(field != nullptr, path);
  const double value = field->get(scenario);
  if (field->kind == engine::FieldKind::boolean) return value != 0;
  if (field->kind == engine::FieldKind::choice) return std::string(field->choices[static_cast<std::size_t>(value)]);
  return value;
}

TEST_CASE("launch files come to the plan that their framework means") {
  for (const Json& one : cases()) {
    CAPTURE(one.at("file"));
    const auto read = imported(one);
    REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : io::to_text(read.error(), test::english())));
    for (const auto& [path, value] : one.at("fields").items()) {
      CAPTURE_BINDING(path);
      CHECK_FALSE(read->is_missing(path));
      CHECK(value_of(read->scenario, path) == value);
    }
    for (const Json& path : one.value("missing", Json::array()))
      CHECK_MESSAGE(read->is_missing(path.get<std::string>()), path);
    CHECK(read->has_errors() == one.contains("error_names"));
    if (one.contains("error_names")) {
      bool named = false;
      for (const io::ImportNotice& notice : read->notices)
        named |= notice.error && test::english().write(notice.text).find(one.at("error_names").get<std::string>()) !=
                                     std::string::npos;
      CHECK(named);
    }
    if (one.contains("layers_per_stage"))
      CHECK(read->scenario.pipeline.layers_per_stage == one.at("layers_per_stage").get<std::vector<int>>());
    if (one.contains("chips")) CHECK(engine::chip_count(read->scenario.cluster) == one.at("chips"));
  }
}

TEST_CASE("chips of a cluster are shared out among the ranks that the file leaves open") {
  for (const Json& one : cases())
    for (const Json& with : one.value("with_chips", Json::array())) {
      CAPTURE(one.at("file"));
      CAPTURE(with.dump());
      const auto read = imported(one, {fmt::format("h100-sxm:{}", with.at("chips").get<int>())});
      REQUIRE(read.ok());
      CHECK(read->scenario.parallelism.data == with.at("data"));
      CHECK(read->scenario.parallelism.fsdp == with.at("fsdp"));
      CHECK(engine::microbatch_count(read->scenario) == with.at("microbatches"));
      CHECK(engine::mesh_chips(read->scenario.parallelism) == with.at("chips"));
      CHECK_FALSE(read->has_errors());
    }
}

TEST_CASE("models of launch files are counted to the last parameter") {
  for (const Json& one : cases()) {
    if (!one.contains("params")) continue;
    CAPTURE(one.at("file"));
    const auto read = imported(one, {"h100-sxm:1024"});
    REQUIRE(read.ok());
    CHECK(engine::evaluate(read->scenario).quantities[engine::Q::params_total] == one.at("params").get<double>());
  }
}

TEST_CASE("every value that was read says where: a key, a line of the file and a field") {
  for (const Json& one : cases()) {
    CAPTURE(one.at("file"));
    const auto read = imported(one);
    REQUIRE(read.ok());
    const std::string text = test::text_of(folder() / one.at("file").get<std::string>());
    const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
    CHECK(read->read.size() > 3);
    for (const io::ReadValue& value : read->read) {
      CAPTURE(value.key);
      CHECK(value.line >= 1);
      CHECK(value.line <= lines);
      CHECK_FALSE(value.field.empty());
    }
  }
}

// Damage by rule: truncated after a share of the text, a word replaced by a hostile one, a row doubled or lost.
std::vector<std::string> damaged(const std::string& text) {
  std::vector<std::string> out;
  for (int i = 0; i < 16; ++i) out.push_back(text.substr(0, text.size() * static_cast<std::size_t>(i) / 16));
  constexpr std::string_view kWords[] = {"-1",
                                         "0",
                                         "1e300",
                                         "99999999999999999999",
                                         "NaN",
                                         "\"",
                                         "'",
                                         "$(",
                                         "${",
                                         "`",
                                         "((",
                                         ")",
                                         "\\",
                                         "{",
                                         "]",
                                         "|",
                                         "&",
                                         ";",
                                         "\xff\xfe",
                                         "\xed\xa0\x80",
                                         "\t",
                                         "\r",
                                         ": :",
                                         "&a [*a]",
                                         "true",
                                         "None",
                                         "--num-layers",
                                         "*x",
                                         "é漢字",
                                         "<<EOF",
                                         "#",
                                         "!!binary x"};
  std::size_t place = 7;
  for (const std::string_view word : kWords)
    for (int i = 0; i < 2; ++i) {
      place = (place * 48271 + 11) % std::max<std::size_t>(1, text.size());
      const std::size_t begin = text.find_first_of(" \n", place);
      const std::size_t end = begin == std::string::npos ? begin : text.find_first_of(" \n", begin + 1);
      if (end == std::string::npos) continue;
      out.push_back(text.substr(0, begin + 1) + std::string(word) + text.substr(end));
    }
  out.push_back(text + text);
  out.push_back("\xef\xbb\xbf" + text);
  std::string zero = text;
  zero[zero.size() / 2] = '\0';
  out.push_back(zero);
  std::string dos;
  for (const char c : text) dos += c == '\n' ? std::string("\r\n") : std::string(1, c);
  out.push_back(dos);
  return out;
}

TEST_CASE("damaged launch files are read to a plan inside all domains, or refused on one line") {
  std::map<std::string, int> by_folder;  // a few files of each framework are enough
  for (const Json& one : cases()) {
    const std::string file = one.at("file");
    if (++by_folder[file.substr(0, file.find('/'))] > 3) continue;
    const std::vector<std::string> variants = damaged(test::text_of(folder() / file));
    CHECK(variants.size() >= 60);
    for (std::size_t i = 0; i < variants.size(); ++i) {
      CAPTURE(file);
      CAPTURE(i);
      const auto read = io::import_launch(variants[i], file, {"h100-sxm:256"}, shipped());
      if (!read) {
        const std::string line = io::to_text(read.error(), test::english());
        CHECK_MESSAGE(line.starts_with(file), line);
        CHECK(line.find('\n') == std::string::npos);
        continue;
      }
      for (const engine::Field& field : engine::scenario_fields())
        CHECK_MESSAGE(engine::in_domain(field, field.get(read->scenario)), field.path);
      CHECK_FALSE(io::receipt_json(read.value(), shipped(), test::english()).empty());
    }
  }
}

}  // namespace
}  // namespace roofscape
