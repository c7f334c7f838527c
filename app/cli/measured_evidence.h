// The shipped measurements that commands answer with, read when one asks.
#pragma once

#include <optional>

#include "app/cli/command.h"
#include "engine/scenario/scenario.h"
#include "engine/studies/evidence.h"
#include "engine/studies/plan_change.h"

namespace roofscape::app::cli {

// How measured pairs of runs went of which one thing was changed; none in custom mode, or where they cannot be read.
std::optional<engine::PairRecord> measured_pairs(const Context& context, engine::Mode mode);
// Measured runs of what the scenario does, in its mode, with the errors of their predictions; with the pairs where it
// trains. None in custom mode, or where they cannot be read, which it complains about.
std::optional<engine::Evidence> measured_evidence(const Context& context, const engine::Scenario& scenario);

}  // namespace roofscape::app::cli
