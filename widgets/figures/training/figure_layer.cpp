// The layer figure: every product of a Transformer layer in a forward pass, with its operands as arrays cut over the
// mesh, the part of one chip, its share of the arithmetic, and the collectives before and after it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "engine/studies/layer_products.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/quantity_look.h"
#include "widgets/figures/common/stage_rows.h"
#include "widgets/figures/training/figure_pipeline_parts.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

using engine::Axis;
using engine::LayerDim;
using engine::LayerMove;
using engine::LayerProduct;
using engine::LayerProductsStudy;
using engine::ShardedDim;

namespace {

constexpr int kMostParts = 8;  // that an array is drawn cut into, along one side
constexpr float kElsewhereTint = 0.2f,
                kGatheredTint = 0.5f;                 // parts of other chips; gathered from them for the product
constexpr float kNarrowLayer = 400;                   // px: a column of a journal has names over the operands
constexpr float kLayerNames = 0.24f, kShareBar = 44;  // of the width; px
constexpr float kTileAspect = 1.5f, kMostTile = 42, kLeastTile = 8;  // width over height; px of height
constexpr float kStrip = 2.5f, kStripSpace = 1;                      // px: along the sides that an axis cuts
constexpr float kAdapter = 3;                                        // px: thickness of A and B
constexpr float kFrozenPitch = 0.35f, kFrozenLine = 0.08f;           // em: hatch of frozen weights
constexpr float kMostLayerRow = 100, kLeastTwoLines = 2.3f;          // px; lines of text

// As the scaling book has them where it has a letter.
constexpr engine::EnumTable<LayerDim> kLetters{"B", "D", "Q", "H", "K", "S", "F", "2F", "E", "C"};

const LayerProductsStudy& layer_study_of(const FigureInput& input) {
  return input.studies.get<LayerProductsStudy>(
      input.scenario, [&] { return engine::layer_products_study(input.scenario, input.report); });
}

int ways_of(const engine::AxisArray<int>& by_axis) {
  int all = 1;
  for (const int ways : by_axis) all *= ways;
  return all;
}
int parts_of(const ShardedDim& dim) { return ways_of(dim.ways) * ways_of(dim.at_rest); }

std::string product_name(const FigureInput& input, const LayerProduct& product) {
  const std::string name(input.texts.text("operation." + std::string(engine::kOperationIds[product.kind])));
  return product.shared_expert ? input.texts.format("figure.layer.shared", {name}) : name;
}
std::string axis_text(const FigureInput& input, Axis axis) {
  return input.texts.format("figure.axis." + std::string(engine::kAxisIds[axis]),
                            {format_count(input.scenario.parallelism.degree(axis))});
}
std::string dim_text(const FigureInput& input, LayerDim dim) {
  return std::string(input.texts.text("figure.layer.dim." + std::string(engine::kLayerDimIds[dim])));
}
std::string move_text(const FigureInput& input, const LayerMove& move) {
  return input.texts.format(
      "figure.layer.move",
      {std::string(input.texts.text("calc.word." + std::string(engine::kCollectiveIds[move.kind]))),
       axis_text(input, move.axis), format(move.bytes, engine::unit::bytes), format_duration(move.time_s)});
}

enum class Place : std::uint8_t { left, right, result };

// One array of a product.
struct LayerArray {
  const ShardedDim *rows, *columns, *experts;
  Place place;
  bool is_weight;
  double adapter_rank = 0;  // of the A and B beside weights
  bool frozen = false;
};
std::array<LayerArray, 3> arrays_of(const LayerProduct& p, bool frozen) {
  if (p.kind == engine::OperationKind::attention)
    return {LayerArray{&p.rows, &p.contraction, &p.experts, Place::left, false},
            LayerArray{&p.columns, &p.kv, &p.experts, Place::right, false},
            LayerArray{&p.rows, &p.contraction, &p.experts, Place::result, false}};
  return {LayerArray{&p.rows, &p.contraction, &p.experts, Place::left, false},
          LayerArray{&p.contraction, &p.columns, &p.experts, Place::right, true, p.adapter_rank, frozen},
          LayerArray{&p.rows, &p.columns, &p.experts, Place::result, false}};
}
// What of a dimension is cut while an operand is used: weights lie in smaller parts than they are multiplied in.
int cuts(const ShardedDim& dim, bool is_weight) { return is_weight ? parts_of(dim) : ways_of(dim.ways); }

std::string letter(const ShardedDim& dim, bool is_weight) {
  const int ways = cuts(dim, is_weight);
  std::string out(kLetters[dim.dim]);
  if (ways > 1) out += "/" + format_count(ways);
  return out;
}
// "[B/16, D]", as arrays are written in the book.
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
std::string whole_text(const LayerArray& o) {
  return size_text(*o.experts, o.rows->whole, o.columns->whole, o.experts->whole);
}
std::string array_name(const FigureInput& input, const LayerProduct& p, const LayerArray& o) {
  constexpr std::array<std::string_view, 3> kIds{"in", "weights", "out"};
  const bool keys = o.place == Place::right && p.kind == engine::OperationKind::attention;
  return std::string(input.texts.text("figure.layer.operand." +
                                      std::string(keys ? "keys" : kIds[static_cast<std::size_t>(o.place)])));
}

double share_of(const LayerProductsStudy& study, const LayerProduct& p) {
  return study.flops > 0 ? p.all_flops() / study.flops : 0;
}

FigureHead layer_head(const FigureInput& input, const FigureView&) {
  FigureHead head;
  head.title = input.texts.text(chip_key(input, "figure.layer.title"));
  const LayerProductsStudy& study = layer_study_of(input);
  if (!study.known() || input.report.has_errors()) return head;
  const LayerProduct& most =
      *std::max_element(study.products.begin(), study.products.end(),
                        [](const LayerProduct& a, const LayerProduct& b) { return a.all_flops() < b.all_flops(); });
  const double share = share_of(study, most);
  const std::string shown = say(head, data_claim("share of FLOPs", share, format_share(share)));
  const auto size = [&](const char* column, const ShardedDim& dim) {
    return say(head, data_claim(column, dim.local, format_count(std::round(dim.local))));
  };
  const std::string name = product_name(input, most);
  head.brief = input.texts.format("figure.layer.brief", {name, shown});
  head.takeaway = input.texts.format(
      chip_key(input, "figure.layer.takeaway"),
      {name, shown, size("rows", most.rows), size("contraction", most.contraction), size("columns", most.columns)});
  return head;
}

Readout readout_of(const FigureInput& input, const LayerProductsStudy& study, const LayerProduct& p) {
  const TextTable& t = input.texts;
  Readout out;
  out.title = t.format("figure.layer.readout", {product_name(input, p), format(p.all_flops(), engine::unit::flop),
                                                format_share(share_of(study, p))});
  for (const LayerArray& o : arrays_of(p, study.frozen)) {
    out.rows.emplace_back(array_name(input, p, o) + " " + symbol_of(o),
                          t.format("figure.layer.readout.sizes", {whole_text(o), local_text(o)}));
  }
  if (p.adapter_rank > 0)
    out.rows.emplace_back(t.format("figure.layer.key.adapters", {format_count(p.adapter_rank)}),
                          format(p.adapter_flops, engine::unit::flop));
  for (const auto* moves : {&p.before, &p.after})
    for (const LayerMove& move : *moves)
      out.rows.emplace_back(t.text(moves == &p.before ? "figure.layer.before" : "figure.layer.after"),
                            move_text(input, move));
  return out;
}

// ---- drawing ----

Colour array_colour(const Theme& theme, const LayerArray& o) {
  return fill_of(theme, o.is_weight ? MemoryPart::weights : MemoryPart::activations, 1).colour;
}

// A piece of `side` in `parts`: the first.
float first_part(float side, int parts) { return side / static_cast<float>(std::min(parts, kMostParts)); }

// Weights that are not trained.
Fill frozen_fill(const Theme& theme, Colour colour, float em) {
  return {.colour = colour,
          .hatch = Hatch::slash,
          .hatch_ink = theme.panel,
          .pitch = kFrozenPitch * em,
          .hatch_width = kFrozenLine * em};
}

// A beside the matrix and B under it, each as thin as its rank: what is trained is in ink.
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
    const auto is_cut = [&](const ShardedDim& dim) {
      return dim.ways[axis] > 1 || (o.is_weight && dim.at_rest[axis] > 1);
    };
    if (is_cut(*o.rows)) canvas.rect({x, r.y, thick, r.h}, hue), x -= step;
    if (is_cut(*o.columns)) canvas.rect({r.x, y, r.w, thick}, hue), y -= step;
  }
  if (o.experts->ways[Axis::expert] > 1)
    canvas.rect({r.right() + canvas.px(kStripSpace), r.y, thick, r.h},
                {.colour = line_of(theme, look_of(Axis::expert))});
}

