#include "engine/io/import/document.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/base/utf8.h"
#include "engine/io/json/json_text.h"

namespace roofscape::io {

using engine::say;
using engine::Sentence;

const Node* Node::find(std::string_view key) const {
  if (kind != Kind::map) return nullptr;
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == key) return &items[i];
  return nullptr;
}

const Node* Node::at(std::string_view dotted_path) const {
  const Node* node = this;
  while (node != nullptr) {
    const std::size_t dot = dotted_path.find('.');
    node = node->find(dotted_path.substr(0, dot));
    if (dot == std::string_view::npos) return node;
    dotted_path.remove_prefix(dot + 1);
  }
  return nullptr;
}

InputError line_error(std::string_view file, int line, Sentence message, Sentence remedy) {
  return {
      std::string(file), {}, std::move(message), std::move(remedy), line > 0 ? say("import.line", line) : Sentence()};
}

Failure check_text(std::string_view& text, std::string_view file) {
  const auto fail = [&](Sentence message, Sentence remedy) {
    return InputError{std::string(file), {}, std::move(message), std::move(remedy)};
  };
  if (text.size() > kMaxDocumentBytes)
    return fail(say("error.file.larger", kMaxDocumentBytes >> 20), say("error.document.larger.remedy"));
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    return fail(say("error.file.utf16"), say("error.file.utf8.remedy"));
  const auto line_of = [&](std::size_t at) {
    return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  };
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    return line_error(file, line_of(zero), say("error.document.binary"), say("error.file.utf8.remedy"));
  if (const std::size_t bad = engine::first_invalid_utf8(text); bad != std::string_view::npos)
    return line_error(file, line_of(bad), say("error.file.not_utf8"), say("error.file.utf8.remedy"));
  return std::nullopt;
}

std::optional<double> plain_number(std::string_view written) {
  if (written.starts_with('+')) {
    written.remove_prefix(1);
    if (written.starts_with('-')) return std::nullopt;
  }
  if (written.size() > 64 || written.find_first_of("0123456789") == std::string_view::npos) return std::nullopt;
  std::string digits;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const char c = written[i];
    const auto digit = [&](std::size_t k) {
      return k < written.size() && std::isdigit(static_cast<unsigned char>(written[k])) != 0;
    };
    if (c == '_' && i > 0 && digit(i - 1) && digit(i + 1)) continue;
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 &&
        std::string_view(".eE+-").find(c) == std::string_view::npos)
      return std::nullopt;
    digits += c;
  }
  if (digits.starts_with('.')) digits.insert(0, 1, '0');
  if (digits.starts_with("-.")) digits.insert(1, 1, '0');
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

Node plain_scalar(std::string_view written, int line) {
  Node node;
  node.text = std::string(written);
  node.line = line;
  node.kind = Node::Kind::text;
  if (written.empty() || written == "~" || written == "null" || written == "Null" || written == "NULL") {
    node.kind = Node::Kind::null;
  } else if (written == "true" || written == "True" || written == "TRUE" || written == "false" ||
             written == "False" || written == "FALSE") {
    node.kind = Node::Kind::boolean;
    node.number = written[0] == 't' || written[0] == 'T' ? 1 : 0;
  } else if (const auto number = plain_number(written)) {
    node.kind = Node::Kind::number;
    node.number = *number;
  }
  return node;
}

namespace {

// Counts the lines that the parser has taken in.
struct LineIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at = nullptr;
  int* line = nullptr;

  reference operator*() const { return *at; }
  LineIterator& operator++() {
    if (*at == '\n') ++*line;
    ++at;
    return *this;
  }
  LineIterator operator++(int) {
    LineIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const LineIterator& other) const { return at == other.at; }
  bool operator!=(const LineIterator& other) const { return at != other.at; }
};

class JsonNodes final : public nlohmann::json_sax<Json> {
 public:
  explicit JsonNodes(const int& line) : line_(line) {}

  bool null() override { return add({}, Node::Kind::null, 0); }
  bool boolean(bool v) override { return add(v ? "true" : "false", Node::Kind::boolean, v ? 1 : 0); }
  bool number_integer(number_integer_t v) override {
    return add(std::to_string(v), Node::Kind::number, static_cast<double>(v));
  }
  bool number_unsigned(number_unsigned_t v) override {
    return add(std::to_string(v), Node::Kind::number, static_cast<double>(v));
  }
  bool number_float(number_float_t v, const string_t& written) override {
    return add(written, Node::Kind::number, v);
  }
  bool string(string_t& v) override { return add(std::move(v), Node::Kind::text, 0); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Node::Kind::map); }
  bool start_array(std::size_t) override { return open(Node::Kind::list); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    stack_.back().keys.push_back(name);
    key_line_ = line_;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

  Node take() { return std::move(root_); }

 private:
  bool put(Node node) {
    if (stack_.empty())
      root_ = std::move(node);
    else
      stack_.back().items.push_back(std::move(node));
    return true;
  }
  bool add(std::string text, Node::Kind kind, double number) {
    Node node;
    node.kind = kind;
    node.text = std::move(text);
    node.number = number;
    node.line = line();
    return put(std::move(node));
  }
  bool open(Node::Kind kind) {
    Node node;
    node.kind = kind;
    node.line = line();
    stack_.push_back(std::move(node));
    return true;
  }
  bool close() {
    Node node = std::move(stack_.back());
    stack_.pop_back();
    return put(std::move(node));
  }

  // A member's is that of its key.
  int line() const { return !stack_.empty() && stack_.back().is_map() ? key_line_ : line_; }

  const int& line_;
  int key_line_ = 1;
  Node root_;
  std::vector<Node> stack_;
};

}  // namespace

Result<Node> read_json_document(std::string_view text, std::string_view file) {
  if (auto failure = check_text(text, file)) return *failure;
  // The strict reader first: its messages, its limits.
  if (const auto checked = parse_json(text, file); !checked) return checked.error();
  int line = 1;
  JsonNodes nodes(line);
  Json::sax_parse(LineIterator{text.data(), &line}, LineIterator{text.data() + text.size(), &line}, &nodes);
  return nodes.take();
}

}  // namespace roofscape::io
