// What a search says of its first plan: how far it is ahead of the others, and whether that is more than measured
// differences have been predicted wrong. One sentence, for the window and the command line.
#pragma once

#include <cstddef>
#include <string>

#include "engine/search/close_plans.h"
#include "engine/studies/plan_change.h"
#include "widgets/plot/text_table.h"

namespace roofscape::widgets::search {

// Of a list of so many plans, by the margin of these pairs; empty: it has no second plan.
std::string close_words(const TextTable& texts, const engine::ClosePlans& close, std::size_t listed,
                        const engine::PairSummary& choices);

}  // namespace roofscape::widgets::search
