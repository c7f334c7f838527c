// The plot of the evidence figure: published runs as marks on their axes, the bands around a perfect prediction, and the
// plan among them. What is shown and the column of sources are in figure_evidence.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/studies/evidence.h"
#include "widgets/figures/common/figure.h"
#include "widgets/plot/plot.h"
#include "widgets/plot/scale.h"

namespace roofscape::widgets::evidence_plot {

inline constexpr float kSourceMark = 7;    // px
inline constexpr float kBandTint = 0.07f;  // of ink, in each band; the inner one lies in the outer one

struct SourceLook {
  Hue hue = Hue::blue;
  Marker marker = Marker::circle;
};
struct Source {
  std::string name;
  std::size_t n = 0;
  double median_absolute = 0;
  SourceLook look;
};

// What is shown: the points of one kind and how they lie to the plan.
struct ShownEvidence {
  const engine::Evidence* evidence = nullptr;  // null: not there yet
  engine::EvidenceKind kind = engine::EvidenceKind::step;
  std::vector<std::size_t> points;
  std::vector<bool> near;  // by index of all points
  engine::ErrorBand band;
  std::optional<double> own;    // what is predicted of the plan, where it is of this kind and mode
  std::vector<Source> sources;  // the one with the most points first
  engine::ErrorSummary summary;
};

bool is_operation(engine::EvidenceKind kind);
// What has a look of its own: a source of runs; of single operations, which come from few places, the chip.
std::string_view group_of(const engine::EvidencePoint& point);

struct Plot {
  Rect area;
  Frame frame;
  Scale x, y;
  bool errors = false;
  double most_error = 0;

  Point at(const engine::EvidencePoint& p) const {
    return errors ? Point{x(p.predicted), y(std::min(p.error, most_error))} : Point{x(p.measured), y(p.predicted)};
  }
};

// `errors`: the error over what is predicted; else what is predicted over what was measured.
Plot lay_out(const Canvas& canvas, const Rect& room, const FigureInput& input, const ShownEvidence& s, bool errors);

// Where predictions are within `share` of what was measured.
void draw_band(Canvas& canvas, const Theme& theme, const Plot& plot, double share);
// A ring: near the plan. Hollow: a part of the configuration was guessed.
void draw_ring(Canvas& canvas, const Theme& theme, Point at, Marker marker);
void draw_mark(Canvas& canvas, Point at, Marker marker, Colour colour, bool complete);
// Struck through: the run contradicts its neighbours.
void strike_mark(Canvas& canvas, Point at, Colour colour);
// `told`: whether a key or a readout says whose a mark is; where nothing does, hues and forms would be a riddle.
void draw_points(Canvas& canvas, const FigureInput& input, const ShownEvidence& s, const Plot& plot, bool near,
                 bool told);
// The plan: what is predicted of it, and where a measurement is expected.
void draw_own(Canvas& canvas, const FigureInput& input, const ShownEvidence& s, const Plot& plot);
// At its line where no mark is; the readout has it where there is no such place. Returns what it takes.
std::optional<Rect> draw_own_label(Canvas& canvas, const FigureInput& input, const ShownEvidence& s,
                                   const Plot& plot);
// How many lie in the bands, in a corner where no mark is: below the line of a perfect prediction there mostly is room.
void draw_shares(Canvas& canvas, const FigureInput& input, const ShownEvidence& s, const Plot& plot,
                 const std::optional<Rect>& own_label);

}  // namespace roofscape::widgets::evidence_plot
