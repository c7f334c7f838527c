// A plan as JSON: the fields of the scenario that a plan sets, by their paths, so that they can be given to --set.
#pragma once

#include <array>
#include <string_view>

#include "engine/io/json/json_text.h"
#include "engine/search/plan.h"

namespace roofscape::io {

inline constexpr std::array<std::string_view, 14> kPlanPaths{
    "parallelism.data",
    "parallelism.fsdp",
    "parallelism.tensor",
    "parallelism.context",
    "parallelism.pipeline",
    "parallelism.expert",
    "parallelism.sequence_parallel",
    "parallelism.zero_stage",
    "pipeline.schedule",
    "pipeline.microbatch_sequences",
    "pipeline.virtual_stages",
    "checkpointing.policy",
    "offload.optimizer",
    "offload.activations",
};

OrderedJson plan_json(const engine::Plan& plan);

}  // namespace roofscape::io
