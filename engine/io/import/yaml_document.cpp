// YAML by yaml-cpp, as a Node.
#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "engine/io/import/document.h"
#include "engine/io/json/json_text.h"

namespace roofscape::io {

using engine::say;
using engine::say_count;

namespace {

class YamlNodes {
 public:
  explicit YamlNodes(std::string_view file) : file_(file) {}

  Result<Node> read(const YAML::Node& yaml, int depth = 0) {
    if (++count_ > kMaxValues)
      return error(0, say_count("error.json.values", kMaxValues), say("error.file.not_ours"));
    const int line = yaml.Mark().line + 1;
    if (depth > kMaxDepth) return error(line, say_count("error.json.levels", kMaxDepth), say("error.file.not_ours"));
    Node out;
    out.line = line;
    switch (yaml.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        return out;
      case YAML::NodeType::Scalar:
        if (yaml.Tag() == "!") {  // quoted
          out.kind = Node::Kind::text;
          out.text = yaml.Scalar();
          return out;
        }
        return plain_scalar(yaml.Scalar(), line);
      case YAML::NodeType::Sequence:
        out.kind = Node::Kind::list;
        for (const auto& item : yaml) {
          auto inner = read(item, depth + 1);
          if (!inner) return inner;
          out.items.push_back(std::move(inner).value());
        }
        return out;
      case YAML::NodeType::Map:
        return map(yaml, depth, line);
    }
    return out;
  }

 private:
  Result<Node> map(const YAML::Node& yaml, int depth, int line) {
    Node out;
    out.kind = Node::Kind::map;
    out.line = line;
    for (const auto& member : yaml) {
      const int at = member.first.Mark().line + 1;
      if (!member.first.IsScalar()) return error(at, say("error.yaml.key"), say("error.yaml.key.remedy"));
      const std::string& key = member.first.Scalar();
      for (std::size_t i = 0; i < out.keys.size(); ++i)
        if (out.keys[i] == key)
          return error(at, say("error.yaml.twice", in_quotes(key), out.items[i].line),
                       say("error.json.twice.remedy"));
      auto inner = read(member.second, depth + 1);
      if (!inner) return inner;
      if (inner->line <= 0) inner->line = at;
      out.keys.push_back(key);
      out.items.push_back(std::move(inner).value());
    }
    return out;
  }
  InputError error(int line, engine::Sentence message, engine::Sentence remedy) const {
    return line_error(file_, line, std::move(message), std::move(remedy));
  }

  std::string_view file_;
  std::size_t count_ = 0;
};

}  // namespace

Result<Node> read_yaml(std::string_view text, std::string_view file) {
  if (auto failure = check_text(text, file)) return *failure;
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.empty())
      return InputError{std::string(file), {}, say("error.json.empty"), say("error.yaml.remedy")};
    if (documents.size() > 1)
      return InputError{
          std::string(file), {}, say("error.yaml.several", documents.size()), say("error.yaml.several.remedy")};
    return YamlNodes(file).read(documents.front());
  } catch (const YAML::Exception& e) {
    return line_error(file, e.mark.is_null() ? 0 : e.mark.line + 1, say("error.yaml.syntax", e.msg),
                      say("error.yaml.remedy"));
  }
}

}  // namespace roofscape::io
