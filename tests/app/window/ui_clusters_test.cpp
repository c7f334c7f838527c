// "Which cluster?" in the window: what is asked, the list of answers, and the way to one of them and back.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "engine/search/cluster_choice.h"
#include "engine/search/plan.h"
#include "tests/app/window/ui_search.h"
#include "widgets/figures/search/cluster_table.h"

using namespace roofscape;
using engine::ClusterObjective;
using engine::ClusterVerdict;
using engine::Scenario;
using test::check_overlaps;
using test::check_texts;
using test::Harness;
using test::kServing;
using test::kSmall;
using widgets::Key;
using widgets::KeyPress;

namespace {

constexpr KeyPress kAsk{Key::f7, false, true};

void answered(Harness& h) {
  h.step(2);
  h.parts.choosing.wait();
  h.step(2);
}
void ask(Harness& h) {
  h.key(kAsk);
  answered(h);
}
app::ClusterPreferences& wanted(Harness& h) { return h.parts.panels.search.preferences.clusters; }
const app::ClustersView& view(const Harness& h) { return h.parts.panels.search.clusters; }
const std::vector<engine::ClusterAnswer>& answers(const Harness& h) {
  REQUIRE(view(h).found);
  return view(h).found->answers;
}

void enter(Harness& h, const char* box, const char* text) {
  REQUIRE(h.reach(box));
  h.click(box);
  h.key({widgets::key_of('A'), true});
  h.key({Key::backspace});
  h.type(text);
  h.key({Key::enter});
  answered(h);
}

}  // namespace

TEST_CASE("Shift+F7 asks which cluster, of the chips there are and of a quarter to four times as many") {
  Harness h(kSmall);
  ask(h);
  CHECK(answers(h).size() == 5);
  CHECK_FALSE(view(h).stale);
  CHECK(h.place("clusters.row.5") != nullptr);
  CHECK(h.parts.searching.started() == 0);  // no list of plans is in sight
  h.key({Key::f7});
  h.parts.searching.wait();
  h.step(2);
  CHECK(h.place("search.row.1") != nullptr);
  CHECK(h.place("clusters.row.1") == nullptr);
  h.click("search.about.1");
  h.step(2);
  CHECK(h.place("clusters.row.1") != nullptr);
  h.key({Key::escape});
  CHECK_FALSE(h.parts.panels.search.open);
  h.key(kAsk);
  h.key(kAsk);
  CHECK_FALSE(h.parts.panels.search.open);
}

TEST_CASE("the window's list of clusters is the command's, word for word") {
  for (const char* id : {kSmall, kServing})
    for (const engine::Mode mode : {engine::Mode::ideal, engine::Mode::calibrated}) {
      Harness h(id, 2560, 1440);
      Scenario s = h.scenario();
      s.assumptions.mode = mode;
      h.parts.session.update(s, false);
      wanted(h).among = "h100-sxm:4..16,tpu-v5p:8,rtx4090:8";
      ask(h);
      const auto choice = engine::choose_cluster(h.scenario(), *view(h).named->clusters,
                                                 app::request_of(wanted(h), h.scenario().serves()));
      const auto table = widgets::search::cluster_table(h.workspace.texts(), h.scenario().serves(), choice);
      for (const auto& row : table.rows)
        for (const std::string& cell : row)
          if (!cell.empty()) CHECK(test::drawn(h, cell));
    }
}

TEST_CASE("a click on a cluster moves the scenario there with its best plan, as one step of undo") {
  for (const char* id : {kSmall, kServing}) {
    Harness h(id);
    const Scenario before = h.scenario();
    ask(h);
    std::size_t other = 0;
    while (answers(h)[other].chips != 2 * engine::chip_count(before.cluster)) ++other;
    const engine::ClusterAnswer taken = answers(h)[other];
    h.click("clusters.row." + std::to_string(other + 1));
    answered(h);
    CHECK(h.scenario().cluster == taken.scenario.cluster);
    CHECK(h.scenario().parallelism == taken.scenario.parallelism);
    CHECK(h.report().quantities[engine::Q::memory_total] == taken.memory_bytes);
    CHECK(h.parts.session.history().undo_depth() == 1);
    // The list does not run away from who takes a row of it.
    CHECK(answers(h).size() == 5);
    CHECK(std::count_if(answers(h).begin(), answers(h).end(), [&](const auto& a) { return a.name == taken.name; }) ==
          1);
    h.key({widgets::key_of('Z'), true});
    h.step();
    CHECK(h.scenario() == before);
  }
}

TEST_CASE("what comes first and what a run may take order the list, and are kept with the session") {
  Harness h(kSmall);
  ask(h);
  h.click("clusters.objective.1");
  answered(h);
  CHECK(wanted(h).training == ClusterObjective::time);
  CHECK(answers(h).front().chips == 32);
  enter(h, "clusters.days", "5 days");
  CHECK(wanted(h).most_run_days == 5);
  CHECK(answers(h).back().verdict == ClusterVerdict::too_long);
  enter(h, "clusters.dollars", "$1k");
  CHECK(wanted(h).most_cost_usd == 1000);
  CHECK(answers(h).front().verdict != ClusterVerdict::meets);
  CHECK(test::drawn(h, "none of them meets what is asked"));
  const app::ClusterPreferences asked = wanted(h);
  const std::string kept = h.workspace.session_text();
  REQUIRE(h.reach("clusters.reset"));
  h.click("clusters.reset");
  answered(h);
  CHECK(wanted(h) == app::ClusterPreferences{});
  CHECK(answers(h).front().verdict == ClusterVerdict::meets);
  Harness again(kSmall);
  REQUIRE(again.workspace.restore(kept, "session.json"));
  CHECK(wanted(again) == asked);
}

