#pragma once

// What `validate --json` prints: every row of a validation, and its summaries by family, kind of run and overall.

#include <string>

#include "engine/evidence/validation.h"

namespace roofscape::app::cli {

std::string validation_json(const evidence::Validation& validation, engine::Mode mode, const engine::Words& words);

}  // namespace roofscape::app::cli