struct LayerLayout {
  bool narrow = false;  // names over the operands
  bool sizes = true;    // the second line under the letters
  bool beside = true;   // letters beside an array, else under it
  float line = 0, names = 0, shares = 0, sign = 0, cell = 0, tile_w = 0, tile_h = 0, row = 0, strips = 0;
  float bar = 0;
  double most = 1;  // the largest share
};

int lines_of(const LayerProduct& p) { return (p.before.empty() ? 0 : 1) + (p.after.empty() ? 0 : 1); }

// Moves of one place on one line, each in the colour of its axis.
void draw_moves(Canvas& canvas, const FigureInput& input, Rect line, const std::vector<LayerMove>& moves,
                std::string_view before) {
  TextStyle style = small_text(canvas, input.theme.ink2, HAlign::left);
  if (!before.empty()) {
    canvas.text({line.x, line.centre().y}, before, style);
    line.cut_left(canvas.text_width(before, style) + canvas.px(6));
  }
  for (const LayerMove& move : moves) {
    style.colour = readable(line_of(input.theme, look_of(move.axis)), input.theme.panel);
    const std::string words = ellipsize(canvas, "\u2193 " + move_text(input, move), style, line.w);
    if (words.empty()) return;
    canvas.text({line.x, line.centre().y}, words, style);
    line.cut_left(canvas.text_width(words, style) + canvas.px(14));
  }
}

