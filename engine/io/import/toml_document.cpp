#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "engine/io/import/document.h"
#include "engine/io/json/json_text.h"

namespace roofscape::io {

using engine::say;
using engine::say_count;

namespace {

// Parts of one dotted key. The parser makes a table of each, one inside the other, without a limit of its own.
constexpr int kMostKeyParts = 200;

// The line of a dotted key of more parts; 0: there is none.
int line_of_long_key(std::string_view text) {
  int line = 1, parts = 0;
  for (const char c : text) {
    if (c == '\n') ++line;
    if (c == '.')
      ++parts;
    else if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-' && c != ' ' && c != '\t' &&
             c != '"' && c != '\'')
      parts = 0;
    if (parts > kMostKeyParts) return line;
  }
  return 0;
}

class TomlReader {
 public:
  TomlReader(std::string_view text, std::string_view file) : file_(file) {
    std::size_t begin = 0;
    while (begin <= text.size()) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      lines_.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  }

  Result<Node> read(const toml::table& table) {
    Node out = node_of(table, 0, 1);
    if (failure_) return *std::move(failure_);
    return out;
  }

 private:
  static int line_at(const toml::source_region& source) { return static_cast<int>(source.begin.line); }

  // A number as the file has it ("32_768"), which the parser does not keep.
  std::string written(const toml::source_region& source, double value, std::string fallback) const {
    const std::size_t line = source.begin.line, from = source.begin.column, to = source.end.column;
    if (line == 0 || line != source.end.line || line > lines_.size() || from == 0 || to <= from) return fallback;
    const std::string_view row = lines_[line - 1];
    if (to - 1 > row.size()) return fallback;
    const std::string out(row.substr(from - 1, to - from));
    return plain_number(out) == value ? out : fallback;
  }

  Node node_of(const toml::node& value, int depth, int line) {
    Node out;
    out.line = line;
    if (failure_) return out;
    if (++values_ > kMaxValues || depth > kMaxDepth) {
      failure_ = line_error(
          file_, line,
          depth > kMaxDepth ? say_count("error.json.levels", kMaxDepth) : say_count("error.json.values", kMaxValues),
          say("error.document.larger.remedy"));
      return out;
    }
    if (const toml::table* table = value.as_table()) {
      out.kind = Node::Kind::map;
      for (const auto& [key, item] : *table) {
        out.keys.emplace_back(key.str());
        const int at = line_at(key.source());
        out.items.push_back(node_of(item, depth + 1, at > 0 ? at : line_at(item.source())));
      }
    } else if (const toml::array* list = value.as_array()) {
      out.kind = Node::Kind::list;
      for (const auto& item : *list) out.items.push_back(node_of(item, depth + 1, line_at(item.source())));
    } else if (const auto* text = value.as_string()) {
      out.kind = Node::Kind::text;
      out.text = text->get();
    } else if (const auto* truth = value.as_boolean()) {
      out.kind = Node::Kind::boolean;
      out.number = truth->get() ? 1 : 0;
      out.text = truth->get() ? "true" : "false";
    } else if (const auto* whole = value.as_integer()) {
      number(out, value.source(), static_cast<double>(whole->get()), std::to_string(whole->get()));
    } else if (const auto* real = value.as_floating_point()) {
      number(out, value.source(), real->get(), fmt::format("{:g}", real->get()));
    } else {
      out.kind = Node::Kind::text;  // dates and times
    }
    return out;
  }
  // What is no finite number counts as a text, which no size can be.
  void number(Node& out, const toml::source_region& source, double value, std::string fallback) const {
    const bool finite = std::isfinite(value);
    out.kind = finite ? Node::Kind::number : Node::Kind::text;
    out.number = finite ? value : 0;
    out.text = finite ? written(source, value, std::move(fallback)) : std::move(fallback);
  }

  std::string_view file_;
  std::vector<std::string_view> lines_;
  std::size_t values_ = 0;
  Failure failure_;
};

}  // namespace

Result<Node> read_toml(std::string_view text, std::string_view file) {
  if (auto failure = check_text(text, file)) return *std::move(failure);
  if (const int line = line_of_long_key(text); line > 0)
    return line_error(file, line, say_count("error.json.levels", kMostKeyParts), say("error.document.larger.remedy"));
  try {
    const toml::table table = toml::parse(text);
    return TomlReader(text, file).read(table);
  } catch (const toml::parse_error& e) {
    return line_error(file, static_cast<int>(e.source().begin.line),
                      say("error.toml.syntax", std::string(e.description())), say("error.toml.remedy"));
  }
}

}  // namespace roofscape::io
