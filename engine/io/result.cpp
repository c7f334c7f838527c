#include "engine/io/result.h"

namespace roofscape::io {
namespace {

// One line: control characters become spaces.
void append_line(std::string& out, std::string_view text) {
  for (const char c : text) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
}

}  // namespace

std::string to_text(const InputError& error) {
  std::string out;
  for (const std::string* part : {&error.file, &error.path, &error.message}) {
    if (part->empty()) continue;
    if (!out.empty()) out += ": ";
    append_line(out, *part);
  }
  if (!error.remedy.empty()) {
    out += "; ";
    append_line(out, error.remedy);
  }
  return out;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::size_t size = text.size();
  if (size > kLongest) {
    size = kLongest;
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;  // not inside a character
  }
  std::string out = "\"";
  append_line(out, text.substr(0, size));
  if (size < text.size()) out += "...";
  return out + "\"";
}

}  // namespace roofscape::io
