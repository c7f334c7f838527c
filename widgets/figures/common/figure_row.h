// FigureRow: all that the rest of the program knows of a figure. Each widgets/figures/<topic>/figure_<name>.cpp defines
// its row, `extern constinit const FigureRow <name>_figure`; widgets/CMakeLists.txt lists them in the order of menus.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "widgets/figures/common/doubts.h"
#include "widgets/figures/common/figure.h"

namespace roofscape::widgets {

// What a figure is about. One about a training step has nothing to show of a scenario that serves, nor the reverse.
enum class Subject : std::uint8_t { training, serving, any };
// Without it a figure only says that there is nothing to show: a baseline, a pipeline of several stages, the plans that a
// search finds, or the clusters.
enum class Needs : std::uint8_t { nothing, baseline, stages, search, clusters };
constexpr bool is_searched(Needs needs) { return needs == Needs::search || needs == Needs::clusters; }

// What its numbers are of. Those of the plan have nothing to show of one that cannot run; schedules are compared
// while the schedule or its chunks alone are at fault; chips, models and searched plans are what they are beside any
// plan.
enum class About : std::uint8_t { plan, schedules, cluster, model, chips, runs, search };

// What of a measured run it draws beside its own numbers.
enum class Measures : std::uint8_t { nothing, operations, run };

inline constexpr float kColumnWidth = 425.2f, kPageWidth = 510.2f;  // points: 150 mm, 180 mm
// At scale 1: narrower is the column of a journal, in which some figures have a layout of their own.
inline constexpr float kJournalColumn = 460;

// The tags of a figure of a search that stand for plans, or for clusters with their plans, which a click adopts.
struct PlanTags {
  std::string_view id;  // empty: it has none
  // The plan of the tag with this index; nothing where none can run there. Null: its tags stand for clusters.
  std::optional<FoundPlan> (*plan)(const FigureInput&, int index) = nullptr;
  // The scenario on the cluster of the tag with this index, with its plan; nothing where none can run there.
  std::optional<engine::Scenario> (*moved)(const FigureInput&, const engine::Scenario&, int index) = nullptr;
};

struct FigureRow {
  std::string_view name;  // stable: "roofline"
  Subject subject = Subject::training;
  Needs needs = Needs::nothing;
  About about = About::plan;
  Measures measures = Measures::nothing;
  Rests rests = Rests::time;
  float width_pt = kColumnWidth, height_pt = 283.5f;  // of an exported file, in points (1/72 inch); text is kPrintEm
  std::span<const FigureOption> options = {};         // rows of FigureOptions (figure_options.h)

  FigureHead (*head)(const FigureInput&, const FigureView&) = nullptr;  // title and takeaway
  void (*draw)(Canvas&, const Rect&, const FigureInput&, const FigureView&) = nullptr;
  // What it shows as tab-separated text with a line of names first; numbers in full, in base units.
  std::string (*data)(const FigureInput&, const FigureView&) = nullptr;

  // Of a figure with the tools of the timeline (critical path, memory, playback, zoom): where its time runs, for
  // gestures; empty where nothing is drawn. Null: it has none.
  Rect (*timeline)(const Canvas&, const Rect&, const FigureInput&, const FigureView&) = nullptr;
  PlanTags plans = {};
  // What its picture, without the head, takes in height where an area this wide has a layout of its own, as the column of
  // a journal has; 0, or null: that follows from its size above.
  float (*own_height)(const Canvas&, float width, const FigureInput&, const FigureView&) = nullptr;
};

}  // namespace roofscape::widgets
