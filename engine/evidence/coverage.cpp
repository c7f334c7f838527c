#include "engine/evidence/coverage.h"

#include "engine/evidence/evidence_points.h"

namespace roofscape::evidence {

std::vector<engine::CoverageRow> coverage_rows(std::span<const io::Measurement> entries,
                                               const io::PresetLibrary& library, engine::Mode mode) {
  io::EvidenceFiles files;
  files.entries.assign(entries.begin(), entries.end());
  for (const io::Measurement& entry : entries) files.names.emplace(entry.family, entry.family);
  return engine::coverage_rows(evidence_points(files, library, mode).points);
}

}  // namespace roofscape::evidence
