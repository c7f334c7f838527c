// Texts taken apart.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace roofscape::engine {

// Without what is blank at either end.
constexpr std::string_view trimmed(std::string_view text, std::string_view blank = " \t\r\n") {
  const std::size_t from = text.find_first_not_of(blank);
  return from == std::string_view::npos ? std::string_view()
                                        : text.substr(from, text.find_last_not_of(blank) - from + 1);
}

// What stands between the commas, without blanks at the ends; the empty ones left out.
inline std::vector<std::string> between_commas(std::string_view list) {
  std::vector<std::string> out;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (const std::string_view piece = trimmed(list.substr(0, end)); !piece.empty()) out.emplace_back(piece);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return out;
}

}  // namespace roofscape::engine
