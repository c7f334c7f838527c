#include "app/cli/measured_evidence.h"

#include "app/cli/output.h"
#include "engine/evidence/evidence_points.h"
#include "engine/evidence/one_change_pairs.h"
#include "engine/io/presets/evidence_files.h"

namespace roofscape::app::cli {

std::optional<engine::PairRecord> measured_pairs(const Context& context, engine::Mode mode) {
  if (mode == engine::Mode::custom) return std::nullopt;
  const auto files = io::load_evidence(context.library);
  if (!files) return std::nullopt;
  return evidence::pair_record(evidence::one_change_pairs(files.value().entries, context.library, mode));
}

std::optional<engine::Evidence> measured_evidence(const Context& context, const engine::Scenario& scenario) {
  const engine::Mode mode = scenario.assumptions.mode;
  if (mode == engine::Mode::custom) return std::nullopt;
  const auto files = io::load_evidence(context.library);
  if (!files.ok()) {
    complain(context.texts, files.error());
    return std::nullopt;
  }
  return scenario.serves() ? evidence::evidence_points(files.value(), context.library, mode)
                           : evidence::evidence_with_pairs(files.value(), context.library, mode);
}

}  // namespace roofscape::app::cli
