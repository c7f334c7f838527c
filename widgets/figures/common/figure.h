// What all figures share: their input and their view. A figure draws a report on any canvas: the window, an exported
// file, a test. The same words, the same marks, the same tags.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/quantity.h"
#include "engine/evaluate/measured.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"
#include "engine/search/decoding_plan.h"
#include "engine/search/plan.h"
#include "engine/studies/evidence.h"
#include "widgets/canvas/canvas.h"
#include "widgets/canvas/theme.h"
#include "widgets/figures/common/held_axes.h"
#include "widgets/figures/common/study_cache.h"
#include "widgets/plot/text_table.h"

namespace roofscape::engine {
struct ClusterAnswer;
struct ClusterRequest;
struct MeasuredRun;
struct NamedCluster;
struct PlanSpace;
struct SearchResult;
struct ServingSearchResult;
}  // namespace roofscape::engine

namespace roofscape::widgets {

// What a search of clusters found. No answers: nothing yet.
struct ClustersSeen {
  std::span<const engine::ClusterAnswer> answers;   // ranked
  std::span<const engine::NamedCluster> among;      // what is asked; none: the clusters around the present one
  const engine::ClusterRequest* request = nullptr;  // null: as by default
  double progress = 0;                              // of the search that runs, 0 to 1
  bool stopped = false;                             // by the person
  bool waits = true;                                // as of plans
};

// What a search of plans found, and the scenario it belongs to, which may be an earlier one. Null: nothing yet.
struct SearchSeen {
  const engine::Scenario* scenario = nullptr;
  const engine::SearchResult* result = nullptr;          // where it trains
  const engine::ServingSearchResult* serving = nullptr;  // where it serves
  const engine::PlanSpace* space = nullptr;              // what of the present scenario is searched; null: nothing is
  double progress = 0;                                   // of the search that runs, 0 to 1
  bool stopped = false;                                  // by the person; what was found before stays
  bool waits = true;  // while there is nothing yet the figures say so; false: they search for themselves
  ClustersSeen clusters = {};
};

// A pinned scenario that figures show as a ghost behind the present one.
struct Baseline {
  const engine::Scenario& scenario;
  const engine::Report& report;
};

struct FigureInput {
  const engine::Scenario& scenario;
  const engine::Report& report;
  const TextTable& texts;
  const Theme& theme;
  StudyCache& studies;
  const Baseline* baseline = nullptr;
  std::span<const engine::MeasuredOperation> measured = {};  // laid over the roofline
  std::span<const engine::Chip> chips = {};                  // all there are, for figures that compare them
  const engine::EvidenceSet* evidence = nullptr;             // null: not computed, or not yet
  const SearchSeen* search = nullptr;                        // null: figures of a search search for themselves
  HeldAxes* axes = nullptr;                                  // null: axes fit the data
  const engine::MeasuredRun* run = nullptr;                  // of this plan, laid beside what is predicted
};
// A choice a figure offers beyond the scenario, such as which collective it draws. Words: "figure.<name>.<key>" and
// "figure.<name>.<key>.<choice>".
struct FigureOption {
  std::string_view key;
  std::span<const std::string_view> choices;  // the first is the default
};
inline constexpr std::size_t kMostFigureOptions = 4;
// By option of a figure's row: the index of its choice. Figures read them by type (figure_options.h).
using FigureChoices = std::array<std::uint8_t, kMostFigureOptions>;

// A plan of a search, of either kind of workload.
using FoundPlan = std::variant<engine::Plan, engine::DecodingPlan>;

// What of its head stands over a figure on paper. A paper says all of it in its caption instead (`--bare`).
struct HeadParts {
  bool title = true, takeaway = true, context = true;
  bool any() const { return title || takeaway || context; }
  bool all() const { return title && takeaway && context; }
};

// How a figure is looked at. Never part of a Scenario, never undone.
struct FigureView {
  bool print = false;                                    // with title and the line that states model, chips and plan
  HeadParts head = {};                                   // of a printed figure
  bool compact = false;                                  // small windows: fewer labels (visual spec, section 3)
  std::optional<int> hovered_stage;                      // tinted in every figure that has stages
  std::optional<int> hovered_operation;                  // index of engine::OperationKind
  std::optional<engine::Q> hovered_part;                 // a part of the step: all that makes it up
  std::optional<engine::Plan> hovered_plan;              // in figures of a search
  std::optional<engine::DecodingPlan> hovered_decoding;  // the same of a search of plans that serve
  std::optional<std::size_t> hovered_answer;             // of clusters
  // The visible part of the horizontal axis, as fractions of the whole (zoomed and panned in the window).
  double from = 0, to = 1;
  // On demand in the pipeline figure (widgets/figures/training/figure_pipeline_tools.h).
  bool critical_path = false;
  bool memory_trace = false;
  std::optional<double> cursor;  // the time of playback, as a fraction of the whole
  std::optional<Point> pointer;  // what the operation under it waits for and feeds is drawn
  FigureChoices choices{};
};

// A number of a takeaway as data, and how it is written. Tests hold takeaways against reports by them.
struct Claim {
  // What it must equal. Of a report: the sum of the quantities `of`, over `over` where one is named.
  enum class From : std::uint8_t {
    report,
    baseline,
    difference,  // the report's less the baseline's
    growth,      // that over the baseline's
    data,        // a number in the column `source` of what the figure copies
    own,         // of the figure's own definition, which `source` names
    beside,      // the same of what no estimate enters: counts of the plan, chips as published, measured runs
    name         // no number but a name with digits, such as "1F1B" or a plan
  };
  std::vector<engine::Q> of;
  std::optional<engine::Q> over = {};
  double value = 0;
  std::string shown;
  From from = From::report;
  std::string source = {};
};

// The phrase after a figure's title: its takeaway, computed ("0.9 GB free on stage 1").
struct FigureHead {
  std::string title, takeaway;
  std::string brief = {};          // the takeaway where there is no room for all of it; empty: cut
  std::string context = {};        // what the figure is of, where that is not the plan; empty: context_line()
  std::vector<Claim> claims = {};  // of the takeaway: each number in it and in the brief one
};

}  // namespace roofscape::widgets
