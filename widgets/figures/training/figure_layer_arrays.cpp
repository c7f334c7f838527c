#include "widgets/figures/training/figure_layer_arrays.h"

#include <algorithm>
#include <cmath>

#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/quantity_look.h"

namespace roofscape::widgets::layer {

using engine::Axis;
using engine::LayerProduct;
using engine::ShardedDim;

namespace {

constexpr int kMostParts = 8;                               // that an array is drawn cut into, along one side
constexpr float kElsewhereTint = 0.2f;                      // parts of other chips
constexpr float kFrozenPitch = 0.35f, kFrozenLine = 0.08f;  // em: hatch of frozen weights

int ways_of(const engine::AxisArray<int>& by_axis) {
  int all = 1;
  for (const int ways : by_axis) all *= ways;
  return all;
}
int parts_of(const ShardedDim& dim) { return ways_of(dim.ways) * ways_of(dim.at_rest); }
// What of a dimension is cut while an operand is used: weights lie in smaller parts than they are multiplied in.
int cuts(const ShardedDim& dim, bool is_weight) { return is_weight ? parts_of(dim) : ways_of(dim.ways); }

std::string letter(const ShardedDim& dim, bool is_weight) {
  const int ways = cuts(dim, is_weight);
  std::string out(kLetters[dim.dim]);
  if (ways > 1) out += "/" + format_count(ways);
  return out;
}
Colour array_colour(const Theme& theme, const LayerArray& o) {
  return fill_of(theme, o.is_weight ? MemoryPart::weights : MemoryPart::activations, 1).colour;
}

// A piece of `side` in `parts`: the first.
float first_part(float side, int parts) { return side / static_cast<float>(std::min(parts, kMostParts)); }

bool is_cut(const LayerArray& o, const ShardedDim& dim, Axis axis) {
  return dim.ways[axis] > 1 || (o.is_weight && dim.at_rest[axis] > 1);
}

}  // namespace

std::array<LayerArray, 3> arrays_of(const LayerProduct& p, bool frozen) {
  if (p.kind == engine::OperationKind::attention)
    return {LayerArray{&p.rows, &p.contraction, &p.experts, Place::left, false},
            LayerArray{&p.columns, &p.kv, &p.experts, Place::right, false},
            LayerArray{&p.rows, &p.contraction, &p.experts, Place::result, false}};
  return {LayerArray{&p.rows, &p.contraction, &p.experts, Place::left, false},
          LayerArray{&p.contraction, &p.columns, &p.experts, Place::right, true, p.adapter_rank, frozen},
          LayerArray{&p.rows, &p.columns, &p.experts, Place::result, false}};
}
std::string symbol_of(const LayerArray& o) {
  std::string out = "[";
  if (o.experts->whole > 1) out += letter(*o.experts, false) + ", ";
  out += letter(*o.rows, o.is_weight) + ", " + letter(*o.columns, o.is_weight) + "]";
  return o.adapter_rank > 0 ? out + " + AB" : out;
}
std::string size_text(const ShardedDim& experts, double rows, double columns, double count) {
  const std::string size = format_count(std::round(rows)) + " \u00d7 " + format_count(std::round(columns));
  return experts.whole > 1 ? format_count(count) + " \u00d7 " + size : size;
}
std::string local_text(const LayerArray& o) {
  return size_text(*o.experts, o.rows->local, o.columns->local, o.experts->local);
}

Strips strips_of(const LayerArray& o) {
  Strips out;
  for (std::size_t a = 0; a < engine::kAxisCount; ++a) {
    out.left += is_cut(o, *o.rows, static_cast<Axis>(a)) ? 1 : 0;
    out.over += is_cut(o, *o.columns, static_cast<Axis>(a)) ? 1 : 0;
  }
  return out;
}

// Weights that are not trained.
Fill frozen_fill(const Theme& theme, Colour colour, float em) {
  return {.colour = colour,
          .hatch = Hatch::slash,
          .hatch_ink = theme.panel,
          .pitch = kFrozenPitch * em,
          .hatch_width = kFrozenLine * em};
}

void draw_adapter(Canvas& canvas, const FigureInput& input, const Rect& tile) {
  const float thick = canvas.px(kAdapter), space = canvas.px(kStripSpace);
  const Fill ink{.colour = input.theme.ink};
  canvas.rect({tile.right() + space, tile.y, thick, tile.h}, ink);
  canvas.rect({tile.x, tile.bottom() + space, tile.w, thick}, ink);
}

void draw_tile(Canvas& canvas, const FigureInput& input, const Rect& r, const LayerArray& o) {
  const Theme& theme = input.theme;
  const auto filled = [&](Colour of) { return o.frozen ? frozen_fill(theme, of, canvas.em()) : Fill{.colour = of}; };
  const Colour colour = array_colour(theme, o);
  canvas.rect(r, {.colour = mix(theme.panel, colour, kElsewhereTint)});
  const Rect used{r.x, r.y, first_part(r.w, ways_of(o.columns->ways)), first_part(r.h, ways_of(o.rows->ways))};
  if (o.is_weight && parts_of(*o.rows) * parts_of(*o.columns) > ways_of(o.rows->ways) * ways_of(o.columns->ways)) {
    canvas.rect(used, filled(mix(theme.panel, colour, kGatheredTint)));
    canvas.rect(
        {r.x, r.y, first_part(used.w, ways_of(o.columns->at_rest)), first_part(used.h, ways_of(o.rows->at_rest))},
        filled(colour));
  } else {
    canvas.rect(used, filled(colour));
  }
  const Stroke cut{theme.panel, canvas.px(0.8f), {}};
  const int rows = std::min(kMostParts, cuts(*o.rows, o.is_weight)),
            columns = std::min(kMostParts, cuts(*o.columns, o.is_weight));
  for (int i = 1; i < rows; ++i) {
    const float y = r.y + r.h * static_cast<float>(i) / static_cast<float>(rows);
    canvas.line({r.x, y}, {r.right(), y}, cut);
  }
  for (int i = 1; i < columns; ++i) {
    const float x = r.x + r.w * static_cast<float>(i) / static_cast<float>(columns);
    canvas.line({x, r.y}, {x, r.bottom()}, cut);
  }
  canvas.frame(r, {theme.edge, theme.edge_width * canvas.em(), {}});
  // Which axis cuts a side, in its colour beside it.
  const float thick = canvas.px(kStrip), step = canvas.px(kStrip + kStripSpace);
  float x = r.x - step, y = r.y - step;
  for (std::size_t a = 0; a < engine::kAxisCount; ++a) {
    const Axis axis = static_cast<Axis>(a);
    const Fill hue{.colour = line_of(theme, look_of(axis))};
    if (is_cut(o, *o.rows, axis)) canvas.rect({x, r.y, thick, r.h}, hue), x -= step;
    if (is_cut(o, *o.columns, axis)) canvas.rect({r.x, y, r.w, thick}, hue), y -= step;
  }
  if (o.experts->ways[Axis::expert] > 1)
    canvas.rect({r.right() + canvas.px(kStripSpace), r.y, thick, r.h},
                {.colour = line_of(theme, look_of(Axis::expert))});
}

}  // namespace roofscape::widgets::layer
