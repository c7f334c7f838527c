// The search in the window: what is found is adopted, limited, cancelled and undone without one.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/core/report_text.h"
#include "tests/app/window/ui_search.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/test_paths.h"
#include "widgets/figures/search/close_words.h"
#include "widgets/figures/search/plan_table.h"

using namespace roofscape;
using app::SearchJob;
using engine::Plan;
using engine::plan_of;
using test::check_list_while_held;
using test::check_overlaps;
using test::check_readable;
using test::check_texts;
using test::dimension;
using test::found_again;
using test::Harness;
using test::kServing;
using test::kSmall;
using test::result;
using test::search;
using test::tag_place;
using widgets::Key;

TEST_CASE("F7 opens the search, which finds plans for the scenario that is shown") {
  Harness h(kSmall);
  CHECK(h.parts.searching.started() == 0);  // nothing that is shown needs one
  search(h);
  REQUIRE(h.parts.panels.search.found);
  CHECK(h.parts.panels.search.found->query.scenario == h.scenario());
  CHECK_FALSE(h.parts.panels.search.stale);
  CHECK(h.place("search.row.1") != nullptr);
  h.key({Key::escape});
  CHECK_FALSE(h.parts.panels.search.open);
}

TEST_CASE("while a control moves the search never goes back to what it found for an older scenario") {
  test::Harness h("gpt3-175b-1024-a100");
  search(h);
  for (const std::string control : {"workload.sequence_length", "workload.global_batch_sequences"}) {
    REQUIRE(h.reach(control));
    std::vector<engine::Scenario> seen;
    std::size_t newest = 0;
    // One way, so that no scenario comes twice.
    h.hold(control, 0.1f, 0.9f, 60, [&] {
      if (seen.empty() || !(seen.back() == h.scenario())) seen.push_back(h.scenario());
      REQUIRE(h.parts.panels.search.found);
      const engine::Scenario& shown = h.parts.panels.search.found->query.scenario;
      const auto at = std::find(seen.begin(), seen.end(), shown) - seen.begin();
      if (at == static_cast<std::ptrdiff_t>(seen.size())) return;  // from before the first
      CHECK(at >= static_cast<std::ptrdiff_t>(newest));
      newest = static_cast<std::size_t>(at);
    });
    h.release();
    CHECK(seen.size() > 5);
    h.parts.searching.wait();
    h.step(2);
    CHECK(h.parts.panels.search.found->query.scenario == h.scenario());
  }
}

TEST_CASE("a search begun for a scenario that a control has left does not take the place of the present one's") {
  struct Case {
    std::string preset, control;
  };
  for (const Case& c : {Case{"gpt3-175b-1024-a100", "workload.sequence_length"},
                        {"gpt3-175b-1024-a100", "workload.global_batch_sequences"},
                        {kServing, "workload.output_tokens"}}) {
    CAPTURE(c.preset);
    CAPTURE(c.control);
    Harness h(c.preset);
    search(h);
    const auto shown = [&]() -> const engine::Scenario& { return h.parts.panels.search.found->query.scenario; };
    h.hold(c.control, 0.6f, 0.6f, 1);
    const widgets::Rect track = h.place(c.control + ".track")->rect;
    h.parts.searching.wait();
    h.step(2);
    const engine::Scenario middle = h.scenario();
    REQUIRE(shown() == middle);
    // Away and back to what was found already: what was asked away from it is found last.
    h.move({track.x + 0.2f * track.w, track.centre().y});
    REQUIRE_FALSE(h.scenario() == middle);
    h.move({track.x + 0.6f * track.w, track.centre().y});
    REQUIRE(h.scenario() == middle);
    // Unless the search away from it was over by then: it is asked again, and stays.
    bool back = false;
    for (int frame = 0; frame < 4; ++frame) {
      if (back) CHECK(shown() == middle);
      back = shown() == middle;
      h.parts.searching.wait();
      h.step();
    }
    CHECK(back);
    h.release();
  }
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
      Harness h(id, 2560, 1440);  // room for every column
      engine::Scenario s = h.scenario();
      s.assumptions.mode = mode;
      h.parts.session.update(s, false);
      h.workspace.finish_evidence();
      search(h);
      const app::SearchOutcome& found = *h.parts.panels.search.found;
      const engine::Evidence& evidence = h.parts.evidence->of(mode);
      const widgets::TextTable& texts = h.workspace.texts();
      const auto table =
          s.serves() ? widgets::search::plan_table(texts, s, found.query.serving.objective, found.serving, &evidence)
                     : widgets::search::plan_table(texts, s, found.query.request.objective, found.result, &evidence);
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
      if (s.serves()) continue;  // measured pairs are of training
      const auto close = engine::close_plans(found.result, found.query.request.objective, evidence.pairs.margin());
      REQUIRE(close);
      const std::string words =
          widgets::search::close_words(texts, *close, found.result.best.size(), evidence.pairs.choices);
      CHECK_FALSE(words.empty());
      CHECK(said.find("\n" + words + "\n") != std::string::npos);
      std::string lines;  // it may take several
      for (const auto& t : h.canvas.drawn_texts()) lines += (lines.empty() ? "" : " ") + t.text;
      CHECK(lines.find(words) != std::string::npos);
    }
}

