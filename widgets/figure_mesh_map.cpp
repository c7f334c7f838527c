#include "widgets/figure_mesh_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "widgets/empty_state.h"
#include "widgets/figure_head.h"
#include "widgets/figure_memory_parts.h"
#include "widgets/figure_search_parts.h"
#include "widgets/heat_grid.h"
#include "widgets/number_format.h"

namespace roofscape::widgets {

using engine::MeshCell;
using engine::MeshCellState;
using engine::MeshMap;
using engine::MeshPair;
using memory::bytes_text;

namespace {

enum class Shown : std::uint8_t { mfu, time, memory };

struct Key {
  engine::Scenario scenario;
  MeshPair pair;
  std::optional<engine::PlanSpace> space;
  bool operator==(const Key&) const = default;
};

Shown shown_of(const FigureView& view) { return static_cast<Shown>(std::min<int>(view.choices[1], 2)); }

const MeshMap& study_of(const FigureInput& input, const FigureView& view) {
  Key key{input.scenario,
          static_cast<MeshPair>(std::min<std::size_t>(view.choices[0], engine::kMeshPairIds.size() - 1)),
          {}};
  if (input.search != nullptr && input.search->space != nullptr) key.space = *input.search->space;
  return input.studies.get<MeshMap>(
      key, [&] { return engine::mesh_map(key.scenario, key.pair, key.space ? &*key.space : nullptr); });
}

double value_of(const MeshCell& c, Shown shown) {
  return shown == Shown::mfu ? c.mfu : shown == Shown::time ? c.step_s : c.memory_bytes;
}
std::string value_text(double value, Shown shown) {
  return shown == Shown::mfu    ? format_percent(value)
         : shown == Shown::time ? format_duration(value)
                                : bytes_text(value);
}
// Cells share one unit, which the key states.
std::string cell_text(double value, Shown shown, double unit) {
  return shown == Shown::mfu ? format_fixed(100 * value, 1) : format_significant(value / unit);
}

// Of a quantity the cells that run.
HeatRange range_of(const MeshMap& map, Shown shown) {
  HeatRange out;
  for (const MeshCell& c : map.cells)
    if (const double v = value_of(c, shown); c.state == MeshCellState::runs && v > 0) out.add(v);
  out.widen(shown == Shown::mfu);
  return out;
}
double shade_of(const HeatRange& range, double value, Shown shown) {
  const bool mfu = shown == Shown::mfu;
  return range.shade(value, mfu ? ScaleKind::linear : ScaleKind::log10, mfu);
}

std::string axis_word(const FigureInput& input, engine::Axis axis) {
  return std::string(
      input.texts.text("figure.mesh-map.axis." + std::string(engine::kAxisIds[static_cast<std::size_t>(axis)])));
}
std::string degree_text(const FigureInput& input, engine::Axis axis, int degree) {
  return input.texts.format("figure.axis." + std::string(engine::kAxisIds[static_cast<std::size_t>(axis)]),
                            {format_count(degree)});
}
std::string plan_text(const FigureInput& input, const MeshMap& map, const MeshCell& c) {
  const std::string separator(input.texts.text("figure.list_separator"));
  std::string out = degree_text(input, map.x, c.x_degree) + separator + degree_text(input, map.y, c.y_degree);
  if (c.rest > 0) out += separator + degree_text(input, map.rest, c.rest);
  return out;
}

// A value of a dimension of plans, in words.
std::string value_word(const FigureInput& input, std::string_view dimension, int value) {
  const TextTable& t = input.texts;
  if (dimension == "schedule")
    return std::string(t.text("choice.pipeline.schedule." +
                              std::string(engine::schedule_id(static_cast<engine::ScheduleKind>(value)))));
  if (dimension == "policy") return search::policy_word(t, static_cast<engine::CheckpointPolicy>(value));
  if (dimension == "sequence_parallel" || dimension.starts_with("offload"))
    return std::string(t.text(value != 0 ? "figure.mesh-map.limit.on" : "figure.mesh-map.limit.off"));
  return format_count(value);
}

// "tensor: at most 8".
std::string limit_text(const FigureInput& input, const engine::BrokenLimit& limit) {
  const TextTable& t = input.texts;
  const std::string name(t.text("figure.mesh-map.limit." + std::string(limit.dimension)));
  const engine::Allowed& a = limit.allowed;
  if (limit.dimension == "tensor_nodes" || limit.dimension == "min_free") return name;
  if (a.only.size() == 1)
    return t.format("figure.mesh-map.limit.only", {name, value_word(input, limit.dimension, a.only.front())});
  if (a.max < std::numeric_limits<int>::max())
    return t.format("figure.mesh-map.limit.most", {name, value_word(input, limit.dimension, a.max)});
  return t.format("figure.mesh-map.limit.least", {name, value_word(input, limit.dimension, a.min)});
}

std::string reason_text(const FigureInput& input, const MeshCell& c) {
  const TextTable& t = input.texts;
  switch (c.state) {
    case MeshCellState::too_full: return t.format("figure.mesh-map.too_full", {bytes_text(c.over_bytes)});
    case MeshCellState::impossible: return std::string(t.text("diagnostic." + std::string(c.problem) + ".title"));
    case MeshCellState::no_mesh: return std::string(t.text("figure.mesh-map.no_mesh"));
    case MeshCellState::too_long: return std::string(t.text("figure.mesh-map.too_long"));
    case MeshCellState::excluded: return t.format("figure.mesh-map.not_adopted", {limit_text(input, c.limit)});
    case MeshCellState::runs: break;
  }
  return {};
}

Readout readout_of(const FigureInput& input, const MeshMap& map, const MeshCell& c) {
  const TextTable& t = input.texts;
  Readout r;
  r.title = plan_text(input, map, c);
  if (c.state != MeshCellState::runs)
    r.rows.emplace_back(
        t.text(c.state == MeshCellState::excluded ? "figure.mesh-map.excluded" : "figure.mesh-map.cannot"),
        reason_text(input, c));
  if (c.step_s > 0) {
    r.rows.emplace_back(t.text("figure.mesh-map.quantity.time"), format_duration(c.step_s));
    r.rows.emplace_back(t.text("figure.mesh-map.quantity.mfu"), format_percent(c.mfu));
    r.rows.emplace_back(t.text("figure.mesh-map.quantity.memory"), bytes_text(c.memory_bytes));
  }
  return r;
}

const MeshCell* best_of(const MeshMap& map, Shown shown) {
  const MeshCell* best = nullptr;
  for (const MeshCell& c : map.cells) {
    if (c.state != MeshCellState::runs) continue;
    const double v = value_of(c, shown);
    if (best == nullptr || (shown == Shown::mfu ? v > value_of(*best, shown) : v < value_of(*best, shown))) best = &c;
  }
  return best;
}

HeatCell heat_cell(const FigureInput& input, const MeshCell& c, Shown shown, const HeatRange& range, double unit) {
  using Look = HeatCell::Look;
  HeatCell out;
  out.look = Look::hatched;
  out.own = c.own;
  switch (c.state) {
    case MeshCellState::runs: out.look = Look::coloured; break;
    case MeshCellState::excluded: out.look = Look::struck; break;
    case MeshCellState::no_mesh: out.look = Look::blank; break;
    case MeshCellState::too_full: out.set_over(c.over_bytes); break;
    case MeshCellState::impossible:
    case MeshCellState::too_long: out.reason = reason_text(input, c); break;
  }
  if (out.look == Look::coloured || out.look == Look::struck) out.text = cell_text(value_of(c, shown), shown, unit);
  if (out.look == Look::coloured) out.shade = shade_of(range, value_of(c, shown), shown);
  return out;
}

HeatGrid grid_of(const FigureInput& input, const MeshMap& map, Shown shown) {
  const TextTable& t = input.texts;
  const HeatRange range = range_of(map, shown);
  double unit = 1;  // of the numbers in the cells
  if (shown == Shown::memory) unit = 1e9;
  else if (shown == Shown::time) unit = range.any && range.high < 1 ? 1e-3 : 1;
  HeatGrid out;
  out.x_degrees = map.x_degrees, out.y_degrees = map.y_degrees;
  for (const MeshCell& c : map.cells) out.cells.push_back(heat_cell(input, c, shown, range, unit));
  // Absorbed by the third axis: said beside the name of the vertical one.
  out.y_title = t.format("figure.mesh-map.y", {"\u2191", axis_word(input, map.y), axis_word(input, map.rest)});
  out.x_title = axis_word(input, map.x) + " \u2192";
  out.tag = "mesh.cell";
  out.readout = [&input, &map](std::size_t i) { return readout_of(input, map, map.cells[i]); };
  const bool rising = shown == Shown::mfu;
  out.low = value_text(rising ? range.low : range.high, shown),
  out.high = value_text(rising ? range.high : range.low, shown);
  const bool blank = std::any_of(map.cells.begin(), map.cells.end(),
                                 [](const MeshCell& c) { return c.state == MeshCellState::no_mesh; });
  const bool over = std::any_of(map.cells.begin(), map.cells.end(),
                                [](const MeshCell& c) { return c.state == MeshCellState::too_full; });
  const std::string quantity(
      t.text("figure.mesh-map.quantity." + std::string(kMeshMapQuantities[static_cast<std::size_t>(shown)])));
  const std::string_view key = blank ? "figure.mesh-map.key.blank" : "figure.mesh-map.key";
  out.brief_key = t.format(key, {quantity, std::string()});
  out.key = over ? t.format(key, {quantity, std::string(t.text("figure.mesh-map.key.over"))}) : out.brief_key;
  out.struck_key = t.text("figure.mesh-map.key.limits");
  out.none = t.text("figure.mesh-map.all_excluded");
  return out;
}

}  // namespace

FigureHead mesh_map_head(const FigureInput& input, const FigureView& view) {
  const TextTable& t = input.texts;
  const MeshMap& map = study_of(input, view);
  const Shown shown = shown_of(view);
  FigureHead head;
  head.title = t.format("figure.mesh-map.title", {axis_word(input, map.x), axis_word(input, map.y)});
  const MeshCell* best = best_of(map, shown);
  if (best == nullptr) return head;
  const std::string key = best->own ? "figure.mesh-map.takeaway.own" : "figure.mesh-map.takeaway";
  const std::string quantity(
      t.text("figure.mesh-map.quantity." + std::string(kMeshMapQuantities[static_cast<std::size_t>(shown)])));
  head.takeaway = t.format(key, {value_text(value_of(*best, shown), shown), plan_text(input, map, *best), quantity});
  if (!best->own)
    head.brief = t.format("figure.mesh-map.takeaway.brief", {value_text(value_of(*best, shown), shown), quantity});
  return head;
}

void draw_mesh_map(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, mesh_map_head(input, view));
  if (rest.empty()) return;
  const MeshMap& map = study_of(input, view);
  const bool any = std::any_of(map.cells.begin(), map.cells.end(), [](const MeshCell& c) {
    return c.state == MeshCellState::runs || c.state == MeshCellState::excluded;
  });
  if (!any) return draw_empty_state(canvas, input.theme, rest, input.texts.text("figure.mesh-map.empty"));
  draw_heat_grid(canvas, rest, input, grid_of(input, map, shown_of(view)));
}

std::string mesh_map_data(const FigureInput& input, const FigureView& view) {
  const MeshMap& map = study_of(input, view);
  const auto id = [](engine::Axis axis) { return engine::kAxisIds[static_cast<std::size_t>(axis)]; };
  std::string out = fmt::format("{}\t{}\t{}\tstate\tstep s\tMFU\tmemory bytes\n", id(map.x), id(map.y), id(map.rest));
  constexpr std::string_view kStates[]{"runs", "does not fit", "impossible", "no mesh", "not priced", "not searched"};
  for (const MeshCell& c : map.cells)
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", c.x_degree, c.y_degree, c.rest,
                       kStates[static_cast<std::size_t>(c.state)], c.step_s, c.mfu, c.memory_bytes);
  return out;
}

std::vector<engine::FieldEdit> mesh_map_edits(const FigureInput& input, const FigureView& view, int cell) {
  const MeshMap& map = study_of(input, view);
  if (cell < 0 || static_cast<std::size_t>(cell) >= map.cells.size()) return {};
  return engine::edits_of(map, map.cells[static_cast<std::size_t>(cell)]);
}

}  // namespace roofscape::widgets
