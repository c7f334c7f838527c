// The search in the window: what is found is adopted, limited, cancelled and undone without one.
#include "engine/studies/mesh_map.h"
#include "tests/app/ui_checks.h"
#include "widgets/figures.h"

using namespace roofscape;
using app::SearchJob;
using engine::Plan;
using engine::plan_of;
using test::check_overlaps;
using test::check_texts;
using test::Harness;
using widgets::Key;

namespace {

constexpr const char* kSmall = "llama3-8b-8-h100";

// Opens the search and waits for what it finds.
void search(Harness& h) {
  h.key({Key::f7});
  h.workspace.searching.wait();
  h.step(2);
}
void found_again(Harness& h) {
  h.step(2);
  h.workspace.searching.wait();
  h.step(2);
}
const engine::SearchResult& result(const Harness& h) { return h.workspace.view.search.found->result; }

// A place of a tag with this id that is in no other's way.
std::optional<widgets::Point> tag_place(Harness& h, std::string_view id, int index) {
  h.canvas.set_tagging(widgets::Tagging::all);
  h.step();
  std::optional<widgets::Point> at;
  for (const widgets::TagRegion& tag : h.canvas.tags())
    if (tag.id == id && tag.index == index && !tag.rect.empty()) at = tag.rect.centre();
  h.canvas.set_tagging(widgets::Tagging::none);
  return at;
}

}  // namespace

TEST_CASE("F7 opens the search, which finds plans for the scenario that is shown") {
  Harness h(kSmall);
  CHECK(h.workspace.searching.started() == 0);  // nothing that is shown needs one
  search(h);
  REQUIRE(h.workspace.view.search.found);
  CHECK(h.workspace.view.search.found->asked.scenario == h.scenario());
  CHECK_FALSE(h.workspace.view.search.stale);
  CHECK(h.place("search.row.1") != nullptr);
  h.key({Key::escape});
  CHECK_FALSE(h.workspace.view.search.open);
}

TEST_CASE("the search draws inside the window and cuts no text, for every training scenario at three sizes") {
  struct Size {
    float width, height;
  };
  for (const char* id : {"llama3-8b-8-h100", "mixtral-8x7b-64-h100", "llama3-405b-16k-h100"})
    for (const Size size : {Size{1024, 700}, {1280, 720}, {1920, 1080}}) {
      CAPTURE(id);
      CAPTURE(size.width);
      Harness h(id, size.width, size.height);
      h.key({Key::f7});
      h.step();
      check_texts(h, size.width);  // while it runs
      h.workspace.searching.wait();
      h.step(2);
      CHECK(widgets::compat::audit_draw_data().outside == 0);
      check_texts(h, size.width);
      check_overlaps(h);
    }
}

TEST_CASE("a click on a row adopts its plan as one step of undo") {
  Harness h(kSmall);
  search(h);
  const engine::Scenario before = h.scenario();
  const Plan third = result(h).best[2].plan;
  REQUIRE_FALSE(third == plan_of(before));
  h.click("search.row.3");
  CHECK(plan_of(h.scenario()) == third);
  CHECK(h.workspace.session.history().undo_depth() == 1);
  found_again(h);
  CHECK(result(h).present_rank == 3);
  h.workspace.undo();
  CHECK(h.scenario() == before);
}

TEST_CASE("what a row says is what its plan then has") {
  Harness h(kSmall);
  search(h);
  const engine::RankedPlan best = result(h).best[0];
  h.click("search.row.1");
  CHECK(*h.report().quantities[engine::Q::step_time] == best.step_time_s);
  CHECK(*h.report().quantities[engine::Q::memory_total] == best.memory_bytes);
}

TEST_CASE("a click on a plan of the front adopts it") {
  Harness h(kSmall);
  search(h);
  const Plan best = result(h).best[0].plan;
  const auto at = tag_place(h, "frontier.plan", 0);
  REQUIRE(at);
  h.click(*at);
  CHECK(plan_of(h.scenario()) == best);
  CHECK(h.workspace.session.history().undo_depth() == 1);
}

TEST_CASE("a click on a cell of the mesh map adopts that mesh as one step of undo") {
  Harness h(kSmall);
  search(h);
  const auto map = engine::mesh_map(h.scenario(), engine::MeshPair::automatic);
  int cell = -1;
  for (std::size_t i = 0; i < map.cells.size(); ++i)
    if (map.cells[i].state == engine::MeshCellState::runs && !map.cells[i].own) cell = static_cast<int>(i);
  REQUIRE(cell >= 0);
  const auto at = tag_place(h, "mesh.cell", cell);
  REQUIRE(at);
  h.click(*at);
  CHECK(h.scenario().parallelism.degree(map.x) == map.cells[static_cast<std::size_t>(cell)].x_degree);
  CHECK(h.scenario().parallelism.degree(map.y) == map.cells[static_cast<std::size_t>(cell)].y_degree);
  CHECK(h.workspace.session.history().undo_depth() == 1);
}

