#include "engine/io/export/csv.h"

namespace roofscape::io {

std::string csv_field(std::string_view text, char separator) {
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
