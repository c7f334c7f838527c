#include "engine/io/export/csv.h"

#include <charconv>
#include <system_error>

namespace roofscape::io {

namespace {

bool is_formula(std::string_view text) {
  if (text.empty() || std::string_view("=+-@").find(text.front()) == std::string_view::npos) return false;
  double number = 0;
  const std::string_view digits = text.front() == '+' ? text.substr(1) : text;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  // A number may have a unit behind it; a lone dash stands for nothing.
  const bool is_number = error == std::errc() && (end == digits.data() + digits.size() || *end == ' ' || *end == '%');
  return text.size() > 1 && !is_number;
}

}  // namespace

std::string csv_field(std::string_view text, char separator) {
  if (is_formula(text)) return csv_field("'" + std::string(text), separator);
  const char special[] = {separator, '"', '\n', '\r'};
  if (text.find_first_of(std::string_view(special, sizeof special)) == std::string_view::npos)
    return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace roofscape::io
