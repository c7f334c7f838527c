// Files of measured operations: what is read, and what is said of those that cannot be.
#include <doctest/doctest.h>

#include "engine/io/import/measured_file.h"

#include "tests/capture_binding.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

namespace roofscape {
namespace {

std::string reading_error(std::string_view text) {
  const auto read = io::read_measured(text, "points.csv");
  return read ? "read" : test::in_english(read.error());
}

TEST_CASE("CSV: columns in any order, quoted names, commas, tabs and semicolons, line ends of any system") {
  const std::vector<engine::MeasuredOperation> expected{{"qkv, fused", 1e12, 2e9, 0.0025},
                                                        {"softmax", 3e9, 4e9, 0.001}};
  for (const char* text :
       {"name,flops,bytes,seconds\n\"qkv, fused\",1e12,2e9,2.5e-3\nsoftmax,3e9,4e9,1e-3\n",
        "seconds;bytes;flops;Name\r\n0.0025;2e9;1e12;qkv, fused\r\n\r\n0.001;4e9;3e9;softmax",
        "\xEF\xBB\xBFname\tFLOPS\tbytes\tseconds\nqkv, fused\t1e12\t2e9\t0.0025\nsoftmax \t3e9\t4e9\t0.001\n"}) {
    CAPTURE(text);
    const auto read = io::read_measured(text, "points.csv");
    REQUIRE(read);
    CHECK(read.value() == expected);
  }
}

TEST_CASE("JSON: a list of objects") {
  const auto read =
      io::read_measured(R"([{"name": "qkv", "flops": 1e12, "bytes": 2e9, "seconds": 0.0025}])", "points.json");
  REQUIRE(read);
  CHECK(read.value() == std::vector<engine::MeasuredOperation>{{"qkv", 1e12, 2e9, 0.0025}});
}

TEST_CASE("errors of measured files name the row and the column") {
  const std::pair<const char*, const char*> cases[] = {
      {"", "points.csv: line 1: unknown column \"\"; the columns are name, flops, bytes and seconds"},
      {"name,flops,bytes\n",
       "points.csv: line 1: has no column seconds; the columns are name, flops, bytes and seconds"},
      {"name,flops,byte,seconds\n", "points.csv: line 1: unknown column \"byte\"; did you mean \"bytes\"?"},
      {"name,flops,bytes,seconds,flops\n",
       "points.csv: line 1: column flops appears twice; the columns are name, flops, bytes and seconds"},
      {"name,flops,bytes,seconds\n",
       "points.csv: has no row of data; the columns are name, flops, bytes and seconds"},
      {"name,flops,bytes,seconds\na,1,2,3\nb,1,12x,3\n",
       "points.csv: row 2, column bytes: \"12x\" is not a number; write it as 1.5e12"},
      {"name,flops,bytes,seconds\na,1,2,0\n",
       "points.csv: row 1, column seconds: 0 is out of range; give a number above 0"},
      {"name,flops,bytes,seconds\na,1,nan,1\n",
       "points.csv: row 1, column bytes: nan is out of range; give a number above 0"},
      {"name,flops,bytes,seconds\na,b,1,2,3\n",
       "points.csv: row 1: has 5 columns instead of 4; put a name with a comma in quotation marks"},
      {"name,flops,bytes,seconds\n\"a,1,2,3\n", "points.csv: row 1: a quotation mark is not closed"},
      {"{}",
       "points.csv: is an object; give a list such as [{\"name\": \"qkv\", \"flops\": 1e12, \"bytes\": 1e9, "
       "\"seconds\": 0.002}]"},
      {R"([{"name": "a", "flops": 1, "bytes": "2", "seconds": 3}])",
       "points.csv: row 1, column bytes: \"2\" is not a number; write it as 1.5e12"},
      {R"([{"name": "a", "flops": 1, "seconds": 3}])",
       "points.csv: row 1: has no bytes; the columns are name, flops, bytes and seconds"},
      {R"([{"name": "a", "flop": 1}])", "points.csv: row 1: unknown column \"flop\"; did you mean \"flops\"?"},
      {"name,flops\xFF", "points.csv: not UTF-8 text; save it as UTF-8"},
  };
  for (const auto& [text, message] : cases) {
    CAPTURE_BINDING(text);
    CHECK(reading_error(text) == message);
  }
}

}  // namespace
}  // namespace roofscape
