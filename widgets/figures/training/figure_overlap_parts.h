// What the two forms of the overlap figure share: one strategy with its axis of time, and all strategies under one
// another.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/studies/layer_overlap.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/figure.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets::overlap {

inline constexpr int kLayers = 3;  // of each direction

struct Block {
  enum class Kind : std::uint8_t { compute, recompute, exposed, gather, transfer };
  Kind kind = Kind::compute;
  engine::Axis axis = engine::Axis::data;
  bool backward = false;
  int layer = 0;            // that it belongs to, as the model counts them
  double from = 0, to = 0;  // seconds
};

engine::LayerOverlap study(const FigureInput& input, engine::Strategy strategy);
// Axes that move anything, in the order of the mesh.
std::vector<engine::Axis> lanes_of(const engine::LayerOverlap& o);
// The middle of the model, where a layer has neighbours on both sides. A layer's slot is its work and what is
// exposed.
std::vector<Block> blocks_of(const engine::LayerOverlap& o);
std::string axis_name(const FigureInput& input, const engine::LayerOverlap& o, engine::Axis axis);
std::string_view strategy_key(engine::Strategy strategy);
// Seconds of what is drawn, and the share of a layer's time that is exposed.
double length_of(const engine::LayerOverlap& o);
double exposed_share(const engine::LayerOverlap& o);

// The blocks on their lanes: compute on the first, each axis on one of its own. `plot` spans `end_s` seconds.
// Returns whether any block had room for the number of its layer.
bool draw_blocks(Canvas& canvas, const FigureInput& input, const FigureView& view, const engine::LayerOverlap& o,
                 bool own, const Rect& plot, double end_s);
// Of which axes a layer carries only a part of what moves once a step, and which part. Empty: of none.
std::string carried_text(const FigureInput& input, const engine::LayerOverlap& o);
// Weights gathered ahead: the axis's fill in another shade. Nothing: a layer gathers none.
Fill gather_fill(const Theme& theme, engine::Axis axis, float em);
// Where a layer waits for what is not hidden.
Fill exposed_fill(const Theme& theme, float em);
std::optional<engine::Axis> gathered_axis(const engine::LayerOverlap& o);
// What blocks look like; `axes` are those whose lanes have no names of their own. `numbers`: what those in blocks
// are.
std::vector<KeyEntry> overlap_key(const FigureInput& input, float em, bool recompute, bool exposed,
                                  std::optional<engine::Axis> gathered, const std::vector<engine::Axis>& axes = {});
void draw_overlap_key(Canvas& canvas, const FigureInput& input, const Rect& row, const std::vector<KeyEntry>& key,
                      bool numbers);

// All strategies, those that the height has room for, over one axis of time.
FigureHead strategies_head(const FigureInput& input);
void draw_strategies(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view);

}  // namespace roofscape::widgets::overlap
