#include "engine/io/json/json_text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "engine/base/utf8.h"

namespace roofscape::io {
namespace {

std::string place_of(std::string_view text, std::size_t at) {
  std::size_t line = 1, column = 1;
  for (std::size_t i = 0; i < at && i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++line;
      column = 1;
    } else if (!engine::continues_character(text[i])) {
      ++column;
    }
  }
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

// Builds the value as nlohmann's parser reports it, and stops at the first thing that is not allowed.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  bool null() override { return add(Json(nullptr)) != nullptr; }
  bool boolean(bool v) override { return add(Json(v)) != nullptr; }
  bool number_integer(number_integer_t v) override { return add(Json(v)) != nullptr; }
  bool number_unsigned(number_unsigned_t v) override { return add(Json(v)) != nullptr; }
  bool number_float(number_float_t v, const string_t&) override { return add(Json(v)) != nullptr; }
  bool string(string_t& v) override { return add(Json(std::move(v))) != nullptr; }
  bool binary(binary_t&) override { return fail({}, "binary data", ""); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    Level& level = stack_.back();
    level.key = name;
    if (level.value->contains(name)) return fail(path(), "the key stands twice", "keep one of them");
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) override {
    const std::size_t at = position == 0 ? 0 : position - 1;
    if (e.id == 406)
      return fail(place_of(text_, at), "a number is too large for any computer", "write a smaller one");
    const bool ended = text_.find_first_not_of(" \t\r\n", at) == std::string_view::npos;
    if (text_.find_first_not_of(" \t\r\n") == std::string_view::npos)
      return fail({}, "the file is empty", "write a JSON object");
    if (ended)
      return fail(place_of(text_, text_.size()), "the JSON text ends too early",
                  "close what is open, or copy the whole file");
    // A word is shown whole: NaN, Infinity and None are what other programs write.
    std::size_t size = 0;
    while (at + size < text_.size() && size < 20 && std::isalpha(static_cast<unsigned char>(text_[at + size])) != 0)
      ++size;
    return fail(place_of(text_, at),
                "not JSON: did not expect " + in_quotes(text_.substr(at, std::max<std::size_t>(1, size))),
                "check commas, quotation marks and brackets before it");
  }

  Json take() { return std::move(root_); }
  InputError error() const { return error_; }

 private:
  struct Level {
    Json* value;
    std::string key;
  };

  std::string path() const {
    std::string out;
    for (const Level& level : stack_) {
      const std::string step = level.value->is_array() ? std::to_string(level.value->size()) : level.key;
      if (!out.empty()) out += '.';
      out += step.size() > 60 ? step.substr(0, 60) : step;
    }
    return out;
  }
  bool fail(std::string where, std::string message, std::string remedy) {
    error_ = {std::string(file_), std::move(where), std::move(message), std::move(remedy)};
    return false;
  }
  Json* add(Json value) {
    if (++count_ > kMaxValues) {
      fail({}, "more than " + std::to_string(kMaxValues) + " values", "this is not a file of Roofscape");
      return nullptr;
    }
    if (stack_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Level& level = stack_.back();
    if (level.value->is_array()) {
      level.value->push_back(std::move(value));
      return &level.value->back();
    }
    return &((*level.value)[level.key] = std::move(value));
  }
  bool open(Json container) {
    if (stack_.size() >= static_cast<std::size_t>(kMaxDepth))
      return fail(path(), "nested deeper than " + std::to_string(kMaxDepth) + " levels",
                  "this is not a file of Roofscape");
    Json* added = add(std::move(container));
    if (added == nullptr) return false;
    stack_.push_back({added, {}});
    return true;
  }
  bool close() {
    stack_.pop_back();
    return true;
  }

  std::string_view text_, file_;
  Json root_;
  std::vector<Level> stack_;
  std::size_t count_ = 0;
  InputError error_;
};

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view file) {
  const auto fail = [&](std::string where, std::string message, std::string remedy) {
    return InputError{std::string(file), std::move(where), std::move(message), std::move(remedy)};
  };
  if (text.size() > kMaxTextBytes)
    return fail({}, "larger than " + std::to_string(kMaxTextBytes >> 20) + " MiB", "this is not a file of Roofscape");
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    return fail({}, "the text is UTF-16", "save it as UTF-8");
  if (const std::size_t bad = engine::first_invalid_utf8(text); bad != std::string_view::npos)
    return fail(place_of(text, bad), "not UTF-8 text", "save it as UTF-8");
  Builder builder(text, file);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) return builder.error();
  return builder.take();
}

bool is_utf8(std::string_view text) { return engine::first_invalid_utf8(text) == std::string_view::npos; }

std::string_view kind_name(const Json& value) {
  if (value.is_null()) return "null";
  if (value.is_boolean()) return "true or false";
  if (value.is_number()) return "a number";
  if (value.is_string()) return "a text";
  if (value.is_array()) return "a list";
  return "an object";
}

std::string shown(const Json& value) {
  if (value.is_string()) return in_quotes(value.get_ref<const std::string&>());
  if (value.is_primitive()) return value.dump();
  return std::string(kind_name(value));
}

OrderedJson number_json(double value) {
  if (value == std::floor(value) && std::abs(value) < 9.0e15) return static_cast<std::int64_t>(value);
  return value;
}

std::string text_member(const Json& object, std::string_view key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace roofscape::io
