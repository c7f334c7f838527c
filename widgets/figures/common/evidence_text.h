// What is said of evidence, in the figure, the window and the report alike: values in the unit of their kind, errors,
// the range in which a measurement is expected, and why a scenario has no band.
#pragma once

#include <string>

#include "engine/base/unit.h"
#include "engine/studies/evidence.h"
#include "widgets/plot/text_table.h"

namespace roofscape::widgets {

engine::Unit unit_of(engine::EvidenceKind kind);
// "+4.7 %", "-12 %" with a true minus; "0 %" for less than a tenth of a percent.
std::string error_text(double error);
// "-17 to +19 %".
std::string errors_text(const TextTable& texts, double low, double high);
// "8.9 to 10.1 s": the unit once, where both ends have the same.
std::string range_text(const TextTable& texts, double least, double most, const engine::Unit& unit);
// Why a band is not validated: "no measured run on TPU v5p", "measured with 64 to 512 chips, here 8192".
std::string outside_text(const TextTable& texts, const engine::ErrorBand& band, const engine::Scenario& scenario);

// "of 49 measured pairs that differ in this alone, 42 went the way predicted"; empty where the plans differ in several
// things, too few pairs do in this one, or there is no evidence.
std::string pairs_text(const TextTable& texts, const engine::PairRecord& record, const engine::Scenario& from,
                       const engine::Scenario& to);
std::string pairs_text(const TextTable& texts, const engine::Evidence* evidence, const engine::Scenario& from,
                       const engine::Scenario& to);

}  // namespace roofscape::widgets