void draw_array_of(Canvas& canvas, const FigureInput& input, const Rect& cell, const LayerArray& o,
                   const LayerLayout& at) {
  const TextStyle symbol = small_text(canvas, input.theme.ink, HAlign::left),
                  size = small_text(canvas, input.theme.ink2, HAlign::left);
  const float lines = at.sizes ? 2 : 1;
  Rect tile{cell.x + at.strips, cell.centre().y - at.tile_h / 2 + at.strips / 2, at.tile_w, at.tile_h};
  Point words{tile.right() + canvas.px(7), cell.centre().y - (lines - 1) * at.line / 2};
  if (!at.beside) {
    tile.y = cell.y + at.strips;
    words = {cell.x, tile.bottom() + canvas.px(2) + (o.adapter_rank > 0 ? canvas.px(kAdapter + kStripSpace) : 0) +
                         at.line / 2};
  }
  draw_tile(canvas, input, tile, o);
  if (o.adapter_rank > 0) {
    draw_adapter(canvas, input, tile);
    if (at.beside) words.x += canvas.px(kAdapter + kStripSpace);
  }
  // Under an array the words may reach to the next one's; all of them stand in the readout.
  const float room = cell.x + at.cell + at.sign - words.x - canvas.px(4);
  const auto write = [&](float y, const std::string& text, const TextStyle& style) {
    canvas.text({words.x, y}, at.beside ? text : ellipsize(canvas, text, style, room), style);
  };
  write(words.y, symbol_of(o), symbol);
  if (at.sizes) write(words.y + at.line, local_text(o), size);
}

