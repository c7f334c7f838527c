#include "widgets/figures/common/evidence_text.h"

#include <cmath>

#include "widgets/canvas/number_format.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::widgets {

using engine::ErrorBand;
using engine::EvidenceFeature;
using engine::EvidenceKind;

engine::Unit unit_of(EvidenceKind kind) {
  switch (kind) {
    case EvidenceKind::step:
    case EvidenceKind::decode:
      return engine::unit::seconds;
    case EvidenceKind::memory:
      return engine::unit::bytes;
    case EvidenceKind::kernel:
      return engine::unit::flop_per_s;
    case EvidenceKind::collective:
      return engine::unit::bytes_per_s;
  }
  return engine::unit::one;
}

std::string error_text(double error) {
  const double percent = error * 100;
  if (std::abs(percent) < 0.05) return format_percent(0, 0);
  std::string text = format_percent(std::abs(error), std::abs(percent) < 9.95 ? 1 : 0);
  return (error < 0 ? std::string(kMinus) : "+") + text;
}

std::string errors_text(const TextTable& texts, double low, double high) {
  std::string first = error_text(low);
  const std::string unit = std::string(kNarrowSpace) + "%";
  if (first.ends_with(unit)) first.resize(first.size() - unit.size());
  return texts.format("evidence.range", {first, error_text(high)});
}

std::string range_text(const TextTable& texts, double least, double most, const engine::Unit& unit) {
  const NumberText a = format_parts(least, unit), b = format_parts(most, unit);
  const std::string low = format(least, unit), high = format(most, unit);
  if (low == high) return low;
  return texts.format("evidence.range", {a.unit == b.unit ? a.number : low, high});
}

std::string outside_text(const TextTable& texts, const ErrorBand& band, const engine::Scenario& scenario) {
  const std::string feature(engine::kEvidenceFeatureIds[band.outside]);
  const std::string count = format_count(static_cast<double>(band.left));
  const std::string key = "evidence.outside." + feature;
  switch (band.outside) {
    case EvidenceFeature::runs:
    case EvidenceFeature::work:
      return std::string(texts.text(key));
    case EvidenceFeature::stack:
    case EvidenceFeature::recomputation:
      return texts.format(key + (band.left == 0 ? ".none" : ".few"), {count});
    case EvidenceFeature::chip:
    case EvidenceFeature::precision:
    case EvidenceFeature::experts: {
      const std::string chip = scenario.cluster.chip.name;
      const std::string end = band.left == 0 ? ".none" : ".few";
      const std::string word = band.outside != EvidenceFeature::experts ? std::string()
                               : scenario.model.is_moe()                ? ".moe"
                                                                        : ".dense";
      return texts.format(key + word + end, {chip, count});
    }
    case EvidenceFeature::trial:
      return texts.format(key, {count, format_count(static_cast<double>(band.before))});
    default:
      break;
  }
  // A count of parameters is read in billions, all others as they are.
  const auto number = [&](double v) {
    return band.outside == EvidenceFeature::size     ? parameters_text(texts, v, true)
           : band.outside == EvidenceFeature::bubble ? format_percent(v, 0)
                                                     : format_count(v);
  };
  if (band.own >= band.measured_least && band.own <= band.measured_most)
    return texts.format(key + ".few", {number(band.own), count});
  if (band.measured_least == band.measured_most)
    return texts.format(key + ".one", {number(band.measured_least), number(band.own)});
  return texts.format(key, {number(band.measured_least), number(band.measured_most), number(band.own)});
}

std::string pairs_text(const TextTable& texts, const engine::PairRecord& record, const engine::Scenario& from,
                       const engine::Scenario& to) {
  const auto like = record.like(from, to);
  if (!like) return {};
  return texts.format("figure.pairs", {format_count(static_cast<double>(like->pairs.apart)),
                                       format_count(static_cast<double>(like->pairs.right))});
}

std::string pairs_text(const TextTable& texts, const engine::Evidence* evidence, const engine::Scenario& from,
                       const engine::Scenario& to) {
  return evidence != nullptr ? pairs_text(texts, evidence->pairs, from, to) : std::string();
}

}  // namespace roofscape::widgets
