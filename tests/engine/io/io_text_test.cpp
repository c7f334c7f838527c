// JSON text that is broken or hostile, files, and words that are nearly right.
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <filesystem>

#include "engine/io/json/files.h"
#include "engine/io/json/nearest.h"
#include "engine/io/presets/resources.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"
#include "tests/test_paths.h"

namespace roofscape {
namespace {

using test::error_of;
using test::shipped;

TEST_CASE("broken JSON is answered with line and column") {
  CHECK(error_of("{\"name\": \"x\",\n \"mod") ==
        "s.json: line 2, column 6: the JSON text ends too early; close what is open, or copy the whole file");
  CHECK(error_of("") == "s.json: the file is empty; write a JSON object");
  CHECK(error_of("  \n") == "s.json: the file is empty; write a JSON object");
  CHECK(error_of("{\n\"name\" \"x\"}") ==
        "s.json: line 2, column 10: not JSON: did not expect \"\"\"; check commas, quotation marks and brackets "
        "before it");
  CHECK(error_of("{} {}").starts_with("s.json: line 1, column 4: not JSON"));
  CHECK(error_of("{\"name\": 1e999}").find("a number is too large") != std::string::npos);
  CHECK(error_of("{\"name\": \"a\", \"name\": \"b\"}") == "s.json: name: the key appears twice; keep one of them");
  CHECK(error_of(R"({"parallelism": {"tensor": 1, "data": 2, "tensor": 4}})") ==
        "s.json: parallelism.tensor: the key appears twice; keep one of them");
}

TEST_CASE("a byte order mark is passed over, other encodings are refused") {
  CHECK(error_of("\xef\xbb\xbf{}").empty());
  CHECK(error_of("\xff\xfe{\0}\0") == "s.json: the text is UTF-16; save it as UTF-8");
  CHECK(error_of("{\"name\": \"\xe9\"}") == "s.json: line 1, column 11: not UTF-8 text; save it as UTF-8");
  CHECK(error_of("{\"name\": \"\xc0\xaf\"}").find("not UTF-8") != std::string::npos);      // overlong
  CHECK(error_of("{\"name\": \"\xed\xa0\x80\"}").find("not UTF-8") != std::string::npos);  // surrogate
  CHECK(error_of("{\"name\": \"\xf4\x90\x80\x80\"}").find("not UTF-8") != std::string::npos);
}

TEST_CASE("deep, long and large texts are refused") {
  CHECK(error_of(std::string(1'000'000, '[')).find("nested deeper than 32 levels") != std::string::npos);
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "{\"a\":";
  CHECK(error_of(deep).find("nested deeper than 32 levels") != std::string::npos);
  std::string many = "[";
  for (int i = 0; i < 300'000; ++i) many += "0,";
  CHECK(error_of(many + "0]").find("more than 200000 values") != std::string::npos);
  CHECK(error_of(std::string(9u << 20, ' ')).find("larger than 8 MiB") != std::string::npos);
  const std::string long_key = "{\"" + std::string(1'000'000, 'k') + "\": 1}";
  CHECK(error_of(long_key).size() < 500);
  const std::string long_text = "{\"model\": \"" + std::string(1'000'000, 'm') + "\"}";
  CHECK(error_of(long_text).size() < 500);
}

TEST_CASE("an error is one line, whatever was in the text") {
  const std::string line = error_of("{\"a\\nb\\u001b[31m\": 1}");
  CHECK(line.find('\n') == std::string::npos);
  CHECK(line.find('\x1b') == std::string::npos);
  CHECK(io::in_quotes(std::string(100, 'x')) == "\"" + std::string(60, 'x') + "...\"");
}

TEST_CASE("nearest words") {
  CHECK(io::edit_distance("kitten", "sitting") == 3);
  CHECK(io::edit_distance("", "abc") == 3);
  CHECK(io::edit_distance("tenosr", "tensor") == 1);  // two neighbours swapped
  CHECK(io::edit_distance(std::string(1000, 'a'), "a") == 1000);
  constexpr std::string_view words[] = {"data", "fsdp", "tensor", "hidden_size"};
  CHECK(io::nearest_word("tensr", words) == "tensor");
  CHECK(io::nearest_word("hidden", words) == "hidden_size");
  CHECK(io::nearest_word("zzz", words).empty());
  // One letter is one change from any other.
  constexpr std::array<std::string_view, 3> letters{"0", "k", "gb"};
  CHECK(io::nearest_word("a", letters).empty());
  CHECK(io::nearest_word("K", letters) == "k");
  CHECK(io::nearest_word("g", letters).empty());
  CHECK(io::nearest_word("gp", letters) == "gb");
}

TEST_CASE("a word in capitals is near the same word in small letters") {
  constexpr std::string_view chips[] = {"b200", "gh200", "h200"};
  CHECK(io::edit_distance("H200", "h200") == 0);
  CHECK(io::nearest_word("H200", chips) == "h200");
}

TEST_CASE("what is written through a link is the file behind it, which need not be there yet") {
  namespace fs = std::filesystem;
  const test::TemporaryFolder folder;
  const auto link = folder.path() / "link.txt", next = folder.path() / "next.txt", file = folder.path() / "file.txt";
  fs::create_symlink("next.txt", link);
  fs::create_symlink("file.txt", next);
  for (const char* text : {"first", "second"}) {
    CHECK(!io::write_file_atomically(link, text));
    CHECK(fs::is_symlink(link));
    CHECK(fs::is_symlink(next));
    CHECK(test::text_of(file) == text);
  }
  const auto loop = folder.path() / "loop.txt";
  fs::create_symlink("loop.txt", loop);
  CHECK(io::write_file_atomically(loop, "x").has_value());
  CHECK(fs::is_symlink(loop));
}

TEST_CASE("a file is written whole or not at all") {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "out.txt";
  CHECK(!io::write_file_atomically(file, "first"));
  CHECK(!io::write_file_atomically(file, "second"));
  CHECK(test::text_of(file) == "second");
  CHECK(folder.count() == 1);
  CHECK(test::in_english(io::write_file_atomically(folder.path(), "x")->message) ==
        "cannot be written: it is a folder");
  const auto nowhere = io::write_file_atomically(folder.path() / "none" / "out.txt", "x");
  REQUIRE(nowhere);
  CHECK(test::in_english(nowhere->message).starts_with("cannot be written: "));
  CHECK(folder.count() == 1);
}

TEST_CASE("a written file keeps its mode, and a link stays a link") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("out.txt", "old");
  REQUIRE(::chmod(file.c_str(), 0640) == 0);
  std::filesystem::create_symlink(file, folder.path() / "link");
  CHECK(!io::write_file_atomically(folder.path() / "link", "new"));
  CHECK(std::filesystem::is_symlink(folder.path() / "link"));
  CHECK(test::text_of(file) == "new");
  struct stat status {};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("a device is written to, not replaced") {
  CHECK(!io::write_file_atomically("/dev/null", "x"));
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("reading names what is wrong with a file") {
  const test::TemporaryFolder folder;
  CHECK(test::in_english(io::read_file(folder.path() / "none").error().message) == "there is no such file");
  CHECK(test::in_english(io::read_file(folder.path()).error().message) == "is a folder");
  CHECK(test::in_english(io::read_file(folder.write("big", std::string(5000, 'x')), 4096).error().message)
            .starts_with("larger than"));
  CHECK(io::read_file(folder.write("empty", "")).value().empty());
}

TEST_CASE("flat maps of texts") {
  const auto map = io::read_flat_map(R"({"a": "x", "b": 1.5, "c": true})", "f.json");
  REQUIRE(map.ok());
  CHECK(map.value().at("a") == "x");
  CHECK(map.value().at("b") == "1.5");
  CHECK(test::in_english(io::read_flat_map(R"({"a": {}})", "f.json").error()) ==
        "f.json: a: is an object; expected a text");
}

TEST_CASE("the JSON files of the tree are compiled in, byte for byte") {
  std::size_t count = 0;
  for (const io::Resource& resource : io::embedded_resources()) {
    CAPTURE(resource.path);
    CHECK(test::text_of(test::source_dir() / resource.path) == resource.text);
    ++count;
  }
  CHECK(count >= 16);
  CHECK(io::embedded_text("presets/chips/none.json").empty());
}

}  // namespace
}  // namespace roofscape