TEST_CASE("every column of the list can be seen in any window, by scrolling sideways where it is narrow") {
  for (const auto& size : {std::pair{1024.0f, 700.0f}, {1280.0f, 720.0f}, {1920.0f, 1080.0f}}) {
    const float width = size.first, height = size.second;
    Harness h("mixtral-8x7b-64-h100", width, height);
    h.workspace.finish_evidence();
    search(h);
    const app::SearchOutcome& found = *h.parts.panels.search.found;
    const auto table =
        widgets::search::plan_table(h.workspace.texts(), found.query.scenario, found.query.request.objective,
                                    found.result, &h.parts.evidence->of(found.query.scenario.assumptions.mode));
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
  CHECK(h.parts.session.history().undo_depth() == 1);
  found_again(h);
  CHECK(result(h).present_rank == 3);
  h.parts.session.undo();
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
  CHECK(h.parts.session.history().undo_depth() == 1);
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
    CHECK(h.parts.session.history().undo_depth() == 1);
    if (now.tensor == first.plan.tensor && now.pipeline == first.plan.pipeline) CHECK(now == first.plan);
    h.parts.session.undo();
    found_again(h);
  }
  CHECK(any);
}

TEST_CASE("a pinned choice stays as the plan has it in all that is found") {
  Harness h(kSmall);
  search(h);
  h.click("search.constraint.tensor.pin");
  found_again(h);
  REQUIRE_FALSE(result(h).best.empty());
  for (const engine::RankedPlan& one : result(h).best) CHECK(one.plan.tensor == h.scenario().parallelism.tensor);
  h.click("search.constraint.tensor.pin");
  found_again(h);
  CHECK(std::any_of(result(h).best.begin(), result(h).best.end(),
                    [&](const auto& one) { return one.plan.tensor != h.scenario().parallelism.tensor; }));
}

TEST_CASE("a setting that is no longer pinned is tried with every value, and what is found says which") {
  Harness h(test::preset("llama3-405b-16k-h100"), "", 1920, 1080);
  search(h);
  const double alone = result(h).plans;
  const auto& method = h.parts.panels.search.preferences.constraints[dimension("context_method")];
  CHECK(method.kind == app::Constraint::Kind::as_plan);
  h.click("search.constraint.context_method.pin");
  found_again(h);
  CHECK(method.kind == app::Constraint::Kind::any);
  CHECK(result(h).plans > alone);
  REQUIRE_FALSE(result(h).best.empty());
  const engine::Plan& best = result(h).best.front().plan;
  CHECK(best.context_method != h.scenario().parallelism.context_method);
  h.click("search.row.1");
  CHECK(engine::plan_of(h.scenario()) == best);
  h.parts.session.undo();
  h.click("search.constraint.context_method.pin");
  found_again(h);
  CHECK(result(h).plans == alone);
}

