// How a mesh of JAX names what Roofscape's axes say; the rules and the written files share it.
#pragma once

#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// Expert ranks are an axis of their own in a mesh of JAX: part of which of the axes that share the batch.
enum class ExpertAxis { none, of_fsdp, of_data, impossible };
ExpertAxis expert_axis(const Scenario&);

}  // namespace roofscape::engine
