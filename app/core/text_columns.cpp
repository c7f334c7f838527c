#include "app/core/text_columns.h"

#include <algorithm>

#include "engine/base/utf8.h"

namespace roofscape::app {

namespace {

// Hangul, Han and Kana: a terminal gives them two columns (UAX 11). In UTF-8 they have three bytes.
bool wide(std::string_view character) {
  if (character.size() != 3) return false;
  const unsigned code = (static_cast<unsigned char>(character[0]) & 0x0fu) << 12 |
                        (static_cast<unsigned char>(character[1]) & 0x3fu) << 6 |
                        (static_cast<unsigned char>(character[2]) & 0x3fu);
  return (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
         (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
         (code >= 0xFF00 && code <= 0xFF60);
}

}  // namespace

std::size_t display_width(std::string_view utf8) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < utf8.size();) {
    const std::size_t next = engine::next_character(utf8, at);
    width += wide(utf8.substr(at, next - at)) ? 2 : 1;
    at = next;
  }
  return width;
}

std::string padded_right(std::string text, std::size_t width) {
  const std::size_t now = display_width(text);
  if (now < width) text.append(width - now, ' ');
  return text;
}

std::string padded_left(std::string text, std::size_t width) {
  const std::size_t now = display_width(text);
  if (now < width) text.insert(0, width - now, ' ');
  return text;
}

std::string Columns::text(std::size_t indent) const {
  std::vector<std::size_t> widths(right_.size(), 0);
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i]));
  std::string out;
  for (const auto& row : rows_) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) {
      if (i > 0) line += "  ";
      line += right_[i] ? padded_left(row[i], widths[i]) : padded_right(row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

std::string wrapped(std::string lead, std::string_view text, std::size_t width) {
  const std::size_t indent = display_width(lead);
  std::string out = std::move(lead);
  std::size_t column = indent;
  bool first = true;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    const std::size_t size = display_width(word);
    if (!first && column + 1 + size > width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    first = false;
    out += word;
    column += size;
    if (space == std::string_view::npos) break;
    text.remove_prefix(space + 1);
  }
  return out;
}

}  // namespace roofscape::app