void draw_product(Canvas& canvas, const FigureInput& input, Rect row, const LayerProductsStudy& study,
                  const LayerProduct& p, const LayerLayout& at) {
  const Theme& theme = input.theme;
  const double share = share_of(study, p);
  const TextStyle name = small_text(canvas, theme.ink, HAlign::left, Weight::bold),
                  value = small_text(canvas, theme.ink, HAlign::right);
  const std::string percent = format_share(share);
  const Fill bar_fill{.colour = mix(theme.panel, theme.ink2, 0.85f)};
  const auto draw_share = [&](const Rect& column) {
    canvas.text({column.right(), column.centre().y}, percent, value);
    const Rect bar{column.x, column.centre().y - at.line * 0.3f, at.bar * static_cast<float>(share / at.most),
                   at.line * 0.6f};
    if (at.bar <= 0) return;
    if (is_tick(canvas, bar))
      draw_tick(canvas, theme, bar, bar_fill);
    else
      canvas.rect(bar, bar_fill);
  };
  if (at.narrow) {
    const Rect head = row.cut_top(at.line * 1.1f);
    canvas.text({head.x, head.centre().y}, ellipsize(canvas, product_name(input, p), name, head.w - at.shares), name);
    draw_share({head.right() - at.shares, head.y, at.shares, head.h});
  } else {
    const Rect left = row.cut_left(at.names);
    const bool two = row.h >= at.line * 2;
    const auto words = wrap(canvas, product_name(input, p), name, left.w - canvas.px(6), two ? 2 : 1);
    float y = left.centre().y - at.line * static_cast<float>(words.size() - 1) / 2;
    for (const std::string& line : words) canvas.text({left.x, y}, line, name), y += at.line;
    draw_share(row.cut_right(at.shares));
  }
  const auto operands = arrays_of(p, study.frozen);
  TextStyle sign = small_text(canvas, theme.ink2, HAlign::centre);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Rect cell = row.cut_left(at.cell);
    draw_array_of(canvas, input, cell, operands[i], at);
    if (i + 1 == operands.size()) break;
    const Rect between = row.cut_left(at.sign);
    const float y = at.beside ? between.centre().y : cell.y + at.strips + at.tile_h / 2;
    canvas.text({between.centre().x, y}, i == 0 ? "\u00d7" : "=", sign);
  }
}

LayerLayout layout_of(const Canvas& canvas, const FigureInput& input, const Rect& area,
                      const LayerProductsStudy& study, int move_lines) {
  LayerLayout at;
  at.line = small_line(canvas);
  at.narrow = area.w < canvas.px(kNarrowLayer);
  at.strips = canvas.px(3 * (kStrip + kStripSpace));
  const float under_tile = study.frozen ? canvas.px(kAdapter + kStripSpace) : 0;
  const TextStyle plain = small_text(canvas, input.theme.ink, HAlign::left),
                  bold = small_text(canvas, input.theme.ink, HAlign::left, Weight::bold);
  float symbols = 0, sizes = 0;
  at.most = 0;
  for (const LayerProduct& p : study.products) {
    at.most = std::max(at.most, share_of(study, p));
    at.names = std::max(at.names, canvas.text_width(product_name(input, p), bold) + canvas.px(10));
    for (const LayerArray& o : arrays_of(p, study.frozen)) {
      symbols = std::max(symbols, canvas.text_width(symbol_of(o), plain));
      sizes = std::max(sizes, canvas.text_width(local_text(o), plain));
    }
  }
  at.names = at.narrow ? 0 : std::min(at.names, area.w * kLayerNames);
  at.bar = canvas.px(kShareBar);
  at.shares = at.bar + canvas.px(6) + canvas.text_width("100 %", plain);
  at.sign = canvas.px(16);
  at.cell = (area.w - at.names - (at.narrow ? 0 : at.shares + canvas.px(10)) - 2 * at.sign) / 3;
  const auto count = static_cast<float>(study.products.size());
  at.row = std::min(canvas.px(kMostLayerRow), (area.h - static_cast<float>(move_lines) * at.line) / count);
  float room = at.row - canvas.px(4) - under_tile - (at.narrow ? at.line * 1.1f : 0);
  at.tile_h = std::min(canvas.px(kMostTile), room - at.strips);
  at.tile_w = at.tile_h * kTileAspect;
  const auto fits_beside = [&](float words) {
    return at.strips + under_tile + canvas.px(kLeastTile) * kTileAspect + canvas.px(7) + words <= at.cell;
  };
  at.sizes = room >= at.line * kLeastTwoLines && (fits_beside(std::max(symbols, sizes)) || sizes <= at.cell);
  const float words = at.sizes ? std::max(symbols, sizes) : symbols;
  at.beside = fits_beside(words);
  if (at.beside) {
    at.tile_w = std::min(at.tile_w, at.cell - at.strips - under_tile - canvas.px(7) - words);
    at.tile_h = std::min(at.tile_h, at.tile_w / kTileAspect * 1.3f);
  } else {
    const float under = at.line * (at.sizes ? 2 : 1) + canvas.px(2);
    if (at.sizes && room - at.strips - under < canvas.px(kLeastTile)) at.sizes = false;
    at.tile_h = std::min(at.tile_h, room - at.strips - at.line * (at.sizes ? 2 : 1) - canvas.px(2));
    at.tile_w = std::min(at.tile_h * kTileAspect * 1.6f, at.cell - at.strips - canvas.px(4));
  }
  return at;
}

