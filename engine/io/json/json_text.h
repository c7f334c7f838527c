// JSON text to values, for the .cpp files of engine/io only. Input is hostile until proven otherwise: size, depth and
// number of values are limited, UTF-8 is checked, a key that stands twice in one object is an error that names it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "engine/base/sentence.h"
#include "engine/io/json/result.h"

namespace roofscape::io {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

inline constexpr std::size_t kMaxTextBytes = std::size_t{8} << 20;
inline constexpr int kMaxDepth = 32;
inline constexpr std::size_t kMaxValues = 200'000;

Result<Json> parse_json(std::string_view text, std::string_view file);

bool is_utf8(std::string_view text);

// "a text", "a number": what a value is, for messages.
engine::Sentence kind_of(const Json& value);
// "is a text".
engine::Sentence is_kind(const Json& value);
// A value as it may be shown in a message: texts quoted, long things by their kind only.
engine::Sentence shown(const Json& value);

// The text of a member; empty if it is not there or no text.
std::string text_member(const Json& object, std::string_view key);

// A number as JSON: whole numbers without a point, so that counts read as counts.
OrderedJson number_json(double value);

}  // namespace roofscape::io