TEST_CASE("what the plan has of a setting stands uncut in the rail, in each language") {
  for (const char* language : {"en", "ko", "ru"}) {
    CAPTURE(language);
    app::Settings settings;
    settings.language = language;
    Harness h(test::preset("llama3-405b-16k-h100"), "", 1280, 720, "dark", settings);
    search(h);
    int shown = 0;
    for (const app::ConstrainedDimension& dimension : app::search_dimensions()) {
      const std::string name = "search.constraint." + std::string(dimension.id);
      if (!dimension.is_setting || !h.reach(name)) continue;
      CAPTURE(name);
      const widgets::Rect box = h.place(name)->rect;
      for (const auto& t : h.canvas.drawn_texts())
        if (box.contains(t.rect.centre())) {
          CHECK_MESSAGE(t.text.find("\u2026") == std::string::npos, t.text);
          ++shown;
        }
    }
    CHECK(shown >= 4);
  }
}

TEST_CASE("another ranking orders the list by it") {
  Harness h(kSmall);
  search(h);
  h.parts.panels.search.preferences.objective = engine::Objective::memory;
  found_again(h);
  const auto& best = result(h).best;
  REQUIRE(best.size() > 2);
  for (std::size_t i = 1; i < best.size(); ++i) CHECK(best[i - 1].memory_bytes <= best[i].memory_bytes);
}

TEST_CASE("limits that leave no plan say so, and one button lifts them") {
  Harness h("llama3-405b-16k-h100-8k");
  auto& preferences = h.parts.panels.search.preferences;
  for (std::size_t i = 0; i < app::kSearchDimensions; ++i)
    if (const auto id = app::search_dimensions()[i].id;
        id == "tensor" || id == "pipeline" || id == "context" || id == "fsdp")
      preferences.constraints[i] = {app::Constraint::Kind::only, 1};
  search(h);
  CHECK(result(h).best.empty());
  h.click("search.widen");
  CHECK_FALSE(preferences.limits());
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
  h.parts.searching.cancel();
  h.parts.searching.wait();
  h.step(3);
  CHECK(h.parts.panels.search.state == SearchJob::State::cancelled);
  CHECK(h.parts.panels.search.found == nullptr);
  h.click("search.again");
  h.parts.searching.wait();
  h.step(2);
  CHECK(h.parts.panels.search.found != nullptr);
}

TEST_CASE("more combinations of settings than are searched are told, and a click keeps the plan's own") {
  Harness h("llama3-70b-v5p-pod");
  app::SearchPreferences& preferences = h.parts.panels.search.preferences;
  for (const char* name : {"data_on", "fsdp_on", "tensor_on", "context_on"})
    preferences.constraints[test::dimension(name)] = {app::Constraint::Kind::any, 0};
  h.key({Key::f7});
  h.step(2);
  const auto& drawn = h.canvas.drawn_texts();
  CHECK(std::ranges::any_of(drawn, [](const auto& text) {
    return text.text == "4096 combinations of settings are asked for, and at most 1024 are searched.";
  }));
  CHECK(h.parts.panels.search.found == nullptr);
  h.click("search.keep_settings");
  h.step(2);
  CHECK(preferences == app::SearchPreferences{});
  h.parts.searching.wait();
  h.step(2);
  CHECK(h.parts.panels.search.found != nullptr);
}

TEST_CASE("while a slider is held what was found stays, and belongs to the scenario it was found for") {
  Harness h(kSmall);
  search(h);
  check_list_while_held(h, "workload.global_batch_sequences");
}

TEST_CASE(
    "while a choice of the plan is dragged the list is that frame's in every frame, and nothing is searched anew") {
  Harness h(kSmall);
  search(h);
  const std::size_t started = h.parts.searching.started();
  const engine::Scenario before = h.scenario();
  h.hold("pipeline.microbatch_sequences", 0.1f, 0.8f, 7, [&h] {
    CHECK_FALSE(h.parts.panels.search.stale);
    CHECK(h.parts.panels.search.found->query.scenario == h.scenario());
    CHECK(result(h).present.plan == plan_of(h.scenario()));
  });
  CHECK_FALSE(h.scenario() == before);
  CHECK(h.parts.searching.started() == started);
  h.release();
}

