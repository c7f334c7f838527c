#include "widgets/figures/search/close_words.h"

#include "widgets/canvas/number_format.h"

namespace roofscape::widgets::search {

std::optional<engine::ClosePlans> close_plans(const engine::SearchResult& result, engine::Objective objective,
                                              const engine::PairSummary& choices) {
  if (choices.pairs < engine::kFewestPairs) return std::nullopt;
  return engine::close_plans(result.best, objective, choices.error);
}

std::string close_words(const TextTable& texts, const engine::ClosePlans& close, const engine::SearchResult& result,
                        engine::Objective objective, const engine::PairSummary& choices) {
  const std::size_t listed = result.best.size();
  const std::string margin = format_percent(choices.error), pairs = format_count(static_cast<double>(choices.pairs));
  if (close.count == 1)
    return listed == 1 ? std::string()
                       : texts.format("search.close.alone", {format_percent(close.next), margin, pairs});
  const std::string simplest =
      close.simplest == 0 ? std::string(texts.text("search.close.first_is_simplest"))
                          : texts.format("search.close.simplest", {format_count(double(close.simplest + 1))});
  const std::string words = texts.format(close.count == listed ? "search.close.all" : "search.close.many",
                                         {format_count(static_cast<double>(close.count)), margin, pairs, simplest});
  if (!engine::present_is_close(result, objective, choices.error)) return words;
  return texts.format("search.close.present", {words});
}

}  // namespace roofscape::widgets::search
