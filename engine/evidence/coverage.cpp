#include "engine/evidence/coverage.h"

#include <map>

#include "engine/evidence/evidence_points.h"

namespace roofscape::evidence {
namespace {

using engine::EvidenceKind;
using engine::EvidencePoint;

// By the calibration of its chip: "a100"; all TPUs together, of each of which few runs are published.
std::string family_of(const EvidencePoint& point) {
  const std::string& source = point.features.generation;
  const std::size_t folder = source.find_last_of('/') + 1;
  std::string name = source.substr(folder, source.find_last_of('.') - folder);
  if (name.starts_with("tpu")) name = "tpu";
  if (name.starts_with("h100")) name = "h100";
  return name;
}

}  // namespace

std::vector<CoverageRow> coverage_rows(std::span<const EvidencePoint> points) {
  std::vector<CoverageRow> out;
  for (const EvidenceKind kind : {EvidenceKind::step, EvidenceKind::memory, EvidenceKind::decode}) {
    const auto bands = engine::bands_by_others(points, kind, engine::Others::runs),
               harder = engine::bands_by_others(points, kind, engine::Others::models);
    const std::string name(engine::kEvidenceKindIds[kind]);
    CoverageRow all{name, {}, {}, {}}, experts{name + " experts", {}, {}, {}};
    std::map<std::string, CoverageRow> families;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!bands[i]) continue;
      std::vector<CoverageRow*> rows{&all};
      if (kind == EvidenceKind::step) {
        const std::string family = family_of(points[i]);
        CoverageRow& own = families[family];
        own.name = name + " " + family;
        own.trial = points[i].trial;
        rows.push_back(&own);
        if (points[i].features.experts) rows.push_back(&experts);
      }
      for (CoverageRow* row : rows) {
        row->coverage.count(*bands[i], points[i].error);
        row->without_model.count(*harder[i], points[i].error);
      }
    }
    if (all.coverage.all > 0) out.push_back(std::move(all));
    for (auto& [family, row] : families) out.push_back(std::move(row));
    if (experts.coverage.all > 0) out.push_back(std::move(experts));
  }
  return out;
}

std::vector<CoverageRow> coverage_rows(std::span<const io::Measurement> entries, const io::PresetLibrary& library,
                                       engine::Mode mode) {
  io::EvidenceFiles files;
  files.entries.assign(entries.begin(), entries.end());
  for (const io::Measurement& entry : entries) files.names.emplace(entry.family, entry.family);
  return coverage_rows(evidence_points(files, library, mode).points);
}

}  // namespace roofscape::evidence
