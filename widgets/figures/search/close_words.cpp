#include "widgets/figures/search/close_words.h"

#include "widgets/canvas/number_format.h"
#include "widgets/plot/quantity_label.h"

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
  std::string words = texts.format(close.count == listed ? "search.close.all" : "search.close.many",
                                   {format_count(static_cast<double>(close.count)), margin, pairs, simplest});
  if (close.present) words = texts.format("search.close.present", {words});
  if (const auto& decides = close.decides)
    words = texts.format("search.close.decides",
                         {words, quantity_label(texts, decides->part), format_percent(decides->least_share),
                          format_percent(decides->most_share), format_count(static_cast<double>(decides->rival + 1)),
                          format_significant(decides->factor)});
  return words;
}

}  // namespace roofscape::widgets::search
