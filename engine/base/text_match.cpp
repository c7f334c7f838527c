#include "engine/base/text_match.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <vector>

#include "engine/base/ascii.h"
#include "engine/base/digit_groups.h"

namespace roofscape::engine {

namespace {

// No name of anything is longer: a text beyond it, as a broken file may hold, is not compared at all.
constexpr std::size_t kLongestName = 256;

// Letters, digits and decimal points alone, and where words begin among them.
struct Bare {
  std::string text;
  std::vector<bool> starts;
};

Bare bare(std::string_view text) {
  Bare out;
  const std::string in = small_letters(text);
  bool between = true;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (std::string_view(in).substr(i).starts_with(kDigitGap)) {  // between the groups of a number, which is one word
      i += kDigitGap.size() - 1;
      continue;
    }
    const auto u = static_cast<unsigned char>(in[i]);
    const auto digit = [&](std::size_t at) {
      return at < in.size() && std::isdigit(static_cast<unsigned char>(in[at])) != 0;
    };
    if (in[i] == '.' && i > 0 && digit(i - 1) && digit(i + 1)) {  // 1.3B is not 13B
      out.text += '.';
      out.starts.push_back(false);
      continue;
    }
    if (u < 0x80 && std::isalnum(u) == 0) {
      between = true;
      continue;
    }
    out.text += in[i];
    out.starts.push_back(between);
    between = false;
  }
  return out;
}

Match find(const Bare& text, const std::string& letters) {
  if (letters.empty()) return Match::inside;
  if (text.text == letters) return Match::exact;
  Match best = Match::none;
  for (std::size_t at = text.text.find(letters); at != std::string::npos; at = text.text.find(letters, at + 1))
    best = std::max(best, at == 0 ? Match::prefix : text.starts[at] ? Match::word_start : Match::inside);
  return best;
}

Match match_one(std::string_view typed, std::string_view name) {
  const Bare text = bare(name);
  Match best = find(text, bare(typed).text);
  if (best != Match::none) return best;
  best = Match::word_start;
  for (std::size_t at = 0; at < typed.size() && best != Match::none;) {
    const std::size_t end = std::min(typed.find(' ', at), typed.size());
    best = std::min(best, find(text, bare(typed.substr(at, end - at)).text));
    at = end + 1;
  }
  return best;
}

}  // namespace

std::string small_letters(std::string_view text) {
  std::string out = ascii_lower(text);
  // Of the two bytes of a Cyrillic letter: U+0410 to U+042F are 0xd0 0x90 to 0xd0 0xaf, U+0430 to U+044F go on to
  // 0xd1 0x8f.
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    const auto first = static_cast<unsigned char>(out[i]), second = static_cast<unsigned char>(out[i + 1]);
    const auto put = [&](unsigned a, unsigned b) {
      out[i] = static_cast<char>(a);
      out[i + 1] = static_cast<char>(b);
    };
    if ((first == 0xd0 && second == 0x81) || (first == 0xd1 && second == 0x91))
      put(0xd0, 0xb5);
    else if (first == 0xd0 && second >= 0x90 && second <= 0x9f)
      put(0xd0, second + 0x20u);
    else if (first == 0xd0 && second >= 0xa0 && second <= 0xaf)
      put(0xd1, second - 0x20u);
  }
  return out;
}

bool names(std::string_view typed, std::string_view name) {
  if (typed.size() > kLongestName) return false;
  const Bare text = bare(name);
  const std::string letters = bare(typed).text;
  if (letters.empty()) return false;
  for (std::size_t at = text.text.find(letters); at != std::string::npos; at = text.text.find(letters, at + 1)) {
    const std::size_t end = at + letters.size();
    if (text.starts[at] && (end == text.text.size() || text.starts[end])) return true;
  }
  return false;
}

Match match_of(std::string_view typed, std::string_view name, std::string_view id) {
  if (typed.size() > kLongestName) return Match::none;
  const Match by_name = match_one(typed, name);
  return id.empty() ? by_name : std::max(by_name, match_one(typed, id));
}

}  // namespace roofscape::engine
