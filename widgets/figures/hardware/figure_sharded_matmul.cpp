// The sharded-matmul figure: blocks of the operands on the mesh in the four cases of the book, what moves and how
// long each way takes; or the two matrices of the MLP, split by columns and then rows, beside gathering before each.
// Option: view.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "engine/studies/sharded_matmul.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_options.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/training/figure_pipeline_parts.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

using engine::MatmulCase;
using engine::MatmulWay;
using engine::Operand;
using engine::ShardedMatmulStudy;
using engine::Split;

namespace {

enum class ShardedView : std::uint8_t { cases, mlp };
constexpr std::array<std::string_view, 2> kShardedViews{"cases", "mlp"};
constexpr FigureOptions kShardedOptions{OptionOf<ShardedView>{"view", kShardedViews}};

constexpr int kDrawnRanks = 8;                               // blocks a split array is drawn in at most
constexpr float kOthersTint = 0.28f;                         // blocks of other ranks, of the colour of the first
constexpr float kHiddenTint = 0.6f;                          // between the two matrices, of the colour of activations
constexpr float kDiagramShare = 0.40f, kPairShare = 0.5f;    // of the width, at most
constexpr float kNarrow = 440, kNarrowShare = 0.33f;         // a column of a journal: the words need the room
constexpr float kWorkInk = 0.85f;                            // of ink: bars of arithmetic
constexpr float kLeastStacked = 40, kMostStackedSide = 120;  // of arrays over their words, scale-1 pixels
constexpr float kMostSide = 110;                             // of an array
constexpr float kLabelShare = 0.50f, kPairLabelShare = 0.62f;  // of what is beside the diagram
constexpr float kLinePitch = 1.35f;                            // em between lines of text
constexpr float kPairedBarShare = 0.3f;                        // of a line: its two bars stand one over the other
constexpr float kLeastTimeBar = 3, kMostTimeBar = 11;
constexpr float kLeastHatched = 9;                      // lower bars have no hatch, and neither has their key
constexpr float kSignShare = 0.18f, kLeastSign = 0.9f;  // a sign: of the side of an array; em of small text
constexpr float kTallLine = 2;                          // lines of a tall row over those of a low one

const ShardedMatmulStudy& sharded_study_of(const FigureInput& input) {
  return input.studies.get<ShardedMatmulStudy>(input.scenario,
                                               [&] { return engine::sharded_matmul_study(input.scenario); });
}

struct BaselineMatmuls {
  ShardedMatmulStudy study;
};
// Null without a baseline, or where its rates are not known.
const ShardedMatmulStudy* baseline_study(const FigureInput& input) {
  if (input.baseline == nullptr) return nullptr;
  const engine::Scenario& scenario = input.baseline->scenario;
  const ShardedMatmulStudy& study =
      input.studies
          .get<BaselineMatmuls>(scenario, [&] { return BaselineMatmuls{engine::sharded_matmul_study(scenario)}; })
          .study;
  return study.known() ? &study : nullptr;
}

bool pair_of(const FigureView& view) { return kShardedOptions.chosen<ShardedView>(view) == ShardedView::mlp; }

std::string operand_name(const FigureInput& input, Operand operand) {
  return std::string(input.texts.text("figure.sharded-matmul.operand." + std::string(engine::kOperandIds[operand])));
}
std::string move_name(const FigureInput& input, const engine::MatmulMove& move) {
  const std::string kind(engine::kCollectiveIds[move.kind]);
  return input.texts.format("figure.sharded-matmul.move." + kind, {operand_name(input, move.operand)});
}
std::string way_name(const FigureInput& input, const MatmulWay& way) {
  if (way.moves.empty()) return std::string(input.texts.text("figure.sharded-matmul.nothing"));
  std::string out;
  for (const engine::MatmulMove& move : way.moves) {
    if (!out.empty()) out += input.texts.text("figure.list_separator");
    out += move_name(input, move);
  }
  return out;
}

Readout readout_of(const FigureInput& input, const MatmulWay& way) {
  const TextTable& t = input.texts;
  Readout out;
  out.title = t.format("figure.sharded-matmul.readout", {way_name(input, way), format_duration(way.seconds)});
  out.rows.emplace_back(std::string(t.text("figure.sharded-matmul.math")), format_duration(way.math_s));
  out.rows.emplace_back(std::string(t.text("figure.sharded-matmul.moving")), format_duration(way.moves_s));
  double bytes = 0;
  for (const engine::MatmulMove& move : way.moves) bytes += move.bytes;
  if (bytes > 0)
    out.rows.emplace_back(std::string(t.text("figure.sharded-matmul.bytes")), format(bytes, engine::unit::bytes));
  return out;
}

struct ArrayBlock {
  Operand operand = Operand::in;
  Split split = Split::none;
  bool partial = false;
};

// Activations are orange as in memory, weights blue.
Colour colour_of(const Theme& theme, Operand operand) {
  if (operand == Operand::weights) return fill_of(theme, MemoryPart::weights, 1).colour;
  const Colour activations = fill_of(theme, MemoryPart::activations, 1).colour;
  return operand == Operand::hidden ? mix(theme.panel, activations, kHiddenTint) : activations;
}
// The output is told from the input by a hatch.
Fill block_fill(const Theme& theme, Operand operand, float em) {
  if (operand != Operand::out) return {.colour = colour_of(theme, operand)};
  return hatched(theme, colour_of(theme, operand), Hatch::horizontal, em);
}

// What moves has the colour of the tensor axis as lines have it: the arrays have that of its areas.
Fill moving_fill(const Theme& theme, float em) {
  return hatched(theme, line_of(theme, StepPart::tensor), Hatch::slash, em);
}
// Sums that are not whole yet.
Fill partial_fill(const Theme& theme, Operand operand, float em) {
  const Colour colour = colour_of(theme, operand);
  Fill fill = hatched(theme, faded(colour, kOthersTint), Hatch::slash, em);
  fill.hatch_ink = colour;
  return fill;
}

// An array: the block of one rank in full colour, those of the others pale; a partial sum hatched all over.
void draw_array(Canvas& canvas, const FigureInput& input, const Rect& r, const ArrayBlock& block, int ranks) {
  const Theme& theme = input.theme;
  const Colour colour = colour_of(theme, block.operand);
  const Fill own = block_fill(theme, block.operand, canvas.em());
  Fill others = own;
  others.colour = faded(colour, kOthersTint);
  others.hatch_ink = faded(own.hatch_ink, kOthersTint);
  others.edge_width = 0;
  const int parts = block.split == Split::none ? 1 : std::min(ranks, kDrawnRanks);
  for (int i = 0; i < parts; ++i) {
    const float from = static_cast<float>(i) / static_cast<float>(parts), size = 1.0f / static_cast<float>(parts),
                gap = parts > 1 ? canvas.px(1) : 0;
    const Rect part = block.split == Split::rows ? Rect{r.x, r.y + r.h * from, r.w, r.h * size - gap}
                                                 : Rect{r.x + r.w * from, r.y, r.w * size - gap, r.h};
    if (block.partial) {
      canvas.rect(part, partial_fill(theme, block.operand, canvas.em()));
    } else {
      canvas.rect(part, i == 0 ? own : others);
    }
  }
  canvas.frame(r, {theme.edge, theme.edge_width * canvas.em(), {}});
}

struct ShardedRow {
  std::vector<ArrayBlock> blocks;  // In, W, Out; of the pair In, W, hidden, W, Out
  std::string heading, brief;      // brief: where there is no room for the heading
  std::string tag;
  std::vector<const MatmulWay*> ways;
};

std::vector<ShardedRow> sharded_rows(const FigureInput& input, const FigureView& view,
                                     const ShardedMatmulStudy& study) {
  const TextTable& t = input.texts;
  std::vector<ShardedRow> rows;
  if (pair_of(view)) {
    rows.push_back({{{Operand::in, Split::columns},
                     {Operand::weights, Split::columns},
                     {Operand::hidden, Split::columns},
                     {Operand::weights, Split::columns},
                     {Operand::out, Split::columns}},
                    std::string(t.text("figure.sharded-matmul.pair.gathered")),
                    {},
                    "gathered",
                    {&study.gathered}});
    rows.push_back({{{Operand::in, Split::columns},
                     {Operand::weights, Split::columns},
                     {Operand::hidden, Split::columns},
                     {Operand::weights, Split::rows},
                     {Operand::out, Split::columns}},
                    std::string(t.text("figure.sharded-matmul.pair.column_row")),
                    {},
                    "column_row",
                    {&study.column_row}});
    return rows;
  }
  for (const MatmulCase& c : study.cases) {
    ShardedRow row;
    row.blocks = {{Operand::in, c.in}, {Operand::weights, c.weights}, {Operand::out, c.out, c.partial}};
    row.heading = t.text("figure.sharded-matmul.case." + std::to_string(c.number));
    row.brief = t.text("figure.sharded-matmul.case." + std::to_string(c.number) + ".brief");
    row.tag = "case" + std::to_string(c.number);
    for (const MatmulWay& way : c.ways) row.ways.push_back(&way);
    rows.push_back(std::move(row));
  }
  return rows;
}

struct Scales {
  float label = 0, bar = 0;  // widths
  float thickness = 0;       // of a bar, the same in all rows
  bool hatch = true;
  bool moves_only = false;  // the arithmetic is the same in all rows
  bool stacked = false;     // words and bars under the arrays
  double longest = 1;
};

// Lines of text that the fullest of the rows wants: its heading and its ways.
int most_lines(const std::vector<ShardedRow>& rows) {
  std::size_t most = 0;
  for (const ShardedRow& row : rows) most = std::max(most, row.ways.size());
  return static_cast<int>(most) + 1;
}
// Height of a line of a row, where the row is `height` and wants `lines`.
float line_height(float height, int lines, float line) {
  return std::clamp(height * 0.75f / static_cast<float>(lines), line, line * kTallLine);
}

// Of a heading and a way under the arrays.
float stacked_words(float line) { return line * 2.9f; }

// A line: what is done, a bar of its time with the arithmetic under it, the time.
void draw_way(Canvas& canvas, const FigureInput& input, const Rect& line, const std::string& name,
              const MatmulWay& way, const MatmulWay* base, const Scales& scales, bool best, const std::string& tag) {
  const Theme& theme = input.theme;
  const TextStyle label =
      small_text(canvas, best ? theme.ink : theme.ink2, HAlign::left, best ? Weight::bold : Weight::regular);
  const float y = line.centre().y, gap = canvas.px(6);
  const float pitch = label.em * kLinePitch;
  const std::vector<std::string> words = wrap(canvas, name, label, scales.label - gap, line.h > pitch * 1.5f ? 2 : 1);
  for (std::size_t i = 0; i < words.size(); ++i)
    canvas.text({line.x, y + pitch * (static_cast<float>(i) - static_cast<float>(words.size() - 1) / 2)}, words[i],
                label);
  const float left = line.x + scales.label, height = scales.thickness,
              top = way.moves_s > 0 ? y - height : y - height / 2;
  const double shown_s = scales.moves_only ? way.moves_s : way.seconds;
  const auto width = [&](double seconds) { return static_cast<float>(seconds / scales.longest) * scales.bar; };
  float end = left;
  if (scales.bar > 0) {
    end = left + width(shown_s);
    Fill moves = moving_fill(theme, canvas.em()), work;
    if (!scales.hatch) moves.hatch = Hatch::none;
    work.colour = mix(theme.panel, theme.ink2, kWorkInk);
    const auto bar = [&](float from, double seconds, const Fill& fill) {
      const Rect r{left, from, width(seconds), height};
      if (is_tick(canvas, r))
        draw_tick(canvas, theme, r, fill);
      else
        canvas.rect(r, fill);
    };
    if (scales.moves_only) {
      bar(scales.stacked ? y - height / 2 : y - height, way.moves_s, moves);
    } else {
      if (way.moves_s > 0) bar(top, way.moves_s, moves);
      bar(way.moves_s > 0 ? y : top, way.math_s, work);
    }
  }
  if (base != nullptr && scales.bar > 0) {
    const float at = left + width(scales.moves_only ? base->moves_s : base->seconds), reach = canvas.px(2);
    canvas.line({at, top - reach}, {at, top + height * (way.moves_s > 0 ? 2 : 1) + reach},
                {theme.ink, theme.axis_width * canvas.em(), Dash{3, 3}.scaled(canvas.px(1))});
    end = std::max(end, at);
  }
  TextStyle value = small_text(canvas, theme.ink, HAlign::left, best ? Weight::bold : Weight::regular);
  canvas.text(
      {end + (scales.bar > 0 ? gap : 0), scales.moves_only && !scales.stacked && scales.bar > 0 ? y - height / 2 : y},
      format_duration(shown_s), value);
  canvas.tag_with("sharded-matmul." + tag, -1, line, [&] { return readout_of(input, way); });
}

// Of the sign between two arrays of this side.
float sign_width(float small, float side) { return std::max(small * kLeastSign, side * kSignShare); }

const MatmulWay* fastest(const ShardedRow& row) {
  return *std::min_element(row.ways.begin(), row.ways.end(),
                           [](const MatmulWay* a, const MatmulWay* b) { return a->seconds < b->seconds; });
}

void draw_row(Canvas& canvas, const FigureInput& input, const Rect& area, const ShardedRow& row,
              const ShardedRow* base, const ShardedMatmulStudy& study, float diagram, const Scales& scales) {
  const Theme& theme = input.theme;
  const float small = kSmallText * canvas.em(), line = small * kLinePitch;
  // The words stand beside the arrays, or under them over the whole width.
  Rect drawn = area, text = rect_between(area.x + diagram + canvas.px(12), area.y, area.right(), area.bottom());
  if (scales.stacked) {
    text = area;
    drawn = text.cut_top(area.h - stacked_words(line));
    drawn.cut_top(canvas.px(6));
  }
  // Arrays of one size, with a sign between them.
  const auto n = static_cast<float>(row.blocks.size());
  const float sign = sign_width(small, diagram / (n + kSignShare * (n - 1))),
              side = std::min((diagram - sign * (n - 1)) / n, drawn.h - canvas.px(8));
  TextStyle between = small_text(canvas, theme.ink2, HAlign::centre);
  between.em = std::max(small, sign);
  if (side >= canvas.px(8)) {
    float x = area.x;
    for (std::size_t i = 0; i < row.blocks.size(); ++i) {
      const Rect r{x, drawn.centre().y - side / 2, side, side};
      draw_array(canvas, input, r, row.blocks[i], study.ranks);
      canvas.tag_with("sharded-matmul." + row.tag + "." + std::string(engine::kOperandIds[row.blocks[i].operand]), -1,
                      r, [&] {
                        Readout out;
                        out.title = operand_name(input, row.blocks[i].operand);
                        return out;
                      });
      x += side;
      if (i + 1 < row.blocks.size())
        canvas.text({x + sign / 2, drawn.centre().y}, i % 2 == 0 ? "\u00d7" : "=", between);
      x += sign;
    }
  }
  // Headings and ways as far as lines fit; the fastest way is the last to go.
  const int lines = std::max(1, static_cast<int>(text.h / line));
  std::vector<std::pair<std::string, const MatmulWay*>> shown;
  if (row.ways.size() == 1 && row.ways[0]->moves.size() > 1) {
    // A way of several moves: one line in all, the moves are its words.
    shown.push_back({way_name(input, *row.ways[0]), row.ways[0]});
  } else {
    for (const MatmulWay* way : row.ways)
      if (lines >= static_cast<int>(row.ways.size()) || way == fastest(row))
        shown.push_back({way_name(input, *way), way});
  }
  const bool heading = lines > static_cast<int>(shown.size());
  // Moves too long for one line take two, where the row has the height.
  const TextStyle words = small_text(canvas, theme.ink2, HAlign::left);
  const bool two =
      shown.size() == 1 && lines > 2 && canvas.text_width(shown.front().first, words) > scales.label - canvas.px(6);
  const float grown = line_height(text.h, static_cast<int>(shown.size()) + (heading ? 1 : 0), line);
  const float tall = two ? 2 * line : grown;
  float y = text.centre().y - (tall * static_cast<float>(shown.size()) + (heading ? grown : 0)) / 2;
  if (heading) {
    TextStyle style = small_text(canvas, theme.ink, HAlign::left);
    const bool brief = !row.brief.empty() && canvas.text_width(row.heading, style) > text.w;
    canvas.text({text.x, y + grown / 2}, ellipsize(canvas, brief ? row.brief : row.heading, style, text.w), style);
    y += grown;
  }
  for (const auto& [name, way] : shown) {
    // The baseline's way of the same place in the row.
    const auto place = static_cast<std::size_t>(std::find(row.ways.begin(), row.ways.end(), way) - row.ways.begin());
    const MatmulWay* before = base != nullptr && place < base->ways.size() ? base->ways[place] : nullptr;
    draw_way(canvas, input, {text.x, y, text.w, tall}, name, *way, before, scales,
             row.ways.size() > 1 && way == fastest(row),
             row.tag + (way->moves.empty() ? ""
                                           : "." + std::string(engine::kCollectiveIds[way->moves[0].kind]) + "." +
                                                 std::string(engine::kOperandIds[way->moves[0].operand])));
    y += tall;
  }
}

// What the colours of the bars and blocks mean.
std::vector<KeyEntry> meanings(const Canvas& canvas, const FigureInput& input, const std::vector<ShardedRow>& rows,
                               const Scales& scales) {
  const Theme& theme = input.theme;
  const TextTable& t = input.texts;
  std::vector<KeyEntry> entries;
  const auto add = [&](std::string name, const Fill& fill) { entries.push_back({std::move(name), fill}); };
  const auto array = [&](Operand operand) {
    add(operand_name(input, operand), block_fill(theme, operand, canvas.em()));
  };
  const auto any = [&](auto&& is) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const ShardedRow& row) { return std::any_of(row.blocks.begin(), row.blocks.end(), is); });
  };
  array(Operand::in), array(Operand::weights);
  if (any([](const ArrayBlock& b) { return b.operand == Operand::hidden; })) array(Operand::hidden);
  array(Operand::out);
  Fill work, moves = moving_fill(theme, canvas.em());
  if (!scales.hatch) moves.hatch = Hatch::none;
  work.colour = mix(theme.panel, theme.ink2, kWorkInk);
  if (!scales.moves_only) add(std::string(t.text("figure.sharded-matmul.math")), work);
  add(std::string(t.text("figure.sharded-matmul.moving")), moves);
  if (any([](const ArrayBlock& b) { return b.partial; }))
    add(std::string(t.text("figure.sharded-matmul.partial")), partial_fill(theme, Operand::out, canvas.em()));
  return entries;
}

