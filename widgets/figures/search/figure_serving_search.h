// What the figures of a search show of a scenario that serves: throughput of a chip against time per output token,
// and each plan as a line over mesh, batch and what it comes to.
#pragma once

#include <optional>
#include <string>

#include "engine/search/serving_search.h"
#include "widgets/figures/common/figure.h"
#include "widgets/figures/common/parallel_axes.h"
#include "widgets/figures/search/figure_search_parts.h"

namespace roofscape::widgets::search {

// All plans of a result in one order, the index of the tags: the best, the front, the sample, the present plan.
std::size_t decoding_count(const engine::ServingSearchResult& result);
const engine::RankedDecoding& decoding_at(const engine::ServingSearchResult& result, std::size_t index);
// Nothing: the result has no such plan, or none is asked for.
std::optional<std::size_t> index_of(const engine::ServingSearchResult& result,
                                    const std::optional<engine::DecodingPlan>& plan);

// The plan with this index in the search that is shown, whether it trains or serves; nothing where there is none.
std::optional<FoundPlan> drawn_plan(const FigureInput& input, int index);

// What plans generate a second, as figures tell it: per chip, or of all chips together where that is not what ranks
// them.
struct ToldRate {
  bool together = false;
  double of(const engine::RankedDecoding& plan) const {
    return together ? plan.tokens_per_s : plan.tokens_per_s_per_chip;
  }
  engine::Q quantity() const { return together ? engine::Q::sustained_tokens : engine::Q::sustained_tokens_per_chip; }
  std::string column() const { return together ? "tokens per s" : "tokens per s and chip"; }  // of data
  // Of a text that comes by "gpu", "chip" and "all".
  std::string key(const FigureInput& input, std::string_view stem) const;
};
ToldRate told_rate(const engine::ServingSearchResult& result);

// The end of the key of what plans are ranked by, in words: "throughput.all", "token-time".
std::string ranked_by_key(engine::ServingObjective objective, const engine::ServingSearchResult& result);

// "data 4, tensor 2, batch 256".
std::string decoding_words(const TextTable& texts, const engine::DecodingPlan& plan);
Readout decoding_readout(const FigureInput& input, const ServingShown& shown, const engine::RankedDecoding& plan,
                         bool present);
// "best 1.2 k tokens/s a chip at 20 ms a token; now ...".
FigureHead serving_head_of(const FigureInput& input, std::string_view figure);

void draw_serving_front(Canvas& canvas, const Rect& rest, const FigureInput& input, const FigureView& view);
ParallelAxes serving_axes(const FigureInput& input, const ServingShown& shown, const FigureView& view);
// Every plan that is drawn, with its set: best, front, sample, present.
std::string serving_plans_data(const FigureInput& input);
// What stands in the middle where there is nothing to draw.
std::string serving_empty_text(const FigureInput& input, const ServingShown& shown);

}  // namespace roofscape::widgets::search
