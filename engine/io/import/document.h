// A configuration file as a tree of maps, lists and scalars that knows the line of everything, whatever syntax it was
// written in (YAML, TOML, JSON). For the .cpp files of engine/io.
//
// Input is hostile until proven otherwise: UTF-8 is checked, size, depth and number of values are limited, a key that
// stands twice in one map is an error that names both lines. Nothing is evaluated and no file is included.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/io/json/result.h"

namespace roofscape::io {

// Launch files are small: two and a half thousand lines of configuration are a tenth of this.
inline constexpr std::size_t kMaxDocumentBytes = std::size_t{2} << 20;

struct Node {
  enum class Kind { null, boolean, number, text, list, map };

  Kind kind = Kind::null;
  std::string text;               // a scalar as it is written, without quotes
  double number = 0;              // of numbers; of booleans 0 or 1
  int line = 0;                   // from 1
  std::vector<std::string> keys;  // of a map, beside `items`
  std::vector<Node> items;        // of lists and maps

  bool is_map() const { return kind == Kind::map; }
  bool is_list() const { return kind == Kind::list; }
  bool is_scalar() const { return !is_map() && !is_list(); }
  bool is_null() const { return kind == Kind::null; }
  // A member of a map, or what lies at a path of them ("parallelism.tensor_parallel_degree"); null if it is not there.
  const Node* find(std::string_view key) const;
  const Node* at(std::string_view dotted_path) const;
};

Result<Node> read_yaml(std::string_view text, std::string_view file);
// All documents of a file, without those in which nothing stands.
Result<std::vector<Node>> read_yaml_documents(std::string_view text, std::string_view file);
// The one of a file that may have but one.
Result<Node> only_document(std::vector<Node> documents, std::string_view file);
Result<Node> read_toml(std::string_view text, std::string_view file);
Result<Node> read_json_document(std::string_view text, std::string_view file);

// A plain scalar by the rules that YAML and launch lines share: true and false, numbers with underscores between their
// digits ("32_768", "1.5e-4", ".01"), null, else a text.
Node plain_scalar(std::string_view written, int line);
// The number that a word is, by the same rules. None: it is no number, or not a finite one.
std::optional<double> plain_number(std::string_view written);

// What all readers ask of a text before they look at it: size and UTF-8. A byte order mark is taken off.
Failure check_text(std::string_view& text, std::string_view file);
// "line 3" as the place of an error.
InputError line_error(std::string_view file, int line, engine::Sentence message, engine::Sentence remedy = {});

}  // namespace roofscape::io
