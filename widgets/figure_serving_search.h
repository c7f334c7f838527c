// What the figures of a search show of a scenario that serves: throughput of a chip against time per output token, and each
// plan as a line over mesh, batch and what it comes to.
#pragma once

#include <string>

#include "engine/search/serving_search.h"
#include "widgets/figure.h"
#include "widgets/parallel_axes.h"

namespace roofscape::widgets::search {

// A result with the scenario it belongs to. Null: there is none yet.
struct ServingShown {
  const engine::ServingSearchResult* result = nullptr;
  const engine::Scenario* scenario = nullptr;
  double capacity_bytes = 0;  // 0: not known
  bool priced() const { return result != nullptr && result->finished && !(result->best.empty() && result->sample.empty()); }
  bool fits() const { return result != nullptr && !result->best.empty(); }
  const engine::RankedDecoding& best() const { return result->best.front(); }
};
// The window's, or the whole space searched now and kept among the studies.
ServingShown serving_shown_of(const FigureInput& input);

// All plans of a result in one order, the index of the tags: the best, the front, the sample, the present plan.
std::size_t decoding_count(const engine::ServingSearchResult& result);
const engine::RankedDecoding& decoding_at(const engine::ServingSearchResult& result, std::size_t index);

// "data 4, tensor 2, batch 256".
std::string decoding_words(const TextTable& texts, const engine::DecodingPlan& plan);
Readout decoding_readout(const FigureInput& input, const ServingShown& shown, const engine::RankedDecoding& plan, bool present);
// "best 1.2 k tokens/s a chip at 20 ms a token; now ...".
FigureHead serving_head_of(const FigureInput& input, std::string_view figure);

void draw_serving_front(Canvas& canvas, const Rect& rest, const FigureInput& input, const FigureView& view);
ParallelAxes serving_axes(const FigureInput& input, const ServingShown& shown, const FigureView& view);
// Every plan that is drawn, with its set: best, front, sample, present.
std::string serving_plans_data(const FigureInput& input);
// What stands in the middle where there is nothing to draw.
std::string serving_empty_text(const FigureInput& input, const ServingShown& shown);

}  // namespace roofscape::widgets::search
