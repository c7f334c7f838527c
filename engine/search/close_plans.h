// How far ahead the first plan of a list is. Plans that follow it closer than measured differences were predicted cannot be
// told apart by a model; of those one takes what is simplest to run, or measures.
#pragma once

#include <cstddef>
#include <optional>

#include "engine/search/search.h"

namespace roofscape::engine {

// The part of a step in which close plans differ most, so that one measurement of it says more of them than any other.
struct DecidingPart {
  Q part{};
  double least_share = 0, most_share = 0;  // of a step, among the close plans
  // The plan that is ahead of the first once the part takes so many times as long as predicted, in all plans alike;
  // index into the list. Of several the one for which the factor is nearest to 1.
  std::size_t rival = 0;
  double factor = 1;
};

struct ClosePlans {
  std::size_t count = 1;     // from the first: as fast as that within the margin
  std::size_t simplest = 0;  // of them; index into the list
  double next = 0;           // how much worse the first one behind them is, as a share of the first; 0: the list ends
  bool present = false;      // the scenario's own plan counts in this search and is no further behind the first
  // Nothing: the plans differ in no part by much, or not by as much as they are behind.
  std::optional<DecidingPart> decides = {};
};

// Of a result's best plans. `margin`: how much faster a plan has to be than another, as a share (0.03). Nothing: no margin
// is known, the list is empty, ranks by memory, which is not a matter of speed, or by a cost that is not known.
std::optional<ClosePlans> close_plans(const SearchResult& result, Objective objective, std::optional<double> margin);

// A person's order, whatever the speed: fewer things to set up. Offload counts first, then axes that a model is split over,
// then what a schedule does beyond a forward and a backward at a time (chunks, split backwards, pairs), then Plan's order.
bool simpler(const Plan& a, const Plan& b);

}  // namespace roofscape::engine
