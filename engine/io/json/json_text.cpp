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

using engine::say;
using engine::say_count;
using engine::Sentence;

namespace {

engine::Sentence place_of(std::string_view text, std::size_t at) {
  std::size_t line = 1, column = 1;
  for (std::size_t i = 0; i < at && i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++line;
      column = 1;
    } else if (!engine::continues_character(text[i])) {
      ++column;
    }
  }
  return say("error.json.line", line, column);
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
  bool binary(binary_t&) override { return fail({}, say("error.json.binary")); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    Level& level = stack_.back();
    const auto [member, fresh] = level.value->get_ref<Json::object_t&>().try_emplace(std::move(name));
    level.member = &*member;
    if (!fresh) return fail(path(), say("error.json.twice"), say("error.json.twice.remedy"));
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) override {
    const std::size_t at = position == 0 ? 0 : position - 1;
    if (e.id == 406) {
      fail_at(place_of(text_, at), say("error.json.too_large"), say("error.json.too_large.remedy"));
      error_.path = path();
      return false;
    }
    const bool ended = text_.find_first_not_of(" \t\r\n", at) == std::string_view::npos;
    if (text_.find_first_not_of(" \t\r\n") == std::string_view::npos)
      return fail({}, say("error.json.empty"), say("error.json.empty.remedy"));
    if (ended) return fail_at(place_of(text_, text_.size()), say("error.json.ends"), say("error.json.ends.remedy"));
    // A word is shown whole: NaN, Infinity and None are what other programs write.
    std::size_t size = 0;
    while (at + size < text_.size() && size < 20 && std::isalpha(static_cast<unsigned char>(text_[at + size])) != 0)
      ++size;
    return fail_at(place_of(text_, at),
                   say("error.json.unexpected", in_quotes(text_.substr(at, std::max<std::size_t>(1, size)))),
                   say("error.json.unexpected.remedy"));
  }

  Json take() { return std::move(root_); }
  InputError error() const { return error_; }

 private:
  struct Level {
    Json* value;
    Json::object_t::value_type* member = nullptr;  // of an object, the one that is being read
  };

  std::string path() const {
    std::string out;
    for (const Level& level : stack_) {
      const std::string step = level.value->is_array()   ? std::to_string(level.value->size())
                               : level.member != nullptr ? level.member->first
                                                         : std::string();
      if (!out.empty()) out += '.';
      out += engine::whole_characters(step, 60);
    }
    return out;
  }
  bool fail(std::string where, Sentence message, Sentence remedy = {}) {
    error_ = {std::string(file_), std::move(where), std::move(message), std::move(remedy)};
    return false;
  }
  bool fail_at(Sentence place, Sentence message, Sentence remedy) {
    error_ = {std::string(file_), {}, std::move(message), std::move(remedy), std::move(place)};
    return false;
  }
  Json* add(Json value) {
    if (++count_ > kMaxValues) {
      fail({}, say_count("error.json.values", kMaxValues), say("error.file.not_ours"));
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
    return &(level.member->second = std::move(value));
  }
  bool open(Json container) {
    if (stack_.size() >= static_cast<std::size_t>(kMaxDepth))
      return fail(path(), say_count("error.json.levels", kMaxDepth), say("error.file.not_ours"));
    Json* added = add(std::move(container));
    if (added == nullptr) return false;
    stack_.push_back({added});
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
  const auto fail = [&](Sentence message, Sentence remedy, Sentence place = {}) {
    return InputError{std::string(file), {}, std::move(message), std::move(remedy), std::move(place)};
  };
  if (text.size() > kMaxTextBytes)
    return fail(say("error.file.larger", kMaxTextBytes >> 20), say("error.file.not_ours"));
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    return fail(say("error.file.utf16"), say("error.file.utf8.remedy"));
  if (const std::size_t bad = engine::first_invalid_utf8(text); bad != std::string_view::npos)
    return fail(say("error.file.not_utf8"), say("error.file.utf8.remedy"), place_of(text, bad));
  Builder builder(text, file);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) return builder.error();
  return builder.take();
}

bool is_utf8(std::string_view text) { return engine::first_invalid_utf8(text) == std::string_view::npos; }

Sentence kind_of(const Json& value) {
  if (value.is_null()) return say("error.kind.null");
  if (value.is_boolean()) return say("error.kind.boolean");
  if (value.is_number()) return say("error.kind.number");
  if (value.is_string()) return say("error.kind.text");
  if (value.is_array()) return say("error.kind.list");
  return say("error.kind.object");
}

Sentence is_kind(const Json& value) { return say("error.is", kind_of(value)); }

Sentence shown(const Json& value) {
  if (value.is_string()) return in_quotes(value.get_ref<const std::string&>());
  if (value.is_primitive()) return value.dump();
  return kind_of(value);
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
