#include "app/core/text_columns.h"

#include <algorithm>

#include "engine/base/utf8.h"

namespace roofscape::app {

std::size_t display_width(std::string_view utf8) { return engine::count_characters(utf8); }

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
