// A report as text for a terminal: verdict, step, memory, throughput, pipeline, bounds, diagnostics.
#pragma once

#include <span>
#include <string>

#include "engine/offers.h"
#include "engine/report.h"
#include "engine/studies/evidence.h"
#include "widgets/plan_table.h"
#include "widgets/text_table.h"

namespace roofscape::app {

std::string report_text(const engine::Scenario& scenario, const engine::Report& report,
                        const widgets::TextTable& texts);

// "fits, 35.1 GB of 96.0 GB free; bound by compute; MFU 40.1 %; 9.23 s a step; 51.3 days"
std::string verdict_text(const engine::Report& report, const widgets::TextTable& texts);

// One entry per finding: severity, title, sentence, suggestion and what it gains.
std::string diagnostics_text(std::span<const engine::OfferedFinding> findings, const widgets::TextTable& texts);

// The error bands of its main numbers, from published measurements near the scenario; or why there are none.
std::string evidence_text(const engine::Scenario& scenario, const engine::Report& report,
                          const engine::Evidence& evidence, const widgets::TextTable& texts);

// The list of a search, with the present plan under it where it is none of them.
std::string plan_list_text(const widgets::search::PlanTable& table, int present_rank, const widgets::TextTable& texts);

}  // namespace roofscape::app