TEST_CASE("a limit that is no amount is refused with the reason, and the one before stays") {
  Harness h(kSmall);
  ask(h);
  enter(h, "clusters.days", "30");
  enter(h, "clusters.days", "soon");
  CHECK(wanted(h).most_run_days == 30);
  REQUIRE(view(h).refused);
  CHECK(view(h).refused->id == "clusters.days");
  enter(h, "clusters.days", "-3");
  CHECK(view(h).refused->why == "\u201c-3\u201d is below zero.");
  enter(h, "clusters.days", "");
  CHECK(wanted(h).most_run_days == 0);
  CHECK_FALSE(view(h).refused);
}

TEST_CASE("clusters may be typed, one that cannot be read is named, and every chip is one click away") {
  Harness h(kSmall);
  ask(h);
  enter(h, "clusters.among", "h100-sxm:16, b200:8..16");
  CHECK(answers(h).size() == 3);
  enter(h, "clusters.among", "h100-sxm:16, b2000:8");
  REQUIRE(view(h).named->problem);
  CHECK(view(h).stale);
  CHECK(answers(h).size() == 3);  // the answers before stay in sight
  CHECK(test::drawn(h, "of the question before"));
  REQUIRE(h.reach("clusters.every"));
  h.click("clusters.every");
  answered(h);
  CHECK(wanted(h).among == "every:8");
  CHECK(answers(h).size() == test::presets().list(io::PresetKind::chip).size());
  REQUIRE(h.reach("clusters.around"));
  h.click("clusters.around");
  answered(h);
  CHECK(answers(h).size() == 5);
  // What names none is as if nothing were typed; two ways to say the same ask it once.
  const std::size_t before = h.parts.choosing.searched();
  enter(h, "clusters.among", " , ");
  CHECK(answers(h).size() == 5);
  CHECK_FALSE(view(h).named->problem);
  CHECK(h.parts.choosing.searched() == before);
}

TEST_CASE("while a control is held no cluster is searched, let go, the question is that of the new value") {
  Harness h(kSmall);
  ask(h);
  const std::size_t before = h.parts.choosing.searched();
  h.hold("workload.global_batch_sequences", 0.3f, 0.62f, 4);
  CHECK(h.parts.choosing.searched() == before);
  CHECK(view(h).stale);
  h.release();
  answered(h);
  CHECK(h.parts.choosing.searched() > before);
  CHECK_FALSE(view(h).stale);
}

TEST_CASE("the list of clusters draws inside the window and cuts no text, in each language at three sizes") {
  struct Size {
    float width, height;
  };
  for (const char* language : {"en", "ko", "ru"})
    for (const char* id : {kSmall, kServing})
      for (const Size size : {Size{1024, 700}, {1280, 720}, {1920, 1080}}) {
        CAPTURE(language);
        CAPTURE(id);
        CAPTURE(size.width);
        app::Settings settings;
        settings.language = language;
        Harness h(test::preset(id), id, size.width, size.height, "dark", settings);
        wanted(h).among = "every:8";
        ask(h);
        CHECK(widgets::compat::audit_draw_data().outside == 0);
        check_texts(h, size.width);
        check_overlaps(h);
        if (language == std::string_view("en")) continue;
        for (const auto& t : h.canvas.drawn_texts())
          for (const char* english : {"days", "tokens/s", "chips"}) {
            CAPTURE(t.text);
            CHECK(t.text.find(english) == std::string::npos);
          }
      }
}

TEST_CASE("the figure over the list lights its row, and a click on a mark is a click on the row") {
  Harness h(kSmall, 1600, 1000);
  ask(h);
  const Scenario before = h.scenario();
  const Scenario wanted = engine::moved_to(before, answers(h)[1]);
  const auto mark = test::tag_place(h, "clusters.answer", 1);
  REQUIRE(mark);
  h.move(*mark);
  h.step(2);
  CHECK(view(h).hovered == 2);
  h.click(*mark);
  answered(h);
  CHECK(h.scenario() == wanted);
  h.key({widgets::key_of('Z'), true});
  CHECK(h.scenario() == before);
}

TEST_CASE("what is exported over the list of clusters is their figure, of the clusters that were asked for") {
  Harness h(kSmall, 1600, 1000);
  std::string data;
  h.workspace.actions().copy_text = [&data](const std::string& text) { data = text; };
  ask(h);
  wanted(h).among = "h100-sxm:16,a100-80g:8";
  answered(h);
  h.parts.run_entry({.kind = app::PaletteKind::command, .title = {}, .detail = {}, .value = "edit.copy_data"});
  h.step(2);
  CHECK(data.find("h100-sxm:16") != std::string::npos);
  CHECK(data.find("a100-80g:8") != std::string::npos);
  CHECK(data.find("h100-sxm:8\t") == std::string::npos);
}

TEST_CASE("in a cell of the grid the figure of clusters asks for itself") {
  Harness h(kSmall, 1600, 1000);
  CHECK(h.parts.choosing.searched() == 0);
  h.parts.settings.arrangement.cells[0] = "clusters";
  answered(h);
  CHECK(answers(h).size() == 5);
  CHECK(h.parts.searching.started() == 0);
}
