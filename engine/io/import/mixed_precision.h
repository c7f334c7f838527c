// What PyTorch's mixed precision means for the formats of a plan, said once for the frameworks that have it. For the .cpp
// files of engine/io.
//
// Matrix multiplications, weights as they are gathered and gradients are in 16 bits ("bf16", "fp16"; "fp8" multiplies in
// 8), Adam's state and a master copy in 32. In "fp32" everything is.
#pragma once

#include <string_view>

#include "engine/io/import/launch_plan.h"

namespace roofscape::io {

void state_mixed_precision(LaunchPlan& plan, std::string_view type, const Origin& origin, std::string_view written);
void assume_mixed_precision(LaunchPlan& plan, std::string_view type, const engine::Sentence& why);

}  // namespace roofscape::io
