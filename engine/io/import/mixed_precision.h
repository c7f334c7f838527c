// What PyTorch's mixed precision means for the formats of a plan, said once for the frameworks that have it. For the .cpp
// files of engine/io.
//
// Matrix multiplications, weights as they are gathered and gradients are in 16 bits ("bf16", "fp16"; "fp8" multiplies in
// 8), Adam's state and a master copy in 32. In "fp32" everything is.
#pragma once

#include <string>
#include <string_view>

#include "engine/io/import/launch_plan.h"

namespace roofscape::io {

// "bfloat16", "float16" and "float32" of PyTorch and JAX as formats of a plan; empty: another.
std::string_view format_of_dtype(std::string_view dtype);

void state_mixed_precision(LaunchPlan& plan, std::string_view type, const Origin& origin, std::string_view written);
void assume_mixed_precision(LaunchPlan& plan, std::string_view type, const engine::Sentence& why);

// The optimizer by its name, after the mixed precision, in place of the Adam that this usually has: "Muon", "AdamW",
// "OneBitAdam" as DeepSpeed has them, "paged_adamw_8bit" as Transformers does (training_args.py, OptimizerNames). What is
// neither Adam nor Muon is taken as Adam, and said to be.
void state_optimizer(LaunchPlan& plan, const std::string& name, const Origin& origin);

}  // namespace roofscape::io