FigureHead sharded_matmul_head(const FigureInput& input, const FigureView& view) {
  const TextTable& t = input.texts;
  FigureHead head;
  head.title = t.text(pair_of(view) ? "figure.sharded-matmul.title.mlp" : "figure.sharded-matmul.title");
  head.context = input.baseline ? compared_context(input) : published_context(input);
  const ShardedMatmulStudy& study = sharded_study_of(input);
  if (!study.known()) return head;
  const auto time = [&](const char* column, double seconds) {
    return say(head, data_claim(column, seconds, format_duration(seconds)));
  };
  if (pair_of(view)) {
    head.takeaway = t.format("figure.sharded-matmul.takeaway.mlp", {time("communication s", study.column_row.moves_s),
                                                                    time("communication s", study.gathered.moves_s)});
    return head;
  }
  const MatmulCase& c = study.cases[1];
  const bool reduce = c.ways[1].seconds < c.ways[0].seconds;
  head.takeaway = t.format(reduce ? "figure.sharded-matmul.takeaway.reduce" : "figure.sharded-matmul.takeaway.gather",
                           {{},
                            say(head, beside_claim("sharded-matmul.ranks", study.ranks, format_count(study.ranks))),
                            time("time s", c.ways[reduce ? 1 : 0].seconds),
                            time("time s", c.ways[reduce ? 0 : 1].seconds)});
  return head;
}

