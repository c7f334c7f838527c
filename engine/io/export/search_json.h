// Results of searching a scenario's plans as JSON and CSV. Each of the best says who can run it, as "runs_on": ids of
// launchers and servers.
#pragma once

#include <string>
#include <string_view>

#include "engine/search/search.h"
#include "engine/search/serving_search.h"
#include "engine/studies/plan_change.h"

namespace roofscape::io {

// {"finished", "plans", "fit", "rejected": {reason: count}, "present": {...}, "near_miss": {...} or null,
// "best": [...], "front": [...], "cells": [...]}. A plan is given by the paths of the scenario's fields; a cell by
// "tensor", "pipeline", "plans", "fit" and "best", or null with "reason" and, where memory is, "missing_bytes". A
// present plan that cannot run has null for all that is of a run, and `problem` as its "problem".
// With `pairs` each of the best says how measured pairs went that differ as it and the scenario do: "measured_pairs", with
// "differ_in", "pairs" and "as_predicted", or null; and "close" says how many of the best are no further behind the first
// than measured differences were mispredicted ("margin", the median of so many "measured_pairs"), whether these are the
// whole list, the rank of the one that is simplest to run, whether the present plan is as close, and by which "part" of a
// step they differ most ("decided_by", or null): between which shares of a step it is, and the rank of the plan that is
// ahead of the first once it takes "factor" times as long as predicted. Null: the objective is not speed.
std::string search_json(const engine::Scenario& scenario, engine::Objective objective,
                        const engine::SearchResult& result, std::string_view problem = {},
                        const engine::PairRecord* pairs = nullptr);
// The best plans, one a line, with a line of names: the fields of the plan, then its numbers.
std::string search_csv(const engine::Scenario& scenario, const engine::SearchResult& result);

// {"plans", "fit", "rejected": {reason: count}, "present": {...}, "best": [...], "front": [...]}.
std::string serving_search_json(const engine::Scenario& scenario, const engine::ServingSearchResult& result,
                                std::string_view problem = {});
std::string serving_search_csv(const engine::Scenario& scenario, const engine::ServingSearchResult& result);

}  // namespace roofscape::io
