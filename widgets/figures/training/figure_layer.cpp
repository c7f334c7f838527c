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
#include "widgets/figures/training/figure_layer_arrays.h"
#include "widgets/figures/training/figure_pipeline_parts.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

using engine::Axis;
using engine::LayerDim;
using engine::LayerMove;
using engine::LayerProduct;
using engine::LayerProductsStudy;
using engine::ShardedDim;
using layer::arrays_of;
using layer::kLetters;
using layer::LayerArray;
using layer::local_text;
using layer::symbol_of;

namespace {

constexpr float kNarrowLayer = 470;                   // px: a column of a journal has names over the operands
constexpr float kLayerNames = 0.24f, kShareBar = 44;  // of the width; px
constexpr float kTileAspect = 1.5f, kMostTile = 42, kLeastTile = 8;  // width over height; px of height
constexpr float kMostLayerRow = 100, kLeastTwoLines = 2.05f;         // px; lines of text
constexpr float kLeastTwoNames = 1.7f;                               // lines of a row for a name in two lines
// Lines of text in a column: the name and share of a product, its arrays, with their sizes, the gap to the next.
struct LayerSpacing {
  float name = 1.1f, tile = 1.8f, sized = 2.35f, gap = 0.45f;
};
constexpr std::size_t kUsualProducts = 6;  // more of them, as of a mixture of experts, stand closer
LayerSpacing spacing_of(const LayerProductsStudy& study) {
  return study.products.size() > kUsualProducts ? LayerSpacing{1.0f, 1.65f, 2.1f, 0.3f} : LayerSpacing{};
}
constexpr float kPageRow = 3.6f;  // of a product on a page
constexpr int kMostLetterLines = 9;

const LayerProductsStudy& layer_study_of(const FigureInput& input) {
  return input.studies.get<LayerProductsStudy>(
      input.scenario, [&] { return engine::layer_products_study(input.scenario, input.report); });
}

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
// `key`: all of it, or less where there is little room; the colour says over which axis.
constexpr std::array<std::string_view, 3> kMoveKeys{"figure.layer.move", "figure.layer.move.brief",
                                                    "figure.layer.move.briefest"};
std::string move_text(const FigureInput& input, const LayerMove& move, std::string_view key = kMoveKeys.front()) {
  return input.texts.format(
      key, {std::string(input.texts.text("calc.word." + std::string(engine::kCollectiveIds[move.kind]))),
            axis_text(input, move.axis), format(move.bytes, engine::unit::bytes), format_duration(move.time_s)});
}

std::string whole_text(const LayerArray& o) {
  return layer::size_text(*o.experts, o.rows->whole, o.columns->whole, o.experts->whole);
}
std::string array_name(const FigureInput& input, const LayerProduct& p, const LayerArray& o) {
  constexpr std::array<std::string_view, 3> kIds{"in", "weights", "out"};
  const bool keys = o.place == layer::Place::right && p.kind == engine::OperationKind::attention;
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

struct LayerLayout {
  bool narrow = false;  // names over the operands
  bool sizes = true;    // the second line under the letters
  bool beside = true;   // letters beside an array, else under it
  float line = 0, names = 0, shares = 0, sign = 0, cell = 0, tile_w = 0, tile_h = 0, row = 0;
  float strips_left = 0, strips_over = 0;  // beside and over a tile
  float head = 0, gap = 0;                 // the line of a product's name, what is free under it
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
  const auto words_of = [&](const LayerMove& move, std::string_view key) {
    return "\u2193 " + move_text(input, move, key);
  };
  const auto fits = [&](std::string_view key) {
    float width = 0;
    for (const LayerMove& move : moves) width += canvas.text_width(words_of(move, key), style) + canvas.px(14);
    return width - canvas.px(14) <= line.w;
  };
  const auto key = std::find_if(kMoveKeys.begin(), kMoveKeys.end() - 1, fits);
  for (const LayerMove& move : moves) {
    style.colour = readable(line_of(input.theme, look_of(move.axis)), input.theme.panel);
    const std::string words = ellipsize(canvas, words_of(move, *key), style, line.w);
    if (words.empty()) return;
    canvas.text({line.x, line.centre().y}, words, style);
    line.cut_left(canvas.text_width(words, style) + canvas.px(14));
  }
}

float tile_middle(const Rect& cell, const LayerLayout& at) {
  return at.beside ? cell.centre().y + at.strips_over / 2 : cell.y + at.strips_over + at.tile_h / 2;
}

void draw_array_of(Canvas& canvas, const FigureInput& input, const Rect& cell, const LayerArray& o,
                   const LayerLayout& at) {
  const TextStyle symbol = small_text(canvas, input.theme.ink, HAlign::left),
                  size = small_text(canvas, input.theme.ink2, HAlign::left);
  const float lines = at.sizes ? 2 : 1;
  Rect tile{cell.x + at.strips_left, tile_middle(cell, at) - at.tile_h / 2, at.tile_w, at.tile_h};
  Point words{tile.right() + canvas.px(7), tile.centre().y - (lines - 1) * at.line / 2};
  if (!at.beside) {
    words = {cell.x, tile.bottom() + canvas.px(2) +
                         (o.adapter_rank > 0 ? canvas.px(layer::kAdapter + layer::kStripSpace) : 0) + at.line / 2};
  }
  layer::draw_tile(canvas, input, tile, o);
  if (o.adapter_rank > 0) {
    layer::draw_adapter(canvas, input, tile);
    if (at.beside) words.x += canvas.px(layer::kAdapter + layer::kStripSpace);
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
    const Rect head = row.cut_top(at.head);
    canvas.text({head.x, head.centre().y}, ellipsize(canvas, product_name(input, p), name, head.w - at.shares), name);
    draw_share({head.right() - at.shares, head.y, at.shares, head.h});
  } else {
    const Rect left = row.cut_left(at.names);
    const bool two = row.h >= at.line * kLeastTwoNames;
    const auto words = wrap(canvas, product_name(input, p), name, left.w - canvas.px(6), two ? 2 : 1);
    const float step = std::min(at.line, row.h / 2);
    float y = left.centre().y - step * static_cast<float>(words.size() - 1) / 2;
    for (const std::string& line : words) canvas.text({left.x, y}, line, name), y += step;
    draw_share(row.cut_right(at.shares));
  }
  const auto operands = arrays_of(p, study.frozen);
  TextStyle sign = small_text(canvas, theme.ink2, HAlign::centre);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Rect cell = row.cut_left(at.cell);
    draw_array_of(canvas, input, cell, operands[i], at);
    if (i + 1 == operands.size()) break;
    const Rect between = row.cut_left(at.sign);
    canvas.text({between.centre().x, tile_middle(cell, at)}, i == 0 ? "\u00d7" : "=", sign);
  }
}

LayerLayout layout_of(const Canvas& canvas, const FigureInput& input, const Rect& area,
                      const LayerProductsStudy& study, int move_lines) {
  LayerLayout at;
  at.line = small_line(canvas);
  at.narrow = area.w < canvas.px(kNarrowLayer);
  const float under_tile = study.frozen ? canvas.px(layer::kAdapter + layer::kStripSpace) : 0;
  const TextStyle plain = small_text(canvas, input.theme.ink, HAlign::left),
                  bold = small_text(canvas, input.theme.ink, HAlign::left, Weight::bold);
  const float strip = canvas.px(layer::kStrip + layer::kStripSpace);
  float symbols = 0, sizes = 0;
  at.most = 0;
  for (const LayerProduct& p : study.products) {
    at.most = std::max(at.most, share_of(study, p));
    at.names = std::max(at.names, canvas.text_width(product_name(input, p), bold) + canvas.px(10));
    for (const LayerArray& o : arrays_of(p, study.frozen)) {
      const layer::Strips strips = layer::strips_of(o);
      at.strips_left = std::max(at.strips_left, strip * static_cast<float>(strips.left));
      at.strips_over = std::max(at.strips_over, strip * static_cast<float>(strips.over));
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
  const LayerSpacing spacing = spacing_of(study);
  at.head = at.narrow ? at.line * spacing.name : 0;
  if (at.narrow) at.gap = std::clamp(at.row - at.line * (spacing.name + spacing.tile), 0.0f, at.line * spacing.gap);
  float room = at.row - std::max(at.gap, canvas.px(at.narrow ? 3.0f : 4.0f)) - under_tile - at.head;
  at.tile_h = std::min(canvas.px(kMostTile), room - at.strips_over);
  at.tile_w = at.tile_h * kTileAspect;
  const auto fits_beside = [&](float words) {
    return at.strips_left + under_tile + canvas.px(kLeastTile) * kTileAspect + canvas.px(7) + words <= at.cell;
  };
  at.sizes = room >= at.line * kLeastTwoLines && (fits_beside(std::max(symbols, sizes)) || sizes <= at.cell);
  const float words = at.sizes ? std::max(symbols, sizes) : symbols;
  at.beside = fits_beside(words);
  if (at.beside) {
    at.tile_w = std::min(at.tile_w, at.cell - at.strips_left - under_tile - canvas.px(7) - words);
    at.tile_h = std::min(at.tile_h, at.tile_w / kTileAspect * 1.3f);
  } else {
    const float under = at.line * (at.sizes ? 2 : 1) + canvas.px(2);
    if (at.sizes && room - at.strips_over - under < canvas.px(kLeastTile)) at.sizes = false;
    at.tile_h = std::min(at.tile_h, room - at.strips_over - at.line * (at.sizes ? 2 : 1) - canvas.px(2));
    at.tile_w = std::min(at.tile_h * kTileAspect * 1.6f, at.cell - at.strips_left - canvas.px(4));
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
                  layer::frozen_fill(theme, fill_of(theme, MemoryPart::weights, canvas.em()).colour, canvas.em()),
                  std::string(input.texts.text("figure.layer.key.frozen.brief"))};
    const std::string rank = format_count(input.scenario.adapter.rank);
    out.push_back({input.texts.format("figure.layer.key.adapters", {rank}),
                   {.colour = theme.ink},
                   input.texts.format("figure.layer.key.adapters.brief", {rank})});
  }
  if (gathered)
    add("figure.layer.key.gathered", "figure.layer.key.gathered.brief", MemoryPart::weights, layer::kGatheredTint);
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
  float least = count * line * (narrow ? 2.2f : 2.4f);
  // Where there is no room for sizes in any case, the key has what they would take.
  if (!narrow && rest.h < least) least = count * line * kLeastTwoNames;
  const bool shows_moves = rest.h >= least + static_cast<float>(moves) * line;
  float needed = least + (shows_moves ? static_cast<float>(moves) * line : 0);
  const std::vector<KeyEntry> key = key_of(canvas, input, study);
  Rect strip, foot;  // of the key and of what the letters mean
  if (const float height = line * (static_cast<float>(key_rows(canvas, rest.w, key)) + 0.2f);
      rest.h >= needed + height) {
    strip = rest.cut_top(height);
    needed += height;
  }
  const TextStyle prose = small_text(canvas, input.theme.ink3, HAlign::left);
  const auto letters = wrap(canvas, letters_text(input, study), prose, rest.w, narrow ? kMostLetterLines : 4);
  if (const float height = line * static_cast<float>(letters.size()) + canvas.px(4); rest.h >= needed + height)
    foot = rest.cut_bottom(height);
  const LayerLayout at = layout_of(canvas, input, rest, study, shows_moves ? moves : 0);
  if (at.row < line || at.tile_h < canvas.px(4) || at.tile_w <= 0) return;
  if (!strip.empty()) draw_fitting_key(canvas, input.theme, {strip.x, strip.centre().y}, strip.w, key, {});
  if (!foot.empty()) {
    foot.cut_top(canvas.px(4));
    for (const std::string& words : letters) canvas.text({foot.x, foot.cut_top(line).centre().y}, words, prose);
  }
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
    const Rect row = rest.cut_top(at.row - at.gap);
    draw_product(canvas, input, row, study, p, at);
    if (shows_moves && !p.after.empty()) {
      Rect words = rest.cut_top(line);
      words.cut_left(indent);
      draw_moves(canvas, input, words, p.after, {});
    }
    rest.cut_top(at.gap);
    canvas.tag_with("layer.product", static_cast<int>(i), rect_between(rest.x, top, rest.right(), rest.y),
                    [&] { return readout_of(input, study, p); });
  }
}

// All of it, on a page as in a column: nothing gives way to the rest.
float layer_height(const Canvas& canvas, float width, const FigureInput& input, const FigureView&) {
  const LayerProductsStudy& study = layer_study_of(input);
  if (!study.known()) return 0;
  const bool narrow = width < canvas.px(kNarrowLayer);
  const float line = small_line(canvas);
  const TextStyle prose = small_text(canvas, input.theme.ink3, HAlign::left);
  const auto letters = wrap(canvas, letters_text(input, study), prose, width, narrow ? kMostLetterLines : 4);
  const LayerSpacing spacing = spacing_of(study);
  float lines = static_cast<float>(key_rows(canvas, width, key_of(canvas, input, study))) + 0.2f +
                static_cast<float>(letters.size() + (study.weights.empty() ? 0 : 1));
  for (const LayerProduct& p : study.products)
    lines += static_cast<float>(lines_of(p)) + (narrow ? spacing.name + spacing.gap : kPageRow);
  const auto count = static_cast<float>(study.products.size());
  if (!narrow) return lines * line + canvas.px(8);
  const float sized = (spacing.name + spacing.sized + spacing.gap) * line * count;
  const bool sizes = layout_of(canvas, input, {0, 0, width, sized}, study, 0).sizes;
  return (lines + count * (sizes ? spacing.sized : spacing.tile)) * line + canvas.px(8);
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
    .own_height = layer_height,
};

}  // namespace roofscape::widgets
