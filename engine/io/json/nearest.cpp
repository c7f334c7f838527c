#include "engine/io/json/nearest.h"

#include <algorithm>
#include <array>

#include "engine/base/ascii.h"
#include "engine/io/json/result.h"

namespace roofscape::io {
namespace {
constexpr std::size_t kLongestWord = 64;

// Ids are lower case, people type "H200".
bool same(char a, char b) { return engine::ascii_lower(a) == engine::ascii_lower(b); }
}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  if (a.size() > kLongestWord || b.size() > kLongestWord) return std::max(a.size(), b.size());
  using Row = std::array<std::size_t, kLongestWord + 1>;
  Row before{}, above{}, row{};
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = above[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({changed, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = above;
    above = row;
  }
  return above[b.size()];
}

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  // Something of the word has to remain: any letter is one change from any other.
  const std::size_t farthest = word.size() < 2 ? 0 : word.size() <= 3 ? 1 : std::max<std::size_t>(2, word.size() / 3);
  std::size_t distance = farthest + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t d = edit_distance(word, candidate);
    if (d < distance) {
      distance = d;
      best = candidate;
    }
  }
  if (!best.empty() || word.empty()) return best;
  for (const std::string_view candidate : candidates)  // "hidden" for "hidden_size"
    if (word.size() >= 3 && (candidate.starts_with(word) || word.starts_with(candidate))) return candidate;
  return best;
}

engine::Sentence did_you_mean(std::string_view near) { return engine::say("error.did_you_mean", in_quotes(near)); }

engine::Sentence did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  if (const std::string_view near = nearest_word(word, known); !near.empty()) return did_you_mean(near);
  constexpr std::size_t kFew = 12;
  if (known.empty() || known.size() > kFew) return {};
  return engine::say("error.known_are", listed(known));
}

}  // namespace roofscape::io
