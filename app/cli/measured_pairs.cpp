#include "app/cli/measured_pairs.h"

#include "engine/evidence/one_change_pairs.h"
#include "engine/io/presets/evidence_files.h"

namespace roofscape::app::cli {

std::optional<engine::PairRecord> measured_pairs(const Context& context, engine::Mode mode) {
  if (mode == engine::Mode::custom) return std::nullopt;
  const auto files = io::load_evidence(context.library);
  if (!files) return std::nullopt;
  return evidence::pair_record(evidence::one_change_pairs(files.value().entries, context.library, mode));
}

}  // namespace roofscape::app::cli
