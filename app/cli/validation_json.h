#pragma once

// What `validate --json` prints: every row of a validation, and its summaries by family, kind of run and overall; and pairs of runs that differ in one thing.

#include <span>
#include <string>

#include "engine/evidence/coverage.h"
#include "engine/evidence/one_change_pairs.h"
#include "engine/evidence/peers.h"
#include "engine/evidence/validation.h"

namespace roofscape::app::cli {

std::string validation_json(const evidence::Validation& validation, std::span<const engine::CoverageRow> coverage,
                            std::span<const evidence::OneChangePair> pairs,
                            std::span<const evidence::PeerComparison> peers, engine::Mode mode,
                            const engine::Words& words);

}  // namespace roofscape::app::cli
