#include "widgets/figures/search/close_words.h"

#include "widgets/canvas/number_format.h"

namespace roofscape::widgets::search {

std::string close_words(const TextTable& texts, const engine::ClosePlans& close, std::size_t listed,
                        const engine::PairSummary& choices) {
  const std::string margin = format_percent(choices.error), pairs = format_count(static_cast<double>(choices.pairs));
  if (close.count == 1)
    return listed == 1 ? std::string()
                       : texts.format("search.close.alone", {format_percent(close.next), margin, pairs});
  const std::string simplest =
      close.simplest == 0 ? std::string(texts.text("search.close.first_is_simplest"))
                          : texts.format("search.close.simplest", {format_count(double(close.simplest + 1))});
  const std::string words = texts.format(close.count == listed ? "search.close.all" : "search.close.many",
                                         {format_count(static_cast<double>(close.count)), margin, pairs, simplest});
  return close.present ? texts.format("search.close.present", {words}) : words;
}

}  // namespace roofscape::widgets::search
