// A report as text for a terminal: verdict, step, memory, throughput, pipeline, bounds, diagnostics.
#pragma once

#include <span>
#include <string>

#include "engine/evaluate/offers.h"
#include "engine/io/scenario/published_run.h"
#include "engine/report/report.h"
#include "engine/studies/evidence.h"
#include "widgets/figures/search/plan_table.h"
#include "widgets/plot/text_table.h"

namespace roofscape::app {

// `published`: the run that the scenario is, if it is one.
std::string report_text(const engine::Scenario& scenario, const engine::Report& report,
                        const widgets::TextTable& texts, const io::PublishedRun* published = nullptr);

// What was published of a run beside what the report says of it: "MFU 41.0 %, ideal mode says 70.0 %".
std::string published_text(const io::PublishedRun& run, const engine::Scenario& scenario,
                           const engine::Report& report, const widgets::TextTable& texts);

// "fits, 35.1 GB of 96.0 GB free; bound by compute; MFU 40.1 %; 9.23 s a step; 51.3 days"
std::string verdict_text(const engine::Report& report, const widgets::TextTable& texts);

// One entry per finding: severity, title, sentence, suggestion and what it gains.
std::string diagnostics_text(std::span<const engine::OfferedFinding> findings, const widgets::TextTable& texts);

// What a finding offers and what it gains: "try parallelism.tensor=4: 0.57 s, -51 %"; empty: nothing.
std::string offer_text(const engine::OfferedFinding& finding, const widgets::TextTable& texts);

// The error bands of its main numbers, from published measurements near the scenario; or why there are none.
std::string evidence_text(const engine::Scenario& scenario, const engine::Report& report,
                          const engine::Evidence& evidence, const widgets::TextTable& texts);

// The list of a search, with the present plan under it where it is none of them.
std::string plan_list_text(const widgets::search::PlanTable& table, int present_rank,
                           const widgets::TextTable& texts);

}  // namespace roofscape::app
