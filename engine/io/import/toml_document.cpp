// TOML by toml++, as a Node.
#include <toml++/toml.h>

#include <sstream>

#include "engine/io/import/document.h"
#include "engine/io/json/json_text.h"

namespace roofscape::io {

using engine::say;
using engine::say_count;

namespace {

class TomlNodes {
 public:
  explicit TomlNodes(std::string_view file) : file_(file) {}

  Result<Node> read(const toml::node& toml, int depth = 0) {
    const int line = static_cast<int>(toml.source().begin.line);
    if (++count_ > kMaxValues)
      return line_error(file_, 0, say_count("error.json.values", kMaxValues), say("error.file.not_ours"));
    if (depth > kMaxDepth)
      return line_error(file_, line, say_count("error.json.levels", kMaxDepth), say("error.file.not_ours"));
    Node out;
    out.line = line;
    if (const toml::table* table = toml.as_table()) {
      out.kind = Node::Kind::map;
      for (const auto& [key, value] : *table) {
        auto inner = read(value, depth + 1);
        if (!inner) return inner;
        out.keys.emplace_back(key.str());
        out.items.push_back(std::move(inner).value());
      }
    } else if (const toml::array* array = toml.as_array()) {
      out.kind = Node::Kind::list;
      for (const toml::node& item : *array) {
        auto inner = read(item, depth + 1);
        if (!inner) return inner;
        out.items.push_back(std::move(inner).value());
      }
    } else if (const auto* text = toml.as_string()) {
      out.kind = Node::Kind::text;
      out.text = text->get();
    } else if (const auto* flag = toml.as_boolean()) {
      out.kind = Node::Kind::boolean;
      out.number = flag->get() ? 1 : 0;
      out.text = flag->get() ? "true" : "false";
    } else if (const auto* whole = toml.as_integer()) {
      out.kind = Node::Kind::number;
      out.number = static_cast<double>(whole->get());
      out.text = std::to_string(whole->get());
    } else if (const auto* real = toml.as_floating_point()) {
      std::ostringstream written;
      written << real->get();
      out.text = written.str();
      out.kind = plain_number(out.text) ? Node::Kind::number : Node::Kind::text;  // inf and nan are no numbers here
      out.number = out.kind == Node::Kind::number ? real->get() : 0;
    } else {  // dates and times
      std::ostringstream written;
      written << toml::node_view<const toml::node>(toml);
      out.kind = Node::Kind::text;
      out.text = written.str();
    }
    return out;
  }

 private:
  std::string_view file_;
  std::size_t count_ = 0;
};

}  // namespace

Result<Node> read_toml(std::string_view text, std::string_view file) {
  if (auto failure = check_text(text, file)) return *failure;
  try {
    const toml::table table = toml::parse(text, file);
    return TomlNodes(file).read(table);
  } catch (const toml::parse_error& e) {
    return line_error(file, static_cast<int>(e.source().begin.line),
                      say("error.toml.syntax", std::string(e.description())), say("error.toml.remedy"));
  }
}

}  // namespace roofscape::io