std::vector<KeyEntry> key_of(const Canvas& canvas, const FigureInput& input, const LayerProductsStudy& study) {
  const Theme& theme = input.theme;
  engine::AxisArray<bool> cut{};
  bool gathered = false;
  for (const LayerProduct& p : study.products)
    for (const ShardedDim* dim : {&p.rows, &p.contraction, &p.columns, &p.kv, &p.experts})
      for (std::size_t a = 0; a < engine::kAxisCount; ++a) {
        cut[a] = cut[a] || dim->ways[a] > 1 || dim->at_rest[a] > 1;
        gathered = gathered || dim->at_rest[a] > 1;
      }
  std::vector<KeyEntry> out;
  const auto add = [&](const std::string& key, std::string_view brief, MemoryPart part, float tint) {
    out.push_back({std::string(input.texts.text(key)),
                   {.colour = mix(theme.panel, fill_of(theme, part, canvas.em()).colour, tint)},
                   std::string(input.texts.text(brief))});
  };
  add(chip_key(input, "figure.layer.key.activations"), "figure.layer.key.activations.brief", MemoryPart::activations,
      1);
  add(chip_key(input, "figure.layer.key.weights"), "figure.layer.key.weights.brief", MemoryPart::weights, 1);
  if (study.frozen) {
    out.back() = {std::string(input.texts.text(chip_key(input, "figure.layer.key.frozen"))),
                  frozen_fill(theme, fill_of(theme, MemoryPart::weights, canvas.em()).colour, canvas.em()),
                  std::string(input.texts.text("figure.layer.key.frozen.brief"))};
    const std::string rank = format_count(input.scenario.adapter.rank);
    out.push_back({input.texts.format("figure.layer.key.adapters", {rank}),
                   {.colour = theme.ink},
                   input.texts.format("figure.layer.key.adapters.brief", {rank})});
  }
  if (gathered)
    add("figure.layer.key.gathered", "figure.layer.key.gathered.brief", MemoryPart::weights, kGatheredTint);
  for (std::size_t a = 0; a < engine::kAxisCount; ++a)
    if (cut[a])
      out.push_back(
          {axis_text(input, static_cast<Axis>(a)), {.colour = line_of(theme, look_of(static_cast<Axis>(a)))}});
  return out;
}

// "B tokens of a microbatch 131 072; D model width 16 384; ...".
std::string letters_text(const FigureInput& input, const LayerProductsStudy& study) {
  std::string out;
  std::array<bool, engine::kEnumCount<LayerDim>> named{};
  for (const LayerProduct& p : study.products)
    for (const ShardedDim* dim : {&p.rows, &p.contraction, &p.columns, &p.kv, &p.experts}) {
      if ((dim == &p.experts || dim == &p.kv) && dim->whole <= 1) continue;
      bool& done = named[static_cast<std::size_t>(dim->dim)];
      if (std::exchange(done, true) || dim->dim == LayerDim::gate_up) continue;
      if (!out.empty()) out += "; ";
      out += input.texts.format("figure.layer.letter", {std::string(kLetters[dim->dim]), dim_text(input, dim->dim),
                                                        format_count(std::round(dim->whole))});
    }
  return out;
}

