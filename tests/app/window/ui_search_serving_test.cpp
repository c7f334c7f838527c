// The search of plans that serve, in the window.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/app/window/ui_search.h"

using namespace roofscape;
using test::check_list_while_held;
using test::check_readable;
using test::found_again;
using test::Harness;
using test::kServing;
using test::kSmall;
using test::search;
using test::served;
using test::tag_place;

TEST_CASE(
    "F7 of a scenario that serves lists its best meshes and batches, and a click adopts one as one step of undo") {
  Harness h(kServing);
  search(h);
  const auto& found = served(h);
  REQUIRE(found.best.size() > 3);
  CHECK(h.parts.panels.search.found->query.scenario == h.scenario());
  const engine::Scenario before = h.scenario();
  const engine::RankedDecoding third = found.best[2];
  REQUIRE_FALSE(third.plan == engine::decoding_plan_of(before));
  h.click("search.row.3");
  CHECK(engine::decoding_plan_of(h.scenario()) == third.plan);
  CHECK(*h.report().quantities[engine::Q::mixed_token_time_q] == third.token_s);
  CHECK(h.parts.session.history().undo_depth() == 1);
  found_again(h);
  CHECK(served(h).present_rank == 3);
  h.parts.session.undo();
  CHECK(h.scenario() == before);
}

TEST_CASE("the search of plans that serve draws inside the window and cuts no text, at three sizes") {
  check_readable({kServing, "deepseek-v3-h800-wide-expert", "llama3-70b-16-v5e"});
}

TEST_CASE("both figures of a search show plans that serve: a click on one of the front adopts it") {
  Harness h(kServing);
  search(h);
  const engine::DecodingPlan best = served(h).best[0].plan;
  const auto at = tag_place(h, "frontier.plan", 0);
  REQUIRE(at);
  h.click(*at);
  CHECK(engine::decoding_plan_of(h.scenario()) == best);
  CHECK(h.parts.session.history().undo_depth() == 1);
}

TEST_CASE("a click on a cell of the serving map adopts its mesh and batch as one step of undo") {
  Harness h(kServing);
  search(h);
  const auto& cells = served(h).cells;
  // On one node every mesh has a price: the cells are those of the figure, row by row of the pipeline.
  const auto cell =
      std::find_if(cells.begin(), cells.end(), [](const auto& c) { return c.tensor == 1 && c.pipeline == 8; });
  REQUIRE(cell != cells.end());
  REQUIRE(cell->best);
  const engine::DecodingPlan plan = cell->best->plan;
  const auto at = tag_place(h, "serving.cell", 3 * 4 + 0);
  REQUIRE(at);
  h.click(*at);
  CHECK(engine::decoding_plan_of(h.scenario()) == plan);
  CHECK(h.parts.session.history().undo_depth() == 1);
}

TEST_CASE("a search shows plans that serve side by side where the figure is chosen") {
  Harness h(kServing);
  h.parts.panels.search.serving_figures[0] = "parallel-coordinates";
  search(h);
  CHECK(tag_place(h, "parallel.plan", 0));
}

TEST_CASE(
    "what the workload promises is kept by every serving plan that is found, until the promises are set aside") {
  Harness h(kServing);
  search(h);
  const double limit = served(h).best[0].token_s * 0.9;
  engine::Scenario promised = h.scenario();
  promised.workload.slo.time_per_output_token_s = limit;
  h.parts.session.update(promised, false);
  found_again(h);
  REQUIRE_FALSE(served(h).best.empty());
  for (const engine::RankedDecoding& one : served(h).best) CHECK(one.token_s <= limit);
  CHECK(served(h).rejected[static_cast<std::size_t>(engine::ServingRejection::token_time)] > 0);
  h.click("search.promises");
  found_again(h);
  CHECK(served(h).best[0].token_s > limit);
}

TEST_CASE("another goal orders serving plans by it") {
  Harness h(kServing);
  h.parts.panels.search.preferences.serving.objective = engine::ServingObjective::token_time;
  search(h);
  const auto& best = served(h).best;
  REQUIRE(best.size() > 2);
  for (std::size_t i = 1; i < best.size(); ++i) CHECK(best[i - 1].token_s <= best[i].token_s);
}

TEST_CASE("a pinned batch stays as the serving plan has it, and follows it") {
  Harness h(kServing);
  search(h);
  h.click("search.constraint.batch.pin");
  found_again(h);
  REQUIRE_FALSE(served(h).best.empty());
  for (const engine::RankedDecoding& one : served(h).best) CHECK(one.plan.batch == h.scenario().workload.batch);
  engine::Scenario other = h.scenario();
  other.workload.batch = 96;  // no power of two
  h.parts.session.update(other, false);
  found_again(h);
  REQUIRE_FALSE(served(h).best.empty());
  for (const engine::RankedDecoding& one : served(h).best) CHECK(one.plan.batch == 96);
}

TEST_CASE(
    "while a slider of a serving scenario is held the list stays and belongs to the scenario it was found for") {
  Harness h(kServing);
  search(h);
  check_list_while_held(h, "workload.prompt_tokens");
}

TEST_CASE("what was found for a scenario of the other kind is not shown") {
  Harness h(kServing);
  search(h);
  h.workspace.open(kSmall);
  h.step();
  h.parts.searching.wait();
  h.step(2);
  REQUIRE(h.parts.panels.search.found);
  CHECK(h.parts.panels.search.found->query.scenario == h.scenario());
  h.workspace.open(kServing);
  h.step();
  CHECK((h.parts.panels.search.found == nullptr || h.parts.panels.search.found->query.serves()));
}
