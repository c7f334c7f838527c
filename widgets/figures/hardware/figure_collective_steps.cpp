// The collective-steps figure: which rank holds which block before and after each step of a collective, as one grid a
// step with a row for each rank. What arrived in the step is in full colour; a sum that is not whole yet is filled as
// far as contributions are in it. Options: collective, ranks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "engine/scenario/scenario_fields.h"
#include "engine/studies/collective_steps.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_options.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

using engine::CollectiveKind;
using engine::CollectiveSteps;
using engine::HeldBlock;
using engine::SteppedArray;

namespace {

enum class SteppedKind : std::uint8_t { all_gather, reduce_scatter, all_reduce, all_to_all };
constexpr std::array<std::string_view, 4> kSteppedKinds{"allgather", "reduce-scatter", "allreduce", "all-to-all"};
constexpr std::array kKinds{CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                            CollectiveKind::all_to_all};
enum class SteppedRanks : std::uint8_t { four, eight };
constexpr std::array<std::string_view, 2> kSteppedRanks{"4", "8"};
constexpr FigureOptions kStepOptions{OptionOf<SteppedKind>{"collective", kSteppedKinds},
                                     OptionOf<SteppedRanks>{"ranks", kSteppedRanks}};

constexpr float kKeptTint = 0.35f;                     // blocks that were there before the step
constexpr float kMostCell = 110, kLeastCell = 6;       // px
constexpr float kMostAspect = 1.7f;                    // of a place: one side over the other
constexpr int kNoteLines = 5;                          // of a narrow column
constexpr float kWidestGap = 0.6f;                     // between grids: of their side
constexpr float kGridGap = 1.6f, kTitleHeight = 1.5f;  // em of small text

CollectiveSteps steps_of(const FigureInput& input, const FigureView& view) {
  return engine::collective_steps(input.scenario,
                                  kKinds[static_cast<std::size_t>(kStepOptions.chosen<SteppedKind>(view))],
                                  kStepOptions.chosen<SteppedRanks>(view) == SteppedRanks::four ? 4 : 8);
}

std::string kind_name(const FigureInput& input, const FigureView& view) {
  return std::string(input.texts.text("figure.collective-steps.collective." +
                                      std::string(kStepOptions.chosen_id<SteppedKind>(view))));
}

std::string letter(int block) { return std::string(1, static_cast<char>('A' + block)); }

// What a place says: the block; of an AllToAll whose it is and for whom.
std::string block_name(const CollectiveSteps& c, const HeldBlock& block) {
  return c.kind == CollectiveKind::all_to_all ? letter(block.from) + std::to_string(block.block)
                                              : letter(block.block);
}

MemoryPart part_of(SteppedArray array) {
  switch (array) {
    case SteppedArray::weights:
      return MemoryPart::weights;
    case SteppedArray::gradients:
      return MemoryPart::gradients;
    case SteppedArray::activations:
      break;
  }
  return MemoryPart::activations;
}

std::string array_words(const FigureInput& input, const CollectiveSteps& c) {
  const std::array<std::string_view, 3> keys{"weights", "gradients", "activations"};
  const auto& dtypes = engine::find_field("precision.compute")->choices;
  return input.texts.format(
      "figure.collective-steps.array." + std::string(keys[static_cast<std::size_t>(c.array)]),
      {format_count(c.rows), format_count(c.columns),
       std::string(input.texts.text("figure.dtype." + std::string(dtypes[static_cast<std::size_t>(c.dtype)])))});
}

FigureHead steps_head(const FigureInput& input, const FigureView& view) {
  const CollectiveSteps c = steps_of(input, view);
  FigureHead head;
  head.title = input.texts.format("figure.collective-steps.title", {kind_name(input, view)});
  head.context = model_context(input);
  const std::string steps = say(head, data_claim("steps", c.steps, format_count(c.steps)));
  const std::string sent =
      say(head, data_claim("sent bytes", c.sent_bytes, format(c.sent_bytes, engine::unit::bytes)));
  head.takeaway = input.texts.format(
      "figure.collective-steps.takeaway",
      {steps, sent, say(head, data_claim("array bytes", c.array_bytes, format(c.array_bytes, engine::unit::bytes)))});
  head.brief = input.texts.format("figure.collective-steps.brief", {steps, sent});
  return head;
}

Readout readout_of(const FigureInput& input, const CollectiveSteps& c, int step, int rank, int place) {
  const TextTable& t = input.texts;
  const HeldBlock& block = c.at(step, rank, place);
  Readout out;
  out.title = block.held ? t.format("figure.collective-steps.holds", {format_count(rank), block_name(c, block)})
                         : t.format("figure.collective-steps.holds_nothing", {format_count(rank), letter(place)});
  if (block.held && c.array == SteppedArray::gradients)
    out.rows.emplace_back(
        std::string(t.text("figure.collective-steps.summed")),
        t.format("figure.collective-steps.of", {format_count(block.summed), format_count(c.ranks)}));
  out.rows.emplace_back(std::string(t.text("figure.collective-steps.block")),
                        format(c.block_bytes, engine::unit::bytes));
  return out;
}

void draw_block(Canvas& canvas, const FigureInput& input, const CollectiveSteps& c, const HeldBlock& block,
                const Rect& r) {
  const Theme& theme = input.theme;
  canvas.frame(r, {theme.line, std::max(theme.edge_width * canvas.em(), canvas.px(0.75f)), {}});
  if (!block.held) return;
  const Fill whole = fill_of(theme, part_of(c.array), canvas.em());
  Fill fill{.colour = block.arrived ? whole.colour : mix(theme.panel, whole.colour, kKeptTint)};
  fill.edge = theme.edge, fill.edge_width = theme.edge_width * canvas.em();
  const bool sums = c.array == SteppedArray::gradients;
  const float share = sums ? static_cast<float>(block.summed) / static_cast<float>(c.ranks) : 1.0f;
  canvas.rect({r.x, r.bottom() - r.h * share, r.w, r.h * share}, fill);
  TextStyle style = small_text(canvas, readable(theme.ink, fill.colour), HAlign::centre,
                               block.arrived ? Weight::bold : Weight::regular);
  const std::string name = block_name(c, block);
  if (share < 1 || r.h < 1.25f * style.em || canvas.text_width(name, style) > r.w - canvas.px(3)) return;
  canvas.text(r.centre(), name, style);
}

// Grids side by side in as many lines as make their cells largest. Cells are as high as the page lets them be: the rows
// of ranks stand apart, the places in them beside each other.
struct Layout {
  int columns = 1;
  float cell = 0, row = 0;  // width and height of a place
};
Layout layout_of(const Canvas& canvas, const Rect& area, int grids, int ranks, float label, float small) {
  Layout best;
  for (int columns = 1; columns <= grids; ++columns) {
    const int lines = (grids + columns - 1) / columns;
    const float width =
        (area.w - label - static_cast<float>(columns - 1) * kGridGap * small) / static_cast<float>(columns);
    const float height =
        (area.h - static_cast<float>(lines - 1) * small) / static_cast<float>(lines) - kTitleHeight * small;
    const float most = canvas.px(kMostCell), each = static_cast<float>(ranks);
    const float cell = std::min({width / each, height / each * kMostAspect, most});
    const float row = std::min({height / each, cell * kMostAspect, most});
    if (cell * row > best.cell * best.row) best = {columns, cell, row};
  }
  return best;
}

void draw_steps(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const TextTable& t = input.texts;
  const Theme& theme = input.theme;
  Rect rest = draw_figure_head(canvas, area, input, view, steps_head(input, view));
  if (rest.empty()) return;
  const CollectiveSteps c = steps_of(input, view);
  const float small = kSmallText * canvas.em();
  // What is moved, and how.
  const TextStyle prose = small_text(canvas, theme.ink3, HAlign::left);
  const std::string note =
      t.format("figure.collective-steps.note." + std::string(kStepOptions.chosen_id<SteppedKind>(view)),
               {array_words(input, c), format(c.block_bytes, engine::unit::bytes)});
  draw_foot_lines(canvas, rest, wrap(canvas, note, prose, rest.w, kNoteLines), 1.35f * small, prose);

  const TextStyle rank_style = small_text(canvas, theme.ink2, HAlign::right);
  const std::string widest = t.format("figure.collective-steps.rank", {format_count(c.ranks - 1)});
  const float label = canvas.text_width(widest, rank_style) + canvas.px(8);
  const int grids = c.steps + 1;
  const Layout layout = layout_of(canvas, rest, grids, c.ranks, label, small);
  if (std::min(layout.cell, layout.row) < canvas.px(kLeastCell)) return;
  const float side = layout.cell * static_cast<float>(c.ranks), tall = layout.row * static_cast<float>(c.ranks),
              columns = static_cast<float>(layout.columns);
  const float spare = rest.w - label - columns * side;
  const float gap =
      layout.columns > 1 ? confined(spare / (columns - 1), kGridGap * small, kWidestGap * side + small) : 0;
  for (int step = 0; step < grids; ++step) {
    const auto group = canvas.group("collective-steps.step", step);
    const auto column = static_cast<float>(step % layout.columns), line = static_cast<float>(step / layout.columns);
    const float x = rest.x + label + column * (side + gap);
    const float y = rest.y + line * (tall + (kTitleHeight + 1) * small) + kTitleHeight * small;
    std::string title = step == 0 ? std::string(t.text("figure.collective-steps.before"))
                                  : t.format("figure.collective-steps.after", {format_count(step)});
    const TextStyle heading =
        small_text(canvas, theme.ink, HAlign::left, step == c.steps ? Weight::bold : Weight::regular);
    // Over the last column of a line nothing follows, but it ends with the figure.
    const float room = std::min(side + gap - canvas.px(4), rest.right() - x);
    if (step > 0 && canvas.text_width(title, heading) > room) title = format_count(step);
    canvas.text({x, y - kTitleHeight * small / 2}, ellipsize(canvas, title, heading, room), heading);
    for (int rank = 0; rank < c.ranks; ++rank) {
      const float top = y + layout.row * static_cast<float>(rank);
      if (column == 0 && (layout.row >= small * 1.15f || rank % 2 == 0))
        canvas.text({x - canvas.px(8), top + layout.row / 2},
                    t.format("figure.collective-steps.rank", {format_count(rank)}), rank_style);
      for (int place = 0; place < c.ranks; ++place) {
        const float edge = canvas.px(1);
        const Rect r{x + layout.cell * static_cast<float>(place), top, layout.cell - edge, layout.row - edge};
        draw_block(canvas, input, c, c.at(step, rank, place), r);
        canvas.tag_with("collective-steps.block", (step * c.ranks + rank) * c.ranks + place, r,
                        [&] { return readout_of(input, c, step, rank, place); });
      }
    }
  }
}

std::string steps_data(const FigureInput& input, const FigureView& view) {
  const CollectiveSteps c = steps_of(input, view);
  std::string out = "step\trank\tplace\tblock\tcontributions\tarrived\tblock bytes\tsteps\tsent bytes\tarray bytes\n";
  for (int step = 0; step <= c.steps; ++step)
    for (int rank = 0; rank < c.ranks; ++rank)
      for (int place = 0; place < c.ranks; ++place) {
        const HeldBlock& block = c.at(step, rank, place);
        if (!block.held) continue;
        out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", step, rank, place, block_name(c, block),
                           block.summed, block.arrived ? "yes" : "no", c.block_bytes, c.steps, c.sent_bytes,
                           c.array_bytes);
      }
  return out;
}

}  // namespace

extern constinit const FigureRow collective_steps_figure{
    .name = "collective-steps",
    .subject = Subject::any,
    .about = About::model,
    .rests = Rests::nothing,
    .options = kStepOptions.rows,
    .head = steps_head,
    .draw = draw_steps,
    .data = steps_data,
};

}  // namespace roofscape::widgets
