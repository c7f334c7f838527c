// YAML, TOML and JSON as one tree with lines, and what hostile texts are answered with.
#include "engine/io/import/document.h"

#include <doctest/doctest.h>

#include "tests/english.h"

using namespace roofscape;
using io::Node;

namespace {

std::string error_of(const io::Result<Node>& result) {
  return result ? "" : io::to_text(result.error(), test::english());
}

Node yaml(std::string_view text) {
  const auto node = io::read_yaml(text, "f");
  CHECK(error_of(node) == "");
  return node ? node.value() : Node{};
}
Node toml(std::string_view text) {
  const auto node = io::read_toml(text, "f");
  CHECK(error_of(node) == "");
  return node ? node.value() : Node{};
}

}  // namespace

TEST_CASE("a value of YAML has the line of its key") {
  const Node node = yaml("a: 1\nb:\n  # a comment\n  c: [x, y]\n  d: 'text'\n");
  CHECK(node.line == 1);
  CHECK(node.at("a")->line == 1);
  CHECK(node.at("b")->line == 2);
  CHECK(node.at("b.c")->line == 4);
  CHECK(node.at("b.d")->line == 5);
  CHECK(node.at("b.c")->items.size() == 2);
  CHECK(node.at("b.e") == nullptr);
  CHECK(node.at("a.x") == nullptr);
}

TEST_CASE("plain scalars of YAML are numbers, truths, nulls or texts, and quoted ones are texts") {
  const Node node = yaml("a: 10_000\nb: 1.5e-4\nc: False\nd: null\ne: '8'\nf: 8x22b\ng: .01\nh: 1e999\ni: yes\n");
  CHECK(node.at("a")->number == 10000);
  CHECK(node.at("a")->text == "10_000");
  CHECK(node.at("b")->number == 1.5e-4);
  CHECK(node.at("c")->kind == Node::Kind::boolean);
  CHECK(node.at("d")->is_null());
  CHECK(node.at("e")->kind == Node::Kind::text);
  CHECK(node.at("f")->text == "8x22b");
  CHECK(node.at("g")->number == 0.01);
  CHECK(node.at("h")->kind == Node::Kind::text);
  CHECK(node.at("i")->number == 1);
}

TEST_CASE("numbers are written with digits, one point, an exponent and underscores between digits") {
  CHECK(io::plain_number("32_768") == 32768);
  CHECK(io::plain_number("+5") == 5);
  CHECK(io::plain_number("-1") == -1);
  CHECK(io::plain_number("1e14") == 1e14);
  for (const char* word : {"", "_1", "1_", "1__0", "inf", "nan", "-inf", "0x10", "1 2", "1.2.3", "+-1", "-", "."})
    CHECK_MESSAGE(!io::plain_number(word), std::string(word));
}

TEST_CASE("an alias of YAML stands for its anchor, and << puts in what is missing") {
  const Node node = yaml("base: &b {x: 1, y: 2}\nother:\n  <<: *b\n  y: 3\nsame: *b\n");
  CHECK(node.at("other.x")->number == 1);
  CHECK(node.at("other.y")->number == 3);
  CHECK(node.at("same.y")->number == 2);
}

TEST_CASE("a key of YAML that appears twice is refused with both lines") {
  CHECK(error_of(io::read_yaml("a:\n  tp: 1\n  b: 2\n  tp: 4\n", "f.yaml")) ==
        "f.yaml: a.tp: line 4: \"tp\" appears twice, first on line 2; keep one of them");
}

TEST_CASE("aliases that grow into millions of values are refused") {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j == 0 ? "*a" : ", *a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  CHECK(error_of(io::read_yaml(bomb, "f")) ==
        "f: line 6: more than 200000 values; a launch file is smaller: check that it is one");
}

TEST_CASE("objects of other languages are refused") {
  CHECK(error_of(io::read_yaml("a: !!python/object/apply:os.system [ls]\n", "f")).find("f: line 1: the tag ") == 0);
}

