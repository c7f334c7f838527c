// The serving-map figure: what decodes best on each tensor and pipeline degree of the chips, over every batch and
// expert degree, as a heat map; data takes the rest. Cells on which nothing may be taken are hatched, with the reason
// on hover. Option `quantity`. Cells are tagged "serving.cell" with their index in serving_map().
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "engine/search/decoding_plan.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_options.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/heat_grid.h"
#include "widgets/figures/search/figure_search_parts.h"
#include "widgets/figures/search/figure_serving_search.h"
#include "widgets/figures/training/figure_memory_parts.h"

namespace roofscape::widgets {

using engine::RankedDecoding;
using engine::ServingCell;
using engine::ServingRejection;
using engine::ServingSearchResult;
using memory::bytes_text;
using search::ServingShown;

namespace {

enum class ServingQuantity : std::uint8_t { throughput, time, memory };
constexpr std::array<std::string_view, 3> kServingQuantities{"throughput", "time", "memory"};
constexpr FigureOptions kServingMapOptions{OptionOf<ServingQuantity>{"quantity", kServingQuantities}};
ServingQuantity serving_quantity_of(const FigureView& view) {
  return kServingMapOptions.chosen<ServingQuantity>(view);
}

double value_of(const search::ToldRate& rate, const RankedDecoding& p, ServingQuantity shown) {
  return shown == ServingQuantity::throughput ? rate.of(p)
         : shown == ServingQuantity::time     ? p.token_s
                                              : p.chip_bytes;
}
std::string value_text(double value, ServingQuantity shown) {
  return shown == ServingQuantity::throughput ? format_si(value, "")
         : shown == ServingQuantity::time     ? format_duration(value)
                                              : bytes_text(value);
}
std::string cell_text(double value, ServingQuantity shown) {
  return shown == ServingQuantity::throughput
             ? format_si(value, "")
             : format_significant(value / (shown == ServingQuantity::time ? 1e-3 : 1e9));
}
std::string quantity_word(const FigureInput& input, const search::ToldRate& rate, ServingQuantity shown) {
  const std::string key =
      "figure.serving-map.quantity." + std::string(kServingQuantities[static_cast<std::size_t>(shown)]);
  if (shown == ServingQuantity::throughput && rate.together) return std::string(input.texts.text(key + ".all"));
  const bool gpu = shown == ServingQuantity::throughput &&
                   input.scenario.cluster.chip.interconnect == engine::Interconnect::switched;
  return std::string(input.texts.text(gpu ? key + ".gpu" : key));
}

// The cells as a grid: degrees that no mesh of them has a price on are left out.
struct ServingMap {
  std::vector<int> tensor, pipeline;
  std::vector<const ServingCell*> cells;  // row by row of pipeline; null: the chips do not divide
};
ServingMap map_of(const ServingSearchResult& r) {
  ServingMap out;
  const auto add = [](std::vector<int>& to, int degree) {
    if (std::find(to.begin(), to.end(), degree) == to.end()) to.push_back(degree);
  };
  for (const ServingCell& c : r.cells)
    if (c.best || c.nearest) add(out.tensor, c.tensor), add(out.pipeline, c.pipeline);
  std::sort(out.tensor.begin(), out.tensor.end());
  std::sort(out.pipeline.begin(), out.pipeline.end());
  for (const int pipeline : out.pipeline)
    for (const int tensor : out.tensor) {
      const auto cell = std::find_if(r.cells.begin(), r.cells.end(), [&](const ServingCell& c) {
        return c.tensor == tensor && c.pipeline == pipeline;
      });
      out.cells.push_back(cell == r.cells.end() ? nullptr : &*cell);
    }
  return out;
}

// By how much the plan of a cell that comes nearest passes the memory; 0: it does not, or that is not known.
double over_bytes(const ServingShown& shown, const ServingCell& c) {
  const bool full = c.why == ServingRejection::memory && c.nearest && shown.capacity_bytes > 0;
  return full ? std::max(0.0, c.nearest->chip_bytes - shown.capacity_bytes) : 0;
}

std::string why_text(const FigureInput& input, const ServingShown& shown, const ServingCell& c) {
  if (const double over = over_bytes(shown, c); over > 0)
    return input.texts.format("figure.mesh-map.too_full", {bytes_text(over)});
  return std::string(input.texts.text("cli.search.rejected." + std::string(engine::kServingRejectionIds[c.why])));
}

Readout readout_of(const FigureInput& input, const ServingShown& shown, const ServingCell& c) {
  const RankedDecoding* p = c.best ? &*c.best : c.nearest ? &*c.nearest : nullptr;
  Readout r;
  if (p != nullptr)
    r = search::decoding_readout(input, shown, *p, false);
  else
    r.title = input.texts.format("figure.axis.tensor", {format_count(c.tensor)}) +
              std::string(input.texts.text("figure.list_separator")) +
              input.texts.format("figure.axis.pipeline", {format_count(c.pipeline)});
  if (!c.best)
    r.rows.insert(r.rows.begin(),
                  {std::string(input.texts.text("figure.serving-map.not_taken")), why_text(input, shown, c)});
  return r;
}

HeatGrid grid_of(const FigureInput& input, const ServingShown& found, const ServingMap& map, ServingQuantity shown) {
  const TextTable& t = input.texts;
  const search::ToldRate rate = search::told_rate(*found.result);
  HeatRange range;
  for (const ServingCell* c : map.cells)
    if (c != nullptr && c->best) range.add(value_of(rate, *c->best, shown));
  const bool rising = shown == ServingQuantity::throughput;
  range.widen(rising);
  const engine::DecodingPlan own = engine::decoding_plan_of(*found.scenario);
  HeatGrid out;
  out.x_degrees = map.tensor, out.y_degrees = map.pipeline;
  bool full = false, own_shown = false, best = false;
  for (const ServingCell* c : map.cells) {
    HeatCell& cell = out.cells.emplace_back();
    if (c == nullptr) continue;
    cell.own = c->tensor == own.tensor && c->pipeline == own.pipeline;
    own_shown = own_shown || cell.own;
    cell.look = c->best ? HeatCell::Look::coloured : HeatCell::Look::hatched;
    if (c->best) {
      const double value = value_of(rate, *c->best, shown);
      cell.text = cell_text(value, shown);
      cell.note = t.format("figure.latency-throughput.batch", {format_count(c->best->plan.batch)});
      cell.best = found.fits() && c->tensor == found.best().plan.tensor && c->pipeline == found.best().plan.pipeline;
      best = best || (cell.best && !cell.own);
      cell.shade = range.shade(value, ScaleKind::log10, rising);
    } else if (const double over = over_bytes(found, *c); over > 0) {
      cell.set_over(over);
      full = true;
    } else {
      cell.reason = why_text(input, found, *c);
    }
  }
  const auto axis = [&t](std::string_view id) {
    return std::string(t.text("figure.mesh-map.axis." + std::string(id)));
  };
  out.y_title = t.format("figure.mesh-map.y", {"\u2191", axis("pipeline"), axis("data")});
  out.x_title = axis("tensor") + " \u2192";
  out.tag = "serving.cell";
  out.readout = [&input, found, &map](std::size_t i) {
    return map.cells[i] != nullptr ? readout_of(input, found, *map.cells[i])
                                   : Readout{std::string(input.texts.text("figure.mesh-map.no_mesh")), {}};
  };
  out.low = value_text(rising ? range.low : range.high, shown),
  out.high = value_text(rising ? range.high : range.low, shown);
  const bool blank = std::find(map.cells.begin(), map.cells.end(), nullptr) != map.cells.end();
  const std::string_view hatched =
      std::any_of(map.cells.begin(), map.cells.end(), [](const ServingCell* c) { return c != nullptr && !c->best; })
          ? "figure.serving-map.key.hatched"
          : "";
  out.brief_key = heat_key(t, quantity_word(input, rate, shown), hatched, false, blank, false, false);
  out.key = heat_key(t, quantity_word(input, rate, shown), hatched, full, blank, own_shown, best);
  out.none = t.text("figure.serving-map.none");
  return out;
}

FigureHead serving_map_head(const FigureInput& input, const FigureView& view) {
  FigureHead head;
  head.title = input.texts.text("figure.serving-map.title");
  const ServingShown found = search::serving_shown_of(input);
  if (!found.fits()) return head;
  const ServingQuantity shown = serving_quantity_of(view);
  // The first plan of the list, which is the best of its cell too.
  const RankedDecoding& best = found.best();
  const search::ToldRate rate = search::told_rate(*found.result);
  const std::array<std::string, 3> columns{rate.column(), "seconds per token", "memory bytes"};
  const double of_best = value_of(rate, best, shown);
  const std::string value =
      say(head, data_claim(columns[static_cast<std::size_t>(shown)], of_best, value_text(of_best, shown)));
  head.takeaway = input.texts.format("figure.mesh-map.takeaway",
                                     {value, say(head, name_claim(search::decoding_words(input.texts, best.plan))),
                                      quantity_word(input, rate, shown)});
  head.brief = input.texts.format("figure.mesh-map.takeaway.brief", {value, quantity_word(input, rate, shown)});
  return head;
}

void draw_serving_map(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, serving_map_head(input, view));
  if (rest.empty()) return;
  const ServingShown found = search::serving_shown_of(input);
  if (!found.priced()) return draw_empty_state(canvas, input.theme, rest, search::serving_empty_text(input, found));
  const ServingMap map = map_of(*found.result);
  if (map.cells.empty())
    return draw_empty_state(canvas, input.theme, rest, input.texts.text("figure.serving-map.none"));
  draw_heat_grid(canvas, rest, input, grid_of(input, found, map, serving_quantity_of(view)));
}

std::string serving_map_data(const FigureInput& input, const FigureView&) {
  const ServingShown found = search::serving_shown_of(input);
  const search::ToldRate rate = found.result != nullptr ? search::told_rate(*found.result) : search::ToldRate{};
  std::string out = fmt::format(
      "tensor\tpipeline\tdata\texpert\tbatch\tseconds per token\ttokens per s and chip\t{}memory bytes\ttaken\n",
      rate.together ? rate.column() + "\t" : std::string());
  if (found.result == nullptr) return out;
  for (const ServingCell& c : found.result->cells) {
    const RankedDecoding none, &p = c.best ? *c.best : c.nearest ? *c.nearest : none;
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t", c.tensor, c.pipeline, p.plan.data, p.plan.expert, p.plan.batch,
                       p.token_s, p.tokens_per_s_per_chip);
    if (rate.together) out += fmt::format("{}\t", p.tokens_per_s);
    out += fmt::format("{}\t{}\n", p.chip_bytes, c.best ? "yes" : engine::kServingRejectionIds[c.why]);
  }
  return out;
}

// The plan a cell stands for; nothing where none may be taken.
std::optional<FoundPlan> serving_map_plan(const FigureInput& input, int cell) {
  const ServingShown found = search::serving_shown_of(input);
  if (found.result == nullptr) return std::nullopt;
  const ServingMap map = map_of(*found.result);
  if (cell < 0 || static_cast<std::size_t>(cell) >= map.cells.size()) return std::nullopt;
  const ServingCell* c = map.cells[static_cast<std::size_t>(cell)];
  if (c == nullptr || !c->best) return std::nullopt;
  return c->best->plan;
}

}  // namespace

extern constinit const FigureRow serving_map_figure{
    .name = "serving-map",
    .subject = Subject::serving,
    .needs = Needs::search,
    .about = About::search,
    .height_pt = 297.6f,
    .options = kServingMapOptions.rows,
    .head = serving_map_head,
    .draw = draw_serving_map,
    .data = serving_map_data,
    .plans = {"serving.cell", serving_map_plan},
};

}  // namespace roofscape::widgets
