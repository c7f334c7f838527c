// The record of measured pairs that commands answer with, read when one asks.
#pragma once

#include <optional>

#include "app/cli/command.h"
#include "engine/scenario/scenario.h"
#include "engine/studies/plan_change.h"

namespace roofscape::app::cli {

// How measured pairs of runs went of which one thing was changed; none in custom mode, or where they cannot be read.
std::optional<engine::PairRecord> measured_pairs(const Context& context, engine::Mode mode);

}  // namespace roofscape::app::cli