void draw_sharded_matmul(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  Rect rest = draw_figure_head(canvas, area, input, view, sharded_matmul_head(input, view));
  if (rest.empty()) return;
  const ShardedMatmulStudy& study = sharded_study_of(input);
  if (!study.known()) return draw_empty_state(canvas, input.theme, rest, input.texts.text("figure.network.unknown"));
  const float small = kSmallText * canvas.em();
  const bool with_key = rest.h > small * 9;
  const std::vector<ShardedRow> rows = sharded_rows(input, view, study);
  std::vector<ShardedRow> base_rows;
  if (const ShardedMatmulStudy* base = baseline_study(input)) base_rows = sharded_rows(input, view, *base);
  Scales scales;
  scales.moves_only = pair_of(view);
  Rect key;
  if (with_key)
    key = rest.cut_top(small * 1.6f *
                       static_cast<float>(key_rows(canvas, rest.w, meanings(canvas, input, rows, scales))));
  if (rest.h > small * 11) {
    TextStyle style = small_text(canvas, input.theme.ink3, HAlign::left);
    std::string note =
        input.texts.format(study.assumed ? "figure.sharded-matmul.note.assumed" : "figure.sharded-matmul.note",
                           {format_count(std::round(study.rows)), format_count(study.contraction),
                            format_count(study.columns), format_count(study.ranks)});
    if (pair_of(view))
      note = input.texts.format("figure.sharded-matmul.note.math", {note, format_duration(study.gathered.math_s)});
    if (!base_rows.empty()) note = input.texts.format("figure.sharded-matmul.note.baseline", {note});
    if (study.ranks > kDrawnRanks)
      note = input.texts.format("figure.sharded-matmul.note.drawn",
                                {note, format_count(kDrawnRanks), format_count(study.ranks)});
    const std::vector<std::string> lines = wrap(canvas, note, style, rest.w, 2);
    Rect strip = rest.cut_bottom(small * 1.5f * static_cast<float>(lines.size()));
    for (const std::string& line : lines) canvas.text({strip.x, strip.cut_top(small * 1.5f).centre().y}, line, style);
  }
  const float height = rest.h / static_cast<float>(rows.size());
  // Five arrays and two matrices' moves: under one another where rows are high enough for that.
  const float under = stacked_words(small * kLinePitch);
  scales.stacked = pair_of(view) && height - under > canvas.px(kLeastStacked);
  const float blocks = static_cast<float>(rows.front().blocks.size()),
              most_side = std::min(height - canvas.px(8) - (scales.stacked ? under + canvas.px(6) : 0),
                                   canvas.px(scales.stacked ? kMostStackedSide : kMostSide)),
              sign = sign_width(small, most_side);
  const float diagram = std::min(rest.w * (scales.stacked                ? 1
                                           : pair_of(view)               ? kPairShare
                                           : rest.w < canvas.px(kNarrow) ? kNarrowShare
                                                                         : kDiagramShare),
                                 blocks * most_side + sign * (blocks - 1));
  scales.thickness = std::clamp(kPairedBarShare * line_height(height, most_lines(rows), small * kLinePitch),
                                canvas.px(kLeastTimeBar), canvas.px(kMostTimeBar));
  scales.hatch = scales.thickness >= canvas.px(kLeastHatched);
  if (with_key)
    draw_fitting_key(canvas, input.theme, {key.x, key.centre().y}, key.w, meanings(canvas, input, rows, scales), {});
  float value = 0, label = 0;
  const TextStyle bold = small_text(canvas, {}, HAlign::left, Weight::bold);
  for (const ShardedRow& row : rows)
    for (const MatmulWay* way : row.ways) {
      const double shown_s = scales.moves_only ? way->moves_s : way->seconds;
      scales.longest =
          way == rows.front().ways.front() && &row == &rows.front() ? shown_s : std::max(scales.longest, shown_s);
      value = std::max(value, canvas.text_width(format_duration(shown_s), bold));
      label = std::max(label, canvas.text_width(way_name(input, *way), bold));
    }
  for (const ShardedRow& row : base_rows)
    for (const MatmulWay* way : row.ways)
      scales.longest = std::max(scales.longest, scales.moves_only ? way->moves_s : way->seconds);
  const float room = scales.stacked ? rest.w : rest.w - diagram - canvas.px(12);
  value += canvas.px(8);
  scales.label = std::min(
      label + canvas.px(10),
      std::max(room * (scales.moves_only || rest.w < canvas.px(kNarrow) ? kPairLabelShare : kLabelShare), 0.0f));
  scales.bar = room - scales.label - value;
  if (scales.bar < canvas.px(24)) {  // no room for bars: the words and the times
    scales.bar = 0;
    scales.label = std::max(0.0f, room - value);
  }
  if (room < value) return;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Rect strip{rest.x, rest.y + height * static_cast<float>(i), rest.w, height};
    if (i > 0)
      canvas.line({strip.x, strip.y}, {strip.right(), strip.y},
                  {input.theme.grid, input.theme.grid_width * canvas.em(), {}});
    draw_row(canvas, input, strip, rows[i], i < base_rows.size() ? &base_rows[i] : nullptr, study, diagram, scales);
  }
}

std::string sharded_matmul_data(const FigureInput& input, const FigureView& view) {
  const ShardedMatmulStudy& study = sharded_study_of(input);
  std::string out = "case\tmoves\tbytes\tarithmetic s\tcommunication s\ttime s\n";
  if (!study.known()) return out;
  for (const ShardedRow& row : sharded_rows(input, view, study))
    for (const MatmulWay* way : row.ways) {
      double bytes = 0;
      std::string moves;
      for (const engine::MatmulMove& move : way->moves) {
        bytes += move.bytes;
        moves += fmt::format("{}{} {}", moves.empty() ? "" : ", ", engine::kCollectiveIds[move.kind],
                             engine::kOperandIds[move.operand]);
      }
      out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", row.tag, moves.empty() ? "none" : moves, bytes, way->math_s,
                         way->moves_s, way->seconds);
    }
  return out;
}

}  // namespace

extern constinit const FigureRow sharded_matmul_figure{
    .name = "sharded-matmul",
    .subject = Subject::any,
    .about = About::cluster,
    .options = kShardedOptions.rows,
    .head = sharded_matmul_head,
    .draw = draw_sharded_matmul,
    .data = sharded_matmul_data,
};

}  // namespace roofscape::widgets
