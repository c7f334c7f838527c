#include <cctype>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "engine/io/import/document.h"
#include "engine/io/json/json_text.h"

namespace roofscape::io {

using engine::say;
using engine::say_count;

namespace {

// Thrown by the handler to stop the parser, and caught where the parser is called.
struct YamlStop {
  InputError error;
};

int yaml_line(const YAML::Mark& mark) { return mark.line + 1; }

class YamlBuilder final : public YAML::EventHandler {
 public:
  explicit YamlBuilder(std::string_view file) : file_(file) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override { anchors_.clear(); }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { scalar(mark, anchor, plain_scalar("", 0)); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_tag(mark, tag);
    Node node;
    if (tag.empty() || tag == "?") {
      node = plain_scalar(value, 0);
      // The words of YAML 1.1, which PyYAML reads.
      for (const std::string_view word :
           {"yes", "Yes", "YES", "on", "On", "ON", "no", "No", "NO", "off", "Off", "OFF"})
        if (value == word) {
          node.kind = Node::Kind::boolean;
          node.number = std::tolower(word[0]) == 'y' || (word.size() == 2 && std::tolower(word[0]) == 'o') ? 1 : 0;
        }
    } else {
      node.kind = Node::Kind::text;
      node.text = value;
    }
    scalar(mark, anchor, std::move(node));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) fail(mark, say("error.yaml.alias"), say("error.yaml.alias.remedy"));
    Node copy = found->second;
    count(mark, size_of(copy));
    value(mark, std::move(copy));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Node::Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Node::Kind::map);
  }
  void OnMapEnd() override { close(); }

  Node take() { return std::exchange(root_, {}); }

 private:
  struct Level {
    Node node;
    YAML::anchor_t anchor = 0;
    std::optional<std::string> key;  // of a map: the one whose value comes next
    int key_line = 0;
    std::map<std::string, int, std::less<>> lines;  // of the keys so far
    std::vector<Node> merged;                       // what "<<" names
  };

  [[noreturn]] void fail(const YAML::Mark& mark, engine::Sentence message, engine::Sentence remedy = {}) const {
    throw YamlStop{line_error(file_, yaml_line(mark), std::move(message), std::move(remedy))};
  }
  static std::size_t size_of(const Node& node) {
    std::size_t size = 1;
    for (const Node& item : node.items) size += size_of(item);
    return size;
  }
  // Aliases count as what they repeat, so that a few lines cannot stand for millions of values.
  void count(const YAML::Mark& mark, std::size_t values) {
    values_ += values;
    if (values_ > kMaxValues)
      fail(mark, say_count("error.json.values", kMaxValues), say("error.document.larger.remedy"));
  }
  // Types of the language that wrote the file are objects to be made, which is not done here.
  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    const bool plain = tag.empty() || tag == "?" || tag == "!" || tag.starts_with("tag:yaml.org,2002:");
    if (plain && tag.find("python") == std::string::npos) return;
    fail(mark, say("error.yaml.tag", in_quotes(tag)), say("error.yaml.tag.remedy"));
  }
  void scalar(const YAML::Mark& mark, YAML::anchor_t anchor, Node node) {
    node.line = yaml_line(mark);
    count(mark, 1);
    if (anchor != 0) anchors_[anchor] = node;
    value(mark, std::move(node));
  }
  void value(const YAML::Mark& mark, Node node) {
    if (levels_.empty()) {
      root_ = std::move(node);
      return;
    }
    Level& level = levels_.back();
    if (level.node.is_list()) {
      level.node.items.push_back(std::move(node));
      return;
    }
    if (!level.key) {
      if (!node.is_scalar()) fail(mark, say("error.yaml.key"), say("error.yaml.key.remedy"));
      const int line = yaml_line(mark);
      if (const auto [place, is_new] = level.lines.emplace(node.text, line); !is_new && node.text != "<<")
        throw YamlStop{{std::string(file_), in_path(node.text),
                        say("error.yaml.twice", in_quotes(node.text), place->second), say("error.json.twice.remedy"),
                        say("import.line", line)}};
      level.key = node.text;
      level.key_line = line;
      return;
    }
    if (*level.key == "<<" && (node.is_map() || node.is_list())) {
      if (node.is_map())
        level.merged.push_back(std::move(node));
      else
        for (Node& item : node.items) level.merged.push_back(std::move(item));
    } else {
      node.line = level.key_line;
      level.node.keys.push_back(*std::move(level.key));
      level.node.items.push_back(std::move(node));
    }
    level.key.reset();
  }
  // A key in its place, for messages.
  std::string in_path(const std::string& key) const {
    std::string path;
    for (std::size_t i = 0; i + 1 < levels_.size(); ++i)
      if (levels_[i].key) path += *levels_[i].key + ".";
    return path + key;
  }
  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Node::Kind kind) {
    check_tag(mark, tag);
    if (levels_.size() >= static_cast<std::size_t>(kMaxDepth))
      fail(mark, say_count("error.json.levels", kMaxDepth), say("error.document.larger.remedy"));
    count(mark, 1);
    Level level;
    level.node.kind = kind;
    level.node.line = yaml_line(mark);
    level.anchor = anchor;
    levels_.push_back(std::move(level));
  }
  void close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    for (Node& from : level.merged)
      for (std::size_t i = 0; i < from.keys.size(); ++i)
        if (level.node.find(from.keys[i]) == nullptr) {
          level.node.keys.push_back(std::move(from.keys[i]));
          level.node.items.push_back(std::move(from.items[i]));
        }
    if (level.anchor != 0) anchors_[level.anchor] = level.node;
    YAML::Mark mark;
    mark.line = level.node.line - 1;
    value(mark, std::move(level.node));
  }

  std::string_view file_;
  std::size_t values_ = 0;
  std::vector<Level> levels_;
  std::map<YAML::anchor_t, Node> anchors_;
  Node root_;
};

}  // namespace

Result<std::vector<Node>> read_yaml_documents(std::string_view text, std::string_view file) {
  if (auto failure = check_text(text, file)) return *std::move(failure);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    std::vector<Node> out;
    YamlBuilder builder(file);
    while (parser.HandleNextDocument(builder)) {
      Node document = builder.take();
      if (out.empty() || !document.is_null()) out.push_back(std::move(document));
    }
    if (out.empty()) return InputError{std::string(file), {}, say("error.json.empty"), say("error.yaml.remedy")};
    return out;
  } catch (const YamlStop& stop) {
    return stop.error;
  } catch (const YAML::Exception& e) {
    return line_error(file, e.mark.line >= 0 ? yaml_line(e.mark) : 0, say("error.yaml.syntax", e.msg),
                      say("error.yaml.remedy"));
  }
}

Result<Node> read_yaml(std::string_view text, std::string_view file) {
  auto documents = read_yaml_documents(text, file);
  if (!documents) return documents.error();
  return only_document(std::move(documents).value(), file);
}

Result<Node> only_document(std::vector<Node> documents, std::string_view file) {
  if (documents.size() > 1)
    return line_error(file, documents[1].line, say("error.yaml.several"), say("error.yaml.several.remedy"));
  return std::move(documents.front());
}

}  // namespace roofscape::io
