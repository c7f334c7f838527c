// The mesh map: a cell is the best of all other choices, the same as the search's list has it.

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "engine/evaluate/evaluate.h"
#include "engine/scenario/mesh_size.h"
#include "engine/search/search.h"
#include "tests/capture_binding.h"
#include "tests/widgets/figures/preset_fixture.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/heat_grid.h"
#include "widgets/figures/search/figure_search_parts.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

namespace {

FigureCase case_in(const char* id, engine::Mode mode) {
  FigureCase c = preset_case(id);
  c.scenario.assumptions.mode = mode;
  c.report = engine::evaluate(c.scenario);
  return c;
}

// The best plan of a cell; nothing where none can run.
std::optional<engine::Plan> plan_of_cell(const FigureInput& input, int cell) {
  const auto plan = find_figure("mesh-map")->plans.plan(input, cell);
  return plan ? std::optional(std::get<engine::Plan>(*plan)) : std::nullopt;
}

engine::SearchRequest request_of(const engine::Scenario& s) {
  engine::SearchRequest request;
  request.space = engine::space_of(s);
  request.cells = true;
  return request;
}

constexpr std::pair<const char*, engine::Mode> kCases[]{{"llama3-8b-8-h100", engine::Mode::ideal},
                                                        {"llama3-8b-8-h100", engine::Mode::calibrated},
                                                        {"mixtral-8x7b-64-h100", engine::Mode::ideal},
                                                        {"mixtral-8x7b-64-h100", engine::Mode::calibrated}};

}  // namespace

TEST_CASE("the best cell of the map is the first plan of the list, and the head names it") {
  for (const auto& [id, mode] : kCases) {
    CAPTURE_BINDING(id);
    const FigureCase c = case_in(id, mode);
    const Theme dark = theme("dark");
    FigureInput input = input_of(c, dark);
    input.search = nullptr;  // the whole space, as the command searches it
    const engine::SearchResult& found = *search::shown_of(input).result;
    REQUIRE_FALSE(found.best.empty());
    const engine::RankedPlan& first = found.best.front();
    double fastest = first.step_time_s;
    for (const engine::SearchCell& cell : found.cells)
      if (cell.best) fastest = std::min(fastest, cell.best->step_time_s);
    CHECK(fastest == first.step_time_s);
    RecordCanvas canvas(fonts(), 15, {0, 0, 900, 600});
    find_figure("mesh-map")->draw(canvas, canvas.bounds(), input, {});
    bool mapped = false;
    for (std::size_t i = 0; i < canvas.count_tags("mesh.cell"); ++i)
      mapped = mapped || plan_of_cell(input, static_cast<int>(i)) == first.plan;
    CHECK(mapped);
    CHECK(find_figure("mesh-map")->head(input, {}).takeaway ==
          "best MFU " + format_percent(first.mfu) + ": " + search::plan_words(english(), first.plan));
  }
}

TEST_CASE("where meshes leave chips idle the map's MFU is of all chips, and best where the step is shortest") {
  const FigureCase c = preset_case("llama3-70b-v5p-pod");  // 8,192 of 8,960 chips
  const Theme dark = theme("dark");
  FigureInput input = input_of(c, dark);
  input.search = nullptr;
  const engine::SearchResult& found = *search::shown_of(input).result;
  const auto of_all = [&](const engine::RankedPlan& one) { return one.mfu * engine::mesh_chips(one.plan) / 8960; };
  const engine::RankedPlan& first = found.best.front();
  RecordCanvas canvas(fonts(), 15, {0, 0, 1200, 800});
  find_figure("mesh-map")->draw(canvas, canvas.bounds(), input, {});
  const TagRegion* best = nullptr;
  for (std::size_t i = 0; i < canvas.count_tags("mesh.cell"); ++i) {
    const auto plan = plan_of_cell(input, static_cast<int>(i));
    if (!plan) continue;
    const auto cell = std::ranges::find_if(found.cells, [&](const engine::SearchCell& one) {
      return one.tensor == plan->tensor && one.pipeline == plan->pipeline;
    });
    CHECK(of_all(*cell->best) <= of_all(first) * (1 + 1e-12));
    CHECK(canvas.find_text(format_fixed(100 * of_all(*cell->best), 1)));
    if (*plan == first.plan) best = canvas.find_tag("mesh.cell", static_cast<int>(i));
  }
  REQUIRE(best);
  CHECK(std::ranges::count(best->readout.rows, std::pair<std::string, std::string>("chips", "8192 of 8960")) == 1);
  CHECK(find_figure("mesh-map")->head(input, {}).takeaway ==
        "best MFU of all chips " + format_percent(of_all(first)) + ": " + search::plan_words(english(), first.plan));
}