TEST_CASE("a figure of a search in the grid searches without the search being open") {
  Harness h(kSmall);
  h.parts.settings.arrangement.cells[0] = "frontier";
  h.step();
  h.parts.searching.wait();
  h.step(2);
  REQUIRE(h.parts.panels.search.found);
  CHECK(tag_place(h, "frontier.plan", 0));
}

TEST_CASE("the mesh map keeps to the constraints, as the list does") {
  Harness h(kSmall);
  h.parts.panels.search.preferences.constraints[dimension("tensor")] = {app::Constraint::Kind::at_most, 2};
  search(h);
  REQUIRE_FALSE(result(h).cells.empty());
  for (const engine::SearchCell& cell : result(h).cells) CHECK(cell.tensor <= 2);
  h.parts.lift_search_limits();
  found_again(h);
  CHECK(std::any_of(result(h).cells.begin(), result(h).cells.end(),
                    [](const engine::SearchCell& cell) { return cell.tensor > 2; }));
}

TEST_CASE("limits are lifted by the button beside the space, which is there while there are any") {
  Harness h(kSmall);
  search(h);
  CHECK(h.place("search.reset") == nullptr);
  auto& preferences = h.parts.panels.search.preferences;
  preferences.objective = engine::Objective::memory;
  preferences.constraints[dimension("tensor")] = {app::Constraint::Kind::only, 1};
  preferences.min_free = 0.1;
  h.step(2);
  h.click("search.reset");
  CHECK_FALSE(preferences.limits());
  CHECK(preferences.objective == engine::Objective::memory);
  CHECK(h.place("search.reset") == nullptr);
}

TEST_CASE("ranked by slow ends, the window's list is the command's, and a plan of it has a band") {
  for (const char* id : {kSmall, kServing}) {
    CAPTURE(id);
    Harness h(id, 2560, 1440);
    engine::Scenario s = h.scenario();
    s.assumptions.mode = engine::Mode::calibrated;
    h.parts.session.update(s, false);
    h.workspace.finish_evidence();
    search(h);
    CHECK_FALSE(h.parts.panels.search.found->query.measured);
    h.click("search.slow_end");
    found_again(h);
    const app::SearchOutcome& found = *h.parts.panels.search.found;
    CHECK(found.query.measured == h.parts.evidence);
    CHECK_FALSE(h.parts.panels.search.stale);
    const engine::Evidence& evidence = h.parts.evidence->of(engine::Mode::calibrated);
    const widgets::TextTable& texts = h.workspace.texts();
    const auto table =
        s.serves() ? widgets::search::plan_table(texts, s, found.query.serving.objective, found.serving, &evidence)
                   : widgets::search::plan_table(texts, s, found.query.request.objective, found.result, &evidence);
    REQUIRE_FALSE(table.rows.empty());
    const auto band = std::find_if(table.columns.begin(), table.columns.end(),
                                   [](const auto& column) { return column.id == "band"; });
    REQUIRE(band != table.columns.end());
    for (const auto& row : table.rows)
      CHECK(row[static_cast<std::size_t>(band - table.columns.begin())] != texts.text("ui.search.no_band"));
    const int rank = s.serves() ? found.serving.present_rank : found.result.present_rank;
    const test::TemporaryFolder folder;
    const std::string out = (folder.path() / "out").string();
    REQUIRE(std::system(("env -u DISPLAY XDG_DATA_HOME='" + folder.path().string() + "/none' '" +
                         test::cli_program() + "' search " + id +
                         " --slow-end --limit 30 --set assumptions.mode=calibrated >'" + out + "' </dev/null")
                            .c_str()) == 0);
    const std::string list = app::plan_list_text(table, rank, texts), said = test::text_of(out);
    CAPTURE(said);
    CAPTURE(list);
    CHECK(said.find(list) != std::string::npos);
  }
}

