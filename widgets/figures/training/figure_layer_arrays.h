// Arrays of the layer figure: the operands of a product as they are cut over the mesh, their letters and sizes, and each
// as a tile with strips in the colours of the axes that cut its sides.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "engine/base/enum_table.h"
#include "engine/studies/layer_products.h"
#include "widgets/figures/common/figure.h"

namespace roofscape::widgets::layer {

// px: along the sides that an axis cuts; thickness of A and B.
inline constexpr float kStrip = 2.5f, kStripSpace = 1, kAdapter = 3;
inline constexpr float kGatheredTint = 0.5f;  // gathered from other chips for the product

// As the scaling book has them where it has a letter.
inline constexpr engine::EnumTable<engine::LayerDim> kLetters{"B", "D", "Q", "H", "K", "S", "F", "2F", "E", "C"};

enum class Place : std::uint8_t { left, right, result };

// One array of a product.
struct LayerArray {
  const engine::ShardedDim *rows, *columns, *experts;
  Place place;
  bool is_weight;
  double adapter_rank = 0;  // of the A and B beside weights
  bool frozen = false;
};
std::array<LayerArray, 3> arrays_of(const engine::LayerProduct& product, bool frozen);

// "[B/16, D]", as arrays are written in the book; "8192 × 4096", the part of a chip.
std::string symbol_of(const LayerArray& array);
std::string size_text(const engine::ShardedDim& experts, double rows, double columns, double count);
std::string local_text(const LayerArray& array);

// How many strips stand left of a tile and over it.
struct Strips {
  int left = 0, over = 0;
};
Strips strips_of(const LayerArray& array);
Fill frozen_fill(const Theme& theme, Colour colour, float em);
void draw_tile(Canvas& canvas, const FigureInput& input, const Rect& tile, const LayerArray& array);
// A beside the matrix and B under it, each as thin as its rank: what is trained is in ink.
void draw_adapter(Canvas& canvas, const FigureInput& input, const Rect& tile);

}  // namespace roofscape::widgets::layer
