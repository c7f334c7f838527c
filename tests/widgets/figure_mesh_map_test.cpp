#include "engine/studies/mesh_map.h"

#include <algorithm>

#include "tests/widgets/golden.h"
#include "tests/widgets/preset_fixture.h"
#include "widgets/heat_grid.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

TEST_CASE("a plan with a pipeline is mapped over tensor and pipeline, one without over tensor and fsdp") {
  const auto head = [](const char* id) {
    return find_figure("mesh-map")->head(input_of(preset_case(id), theme("dark")), {}).title;
  };
  CHECK(head("llama3-405b-16k-h100") == "Mesh map: tensor and pipeline");
  CHECK(head("llama3-8b-8-h100") == "Mesh map: tensor and fsdp");
}

TEST_CASE("every cell of the mesh map has a tag, and the plan's own a frame in ink") {
  const FigureCase c = preset_case("llama3-8b-8-h100");
  const auto canvas = drawn("mesh-map", c, "dark", 15, 560, 400);
  const auto map = engine::mesh_map(c.scenario, engine::MeshPair::automatic);
  CHECK(canvas->count_tags("mesh.cell") == map.cells.size());
  int frames = 0;
  for (const Primitive& p : canvas->primitives())
    frames += p.colour == theme("dark").ink && p.kind != Primitive::Kind::text;
  CHECK(frames >= 1);
}

TEST_CASE("where the words of the key have no room beside the colours they stand under them") {
  const auto canvas = drawn("mesh-map", preset_case("llama3-8b-8-h100"), "dark", 15, 420, 320);
  CHECK(canvas->find_text("MFU; hatched: cannot run; blank: the chips do not divide"));
  CHECK(canvas->audit_text() == "");
}

TEST_CASE("a map of few cells fills the width of a wall") {
  const auto canvas = drawn("mesh-map", preset_case("llama3-8b-8-h100"), "projector", 15, 1920, 1080);
  const auto map = engine::mesh_map(preset_case("llama3-8b-8-h100").scenario, engine::MeshPair::automatic);
  const TagRegion* last = canvas->find_tag("mesh.cell", static_cast<int>(map.cells.size()) - 1);
  REQUIRE(last);
  CHECK(last->rect.right() > 0.85f * canvas->bounds().w);
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

// DualPipe keeps two copies of the weights: with 4 stages more is missing than a schedule that is not possible on 2
// would seem to miss.
TEST_CASE("a mesh that breaks a rule is impossible, whatever it would hold") {
  const auto map = engine::mesh_map(preset_case("deepseek-v3-2048-h800").scenario, engine::MeshPair::automatic);
  const auto cell_of = [&](int tensor, int pipeline) -> const engine::MeshCell& {
    return *std::find_if(map.cells.begin(), map.cells.end(), [&](const engine::MeshCell& c) {
      return c.x_degree == tensor && c.y_degree == pipeline;
    });
  };
  CHECK(cell_of(1, 4).state == engine::MeshCellState::too_full);
  CHECK(cell_of(1, 2).state == engine::MeshCellState::impossible);
  CHECK(cell_of(1, 2).problem == "pipeline.illegal_schedule");
}

TEST_CASE("a hatched cell gives its reason where that fits as a whole") {
  const auto canvas = drawn("mesh-map", preset_case("deepseek-v3-2048-h800"), "light", 15, 1300, 900);
  CHECK(canvas->find_text("Schedule not possible"));
  CHECK(canvas->find_text("MFU; hatched: cannot run, + memory that is missing"));
  CHECK(canvas->audit_text() == "");
}

TEST_CASE("a cell that cannot run says why when pointed at") {
  const FigureCase c = preset_case("llama3-8b-8-h100");
  const auto map = engine::mesh_map(c.scenario, engine::MeshPair::automatic);
  const auto canvas = drawn("mesh-map", c, "dark", 15, 560, 400);
  int seen = 0;
  for (std::size_t i = 0; i < map.cells.size(); ++i) {
    const TagRegion* tag = canvas->find_tag("mesh.cell", static_cast<int>(i));
    REQUIRE(tag);
    REQUIRE_FALSE(tag->readout.rows.empty());
    const bool runs = map.cells[i].state == engine::MeshCellState::runs;
    CHECK((tag->readout.rows[0].first == "cannot run") == !runs);
    seen += !runs;
  }
  CHECK(seen > 0);
}

TEST_CASE("a cell outside of what is searched names the limit, is not coloured and is no best") {
  const FigureCase c = preset_case("llama3-8b-8-h100");
  engine::PlanSpace space = engine::space_of(c.scenario);
  space.tensor.max = 2;
  SearchSeen seen;
  seen.space = &space;
  const Theme dark = theme("dark");
  FigureInput input = input_of(c, dark);
  input.search = &seen;
  const auto map = engine::mesh_map(c.scenario, engine::MeshPair::automatic, &space);
  RecordCanvas canvas(fonts(), 15, {0, 0, 560, 400});
  find_figure("mesh-map")->draw(canvas, canvas.bounds(), input, {});
  int seen_cells = 0;
  for (std::size_t i = 0; i < map.cells.size(); ++i) {
    if (map.cells[i].state != engine::MeshCellState::excluded) continue;
    const TagRegion* tag = canvas.find_tag("mesh.cell", static_cast<int>(i));
    REQUIRE(tag);
    CHECK(tag->readout.rows[0].first == "not searched");
    CHECK(tag->readout.rows[0].second == "tensor: at most 2; a click does not adopt it");
    ++seen_cells;
  }
  CHECK(seen_cells > 0);
  CHECK(canvas.audit_text() == "");
  CHECK(canvas.find_text("MFU; hatched: cannot run; blank: the chips do not divide; struck out: not searched"));
}

TEST_CASE("the mesh map is as its golden") {
  FigureView view;
  view.print = true;
  check_golden("figure_mesh_map", *drawn("mesh-map", preset_case("llama3-8b-8-h100"), "print", 9, 425, 298, view));
}
