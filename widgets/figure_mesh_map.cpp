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
#include "widgets/number_format.h"
#include "widgets/palette.h"
#include "widgets/plot.h"
#include "widgets/stage_rows.h"

namespace roofscape::widgets {

using engine::MeshCell;
using engine::MeshCellState;
using engine::MeshMap;
using engine::MeshPair;
using memory::bytes_text;

namespace {

enum class Shown : std::uint8_t { mfu, time, memory };

constexpr float kMostCell = 150;   // width over height is free; neither grows beyond this
constexpr float kKeyWidth = 120, kKeyHeight = 10;
constexpr int kKeySteps = 40;

struct Key {
  engine::Scenario scenario;
  MeshPair pair;
  std::optional<engine::PlanSpace> space;
  bool operator==(const Key&) const = default;
};

Shown shown_of(const FigureView& view) { return static_cast<Shown>(std::min<int>(view.choices[1], 2)); }

const MeshMap& study_of(const FigureInput& input, const FigureView& view) {
  Key key{input.scenario, static_cast<MeshPair>(std::min<std::size_t>(view.choices[0], engine::kMeshPairIds.size() - 1)), {}};
  if (input.search != nullptr && input.search->space != nullptr) key.space = *input.search->space;
  return input.studies.get<MeshMap>(key, [&] { return engine::mesh_map(key.scenario, key.pair, key.space ? &*key.space : nullptr); });
}

double value_of(const MeshCell& c, Shown shown) {
  return shown == Shown::mfu ? c.mfu : shown == Shown::time ? c.step_s : c.memory_bytes;
}
std::string value_text(double value, Shown shown) {
  return shown == Shown::mfu ? format_percent(value) : shown == Shown::time ? format_duration(value) : bytes_text(value);
}
// Cells share one unit, which the key states.
std::string cell_text(double value, Shown shown, double unit) {
  return shown == Shown::mfu ? format_fixed(100 * value, 1) : format_significant(value / unit);
}

struct Range {
  double low = 0, high = 0;
  bool any = false;
  // 0 to 1, the better the higher.
  double shade(double value, Shown shown) const {
    if (!(high > low)) return 0.7;
    const double t = shown == Shown::mfu ? (value - low) / (high - low) : std::log(value / low) / std::log(high / low);
    return shown == Shown::mfu ? t : 1 - t;
  }
};
Range range_of(const MeshMap& map, Shown shown) {
  Range out;
  for (const MeshCell& c : map.cells) {
    const double v = value_of(c, shown);
    if (c.state != MeshCellState::runs || !(v > 0)) continue;
    out.low = out.any ? std::min(out.low, v) : v;
    out.high = out.any ? std::max(out.high, v) : v;
    out.any = true;
  }
  return out;
}

std::string axis_word(const FigureInput& input, engine::Axis axis) {
  return std::string(input.texts.text("figure.mesh-map.axis." + std::string(engine::kAxisIds[static_cast<std::size_t>(axis)])));
}
std::string degree_text(const FigureInput& input, engine::Axis axis, int degree) {
  return input.texts.format("figure.axis." + std::string(engine::kAxisIds[static_cast<std::size_t>(axis)]), {format_count(degree)});
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
  if (dimension == "schedule") return std::string(t.text("choice.pipeline.schedule." + std::string(engine::schedule_id(static_cast<engine::ScheduleKind>(value)))));
  if (dimension == "policy") return search::policy_word(t, static_cast<engine::CheckpointPolicy>(value));
  if (dimension == "sequence_parallel" || dimension.starts_with("offload")) return std::string(t.text(value != 0 ? "figure.mesh-map.limit.on" : "figure.mesh-map.limit.off"));
  return format_count(value);
}

// "tensor: at most 8".
std::string limit_text(const FigureInput& input, const engine::BrokenLimit& limit) {
  const TextTable& t = input.texts;
  const std::string name(t.text("figure.mesh-map.limit." + std::string(limit.dimension)));
  const engine::Allowed& a = limit.allowed;
  if (limit.dimension == "tensor_nodes" || limit.dimension == "min_free") return name;
  if (a.only.size() == 1) return t.format("figure.mesh-map.limit.only", {name, value_word(input, limit.dimension, a.only.front())});
  if (a.max < std::numeric_limits<int>::max()) return t.format("figure.mesh-map.limit.most", {name, value_word(input, limit.dimension, a.max)});
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
    r.rows.emplace_back(t.text(c.state == MeshCellState::excluded ? "figure.mesh-map.excluded" : "figure.mesh-map.cannot"), reason_text(input, c));
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

// The colour key with its ends, from the left edge on.
void draw_scale(Canvas& canvas, const FigureInput& input, const Rect& row, const Range& range, Shown shown, const MeshMap& map) {
  const Theme& theme = input.theme;
  const TextStyle style = small_text(canvas, theme.ink2, HAlign::left);
  const bool rising = shown == Shown::mfu;
  const std::string left = value_text(rising ? range.low : range.high, shown), right = value_text(rising ? range.high : range.low, shown);
  const float gap = canvas.px(6), ends = canvas.text_width(left, style) + canvas.text_width(right, style) + 2 * gap;
  const float width = std::min(canvas.px(kKeyWidth), row.w - ends), height = canvas.px(kKeyHeight);
  if (width < canvas.px(24)) return;
  canvas.text({row.x, row.centre().y}, left, style);
  const float start = row.x + canvas.text_width(left, style) + gap;
  for (int i = 0; i < kKeySteps; ++i) {
    const float from = start + width * static_cast<float>(i) / kKeySteps;
    canvas.rect({from, row.centre().y - height / 2, width / kKeySteps + canvas.px(0.3f), height}, Fill{.colour = viridis((i + 0.5) / kKeySteps)});
  }
  canvas.text({start + width + gap, row.centre().y}, right, style);
  // What the numbers in the cells are, where there is room for it.
  const float after = start + width + gap + canvas.text_width(right, style) + canvas.px(14);
  const auto any = [&map](MeshCellState state) { return std::any_of(map.cells.begin(), map.cells.end(), [state](const MeshCell& c) { return c.state == state; }); };
  const bool blank = any(MeshCellState::no_mesh);
  std::string words = input.texts.format(blank ? "figure.mesh-map.key.blank" : "figure.mesh-map.key", {std::string(input.texts.text("figure.mesh-map.quantity." + std::string(kMeshMapQuantities[static_cast<std::size_t>(shown)])))});
  const TextStyle faint = small_text(canvas, theme.ink3, HAlign::left);
  // Of what is struck out first: it is there because somebody asked for it.
  if (any(MeshCellState::excluded)) {
    const std::string limits(input.texts.text("figure.mesh-map.key.limits"));
    if (after + canvas.text_width(words + limits, faint) <= row.right()) words += limits;
    else words = limits.substr(2);
  }
  if (after + canvas.text_width(words, faint) <= row.right()) canvas.text({after, row.centre().y}, words, faint);
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
  const std::string quantity(t.text("figure.mesh-map.quantity." + std::string(kMeshMapQuantities[static_cast<std::size_t>(shown)])));
  head.takeaway = t.format(key, {value_text(value_of(*best, shown), shown), plan_text(input, map, *best), quantity});
  if (!best->own) head.brief = t.format("figure.mesh-map.takeaway.brief", {value_text(value_of(*best, shown), shown), quantity});
  return head;
}

void draw_mesh_map(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  Rect rest = draw_figure_head(canvas, area, input, view, mesh_map_head(input, view));
  if (rest.empty()) return;
  const Theme& theme = input.theme;
  const TextTable& t = input.texts;
  const MeshMap& map = study_of(input, view);
  const Shown shown = shown_of(view);
  const Range range = range_of(map, shown);
  const bool any_excluded = std::any_of(map.cells.begin(), map.cells.end(), [](const MeshCell& c) { return c.state == MeshCellState::excluded; });
  if (!range.any && !any_excluded) return draw_empty_state(canvas, theme, rest, t.text("figure.mesh-map.empty"));

  const float line = small_line(canvas);
  const TextStyle title = small_text(canvas, theme.ink3, HAlign::left), number = small_text(canvas, theme.ink2, HAlign::right);
  const Rect top = rest.cut_top(line * 1.3f), key = rest.cut_bottom(line * 1.4f);
  const Rect foot = rest.cut_bottom(line * 2.3f);  // numbers, then the name of the axis
  float widest = 0;
  for (const int d : map.y_degrees) widest = std::max(widest, canvas.text_width(format_count(d), number));
  rest.cut_left(widest + canvas.px(8));
  const std::size_t nx = map.x_degrees.size(), ny = map.y_degrees.size();
  const float w = std::min(rest.w / static_cast<float>(nx), canvas.px(kMostCell)), h = std::min(rest.h / static_cast<float>(ny), canvas.px(kMostCell));
  if (w < canvas.px(6) || h < canvas.px(4)) return;
  const auto cell_rect = [&](std::size_t xi, std::size_t yi) {
    return Rect{rest.x + w * static_cast<float>(xi), rest.y + h * static_cast<float>(ny - 1 - yi), w, h};
  };
  const Rect grid{rest.x, rest.y, w * static_cast<float>(nx), h * static_cast<float>(ny)};

  // Absorbed by the third axis: said beside the name of the vertical one.
  const std::string up = t.format("figure.mesh-map.y", {"\u2191", axis_word(input, map.y), axis_word(input, map.rest)});
  canvas.text({top.x, top.centre().y}, ellipsize(canvas, up, title, top.w), title);
  for (std::size_t yi = 0; yi < ny; yi += static_cast<std::size_t>(std::ceil(line / h)))
    canvas.text({rest.x - canvas.px(8), cell_rect(0, yi).centre().y}, format_count(map.y_degrees[yi]), number);
  float free_from = 0;
  for (std::size_t xi = 0; xi < nx; ++xi) {
    const std::string text = format_count(map.x_degrees[xi]);
    const TextStyle style = small_text(canvas, theme.ink2, HAlign::centre);
    const float middle = cell_rect(xi, 0).centre().x, half = canvas.text_width(text, style) / 2;
    if (xi > 0 && middle - half < free_from + canvas.px(3)) continue;
    canvas.text({middle, grid.bottom() + line * 0.65f}, text, style);
    free_from = middle + half;
  }
  TextStyle right = title;
  right.halign = HAlign::right;
  canvas.text({grid.right(), grid.bottom() + line * 1.65f}, ellipsize(canvas, axis_word(input, map.x) + " \u2192", right, grid.right() - foot.x), right);

  double unit = 1;  // of the numbers in the cells
  if (shown == Shown::memory) unit = 1e9;
  else if (shown == Shown::time) unit = range.any && range.high < 1 ? 1e-3 : 1;
  const float gap = canvas.px(0.8f);
  for (std::size_t yi = 0; yi < ny; ++yi)
    for (std::size_t xi = 0; xi < nx; ++xi) {
      const MeshCell& c = map.cell(xi, yi);
      const Rect r = cell_rect(xi, yi).inset(gap);
      std::string text;
      Colour ink = theme.ink2;
      if (c.state == MeshCellState::runs) {
        const Fill fill{.colour = viridis(range.shade(value_of(c, shown), shown))};
        canvas.rect(r, fill);
        ink = text_on(fill.colour);
        text = cell_text(value_of(c, shown), shown, unit);
      } else if (c.state == MeshCellState::excluded) {
        const Stroke thin{theme.line, theme.grid_width * canvas.em(), {}};
        canvas.frame(r, thin);
        canvas.line({r.x, r.bottom()}, {r.right(), r.y}, thin);
        ink = theme.ink3;
        text = cell_text(value_of(c, shown), shown, unit);
      } else if (c.state == MeshCellState::no_mesh) {
        canvas.frame(r, {theme.line, theme.grid_width * canvas.em(), {}});
      } else {
        canvas.rect(r, fill_of(theme, Axis::bubble, canvas.em()));
        canvas.frame(r, {theme.line, theme.grid_width * canvas.em(), {}});
        if (c.state == MeshCellState::too_full) text = "+" + bytes_text(c.over_bytes);
      }
      const TextStyle style = small_text(canvas, ink, HAlign::centre, c.own ? Weight::bold : Weight::regular);
      if (!text.empty() && canvas.text_width(text, style) + canvas.px(4) < r.w && line < r.h) {
        if (c.state == MeshCellState::runs) canvas.text(r.centre(), text, style);
        else backed_text(canvas, theme, r.centre(), text, style);
      }
      canvas.tag_with("mesh.cell", static_cast<int>(yi * nx + xi), r, [&] { return readout_of(input, map, c); });
    }
  for (std::size_t i = 0; i < map.cells.size(); ++i)
    if (map.cells[i].own) {
      const Rect r = cell_rect(i % nx, i / nx);
      canvas.frame(r.inset(-canvas.px(1)), {theme.panel, canvas.px(3), {}});
      canvas.frame(r, {theme.ink, canvas.px(2), {}});
    }
  if (range.any) draw_scale(canvas, input, key, range, shown, map);
  else canvas.text({key.x, key.centre().y}, ellipsize(canvas, t.text("figure.mesh-map.all_excluded"), title, key.w), title);
}

std::string mesh_map_data(const FigureInput& input, const FigureView& view) {
  const MeshMap& map = study_of(input, view);
  const auto id = [](engine::Axis axis) { return engine::kAxisIds[static_cast<std::size_t>(axis)]; };
  std::string out = fmt::format("{}\t{}\t{}\tstate\tstep s\tMFU\tmemory bytes\n", id(map.x), id(map.y), id(map.rest));
  constexpr std::string_view kStates[]{"runs", "does not fit", "impossible", "no mesh", "not priced", "not searched"};
  for (const MeshCell& c : map.cells)
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", c.x_degree, c.y_degree, c.rest, kStates[static_cast<std::size_t>(c.state)], c.step_s, c.mfu, c.memory_bytes);
  return out;
}

}  // namespace roofscape::widgets