TEST_CASE("where no plan is like measured runs, a list by slow ends says why and leads back to predictions") {
  Harness h("mixtral-8x7b-64-h100");
  engine::Scenario s = h.scenario();
  s.assumptions.mode = engine::Mode::calibrated;
  h.parts.session.update(s, false);
  h.workspace.finish_evidence();
  h.parts.panels.search.preferences.slow_end = true;
  search(h);
  REQUIRE(h.parts.panels.search.found->result.best.empty());
  CHECK(h.place("search.row.1") == nullptr);
  h.click("search.by_prediction");
  found_again(h);
  CHECK_FALSE(h.parts.panels.search.preferences.slow_end);
  CHECK(h.place("search.row.1") != nullptr);
}

TEST_CASE("slow ends are offered where plans are ranked by time, and measured against") {
  Harness h(kSmall);
  search(h);
  CHECK(h.place("search.slow_end") != nullptr);
  h.parts.panels.search.preferences.objective = engine::Objective::memory;
  h.step();
  CHECK(h.place("search.slow_end") == nullptr);
  h.parts.panels.search.preferences.objective = engine::Objective::cost;
  engine::Scenario s = h.scenario();
  s.assumptions.mode = engine::Mode::custom;
  h.parts.session.update(s, false);
  h.step();
  CHECK(h.place("search.slow_end") == nullptr);
}

TEST_CASE("by slow ends the command and the window say the same of a plan, in both modes, on switches and a torus") {
  for (const char* id : {kSmall, kServing, "llama3-70b-v5p-pod", "llama2-13b-16-v5e"})
    for (const engine::Mode mode : {engine::Mode::ideal, engine::Mode::calibrated}) {
      CAPTURE(id);
      const bool calibrated = mode == engine::Mode::calibrated;
      CAPTURE(calibrated);
      Harness h(id);
      engine::Scenario s = h.scenario();
      s.assumptions.mode = mode;
      h.parts.session.update(s, false);
      h.workspace.finish_evidence();
      auto& preferences = h.parts.panels.search.preferences;
      (s.serves() ? preferences.serving.slow_end : preferences.slow_end) = true;
      search(h);
      const app::SearchOutcome& found = *h.parts.panels.search.found;
      REQUIRE(found.finished());
      const std::vector<engine::EvidencePoint>& points = h.parts.evidence->of(mode).points;
      const test::TemporaryFolder folder;
      const std::string out = (folder.path() / "out").string();
      const int status =
          std::system(("env -u DISPLAY XDG_DATA_HOME='" + folder.path().string() + "/none' '" + test::cli_program() +
                       "' search " + id + " --slow-end --limit 30 --csv --set assumptions.mode=" +
                       (calibrated ? "calibrated" : "ideal") + " >'" + out + "' </dev/null")
                          .c_str());
      std::vector<std::string> said;  // the last cell of each line
      std::istringstream lines(test::text_of(out));
      for (std::string line; std::getline(lines, line);) said.push_back(line.substr(line.find_last_of(',') + 1));
      const auto check = [&](const auto& best, engine::EvidenceKind kind, const auto& predicted) {
        CHECK((status == 0) == !best.empty());  // no run on a torus is like these
        std::size_t listed = 0;
        for (const auto& one : best) {
          engine::Scenario with = s;
          engine::apply(with, one.plan);
          const engine::ErrorBand band = engine::error_band(points, with, kind);
          REQUIRE(band.validated());
          CHECK(one.slow_end_s == band.most(predicted(one)));
          // Of several that are alike the command's CSV lists each.
          listed += std::count(said.begin(), said.end(), fmt::format("{}", one.slow_end_s)) > 0 ? 1 : 0;
        }
        CHECK((best.empty() || listed > 0));
        if (!best.empty()) CHECK(said[1] == fmt::format("{}", best.front().slow_end_s));
      };
      if (s.serves())
        check(found.serving.best, engine::EvidenceKind::decode, [](const auto& one) { return one.decode_token_s; });
      else
        check(found.result.best, engine::EvidenceKind::step, [](const auto& one) { return one.step_time_s; });
    }
}
