#include "engine/base/text_match.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <vector>

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

Bare bare(std::string_view in) {
  Bare out;
  bool between = true;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in.substr(i).starts_with(kDigitGap)) {  // between the groups of a number, which is one word
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
    out.text += static_cast<char>(std::tolower(u));
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
