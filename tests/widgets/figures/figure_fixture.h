// What the tests of figures share: evaluated cases, the shipped texts, and drawing on a record canvas.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/report/report.h"
#include "engine/studies/measured_run.h"
#include "tests/english.h"
#include "tests/widgets/support.h"
#include "widgets/canvas/canvas_record.h"
#include "widgets/figures/figures.h"

namespace roofscape::widgets::testing {

inline constexpr engine::Tick kMs = 1'000'000'000;  // a report's ticks are picoseconds

struct FigureCase {
  engine::Scenario scenario;
  engine::Report report;
  std::vector<engine::MeasuredOperation> measured = {};
  std::shared_ptr<const FigureCase> baseline = {};
  std::optional<engine::MeasuredRun> run = {};
};

// Chips of nine years by hand, among them those of the cases below.
std::span<const engine::Chip> sample_chips();
// Eight runs of three sources and two kernels by hand, six of the runs near sixteen_stages(): predictions of these
// are 20 % too short to 30 % too long when calibrated, half when ideal.
const engine::EvidenceSet& sample_evidence();

FigureCase evaluated(const engine::Scenario& scenario);

// LLaMA-3.1 405B on 16 384 H100: 16 stages, plain 1F1B, 16 microbatches, attention again,
// 74.8 of 80 GB on stage 1.
FigureCase sixteen_stages();
// The same with sequences half as long again, which do not fit.
FigureCase too_full();
// LLaMA-3 8B on 8 H100 with microbatches of 128 tokens: the matrix multiplications are left of the ridge.
FigureCase bound_by_hbm();
// LLaMA-3 70B on a TPU v5p pod: one stage, 4.44 of 96 GB, `microbatches` of gradient accumulation.
FigureCase one_stage(int microbatches = 1);
// Stages that are alike to the tick, of a made model on a made chip: a forward as long as either half of a backward.
// Illegal shapes keep their status and draw nothing.
FigureCase scheduled(const engine::ScheduleShape& shape, engine::Tick forward);

using roofscape::test::english;
// English with every text of a figure half as long again, as other languages are.
const TextTable& long_words();
// What points into `c` and `texts` lives as long as they do.
FigureInput input_of(const FigureCase& c, const Theme& theme, const TextTable& texts = english());

// A view with these choices, as --with names them: view_of("network", {{"pass", "backward"}}). Each must exist.
FigureView view_of(std::string_view figure,
                   std::initializer_list<std::pair<std::string_view, std::string_view>> choices);
// The view of each choice of a figure's options, one option at a time; the default first.
std::vector<FigureView> views_of(const FigureRow& row);

// Draws a figure by name and returns the canvas.
std::unique_ptr<RecordCanvas> drawn(const std::string& figure, const FigureCase& c, const std::string& theme_name,
                                    float em, float width, float height, const FigureView& view = {});

// The takeaway of a figure by name.
std::string takeaway(const char* figure, const FigureCase& c);

// The position of a value on a logarithmic axis, from the places of two of its tick labels.
float between_ticks(const RecordCanvas& canvas, const char* low_text, double low, const char* high_text, double high,
                    double value, bool vertical);

// How many strokes pass through the letters of the first run that is exactly `text`, hidden by a ground behind it or
// not. Those of the grid may, and do not count.
int strokes_through(const RecordCanvas& canvas, std::string_view text, const std::string& theme_name = "dark");

}  // namespace roofscape::widgets::testing