TEST_CASE("a pinned choice stays as the plan has it in all that is found") {
  Harness h(kSmall);
  search(h);
  h.click("search.wish.tensor.pin");
  found_again(h);
  REQUIRE_FALSE(result(h).best.empty());
  for (const engine::RankedPlan& one : result(h).best) CHECK(one.plan.tensor == h.scenario().parallelism.tensor);
  h.click("search.wish.tensor.pin");
  found_again(h);
  CHECK(std::any_of(result(h).best.begin(), result(h).best.end(), [&](const auto& one) { return one.plan.tensor != h.scenario().parallelism.tensor; }));
}

TEST_CASE("another ranking orders the list by it") {
  Harness h(kSmall);
  search(h);
  h.workspace.view.search.wishes.objective = engine::Objective::memory;
  found_again(h);
  const auto& best = result(h).best;
  REQUIRE(best.size() > 2);
  for (std::size_t i = 1; i < best.size(); ++i) CHECK(best[i - 1].memory_bytes <= best[i].memory_bytes);
}

TEST_CASE("limits that leave no plan say so, and one button lifts them") {
  Harness h("llama3-405b-16k-h100-8k");
  auto& wishes = h.workspace.view.search.wishes;
  for (std::size_t i = 0; i < app::kSearchDimensions; ++i)
    if (const auto id = app::search_dimensions()[i].id; id == "tensor" || id == "pipeline" || id == "context" || id == "fsdp") wishes.wishes[i] = {app::WishKind::only, 1};
  search(h);
  CHECK(result(h).best.empty());
  h.click("search.widen");
  CHECK_FALSE(wishes.limits());
  found_again(h);
  CHECK_FALSE(result(h).best.empty());
}

TEST_CASE("a search that is stopped stays stopped until it is asked for again") {
  Harness h("llama3-405b-16k-h100-8k");
  h.key({Key::f7});
  h.workspace.searching.cancel();
  h.workspace.searching.wait();
  h.step(3);
  CHECK(h.workspace.view.search.state == SearchJob::State::cancelled);
  CHECK(h.workspace.view.search.found == nullptr);
  h.click("search.again");
  h.workspace.searching.wait();
  h.step(2);
  CHECK(h.workspace.view.search.found != nullptr);
}

TEST_CASE("while a slider is held what was found stays, and belongs to the scenario it was found for") {
  Harness h(kSmall);
  search(h);
  const engine::Scenario before = h.scenario();
  const std::string slider = "workload.global_batch_sequences";
  REQUIRE(h.reach(slider));
  const widgets::Rect track = h.place(slider + ".track")->rect;
  h.move({track.x + track.w * 0.3f, track.centre().y});
  h.press();
  for (int i = 0; i < 8; ++i) {
    h.move({track.x + track.w * (0.3f + 0.05f * static_cast<float>(i)), track.centre().y});
    const auto& view = h.workspace.view.search;
    REQUIRE(view.found);
    CHECK(view.stale == !(view.found->asked.scenario == h.scenario()));
    CHECK(h.place("search.row.1") != nullptr);
  }
  h.release();
  found_again(h);
  CHECK_FALSE(h.scenario() == before);
  CHECK(h.workspace.view.search.found->asked.scenario == h.scenario());
  CHECK(h.workspace.session.history().undo_depth() == 1);
}

TEST_CASE("a figure of a search in the grid searches without the search being open") {
  Harness h(kSmall);
  h.workspace.view.arrangement.cells[0] = "frontier";
  h.step();
  h.workspace.searching.wait();
  h.step(2);
  REQUIRE(h.workspace.view.search.found);
  CHECK(tag_place(h, "frontier.plan", 0));
}

TEST_CASE("a scenario that serves says what the search is of, and nothing is searched") {
  Harness h("llama3-8b-serving-8-h100");
  h.key({Key::f7});
  h.step(2);
  CHECK(h.workspace.searching.started() == 0);
  h.click("search.close_serving");
  CHECK_FALSE(h.workspace.view.search.open);
}

TEST_CASE("wishes make a request of any scenario: limits, pins that follow the plan, and one value") {
  const engine::Scenario s = test::preset(kSmall);
  app::SearchWishes wishes;
  const auto at = [](std::string_view id) {
    for (std::size_t i = 0; i < app::kSearchDimensions; ++i)
      if (app::search_dimensions()[i].id == id) return i;
    return app::kSearchDimensions;
  };
  wishes.wishes[at("tensor")] = {app::WishKind::at_most, 4};
  wishes.wishes[at("fsdp")] = {app::WishKind::as_plan, 0};
  wishes.wishes[at("offload")] = {app::WishKind::only, 0};
  const engine::PlanSpace space = app::request_of(s, wishes).space;
  CHECK((space.tensor.allows(4) && !space.tensor.allows(8)));
  CHECK((space.fsdp.allows(s.parallelism.fsdp) && !space.fsdp.allows(2 * s.parallelism.fsdp)));
  CHECK_FALSE(space.offload_optimizer.allows(1));
  CHECK_FALSE(space.offload_activations.allows(1));
  engine::Scenario other = s;
  other.parallelism.fsdp = 2;
  CHECK(app::request_of(other, wishes).space.fsdp.allows(2));
}
