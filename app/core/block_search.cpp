#include "app/core/block_search.h"

#include <algorithm>
#include <string>

#include "engine/base/text_match.h"
#include "engine/io/export/block_json.h"

namespace roofscape::app {

namespace {

using engine::BuildingBlock;
using engine::Match;

// What a word is worth where it stands: of a list of texts the best one counts.
class Places {
 public:
  Places(const widgets::TextTable& texts, std::string_view word) : texts_(texts), word_(word) {}

  void name(std::string_view text, double worth) {
    constexpr double kShare[] = {0, 0.2, 0.5, 0.7, 1};  // by Match
    take(worth * kShare[static_cast<std::size_t>(engine::match_of(word_, text))]);
  }
  // Of a list with commas: a whole entry, or words of one.
  void entries(const std::string& key, double worth) {
    constexpr double kPart = 0.8;
    if (!texts_.has(key)) return;
    const std::string_view list = texts_.text(key);
    for (std::size_t at = 0; at < list.size();) {
      const std::size_t end = std::min(list.find(',', at), list.size());
      const std::string_view entry = list.substr(at, end - at);
      if (engine::match_of(word_, entry) == Match::exact)
        take(worth);
      else if (engine::names(word_, entry))
        take(worth * kPart);
      at = end + 1;
    }
  }
  void sentence(const std::string& key, double worth) {
    if (!texts_.has(key)) return;
    const std::string_view text = texts_.text(key);
    if (engine::names(word_, text))
      take(worth);
    else if (engine::match_of(word_, text) >= Match::word_start)
      take(worth / 2);
  }
  double best() const { return best_; }

 private:
  void take(double worth) { best_ = std::max(best_, worth); }

  const widgets::TextTable& texts_;
  std::string_view word_;
  double best_ = 0;
};

double worth_of(const widgets::TextTable& texts, const BuildingBlock& block, std::string_view word) {
  constexpr double kName = 10, kOtherWords = 9, kAbout = 5, kOutput = 4, kOutputAbout = 2, kInput = 1.5;
  Places places(texts, word);
  const std::string key = "calc." + std::string(block.id);
  places.name(block.id, kName);
  places.entries(key + ".words", kOtherWords);
  places.sentence(key, kAbout);
  for (const engine::BlockOutput& output : block.outputs) {
    places.name(output.name, kOutput);
    places.sentence(io::about_key(output), kOutputAbout);
  }
  for (const engine::BlockInput& input : block.inputs) places.name(input.name, kInput);
  return places.best();
}

}  // namespace

std::vector<FoundBlock> find_blocks(const widgets::TextTable& texts, std::string_view words) {
  std::vector<FoundBlock> found;
  for (const BuildingBlock& block : engine::blocks()) {
    // All together may be a name: "kv cache".
    double together = worth_of(texts, block, words), apart = 0;
    int count = 0;
    for (std::size_t at = 0; at < words.size();) {
      const std::size_t end = std::min(words.find(' ', at), words.size());
      if (end > at) {
        const double worth = worth_of(texts, block, words.substr(at, end - at));
        apart = worth > 0 && (count == 0 || apart > 0) ? apart + worth : 0;
        ++count;
        if (!(apart > 0)) break;
      }
      at = end + 1;
    }
    if (count > 1 && apart > 0) apart /= count;
    const double score = std::max(together, apart);
    if (score > 0) found.push_back({&block, score});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const FoundBlock& a, const FoundBlock& b) { return a.score > b.score; });
  // What is far from the best hit only mentions the word.
  constexpr double kWorthNaming = 0.25;
  if (!found.empty())
    std::erase_if(found,
                  [least = kWorthNaming * found.front().score](const FoundBlock& one) { return one.score < least; });
  return found;
}

}  // namespace roofscape::app
