// The search in the window: what is found is adopted, limited, cancelled and undone without one.
#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/report_text.h"
#include "tests/app/io_fixture.h"
#include "tests/app/ui_checks.h"
#include "tests/test_paths.h"
#include "widgets/figures.h"
#include "widgets/plan_table.h"

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
constexpr const char* kServing = "llama3-70b-serving-8-h100";

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
const engine::ServingSearchResult& served(const Harness& h) { return h.workspace.view.search.found->serving; }
std::size_t dimension(std::string_view id) {
  for (std::size_t i = 0; i < app::kSearchDimensions; ++i)
    if (app::search_dimensions()[i].id == id) return i;
  FAIL("no such dimension");
  return 0;
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

// While the search runs and when it has its list.
void check_readable(std::initializer_list<const char*> presets) {
  struct Size {
    float width, height;
  };
  for (const char* id : presets)
    for (const Size size : {Size{1024, 700}, {1280, 720}, {1920, 1080}}) {
      CAPTURE(id);
      CAPTURE(size.width);
      Harness h(id, size.width, size.height);
      h.key({Key::f7});
      h.step();
      check_texts(h, size.width);
      h.workspace.searching.wait();
      h.step(2);
      CHECK(widgets::compat::audit_draw_data().outside == 0);
      check_texts(h, size.width);
      check_overlaps(h);
    }
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

TEST_CASE("the search draws inside the window and cuts no text, of three scenarios that train at three sizes") {
  check_readable({"llama3-8b-8-h100", "mixtral-8x7b-64-h100", "llama3-405b-16k-h100"});
}

TEST_CASE("the window's list is the command's, word for word, with the error bands of its plans") {
  for (const char* id : {kSmall, kServing, "mixtral-8x7b-64-h100"})
    for (const engine::Mode mode : {engine::Mode::ideal, engine::Mode::calibrated}) {
      CAPTURE(id);
      const bool calibrated = mode == engine::Mode::calibrated;
      CAPTURE(calibrated);
      Harness h(id);
      engine::Scenario s = h.scenario();
      s.assumptions.mode = mode;
      h.workspace.session.update(s, false);
      h.workspace.finish_evidence();
      search(h);
      const app::Found& found = *h.workspace.view.search.found;
      const engine::Evidence& evidence = h.workspace.view.evidence->of(mode);
      const widgets::TextTable& texts = h.workspace.texts();
      const auto table = s.serves() ? widgets::search::plan_table(texts, s, found.asked.serving.objective,
                                                                  found.serving, &evidence)
                                    : widgets::search::plan_table(texts, s, found.asked.request.objective,
                                                                  found.result, &evidence);
      const int rank = s.serves() ? found.serving.present_rank : found.result.present_rank;
      const test::TemporaryFolder folder;
      const std::string out = (folder.path() / "out").string();
      REQUIRE(std::system(("env -u DISPLAY XDG_DATA_HOME='" + folder.path().string() + "/none' '" +
                           test::cli_program() + "' search " + id + " --limit 30 --set assumptions.mode=" +
                           (calibrated ? "calibrated" : "ideal") + " >'" + out + "' </dev/null")
                              .c_str()) == 0);
      const std::string list = app::plan_list_text(table, rank, texts), said = test::text_of(out);
      CAPTURE(said);
      CAPTURE(list);
      CHECK(said.find(list) != std::string::npos);
      // And it is what the window draws, row by row.
      const auto drawn = [&](const std::string& text) {
        return std::any_of(h.canvas.drawn_texts().begin(), h.canvas.drawn_texts().end(),
                           [&](const auto& t) { return t.text == text; });
      };
      for (std::size_t i = 0; i < table.columns.size(); ++i)
        if (table.columns[i].id == "time" || table.columns[i].id == "rate" || table.columns[i].id == "band")
          CHECK(drawn(table.rows[0][i]));
    }
}

TEST_CASE("every column of the list can be seen in any window, by scrolling sideways where it is narrow") {
  for (const auto& size : {std::pair{1024.0f, 700.0f}, {1280.0f, 720.0f}, {1920.0f, 1080.0f}}) {
    const float width = size.first, height = size.second;
    Harness h("deepseek-v3-2048-h800", width, height);
    h.workspace.finish_evidence();
    search(h);
    const app::Found& found = *h.workspace.view.search.found;
    const auto table = widgets::search::plan_table(
        h.workspace.texts(), found.asked.scenario, found.asked.request.objective, found.result,
        &h.workspace.view.evidence->of(found.asked.scenario.assumptions.mode));
    std::set<std::string> seen;
    const auto look = [&] {
      for (const auto& t : h.canvas.drawn_texts())
        if (!widgets::intersection(t.rect, t.clip).empty()) seen.insert(t.text);
      check_texts(h, width);
      check_overlaps(h);
    };
    look();
    for (int stop = 0; stop < 10 && h.place("search.list.across") != nullptr; ++stop) {
      const widgets::Rect bar = h.place("search.list.across")->rect;
      const auto at = [&](int tenth) {
        return widgets::Point{bar.x + bar.w * 0.1f * static_cast<float>(tenth), bar.centre().y};
      };
      h.move(at(stop));
      h.press();
      h.move(at(stop + 1));
      h.release();
      h.step(2);
      look();
    }
    CAPTURE(width);
    for (const widgets::search::PlanColumn& column : table.columns) {
      CAPTURE(column.heading);
      if (!column.spare) CHECK(seen.count(column.heading) == 1);
    }
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

TEST_CASE("a click on a cell of the mesh map adopts its best plan as one step of undo") {
  Harness h(kSmall);
  search(h);
  const engine::RankedPlan first = result(h).best.front();
  const Plan own = plan_of(h.scenario());
  bool any = false;
  h.canvas.set_tagging(widgets::Tagging::all);
  h.step();
  const std::vector<widgets::TagRegion> tags(h.canvas.tags().begin(), h.canvas.tags().end());
  h.canvas.set_tagging(widgets::Tagging::none);
  for (const widgets::TagRegion& tag : tags) {
    if (tag.id != "mesh.cell" || tag.rect.empty()) continue;
    h.click(tag.rect.centre());
    const Plan now = plan_of(h.scenario());
    if (now == own) continue;  // a cell without a plan, or the plan's own
    any = true;
    const auto cell = std::find_if(result(h).cells.begin(), result(h).cells.end(), [&](const engine::SearchCell& c) {
      return c.tensor == now.tensor && c.pipeline == now.pipeline;
    });
    REQUIRE(cell != result(h).cells.end());
    REQUIRE(cell->best);
    CHECK(*h.report().quantities[engine::Q::step_time] == cell->best->step_time_s);
    CHECK(*h.report().quantities[engine::Q::mfu] == cell->best->mfu);
    CHECK(h.workspace.session.history().undo_depth() == 1);
    if (now.tensor == first.plan.tensor && now.pipeline == first.plan.pipeline) CHECK(now == first.plan);
    h.workspace.undo();
    found_again(h);
  }
  CHECK(any);
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
  CHECK(std::any_of(result(h).best.begin(), result(h).best.end(),
                    [&](const auto& one) { return one.plan.tensor != h.scenario().parallelism.tensor; }));
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
    if (const auto id = app::search_dimensions()[i].id;
        id == "tensor" || id == "pipeline" || id == "context" || id == "fsdp")
      wishes.wishes[i] = {app::WishKind::only, 1};
  search(h);
  CHECK(result(h).best.empty());
  h.click("search.widen");
  CHECK_FALSE(wishes.limits());
  found_again(h);
  CHECK_FALSE(result(h).best.empty());
}

TEST_CASE("under the list stands why the present plan cannot run") {
  engine::Scenario broken = test::preset(kSmall);
  broken.pipeline.microbatch_sequences = 3;  // of 4 sequences for each rank
  Harness h(broken, "", 1280, 720);
  search(h);
  const auto& drawn = h.canvas.drawn_texts();
  const auto line = std::find_if(drawn.begin(), drawn.end(), [](const auto& text) {
    return text.text.starts_with("The present plan cannot run. ");
  });
  CHECK(h.report().has_errors());
  CHECK_FALSE(result(h).best.empty());
  CHECK(line != drawn.end());
  check_texts(h, 1280);
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

TEST_CASE(
    "F7 of a scenario that serves lists its best meshes and batches, and a click adopts one as one step of undo") {
  Harness h(kServing);
  search(h);
  const auto& found = served(h);
  REQUIRE(found.best.size() > 3);
  CHECK(h.workspace.view.search.found->asked.scenario == h.scenario());
  const engine::Scenario before = h.scenario();
  const engine::RankedDecoding third = found.best[2];
  REQUIRE_FALSE(third.plan == engine::decoding_plan_of(before));
  h.click("search.row.3");
  CHECK(engine::decoding_plan_of(h.scenario()) == third.plan);
  CHECK(*h.report().quantities[engine::Q::mixed_token_time_q] == third.token_s);
  CHECK(h.workspace.session.history().undo_depth() == 1);
  found_again(h);
  CHECK(served(h).present_rank == 3);
  h.workspace.undo();
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
  CHECK(h.workspace.session.history().undo_depth() == 1);
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
  CHECK(h.workspace.session.history().undo_depth() == 1);
}

TEST_CASE("a search shows plans that serve side by side where the figure is chosen") {
  Harness h(kServing);
  h.workspace.view.search.serving_figures[0] = "parallel-coordinates";
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
  h.workspace.session.update(promised, false);
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
  h.workspace.view.search.wishes.serving.objective = engine::ServingObjective::token_time;
  search(h);
  const auto& best = served(h).best;
  REQUIRE(best.size() > 2);
  for (std::size_t i = 1; i < best.size(); ++i) CHECK(best[i - 1].token_s <= best[i].token_s);
}

TEST_CASE("a pinned batch stays as the serving plan has it, and follows it") {
  Harness h(kServing);
  search(h);
  h.click("search.wish.batch.pin");
  found_again(h);
  REQUIRE_FALSE(served(h).best.empty());
  for (const engine::RankedDecoding& one : served(h).best) CHECK(one.plan.batch == h.scenario().workload.batch);
  engine::Scenario other = h.scenario();
  other.workload.batch = 96;  // no power of two
  h.workspace.session.update(other, false);
  found_again(h);
  REQUIRE_FALSE(served(h).best.empty());
  for (const engine::RankedDecoding& one : served(h).best) CHECK(one.plan.batch == 96);
}

TEST_CASE(
    "while a slider of a serving scenario is held the list stays and belongs to the scenario it was found for") {
  Harness h(kServing);
  search(h);
  const std::string slider = "workload.prompt_tokens";
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
  CHECK(h.workspace.view.search.found->asked.scenario == h.scenario());
  CHECK(h.workspace.session.history().undo_depth() == 1);
}

TEST_CASE("what was found for a scenario of the other kind is not shown") {
  Harness h(kServing);
  search(h);
  h.workspace.open(kSmall);
  h.step();
  h.workspace.searching.wait();
  h.step(2);
  REQUIRE(h.workspace.view.search.found);
  CHECK(h.workspace.view.search.found->asked.scenario == h.scenario());
  h.workspace.open(kServing);
  h.step();
  CHECK((h.workspace.view.search.found == nullptr || h.workspace.view.search.found->asked.serves()));
}

TEST_CASE("the mesh map keeps to the wishes, as the list does") {
  Harness h(kSmall);
  h.workspace.view.search.wishes.wishes[dimension("tensor")] = {app::WishKind::at_most, 2};
  search(h);
  REQUIRE_FALSE(result(h).cells.empty());
  for (const engine::SearchCell& cell : result(h).cells) CHECK(cell.tensor <= 2);
  h.workspace.lift_search_limits();
  found_again(h);
  CHECK(std::any_of(result(h).cells.begin(), result(h).cells.end(),
                    [](const engine::SearchCell& cell) { return cell.tensor > 2; }));
}

TEST_CASE("limits are lifted by the button beside the space, which is there while there are any") {
  Harness h(kSmall);
  search(h);
  CHECK(h.place("search.reset") == nullptr);
  auto& wishes = h.workspace.view.search.wishes;
  wishes.objective = engine::Objective::memory;
  wishes.wishes[dimension("tensor")] = {app::WishKind::only, 1};
  wishes.min_free = 0.1;
  h.step(2);
  h.click("search.reset");
  CHECK_FALSE(wishes.limits());
  CHECK(wishes.objective == engine::Objective::memory);
  CHECK(h.place("search.reset") == nullptr);
}

TEST_CASE("what is wanted of a search is kept with the session") {
  Harness h(kSmall);
  app::SearchWishes& wishes = h.workspace.view.search.wishes;
  wishes.objective = engine::Objective::cost;
  wishes.min_free = 0.1;
  wishes.tensor_across_nodes = true;
  wishes.wishes[dimension("tensor")] = {app::WishKind::at_most, 4};
  wishes.wishes[dimension("fsdp")] = {app::WishKind::as_plan, 0};
  wishes.wishes[dimension("schedule")] = {app::WishKind::only, static_cast<int>(engine::ScheduleKind::zb_h1)};
  wishes.wishes[dimension("offload")] = {app::WishKind::only, 0};
  wishes.wishes[dimension("zero_stage")] = {app::WishKind::only, 2};
  wishes.serving.objective = engine::ServingObjective::memory;
  wishes.serving.keeps_promises = false;
  wishes.serving.wishes[4] = {app::WishKind::at_most, 256};
  const std::size_t changes = h.workspace.changes();
  h.step();
  CHECK(h.workspace.changes() != changes);  // so that it is written
  Harness again(kSmall);
  REQUIRE(again.workspace.restore(h.workspace.session_text(), "session.json"));
  CHECK(again.workspace.view.search.wishes == wishes);
}

TEST_CASE("each tab has its own wishes and its own baseline, which a duplicate copies and a session keeps") {
  const widgets::KeyPress add{widgets::key_of('N'), true, false, false}, next{Key::tab, true, false, false},
      close{widgets::key_of('W'), true, false, false}, reopen{widgets::key_of('T'), true, true, false},
      pin{widgets::key_of('B')};
  Harness h(kSmall);
  const auto& view = h.workspace.view;
  h.workspace.view.search.wishes.wishes[dimension("offload")] = {app::WishKind::only, 0};
  h.workspace.view.search.wishes.min_free = 0.2;
  h.key(pin);
  const app::SearchWishes first = view.search.wishes;
  const engine::Scenario baseline = h.scenario();
  h.key(add);
  CHECK(view.search.wishes == first);  // a duplicate
  REQUIRE(view.pinned != nullptr);
  CHECK(view.pinned->scenario == baseline);
  h.workspace.view.search.wishes = {};
  h.workspace.view.search.wishes.objective = engine::Objective::memory;
  h.key(pin);
  CHECK(view.pinned == nullptr);
  const app::SearchWishes second = view.search.wishes;
  h.key(next);
  CHECK(view.search.wishes == first);
  REQUIRE(view.pinned != nullptr);
  h.key(close);
  CHECK(view.search.wishes == second);
  CHECK(view.pinned == nullptr);
  h.key(reopen);
  CHECK(view.search.wishes == first);
  REQUIRE(view.pinned != nullptr);
  CHECK(view.pinned->scenario == baseline);

  const std::string text = h.workspace.session_text();
  Harness again(kSmall);
  REQUIRE(again.workspace.restore(text, "session.json"));
  CHECK(again.workspace.session_text() == text);
  CHECK(again.workspace.view.search.wishes == first);
  REQUIRE(again.workspace.view.pinned != nullptr);
  again.key(next);
  CHECK(again.workspace.view.search.wishes == second);
  CHECK(again.workspace.view.pinned == nullptr);
}

TEST_CASE("a session of one baseline and one search for all tabs gives them to every tab") {
  Harness h(kSmall);
  h.key({widgets::key_of('N'), true, false, false});
  std::string text = h.workspace.session_text();
  const std::size_t from = text.find("\"scenario\":") + 11;
  int depth = 0;
  std::size_t to = text.find('{', from);
  const std::size_t begin = to;
  do depth += text[to] == '{' ? 1 : text[to] == '}' ? -1 : 0;
  while (++to < text.size() && depth > 0);
  text.insert(text.find('{') + 1,
              "\"search\": {\"tensor\": \"at most 4\"}, \"baseline\": " + text.substr(begin, to - begin) + ",");
  Harness again(kSmall);
  REQUIRE(again.workspace.restore(text, "session.json"));
  app::SearchWishes wishes;
  wishes.wishes[dimension("tensor")] = {app::WishKind::at_most, 4};
  for (int tab = 0; tab < 2; ++tab) {
    CHECK(again.workspace.view.search.wishes == wishes);
    REQUIRE(again.workspace.view.pinned != nullptr);
    CHECK(again.workspace.view.pinned->scenario == h.scenario());
    again.workspace.step_tabs(1);
  }
}

TEST_CASE("wishes in a file that mean nothing are as if they were not there") {
  const app::SearchWishes usual;
  for (const app::WishWords& words : {app::WishWords{{"tensor", "at most 0"}},
                                      {{"tensor", "at most 1e99"}},
                                      {{"tensor", "4.5"}},
                                      {{"tensor", ""}},
                                      {{"tensors", "4"}},
                                      {{"schedule", "best"}},
                                      {{"schedule", "at most 1f1b"}},
                                      {{"offload", "maybe"}},
                                      {{"rank by", "beauty"}},
                                      {{"free", "1.5"}},
                                      {{"free", "nan"}},
                                      {{"serving.rank by", "step-time"}},
                                      {{"serving.batch", "-1"}},
                                      {{"serving.promises", "perhaps"}}}) {
    CAPTURE(words.begin()->first);
    CAPTURE(words.begin()->second);
    CHECK(app::wishes_from(words) == usual);
  }
  CHECK(app::to_words(usual).empty());
  Harness h(kSmall);
  std::string text = h.workspace.session_text();
  text.insert(text.find('{') + 1, "\"search\": {\"tensor\": 4, \"fsdp\": [\"x\"], \"pipeline\": \"at most 2\"},");
  Harness again(kSmall);
  REQUIRE(again.workspace.restore(text, "session.json"));
  app::SearchWishes read = usual;
  read.wishes[dimension("pipeline")] = {app::WishKind::at_most, 2};
  CHECK(again.workspace.view.search.wishes == read);
}

TEST_CASE("wishes make a request of any scenario: limits, pins that follow the plan, and one value") {
  const engine::Scenario s = test::preset(kSmall);
  app::SearchWishes wishes;
  const auto at = dimension;
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
