// Text in aligned columns for terminals. Widths are columns of the terminal, not bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roofscape::app {

std::size_t display_width(std::string_view utf8);  // two for Hangul, Han and Kana, else one a character

std::string padded_right(std::string text, std::size_t width);  // text, then spaces
std::string padded_left(std::string text, std::size_t width);

// Rows of cells; a column is as wide as its widest cell. `right` says which columns are numbers, set to the right.
class Columns {
 public:
  explicit Columns(std::vector<bool> right) : right_(std::move(right)) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  // Lines with this indent, two spaces between columns, no spaces at their ends.
  std::string text(std::size_t indent) const;

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

// `lead` and the text after it, in lines of at most `width` columns broken at spaces; all but the first begin with
// as many spaces as `lead` is wide.
std::string wrapped(std::string lead, std::string_view text, std::size_t width);

}  // namespace roofscape::app
