#include "engine/io/json/pretty.h"

#include <nlohmann/json.hpp>

namespace roofscape::io {
namespace {

constexpr std::size_t kLineWidth = 100;

// Invalid UTF-8 cannot come from our readers; if a caller made some, it is replaced rather than thrown about.
std::string line_text(const OrderedJson& json) {
  if (!json.is_structured()) return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  std::string out = json.is_array() ? "[" : "{";
  bool first = true;
  for (const auto& member : json.items()) {
    if (!first) out += ", ";
    first = false;
    if (json.is_object()) out += line_text(OrderedJson(member.key())) + ": ";
    out += line_text(member.value());
  }
  return out + (json.is_array() ? "]" : "}");
}

void append(std::string& out, const OrderedJson& json, std::size_t indent) {
  if (!json.is_structured() || json.empty()) {
    out += line_text(json);
    return;
  }
  if (indent > 0) {
    const std::string line = line_text(json);
    if (indent + line.size() <= kLineWidth) {
      out += line;
      return;
    }
  }
  const std::string pad(indent + 2, ' ');
  out += json.is_array() ? "[" : "{";
  bool first = true;
  for (const auto& member : json.items()) {
    out += first ? "\n" : ",\n";
    first = false;
    out += pad;
    if (json.is_object()) out += line_text(OrderedJson(member.key())) + ": ";
    append(out, member.value(), indent + 2);
  }
  out += '\n' + std::string(indent, ' ') + (json.is_array() ? "]" : "}");
}

}  // namespace

std::string pretty_text(const OrderedJson& json) {
  std::string out;
  append(out, json, 0);
  return out + '\n';
}

}  // namespace roofscape::io
