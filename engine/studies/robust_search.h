// A search for whoever cannot afford a surprise: plans ranked by the slow end of their error band (studies/evidence.h),
// where a plan like those that were measured stands before one that is predicted to be a little faster and that nobody
// has run anything like. Plans without a validated band have no slow end and are left out.
//
// Exact, as search() is: the plans that share a band but for what their pipeline idles are searched class by class, each
// until its predictions, at the least that a slow end can be over them, are behind what is listed.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "engine/search/search.h"
#include "engine/search/serving_search.h"
#include "engine/studies/evidence.h"

namespace roofscape::engine {

// As search() has it, but for `best`, which is empty where no plan has a band, and the present plan's rank: by the
// objective at the slow end of the band of the step time, then as the search orders. Those alike are counted among plans
// of one class. Memory is not a matter of speed: with it as the objective this is what search() finds.
SearchResult robust_search(const Scenario&, const SearchRequest&, std::span<const EvidencePoint>,
                           SearchProgress* progress = nullptr, std::size_t workers = 1, const SearchWorkers& run = {},
                           SearchMemory* memory = nullptr);

// Of plans that serve, by what decoding has been off by: bands are of the time per output token of decoding alone, and
// what is ranked by is taken to be off as much. Batches that another of their mesh outdoes are listed by themselves.
ServingSearchResult robust_search(const Scenario&, const ServingRequest&, std::span<const EvidencePoint>,
                                  SearchProgress* progress = nullptr, const SearchWorkers& run = {});

// As place_present() of a search, for what a robust search has found: the slow end of the present plan, too.
void place_present(const Scenario&, const SearchRequest&, std::span<const EvidencePoint>, SearchResult&);
void place_present(const Scenario&, const ServingRequest&, std::span<const EvidencePoint>, ServingSearchResult&);

}  // namespace roofscape::engine