TEST_CASE("texts nested deeper than any launch file are refused, whatever the syntax") {
  const std::string deep(100'000, '[');
  CHECK(error_of(io::read_yaml(deep, "f")).find("f: line 1: ") == 0);
  CHECK(error_of(io::read_yaml("a: " + deep, "f")).find("f: line 1: ") == 0);
  CHECK(error_of(io::read_toml("a = " + deep, "f")).find("f: line 1: ") == 0);
  CHECK(error_of(io::read_json_document(deep, "f")).find("f: ") == 0);
  std::string dotted = "a";
  for (int i = 0; i < 300'000; ++i) dotted += ".a";
  CHECK(error_of(io::read_toml(dotted + " = 1", "f")) ==
        "f: line 1: nested deeper than 200 levels; a launch file is smaller: check that it is one");
  CHECK(error_of(io::read_toml("[" + dotted + "]", "f")).find("f: line 1: ") == 0);
}

TEST_CASE("other encodings, zero bytes and huge texts are refused in one line") {
  for (const auto read : {io::read_yaml, io::read_toml, io::read_json_document}) {
    CHECK(error_of(read("\xff\xfe"
                        "a\0",
                        "f")) == "f: the text is UTF-16; save it as UTF-8");
    CHECK(error_of(read(std::string_view("a: 1\n\0", 6), "f")) ==
          "f: line 2: holds a zero byte: it is no text; save it as UTF-8");
    CHECK(error_of(read("# x\n\xc3\x28", "f")) == "f: line 2: not UTF-8 text; save it as UTF-8");
    CHECK(error_of(read(std::string(std::size_t{3} << 20, ' '), "f")) ==
          "f: larger than 2 MiB; a launch file is smaller: check that it is one");
  }
}

TEST_CASE("a byte order mark is taken off") {
  CHECK(yaml("\xef\xbb\xbf"
             "a: 1\n")
            .at("a")
            ->number == 1);
  CHECK(toml("\xef\xbb\xbf"
             "a = 1\n")
            .at("a")
            ->number == 1);
  CHECK(io::read_json_document("\xef\xbb\xbf{\"a\": 1}", "f").value().at("a")->number == 1);
}

TEST_CASE("a value of TOML has its line, and a number stands as it is written") {
  const Node node =
      toml("# head\n[training]\nseq_len = 32_768\nlr = 2.2e-4\n\n[a.b]\nc = 'op'\nd = [\"x\",\n 2]\ne = true\n");
  CHECK(node.at("training.seq_len")->number == 32768);
  CHECK(node.at("training.seq_len")->text == "32_768");
  CHECK(node.at("training.seq_len")->line == 3);
  CHECK(node.at("training.lr")->text == "2.2e-4");
  CHECK(node.at("a.b.c")->text == "op");
  CHECK(node.at("a.b.d")->items[1].number == 2);
  CHECK(node.at("a.b.e")->number == 1);
  CHECK(toml("[t]\na = inf\n").at("t.a")->kind == Node::Kind::text);
}

TEST_CASE("a table of TOML that appears twice is refused by its name") {
  const std::string error = error_of(io::read_toml("[training]\na = 1\n[training]\nb = 2\n", "f.toml"));
  CHECK(error.find("f.toml: line 3: is not valid TOML: ") == 0);
  CHECK(error.find("training") != std::string::npos);
}

TEST_CASE("broken YAML and TOML are named with their line") {
  CHECK(error_of(io::read_yaml("a: 1\nb: [1, 2\nc: 3\n", "f")).find("f: line ") == 0);
  CHECK(error_of(io::read_toml("[a\nb = 1\n", "f")).find("f: line 1: is not valid TOML: ") == 0);
  CHECK(error_of(io::read_yaml("a: 1\n---\nb: 2\n", "f")) ==
        "f: line 3: a second document begins here; keep the one that is meant in a file of its own");
}

TEST_CASE("a value of JSON has the line of its key") {
  const auto node = io::read_json_document("{\n \"a\": 1e9,\n \"b\":\n {\"c\": \"auto\",\n  \"d\": [1,\n2]}}\n", "f");
  REQUIRE(node.ok());
  CHECK(node.value().at("a")->line == 2);
  CHECK(node.value().at("a")->text == "1e9");
  CHECK(node.value().at("b")->line == 3);
  CHECK(node.value().at("b.c")->line == 4);
  CHECK(node.value().at("b.d")->line == 5);
  CHECK(node.value().at("b.d")->items[1].line == 6);
}
