#pragma once

// How long numbers are set, everywhere: groups of three from five digits on, with a narrow space that does not break.

#include <algorithm>
#include <string>
#include <string_view>

namespace roofscape::engine {

inline constexpr std::string_view kDigitGap = "\u202f";

// "16384" with its groups apart; of "70553.7065" only the whole part.
inline std::string digit_groups(std::string digits) {
  const std::size_t whole = std::min(digits.find('.'), digits.size());
  if (whole < 5) return digits;
  for (std::size_t at = whole; at > 3;) digits.insert(at -= 3, kDigitGap);
  return digits;
}

}  // namespace roofscape::engine