TEST_CASE("a cell is the best of a search with its tensor and pipeline degree pinned") {
  for (const auto& [id, mode] : kCases) {
    CAPTURE_BINDING(id);
    const engine::Scenario s = case_in(id, mode).scenario;
    const engine::SearchRequest request = request_of(s);
    const engine::SearchResult found = engine::search(s, request);
    std::size_t seen = 0;
    for (const engine::SearchCell& cell : found.cells) {
      engine::SearchRequest pinned = request;
      pinned.cells = false;
      pinned.limit = 1;
      pinned.space.tensor.only = {double(cell.tensor)};
      pinned.space.pipeline.only = {double(cell.pipeline)};
      const engine::SearchResult alone = engine::search(s, pinned);
      CAPTURE(cell.tensor);
      CAPTURE(cell.pipeline);
      REQUIRE(cell.best.has_value() == !alone.best.empty());
      if (!cell.best) continue;
      ++seen;
      CHECK(cell.best->plan == alone.best.front().plan);
      CHECK(cell.best->step_time_s == alone.best.front().step_time_s);
      CHECK(cell.best->memory_bytes == alone.best.front().memory_bytes);
      CHECK(cell.best->mfu == alone.best.front().mfu);
    }
    CHECK(seen > 1);
  }
}

TEST_CASE(
    "every cell of the mesh map has a tag with the numbers of its best plan, and the plan's own a frame in ink") {
  const FigureCase c = preset_case("llama3-8b-8-h100");
  const auto canvas = drawn("mesh-map", c, "dark", 15, 560, 400);
  const Theme dark = theme("dark");
  const FigureInput input = input_of(c, dark);
  const engine::SearchResult& found = *search::shown_of(input).result;
  const std::size_t tags = canvas->count_tags("mesh.cell");
  REQUIRE(tags > 0);
  std::size_t plans = 0;
  for (std::size_t i = 0; i < tags; ++i) {
    const TagRegion* tag = canvas->find_tag("mesh.cell", static_cast<int>(i));
    REQUIRE(tag);
    const auto plan = plan_of_cell(input, static_cast<int>(i));
    if (!plan) continue;
    ++plans;
    const auto cell = std::find_if(found.cells.begin(), found.cells.end(), [&](const engine::SearchCell& one) {
      return one.best && one.tensor == plan->tensor && one.pipeline == plan->pipeline;
    });
    REQUIRE(cell != found.cells.end());
    CHECK(tag->readout.title == search::plan_words(english(), *plan));
    CHECK(canvas->find_text(format_fixed(100 * cell->best->mfu, 1)));
  }
  CHECK(plans > 1);
  int frames = 0;
  for (const Primitive& p : canvas->primitives()) frames += p.colour == dark.ink && p.kind != Primitive::Kind::text;
  CHECK(frames >= 1);
  CHECK_FALSE(plan_of_cell(input, -1));
  CHECK_FALSE(plan_of_cell(input, static_cast<int>(tags)));
}

TEST_CASE("the key of a map tells only the looks that are there") {
  const TextTable& t = english();
  CHECK(heat_key(t, "MFU", {}, false, false, false, false) == "MFU");
  CHECK(heat_key(t, "MFU", "figure.mesh-map.key.hatched", false, false, false, false) == "MFU; hatched: cannot run");
  CHECK(heat_key(t, "MFU", "figure.mesh-map.key.hatched", true, true, false, false) ==
        "MFU; hatched: cannot run, + memory that is missing; blank: the chips do not divide");
  CHECK(heat_key(t, "MFU", {}, false, true, false, false) == "MFU; blank: the chips do not divide");
  CHECK(heat_key(t, "MFU", {}, false, false, true, false) == "MFU; frame: this plan's degrees");
  CHECK(heat_key(t, "MFU", {}, false, false, false, true) == "MFU; dashed frame: the best");
  CHECK(heat_key(t, "MFU", {}, false, false, true, true) == "MFU; frame: this plan's degrees, dashed: the best");
}

