// The mesh-map figure: of each pair of a tensor and a pipeline degree the plan that is best in all its other choices,
// within what is searched, as a heat map of its MFU, step time or memory. The best cell is the first plan of the
// search's list. Where none can run the cell is hatched and says why. Option `quantity`. Cells are tagged "mesh.cell"
// with their index, row by row.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/scenario/mesh_size.h"
#include "engine/search/plan.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_options.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/heat_grid.h"
#include "widgets/figures/search/figure_search_parts.h"
#include "widgets/figures/training/figure_memory_parts.h"

namespace roofscape::widgets {

using engine::RankedPlan;
using engine::Rejection;
using engine::SearchCell;
using engine::SearchResult;
using memory::bytes_text;

namespace {

constexpr std::size_t kMostDegrees = 12;  // along an axis; of more the powers of two stay

enum class MeshQuantity : std::uint8_t { mfu, time, memory };
constexpr std::array<std::string_view, 3> kMeshQuantities{"mfu", "time", "memory"};
constexpr FigureOptions kMeshMapOptions{OptionOf<MeshQuantity>{"quantity", kMeshQuantities}};
MeshQuantity mesh_quantity_of(const FigureView& view) { return kMeshMapOptions.chosen<MeshQuantity>(view); }

// What the cells show. Plans that leave chips idle may have a better MFU and still be slower: beside others theirs is
// of all chips, so that it ranks them as their step times do.
struct CellValues {
  MeshQuantity quantity = MeshQuantity::mfu;
  double all_chips = 0;  // of which the MFU is; 0: of those that each plan uses
  bool of_all_chips() const { return quantity == MeshQuantity::mfu && all_chips > 0; }
};

double value_of(const RankedPlan& p, const CellValues& shown) {
  switch (shown.quantity) {
    case MeshQuantity::mfu:
      return shown.of_all_chips() ? p.mfu * engine::mesh_chips(p.plan) / shown.all_chips : p.mfu;
    case MeshQuantity::time:
      return p.step_time_s;
    case MeshQuantity::memory:
      break;
  }
  return p.memory_bytes;
}
std::string value_text(double value, MeshQuantity shown) {
  return shown == MeshQuantity::mfu    ? format_percent(value)
         : shown == MeshQuantity::time ? format_duration(value)
                                       : bytes_text(value);
}
// Cells share one unit, which the key states.
std::string cell_text(double value, MeshQuantity shown, double unit) {
  return shown == MeshQuantity::mfu ? format_fixed(100 * value, 1) : format_significant(value / unit);
}
constexpr std::string_view kOfAllChips = "MFU of all chips";  // a column of the data
std::string_view column_of(const CellValues& shown) {
  constexpr std::array<std::string_view, 3> kColumns{"MFU", "step s", "memory bytes"};
  return shown.of_all_chips() ? kOfAllChips : kColumns[static_cast<std::size_t>(shown.quantity)];
}
std::string quantity_text(const TextTable& texts, const CellValues& shown) {
  if (shown.of_all_chips()) return std::string(texts.text("figure.mesh-map.mfu_of_all"));
  const std::string_view id = kMeshQuantities[static_cast<std::size_t>(shown.quantity)];
  return std::string(texts.text("figure.mesh-map.quantity." + std::string(id)));
}

bool lacks_memory(const SearchCell& c) {
  return !c.best && (c.reason == Rejection::memory || c.reason == Rejection::state) && c.missing_bytes > 0;
}

// The plan that stands for a cell. Where the list has one of these degrees that is as good and as fast, it is that one:
// of plans that are alike the list shows the simplest, a cell by itself the smallest.
const RankedPlan& best_of(const SearchResult& r, const SearchCell& c) {
  const auto listed = std::find_if(r.best.begin(), r.best.end(), [&](const RankedPlan& p) {
    return p.plan.tensor == c.tensor && p.plan.pipeline == c.pipeline && p.step_time_s == c.best->step_time_s &&
           p.tokens_per_s_per_chip == c.best->tokens_per_s_per_chip;
  });
  return listed == r.best.end() ? *c.best : *listed;
}

CellValues cell_values(const search::TrainingShown& found, MeshQuantity quantity) {
  CellValues out{quantity, 0};
  double one = 0;
  for (const SearchCell& c : found.result->cells) {
    if (!c.best) continue;
    const double chips = engine::mesh_chips(best_of(*found.result, c).plan);
    if (one > 0 && chips != one) out.all_chips = static_cast<double>(engine::chip_count(found.scenario->cluster));
    one = chips;
  }
  return out;
}

// The cells as a grid.
struct MeshMap {
  std::vector<int> tensor, pipeline;     // rising
  std::vector<const SearchCell*> cells;  // row by row of pipeline; null: the space has no such mesh
};

void thin_out(std::set<int>& degrees, int own, int best) {
  if (degrees.size() <= kMostDegrees) return;
  std::erase_if(degrees, [&](int d) { return d != own && d != best && (d & (d - 1)) != 0; });
}

// Degrees that no plan but the present one could have whatever the memory are left out.
MeshMap map_of(const engine::Scenario& s, const SearchResult& r) {
  MeshMap out;
  std::set<int> tensor, pipeline;
  for (const SearchCell& c : r.cells) {
    const bool own_tensor = c.tensor == s.parallelism.tensor, own_pipeline = c.pipeline == s.parallelism.pipeline;
    if (c.best || lacks_memory(c) || own_tensor) tensor.insert(c.tensor);
    if (c.best || lacks_memory(c) || own_pipeline) pipeline.insert(c.pipeline);
  }
  if (!r.best.empty()) {
    thin_out(tensor, s.parallelism.tensor, r.best.front().plan.tensor);
    thin_out(pipeline, s.parallelism.pipeline, r.best.front().plan.pipeline);
  }
  out.tensor.assign(tensor.begin(), tensor.end());
  out.pipeline.assign(pipeline.begin(), pipeline.end());
  for (const int p : out.pipeline)
    for (const int t : out.tensor) {
      const auto cell = std::find_if(r.cells.begin(), r.cells.end(),
                                     [&](const SearchCell& c) { return c.tensor == t && c.pipeline == p; });
      out.cells.push_back(cell == r.cells.end() ? nullptr : &*cell);
    }
  return out;
}

std::string reason_text(const FigureInput& input, const SearchCell& c) {
  if (lacks_memory(c)) return input.texts.format("figure.mesh-map.too_full", {bytes_text(c.missing_bytes)});
  return std::string(input.texts.text("cli.search.rejected." + std::string(engine::kRejectionIds[c.reason])));
}

std::string degrees_text(const FigureInput& input, const SearchCell& c) {
  return input.texts.format("figure.axis.tensor", {format_count(c.tensor)}) +
         std::string(input.texts.text("figure.list_separator")) +
         input.texts.format("figure.axis.pipeline", {format_count(c.pipeline)});
}

Readout readout_of(const FigureInput& input, const search::TrainingShown& shown, const SearchCell& c) {
  const TextTable& t = input.texts;
  if (!c.best)
    return {degrees_text(input, c), {{std::string(t.text("figure.mesh-map.cannot")), reason_text(input, c)}}};
  const RankedPlan& best = best_of(*shown.result, c);
  Readout r =
      search::readout_of(input, shown, {&best.plan, best.step_time_s, best.memory_bytes, best.mfu, true}, false);
  r.rows.insert(r.rows.begin() + 1, {std::string(t.text("figure.mesh-map.quantity.mfu")), format_percent(best.mfu)});
  return r;
}

// What the degrees of the cell leave open: "fsdp 64, context 4".
std::string rest_of_mesh(const FigureInput& input, const engine::Plan& plan) {
  std::string out;
  for (const auto& [axis, degree] : {std::pair{"data", plan.data}, std::pair{"fsdp", plan.fsdp},
                                     std::pair{"context", plan.context}, std::pair{"expert", plan.expert}})
    if (degree > 1)
      out +=
          (out.empty() ? "" : ", ") + input.texts.format("figure.axis." + std::string(axis), {format_count(degree)});
  return out;
}

HeatGrid grid_of(const FigureInput& input, const search::TrainingShown& found, const MeshMap& map,
                 const CellValues& values) {
  const TextTable& t = input.texts;
  const MeshQuantity shown = values.quantity;
  const bool rising = shown == MeshQuantity::mfu;
  HeatRange range;
  for (const SearchCell* c : map.cells)
    if (c != nullptr && c->best)
      if (const double value = value_of(best_of(*found.result, *c), values); value > 0) range.add(value);
  range.widen(rising);
  double unit = 1;  // of the numbers in the cells
  if (shown == MeshQuantity::memory)
    unit = memory::kGb;
  else if (shown == MeshQuantity::time)
    unit = range.any && range.high < 1 ? 1e-3 : 1;
  const engine::Parallelism& own = found.scenario->parallelism;
  HeatGrid out;
  out.x_degrees = map.tensor, out.y_degrees = map.pipeline;
  bool blank = false, over = false, hatched = false, own_shown = false, best = false;
  for (const SearchCell* c : map.cells) {
    HeatCell& cell = out.cells.emplace_back();
    blank = blank || c == nullptr;
    if (c == nullptr) continue;
    cell.own = c->tensor == own.tensor && c->pipeline == own.pipeline;
    own_shown = own_shown || cell.own;
    cell.look = c->best ? HeatCell::Look::coloured : HeatCell::Look::hatched;
    hatched = hatched || !c->best;
    if (c->best) {
      const double value = value_of(best_of(*found.result, *c), values);
      cell.text = cell_text(value, shown, unit);
      cell.note = rest_of_mesh(input, best_of(*found.result, *c).plan);
      cell.best = found.fits() && c->tensor == found.best().plan.tensor && c->pipeline == found.best().plan.pipeline;
      best = best || (cell.best && !cell.own);
      cell.shade = range.shade(value, rising ? ScaleKind::linear : ScaleKind::log10, rising);
    } else if (lacks_memory(*c)) {
      cell.set_over(c->missing_bytes);
      over = true;
    } else {
      cell.reason = reason_text(input, *c);
    }
  }
  const auto axis = [&t](std::string_view id) {
    return std::string(t.text("figure.mesh-map.axis." + std::string(id)));
  };
  out.y_title = "\u2191 " + axis("pipeline");
  out.x_title = axis("tensor") + " \u2192";
  out.tag = "mesh.cell";
  out.readout = [&input, found, &map](std::size_t i) {
    return map.cells[i] != nullptr
               ? readout_of(input, found, *map.cells[i])
               : Readout{std::string(input.texts.text(found.result->is_whole() ? "figure.mesh-map.no_mesh"
                                                                               : "figure.mesh-map.unknown")),
                         {}};
  };
  out.low = value_text(rising ? range.low : range.high, shown),
  out.high = value_text(rising ? range.high : range.low, shown);
  const std::string quantity = quantity_text(t, values);
  const bool unknown = blank && !found.result->is_whole();
  out.brief_key =
      heat_key(t, quantity, hatched ? "figure.mesh-map.key.hatched" : "", false, blank && !unknown, false, false);
  out.key =
      heat_key(t, quantity, hatched ? "figure.mesh-map.key.hatched" : "", over, blank && !unknown, own_shown, best);
  if (unknown)
    for (std::string* key : {&out.brief_key, &out.key})
      *key += "; " + std::string(t.text("figure.mesh-map.key.unknown"));
  out.none = t.text("figure.serving-map.none");
  return out;
}

FigureHead mesh_map_head(const FigureInput& input, const FigureView& view) {
  const TextTable& t = input.texts;
  FigureHead head;
  head.title = t.text("figure.mesh-map.title");
  const search::TrainingShown found = search::shown_of(input);
  if (!found.fits()) return head;
  // The first plan of the list, which is the best of its cell too.
  const CellValues shown = cell_values(found, mesh_quantity_of(view));
  const RankedPlan& best = found.best();
  const double of_best = value_of(best, shown);
  const std::string value =
      say(head, data_claim(std::string(column_of(shown)), of_best, value_text(of_best, shown.quantity)));
  const std::string quantity = quantity_text(t, shown);
  head.takeaway = t.format("figure.mesh-map.takeaway",
                           {value, say(head, name_claim(search::plan_words(t, best.plan))), quantity});
  head.brief = t.format("figure.mesh-map.takeaway.brief", {value, quantity});
  return head;
}

void draw_mesh_map(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, mesh_map_head(input, view));
  if (rest.empty()) return;
  const search::TrainingShown found = search::shown_of(input);
  if (found.result == nullptr || !found.result->finished || found.result->cells.empty())
    return draw_empty_state(canvas, input.theme, rest, search::empty_text(input, found));
  const MeshMap map = map_of(*found.scenario, *found.result);
  if (map.cells.empty()) return draw_empty_state(canvas, input.theme, rest, search::empty_text(input, found));
  draw_heat_grid(canvas, rest, input, grid_of(input, found, map, cell_values(found, mesh_quantity_of(view))));
}

std::string mesh_map_data(const FigureInput& input, const FigureView&) {
  const search::TrainingShown found = search::shown_of(input);
  const bool finished = found.result != nullptr && found.result->finished;
  const CellValues of_all = finished ? cell_values(found, MeshQuantity::mfu) : CellValues{};
  const std::string more = of_all.of_all_chips() ? "\t" + std::string(kOfAllChips) : std::string();
  std::string out =
      fmt::format("tensor degree\tpipeline degree\tstate\t{}\tstep s\tMFU{}\tmemory bytes\tmissing bytes\n",
                  search::plan_fields_head(), more);
  if (!finished) return out;
  const std::string_view head = search::plan_fields_head();
  const auto fields = static_cast<std::size_t>(std::count(head.begin(), head.end(), '\t')) + 1;
  for (const SearchCell& c : found.result->cells) {
    out += fmt::format("{}\t{}\t{}\t", c.tensor, c.pipeline, c.best ? "runs" : engine::kRejectionIds[c.reason]);
    if (c.best) {
      const RankedPlan& best = best_of(*found.result, c);
      out += fmt::format("{}\t{}\t{}\t", search::plan_fields(input.texts, best.plan), best.step_time_s, best.mfu);
      if (of_all.of_all_chips()) out += fmt::format("{}\t", value_of(best, of_all));
      out += fmt::format("{}\t0\n", best.memory_bytes);
    } else {
      out += fmt::format("{}{}\n", std::string(fields + (of_all.of_all_chips() ? 4 : 3), '\t'), c.missing_bytes);
    }
  }
  return out;
}

// The best plan of a cell; nothing where none can run.
std::optional<FoundPlan> mesh_map_plan(const FigureInput& input, int cell) {
  const search::TrainingShown found = search::shown_of(input);
  if (found.result == nullptr || found.scenario == nullptr) return std::nullopt;
  const MeshMap map = map_of(*found.scenario, *found.result);
  if (cell < 0 || static_cast<std::size_t>(cell) >= map.cells.size()) return std::nullopt;
  const SearchCell* c = map.cells[static_cast<std::size_t>(cell)];
  if (c == nullptr || !c->best) return std::nullopt;
  return best_of(*found.result, *c).plan;
}

}  // namespace

extern constinit const FigureRow mesh_map_figure{
    .name = "mesh-map",
    .needs = Needs::search,
    .about = About::search,
    .height_pt = 297.6f,
    .options = kMeshMapOptions.rows,
    .head = mesh_map_head,
    .draw = draw_mesh_map,
    .data = mesh_map_data,
    .plans = {"mesh.cell", mesh_map_plan},
};

}  // namespace roofscape::widgets
