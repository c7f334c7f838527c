// Random small spaces for properties of a search: a scenario of any model on any chip, a request of a few hundred plans,
// and the comparison of two results to the last bit.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "engine/search/search.h"
#include "tests/engine/fixtures.h"

namespace roofscape::tests {

template <class T>
const T& any_of(Dice& dice, const std::vector<T>& list) {
  return list[static_cast<std::size_t>(dice.pick(0, static_cast<int>(list.size()) - 1))];
}

// The plan, but for its settings, which a search reads.
void apply_choices(engine::Scenario& s, const engine::Plan& plan);
// How many spaces a property is tried on: more where somebody has time for it (ROOFSCAPE_SEARCH_SPACES).
int spaces_to_try();
// Few layers, few chips.
engine::Scenario random_small_scenario(std::mt19937& rng);
// Constraints, until the space is small.
engine::SearchRequest random_request(Dice& dice, const engine::Scenario&);
// Memory of the chip so that some plans fit and some do not.
void fit_some(Dice& dice, engine::Scenario&, const engine::SearchRequest&);
// Another plan of the space, which uses as many chips; legal or not.
void take_another_plan(Dice& dice, engine::Scenario&, const engine::SearchRequest&);

// Where two results differ first, apart from the present plan; empty: nowhere. `length`: of the list.
std::string difference(const engine::SearchResult& a, const engine::SearchResult& b, std::size_t length);
// Where they differ in what they say of the present plan.
std::string difference_of_present(const engine::SearchResult& a, const engine::SearchResult& b);

// On that many threads.
engine::SearchResult searched(const engine::Scenario&, const engine::SearchRequest&, std::size_t workers,
                              const std::vector<engine::Plan>& seeds = {});

}  // namespace roofscape::tests
