// What a search says of its first plan: how far it is ahead of the others, and whether that is more than measured
// differences have been predicted wrong. One sentence, for the window and the command line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "engine/scenario/scenario.h"
#include "engine/search/close_plans.h"
#include "engine/studies/plan_change.h"
#include "widgets/plot/text_table.h"

namespace roofscape::widgets::search {

// Those of the list that cannot be told from the first; nothing where there is no measure for it: another objective than
// speed, or too few measured pairs.
std::optional<engine::ClosePlans> close_plans(const engine::SearchResult& result, engine::Objective objective,
                                              const engine::PairSummary& choices);

std::string close_words(const TextTable& texts, const engine::ClosePlans& close, const engine::SearchResult& result,
                        engine::Objective objective, const engine::PairSummary& choices);

}  // namespace roofscape::widgets::search