TEST_CASE("the key says whose frame a cell has, at column width too") {
  for (const auto& [width, height] : {std::pair{900.0f, 500.0f}, {420.0f, 320.0f}}) {
    CAPTURE_BINDING(width);
    const auto canvas = drawn("mesh-map", preset_case("llama3-405b-16k-h100-8k"), "print", 15, width, height);
    CHECK(canvas->audit_text() == "");
    std::string all;
    for (const TextRun& run : canvas->texts()) all += run.text + " ";
    CHECK(all.find("frame: this plan's degrees") != std::string::npos);
  }
}

TEST_CASE("where the words of the key have no room beside the colours they stand under them") {
  const auto canvas = drawn("mesh-map", preset_case("llama3-8b-8-h100"), "dark", 15, 420, 320);
  CHECK(canvas->audit_text() == "");
}

TEST_CASE("a map of few cells fills the width of a wall") {
  const auto canvas = drawn("mesh-map", preset_case("llama3-8b-8-h100"), "projector", 15, 1920, 1080);
  float right = 0;
  for (std::size_t i = 0; i < canvas->count_tags("mesh.cell"); ++i)
    right = std::max(right, canvas->find_tag("mesh.cell", static_cast<int>(i))->rect.right());
  CHECK(right > 0.85f * canvas->bounds().w);
}

TEST_CASE("memory that is missing stands in a narrow cell with a digit less") {
  const FigureCase c = preset_case("llama3-8b-8-h100");
  const Theme dark = theme("dark");
  HeatGrid grid;
  grid.x_degrees = grid.y_degrees = {1};
  grid.cells.emplace_back().set_over(31.1e9);
  grid.readout = [](std::size_t) { return Readout{}; };
  const auto says = [&](float width, std::string_view words) {
    RecordCanvas canvas(fonts(), 15, {0, 0, width, 240});
    draw_heat_grid(canvas, canvas.bounds(), input_of(c, dark), grid);
    return canvas.find_text(words) != nullptr;
  };
  CHECK(says(200, "+31.1\u202fGB"));
  CHECK(says(68, "+31\u202fGB"));
  CHECK_FALSE(says(68, "+31.1\u202fGB"));
}

TEST_CASE("numbers that are nearly equal have nearly the same colour") {
  HeatRange mfu;
  for (const double v : {0.753, 0.756, 0.76}) mfu.add(v);
  mfu.widen(true);
  CHECK(mfu.low == doctest::Approx(0.684));
  CHECK(mfu.shade(0.76, ScaleKind::linear, true) == 1);
  CHECK(mfu.shade(0.753, ScaleKind::linear, true) > 0.9);
  HeatRange time;
  for (const double v : {2.0, 2.1}) time.add(v);
  time.widen(false);
  CHECK(time.high == doctest::Approx(2.2));
  CHECK(time.shade(2.0, ScaleKind::log10, false) == 1);
  HeatRange wide;
  for (const double v : {0.2, 0.5}) wide.add(v);
  wide.widen(true);
  CHECK(wide.low == 0.2);
}

TEST_CASE("a cell that cannot run says why when pointed at, and by how much memory is missing") {
  FigureCase c = preset_case("llama3-8b-8-h100");
  c.scenario.cluster.chip[engine::ChipField::hbm_bytes].value = 20e9;
  c.report = engine::evaluate(c.scenario);
  const auto canvas = drawn("mesh-map", c, "dark", 15, 560, 400);
  const Theme dark = theme("dark");
  const FigureInput input = input_of(c, dark);
  int seen = 0;
  for (std::size_t i = 0; i < canvas->count_tags("mesh.cell"); ++i) {
    const TagRegion* tag = canvas->find_tag("mesh.cell", static_cast<int>(i));
    REQUIRE(tag);
    const bool runs = plan_of_cell(input, static_cast<int>(i)).has_value();
    if (tag->readout.rows.empty()) continue;  // blank
    CHECK((tag->readout.rows[0].first == "cannot run") == !runs);
    seen += !runs;
  }
  CHECK(seen > 0);
  CHECK(canvas->audit_text() == "");
}
