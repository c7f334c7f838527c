// A plan as JSON: the fields of the scenario that a plan sets, by their paths, so that they can be given to --set.
#pragma once

#include "engine/io/json/json_text.h"
#include "engine/search/decoding_plan.h"
#include "engine/search/plan.h"

namespace roofscape::io {

OrderedJson plan_json(const engine::Plan& plan);
OrderedJson plan_json(const engine::DecodingPlan& plan);

}  // namespace roofscape::io