void draw_layer(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  Rect rest = draw_figure_head(canvas, area, input, view, layer_head(input, view));
  if (rest.empty()) return;
  const LayerProductsStudy& study = layer_study_of(input);
  if (!study.known())
    return draw_empty_state(canvas, input.theme, rest, std::string(input.texts.text("figure.layer.empty")));
  const float line = small_line(canvas);
  const auto count = static_cast<float>(study.products.size());
  // What there is room for beside the rows: first the moves, then the key, then what the letters mean.
  int moves = study.weights.empty() ? 0 : 1;
  for (const LayerProduct& p : study.products) moves += lines_of(p);
  const bool narrow = rest.w < canvas.px(kNarrowLayer);
  const float least = count * line * (narrow ? 2.2f : 2.4f);
  const bool shows_moves = rest.h >= least + static_cast<float>(moves) * line;
  float needed = least + (shows_moves ? static_cast<float>(moves) * line : 0);
  const std::vector<KeyEntry> key = key_of(canvas, input, study);
  if (const float height = line * (static_cast<float>(key_rows(canvas, rest.w, key)) + 0.2f);
      rest.h >= needed + height) {
    const Rect strip = rest.cut_top(height);
    draw_fitting_key(canvas, input.theme, {strip.x, strip.centre().y}, strip.w, key, {});
    needed += height;
  }
  const TextStyle prose = small_text(canvas, input.theme.ink3, HAlign::left);
  const auto letters = wrap(canvas, letters_text(input, study), prose, rest.w, narrow ? 5 : 3);
  if (const float height = line * static_cast<float>(letters.size()) + canvas.px(4); rest.h >= needed + height) {
    Rect foot = rest.cut_bottom(height);
    foot.cut_top(canvas.px(4));
    for (const std::string& words : letters) canvas.text({foot.x, foot.cut_top(line).centre().y}, words, prose);
  }
  const LayerLayout at = layout_of(canvas, input, rest, study, shows_moves ? moves : 0);
  if (at.row < line || at.tile_h < canvas.px(4) || at.tile_w <= 0) return;
  if (shows_moves && !study.weights.empty())
    draw_moves(canvas, input, rest.cut_top(line), study.weights, input.texts.text("figure.layer.weights"));
  for (std::size_t i = 0; i < study.products.size(); ++i) {
    const LayerProduct& p = study.products[i];
    const float indent = at.narrow ? 0 : at.names;
    const float top = rest.y;
    if (shows_moves && !p.before.empty()) {
      Rect words = rest.cut_top(line);
      words.cut_left(indent);
      draw_moves(canvas, input, words, p.before, {});
    }
    const Rect row = rest.cut_top(at.row);
    draw_product(canvas, input, row, study, p, at);
    if (shows_moves && !p.after.empty()) {
      Rect words = rest.cut_top(line);
      words.cut_left(indent);
      draw_moves(canvas, input, words, p.after, {});
    }
    canvas.tag_with("layer.product", static_cast<int>(i), rect_between(rest.x, top, rest.right(), rest.y),
                    [&] { return readout_of(input, study, p); });
  }
}

std::string layer_data(const FigureInput& input, const FigureView&) {
  std::string out =
      "product\texperts\trows\tcontraction\tcolumns\twhole experts\twhole rows\twhole contraction\twhole columns\t"
      "FLOPs\tshare of FLOPs\tadapter rank\tadapter FLOPs\n";
  const LayerProductsStudy& study = layer_study_of(input);
  for (const LayerProduct& p : study.products) {
    out += product_name(input, p);
    for (const ShardedDim* dim : {&p.experts, &p.rows, &p.contraction, &p.columns})
      out += fmt::format("\t{}", dim->local);
    for (const ShardedDim* dim : {&p.experts, &p.rows, &p.contraction, &p.columns})
      out += fmt::format("\t{}", dim->whole);
    out += fmt::format("\t{}\t{}\t{}\t{}\n", p.flops, share_of(study, p), p.adapter_rank, p.adapter_flops);
  }
  return out;
}

}  // namespace

extern constinit const FigureRow layer_figure{
    .name = "layer",
    .rests = Rests::nothing,
    .height_pt = 405,
    .head = layer_head,
    .draw = draw_layer,
    .data = layer_data,
};

}  // namespace roofscape::widgets
